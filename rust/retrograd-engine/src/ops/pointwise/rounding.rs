//! Magnitude, sign and rounding.

use retrograd_macros::op;

use super::unary::{Map, Pass, Unary, body};
use super::{complex, refuse_complex, zeros_of};
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::Save;
use crate::error::{Error, Result};
use crate::kernels::pointwise::Map1;
use crate::kernels::real::{Arithmetic, Ordered, Real};
use crate::ops::Entry;
use crate::ops::Form;
use crate::tensor::{DType, Dtypes, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&ABS, &SIGN, &FLOOR, &CEIL, &TRUNC, &ROUND, &ROUND_DECIMALS];

/// What rounding functions, and `abs`, take.
const NOT_BOOL: Dtypes = Dtypes::REALS.or(Dtypes::HALVES);

/// `abs`: reverse `g sign(x)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abs;
body!(Abs, Arithmetic, const LIGHT = true; |x| x.magnitude());
/// `abs` of halves, as their bits.
#[derive(Clone, Copy)]
struct SignCleared;
impl Map1<u16, u16> for SignCleared {
    #[inline(always)]
    fn f(&self, bits: u16) -> u16 {
        bits & 0x7fff
    }
}
impl Unary for Abs {
    const NAME: &'static str = "abs";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    const DTYPES: Dtypes = NOT_BOOL;
    fn kernel(&self, pass: Pass) -> Result<()> {
        if pass.dtype().half().is_some() { pass.bits_of_halves(&SignCleared) } else { pass.numeric(self) }
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.mul(&x.sign()?)
    }
}

/// The absolute value of each element; the least integer wraps to itself.
///
/// Args: `input` any dtype but bool. Returns: same shape; of complex numbers their real magnitudes.
/// Derivative: `g * sign(input)` (`g * input / abs(input)`), 0 at 0.
///
/// >>> rg.abs(rg.tensor([-1.5, 2.0])).tolist()
/// [1.5, 2.0]
#[op(function, method, inplace, out = FOUND, aliases("absolute"))]
pub fn abs(input: &Tensor) -> Result<Tensor> {
    if input.dtype().is_complex() {
        return match form {
            Form::New | Form::Out => complex::magnitude(input),
            Form::InPlace => Err(Error::dtype("abs_", "In-place abs is not supported for complex tensors.")),
        };
    }
    apply_as(form, Map(Abs), &[input])
}

/// `sign`: reverse 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sign;
body!(Sign, Ordered, const WIDE = T::LONG; |x| if x > T::ZERO {
    T::ONE
} else if x < T::ZERO {
    T::ONE.neg()
} else {
    T::ZERO
});
impl Unary for Sign {
    const NAME: &'static str = "sign";
    const SAVE: &'static [Save] = &[];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    const DTYPES: Dtypes = Dtypes::ORDERED;
    fn kernel(&self, pass: Pass) -> Result<()> {
        if pass.dtype() == DType::Bool { pass.copy() } else { pass.numeric(self) }
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        zeros_of(g)
    }
}

/// The sign of each element: -1, 0 or 1; 0 for NaN.
///
/// Args: `input` any real dtype. Returns: same shape. Derivative: 0. Raises: RuntimeError for complex numbers, which
/// `sgn` takes.
///
/// >>> rg.sign(rg.tensor([-1.5, 0.0, 2.0])).tolist()
/// [-1.0, 0.0, 1.0]
#[op(function, method, inplace, out = FOUND)]
pub fn sign(input: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input], || {
        Error::not_implemented(
            "sign: Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
        )
    })?;
    apply_as(form, Map(Sign), &[input])
}

/// The loop of a rounding function: integers are whole already.
fn round_with<K: Map1<f32, f32> + Map1<f64, f64>>(k: &K, pass: Pass) -> Result<()> {
    if pass.dtype().is_integral() { pass.copy() } else { pass.floats(k) }
}

/// `floor`: reverse 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor;
body!(Floor, Real, |x| x.floor());
impl Unary for Floor {
    const NAME: &'static str = "floor";
    const SAVE: &'static [Save] = &[];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    const DTYPES: Dtypes = NOT_BOOL;
    fn kernel(&self, pass: Pass) -> Result<()> {
        round_with(self, pass)
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        zeros_of(g)
    }
}

/// Each element rounded down.
///
/// Args: `input` any real dtype but bool; integers stay as they are. Returns: same shape.
/// Derivative: 0.
///
/// >>> rg.floor(rg.tensor([-1.5, 2.5])).tolist()
/// [-2.0, 2.0]
#[op(function, method, inplace, out = FOUND)]
pub fn floor(input: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input], || Error::not_implemented("floor: floor is not supported for complex inputs"))?;
    apply_as(form, Map(Floor), &[input])
}

/// `ceil`: reverse 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceil;
body!(Ceil, Real, |x| x.ceil());
impl Unary for Ceil {
    const NAME: &'static str = "ceil";
    const SAVE: &'static [Save] = &[];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    const DTYPES: Dtypes = NOT_BOOL;
    fn kernel(&self, pass: Pass) -> Result<()> {
        round_with(self, pass)
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        zeros_of(g)
    }
}

/// Each element rounded up.
///
/// Args: `input` any real dtype but bool; integers stay as they are. Returns: same shape.
/// Derivative: 0.
///
/// >>> rg.ceil(rg.tensor([-1.5, 2.5])).tolist()
/// [-1.0, 3.0]
#[op(function, method, inplace, out = FOUND)]
pub fn ceil(input: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input], || Error::not_implemented("ceil: ceil is not supported for complex inputs"))?;
    apply_as(form, Map(Ceil), &[input])
}

/// `trunc`: reverse 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trunc;
body!(Trunc, Real, |x| x.trunc());
impl Unary for Trunc {
    const NAME: &'static str = "trunc";
    const SAVE: &'static [Save] = &[];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    const DTYPES: Dtypes = NOT_BOOL;
    fn kernel(&self, pass: Pass) -> Result<()> {
        round_with(self, pass)
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        zeros_of(g)
    }
}

/// Each element rounded towards zero.
///
/// Args: `input` any real dtype but bool; integers stay as they are. Returns: same shape.
/// Derivative: 0.
///
/// >>> rg.trunc(rg.tensor([-1.5, 2.5])).tolist()
/// [-1.0, 2.0]
#[op(function, method, inplace, out = FOUND, aliases("fix"))]
pub fn trunc(input: &Tensor) -> Result<Tensor> {
    refuse_complex(&[input], || Error::not_implemented("trunc: trunc is not supported for complex inputs"))?;
    apply_as(form, Map(Trunc), &[input])
}

/// `round`: reverse 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round;
body!(Round, Real, |x| x.round());
impl Unary for Round {
    const NAME: &'static str = "round";
    const SAVE: &'static [Save] = &[];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    const DTYPES: Dtypes = NOT_BOOL;
    fn kernel(&self, pass: Pass) -> Result<()> {
        round_with(self, pass)
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        zeros_of(g)
    }
}

/// Each element rounded to the nearest integer, halves to the even one.
///
/// Args: `input` any real dtype but bool; integers stay as they are. Returns: same shape.
/// Derivative: 0.
///
/// >>> rg.round(rg.tensor([-1.5, 2.5])).tolist()
/// [-2.0, 2.0]
#[op(function, method, inplace, out = FOUND)]
pub fn round(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Round), &[input])
}

/// `round` to decimals: reverse 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTo {
    /// Ten to the power of the number of places, which are left of the point if `cut`.
    ten: f64,
    cut: bool,
}
impl<T: Real> Map1<T, T> for RoundTo {
    #[inline(always)]
    fn f(&self, x: T) -> T {
        let ten = T::of(self.ten);
        if self.cut { x.div(ten).round().mul(ten) } else { x.mul(ten).round().div(ten) }
    }
}
impl Unary for RoundTo {
    const NAME: &'static str = "round";
    const NODE: &'static str = "RoundBackward1";
    const SAVE: &'static [Save] = &[];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.floats(self)
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        zeros_of(g)
    }
}

/// Each element rounded to `decimals` places, halves to the even last digit.
///
/// Args: `input` a floating dtype; `decimals` an integer, negative for places left of the point.
/// Returns: same shape; NaN where ten to the power of `decimals` leaves the dtype. Derivative: 0.
/// Raises: NotImplementedError for integers.
///
/// >>> rg.round(rg.tensor([1234.5]), decimals=-2).tolist()
/// [1200.0]
#[op(function, method, inplace, out = FOUND, name = "round", "(*, decimals)")]
pub fn round_decimals(input: &Tensor, decimals: i64) -> Result<Tensor> {
    let ten = 10f64.powf(decimals.unsigned_abs() as f64);
    apply_as(form, Map(RoundTo { ten, cut: decimals < 0 }), &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = [noise(1, sizes)];
            gradcheck(&|x| x[0].abs(), &x);
            gradcheck(&|x| x[0].sign(), &x);
            gradcheck(&|x| x[0].floor(), &x);
            gradcheck(&|x| x[0].ceil(), &x);
            gradcheck(&|x| x[0].trunc(), &x);
            gradcheck(&|x| x[0].round(), &x);
            gradcheck(&|x| x[0].round_decimals(1), &x);
        }
    }

    #[test]
    fn values() {
        let x = Tensor::from_slice(&[-2.5, -0.5, 0.0, 0.5, 1.5, f64::NAN], &[6]).unwrap();
        let values = |t: Tensor| t.to_vec::<f64>().unwrap()[..5].to_vec();
        assert_eq!(values(x.round().unwrap()), [-2.0, 0.0, 0.0, 0.0, 2.0]);
        let places = |n: i64| {
            let x = Tensor::from_slice(&[1234.5678, -0.05, 1250.0], &[3]).unwrap();
            x.round_decimals(n).unwrap().to_vec::<f64>().unwrap()
        };
        assert_eq!(places(2), [1234.57, -0.05, 1250.0]);
        assert_eq!(places(-2), [1200.0, 0.0, 1200.0]);
        assert!(places(400)[0].is_nan() && places(i64::MIN)[0].is_nan());
        assert_eq!(values(x.trunc().unwrap()), [-2.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(values(x.ceil().unwrap()), [-2.0, 0.0, 0.0, 1.0, 2.0]);
        assert_eq!(x.sign().unwrap().to_vec::<f64>().unwrap(), [-1.0, -1.0, 0.0, 1.0, 1.0, 0.0]);
        let i = Tensor::from_slice(&[i8::MIN, -1, 3], &[3]).unwrap();
        assert_eq!(i.abs().unwrap().to_vec::<i8>().unwrap(), [i8::MIN, 1, 3]);
        assert_eq!(i.floor().unwrap().to_vec::<i8>().unwrap(), [i8::MIN, -1, 3]);
        let t = Tensor::from_slice(&[true], &[1]).unwrap();
        assert!(t.abs().is_err() && t.floor().is_err());
        assert_eq!(t.sign().unwrap().dtype(), DType::Bool);
    }
}
