//! Exponentials and logarithms to other bases, and near 0; the error function.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use retrograd_macros::op;

use super::unary::{Map, Pass, Unary, elementary};
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::Save;
use crate::error::Result;
use crate::kernels::math;
use crate::ops::Entry;
use crate::tensor::Tensor;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&EXP2, &EXPM1, &LOG2, &LOG10, &ERF];

/// `exp2`: reverse `g result log 2`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exp2;
elementary!(Exp2, |x| math::exp2(x));
impl Unary for Exp2 {
    const NAME: &'static str = "exp2";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
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

/// `log2`: reverse `g / (x log 2)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log2;
elementary!(Log2, |x| math::log2(x));
impl Unary for Log2 {
    const NAME: &'static str = "log2";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
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

/// `erf`: reverse `2 g exp(-x^2) / sqrt(pi)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Erf;
elementary!(Erf, |x| math::erf(x));
impl Unary for Erf {
    const NAME: &'static str = "erf";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        x.square()?.neg()?.exp()?.times(FRAC_2_SQRT_PI)?.mul(g)
    }
}

/// The error function of each element.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * 2 / sqrt(pi) * exp(-input**2)`.
///
/// >>> rg.erf(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn erf(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Erf), &[input])
}

#[cfg(test)]
mod tests {

    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = [noise(1, sizes)];
            gradcheck(&|x| x[0].exp2(), &x);
            gradcheck(&|x| x[0].expm1(), &x);
            gradcheck(&|x| x[0].erf(), &x);
            let up = [x[0].plus(2.0).unwrap()];
            gradcheck(&|x| x[0].log2(), &up);
            gradcheck(&|x| x[0].log10(), &up);
        }
    }
}
