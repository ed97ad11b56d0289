//! Linear layers, and tables of vectors.

use crate::engine::Tensor as Inner;
use crate::engine::autograd::GradGuard;
use crate::engine::ops::{matmul, nn};
use crate::nn::options::{constructors, forward, options, parameter};
use crate::nn::{Module, init};
use crate::{DType, Error, Result, Tensor};

options! {
    /// Options of [`Linear`].
    LinearOptions {
        /// Whether something is added to the product: true.
        bias: bool = true;
        /// The dtype of the parameters, by default the default dtype.
        dtype: Option<DType> = None, DType => Some;
    }
}

/// `x @ weight.T + bias`, over the last axis.
///
/// Parameters: `weight` of shape (out_features, in_features) and `bias` of shape (out_features,), both drawn uniformly
/// up to `1 / sqrt(in_features)`.
///
/// ```
/// use retrograd::{Tensor, engine, nn::{Forward, Linear}};
///
/// let layer = Linear::with(3, 2, |o| o.bias(false));
/// let x = Tensor::from(engine::Tensor::from_slice(&[1f32, 2.0, 3.0], &[3])?);
/// assert_eq!(layer.forward(&x).engine().sizes(), [2]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug, Module)]
pub struct Linear {
    pub weight: Tensor,
    pub bias: Option<Tensor>,
}

impl Linear {
    constructors!(Linear, LinearOptions, (in_features: usize, out_features: usize));

    pub(super) fn made(in_features: usize, out_features: usize, o: LinearOptions) -> Result<Self> {
        let weight = parameter(&[out_features, in_features], o.dtype)?;
        let bias = o.bias.then(|| parameter(&[out_features], o.dtype)).transpose()?;
        init::by_fan_in(&weight, bias.as_ref())?;
        Ok(Self { weight, bias })
    }

    pub(super) fn run(&self, x: &Inner) -> Result<Inner> {
        matmul::compose::linear(x, &self.weight.0, self.bias.as_ref().map(|b| &b.0))
    }
}

options! {
    /// Options of [`Embedding`].
    EmbeddingOptions {
        /// A row that is zero at first and has no gradient; none by default.
        padding_idx: Option<usize> = None, usize => Some;
        /// The norm to which rows that are looked up are shortened, in place; by default they are not.
        max_norm: Option<f64> = None, f64 => Some;
        /// Which norm that is: 2.
        norm_type: f64 = 2.0;
        /// Whether gradients are divided by how often a row was looked up: false.
        scale_grad_by_freq: bool = false;
        /// Whether the gradient is a sparse tensor: false.
        sparse: bool = false;
        /// The dtype of the parameters, by default the default dtype.
        dtype: Option<DType> = None, DType => Some;
    }
}

/// The rows of a table that an input of integers names.
///
/// Parameters: `weight` of shape (num_embeddings, embedding_dim), normals at first. An error if `padding_idx` is no
/// row.
///
/// ```
/// use retrograd::{Tensor, engine, nn::{Embedding, Forward}};
///
/// let rows = Tensor::from(engine::Tensor::from_slice(&[1i64, 4, 1], &[3])?);
/// assert_eq!(Embedding::new(10, 3).forward(&rows).engine().sizes(), [3, 3]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug, Module)]
pub struct Embedding {
    pub weight: Tensor,
    #[module(skip)]
    options: EmbeddingOptions,
}

impl Embedding {
    constructors!(Embedding, EmbeddingOptions, (num_embeddings: usize, embedding_dim: usize));

    fn made(num_embeddings: usize, embedding_dim: usize, o: EmbeddingOptions) -> Result<Self> {
        if let Some(row) = o.padding_idx
            && row >= num_embeddings
        {
            let detail = format!("Padding_idx must be within num_embeddings, got {row} for {num_embeddings} rows");
            return Err(Error::assertion("Embedding", detail));
        }
        let weight = parameter(&[num_embeddings, embedding_dim], o.dtype)?;
        init::normal(&weight.0, 0.0, 1.0)?;
        if let Some(row) = o.padding_idx {
            let _off = GradGuard::new(false);
            init::constant(&weight.0.select(0, row as i64)?, 0.0)?;
        }
        Ok(Self { weight, options: o })
    }

    fn run(&self, x: &Inner) -> Result<Inner> {
        let o = &self.options;
        let row = o.padding_idx.map(|row| row as i64);
        nn::embedding(x, &self.weight.0, row, o.max_norm, o.norm_type, o.scale_grad_by_freq, o.sparse)
    }
}

forward!(Linear Embedding);
