//! Elements as unsigned integers of the same order.

use std::ops::BitXor;

use half::{bf16, f16};

use crate::simd::SimdElement;
use crate::truth::Truth;

/// An unsigned integer that a rank is.
pub trait Rank: Copy + Ord + BitXor<Output = Self> + Into<u64> + Send + Sync {
    const BITS: u32;
    const ZERO: Self;
    const MAX: Self;
    /// Its low bits.
    fn low(wide: u64) -> Self;
}

macro_rules! ranks {
    ($($u:ty)*) => { $(impl Rank for $u {
        const BITS: u32 = <$u>::BITS;
        const ZERO: Self = 0;
        const MAX: Self = <$u>::MAX;
        #[inline(always)]
        fn low(wide: u64) -> Self {
            wide as $u
        }
    })* };
}
ranks!(u8 u16 u32 u64);

/// An element type in order: numbers by size, both zeros equal, NaN after everything else and equal to itself.
pub trait Ranked: SimdElement + Send + Sync + 'static {
    type Rank: Rank;
    /// The rank of NaN, where there is one.
    const NAN: Option<Self::Rank>;
    fn rank(self) -> Self::Rank;
}

macro_rules! ranked_integers {
    ($($t:ty as $u:ty;)*) => { $(impl Ranked for $t {
        type Rank = $u;
        const NAN: Option<$u> = None;
        #[inline(always)]
        fn rank(self) -> $u {
            // The least number becomes 0.
            self as $u ^ <$t>::MIN as $u
        }
    })* };
}
ranked_integers!(u8 as u8; i8 as u8; i16 as u16; i32 as u32; i64 as u64;);

impl Ranked for Truth {
    type Rank = u8;
    const NAN: Option<u8> = None;
    #[inline(always)]
    fn rank(self) -> u8 {
        self.get() as u8
    }
}

macro_rules! ranked_floats {
    ($($t:ty as $u:ty;)*) => { $(impl Ranked for $t {
        type Rank = $u;
        const NAN: Option<$u> = Some(<$u>::MAX);
        #[inline(always)]
        fn rank(self) -> $u {
            const SIGN: $u = 1 << (<$u>::BITS - 1);
            let bits = self.to_bits();
            let size = bits & !SIGN;
            // The bits of positive floats are in order, those of negative ones in the opposite order.
            let rank = if bits > SIGN { !bits } else { size | SIGN };
            if size > <$t>::INFINITY.to_bits() { <$u>::MAX } else { rank }
        }
    })* };
}
ranked_floats!(f16 as u16; bf16 as u16; f32 as u32; f64 as u64;);

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
            let [a, b] = pair.iter().map(|&x| f16::from_f64(x)).collect::<Vec<_>>()[..] else { unreachable!() };
            assert!(a == b || a.rank() < b.rank(), "{a} {b}");
            let [a, b] = pair.iter().map(|&x| bf16::from_f64(x)).collect::<Vec<_>>()[..] else { unreachable!() };
            assert!(a == b || a.rank() < b.rank(), "{a} {b}");
        }
        assert_eq!((-0.0f64).rank(), 0.0f64.rank());
        assert_eq!((-0.0f32).rank(), 0.0f32.rank());
        assert_eq!(f16::NEG_ZERO.rank(), f16::ZERO.rank());
        assert_eq!((-f32::NAN).rank(), f32::NAN.rank());
        assert_eq!(Some((-bf16::NAN).rank()), <bf16 as Ranked>::NAN);
    }

    #[test]
    fn integers_are_ranked_by_size() {
        assert!([i64::MIN, -1, 0, 1, i64::MAX].windows(2).all(|pair| pair[0].rank() < pair[1].rank()));
        assert!([i32::MIN, -1, 0, 1, i32::MAX].windows(2).all(|pair| pair[0].rank() < pair[1].rank()));
        assert!([i16::MIN, -1, 0, 1, i16::MAX].windows(2).all(|pair| pair[0].rank() < pair[1].rank()));
        assert!([i8::MIN, -1, 0, 1, i8::MAX].windows(2).all(|pair| pair[0].rank() < pair[1].rank()));
        assert!(0u8.rank() < 255u8.rank() && Truth::FALSE.rank() < Truth::TRUE.rank());
    }
}
