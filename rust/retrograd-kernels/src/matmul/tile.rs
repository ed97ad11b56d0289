//! The micro-kernel: one block of C, held in registers while A and B are read.

use super::simd::Simd;

/// A block of C of `R` rows and `C` vectors, and what it is the product of.
pub(crate) struct Tile<T> {
    /// Terms of each dot product.
    pub k: usize,
    /// `R` x `k`, strides in elements.
    pub a: *const T,
    pub a_rs: isize,
    pub a_cs: isize,
    /// `k` rows of `C` full vectors.
    pub b: *const T,
    pub b_rs: isize,
    /// Where a packing tile copies those rows, with a stride of `C` vectors.
    pub packed: *mut T,
    /// What the sums of each row start from: `R` elements; null for zeros.
    pub start: *const T,
    /// `R` rows of `C - 1` full vectors and `last` elements of one more.
    pub c: *mut T,
    pub c_rs: isize,
    pub last: usize,
    /// Add to C instead of overwriting it.
    pub accumulate: bool,
}

/// Computes one tile; with `PACK`, also copies its part of B to `t.packed` on the way: two more
/// stores per step, where a separate copy would read B once more.
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
/// 2. `t.a` is readable for `R` x `k` elements at its strides, `t.b` for `k` runs of `C * LEN` elements, with stride
///    `b_rs`.
/// 3. `t.c` is writable (and readable, if `accumulate`) as its comment says, `1 <= last <= LEN`.
/// 4. With `PACK`, `t.packed` is writable for `k * C * LEN` elements.
/// 5. `t.start` is null or readable for `R` elements.
/// 6. What is written overlaps nothing that is read, except C itself.
#[inline(always)]
pub(super) unsafe fn body<V: Simd, const R: usize, const C: usize, const PACK: bool>(t: &Tile<V::Elem>) {
    // SAFETY: (1) is duty 1. (2) Step p < k reads column p of A, rows i < R, and row p of B:
    // duty 2. (3) Row i < R of C is touched in C - 1 full vectors and `last` elements: duty 3.
    // (4) Step p writes vectors p * C .. p * C + C of `packed`: duty 4. (5) Duty 5. Duty 6 lets all of them be
    // plain loads and stores. The pointers `a`, `b` and `packed` step once past their last use
    // with `wrapping` arithmetic only.
    unsafe {
        // No `zip` and no array by value: their constructor and drop glue are functions of core without a hint to
        // inline, and where one of them stays a call, `acc` lives in memory: a thirtieth of the speed.
        let mut acc = [[V::zero(); C]; R];
        if !t.start.is_null() {
            for (i, acc) in acc.iter_mut().enumerate() {
                *acc = [V::splat(t.start.add(i)); C];
            }
        }
        let mut a = t.a;
        let mut b = t.b;
        let mut packed = t.packed;
        for _ in 0..t.k {
            let mut row = [V::zero(); C];
            for (j, v) in row.iter_mut().enumerate() {
                *v = V::load(b.add(j * V::LEN));
                if PACK {
                    v.store(packed.add(j * V::LEN));
                }
            }
            for (i, acc) in acc.iter_mut().enumerate() {
                let x = V::splat(a.offset(i as isize * t.a_rs));
                for (j, acc) in acc.iter_mut().enumerate() {
                    *acc = x.fma(row[j], *acc);
                }
            }
            a = a.wrapping_offset(t.a_cs);
            b = b.wrapping_offset(t.b_rs);
            if PACK {
                packed = packed.wrapping_add(C * V::LEN);
            }
        }
        for (i, acc) in acc.iter().enumerate() {
            let c = t.c.offset(i as isize * t.c_rs);
            for (j, &(mut v)) in acc.iter().enumerate() {
                let c = c.add(j * V::LEN);
                if j + 1 < C || t.last == V::LEN {
                    if t.accumulate {
                        v = v.plus(V::load(c));
                    }
                    v.store(c);
                } else {
                    if t.accumulate {
                        v = v.plus(V::load_first(c, t.last));
                    }
                    v.store_first(c, t.last);
                }
            }
        }
    }
}

/// Runs the tile of `rows` rows and `C` vectors.
///
/// # Safety
/// The duties of [`body`] with `R = rows`, and `1 <= rows <= V::ROWS`.
#[inline(always)]
pub(super) unsafe fn run<V: Simd, const C: usize, const PACK: bool>(rows: usize, t: &Tile<V::Elem>) {
    macro_rules! rows {
        ($($r:literal)*) => {
            // SAFETY: the duties of `body` pass through; `R` is `rows` in the arm that is taken.
            // The test against `ROWS` keeps unreachable heights from being compiled.
            unsafe {
                match rows {
                    $($r if $r <= V::ROWS => V::tile::<$r, C, PACK>(t),)*
                    _ => unreachable!("a tile of {rows} rows"),
                }
            }
        };
    }
    rows!(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
}
