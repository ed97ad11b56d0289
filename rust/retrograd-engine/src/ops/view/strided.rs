//! `as_strided`: any layout over the storage of a tensor.

use retrograd_macros::op;

use super::complex::{view_as_complex, view_as_real};
use super::view_op::{Layout, ViewOp, Viewed, apply_view, apply_view_inplace};
use crate::autograd::mode;
use crate::autograd::node::{Edge, NodeRef, OutMeta};
use crate::autograd::primitive::{Params, params};
use crate::error::{Error, Result};
use crate::kernels::strided::{Offsets, plan_in_order};
use crate::ops::Form;
use crate::ops::memory::cast;
use crate::ops::pointwise::complex::conj_physical;
use crate::tensor::layout::{extent, may_overlap, numel};
use crate::tensor::{Dims, LazyBits, Scalar, Strides, Tensor};

/// `as_strided`. Reverse: the gradients of all elements of the view that share a place are summed there and read in the
/// layout of the operand; where the operand itself names a place several times, its elements share the sum evenly.
#[derive(Clone, Debug)]
struct AsStrided {
    /// Layout of the operand.
    from: Layout,
    /// Layout of the view. It may have other elements than the operand, as parts of complex numbers or conjugates.
    to: Layout,
    /// As the user gave it.
    offset: Option<usize>,
    form: Form,
}

impl ViewOp for AsStrided {
    const NAME: &'static str = "as_strided";
    const PARAMS: Params<Self> = params!(op; size: &*op.to.sizes, storage_offset: op.offset, stride: &*op.to.strides.iter().map(|&s| s as i64).collect::<Vec<_>>());
    fn node(&self) -> &'static str {
        match self.form {
            Form::InPlace => "AsStridedBackward1",
            _ if self.from.bits.conj != self.to.bits.conj && self.from.dtype == self.to.dtype => "ConjBackward0",
            _ => "AsStridedBackward0",
        }
    }
    fn layout(&self, _x: &Tensor) -> Result<Layout> {
        Ok(self.to.clone())
    }
    fn vjp(&self, g: &Tensor, _sizes: &[usize]) -> Result<Tensor> {
        let Self { from, to, .. } = self;
        if !from.has_kind_of(to) {
            return in_memory(g, to, from, |g, to, from| through_storage(g, to, from, from));
        }
        if !mode::is_grad_enabled()
            && mode::word() & mode::COMPOSED == 0
            && !may_overlap(&to.sizes, &to.strides)
            && !may_overlap(&from.sizes, &from.strides)
            && let Some(grad) = pull_apart(g, to, from)?
        {
            return Ok(grad);
        }
        through_storage(g, to, from, from)
    }
    fn jvp(&self, t: &Tensor) -> Result<Tensor> {
        let Self { from, to, .. } = self;
        // A view of the tangent, as long as that is laid out like the operand and reaches as far.
        let of_t = Layout::of(t);
        if of_t.has_elements_of(from)
            && let Some(to) = to.moved(from, of_t.offset)
            && let Ok(view) = seen_as(t, to)
        {
            return Ok(view);
        }
        if from.has_kind_of(to) {
            through_storage(t, from, to, from)
        } else {
            in_memory(t, from, to, |t, from, to| through_storage(t, from, to, from))
        }
    }
    fn lift(&self, ndim: usize, batch: usize) -> Self {
        unreachable!("as_strided of {batch} entries with {ndim} axes: their layout decides, see of_batch")
    }
    fn of_batch(&self, value: &Tensor) -> Self {
        Self {
            from: Layout::of(value),
            to: Layout {
                sizes: super::view_op::with_batch(&self.to.sizes, value.sizes()[0]),
                strides: std::iter::once(value.strides()[0]).chain(self.to.strides.iter().copied()).collect(),
                ..self.to.clone()
            },
            ..*self
        }
    }
}

/// The places, relative to the first, that either layout touches: lowest, and how many. `None` if one has no element.
pub(super) fn span(a: &Layout, b: &Layout) -> Option<(isize, usize)> {
    let reach =
        |l: &Layout| extent(&l.sizes, &l.strides).map(|(lo, hi)| (l.offset as isize + lo, l.offset as isize + hi));
    let ((a0, a1), (b0, b1)) = (reach(a)?, reach(b)?);
    let lo = a0.min(b0);
    Some((lo, (a1.max(b1) - lo) as usize + 1))
}

/// The gradient when neither layout overlaps itself: a copy through a buffer as large as both span, not recorded.
fn pull_apart(g: &Tensor, to: &Layout, from: &Layout) -> Result<Option<Tensor>> {
    let Some((lo, n)) = span(to, from) else { return Ok(None) };
    let buffer = Tensor::full(&[n], Scalar::Int(0), g.dtype())?;
    let within = |l: &Layout| {
        let offset = (l.offset as isize - lo) as usize;
        Tensor::from_parts(buffer.storage(), g.dtype(), &l.sizes, &l.strides, offset)
    };
    crate::tensor::copy::copy_into(g, &within(to)?)?;
    within(from).map(Some)
}

/// `x`, laid out as `from`, summed into the places of a storage and read back as `to`. Places that `shared` names
/// several times divide their sum by that count. In recorded ops.
pub(super) fn through_storage(x: &Tensor, from: &Layout, to: &Layout, shared: &Layout) -> Result<Tensor> {
    let Some((lo, n)) = span(from, to) else { return Tensor::full(&to.sizes, Scalar::Int(0), x.dtype()) };
    let zeros = Tensor::full(&[n], Scalar::Int(0), x.dtype())?;
    let flat = super::reshape_to(x, &[x.numel()])?;
    let mut storage = zeros.scatter_add(0, &places(from, lo)?, &flat)?;
    if may_overlap(&shared.sizes, &shared.strides) {
        let mut count = vec![0.0f64; n];
        for p in places(shared, lo)?.to_vec::<i64>()? {
            count[p as usize] += 1.0;
        }
        let share: Vec<f64> = count.iter().map(|c| 1.0 / c.max(1.0)).collect();
        let share = Tensor::from_slice(&share, &[n])?;
        storage = storage.mul(&crate::tensor::copy::cast(&share, x.dtype())?)?;
    }
    super::reshape_to(&storage.index_select(0, &places(to, lo)?)?, &to.sizes)
}

/// Position of every element of the layout, in row-major order, counted from `lo`.
fn places(l: &Layout, lo: isize) -> Result<Tensor> {
    let axes = plan_in_order(&l.sizes, [&l.strides]);
    let first = l.offset as isize - lo;
    Tensor::build::<i64>(&[numel(&l.sizes)], |all| {
        for (to, [o]) in all.iter_mut().zip(Offsets::new(&axes)) {
            *to = (first + o) as i64;
        }
    })
}

/// `x`, laid out as `from`, brought by `run` to `to`, where elements are other ones: in the elements that the memory of
/// both has. A gradient and a tangent are conjugated, negated and taken apart as the elements themselves.
fn in_memory(
    x: &Tensor,
    from: &Layout,
    to: &Layout,
    run: impl FnOnce(&Tensor, &Layout, &Layout) -> Result<Tensor>,
) -> Result<Tensor> {
    let bits = |x: Tensor, bits: LazyBits| {
        let x = if bits.neg { x.neg()? } else { x };
        if bits.conj { conj_physical(&x) } else { Ok(x) }
    };
    let x = if from.dtype.is_complex() && !x.dtype().is_complex() { cast(x, from.dtype)? } else { x.clone() };
    let x = bits(x, from.bits)?;
    if from.dtype == to.dtype {
        return bits(run(&x, from, to)?, to.bits);
    }
    let parts = |l: &Layout| {
        let (mut sizes, mut strides) = (l.sizes.clone(), l.strides.iter().map(|s| 2 * s).collect::<Strides>());
        sizes.push(2);
        strides.push(1);
        Layout { sizes, strides, offset: 2 * l.offset, dtype: to.dtype.real(), bits: LazyBits::NONE }
    };
    let moved = if from.dtype.is_complex() {
        run(&view_as_real(&x)?, &parts(from), to)?
    } else {
        view_as_complex(&run(&x, from, &parts(to))?.contiguous()?)?
    };
    bits(moved, to.bits)
}

impl AsStrided {
    /// The op that makes a view of `base` with another layout.
    fn between(base: Layout, view: Layout) -> Self {
        Self { from: base, offset: Some(view.offset), to: view, form: Form::New }
    }
}

/// The memory of `x` seen through a layout.
pub(super) fn seen_as(x: &Tensor, to: Layout) -> Result<Tensor> {
    apply_view(AsStrided::between(Layout::of(x), to), x)
}

/// The node of a view of `base` that has been made in another way, and whose base has a new history since.
pub(crate) fn node_of_view(base: Layout, view: Layout, edge: Edge, output: OutMeta) -> NodeRef {
    crate::autograd::apply::node_of(Viewed(AsStrided::between(base, view)), edge, output)
}

/// The part of `whole`, of the sizes of `base`, that `view` is of `base`: a view, if it is laid out alike and reaches
/// as far.
pub(crate) fn same_view(base: &Tensor, view: &Tensor, whole: &Tensor) -> Result<Tensor> {
    AsStrided::between(Layout::of(base), Layout::of(view)).jvp(whole)
}

/// A view of the storage of `input` with the given sizes, strides and offset, all in elements.
///
/// Args: `size`, `stride` of one length, not negative; `storage_offset` by default that of `input`. Returns: a view.
/// Derivative: `g` summed over the elements of the view that share a place. Raises: RuntimeError if the layout leaves
/// the storage.
///
/// >>> rg.tensor([1.0, 2.0, 3.0]).as_strided((2, 2), (1, 1)).tolist()
/// [[1.0, 2.0], [2.0, 3.0]]
#[op(function, method, inplace, norust, "(storage_offset=None)")]
pub fn as_strided(input: &Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Tensor> {
    if size.len() != stride.len() {
        return Err(Error::shape(
            "as_strided",
            format!("mismatch in length of strides and shape: got sizes {size:?} and strides {stride:?}"),
        ));
    }
    if stride.iter().any(|&s| s < 0) {
        return Err(Error::shape(
            "as_strided",
            format!("Negative strides are not supported at the moment, got strides: {stride:?}"),
        ));
    }
    let sizes = super::shape::checked_sizes("as_strided", size)?;
    let strides: Strides = stride.iter().map(|&s| s as isize).collect();
    laid_out(form, input, sizes, strides, storage_offset)
}

fn laid_out(form: Form, x: &Tensor, sizes: Dims, strides: Strides, offset: Option<i64>) -> Result<Tensor> {
    if let Some(o) = offset.filter(|&o| !(0..=i64::MAX / 16).contains(&o)) {
        return Err(Error::shape("as_strided", format!("invalid storage offset {o}: it lies outside the storage")));
    }
    let (from, offset) = (Layout::of(x), offset.map(|o| o as usize));
    let to = Layout { sizes, strides, offset: offset.unwrap_or(from.offset), ..from };
    let op = AsStrided { from, to, offset, form };
    if form.is_in_place() { apply_view_inplace(op, x) } else { apply_view(op, x) }
}

impl Tensor {
    /// A view with any layout over the tensor's storage; see [`as_strided`].
    pub fn as_strided(&self, sizes: &[usize], strides: &[isize], offset: Option<i64>) -> Result<Tensor> {
        laid_out(Form::New, self, Dims::from_slice(sizes), Strides::from_slice(strides), offset)
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn values_and_refusals() {
        let x = Tensor::from_slice(&[1.0f64, 2.0, 3.0, 4.0], &[4]).unwrap();
        let y = x.as_strided(&[2, 2], &[1, 2], Some(0)).unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), [1.0, 3.0, 2.0, 4.0]);
        assert!(x.as_strided(&[3], &[2], None).is_err());
        assert!(x.as_strided(&[3], &[1], Some(-1)).is_err());
        assert!(x.as_strided(&[2, 2], &[isize::MAX, 1], None).is_err());
        assert!(as_strided(&x, &[i64::MAX, 2], &[1, 1], None).is_err());
        assert!(as_strided(&x, &[-1], &[1], None).is_err());
    }

    #[test]
    fn gradients_with_and_without_overlap() {
        let x = noise(1, &[3, 4]);
        gradcheck(&|xs| xs[0].as_strided(&[2, 3], &[4, 1], Some(1)), from_ref(&x));
        gradcheck(&|xs| xs[0].as_strided(&[2, 3], &[1, 1], None), from_ref(&x));
        gradcheck(&|xs| xs[0].transpose(0, 1)?.as_strided(&[5], &[2], Some(2)), from_ref(&x));
        gradcheck(&|xs| xs[0].as_strided(&[0, 3], &[1, 1], None), &[x]);
    }
}
