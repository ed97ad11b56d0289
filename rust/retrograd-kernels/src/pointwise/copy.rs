//! Copies between layouts, and fills.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use super::super::real::Real;
use super::super::simd::{InstructionSet, Isa, Task, Vector, for_isa, prefetch_lines};
use super::super::strided::{Axes, Offsets, axis, cut, is_contiguous, plan, read_once};
use super::stream::{finish, is_streamed, stream};
use crate::parallel::{SharedPtr, split};
use crate::thresholds::index::CHUNK;
use crate::thresholds::pointwise::{MANY, REPEATED, SQUARE, TOGETHER};

/// What it takes one thread to copy as many bytes, in nanoseconds: copies wait for memory, and more so once both sides
/// have left the second-level cache.
pub fn copying(bytes: usize) -> f64 {
    const NEAR: usize = 1 << 20;
    bytes as f64 * if bytes < NEAR { 0.02 } else { 0.05 }
}

/// Copies `bytes` bytes, a part of a result of `whole` bytes: past the caches if all of it would not stay there.
///
/// # Safety
/// 1. `from` is readable and initialised, `to` writable, for `bytes` bytes. 2. They do not overlap.
#[inline]
pub unsafe fn copy_part(from: *const u8, to: *mut u8, bytes: usize, whole: usize) {
    // SAFETY: (1, 2) ours.
    unsafe {
        if is_streamed(whole) {
            stream(from, to, bytes, &[]);
            finish();
        } else {
            copy_run(from, to, bytes);
        }
    }
}

/// Copies elements between layouts of the same dtype; rows in blocks, transposes in squares.
///
/// # Safety
/// 1. `a` is readable and initialised, and `o` writable, at every position of `sizes` under its strides. 2. They do not
///    overlap.
/// 3. Distinct positions have distinct places in `o`.
#[inline]
pub unsafe fn copy_strided<T: Copy>(sizes: &[usize], a: *const T, a_strides: &[isize], o: *mut T, o_strides: &[isize]) {
    // SAFETY: (1-3) are ours.
    unsafe { copy_strided_at(InstructionSet::detect(), sizes, a, a_strides, o, o_strides) }
}

/// [`copy_strided`] with the instructions of `level`.
///
/// # Safety
/// As [`copy_strided`].
#[inline]
pub unsafe fn copy_strided_at<T: Copy>(
    level: InstructionSet,
    sizes: &[usize],
    a: *const T,
    a_strides: &[isize],
    o: *mut T,
    o_strides: &[isize],
) {
    // Elements of the same size are copied alike, whatever they are.
    const { assert!(matches!((size_of::<T>(), align_of::<T>()), (1, _) | (2, 2) | (4, 2) | (4 | 8 | 16, 4..))) };
    // SAFETY: ours, of as many bytes, which are aligned.
    unsafe {
        match size_of::<T>() {
            1 => copy_units::<u8>(level, sizes, a.cast(), a_strides, o.cast(), o_strides),
            2 => copy_units::<u16>(level, sizes, a.cast(), a_strides, o.cast(), o_strides),
            4 if align_of::<T>() < 4 => copy_units::<[u16; 2]>(level, sizes, a.cast(), a_strides, o.cast(), o_strides),
            4 => copy_units::<u32>(level, sizes, a.cast(), a_strides, o.cast(), o_strides),
            8 => copy_units::<[u32; 2]>(level, sizes, a.cast(), a_strides, o.cast(), o_strides),
            16 => copy_units::<[u32; 4]>(level, sizes, a.cast(), a_strides, o.cast(), o_strides),
            _ => unreachable!("no dtype has elements of this size"),
        }
    }
}

/// # Safety
/// As [`copy_strided`].
unsafe fn copy_units<T: Copy>(
    level: InstructionSet,
    sizes: &[usize],
    a: *const T,
    a_strides: &[isize],
    o: *mut T,
    o_strides: &[isize],
) {
    let count: usize = sizes.iter().product();
    let cost = copying(count * size_of::<T>());
    let (a, o) = (SharedPtr(a.cast_mut()), SharedPtr(o));
    if is_contiguous(sizes, a_strides) && is_contiguous(sizes, o_strides) {
        let whole = count * size_of::<T>();
        return split(count, 4096, cost, &|some| {
            // SAFETY: duties 1 and 2, the layout being contiguous; no other piece has these elements.
            unsafe {
                let (a, o) = (a.get().add(some.start), o.get().add(some.start));
                copy_part(a.cast(), o.cast(), some.len() * size_of::<T>(), whole);
            }
        });
    }
    let axes: Axes<2> = plan(sizes, [o_strides, a_strides]);
    if count < MANY {
        // SAFETY: (1-3) ours.
        return unsafe { copy_axes(level, axes, a.get(), o.get()) };
    }
    let (cut, grain) = cut(&axes, TOGETHER);
    split(axes[cut].size, grain, cost, &|some| {
        let mut axes = axes.clone();
        let [po, pa] = axes[cut].strides.map(|s| some.start as isize * s);
        axes[cut].size = some.len();
        // SAFETY: (1-3) ours, for some of the positions, which no other piece has.
        unsafe { copy_axes(level, axes, a.get().offset(pa), o.get().offset(po)) };
    });
}

/// # Safety
/// As [`copy_strided`], for the positions of `axes`: of the output and the input.
unsafe fn copy_axes<T: Copy>(level: InstructionSet, mut axes: Axes<2>, a: *const T, o: *mut T) {
    // The axis along which the input is contiguous becomes the second, so that a tile is a transpose.
    if let Some(i) = axes.iter().position(|x| x.strides[1] == 1).filter(|&i| i > 1) {
        axes[1..=i].rotate_right(1);
    }
    let inner = std::array::from_fn(|i| axis(&axes, i));
    let (n, s) = (inner.map(|x| x.size), std::array::from_fn(|k| inner.map(|x| x.strides[k])));
    for [po, pa] in Offsets::new(axes.get(3..).unwrap_or(&[])) {
        // SAFETY: (1) the offsets, and the inner axes from each, are positions of `axes`: our 1-3.
        unsafe { copy_tile(level, CopyTile { n, s, a: a.offset(pa), o: o.offset(po) }) };
    }
}

/// # Safety
/// 1. The duties of the tile.
unsafe fn copy_tile<T: Copy>(level: InstructionSet, tile: CopyTile<T>) {
    // SAFETY: (CopyTile 1-3, Transpose 1-3) duty 1.
    unsafe {
        match size_of::<T>() {
            4 if tile.is_transpose(VECTOR) => tile.each(|tile| Transpose::<f32>::of(&tile).run_at(level)),
            8 if tile.is_transpose(VECTOR) => tile.each(|tile| Transpose::<f64>::of(&tile).run_at(level)),
            _ => for_isa(level, tile),
        }
    }
}

/// Copies elements of `width` bytes along three axes, from the inner to the outer; strides are those of the output and
/// of the input in bytes.
///
/// # Safety
/// As [`copy_strided`]. 4. Strides are multiples of `width`.
#[inline(always)]
pub(super) unsafe fn copy_tiles(width: usize, n: [usize; 3], s: [[isize; 3]; 2], a: *const u8, o: *mut u8) {
    /// # Safety
    /// As [`copy_tiles`].
    #[inline(always)]
    unsafe fn of<T: Copy>(n: [usize; 3], s: [[isize; 3]; 2], a: *const u8, o: *mut u8) {
        let s = s.map(|s| s.map(|bytes| bytes / size_of::<T>() as isize));
        // SAFETY: (1) ours.
        unsafe { copy_tile(InstructionSet::detect(), CopyTile::<T> { n, s, a: a.cast(), o: o.cast() }) }
    }
    // SAFETY: ours; a type is aligned to no more than the elements of its size.
    unsafe {
        match width {
            1 => of::<u8>(n, s, a, o),
            2 => of::<u16>(n, s, a, o),
            4 if !(a.cast::<u32>().is_aligned() && o.cast::<u32>().is_aligned()) => of::<[u16; 2]>(n, s, a, o),
            4 => of::<u32>(n, s, a, o),
            8 => of::<[u32; 2]>(n, s, a, o),
            _ => of::<[u32; 4]>(n, s, a, o),
        }
    }
}

/// [`copy_tiles`] of elements in elements, for callers with much to do beside.
///
/// # Safety
/// As [`copy_strided`].
pub(crate) unsafe fn copy_block<T: Copy>(n: [usize; 3], strides: [[isize; 3]; 2], a: *const T, o: *mut T) {
    #[inline(never)]
    unsafe fn of_width(width: usize, n: [usize; 3], strides: [[isize; 3]; 2], a: *const u8, o: *mut u8) {
        // SAFETY: ours.
        unsafe { copy_tiles(width, n, strides.map(|s| s.map(|s| s * width as isize)), a, o) }
    }
    // SAFETY: (1-3) ours; (4) multiples.
    unsafe { of_width(size_of::<T>(), n, strides, a.cast(), o.cast()) }
}

/// Three axes, `n[0]` the inner; strides of output and input, from the inner to the outer. Duties: 1-3 of
/// [`copy_strided`].
struct CopyTile<T> {
    n: [usize; 3],
    s: [[isize; 3]; 2],
    a: *const T,
    o: *mut T,
}

impl<T> CopyTile<T> {
    /// Whether the output is contiguous along one axis, and the input along the other, each for at least so many
    /// elements.
    fn is_transpose(&self, least: usize) -> bool {
        let CopyTile { n: [n, rows, _], s: [so, sa], .. } = self;
        so[0] == 1 && sa[1] == 1 && sa[0].unsigned_abs() > 1 && (*n).min(*rows) >= least
    }
    /// The two inner axes at every position of the third.
    ///
    /// # Safety
    /// Those of a tile.
    #[inline(always)]
    unsafe fn each(self, run: impl Fn(Self)) {
        let CopyTile { n: [n, rows, planes], s, a, o } = self;
        for plane in 0..planes as isize {
            // SAFETY: duty 1: a position of the tile.
            let (o, a) = unsafe { (o.offset(plane * s[0][2]), a.offset(plane * s[1][2])) };
            run(Self { n: [n, rows, 1], s, a, o });
        }
    }
}

impl<T: Copy> Task for CopyTile<T> {
    type Out = ();
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let CopyTile { n: [n, ..], s: [so, sa], .. } = self;
        // SAFETY: our own duties.
        unsafe {
            if so[0] == 1 && sa[0] == 1 {
                copy_rows(self.n, size_of::<T>(), self.s, self.a.cast(), self.o.cast());
            } else if n < SHORT {
                self.each(|tile| tile.short_rows());
            } else {
                self.each(|tile| tile.long_rows());
            }
        }
    }
}

/// Elements of a row below which a loop over them takes longer than they do.
const SHORT: usize = 8;

impl<T: Copy> CopyTile<T> {
    /// Rows of few elements, so many of all of them at a time.
    ///
    /// # Safety
    /// Those of a tile.
    #[inline(always)]
    unsafe fn short_rows(self) {
        // SAFETY: our own duties.
        unsafe {
            if self.s[0][0] == 1 && self.s[1][1] == 1 {
                self.all_columns::<true>();
            } else {
                self.all_columns::<false>();
            }
        }
    }

    /// # Safety
    /// Those of [`Self::columns`].
    #[inline(always)]
    unsafe fn all_columns<const TURNED: bool>(&self) {
        let n = self.n[0];
        // SAFETY: ours.
        unsafe {
            for first in (0..n - n % 4).step_by(4) {
                self.columns::<4, TURNED>(first);
            }
            match n % 4 {
                3 => self.columns::<3, TURNED>(n - 3),
                2 => self.columns::<2, TURNED>(n - 2),
                1 => self.columns::<1, TURNED>(n - 1),
                _ => {}
            }
        }
    }

    /// `N` columns from `first` on; `TURNED` tells the compiler two of the strides.
    ///
    /// # Safety
    /// Those of a tile, which has these columns. If `TURNED`, the output is contiguous along the rows, and the input
    /// along the columns.
    #[inline(always)]
    unsafe fn columns<const N: usize, const TURNED: bool>(&self, first: usize) {
        let CopyTile { n: [_, rows, _], s: [mut so, mut sa], a, o } = *self;
        if TURNED {
            (so[0], sa[1]) = (1, 1);
        }
        let first = first as isize;
        for row in 0..rows as isize {
            for i in first..first + N as isize {
                // SAFETY: duty 1: a position of the tile.
                unsafe { *o.offset(row * so[1] + i * so[0]) = *a.offset(row * sa[1] + i * sa[0]) };
            }
        }
    }

    /// Rows of at least [`SHORT`] elements that are not contiguous on both sides.
    ///
    /// # Safety
    /// Those of a tile.
    #[inline(always)]
    unsafe fn long_rows(self) {
        let CopyTile { n: [n, rows, _], s: [so, sa], a, o } = self;
        if sa[0] == 0 && so[0] == 1 {
            for row in 0..rows as isize {
                // SAFETY: duty 1: one input element and a row of the output.
                unsafe {
                    let value = *a.offset(row * sa[1]);
                    std::slice::from_raw_parts_mut(o.offset(row * so[1]).cast(), n).fill(MaybeUninit::new(value));
                }
            }
        } else if so[0].abs() == 1 && so[0] == -sa[0] {
            // SAFETY: (Reversed) ours.
            unsafe { for_isa(InstructionSet::detect(), Reversed(self)) };
        } else if self.is_transpose(SQUARE) {
            // SAFETY: duties 1-3.
            unsafe { transpose(n, rows, a, sa[0], o, so[1]) };
        } else {
            for row in 0..rows as isize {
                // SAFETY: duty 1: a row of the tile.
                let (a, o) = unsafe { (a.offset(row * sa[1]), o.offset(row * so[1])) };
                // Apart where the output is contiguous: the compiler stores several elements together then.
                if so[0] == 1 {
                    for i in 0..n as isize {
                        // SAFETY: duty 1: a position of the tile.
                        unsafe { *o.offset(i) = *a.offset(i * sa[0]) };
                    }
                } else {
                    for i in 0..n as isize {
                        // SAFETY: as above.
                        unsafe { *o.offset(i * so[0]) = *a.offset(i * sa[0]) };
                    }
                }
            }
        }
    }
}

/// Rows of at least [`SHORT`] elements, contiguous on both sides, one of them backwards. Duties: those of a tile.
struct Reversed<T>(CopyTile<T>);

impl<T: Copy> Task for Reversed<T> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        // SAFETY: our duties.
        unsafe { if self.0.n[0] < 2 * SHORT { self.in_chunks::<SHORT>() } else { self.in_chunks::<{ 2 * SHORT }>() } }
    }
}

impl<T: Copy> Reversed<T> {
    /// `W` elements at a time; the last ones may be some of those before them.
    ///
    /// # Safety
    /// Our duties. A row has at least `W` elements.
    #[inline(always)]
    unsafe fn in_chunks<const W: usize>(self) {
        let CopyTile { n: [n, rows, _], s: [so, sa], a, o } = self.0;
        let from_start = |stride: isize| if stride < 0 { 1 - n as isize } else { 0 };
        for row in 0..rows as isize {
            // SAFETY: duties 1 and 2: rows of `n` elements on both sides.
            unsafe {
                let (a, o) = (a.offset(row * sa[1] + from_start(sa[0])), o.offset(row * so[1] + from_start(so[0])));
                for i in (0..n).step_by(W) {
                    let at = i.min(n - W);
                    let mut part = a.add(n - W - at).cast::<[T; W]>().read();
                    part.reverse();
                    o.add(at).cast::<[T; W]>().write(part);
                }
            }
        }
    }
}

/// A tile whose rows are contiguous on both sides, of elements of `size` bytes. How a row is copied is chosen once:
/// for each it takes as long as a short one does.
///
/// # Safety
/// Those of a [`CopyTile`] of elements of this size.
#[inline(never)]
unsafe fn copy_rows([n, rows, planes]: [usize; 3], size: usize, s: [[isize; 3]; 2], a: *const u8, o: *mut u8) {
    let (bytes, [so, sa]) = (n * size, s.map(|s| s.map(|elements| elements.wrapping_mul(size as isize))));
    // A function of each size, since the compiler knows it there.
    macro_rules! each_row {
        ($bytes:expr) => {
            for plane in 0..planes as isize {
                let (a, o) = (a.wrapping_offset(plane * sa[2]), o.wrapping_offset(plane * so[2]));
                for row in 0..rows as isize {
                    // SAFETY: duties 1 and 2: rows of so many bytes on both sides.
                    unsafe { copy_run(a.offset(row * sa[1]), o.offset(row * so[1]), $bytes) };
                }
            }
        };
    }
    match bytes {
        4 => each_row!(4),
        8 => each_row!(8),
        12 => each_row!(12),
        16 => each_row!(16),
        32 => each_row!(32),
        64 => each_row!(64),
        128 => each_row!(128),
        _ => each_row!(bytes),
    }
}

/// Elements from which on, along both axes, numbers are transposed in vectors.
const VECTOR: usize = 4;

/// A transpose of elements of the size of `T`, in vectors: `o[r * ldo + i] = a[i * lda + r]` for `i < n`, `r < rows`.
/// Duties: 1-3 of [`copy_strided`].
struct Transpose<T> {
    n: usize,
    rows: usize,
    a: *const T,
    lda: isize,
    o: *mut T,
    ldo: isize,
}

impl<T> Transpose<T> {
    /// A tile that is a transpose.
    fn of<A>(tile: &CopyTile<A>) -> Self {
        debug_assert_eq!(size_of::<T>(), size_of::<A>());
        let CopyTile { n: [n, rows, _], s: [so, sa], a, o } = *tile;
        Self { n, rows, a: a.cast(), lda: sa[0], o: o.cast(), ldo: so[1] }
    }
}

/// So many rows of the output are written beside each other from end to end: where rows are some pages apart, the lines
/// of more would drive one another out of the caches before they are whole.
const NEAR: usize = 16;

impl<T: Real> Transpose<T> {
    /// In the widest vectors that both sides fill.
    ///
    /// # Safety
    /// Our duties.
    #[inline]
    unsafe fn run_at(self, level: InstructionSet) {
        let level = level.filled_by(self.n.min(self.rows) * size_of::<T>());
        // SAFETY: ours.
        unsafe { for_isa(level, self) }
    }
}

impl<T: Real> Task for Transpose<T> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Transpose { n, rows, a, lda, o, ldo } = self;
        let len = T::Vector::<S>::LEN;
        debug_assert!(n.min(rows) >= len);
        // The last squares end with the tile, and repeat some of what was copied before.
        for first in (0..rows).step_by(NEAR) {
            for i in (0..n).step_by(len) {
                let i = i.min(n - len) as isize;
                for r in (first..rows.min(first + NEAR)).step_by(len) {
                    let r = r.min(rows - len) as isize;
                    // SAFETY: (1) Task 2; (2, 3) duties 1 and 2: a square within the tile.
                    unsafe { T::Vector::<S>::transpose(a.offset(i * lda + r), lda, o.offset(r * ldo + i), ldo) };
                }
            }
        }
    }
}

/// `o[r * ldo + i] = a[i * lda + r]` for `i < n`, `r < rows`.
///
/// # Safety
/// As [`copy_strided`].
#[inline(always)]
unsafe fn transpose<T: Copy>(n: usize, rows: usize, a: *const T, lda: isize, o: *mut T, ldo: isize) {
    let (whole_n, whole_rows) = (n - n % SQUARE, rows - rows % SQUARE);
    for i in (0..whole_n).step_by(SQUARE) {
        for r in (0..whole_rows).step_by(SQUARE) {
            let mut square = [[MaybeUninit::<T>::uninit(); SQUARE]; SQUARE];
            for (y, line) in square.iter_mut().enumerate() {
                // SAFETY: duty 1: `SQUARE` contiguous elements of the input within the tile.
                *line =
                    unsafe { a.offset((i + y) as isize * lda + r as isize).cast::<[MaybeUninit<T>; SQUARE]>().read() };
            }
            #[allow(clippy::needless_range_loop)] // a column of `square`: there is no iterator over it
            for x in 0..SQUARE {
                let mut line = [MaybeUninit::<T>::uninit(); SQUARE];
                for y in 0..SQUARE {
                    line[y] = square[y][x];
                }
                // SAFETY: duties 1 and 2: `SQUARE` contiguous elements of the output within the tile.
                unsafe { o.offset((r + x) as isize * ldo + i as isize).cast::<[MaybeUninit<T>; SQUARE]>().write(line) };
            }
        }
    }
    for r in 0..rows {
        let from = if r < whole_rows { whole_n } else { 0 };
        for i in from..n {
            // SAFETY: duty 1: a position of the tile.
            unsafe { *o.offset(r as isize * ldo + i as isize) = *a.offset(i as isize * lda + r as isize) };
        }
    }
}

/// The rows of several matrices beside each other: row `r` of the output is row `r` of each part, one after the other.
/// A part is its first byte and how many bytes its rows have; rows follow one another without gaps, on both sides.
///
/// # Safety
/// 1. Each part is readable for `rows` rows of its bytes, and `o` is writable for all of these. 2. `o` overlaps no
///    part.
pub unsafe fn join_rows(rows: usize, parts: &[(*const u8, usize)], o: *mut u8) {
    let width: usize = parts.iter().map(|&(_, bytes)| bytes).sum();
    let parts: SmallVec<[_; 8]> = parts.iter().map(|&(a, bytes)| (SharedPtr(a.cast_mut()), bytes)).collect();
    let o = SharedPtr(o);
    split(rows, 1, copying(rows * width), &|rows| {
        // SAFETY: (JoinRows 1, 2) our duties, for some of the rows, which no other piece has.
        unsafe { for_isa(InstructionSet::detect(), JoinRows { rows, width, parts: &parts, o: o.get() }) }
    });
}

/// Duties: 1 and 2 of [`join_rows`], for these rows.
struct JoinRows<'a> {
    rows: Range<usize>,
    width: usize,
    parts: &'a [(SharedPtr<u8>, usize)],
    o: *mut u8,
}

impl Task for JoinRows<'_> {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        for row in self.rows {
            let mut at = row * self.width;
            for &(a, bytes) in self.parts {
                // SAFETY: duties 1 and 2: a row of the part, and its place in the row of the output.
                unsafe { copy_run(a.get().add(row * bytes), self.o.add(at), bytes) };
                at += bytes;
            }
        }
    }
}

/// The rows that `index` names, one after the other; false, with some left out, if one is not from 0 to `rows - 1`.
/// They have `width` bytes and are `step` bytes apart. Each value of the index is read once, so that what is checked is
/// what is used.
///
/// # Safety
/// 1. `a` is readable for `rows` rows, and `o` writable for as many as `index` names, without gaps. 2. `o` overlaps
///    neither `a` nor `index`.
pub unsafe fn pick_rows(index: &[i64], rows: usize, a: *const u8, step: isize, width: usize, o: *mut u8) -> bool {
    /// What a row takes in nanoseconds beside the copy.
    const ROW_COST: f64 = 2.0;
    let (wrong, a, o) = (AtomicBool::new(false), SharedPtr(a.cast_mut()), SharedPtr(o));
    let cost = index.len() as f64 * ROW_COST + copying(index.len() * width);
    split(index.len(), 1, cost, &|piece| {
        // SAFETY: duty 1: the rows of the piece are within those of all.
        let o = unsafe { o.get().add(piece.start * width) };
        let task = PickRows { index: &index[piece], rows, a: a.get().cast_const(), step, width, o };
        // SAFETY: (PickRows 1, 2) our duties, for rows which no other piece has.
        if !unsafe { for_isa(InstructionSet::detect(), task) } {
            wrong.store(true, Ordering::Relaxed);
        }
    });
    !wrong.into_inner()
}

/// Duties: 1 and 2 of [`pick_rows`], for this part of the index.
struct PickRows<'a> {
    index: &'a [i64],
    rows: usize,
    a: *const u8,
    step: isize,
    width: usize,
    o: *mut u8,
}

impl Task for PickRows<'_> {
    type Out = bool;
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> bool {
        /// How many rows ahead memory is asked for.
        const AHEAD: usize = 8;
        let PickRows { index, rows, a, step, width, mut o } = self;
        let mut offsets = [0isize; CHUNK];
        for chunk in index.chunks(CHUNK) {
            let mut all = true;
            for (offset, i) in offsets.iter_mut().zip(chunk) {
                let i = read_once(i);
                // A negative one is larger than any number of rows.
                all &= i.cast_unsigned() < rows as u64;
                *offset = (i as isize).wrapping_mul(step);
            }
            if !all {
                return false;
            }
            let offsets = &offsets[..chunk.len()];
            for (k, &offset) in offsets.iter().enumerate() {
                if let Some(&next) = offsets.get(k + AHEAD) {
                    prefetch_lines::<4, u8>(a.wrapping_offset(next));
                }
                // SAFETY: duty 1: a row of `a`, as was checked, and the next one of `o`; duty 2.
                unsafe {
                    copy_run(a.offset(offset), o, width);
                    o = o.add(width);
                }
            }
        }
        true
    }
}

/// Copies some bytes, few of them without a call; the last block overlaps the one before.
///
/// Not by `memcpy`: that of glibc has instructions for long copies (`rep movsb`, from 2 KB on) which take Zen cores ten
/// times as long where the destination begins a few bytes further into its page than the source.
///
/// # Safety
/// 1. `a` is readable and `o` writable for `n` bytes. 2. They do not overlap.
#[inline(always)]
pub unsafe fn copy_run(a: *const u8, o: *mut u8, n: usize) {
    type Block = [MaybeUninit<u8>; 32];
    const LEN: usize = size_of::<Block>();
    /// Blocks that are read together: the compiler makes a call of a loop over single ones.
    const MANY: usize = 4;
    // SAFETY: duties 1 and 2; blocks are within the `n` bytes.
    unsafe {
        if n >= LONG {
            return copy_long(a, o, n);
        }
        if n < LEN {
            return match n {
                16.. => copy_ends::<16>(a, o, n),
                8.. => copy_ends::<8>(a, o, n),
                4.. => copy_ends::<4>(a, o, n),
                2.. => copy_ends::<2>(a, o, n),
                1 => copy_ends::<1>(a, o, n),
                0 => {}
            };
        }
        let mut at = 0;
        while at + MANY * LEN <= n {
            let blocks: [Block; MANY] = a.add(at).cast::<[Block; MANY]>().read_unaligned();
            o.add(at).cast::<[Block; MANY]>().write_unaligned(blocks);
            at += MANY * LEN;
        }
        while at < n {
            let from = at.min(n - LEN);
            o.add(from).cast::<Block>().write_unaligned(a.add(from).cast::<Block>().read_unaligned());
            at += LEN;
        }
    }
}

/// Bytes that are copied in the longest vectors, which takes a call.
const LONG: usize = 1024;

/// [`copy_run`] of at least [`LONG`] bytes.
///
/// # Safety
/// As [`copy_run`].
#[inline(never)]
unsafe fn copy_long(a: *const u8, o: *mut u8, n: usize) {
    // SAFETY: ours, and at least so many bytes.
    unsafe { for_isa(InstructionSet::detect(), Long { a, o, n }) }
}

/// A copy in vectors, which begin where lines do in the output.
///
/// Duties: 1. Those of [`copy_run`]. 2. There are more bytes than eight vectors have.
struct Long {
    a: *const u8,
    o: *mut u8,
    n: usize,
}

impl Task for Long {
    type Out = ();
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        /// Vectors that are read together.
        const MANY: usize = 4;
        let (Self { a, o, n }, len) = (self, S::F32::LEN * size_of::<f32>());
        // SAFETY: (1) our duty 2 of tasks; every vector is within the `n` bytes, whatever they are: they are no numbers
        // here.
        unsafe {
            S::F32::load(a.cast()).store(o.cast());
            let mut at = len - o as usize % len;
            while at + MANY * len <= n {
                let x: [S::F32; MANY] = std::array::from_fn(|i| S::F32::load(a.add(at + i * len).cast()));
                for (i, x) in x.into_iter().enumerate() {
                    x.store(o.add(at + i * len).cast());
                }
                at += MANY * len;
            }
            while at < n {
                let from = at.min(n - len);
                S::F32::load(a.add(from).cast()).store(o.add(from).cast());
                at += len;
            }
        }
    }
}

/// Copies the first `N` and the last `N` bytes of `n`, which may be some of the first again.
///
/// # Safety
/// 1. As [`copy_run`], and `n` is at least `N`.
#[inline(always)]
unsafe fn copy_ends<const N: usize>(a: *const u8, o: *mut u8, n: usize) {
    type Bytes<const N: usize> = [MaybeUninit<u8>; N];
    // SAFETY: duty 1: bytes within the `n`.
    unsafe {
        let first: Bytes<N> = a.cast::<Bytes<N>>().read_unaligned();
        let last: Bytes<N> = a.add(n - N).cast::<Bytes<N>>().read_unaligned();
        o.cast::<Bytes<N>>().write_unaligned(first);
        o.add(n - N).cast::<Bytes<N>>().write_unaligned(last);
    }
}

/// Repeats the first `cycle` bytes until there are `all`.
///
/// # Safety
/// 1. `o` is writable for `all` bytes, the first `cycle` of which are initialised, or all if there are no more.
#[inline]
pub unsafe fn repeat(o: *mut u8, cycle: usize, all: usize) {
    // As much again as there is already, as long as it is near.
    let most = REPEATED.next_multiple_of(cycle.max(1));
    let mut done = cycle.min(all);
    while done < all && done > 0 {
        let count = done.min(all - done).min(most);
        // SAFETY: duty 1: the first `count` bytes are there, and `count` more have space behind the first `done`.
        unsafe { std::ptr::copy_nonoverlapping(o, o.add(done), count) };
        done += count;
    }
}

/// Sets every element.
///
/// # Safety
/// 1. `o` is writable at every position of `sizes` under its strides.
pub unsafe fn fill<T: Copy>(value: T, sizes: &[usize], o: *mut T, o_strides: &[isize]) {
    let axes: Axes<1> = plan(sizes, [o_strides]);
    let inner = axis(&axes, 0);
    for [po] in Offsets::new(axes.get(1..).unwrap_or(&[])) {
        // SAFETY: duty 1: the offset, and the inner axis from it, are positions of `sizes`.
        unsafe {
            let o = o.offset(po);
            if inner.strides[0] == 1 {
                std::slice::from_raw_parts_mut(o.cast(), inner.size).fill(MaybeUninit::new(value));
            } else {
                for i in 0..inner.size as isize {
                    *o.offset(i * inner.strides[0]) = value;
                }
            }
        }
    }
}
