//! Arithmetic rooms.

use retrograd_macros::op;

use super::promote::{Same, forward2, forward2_into, result_type};
use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::{Batch, Jvp, Keep, Outs, Primitive, Vjp, linear_in_each, maybe, out};
use crate::error::{Error, Result};
use crate::kernels::pointwise::Map2;
use crate::kernels::real::Num;
use crate::ops::{Entry, Value};
use crate::tensor::{Scalar, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&ADD, &MUL];

/// `add`: `a + alpha * b`. Reverse: `ga = g`, `gb = alpha g`.
#[derive(Clone, Debug)]
pub struct Add {
    alpha: Scalar,
}

struct Sum2;
impl<T: Num> Map2<T, T, T> for Sum2 {
    #[inline(always)]
    fn f(&self, a: T, b: T) -> T {
        a.plus(b)
    }
}

struct Axpy<T>(T);
impl<T: Num> Map2<T, T, T> for Axpy<T> {
    #[inline(always)]
    fn f(&self, a: T, b: T) -> T {
        a.plus(self.0.times(b))
    }
}

impl Add {
    fn scaled(&self, b: &Tensor) -> Result<Option<Tensor>> {
        if self.alpha == Scalar::Int(1) { Ok(None) } else { b.mul(&Tensor::number(self.alpha)?).map(Some) }
    }
}

impl Primitive for Add {
    const NAME: &'static str = "add";
    const KEEP: &'static [Keep] = &[];
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn node(&self) -> &'static str {
        "AddBackward0"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let scaled = self.scaled(xs[1])?;
        let b = scaled.as_ref().unwrap_or(xs[1]);
        forward2::<_, Same>("add", &Sum2, xs[0], b, result_type(&[xs[0], xs[1]])).map(out)
    }
    fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        let scaled = self.scaled(xs[1])?;
        let b = scaled.as_ref().unwrap_or(xs[1]);
        forward2_into::<_, Same>("add", &Sum2, xs[0], b, result_type(&[xs[0], xs[1]]), out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.needs(0).then(|| cx.g().clone()));
        grads.push(cx.when(1, || Ok(self.scaled(cx.g())?.unwrap_or_else(|| cx.g().clone())))?);
        Ok(grads)
    }
    fn jvp(&self, cx: &Jvp) -> Result<Grads> {
        Ok(maybe(match (cx.t(0), cx.t(1)) {
            (Some(a), Some(b)) => Some(a.add_scaled(b, self.alpha)?),
            (Some(a), None) => Some(a.clone()),
            (None, Some(b)) => Some(self.scaled(b)?.unwrap_or_else(|| b.clone())),
            (None, None) => None,
        }))
    }
    fn params(&self) -> Vec<(&'static str, Value)> {
        vec![("alpha", self.alpha.into())]
    }
}

/// Adds `alpha * other` to `input`, elementwise with broadcasting and promotion.
///
/// Args: `input`, `other` tensors of any dtype with broadcastable shapes, `other` may be a number; `alpha` a number.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g` and `alpha * g`.
/// Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> import retrograd as rg
/// >>> rg.add(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0]), alpha=10).tolist()
/// [31.0, 42.0]
#[op(function, method, inplace, out, norust)]
pub fn add(input: &Tensor, #[operand] other: &Tensor, #[kw] #[default(Scalar::Int(1))] alpha: Scalar) -> Result<Tensor> {
    check_alpha("add", input, other, alpha)?;
    apply_as(form, Add { alpha }, &[input, other])
}

fn check_alpha(op: &'static str, a: &Tensor, b: &Tensor, alpha: Scalar) -> Result<()> {
    let dtype = result_type(&[a, b]);
    if alpha.category() > dtype.category() {
        return Err(Error::dtype(
            op,
            format!("For integral input tensors, argument alpha must not be a floating point number (result dtype {})", dtype.name()),
        ));
    }
    Ok(())
}

impl Tensor {
    /// Elementwise sum; see [`add`].
    pub fn add(&self, other: &Tensor) -> Result<Tensor> {
        apply_as(crate::ops::Form::New, Add { alpha: Scalar::Int(1) }, &[self, other])
    }
    /// `self + alpha * other`; see [`add`].
    pub fn add_scaled(&self, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
        add(self, other, alpha)
    }
    /// In-place form of [`Tensor::add`].
    pub fn add_(&self, other: &Tensor) -> Result<Tensor> {
        apply_as(crate::ops::Form::InPlace, Add { alpha: Scalar::Int(1) }, &[self, other])
    }
}

/// `a += b` on a buffer that nobody else sees: the engine's accumulation. Same sizes and dtype.
pub(crate) fn add_assign(a: &Tensor, b: &Tensor) -> Result<()> {
    forward2_into::<_, Same>("add", &Sum2, a, b, a.dtype(), a).map(drop)
}

/// `mul`: `a * b`. Reverse: `ga = g b`, `gb = g a`.
#[derive(Clone, Debug)]
pub struct Mul;

struct Times;
impl<T: Num> Map2<T, T, T> for Times {
    #[inline(always)]
    fn f(&self, a: T, b: T) -> T {
        a.times(b)
    }
}

impl Primitive for Mul {
    const NAME: &'static str = "mul";
    const KEEP: &'static [Keep] = &[Keep::input(0, "self").when(1), Keep::input(1, "other").when(0)];
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn node(&self) -> &'static str {
        "MulBackward0"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        forward2::<_, Same>("mul", &Times, xs[0], xs[1], result_type(&[xs[0], xs[1]])).map(out)
    }
    fn forward_into(&self, xs: &[&Tensor], out: &Tensor) -> Result<bool> {
        forward2_into::<_, Same>("mul", &Times, xs[0], xs[1], result_type(&[xs[0], xs[1]]), out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || cx.g().mul(cx.kept(1)?))?);
        grads.push(cx.when(1, || cx.g().mul(cx.kept(0)?))?);
        Ok(grads)
    }
    fn jvp(&self, cx: &Jvp) -> Result<Grads> {
        linear_in_each(self, cx)
    }
}

/// Multiplies elementwise with broadcasting and promotion.
///
/// Args: `input`, `other` tensors of any dtype with broadcastable shapes; `other` may be a number.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g * other` and `g * input`.
/// Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> import retrograd as rg
/// >>> rg.mul(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])).tolist()
/// [3.0, 8.0]
#[op(function, method, inplace, out, aliases("multiply"))]
pub fn mul(input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    apply_as(form, Mul, &[input, other])
}

