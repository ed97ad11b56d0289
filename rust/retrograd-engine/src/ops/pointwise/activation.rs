//! Activations.

use retrograd_macros::op;
use smallvec::smallvec;

use super::promote::{Floats, OutType, forward2};
use super::unary::{Map, Pass, Unary, body, elementary, fuse};
use super::zeros_of;
use crate::autograd::Grads;
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, out, params};
use crate::error::{Error, Result};
use crate::kernels::complex::{self, C};
use crate::kernels::math;
use crate::kernels::pointwise::Map1;
use crate::kernels::real::{Ordered, Real};
use crate::ops::Entry;
use crate::ops::Form;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&TANH, &NN_TANH, &SIGMOID, &NN_SIGMOID, &RELU, &NN_RELU];

/// `tanh`: reverse `g (1 - result^2)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tanh;
elementary!(Tanh, |x| math::tanh(x));
#[derive(Clone, Copy, Debug)]
struct TanhRule;
body!(TanhRule, Real, const LIGHT = true; |g, y| g.mul(T::ONE.sub(y.mul(y))));
impl Unary for Tanh {
    const NAME: &'static str = "tanh";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(complex::tanh);
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.mul(&rsub_one(&result.mul(result)?)?)
    }
    fn fused(&self, g: &Tensor, result: &Tensor) -> Option<Result<Tensor>> {
        fuse(Self::NAME, TanhRule, g, result)
    }
}

/// `1 - x`.
fn rsub_one(x: &Tensor) -> Result<Tensor> {
    Tensor::number(Scalar::Int(1))?.sub(x)
}

/// The hyperbolic tangent of each element.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * (1 - tanh(input)**2)`.
///
/// >>> rg.tanh(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn tanh(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Tanh), &[input])
}

/// The hyperbolic tangent of each element; see `tanh` at the top level.
///
/// >>> rg.nn.functional.tanh(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, norust, module = "nn.functional", name = "tanh")]
pub fn nn_tanh(input: &Tensor) -> Result<Tensor> {
    input.tanh()
}

/// `sigmoid`: reverse `g (1 - result) result`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sigmoid;
elementary!(Sigmoid, |x| math::sigmoid(x));
#[derive(Clone, Copy, Debug)]
struct SigmoidRule;
body!(SigmoidRule, Real, const LIGHT = true; |g, y| g.mul(T::ONE.sub(y).mul(y)));
impl Unary for Sigmoid {
    const NAME: &'static str = "sigmoid";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    const OF_COMPLEX: Option<fn(C) -> C> = Some(complex::sigmoid);
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        g.mul(&rsub_one(result)?.mul(result)?)
    }
    fn fused(&self, g: &Tensor, result: &Tensor) -> Option<Result<Tensor>> {
        fuse(Self::NAME, SigmoidRule, g, result)
    }
}

/// The logistic function of each element, `1 / (1 + exp(-input))`.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * (1 - result) * result`.
///
/// >>> rg.sigmoid(rg.tensor([0.0])).tolist()
/// [0.5]
#[op(function, method, inplace, out)]
pub fn sigmoid(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Sigmoid), &[input])
}

/// The logistic function of each element; see `sigmoid` at the top level.
///
/// >>> rg.nn.functional.sigmoid(rg.tensor([0.0])).tolist()
/// [0.5]
#[op(function, norust, module = "nn.functional", name = "sigmoid")]
pub fn nn_sigmoid(input: &Tensor) -> Result<Tensor> {
    input.sigmoid()
}

/// `relu`: reverse `g` where the result is not 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relu;
body!(Relu, Ordered, const LIGHT = true; const WIDE = T::LONG; |x| x.no_less_than(T::ZERO));
/// [`Relu`] of halves, as their bits.
#[derive(Clone, Copy)]
struct PositiveHalf {
    infinity: i16,
}
impl Map1<u16, u16> for PositiveHalf {
    #[inline(always)]
    fn f(&self, bits: u16) -> u16 {
        let is_nan = (bits & 0x7fff) as i16 > self.infinity;
        if (bits as i16 > 0) | is_nan { bits } else { 0 }
    }
}
#[derive(Clone, Copy, Debug)]
struct ReluRule;
body!(ReluRule, Real, const LIGHT = true; |g, y| if y <= T::ZERO { T::ZERO } else { g });
impl Unary for Relu {
    const NAME: &'static str = "relu";
    const SAVE: &'static [Save] = &[Save::output(0, "result")];
    fn result_dtype(&self, x: DType) -> Result<DType> {
        if x == DType::Bool {
            return Err(Error::dtype(Self::NAME, "Boolean inputs not supported for relu"));
        }
        Ok(x)
    }
    const DTYPES: Dtypes = Dtypes::REALS.or(Dtypes::HALVES);
    fn kernel(&self, pass: Pass) -> Result<()> {
        match pass.dtype() {
            DType::Float16 => pass.bits_of_halves(&PositiveHalf { infinity: half::f16::INFINITY.to_bits() as i16 }),
            DType::BFloat16 => pass.bits_of_halves(&PositiveHalf { infinity: half::bf16::INFINITY.to_bits() as i16 }),
            _ => pass.numeric(self),
        }
    }
    fn vjp(&self, g: &Tensor, result: &Tensor) -> Result<Tensor> {
        apply1(ThresholdBackward, &[g, result])
    }
    fn fused(&self, g: &Tensor, result: &Tensor) -> Option<Result<Tensor>> {
        fuse(Self::NAME, ReluRule, g, result)
    }
}

/// The rule of `relu`, `g` where `y > 0`, else 0. Operands: `g`, `y`.
///
/// An op of its own, so that a second derivative finds the way to `y`, though it is zero there.
#[derive(Clone, Debug)]
struct ThresholdBackward;

impl Primitive for ThresholdBackward {
    const NAME: &'static str = "threshold_backward";
    const SAVE: &'static [Save] = &[Save::input(1, "self")];
    const PARAMS: Params<Self> = params!(op; threshold: Scalar::Int(0));
    const DTYPES: Dtypes = Floats::DTYPES;
    const BATCH: Batch<Self> = Batch::Pointwise;
    const JVP: Tangents<Self> = Tangents::Linear(0b1);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        forward2::<_, Floats>(Self::NAME, &ReluRule, xs[0], xs[1], xs[0].dtype()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let to_g = cx.when(0, || apply1(Self, &[cx.g(), cx.saved(0)?]))?;
        Ok(smallvec![to_g, cx.when(1, || zeros_of(cx.g()))?])
    }
}

/// The positive part of each element: 0 for negative ones; NaN stays.
///
/// Args: `input` any real dtype but bool. Returns: same shape.
/// Derivative: `g` where `input > 0`, else 0.
///
/// >>> rg.relu(rg.tensor([-1.0, 2.0])).tolist()
/// [0.0, 2.0]
#[op(function, method, inplace, out)]
pub fn relu(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Relu), &[input])
}

/// The positive part of each element, in `input` itself if `inplace`.
///
/// Args: `input` any real dtype but bool. Returns: same shape, or `input`. Derivative: `g` where `input > 0`, else 0.
///
/// >>> rg.nn.functional.relu(rg.tensor([-1.0, 2.0])).tolist()
/// [0.0, 2.0]
#[op(function, norust, module = "nn.functional", name = "relu", "(inplace=False)")]
pub fn nn_relu(input: &Tensor, inplace: bool) -> Result<Tensor> {
    apply_as(if inplace { Form::InPlace } else { Form::New }, Map(Relu), &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::pointwise::unary::check_fused;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let _reading = crate::storage::reclaim::reading();
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = [noise(1, sizes)];
            gradcheck(&|x| x[0].tanh(), &x);
            gradcheck(&|x| x[0].sigmoid(), &x);
            gradcheck(&|x| x[0].relu(), &x);
        }
        let x = noise(1, &[37]);
        check_fused(Tanh, &x);
        check_fused(Sigmoid, &x);
        check_fused(Relu, &x);
    }

    #[test]
    fn relu_keeps_nan_and_integers() {
        let x = Tensor::from_slice(&[-1.0f32, f32::NAN, 2.0], &[3]).unwrap();
        let y = x.relu().unwrap().to_vec::<f32>().unwrap();
        assert!(y[0] == 0.0 && y[1].is_nan() && y[2] == 2.0);
        let i = Tensor::from_slice(&[-1i32, 2], &[2]).unwrap();
        assert_eq!(nn_relu(&i, true).unwrap().to_vec::<i32>().unwrap(), [0, 2]);
        assert_eq!(i.to_vec::<i32>().unwrap(), [0, 2]);
        assert!(Tensor::from_slice(&[true], &[1]).unwrap().relu().is_err());
    }

    #[test]
    fn sigmoid_does_not_overflow() {
        let x = Tensor::from_slice(&[-1000.0f32, 1000.0], &[2]).unwrap();
        assert_eq!(x.sigmoid().unwrap().to_vec::<f32>().unwrap(), [0.0, 1.0]);
    }
}
