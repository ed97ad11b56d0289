//! Casts between the real dtypes but halves, with torch's meaning, and from complex numbers to bool. Halves are float32
//! to them, as to all loops, and rounded to nearest even.
//!
//! To bool: `x != 0`. Float to integer: truncation; outside the target's range the result is unspecified but defined
//! (it goes through `i32`, or `i64` for `i64`, saturating, then wraps). Integer to a narrower integer wraps.

use std::hint::select_unpredictable;

use half::f16;
use num_complex::Complex;

use super::super::real::{Real, Ring};
use super::super::simd::{InstructionSet, SimdElement};
use super::super::truth::Truth;
use super::{Map1, map1_at};

/// The element-wise cast to `O`.
pub trait Cast<O>: Copy {
    /// The cast value.
    fn cast(self) -> O;
}

/// The body of [`convert`].
#[derive(Clone, Copy, Debug)]
pub struct Convert;

impl<A: Cast<O> + SimdElement, O> Map1<A, O> for Convert {
    // Those to wider elements would take longer than their memory in narrow vectors. Of the others the compiler makes
    // no vectors in chunks of a row.
    const WIDE: bool = A::LONG || <Self as Map1<A, O>>::LIGHT;
    const LIGHT: bool = size_of::<O>() > size_of::<A>();
    #[inline(always)]
    fn f(&self, a: A) -> O {
        a.cast()
    }
}

/// Casts strided elements.
///
/// # Safety
/// As [`map1`](super::map1).
pub unsafe fn convert<A: Cast<O> + SimdElement, O: Copy>(
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    // SAFETY: (1-3) are ours.
    unsafe { convert_at(InstructionSet::detect(), sizes, a, a_strides, o, o_strides) }
}

/// [`convert`] with the instructions of `level`.
///
/// # Safety
/// As [`map1`](super::map1).
pub unsafe fn convert_at<A: Cast<O> + SimdElement, O: Copy>(
    level: InstructionSet,
    sizes: &[usize],
    a: *const A,
    a_strides: &[isize],
    o: *mut O,
    o_strides: &[isize],
) {
    // SAFETY: (1-3) are ours.
    unsafe { map1_at(level, &Convert, sizes, a, a_strides, o, o_strides) }
}

macro_rules! casts {
    // One expression of `$x` for a source and each target.
    ($a:ty => $($o:ty),+ ; $x:ident => $e:expr) => {$(
        impl Cast<$o> for $a {
            #[inline(always)]
            fn cast(self) -> $o {
                let $x = self;
                ($e) as $o
            }
        }
    )+};
}

macro_rules! cast_with {
    ($($a:ty),+ => $o:ty; $x:ident => $e:expr) => {$(
        impl Cast<$o> for $a {
            #[inline(always)]
            fn cast(self) -> $o {
                let $x = self;
                $e
            }
        }
    )+};
}

casts!(u8 => u8, i8, i16, i32, i64, f32, f64; x => x);
casts!(i8 => u8, i8, i16, i32, i64, f32, f64; x => x);
casts!(i16 => u8, i8, i16, i32, i64, f32, f64; x => x);
casts!(i32 => u8, i8, i16, i32, i64, f32, f64; x => x);
casts!(i64 => u8, i8, i16, i32, i64, f32, f64; x => x);
casts!(f32 => f32, f64; x => x);
casts!(f32 => u8, i8, i16, i32; x => i32_of_f32(x));
casts!(f64 => f32, f64; x => x);
casts!(f64 => u8, i8, i16, i32; x => i32_of_f64(x));
casts!(Truth => u8, i8, i16, i32, i64, f32, f64; x => x.get() as u8);

cast_with!(f32 => i64; x => i64_of_f32(x));
cast_with!(f64 => i64; x => i64_of_f64(x));
cast_with!(u8, i8, i16, i32, i64 => Truth; x => (x != 0).into());
cast_with!(f32, f64 => Truth; x => (x != 0.0).into());
// The copy of a bool is 0 or 1, whatever the bytes of the original.
cast_with!(Truth => Truth; x => x.get().into());
impl<T: Real> Cast<Truth> for Complex<T> {
    #[inline(always)]
    fn cast(self) -> Truth {
        (self != Self::ZERO).into()
    }
}
cast_with!(Complex<f32> => Complex<f32>; x => x);
cast_with!(Complex<f64> => Complex<f64>; x => x);
cast_with!(Complex<f32> => Complex<f64>; x => Complex::new(x.re.into(), x.im.into()));
// Wide unsigned integers are converted by way of an i64 or, of 64 bits beside floats, an f64.
casts!(u16 => i64, f64; x => x);
casts!(u32 => i64, f64; x => x);
casts!(u64 => i64, f64; x => x);
casts!(i64 => u16, u32, u64; x => x);
casts!(f64 => u16, u32; x => x as i64);
cast_with!(f64 => u64; x => if x < 0.0 { x as i64 as u64 } else { x as u64 });

/// Conversions to integers, which saturate as `as` does. Without branches, so that loops vectorise, and rows too.
macro_rules! saturating {
    ($($name:ident $t:ty => $i:ty),+) => { $(
        #[inline(always)]
        fn $name(x: $t) -> $i {
            let inside = x.abs() < -(<$i>::MIN as $t);
            // SAFETY: the number, or 0, is finite and its integer part is of the type.
            let whole = unsafe { select_unpredictable(inside, x, 0.0).to_int_unchecked::<$i>() };
            let below = select_unpredictable(x < 0.0, <$i>::MIN, 0);
            select_unpredictable(inside, whole, select_unpredictable(x > 0.0, <$i>::MAX, below))
        }
    )+ };
}
saturating!(i32_of_f32 f32 => i32, i32_of_f64 f64 => i32, i64_of_f32 f32 => i64, i64_of_f64 f64 => i64);

/// Exact. Without branches, so that loops vectorise; `half` detects the CPU once per element instead.
#[inline(always)]
pub(crate) fn f32_of_f16(h: f16) -> f32 {
    let bits = h.to_bits() as u32;
    let magnitude = (bits & 0x7fff) << 13;
    // The exponent bias differs by 112; the product is exact for subnormals too.
    let value = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
    let special = if magnitude >= 0x7c00 << 13 { 0x7f80_0000 } else { 0 };
    let quiet = if magnitude > 0x7c00 << 13 { 0x0040_0000 } else { 0 };
    f32::from_bits(value | special | quiet | (bits & 0x8000) << 16)
}

/// Round to nearest even.
#[inline(always)]
pub(crate) fn f16_of_f32(x: f32) -> f16 {
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // Adding a power of two 2^13 above the half's last place makes the FPU round there. Overflow is sent to infinity by
    // the first factor and kept there; subnormal halves share one last place, hence the floor of the exponent.
    let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23) * f32::from_bits((127 - 110) << 23);
    let exponent = (magnitude & 0x7f80_0000).max(0x3880_0000);
    let base = (f32::from_bits(exponent + 0x0780_0000) + scaled).to_bits();
    let rounded = ((base >> 13) & 0x7c00) + (base & 0x0fff);
    let value = if magnitude > 0x7f80_0000 { 0x7e00 } else { rounded };
    f16::from_bits((value | (bits >> 16 & 0x8000)) as u16)
}

/// Exact.
#[inline(always)]
pub(crate) fn f32_of_bf16(h: half::bf16) -> f32 {
    f32::from_bits((h.to_bits() as u32) << 16)
}

/// Round to nearest even.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
pub(crate) fn bf16_of_f32(x: f32) -> half::bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let nan = bits >> 16 | 0x0040;
    half::bf16::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { nan } else { rounded } as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::bf16;

    #[test]
    fn every_half_widens_exactly() {
        for bits in 0..=u16::MAX {
            let h = f16::from_bits(bits);
            let (got, want) = (f32_of_f16(h), h.to_f32());
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{bits:04x}");
            let b = bf16::from_bits(bits);
            assert!(f32_of_bf16(b).to_bits() == b.to_f32().to_bits() || b.is_nan());
        }
    }

    #[test]
    fn narrowing_rounds_to_nearest_even() {
        // Every 97th pattern, and the neighbourhood of every half.
        let near = (0..=u16::MAX).flat_map(|h| {
            let b = f16::from_bits(h).to_f32().to_bits();
            [b.wrapping_sub(1), b, b.wrapping_add(1), b ^ 0x1000, (b ^ 0x1000) + 1, (b ^ 0x1000).wrapping_sub(1)]
        });
        for bits in near.chain((0..=u32::MAX).step_by(9973)) {
            let x = f32::from_bits(bits);
            let (got, want) = (f16_of_f32(x), f16::from_f32(x));
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{bits:08x} {got} {want}");
            let (got, want) = (bf16_of_f32(x), bf16::from_f32(x));
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{bits:08x} {got} {want}");
        }
    }

    #[test]
    fn conversions_to_integers_saturate() {
        let ends = [0.0, -0.0, 0.9, -0.9, 2f64.powi(63), -(2f64.powi(63)), f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let others = (0..2000).map(|i| f64::from(i - 1000) * 1.37 * 2f64.powi(i % 64));
        let near = [i64::MAX as f64, 9_223_372_036_854_774_784.0, -9_223_372_036_854_774_784.0];
        let near32 =
            [2147483647.0, 2147483648.0, -2147483648.0, -2147483649.0, 2147483647.5, -2147483648.5, 2147483520.0];
        for x in ends.into_iter().chain(near).chain(near32).chain(others) {
            assert_eq!(i32_of_f64(x), x as i32, "{x}");
            assert_eq!(i32_of_f32(x as f32), x as f32 as i32, "{x}");
            assert_eq!(i64_of_f64(x), x as i64, "{x}");
            assert_eq!(i64_of_f32(x as f32), x as f32 as i64, "{x}");
        }
    }

    #[test]
    fn torch_meanings() {
        fn to<A: Cast<O>, O>(a: A) -> O {
            a.cast()
        }
        assert_eq!(to::<f32, i32>(-2.9), -2);
        assert_eq!(to::<f32, u8>(-1.0), 255);
        assert_eq!(to::<f64, i8>(300.0), 44);
        assert_eq!(to::<i64, u8>(-1), 255);
        assert_eq!(to::<i32, i16>(70000), 4464);
        assert_eq!([0.1, f32::NAN, -0.0].map(to::<f32, Truth>), [true, true, false].map(Truth::from));
        assert_eq!(to::<Truth, f32>(Truth::TRUE), 1.0);
        assert_eq!(to::<i64, f64>(-7), -7.0);
        assert_eq!(to::<f64, i64>(1e10), 10_000_000_000);
    }
}
