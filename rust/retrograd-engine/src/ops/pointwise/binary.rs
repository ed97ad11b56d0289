//! Binary functions that share what an op is made of, and their derivatives.

use std::f64::consts::{LN_2, LOG2_E};

use retrograd_macros::op;

use super::promote::{Doubles, Numeric2, result_type};
use super::scalar_loop::{run_blocks, run_in_complex, run_lanes};
use super::select::{MinMax, number};
use super::unary::{elementary, with_complex};
use super::zip::{Binary, Zip};
use super::{refuse_complex, refuse_numbers, zeros_of};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{Halves, Jvp, Save, Source, Tangents, Vjp, maybe};
use crate::error::{Error, Result};
use crate::kernels::complex::{self, C};
use crate::kernels::math;
use crate::kernels::real::Ring as _;
use crate::kernels::simd::Vector;
use crate::kernels::special as scalar;
use crate::ops::{Entry, Form, memory};
use crate::tensor::{DType, Dtypes, Tensor, default_dtype};

/// Entries of this family.
pub static ROSTER: &[&Entry] =
    &[&ATAN2, &HYPOT, &COPYSIGN, &LDEXP, &LOGADDEXP, &LOGADDEXP2, &FMAX, &FMIN, &XLOGY, &XLOG1PY, &FLOAT_POWER];

/// `g` times a derivative, written in what is saved.
pub(super) type BinaryVjp = fn(&Tensor, &[&Tensor]) -> Result<Tensor>;

/// A binary function and its derivatives.
#[derive(Debug)]
pub(super) struct BinaryFunction {
    pub name: &'static str,
    pub node: &'static str,
    /// The node's name where the second, or the first, operand is a number, if that is another one.
    pub with_numbers: [Option<&'static str>; 2],
    /// Of operands in the dtype of the output, float32 or float64.
    pub kernel: fn([&Tensor; 2], &Tensor),
    /// Of complex numbers, where the op is there for them.
    pub of_complex: Option<fn(C, C) -> C>,
    /// Integers become floats; otherwise they are refused.
    pub integers: bool,
    /// It takes halves, as torch's does.
    pub halves: bool,
    /// By the first and the second operand, in terms of what [`BinaryLoop`] saves, in that order.
    pub vjps: [BinaryVjp; 2],
}

/// Runs a [`BinaryFunction`]. Saved: `0`, the operands; `1`, the operands and the result; `2`, the first operand and
/// the result; `3`, the second one and the result.
#[derive(Clone, Debug)]
struct BinaryLoop<const SAVED: u8> {
    function: &'static BinaryFunction,
    /// Which operand is a number, if that makes another node.
    number: Option<usize>,
}

/// The kernel of a function, of real or of complex numbers.
struct Loop(&'static BinaryFunction);

impl Numeric2<Doubles> for Loop {
    unsafe fn run(&self, a: &Tensor, b: &Tensor, out: &Tensor) {
        match self.0.of_complex {
            Some(f) if out.dtype().is_complex() => run_in_complex([a, b], out, &|[a, b]| f(a, b)),
            _ => (self.0.kernel)([a, b], out),
        }
    }
}

const A: Save = Save::input(0, "self");
const B: Save = Save::input(1, "other");
const RESULT: Save = Save::output(0, "result");

impl<const SAVED: u8> Binary for BinaryLoop<SAVED> {
    const NAME: &'static str = "pointwise";
    const SAVE: &'static [Save] = match SAVED {
        0 => &[A, B],
        1 => &[A, B, RESULT],
        2 => &[A, RESULT],
        _ => &[B, RESULT],
    };
    type Class = Doubles;
    type Kernel = Loop;
    fn kernel(&self) -> Loop {
        Loop(self.function)
    }
    const HALVES: Halves = Halves::LoopsAlone;
    fn dtypes(&self) -> Dtypes {
        let reals = if self.function.halves { Dtypes::FLOATS.or(Dtypes::HALVES) } else { Dtypes::FLOATS };
        with_complex(reals, self.function.of_complex)
    }
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        let dtype = result_type(xs);
        Ok(if self.function.integers && dtype.is_integral() { default_dtype() } else { dtype })
    }
    fn name(&self) -> &'static str {
        self.function.name
    }
    fn node(&self) -> &'static str {
        self.number.and_then(|i| self.function.with_numbers[1 - i]).unwrap_or(self.function.node)
    }
    fn inputs(&self) -> u32 {
        self.number.map_or(0b11, |i| 0b11 & !(1 << i))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let saved = (0..Self::SAVE.len()).map(|i| cx.saved(i)).collect::<Result<Vec<_>>>()?;
        let mut grads = maybe(cx.when(0, || self.function.vjps[0](cx.g(), &saved))?);
        grads.push(cx.when(1, || self.function.vjps[1](cx.g(), &saved))?);
        Ok(grads)
    }
    const JVP: Tangents<Zip<Self>> = Tangents::Rule(|op, cx| {
        let value = |keep: &Save| match keep.source {
            Source::Input(i) => cx.xs[i],
            Source::Output(i) => &cx.outs[i],
        };
        let saved: Vec<&Tensor> = Self::SAVE.iter().map(value).collect();
        let part = |i: usize| cx.t(i).map(|t| op.0.function.vjps[i](t, &saved)).transpose();
        Jvp::sum([part(0)?, part(1)?]).map(maybe)
    });
}

/// The op in the form asked for.
pub(super) fn run<const SAVED: u8>(
    form: Form,
    function: &'static BinaryFunction,
    a: &Tensor,
    b: &Tensor,
) -> Result<Tensor> {
    let is_number = [a.is_number(), b.is_number()];
    let number = (0..2).find(|&i| is_number[i] && function.with_numbers[1 - i].is_some());
    apply_as(form, Zip(BinaryLoop::<SAVED> { function, number }), &[a, b])
}

/// `g x / (a^2 + b^2)`, 0 at the origin.
fn around(g: &Tensor, x: &Tensor, saved: &[&Tensor]) -> Result<Tensor> {
    let (square, zero) = (saved[0].square()?.add(&saved[1].square()?)?, number(0.0)?);
    g.mul(x)?.mul(&square.reciprocal()?.masked_fill(&square.eq(&zero)?, &zero)?)
}

/// The angle of a point.
pub(super) struct Atan2;
elementary!(Atan2, |y, x| math::atan2(y, x));
struct Hypot;
elementary!(Hypot, |a, b| math::hypot(a, b));
struct Copysign;
elementary!(Copysign, const LIGHT = true; |a, b| a.abs().with_sign_of(b));
/// The other number where one is NaN.
struct Fmax;
elementary!(Fmax, const LIGHT = true; |a, b| a.at_least(b).select(a.eq(a), b));
/// As [`Fmax`].
struct Fmin;
elementary!(Fmin, const LIGHT = true; |a, b| a.at_most(b).select(a.eq(a), b));
/// `log(exp(a) + exp(b))`.
pub(in crate::ops) struct LogAddExp;
elementary!(LogAddExp, |a, b| {
    let (most, distance) = larger(a, b);
    most + math::log1p(math::exp(-distance))
});
struct LogAddExp2;
elementary!(LogAddExp2, |a, b| {
    let (most, distance) = larger(a, b);
    math::log1p(math::exp2(-distance)).fma(a.of(LOG2_E), most)
});

/// The larger number, and the distance to the other one; 0 of equal numbers, infinite ones too.
#[inline(always)]
fn larger<V: Vector>(a: V, b: V) -> (V, V) {
    (a.at_least(b), a.of(0.0).select(a.eq(b), (a - b).abs()))
}

/// The angle in radians, between -pi and pi, of the point whose second coordinate is `input` and whose first is
/// `other`.
///
/// Args: `input`, `other` tensors of any real dtype with broadcastable shapes; integers are converted to the default
/// float dtype. Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g * other / (input**2 +
/// other**2)` and `-g * input / (input**2 + other**2)`, 0 at the origin. Raises: RuntimeError if the shapes do not
/// broadcast.
///
/// >>> rg.atan2(rg.tensor([0.0]), rg.tensor([1.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out, aliases("arctan2"))]
pub fn atan2(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "atan2",
        node: "Atan2Backward0",
        with_numbers: [None; 2],
        kernel: |xs, out| run_lanes(xs, out, &Atan2),
        of_complex: None,
        integers: true,
        halves: true,
        vjps: [|g, saved| around(g, saved[1], saved), |g, saved| around(g, &saved[0].neg()?, saved)],
    };
    run::<0>(form, FUNCTION, input, other)
}

/// The length of the hypotenuse, `sqrt(input**2 + other**2)`, without overflow.
///
/// Args: `input`, `other` real tensors of which one at least has a floating dtype, with broadcastable shapes. Returns:
/// a tensor of the broadcast shape and promoted dtype. Derivative: `g * input / result` and `g * other / result`, NaN
/// at the origin.
/// Raises: RuntimeError if the shapes do not broadcast; NotImplementedError for integers.
///
/// >>> rg.hypot(rg.tensor([3.0]), rg.tensor([4.0])).tolist()
/// [5.0]
#[op(function, method, inplace, out)]
pub fn hypot(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "hypot",
        node: "HypotBackward0",
        with_numbers: [None; 2],
        kernel: |xs, out| run_lanes(xs, out, &Hypot),
        of_complex: None,
        integers: false,
        halves: true,
        vjps: [|g, saved| g.mul(&saved[0].div(saved[2])?), |g, saved| g.mul(&saved[1].div(saved[2])?)],
    };
    run::<1>(form, FUNCTION, input, other)
}

/// The magnitude of `input` with the sign of `other`, elementwise; zeros and NaN have signs too.
///
/// Args: `input` a tensor of any real dtype, `other` a tensor or a number, with broadcastable shapes; integers are
/// converted to the default float dtype. Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g`
/// where the sign stayed, `-g` where it changed, 0 where `input` is 0; 0 for `other`. Raises: RuntimeError if the
/// shapes do not broadcast.
///
/// >>> rg.copysign(rg.tensor([1.0, -2.0]), -0.0).tolist()
/// [-1.0, -2.0]
#[op(function, method, inplace, out)]
pub fn copysign(input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "copysign",
        node: "CopysignBackward0",
        with_numbers: [Some("CopysignBackward1"), None],
        kernel: |xs, out| run_lanes(xs, out, &Copysign),
        of_complex: None,
        integers: true,
        halves: true,
        vjps: [
            |g, saved| {
                let (x, result, zero) = (saved[0], saved[1], number(0.0)?);
                g.mul(&result.div(x)?.masked_fill(&x.eq(&zero)?, &zero)?)
            },
            |g, _| zeros_of(g),
        ],
    };
    run::<2>(form, FUNCTION, input, other)
}

/// `input` times two to the power of `other`, elementwise.
///
/// Args: `input`, `other` tensors of any dtype with broadcastable shapes; integers are converted to the default float
/// dtype. Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g * 2**other` and
/// `g * result * log(2)`. Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.ldexp(rg.tensor([1.5]), rg.tensor([3])).tolist()
/// [12.0]
#[op(function, method, inplace, out)]
pub fn ldexp(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "ldexp",
        node: "LdexpBackward0",
        with_numbers: [None; 2],
        kernel: |xs, out| run_blocks(xs, out, &scalar::times_power_of_two),
        of_complex: Some(|x, e| x.mul(complex::exp2(e))),
        integers: true,
        halves: true,
        vjps: [|g, saved| g.mul(&saved[0].exp2()?), |g, saved| g.mul(&saved[1].times(LN_2)?)],
    };
    run::<3>(form, FUNCTION, input, other)
}

/// `g / (1 + exp(d))`.
fn share(g: &Tensor, d: Result<Tensor>) -> Result<Tensor> {
    g.div(&d?.exp()?.plus(1i64)?)
}

/// `g / (1 + 2^d)`.
fn share2(g: &Tensor, d: Result<Tensor>) -> Result<Tensor> {
    g.div(&d?.exp2()?.plus(1i64)?)
}

/// `log(exp(input) + exp(other))`, elementwise and without overflow.
///
/// Args: `input`, `other` tensors of which one at least has a floating or complex dtype, with broadcastable
/// shapes. Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g / (1 + exp(other - input))` and
/// `g / (1 + exp(input - other))`.
/// Raises: RuntimeError if the shapes do not broadcast; NotImplementedError for integers.
///
/// >>> rg.logaddexp(rg.tensor([1000.0]), rg.tensor([-1000.0])).tolist()
/// [1000.0]
#[op(function, method, out)]
pub fn logaddexp(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "logaddexp",
        node: "LogaddexpBackward0",
        with_numbers: [None; 2],
        kernel: |xs, out| run_lanes(xs, out, &LogAddExp),
        of_complex: Some(complex::log_add_exp),
        integers: false,
        halves: true,
        vjps: [|g, saved| share(g, saved[1].sub(saved[0])), |g, saved| share(g, saved[0].sub(saved[1]))],
    };
    run::<0>(Form::New, FUNCTION, input, other)
}

/// `log2(2**input + 2**other)`, elementwise and without overflow.
///
/// Args: `input`, `other` real tensors of which one at least has a floating dtype, with broadcastable shapes. Returns:
/// a tensor of the broadcast shape and promoted dtype. Derivative: `g / (1 + 2**(other - input))` and `g / (1 +
/// 2**(input - other))`.
/// Raises: RuntimeError if the shapes do not broadcast; NotImplementedError for integers.
///
/// >>> rg.logaddexp2(rg.tensor([2.0]), rg.tensor([2.0])).tolist()
/// [3.0]
#[op(function, method, out)]
pub fn logaddexp2(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "logaddexp2",
        node: "Logaddexp2Backward0",
        with_numbers: [None; 2],
        kernel: |xs, out| run_lanes(xs, out, &LogAddExp2),
        of_complex: None,
        integers: false,
        halves: true,
        vjps: [|g, saved| share2(g, saved[1].sub(saved[0])), |g, saved| share2(g, saved[0].sub(saved[1]))],
    };
    run::<0>(Form::New, FUNCTION, input, other)
}

/// `g` where the first operand was chosen by `fmax`, or by `fmin`; `first` is false for the second operand's part.
fn chosen<const MAX: bool>(g: &Tensor, saved: &[&Tensor], first: bool) -> Result<Tensor> {
    let (a, b) = (saved[0], saved[1]);
    let won = if MAX { a.ge(b)? } else { a.le(b)? };
    let mine = won.logical_or(&b.isnan()?)?;
    let lost = if first { mine.logical_not()? } else { mine };
    g.masked_fill(&lost, &number(0.0)?)
}

/// The larger of two elements; the other one where one is NaN.
///
/// Args: `input`, `other` tensors of any real dtype with broadcastable shapes. Returns: a tensor of the broadcast shape
/// and promoted dtype.
/// Derivative: `g` for the operand that was chosen, `input` where they are equal.
/// Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.fmax(rg.tensor([1.0, float('nan')]), rg.tensor([3.0, 4.0])).tolist()
/// [3.0, 4.0]
#[op(function, method, out)]
pub fn fmax(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "fmax",
        node: "FmaxBackward0",
        with_numbers: [None; 2],
        kernel: |xs, out| run_lanes(xs, out, &Fmax),
        of_complex: None,
        integers: false,
        halves: true,
        vjps: [|g, saved| chosen::<true>(g, saved, true), |g, saved| chosen::<true>(g, saved, false)],
    };
    refuse_complex(&[input, other], || Error::dtype("fmax", "fmax not implemented for complex tensors."))?;
    if result_type(&[input, other]).is_integral() {
        return apply1(Zip(MinMax::<true>), &[input, other]);
    }
    run::<0>(Form::New, FUNCTION, input, other)
}

/// The smaller of two elements; the other one where one is NaN.
///
/// Args: `input`, `other` tensors of any real dtype with broadcastable shapes. Returns: a tensor of the broadcast shape
/// and promoted dtype.
/// Derivative: `g` for the operand that was chosen, `input` where they are equal.
/// Raises: RuntimeError if the shapes do not broadcast.
///
/// >>> rg.fmin(rg.tensor([1.0, float('nan')]), rg.tensor([3.0, 4.0])).tolist()
/// [1.0, 4.0]
#[op(function, method, out)]
pub fn fmin(input: &Tensor, other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "fmin",
        node: "FminBackward0",
        with_numbers: [None; 2],
        kernel: |xs, out| run_lanes(xs, out, &Fmin),
        of_complex: None,
        integers: false,
        halves: true,
        vjps: [|g, saved| chosen::<false>(g, saved, true), |g, saved| chosen::<false>(g, saved, false)],
    };
    refuse_complex(&[input, other], || Error::dtype("fmin", "fmin not implemented for complex tensors."))?;
    if result_type(&[input, other]).is_integral() {
        return apply1(Zip(MinMax::<false>), &[input, other]);
    }
    run::<0>(Form::New, FUNCTION, input, other)
}

/// `g log(y)`, which `log` computes, 0 where `g = 0` or where `a = 0` and `b <= least`.
fn by_factor(g: &Tensor, saved: &[&Tensor], log: fn(&Tensor, &Tensor) -> Result<Tensor>, least: f64) -> Result<Tensor> {
    let zero = number(0.0)?;
    let flat = saved[0].eq(&zero)?.logical_and(&saved[1].le(&number(least)?)?)?;
    log(&g.masked_fill(&flat, &zero)?, saved[1])
}

/// `input * log(other)`, elementwise; 0 where `input` is 0, unless `other` is NaN.
///
/// Args: `input`, `other` tensors of any real dtype with broadcastable shapes, one may be a number; integers are
/// converted to the default float dtype. Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g *
/// log(other)`, 0 where `input` is 0 and `other` not positive, and `g * input / other`. Raises: RuntimeError if the
/// shapes do not broadcast.
///
/// >>> rg.xlogy(rg.tensor([0.0, 2.0]), rg.tensor([0.0, 1.0])).tolist()
/// [0.0, 0.0]
#[op(function, method, inplace, out)]
pub fn xlogy(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "xlogy",
        node: "XlogyBackward0",
        with_numbers: [Some("XlogyBackward2"), Some("XlogyBackward1")],
        kernel: |xs, out| run_blocks(xs, out, &scalar::x_log_y),
        of_complex: None,
        integers: true,
        halves: true,
        vjps: [|g, saved| by_factor(g, saved, xlogy, 0.0), |g, saved| g.mul(saved[0])?.div(saved[1])],
    };
    refuse_numbers("xlogy", input, other)?;
    run::<0>(form, FUNCTION, input, other)
}

/// `input * log1p(other)`, elementwise; 0 where `input` is 0, unless `other` is NaN.
///
/// Args: `input`, `other` tensors of any real dtype with broadcastable shapes, one may be a number; integers are
/// converted to the default float dtype. Returns: a tensor of the broadcast shape and promoted dtype. Derivative: `g *
/// log1p(other)`, 0 where `input` is 0 and `other` not above -1, and `g * input / (other + 1)`. Raises: RuntimeError if
/// the shapes do not broadcast.
///
/// >>> rg.special.xlog1py(rg.tensor([0.0, 2.0]), rg.tensor([-1.0, 0.0])).tolist()
/// [0.0, 0.0]
#[op(function, out, norust, module = "special")]
pub fn xlog1py(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    const FUNCTION: &BinaryFunction = &BinaryFunction {
        name: "xlog1py",
        node: "SpecialXlog1PyBackward0",
        with_numbers: [Some("SpecialXlog1PyBackward2"), Some("SpecialXlog1PyBackward1")],
        kernel: |xs, out| run_blocks(xs, out, &scalar::x_log1p_y),
        of_complex: None,
        integers: true,
        halves: true,
        vjps: [|g, saved| by_factor(g, saved, xlog1py, -1.0), |g, saved| g.mul(saved[0])?.div(&saved[1].plus(1i64)?)],
    };
    refuse_numbers("xlog1py", input, other)?;
    run::<0>(Form::New, FUNCTION, input, other)
}

/// `input` to the power `exponent` in double precision, whatever the dtypes.
///
/// Args: `input`, `exponent` tensors of any dtype with broadcastable shapes, one may be a number. Returns: a float64
/// tensor of the broadcast shape, a complex128 one if an operand is complex. Derivative: that of `pow`. Raises:
/// RuntimeError if the shapes do not broadcast, or for the in-place form of a tensor of another dtype than the
/// result's.
///
/// >>> rg.float_power(rg.tensor([2]), -1).tolist()
/// [0.5]
#[op(
    function, method, inplace,
    out = OutDtype::Same(&[
        "the output given to float_power has dtype {Out} but the operation's result requires dtype {Result}",
    ])
)]
pub fn float_power(#[operand] input: &Tensor, #[operand] exponent: &Tensor) -> Result<Tensor> {
    refuse_numbers("float_power", input, exponent)?;
    let is_complex = input.dtype().is_complex() || exponent.dtype().is_complex();
    let dtype = if is_complex { DType::Complex128 } else { DType::Float64 };
    let double = |x: &Tensor| if x.is_number() { Ok(x.clone()) } else { memory::cast(x, dtype) };
    if form.is_in_place() {
        if input.dtype() != dtype {
            return Err(Error::dtype(
                "float_power",
                format!(
                    "the base given to float_power_ has dtype {} but the operation's result requires dtype {}",
                    input.dtype().scalar_type_name(),
                    dtype.scalar_type_name()
                ),
            ));
        }
        return input.pow_(&double(exponent)?);
    }
    double(input)?.pow(&double(exponent)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for shapes in [[&[3, 4][..], &[3, 4][..]], [&[3, 1], &[4]], [&[], &[2, 3]], [&[0, 3], &[1, 3]], [&[17], &[17]]]
        {
            let xs = [noise(1, shapes[0]).plus(2.0).unwrap(), noise(2, shapes[1]).plus(1.5).unwrap()];
            for f in [atan2, hypot, copysign, ldexp, logaddexp, logaddexp2, fmax, fmin, xlogy, xlog1py, float_power] {
                gradcheck(&|x| f(&x[0], &x[1]), &xs);
            }
            let two = Tensor::number(crate::tensor::Scalar::Int(2)).unwrap();
            gradcheck(&|x| xlogy(&x[0], &two), &xs[..1]);
            gradcheck(&|x| xlogy(&two, &x[0]), &xs[..1]);
            gradcheck(&|x| copysign(&x[0], &two.neg()?), &xs[..1]);
        }
    }

    #[test]
    fn integers() {
        let x = Tensor::from_slice(&[2i64, 3], &[2]).unwrap();
        assert_eq!(atan2(&x, &x).unwrap().dtype(), DType::Float32);
        assert_eq!(fmax(&x, &x).unwrap().dtype(), DType::Int64);
        assert!(hypot(&x, &x).is_err() && logaddexp(&x, &x).is_err());
        assert_eq!(float_power(&x, &x).unwrap().to_vec::<f64>().unwrap(), [4.0, 27.0]);
        assert!(x.float_power_(&x).is_err());
    }
}
