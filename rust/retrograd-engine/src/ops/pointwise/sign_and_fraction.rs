//! Parts of numbers: fraction, sign, angle; and what stands in for values that are not finite.

use std::f64::consts::PI;
use std::hint::select_unpredictable;

use retrograd_macros::op;

use super::binary::Atan2;
use super::rounding::Sign;
use super::scalar_loop::run_lanes;
use super::select::number;
use super::unary::{Map, Pass, Unary, body};
use super::{complex, zeros_of};
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{Batch, ComplexRule, Outs, Primitive, Save, Tangents, Vjp, maybe, one, out};
use crate::error::Result;
use crate::kernels::complex::{self as kernel, C};
use crate::kernels::pointwise::{Map1, Planar};
use crate::kernels::real::Real;
use crate::kernels::simd::Vector;
use crate::ops::Entry;
use crate::tensor::complex::part;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&FRAC, &SGN, &NAN_TO_NUM, &ANGLE];

/// `frac`: reverse `g`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frac;
body!(Frac, Real, const LIGHT = true; |x| x.sub(x.trunc()));
impl Unary for Frac {
    const NAME: &'static str = "frac";
    const SAVE: &'static [Save] = &[];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.floats(self)
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        Ok(g.clone())
    }
}

/// Each element less its whole part, with the sign of the element.
///
/// Args: `input` a floating dtype. Returns: same shape. Derivative: `g`. Raises: NotImplementedError for integers.
///
/// >>> rg.frac(rg.tensor([1.5, -2.25])).tolist()
/// [0.5, -0.25]
#[op(function, method, inplace, out = FOUND)]
pub fn frac(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Frac), &[input])
}

/// `sgn`: reverse 0; of a complex number what of `g` points across it, over its magnitude.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sgn;
impl<T: Real> Planar<T> for Sgn {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, re: V, im: V) -> (V, V) {
        let size = (re * re + im * im).sqrt();
        (re / size, im / size)
    }
    #[inline(always)]
    fn holds(&self, re: T, im: T) -> bool {
        let square = re.mul(re).add(im.mul(im));
        (square > T::SQUARES[0]) & (square < T::SQUARES[1])
    }
    fn elsewhere(&self, z: C) -> C {
        kernel::sign(z)
    }
}
impl Unary for Sgn {
    const NAME: &'static str = "sgn";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::output(0, "result")];
    const DTYPES: Dtypes = Sign::DTYPES.or(Dtypes::COMPLEX);
    const COMPLEX: ComplexRule = ComplexRule::Own;
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    fn kernel(&self, pass: Pass) -> Result<()> {
        if pass.dtype().is_complex() { pass.planar(self) } else { Sign.kernel(pass) }
    }
    fn vjp(&self, g: &Tensor, z: &Tensor) -> Result<Tensor> {
        if !z.dtype().is_complex() {
            return zeros_of(g);
        }
        let (size, sign) = (z.abs()?, z.sgn()?);
        let flat = size.eq(&number(0.0)?)?;
        let across = g.sub(&sign.mul(&complex::real_part(&complex::conj_physical(&sign)?.mul(g)?)?)?)?;
        // With 1 in place of such a magnitude: the rule is differentiated in turn.
        across.div(&size.masked_fill(&flat, &number(1.0)?)?)?.masked_fill(&flat, &number(0.0)?)
    }
}

/// The sign of each element: `sign` of real numbers, `input / abs(input)` of complex ones, 0 at 0.
///
/// Args: `input` any dtype. Returns: same shape. Derivative: 0; of complex numbers what of `g` points across `input`,
/// divided by `abs(input)`, 0 at 0.
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

/// What stands in for numbers that are not finite.
#[derive(Clone, Copy)]
struct Instead {
    nan: f64,
    up: f64,
    down: f64,
}
impl<T: Real> Map1<T, T> for Instead {
    const LIGHT: bool = true;
    #[inline(always)]
    fn f(&self, x: T) -> T {
        let (up, down) = (T::of(f64::INFINITY), T::of(f64::NEG_INFINITY));
        let x = if x == up { T::of(self.up) } else { x };
        let x = if x == down { T::of(self.down) } else { x };
        if x.is_nan() { T::of(self.nan) } else { x }
    }
}

impl Unary for NanToNum {
    const NAME: &'static str = "nan_to_num";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::ALL;
    const COMPLEX: ComplexRule = ComplexRule::RealLinear;
    fn result_dtype(&self, x: DType) -> Result<DType> {
        Ok(x)
    }
    fn kernel(&self, pass: Pass) -> Result<()> {
        let most = match pass.dtype() {
            dtype if dtype.is_integral() => return pass.copy(),
            DType::Float16 => f64::from(half::f16::MAX),
            DType::BFloat16 => f64::from(half::bf16::MAX),
            DType::Float32 | DType::Complex64 => f64::from(f32::MAX),
            _ => f64::MAX,
        };
        let (nan, up) = (self.nan.unwrap_or(0.0), self.posinf.unwrap_or(most));
        let instead = Instead { nan, up, down: self.neginf.unwrap_or(-most) };
        if pass.dtype().is_complex() { pass.parts(&instead) } else { pass.floats(&instead) }
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.mul(&x.isfinite()?)
    }
}

/// Each element, with numbers for NaN and the infinities; of complex numbers, in both parts.
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

/// `angle` of real numbers: reverse 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Angle;
body!(Angle, Real, const LIGHT = true; |x| {
    let angle = select_unpredictable(x < T::ZERO, T::of(PI), T::ZERO);
    select_unpredictable(x.is_nan(), x, angle)
});
impl Unary for Angle {
    const NAME: &'static str = "angle";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.floats(self)
    }
    fn vjp(&self, g: &Tensor, _: &Tensor) -> Result<Tensor> {
        zeros_of(g)
    }
}

/// `angle` of complex numbers: reverse `g i z / |z|^2`, 0 at 0.
#[derive(Clone, Debug)]
struct ComplexAngle;

impl ComplexAngle {
    /// `i z / |z|^2`, 0 at 0: the way in which the angle grows.
    fn across(z: &Tensor) -> Result<Tensor> {
        let square = z.abs()?.square()?;
        let flat = square.eq(&number(0.0)?)?;
        let across = z.times(Scalar::Complex(0.0, 1.0))?.div(&square.masked_fill(&flat, &number(1.0)?)?)?;
        across.masked_fill(&flat, &number(0.0)?)
    }
}

impl Primitive for ComplexAngle {
    const NAME: &'static str = "angle";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const DTYPES: Dtypes = Dtypes::COMPLEX;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const COMPLEX: ComplexRule = ComplexRule::Own;
    const JVP: Tangents<Self> = Tangents::Rule(|_, cx| {
        let along = |t: &Tensor| complex::real_part(&complex::conj_physical(&Self::across(cx.xs[0])?)?.mul(t)?);
        cx.t(0).map(along).transpose().map(maybe)
    });
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let result = xs[0].empty_elementwise(xs[0].dtype().real())?;
        run_lanes([&part(xs[0], true)?, &part(xs[0], false)?], &result, &Atan2);
        Ok(out(result))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        Self::across(cx.saved(0)?)?.mul(cx.g()).map(one)
    }
}

/// The angle of each element with the positive axis, from -pi to pi: pi for negative real numbers, 0 for others, NaN
/// for NaN.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape, in the dtype of the
/// parts. Derivative: 0; of complex numbers `g * 1j * input / abs(input)**2`, 0 at 0.
///
/// >>> rg.angle(rg.tensor([2.0, 0.0])).tolist()
/// [0.0, 0.0]
#[op(function, method, out)]
pub fn angle(input: &Tensor) -> Result<Tensor> {
    if input.dtype().is_complex() { apply1(ComplexAngle, &[input]) } else { apply1(Map(Angle), &[input]) }
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
