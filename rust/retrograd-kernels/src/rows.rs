//! What softmax and attention do with a row, inside a task.

use super::math;
use super::pointwise::{Body, row};
use super::real::{Ordered, Real, Ring};
use super::simd::{Isa, Vector};
use crate::thresholds::rows::SOFTMAX;

/// Independent partial results, so that operations do not wait for each other.
const CHAINS: usize = 4;

#[inline(always)]
pub fn larger<T: Ordered>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// The first `count` lanes from `p`, the others `rest`.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. The `count < LEN` elements are readable and initialised.
#[inline(always)]
unsafe fn first_of<V: Vector>(p: *const V::Elem, count: usize, rest: V::Elem) -> V {
    // SAFETY: duties 1 and 2; there are at most 32 lanes.
    unsafe {
        let (x, there) = (V::load_first(p, count), V::load_first([V::Elem::ONE; 32].as_ptr(), count));
        x.select(x.of(0.0).lt(there), x.splat(rest))
    }
}

/// What is left of the lanes of `$v` when `$join` has joined two at a time.
macro_rules! across {
    ($v:expr, |$a:ident, $b:ident| $join:expr) => {{
        let (mut joined, mut count) = ($v, V::LEN);
        while count > 1 {
            let ($a, $b) = V::deinterleave(joined, joined);
            (joined, count) = ($join, count / 2);
        }
        first(joined)
    }};
}

/// The first lane.
#[inline(always)]
fn first<V: Vector>(v: V) -> V::Elem {
    let mut lanes = [V::Elem::ZERO; 32];
    // SAFETY: there are at most 32 lanes.
    unsafe { v.store(lanes.as_mut_ptr()) };
    lanes[0]
}

/// The sum of all lanes.
#[inline(always)]
pub(crate) fn sum_across<V: Vector>(v: V) -> V::Elem {
    across!(v, |a, b| a + b)
}

/// The largest lane.
#[inline(always)]
fn max_across<V: Vector>(v: V) -> V::Elem {
    across!(v, |a, b| a.at_least(b))
}

/// The largest element; NaN is not looked for, as it shows in the sum.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
pub unsafe fn row_max<S: Isa, T: Real>(x: &[T]) -> T {
    let (n, len) = (x.len(), T::Vector::<S>::LEN);
    let none = T::of(f64::NEG_INFINITY);
    // SAFETY: duty 1; loads end with the slice, if need be by taking elements again, which changes no maximum.
    unsafe {
        if n < len {
            return max_across::<T::Vector<S>>(first_of(x.as_ptr(), n, none));
        }
        let mut top = [T::Vector::<S>::load(x.as_ptr()).splat(none); CHAINS];
        for start in (0..n).step_by(CHAINS * len) {
            for (k, top) in top.iter_mut().enumerate() {
                *top = top.at_least(T::Vector::<S>::load(x.as_ptr().add((start + k * len).min(n - len))));
            }
        }
        max_across(top[0].at_least(top[1]).at_least(top[2].at_least(top[3])))
    }
}

/// The contribution to `R` sums of the elements at the same positions of `K` rows; zeros contribute zero.
pub trait Terms<T: Real, const K: usize, const R: usize> {
    fn of<V: Vector<Elem = T>>(&self, x: [V; K]) -> [V; R];
}

/// The sums of all terms.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
pub unsafe fn sums<S: Isa, T: Real, const K: usize, const R: usize, F: Terms<T, K, R>>(f: &F, x: [&[T]; K]) -> [T; R] {
    let (n, len) = (x[0].len(), T::Vector::<S>::LEN);
    assert!(x.iter().all(|x| x.len() == n), "rows of one length");
    if n == 0 {
        return [T::ZERO; R];
    }
    // SAFETY: duty 1, and those of `together`: starts are below `n`.
    unsafe {
        let mut sum = [[T::Vector::<S>::load_first(x[0].as_ptr(), 0); R]; CHAINS];
        let whole = n - n % (CHAINS * len);
        for start in (0..whole).step_by(CHAINS * len) {
            for (k, sum) in sum.iter_mut().enumerate() {
                add(sum, f.of(together::<T::Vector<S>, K>(&x, start + k * len)));
            }
        }
        for start in (whole..n).step_by(len) {
            add(&mut sum[0], f.of(together::<T::Vector<S>, K>(&x, start)));
        }
        let [mut a, b, mut c, d] = sum;
        add(&mut a, b);
        add(&mut c, d);
        add(&mut a, c);
        let mut total = [T::ZERO; R];
        for (total, a) in total.iter_mut().zip(a) {
            *total = sum_across(a);
        }
        total
    }
}

/// The elements from `i` on of every row, and zeros beyond their ends.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. The rows have one length, which is more than `i`.
#[inline(always)]
unsafe fn together<V: Vector, const K: usize>(x: &[&[V::Elem]; K], i: usize) -> [V; K] {
    // SAFETY: duties 1 and 2.
    unsafe {
        let n = x[0].len();
        let mut v = [V::load_first(x[0].as_ptr(), 0); K];
        for (v, x) in v.iter_mut().zip(x) {
            let p = x.as_ptr().add(i);
            *v = if i + V::LEN <= n { V::load(p) } else { V::load_first(p, n - i) };
        }
        v
    }
}

#[inline(always)]
fn add<V: Vector, const R: usize>(sum: &mut [V; R], x: [V; R]) {
    for (sum, x) in sum.iter_mut().zip(x) {
        *sum = *sum + x;
    }
}

struct Each;
impl<T: Real> Terms<T, 1, 1> for Each {
    #[inline(always)]
    fn of<V: Vector<Elem = T>>(&self, x: [V; 1]) -> [V; 1] {
        x
    }
}
struct Product;
impl<T: Real> Terms<T, 2, 1> for Product {
    #[inline(always)]
    fn of<V: Vector<Elem = T>>(&self, [x, y]: [V; 2]) -> [V; 1] {
        [x * y]
    }
}

/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
pub unsafe fn row_sum<S: Isa, T: Real>(x: &[T]) -> T {
    // SAFETY: duty 1.
    unsafe { sums::<S, T, 1, 1, _>(&Each, [x])[0] }
}

/// The sum of the products of two rows.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
pub unsafe fn dot<S: Isa, T: Real>(x: &[T], y: &[T]) -> T {
    // SAFETY: duty 1.
    unsafe { sums::<S, T, 2, 1, _>(&Product, [x, y])[0] }
}

/// The sum of the squared distances of a row's elements from `mean`.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
pub unsafe fn squares_around<S: Isa, T: Real>(x: &[T], mean: T) -> T {
    let (n, len) = (x.len(), T::Vector::<S>::LEN);
    // SAFETY: duty 1; loads end with the slice.
    unsafe {
        let mut sums = [T::Vector::<S>::load_first(x.as_ptr(), 0); CHAINS];
        for start in (0..n).step_by(CHAINS * len) {
            for (k, sum) in sums.iter_mut().enumerate() {
                let (i, p) = (start + k * len, x.as_ptr().wrapping_add(start + k * len));
                if i >= n {
                    break;
                }
                // Lanes without an element add nothing.
                let x = if i + len <= n { T::Vector::<S>::load(p) } else { first_of(p, n - i, mean) };
                let d = x - x.splat(mean);
                *sum = d.fma(d, *sum);
            }
        }
        sum_across((sums[0] + sums[1]) + (sums[2] + sums[3]))
    }
}

/// `exp(x - m)` for one `m`.
pub struct ShiftedBy<T>(pub T);
impl<T: Real> Body<T, 1> for ShiftedBy<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        math::exp(x - x.splat(self.0))
    }
}

/// `exp(x - top)` of `n` elements, to `o`; their sum.
///
/// # Safety
/// 1. `x` is readable and initialised, `o` writable, for `n` elements. 2. They are the same or disjoint. 3. The CPU has
///    the instructions of `S`.
#[inline(always)]
pub unsafe fn exp_and_sum<S: Isa, T: Real>(x: *const T, top: T, n: usize, o: *mut T) -> T {
    let (f, len) = (ShiftedBy(top), T::Vector::<S>::LEN);
    let whole = n - n % len;
    // SAFETY: duties 1 to 3; an element is read before its place is written.
    unsafe {
        let mut sums = T::Vector::<S>::load_first(x, 0);
        for i in (0..whole).step_by(len) {
            let e = f.f([T::Vector::<S>::load(x.add(i))]);
            e.store(o.add(i));
            sums = sums + e;
        }
        if whole < n {
            // Lanes without an element add nothing.
            let e = f.f([first_of::<T::Vector<S>>(x.add(whole), n - whole, T::of(f64::NEG_INFINITY))]);
            e.store_first(o.add(whole), n - whole);
            sums = sums + e;
        }
        sum_across(sums)
    }
}

/// `x - m - log`.
struct Less<T>(T, T);
impl<T: Real> Body<T, 1> for Less<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        x - x.splat(self.0) - x.splat(self.1)
    }
}

/// `x share`.
pub struct Scaled<T>(pub T);
impl<T: Real> Body<T, 1> for Scaled<T> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        x * x.splat(self.0)
    }
}

/// What a sum of exponentials is to the results: its logarithm or its reciprocal.
pub struct OfSum<const LOG: bool>;
impl<T: Real, const LOG: bool> Body<T, 1> for OfSum<LOG> {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [sum]: [V; 1]) -> V {
        if LOG { math::log(sum) } else { sum.of(1.0) / sum }
    }
}

/// The softmax of rows of `n > 0` elements, or its logarithm, to `o`.
///
/// Short rows go through each step together: their logarithms are one vector, and exponentials are read again when they
/// have arrived in the cache.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
pub unsafe fn softmax<S: Isa, T: Real, const LOG: bool>(n: usize, x: &[T], o: &mut [T]) {
    assert!(x.len() == o.len(), "rows of one length");
    let together = (SOFTMAX / n).clamp(1, 32);
    let (mut tops, mut sums) = ([T::ZERO; 32], [T::ZERO; 32]);
    for (x, o) in x.chunks(together * n).zip(o.chunks_mut(together * n)) {
        // SAFETY: (row 1, exp_and_sum 1) rows of one length, and at most 32 sums; (2) a mutable one is disjoint from
        // the others, or both are the same; (3) duty 1.
        unsafe {
            for (i, (x, o)) in x.chunks_exact(n).zip(o.chunks_exact_mut(n)).enumerate() {
                tops[i] = row_max::<S, T>(x);
                sums[i] = exp_and_sum::<S, T>(x.as_ptr(), tops[i], n, o.as_mut_ptr());
            }
            let p = sums.as_mut_ptr();
            row::<S, T, 1, _>(&OfSum::<LOG>, x.len() / n, [p.cast_const()], p);
            // Backwards: a store of the first lanes delays loads of what lies behind them, which is done by then.
            for (i, (x, o)) in x.chunks_exact(n).zip(o.chunks_exact_mut(n)).enumerate().rev() {
                let o = o.as_mut_ptr();
                if LOG {
                    row::<S, T, 1, _>(&Less(tops[i], sums[i]), n, [x.as_ptr()], o);
                } else {
                    row::<S, T, 1, _>(&Scaled(sums[i]), n, [o.cast_const()], o);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{InstructionSet, Task, for_isa};

    /// No duties.
    struct Softmax<'a, T, const LOG: bool>(usize, &'a [T], &'a mut [T]);
    impl<T: Real, const LOG: bool> Task for Softmax<'_, T, LOG> {
        type Out = ();
        const WIDE: bool = true;
        #[inline(always)]
        unsafe fn run<S: Isa>(self) {
            // SAFETY: Task 2.
            unsafe { softmax::<S, T, LOG>(self.0, self.1, self.2) }
        }
    }

    /// The definition, of one row in double precision.
    fn defined(x: &[f64], log: bool) -> Vec<f64> {
        let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = x.iter().map(|x| (x - top).exp()).sum();
        x.iter().map(|x| if log { x - top - sum.ln() } else { (x - top).exp() / sum }).collect()
    }

    fn are_the_defined_ones<T: Real + Into<f64>, const LOG: bool>(n: usize, x: &[f64], tolerance: f64) {
        for level in InstructionSet::available() {
            let from: Vec<T> = x.iter().map(|&x| T::of(x)).collect();
            let mut o = vec![T::of(7.0); x.len() + 40];
            // SAFETY: the task has no duties.
            unsafe { for_isa(level, Softmax::<T, LOG>(n, &from, &mut o[..x.len()])) };
            for (i, (row, o)) in x.chunks_exact(n).zip(o.chunks_exact(n)).enumerate() {
                for (want, got) in defined(row, LOG).into_iter().zip(o) {
                    let got: f64 = (*got).into();
                    let near = got == want || (got - want).abs() <= tolerance * (1.0 + want.abs());
                    assert!(near || got.is_nan() && want.is_nan(), "{level:?} {n} {LOG} row {i}: {got}, not {want}");
                }
            }
            assert!(o[x.len()..].iter().all(|&o| o.into() == 7.0), "{level:?}: beyond the rows of {n}");
        }
    }

    #[test]
    fn softmax_by_the_definition() {
        for n in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 28, 31, 32, 33, 63, 64, 65, 100, 1000, 3000] {
            for rows in [0, 1, 2, 31, 32, 33, 70] {
                let rows = rows.min(20_000 / n);
                let mut x: Vec<f64> = (0..rows * n).map(|i| ((i * 37 + 11) % 101) as f64 * 0.125 - 5.0).collect();
                // Of no weight, of none to speak of, and all of it.
                let ends = [f64::NEG_INFINITY, -1e30, -100.0, 90.0];
                x.iter_mut().enumerate().filter(|(i, _)| i % 7 == 3).for_each(|(i, x)| *x = ends[i / 7 % 4]);
                for (i, row) in x.chunks_exact_mut(n).enumerate() {
                    match i % 9 {
                        3 => row.fill(f64::NEG_INFINITY),
                        4 => row[i % n] = f64::INFINITY,
                        5 => row[n - 1] = f64::NAN,
                        6 => row.fill(-1000.0),
                        _ => {}
                    }
                }
                are_the_defined_ones::<f32, false>(n, &x, 3e-7);
                are_the_defined_ones::<f32, true>(n, &x, 3e-7);
                are_the_defined_ones::<f64, false>(n, &x, 1e-14);
                are_the_defined_ones::<f64, true>(n, &x, 1e-14);
            }
        }
    }
}
