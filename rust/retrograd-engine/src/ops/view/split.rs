//! Views of all parts at once: unbind, split, chunk.

use retrograd_macros::op;

use super::view_op::{Layout, with_batch};
use crate::autograd::Grads;
use crate::autograd::apply::apply;
use crate::autograd::mode;
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Params, Primitive, Save, Tangents, Vjp, one, params};
use crate::autograd::view::Creation;
use crate::error::{Error, Result};
use crate::ops::Value;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Dims, Scalar, Tensor};

/// Marks views that have siblings: in-place writes through them cannot be recorded.
fn siblings(outs: Outs) -> Outs {
    if mode::is_grad_enabled() {
        outs.iter().for_each(|o| o.set_creation(Creation::Multi));
    }
    outs
}

/// The gradient of output `i`, zeros of the given sizes if none arrived.
fn filled(cx: &Vjp, i: usize, sizes: &[usize]) -> Result<Tensor> {
    match cx.g_of(i) {
        Some(g) => Ok(g.clone()),
        None => Tensor::full(sizes, Scalar::Int(0), cx.dtype(0)),
    }
}

/// `unbind`: every index of an axis, which goes. Reverse: the gradients stacked.
#[derive(Clone, Debug)]
struct Unbind {
    dim: usize,
}

impl Primitive for Unbind {
    const NAME: &'static str = "unbind";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const PARAMS: Params<Self> = params!(op; dim);
    const BATCH: Batch<Self> = Batch::Lift(|p, _, _| Ok(Unbind { dim: p.dim + 1 }));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    const TAKES_LAZY: bool = true;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        let mut l = Layout::of(x);
        let (n, step) = (l.sizes.remove(self.dim), l.strides.remove(self.dim));
        let at = |i: usize| {
            // Without elements the offset means nothing, and might leave the address space.
            let shift = step.wrapping_mul(i as isize);
            x.view_as(&l.sizes, &l.strides, l.offset.wrapping_add_signed(shift))
        };
        (0..n).map(at).collect::<Result<Outs>>().map(siblings)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut sizes = Dims::from_slice(cx.sizes(0));
        let n = sizes.remove(self.dim);
        let gs: Vec<Tensor> = (0..n).map(|i| filled(cx, i, &sizes)).collect::<Result<_>>()?;
        Ok(one(super::stack(&gs, self.dim as i64)?))
    }
}

/// `split` and `split_with_sizes`: consecutive ranges of an axis. Reverse: the gradients joined.
#[derive(Clone, Debug)]
struct Split {
    dim: usize,
    parts: Vec<usize>,
    /// The size of every part but the last, if it was asked for so.
    each: Option<i64>,
    /// The parts are tensors of their own over the memory: writes to them are not reported.
    untracked: bool,
    from: Dims,
}

impl Primitive for Split {
    const NAME: &'static str = "split";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> =
        Batch::Lift(|p, _, batch| Ok(Split { dim: p.dim + 1, from: with_batch(&p.from, batch), ..p.clone() }));
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    const TAKES_LAZY: bool = true;
    fn node(&self) -> &'static str {
        match (self.untracked, self.each.is_some()) {
            (false, true) => "SplitBackward0",
            (false, false) => "SplitWithSizesBackward0",
            (true, true) => "UnsafeSplitBackward0",
            (true, false) => "UnsafeSplitWithSizesBackward0",
        }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        let mut l = Layout::of(x);
        let step = l.strides[self.dim];
        let mut start = 0;
        let mut outs = Outs::new();
        for &n in &self.parts {
            l.sizes[self.dim] = n;
            let shift = step.wrapping_mul(start as isize);
            let offset = l.offset.wrapping_add_signed(shift);
            outs.push(if self.untracked {
                x.part_uncounted(&l.sizes, &l.strides, offset)?
            } else {
                x.view_as(&l.sizes, &l.strides, offset)?
            });
            start += n;
        }
        Ok(if self.untracked { outs } else { siblings(outs) })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut sizes = Dims::from_slice(cx.sizes(0));
        let mut gs = Vec::with_capacity(self.parts.len());
        for (i, &n) in self.parts.iter().enumerate() {
            sizes[self.dim] = n;
            gs.push(filled(cx, i, &sizes)?);
        }
        Ok(one(super::cat(&gs, self.dim as i64)?))
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        let parts = match self.each {
            Some(n) => ("split_size", n.into()),
            None => ("split_sizes", (&*self.parts).into()),
        };
        vec![("dim", (self.dim as i64).into()), ("self_sym_sizes", (&*self.from).into()), parts]
    }
}

fn run(x: &Tensor, dim: usize, parts: Vec<usize>, each: Option<i64>, untracked: bool) -> Result<Vec<Tensor>> {
    let op = Split { dim, parts, each, untracked, from: Dims::from_slice(x.sizes()) };
    Ok(apply(op, &[x])?.into_vec())
}

/// The axis, of a tensor that has one.
fn axis(op: &'static str, x: &Tensor, dim: i64) -> Result<usize> {
    if x.ndim() == 0 {
        return Err(Error::shape(op, format!("{op} expects at least a 1-dimensional tensor")));
    }
    wrap_dim(op, dim, x.ndim())
}

fn by_size(x: &Tensor, each: i64, dim: i64, untracked: bool) -> Result<Vec<Tensor>> {
    let d = axis("split", x, dim)?;
    let n = x.sizes()[d];
    if each < 0 {
        return Err(Error::shape(
            "split",
            format!("split expects split_size be non-negative, but got split_size={each}"),
        ));
    }
    if each == 0 && n != 0 {
        return Err(Error::shape(
            "split",
            format!("split_size can only be 0 if dimension size is 0, but got dimension size of {n}"),
        ));
    }
    let size = each as usize;
    let parts = if n == 0 { vec![0] } else { (0..n.div_ceil(size)).map(|i| size.min(n - i * size)).collect() };
    run(x, d, parts, Some(each), untracked)
}

fn by_sizes(x: &Tensor, sizes: &[i64], dim: i64, untracked: bool) -> Result<Vec<Tensor>> {
    let d = axis("split_with_sizes", x, dim)?;
    let n = x.sizes()[d];
    if sizes.iter().any(|&s| s < 0) {
        return Err(Error::shape(
            "split_with_sizes",
            format!(
                "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={sizes:?}"
            ),
        ));
    }
    if sizes.iter().try_fold(0i64, |a, &s| a.checked_add(s)) != Some(n as i64) {
        return Err(Error::shape(
            "split_with_sizes",
            format!(
                "split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {d}), but got \
                 split_sizes={sizes:?}"
            ),
        ));
    }
    run(x, d, sizes.iter().map(|&s| s as usize).collect(), None, untracked)
}

/// Views of `input` at every index of an axis, without the axis.
///
/// Args: `dim` an axis. Returns: a tuple of views. Derivative: the gradients stacked. Raises: IndexError if the axis
/// does not exist.
///
/// >>> [row.tolist() for row in rg.unbind(rg.tensor([[1.0, 2.0], [3.0, 4.0]]))]
/// [[1.0, 2.0], [3.0, 4.0]]
#[op(function, method, "(dim=0)")]
pub fn unbind(input: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    if input.ndim() == 0 {
        return Err(Error::index("unbind", "Dimension specified as 0 but tensor has no dimensions"));
    }
    let dim = wrap_dim("unbind", dim, input.ndim())?;
    Ok(apply(Unbind { dim }, &[input])?.into_vec())
}

/// Views of consecutive parts of an axis.
///
/// Args: `split_size_or_sections` the size of each part, the last one being what is left; or a list of sizes. Returns:
/// a tuple of views. Derivative: the gradients joined. Raises: RuntimeError for a negative size, or sizes that do not
/// sum to that of the axis.
///
/// >>> [part.tolist() for part in rg.split(rg.tensor([1.0, 2.0, 3.0]), 2)]
/// [[1.0, 2.0], [3.0]]
#[op(function, norust, "(dim=0)")]
pub fn split(tensor: &Tensor, split_size_or_sections: i64, dim: i64) -> Result<Vec<Tensor>> {
    by_size(tensor, split_size_or_sections, dim, false)
}

/// Views of parts of the listed sizes; see `split`.
///
/// >>> [part.tolist() for part in rg.split(rg.tensor([1.0, 2.0, 3.0]), [1, 2])]
/// [[1.0], [2.0, 3.0]]
#[op(function, norust, name = "split", "(dim=0)")]
pub fn split_sections(tensor: &Tensor, split_size_or_sections: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    by_sizes(tensor, split_size_or_sections, dim, false)
}

/// Views of consecutive parts of an axis; see `split`.
///
/// >>> [part.tolist() for part in rg.tensor([1.0, 2.0, 3.0]).split(2)]
/// [[1.0, 2.0], [3.0]]
#[op(method, norust, name = "split", "(dim=0)")]
pub fn split_method(input: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
    by_size(input, split_size, dim, false)
}

/// Views of parts of the listed sizes; see `split`.
///
/// >>> [part.tolist() for part in rg.tensor([1.0, 2.0, 3.0]).split([1, 2])]
/// [[1.0], [2.0, 3.0]]
#[op(method, norust, name = "split", "(dim=0)")]
pub fn split_sections_method(input: &Tensor, split_size: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    by_sizes(input, split_size, dim, false)
}

/// Views of consecutive parts of an axis, of the listed sizes.
///
/// Args: `split_sizes` that sum to the size of the axis `dim`. Returns: a tuple of views. Derivative: the gradients
/// joined.
/// Raises: RuntimeError if the sizes do not sum to that of the axis.
///
/// >>> [part.tolist() for part in rg.split_with_sizes(rg.tensor([1.0, 2.0, 3.0]), [1, 2])]
/// [[1.0], [2.0, 3.0]]
#[op(function, method, "(dim=0)")]
pub fn split_with_sizes(input: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    by_sizes(input, split_sizes, dim, false)
}

/// Views of at most `chunks` consecutive parts of an axis, all of one size but perhaps the last.
///
/// Args: `chunks` at least 1; `dim` the axis. Returns: a tuple of views. Derivative: the gradients joined. Raises:
/// RuntimeError if `chunks` is not positive.
///
/// >>> [part.tolist() for part in rg.chunk(rg.tensor([1.0, 2.0, 3.0]), 2)]
/// [[1.0, 2.0], [3.0]]
#[op(function, method, "(dim=0)")]
pub fn chunk(input: &Tensor, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
    by_count("chunk", input, chunks, dim, false)
}

fn by_count(op: &'static str, x: &Tensor, chunks: i64, dim: i64, untracked: bool) -> Result<Vec<Tensor>> {
    let d = axis(op, x, dim)?;
    if chunks <= 0 {
        return Err(Error::shape(op, format!("chunk expects `chunks` to be greater than 0, got: {chunks}")));
    }
    let n = x.sizes()[d];
    if n == 0 {
        // As in torch, `chunks` empty parts; a count beyond all memory is refused before it is tried.
        if chunks > 1 << 20 {
            return Err(Error::shape(op, format!("{chunks} parts of an empty axis are too many")));
        }
        return run(x, d, vec![0; chunks as usize], None, untracked);
    }
    by_size(x, n.div_ceil(chunks as usize) as i64, dim, untracked)
}

/// Consecutive parts of an axis over the same memory, as tensors of their own: autograd is not notified of writes to
/// them.
///
/// Args: as `split`. Returns: a tuple of tensors. Derivative: the gradients joined. Raises: as `split`.
///
/// >>> [part.tolist() for part in rg.unsafe_split(rg.tensor([1.0, 2.0, 3.0]), 2)]
/// [[1.0, 2.0], [3.0]]
#[op(function, method, "(dim=0)")]
pub fn unsafe_split(input: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
    by_size(input, split_size, dim, true)
}

/// As `unsafe_split`, for parts of the listed sizes.
///
/// Args: as `split_with_sizes`. Returns: a tuple of tensors. Derivative: the gradients joined. Raises: as
/// `split_with_sizes`.
///
/// >>> [part.tolist() for part in rg.unsafe_split_with_sizes(rg.tensor([1.0, 2.0, 3.0]), [1, 2])]
/// [[1.0], [2.0, 3.0]]
#[op(function, method, "(dim=0)")]
pub fn unsafe_split_with_sizes(input: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    by_sizes(input, split_sizes, dim, true)
}

/// As `unsafe_split`, for at most `chunks` parts.
///
/// Args: as `chunk`. Returns: a tuple of tensors. Derivative: the gradients joined. Raises: as `chunk`.
///
/// >>> [part.tolist() for part in rg.unsafe_chunk(rg.tensor([1.0, 2.0, 3.0]), 2)]
/// [[1.0, 2.0], [3.0]]
#[op(function, method, "(dim=0)")]
pub fn unsafe_chunk(input: &Tensor, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
    by_count("unsafe_chunk", input, chunks, dim, true)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn parts_and_refusals() {
        let x = noise(1, &[5, 2]);
        let sizes = |v: Vec<Tensor>, d: usize| v.iter().map(|t| t.sizes()[d]).collect::<Vec<_>>();
        assert_eq!(sizes(by_size(&x, 2, 0, false).unwrap(), 0), [2, 2, 1]);
        assert_eq!(sizes(by_size(&x, i64::MAX, 0, false).unwrap(), 0), [5]);
        assert_eq!(sizes(by_sizes(&x, &[1, 0, 4], 0, false).unwrap(), 0), [1, 0, 4]);
        assert_eq!(sizes(x.chunk(4, 0).unwrap(), 0), [2, 2, 1]);
        assert_eq!(x.unbind(-1).unwrap().len(), 2);
        assert!(by_size(&x, 0, 0, false).is_err() && by_size(&x, -1, 0, false).is_err() && x.chunk(0, 0).is_err());
        assert!(by_sizes(&x, &[1, 3], 0, false).is_err() && by_sizes(&x, &[i64::MAX, i64::MAX], 0, false).is_err());
        assert!(by_sizes(&x, &[6, -1], 0, false).is_err() && noise(1, &[]).unbind(0).is_err());
        let empty = noise(1, &[0, 2]);
        assert_eq!(empty.chunk(3, 0).unwrap().len(), 3);
        assert_eq!(empty.unbind(0).unwrap().len(), 0);
        assert_eq!(by_size(&empty, 0, 0, false).unwrap().len(), 1);
    }

    #[test]
    fn writes_through_siblings_are_refused() {
        let x = noise(1, &[2, 2]);
        x.set_requires_grad(true).unwrap();
        let y = x.exp().unwrap();
        let rows = y.unbind(0).unwrap();
        assert!(
            rows[0]
                .zero_()
                .unwrap_err()
                .to_string()
                .contains("is the output of a function that returns multiple views")
        );
    }

    #[test]
    fn derivatives() {
        let x = noise(1, &[5, 2]);
        gradcheck(&|xs| xs[0].unbind(1)?[1].exp(), from_ref(&x));
        gradcheck(&|xs| by_size(&xs[0], 2, 0, false)?[1].exp(), from_ref(&x));
        gradcheck(
            &|xs| {
                let p = by_sizes(&xs[0], &[2, 1, 2], 0, false)?;
                p[0].mul(&p[2])
            },
            &[x],
        );
    }
}
