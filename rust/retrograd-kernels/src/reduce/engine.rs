//! The walks: rows where the innermost axis is reduced, strips where it is kept.

mod small;
mod strips;

use std::mem::MaybeUninit;

use self::small::{SmallStrips, are_turned, turned_rows};
use self::strips::Strips;
pub(super) use self::strips::{StripCascade, fold, join_copies};
use super::super::real::Real;
use super::super::simd::{Baseline, InstructionSet, Isa, SimdElement, Stored, Task, Vector, for_isa};
use super::super::strided::{Axes, Axis, Offsets, axis, is_contiguous, plan, row_major};
use super::{BLOCK, Reduce, with_dense_results};
use crate::parallel::{SharedPtr, split};
use crate::thresholds::reduce::{IN_ORDER, PART, STRIP_BYTES, WIDE};

/// Elements of the shortest rows that are added up as strips, if there are many for a result.
const SHORT: usize = 8;

/// What an element takes, in nanoseconds.
pub(super) const ELEMENT_COST: f64 = 0.1;

/// Pairwise joining: holds one result per power of two, so 64 places serve any count.
pub struct Cascade<Acc> {
    places: [MaybeUninit<Acc>; 64],
    count: usize,
}

impl<Acc: Copy> Default for Cascade<Acc> {
    #[inline(always)]
    fn default() -> Self {
        Cascade { places: [MaybeUninit::uninit(); 64], count: 0 }
    }
}

impl<Acc: Copy> Cascade<Acc> {
    /// Whether nothing was added yet.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the result of the next block.
    #[inline(always)]
    pub fn push<A, R: Reduce<A, Acc = Acc>>(&mut self, r: &R, mut acc: Acc) {
        let mut k = 0;
        while self.count >> k & 1 == 1 {
            // SAFETY: bit k of `count` is set, so place k was written by an earlier push.
            acc = r.combine(unsafe { self.places[k].assume_init() }, acc);
            k += 1;
        }
        self.places[k] = MaybeUninit::new(acc);
        self.count += 1;
    }

    /// Joins what is left, the latest blocks first.
    #[inline(always)]
    pub fn total<A, R: Reduce<A, Acc = Acc>>(&self, r: &R) -> Acc {
        let mut total = None;
        for k in 0..64 {
            if self.count >> k == 0 {
                break;
            }
            if self.count >> k & 1 == 1 {
                // SAFETY: bit k of `count` is set, so place k was written by a push.
                let here = unsafe { self.places[k].assume_init() };
                total = Some(match total {
                    None => here,
                    Some(later) => r.combine(here, later),
                });
            }
        }
        match total {
            Some(total) => total,
            None => r.init(),
        }
    }
}

/// Reduces `red` axes of `a` for every position of the `kept` axes; `o` is contiguous over the latter, row-major.
///
/// # Safety
/// 1. `a` is readable and initialised at every position of both sets of axes. 2. `o` is writable for the product of
///    `kept_sizes`. 3. They do not overlap.
#[inline]
pub unsafe fn reduce<A: SimdElement, R: Reduce<A>>(
    r: &R,
    kept_sizes: &[usize],
    kept_strides: &[isize],
    red_sizes: &[usize],
    red_strides: &[isize],
    a: *const A,
    o: *mut R::O,
) {
    // SAFETY: (1-3) are ours.
    unsafe { reduce_at(InstructionSet::detect(), r, kept_sizes, kept_strides, red_sizes, red_strides, a, o) }
}

/// [`reduce`] with the instructions of `level`.
///
/// # Safety
/// As [`reduce`].
#[allow(clippy::too_many_arguments)]
pub unsafe fn reduce_at<A: SimdElement, R: Reduce<A>>(
    level: InstructionSet,
    r: &R,
    kept_sizes: &[usize],
    kept_strides: &[isize],
    red_sizes: &[usize],
    red_strides: &[isize],
    a: *const A,
    o: *mut R::O,
) {
    let n: usize = red_sizes.iter().product();
    if kept_sizes.iter().all(|&size| size == 1) && is_contiguous(red_sizes, red_strides) {
        // SAFETY: ((long_row 1, ReduceRow 1)) duty 1, the layout being contiguous; duty 2 for the one result.
        unsafe {
            let acc =
                if n >= 2 * PART { long_row(level, r, n, a) } else { for_isa(level, ReduceRow { r, n, a, stride: 1 }) };
            *o = r.finish(acc, n);
        }
        return;
    }
    // Operand 0 leads the order of the kept axes: the input.
    let kept: Axes<2> = plan(kept_sizes, [kept_strides, &row_major(kept_sizes)]);
    let red: Axes<1> = plan(red_sizes, [red_strides]);
    if kept.iter().any(|x| x.size == 0) {
        return;
    }
    // SAFETY: (1-3) are ours, for axes of the same positions.
    unsafe { with_dense_results(&kept, n, o, |kept, o| reduce_axes(level, r, kept, &red, n, a, o)) }
}

/// [`reduce_at`] of planned axes, some of them kept, and of `n` elements for a result.
///
/// # Safety
/// As [`reduce`].
unsafe fn reduce_axes<A: SimdElement, R: Reduce<A>>(
    level: InstructionSet,
    r: &R,
    kept: &Axes<2>,
    red: &Axes<1>,
    n: usize,
    a: *const A,
    o: *mut R::O,
) {
    let count = kept.iter().fold(n, |count, x| count.saturating_mul(x.size));
    // What is expanded along a reduced axis is near in any order.
    let nearest = red.iter().map(|d| d.strides[0].unsigned_abs()).filter(|&d| d > 0).min();
    let by_strips = match (kept.first(), nearest) {
        (Some(k), Some(d)) => n > 0 && k.strides[0].unsigned_abs() < d,
        (Some(_), None) => n > 0 && !red.is_empty(),
        _ => false,
    };
    // Many short rows are added up as strips, whose columns are then joined.
    let (is_one, short) = (kept.is_empty(), SHORT..STRIP_BYTES / 16);
    let joined =
        !R::EXACT && !by_strips && red.len() > 1 && red[0].strides[0] == 1 && short.contains(&red[0].size) && n > 0;
    let (mut with_row, mut without);
    let (kept, red) = if joined {
        (with_row, without) = (kept.clone(), red.clone());
        with_row.insert(0, Axis { size: red[0].size, strides: [1, 0] });
        without.remove(0);
        (&with_row, &without)
    } else {
        (kept, red)
    };
    let turned = !by_strips && !joined && are_turned::<A, R>(kept, red);
    let run = |kept: &[Axis<2>], a: *const A, o: *mut R::O| {
        // SAFETY: (Walk 1-3) are ours, for some of the kept positions.
        unsafe {
            if by_strips || joined || turned {
                let strips = Strips { r, kept, red, n, joined, a, o };
                if turned {
                    turned_rows(level, strips);
                } else if strips.are_small() {
                    for_isa(level, SmallStrips(strips));
                } else {
                    for_isa(level, strips);
                }
            } else {
                for_isa(level, ReduceRows { r, kept, red, n, a, o });
            }
        }
    };
    if count < PART || is_one {
        return run(kept, a, o);
    }
    // Strips are cut so that the folding of narrow ones does not change.
    let (last, grain) = (kept.len() - 1, if by_strips && kept.len() == 1 { 2 * WIDE } else { 1 });
    let (a, o) = (SharedPtr(a.cast_mut()), SharedPtr(o));
    split(kept[last].size, grain, count as f64 * ELEMENT_COST, &|range| {
        let mut kept = kept.clone();
        let [sa, so] = kept[last].strides.map(|s| range.start as isize * s);
        kept[last].size = range.len();
        // SAFETY: duties 1 and 2: positions of `kept`.
        unsafe { run(&kept, a.get().offset(sa), o.get().offset(so)) };
    });
}

/// A contiguous row on several threads: the same tree as that of [`ReduceRow`], since all parts but the last have a
/// power of two of blocks.
///
/// # Safety
/// 1. `a` is readable and initialised for `n` elements.
unsafe fn long_row<A: SimdElement, R: Reduce<A>>(level: InstructionSet, r: &R, n: usize, a: *const A) -> R::Acc {
    let mut parts = vec![r.init(); n.div_ceil(PART)];
    let (a, out) = (SharedPtr(a.cast_mut()), SharedPtr(parts.as_mut_ptr()));
    split(n, PART, n as f64 * ELEMENT_COST, &|range| {
        for start in range.clone().step_by(PART) {
            // SAFETY: (ReduceRow 1) duty 1; the part's place is this piece's alone.
            unsafe {
                let row = ReduceRow { r, n: PART.min(range.end - start), a: a.get().add(start), stride: 1 };
                *out.get().add(start / PART) = for_isa(level, row);
            }
        }
    });
    let mut cascade = Cascade::default();
    for &part in &parts {
        cascade.push(r, part);
    }
    cascade.total(r)
}

/// The accumulator of one row, for callers that split it among threads: see the module's word on order.
///
/// # Safety
/// 1. `a` is readable and initialised for `n` elements with stride `stride`.
pub unsafe fn row<A: SimdElement, R: Reduce<A>>(r: &R, n: usize, a: *const A, stride: isize) -> R::Acc {
    // SAFETY: (ReduceRow 1) is our duty 1.
    unsafe { for_isa(InstructionSet::detect(), ReduceRow { r, n, a, stride }) }
}

/// Duties: 1 of [`row`].
struct ReduceRow<'r, A, R> {
    r: &'r R,
    n: usize,
    a: *const A,
    stride: isize,
}

/// Duties: 1-3 of [`reduce`]; `n` is the product of the sizes of `red`.
struct ReduceRows<'r, A, R: Reduce<A>> {
    r: &'r R,
    kept: &'r [Axis<2>],
    red: &'r [Axis<1>],
    n: usize,
    a: *const A,
    o: *mut R::O,
}

/// `L` accumulators take every `L`-th of `n` elements and are joined as a tree.
///
/// # Safety
/// 1. The elements are readable and initialised. 2. `n` is a multiple of `L`.
#[inline(always)]
pub(super) unsafe fn lanes<const L: usize, A: SimdElement, R: Reduce<A>>(r: &R, n: usize, a: *const A) -> R::Acc {
    let mut acc = [r.init(); L];
    // SAFETY: duties 1 and 2.
    unsafe { take(r, &mut acc, a, n / L, L as isize) };
    let mut width = L / 2;
    while width > 0 {
        for j in 0..width {
            acc[j] = r.combine(acc[j], acc[j + width]);
        }
        width /= 2;
    }
    acc[0]
}

/// A reduction of floats whose accumulators are elements, lane by lane.
pub trait InVectors<T: Real>: Reduce<T, Acc = T> {
    /// As `combine`.
    fn combine_vectors<V: Vector<Elem = T>>(&self, a: V, b: V) -> V;
    /// As `step`.
    #[inline(always)]
    fn step_vectors<V: Vector<Elem = T>>(&self, acc: V, x: V) -> V {
        self.combine_vectors(acc, x)
    }
}

/// [`Reduce::lanes`] in vectors, so that the accumulators stay in registers: the same tree, with the same result.
///
/// # Safety
/// 1. As [`Reduce::lanes`].
#[inline(always)]
pub(super) unsafe fn vector_lanes<S: Isa, const L: usize, T: Real, R: InVectors<T>>(r: &R, n: usize, a: *const T) -> T {
    // SAFETY: duty 1; `N` vectors have `L` lanes.
    unsafe { if L < T::Vector::<S>::LEN { lanes::<L, T, R>(r, n, a) } else { in_registers::<S, L, T, T, R>(r, n, a) } }
}

/// [`vector_lanes`] of elements in any storage.
///
/// # Safety
/// 1. As [`Reduce::lanes`]. 2. `L` is the lanes of 1, 2, 4, 8 or 16 vectors.
#[inline(always)]
pub(super) unsafe fn in_registers<S: Isa, const L: usize, T: Real, A: Stored<Float = T>, R: InVectors<T>>(
    r: &R,
    n: usize,
    a: *const A,
) -> T {
    // SAFETY: duty 1; `N` vectors have `L` lanes by duty 2.
    unsafe {
        match L / T::Vector::<S>::LEN {
            1 => registers::<S, 1, T, A, R>(r, n, a),
            2 => registers::<S, 2, T, A, R>(r, n, a),
            4 => registers::<S, 4, T, A, R>(r, n, a),
            8 => registers::<S, 8, T, A, R>(r, n, a),
            _ => registers::<S, 16, T, A, R>(r, n, a),
        }
    }
}

/// # Safety
/// 1. As [`Reduce::lanes`], for the lanes of `N` vectors.
#[inline(always)]
unsafe fn registers<S: Isa, const N: usize, T: Real, A: Stored<Float = T>, R: InVectors<T>>(
    r: &R,
    n: usize,
    a: *const A,
) -> T {
    let len = T::Vector::<S>::LEN;
    // SAFETY: duty 1, cut at multiples of the lanes.
    unsafe {
        let mut acc = [A::load::<S>(a).splat(r.init()); N];
        for start in (0..n).step_by(N * len) {
            for (k, acc) in acc.iter_mut().enumerate() {
                *acc = r.step_vectors(*acc, A::load::<S>(a.add(start + k * len)));
            }
        }
        let mut half = N / 2;
        while half > 0 {
            for k in 0..half {
                acc[k] = r.combine_vectors(acc[k], acc[k + half]);
            }
            half /= 2;
        }
        joined(r, acc[0])
    }
}

/// 64 bytes of accumulators, which take all elements by turns, joined as a tree until they are one vector.
///
/// # Safety
/// 1. As [`Reduce::few`].
#[inline(always)]
unsafe fn in_vector<S: Isa, T: Real, R: InVectors<T>>(r: &R, n: usize, a: *const T) -> T::Vector<S> {
    // SAFETY: duty 1.
    unsafe {
        match 64 / size_of::<T>() / T::Vector::<S>::LEN {
            1 => in_turns::<S, 1, T, R>(r, n, a),
            2 => in_turns::<S, 2, T, R>(r, n, a),
            4 => in_turns::<S, 4, T, R>(r, n, a),
            _ => in_turns::<S, 8, T, R>(r, n, a),
        }
    }
}

/// [`in_vector`] with `N` vectors.
///
/// # Safety
/// 1. As [`Reduce::few`].
#[inline(always)]
unsafe fn in_turns<S: Isa, const N: usize, T: Real, R: InVectors<T>>(r: &R, n: usize, a: *const T) -> T::Vector<S> {
    let len = T::Vector::<S>::LEN;
    let whole = n - n % (N * len);
    // SAFETY: duty 1.
    unsafe {
        let mut acc = [T::Vector::<S>::load_first(a, n.min(len)).splat(r.init()); N];
        for start in (0..whole).step_by(N * len) {
            for (k, acc) in acc.iter_mut().enumerate() {
                *acc = r.step_vectors(*acc, T::Vector::<S>::load(a.add(start + k * len)));
            }
        }
        for (k, acc) in acc.iter_mut().enumerate() {
            let start = whole + k * len;
            if start + len <= n {
                *acc = r.step_vectors(*acc, T::Vector::<S>::load(a.add(start)));
            } else if start < n {
                let lanes: [T; 32] = std::array::from_fn(|lane| T::of(lane as f64));
                let there = T::Vector::<S>::load(lanes.as_ptr()).lt(acc.of((n - start) as f64));
                let last = T::Vector::<S>::load_first(a.add(start), n - start);
                *acc = r.step_vectors(*acc, last).select(there, *acc);
            }
        }
        let mut half = N / 2;
        while half > 0 {
            for k in 0..half {
                acc[k] = r.combine_vectors(acc[k], acc[k + half]);
            }
            half /= 2;
        }
        acc[0]
    }
}

/// [`Reduce::few`] in vectors, joined as a tree.
///
/// # Safety
/// 1. As [`Reduce::few`].
#[inline(always)]
pub(super) unsafe fn few_in_vector<S: Isa, T: Real, R: InVectors<T>>(r: &R, n: usize, a: *const T) -> T {
    // SAFETY: duty 1.
    unsafe { joined(r, in_vector::<S, T, R>(r, n, a)) }
}

/// The accumulators of a vector, joined as a tree.
#[inline(always)]
fn joined<V: Vector, R: InVectors<V::Elem>>(r: &R, acc: V) -> V::Elem
where
    V::Elem: Real,
{
    let mut lanes = [r.init(); 32];
    // SAFETY: a value of this type is proof of its instructions; no vector has more lanes.
    unsafe { acc.store(lanes.as_mut_ptr()) };
    let mut half = V::LEN / 2;
    while half > 0 {
        for k in 0..half {
            lanes[k] = r.combine(lanes[k], lanes[k + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Rows that are worth a transposed square.
const FEWEST_ROWS: usize = 4;

/// [`Reduce::few_of_rows`] in vectors: the accumulators of as many rows as a vector has lanes are transposed, so that
/// each lane joins those of its row in the order of [`few_in_vector`].
///
/// # Safety
/// 1. As [`Reduce::few_of_rows`].
#[inline(always)]
pub(super) unsafe fn few_side_by_side<S: Isa, T: Real, R: InVectors<T>>(
    r: &R,
    n: usize,
    rows: usize,
    a: *const T,
    apart: isize,
    to: &mut [T; 32],
) -> usize {
    let len = T::Vector::<S>::LEN;
    if rows < FEWEST_ROWS || len < FEWEST_ROWS {
        return 0;
    }
    let rows = rows.min(len);
    let (mut square, mut turned) = ([r.init(); 256], [MaybeUninit::<T>::uninit(); 256]);
    let turned = turned.as_mut_ptr().cast::<T>();
    // SAFETY: duty 1; a square of vectors has at most 256 elements, and `to` those of a vector at least.
    unsafe {
        for (i, row) in square.chunks_exact_mut(len).enumerate().take(rows) {
            in_vector::<S, T, R>(r, n, a.offset(i as isize * apart)).store(row.as_mut_ptr());
        }
        T::Vector::<S>::transpose(square.as_ptr(), len as isize, turned, len as isize);
        let mut half = len / 2;
        while half > 0 {
            for k in 0..half {
                let (x, y) = (turned.add(k * len), turned.add((k + half) * len));
                r.combine_vectors(T::Vector::<S>::load(x), T::Vector::<S>::load(y)).store(x);
            }
            half /= 2;
        }
        T::Vector::<S>::load(turned).store(to.as_mut_ptr());
    }
    rows
}

/// At most [`BLOCK`] elements: `L` lanes if they are worth their tree, then 8, then one.
///
/// # Safety
/// 1. The elements are readable and initialised. 2. The CPU has the instructions of `S`.
#[inline(always)]
unsafe fn block<S: Isa, const L: usize, A: SimdElement, R: Reduce<A>>(r: &R, n: usize, a: *const A) -> R::Acc {
    let wide = in_lanes::<L>(n);
    // SAFETY: duties 1 and 2, cut at a multiple of the lanes.
    unsafe {
        if wide == 0
            && let Some(acc) = r.few::<S>(n, a)
        {
            return acc;
        }
        let acc = if wide > 0 { r.lanes::<S, L>(wide, a) } else { r.init() };
        rest(r, acc, n - wide, a.add(wide))
    }
}

/// How many elements of a block of `n` the `L` lanes take.
#[inline(always)]
pub(super) fn in_lanes<const L: usize>(n: usize) -> usize {
    if n >= 4 * L { n - n % L } else { 0 }
}

/// The lanes of a block whose accumulators are of type `Acc`: 256 bytes.
const fn block_lanes<Acc>() -> usize {
    match size_of::<Acc>() {
        0..=4 => 64,
        5..=8 => 32,
        _ => 8,
    }
}

/// `acc` and the `n` elements of a block that its lanes leave.
///
/// # Safety
/// 1. The elements are readable and initialised.
#[inline(always)]
pub(super) unsafe fn rest<A: SimdElement, R: Reduce<A>>(r: &R, mut acc: R::Acc, n: usize, a: *const A) -> R::Acc {
    let narrow = n - n % 8;
    // SAFETY: duty 1, cut at a multiple of the lanes.
    unsafe {
        if narrow > 0 {
            acc = r.combine(acc, lanes::<8, A, R>(r, narrow, a));
        }
        for i in narrow..n {
            acc = r.step(acc, *a.add(i));
        }
    }
    acc
}

/// `n` elements one after the other.
///
/// # Safety
/// 1. The elements are readable and initialised.
#[inline(always)]
pub(super) unsafe fn in_order<A: SimdElement, R: Reduce<A>>(r: &R, n: usize, a: *const A, stride: isize) -> R::Acc {
    let mut acc = r.init();
    for i in 0..n as isize {
        // SAFETY: duty 1.
        acc = r.step(acc, unsafe { *a.offset(i * stride) });
    }
    acc
}

/// One block at its stride, with [`block_lanes`]: enough chains to hide the latency of an addition, few enough to
/// stay in registers. Strided elements are copied first: that takes little longer than to reduce them one by one, and
/// one loop, whose result does not depend on the stride, serves both.
///
/// # Safety
/// 1. The elements are readable and initialised. 2. The CPU has the instructions of `S`. 3. `n` is at most [`BLOCK`].
#[inline(always)]
unsafe fn any_block<S: Isa, A: SimdElement, R: Reduce<A>>(r: &R, n: usize, a: *const A, s: isize) -> R::Acc {
    let mut near = [MaybeUninit::<A>::uninit(); BLOCK];
    // SAFETY: duties 1 to 3.
    unsafe {
        if n <= IN_ORDER {
            return in_order(r, n, a, s);
        }
        let a = if s == 1 {
            a
        } else {
            for (i, near) in near[..n].iter_mut().enumerate() {
                *near = MaybeUninit::new(*a.offset(i as isize * s));
            }
            near.as_ptr().cast::<A>()
        };
        match block_lanes::<R::Acc>() {
            64 => block::<S, 64, A, R>(r, n, a),
            32 => block::<S, 32, A, R>(r, n, a),
            _ => block::<S, 8, A, R>(r, n, a),
        }
    }
}

impl<A: SimdElement, R: Reduce<A>> Task for ReduceRow<'_, A, R> {
    type Out = R::Acc;
    const WIDE: bool = A::WIDE && !R::EXACT || R::BEYOND_BASELINE;

    #[inline(always)]
    unsafe fn plain(self) -> R::Acc {
        if !R::EXACT {
            // SAFETY: (1) ours; (2) every CPU has those.
            return unsafe { self.run::<Baseline>() };
        }
        let ReduceRow { r, n, a, stride } = self;
        // SAFETY: duty 1, of contiguous elements or others.
        unsafe {
            if stride == 1 && n > 0 {
                return r.slice(r.init(), std::slice::from_raw_parts(a, n));
            }
            in_order(r, n, a, stride)
        }
    }

    #[inline(always)]
    unsafe fn run<S: Isa>(self) -> R::Acc {
        let ReduceRow { r, n, a, stride } = self;
        let mut cascade = Cascade::default();
        let mut i = 0;
        loop {
            let m = BLOCK.min(n - i);
            // SAFETY: duty 1; Task 2.
            let acc = unsafe { any_block::<S, A, R>(r, m, a.offset(i as isize * stride), stride) };
            i += m;
            if i == n && cascade.count == 0 {
                return acc;
            }
            cascade.push(r, acc);
            if i == n {
                return cascade.total(r);
            }
        }
    }
}

impl<A: SimdElement, R: Reduce<A>> Task for ReduceRows<'_, A, R> {
    type Out = ();
    const WIDE: bool = A::WIDE && !R::EXACT || R::BEYOND_BASELINE;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let ReduceRows { r, kept, red, n, a, o } = self;
        let (k0, inner) = (axis(kept, 0), axis(red, 0));
        let (length, stride) = (inner.size, inner.strides[0]);
        let outer = red.get(1..).unwrap_or(&[]);
        let lengths = IN_ORDER + 1..(4 * block_lanes::<R::Acc>()).min(BLOCK);
        let side_by_side = outer.is_empty() && stride == 1 && lengths.contains(&length);
        for [pa, po] in Offsets::new(kept.get(1..).unwrap_or(&[])) {
            let mut first = 0;
            while side_by_side && first < k0.size {
                let mut accs = [r.init(); 32];
                // SAFETY: duty 1: rows of positions of `kept`; duty 2 for the output.
                unsafe {
                    let [sa, so] = k0.strides;
                    let a = a.offset(pa + first as isize * sa);
                    let done = r.few_of_rows::<S>(length, k0.size - first, a, sa, &mut accs);
                    if done == 0 {
                        break;
                    }
                    for (i, &acc) in accs[..done].iter().enumerate() {
                        *o.offset(po + (first + i) as isize * so) = r.finish(acc, n);
                    }
                    first += done;
                }
            }
            for k in first as isize..k0.size as isize {
                // SAFETY: (any_row 1) duty 1: a position of `kept`, and the rows of `red` from it; duty 2 for the
                // output.
                unsafe {
                    let a = a.offset(pa + k * k0.strides[0]);
                    // One place for both, since it is long.
                    let (mut cascade, mut only) = (Cascade::default(), None);
                    let mut rows = (!outer.is_empty()).then(|| Offsets::new(outer));
                    let mut next = rows.as_mut().map_or(Some([0]), Iterator::next);
                    while let Some([pr]) = next {
                        let row = any_row::<S, A, R>(r, length, a.offset(pr), stride);
                        next = match &mut rows {
                            Some(rows) => {
                                cascade.push(r, row);
                                rows.next()
                            }
                            None => {
                                only = Some(row);
                                None
                            }
                        };
                    }
                    let acc = only.unwrap_or_else(|| cascade.total(r));
                    *o.offset(po + k * k0.strides[1]) = r.finish(acc, n);
                }
            }
        }
    }
}

/// The accumulator of a row of any length.
///
/// # Safety
/// 1. The row is readable and initialised. 2. The CPU has the instructions of `S`.
#[inline(always)]
unsafe fn any_row<S: Isa, A: SimdElement, R: Reduce<A>>(r: &R, n: usize, a: *const A, stride: isize) -> R::Acc {
    // SAFETY: duties 1 and 2; rows of step 1 are slices.
    unsafe {
        if R::EXACT && stride == 1 && n > 0 {
            r.slice(r.init(), std::slice::from_raw_parts(a, n))
        } else if n <= IN_ORDER || R::EXACT {
            in_order(r, n, a, stride)
        } else {
            ReduceRow { r, n, a, stride }.run::<S>()
        }
    }
}

/// `acc[j]` takes element `j` of `rows` rows, `row` elements apart.
///
/// # Safety
/// 1. The elements are readable and initialised.
#[inline(always)]
unsafe fn take<A: SimdElement, R: Reduce<A>>(r: &R, acc: &mut [R::Acc], a: *const A, rows: usize, row: isize) {
    let mut i = 0;
    // Four rows a pass: the accumulator is loaded and stored once for four elements.
    while i + 4 <= rows {
        for (j, acc) in acc.iter_mut().enumerate() {
            // SAFETY: duty 1.
            unsafe {
                let p = a.offset(i as isize * row + j as isize);
                let x = r.step(*acc, *p);
                let x = r.step(x, *p.offset(row));
                let x = r.step(x, *p.offset(2 * row));
                *acc = r.step(x, *p.offset(3 * row));
            }
        }
        i += 4;
    }
    while i < rows {
        for (j, acc) in acc.iter_mut().enumerate() {
            // SAFETY: duty 1.
            let x = unsafe { *a.offset(i as isize * row + j as isize) };
            *acc = r.step(*acc, x);
        }
        i += 1;
    }
}
