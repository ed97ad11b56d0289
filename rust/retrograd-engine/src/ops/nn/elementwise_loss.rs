//! Losses that are one function per element, then a mean or a sum: what a definition states of one, and the primitive
//! that runs them all.

use std::fmt;
use std::marker::PhantomData;

use smallvec::SmallVec;

use super::Reduction;
use super::loss::over_entries;
use crate::autograd::apply::apply1;
use crate::autograd::primitive::{Batch, Halves, Jvp, Outs, Primitive, Save, Tangents, Vjp, maybe, out};
use crate::autograd::{Grads, mode};
use crate::error::{Error, Result};
use crate::kernels::pointwise::{Body, RunBody, lanes_of_slices};
use crate::kernels::real::Real;
use crate::kernels::reduce::{Sum, reduce, sum_of};
use crate::kernels::simd::Vector;
use crate::kernels::strided::plan;
use crate::match_dtype;
use crate::ops::Value;
use crate::ops::matmul::batch_first;
use crate::ops::pointwise::{out_like, run_scalar_loop};
use crate::ops::view::{expand_to, reshape_to};
use crate::tensor::layout::expanded_strides;
use crate::tensor::{self, Dims, Dtypes, Scalar, Tensor};

/// Operands: input and target, of equal sizes, then a weight and a weight of positive targets, which broadcast to them.
/// Those that are missing are ones in the functions of an element.
const OPERANDS: usize = 4;
/// One element of each operand.
pub(super) type Element<T> = [T; OPERANDS];

/// A loss of one element. Implementors mark `value` and `derivative` `#[inline(always)]`.
pub(super) trait ElementLoss: fmt::Debug + Copy + Send + Sync + 'static {
    const NAME: &'static str = "loss";
    const NODE: &'static str;
    /// Whether it is a function of the difference of input and target: what the one gets, the other gets with the other
    /// sign.
    const OF_DIFFERENCE: bool = false;
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

/// One element of the operands that are given, from place `from` on, and 1 for the others.
#[inline(always)]
fn element<V: Vector, const K: usize>(given: [V; K], from: usize) -> Element<V> {
    let mut all = [given[0].of(1.0); OPERANDS];
    for (one, &given) in all.iter_mut().zip(&given[from..]) {
        *one = given;
    }
    all
}

/// The elements of operands that broadcast to the first, in the one order that all of them have in memory without gaps:
/// one element of those that are broadcast along every axis. `None` if there is no such order.
fn in_memory_order<T: tensor::Element, const K: usize>(xs: [&Tensor; K]) -> Option<[&[T]; K]> {
    if xs[0].numel() == 0 {
        return Some([&[]; K]);
    }
    let sizes = xs[0].sizes();
    let strides = xs.map(|x| expanded_strides(x.sizes(), x.strides(), sizes));
    let axes = plan(sizes, std::array::from_fn(|k| &strides[k][..]));
    let lengths = match axes[..] {
        [] => [1; K],
        [axis] if axis.strides.iter().all(|&s| s == 0 || s == 1) => {
            axis.strides.map(|s| if s == 1 { axis.size } else { 1 })
        }
        _ => return None,
    };
    // SAFETY: S1 to S3: the places of the operand, one after the other from its first element on.
    Some(std::array::from_fn(|k| unsafe { std::slice::from_raw_parts(xs[k].ptr::<T>(), lengths[k]) }))
}

/// The body of [`ElementLoss::value`] with its parameter.
struct ValueOf<L, T>(T, PhantomData<L>);
impl<L: ElementLoss, T: Real, const K: usize> Body<T, K> for ValueOf<L, T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, v: [V; K]) -> V {
        L::value(v[0].splat(self.0), element(v, 0))
    }
}

/// The body of [`ElementLoss::derivative`], times `c`.
struct DerivativeOf<L, T> {
    p: T,
    c: T,
    loss: PhantomData<L>,
}
impl<L: ElementLoss, T: Real, const K: usize> Body<T, K> for DerivativeOf<L, T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, v: [V; K]) -> V {
        v[0].splat(self.c) * L::derivative(v[0].splat(self.p), element(v, 0))
    }
}

/// [`DerivativeOf`], times a cotangent, which is the first operand.
struct PulledBack<L, T>(DerivativeOf<L, T>);
impl<L: ElementLoss, T: Real, const K: usize> Body<T, K> for PulledBack<L, T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, v: [V; K]) -> V {
        let DerivativeOf { p, c, .. } = self.0;
        v[0].splat(c) * L::derivative(v[0].splat(p), element(v, 1)) * v[0]
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
    /// What the operands of one element are that `xs` does not have.
    fn missing(xs: &[&Tensor]) -> Result<Option<Tensor>> {
        (xs.len() < SHOWN).then(|| Tensor::full(&[], Scalar::Int(1), xs[0].dtype())).transpose()
    }
    /// A tensor of the sizes of the input, in its order in memory, that a loop over `K` operands writes: all that the
    /// node shows, and a cotangent in front of them if there is one.
    fn each<const K: usize>(
        xs: &[&Tensor],
        g: Option<&Tensor>,
        f32: RunBody<f32, K>,
        f64: RunBody<f64, K>,
    ) -> Result<Tensor> {
        let one = Self::missing(xs)?;
        let mut given = g.into_iter().chain(xs.iter().copied());
        let all = std::array::from_fn(|_| given.next().or(one.as_ref()).unwrap_or(xs[0]));
        let y = out_like(xs[0].sizes(), xs[0].dtype(), &xs[..1])?;
        run_scalar_loop(all, &y, f32, f64);
        Ok(y)
    }
    /// The losses of the elements, as a fresh tensor.
    fn values(&self, xs: &[&Tensor]) -> Result<Tensor> {
        let (single, double) = (ValueOf::<L, f32>(self.p as f32, PhantomData), ValueOf::<L, f64>(self.p, PhantomData));
        Self::each::<SHOWN>(xs, None, &|v, o| lanes_of_slices(&single, v, o), &|v, o| lanes_of_slices(&double, v, o))
    }
    /// The sum of the losses of the elements, divided by `over`. They are in memory only if the operands have no order
    /// in common.
    fn total(&self, xs: &[&Tensor], over: f64) -> Result<Tensor> {
        let (one, n) = (Self::missing(xs)?, xs[0].numel());
        let all: [&Tensor; SHOWN] = std::array::from_fn(|i| xs.get(i).copied().or(one.as_ref()).unwrap_or(xs[0]));
        match_dtype!(floats, xs[0].dtype(), T => {
            let sum = if let Some(rows) = in_memory_order::<T, SHOWN>(all) {
                let value = ValueOf::<L, T>(self.p as T, PhantomData);
                sum_of(&|v, o| lanes_of_slices(&value, v, o), n, rows)
            } else {
                let (losses, mut sum) = (self.values(xs)?, 0.0);
                // SAFETY: (1) a dense tensor has its elements in one run (S1, S3), all written; (2, 3) a variable.
                unsafe { reduce(&Sum, &[], &[], &[n], &[1], losses.ptr::<T>().cast_const(), &mut sum) };
                sum
            };
            Tensor::build::<T>(&[], |o| o[0] = sum / over as T)
        })
    }
    /// The derivatives for the input, times `c`.
    fn derivatives(&self, c: f64, xs: &[&Tensor]) -> Result<Tensor> {
        let (single, double) = self.bodies(c);
        Self::each::<SHOWN>(xs, None, &|v, o| lanes_of_slices(&single, v, o), &|v, o| lanes_of_slices(&double, v, o))
    }
    /// The derivatives for the input, times `c` and times a cotangent of the sizes of the input.
    fn pulled_back(&self, c: f64, g: &Tensor, xs: &[&Tensor]) -> Result<Tensor> {
        let (single, double) = self.bodies(c);
        let (single, double) = (PulledBack(single), PulledBack(double));
        if const { SHOWN == 2 } {
            return Self::each::<3>(xs, Some(g), &|v, o| lanes_of_slices(&single, v, o), &|v, o| {
                lanes_of_slices(&double, v, o)
            });
        }
        Self::each::<{ 1 + OPERANDS }>(xs, Some(g), &|v, o| lanes_of_slices(&single, v, o), &|v, o| {
            lanes_of_slices(&double, v, o)
        })
    }
    fn bodies(&self, c: f64) -> (DerivativeOf<L, f32>, DerivativeOf<L, f64>) {
        let single = DerivativeOf { p: self.p as f32, c: c as f32, loss: PhantomData };
        (single, DerivativeOf { p: self.p, c, loss: PhantomData })
    }
    /// What the input gets, or with `-1` as `sign` the target of a loss of their difference, in one pass. `None` if the
    /// cotangent is not of the dtype of the operands.
    fn fused(&self, sign: f64, g: &Tensor, xs: &[&Tensor]) -> Option<Result<Tensor>> {
        if self.reduction == Reduction::None {
            return (g.dtype() == xs[0].dtype()).then(|| self.pulled_back(sign, g, xs));
        }
        let c = sign * self.factor(xs[0].numel());
        Some(g.item().and_then(|g| self.derivatives(c * g.as_f64(), xs)))
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
    const NAME: &'static str = L::NAME;
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
        Ok(out(match self.reduction {
            Reduction::None => self.values(xs)?,
            Reduction::Sum => self.total(xs, 1.0)?,
            Reduction::Mean => self.total(xs, xs[0].numel() as f64)?,
        }))
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        let count = cx.node.edges.len();
        let saved: SmallVec<[&Tensor; OPERANDS]> = (0..count).map(|i| cx.saved(i)).collect::<Result<_>>()?;
        let factor = self.factor(saved[0].numel());
        let mut grads = Grads::new();
        for i in 0..count {
            if L::INPUTS >> i & 1 == 0 || !cx.needs(i) {
                grads.push(None);
                continue;
            }
            let fused = match i {
                _ if cx.differentiating() => None,
                0 => self.fused(1.0, cx.g(), &saved),
                1 if L::OF_DIFFERENCE => match &grads[0] {
                    Some(of_input) => Some(of_input.neg()),
                    None => self.fused(-1.0, cx.g(), &saved),
                },
                _ => None,
            };
            grads.push(Some(match fused {
                Some(grad) => grad?,
                None => L::gradient(self.p, &saved, i)?.mul(&cx.g().times(factor)?)?,
            }));
        }
        Ok(grads)
    }
    const JVP: Tangents<Self> = Tangents::Rule(|op, cx| {
        let moves = |i: &usize| L::INPUTS >> i & 1 != 0;
        if let (true, Some(dx), Some(dy)) = (L::OF_DIFFERENCE, cx.t(0), cx.t(1)) {
            return op.reduced(&L::gradient(op.p, cx.xs, 0)?.mul(&dx.sub(dy)?)?).map(Some).map(maybe);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use crate::autograd::grad;
    use crate::ops::memory::cast;
    use crate::ops::nn::bce::binary_cross_entropy_with_logits;
    use crate::ops::nn::huber::{huber_loss, smooth_l1_loss, soft_margin_loss};
    use crate::ops::nn::loss::mse_loss;
    use crate::testing::noise;

    const BETA: f64 = 0.75;

    /// Input, target and weight, the first two with kinks and what is no number, if they have room for it.
    fn operands(sizes: &[usize], dtype: DType, loss: &str) -> [Tensor; 3] {
        let mut x = noise(1, sizes).times(2.0).unwrap().to_vec::<f64>().unwrap();
        let mut y = noise(2, sizes).to_vec::<f64>().unwrap();
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        if x.len() > 12 {
            let ends = [BETA, -BETA, 0.0, -0.0, inf, -inf, nan, 1.0, inf, 1.0];
            x[..10].copy_from_slice(&ends);
            y[..10].copy_from_slice(&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, nan, inf, 1.0 + BETA]);
        }
        if loss.starts_with("bce") {
            // A target is a probability.
            y.iter_mut().for_each(|y| *y = if y.is_finite() { y.abs().min(1.0) } else { 0.5 });
        }
        let of = |values: &[f64]| cast(&Tensor::from_slice(values, sizes).unwrap(), dtype).unwrap();
        [of(&x), of(&y), cast(&noise(3, sizes), dtype).unwrap()]
    }

    type Loss<'a> = &'a dyn Fn(&Tensor, &Tensor, &Tensor, &str) -> Result<Tensor>;
    const LOSSES: [(&str, bool, Loss); 6] = [
        ("mse", true, &|x, y, _, r| mse_loss(x, y, None, None, r, None)),
        ("smooth_l1", true, &|x, y, _, r| smooth_l1_loss(x, y, None, None, r, BETA)),
        ("huber", true, &|x, y, _, r| huber_loss(x, y, r, BETA, None)),
        ("soft_margin", false, &|x, y, _, r| soft_margin_loss(x, y, None, None, r)),
        ("bce", true, &|x, y, w, r| binary_cross_entropy_with_logits(x, y, Some(w), None, None, r, None)),
        ("bce of few", true, &|x, y, w, r| binary_cross_entropy_with_logits(x, y, Some(w), None, None, r, Some(w))),
    ];

    fn values(x: &Tensor) -> Vec<f64> {
        cast(x, DType::Float64).unwrap().to_vec::<f64>().unwrap()
    }

    fn assert_alike(what: &str, a: &[f64], b: &[f64], unit: f64) {
        assert_eq!(a.len(), b.len(), "{what}");
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            // What an operand that was broadcast gets is a sum of several, whose size is about 1.
            let alike = a == b || (a - b).abs() <= 8.0 * unit * b.abs().max(1.0) || a.is_nan() && b.is_nan();
            assert!(alike, "{what}, element {i}: {a} in one pass, {b} in ops");
        }
    }

    #[test]
    fn loss_gradients_in_one_pass_are_those_of_the_rule_in_ops() {
        for (dtype, unit) in [(DType::Float32, f64::from(f32::EPSILON)), (DType::Float64, f64::EPSILON)] {
            for sizes in [&[0][..], &[1], &[3], &[5, 7], &[8], &[17], &[33], &[4, 1025]] {
                for layout in ["plain", "transposed", "broadcast"] {
                    for ((name, has_target, loss), reduction) in
                        LOSSES.iter().flat_map(|loss| ["none", "mean", "sum"].map(|r| (*loss, r)))
                    {
                        for wanted in [&[0][..], &[1], &[0, 1]] {
                            if wanted.contains(&1) && !has_target {
                                continue;
                            }
                            let [x, y, w] = operands(sizes, dtype, name);
                            let leaf = [&x, &y];
                            wanted.iter().for_each(|&i| leaf[i].set_requires_grad(true).unwrap());
                            let run = |create_graph: bool| {
                                let (x, y, w) = match layout {
                                    "transposed" if x.ndim() == 2 => (x.t()?, y.t()?, w.t()?),
                                    "broadcast" if x.ndim() == 2 => {
                                        (x.clone(), expand_to(&y.narrow(0, 0, 1)?, sizes)?, w.clone())
                                    }
                                    _ => (x.clone(), y.clone(), w.clone()),
                                };
                                let out = loss(&x, &y, &w, reduction)?.times(1.5)?;
                                let out = if reduction == "none" { out.mul(&w)?.sum(None)? } else { out };
                                let leaves: Vec<&Tensor> = wanted.iter().map(|&i| leaf[i]).collect();
                                grad(&out, &leaves, create_graph)
                            };
                            let (fused, ops) = (run(false).unwrap(), run(true).unwrap());
                            for (k, (a, b)) in fused.iter().zip(&ops).enumerate() {
                                let what =
                                    format!("{name}, {reduction}, {dtype:?} {sizes:?} {layout}, {wanted:?}[{k}]");
                                let (a, b) = (a.as_ref().unwrap(), b.as_ref().unwrap());
                                assert_alike(&what, &values(a), &values(b), unit);
                                assert!(!a.requires_grad(), "{what}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn sums_of_losses_are_those_of_their_elements() {
        for n in [0, 1, 9, 1024, 1025, 5000] {
            let [x, y, w] = [1, 2, 3].map(|seed| noise(seed, &[n, 2]));
            for (name, _, loss) in LOSSES {
                for [x, y, w] in [[x.clone(), y.clone(), w.clone()], [&x, &y, &w].map(|t| t.t().unwrap())] {
                    let each = loss(&x, &y, &w, "none").unwrap();
                    let want = each.sum(None).unwrap().item().unwrap().as_f64();
                    let sum = loss(&x, &y, &w, "sum").unwrap().item().unwrap().as_f64();
                    let mean = loss(&x, &y, &w, "mean").unwrap().item().unwrap().as_f64();
                    let close = |a: f64, b: f64| (a - b).abs() <= 1e-13 * b.abs().max(1.0) || a.is_nan() && b.is_nan();
                    assert!(close(sum, want), "{name} of {n}: {sum}, not {want}");
                    assert!(close(mean, want / each.numel() as f64), "{name} of {n}: the mean {mean} of {want}");
                }
            }
        }
    }

    /// Operands that share another order than rows are summed in that order: the bits are those of the same memory in
    /// rows. Losses of the elements, and derivatives, have the order of the input.
    #[test]
    fn operands_are_walked_in_their_order_in_memory() {
        for sizes in [&[7usize, 3][..], &[70, 1000], &[1, 5], &[0, 3], &[2, 3, 5]] {
            let [x, y, w] = [1, 2, 3].map(|seed| noise(seed, sizes));
            let [xt, yt, wt] = [&x, &y, &w].map(|t| t.transpose(0, -1).unwrap());
            let three = Tensor::full(&[], Scalar::Int(3), DType::Float64).unwrap();
            for (name, _, loss) in LOSSES {
                for (w, wt) in [(&w, &wt), (&three, &three)] {
                    let [rows, columns] = [loss(&x, &y, w, "sum"), loss(&xt, &yt, wt, "sum")]
                        .map(|sum| sum.unwrap().item().unwrap().as_f64().to_bits());
                    // Of three axes, a weight that is no number has the order of the others, too.
                    assert_eq!(rows, columns, "{name} {sizes:?}");
                    let each = loss(&xt, &yt, wt, "none").unwrap();
                    assert_eq!(values(&each), values(&loss(&x, &y, w, "none").unwrap().transpose(0, -1).unwrap()));
                    if x.numel() > 0 && sizes[0] > 1 {
                        assert_eq!(each.strides(), xt.strides(), "{name} {sizes:?}");
                    }
                }
                // One operand in rows, the other in columns.
                let mixed = copy_in_rows(&yt);
                let [got, want] = [loss(&xt, &mixed, &wt, "sum"), loss(&xt, &yt, &wt, "sum")]
                    .map(|sum| sum.unwrap().item().unwrap().as_f64());
                assert!((got - want).abs() <= 1e-12 * want.abs().max(1.0), "{name} {sizes:?}: {got} {want}");
            }
        }
    }

    fn copy_in_rows(x: &Tensor) -> Tensor {
        crate::tensor::copy::row_major(x).unwrap()
    }
}
