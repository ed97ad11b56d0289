//! Products of bfloat16 in tiles of 16 by 16 float32 sums, of which four are computed together.
//!
//! A tile of A is 16 rows of 32 terms; a tile of B is 16 pairs of terms of 16 columns, the two terms of a pair beside
//! each other. Operands are copied to panels two tiles wide, with zeros after their end. What is here is the same for
//! every form of tile: [`Tiles`] is that of the CPU, and in tests a plain one.
//!
//! Sums are float32, and each element of C is rounded once. The terms of a sum are never divided: where there are
//! several blocks of them, it goes on from the number in memory, so that neither blocks nor threads change a bit.

use half::bf16;

use super::driver::{Even, Product};
use super::scratch;
use crate::parallel::{SharedPtr, num_threads, split};
use crate::simd::{InstructionSet, Isa, Stored, Task, Vector, for_isa};
use crate::thresholds::matmul::{TILE_COLUMNS, TILE_KEPT, TILE_ROWS, TILE_TERMS};

/// Rows of a tile of A, columns of a tile of B.
pub(super) const SIDE: usize = 16;
/// Terms of a tile.
pub(super) const TERMS: usize = 32;
/// Numbers of a tile of A or B.
pub(super) const TILE: usize = SIDE * TERMS;
/// Rows and columns of a block of sums: two tiles.
pub(super) const BLOCK: usize = 2 * SIDE;
/// Sums of a block.
const SUMS: usize = BLOCK * BLOCK;

/// Rows of A, or columns of B: what follows is said of rows.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    pub first: *const u16,
    /// From a row to the next.
    pub apart: isize,
    /// From a term to the next.
    pub step: isize,
}

impl Lines {
    /// From row `i` and term `p` on.
    #[inline(always)]
    pub(super) fn from(&self, i: usize, p: usize) -> Self {
        let first = self.first.wrapping_offset(i as isize * self.apart).wrapping_offset(p as isize * self.step);
        Self { first, ..*self }
    }
}

/// A block of sums: up to two tiles of rows by two of columns, `BLOCK` sums from a row to the next.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// Tiles of terms.
    pub tiles: usize,
    pub a: *const u16,
    /// Bytes from a row of a tile of A to the next.
    pub a_row: isize,
    /// Bytes from a tile of A to that of the next rows, and to that of the next terms.
    pub a_down: isize,
    pub a_next: isize,
    /// Of the first terms, a tile for each tile of columns; then of the next.
    pub b: *const u16,
    pub c: *mut f32,
    /// Whether the sums start from zero, not from what is there.
    pub is_first: bool,
}

/// How tiles are copied and multiplied.
pub(super) trait Tiles {
    /// Copies `rows` rows (up to `BLOCK`) of `k` terms to tiles of A, or with `PAIRS` to tiles of B: of the first terms
    /// a tile or two, then of the next. Zeros follow the last row and the last term.
    ///
    /// # Safety
    /// 1. `from` is readable for `rows` rows of `k` terms. 2. `to` is writable for the tiles.
    unsafe fn copy<const PAIRS: bool>(&self, from: Lines, rows: usize, k: usize, to: *mut u16);

    /// Computes a block of `DOWN` by `ACROSS` tiles, one or two of each.
    ///
    /// # Safety
    /// 1. The tiles of A and B are readable. 2. `c` is writable for the tiles of sums, and readable unless `is_first`.
    unsafe fn multiply<const DOWN: usize, const ACROSS: usize>(&self, block: &Block);
}

/// Computes `count` products, the first of which is `p`, with the help of the thread pool if that pays. `begin` is
/// called for each piece, on the thread that computes it.
///
/// # Safety
/// 1. The duties of [`super::gemm_batch`]. 2. No extent is zero.
pub(super) unsafe fn products<T: Tiles>(
    begin: &(dyn Fn() -> T + Sync),
    count: usize,
    apart: [isize; 3],
    p: &Product<u16>,
) {
    let Product { m, n, k, a_rs, a_cs, b_rs, b_cs, accumulate, c_rs, c_cs, conj, is_all, .. } = *p;
    let (a, b, c) = (SharedPtr(p.a.cast_mut()), SharedPtr(p.b.cast_mut()), SharedPtr(p.c));
    let part = |tiles: &T, entry: usize, (i, m): (usize, usize), (j, n): (usize, usize)| {
        let at = |x: *mut u16, step: isize, offset: isize| x.wrapping_offset(entry as isize * step + offset);
        let (i, j) = (i as isize, j as isize);
        let a = at(a.get(), apart[0], i * a_rs).cast_const();
        let b = at(b.get(), apart[1], j * b_cs).cast_const();
        let c = at(c.get(), apart[2], i * c_rs + j * c_cs);
        // SAFETY: duties 1 and 2 for a part of C, which no other thread has.
        unsafe {
            product(tiles, &Product { m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, accumulate, c, c_rs, c_cs, conj, is_all });
        }
    };
    let cost = count as f64 * time(m, n, k);
    if count > 1 {
        split(count, 1, cost, &|range| {
            let tiles = begin();
            range.for_each(|entry| part(&tiles, entry, (0, m), (0, n)));
        });
        return;
    }
    // Each part copies what it reads: one for each thread is enough.
    let extent = m.max(n);
    let grain = extent.div_ceil(num_threads()).next_multiple_of(BLOCK);
    split(extent, grain, cost, &|range| {
        let (tiles, cut) = (begin(), (range.start, range.len()));
        if m >= n { part(&tiles, 0, cut, (0, n)) } else { part(&tiles, 0, (0, m), cut) }
    });
}

/// What a product takes about, in nanoseconds: so much for each term of a sum, and for each number that is copied or
/// rounded.
fn time(m: usize, n: usize, k: usize) -> f64 {
    let [m, n, k] = [m, n, k].map(|x| x as f64);
    0.0015 * m * n * k + 0.1 * (m * k + k * n + m * n)
}

/// Computes the product.
///
/// # Safety
/// 1. The duties of [`super::gemm`]. 2. `m`, `n` and `k` are not zero.
pub(super) unsafe fn product<T: Tiles>(tiles: &T, p: &Product<u16>) {
    let p = if p.c_cs != 1 && p.c_rs == 1 { p.transposed() } else { *p };
    let a = Lines { first: p.a, apart: p.a_rs, step: p.a_cs };
    let b = Lines { first: p.b, apart: p.b_cs, step: p.b_rs };
    let depths = Even::new(p.k.div_ceil(TERMS), TILE_TERMS / TERMS);
    let heights = Even::new(p.m.div_ceil(BLOCK), TILE_ROWS / BLOCK);
    // Of several blocks of terms, sums are kept from one to the next.
    let is_deep = depths.parts > 1;
    let widths = Even::new(p.n.div_ceil(BLOCK), if is_deep { TILE_COLUMNS / BLOCK } else { usize::MAX });
    let [deep, high, wide] = [depths, heights, widths].map(|parts| parts.part(0).1);
    // A panel of B stays for all rows if there is room for all panels, else one at a time is copied for each block of
    // rows.
    let is_kept = heights.parts > 1 && !is_deep && wide * deep * 2 * TILE <= TILE_KEPT;
    // A copy of A pays if more than one panel of B meets it. Tiles in place are whole.
    let in_place = p.a_cs == 1 && p.k.is_multiple_of(TERMS) && p.m.is_multiple_of(SIDE) && p.n <= BLOCK;
    let a_len = if in_place { 0 } else { high * deep * 2 * TILE };
    let b_len = deep * 2 * TILE * if is_kept { wide } else { 1 };
    let c_len = SUMS * if is_deep { high * wide } else { 1 };
    scratch::with(a_len + b_len + 2 * c_len, |buffer: *mut u16| {
        let sums = buffer.cast::<f32>();
        let (a_tiles, b_tiles) = (buffer.wrapping_add(2 * c_len), buffer.wrapping_add(2 * c_len + a_len));
        for (column, height, depth) in nested(widths.parts, heights.parts, depths.parts) {
            let ((j0, across), (i0, down)) = (widths.part(column), heights.part(height));
            let (p0, steps) = depths.part(depth);
            let p0 = p0 * TERMS;
            let k = (steps * TERMS).min(p.k - p0);
            let (is_first, is_last) = (depth == 0, depth + 1 == depths.parts);
            let lines = |i: usize, all: usize| BLOCK.min(all - i * BLOCK);
            // SAFETY: (copy 1) rows of A, columns of B and terms are of the product, whose duties are ours; (copy 2)
            // buffers have room for as many panels as there are in a block, each whole lines.
            // (multiply 1) Copied before, or in place whole tiles of A. (multiply 2) There is a block of sums for each,
            // or one that starts anew; an earlier depth has written what a later one reads. (Rounding) C is writable
            // for the rows and columns, and the sums were just written.
            unsafe {
                if !in_place {
                    for i in 0..down {
                        let rows = lines(i0 + i, p.m);
                        tiles.copy::<false>(a.from((i0 + i) * BLOCK, p0), rows, k, a_tiles.add(i * deep * 2 * TILE));
                    }
                }
                for j in 0..across {
                    let columns = lines(j0 + j, p.n);
                    let panel = b_tiles.add(if is_kept { j * deep * 2 * TILE } else { 0 });
                    if !is_kept || height == 0 {
                        tiles.copy::<true>(b.from((j0 + j) * BLOCK, p0), columns, k, panel);
                    }
                    for i in 0..down {
                        let rows = lines(i0 + i, p.m);
                        let c = sums.add(if is_deep { (i * across + j) * SUMS } else { 0 });
                        let mut block = Block {
                            tiles: steps,
                            a: a_tiles.wrapping_add(i * deep * 2 * TILE),
                            a_row: 2 * TERMS as isize,
                            a_down: 2 * TILE as isize,
                            a_next: (2 * TILE * rows.div_ceil(SIDE)) as isize,
                            b: panel,
                            c,
                            is_first,
                        };
                        if in_place {
                            block.a = a.from((i0 + i) * BLOCK, p0).first;
                            (block.a_row, block.a_next) = (2 * a.apart, 2 * TERMS as isize);
                            block.a_down = SIDE as isize * block.a_row;
                        }
                        match (rows > SIDE, columns > SIDE) {
                            (false, false) => tiles.multiply::<1, 1>(&block),
                            (false, true) => tiles.multiply::<1, 2>(&block),
                            (true, false) => tiles.multiply::<2, 1>(&block),
                            (true, true) => tiles.multiply::<2, 2>(&block),
                        }
                        if is_last {
                            let (row, column) = (((i0 + i) * BLOCK) as isize, ((j0 + j) * BLOCK) as isize);
                            let to = p.c.wrapping_offset(row * p.c_rs).wrapping_offset(column * p.c_cs).cast();
                            let (rs, cs, accumulate) = (p.c_rs, p.c_cs, p.accumulate);
                            for_isa(InstructionSet::detect(), Round { c, rows, columns, to, rs, cs, accumulate });
                        }
                    }
                }
            }
        }
    });
}

/// All triples of numbers below these, the last one fastest.
fn nested(a: usize, b: usize, c: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..a).flat_map(move |x| (0..b).flat_map(move |y| (0..c).map(move |z| (x, y, z))))
}

/// Rounds a block of sums to elements of C, or with `accumulate` adds them before. Duties: 1. `c` is readable for
/// `rows` rows of `BLOCK` sums, those of the first `columns` initialised. 2. `to` is writable for rows and columns at
/// these distances, and with `accumulate` readable.
struct Round {
    c: *const f32,
    rows: usize,
    columns: usize,
    to: *mut bf16,
    rs: isize,
    cs: isize,
    accumulate: bool,
}

impl Task for Round {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Round { c, rows, columns, to, rs, cs, accumulate } = self;
        let is_whole = cs == 1 && columns == BLOCK;
        let mut before = [bf16::ZERO; BLOCK];
        let mut row = [bf16::ZERO; BLOCK];
        for i in 0..rows {
            // SAFETY: duty 1, for each vector of a row of sums, all of which were written; duty 2, for whole rows and
            // otherwise for each element; the arrays have room for a row; Task 2.
            unsafe {
                let (c, to) = (c.add(i * BLOCK), to.wrapping_offset(i as isize * rs));
                let (from, result) = if is_whole { (to.cast_const(), to) } else { (before.as_ptr(), row.as_mut_ptr()) };
                if accumulate && !is_whole {
                    (0..columns).for_each(|j| before[j] = *to.wrapping_offset(j as isize * cs));
                }
                // Whole tiles were computed.
                for j in (0..columns.next_multiple_of(SIDE)).step_by(S::F32::LEN) {
                    let mut sum = S::F32::load(c.add(j));
                    if accumulate {
                        sum = bf16::load::<S>(from.add(j)) + sum;
                    }
                    bf16::store::<S>(sum, result.add(j));
                }
                if is_whole {
                } else if cs == 1 {
                    std::ptr::copy_nonoverlapping(row.as_ptr(), to, columns);
                } else {
                    (0..columns).for_each(|j| *to.wrapping_offset(j as isize * cs) = row[j]);
                }
            }
        }
    }
}

/// The tiles of [`Tiles::copy`], an element at a time.
///
/// # Safety
/// Those of [`Tiles::copy`].
pub(super) unsafe fn copy_each<const PAIRS: bool>(from: Lines, rows: usize, k: usize, to: *mut u16) {
    let count = rows.div_ceil(SIDE);
    for (p0, t, i) in nested(k.div_ceil(TERMS), count, SIDE) {
        for p in 0..TERMS {
            let (row, term) = (t * SIDE + i, p0 * TERMS + p);
            let at = if PAIRS { p / 2 * TERMS + 2 * i + p % 2 } else { i * TERMS + p };
            // SAFETY: duty 1, for elements that there are; duty 2.
            unsafe {
                let x = if row < rows && term < k { *from.from(row, term).first } else { 0 };
                *to.add((p0 * count + t) * TILE + at) = x;
            }
        }
    }
}

#[cfg(test)]
mod tests;
