//! The blocked product: cuts C into tiles, decides what to copy, and runs the micro-kernel.
//!
//! Three rules make small shapes fast. A is read in place by broadcasting, at any strides, and
//! copied only beside a copy of B that is wide enough to repay it. B is read in place
//! where its rows are contiguous; if it is worth copying, tiles copy the panels that come next while
//! they multiply. And rows are divided evenly: 32 rows are tiles of 11, 11 and 10, not 14, 14, 4.

use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use super::dots::{self, Dots};
use super::scratch;
use super::simd::{Float, Simd};
use super::tile::{self, AHEAD, Ahead, CHAINS, FEW_SUMS, GROUP, PACKED, PART, Rows, Tile, WHOLE};
use super::vecmat::VectorTimesMatrix;
use crate::simd::prefetch_lines;
use crate::thresholds::matmul::{BLOCK_COLUMNS, BLOCK_ROWS, DEPTH_BYTES, FAR_BYTES, FEW_PANELS, NEAR_BYTES, PANEL};

/// One product, as the arguments of [`super::gemm`] describe it.
#[derive(Clone, Copy)]
pub(super) struct Product<T> {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: *const T,
    pub a_rs: isize,
    pub a_cs: isize,
    pub b: *const T,
    pub b_rs: isize,
    pub b_cs: isize,
    pub accumulate: bool,
    pub c: *mut T,
    pub c_rs: isize,
    pub c_cs: isize,
    /// Whether A, and B, are read conjugated; of complex numbers only.
    pub conj: [bool; 2],
    /// Whether this is no part of a larger product: the order of the terms then may depend on all of its sizes.
    pub is_all: bool,
}

impl<T: Copy> Product<T> {
    /// The same product read as `C^T = B^T A^T`.
    #[inline(always)]
    pub(super) fn transposed(&self) -> Self {
        Self {
            m: self.n,
            n: self.m,
            a: self.b,
            a_rs: self.b_cs,
            a_cs: self.b_rs,
            b: self.a,
            b_rs: self.a_cs,
            b_cs: self.a_rs,
            c_rs: self.c_cs,
            c_cs: self.c_rs,
            conj: [self.conj[1], self.conj[0]],
            k: self.k,
            c: self.c,
            accumulate: self.accumulate,
            is_all: self.is_all,
        }
    }
}

/// A B that is not a matrix in memory: it is written panel by panel, when the product needs it.
pub(crate) trait Panels<T>: Sync {
    /// Writes rows `p0 .. p0 + k` of the columns `j0 .. j0 + columns` to `dst`, with row stride `width >= columns`. The
    /// rest of the rows is never used, but must be initialised.
    ///
    /// # Safety
    /// 1. `dst` is writable for `k * width` elements.
    /// 2. The rows and columns are those of B; `width` is one or two vectors, the least that hold the columns.
    unsafe fn fill(&self, p0: usize, k: usize, j0: usize, columns: usize, dst: *mut T, width: usize);
}

/// The operand B of [`product_of`], and what the sums of a row start from.
#[derive(Clone, Copy)]
pub(crate) struct Virtual<'a, T> {
    pub panels: &'a dyn Panels<T>,
    /// The column that is the first of the product.
    pub first: usize,
    /// `m` elements; null for zeros.
    pub start: *const T,
}

/// `len` cut into as few parts of at most `most` as possible, of nearly equal length: the length of
/// part `i` is `len / parts`, plus one for the first `len % parts`.
#[derive(Clone, Copy)]
pub(super) struct Even {
    pub(super) parts: usize,
    short: usize,
    long: usize,
}

impl Even {
    pub(super) fn new(len: usize, most: usize) -> Self {
        // Divisions are slow, and most lengths are short.
        if len <= most {
            return Self { parts: 1, short: len, long: 0 };
        }
        let parts = len.div_ceil(most);
        Self { parts, short: len / parts, long: len % parts }
    }

    /// Start and length of part `i < parts`.
    pub(super) fn part(self, i: usize) -> (usize, usize) {
        (i * self.short + i.min(self.long), self.short + usize::from(i < self.long))
    }
}

/// Computes the product with the instruction set of `V`.
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
/// 2. The duties of [`super::gemm`].
/// 3. `m`, `n` and `k` are not zero.
pub(super) unsafe fn product<V: Simd>(p: &Product<V::Elem>) {
    if p.m == 1 || p.n == 1 {
        let p = if p.m == 1 { *p } else { p.transposed() };
        let Product { n, k, a: x, a_cs: xs, b, c: y, c_cs: ys, accumulate, .. } = p;
        // The stride of an axis of one element has no effect: treat it as contiguous.
        let b_cs = if n == 1 { 0 } else { p.b_cs };
        let b_rs = if k == 1 { 1 } else { p.b_rs };
        // SAFETY: duties 1 and 2; a stride is replaced only where its index is always zero.
        return unsafe {
            if n > 1 && b_cs != 1 && b_rs == 1 && (xs == 1 || k == 1) {
                let (m, a, a_rs, c, c_rs) = (n, b, b_cs, y, ys);
                V::dots::<1>(&Dots { m, n: 1, k, a, a_rs, b: x, b_cs: 0, c, c_rs, c_cs: 1, accumulate })
            } else {
                V::vecmat(&VectorTimesMatrix { n, k, x, xs, b, b_rs, b_cs, y, ys, accumulate })
            }
        };
    }
    let way = if p.is_all { Way::best::<V>(p) } else { Way::Rows { transposed: p.c_cs != 1 && p.c_rs == 1 } };
    // SAFETY: duties 1 to 3; the transposed product touches the same elements. What each way asks for was looked at.
    unsafe {
        match way {
            Way::Dots { transposed: false } => dot_products::<V>(p),
            Way::Dots { transposed: true } => dot_products::<V>(&p.transposed()),
            Way::Rows { transposed: false } => in_rows::<V>(p),
            Way::Rows { transposed: true } => in_rows::<V>(&p.transposed()),
        }
    }
}

/// # Safety
/// The duties of [`product`].
#[inline(always)]
unsafe fn in_rows<V: Simd>(p: &Product<V::Elem>) {
    // SAFETY: duties 1 to 3; `in_place` and what `COPY` asks for was looked at.
    unsafe {
        if !in_place::<V>(p) {
            blocked::<V>(p, None);
        } else if p.b_cs == 1 && (V::MASKS || p.n.is_multiple_of(V::LEN)) {
            rows::<V, false>(p);
        } else {
            rows::<V, true>(p);
        }
    }
}

/// How a product is computed: along rows of C, whose elements then share vectors, or with vectors along the terms of
/// one element; as it is or transposed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Way {
    Rows { transposed: bool },
    Dots { transposed: bool },
}

impl Way {
    /// The way that is thought to take the least time. Times are those of a multiplication of two vectors; they were
    /// measured with AVX-512 and come out about the same in the others.
    #[inline]
    pub(super) fn best<V: Simd>(p: &Product<V::Elem>) -> Self {
        let rows = Self::Rows { transposed: p.c_cs != 1 && p.c_rs == 1 };
        let narrow = p.m.min(p.n);
        // Rows are long, or have all that they need in place.
        if narrow > dots::COLUMNS || narrow == p.m && p.b_cs == 1 && p.c_cs == 1 {
            return rows;
        }
        let plain = Self::Rows { transposed: false };
        let flipped = Self::Rows { transposed: true };
        let mut best = (rows_time::<V>(p.m, p.n, p.k, p.b_rs, p.b_cs, p.c_cs), plain);
        best = least(best, rows_time::<V>(p.n, p.m, p.k, p.a_cs, p.a_rs, p.c_rs), flipped);
        let columns = dots::COLUMNS.min(V::LEN);
        if p.n <= columns && p.a_cs == 1 && (p.b_rs == 1 || p.n * p.k.next_multiple_of(V::LEN) <= PANEL) {
            let time = dots_time::<V>(p.m, p.n, p.k, p.b_rs, p.b_cs, p.c_rs, p.c_cs);
            best = least(best, time, Self::Dots { transposed: false });
        }
        if p.m <= columns && p.b_rs == 1 && (p.a_cs == 1 || p.m * p.k.next_multiple_of(V::LEN) <= PANEL) {
            let time = dots_time::<V>(p.n, p.m, p.k, p.a_cs, p.a_rs, p.c_cs, p.c_rs);
            best = least(best, time, Self::Dots { transposed: true });
        }
        best.1
    }
}

#[inline(always)]
fn least(best: (usize, Way), time: usize, way: Way) -> (usize, Way) {
    if time < best.0 { (time, way) } else { best }
}

/// What an element takes that is copied alone.
const ALONE: usize = 2;
/// What an element of C takes that is written alone.
const SCATTERED: usize = 4;
/// A vector of B that is copied transposed, of a square of as many.
const TURNED: usize = 6;
/// A vector of sums whose lanes are added up, of a square of as many.
const SUMMED: usize = 3;

#[inline(always)]
fn rows_time<V: Simd>(m: usize, n: usize, k: usize, b_rs: isize, b_cs: isize, c_cs: isize) -> usize {
    let vectors = n.div_ceil(V::LEN);
    let copied = match (b_rs, b_cs) {
        (_, 1) => 0,
        (1, _) => TURNED * vectors * k.next_multiple_of(V::LEN),
        _ => ALONE * n * k,
    };
    let scattered = if c_cs == 1 { 0 } else { SCATTERED * m * n };
    m * vectors * k + copied + scattered
}

#[inline(always)]
fn dots_time<V: Simd>(m: usize, n: usize, k: usize, b_rs: isize, b_cs: isize, c_rs: isize, c_cs: isize) -> usize {
    let columns = n.next_power_of_two();
    let copied = match (b_rs, b_cs) {
        (1, _) => 0,
        (_, 1) => TURNED * k.next_multiple_of(V::LEN),
        _ => ALONE * n * k,
    };
    let in_rows = c_cs == 1 && c_rs == columns as isize;
    let scattered = if in_rows || c_rs == 1 || c_cs == 1 { m } else { SCATTERED * m * n };
    // What is left of whole squares takes as long as two of them.
    let (whole, rest) = (m * columns / V::LEN, m * columns % V::LEN);
    let squares = whole + if rest == 0 { 0 } else { 2 };
    m * columns * k.div_ceil(V::LEN) + squares * SUMMED * V::LEN + copied + scattered
}

/// Space on the stack for a copied panel, on a cache line: vectors that lie across two lines take twice as long.
#[repr(align(64))]
struct Aligned<T>([T; PANEL]);
type Panel<T> = MaybeUninit<Aligned<T>>;

/// A product of few columns, row by row of A, whose rows are contiguous.
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
/// 2. The duties of [`super::gemm`].
/// 3. `m`, `n` and `k` are not zero, `n` is at most `COLUMNS` and `LEN`, `a_cs` is 1, and `b_rs` is 1 or `n` times `k`,
///    rounded up to whole vectors, at most `PANEL`.
#[inline(never)]
unsafe fn dot_products<V: Simd>(p: &Product<V::Elem>) {
    let mut panel = Panel::<V::Elem>::uninit();
    let panel = panel.as_mut_ptr().cast::<V::Elem>();
    let Product { m, n, k, a, a_rs, c, c_rs, c_cs, accumulate, .. } = *p;
    let (mut b, mut b_cs) = (p.b, p.b_cs);
    // SAFETY: duties 1 to 3; `panel` holds `n` columns of `k` elements rounded up to whole vectors.
    unsafe {
        if p.b_rs != 1 {
            let room = k.next_multiple_of(V::LEN);
            V::copy_rows(k, n, p.b, p.b_rs, p.b_cs, panel, room);
            (b, b_cs) = (panel, room as isize);
        }
        let d = Dots { m, n, k, a, a_rs, b, b_cs, c, c_rs, c_cs, accumulate };
        match n {
            1 => V::dots::<1>(&d),
            2 => V::dots::<2>(&d),
            _ => V::dots::<{ dots::COLUMNS }>(&d),
        }
    }
}

/// Whether [`rows`] may compute the product: nothing but single panels of B is worth a copy.
#[inline]
pub(super) fn in_place<V: Simd>(p: &Product<V::Elem>) -> bool {
    let size = size_of::<V::Elem>();
    let near_a = p.n <= 8 * V::LEN || p.m * p.k * size <= NEAR_BYTES;
    let near_b = p.m <= 3 * V::ROWS || p.k * p.b_rs.unsigned_abs() * size <= NEAR_BYTES;
    let whole = V::MASKS || p.n.is_multiple_of(V::LEN);
    let fits = p.k <= PANEL / (2 * V::LEN);
    let b = if p.b_cs == 1 { near_b && (whole || fits) } else { fits };
    // Panels go over all of C otherwise, a narrow part of each row at a time.
    let near_c = p.m <= BLOCK_ROWS || p.n <= 2 * V::LEN;
    p.k * size <= DEPTH_BYTES && near_a && b && near_c
}

/// A product that needs no blocks: B is read where it lies, or with `COPY` its panels are copied to the stack. Each
/// element is the same sum as in a block, unless the tile has few sums and is all.
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
/// 2. The duties of [`super::gemm`].
/// 3. `m`, `n` and `k` are not zero, and `in_place` says yes; without `COPY`, `b_cs` is 1, and whole vectors or
///    `V::MASKS` make up the rows.
#[inline(never)]
pub(super) unsafe fn rows<V: Simd, const COPY: bool>(p: &Product<V::Elem>) {
    let mut panel = Panel::<V::Elem>::uninit();
    let panel = panel.as_mut_ptr().cast::<V::Elem>();
    let tiles = Even::new(p.m, V::ROWS);
    let a_rows = Rows::of::<V::Elem>(p.a_rs);
    let mut j0 = 0;
    while j0 < p.n {
        let columns = (2 * V::LEN).min(p.n - j0);
        let vectors = if columns > V::LEN { 2 } else { 1 };
        let width = vectors * V::LEN;
        let last = columns - (width - V::LEN);
        let copied = COPY && (p.b_cs != 1 || !V::MASKS && last < V::LEN);
        // SAFETY: duties 1 to 3. `panel` holds `k` rows of `width` elements, all of which `copy_rows` writes: there are
        // more than `width - LEN` columns. Tiles stay inside C.
        unsafe {
            let (mut b, mut b_rs) = (at(p.b, 0, 0, j0, p.b_cs), p.b_rs);
            if copied {
                V::copy_rows(columns, p.k, b, p.b_cs, p.b_rs, panel, width);
                (b, b_rs) = (panel, width as isize);
            }
            // A tile of so few sums waits for each of them: in two chains it waits half as long.
            let load = if V::MASKS && p.is_all && p.m * vectors <= FEW_SUMS {
                CHAINS
            } else if copied || last == V::LEN {
                WHOLE
            } else {
                PART
            };
            for i in 0..tiles.parts {
                let (i0, rows) = tiles.part(i);
                let t = Tile {
                    k: p.k,
                    a: at(p.a, i0, p.a_rs, 0, 0),
                    a_rows: &a_rows,
                    a_cs: p.a_cs,
                    b,
                    b_rs,
                    ahead: None,
                    start: null(),
                    c: at(p.c, i0, p.c_rs, j0, p.c_cs).cast_mut(),
                    c_rs: p.c_rs,
                    last,
                    accumulate: p.accumulate,
                };
                if p.c_cs == 1 {
                    run::<V>(rows, vectors, load, &t);
                } else {
                    spilled::<V>(rows, vectors, load, t, p.c_cs);
                }
            }
        }
        j0 += columns;
    }
}

/// As [`product`], with a B that is written as it is needed; that of `p` is not read.
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
/// 2. The duties of [`super::gemm`], but for B; rows of C are contiguous.
/// 3. `m`, `n` and `k` are not zero.
/// 4. `b.panels` has `k` rows and `n` columns from `b.first` on; `b.start` is null or readable for `m` elements.
///    Neither is in C.
pub(super) unsafe fn product_of<V: Simd>(p: Product<V::Elem>, b: Virtual<V::Elem>) {
    debug_assert!(p.c_cs == 1);
    // SAFETY: duties 1 to 4. Strides of zero keep the corners of the B that is not there where they are.
    unsafe { blocked::<V>(&Product { b_rs: 0, b_cs: 0, ..p }, Some(b)) }
}

/// # Safety
/// The duties of [`product`], or with `source` those of [`product_of`].
#[inline(never)]
pub(super) unsafe fn blocked<V: Simd>(p: &Product<V::Elem>, source: Option<Virtual<V::Elem>>) {
    let size = size_of::<V::Elem>();
    let width = 2 * V::LEN;
    let depths = Even::new(p.k, DEPTH_BYTES / size);
    let heights = Even::new(p.m, BLOCK_ROWS);
    let (_, kc) = depths.part(0);
    let (_, mc) = heights.part(0);

    let near_b = kc * p.b_rs.unsigned_abs() * size <= NEAR_BYTES;
    let copy_b = p.b_cs != 1 || (p.m > 2 * V::ROWS && !near_b) || source.is_some();
    // A copy of A takes as long as a few panels gain from it, or one if the columns of A are on different pages.
    let far_a = p.a_cs.unsigned_abs() * size > FAR_BYTES;
    let copy_a = copy_b && p.n > if far_a { width } else { FEW_PANELS * width };
    // Unless later rows use all panels of B again, one at a time is enough, or the group that is read and the next one,
    // which is copied meanwhile.
    let panels = if heights.parts > 1 {
        p.n.min(BLOCK_COLUMNS).div_ceil(width).max(2 * GROUP + 1)
    } else if p.b_cs == 1 && source.is_none() {
        2 * GROUP
    } else {
        1
    };

    let a_len = if copy_a { mc * kc + V::LEN } else { 0 };
    let b_len = if copy_b || p.n % V::LEN != 0 { panels * kc * width } else { 0 };
    scratch::with(a_len + b_len + V::LEN, |buffer: *mut V::Elem| {
        // The part for A starts on a cache line too, B being whole vectors.
        let (b_buffer, a_buffer) = (buffer, buffer.wrapping_add(b_len));
        for j0 in (0..p.n).step_by(BLOCK_COLUMNS) {
            let n = BLOCK_COLUMNS.min(p.n - j0);
            for depth in 0..depths.parts {
                let (p0, k) = depths.part(depth);
                for height in 0..heights.parts {
                    let (i0, m) = heights.part(height);
                    // SAFETY: block (i0, p0, j0) of `m` x `k` x `n` is inside the product, so its corners are inside A,
                    // B and C (duty 2). `kc` and `mc` are the longest parts, so the two buffers hold what `block` may
                    // write: `mc * kc + LEN` for A if `copy_a`, and `panels` panels of `kc * width` for B if any panel
                    // is copied or written by a source.
                    unsafe {
                        block::<V>(&Block {
                            p: Product {
                                m,
                                n,
                                k,
                                a: at(p.a, i0, p.a_rs, p0, p.a_cs),
                                b: at(p.b, p0, p.b_rs, j0, p.b_cs),
                                c: at(p.c, i0, p.c_rs, j0, p.c_cs).cast_mut(),
                                accumulate: p.accumulate || depth > 0,
                                ..*p
                            },
                            a_copy: copy_a.then_some(a_buffer),
                            b_copy: b_buffer,
                            copy_b,
                            slots: panels,
                            b_ready: height > 0,
                            source: source.map(|b| Part {
                                panels: b.panels,
                                start: if b.start.is_null() || depth > 0 { null() } else { b.start.add(i0) },
                                p0,
                                j0: b.first + j0,
                            }),
                        });
                    }
                }
            }
        }
    });
}

/// Element (i, j) of a matrix.
///
/// # Safety
/// The element is in the same allocation as `base`.
#[inline(always)]
unsafe fn at<T>(base: *const T, i: usize, rs: isize, j: usize, cs: isize) -> *const T {
    // SAFETY: the duty of this function.
    unsafe { base.offset(i as isize * rs + j as isize * cs) }
}

/// A product small enough for one block of A.
struct Block<'a, T> {
    p: Product<T>,
    /// Where to copy A, if it is copied: `m * k` elements and one vector of slack.
    a_copy: Option<*mut T>,
    /// Where panels of B go: each `k` runs of its width.
    b_copy: *mut T,
    /// Copy full panels, too, not only those that end inside a vector.
    copy_b: bool,
    /// Places for panels: more than two groups of them are one for each; two groups take turns; or all share one.
    slots: usize,
    /// The panels are there already.
    b_ready: bool,
    /// What writes B, if there is no B to read; `copy_b` then.
    source: Option<Part<'a, T>>,
}

impl<T> Block<'_, T> {
    /// The place of a panel. Those of a group are neighbours.
    fn slot(&self, panel: usize) -> usize {
        if self.slots > 2 * GROUP { panel } else { (panel + GROUP - 1) % self.slots }
    }

    /// Whether the tiles of a group of panels copy the next group.
    fn copies_ahead(&self) -> bool {
        self.copy_b && !self.b_ready && self.p.b_cs == 1 && self.source.is_none()
    }

    /// What tile `i` of `tiles` of the panel from column `j0` on does for later panels: all tiles of a group of panels
    /// copy or fetch the next group, each its share of the rows.
    #[inline(always)]
    fn ahead<V: Simd<Elem = T>>(&self, j0: usize, i: usize, tiles: usize) -> Ahead<T> {
        let (p, width) = (&self.p, 2 * V::LEN);
        let nothing = Ahead { row: null(), rs: 0, rows: 0, panels: 0, every: isize::MAX, to: null_mut(), apart: 0 };
        // The first panel is a group of its own: all wait for it.
        let panel = j0 / width;
        let (start, len) = if panel == 0 { (0, 1) } else { ((panel - 1) / GROUP * GROUP + 1, GROUP) };
        let next = start + len;
        let panels = (p.n / width).saturating_sub(next).min(GROUP);
        if panels == 0 || !self.b_ready && (p.b_cs != 1 || self.source.is_some()) {
            return nothing;
        }
        let visits = len * tiles;
        let visit = (panel - start) * tiles + i;
        let share = |visit: usize| visit * p.k / visits;
        let (first, rows) = (share(visit), share(visit + 1) - share(visit));
        let slot = self.b_copy.wrapping_add(self.slot(next) * p.k * width);
        let (b, rs, to) = if self.b_ready {
            (slot.cast_const(), (panels * width) as isize, null_mut())
        } else if self.copy_b {
            (p.b.wrapping_add(next * width), p.b_rs, slot.wrapping_add(first * width))
        } else {
            (p.b.wrapping_add(next * width), p.b_rs, null_mut())
        };
        let row = b.wrapping_offset(first as isize * rs);
        Ahead { row, rs, rows, panels, every: visits as isize, to, apart: p.k * width }
    }
}

/// A block of a [`Virtual`] B.
struct Part<'a, T> {
    panels: &'a dyn Panels<T>,
    /// What the block's rows start from; null for zeros.
    start: *const T,
    /// Its first row and column.
    p0: usize,
    j0: usize,
}

impl<T> Part<'_, T> {
    fn start_at(&self, i: usize) -> *const T {
        if self.start.is_null() { self.start } else { self.start.wrapping_add(i) }
    }
}

/// # Safety
/// 1. The CPU has the instructions of `V`.
/// 2. `p` meets the duties of [`super::gemm`]; with `source`, all but those for B, and `source` those of [`Virtual`].
/// 3. `a_copy` and `b_copy` are writable as their comments say, disjoint from each other and from A, B and C; with
///    `b_ready`, an earlier call with the same B, `slots` and buffers has filled them.
unsafe fn block<V: Simd>(block: &Block<V::Elem>) {
    let p = &block.p;
    let tiles = Even::new(p.m, V::ROWS);
    let (a_rows, near) = (Rows::of::<V::Elem>(p.a_rs), Rows::of::<V::Elem>(1));
    // SAFETY: duties 1 to 3. `copy_rows` writes the tiles one after the other, `m * k` elements in
    // all and at most a vector past them. A panel of B is used only after it was copied: here, by the
    // tiles of the group before its own (to another place than any that they read: a group of places
    // is free while the other is read), or by an earlier call. Tiles stay inside C, the
    // last column being `last` of the last vector; where C has no contiguous rows, tiles go to
    // `spill`, which holds `ROWS` rows of two vectors for every V.
    unsafe {
        if let Some(copy) = block.a_copy {
            for i in 0..tiles.parts {
                let (i0, rows) = tiles.part(i);
                let a = at(p.a, i0, p.a_rs, 0, 0);
                V::copy_rows(rows, p.k, a, p.a_rs, p.a_cs, copy.add(i0 * p.k), rows);
            }
        }
        let mut j0 = 0;
        while j0 < p.n {
            let columns = (2 * V::LEN).min(p.n - j0);
            let vectors = columns.div_ceil(V::LEN);
            let width = vectors * V::LEN;
            let last = columns - (vectors - 1) * V::LEN;

            let mut b = at(p.b, 0, 0, j0, p.b_cs);
            let mut b_rs = p.b_rs;
            // Wrapping: nothing is there if no panel is copied.
            let slot = block.b_copy.wrapping_add(block.slot(j0 / (2 * V::LEN)) * p.k * 2 * V::LEN);
            let copied = block.copy_b || columns < width;
            if copied {
                if block.b_ready || block.copies_ahead() && j0 > 0 && columns == 2 * V::LEN {
                    // It is there already.
                } else if let Some(part) = &block.source {
                    part.panels.fill(part.p0, p.k, part.j0 + j0, columns, slot, width);
                } else {
                    V::copy_rows(columns, p.k, b, p.b_cs, p.b_rs, slot, width);
                }
                (b, b_rs) = (slot, width as isize);
            }

            // A narrow panel is the last one.
            let load = match vectors {
                2 if copied && block.a_copy.is_some() => PACKED,
                2 => AHEAD,
                _ => WHOLE,
            };
            for i in 0..tiles.parts {
                let (i0, rows) = tiles.part(i);
                let ahead = block.ahead::<V>(j0, i, tiles.parts);
                let mut t = Tile {
                    k: p.k,
                    a: at(p.a, i0, p.a_rs, 0, 0),
                    a_rows: &a_rows,
                    a_cs: p.a_cs,
                    b,
                    b_rs,
                    ahead: Some(&ahead),
                    start: block.source.as_ref().map_or(null(), |part| part.start_at(i0)),
                    c: at(p.c, i0, p.c_rs, j0, p.c_cs).cast_mut(),
                    c_rs: p.c_rs,
                    last,
                    accumulate: p.accumulate,
                };
                if let Some(copy) = block.a_copy {
                    (t.a, t.a_rows, t.a_cs) = (copy.add(i0 * p.k), &near, rows as isize);
                }
                if p.c_cs == 1 {
                    run::<V>(rows, vectors, load, &t);
                } else {
                    spilled::<V>(rows, vectors, load, t, p.c_cs);
                }
            }
            j0 += columns;
        }
    }
}

/// # Safety
/// The duties of [`tile::body`] for `rows` rows and `vectors` vectors, one or two.
#[inline(never)]
unsafe fn run<V: Simd>(rows: usize, vectors: usize, load: u8, t: &Tile<V::Elem>) {
    // SAFETY: the duties pass through, with `C` and `LOAD` as the match says.
    unsafe {
        match (vectors, load) {
            (1, WHOLE) => tile::run::<V, 1, WHOLE>(rows, t),
            (1, PART) => tile::run::<V, 1, PART>(rows, t),
            (1, _) => tile::run::<V, 1, CHAINS>(rows, t),
            (_, WHOLE) => tile::run::<V, 2, WHOLE>(rows, t),
            (_, PACKED) => tile::run::<V, 2, PACKED>(rows, t),
            (_, AHEAD) => tile::run::<V, 2, AHEAD>(rows, t),
            (_, PART) => tile::run::<V, 2, PART>(rows, t),
            (_, _) => tile::run::<V, 2, CHAINS>(rows, t),
        }
    }
}

/// A tile of a C whose rows are not contiguous.
///
/// # Safety
/// As [`run`], except that the columns of `t.c` have stride `c_cs`.
#[inline(never)]
unsafe fn spilled<V: Simd>(rows: usize, vectors: usize, load: u8, t: Tile<V::Elem>, c_cs: isize) {
    const ROOM: usize = 14 * 32;
    let width = vectors * V::LEN;
    assert!(rows * width <= ROOM);
    let mut spill = MaybeUninit::<[V::Elem; ROOM]>::uninit();
    let spill = spill.as_mut_ptr().cast::<V::Elem>();
    let inner = Tile { c: spill, c_rs: width as isize, accumulate: false, ..t };
    // SAFETY: the duties pass through; the assert gives the tile its space. Its rows are written up to their last
    // element, and (i, j) is an element of the tile, writable (readable, if `accumulate`).
    unsafe {
        run::<V>(rows, vectors, load, &inner);
        for i in 0..rows {
            let row = spill.add(i * width);
            let mut c = t.c.wrapping_offset(i as isize * t.c_rs);
            for j in 0..width - V::LEN + t.last {
                let x = *row.add(j);
                *c = if t.accumulate { x.plus(*c) } else { x };
                c = c.wrapping_offset(c_cs);
            }
        }
    }
}

/// Vectors from one that is copied to the one of the same row that is asked for meanwhile.
const SOON: usize = 4;

/// Copies `rows` rows of `k` elements side by side: `dst[p * dst_rs + i]` becomes element (i, p), for
/// `i < rows`. What follows them, up to a multiple of `LEN`, becomes zero if `dst_rs` has space for
/// it; if not, it is the start of the next row, and correct.
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
/// 2. `src` is readable for `rows` x `k` elements, with strides `rs` and `cs`.
/// 3. `rows <= dst_rs`, and `dst` is writable for `(k - 1) * dst_rs` elements and `rows` rounded up
///    to a multiple of `LEN`.
#[inline(always)]
pub(super) unsafe fn copy_rows<V: Simd>(
    rows: usize,
    k: usize,
    src: *const V::Elem,
    rs: isize,
    cs: isize,
    dst: *mut V::Elem,
    dst_rs: usize,
) {
    // From the last vector of rows to the first: only the last one can reach into the next row of
    // `dst`, whose start is written after it, by the next step or by the first vector of rows.
    for i in (0..rows).step_by(V::LEN).rev() {
        let here = V::LEN.min(rows - i);
        // SAFETY: duties 1 to 3: element (i + r, p) is read for r < here, p < k only, and the run
        // of LEN at (p, i) of `dst` is written.
        unsafe {
            let (src, dst) = (src.offset(i as isize * rs), dst.add(i));
            if rs == 1 {
                for p in 0..k {
                    let row = src.offset(p as isize * cs);
                    let v = if here == V::LEN { V::load(row) } else { V::load_first(row, here) };
                    v.store(dst.add(p * dst_rs));
                }
            } else if cs == 1 {
                for p in (0..k).step_by(V::LEN) {
                    let depth = V::LEN.min(k - p);
                    // As many rows at a time as this are more than a CPU foresees.
                    if p + SOON * V::LEN < k {
                        for r in 0..here {
                            prefetch_lines::<1, V::Elem>(src.offset(r as isize * rs).add(p + SOON * V::LEN));
                        }
                    }
                    V::transpose(src.add(p), rs, here, depth, dst.add(p * dst_rs), dst_rs);
                }
            } else {
                for p in 0..k {
                    let dst = dst.add(p * dst_rs);
                    for r in 0..V::LEN {
                        let inside = r < here;
                        *dst.add(r) = if inside { *at(src, r, rs, p, cs) } else { V::Elem::ZERO };
                    }
                }
            }
        }
    }
}
