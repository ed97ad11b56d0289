//! Losses of a difference or a margin, one element at a time: smooth_l1_loss, huber_loss, soft_margin_loss.

use retrograd_macros::op;

use super::Reduction;
use super::activation::{log_sigmoid, up_to};
use super::elementwise_loss::{Element, ElementLoss, lost};
use super::loss::{aligned, l1_loss};
use super::smooth_activations::logsigmoid;
use crate::error::{Error, Result, Shape};
use crate::kernels::math;
use crate::kernels::simd::Vector;
use crate::ops::Value;
use crate::ops::memory;
use crate::ops::pointwise::result_type;
use crate::ops::pointwise::select::where_;
use crate::ops::view::expand_to;
use crate::tensor::layout::broadcast;
use crate::tensor::{Scalar, Tensor};

/// `x` between `-bound` and `bound`, flat from the bounds on.
fn within(x: &Tensor, bound: f64) -> Result<Tensor> {
    let end = x.sign()?.times(bound)?;
    where_(&x.abs()?.ge(&Tensor::number(Scalar::Float(bound))?)?, &end, x)
}

/// `d` between -1 and 1 after division by `bound`.
#[inline(always)]
fn slope_of<V: Vector>(d: V, bound: V) -> V {
    (d / bound).at_least(d.of(-1.0)).at_most(d.of(1.0))
}

/// `d^2 / (2 beta)` of the difference `d` up to `beta`, then `|d| - beta / 2`.
#[derive(Clone, Copy, Debug)]
struct SmoothL1;

impl ElementLoss for SmoothL1 {
    const NODE: &'static str = "SmoothL1LossBackward0";
    const OF_DIFFERENCE: bool = true;
    const INPUTS: u32 = 0b11;
    #[inline(always)]
    fn value<V: Vector>(beta: V, [x, y, ..]: Element<V>) -> V {
        let (d, half) = ((x - y).abs(), x.of(0.5));
        (half * d * d / beta).select(d.lt(beta), d - half * beta)
    }
    #[inline(always)]
    fn derivative<V: Vector>(beta: V, [x, y, ..]: Element<V>) -> V {
        slope_of(x - y, beta)
    }
    fn gradient(beta: f64, xs: &[&Tensor], i: usize) -> Result<Tensor> {
        within(&xs[i].sub(xs[1 - i])?, beta)?.times(1.0 / beta)
    }
    fn shown(beta: f64) -> Option<(&'static str, Value)> {
        Some(("beta", beta.into()))
    }
}

/// `d^2 / 2` of the difference `d` up to `delta`, then `delta (|d| - delta / 2)`.
#[derive(Clone, Copy, Debug)]
struct Huber;

impl ElementLoss for Huber {
    const NODE: &'static str = "HuberLossBackward0";
    const OF_DIFFERENCE: bool = true;
    const INPUTS: u32 = 0b11;
    #[inline(always)]
    fn value<V: Vector>(delta: V, [x, y, ..]: Element<V>) -> V {
        let (d, half) = ((x - y).abs(), x.of(0.5));
        up_to(delta, d, half * d * d, delta * (d - half * delta))
    }
    #[inline(always)]
    fn derivative<V: Vector>(delta: V, [x, y, ..]: Element<V>) -> V {
        delta * slope_of(x - y, delta)
    }
    fn gradient(delta: f64, xs: &[&Tensor], i: usize) -> Result<Tensor> {
        within(&xs[i].sub(xs[1 - i])?, delta)
    }
    fn shown(delta: f64) -> Option<(&'static str, Value)> {
        Some(("delta", delta.into()))
    }
}

/// `log(1 + exp(-x y))`.
#[derive(Clone, Copy, Debug)]
struct SoftMargin;

impl ElementLoss for SoftMargin {
    const NODE: &'static str = "SoftMarginLossBackward0";
    const INPUTS: u32 = 0b01;
    #[inline(always)]
    fn value<V: Vector>(_: V, [x, y, ..]: Element<V>) -> V {
        -log_sigmoid(x * y)
    }
    #[inline(always)]
    fn derivative<V: Vector>(_: V, [x, y, ..]: Element<V>) -> V {
        -y / (x.of(1.0) + math::exp(x * y))
    }
    fn gradient(_: f64, xs: &[&Tensor], _: usize) -> Result<Tensor> {
        xs[0].mul(xs[1])?.neg()?.sigmoid()?.mul(xs[1])?.neg()
    }
}

/// The squared error where it is small, the absolute one where it is large: `d**2 / (2 * beta)` for `d = abs(input -
/// target) < beta`, else `d - beta / 2`; and its mean or sum.
///
/// Args: `input`, `target` floating dtype of one shape (others broadcast, with a warning); `reduction` 'mean',
/// 'sum' or 'none'; `beta` a number, 0 for `l1_loss`. `size_average` and `reduce` are deprecated.
/// Returns: a 0-dim tensor, or the losses of the elements for 'none'.
/// Derivative: `g * (input - target) / beta` between -1 and 1 (divided by the count for 'mean'), and its negative.
/// Raises: RuntimeError for a negative `beta` or shapes that do not broadcast, ValueError for another reduction.
///
/// >>> rg.nn.functional.smooth_l1_loss(rg.tensor([1.0, 2.0]), rg.tensor([2.0, 4.0])).item()
/// 1.0
#[op(function, norust, module = "nn.functional", "(size_average=None, reduce=None, reduction='mean', beta=1.0)")]
pub fn smooth_l1_loss(
    input: &Tensor,
    target: &Tensor,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
    beta: f64,
) -> Result<Tensor> {
    const OP: &str = "smooth_l1_loss";
    if beta == 0.0 {
        return l1_loss(input, target, size_average, reduce, reduction, None);
    }
    let reduction = Reduction::of(OP, size_average, reduce, reduction)?;
    if beta < 0.0 {
        return Err(Error::shape(OP, format!("smooth_l1_loss does not support negative values for beta, got {beta}")));
    }
    let (x, y) = aligned(OP, input, target)?;
    let dtype = result_type(&[&x, &y]);
    lost::<SmoothL1, 2>(OP, beta, reduction, &[&memory::cast(&x, dtype)?, &memory::cast(&y, dtype)?])
}

/// The squared error where it is small, a line where it is large: `d**2 / 2` for `d = abs(input - target) <= delta`,
/// else `delta * (d - delta / 2)`; and its mean or sum.
///
/// Args: `input`, `target` floating dtype of one shape (others broadcast, with a warning); `reduction` 'mean',
/// 'sum' or 'none'; `delta` a positive number; `weight` of the input's shape, or None.
/// Returns: a 0-dim tensor of the input's dtype, or the losses of the elements for 'none'.
/// Derivative: `g * (input - target)` between `-delta` and `delta` (divided by the count for 'mean'), and its negative.
/// Raises: RuntimeError for another `delta` or shapes that do not broadcast, ValueError for another reduction.
///
/// >>> rg.nn.functional.huber_loss(rg.tensor([1.0, 2.0]), rg.tensor([2.0, 4.0])).item()
/// 1.0
#[op(function, norust, module = "nn.functional", "(reduction='mean', delta=1.0, weight=None)")]
pub fn huber_loss(
    input: &Tensor,
    target: &Tensor,
    reduction: &str,
    delta: f64,
    weight: Option<&Tensor>,
) -> Result<Tensor> {
    const OP: &str = "huber_loss";
    let reduction = Reduction::of(OP, None, None, reduction)?;
    if delta <= 0.0 {
        return Err(Error::shape(
            OP,
            format!("huber_loss does not support non-positive values for delta, got {delta}"),
        ));
    }
    let (x, y) = aligned(OP, input, target)?;
    let y = memory::cast(&y, x.dtype())?;
    let Some(weight) = weight else { return lost::<Huber, 2>(OP, delta, reduction, &[&x, &y]) };
    if weight.sizes() != input.sizes() {
        return Err(Error::value(
            OP,
            format!(
                "Weights and input must have the same size, got {} and {}",
                Shape(weight.sizes()),
                Shape(input.sizes())
            ),
        ));
    }
    reduction.reduced(&lost::<Huber, 2>(OP, delta, Reduction::None, &[&x, &y])?.mul(weight)?)
}

/// The logistic loss of a margin, `log(1 + exp(-target * input))`, and its mean or sum.
///
/// Args: `input` floating dtype; `target` of 1 and -1, whose shape broadcasts with it; `reduction` 'mean', 'sum' or
/// 'none'. `size_average` and `reduce` are deprecated.
/// Returns: a 0-dim tensor, or the losses of the elements for 'none'.
/// Derivative: `-g * target * sigmoid(-target * input)` (divided by the count for 'mean'); none for the target.
/// Raises: RuntimeError if shapes do not broadcast or the target requires grad, ValueError for another reduction.
///
/// >>> rg.nn.functional.soft_margin_loss(rg.tensor([-1000.0]), rg.tensor([1])).item()
/// 1000.0
#[op(function, norust, module = "nn.functional", "(size_average=None, reduce=None, reduction='mean')")]
pub fn soft_margin_loss(
    input: &Tensor,
    target: &Tensor,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
) -> Result<Tensor> {
    const OP: &str = "soft_margin_loss";
    let reduction = Reduction::of(OP, size_average, reduce, reduction)?;
    let sizes = broadcast(OP, input.sizes(), target.sizes())?;
    let (x, y) = (expand_to(input, &sizes)?, expand_to(&memory::cast(target, input.dtype())?, &sizes)?);
    lost::<SoftMargin, 2>(OP, 0.0, reduction, &[&x, &y])
}

/// The cross entropy of labels of which any number may hold, each with its own logit: the mean over the last axis of
/// `-target * logsigmoid(input) - (1 - target) * logsigmoid(-input)`, and the mean or sum of these.
///
/// Args: `input` floating dtype, of at least one axis; `target` of 0 and 1 and `weight` of any shapes that broadcast
/// with it; `reduction` 'mean', 'sum' or 'none'. `size_average` and `reduce` are deprecated. Returns: a 0-dim tensor,
/// or a loss per row for 'none'. Derivative: `g * weight * (sigmoid(input) - target)`, divided by the size of the last
/// axis and the count for 'mean'. Raises: RuntimeError if shapes do not broadcast, IndexError for no axis, ValueError
/// for another reduction.
///
/// >>> rg.nn.functional.multilabel_soft_margin_loss(rg.tensor([1000.0, -1000.0]), rg.tensor([1.0, 0.0])).item()
/// 0.0
#[op(function, norust, module = "nn.functional", "(weight=None, size_average=None, reduce=None, reduction='mean')")]
pub fn multilabel_soft_margin_loss(
    input: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
) -> Result<Tensor> {
    const OP: &str = "multilabel_soft_margin_loss";
    if size_average.or(reduce).is_none() && !["none", "mean", "sum"].contains(&reduction) {
        return Err(Error::value(OP, format!("{reduction} is not valid: use 'none', 'mean' or 'sum'")));
    }
    let reduction = Reduction::of(OP, size_average, reduce, reduction)?;
    if input.ndim() == 0 {
        return Err(Error::index(OP, "Dimension specified as -1 but tensor has no dimensions"));
    }
    let absent = target.neg()?.plus(1i64)?;
    let mut loss = target.mul(&logsigmoid(input)?)?.add(&absent.mul(&logsigmoid(&input.neg()?)?)?)?.neg()?;
    if let Some(weight) = weight {
        loss = loss.mul(weight)?;
    }
    let classes = Tensor::number(Scalar::Int(input.sizes()[input.ndim() - 1] as i64))?;
    reduction.reduced(&loss.sum_dims(&[input.ndim() as i64 - 1], false)?.div(&classes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        for reduction in ["mean", "sum", "none"] {
            let xs = [noise(1, &[3, 4]).times(2.0).unwrap(), noise(2, &[3, 4])];
            gradcheck(&|t| smooth_l1_loss(&t[0], &t[1], None, None, reduction, 0.7), &xs);
            gradcheck(&|t| huber_loss(&t[0], &t[1], reduction, 0.7, None), &xs);
            gradcheck(&|t| huber_loss(&t[0], &t[1], reduction, 0.7, Some(&t[1])), &xs);
            gradcheck(&|t| soft_margin_loss(&t[0], &xs[1], None, None, reduction), &xs[..1]);
        }
    }

    #[test]
    fn refusals() {
        let (x, y) = (noise(1, &[3]), noise(2, &[3]));
        assert!(smooth_l1_loss(&x, &y, None, None, "mean", -1.0).is_err());
        assert!(huber_loss(&x, &y, "mean", 0.0, None).is_err());
        assert!(huber_loss(&x, &y, "most", 1.0, None).is_err());
        y.set_requires_grad(true).unwrap();
        assert!(soft_margin_loss(&x, &y, None, None, "mean").is_err());
    }
}
