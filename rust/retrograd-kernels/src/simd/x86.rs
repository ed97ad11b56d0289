//! The vectors of x86-64: AVX2 with FMA, and AVX-512; those of SSE2 are in `sse2`.

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

use half::{bf16, f16};

use super::vector::{Isa, Vector};

/// AVX2, FMA and F16C.
#[derive(Clone, Copy, Debug)]
pub struct Avx2;

impl Isa for Avx2 {
    type F32 = Avx2F32;
    type F64 = Avx2F64;

    #[inline(always)]
    unsafe fn load_f16(p: *const f16) -> Avx2F32 {
        // SAFETY: duties 1 and 2.
        unsafe { Avx2F32(_mm256_cvtph_ps(_mm_loadu_si128(p.cast()))) }
    }
    #[inline(always)]
    unsafe fn load_bf16(p: *const bf16) -> Avx2F32 {
        // SAFETY: duties 1 and 2.
        unsafe {
            let bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(p.cast()));
            Avx2F32(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(bits)))
        }
    }
    #[inline(always)]
    unsafe fn store_f16(x: Avx2F32, p: *mut f16) {
        // SAFETY: a value of this type is proof of its instructions; duty 1.
        unsafe { _mm_storeu_si128(p.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x.0)) }
    }
    #[inline(always)]
    unsafe fn store_bf16(x: Avx2F32, p: *mut bf16) {
        // SAFETY: a value of this type is proof of its instructions; duty 1.
        unsafe {
            let upper = _mm256_srli_epi32::<16>(_mm256_castps_si256(x.0));
            let rounded = rounded_to_bf16(x, Avx2F32(_mm256_castsi256_ps(upper)));
            let words = _mm256_srli_epi32::<16>(_mm256_castps_si256(rounded.0));
            let (low, high) = (_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
            _mm_storeu_si128(p.cast(), _mm_packus_epi32(low, high));
        }
    }
}

/// Lanes whose upper halves are `x` rounded to bfloat16, ties to even, where `upper` is the upper halves of `x`, moved
/// down. NaN stays NaN.
#[inline(always)]
fn rounded_to_bf16<V: Vector<Elem = f32>>(x: V, upper: V) -> V {
    // What is added carries from half of the last place that is kept on, or from above half if that place is even.
    let rounded = x.bits_plus(upper.and(x.splat(f32::from_bits(1)))).bits_plus(x.splat(f32::from_bits(0x7fff)));
    rounded.select(x.eq(x), x.or(x.splat(f32::from_bits(0x0040_0000))))
}

/// AVX-512 F, VL, BW and DQ.
#[derive(Clone, Copy, Debug)]
pub struct Avx512;

impl Isa for Avx512 {
    type F32 = Avx512F32;
    type F64 = Avx512F64;

    #[inline(always)]
    unsafe fn load_f16(p: *const f16) -> Avx512F32 {
        // SAFETY: duties 1 and 2.
        unsafe { Avx512F32(_mm512_cvtph_ps(_mm256_loadu_si256(p.cast()))) }
    }
    #[inline(always)]
    unsafe fn load_bf16(p: *const bf16) -> Avx512F32 {
        // SAFETY: duties 1 and 2.
        unsafe {
            let bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(p.cast()));
            Avx512F32(_mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits)))
        }
    }
    #[inline(always)]
    unsafe fn store_f16(x: Avx512F32, p: *mut f16) {
        // SAFETY: a value of this type is proof of its instructions; duty 1.
        unsafe { _mm256_storeu_si256(p.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x.0)) }
    }
    #[inline(always)]
    unsafe fn store_bf16(x: Avx512F32, p: *mut bf16) {
        // SAFETY: a value of this type is proof of its instructions; duty 1.
        unsafe {
            let upper = _mm512_srli_epi32::<16>(_mm512_castps_si512(x.0));
            let rounded = rounded_to_bf16(x, Avx512F32(_mm512_castsi512_ps(upper)));
            let words = _mm512_srli_epi32::<16>(_mm512_castps_si512(rounded.0));
            _mm256_storeu_si256(p.cast(), _mm512_cvtepi32_epi16(words));
        }
    }
}

/// Eight words of ones and eight of zeros: read from word `8 - len`, a mask of the first `len`.
static MASK32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
/// The same for four 64-bit words, from word `4 - len`.
static MASK64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];

/// The operators, as one instruction each.
macro_rules! operators {
    ($v:ident: $($trait:ident $name:ident $f:ident),+) => {
        $(impl $trait for $v {
            type Output = Self;
            #[inline(always)]
            fn $name(self, o: Self) -> Self {
                // SAFETY: a value of this type is proof of its instructions.
                unsafe { Self($f(self.0, o.0)) }
            }
        })+
        impl Neg for $v {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.xor(self.of(-0.0))
            }
        }
    };
}

/// Methods of two vectors that are one instruction, on floats or, behind the casts, on integers.
macro_rules! methods {
    (floats: $($name:ident $f:ident),+) => { $(
        #[inline(always)]
        fn $name(self, o: Self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($f(self.0, o.0)) }
        }
    )+ };
    (integers $to:ident $from:ident: $($name:ident $f:ident),+) => { $(
        #[inline(always)]
        fn $name(self, o: Self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($from($f($to(self.0), $to(o.0)))) }
        }
    )+ };
    (shifts $bits:literal $top:literal $to:ident $from:ident: $up:ident $down:ident) => {
        #[inline(always)]
        fn up(self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($from($up::<$bits>($to(self.0)))) }
        }
        #[inline(always)]
        fn down(self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($from($down::<$bits>($to(self.0)))) }
        }
        #[inline(always)]
        fn low_to_sign(self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($from($up::<$top>($to(self.0)))) }
        }
    };
    (memory $t:ty: $load:ident $store:ident $set1:ident) => {
        #[inline(always)]
        unsafe fn load(p: *const $t) -> Self {
            // SAFETY: duties 1 and 2.
            unsafe { Self($load(p)) }
        }
        #[inline(always)]
        unsafe fn store(self, p: *mut $t) {
            // SAFETY: a value of this type is proof of its instructions; duty 1.
            unsafe { $store(p, self.0) }
        }
        #[inline(always)]
        fn splat(self, x: $t) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($set1(x)) }
        }
    };
    (transpose $t:ty: $f:ident $load:ident $store:ident: $($i:literal)+) => {
        #[inline(always)]
        unsafe fn transpose(from: *const $t, step: isize, to: *mut $t, to_step: isize) {
            // SAFETY: duties 1 to 3.
            unsafe {
                let rows = $f([$($load(from.offset($i * step))),+]);
                $($store(to.offset($i * to_step), rows[$i]);)+
            }
        }
    };
    (fma: $f:ident) => {
        #[inline(always)]
        fn fma(self, b: Self, c: Self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($f(self.0, b.0, c.0)) }
        }
    };
    (sqrt: $f:ident) => {
        #[inline(always)]
        fn sqrt(self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($f(self.0)) }
        }
    };
    // The reciprocal instruction has 14 digits, and each step of Newton's doubles them; the last one is the quotient's.
    (reciprocal $($step:ident)?: $f:ident $negated:ident) => {
        #[inline(always)]
        fn near_reciprocal(self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            let near = unsafe { Self($f(self.0)) };
            $(
                // SAFETY: a value of this type is proof of its instructions.
                let $step = unsafe { Self($negated(self.0, near.0, self.of(1.0).0)) };
                let near = $step.fma(near, near);
            )?
            near
        }
        #[inline(always)]
        fn quotient(self, o: Self) -> Self {
            let inverse = o.near_reciprocal();
            let near = self * inverse;
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($negated(o.0, near.0, self.0)) }.fma(inverse, near)
        }
    };
    // Of a NaN these instructions give the second operand.
    (extremes: $min:ident $max:ident) => {
        #[inline(always)]
        fn at_most(self, o: Self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($min(o.0, self.0)) }
        }
        #[inline(always)]
        fn at_least(self, o: Self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($max(o.0, self.0)) }
        }
    };
}

/// The lanes of pairs of vectors by turns, and vectors backwards: `$set` makes integers of numbers, the last one first.
macro_rules! places_of_avx512 {
    ($permute2:ident $permute:ident $set:ident: $($i:literal)+; even $($even:literal)+; odd $($odd:literal)+;
     low $($low:literal)+; high $($high:literal)+) => {
        #[inline(always)]
        fn deinterleave(a: Self, b: Self) -> (Self, Self) {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { (Self($permute2(a.0, $set($($even),+), b.0)), Self($permute2(a.0, $set($($odd),+), b.0))) }
        }
        #[inline(always)]
        fn interleave(a: Self, b: Self) -> (Self, Self) {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { (Self($permute2(a.0, $set($($low),+), b.0)), Self($permute2(a.0, $set($($high),+), b.0))) }
        }
        #[inline(always)]
        fn reversed(self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($permute($set($($i),+), self.0)) }
        }
    };
}

/// The columns of squares, by rows: halves of vectors that the two steps exchange are named by their places, since an
/// array that is indexed by constants alone stays in registers.
macro_rules! squares {
    // Of float32: pairs, pairs of pairs, then parts of 128 bits.
    ($name:ident $v:ty, $len:literal: $lo:ident $hi:ident $lo2:ident $hi2:ident $double:ident $single:ident:
     $($i:literal $j:literal $k:literal $l:literal)+; $parts:ident) => {
        /// # Safety
        /// 1. The CPU has the instructions of these vectors.
        #[inline(always)]
        unsafe fn $name(mut v: [$v; $len]) -> [$v; $len] {
            // SAFETY: duty 1.
            unsafe {
                $({
                    let (a, b) = ($double($lo(v[$i], v[$j])), $double($hi(v[$i], v[$j])));
                    let (c, d) = ($double($lo(v[$k], v[$l])), $double($hi(v[$k], v[$l])));
                    (v[$i], v[$j]) = ($single($lo2(a, c)), $single($hi2(a, c)));
                    (v[$k], v[$l]) = ($single($lo2(b, d)), $single($hi2(b, d)));
                })+
                $parts!(v);
                v
            }
        }
    };
    // Of float64: pairs, then parts of 128 bits.
    ($name:ident $v:ty, $len:literal: $lo:ident $hi:ident: $($i:literal $j:literal)+; $parts:ident) => {
        /// # Safety
        /// 1. The CPU has the instructions of these vectors.
        #[inline(always)]
        unsafe fn $name(mut v: [$v; $len]) -> [$v; $len] {
            // SAFETY: duty 1.
            unsafe {
                $((v[$i], v[$j]) = ($lo(v[$i], v[$j]), $hi(v[$i], v[$j]));)+
                $parts!(v);
                v
            }
        }
    };
}
/// The 2 x 2 transposes of 128-bit parts between vectors `$i` and `$j`.
macro_rules! two_parts {
    ($v:ident $f:ident: $($i:literal $j:literal)+) => {
        $(($v[$i], $v[$j]) = ($f::<0x20>($v[$i], $v[$j]), $f::<0x31>($v[$i], $v[$j]));)+
    };
}
/// The 4 x 4 transposes of 128-bit parts among vectors `$i` to `$l`.
macro_rules! four_parts {
    ($v:ident $f:ident: $($i:literal $j:literal $k:literal $l:literal)+) => {$({
        let (even, odd) = ($f::<0x88>($v[$i], $v[$j]), $f::<0xdd>($v[$i], $v[$j]));
        let (even2, odd2) = ($f::<0x88>($v[$k], $v[$l]), $f::<0xdd>($v[$k], $v[$l]));
        ($v[$i], $v[$j]) = ($f::<0x88>(even, even2), $f::<0x88>(odd, odd2));
        ($v[$k], $v[$l]) = ($f::<0xdd>(even, even2), $f::<0xdd>(odd, odd2));
    })+};
}
macro_rules! parts_of_8 {
    ($v:ident) => { two_parts!($v _mm256_permute2f128_ps: 0 4 1 5 2 6 3 7) };
}
macro_rules! parts_of_4_doubles {
    ($v:ident) => { two_parts!($v _mm256_permute2f128_pd: 0 2 1 3) };
}
macro_rules! parts_of_16 {
    ($v:ident) => { four_parts!($v _mm512_shuffle_f32x4: 0 4 8 12 1 5 9 13 2 6 10 14 3 7 11 15) };
}
macro_rules! parts_of_8_doubles {
    ($v:ident) => { four_parts!($v _mm512_shuffle_f64x2: 0 2 4 6 1 3 5 7) };
}
squares!(square_of_8 __m256, 8: _mm256_unpacklo_ps _mm256_unpackhi_ps _mm256_unpacklo_pd _mm256_unpackhi_pd
    _mm256_castps_pd _mm256_castpd_ps: 0 1 2 3 4 5 6 7; parts_of_8);
squares!(square_of_4_doubles __m256d, 4: _mm256_unpacklo_pd _mm256_unpackhi_pd: 0 1 2 3; parts_of_4_doubles);
squares!(square_of_16 __m512, 16: _mm512_unpacklo_ps _mm512_unpackhi_ps _mm512_unpacklo_pd _mm512_unpackhi_pd
    _mm512_castps_pd _mm512_castpd_ps: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; parts_of_16);
squares!(square_of_8_doubles __m512d, 8: _mm512_unpacklo_pd _mm512_unpackhi_pd: 0 1 2 3 4 5 6 7; parts_of_8_doubles);

mod sse2;
pub use sse2::Sse2;

macro_rules! avx2 {
    ($t:ty, $len:literal, $table:ident, $load:ident, $cmp:ident, $blend:ident, $movemask:ident) => {
        /// All bits of a lane set, or none.
        type Mask = Self;
        const LEN: usize = $len;
        #[inline(always)]
        unsafe fn load_first(p: *const $t, len: usize) -> Self {
            // SAFETY: duties 1 and 2; lanes whose mask is clear are not read; the table holds `LEN` words from there.
            unsafe { Self($load(p, _mm256_loadu_si256($table.as_ptr().add($len - len).cast()))) }
        }
        #[inline(always)]
        fn lt(self, o: Self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($cmp::<_CMP_LT_OQ>(self.0, o.0)) }
        }
        #[inline(always)]
        fn eq(self, o: Self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($cmp::<_CMP_EQ_OQ>(self.0, o.0)) }
        }
        #[inline(always)]
        fn select(self, mask: Self, o: Self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($blend(o.0, self.0, mask.0)) }
        }
        #[inline(always)]
        fn both(a: Self, b: Self) -> Self {
            a.and(b)
        }
        #[inline(always)]
        fn mask_bits(mask: Self) -> u32 {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { $movemask(mask.0) as u32 }
        }
    };
}

macro_rules! avx512 {
    ($t:ty, $mask:ty, $len:literal, $load:ident, $store:ident, $cmp:ident, $blend:ident, $scalef:ident, $getmant:ident,
     $getexp:ident, $masked_mul:ident, $masked_add:ident, $fixup:ident, $set_bits:ident) => {
        type Mask = $mask;
        const LEN: usize = $len;
        #[inline(always)]
        unsafe fn load_first(p: *const $t, len: usize) -> Self {
            // SAFETY: duties 1 and 2; lanes whose mask bit is clear are not read.
            unsafe { Self($load(((1u32 << len) - 1) as $mask, p)) }
        }
        #[inline(always)]
        unsafe fn store_first(self, p: *mut $t, len: usize) {
            // SAFETY: duty 1; lanes whose mask bit is clear are not written.
            unsafe { $store(p, ((1u32 << len) - 1) as $mask, self.0) }
        }
        #[inline(always)]
        fn lt(self, o: Self) -> $mask {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { $cmp::<_CMP_LT_OQ>(self.0, o.0) }
        }
        #[inline(always)]
        fn eq(self, o: Self) -> $mask {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { $cmp::<_CMP_EQ_OQ>(self.0, o.0) }
        }
        #[inline(always)]
        fn select(self, mask: $mask, o: Self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($blend(mask, o.0, self.0)) }
        }
        #[inline(always)]
        fn both(a: $mask, b: $mask) -> $mask {
            a & b
        }
        #[inline(always)]
        fn mask_bits(mask: $mask) -> u32 {
            u32::from(mask)
        }
        #[inline(always)]
        fn ldexp(self, n: Self) -> Self {
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($scalef(self.0, n.0)) }
        }
        #[inline(always)]
        fn split(self) -> (Self, Self) {
            let root = self.of(std::f64::consts::SQRT_2);
            // SAFETY: a value of this type is proof of its instructions.
            unsafe {
                let m = $getmant::<_MM_MANT_NORM_1_2, _MM_MANT_SIGN_ZERO>(self.0);
                let k = $getexp(self.0);
                let big = $cmp::<_CMP_GE_OQ>(m, root.0);
                (Self($masked_mul(m, big, m, self.of(0.5).0)), Self($masked_add(k, big, k, self.of(1.0).0)))
            }
        }
        #[inline(always)]
        fn with_ends_of_log(self, x: Self) -> Self {
            // Four bits for each class of `x`, the first ones lowest: NaN of either kind as it is (2), 0 to -inf (4), 1
            // and positive numbers to `self` (0), -inf and negative numbers to NaN (3), inf to inf (5).
            // SAFETY: a value of this type is proof of its instructions.
            unsafe { Self($fixup::<0>(self.0, x.0, $set_bits(0x0353_0422))) }
        }
    };
}

/// Eight lanes of float32.
#[derive(Clone, Copy, Debug)]
pub struct Avx2F32(__m256);
operators!(Avx2F32: Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps);
impl Vector for Avx2F32 {
    type Elem = f32;
    avx2!(f32, 8, MASK32, _mm256_maskload_ps, _mm256_cmp_ps, _mm256_blendv_ps, _mm256_movemask_ps);
    /// In parts, since a store with a mask takes some cores fifteen cycles, and no load takes from it what it stores.
    #[inline(always)]
    unsafe fn store_first(self, p: *mut f32, len: usize) {
        // SAFETY: duty 1: of fewer than eight elements four, two and one.
        unsafe {
            let (mut p, mut rest) = (p, _mm256_castps256_ps128(self.0));
            if len & 4 != 0 {
                _mm_storeu_ps(p, rest);
                (p, rest) = (p.add(4), _mm256_extractf128_ps::<1>(self.0));
            }
            if len & 2 != 0 {
                _mm_storel_epi64(p.cast(), _mm_castps_si128(rest));
                (p, rest) = (p.add(2), _mm_movehl_ps(rest, rest));
            }
            if len & 1 != 0 {
                _mm_store_ss(p, rest);
            }
        }
    }
    methods!(memory f32: _mm256_loadu_ps _mm256_storeu_ps _mm256_set1_ps);
    methods!(transpose f32: square_of_8 _mm256_loadu_ps _mm256_storeu_ps: 0 1 2 3 4 5 6 7);
    methods!(fma: _mm256_fmadd_ps);
    #[inline(always)]
    fn deinterleave(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe {
            let even = _mm256_castps_pd(_mm256_shuffle_ps::<0x88>(a.0, b.0));
            let odd = _mm256_castps_pd(_mm256_shuffle_ps::<0xdd>(a.0, b.0));
            let (even, odd) = (_mm256_permute4x64_pd::<0xd8>(even), _mm256_permute4x64_pd::<0xd8>(odd));
            (Self(_mm256_castpd_ps(even)), Self(_mm256_castpd_ps(odd)))
        }
    }
    #[inline(always)]
    fn interleave(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe {
            let (low, high) = (_mm256_unpacklo_ps(a.0, b.0), _mm256_unpackhi_ps(a.0, b.0));
            (Self(_mm256_permute2f128_ps::<0x20>(low, high)), Self(_mm256_permute2f128_ps::<0x31>(low, high)))
        }
    }
    #[inline(always)]
    fn reversed(self) -> Self {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe { Self(_mm256_permutevar8x32_ps(self.0, _mm256_set_epi32(0, 1, 2, 3, 4, 5, 6, 7))) }
    }
    methods!(sqrt: _mm256_sqrt_ps);
    methods!(extremes: _mm256_min_ps _mm256_max_ps);
    methods!(floats: and _mm256_and_ps, or _mm256_or_ps, xor _mm256_xor_ps);
    methods!(integers _mm256_castps_si256 _mm256_castsi256_ps: bits_plus _mm256_add_epi32);
    methods!(shifts 23 31 _mm256_castps_si256 _mm256_castsi256_ps: _mm256_slli_epi32 _mm256_srli_epi32);
}

/// Four lanes of float64.
#[derive(Clone, Copy, Debug)]
pub struct Avx2F64(__m256d);
operators!(Avx2F64: Add add _mm256_add_pd, Sub sub _mm256_sub_pd, Mul mul _mm256_mul_pd, Div div _mm256_div_pd);
impl Vector for Avx2F64 {
    type Elem = f64;
    avx2!(f64, 4, MASK64, _mm256_maskload_pd, _mm256_cmp_pd, _mm256_blendv_pd, _mm256_movemask_pd);
    /// In parts: see that of float32.
    #[inline(always)]
    unsafe fn store_first(self, p: *mut f64, len: usize) {
        // SAFETY: duty 1: of fewer than four elements two and one.
        unsafe {
            let (mut p, mut rest) = (p, _mm256_castpd256_pd128(self.0));
            if len & 2 != 0 {
                _mm_storeu_pd(p, rest);
                (p, rest) = (p.add(2), _mm256_extractf128_pd::<1>(self.0));
            }
            if len & 1 != 0 {
                _mm_store_sd(p, rest);
            }
        }
    }
    methods!(memory f64: _mm256_loadu_pd _mm256_storeu_pd _mm256_set1_pd);
    methods!(transpose f64: square_of_4_doubles _mm256_loadu_pd _mm256_storeu_pd: 0 1 2 3);
    methods!(fma: _mm256_fmadd_pd);
    #[inline(always)]
    fn deinterleave(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe {
            let (even, odd) = (_mm256_unpacklo_pd(a.0, b.0), _mm256_unpackhi_pd(a.0, b.0));
            (Self(_mm256_permute4x64_pd::<0xd8>(even)), Self(_mm256_permute4x64_pd::<0xd8>(odd)))
        }
    }
    #[inline(always)]
    fn interleave(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe {
            let (low, high) = (_mm256_unpacklo_pd(a.0, b.0), _mm256_unpackhi_pd(a.0, b.0));
            (Self(_mm256_permute2f128_pd::<0x20>(low, high)), Self(_mm256_permute2f128_pd::<0x31>(low, high)))
        }
    }
    #[inline(always)]
    fn reversed(self) -> Self {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe { Self(_mm256_permute4x64_pd::<0x1b>(self.0)) }
    }
    methods!(sqrt: _mm256_sqrt_pd);
    methods!(extremes: _mm256_min_pd _mm256_max_pd);
    methods!(floats: and _mm256_and_pd, or _mm256_or_pd, xor _mm256_xor_pd);
    methods!(integers _mm256_castpd_si256 _mm256_castsi256_pd: bits_plus _mm256_add_epi64);
    methods!(shifts 52 63 _mm256_castpd_si256 _mm256_castsi256_pd: _mm256_slli_epi64 _mm256_srli_epi64);
}

/// Sixteen lanes of float32.
#[derive(Clone, Copy, Debug)]
pub struct Avx512F32(__m512);
operators!(Avx512F32: Add add _mm512_add_ps, Sub sub _mm512_sub_ps, Mul mul _mm512_mul_ps, Div div _mm512_div_ps);
impl Vector for Avx512F32 {
    type Elem = f32;
    avx512!(
        f32,
        __mmask16,
        16,
        _mm512_maskz_loadu_ps,
        _mm512_mask_storeu_ps,
        _mm512_cmp_ps_mask,
        _mm512_mask_blend_ps,
        _mm512_scalef_ps,
        _mm512_getmant_ps,
        _mm512_getexp_ps,
        _mm512_mask_mul_ps,
        _mm512_mask_add_ps,
        _mm512_fixupimm_ps,
        _mm512_set1_epi32
    );
    methods!(memory f32: _mm512_loadu_ps _mm512_storeu_ps _mm512_set1_ps);
    methods!(transpose f32: square_of_16 _mm512_loadu_ps _mm512_storeu_ps: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    methods!(fma: _mm512_fmadd_ps);
    places_of_avx512!(_mm512_permutex2var_ps _mm512_permutexvar_ps _mm512_set_epi32: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
        even 30 28 26 24 22 20 18 16 14 12 10 8 6 4 2 0; odd 31 29 27 25 23 21 19 17 15 13 11 9 7 5 3 1;
        low 23 7 22 6 21 5 20 4 19 3 18 2 17 1 16 0; high 31 15 30 14 29 13 28 12 27 11 26 10 25 9 24 8);
    methods!(sqrt: _mm512_sqrt_ps);
    methods!(reciprocal: _mm512_rcp14_ps _mm512_fnmadd_ps);
    const LOOKUP: bool = true;
    #[inline(always)]
    fn lookup(self, table: &[f32; 32]) -> Self {
        // SAFETY: a value of this type is proof of its instructions; both loads are of 16 numbers of the table. Of the
        // places only the lowest five bits count, which here are the last of the exponent and the first of the
        // mantissa.
        unsafe {
            let place = _mm512_srli_epi32::<21>(_mm512_castps_si512(self.0));
            let (low, high) = (_mm512_loadu_ps(table.as_ptr()), _mm512_loadu_ps(table.as_ptr().add(16)));
            Self(_mm512_permutex2var_ps(low, place, high))
        }
    }
    methods!(extremes: _mm512_min_ps _mm512_max_ps);
    methods!(floats: and _mm512_and_ps, or _mm512_or_ps, xor _mm512_xor_ps);
    methods!(integers _mm512_castps_si512 _mm512_castsi512_ps: bits_plus _mm512_add_epi32);
    methods!(shifts 23 31 _mm512_castps_si512 _mm512_castsi512_ps: _mm512_slli_epi32 _mm512_srli_epi32);
}

/// Eight lanes of float64.
#[derive(Clone, Copy, Debug)]
pub struct Avx512F64(__m512d);
operators!(Avx512F64: Add add _mm512_add_pd, Sub sub _mm512_sub_pd, Mul mul _mm512_mul_pd, Div div _mm512_div_pd);
impl Vector for Avx512F64 {
    type Elem = f64;
    avx512!(
        f64,
        __mmask8,
        8,
        _mm512_maskz_loadu_pd,
        _mm512_mask_storeu_pd,
        _mm512_cmp_pd_mask,
        _mm512_mask_blend_pd,
        _mm512_scalef_pd,
        _mm512_getmant_pd,
        _mm512_getexp_pd,
        _mm512_mask_mul_pd,
        _mm512_mask_add_pd,
        _mm512_fixupimm_pd,
        _mm512_set1_epi64
    );
    methods!(memory f64: _mm512_loadu_pd _mm512_storeu_pd _mm512_set1_pd);
    methods!(transpose f64: square_of_8_doubles _mm512_loadu_pd _mm512_storeu_pd: 0 1 2 3 4 5 6 7);
    methods!(fma: _mm512_fmadd_pd);
    places_of_avx512!(_mm512_permutex2var_pd _mm512_permutexvar_pd _mm512_set_epi64: 0 1 2 3 4 5 6 7;
        even 14 12 10 8 6 4 2 0; odd 15 13 11 9 7 5 3 1;
        low 11 3 10 2 9 1 8 0; high 15 7 14 6 13 5 12 4);
    methods!(sqrt: _mm512_sqrt_pd);
    methods!(reciprocal lacking: _mm512_rcp14_pd _mm512_fnmadd_pd);
    methods!(extremes: _mm512_min_pd _mm512_max_pd);
    methods!(floats: and _mm512_and_pd, or _mm512_or_pd, xor _mm512_xor_pd);
    methods!(integers _mm512_castpd_si512 _mm512_castsi512_pd: bits_plus _mm512_add_epi64);
    methods!(shifts 52 63 _mm512_castpd_si512 _mm512_castsi512_pd: _mm512_slli_epi64 _mm512_srli_epi64);
}
