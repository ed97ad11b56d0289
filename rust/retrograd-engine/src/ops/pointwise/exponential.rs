//! Exponentials and logarithms.

use std::f64::consts::{LN_2, LN_10};

use retrograd_macros::op;

use super::unary::{Map, Pass, Unary, body, elementary, fuse};
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::Save;
use crate::error::Result;
use crate::kernels::complex::{self, C};
use crate::kernels::math;
use crate::kernels::pointwise::Planar;
use crate::kernels::real::Real;
use crate::kernels::simd::Vector;
use crate::ops::Entry;
use crate::tensor::{Dtypes, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&EXP, &EXP2, &EXPM1, &LOG, &LOG1P, &LOG2, &LOG10];

/// `exp`: reverse `g * result`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exp;
elementary!(Exp, |x| math::exp(x));
impl<T: Real> Planar<T> for Exp {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, re: V, im: V) -> (V, V) {
        let size = math::exp(re);
        (size * math::cos(im), size * math::sin(im))
    }
    #[inline(always)]
    fn holds(&self, re: T, im: T) -> bool {
        // The size is neither infinite nor 0, and so is the angle.
        (re.abs() < T::EXP_MAX.sub(T::ONE).sub(T::ONE)) & (im.abs() < T::of(f64::INFINITY))
    }
    fn elsewhere(&self, z: C) -> C {
        complex::exp(z)
    }
}
impl Unary for Exp {
    const NAME: &'static str = "exp";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const DTYPES: Dtypes = Dtypes::FIELDS.or(Dtypes::HALVES);
    fn kernel(&self, pass: Pass) -> Result<()> {
        if pass.dtype().is_complex() { pass.planar(self) } else { pass.lanes(self) }
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

/// `exp2`: reverse `g result log 2`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exp2;
elementary!(Exp2, |x| math::exp2(x));
impl Unary for Exp2 {
    const NAME: &'static str = "exp2";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(complex::exp2);
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.mul(result)?.times(LN_2)
    }
}

/// Two to the power of each element.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * result * log(2)`.
///
/// >>> rg.exp2(rg.tensor([3.0])).tolist()
/// [8.0]
#[op(function, method, inplace, out)]
pub fn exp2(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Exp2), &[input])
}

/// `expm1`: reverse `g (result + 1)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expm1;
elementary!(Expm1, |x| math::expm1(x));
impl Unary for Expm1 {
    const NAME: &'static str = "expm1";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(complex::expm1);
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.mul(&result.plus(1i64)?)
    }
}

/// The exponential of each element less one, accurate near 0.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * (result + 1)`.
///
/// >>> rg.expm1(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn expm1(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Expm1), &[input])
}

/// `log`: reverse `g / x`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log;
elementary!(Log, |x| math::log(x));
impl Unary for Log {
    const NAME: &'static str = "log";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(complex::ln);
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
#[derive(Clone, Copy, Debug)]
struct Log1pRule;
body!(Log1pRule, Real, |g, x| g.div(x.add(T::ONE)));
impl Unary for Log1p {
    const NAME: &'static str = "log1p";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(complex::ln_1p);
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.div(&x.plus(1i64)?)
    }
    fn fused(&self, g: &Tensor, x: &Tensor) -> Option<Result<Tensor>> {
        fuse(Self::NAME, Log1pRule, g, x)
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

/// `log2`: reverse `g / (x log 2)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log2;
elementary!(Log2, |x| math::log2(x));
impl Unary for Log2 {
    const NAME: &'static str = "log2";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(complex::log2);
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.div(&x.times(LN_2)?)
    }
}

/// The logarithm to base 2 of each element; NaN for negative ones.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / (input * log(2))`.
///
/// >>> rg.log2(rg.tensor([8.0])).tolist()
/// [3.0]
#[op(function, method, inplace, out)]
pub fn log2(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Log2), &[input])
}

/// `log10`: reverse `g / (x log 10)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log10;
elementary!(Log10, |x| math::log10(x));
impl Unary for Log10 {
    const NAME: &'static str = "log10";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(complex::log10);
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.div(&x.times(LN_10)?)
    }
}

/// The logarithm to base 10 of each element; NaN for negative ones.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g / (input * log(10))`.
///
/// >>> rg.log10(rg.tensor([100.0])).tolist()
/// [2.0]
#[op(function, method, inplace, out)]
pub fn log10(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Log10), &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::pointwise::unary::check_fused;
    use crate::tensor::{DType, copy};
    use crate::testing::{complex_noise, gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = [noise(1, sizes)];
            let up = [x[0].plus(2.0).unwrap()];
            for f in [exp, exp2, expm1] {
                gradcheck(&|x| f(&x[0]), &x);
            }
            for f in [log, log1p, log2, log10] {
                gradcheck(&|x| f(&x[0]), &up);
            }
        }
        gradcheck(&|z| z[0].exp(), &[complex_noise(1, &[2, 3])]);
    }

    #[test]
    fn fused_rules_agree() {
        let _reading = crate::storage::reclaim::reading();
        check_fused(Log1p, &noise(1, &[37]).plus(2.0).unwrap());
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
}
