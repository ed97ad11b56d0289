//! Powers: a tensor to a number, a tensor to a tensor, a number to a tensor.

use retrograd_macros::op;

use super::arith::is_one;
use super::complex::{imag_part, real_part};
use super::promote::{At, Ints, Numeric2, OutType, dtype_with_number, result_type};
use super::scalar_loop::{run_blocks, run_in_complex};
use super::select::where_;
use super::unary::{Map, Pass, Unary, body};
use super::zip::{Binary, Zip};
use super::{check_number, refuse_numbers, zeros_of};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{Batch, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, one, out, params};
use crate::error::{Error, Result};
use crate::kernels::complex::{self, C};
use crate::kernels::pointwise::Map1;
use crate::kernels::real::{Arithmetic, Constant, Field, Real, Ring};
use crate::kernels::special;
use crate::ops::memory;
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

#[derive(Clone, Copy)]
struct IntegerPower;
body!(IntegerPower, Arithmetic, |x, e| x.power(e));
/// The power of numbers of any dtype but bool.
struct Power;
/// As [`Reals`](super::promote::Reals), and complex numbers.
enum NotBool {}
impl OutType for NotBool {
    const DTYPES: Dtypes = Dtypes::ALL.without(Dtypes::BOOL);
    fn of(common: DType) -> DType {
        common
    }
}
impl Numeric2<NotBool> for Power {
    unsafe fn run(&self, a: &Tensor, b: &Tensor, out: &Tensor) {
        if out.dtype().is_complex() {
            return run_in_complex([a, b], out, &|[x, e]| complex::pow(x, e));
        }
        if out.dtype().is_floating() {
            let double = out.dtype() == DType::Float64;
            return run_blocks([a, b], out, if double { &special::power } else { &special::single_power });
        }
        // SAFETY: those of callers.
        unsafe { Numeric2::<Ints>::run(&IntegerPower, a, b, out) }
    }
    unsafe fn run_flat_at(&self, dtype: DType, a: At, b: At, out: *mut u8, n: usize) -> bool {
        if !dtype.is_integral() {
            return false;
        }
        // SAFETY: those of callers.
        unsafe { Numeric2::<Ints>::run_flat_at(&IntegerPower, dtype, a, b, out, n) }
    }
}
/// A complex number to a power that has no loop of its own.
fn complex_power(z: C, exponent: C) -> C {
    match exponent.re {
        _ if exponent.im != 0.0 => complex::pow(z, exponent),
        0.0 => C::ONE,
        0.5 => complex::sqrt(z),
        -0.5 => C::ONE.div(complex::sqrt(z)),
        _ => complex::pow(z, exponent),
    }
}
/// A power of integers whose exponent is a number.
#[derive(Clone, Copy)]
struct PowerOf(Constant);
impl<T: Arithmetic> Map1<T, T> for PowerOf {
    #[inline(always)]
    fn f(&self, x: T) -> T {
        x.power(T::constant(self.0))
    }
}
#[derive(Clone, Copy)]
struct Squared;
body!(Squared, Ring, const LIGHT = true; |x| x.mul(x));
#[derive(Clone, Copy)]
struct Cubed;
body!(Cubed, Ring, |x| x.mul(x).mul(x));
#[derive(Clone, Copy)]
struct Root;
body!(Root, Real, |x| x.sqrt());
#[derive(Clone, Copy)]
struct Inverse;
body!(Inverse, Field, |x| T::ONE.div(x));
#[derive(Clone, Copy)]
struct InverseSquare;
body!(InverseSquare, Field, |x| T::ONE.div(x.mul(x)));
#[derive(Clone, Copy)]
struct InverseRoot;
body!(InverseRoot, Real, |x| T::ONE.div(x.sqrt()));

/// `pow` with a number as exponent: reverse `g e x^(e-1)`; zero for `e = 0`, also at 0.
#[derive(Clone, Copy, Debug)]
struct PowNumber {
    exponent: Scalar,
}

impl Unary for PowNumber {
    const NAME: &'static str = "pow";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        let dtype = dtype_with_number(x, self.exponent);
        if dtype.is_integral() && self.exponent.as_i64() < 0 {
            return Err(Error::dtype(
                "pow",
                format!(
                    "Integers to negative integer powers are not allowed: {} to the power {:?}",
                    x.name(),
                    self.exponent
                ),
            ));
        }
        check_number(Self::NAME, self.exponent, dtype)?;
        Ok(dtype)
    }
    const DTYPES: Dtypes = Dtypes::ALL;
    fn kernel(&self, pass: Pass) -> Result<()> {
        if pass.dtype().is_complex() {
            let exponent = C::constant(self.exponent.into());
            return match (exponent.re, exponent.im) {
                (1.0, 0.0) => pass.copy(),
                (2.0, 0.0) => pass.complex(&Squared),
                (3.0, 0.0) => pass.complex(&Cubed),
                (-1.0, 0.0) => pass.complex(&Inverse),
                (-2.0, 0.0) => pass.complex(&InverseSquare),
                _ => pass.in_complex(&|z| complex_power(z, exponent)),
            };
        }
        if pass.dtype() == DType::Bool {
            // Only a bool leaves the dtype as it is: x^True = x, x^False = True.
            let all_true = Tensor::full(&[], Scalar::Bool(true), DType::Bool)?;
            return if self.exponent.is_zero() { pass.write(&all_true) } else { pass.copy() };
        }
        let e = self.exponent.as_f64();
        match e {
            1.0 => pass.copy(),
            2.0 => pass.numeric(&Squared),
            3.0 => pass.numeric(&Cubed),
            0.5 => pass.floats(&Root),
            -0.5 => pass.floats(&InverseRoot),
            -1.0 => pass.floats(&Inverse),
            -2.0 => pass.floats(&InverseSquare),
            _ if pass.dtype() == DType::Float64 => pass.blocks(&|[x], out| special::power_of(e, x, out)),
            _ if pass.dtype().is_floating() => {
                let e = f64::from(e as f32);
                pass.blocks(&|[x], out| special::single_power_of(e, x, out))
            }
            _ => pass.integers(&PowerOf(self.exponent.into())),
        }
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        let less = match self.exponent {
            e if e.is_zero() => return zeros_of(g),
            Scalar::Bool(_) => Scalar::Int(0),
            Scalar::Int(i) => Scalar::Int(i.saturating_sub(1)),
            Scalar::UInt(i) => Scalar::Float(i as f64 - 1.0),
            Scalar::Float(f) => Scalar::Float(f - 1.0),
            Scalar::Complex(re, im) => Scalar::Complex(re - 1.0, im),
        };
        g.mul(&x.power(less)?.times(self.exponent)?)
    }
    fn fused(&self, g: &Tensor, x: &Tensor) -> Option<Result<Tensor>> {
        // Not on record: there `x` has to stay part of what is differentiated again, also where the derivative is flat.
        match self.exponent {
            Scalar::Bool(true) | Scalar::Int(1) => Some(Ok(g.clone())),
            Scalar::Int(2) | Scalar::Float(2.0) => Some(x.times(2.0).and_then(|derivative| g.mul(&derivative))),
            _ => None,
        }
    }
    const PARAMS: Params<Map<Self>> = params!(op; exponent: op.0.exponent);
}

/// `g e x^(e-1)`, zero where `e = 0`.
fn by_base(g: &Tensor, x: &Tensor, e: &Tensor) -> Result<Tensor> {
    let (zero, one) = (Tensor::number(Scalar::Int(0))?, Tensor::number(Scalar::Int(1))?);
    let flat = e.eq(&zero)?;
    // With 1 in place of such an `e`: the derivative is finite, and the rule is differentiated in turn.
    let derivative = e.mul(&x.pow(&where_(&flat, &one, e)?.plus(-1i64)?)?)?;
    g.masked_fill(&flat, &zero)?.mul(&derivative)
}

/// `g y log x`, zero where `x = 0` and `e >= 0`.
fn by_exponent(g: &Tensor, x: &Tensor, e: &Tensor, y: &Tensor) -> Result<Tensor> {
    let zero = Tensor::number(Scalar::Int(0))?;
    let not_negative = match e.dtype().is_complex() {
        true => real_part(e)?.ge(&zero)?.logical_and(&imag_part(e)?.eq(&zero)?)?,
        false => e.ge(&zero)?,
    };
    let still = x.eq(&zero)?.logical_and(&not_negative)?;
    // In the result's dtype: a negative real number has a complex logarithm there.
    let x = &memory::cast(x, if y.dtype().is_complex() { y.dtype() } else { x.dtype() })?;
    // With 1 in place of such an `x`, whose logarithm is 0 and finite: the rule is differentiated in turn.
    g.mul(&y.mul(&where_(&still, &Tensor::number(Scalar::Int(1))?, x)?.log()?)?)
}

/// `pow` of two tensors.
#[derive(Clone, Debug)]
struct Pow;

impl Binary for Pow {
    const NAME: &'static str = "pow";
    const NODE: &'static str = "PowBackward1";
    const SAVE: &'static [Save] =
        &[Save::input(0, "self"), Save::input(1, "exponent"), Save::output(0, "result").when(1)];
    type Class = NotBool;
    type Kernel = Power;
    fn kernel(&self) -> Power {
        Power
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (x, e) = (cx.saved(0)?, cx.saved(1)?);
        let mut grads = maybe(cx.when(0, || by_base(cx.g(), x, e))?);
        grads.push(cx.when(1, || by_exponent(cx.g(), x, e, cx.saved(2)?))?);
        Ok(grads)
    }
    const JVP: Tangents<Zip<Self>> = Tangents::Rule(|_, cx| {
        let (x, e) = (cx.xs[0], cx.xs[1]);
        let a = cx.t(0).map(|t| by_base(t, x, e)).transpose()?;
        let b = cx.t(1).map(|t| by_exponent(t, x, e, &cx.outs[0])).transpose()?;
        Jvp::sum([a, b]).map(maybe)
    });
}

/// `pow` with a number as base; its one operand is the exponent.
#[derive(Clone, Debug)]
struct PowOfNumber {
    base: Scalar,
}

impl Primitive for PowOfNumber {
    const NAME: &'static str = "pow";
    const NODE: &'static str = "PowBackward2";
    const SAVE: &'static [Save] = &[Save::input(0, "exponent"), Save::output(0, "result")];
    const PARAMS: Params<Self> = params!(op; self: op.base);
    const DTYPES: Dtypes = NotBool::DTYPES;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(result_type(&[&Tensor::number(self.base)?, xs[0]]))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let dtype = self.computes_in(xs)?;
        if dtype.is_complex() && is_one(self.base) {
            // Whatever the exponent, as of real numbers.
            let ones = xs[0].empty_elementwise(dtype)?;
            copy::copy_into(&Tensor::number(self.base)?, &ones)?;
            return Ok(out(ones));
        }
        Zip(Pow).forward(&[&Tensor::number(self.base)?, xs[0]])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        by_exponent(cx.g(), &self.base_like(cx.saved(1)?)?, cx.saved(0)?, cx.saved(1)?).map(one)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let base = op.base_like(&cx.outs[0])?;
        Ok(maybe(cx.t(0).map(|t| by_exponent(t, &base, cx.xs[0], &cx.outs[0])).transpose()?))
    });
}

impl PowOfNumber {
    /// The base in the result's dtype, so that its logarithm has that precision.
    fn base_like(&self, result: &Tensor) -> Result<Tensor> {
        Tensor::full(&[], self.base, result.dtype())
    }
}

/// `input` to the power `exponent`, elementwise with broadcasting and promotion.
///
/// Args: `input`, `exponent` tensors of any dtype but bool with broadcastable shapes; one of them may be a number.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g * exponent * input**(exponent - 1)`,
/// zero where the exponent is 0, and `g * result * log(input)`, zero where the base is 0 and the exponent not negative.
/// Raises: RuntimeError if the shapes do not broadcast, or for integers to a negative integer number.
///
/// >>> rg.pow(rg.tensor([1.0, 2.0, 3.0]), 2).tolist()
/// [1.0, 4.0, 9.0]
/// >>> rg.pow(2, rg.tensor([1.0, 2.0, 3.0])).tolist()
/// [2.0, 4.0, 8.0]
#[op(function, method, inplace, out)]
pub fn pow(#[operand] input: &Tensor, #[operand] exponent: &Tensor) -> Result<Tensor> {
    refuse_numbers("pow", input, exponent)?;
    match (input.is_number(), exponent.is_number()) {
        (_, true) => apply_as(form, Map(PowNumber { exponent: exponent.item()? }), &[input]),
        (true, false) if !form.is_in_place() => apply1(PowOfNumber { base: input.item()? }, &[exponent]),
        _ => apply_as(form, Zip(Pow), &[input, exponent]),
    }
}

/// The square of each element: `pow(input, 2)`.
///
/// Args: `input` any dtype; bool becomes int64. Returns: same shape. Derivative: `2 * g * input`.
///
/// >>> rg.square(rg.tensor([1.0, -3.0])).tolist()
/// [1.0, 9.0]
#[op(function, method, inplace, out)]
pub fn square(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(PowNumber { exponent: Scalar::Int(2) }), &[input])
}

impl Tensor {
    /// The power with a number as exponent.
    pub fn power(&self, exponent: impl Into<Scalar>) -> Result<Tensor> {
        apply1(Map(PowNumber { exponent: exponent.into() }), &[self])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    fn positive(seed: u64, sizes: &[usize]) -> Tensor {
        noise(seed, sizes).plus(2.0).unwrap()
    }

    #[test]
    fn derivatives() {
        for shapes in [[&[3, 4][..], &[3, 4][..]], [&[3, 1], &[4]], [&[], &[2, 3]], [&[0, 3], &[1, 3]], [&[17], &[17]]]
        {
            let xs = [positive(1, shapes[0]), noise(2, shapes[1])];
            gradcheck(&|x| x[0].pow(&x[1]), &xs);
            for e in [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 4.0] {
                gradcheck(&|x| x[0].power(e), &xs[..1]);
            }
            for e in [-3i64, 0, 1, 2, 5] {
                gradcheck(&|x| x[0].power(e), &xs[..1]);
            }
            gradcheck(&|x| pow(&Tensor::number(Scalar::Float(2.5))?, &x[0]), &xs[1..]);
            gradcheck(&|x| x[0].square(), &xs[1..]);
        }
    }

    #[test]
    fn integers() {
        let x = Tensor::from_slice(&[2i64, -1, 1, 0, -3], &[5]).unwrap();
        let e = Tensor::from_slice(&[-1i64, -3, -2, 0, 3], &[5]).unwrap();
        assert_eq!(x.pow(&e).unwrap().to_vec::<i64>().unwrap(), [0, -1, 1, 1, -27]);
        let u = Tensor::from_slice(&[255u8, 3], &[2]).unwrap();
        assert_eq!(u.power(5i64).unwrap().to_vec::<u8>().unwrap(), [255, 243]);
        assert!(
            x.power(-1i64).unwrap_err().to_string().contains("Integers to negative integer powers are not allowed")
        );
        assert_eq!(x.power(0.5).unwrap().dtype(), DType::Float32);
        let t = Tensor::from_slice(&[true, false], &[2]).unwrap();
        assert_eq!(t.square().unwrap().to_vec::<i64>().unwrap(), [1, 0]);
        assert_eq!(t.square().unwrap().dtype(), DType::Int64);
    }

    #[test]
    fn gradients_at_zero() {
        let zero = Tensor::from_slice(&[0.0], &[1]).unwrap();
        let g = Tensor::from_slice(&[1.0], &[1]).unwrap();
        assert_eq!(by_base(&g, &zero, &zero).unwrap().to_vec::<f64>().unwrap(), [0.0]);
        assert_eq!(by_exponent(&g, &zero, &zero, &g).unwrap().to_vec::<f64>().unwrap(), [0.0]);
        let minus = Tensor::from_slice(&[-1.0], &[1]).unwrap();
        let inf = zero.pow(&minus).unwrap();
        assert_eq!(by_exponent(&g, &zero, &minus, &inf).unwrap().to_vec::<f64>().unwrap(), [f64::NEG_INFINITY]);
    }
}
