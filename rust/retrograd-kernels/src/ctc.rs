//! Connectionist temporal classification of one sequence: sums over all alignments of a target with the time steps.
//!
//! The states are the labels with a blank before, between and after them. An alignment stays in a state or moves to
//! the next one, and may skip a blank between two different labels. Everything is in logarithms.

use super::real::Real;

/// One sequence: logarithms of probabilities (time, class) at strides, and its target.
pub struct Sequence<'a, T> {
    /// Element (t, c) is `probs[t * time + c * class]`.
    pub probs: *const T,
    pub time: isize,
    pub class: isize,
    pub steps: usize,
    pub labels: &'a [usize],
    pub blank: usize,
}

/// The logarithm of the sum of two or three exponentials.
fn log_sum<T: Real>(a: T, b: T, c: T) -> T {
    let m = a.larger(b).larger(c);
    if m == T::of(f64::NEG_INFINITY) {
        return m;
    }
    let terms = a.sub(m).exp().add(b.sub(m).exp()).add(c.sub(m).exp());
    terms.ln().add(m)
}

impl<T: Real> Sequence<'_, T> {
    fn states(&self) -> usize {
        2 * self.labels.len() + 1
    }
    fn class_of(&self, state: usize) -> usize {
        if state.is_multiple_of(2) { self.blank } else { self.labels[state / 2] }
    }
    /// Whether an alignment may go to `state` from the one before the last.
    fn skips(&self, state: usize) -> bool {
        state % 2 == 1 && state > 1 && self.labels[state / 2] != self.labels[state / 2 - 1]
    }
    /// # Safety
    /// 1. The element is readable.
    unsafe fn prob(&self, t: usize, class: usize) -> T {
        // SAFETY: duty 1.
        unsafe { *self.probs.offset(t as isize * self.time + class as isize * self.class) }
    }

    /// Sums over the ways to each state, row by row of `alpha` (steps, width >= states); returns minus the logarithm of
    /// the probability of the target.
    ///
    /// # Safety
    /// 1. The probabilities of all steps, labels and the blank are readable.
    pub unsafe fn forward(&self, alpha: &mut [T], width: usize) -> T {
        let (none, states) = (T::of(f64::NEG_INFINITY), self.states());
        if self.steps == 0 {
            return if states == 1 { T::ZERO } else { none.neg() };
        }
        for t in 0..self.steps {
            let (before, row) = alpha.split_at_mut(t * width);
            for s in 0..states {
                let way = |back: usize| if t > 0 && s >= back { before[(t - 1) * width + s - back] } else { none };
                let ways = match (t, s) {
                    (0, 0 | 1) => T::ZERO,
                    (0, _) => none,
                    _ => log_sum(way(0), way(1), if self.skips(s) { way(2) } else { none }),
                };
                // SAFETY: duty 1.
                row[s] = ways.add(unsafe { self.prob(t, self.class_of(s)) });
            }
        }
        let last = &alpha[(self.steps - 1) * width..];
        log_sum(last[states - 1], if states > 1 { last[states - 2] } else { none }, none).neg()
    }

    /// Writes the gradient of the loss, for probabilities that a `log_softmax` made, to (time, class) at the strides of
    /// `to`: the probability of a class less that of being in one of its states, times `g`.
    ///
    /// # Safety
    /// 1. As above, for all `classes`. 2. `to` is writable there, and disjoint from all else.
    #[expect(clippy::too_many_arguments, reason = "plain numbers")]
    pub unsafe fn backward(
        &self,
        alpha: &[T],
        width: usize,
        loss: T,
        g: T,
        classes: usize,
        to: *mut T,
        strides: [isize; 2],
    ) {
        let (none, states) = (T::of(f64::NEG_INFINITY), self.states());
        let (mut next, mut beta) = (vec![none; states + 2], vec![none; states + 2]);
        for t in (0..self.steps).rev() {
            let at = |c: usize| to.wrapping_offset(t as isize * strides[0] + c as isize * strides[1]);
            for c in 0..classes {
                // SAFETY: duties 1 and 2.
                unsafe { *at(c) = self.prob(t, c).exp().mul(g) }
            }
            for s in 0..states {
                // SAFETY: duty 1.
                let p = unsafe { self.prob(t, self.class_of(s)) };
                let ways = if t + 1 == self.steps {
                    if s + 2 >= states { T::ZERO } else { none }
                } else {
                    log_sum(next[s], next[s + 1], if s + 2 < states && self.skips(s + 2) { next[s + 2] } else { none })
                };
                beta[s] = ways.add(p);
                let through = alpha[t * width + s].add(ways);
                if through != none {
                    let share = through.add(loss).exp().mul(g);
                    // SAFETY: duty 2.
                    unsafe { *at(self.class_of(s)) = (*at(self.class_of(s))).sub(share) }
                }
            }
            std::mem::swap(&mut next, &mut beta);
        }
    }
}
