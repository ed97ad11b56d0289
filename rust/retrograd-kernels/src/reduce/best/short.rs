//! The best of short lines, many of which are copied to be columns side by side.

use std::mem::MaybeUninit;

use super::{STRIP, Strip};
use crate::parallel::{SharedPtr, split};
use crate::pointwise::copy_block;
use crate::simd::{InstructionSet, SimdElement, for_isa};
use crate::strided::{Axes, Axis, Offsets, longest};
use crate::thresholds::reduce::IN_ORDER;

/// The fewest lots of lines that are worth it.
const FEWEST: usize = 16;

/// Lines along one axis of at most [`IN_ORDER`] elements: `columns` of them in each of many `lots`, at equal distances,
/// with results that follow one another; the rest of the kept axes are `outer`.
pub(super) struct ShortLines {
    along: Axis<1>,
    columns: Axis<2>,
    lots: Axis<2>,
    outer: Axes<2>,
}

impl ShortLines {
    /// Those of the kept and the reduced axes, if there are such.
    pub fn of(kept: &[Axis<2>], red: &[Axis<1>]) -> Option<Self> {
        let &[along] = red else { return None };
        let longest = longest(kept)?;
        let mut outer: Axes<2> = kept.into();
        let lots = outer.remove(longest);
        // Neighbours, whose results those of the next lot follow, are taken together; longer rows of them are as they
        // lie.
        let is_near = |x: &Axis<2>| x.strides[0].unsigned_abs() < along.strides[0].unsigned_abs();
        let near = outer.first().filter(|x| is_near(x)).map_or(1, |x| x.size);
        let columns = match outer.first() {
            Some(x) if near > 1 && lots.strides[1] == x.size as isize * x.strides[1] => outer.remove(0),
            _ => Axis { size: 1, strides: [0, lots.strides[1]] },
        };
        let many = lots.size >= FEWEST && near * FEWEST <= STRIP && !(longest == 0 && is_near(&lots));
        ((2..=IN_ORDER).contains(&along.size) && many).then_some(Self { along, columns, lots, outer })
    }

    /// Looks along all lines.
    ///
    /// # Safety
    /// The duties of [`super::best`], whose axes these are.
    pub unsafe fn look<T: SimdElement + PartialOrd + Send + Sync, const MAX: bool>(
        &self,
        level: InstructionSet,
        cost: f64,
        a: *const T,
        values: *mut T,
        indices: *mut i64,
    ) {
        let (a, values, indices) = (SharedPtr(a.cast_mut()), SharedPtr(values), SharedPtr(indices));
        split(self.lots.size, FEWEST, cost, &|some| {
            let start = some.start as isize;
            let lots = Axis { size: some.len(), ..self.lots };
            for [pa, po] in Offsets::new(&self.outer) {
                let [pa, po] = [pa + start * lots.strides[0], po + start * lots.strides[1]];
                // SAFETY: ours, for some of the lots, which no other piece has.
                unsafe {
                    let (a, values) = (a.get().offset(pa), values.get().offset(po));
                    self.look_at::<T, MAX>(level, lots, a, values, indices.get().offset(po));
                }
            }
        });
    }

    /// # Safety
    /// As [`Self::look`], for these lots.
    unsafe fn look_at<T: SimdElement + PartialOrd, const MAX: bool>(
        &self,
        level: InstructionSet,
        lots: Axis<2>,
        a: *const T,
        values: *mut T,
        indices: *mut i64,
    ) {
        let Self { along, columns, .. } = self;
        let (n, most) = (along.size, STRIP / columns.size);
        let mut beside = [MaybeUninit::<T>::uninit(); STRIP * IN_ORDER];
        let beside = beside.as_mut_ptr().cast::<T>();
        for first in (0..lots.size).step_by(most) {
            let here = most.min(lots.size - first);
            let width = here * columns.size;
            let to = [1, columns.size as isize, width as isize];
            let strides = [to, [columns.strides[0], lots.strides[0], along.strides[0]]];
            let [pa, po] = lots.strides.map(|s| first as isize * s);
            // SAFETY: (copy_block 1, 2) ours, and space for `n` rows of at most `STRIP` columns; (Strip) these rows,
            // and results that follow one another.
            unsafe {
                copy_block([columns.size, here, n], strides, a.offset(pa), beside);
                let steps = [1, width as isize, columns.strides[1]];
                let (values, indices) = (values.offset(po), indices.offset(po));
                for_isa(level, Strip::<T, MAX> { a: beside, n, width, steps, values, indices });
            }
        }
    }
}
