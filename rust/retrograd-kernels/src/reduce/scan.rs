//! Prefix scans along one axis: the running result of a [`Reduce`].

use std::mem::MaybeUninit;

use super::super::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};
use super::super::strided::{Axes, Axis, Offsets, axis, plan};
use super::Reduce;
use crate::thresholds::reduce::SCAN_COLUMNS as COLUMNS;

/// `o[.., i, ..] = finish(a[.., 0, ..] .. a[.., i, ..])` along an axis of `n` elements, for every position of the
/// `outer` axes. Strictly in order.
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
    let outer: Axes<2> = plan(outer_sizes, [a_outer, o_outer]);
    // SAFETY: (Scan 1-3) are ours.
    unsafe { for_isa(level, Scan { r, outer: &outer, n, s: [a_stride, o_stride], a, o }) }
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
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Scan { r, outer, n, s: [sa, so], a, o } = self;
        let x = axis(outer, 0);
        // Together if they are contiguous in memory, else one line after the other.
        let columns = if x.strides[0].unsigned_abs() < sa.unsigned_abs() { COLUMNS } else { 1 };
        let mut acc = [MaybeUninit::<R::Acc>::uninit(); COLUMNS];
        for [pa, po] in Offsets::new(outer.get(1..).unwrap_or(&[])) {
            for c in (0..x.size).step_by(columns) {
                let width = columns.min(x.size - c) as isize;
                // SAFETY: duties 1-3: positions of the axes; each element is read before its place is written.
                unsafe {
                    let (a, o) = (a.offset(pa + c as isize * x.strides[0]), o.offset(po + c as isize * x.strides[1]));
                    if width == 1 {
                        let mut acc = r.init();
                        for i in 0..n as isize {
                            acc = r.step(acc, *a.offset(i * sa));
                            *o.offset(i * so) = r.finish(acc, i as usize + 1);
                        }
                        continue;
                    }
                    for place in &mut acc[..width as usize] {
                        *place = MaybeUninit::new(r.init());
                    }
                    for i in 0..n as isize {
                        for j in 0..width {
                            let next = r.step(acc[j as usize].assume_init(), *a.offset(i * sa + j * x.strides[0]));
                            acc[j as usize] = MaybeUninit::new(next);
                            *o.offset(i * so + j * x.strides[1]) = r.finish(next, i as usize + 1);
                        }
                    }
                }
            }
        }
    }
}
