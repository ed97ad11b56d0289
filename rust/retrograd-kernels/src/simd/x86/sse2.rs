//! The vectors that every CPU of x86-64 has: SSE2, without fused multiplications.
//!
//! With arrays in their place the compiler takes the loops over vectors for loops over elements, and makes vectors of
//! every fourth one: the code is up to six times as long, and slower.

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

use half::{bf16, f16};

use super::super::super::pointwise::{f16_of_f32, f32_of_f16};
use super::super::vector::{Isa, Vector};
use super::rounded_to_bf16;

/// SSE2.
#[derive(Clone, Copy, Debug)]
pub struct Sse2;

impl Isa for Sse2 {
    type F32 = Sse2F32;
    type F64 = Sse2F64;

    #[inline(always)]
    unsafe fn load_f16(p: *const f16) -> Sse2F32 {
        // SAFETY: duties 1 and 2; an array has the layout of its elements, and four of them are a vector.
        unsafe { Sse2F32::load(p.cast::<[f16; 4]>().read_unaligned().map(f32_of_f16).as_ptr()) }
    }
    #[inline(always)]
    unsafe fn load_bf16(p: *const bf16) -> Sse2F32 {
        // SAFETY: duties 1 and 2.
        unsafe { Sse2F32(_mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64(p.cast())))) }
    }
    #[inline(always)]
    unsafe fn store_f16(x: Sse2F32, p: *mut f16) {
        let mut lanes = [0.0; 4];
        // SAFETY: (store 1) an array of four; duty 1.
        unsafe {
            x.store(lanes.as_mut_ptr());
            p.cast::<[f16; 4]>().write_unaligned(lanes.map(f16_of_f32));
        }
    }
    #[inline(always)]
    unsafe fn store_bf16(x: Sse2F32, p: *mut bf16) {
        // SAFETY: a value of this type is proof of its instructions; duty 1.
        unsafe {
            let upper = Sse2F32(_mm_castsi128_ps(_mm_srli_epi32::<16>(_mm_castps_si128(x.0))));
            // With their signs the upper halves are within the range of what packing saturates to.
            let words = _mm_srai_epi32::<16>(_mm_castps_si128(rounded_to_bf16(x, upper).0));
            _mm_storel_epi64(p.cast(), _mm_packs_epi32(words, words));
        }
    }
}

macro_rules! sse2 {
    ($len:literal: $lt:ident $eq:ident $movemask:ident) => {
        /// All bits of a lane set, or none.
        type Mask = Self;
        const LEN: usize = $len;
        const FUSED: bool = false;
        methods!(floats: lt $lt, eq $eq);
        #[inline(always)]
        fn select(self, mask: Self, o: Self) -> Self {
            o.xor(mask.and(self.xor(o)))
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
        #[inline(always)]
        fn fma(self, b: Self, c: Self) -> Self {
            self * b + c
        }
    };
}

/// # Safety
/// 1. The CPU has the instructions of these vectors.
#[inline(always)]
unsafe fn square_of_4([a, b, c, d]: [__m128; 4]) -> [__m128; 4] {
    // SAFETY: duty 1.
    unsafe {
        let (low, low2) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
        let (high, high2) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
        [_mm_movelh_ps(low, low2), _mm_movehl_ps(low2, low), _mm_movelh_ps(high, high2), _mm_movehl_ps(high2, high)]
    }
}

/// # Safety
/// 1. The CPU has the instructions of these vectors.
#[inline(always)]
unsafe fn square_of_2([a, b]: [__m128d; 2]) -> [__m128d; 2] {
    // SAFETY: duty 1.
    unsafe { [_mm_unpacklo_pd(a, b), _mm_unpackhi_pd(a, b)] }
}

/// Four lanes of float32.
#[derive(Clone, Copy, Debug)]
pub struct Sse2F32(__m128);
operators!(Sse2F32: Add add _mm_add_ps, Sub sub _mm_sub_ps, Mul mul _mm_mul_ps, Div div _mm_div_ps);
impl Vector for Sse2F32 {
    type Elem = f32;
    sse2!(4: _mm_cmplt_ps _mm_cmpeq_ps _mm_movemask_ps);
    #[inline(always)]
    unsafe fn load_first(p: *const f32, len: usize) -> Self {
        // SAFETY: duties 1 and 2: of fewer than four elements two and one.
        unsafe {
            let two = if len & 2 != 0 { _mm_castsi128_ps(_mm_loadl_epi64(p.cast())) } else { _mm_setzero_ps() };
            Self(match len {
                1 => _mm_load_ss(p),
                3 => _mm_movelh_ps(two, _mm_load_ss(p.add(2))),
                _ => two,
            })
        }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut f32, len: usize) {
        // SAFETY: duty 1: of fewer than four elements two and one.
        unsafe {
            let (mut p, mut rest) = (p, self.0);
            if len & 2 != 0 {
                _mm_storel_epi64(p.cast(), _mm_castps_si128(rest));
                (p, rest) = (p.add(2), _mm_movehl_ps(rest, rest));
            }
            if len & 1 != 0 {
                _mm_store_ss(p, rest);
            }
        }
    }
    methods!(memory f32: _mm_loadu_ps _mm_storeu_ps _mm_set1_ps);
    methods!(transpose f32: square_of_4 _mm_loadu_ps _mm_storeu_ps: 0 1 2 3);
    /// The product of two float32 numbers is a float64 number.
    #[inline(always)]
    fn fused(self, b: Self, c: Self) -> Self {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe {
            let wide = |x: __m128, y: __m128, z: __m128| {
                _mm_cvtpd_ps(_mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(x), _mm_cvtps_pd(y)), _mm_cvtps_pd(z)))
            };
            let high = |x: __m128| _mm_movehl_ps(x, x);
            Self(_mm_movelh_ps(wide(self.0, b.0, c.0), wide(high(self.0), high(b.0), high(c.0))))
        }
    }
    #[inline(always)]
    fn deinterleave(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe { (Self(_mm_shuffle_ps::<0x88>(a.0, b.0)), Self(_mm_shuffle_ps::<0xdd>(a.0, b.0))) }
    }
    #[inline(always)]
    fn interleave(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe { (Self(_mm_unpacklo_ps(a.0, b.0)), Self(_mm_unpackhi_ps(a.0, b.0))) }
    }
    #[inline(always)]
    fn reversed(self) -> Self {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe { Self(_mm_shuffle_ps::<0x1b>(self.0, self.0)) }
    }
    methods!(sqrt: _mm_sqrt_ps);
    methods!(extremes: _mm_min_ps _mm_max_ps);
    methods!(floats: and _mm_and_ps, or _mm_or_ps, xor _mm_xor_ps);
    methods!(integers _mm_castps_si128 _mm_castsi128_ps: bits_plus _mm_add_epi32);
    methods!(shifts 23 31 _mm_castps_si128 _mm_castsi128_ps: _mm_slli_epi32 _mm_srli_epi32);
}

/// Two lanes of float64.
#[derive(Clone, Copy, Debug)]
pub struct Sse2F64(__m128d);
operators!(Sse2F64: Add add _mm_add_pd, Sub sub _mm_sub_pd, Mul mul _mm_mul_pd, Div div _mm_div_pd);
impl Vector for Sse2F64 {
    type Elem = f64;
    sse2!(2: _mm_cmplt_pd _mm_cmpeq_pd _mm_movemask_pd);
    #[inline(always)]
    unsafe fn load_first(p: *const f64, len: usize) -> Self {
        // SAFETY: duties 1 and 2.
        unsafe { Self(if len == 0 { _mm_setzero_pd() } else { _mm_load_sd(p) }) }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut f64, len: usize) {
        if len != 0 {
            // SAFETY: duty 1.
            unsafe { _mm_store_sd(p, self.0) }
        }
    }
    methods!(memory f64: _mm_loadu_pd _mm_storeu_pd _mm_set1_pd);
    methods!(transpose f64: square_of_2 _mm_loadu_pd _mm_storeu_pd: 0 1);
    /// Dekker's method gives the exact product as a sum of two numbers.
    ///
    /// T. J. Dekker, "A floating-point technique for extending the available precision", Numer. Math. 18 (1971).
    #[inline(always)]
    fn fused(self, b: Self, c: Self) -> Self {
        // A number as the sum of two of 26 bits.
        let parts = |x: Self| {
            let t = x.of(134_217_729.0) * x;
            let high = t - (t - x);
            (high, x - high)
        };
        let ((a1, a0), (b1, b0)) = (parts(self), parts(b));
        let p = self * b;
        let p0 = ((a1 * b1 - p) + a1 * b0 + a0 * b1) + a0 * b0;
        let s = p + c;
        let z = s - p;
        // A product that is 0 has no second part, whatever comes of its factors' parts.
        s.select(p.eq(p.of(0.0)), s + ((p - (s - z)) + (c - z) + p0))
    }
    #[inline(always)]
    fn deinterleave(a: Self, b: Self) -> (Self, Self) {
        Self::interleave(a, b)
    }
    #[inline(always)]
    fn interleave(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe { (Self(_mm_unpacklo_pd(a.0, b.0)), Self(_mm_unpackhi_pd(a.0, b.0))) }
    }
    #[inline(always)]
    fn reversed(self) -> Self {
        // SAFETY: a value of this type is proof of its instructions.
        unsafe { Self(_mm_shuffle_pd::<1>(self.0, self.0)) }
    }
    methods!(sqrt: _mm_sqrt_pd);
    methods!(extremes: _mm_min_pd _mm_max_pd);
    methods!(floats: and _mm_and_pd, or _mm_or_pd, xor _mm_xor_pd);
    methods!(integers _mm_castpd_si128 _mm_castsi128_pd: bits_plus _mm_add_epi64);
    methods!(shifts 52 63 _mm_castpd_si128 _mm_castsi128_pd: _mm_slli_epi64 _mm_srli_epi64);
}

#[cfg(test)]
mod tests {
    use super::super::super::portable::Portable;
    use super::*;
    use crate::real::{Real, Ring};

    /// What each method makes of three vectors, lane by lane.
    fn results<V: Vector>(x: &[V::Elem], y: &[V::Elem], z: &[V::Elem]) -> Vec<(&'static str, Vec<V::Elem>)> {
        let lanes = |v: V| {
            let mut to = vec![V::Elem::of(-1.0); V::LEN];
            // SAFETY: there is room for a vector.
            unsafe { v.store(to.as_mut_ptr()) };
            to
        };
        // SAFETY: every CPU of x86-64 has these instructions; there are as many elements as a vector has.
        let (x, y, z) = unsafe { (V::load(x.as_ptr()), V::load(y.as_ptr()), V::load(z.as_ptr())) };
        let number = |bits: u32| vec![V::Elem::of(f64::from(bits))];
        let mut all = vec![
            ("add", lanes(x + y)),
            ("sub", lanes(x - y)),
            ("mul", lanes(x * y)),
            ("div", lanes(x / y)),
            ("neg", lanes(-x)),
            ("fma", lanes(x.fma(y, z))),
            ("fused", lanes(x.fused(y, z))),
            ("sqrt", lanes(x.sqrt())),
            ("at_most", lanes(x.at_most(y))),
            ("at_least", lanes(x.at_least(y))),
            ("lt", lanes(x.select(x.lt(y), z))),
            ("eq", lanes(x.select(x.eq(y), z))),
            ("both", lanes(x.select(V::both(x.lt(y), y.lt(z)), z))),
            ("mask_bits", number(V::mask_bits(x.lt(y)))),
            ("all", number(V::all(x.lt(y)).into())),
            ("and", lanes(x.and(y))),
            ("or", lanes(x.or(y))),
            ("xor", lanes(x.xor(y))),
            ("bits_plus", lanes(x.bits_plus(y))),
            ("up", lanes(x.up())),
            ("down", lanes(x.down())),
            ("low_to_sign", lanes(x.low_to_sign())),
            ("splat", lanes(x.of(3.5))),
            ("reversed", lanes(x.reversed())),
        ];
        for (name, (a, b)) in [("interleave", V::interleave(x, y)), ("deinterleave", V::deinterleave(x, y))] {
            all.extend([(name, lanes(a)), (name, lanes(b))]);
        }
        all
    }

    /// The same of two kinds of vectors, bit for bit, or NaN of both.
    fn agree<V: Vector, W: Vector<Elem = V::Elem>>(special: &[V::Elem], bits: fn(V::Elem) -> u64) {
        assert_eq!(V::LEN, W::LEN);
        let mut seed = 1u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as usize
        };
        let mut draw = |_| match next() {
            n if n % 3 == 0 => special[n / 3 % special.len()],
            n => V::Elem::of(n as f64 / 3e6 - 2.0),
        };
        for _ in 0..if cfg!(miri) { 20 } else { 3000 } {
            let [x, y, z] = [0; 3].map(|_| (0..V::LEN).map(&mut draw).collect::<Vec<_>>());
            for ((name, a), (_, b)) in results::<V>(&x, &y, &z).into_iter().zip(results::<W>(&x, &y, &z)) {
                for (&a, &b) in a.iter().zip(&b) {
                    let alike = bits(a) == bits(b) || a.is_nan() && b.is_nan();
                    assert!(alike, "{name}: {:x} {:x}", bits(a), bits(b));
                }
            }
        }
    }

    #[test]
    fn they_are_as_arrays_are() {
        let inf = f64::INFINITY;
        let doubles = [0.0, -0.0, 1.0, -1.5, inf, -inf, f64::NAN, 5e-324, -1e-310, f64::MIN_POSITIVE, 1e300, -f64::MAX];
        let floats = [0.0, -0.0, 1.0, -1.5, f32::NAN, 1e-45, -1e-39, f32::MIN_POSITIVE, 1e30, -f32::MAX, inf as f32];
        agree::<Sse2F64, <Portable as Isa>::F64>(&doubles, f64::to_bits);
        agree::<Sse2F32, <Portable as Isa>::F32>(&floats, |x| x.to_bits().into());
        for bits in 0..=u16::MAX {
            let four = [0, 1, 0x8000, 0x3c00].map(|i| bits.wrapping_add(i));
            let halves = four.map(f16::from_bits);
            let bhalves = four.map(bf16::from_bits);
            let mut to = [[0.0f32; 4]; 4];
            // SAFETY: every CPU of x86-64 has these instructions; there are four of each.
            unsafe {
                Sse2::load_f16(halves.as_ptr()).store(to[0].as_mut_ptr());
                Portable::load_f16(halves.as_ptr()).store(to[1].as_mut_ptr());
                Sse2::load_bf16(bhalves.as_ptr()).store(to[2].as_mut_ptr());
                Portable::load_bf16(bhalves.as_ptr()).store(to[3].as_mut_ptr());
            }
            let [a, b, c, d] = to.map(|lanes| lanes.map(f32::to_bits));
            assert!(a == b && c == d, "{bits:x}");
        }
    }
}
