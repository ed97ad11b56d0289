//! Fourier transforms of lengths that are products of small numbers, in vectors.
//!
//! Vectors hold the same place of columns that lie side by side, so no step of a transform moves a number from one lane
//! to another. A contiguous line is taken as a matrix, row by row: its columns are transformed, then multiplied by
//! roots of unity, and then its rows, as the columns of the transposed matrix, whose result is in order (D. H. Bailey,
//! "FFTs in external or hierarchical memory", J. Supercomputing 4 (1990)). Lines that lie side by side are columns
//! already.
//!
//! A line's result does not depend on the lines beside it, nor on its place among them.

/// Without vectors these steps are made for tests alone.
macro_rules! plain_in_tests_alone {
    () => {
        #[cfg(not(test))]
        unsafe fn plain(self) {
            unreachable!("no plan is made for a CPU without vectors")
        }
    };
}

mod butterfly;
mod long;
mod real;
mod steps;
#[cfg(test)]
mod tests;

pub use long::LongPlan;
pub use real::RealPlan;
pub use steps::Transformed;

use crate::real::Real;
use crate::simd::{InstructionSet, Isa, Task, Vector, for_isa};
use steps::{Input, Multiplied, Output, Pairs, Planes, Steps, columns, last_plane, radices, root};

/// The longest lines: a longer one's matrix does not fit in the caches of a core.
const LONGEST: usize = 1 << 17;

/// Numbers in a cache line, the longest vector: rows are multiples of it.
const fn pad<T>() -> usize {
    64 / size_of::<T>()
}

fn padded<T>(n: usize) -> usize {
    n.next_multiple_of(pad::<T>())
}

/// A table that begins on a cache line.
struct Table<T> {
    numbers: Vec<T>,
    start: usize,
}

impl<T: Real> Table<T> {
    fn zeros(n: usize) -> Self {
        let numbers = vec![T::ZERO; n + pad::<T>()];
        let start = numbers.as_ptr().align_offset(64).min(pad::<T>());
        Self { numbers, start }
    }
    fn set(&mut self, at: usize, x: f64) {
        self.numbers[self.start + at] = T::of(x);
    }
    fn ptr(&self) -> *mut T {
        self.numbers[self.start..].as_ptr().cast_mut()
    }
}

/// Two pairs of planes of `area` numbers each, in memory of four times as many and a cache line.
fn planes<T>(work: *mut T, area: usize, step: usize) -> [Planes<T>; 2] {
    let start = work.wrapping_add(work.align_offset(64).min(pad::<T>()));
    let plane = |i: usize| start.wrapping_add(i * area);
    [0, 2].map(|i| Planes { re: plane(i), im: plane(i + 1), step })
}

/// The transform of contiguous lines of one length.
pub struct Plan<T> {
    level: InstructionSet,
    n: usize,
    rows: usize,
    columns: usize,
    first: Steps<T>,
    second: Steps<T>,
    /// Planes of `exp(-2 pi i j k / n)` for row `j` and column `k`.
    twiddles: Table<T>,
}

impl<T: Transformed> Plan<T> {
    /// The transform of lines of `n` complex numbers; None for lengths, or for a CPU, that this is not good for.
    pub fn new(n: usize) -> Option<Self> {
        let level = InstructionSet::detect();
        if level == InstructionSet::BASELINE || n < pad::<T>() * pad::<T>() / 4 || n > LONGEST {
            return None;
        }
        Self::at(level, n)
    }

    /// [`Plan::new`] with the instructions of `level`, and of whatever length has steps.
    fn at(level: InstructionSet, n: usize) -> Option<Self> {
        // Steps times numbers, padding among them.
        let cost = |rows: usize| {
            let columns = n / rows;
            let [first, second] = [radices(rows)?.len(), radices(columns)?.len()];
            Some((first * rows * padded::<T>(columns) + second * columns * padded::<T>(rows), rows))
        };
        let (_, rows) = (2..n).filter(|rows| n.is_multiple_of(*rows)).filter_map(cost).min()?;
        let columns = n / rows;
        let (first, second) = (Steps::new(rows)?, Steps::new(columns)?);
        let step = padded::<T>(columns);
        let mut twiddles = Table::zeros(2 * rows * step);
        for j in 0..rows {
            for k in 0..columns {
                let (re, im) = root(j * k, n);
                twiddles.set(j * step + k, re);
                twiddles.set((rows + j) * step + k, im);
            }
        }
        Some(Self { level, n, rows, columns, first, second, twiddles })
    }

    /// Numbers of a plane, of which real lines want room beside the line: not a multiple of a page.
    fn area(&self) -> usize {
        (padded::<T>(self.rows) * padded::<T>(self.columns)).max(padded::<T>(self.n) + 4 * pad::<T>()) + 2 * pad::<T>()
    }

    /// Numbers of type `T` of memory that a transform works in, of arbitrary values.
    pub fn work(&self) -> usize {
        4 * self.area() + pad::<T>()
    }

    /// `to[k] = scale * sum of from[j] exp(-2 pi i j k / n)` for a line of complex numbers, or `+2 pi i` for the
    /// inverse.
    ///
    /// # Safety
    /// 1. `from` is readable and initialised, `to` writable, for `n` complex numbers, and `work` for as many numbers as
    ///    [`Plan::work`] says. 2. `to` is `from` or disjoint from it, and `work` disjoint from both.
    pub unsafe fn run(&self, inverse: bool, scale: T, from: *const T, to: *mut T, work: *mut T) {
        let from = Input::Pairs(self.line(from.cast_mut(), inverse));
        // SAFETY: (1) duties 1 and 2: all of a line is read before some of it is written; (2) duty 1.
        unsafe { self.matrix(from, Output::Pairs(self.transposed_line(to, inverse, scale)), work) }
    }

    /// Memory of `work` as planes of the matrix.
    fn planes(&self, work: *mut T) -> [Planes<T>; 2] {
        planes(work, self.area(), padded::<T>(self.columns))
    }

    /// The planes that the last step neither reads nor writes, if it writes elsewhere.
    fn free(&self, work: *mut T) -> Planes<T> {
        let transposed = last_plane(&self.first);
        // The second transform's planes are in this order.
        let order = [1 - transposed, transposed];
        self.planes(work)[order[1 - last_plane(&self.second)]]
    }

    /// The transform of what `from` has, as rows of the matrix, to rows of the transposed one in `to`.
    ///
    /// # Safety
    /// 1. Duties of `load` and `store`. 2. `work` is writable for as many numbers as [`Plan::work`] says; of its planes
    ///    `from` may be the second, and `to` within those that [`Plan::free`] says.
    unsafe fn matrix(&self, from: Input<T>, to: Output<T>, work: *mut T) {
        let (rows, columns_) = (self.rows, self.columns);
        let all = self.planes(work);
        let step = padded::<T>(columns_);
        let twiddles = self.twiddles.ptr();
        let by = Planes { re: twiddles, im: twiddles.wrapping_add(rows * step), step };
        let last = last_plane(&self.first);
        let (product, to_step) = (all[1 - last], padded::<T>(rows));
        let [back, turned] = [product, all[last]].map(|planes| Planes { step: to_step, ..planes });
        // SAFETY: ours; planes have room for the matrix and for the transposed one, each padded, and whole vectors of
        // rows are transposed.
        unsafe {
            columns(self.level, &self.first, columns_, from, all, Output::Multiplied(Multiplied { to: product, by }));
            // What is beyond the last row is computed with, too.
            for plane in [product.re, product.im] {
                plane.add(rows * step).write_bytes(0, (to_step - rows) * step);
            }
            for_isa(self.level, Transposed { from: product, rows, columns: columns_, to: turned });
            columns(self.level, &self.second, rows, Input::Planes(turned), [back, turned], to);
        }
    }

    /// A line as rows of the matrix.
    fn line(&self, at: *mut T, inverse: bool) -> Pairs<T> {
        Pairs { at, step: self.columns as isize, width: self.columns, scale: signs(inverse, T::ONE) }
    }

    /// A line as rows of the transposed matrix.
    fn transposed_line(&self, at: *mut T, inverse: bool, scale: T) -> Pairs<T> {
        Pairs { at, step: self.rows as isize, width: self.rows, scale: signs(inverse, scale) }
    }
}

/// What both parts are multiplied by; the inverse takes conjugates.
fn signs<T: Real>(inverse: bool, scale: T) -> [T; 2] {
    [scale, if inverse { scale.neg() } else { scale }]
}

/// The transposed matrix, of whole vectors of rows and columns.
///
/// Duties: planes are readable and writable for as many; `to` is disjoint from `from`.
struct Transposed<T> {
    from: Planes<T>,
    rows: usize,
    columns: usize,
    to: Planes<T>,
}

impl<T: Real> Task for Transposed<T> {
    type Out = ();
    const WIDE: bool = true;
    plain_in_tests_alone!();

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { from, rows, columns, to } = self;
        for column in (0..columns).step_by(T::Vector::<S>::LEN) {
            for row in (0..rows).step_by(T::Vector::<S>::LEN) {
                for (src, dst) in [(from.re, to.re), (from.im, to.im)] {
                    // SAFETY: Task 2, and our duties.
                    unsafe {
                        let (src, dst) = (src.add(row * from.step + column), dst.add(column * to.step + row));
                        T::Vector::<S>::transpose(src, from.step as isize, dst, to.step as isize);
                    }
                }
            }
        }
    }
}

/// The transform of lines that lie side by side.
pub struct ColumnPlan<T> {
    level: InstructionSet,
    n: usize,
    steps: Steps<T>,
}

impl<T: Transformed> ColumnPlan<T> {
    /// Lines that are transformed together, or fewer.
    pub const LINES: usize = pad::<T>();

    /// The transform of lines of `n` complex numbers; None for lengths, or for a CPU, that this is not good for.
    pub fn new(n: usize) -> Option<Self> {
        let level = InstructionSet::detect();
        if level == InstructionSet::BASELINE || n > LONGEST {
            return None;
        }
        Self::at(level, n)
    }

    fn at(level: InstructionSet, n: usize) -> Option<Self> {
        Some(Self { level, n, steps: Steps::new(n)? })
    }

    fn area(&self) -> usize {
        self.n * Self::LINES + 2 * pad::<T>()
    }

    /// Numbers of type `T` of memory that a transform works in, of arbitrary values.
    pub fn work(&self) -> usize {
        4 * self.area() + pad::<T>()
    }

    /// As [`Plan::run`] for each of `lines` lines, at most [`ColumnPlan::LINES`], the first of which begin at `from`
    /// and `to`; the next numbers of a line are `steps` complex numbers further in either.
    ///
    /// # Safety
    /// 1. As [`Plan::run`], for all of these lines. 2. Lines of `to` may be those of `from`, and are disjoint from all
    ///    others.
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn run(
        &self,
        inverse: bool,
        scale: T,
        lines: usize,
        from: *const T,
        to: *mut T,
        steps: [isize; 2],
        work: *mut T,
    ) {
        assert!(lines <= Self::LINES, "lines that fit the memory");
        let pairs = |at, step, scale| Pairs { at, step, width: lines, scale: signs(inverse, scale) };
        let (from, to) = (pairs(from.cast_mut(), steps[0], T::ONE), pairs(to, steps[1], scale));
        let planes = planes(work, self.area(), padded::<T>(lines));
        // SAFETY: (1) rows of the planes are at most `LINES` numbers; (2) duties 1 and 2; (3) both are disjoint from
        // the memory that it works in.
        unsafe { columns(self.level, &self.steps, lines, Input::Pairs(from), planes, Output::Pairs(to)) }
    }
}
