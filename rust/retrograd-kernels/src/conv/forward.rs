//! Sums into the small side: `y[o] = start + sum over channels and taps of w[k] x[o * stride - pad + k * dilation]`.

use std::ops::Range;

use super::direct::{Direct, is_direct, pieces};
use super::grid::{Grid, SLACK};
use super::im2col::Patches;
use super::{ConvAxis, ConvScalar, Shape, is_product};
use crate::matmul::{Float, Vectors, Virtual, gemm, gemm_of, term_cost};
use crate::parallel::{SharedPtr, split};

/// A convolution of one image and group, ready to be run on any number of them.
pub(super) struct Conv {
    /// Channels of the small side.
    rows: usize,
    grid: Grid,
    /// Of every channel and tap; empty if the image itself is the matrix of patches.
    offsets: Vec<usize>,
    positions: usize,
}

impl Conv {
    /// Of `rows` channels from `channels`; no extent is zero.
    pub(super) fn new(rows: usize, channels: usize, axes: [ConvAxis; 3]) -> Self {
        let grid = Grid::new(channels, axes);
        let offsets = if is_product(&axes) { Vec::new() } else { grid.offsets() };
        Self { rows, grid, offsets, positions: axes.iter().map(|a| a.small).product() }
    }

    /// Elements of `work` that [`Conv::run`] needs.
    pub(super) fn scratch_len(&self) -> usize {
        if self.offsets.is_empty() { 0 } else { self.grid.image() + SLACK }
    }

    /// # Safety
    /// 1. `x`, `w` and `start` are readable for the large side of one image and group, the weight of one group, and one
    ///    element for each channel of the small side; `start` may be null, for zeros. Unless it is `last`, another
    ///    image follows `x`, or as much that can be read as [`SLACK`].
    /// 2. `y` is writable for the small side of one image and group, `work` for [`Conv::scratch_len`] elements; both
    ///    overlap nothing else.
    /// 3. No other thread writes what is read or touches what is written during the call.
    pub(super) unsafe fn run<T: ConvScalar>(
        &self,
        x: *const T,
        last: bool,
        w: *const T,
        start: *const T,
        y: *mut T,
        work: *mut T,
    ) {
        let (m, n) = (self.rows, self.positions);
        // SAFETY: our duties; all matrices are row-major.
        unsafe {
            if self.offsets.is_empty() {
                return product(m, n, self.grid.channels, w, x, start, y);
            }
            let in_place = self.grid.is_image() && !last;
            if !in_place {
                self.grid.copy(x, work);
            }
            let copy = if in_place { x } else { work.cast_const() };
            let k = self.offsets.len();
            if is_direct::<T>(&self.grid, m, k) {
                let (copy, w) = (SharedPtr(copy.cast_mut()), SharedPtr(w.cast_mut()));
                let (start, y) = (SharedPtr(start.cast_mut()), SharedPtr(y));
                let cost = (m * n) as f64 * k as f64 * term_cost::<T>();
                return split(pieces::<T>(&self.grid), 4, cost, &|pieces| {
                    let (copy, w) = (copy.get().cast_const(), w.get().cast_const());
                    let (start, y) = (start.get().cast_const(), y.get());
                    let (grid, offsets) = (&self.grid, &self.offsets[..]);
                    T::call(&Direct { grid, offsets, copy, w, channels: m, start, pieces, y });
                });
            }
            let panels = Patches { grid: &self.grid, offsets: &self.offsets, copy: SharedPtr(copy.cast_mut()) };
            gemm_of(m, n, k, w, k as isize, 1, Virtual { panels: &panels, first: 0, start }, y, n as isize);
        }
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
    if is_empty(s) { 0 } else { Conv::new(s.small, s.large, s.axes).scratch_len() }
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
    let conv = (!is_empty(s)).then(|| Conv::new(s.small, s.large, s.axes));
    for at in units {
        let g = at % s.groups;
        // SAFETY: our duties, for this image and group.
        unsafe {
            let (x, w, y) = (x.add(at * large), w.add(g * s.small * s.large * s.taps()), y.add(at * small));
            match &conv {
                Some(conv) => conv.run(x, reaches_end(at, s.batch * s.groups, large), w, start(g), y, work),
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
