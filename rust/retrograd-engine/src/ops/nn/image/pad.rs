//! `pad`: borders of a constant, or of an image's own elements.

use retrograd_macros::op;

use super::separable::{Face, Separable};
use crate::autocast::{self, Policy};
use crate::autograd::Grads;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params};
use crate::error::{Error, Result, Sizes};
use crate::kernels::OutOfMemory;
use crate::kernels::resample::ResampleTable;
use crate::ops::pointwise::check_number;
use crate::tensor::copy;
use crate::tensor::layout::checked_numel;
use crate::tensor::{Category, Dims, MemoryFormat, Scalar, Strides, Tensor};

/// A constant around the operand; where a width is negative, elements are cut off. Reverse: `g` cut and padded with
/// zeros.
#[derive(Clone, Debug)]
struct ConstantPad {
    /// Before and after each axis, from the last axis on.
    pad: Vec<i64>,
    value: Scalar,
}

impl ConstantPad {
    /// Before and after an axis.
    fn around(&self, axis: usize, ndim: usize) -> [i64; 2] {
        let at = 2 * (ndim - 1 - axis);
        self.pad.get(at..at + 2).map_or([0, 0], |p| [p[0], p[1]])
    }
    fn reversed(&self) -> Self {
        Self { pad: self.pad.iter().map(|p| -p).collect(), value: Scalar::Int(0) }
    }
}

impl Primitive for ConstantPad {
    const NAME: &'static str = "constant_pad_nd";
    const SAVE: &'static [Save] = &[];
    // The axes count from the end; any number may precede them.
    const PARAMS: Params<Self> = params!(op; pad: &op.pad[..]);
    const BATCH: Batch<Self> = Batch::Lift(|op, _, _| Ok(op.clone()));
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = xs[0];
        let (mut sizes, mut inner) = (Dims::new(), Dims::new());
        // Where what is kept begins, in the operand and in the result.
        let (mut from, mut to) = (Dims::new(), Dims::new());
        for (axis, &n) in x.sizes().iter().enumerate() {
            let [before, after] = self.around(axis, x.ndim()).map(i128::from);
            let size = n as i128 + before + after;
            let kept = n as i128 + before.min(0) + after.min(0);
            if size < 0 || kept < 0 {
                return Err(Error::shape(
                    Self::NAME,
                    format!(
                        "narrow(): length must be non-negative: padding {before} and {after} of axis {axis} cuts off more than \
                         the {n} elements of sizes {}",
                        Sizes(x.sizes())
                    ),
                ));
            }
            let too_large = || Error::shape(Self::NAME, format!("an axis of {size} elements is too large"));
            sizes.push(usize::try_from(size).map_err(|_| too_large())?);
            inner.push(kept as usize);
            from.push((-before).max(0) as usize);
            to.push(before.max(0) as usize);
        }
        checked_numel(Self::NAME, &sizes)?;
        let format = MemoryFormat::suggested(x.sizes(), x.strides());
        let y = if format == MemoryFormat::Contiguous && sizes != inner {
            Tensor::full(&sizes, self.value, x.dtype())?
        } else {
            Tensor::empty_strided(&sizes, &format.strides(Self::NAME, &sizes, &[])?, x.dtype())?
        };
        if format != MemoryFormat::Contiguous {
            copy::copy_into(&Tensor::full(&[], self.value, x.dtype())?, &y)?;
        }
        if inner.iter().all(|&n| n > 0) {
            let part = |t: &Tensor, start: &[usize]| {
                let moved: isize = start.iter().zip(t.strides()).map(|(&i, s)| i as isize * s).sum();
                let offset = t.storage_offset().wrapping_add_signed(moved);
                Tensor::from_parts(t.storage(), t.dtype(), &inner, &Strides::from_slice(t.strides()), offset)
            };
            copy::copy_into(&part(x, &from)?, &part(&y, &to)?)?;
        }
        Ok(out(y))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        apply1(self.reversed(), &[cx.g()]).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let zeros = Self { value: Scalar::Int(0), ..op.clone() };
        cx.t(0).map(|t| apply1(zeros, &[t])).transpose().map(maybe)
    });
}

/// The pairs of `pad`, of which there are no more than axes.
fn check_pairs(op: &'static str, x: &Tensor, pad: &[i64]) -> Result<()> {
    if !pad.len().is_multiple_of(2) {
        return Err(Error::shape(op, format!("Padding length must be divisible by 2, got {}", pad.len())));
    }
    if pad.len() > 2 * x.ndim() {
        return Err(Error::shape(
            op,
            format!(
                "Padding length should be less than or equal to two times the input dimension but got padding length {} and \
                 input of dimension {}",
                pad.len(),
                x.ndim()
            ),
        ));
    }
    Ok(())
}

fn constant(op: &'static str, x: &Tensor, pad: &[i64], value: Scalar) -> Result<Tensor> {
    check_number(op, value, x.dtype())?;
    apply1(ConstantPad { pad: pad.to_vec(), value }, &[x])
}

/// How borders follow from the elements within.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Border {
    Reflect,
    Replicate,
    Circular,
}

impl Border {
    /// Which element of an axis of size `n` is at position `i`, which may be outside; `cut` is how much is missing at
    /// each end.
    fn place(self, i: i64, n: i64, cut: [i64; 2]) -> i64 {
        match self {
            Border::Reflect if i < 0 => -i,
            Border::Reflect if i >= n => 2 * (n - 1) - i,
            Border::Reflect => i,
            Border::Replicate => i.clamp(0, n - 1),
            Border::Circular => cut[0] + (i - cut[0]).rem_euclid(n - cut[0] - cut[1]),
        }
    }
    fn names(self, rank: usize) -> [&'static str; 3] {
        match (self, rank) {
            (Border::Reflect, 1) => {
                ["ReflectionPad1DBackward0", "ReflectionPad1DBackwardBackward0", "reflection_pad1d"]
            }
            (Border::Reflect, 2) => {
                ["ReflectionPad2DBackward0", "ReflectionPad2DBackwardBackward0", "reflection_pad2d"]
            }
            (Border::Reflect, _) => {
                ["ReflectionPad3DBackward0", "ReflectionPad3DBackwardBackward0", "reflection_pad3d"]
            }
            (Border::Replicate, 1) => {
                ["ReplicationPad1DBackward0", "ReplicationPad1DBackwardBackward0", "replication_pad1d"]
            }
            (Border::Replicate, 2) => {
                ["ReplicationPad2DBackward0", "ReplicationPad2DBackwardBackward0", "replication_pad2d"]
            }
            (Border::Replicate, _) => {
                ["ReplicationPad3DBackward0", "ReplicationPad3DBackwardBackward0", "replication_pad3d"]
            }
            (Border::Circular, _) => ["torch::autograd::CopySlices", "torch::autograd::CopySlices", "circular_pad"],
        }
    }
}

/// The checks that differ between kinds of border.
fn check_axis(op: &'static str, border: Border, x: &Tensor, axis: usize, [before, after]: [i64; 2]) -> Result<usize> {
    let n = x.sizes()[axis] as i128;
    let fail = |detail: String| Err(Error::shape(op, detail));
    if border == Border::Reflect && (i128::from(before) >= n || i128::from(after) >= n) {
        return fail(format!(
            "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ({before}, {after}) at \
             dimension {axis} of input {}",
            Sizes(x.sizes())
        ));
    }
    if border == Border::Circular && (i128::from(before) > n || i128::from(after) > n || n == 0) {
        return fail(format!("Padding value causes wrapping around more than once: {before} and {after} around {n}"));
    }
    let size = n + i128::from(before) + i128::from(after);
    let kept = n + i128::from(before.min(0)) + i128::from(after.min(0));
    if border == Border::Circular && (size < 0 || size > 0 && kept <= 0) {
        return fail(format!(
            "Negative padding value is resulting in an empty dimension: {before} and {after} around {n}"
        ));
    }
    if size < 1 && border != Border::Circular {
        return fail(format!("input (W: {n}) is too small. Calculated output W: {size}"));
    }
    usize::try_from(size).map_err(|_| Error::shape(op, format!("an axis of {size} elements is too large")))
}

fn bordered(op: &'static str, x: &Tensor, pad: &[i64], border: Border) -> Result<Tensor> {
    let rank = pad.len() / 2;
    check_pairs(op, x, pad)?;
    if !(1..=3).contains(&rank) || !(rank + 1..=rank + 2).contains(&x.ndim()) {
        let detail = format!("{op}: Padding size {} is not supported for {}D input tensor.", pad.len(), x.ndim());
        return Err(Error::not_implemented(detail));
    }
    let [node, back, kernel] = border.names(rank);
    let first = x.ndim() - rank;
    if border != Border::Circular {
        if x.dtype().category() == Category::Bool {
            return Err(Error::no_kernel(kernel, x.dtype()));
        }
        // The channels and the axes that grow must not be empty; a batch may be.
        if x.sizes()[first - 1..].contains(&0) {
            return Err(Error::shape(
                op,
                format!(
                    "Expected {}D or {}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for \
                     input, but got: {}",
                    rank + 1,
                    rank + 2,
                    Sizes(x.sizes())
                ),
            ));
        }
    }
    let mut sizes = Dims::from_slice(x.sizes());
    for axis in first..x.ndim() {
        let at = 2 * (x.ndim() - 1 - axis);
        sizes[axis] = check_axis(op, border, x, axis, [pad[at], pad[at + 1]])?;
    }
    checked_numel(op, &sizes)?;
    // Before any table: there must be memory for the result.
    Tensor::empty(&sizes, x.dtype()).map_err(|e| e.named(op))?;
    let table = |axis: usize| {
        let at = 2 * (x.ndim() - 1 - axis);
        let (before, cut) = (pad[at], [pad[at], pad[at + 1]].map(|p| (-p).max(0)));
        let n = x.sizes()[axis] as i64;
        let position = |o: usize| [(border.place(o as i64 - before, n, cut) as usize, 1.0)];
        ResampleTable::new(n as usize, 1, (0..sizes[axis]).map(position)).map(Some)
    };
    let tables = (first..x.ndim()).map(table).collect::<Result<_, OutOfMemory>>()?;
    let params = if border == Border::Circular { Vec::new() } else { vec![("padding", pad.into())] };
    let face = Face { node, back, kernel, params };
    if border == Border::Circular {
        return apply1(Separable::<false> { plain: true, ..Separable::new(tables, face) }, &[x]);
    }
    apply1(Separable::<true>::new(tables, face), &[x])
}

/// Borders around the last axes.
///
/// Args: `input` any dtype; `pad` the widths before and after the last axis, then those of the axis before it and so
/// on: negative ones cut off; `mode` 'constant' for `value` (by default 0), over any number of axes; 'reflect',
/// 'replicate' or 'circular' for the input's own elements (no bool but in the last), over the last axis of two or
/// three, the last two of three or four, or the last three of four or five. Returns: a new tensor. Derivative: the sum
/// of `g` over the positions that each element was copied to. Raises: RuntimeError if widths do not fit the sizes;
/// NotImplementedError for other numbers of axes and other modes.
///
/// >>> rg.nn.functional.pad(rg.tensor([[1.0, 2.0, 3.0]]), (2, 1), mode='reflect').tolist()
/// [[3.0, 2.0, 1.0, 2.0, 3.0, 2.0]]
#[op(function, module = "nn.functional", "(mode='constant', value=None)")]
pub fn pad(input: &Tensor, pad: &[i64], mode: &str, value: Option<f64>) -> Result<Tensor> {
    const OP: &str = "pad";
    let border = match mode {
        "constant" => {
            check_pairs(OP, input, pad)?;
            return constant(OP, input, pad, value.unwrap_or(0.0).into());
        }
        "reflect" => Border::Reflect,
        "replicate" => Border::Replicate,
        "circular" => Border::Circular,
        _ => {
            check_pairs(OP, input, pad)?;
            return Err(Error::not_implemented(format!("{OP}: Unrecognised padding mode {mode}")));
        }
    };
    if value.is_some_and(|v| v != 0.0) {
        return Err(Error::shape(OP, format!("Padding mode \"{mode}\" doesn't take in value argument")));
    }
    // In torch each of these is an op for every number of axes, and all of these but one have a policy.
    let is_full = match border {
        Border::Reflect => pad.len() <= 4,
        Border::Replicate => true,
        Border::Circular => false,
    };
    let full = if is_full { Some(autocast::operand(Policy::Full, input)?) } else { None };
    bordered(OP, full.as_ref().unwrap_or(input), pad, border)
}

/// A constant around the last axes; see `nn.functional.pad`.
///
/// Args: `pad` the widths before and after the last axis, then those of the axis before it and so on; `value` a number.
/// Returns, Derivative, Raises: as there.
///
/// >>> rg.constant_pad_nd(rg.tensor([1.0, 2.0]), (1, -1), 7).tolist()
/// [7.0, 1.0]
#[op(function, "(value=0)")]
pub fn constant_pad_nd(input: &Tensor, pad: &[i64], value: Scalar) -> Result<Tensor> {
    const OP: &str = "constant_pad_nd";
    if !pad.len().is_multiple_of(2) {
        return Err(Error::shape(OP, format!("Length of pad must be even but instead it equals {}", pad.len())));
    }
    if pad.len() > 2 * input.ndim() {
        return Err(Error::shape(
            OP,
            format!(
                "Length of pad should be no more than twice the number of dimensions of the input. Pad length is {} while the \
                 input has {} dimensions.",
                pad.len(),
                input.ndim()
            ),
        ));
    }
    constant(OP, input, pad, value)
}
