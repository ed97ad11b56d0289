//! What division leaves: `remainder` with the sign of the divisor, `fmod` with that of the dividend.

use std::fmt::Debug;
use std::marker::PhantomData;

use retrograd_macros::op;
use smallvec::smallvec;

use super::division::{div_rounded, no_derivative, refuse_zeros};
use super::promote::{At, Ints, Lanes, Numeric2, OutType, Reals, result_type};
use super::refuse_numbers;
use super::unary::{body, elementary};
use super::zip::{Binary, Zip};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{Batch, Outs, Primitive, Save, Tangents, Vjp, maybe};
use crate::error::Result;
use crate::kernels::math;
use crate::kernels::real::Arithmetic;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// A kernel with a scalar body for integers and one in vectors for floats.
#[derive(Clone, Debug, Default)]
pub(super) struct FloatsInVectors<K>(pub K);

impl<K: Numeric2<Ints> + Numeric2<Lanes>> Numeric2<Reals> for FloatsInVectors<K> {
    unsafe fn run(&self, a: &Tensor, b: &Tensor, out: &Tensor) {
        // SAFETY: those of callers; results have the dtype of the operands.
        unsafe {
            if out.dtype().is_integral() {
                Numeric2::<Ints>::run(&self.0, a, b, out);
            } else {
                Numeric2::<Lanes>::run(&self.0, a, b, out);
            }
        }
    }
    unsafe fn run_flat_at(&self, dtype: DType, a: At, b: At, out: *mut u8, n: usize) -> bool {
        // SAFETY: as in `run`.
        unsafe {
            if dtype.is_integral() {
                Numeric2::<Ints>::run_flat_at(&self.0, dtype, a, b, out, n)
            } else {
                Numeric2::<Lanes>::run_flat_at(&self.0, dtype, a, b, out, n)
            }
        }
    }
    unsafe fn run_few(&self, x: &Tensor, number: Scalar, number_first: bool, out: &Tensor) -> Result<()> {
        // SAFETY: as in `run`.
        unsafe {
            if out.dtype().is_integral() {
                Numeric2::<Ints>::run_few(&self.0, x, number, number_first, out)
            } else {
                Numeric2::<Lanes>::run_few(&self.0, x, number, number_first, out)
            }
        }
    }
}

/// Which multiple of the divisor is taken away.
pub(crate) trait Modulus:
    Debug + Clone + Default + Numeric2<Ints> + Numeric2<Lanes> + Send + Sync + 'static
{
    const NAME: &'static str;
    /// Nodes for a number and for a tensor as divisor.
    const NODES: [&'static str; 2];
    /// How the quotient is rounded, as an argument of `div`.
    const ROUNDING: &'static str;
}

/// `remainder`: the quotient is rounded down.
#[derive(Clone, Copy, Debug, Default)]
struct Floored;
body!(Floored, Arithmetic, |a, b| a.floor_rem(b));
elementary!(Floored, |a, b| math::remainder(a, b));
impl Modulus for Floored {
    const NAME: &'static str = "remainder";
    const NODES: [&'static str; 2] = ["RemainderBackward0", "RemainderBackward1"];
    const ROUNDING: &'static str = "floor";
}

/// `fmod`: the quotient is rounded towards zero.
#[derive(Clone, Copy, Debug, Default)]
struct Truncated;
body!(Truncated, Arithmetic, |a, b| a.trunc_rem(b));
elementary!(Truncated, |a, b| math::fmod(a, b));
impl Modulus for Truncated {
    const NAME: &'static str = "fmod";
    const NODES: [&'static str; 2] = ["FmodBackward0", "FmodBackward1"];
    const ROUNDING: &'static str = "trunc";
}

/// `a - b * round(a / b)`. Reverse: `ga = g`, `gb = -g round(a / b)`. A `NUMBER` as divisor keeps nothing.
#[derive(Clone, Debug, Default)]
struct Rest<M, const NUMBER: bool>(PhantomData<M>);

impl<M: Modulus, const NUMBER: bool> Binary for Rest<M, NUMBER> {
    const NAME: &'static str = M::NAME;
    const NODE: &'static str = M::NODES[!NUMBER as usize];
    const SAVE: &'static [Save] =
        if NUMBER { &[] } else { &[Save::input(1, "other").when(1), Save::input(0, "self").when(1)] };
    type Class = Reals;
    type Kernel = FloatsInVectors<M>;
    fn kernel(&self) -> Self::Kernel {
        FloatsInVectors::default()
    }
    fn check(&self, xs: &[&Tensor]) -> Result<()> {
        refuse_zeros(M::NAME, xs)
    }
    fn inputs(&self) -> u32 {
        if NUMBER { 0b01 } else { 0b11 }
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let multiple = || div_rounded(cx.saved(1)?, cx.saved(0)?, Some(M::ROUNDING));
        Ok(smallvec![cx.needs(0).then(|| cx.g().clone()), cx.when(1, || cx.g().neg()?.mul(&multiple()?))?,])
    }
    const JVP: Tangents<Zip<Self>> = Tangents::Rule(|_, cx| {
        let by_divisor = |t: &Tensor| t.mul(&div_rounded(cx.xs[0], cx.xs[1], Some(M::ROUNDING))?);
        Ok(maybe(match (cx.t(0), cx.t(1).map(by_divisor).transpose()?) {
            (Some(a), Some(b)) => Some(a.sub(&b)?),
            (None, Some(b)) => Some(b.neg()?),
            (a, None) => a.cloned(),
        }))
    });
}

/// `remainder` of a number by a tensor: without a derivative.
#[derive(Clone, Debug)]
struct OfNumber;

impl Primitive for OfNumber {
    const NAME: &'static str = "remainder";
    const NODE: &'static str = "NotImplemented";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Reals::DTYPES;
    const BATCH: Batch<Self> = Batch::Pointwise;
    fn computes_in(&self, xs: &[&Tensor]) -> Result<DType> {
        Ok(result_type(xs))
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        Zip(Rest::<Floored, false>::default()).forward(xs)
    }
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        no_derivative(Self::NAME, "make the number a 0-dim tensor, whose derivative is known")
    }
    const JVP: Tangents<Self> =
        Tangents::Rule(|_, _| no_derivative(Self::NAME, "make the number a 0-dim tensor, whose derivative is known"));
}

/// What is left of `input` when multiples of `other` are taken away, with the sign of `other`. The operator `%`.
///
/// Args: `input`, `other` tensors of any real dtype but bool with broadcastable shapes; one of them may be a number.
/// Returns: a tensor of the broadcast shape and promoted dtype; NaN for floats divided by zero.
/// Derivative: `g` and `-g * floor(input / other)`; none if `input` is a number, as in torch.
/// Raises: RuntimeError if the shapes do not broadcast, or integers are divided by zero.
///
/// >>> rg.remainder(rg.tensor([7, -7]), 3).tolist()
/// [1, 2]
#[op(function, method, inplace, out)]
pub fn remainder(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    refuse_numbers("remainder", input, other)?;
    match (input.is_number(), other.is_number()) {
        (true, _) if !form.is_in_place() => apply1(OfNumber, &[input, other]),
        (_, true) => apply_as(form, Zip(Rest::<Floored, true>::default()), &[input, other]),
        _ => apply_as(form, Zip(Rest::<Floored, false>::default()), &[input, other]),
    }
}

/// What is left of `input` when multiples of `other` are taken away, with the sign of `input`.
///
/// Args: `input` a tensor of any real dtype but bool; `other` one with a broadcastable shape, or a number.
/// Returns: a tensor of the broadcast shape and promoted dtype; NaN for floats divided by zero.
/// Derivative: `g` and `-g * trunc(input / other)`.
/// Raises: RuntimeError if the shapes do not broadcast, or integers are divided by zero.
///
/// >>> rg.fmod(rg.tensor([7, -7]), 3).tolist()
/// [1, -1]
#[op(function, method, inplace, out)]
pub fn fmod(input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    if other.is_number() {
        return apply_as(form, Zip(Rest::<Truncated, true>::default()), &[input, other]);
    }
    apply_as(form, Zip(Rest::<Truncated, false>::default()), &[input, other])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for shapes in [[&[3, 4][..], &[3, 4][..]], [&[3, 1], &[4]], [&[], &[2, 3]], [&[0, 3], &[1, 3]], [&[17], &[17]]]
        {
            // Quotients between 1/3 and 1/2, and others: no multiple of the divisor is near.
            let xs =
                [noise(1, shapes[0]).times(0.1).unwrap().plus(-5.3).unwrap(), noise(2, shapes[1]).plus(2.0).unwrap()];
            let apart = |x: &[Tensor]| Ok::<_, crate::Error>([x[0].clone(), x[1].times(0.05)?.plus(2.0)?]);
            gradcheck(
                &|x| {
                    let [a, b] = apart(x)?;
                    a.remainder(&b)
                },
                &xs,
            );
            gradcheck(
                &|x| {
                    let [a, b] = apart(x)?;
                    a.fmod(&b)
                },
                &xs,
            );
            let three = Tensor::number(Scalar::Float(3.7)).unwrap();
            gradcheck(&|x| x[0].remainder(&three), &xs[..1]);
        }
    }

    #[test]
    fn signs_and_zeros() {
        let inf = f64::INFINITY;
        let a = Tensor::from_slice(&[7.0, -7.0, 7.0, 1.0, -1.0, -0.0, 1.0, inf], &[8]).unwrap();
        let b = Tensor::from_slice(&[3.0, 3.0, -3.0, -inf, inf, 2.0, 0.0, 2.0], &[8]).unwrap();
        let r = a.remainder(&b).unwrap().to_vec::<f64>().unwrap();
        assert_eq!(r[..6], [1.0, 2.0, -2.0, -inf, inf, -0.0]);
        assert!(r[5].is_sign_negative() && r[6].is_nan() && r[7].is_nan());
        let f = a.fmod(&b).unwrap().to_vec::<f64>().unwrap();
        assert_eq!(f[..6], [1.0, -1.0, 1.0, 1.0, -1.0, -0.0]);
        let i = Tensor::from_slice(&[i8::MIN, -7, 7], &[3]).unwrap();
        let minus = Tensor::from_slice(&[-1i8, 3, -3], &[3]).unwrap();
        assert_eq!(i.remainder(&minus).unwrap().to_vec::<i8>().unwrap(), [0, 2, -2]);
        assert_eq!(i.fmod(&minus).unwrap().to_vec::<i8>().unwrap(), [0, -1, 1]);
        let zero = Tensor::number(Scalar::Int(0)).unwrap();
        assert!(i.remainder(&zero).unwrap_err().to_string().contains("ZeroDivisionError"));
        assert!(remainder(&zero, &zero).is_err());
        let t = Tensor::full(&[1], true.into(), DType::Bool).unwrap();
        assert!(t.fmod(&t).unwrap_err().to_string().contains("\"fmod\" not implemented for 'Bool'"));
    }
}
