//! Margins between the scores of classes: `multi_margin_loss`, `multilabel_margin_loss`.

use retrograd_macros::op;
use smallvec::smallvec;

use super::Reduction;
use crate::autograd::Grads;
use crate::autograd::apply::{apply, apply1};
use crate::autograd::primitive::{Batch, Outs, Params, Primitive, Save, Tangents, Vjp, maybe, out, params};
use crate::error::{Error, Result, Sizes};
use crate::match_dtype;
use crate::ops::pointwise::select::where_;
use crate::ops::view;
use crate::tensor::copy;
use crate::tensor::{DType, Dtypes, Scalar, Tensor};

/// Scores as a matrix of samples and classes.
fn as_rows(x: &Tensor) -> Result<Tensor> {
    let classes = x.sizes().last().map_or(1, |&n| n);
    view::reshape_to(x, &[x.numel() / classes.max(1), classes])
}

/// Losses of samples reduced, of sizes `each` if they are not.
fn reduced(losses: &Tensor, reduction: Reduction, each: &[usize]) -> Result<Tensor> {
    match reduction {
        Reduction::None => view::reshape_to(losses, each),
        Reduction::Mean => losses.mean(None),
        Reduction::Sum => losses.sum(None),
    }
}

/// As [`reduced`], of a batch: losses (batch, samples).
fn reduced_batch(losses: &Tensor, reduction: Reduction, each: &[usize]) -> Result<Tensor> {
    match reduction {
        Reduction::None => {
            let mut sizes = vec![losses.sizes()[0]];
            sizes.extend_from_slice(each);
            view::reshape_to(losses, &sizes)
        }
        Reduction::Mean => losses.mean_dims(&[1], false),
        Reduction::Sum => losses.sum_dims(&[1], false),
    }
}

/// Checks what both losses ask of the scores: how many samples and classes there are.
fn extents(op: &'static str, x: &Tensor) -> Result<(usize, usize)> {
    match *x.sizes() {
        [] => Ok((1, 1)),
        [c] if c > 0 => Ok((1, c)),
        [n, c] if c > 0 => Ok((n, c)),
        ref sizes => {
            let what = "Expected non-empty vector or matrix with optional 0-dim batch size, but got:";
            Err(Error::shape(op, format!("{what} {}", Sizes(sizes))))
        }
    }
}

/// Refuses a dtype other than the one that is wanted.
fn check_dtype(op: &'static str, x: &Tensor, wanted: DType) -> Result<()> {
    if x.dtype() == wanted {
        return Ok(());
    }
    let [wanted, found] = [wanted, x.dtype()].map(|d| d.scalar_type_name());
    Err(Error::dtype(op, format!("expected scalar type {wanted} but found {found}")))
}

/// `multi_margin_loss`: for each sample the sum over the other classes of `max(margin - x[t] + x, 0)^p`, times the
/// weight of `t`, over the number of classes.
///
/// Operands: the scores, int64 targets of as many elements as there are samples, and the weights if there are some.
#[derive(Clone, Copy, Debug)]
struct MultiMargin {
    p: i64,
    margin: Scalar,
    reduction: Reduction,
}

impl MultiMargin {
    /// `max(margin - x[t] + x, 0)` for scores (n, classes) and targets (n, 1), and which class is the target.
    fn excess(&self, x: &Tensor, t: &Tensor) -> Result<(Tensor, Tensor)> {
        let own = t.eq(&Tensor::arange(x.sizes()[1] as i64)?)?;
        let z = x.sub(&x.gather(1, t)?)?.add(&Tensor::number(self.margin)?)?;
        let zero = Tensor::number(Scalar::Int(0))?;
        let counts = z.detach().gt(&zero)?.logical_and(&own.logical_not()?)?;
        Ok((where_(&counts, &z, &zero)?, own))
    }
    /// What the losses of the samples change by with the scores.
    fn slopes(&self, x: &Tensor, t: &Tensor, weight: Option<&Tensor>) -> Result<Tensor> {
        let (excess, own) = self.excess(x, t)?;
        let each = if self.p == 1 {
            copy::cast(&excess.gt(&Tensor::number(Scalar::Int(0))?)?, x.dtype())?
        } else {
            excess.times(2.0)?
        };
        let each = each.mul(&Self::scale(x, t, weight)?)?;
        let zero = Tensor::number(Scalar::Int(0))?;
        each.sub(&where_(&own, &each.sum_dims(&[1], true)?, &zero)?)
    }
    /// The weights of the targets over the number of classes, (n, 1).
    fn scale(x: &Tensor, t: &Tensor, weight: Option<&Tensor>) -> Result<Tensor> {
        let share = 1.0 / x.sizes()[1] as f64;
        match weight {
            Some(w) => w.index_select(0, &view::reshape_to(t, &[t.numel()])?)?.unsqueeze(-1)?.times(share),
            None => Tensor::full(&[1, 1], share.into(), x.dtype()),
        }
    }
    fn losses(&self, x: &Tensor, t: &Tensor, weight: Option<&Tensor>) -> Result<Tensor> {
        let excess = self.excess(x, t)?.0;
        let excess = if self.p == 1 { excess } else { excess.square()? };
        excess.mul(&Self::scale(x, t, weight)?)?.sum_dims(&[1], false)
    }
    /// The gradient of the losses for each sample, (n, 1), from that of the result.
    fn spread(&self, g: &Tensor, samples: usize) -> Result<Tensor> {
        match self.reduction {
            Reduction::None => view::reshape_to(g, &[samples, 1]),
            Reduction::Mean => g.times(1.0 / samples as f64),
            Reduction::Sum => Ok(g.clone()),
        }
    }
}

impl Primitive for MultiMargin {
    const NAME: &'static str = "multi_margin_loss";
    const SAVE: &'static [Save] = &[Save::input(0, "self"), Save::input(1, "target"), Save::input(2, "weight")];
    const PARAMS: Params<Self> = params!(op; margin, p, reduction: op.reduction as i64);
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let all =
            xs.iter().zip(axes).map(|(x, axis)| view::batch_first(x, *axis, batch)).collect::<Result<Vec<_>>>()?;
        let x = if all[0].ndim() == 1 { all[0].unsqueeze(-1)? } else { all[0].clone() };
        let t = view::reshape_to(&all[1], &[all[1].numel()])?;
        let each = Self { reduction: Reduction::None, ..*op };
        let mut losses = view::reshape_to(&apply1(each, &[&as_rows(&x)?, &t])?, &[batch, t.numel() / batch.max(1)])?;
        if let Some(weight) = all.get(2) {
            losses = losses.mul(&weight.gather(1, &view::reshape_to(&t, losses.sizes())?)?)?;
        }
        Ok((out(reduced_batch(&losses, op.reduction, &all[1].sizes()[1..])?), smallvec![Some(0)]))
    });
    fn inputs(&self) -> u32 {
        0b1
    }
    fn kernel_name(&self) -> &'static str {
        "multi_margin_loss_cpu_kernel"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = as_rows(&xs[0].detach())?;
        let classes = x.sizes()[1] as i64;
        if let Some(t) = xs[1].to_vec::<i64>()?.iter().find(|t| !(0..classes).contains(*t)) {
            let detail = format!("target out of range: {t} with {classes} classes");
            return Err(Error::shape(Self::NAME, detail));
        }
        let t = view::reshape_to(xs[1], &[xs[1].numel(), 1])?;
        let losses = self.losses(&x, &t, xs.get(2).copied())?;
        reduced(&losses, self.reduction, xs[1].sizes()).map(out)
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let (x, t) = (as_rows(cx.saved(0)?)?, cx.saved(1)?);
        let t = view::reshape_to(t, &[t.numel(), 1])?;
        let slopes = self.slopes(&x, &t, cx.saved(2).ok())?;
        let grad = slopes.mul(&self.spread(cx.g(), t.numel())?)?;
        let mut grads = maybe(Some(view::reshape_to(&grad, cx.sizes(0))?));
        grads.resize(cx.node.edges.len(), None);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let along = |change: &Tensor| {
            let (x, t) = (as_rows(cx.xs[0])?, view::reshape_to(cx.xs[1], &[cx.xs[1].numel(), 1])?);
            let slopes = op.slopes(&x, &t, cx.xs.get(2).copied())?;
            reduced(&slopes.mul(&as_rows(change)?)?.sum_dims(&[1], false)?, op.reduction, cx.xs[1].sizes())
        };
        cx.t(0).map(along).transpose().map(maybe)
    });
}

/// The loss of the class of each sample that does not score above the others by a margin: the sum over the other
/// classes of `max(margin - x[target] + x, 0)**p`, over the number of classes; and its mean or sum over the samples.
///
/// Args: `input` scores (N, C) or (C,), float32 or float64; `target` int64 classes (N,) or (); `p` 1 or 2; `margin` a
/// number; `weight` (C,) of the dtype of `input` multiplies the losses of each class; `reduction` 'mean', 'sum' or
/// 'none'. `size_average` and `reduce` are deprecated. Returns: a 0-dim tensor, or the losses of the samples for
/// 'none'.
/// Derivative: for the other classes `g * p * max(..)**(p - 1) / C` times the weight, where the maximum is not 0, and
/// for the target minus their sum; to second order and in forward mode, which torch has not. Raises: RuntimeError for
/// other shapes or classes that are out of range, ValueError for another `p` or reduction.
///
/// >>> rg.nn.functional.multi_margin_loss(rg.tensor([0.0, 1.0]), rg.tensor(0)).item()
/// 1.0
#[op(
    function,
    norust,
    module = "nn.functional",
    "(p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean')"
)]
pub fn multi_margin_loss(
    input: &Tensor,
    target: &Tensor,
    p: Scalar,
    margin: Scalar,
    weight: Option<&Tensor>,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
) -> Result<Tensor> {
    const OP: &str = MultiMargin::NAME;
    let reduction = Reduction::of(OP, size_average, reduce, reduction)?;
    let p = match p.as_f64() {
        1.0 => 1,
        2.0 => 2,
        other => return Err(Error::value(OP, format!("only p == 1 and p == 2 supported, got {other}"))),
    };
    if weight.is_some_and(|w| w.ndim() != 1) {
        return Err(Error::value(OP, "weight must be one-dimensional"));
    }
    let (samples, classes) = extents(OP, input)?;
    if target.ndim() > 1 || target.numel() != samples {
        return Err(Error::shape(
            OP,
            format!(
                "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). \
                 Expected target size [{samples}], but got {}. Input has shape {}.",
                Sizes(target.sizes()),
                Sizes(input.sizes())
            ),
        ));
    }
    if !MultiMargin::DTYPES.has(input.dtype()) {
        return Err(Error::no_kernel("multi_margin_loss_cpu_kernel", input.dtype()));
    }
    check_dtype(OP, target, DType::Int64)?;
    if let Some(w) = weight {
        if w.numel() != classes {
            let detail = format!("inconsistent weight size, expected {classes} but got {}", Sizes(w.sizes()));
            return Err(Error::shape(OP, detail));
        }
        check_dtype(OP, w, input.dtype())?;
    }
    let op = MultiMargin { p, margin, reduction };
    match weight {
        Some(w) => apply1(op, &[input, target, &w.detach()]),
        None => apply1(op, &[input, target]),
    }
}

/// Calls `f` for every pair of a target and another class of a sample whose excess counts, with the excess.
fn each_pair(x: &[f64], target: &[i64], mut f: impl FnMut(usize, usize, f64)) {
    let classes = x.len();
    let own: Vec<usize> = target.iter().take_while(|t| **t >= 0).map(|&t| t as usize).collect();
    let mut is_own = vec![false; classes];
    own.iter().for_each(|&t| is_own[t] = true);
    for &t in &own {
        for other in (0..classes).filter(|&c| !is_own[c]) {
            let excess = 1.0 - x[t] + x[other];
            if excess > 0.0 {
                f(t, other, excess);
            }
        }
    }
}

/// `multilabel_margin_loss`: for each sample the sum over its targets and the other classes of `max(1 - x[t] + x, 0)`,
/// over the number of classes. Results: the loss, and where the targets are, as numbers.
///
/// Operands: the scores, and int64 targets of the same sizes.
#[derive(Clone, Copy, Debug)]
struct MultilabelMargin {
    reduction: Reduction,
}

impl MultilabelMargin {
    /// The sizes of the losses of the samples of scores of these sizes.
    fn each(sizes: &[usize]) -> &[usize] {
        &sizes[..sizes.len().saturating_sub(1)]
    }
}

impl Primitive for MultilabelMargin {
    const NAME: &'static str = "multilabel_margin_loss";
    const SAVE: &'static [Save] = &[Save::output(1, "is_target"), Save::input(0, "self"), Save::input(1, "target")];
    const PARAMS: Params<Self> = params!(op; reduction: op.reduction as i64);
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let all =
            xs.iter().zip(axes).map(|(x, axis)| view::batch_first(x, *axis, batch)).collect::<Result<Vec<_>>>()?;
        let [x, t] = [0, 1].map(|i| if all[i].ndim() == 1 { all[i].unsqueeze(-1) } else { Ok(all[i].clone()) });
        let (x, t) = (as_rows(&x?)?, as_rows(&t?)?);
        let losses = apply(Self { reduction: Reduction::None }, &[&x, &t])?;
        let each = &all[0].sizes()[1..];
        let by_entry = view::reshape_to(&losses[0], &[batch, x.sizes()[0] / batch.max(1)])?;
        let loss = reduced_batch(&by_entry, op.reduction, Self::each(each))?;
        Ok((smallvec![loss, view::reshape_to(&losses[1], all[0].sizes())?], smallvec![Some(0), Some(0)]))
    });
    fn inputs(&self) -> u32 {
        0b1
    }
    fn kernel_name(&self) -> &'static str {
        "multilabel_margin_loss_forward_out_frame"
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let x = as_rows(xs[0])?;
        let (samples, classes) = (x.sizes()[0], x.sizes()[1]);
        let (x, target) = (x.to_vec::<f64>()?, xs[1].to_vec::<i64>()?);
        if let Some(t) = target.iter().find(|t| !(-1..classes as i64).contains(*t)) {
            let detail = format!("argument #2 'target' is out of range: {t} with {classes} classes");
            return Err(Error::shape(Self::NAME, detail));
        }
        let mut losses = vec![0.0; samples];
        let mut is_target = vec![0.0; samples * classes];
        for (i, loss) in losses.iter_mut().enumerate() {
            let row = i * classes..(i + 1) * classes;
            let targets = &target[row.clone()];
            targets.iter().take_while(|t| **t >= 0).for_each(|&t| is_target[i * classes + t as usize] = 1.0);
            each_pair(&x[row], targets, |_, _, excess| *loss += excess);
            *loss /= classes as f64;
        }
        let cast = |x: &Tensor| copy::cast(x, xs[0].dtype());
        let loss = reduced(&Tensor::from_slice(&losses, &[samples])?, self.reduction, Self::each(xs[0].sizes()))?;
        Ok(smallvec![cast(&loss)?, cast(&Tensor::from_slice(&is_target, xs[0].sizes())?)?])
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(None);
        if let Some(g) = cx.g_of(0) {
            let (x, t) = (cx.saved(1)?, cx.saved(2)?);
            let g = match self.reduction {
                Reduction::None => g.unsqueeze(-1)?,
                Reduction::Mean => g.times(1.0 / (x.numel() / x.sizes().last().map_or(1, |&n| n)) as f64)?,
                Reduction::Sum => g.clone(),
            };
            let grad = apply1(MultilabelSlopes, &[x, t])?.mul(&g)?;
            grads[0] = Some(view::reshape_to(&grad, cx.sizes(0))?);
        }
        grads.resize(cx.node.edges.len(), None);
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let along = |change: &Tensor| {
            let slopes = as_rows(&apply1(MultilabelSlopes, &[cx.xs[0], cx.xs[1]])?)?;
            let losses = slopes.mul(&as_rows(change)?)?.sum_dims(&[1], false)?;
            reduced(&losses, op.reduction, Self::each(cx.xs[0].sizes()))
        };
        Ok(smallvec![cx.t(0).map(along).transpose()?, None])
    });
}

/// What the losses of samples change by with their scores: constant between kinks.
#[derive(Clone, Copy, Debug)]
struct MultilabelSlopes;

impl Primitive for MultilabelSlopes {
    const NAME: &'static str = "multilabel_margin_loss_backward";
    const SAVE: &'static [Save] = &[];
    const DTYPES: Dtypes = Dtypes::FLOATS;
    // Any axes may stand in front of the classes; a lone score has no other class.
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, batch| {
        let (x, t) = (view::batch_first(xs[0], axes[0], batch)?, view::batch_first(xs[1], axes[1], batch)?);
        let slopes = if x.ndim() == 1 { Tensor::zeros(x.sizes(), x.dtype())? } else { apply1(*op, &[&x, &t])? };
        Ok((out(slopes), smallvec![Some(0)]))
    });
    const JVP: Tangents<Self> = Tangents::Zero;
    fn inputs(&self) -> u32 {
        0b1
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        let classes = xs[0].sizes().last().map_or(1, |&n| n);
        let (x, target) = (xs[0].to_vec::<f64>()?, xs[1].to_vec::<i64>()?);
        let mut slopes = vec![0.0; x.len()];
        let rows = x.chunks(classes.max(1)).zip(target.chunks(classes.max(1)));
        for ((x, target), slopes) in rows.zip(slopes.chunks_mut(classes.max(1))) {
            each_pair(x, target, |t, other, _| {
                slopes[t] -= 1.0;
                slopes[other] += 1.0;
            });
            slopes.iter_mut().for_each(|s| *s /= classes as f64);
        }
        match_dtype!(floats, xs[0].dtype(), T => Tensor::build::<T>(xs[0].sizes(), |to| {
            to.iter_mut().zip(&slopes).for_each(|(o, s)| *o = *s as T);
        }).map(out))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let mut grads = maybe(cx.when(0, || Tensor::zeros(cx.sizes(0), cx.dtype(0)))?);
        grads.resize(cx.node.edges.len(), None);
        Ok(grads)
    }
}

/// The loss of the classes of each sample, of which there may be several, that do not score above the other classes by
/// 1: the sum over the pairs of them of `max(1 - x[target] + x[other], 0)`, over the number of classes; and its mean or
/// sum over the samples.
///
/// Args: `input` scores (N, C) or (C,), float32 or float64; `target` int64 of the same sizes: the classes of each
/// sample, of which those before the first -1 count; `reduction` 'mean', 'sum' or 'none'. `size_average` and `reduce`
/// are deprecated. Returns: a 0-dim tensor, or the losses of the samples for 'none'. Derivative: `g / C` for the other
/// class and `-g / C` for the target of every pair whose maximum is not 0; its derivative is zero. Torch has no forward
/// mode here, and no second derivative. Raises: RuntimeError for other shapes or classes that are out of range,
/// ValueError for another reduction.
///
/// >>> rg.nn.functional.multilabel_margin_loss(rg.tensor([0.0, 1.0]), rg.tensor([0, -1])).item()
/// 1.0
#[op(function, norust, module = "nn.functional", "(size_average=None, reduce=None, reduction='mean')")]
pub fn multilabel_margin_loss(
    input: &Tensor,
    target: &Tensor,
    size_average: Option<bool>,
    reduce: Option<bool>,
    reduction: &str,
) -> Result<Tensor> {
    const OP: &str = MultilabelMargin::NAME;
    let reduction = Reduction::of(OP, size_average, reduce, reduction)?;
    let (_, classes) = extents(OP, input)?;
    let fits = if input.ndim() <= 1 {
        target.ndim() <= 1 && target.numel() == classes
    } else {
        target.sizes() == input.sizes()
    };
    if !fits {
        let detail =
            format!("inconsistent target size: {} for input of size: {}", Sizes(target.sizes()), Sizes(input.sizes()));
        return Err(Error::shape(OP, detail));
    }
    if !MultilabelMargin::DTYPES.has(input.dtype()) {
        return Err(Error::no_kernel("multilabel_margin_loss_forward_out_frame", input.dtype()));
    }
    check_dtype(OP, target, DType::Int64)?;
    // One class may come with or without its axis.
    let target = view::reshape_to(target, input.sizes())?;
    Ok(apply(MultilabelMargin { reduction }, &[input, &target])?.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        let t = Tensor::from_slice(&[0i64, 2, 3], &[3]).unwrap();
        let w = noise(3, &[4]).exp().unwrap();
        for reduction in ["none", "mean", "sum"] {
            for (p, weight) in [(1i64, None), (2, None), (2, Some(&w))] {
                let call =
                    |xs: &[Tensor]| multi_margin_loss(&xs[0], &t, p.into(), 0.7.into(), weight, None, None, reduction);
                gradcheck(&call, &[noise(1, &[3, 4])]);
            }
            let t = Tensor::from_slice(&[0i64, 2, -1, 1, 3, 3, 0, -1], &[2, 4]).unwrap();
            gradcheck(&|xs| multilabel_margin_loss(&xs[0], &t, None, None, reduction), &[noise(2, &[2, 4])]);
        }
    }
}
