//! The factorization `A = P L U` of a real matrix whose columns fit into the registers.
//!
//! Rows stay where they are: a list says which row is at which place, and a row that has been a pivot takes no part any
//! more. Columns are copied at a fixed length, so that each step takes whole vectors of them from memory as the step
//! before has stored them.

use std::mem::MaybeUninit;

use retrograd_kernels::real::{Field, Real, Ring};
use retrograd_kernels::simd::Vector;

/// The most rows and columns.
pub const MOST: [usize; 2] = [64, 32];

/// Replaces a column-major matrix of at most [`MOST`] rows and columns, `step` elements from column to column, by its
/// factors, as [`crate::lu::factor`] does.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. The matrix is readable, initialised and writable at `a`, and nobody else
///    uses it; `pivots` has a place for each of the first `min(m, n)` rows.
#[inline(always)]
pub unsafe fn factor<V: Vector<Elem: Real>>(
    [m, n]: [usize; 2],
    a: *mut V::Elem,
    step: isize,
    pivots: &mut [i32],
) -> i32 {
    // SAFETY: ours; columns of `W` elements have whole vectors.
    unsafe {
        if m <= 8 && V::LEN <= 8 {
            in_columns::<V, 8>([m, n], a, step, pivots)
        } else if m <= 16 {
            in_columns::<V, 16>([m, n], a, step, pivots)
        } else if m <= 32 {
            in_columns::<V, 32>([m, n], a, step, pivots)
        } else {
            in_columns::<V, { MOST[0] }>([m, n], a, step, pivots)
        }
    }
}

/// [`factor`] of columns of at most `W` elements.
///
/// # Safety
/// 1. As [`factor`] says. 2. `W` is a multiple of the length of a vector.
#[inline(always)]
unsafe fn in_columns<V: Vector<Elem: Real>, const W: usize>(
    [m, n]: [usize; 2],
    a: *mut V::Elem,
    step: isize,
    pivots: &mut [i32],
) -> i32 {
    assert!(m <= W && n <= MOST[1] && W.is_multiple_of(V::LEN) && W <= MOST[0], "too large: {m} {n}");
    let mut copy = MaybeUninit::<[[V::Elem; W]; MOST[1]]>::uninit();
    let copy = copy.as_mut_ptr().cast::<V::Elem>();
    let vectors = W / V::LEN;
    let mut rows: [usize; W] = std::array::from_fn(|i| i);
    // 1 where a row takes no part: it is done, or there is none.
    let mut done: [V::Elem; W] = std::array::from_fn(|i| if i < m { V::Elem::ZERO } else { V::Elem::ONE });
    // SAFETY: duty 1: whole vectors of the copy, and elements of the matrix.
    unsafe {
        for j in 0..n {
            let (from, to) = (a.offset(j as isize * step), copy.add(j * W));
            for i in (0..W).step_by(V::LEN) {
                let x = match m.saturating_sub(i) {
                    0 => V::load(done.as_ptr()).splat(V::Elem::ZERO),
                    left if left < V::LEN => V::load_first(from.add(i), left),
                    _ => V::load(from.add(i)),
                };
                x.store(to.add(i));
            }
        }
        let zero = V::load(done.as_ptr()).splat(V::Elem::ZERO);
        let mut info = 0;
        for k in 0..m.min(n) {
            let column = copy.add(k * W);
            // The largest, by magnitude, of those that take part: a NaN leaves the number before it.
            let none = zero.splat(V::Elem::ONE.neg());
            let size = |i: usize| V::load(column.add(i)).abs().select(V::eq(V::load(done.as_ptr().add(i)), zero), none);
            let mut most = none;
            for i in (0..W).step_by(V::LEN) {
                most = most.at_least(size(i));
            }
            let mut lanes = [V::Elem::ZERO; 32];
            most.store(lanes.as_mut_ptr());
            let mut largest = lanes[0];
            for &lane in &lanes[1..V::LEN] {
                largest = if lane > largest { lane } else { largest };
            }
            let (most, mut equal) = (zero.splat(largest), 0u64);
            for i in (0..W).step_by(V::LEN) {
                equal |= u64::from(V::mask_bits(V::eq(size(i), most))) << i;
            }
            // The first of equal ones by their places; all are NaN if there is none.
            let place = (k..m).find(|&place| equal >> rows[place] & 1 == 1).unwrap_or(k);
            pivots[k] = place as i32 + 1;
            rows.swap(k, place);
            let row = rows[k];
            let value = *column.add(row);
            done[row] = V::Elem::ONE;
            let is_zero = value == V::Elem::ZERO;
            if is_zero && info == 0 {
                info = k as i32 + 1;
            }
            // The reciprocal of the smallest numbers is infinite.
            let has_inverse = value.abs() >= V::Elem::SQUARES[0];
            let by = zero.splat(match () {
                () if is_zero => V::Elem::ONE,
                () if has_inverse => V::Elem::ONE.div(value),
                () => value,
            });
            let mut factors = [zero; 32];
            for (v, factor) in factors[..vectors].iter_mut().enumerate() {
                let (x, part) = (V::load(column.add(v * V::LEN)), V::load(done.as_ptr().add(v * V::LEN)));
                let scaled = if has_inverse { x * by } else { x / by };
                let takes_part = V::eq(part, zero);
                scaled.select(takes_part, x).store(column.add(v * V::LEN));
                *factor = scaled.select(takes_part, zero);
            }
            for j in k + 1..n {
                let column = copy.add(j * W);
                let value = (*column.add(row)).neg();
                let by = zero.splat(value);
                if value.sub(value) == V::Elem::ZERO {
                    for (v, factor) in factors[..vectors].iter().enumerate() {
                        let at = column.add(v * V::LEN);
                        factor.fma(by, V::load(at)).store(at);
                    }
                } else {
                    // Rows that are done stay as they are: zero times infinity is NaN.
                    for (v, factor) in factors[..vectors].iter().enumerate() {
                        let at = column.add(v * V::LEN);
                        let takes_part = V::eq(V::load(done.as_ptr().add(v * V::LEN)), zero);
                        factor.fma(by, V::load(at)).select(takes_part, V::load(at)).store(at);
                    }
                }
            }
        }
        for j in 0..n {
            let (from, to) = (copy.add(j * W), a.offset(j as isize * step));
            for (i, &row) in rows[..m].iter().enumerate() {
                *to.add(i) = *from.add(row);
            }
        }
        info
    }
}
