//! The gradient of the weight: `w[k] = sum over images and positions of y[o] x[o * stride - pad + k * dilation]`.
//!
//! A matrix product over positions, transposed: channels and taps are the rows, so that the rows of patches are read in
//! memory order; channels of the small side are the columns.

use std::ops::Range;

use super::direct::{Dots, TAPS};
use super::forward::reaches_end;
use super::grid::{Grid, SLACK};
use super::im2col::{PatchRows, Run, Runs};
use super::{ConvScalar, Shape, is_product};
use crate::matmul::{Float, gemm, term_cost};
use crate::parallel::{SharedPtr, split};
use crate::pointwise::copy_strided;
use crate::thresholds::matmul::{BLOCK_ROWS as ROWS, DEPTH_BYTES};

/// How the sums are divided, and the layout of `work`.
struct Plan {
    grid: Grid,
    offsets: Vec<usize>,
    /// Images whose positions are summed at once: several, if one has few.
    together: usize,
    /// The longest part of a sum.
    depth: usize,
    /// Elements between rows of patches.
    row: usize,
    rows: usize,
}

impl Plan {
    fn new<T>(s: &Shape) -> Self {
        let grid = Grid::new(s.large, s.axes);
        let offsets = grid.offsets();
        let positions = s.small_len();
        let most = DEPTH_BYTES / size_of::<T>();
        let together = (most / positions).clamp(1, s.batch.max(1));
        let whole = together * positions;
        let depth = whole.div_ceil(whole.div_ceil(most));
        // A cache line more than needed, an odd number of them, so that rows do not evict each other from the cache.
        let row = (depth.div_ceil(SLACK) | 1) * SLACK + 2 * SLACK;
        let rows = offsets.len().div_ceil(offsets.len().div_ceil(ROWS));
        Self { grid, offsets, together, depth, row, rows }
    }
    /// One channel of the small side: no matrix product.
    fn is_direct(s: &Shape) -> bool {
        s.small == 1
    }
    /// Blocks of rows of patches.
    fn blocks(&self) -> usize {
        self.offsets.len().div_ceil(self.rows)
    }
    /// Elements of a block.
    fn block_len(&self) -> usize {
        self.row * self.rows + SLACK
    }
    /// The images; the rows of patches of as many blocks as there are threads for; the small side of images that are
    /// summed together; the transposed result.
    fn scratch_lens(&self, s: &Shape, threads: usize) -> [usize; 4] {
        let copies = self.grid.image() * self.together + SLACK;
        if Self::is_direct(s) {
            return [copies, 0, 0, 0];
        }
        let small = if self.together > 1 { s.small * self.together * s.small_len() } else { 0 };
        [copies, self.block_len() * threads.clamp(1, self.blocks()), small, self.offsets.len() * s.small]
    }
}

/// Whether nothing is summed.
fn is_empty(s: &Shape) -> bool {
    s.batch == 0 || s.small_len() == 0 || s.small * s.large * s.groups == 0
}

/// Elements of `work` that [`weight_grad`] needs, for elements of type `T`.
pub fn weight_grad_scratch<T: ConvScalar>(s: &Shape, threads: usize) -> usize {
    if is_empty(s) || is_product(&s.axes) { 0 } else { Plan::new::<T>(s).scratch_lens(s, threads).iter().sum() }
}

/// The gradient of the weight of some groups, on up to `threads` threads if this is called outside of a piece.
///
/// # Safety
/// 1. `y` and `x` are readable for the small and the large side of `s`.
/// 2. `w` is writable for the weight of all groups, `work` for [`weight_grad_scratch`] elements; both overlap nothing
///    else.
/// 3. No other thread writes what is read, or touches `work` or the weights of `groups`, during the call.
pub unsafe fn weight_grad<T: ConvScalar>(
    s: &Shape,
    groups: Range<usize>,
    y: *const T,
    x: *const T,
    w: *mut T,
    work: *mut T,
    threads: usize,
) {
    let group = s.small * s.large * s.taps();
    if is_empty(s) {
        // SAFETY: duty 2.
        return unsafe { super::forward::fill(w.add(groups.start * group), groups.len() * group, <T as Float>::ZERO) };
    }
    let (large, small) = (s.large * s.large_len(), s.small * s.small_len());
    if is_product(&s.axes) {
        let p = s.small_len();
        for (g, n) in groups.flat_map(|g| (0..s.batch).map(move |n| (g, n))) {
            let at = n * s.groups + g;
            // SAFETY: our duties: `small` x `p` times the transpose of `large` x `p`.
            unsafe {
                let (y, x, w) = (y.add(at * small), x.add(at * large), w.add(g * group));
                gemm(s.small, s.large, p, y, p as isize, 1, x, 1, p as isize, n > 0, w, s.large as isize, 1);
            }
        }
        return;
    }
    let plan = Plan::new::<T>(s);
    for g in groups {
        // SAFETY: our duties, for one group.
        unsafe {
            if Plan::is_direct(s) {
                dots(s, &plan, g, y, x, w.add(g * group), work);
            } else {
                products(s, &plan, g, y, x, w.add(g * group), work, threads);
            }
        }
    }
}

/// # Safety
/// The duties of [`weight_grad`]; `w` is that of group `g`.
unsafe fn dots<T: ConvScalar>(s: &Shape, plan: &Plan, g: usize, y: *const T, x: *const T, w: *mut T, work: *mut T) {
    // SAFETY: our duties.
    unsafe {
        super::forward::fill(w, plan.offsets.len(), <T as Float>::ZERO);
        for n in 0..s.batch {
            let (at, large) = (n * s.groups + g, s.large * s.large_len());
            let x = x.add(at * large);
            let in_place = plan.grid.is_image() && !reaches_end(at, s.batch * s.groups, large);
            if !in_place {
                plan.grid.copy(x, work);
            }
            let copy = if in_place { x } else { work.cast_const() };
            let y = y.add(at * s.small_len());
            let (copy, y, out) = (SharedPtr(copy.cast_mut()), SharedPtr(y.cast_mut()), SharedPtr(w));
            let cost = (plan.offsets.len() * s.small_len()) as f64 * term_cost::<T>();
            split(plan.offsets.len(), TAPS, cost, &|taps| {
                let (copy, y, out) = (copy.get().cast_const(), y.get().cast_const(), out.get().add(taps.start));
                T::call(&Dots { grid: &plan.grid, offsets: &plan.offsets[taps], copy, y, out });
            });
        }
    }
}

/// # Safety
/// The duties of [`weight_grad`]; `w` is that of group `g`.
#[expect(clippy::too_many_arguments, reason = "those of `weight_grad`")]
unsafe fn products<T: ConvScalar>(
    s: &Shape,
    plan: &Plan,
    g: usize,
    y: *const T,
    x: *const T,
    w: *mut T,
    work: *mut T,
    threads: usize,
) {
    let (positions, k, m) = (s.small_len(), plan.offsets.len(), s.small);
    let [copies, patches, together, _] = plan.scratch_lens(s, threads);
    let threads = threads.clamp(1, plan.blocks());
    let (rows, beside, sums) = (
        SharedPtr(work.wrapping_add(copies)),
        work.wrapping_add(copies + patches),
        SharedPtr(work.wrapping_add(copies + patches + together)),
    );
    for first in (0..s.batch).step_by(plan.together) {
        let images = plan.together.min(s.batch - first);
        let image = |n: usize| (first + n) * s.groups + g;
        // The images are used in place if they are neighbours.
        let large = s.large * s.large_len();
        let in_place = plan.grid.is_image()
            && (images == 1 || s.groups == 1)
            && !reaches_end(image(images - 1), s.batch * s.groups, large);
        for n in 0..images {
            if !in_place {
                // SAFETY: duties 1 and 2: one image after the other, with the slack behind the last.
                unsafe { plan.grid.copy(x.add(image(n) * large), work.add(n * plan.grid.image())) }
            }
        }
        let copy = if in_place { x.wrapping_add(image(0) * large) } else { work.cast_const() };
        // Of the small side: one row per channel.
        let whole = images * positions;
        let side = if plan.together == 1 {
            y.wrapping_add(image(0) * m * positions)
        } else {
            for (n, c) in (0..images).flat_map(|n| (0..m).map(move |c| (n, c))) {
                // SAFETY: duties 1 and 2.
                unsafe {
                    let from = y.add((image(n) * m + c) * positions);
                    from.copy_to_nonoverlapping(beside.add(c * whole + n * positions), positions);
                }
            }
            beside.cast_const()
        };
        let (copy, side) = (SharedPtr(copy.cast_mut()), SharedPtr(side.cast_mut()));
        // The rows of patches of some blocks, in the room `at`, times the small side.
        let sum = |at: usize, blocks: Range<usize>| {
            let dst = rows.get().wrapping_add(at * plan.block_len());
            let mut runs: Vec<Run> = Vec::new();
            for p0 in (0..whole).step_by(plan.depth) {
                let depth = plan.depth.min(whole - p0);
                runs.clear();
                runs.extend(Runs::new(&plan.grid, p0, depth));
                for r0 in blocks.clone().map(|block| block * plan.rows) {
                    let count = plan.rows.min(k - r0);
                    let offsets = &plan.offsets[r0..r0 + count];
                    let accumulate = first > 0 || p0 > 0;
                    // SAFETY: our duties: the copies hold the images that the runs are in, a room has space for as many
                    // rows of patches; `count` x `depth` times the transpose of `m` x `depth`, to rows of `sums`, which
                    // other blocks do not have.
                    unsafe {
                        let copy = copy.get().cast_const();
                        T::call(&PatchRows { offsets, runs: &runs, copy, dst, dst_rs: plan.row });
                        let (rs, a) = (plan.row as isize, dst.cast_const());
                        let (b, c) = (side.get().cast_const().add(p0), sums.get().add(r0 * m));
                        gemm(count, m, depth, a, rs, 1, b, 1, whole as isize, accumulate, c, m as isize, 1);
                    }
                }
            }
        };
        let share = |i: usize| i * plan.blocks() / threads;
        let cost = (k * m * whole) as f64 * term_cost::<T>();
        split(threads, 1, cost, &|parts| parts.for_each(|i| sum(i, share(i)..share(i + 1))));
    }
    // SAFETY: duty 2; all sums were written.
    unsafe { copy_strided(&[m, k], sums.get(), &[1, m as isize], w, &[k as isize, 1]) }
}
