//! Exponentials, logarithms, roots and trigonometric functions. The roster of unary functions.

use retrograd_macros::op;

use super::complex::complex_body;
use super::unary::{Map, Pass, Unary, body, elementary, fuse, fuse_lanes};
use super::{activation, rounding};
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::Save;
use crate::error::Result;
use crate::kernels::math;
use crate::kernels::real::Real;
use crate::ops::Entry;
use crate::tensor::{Dtypes, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &EXP,
    &LOG,
    &LOG1P,
    &SQRT,
    &RSQRT,
    &SIN,
    &COS,
    &activation::TANH,
    &activation::NN_TANH,
    &activation::SIGMOID,
    &activation::NN_SIGMOID,
    &activation::RELU,
    &activation::NN_RELU,
    &rounding::ABS,
    &rounding::SIGN,
    &rounding::FLOOR,
    &rounding::CEIL,
    &rounding::TRUNC,
    &rounding::ROUND,
    &rounding::ROUND_DECIMALS,
];

/// `exp`: reverse `g * result`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exp;
elementary!(Exp, |x| math::exp(x));
complex_body!(Exp, |z| z.exp());
impl Unary for Exp {
    const NAME: &'static str = "exp";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const DTYPES: Dtypes = Dtypes::FIELDS.or(Dtypes::HALVES);
    fn kernel(&self, pass: Pass) -> Result<()> {
        if pass.dtype().is_complex() { pass.complex(self) } else { pass.lanes(self) }
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.mul(result)
    }
}

/// The exponential of each element.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * exp(input)`.
///
/// >>> rg.exp(rg.tensor([0.0])).tolist()
/// [1.0]
#[op(function, method, inplace, out)]
pub fn exp(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Exp), &[input])
}

/// `log`: reverse `g / x`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log;
elementary!(Log, |x| math::log(x));
impl Unary for Log {
    const NAME: &'static str = "log";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.div(x)
    }
}

/// The natural logarithm of each element; NaN for negative ones.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / input`.
///
/// >>> rg.log(rg.tensor([1.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn log(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Log), &[input])
}

/// `log1p`: reverse `g / (x + 1)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log1p;
elementary!(Log1p, |x| math::log1p(x));
struct Log1pRule;
body!(Log1pRule, Real, |g, x| g.div(x.add(T::ONE)));
impl Unary for Log1p {
    const NAME: &'static str = "log1p";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.div(&x.plus(1i64)?)
    }
    fn fused(&self, g: &Tensor, x: &Tensor) -> Option<Result<Tensor>> {
        fuse(Self::NAME, &Log1pRule, g, x)
    }
}

/// The natural logarithm of one plus each element, accurate near 0.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / (input + 1)`.
///
/// >>> rg.log1p(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn log1p(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Log1p), &[input])
}

/// `sqrt`: reverse `g / (2 result)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sqrt;
body!(Sqrt, Real, |x| x.sqrt());
/// [`Sqrt`] of complex numbers.
struct ComplexSqrt;
complex_body!(ComplexSqrt, |z| z.sqrt());
struct SqrtRule;
body!(SqrtRule, Real, |g, y| g.div(y.add(y)));
impl Unary for Sqrt {
    const NAME: &'static str = "sqrt";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const DTYPES: Dtypes = Dtypes::FIELDS.or(Dtypes::HALVES);
    fn kernel(&self, pass: Pass) -> Result<()> {
        if pass.dtype().is_complex() { pass.complex(&ComplexSqrt) } else { pass.floats(self) }
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.div(&result.times(2i64)?)
    }
    fn fused(&self, g: &Tensor, result: &Tensor) -> Option<Result<Tensor>> {
        fuse(Self::NAME, &SqrtRule, g, result)
    }
}

/// The square root of each element; NaN for negative ones.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / (2 * sqrt(input))`, infinite at 0.
///
/// >>> rg.sqrt(rg.tensor([4.0])).tolist()
/// [2.0]
#[op(function, method, inplace, out)]
pub fn sqrt(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Sqrt), &[input])
}

/// `rsqrt`: reverse `-g result^3 / 2`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rsqrt;
body!(Rsqrt, Real, |x| T::ONE.div(x.sqrt()));
struct RsqrtRule;
body!(RsqrtRule, Real, |g, y| T::of(-0.5).mul(g).mul(y.mul(y).mul(y)));
impl Unary for Rsqrt {
    const NAME: &'static str = "rsqrt";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.floats(self)
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.times(-0.5)?.mul(&result.power(3i64)?)
    }
    fn fused(&self, g: &Tensor, result: &Tensor) -> Option<Result<Tensor>> {
        fuse(Self::NAME, &RsqrtRule, g, result)
    }
}

/// One over the square root of each element.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `-g / (2 * input**1.5)`.
///
/// >>> rg.rsqrt(rg.tensor([4.0])).tolist()
/// [0.5]
#[op(function, method, inplace, out)]
pub fn rsqrt(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Rsqrt), &[input])
}

/// `sin`: reverse `g cos x`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sin;
elementary!(Sin, |x| math::sin(x));
struct SinRule;
elementary!(SinRule, |g, x| g * math::cos(x));
impl Unary for Sin {
    const NAME: &'static str = "sin";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.mul(&x.cos()?)
    }
    fn fused(&self, g: &Tensor, x: &Tensor) -> Option<Result<Tensor>> {
        fuse_lanes(Self::NAME, &SinRule, g, x)
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
struct CosRule;
elementary!(CosRule, |g, x| -(g * math::sin(x)));
impl Unary for Cos {
    const NAME: &'static str = "cos";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.mul(&x.sin()?.neg()?)
    }
    fn fused(&self, g: &Tensor, x: &Tensor) -> Option<Result<Tensor>> {
        fuse_lanes(Self::NAME, &CosRule, g, x)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::pointwise::unary::check_fused;
    use crate::tensor::{DType, Scalar, copy};
    use crate::testing::{complex_noise, gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = [noise(1, sizes)];
            let up = [x[0].plus(2.0).unwrap()];
            gradcheck(&|x| x[0].exp(), &x);
            gradcheck(&|x| x[0].sin(), &x);
            gradcheck(&|x| x[0].cos(), &x);
            gradcheck(&|x| x[0].log(), &up);
            gradcheck(&|x| x[0].log1p(), &up);
            gradcheck(&|x| x[0].sqrt(), &up);
            gradcheck(&|x| x[0].rsqrt(), &up);
        }
    }

    #[test]
    fn fused_rules_agree() {
        let _reading = crate::storage::reclaim::reading();
        let x = noise(1, &[37]).plus(2.0).unwrap();
        check_fused(Log1p, &x);
        check_fused(Sqrt, &x);
        check_fused(Rsqrt, &x);
        check_fused(Sin, &x);
        check_fused(Cos, &x);
    }

    #[test]
    fn integers_become_floats_and_in_place_cannot() {
        let x = Tensor::from_slice(&[0i64, 1], &[2]).unwrap();
        assert_eq!(x.exp().unwrap().dtype(), DType::Float32);
        assert_eq!(x.sqrt().unwrap().to_vec::<f64>().unwrap(), [0.0, 1.0]);
        assert!(x.sqrt_().unwrap_err().to_string().contains("can't be cast to the desired output type"));
        let y = noise(1, &[3, 4]).view_as(&[4, 3], &[1, 4], 0).unwrap();
        assert_eq!(y.exp().unwrap().strides(), y.strides());
    }

    #[test]
    fn halves_are_rounded_once() {
        let x = noise(3, &[7, 90]);
        for dtype in [DType::Float16, DType::BFloat16] {
            let half = copy::cast(&x, dtype).unwrap();
            let wide = copy::cast(&half, DType::Float32).unwrap();
            for half in [half.clone(), half.t().unwrap()] {
                let wide = copy::cast(&half, DType::Float32).unwrap();
                let want = copy::cast(&wide.exp().unwrap(), dtype).unwrap();
                assert_eq!(half.exp().unwrap().to_vec::<f32>().unwrap(), want.to_vec::<f32>().unwrap());
            }
            let want = copy::cast(&wide.mul(&wide).unwrap(), dtype).unwrap();
            assert_eq!(half.mul(&half).unwrap().to_vec::<f32>().unwrap(), want.to_vec::<f32>().unwrap());
        }
    }

    #[test]
    fn derivatives_of_complex_functions() {
        let z = [complex_noise(1, &[2, 3])];
        gradcheck(&|z| z[0].exp(), &z);
        gradcheck(&|z| z[0].plus(Scalar::Complex(2.0, 0.5))?.sqrt(), &z);
    }
}
