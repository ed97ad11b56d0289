//! Ops that choose between operands.

use retrograd_macros::op;
use smallvec::smallvec;

use super::promote::{Same, check_number, out_like, result_type};
use super::zip::{Binary, Zip};
use super::{clamp, refuse_complex, zeros_of};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1, check_target};
use crate::autograd::overlap::{OverlapRules, Reads, Repeats};
use crate::autograd::primitive::{Batch, Jvp, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::error::{Error, Result};
use crate::kernels::pointwise::{Map2, Map3, map3};
use crate::kernels::real::Ordered;
use crate::kernels::strided::{Offsets, plan_in_order};
use crate::match_dtype;
use crate::ops::Entry;
use crate::tensor::copy;
use crate::tensor::layout::{broadcast, expanded_strides};
use crate::tensor::{DType, Scalar, Tensor, Truth};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &MAXIMUM,
    &MINIMUM,
    &clamp::CLAMP,
    &clamp::CLAMP_MIN,
    &clamp::CLAMP_MAX,
    &clamp::CLAMP_FUNCTION,
    &clamp::CLAMP_MIN_FUNCTION,
    &clamp::CLAMP_MAX_FUNCTION,
    &WHERE_,
    &WHERE_METHOD,
    &MASKED_FILL,
];

/// The larger of two elements, or the smaller.
#[derive(Clone, Copy)]
pub(super) struct Extreme<const MAX: bool>;
impl<const MAX: bool, T: Ordered> Map2<T, T, T> for Extreme<MAX> {
    const WIDE: bool = T::LONG;
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, a: T, b: T) -> T {
        if MAX { a.larger(b) } else { a.smaller(b) }
    }
}

/// `maximum` and `minimum`: each operand gets `g` where it was chosen, half of it where they are equal.
#[derive(Clone, Debug)]
pub(super) struct MinMax<const MAX: bool>;

impl<const MAX: bool> MinMax<MAX> {
    /// `g` where `x` was chosen over `y`.
    fn share(g: &Tensor, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        let zero = number(0.0)?;
        let lost = if MAX { x.lt(y)? } else { x.gt(y)? };
        where_(&x.eq(y)?, &g.times(0.5)?, g)?.masked_fill(&lost, &zero)
    }
}

impl<const MAX: bool> Binary for MinMax<MAX> {
    const NAME: &'static str = if MAX { "maximum" } else { "minimum" };
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::input(1, "other")];
    type Class = Same;
    type Kernel = Extreme<MAX>;
    fn kernel(&self) -> Extreme<MAX> {
        Extreme
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (a, b) = (cx.saved(0)?, cx.saved(1)?);
        let mut grads = maybe(cx.when(0, || Self::share(cx.g(), a, b))?);
        grads.push(cx.when(1, || Self::share(cx.g(), b, a))?);
        Ok(grads)
    }
    const JVP: Tangents<Zip<Self>> = Tangents::Rule(|_, cx| {
        let (a, b) = (cx.xs[0], cx.xs[1]);
        let from_a = cx.t(0).map(|t| Self::share(t, a, b)).transpose()?;
        let from_b = cx.t(1).map(|t| Self::share(t, b, a)).transpose()?;
        Jvp::sum([from_a, from_b]).map(maybe)
    });
}

/// The larger of two elements; NaN if one of them is.
///
/// Args: `input`, `other` tensors of any real dtype with broadcastable shapes. Returns: a tensor of the broadcast shape
/// and promoted dtype.
/// Derivative: `g` for the operand that was chosen, `g / 2` for both where they are equal.
/// Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.maximum(rg.tensor([1.0, 5.0]), rg.tensor([3.0, 4.0])).tolist()
/// [3.0, 5.0]
#[op(function, method, out)]
pub fn maximum(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input, other], || Error::dtype("maximum", "maximum not implemented for complex tensors."))?;
    apply1(Zip(MinMax::<true>), &[input, other])
}

/// The smaller of two elements; NaN if one of them is.
///
/// Args: `input`, `other` tensors of any real dtype with broadcastable shapes. Returns: a tensor of the broadcast shape
/// and promoted dtype.
/// Derivative: `g` for the operand that was chosen, `g / 2` for both where they are equal.
/// Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.minimum(rg.tensor([1.0, 5.0]), rg.tensor([3.0, 4.0])).tolist()
/// [1.0, 4.0]
#[op(function, method, out)]
pub fn minimum(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input, other], || Error::dtype("minimum", "minimum not implemented for complex tensors."))?;
    apply1(Zip(MinMax::<false>), &[input, other])
}

pub(super) fn number(x: f64) -> Result<Tensor> {
    // Zero as an integer: it raises no dtype.
    Tensor::number(if x == 0.0 { Scalar::Int(0) } else { Scalar::Float(x) })
}

#[derive(Clone, Copy)]
struct Choose;
impl<T: Copy> Map3<Truth, T, T, T> for Choose {
    #[inline(always)]
    fn f(&self, c: Truth, a: T, b: T) -> T {
        if c.get() { a } else { b }
    }
}

/// `c ? a : b` into `out`, which is fresh or `b` itself, and disjoint from the others; `a`, `b` have the dtype of
/// `out`.
fn choose(c: &Tensor, a: &Tensor, b: &Tensor, out: &Tensor) {
    let sizes = out.sizes();
    let strides = |x: &Tensor| expanded_strides(x.sizes(), x.strides(), sizes);
    let (sc, sa, sb) = (strides(c), strides(a), strides(b));
    match_dtype!(any, out.dtype(), T => {
        let (pa, pb) = (a.ptr::<T>().cast_const(), b.ptr::<T>().cast_const());
        // SAFETY: (1) S1, S3 and the expansion of the operands to `sizes`; (2) `out` is fresh, or it is `b` and
        // disjoint from the others; (3) targets do not overlap themselves.
        unsafe { map3(&Choose, sizes, c.ptr::<Truth>().cast_const(), &sc, pa, &sa, pb, &sb, out.ptr::<T>(), out.strides()) };
    });
}

/// Writes a value to the elements of `out` where `c` holds, one after the other: `out` may overlap itself.
fn fill_where(c: &Tensor, value: &Tensor, out: &Tensor) {
    let axes = plan_in_order(out.sizes(), [&expanded_strides(c.sizes(), c.strides(), out.sizes()), out.strides()]);
    let c = c.ptr::<Truth>().cast_const();
    match_dtype!(any, out.dtype(), T => {
        let (value, to) = (value.ptr::<T>().cast_const(), out.ptr::<T>());
        for [at, place] in Offsets::new(&axes) {
            // SAFETY: S1 and S3, the condition being expanded to the sizes of `out`; the value is 0-dim.
            unsafe {
                if (*c.offset(at)).get() {
                    *to.offset(place) = *value;
                }
            }
        }
    });
}

/// `where`: reverse `g` where the condition holds, and where it does not. Operands: both branches, then the condition.
#[derive(Clone, Debug)]
struct Where;

impl Primitive for Where {
    const NAME: &'static str = "where";
    const SAVE: &'static [Save] = &[Save::input(2, "condition")];
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn inputs(&self) -> u32 {
        0b011
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let dtype = result_type(&xs[..2]);
        for x in xs[..2].iter().filter(|x| x.is_number()) {
            check_number(Self::NAME, x.item()?, dtype)?;
        }
        let (a, b) = (copy::cast(xs[0], dtype)?, copy::cast(xs[1], dtype)?);
        let sizes = broadcast(Self::NAME, &broadcast(Self::NAME, a.sizes(), b.sizes())?, xs[2].sizes())?;
        let result = out_like(&sizes, dtype, &[xs[2], &a, &b])?;
        choose(xs[2], &a, &b, &result);
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, c, zero) = (cx.g(), cx.saved(0)?, number(0.0)?);
        Ok(smallvec![cx.when(0, || where_(c, g, &zero))?, cx.when(1, || where_(c, &zero, g))?, None])
    }
    const JVP: Tangents<Self> = Tangents::Linear(0b11);
}

/// `input` where `condition` holds, else `other`; all three broadcast.
///
/// Args: `condition` a bool tensor; `input`, `other` tensors or numbers. Returns: a tensor of the broadcast shape and
/// the promoted dtype of the branches. Derivative: `g` for the branch that was taken, 0 for the other.
/// Raises: RuntimeError if the shapes do not broadcast or the condition is not bool.
///
/// >>> rg.where(rg.tensor([True, False]), rg.tensor([1.0, 2.0]), 0).tolist()
/// [1.0, 0.0]
#[op(function, out = OutDtype::Same(&["Expected out type to be {Result} but got {Out}"]), norust, name = "where")]
pub fn where_(condition: &Tensor, #[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    match condition.dtype() {
        DType::Bool => apply1(Where, &[input, other, condition]),
        DType::UInt8 => {
            crate::warn::warn(
                "where received a uint8 condition tensor. This is deprecated; use a boolean condition instead.",
            )?;
            apply1(Where, &[input, other, &condition.ne(&number(0.0)?)?])
        }
        d => Err(Error::dtype(
            "where",
            format!(
                "where expected condition to be a boolean tensor, but got a tensor with dtype {}: compare it first, as in x != 0",
                d.scalar_type_name()
            ),
        )),
    }
}

/// The tensor where `condition` holds, else `other`: `where(condition, input, other)`.
///
/// Args, Returns, Derivative, Raises: as `where`.
///
/// >>> rg.tensor([1.0, 2.0]).where(rg.tensor([True, False]), 0).tolist()
/// [1.0, 0.0]
#[op(method, norust, name = "where")]
pub fn where_method(input: &Tensor, condition: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    where_(condition, input, other)
}

/// `masked_fill`: reverse `g` outside the mask; a tensor that fills gets the sum of `g` inside.
/// Operands: the tensor, the value, then the mask.
#[derive(Clone, Debug)]
struct MaskedFill {
    /// The value is a number.
    number: bool,
}

impl MaskedFill {
    /// The value in the tensor's dtype, after all checks.
    fn check(xs: &[&Tensor]) -> Result<Tensor> {
        let (x, value, mask) = (xs[0], xs[1], xs[2]);
        if mask.dtype() != DType::Bool {
            return Err(Error::dtype(
                "masked_fill",
                format!("masked_fill_ only supports boolean masks, but got mask with dtype {}", mask.dtype().name()),
            ));
        }
        // A batch has a value for every entry.
        if value.numel() == 1 {
            check_number(Self::NAME, value.item()?, x.dtype())?;
        }
        copy::cast(value, x.dtype())
    }
}

impl Primitive for MaskedFill {
    const NAME: &'static str = "masked_fill";
    const SAVE: &'static [Save] = &[Save::input(2, "mask")];
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn node(&self) -> &'static str {
        if self.number { "MaskedFillBackward0" } else { "MaskedFillBackward1" }
    }
    fn inputs(&self) -> u32 {
        if self.number { 0b001 } else { 0b011 }
    }
    fn overlap_rules(&self) -> OverlapRules {
        OverlapRules { repeats: Repeats::Deprecated, reads: Reads::Any }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let value = Self::check(xs)?;
        let sizes = broadcast(Self::NAME, xs[0].sizes(), xs[2].sizes())?;
        let sizes = broadcast(Self::NAME, &sizes, value.sizes())?;
        let result = Tensor::empty(&sizes, xs[0].dtype())?;
        choose(xs[2], &value, xs[0], &result);
        Ok(out(result))
    }
    unsafe fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        let value = Self::check(xs)?;
        let sizes = broadcast(Self::NAME, xs[0].sizes(), xs[2].sizes())?;
        check_target(Self::NAME, &sizes, xs[0].dtype(), out)?;
        if !xs[0].is_same(out) {
            return Ok(false);
        }
        let apart = |x: &Tensor| if copy::ranges_meet(x, out) { copy::copy(x) } else { Ok(x.clone()) };
        let (value, mask) = (apart(&value)?, apart(xs[2])?);
        if out.may_overlap_itself() {
            fill_where(&mask, &value, out);
        } else {
            choose(&mask, &value, out, out);
        }
        Ok(true)
    }
    fn reads(&self, _xs: &[&Tensor], i: usize) -> Reads {
        if i == 1 { Reads::Any } else { Reads::Same }
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, mask, zero) = (cx.g(), cx.saved(0)?, number(0.0)?);
        Ok(smallvec![cx.when(0, || g.masked_fill(mask, &zero))?, cx.when(1, || where_(mask, g, &zero))?, None])
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let mask = cx.xs[2];
        Ok(maybe(match (cx.t(0), cx.t(1)) {
            (None, None) => None,
            (Some(t), None) => Some(t.masked_fill(mask, &number(0.0)?)?),
            (t, Some(v)) => {
                let t = t.map_or_else(|| zeros_of(cx.xs[0]), |t| Ok(t.clone()))?;
                // Not the method: of a batch the values of all entries have an axis, as this op's own operand has.
                Some(apply1(op.clone(), &[&t, v, mask])?)
            }
        }))
    });
}

/// `input` with `value` where `mask` holds; the two broadcast.
///
/// Args: `mask` a bool tensor; `value` a number or a 0-dim tensor, converted to the dtype of `input`.
/// Returns: a tensor of the broadcast shape and the dtype of `input`. Derivative: `g` outside the mask; for a tensor
/// `value`, the sum of `g` inside. Raises: RuntimeError if the shapes do not broadcast, the mask is not bool, `value`
/// has dims or does not fit the dtype.
///
/// >>> rg.masked_fill(rg.tensor([1.0, 2.0]), rg.tensor([True, False]), -1).tolist()
/// [-1.0, 2.0]
#[op(function, method, inplace)]
pub fn masked_fill(input: &Tensor, mask: &Tensor, #[operand] value: &Tensor) -> Result<Tensor> {
    if value.ndim() > 0 {
        return Err(Error::shape(
            "masked_fill",
            format!(
                "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
                value.ndim()
            ),
        ));
    }
    apply_as(form, MaskedFill { number: value.is_number() }, &[input, value, mask])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    fn mask(sizes: &[usize]) -> Tensor {
        noise(9, sizes).gt(&number(0.0).unwrap()).unwrap()
    }

    #[test]
    fn derivatives() {
        for shapes in [[&[3, 4][..], &[3, 4][..]], [&[3, 1], &[4]], [&[], &[2, 3]], [&[0, 3], &[1, 3]], [&[17], &[17]]]
        {
            let xs = [noise(1, shapes[0]), noise(2, shapes[1])];
            gradcheck(&|x| x[0].maximum(&x[1]), &xs);
            gradcheck(&|x| x[0].minimum(&x[1]), &xs);
            let sizes = broadcast("test", shapes[0], shapes[1]).unwrap();
            for m in [mask(&sizes), mask(&[])] {
                gradcheck(&|x| where_(&m, &x[0], &x[1]), &xs);
                gradcheck(&|x| where_(&m, &x[0], &number(0.0)?), &xs[..1]);
                gradcheck(&|x| x[0].masked_fill(&m, &number(2.5)?), &xs[..1]);
                gradcheck(&|x| x[0].masked_fill(&m, &x[1]), &[xs[0].clone(), noise(3, &[])]);
            }
        }
    }

    #[test]
    fn ties_are_split_and_nan_spreads() {
        let x = Tensor::from_slice(&[1.0, 2.0, f64::NAN], &[3]).unwrap();
        let y = Tensor::from_slice(&[1.0, 3.0, 0.0], &[3]).unwrap();
        let g = Tensor::from_slice(&[1.0; 3], &[3]).unwrap();
        assert_eq!(MinMax::<true>::share(&g, &x, &y).unwrap().to_vec::<f64>().unwrap(), [0.5, 0.0, 1.0]);
        assert_eq!(MinMax::<true>::share(&g, &y, &x).unwrap().to_vec::<f64>().unwrap(), [0.5, 1.0, 1.0]);
        for t in [x.maximum(&y), y.maximum(&x), x.minimum(&y), y.minimum(&x)] {
            assert!(t.unwrap().to_vec::<f64>().unwrap()[2].is_nan());
        }
    }

    #[test]
    fn where_promotes_and_checks() {
        let c = Tensor::from_slice(&[true, false], &[2]).unwrap();
        let u = Tensor::from_slice(&[7u8, 8], &[2]).unwrap();
        let n = |s| Tensor::number(s).unwrap();
        assert_eq!(where_(&c, &u, &n(Scalar::Float(1.5))).unwrap().dtype(), DType::Float32);
        assert_eq!(where_(&c, &n(Scalar::Int(1)), &n(Scalar::Int(2))).unwrap().to_vec::<i64>().unwrap(), [1, 2]);
        assert!(where_(&c, &u, &n(Scalar::Int(300))).unwrap_err().to_string().contains("without overflow"));
        assert!(
            where_(&noise(1, &[2]), &u, &u).unwrap_err().to_string().contains("expected condition to be a boolean")
        );
        assert!(where_(&c, &noise(1, &[3]), &u).is_err());
    }

    #[test]
    fn masked_fill_in_place() {
        let x = Tensor::from_slice(&[1i64, 2, 3, 4], &[2, 2]).unwrap();
        let m = Tensor::from_slice(&[true, false], &[2, 1]).unwrap();
        x.masked_fill_(&m, &number(2.5).unwrap()).unwrap();
        assert_eq!(x.to_vec::<i64>().unwrap(), [2, 2, 3, 4]);
        let row = Tensor::from_slice(&[1.0f32, 2.0], &[2]).unwrap();
        assert_eq!(row.masked_fill(&m, &number(0.0).unwrap()).unwrap().sizes(), [2, 2]);
        assert!(
            row.masked_fill_(&m, &number(0.0).unwrap())
                .unwrap_err()
                .to_string()
                .contains("doesn't match the broadcast shape")
        );
        assert!(
            row.masked_fill(&row, &number(0.0).unwrap())
                .unwrap_err()
                .to_string()
                .contains("only supports boolean masks")
        );
        assert!(row.masked_fill(&m, &row).unwrap_err().to_string().contains("0-dimensional value tensor"));
        assert!(row.masked_fill(&m, &number(1e300).unwrap()).unwrap_err().to_string().contains("without overflow"));
        // The mask and the target may be one tensor.
        let b = Tensor::from_slice(&[true, false], &[2]).unwrap();
        b.masked_fill_(&b, &Tensor::number(Scalar::Bool(false)).unwrap()).unwrap();
        assert_eq!(b.to_vec::<bool>().unwrap(), [false, false]);
    }
}
