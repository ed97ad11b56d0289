//! What softmax and attention do with a row, inside a task.

use super::math;
use super::pointwise::Body;
use super::real::{Num, Real};
use super::simd::Vector;

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
