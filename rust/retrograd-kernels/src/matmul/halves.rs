//! The product of matrices of halves: operands are widened to float32 as they are packed, sums are float32, and each
//! element of C is rounded once.

use half::{bf16, f16};

use super::{Panels, Virtual, gemm_of, term_cost};
use crate::parallel::{SharedPtr, split};
use crate::pointwise::{Half, narrow, widen};
use crate::rows::sum_across;
use crate::simd::{InstructionSet, Isa, Stored, Task, Vector, for_isa};

/// Rows of C that one piece computes: what it holds as float32 stays in the second-level cache for common sizes, and B
/// is widened once for each piece.
const ROWS: usize = 168;

/// As [`gemm`](super::gemm), of halves.
///
/// # Safety
/// The duties of [`gemm`](super::gemm).
#[expect(clippy::too_many_arguments, reason = "the shape of a BLAS call")]
pub unsafe fn gemm_halves(
    half: Half,
    m: usize,
    n: usize,
    k: usize,
    a: *const u16,
    a_rs: isize,
    a_cs: isize,
    b: *const u16,
    b_rs: isize,
    b_cs: isize,
    accumulate: bool,
    c: *mut u16,
    c_rs: isize,
    c_cs: isize,
) {
    if m == 0 || n == 0 {
        return;
    }
    let (a, b, c) = (SharedPtr(a.cast_mut()), SharedPtr(b.cast_mut()), SharedPtr(c));
    split(m, ROWS, m as f64 * n as f64 * k as f64 * term_cost::<f32>(), &|part| {
        for i0 in part.clone().step_by(ROWS) {
            let rows = ROWS.min(part.end - i0);
            let mut sums = vec![0f32; rows * n];
            // SAFETY: duties 1 to 4: these rows of A and C, which no other piece has, and B.
            unsafe {
                if k > 0 {
                    let a = a.get().offset(i0 as isize * a_rs);
                    let mut wide = vec![0f32; rows * k];
                    read(half, rows, k, a, a_rs, a_cs, &mut wide);
                    let panels = HalfRows { half, b, b_rs, b_cs };
                    let b = Virtual { panels: &panels, first: 0, start: std::ptr::null() };
                    gemm_of(rows, n, k, wide.as_ptr(), k as isize, 1, b, sums.as_mut_ptr(), n as isize);
                }
                let c = c.get().offset(i0 as isize * c_rs);
                if accumulate {
                    let mut before = vec![0f32; rows * n];
                    read(half, rows, n, c, c_rs, c_cs, &mut before);
                    sums.iter_mut().zip(before).for_each(|(sum, x)| *sum += x);
                }
                write(half, rows, n, &sums, c, c_rs, c_cs);
            }
        }
    });
}

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

/// Reads a matrix as row-major float32.
///
/// # Safety
/// 1. `x` is readable at `i * rs + j * cs` for all `i < rows`, `j < cols`.
unsafe fn read(half: Half, rows: usize, cols: usize, x: *const u16, rs: isize, cs: isize, to: &mut [f32]) {
    let mut packed = vec![0u16; if cs == 1 { 0 } else { cols }];
    for (i, to) in to.chunks_exact_mut(cols).take(rows).enumerate() {
        // SAFETY: duty 1; a row of `to` has `cols` elements.
        unsafe {
            let mut row = x.offset(i as isize * rs);
            if cs != 1 {
                packed.iter_mut().enumerate().for_each(|(j, h)| *h = *row.offset(j as isize * cs));
                row = packed.as_ptr();
            }
            widen(half, cols, row, to.as_mut_ptr());
        }
    }
}

/// Writes a matrix of row-major float32, rounded.
///
/// # Safety
/// 1. `x` is writable at `i * rs + j * cs` for all `i < rows`, `j < cols`.
unsafe fn write(half: Half, rows: usize, cols: usize, from: &[f32], x: *mut u16, rs: isize, cs: isize) {
    let mut packed = vec![0u16; if cs == 1 { 0 } else { cols }];
    for (i, from) in from.chunks_exact(cols).take(rows).enumerate() {
        // SAFETY: duty 1; a row of `from` has `cols` elements.
        unsafe {
            let row = x.offset(i as isize * rs);
            if cs == 1 {
                narrow(half, cols, from.as_ptr(), row);
            } else {
                narrow(half, cols, from.as_ptr(), packed.as_mut_ptr());
                packed.iter().enumerate().for_each(|(j, h)| *row.offset(j as isize * cs) = *h);
            }
        }
    }
}

/// B, widened panel by panel. Duties: B is readable for the rows and columns of the product.
struct HalfRows {
    half: Half,
    b: SharedPtr<u16>,
    b_rs: isize,
    b_cs: isize,
}

impl Panels<f32> for HalfRows {
    unsafe fn fill(&self, p0: usize, k: usize, j0: usize, columns: usize, dst: *mut f32, width: usize) {
        // The columns of a panel are few; what is beyond them must be initialised.
        let mut row = [0u16; 64];
        assert!(width <= row.len());
        for p in 0..k {
            // SAFETY: duties of the type: rows and columns of B; duty 1 for `dst`.
            unsafe {
                let from = self.b.get().cast_const().offset((p0 + p) as isize * self.b_rs + j0 as isize * self.b_cs);
                for (j, h) in row[..columns].iter_mut().enumerate() {
                    *h = *from.offset(j as isize * self.b_cs);
                }
                widen(self.half, width, row.as_ptr(), dst.add(p * width));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers again: rows that lie apart, results that do, and every way in which a sum can end.
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

    /// Small integers: every sum is exact in float32, so only the last rounding counts.
    #[test]
    fn products_are_rounded_once() {
        for (m, n, k) in [(1, 1, 0), (1, 3, 2), (3, 1, 4), (5, 7, 9), (170, 33, 700), (16, 65, 20)] {
            let number = |i: usize| ((i * 37 + 11) % 15) as f32 - 7.0;
            let h = |x: f32| bf16::from_f32(x).to_bits();
            let (a, b): (Vec<_>, Vec<_>) =
                ((0..m * k).map(number).collect(), (0..k * n).map(|i| number(i + 5)).collect());
            let (ah, bh): (Vec<_>, Vec<_>) = (a.iter().map(|&x| h(x)).collect(), b.iter().map(|&x| h(x)).collect());
            // B is read transposed, C written transposed.
            let bt: Vec<u16> = (0..k * n).map(|i| bh[i % k.max(1) * n + i / k.max(1)]).collect();
            for accumulate in [false, true] {
                let want: Vec<u16> = (0..m * n)
                    .map(|at| {
                        let (i, j) = (at / n, at % n);
                        let sum: f32 = (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum();
                        h(sum + if accumulate { 2.0 } else { 0.0 })
                    })
                    .collect();
                let (mut c, mut ct) = (vec![h(2.0); m * n], vec![h(2.0); m * n]);
                // SAFETY: row-major and column-major matrices of these sizes.
                unsafe {
                    let (ki, ni, mi) = (k as isize, n as isize, m as isize);
                    let (pa, pb, pbt) = (ah.as_ptr(), bh.as_ptr(), bt.as_ptr());
                    gemm_halves(Half::BF16, m, n, k, pa, ki, 1, pb, ni, 1, accumulate, c.as_mut_ptr(), ni, 1);
                    gemm_halves(Half::BF16, m, n, k, pa, ki, 1, pbt, 1, ki, accumulate, ct.as_mut_ptr(), 1, mi);
                }
                assert_eq!(c, want, "{m} {n} {k} {accumulate}");
                assert!(
                    (0..m * n).all(|at| ct[at % n * m + at / n] == want[at]),
                    "{m} {n} {k} {accumulate} transposed"
                );
            }
        }
    }
}
