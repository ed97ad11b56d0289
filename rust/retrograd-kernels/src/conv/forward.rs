//! Sums into the small side: `y[o] = start + sum over channels and taps of w[k] x[o * stride - pad + k * dilation]`.

use std::ops::Range;

use super::direct::{Direct, is_direct, pieces};
use super::grid::{Grid, SLACK};
use super::im2col::Patches;
use super::{ConvAxis, ConvScalar, Shape, is_product};
use crate::matmul::{Float, Vectors, Virtual, gemm, gemm_of, term_cost};
use crate::parallel::{SharedPtr, split};
use crate::thresholds::conv::{COLUMNS, COPIED};

/// A convolution of images of one group, ready to be run on any number of them.
pub(super) struct Conv {
    /// Channels of the small side.
    rows: usize,
    grid: Grid,
    /// Of every channel and tap; empty if the image itself is the matrix of patches.
    offsets: Vec<usize>,
    positions: usize,
    /// Images that are one product: several, if one has few positions, so that they fill its panels.
    pub together: usize,
}

impl Conv {
    /// Of `rows` channels from `channels`, for some of `images` images; no extent is zero.
    pub(super) fn new(rows: usize, channels: usize, axes: [ConvAxis; 3], images: usize) -> Self {
        let grid = Grid::new(channels, axes);
        let offsets = if is_product(&axes) { Vec::new() } else { grid.offsets() };
        let positions: usize = axes.iter().map(|a| a.small).product();
        let together = if offsets.is_empty() { 1 } else { (COLUMNS / positions).min(COPIED / grid.image()) };
        Self { rows, grid, offsets, positions, together: together.clamp(1, images.max(1)) }
    }

    /// Elements of `work` that [`Conv::run`] needs.
    pub(super) fn scratch_len(&self) -> usize {
        if self.offsets.is_empty() {
            return 0;
        }
        let results = if self.together > 1 { self.rows * self.positions * self.together } else { 0 };
        self.grid.image() * self.together + SLACK + results
    }

    /// # Safety
    /// 1. `x`, `w` and `start` are readable for the large side of `images` images, which follow each other, of one
    ///    group, the weight of one group, and one element for each channel of the small side; `start` may be null, for
    ///    zeros. There are at most as many images as are taken together. Unless they are the `last`, another image
    ///    follows, or as much that can be read as [`SLACK`].
    /// 2. `y` is writable for the small side of these images, which follow each other, `work` for
    ///    [`Conv::scratch_len`] elements; both overlap nothing else.
    /// 3. No other thread writes what is read or touches what is written during the call.
    #[expect(clippy::too_many_arguments, reason = "those of a convolution")]
    pub(super) unsafe fn run<T: ConvScalar>(
        &self,
        images: usize,
        x: *const T,
        last: bool,
        w: *const T,
        start: *const T,
        y: *mut T,
        work: *mut T,
    ) {
        let (m, n, k) = (self.rows, self.positions, self.offsets.len());
        // SAFETY: our duties; all matrices are row-major.
        unsafe {
            if self.offsets.is_empty() {
                return product(m, n, self.grid.channels, w, x, start, y);
            }
            let in_place = self.grid.is_image() && !last;
            if !in_place {
                for i in 0..images {
                    self.grid.copy(x.add(i * self.grid.large()), work.add(i * self.grid.image()));
                }
            }
            let copy = if in_place { x } else { work.cast_const() };
            if is_direct::<T>(&self.grid, m, k) {
                for i in 0..images {
                    self.direct(copy.add(i * self.grid.image()), w, start, y.add(i * m * n));
                }
                return;
            }
            let panels = Patches { grid: &self.grid, offsets: &self.offsets, copy: SharedPtr(copy.cast_mut()) };
            let (panels, columns) = (Virtual { panels: &panels, first: 0, start }, images * n);
            if images == 1 {
                return gemm_of(m, n, k, w, k as isize, 1, panels, y, n as isize);
            }
            let result = work.add(self.grid.image() * self.together + SLACK);
            gemm_of(m, columns, k, w, k as isize, 1, panels, result, columns as isize);
            for (i, channel) in (0..images).flat_map(|i| (0..m).map(move |channel| (i, channel))) {
                let row = result.add(channel * columns + i * n);
                row.copy_to_nonoverlapping(y.add((i * m + channel) * n), n);
            }
        }
    }

    /// The sums of one image, taken from its copy.
    ///
    /// # Safety
    /// The duties of [`Conv::run`] for one image; `copy` is its padded copy.
    unsafe fn direct<T: ConvScalar>(&self, copy: *const T, w: *const T, start: *const T, y: *mut T) {
        let (m, terms) = (self.rows, self.offsets.len());
        let (copy, w) = (SharedPtr(copy.cast_mut()), SharedPtr(w.cast_mut()));
        let (start, y) = (SharedPtr(start.cast_mut()), SharedPtr(y));
        let cost = (m * self.positions) as f64 * terms as f64 * term_cost::<T>();
        split(pieces::<T>(&self.grid), 4, cost, &|pieces| {
            let (copy, w) = (copy.get().cast_const(), w.get().cast_const());
            let (start, y) = (start.get().cast_const(), y.get());
            let (grid, offsets) = (&self.grid, &self.offsets[..]);
            // SAFETY: our duties; other threads have other pieces.
            unsafe { T::call(&Direct { grid, offsets, copy, w, channels: m, start, pieces, y }) }
        });
    }
}

/// `y = start + w x`, all row-major.
///
/// # Safety
/// `w` is readable for `m` x `k` elements, `x` for `k` x `n`, `start` for `m` unless it is null; `y` is writable for
/// `m` x `n` and overlaps none of them.
unsafe fn product<T: ConvScalar>(m: usize, n: usize, k: usize, w: *const T, x: *const T, start: *const T, y: *mut T) {
    // SAFETY: our duties.
    unsafe {
        if !start.is_null() {
            for i in 0..m {
                fill(y.add(i * n), n, *start.add(i));
            }
        }
        gemm(m, n, k, w, k as isize, 1, x, n as isize, 1, !start.is_null(), y, n as isize, 1);
    }
}

/// # Safety
/// `y` is writable for `n` elements.
pub(super) unsafe fn fill<T: Copy>(y: *mut T, n: usize, value: T) {
    for j in 0..n {
        // SAFETY: our duty.
        unsafe { *y.add(j) = value }
    }
}

/// Elements of `work` that [`forward`] needs.
pub fn forward_scratch(s: &Shape) -> usize {
    if is_empty(s) { 0 } else { conv_of(s).scratch_len() }
}

/// The convolution of a shape, with nothing empty.
fn conv_of(s: &Shape) -> Conv {
    // Images of one group do not follow each other, if there are more.
    Conv::new(s.small, s.large, s.axes, if s.groups == 1 { s.batch } else { 1 })
}

/// Whether there is nothing to sum, or nowhere to sum to.
fn is_empty(s: &Shape) -> bool {
    s.small == 0 || s.large == 0 || s.small_len() == 0
}

/// The convolution of some images and groups: `n * groups + g` is group `g` of image `n`. A single one is divided among
/// threads, if this is called outside of a piece.
///
/// # Safety
/// 1. `x`, `w` and `bias` are readable for the large side, the weight, and the channels of the small side of `s`;
///    `bias` may be null, for zeros.
/// 2. `y` is writable for the small side, `work` for [`forward_scratch`] elements; both overlap nothing else.
/// 3. No other thread writes what is read or touches what is written during the call.
pub unsafe fn forward<T: ConvScalar>(
    s: &Shape,
    units: Range<usize>,
    x: *const T,
    w: *const T,
    bias: *const T,
    y: *mut T,
    work: *mut T,
) {
    if s.small == 0 || s.small_len() == 0 {
        return;
    }
    let (large, small) = (s.large * s.large_len(), s.small * s.small_len());
    let start = |g: usize| if bias.is_null() { bias } else { bias.wrapping_add(g * s.small) };
    let conv = (!is_empty(s)).then(|| conv_of(s));
    let together = conv.as_ref().map_or(1, |conv| conv.together);
    for at in units.clone().step_by(together) {
        let (g, images) = (at % s.groups, together.min(units.end - at));
        // SAFETY: our duties, for these images and group.
        unsafe {
            let (x, w, y) = (x.add(at * large), w.add(g * s.small * s.large * s.taps()), y.add(at * small));
            match &conv {
                Some(conv) => {
                    let last = reaches_end(at + images - 1, s.batch * s.groups, large);
                    conv.run(images, x, last, w, start(g), y, work);
                }
                None => constant(s.small, s.small_len(), start(g), y),
            }
        }
    }
}

/// Whether less than [`SLACK`] elements follow image `at` of `count` images of `len` elements.
pub(super) fn reaches_end(at: usize, count: usize, len: usize) -> bool {
    (count - 1 - at) * len < SLACK
}

/// Rows of one value each, or of zeros.
///
/// # Safety
/// `start` is null or readable for `m` elements, `y` writable for `m` x `n`.
pub(super) unsafe fn constant<T: Vectors>(m: usize, n: usize, start: *const T, y: *mut T) {
    for i in 0..m {
        // SAFETY: our duties.
        unsafe { fill(y.add(i * n), n, if start.is_null() { <T as Float>::ZERO } else { *start.add(i) }) }
    }
}
