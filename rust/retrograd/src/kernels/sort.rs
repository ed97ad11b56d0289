//! Order along one axis: for every line of elements, which of them come first.

use std::cmp::Ordering;

use half::{bf16, f16};

use super::strided::{Axes, Offsets, plan_in_order};
use crate::tensor::Element;

/// An element type in order: numbers by size, both zeros equal, NaN after everything else and equal to itself.
pub trait Ranked: Element {
    type Rank: Copy + Ord;
    /// The rank of NaN, where there is one.
    const NAN: Option<Self::Rank>;
    fn rank(self) -> Self::Rank;
}

macro_rules! ranked_by_itself {
    ($($t:ty)*) => { $(impl Ranked for $t {
        type Rank = $t;
        const NAN: Option<$t> = None;
        #[inline]
        fn rank(self) -> $t {
            self
        }
    })* };
}
ranked_by_itself!(bool u8 i8 i16 i32 i64);

macro_rules! ranked_by_bits {
    ($($t:ty, $bits:ty, $int:ty;)*) => { $(impl Ranked for $t {
        type Rank = $int;
        const NAN: Option<$int> = Some(<$int>::MAX);
        #[inline]
        fn rank(self) -> $int {
            if self.is_nan() {
                return <$int>::MAX;
            }
            // Positive floats are ordered as their bits are. Of negative ones all bits but the sign are turned round.
            let bits = if self == 0.0 { 0 } else { self.to_bits() as $int };
            bits ^ ((bits >> (<$int>::BITS - 1)) as $bits >> 1) as $int
        }
    })* };
}
ranked_by_bits!(f32, u32, i32; f64, u64, i64;);

macro_rules! ranked_as_f32 {
    ($($t:ty)*) => { $(impl Ranked for $t {
        type Rank = i32;
        const NAN: Option<i32> = <f32 as Ranked>::NAN;
        #[inline]
        fn rank(self) -> i32 {
            self.to_f32().rank()
        }
    })* };
}
ranked_as_f32!(f16 bf16);

/// An element of a line: its rank, and its index in the line.
pub type Slot<T> = (<T as Ranked>::Rank, usize);

/// Rising; equal elements in the order of their indices.
#[inline]
pub fn rising<R: Ord>(a: &(R, usize), b: &(R, usize)) -> Ordering {
    a.0.cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Falling; equal elements in the order of their indices.
#[inline]
pub fn falling<R: Ord>(a: &(R, usize), b: &(R, usize)) -> Ordering {
    b.0.cmp(&a.0).then(a.1.cmp(&b.1))
}

/// The line of an operand that a kernel runs along: number of elements, and their distance.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub n: usize,
    pub step: isize,
}

/// For every position of the `outer` axes: lists the line of `a` at that place, lets `choose` bring the wanted slots to
/// the front, and writes the elements and indices of the first `to.n` to the line of the results there.
///
/// # Safety
/// 1. `a` is readable along `from` at every position. 2. `values` and `indices` are writable along `to` at every position,
///    with equal strides, and overlap neither `a` nor each other. 3. `choose` only permutes the slots.
#[allow(clippy::too_many_arguments)]
pub unsafe fn choose_along<T: Ranked>(
    outer: &[usize],
    a_outer: &[isize],
    o_outer: &[isize],
    from: Line,
    to: Line,
    a: *const T,
    values: *mut T,
    indices: *mut i64,
    choose: impl Fn(&mut [Slot<T>]),
) {
    let axes: Axes<2> = plan_in_order(outer, [a_outer, o_outer]);
    let mut slots: Vec<Slot<T>> = Vec::with_capacity(from.n);
    for [pa, po] in Offsets::new(&axes) {
        let a = a.wrapping_offset(pa);
        slots.clear();
        // SAFETY: duty 1.
        slots.extend((0..from.n).map(|i| (unsafe { *a.offset(i as isize * from.step) }.rank(), i)));
        choose(&mut slots);
        for (j, &(_, i)) in slots[..to.n].iter().enumerate() {
            let o = po + j as isize * to.step;
            // SAFETY: duties 1 to 3: `i` is an index of the line.
            unsafe {
                *values.offset(o) = *a.offset(i as isize * from.step);
                *indices.offset(o) = i as i64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_ranked_as_numbers_with_nan_last() {
        let rising = [f64::NEG_INFINITY, -2.5, -1.0, -1e-310, 0.0, 1e-310, 1.0, 2.5, f64::INFINITY, f64::NAN];
        for pair in rising.windows(2) {
            assert!(pair[0].rank() < pair[1].rank(), "{pair:?}");
            let [a, b] = [pair[0] as f32, pair[1] as f32];
            assert!(a == b || a.rank() < b.rank(), "{a} {b}");
        }
        assert_eq!((-0.0f64).rank(), 0.0f64.rank());
        assert_eq!((-f32::NAN).rank(), f32::NAN.rank());
        assert!(f16::from_f32(-1.0).rank() < bf16::from_f32(0.5).rank());
    }

    #[test]
    fn equal_elements_keep_their_order_both_ways() {
        let mut slots: Vec<(i32, usize)> = [2, 1, 2, 1].iter().copied().zip(0..).collect();
        slots.sort_unstable_by(rising);
        assert_eq!(slots.iter().map(|s| s.1).collect::<Vec<_>>(), [1, 3, 0, 2]);
        slots.sort_unstable_by(falling);
        assert_eq!(slots.iter().map(|s| s.1).collect::<Vec<_>>(), [0, 2, 1, 3]);
    }
}
