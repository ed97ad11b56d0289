//! Lines that do not fit a core's cache, in parts that several threads can take.

use super::steps::{Input, Output, Pairs, Planes, Steps, Transformed, Turned, columns, radices, root};
use super::{Table, Transposed, pad, padded, planes, signs};
use crate::simd::{InstructionSet, for_isa};

/// The longest side of a line's matrix: as many columns as fill a cache line are worked on together, in the cache.
const LONGEST_SIDE: usize = 1 << 12;

/// Columns of a block: pieces of rows that are long enough for memory, where each is on a page of its own.
const fn width<T>() -> usize {
    4 * pad::<T>()
}

/// The transform of contiguous lines of one length, in two passes over memory. A line is taken as a matrix, row by row:
/// the first pass transforms its columns and multiplies them by roots of unity, the second one the rows (see
/// [`super`]). Both are divided into blocks, which may be computed in any order and on any thread.
pub struct LongPlan<T> {
    level: InstructionSet,
    n: usize,
    rows: usize,
    columns: usize,
    first: Steps<T>,
    second: Steps<T>,
    /// Planes of `exp(-2 pi i j k / n)` for row `j` and the columns `k` of the first block.
    near: Table<T>,
    /// Pairs of `exp(-2 pi i j b / n)` for row `j` and the first column `b` of each block, block by block.
    far: Table<T>,
}

impl<T: Transformed> LongPlan<T> {
    /// Lines of at most so many numbers have no such plan.
    pub const NEAR: usize = super::LONGEST;

    /// The transform of lines of `n` complex numbers; None for lengths, or for a CPU, that this is not good for.
    pub fn new(n: usize) -> Option<Self> {
        let level = InstructionSet::detect();
        if level == InstructionSet::BASELINE || n <= Self::NEAR {
            return None;
        }
        Self::at(level, n)
    }

    /// [`LongPlan::new`] with the instructions of `level`, and of whatever length has steps.
    pub(super) fn at(level: InstructionSet, n: usize) -> Option<Self> {
        // A matrix that is nearly square: what a block works in is small.
        let cost = |rows: usize| {
            let columns = n / rows;
            let steps = radices(rows)?.len() + radices(columns)?.len();
            (rows.max(columns) <= LONGEST_SIDE).then_some((rows.max(columns), steps, rows))
        };
        let sides = 2..=LONGEST_SIDE.min(n / 2);
        let (_, _, rows) = sides.filter(|rows| n.is_multiple_of(*rows)).filter_map(cost).min()?;
        let columns = n / rows;
        let (first, second) = (Steps::new(rows)?, Steps::new(columns)?);
        let width = width::<T>();
        let (mut near, mut far) = (Table::zeros(2 * rows * width), Table::zeros(2 * rows * columns.div_ceil(width)));
        for j in 0..rows {
            for k in 0..width {
                let (re, im) = root(j * k % n, n);
                near.set(j * width + k, re);
                near.set((rows + j) * width + k, im);
            }
            for block in 0..columns.div_ceil(width) {
                let (re, im) = root(j * block * width % n, n);
                far.set(2 * (block * rows + j), re);
                far.set(2 * (block * rows + j) + 1, im);
            }
        }
        Some(Self { level, n, rows, columns, first, second, near, far })
    }

    /// Complex numbers of a line.
    pub fn length(&self) -> usize {
        self.n
    }

    /// Blocks of the first pass and of the second.
    pub fn blocks(&self) -> [usize; 2] {
        [self.columns, self.rows].map(|side| side.div_ceil(width::<T>()))
    }

    /// From one row of the matrix between the passes to the next: not a multiple of a page.
    fn step(&self) -> usize {
        self.columns.next_multiple_of(width::<T>()) + pad::<T>()
    }

    fn plane(&self) -> usize {
        self.rows.next_multiple_of(width::<T>()) * self.step()
    }

    /// Numbers of type `T` of the memory between the passes.
    pub fn between(&self) -> usize {
        2 * self.plane() + pad::<T>()
    }

    fn between_planes(&self, memory: *mut T) -> Planes<T> {
        let re = memory.wrapping_add(memory.align_offset(64).min(pad::<T>()));
        Planes { re, im: re.wrapping_add(self.plane()), step: self.step() }
    }

    fn area(&self) -> usize {
        self.rows.max(padded::<T>(self.columns)) * width::<T>() + 2 * pad::<T>()
    }

    /// Numbers of type `T` of memory that a block works in, of arbitrary values.
    pub fn work(&self) -> usize {
        4 * self.area() + pad::<T>()
    }

    /// A block of the first pass: from the line to the memory between.
    ///
    /// # Safety
    /// 1. `from` is readable and initialised for a line, and `between` and `work` are writable for as many numbers as
    ///    [`LongPlan::between`] and [`LongPlan::work`] say. 2. They are disjoint; other blocks of this pass alone may
    ///    use `from` and `between` meanwhile.
    pub unsafe fn first(&self, inverse: bool, block: usize, from: *const T, between: *mut T, work: *mut T) {
        assert!(block < self.blocks()[0], "a block of the first pass");
        let width = width::<T>();
        let column = block * width;
        let count = width.min(self.columns - column);
        let from = Pairs {
            at: from.cast_mut().wrapping_add(2 * column),
            step: self.columns as isize,
            width: count,
            scale: signs(inverse, T::ONE),
        };
        let to = self.between_planes(between);
        let to = Planes { re: to.re.wrapping_add(column), im: to.im.wrapping_add(column), step: to.step };
        let near = self.near.ptr();
        let by = Planes { re: near, im: near.wrapping_add(self.rows * width), step: width };
        let rows = self.far.ptr().wrapping_add(2 * block * self.rows).cast_const();
        let all = planes(work, self.area(), width);
        // SAFETY: (1) planes of `LongPlan::area`; (2) duties 1 and 2: rows between the passes go on to the end of a
        // block, and so do those of the tables; (3) they are disjoint.
        unsafe {
            columns(self.level, &self.first, count, Input::Pairs(from), all, Output::Turned(Turned { to, by, rows }))
        }
    }

    /// A block of the second pass: from the memory between, which the first one has filled, to the result, times
    /// `scale`.
    ///
    /// # Safety
    /// 1. All blocks of the first pass were computed. 2. As of [`LongPlan::first`], of `to`, which is writable, in
    ///    place of `from`.
    pub unsafe fn second(&self, inverse: bool, scale: T, block: usize, between: *const T, to: *mut T, work: *mut T) {
        assert!(block < self.blocks()[1], "a block of the second pass");
        let width = width::<T>();
        let row = block * width;
        let count = width.min(self.rows - row);
        let from = self.between_planes(between.cast_mut());
        let from = Planes {
            re: from.re.wrapping_add(row * from.step),
            im: from.im.wrapping_add(row * from.step),
            step: from.step,
        };
        // The first step reads the second of the planes, and writes to the first.
        let all = planes(work, self.area(), width);
        let to = Pairs {
            at: to.wrapping_add(2 * row),
            step: self.rows as isize,
            width: count,
            scale: signs(inverse, scale),
        };
        // SAFETY: whole vectors of rows and columns, which both planes have room for: what is beyond the last row or
        // column is arbitrary, and counts for no result; (1) planes of `LongPlan::area`; (2) duties 1 and 2; (3) the
        // result is disjoint from the planes.
        unsafe {
            for_isa(self.level, Transposed { from, rows: width, columns: self.columns, to: all[1] });
            columns(self.level, &self.second, count, Input::Planes(all[1]), all, Output::Pairs(to));
        }
    }
}
