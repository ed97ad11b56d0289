//! Attention with several heads, as a layer.

use crate::engine::Tensor as Inner;
use crate::engine::ops::{matmul, nn};
use crate::nn::module::Training;
use crate::nn::options::{constructors, options, parameter};
use crate::nn::{Linear, LinearOptions, Module, init};
use crate::{DType, Error, Result, Tensor, site};

const OP: &str = "MultiheadAttention";

options! {
    /// Options of [`MultiheadAttention`].
    MultiheadAttentionOptions {
        /// The probability that a weight is dropped while the layer is trained: 0.
        dropout: f64 = 0.0;
        /// Whether projections add something: true.
        bias: bool = true;
        /// The size of keys, by default `embed_dim`.
        kdim: Option<usize> = None, usize => Some;
        /// The size of values, by default `embed_dim`.
        vdim: Option<usize> = None, usize => Some;
        /// Whether inputs are (N, L, E), not (L, N, E): false.
        batch_first: bool = false;
        /// The dtype of the parameters, by default the default dtype.
        dtype: Option<DType> = None, DType => Some;
    }
}

/// What queries do not see: options of [`MultiheadAttention::forward_with`].
#[derive(Clone, Copy, Default)]
pub struct Seen<'a> {
    attn_mask: Option<&'a Tensor>,
    key_padding_mask: Option<&'a Tensor>,
    is_causal: bool,
}

impl<'a> Seen<'a> {
    /// A mask (L, S) or (N * num_heads, L, S): true where a key is not seen, or numbers that are added to scores.
    pub fn attn_mask(self, mask: &'a Tensor) -> Self {
        Self { attn_mask: Some(mask), ..self }
    }

    /// A mask (N, S), or (S,) without a batch: true where a key is not seen, or numbers that are added to scores.
    pub fn key_padding_mask(self, mask: &'a Tensor) -> Self {
        Self { key_padding_mask: Some(mask), ..self }
    }

    /// Whether query number i sees the keys up to number i only: false.
    pub fn is_causal(self, is_causal: bool) -> Self {
        Self { is_causal, ..self }
    }
}

/// Attention with several heads: means of projected values, with weights from projected queries and keys.
///
/// `embed_dim` is the size E of queries and outputs, which `num_heads` splits. Parameters: `in_proj_weight` of shape
/// (3 E, E), or `q_proj_weight`, `k_proj_weight` and `v_proj_weight` if sizes differ, `in_proj_bias` of shape (3 E,),
/// and those of `out_proj`. An error if the heads do not divide E.
///
/// ```
/// use retrograd::{DType, Tensor, engine, nn::MultiheadAttention};
///
/// let attention = MultiheadAttention::with(4, 2, |o| o.batch_first(true));
/// let x = Tensor::from(engine::Tensor::ones(&[3, 5, 4], DType::Float32)?);
/// assert_eq!(attention.forward(&x, &x, &x).engine().sizes(), [3, 5, 4]);
/// let causal = attention.forward_with(&x, &x, &x, |o| o.is_causal(true));
/// assert_eq!(causal.engine().sizes(), [3, 5, 4]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug, Module)]
pub struct MultiheadAttention {
    pub in_proj_weight: Option<Tensor>,
    pub q_proj_weight: Option<Tensor>,
    pub k_proj_weight: Option<Tensor>,
    pub v_proj_weight: Option<Tensor>,
    pub in_proj_bias: Option<Tensor>,
    pub out_proj: Linear,
    training: Training,
    embed_dim: usize,
    num_heads: usize,
    dropout: f64,
    batch_first: bool,
}

impl MultiheadAttention {
    constructors!(MultiheadAttention, MultiheadAttentionOptions, (embed_dim: usize, num_heads: usize));

    fn made(embed_dim: usize, num_heads: usize, o: MultiheadAttentionOptions) -> Result<Self> {
        let size = embed_dim;
        if size == 0 || num_heads == 0 {
            let detail = format!(
                "embed_dim and num_heads must be greater than 0, got embed_dim={size} and num_heads={num_heads} instead"
            );
            return Err(Error::value(OP, detail));
        }
        if !size.is_multiple_of(num_heads) {
            let detail = format!("embed_dim must be divisible by num_heads, got {size} and {num_heads}");
            return Err(Error::assertion(OP, detail));
        }
        let rows = size.checked_mul(3).ok_or_else(|| Error::value(OP, format!("embed_dim {size} is too large")))?;
        let (kdim, vdim) = (o.kdim.unwrap_or(size), o.vdim.unwrap_or(size));
        let together = kdim == size && vdim == size;
        // As torch draws: first the output's projection.
        let out_proj = Linear::made(size, size, LinearOptions { bias: o.bias, dtype: o.dtype })?;
        let drawn = |there: bool, sizes: &[usize]| -> Result<Option<Tensor>> {
            if !there {
                return Ok(None);
            }
            let weight = parameter(sizes, o.dtype)?;
            init::xavier_uniform(&weight.0, 1.0)?;
            Ok(Some(weight))
        };
        let made = Self {
            in_proj_weight: drawn(together, &[rows, size])?,
            q_proj_weight: drawn(!together, &[size, size])?,
            k_proj_weight: drawn(!together, &[size, kdim])?,
            v_proj_weight: drawn(!together, &[size, vdim])?,
            in_proj_bias: o.bias.then(|| parameter(&[rows], o.dtype)).transpose()?,
            out_proj,
            training: Training::default(),
            embed_dim,
            num_heads,
            dropout: o.dropout,
            batch_first: o.batch_first,
        };
        for bias in [&made.in_proj_bias, &made.out_proj.bias].into_iter().flatten() {
            init::constant(&bias.0, 0.0)?;
        }
        Ok(made)
    }

    /// The output for queries (L, N, E), keys (S, N, kdim) and values (S, N, vdim), or all without the batch N.
    ///
    /// Panics where [`try_forward`](Self::try_forward) has an error.
    #[track_caller]
    pub fn forward(&self, query: &Tensor, key: &Tensor, value: &Tensor) -> Tensor {
        site::here();
        site::done(self.run(&query.0, &key.0, &value.0, Seen::default()))
    }

    /// As [`forward`](Self::forward), with an error for inputs that do not fit.
    #[track_caller]
    pub fn try_forward(&self, query: &Tensor, key: &Tensor, value: &Tensor) -> Result<Tensor> {
        site::here();
        self.run(&query.0, &key.0, &value.0, Seen::default())
    }

    /// As [`forward`](Self::forward), with masks that the closure sets.
    ///
    /// Panics where [`try_forward_with`](Self::try_forward_with) has an error.
    #[track_caller]
    pub fn forward_with<'a>(
        &self,
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        seen: impl FnOnce(Seen<'a>) -> Seen<'a>,
    ) -> Tensor {
        site::here();
        site::done(self.run(&query.0, &key.0, &value.0, seen(Seen::default())))
    }

    /// As [`forward_with`](Self::forward_with), with an error for inputs and masks that do not fit.
    #[track_caller]
    pub fn try_forward_with<'a>(
        &self,
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        seen: impl FnOnce(Seen<'a>) -> Seen<'a>,
    ) -> Result<Tensor> {
        site::here();
        self.run(&query.0, &key.0, &value.0, seen(Seen::default()))
    }

    fn run(&self, query: &Inner, key: &Inner, value: &Inner, seen: Seen<'_>) -> Result<Tensor> {
        let dims = query.ndim();
        if !matches!(dims, 2 | 3) || key.ndim() != dims || value.ndim() != dims {
            let all = [query, key, value].map(Inner::ndim);
            let detail = format!("query, key and value should be unbatched 2D or batched 3D tensors, got {all:?} axes");
            return Err(Error::assertion(OP, detail));
        }
        if query.sizes()[dims - 1] != self.embed_dim {
            let (expected, got) = (self.embed_dim, query.sizes()[dims - 1]);
            let detail = format!("was expecting embedding dimension of {expected}, but got {got}");
            return Err(Error::assertion(OP, detail));
        }
        let batch_axis = usize::from(!self.batch_first);
        let batched = |x: &Inner| if dims == 3 { Ok(x.clone()) } else { x.unsqueeze(batch_axis as i64) };
        let [query, key, value] = [batched(query)?, batched(key)?, batched(value)?];
        let (batch, queries) = (query.sizes()[batch_axis], query.sizes()[1 - batch_axis]);
        let keys = key.sizes()[1 - batch_axis];

        let [q, k, v] = self.projected([&query, &key, &value])?;
        let mask = self.mask(seen, q.dtype(), [batch, queries, keys])?;
        let is_causal = seen.is_causal && mask.is_none();
        let dropped = if self.training.is_on() { self.dropout } else { 0.0 };
        let out = nn::scaled_dot_product_attention(&q, &k, &v, mask.as_ref(), dropped, is_causal, None, false)?;
        // From (N, H, L, D).
        let order: [i64; 4] = if self.batch_first { [0, 2, 1, 3] } else { [2, 0, 1, 3] };
        let mut sizes = [queries as i64, batch as i64, self.embed_dim as i64];
        if self.batch_first {
            sizes.swap(0, 1);
        }
        let out = self.out_proj.run(&out.permute(&order)?.reshape(&sizes)?)?;
        Ok(Tensor(if dims == 3 { out } else { out.squeeze_dim(batch_axis as i64)? }))
    }

    /// Queries, keys and values of all heads, (N, H, L, D) each.
    fn projected(&self, inputs: [&Inner; 3]) -> Result<[Inner; 3]> {
        let size = self.embed_dim as i64;
        let third = |t: &Inner, i: usize| t.narrow(0, i as i64 * size, size);
        let own = [&self.q_proj_weight, &self.k_proj_weight, &self.v_proj_weight];
        let project = |i: usize| -> Result<Inner> {
            let weight = match (&self.in_proj_weight, own[i]) {
                (Some(together), _) => third(&together.0, i)?,
                (None, Some(own)) => own.0.clone(),
                (None, None) => return Err(Error::assertion(OP, "a projection has no weight: it was taken away")),
            };
            let bias = self.in_proj_bias.as_ref().map(|bias| third(&bias.0, i)).transpose()?;
            let made = matmul::compose::linear(inputs[i], &weight, bias.as_ref())?;
            let [a, b] = [0, 1].map(|axis| made.sizes()[axis] as i64);
            let heads = self.num_heads as i64;
            let order: [i64; 4] = if self.batch_first { [0, 2, 1, 3] } else { [1, 2, 0, 3] };
            made.reshape(&[a, b, heads, size / heads])?.permute(&order)
        };
        Ok([project(0)?, project(1)?, project(2)?])
    }

    /// All masks as numbers that are added to scores (N, H, L, S), if there are any.
    fn mask(&self, seen: Seen<'_>, dtype: DType, [batch, queries, keys]: [usize; 3]) -> Result<Option<Inner>> {
        let mut total: Option<Inner> = None;
        let mut add = |mask: Inner| -> Result<()> {
            total = Some(match &total {
                Some(total) => total.add(&mask)?,
                None => mask,
            });
            Ok(())
        };
        let heads = self.num_heads;
        if let Some(Tensor(mask)) = seen.attn_mask {
            let mask = numbers(mask, "attn_mask", dtype)?;
            let split = [batch, heads, queries, keys].map(|n| n as i64);
            match mask.sizes() {
                [l, s] if [*l, *s] == [queries, keys] => add(mask)?,
                [n, l, s] if [*n, *l, *s] == [batch * heads, queries, keys] => add(mask.reshape(&split)?)?,
                sizes => {
                    let (three, two) = ([batch * heads, queries, keys], [queries, keys]);
                    let detail = format!("The shape of the attn_mask is {sizes:?}, but should be {two:?} or {three:?}");
                    return Err(Error::shape(OP, detail));
                }
            }
        }
        if let Some(Tensor(mask)) = seen.key_padding_mask {
            let mask = numbers(mask, "key_padding_mask", dtype)?;
            if mask.sizes() != [batch, keys] && !(batch == 1 && mask.sizes() == [keys]) {
                let detail =
                    format!("expecting key_padding_mask shape of {:?}, but got {:?}", (batch, keys), mask.sizes());
                return Err(Error::assertion(OP, detail));
            }
            add(mask.reshape(&[batch as i64, 1, 1, keys as i64])?)?;
        }
        // Without another mask, the op knows what is causal.
        if seen.is_causal && (seen.attn_mask.is_some() || seen.key_padding_mask.is_some()) {
            add(Inner::full(&[queries, keys], f64::NEG_INFINITY.into(), dtype)?.triu(1)?)?;
        }
        Ok(total)
    }
}

/// A mask as numbers: minus infinity where it is true.
fn numbers(mask: &Inner, name: &str, dtype: DType) -> Result<Inner> {
    if mask.dtype().is_floating() {
        return Ok(mask.clone());
    }
    if mask.dtype() != DType::Bool {
        let detail = format!("only bool and floating types of {name} are supported, got {}", mask.dtype().name());
        return Err(Error::assertion(OP, detail));
    }
    let hidden = Inner::full(&[], f64::NEG_INFINITY.into(), dtype)?;
    Inner::zeros(mask.sizes(), dtype)?.masked_fill(mask, &hidden)
}
