//! The micro-kernel: one block of C, held in registers while A and B are read.

use super::simd::Simd;
use crate::simd::prefetch_lines;

/// The distances of the rows of A from its first one, in bytes: those of the odd rows 1, 3, 5, .. 15, of which the
/// others are multiples by powers of two, as addresses have them.
///
/// The compiler is not to know that these are multiples of one number: with a single one it has no registers for all
/// rows, and goes from row to row by additions that wait for each other, one cycle each. A tile one vector wide then
/// takes twice as long.
#[derive(Clone, Copy)]
pub(crate) struct Rows([isize; 8]);

impl Rows {
    pub(crate) fn of<T>(rs: isize) -> Self {
        let bytes = rs.wrapping_mul(size_of::<T>() as isize);
        Self([1, 3, 5, 7, 9, 11, 13, 15].map(|row| bytes.wrapping_mul(row)))
    }

    /// The first element of row `i < 16`.
    #[inline(always)]
    pub(crate) fn at<T>(&self, a: *const T, i: usize) -> *const T {
        if i == 0 {
            return a;
        }
        let twos = i.trailing_zeros();
        a.wrapping_byte_offset(self.0[(i >> twos) / 2] << twos)
    }
}

/// Panels of B, of two vectors each, that are copied or fetched together: where memory has pages of 4 KB, each row of a
/// panel is on a page of its own, and finding the page takes as long as fetching a line.
pub(super) const GROUP: usize = 4;
/// Steps of a [`PACKED`] tile between two looks at what is due: as many as [`body`] spells out.
const CHUNK: usize = 4;
/// Steps from the end at which a tile asks for its part of C.
const NEARLY_DONE: usize = 128;

/// Rows of a group of panels that later tiles read, copied or fetched from memory on the way: one in front of every
/// `every` steps. A tile that asks for a row when it needs it waits for memory at every step.
pub(crate) struct Ahead<T> {
    /// The first row. There are `rows` of `panels` times two vectors each, `rs` apart.
    pub row: *const T,
    pub rs: isize,
    pub rows: usize,
    pub panels: usize,
    pub every: isize,
    /// Where the first row of the first panel is copied to; those of the others are `apart` elements from one another.
    /// Null if rows are fetched only.
    pub to: *mut T,
    pub apart: usize,
}

impl<T> Ahead<T> {
    /// Takes row `i`, if there is one.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `V`.
    /// 2. If `to` is not null, the rows are readable and their places writable.
    #[inline(always)]
    unsafe fn take<V: Simd<Elem = T>>(&self, i: usize) {
        if i >= self.rows {
            return;
        }
        let width = 2 * V::LEN;
        let mut row = self.row.wrapping_offset(i as isize * self.rs);
        let mut to = self.to.wrapping_add(i * width);
        for _ in 0..self.panels {
            let mut soon = row;
            if !self.to.is_null() {
                // SAFETY: duties 1 and 2.
                unsafe {
                    V::load(row).store(to);
                    V::load(row.add(V::LEN)).store(to.add(V::LEN));
                }
                to = to.wrapping_add(self.apart);
                // This one was asked for two rows ago.
                soon = row.wrapping_offset(2 * self.rs);
            }
            prefetch_lines::<1, T>(soon);
            prefetch_lines::<1, T>(soon.wrapping_add(V::LEN));
            row = row.wrapping_add(width);
        }
    }
}

/// A block of C of `R` rows and `C` vectors, and what it is the product of.
pub(crate) struct Tile<'a, T> {
    /// Terms of each dot product.
    pub k: usize,
    /// `R` x `k`, strides in elements.
    pub a: *const T,
    pub a_rows: &'a Rows,
    pub a_cs: isize,
    /// `k` rows of `C` vectors, full ones unless the tile is to load the part of the last that is there.
    pub b: *const T,
    pub b_rs: isize,
    /// What is done for later tiles, if the tile looks at it.
    pub ahead: Option<&'a Ahead<T>>,
    /// What the sums of each row start from: `R` elements; null for zeros.
    pub start: *const T,
    /// `R` rows of `C - 1` full vectors and `last` elements of one more.
    pub c: *mut T,
    pub c_rs: isize,
    pub last: usize,
    /// Add to C instead of overwriting it.
    pub accumulate: bool,
}

/// How a tile takes its part of B: as it lies, all vectors being there.
pub(super) const WHOLE: u8 = 0;
/// As `WHOLE`, doing what `t.ahead` says on the way: a mode of its own, for small tiles would notice.
pub(super) const AHEAD: u8 = 1;
/// As `AHEAD`, A and B both being copies without gaps: `a_cs` is `R`, `b_rs` is `C * LEN`, and the rows of A are
/// neighbours. Steps then need no addresses of their own, and a CPU whose other thread is busy has an eighth less to
/// do.
pub(super) const PACKED: u8 = 2;
/// As it lies, `last` elements of the last vector being there.
pub(super) const PART: u8 = 3;
/// As `PART`, with the terms at even and at odd places added up apart, and then together; of `FEW_SUMS` at most.
pub(super) const CHAINS: u8 = 4;
/// So few vectors of sums that a step takes as long as an addition.
pub(super) const FEW_SUMS: usize = 4;

/// Computes one tile, with B taken as `LOAD` says.
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
/// 2. `t.a` is readable for `R` x `k` elements at its strides, `t.b` for `k` runs of `C * LEN` elements, with `PART` of
///    `(C - 1) * LEN + last`, with stride `b_rs`.
/// 3. `t.c` is writable (and readable, if `accumulate`) as its comment says, `1 <= last <= LEN`.
/// 4. `t.ahead` meets duty 2 of [`Ahead::take`]; with `PACKED`, strides are what it says.
/// 5. `t.start` is null or readable for `R` elements.
/// 6. What is written overlaps nothing that is read, except C itself.
#[inline(always)]
pub(super) unsafe fn body<V: Simd, const R: usize, const C: usize, const LOAD: u8>(t: &Tile<V::Elem>) {
    // SAFETY: (1) is duty 1. (2) Step p < k reads column p of A, rows i < R, and row p of B:
    // duty 2. (3) Row i < R of C is touched in C - 1 full vectors and `last` elements: duty 3.
    // (4) Duty 4. (5) Duty 5. Duty 6 lets all of them be plain loads and stores. The pointers `a` and
    // `b` step once past their last use with `wrapping` arithmetic only.
    unsafe {
        // No `zip` and no array by value: their constructor and drop glue are functions of core without a hint to
        // inline, and where one of them stays a call, `acc` lives in memory: a thirtieth of the speed.
        let mut acc = [[V::zero(); C]; R];
        if !t.start.is_null() {
            for (i, acc) in acc.iter_mut().enumerate() {
                *acc = [V::splat(t.start.add(i)); C];
            }
        }
        // Of copies, these are constants: addresses have them in place of registers.
        let (rows, a_cs, b_rs) = if LOAD == PACKED {
            debug_assert!(t.a_cs == R as isize && t.b_rs == (C * V::LEN) as isize);
            (Rows::of::<V::Elem>(1), R as isize, (C * V::LEN) as isize)
        } else {
            (*t.a_rows, t.a_cs, t.b_rs)
        };
        let (mut a, mut b) = (t.a, t.b);
        let mut left = t.k;
        if LOAD == CHAINS {
            let mut odd = [[V::zero(); C]; R];
            while left >= 2 {
                step::<V, R, C, LOAD>(t, rows, &mut acc, a, b);
                let (second, row) = (a.wrapping_offset(a_cs), b.wrapping_offset(b_rs));
                step::<V, R, C, LOAD>(t, rows, &mut odd, second, row);
                a = second.wrapping_offset(a_cs);
                b = row.wrapping_offset(b_rs);
                left -= 2;
            }
            for (i, acc) in acc.iter_mut().enumerate() {
                for (j, acc) in acc.iter_mut().enumerate() {
                    *acc = acc.plus(odd[i][j]);
                }
            }
        }
        let ahead = if LOAD == AHEAD || LOAD == PACKED { t.ahead } else { None };
        macro_rules! steps {
            ($($i:literal)*) => {
                $({
                    let (a, b) = (a.wrapping_offset($i * a_cs), b.wrapping_offset($i * b_rs));
                    step::<V, R, C, LOAD>(t, rows, &mut acc, a, b);
                })*
            };
        }
        let mut turn = 0;
        if let Some(ahead) = ahead {
            // One loop, whose branches a CPU foresees; one that ends at every row would cost a restart each.
            let nearly_done = t.k.min(NEARLY_DONE);
            let mut due = 0;
            // With strides that it does not know, the compiler puts the loads of all steps before their sums, for which
            // there are no registers: twice the time.
            let chunk = if LOAD == PACKED { CHUNK } else { 1 };
            while left >= chunk {
                if due <= 0 {
                    ahead.take::<V>(turn);
                    turn += 1;
                    due += ahead.every;
                }
                if left <= nearly_done && left + chunk > nearly_done {
                    for i in 0..R {
                        let c = t.c.wrapping_offset(i as isize * t.c_rs);
                        prefetch_lines::<1, V::Elem>(c);
                        prefetch_lines::<1, V::Elem>(c.wrapping_add((C - 1) * V::LEN));
                    }
                }
                if LOAD == PACKED {
                    steps!(0 1 2 3);
                } else {
                    steps!(0);
                }
                a = a.wrapping_offset(chunk as isize * a_cs);
                b = b.wrapping_offset(chunk as isize * b_rs);
                left -= chunk;
                due -= chunk as isize;
            }
        }
        for _ in 0..left {
            steps!(0);
            a = a.wrapping_offset(a_cs);
            b = b.wrapping_offset(b_rs);
        }
        if let Some(ahead) = ahead {
            // What is due between the last chunk and the end.
            for turn in turn..ahead.rows {
                ahead.take::<V>(turn);
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

/// Adds the terms of one column of A and one row of B.
///
/// # Safety
/// The duties of [`body`]; `a` and `b` are at a column of A and the same row of B.
#[inline(always)]
unsafe fn step<V: Simd, const R: usize, const C: usize, const LOAD: u8>(
    t: &Tile<V::Elem>,
    rows: Rows,
    acc: &mut [[V; C]; R],
    a: *const V::Elem,
    b: *const V::Elem,
) {
    let part = LOAD == PART || LOAD == CHAINS;
    // SAFETY: duties 1 and 2 of `body`: row `i < R` of the column of A, `C` vectors of the row of B.
    unsafe {
        let mut row = [V::zero(); C];
        for (j, v) in row.iter_mut().enumerate() {
            let b = b.add(j * V::LEN);
            *v = if part && j + 1 == C { V::load_first(b, t.last) } else { V::load(b) };
        }
        for (i, acc) in acc.iter_mut().enumerate() {
            let x = V::splat(rows.at(a, i));
            for (j, acc) in acc.iter_mut().enumerate() {
                *acc = x.fma(row[j], *acc);
            }
        }
    }
}

/// Runs the tile of `rows` rows and `C` vectors.
///
/// # Safety
/// The duties of [`body`] with `R = rows`, and `1 <= rows <= V::ROWS`.
#[inline(always)]
pub(super) unsafe fn run<V: Simd, const C: usize, const LOAD: u8>(rows: usize, t: &Tile<V::Elem>) {
    macro_rules! rows {
        ($($r:literal)*) => {
            // SAFETY: the duties of `body` pass through; `R` is `rows` in the arm that is taken.
            // The tests keep heights that do not occur from being compiled.
            unsafe {
                match rows {
                    $($r if $r <= V::ROWS && (LOAD != CHAINS || $r * C <= FEW_SUMS) => V::tile::<$r, C, LOAD>(t),)*
                    _ => unreachable!("a tile of {rows} rows"),
                }
            }
        };
    }
    rows!(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
}
