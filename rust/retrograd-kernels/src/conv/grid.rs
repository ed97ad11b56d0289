//! The padded copy of an image.
//!
//! Along each axis, tap `k` at position `o` meets coordinate `o * stride + k * dilation` of the padded image.
//! Coordinates are ordered by their residue modulo the stride, as far as taps have it, so that positions are neighbours
//! whatever the stride: the element is at `phase(k) * len + o + k * dilation / stride`.

use std::ops::Range;

use smallvec::SmallVec;

use super::{ConvAxis, each};
use crate::matmul::{Float, Routine, Simd, Vectors};
use crate::parallel::{SharedPtr, split};

/// What vectors may read past an image.
pub(super) const SLACK: usize = 16;

/// One axis of the copy.
#[derive(Clone, Copy, Debug)]
struct Line {
    axis: ConvAxis,
    /// Residues that taps have.
    phases: usize,
    /// Elements of one residue.
    len: usize,
}

impl Line {
    fn new(axis: ConvAxis) -> Self {
        let period = axis.stride / gcd(axis.stride, axis.dilation);
        Self {
            axis,
            phases: axis.kernel.min(period),
            len: axis.small + (axis.kernel - 1) * axis.dilation / axis.stride,
        }
    }
    /// Where tap `k` of position 0 lies.
    fn tap(&self, k: usize) -> usize {
        k % self.phases * self.len + k * self.axis.dilation / self.axis.stride
    }
    /// The coordinate in the image, maybe outside, of element 0 of a phase.
    fn start(&self, phase: usize) -> isize {
        (phase * self.axis.dilation % self.axis.stride) as isize - self.axis.pad
    }
    /// The coordinates of all elements, phase by phase; none of those outside the image.
    fn coordinates(&self) -> impl Iterator<Item = Option<usize>> + use<'_> {
        (0..self.phases).flat_map(move |phase| {
            let start = self.start(phase);
            (0..self.len).map(move |q| {
                let at = start + (q * self.axis.stride) as isize;
                (at >= 0 && at < self.axis.large as isize).then_some(at as usize)
            })
        })
    }
    /// The elements of a phase that are inside the image.
    fn inside(&self, phase: usize) -> Inside {
        let (start, stride) = (self.start(phase), self.axis.stride as isize);
        let from = |bound: isize| ((bound - start + stride - 1).div_euclid(stride).max(0) as usize).min(self.len);
        let (from, to) = (from(0), from(self.axis.large as isize));
        let first = if from < to { (start + (from * self.axis.stride) as isize) as usize } else { 0 };
        Inside { from, to: to.max(from), first }
    }
}

/// The elements `from .. to` of a phase, of which the first one is at coordinate `first` of the image.
#[derive(Clone, Copy)]
struct Inside {
    from: usize,
    to: usize,
    first: usize,
}

pub(super) fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The layout of padded copies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    lines: [Line; 3],
    /// Elements between neighbours along each axis.
    pub units: [usize; 3],
    /// Elements between channels: [`SLACK`] more than one has, for what vectors write past it, unless the copy is the
    /// image.
    pub channel: usize,
    pub channels: usize,
}

impl Grid {
    pub(super) fn new(channels: usize, axes: [ConvAxis; 3]) -> Self {
        let lines = axes.map(Line::new);
        let [d, h, w] = lines.map(|l| l.phases * l.len);
        let mut grid = Self { lines, units: [h * w, w, 1], channel: d * h * w, channels };
        if !grid.is_image() {
            grid.channel += SLACK;
        }
        grid
    }
    /// Whether the copy would be the image itself.
    pub(super) fn is_image(&self) -> bool {
        self.lines.iter().all(|l| l.axis.stride == 1 && l.axis.pad == 0 && l.len == l.axis.large)
    }
    /// Elements of one image of the large side.
    pub(super) fn large(&self) -> usize {
        self.channels * self.lines.iter().map(|l| l.axis.large).product::<usize>()
    }
    /// Elements of one image's copy.
    pub(super) fn image(&self) -> usize {
        self.channels * self.channel
    }
    /// Positions along each axis.
    pub(super) fn extents(&self) -> [usize; 3] {
        self.lines.map(|l| l.axis.small)
    }
    /// Where each tap of each channel meets position 0, in the order of the weight.
    pub(super) fn offsets(&self) -> Vec<usize> {
        let kernel = self.lines.map(|l| l.axis.kernel);
        let at = |c: usize, k: [usize; 3]| {
            (0..3).fold(c * self.channel, |sum, i| sum + self.lines[i].tap(k[i]) * self.units[i])
        };
        (0..self.channels).flat_map(|c| each(kernel).map(move |k| at(c, k))).collect()
    }

    /// Copies an image; a large one on several threads.
    ///
    /// # Safety
    /// 1. `src` is readable for the channels of one image of the large side, row-major.
    /// 2. `dst` is writable for [`Grid::image`] elements and [`SLACK`] more, and overlaps nothing that is read.
    /// 3. No other thread writes what is read or touches what is written during the call.
    pub(super) unsafe fn copy<T: Vectors>(&self, src: *const T, dst: *mut T) {
        let (from, to) = (SharedPtr(src.cast_mut()), SharedPtr(dst));
        // SAFETY: duties 1 to 3; each piece has channels of its own, with what follows them.
        unsafe {
            if self.is_image() {
                src.copy_to_nonoverlapping(dst, self.image());
            } else {
                split(self.channels, 1, self.image() as f64 * COPY_COST, &|channels| {
                    T::call(&Copy { grid: self, channels, src: from.get().cast_const(), dst: to.get() })
                });
            }
            super::forward::fill(dst.add(self.image()), SLACK, <T as Float>::ZERO);
        }
    }
}

/// What an element of a copy takes, in nanoseconds.
const COPY_COST: f64 = 0.2;

/// Duties: those of [`Grid::copy`], for some channels and without the slack behind the image, which is not `src`.
struct Copy<'a, T> {
    grid: &'a Grid,
    channels: Range<usize>,
    src: *const T,
    dst: *mut T,
}

impl<T: Vectors> Routine for Copy<'_, T> {
    type Elem = T;

    #[inline(always)]
    unsafe fn run<V: Simd<Elem = T>>(&self) {
        let [d, h, w] = &self.grid.lines;
        // Found once: divisions take longer than a short row.
        let phases: SmallVec<[Inside; 4]> = (0..w.phases).map(|phase| w.inside(phase)).collect();
        // SAFETY: duty 2: the rows of a channel are written one after the other, each maybe past its end, where the
        // next one is written after it, and then the slack, so that the last vector ends there too. Duty 1: rows are
        // read where both coordinates are inside the image.
        unsafe {
            for channel in self.channels.clone() {
                let mut dst = self.dst.add(channel * self.grid.channel);
                for z in d.coordinates() {
                    for y in h.coordinates() {
                        if let (Some(z), Some(y)) = (z, y) {
                            let row = (channel * d.axis.large + z) * h.axis.large + y;
                            line::<V>(w, &phases, self.src.add(row * w.axis.large), dst);
                        } else {
                            zeros::<V>(dst, self.grid.units[1]);
                        }
                        dst = dst.add(self.grid.units[1]);
                    }
                }
                zeros::<V>(dst, SLACK);
            }
        }
    }
}

/// # Safety
/// The CPU has the instructions of `V`; `dst` is writable for `len` elements and less than a vector more.
#[inline(always)]
unsafe fn zeros<V: Simd>(dst: *mut V::Elem, len: usize) {
    // SAFETY: our duty.
    unsafe {
        // Most are no more than a vector: of a loop alone the compiler would make a call.
        if len > 0 {
            V::zero().store(dst);
        }
        for at in (V::LEN..len).step_by(V::LEN) {
            V::zero().store(dst.add(at));
        }
    }
}

/// # Safety
/// The CPU has the instructions of `V`; `src` is readable for `len` elements, `dst` writable for as many and less than
/// a vector more.
#[inline(always)]
unsafe fn copy_run<V: Simd>(src: *const V::Elem, dst: *mut V::Elem, len: usize) {
    // SAFETY: our duty; whole vectors, then what is left.
    unsafe {
        let mut at = 0;
        while len - at >= V::LEN {
            V::load(src.add(at)).store(dst.add(at));
            at += V::LEN;
        }
        if at < len {
            V::load_first(src.add(at), len - at).store(dst.add(at));
        }
    }
}

/// # Safety
/// `src` is readable for `len` elements at the distance `stride`, `dst` writable for as many; they do not overlap.
#[inline(always)]
unsafe fn copy_each<T: Float>(src: *const T, stride: usize, dst: *mut T, len: usize) {
    for i in 0..len {
        // SAFETY: our duties.
        unsafe { *dst.add(i) = *src.add(i * stride) }
    }
}

/// Copies one row of an image, its phases one after the other.
///
/// # Safety
/// The CPU has the instructions of `V`; `src` is readable for the large side of `w`, `dst` writable for all its phases
/// and less than a vector more.
#[inline(always)]
unsafe fn line<V: Simd>(w: &Line, phases: &[Inside], src: *const V::Elem, dst: *mut V::Elem) {
    let mut phase = dst;
    // SAFETY: our duties, each part being written before what follows it.
    unsafe {
        for &Inside { from, to, first } in phases {
            zeros::<V>(phase, from);
            let (src, dst, len) = (src.add(first), phase.add(from), to - from);
            match w.axis.stride {
                1 => copy_run::<V>(src, dst, len),
                // Known to the compiler, which takes vectors apart.
                2 => copy_each(src, 2, dst, len),
                stride => copy_each(src, stride, dst, len),
            }
            zeros::<V>(phase.add(to), w.len - to);
            phase = phase.add(w.len);
        }
    }
}
