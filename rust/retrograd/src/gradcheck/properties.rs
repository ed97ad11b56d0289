//! What a backward pass and forward mode must do besides giving the right numbers.
//!
//! Gradients of zero lead to gradients of zero; gradients and tangents that are not there count as zeros; and a batch
//! of gradients or tangents leads to what each of them leads to alone.

use std::sync::Arc;

use super::check::{Check, zeros_like};
use super::numbers::{Draws, Number, place, read, shown, write, write_like};
use super::report::{Failure, Outcome, Report, agree, comparison, tensor, worst};
use crate::engine::transforms::{Level, Open};
use crate::engine::{self, Error};
use crate::{Result, Tensor, custom_op};

type Raw = engine::Tensor;

// Two ways through the same rules differ by rounding alone: the tolerances of allclose.
const RTOL: f64 = 1e-5;
const ATOL: f64 = 1e-8;
const BATCH: usize = 2;

fn is_zero(values: &[Number]) -> bool {
    values.iter().all(|v| *v == Number::default())
}

fn text(t: &Raw) -> Result<String> {
    Ok(tensor(&read(t)?, t.sizes()))
}

/// The gradients for a sum of gradients are the sum of the gradients for each: rows alone, one for each unit vector, do
/// not tell.
pub(super) fn check_linear(check: &Check, seed: u64) -> Outcome<()> {
    let mut draws = Draws::new(seed);
    let (atol, rtol) = (check.tolerances.atol, check.tolerances.rtol);
    let sum = |a: &[Number], b: &[Number]| -> Vec<Number> { a.iter().zip(b).map(|(&a, &b)| a + b).collect() };
    for (k, y) in check.outputs.iter().enumerate() {
        let (a, b) = (draws.values(y), draws.values(y));
        let (for_a, for_b, for_sum) = (check.row(k, &a)?, check.row(k, &b)?, check.row(k, &sum(&a, &b))?);
        for (i, x) in check.sources.iter().enumerate() {
            let expected = sum(&for_a[i], &for_b[i]);
            if agree(&expected, &for_sum[i], atol, rtol) {
                continue;
            }
            let (_, at) = worst(&vec![expected.clone()], &vec![for_sum[i].clone()], atol, rtol);
            return Err(Report::new(
                Failure::NotLinear,
                format!(
                    "backward is not linear in grad_output: for the sum of two gradients of output {}, {} does not get the \
                     sum of what it gets for each. Worst at entry {}:\n  {}\nLikely cause: grad_output is in the rule more \
                     than once, or in a function that is not linear",
                    check.positions[k],
                    check.name(i),
                    shown(&place(at, x.sizes())),
                    comparison(["sum", "together"], [expected[at], for_sum[i][at]], atol, rtol)
                ),
            ));
        }
    }
    Ok(())
}

/// Zero gradients of all outputs give zero gradients of the inputs, of their dtype and sizes.
pub(super) fn check_zero_gradients(check: &Check) -> Outcome<()> {
    let zeros = check.outputs.iter().map(zeros_like).collect::<Result<Vec<Raw>>>()?;
    let grads = check.pull_back(&check.outputs, &zeros)?;
    for (i, (x, g)) in check.sources.iter().zip(&grads).enumerate() {
        let Some(g) = g else { continue };
        if !is_zero(&read(g)?) {
            return Err(Report::new(
                Failure::ZeroGradients,
                format!(
                    "backward not multiplied by grad_output: with grad_outputs of zero, {} gets the gradient {}. Likely \
                     cause: a term of the rule lacks the factor grad_output, or the rule gives NaN or infinity",
                    check.name(i),
                    text(g)?
                ),
            ));
        }
        if g.dtype() != x.dtype() {
            return Err(Report::new(
                Failure::Gradient,
                format!(
                    "grad is incorrect type: {} for {}, which is {}",
                    g.dtype().name(),
                    check.name(i),
                    x.dtype().name()
                ),
            ));
        }
    }
    Ok(())
}

/// Output gradients that are undefined, all or one at a time, are handled, and count as zero.
pub(super) fn check_undefined_gradients(check: &Check) -> Outcome<()> {
    let count = check.outputs.len();
    // The identity, whose backward gives no gradient at all.
    let undefined = custom_op("undefined", |x: &Tensor| engine::ops::memory::cloned(&x.0).map(Tensor), |_, _, _| None);
    let mut subsets: Vec<Vec<usize>> = vec![(0..count).collect()];
    if count > 1 {
        subsets.extend((0..count).map(|k| vec![k]));
    }
    for subset in subsets {
        let outputs = check.outputs_at(&check.inputs)?;
        let mut roots = Vec::new();
        for (n, &k) in check.positions.iter().enumerate() {
            let Some(Some(y)) = outputs.get(k) else { continue };
            roots.push(if subset.contains(&n) { undefined.try_call(Tensor(y.clone()))?.0 } else { y.clone() });
        }
        let those: Vec<String> = subset.iter().map(|&n| check.positions[n].to_string()).collect();
        let those = format!("the gradient of output {}", those.join(" and "));
        let zeros = roots.iter().map(zeros_like).collect::<Result<Vec<Raw>>>()?;
        let grads = check.pull_back(&roots, &zeros).map_err(|error| {
            Report::new(
                Failure::UndefinedGradients,
                format!(
                    "Expected backward function to handle undefined output grads: with {those} undefined it returned an \
                     error: {error}. Rules are given zeros for them; check_undefined(false) leaves this out"
                ),
            )
            .with_error(error)
        })?;
        for (i, g) in grads.iter().enumerate() {
            let Some(g) = g else { continue };
            if !is_zero(&read(g)?) {
                return Err(Report::new(
                    Failure::UndefinedGradients,
                    format!(
                        "Expected all input grads to be undefined or zero when all output grads are undefined or zero, but \
                         with {those} undefined {} gets the gradient {}. Likely cause: the rule takes None for something \
                         else than zeros",
                        check.name(i),
                        text(g)?
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// A tangent that is not there leads to what a tangent of zeros leads to.
pub(super) fn check_undefined_tangents(check: &Check, seed: u64) -> Outcome<()> {
    let mut draws = Draws::new(seed);
    let drawn = check.sources.iter().map(|x| write_like(&draws.values(x), x).map(Some)).collect::<Result<Vec<_>>>()?;
    for (i, x) in check.sources.iter().enumerate() {
        let mut tangents = drawn.clone();
        tangents[i] = Some(zeros_like(x)?);
        let expected = check.push_forward(&tangents, None)?;
        tangents[i] = None;
        let found = check.push_forward(&tangents, None)?;
        for (k, (e, g)) in expected.iter().zip(&found).enumerate() {
            let (Some(e), Some(g)) = (e, g) else { continue };
            if !agree(&read(e)?, &read(g)?, ATOL, RTOL) {
                return Err(Report::new(
                    Failure::UndefinedTangents,
                    format!(
                        "Mismatch in tangent values for output with index: {} when {} has an undefined tangent value. Got: \
                         {} but expected, as for a tangent of zeros: {}",
                        check.positions[k],
                        check.name(i),
                        text(g)?,
                        text(e)?
                    ),
                ));
            }
        }
    }
    Ok(())
}

// ---- batches

/// Of a tensor, and the level it is batched at.
type Run<'a> = &'a dyn Fn(&Raw, Option<&Arc<Level>>) -> Outcome<Vec<Option<Raw>>>;

/// A batch of gradients of an output gives what each of them gives alone.
pub(super) fn check_batched_gradients(check: &Check, seed: u64) -> Outcome<()> {
    let mut draws = Draws::new(seed);
    for (k, output) in check.outputs.iter().enumerate() {
        let vjp = |weights: &Raw, _: Option<&Arc<Level>>| {
            Ok(check.pull_back(std::slice::from_ref(output), std::slice::from_ref(weights))?)
        };
        let (alone, batched) = both_ways(&vjp, output, &mut draws, Failure::BatchedGradients)?;
        for (i, x) in check.sources.iter().enumerate() {
            let members = alone.iter().map(|grads| grads[i].as_ref()).collect();
            compare(check, (i, k), x, members, batched[i].as_ref(), false)?;
        }
    }
    Ok(())
}

/// A batch of tangents of an input gives what each of them gives alone.
pub(super) fn check_batched_tangents(check: &Check, seed: u64) -> Outcome<()> {
    let mut draws = Draws::new(seed);
    for (i, x) in check.sources.iter().enumerate() {
        let jvp = |tangent: &Raw, along: Option<&Arc<Level>>| {
            let mut tangents = vec![None; check.sources.len()];
            tangents[i] = Some(tangent.clone());
            check.push_forward(&tangents, along)
        };
        let (alone, batched) = both_ways(&jvp, x, &mut draws, Failure::BatchedTangents)?;
        for (k, output) in check.outputs.iter().enumerate() {
            let members = alone.iter().map(|tangents| tangents[k].as_ref()).collect();
            compare(check, (i, k), output, members, batched[k].as_ref(), true)?;
        }
    }
    Ok(())
}

/// What `run` gives for random tensors alone, and for a batch of them: with the batch as first axis.
#[expect(clippy::type_complexity, reason = "it is read once, next to where it is made")]
fn both_ways(
    run: Run,
    like: &Raw,
    draws: &mut Draws,
    failure: Failure,
) -> Outcome<(Vec<Vec<Option<Raw>>>, Vec<Option<Raw>>)> {
    let drawn: Vec<Vec<Number>> = (0..BATCH).map(|_| draws.values(like)).collect();
    let alone = drawn.iter().map(|values| run(&write_like(values, like)?, None)).collect::<Outcome<Vec<_>>>()?;
    let sizes: Vec<usize> = [BATCH].iter().chain(like.sizes()).copied().collect();
    let stacked = write(&drawn.concat(), &sizes, like.dtype())?;
    let of_batch = || {
        let open = Open::private(BATCH);
        let level = open.level();
        let batched = run(&stacked.batch(0, &level)?, Some(&level))?;
        let whole = batched.into_iter().map(|t| t.map(|t| t.unbatch(0, &level)).transpose());
        Ok(whole.collect::<Result<Vec<_>, Error>>()?)
    };
    let batched = of_batch().map_err(|report: Report| {
        let Some(error) = report.error().cloned() else { return report };
        Report::new(
            failure,
            format!(
                "While computing batched gradients, got: {error}\n\nLikely cause: a rule looks at values (item(), a branch), \
                 or writes what is batched into memory that is not; it runs once for the whole batch"
            ),
        )
        .with_error(error)
    })?;
    Ok((alone, batched))
}

/// Whether the runs alone and the run of the batch gave the same; `like` is what a single result looks like.
fn compare(
    check: &Check,
    (i, k): (usize, usize),
    like: &Raw,
    alone: Vec<Option<&Raw>>,
    batch: Option<&Raw>,
    forward: bool,
) -> Outcome<()> {
    let size = like.numel();
    let values = |t: Option<&Raw>, count: usize| t.map_or_else(|| Ok(vec![Number::default(); count]), read);
    let expected = alone.into_iter().map(|t| values(t, size)).collect::<Result<Vec<_>>>()?;
    let all = values(batch, BATCH * size)?;
    let got: Vec<Vec<Number>> = (0..BATCH).map(|n| all[n * size..(n + 1) * size].to_vec()).collect();
    if expected.iter().zip(&got).all(|(e, g)| agree(e, g, ATOL, RTOL)) {
        return Ok(());
    }
    let (n, at) = worst(&expected, &got, ATOL, RTOL);
    let sizes: Vec<usize> = [BATCH].iter().chain(like.sizes()).copied().collect();
    let output = check.positions[k];
    let (what, how, failure) = match forward {
        true => (format!("the tangent of output {output}"), " (computed with forward mode)", Failure::BatchedTangents),
        false => (format!("the gradient of {}", check.name(i)), "", Failure::BatchedGradients),
    };
    Err(Report::new(
        failure,
        format!(
            "While computing batched gradients: a batch gives something else than its members give one by one{how}.\nFor \
             output {output} and input {}:\nGot:\n{}\nExpected:\n{}\nWorst in {what}, member {n} of the batch, entry {}:\n  \
             {}\nLikely cause: the batching rule of an op that the derivative rests on is wrong (the vmap of a Function), or \
             a rule depends on more of its gradients than their values",
            check.differentiable[i],
            tensor(&got.concat(), &sizes),
            tensor(&expected.concat(), &sizes),
            shown(&place(at, like.sizes())),
            comparison(["alone", "batched"], [expected[n][at], got[n][at]], ATOL, RTOL)
        ),
    ))
}
