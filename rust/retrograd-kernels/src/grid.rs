//! Samples of planes at points between their elements.
//!
//! Points are taken in blocks. First the taps of all points of a block are found, in vectors along the points: the
//! elements that each draws on, and their weights. Then every channel is sampled with them. A tap outside of the plane
//! names an element inside that counts as 0, so that all of a block is read alike.

// Loops over the points of several arrays.
#![allow(clippy::needless_range_loop)]

use std::ops::Range;

use super::parallel::{SharedPtr, split};
use super::real::Real;
use super::simd::{Format, InstructionSet, Isa, Task, Vector, for_isa};
use crate::thresholds::grid::BLOCK;

/// As many taps as a point can have: of four elements along two axes.
const MOST: usize = 16;
/// Points that loops over several types take at a time, of which a vector has no more.
const STEP: usize = 16;
const _: () = assert!(BLOCK.is_multiple_of(STEP));
/// Planes that are sampled together.
const TOGETHER: usize = 4;
/// What a tap of a point takes in a channel, in nanoseconds.
const COST: f64 = 0.25;
/// From here on doubles are integers.
const FAR: f64 = (1u64 << 52) as f64;

/// One number for each point of a block.
type Points<T> = [T; BLOCK];

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

/// How points are interpreted. Coordinates are computed in the elements' precision, which decides between neighbours.
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
pub trait Sample: Real + Into<f64> {}
impl<T: Real + Into<f64>> Sample for T {}

/// The taps of a block of points along one axis: up to four.
struct AxisTaps<T> {
    /// The element; of what is outside, the nearest one inside.
    place: [Points<f64>; 4],
    /// 1; 0 for what is outside.
    there: [Points<T>; 4],
    weight: [Points<T>; 4],
    /// The derivative of the weight by the coordinate given.
    slope: [Points<T>; 4],
}

impl<T: Sample> AxisTaps<T> {
    /// A single element, whatever the point is.
    const ONLY: Self = Self {
        place: [[0.0; BLOCK]; 4],
        there: [[T::ONE; BLOCK]; 4],
        weight: [[T::ONE; BLOCK]; 4],
        slope: [[T::ZERO; BLOCK]; 4],
    };

    /// Tap `k` of the points from `p` on, at these places among `n` elements: integers, or no numbers.
    #[inline(always)]
    fn put<V: Vector<Elem = T>>(&mut self, k: usize, p: usize, at: V, n: usize) {
        let (zero, one) = (at.of(0.0), at.of(1.0));
        let inside = V::both((-one).lt(at), at.lt(at.of(n as f64)));
        put(&mut self.there[k], p, one.select(inside, zero));
        let mut places = [T::ZERO; STEP];
        put(&mut places, 0, at.select(zero.lt(at), zero));
        // As f64, since the last place may be no float32.
        let last = n as f64 - 1.0;
        for l in 0..V::LEN {
            let at: f64 = places[l].into();
            self.place[k][p + l] = if at < last { at } else { last };
        }
    }
    /// Tap `k` of the points from `p` on, as far as it does not depend on the border.
    #[inline(always)]
    fn weigh<V: Vector<Elem = T>>(&mut self, k: usize, p: usize, weight: V, slope: V) {
        put(&mut self.weight[k], p, weight);
        put(&mut self.slope[k], p, slope);
    }
    /// Makes the first two taps of the points from `p` on neighbours among `n > 1` elements, wherever `first` is: what
    /// is outside may be anywhere. At the edges the taps change places.
    #[inline(always)]
    fn pair<V: Vector<Elem = T>>(&mut self, p: usize, first: V, n: usize) {
        let inside = V::both(first.of(-1.0).lt(first), first.lt(first.of(n as f64 - 1.0)));
        for of in [&mut self.there, &mut self.weight, &mut self.slope] {
            let (a, b) = (get(&of[0], p, first), get(&of[1], p, first));
            put(&mut of[0], p, a.select(inside, b));
            put(&mut of[1], p, b.select(inside, a));
        }
        for l in 0..V::LEN {
            let at = self.place[0][p + l].min(n as f64 - 2.0);
            (self.place[0][p + l], self.place[1][p + l]) = (at, at + 1.0);
        }
    }
}

/// The numbers from `p` on, as a vector like another one.
#[inline(always)]
fn get<V: Vector>(from: &[V::Elem], p: usize, _like: V) -> V {
    // SAFETY: (1) a vector of this type exists; (2) the slice has as many elements.
    unsafe { V::load(from[p..p + V::LEN].as_ptr()) }
}
#[inline(always)]
fn put<V: Vector>(to: &mut [V::Elem], p: usize, x: V) {
    // SAFETY: (1) the slice has as many elements.
    unsafe { x.store(to[p..p + V::LEN].as_mut_ptr()) }
}

/// To the nearest integer, halves to the even one.
#[inline(always)]
fn round<V: Vector>(x: V) -> V {
    // From there on all numbers are integers, and below sums are rounded to one.
    let (abs, far) = (x.abs(), x.splat(V::Elem::INTEGER));
    ((abs + far) - far).with_sign_of(x).select(abs.lt(far), x)
}
#[inline(always)]
fn floor<V: Vector>(x: V) -> V {
    let near = round(x);
    near - x.of(1.0).select(x.lt(near), x.of(0.0))
}

/// That of a number from 0 to [`Format::INTEGER`], in fewer steps.
#[inline(always)]
fn near_floor<V: Vector>(x: V) -> V {
    let far = x.splat(V::Elem::INTEGER);
    let near = (x + far) - far;
    near - x.of(1.0).select(x.lt(near), x.of(0.0))
}

/// The quotient of positive numbers, rounded down, and the remainder. They are below [`Format::INTEGER`], and `y` is an
/// integer.
#[inline(always)]
fn divided<V: Vector>(x: V, y: V) -> (V, V) {
    // Products of such integers, and the differences to numbers close to them, are exact. The quotient may have been
    // rounded up to the next integer.
    let q = near_floor(x / y);
    let q = q - x.of(1.0).select((x - q * y).lt(x.of(0.0)), x.of(0.0));
    (q, x - q * y)
}

/// A reflection of a point by edges at `low` and `span` behind it, and its derivative, wherever the point is.
fn reflected<T: Sample>([at, low, span]: [T; 3]) -> (T, T) {
    let x = at.sub(low);
    let (abs, by): (f64, f64) = (x.abs().into(), span.into());
    let (odd, extra) = ((abs / by).floor() % 2.0 == 1.0, T::of(abs % by));
    let at = if odd { span.sub(extra) } else { extra }.add(low);
    (at, if odd == (x < T::ZERO) { T::ONE } else { T::ONE.neg() })
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
    /// Coordinates as positions among `n` elements, not yet brought inside, and the derivative.
    #[inline(always)]
    fn positions<V: Vector>(&self, at: V, n: usize) -> (V, V) {
        let (one, half, last, n) = (at.of(1.0), at.of(0.5), at.of(n as f64 - 1.0), at.of(n as f64));
        if self.align { ((at + one) * half * last, last * half) } else { (((at + one) * n - one) * half, n * half) }
    }
    /// Brought inside, where the border mode requires it, and the derivative of that.
    #[inline(always)]
    fn inside<V: Vector<Elem: Sample>>(&self, at: V, n: usize) -> (V, V) {
        let (zero, one, last) = (at.of(0.0), at.of(1.0), at.of(n as f64 - 1.0));
        let (at, slope) = match self.border {
            Border::Zeros => return (at, one),
            Border::Clamp => (at, one),
            Border::Reflect => self.reflect(at, n),
        };
        let slope = slope.select(V::both(zero.lt(at), at.lt(last)), zero);
        let at = at.select(zero.lt(at), zero);
        (at.select(at.lt(last), last), slope)
    }
    #[inline(always)]
    fn reflect<V: Vector<Elem: Sample>>(&self, at: V, n: usize) -> (V, V) {
        let (low, span) = if self.align { (0.0, n as f64 - 1.0) } else { (-0.5, n as f64) };
        let (low, by, zero, one) = (at.of(low), at.of(span), at.of(0.0), at.of(1.0));
        if span == 0.0 {
            return (zero, zero);
        }
        let x = at - low;
        let (flips, extra) = divided(x.abs(), by);
        let even = flips.eq(near_floor(flips * at.of(0.5)) * at.of(2.0));
        let turned = one.select(even, -one) * (-one).select(x.lt(zero), one);
        let found = extra.select(even, by - extra) + low;
        let far = at.splat(V::Elem::INTEGER);
        let near = V::both(x.abs().lt(far), by.lt(far));
        let all = [at, low, by];
        (found.patched(near, all, |all| reflected(all).0), turned.patched(near, all, |all| reflected(all).1))
    }
    /// The taps along an axis of size `n` of the points from `p` on, with these coordinates. `paired`: the first two
    /// are neighbours.
    #[inline(always)]
    fn along<V: Vector<Elem: Sample>>(&self, at: V, n: usize, paired: bool, axis: &mut AxisTaps<V::Elem>, p: usize) {
        let one = at.of(1.0);
        let (at, slope) = self.positions(at, n);
        match self.mode {
            Mode::Nearest => axis.put(0, p, round(self.inside(at, n).0), n),
            Mode::Linear => {
                let (at, inner) = self.inside(at, n);
                let (first, slope) = (floor(at), slope * inner);
                let t = at - first;
                axis.weigh(0, p, one - t, -slope);
                axis.weigh(1, p, t, slope);
                axis.put(0, p, first, n);
                axis.put(1, p, first + one, n);
                if paired {
                    axis.pair(p, first, n);
                }
            }
            Mode::Cubic => {
                let first = floor(at);
                let (w, dw) = cubic(at - first);
                for k in 0..4 {
                    axis.weigh(k, p, w[k], dw[k] * slope);
                    let place = self.inside(first + at.of(k as f64 - 1.0), n).0;
                    // Reflections of places far away may be halves.
                    let place = if self.border == Border::Reflect { floor(place) } else { place };
                    axis.put(k, p, place, n);
                }
            }
        }
    }
}

/// The weights of four elements in a row for a point `t` behind the second, and their derivatives.
#[inline(always)]
fn cubic<V: Vector>(t: V) -> ([V; 4], [V; 4]) {
    let rest = t.of(1.0) - t;
    let [far, near, near2, far2] = [far(t), near(t), near(rest), far(rest)];
    ([far.0, near.0, near2.0, far2.0], [far.1, near.1, -near2.1, -far2.1])
}
/// The weight of a neighbour at distance `t`, `(a + 2) t^3 - (a + 3) t^2 + 1`, and its derivative. In these forms no
/// digits are lost where weights are small.
#[inline(always)]
fn near<V: Vector>(t: V) -> (V, V) {
    let (one, scaled) = (t.of(1.0), t.of(A + 2.0) * t);
    ((one - t) * (one + t * (one - scaled)), t * (t.of(3.0) * scaled - t.of(2.0 * (A + 3.0))))
}
/// The weight of a neighbour at distance `1 + t`, `a t (1 - t)^2`, and its derivative.
#[inline(always)]
fn far<V: Vector>(t: V) -> (V, V) {
    let rest = t.of(1.0) - t;
    let scaled = t.of(A) * rest;
    (scaled * rest * t, scaled * (rest - (t + t)))
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
#[repr(C, align(64))]
struct Taps<T> {
    /// By axis, the last one first.
    axes: [AxisTaps<T>; 3],
    /// Elements of a plane, always inside; of points that are not there, any.
    at: [Points<u64>; MOST],
    /// 1; 0 for what is outside and counts as 0.
    there: [Points<T>; MOST],
    weight: [Points<T>; MOST],
    /// How many there are.
    count: usize,
    /// Whether taps `2 k` and `2 k + 1` are neighbours.
    paired: bool,
}

impl<T: Sample> Taps<T> {
    fn new(s: &Sampler) -> Self {
        let none = [[T::ZERO; BLOCK]; MOST];
        Self {
            axes: [AxisTaps::ONLY; 3],
            at: [[0; BLOCK]; MOST],
            there: none,
            weight: none,
            count: s.taps(),
            paired: false,
        }
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
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `S`.
    #[inline(always)]
    unsafe fn find<S: Isa>(&mut self, s: &Sampler, plane: [usize; 3], grid: &[T]) {
        let points = grid.len() / s.rank;
        // Where places are no exact numbers, neighbours are not one apart.
        self.paired = s.mode == Mode::Linear && plane[2] > 1 && T::of(plane[2] as f64) < T::INTEGER;
        for (d, axis) in self.axes.iter_mut().enumerate().take(s.rank) {
            // Points that are not there are the middle.
            let mut at = [T::ZERO; BLOCK];
            if s.rank == 2 {
                apart::<T, 2>(grid, d, &mut at)
            } else {
                apart::<T, 3>(grid, d, &mut at)
            }
            for p in (0..points).step_by(T::Vector::<S>::LEN) {
                // SAFETY: (1) duty 1; (2) blocks are whole vectors.
                let at = unsafe { T::Vector::<S>::load(at.as_ptr().add(p)) };
                s.along(at, plane[2 - d], self.paired && d == 0, axis, p);
            }
        }
        for k in 0..self.count {
            // SAFETY: duty 1.
            unsafe {
                self.locate::<S::F64>(s, plane, k, points);
                self.combine::<T::Vector<S>>(s, k, points);
            }
        }
    }
    /// Where tap `k` is, from its places along the axes.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `V`.
    #[inline(always)]
    unsafe fn locate<V: Vector<Elem = f64>>(&mut self, s: &Sampler, plane: [usize; 3], k: usize, points: usize) {
        let [x, y, z] = Self::parts(s, k);
        let [xs, ys, zs] = &self.axes;
        for p in (0..points).step_by(V::LEN) {
            // SAFETY: (1) duty 1; (2) blocks are whole vectors.
            let z = unsafe { V::load(zs.place[z].as_ptr().add(p)) };
            let row = z * z.of(plane[1] as f64) + get(&ys.place[y], p, z);
            let at = row * z.of(plane[2] as f64) + get(&xs.place[x], p, z);
            // The digits behind the leading one of that number are an integer below it. Conversions have no instruction
            // for several at a time.
            let at = (at + z.of(FAR)).and(z.splat(f64::from_bits(FAR as u64 - 1)));
            // SAFETY: (1) blocks are whole vectors, and these elements have the size of the vector's.
            unsafe { at.store(self.at[k].as_mut_ptr().add(p).cast()) };
        }
    }
    /// Whether tap `k` is inside of the plane, and its weight, from those along the axes.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of `V`.
    #[inline(always)]
    unsafe fn combine<V: Vector<Elem = T>>(&mut self, s: &Sampler, k: usize, points: usize) {
        let [x, y, z] = Self::parts(s, k);
        let [xs, ys, zs] = &self.axes;
        for p in (0..points).step_by(V::LEN) {
            // SAFETY: (1) duty 1; (2) blocks are whole vectors.
            let there = unsafe { V::load(zs.there[z].as_ptr().add(p)) };
            let there = there * get(&ys.there[y], p, there) * get(&xs.there[x], p, there);
            let weight = get(&zs.weight[z], p, there) * get(&ys.weight[y], p, there) * get(&xs.weight[x], p, there);
            put(&mut self.there[k], p, there);
            put(&mut self.weight[k], p, weight);
        }
    }
    /// The factors of the derivative of the weight of tap `k` by coordinate `d`.
    #[inline(always)]
    fn slope(&self, s: &Sampler, k: usize, d: usize) -> [&Points<T>; 3] {
        let parts = Self::parts(s, k);
        std::array::from_fn(|i| {
            let axis = &self.axes[i];
            if i == d { &axis.slope[parts[i]] } else { &axis.weight[parts[i]] }
        })
    }
}

/// Coordinate `d` of each point, of `RANK` ones.
#[inline(always)]
fn apart<T: Sample, const RANK: usize>(grid: &[T], d: usize, at: &mut Points<T>) {
    let (points, _) = grid.as_chunks::<RANK>();
    for (at, point) in at.iter_mut().zip(points) {
        *at = point[d];
    }
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
        // SAFETY: Task 2.
        unsafe { self.taps.find::<S>(self.s, self.plane, self.grid) };
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
        let (mut planes, points) = (e.planes(entry), first..first + len);
        while planes.len() >= TOGETHER {
            // SAFETY: our own duties; there are so many planes.
            unsafe { sample_planes::<T, T::Vector<S>, TOGETHER>(&e, taps, &points, planes.start, x, y) };
            planes.start += TOGETHER;
        }
        for plane in planes {
            // SAFETY: our own duties.
            unsafe { sample_planes::<T, T::Vector<S>, 1>(&e, taps, &points, plane, x, y) };
        }
    }
}

/// Samples a block of points in `C` planes from `plane` on: where the elements lie is read once for all of them.
///
/// # Safety
/// The duties of [`Forward`], and those of its task; there are these planes.
#[inline(always)]
unsafe fn sample_planes<T: Sample, V: Vector<Elem = T>, const C: usize>(
    e: &Extent,
    taps: &Taps<T>,
    points: &Range<usize>,
    plane: usize,
    x: *const T,
    y: *mut T,
) {
    let (inner, len) = (e.inner(), points.len());
    // SAFETY: duties 1 and 2.
    let (x, y) = unsafe { (x.add(plane * inner), y.add(plane * e.points + points.start)) };
    for p in (0..len).step_by(V::LEN) {
        // SAFETY: duties 1 and 3; Task 2.
        let sums = unsafe { weighted::<T, V, C>(taps, p, x, inner) };
        for (c, sum) in sums.into_iter().enumerate() {
            // SAFETY: duty 2.
            unsafe {
                let y = y.add(c * e.points + p);
                if p + V::LEN <= len { sum.store(y) } else { sum.store_first(y, len - p) }
            }
        }
    }
}

/// The samples of a vector of points from `p` on, in each of `C` planes, which are `step` elements apart.
///
/// # Safety
/// 1. `x` is readable for the planes that the taps are of. 2. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn weighted<T: Sample, V: Vector<Elem = T>, const C: usize>(
    taps: &Taps<T>,
    p: usize,
    x: *const T,
    step: usize,
) -> [V; C] {
    // SAFETY: duties 1 and 2; vectors from `p` on end within the block.
    unsafe {
        let weight = |k: usize| V::load(taps.weight[k].as_ptr().add(p));
        let mut sums = [weight(0).of(0.0); C];
        if taps.paired {
            for k in (0..taps.count).step_by(2) {
                let (v, w) = (weight(k), weight(k + 1));
                let pairs = pairs::<T, V, C>(taps, k, p, x, step);
                for c in 0..C {
                    sums[c] = sums[c] + pairs[c].0 * v;
                    sums[c] = sums[c] + pairs[c].1 * w;
                }
            }
        } else {
            for k in 0..taps.count {
                let w = weight(k);
                let elements = elements::<T, V, C>(taps, k, p, x, step);
                for c in 0..C {
                    sums[c] = sums[c] + elements[c] * w;
                }
            }
        }
        sums
    }
}

/// The elements of tap `k` of the points from `p` on, in each of `C` planes, which are `step` elements apart.
///
/// # Safety
/// 1. `x` is readable for the planes that the taps are of. 2. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn elements<T: Sample, V: Vector<Elem = T>, const C: usize>(
    taps: &Taps<T>,
    k: usize,
    p: usize,
    x: *const T,
    step: usize,
) -> [V; C] {
    let mut elements = [[T::ZERO; STEP]; C];
    for l in 0..V::LEN {
        let at = taps.at[k][p + l] as usize;
        for c in 0..C {
            // SAFETY: duty 1: taps are inside the plane.
            elements[c][l] = unsafe { *x.add(c * step + at) };
        }
    }
    // SAFETY: (1) duty 2; (2) as many were just written.
    let mut found = unsafe { [V::load(elements[0].as_ptr()); C] };
    for c in 0..C {
        // SAFETY: as above.
        found[c] = there(taps, k, p, unsafe { V::load(elements[c].as_ptr()) });
    }
    found
}

/// The elements of taps `k` and `k + 1`, which are neighbours, of the points from `p` on, in each of `C` planes, which
/// are `step` elements apart.
///
/// # Safety
/// 1. `x` is readable for the planes that the taps are of. 2. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn pairs<T: Sample, V: Vector<Elem = T>, const C: usize>(
    taps: &Taps<T>,
    k: usize,
    p: usize,
    x: *const T,
    step: usize,
) -> [(V, V); C] {
    let mut pairs = [[[T::ZERO; 2]; STEP]; C];
    for l in 0..V::LEN {
        let at = taps.at[k][p + l] as usize;
        for c in 0..C {
            // SAFETY: duty 1: taps are inside the plane.
            pairs[c][l] = unsafe { *x.add(c * step + at).cast::<[T; 2]>() };
        }
    }
    // SAFETY: (1) duty 2; (2) as many were just written.
    let mut found = unsafe { [(V::load(pairs[0].as_ptr().cast()), V::load(pairs[0].as_ptr().cast())); C] };
    for c in 0..C {
        // SAFETY: as above.
        let (a, b) = unsafe {
            let pairs = pairs[c].as_ptr().cast::<T>();
            V::deinterleave(V::load(pairs), V::load(pairs.add(V::LEN)))
        };
        found[c] = (there(taps, k, p, a), there(taps, k + 1, p, b));
    }
    found
}

/// `x`, where it is of an element inside of the plane, and 0 elsewhere.
#[inline(always)]
fn there<T: Sample, V: Vector<Elem = T>>(taps: &Taps<T>, k: usize, p: usize, x: V) -> V {
    let zero = x.of(0.0);
    x.select(zero.lt(get(&taps.there[k], p, x)), zero)
}

/// Samples `x` (batch, channels, plane) at the points of `grid` (batch, points, rank) into `y` (batch, channels,
/// points). Threads share the blocks of points.
///
/// # Panics
/// If the slices do not hold these, or planes are empty.
pub fn sample<T: Sample>(s: &Sampler, e: Extent, x: &[T], grid: &[T], y: &mut [T]) {
    sample_by(InstructionSet::detect(), s, e, x, grid, y);
}

fn sample_by<T: Sample>(level: InstructionSet, s: &Sampler, e: Extent, x: &[T], grid: &[T], y: &mut [T]) {
    check(s, e, x, grid, y);
    let (from, y) = (SharedPtr(x.as_ptr().cast_mut()), SharedPtr(y.as_mut_ptr()));
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
    sums: &'a mut Sums<T>,
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
        let Self { s, e, block, taps, sums: Sums { gs, parts, products }, x, g, gx, ggrid } = self;
        let from = e.coordinates(s, &block).start;
        let Block { entry, first, len } = block;
        // Nearest elements stay the same wherever the point is close by.
        let sloped = !ggrid.is_null() && s.mode != Mode::Nearest;
        if sloped {
            for products in &mut products[..taps.count] {
                products.fill(0.0);
            }
        }
        let inner = e.inner();
        let wanted = if sloped || !gx.is_null() { e.planes(entry) } else { 0..0 };
        for c in wanted {
            // SAFETY: (1) duty 1; (2) Task 2.
            unsafe { take::<T, T::Vector<S>>(g.add(c * e.points + first), len, gs) };
            if !gx.is_null() {
                // SAFETY: Task 2.
                unsafe { self::parts::<T, T::Vector<S>>(taps, gs, len, parts) };
                // SAFETY: duties 1 to 3.
                unsafe { scatter(taps, parts, len, gx.add(c * inner)) };
            }
            if sloped {
                // SAFETY: duties 1 and 3; Task 2.
                unsafe { self::products::<T, T::Vector<S>>(taps, x.add(c * inner), gs, len, products) };
            }
        }
        if !ggrid.is_null() {
            let mut slopes = [[0.0; BLOCK]; 3];
            if sloped {
                for (k, products) in products.iter().enumerate().take(taps.count) {
                    for (d, slopes) in slopes.iter_mut().enumerate().take(s.rank) {
                        let [x, y, z] = taps.slope(s, k, d);
                        for p in 0..BLOCK {
                            slopes[p] += products[p] * (z[p].into() * y[p].into() * x[p].into());
                        }
                    }
                }
            }
            for p in 0..len {
                for d in 0..s.rank {
                    // SAFETY: duties 1 and 2.
                    unsafe { *ggrid.add(from + p * s.rank + d) = T::of(slopes[d][p]) };
                }
            }
        }
    }
}

/// What the reverse keeps of a block.
#[repr(C, align(64))]
struct Sums<T> {
    /// The gradients of its samples in a channel.
    gs: Points<T>,
    /// Of each tap in a channel, its part of them.
    parts: [Points<T>; MOST],
    /// Of each tap, the products of elements and gradients, summed over the channels.
    products: [Points<f64>; MOST],
}

impl<T: Sample> Sums<T> {
    const NONE: Self = Self { gs: [T::ZERO; BLOCK], parts: [[T::ZERO; BLOCK]; MOST], products: [[0.0; BLOCK]; MOST] };
}

/// The parts of the taps in the gradients `gs`, of at least `len` points.
///
/// # Safety
/// 1. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn parts<T: Sample, V: Vector<Elem = T>>(
    taps: &Taps<T>,
    gs: &Points<T>,
    len: usize,
    parts: &mut [Points<T>; MOST],
) {
    for p in (0..len).step_by(V::LEN) {
        // SAFETY: (1) duty 1; (2) blocks are whole vectors.
        let g = unsafe { V::load(gs.as_ptr().add(p)) };
        for k in 0..taps.count {
            put(&mut parts[k], p, there(taps, k, p, g * get(&taps.weight[k], p, g)));
        }
    }
}

/// The first `len` numbers.
///
/// # Safety
/// 1. `g` is readable for them. 2. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn take<T: Sample, V: Vector<Elem = T>>(g: *const T, len: usize, gs: &mut Points<T>) {
    for p in (0..len).step_by(V::LEN) {
        // SAFETY: duties 1 and 2.
        let g = unsafe { if p + V::LEN <= len { V::load(g.add(p)) } else { V::load_first(g.add(p), len - p) } };
        put(gs, p, g);
    }
}

/// Adds the parts of `len` points to their elements, point by point.
///
/// # Safety
/// 1. `gx` is valid for the plane that the taps are of.
#[inline(always)]
unsafe fn scatter<T: Sample>(taps: &Taps<T>, parts: &[Points<T>; MOST], len: usize, gx: *mut T) {
    let taps = taps.at.iter().zip(parts).take(taps.count);
    for p in 0..len {
        for (at, parts) in taps.clone() {
            // SAFETY: duty 1: taps are inside the plane.
            unsafe {
                let o = gx.add(at[p] as usize);
                *o = (*o).add(parts[p]);
            }
        }
    }
}

/// Adds to `products`, for each tap and at least `len` points, the element of a plane times the point's gradient.
///
/// # Safety
/// 1. `x` is readable for the plane that the taps are of. 2. The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn products<T: Sample, V: Vector<Elem = T>>(
    taps: &Taps<T>,
    x: *const T,
    gs: &Points<T>,
    len: usize,
    products: &mut [Points<f64>; MOST],
) {
    let together = if taps.paired { 2 } else { 1 };
    let mut found = [[T::ZERO; BLOCK]; 2];
    for k in (0..taps.count).step_by(together) {
        for p in (0..len).step_by(V::LEN) {
            // SAFETY: duties 1 and 2.
            unsafe {
                if taps.paired {
                    let [(a, b)] = pairs::<T, V, 1>(taps, k, p, x, 0);
                    put(&mut found[0], p, a);
                    put(&mut found[1], p, b);
                } else {
                    let [elements] = elements::<T, V, 1>(taps, k, p, x, 0);
                    put(&mut found[0], p, elements);
                }
            }
        }
        for ((products, found), there) in products[k..].iter_mut().zip(&found).zip(&taps.there[k..]).take(together) {
            for p in 0..BLOCK {
                let product = gs[p].into() * found[p].into();
                products[p] += if there[p] == T::ZERO { 0.0 } else { product };
            }
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
    operands: (&[T], &[T], &[T]),
    gx: Option<&mut [T]>,
    ggrid: Option<&mut [T]>,
) {
    backward_by(InstructionSet::detect(), s, e, operands, gx, ggrid);
}

fn backward_by<T: Sample>(
    level: InstructionSet,
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
    let (gx, ggrid) = (shared(gx), shared(ggrid));
    let [x, g] = [x, g].map(|t| SharedPtr(t.as_ptr().cast_mut()));
    split(e.batch, 1, 3.0 * e.cost(s.taps()), &|entries| {
        let (mut taps, mut sums) = (Taps::new(s), Sums::NONE);
        for block in entries.start * e.blocks()..entries.end * e.blocks() {
            let block = e.block(block);
            let [x, g] = [x, g].map(|t| t.get().cast_const());
            let (gx, ggrid, points) = (gx.get(), ggrid.get(), &grid[e.coordinates(s, &block)]);
            // SAFETY: `Find` has no duties; (Backward 1, 2) the slices were checked to hold these, and mutable borrows
            // overlap nothing; no other piece has this entry; (3) they were just found.
            unsafe {
                for_isa(level, Find { s, plane: e.plane, grid: points, taps: &mut taps });
                for_isa(level, Backward { s, e, block, taps: &taps, sums: &mut sums, x, g, gx, ggrid });
            }
        }
    });
}

#[cfg(test)]
mod tests;
