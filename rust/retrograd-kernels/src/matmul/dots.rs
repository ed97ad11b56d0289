//! Products with few columns, as dot products: vectors lie along the terms, where both operands are contiguous.

use super::simd::{Float, Simd};
use super::tile::Rows;

/// Columns that such a product may have.
pub(super) const COLUMNS: usize = 4;

/// `C = A B`, or `C += A B`.
pub(crate) struct Dots<T> {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// `m` rows of `k` elements one after the other.
    pub a: *const T,
    pub a_rs: isize,
    /// `n` columns of `k` elements one after the other.
    pub b: *const T,
    pub b_cs: isize,
    /// `m` x `n`.
    pub c: *mut T,
    pub c_rs: isize,
    pub c_cs: isize,
    pub accumulate: bool,
}

/// Computes a product of at most `N` columns. An element is the sum of the lanes of its sums, in the order of
/// [`Simd::sums`], wherever its row and column are.
///
/// # Safety
/// 1. The CPU has the instructions of `V`, and `1 <= n <= N <= LEN`.
/// 2. `a` and `b` are readable, `c` writable (and readable, if `accumulate`), as the comments of [`Dots`] say.
/// 3. `c` overlaps neither `a` nor `b`.
#[inline(always)]
pub(super) unsafe fn body<V: Simd, const N: usize>(d: &Dots<V::Elem>) {
    let rows = Rows::of::<V::Elem>(d.a_rs);
    let mut i = 0;
    macro_rules! groups {
        ($($r:literal)*) => {$(
            if $r * N <= V::LEN {
                while d.m - i >= $r {
                    // SAFETY: duties 1 to 3; rows `i .. i + R` are in A.
                    unsafe { group::<V, $r, N>(d, rows, i) }
                    i += $r;
                }
            }
        )*};
    }
    groups!(16 8 4 2 1);
}

/// Rows `i .. i + R`.
///
/// # Safety
/// The duties of [`body`], and `i + R <= m`, `R * N <= LEN`.
#[inline(always)]
unsafe fn group<V: Simd, const R: usize, const N: usize>(d: &Dots<V::Elem>, rows: Rows, i: usize) {
    // SAFETY: duties 1 to 3 of `body`; terms up to `p + LEN <= k`, and the `k - p` last, of rows less than `m` and of
    // columns less than `n` are read. Columns that are not there are the last one once more, and are not written.
    unsafe {
        let mut acc = [[V::zero(); N]; R];
        let mut a = d.a.offset(i as isize * d.a_rs);
        let mut columns = [d.b; N];
        for (j, column) in columns.iter_mut().enumerate() {
            *column = d.b.offset(j.min(d.n - 1) as isize * d.b_cs);
        }
        let mut left = d.k;
        while left >= V::LEN {
            let mut y = [V::zero(); N];
            for (j, y) in y.iter_mut().enumerate() {
                *y = V::load(columns[j]);
                columns[j] = columns[j].wrapping_add(V::LEN);
            }
            for (r, acc) in acc.iter_mut().enumerate() {
                let x = V::load(rows.at(a, r));
                for (j, acc) in acc.iter_mut().enumerate() {
                    *acc = x.fma(y[j], *acc);
                }
            }
            a = a.wrapping_add(V::LEN);
            left -= V::LEN;
        }
        if left > 0 {
            let mut y = [V::zero(); N];
            for (j, y) in y.iter_mut().enumerate() {
                *y = V::load_first(columns[j], left);
            }
            for (r, acc) in acc.iter_mut().enumerate() {
                let x = V::load_first(rows.at(a, r), left);
                for (j, acc) in acc.iter_mut().enumerate() {
                    *acc = x.fma(y[j], *acc);
                }
            }
        }
        let c = d.c.offset(i as isize * d.c_rs);
        let mut all = [V::zero(); 16];
        if N > 1 && d.c_rs == 1 && !d.accumulate {
            // Columns of C are contiguous.
            for (r, acc) in acc.iter().enumerate() {
                for (j, acc) in acc.iter().enumerate() {
                    all[j * R + r] = *acc;
                }
            }
            let sums = V::sums(&all);
            for j in 0..d.n.min(N) {
                let c = c.offset(j as isize * d.c_cs);
                sums.store_between(c.wrapping_sub(j * R), j * R, (j + 1) * R);
            }
            return;
        }
        for (r, acc) in acc.iter().enumerate() {
            for (j, acc) in acc.iter().enumerate() {
                all[r * N + j] = *acc;
            }
        }
        let mut sums = V::sums(&all);
        if d.n == N && d.c_rs == N as isize && (N == 1 || d.c_cs == 1) {
            if d.accumulate {
                sums = sums.plus(V::load_first(c, R * N));
            }
            return sums.store_first(c, R * N);
        }
        if d.c_cs == 1 && !d.accumulate {
            for r in 0..R {
                let c = c.offset(r as isize * d.c_rs);
                sums.store_between(c.wrapping_sub(r * N), r * N, r * N + d.n);
            }
            return;
        }
        let mut lanes = [V::Elem::ZERO; 16];
        sums.store(lanes.as_mut_ptr());
        for r in 0..R {
            for j in 0..d.n.min(N) {
                let c = c.offset(r as isize * d.c_rs + j as isize * d.c_cs);
                let sum = lanes[r * N + j];
                *c = if d.accumulate { sum.plus(*c) } else { sum };
            }
        }
    }
}
