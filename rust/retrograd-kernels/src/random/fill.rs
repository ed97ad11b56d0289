//! Uniform, integer, permutation and Bernoulli draws, and single normals. Whole blocks of normals are in `normal`.
//!
//! Each function draws what torch's CPU generator draws for a contiguous output, in the same order, so the same seed
//! gives the same numbers.

use super::super::truth::Truth;
use super::fused::{Fused, fused};
use super::mt19937::{Mt19937, join};
use super::normal;
use crate::thresholds::random::CHUNK;

/// The 24 low bits of a word as a number in [0, 1). Exact: 24 bits fit an f32, and the scale is a power of two.
#[inline(always)]
pub(super) fn unit_f32(word: u32) -> f32 {
    const SCALE: f32 = 1.0 / (1 << 24) as f32;
    // Through i32, for which SSE2 has a vector conversion; the value has 24 bits.
    (word & 0x00ff_ffff) as i32 as f32 * SCALE
}

/// The 53 low bits of a 64-bit draw as a number in [0, 1), exact as above.
#[inline(always)]
pub(super) fn unit_f64(word: u64) -> f64 {
    const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
    (word & ((1 << 53) - 1)) as i64 as f64 * SCALE
}

/// Fill `out` with `convert` of one draw per element.
#[inline(always)]
pub(super) fn fill_from_u32<T>(generator: &mut Mt19937, out: &mut [T], convert: impl Fn(u32) -> T) {
    let mut words = [0; CHUNK];
    for part in out.chunks_mut(CHUNK) {
        let words = &mut words[..part.len()];
        generator.fill_u32(words);
        for (o, &word) in part.iter_mut().zip(&*words) {
            *o = convert(word);
        }
    }
}

/// Fill `out` with `convert` of one 64-bit draw per element.
#[inline(always)]
pub(super) fn fill_from_u64<T>(generator: &mut Mt19937, out: &mut [T], convert: impl Fn(u64) -> T) {
    let mut words = [0; CHUNK];
    for part in out.chunks_mut(CHUNK / 2) {
        let words = &mut words[..2 * part.len()];
        generator.fill_u32(words);
        for (o, pair) in part.iter_mut().zip(words.chunks_exact(2)) {
            *o = convert(join(pair[0], pair[1]));
        }
    }
}

/// Uniform numbers in `[lo, hi)`. `lo` is rounded to f32 first, as is `hi`.
///
/// `x * (hi - lo) + lo` is rounded once. That can give `hi` itself, which then becomes `lo`.
pub fn uniform_f32(generator: &mut Mt19937, out: &mut [f32], lo: f64, hi: f64) {
    let (lo, hi) = (lo as f32, hi as f32);
    if lo == 0.0 && hi == 1.0 {
        return fill_from_u32(generator, out, unit_f32);
    }
    fused(UniformF32 { generator, out, lo, hi });
}

struct UniformF32<'a> {
    generator: &'a mut Mt19937,
    out: &'a mut [f32],
    lo: f32,
    hi: f32,
}

impl Fused for UniformF32<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { generator, out, lo, hi } = self;
        let width = hi - lo;
        fill_from_u32(generator, out, |word| {
            let value = unit_f32(word).mul_add(width, lo);
            if value == hi { lo } else { value }
        });
    }
}

/// Uniform numbers in `[lo, hi)`, as [`uniform_f32`] with 53 random bits instead of 24.
pub fn uniform_f64(generator: &mut Mt19937, out: &mut [f64], lo: f64, hi: f64) {
    if lo == 0.0 && hi == 1.0 {
        return fill_from_u64(generator, out, unit_f64);
    }
    fused(UniformF64 { generator, out, lo, hi });
}

struct UniformF64<'a> {
    generator: &'a mut Mt19937,
    out: &'a mut [f64],
    lo: f64,
    hi: f64,
}

impl Fused for UniformF64<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { generator, out, lo, hi } = self;
        let width = hi - lo;
        fill_from_u64(generator, out, |word| {
            let value = unit_f64(word).mul_add(width, lo);
            if value == hi { lo } else { value }
        });
    }
}

/// Normal numbers of the given mean and standard deviation.
///
/// Fewer than 16 are drawn one at a time in f64, and an odd one out leaves its partner in the generator for the next
/// such call. From 16 on they are computed sixteen at a time in f32, without that cache; if 16 does not divide the
/// length, the last sixteen are drawn a second time.
pub fn normal_f32(generator: &mut Mt19937, out: &mut [f32], mean: f64, std: f64) {
    if out.len() < normal::GROUP {
        return out.fill_with(|| one_normal(generator, mean, std) as f32);
    }
    let (mean, std) = (mean as f32, std as f32);
    for part in normal::parts(out.len()) {
        let part = &mut out[part];
        fill_from_u32(generator, part, unit_f32);
        fused(normal::ShapeF32 { data: part, mean, std });
    }
}

/// Normal numbers of the given mean and standard deviation, as [`normal_f32`] but in f64 throughout.
pub fn normal_f64(generator: &mut Mt19937, out: &mut [f64], mean: f64, std: f64) {
    if out.len() < normal::GROUP {
        return out.fill_with(|| one_normal(generator, mean, std));
    }
    for part in normal::parts(out.len()) {
        let part = &mut out[part];
        fill_from_u64(generator, part, unit_f64);
        fused(normal::ShapeF64 { data: part, mean, std });
    }
}

/// One normal by the transform of Box and Muller (1958): the cosine half now, the sine half kept for the next call.
pub(super) fn one_normal(generator: &mut Mt19937, mean: f64, std: f64) -> f64 {
    let standard = generator.cached_normal_f64.take().unwrap_or_else(|| {
        let angle = unit_f64(generator.random64());
        let tail = unit_f64(generator.random64());
        let radius = (-2.0 * (-tail).ln_1p()).sqrt();
        let theta = std::f64::consts::TAU * angle;
        generator.cached_normal_f64 = Some(radius * theta.sin());
        radius * theta.cos()
    });
    standard.mul_add(std, mean)
}

/// Whole numbers in `[lo, hi)`; `lo < hi` is the caller's to check.
///
/// The remainder of a draw by the range, so not quite uniform: ranges under 2^28 take 32 bits, which keeps the skew
/// below 1 in 16; wider ones take 64.
pub fn random_below(generator: &mut Mt19937, out: &mut [i64], lo: i64, hi: i64) {
    assert!(lo < hi, "random_below: the range {lo}..{hi} is empty");
    let range = hi.wrapping_sub(lo).cast_unsigned(); // Exact: the difference fits 64 unsigned bits.
    // The sum wraps for ranges over 2^63, back into lo..hi.
    match u32::try_from(range) {
        Ok(range) if range < 1 << 28 => {
            fill_from_u32(generator, out, |word| lo.wrapping_add(i64::from(word % range)));
        }
        _ => fill_from_u64(generator, out, |word| lo.wrapping_add((word % range).cast_signed())),
    }
}

/// A random permutation of `0..out.len()`, by the shuffle of Fisher and Yates.
///
/// Under 2^32 / 20 elements it goes from the front with 32-bit draws, none for the last element. Longer ones, where the
/// remainder of 32 bits would be visibly skewed, are built inside out with 64-bit draws.
pub fn permutation(generator: &mut Mt19937, out: &mut [i64]) {
    let n = out.len();
    if n as u64 >= u64::from(u32::MAX / 20) {
        for k in 0..n {
            let at = (generator.random64() % (k as u64 + 1)) as usize;
            out[k] = out[at];
            out[at] = k as i64;
        }
        return;
    }
    for (k, o) in out.iter_mut().enumerate() {
        *o = k as i64;
    }
    for k in 0..n.saturating_sub(1) {
        let skip = generator.random() as usize % (n - k);
        out.swap(k, k + skip);
    }
}

/// `true` with probability `p`, one 64-bit draw each: a uniform number below `p`.
///
/// These are also torch's dropout masks: it keeps an element where this, with `p` the probability of keeping, is true.
/// (Older MKL builds of torch seed a stream of MKL's on Intel processors instead; 2.13 draws as here on all of them.)
pub fn bernoulli(generator: &mut Mt19937, out: &mut [Truth], p: f64) {
    fill_from_u64(generator, out, |word| (unit_f64(word) < p).into());
}
