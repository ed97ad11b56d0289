//! Strips of few columns and rows, such as the sums of tiles along a middle axis, and rows of few elements.

use std::mem::MaybeUninit;

use super::super::Reduce;
use super::strips::Strips;
use crate::pointwise::copy_block;
use crate::simd::{InstructionSet, Isa, SimdElement, Task, for_isa};
use crate::strided::{Axes, Axis, Offsets, axis, longest};
use crate::thresholds::reduce::{IN_ORDER, TURNED};

/// Strips of so few columns and rows, of which there are many, take longer to begin than to add up.
const FEW_OF_STRIPS: usize = 16;

impl<A: SimdElement, R: Reduce<A>> Strips<'_, A, R> {
    /// Whether strips are small, and there is more than one.
    pub(super) fn are_small(&self) -> bool {
        !self.joined
            && self.kept.len() > 1
            && matches!(self.red, [red] if red.size <= FEW_OF_STRIPS)
            && self.kept[0].size <= FEW_OF_STRIPS
    }
}

/// Small strips: the same column of a few strips next to each other, so that no sum waits for the one before.
///
/// Duties: those of [`Strips`], which are small.
pub(super) struct SmallStrips<'r, A, R: Reduce<A>>(pub(super) Strips<'r, A, R>);

impl<A: SimdElement, R: Reduce<A>> Task for SmallStrips<'_, A, R> {
    type Out = ();
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn run<S: Isa>(self) {
        const NEXT: usize = 4;
        let Strips { kept, a, o, .. } = self.0;
        let (k0, y) = (axis(kept, 0), axis(kept, 1));
        for [pa, po] in Offsets::new(&kept[2..]) {
            let mut first = 0;
            while first < y.size {
                let next = if y.size - first < NEXT { 1 } else { NEXT };
                for c in 0..k0.size as isize {
                    let [sa, so] = std::array::from_fn(|k| first as isize * y.strides[k] + c * k0.strides[k]);
                    // SAFETY: duties 1 and 2: positions of the axes.
                    unsafe {
                        let (a, o) = (a.offset(pa + sa), o.offset(po + so));
                        match next {
                            NEXT => self.columns::<NEXT>(y.strides, a, o),
                            _ => self.columns::<1>(y.strides, a, o),
                        }
                    }
                }
                first += next;
            }
        }
    }
}

impl<A: SimdElement, R: Reduce<A>> SmallStrips<'_, A, R> {
    /// A column of `N` strips, which are `across` from each other in the input and in the output.
    ///
    /// # Safety
    /// Our duties, for the columns at `a` and `o`.
    #[inline(always)]
    unsafe fn columns<const N: usize>(&self, across: [isize; 2], a: *const A, o: *mut R::O) {
        let Strips { r, red, n, .. } = self.0;
        let red = axis(red, 0);
        let mut accs = [r.init(); N];
        for i in 0..red.size as isize {
            for (l, acc) in (0..).zip(&mut accs) {
                // SAFETY: duty 1.
                *acc = r.step(*acc, unsafe { *a.offset(i * red.strides[0] + l * across[0]) });
            }
        }
        for (l, &acc) in (0..).zip(&accs) {
            // SAFETY: duty 2.
            unsafe { *o.offset(l * across[1]) = r.finish(acc, n) };
        }
    }
}

/// Short rows that are worth being turned.
const ROWS: usize = 16;
/// Elements of those whose order does not matter; longer ones are as fast as they lie.
const FEW_EXACT: usize = IN_ORDER / 2;

/// Whether rows are so short, and so many, that they are copied to be columns of strips.
pub(super) fn are_turned<A: SimdElement, R: Reduce<A>>(kept: &[Axis<2>], red: &[Axis<1>]) -> bool {
    let most = if R::EXACT { FEW_EXACT } else { IN_ORDER };
    let many = longest(kept).is_some_and(|i| kept[i].size >= ROWS);
    many && matches!(red, [along] if (2..=most).contains(&along.size))
}

/// Rows along the one reduced axis, which are short, as the columns of strips: as many at a time as a copy has room
/// for.
///
/// # Safety
/// The duties of [`Strips`] but for the order of the axes; [`are_turned`] says so.
#[inline(never)]
pub(super) unsafe fn turned_rows<A: SimdElement, R: Reduce<A>>(level: InstructionSet, strips: Strips<'_, A, R>) {
    type Unit = u128;
    const { assert!(align_of::<A>() <= align_of::<Unit>()) };
    let Strips { r, kept, red, n, joined, a, o } = strips;
    let mut turned = [MaybeUninit::<Unit>::uninit(); TURNED / size_of::<Unit>()];
    let turned = turned.as_mut_ptr().cast::<A>();
    let room = TURNED / IN_ORDER / size_of::<A>();
    let mut others: Axes<2> = kept.into();
    let (rows, along) = (others.remove(longest(kept).unwrap_or(0)), &red[0]);
    // Columns of a distance that is larger than their number are never joined, whatever their number.
    let column = [Axis { size: n, strides: [room as isize] }];
    let strides = [[1, room as isize, 0], [rows.strides[0], along.strides[0], 0]];
    for [pa, po] in Offsets::new(&others) {
        for first in (0..rows.size).step_by(room) {
            let size = room.min(rows.size - first);
            let [sa, so] = rows.strides.map(|s| first as isize * s);
            let kept = [Axis { size, strides: [1, rows.strides[1]] }];
            // SAFETY: (copy_block) duty 1: positions of the axes; the copy has room for `IN_ORDER` elements of
            // `room` rows, none of which is shared. (Strips) the copy is initialised at the positions of both axes;
            // duty 2.
            unsafe {
                copy_block([size, n, 1], strides, a.offset(pa + sa), turned);
                let o = o.offset(po + so);
                for_isa(level, Strips { r, kept: &kept, red: &column, n, joined, a: turned, o });
            }
        }
    }
}
