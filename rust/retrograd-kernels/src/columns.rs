//! Standardized columns: what batch_norm and its gradient do with a matrix whose columns have a mean and a deviation
//! each. The last row of a matrix may be shorter. Runs of elements that share the moments are in [`norm`](super::norm).
//!
//! Order. Sums go down the columns of a part of `PART` rows, and parts are joined pairwise: results depend on the sizes
//! alone.

use std::ops::Range;

use super::pointwise::{Body, row_of};
use super::real::Real;
use super::simd::{InstructionSet, Isa, Task, Vector, for_isa};
use crate::parallel::split_rows;
use crate::thresholds::columns::{PART, ROWS};

/// What an element takes in a pass, in nanoseconds.
const COST: f64 = 0.3;

/// `o = f(inputs)` by rows of `width` elements. Inputs are as long as the output, or one row that all rows share. No
/// duties.
struct ColumnRows<'a, F, T, const K: usize> {
    f: F,
    width: usize,
    inputs: [&'a [T]; K],
    o: &'a mut [T],
}
impl<T: Real, const K: usize, F: Body<T, K>> Task for ColumnRows<'_, F, T, K> {
    type Out = ();
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        for (i, o) in self.o.chunks_mut(self.width).enumerate() {
            let mut inputs = self.inputs;
            for a in &mut inputs {
                let start = if a.len() == self.width { 0 } else { i * self.width };
                *a = &a[start..start + o.len()];
            }
            // SAFETY: Task 2.
            unsafe { row_of::<S, T, K, F>(&self.f, inputs, o) }
        }
    }
}

/// `(x - mean) scale + shift`.
#[derive(Clone, Copy)]
struct Affine;
impl<T: Real> Body<T, 4> for Affine {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, mean, scale, shift]: [V; 4]) -> V {
        (x - mean).fma(scale, shift)
    }
}

/// `g a + (x - mean) b + c`.
#[derive(Clone, Copy)]
struct Project;
impl<T: Real> Body<T, 6> for Project {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x, g, mean, a, b, c]: [V; 6]) -> V {
        g.fma(a, (x - mean).fma(b, c))
    }
}

/// Runs `f` with the best instructions, for pieces of rows.
fn by_rows<T: Real, const K: usize, F: Body<T, K> + Copy>(f: F, width: usize, inputs: [&[T]; K], o: &mut [T]) {
    let n = o.len();
    split_rows(o, width, 1, n as f64 * COST, &|rows, o| {
        let inputs = inputs.map(|a| if a.len() == width { a } else { &a[rows.start * width..][..o.len()] });
        // SAFETY: the task has no duties.
        unsafe { for_isa(InstructionSet::detect(), ColumnRows { f, width, inputs, o }) };
    });
}

/// `y = (x - mean) scale + shift` for the `[means, scales, shifts]` of the columns.
pub fn standardize<T: Real>(x: &[T], [means, scales, shifts]: [&[T]; 3], y: &mut [T]) {
    by_rows(Affine, means.len(), [x, means, scales, shifts], y);
}

/// `o = g a + (x - mean) b + c` for the factors `[a, b, c]` of the columns.
pub fn project<T: Real>(x: &[T], g: &[T], means: &[T], [a, b, c]: [&[T]; 3], o: &mut [T]) {
    by_rows(Project, means.len(), [x, g, means, a, b, c], o);
}

/// What is added up down the columns, from `K` matrices to `N` rows of sums. Implementors mark `step`
/// `#[inline(always)]`.
trait Step<T: Real, const K: usize, const N: usize> {
    /// The sums of columns with these means, with the elements of another row.
    fn step<V: Vector<Elem = T>>(sums: [V; N], x: [V; K], mean: V) -> [V; N];
}

/// The sum of `x`.
struct Plain;
impl<T: Real> Step<T, 1, 1> for Plain {
    #[inline(always)]
    fn step<V: Vector<Elem = T>>([sum]: [V; 1], [x]: [V; 1], _: V) -> [V; 1] {
        [sum + x]
    }
}

/// The sum of `(x - mean)^2`.
struct Squares;
impl<T: Real> Step<T, 1, 1> for Squares {
    #[inline(always)]
    fn step<V: Vector<Elem = T>>([sum]: [V; 1], [x]: [V; 1], mean: V) -> [V; 1] {
        let d = x - mean;
        [d.fma(d, sum)]
    }
}

/// The sums of `g` and of `g (x - mean)`.
struct Along;
impl<T: Real> Step<T, 2, 2> for Along {
    #[inline(always)]
    fn step<V: Vector<Elem = T>>([sum, along]: [V; 2], [x, g]: [V; 2], mean: V) -> [V; 2] {
        [sum + g, g.fma(x - mean, along)]
    }
}

/// Adds the rows of `x` to `sums`, by columns.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
unsafe fn down<S: Isa, T: Real, F: Step<T, K, N>, const K: usize, const N: usize>(
    x: [&[T]; K],
    means: &[T],
    sums: [&mut [T]; N],
) {
    let (width, len, n) = (means.len(), T::Vector::<S>::LEN, x[0].len());
    let mut from = [x[0].as_ptr(); K];
    for k in 0..K {
        assert!(x[k].len() == n, "matrices of one size");
        from[k] = x[k].as_ptr();
    }
    let mut to = [std::ptr::null_mut(); N];
    for (to, sums) in to.iter_mut().zip(sums) {
        assert!(sums.len() == width, "a sum for each column");
        *to = sums.as_mut_ptr();
    }
    let mut start = 0;
    while start < n {
        let rows = if start + ROWS * width <= n { ROWS } else { 1 };
        let columns = width.min(n - start);
        for i in (0..columns).step_by(len) {
            let lanes = len.min(columns - i);
            // SAFETY: (Lanes 1) the rows from `start` on have `columns` elements, and so have means and sums, by the
            // asserts; (Lanes 2) sums are borrowed mutably; (Lanes 3) our duty 1.
            unsafe {
                let mut x = from;
                for x in &mut x {
                    *x = x.add(start + i);
                }
                let mut sums = to;
                for sum in &mut sums {
                    *sum = sum.add(i);
                }
                let mean = means.as_ptr().add(i);
                match (rows, lanes == len) {
                    (ROWS, true) => take::<S, T, F, K, N, ROWS, true>(x, width, mean, sums, lanes),
                    (ROWS, false) => take::<S, T, F, K, N, ROWS, false>(x, width, mean, sums, lanes),
                    (_, true) => take::<S, T, F, K, N, 1, true>(x, width, mean, sums, lanes),
                    (_, false) => take::<S, T, F, K, N, 1, false>(x, width, mean, sums, lanes),
                }
            }
        }
        start += rows * width;
    }
}

/// Adds `R` rows, with stride `width`, to the sums of a vector of columns, or of the first `lanes` of it.
///
/// # Safety
/// 1. For so many elements, each row of `x` and `mean` are readable and initialised, and sums are writable too. 2. Sums
///    are disjoint from the others. 3. The CPU has the instructions of `S`.
#[inline(always)]
unsafe fn take<S: Isa, T: Real, F: Step<T, K, N>, const K: usize, const N: usize, const R: usize, const WHOLE: bool>(
    x: [*const T; K],
    width: usize,
    mean: *const T,
    sums: [*mut T; N],
    lanes: usize,
) {
    // SAFETY: duties 1 to 3.
    unsafe {
        let mean = load::<S, T, WHOLE>(mean, lanes);
        let mut acc = [mean; N];
        for k in 0..N {
            acc[k] = load::<S, T, WHOLE>(sums[k], lanes);
        }
        for r in 0..R {
            let mut row = [mean; K];
            for k in 0..K {
                row[k] = load::<S, T, WHOLE>(x[k].add(r * width), lanes);
            }
            acc = F::step(acc, row, mean);
        }
        for k in 0..N {
            if WHOLE { acc[k].store(sums[k]) } else { acc[k].store_first(sums[k], lanes) }
        }
    }
}

/// A vector, or the first `lanes` of it.
///
/// # Safety
/// 1. The elements are readable and initialised. 2. The CPU has the instructions of `S`.
#[inline(always)]
unsafe fn load<S: Isa, T: Real, const WHOLE: bool>(p: *const T, lanes: usize) -> T::Vector<S> {
    // SAFETY: duties 1 and 2.
    unsafe { if WHOLE { T::Vector::<S>::load(p) } else { T::Vector::<S>::load_first(p, lanes) } }
}

/// Two rows of results for the matrix of `len` elements: what `find` makes of each part, given by its elements, and
/// `join` of two parts that follow one another, given by their rows.
fn by_parts<T: Real>(
    len: usize,
    width: usize,
    find: impl Fn(Range<usize>, [&mut [T]; 2]) + Sync,
    join: impl Fn([usize; 2], [&mut [T]; 2], [&[T]; 2]),
) -> [Vec<T>; 2] {
    let (rows, part) = (len.div_ceil(width), PART * width);
    let parts = rows.div_ceil(PART).max(1);
    let mut found = vec![T::ZERO; parts * 2 * width];
    split_rows(&mut found, 2 * width, 1, len as f64 * COST, &|parts, results| {
        for (i, results) in parts.zip(results.chunks_exact_mut(2 * width)) {
            find(i * part..len.min((i + 1) * part), results.split_at_mut(width).into());
        }
    });
    let mut step = 1;
    while step < parts {
        for i in (0..parts - step).step_by(2 * step) {
            let (before, after) = found.split_at_mut((i + step) * 2 * width);
            let count = [step * PART, rows.min((i + 2 * step) * PART) - (i + step) * PART];
            let first = before[i * 2 * width..][..2 * width].split_at_mut(width);
            join(count, first.into(), after[..2 * width].split_at(width).into());
        }
        step *= 2;
    }
    found.truncate(2 * width);
    let second = found.split_off(width);
    [found, second]
}

/// Means and sums of squared deviations of the columns; rows are whole, and there is one at least.
pub fn moments<T: Real>(x: &[T], width: usize) -> [Vec<T>; 2] {
    /// No duties.
    struct Moments<'a, T> {
        x: &'a [T],
        found: [&'a mut [T]; 2],
    }
    impl<T: Real> Task for Moments<'_, T> {
        type Out = ();
        const WIDE: bool = true;
        #[inline(always)]
        unsafe fn run<S: Isa>(self) {
            let Moments { x, found: [means, squares] } = self;
            let rows = T::of((x.len() / means.len()) as f64);
            // SAFETY: Task 2; the sum does without means.
            unsafe { down::<S, T, Plain, 1, 1>([x], squares, [means]) };
            for mean in &mut *means {
                *mean = mean.div(rows);
            }
            // SAFETY: Task 2.
            unsafe { down::<S, T, Squares, 1, 1>([x], means, [squares]) };
        }
    }
    by_parts(
        x.len(),
        width,
        // SAFETY: the task has no duties.
        |part, found| unsafe { for_isa(InstructionSet::detect(), Moments { x: &x[part], found }) },
        |[a, b], [means, squares], [other_means, other_squares]| {
            // The difference of the means contributes too.
            let (share, between) = (T::of(b as f64 / (a + b) as f64), T::of(a as f64 * b as f64 / (a + b) as f64));
            for ((mean, square), (m, s)) in means.iter_mut().zip(squares).zip(other_means.iter().zip(other_squares)) {
                let apart = m.sub(*mean);
                *mean = mean.add(apart.mul(share));
                *square = square.add(*s).add(apart.mul(apart).mul(between));
            }
        },
    )
}

/// The sums of `g` and of `g (x - mean)` by columns.
pub fn sums<T: Real>(x: &[T], g: &[T], means: &[T]) -> [Vec<T>; 2] {
    /// No duties.
    struct Sums<'a, T> {
        x: &'a [T],
        g: &'a [T],
        means: &'a [T],
        found: [&'a mut [T]; 2],
    }
    impl<T: Real> Task for Sums<'_, T> {
        type Out = ();
        const WIDE: bool = true;
        #[inline(always)]
        unsafe fn run<S: Isa>(self) {
            // SAFETY: Task 2.
            unsafe { down::<S, T, Along, 2, 2>([self.x, self.g], self.means, self.found) }
        }
    }
    by_parts(
        x.len(),
        means.len(),
        // SAFETY: the task has no duties.
        |part, found| unsafe {
            for_isa(InstructionSet::detect(), Sums { x: &x[part.clone()], g: &g[part], means, found })
        },
        |_, sums, others| {
            for (sums, others) in sums.into_iter().zip(others) {
                for (sum, &other) in sums.iter_mut().zip(others) {
                    *sum = sum.add(other);
                }
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, by: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * by + 11) % 101) as f64 / 50.0 - 1.0).collect()
    }

    #[test]
    fn by_the_definition() {
        for (rows, width) in [(1, 1), (1, 9), (2, 8), (7, 16), (8, 17), (9, 3), (64, 33), (130, 5), (335, 3)] {
            let n = rows * width;
            let (x, g) = (numbers(n, 37), numbers(n, 53));
            let [means, a, b, c] = [29, 71, 83, 17].map(|by| numbers(width, by));
            let close = |got: f64, want: f64| assert!((got - want).abs() <= 1e-12 * rows as f64, "{rows} {width}");
            let column = |x: &[f64], j: usize| x.iter().skip(j).step_by(width).copied().collect::<Vec<_>>();
            // Whole rows, and the last one cut short.
            for n in [n, n - width / 2] {
                let (x, g) = (&x[..n], &g[..n]);
                let mut o = vec![f64::NAN; n];
                standardize(x, [&means, &a, &b], &mut o);
                (0..n).for_each(|i| close(o[i], (x[i] - means[i % width]) * a[i % width] + b[i % width]));
                project(x, g, &means, [&a, &b, &c], &mut o);
                let want = |i, j| g[i] * a[j] + (x[i] - means[j]) * b[j] + c[j];
                (0..n).for_each(|i| close(o[i], want(i, i % width)));
                let [sum, along] = sums(x, g, &means);
                for j in 0..width {
                    let (x, g) = (column(x, j), column(g, j));
                    close(sum[j], g.iter().sum());
                    close(along[j], g.iter().zip(&x).map(|(g, x)| g * (x - means[j])).sum());
                }
            }
            let [found, squares] = moments(&x, width);
            for j in 0..width {
                let x = column(&x, j);
                let mean = x.iter().sum::<f64>() / rows as f64;
                close(found[j], mean);
                close(squares[j], x.iter().map(|x| (x - mean) * (x - mean)).sum());
            }
        }
    }
}
