//! Distances between rows: all of one matrix from all of another, or of every pair of one, and their gradients.

use std::ops::Range;

use super::real::{Real, Ring};
use super::simd::{InstructionSet, Isa, Task, Vector, for_isa};
use crate::parallel::{SharedPtr, split, split_rows};

/// The norm of a difference, the frequent ones by name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Norm {
    /// How many elements differ.
    Zero,
    One,
    Two,
    Largest,
    Power(f64),
}

impl Norm {
    pub fn of(p: f64) -> Self {
        match p {
            0.0 => Self::Zero,
            1.0 => Self::One,
            2.0 => Self::Two,
            f64::INFINITY => Self::Largest,
            p => Self::Power(p),
        }
    }
    pub fn p(self) -> f64 {
        match self {
            Self::Zero => 0.0,
            Self::One => 1.0,
            Self::Two => 2.0,
            Self::Largest => f64::INFINITY,
            Self::Power(p) => p,
        }
    }
}

/// Rows whose distances from one are found together.
const TOGETHER: usize = 4;

/// A sum over the differences. Implementors mark `step` `#[inline(always)]`.
trait Sum {
    /// The sum with a term more, where a difference of 0 adds 0.
    fn step<V: Vector>(sum: V, difference: V) -> V;
}
struct Magnitudes;
impl Sum for Magnitudes {
    #[inline(always)]
    fn step<V: Vector>(sum: V, difference: V) -> V {
        sum + difference.abs()
    }
}
struct Squares;
impl Sum for Squares {
    #[inline(always)]
    fn step<V: Vector>(sum: V, difference: V) -> V {
        difference.fma(difference, sum)
    }
}

/// The sums for a row and each of some others. Each sum is added up in vectors, and what is in their lanes in pairs.
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn sums<V: Vector, F: Sum>(x: &[V::Elem], others: [&[V::Elem]; TOGETHER]) -> [V::Elem; TOGETHER] {
    let n = x.len();
    assert!(others.iter().all(|y| y.len() == n), "rows of one length");
    let whole = n / V::LEN * V::LEN;
    let mut lanes = [x.first().copied().unwrap_or(V::Elem::ZERO); 32];
    // SAFETY: duty 1; loads are of elements of the rows, and there are at most 32 lanes.
    unsafe {
        let mut sums = [V::load_first(x.as_ptr(), 0); TOGETHER];
        for at in (0..whole).step_by(V::LEN) {
            let x = V::load(x.as_ptr().add(at));
            for (sum, y) in sums.iter_mut().zip(&others) {
                *sum = F::step(*sum, x - V::load(y.as_ptr().add(at)));
            }
        }
        if whole < n {
            let x = V::load_first(x.as_ptr().add(whole), n - whole);
            for (sum, y) in sums.iter_mut().zip(&others) {
                *sum = F::step(*sum, x - V::load_first(y.as_ptr().add(whole), n - whole));
            }
        }
        // Neighbouring lanes are added, of two vectors at once, until each sum has one.
        let (mut a, mut b) = (pair_sums(sums[0], sums[1]), pair_sums(sums[2], sums[3]));
        if V::LEN > 2 {
            a = pair_sums(a, b);
            let mut each = V::LEN / TOGETHER;
            while each > 1 {
                (a, each) = (pair_sums(a, a), each / 2);
            }
            b = a;
        }
        a.store(lanes.as_mut_ptr());
        let mut rest = lanes;
        b.store(rest.as_mut_ptr());
        if V::LEN > 2 { [lanes[0], lanes[1], lanes[2], lanes[3]] } else { [lanes[0], lanes[1], rest[0], rest[1]] }
    }
}

/// The sums of neighbouring lanes, those of `a` before those of `b`.
#[inline(always)]
fn pair_sums<V: Vector>(a: V, b: V) -> V {
    let (even, odd) = V::deinterleave(a, b);
    even + odd
}

/// The distances of a row from the first rows of `others`, as many as `to` has.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
unsafe fn distances<S: Isa, T: Real>(norm: Norm, x: &[T], others: &[T], to: &mut [T]) {
    let (size, count) = (x.len(), to.len());
    let row = |j: usize| &others[j * size..][..size];
    if let Norm::One | Norm::Two = norm {
        for (group, to) in to.chunks_mut(TOGETHER).enumerate() {
            // In the last group the last row may come more than once.
            let ys = std::array::from_fn(|j| row((group * TOGETHER + j).min(count - 1)));
            // SAFETY: duty 1.
            let sums = unsafe {
                if norm == Norm::One {
                    sums::<T::Vector<S>, Magnitudes>(x, ys)
                } else {
                    sums::<T::Vector<S>, Squares>(x, ys).map(T::sqrt)
                }
            };
            to.iter_mut().zip(sums).for_each(|(to, sum)| *to = sum);
        }
        return;
    }
    for (j, to) in to.iter_mut().enumerate() {
        let parts = x.iter().zip(row(j)).map(|(&x, &y)| x.sub(y).abs());
        *to = match norm {
            Norm::Zero => parts.fold(T::ZERO, |n, d| if d == T::ZERO { n } else { n.add(T::ONE) }),
            Norm::Power(p) => parts.fold(T::ZERO, |sum, d| sum.add(d.powf(T::of(p)))).powf(T::of(1.0 / p)),
            _ => parts.fold(T::ZERO, T::larger),
        };
    }
}

/// Runs what is said of slices with the best instructions: a function of the same arguments, and the task that it is.
macro_rules! tasks {
    ($(
        $(#[$doc:meta])*
        $name:ident $task:ident<$S:ident, $T:ident>($($arg:ident: $type:ty),* $(,)?) $body:block
    )*) => { $(
        /// No duties.
        struct $task<'a, $T> {
            $($arg: $type),*
        }
        impl<$T: Real> Task for $task<'_, $T> {
            type Out = ();
            const WIDE: bool = true;
            #[inline(always)]
            unsafe fn run<$S: Isa>(self) {
                let Self { $($arg),* } = self;
                $body
            }
        }
        $(#[$doc])*
        #[allow(clippy::too_many_arguments, reason = "some take the operands, the result and their sizes")]
        fn $name<'a, $T: Real>($($arg: $type),*) {
            // SAFETY: the task has no duties.
            unsafe { for_isa(InstructionSet::detect(), $task { $($arg),* }) }
        }
    )* };
}

tasks! {
    /// Rows `range` of all entries of `a` against the rows of the entry of `b`.
    some_rows Rows<S, T>(
        norm: Norm,
        a: &'a [T],
        b: &'a [T],
        sizes: [usize; 4],
        range: Range<usize>,
        to: &'a mut [T],
    ) {
        let [_, rows, others, size] = sizes;
        for (row, to) in range.zip(to.chunks_exact_mut(others.max(1))) {
            let x = &a[row * size..][..size];
            let entry = row / rows * others;
            // SAFETY: Task 2.
            unsafe { distances::<S, T>(norm, x, &b[entry * size..], to) };
        }
    }

    /// Gradients of rows `range` of all entries of `a`.
    some_gradients Gradients<S, T>(
        norm: Norm,
        a: &'a [T],
        b: &'a [T],
        g: &'a [T],
        d: &'a [T],
        flipped: bool,
        sizes: [usize; 4],
        range: Range<usize>,
        to: &'a mut [T],
    ) {
        let [_, rows, others, size] = sizes;
        for (row, to) in range.zip(to.chunks_exact_mut(size.max(1))) {
            let (entry, i) = (row / rows, row % rows);
            let x = &a[row * size..][..size];
            let pair = |j: usize| {
                let at = entry * rows * others + if flipped { j * rows + i } else { i * others + j };
                (&b[(entry * others + j) * size..][..size], g[at], d[at])
            };
            add_slopes(norm, x, others, pair, to);
        }
    }

    /// The distances of rows `range` from those behind each.
    some_pairs Pairs<S, T>(norm: Norm, x: &'a [T], sizes: [usize; 2], range: Range<usize>, to: &'a mut [T]) {
        let [n, size] = sizes;
        let mut to = to;
        for i in range {
            let (here, later) = to.split_at_mut(n - i - 1);
            // SAFETY: Task 2.
            unsafe { distances::<S, T>(norm, &x[i * size..][..size], &x[(i + 1) * size..], here) };
            to = later;
        }
    }

    /// The gradients of rows `range`.
    some_gradients_of_pairs GradientsOfPairs<S, T>(
        norm: Norm,
        x: &'a [T],
        g: &'a [T],
        d: &'a [T],
        sizes: [usize; 2],
        range: Range<usize>,
        to: &'a mut [T],
    ) {
        let [n, size] = sizes;
        for (i, to) in range.zip(to.chunks_exact_mut(size.max(1))) {
            let pair = |other: usize| {
                let j = other + usize::from(other >= i);
                let at = pairs_before(n, i.min(j)) + i.abs_diff(j) - 1;
                (&x[j * size..][..size], g[at], d[at])
            };
            add_slopes(norm, &x[i * size..][..size], n - 1, pair, to);
        }
    }
}

/// Where the pairs of row `i` of `n` with those behind it begin, among all such pairs.
fn pairs_before(n: usize, i: usize) -> usize {
    (i * (2 * n - i) - i) / 2
}

/// What a difference takes in nanoseconds, with its part of the gradient or without.
fn cost(norm: Norm) -> f64 {
    match norm {
        Norm::One | Norm::Two => 0.1,
        Norm::Zero | Norm::Largest => 0.6,
        Norm::Power(_) => 10.0,
    }
}

/// The rows of all entries of `a` against those of the entry of `b`. Sizes are `[entries, rows of a, rows of b,
/// elements of a row]`; everything is contiguous.
pub fn all<T: Real>(norm: Norm, a: &[T], b: &[T], sizes: [usize; 4], to: &mut [T]) {
    let cost = to.len() as f64 * (5.0 + sizes[3] as f64 * cost(norm));
    split_rows(to, sizes[2], 1, cost, &|range, to| some_rows(norm, a, b, sizes, range, to));
}

/// Gradients of the rows of all entries of `a`: sums over the rows of `b` of `g` times what the distance `d` changes by
/// with the row. With `flipped`, rows and columns of `g` and `d` are exchanged.
#[expect(clippy::too_many_arguments, reason = "the operands, the result and their sizes")]
pub fn backward<T: Real>(
    norm: Norm,
    a: &[T],
    b: &[T],
    g: &[T],
    d: &[T],
    flipped: bool,
    sizes: [usize; 4],
    to: &mut [T],
) {
    let cost = g.len() as f64 * (2.0 + sizes[3] as f64 * cost(norm));
    split_rows(to, sizes[3], 1, cost, &|range, to| some_gradients(norm, a, b, g, d, flipped, sizes, range, to));
}

/// The distances of every one of `[n, size]`, `n` rows of `size` elements, from those behind it.
pub fn pairs<T: Real>(norm: Norm, x: &[T], [n, size]: [usize; 2], to: &mut [T]) {
    assert_eq!(to.len(), pairs_before(n, n), "a distance for each pair");
    let cost = to.len() as f64 * (5.0 + size as f64 * cost(norm));
    let to = SharedPtr(to.as_mut_ptr());
    split(n, 1, cost, &|range| {
        let (start, end) = (pairs_before(n, range.start), pairs_before(n, range.end));
        // SAFETY: elements of the slice, as just checked, which is borrowed mutably; no other piece has them.
        let to = unsafe { std::slice::from_raw_parts_mut(to.get().add(start), end - start) };
        some_pairs(norm, x, [n, size], range, to);
    });
}

/// The gradients of rows, to `to`: of each, `g` times what its distances `d` change by with it.
pub fn pairs_backward<T: Real>(norm: Norm, x: &[T], g: &[T], d: &[T], [n, size]: [usize; 2], to: &mut [T]) {
    let cost = 2.0 * g.len() as f64 * (2.0 + size as f64 * cost(norm));
    split_rows(to, size, 1, cost, &|range, to| some_gradients_of_pairs(norm, x, g, d, [n, size], range, to));
}

/// Sums of `g` times the slope of the distance `d` of a row from `count` others, of which `pair` has the row, `g` and
/// `d`.
#[inline(always)]
fn add_slopes<'a, T: Real>(norm: Norm, x: &[T], count: usize, pair: impl Fn(usize) -> (&'a [T], T, T), to: &mut [T]) {
    to.fill(T::ZERO);
    if norm == Norm::Zero {
        return;
    }
    let together = if let Norm::One | Norm::Two = norm { count / TOGETHER * TOGETHER } else { 0 };
    for first in (0..together).step_by(TOGETHER) {
        let [a, b, c, d] = std::array::from_fn(|k| pair(first + k));
        // Where the distance is 0, differences are.
        let factor = |(_, g, d): (&[T], T, T)| match norm {
            _ if d == T::ZERO => T::ZERO,
            Norm::Two => g.div(d),
            _ => g,
        };
        let (rows, factors) = ([a.0, b.0, c.0, d.0], [a, b, c, d].map(factor));
        if norm == Norm::Two {
            add_some(x, rows, to, |to, v, k| to.add(v.mul(factors[k])));
        } else {
            add_some(x, rows, to, |to, v, k| signed(to, v, factors[k]));
        }
    }
    for k in together..count {
        let (y, g, d) = pair(k);
        add_slope(norm, x, y, g, d, to);
    }
}

/// Changes `to` by the differences from some rows, one after the other.
#[inline(always)]
fn add_some<T: Real>(x: &[T], rows: [&[T]; TOGETHER], to: &mut [T], add: impl Fn(T, T, usize) -> T) {
    let n = to.len();
    let (x, [a, b, c, d]) = (&x[..n], rows.map(|row| &row[..n]));
    for i in 0..n {
        let mut sum = add(to[i], x[i].sub(a[i]), 0);
        sum = add(sum, x[i].sub(b[i]), 1);
        sum = add(sum, x[i].sub(c[i]), 2);
        to[i] = add(sum, x[i].sub(d[i]), 3);
    }
}

/// `to`, and `g` with the sign of `v`: both signs by a choice of numbers, which needs no branch.
#[inline(always)]
fn signed<T: Real>(to: T, v: T, g: T) -> T {
    let (up, down) = (if v > T::ZERO { g } else { T::ZERO }, if v < T::ZERO { g } else { T::ZERO });
    to.add(up).sub(down)
}

/// `to += g * slope` of the distance `d` of two rows.
#[inline(always)]
fn add_slope<T: Real>(norm: Norm, x: &[T], y: &[T], g: T, d: T, to: &mut [T]) {
    if d == T::ZERO {
        return;
    }
    let pairs = to.iter_mut().zip(x.iter().zip(y).map(|(&x, &y)| x.sub(y)));
    match norm {
        Norm::Zero => {}
        Norm::One => pairs.for_each(|(to, v)| *to = signed(*to, v, g)),
        Norm::Two => {
            let scale = g.div(d);
            pairs.for_each(|(to, v)| *to = to.add(v.mul(scale)));
        }
        Norm::Largest => pairs.for_each(|(to, v)| {
            if v.abs() == d {
                *to = signed(*to, v, g);
            }
        }),
        Norm::Power(p) => {
            let (e, scale) = (T::of(p - 1.0), g.div(d.powf(T::of(p - 1.0))));
            pairs.for_each(|(to, v)| {
                if v != T::ZERO {
                    *to = signed(*to, v, v.abs().powf(e).mul(scale));
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distance of two rows and what it changes by with each element of the first, in float64.
    fn naive(norm: Norm, a: &[f64], b: &[f64]) -> (f64, Vec<f64>) {
        let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let largest = d.iter().fold(0.0f64, |m, d| m.max(d.abs()));
        let distance = match norm {
            Norm::Zero => d.iter().filter(|d| **d != 0.0).count() as f64,
            Norm::Largest => largest,
            norm => d.iter().map(|d| d.abs().powf(norm.p())).sum::<f64>().powf(1.0 / norm.p()),
        };
        let slope = |d: &f64| match norm {
            Norm::Zero => 0.0,
            _ if *d == 0.0 || distance == 0.0 => 0.0,
            Norm::Largest => {
                if d.abs() == largest {
                    d.signum()
                } else {
                    0.0
                }
            }
            norm => d.signum() * (d.abs() / distance).powf(norm.p() - 1.0),
        };
        let slopes = d.iter().map(slope).collect();
        (distance, slopes)
    }

    fn check<T: Real>(eps: f64, into: impl Fn(T) -> f64) {
        let near = |got: T, want: f64| (into(got) - want).abs() <= eps * (1.0 + want.abs());
        for size in [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67, 130] {
            for norm in [0.0, 1.0, 2.0, 3.0, 0.5, f64::INFINITY].map(Norm::of) {
                let (n, m) = (5, 3);
                let numbers = |count: usize, by: usize| -> (Vec<T>, Vec<f64>) {
                    let all: Vec<f64> = (0..count).map(|i| ((i * i * by + i) % 37) as f64 / 8.0 - 2.0).collect();
                    (all.iter().map(|&x| T::of(x)).collect(), all)
                };
                let ((a, wide_a), (b, wide_b)) = (numbers(2 * n * size, 7), numbers(2 * m * size, 11));
                let row = |x: &[f64], i: usize| x[i * size..][..size].to_vec();
                let mut got = vec![T::of(f64::NAN); 2 * n * m];
                all(norm, &a, &b, [2, n, m, size], &mut got);
                let (g, wide_g) = numbers(2 * n * m, 5);
                let mut slopes = [vec![0.0; a.len()], vec![0.0; b.len()]];
                for k in 0..2 * n * m {
                    let (i, j) = (k / m, k / (n * m) * m + k % m);
                    let (want, slope) = naive(norm, &row(&wide_a, i), &row(&wide_b, j));
                    assert!(near(got[k], want), "{norm:?} {size}");
                    for (e, slope) in slope.iter().enumerate() {
                        slopes[0][i * size + e] += wide_g[k] * slope;
                        slopes[1][j * size + e] -= wide_g[k] * slope;
                    }
                }
                let mut by = vec![T::of(f64::NAN); a.len()];
                backward(norm, &a, &b, &g, &got, false, [2, n, m, size], &mut by);
                assert!(by.iter().zip(&slopes[0]).all(|(&x, &y)| near(x, y)), "{norm:?} {size}");
                let mut by = vec![T::of(f64::NAN); b.len()];
                backward(norm, &b, &a, &g, &got, true, [2, m, n, size], &mut by);
                assert!(by.iter().zip(&slopes[1]).all(|(&x, &y)| near(x, y)), "{norm:?} {size}");

                let mut got = vec![T::of(f64::NAN); n * (n - 1) / 2];
                pairs(norm, &a[..n * size], [n, size], &mut got);
                let (mut k, mut want_by) = (0, vec![0.0; n * size]);
                for i in 0..n {
                    for j in i + 1..n {
                        let (want, slope) = naive(norm, &row(&wide_a, i), &row(&wide_a, j));
                        assert!(near(got[k], want), "{norm:?} {size}");
                        for (e, slope) in slope.iter().enumerate() {
                            want_by[i * size + e] += wide_g[k] * slope;
                            want_by[j * size + e] -= wide_g[k] * slope;
                        }
                        k += 1;
                    }
                }
                let mut by = vec![T::of(f64::NAN); n * size];
                pairs_backward(norm, &a[..n * size], &g[..got.len()], &got, [n, size], &mut by);
                assert!(by.iter().zip(&want_by).all(|(&x, &y)| near(x, y)), "{norm:?} {size}");
            }
        }
    }

    #[test]
    fn distances_and_gradients_are_those_of_the_definition() {
        check::<f64>(1e-10, |x| x);
        check::<f32>(2e-3, f64::from);
    }

    #[test]
    fn nan_and_infinities_show() {
        for size in [1, 3, 8, 19] {
            for at in 0..size {
                for norm in [1.0, 2.0, 3.0, f64::INFINITY].map(Norm::of) {
                    for special in [f32::NAN, f32::INFINITY] {
                        let mut x = vec![0.5f32; 2 * size];
                        x[size + at] = special;
                        let mut got = [0.0];
                        pairs(norm, &x, [2, size], &mut got);
                        assert!(got[0].to_bits() == special.to_bits() || got[0].is_nan() && special.is_nan());
                    }
                }
            }
        }
    }
}
