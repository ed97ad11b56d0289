//! `ctc_loss`.

use std::sync::Arc;

use retrograd_macros::op;

use super::Reduction;
use super::ctc_composed::gradient;
use crate::autograd::apply::apply;
use crate::autograd::mode::{DETECT_INF, GradGuard};
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, params};
use crate::autograd::{Grads, finite};
use crate::error::{Error, Result};
use crate::kernels::ctc::Sequence;
use crate::kernels::parallel::{SharedPtr, split};
use crate::kernels::real::Real;
use crate::match_dtype;
use crate::ops::pointwise::select::where_;
use crate::ops::view::{batch_first, reshape_to};
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Element, Scalar, Tensor};
use crate::transforms;

const OP: &str = "ctc_loss";

/// Targets and lengths of all sequences.
#[derive(Clone, Debug)]
pub(super) struct Targets {
    pub labels: Arc<[Vec<usize>]>,
    pub steps: Arc<[usize]>,
    pub blank: usize,
    pub zero_infinity: bool,
}

impl Targets {
    /// The states of the longest target: its labels with blanks around them.
    pub(super) fn width(&self) -> usize {
        2 * self.labels.iter().map(Vec::len).max().unwrap_or(0) + 1
    }
}

/// `ctc_loss` of each sequence: minus the logarithm of the probability that the steps spell the target.
///
/// Reverse: `g (exp(x) - w)` where `w` is the probability of being in a class at a step, given the target: the gradient
/// for logarithms that come from `log_softmax`, which is what they are meant to do.
///
/// Operands: the logarithms (steps, sequences, classes), and the targets, whose values the op holds. Results: the
/// losses, and the logarithms of the sums over the ways to each state.
#[derive(Clone, Debug)]
struct CtcLoss {
    targets: Targets,
}

/// What a state takes at a step, in nanoseconds.
const STATE_COST: f64 = 9.0;

impl CtcLoss {
    fn sequence<'a, T: Element>(&'a self, x: &Tensor, n: usize) -> Sequence<'a, T> {
        let s = x.strides();
        let t = &self.targets;
        let probs = x.ptr::<T>().wrapping_offset(n as isize * s[1]).cast_const();
        Sequence { probs, time: s[0], class: s[2], steps: t.steps[n], labels: &t.labels[n], blank: t.blank }
    }

    fn run<T: Element + Real>(&self, x: &Tensor) -> Result<Outs> {
        let (steps, count) = (x.sizes()[0], x.sizes()[1]);
        let width = self.targets.width();
        let alpha = Tensor::full(&[count, steps, width], Scalar::Float(f64::NEG_INFINITY), x.dtype())?;
        let losses = Tensor::empty(&[count], x.dtype())?;
        let cost = (self.targets.width() * steps * count) as f64 * STATE_COST;
        let (to, ways) = (SharedPtr(losses.ptr::<T>()), SharedPtr(alpha.ptr::<T>()));
        split(count, 1, cost, &|sequences| {
            for n in sequences {
                // SAFETY: S1 and S3: block `n` and element `n` of fresh tensors, which no other piece has; the labels
                // were checked to name classes, and the steps to be no more than there are.
                unsafe {
                    let p = ways.get().wrapping_add(n * steps * width);
                    let alpha = std::slice::from_raw_parts_mut(p, steps * width);
                    *to.get().add(n) = self.sequence::<T>(x, n).forward(alpha, width);
                }
            }
        });
        Ok(smallvec::smallvec![losses, alpha])
    }

    fn fused<T: Element + Real>(&self, cx: &Vjp, g: &Tensor) -> Result<Tensor> {
        let (x, losses, alpha) = (cx.saved(0)?, copy::contiguous(cx.saved(2)?)?, copy::contiguous(cx.saved(3)?)?);
        let (steps, classes) = (x.sizes()[0], x.sizes()[2]);
        let width = self.targets.width();
        let to = Tensor::zeros(x.sizes(), x.dtype())?;
        let g = copy::contiguous(g)?;
        let lists = [&g, &losses, &alpha].map(|t| t.as_slice::<T>().unwrap_or(&[]));
        let [g, losses, alpha] = lists;
        let s = to.strides();
        let cost = alpha.len() as f64 * STATE_COST * 2.0;
        let first = SharedPtr(to.ptr::<T>());
        split(g.len(), 1, cost, &|sequences| {
            for n in sequences {
                let lost = losses[n] == T::of(f64::INFINITY);
                if lost && self.targets.zero_infinity {
                    continue;
                }
                let g = if lost { T::of(f64::NAN) } else { g[n] };
                let alpha = &alpha[n * steps * width..][..steps * width];
                let p = first.get().wrapping_offset(n as isize * s[1]);
                // SAFETY: S1 and S3: sequence `n` of the operand, checked by the forward pass, and of the fresh
                // gradient, where no other piece has it.
                unsafe { self.sequence::<T>(x, n).backward(alpha, width, losses[n], g, classes, p, [s[0], s[2]]) }
            }
        });
        Ok(to)
    }
}

impl Primitive for CtcLoss {
    const NAME: &'static str = OP;
    const SAVE: &'static [Save] = &[
        Save::input(0, "log_probs"),
        Save::input(1, "targets"),
        Save::output(0, "result0"),
        Save::output(1, "result1"),
    ];
    const PARAMS: Params<Self> = params!(op;
        blank: op.targets.blank,
        input_lengths: &op.targets.steps[..],
        target_lengths: &op.targets.labels.iter().map(Vec::len).collect::<Vec<_>>()[..],
        zero_infinity: op.targets.zero_infinity,
    );
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        // The targets are not batched, for they were read: the sequences of all entries are so many sequences.
        let x = batch_first(xs[0], axes[0], batch)?;
        let &[_, steps, count, classes] = x.sizes() else { return Err(Error::shape(OP, "log_probs needs three dims")) };
        let x = reshape_to(&x.transpose(0, 1)?, &[steps, batch * count, classes])?;
        let mut op = op.clone();
        op.targets.labels = (0..batch).flat_map(|_| op.targets.labels.iter().cloned()).collect();
        op.targets.steps = (0..batch).flat_map(|_| op.targets.steps.iter().copied()).collect();
        let width = op.targets.width();
        let outs = apply(op, &[&x, xs[1]])?;
        let losses = reshape_to(&outs[0], &[batch, count])?;
        let alpha = reshape_to(&outs[1], &[batch, count, steps, width])?;
        Ok((smallvec::smallvec![losses, alpha], smallvec::smallvec![Some(0), Some(0)]))
    });
    fn inputs(&self) -> u32 {
        0b01
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        match_dtype!(floats, xs[0].dtype(), T => self.run::<T>(xs[0]))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let Some(g) = cx.g_of(0) else { return Ok(smallvec::smallvec![None, None]) };
        let x = cx.saved(0)?;
        let gx = if !cx.differentiating() && g.dtype() == x.dtype() {
            match_dtype!(floats, x.dtype(), T => self.fused::<T>(cx, g)?)
        } else {
            gradient(&self.targets, x, cx.saved(2)?)?.mul(&g.unsqueeze(0)?.unsqueeze(-1)?)?
        };
        let mut grads = maybe(Some(gx));
        grads.push(None);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let Some(t) = cx.t(0) else { return Ok(smallvec::smallvec![None, None]) };
        let along = gradient(&op.targets, cx.xs[0], &cx.outs[0])?.mul(t)?.sum_dims(&[0, 2], false)?;
        Ok(smallvec::smallvec![Some(along), None])
    });
}

fn refused<T>(detail: String) -> Result<T> {
    Err(Error::shape(OP, detail))
}

fn checked_lengths(name: &str, lengths: &[i64], count: usize, most: Option<usize>) -> Result<Vec<usize>> {
    if lengths.len() != count {
        return refused(format!("{name} must be of size batch_size, got {} for {count} sequences", lengths.len()));
    }
    if let Some(n) = lengths.iter().find(|&&n| n < 0) {
        return refused(format!("Expected {name} to have value at least 0, but got value {n}"));
    }
    if let Some(most) = most
        && let Some(n) = lengths.iter().find(|&&n| n as u64 > most as u64)
    {
        return refused(format!("Expected {name} to have value at most {most}, but got value {n}"));
    }
    Ok(lengths.iter().map(|&n| n as usize).collect())
}

/// The labels of each sequence: rows of a matrix, or one after the other.
fn labels(targets: &Tensor, lengths: &[usize], classes: usize) -> Result<Vec<Vec<usize>>> {
    if !targets.dtype().is_integral() || targets.dtype() == DType::Bool {
        return Err(Error::dtype(OP, format!("targets must be integral, got {}", targets.dtype().name())));
    }
    // S6.
    let whole = copy::own_indices(targets)?;
    let list = whole.as_slice::<i64>().unwrap_or(&[]);
    let most = lengths.iter().copied().max().unwrap_or(0);
    let step = match *targets.sizes() {
        [n] => {
            let total = lengths.iter().try_fold(0usize, |sum, &n| sum.checked_add(n)).unwrap_or(usize::MAX);
            if n != total {
                return refused(format!(
                    "Expected tensor to have size {total} at dimension 0, but got size {n} for argument #2 'targets'"
                ));
            }
            None
        }
        [rows, width] if rows == lengths.len() && width >= most => Some(width),
        [rows, _] if rows != lengths.len() => {
            return refused(format!(
                "Expected tensor to have size {} at dimension 0, but got size {rows} for argument #2 'targets'",
                lengths.len()
            ));
        }
        [_, width] => {
            return refused(format!(
                "Expected tensor to have size at least {most} at dimension 1, but got size {width} for argument #2 'targets'"
            ));
        }
        _ => {
            return refused(format!(
                "Expected 1 to 2 dimensions, but got {}-dimensional tensor for argument #2 'targets'",
                targets.ndim()
            ));
        }
    };
    let mut start = 0;
    let mut all = Vec::with_capacity(lengths.len());
    for (n, &length) in lengths.iter().enumerate() {
        let from = step.map_or(start, |step| n * step);
        start += length;
        let part = &list[from..from + length];
        if let Some(label) = part.iter().find(|&&c| c < 0 || c >= classes as i64) {
            return Err(Error::index(OP, format!("target {label} is out of range for {classes} classes")));
        }
        all.push(part.iter().map(|&c| c as usize).collect());
    }
    Ok(all)
}

/// The options of the loss that do not concern the sum over alignments.
struct How<'a> {
    blank: i64,
    reduction: &'a str,
    zero_infinity: bool,
}

fn loss(log_probs: &Tensor, targets: &Tensor, steps: &[i64], lengths: &[i64], how: &How) -> Result<Tensor> {
    transforms::check_read(OP, targets)?;
    let reduction = Reduction::of(OP, None, None, how.reduction)?;
    let batched = log_probs.ndim() == 3;
    if !matches!(log_probs.ndim(), 2 | 3) {
        return refused(format!(
            "Expected 3-dimensional tensor, but got {}-dimensional tensor for argument #1 'log_probs': 2 dims are for one entry",
            log_probs.ndim()
        ));
    }
    let x = if batched { log_probs.clone() } else { log_probs.unsqueeze(1)? };
    let targets = if batched { targets.clone() } else { targets.unsqueeze(0)? };
    let &[most, count, classes] = x.sizes() else { unreachable!("three dims") };
    if !(0..classes as i64).contains(&how.blank) {
        return refused(format!("blank must be in label range, got {} for {classes} classes", how.blank));
    }
    let steps = checked_lengths("input_lengths", steps, count, Some(most))?;
    let lengths = checked_lengths("target_lengths", lengths, count, None)?;
    let values = Targets {
        labels: labels(&targets, &lengths, classes)?.into(),
        steps: steps.into(),
        blank: how.blank as usize,
        zero_infinity: how.zero_infinity,
    };
    let mut losses = {
        // The logarithm of the sum over no way is -inf, which is nothing to report: of the loss alone it is.
        let _finite = GradGuard::with(DETECT_INF, false);
        apply(CtcLoss { targets: values }, &[&x, &targets])?.swap_remove(0)
    };
    if !how.zero_infinity {
        finite::check_foreign(OP, &[&losses], &[&x, &targets])?;
    }
    if how.zero_infinity {
        let lost = losses.eq(&Tensor::number(Scalar::Float(f64::INFINITY))?)?;
        losses = where_(&lost, &Tensor::full(&[], Scalar::Int(0), losses.dtype())?, &losses)?;
    }
    match reduction {
        Reduction::Mean => {
            let over: Vec<f64> = lengths.iter().map(|&n| n.max(1) as f64).collect();
            let over = copy::cast(&Tensor::from_slice(&over, &[count])?, losses.dtype())?;
            losses.div(&over)?.mean(None)
        }
        Reduction::Sum => losses.sum(None),
        Reduction::None if batched => Ok(losses),
        Reduction::None => losses.squeeze_dim(0),
    }
}

/// The loss of connectionist temporal classification: minus the logarithm of the probability that the classes of the
/// time steps, with repetitions and blanks removed, spell the target.
///
/// Args: `log_probs` logarithms of probabilities from `log_softmax`, (T, N, C) or (T, C), float32 or float64; `targets`
/// classes, integers, (N, S), or one after the other; `input_lengths`, `target_lengths` how many steps and labels each
/// sequence has; `blank` the class of the blank; `reduction` 'mean' (each loss divided by its target's length), 'sum'
/// or 'none'; `zero_infinity` makes losses of targets that are too long zero. Returns: a 0-dim tensor, or one loss for
/// each sequence for 'none'. Derivative: `g * (exp(log_probs) - w)`, with `w` the probability of a class at a step
/// given the target: the gradient for logarithms made by `log_softmax`. Raises: RuntimeError for sizes, lengths and
/// dtypes that are incompatible; IndexError for a target out of range.
///
/// >>> x = rg.zeros(2, 1, 2).log_softmax(2)
/// >>> round(rg.nn.functional.ctc_loss(x, rg.tensor([[1]]), (2,), (1,)).item(), 4)
/// 0.2877
#[op(function, module = "nn.functional", "(blank=0, reduction='mean', zero_infinity=False)")]
pub fn ctc_loss(
    log_probs: &Tensor,
    targets: &Tensor,
    input_lengths: &[i64],
    target_lengths: &[i64],
    blank: i64,
    reduction: &str,
    zero_infinity: bool,
) -> Result<Tensor> {
    loss(log_probs, targets, input_lengths, target_lengths, &How { blank, reduction, zero_infinity })
}

/// As above, with lengths that are tensors of integers.
///
/// >>> x = rg.zeros(2, 2).log_softmax(1)
/// >>> round(rg.nn.functional.ctc_loss(x, rg.tensor([1]), rg.tensor(2), rg.tensor(1)).item(), 4)
/// 0.2877
#[op(function, module = "nn.functional", name = "ctc_loss", "(blank=0, reduction='mean', zero_infinity=False)")]
pub fn ctc_loss_of_tensors(
    log_probs: &Tensor,
    targets: &Tensor,
    input_lengths: &Tensor,
    target_lengths: &Tensor,
    blank: i64,
    reduction: &str,
    zero_infinity: bool,
) -> Result<Tensor> {
    let read = |name: &str, t: &Tensor| -> Result<Vec<i64>> {
        transforms::check_read(OP, t)?;
        if !t.dtype().is_integral() || t.dtype() == DType::Bool {
            return Err(Error::dtype(OP, format!("{name} must be integral, got {}", t.dtype().name())));
        }
        t.to_vec::<i64>()
    };
    let (steps, lengths) = (read("input_lengths", input_lengths)?, read("target_lengths", target_lengths)?);
    loss(log_probs, targets, &steps, &lengths, &How { blank, reduction, zero_infinity })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    fn run(
        x: &Tensor,
        targets: &[i64],
        rows: usize,
        steps: &[i64],
        lengths: &[i64],
        reduction: &str,
    ) -> Result<Tensor> {
        let t = Tensor::from_slice(targets, &[rows, targets.len() / rows])?;
        ctc_loss(&x.log_softmax(2, None)?, &t, steps, lengths, 0, reduction, false)
    }

    #[test]
    fn gradients() {
        for reduction in ["mean", "sum", "none"] {
            gradcheck(&|x| run(&x[0], &[1, 2, 3, 1], 2, &[4, 4], &[2, 2], reduction), &[noise(1, &[4, 2, 4])]);
            gradcheck(&|x| run(&x[0], &[1, 1, 2, 3], 2, &[5, 3], &[2, 1], reduction), &[noise(1, &[5, 2, 4])]);
            gradcheck(&|x| run(&x[0], &[1, 2], 2, &[3, 2], &[0, 1], reduction), &[noise(1, &[3, 2, 4])]);
        }
    }

    #[test]
    fn targets_that_are_too_long() {
        let x = Tensor::zeros(&[2, 1, 3], DType::Float64).unwrap().log_softmax(2, None).unwrap();
        let t = Tensor::from_slice(&[1i64, 1], &[1, 2]).unwrap();
        let run = |zero| ctc_loss(&x, &t, &[2], &[2], 0, "sum", zero).unwrap().to_vec::<f64>().unwrap()[0];
        assert_eq!((run(false), run(true)), (f64::INFINITY, 0.0));
        assert!(ctc_loss(&x, &t, &[3], &[2], 0, "sum", false).is_err());
        assert!(ctc_loss(&x, &t, &[2, 2], &[2], 0, "sum", false).is_err());
        assert!(ctc_loss(&x, &t, &[2], &[3], 0, "sum", false).is_err());
        assert!(ctc_loss(&x, &t, &[2], &[2], 3, "sum", false).is_err());
        assert!(ctc_loss(&x, &t.times(3i64).unwrap(), &[2], &[2], 0, "sum", false).is_err());
    }
}
