//! Views of a part: select, slice, narrow, diagonal, and the one op that puts a part's gradient back into its place.

use retrograd_macros::op;

use super::view_op::{Layout, ViewOp, apply_view, counted, with_batch};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, out, params};
use crate::error::{Error, Result};
use crate::ops::Value;
use crate::tensor::layout::{copied, wrap_dim};
use crate::tensor::{Dims, Scalar, Tensor};

/// Zeros of sizes `from` with the operand in the place that `part` looks at. Reverse: that part of `g`.
#[derive(Clone, Debug)]
pub(super) struct Embed<V> {
    part: V,
    from: Dims,
    node: &'static str,
}

impl<V: ViewOp> Primitive for Embed<V> {
    const NAME: &'static str = V::NAME;
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Lift(|p, _, batch| {
        Ok(Embed { part: p.part.lift(p.from.len(), batch), from: with_batch(&p.from, batch), node: p.node })
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn node(&self) -> &'static str {
        self.node
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let whole = Tensor::full(&self.from, Scalar::Int(0), xs[0].dtype())?;
        let l = self.part.layout(&whole)?;
        let part = Tensor::from_parts(whole.storage(), whole.dtype(), &l.sizes, &l.strides, l.offset)?;
        crate::tensor::copy::copy_into(xs[0], &part)?;
        Ok(out(whole))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Ok(one(apply_view(self.part.clone(), cx.g())?))
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        // Of the view without the sizes, which are those of the result here.
        self.part.params().into_iter().filter(|(name, _)| *name != "self_sym_sizes").collect()
    }
}

/// Reverse of the views here.
pub(super) fn embed<V: ViewOp>(part: &V, node: &'static str, g: &Tensor, sizes: &[usize]) -> Result<Tensor> {
    apply1(Embed { part: part.clone(), from: Dims::from_slice(sizes), node }, &[g])
}

/// `select`: one index of an axis, which goes. Reverse: `g` at that index, zeros elsewhere.
#[derive(Clone, Debug)]
pub(super) struct Select {
    pub dim: usize,
    /// As given; negative counts from the end.
    pub index: i64,
    pub from: Dims,
}

impl ViewOp for Select {
    const NAME: &'static str = "select";
    const PARAMS: Params<Self> = params!(op; dim, index, self_sym_sizes: &*op.from);
    fn node(&self) -> &'static str {
        "SelectBackward0"
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let mut l = Layout::of(x);
        l.select(self.dim, self.index);
        Ok(l)
    }
    #[inline]
    fn view(&self, x: &Tensor) -> Result<Tensor> {
        if self.dim == 0 && !x.is_sparse() {
            let n = x.sizes()[0];
            let index = if self.index < 0 { self.index + n as i64 } else { self.index } as usize;
            if index < n {
                return Ok(x.row(index));
            }
        }
        self.layout(x)?.view_of(x)
    }
    fn vjp(&self, g: &Tensor, sizes: &[usize]) -> Result<Tensor> {
        embed(self, "SelectBackwardBackward0", g, sizes)
    }
    fn lift(&self, _ndim: usize, batch: usize) -> Self {
        Self { dim: self.dim + 1, index: self.index, from: with_batch(&self.from, batch) }
    }
}

/// `slice`: every `step`-th index of an axis from `start` up to `end`. Reverse: `g` there, zeros elsewhere.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub dim: usize,
    /// As given; negative counts from the end, and both are clamped.
    pub start: i64,
    pub end: i64,
    pub step: i64,
    pub from: Dims,
}

impl ViewOp for Slice {
    const NAME: &'static str = "slice";
    const PARAMS: Params<Self> = params!(op; dim, end, self_sym_sizes: &*op.from, start, step);
    fn node(&self) -> &'static str {
        "SliceBackward0"
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let mut l = Layout::of(x);
        l.slice(self.dim, self.start, self.end, self.step);
        Ok(l)
    }
    #[inline]
    fn view(&self, x: &Tensor) -> Result<Tensor> {
        if self.dim == 0 && !x.is_sparse() {
            let (start, count) = counted(x.sizes()[0], self.start, self.end, self.step);
            return Ok(x.rows(start, count, self.step as usize));
        }
        self.layout(x)?.view_of(x)
    }
    fn vjp(&self, g: &Tensor, sizes: &[usize]) -> Result<Tensor> {
        embed(self, "SliceBackwardBackward0", g, sizes)
    }
    fn lift(&self, _ndim: usize, batch: usize) -> Self {
        Self { dim: self.dim + 1, from: with_batch(&self.from, batch), ..*self }
    }
}

/// `diagonal`: the elements where two axes agree up to an offset, along a new last axis. Reverse: `g` there, zeros
/// elsewhere.
#[derive(Clone, Debug)]
pub(super) struct Diagonal {
    pub offset: i64,
    pub dims: [usize; 2],
    pub from: Dims,
}

impl ViewOp for Diagonal {
    const NAME: &'static str = "diagonal";
    const PARAMS: Params<Self> = params!(op; dim1: op.dims[0], dim2: op.dims[1], offset, self_sym_sizes: &*op.from);
    fn node(&self) -> &'static str {
        "DiagonalBackward0"
    }
    fn layout(&self, x: &Tensor) -> Result<Layout> {
        let [a, b] = self.dims;
        let (na, nb) = (x.sizes()[a] as i64, x.sizes()[b] as i64);
        let (sa, sb) = (x.strides()[a], x.strides()[b]);
        let length = if self.offset >= 0 {
            na.min(nb.saturating_sub(self.offset))
        } else {
            na.saturating_add(self.offset).min(nb)
        };
        let n = length.max(0) as usize;
        let stays = |&d: &usize| d != a && d != b;
        let mut sizes: Dims = (0..x.ndim()).filter(stays).map(|d| x.sizes()[d]).collect();
        let mut strides: crate::tensor::Strides = (0..x.ndim()).filter(stays).map(|d| x.strides()[d]).collect();
        sizes.push(n);
        strides.push(sa.saturating_add(sb));
        let shift = match () {
            () if n == 0 => 0,
            () if self.offset >= 0 => self.offset as isize * sb,
            () => -self.offset as isize * sa,
        };
        Ok(Layout::over(x, sizes, strides, x.storage_offset().wrapping_add_signed(shift)))
    }
    fn vjp(&self, g: &Tensor, sizes: &[usize]) -> Result<Tensor> {
        embed(self, "DiagonalBackwardBackward0", g, sizes)
    }
    fn lift(&self, _ndim: usize, batch: usize) -> Self {
        Self { offset: self.offset, dims: self.dims.map(|d| d + 1), from: with_batch(&self.from, batch) }
    }
}

/// The view at a checked index of a checked axis.
#[inline]
pub(crate) fn select_at(x: &Tensor, dim: usize, index: i64) -> Result<Tensor> {
    apply_view(Select { dim, index, from: copied(x.dims()) }, x)
}

/// Every `step`-th index from `start` up to `end` of a checked axis.
fn slice_at(op: &'static str, x: &Tensor, dim: usize, start: i64, end: i64, step: i64) -> Result<Tensor> {
    if step <= 0 {
        return Err(Error::shape(op, format!("slice step must be positive, got {step}")));
    }
    apply_view(Slice { dim, start, end, step, from: copied(x.dims()) }, x)
}

/// As [`Tensor::slice`], of the first axis of a tensor that has one, with a step above 0.
#[inline]
pub(crate) fn slice_first(x: &Tensor, start: i64, end: i64, step: i64) -> Result<Tensor> {
    apply_view(Slice { dim: 0, start, end, step, from: copied(x.dims()) }, x)
}

impl Tensor {
    /// A view of every `step`-th index of an axis from `start` up to `end`; both may be negative and are clamped.
    pub fn slice(&self, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor> {
        if self.ndim() == 0 {
            return Err(Error::shape("slice", "slice() cannot be applied to a 0-dim tensor."));
        }
        let dim = wrap_dim("slice", dim, self.ndim())?;
        slice_at("slice", self, dim, start.unwrap_or(0), end.unwrap_or(i64::MAX), step)
    }
}

/// A view of `input` at one index of an axis, without the axis.
///
/// Args: `dim` an axis; `index` along it, negative counted from the end. Returns: a view. Derivative: `g` at that
/// index, zeros elsewhere. Raises: IndexError if the axis or the index does not exist.
///
/// >>> rg.select(rg.tensor([[1.0, 2.0], [3.0, 4.0]]), 1, -1).tolist()
/// [2.0, 4.0]
#[op(function, method)]
pub fn select(input: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    if input.ndim() == 0 {
        return Err(Error::index("select", "select() cannot be applied to a 0-dim tensor."));
    }
    let d = wrap_dim("select", dim, input.ndim())?;
    let n = input.sizes()[d] as i64;
    if index < -n || index >= n {
        return Err(Error::index(
            "select",
            format!("select(): index {index} out of range for tensor of size {:?} at dimension {d}", input.sizes()),
        ));
    }
    select_at(input, d, index)
}

/// A view of `length` indices of an axis from `start` on.
///
/// Args: `dim` an axis; `start` from `-n` to `n` for an axis of size `n`; `length` not negative. Returns: a view.
/// Derivative: `g` there, zeros elsewhere. Raises: IndexError if `dim` or `start` is out of range; RuntimeError if the
/// range leaves the axis.
///
/// >>> rg.narrow(rg.tensor([1.0, 2.0, 3.0]), 0, 1, 2).tolist()
/// [2.0, 3.0]
#[op(function, method)]
pub fn narrow(input: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    if input.ndim() == 0 {
        return Err(Error::shape("narrow", "narrow() cannot be applied to a 0-dim tensor."));
    }
    if length < 0 {
        return Err(Error::shape("narrow", format!("narrow(): length must be non-negative, got {length}")));
    }
    let d = wrap_dim("narrow", dim, input.ndim())?;
    let n = input.sizes()[d] as i64;
    if start < -n || start > n {
        return Err(Error::index(
            "narrow",
            format!("start out of range (expected to be in range of [{}, {n}], but got {start})", -n),
        ));
    }
    let start = if start < 0 { start + n } else { start };
    if length > n - start {
        return Err(Error::shape(
            "narrow",
            format!("start ({start}) + length ({length}) exceeds dimension size ({n})."),
        ));
    }
    slice_at("narrow", input, d, start, start + length, 1)
}

/// As `narrow`, with `start` a 0-dim integer tensor.
///
/// >>> rg.narrow(rg.tensor([1.0, 2.0, 3.0]), 0, rg.tensor(1), 2).tolist()
/// [2.0, 3.0]
#[op(function, method, name = "narrow")]
pub fn narrow_tensor(input: &Tensor, dim: i64, start: &Tensor, length: i64) -> Result<Tensor> {
    if start.ndim() != 0 || !start.dtype().is_integral() || start.dtype() == crate::DType::Bool {
        return Err(Error::shape("narrow", "start must be an 0-dim integral Tensor."));
    }
    narrow(input, dim, start.item()?.as_i64(), length)
}

/// A view of the elements where two axes agree up to `offset`, along a new last axis.
///
/// Args: `offset` above 0 for the diagonals right of the main one, below for those left of it; `dim1`, `dim2` two axes.
/// Returns: a view. Derivative: `g` there, zeros elsewhere. Raises: IndexError if an axis does not exist; RuntimeError
/// if they are the same.
///
/// >>> rg.diagonal(rg.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
/// [1.0, 4.0]
#[op(function, method, "(offset=0, dim1=0, dim2=1)")]
pub fn diagonal(input: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    let dims = [wrap_dim("diagonal", dim1, input.ndim())?, wrap_dim("diagonal", dim2, input.ndim())?];
    if dims[0] == dims[1] {
        return Err(Error::shape("diagonal", format!("diagonal dimensions cannot be identical {dim1}, {dim2}")));
    }
    apply_view(Diagonal { offset, dims, from: Dims::from_slice(input.sizes()) }, input)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::testing::{gradcheck, noise};

    fn counted() -> Tensor {
        Tensor::from_slice(&[0.0f64, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0], &[3, 4]).unwrap()
    }

    #[test]
    fn values() {
        let x = counted();
        let v = |t: Result<Tensor>| t.unwrap().to_vec::<f64>().unwrap();
        assert_eq!(v(x.select(1, -1)), [3.0, 7.0, 11.0]);
        assert_eq!(v(x.slice(1, Some(-3), None, 2)), [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]);
        assert_eq!(x.slice(0, Some(2), Some(1), 1).unwrap().sizes(), [0, 4]);
        assert_eq!(v(x.slice(0, Some(i64::MIN), Some(i64::MAX), i64::MAX)), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(v(x.narrow(0, -1, 1)), [8.0, 9.0, 10.0, 11.0]);
        assert_eq!(v(x.diagonal(1, 0, 1)), [1.0, 6.0, 11.0]);
        assert_eq!(v(x.diagonal(-1, 0, 1)), [4.0, 9.0]);
        assert_eq!(x.diagonal(i64::MIN, 0, 1).unwrap().sizes(), [0]);
        assert_eq!(x.diagonal(i64::MAX, 0, 1).unwrap().sizes(), [0]);
    }

    #[test]
    fn refusals() {
        let x = counted();
        assert!(x.select(0, 3).is_err() && x.select(0, -4).is_err() && x.select(2, 0).is_err());
        assert!(x.narrow(0, 1, i64::MAX).is_err() && x.narrow(0, 4, 0).is_err() && x.narrow(0, 0, -1).is_err());
        assert!(x.slice(0, None, None, 0).is_err() && x.slice(0, None, None, -1).is_err());
        assert!(x.diagonal(0, 0, -2).is_err());
        assert!(noise(1, &[]).select(0, 0).is_err() && noise(1, &[]).slice(0, None, None, 1).is_err());
    }

    #[test]
    fn derivatives() {
        let x = noise(1, &[3, 4]);
        gradcheck(&|xs| xs[0].select(1, 2)?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].slice(1, Some(1), None, 2)?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].transpose(0, 1)?.narrow(0, 1, 2)?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].diagonal(-1, 1, 0)?.exp(), from_ref(&x));
        gradcheck(&|xs| xs[0].slice(0, Some(1), Some(1), 1), &[x]);
    }
}
