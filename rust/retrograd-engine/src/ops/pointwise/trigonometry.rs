//! Trigonometric and hyperbolic functions.

use std::f64::consts::PI;

use retrograd_macros::op;

use super::refuse_complex;
use super::scalar_loop::{UnaryFunction, of_neither, of_result, of_self};
use super::unary::{Map, Pass, Unary, elementary, fuse_lanes};
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::Save;
use crate::error::{Error, Result};
use crate::kernels::complex::{self, C};
use crate::kernels::math;
use crate::kernels::pointwise::Map1;
use crate::kernels::real::Real;
use crate::ops::Entry;
use crate::tensor::Tensor;

/// Entries of this family.
pub static ROSTER: &[&Entry] =
    &[&SIN, &COS, &TAN, &ASIN, &ACOS, &ATAN, &SINH, &COSH, &ASINH, &ACOSH, &ATANH, &DEG2RAD, &RAD2DEG];

/// `sin`: reverse `g cos x`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sin;
elementary!(Sin, |x| math::sin(x));
#[derive(Clone, Copy, Debug)]
struct SinRule;
elementary!(SinRule, const PAIRED = true; |g, x| g * math::cos(x));
impl Unary for Sin {
    const NAME: &'static str = "sin";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(complex::sin);
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.mul(&x.cos()?)
    }
    fn fused(&self, g: &Tensor, x: &Tensor) -> Option<Result<Tensor>> {
        fuse_lanes(Self::NAME, SinRule, g, x)
    }
}

/// The sine of each element, in radians.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * cos(input)`.
///
/// >>> rg.sin(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn sin(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Sin), &[input])
}

/// `cos`: reverse `-g sin x`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cos;
elementary!(Cos, |x| math::cos(x));
#[derive(Clone, Copy, Debug)]
struct CosRule;
elementary!(CosRule, const PAIRED = true; |g, x| -(g * math::sin(x)));
impl Unary for Cos {
    const NAME: &'static str = "cos";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(complex::cos);
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.mul(&x.sin()?.neg()?)
    }
    fn fused(&self, g: &Tensor, x: &Tensor) -> Option<Result<Tensor>> {
        fuse_lanes(Self::NAME, CosRule, g, x)
    }
}

/// The cosine of each element, in radians.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `-g * sin(input)`.
///
/// >>> rg.cos(rg.tensor([0.0])).tolist()
/// [1.0]
#[op(function, method, inplace, out)]
pub fn cos(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Cos), &[input])
}

struct Tan;
elementary!(Tan, |x| math::tan(x));

/// The tangent of each element, in radians.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * (1 + result**2)`.
///
/// >>> rg.tan(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn tan(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "tan",
        node: "TanBackward0",
        kernel: |pass| pass.lanes(&Tan),
        halves: true,
        of_complex: Some(complex::tan),
        vjp: |g, y| g.mul(&y.square()?.plus(1i64)?),
    };
    apply_as(form, of_result(FUNCTION), &[input])
}

struct Asin;
elementary!(Asin, |x| math::asin(x));

/// The angle in radians whose sine each element is; NaN outside [-1, 1].
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / sqrt(1 - input**2)`, infinite at -1 and 1.
///
/// >>> rg.asin(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arcsin"))]
pub fn asin(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "asin",
        node: "AsinBackward0",
        kernel: |pass| pass.lanes(&Asin),
        halves: true,
        of_complex: Some(complex::asin),
        vjp: |g, x| g.mul(&x.square()?.neg()?.plus(1i64)?.rsqrt()?),
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

struct Acos;
elementary!(Acos, |x| math::acos(x));

/// The angle in radians whose cosine each element is; NaN outside [-1, 1].
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `-g / sqrt(1 - input**2)`, infinite at -1 and 1.
///
/// >>> rg.acos(rg.tensor([1.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arccos"))]
pub fn acos(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "acos",
        node: "AcosBackward0",
        kernel: |pass| pass.lanes(&Acos),
        halves: true,
        of_complex: Some(complex::acos),
        vjp: |g, x| g.mul(&x.square()?.neg()?.plus(1i64)?.rsqrt()?.neg()?),
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

struct Atan;
elementary!(Atan, |x| math::atan(x));

/// The angle in radians, between -pi/2 and pi/2, whose tangent each element is.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / (1 + input**2)`.
///
/// >>> rg.atan(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arctan"))]
pub fn atan(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "atan",
        node: "AtanBackward0",
        kernel: |pass| pass.lanes(&Atan),
        halves: true,
        of_complex: Some(complex::atan),
        vjp: |g, x| g.div(&x.square()?.plus(1i64)?),
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

struct Sinh;
elementary!(Sinh, |x| math::sinh(x));

/// The hyperbolic sine of each element.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * cosh(input)`.
///
/// >>> rg.sinh(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn sinh(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "sinh",
        node: "SinhBackward0",
        kernel: |pass| pass.lanes(&Sinh),
        halves: true,
        of_complex: Some(complex::sinh),
        vjp: |g, x| g.mul(&x.cosh()?),
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

struct Cosh;
elementary!(Cosh, |x| math::cosh(x));

/// The hyperbolic cosine of each element.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * sinh(input)`.
///
/// >>> rg.cosh(rg.tensor([0.0])).tolist()
/// [1.0]
#[op(function, method, inplace, out)]
pub fn cosh(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "cosh",
        node: "CoshBackward0",
        kernel: |pass| pass.lanes(&Cosh),
        halves: true,
        of_complex: Some(complex::cosh),
        vjp: |g, x| g.mul(&x.sinh()?),
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

struct Asinh;
elementary!(Asinh, |x| math::asinh(x));

/// The number whose hyperbolic sine each element is.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / sqrt(input**2 + 1)`.
///
/// >>> rg.asinh(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arcsinh"))]
pub fn asinh(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "asinh",
        node: "AsinhBackward0",
        kernel: |pass| pass.lanes(&Asinh),
        halves: true,
        of_complex: Some(complex::asinh),
        vjp: |g, x| g.mul(&x.square()?.plus(1i64)?.rsqrt()?),
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

/// `g / sqrt(x^2 - 1)`.
fn acosh_vjp(g: &Tensor, x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() {
        // In the left half plane the root of the product is not the product of the roots.
        return g.mul(&x.plus(1i64)?.rsqrt()?.mul(&x.plus(-1i64)?.rsqrt()?)?);
    }
    g.mul(&x.square()?.plus(-1i64)?.rsqrt()?)
}

struct Acosh;
elementary!(Acosh, |x| math::acosh(x));

/// The number from 0 on whose hyperbolic cosine each element is; NaN below 1.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / sqrt(input**2 - 1)`, infinite at 1.
///
/// >>> rg.acosh(rg.tensor([1.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arccosh"))]
pub fn acosh(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "acosh",
        node: "AcoshBackward0",
        kernel: |pass| pass.lanes(&Acosh),
        halves: true,
        of_complex: Some(complex::acosh),
        vjp: acosh_vjp,
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

struct Atanh;
elementary!(Atanh, |x| math::atanh(x));

/// The number whose hyperbolic tangent each element is; infinite at -1 and 1, NaN outside.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / (1 - input**2)`.
///
/// >>> rg.atanh(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arctanh"))]
pub fn atanh(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "atanh",
        node: "AtanhBackward0",
        kernel: |pass| pass.lanes(&Atanh),
        halves: true,
        of_complex: Some(complex::atanh),
        vjp: |g, x| g.div(&x.square()?.neg()?.plus(1i64)?),
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

/// Times a number.
#[derive(Clone, Copy)]
struct Scaled(f64);
impl<T: Real> Map1<T, T> for Scaled {
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, x: T) -> T {
        x.mul(T::of(self.0))
    }
}

/// Each element, an angle in degrees, in radians.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * pi / 180`.
///
/// >>> rg.deg2rad(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn deg2rad(input: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input], || Error::dtype("deg2rad", "deg2rad is not supported for complex tensors."))?;
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "deg2rad",
        node: "Deg2RadBackward0",
        kernel: |pass| pass.floats(&Scaled(PI / 180.0)),
        halves: true,
        of_complex: None,
        vjp: |g, _| g.deg2rad(),
    };
    apply_as(form, of_neither(FUNCTION), &[input])
}

/// Each element, an angle in radians, in degrees.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * 180 / pi`.
///
/// >>> rg.rad2deg(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn rad2deg(input: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input], || Error::dtype("rad2deg", "rad2deg is not supported for complex tensors."))?;
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "rad2deg",
        node: "Rad2DegBackward0",
        kernel: |pass| pass.floats(&Scaled(180.0 / PI)),
        halves: true,
        of_complex: None,
        vjp: |g, _| g.rad2deg(),
    };
    apply_as(form, of_neither(FUNCTION), &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::pointwise::unary::check_fused;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = [noise(1, sizes).times(0.9).unwrap()];
            for f in [sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, atanh, deg2rad, rad2deg] {
                gradcheck(&|x| f(&x[0]), &x);
            }
            gradcheck(&|x| acosh(&x[0]), &[x[0].plus(2.5).unwrap()]);
        }
    }

    #[test]
    fn fused_rules_agree() {
        let _reading = crate::storage::reclaim::reading();
        check_fused(Sin, &noise(1, &[37]).plus(2.0).unwrap());
        check_fused(Cos, &noise(1, &[37]).plus(2.0).unwrap());
    }
}
