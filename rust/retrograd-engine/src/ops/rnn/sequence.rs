//! All steps of an LSTM as one op: gates in blocks, and gradients of weights as one product over time.

use smallvec::smallvec;

use super::cell::{State, Weights, refused};
use crate::autograd::apply::apply;
use crate::autograd::primitive::{Batch, Jvp, Outs, Params, Primitive, Save, Tangents, Vjp, params};
use crate::autograd::{Grads, mode};
use crate::error::Result;
use crate::kernels::lstm::{self, Past, Sequence, States};
use crate::kernels::matmul::GemmScalar;
use crate::kernels::real::Real;
use crate::ops::view::{cat, stack};
use crate::tensor::{DType, Dtypes, Element, Tensor, copy};

/// Hidden and cell states of all steps, and the gates, from the inputs' part `x` of the gates' sums (time, batch, 4
/// hidden), the first states `h`, `c` and the weights `w` of the hidden state. With the slopes of the gates, from the
/// last step to the first: `gc += gh o (1 - tanh(c)^2)`, the sums' gradients `s` are those of `i g`, `f c'` and
/// `o tanh(c)`, and `gh' = s w`, `gc' = gc f`; `gx = s`, `gw = sum(transpose(s) h')`.
///
/// Cells and gates are for the rule alone, so that nobody writes to them.
#[derive(Clone, Debug)]
struct Lstm {
    backwards: bool,
}

// Where `SAVE` has them.
const H0: usize = 0;
const C0: usize = 1;
const WEIGHT: usize = 2;
const CELLS: usize = 3;
const GATES: usize = 4;

/// One layer in one direction, if that is the op's: the hidden states of all steps, and the last state. The input's
/// part of the gates may not be made yet.
pub(super) fn lstm(x: &Tensor, first: &State, weights: &Weights, backwards: bool) -> Result<Option<(Tensor, State)>> {
    let [h, c] = &first[..] else { return Ok(None) };
    let batch = x.sizes().get(1).copied().unwrap_or(0);
    let plain = |t: &Tensor, sizes: &[usize]| t.sizes() == sizes && !t.is_sparse();
    let operands = [Some(x), Some(h), Some(c), Some(weights.input), Some(weights.hidden)];
    let operands = operands.into_iter().chain([weights.input_bias, weights.hidden_bias]).flatten();
    let fits = mode::word() & mode::OBSERVED == 0
        && !operands.into_iter().any(Tensor::is_batched)
        && matches!(x.dtype(), DType::Float32 | DType::Float64)
        && weights.projection.is_none()
        && x.numel() > 0
        && c.numel() > 0
        && plain(h, &[batch, c.sizes()[1]])
        && plain(c, &[batch, c.sizes()[1]])
        && plain(weights.hidden, &[4 * c.sizes()[1], c.sizes()[1]]);
    if !fits {
        return Ok(None);
    }
    let x = weights.of_input_with_both_biases(x)?;
    let outs = apply(Lstm { backwards }, &[&x, h, c, weights.hidden])?;
    let last = if backwards { 0 } else { -1 };
    let state = smallvec![outs[0].select(0, last)?, outs[1].select(0, last)?];
    Ok(Some((outs[0].clone(), state)))
}

fn slice<T: Element>(t: &Tensor) -> Result<&[T]> {
    t.as_slice::<T>().ok_or_else(|| refused("lstm: operands and gradients have one dtype"))
}

/// The four gates, or their gradients, in a row.
fn parts(gates: &Tensor) -> Result<[Tensor; 4]> {
    let n = gates.sizes()[1] as i64 / 4;
    let part = |k: i64| gates.narrow(1, k * n, n);
    Ok([part(0)?, part(1)?, part(2)?, part(3)?])
}

/// `1 - x^2`.
fn slope_of_tanh(x: &Tensor) -> Result<Tensor> {
    x.mul(x)?.neg()?.plus(1i64)
}

/// `x (1 - x)`.
fn slope_of_sigmoid(x: &Tensor) -> Result<Tensor> {
    x.sub(&x.mul(x)?)
}

/// The gates' own slopes.
fn slopes([i, f, g, o]: &[Tensor; 4]) -> Result<[Tensor; 4]> {
    Ok([slope_of_sigmoid(i)?, slope_of_sigmoid(f)?, slope_of_tanh(g)?, slope_of_sigmoid(o)?])
}

impl Lstm {
    /// Where step `k` of `steps` is.
    fn at(&self, k: usize, steps: usize) -> i64 {
        (if self.backwards { steps - 1 - k } else { k }) as i64
    }

    fn sequence(&self, cells: &[usize]) -> Sequence {
        Sequence { steps: cells[0], batch: cells[1], hidden: cells[2], backwards: self.backwards }
    }

    fn run<T: Element + Real + GemmScalar>(&self, xs: &[&Tensor]) -> Result<Outs> {
        let own = [0, 1, 2, 3].map(|i| copy::contiguous(xs[i]));
        let [x, h, c, w] = own;
        let (x, h, c, w) = (x?, h?, c?, w?);
        let sizes = [x.sizes()[0], c.sizes()[0], c.sizes()[1]];
        let s = self.sequence(&sizes);
        let (x, h, c, w) = (slice::<T>(&x)?, slice(&h)?, slice(&c)?, slice(&w)?);
        let wide = [sizes[0], sizes[1], 4 * sizes[2]];
        let [y, cells] = [Tensor::empty(&sizes, T::DTYPE)?, Tensor::empty(&sizes, T::DTYPE)?];
        let gates = Tensor::empty(&wide, T::DTYPE)?;
        y.write_all(|to_h| {
            cells.write_all(|to_c| {
                gates.write_all(|gates| lstm::forward(&s, x, h, c, w, States { h: to_h, c: to_c, gates }));
            });
        });
        Ok([y, cells, gates].into_iter().collect())
    }

    fn fused<T: Element + Real + GemmScalar>(&self, cx: &Vjp) -> Result<Grads> {
        let saved = |i: usize| copy::contiguous(cx.saved(i)?);
        let (c0, w, cells, gates) = (saved(C0)?, saved(WEIGHT)?, saved(CELLS)?, saved(GATES)?);
        let sizes = cells.sizes();
        let s = self.sequence(sizes);
        let given = |i: usize| {
            let g = cx.g_of(i).map(copy::contiguous).transpose()?;
            match g {
                Some(g) if g.sizes() != sizes => Err(refused(format!("lstm: {g:?} is no gradient of its states"))),
                g => Ok(g),
            }
        };
        let (gh, gc) = (given(0)?, given(1)?);
        let past = Past {
            c0: slice::<T>(&c0)?,
            weight: slice(&w)?,
            c: slice(&cells)?,
            gates: slice(&gates)?,
            grad_h: gh.as_ref().map(slice).transpose()?,
            grad_c: gc.as_ref().map(slice).transpose()?,
        };
        let state = s.batch * s.hidden;
        let (mut h, mut dh, mut dc) = (vec![T::ZERO; cells.numel()], vec![T::ZERO; state], vec![T::ZERO; state]);
        let sums = Tensor::build::<T>(gates.sizes(), |sums| lstm::backward(&s, &past, sums, &mut h, &mut dh, &mut dc))?;
        let of_weight = || {
            let h0 = saved(H0)?;
            let (h0, sums) = (slice::<T>(&h0)?, slice::<T>(&sums)?);
            Tensor::build::<T>(w.sizes(), |dw| lstm::weight_grad(&s, sums, h0, &h, dw))
        };
        let gw = cx.when(3, of_weight)?;
        let of_state = |x: &[T]| Tensor::from_slice(x, &sizes[1..]);
        let (gh0, gc0) = (cx.when(1, || of_state(&dh))?, cx.when(2, || of_state(&dc))?);
        Ok(smallvec![cx.needs(0).then_some(sums), gh0, gc0, gw])
    }

    /// The same in ops, which have derivatives.
    fn by_ops(&self, cx: &Vjp) -> Result<Grads> {
        let (c0, w) = (cx.saved(C0)?, cx.saved(WEIGHT)?);
        let (cells, gates) = (cx.saved(CELLS)?, cx.saved(GATES)?);
        let steps = cells.sizes()[0];
        let zero = Tensor::full(&cells.sizes()[1..], 0i64.into(), cells.dtype())?;
        let (mut gh, mut gc) = (zero.clone(), zero);
        let (mut sums, mut hidden) = (Vec::with_capacity(steps), Vec::with_capacity(steps));
        for k in (0..steps).rev() {
            let now = self.at(k, steps);
            let of = |i: usize, sum: Tensor| cx.g_of(i).map_or(Ok(sum.clone()), |g| sum.add(&g.select(0, now)?));
            (gh, gc) = (of(0, gh)?, of(1, gc)?);
            let own = parts(&gates.select(0, now)?)?;
            let (slopes, [i, f, g, o]) = (slopes(&own)?, &own);
            let top = cells.select(0, now)?.tanh()?;
            let before = if k == 0 { c0.clone() } else { cells.select(0, self.at(k - 1, steps))? };
            gc = gc.add(&gh.mul(o)?.mul(&slope_of_tanh(&top)?)?)?;
            let mut all = [gc.mul(g)?, gc.mul(&before)?, gc.mul(i)?, gh.mul(&top)?];
            // Where this rule is differentiated, the gates have gradients too.
            if let Some(g) = cx.g_of(2) {
                for (one, g) in all.iter_mut().zip(parts(&g.select(0, now)?)?) {
                    *one = one.add(&g)?;
                }
            }
            for (one, slope) in all.iter_mut().zip(&slopes) {
                *one = one.mul(slope)?;
            }
            let sum = cat(&all, 1)?;
            (gh, gc) = (sum.matmul(w)?, gc.mul(f)?);
            sums.push(sum);
            hidden.push(o.mul(&top)?);
        }
        // From the last step to the first: before the first is the state that was given.
        let of_weight = || {
            hidden.remove(0);
            hidden.push(cx.saved(H0)?.clone());
            cat(&sums, 0)?.t()?.matmul(&cat(&hidden, 0)?)
        };
        let gw = cx.when(3, of_weight)?;
        if !self.backwards {
            sums.reverse();
        }
        let gx = cx.when(0, || stack(&sums, 0))?;
        Ok(smallvec![gx, cx.needs(1).then_some(gh), cx.needs(2).then_some(gc), gw])
    }

    /// Tangents of all results, from the first step to the last.
    fn tangents(&self, cx: &Jvp) -> Result<Grads> {
        let (cells, gates) = (&cx.outs[1], &cx.outs[2]);
        let steps = cells.sizes()[0];
        let (h0, c0, w) = (cx.xs[1], cx.xs[2], cx.xs[3].t()?);
        let given = |i: usize, like: &Tensor| match cx.t(i) {
            Some(t) => Ok(t.clone()),
            None => Tensor::full(like.sizes(), 0i64.into(), like.dtype()),
        };
        let (mut th, mut tc, tx) = (given(1, h0)?, given(2, c0)?, given(0, cx.xs[0])?);
        let tw = cx.t(3).map(Tensor::t).transpose()?;
        let mut all: [Vec<Tensor>; 3] = Default::default();
        for k in 0..steps {
            let (now, past) = (self.at(k, steps), k.checked_sub(1).map(|k| self.at(k, steps)));
            let before = |first: &Tensor, all: &Tensor| past.map_or(Ok(first.clone()), |past| all.select(0, past));
            let mut sum = tx.select(0, now)?.add(&th.matmul(&w)?)?;
            if let Some(tw) = &tw {
                sum = sum.add(&before(h0, &cx.outs[0])?.matmul(tw)?)?;
            }
            let own = parts(&gates.select(0, now)?)?;
            let mut moved = parts(&sum)?;
            for (t, slope) in moved.iter_mut().zip(&slopes(&own)?) {
                *t = t.mul(slope)?;
            }
            let ([i, f, g, o], [ti, tf, tg, to]) = (&own, &moved);
            tc = tf.mul(&before(c0, cells)?)?.add(&f.mul(&tc)?)?.add(&ti.mul(g)?)?.add(&i.mul(tg)?)?;
            let top = cells.select(0, now)?.tanh()?;
            th = to.mul(&top)?.add(&o.mul(&slope_of_tanh(&top)?)?.mul(&tc)?)?;
            for (all, t) in all.iter_mut().zip([th.clone(), tc.clone(), cat(&moved, 1)?]) {
                all.push(t);
            }
        }
        let in_order = |mut all: Vec<Tensor>| {
            if self.backwards {
                all.reverse();
            }
            stack(&all, 0).map(Some)
        };
        all.into_iter().map(in_order).collect()
    }
}

impl Primitive for Lstm {
    const NAME: &'static str = "lstm";
    const SAVE: &'static [Save] = &[
        Save::input(1, "hx").when(3),
        Save::input(2, "cx"),
        Save::input(3, "weight_hh"),
        Save::output(1, "cells"),
        Save::output(2, "gates"),
    ];
    const PARAMS: Params<Self> = params!(op; backwards);
    const DTYPES: Dtypes = Dtypes::FLOATS;
    const BATCH: Batch<Self> = Batch::Loop;
    const JVP: Tangents<Self> = Tangents::Rule(Self::tangents);
    fn forward(&self, xs: &[&Tensor]) -> Result<Outs> {
        match xs[0].dtype() {
            DType::Float64 => self.run::<f64>(xs),
            _ => self.run::<f32>(xs),
        }
    }
    fn vjp(&self, cx: &Vjp) -> Result<Grads> {
        if cx.differentiating() || cx.g_of(2).is_some() {
            return self.by_ops(cx);
        }
        match cx.saved(CELLS)?.dtype() {
            DType::Float64 => self.fused::<f64>(cx),
            _ => self.fused::<f32>(cx),
        }
    }
}
