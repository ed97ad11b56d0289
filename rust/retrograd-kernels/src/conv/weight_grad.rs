//! The gradient of the weight: `w[k] = sum over images and positions of y[o] x[o * stride - pad + k * dilation]`.
//!
//! A matrix product over positions, transposed: channels and taps are the rows, whose elements are read from the padded
//! copies as they lie; channels of the small side are the columns, side by side in vectors.

use std::ops::Range;

use super::direct::{Dots, TAPS};
use super::forward::reaches_end;
use super::grid::{Grid, SLACK};
use super::im2col::{Run, Runs};
use super::{ConvScalar, Shape, is_product};
use crate::matmul::{Float, Routine, Simd, Vectors, gemm, term_cost};
use crate::parallel::{SharedPtr, split};
use crate::pointwise::copy_strided;
use crate::thresholds::matmul::DEPTH_BYTES;

/// How the sums are divided, and the layout of `work`.
struct Plan {
    grid: Grid,
    offsets: Vec<usize>,
    /// Images whose positions are summed at once: several, if one has few.
    together: usize,
    /// The longest part of a sum.
    depth: usize,
}

/// The most elements of two vectors.
const WIDTH: usize = 2 * SLACK;

impl Plan {
    fn new<T>(s: &Shape) -> Self {
        let grid = Grid::new(s.large, s.axes);
        let offsets = grid.offsets();
        let positions = s.small_len();
        let most = DEPTH_BYTES / size_of::<T>();
        let together = (most / positions).clamp(1, s.batch.max(1));
        let whole = together * positions;
        let depth = whole.div_ceil(whole.div_ceil(most));
        Self { grid, offsets, together, depth }
    }
    /// One channel of the small side: no matrix product.
    fn is_direct(s: &Shape) -> bool {
        s.small == 1
    }
    /// Parts of rows for so many threads.
    fn parts(&self, threads: usize) -> usize {
        threads.clamp(1, self.offsets.len().div_ceil(SHARE))
    }
    /// Elements of the small side of a part of a sum, as [`Products`] copies it.
    fn side_len(&self, s: &Shape) -> usize {
        self.depth * s.small.next_multiple_of(WIDTH)
    }
    /// The images; for each part of the rows the small side of a part of a sum; the transposed result.
    fn scratch_lens(&self, s: &Shape, threads: usize) -> [usize; 3] {
        let copies = self.grid.image() * self.together + SLACK;
        if Self::is_direct(s) {
            return [copies, 0, 0];
        }
        [copies, self.side_len(s) * self.parts(threads), self.offsets.len() * s.small]
    }
}

/// Rows of the result that threads have, or a multiple: with as many, the tiles are those of one thread, whatever their
/// height.
const SHARE: usize = 24;

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
    let [copies, sides, _] = plan.scratch_lens(s, threads);
    let parts = plan.parts(threads);
    let (side, sums) = (SharedPtr(work.wrapping_add(copies)), SharedPtr(work.wrapping_add(copies + sides)));
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
        let copy = SharedPtr(if in_place { x.wrapping_add(image(0) * large).cast_mut() } else { work });
        let y = SharedPtr(y.wrapping_add(image(0) * m * positions).cast_mut());
        let whole = images * positions;
        let sum = |part: usize, taps: Range<usize>| {
            let mut runs: Vec<Run> = Vec::new();
            for p0 in (0..whole).step_by(plan.depth) {
                let depth = plan.depth.min(whole - p0);
                runs.clear();
                runs.extend(Runs::new(&plan.grid, p0, depth));
                // SAFETY: our duties: the copies hold the images that the runs are in, a part has space for its copy of
                // the small side, and rows of `sums` of its own.
                unsafe {
                    T::call(&Products {
                        offsets: &plan.offsets[taps.clone()],
                        runs: &runs,
                        copy: copy.get().cast_const(),
                        y: y.get().cast_const(),
                        channels: m,
                        positions,
                        apart: s.groups * m * positions,
                        part: p0..p0 + depth,
                        side: side.get().add(part * plan.side_len(s)),
                        accumulate: first > 0 || p0 > 0,
                        sums: sums.get().add(taps.start * m),
                    });
                }
            }
        };
        let share = |i: usize| (i * k.div_ceil(SHARE) / parts * SHARE).min(k);
        let cost = (k * m * whole) as f64 * term_cost::<T>();
        split(parts, 1, cost, &|parts| parts.for_each(|i| sum(i, share(i)..share(i + 1))));
    }
    // SAFETY: duty 2; all sums were written.
    unsafe { copy_strided(&[m, k], sums.get(), &[1, m as isize], w, &[k as isize, 1]) }
}

/// Sums over some positions: row `i` of the result has the products of the elements that tap `i` meets with each
/// channel of the small side.
///
/// Duties: `offsets` are some of a grid's, `runs` those of the positions `part` of some images, which are counted
/// through, and `copy` their padded copies; `y` is readable for `channels` rows of `positions` elements for each image,
/// `apart` elements from one to the next; `side` is writable for as many elements as there are positions in `part`,
/// for each channel, of which there are up to [`WIDTH`] more; `sums` is writable for a row of `channels` elements for
/// each tap, and readable with `accumulate`. What is written overlaps nothing else.
struct Products<'a, T> {
    offsets: &'a [usize],
    runs: &'a [Run],
    copy: *const T,
    y: *const T,
    channels: usize,
    positions: usize,
    apart: usize,
    part: Range<usize>,
    side: *mut T,
    accumulate: bool,
    sums: *mut T,
}

impl<T: Vectors> Routine for Products<'_, T> {
    type Elem = T;

    #[inline(always)]
    unsafe fn run<V: Simd<Elem = T>>(&self) {
        for first in (0..self.channels).step_by(2 * V::LEN) {
            // SAFETY: our duties; the panel's channels are among those of the small side.
            unsafe {
                if self.channels - first > V::LEN {
                    self.rows::<V, 2>(first, self.panel::<V, 2>(first));
                } else {
                    self.rows::<V, 1>(first, self.panel::<V, 1>(first));
                }
            }
        }
    }
}

impl<T: Vectors> Products<'_, T> {
    /// Copies the channels from `first` on, as many as `C` vectors have, side by side: a row for each position.
    ///
    /// # Safety
    /// The duties of the type, and of [`Simd`]; there is such a channel.
    #[inline(always)]
    unsafe fn panel<V: Simd<Elem = T>, const C: usize>(&self, first: usize) -> *const T {
        let (width, channels) = (C * V::LEN, (C * V::LEN).min(self.channels - first));
        let panel = self.side.wrapping_add(first * self.part.len());
        let mut at = self.part.start;
        while at < self.part.end {
            let (image, position) = (at / self.positions, at % self.positions);
            let len = (self.positions - position).min(self.part.end - at);
            // SAFETY: our duties: the positions of one image. All of a row is written, for there is space for it.
            unsafe {
                let y = self.y.add(image * self.apart + first * self.positions + position);
                let to = panel.add((at - self.part.start) * width);
                V::copy_rows(channels, len, y, self.positions as isize, 1, to, width);
            }
            at += len;
        }
        panel
    }

    /// The sums of all taps for the channels from `first` on, in `C` vectors.
    ///
    /// # Safety
    /// The duties of the type, and of [`Simd`]; `panel` has the channels from `first` on.
    #[inline(always)]
    unsafe fn rows<V: Simd<Elem = T>, const C: usize>(&self, first: usize, panel: *const T) {
        let mut i = 0;
        while i < self.offsets.len() {
            // SAFETY: our duties, for as many taps as are left at least.
            unsafe {
                i += match self.offsets.len() - i {
                    8.. if V::ROWS >= 8 && C == 1 => self.tile::<V, 8, C, 2>(i, first, panel),
                    8.. if V::ROWS >= 8 => self.tile::<V, 8, C, 1>(i, first, panel),
                    6.. if V::ROWS == 6 && C == 1 => self.tile::<V, 6, C, 2>(i, first, panel),
                    6.. if V::ROWS == 6 => self.tile::<V, 6, C, 1>(i, first, panel),
                    4.. => self.tile::<V, 4, C, 2>(i, first, panel),
                    2.. => self.tile::<V, 2, C, 4>(i, first, panel),
                    _ => self.tile::<V, 1, C, 4>(i, first, panel),
                }
            }
        }
    }

    /// The sums of the `R` taps from `tap` on; returns `R`. Of neighbouring positions `S` are added up apart, and then
    /// together: one sum would wait for the one before it.
    ///
    /// # Safety
    /// Those of [`Products::rows`]; there are as many taps.
    #[inline(always)]
    unsafe fn tile<V: Simd<Elem = T>, const R: usize, const C: usize, const S: usize>(
        &self,
        tap: usize,
        first: usize,
        panel: *const T,
    ) -> usize {
        // SAFETY: our duties: each tap meets elements of the copies at all positions.
        unsafe {
            let x: [*const T; R] = std::array::from_fn(|i| self.copy.wrapping_add(self.offsets[tap + i]));
            let mut apart = [[[V::zero(); C]; R]; S];
            for run in self.runs {
                let (mut at, end) = (run.src, run.src + run.len);
                let mut side = panel.add(run.at * C * V::LEN);
                while end - at >= S {
                    for (s, acc) in apart.iter_mut().enumerate() {
                        step(acc, &x, at + s, side.add(s * C * V::LEN));
                    }
                    at += S;
                    side = side.add(S * C * V::LEN);
                }
                while at < end {
                    step(&mut apart[0], &x, at, side);
                    at += 1;
                    side = side.add(C * V::LEN);
                }
            }
            let mut acc = apart[0];
            for other in &apart[1..] {
                for (i, acc) in acc.iter_mut().enumerate() {
                    for (j, acc) in acc.iter_mut().enumerate() {
                        *acc = acc.plus(other[i][j]);
                    }
                }
            }
            for (i, acc) in acc.iter().enumerate() {
                for (j, &(mut sum)) in acc.iter().enumerate() {
                    let channel = first + j * V::LEN;
                    let (to, len) = (self.sums.add((tap + i) * self.channels + channel), self.channels - channel);
                    if len >= V::LEN {
                        if self.accumulate {
                            sum = sum.plus(V::load(to));
                        }
                        sum.store(to);
                    } else {
                        if self.accumulate {
                            sum = sum.plus(V::load_first(to, len));
                        }
                        sum.store_first(to, len);
                    }
                }
            }
        }
        R
    }
}

/// Adds the products of one position: of element `at` of each of `x` with `C` vectors from `side` on.
///
/// # Safety
/// The CPU has the instructions of `V`; the elements are readable.
#[inline(always)]
unsafe fn step<V: Simd, const R: usize, const C: usize>(
    acc: &mut [[V; C]; R],
    x: &[*const V::Elem; R],
    at: usize,
    side: *const V::Elem,
) {
    // SAFETY: our duties.
    unsafe {
        let mut row = [V::zero(); C];
        for (j, v) in row.iter_mut().enumerate() {
            *v = V::load(side.add(j * V::LEN));
        }
        for (i, acc) in acc.iter_mut().enumerate() {
            let x = V::splat(x[i].add(at));
            for (j, acc) in acc.iter_mut().enumerate() {
                *acc = x.fma(row[j], *acc);
            }
        }
    }
}
