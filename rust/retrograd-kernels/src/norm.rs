//! Runs of standardized elements: what layer_norm, group_norm, batch_norm and their gradients do with contiguous
//! elements that share a mean and a deviation. All slices of a call have one length.

use super::pointwise::{Body, row, row_of};
use super::real::Real;
use super::rows::{self, Terms};
use super::simd::{InstructionSet, Isa, Task, Vector, for_isa};
use crate::parallel::{SharedPtr, split};
use crate::thresholds::norm::{BLOCK, ROWS};

/// `o = f(inputs)`. No duties.
struct Each<'a, F, T, const K: usize> {
    f: F,
    inputs: [&'a [T]; K],
    o: &'a mut [T],
}
impl<T: Real, const K: usize, F: Body<T, K>> Task for Each<'_, F, T, K> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        // SAFETY: Task 2.
        unsafe { row_of::<S, T, K, F>(&self.f, self.inputs, self.o) }
    }
}

/// Runs `f` with the best instructions.
fn each<T: Real, const K: usize, F: Body<T, K>>(f: F, inputs: [&[T]; K], o: &mut [T]) {
    // SAFETY: the task has no duties.
    unsafe { for_isa(InstructionSet::detect(), Each { f, inputs, o }) }
}

/// `(x - mean) scale w + b` of an element, its weight and its shift.
struct Standardize<T> {
    mean: T,
    scale: T,
}
impl<T: Real> Body<T, 3> for Standardize<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, w, b]: [V; 3]) -> V {
        ((x - x.splat(self.mean)) * x.splat(self.scale)).fma(w, b)
    }
}

/// `(x - mean) scale + shift`.
struct Affine<T> {
    mean: T,
    scale: T,
    shift: T,
}
impl<T: Real> Body<T, 1> for Affine<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        (x - x.splat(self.mean)).fma(x.splat(self.scale), x.splat(self.shift))
    }
}

/// `g a + (x - mean) b + c`, or with `g w` for `g`.
struct Project<T> {
    mean: T,
    factors: [T; 3],
}
impl<T: Real> Project<T> {
    #[inline(always)]
    fn of<V: Vector<Elem = T>>(&self, x: V, g: V) -> V {
        let [a, b, c] = self.factors;
        g.fma(x.splat(a), (x - x.splat(self.mean)).fma(x.splat(b), x.splat(c)))
    }
}
impl<T: Real> Body<T, 2> for Project<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, g]: [V; 2]) -> V {
        self.of(x, g)
    }
}
impl<T: Real> Body<T, 3> for Project<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, g, w]: [V; 3]) -> V {
        self.of(x, g * w)
    }
}

/// `sum + g (x - mean) scale`.
struct Along<T> {
    mean: T,
    scale: T,
}
impl<T: Real> Body<T, 3> for Along<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, g, sum]: [V; 3]) -> V {
        g.fma((x - x.splat(self.mean)) * x.splat(self.scale), sum)
    }
}

/// `y = (x - mean) scale w + b`, weights and shifts by element.
pub fn standardize<T: Real>(x: &[T], mean: T, scale: T, w: &[T], b: &[T], y: &mut [T]) {
    each(Standardize { mean, scale }, [x, w, b], y);
}

/// `y = (x - mean) scale + shift`.
pub fn shift_and_scale<T: Real>(x: &[T], mean: T, scale: T, shift: T, y: &mut [T]) {
    each(Affine { mean, scale, shift }, [x], y);
}

/// `o = q a + (x - mean) b + c` for the factors `[a, b, c]`, where `q` is `g`, or `g w` for weights by element.
pub fn project<T: Real>(x: &[T], g: &[T], w: Option<&[T]>, mean: T, factors: [T; 3], o: &mut [T]) {
    match w {
        Some(w) => each(Project { mean, factors }, [x, g, w], o),
        None => each(Project { mean, factors }, [x, g], o),
    }
}

/// `sum += g (x - mean) scale`.
pub fn add_along<T: Real>(x: &[T], g: &[T], mean: T, scale: T, sum: &mut [T]) {
    /// No duties.
    struct Add<'a, T> {
        f: Along<T>,
        x: &'a [T],
        g: &'a [T],
        sum: &'a mut [T],
    }
    impl<T: Real> Task for Add<'_, T> {
        type Out = ();
        const WIDE: bool = true;
        #[inline(always)]
        unsafe fn run<S: Isa>(self) {
            assert!(self.x.len() == self.sum.len() && self.g.len() == self.sum.len(), "slices of one length");
            let o = self.sum.as_mut_ptr();
            // SAFETY: (1) slices of one length; (2) the output is the third input; (3) Task 2.
            unsafe { row::<S, T, 3, _>(&self.f, self.sum.len(), [self.x.as_ptr(), self.g.as_ptr(), o.cast_const()], o) }
        }
    }
    // SAFETY: the task has no duties.
    unsafe { for_isa(InstructionSet::detect(), Add { f: Along { mean, scale }, x, g, sum }) }
}

/// The sums of `q` and of `q (x - mean)`, where `q` is `g`, or `g w` for weights by element.
pub fn sums<T: Real>(x: &[T], g: &[T], w: Option<&[T]>, mean: T) -> (T, T) {
    assert!(x.len() == g.len() && w.is_none_or(|w| w.len() == g.len()), "slices of one length");
    // SAFETY: the task has no duties.
    unsafe { for_isa(InstructionSet::detect(), Sums { x, g, w, mean }) }
}

/// See [`sums`]. No duties.
struct Sums<'a, T> {
    x: &'a [T],
    g: &'a [T],
    w: Option<&'a [T]>,
    mean: T,
}
impl<T: Real> Task for Sums<'_, T> {
    type Out = (T, T);
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> (T, T) {
        let (mut sum, mut along) = (T::ZERO, T::ZERO);
        for start in (0..self.x.len()).step_by(BLOCK) {
            let end = self.x.len().min(start + BLOCK);
            let (x, g) = (&self.x[start..end], &self.g[start..end]);
            // SAFETY: Task 2.
            let [s, a] = unsafe {
                match self.w {
                    Some(w) => rows::sums::<S, T, 3, 2, _>(&Weighted(self.mean), [x, g, &w[start..end]]),
                    None => rows::sums::<S, T, 2, 2, _>(&Weighted(self.mean), [x, g]),
                }
            };
            (sum, along) = (sum.add(s), along.add(a));
        }
        (sum, along)
    }
}

/// `q` and `q (x - mean)`, for one mean.
struct Weighted<T>(T);
impl<T: Real> Terms<T, 2, 2> for Weighted<T> {
    #[inline(always)]
    fn of<V: Vector<Elem = T>>(&self, [x, q]: [V; 2]) -> [V; 2] {
        [q, q * (x - x.splat(self.0))]
    }
}
impl<T: Real> Terms<T, 3, 2> for Weighted<T> {
    #[inline(always)]
    fn of<V: Vector<Elem = T>>(&self, [x, g, w]: [V; 3]) -> [V; 2] {
        Terms::<T, 2, 2>::of(self, [x, g * w])
    }
}

/// What an element takes, in nanoseconds.
const FORWARD_COST: f64 = 0.4;
const BACKWARD_COST: f64 = 0.6;

/// So many rows go through each step together: one waits for its sums while the next are read.
const TOGETHER: usize = 32;

/// `1 / sqrt(squares / count + eps)`.
struct Reciprocal<T> {
    count: T,
    eps: T,
}
impl<T: Real> Body<T, 1> for Reciprocal<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [squares]: [V; 1]) -> V {
        let variance = squares / squares.splat(self.count);
        squares.of(1.0) / (variance + squares.splat(self.eps)).sqrt()
    }
}

/// Standardizes rows of `n` elements, few enough that their sums need no blocks: `y = (x - mean) rstd w + b`. There are
/// weights and shifts for one row or several, which take turns. The rows' means and reciprocal deviations go to `means`
/// and `rstds`.
///
/// # Panics
/// If the slices have other lengths than these, or `n` is 0 or more than [`BLOCK`].
pub fn standardize_rows<T: Real>(n: usize, eps: T, [x, w, b]: [&[T]; 3], y: &mut [T], [means, rstds]: [&mut [T]; 2]) {
    assert!((1..=BLOCK).contains(&n), "short rows");
    assert!(w.len() == b.len() && !w.is_empty() && w.len().is_multiple_of(n), "weights of whole rows");
    assert!(x.len() == means.len() * n && y.len() == x.len() && rstds.len() == means.len(), "rows and their moments");
    let (count, turns) = (means.len(), w.len() / n);
    let [y, means, rstds] = [y, means, rstds].map(|to| SharedPtr(to.as_mut_ptr()));
    split(count, turns, x.len() as f64 * FORWARD_COST, &|rows| {
        let x = &x[rows.start * n..rows.end * n];
        // SAFETY: the task has no duties; these rows and their moments are there, and no other piece has them.
        unsafe {
            let part = |p: SharedPtr<T>, n| std::slice::from_raw_parts_mut(p.get().add(rows.start * n), rows.len() * n);
            let (y, means, rstds) = (part(y, n), part(means, 1), part(rstds, 1));
            for_isa(InstructionSet::detect(), StandardizeRows { n, eps, inputs: [x, w, b], y, means, rstds });
        }
    });
}

/// See [`standardize_rows`]. No duties.
struct StandardizeRows<'a, T> {
    n: usize,
    eps: T,
    inputs: [&'a [T]; 3],
    y: &'a mut [T],
    means: &'a mut [T],
    rstds: &'a mut [T],
}
impl<T: Real> Task for StandardizeRows<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { n, eps, inputs: [x, w, b], y, means, rstds } = self;
        let (count, mut at) = (T::of(n as f64), 0);
        let moments = means.chunks_mut(TOGETHER).zip(rstds.chunks_mut(TOGETHER));
        for ((x, y), (means, rstds)) in x.chunks(TOGETHER * n).zip(y.chunks_mut(TOGETHER * n)).zip(moments) {
            // SAFETY: (row 1, 2) as many elements, in place; everywhere Task 2.
            unsafe {
                for ((x, mean), squares) in x.chunks_exact(n).zip(means.iter_mut()).zip(rstds.iter_mut()) {
                    *mean = rows::row_sum::<S, T>(x).div(count);
                    *squares = rows::squares_around::<S, T>(x, *mean);
                }
                let p = rstds.as_mut_ptr();
                row::<S, T, 1, _>(&Reciprocal { count, eps }, rstds.len(), [p.cast_const()], p);
                for (i, (x, y)) in x.chunks_exact(n).zip(y.chunks_exact_mut(n)).enumerate() {
                    let f = Standardize { mean: means[i], scale: rstds[i] };
                    row_of::<S, T, 3, _>(&f, [x, &w[at..at + n], &b[at..at + n]], y);
                    at = if at + n == w.len() { 0 } else { at + n };
                }
            }
        }
    }
}

/// What went through [`standardize_rows`], and the gradient of its result.
#[derive(Clone, Copy, Debug)]
pub struct Standardized<'a, T> {
    /// Elements of a row, at most [`BLOCK`].
    pub n: usize,
    /// How many rows have weights of their own; they take turns.
    pub turns: usize,
    pub x: &'a [T],
    pub g: &'a [T],
    /// Weights by element of these rows.
    pub w: Option<&'a [T]>,
    pub means: &'a [T],
    pub rstds: &'a [T],
}

/// The gradients of [`standardize_rows`], with `h = (x - mean) rstd` and `q = g w`: that of `x`, which is `rstd (q -
/// mean(q) - h mean(q h))`, goes to `gx`; that of the weights, the sum of `g h` over the rows that share them, is
/// returned if it is asked for.
///
/// # Panics
/// As there.
pub fn pull_rows<T: Real>(given: Standardized<'_, T>, for_weights: bool, gx: Option<&mut [T]>) -> Option<Vec<T>> {
    let Standardized { n, turns, x, g, w, means, rstds } = given;
    assert!((1..=BLOCK).contains(&n) && x.len() == means.len() * n, "short rows and their moments");
    assert!(g.len() == x.len() && rstds.len() == means.len(), "as many gradients and moments");
    assert!(turns > 0 && w.is_none_or(|w| w.len() == turns * n), "weights of whole rows");
    assert!(gx.as_ref().is_none_or(|gx| gx.len() == x.len()), "a gradient for every element");
    // The sums of so many rows each, added up in their order, whichever thread had them.
    let (width, part) = (turns * n, ROWS.next_multiple_of(turns));
    let parts = if for_weights { means.len().div_ceil(part).max(1) } else { 0 };
    let mut sums = vec![T::ZERO; parts * width];
    let (along, gx) = (SharedPtr(sums.as_mut_ptr()), gx.map(|gx| SharedPtr(gx.as_mut_ptr())));
    split(means.len(), part, x.len() as f64 * BACKWARD_COST, &|rows| {
        for first in rows.clone().step_by(part) {
            let of = first..rows.end.min(first + part);
            let at = of.start * n..of.end * n;
            let given = Standardized { x: &x[at.clone()], g: &g[at.clone()], means: &means[of.clone()], ..given };
            let given = Standardized { rstds: &rstds[of], ..given };
            // SAFETY: the task has no duties; these rows, and the sums of this part, are there, and no other piece has
            // them.
            unsafe {
                let slice = |p: SharedPtr<T>, from, len| std::slice::from_raw_parts_mut(p.get().add(from), len);
                let along = for_weights.then(|| slice(along, first / part * width, width));
                let gx = gx.map(|gx| slice(gx, at.start, at.len()));
                for_isa(InstructionSet::detect(), PullRows { given, along, gx });
            }
        }
    });
    for_weights.then(|| {
        let (total, rest) = sums.split_at_mut(width);
        for part in rest.chunks_exact(width) {
            total.iter_mut().zip(part).for_each(|(sum, &x)| *sum = sum.add(x));
        }
        sums.truncate(width);
        sums
    })
}

/// See [`pull_rows`]. No duties.
struct PullRows<'a, T> {
    given: Standardized<'a, T>,
    /// To the elements of the row whose turn it is `g h` is added.
    along: Option<&'a mut [T]>,
    gx: Option<&'a mut [T]>,
}

impl<T: Real> Task for PullRows<'_, T> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { given: Standardized { n, turns, x, g, w, means, rstds }, mut along, mut gx } = self;
        let share = T::ONE.div(T::of(n as f64));
        for first in (0..means.len()).step_by(TOGETHER) {
            let rows = first..means.len().min(first + TOGETHER);
            let row_at = |i: usize| i * n..(i + 1) * n;
            // The row whose turn it is at row `i`.
            let turn = |i: usize| if turns == 1 { 0..n } else { row_at(i % turns) };
            // SAFETY: (row 1) slices of one length; (2) the output is the third input, or disjoint from all; everywhere
            // Task 2.
            unsafe {
                if let Some(sum) = &mut along {
                    for i in rows.clone() {
                        let o = sum[turn(i)].as_mut_ptr();
                        let from = [x[row_at(i)].as_ptr(), g[row_at(i)].as_ptr(), o.cast_const()];
                        row::<S, T, 3, _>(&Along { mean: means[i], scale: rstds[i] }, n, from, o);
                    }
                }
                let Some(gx) = &mut gx else { continue };
                let mut sums = [[T::ZERO; 2]; TOGETHER];
                for (sums, i) in sums.iter_mut().zip(rows.clone()) {
                    let (x, g, mean) = (&x[row_at(i)], &g[row_at(i)], means[i]);
                    *sums = match w {
                        Some(w) => rows::sums::<S, T, 3, 2, _>(&Weighted(mean), [x, g, &w[turn(i)]]),
                        None => rows::sums::<S, T, 2, 2, _>(&Weighted(mean), [x, g]),
                    };
                }
                for (&[sum, along], i) in sums.iter().zip(rows) {
                    let (x, g, mean, rstd) = (&x[row_at(i)], &g[row_at(i)], means[i], rstds[i]);
                    let f = Project { mean, factors: factors(rstd, sum.mul(share), along.mul(share)) };
                    match w {
                        Some(w) => row_of::<S, T, 3, _>(&f, [x, g, &w[turn(i)]], &mut gx[row_at(i)]),
                        None => row_of::<S, T, 2, _>(&f, [x, g], &mut gx[row_at(i)]),
                    }
                }
            }
        }
    }
}

/// The factors for [`project`] that make the gradient of standardized elements, from the means of `q` and of `q (x -
/// mean)`.
#[inline(always)]
pub fn factors<T: Real>(rstd: T, mean: T, along: T) -> [T; 3] {
    let slope = along.mul(rstd).mul(rstd).mul(rstd);
    [rstd, T::ZERO.sub(slope), T::ZERO.sub(mean.mul(rstd))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, by: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * by + 11) % 101) as f64 / 50.0 - 1.0).collect()
    }

    #[test]
    fn by_the_definition() {
        for n in [0, 1, 2, 7, 31, 32, 33, 100, 1023, 1024, 1025, 3000] {
            let (x, g, w, b) = (numbers(n, 37), numbers(n, 53), numbers(n, 29), numbers(n, 71));
            let (mean, scale, factors) = (0.3, 1.7, [0.9, -0.4, 0.2]);
            let close =
                |got: f64, want: f64| assert!((got - want).abs() <= 1e-12 * (1.0 + n as f64), "{n}: {got} {want}");
            let mut o = vec![f64::NAN; n];
            standardize(&x, mean, scale, &w, &b, &mut o);
            (0..n).for_each(|i| close(o[i], (x[i] - mean) * scale * w[i] + b[i]));
            shift_and_scale(&x, mean, scale, 0.25, &mut o);
            (0..n).for_each(|i| close(o[i], (x[i] - mean) * scale + 0.25));
            for weights in [None, Some(&w[..])] {
                let q: Vec<f64> = (0..n).map(|i| g[i] * weights.map_or(1.0, |w| w[i])).collect();
                project(&x, &g, weights, mean, factors, &mut o);
                (0..n).for_each(|i| close(o[i], q[i] * 0.9 - 0.4 * (x[i] - mean) + 0.2));
                let (sum, along) = sums(&x, &g, weights, mean);
                close(sum, q.iter().sum());
                close(along, q.iter().zip(&x).map(|(q, x)| q * (x - mean)).sum());
            }
            let mut total = b.clone();
            add_along(&x, &g, mean, scale, &mut total);
            (0..n).for_each(|i| close(total[i], b[i] + g[i] * (x[i] - mean) * scale));
        }
    }

    #[test]
    fn short_rows_by_the_definition() {
        for n in [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100, 255, 1000, 1024] {
            if n > BLOCK {
                continue;
            }
            for (rows, turns) in [(0, 1), (1, 1), (2, 1), (31, 1), (32, 3), (33, 1), (70, 1), (70, 7)] {
                let (x, g) = (numbers(rows * n, 37), numbers(rows * n, 53));
                let (w, b, eps) = (numbers(turns * n, 29), numbers(turns * n, 71), 0.01);
                let close = |got: f64, want: f64| assert!((got - want).abs() <= 1e-9, "{rows} of {n}: {got} {want}");
                let (mut y, mut means, mut rstds) = (vec![f64::NAN; rows * n], vec![0.0; rows], vec![0.0; rows]);
                standardize_rows(n, eps, [&x, &w, &b], &mut y, [&mut means, &mut rstds]);
                let mut wanted = vec![0.0; turns * n];
                let mut h = vec![0.0; rows * n];
                for (r, x) in x.chunks_exact(n).enumerate() {
                    let mean = x.iter().sum::<f64>() / n as f64;
                    let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
                    let rstd = 1.0 / (variance + eps).sqrt();
                    close(means[r], mean);
                    close(rstds[r], rstd);
                    for i in 0..n {
                        h[r * n + i] = (x[i] - mean) * rstd;
                        let t = r % turns * n + i;
                        close(y[r * n + i], h[r * n + i] * w[t] + b[t]);
                        wanted[t] += g[r * n + i] * h[r * n + i];
                    }
                }
                for weights in [None, Some(&w[..])] {
                    let mut gx = vec![f64::NAN; rows * n];
                    let (x, g, means) = (&x[..], &g[..], &means[..]);
                    let rstds = &rstds[..];
                    let given = Standardized { n, turns, x, g, w: weights, means, rstds };
                    let got = pull_rows(given, true, Some(&mut gx)).expect("asked for");
                    got.iter().zip(&wanted).for_each(|(a, b)| close(*a, *b));
                    assert!(pull_rows(given, false, None).is_none() && pull_rows(given, true, None) == Some(got));
                    for r in 0..rows {
                        let at = r * n..(r + 1) * n;
                        let q: Vec<f64> =
                            (0..n).map(|i| g[r * n + i] * weights.map_or(1.0, |w| w[r % turns * n + i])).collect();
                        let mean = q.iter().sum::<f64>() / n as f64;
                        let slope = q.iter().zip(&h[at.clone()]).map(|(q, h)| q * h).sum::<f64>() / n as f64;
                        for i in at {
                            close(gx[i], rstds[r] * (q[i % n] - mean - h[i] * slope));
                        }
                    }
                }
            }
        }
    }
}
