//! Products of rows of halves with a vector: sums are float32, and each is rounded once.

use half::{bf16, f16};

use crate::parallel::{SharedPtr, split};
use crate::pointwise::{Half, narrow};
use crate::rows::sum_across;
use crate::simd::{InstructionSet, Isa, Stored, Task, Vector, for_isa};

/// Products of contiguous rows of halves with a vector: `c[i] = a[i, ..] . b`, summed in float32 and rounded once. From
/// one row to the next it is `a_rs` elements, from one result to the next `c_rs`.
///
/// # Safety
/// 1. `a` is readable for `m` rows of `k` elements, `b` for `k`. 2. `c` is writable for `m` elements, and disjoint.
pub unsafe fn dots_of_halves(
    half: Half,
    [m, k]: [usize; 2],
    a: *const u16,
    a_rs: isize,
    b: *const u16,
    c: *mut u16,
    c_rs: isize,
) {
    let (level, a, b, c) = (InstructionSet::detect(), SharedPtr(a.cast_mut()), SharedPtr(b.cast_mut()), SharedPtr(c));
    split(m, 1, m as f64 * k as f64 * ELEMENT_COST, &|rows| {
        for i in rows {
            let i = i as isize;
            // SAFETY: duty 1: this row, and the vector; (narrow 1, 2) one number, and duty 2.
            unsafe {
                let (row, b) = (a.get().cast_const().wrapping_offset(i * a_rs), b.get().cast_const());
                let sum = match half {
                    Half::F16 => for_isa(level, Dot::<f16> { k, a: row.cast(), b: b.cast() }),
                    Half::BF16 => for_isa(level, Dot::<bf16> { k, a: row.cast(), b: b.cast() }),
                };
                narrow(half, 1, &sum, c.get().offset(i * c_rs));
            }
        }
    });
}

/// What an element of a row takes, in nanoseconds.
const ELEMENT_COST: f64 = 0.1;
/// Terms that are summed by themselves, so that the error of a long sum stays small.
const BLOCK: usize = 4096;
/// Sums that do not wait for each other.
const SUMS: usize = 4;

/// The sum of `k` products. Duties: 1. both vectors are readable and initialised for `k` elements.
struct Dot<H> {
    k: usize,
    a: *const H,
    b: *const H,
}

impl<H: Stored<Float = f32>> Task for Dot<H> {
    type Out = f32;
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> f32 {
        let (Dot { k, a, b }, len) = (self, S::F32::LEN);
        let mut total = 0.0;
        for start in (0..k).step_by(BLOCK) {
            let n = BLOCK.min(k - start);
            // SAFETY: duty 1, from `start` on; Task 2.
            unsafe {
                let (a, b) = (a.add(start), b.add(start));
                let mut sums = [H::load_first::<S>(a, 0); SUMS];
                let mut i = 0;
                while i + SUMS * len <= n {
                    for (j, sum) in sums.iter_mut().enumerate() {
                        let at = i + j * len;
                        *sum = H::load::<S>(a.add(at)).fma(H::load::<S>(b.add(at)), *sum);
                    }
                    i += SUMS * len;
                }
                while i + len <= n {
                    sums[0] = H::load::<S>(a.add(i)).fma(H::load::<S>(b.add(i)), sums[0]);
                    i += len;
                }
                if i < n {
                    let (x, y) = (H::load_first::<S>(a.add(i), n - i), H::load_first::<S>(b.add(i), n - i));
                    sums[0] = x.fma(y, sums[0]);
                }
                total += sum_across((sums[0] + sums[1]) + (sums[2] + sums[3]));
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers, whose sums are exact in float32, so that only the last rounding counts: rows that lie apart,
    /// results that do, and every way in which a sum can end.
    #[test]
    fn dots_are_rounded_once() {
        let number = |i: usize| ((i * 37 + 11) % 15) as f32 - 7.0;
        for k in (0..70).chain([127, 128, 129, 300, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 37]) {
            for (half, of) in [
                (Half::BF16, (|x| bf16::from_f32(x).to_bits()) as fn(f32) -> u16),
                (Half::F16, |x| f16::from_f32(x).to_bits()),
            ] {
                let (m, step) = (3, k + 2);
                let (a, b): (Vec<f32>, Vec<f32>) =
                    ((0..m * step).map(number).collect(), (5..5 + k).map(number).collect());
                let [ah, bh] = [&a, &b].map(|x| x.iter().map(|&x| of(x)).collect::<Vec<u16>>());
                let mut c = vec![0; 2 * m];
                // SAFETY: rows and a vector of `k` elements, and a place in two for each result.
                unsafe { dots_of_halves(half, [m, k], ah.as_ptr(), step as isize, bh.as_ptr(), c.as_mut_ptr(), 2) };
                for i in 0..m {
                    let sum = (0..k).fold(0.0, |sum, l| sum + a[i * step + l] * b[l]);
                    assert_eq!(c[2 * i..2 * i + 2], [of(sum), 0], "{half:?} {k} {i}");
                }
            }
        }
    }
}
