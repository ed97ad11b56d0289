//! Samples of planes at points between their elements.
//!
//! Points are taken in blocks. First the taps of all points of a block are found, in vectors along the points: the
//! elements that each draws on, and their weights. Then every channel is sampled with them. A tap outside of the plane
//! names an element inside that counts as 0, so that all of a block is read alike.

// Loops over the points of several arrays.
#![allow(clippy::needless_range_loop)]

use super::parallel::{SharedPtr, split};
use super::real::Ring;
use super::simd::{InstructionSet, Isa, Task, for_isa};
use crate::thresholds::grid::BLOCK;

/// Points that are sampled together.
const LANES: usize = 8;
/// As many taps as a point can have: of four elements along two axes.
const MOST: usize = 16;
const _: () = assert!(BLOCK.is_multiple_of(LANES));
/// What a tap of a point takes in a channel, in nanoseconds.
const COST: f64 = 0.5;
/// From here on doubles are integers, and quotients and remainders are no longer found by rounding.
const FAR: f64 = (1u64 << 52) as f64;

/// One number for each point of a block.
type Points = [f64; BLOCK];

/// How a sample is computed from the elements around its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Linear,
    Nearest,
    Cubic,
}

/// What is outside of the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    Zeros,
    /// The nearest element inside.
    Clamp,
    /// The element that a reflection at the edge leads to.
    Reflect,
}

/// How points are interpreted. Coordinates are computed as in the elements' precision, which decides between
/// neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    /// Axes of a plane: 2 or 3.
    pub rank: usize,
    pub mode: Mode,
    pub border: Border,
    /// -1 and 1 are the centres of the outermost elements, not their outer edges.
    pub align: bool,
}

/// The parameter of the cubic kernel.
pub const A: f64 = -0.75;

/// A number that planes are made of.
pub trait Sample: Ring + Into<f64> {
    /// Rounded to this precision.
    fn rounded(x: f64) -> f64;
}
impl Sample for f32 {
    #[inline(always)]
    fn rounded(x: f64) -> f64 {
        f64::from(x as f32)
    }
}
impl Sample for f64 {
    #[inline(always)]
    fn rounded(x: f64) -> f64 {
        x
    }
}

/// The taps of a block of points along one axis: up to four.
struct AxisTaps<T> {
    /// The element; of what is outside, the nearest one inside.
    place: [Points; 4],
    /// 1; 0 for what is outside.
    there: [[T; BLOCK]; 4],
    weight: [Points; 4],
    /// The derivative of the weight by the coordinate given.
    slope: [Points; 4],
}

impl<T: Sample> AxisTaps<T> {
    /// A single element, whatever the point is.
    const ONLY: Self = Self {
        place: [[0.0; BLOCK]; 4],
        there: [[T::ONE; BLOCK]; 4],
        weight: [[1.0; BLOCK]; 4],
        slope: [[0.0; BLOCK]; 4],
    };

    /// Tap `k` at these places among `n` elements.
    #[inline(always)]
    fn put(&mut self, k: usize, at: &Points, n: usize) {
        let last = n as f64 - 1.0;
        for p in 0..BLOCK {
            let (low, high) = (at[p] >= 0.0, at[p] <= last);
            // What is no number is low. Reflections of places far away may be halves.
            let place = if high { at[p].floor() } else { last };
            self.place[k][p] = if low { place } else { 0.0 };
            self.there[k][p] = if low & high { T::ONE } else { T::ZERO };
        }
    }
}

/// The quotient of positive numbers, rounded down, and the remainder; `y` is an integer. `NEAR`: no `x` is [`FAR`].
#[inline(always)]
fn divided<const NEAR: bool>(x: f64, y: f64) -> (f64, f64) {
    if !NEAR {
        return ((x / y).floor(), x % y);
    }
    // Products of such integers, and the differences to numbers close to them, are exact. The quotient may have been
    // rounded up to the next integer.
    let q = (x / y).floor();
    let q = if x - q * y < 0.0 { q - 1.0 } else { q };
    (q, x - q * y)
}

impl Sampler {
    /// How many elements a point uses along each axis.
    fn width(&self) -> usize {
        match self.mode {
            Mode::Nearest => 1,
            Mode::Linear => 2,
            Mode::Cubic => 4,
        }
    }
    /// How many it uses of a plane.
    ///
    /// # Panics
    /// If there are too many, as of cubic samples along three axes.
    fn taps(&self) -> usize {
        let count = self.width().pow(self.rank as u32);
        assert!(count <= MOST, "planes have 2 axes, or 3 without cubic samples");
        count
    }
    /// Coordinates as positions among `n` elements, not yet brought inside. Returns the derivative.
    #[inline(always)]
    fn positions<T: Sample>(&self, at: &mut Points, n: usize) -> f64 {
        let (n, last) = (n as f64, n as f64 - 1.0);
        if self.align {
            for at in at {
                *at = T::rounded(T::rounded(T::rounded(*at + 1.0) / 2.0) * last);
            }
            last / 2.0
        } else {
            for at in at {
                *at = T::rounded(T::rounded(T::rounded(T::rounded(*at + 1.0) * n) - 1.0) / 2.0);
            }
            n / 2.0
        }
    }
    /// Brought inside, where the border mode requires it, and the derivative of that.
    #[inline(always)]
    fn inside<T: Sample>(&self, at: &mut Points, slope: &mut Points, n: usize) {
        slope.fill(1.0);
        match self.border {
            Border::Zeros => return,
            Border::Clamp => {}
            Border::Reflect => {
                let mut near = true;
                for at in at.iter() {
                    near &= at.abs() < FAR;
                }
                if near { self.reflect::<T, true>(at, slope, n) } else { self.reflect::<T, false>(at, slope, n) }
            }
        }
        let last = n as f64 - 1.0;
        for (at, slope) in at.iter_mut().zip(slope) {
            *slope = if (*at > 0.0) & (*at < last) { *slope } else { 0.0 };
            *at = if *at > 0.0 { *at } else { 0.0 };
            *at = if *at < last { *at } else { last };
        }
    }
    #[inline(always)]
    fn reflect<T: Sample, const NEAR: bool>(&self, at: &mut Points, slope: &mut Points, n: usize) {
        let (low, span) = if self.align { (0.0, n as f64 - 1.0) } else { (-0.5, n as f64) };
        if span == 0.0 {
            at.fill(0.0);
            return;
        }
        for (at, slope) in at.iter_mut().zip(slope) {
            let (below, x) = (*at - low < 0.0, T::rounded(*at - low).abs());
            let (flips, extra) = divided::<NEAR>(x, span);
            let even = flips == 2.0 * (flips / 2.0).floor();
            *at = T::rounded(if even { extra } else { T::rounded(span - extra) } + low);
            *slope = if even == below { -1.0 } else { 1.0 };
        }
    }
    /// The taps along an axis of size `n`, of points with these coordinates.
    #[inline(always)]
    fn along<T: Sample>(&self, mut at: Points, n: usize, axis: &mut AxisTaps<T>) {
        let slope = self.positions::<T>(&mut at, n);
        let mut inner = [0.0; BLOCK];
        match self.mode {
            Mode::Nearest => {
                self.inside::<T>(&mut at, &mut inner, n);
                for at in &mut at {
                    *at = at.round_ties_even();
                }
                axis.put(0, &at, n);
            }
            Mode::Linear => {
                self.inside::<T>(&mut at, &mut inner, n);
                for p in 0..BLOCK {
                    let first = at[p].floor();
                    let t = T::rounded(at[p] - first);
                    (axis.weight[0][p], axis.weight[1][p]) = (T::rounded(1.0 - t), t);
                    (axis.slope[0][p], axis.slope[1][p]) = (-(slope * inner[p]), slope * inner[p]);
                    at[p] = first;
                }
                axis.put(0, &at, n);
                for at in &mut at {
                    *at += 1.0;
                }
                axis.put(1, &at, n);
            }
            Mode::Cubic => {
                for p in 0..BLOCK {
                    let first = at[p].floor();
                    let (w, dw) = cubic(T::rounded(at[p] - first));
                    for k in 0..4 {
                        (axis.weight[k][p], axis.slope[k][p]) = (w[k], dw[k] * slope);
                    }
                    at[p] = first;
                }
                for k in 0..4 {
                    let mut of = at;
                    for at in &mut of {
                        *at = *at - 1.0 + k as f64;
                    }
                    self.inside::<T>(&mut of, &mut inner, n);
                    axis.put(k, &of, n);
                }
            }
        }
    }
}

#[inline(always)]
fn near(x: f64) -> f64 {
    ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
}
#[inline(always)]
fn far(x: f64) -> f64 {
    ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A
}
#[inline(always)]
fn near_slope(x: f64) -> f64 {
    (3.0 * (A + 2.0) * x - 2.0 * (A + 3.0)) * x
}
#[inline(always)]
fn far_slope(x: f64) -> f64 {
    (3.0 * A * x - 10.0 * A) * x + 8.0 * A
}

/// The weights of four elements in a row for a point `t` behind the second, and their derivatives.
#[inline(always)]
fn cubic(t: f64) -> ([f64; 4], [f64; 4]) {
    let w = [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)];
    (w, [far_slope(t + 1.0), near_slope(t), -near_slope(1.0 - t), -far_slope(2.0 - t)])
}

/// The sizes of a call: entries of a batch, channels, a plane, points of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub batch: usize,
    pub channels: usize,
    pub plane: [usize; 3],
    pub points: usize,
}

impl Extent {
    fn inner(&self) -> usize {
        self.plane.iter().product()
    }
    fn blocks(&self) -> usize {
        self.points.div_ceil(BLOCK)
    }
    /// What each channel of `taps` taps takes for all points.
    fn cost(&self, taps: usize) -> f64 {
        (self.batch * self.channels * self.points * taps) as f64 * COST
    }
}

/// The taps of a block of points, those along the last axis next to each other.
struct Taps<T> {
    /// How many there are.
    count: usize,
    /// By axis, the last one first.
    axes: [AxisTaps<T>; 3],
    /// Elements of a plane, always inside.
    at: [[usize; BLOCK]; MOST],
    /// 1; 0 for what is outside and counts as 0.
    there: [[T; BLOCK]; MOST],
    weight: [[T; BLOCK]; MOST],
}

impl<T: Sample> Taps<T> {
    fn new(s: &Sampler) -> Self {
        let none = [[T::ZERO; BLOCK]; MOST];
        Self { count: s.taps(), axes: [AxisTaps::ONLY; 3], at: [[0; BLOCK]; MOST], there: none, weight: none }
    }
    /// Which tap of each axis makes tap `k`.
    #[inline(always)]
    fn parts(s: &Sampler, k: usize) -> [usize; 3] {
        // As many along each axis: 1, 2 or 4.
        let bits = s.width().trailing_zeros();
        let low = s.width() - 1;
        [k & low, (k >> bits) & low, k >> (2 * bits)]
    }
    /// Those of the points of a block, whose coordinates begin at `grid`.
    #[inline(always)]
    fn find(&mut self, s: &Sampler, plane: [usize; 3], grid: &[T]) {
        for (d, axis) in self.axes.iter_mut().enumerate().take(s.rank) {
            // Points that are not there are the middle.
            let mut at = [0.0; BLOCK];
            for (p, at) in at.iter_mut().enumerate().take(grid.len() / s.rank) {
                *at = grid[p * s.rank + d].into();
            }
            s.along::<T>(at, plane[2 - d], axis);
        }
        let [_, h, w] = plane.map(|n| n as f64);
        let [xs, ys, zs] = &self.axes;
        for k in 0..self.count {
            let [x, y, z] = Self::parts(s, k);
            for p in 0..BLOCK {
                let (mut at, mut there, mut weight) = (ys.place[y][p], ys.there[y][p], ys.weight[y][p]);
                if s.rank == 3 {
                    at += zs.place[z][p] * h;
                    there = there.mul(zs.there[z][p]);
                    weight *= zs.weight[z][p];
                }
                self.at[k][p] = integer(at * w + xs.place[x][p]);
                self.there[k][p] = there.mul(xs.there[x][p]);
                self.weight[k][p] = T::constant((weight * xs.weight[x][p]).into());
            }
        }
    }
    /// The derivatives of the weight of tap `k` of point `p` by the coordinates.
    #[inline(always)]
    fn slopes(&self, s: &Sampler, k: usize, p: usize) -> [f64; 3] {
        let ([xs, ys, zs], [x, y, z]) = (&self.axes, Self::parts(s, k));
        let [wx, wy, wz] = [xs.weight[x][p], ys.weight[y][p], zs.weight[z][p]];
        [wz * wy * xs.slope[x][p], wz * ys.slope[y][p] * wx, zs.slope[z][p] * wy * wx]
    }
}

/// The number of an integer below [`FAR`]: its digits behind the leading one of that. Conversions have no instruction
/// for four at a time.
#[inline(always)]
fn integer(x: f64) -> usize {
    ((x + FAR).to_bits() & (FAR as u64 - 1)) as usize
}

/// Finds the taps of a block of points, whose coordinates `grid` holds. One task for all that is done with them: it is
/// the larger part of the code.
struct Find<'a, T> {
    s: &'a Sampler,
    plane: [usize; 3],
    grid: &'a [T],
    taps: &'a mut Taps<T>,
}

impl<T: Sample> Task for Find<'_, T> {
    type Out = ();
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        self.taps.find(self.s, self.plane, self.grid);
    }
}

/// A block of points: the entry of the batch, the first point, and how many there are.
struct Block {
    entry: usize,
    first: usize,
    len: usize,
}

impl Extent {
    /// Block `i`, counted over the entries.
    fn block(&self, i: usize) -> Block {
        let (entry, first) = (i / self.blocks(), i % self.blocks() * BLOCK);
        Block { entry, first, len: BLOCK.min(self.points - first) }
    }
    /// The coordinates of its points.
    fn coordinates(&self, s: &Sampler, block: &Block) -> std::ops::Range<usize> {
        let from = (block.entry * self.points + block.first) * s.rank;
        from..from + block.len * s.rank
    }
    /// The planes of an entry.
    fn planes(&self, entry: usize) -> std::ops::Range<usize> {
        entry * self.channels..(entry + 1) * self.channels
    }
}

/// Samples a block of points in all channels.
///
/// Duties: 1. `x` is readable for the planes of the entry. 2. `y` is writable for the points of the block in all
/// channels, and overlaps nothing else. 3. The taps are those of its points.
struct Forward<'a, T> {
    e: Extent,
    block: Block,
    taps: &'a Taps<T>,
    x: *const T,
    y: *mut T,
}

impl<T: Sample> Task for Forward<'_, T> {
    type Out = ();
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { e, block: Block { entry, first, len }, taps, x, y } = self;
        for c in e.planes(entry) {
            // SAFETY: duties 1 and 2.
            let (x, y) = unsafe { (x.add(c * e.inner()), y.add(c * e.points + first)) };
            let mut p = 0;
            while p < len {
                let mut sum = [T::ZERO; LANES];
                for k in 0..taps.count {
                    for l in 0..LANES {
                        // SAFETY: duties 1 and 3: taps are inside the plane.
                        let v = unsafe { *x.add(taps.at[k][p + l]) };
                        let v = if taps.there[k][p + l] == T::ZERO { T::ZERO } else { v };
                        sum[l] = sum[l].add(v.mul(taps.weight[k][p + l]));
                    }
                }
                if p + LANES <= len {
                    // SAFETY: duty 2.
                    unsafe { y.add(p).cast::<[T; LANES]>().write_unaligned(sum) };
                } else {
                    for (l, &sum) in sum.iter().enumerate().take(len - p) {
                        // SAFETY: duty 2.
                        unsafe { *y.add(p + l) = sum };
                    }
                }
                p += LANES;
            }
        }
    }
}

/// Samples `x` (batch, channels, plane) at the points of `grid` (batch, points, rank) into `y` (batch, channels,
/// points). Threads share the blocks of points.
///
/// # Panics
/// If the slices do not hold these, or planes are empty.
pub fn sample<T: Sample>(s: &Sampler, e: Extent, x: &[T], grid: &[T], y: &mut [T]) {
    check(s, e, x, grid, y);
    let (level, from, y) = (InstructionSet::detect(), SharedPtr(x.as_ptr().cast_mut()), SharedPtr(y.as_mut_ptr()));
    split(e.batch * e.blocks(), 1, e.cost(s.taps()), &|blocks| {
        let mut taps = Taps::new(s);
        for block in blocks {
            let block = e.block(block);
            let grid = &grid[e.coordinates(s, &block)];
            // SAFETY: `Find` has no duties; (Forward 1, 2) the slices were checked to hold these, and a mutable borrow
            // overlaps nothing; no other piece has this block; (3) they were just found.
            unsafe {
                for_isa(level, Find { s, plane: e.plane, grid, taps: &mut taps });
                for_isa(level, Forward { e, block, taps: &taps, x: from.get().cast_const(), y: y.get() });
            }
        }
    });
}

fn check<T>(s: &Sampler, e: Extent, x: &[T], grid: &[T], y: &[T]) {
    let planes = e.batch * e.channels;
    assert!(x.len() == planes * e.inner() && y.len() == planes * e.points, "whole planes, and a result for each point");
    assert!(grid.len() == e.batch * e.points * s.rank, "coordinates for each point");
    assert!(e.inner() > 0 && (e.inner() as u64) < FAR as u64, "planes have elements");
}

/// The reverse of [`sample`] for a block of points.
///
/// Duties: 1. `x` and `gx` are valid for the planes of the entry in all channels, `g` for its points, `ggrid` for their
/// coordinates; `gx` and `ggrid` may be null. 2. What is written, `gx` and `ggrid`, overlaps nothing else. 3. The taps
/// are those of the points.
struct Backward<'a, T> {
    s: &'a Sampler,
    e: Extent,
    block: Block,
    taps: &'a Taps<T>,
    x: *const T,
    g: *const T,
    gx: *mut T,
    ggrid: *mut T,
}

impl<T: Sample> Task for Backward<'_, T> {
    type Out = ();
    const WIDE: bool = T::WIDE;
    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Self { s, e, block, taps, x, g, gx, ggrid } = self;
        let from = e.coordinates(s, &block).start;
        let Block { entry, first, len } = block;
        // Nearest elements stay the same wherever the point is close by.
        let sloped = !ggrid.is_null() && s.mode != Mode::Nearest;
        // For each tap, the products of the elements and the gradients of their samples.
        let mut products = [[0.0; BLOCK]; MOST];
        let mut parts = [[T::ZERO; BLOCK]; MOST];
        for c in e.planes(entry) {
            let mut gs = [T::ZERO; BLOCK];
            // SAFETY: duty 1.
            unsafe { g.add(c * e.points + first).copy_to_nonoverlapping(gs.as_mut_ptr(), len) };
            if !gx.is_null() {
                for (k, parts) in parts.iter_mut().enumerate().take(taps.count) {
                    for p in 0..BLOCK {
                        let part = gs[p].mul(taps.weight[k][p]);
                        parts[p] = if taps.there[k][p] == T::ZERO { T::ZERO } else { part };
                    }
                }
                for p in 0..len {
                    for k in 0..taps.count {
                        // SAFETY: duties 1 to 3: taps are inside the plane.
                        unsafe {
                            let o = gx.add(c * e.inner() + taps.at[k][p]);
                            *o = (*o).add(parts[k][p]);
                        }
                    }
                }
            }
            if sloped {
                // SAFETY: duties 1 and 3.
                unsafe { self::products(taps, x.add(c * e.inner()), &gs, len, &mut products) };
            }
        }
        if !ggrid.is_null() {
            let mut slopes = [[0.0; BLOCK]; 3];
            if sloped {
                for (k, products) in products.iter().enumerate().take(taps.count) {
                    for p in 0..BLOCK {
                        let by = taps.slopes(s, k, p);
                        for d in 0..3 {
                            slopes[d][p] += products[p] * by[d];
                        }
                    }
                }
            }
            for p in 0..len {
                for d in 0..s.rank {
                    // SAFETY: duties 1 and 2.
                    unsafe { *ggrid.add(from + p * s.rank + d) = T::constant(slopes[d][p].into()) };
                }
            }
        }
    }
}

/// Adds to `products`, for each tap and each of `len` points, the element of a plane times the point's gradient.
///
/// # Safety
/// 1. `x` is readable for the plane that the taps are of.
#[inline(always)]
unsafe fn products<T: Sample>(taps: &Taps<T>, x: *const T, gs: &[T; BLOCK], len: usize, products: &mut [Points; MOST]) {
    for (k, products) in products.iter_mut().enumerate().take(taps.count) {
        // Fetched first: the loop below is in vectors then.
        let mut elements = [T::ZERO; BLOCK];
        for (element, &at) in elements.iter_mut().zip(&taps.at[k]).take(len) {
            // SAFETY: duty 1: taps are inside the plane.
            *element = unsafe { *x.add(at) };
        }
        for p in 0..BLOCK {
            let product = Into::<f64>::into(gs[p]) * Into::<f64>::into(elements[p]);
            products[p] += if taps.there[k][p] == T::ZERO { 0.0 } else { product };
        }
    }
}

/// The reverse of [`sample`]: adds to the gradient of the planes, and writes that of the points, if these are wanted.
/// Threads share the entries of the batch.
///
/// # Panics
/// If the slices do not hold these, or planes are empty.
pub fn backward<T: Sample>(
    s: &Sampler,
    e: Extent,
    (x, grid, g): (&[T], &[T], &[T]),
    gx: Option<&mut [T]>,
    ggrid: Option<&mut [T]>,
) {
    check(s, e, x, grid, g);
    assert!(gx.as_ref().is_none_or(|gx| gx.len() == x.len()), "as many as there are elements");
    assert!(ggrid.as_ref().is_none_or(|ggrid| ggrid.len() == grid.len()), "as many as there are coordinates");
    let shared = |t: Option<&mut [T]>| SharedPtr(t.map_or(std::ptr::null_mut(), <[T]>::as_mut_ptr));
    let (level, gx, ggrid) = (InstructionSet::detect(), shared(gx), shared(ggrid));
    let [x, g] = [x, g].map(|t| SharedPtr(t.as_ptr().cast_mut()));
    split(e.batch, 1, 3.0 * e.cost(s.taps()), &|entries| {
        let mut taps = Taps::new(s);
        for block in entries.start * e.blocks()..entries.end * e.blocks() {
            let block = e.block(block);
            let [x, g] = [x, g].map(|t| t.get().cast_const());
            let (gx, ggrid, points) = (gx.get(), ggrid.get(), &grid[e.coordinates(s, &block)]);
            // SAFETY: `Find` has no duties; (Backward 1, 2) the slices were checked to hold these, and mutable borrows
            // overlap nothing; no other piece has this entry; (3) they were just found.
            unsafe {
                for_isa(level, Find { s, plane: e.plane, grid: points, taps: &mut taps });
                for_isa(level, Backward { s, e, block, taps: &taps, x, g, gx, ggrid });
            }
        }
    });
}

#[cfg(test)]
mod tests;
