//! Parts of numbers: fraction, sign, angle; and what stands in for values that are not finite.

use std::f64::consts::PI;

use retrograd_macros::op;

use super::rounding::Sign;
use super::unary::{Map, Pass, Unary};
use super::zeros_of;
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::Save;
use crate::error::Result;
use crate::ops::Entry;
use crate::tensor::{DType, Dtypes, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&FRAC, &SGN, &NAN_TO_NUM, &ANGLE];

/// `frac`: reverse `g`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frac;
impl Unary for Frac {
    const NAME: &'static str = "frac";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.in_double(&|x| x - x.trunc())
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        Ok(g.clone())
    }
}

/// Each element less its whole part, with the sign of the element.
///
/// Args: `input` float32 or float64. Returns: same shape. Derivative: `g`. Raises: NotImplementedError for integers.
///
/// >>> rg.frac(rg.tensor([1.5, -2.25])).tolist()
/// [0.5, -0.25]
#[op(function, method, inplace, out = FOUND)]
pub fn frac(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Frac), &[input])
}

/// `sgn`: reverse 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sgn;
impl Unary for Sgn {
    const NAME: &'static str = "sgn";
    const SAVE: &'static [Save] = &[Save::output(0, "result"), Save::input(0, "self")];
    const DTYPES: Dtypes = Sign::DTYPES;
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    fn kernel(&self, pass: Pass) -> Result<()> {
        Sign.kernel(pass)
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        zeros_of(g)
    }
}

/// The sign of each element, as `sign` gives it for real dtypes.
///
/// Args: `input` any real dtype. Returns: same shape. Derivative: 0.
///
/// >>> rg.sgn(rg.tensor([-1.5, 0.0, 2.0])).tolist()
/// [-1.0, 0.0, 1.0]
#[op(function, method, inplace, out = FOUND)]
pub fn sgn(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Sgn), &[input])
}

/// `nan_to_num`: reverse `g` where the operand is finite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NanToNum {
    nan: Option<f64>,
    posinf: Option<f64>,
    neginf: Option<f64>,
}
impl Unary for NanToNum {
    const NAME: &'static str = "nan_to_num";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::NUMERIC;
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    fn kernel(&self, pass: Pass) -> Result<()> {
        if pass.dtype().is_integral() {
            return pass.copy();
        }
        let most = if pass.dtype() == DType::Float32 { f64::from(f32::MAX) } else { f64::MAX };
        let (nan, up, down) = (self.nan.unwrap_or(0.0), self.posinf.unwrap_or(most), self.neginf.unwrap_or(-most));
        let finite = |x: f64| match x {
            _ if x.is_nan() => nan,
            f64::INFINITY => up,
            f64::NEG_INFINITY => down,
            _ => x,
        };
        pass.in_double(&|x| finite(x))
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.mul(&x.isfinite()?)
    }
}

/// Each element, with numbers for NaN and the infinities.
///
/// Args: `input` any dtype; `nan` a number, 0 by default; `posinf` and `neginf` numbers, the greatest and the least one
/// of the dtype by default. Returns: same shape. Derivative: `g` where `input` is finite, 0 elsewhere.
///
/// >>> rg.nan_to_num(rg.tensor([float('nan'), float('inf'), 1.0]), posinf=9.0).tolist()
/// [0.0, 9.0, 1.0]
#[op(
    function, method, inplace,
    out = OutDtype::Same(&["nan_to_num: dtype of out: {Out} should be same as input: {Result}"]),
    "(nan=None, posinf=None, neginf=None)"
)]
pub fn nan_to_num(input: &Tensor, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>) -> Result<Tensor> {
    apply_as(form, Map(NanToNum { nan, posinf, neginf }), &[input])
}

/// `angle`: reverse 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Angle;
impl Unary for Angle {
    const NAME: &'static str = "angle";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    fn kernel(&self, pass: Pass) -> Result<()> {
        let angle = |x: f64| match x {
            _ if x.is_nan() => x,
            _ if x < 0.0 => PI,
            _ => 0.0,
        };
        pass.in_double(&|x| angle(x))
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        zeros_of(g)
    }
}

/// The angle of each element with the positive axis: pi for negative numbers, 0 for others, NaN for NaN.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape. Derivative: 0.
///
/// >>> rg.angle(rg.tensor([2.0, 0.0])).tolist()
/// [0.0, 0.0]
#[op(function, method, out)]
pub fn angle(input: &Tensor) -> Result<Tensor> {
    crate::autograd::apply::apply1(Map(Angle), &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = [noise(1, sizes)];
            for f in [frac, sgn, angle] {
                gradcheck(&|x| f(&x[0]), &x);
            }
            gradcheck(&|x| nan_to_num(&x[0], None, Some(1.0), None), &x);
        }
    }

    #[test]
    fn values() {
        let x = Tensor::from_slice(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -2.0], &[4]).unwrap();
        let values = |t: Tensor| t.to_vec::<f32>().unwrap();
        assert_eq!(values(nan_to_num(&x, None, None, None).unwrap()), [0.0, f32::MAX, f32::MIN, -2.0]);
        assert_eq!(values(nan_to_num(&x, Some(1e300), None, Some(1.0)).unwrap()), [f32::INFINITY, f32::MAX, 1.0, -2.0]);
        assert_eq!(values(angle(&x).unwrap())[1..], [0.0, PI as f32, PI as f32]);
        let i = Tensor::from_slice(&[3i64], &[1]).unwrap();
        assert!(frac(&i).is_err() && nan_to_num(&i, None, None, None).unwrap().dtype() == DType::Int64);
    }
}
