//! What the loops of this crate compute with.

use faer::traits::ext::*;
use faer::traits::{ComplexField, RealField};

/// A float or a complex number.
pub trait Number: ComplexField<Real: Copy> + Copy {}
impl<T: ComplexField<Real: Copy> + Copy> Number for T {}

/// Numbers above it have all digits, also after some rounding, and finite inverses.
pub fn tiny<R: RealField>() -> R {
    R::min_positive_impl() / R::epsilon_impl()
}

/// The Euclidean length, without overflow.
pub fn norm<T: Number>(x: &[T]) -> T::Real {
    let zero = T::Real::zero();
    let sum = squares(x);
    let tiny = tiny();
    if sum >= tiny && sum.is_finite() {
        return sum.sqrt();
    }
    let most = x.iter().fold(zero, |most, x| most.fmax(x.abs()));
    if most == zero || !most.is_finite() {
        return sum.sqrt();
    }
    // The inverse of a smaller number might be infinite.
    let scale = most.fmax(tiny).recip();
    x.iter().fold(zero, |sum, x| sum + x.mul_real(scale).abs2()).sqrt() / scale
}

/// The sum of the squares of the magnitudes.
fn squares<T: Number>(x: &[T]) -> T::Real {
    // One sum would wait for itself.
    let mut sums = [T::Real::zero(); 16];
    let whole = x.chunks_exact(sums.len());
    for (sum, x) in sums.iter_mut().zip(whole.remainder()) {
        *sum = x.abs2();
    }
    for x in whole {
        for (sum, x) in sums.iter_mut().zip(x) {
            *sum += x.abs2();
        }
    }
    sums.into_iter().fold(T::Real::zero(), |all, sum| all + sum)
}

/// Whether no element is infinite or NaN.
pub fn all_finite<T: Number>(x: &[T]) -> bool {
    x.iter().all(|x| x.is_finite())
}

/// A power of two that brings matrices near 1, where squares neither overflow nor vanish.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    exponent: i32,
}

impl Scale {
    /// Exponents up to this size are near enough.
    const NEAR: i32 = 8;

    /// For numbers of which the largest part is in one of the slices. All are finite.
    pub fn of<'a, T: Number<Real: Into<f64>> + 'a>(slices: impl IntoIterator<Item = &'a [T]>) -> Self {
        let part = |most: f64, x: &T| most.max(x.real().into().abs()).max(x.imag().into().abs());
        let most = slices.into_iter().fold(0.0, |most, x| x.iter().fold(most, part));
        // Those of numbers without all digits are below.
        let of = |x: f64| (x.to_bits() >> 52) as i32 - 1023;
        let exponent = if most < f64::MIN_POSITIVE { of(most * 2f64.powi(64)) - 64 } else { of(most) };
        Self { exponent: if most == 0.0 || exponent.abs() <= Self::NEAR { 0 } else { exponent } }
    }

    /// Divides numbers by it.
    pub fn divide<T: Number>(self, x: &mut [T]) {
        Self { exponent: -self.exponent }.multiply(x);
    }

    /// Multiplies numbers by it.
    pub fn multiply<T: Number>(self, x: &mut [T]) {
        if self.exponent == 0 {
            return;
        }
        // It may be no number itself, where its root is one.
        let half = self.exponent / 2;
        let [first, second] = [half, self.exponent - half].map(|e| T::Real::from_f64_impl(2f64.powi(e)));
        x.iter_mut().for_each(|x| *x = x.mul_real(first).mul_real(second));
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Numbers between -1 and 1 that depend on the seed.
    pub fn noise<T: Number>(n: usize, seed: u64) -> Vec<T> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..n)
            .map(|_| {
                let (re, im) = (next(), next());
                // An imaginary unit, if there is one: the root of -1 is NaN for real numbers.
                let x = T::from_f64_impl(re);
                if T::IS_REAL { x } else { x + (-T::one()).sqrt() * T::from_f64_impl(im) }
            })
            .collect()
    }

    /// The product of column-major matrices.
    pub fn product<T: Number>(m: usize, k: usize, n: usize, a: &[T], b: &[T]) -> Vec<T> {
        let at = |i: usize, j: usize| (0..k).fold(T::zero(), |s, l| s + a[l * m + i] * b[j * k + l]);
        (0..m * n).map(|e| at(e % m, e / m)).collect()
    }

    /// The adjoint of a column-major matrix of `m` rows.
    pub fn adjoint<T: Number>(m: usize, n: usize, a: &[T]) -> Vec<T> {
        (0..m * n).map(|e| a[e / n + (e % n) * m].conj()).collect()
    }

    /// The largest distance of two elements.
    pub fn distance<T: Number<Real: Into<f64>>>(a: &[T], b: &[T]) -> f64 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| Into::<f64>::into((*a - *b).abs())).fold(0.0, |m, d| if d <= m { m } else { d })
    }

    #[test]
    fn lengths_neither_overflow_nor_vanish() {
        for scale in [1e200f64, 1e-200] {
            assert!(f64::abs(norm(&[3.0 * scale, 4.0 * scale]) / scale - 5.0) < 1e-14);
        }
        assert_eq!(norm::<f64>(&[]), 0.0);
        assert!(norm(&[f64::NAN]).is_nan());
    }
}
