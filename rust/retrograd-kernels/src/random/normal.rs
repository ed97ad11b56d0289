//! Normal numbers sixteen at a time: the transform of Box and Muller on eight pairs of uniform numbers.
//!
//! G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates", Ann. Math. Statist. 29 (1958):
//! from `u1` in (0, 1] and `u2` in [0, 1), `sqrt(-2 ln u1)` times the cosine and the sine of `2 pi u2`. A group of 16
//! holds the eight `1 - u1` and then the eight `u2`; it leaves as eight cosine halves and eight sine halves.
//!
//! In f32 the logarithm, sine and cosine are the single-precision polynomials of Moshier's Cephes library (`logf`,
//! `sinf`, `cosf`), evaluated without branches. Which operations are fused decides the last bit; `mul_add` stands where
//! torch's AVX2 kernel fuses. In f64 the functions are the platform's, as they are in torch.

use std::ops::Range;

use super::fused::Fused;
use crate::thresholds::random::PART;

/// Elements shaped together.
pub(super) const GROUP: usize = 16;
const LANES: usize = GROUP / 2;

/// The ranges to draw and shape, in order, for `n >= GROUP` elements.
///
/// If `GROUP` does not divide `n`, the remainder is drawn with the rest but left unshaped, and the last range covers
/// the last `GROUP` elements again, whatever they hold.
pub(super) fn parts(n: usize) -> impl Iterator<Item = Range<usize>> {
    let tail = (!n.is_multiple_of(GROUP)).then(|| n - GROUP..n);
    (0..n).step_by(PART).map(move |start| start..n.min(start + PART)).chain(tail)
}

/// Turns the uniform numbers of every whole group of `data` into normal ones.
pub(super) struct ShapeF32<'a> {
    pub data: &'a mut [f32],
    pub mean: f32,
    pub std: f32,
}

impl Fused for ShapeF32<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { data, mean, std } = self;
        for group in data.as_chunks_mut::<GROUP>().0 {
            let (first, second) = group.split_at_mut(LANES);
            for (a, b) in first.iter_mut().zip(second) {
                let radius = (-2.0 * ln(1.0 - *a)).sqrt();
                let (sin, cos) = sin_cos(std::f32::consts::TAU * *b);
                *a = (radius * cos).mul_add(std, mean);
                *b = (radius * sin).mul_add(std, mean);
            }
        }
    }
}

/// As [`ShapeF32`], in f64.
pub(super) struct ShapeF64<'a> {
    pub data: &'a mut [f64],
    pub mean: f64,
    pub std: f64,
}

impl Fused for ShapeF64<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { data, mean, std } = self;
        for group in data.as_chunks_mut::<GROUP>().0 {
            let (first, second) = group.split_at_mut(LANES);
            for (a, b) in first.iter_mut().zip(second) {
                let radius = (-2.0 * (1.0 - *a).ln()).sqrt();
                let theta = std::f64::consts::TAU * *b;
                *a = (radius * theta.cos()).mul_add(std, mean);
                *b = (radius * theta.sin()).mul_add(std, mean);
            }
        }
    }
}

/// Natural logarithm of a normal `x` in (0, 1], Cephes `logf`.
///
/// `x = 2^e m` with `m` in [sqrt(1/2), sqrt(2)), then `ln m = f - f^2/2 + f^3 P(f)` for `f = m - 1`, and `e ln 2` in
/// two parts of which the larger is exact.
#[inline(always)]
fn ln(x: f32) -> f32 {
    const P: [f32; 9] = [
        0.070_376_836,
        -0.115_146_1,
        0.116_769_984,
        -0.124_201_41,
        0.142_493_23,
        -0.166_680_57,
        0.200_007_14,
        -0.249_999_94,
        0.333_333_3,
    ];
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -0.000_212_194_44;

    let bits = x.to_bits();
    let exponent = (bits >> 23).cast_signed() - 126;
    let half_to_one = f32::from_bits(bits & 0x007f_ffff | 0x3f00_0000);
    let below = half_to_one < std::f32::consts::FRAC_1_SQRT_2;
    let e = exponent as f32 - if below { 1.0 } else { 0.0 };
    let f = (half_to_one - 1.0) + if below { half_to_one } else { 0.0 };

    let squared = f * f;
    let poly = horner(&P, f) * f;
    let small = (-0.5_f32).mul_add(squared, poly.mul_add(squared, e * LN2_LOW));
    e.mul_add(LN2_HIGH, f + small)
}

/// Sine and cosine of `x` in [0, 2 pi], Cephes `sinf` and `cosf` at once.
///
/// `x` minus the nearest even multiple of pi/4, in three parts (Cody and Waite), then one polynomial each for the sine
/// and the cosine on [-pi/4, pi/4]; the octant says which is which and their signs.
#[inline(always)]
fn sin_cos(x: f32) -> (f32, f32) {
    const SIN: [f32; 3] = [-0.000_195_152_96, 0.008_332_161, -0.166_666_55];
    const COS: [f32; 3] = [0.000_024_433_157, -0.001_388_731_6, 0.041_666_646];
    const FOUR_OVER_PI: f32 = 1.273_239_5;
    const PI_4_PARTS: [f32; 3] = [0.785_156_25, 0.000_241_875_65, 0.000_000_037_748_95];

    let octant = ((x * FOUR_OVER_PI) as i32 + 1) & !1;
    let y = octant as f32;
    let mut r = x;
    for part in PI_4_PARTS {
        r = y.mul_add(-part, r);
    }
    let z = r * r;
    let sin = (horner(&SIN, z) * z).mul_add(r, r);
    let cos = (horner(&COS, z) * z).mul_add(z, -(0.5 * z)) + 1.0;

    let swap = octant & 2 != 0;
    let (s, c) = if swap { (cos, sin) } else { (sin, cos) };
    let sin_sign = ((octant & 4) << 29).cast_unsigned();
    let cos_sign = ((!(octant - 2) & 4) << 29).cast_unsigned();
    (f32::from_bits(s.to_bits() ^ sin_sign), f32::from_bits(c.to_bits() ^ cos_sign))
}

/// A polynomial by Horner's rule, highest coefficient first, each step fused.
#[inline(always)]
fn horner<const K: usize>(coefficients: &[f32; K], x: f32) -> f32 {
    let mut sum = coefficients[0];
    for &c in &coefficients[1..] {
        sum = sum.mul_add(x, c);
    }
    sum
}
