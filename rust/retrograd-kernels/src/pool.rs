//! Pooling: a result for every window over the last three axes. Planes are contiguous; fewer axes are axes of size 1.

use std::ops::Range;
use std::ptr;

use super::real::{Ordered, Real, Ring};
use super::simd::{InstructionSet, Isa, Task, Vector, for_isa};
use crate::parallel::{SharedPtr, split, split_rows};
use crate::strided::read_once;

/// A number that can be pooled.
pub trait Pooled: Ordered {
    /// The least number.
    const LOWEST: Self;
    /// The quotient by a count; of integers rounded towards zero.
    fn shared(self, n: i64) -> Self;
    /// The maxima of a row's whole windows, in vectors along the row; false, with nothing done, where there are too few
    /// windows, they are further apart than two elements, or the type has no vectors.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`. 2. `x` is readable for the row's plane, and `y` writable for its
    ///    windows; they overlap nothing.
    #[inline(always)]
    unsafe fn maxima<S: Isa>(_: WindowRow<'_>, _x: *const Self, _y: *mut Self) -> bool {
        false
    }
}

macro_rules! maxima {
    () => {
        #[inline(always)]
        unsafe fn maxima<S: Isa>(row: WindowRow<'_>, x: *const Self, y: *mut Self) -> bool {
            // SAFETY: (1, 2) ours.
            unsafe { maxima_in_vectors::<<Self as Real>::Vector<S>>(row, x, y) }
        }
    };
}

impl Pooled for f32 {
    const LOWEST: Self = f32::NEG_INFINITY;
    #[inline(always)]
    fn shared(self, n: i64) -> Self {
        self / n as f32
    }
    maxima!();
}
impl Pooled for f64 {
    const LOWEST: Self = f64::NEG_INFINITY;
    #[inline(always)]
    fn shared(self, n: i64) -> Self {
        self / n as f64
    }
    maxima!();
}
impl Pooled for i64 {
    const LOWEST: Self = i64::MIN;
    #[inline(always)]
    fn shared(self, n: i64) -> Self {
        if n == 0 { 0 } else { self.wrapping_div(n) }
    }
}

/// A window along one axis: positions from `start` on, before `end`.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub start: usize,
    pub end: usize,
    /// What the axis contributes to the count that an average divides by.
    pub span: usize,
}

/// The windows along one axis.
///
/// Duties of whoever makes one: no window that has positions has one at `size` or beyond; the windows of `whole` have
/// exactly `taps` positions each, at distance `step`, and start at distance `stride`.
#[derive(Clone, Debug)]
pub struct PoolAxis {
    pub size: usize,
    /// Between two positions of a window.
    pub step: usize,
    pub windows: Vec<Window>,
    /// Windows that several lanes can walk together.
    pub whole: Range<usize>,
    pub stride: usize,
    pub taps: usize,
}

/// Planes of `inner` elements with `outer` windows each.
#[derive(Clone, Debug)]
pub struct Windows {
    pub axes: [PoolAxis; 3],
    /// Divides every sum; the count of the window's positions if `None`.
    pub divisor: Option<i64>,
}

/// Runs `$body` with `$LANES` as the number of outputs of a row that are computed together: 8, or 4 where there are no
/// 8.
macro_rules! with_lanes {
    ($windows:expr, |$LANES:ident| $body:expr) => {
        if (4..8).contains(&$windows.axes[2].whole.len()) {
            const $LANES: usize = 4;
            $body
        } else {
            const $LANES: usize = 8;
            $body
        }
    };
}

impl Windows {
    /// Elements of a plane.
    pub fn inner(&self) -> usize {
        self.axes.iter().map(|a| a.size).product()
    }
    /// What pooling planes takes, in nanoseconds.
    fn cost(&self, planes: usize) -> f64 {
        let positions = |axis: &PoolAxis| axis.windows.iter().map(|w| w.end.saturating_sub(w.start) / axis.step).sum();
        let positions: usize = self.axes.iter().map(positions).fold(1, |all, n: usize| all.saturating_mul(n));
        planes as f64 * (self.outer() as f64 + positions as f64 * 0.2)
    }

    /// Windows of a plane.
    pub fn outer(&self) -> usize {
        self.axes.iter().map(|a| a.windows.len()).product()
    }
    #[inline(always)]
    fn count(&self, d: &Window, h: &Window, w: &Window) -> i64 {
        match self.divisor {
            Some(n) => n,
            None => (d.span * h.span * w.span) as i64,
        }
    }
    /// Outputs of a row that are computed in blocks of `LANES`; if blocks may not overlap, a multiple of it.
    #[inline(always)]
    fn blocks<const LANES: usize>(&self, overlap: bool) -> Range<usize> {
        let whole = &self.axes[2].whole;
        // Lanes count positions in 32 bits.
        if whole.len() < LANES || self.inner() > u32::MAX as usize {
            return 0..0;
        }
        if overlap { whole.clone() } else { whole.start..whole.start + whole.len() / LANES * LANES }
    }
}

/// One row of windows: `d` and `h` are the windows along the outer axes.
#[derive(Clone, Copy, Debug)]
pub struct WindowRow<'a> {
    windows: &'a Windows,
    d: Window,
    h: Window,
}

/// Runs `$body` for each line of positions of a row of windows; `$line` is its offset within the plane.
macro_rules! lines {
    ($row:expr, |$line:ident| $body:expr) => {{
        let [d, h, w] = &$row.windows.axes;
        let mut i = $row.d.start;
        while i < $row.d.end {
            let mut j = $row.h.start;
            while j < $row.h.end {
                let $line = (i * h.size + j) * w.size;
                $body;
                j += h.step;
            }
            i += d.step;
        }
    }};
}

/// Walks the rows of planes: calls `$row(row, input plane, first output)`.
macro_rules! rows {
    ($windows:expr, $planes:expr, |$row:ident, $plane:ident, $at:ident| $body:expr) => {{
        let windows: &Windows = $windows;
        let (inner, outer, width) = (windows.inner(), windows.outer(), windows.axes[2].windows.len());
        for p in $planes {
            let $plane = p * inner;
            let mut $at = p * outer;
            for &d in &windows.axes[0].windows {
                for &h in &windows.axes[1].windows {
                    let $row = WindowRow { windows, d, h };
                    $body;
                    $at += width;
                }
            }
        }
    }};
}

/// Runs `$wide` for blocks of whole windows at distance `$S` (0: the axis' stride), unless they are `$done`, and `$one`
/// for the outputs around them.
macro_rules! along {
    ($row:expr, $blocks:expr, $done:expr, |$i:ident| $one:expr, |$j:ident, $S:ident| $wide:expr) => {{
        let (width, blocks): (usize, Range<usize>) = ($row.windows.axes[2].windows.len(), $blocks);
        let mut $i = 0;
        while $i < width {
            if $i == blocks.start && !blocks.is_empty() {
                $i = blocks.end;
                continue;
            }
            $one;
            $i += 1;
        }
        let mut $j = if $done { blocks.end } else { blocks.start };
        while $j < blocks.end {
            match $row.windows.axes[2].stride {
                1 => {
                    const $S: usize = 1;
                    $wide
                }
                2 => {
                    const $S: usize = 2;
                    $wide
                }
                _ => {
                    const $S: usize = 0;
                    $wide
                }
            }
            // The last block ends with the range.
            $j = if $j + LANES == blocks.end { blocks.end } else { ($j + LANES).min(blocks.end - LANES) };
        }
    }};
}

/// The maximum of every window and, with `PLACES`, its index in the plane: of equal ones the first, of NaNs the last.
///
/// Duties: 1. `x` is readable for the `planes` of `windows.inner()` elements. 2. `y` and, with `PLACES`, `at` are
/// writable for as many planes of `windows.outer()` elements, and overlap nothing else.
struct Max<'a, T, const LANES: usize, const PLACES: bool> {
    windows: &'a Windows,
    planes: Range<usize>,
    x: *const T,
    y: *mut T,
    at: *mut i64,
}

/// How many positions of a line of one window are compared or added up together.
const ACROSS: usize = 8;
/// The same of long lines, but in rows of few windows side by side, for which it would only be compiled once more.
const FAR_ACROSS: usize = 16;

/// The maxima of windows side by side.
struct Best<V> {
    most: V,
    /// The last NaN of each window, 0 where there is none: kept apart, so that a value waits for one comparison with
    /// the maximum before it, and for nothing else.
    odd: V,
}

impl<V: Vector> Best<V> {
    /// Takes a value of each window.
    #[inline(always)]
    fn take(&mut self, v: V) {
        self.most = self.most.at_least(v);
        self.odd = self.odd.select(v.eq(v), v);
    }
}

/// [`Pooled::maxima`], in vectors of this type.
///
/// # Safety
/// 1. The CPU has the instructions of `V`. 2. As there.
#[inline(always)]
unsafe fn maxima_in_vectors<V: Vector<Elem: Pooled>>(row: WindowRow<'_>, x: *const V::Elem, y: *mut V::Elem) -> bool {
    let PoolAxis { ref windows, ref whole, step, stride, taps, .. } = row.windows.axes[2];
    let len = V::LEN;
    if whole.len() < len || step != 1 || !(stride == 1 || stride == 2 && taps > 1) {
        return false;
    }
    let mut i = whole.start;
    loop {
        // SAFETY: (1) ours; (2) positions of the windows, by the duties of `PoolAxis`, the last one of which ends the
        // last vector; results of the row.
        unsafe {
            let x = x.add(windows[i].start);
            let zero = V::load_first(x, 0);
            let mut best = Best { most: zero.splat(V::Elem::LOWEST), odd: zero };
            lines!(row, |line| {
                let p = x.add(line);
                if stride == 1 {
                    for k in 0..taps {
                        best.take(V::load(p.add(k)));
                    }
                } else {
                    for k in (0..taps - 1).step_by(2) {
                        let (even, odd) = V::deinterleave(V::load(p.add(k)), V::load(p.add(k + len)));
                        best.take(even);
                        best.take(odd);
                    }
                    if taps % 2 == 1 {
                        let (_, odd) = V::deinterleave(V::load(p.add(taps - 2)), V::load(p.add(taps - 2 + len)));
                        best.take(odd);
                    }
                }
            });
            best.most.select(best.odd.eq(best.odd), best.odd).store(y.add(i));
        }
        if i + len == whole.end {
            return true;
        }
        i = (i + len).min(whole.end - len);
    }
}

/// Compares a value of each lane, all at offset `o`, with the maxima so far, whose offsets are `far`.
#[inline(always)]
fn take<T: Pooled, const LANES: usize>(best: &mut [T; LANES], far: &mut [u32; LANES], values: [T; LANES], o: u32) {
    for l in 0..LANES {
        let v = values[l];
        let take = (v > best[l]) | v.is_nan();
        best[l] = if take { v } else { best[l] };
        far[l] = if take { o } else { far[l] };
    }
}

impl<T: Pooled, const LANES: usize, const PLACES: bool> Max<'_, T, LANES, PLACES> {
    /// The maximum of a window with lines of `N` neighbours or more, and its index in the plane. What is left of a
    /// line is compared again with what stands before it.
    #[inline(always)]
    unsafe fn across<const N: usize>(row: WindowRow<'_>, x: *const T, window: Window) -> (T, usize) {
        let (mut best, mut far) = ([T::LOWEST; N], [window.start as u32; N]);
        let first = (row.d.start * row.windows.axes[1].size + row.h.start) * row.windows.axes[2].size;
        let last = window.end - N;
        lines!(row, |line| {
            let mut j = window.start;
            loop {
                // SAFETY: duty 1: positions of a window, by the duties of `PoolAxis`.
                let values = unsafe { x.add(line + j).cast::<[T; N]>().read_unaligned() };
                take(&mut best, &mut far, values, (line - first + j) as u32);
                if j == last {
                    break;
                }
                j = (j + N).min(last);
            }
        });
        let (mut most, mut at) = (best[0], far[0] as usize);
        for l in 1..N {
            let (v, o) = (best[l], far[l] as usize + l);
            let take = if v.is_nan() {
                !most.is_nan() || o > at
            } else {
                !most.is_nan() && (v > most || (v == most && o < at))
            };
            (most, at) = if take { (v, o) } else { (most, at) };
        }
        (most, first + at)
    }

    /// The maxima of `LANES` windows whose first lines are at distance `S` (0: `stride`) from `x` on, and their offsets
    /// from there.
    #[inline(always)]
    unsafe fn lanes<const S: usize>(
        row: WindowRow<'_>,
        x: *const T,
        (start, taps, step): (usize, usize, usize),
    ) -> ([T; LANES], [u32; LANES]) {
        let stride = if S == 0 { row.windows.axes[2].stride } else { S };
        let (mut best, mut far) = ([T::LOWEST; LANES], [0u32; LANES]);
        let first = (row.d.start * row.windows.axes[1].size + row.h.start) * row.windows.axes[2].size;
        lines!(row, |line| {
            for k in 0..taps {
                // SAFETY: duty 1: positions of windows, by the duties of `PoolAxis`.
                let p = unsafe { x.add(line + start + k * step) };
                // SAFETY: as above.
                let values = std::array::from_fn(|l| unsafe { *p.add(l * stride) });
                take(&mut best, &mut far, values, (line - first + k * step) as u32);
            }
        });
        (best, far)
    }
}

impl<T: Pooled, const LANES: usize, const PLACES: bool> Task for Max<'_, T, LANES, PLACES> {
    type Out = ();
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        let blocks = self.windows.blocks::<LANES>(true);
        // Offsets of lanes have 32 bits.
        let wide = self.windows.axes[2].step == 1 && self.windows.inner() <= u32::MAX as usize;
        rows!(self.windows, self.planes, |row, plane, at| {
            let w = &row.windows.axes[2];
            // SAFETY: duty 1.
            let x = unsafe { self.x.add(plane) };
            let first = (row.d.start * row.windows.axes[1].size + row.h.start) * w.size;
            // SAFETY: (1) Task 2; (2) ours.
            let done = !PLACES && unsafe { T::maxima::<I>(row, x, self.y.add(at)) };
            along!(
                row,
                if done { w.whole.clone() } else { blocks.clone() },
                done,
                |i| {
                    let window = w.windows[i];
                    let (mut best, mut found) = (T::LOWEST, first + window.start);
                    let width = if wide { window.end.saturating_sub(window.start) } else { 0 };
                    if LANES >= 8 && width >= FAR_ACROSS {
                        // SAFETY: duty 1 is ours.
                        (best, found) = unsafe { Self::across::<FAR_ACROSS>(row, x, window) };
                    } else if width >= ACROSS {
                        // SAFETY: as above.
                        (best, found) = unsafe { Self::across::<ACROSS>(row, x, window) };
                    } else {
                        lines!(row, |line| {
                            let mut j = window.start;
                            while j < window.end {
                                // SAFETY: duty 1: a position of a window, by the duties of `PoolAxis`.
                                let v = unsafe { *x.add(line + j) };
                                if (v > best) | v.is_nan() {
                                    (best, found) = (v, line + j);
                                }
                                j += w.step;
                            }
                        });
                    }
                    // SAFETY: duty 2.
                    unsafe {
                        *self.y.add(at + i) = best;
                        if PLACES {
                            *self.at.add(at + i) = found as i64;
                        }
                    }
                },
                |i, S| {
                    let start = w.windows[i].start;
                    // SAFETY: the duties of `lanes` are our duty 1.
                    let (best, far) = unsafe { Self::lanes::<S>(row, x, (start, w.taps, w.step)) };
                    let stride = if S == 0 { w.stride } else { S };
                    let mut places = [0; LANES];
                    for l in 0..LANES {
                        places[l] = (first + start + l * stride) as i64 + i64::from(far[l]);
                    }
                    // SAFETY: duty 2: the block is within the row. Arrays, since stores of two kinds in turn are no
                    // vectors.
                    unsafe {
                        self.y.add(at + i).cast::<[T; LANES]>().write_unaligned(best);
                        if PLACES {
                            self.at.add(at + i).cast::<[i64; LANES]>().write_unaligned(places);
                        }
                    }
                }
            );
        });
    }
}

/// The sum of every window over its count; or, reversed, every element over the count added to its window.
///
/// Duties: 1. `x` is valid for the `planes` of `windows.inner()` elements, 2. `y` for as many of `windows.outer()`;
/// they do not overlap, and what is written (`y`, or `x` if `REVERSE`) overlaps nothing else.
struct Sums<'a, T, const LANES: usize, const REVERSE: bool> {
    windows: &'a Windows,
    planes: Range<usize>,
    x: *mut T,
    y: *mut T,
}

impl<T: Pooled, const LANES: usize, const REVERSE: bool> Task for Sums<'_, T, LANES, REVERSE> {
    type Out = ();
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        let blocks = self.windows.blocks::<LANES>(!REVERSE);
        rows!(self.windows, self.planes, |row, plane, at| {
            let w = &row.windows.axes[2];
            // SAFETY: duties 1 and 2.
            let (x, y) = unsafe { (self.x.add(plane), self.y.add(at)) };
            along!(
                row,
                blocks.clone(),
                false,
                |i| {
                    let window = w.windows[i];
                    let count = row.windows.count(&row.d, &row.h, &window);
                    // SAFETY: duty 2; what is read was written before.
                    let share = if REVERSE { unsafe { *y.add(i) }.shared(count) } else { T::ZERO };
                    let (mut sum, mut some) = (T::ZERO, false);
                    // Whole steps of a line of neighbours are added up side by side.
                    let mut sums = [T::ZERO; ACROSS];
                    let wide = if w.step == 1 { window.end.saturating_sub(window.start) / ACROSS * ACROSS } else { 0 };
                    lines!(row, |line| {
                        for j in (window.start..window.start + wide).step_by(ACROSS) {
                            // SAFETY: duty 1: positions of a window, by the duties of `PoolAxis`.
                            unsafe {
                                let p = x.add(line + j).cast::<[T; ACROSS]>();
                                let mut values = p.read_unaligned();
                                if REVERSE {
                                    values.iter_mut().for_each(|x| *x = x.add(share));
                                    p.write_unaligned(values);
                                } else {
                                    sums.iter_mut().zip(values).for_each(|(sum, x)| *sum = sum.add(x));
                                }
                            }
                        }
                        let mut j = window.start + wide;
                        while j < window.end {
                            // SAFETY: duty 1: a position of a window, by the duties of `PoolAxis`.
                            let p = unsafe { x.add(line + j) };
                            if REVERSE {
                                // SAFETY: as above.
                                unsafe { *p = (*p).add(share) }
                            } else {
                                // SAFETY: as above.
                                sum = sum.add(unsafe { *p });
                            }
                            j += w.step;
                        }
                        some = true;
                    });
                    some &= window.start < window.end;
                    if wide > 0 {
                        sum = sums.into_iter().fold(sum, T::add);
                    }
                    if !REVERSE {
                        // SAFETY: duty 2.
                        unsafe { *y.add(i) = if some { sum.shared(count) } else { T::ZERO } }
                    }
                },
                |i, S| {
                    let stride = if S == 0 { w.stride } else { S };
                    let (start, count) = (w.windows[i].start, row.windows.count(&row.d, &row.h, &w.windows[i]));
                    let mut lanes = [T::ZERO; LANES];
                    if REVERSE {
                        for (l, share) in lanes.iter_mut().enumerate() {
                            // SAFETY: duty 2: the block is within the row.
                            *share = unsafe { *y.add(i + l) }.shared(count);
                        }
                    }
                    lines!(row, |line| {
                        for k in 0..w.taps {
                            // SAFETY: duty 1: positions of windows, by the duties of `PoolAxis`.
                            let p = unsafe { x.add(line + start + k * w.step) };
                            for (l, lane) in lanes.iter_mut().enumerate() {
                                // SAFETY: as above.
                                unsafe {
                                    let p = p.add(l * stride);
                                    if REVERSE {
                                        *p = (*p).add(*lane);
                                    } else {
                                        *lane = (*lane).add(*p);
                                    }
                                }
                            }
                        }
                    });
                    if !REVERSE {
                        for (l, sum) in lanes.iter().enumerate() {
                            // SAFETY: duty 2.
                            unsafe { *y.add(i + l) = sum.shared(count) }
                        }
                    }
                }
            );
        });
    }
}

/// The maxima of `x` and, if asked for, their indices in their planes.
///
/// # Panics
/// If the slices are not `planes` of the windows' planes.
pub fn max<T: Pooled>(windows: &Windows, x: &[T], y: &mut [T], at: Option<&mut [i64]>) {
    match at {
        Some(at) => {
            assert_eq!(y.len(), at.len(), "a place for every maximum");
            maxima::<T, true>(windows, x, y, at.as_mut_ptr());
        }
        None => maxima::<T, false>(windows, x, y, ptr::null_mut()),
    }
}

/// [`max`]; with `PLACES` there are as many elements at `at` as in `y`.
fn maxima<T: Pooled, const PLACES: bool>(windows: &Windows, x: &[T], y: &mut [T], at: *mut i64) {
    let planes = planes(windows, x.len(), y.len());
    let (from, y, at) = (SharedPtr(x.as_ptr().cast_mut()), SharedPtr(y.as_mut_ptr()), SharedPtr(at));
    with_lanes!(windows, |LANES| split(planes, 1, windows.cost(planes), &|planes| {
        let task = Max::<T, LANES, PLACES> { windows, planes, x: from.get().cast_const(), y: y.get(), at: at.get() };
        // SAFETY: (1, 2) the slices were checked to hold the planes, and mutable borrows overlap nothing; no other
        // piece has these planes.
        unsafe { for_isa(InstructionSet::detect(), task) }
    }));
}

/// The sums of windows over their counts.
///
/// # Panics
/// As [`max`].
pub fn mean<T: Pooled>(windows: &Windows, x: &[T], y: &mut [T]) {
    let planes = planes(windows, x.len(), y.len());
    let (x, y) = (SharedPtr(x.as_ptr().cast_mut()), SharedPtr(y.as_mut_ptr()));
    with_lanes!(windows, |LANES| split(planes, 1, windows.cost(planes), &|planes| {
        let task = Sums::<T, LANES, false> { windows, planes, x: x.get(), y: y.get() };
        // SAFETY: (1, 2) the slices were checked to hold the planes; `x` is not written; mutable borrows overlap
        // nothing; no other piece has these planes.
        unsafe { for_isa(InstructionSet::detect(), task) }
    }));
}

/// Adds every element of `g`, over its window's count, to the positions of the window in `x`.
///
/// # Panics
/// As [`max`].
pub fn avg_backward<T: Pooled>(windows: &Windows, g: &[T], x: &mut [T]) {
    let planes = planes(windows, x.len(), g.len());
    let (x, y) = (SharedPtr(x.as_mut_ptr()), SharedPtr(g.as_ptr().cast_mut()));
    split(planes, 1, windows.cost(planes), &|planes| {
        // Fewer lanes than these are slower than one window after the other.
        let task = Sums::<T, 8, true> { windows, planes, x: x.get(), y: y.get() };
        // SAFETY: (1, 2) the slices were checked to hold the planes; `y` is not written; mutable borrows overlap
        // nothing; no other piece has these planes.
        unsafe { for_isa(InstructionSet::detect(), task) }
    });
}

fn planes(windows: &Windows, inner: usize, outer: usize) -> usize {
    let n = if windows.outer() == 0 { 0 } else { outer / windows.outer() };
    assert!(n * windows.outer() == outer && n * windows.inner() <= inner, "slices hold the same planes");
    n
}

/// The elements of `g` added up at the places `at` of their planes of `inner` elements in `y`, zeros elsewhere; those
/// that name no place are left out.
pub fn scatter<T: Ring>(g: &[T], at: &[i64], y: &mut [T], inner: usize, outer: usize) {
    if g.is_empty() {
        y.fill(T::ZERO);
    }
    let planes = whole(g.len().min(at.len()), outer).min(whole(y.len(), inner));
    each_plane(&mut y[..planes * inner], inner, (inner + 8 * outer) as f64 * 0.1, &|p, y| {
        // Plane by plane, while it is in the cache.
        y.fill(T::ZERO);
        for (&g, i) in g[p * outer..].iter().zip(&at[p * outer..(p + 1) * outer]) {
            // S6 of the tensors: the read that is checked is the one that is used.
            if let Some(y) = y.get_mut(read_once(i) as usize) {
                *y = (*y).add(g);
            }
        }
    });
}

/// The elements of `x` at the places `at` of their planes of `inner` elements; 0 for those that name no place.
pub fn gather_at<T: Ring>(x: &[T], at: &[i64], y: &mut [T], inner: usize, outer: usize) {
    let planes = whole(y.len().min(at.len()), outer).min(whole(x.len(), inner));
    each_plane(&mut y[..planes * outer], outer, outer as f64 * 0.8, &|p, y| {
        let x = &x[p * inner..(p + 1) * inner];
        for (i, y) in at[p * outer..].iter().zip(y) {
            // As in `scatter`.
            *y = x.get(read_once(i) as usize).copied().unwrap_or(T::ZERO);
        }
    });
}

/// How many planes of `n` elements there are in `len`.
fn whole(len: usize, n: usize) -> usize {
    len.checked_div(n).unwrap_or(0)
}

/// Calls `work` with the number and the elements of each of the planes of `n` elements, every one of which takes
/// `cost` nanoseconds.
fn each_plane<T: Ring>(y: &mut [T], n: usize, cost: f64, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    split_rows(y, n, 1, cost * whole(y.len(), n) as f64, &|planes, y| {
        planes.zip(y.chunks_exact_mut(n.max(1))).for_each(|(p, y)| work(p, y));
    });
}

/// Writes the elements of `x` to the places `at` of their planes of `inner` elements in `y`: the last one to each. The
/// first index that names no place is returned, and then the rest was not written.
pub fn place<T: Ring>(x: &[T], at: &[i64], y: &mut [T], inner: usize, outer: usize) -> Option<i64> {
    for ((x, at), y) in by_plane(x, outer).zip(by_plane(at, outer)).zip(y.chunks_exact_mut(inner.max(1))) {
        for (&v, i) in x.iter().zip(at) {
            // As in `scatter`.
            let i = read_once(i);
            match y.get_mut(i as usize) {
                Some(y) => *y = v,
                None => return Some(i),
            }
        }
    }
    None
}

fn by_plane<T>(x: &[T], n: usize) -> std::slice::ChunksExact<'_, T> {
    x.chunks_exact(n.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of `k` positions at distance `stride`, along an axis that they fill but for `left` elements.
    fn axis(m: usize, k: usize, stride: usize, left: usize) -> PoolAxis {
        let windows = (0..m).map(|i| Window { start: i * stride, end: i * stride + k, span: k }).collect();
        PoolAxis { size: (m - 1) * stride + k + left, step: 1, windows, whole: 0..m, stride, taps: k }
    }

    /// Every number of windows in a row around the lanes, against one window after the other.
    #[test]
    fn rows_of_every_width() {
        for width in 1..36 {
            for (k, stride) in [(1, 1), (2, 2), (3, 1), (3, 2), (8, 8), (2, 3)] {
                let windows =
                    Windows { axes: [axis(1, 1, 1, 0), axis(2, 2, 1, 1), axis(width, k, stride, 2)], divisor: None };
                let (planes, inner, outer) = (3, windows.inner(), windows.outer());
                let mut x: Vec<f32> = (0..planes * inner).map(|i| (i as f32 * 0.7).sin()).collect();
                (x[1], x[inner], x[inner + 1]) = (f32::NAN, f32::NEG_INFINITY, 0.0);
                let (mut best, mut sums, mut back) = (vec![0.0; planes * outer], vec![0.0; planes * outer], x.clone());
                let mut at = vec![-1; planes * outer];
                max(&windows, &x, &mut best, Some(&mut at));
                let mut alone = vec![0.0; planes * outer];
                max(&windows, &x, &mut alone, None);
                assert!(alone.iter().zip(&best).all(|(a, b)| a.to_bits() == b.to_bits()), "{width} {k}: no indices");
                mean(&windows, &x, &mut sums);
                let g: Vec<f32> = (0..planes * outer).map(|i| i as f32).collect();
                back.fill(0.0);
                avg_backward(&windows, &g, &mut back);
                let mut wanted = vec![0.0; planes * inner];
                for o in 0..planes * outer {
                    let (p, h, w) = (o / outer, o % outer / width, o % width);
                    let (mut most, mut place, mut sum) =
                        (f32::NEG_INFINITY, h * windows.axes[2].size + w * stride, 0.0);
                    for (i, j) in (0..2).flat_map(|i| (0..k).map(move |j| (i, j))) {
                        let here = (h + i) * windows.axes[2].size + w * stride + j;
                        let v = x[p * inner + here];
                        (most, place) = if v > most || v.is_nan() { (v, here) } else { (most, place) };
                        sum += v;
                        wanted[p * inner + here] += g[o] / (2 * k) as f32;
                    }
                    let what = format!("{width} windows of {k} at distance {stride}: {o}");
                    assert!(best[o].to_bits() == most.to_bits() && at[o] == place as i64, "{what}");
                    let mean = sum / (2 * k) as f32;
                    // Of numbers up to 1, in another order.
                    let near = (sums[o] - mean).abs() <= 2.0 * f32::EPSILON || sums[o] == mean;
                    assert!(near || mean.is_nan() && sums[o].is_nan(), "{what}: {}, not {mean}", sums[o]);
                }
                for (i, (a, b)) in back.iter().zip(&wanted).enumerate() {
                    assert!((a - b).abs() <= 1e-5 * b.abs(), "{width} {k} {stride}: {i} is {a}, not {b}");
                }
            }
        }
    }

    /// Windows of every width around the positions that are compared together, with equal numbers, NaNs and, at first,
    /// nothing above the lowest.
    #[test]
    fn windows_of_every_width() {
        fn check<T: Pooled + std::fmt::Debug>(number: impl Fn(usize) -> T) {
            for (size, step) in (1..42).map(|size| (size, 1)).chain([(40, 2)]) {
                let window = |start, end| Window { start, end, span: end - start };
                let across = vec![window(0, size), window(size / 2, size), window(0, size.div_ceil(2)), window(0, 1)];
                let axis = |size, step, windows| PoolAxis { size, step, windows, whole: 0..0, stride: 1, taps: 0 };
                let rows = axis(3, 1, vec![window(0, 3), window(1, 2)]);
                let windows =
                    Windows { axes: [axis(1, 1, vec![window(0, 1)]), rows, axis(size, step, across)], divisor: None };
                let (planes, inner, outer) = (8, windows.inner(), windows.outer());
                let x: Vec<T> = (0..planes * inner).map(|i| if i < inner { T::LOWEST } else { number(i) }).collect();
                let (mut best, mut at) = (vec![T::ZERO; planes * outer], vec![-1; planes * outer]);
                max(&windows, &x, &mut best, Some(&mut at));
                let mut alone = vec![T::ZERO; planes * outer];
                max(&windows, &x, &mut alone, None);
                let same = |a: &T, b: &T| a == b || a.is_nan() && b.is_nan();
                assert!(alone.iter().zip(&best).all(|(a, b)| same(a, b)), "{size}: without indices");
                for o in 0..planes * outer {
                    let (plane, h, w) = (o / outer * inner, &windows.axes[1].windows[o % outer / 4], o % 4);
                    let w = &windows.axes[2].windows[w];
                    let (mut most, mut place) = (T::LOWEST, h.start * size + w.start);
                    for here in (h.start..h.end).flat_map(|i| (w.start..w.end).step_by(step).map(move |j| i * size + j))
                    {
                        let v = x[plane + here];
                        (most, place) = if v > most || v.is_nan() { (v, here) } else { (most, place) };
                    }
                    let same = best[o] == most || best[o].is_nan() && most.is_nan();
                    assert!(same && at[o] == place as i64, "{o} of width {size}: {:?} at {}", best[o], at[o]);
                }
            }
        }
        let number = |i: usize| (i * 7919 % 13) as f64 - 6.0;
        check(|i| number(i) as i64);
        check(number);
        check(|i| if i * 31 % 29 == 0 { f32::NAN } else { number(i) as f32 });
    }
}
