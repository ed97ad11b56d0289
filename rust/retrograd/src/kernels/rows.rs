//! What softmax and attention do with a row, inside a task.

use super::math;
use super::pointwise::Body;
use super::real::{Num, Real};
use super::simd::{Isa, Vector};

/// Partial results of a row: four vectors or more, so that one operation need not wait for the one before.
const LANES: usize = 64;

#[inline(always)]
pub fn larger<T: Num>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// All elements joined by `f`, from `start` on, which changes none.
#[inline(always)]
fn fold<T: Real, F: Join<T>>(f: &F, start: T, x: &[T]) -> T {
    let mut lanes = [start; LANES];
    let (whole, rest) = x.as_chunks::<LANES>();
    for part in whole {
        for (l, &v) in lanes.iter_mut().zip(part) {
            *l = f.join(*l, v);
        }
    }
    for (l, &v) in lanes.iter_mut().zip(rest) {
        *l = f.join(*l, v);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] = f.join(lanes[l], lanes[l + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// What [`fold`] does with two elements.
trait Join<T> {
    fn join(&self, a: T, b: T) -> T;
}
struct Larger;
impl<T: Num> Join<T> for Larger {
    #[inline(always)]
    fn join(&self, a: T, b: T) -> T {
        larger(a, b)
    }
}
struct Plus;
impl<T: Num> Join<T> for Plus {
    #[inline(always)]
    fn join(&self, a: T, b: T) -> T {
        a.plus(b)
    }
}

/// The largest element; NaN is not looked for, as it shows in the sum.
#[inline(always)]
pub fn row_max<T: Real>(x: &[T]) -> T {
    fold(&Larger, T::of(f64::NEG_INFINITY), x)
}

#[inline(always)]
pub fn row_sum<T: Real>(x: &[T]) -> T {
    fold(&Plus, T::ZERO, x)
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
/// 1. `x` is readable and initialised, `o` writable, for `n` elements. 2. They are the same or disjoint. 3. The CPU has the
///    instructions of `S`.
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
            let mut lanes = [T::ZERO; 32];
            sums.store(lanes.as_mut_ptr());
            sum = row_sum(&lanes[..len]);
        }
        if whole < n {
            let v = T::Vector::<S>::load_first(x.add(whole), n - whole);
            math::exp(v - v.splat(top)).store_first(o.add(whole), n - whole);
            for i in whole..n {
                sum = sum.plus(*o.add(i));
            }
        }
    }
    sum
}

/// The sum of the products of two rows.
#[inline(always)]
pub fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (xs, x) = x.as_chunks::<LANES>();
    let (ys, y) = y.as_chunks::<LANES>();
    for (x, y) in xs.iter().zip(ys) {
        for l in 0..LANES {
            lanes[l] = lanes[l].plus(x[l].times(y[l]));
        }
    }
    for (l, (&x, &y)) in x.iter().zip(y).enumerate() {
        lanes[l] = lanes[l].plus(x.times(y));
    }
    row_sum(&lanes)
}
