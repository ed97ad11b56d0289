//! The element types of matrices.

use num_complex::Complex;
use retrograd_kernels::matmul::GemmScalar;
use retrograd_kernels::real::{Field, Real};

/// A float or a complex number.
pub trait Scalar: Field + GemmScalar + Default {
    /// The type of its parts.
    type Real: Real;
    /// The distance from 1 to the next number.
    const EPSILON: Self::Real;
    fn conj(self) -> Self;
    fn re(self) -> Self::Real;
    fn of_real(x: Self::Real) -> Self;
    /// The sum of the magnitudes of its parts, by which LAPACK compares pivots.
    fn size(self) -> Self::Real;
    /// Its distance from zero.
    fn magnitude(self) -> Self::Real;
    fn recip(self) -> Self;
    /// A number times a real one.
    fn scale(self, by: Self::Real) -> Self;
}

macro_rules! scalar {
    ($($t:ty),*) => { $(
        impl Scalar for $t {
            type Real = $t;
            const EPSILON: $t = <$t>::EPSILON;
            #[inline(always)]
            fn conj(self) -> Self {
                self
            }
            #[inline(always)]
            fn re(self) -> $t {
                self
            }
            #[inline(always)]
            fn of_real(x: $t) -> Self {
                x
            }
            #[inline(always)]
            fn size(self) -> $t {
                self.abs()
            }
            #[inline(always)]
            fn magnitude(self) -> $t {
                self.abs()
            }
            #[inline(always)]
            fn recip(self) -> Self {
                1.0 / self
            }
            #[inline(always)]
            fn scale(self, by: $t) -> Self {
                self * by
            }
        }
        impl Scalar for Complex<$t> {
            type Real = $t;
            const EPSILON: $t = <$t>::EPSILON;
            #[inline(always)]
            fn conj(self) -> Self {
                Self { re: self.re, im: -self.im }
            }
            #[inline(always)]
            fn re(self) -> $t {
                self.re
            }
            #[inline(always)]
            fn of_real(x: $t) -> Self {
                Self { re: x, im: 0.0 }
            }
            #[inline(always)]
            fn size(self) -> $t {
                self.re.abs() + self.im.abs()
            }
            #[inline(always)]
            fn magnitude(self) -> $t {
                retrograd_kernels::real::Complex::abs(self)
            }
            #[inline(always)]
            fn recip(self) -> Self {
                Field::div(Self { re: 1.0, im: 0.0 }, self)
            }
            #[inline(always)]
            fn scale(self, by: $t) -> Self {
                Self { re: self.re * by, im: self.im * by }
            }
        }
    )* };
}
scalar!(f32, f64);
