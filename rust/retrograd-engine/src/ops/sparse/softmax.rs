//! `sparse.softmax`, `sparse.log_softmax`: over the entries alone, the others being left out as if they were -inf.

use retrograd_macros::op;

use super::entries::{added_up, list};
use super::{like, places, unbatched, values_at};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::{Error, Result};
use crate::ops::memory;
use crate::ops::view::{expand_to, reshape_to};
use crate::tensor::layout::wrap_dim;
use crate::tensor::sparse::{Coo, Elements, refused};
use crate::tensor::{DType, Dtypes, Tensor};

/// `sparse.softmax` and its logarithm. Reverse: `y (g - sum(g y))`, and `g - exp(y) sum(g)`.
#[derive(Clone, Debug)]
struct Softmax<const LOG: bool> {
    dim: usize,
}

/// What the sums along an axis go over: the entries that are equal but for it, or an axis of the values.
enum Along {
    /// How many lines of entries there are, and the one of each.
    Lines(usize, Vec<i64>),
    Axis(i64),
}

impl Along {
    fn of(coo: &Coo, sizes: &[usize], dim: usize) -> Result<Self> {
        let sparse = coo.sparse_dim();
        if dim >= sparse {
            return Ok(Self::Axis((dim - sparse + 1) as i64));
        }
        let others: Vec<usize> = (0..sparse).filter(|&d| d != dim).collect();
        let (found, which) = places(coo, sizes, &others)?;
        Ok(Self::Lines(found.len(), which))
    }
    /// The sum along the axis for each entry, recorded.
    fn sum(&self, x: &Tensor) -> Result<Tensor> {
        match self {
            Self::Axis(dim) => x.sum_dims(&[*dim], true),
            Self::Lines(count, which) => {
                let mut sizes = x.sizes().to_vec();
                sizes[0] = *count;
                let which = list(which)?;
                Tensor::zeros(&sizes, x.dtype())?.index_add(0, &which, x, 1i64.into())?.index_select(0, &which)
            }
        }
    }
    /// The softmax of values, or its logarithm; not recorded.
    fn softmax(&self, x: &Tensor, log: bool) -> Result<Tensor> {
        let (count, which) = match self {
            Self::Axis(dim) if log => return x.log_softmax(*dim, None),
            Self::Axis(dim) => return x.softmax(*dim, None),
            Self::Lines(count, which) => (*count, which),
        };
        let mut sizes = x.sizes().to_vec();
        sizes[0] = count;
        let at = list(which)?;
        let lowest = Tensor::full(&sizes, f64::NEG_INFINITY.into(), x.dtype())?;
        let mut column = vec![1; x.ndim()];
        column[0] = which.len();
        let everywhere = expand_to(&reshape_to(&at, &column)?, x.sizes())?;
        let most = lowest.scatter_reduce(0, &everywhere, x, "amax", true)?.index_select(0, &at)?;
        let below = x.sub(&most)?;
        let total = added_up(&below.exp()?, which, count)?.index_select(0, &at)?;
        if log { below.sub(&total.log()?) } else { below.exp()?.div(&total) }
    }
}

impl<const LOG: bool> Primitive for Softmax<LOG> {
    const NAME: &'static str = if LOG { "sparse_log_softmax" } else { "sparse_softmax" };
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::output(0, "result")];
    const PARAMS: Params<Self> = params!(op; dim: op.dim);
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = unbatched();
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let y = &cx.outs[0];
        cx.t(0).map(|t| op.moved(y, t, false)).transpose().map(crate::autograd::primitive::maybe)
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Err(refused(Self::NAME, xs))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        let sizes = xs[0].sizes();
        let Some(Elements::Coo(coo)) = xs[0].elements() else { return Err(refused(Self::NAME, xs)) };
        let coo = coo.coalesced(sizes)?;
        let values = Along::of(&coo, sizes, self.dim)?.softmax(&coo.values, LOG)?;
        Tensor::sparse(sizes, Elements::Coo(Coo { values, ..coo })).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        self.moved(cx.saved(1)?, cx.g(), true).map(one)
    }
}

impl<const LOG: bool> Softmax<LOG> {
    /// The gradient for the cotangent `g` of the result `y`, or its tangent for the tangent `g` of the operand.
    fn moved(&self, y: &Tensor, g: &Tensor, reverse: bool) -> Result<Tensor> {
        let coo = y.coo(Self::NAME)?;
        let along = Along::of(&coo, y.sizes(), self.dim)?;
        let (g, v) = (values_at(g, &coo, y.sizes())?, super::values(y)?);
        let values = match (LOG, reverse) {
            (false, _) => v.mul(&g.sub(&along.sum(&g.mul(&v)?)?)?)?,
            (true, true) => g.sub(&v.exp()?.mul(&along.sum(&g)?)?)?,
            (true, false) => g.sub(&along.sum(&g.mul(&v.exp()?)?)?)?,
        };
        like(y, &values)
    }
}

fn softmax_of<const LOG: bool>(op: &'static str, input: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    if !input.is_sparse() {
        return Err(Error::not_implemented(format!(
            "Could not run 'aten::_{op}' with arguments from the 'CPU' backend. sparse.softmax takes sparse tensors: use \
             softmax"
        )));
    }
    let dim = wrap_dim(op, dim, input.ndim())?;
    apply1(Softmax::<LOG> { dim }, &[&memory::cast(input, dtype.unwrap_or(input.dtype()))?])
}

/// The softmax of the entries of a sparse tensor along an axis. Elements that are not given have no part in it.
///
/// Args: `input` a sparse tensor in coordinates, float32 or float64; `dim` an axis; `dtype` the dtype to convert to
/// before. Returns: a coalesced sparse tensor. Derivative: `y * (g - sum(g * y))`. Raises: NotImplementedError for a
/// dense tensor.
///
/// >>> x = rg.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 4.0], (2, 3))
/// >>> rg.sparse.softmax(x, 1).values().tolist()
/// [1.0, 0.5, 0.5]
#[op(function, module = "sparse", norust, "(dtype=None)")]
pub fn softmax(input: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    softmax_of::<false>("sparse_softmax", input, dim, dtype)
}

/// The logarithm of the softmax of the entries of a sparse tensor along an axis.
///
/// Args, errors: as `sparse.softmax`. Returns: a coalesced sparse tensor. Derivative: `g - exp(y) * sum(g)`.
///
/// >>> x = rg.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
/// >>> rg.sparse.log_softmax(x, 1).values().tolist()
/// [0.0, 0.0]
#[op(function, module = "sparse", norust, "(dtype=None)")]
pub fn log_softmax(input: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    softmax_of::<true>("sparse_log_softmax", input, dim, dtype)
}
