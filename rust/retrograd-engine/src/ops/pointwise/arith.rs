//! Arithmetic: sums, differences, products, negation.

use retrograd_macros::op;

use super::promote::{Either, Rings, check_number, forward2, forward2_into, result_type};
use super::unary::{Map, Pass, Unary, body};
use super::zip::{Binary, Zip};
use super::{division, power, remainder};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{
    Batch, ComplexRule, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, params,
};
use crate::error::{Error, Result};
use crate::kernels::pointwise::{Map1, Map2};
use crate::kernels::real::{Constant, Ring};
use crate::match_dtype;
use crate::ops::{Entry, Form, sparse};
use crate::tensor::{Category, DType, Dtypes, Scalar, Tensor, lazy};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &ADD,
    &SUB,
    &RSUB,
    &MUL,
    &NEG,
    &POSITIVE,
    &division::DIV,
    &division::DIV_ROUNDED,
    &division::FLOOR_DIVIDE,
    &division::RECIPROCAL,
    &remainder::REMAINDER,
    &remainder::FMOD,
    &power::POW,
    &power::SQUARE,
];

#[derive(Clone, Copy)]
struct Sum2;
body!(Sum2, Ring, const LIGHT = true; |a, b| a.add(b));

#[derive(Clone, Copy)]
struct Minus2;
body!(Minus2, Ring, const LIGHT = true; |a, b| a.sub(b));

/// `a + alpha * b`.
#[derive(Clone, Copy)]
struct Axpy(Constant);
impl<T: Ring> Map2<T, T, T> for Axpy {
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, a: T, b: T) -> T {
        a.add(T::constant(self.0).mul(b))
    }
}
impl Axpy {
    fn new(alpha: Scalar) -> Self {
        Self(alpha.into())
    }
}

/// Whether a factor changes nothing.
pub(super) fn is_one(alpha: Scalar) -> bool {
    alpha.as_f64() == 1.0 && !is_imaginary(alpha)
}

fn is_imaginary(alpha: Scalar) -> bool {
    matches!(alpha, Scalar::Complex(_, im) if im != 0.0)
}

fn negated(alpha: Scalar) -> Scalar {
    match alpha {
        Scalar::Bool(b) => Scalar::Int(-i64::from(b)),
        Scalar::Int(i) => Scalar::Int(i.wrapping_neg()),
        Scalar::UInt(i) => Scalar::Int((i as i64).wrapping_neg()),
        Scalar::Float(x) => Scalar::Float(-x),
        Scalar::Complex(x, y) => Scalar::Complex(-x, -y),
    }
}

/// `alpha * x`, recorded.
fn scaled(x: &Tensor, alpha: Scalar) -> Result<Tensor> {
    match alpha.as_f64() {
        _ if is_imaginary(alpha) => x.times(alpha),
        1.0 => Ok(x.clone()),
        -1.0 => x.neg(),
        _ => x.times(alpha),
    }
}

/// Tangent of `alpha * a + beta * b`.
fn combined(cx: &Jvp, alpha: Scalar, beta: Scalar) -> Result<Grads> {
    let (a, b) = (cx.t(0).map(|t| scaled(t, alpha)).transpose()?, cx.t(1).map(|t| scaled(t, beta)).transpose()?);
    Jvp::sum([a, b]).map(maybe)
}

/// Gradients of `alpha * a + beta * b`.
fn scaled_grads(cx: &Vjp, alpha: Scalar, beta: Scalar) -> Result<Grads> {
    let mut grads = maybe(cx.when(0, || scaled(cx.g(), alpha))?);
    grads.push(cx.when(1, || scaled(cx.g(), beta))?);
    Ok(grads)
}

const ONE: Scalar = Scalar::Int(1);

/// `add`: `a + alpha b`. Reverse: `ga = g`, `gb = alpha g`.
#[derive(Clone, Debug)]
struct Add {
    alpha: Scalar,
}

impl Binary for Add {
    const NAME: &'static str = "add";
    const PARAMS: Params<Zip<Self>> = params!(op; alpha: op.0.alpha);
    const DTYPES: Dtypes = Dtypes::ALL.or(Dtypes::COMPLEX32);
    type Class = Rings;
    type Kernel = Either<Sum2, Axpy>;
    #[inline]
    fn kernel(&self) -> Self::Kernel {
        if is_one(self.alpha) { Either::First(Sum2) } else { Either::Second(Axpy::new(self.alpha)) }
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        sparse::add(Self::NAME, xs, self.alpha, result_type(xs))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        scaled_grads(cx, ONE, self.alpha)
    }
    const JVP: Tangents<Zip<Self>> = Tangents::Rule(|op, cx| combined(cx, ONE, op.0.alpha));
}

/// Adds `alpha * other` to `input`, elementwise with broadcasting and promotion.
///
/// Args: `input`, `other` tensors of any dtype with broadcastable shapes, either may be a number; `alpha` a number.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g` and `alpha * g`.
/// Raises: RuntimeError if the shapes do not broadcast, or `alpha` is a float and the result an integer.
///
/// >>> rg.add(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0]), alpha=10).tolist()
/// [31.0, 42.0]
#[op(function, method, inplace, out, norust, old("input alpha other"), "(*, alpha=1)")]
pub fn add(#[operand] input: &Tensor, #[operand] other: &Tensor, alpha: Scalar) -> Result<Tensor> {
    check_alpha("add", input, other, alpha)?;
    apply_as(form, Zip(Add { alpha }), &[input, other])
}

fn check_alpha(op: &'static str, a: &Tensor, b: &Tensor, alpha: Scalar) -> Result<()> {
    let dtype = result_type(&[a, b]);
    let detail = if alpha.category() > dtype.category() && alpha.category() == Category::Complex {
        "For non-complex input tensors, argument alpha must not be a complex number."
    } else if alpha.category() > dtype.category() && alpha.category() > Category::Int {
        "For integral input tensors, argument alpha must not be a floating point number"
    } else if matches!(alpha, Scalar::Bool(_)) && dtype != DType::Bool {
        "Boolean alpha only supported for Boolean results."
    } else {
        return if is_one(alpha) { Ok(()) } else { check_number(op, alpha, dtype) };
    };
    Err(Error::dtype(op, format!("{detail} (alpha is {alpha:?}, the result {})", dtype.name())))
}

/// `sub`: `a - alpha b`. Reverse: `ga = g`, `gb = -alpha g`.
#[derive(Clone, Debug)]
struct Sub {
    alpha: Scalar,
}

impl Binary for Sub {
    const NAME: &'static str = "sub";
    const PARAMS: Params<Zip<Self>> = params!(op; alpha: op.0.alpha);
    const DTYPES: Dtypes = Dtypes::ALL.or(Dtypes::COMPLEX32);
    type Class = Rings;
    type Kernel = Either<Minus2, Axpy>;
    #[inline]
    fn kernel(&self) -> Self::Kernel {
        if is_one(self.alpha) { Either::First(Minus2) } else { Either::Second(Axpy::new(negated(self.alpha))) }
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        sparse::add(Self::NAME, xs, negated(self.alpha), result_type(xs))
    }
    fn check(&self, xs: &[&Tensor]) -> Result<()> {
        refuse_bools(Self::NAME, xs)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        scaled_grads(cx, ONE, negated(self.alpha))
    }
    const JVP: Tangents<Zip<Self>> = Tangents::Rule(|op, cx| combined(cx, ONE, negated(op.0.alpha)));
}

pub(crate) fn refuse_bools(op: &'static str, xs: &[&Tensor]) -> Result<()> {
    let count = xs.iter().filter(|x| x.dtype() == DType::Bool).count();
    let detail = match count {
        0 => return Ok(()),
        2 => {
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator \
             instead."
        }
        _ => {
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the \
             `~` or `logical_not()` operator instead."
        }
    };
    Err(Error::dtype(op, detail))
}

/// Subtracts `alpha * other` from `input`, elementwise with broadcasting and promotion.
///
/// Args: `input`, `other` tensors of any dtype but bool with broadcastable shapes, either may be a number; `alpha` a
/// number. Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g` and `-alpha * g`.
/// Raises: RuntimeError if the shapes do not broadcast or an operand is bool.
///
/// >>> rg.sub(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0]), alpha=10).tolist()
/// [-29.0, -38.0]
#[op(function, method, inplace, out, norust, aliases("subtract"), old("input alpha other"), "(*, alpha=1)")]
pub fn sub(#[operand] input: &Tensor, #[operand] other: &Tensor, alpha: Scalar) -> Result<Tensor> {
    refuse_bools("sub", &[input, other])?;
    check_alpha("sub", input, other, alpha)?;
    apply_as(form, Zip(Sub { alpha }), &[input, other])
}

/// `rsub`: `b - alpha a`. Reverse: `ga = -alpha g`, `gb = g`.
#[derive(Clone, Debug)]
struct Rsub {
    alpha: Scalar,
    /// The minuend is a number.
    number: bool,
}

impl Primitive for Rsub {
    const NAME: &'static str = "rsub";
    const DTYPES: Dtypes = Dtypes::ALL.or(Dtypes::COMPLEX32);
    const SAVE: &'static [Save] = &[];
    const PARAMS: Params<Self> = params!(op; alpha);
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn node(&self) -> &'static str {
        if self.number { "RsubBackward1" } else { "RsubBackward0" }
    }
    fn inputs(&self) -> u32 {
        if self.number { 0b01 } else { 0b11 }
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(result_type(xs))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Zip(Sub { alpha: self.alpha }).forward(&[xs[1], xs[0]])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        scaled_grads(cx, negated(self.alpha), ONE)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| combined(cx, negated(op.alpha), ONE));
}

/// Subtracts `alpha * input` from `other`: `sub` with the operands in the opposite order.
///
/// Args: `input` a tensor of any dtype but bool; `other` a tensor or a number; `alpha` a number.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `-alpha * g` and `g`.
/// Raises: RuntimeError if the shapes do not broadcast or an operand is bool.
///
/// >>> rg.rsub(rg.tensor([1.0, 2.0]), 10).tolist()
/// [9.0, 8.0]
#[op(function, norust, "(*, alpha=1)")]
pub fn rsub(input: &Tensor, #[operand] other: &Tensor, alpha: Scalar) -> Result<Tensor> {
    refuse_bools("rsub", &[input, other])?;
    check_alpha("rsub", input, other, alpha)?;
    apply1(Rsub { alpha, number: other.is_number() }, &[input, other])
}

impl Tensor {
    /// Elementwise sum; see [`add`].
    pub fn add(&self, other: &Tensor) -> Result<Tensor> {
        apply_as(Form::New, Zip(Add { alpha: ONE }), &[self, other])
    }
    /// `self + alpha * other`; see [`add`].
    pub fn add_scaled(&self, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
        add(self, other, alpha)
    }
    /// In-place form of [`Tensor::add`].
    pub fn add_(&self, other: &Tensor) -> Result<Tensor> {
        apply_as(Form::InPlace, Zip(Add { alpha: ONE }), &[self, other])
    }
    /// Elementwise difference; see [`sub`].
    pub fn sub(&self, other: &Tensor) -> Result<Tensor> {
        apply_as(Form::New, Zip(Sub { alpha: ONE }), &[self, other])
    }
    /// In-place form of [`Tensor::sub`].
    pub fn sub_(&self, other: &Tensor) -> Result<Tensor> {
        apply_as(Form::InPlace, Zip(Sub { alpha: ONE }), &[self, other])
    }
    /// The sum with a number.
    pub fn plus(&self, number: impl Into<Scalar>) -> Result<Tensor> {
        self.add(&Tensor::shared_number(number.into())?)
    }
    /// The product with a number.
    pub fn times(&self, number: impl Into<Scalar>) -> Result<Tensor> {
        self.mul(&Tensor::shared_number(number.into())?)
    }
}

/// `a += b`, without record or version: the engine's accumulation. No two elements of `a` share memory.
pub(crate) fn add_assign(a: &Tensor, b: &Tensor) -> Result<()> {
    let dtype = result_type(&[a, b]);
    if lazy::exist() && (a.lazy_bits().any() || b.lazy_bits().any()) {
        if a.is_sparse() || b.is_sparse() {
            let sum = sparse::add("add", &[a, b], ONE, dtype)?;
            return crate::autograd::apply::write_result("add_", &sum[0], a);
        }
        let sum = forward2::<_, Rings>("add", &Sum2, &a.resolved()?, &b.resolved()?, dtype)?;
        return crate::autograd::apply::write_result("add_", &sum, a);
    }
    // SAFETY: as said.
    if a.sizes() == b.sizes() && unsafe { forward2_into::<_, Rings>("add", &Sum2, a, b, dtype, a)? } {
        return Ok(());
    }
    let sum = forward2::<_, Rings>("add", &Sum2, a, b, dtype)?;
    crate::autograd::apply::write_result("add_", &sum, a)
}

/// `mul`: `a * b`. Reverse: `ga = g b`, `gb = g a`.
#[derive(Clone, Debug)]
struct Mul;

#[derive(Clone, Copy)]
struct Times;
impl<T: Ring> Map2<T, T, T> for Times {
    // Products of complex numbers and of bytes take longer than their memory.
    const WIDE: bool = T::COMPLEX || size_of::<T>() == 1;
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, a: T, b: T) -> T {
        a.mul(b)
    }
}

impl Binary for Mul {
    const NAME: &'static str = "mul";
    const SAVE: &'static [Save] = &[Save::input(0, "self").when(1), Save::input(1, "other").when(0)];
    const DTYPES: Dtypes = Dtypes::ALL.or(Dtypes::COMPLEX32).or(Dtypes::WIDE_UNSIGNED);
    type Class = Rings;
    type Kernel = Times;
    #[inline]
    fn kernel(&self) -> Times {
        Times
    }
    fn sparse(&self, xs: &[&Tensor]) -> Result<Outs> {
        sparse::mul(xs, result_type(xs))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || cx.g().mul(cx.saved(1)?))?);
        grads.push(cx.when(1, || cx.g().mul(cx.saved(0)?))?);
        Ok(grads)
    }
    const JVP: Tangents<Zip<Self>> = Tangents::Rule(|op, cx| match (cx.t(0), cx.t(1)) {
        (Some(dx), Some(dy)) if !cx.differentiating() => match moved(dx, cx.xs[1], cx.xs[0], dy)? {
            Some(sum) => Ok(one(sum)),
            None => Tangents::Multilinear.apply(op, cx),
        },
        _ => Tangents::Multilinear.apply(op, cx),
    });
}

/// `dx y + x dy` in one pass, for contiguous operands of one float dtype and one shape.
fn moved(dx: &Tensor, y: &Tensor, x: &Tensor, dy: &Tensor) -> Result<Option<Tensor>> {
    if [dx, x, dy].iter().any(|t| t.sizes() != y.sizes()) {
        return Ok(None);
    }
    match_dtype!(floats, y.dtype(), T => {
        let [Some(dx), Some(y_), Some(x), Some(dy)] = [dx, y, x, dy].map(Tensor::as_slice::<T>) else { return Ok(None) };
        Tensor::build::<T>(y.sizes(), |out| {
            for (o, ((dx, y), (x, dy))) in out.iter_mut().zip(dx.iter().zip(y_).zip(x.iter().zip(dy))) {
                *o = *dx * *y + *x * *dy;
            }
        })
        .map(Some)
    }, else Ok(None))
}

/// Multiplies elementwise with broadcasting and promotion.
///
/// Args: `input`, `other` tensors of any dtype with broadcastable shapes; either may be a number.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g * other` and `g * input`.
/// Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.mul(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])).tolist()
/// [3.0, 8.0]
#[op(function, method, inplace, out, aliases("multiply"))]
pub fn mul(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    apply_as(form, Zip(Mul), &[input, other])
}

/// `neg`: reverse `-g`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neg;
body!(Neg, Ring, const LIGHT = true; |x| x.neg());
/// `neg` of halves, as their bits.
#[derive(Clone, Copy)]
struct SignChanged;
impl Map1<u16, u16> for SignChanged {
    #[inline(always)]
    fn f(&self, bits: u16) -> u16 {
        bits ^ 0x8000
    }
}
impl Unary for Neg {
    const NAME: &'static str = "neg";
    const SAVE: &'static [Save] = &[];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        if x == DType::Bool {
            return Err(Error::dtype(
                "neg",
                "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the \
                 `~` or `logical_not()` operator instead.",
            ));
        }
        Ok(x)
    }
    const DTYPES: Dtypes = Dtypes::ALL.or(Dtypes::COMPLEX32);
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    fn kernel(&self, pass: Pass) -> Result<()> {
        match pass.dtype() {
            dtype if dtype.is_complex() => pass.complex(self),
            dtype if dtype.half().is_some() => pass.bits_of_halves(&SignChanged),
            _ => pass.numeric(self),
        }
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        g.neg()
    }
}

/// Negates each element; unsigned integers wrap.
///
/// Args: `input` any dtype but bool. Returns: same shape and dtype. Derivative: `-g`.
/// Raises: RuntimeError for bool.
///
/// >>> rg.neg(rg.tensor([1.0, -2.0])).tolist()
/// [-1.0, 2.0]
#[op(function, method, inplace, out = FOUND, aliases("negative"))]
pub fn neg(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Neg), &[input])
}

/// `input` itself, as the unary operator `+` gives it.
///
/// Args: `input` any dtype but bool. Returns: the same tensor. Derivative: `g`. Raises: RuntimeError for bool.
///
/// >>> rg.positive(rg.tensor([-1.0])).tolist()
/// [-1.0]
#[op(function, method)]
pub fn positive(input: &Tensor) -> Result<Tensor> {
    if input.dtype() == DType::Bool {
        return Err(Error::dtype("positive", "The `+` operator, on a bool tensor is not supported."));
    }
    Ok(input.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{complex_noise, gradcheck, noise};

    #[test]
    fn derivatives() {
        for shapes in [[&[3, 4][..], &[3, 4][..]], [&[3, 1], &[4]], [&[], &[2, 3]], [&[0, 3], &[1, 3]], [&[17], &[17]]]
        {
            let xs = [noise(1, shapes[0]), noise(2, shapes[1])];
            gradcheck(&|x| x[0].add(&x[1]), &xs);
            gradcheck(&|x| add(&x[0], &x[1], Scalar::Float(-2.5)), &xs);
            gradcheck(&|x| x[0].sub(&x[1]), &xs);
            gradcheck(&|x| sub(&x[0], &x[1], Scalar::Int(3)), &xs);
            gradcheck(&|x| rsub(&x[0], &x[1], Scalar::Float(0.5)), &xs);
            gradcheck(&|x| x[0].mul(&x[1]), &xs);
            gradcheck(&|x| x[0].neg()?.plus(2.0)?.times(-3.0), &xs[..1]);
        }
    }

    #[test]
    fn derivatives_of_complex_numbers() {
        let (z, w, x) = (complex_noise(1, &[2, 3]), complex_noise(2, &[3]), noise(3, &[2, 1]));
        for xs in [[z.clone(), w.clone()], [z, x.clone()], [x, w]] {
            gradcheck(&|x| x[0].add(&x[1]), &xs);
            gradcheck(&|x| add(&x[0], &x[1], Scalar::Complex(0.5, -2.0)), &xs);
            gradcheck(&|x| x[0].sub(&x[1]), &xs);
            gradcheck(&|x| x[0].mul(&x[1])?.neg(), &xs);
            gradcheck(&|x| x[0].div(&x[1].times(Scalar::Complex(0.0, 1.0))?.plus(3.0)?), &xs);
        }
    }

    #[test]
    fn the_tangent_of_a_product_in_one_pass() {
        let _reading = crate::storage::reclaim::reading();
        for n in [0, 1, 7, 33] {
            let [dx, y, x, dy] = [1, 2, 3, 4].map(|seed| noise(seed, &[n]));
            let fused = moved(&dx, &y, &x, &dy).unwrap().unwrap().to_vec::<f64>().unwrap();
            assert_eq!(fused, dx.mul(&y).unwrap().add(&x.mul(&dy).unwrap()).unwrap().to_vec::<f64>().unwrap());
        }
        let (row, wide) = (noise(1, &[1]), noise(2, &[3]));
        assert!(moved(&wide, &row, &wide, &wide).unwrap().is_none());
        let turned = noise(3, &[2, 3]).t().unwrap();
        assert!(moved(&turned, &turned, &turned, &turned).unwrap().is_none());
    }

    #[test]
    fn integers_wrap_and_bools_are_refused() {
        let a = Tensor::from_slice(&[1u8, 200], &[2]).unwrap();
        let b = Tensor::from_slice(&[3u8, 100], &[2]).unwrap();
        assert_eq!(a.sub(&b).unwrap().to_vec::<u8>().unwrap(), [254, 100]);
        assert_eq!(add(&a, &b, Scalar::Int(2)).unwrap().to_vec::<u8>().unwrap(), [7, 144]);
        assert_eq!(a.neg().unwrap().to_vec::<u8>().unwrap(), [255, 56]);
        let t = Tensor::from_slice(&[true], &[1]).unwrap();
        assert!(t.sub(&t).unwrap_err().to_string().contains("with two bool tensors is not supported"));
        assert!(t.sub(&a).unwrap_err().to_string().contains("with a bool tensor is not supported"));
        assert!(t.neg().is_err() && positive(&t).is_err());
        assert!(add(&a, &b, Scalar::Float(1.5)).is_err() && add(&a, &b, Scalar::Bool(true)).is_err());
    }

    #[test]
    fn alpha_multiplies_in_the_result_dtype() {
        let a = Tensor::from_slice(&[1i64], &[1]).unwrap();
        let b = Tensor::from_slice(&[2u8], &[1]).unwrap();
        assert_eq!(add(&a, &b, Scalar::Int(300)).unwrap().to_vec::<i64>().unwrap(), [601]);
    }
}
