//! Losses composed of other ops: divergences, margins and likelihoods.

use retrograd_macros::op;

use super::Reduction;
use super::distance::pairwise_distance;
use crate::autograd::mode::GradGuard;
use crate::error::{Error, Result, Shape};
use crate::ops::memory;
use crate::ops::pointwise::select::where_;
use crate::tensor::{Scalar, Tensor};

fn number(x: f64) -> Result<Tensor> {
    Tensor::number(Scalar::Float(x))
}

fn zero() -> Result<Tensor> {
    Tensor::number(Scalar::Int(0))
}

/// `max(x, 0)`, whose derivative at 0 is 1.
fn positive_part(x: &Tensor) -> Result<Tensor> {
    x.clamp_min(&zero()?)
}

/// The Kullback-Leibler divergence of log probabilities `input` from probabilities `target`, `target * (log(target) -
/// input)`, and its mean or sum.
///
/// Args: `input` floating dtype, log probabilities; `target` of a shape that broadcasts with it, probabilities, or
/// their logarithms if `log_target`; `reduction` 'batchmean' (the sum over dim 0's size), 'mean', 'sum' or 'none'.
/// `size_average` and `reduce` are deprecated.
/// Returns: a 0-dim tensor, or the losses of the elements for 'none'. Derivative: `-g * target` (divided by the count
/// for 'mean'); for the target `g * (log(target) + 1 - input)`.
/// Raises: RuntimeError if shapes do not broadcast or for integers, ValueError for another reduction.
///
/// >>> rg.nn.functional.kl_div(rg.tensor([0.0, 0.0]), rg.tensor([1.0, 1.0]), reduction="sum").item()
/// 0.0
#[op(
    function,
    norust,
    module = "nn.functional",
    "(size_average=None, reduce=None, reduction='mean', log_target=False)"
)]
pub fn kl_div(
    input: &Tensor,
    target: &Tensor,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
    log_target: bool,
) -> Result<Tensor> {
    const OP: &str = "kl_div";
    let of_batch = reduction == "batchmean";
    let flags = size_average.is_some() || reduce.is_some();
    if reduction == "mean" && !flags {
        crate::warn::warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by \
             the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as \
             'batchmean' in the next major release.",
        )?;
    }
    let name = if of_batch { "sum" } else { reduction };
    let reduction = Reduction::of(OP, size_average, reduce, name)?;
    if !input.dtype().is_floating() || !target.dtype().is_floating() {
        return Err(Error::dtype(OP, "Integral inputs not supported: convert them with .to(float32)"));
    }
    let losses = if log_target {
        target.exp()?.mul(&target.sub(input)?)?
    } else {
        // Nothing is lost where the target is 0, whatever its logarithm.
        let entropy = where_(&target.eq(&zero()?)?, &zero()?, &target.mul(&target.log()?)?)?;
        entropy.sub(&target.mul(input)?)?
    };
    let loss = reduction.reduced(&losses)?;
    if of_batch && input.ndim() > 0 { loss.div(&number(input.sizes()[0] as f64)?) } else { Ok(loss) }
}

/// The loss of two inputs that are not ranked as the target says, `max(-target * (input1 - input2) + margin, 0)`, and
/// its mean or sum.
///
/// Args: `input1`, `input2` tensors, `target` of 1 and -1, all of as many dims, with broadcastable shapes; `margin` a
/// number; `reduction` 'mean', 'sum' or 'none'. `size_average` and `reduce` are deprecated.
/// Returns: a 0-dim tensor, or the losses of the elements for 'none'. Derivative: `-g * target` where the loss is not
/// below 0, and its negative; `-g * (input1 - input2)` for the target.
/// Raises: RuntimeError if dims differ or shapes do not broadcast, ValueError for another reduction.
///
/// >>> rg.nn.functional.margin_ranking_loss(rg.tensor([1.0]), rg.tensor([3.0]), rg.tensor([1.0])).item()
/// 2.0
#[op(function, norust, module = "nn.functional", "(margin=0, size_average=None, reduce=None, reduction='mean')")]
pub fn margin_ranking_loss(
    input1: &Tensor,
    input2: &Tensor,
    target: &Tensor,
    margin: Scalar,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
) -> Result<Tensor> {
    const OP: &str = "margin_ranking_loss";
    let reduction = Reduction::of(OP, size_average, reduce, reduction)?;
    if input1.ndim() != input2.ndim() || input1.ndim() != target.ndim() {
        return Err(Error::shape(
            OP,
            format!(
                "All input tensors should have same dimension but got sizes: input1: {}, input2: {}, target: {}",
                Shape(input1.sizes()),
                Shape(input2.sizes()),
                Shape(target.sizes())
            ),
        ));
    }
    let lost = target.neg()?.mul(&input1.sub(input2)?)?.add(&Tensor::number(margin)?)?;
    reduction.reduced(&positive_part(&lost)?)
}

/// The loss of distances: `input` where the target is 1, `max(margin - input, 0)` where it is -1; and its mean or sum.
///
/// Args: `input` floating dtype; `target` of 1 and -1, whose shape broadcasts with it; `margin` a number;
/// `reduction` 'mean', 'sum' or 'none'. `size_average` and `reduce` are deprecated.
/// Returns: a 0-dim tensor, or the losses of the elements for 'none'. Derivative: `g` where the target is 1, `-g` where
/// it is -1 and the input not above the margin.
/// Raises: RuntimeError if shapes do not broadcast, ValueError for another reduction.
///
/// >>> rg.nn.functional.hinge_embedding_loss(rg.tensor([3.0, 0.5]), rg.tensor([1.0, -1.0])).item()
/// 1.75
#[op(function, norust, module = "nn.functional", "(margin=1.0, size_average=None, reduce=None, reduction='mean')")]
pub fn hinge_embedding_loss(
    input: &Tensor,
    target: &Tensor,
    margin: f64,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
) -> Result<Tensor> {
    let reduction = Reduction::of("hinge_embedding_loss", size_average, reduce, reduction)?;
    let beyond = positive_part(&number(margin)?.sub(input)?)?;
    let (one, zero) = (Tensor::number(Scalar::Int(1))?, zero()?);
    let apart = where_(&target.ne(&one)?, &beyond, &zero)?;
    let together = where_(&target.ne(&Tensor::number(Scalar::Int(-1))?)?, input, &zero)?;
    reduction.reduced(&apart.add(&together)?)
}

/// The loss of the angles between vectors: `1 - cos` where the target is 1, `max(cos - margin, 0)` where it is -1; and
/// its mean or sum.
///
/// Args: `input1`, `input2` of shape (N, D) with `target` of shape (N,), or (D,) with a 0-dim one; `margin` a number;
/// `reduction` 'mean', 'sum' or 'none'. `size_average` and `reduce` are deprecated.
/// Returns: a 0-dim tensor, or the losses of the pairs for 'none'. Derivative: that of the cosine, `-g` where the
/// target is 1, `g` where it is -1 and the cosine above the margin.
/// Raises: RuntimeError for other shapes, ValueError for another reduction.
///
/// >>> x, y = rg.tensor([1.0, 0.0]), rg.tensor([0.0, 1.0])
/// >>> rg.nn.functional.cosine_embedding_loss(x, y, rg.tensor(1.0)).item()
/// 1.0
#[op(function, norust, module = "nn.functional", "(margin=0, size_average=None, reduce=None, reduction='mean')")]
pub fn cosine_embedding_loss(
    input1: &Tensor,
    input2: &Tensor,
    target: &Tensor,
    margin: Scalar,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
) -> Result<Tensor> {
    const OP: &str = "cosine_embedding_loss";
    /// Added to squared norms: the angle of the zero vector is a right one.
    const EPSILON: f64 = 1e-12;
    let reduction = Reduction::of(OP, size_average, reduce, reduction)?;
    let dims = target.ndim();
    if dims > 1 {
        return Err(Error::shape(
            OP,
            format!("0D or 1D target tensor expected, multi-target not supported, got shape {}", Shape(target.sizes())),
        ));
    }
    if input1.ndim() != dims + 1 || input2.ndim() != dims + 1 {
        return Err(Error::shape(
            OP,
            format!(
                "{dims}D target tensor expects {}D input tensors, but found inputs with sizes {} and {}.",
                dims + 1,
                Shape(input1.sizes()),
                Shape(input2.sizes())
            ),
        ));
    }
    let along = |a: &Tensor, b: &Tensor| a.mul(b)?.sum_dims(&[dims as i64], false);
    let squares = |x: &Tensor| along(x, x)?.plus(EPSILON);
    let cosine = along(input1, input2)?.div(&squares(input1)?.mul(&squares(input2)?)?.sqrt()?)?;
    let zero = zero()?;
    let is = |sign: i64| target.eq(&Tensor::number(Scalar::Int(sign))?);
    let together = where_(&is(1)?, &number(1.0)?.sub(&cosine)?, &zero)?;
    let apart = where_(&is(-1)?, &positive_part(&cosine.sub(&Tensor::number(margin)?)?)?, &zero)?;
    reduction.reduced(&together.add(&apart)?)
}

/// The loss of an anchor that is not nearer to the positive than to the negative by a margin: `max(d(anchor, positive)
/// - d(anchor, negative) + margin, 0)`, with the distance `d` along the last dim; and its mean or sum.
///
/// Args: `anchor`, `positive`, `negative` floating or complex dtype with broadcastable shapes and as many dims;
/// `margin` a positive number; `p` the norm and `eps` what is added to differences, as for `pairwise_distance`; `swap`
/// to take the distance of positive and negative where it is smaller; `reduction` 'mean', 'sum' or 'none'.
/// `size_average` and `reduce` are deprecated. Returns: a 0-dim tensor, or the losses of the triplets for 'none'.
/// Derivative: that of the distances, where the loss is not below 0. Raises: RuntimeError if shapes are incompatible,
/// ValueError for another reduction or margin.
///
/// >>> near, far = rg.tensor([[1.0, 0.0]]), rg.tensor([[0.0, 9.0]])
/// >>> rg.nn.functional.triplet_margin_loss(near, near, far).item()
/// 0.0
#[op(
    function,
    norust,
    module = "nn.functional",
    "(margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction='mean')"
)]
pub fn triplet_margin_loss(
    anchor: &Tensor,
    positive: &Tensor,
    negative: &Tensor,
    margin: f64,
    p: Scalar,
    eps: f64,
    swap: bool,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
) -> Result<Tensor> {
    const OP: &str = "triplet_margin_loss";
    let reduction = Reduction::of(OP, size_average, reduce, reduction)?;
    if margin <= 0.0 {
        return Err(Error::value(OP, format!("margin must be greater than 0, got {margin}")));
    }
    let (a, b, c) = (anchor.ndim(), positive.ndim(), negative.ndim());
    if a != b || a != c {
        return Err(Error::shape(
            OP,
            format!(
                "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: \
                 anchor {a}D, positive {b}D, and negative {c}D inputs"
            ),
        ));
    }
    let p = p.as_f64();
    let near = pairwise_distance(anchor, positive, p, eps, false)?;
    let mut far = pairwise_distance(anchor, negative, p, eps, false)?;
    if swap {
        far = far.minimum(&pairwise_distance(positive, negative, p, eps, false)?)?;
    }
    reduction.reduced(&positive_part(&near.sub(&far)?.plus(margin)?)?)
}

/// The negative log likelihood of normal distributions, `(log(var) + (input - target)**2 / var) / 2`, and its mean or
/// sum.
///
/// Args: `input` the means, floating dtype; `target` of the same shape or one that broadcasts; `var` a number, or a
/// tensor of the input's shape, or of it with the last size 1 or left out, not negative; `full` to add the constant
/// `log(2 * pi) / 2`; `eps` the least variance, to which smaller ones are raised (which the derivative ignores);
/// `reduction` 'mean', 'sum' or 'none'. Returns: a 0-dim tensor, or the losses of the elements for 'none'. Derivative:
/// `g * (input - target) / var` and its negative; `g * (1 - (input - target)**2 / var) / (2 * var)`. Raises: ValueError
/// for a negative or misshapen variance or another reduction.
///
/// >>> rg.nn.functional.gaussian_nll_loss(rg.tensor([1.0]), rg.tensor([3.0]), rg.tensor([1.0])).item()
/// 2.0
#[op(function, norust, module = "nn.functional", "(full=False, eps=1e-6, reduction='mean')")]
pub fn gaussian_nll_loss(
    input: &Tensor,
    target: &Tensor,
    #[operand] var: &Tensor,
    full: bool,
    eps: f64,
    reduction: &str,
) -> Result<Tensor> {
    const OP: &str = "gaussian_nll_loss";
    let mut var = if var.is_number() { Tensor::full(input.sizes(), var.item()?, input.dtype())? } else { var.clone() };
    if has_negative(&var)? {
        return Err(Error::value(OP, "var has negative entry/entries"));
    }
    if var.sizes() != input.sizes() {
        let differing: usize = var.sizes().iter().zip(input.sizes()).filter(|(v, x)| v != x).map(|(v, _)| v).sum();
        if input.ndim() > 0 && *var.sizes() == input.sizes()[..input.ndim() - 1] {
            var = var.unsqueeze(-1)?;
        } else if var.ndim() != input.ndim() || differing != 1 {
            return Err(Error::value(
                OP,
                format!("var is of incorrect size: {} for an input of {}", Shape(var.sizes()), Shape(input.sizes())),
            ));
        }
    }
    let reduction = Reduction::of(OP, None, None, reduction)?;
    let var = memory::cloned(&var)?;
    {
        let _unrecorded = GradGuard::new(false);
        var.clamp_min_(&number(eps)?)?;
    }
    let mut losses = var.log()?.add(&input.sub(target)?.power(Scalar::Int(2))?.div(&var)?)?.times(0.5)?;
    if full {
        losses = losses.plus(0.5 * (2.0 * std::f64::consts::PI).ln())?;
    }
    reduction.reduced(&losses)
}

/// Whether an element is negative; of a batch, in any entry.
fn has_negative(x: &Tensor) -> Result<bool> {
    let mut x = x.detach();
    while let Some(batched) = x.batched() {
        x = batched.value;
    }
    Ok(x.lt(&zero()?)?.any()?.item()?.as_f64() != 0.0)
}

/// The negative log likelihood of Poisson distributions, `exp(input) - target * input`, or `input - target * log(input
/// + eps)`, and its mean or sum.
///
/// Args: `input` the logarithms of the means if `log_input`, else the means; `target` the counts, of a shape that
/// broadcasts; `full` to add Stirling's approximation of `log(target!)` for targets above 1; `eps` a number;
/// `reduction` 'mean', 'sum' or 'none'. `size_average` and `reduce` are deprecated.
/// Returns: a 0-dim tensor, or the losses of the elements for 'none'. Derivative: `g * (exp(input) - target)`, or `g *
/// (1 - target / (input + eps))`; `-g * input`, or `-g * log(input + eps)`, for the target.
/// Raises: RuntimeError if shapes do not broadcast, ValueError for another reduction.
///
/// >>> rg.nn.functional.poisson_nll_loss(rg.tensor([0.0]), rg.tensor([5.0])).item()
/// 1.0
#[op(
    function,
    norust,
    module = "nn.functional",
    "(log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean')"
)]
pub fn poisson_nll_loss(
    input: &Tensor,
    target: &Tensor,
    log_input: bool,
    full: bool,
    size_average: Option<bool>,
    eps: f64,
    reduce: Option<bool>,
    reduction: &str,
) -> Result<Tensor> {
    let reduction = Reduction::of("poisson_nll_loss", size_average, reduce, reduction)?;
    let mut losses = if log_input {
        input.exp()?.sub(&target.mul(input)?)?
    } else {
        input.sub(&target.mul(&input.plus(eps)?.log()?)?)?
    };
    if full {
        let log = target.log()?;
        let root = target.times(2.0 * std::f64::consts::PI)?.log()?.times(0.5)?;
        let stirling = target.mul(&log)?.sub(target)?.add(&root)?;
        losses = losses.add(&stirling.masked_fill(&target.le(&Tensor::number(Scalar::Int(1))?)?, &zero()?)?)?;
    }
    reduction.reduced(&losses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn gradients() {
        let up = |seed, sizes: &[usize]| noise(seed, sizes).times(0.4).unwrap().plus(1.0).unwrap();
        let signs = noise(9, &[5]).sign().unwrap();
        for reduction in ["sum", "mean", "none"] {
            let (x, y) = (noise(1, &[5, 3]), noise(2, &[5, 3]));
            let xs = [x.clone(), up(3, &[5, 3])];
            for log in [false, true] {
                if reduction != "mean" {
                    gradcheck(&|t| kl_div(&t[0], &t[1], None, None, reduction, log), &xs);
                }
                gradcheck(&|t| poisson_nll_loss(&t[1], &t[0], log, false, None, 1e-8, None, reduction), &xs);
            }
            gradcheck(&|t| poisson_nll_loss(&t[0], &t[1], true, true, None, 1e-8, None, reduction), &xs);
            let (margin, none) = (Scalar::Float(0.2), None);
            let both = [x.clone(), y.clone()];
            gradcheck(&|t| cosine_embedding_loss(&t[0], &t[1], &signs, margin, none, none, reduction), &both);
            gradcheck(&|t| gaussian_nll_loss(&t[0], &y, &t[1], true, 1e-6, reduction), &xs);
            let flat = [noise(1, &[5]), noise(2, &[5])];
            gradcheck(&|t| margin_ranking_loss(&t[0], &t[1], &signs, margin, none, none, reduction), &flat);
            gradcheck(&|t| hinge_embedding_loss(&t[0], &signs, 0.3, none, none, reduction), &flat[..1]);
            for swap in [false, true] {
                let two = Scalar::Int(2);
                let loss = |t: &[Tensor]| {
                    triplet_margin_loss(&t[0], &t[1], &t[2], 1.0, two, 1e-6, swap, none, none, reduction)
                };
                gradcheck(&loss, &[x.clone(), y.clone(), noise(4, &[5, 3])]);
            }
        }
    }

    #[test]
    fn refusals() {
        let (x, y) = (noise(1, &[2, 3]), noise(2, &[2, 3]));
        assert!(margin_ranking_loss(&x, &y, &noise(1, &[]), Scalar::Int(0), None, None, "mean").is_err());
        assert!(cosine_embedding_loss(&x, &y, &noise(1, &[2, 2]), Scalar::Int(0), None, None, "mean").is_err());
        assert!(gaussian_nll_loss(&x, &y, &Tensor::number(Scalar::Float(-1.0)).unwrap(), false, 1e-6, "mean").is_err());
        assert!(gaussian_nll_loss(&x, &y, &y.square().unwrap().select(0, 0).unwrap(), false, 1e-6, "mean").is_err());
        assert!(kl_div(&x, &y, None, None, "most", false).is_err());
    }
}
