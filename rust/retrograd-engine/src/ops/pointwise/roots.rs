//! Square roots and their reciprocals.

use retrograd_macros::op;

use super::unary::{Map, Pass, Unary, body, fuse};
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::Save;
use crate::error::Result;
use crate::kernels::complex::{self, C};
use crate::kernels::real::{Field, Real};
use crate::ops::Entry;
use crate::tensor::Tensor;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&SQRT, &RSQRT];

/// `sqrt`: reverse `g / (2 result)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sqrt;
body!(Sqrt, Real, const LIGHT = true; |x| x.sqrt());
#[derive(Clone, Copy, Debug)]
struct SqrtRule;
body!(SqrtRule, Real, |g, y| g.div(y.add(y)));
impl Unary for Sqrt {
    const NAME: &'static str = "sqrt";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(complex::sqrt);
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.floats(self)
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.div(&result.times(2i64)?)
    }
    fn fused(&self, g: &Tensor, result: &Tensor) -> Option<Result<Tensor>> {
        fuse(Self::NAME, SqrtRule, g, result)
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
body!(Rsqrt, Real, const LIGHT = true; |x| T::ONE.div(x.sqrt()));
#[derive(Clone, Copy, Debug)]
struct RsqrtRule;
body!(RsqrtRule, Real, |g, y| T::of(-0.5).mul(g).mul(y.mul(y).mul(y)));
impl Unary for Rsqrt {
    const NAME: &'static str = "rsqrt";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(|z| C::ONE.div(complex::sqrt(z)));
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.floats(self)
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.times(-0.5)?.mul(&result.power(3i64)?)
    }
    fn fused(&self, g: &Tensor, result: &Tensor) -> Option<Result<Tensor>> {
        fuse(Self::NAME, RsqrtRule, g, result)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::pointwise::unary::check_fused;
    use crate::tensor::Scalar;
    use crate::testing::{complex_noise, gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = [noise(1, sizes).plus(2.0).unwrap()];
            gradcheck(&|x| x[0].sqrt(), &x);
            gradcheck(&|x| x[0].rsqrt(), &x);
        }
        gradcheck(&|z| z[0].plus(Scalar::Complex(2.0, 0.5))?.sqrt(), &[complex_noise(1, &[2, 3])]);
    }

    #[test]
    fn fused_rules_agree() {
        let _reading = crate::storage::reclaim::reading();
        check_fused(Sqrt, &noise(1, &[37]).plus(2.0).unwrap());
        check_fused(Rsqrt, &noise(1, &[37]).plus(2.0).unwrap());
    }
}
