//! The loops over an index: rows of runs of elements, copied or combined between the places that an index names and
//! row-major memory.
//!
//! What differs between walks (how long a run is, whether its elements are next to one another) is decided once for a
//! whole rectangle. A run of few bytes is one load and one store, and the loop around it has neither a call nor a
//! prefetch in it.

use std::ops::Range;

use crate::kernels::pointwise::copy_run;
use crate::kernels::simd::{InstructionSet, Isa, SimdElement, Task, for_isa, prefetch_lines};
use crate::kernels::strided::{Axis, Offsets, axis};

/// How many runs ahead memory is asked for.
const AHEAD: usize = 8;

/// How many rows are walked together, so that an offset is loaded once for all of them, and neighbours in memory are
/// reached one after the other. More of them are often in each other's way in the cache: columns of 1024 by 1024
/// column-major float32 are read in 0.67 ms by 4 rows, in 3.3 ms by 16, and in 3.8 ms row by row.
const TOGETHER: usize = 4;

/// Rows of no more runs are walked together wherever they are: the loop over one of them takes as long as its runs.
const SHORT: usize = 32;

/// Some rows, and some of the runs of each. Offsets are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Rectangle {
    /// Number of the first run among those of all rows.
    pub at: usize,
    /// Offset of the first row.
    pub base: isize,
    pub rows: usize,
    /// From one row to the next: offset, and number of a run.
    pub step: isize,
    pub len: usize,
    /// The runs in each row: the first one, and how many.
    pub first: usize,
    pub count: usize,
}

/// Calls `f` for rectangles that together are the named ones of all runs, in order. The rows are the positions of
/// `axes`, and each of them has `len` runs.
#[inline(always)]
pub fn rectangles(axes: &[Axis<1>], len: usize, runs: Range<usize>, mut f: impl FnMut(Rectangle)) {
    if runs.is_empty() {
        return;
    }
    let (mut at, inner) = (runs.start, axis(axes, 0));
    let (outer, row) = (axes.get(1..).unwrap_or(&[]), at / len);
    let mut skipped = row % inner.size;
    for [outer] in Offsets::starting_at(outer, row / inner.size) {
        let step = inner.strides[0];
        // At most a part of a row, whole rows, and a part of another.
        while skipped < inner.size {
            let (first, left) = (at % len, runs.end - at);
            let whole = (left / len).min(inner.size - skipped);
            let (rows, count) = if first > 0 || whole == 0 { (1, left.min(len - first)) } else { (whole, len) };
            f(Rectangle { at, base: outer + skipped as isize * step, rows, step, len, first, count });
            (at, skipped) = (at + rows * count, skipped + rows);
            if at == runs.end {
                return;
            }
        }
        skipped = 0;
    }
}

/// What is done with each run of a rectangle. Implementors mark the functions `#[inline(always)]`.
trait Each {
    /// Of a run that is soon to come.
    #[inline(always)]
    fn ahead(&self, _offset: isize) {}

    /// Of the run with this offset and number.
    ///
    /// # Safety
    /// 1. The duties written on the implementing type hold for the run.
    unsafe fn run(&self, offset: isize, number: usize);
}

impl Rectangle {
    /// The runs are at the offsets of their rows plus these. Rows are walked together if `together`: then runs of
    /// different rows come in another order than the row-major one.
    ///
    /// # Safety
    /// 1. The duties written on the type of `each` hold for all runs.
    #[inline(always)]
    unsafe fn walk(&self, offsets: &[i64], together: bool, each: &impl Each) {
        let whole = if together { self.rows / TOGETHER * TOGETHER } else { 0 };
        // SAFETY: (1) ours.
        unsafe {
            self.part::<TOGETHER>(0..whole, offsets, each);
            self.part::<1>(whole..self.rows, offsets, each);
        }
    }

    /// # Safety
    /// 1. As for [`Rectangle::walk`].
    #[inline(always)]
    unsafe fn part<const ROWS: usize>(&self, rows: Range<usize>, offsets: &[i64], each: &impl Each) {
        let mut row = rows.start;
        while row < rows.end {
            let (base, at) = (self.base + row as isize * self.step, self.at + row * self.len);
            for (k, &offset) in offsets.iter().enumerate() {
                if let Some(&next) = offsets.get(k + AHEAD) {
                    each.ahead(base + next as isize);
                }
                for r in 0..ROWS {
                    // SAFETY: (1) ours.
                    unsafe { each.run(base + r as isize * self.step + offset as isize, at + r * self.len + k) };
                }
            }
            row += ROWS;
        }
    }
}

/// A run of a walk: how many elements it has, how many bytes are from one to the next in the tensor, and how many each
/// has.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub n: usize,
    pub step: isize,
    pub width: usize,
}

impl Run {
    /// The bytes of a run, if they are next to one another in the tensor too.
    fn block(self) -> Option<usize> {
        (self.n == 1 || self.step == self.width as isize).then_some(self.n * self.width)
    }

    /// Whether rows are walked together: they are short, or neighbours in memory, which runs of a row are not.
    fn is_together(self, rectangle: &Rectangle) -> bool {
        self.n == 1 && (rectangle.count <= SHORT || rectangle.step == self.width as isize)
    }
}

/// Copies runs between a tensor and row-major memory: into the tensor if `IN`, or else out of it.
///
/// Duties: 1. Of every run: the elements at its offset from `tensor`, and as many bytes at its number times `stride`
/// from `dense`, are readable on the one side and writable on the other. 2. The sides are disjoint.
#[derive(Clone, Copy)]
struct Copied<const IN: bool> {
    tensor: *mut u8,
    dense: *mut u8,
    stride: usize,
}

impl<const IN: bool> Copied<IN> {
    /// # Safety
    /// 1. The duties of this type hold for the run.
    #[inline(always)]
    unsafe fn sides(&self, offset: isize, number: usize) -> (*const u8, *mut u8) {
        // SAFETY: (1) ours.
        let (tensor, dense) = unsafe { (self.tensor.offset(offset), self.dense.add(number * self.stride)) };
        if IN { (dense.cast_const(), tensor) } else { (tensor.cast_const(), dense) }
    }
}

/// Runs of `W` bytes. Duties: those of [`Copied`].
struct Unit<const IN: bool, const W: usize>(Copied<IN>);

impl<const IN: bool, const W: usize> Each for Unit<IN, W> {
    #[inline(always)]
    unsafe fn run(&self, offset: isize, number: usize) {
        // SAFETY: our duties; bytes are aligned anywhere.
        unsafe {
            let (from, to) = self.0.sides(offset, number);
            *to.cast::<[u8; W]>() = *from.cast::<[u8; W]>();
        }
    }
}

/// Runs of `bytes` bytes, `W` or more and not very many, copied `W` at a time, the last ones of them once more.
/// Duties: those of [`Copied`].
struct Units<const IN: bool, const W: usize> {
    copied: Copied<IN>,
    bytes: usize,
}

impl<const IN: bool, const W: usize> Each for Units<IN, W> {
    #[inline(always)]
    fn ahead(&self, offset: isize) {
        prefetch_lines::<1, u8>(self.copied.tensor.wrapping_offset(offset));
    }
    #[inline(always)]
    unsafe fn run(&self, offset: isize, number: usize) {
        // SAFETY: our duties; no block is beyond the end of the run.
        unsafe {
            let (from, to) = self.copied.sides(offset, number);
            let mut at = 0;
            while at < self.bytes {
                let block = at.min(self.bytes - W);
                *to.add(block).cast::<[u8; W]>() = *from.add(block).cast::<[u8; W]>();
                at += W;
            }
        }
    }
}

/// Runs of many bytes. Duties: those of [`Copied`].
struct Long<const IN: bool> {
    copied: Copied<IN>,
    bytes: usize,
}

impl<const IN: bool> Each for Long<IN> {
    #[inline(always)]
    fn ahead(&self, offset: isize) {
        prefetch_lines::<4, u8>(self.copied.tensor.wrapping_offset(offset));
    }
    #[inline(always)]
    unsafe fn run(&self, offset: isize, number: usize) {
        // SAFETY: our duties.
        unsafe {
            let (from, to) = self.copied.sides(offset, number);
            copy_run(from, to, self.bytes);
        }
    }
}

/// Runs of `n` elements of `W` bytes that are not next to one another. Duties: those of [`Copied`].
struct Spread<const IN: bool, const W: usize> {
    copied: Copied<IN>,
    n: usize,
    step: isize,
}

impl<const IN: bool, const W: usize> Each for Spread<IN, W> {
    #[inline(always)]
    unsafe fn run(&self, offset: isize, number: usize) {
        let (from_step, to_step) = if IN { (W as isize, self.step) } else { (self.step, W as isize) };
        // SAFETY: our duties; bytes are aligned anywhere.
        unsafe {
            let (from, to) = self.copied.sides(offset, number);
            for i in 0..self.n as isize {
                *to.offset(i * to_step).cast::<[u8; W]>() = *from.offset(i * from_step).cast::<[u8; W]>();
            }
        }
    }
}

/// Copies `columns` of the runs of a rectangle into `tensor` if `IN`, or else out of it. The row-major memory begins at
/// the first run of all. Rows of which no two reach the same memory of the tensor are `apart`.
///
/// # Safety
/// 1. `offsets` are those of the runs of the rectangle, and lead to `columns` of runs at `tensor` which are readable,
///    or writable if `IN`. 2. `dense` is writable for these, or readable if `IN`, at their numbers. 3. The two are
///    disjoint.
pub unsafe fn copy<const IN: bool>(
    rectangle: &Rectangle,
    offsets: &[i64],
    run: Run,
    columns: Range<usize>,
    apart: bool,
    [tensor, dense]: [*mut u8; 2],
) {
    let Run { n, step, width } = run;
    let (first, part) = (columns.start, Run { n: columns.len(), ..run });
    // SAFETY: (1, 2) the first of the columns.
    let (tensor, dense) = unsafe { (tensor.offset(first as isize * step), dense.add(first * width)) };
    let copied = Copied::<IN> { tensor, dense, stride: n * width };
    let together = apart && run.is_together(rectangle);
    // SAFETY: (`walk` 1) our duties are those of `Copied`.
    unsafe {
        match part.block() {
            Some(0) => {}
            Some(1) => rectangle.walk(offsets, together, &Unit::<IN, 1>(copied)),
            Some(2) => rectangle.walk(offsets, together, &Unit::<IN, 2>(copied)),
            Some(4) => rectangle.walk(offsets, together, &Unit::<IN, 4>(copied)),
            Some(8) => rectangle.walk(offsets, together, &Unit::<IN, 8>(copied)),
            Some(16) => rectangle.walk(offsets, together, &Unit::<IN, 16>(copied)),
            Some(3) => rectangle.walk(offsets, false, &Units::<IN, 2> { copied, bytes: 3 }),
            Some(bytes @ ..8) => rectangle.walk(offsets, false, &Units::<IN, 4> { copied, bytes }),
            Some(bytes @ ..16) => rectangle.walk(offsets, false, &Units::<IN, 8> { copied, bytes }),
            Some(bytes @ ..256) => rectangle.walk(offsets, false, &Units::<IN, 16> { copied, bytes }),
            Some(bytes) => rectangle.walk(offsets, false, &Long { copied, bytes }),
            None => match width {
                1 => rectangle.walk(offsets, false, &Spread::<IN, 1> { copied, n: part.n, step }),
                2 => rectangle.walk(offsets, false, &Spread::<IN, 2> { copied, n: part.n, step }),
                4 => rectangle.walk(offsets, false, &Spread::<IN, 4> { copied, n: part.n, step }),
                8 => rectangle.walk(offsets, false, &Spread::<IN, 8> { copied, n: part.n, step }),
                _ => rectangle.walk(offsets, false, &Spread::<IN, 16> { copied, n: part.n, step }),
            },
        }
    }
}

/// Sets runs of `n` elements. Duties: 1. Those of every run are writable, `step` bytes apart, at its offset from
/// `tensor`.
struct Filled<T> {
    tensor: *mut u8,
    n: usize,
    step: isize,
    value: T,
}

impl<T: Copy> Each for Filled<T> {
    #[inline(always)]
    unsafe fn run(&self, offset: isize, _: usize) {
        for i in 0..self.n as isize {
            // SAFETY: duty 1.
            unsafe { *self.tensor.offset(offset + i * self.step).cast::<T>() = self.value };
        }
    }
}

/// Sets the runs of a rectangle, whose elements are `T`, to one value.
///
/// # Safety
/// 1. `offsets` are those of the runs of the rectangle, and lead to runs at `tensor` which are writable.
pub unsafe fn fill<T: Copy>(rectangle: &Rectangle, offsets: &[i64], run: Run, tensor: *mut u8, value: T) {
    // SAFETY: (`walk` 1) our duty.
    unsafe {
        if run.n == 1 {
            rectangle.walk(offsets, run.is_together(rectangle), &Filled { tensor, n: 1, step: 0, value });
        } else {
            rectangle.walk(offsets, false, &Filled { tensor, n: run.n, step: run.step, value });
        }
    }
}

/// Combines single elements by `f`. Duties: 1. That at the offset of every run from `tensor` is writable, and that at
/// its number from `dense` readable.
struct CombinedOne<T, F> {
    tensor: *mut u8,
    dense: *const T,
    f: F,
}

impl<T: Copy, F: Fn(T, T) -> T> Each for CombinedOne<T, F> {
    #[inline(always)]
    unsafe fn run(&self, offset: isize, number: usize) {
        // SAFETY: duty 1.
        unsafe {
            let to = self.tensor.offset(offset).cast::<T>();
            *to = (self.f)(*to, *self.dense.add(number));
        }
    }
}

/// Combines runs of `n` elements by `f`. Duties: 1. Those at the offset of every run from `tensor` are writable, `step`
/// bytes apart, and those at its number times `stride` from `dense` readable. 2. They are disjoint.
struct Combined<T, F> {
    tensor: *mut u8,
    dense: *const T,
    stride: usize,
    n: usize,
    step: isize,
    f: F,
}

impl<T: Copy, F: Fn(T, T) -> T> Each for Combined<T, F> {
    #[inline(always)]
    fn ahead(&self, offset: isize) {
        prefetch_lines::<4, u8>(self.tensor.wrapping_offset(offset));
    }
    #[inline(always)]
    unsafe fn run(&self, offset: isize, number: usize) {
        // SAFETY: our duties.
        unsafe {
            let (to, from) = (self.tensor.offset(offset), self.dense.add(number * self.stride));
            if self.step == size_of::<T>() as isize {
                let to = std::slice::from_raw_parts_mut(to.cast::<T>(), self.n);
                for (to, &from) in to.iter_mut().zip(std::slice::from_raw_parts(from, self.n)) {
                    *to = (self.f)(*to, from);
                }
            } else {
                for i in 0..self.n {
                    let to = to.offset(i as isize * self.step).cast::<T>();
                    *to = (self.f)(*to, *from.add(i));
                }
            }
        }
    }
}

/// A task, so that long runs fill the vectors that there are. Duties: those of `each`, for the runs of the rectangle.
struct Walk<'a, T, F> {
    rectangle: &'a Rectangle,
    offsets: &'a [i64],
    each: Combined<T, F>,
}

impl<T: SimdElement, F: Fn(T, T) -> T> Task for Walk<'_, T, F> {
    type Out = ();
    const WIDE: bool = size_of::<T>() >= 4;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        // SAFETY: (1) our duties.
        unsafe { self.rectangle.walk(self.offsets, false, &self.each) };
    }
}

/// Combines `columns` of the runs of a rectangle by `f` with those of row-major memory that begins at the first run of
/// all. Rows of which no two reach the same memory of the tensor are `apart`.
///
/// # Safety
/// 1. `offsets` are those of the runs of the rectangle, whose elements are `T`, and lead to `columns` of runs at
///    `tensor` which are writable. 2. `dense` is readable for these at their numbers. 3. The two are disjoint.
pub unsafe fn combine<T: SimdElement>(
    rectangle: &Rectangle,
    offsets: &[i64],
    run: Run,
    columns: Range<usize>,
    apart: bool,
    (tensor, dense): (*mut u8, *const T),
    f: impl Fn(T, T) -> T,
) {
    let (stride, n, step, first) = (run.n, columns.len(), run.step, columns.start);
    // SAFETY: (1, 2) the first of the columns. (`walk` 1, Task 1) our duties are those of `CombinedOne` and `Combined`.
    unsafe {
        if stride == 1 {
            let each = CombinedOne { tensor, dense, f };
            rectangle.walk(offsets, apart && run.is_together(rectangle), &each);
        } else {
            let (tensor, dense) = (tensor.offset(first as isize * step), dense.add(first));
            let each = Combined { tensor, dense, stride, n, step, f };
            for_isa(InstructionSet::detect(), Walk { rectangle, offsets, each });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::strided::plan_in_order;

    #[test]
    fn rectangles_are_all_runs_in_order() {
        for (sizes, strides) in
            [(&[][..], &[][..]), (&[5], &[3]), (&[2, 3], &[100, 7]), (&[2, 3, 4], &[1000, -70, 9]), (&[1, 6], &[0, 0])]
        {
            let axes = plan_in_order(sizes, [strides]);
            let rows: Vec<isize> = Offsets::new(&axes).map(|[o]| o).collect();
            for len in [1, 2, 5] {
                for start in 0..=rows.len() * len {
                    for end in start..=rows.len() * len {
                        let mut seen = Vec::new();
                        rectangles(&axes, len, start..end, |part| {
                            for row in 0..part.rows {
                                let base = part.base + row as isize * part.step;
                                seen.extend(
                                    (0..part.count).map(|k| (part.at + row * part.len + k, base, part.first + k)),
                                );
                            }
                        });
                        let want = (start..end).map(|run| (run, rows[run / len], run % len));
                        assert!(seen.into_iter().eq(want), "{sizes:?} {len} {start} {end}");
                    }
                }
            }
        }
    }

    /// Rows of a tensor, each of which has `PLACES` runs.
    struct Layout {
        rows: usize,
        row: isize,
        place: isize,
        run: Run,
        /// The offset of the first element, and the bytes of all.
        start: isize,
        bytes: usize,
    }
    const PLACES: usize = 7;

    /// Runs whose elements follow one another, have gaps between them, and are in reverse; and single elements of rows
    /// that are neighbours in memory.
    fn layouts(rows: usize, n: usize, width: usize) -> Vec<Layout> {
        let mut all: Vec<Layout> = [1, 2, -1]
            .into_iter()
            .map(|gap: isize| {
                let (step, place) = (gap * width as isize, n * gap.unsigned_abs() * width);
                let start = if gap < 0 { (n - 1) * width } else { 0 } as isize;
                let row = PLACES * place;
                let run = Run { n, step, width };
                Layout { rows, row: row as isize, place: place as isize, run, start, bytes: rows * row }
            })
            .collect();
        if n == 1 {
            let (row, place) = (width as isize, (rows * width) as isize);
            let run = Run { n, step: width as isize, width };
            all.push(Layout { rows, row, place, run, start: 0, bytes: rows * PLACES * width });
        }
        all
    }

    impl Layout {
        /// Rectangles that are all of the walk with these offsets, by parts.
        fn parts(&self, len: usize) -> Vec<Rectangle> {
            let axes = plan_in_order(&[self.rows], [&[self.row]]);
            let mut parts = Vec::new();
            let (all, third) = (self.rows * len, self.rows * len / 3);
            for runs in [0..third, third..all] {
                rectangles(&axes, len, runs, |part| parts.push(part));
            }
            parts
        }

        fn offsets(&self, len: usize) -> Vec<i64> {
            (0..len).map(|k| self.start as i64 + ((k * k + 3) % PLACES) as i64 * self.place as i64).collect()
        }

        /// Where each element is in the tensor and in row-major memory, in elements, in order.
        fn naive(&self, len: usize, columns: &Range<usize>) -> Vec<(usize, usize)> {
            let (mut all, offsets) = (Vec::new(), self.offsets(len));
            for row in 0..self.rows {
                for (k, offset) in offsets.iter().enumerate() {
                    for i in columns.clone() {
                        let byte = row as isize * self.row + *offset as isize + i as isize * self.run.step;
                        all.push((byte as usize / self.run.width, (row * len + k) * self.run.n + i));
                    }
                }
            }
            all
        }
    }

    fn each_case(width: usize, f: impl Fn(&Layout, usize, Range<usize>)) {
        for n in [1, 2, 3, 7, 8, 9, 40, 300] {
            for (rows, len) in [(1, 5), (1, 40), (6, 3), (9, 40)] {
                if rows * len * n > 6000 {
                    continue;
                }
                for layout in layouts(rows, n, width) {
                    f(&layout, len, 0..n);
                    if n > 2 {
                        f(&layout, len, 1..n - 1);
                        f(&layout, len, 2..3);
                    }
                }
            }
        }
    }

    #[test]
    fn runs_are_copied_in_both_directions() {
        for width in [1, 2, 4, 8, 16] {
            each_case(width, |layout, len, columns| {
                let offsets = layout.offsets(len);
                let bytes =
                    |n: usize, seed: usize| -> Vec<u8> { (0..n).map(|i| (((i + seed) * 37) >> 3) as u8).collect() };
                let (mut tensor, mut dense) =
                    (bytes(layout.bytes, 1), bytes(layout.rows * len * layout.run.n * width, 5));
                for inward in [false, true] {
                    let (mut to_tensor, mut to_dense) = (tensor.clone(), dense.clone());
                    for (t, d) in layout.naive(len, &columns) {
                        let (t, d) = (t * width..(t + 1) * width, d * width..(d + 1) * width);
                        if inward {
                            to_tensor[t].copy_from_slice(&dense[d]);
                        } else {
                            to_dense[d].copy_from_slice(&tensor[t]);
                        }
                    }
                    for part in layout.parts(len) {
                        let offsets = &offsets[part.first..][..part.count];
                        let sides = [tensor.as_mut_ptr(), dense.as_mut_ptr()];
                        // SAFETY: (1, 2) the tensor has all places, and the vector all runs; (3) two vectors.
                        unsafe {
                            if inward {
                                copy::<true>(&part, offsets, layout.run, columns.clone(), true, sides);
                            } else {
                                copy::<false>(&part, offsets, layout.run, columns.clone(), true, sides);
                            }
                        }
                    }
                    assert!((&tensor, &dense) == (&to_tensor, &to_dense), "{width} {:?} {len} {columns:?}", layout.run);
                    // Other bytes for the way back.
                    dense = bytes(dense.len(), 9);
                }
            });
        }
    }

    fn combined<T: SimdElement + PartialEq>(of: impl Fn(usize) -> T, f: impl Fn(T, T) -> T + Copy) {
        let width = size_of::<T>();
        each_case(width, |layout, len, columns| {
            let offsets = layout.offsets(len);
            let mut tensor: Vec<T> = (0..layout.bytes / width).map(|i| of(i % 5)).collect();
            let dense: Vec<T> = (0..layout.rows * len * layout.run.n).map(|i| of(i % 11)).collect();
            let mut want = tensor.clone();
            for (t, d) in layout.naive(len, &columns) {
                want[t] = f(want[t], dense[d]);
            }
            for part in layout.parts(len) {
                let offsets = &offsets[part.first..][..part.count];
                let sides = (tensor.as_mut_ptr().cast::<u8>(), dense.as_ptr());
                // SAFETY: (1, 2) the tensor has all places, and the vector all runs; (3) two vectors.
                unsafe { combine(&part, offsets, layout.run, columns.clone(), true, sides, f) };
            }
            assert!(tensor == want, "{width} {:?} {len} {columns:?}", layout.run);
            // All the same, of which none is left out.
            for (t, _) in layout.naive(len, &(0..layout.run.n)) {
                want[t] = of(3);
            }
            for part in layout.parts(len) {
                let offsets = &offsets[part.first..][..part.count];
                // SAFETY: (1) the tensor has all places.
                unsafe { fill(&part, offsets, layout.run, tensor.as_mut_ptr().cast(), of(3)) };
            }
            assert!(tensor == want, "{width} {:?} {len}", layout.run);
        });
    }

    #[test]
    fn runs_are_combined_in_order() {
        // Not commutative: what comes later counts more.
        combined(|i| i as f32, |a, b| a * 2.0 + b);
        combined(|i| i as f64, |a, b| a * 2.0 + b);
        combined(|i| i as u16, |a, b| a.wrapping_mul(3).wrapping_add(b));
        combined(|i| i as u8, |a, b| a.wrapping_mul(3).wrapping_add(b));
    }
}
