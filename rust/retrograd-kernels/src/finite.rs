//! Whether there is a NaN or an infinity among elements: one pass that reads each of them once.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::parallel::{SharedPtr, split};
use crate::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};
use crate::strided::{Axes, Offsets, axis, plan};
use crate::thresholds::finite::BLOCK;

/// What an element takes, in nanoseconds.
const ELEMENT_COST: f64 = 0.1;

/// The element that is least like a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Worst {
    Finite,
    Infinite,
    Nan,
}

impl Worst {
    fn of(code: u8) -> Self {
        match code {
            0 => Worst::Finite,
            1 => Worst::Infinite,
            _ => Worst::Nan,
        }
    }
}

/// A floating-point number by its bits: those without the sign, as an integer, are in the order of magnitudes, with the
/// infinity after all numbers and every NaN after the infinity.
pub trait Float: SimdElement + Send + Sync {
    type Bits: Copy + Ord + Default;
    /// The infinity's bits.
    const INFINITY: Self::Bits;
    fn magnitude_bits(self) -> Self::Bits;
}

macro_rules! floats {
    ($($t:ty, $bits:ty, $infinity:expr;)*) => { $(
        impl Float for $t {
            type Bits = $bits;
            const INFINITY: $bits = $infinity.to_bits() as $bits;
            #[inline(always)]
            fn magnitude_bits(self) -> $bits {
                self.to_bits() as $bits & <$bits>::MAX
            }
        }
    )* };
}
// Signed integers, whose larger one is an instruction of the oldest CPUs.
floats! {
    f32, i32, f32::INFINITY;
    f64, i64, f64::INFINITY;
    half::f16, i16, half::f16::INFINITY;
    half::bf16, i16, half::bf16::INFINITY;
}

/// The worst element of `a`. If it is a NaN, there may be infinities too.
///
/// # Safety
/// 1. `a` is readable and initialised at every position of `sizes` and `strides`.
pub unsafe fn worst<T: Float>(level: InstructionSet, sizes: &[usize], strides: &[isize], a: *const T) -> Worst {
    let axes: Axes<1> = plan(sizes, [strides]);
    if axes.iter().any(|x| x.size == 0) {
        return Worst::Finite;
    }
    let (row, outer) = (axis(&axes, 0), axes.get(1..).unwrap_or(&[]));
    let rows: usize = outer.iter().map(|x| x.size).product();
    let (a, found) = (SharedPtr(a.cast_mut()), AtomicU8::new(0));
    let cost = (row.size * rows) as f64 * ELEMENT_COST;
    // A single row is cut into blocks, several are divided whole.
    let blocks = if rows == 1 { row.size.div_ceil(BLOCK) } else { 1 };
    split(rows * blocks, 1, cost, &|part| {
        let see = |p: *const T, n: usize| {
            // SAFETY: (1) rows, and blocks of the only one, are positions of `a`: duty 1.
            let worst = unsafe { for_isa(level, Row { a: p, n, step: row.strides[0] }) };
            found.fetch_max(worst as u8, Ordering::Relaxed);
        };
        let start = a.get().cast_const();
        if rows == 1 {
            let (from, to) = (part.start * BLOCK, (part.end * BLOCK).min(row.size));
            // SAFETY: duty 1: a position of the row.
            return see(unsafe { start.offset(from as isize * row.strides[0]) }, to - from);
        }
        for [offset] in Offsets::starting_at(outer, part.start).take(part.len()) {
            // SAFETY: duty 1: the first position of a row.
            see(unsafe { start.offset(offset) }, row.size);
        }
    });
    Worst::of(found.into_inner())
}

/// Duties: 1. `a` is readable and initialised for `n` elements with stride `step`.
struct Row<T> {
    a: *const T,
    n: usize,
    step: isize,
}

impl<T: Float> Task for Row<T> {
    type Out = Worst;
    const WIDE: bool = T::WIDE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> Worst {
        let Row { a, n, step } = self;
        let mut largest = T::Bits::default();
        if step == 1 {
            // SAFETY: duty 1, the elements being contiguous.
            let x = unsafe { std::slice::from_raw_parts(a, n) };
            for block in x.chunks(BLOCK) {
                for &x in block {
                    largest = largest.max(x.magnitude_bits());
                }
                if largest > T::INFINITY {
                    break;
                }
            }
        } else {
            for i in 0..n {
                // SAFETY: duty 1.
                largest = largest.max(unsafe { *a.offset(i as isize * step) }.magnitude_bits());
            }
        }
        match largest.cmp(&T::INFINITY) {
            std::cmp::Ordering::Less => Worst::Finite,
            std::cmp::Ordering::Equal => Worst::Infinite,
            std::cmp::Ordering::Greater => Worst::Nan,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Float>(number: impl Fn(f64) -> T, nans: &[T]) {
        let ugly = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5];
        let bad: Vec<(T, Worst)> = [f64::INFINITY, f64::NEG_INFINITY]
            .map(|x| (number(x), Worst::Infinite))
            .into_iter()
            .chain(nans.iter().map(|&x| (x, Worst::Nan)))
            .collect();
        for level in InstructionSet::available() {
            let worst = |x: &[T], sizes: &[usize], strides: &[isize]| {
                // SAFETY: (1) callers stay inside the slice.
                unsafe { worst(level, sizes, strides, x.as_ptr()) }
            };
            for n in ugly {
                // The largest and the smallest numbers of all these types are finite.
                let mut x: Vec<T> = (0..n).map(|i| number([0.0, -1.5, 65504.0, 1e-7, -65504.0][i % 5])).collect();
                assert_eq!(worst(&x, &[n], &[1]), Worst::Finite);
                let places = [0, n / 2, n.wrapping_sub(1)];
                for at in places.into_iter().filter(|&at| at < n) {
                    for &(bad, expected) in &bad {
                        let good = std::mem::replace(&mut x[at], bad);
                        assert_eq!(worst(&x, &[n], &[1]), expected, "{n} elements, {at}, {}", level.name());
                        // Not looked at: the elements before and after it.
                        assert_eq!(worst(&x, &[at], &[1]), Worst::Finite);
                        assert_eq!(worst(&x[at + 1..], &[n - at - 1], &[1]), Worst::Finite);
                        // Every second one, and rows with gaps.
                        let even = if at % 2 == 0 { expected } else { Worst::Finite };
                        assert_eq!(worst(&x, &[n.div_ceil(2)], &[2]), even);
                        if n % 3 == 0 {
                            let inside = if at % 3 < 2 { expected } else { Worst::Finite };
                            assert_eq!(worst(&x, &[n / 3, 2], &[3, 1]), inside);
                            assert_eq!(worst(&x, &[2, n / 3, 2], &[0, 3, 1]), inside);
                        }
                        x[at] = good;
                    }
                }
                if n > 1 {
                    (x[0], x[n - 1]) = (nans[0], number(f64::INFINITY));
                    assert_eq!(worst(&x, &[n], &[1]), Worst::Nan);
                }
            }
        }
    }

    #[test]
    fn every_type_size_and_layout() {
        check(|x| x as f32, &[f32::NAN, -f32::NAN, f32::from_bits(0x7F80_0001)]);
        check(|x| x, &[f64::NAN, -f64::NAN, f64::from_bits(0x7FF0_0000_0000_0001)]);
        check(half::f16::from_f64, &[half::f16::NAN, half::f16::from_bits(0x7C01), half::f16::from_bits(0xFFFF)]);
        check(half::bf16::from_f64, &[half::bf16::NAN, half::bf16::from_bits(0x7F81), half::bf16::from_bits(0xFFFF)]);
    }
}
