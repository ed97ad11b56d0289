//! The vectors of x86-64: AVX-512 and AVX2.

use std::arch::x86_64::*;

use super::dots::{self, Dots};
use super::driver;
use super::simd::{Routine, Simd, entries, unrolled};
use super::tile::{self, Tile};
use super::vecmat::{self, VectorTimesMatrix};

/// Eight words of ones between zeros: read from word `16 - len`, a mask of the first `len`; from word `8 - from`, of
/// all but the first `from`.
static MASK32: [i32; 24] = [0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
/// The same for four 64-bit words, from word `8 - len` or `4 - from`.
static MASK64: [i64; 12] = [0, 0, 0, 0, -1, -1, -1, -1, 0, 0, 0, 0];

/// 16 lanes of `f32`. Duty 1 of [`Simd`]: the CPU has AVX-512F.
#[derive(Clone, Copy)]
pub(super) struct Avx512F32(pub(super) __m512);

impl Simd for Avx512F32 {
    type Elem = f32;
    const LEN: usize = 16;
    const ROWS: usize = 14;
    const MASKS: bool = true;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm512_setzero_ps()) }
    }
    #[inline(always)]
    unsafe fn splat(p: *const f32) -> Self {
        // SAFETY: duties 1 and 2.
        unsafe { Self(_mm512_set1_ps(*p)) }
    }
    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        // SAFETY: duties 1 and 2.
        unsafe { Self(_mm512_loadu_ps(p)) }
    }
    #[inline(always)]
    unsafe fn load_first(p: *const f32, len: usize) -> Self {
        // SAFETY: duties 1 and 2; lanes whose mask bit is clear are not read.
        unsafe { Self(_mm512_maskz_loadu_ps(((1u32 << len) - 1) as __mmask16, p)) }
    }
    #[inline(always)]
    unsafe fn merge(self, p: *const f32, from: usize) -> Self {
        // SAFETY: duties 1 and 2; lanes whose mask bit is clear are not read.
        unsafe { Self(_mm512_mask_loadu_ps(self.0, (0xffffu32 << from) as __mmask16, p)) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        // SAFETY: duties 1 and 2.
        unsafe { _mm512_storeu_ps(p, self.0) }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut f32, len: usize) {
        // SAFETY: duties 1 and 2; lanes whose mask bit is clear are not written.
        unsafe { _mm512_mask_storeu_ps(p, ((1u32 << len) - 1) as __mmask16, self.0) }
    }
    #[inline(always)]
    unsafe fn store_between(self, p: *mut f32, from: usize, to: usize) {
        // SAFETY: duties 1 and 2; lanes whose mask bit is clear are not written.
        unsafe { _mm512_mask_storeu_ps(p, ((1u32 << to) - (1u32 << from)) as __mmask16, self.0) }
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm512_fmadd_ps(self.0, b.0, c.0)) }
    }
    #[inline(always)]
    unsafe fn plus(self, b: Self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm512_add_ps(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn exchange(self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm512_permute_ps::<0b10_11_00_01>(self.0)) }
    }
    #[inline(always)]
    unsafe fn sums(v: &[Self; 16]) -> Self {
        // SAFETY: duty 1.
        unsafe {
            // In each block of 128 bits: first two sums of two lanes of two vectors, then the sums of four vectors.
            let mut s = [_mm512_setzero_ps(); 8];
            for i in 0..8 {
                let (a, b) = (v[2 * i].0, v[2 * i + 1].0);
                s[i] = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
            }
            for i in 0..4 {
                let (a, b) = (_mm512_castps_pd(s[2 * i]), _mm512_castps_pd(s[2 * i + 1]));
                let (lo, hi) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
                s[i] = _mm512_add_ps(_mm512_castpd_ps(lo), _mm512_castpd_ps(hi));
            }
            // Blocks 0 and 1 added up, and 2 and 3, of two of those; then all.
            for i in [0, 2] {
                let (a, b) = (s[i], s[i + 1]);
                s[i] = _mm512_add_ps(_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
            }
            let (a, b) = (s[0], s[2]);
            Self(_mm512_add_ps(_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b)))
        }
    }
    #[inline(always)]
    unsafe fn swap(v: &mut [Self; 16]) {
        // SAFETY: duty 1.
        unsafe {
            // Written out for fixed positions: the loops over 16 would not be unrolled, and the
            // array would live in memory.
            macro_rules! quads {
                ($($i:literal)*) => {$({
                    let [a, b, c, d] = [v[$i].0, v[$i + 1].0, v[$i + 2].0, v[$i + 3].0];
                    let lo = _mm512_castps_pd(_mm512_unpacklo_ps(a, b));
                    let hi = _mm512_castps_pd(_mm512_unpackhi_ps(a, b));
                    let lo2 = _mm512_castps_pd(_mm512_unpacklo_ps(c, d));
                    let hi2 = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
                    v[$i].0 = _mm512_castpd_ps(_mm512_unpacklo_pd(lo, lo2));
                    v[$i + 1].0 = _mm512_castpd_ps(_mm512_unpackhi_pd(lo, lo2));
                    v[$i + 2].0 = _mm512_castpd_ps(_mm512_unpacklo_pd(hi, hi2));
                    v[$i + 3].0 = _mm512_castpd_ps(_mm512_unpackhi_pd(hi, hi2));
                })*};
            }
            // The 4 x 4 transpose of 128-bit lanes among every fourth vector.
            macro_rules! lanes {
                ($($c:literal)*) => {$({
                    let [a, b, c, d] = [v[$c].0, v[$c + 4].0, v[$c + 8].0, v[$c + 12].0];
                    let lo = _mm512_shuffle_f32x4::<0x88>(a, b);
                    let hi = _mm512_shuffle_f32x4::<0xdd>(a, b);
                    let lo2 = _mm512_shuffle_f32x4::<0x88>(c, d);
                    let hi2 = _mm512_shuffle_f32x4::<0xdd>(c, d);
                    v[$c].0 = _mm512_shuffle_f32x4::<0x88>(lo, lo2);
                    v[$c + 4].0 = _mm512_shuffle_f32x4::<0x88>(hi, hi2);
                    v[$c + 8].0 = _mm512_shuffle_f32x4::<0xdd>(lo, lo2);
                    v[$c + 12].0 = _mm512_shuffle_f32x4::<0xdd>(hi, hi2);
                })*};
            }
            quads!(0 4 8 12);
            lanes!(0 1 2 3);
        }
    }
    entries!(#[target_feature(enable = "avx512f")]);
}

/// 8 lanes of `f64`. Duty 1 of [`Simd`]: the CPU has AVX-512F.
#[derive(Clone, Copy)]
pub(super) struct Avx512F64(__m512d);

impl Simd for Avx512F64 {
    type Elem = f64;
    const LEN: usize = 8;
    const ROWS: usize = 14;
    const MASKS: bool = true;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm512_setzero_pd()) }
    }
    #[inline(always)]
    unsafe fn splat(p: *const f64) -> Self {
        // SAFETY: duties 1 and 2.
        unsafe { Self(_mm512_set1_pd(*p)) }
    }
    #[inline(always)]
    unsafe fn load(p: *const f64) -> Self {
        // SAFETY: duties 1 and 2.
        unsafe { Self(_mm512_loadu_pd(p)) }
    }
    #[inline(always)]
    unsafe fn load_first(p: *const f64, len: usize) -> Self {
        // SAFETY: duties 1 and 2; lanes whose mask bit is clear are not read.
        unsafe { Self(_mm512_maskz_loadu_pd(((1u32 << len) - 1) as __mmask8, p)) }
    }
    #[inline(always)]
    unsafe fn merge(self, p: *const f64, from: usize) -> Self {
        // SAFETY: duties 1 and 2; lanes whose mask bit is clear are not read.
        unsafe { Self(_mm512_mask_loadu_pd(self.0, (0xffu32 << from) as __mmask8, p)) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f64) {
        // SAFETY: duties 1 and 2.
        unsafe { _mm512_storeu_pd(p, self.0) }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut f64, len: usize) {
        // SAFETY: duties 1 and 2; lanes whose mask bit is clear are not written.
        unsafe { _mm512_mask_storeu_pd(p, ((1u32 << len) - 1) as __mmask8, self.0) }
    }
    #[inline(always)]
    unsafe fn store_between(self, p: *mut f64, from: usize, to: usize) {
        // SAFETY: duties 1 and 2; lanes whose mask bit is clear are not written.
        unsafe { _mm512_mask_storeu_pd(p, ((1u32 << to) - (1u32 << from)) as __mmask8, self.0) }
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm512_fmadd_pd(self.0, b.0, c.0)) }
    }
    #[inline(always)]
    unsafe fn plus(self, b: Self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm512_add_pd(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn exchange(self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm512_permute_pd::<0b0101_0101>(self.0)) }
    }
    #[inline(always)]
    unsafe fn sums(v: &[Self; 16]) -> Self {
        // SAFETY: duty 1.
        unsafe {
            // In each block of 128 bits: the sums of two vectors.
            let mut s = [_mm512_setzero_pd(); 4];
            for i in 0..4 {
                let (a, b) = (v[2 * i].0, v[2 * i + 1].0);
                s[i] = _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            }
            // Blocks 0 and 1 added up, and 2 and 3, of two of those; then all.
            for i in [0, 2] {
                let (a, b) = (s[i], s[i + 1]);
                s[i] = _mm512_add_pd(_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0xdd>(a, b));
            }
            let (a, b) = (s[0], s[2]);
            Self(_mm512_add_pd(_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0xdd>(a, b)))
        }
    }
    #[inline(always)]
    unsafe fn swap(v: &mut [Self; 16]) {
        // SAFETY: duty 1.
        unsafe {
            for i in (0..8).step_by(2) {
                let (a, b) = (v[i].0, v[i + 1].0);
                v[i].0 = _mm512_unpacklo_pd(a, b);
                v[i + 1].0 = _mm512_unpackhi_pd(a, b);
            }
            // The 4 x 4 transpose of 128-bit lanes among v[c], v[c + 2], v[c + 4], v[c + 6].
            for c in 0..2 {
                let x = [v[c].0, v[c + 2].0, v[c + 4].0, v[c + 6].0];
                let lo = _mm512_shuffle_f64x2::<0x88>(x[0], x[1]);
                let hi = _mm512_shuffle_f64x2::<0xdd>(x[0], x[1]);
                let lo2 = _mm512_shuffle_f64x2::<0x88>(x[2], x[3]);
                let hi2 = _mm512_shuffle_f64x2::<0xdd>(x[2], x[3]);
                v[c].0 = _mm512_shuffle_f64x2::<0x88>(lo, lo2);
                v[c + 2].0 = _mm512_shuffle_f64x2::<0x88>(hi, hi2);
                v[c + 4].0 = _mm512_shuffle_f64x2::<0xdd>(lo, lo2);
                v[c + 6].0 = _mm512_shuffle_f64x2::<0xdd>(hi, hi2);
            }
        }
    }
    entries!(#[target_feature(enable = "avx512f")]);
}

/// 8 lanes of `f32`. Duty 1 of [`Simd`]: the CPU has AVX2 and FMA.
#[derive(Clone, Copy)]
pub(super) struct Avx2F32(__m256);

impl Simd for Avx2F32 {
    type Elem = f32;
    const LEN: usize = 8;
    const ROWS: usize = 6;
    const MASKS: bool = true;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm256_setzero_ps()) }
    }
    #[inline(always)]
    unsafe fn splat(p: *const f32) -> Self {
        // SAFETY: duties 1 and 2.
        unsafe { Self(_mm256_set1_ps(*p)) }
    }
    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        // SAFETY: duties 1 and 2.
        unsafe { Self(_mm256_loadu_ps(p)) }
    }
    #[inline(always)]
    unsafe fn load_first(p: *const f32, len: usize) -> Self {
        // SAFETY: duties 1 and 2; lanes whose mask is clear are not read.
        unsafe { Self(_mm256_maskload_ps(p, _mm256_loadu_si256(MASK32.as_ptr().add(16 - len).cast()))) }
    }
    #[inline(always)]
    unsafe fn merge(self, p: *const f32, from: usize) -> Self {
        // SAFETY: duties 1 and 2; lanes whose mask bit is clear are not read.
        unsafe {
            let mask = _mm256_loadu_si256(MASK32.as_ptr().add(8 - from).cast());
            Self(_mm256_blendv_ps(self.0, _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask)))
        }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        // SAFETY: duties 1 and 2.
        unsafe { _mm256_storeu_ps(p, self.0) }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut f32, len: usize) {
        // SAFETY: duties 1 and 2; lanes whose mask is clear are not written.
        unsafe { _mm256_maskstore_ps(p, _mm256_loadu_si256(MASK32.as_ptr().add(16 - len).cast()), self.0) }
    }
    #[inline(always)]
    unsafe fn store_between(self, p: *mut f32, from: usize, to: usize) {
        // SAFETY: duties 1 and 2; lanes whose mask is clear are not written.
        unsafe {
            let first = _mm256_loadu_si256(MASK32.as_ptr().add(16 - to).cast());
            let rest = _mm256_loadu_si256(MASK32.as_ptr().add(8 - from).cast());
            _mm256_maskstore_ps(p, _mm256_and_si256(first, rest), self.0)
        }
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm256_fmadd_ps(self.0, b.0, c.0)) }
    }
    #[inline(always)]
    unsafe fn plus(self, b: Self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm256_add_ps(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn exchange(self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm256_permute_ps::<0b10_11_00_01>(self.0)) }
    }
    #[inline(always)]
    unsafe fn sums(v: &[Self; 16]) -> Self {
        // SAFETY: duty 1.
        unsafe {
            // In each half: first two sums of two lanes of two vectors, then the sums of four vectors.
            let mut s = [_mm256_setzero_ps(); 4];
            for i in 0..4 {
                let (a, b) = (v[2 * i].0, v[2 * i + 1].0);
                s[i] = _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
            }
            for i in 0..2 {
                let (a, b) = (_mm256_castps_pd(s[2 * i]), _mm256_castps_pd(s[2 * i + 1]));
                let (lo, hi) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
                s[i] = _mm256_add_ps(_mm256_castpd_ps(lo), _mm256_castpd_ps(hi));
            }
            let (a, b) = (s[0], s[1]);
            Self(_mm256_add_ps(_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b)))
        }
    }
    #[inline(always)]
    unsafe fn swap(v: &mut [Self; 16]) {
        // SAFETY: duty 1.
        unsafe {
            for i in (0..8).step_by(2) {
                let (a, b) = (v[i].0, v[i + 1].0);
                v[i].0 = _mm256_unpacklo_ps(a, b);
                v[i + 1].0 = _mm256_unpackhi_ps(a, b);
            }
            for i in (0..8).step_by(4) {
                let x = [0, 1, 2, 3].map(|j| _mm256_castps_pd(v[i + j].0));
                v[i].0 = _mm256_castpd_ps(_mm256_unpacklo_pd(x[0], x[2]));
                v[i + 1].0 = _mm256_castpd_ps(_mm256_unpackhi_pd(x[0], x[2]));
                v[i + 2].0 = _mm256_castpd_ps(_mm256_unpacklo_pd(x[1], x[3]));
                v[i + 3].0 = _mm256_castpd_ps(_mm256_unpackhi_pd(x[1], x[3]));
            }
            for c in 0..4 {
                let (a, b) = (v[c].0, v[c + 4].0);
                v[c].0 = _mm256_permute2f128_ps::<0x20>(a, b);
                v[c + 4].0 = _mm256_permute2f128_ps::<0x31>(a, b);
            }
        }
    }
    entries!(#[target_feature(enable = "avx2,fma")]);
}

/// 4 lanes of `f64`. Duty 1 of [`Simd`]: the CPU has AVX2 and FMA.
#[derive(Clone, Copy)]
pub(super) struct Avx2F64(__m256d);

impl Simd for Avx2F64 {
    type Elem = f64;
    const LEN: usize = 4;
    const ROWS: usize = 6;
    const MASKS: bool = true;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm256_setzero_pd()) }
    }
    #[inline(always)]
    unsafe fn splat(p: *const f64) -> Self {
        // SAFETY: duties 1 and 2.
        unsafe { Self(_mm256_set1_pd(*p)) }
    }
    #[inline(always)]
    unsafe fn load(p: *const f64) -> Self {
        // SAFETY: duties 1 and 2.
        unsafe { Self(_mm256_loadu_pd(p)) }
    }
    #[inline(always)]
    unsafe fn load_first(p: *const f64, len: usize) -> Self {
        // SAFETY: duties 1 and 2; lanes whose mask is clear are not read.
        unsafe { Self(_mm256_maskload_pd(p, _mm256_loadu_si256(MASK64.as_ptr().add(8 - len).cast()))) }
    }
    #[inline(always)]
    unsafe fn merge(self, p: *const f64, from: usize) -> Self {
        // SAFETY: duties 1 and 2; lanes whose mask bit is clear are not read.
        unsafe {
            let mask = _mm256_loadu_si256(MASK64.as_ptr().add(4 - from).cast());
            Self(_mm256_blendv_pd(self.0, _mm256_maskload_pd(p, mask), _mm256_castsi256_pd(mask)))
        }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f64) {
        // SAFETY: duties 1 and 2.
        unsafe { _mm256_storeu_pd(p, self.0) }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut f64, len: usize) {
        // SAFETY: duties 1 and 2; lanes whose mask is clear are not written.
        unsafe { _mm256_maskstore_pd(p, _mm256_loadu_si256(MASK64.as_ptr().add(8 - len).cast()), self.0) }
    }
    #[inline(always)]
    unsafe fn store_between(self, p: *mut f64, from: usize, to: usize) {
        // SAFETY: duties 1 and 2; lanes whose mask is clear are not written.
        unsafe {
            let first = _mm256_loadu_si256(MASK64.as_ptr().add(8 - to).cast());
            let rest = _mm256_loadu_si256(MASK64.as_ptr().add(4 - from).cast());
            _mm256_maskstore_pd(p, _mm256_and_si256(first, rest), self.0)
        }
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm256_fmadd_pd(self.0, b.0, c.0)) }
    }
    #[inline(always)]
    unsafe fn plus(self, b: Self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm256_add_pd(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn exchange(self) -> Self {
        // SAFETY: duty 1.
        unsafe { Self(_mm256_permute_pd::<0b0101>(self.0)) }
    }
    #[inline(always)]
    unsafe fn sums(v: &[Self; 16]) -> Self {
        // SAFETY: duty 1.
        unsafe {
            // In each half: the sums of two vectors.
            let mut s = [_mm256_setzero_pd(); 2];
            for i in 0..2 {
                let (a, b) = (v[2 * i].0, v[2 * i + 1].0);
                s[i] = _mm256_add_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
            }
            let (a, b) = (s[0], s[1]);
            Self(_mm256_add_pd(_mm256_permute2f128_pd::<0x20>(a, b), _mm256_permute2f128_pd::<0x31>(a, b)))
        }
    }
    #[inline(always)]
    unsafe fn swap(v: &mut [Self; 16]) {
        // SAFETY: duty 1.
        unsafe {
            for i in (0..4).step_by(2) {
                let (a, b) = (v[i].0, v[i + 1].0);
                v[i].0 = _mm256_unpacklo_pd(a, b);
                v[i + 1].0 = _mm256_unpackhi_pd(a, b);
            }
            for c in 0..2 {
                let (a, b) = (v[c].0, v[c + 2].0);
                v[c].0 = _mm256_permute2f128_pd::<0x20>(a, b);
                v[c + 2].0 = _mm256_permute2f128_pd::<0x31>(a, b);
            }
        }
    }
    entries!(#[target_feature(enable = "avx2,fma")]);
}
