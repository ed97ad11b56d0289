//! Normalization by moments of vectors, of groups of channels, and of batches.

use crate::engine::Tensor as Inner;
use crate::engine::autograd::GradGuard;
use crate::engine::ops::nn::{self, batch_norm, scale_norm};
use crate::nn::module::Training;
use crate::nn::options::{buffer, constructors, forward, int_sizes, options, parameter};
use crate::nn::{Module, init};
use crate::{DType, Error, Result, Tensor};

/// Scales, which are ones at first.
fn ones(sizes: &[usize], dtype: Option<DType>) -> Result<Tensor> {
    let made = parameter(sizes, dtype)?;
    init::constant(&made.0, 1.0)?;
    Ok(made)
}

/// Offsets, which are zeros at first.
fn zeros(sizes: &[usize], dtype: Option<DType>) -> Result<Tensor> {
    let made = parameter(sizes, dtype)?;
    init::constant(&made.0, 0.0)?;
    Ok(made)
}

fn inner(tensor: &Option<Tensor>) -> Option<&Inner> {
    tensor.as_ref().map(|t| &t.0)
}

/// The sizes of the last axes: of one size, an array, a slice or a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastAxes(Vec<usize>);

impl From<usize> for LastAxes {
    fn from(n: usize) -> Self {
        Self(vec![n])
    }
}

impl<const N: usize> From<[usize; N]> for LastAxes {
    fn from(sizes: [usize; N]) -> Self {
        Self(sizes.into())
    }
}

impl From<&[usize]> for LastAxes {
    fn from(sizes: &[usize]) -> Self {
        Self(sizes.into())
    }
}

impl From<Vec<usize>> for LastAxes {
    fn from(sizes: Vec<usize>) -> Self {
        Self(sizes)
    }
}

options! {
    /// Options of [`LayerNorm`].
    LayerNormOptions {
        /// What is added to variances: 1e-5.
        eps: f64 = 1e-5;
        /// Whether there are scales and offsets: true.
        elementwise_affine: bool = true;
        /// Whether there are offsets, if there are scales: true.
        bias: bool = true;
        /// The dtype of the parameters, by default the default dtype.
        dtype: Option<DType> = None, DType => Some;
    }
}

/// Normalizes by mean and variance over the last axes, then scales and adds.
///
/// Parameters: `weight` and `bias` of the shape `normalized_shape`, which is the sizes of these axes.
///
/// ```
/// use retrograd::{DType, Tensor, engine, nn::{Forward, LayerNorm}};
///
/// let layer = LayerNorm::with(2, |o| o.dtype(DType::Float64).eps(0.0));
/// let x = Tensor::from(engine::Tensor::from_slice(&[1.0, 3.0], &[1, 2])?);
/// assert_eq!(layer.forward(&x).engine().to_vec::<f64>()?, [-1.0, 1.0]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug, Module)]
pub struct LayerNorm {
    pub weight: Option<Tensor>,
    pub bias: Option<Tensor>,
    #[module(skip)]
    normalized_shape: Vec<usize>,
    eps: f64,
}

impl LayerNorm {
    constructors!(LayerNorm, LayerNormOptions, (normalized_shape: impl Into<LastAxes>));

    fn made(normalized_shape: impl Into<LastAxes>, o: LayerNormOptions) -> Result<Self> {
        let LastAxes(sizes) = normalized_shape.into();
        let weight = o.elementwise_affine.then(|| ones(&sizes, o.dtype)).transpose()?;
        let bias = (o.elementwise_affine && o.bias).then(|| zeros(&sizes, o.dtype)).transpose()?;
        Ok(Self { weight, bias, normalized_shape: sizes, eps: o.eps })
    }

    fn run(&self, x: &Inner) -> Result<Inner> {
        nn::layer_norm(x, &int_sizes(&self.normalized_shape), inner(&self.weight), inner(&self.bias), self.eps)
    }
}

options! {
    /// Options of [`RmsNorm`].
    RmsNormOptions {
        /// What is added to the mean of squares: by default the step of the dtype at 1.
        eps: Option<f64> = None, f64 => Some;
        /// Whether there are scales: true.
        elementwise_affine: bool = true;
        /// The dtype of the parameters, by default the default dtype.
        dtype: Option<DType> = None, DType => Some;
    }
}

/// Divides by the root of the mean of squares over the last axes, then scales.
///
/// Parameters: `weight` of the shape `normalized_shape`, which is the sizes of these axes.
///
/// ```
/// use retrograd::{DType, Tensor, engine, nn::{Forward, RmsNorm}};
///
/// let layer = RmsNorm::with(2, |o| o.dtype(DType::Float64).eps(0.0));
/// let x = Tensor::from(engine::Tensor::from_slice(&[1.0, 7.0], &[2])?);
/// assert_eq!(layer.forward(&x).engine().to_vec::<f64>()?[0], 0.2);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[doc(alias = "RMSNorm")]
#[derive(Clone, Debug, Module)]
pub struct RmsNorm {
    pub weight: Option<Tensor>,
    #[module(skip)]
    normalized_shape: Vec<usize>,
    eps: Option<f64>,
}

impl RmsNorm {
    constructors!(RmsNorm, RmsNormOptions, (normalized_shape: impl Into<LastAxes>));

    fn made(normalized_shape: impl Into<LastAxes>, o: RmsNormOptions) -> Result<Self> {
        let LastAxes(sizes) = normalized_shape.into();
        let weight = o.elementwise_affine.then(|| ones(&sizes, o.dtype)).transpose()?;
        Ok(Self { weight, normalized_shape: sizes, eps: o.eps })
    }

    fn run(&self, x: &Inner) -> Result<Inner> {
        scale_norm::rms_norm(x, &int_sizes(&self.normalized_shape), inner(&self.weight), self.eps)
    }
}

options! {
    /// Options of [`GroupNorm`].
    GroupNormOptions {
        /// What is added to variances: 1e-5.
        eps: f64 = 1e-5;
        /// Whether there are scales and offsets: true.
        affine: bool = true;
        /// Whether there are offsets, if there are scales: true.
        bias: bool = true;
        /// The dtype of the parameters, by default the default dtype.
        dtype: Option<DType> = None, DType => Some;
    }
}

/// Normalizes by mean and variance over groups of channels of (N, C, ...), then scales and adds.
///
/// Parameters: `weight` and `bias` of shape (C,). An error if the groups do not divide the channels.
///
/// ```
/// use retrograd::{DType, Tensor, engine, nn::{Forward, GroupNorm}};
///
/// let layer = GroupNorm::with(1, 2, |o| o.dtype(DType::Float64).eps(0.0));
/// let x = Tensor::from(engine::Tensor::from_slice(&[1.0, 3.0], &[1, 2])?);
/// assert_eq!(layer.forward(&x).engine().to_vec::<f64>()?, [-1.0, 1.0]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug, Module)]
pub struct GroupNorm {
    pub weight: Option<Tensor>,
    pub bias: Option<Tensor>,
    num_groups: usize,
    eps: f64,
}

impl GroupNorm {
    constructors!(GroupNorm, GroupNormOptions, (num_groups: usize, num_channels: usize));

    fn made(num_groups: usize, num_channels: usize, o: GroupNormOptions) -> Result<Self> {
        if num_groups == 0 || !num_channels.is_multiple_of(num_groups) {
            let detail = format!("num_channels ({num_channels}) must be divisible by num_groups ({num_groups})");
            return Err(Error::value("GroupNorm", detail));
        }
        let weight = o.affine.then(|| ones(&[num_channels], o.dtype)).transpose()?;
        let bias = (o.affine && o.bias).then(|| zeros(&[num_channels], o.dtype)).transpose()?;
        Ok(Self { weight, bias, num_groups, eps: o.eps })
    }

    fn run(&self, x: &Inner) -> Result<Inner> {
        batch_norm::group_norm(x, self.num_groups as i64, inner(&self.weight), inner(&self.bias), self.eps)
    }
}

options! {
    /// Options of [`BatchNorm1d`] and [`BatchNorm2d`].
    BatchNormOptions {
        /// What is added to variances: 1e-5.
        eps: f64 = 1e-5;
        /// The weight of a new batch in the running moments: 0.1; `None` for the mean of all batches.
        momentum: Option<f64> = Some(0.1);
        /// Whether there are scales and offsets: true.
        affine: bool = true;
        /// Whether there are offsets, if there are scales: true.
        bias: bool = true;
        /// Whether there are running moments, by which a layer that is not trained normalizes: true.
        track_running_stats: bool = true;
        /// The dtype of parameters and moments, by default the default dtype.
        dtype: Option<DType> = None, DType => Some;
    }
}

macro_rules! batch_norms {
    ($($(#[doc = $doc:literal])* $name:ident: $dims:expr, $expected:literal;)*) => { $(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Module)]
        pub struct $name {
            pub weight: Option<Tensor>,
            pub bias: Option<Tensor>,
            #[module(buffer)]
            pub running_mean: Option<Tensor>,
            #[module(buffer)]
            pub running_var: Option<Tensor>,
            /// How many batches the running moments are of, int64.
            #[module(buffer)]
            pub num_batches_tracked: Option<Tensor>,
            training: Training,
            eps: f64,
            momentum: Option<f64>,
        }

        impl $name {
            constructors!($name, BatchNormOptions, (num_features: usize));

            fn made(num_features: usize, o: BatchNormOptions) -> Result<Self> {
                let sizes = [num_features];
                let tracks = o.track_running_stats;
                Ok(Self {
                    weight: o.affine.then(|| ones(&sizes, o.dtype)).transpose()?,
                    bias: (o.affine && o.bias).then(|| zeros(&sizes, o.dtype)).transpose()?,
                    running_mean: tracks.then(|| buffer(&sizes, 0.0, o.dtype)).transpose()?,
                    running_var: tracks.then(|| buffer(&sizes, 1.0, o.dtype)).transpose()?,
                    num_batches_tracked: tracks.then(|| buffer(&[], 0.0, Some(DType::Int64))).transpose()?,
                    training: Training::default(),
                    eps: o.eps,
                    momentum: o.momentum,
                })
            }

            fn run(&self, x: &Inner) -> Result<Inner> {
                const DIMS: &[usize] = &$dims;
                if !DIMS.contains(&x.ndim()) {
                    let detail = format!("expected {} input (got {}D input)", $expected, x.ndim());
                    return Err(Error::value(stringify!($name), detail));
                }
                let training = self.training.is_on();
                let mut momentum = self.momentum;
                if training && let Some(count) = &self.num_batches_tracked {
                    let _off = GradGuard::new(false);
                    let so_far = count.0.item()?.as_i64().saturating_add(1);
                    count.0.copy_(&Inner::full(&[], so_far.into(), DType::Int64)?)?;
                    // The moments of all batches weigh the same.
                    momentum = momentum.or(Some(1.0 / so_far as f64));
                }
                let (mean, var) = (inner(&self.running_mean), inner(&self.running_var));
                let by_batch = training || mean.is_none();
                let momentum = momentum.unwrap_or(0.0);
                let (weight, bias) = (inner(&self.weight), inner(&self.bias));
                batch_norm::batch_norm(x, mean, var, weight, bias, by_batch, momentum, self.eps)
            }
        }

        forward!($name);
    )* };
}

batch_norms! {
    /// Normalizes each channel of (N, C) or (N, C, L) by mean and variance over the batch, then scales and adds.
    ///
    /// Parameters: `weight` and `bias` of shape (C,). Buffers: `running_mean`, `running_var` of shape (C,), and
    /// `num_batches_tracked`. A layer that is not trained ([`Module::eval`]) normalizes by the running moments.
    ///
    /// ```
    /// use retrograd::{DType, Tensor, engine, nn::{BatchNorm1d, Forward}};
    ///
    /// let layer = BatchNorm1d::with(1, |o| o.dtype(DType::Float64));
    /// let x = Tensor::from(engine::Tensor::from_slice(&[1.0, 3.0], &[2, 1])?);
    /// layer.forward(&x);
    /// assert_eq!(layer.running_mean.unwrap().engine().to_vec::<f64>()?, [0.2]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    BatchNorm1d: [2, 3], "2D or 3D";
    /// Normalizes each channel of (N, C, H, W) by mean and variance over batch and pixels, then scales and adds.
    ///
    /// Parameters and buffers: as of [`BatchNorm1d`].
    ///
    /// ```
    /// use retrograd::{DType, Tensor, engine, nn::{BatchNorm2d, Forward}};
    ///
    /// let x = Tensor::from(engine::Tensor::ones(&[2, 3, 4, 4], DType::Float32)?);
    /// let y = BatchNorm2d::new(3).forward(&x);
    /// assert!(y.engine().to_vec::<f32>()?.iter().all(|&y| y == 0.0));
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    BatchNorm2d: [4], "4D";
}

forward!(LayerNorm RmsNorm GroupNorm);
