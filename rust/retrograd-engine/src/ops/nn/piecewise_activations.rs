//! Activations that are linear in pieces: leaky_relu, threshold, the hard and shrinking ones.

use retrograd_macros::op;

use super::activation::{Activation, Parameters, apply_activation, unless, up_to};
use crate::error::{Error, Result};
use crate::kernels::simd::Vector;
use crate::ops::Value;
use crate::ops::pointwise::check_number;
use crate::tensor::{DType, Scalar, Tensor};

/// `x` where positive, else `slope x`. Parameter: the slope.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeakyRelu;

impl Activation for LeakyRelu {
    const NODE: &'static str = "LeakyReluBackward0";
    const BACKWARD_NODE: &'static str = "LeakyReluBackwardBackward0";
    #[inline(always)]
    fn value<V: Vector>([slope, ..]: Parameters<V>, x: V) -> V {
        x.select(x.of(0.0).lt(x), x * slope)
    }
    #[inline(always)]
    fn vjp<V: Vector>([slope, ..]: Parameters<V>, g: V, x: V) -> V {
        g.select(x.of(0.0).lt(x), g * slope)
    }
    fn shown([slope, ..]: Parameters<Scalar>) -> Vec<(&'static str, Value)> {
        vec![("negative_slope", slope.into())]
    }
}

/// `x` above the threshold, else a value. Parameters: threshold, value.
#[derive(Clone, Copy, Debug)]
struct Threshold;

impl Activation for Threshold {
    const NODE: &'static str = "ThresholdBackward0";
    const BACKWARD_NODE: &'static str = "ThresholdBackwardBackward0";
    #[inline(always)]
    fn value<V: Vector>([threshold, value, _]: Parameters<V>, x: V) -> V {
        up_to(threshold, x, value, x)
    }
    #[inline(always)]
    fn vjp<V: Vector>([threshold, ..]: Parameters<V>, g: V, x: V) -> V {
        up_to(threshold, x, x.of(0.0), g)
    }
    fn shown([threshold, ..]: Parameters<Scalar>) -> Vec<(&'static str, Value)> {
        vec![("threshold", threshold.into())]
    }
}

/// `x` between two bounds. Parameters: the bounds.
#[derive(Clone, Copy, Debug)]
struct Hardtanh;

impl Activation for Hardtanh {
    const NODE: &'static str = "HardtanhBackward0";
    const BACKWARD_NODE: &'static str = "HardtanhBackwardBackward0";
    #[inline(always)]
    fn value<V: Vector>([min, max, _]: Parameters<V>, x: V) -> V {
        x.at_least(min).at_most(max)
    }
    #[inline(always)]
    fn vjp<V: Vector>([min, max, _]: Parameters<V>, g: V, x: V) -> V {
        g.select(V::both(min.lt(x), x.lt(max)), x.of(0.0))
    }
    fn shown([min, max, _]: Parameters<Scalar>) -> Vec<(&'static str, Value)> {
        vec![("min_val", min.into()), ("max_val", max.into())]
    }
}

/// `(x + 3) / 6` between 0 and 1.
#[derive(Clone, Copy, Debug)]
struct Hardsigmoid;

impl Activation for Hardsigmoid {
    const NODE: &'static str = "HardsigmoidBackward0";
    const BACKWARD_NODE: &'static str = "HardsigmoidBackwardBackward0";
    #[inline(always)]
    fn value<V: Vector>(_: Parameters<V>, x: V) -> V {
        (x + x.of(3.0)).at_least(x.of(0.0)).at_most(x.of(6.0)) / x.of(6.0)
    }
    #[inline(always)]
    fn vjp<V: Vector>(_: Parameters<V>, g: V, x: V) -> V {
        (g * x.of(1.0 / 6.0)).select(x.abs().lt(x.of(3.0)), x.of(0.0))
    }
}

/// `x` times [`Hardsigmoid`].
#[derive(Clone, Copy, Debug)]
struct Hardswish;

impl Activation for Hardswish {
    const NODE: &'static str = "HardswishBackward0";
    const BACKWARD_NODE: &'static str = "HardswishBackwardBackward0";
    #[inline(always)]
    fn value<V: Vector>(_: Parameters<V>, x: V) -> V {
        x * (x + x.of(3.0)).at_least(x.of(0.0)).at_most(x.of(6.0)) / x.of(6.0)
    }
    #[inline(always)]
    fn vjp<V: Vector>(_: Parameters<V>, g: V, x: V) -> V {
        let three = x.of(3.0);
        let between = g * (x / three + x.of(0.5));
        up_to(-three, x, x.of(0.0), up_to(-three, -x, g, between))
    }
    fn second_derivative(_: Parameters<f64>, g: &Tensor, x: &Tensor) -> Result<Option<Tensor>> {
        let straight = x.abs()?.ge(&Tensor::number(Scalar::Int(3))?)?;
        unless(&straight, &g.times(1.0 / 3.0)?).map(Some)
    }
}

/// `x` outside `[-lambd, lambd]`, else 0; if `SOFT`, drawn towards 0 by `lambd`. Parameter: lambd.
#[derive(Clone, Copy, Debug)]
struct Shrink<const SOFT: bool>;

impl<const SOFT: bool> Activation for Shrink<SOFT> {
    const NODE: &'static str = if SOFT { "SoftshrinkBackward0" } else { "HardshrinkBackward0" };
    const BACKWARD_NODE: &'static str =
        if SOFT { "SoftshrinkBackwardBackward0" } else { "HardshrinkBackwardBackward0" };
    #[inline(always)]
    fn value<V: Vector>([lambd, ..]: Parameters<V>, x: V) -> V {
        let zero = x.of(0.0);
        let outside = if SOFT { (x - lambd).select(zero.lt(x), x + lambd) } else { x };
        up_to(lambd, x, up_to(lambd, -x, zero, outside), outside)
    }
    #[inline(always)]
    fn vjp<V: Vector>([lambd, ..]: Parameters<V>, g: V, x: V) -> V {
        g.select(x.lt(-lambd), g.select(lambd.lt(x), x.of(0.0)))
    }
    fn shown([lambd, ..]: Parameters<Scalar>) -> Vec<(&'static str, Value)> {
        vec![("lambd", lambd.into())]
    }
}

/// The bounds in the dtype of an integer tensor, which is clamped between them; no derivative arises.
fn clamped(op: &'static str, inplace: bool, input: &Tensor, min: Scalar, max: Scalar) -> Result<Tensor> {
    if input.dtype() == DType::Bool {
        return Err(Error::shape(op, "Bool inputs not supported for hardtanh: convert the input with .to(float32)"));
    }
    for bound in [min, max] {
        check_number(op, bound, if input.dtype().is_integral() { DType::Int64 } else { input.dtype() })?;
    }
    if !input.dtype().is_integral() {
        return apply_activation::<Hardtanh>(inplace, input, &[min, max]);
    }
    if input.dtype() == DType::UInt8 && (min.as_f64() < 0.0 || max.as_f64() < 0.0) {
        return Err(Error::shape(op, "cannot do hardtanh on an unsigned type with negative limits"));
    }
    let whole = |s: Scalar| Tensor::number(Scalar::Int(s.as_f64() as i64));
    let (min, max) = (whole(min)?, whole(max)?);
    if inplace { input.clamp_(Some(&min), Some(&max)) } else { input.clamp(Some(&min), Some(&max)) }
}

fn thresholded(inplace: bool, input: &Tensor, threshold: Scalar, value: Scalar) -> Result<Tensor> {
    for number in [threshold, value] {
        check_number("threshold", number, input.dtype())?;
    }
    if !input.dtype().is_integral() || input.dtype() == DType::Bool {
        return apply_activation::<Threshold>(inplace, input, &[threshold, value]);
    }
    let whole = |s: Scalar| Tensor::number(Scalar::Int(s.as_f64() as i64));
    let below = input.le(&whole(threshold)?)?;
    if inplace { input.masked_fill_(&below, &whole(value)?) } else { input.masked_fill(&below, &whole(value)?) }
}

fn hardtanh_of(inplace: bool, input: &Tensor, min: Scalar, max: Scalar) -> Result<Tensor> {
    if min.as_f64() > max.as_f64() {
        return Err(Error::value("hardtanh", "min_val cannot be greater than max_val"));
    }
    clamped("hardtanh", inplace, input, min, max)
}

fn softshrink_of(input: &Tensor, lambd: Scalar) -> Result<Tensor> {
    if lambd.as_f64() < 0.0 {
        return Err(Error::shape(
            "softshrink",
            format!(
                "lambda must be in range [0, inf] for input dtype {}, but found {}: give a value that is not negative",
                input.dtype().scalar_type_name(),
                lambd.as_f64()
            ),
        ));
    }
    apply_activation::<Shrink<true>>(false, input, &[lambd])
}

/// `input` where positive, else `negative_slope * input`, in `input` itself if `inplace`.
///
/// Args: `input` floating dtype, any shape; `negative_slope` a number.
/// Returns: a tensor of the same shape, or `input`. Derivative: `g` where `input > 0`, else `g * negative_slope`.
///
/// >>> rg.nn.functional.leaky_relu(rg.tensor([-4.0, 2.0]), 0.25).tolist()
/// [-1.0, 2.0]
#[op(function, norust, module = "nn.functional", "(negative_slope=0.01, inplace=False)")]
pub fn leaky_relu(input: &Tensor, negative_slope: Scalar, inplace: bool) -> Result<Tensor> {
    apply_activation::<LeakyRelu>(inplace, input, &[negative_slope])
}

/// As `leaky_relu`, in `input` itself.
///
/// Args, Derivative: as `leaky_relu`. Returns: `input`.
///
/// >>> rg.nn.functional.leaky_relu_(rg.tensor([-4.0, 2.0]), 0.25).tolist()
/// [-1.0, 2.0]
#[op(function, norust, module = "nn.functional", name = "leaky_relu_", "(negative_slope=0.01)")]
pub fn leaky_relu_inplace(input: &Tensor, negative_slope: Scalar) -> Result<Tensor> {
    apply_activation::<LeakyRelu>(true, input, &[negative_slope])
}

/// `input` above `threshold`, else `value`, in `input` itself if `inplace`.
///
/// Args: `input` any real dtype but bool; `threshold`, `value` numbers.
/// Returns: a tensor of the same shape, or `input`. Derivative: `g` where `input > threshold`, else 0.
///
/// >>> rg.nn.functional.threshold(rg.tensor([0.0, 2.0]), 1.0, 5.0).tolist()
/// [5.0, 2.0]
#[op(function, norust, module = "nn.functional", "(inplace=False)")]
pub fn threshold(input: &Tensor, threshold: Scalar, value: Scalar, inplace: bool) -> Result<Tensor> {
    thresholded(inplace, input, threshold, value)
}

/// As `threshold`, in `input` itself.
///
/// Args, Derivative: as `threshold`. Returns: `input`.
///
/// >>> rg.nn.functional.threshold_(rg.tensor([0.0, 2.0]), 1.0, 5.0).tolist()
/// [5.0, 2.0]
#[op(function, norust, module = "nn.functional", name = "threshold_")]
pub fn threshold_inplace(input: &Tensor, threshold: Scalar, value: Scalar) -> Result<Tensor> {
    thresholded(true, input, threshold, value)
}

/// `input`, but not less than `min_val` and not more than `max_val`, in `input` itself if `inplace`.
///
/// Args: `input` any real dtype but bool; `min_val`, `max_val` numbers.
/// Returns: a tensor of the same shape, or `input`. Derivative: `g` where `min_val < input < max_val`, else 0.
/// Raises: ValueError if `min_val > max_val`, RuntimeError for bool.
///
/// >>> rg.nn.functional.hardtanh(rg.tensor([-4.0, 0.5])).tolist()
/// [-1.0, 0.5]
#[op(function, norust, module = "nn.functional", "(min_val=-1.0, max_val=1.0, inplace=False)")]
pub fn hardtanh(input: &Tensor, min_val: Scalar, max_val: Scalar, inplace: bool) -> Result<Tensor> {
    hardtanh_of(inplace, input, min_val, max_val)
}

/// As `hardtanh`, in `input` itself.
///
/// Args, Derivative: as `hardtanh`. Returns: `input`.
///
/// >>> rg.nn.functional.hardtanh_(rg.tensor([-4.0, 0.5])).tolist()
/// [-1.0, 0.5]
#[op(function, norust, module = "nn.functional", name = "hardtanh_", "(min_val=-1.0, max_val=1.0)")]
pub fn hardtanh_inplace(input: &Tensor, min_val: Scalar, max_val: Scalar) -> Result<Tensor> {
    hardtanh_of(true, input, min_val, max_val)
}

/// `input` between 0 and 6, in `input` itself if `inplace`.
///
/// Args: `input` any real dtype but bool.
/// Returns: a tensor of the same shape, or `input`. Derivative: `g` where `0 < input < 6`, else 0.
/// Raises: RuntimeError for bool.
///
/// >>> rg.nn.functional.relu6(rg.tensor([-4.0, 0.5, 7.0])).tolist()
/// [0.0, 0.5, 6.0]
#[op(function, norust, module = "nn.functional", "(inplace=False)")]
pub fn relu6(input: &Tensor, inplace: bool) -> Result<Tensor> {
    clamped("relu6", inplace, input, Scalar::Int(0), Scalar::Int(6))
}

/// `(input + 3) / 6` between 0 and 1, in `input` itself if `inplace`.
///
/// Args: `input` floating dtype, any shape.
/// Returns: a tensor of the same shape, or `input`. Derivative: `g / 6` where `-3 < input < 3`, else 0.
///
/// >>> rg.nn.functional.hardsigmoid(rg.tensor([-4.0, 0.0])).tolist()
/// [0.0, 0.5]
#[op(function, norust, module = "nn.functional", "(inplace=False)")]
pub fn hardsigmoid(input: &Tensor, inplace: bool) -> Result<Tensor> {
    apply_activation::<Hardsigmoid>(inplace, input, &[])
}

/// `input * hardsigmoid(input)`, in `input` itself if `inplace`.
///
/// Args: `input` floating dtype, any shape.
/// Returns: a tensor of the same shape, or `input`. Derivative: `g * (input / 3 + 1 / 2)` where `-3 < input < 3`, 0
/// below, `g` above.
///
/// >>> rg.nn.functional.hardswish(rg.tensor([-4.0, 3.0])).tolist()
/// [-0.0, 3.0]
#[op(function, norust, module = "nn.functional", "(inplace=False)")]
pub fn hardswish(input: &Tensor, inplace: bool) -> Result<Tensor> {
    apply_activation::<Hardswish>(inplace, input, &[])
}

/// `input` drawn towards 0 by `lambd`, and 0 between `-lambd` and `lambd`.
///
/// Args: `input` floating dtype, any shape; `lambd` a number, not negative.
/// Returns: a tensor of the same shape. Derivative: `g` where `abs(input) > lambd`, else 0.
/// Raises: RuntimeError if `lambd` is negative.
///
/// >>> rg.nn.functional.softshrink(rg.tensor([-0.25, 2.0])).tolist()
/// [0.0, 1.5]
#[op(function, out = FOUND, norust, module = "nn.functional", "(lambd=0.5)")]
pub fn softshrink(input: &Tensor, lambd: Scalar) -> Result<Tensor> {
    softshrink_of(input, lambd)
}

/// `input`, but 0 between `-lambd` and `lambd`.
///
/// Args: `input` floating dtype, any shape; `lambd` a number.
/// Returns: a tensor of the same shape. Derivative: `g` where `abs(input) > lambd`, else 0.
///
/// >>> rg.nn.functional.hardshrink(rg.tensor([-0.25, 2.0])).tolist()
/// [0.0, 2.0]
#[op(function, method, out = FOUND, norust, module = "nn.functional", "(lambd=0.5)")]
pub fn hardshrink(input: &Tensor, lambd: Scalar) -> Result<Tensor> {
    apply_activation::<Shrink<false>>(false, input, &[lambd])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let some = |x: &Tensor| -> Vec<Result<Tensor>> {
            let f = Scalar::Float;
            vec![
                leaky_relu(x, f(0.1), false),
                threshold(x, f(0.3), f(2.0), false),
                hardtanh(x, f(-0.5), f(1.5), false),
                relu6(x, false),
                hardsigmoid(x, false),
                hardswish(x, false),
                softshrink(x, f(0.5)),
                hardshrink(x, f(0.5)),
            ]
        };
        let count = some(&noise(1, &[1])).len();
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = noise(1, sizes).times(3.7).unwrap();
            for k in 0..count {
                gradcheck(&|x| some(&x[0]).swap_remove(k), std::slice::from_ref(&x));
            }
        }
    }

    #[test]
    fn integers_nan_and_refusals() {
        let i = Tensor::from_slice(&[1i64, -2, 9], &[3]).unwrap();
        let (f, n) = (Scalar::Float, Scalar::Int);
        assert_eq!(relu6(&i, false).unwrap().to_vec::<i64>().unwrap(), [1, 0, 6]);
        assert_eq!(hardtanh(&i, f(-0.5), f(2.5), false).unwrap().to_vec::<i64>().unwrap(), [1, 0, 2]);
        assert_eq!(threshold(&i, f(1.5), f(5.5), true).unwrap().to_vec::<i64>().unwrap(), [5, 5, 9]);
        assert_eq!(i.to_vec::<i64>().unwrap(), [5, 5, 9]);
        assert!(hardtanh(&i, n(2), n(1), false).is_err());
        assert!(leaky_relu(&i, n(1), false).is_err());
        assert!(softshrink(&noise(1, &[2]), n(-1)).is_err());
        assert!(relu6(&Tensor::from_slice(&[true], &[1]).unwrap(), false).is_err());
        let nan = Tensor::from_slice(&[f32::NAN], &[1]).unwrap();
        for y in [relu6(&nan, false), leaky_relu(&nan, f(0.1), false), softshrink(&nan, f(0.5)), hardswish(&nan, false)]
        {
            assert!(y.unwrap().to_vec::<f32>().unwrap()[0].is_nan());
        }
    }
}
