//! Losses that are one function per element, then a mean or a sum: what a room states of one, and the primitive that runs
//! them all.

use std::fmt;
use std::mem::MaybeUninit;

use smallvec::SmallVec;

use super::Reduction;
use super::loss::{over_entries, total};
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Jvp, Keep, Outs, Primitive, Tangents, Vjp, maybe, out};
use crate::autograd::{Grads, mode};
use crate::error::{Error, Result};
use crate::kernels::pointwise::each;
use crate::kernels::real::Real;
use crate::ops::Value;
use crate::ops::matmul::batch_first;
use crate::ops::pointwise::run_seldom;
use crate::ops::view::{expand_to, reshape_to};
use crate::tensor::{Dims, Scalar, Tensor};

/// Operands: input and target, of equal sizes, then a weight and a weight of positive targets, which broadcast to them.
/// Those that are missing are ones in the scalar functions.
const OPERANDS: usize = 4;
/// One element of each operand.
pub(super) type Element<T> = [T; OPERANDS];

/// A loss of one element.
pub(super) trait ElementLoss: 'static {
    const NODE: &'static str;
    /// Bit i: there is a derivative for operand i.
    const INPUTS: u32;
    fn value<T: Real>(p: T, v: Element<T>) -> T;
    /// The derivative for the input, at a kink by convention.
    fn slope<T: Real>(p: T, v: Element<T>) -> T;
    /// The derivative for operand `i`, in ops.
    fn gradient(p: f64, xs: &[&Tensor], i: usize) -> Result<Tensor>;
    /// The parameter as the node shows it.
    fn shown(_p: f64) -> Option<(&'static str, Value)> {
        None
    }
    /// Refuses inputs outside the domain.
    fn check(_input: &Tensor) -> Result<()> {
        Ok(())
    }
    /// For [`Loss`].
    const TABLE: &'static Table = &Table {
        node: Self::NODE,
        inputs: Self::INPUTS,
        value: (value_runs::<Self, f32>, value_runs::<Self, f64>),
        slope: (slope_runs::<Self, f32>, slope_runs::<Self, f64>),
        gradient: Self::gradient,
        shown: Self::shown,
        check: Self::check,
    };
}

/// Given the parameter and a factor.
type Runs<T> = fn([T; 2], [&[T]; OPERANDS], &mut [MaybeUninit<T>]);

fn value_runs<L: ElementLoss + ?Sized, T: Real>([p, _]: [T; 2], xs: [&[T]; OPERANDS], out: &mut [MaybeUninit<T>]) {
    each(xs, out, |v| L::value(p, v));
}

fn slope_runs<L: ElementLoss + ?Sized, T: Real>([p, c]: [T; 2], xs: [&[T]; OPERANDS], out: &mut [MaybeUninit<T>]) {
    each(xs, out, |v| c.mul(L::slope(p, v)));
}

/// An [`ElementLoss`] as a value: one primitive runs them all, where a type per loss would compile all of its machinery
/// anew.
pub(super) struct Table {
    node: &'static str,
    inputs: u32,
    value: (Runs<f32>, Runs<f64>),
    slope: (Runs<f32>, Runs<f64>),
    gradient: fn(f64, &[&Tensor], usize) -> Result<Tensor>,
    shown: fn(f64) -> Option<(&'static str, Value)>,
    check: fn(&Tensor) -> Result<()>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.node)
    }
}

/// An [`ElementLoss`] of whole tensors. `KEPT` is how many operands the node shows, given or not.
#[derive(Clone, Debug)]
pub(super) struct Loss<const KEPT: usize> {
    table: &'static Table,
    p: f64,
    reduction: Reduction,
}

impl<const KEPT: usize> Loss<KEPT> {
    /// What the derivative of `n` elements is multiplied by.
    fn factor(&self, n: usize) -> f64 {
        if self.reduction == Reduction::Mean { 1.0 / n as f64 } else { 1.0 }
    }
    /// A function of the elements, as a fresh tensor.
    fn each(&self, (f32, f64): (Runs<f32>, Runs<f64>), factor: f64, xs: &[&Tensor]) -> Result<Tensor> {
        let one = Tensor::full(&[], Scalar::Int(1), xs[0].dtype())?;
        let all: [&Tensor; OPERANDS] = std::array::from_fn(|i| xs.get(i).copied().unwrap_or(&one));
        let y = Tensor::empty(xs[0].sizes(), xs[0].dtype())?;
        let (p, p32) = ([self.p, factor], [self.p as f32, factor as f32]);
        run_seldom(Self::NAME, all, &y, &|v, o| f32(p32, v, o), &|v, o| f64(p, v, o))?;
        Ok(y)
    }
    fn reduced(&self, losses: &Tensor) -> Result<Tensor> {
        match self.reduction {
            Reduction::None => Ok(losses.clone()),
            Reduction::Sum => losses.sum(None),
            Reduction::Mean => losses.sum(None)?.times(self.factor(losses.numel())),
        }
    }
}

impl<const KEPT: usize> Primitive for Loss<KEPT> {
    const NAME: &'static str = "loss";
    const KEEP: &'static [Keep] =
        [Keep::input(0, "self"), Keep::input(1, "target"), Keep::input(2, "weight"), Keep::input(3, "pos_weight")]
            .split_at(KEPT)
            .0;
    const BATCH: Batch<Self> = Batch::Rule(|op, xs, axes, _| {
        let ndim = xs[0].ndim() - usize::from(axes[0].is_some());
        // Weights have as many dims as they like: their batch axis goes in front of those of the input.
        let lined_up = |i: usize| -> Result<Tensor> {
            let x = batch_first(xs[i], axes[i])?;
            if axes[i].is_none() || x.ndim() > ndim {
                return Ok(x);
            }
            let mut sizes: Dims = smallvec::smallvec![1; ndim + 1];
            sizes[0] = x.sizes()[0];
            let tail = ndim + 2 - x.ndim();
            sizes[tail..].copy_from_slice(&x.sizes()[1..]);
            reshape_to(&x, &sizes)
        };
        let mut all: SmallVec<[Tensor; OPERANDS]> = (0..xs.len()).map(lined_up).collect::<Result<_>>()?;
        let batch = axes.iter().zip(&all).find(|(axis, _)| axis.is_some()).map_or(1, |(_, x)| x.sizes()[0]);
        let entry = if axes[0].is_some() { &all[0].sizes()[1..] } else { all[0].sizes() };
        let mut sizes: Dims = smallvec::smallvec![batch];
        sizes.extend_from_slice(entry);
        for x in &mut all[..2] {
            *x = expand_to(x, &sizes)?;
        }
        let each = Self { reduction: Reduction::None, ..op.clone() };
        let losses = apply1(each, &all.iter().collect::<SmallVec<[&Tensor; OPERANDS]>>())?;
        Ok((out(over_entries(losses, op.reduction)?), smallvec::smallvec![Some(0)]))
    });
    fn node(&self) -> &'static str {
        self.table.node
    }
    fn inputs(&self) -> u32 {
        self.table.inputs
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        (self.table.check)(xs[0])?;
        let losses = self.each(self.table.value, 1.0, xs)?;
        Ok(out(match self.reduction {
            Reduction::None => losses,
            Reduction::Sum => total(&losses, 1.0)?,
            Reduction::Mean => total(&losses, losses.numel() as f64)?,
        }))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let count = cx.node.edges.len();
        let kept: SmallVec<[&Tensor; OPERANDS]> = (0..count).map(|i| cx.kept(i)).collect::<Result<_>>()?;
        let factor = self.factor(kept[0].numel());
        let gradient = |i: usize| -> Result<Tensor> {
            if i == 0 && !cx.differentiating() {
                return if self.reduction == Reduction::None {
                    self.each(self.table.slope, 1.0, &kept)?.mul(cx.g())
                } else {
                    self.each(self.table.slope, factor * cx.g().item()?.as_f64(), &kept)
                };
            }
            (self.table.gradient)(self.p, &kept, i)?.mul(&cx.g().times(factor)?)
        };
        let wanted = |i: usize| self.table.inputs >> i & 1 != 0;
        (0..count).map(|i| if wanted(i) { cx.when(i, || gradient(i)) } else { Ok(None) }).collect()
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let moves = |i: &usize| op.table.inputs >> i & 1 != 0;
        let part = |i| cx.t(i).map(|t| (op.table.gradient)(op.p, cx.xs, i)?.mul(t)).transpose();
        let parts: SmallVec<[_; 3]> = (0..cx.xs.len()).filter(moves).map(part).collect::<Result<_>>()?;
        Jvp::sum(parts)?.map(|d| op.reduced(&d)).transpose().map(maybe)
    });
    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut shown = vec![("reduction", Value::from(self.reduction as i64))];
        shown.extend((self.table.shown)(self.p));
        shown
    }
}

/// Applies a loss to operands of one dtype, refusing those to be differentiated that have no derivative.
pub(super) fn lost<L: ElementLoss, const KEPT: usize>(
    op: &'static str,
    p: f64,
    reduction: Reduction,
    xs: &[&Tensor],
) -> Result<Tensor> {
    if mode::is_grad_enabled()
        && let Some(i) = (0..xs.len()).find(|i| L::INPUTS >> i & 1 == 0 && xs[*i].requires_grad())
    {
        return Err(Error::shape(
            op,
            format!(
                "The function '{op}' is not differentiable with respect to argument '{}'. This input cannot have \
                 requires_grad True: detach it",
                ["input", "target", "weight", "pos_weight"][i]
            ),
        ));
    }
    apply1(Loss::<KEPT> { table: L::TABLE, p, reduction }, xs)
}
