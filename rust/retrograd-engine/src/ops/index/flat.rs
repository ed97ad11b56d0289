//! Reading and writing at positions in row-major order (take, put), and further forms of the ops at index tensors.

use retrograd_macros::op;
use smallvec::smallvec;

use super::advanced::{and_none, read_at};
use super::along::gather;
use super::walk::{IndexWalk, add_in_float32, sum};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::{Error, ErrorKind, Result};
use crate::match_dtype;
use crate::ops::pointwise::select::where_;
use crate::ops::{Form, view};
use crate::tensor::copy;
use crate::tensor::layout::{broadcast, wrap_dim};
use crate::tensor::{DType, Dims, Dtypes, Scalar, Tensor};

/// The elements as a vector, not recorded.
fn line(x: &Tensor) -> Result<Tensor> {
    let x = copy::contiguous(x)?;
    Tensor::from_parts(x.storage(), x.dtype(), &[x.numel()], &[1], x.storage_offset())
}

/// The entries of a batch as vectors, `(batch, n)`.
pub(super) fn lines(x: &Tensor, axis: Option<usize>, batch: usize) -> Result<Tensor> {
    let x = view::batch_first(x, axis, batch)?;
    let n = x.sizes()[1..].iter().product();
    view::reshape_to(&x, &[batch, n])
}

/// Positions counted from the start, of a line of `n`.
fn from_start(index: &Tensor, n: usize) -> Result<Tensor> {
    let zero = Tensor::number(Scalar::Int(0))?;
    where_(&index.lt(&zero)?, &index.add(&Tensor::number(Scalar::Int(n as i64))?)?, index)
}

fn check_positions(op: &'static str, index: &Tensor) -> Result<()> {
    if index.dtype() != DType::Int64 {
        return Err(Error::dtype(
            op,
            format!(
                "{op}(): Expected a long tensor for index, but got {}: convert with .to(int64)",
                index.dtype().name()
            ),
        ));
    }
    Ok(())
}

/// An error of an index of the elements as a vector, said of the tensor.
#[cold]
fn outside(e: Error, x: &Tensor, index: &Tensor) -> Error {
    let n = x.numel() as i64;
    let bad = index.to_vec::<i64>().ok().and_then(|all| all.into_iter().find(|i| !(-n..n).contains(i)));
    match (e.kind(), bad) {
        (ErrorKind::Index { op, .. }, Some(i)) => {
            Error::index(op, format!("out of range: tried to access index {i} on a tensor of {n} elements."))
        }
        _ => e,
    }
}

/// `take`. Reverse: `g` added up at the positions, in zeros.
#[derive(Clone, Debug)]
struct Take;

impl Primitive for Take {
    const NAME: &'static str = "take";
    const SAVE: &'static [Save] = &[Save::input(1, "index"), Save::input(0, "self")];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Rule(|_, xs, axes, batch| {
        let (x, index) = (lines(xs[0], axes[0], batch)?, view::batch_first(xs[1], axes[1], batch)?);
        let at = from_start(&view::reshape_to(&index, &[batch, index.numel() / batch.max(1)])?, x.sizes()[1])?;
        Ok((out(view::reshape_to(&x.gather(1, &at)?, index.sizes())?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn inputs(&self) -> u32 {
        0b01
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        if xs[0].numel() == 0 && xs[1].numel() > 0 {
            return Err(Error::index(Self::NAME, "take(): tried to take from an empty tensor"));
        }
        read_at(Self::NAME, &line(xs[0])?, &[0], &[xs[1]]).map_err(|e| outside(e, xs[0], xs[1])).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let zeros = Tensor::full(cx.sizes(0), Scalar::Int(0), cx.g().dtype())?;
        Ok(and_none(cx, one(zeros.put(cx.saved(0)?, cx.g(), true)?)))
    }
}

/// `put`. Reverse: `g`, with zeros where it was overwritten, and `g` at the positions.
#[derive(Clone, Debug)]
struct Put {
    accumulate: bool,
}

impl Primitive for Put {
    const NAME: &'static str = "put";
    const SAVE: &'static [Save] = &[Save::input(1, "index"), Save::input(2, "source")];
    const PARAMS: Params<Self> = params!(op; accumulate);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const DTYPES: Dtypes = Dtypes::ALL;
    const BATCH: Batch<Self> = Batch::Rule(|p, xs, axes, batch| {
        let whole = view::batch_first(xs[0], axes[0], batch)?;
        let [x, index, source] =
            [lines(xs[0], axes[0], batch)?, lines(xs[1], axes[1], batch)?, lines(xs[2], axes[2], batch)?];
        let at = from_start(&index, x.sizes()[1])?;
        let y = if p.accumulate { x.scatter_add(1, &at, &source)? } else { x.scatter(1, &at, &source)? };
        Ok((out(view::reshape_to(&y, whole.sizes())?), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b101);
    fn inputs(&self) -> u32 {
        0b101
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        if self.accumulate && xs[0].dtype().half().is_some() {
            let result = copy::row_major(xs[0])?;
            add_in_float32(&result, xs[2], |to, source| copy::copy_into(&self.forward(&[to, xs[1], source])?[0], to))?;
            return Ok(out(result));
        }
        let result = copy::row_major(xs[0])?;
        let (to, from) = (line(&result)?, line(xs[2])?);
        let walk = IndexWalk::new(Self::NAME, &to, &[0], &[&line(xs[1])?]);
        let places = walk.and_then(IndexWalk::places).map_err(|e| outside(e, xs[0], xs[1]))?;
        if self.accumulate {
            return match_dtype!(rings, to.dtype(), T => {
                // SAFETY: (1) S1 and S3, the walk being made for this tensor; (2) `from` has as many elements as the
                // index, and the result is fresh.
                unsafe { places.combine(from.ptr::<T>().cast_const(), to.ptr::<T>(), sum::<T>) };
                Ok(out(result))
            });
        }
        // SAFETY: as above; the dtypes are the same.
        unsafe { places.write(from.op_ptr().cast_const(), to.op_ptr()) };
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, index) = (cx.g(), cx.saved(0)?);
        let rest = cx.when(0, || {
            if self.accumulate {
                return Ok(g.clone());
            }
            g.put(index, &Tensor::full(index.sizes(), Scalar::Int(0), g.dtype())?, false)
        })?;
        let source = cx.when(2, || view::reshape_to(&g.take(index)?, cx.sizes(2)))?;
        Ok(smallvec![rest, None, source])
    }
}

/// The elements of `input` at positions in row-major order.
///
/// Args: `index` int64 of any shape, negative counted from the end. Returns: a fresh tensor of the sizes of `index`.
/// Derivative: `g` added up at the positions. Raises: IndexError if a position does not exist; RuntimeError for another
/// dtype.
///
/// >>> rg.take(rg.tensor([[1.0, 2.0], [3.0, 4.0]]), rg.tensor([0, -1])).tolist()
/// [1.0, 4.0]
#[op(
    function, method,
    out = OutDtype::Same(&[
        "take(): self and out expected to have the same dtype, but got self.dtype = {Result} and out.dtype = {Out}",
    ])
)]
pub fn take(input: &Tensor, index: &Tensor) -> Result<Tensor> {
    check_positions("take", index)?;
    apply1(Take, &[input, index])
}

/// `input` with the elements of `source` written at positions in row-major order, or added.
///
/// Args: `index` int64, negative counted from the end; `source` of the dtype of `input`, as many elements as `index`;
/// `accumulate` adds. Returns: a fresh tensor. Derivative: `g`, with zeros where it was overwritten, and `g` at the
/// positions.
/// Raises: IndexError if a position does not exist or the numbers of elements differ; RuntimeError for another dtype.
///
/// >>> rg.put(rg.zeros(2, 2), rg.tensor([3]), rg.tensor([1.0])).tolist()
/// [[0.0, 0.0], [0.0, 1.0]]
#[op(function, method, inplace, "(accumulate=False)")]
pub fn put(input: &Tensor, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<Tensor> {
    check_positions("put", index)?;
    if input.dtype() != source.dtype() {
        return Err(Error::dtype(
            "put",
            format!(
                "put_(): self and source expected to have the same dtype, but got self.dtype = {} and source.dtype = {}",
                input.dtype().name(),
                source.dtype().name()
            ),
        ));
    }
    if index.numel() != source.numel() {
        return Err(Error::index(
            "put",
            format!(
                "put_(): Expected source and index to have the same number of elements, but got source.numel() = {}, \
                 index.numel() = {}",
                source.numel(),
                index.numel()
            ),
        ));
    }
    if input.numel() == 0 && index.numel() > 0 {
        return Err(Error::index("put", "put_(): Tried to put elements into an empty tensor"));
    }
    apply_as(form, Put { accumulate }, &[input, index, source])
}

/// The elements of `input` that `indices` names along an axis, both broadcast along the others; see `gather`.
///
/// Args: `indices` int64, negative counted from the end; `dim` the axis, None for positions in row-major order, from 0
/// on. Returns: a fresh tensor. Derivative: `g` added up at the indices. Raises: RuntimeError for another dtype, shapes
/// that do not broadcast, or an index that does not exist.
///
/// >>> x = rg.tensor([[3.0, 1.0], [2.0, 4.0]])
/// >>> rg.take_along_dim(x, rg.argsort(x, dim=1), dim=1).tolist()
/// [[1.0, 3.0], [2.0, 4.0]]
#[op(function, method, out = SAME, "(dim=None)")]
pub fn take_along_dim(input: &Tensor, indices: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    const OP: &str = "take_along_dim";
    if indices.dtype() != DType::Int64 {
        return Err(Error::dtype(
            OP,
            format!(
                "torch.take_along_dim(): dtype of indices should be Long but got {}",
                indices.dtype().scalar_type_name()
            ),
        ));
    }
    let Some(dim) = dim else {
        return gather(&input.reshape(&[-1])?, 0, &indices.reshape(&[-1])?, false);
    };
    if input.ndim() != indices.ndim() {
        return Err(Error::shape(
            OP,
            format!(
                "torch.take_along_dim(): input and indices should have the same number of dimensions, but got {} dimensions for \
                 input, and {} dimensions for indices",
                input.ndim(),
                indices.ndim()
            ),
        ));
    }
    let d = wrap_dim(OP, dim, input.ndim())?;
    let (mut a, mut b) = (Dims::from_slice(input.sizes()), Dims::from_slice(indices.sizes()));
    if !a.is_empty() {
        (a[d], b[d]) = (1, 1);
    }
    let whole = broadcast(OP, &a, &b)?;
    let batch_at_all_levels = |t: &Tensor| {
        let mut sizes = whole.clone();
        if !sizes.is_empty() {
            sizes[d] = t.sizes()[d];
        }
        view::expand_to(t, &sizes)
    };
    let n = input.sizes().get(d).copied().unwrap_or(1);
    gather(&batch_at_all_levels(input)?, dim, &batch_at_all_levels(&from_start(indices, n)?)?, false)
}

/// `input` with `values` written at index tensors, as `input[indices] = values` does, or added.
///
/// Args: `indices` a tuple of index tensors, one per axis from the first on; a mask covers as many axes as it has;
/// `values` broadcast to what they name; `accumulate` adds, each as often as it is named. Returns: a fresh tensor.
/// Derivative: `g`, with zeros where it was overwritten, and `g` at the indices. Raises: IndexError if an index does
/// not exist; RuntimeError if shapes or dtypes do not fit.
///
/// >>> rg.index_put(rg.zeros(3), (rg.tensor([0, 2]),), rg.tensor([1.0, 2.0])).tolist()
/// [1.0, 0.0, 2.0]
#[op(function, method, inplace, norust, name = "index_put", "(accumulate=False)")]
pub fn put_indices(input: &Tensor, indices: &[Tensor], values: &Tensor, accumulate: bool) -> Result<Tensor> {
    let indices: Vec<Option<Tensor>> = indices.iter().cloned().map(Some).collect();
    match form {
        Form::New | Form::Out => super::index_put(input, &indices, values, accumulate),
        Form::InPlace => super::index_put_(input, &indices, values, accumulate),
    }
}

/// The positions of the elements that are not zero, one row each; see `nonzero`.
///
/// >>> rg.argwhere(rg.tensor([0.0, 1.0, 2.0])).tolist()
/// [[1], [2]]
#[op(function, method)]
pub fn argwhere(input: &Tensor) -> Result<Tensor> {
    super::nonzero(input)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let x = noise(1, &[3, 4]);
        let at = Tensor::from_slice(&[5i64, -1, 5, 0], &[2, 2]).unwrap();
        gradcheck(&|xs| xs[0].t()?.take(&at)?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].put(&at, &xs[1], true)?.exp(), &[x.clone(), noise(2, &[4])]);
        let once = Tensor::from_slice(&[5i64, -1, 2], &[3]).unwrap();
        gradcheck(&|xs| xs[0].put(&once, &xs[1], false)?.exp(), &[x.clone(), noise(2, &[3])]);
        assert!(x.take(&Tensor::from_slice(&[12i64], &[1]).unwrap()).is_err());
        assert!(x.put(&once, &noise(1, &[2]), false).is_err());
    }
}
