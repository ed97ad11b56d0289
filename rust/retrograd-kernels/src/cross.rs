//! Cross products.

use std::ops::Range;

use super::pointwise::copying;
use super::real::Ring;
use super::simd::{InstructionSet, Isa, Task, for_isa};
use crate::parallel::{SharedPtr, split};

/// The cross products of `a` and `b`, to `to`: `[before, 3, after]` elements each, along the axis of 3.
///
/// # Safety
/// 1. `a` and `b` are readable and initialised, `to` writable, for the elements. 2. `to` is disjoint from both.
pub unsafe fn cross<T: Ring>([before, after]: [usize; 2], a: *const T, b: *const T, to: *mut T) {
    let (a, b, to) = (SharedPtr(a.cast_mut()), SharedPtr(b.cast_mut()), SharedPtr(to));
    split(before, 1, copying(9 * before * after * size_of::<T>()), &|rows| {
        let [a, b] = [&a, &b].map(|x| x.get().cast_const());
        // SAFETY: (Cross 1, 2) ours; no other piece has these vectors.
        unsafe { for_isa(InstructionSet::detect(), Cross { rows, after, a, b, to: to.get() }) }
    });
}

/// Vectors `rows` of [`cross`], with its duties.
struct Cross<T> {
    rows: Range<usize>,
    after: usize,
    a: *const T,
    b: *const T,
    to: *mut T,
}

/// One element of a product.
#[inline(always)]
fn minor<T: Ring>(a: [T; 2], b: [T; 2]) -> T {
    a[0].mul(b[1]).sub(a[1].mul(b[0]))
}

impl<T: Ring> Task for Cross<T> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { rows, after, a, b, to } = self;
        let whole = rows.start * 3 * after..rows.end * 3 * after;
        // SAFETY: duties 1 and 2.
        let (a, b, to) = unsafe {
            (
                std::slice::from_raw_parts(a.add(whole.start), whole.len()),
                std::slice::from_raw_parts(b.add(whole.start), whole.len()),
                std::slice::from_raw_parts_mut(to.add(whole.start), whole.len()),
            )
        };
        if after == 1 {
            for ((o, a), b) in to.as_chunks_mut::<3>().0.iter_mut().zip(a.as_chunks::<3>().0).zip(b.as_chunks::<3>().0)
            {
                *o = [
                    minor([a[1], a[2]], [b[1], b[2]]),
                    minor([a[2], a[0]], [b[2], b[0]]),
                    minor([a[0], a[1]], [b[0], b[1]]),
                ];
            }
            return;
        }
        for first in (0..whole.len()).step_by(3 * after.max(1)) {
            for k in 0..3 {
                let [next, last] = [(k + 1) % 3, (k + 2) % 3].map(|k| first + k * after);
                let ([an, al], [bn, bl]) =
                    ([&a[next..][..after], &a[last..][..after]], [&b[next..][..after], &b[last..][..after]]);
                let o = &mut to[first + k * after..][..after];
                let factors = an.iter().zip(al).zip(bn.iter().zip(bl));
                for (o, ((&an, &al), (&bn, &bl))) in o.iter_mut().zip(factors) {
                    *o = minor([an, al], [bn, bl]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::set_num_threads;

    fn check<T: Ring>(of: impl Fn(i64) -> T) {
        for [before, after] in [[0, 1], [3, 0], [1, 1], [7, 1], [2, 5], [3, 17], [1, 40], [90_001, 1], [3000, 9]] {
            let n = before * 3 * after;
            let [a, b] = [7i64, 5].map(|by| (0..n as i64).map(|i| of(i * i % 29 * by % 23 - 9)).collect::<Vec<T>>());
            for threads in [1, 3] {
                set_num_threads(threads);
                let mut got = vec![T::ONE; n];
                // SAFETY: (1, 2) three vectors of as many elements.
                unsafe { cross([before, after], a.as_ptr(), b.as_ptr(), got.as_mut_ptr()) };
                for (at, &got) in got.iter().enumerate() {
                    let (k, first) = (at / after % 3, at - at / after % 3 * after);
                    let [i, j] = [(k + 1) % 3, (k + 2) % 3].map(|k| first + k * after);
                    assert!(got == a[i].mul(b[j]).sub(a[j].mul(b[i])), "{before} {after} {at}");
                }
            }
        }
    }

    #[test]
    fn every_element_is_its_minor() {
        check(|i| i as f32 * 0.37);
        check(|i| i as f64 * 0.37);
        check(|i| num_complex::Complex::new(i as f32 * 0.37, 1.0 - i as f32));
    }
}
