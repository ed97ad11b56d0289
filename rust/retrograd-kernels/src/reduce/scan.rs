//! Prefix scans along one axis: the running result of a [`Reduce`].

use std::mem::MaybeUninit;
use std::ops::Range;

use super::super::simd::{InstructionSet, Isa, SimdElement, Task, Vector, for_isa};
use super::super::strided::{Axes, Axis, Offsets, axis, cut, plan};
use super::Reduce;
use crate::parallel::{SharedPtr, split};
use crate::thresholds::reduce::SCAN_COLUMNS as COLUMNS;

/// What an element takes in nanoseconds: the sum before it has to be there.
const COST: f64 = 1.0;

/// Lines that are scanned next to each other.
const FEW: usize = 4;

/// Elements of a line, and neighbouring lines, to begin with which takes longer than to scan them.
const SMALL: usize = 16;

/// Bytes of an operand that the caches are likely to have.
const NEAR: usize = 1 << 22;

/// Lines that the longest vectors turn together.
const LINES: usize = 16;

/// `o[.., i, ..] = finish(a[.., 0, ..] .. a[.., i, ..])` along an axis of `n` elements, for every position of the
/// `outer` axes. Strictly in order; threads share the outer axes.
///
/// # Safety
/// 1. `a` is readable and initialised, `o` writable, at every position. 2. The output overlaps the input only if both
///    have the same start, strides and element size. 3. Distinct positions have distinct places in the output.
#[allow(clippy::too_many_arguments)]
pub unsafe fn scan<A: SimdElement, R: Reduce<A>>(
    r: &R,
    outer_sizes: &[usize],
    a_outer: &[isize],
    o_outer: &[isize],
    n: usize,
    a_stride: isize,
    o_stride: isize,
    a: *const A,
    o: *mut R::O,
) {
    // SAFETY: (1-3) are ours.
    unsafe { scan_at(InstructionSet::detect(), r, outer_sizes, a_outer, o_outer, n, a_stride, o_stride, a, o) }
}

/// [`scan`] with the instructions of `level`.
///
/// # Safety
/// As [`scan`].
#[allow(clippy::too_many_arguments)]
pub unsafe fn scan_at<A: SimdElement, R: Reduce<A>>(
    level: InstructionSet,
    r: &R,
    outer_sizes: &[usize],
    a_outer: &[isize],
    o_outer: &[isize],
    n: usize,
    a_stride: isize,
    o_stride: isize,
    a: *const A,
    o: *mut R::O,
) {
    let mut outer: Axes<2> = plan(outer_sizes, [a_outer, o_outer]);
    if outer.is_empty() {
        outer.push(axis(&outer, 0));
    }
    let count = outer_sizes.iter().product::<usize>() * n;
    let (cut, _) = cut(&outer, 1);
    let columns = columns(&outer[0], a_stride);
    let grain = match columns {
        _ if cut != 0 => 1,
        // Lines that are turned together stay together, where there are many.
        1 if outer[0].size >= 8 * LINES => LINES,
        columns => columns,
    };
    // Squares of lines are no larger than they are long.
    let level = if columns == 1 { level.filled_by(n * size_of::<A>()) } else { level };
    // Longer lines that come from afar are read as they lie: the processor asks for what follows in memory.
    let next = n <= SMALL || count * size_of::<A>() <= NEAR;
    let (a, o) = (SharedPtr(a.cast_mut()), SharedPtr(o));
    split(outer[cut].size, grain, count as f64 * COST, &|some| {
        let mut outer = outer.clone();
        let [pa, po] = outer[cut].strides.map(|s| some.start as isize * s);
        outer[cut].size = some.len();
        // SAFETY: (Scan 1-3) are ours, for some of the positions, which no other piece has.
        unsafe {
            let (a, o) = (a.get().cast_const().offset(pa), o.get().offset(po));
            for_isa(level, Scan { r, outer: &outer, n, s: [a_stride, o_stride], next, a, o });
        }
    });
}

/// Lines that are walked together: those that are neighbours in memory, else one after the other.
#[inline(always)]
fn columns(across: &Axis<2>, along: isize) -> usize {
    if across.strides[0].unsigned_abs() < along.unsigned_abs() { COLUMNS } else { 1 }
}

/// Duties: 1-3 of [`scan`].
struct Scan<'r, A, R: Reduce<A>> {
    r: &'r R,
    outer: &'r [Axis<2>],
    n: usize,
    s: [isize; 2],
    /// Whether a few lines are scanned next to each other.
    next: bool,
    a: *const A,
    o: *mut R::O,
}

impl<A: SimdElement, R: Reduce<A>> Task for Scan<'_, A, R> {
    type Out = ();
    const WIDE: bool = A::WIDE && !R::EXACT;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Scan { r, outer, n, s, next, a, o } = self;
        let x = axis(outer, 0);
        let columns = if x.size == 1 { 1 } else { columns(&x, s[0]) };
        if let [x, y, outer @ ..] = outer
            && columns > 1
            && x.size.max(n) <= SMALL
        {
            for [pa, po] in Offsets::new(outer) {
                // SAFETY: duties 1-3: positions of the axes.
                unsafe { small(r, n, s, [x, y], a.offset(pa), o.offset(po)) };
            }
            return;
        }
        for [pa, po] in Offsets::new(outer.get(1..).unwrap_or(&[])) {
            // SAFETY: duties 1-3: positions of the axes; each element is read before its place is written.
            unsafe {
                let (a, o) = (a.offset(pa), o.offset(po));
                if columns == 1 {
                    let lines = turned::<S, A, R>(r, &x, n, s, a, o)..x.size;
                    if next {
                        next_to_each_other(r, n, s, lines, x.strides, a, o);
                    } else {
                        for line in lines {
                            few::<A, R, 1>(r, n, s, line, x.strides, a, o);
                        }
                    }
                    continue;
                }
                side_by_side(r, n, s, &x, a, o);
            }
        }
    }
}

/// Scans lines that are neighbours in memory.
///
/// # Safety
/// 1-3 of [`scan`], for the lines at `a` and `o`.
#[inline(always)]
unsafe fn side_by_side<A: SimdElement, R: Reduce<A>>(
    r: &R,
    n: usize,
    s: [isize; 2],
    x: &Axis<2>,
    a: *const A,
    o: *mut R::O,
) {
    let mut line = 0;
    while line < x.size {
        let width = match x.size - line {
            // Sums of so few lines stay in registers.
            few @ 1..=4 => few,
            5 | 6 => 3,
            7 => 4,
            many => many.min(COLUMNS),
        };
        // SAFETY: ours, for some of the lines.
        unsafe {
            let (a, o) = (a.offset(line as isize * x.strides[0]), o.offset(line as isize * x.strides[1]));
            match width {
                1 => few::<A, R, 1>(r, n, s, 0, x.strides, a, o),
                2 => few::<A, R, 2>(r, n, s, 0, x.strides, a, o),
                3 => few::<A, R, 3>(r, n, s, 0, x.strides, a, o),
                4 => few::<A, R, 4>(r, n, s, 0, x.strides, a, o),
                // The same again, for vectors: a constant distance.
                _ if x.strides == [1, 1] => together(r, n, s, width, [1, 1], a, o),
                _ => together(r, n, s, width, x.strides, a, o),
            }
        }
        line += width;
    }
}

/// Scans short lines, few of which are neighbours: the same column of a few lots of them next to each other.
///
/// # Safety
/// 1-3 of [`scan`], for the lines at `a` and `o` along two axes.
#[inline(always)]
unsafe fn small<A: SimdElement, R: Reduce<A>>(
    r: &R,
    n: usize,
    s: [isize; 2],
    [x, y]: [&Axis<2>; 2],
    a: *const A,
    o: *mut R::O,
) {
    for first in (0..y.size).step_by(FEW) {
        let lots = first..y.size.min(first + FEW);
        for c in 0..x.size as isize {
            // SAFETY: ours.
            unsafe {
                let (a, o) = (a.offset(c * x.strides[0]), o.offset(c * x.strides[1]));
                next_to_each_other(r, n, s, lots.clone(), y.strides, a, o);
            }
        }
    }
}

/// Scans the lines `lines`, which are no neighbours: a few next to each other, so that the sum of one does not
/// wait for the one before, nor a short line for a loop over it.
///
/// # Safety
/// 1-3 of [`scan`], for the lines at the distances `across`, and their elements at the distances `s`.
#[inline(always)]
unsafe fn next_to_each_other<A: SimdElement, R: Reduce<A>>(
    r: &R,
    n: usize,
    s: [isize; 2],
    mut lines: Range<usize>,
    across: [isize; 2],
    a: *const A,
    o: *mut R::O,
) {
    // SAFETY: our duties.
    unsafe {
        while lines.len() >= FEW {
            few::<A, R, FEW>(r, n, s, lines.start, across, a, o);
            lines.start += FEW;
        }
        for line in lines {
            few::<A, R, 1>(r, n, s, line, across, a, o);
        }
    }
}

/// `N` lines from the `first` on.
///
/// # Safety
/// As [`next_to_each_other`].
#[inline(always)]
unsafe fn few<A: SimdElement, R: Reduce<A>, const N: usize>(
    r: &R,
    n: usize,
    [sa, so]: [isize; 2],
    first: usize,
    across: [isize; 2],
    a: *const A,
    o: *mut R::O,
) {
    let mut acc = [r.init(); N];
    for i in 0..n as isize {
        for (line, acc) in (first as isize..).zip(&mut acc) {
            // SAFETY: our duties: a position of a line, read before it is written.
            unsafe {
                *acc = r.step(*acc, *a.offset(line * across[0] + i * sa));
                *o.offset(line * across[1] + i * so) = r.finish(*acc, i as usize + 1);
            }
        }
    }
}

/// Scans as many lines as come in groups of [`LINES`] or fewer, and says how many; `x` is the axis from line to line.
/// One line is as slow as its sum waits for the one before; squares of several, transposed, are sums of vectors.
///
/// # Safety
/// 1-3 of [`scan`], for the lines at `a` and `o`. 4. The CPU has the instructions of `S`.
#[inline(always)]
unsafe fn turned<S: Isa, A: SimdElement, R: Reduce<A>>(
    r: &R,
    x: &Axis<2>,
    n: usize,
    s: [isize; 2],
    a: *const A,
    o: *mut R::O,
) -> usize {
    // Exact sums are of integers, which do not wait; elements of 8 bytes wait for memory as long as for each other; and
    // a few elements that fill no square are added as fast as they are turned.
    let few = n < 8 && n != 4;
    if R::EXACT || size_of::<A>() != 4 || size_of::<R::O>() != 4 || s[0] != s[1] || s[0].abs() != 1 || few {
        return 0;
    }
    // SAFETY: ours.
    unsafe {
        match S::F32::LEN {
            16 => groups::<S::F32, A, R, 16>(r, x, n, s[0], a, o),
            8 => groups::<S::F32, A, R, 8>(r, x, n, s[0], a, o),
            4 => groups::<S::F32, A, R, 4>(r, x, n, s[0], a, o),
            _ => 0,
        }
    }
}

/// [`turned`] by vectors `V` of `L` elements of the size of `A`, along contiguous lines: forwards where `along` is 1,
/// backwards where it is -1.
///
/// # Safety
/// 1-4 of [`turned`].
#[inline(always)]
unsafe fn groups<V: Vector, A: SimdElement, R: Reduce<A>, const L: usize>(
    r: &R,
    x: &Axis<2>,
    n: usize,
    along: isize,
    a: *const A,
    o: *mut R::O,
) -> usize {
    // As much of each line at once as the cache has in one place: lines whose distance is a multiple of its pages push
    // each other out of it.
    let wide = if n < LINES { L } else { LINES };
    if n < wide {
        return 0;
    }
    for c in (0..x.size / L * L).step_by(L) {
        let mut from = [[const { MaybeUninit::<A>::uninit() }; L]; LINES];
        let mut to = [[const { MaybeUninit::<R::O>::uninit() }; L]; LINES];
        let (from, to) = (&mut from[..wide], &mut to[..wide]);
        let mut acc = [r.init(); L];
        // SAFETY: duties 1-3: `L` lines of `n` elements; each is read before its place is written, unless it is known.
        unsafe {
            let (a, o) = (a.offset(c as isize * x.strides[0]), o.offset(c as isize * x.strides[1]));
            for i in (0..n / wide * wide).step_by(wide) {
                strip::<V, A, R, L>(r, along, i, 0, &mut acc, x.strides, a, o, from, to);
            }
            let rest = n % wide;
            if rest > 0 {
                // They end with the lines: what is before the rest of them was among the last ones, and stays.
                let known = wide - rest;
                if along < 0 {
                    to.copy_within(..known, rest);
                } else {
                    to.copy_within(rest.., 0);
                }
                strip::<V, A, R, L>(r, along, n - wide, known, &mut acc, x.strides, a, o, from, to);
            }
        }
    }
    x.size / L * L
}

/// Scans the elements from `i` on of `L` lines, as many as `from` and `to` have rows, but for those `known`, whose
/// results `to` has. Squares of them are transposed to `from`, and back from `to`.
///
/// # Safety
/// 1-4 of [`turned`], for the lines at `a` and `o`, at the distances `across`. 5. `from` and `to` are as long as each
/// other, a multiple of `L`, the length of `V`; `known` rows of `to` are initialised.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
unsafe fn strip<V: Vector, A: SimdElement, R: Reduce<A>, const L: usize>(
    r: &R,
    along: isize,
    i: usize,
    known: usize,
    acc: &mut [R::Acc; L],
    across: [isize; 2],
    a: *const A,
    o: *mut R::O,
    from: &mut [[MaybeUninit<A>; L]],
    to: &mut [[MaybeUninit<R::O>; L]],
) {
    let wide = to.len();
    // The first of them in memory.
    let low = if along < 0 { -((i + wide - 1) as isize) } else { i as isize };
    for k in (0..wide).step_by(L) {
        // SAFETY: (Vector 1-3) duties 1 and 5: a square of the lines, and `L` rows of as many elements.
        unsafe {
            V::transpose(a.offset(low + k as isize).cast(), across[0], from[k..].as_mut_ptr().cast(), L as isize)
        };
    }
    for k in known..wide {
        let row = if along < 0 { wide - 1 - k } else { k };
        for j in 0..L {
            // SAFETY: all rows have just been written.
            acc[j] = r.step(acc[j], unsafe { from[row][j].assume_init() });
            to[row][j] = MaybeUninit::new(r.finish(acc[j], i + k + 1));
        }
    }
    for k in (0..wide).step_by(L) {
        // SAFETY: as before; all rows of `to` are initialised (duty 5), and the place is ours (duty 1).
        unsafe { V::transpose(to[k..].as_ptr().cast(), L as isize, o.offset(low + k as isize).cast(), across[1]) };
    }
}

/// Scans lines side by side: `n` elements each at the distances `s`, `width` of them at the distances `across`.
///
/// # Safety
/// 1-3 of [`scan`]; `width` is at most [`COLUMNS`].
#[inline(always)]
unsafe fn together<A: SimdElement, R: Reduce<A>>(
    r: &R,
    n: usize,
    [sa, so]: [isize; 2],
    width: usize,
    across: [isize; 2],
    a: *const A,
    o: *mut R::O,
) {
    let mut acc = [const { MaybeUninit::<R::Acc>::uninit() }; COLUMNS];
    let acc = &mut acc[..width];
    for place in acc.iter_mut() {
        *place = MaybeUninit::new(r.init());
    }
    for i in 0..n as isize {
        for (j, acc) in acc.iter_mut().enumerate() {
            // SAFETY: our duties: a position of the lines, read before it is written; all of `acc` is set.
            unsafe {
                let next = r.step(acc.assume_init(), *a.offset(i * sa + j as isize * across[0]));
                *acc = MaybeUninit::new(next);
                *o.offset(i * so + j as isize * across[1]) = r.finish(next, i as usize + 1);
            }
        }
    }
}
