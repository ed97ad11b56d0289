//! Strips of few columns and rows, such as the sums of tiles along a middle axis.

use super::super::Reduce;
use super::Strips;
use crate::simd::{Isa, SimdElement, Task};
use crate::strided::{Offsets, axis};

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
