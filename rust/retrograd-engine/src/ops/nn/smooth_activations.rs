//! Smooth activations: elu and related ops, silu, softplus, mish, logsigmoid.

use retrograd_macros::op;

use super::activation::{Activation, Parameters, apply_activation, log_sigmoid, unless};
use crate::error::{Error, Result};
use crate::kernels::math;
use crate::kernels::simd::Vector;
use crate::ops::Value;
use crate::tensor::{Scalar, Tensor};

/// `s (1 - s)`: the derivative of the logistic function, from its value.
fn logistic_derivative(s: &Tensor) -> Result<Tensor> {
    s.sub(&s.mul(s)?)
}

/// `scale x` for positive `x`, `scale alpha (exp(input_scale x) - 1)` for others. Parameters: alpha, scale,
/// input_scale.
///
/// `CELU` names the node after `celu`, whose scale is 1.
#[derive(Clone, Copy, Debug)]
struct Elu<const CELU: bool>;

impl<const CELU: bool> Activation for Elu<CELU> {
    const NODE: &'static str = if CELU { "CeluBackward0" } else { "EluBackward0" };
    const BACKWARD_NODE: &'static str = "EluBackwardBackward0";
    #[inline(always)]
    fn value<V: Vector>([alpha, scale, input_scale]: Parameters<V>, x: V) -> V {
        let falling = math::expm1(x * input_scale) * (alpha * scale);
        (x * scale).select(x.of(0.0).lt(x), falling)
    }
    #[inline(always)]
    fn vjp<V: Vector>([alpha, scale, input_scale]: Parameters<V>, g: V, x: V) -> V {
        let falling = input_scale * alpha * scale * math::exp(x * input_scale);
        g * scale.select(x.of(0.0).lt(x), falling)
    }
    fn second_derivative(
        [alpha, scale, input_scale]: Parameters<f64>,
        g: &Tensor,
        x: &Tensor,
    ) -> Result<Option<Tensor>> {
        let falling = x.times(input_scale)?.exp()?.times(input_scale * input_scale * alpha * scale)?;
        // At 0, other than the first derivative, that of the line.
        unless(&x.ge(&Tensor::number(Scalar::Int(0))?)?, &g.mul(&falling)?).map(Some)
    }
    fn shown([alpha, scale, input_scale]: Parameters<Scalar>) -> Vec<(&'static str, Value)> {
        if CELU {
            return vec![("alpha", alpha.into())];
        }
        vec![("alpha", alpha.into()), ("scale", scale.into()), ("input_scale", input_scale.into())]
    }
}

/// `x s(x)` with `s` the logistic function.
#[derive(Clone, Copy, Debug)]
struct Silu;

impl Activation for Silu {
    const NODE: &'static str = "SiluBackward0";
    const BACKWARD_NODE: &'static str = "SiluBackwardBackward0";
    #[inline(always)]
    fn value<V: Vector>(_: Parameters<V>, x: V) -> V {
        x / (x.of(1.0) + math::exp(-x))
    }
    #[inline(always)]
    fn vjp<V: Vector>(_: Parameters<V>, g: V, x: V) -> V {
        let (s, one) = (math::sigmoid(x), x.of(1.0));
        g * (s * x.fma(one - s, one))
    }
    fn second_derivative(_: Parameters<f64>, g: &Tensor, x: &Tensor) -> Result<Option<Tensor>> {
        // s' (2 + x (1 - 2 s))
        let s = x.sigmoid()?;
        let inner = s.times(-2.0)?.plus(1.0)?.mul(x)?.plus(2.0)?;
        g.mul(&logistic_derivative(&s)?.mul(&inner)?).map(Some)
    }
}

/// `log(1 + exp(beta x)) / beta`, and `x` itself where `beta x` is above the threshold. Parameters: beta, threshold.
#[derive(Clone, Copy, Debug)]
struct Softplus;

impl Activation for Softplus {
    const NODE: &'static str = "SoftplusBackward0";
    const BACKWARD_NODE: &'static str = "SoftplusBackwardBackward0";
    #[inline(always)]
    fn value<V: Vector>([beta, threshold, _]: Parameters<V>, x: V) -> V {
        let z = x * beta;
        x.select(threshold.lt(z), math::log1p(math::exp(z)) / beta)
    }
    #[inline(always)]
    fn vjp<V: Vector>([beta, threshold, _]: Parameters<V>, g: V, x: V) -> V {
        let z = x * beta;
        g.select(threshold.lt(z), g * math::sigmoid(z))
    }
    fn second_derivative([beta, threshold, _]: Parameters<f64>, g: &Tensor, x: &Tensor) -> Result<Option<Tensor>> {
        let z = x.times(beta)?;
        let second = logistic_derivative(&z.sigmoid()?)?.times(beta)?;
        unless(&z.ge(&Tensor::number(Scalar::Float(threshold))?)?, &g.mul(&second)?).map(Some)
    }
    fn shown([beta, threshold, _]: Parameters<Scalar>) -> Vec<(&'static str, Value)> {
        vec![("beta", beta.into()), ("threshold", threshold.into())]
    }
}

/// `t = tanh(log(1 + exp x))` and `1 - t`: with `n = exp(2 x) + 2 exp(x)`, which is `(1 + exp x)^2 - 1`, they are
/// `n / (n + 2)` and `2 / (n + 2)`. Above 20 nothing of `1 - t` is left beside 1.
#[inline(always)]
fn tanh_of_softplus<V: Vector>(x: V) -> (V, V) {
    let (e, two) = (math::exp(x.at_most(x.of(20.0))), x.of(2.0));
    let n = e.fma(e, two * e);
    (n / (n + two), two / (n + two))
}

/// `x tanh(log(1 + exp x))`.
#[derive(Clone, Copy, Debug)]
struct Mish;

impl Activation for Mish {
    const NODE: &'static str = "MishBackward0";
    const BACKWARD_NODE: &'static str = "MishBackwardBackward0";
    #[inline(always)]
    fn value<V: Vector>(_: Parameters<V>, x: V) -> V {
        x * tanh_of_softplus(x).0
    }
    #[inline(always)]
    fn vjp<V: Vector>(_: Parameters<V>, g: V, x: V) -> V {
        let (t, rest) = tanh_of_softplus(x);
        g * (t + x * math::sigmoid(x) * (rest * (x.of(1.0) + t)))
    }
    fn second_derivative(_: Parameters<f64>, g: &Tensor, x: &Tensor) -> Result<Option<Tensor>> {
        // 2 t' + x t'' with t the tanh, t' = s (1 - t^2) and t'' = s' (1 - t^2) - 2 s t t'.
        let s = x.sigmoid()?;
        let t = x.sub(&apply_activation::<LogSigmoid>(false, x, &[])?)?.tanh()?;
        let left = t.mul(&t)?.times(-1.0)?.plus(1.0)?;
        let dt = s.mul(&left)?;
        let ddt = logistic_derivative(&s)?.mul(&left)?.sub(&s.mul(&t)?.mul(&dt)?.times(2.0)?)?;
        g.mul(&dt.times(2.0)?.add(&x.mul(&ddt)?)?).map(Some)
    }
}

/// `-log(1 + exp(-x))`.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogSigmoid;

impl Activation for LogSigmoid {
    const NODE: &'static str = "LogSigmoidBackward0";
    const BACKWARD_NODE: &'static str = "LogSigmoidBackwardBackward0";
    #[inline(always)]
    fn value<V: Vector>(_: Parameters<V>, x: V) -> V {
        log_sigmoid(x)
    }
    #[inline(always)]
    fn vjp<V: Vector>(_: Parameters<V>, g: V, x: V) -> V {
        g * math::sigmoid(-x)
    }
    fn second_derivative(_: Parameters<f64>, g: &Tensor, x: &Tensor) -> Result<Option<Tensor>> {
        g.mul(&logistic_derivative(&x.sigmoid()?)?.neg()?).map(Some)
    }
}

/// Such that mean 0 and variance 1 are a fixed point.
const SELU_ALPHA: f64 = 1.6732632423543772848170429916717;
const SELU_SCALE: f64 = 1.0507009873554804934193349852946;

fn celu_of(inplace: bool, input: &Tensor, alpha: Scalar) -> Result<Tensor> {
    if alpha.as_f64() == 0.0 {
        return Err(Error::shape("celu", "ZeroDivisionError: alpha cannot be 0 for CELU"));
    }
    apply_activation::<Elu<true>>(inplace, input, &[alpha, Scalar::Int(1), Scalar::Float(1.0 / alpha.as_f64())])
}

/// The exponential linear unit: `input` where positive, else `alpha * (exp(input) - 1)`, in `input` itself if
/// `inplace`.
///
/// Args: `input` floating dtype, any shape; `alpha` a number.
/// Returns: a tensor of the same shape, or `input`. Derivative: `g` where `input > 0`, else `g * alpha * exp(input)`.
///
/// >>> rg.nn.functional.elu(rg.tensor([0.0, 2.0])).tolist()
/// [0.0, 2.0]
#[op(function, norust, module = "nn.functional", "(alpha=1.0, inplace=False)")]
pub fn elu(input: &Tensor, alpha: Scalar, inplace: bool) -> Result<Tensor> {
    apply_activation::<Elu<false>>(inplace, input, &[alpha, Scalar::Int(1), Scalar::Int(1)])
}

/// As `elu`, in `input` itself.
///
/// Args, Derivative: as `elu`. Returns: `input`.
///
/// >>> rg.nn.functional.elu_(rg.tensor([0.0, 2.0])).tolist()
/// [0.0, 2.0]
#[op(function, norust, module = "nn.functional", name = "elu_", "(alpha=1.0)")]
pub fn elu_inplace(input: &Tensor, alpha: Scalar) -> Result<Tensor> {
    apply_activation::<Elu<false>>(true, input, &[alpha, Scalar::Int(1), Scalar::Int(1)])
}

/// The scaled exponential linear unit: `elu` with an `alpha` and times a scale that keep mean 0 and variance 1, in
/// `input` itself if `inplace`.
///
/// Args: `input` floating dtype, any shape.
/// Returns: a tensor of the same shape, or `input`. Derivative: `g * scale` where `input > 0`, else `g * scale *
/// alpha * exp(input)`.
///
/// >>> rg.nn.functional.selu(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, norust, module = "nn.functional", "(inplace=False)")]
pub fn selu(input: &Tensor, inplace: bool) -> Result<Tensor> {
    apply_activation::<Elu<false>>(
        inplace,
        input,
        &[Scalar::Float(SELU_ALPHA), Scalar::Float(SELU_SCALE), Scalar::Int(1)],
    )
}

/// As `selu`, in `input` itself.
///
/// Args, Derivative: as `selu`. Returns: `input`.
///
/// >>> rg.nn.functional.selu_(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, norust, module = "nn.functional", name = "selu_")]
pub fn selu_inplace(input: &Tensor) -> Result<Tensor> {
    apply_activation::<Elu<false>>(true, input, &[Scalar::Float(SELU_ALPHA), Scalar::Float(SELU_SCALE), Scalar::Int(1)])
}

/// The continuous exponential linear unit: `input` where positive, else `alpha * (exp(input / alpha) - 1)`, in `input`
/// itself if `inplace`.
///
/// Args: `input` floating dtype, any shape; `alpha` a number other than 0.
/// Returns: a tensor of the same shape, or `input`. Derivative: `g` where `input > 0`, else `g * exp(input / alpha)`.
/// Raises: RuntimeError if `alpha` is 0.
///
/// >>> rg.nn.functional.celu(rg.tensor([0.0, 2.0])).tolist()
/// [0.0, 2.0]
#[op(function, norust, module = "nn.functional", "(alpha=1.0, inplace=False)")]
pub fn celu(input: &Tensor, alpha: Scalar, inplace: bool) -> Result<Tensor> {
    celu_of(inplace, input, alpha)
}

/// As `celu`, in `input` itself.
///
/// Args, Derivative: as `celu`. Returns: `input`.
///
/// >>> rg.nn.functional.celu_(rg.tensor([0.0, 2.0])).tolist()
/// [0.0, 2.0]
#[op(function, norust, module = "nn.functional", name = "celu_", "(alpha=1.0)")]
pub fn celu_inplace(input: &Tensor, alpha: Scalar) -> Result<Tensor> {
    celu_of(true, input, alpha)
}

/// The sigmoid linear unit, `input * sigmoid(input)`, in `input` itself if `inplace`.
///
/// Args: `input` floating or complex dtype, any shape.
/// Returns: a tensor of the same shape, or `input`. Derivative: `g * s * (1 + input * (1 - s))` with `s =
/// sigmoid(input)`.
///
/// >>> rg.nn.functional.silu(rg.tensor([0.0, 100.0])).tolist()
/// [0.0, 100.0]
#[op(function, norust, module = "nn.functional", "(inplace=False)")]
pub fn silu(input: &Tensor, inplace: bool) -> Result<Tensor> {
    if input.dtype().is_complex() {
        let s = input.sigmoid()?;
        return if inplace { input.mul_(&s) } else { input.mul(&s) };
    }
    apply_activation::<Silu>(inplace, input, &[])
}

/// A smooth `relu`: `log(1 + exp(beta * input)) / beta`, and `input` where `beta * input > threshold`.
///
/// Args: `input` floating dtype, any shape; `beta`, `threshold` numbers.
/// Returns: a tensor of the same shape. Derivative: `g * sigmoid(beta * input)`, or `g` above the threshold.
///
/// >>> rg.nn.functional.softplus(rg.tensor([100.0])).tolist()
/// [100.0]
#[op(function, out = FOUND, norust, module = "nn.functional", "(beta=1, threshold=20)")]
pub fn softplus(input: &Tensor, beta: Scalar, threshold: Scalar) -> Result<Tensor> {
    apply_activation::<Softplus>(false, input, &[beta, threshold])
}

/// `input * tanh(softplus(input))`, in `input` itself if `inplace`.
///
/// Args: `input` floating dtype, any shape.
/// Returns: a tensor of the same shape, or `input`. Derivative: `g * (t + input * sigmoid(input) * (1 - t**2))` with
/// `t` the tanh.
///
/// >>> rg.nn.functional.mish(rg.tensor([0.0, 100.0])).tolist()
/// [0.0, 100.0]
#[op(function, norust, module = "nn.functional", "(inplace=False)")]
pub fn mish(input: &Tensor, inplace: bool) -> Result<Tensor> {
    apply_activation::<Mish>(inplace, input, &[])
}

/// The logarithm of the logistic function, `-log(1 + exp(-input))`.
///
/// Args: `input` floating dtype, any shape.
/// Returns: a tensor of the same shape. Derivative: `g * sigmoid(-input)`.
///
/// >>> rg.nn.functional.logsigmoid(rg.tensor([-1000.0])).tolist()
/// [-1000.0]
#[op(
    function, out = OutDtype::Same(&["expected scalar type {Result} but found {Out}"]), norust,
    module = "nn.functional"
)]
pub fn logsigmoid(input: &Tensor) -> Result<Tensor> {
    apply_activation::<LogSigmoid>(false, input, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let some = |x: &Tensor| -> Vec<Result<Tensor>> {
            let one = Scalar::Int(1);
            vec![
                elu(x, Scalar::Float(1.5), false),
                selu(x, false),
                celu(x, Scalar::Float(0.7), false),
                silu(x, false),
                softplus(x, Scalar::Float(2.0), Scalar::Float(1.0)),
                softplus(x, one, Scalar::Int(20)),
                mish(x, false),
                logsigmoid(x),
            ]
        };
        let count = some(&noise(1, &[1])).len();
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = noise(1, sizes).times(3.0).unwrap();
            for k in 0..count {
                gradcheck(&|x| some(&x[0]).swap_remove(k), std::slice::from_ref(&x));
            }
        }
    }

    #[test]
    fn far_out_and_near_zero() {
        let x = Tensor::from_slice(&[-1e4, -1e-12, 1e4], &[3]).unwrap();
        let values = |y: Result<Tensor>| y.unwrap().to_vec::<f64>().unwrap();
        assert_eq!(values(elu(&x, Scalar::Int(1), false)), [-1.0, (-1e-12f64).exp_m1(), 1e4]);
        assert_eq!(values(logsigmoid(&x))[0], -1e4);
        assert_eq!(values(mish(&x, false))[2], 1e4);
        assert_eq!(values(softplus(&x, Scalar::Int(1), Scalar::Int(20)))[2], 1e4);
        assert!(celu(&x, Scalar::Int(0), false).is_err());
        assert!(silu(&Tensor::from_slice(&[1i64], &[1]).unwrap(), false).is_err());
    }
}
