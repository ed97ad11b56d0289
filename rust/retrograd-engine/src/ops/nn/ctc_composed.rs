//! The gradient of `ctc_loss` in tensor ops, for derivatives of it.

use super::ctc::Targets;
use crate::error::Result;
use crate::ops::memory;
use crate::ops::pointwise::select::where_;
use crate::ops::view::{cat, expand_to, stack};
use crate::tensor::{DType, Scalar, Tensor};

/// Used as the logarithm of zero: its sums and differences are finite, and so are their derivatives.
const NONE: f64 = -1e30;

/// A table of numbers, one row for each sequence.
fn table(dtype: DType, count: usize, width: usize, f: impl Fn(usize, usize) -> f64) -> Result<Tensor> {
    let all: Vec<f64> = (0..count).flat_map(|n| (0..width).map(move |s| (n, s))).map(|(n, s)| f(n, s)).collect();
    memory::cast(&Tensor::from_slice(&all, &[count, width])?, dtype)
}

fn or_none(seen: bool) -> f64 {
    if seen { 0.0 } else { NONE }
}

/// The rows moved by `by` states: forwards, or backwards.
fn moved(x: &Tensor, by: usize, forwards: bool) -> Result<Tensor> {
    let (count, width) = (x.sizes()[0], x.sizes()[1]);
    let by = by.min(width);
    let blank = Tensor::full(&[count, by], Scalar::Float(NONE), x.dtype())?;
    if forwards {
        cat(&[blank, x.narrow(1, 0, (width - by) as i64)?], 1)
    } else {
        cat(&[x.narrow(1, by as i64, (width - by) as i64)?, blank], 1)
    }
}

/// The logarithm of the sum over the ways into each state.
fn ways(x: &Tensor, skip: &Tensor, forwards: bool) -> Result<Tensor> {
    let two = if forwards { moved(x, 2, true)?.add(skip)? } else { moved(&x.add(skip)?, 2, false)? };
    stack(&[x.clone(), moved(x, 1, forwards)?, two], 0)?.logsumexp(&[0], false)
}

/// The gradient of each loss with respect to the logarithms `x` (steps, sequences, classes), see `CtcLoss`.
pub(super) fn gradient(targets: &Targets, x: &Tensor, losses: &Tensor) -> Result<Tensor> {
    let &[steps, count, _] = x.sizes() else { unreachable!("checked by the forward pass") };
    let (width, dtype) = (targets.width(), x.dtype());
    if steps == 0 || count == 0 {
        return Ok(x.clone());
    }
    let label = |n: usize, s: usize| -> Option<usize> { targets.labels[n].get(s / 2).copied().filter(|_| s % 2 == 1) };
    let states: Vec<i64> = (0..count)
        .flat_map(|n| (0..width).map(move |s| (n, s)))
        .map(|(n, s)| label(n, s).unwrap_or(targets.blank) as i64)
        .collect();
    let states = expand_to(&Tensor::from_slice(&states, &[1, count, width])?, &[steps, count, width])?;
    let skip =
        table(dtype, count, width, |n, s| or_none(s > 1 && label(n, s).is_some() && label(n, s) != label(n, s - 2)))?;
    let first = table(dtype, count, width, |n, s| or_none(s < 2 && s <= 2 * targets.labels[n].len()))?;
    let last = table(dtype, count, width, |n, s| {
        let end = 2 * targets.labels[n].len();
        or_none(s == end || s + 1 == end)
    })?;

    let probs = x.gather(2, &states)?;
    let at = |t: usize| probs.select(0, t as i64);
    let mut alphas = vec![first.add(&at(0)?)?];
    for t in 1..steps {
        alphas.push(ways(&alphas[t - 1], &skip, true)?.add(&at(t)?)?);
    }
    // From each state to the end, without the probability of the step itself.
    let mut rest = Tensor::full(&[count, width], Scalar::Float(NONE), dtype)?;
    let mut betas = Vec::with_capacity(steps);
    for t in (0..steps).rev() {
        let ends: Vec<bool> = targets.steps.iter().map(|&n| n == t + 1).collect();
        let on = ways(&rest, &skip, false)?;
        let beta = where_(&Tensor::from_slice(&ends, &[count, 1])?, &last, &on)?;
        rest = beta.add(&at(t)?)?;
        betas.push(beta);
    }
    betas.reverse();
    let total = alphas[0].add(&betas[0])?.logsumexp(&[1], true)?;
    let shares = stack(&alphas, 0)?.add(&stack(&betas, 0)?)?.sub(&total)?.exp()?;

    let zeros = Tensor::zeros(x.sizes(), dtype)?;
    let gradient = x.exp()?.sub(&zeros.scatter_add(2, &states, &shares)?)?;
    let over: Vec<bool> = (0..steps).flat_map(|t| targets.steps.iter().map(move |&n| t >= n)).collect();
    let over = Tensor::from_slice(&over, &[steps, count, 1])?;
    let lost = losses.eq(&Tensor::number(Scalar::Float(f64::INFINITY))?)?.unsqueeze(-1)?;
    let instead = if targets.zero_infinity { 0.0 } else { f64::NAN };
    gradient
        .masked_fill(&lost, &Tensor::full(&[], Scalar::Float(instead), dtype)?)?
        .masked_fill(&over, &Tensor::full(&[], Scalar::Int(0), dtype)?)
}
