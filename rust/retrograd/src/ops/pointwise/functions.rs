//! Unary functions.

use retrograd_macros::op;

use super::unary::{Map, Unary, floats};
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::Keep;
use crate::error::Result;
use crate::kernels::pointwise::Map1;
use crate::kernels::real::Real;
use crate::ops::Entry;
use crate::tensor::Tensor;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&EXP];

/// `exp`: reverse `g * result`.
#[derive(Clone, Copy, Debug)]
pub struct Exp;
impl<T: Real> Map1<T, T> for Exp {
    #[inline(always)]
    fn f(&self, x: T) -> T {
        x.exp()
    }
}
impl Unary for Exp {
    const NAME: &'static str = "exp";
    const NODE: &'static str = "ExpBackward0";
    const KEEP: &'static [Keep] = &[Keep::output(0, "result")];
    fn kernel(&self, x: &Tensor, out: &Tensor) -> Result<()> {
        floats("exp", self, x, out)
    }
    fn pull(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.mul(result)
    }
}

/// The exponential of each element.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape. Derivative: `g * exp(input)`.
///
/// >>> import retrograd as rg
/// >>> rg.exp(rg.tensor([0.0])).tolist()
/// [1.0]
#[op(function, method, inplace, out)]
pub fn exp(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Exp), &[input])
}
