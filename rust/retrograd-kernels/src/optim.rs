//! Steps of optimizers: everything that a step does with an element, in one pass over the memory.
//!
//! Sums and products are rounded one by one, in the order in which ops would be called: a step here has the bits of the
//! same step made of ops.

use super::parallel::{SharedPtr, split};
use super::real::Real;
use super::simd::{InstructionSet, Isa, Task, Vector, for_isa};
use crate::thresholds::pointwise::MANY;

/// What a step makes of an element of each of `K` operands: of the parameter, of its gradient, which stays as it is,
/// and of the parameter's state. Implementors mark `f` `#[inline(always)]`.
trait Update<T: Real, const K: usize>: Sync {
    /// The new elements.
    fn f<V: Vector<Elem = T>>(&self, x: [V; K]) -> [V; K];
}

/// The operand that is only read.
const GRADIENT: usize = 1;
/// What an element takes for each operand, in nanoseconds.
const ELEMENT_COST: f64 = 0.2;

/// Contiguous elements.
///
/// Duties: 1. `n` elements of every operand are readable and initialised, and those of all but the gradient writable.
/// 2. Operands are disjoint.
struct Run<'a, U, T, const K: usize> {
    update: &'a U,
    n: usize,
    p: [*mut T; K],
}

impl<T: Real, const K: usize, U: Update<T, K>> Task for Run<'_, U, T, K> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let (len, mut i) = (T::Vector::<S>::LEN, 0);
        // SAFETY: duty 1, and Task 2 for the instructions.
        unsafe {
            while i + len <= self.n {
                let mut x = [T::Vector::<S>::load(self.p[0].add(i)); K];
                for (x, p) in x.iter_mut().zip(self.p) {
                    *x = T::Vector::<S>::load(p.add(i));
                }
                let y = self.update.f(x);
                for (k, (y, p)) in y.into_iter().zip(self.p).enumerate() {
                    if k != GRADIENT {
                        y.store(p.add(i));
                    }
                }
                i += len;
            }
            if i < self.n {
                let rest = self.n - i;
                let mut x = [T::Vector::<S>::load_first(self.p[0].add(i), rest); K];
                for (x, p) in x.iter_mut().zip(self.p) {
                    *x = T::Vector::<S>::load_first(p.add(i), rest);
                }
                let y = self.update.f(x);
                for (k, (y, p)) in y.into_iter().zip(self.p).enumerate() {
                    if k != GRADIENT {
                        y.store_first(p.add(i), rest);
                    }
                }
            }
        }
    }
}

/// # Safety
/// The duties of [`Run`].
unsafe fn run<T: Real, const K: usize, U: Update<T, K>>(update: &U, n: usize, p: [*mut T; K]) {
    let level = InstructionSet::detect();
    if n < MANY {
        // SAFETY: ours.
        return unsafe { for_isa(level, Run { update, n, p }) };
    }
    let p = p.map(SharedPtr);
    split(n, 1024, n as f64 * K as f64 * ELEMENT_COST, &|piece| {
        // SAFETY: (1) elements of the operands; (2) ours, and no other piece has them.
        unsafe { for_isa(level, Run { update, n: piece.len(), p: p.map(|p| p.get().add(piece.start)) }) }
    });
}

/// Gradient descent: `g = gradient + decay p`, `b = momentum b + rest g`, `p -= rate (b, or g + momentum b)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Descent {
    pub decay: f64,
    pub momentum: f64,
    /// The share of the gradient that a momentum takes.
    pub rest: f64,
    pub rate: f64,
    /// The step goes along `g + momentum b`.
    pub nesterov: bool,
    /// The gradient is that of what is to grow.
    pub maximize: bool,
}

impl Descent {
    #[inline(always)]
    fn gradient<V: Vector<Elem: Real>>(&self, p: V, g: V) -> V {
        let g = if self.maximize { -g } else { g };
        if self.decay == 0.0 { g } else { g + g.of(self.decay) * p }
    }
    #[inline(always)]
    fn step<V: Vector<Elem: Real>>(&self, p: V, along: V) -> V {
        p + p.of(-self.rate) * along
    }
}
impl<T: Real> Update<T, 2> for Descent {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [p, g]: [V; 2]) -> [V; 2] {
        [self.step(p, self.gradient(p, g)), g]
    }
}
impl<T: Real> Update<T, 3> for Descent {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [p, g, b]: [V; 3]) -> [V; 3] {
        let gradient = self.gradient(p, g);
        let b = b * b.of(self.momentum) + b.of(self.rest) * gradient;
        let along = if self.nesterov { gradient + b.of(self.momentum) * b } else { b };
        [self.step(p, along), g, b]
    }
}

/// Adam: means `m` of gradients and `v` of their squares, and steps by `m` over the root of `v`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// What is added to the gradient, as a multiple of the parameter.
    pub decay: f64,
    /// What the parameter is multiplied by before the step.
    pub shrink: f64,
    /// How far `m` goes towards the gradient.
    pub fresh1: f64,
    pub beta2: f64,
    pub fresh2: f64,
    /// The rate over the correction of `m`.
    pub rate: f64,
    /// The root of the correction of `v`.
    pub correction2_root: f64,
    pub eps: f64,
    /// The gradient is that of what is to grow.
    pub maximize: bool,
}

impl Adam {
    /// The next parameter and means; `largest` is what the root is of, given the new `v`.
    #[inline(always)]
    fn step<V: Vector<Elem: Real>>(&self, p: V, g: V, m: V, v: V, largest: impl Largest<V>) -> (V, V, V, V) {
        let g = if self.maximize { -g } else { g };
        let g = if self.decay == 0.0 { g } else { g + g.of(self.decay) * p };
        let p = if self.shrink == 1.0 { p } else { p * p.of(self.shrink) };
        let w = m.of(self.fresh1);
        let m = if self.fresh1 * self.fresh1 < 0.25 { m + w * (g - m) } else { g - (g - m) * (m.of(1.0) - w) };
        let v = v * v.of(self.beta2) + v.of(self.fresh2) * g * g;
        let top = largest.with(v);
        let divisor = top.sqrt() / v.of(self.correction2_root) + v.of(self.eps);
        (p + p.of(-self.rate) * m / divisor, m, v, top)
    }
}

/// What the root of a step of Adam is of.
trait Largest<V> {
    fn with(self, v: V) -> V;
}
/// The mean itself.
struct Mean;
impl<V> Largest<V> for Mean {
    #[inline(always)]
    fn with(self, v: V) -> V {
        v
    }
}
/// The largest mean so far; NaN if one was.
struct SoFar<V>(V);
impl<V: Vector> Largest<V> for SoFar<V> {
    #[inline(always)]
    fn with(self, v: V) -> V {
        v.select(self.0.lt(v), self.0).select(v.eq(v), v)
    }
}

impl<T: Real> Update<T, 4> for Adam {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [p, g, m, v]: [V; 4]) -> [V; 4] {
        let (p, m, v, _) = self.step(p, g, m, v, Mean);
        [p, g, m, v]
    }
}
impl<T: Real> Update<T, 5> for Adam {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [p, g, m, v, largest]: [V; 5]) -> [V; 5] {
        let (p, m, v, largest) = self.step(p, g, m, v, SoFar(largest));
        [p, g, m, v, largest]
    }
}

/// A step of gradient descent for `n` elements of a parameter and its gradient.
///
/// # Safety
/// 1. `n` elements of both operands are readable and initialised, and those of the parameter writable. 2. Operands are
///    disjoint.
pub unsafe fn descend<T: Real>(step: &Descent, n: usize, [p, g]: [*mut T; 2]) {
    // SAFETY: ours.
    unsafe { run(step, n, [p, g]) }
}

/// As [`descend`], with a buffer of momenta.
///
/// # Safety
/// 1. As [`descend`], and the elements of the buffer are readable, initialised and writable. 2. Operands are disjoint.
pub unsafe fn descend_with_momentum<T: Real>(step: &Descent, n: usize, operands: [*mut T; 3]) {
    // SAFETY: ours.
    unsafe { run(step, n, operands) }
}

/// A step of Adam for `n` elements of a parameter, its gradient and its two means.
///
/// # Safety
/// 1. `n` elements of all operands are readable and initialised, and those of all but the gradient writable.
/// 2. Operands are disjoint.
pub unsafe fn adam<T: Real>(step: &Adam, n: usize, operands: [*mut T; 4]) {
    // SAFETY: ours.
    unsafe { run(step, n, operands) }
}

/// As [`adam`], with the largest second means so far.
///
/// # Safety
/// As [`adam`], for five operands.
pub unsafe fn adam_with_largest<T: Real>(step: &Adam, n: usize, operands: [*mut T; 5]) {
    // SAFETY: ours.
    unsafe { run(step, n, operands) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, by: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * by + 11) % 101) as f64 / 50.0 - 1.0).collect()
    }

    const SIZES: [usize; 8] = [0, 1, 3, 7, 8, 33, 100, 1003];

    #[test]
    fn descent_by_the_definition() {
        for n in SIZES {
            for (nesterov, maximize) in [(false, false), (true, true)] {
                let step = Descent { decay: 0.1, momentum: 0.9, rest: 0.7, rate: 0.3, nesterov, maximize };
                let (p, g, b) = (numbers(n, 37), numbers(n, 53), numbers(n, 29));
                let (mut own, mut buffer, mut read) = (p.clone(), b.clone(), g.clone());
                // SAFETY: (1, 2) three vectors of `n` elements.
                unsafe {
                    let operands = [own.as_mut_ptr(), read.as_mut_ptr(), buffer.as_mut_ptr()];
                    descend_with_momentum(&step, n, operands);
                }
                assert_eq!(read, g);
                for i in 0..n {
                    let along = if maximize { -g[i] } else { g[i] } + 0.1 * p[i];
                    let momentum = b[i] * 0.9 + 0.7 * along;
                    let along = if nesterov { along + 0.9 * momentum } else { momentum };
                    assert_eq!((own[i], buffer[i]), (p[i] + -0.3 * along, momentum));
                }
                let mut own = p.clone();
                // SAFETY: (1, 2) two vectors of `n` elements.
                unsafe { descend(&Descent { decay: 0.0, ..step }, n, [own.as_mut_ptr(), read.as_mut_ptr()]) };
                (0..n).for_each(|i| assert_eq!(own[i], p[i] + -0.3 * if maximize { -g[i] } else { g[i] }));
            }
        }
    }

    #[test]
    fn adam_by_the_definition() {
        for n in SIZES {
            for fresh1 in [0.1, 0.8] {
                let step = Adam {
                    decay: 0.1,
                    shrink: 0.9,
                    fresh1,
                    beta2: 0.75,
                    fresh2: 0.25,
                    rate: 0.5,
                    correction2_root: 0.3,
                    eps: 1e-3,
                    maximize: true,
                };
                let (p, g, m) = (numbers(n, 37), numbers(n, 53), numbers(n, 29));
                let v: Vec<f64> = numbers(n, 71).iter().map(|x| x.abs()).collect();
                let mut top: Vec<f64> = numbers(n, 41).iter().map(|x| x.abs()).collect();
                let tops = top.clone();
                for largest in [false, true] {
                    let mut own = [&p, &g, &m, &v].map(Clone::clone);
                    let [a, b, c, d] = own.each_mut().map(|x| x.as_mut_ptr());
                    // SAFETY: (1, 2) vectors of `n` elements.
                    unsafe {
                        match largest {
                            true => adam_with_largest(&step, n, [a, b, c, d, top.as_mut_ptr()]),
                            false => adam(&step, n, [a, b, c, d]),
                        }
                    }
                    assert_eq!(own[1], g);
                    for i in 0..n {
                        let along = -g[i] + 0.1 * p[i];
                        let m = if fresh1 < 0.5 {
                            m[i] + fresh1 * (along - m[i])
                        } else {
                            along - (along - m[i]) * (1.0 - fresh1)
                        };
                        let v = v[i] * 0.75 + 0.25 * along * along;
                        let under = if largest { v.max(tops[i]) } else { v };
                        let p = p[i] * 0.9 + -0.5 * m / (under.sqrt() / 0.3 + 1e-3);
                        assert_eq!([own[0][i], own[2][i], own[3][i]], [p, m, v]);
                        assert!(!largest || top[i] == under);
                    }
                }
            }
        }
    }

    #[test]
    fn a_largest_mean_that_was_nan_stays_so() {
        for (v, top) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
            // SAFETY: every CPU has those instructions, and there are as many elements.
            let top = unsafe {
                type V = <super::super::simd::Baseline as Isa>::F64;
                let mut out = [0.0; 32];
                SoFar(V::load([top; 32].as_ptr())).with(V::load([v; 32].as_ptr())).store(out.as_mut_ptr());
                out[0]
            };
            assert!(top.is_nan());
        }
    }
}
