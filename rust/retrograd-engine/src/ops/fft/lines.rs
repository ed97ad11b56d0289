//! Transforms along one axis of a tensor, line by line. Lines that lie side by side are transformed together where
//! there is a transform for them; otherwise blocks of lines are copied to memory where each is contiguous, transformed
//! there, and copied to the result. Threads share the lines; each of them is transformed in the same way whatever
//! thread it is on, so results do not depend on their number. Threads share the parts of a line that is too long for a
//! core's cache.

use std::ops::Range;

use num_complex::Complex;
use retrograd_fft::{Lines, LongPlan, Number};

use crate::error::Result;
use crate::kernels::parallel::{SharedPtr, try_split};
use crate::kernels::strided::{Axes, Axis, Offsets, plan};
use crate::storage::reclaim::reading;
use crate::tensor::layout::{Dims, Strides};
use crate::tensor::{Element, Tensor};

/// As many lines are copied together, if they are not contiguous: so many numbers fill cache lines.
const LINES: usize = if cfg!(small_blocks) { 3 } else { 16 };
/// A block of lines is of about so many numbers, so that it fits in a core's cache, unless that leaves too few lines.
const NUMBERS: usize = 1 << 14;
const FEWEST: usize = 4;
/// So many lines that lie side by side are worth a block of their own.
const FEWEST_BESIDE: usize = 4;
/// Nanoseconds for a number and a doubling of the length.
const COST: f64 = 0.4;
/// Nanoseconds for the fixed part of a number: copies.
const COPY_COST: f64 = 0.6;

/// The axis that is transformed, and those that say where its lines begin.
struct Layout {
    /// Innermost first: steps in the result and in the operand.
    others: Axes<2>,
    step: Axis<2>,
    count: usize,
}

impl Layout {
    fn new(x: &Tensor, result: &Tensor, dim: usize) -> Self {
        let (mut sizes, mut from, mut to) = (Dims::new(), Strides::new(), Strides::new());
        for axis in (0..x.ndim()).filter(|&axis| axis != dim) {
            sizes.push(x.sizes()[axis]);
            from.push(x.strides()[axis]);
            to.push(result.strides()[axis]);
        }
        let step = Axis { size: 0, strides: [result.strides()[dim], x.strides()[dim]] };
        Self { others: plan(&sizes, [&to, &from]), step, count: sizes.iter().product() }
    }
}

/// Copies lines to rows of `n` numbers.
///
/// # Safety
/// 1. `n` numbers, `step` apart, may be read from each of `starts`. 2. `to` has room for as many rows, and nobody else
///    uses it.
unsafe fn gather<E: Copy>(from: *const E, starts: &[isize], step: isize, n: usize, to: *mut E) {
    if step == 1 {
        for (i, &start) in starts.iter().enumerate() {
            // SAFETY: (1), (2), for contiguous lines.
            unsafe { std::ptr::copy_nonoverlapping(from.offset(start), to.add(i * n), n) };
        }
        return;
    }
    blocks(starts.len(), n, |i, j| {
        // SAFETY: (1), (2).
        unsafe { *to.add(i * n + j) = *from.offset(starts[i] + j as isize * step) }
    });
}

/// Copies rows of `n` numbers to lines.
///
/// # Safety
/// 1. There are as many rows at `from`. 2. `n` numbers, `step` apart, may be written from each of `starts`, and nobody
///    else uses them.
unsafe fn scatter<E: Copy>(from: *const E, starts: &[isize], step: isize, n: usize, to: *mut E) {
    blocks(starts.len(), n, |i, j| {
        // SAFETY: (1), (2).
        unsafe { *to.offset(starts[i] + j as isize * step) = *from.add(i * n + j) }
    });
}

/// Every pair of a line and a place in it, in an order in which lines that are not contiguous, but side by side, use
/// whole cache lines.
#[inline(always)]
fn blocks(lines: usize, n: usize, visit: impl Fn(usize, usize)) {
    const PLACES: usize = 8;
    for first in (0..n).step_by(PLACES) {
        for i in 0..lines {
            for j in first..(first + PLACES).min(n) {
                visit(i, j);
            }
        }
    }
}

/// Scratch memory of `n` elements, with arbitrary values.
struct Scratch(Tensor);

impl Scratch {
    fn new<E: Element>(n: usize) -> Result<Self> {
        Tensor::empty(&[n], E::DTYPE).map(Self)
    }
    fn slice<E: Element>(&mut self) -> &mut [E] {
        if self.0.numel() == 0 {
            return &mut [];
        }
        // SAFETY: S1 to S3: all elements of a fresh tensor that nobody else has; every bit pattern is a number.
        unsafe { std::slice::from_raw_parts_mut(self.0.ptr::<E>(), self.0.numel()) }
    }
}

/// Writes the transform of `x` along `dim` to `result`, times `scale`: of the numbers that `result` may share with `x`,
/// each line shares only its own.
///
/// # Safety
/// The elements of `result` are used by nobody else, no two of them share memory, and its sizes are those of `x` but
/// along `dim`, where both have the lengths of `lines`.
pub unsafe fn transform<T, L>(lines: &L, x: &Tensor, result: &Tensor, dim: usize, scale: f64) -> Result<()>
where
    T: Number + Element,
    Complex<T>: Element,
    L: Lines<Part = T, From: Element, To: Element>,
{
    let (n, m) = (lines.reads(), lines.writes());
    debug_assert!(x.sizes()[dim] == n && result.sizes()[dim] == m);
    if result.numel() == 0 {
        return Ok(());
    }
    let scale = T::from_f64(scale).expect("a float");
    let layout = Layout::new(x, result, dim);
    let [to_step, from_step] = layout.step.strides;
    let (from, to) = (SharedPtr(x.ptr::<L::From>()), SharedPtr(result.ptr::<L::To>()));
    let shared = x.shares_storage(result);
    if let Some(most) = lines.beside()
        && to_step != 1
        && layout.others.first().is_some_and(|axis| axis.strides == [1, 1] && axis.size >= FEWEST_BESIDE)
    {
        return beside(lines, &layout, most, from, to, scale);
    }
    // A line of the result is written where it is if it is contiguous, and one of the operand read there.
    let at_place = to_step == 1 || m == 1;
    let from_place = lines.keeps() && at_place && (from_step == 1 || n == 1) && !shared;
    let most = if from_place { 1 } else { (NUMBERS / n.max(m)).clamp(FEWEST, LINES).min(layout.count) };
    let each = |range: Range<usize>| -> Result<()> {
        let _reading = reading();
        let (mut rows, mut results) = (Scratch::new::<L::From>(if from_place { 0 } else { most * n })?, None);
        if !at_place {
            results = Some(Scratch::new::<L::To>(most * m)?);
        }
        let mut scratch = Scratch::new::<Complex<T>>(lines.scratch())?;
        let (rows, scratch) = (rows.slice::<L::From>(), scratch.slice::<Complex<T>>());
        let mut offsets = Offsets::starting_at(&layout.others, range.start);
        let (mut starts, mut ends) = ([0; LINES], [0; LINES]);
        let mut done = range.start;
        while done < range.end {
            let count = most.min(range.end - done);
            for ((start, end), [to, from]) in starts.iter_mut().zip(&mut ends).zip(offsets.by_ref().take(count)) {
                (*start, *end) = (from, to);
            }
            done += count;
            let (starts, ends) = (&starts[..count], &ends[..count]);
            if from_place {
                // SAFETY: S1 and S3: the elements of a line, which nobody writes; and one that nobody else uses.
                let (line, end) = unsafe {
                    (
                        std::slice::from_raw_parts(from.get().offset(starts[0]), n),
                        std::slice::from_raw_parts_mut(to.get().offset(ends[0]), m),
                    )
                };
                lines.run_from(line, end, scratch, scale);
                continue;
            }
            // SAFETY: (1) S1 and S3: elements of `x`; (2) the scratch memory of this piece.
            unsafe { gather(from.get(), starts, from_step, n, rows.as_mut_ptr()) };
            match &mut results {
                None => {
                    for (row, &end) in rows.chunks_exact_mut(n).zip(ends) {
                        // SAFETY: S1 and S3: the elements of a line, which nobody else uses.
                        let end = unsafe { std::slice::from_raw_parts_mut(to.get().offset(end), m) };
                        lines.run(row, end, scratch, scale);
                    }
                }
                Some(results) => {
                    let results = &mut results.slice::<L::To>()[..count * m];
                    lines.run(&mut rows[..count * n], results, scratch, scale);
                    // SAFETY: (1) as many rows were transformed; (2) S1 and S3: lines that nobody else uses.
                    unsafe { scatter(results.as_ptr(), ends, to_step, m, to.get()) };
                }
            }
        }
        Ok(())
    };
    try_split(layout.count, most, cost(layout.count, n.max(m)), &each)
}

/// The transform of the lines of `x` along `dim`, one after the other, each divided among threads; false, with nothing
/// written, if lines are not contiguous.
///
/// # Safety
/// As [`transform`], for the length of the plan.
pub unsafe fn transform_long<T: Number + Element>(
    plan: &LongPlan<T>,
    inverse: bool,
    x: &Tensor,
    result: &Tensor,
    dim: usize,
    scale: f64,
) -> Result<bool>
where
    Complex<T>: Element,
{
    let layout = Layout::new(x, result, dim);
    if layout.step.strides != [1, 1] || result.numel() == 0 {
        return Ok(false);
    }
    let scale = T::from_f64(scale).expect("a float");
    let mut between = Scratch::new::<T>(plan.between())?;
    let between = SharedPtr(between.slice::<T>().as_mut_ptr());
    let half = cost(1, plan.length()) / 2.0;
    // The blocks of a pass, divided among threads, each of which has memory to work in.
    let pass = |blocks: usize, run: &(dyn Fn(usize, *mut T) + Sync)| {
        try_split(blocks, 1, half, &|blocks| -> Result<()> {
            let _reading = reading();
            let mut work = Scratch::new::<T>(plan.work())?;
            for block in blocks {
                run(block, work.slice::<T>().as_mut_ptr());
            }
            Ok(())
        })
    };
    let [first, second] = plan.blocks();
    for [to, from] in Offsets::starting_at(&layout.others, 0).take(layout.count) {
        let from = SharedPtr(x.ptr::<Complex<T>>().wrapping_offset(from).cast::<T>());
        let to = SharedPtr(result.ptr::<Complex<T>>().wrapping_offset(to).cast::<T>());
        pass(first, &|block, work| {
            // SAFETY: (1) S1 and S3: a line, and scratch memory; (2) what is written is nobody else's.
            unsafe { plan.first(inverse, block, from.get(), between.get(), work) }
        })?;
        pass(second, &|block, work| {
            // SAFETY: (1) the first pass is over; (2) S1 and S3: a line that nobody else uses, and scratch memory.
            unsafe { plan.second(inverse, scale, block, between.get(), to.get(), work) }
        })?;
    }
    Ok(true)
}

/// Nanoseconds that `count` lines of `n` numbers take, about.
fn cost(count: usize, n: usize) -> f64 {
    let n = n as f64;
    count as f64 * n * (COPY_COST + COST * n.log2())
}

/// [`transform`] of lines that lie side by side in both tensors, blocks of up to `most`.
fn beside<T, L>(
    lines: &L,
    layout: &Layout,
    most: usize,
    from: SharedPtr<L::From>,
    to: SharedPtr<L::To>,
    scale: T,
) -> Result<()>
where
    T: Number + Element,
    Complex<T>: Element,
    L: Lines<Part = T, From: Element, To: Element>,
{
    let [to_step, from_step] = layout.step.strides;
    let width = layout.others[0].size;
    let blocks = width.div_ceil(most);
    let each = |range: Range<usize>| -> Result<()> {
        let _reading = reading();
        let mut scratch = Scratch::new::<Complex<T>>(lines.scratch())?;
        let scratch = scratch.slice::<Complex<T>>();
        let outer = &layout.others[1..];
        let mut offsets = Offsets::starting_at(outer, range.start / blocks);
        let mut at = [0; 2];
        for (i, block) in range.clone().enumerate() {
            if i == 0 || block % blocks == 0 {
                at = offsets.next().expect("a block of each outer position");
            }
            let first = block % blocks * most;
            let count = most.min(width - first);
            // SAFETY: (1) S1 and S3: lines of both tensors, and those of the result are used by nobody else; (2) of the
            // numbers that they may share each line shares only its own.
            unsafe {
                let from = from.get().offset(at[1] + first as isize).cast_const();
                let to = to.get().offset(at[0] + first as isize);
                lines.run_beside(count, from, to, [from_step, to_step], scratch, scale);
            }
        }
        Ok(())
    };
    try_split(layout.count / width * blocks, 1, cost(layout.count, lines.reads()), &each)
}
