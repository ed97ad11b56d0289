//! Division.

use retrograd_macros::op;

use super::promote::{Either, Fields, OutType as _, Reals, result_type};
use super::remainder::FloatsInVectors;
use super::unary::{Map, Pass, Unary, body, elementary, fuse};
use super::zeros_of;
use super::zip::{Binary, Zip};
use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::{Outs, Params, Save, Tangents, Vjp, maybe, one, params};
use crate::error::{Error, Result};
use crate::kernels::math;
use crate::kernels::pointwise::Map2;
use crate::kernels::real::{Arithmetic, Field, Real};
use crate::match_dtype;
use crate::ops::Value;
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Tensor, default_dtype};

#[derive(Clone, Copy)]
struct Quotient;
body!(Quotient, Field, const LIGHT = true; |a, b| a.div(b));
/// The quotient rounded down, or towards zero.
#[derive(Clone, Copy)]
struct RoundedQuotient<const FLOOR: bool>;
elementary!(RoundedQuotient<true>, |a, b| math::floor_quotient(a, b));
impl<const FLOOR: bool, T: Arithmetic> Map2<T, T, T> for RoundedQuotient<FLOOR> {
    #[inline(always)]
    fn f(&self, a: T, b: T) -> T {
        if FLOOR { a.floor_div(b) } else { a.trunc_div(b) }
    }
}

/// `div`: `a / b`. Reverse: `ga = g / b`, `gb = -g (a / b) / b`.
///
/// `STATED`: called with `rounding_mode`, which is then shown.
#[derive(Clone, Debug)]
struct Div<const STATED: bool>;

impl<const STATED: bool> Binary for Div<STATED> {
    const NAME: &'static str = "div";
    const NODE: &'static str = if STATED { DIV_WITH_MODE } else { "DivBackward0" };
    const PARAMS: Params<Zip<Self>> = if STATED { params!(op; rounding_mode: Value::None) } else { &[] };
    const SAVE: &'static [Save] = &[Save::input(0, "self").when(1), Save::input(1, "other")];
    type Class = Fields;
    type Kernel = Quotient;
    fn kernel(&self) -> Quotient {
        Quotient
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        crate::ops::sparse::div(xs)
    }
    fn kernel_name(&self) -> &'static str {
        "div_cpu"
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        let dtype = result_type(xs);
        Ok(if dtype.is_integral() { default_dtype() } else { dtype })
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let g = cx.g();
        let mut grads = maybe(cx.when(0, || g.div(cx.saved(1)?))?);
        grads.push(cx.when(1, || {
            let b = cx.saved(1)?;
            g.neg()?.mul(&cx.saved(0)?.div(b)?.div(b)?)
        })?);
        Ok(grads)
    }
    const JVP: Tangents<Zip<Self>> = Tangents::Rule(|_, cx| {
        let from_a = cx.t(0).cloned();
        let from_b = cx.t(1).map(|t| t.mul(&cx.outs[0])).transpose()?;
        let top = match (from_a, from_b) {
            (Some(a), Some(b)) => a.sub(&b)?,
            (Some(a), None) => a,
            (None, Some(b)) => b.neg()?,
            (None, None) => return Ok(maybe(None)),
        };
        top.div(cx.xs[1]).map(one)
    });
}

/// torch's name of the node of `div` with a `rounding_mode`.
const DIV_WITH_MODE: &str = "DivBackward2";

/// `div` with a rounded quotient, whose derivative is zero.
#[derive(Clone, Debug)]
struct DivRounded {
    floor: bool,
}

impl Binary for DivRounded {
    const NAME: &'static str = "div";
    const NODE: &'static str = DIV_WITH_MODE;
    const SAVE: &'static [Save] = Div::<true>::SAVE;
    const PARAMS: Params<Zip<Self>> = params!(op; rounding_mode: if op.0.floor { "floor" } else { "trunc" });
    const JVP: Tangents<Zip<Self>> = Tangents::Rule(|_, cx| zeros_of(&cx.outs[0]).map(one));
    type Class = Reals;
    type Kernel = Either<FloatsInVectors<RoundedQuotient<true>>, RoundedQuotient<false>>;
    fn kernel(&self) -> Self::Kernel {
        if self.floor { Either::First(FloatsInVectors(RoundedQuotient)) } else { Either::Second(RoundedQuotient) }
    }
    fn check(&self, xs: &[&Tensor]) -> Result<()> {
        refuse_zeros(Self::NAME, xs)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || zeros_of(cx.g()))?);
        grads.push(cx.when(1, || zeros_of(cx.g()))?);
        Ok(grads)
    }
}

/// Refuses integers that would be divided by zero.
pub(super) fn refuse_zeros(op: &'static str, xs: &[&Tensor]) -> Result<()> {
    let dtype = result_type(xs);
    if !dtype.is_integral() || xs[0].numel() == 0 {
        return Ok(());
    }
    let divisor = copy::contiguous(&copy::cast(xs[1], dtype)?)?;
    if match_dtype!(ints, dtype, T => divisor.as_slice::<T>().is_some_and(|v| v.contains(&0))) {
        return Err(Error::shape(op, format!("ZeroDivisionError: {} divided by zero", dtype.name())));
    }
    Ok(())
}

/// Divides `input` by `other`, elementwise with broadcasting and promotion.
///
/// Args: `input`, `other` tensors of any dtype with broadcastable shapes, either may be a number; integers are
/// converted to the default float dtype. Returns: a tensor of the broadcast shape. Derivative: `g / other` and
/// `-g * (input / other) / other`. Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.div(rg.tensor([1, 3]), rg.tensor([2, 2])).tolist()
/// [0.5, 1.5]
#[op(function, method, inplace, out, aliases("divide", "true_divide"))]
pub fn div(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    apply_as(form, Zip(Div::<false>), &[input, other])
}

/// Divides `input` by `other` and rounds the quotient as `rounding_mode` says.
///
/// Args: `input`, `other` as above; `rounding_mode` None, 'trunc' (towards zero) or 'floor' (down).
/// Returns: a tensor of the broadcast shape; integers stay integers if rounded. Derivative: zero if rounded, else as
/// above. Raises: RuntimeError for another mode, for shapes that do not broadcast and for integers divided by zero.
///
/// >>> rg.div(rg.tensor([7, -7]), 2, rounding_mode='floor').tolist()
/// [3, -4]
#[op(function, method, inplace, out, name = "div", aliases("divide"), "(*, rounding_mode)")]
pub fn div_rounded(
    #[operand] input: &Tensor,
    #[operand] other: &Tensor,
    rounding_mode: Option<&str>,
) -> Result<Tensor> {
    let xs = [input, other];
    match rounding_mode {
        None => apply_as(form, Zip(Div::<true>), &xs),
        Some("trunc") => apply_as(form, Zip(DivRounded { floor: false }), &xs),
        Some("floor") => apply_as(form, Zip(DivRounded { floor: true }), &xs),
        Some(mode) => Err(Error::shape(
            "div",
            format!("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'"),
        )),
    }
}

/// `floor_divide`: without a derivative.
#[derive(Clone, Debug)]
struct FloorDivide;

pub(super) fn no_derivative<T>(op: &str, remedy: &str) -> Result<T> {
    Err(Error::not_implemented(format!("the derivative for '{op}' is not implemented: {remedy}")))
}

const INSTEAD: &str = "use div with rounding_mode='floor', whose derivative is zero";

impl Binary for FloorDivide {
    const NAME: &'static str = "floor_divide";
    const NODE: &'static str = "NotImplemented";
    const JVP: Tangents<Zip<Self>> = Tangents::Rule(|_, _| no_derivative(Self::NAME, INSTEAD));
    type Class = Reals;
    type Kernel = FloatsInVectors<RoundedQuotient<true>>;
    fn kernel(&self) -> Self::Kernel {
        FloatsInVectors(RoundedQuotient)
    }
    fn check(&self, xs: &[&Tensor]) -> Result<()> {
        refuse_zeros(Self::NAME, xs)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_derivative(Self::NAME, INSTEAD)
    }
}

/// The quotient rounded down, as the operator `//` gives it.
///
/// Args: `input`, `other` tensors of any real dtype but bool with broadcastable shapes, either may be a number.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: not implemented, as in torch; use
/// `div(..., rounding_mode='floor')`. Raises: RuntimeError if the shapes do not broadcast, or integers are divided by
/// zero.
///
/// >>> rg.floor_divide(rg.tensor([7, -7]), 2).tolist()
/// [3, -4]
#[op(function, method, inplace, out)]
pub fn floor_divide(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    apply_as(form, Zip(FloorDivide), &[input, other])
}

/// `reciprocal`: reverse `-g result^2`.
#[derive(Clone, Copy, Debug)]
struct Reciprocal;
body!(Reciprocal, Field, const LIGHT = true; |x| T::ONE.div(x));
#[derive(Clone, Copy, Debug)]
struct ReciprocalRule;
body!(ReciprocalRule, Real, |g, y| g.neg().mul(y.mul(y)));
impl Unary for Reciprocal {
    const NAME: &'static str = "reciprocal";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const DTYPES: Dtypes = Fields::DTYPES;
    fn kernel(&self, pass: Pass) -> Result<()> {
        if pass.dtype().is_complex() { pass.complex(self) } else { pass.floats(self) }
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.neg()?.mul(&result.mul(result)?)
    }
    fn fused(&self, g: &Tensor, result: &Tensor) -> Option<Result<Tensor>> {
        fuse(Self::NAME, ReciprocalRule, g, result)
    }
}

/// One over each element.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `-g / input**2`.
///
/// >>> rg.reciprocal(rg.tensor([2.0, -4.0])).tolist()
/// [0.5, -0.25]
#[op(function, method, inplace, out)]
pub fn reciprocal(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Reciprocal), &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::pointwise::unary::check_fused;
    use crate::testing::{gradcheck, noise};

    fn away(seed: u64, sizes: &[usize]) -> Tensor {
        noise(seed, sizes).plus(3.0).unwrap()
    }

    #[test]
    fn derivatives() {
        let _reading = crate::storage::reclaim::reading();
        for shapes in [[&[3, 4][..], &[3, 4][..]], [&[3, 1], &[4]], [&[], &[2, 3]], [&[0, 3], &[1, 3]], [&[17], &[17]]]
        {
            let xs = [noise(1, shapes[0]), away(2, shapes[1])];
            gradcheck(&|x| x[0].div(&x[1]), &xs);
            gradcheck(&|x| div_rounded(&x[0], &x[1], None), &xs);
            gradcheck(&|x| x[0].reciprocal(), &xs[1..]);
        }
        check_fused(Reciprocal, &away(3, &[19]));
    }

    #[test]
    fn rounding_of_quotients() {
        let a = Tensor::from_slice(&[7i64, -7, 6, -6], &[4]).unwrap();
        let two = Tensor::from_slice(&[2i64], &[1]).unwrap();
        let modes = |m| div_rounded(&a, &two, Some(m)).unwrap().to_vec::<i64>().unwrap();
        assert_eq!(modes("floor"), [3, -4, 3, -3]);
        assert_eq!(modes("trunc"), [3, -3, 3, -3]);
        let f = Tensor::from_slice(&[7.0, -7.0, 0.0, 1.0], &[4]).unwrap();
        let by = Tensor::from_slice(&[-2.0, 2.0, 5.0, 0.0], &[4]).unwrap();
        assert_eq!(f.floor_divide(&by).unwrap().to_vec::<f64>().unwrap(), [-4.0, -4.0, 0.0, f64::INFINITY]);
        let zero = Tensor::from_slice(&[0i64], &[1]).unwrap();
        assert!(a.floor_divide(&zero).unwrap_err().to_string().contains("ZeroDivisionError"));
        assert!(div_rounded(&a, &two, Some("up")).is_err());
        let least = Tensor::from_slice(&[i8::MIN], &[1]).unwrap();
        let minus = Tensor::from_slice(&[-1i8], &[1]).unwrap();
        assert_eq!(div_rounded(&least, &minus, Some("trunc")).unwrap().to_vec::<i8>().unwrap(), [i8::MIN]);
        assert_eq!(a.div(&two).unwrap().dtype(), DType::Float32);
    }
}
