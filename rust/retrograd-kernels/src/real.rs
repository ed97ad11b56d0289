//! Arithmetic that kernels are generic over: [`Ring`], [`Ordered`] and [`Field`] say which operations a number has;
//! [`Arithmetic`] is division with remainder, [`Real`] and [`Complex`] have functions.

use super::math::Tables;
use super::simd::{Format, Isa, Vector};
use super::truth::Truth;

/// A number in the forms of all element types: integers use `int`, floats `re`, complex numbers both parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    pub int: i64,
    pub re: f64,
    pub im: f64,
}

impl From<f64> for Constant {
    #[inline(always)]
    fn from(x: f64) -> Self {
        Self { int: x as i64, re: x, im: 0.0 }
    }
}

/// What can be added, subtracted and multiplied: every dtype but the halves, which kernels compute with in float32.
/// Integers wrap; bools are 0 and 1 with "or" as sum and "and" as product.
pub trait Ring: crate::simd::SimdElement + PartialEq + Send + Sync + 'static {
    /// Whether it is a complex number.
    const COMPLEX: bool = false;
    const ZERO: Self;
    const ONE: Self;
    fn add(self, o: Self) -> Self;
    fn sub(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn neg(self) -> Self;
    /// Whether it, or a part of it, is NaN.
    fn is_nan(self) -> bool;
    /// The constant in this type; integers wrap.
    fn constant(c: Constant) -> Self;
}

/// A ring with an order: every real dtype, but no complex one.
pub trait Ordered: Ring + PartialOrd {
    /// Whether it has a minus sign, as zeros and NaN may.
    #[inline(always)]
    fn has_minus(self) -> bool {
        self < Self::ZERO
    }
    /// The larger of two; NaN if one is.
    #[inline(always)]
    fn larger(self, o: Self) -> Self {
        if self > o || self.is_nan() { self } else { o }
    }
    /// The smaller of two; NaN if one is.
    #[inline(always)]
    fn smaller(self, o: Self) -> Self {
        if self < o || self.is_nan() { self } else { o }
    }
    /// Itself, or `bound` if that is larger; NaN if it is. The bound is not NaN: then this is one instruction.
    #[inline(always)]
    fn no_less_than(self, bound: Self) -> Self {
        if bound > self { bound } else { self }
    }
    /// Itself, or `bound` if that is smaller; NaN if it is. The bound is not NaN.
    #[inline(always)]
    fn no_more_than(self, bound: Self) -> Self {
        if bound < self { bound } else { self }
    }
}

/// A ring with division: real floating point and complex numbers.
pub trait Field: Ring {
    fn div(self, o: Self) -> Self;
}

/// A number of any dtype but bool. Integers wrap; integer division by zero gives 0 (ops refuse it before).
pub trait Arithmetic: Ordered {
    fn magnitude(self) -> Self;
    /// The quotient rounded towards zero.
    fn trunc_div(self, o: Self) -> Self;
    /// The quotient rounded down.
    fn floor_div(self, o: Self) -> Self;
    /// What is left after [`Arithmetic::trunc_div`], with the sign of `self`.
    fn trunc_rem(self, o: Self) -> Self;
    /// What is left after [`Arithmetic::floor_div`], with the sign of `o`.
    fn floor_rem(self, o: Self) -> Self;
    /// `self` to the power `e`; with integers, negative powers of other numbers than 1 and -1 are 0.
    fn power(self, e: Self) -> Self;
}

macro_rules! int_ring {
    ($($t:ty),*) => { $(impl Ring for $t {
        const ZERO: Self = 0;
        const ONE: Self = 1;
        #[inline(always)] fn add(self, o: Self) -> Self { self.wrapping_add(o) }
        #[inline(always)] fn sub(self, o: Self) -> Self { self.wrapping_sub(o) }
        #[inline(always)] fn mul(self, o: Self) -> Self { self.wrapping_mul(o) }
        #[inline(always)] fn neg(self) -> Self { self.wrapping_neg() }
        #[inline(always)] fn is_nan(self) -> bool { false }
        #[inline(always)] fn constant(c: Constant) -> Self { c.int as $t }
    }
    impl Ordered for $t {})* };
}
int_ring!(u8, i8, i16, i32, i64);

macro_rules! int_arithmetic {
    ($($t:ty, $magnitude:expr);*) => { $(
        // Magnitudes are divided, by 1 for 0: quotients of signed numbers have branches, for 0 and -1, that no
        // processor foresees.
        #[allow(unused_comparisons, clippy::unnecessary_cast)] // u8 is never negative
        impl Arithmetic for $t {
            #[inline(always)] fn magnitude(self) -> Self { $magnitude(self) as Self }
            #[inline(always)] fn trunc_div(self, o: Self) -> Self {
                let q = ($magnitude(self) / $magnitude(o).max(1)) as Self;
                let q = if (self < 0) != (o < 0) { q.wrapping_neg() } else { q };
                if o == 0 { 0 } else { q }
            }
            #[inline(always)] fn floor_div(self, o: Self) -> Self {
                let (a, b) = ($magnitude(self), $magnitude(o).max(1));
                let (q, inexact) = ((a / b) as Self, (a % b != 0) as Self);
                let q = if (self < 0) != (o < 0) { q.wrapping_neg().wrapping_sub(inexact) } else { q };
                if o == 0 { 0 } else { q }
            }
            #[inline(always)] fn trunc_rem(self, o: Self) -> Self {
                let rem = ($magnitude(self) % $magnitude(o).max(1)) as Self;
                if self < 0 { rem.wrapping_neg() } else { rem }
            }
            #[inline(always)] fn floor_rem(self, o: Self) -> Self {
                let rem = self.trunc_rem(o);
                if (rem != 0) & ((rem < 0) != (o < 0)) { rem.wrapping_add(o) } else { rem }
            }
            #[inline(always)] fn power(self, e: Self) -> Self {
                if e < 0 {
                    // A negative number of these types has all bits set only if it is -1.
                    return if self == 1 { 1 } else if self == !0 { if e % 2 == 0 { 1 } else { self } } else { 0 };
                }
                let (mut base, mut e, mut result) = (self, e, 1 as $t);
                while e > 0 {
                    if e & 1 == 1 { result = result.wrapping_mul(base); }
                    base = base.wrapping_mul(base);
                    e >>= 1;
                }
                result
            }
        }
    )* };
}
int_arithmetic!(u8, std::convert::identity::<u8>; i8, i8::unsigned_abs; i16, i16::unsigned_abs; i32, i32::unsigned_abs; i64, i64::unsigned_abs);

impl Ring for Truth {
    const ZERO: Self = Self::FALSE;
    const ONE: Self = Self::TRUE;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        self | o
    }
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self ^ o
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        self & o
    }
    #[inline(always)]
    fn neg(self) -> Self {
        !self
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
    #[inline(always)]
    fn constant(c: Constant) -> Self {
        (c.int != 0).into()
    }
}
impl Ordered for Truth {}

/// A floating point number with the functions that ops need; loops over the functions of `math` take [`Real::Vector`].
pub trait Real: Field + Ordered + Format + Tables {
    /// The vector of an instruction set.
    type Vector<S: Isa>: Vector<Elem = Self>;
    /// Between these a sum of two squares has the digits of its terms.
    const SQUARES: [Self; 2];
    fn of(x: f64) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn sqrt(self) -> Self;
    fn tanh(self) -> Self;
    fn powf(self, e: Self) -> Self;
    fn abs(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    /// To the nearest integer, halves to the even one.
    fn round(self) -> Self;
    /// What is left of a division whose quotient is rounded towards zero, with the sign of `self`.
    fn rem(self, o: Self) -> Self;
}

macro_rules! real {
    ($($t:ty, $vector:ident, $squares:expr);*) => { $(
        impl Ring for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)] fn add(self, o: Self) -> Self { self + o }
            #[inline(always)] fn sub(self, o: Self) -> Self { self - o }
            #[inline(always)] fn mul(self, o: Self) -> Self { self * o }
            #[inline(always)] fn neg(self) -> Self { -self }
            #[inline(always)] fn is_nan(self) -> bool { self.is_nan() }
            #[inline(always)] fn constant(c: Constant) -> Self { c.re as $t }
        }
        impl Ordered for $t {
            #[inline(always)] fn has_minus(self) -> bool { self.is_sign_negative() }
        }
        impl Field for $t {
            #[inline(always)] fn div(self, o: Self) -> Self { self / o }
        }
        impl Arithmetic for $t {
            #[inline(always)] fn magnitude(self) -> Self { self.abs() }
            #[inline(always)] fn trunc_div(self, o: Self) -> Self { (self / o).trunc() }
            #[inline(always)] fn floor_div(self, o: Self) -> Self {
                if o == 0.0 {
                    return self / o;
                }
                // The remainder is exact, so the quotient of what is left is an integer up to rounding.
                let rem = self % o;
                let mut q = (self - rem) / o;
                if rem != 0.0 && (o < 0.0) != (rem < 0.0) { q -= 1.0; }
                if q == 0.0 {
                    return (0.0 as $t).copysign(self / o);
                }
                let down = q.floor();
                if q - down > 0.5 { down + 1.0 } else { down }
            }
            #[inline(always)] fn trunc_rem(self, o: Self) -> Self { self % o }
            #[inline(always)] fn floor_rem(self, o: Self) -> Self {
                let rem = self % o;
                if rem != 0.0 && (rem < 0.0) != (o < 0.0) { rem + o } else { rem }
            }
            #[inline(always)] fn power(self, e: Self) -> Self { self.powf(e) }
        }
        impl Real for $t {
            type Vector<S: Isa> = S::$vector;
            const SQUARES: [Self; 2] = $squares;
            #[inline(always)] fn of(x: f64) -> Self { x as $t }
            #[inline(always)] fn exp(self) -> Self { self.exp() }
            #[inline(always)] fn ln(self) -> Self { self.ln() }
            #[inline(always)] fn ln_1p(self) -> Self { self.ln_1p() }
            #[inline(always)] fn sqrt(self) -> Self { self.sqrt() }
            #[inline(always)] fn tanh(self) -> Self { self.tanh() }
            #[inline(always)] fn powf(self, e: Self) -> Self { self.powf(e) }
            #[inline(always)] fn abs(self) -> Self { self.abs() }
            #[inline(always)] fn floor(self) -> Self { self.floor() }
            #[inline(always)] fn ceil(self) -> Self { self.ceil() }
            #[inline(always)] fn round(self) -> Self { self.round_ties_even() }
            #[inline(always)] fn trunc(self) -> Self { self.trunc() }
            #[inline(always)] fn rem(self, o: Self) -> Self { self % o }
        }
    )* };
}
real!(f32, F32, [1e-30, 3e38]; f64, F64, [1e-290, 1e308]);

/// A complex number with the functions that ops need.
pub trait Complex: Field {
    /// The type of its two parts.
    type Real: Real;
    fn of(re: Self::Real, im: Self::Real) -> Self;
    fn re(self) -> Self::Real;
    fn im(self) -> Self::Real;
    fn conj(self) -> Self;
    /// The magnitude, without overflow on the way.
    fn abs(self) -> Self::Real;
}

impl<T: Real> Ring for num_complex::Complex<T> {
    const COMPLEX: bool = true;
    const ZERO: Self = Self { re: T::ZERO, im: T::ZERO };
    const ONE: Self = Self { re: T::ONE, im: T::ZERO };
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self { re: self.re.add(o.re), im: self.im.add(o.im) }
    }
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self { re: self.re.sub(o.re), im: self.im.sub(o.im) }
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self { re: self.re.mul(o.re).sub(self.im.mul(o.im)), im: self.re.mul(o.im).add(self.im.mul(o.re)) }
    }
    #[inline(always)]
    fn neg(self) -> Self {
        Self { re: self.re.neg(), im: self.im.neg() }
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.re.is_nan() || self.im.is_nan()
    }
    #[inline(always)]
    fn constant(c: Constant) -> Self {
        Self { re: T::of(c.re), im: T::of(c.im) }
    }
}

impl<T: Real> Field for num_complex::Complex<T> {
    /// Smith's division, as NumPy and torch have it: the larger part of the divisor is divided by, so nothing
    /// overflows.
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        let is_flat = o.re.abs() >= o.im.abs();
        // Of the divisor, the first part is the larger one. Without branches, so that there are vectors of it.
        let [a, b, c, d] = match is_flat {
            true => [self.re, self.im, o.re, o.im],
            false => [self.im, self.re, o.im, o.re],
        };
        let is_zero = is_flat & (c == T::ZERO);
        let ratio = d.div(c);
        let turned = a.mul(ratio);
        let re = if is_zero { a } else { a.add(b.mul(ratio)) };
        let im = if is_flat { b.sub(turned) } else { turned.sub(b) };
        let im = if is_zero { b } else { im };
        // Infinite for 0, so that the quotients of the parts are infinite, or NaN.
        let scale = T::ONE.div(if is_zero { T::ZERO } else { c.add(d.mul(ratio)) });
        Self { re: re.mul(scale), im: im.mul(scale) }
    }
}

macro_rules! complex {
    ($($t:ty, $abs:expr);*) => { $(impl Complex for num_complex::Complex<$t> {
        type Real = $t;
        #[inline(always)] fn of(re: $t, im: $t) -> Self { Self { re, im } }
        #[inline(always)] fn re(self) -> $t { self.re }
        #[inline(always)] fn im(self) -> $t { self.im }
        #[inline(always)] fn conj(self) -> Self { Self { re: self.re, im: -self.im } }
        #[inline(always)] fn abs(self) -> $t { $abs(self.re, self.im) }
    })* };
}
complex!(f32, length; f64, libm::hypot);

/// The length of a vector, of which nothing overflows in double precision; infinite if a part is, the other one being
/// NaN or not.
#[inline(always)]
fn length(x: f32, y: f32) -> f32 {
    let (a, b) = (f64::from(x), f64::from(y));
    let length = (a * a + b * b).sqrt() as f32;
    if x.abs() == f32::INFINITY || y.abs() == f32::INFINITY { f32::INFINITY } else { length }
}

#[cfg(test)]
mod tests {
    use super::*;

    type C = num_complex::Complex<f64>;

    fn near(a: C, b: C) -> bool {
        Complex::abs(a.sub(b)) <= 1e-14 * Complex::abs(b).max(1.0)
    }

    #[test]
    fn integers_are_divided_by_the_definition() {
        // Of all pairs: quotients rounded towards zero and down, and what is left of each; 0 for a division by zero.
        for (a, b) in (-128..128i32).flat_map(|a| (-128..256i32).map(move |b| (a, b))) {
            let down = |a: i32, b: i32| (f64::from(a) / f64::from(b)).floor() as i32;
            let all = |a: i32, b: i32| match b {
                0 => [0; 4],
                _ => [a / b, down(a, b), a % b, a - b * down(a, b)],
            };
            let (x, y) = (a as i8, b as i8);
            let got = [x.trunc_div(y), x.floor_div(y), x.trunc_rem(y), x.floor_rem(y)];
            assert_eq!(got, all(x.into(), y.into()).map(|x| x as i8), "{x} {y}");
            let (x, y) = (a as u8, b as u8);
            let got = [x.trunc_div(y), x.floor_div(y), x.trunc_rem(y), x.floor_rem(y)];
            assert_eq!(got, all(x.into(), y.into()).map(|x| x as u8), "{x} {y}");
        }
        for o in [-1, 1, 2, i64::MIN, i64::MAX] {
            let (q, rem) = (i64::MIN.wrapping_div(o), i64::MIN.wrapping_rem(o));
            assert_eq!((i64::MIN.trunc_div(o), i64::MIN.trunc_rem(o)), (q, rem), "{o}");
        }
        assert_eq!((i64::MIN.floor_div(-1), i64::MIN.floor_rem(i64::MAX)), (i64::MIN, i64::MAX - 1));
    }

    #[test]
    fn complex_division_neither_overflows_nor_loses_zero() {
        for (a, b) in [(C::new(1.0, 2.0), C::new(3.0, -4.0)), (C::new(-1.5, 0.25), C::new(1e-3, 7.0))] {
            assert!(near(a.div(b).mul(b), a));
        }
        let big = C::new(1e300, 1e300);
        assert!(near(big.div(big), C::ONE));
        let by_zero = C::ONE.div(C::ZERO);
        assert!(by_zero.re == f64::INFINITY && by_zero.im.is_nan());
    }

    #[test]
    fn complex_division_is_smiths() {
        // As it is published, with a branch for each case.
        let smith = |x: C, y: C| {
            if y.re.abs() >= y.im.abs() {
                if y.re == 0.0 {
                    return C::new(x.re / y.re.abs(), x.im / y.im.abs());
                }
                let ratio = y.im / y.re;
                let scale = 1.0 / (y.re + y.im * ratio);
                C::new((x.re + x.im * ratio) * scale, (x.im - x.re * ratio) * scale)
            } else {
                let ratio = y.re / y.im;
                let scale = 1.0 / (y.re * ratio + y.im);
                C::new((x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale)
            }
        };
        let parts = [0.0, -0.0, 1.0, -2.5, 1e300, -1e-300, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let numbers = || parts.iter().flat_map(|&re| parts.iter().map(move |&im| C::new(re, im)));
        let same = |x: f64, y: f64| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
        for (x, y) in numbers().flat_map(|x| numbers().map(move |y| (x, y))) {
            let (got, want) = (x.div(y), smith(x, y));
            assert!(same(got.re, want.re) && same(got.im, want.im), "{x} / {y}: {got}, not {want}");
        }
    }

    #[test]
    fn magnitudes_neither_overflow_nor_lose_infinities() {
        assert_eq!(Complex::abs(C::new(1e300, 1e300)), 1e300 * std::f64::consts::SQRT_2);
        type F = num_complex::Complex<f32>;
        assert_eq!(Complex::abs(F::new(3e38, 1e38)), 3.1622777e38);
        assert_eq!(Complex::abs(F::new(3e-45, 4e-45)), 5e-45);
        for (x, y) in [(f32::INFINITY, f32::NAN), (f32::NAN, f32::NEG_INFINITY), (1.0, f32::INFINITY)] {
            assert_eq!(Complex::abs(F::new(x, y)), f32::INFINITY);
        }
        assert!(Complex::abs(F::new(f32::NAN, 0.0)).is_nan());
    }
}
