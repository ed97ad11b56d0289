//! Division.

use retrograd_macros::op;

use super::promote::{Fields, Reals, forward2, forward2_into, result_type};
use super::unary::{Map, Unary, body, floats, fuse};
use super::zeros_of;
use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::{Error, Result};
use crate::kernels::real::{Arithmetic, Field, Real};
use crate::ops::Value;
use crate::tensor::copy;
use crate::tensor::{DType, Tensor, default_dtype};

struct Quotient;
body!(Quotient, Field, |a, b| a.div(b));
struct TruncQuotient;
body!(TruncQuotient, Arithmetic, |a, b| a.trunc_div(b));
struct FloorQuotient;
body!(FloorQuotient, Arithmetic, |a, b| a.floor_div(b));

/// How a quotient is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    None,
    Trunc,
    Floor,
}

impl Rounding {
    /// The dtype the quotient is computed in. Integers that would divide by zero are refused.
    pub(super) fn check(self, op: &'static str, xs: &[&Tensor]) -> Result<DType> {
        let dtype = result_type(xs);
        if self == Rounding::None || !dtype.is_integral() {
            return Ok(if dtype.is_integral() { default_dtype() } else { dtype });
        }
        let divisor = copy::contiguous(&copy::cast(xs[1], dtype)?)?;
        let by_zero = crate::match_dtype!(ints, dtype, T => {
            divisor.as_slice::<T>().is_some_and(|v| v.contains(&0)) && xs[0].numel() > 0
        }, else false);
        if by_zero {
            return Err(Error::shape(op, format!("ZeroDivisionError: {} divided by zero", dtype.name())));
        }
        Ok(dtype)
    }
    fn run(self, op: &'static str, xs: &[&Tensor]) -> Result<Outs> {
        let dtype = self.check(op, xs)?;
        match self {
            Rounding::None => forward2::<_, Fields>(op, &Quotient, xs[0], xs[1], dtype),
            Rounding::Trunc => forward2::<_, Reals>(op, &TruncQuotient, xs[0], xs[1], dtype),
            Rounding::Floor => forward2::<_, Reals>(op, &FloorQuotient, xs[0], xs[1], dtype),
        }
        .map(out)
    }
    fn run_into(self, op: &'static str, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        let dtype = self.check(op, xs)?;
        match self {
            Rounding::None => forward2_into::<_, Fields>(op, &Quotient, xs[0], xs[1], dtype, out),
            Rounding::Trunc => forward2_into::<_, Reals>(op, &TruncQuotient, xs[0], xs[1], dtype, out),
            Rounding::Floor => forward2_into::<_, Reals>(op, &FloorQuotient, xs[0], xs[1], dtype, out),
        }
    }
}

/// `div`: `a / b`. Reverse: `ga = g / b`, `gb = -g (a / b) / b`; zero if the quotient is rounded.
#[derive(Clone, Debug)]
pub struct Div {
    rounding: Rounding,
    /// Called with `rounding_mode`, which is then shown.
    stated: bool,
}

impl Primitive for Div {
    const NAME: &'static str = "div";
    const SAVE: &'static [Save] = &[Save::input(0, "self").when(1), Save::input(1, "other")];
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn node(&self) -> &'static str {
        if self.stated { "DivBackward2" } else { "DivBackward0" }
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        self.rounding.run(Self::NAME, xs)
    }
    fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        self.rounding.run_into(Self::NAME, xs, out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (g, rounded) = (cx.g(), self.rounding != Rounding::None);
        let mut grads = maybe(cx.when(0, || if rounded { zeros_of(g) } else { g.div(cx.saved(1)?) })?);
        grads.push(cx.when(1, || {
            if rounded {
                return zeros_of(g);
            }
            let b = cx.saved(1)?;
            g.neg()?.mul(&cx.saved(0)?.div(b)?.div(b)?)
        })?);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        if op.rounding != Rounding::None {
            return zeros_of(&cx.outs[0]).map(one);
        }
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
    fn params(&self) -> Vec<(&'static str, Value)> {
        let mode = match self.rounding {
            Rounding::None => Value::None,
            Rounding::Trunc => Value::Str("trunc".into()),
            Rounding::Floor => Value::Str("floor".into()),
        };
        if self.stated { vec![("rounding_mode", mode)] } else { Vec::new() }
    }
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
    apply_as(form, Div { rounding: Rounding::None, stated: false }, &[input, other])
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
    let rounding = match rounding_mode {
        None => Rounding::None,
        Some("trunc") => Rounding::Trunc,
        Some("floor") => Rounding::Floor,
        Some(mode) => {
            return Err(Error::shape(
                "div",
                format!("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'"),
            ));
        }
    };
    apply_as(form, Div { rounding, stated: true }, &[input, other])
}

/// `floor_divide`: without a derivative.
#[derive(Clone, Debug)]
pub struct FloorDivide;

pub(super) fn no_derivative<T>(op: &str, remedy: &str) -> Result<T> {
    Err(Error::not_implemented(format!("the derivative for '{op}' is not implemented: {remedy}")))
}

const INSTEAD: &str = "use div with rounding_mode='floor', whose derivative is zero";

impl Primitive for FloorDivide {
    const NAME: &'static str = "floor_divide";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Rounding::Floor.run(Self::NAME, xs)
    }
    fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        Rounding::Floor.run_into(Self::NAME, xs, out)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_derivative(Self::NAME, INSTEAD)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|_, _| no_derivative(Self::NAME, INSTEAD));
}

/// The quotient rounded down, as the operator `//` gives it.
///
/// Args: `input`, `other` tensors of any dtype but bool with broadcastable shapes, either may be a number.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: not implemented, as in torch; use
/// `div(..., rounding_mode='floor')`. Raises: RuntimeError if the shapes do not broadcast, or integers are divided by
/// zero.
///
/// >>> rg.floor_divide(rg.tensor([7, -7]), 2).tolist()
/// [3, -4]
#[op(function, method, inplace, out)]
pub fn floor_divide(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    apply_as(form, FloorDivide, &[input, other])
}

/// `reciprocal`: reverse `-g result^2`.
#[derive(Clone, Copy, Debug)]
pub struct Reciprocal;
body!(Reciprocal, Real, |x| T::ONE.div(x));
struct ReciprocalRule;
body!(ReciprocalRule, Real, |g, y| g.neg().mul(y.mul(y)));
impl Unary for Reciprocal {
    const NAME: &'static str = "reciprocal";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    fn kernel(&self, x: &Tensor, out: &Tensor) -> Result<()> {
        floats(Self::NAME, self, x, out)
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.neg()?.mul(&result.mul(result)?)
    }
    fn fused(&self, g: &Tensor, result: &Tensor) -> Option<Result<Tensor>> {
        fuse(Self::NAME, &ReciprocalRule, g, result)
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
