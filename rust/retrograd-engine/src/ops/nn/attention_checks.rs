//! The checks of `scaled_dot_product_attention`, which also bring operands to common leading axes.

use crate::error::{Error, Result, Sizes};
use crate::ops::memory;
use crate::ops::pointwise::select::where_;
use crate::ops::view::expand_to;
use crate::tensor::layout::{Dims, broadcast};
use crate::tensor::{DType, Scalar, Tensor};

const OP: &str = "scaled_dot_product_attention";

/// Operands with the same leading sizes, except for the heads of `key` and `value`, which queries may share.
pub(super) struct Operands {
    pub query: Tensor,
    pub key: Tensor,
    pub value: Tensor,
    /// Numbers to add to the scores, one for each.
    pub mask: Option<Tensor>,
}

/// Minus infinity, in a dtype.
pub(super) fn none(dtype: DType) -> Result<Tensor> {
    Tensor::full(&[], Scalar::Float(f64::NEG_INFINITY), dtype)
}

/// A mask as numbers to add to scores.
fn added(mask: &Tensor, dtype: DType) -> Result<Tensor> {
    if mask.dtype() == DType::Bool {
        return where_(mask, &Tensor::full(&[], Scalar::Int(0), dtype)?, &none(dtype)?);
    }
    memory::cast(mask, dtype)
}

/// All sizes but the last two.
fn lead(x: &Tensor) -> &[usize] {
    &x.sizes()[..x.ndim() - 2]
}

/// `sizes` and the last two of `x`.
fn with_last_two(sizes: &[usize], x: &Tensor) -> Dims {
    let mut all = Dims::from_slice(sizes);
    all.extend_from_slice(&x.sizes()[x.ndim() - 2..]);
    all
}

fn check(query: &Tensor, key: &Tensor, value: &Tensor, mask: Option<&Tensor>) -> Result<()> {
    let (q, k, v) = (query.ndim(), key.ndim(), value.ndim());
    if q < 2 || k < 2 || v < 2 {
        let detail = format!(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {q} key.dim: {k} and \
             value.dim: {v} instead."
        );
        return Err(Error::shape(OP, detail));
    }
    let dtype = query.dtype();
    if key.dtype() != dtype || value.dtype() != dtype {
        let detail = format!(
            "Expected query, key, and value to have the same dtype, but got query.dtype: {} key.dtype: {} and value.dtype: \
             {} instead: convert them with .to",
            dtype.name(),
            key.dtype().name(),
            value.dtype().name()
        );
        return Err(Error::dtype(OP, detail));
    }
    if !dtype.is_floating() {
        return Err(Error::no_kernel(OP, dtype));
    }
    if let Some(mask) = mask
        && mask.dtype() != DType::Bool
        && mask.dtype() != DType::Float32
        && mask.dtype() != dtype
    {
        let detail = format!(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {} and  \
             query.dtype: {} instead.",
            mask.dtype().name(),
            dtype.name()
        );
        return Err(Error::dtype(OP, detail));
    }
    let (width, keys) = (query.sizes()[q - 1], key.sizes()[k - 2]);
    if key.sizes()[k - 1] != width || value.sizes()[v - 2] != keys {
        let detail = format!(
            "query of size {}, key of size {} and value of size {} do not go together: query and key must agree in the last \
             size, key and value in the one before",
            Sizes(query.sizes()),
            Sizes(key.sizes()),
            Sizes(value.sizes())
        );
        return Err(Error::shape(OP, detail));
    }
    Ok(())
}

/// The number of heads of queries and of keys and values.
fn heads(query: &Tensor, key: &Tensor, value: &Tensor) -> Result<(usize, usize)> {
    for x in [query, key, value] {
        if x.ndim() < 3 {
            let detail = format!(
                "Dimension out of range (expected to be in range of [-2, 1], but got -3): enable_gqa=True takes operands with \
                 an axis of heads, got size {}",
                Sizes(x.sizes())
            );
            return Err(Error::index(OP, detail));
        }
    }
    let of = |x: &Tensor| x.sizes()[x.ndim() - 3];
    let (q, k, v) = (of(query), of(key), of(value));
    if k != v || k == 0 || !q.is_multiple_of(k) {
        let detail = format!(
            "Number of heads in key and value must divide the number of heads in query, got {q} heads of queries, {k} of keys \
             and {v} of values"
        );
        return Err(Error::shape(OP, detail));
    }
    Ok((q, k))
}

impl Operands {
    pub(super) fn new(query: &Tensor, key: &Tensor, value: &Tensor, mask: Option<&Tensor>, gqa: bool) -> Result<Self> {
        check(query, key, value, mask)?;
        let (rows, columns) = (query.sizes()[query.ndim() - 2], key.sizes()[key.ndim() - 2]);
        let (mut sizes, mut shared) = (Dims::new(), None);
        if gqa {
            let (own, of_keys) = heads(query, key, value)?;
            let outer = |x: &Tensor| Dims::from_slice(&x.sizes()[..x.ndim() - 3]);
            sizes = broadcast(OP, &broadcast(OP, &outer(query), &outer(key))?, &outer(value))?;
            sizes.push(own);
            shared = Some(of_keys);
        } else {
            for x in [query, key, value] {
                sizes = broadcast(OP, &sizes, lead(x))?;
            }
        }
        let mut mask = mask.map(|mask| added(mask, query.dtype())).transpose()?;
        if let Some(mask) = &mut mask {
            // The mask may have axes in front that the scores lack.
            let mut scores = sizes.clone();
            scores.extend_from_slice(&[rows, columns]);
            let all = broadcast(OP, &scores, mask.sizes())?;
            if all[all.len() - 2..] != [rows, columns]
                || shared.is_some() && all[all.len() - 3] != sizes[sizes.len() - 1]
            {
                return Err(Error::broadcast(OP, &scores, mask.sizes()));
            }
            sizes = Dims::from_slice(&all[..all.len() - 2]);
            *mask = expand_to(mask, &all)?;
        }
        let query = expand_to(query, &with_last_two(&sizes, query))?;
        if let Some(heads) = shared {
            let axis = sizes.len() - 1;
            sizes[axis] = heads;
        }
        let key = expand_to(key, &with_last_two(&sizes, key))?;
        let value = expand_to(value, &with_last_two(&sizes, value))?;
        Ok(Self { query, key, value, mask })
    }
}
