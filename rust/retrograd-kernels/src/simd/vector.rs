//! The lane trait: what the functions of `kernels::math` and their loops are written in, once for all instruction sets.

use std::ops::{Add, Div, Mul, Neg, Sub};

use half::{bf16, f16};

use super::super::real::{Real, Ring};

/// An instruction set, as the type by which code is compiled for it.
pub trait Isa: Copy + 'static {
    /// Its vectors of float32.
    type F32: Vector<Elem = f32>;
    /// Its vectors of float64.
    type F64: Vector<Elem = f64>;

    /// A vector of float16 from `p`, of any alignment, as float32.
    ///
    /// # Safety
    /// 1. The CPU has these instructions. 2. As many elements as the vector has are readable and initialised.
    unsafe fn load_f16(p: *const f16) -> Self::F32;
    /// A vector of bfloat16 from `p`, of any alignment, as float32.
    ///
    /// # Safety
    /// 1. As [`Isa::load_f16`].
    unsafe fn load_bf16(p: *const bf16) -> Self::F32;
    /// All lanes as float16, rounded to the nearest, ties to even, to `p`, of any alignment.
    ///
    /// # Safety
    /// 1. As many elements as the vector has are writable.
    unsafe fn store_f16(x: Self::F32, p: *mut f16);
    /// All lanes as bfloat16, rounded to the nearest, ties to even, to `p`, of any alignment.
    ///
    /// # Safety
    /// 1. As [`Isa::store_f16`].
    unsafe fn store_bf16(x: Self::F32, p: *mut bf16);
}

/// A vector of floats.
///
/// A value is proof that the CPU has the instructions of its type: only [`Vector::load`] and its neighbours make one
/// out of nothing, and everything else takes one. Methods are `#[inline(always)]` and named after what they do to a
/// lane.
pub trait Vector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The element type.
    type Elem: Real;
    /// One truth value per lane.
    type Mask: Copy;
    /// Elements in one vector, at most 32.
    const LEN: usize;

    /// `LEN` elements from `p`, of any alignment.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of this type. 2. The elements are readable and initialised.
    unsafe fn load(p: *const Self::Elem) -> Self;
    /// The first `len < LEN` lanes from `p`, the others 0.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of this type. 2. The `len` elements are readable and initialised.
    unsafe fn load_first(p: *const Self::Elem, len: usize) -> Self;
    /// All lanes to `p`, of any alignment.
    ///
    /// # Safety
    /// 1. The `LEN` elements are writable.
    unsafe fn store(self, p: *mut Self::Elem);
    /// The first `len < LEN` lanes to `p`.
    ///
    /// # Safety
    /// 1. The `len` elements are writable.
    unsafe fn store_first(self, p: *mut Self::Elem, len: usize);

    /// Transposes a square of `LEN` x `LEN` elements of any type of this size: `to[j * to_step + i]` becomes
    /// `from[i * step + j]`, with no bit changed.
    ///
    /// # Safety
    /// 1. The CPU has the instructions of this type. 2. The `LEN` rows at `from` are readable and initialised. 3. Those
    ///    at `to` are writable.
    unsafe fn transpose(from: *const Self::Elem, step: isize, to: *mut Self::Elem, to_step: isize);

    /// The lanes at even places of `a` and `b`, one after the other, and those at odd places.
    #[inline(always)]
    fn deinterleave(a: Self, b: Self) -> (Self, Self) {
        let (mut from, mut to) = ([Self::Elem::ZERO; 64], [Self::Elem::ZERO; 64]);
        // SAFETY: (1) both exist; (1, 2) each array holds `2 LEN` elements.
        unsafe {
            a.store(from.as_mut_ptr());
            b.store(from.as_mut_ptr().add(Self::LEN));
            for i in 0..Self::LEN {
                (to[i], to[Self::LEN + i]) = (from[2 * i], from[2 * i + 1]);
            }
            (Self::load(to.as_ptr()), Self::load(to.as_ptr().add(Self::LEN)))
        }
    }
    /// The lanes of `a` and `b` by turns: the inverse of [`Vector::deinterleave`].
    #[inline(always)]
    fn interleave(a: Self, b: Self) -> (Self, Self) {
        let (mut from, mut to) = ([Self::Elem::ZERO; 64], [Self::Elem::ZERO; 64]);
        // SAFETY: (1) both exist; (1, 2) each array holds `2 LEN` elements.
        unsafe {
            a.store(from.as_mut_ptr());
            b.store(from.as_mut_ptr().add(Self::LEN));
            for i in 0..Self::LEN {
                (to[2 * i], to[2 * i + 1]) = (from[i], from[Self::LEN + i]);
            }
            (Self::load(to.as_ptr()), Self::load(to.as_ptr().add(Self::LEN)))
        }
    }
    /// The lanes in reverse order.
    #[inline(always)]
    fn reversed(self) -> Self {
        let mut lanes = [Self::Elem::ZERO; 32];
        // SAFETY: (1) `self` exists; (1, 2) the array holds `LEN` elements.
        unsafe {
            self.store(lanes.as_mut_ptr());
            lanes[..Self::LEN].reverse();
            Self::load(lanes.as_ptr())
        }
    }

    /// All lanes `x`.
    fn splat(self, x: Self::Elem) -> Self;
    /// Whether [`Vector::fma`] rounds once.
    const FUSED: bool = true;
    /// `self * b + c`, with one rounding where that is one instruction, and otherwise with two.
    fn fma(self, b: Self, c: Self) -> Self;
    /// `self * b + c` as of an exact product, rounded once or all but.
    #[inline(always)]
    fn fused(self, b: Self, c: Self) -> Self {
        self.fma(b, c)
    }
    /// The reciprocal of a number from 1 to 2, to half of the digits or more.
    #[inline(always)]
    fn near_reciprocal(self) -> Self {
        self.of(1.0) / self
    }
    /// `self / o` within 0.6 units in the last place, for finite numbers from `o` of 1/4 to 4 on which nothing
    /// overflows or gets subnormal, unless it is 0.
    #[inline(always)]
    fn quotient(self, o: Self) -> Self {
        self / o
    }
    /// The square root.
    fn sqrt(self) -> Self;
    /// The smaller one; `self` if either is NaN.
    fn at_most(self, o: Self) -> Self;
    /// The larger one; `self` if either is NaN.
    fn at_least(self, o: Self) -> Self;
    /// Whether [`Vector::lookup`] may be called: where it is a few instructions.
    const LOOKUP: bool = false;
    /// The number in `table` that belongs to the quarter of an octave that `self` is in, and to every one 8 octaves up
    /// or down: those of the numbers from 2 to 512 one after the other.
    #[inline(always)]
    fn lookup(self, _table: &[Self::Elem; 32]) -> Self {
        unreachable!("vectors that look numbers up")
    }

    /// `self < o`; false for NaN.
    fn lt(self, o: Self) -> Self::Mask;
    /// `self == o`; false for NaN.
    fn eq(self, o: Self) -> Self::Mask;
    /// `self` where the mask is true, `o` elsewhere.
    fn select(self, mask: Self::Mask, o: Self) -> Self;
    /// Whether both are true.
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Bit `i` is lane `i`.
    fn mask_bits(mask: Self::Mask) -> u32;
    /// Whether it is true of all lanes.
    #[inline(always)]
    fn all(mask: Self::Mask) -> bool {
        Self::mask_bits(mask) == ((1u64 << Self::LEN) - 1) as u32
    }

    /// The bits that are set in both.
    fn and(self, o: Self) -> Self;
    /// The bits that are set in either.
    fn or(self, o: Self) -> Self;
    /// The bits that are set in one.
    fn xor(self, o: Self) -> Self;
    /// The sum of the bits taken as integers, wrapping.
    fn bits_plus(self, o: Self) -> Self;
    /// The bits moved up by the width of the mantissa.
    fn up(self) -> Self;
    /// The bits moved down by the width of the mantissa.
    fn down(self) -> Self;
    /// The lowest bit moved to the place of the sign, the others gone.
    fn low_to_sign(self) -> Self;

    /// All lanes the element nearest to `x`, which is a constant.
    #[inline(always)]
    fn of(self, x: f64) -> Self {
        self.splat(Self::Elem::of(x))
    }
    /// The magnitude.
    #[inline(always)]
    fn abs(self) -> Self {
        self.xor(self.and(self.of(-0.0)))
    }
    /// `self` with the sign of `o`, which a negative `self` has already.
    #[inline(always)]
    fn with_sign_of(self, o: Self) -> Self {
        self.or(o.and(self.of(-0.0)))
    }
    /// The integer nearest to `self * c`, below 2^22 (float32) or 2^51 (float64): adding 1.5 times the first number
    /// whose last place is worth 1 makes the sum round there.
    #[inline(always)]
    fn nearest(self, c: Self) -> Self {
        let shift = self.splat(Self::Elem::SHIFT);
        self.fma(c, shift) - shift
    }
    /// Two to the power `self`, an integer whose power is a normal number.
    #[inline(always)]
    fn pow2(self) -> Self {
        // The last bits of the sum are the integer with the bias of an exponent added.
        (self + self.splat(Self::Elem::SHIFT_BIASED)).up()
    }
    /// `self` times two to the power `n`, an integer of at most twice the largest exponent; rounded once.
    #[inline(always)]
    fn ldexp(self, n: Self) -> Self {
        let half = n.nearest(n.of(0.5));
        self * half.pow2() * (n - half).pow2()
    }
    /// `(m, k)` with `self = m 2^k` and `m` from sqrt(1/2) to sqrt(2), for finite positive numbers.
    #[inline(always)]
    fn split(self) -> (Self, Self) {
        let tiny = self.lt(self.splat(Self::Elem::MIN_NORMAL));
        let raised = self * self.splat(Self::Elem::RAISE);
        let x = raised.select(tiny, self);
        let bias = self.splat(Self::Elem::RAISED_BIAS).select(tiny, self.splat(Self::Elem::BIAS));
        // The distance to sqrt(1/2) carries into the exponent field where the mantissa reaches sqrt(2).
        let far = x.bits_plus(self.splat(Self::Elem::MINUS_ROOT_HALF_BITS));
        let m = far.and(self.splat(Self::Elem::MANTISSA_BITS)).bits_plus(self.splat(Self::Elem::ROOT_HALF));
        let power = self.splat(Self::Elem::INTEGER);
        let k = far.bits_plus(self.splat(Self::Elem::ONE)).down().or(power) - (power + bias);
        (m, k)
    }
    /// `self`, the logarithm of `x` to some base, for finite positive `x`, else the logarithm's special values.
    #[inline(always)]
    fn with_ends_of_log(self, x: Self) -> Self {
        let zero = x.of(0.0);
        let not_above = x.of(f64::NEG_INFINITY).select(x.eq(zero), x.of(f64::NAN));
        self.select(x.lt(x.of(f64::INFINITY)), x).select(zero.lt(x), not_above)
    }
    /// `f(x)` in the lanes whose mask is false, `self` elsewhere: for the few arguments that a polynomial does not
    /// reach.
    #[inline(always)]
    fn patched<const K: usize>(self, mask: Self::Mask, x: [Self; K], f: fn([Self::Elem; K]) -> Self::Elem) -> Self {
        let bits = !Self::mask_bits(mask) & (((1u64 << Self::LEN) - 1) as u32);
        if bits == 0 {
            return self;
        }
        let mut from = [[Self::Elem::ZERO; 32]; K];
        let mut to = [Self::Elem::ZERO; 32];
        // SAFETY: (1) `self` exists; (1, 2) each array holds `LEN` elements.
        unsafe {
            for (x, from) in x.into_iter().zip(&mut from) {
                x.store(from.as_mut_ptr());
            }
            self.store(to.as_mut_ptr());
            patch(bits, &from, &mut to, f);
            Self::load(to.as_ptr())
        }
    }
}

#[cold]
#[inline(never)]
fn patch<T: Copy, const K: usize>(bits: u32, from: &[[T; 32]; K], to: &mut [T; 32], f: fn([T; K]) -> T) {
    for i in 0..32 {
        if bits >> i & 1 == 1 {
            to[i] = f(from.map(|x| x[i]));
        }
    }
}

/// The format of a float, for the bit work of [`Vector`]'s methods.
pub trait Format: Copy {
    /// 1.5 times the first number whose last place is worth 1.
    const SHIFT: Self;
    /// The same plus the bias of the exponent.
    const SHIFT_BIASED: Self;
    /// The smallest normal number.
    const MIN_NORMAL: Self;
    /// A power of two that makes subnormal numbers normal.
    const RAISE: Self;
    /// The bias of the exponent.
    const BIAS: Self;
    /// The bias of the exponent plus the exponent of `RAISE`.
    const RAISED_BIAS: Self;
    /// sqrt(1/2), rounded.
    const ROOT_HALF: Self;
    /// Bits whose integer is minus that of the bits of `ROOT_HALF`.
    const MINUS_ROOT_HALF_BITS: Self;
    /// The bits of the mantissa.
    const MANTISSA_BITS: Self;
    /// The first number whose last place is worth 1: its bits with an integer in their low end are the sum of both.
    const INTEGER: Self;
}

macro_rules! formats {
    ($($t:ty, $bits:ty, $root:expr);*) => { $(
        impl Format for $t {
            const SHIFT: Self = 1.5 * Self::INTEGER;
            const SHIFT_BIASED: Self = Self::SHIFT + Self::BIAS;
            const MIN_NORMAL: Self = <$t>::MIN_POSITIVE;
            const RAISE: Self = 4.0 * Self::INTEGER;
            const BIAS: Self = (<$t>::MAX_EXP - 1) as $t;
            const RAISED_BIAS: Self = Self::BIAS + (<$t>::MANTISSA_DIGITS + 1) as $t;
            const ROOT_HALF: Self = $root;
            const MINUS_ROOT_HALF_BITS: Self = <$t>::from_bits(Self::ROOT_HALF.to_bits().wrapping_neg());
            const MANTISSA_BITS: Self = <$t>::from_bits((1 << (<$t>::MANTISSA_DIGITS - 1)) - 1);
            const INTEGER: Self = (1 as $bits << (<$t>::MANTISSA_DIGITS - 1)) as $t;
        }
    )* };
}
formats!(f32, u32, std::f32::consts::FRAC_1_SQRT_2; f64, u64, std::f64::consts::FRAC_1_SQRT_2);
