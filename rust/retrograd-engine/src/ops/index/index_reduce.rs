//! `index_reduce`: slices combined where a vector of indices names along one axis.

use retrograd_macros::op;
use smallvec::smallvec;

use super::scatter_reduce::{Reduction, ScatterReduce, times};
use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::{Batch, Halves, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, params};
use crate::error::{Error, Result};
use crate::ops::{Value, view};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Dtypes, Tensor};

/// `index_reduce`: `scatter_reduce` with an index that is repeated along all other axes.
#[derive(Clone, Debug)]
struct IndexReduce(ScatterReduce);

impl IndexReduce {
    /// The index in the sizes of the source.
    fn spread(&self, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        let mut sizes = vec![1; source.ndim()];
        if let Some(n) = sizes.get_mut(self.0.dim) {
            *n = index.numel();
        }
        view::expand_to(&view::reshape_to(index, &sizes)?, source.sizes())
    }
}

impl Primitive for IndexReduce {
    const NAME: &'static str = "index_reduce";
    const SAVE: &'static [Save] =
        &[Save::input(1, "index"), Save::output(0, "result"), Save::input(0, "self"), Save::input(2, "source")];
    const PARAMS: Params<Self> =
        params!(op; dim: op.0.dim, include_self: op.0.include_self, reduce: Value::Str(op.0.reduction.name().into()));
    const DTYPES: Dtypes = Dtypes::ORDERED;
    const HALVES: Halves = Halves::InFloat32;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let [x, source] = [0, 2].map(|i| view::batch_first(xs[i], axes[i], batch));
        let (x, source) = (x?, source?);
        let whole = |t: &Tensor| if t.ndim() == 1 { view::reshape_to(t, &[batch, 1]) } else { Ok(t.clone()) };
        let (wide, source) = (whole(&x)?, whole(&source)?);
        let lifted = Self(ScatterReduce { dim: op.0.dim + 1, ..op.0.clone() });
        let y = match axes[1] {
            None => apply_as(crate::ops::Form::New, lifted, &[&wide, xs[1], &source])?,
            // Every entry has an index of its own.
            Some(_) => {
                let index = view::batch_first(xs[1], axes[1], batch)?;
                let mut sizes = vec![1; source.ndim()];
                (sizes[0], sizes[lifted.0.dim]) = (batch, index.numel() / batch.max(1));
                let index = view::expand_to(&view::reshape_to(&index, &sizes)?, source.sizes())?;
                lifted.0.run(&wide, &index, &source)?
            }
        };
        Ok((smallvec![view::reshape_to(&y, x.sizes())?], smallvec![Some(0)]))
    });
    fn inputs(&self) -> u32 {
        0b101
    }
    fn dtypes(&self) -> Dtypes {
        self.0.dtypes()
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        self.0.forward(&[xs[0], &self.spread(&xs[1].detach(), xs[2])?, xs[2]])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let g = cx.g();
        let index = self.spread(cx.saved(0)?, cx.saved(3)?)?;
        let [to_x, to_source] = self.0.partials(cx.saved(2)?, &index, cx.saved(3)?, cx.saved(1)?)?;
        let x = cx.when(0, || self.0.to_operand(g, &to_x, &index))?;
        let source = cx.when(2, || times(g.gather(self.0.dim as i64, &index)?, &to_source))?;
        Ok(smallvec![x, None, source])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let (x, source) = (cx.xs[0], cx.xs[2]);
        let index = op.spread(cx.xs[1], source)?;
        let [to_x, to_source] = op.0.partials(x, &index, source, &cx.outs[0])?;
        let from_x = cx.t(0).map(|t| op.0.to_operand(t, &to_x, &index)).transpose()?;
        let Some(t) = cx.t(2) else { return Ok(maybe(from_x)) };
        let start = from_x.map_or_else(|| Tensor::zeros(x.sizes(), x.dtype()), Ok)?;
        start.scatter_add(op.0.dim as i64, &index, &times(t.clone(), &to_source)?).map(one)
    });
}

/// `input` with the slices of `source` combined into those that `index` names along an axis.
///
/// Args: `dim` an axis; `index` a vector of int32 or int64; `source` of the dtype of `input`, and of its sizes but
/// along `dim`, where it has as many as the index; `reduce` is "prod", "mean", "amax" or "amin"; without `include_self`
/// the elements of `input` in the places named do not count. Returns: a tensor of the sizes of `input`. Derivative:
/// that of the reduction, as of `scatter_reduce`; for "amax" and "amin" `g`, split evenly among equal elements. Raises:
/// IndexError if an index is out of range or no vector; RuntimeError if sizes or dtypes do not fit.
///
/// >>> rg.index_reduce(rg.ones(2), 0, rg.tensor([0, 0]), rg.tensor([2.0, 3.0]), "prod").tolist()
/// [6.0, 1.0]
#[op(function, method, inplace, out = SAME, "(*, include_self=True)")]
pub fn index_reduce(
    input: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
    reduce: &str,
    include_self: bool,
) -> Result<Tensor> {
    const OP: &str = "index_reduce";
    let every = [Reduction::Prod, Reduction::Mean, Reduction::AMax, Reduction::AMin];
    let Some(reduction) = every.into_iter().find(|r| r.name() == reduce) else {
        return Err(Error::shape(
            OP,
            format!("index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."),
        ));
    };
    let dim = wrap_dim(OP, dim, input.ndim())?;
    if index.ndim() > 1 {
        return Err(Error::index(
            OP,
            format!(
                "index_reduce_(): Index is supposed to be a vector, but got dim: {} with type: {} and size: {:?}",
                index.ndim(),
                index.dtype().scalar_type_name(),
                index.sizes()
            ),
        ));
    }
    if !matches!(index.dtype(), DType::Int32 | DType::Int64) {
        return Err(Error::dtype(
            OP,
            format!(
                "index_reduce_(): Expected dtype int32/int64 for index but got: {}",
                index.dtype().scalar_type_name()
            ),
        ));
    }
    if input.dtype() != source.dtype() {
        return Err(Error::dtype(
            OP,
            format!(
                "index_reduce_(): self ({}) and source ({}) must have the same scalar type",
                input.dtype().scalar_type_name(),
                source.dtype().scalar_type_name()
            ),
        ));
    }
    let along = source.sizes().get(dim).copied().unwrap_or(1);
    if source.ndim() > 0 && dim >= source.ndim() || along != index.numel() {
        return Err(Error::shape(
            OP,
            format!(
                "index_reduce_(): Number of indices ({}) should be equal to source.size(dim): ({along}), for dim: {dim}",
                index.numel()
            ),
        ));
    }
    let others = |t: &Tensor| -> Vec<usize> {
        t.sizes().iter().enumerate().filter(|(axis, _)| *axis != dim).map(|(_, &n)| n).collect()
    };
    if input.ndim() != source.ndim() || others(input) != others(source) {
        return Err(Error::shape(
            OP,
            format!(
                "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {:?} \
                 source.shape = {:?}",
                input.sizes(),
                source.sizes()
            ),
        ));
    }
    if index.numel() > 0 && !index.is_batched() {
        let size = input.sizes().get(dim).copied().unwrap_or(1) as i64;
        let wrong = index.detach().lt(&Tensor::number(0i64.into())?)?;
        let wrong = wrong.logical_or(&index.detach().ge(&Tensor::number(size.into())?)?)?;
        if wrong.any()?.is_nonzero()? {
            return Err(Error::index(OP, format!("index out of range in self: dimension {dim} has size {size}")));
        }
    }
    apply_as(form, IndexReduce(ScatterReduce { dim, reduction, include_self }), &[input, index, source])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let index = Tensor::from_slice(&[2i64, 0, 2], &[3]).unwrap();
        for reduce in ["prod", "mean", "amax", "amin"] {
            for include in [true, false] {
                let f = |xs: &[Tensor]| xs[0].index_reduce(1, &index, &xs[1], reduce, include)?.exp();
                gradcheck(&f, &[noise(1, &[2, 4]), noise(2, &[2, 3])]);
            }
        }
        assert!(noise(1, &[2, 4]).index_reduce(1, &index, &noise(2, &[2, 3]), "sum", true).is_err());
        assert!(noise(1, &[2, 2]).index_reduce(1, &index, &noise(2, &[2, 3]), "prod", true).is_err());
    }
}
