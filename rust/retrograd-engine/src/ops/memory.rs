//! Ops about memory itself: copies, casts, fills, aliases.

use retrograd_macros::op;
use smallvec::smallvec;

use super::pointwise::check_number;
use super::{Device, Entry, Form, sparse, view};
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply_as, apply_inplace, apply1};
use crate::autograd::mode;
use crate::autograd::overlap::{self, OverlapRules, Reads, Repeats};
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::{Error, Result};
use crate::storage::reclaim::reading;
use crate::tensor::copy;
use crate::tensor::layout::{Strides, broadcast, contiguous_strides, preserving_strides};
use crate::tensor::sparse::refused;
use crate::tensor::{Body, DType, MemoryFormat, Scalar, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] =
    &[&CLONE_OF, &COPY, &FILL, &ZERO, &DETACH_OF, &TO_DTYPE, &TO_DEVICE, &TO_OTHER, &ZERO_FUNCTION];

/// `clone`: reverse `g`.
#[derive(Clone, Debug)]
struct CloneOf {
    /// Memory order of the copy; `None` keeps the source's.
    strides: Option<Strides>,
    /// The node's name.
    node: &'static str,
}

const CLONE: &str = "CloneBackward0";

impl Primitive for CloneOf {
    const NAME: &'static str = "clone";
    fn node(&self) -> &'static str {
        self.node
    }
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const TAKES_LAZY: bool = true;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let x = view::batch_first(xs[0], axes[0], batch)?;
        // Entries one after the other, each in the order asked for.
        let strides = op.strides.as_ref().map(|inner| {
            let entry = (x.numel() / batch.max(1)) as isize;
            std::iter::once(entry).chain(inner.iter().copied()).collect()
        });
        Ok((apply(Self { strides, node: op.node }, &[&x])?, smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let c = match &self.strides {
            None => xs[0].empty_in(Self::NAME, MemoryFormat::Preserve, xs[0].dtype())?,
            Some(strides) => Tensor::empty_strided(xs[0].sizes(), strides, xs[0].dtype())?,
        };
        copy::copy_into(xs[0], &c)?;
        Ok(out(c))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        if self.strides.is_some() {
            return Err(Error::shape(
                Self::NAME,
                "unsupported memory format option Contiguous: a sparse tensor has no strides",
            ));
        }
        sparse::copied(xs[0], xs[0].dtype()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Ok(one(cx.g().clone()))
    }
}

/// A recorded copy.
pub fn cloned(x: &Tensor) -> Result<Tensor> {
    apply1(CloneOf { strides: None, node: CLONE }, &[x])
}

/// A recorded copy with the given strides, which must be dense.
pub(crate) fn clone_strided(x: &Tensor, strides: &[isize]) -> Result<Tensor> {
    apply1(CloneOf { strides: Some(Strides::from_slice(strides)), node: CLONE }, &[x])
}

/// A recorded contiguous copy whose node has another name.
pub(crate) fn clone_called(x: &Tensor, node: &'static str) -> Result<Tensor> {
    apply1(CloneOf { strides: Some(contiguous_strides(x.sizes())), node }, &[x])
}

/// A recorded copy in a memory format.
pub(crate) fn clone_in(op: &'static str, x: &Tensor, format: MemoryFormat) -> Result<Tensor> {
    match format {
        MemoryFormat::Preserve => cloned(x),
        _ => clone_strided(x, &format.strides(op, x.sizes(), x.strides())?),
    }
}

/// A copy of `input` with memory of its own. The copy is recorded: its gradient goes to the source.
///
/// Args: `input` any dtype and shape; `memory_format` the order of the axes of the copy, that of `input` by default.
/// Returns: the same values. Derivative: `g`. Raises: RuntimeError if the format is for tensors of other dims.
///
/// >>> x = rg.tensor([1.0]); y = x.clone(); y[0] = 5.0; x.tolist()
/// [1.0]
#[op(function, method, norust, name = "clone", "(*, memory_format=None)")]
pub fn clone_of(input: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
    clone_in("clone", input, memory_format.unwrap_or(MemoryFormat::Preserve))
}

/// `to(dtype)`: reverse is the cast back, which the engine does.
#[derive(Clone, Debug)]
struct ToCopy {
    dtype: DType,
    format: MemoryFormat,
}

impl Primitive for ToCopy {
    const NAME: &'static str = "to";
    const NODE: &'static str = "ToCopyBackward0";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const TAKES_LAZY: bool = true;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let c = xs[0].empty_in(Self::NAME, self.format, self.dtype)?;
        copy::copy_into(xs[0], &c)?;
        Ok(out(c))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        sparse::copied(xs[0], self.dtype).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        // The real part of a complex gradient is for the engine to take.
        let (g, dtype) = (cx.g(), cx.dtype(0));
        if g.dtype().is_complex() && !dtype.is_complex() { Ok(one(g.clone())) } else { cast(g, dtype).map(one) }
    }
}

/// A recorded conversion; the tensor itself if it has the dtype already.
pub fn cast(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if x.dtype() == dtype { Ok(x.clone()) } else { apply1(ToCopy { dtype, format: MemoryFormat::Preserve }, &[x]) }
}

/// A recorded conversion to a dtype and a memory format; the tensor itself if it has both already and no copy is asked
/// for.
pub(crate) fn converted(x: &Tensor, dtype: DType, copy: bool, format: Option<MemoryFormat>) -> Result<Tensor> {
    let format = format.unwrap_or(MemoryFormat::Preserve);
    let lies_so = || format == MemoryFormat::Preserve || MemoryFormat::suggested(x.sizes(), x.strides()) == format;
    if x.dtype() == dtype && !copy && lies_so() { Ok(x.clone()) } else { apply1(ToCopy { dtype, format }, &[x]) }
}

/// `input` converted to `dtype`; `input` itself if nothing changes and no copy is asked for.
///
/// Args: `dtype` any dtype; `copy` forces a copy; `memory_format` the order of the axes. Derivative: `g` cast back.
/// Casts to integers cut the graph.
///
/// >>> rg.tensor([1.5]).to(rg.int64).tolist()
/// [1]
#[op(method, norust, name = "to", "(dtype=None, non_blocking=False, copy=False, *, memory_format=None, device=None)")]
pub fn to_dtype(
    input: &Tensor,
    dtype: Option<DType>,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
    device: Option<Device>,
) -> Result<Tensor> {
    let _ = (non_blocking, device);
    converted(input, dtype.unwrap_or(input.dtype()), copy, memory_format)
}

/// `input` converted to `dtype`, on a device that is named; there is one.
///
/// Args: `device` 'cpu'; the rest as above. Raises: RuntimeError for another device.
///
/// >>> rg.tensor([1.5]).to('cpu', rg.int64).tolist()
/// [1]
#[op(method, norust, name = "to", "(dtype=None, non_blocking=False, copy=False, *, memory_format=None)")]
pub fn to_device(
    input: &Tensor,
    device: Device,
    dtype: Option<DType>,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    to_dtype(input, dtype, non_blocking, copy, memory_format, Some(device))
}

/// `input` converted to the dtype of another tensor.
///
/// Args: `other` the tensor that has the dtype; the rest as above.
///
/// >>> rg.tensor([1.5]).to(rg.tensor(2)).tolist()
/// [1]
#[op(method, norust, name = "to", "(non_blocking=False, copy=False, *, memory_format=None)")]
pub fn to_other(
    input: &Tensor,
    other: &Tensor,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    to_dtype(input, Some(other.dtype()), non_blocking, copy, memory_format, None)
}

/// `copy_`: the target's old value gets no gradient, the source gets `g`.
#[derive(Clone, Debug)]
struct CopyFrom;

impl Primitive for CopyFrom {
    const NAME: &'static str = "copy_";
    const NODE: &'static str = "torch::autograd::CopyBackwards";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const TAKES_LAZY: bool = true;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let c = xs[0].empty_like_layout(xs[0].dtype())?;
        copy::copy_into(xs[1], &c)?;
        Ok(out(c))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        if xs[0].layout() != xs[1].layout() || xs[0].sizes() != xs[1].sizes() {
            return Err(refused(Self::NAME, xs));
        }
        sparse::copied(xs[1], xs[0].dtype()).map(out)
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        copy::copy_into(xs[1], out)?;
        Ok(true)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let zero = cx.when(0, || Tensor::full(cx.g().sizes(), Scalar::Int(0), cx.g().dtype()))?;
        Ok(smallvec![zero, cx.needs(1).then(|| cx.g().clone())])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let t = cx.t(1).map(|t| {
            let whole = crate::ops::view::expand_to(t, cx.xs[0].sizes())?;
            cast(&whole, cx.xs[0].dtype())
        });
        t.transpose().map(maybe)
    });
}

/// Copies the elements of `other`, broadcast and converted, into the tensor, and returns it.
///
/// Derivative: zero for the overwritten value, `g` for `other`. Raises: RuntimeError if `other` does not broadcast to
/// the tensor's shape.
///
/// >>> rg.zeros(2).copy_(rg.tensor([1.0, 2.0])).tolist()
/// [1.0, 2.0]
#[op(inplace, norust, "(non_blocking=False)")]
pub fn copy(input: &Tensor, #[operand] other: &Tensor, non_blocking: bool) -> Result<Tensor> {
    let _ = (form, non_blocking);
    apply_inplace(CopyFrom, &[input, other])
}

/// What is written to every element: it names the node, and says what may be written to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Filling {
    Number,
    Tensor,
    Zero,
}

/// `fill_` of a tensor, and `fill` of a fresh one: the overwritten value gets no gradient; the 0-dim `value` gets the
/// sum of `g`.
#[derive(Clone, Debug)]
struct Fill(Filling, Form);

impl Primitive for Fill {
    const NAME: &'static str = "fill_";
    const SAVE: &'static [Save] = &[];
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn node(&self) -> &'static str {
        match self.0 {
            Filling::Number if !self.1.is_in_place() => "FillBackward0",
            Filling::Number => "FillBackward2",
            Filling::Tensor if !self.1.is_in_place() => "FillBackward1",
            Filling::Tensor => "FillBackward3",
            Filling::Zero => "ZeroBackward0",
        }
    }
    fn inputs(&self) -> u32 {
        if self.0 == Filling::Tensor { 0b11 } else { 0b01 }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        // A batch of values fills a tensor for each.
        let sizes = broadcast("fill", xs[0].sizes(), xs[1].sizes())?;
        if *sizes == *xs[0].sizes() {
            return CopyFrom.forward(xs);
        }
        let filled = Tensor::empty(&sizes, xs[0].dtype())?;
        copy::copy_into(xs[1], &filled)?;
        Ok(out(filled))
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        if self.0 == Filling::Zero { sparse::emptied("zero_", xs[0]).map(out) } else { Err(refused(Self::NAME, xs)) }
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        // SAFETY: those of callers; a copy permits repeated elements, which all get the same value.
        unsafe { CopyFrom.forward_into(xs, out) }
    }
    fn overlap_rules(&self) -> OverlapRules {
        let repeats = if self.0 == Filling::Tensor { Repeats::Refused } else { Repeats::Taken };
        OverlapRules { repeats, reads: Reads::Any }
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        CopyFrom.vjp(cx)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let spread = |t: &Tensor| cast(&view::expand_to(t, cx.outs[0].sizes())?, cx.outs[0].dtype());
        cx.t(1).map(spread).transpose().map(maybe)
    });
}

/// `value` in place of every element.
///
/// Args: `value` a number or 0-dim tensor. Returns: a tensor like `input`; the in-place form writes to it. Derivative:
/// zero for the old value, the sum of `g` for `value`. Raises: RuntimeError for a `value` with dims.
///
/// >>> rg.fill(rg.zeros(2), 3.0).tolist()
/// [3.0, 3.0]
#[op(function, inplace)]
pub fn fill(input: &Tensor, #[operand] value: &Tensor) -> Result<Tensor> {
    if value.ndim() > 0 {
        return Err(crate::Error::shape(
            "fill",
            format!("fill_ only supports 0-dimension value tensor but got tensor with {} dimensions.", value.ndim()),
        ));
    }
    if value.is_number() {
        check_number("fill", value.item()?, input.dtype())?;
    }
    apply_as(form, Fill(if value.is_number() { Filling::Number } else { Filling::Tensor }, form), &[input, value])
}

/// Writes `value` to every element for an assignment, which takes a number for a tensor.
pub(crate) fn assign(input: &Tensor, value: &Tensor) -> Result<Tensor> {
    apply_inplace(Fill(Filling::Tensor, Form::InPlace), &[input, value])
}

/// Writes zero to every element. Derivative: zero.
///
/// >>> rg.ones(2).zero_().tolist()
/// [0.0, 0.0]
#[op(inplace)]
pub fn zero(input: &Tensor) -> Result<Tensor> {
    let _ = form;
    apply_inplace(Fill(Filling::Zero, Form::InPlace), &[input, &Tensor::number(Scalar::Int(0))?])
}

/// Writes zero to every element of `input`, and returns it. Derivative: zero.
///
/// >>> rg.zero_(rg.ones(2)).tolist()
/// [0.0, 0.0]
#[op(function, norust, name = "zero_")]
pub fn zero_function(input: &Tensor) -> Result<Tensor> {
    zero_as(Form::InPlace, input)
}

/// The same memory and version counter, cut off from the graph.
///
/// >>> x = rg.ones(2, requires_grad=True)
/// >>> x.detach().requires_grad
/// False
#[op(function, method, norust, name = "detach")]
pub fn detach_of(input: &Tensor) -> Result<Tensor> {
    Ok(input.detach())
}

impl Tensor {
    /// Copies the elements of `src` into this tensor; see [`copy()`].
    pub fn copy_(&self, src: &Tensor) -> Result<Tensor> {
        apply_inplace(CopyFrom, &[self, src])
    }
}

/// Checks, before an op runs, that its result may be written to the tensor given as `out=`.
pub fn check_out(op: &'static str, out: &Tensor, operands: &[&Tensor]) -> Result<()> {
    if mode::propagates(mode::word()) && (out.has_tangent() || operands.iter().any(|x| x.has_tangent())) {
        return Err(crate::Error::not_implemented(format!(
            "Trying to use forward AD with {op}_out that does not support it because it is an out= function: call it without \
             out=."
        )));
    }
    overlap::check_repeats(op, out, Repeats::Refused)?;
    let _reading = reading();
    out.check_write(op, false)?;
    operands.iter().try_for_each(|x| overlap::check_reads(op, out, x, Reads::Same))
}

/// Writes a result to the tensor given as `out=`; resizes it if the sizes differ, unless it is one of the operands.
/// Returns whether a tensor that had elements was resized.
pub fn write_out(op: &'static str, result: &Tensor, out: &Tensor, operands: &[&Tensor]) -> Result<bool> {
    let _reading = reading();
    // Checked again: a view of the tensor may have been taken while the op ran (S7).
    out.check_write(op, false)?;
    if !result.dtype().can_cast(out.dtype()) {
        return Err(crate::Error::dtype(
            op,
            format!(
                "result type {} can't be cast to the desired output type {}",
                result.dtype().scalar_type_name(),
                out.dtype().scalar_type_name()
            ),
        ));
    }
    let resizes = result.sizes() != out.sizes();
    if resizes && operands.iter().any(|x| x.is_same(out)) {
        return Err(crate::Error::shape(
            op,
            format!(
                "output with shape {:?} doesn't match the broadcast shape {:?}: an operand cannot be resized as out=",
                out.sizes(),
                result.sizes()
            ),
        ));
    }
    let resized = resizes && out.numel() > 0;
    if resizes {
        out.make_room(op, result.numel(), out.storage_offset())?;
    }
    out.tell_of_write()?;
    if resizes {
        resize_out(out, result)?;
    }
    copy::copy_into(result, out)?;
    out.bump_version();
    Ok(resized)
}

/// Gives `out` the layout of `result` over its own memory, in which there is space.
fn resize_out(out: &Tensor, result: &Tensor) -> Result<()> {
    let strides = preserving_strides(result.sizes(), result.strides());
    let (storage, offset) = (out.storage(), out.storage_offset());
    let body = Tensor::from_parts(storage, out.dtype(), result.sizes(), &strides, offset)?.snapshot();
    out.replace_body(Body { version: out.snapshot().version, ..body });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn fills_of_fresh_tensors_and_in_place() {
        let (x, value) = (noise(1, &[2, 3]), noise(2, &[]));
        gradcheck(&|xs| xs[0].mul(&fill(&xs[0], &xs[1])?), &[x.clone(), value.clone()]);
        x.set_requires_grad(true).unwrap();
        let name = |t: &Tensor| t.grad_fn().unwrap().unwrap().node.name().into_owned();
        let three = Tensor::number(Scalar::Int(3)).unwrap();
        assert_eq!(name(&fill(&x, &three).unwrap()), "FillBackward0");
        assert_eq!(name(&fill(&x, &value).unwrap()), "FillBackward1");
        assert_eq!(name(&cloned(&x).unwrap().fill_(&three).unwrap()), "FillBackward2");
        assert_eq!(name(&zero_function(&cloned(&x).unwrap()).unwrap()), "ZeroBackward0");
        assert!(fill(&x, &noise(1, &[1])).is_err());
    }
}
