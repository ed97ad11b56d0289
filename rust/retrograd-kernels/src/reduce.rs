//! Reductions over any set of axes, and scans along one.
//!
//! A [`Reduce`] says how to start, take one element, join two accumulators and finish; [`reduce`] chooses the walk.
//!
//! Order. It depends on the sizes and strides alone, never on threads or on the instruction set, so results do not
//! either. Where the innermost axis is reduced, a row is cut into blocks of [`BLOCK`] elements; inside a block 256
//! bytes of accumulators take every k-th element and are joined as a tree, or 64 bytes of them where there are too few
//! elements, of floats in vectors, for several rows side by side; at most 16 elements are taken in order, by many rows
//! as the columns of a strip. Block results are joined pairwise in a [`Cascade`]. The rounding error of a float sum
//! thus grows as `BLOCK / k + log2(n)` units, not as `n`. Where the innermost axis is kept, a strip of accumulators in
//! L1 takes [`GROUP`] rows at a time, and strips are joined pairwise the same way. A caller that splits one long row
//! among threads cuts it at a multiple of `BLOCK << k`, reduces each part by [`row`], and joins the parts in a
//! [`Cascade`]: if all parts but the last have `BLOCK << k` elements, this is the very same tree.

use super::simd::{Isa, SimdElement};
use super::strided::{Axes, Offsets, dense_results};
use crate::thresholds::reduce::{BLOCK, GROUP};

mod best;
mod engine;
mod halves;
mod mapped;
mod ops;
mod scan;

pub use best::best;
pub use engine::{Cascade, InVectors, reduce, reduce_at, row};
pub use halves::reduce_halves;
pub use mapped::sum_of;
pub use ops::{
    All, Any, CountNonzero, CumProd, CumSum, Length, Max, Mean, Min, Moments, NanSum, Prod, Sum, row_moments,
};
pub use scan::{scan, scan_at};

/// Elements of a result from which on its place takes little beside them.
const MANY: usize = 16;

/// Calls `run` with the axes of an input and of its results, and with where these begin. Where that makes fewer axes of
/// them, they lie in the order of the input, and are brought to their places afterwards. A result is of `n` elements.
///
/// # Safety
/// 1. `o` is writable at all results. 2. `run` writes those of the axes that it is given.
unsafe fn with_dense_results<O: Copy>(kept: &Axes<2>, n: usize, o: *mut O, run: impl FnOnce(&Axes<2>, *mut O)) {
    let dense = if n >= MANY && kept.len() > 1 { dense_results(kept) } else { None };
    let mut results = Vec::<O>::new();
    let (axes, to) = match &dense {
        Some(axes) => {
            results.reserve(kept.iter().map(|x| x.size).product());
            (axes, results.as_mut_ptr())
        }
        None => (kept, o),
    };
    run(axes, to);
    if dense.is_some() {
        for (i, [_, at]) in Offsets::new(kept).enumerate() {
            // SAFETY: duty 1; (2) as many results as positions were written.
            unsafe { *o.offset(at) = *to.add(i) };
        }
    }
}

/// A reduction. `step` and `combine` must be associative and commutative up to rounding. Implementors mark all methods
/// `#[inline(always)]`.
pub trait Reduce<A>: Sync {
    /// What is carried along.
    type Acc: Copy + Send + Sync;
    /// What comes out.
    type O: Copy;
    /// Whether a plain loop does, compiled once: where accumulators are exact, so that no order changes the result, or
    /// where the type is seldom reduced.
    const EXACT: bool = false;
    /// Whether loops are compiled for every instruction set though they are exact, because the baseline has no
    /// instructions for the type.
    const BEYOND_BASELINE: bool = false;

    /// The neutral accumulator.
    fn init(&self) -> Self::Acc;
    /// Takes one element.
    fn step(&self, acc: Self::Acc, x: A) -> Self::Acc;
    /// Joins two accumulators.
    fn combine(&self, a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// The result of `n` elements.
    fn finish(&self, acc: Self::Acc, n: usize) -> Self::O;

    /// Takes the elements of a slice, where that is exact.
    #[inline(always)]
    fn slice(&self, mut acc: Self::Acc, x: &[A]) -> Self::Acc
    where
        A: Copy,
    {
        for &x in x {
            acc = self.step(acc, x);
        }
        acc
    }

    /// `L` accumulators take every `L`-th of `n` contiguous elements and are joined as a tree. Reductions of floats
    /// whose accumulators are elements do the same in vectors.
    ///
    /// # Safety
    /// 1. The elements are readable and initialised. 2. `n` is a positive multiple of `L`. 3. The CPU has the
    ///    instructions of `S`.
    #[inline(always)]
    unsafe fn lanes<S: Isa, const L: usize>(&self, n: usize, a: *const A) -> Self::Acc
    where
        A: SimdElement,
        Self: Sized,
    {
        // SAFETY: duties 1 and 2.
        unsafe { engine::lanes::<L, A, Self>(self, n, a) }
    }

    /// Reduces elements that are too few for the lanes of a block in vectors; None where there is no such loop.
    ///
    /// # Safety
    /// 1. The elements are readable and initialised; there is one at least. 2. The CPU has the instructions of `S`.
    #[inline(always)]
    unsafe fn few<S: Isa>(&self, _n: usize, _a: *const A) -> Option<Self::Acc> {
        None
    }

    /// [`Reduce::few`] of the first of `rows` rows, `apart` elements from one to the next, to the first of `to`, with
    /// the same results. Returns how many it has reduced; 0 where there is no such loop.
    ///
    /// # Safety
    /// 1. As [`Reduce::few`], for each row.
    #[inline(always)]
    unsafe fn few_of_rows<S: Isa>(
        &self,
        _n: usize,
        _rows: usize,
        _a: *const A,
        _apart: isize,
        _to: &mut [Self::Acc; 32],
    ) -> usize {
        0
    }
}

#[cfg(test)]
mod tests;
