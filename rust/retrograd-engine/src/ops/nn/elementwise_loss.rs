//! Losses that are one function per element, then a mean or a sum: what a definition states of one, and the primitive
//! that runs them all.

use std::fmt;
use std::marker::PhantomData;

use smallvec::SmallVec;

use super::Reduction;
use super::loss::{over_entries, total};
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Jvp, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::autograd::{Grads, mode};
use crate::error::{Error, Result};
use crate::kernels::pointwise::{Body, RunBody, lanes_of_slices};
use crate::kernels::real::Real;
use crate::kernels::simd::Vector;
use crate::ops::Value;
use crate::ops::matmul::batch_first;
use crate::ops::pointwise::run_scalar_loop;
use crate::ops::view::{expand_to, reshape_to};
use crate::tensor::{Dims, Dtypes, Scalar, Tensor};

/// Operands: input and target, of equal sizes, then a weight and a weight of positive targets, which broadcast to them.
/// Those that are missing are ones in the functions of an element.
const OPERANDS: usize = 4;
/// One element of each operand.
pub(super) type Element<T> = [T; OPERANDS];

/// A loss of one element. Implementors mark `value` and `derivative` `#[inline(always)]`.
pub(super) trait ElementLoss: fmt::Debug + Copy + Send + Sync + 'static {
    const NODE: &'static str;
    /// Bit i: there is a derivative for operand i.
    const INPUTS: u32;
    fn value<V: Vector>(p: V, v: Element<V>) -> V;
    /// The derivative for the input, at a kink by convention.
    fn derivative<V: Vector>(p: V, v: Element<V>) -> V;
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
}

/// The body of [`ElementLoss::value`] with its parameter.
struct ValueOf<L, T>(T, PhantomData<L>);
impl<L: ElementLoss, T: Real> Body<T, OPERANDS> for ValueOf<L, T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, v: Element<V>) -> V {
        L::value(v[0].splat(self.0), v)
    }
}

/// The body of [`ElementLoss::derivative`], times `c`.
struct DerivativeOf<L, T> {
    p: T,
    c: T,
    loss: PhantomData<L>,
}
impl<L: ElementLoss, T: Real> Body<T, OPERANDS> for DerivativeOf<L, T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, v: Element<V>) -> V {
        v[0].splat(self.c) * L::derivative(v[0].splat(self.p), v)
    }
}

/// An [`ElementLoss`] of whole tensors. `SHOWN` is how many operands the node shows, given or not.
#[derive(Clone, Debug)]
pub(super) struct Loss<L, const SHOWN: usize> {
    loss: PhantomData<L>,
    p: f64,
    reduction: Reduction,
}

impl<L: ElementLoss, const SHOWN: usize> Loss<L, SHOWN> {
    /// What the derivative of `n` elements is multiplied by.
    fn factor(&self, n: usize) -> f64 {
        if self.reduction == Reduction::Mean { 1.0 / n as f64 } else { 1.0 }
    }
    /// The losses of the elements, as a fresh tensor.
    fn values(&self, xs: &[&Tensor]) -> Result<Tensor> {
        let (single, double) = (ValueOf::<L, f32>(self.p as f32, PhantomData), ValueOf::<L, f64>(self.p, PhantomData));
        self.each(xs, &|v, o| lanes_of_slices(&single, v, o), &|v, o| lanes_of_slices(&double, v, o))
    }
    /// Their derivatives for the input, times a factor.
    fn derivatives(&self, c: f64, xs: &[&Tensor]) -> Result<Tensor> {
        let single = DerivativeOf::<L, f32> { p: self.p as f32, c: c as f32, loss: PhantomData };
        let double = DerivativeOf::<L, f64> { p: self.p, c, loss: PhantomData };
        self.each(xs, &|v, o| lanes_of_slices(&single, v, o), &|v, o| lanes_of_slices(&double, v, o))
    }
    fn each(&self, xs: &[&Tensor], f32: RunBody<f32, OPERANDS>, f64: RunBody<f64, OPERANDS>) -> Result<Tensor> {
        let one = Tensor::full(&[], Scalar::Int(1), xs[0].dtype())?;
        let all: [&Tensor; OPERANDS] = std::array::from_fn(|i| xs.get(i).copied().unwrap_or(&one));
        let y = Tensor::empty(xs[0].sizes(), xs[0].dtype())?;
        run_scalar_loop(all, &y, f32, f64);
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

impl<L: ElementLoss, const SHOWN: usize> Primitive for Loss<L, SHOWN> {
    const NAME: &'static str = "loss";
    const SAVE: &'static [Save] =
        [Save::input(0, "self"), Save::input(1, "target"), Save::input(2, "weight"), Save::input(3, "pos_weight")]
            .split_at(SHOWN)
            .0;
    const DTYPES: Dtypes = Dtypes::FLOATS.or(Dtypes::HALVES);
    const HALVES: Halves = Halves::InFloat32;
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
        L::NODE
    }
    fn inputs(&self) -> u32 {
        L::INPUTS
    }
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        L::check(xs[0])?;
        let losses = self.values(xs)?;
        Ok(out(match self.reduction {
            Reduction::None => losses,
            Reduction::Sum => total(&losses, 1.0)?,
            Reduction::Mean => total(&losses, losses.numel() as f64)?,
        }))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let count = cx.node.edges.len();
        let saved: SmallVec<[&Tensor; OPERANDS]> = (0..count).map(|i| cx.saved(i)).collect::<Result<_>>()?;
        let factor = self.factor(saved[0].numel());
        let gradient = |i: usize| -> Result<Tensor> {
            if i == 0 && !cx.differentiating() {
                return if self.reduction == Reduction::None {
                    self.derivatives(1.0, &saved)?.mul(cx.g())
                } else {
                    self.derivatives(factor * cx.g().item()?.as_f64(), &saved)
                };
            }
            L::gradient(self.p, &saved, i)?.mul(&cx.g().times(factor)?)
        };
        let wanted = |i: usize| L::INPUTS >> i & 1 != 0;
        (0..count).map(|i| if wanted(i) { cx.when(i, || gradient(i)) } else { Ok(None) }).collect()
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let moves = |i: &usize| L::INPUTS >> i & 1 != 0;
        let part = |i| cx.t(i).map(|t| L::gradient(op.p, cx.xs, i)?.mul(t)).transpose();
        let parts: SmallVec<[_; 3]> = (0..cx.xs.len()).filter(moves).map(part).collect::<Result<_>>()?;
        Jvp::sum(parts)?.map(|d| op.reduced(&d)).transpose().map(maybe)
    });
    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut shown = vec![("reduction", Value::from(self.reduction as i64))];
        shown.extend(L::shown(self.p));
        shown
    }
}

/// Applies a loss to operands of one dtype, refusing those to be differentiated that have no derivative.
pub(super) fn lost<L: ElementLoss, const SHOWN: usize>(
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
    apply1(Loss::<L, SHOWN> { loss: PhantomData, p, reduction }, xs)
}
