//! Prefix scans along one axis: the running result of a [`Reduce`].

use std::mem::MaybeUninit;

use super::super::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};
use super::super::strided::{Axes, Axis, Offsets, axis, cut, plan};
use super::Reduce;
use crate::parallel::{SharedPtr, split};
use crate::thresholds::reduce::SCAN_COLUMNS as COLUMNS;

/// What an element takes in nanoseconds: the sum before it has to be there.
const COST: f64 = 1.0;

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
    let (cut, _) = cut(&outer);
    let grain = if cut == 0 { columns(&outer[0], a_stride) } else { 1 };
    let (a, o) = (SharedPtr(a.cast_mut()), SharedPtr(o));
    split(outer[cut].size, grain, count as f64 * COST, &|some| {
        let mut outer = outer.clone();
        let [pa, po] = outer[cut].strides.map(|s| some.start as isize * s);
        outer[cut].size = some.len();
        // SAFETY: (Scan 1-3) are ours, for some of the positions, which no other piece has.
        unsafe {
            let (a, o) = (a.get().cast_const().offset(pa), o.get().offset(po));
            for_isa(level, Scan { r, outer: &outer, n, s: [a_stride, o_stride], a, o });
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
    a: *const A,
    o: *mut R::O,
}

impl<A: SimdElement, R: Reduce<A>> Task for Scan<'_, A, R> {
    type Out = ();
    const WIDE: bool = !R::EXACT;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Scan { r, outer, n, s: s @ [sa, so], a, o } = self;
        let x = axis(outer, 0);
        let columns = columns(&x, sa);
        for [pa, po] in Offsets::new(outer.get(1..).unwrap_or(&[])) {
            for c in (0..x.size).step_by(columns) {
                let width = columns.min(x.size - c);
                // SAFETY: duties 1-3: positions of the axes; each element is read before its place is written.
                unsafe {
                    let (a, o) = (a.offset(pa + c as isize * x.strides[0]), o.offset(po + c as isize * x.strides[1]));
                    if width == 1 {
                        let mut acc = r.init();
                        for i in 0..n as isize {
                            acc = r.step(acc, *a.offset(i * sa));
                            *o.offset(i * so) = r.finish(acc, i as usize + 1);
                        }
                    } else if x.strides == [1, 1] {
                        // The same again, for vectors: a constant distance.
                        together(r, n, s, width, [1, 1], a, o);
                    } else {
                        together(r, n, s, width, x.strides, a, o);
                    }
                }
            }
        }
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
