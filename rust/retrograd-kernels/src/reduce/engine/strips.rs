//! The walk where the innermost axis is kept: strips of accumulators, which take row by row.

use std::mem::MaybeUninit;

use super::super::{GROUP, Reduce};
use super::take;
use crate::simd::{Baseline, Isa, SimdElement, Task};
use crate::strided::{Axis, Offsets, axis};
use crate::thresholds::reduce::{STRIP_BYTES, WIDE};

/// As [`ReduceRows`](super::ReduceRows); there is at least one kept and one reduced axis, none empty.
pub(super) struct Strips<'r, A, R: Reduce<A>> {
    pub(super) r: &'r R,
    pub(super) kept: &'r [Axis<2>],
    pub(super) red: &'r [Axis<1>],
    pub(super) n: usize,
    /// Whether the first kept axis, of few elements, is reduced as well.
    pub(super) joined: bool,
    pub(super) a: *const A,
    pub(super) o: *mut R::O,
}

/// Joins strips pairwise, as [`Cascade`] does for single accumulators.
pub(in super::super) struct StripCascade<Acc> {
    places: Vec<Acc>,
    count: usize,
    width: usize,
}

impl<Acc: Copy> StripCascade<Acc> {
    #[inline(always)]
    pub(in super::super) fn new() -> Self {
        Self { places: Vec::new(), count: 0, width: 0 }
    }

    /// Begins strips of that width.
    #[inline(always)]
    pub(in super::super) fn start(&mut self, width: usize) {
        (self.count, self.width) = (0, width);
    }

    /// Joins the last strip, which becomes the total.
    #[inline(always)]
    pub(in super::super) fn close<A, R: Reduce<A, Acc = Acc>>(&mut self, r: &R, acc: &mut [Acc]) {
        if self.count > 0 {
            self.push(r, acc);
            self.total(r, acc);
        }
    }

    #[inline(always)]
    pub(in super::super) fn push<A, R: Reduce<A, Acc = Acc>>(&mut self, r: &R, acc: &mut [Acc]) {
        let (mut k, width) = (0, self.width);
        while self.count >> k & 1 == 1 {
            for (x, &earlier) in acc.iter_mut().zip(&self.places[k * width..(k + 1) * width]) {
                *x = r.combine(earlier, *x);
            }
            k += 1;
        }
        if self.places.len() < (k + 1) * width {
            self.places.resize((k + 1) * width, acc[0]);
        }
        self.places[k * width..(k + 1) * width].copy_from_slice(acc);
        self.count += 1;
    }

    #[inline(always)]
    fn total<A, R: Reduce<A, Acc = Acc>>(&self, r: &R, acc: &mut [Acc]) {
        let mut first = true;
        for k in 0..usize::BITS as usize {
            if self.count >> k & 1 == 1 {
                for (x, &here) in acc.iter_mut().zip(&self.places[k * self.width..(k + 1) * self.width]) {
                    *x = if first { here } else { r.combine(here, *x) };
                }
                first = false;
            }
        }
    }
}

/// Rows that [`take`] takes in one pass.
const NEAR_ROWS: usize = 4;

impl<A: SimdElement, R: Reduce<A>> Strips<'_, A, R> {
    /// How many rows of a narrow contiguous matrix are read as one wide row, where the copies of a column are joined at
    /// the end.
    #[inline(always)]
    fn fold(&self) -> usize {
        let (columns, rows) = (axis(self.kept, 0), axis(self.red, 0));
        let contiguous = columns.strides[0] == 1 && rows.strides[0] == columns.size as isize;
        if self.red.len() == 1 && contiguous { fold(columns.size, rows.size) } else { 1 }
    }
}

/// How many rows of a contiguous matrix make a wide one, a power of two.
#[inline(always)]
pub(in super::super) fn fold(columns: usize, rows: usize) -> usize {
    if columns * 2 <= WIDE { 1 << (WIDE / columns).min(rows).max(1).ilog2() } else { 1 }
}

/// Joins the accumulators of a wide row, of so many columns, to those of a row, each of which has its copies there.
#[inline(always)]
pub(in super::super) fn join_copies<A, R: Reduce<A>>(r: &R, acc: &mut [R::Acc], wide: usize, columns: usize) {
    let mut half = wide / 2;
    while half >= columns {
        for j in 0..half {
            acc[j] = r.combine(acc[j], acc[j + half]);
        }
        half /= 2;
    }
}

impl<A: SimdElement, R: Reduce<A>> Task for Strips<'_, A, R> {
    type Out = ();
    const WIDE: bool = A::WIDE && !R::EXACT || R::BEYOND_BASELINE;

    #[inline(always)]
    unsafe fn plain(self) {
        if !R::EXACT {
            // SAFETY: (1) ours; (2) every CPU has those.
            return unsafe { self.run::<Baseline>() };
        }
        let Strips { r, kept, red, n, a, o, .. } = self;
        let (k0, d0, fold) = (axis(kept, 0), axis(red, 0), self.fold());
        let ([sk, so], columns) = (k0.strides, k0.size * fold);
        let mut strip = [r.init(); STRIP_BYTES / 16];
        for [pa, po] in Offsets::new(&kept[1..]) {
            for c in (0..columns).step_by(strip.len()) {
                let acc = &mut strip[..(columns - c).min(STRIP_BYTES / 16)];
                acc.fill(r.init());
                for [pr] in Offsets::new(&red[1..]) {
                    for i in (0..d0.size).step_by(fold) {
                        let row = pa + pr + i as isize * d0.strides[0] + c as isize * sk;
                        // The last wide row may be a part of one.
                        let acc = acc.iter_mut().take((d0.size - i) * k0.size).enumerate();
                        // SAFETY: duty 1, for both loops: positions of both sets of axes. The same twice, for vectors.
                        unsafe {
                            if sk == 1 {
                                let a = a.offset(row);
                                acc.for_each(|(j, acc)| *acc = r.step(*acc, *a.add(j)));
                            } else {
                                acc.for_each(|(j, acc)| *acc = r.step(*acc, *a.offset(row + j as isize * sk)));
                            }
                        }
                    }
                }
                let (results, copies) = acc.split_at_mut(acc.len().min(k0.size));
                for copy in copies.chunks_exact(k0.size) {
                    results.iter_mut().zip(copy).for_each(|(result, &copy)| *result = r.combine(*result, copy));
                }
                for (j, &acc) in results.iter().enumerate() {
                    // SAFETY: duty 2: a position of the kept axes.
                    unsafe { *o.offset(po + (c + j) as isize * so) = r.finish(acc, n) };
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        let Strips { r, kept, red, n, joined, a, o } = self;
        let (k0, d0) = (axis(kept, 0), axis(red, 0));
        let [sk, so] = k0.strides;
        let most = STRIP_BYTES / size_of::<R::Acc>().clamp(4, 16);
        let mut strip = [MaybeUninit::<R::Acc>::uninit(); STRIP_BYTES / 4];
        // Columns that are no neighbours are copied, some rows at a time.
        let mut near = [MaybeUninit::<A>::uninit(); NEAR_ROWS * STRIP_BYTES / 4];
        let mut cascade = StripCascade::new();
        let fold = self.fold();
        let (columns, step) = (k0.size * fold, if fold > 1 { WIDE } else { most });
        for [pa, po] in Offsets::new(&kept[1..]) {
            for c in (0..columns).step_by(step) {
                let width = step.min(columns - c);
                for place in &mut strip[..width] {
                    *place = MaybeUninit::new(r.init());
                }
                // SAFETY: the loop above initialised `width` places.
                let acc = unsafe { std::slice::from_raw_parts_mut(strip.as_mut_ptr().cast::<R::Acc>(), width) };
                cascade.start(width);
                let (mut taken, mut first) = (0, 0);
                // SAFETY: duty 1, for every `take`: positions of the axes; a wide row is `fold` whole rows, and what is
                // left of them, single ones, comes last.
                unsafe {
                    let a = a.offset(pa + c as isize * sk);
                    let (wide_rows, row) = (d0.size / fold, d0.strides[0] * fold as isize);
                    let left = d0.size % fold;
                    for [pr] in Offsets::new(&red[1..]) {
                        let mut i = 0;
                        while i < wide_rows + usize::from(left > 0) {
                            let p = a.offset(pr + i as isize * row);
                            let (mut m, mut row, width) = match i < wide_rows {
                                true => ((wide_rows - i).min(GROUP - taken), row, width),
                                false => (left, d0.strides[0], k0.size),
                            };
                            let mut from = p;
                            if sk != 1 {
                                m = m.min(NEAR_ROWS);
                                for (k, near) in near.chunks_exact_mut(width).enumerate().take(m) {
                                    let p = p.offset(k as isize * row);
                                    for (j, near) in near.iter_mut().enumerate() {
                                        *near = MaybeUninit::new(*p.offset(j as isize * sk));
                                    }
                                }
                                (from, row) = (near.as_ptr().cast(), width as isize);
                            }
                            take(r, &mut acc[..width], from, m, row);
                            (i, first, taken) = (i + m, first + m, taken + m);
                            if taken == GROUP && first * fold < n {
                                cascade.push(r, acc);
                                acc.fill(r.init());
                                taken = 0;
                            }
                        }
                    }
                }
                cascade.close(r, acc);
                let mut results = width.min(k0.size);
                if fold > 1 {
                    join_copies(r, acc, columns, k0.size);
                }
                while joined && results > 1 {
                    let half = results / 2;
                    for j in 0..half {
                        acc[j] = r.combine(acc[j], acc[results - half + j]);
                    }
                    results -= half;
                }
                for (j, &acc) in acc.iter().enumerate().take(results) {
                    // SAFETY: duty 2: a position of the kept axes.
                    unsafe { *o.offset(po + (c + j) as isize * so) = r.finish(acc, n) };
                }
            }
        }
    }
}
