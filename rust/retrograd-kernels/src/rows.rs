//! What softmax and attention do with a row, inside a task.

use super::math;
use super::pointwise::Body;
use super::real::{Ordered, Real, Ring};
use super::simd::{Isa, Vector};

/// Independent partial results, so that operations do not wait for each other.
const CHAINS: usize = 4;

#[inline(always)]
pub fn larger<T: Ordered>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// The largest element; NaN is not looked for, as it shows in the sum.
///
/// # Safety
/// 1. The CPU has the instructions of `S`.
#[inline(always)]
pub unsafe fn row_max<S: Isa, T: Real>(x: &[T]) -> T {
    let (n, len) = (x.len(), T::Vector::<S>::LEN);
    let none = T::of(f64::NEG_INFINITY);
    if n < len {
        return x.iter().fold(none, |top, &v| larger(top, v));
    }
    let mut tops = [none; 32];
    // SAFETY: duty 1; loads end with the slice, if need be by taking elements again, which changes no maximum.
    unsafe {
        let mut top = [T::Vector::<S>::load(x.as_ptr()).splat(none); CHAINS];
        for start in (0..n).step_by(CHAINS * len) {
            for (k, top) in top.iter_mut().enumerate() {
                *top = top.at_least(T::Vector::<S>::load(x.as_ptr().add((start + k * len).min(n - len))));
            }
        }
        top[0].at_least(top[1]).at_least(top[2].at_least(top[3])).store(tops.as_mut_ptr());
    }
    tops[..len].iter().fold(none, |top, &v| larger(top, v))
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
            *total = across(a);
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

/// The sum of all lanes.
#[inline(always)]
fn across<V: Vector>(v: V) -> V::Elem {
    let mut lanes = [V::Elem::ZERO; 32];
    // SAFETY: there are at most 32 lanes.
    unsafe { v.store(lanes.as_mut_ptr()) };
    let mut half = V::LEN / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] = lanes[l].add(lanes[l + half]);
        }
        half /= 2;
    }
    lanes[0]
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
    let len = T::Vector::<S>::LEN;
    let whole = n - n % len;
    let mut sum = T::ZERO;
    // SAFETY: duties 1 to 3; an element is read before its place is written.
    unsafe {
        if whole > 0 {
            let first = T::Vector::<S>::load(x);
            let mut sums = first.of(0.0);
            for i in (0..whole).step_by(len) {
                let v = T::Vector::<S>::load(x.add(i));
                let e = math::exp(v - v.splat(top));
                e.store(o.add(i));
                sums = sums + e;
            }
            sum = across(sums);
        }
        if whole < n {
            let v = T::Vector::<S>::load_first(x.add(whole), n - whole);
            math::exp(v - v.splat(top)).store_first(o.add(whole), n - whole);
            for i in whole..n {
                sum = sum.add(*o.add(i));
            }
        }
    }
    sum
}
