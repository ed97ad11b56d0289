//! Arithmetic that kernels are generic over: numbers with wrapping integer arithmetic, and real numbers with functions.

use super::math::Tables;
use super::simd::{Format, Isa, Vector};
use super::truth::Truth;

/// A number of any dtype that has kernels. Integers wrap; bools are 0 and 1 with "or" as sum and "and" as product.
pub trait Num: crate::simd::Lane + PartialOrd + Send + Sync + 'static {
    const ZERO: Self;
    const ONE: Self;
    fn plus(self, o: Self) -> Self;
    fn minus(self, o: Self) -> Self;
    fn times(self, o: Self) -> Self;
    fn negate(self) -> Self;
    fn is_nan(self) -> bool;
    /// A parameter given in both forms, as this type: integers take `i`, wrapping, floats `f`.
    fn pick(i: i64, f: f64) -> Self;
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
}

/// A number of any dtype but bool. Integers wrap; integer division by zero gives 0 (ops refuse it before).
pub trait Arithmetic: Num {
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

macro_rules! int_num {
    ($($t:ty),*) => { $(impl Num for $t {
        const ZERO: Self = 0;
        const ONE: Self = 1;
        #[inline(always)] fn plus(self, o: Self) -> Self { self.wrapping_add(o) }
        #[inline(always)] fn minus(self, o: Self) -> Self { self.wrapping_sub(o) }
        #[inline(always)] fn times(self, o: Self) -> Self { self.wrapping_mul(o) }
        #[inline(always)] fn negate(self) -> Self { self.wrapping_neg() }
        #[inline(always)] fn is_nan(self) -> bool { false }
        #[inline(always)] fn pick(i: i64, _: f64) -> Self { i as $t }
    })* };
}
int_num!(u8, i8, i16, i32, i64);

macro_rules! int_arithmetic {
    ($($t:ty, $magnitude:expr);*) => { $(
        #[allow(unused_comparisons)] // u8 is never negative
        impl Arithmetic for $t {
            #[inline(always)] fn magnitude(self) -> Self { $magnitude(self) }
            #[inline(always)] fn trunc_div(self, o: Self) -> Self { if o == 0 { 0 } else { self.wrapping_div(o) } }
            #[inline(always)] fn floor_div(self, o: Self) -> Self {
                let q = self.trunc_div(o);
                let inexact = o != 0 && self.wrapping_rem(o) != 0;
                if inexact && ((self < 0) != (o < 0)) { q.wrapping_sub(1) } else { q }
            }
            #[inline(always)] fn trunc_rem(self, o: Self) -> Self { if o == 0 { 0 } else { self.wrapping_rem(o) } }
            #[inline(always)] fn floor_rem(self, o: Self) -> Self {
                let rem = self.trunc_rem(o);
                if rem != 0 && (rem < 0) != (o < 0) { rem.wrapping_add(o) } else { rem }
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
int_arithmetic!(u8, |x: u8| x; i8, i8::wrapping_abs; i16, i16::wrapping_abs; i32, i32::wrapping_abs; i64, i64::wrapping_abs);

impl Num for Truth {
    const ZERO: Self = Self::FALSE;
    const ONE: Self = Self::TRUE;
    #[inline(always)]
    fn plus(self, o: Self) -> Self {
        self | o
    }
    #[inline(always)]
    fn minus(self, o: Self) -> Self {
        self ^ o
    }
    #[inline(always)]
    fn times(self, o: Self) -> Self {
        self & o
    }
    #[inline(always)]
    fn negate(self) -> Self {
        !self
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
    #[inline(always)]
    fn pick(i: i64, _: f64) -> Self {
        (i != 0).into()
    }
}

/// A floating point number with the functions that ops need; loops over the functions of `math` take [`Real::Vector`].
pub trait Real: Num + Format + Tables {
    /// The vector of an instruction set.
    type Vector<S: Isa>: Vector<Elem = Self>;
    fn of(x: f64) -> Self;
    fn over(self, o: Self) -> Self;
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
}

macro_rules! real {
    ($($t:ty, $vector:ident);*) => { $(
        impl Num for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)] fn plus(self, o: Self) -> Self { self + o }
            #[inline(always)] fn minus(self, o: Self) -> Self { self - o }
            #[inline(always)] fn times(self, o: Self) -> Self { self * o }
            #[inline(always)] fn negate(self) -> Self { -self }
            #[inline(always)] fn is_nan(self) -> bool { self.is_nan() }
            #[inline(always)] fn pick(_: i64, f: f64) -> Self { f as $t }
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
            #[inline(always)] fn of(x: f64) -> Self { x as $t }
            #[inline(always)] fn over(self, o: Self) -> Self { self / o }
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
        }
    )* };
}
real!(f32, F32; f64, F64);
