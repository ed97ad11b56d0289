//! The recurrence of an LSTM over all steps of a sequence, and its gradients.
//!
//! Every slice is row-major. A step has `batch` rows of `hidden` elements, and of four gates side by side as many, in
//! the order `i, f, g, o`: `c = f c' + i g` and `h = o tanh(c)`, where `c'` and `h'` are those of the step before.

use super::math::{sigmoid, tanh};
use super::matmul::{GemmScalar, gemm};
use super::real::Real;
use super::simd::{InstructionSet, Isa, Task, Vector, for_isa};

/// Gates of a cell.
const GATES: usize = 4;

/// The sizes of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    pub steps: usize,
    pub batch: usize,
    pub hidden: usize,
    /// Against time: the last step comes first.
    pub backwards: bool,
}

impl Sequence {
    /// Where in memory step `k` is.
    fn at(&self, k: usize) -> usize {
        if self.backwards { self.steps - 1 - k } else { k }
    }
    /// Elements of the states of a step.
    fn state(&self) -> usize {
        self.batch * self.hidden
    }
    /// Elements of the gates of a step.
    fn gates(&self) -> usize {
        GATES * self.state()
    }
    fn check(&self, weight: usize, states: &[usize], sequences: &[usize], gates: &[usize]) {
        assert!(
            weight == GATES * self.hidden * self.hidden
                && states.iter().all(|&n| n == self.state())
                && sequences.iter().all(|&n| n == self.steps * self.state())
                && gates.iter().all(|&n| n == self.steps * self.gates()),
            "slices of these sizes"
        );
    }
}

/// Block `read` of `n` elements, and block `written`, which is another one.
fn blocks<T>(x: &mut [T], read: usize, written: usize, n: usize) -> (&[T], &mut [T]) {
    if read < written {
        let (low, high) = x.split_at_mut(written * n);
        (&low[read * n..][..n], &mut high[..n])
    } else {
        let (low, high) = x.split_at_mut(read * n);
        (&high[..n], &mut low[written * n..][..n])
    }
}

/// `c = a b`, or `c += a b`, for row-major matrices, `a` of `k` columns and `c` of `n`.
fn multiply<T: GemmScalar>(n: usize, k: usize, a: &[T], b: &[T], accumulate: bool, c: &mut [T]) {
    let m = a.len() / k;
    assert!(a.len() == m * k && b.len() == k * n && c.len() == m * n, "matrices that have a product");
    // SAFETY: (1, 2) slices of these sizes; (3, 4) a mutable slice is apart from others.
    unsafe {
        let (rs, cs) = (n as isize, 1);
        gemm(m, n, k, a.as_ptr(), k as isize, 1, b.as_ptr(), rs, cs, accumulate, c.as_mut_ptr(), rs, cs);
    }
}

/// `c = transpose(a) b`, or `c += transpose(a) b`, for row-major matrices, `a` of `m` columns and `b` of `n`.
fn multiply_transposed<T: GemmScalar>(m: usize, n: usize, a: &[T], b: &[T], accumulate: bool, c: &mut [T]) {
    let k = a.len() / m;
    assert!(a.len() == k * m && b.len() == k * n && c.len() == m * n, "matrices that have a product");
    // SAFETY: (1, 2) slices of these sizes; (3, 4) a mutable slice is apart from others.
    unsafe {
        let (rs, cs) = (n as isize, 1);
        gemm(m, n, k, a.as_ptr(), 1, m as isize, b.as_ptr(), rs, cs, accumulate, c.as_mut_ptr(), rs, cs);
    }
}

/// Loads the elements from `i` on of a row, as many as there are in a vector or to the end of the row.
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn load<V: Vector>(row: &[V::Elem], i: usize) -> V {
    let rest = &row[i..];
    // SAFETY: duty 1; there are as many elements.
    unsafe { if rest.len() >= V::LEN { V::load(rest.as_ptr()) } else { V::load_first(rest.as_ptr(), rest.len()) } }
}

/// Stores to the elements from `i` on of a row, as [`load`] loads them.
#[inline(always)]
fn store<V: Vector>(x: V, row: &mut [V::Elem], i: usize) {
    let rest = &mut row[i..];
    // SAFETY: there are as many elements.
    unsafe {
        if rest.len() >= V::LEN { x.store(rest.as_mut_ptr()) } else { x.store_first(rest.as_mut_ptr(), rest.len()) }
    }
}

/// A step: `gates` are sums at first, and then what their functions make of them. No duties.
struct Forward<'a, T> {
    hidden: usize,
    gates: &'a mut [T],
    before: &'a [T],
    c: &'a mut [T],
    h: &'a mut [T],
}

impl<T: Real> Task for Forward<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let n = self.hidden;
        let rows = self.before.chunks_exact(n).zip(self.c.chunks_exact_mut(n)).zip(self.h.chunks_exact_mut(n));
        for (gates, ((before, c), h)) in self.gates.chunks_exact_mut(GATES * n).zip(rows) {
            let (i, gates) = gates.split_at_mut(n);
            let (f, gates) = gates.split_at_mut(n);
            let (g, o) = gates.split_at_mut(n);
            for at in (0..n).step_by(T::Vector::<S>::LEN) {
                // SAFETY: Task 2.
                let [vi, vf, vg, vo, vb]: [T::Vector<S>; 5] =
                    unsafe { [load(i, at), load(f, at), load(g, at), load(o, at), load(before, at)] };
                let (vi, vf, vg, vo) = (sigmoid(vi), sigmoid(vf), tanh(vg), sigmoid(vo));
                let vc = vf * vb + vi * vg;
                store(vi, i, at);
                store(vf, f, at);
                store(vg, g, at);
                store(vo, o, at);
                store(vc, c, at);
                store(vo * tanh(vc), h, at);
            }
        }
    }
}

/// The gradients of a step: `dc` comes as that of `c` from later steps, and leaves as that of `before`. No duties.
struct Backward<'a, T> {
    hidden: usize,
    gates: &'a [T],
    before: &'a [T],
    c: &'a [T],
    dh: &'a [T],
    dc: &'a mut [T],
    sums: &'a mut [T],
    h: &'a mut [T],
}

impl<T: Real> Task for Backward<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let n = self.hidden;
        let read = self.before.chunks_exact(n).zip(self.c.chunks_exact(n)).zip(self.dh.chunks_exact(n));
        let written = self.dc.chunks_exact_mut(n).zip(self.h.chunks_exact_mut(n));
        let gates = self.gates.chunks_exact(GATES * n).zip(self.sums.chunks_exact_mut(GATES * n));
        for ((gates, sums), (((before, c), dh), (dc, h))) in gates.zip(read.zip(written)) {
            for at in (0..n).step_by(T::Vector::<S>::LEN) {
                // SAFETY: Task 2.
                let [i, f, g, o, vb, vc, vh, vd]: [T::Vector<S>; 8] = unsafe {
                    let gate = |k: usize| &gates[k * n..(k + 1) * n];
                    let [i, f, g, o] = [gate(0), gate(1), gate(2), gate(3)];
                    let gates = [load(i, at), load(f, at), load(g, at), load(o, at)];
                    let [i, f, g, o] = gates;
                    [i, f, g, o, load(before, at), load(c, at), load(dh, at), load(dc, at)]
                };
                let (one, top) = (i.of(1.0), tanh(vc));
                let total = vd + vh * o * (one - top * top);
                let (low, high) = sums.split_at_mut(2 * n);
                let ((si, sf), (sg, so)) = (low.split_at_mut(n), high.split_at_mut(n));
                store(total * g * i * (one - i), si, at);
                store(total * vb * f * (one - f), sf, at);
                store(total * i * (one - g * g), sg, at);
                store(vh * top * o * (one - o), so, at);
                store(total * f, dc, at);
                store(o * top, h, at);
            }
        }
    }
}

/// What a sequence makes of its first states.
pub struct States<'a, T> {
    /// Hidden states of all steps.
    pub h: &'a mut [T],
    /// Cell states of all steps.
    pub c: &'a mut [T],
    /// Gates of all steps, behind their functions.
    pub gates: &'a mut [T],
}

/// All steps, from the inputs' part of the gates' sums, `x`, and the weights (4 hidden, hidden) of the hidden state.
pub fn forward<T: Real + GemmScalar>(s: &Sequence, x: &[T], h0: &[T], c0: &[T], weight: &[T], to: States<'_, T>) {
    let States { h, c, gates } = to;
    s.check(weight.len(), &[h0.len(), c0.len()], &[h.len(), c.len()], &[x.len(), gates.len()]);
    let (n, rows) = (s.hidden, GATES * s.hidden);
    if s.state() == 0 {
        return;
    }
    // A product reads rows of it as they are, and would copy columns at every step.
    let mut turned = vec![T::ZERO; weight.len()];
    for (j, row) in weight.chunks_exact(n).enumerate() {
        row.iter().enumerate().for_each(|(p, &w)| turned[p * rows + j] = w);
    }
    let (state, width) = (s.state(), s.gates());
    for k in 0..s.steps {
        let now = s.at(k);
        let gates = &mut gates[now * width..][..width];
        gates.copy_from_slice(&x[now * width..][..width]);
        let (h_before, h, c_before, c) = if k == 0 {
            (h0, &mut h[now * state..][..state], c0, &mut c[now * state..][..state])
        } else {
            let (h_before, h) = blocks(h, s.at(k - 1), now, state);
            let (c_before, c) = blocks(c, s.at(k - 1), now, state);
            (h_before, h, c_before, c)
        };
        multiply(rows, n, h_before, &turned, true, gates);
        // SAFETY: the task has no duties.
        unsafe { for_isa(InstructionSet::detect(), Forward { hidden: n, gates, before: c_before, c, h }) }
    }
}

/// What [`backward`] reads: what the sequence had and made, and the gradients of its states, if there are any.
pub struct Past<'a, T> {
    pub c0: &'a [T],
    pub weight: &'a [T],
    pub c: &'a [T],
    pub gates: &'a [T],
    pub grad_h: Option<&'a [T]>,
    pub grad_c: Option<&'a [T]>,
}

/// Gradients of the gates' sums at all steps, in `sums`, and of the first states, in `dh` and `dc`; `h` becomes the
/// hidden states of all steps once more.
pub fn backward<T: Real + GemmScalar>(
    s: &Sequence,
    past: &Past<'_, T>,
    sums: &mut [T],
    h: &mut [T],
    dh: &mut [T],
    dc: &mut [T],
) {
    let Past { c0, weight, c, gates, grad_h, grad_c } = *past;
    s.check(weight.len(), &[c0.len(), dh.len(), dc.len()], &[c.len(), h.len()], &[gates.len(), sums.len()]);
    assert!([grad_h, grad_c].iter().flatten().all(|g| g.len() == c.len()), "slices of these sizes");
    let (n, rows, state, width) = (s.hidden, GATES * s.hidden, s.state(), s.gates());
    dc.fill(T::ZERO);
    if state == 0 {
        return;
    }
    for k in (0..s.steps).rev() {
        let now = s.at(k);
        let step = now * state..(now + 1) * state;
        match grad_h {
            Some(g) => dh.copy_from_slice(&g[step.clone()]),
            None => dh.fill(T::ZERO),
        }
        if k + 1 < s.steps {
            multiply(n, rows, &sums[s.at(k + 1) * width..][..width], weight, true, dh);
        }
        if let Some(g) = grad_c {
            dc.iter_mut().zip(&g[step.clone()]).for_each(|(dc, &g)| *dc = dc.add(g));
        }
        let before = if k == 0 { c0 } else { &c[s.at(k - 1) * state..][..state] };
        let gates = &gates[now * width..][..width];
        let (sums, h) = (&mut sums[now * width..][..width], &mut h[step.clone()]);
        let task = Backward { hidden: n, gates, before, c: &c[step], dh, dc, sums, h };
        // SAFETY: the task has no duties.
        unsafe { for_isa(InstructionSet::detect(), task) }
    }
    multiply(n, rows, &sums[s.at(0) * width..][..width], weight, false, dh);
}

/// The gradient of the weights, from those of the gates' sums and the hidden states.
pub fn weight_grad<T: Real + GemmScalar>(s: &Sequence, sums: &[T], h0: &[T], h: &[T], dw: &mut [T]) {
    s.check(dw.len(), &[h0.len()], &[h.len()], &[sums.len()]);
    let (n, rows, state, width) = (s.hidden, GATES * s.hidden, s.state(), s.gates());
    if state == 0 {
        return dw.fill(T::ZERO);
    }
    let first = s.at(0) * width;
    multiply_transposed(rows, n, &sums[first..first + width], h0, false, dw);
    let last = s.steps - 1;
    let (sums, h) = match s.backwards {
        true => (&sums[..last * width], &h[state..]),
        false => (&sums[width..], &h[..last * state]),
    };
    multiply_transposed(rows, n, sums, h, true, dw);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, by: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * by + 11) % 101) as f64 / 60.0 - 0.8).collect()
    }

    /// Every output summed up with weights.
    fn total(s: &Sequence, x: &[f64], h0: &[f64], c0: &[f64], w: &[f64], of_h: &[f64], of_c: &[f64]) -> f64 {
        let n = s.steps * s.state();
        let (mut h, mut c, mut gates) = (vec![0.0; n], vec![0.0; n], vec![0.0; GATES * n]);
        forward(s, x, h0, c0, w, States { h: &mut h, c: &mut c, gates: &mut gates });
        h.iter().zip(of_h).map(|(h, g)| h * g).sum::<f64>() + c.iter().zip(of_c).map(|(c, g)| c * g).sum::<f64>()
    }

    #[test]
    fn one_step_by_the_definition() {
        let s = Sequence { steps: 1, batch: 1, hidden: 1, backwards: false };
        let (mut h, mut c, mut gates) = ([0.0], [0.0], [0.0; 4]);
        let (x, w) = ([0.1, -0.2, 0.3, 0.4], [0.5, 0.6, -0.7, 0.8]);
        forward(&s, &x, &[0.9], &[-1.1], &w, States { h: &mut h, c: &mut c, gates: &mut gates });
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let sum = |k: usize| x[k] + 0.9 * w[k];
        let cell = sigmoid(sum(1)) * -1.1 + sigmoid(sum(0)) * sum(2).tanh();
        assert!((c[0] - cell).abs() < 1e-15 && (h[0] - sigmoid(sum(3)) * cell.tanh()).abs() < 1e-15);
    }

    #[test]
    fn gradients_are_differences() {
        for (steps, batch, hidden) in [(1, 1, 1), (3, 2, 5), (4, 1, 9)] {
            for backwards in [false, true] {
                let s = Sequence { steps, batch, hidden, backwards };
                let n = steps * s.state();
                let (x, h0, c0) = (numbers(GATES * n, 37), numbers(s.state(), 53), numbers(s.state(), 29));
                let (w, gh, gc) = (numbers(GATES * hidden * hidden, 71), numbers(n, 41), numbers(n, 13));
                let (mut h, mut c, mut gates) = (vec![0.0; n], vec![0.0; n], vec![0.0; GATES * n]);
                forward(&s, &x, &h0, &c0, &w, States { h: &mut h, c: &mut c, gates: &mut gates });
                let mut sums = vec![f64::NAN; GATES * n];
                let (mut again, mut dh, mut dc) = (vec![0.0; n], vec![0.0; s.state()], vec![0.0; s.state()]);
                let past = Past { c0: &c0, weight: &w, c: &c, gates: &gates, grad_h: Some(&gh), grad_c: Some(&gc) };
                backward(&s, &past, &mut sums, &mut again, &mut dh, &mut dc);
                let mut dw = vec![f64::NAN; w.len()];
                weight_grad(&s, &sums, &h0, &h, &mut dw);
                assert!(h.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-15));
                let check = |grads: &[f64], which: usize| {
                    for (i, &g) in grads.iter().enumerate() {
                        let shifted = |by: f64| {
                            let mut all = [x.clone(), h0.clone(), c0.clone(), w.clone()];
                            all[which][i] += by;
                            total(&s, &all[0], &all[1], &all[2], &all[3], &gh, &gc)
                        };
                        let difference = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
                        assert!((g - difference).abs() < 1e-8, "{which} {i}: {g} {difference}");
                    }
                };
                check(&sums, 0);
                check(&dh, 1);
                check(&dc, 2);
                check(&dw, 3);
            }
        }
    }
}
