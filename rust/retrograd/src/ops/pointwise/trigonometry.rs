//! Curves: unary functions of a table row, which share one loop in double precision. Angles and hyperbolic functions.
//!
//! A curve costs no code of its own but its row: for functions whose time is not that of a training step.

use retrograd_macros::op;

use super::unary::{Map, Pass, Unary};
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::Save;
use crate::error::Result;
use crate::ops::Entry;
use crate::tensor::{Dtypes, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&TAN, &ASIN, &ACOS, &ATAN, &SINH, &COSH, &ASINH, &ACOSH, &ATANH, &DEG2RAD, &RAD2DEG];

/// A unary function and its derivative.
#[derive(Debug)]
pub struct Curve {
    pub name: &'static str,
    pub node: &'static str,
    pub f: fn(f64) -> f64,
    /// As [`Unary::vjp`].
    pub pull: fn(&Tensor, &Tensor) -> Result<Tensor>,
}

/// A [`Curve`] as a [`Unary`], with what its derivative is written in: `1`, the operand; `2`, the result; `0`, neither.
#[derive(Clone, Copy, Debug)]
pub struct On<const KEPT: u8>(&'static Curve);

/// A curve whose derivative is written in the operand.
pub fn of_self(curve: &'static Curve) -> Map<On<1>> {
    Map(On(curve))
}

/// A curve whose derivative is written in the result.
pub fn of_result(curve: &'static Curve) -> Map<On<2>> {
    Map(On(curve))
}

/// A curve with the same derivative everywhere.
pub fn straight(curve: &'static Curve) -> Map<On<0>> {
    Map(On(curve))
}

impl<const KEPT: u8> Unary for On<KEPT> {
    const NAME: &'static str = "pointwise";
    const SAVE: &'static [Save] = match KEPT {
        1 => &[Save::input(0, "self")],
        2 => &[Save::output(0, "result")],
        _ => &[],
    };
    fn node(&self) -> &'static str {
        self.0.node
    }
    const DTYPES: Dtypes = Dtypes::FLOATS;
    fn kernel_name(&self) -> &'static str {
        self.0.name
    }
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.in_double(&self.0.f)
    }
    fn vjp(&self, g: &Tensor, kept: &Tensor) -> Result<Tensor> {
        (self.0.pull)(g, kept)
    }
}

/// The tangent of each element, in radians.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * (1 + result**2)`.
///
/// >>> rg.tan(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn tan(input: &Tensor) -> Result<Tensor> {
    const CURVE: &Curve =
        &Curve { name: "tan", node: "TanBackward0", f: f64::tan, pull: |g, y| g.mul(&y.square()?.plus(1i64)?) };
    apply_as(form, of_result(CURVE), &[input])
}

/// The angle in radians whose sine each element is; NaN outside [-1, 1].
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / sqrt(1 - input**2)`, infinite at -1 and 1.
///
/// >>> rg.asin(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arcsin"))]
pub fn asin(input: &Tensor) -> Result<Tensor> {
    const CURVE: &Curve = &Curve {
        name: "asin",
        node: "AsinBackward0",
        f: f64::asin,
        pull: |g, x| g.mul(&x.square()?.neg()?.plus(1i64)?.rsqrt()?),
    };
    apply_as(form, of_self(CURVE), &[input])
}

/// The angle in radians whose cosine each element is; NaN outside [-1, 1].
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `-g / sqrt(1 - input**2)`, infinite at -1 and 1.
///
/// >>> rg.acos(rg.tensor([1.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arccos"))]
pub fn acos(input: &Tensor) -> Result<Tensor> {
    const CURVE: &Curve = &Curve {
        name: "acos",
        node: "AcosBackward0",
        f: f64::acos,
        pull: |g, x| g.mul(&x.square()?.neg()?.plus(1i64)?.rsqrt()?.neg()?),
    };
    apply_as(form, of_self(CURVE), &[input])
}

/// The angle in radians, between -pi/2 and pi/2, whose tangent each element is.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / (1 + input**2)`.
///
/// >>> rg.atan(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arctan"))]
pub fn atan(input: &Tensor) -> Result<Tensor> {
    const CURVE: &Curve =
        &Curve { name: "atan", node: "AtanBackward0", f: f64::atan, pull: |g, x| g.div(&x.square()?.plus(1i64)?) };
    apply_as(form, of_self(CURVE), &[input])
}

/// The hyperbolic sine of each element.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * cosh(input)`.
///
/// >>> rg.sinh(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn sinh(input: &Tensor) -> Result<Tensor> {
    const CURVE: &Curve = &Curve { name: "sinh", node: "SinhBackward0", f: f64::sinh, pull: |g, x| g.mul(&x.cosh()?) };
    apply_as(form, of_self(CURVE), &[input])
}

/// The hyperbolic cosine of each element.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * sinh(input)`.
///
/// >>> rg.cosh(rg.tensor([0.0])).tolist()
/// [1.0]
#[op(function, method, inplace, out)]
pub fn cosh(input: &Tensor) -> Result<Tensor> {
    const CURVE: &Curve = &Curve { name: "cosh", node: "CoshBackward0", f: f64::cosh, pull: |g, x| g.mul(&x.sinh()?) };
    apply_as(form, of_self(CURVE), &[input])
}

/// The number whose hyperbolic sine each element is.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / sqrt(input**2 + 1)`.
///
/// >>> rg.asinh(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arcsinh"))]
pub fn asinh(input: &Tensor) -> Result<Tensor> {
    const CURVE: &Curve = &Curve {
        name: "asinh",
        node: "AsinhBackward0",
        f: libm::asinh,
        pull: |g, x| g.mul(&x.square()?.plus(1i64)?.rsqrt()?),
    };
    apply_as(form, of_self(CURVE), &[input])
}

/// The number from 0 on whose hyperbolic cosine each element is; NaN below 1.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / sqrt(input**2 - 1)`, infinite at 1.
///
/// >>> rg.acosh(rg.tensor([1.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arccosh"))]
pub fn acosh(input: &Tensor) -> Result<Tensor> {
    const CURVE: &Curve = &Curve {
        name: "acosh",
        node: "AcoshBackward0",
        f: libm::acosh,
        pull: |g, x| g.mul(&x.square()?.plus(-1i64)?.rsqrt()?),
    };
    apply_as(form, of_self(CURVE), &[input])
}

/// The number whose hyperbolic tangent each element is; infinite at -1 and 1, NaN outside.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / (1 - input**2)`.
///
/// >>> rg.atanh(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arctanh"))]
pub fn atanh(input: &Tensor) -> Result<Tensor> {
    const CURVE: &Curve = &Curve {
        name: "atanh",
        node: "AtanhBackward0",
        f: libm::atanh,
        pull: |g, x| g.div(&x.square()?.neg()?.plus(1i64)?),
    };
    apply_as(form, of_self(CURVE), &[input])
}

/// Each element, an angle in degrees, in radians.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * pi / 180`.
///
/// >>> rg.deg2rad(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn deg2rad(input: &Tensor) -> Result<Tensor> {
    const CURVE: &Curve =
        &Curve { name: "deg2rad", node: "Deg2RadBackward0", f: f64::to_radians, pull: |g, _| g.deg2rad() };
    apply_as(form, straight(CURVE), &[input])
}

/// Each element, an angle in radians, in degrees.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * 180 / pi`.
///
/// >>> rg.rad2deg(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn rad2deg(input: &Tensor) -> Result<Tensor> {
    const CURVE: &Curve =
        &Curve { name: "rad2deg", node: "Rad2DegBackward0", f: f64::to_degrees, pull: |g, _| g.rad2deg() };
    apply_as(form, straight(CURVE), &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = [noise(1, sizes).times(0.9).unwrap()];
            for f in [tan, asin, acos, atan, sinh, cosh, asinh, atanh, deg2rad, rad2deg] {
                gradcheck(&|x| f(&x[0]), &x);
            }
            gradcheck(&|x| acosh(&x[0]), &[x[0].plus(2.5).unwrap()]);
        }
    }
}
