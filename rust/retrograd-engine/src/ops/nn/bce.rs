//! `binary_cross_entropy` and its form for logits.

use retrograd_macros::op;
use smallvec::SmallVec;

use super::Reduction;
use super::activation::log_sigmoid;
use super::elementwise_loss::{Element, ElementLoss, lost};
use super::smooth_activations::logsigmoid;
use crate::error::{Error, Result, Shape};
use crate::kernels::math;
use crate::kernels::simd::Vector;
use crate::ops::memory;
use crate::ops::pointwise::result_type;
use crate::ops::view::expand_to;
use crate::tensor::copy;
use crate::tensor::layout::broadcast;
use crate::tensor::{Scalar, Tensor};

/// Logarithms of probabilities are not below this, so that a certain and wrong prediction costs no infinity.
const LEAST_LOG: f64 = -100.0;
/// The variance of a prediction that its derivative is divided by is not below this.
const LEAST_VARIANCE: f64 = 1e-12;

fn number(x: f64) -> Result<Tensor> {
    Tensor::number(Scalar::Float(x))
}

/// A gradient times the weight, if there is one.
fn weighted(gradient: Tensor, xs: &[&Tensor]) -> Result<Tensor> {
    xs.get(2).map_or(Ok(gradient.clone()), |w| gradient.mul(w))
}

/// `-w (t log(p) + (1 - t) log(1 - p))` of a probability `p`.
#[derive(Clone, Copy, Debug)]
struct Bce;

impl ElementLoss for Bce {
    const NODE: &'static str = "BinaryCrossEntropyBackward0";
    const INPUTS: u32 = 0b011;
    #[inline(always)]
    fn value<V: Vector>(_: V, [x, t, w, _]: Element<V>) -> V {
        let (one, least) = (x.of(1.0), x.of(LEAST_LOG));
        let (yes, no) = (math::log(x).at_least(least), math::log1p(-x).at_least(least));
        ((t - one) * no - t * yes) * w
    }
    #[inline(always)]
    fn derivative<V: Vector>(_: V, [x, t, w, _]: Element<V>) -> V {
        let variance = ((x.of(1.0) - x) * x).at_least(x.of(LEAST_VARIANCE));
        (x - t) / variance * w
    }
    fn gradient(_: f64, xs: &[&Tensor], i: usize) -> Result<Tensor> {
        let (x, t) = (xs[0], xs[1]);
        let other = x.times(-1.0)?.plus(1.0)?;
        weighted(
            if i == 0 {
                x.sub(t)?.div(&other.mul(x)?.clamp_min(&number(LEAST_VARIANCE)?)?)?
            } else {
                let least = number(LEAST_LOG)?;
                other.log()?.clamp_min(&least)?.sub(&x.log()?.clamp_min(&least)?)?
            },
            xs,
        )
    }
    fn check(input: &Tensor) -> Result<()> {
        let x = copy::contiguous(input)?;
        let probable = |x: f64| (0.0..=1.0).contains(&x);
        let all = match (x.as_slice::<f32>(), x.as_slice::<f64>()) {
            (Some(x), _) => x.iter().all(|&x| probable(x.into())),
            (_, Some(x)) => x.iter().all(|&x| probable(x)),
            _ => true,
        };
        if all {
            return Ok(());
        }
        Err(Error::shape(
            "binary_cross_entropy",
            "all elements of input should be between 0 and 1: for logits use binary_cross_entropy_with_logits",
        ))
    }
}

/// `w ((1 - t) x - (1 + (q - 1) t) log s(x))` of a logit `x`, `s` the logistic function, `q` the weight of positive
/// targets.
#[derive(Clone, Copy, Debug)]
struct BceWithLogits;

impl ElementLoss for BceWithLogits {
    const NODE: &'static str = "BinaryCrossEntropyWithLogitsBackward0";
    const INPUTS: u32 = 0b0011;
    #[inline(always)]
    fn value<V: Vector>(_: V, [x, t, w, q]: Element<V>) -> V {
        let one = x.of(1.0);
        let share = one + (q - one) * t;
        ((one - t) * x - share * log_sigmoid(x)) * w
    }
    #[inline(always)]
    fn derivative<V: Vector>(_: V, [x, t, w, q]: Element<V>) -> V {
        let one = x.of(1.0);
        let share = one + (q - one) * t;
        (share * math::sigmoid(x) - q * t) * w
    }
    fn gradient(_: f64, xs: &[&Tensor], i: usize) -> Result<Tensor> {
        let (x, t, q) = (xs[0], xs[1], xs.get(3));
        weighted(
            match (i, q) {
                (0, None) => x.sigmoid()?.sub(t)?,
                (0, Some(q)) => {
                    let share = q.plus(-1.0)?.mul(t)?.plus(1.0)?;
                    x.sigmoid()?.mul(&share)?.sub(&q.mul(t)?)?
                }
                (_, None) => x.neg()?,
                (_, Some(q)) => logsigmoid(&x.neg()?)?.sub(&logsigmoid(x)?.mul(q)?)?,
            },
            xs,
        )
    }
}

/// The cross entropy of probabilities and targets, `-(target * log(input) + (1 - target) * log(1 - input))`, and its
/// mean or sum. Logarithms are not below -100.
///
/// Args: `input` floating dtype, from 0 to 1; `target` of the same shape and dtype; `weight` a tensor whose shape
/// broadcasts with it, or None; `reduction` 'mean', 'sum' or 'none'. `size_average` and `reduce` are deprecated.
/// Returns: a 0-dim tensor, or the losses of the elements for 'none'.
/// Derivative: `g * (input - target) / (input * (1 - input))` (divided by the count for 'mean'); for the target
/// `g * log((1 - input) / input)`; none for the weight.
/// Raises: ValueError for other shapes or another reduction; RuntimeError for inputs that are no probabilities, dtypes
/// that differ, or a weight that requires grad.
///
/// >>> rg.nn.functional.binary_cross_entropy(rg.tensor([0.0]), rg.tensor([1.0])).item()
/// 100.0
#[op(function, norust, module = "nn.functional", "(weight=None, size_average=None, reduce=None, reduction='mean')")]
pub fn binary_cross_entropy(
    input: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
) -> Result<Tensor> {
    const OP: &str = "binary_cross_entropy";
    let reduction = Reduction::of(OP, size_average, reduce, reduction)?;
    if target.sizes() != input.sizes() {
        return Err(Error::value(
            OP,
            format!(
                "Using a target size ({}) that is different to the input size ({}) is deprecated. Please ensure they have \
                 the same size.",
                Shape(target.sizes()),
                Shape(input.sizes())
            ),
        ));
    }
    if let Some(x) = [Some(target), weight].into_iter().flatten().find(|x| x.dtype() != input.dtype()) {
        return Err(Error::dtype(
            OP,
            format!(
                "Found dtype {} but expected {}: convert it with .to",
                x.dtype().scalar_type_name(),
                input.dtype().scalar_type_name()
            ),
        ));
    }
    let weight = weight.map(|w| expand_to(w, &broadcast(OP, target.sizes(), w.sizes())?)).transpose()?;
    let mut xs: SmallVec<[&Tensor; 3]> = SmallVec::from_slice(&[input, target]);
    if let Some(w) = &weight {
        if w.sizes() != input.sizes() {
            return Err(Error::broadcast(OP, input.sizes(), w.sizes()));
        }
        xs.push(w);
    }
    lost::<Bce, 3>(OP, 0.0, reduction, &xs)
}

/// The cross entropy of logits and targets: `binary_cross_entropy` of `sigmoid(input)`, without its loss of precision.
///
/// Args: `input` floating dtype, any number; `target` of the same shape; `weight` a tensor whose shape broadcasts
/// to it, or None; `pos_weight` such a tensor for the positive part, or None; `reduction` 'mean', 'sum' or 'none'.
/// `size_average` and `reduce` are deprecated.
/// Returns: a 0-dim tensor, or the losses of the elements for 'none'.
/// Derivative: `g * (sigmoid(input) - target)` (divided by the count for 'mean'), `-g * input` for the target; none for
/// the weights.
/// Raises: ValueError for other shapes or another reduction; RuntimeError for weights that do not broadcast or require
/// grad.
///
/// >>> rg.nn.functional.binary_cross_entropy_with_logits(rg.tensor([-1000.0]), rg.tensor([1.0])).item()
/// 1000.0
#[op(
    function,
    norust,
    module = "nn.functional",
    "(weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None)"
)]
pub fn binary_cross_entropy_with_logits(
    input: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
    pos_weight: Option<&Tensor>,
) -> Result<Tensor> {
    const OP: &str = "binary_cross_entropy_with_logits";
    let reduction = Reduction::of(OP, size_average, reduce, reduction)?;
    if target.sizes() != input.sizes() {
        return Err(Error::value(
            OP,
            format!(
                "Target size ({}) must be the same as input size ({})",
                Shape(target.sizes()),
                Shape(input.sizes())
            ),
        ));
    }
    let one = Tensor::full(&[], Scalar::Int(1), input.dtype())?;
    let mut given: SmallVec<[&Tensor; 4]> = SmallVec::from_slice(&[input, target]);
    // The weight keeps its place before the other one.
    given.extend(weight.or(pos_weight.map(|_| &one)));
    given.extend(pos_weight);
    for w in &given[2..] {
        if broadcast(OP, input.sizes(), w.sizes())?[..] != *input.sizes() {
            return Err(Error::broadcast(OP, input.sizes(), w.sizes()));
        }
    }
    let dtype = result_type(&given);
    let xs: SmallVec<[Tensor; 4]> = given.iter().map(|x| memory::cast(x, dtype)).collect::<Result<_>>()?;
    lost::<BceWithLogits, 4>(OP, 0.0, reduction, &xs.iter().collect::<SmallVec<[&Tensor; 4]>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        for reduction in ["mean", "sum", "none"] {
            let p = |seed| noise(seed, &[3, 4]).times(0.4).unwrap().plus(0.5).unwrap();
            let (w, q) = (noise(3, &[4]), noise(4, &[3, 1]));
            for w in [None, Some(&w)] {
                gradcheck(&|t| binary_cross_entropy(&t[0], &t[1], w, None, None, reduction), &[p(1), p(2)]);
                for q in [None, Some(&q)] {
                    gradcheck(
                        &|t| binary_cross_entropy_with_logits(&t[0], &t[1], w, None, None, reduction, q),
                        &[noise(1, &[3, 4]), p(2)],
                    );
                }
            }
        }
    }

    #[test]
    fn refusals() {
        let x = noise(1, &[3]).times(3.0).unwrap();
        assert!(binary_cross_entropy(&x, &x, None, None, None, "mean").is_err());
        let p = x.sigmoid().unwrap();
        assert!(binary_cross_entropy(&p, &noise(1, &[2]), None, None, None, "mean").is_err());
        let w = noise(1, &[2, 3]);
        assert!(binary_cross_entropy_with_logits(&x, &p, Some(&w), None, None, "mean", None).is_err());
        let w = noise(1, &[3]);
        w.set_requires_grad(true).unwrap();
        assert!(binary_cross_entropy_with_logits(&x, &p, None, None, None, "mean", Some(&w)).is_err());
    }
}
