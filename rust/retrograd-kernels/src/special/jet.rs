//! Truncated Taylor series: a number and its derivatives by one variable, so that one source of a function computes
//! both.

use std::f64::consts::FRAC_2_SQRT_PI;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::polygamma;

/// The first `N` coefficients of a Taylor series: the value, the first derivative, half the second one, ...
#[derive(Clone, Copy, Debug)]
pub(super) struct Jet<const N: usize>(pub [f64; N]);

impl<const N: usize> Jet<N> {
    pub fn constant(x: f64) -> Self {
        Self(std::array::from_fn(|i| if i == 0 { x } else { 0.0 }))
    }
    pub fn variable(x: f64) -> Self {
        Self(std::array::from_fn(|i| [x, 1.0].get(i).copied().unwrap_or(0.0)))
    }
    pub fn value(self) -> f64 {
        self.0[0]
    }
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self(self.0.map(f))
    }
    pub fn times(self, x: f64) -> Self {
        self.map(|v| v * x)
    }
    pub fn plus(mut self, x: f64) -> Self {
        self.0[0] += x;
        self
    }
    /// The series whose value is `value` and whose derivative is `derivative` times that of `self`.
    fn integral(self, value: f64, derivative: Self) -> Self {
        let mut out = Self::constant(value);
        for k in 1..N {
            out.0[k] = (1..=k).map(|j| j as f64 * self.0[j] * derivative.0[k - j]).sum::<f64>() / k as f64;
        }
        out
    }
    pub fn exp(self) -> Self {
        // Its own derivative: each coefficient needs those before it.
        let mut out = Self::constant(self.value().exp());
        for k in 1..N {
            out.0[k] = (1..=k).map(|j| j as f64 * self.0[j] * out.0[k - j]).sum::<f64>() / k as f64;
        }
        out
    }
    pub fn exp_m1(self) -> Self {
        let mut out = self.exp();
        out.0[0] = self.value().exp_m1();
        out
    }
    pub fn ln(self) -> Self {
        if N == 1 {
            return Self::constant(self.value().ln());
        }
        self.integral(self.value().ln(), Self::constant(1.0) / self)
    }
    pub fn ln_1p(self) -> Self {
        if N == 1 {
            return Self::constant(self.value().ln_1p());
        }
        self.integral(self.value().ln_1p(), Self::constant(1.0) / self.plus(1.0))
    }
    pub fn sqrt(self) -> Self {
        let root = self.value().sqrt();
        let mut out = Self::constant(root);
        for k in 1..N {
            let known: f64 = (1..k).map(|j| out.0[j] * out.0[k - j]).sum();
            out.0[k] = (self.0[k] - known) / (2.0 * root);
        }
        out
    }
    pub fn erfc(self) -> Self {
        let value = libm::erfc(self.value());
        if N == 1 {
            return Self::constant(value);
        }
        self.integral(value, (-(self * self)).exp().times(-FRAC_2_SQRT_PI))
    }
    /// The logarithm of the gamma function, given its value.
    pub fn ln_gamma(self, value: f64) -> Self {
        if N == 1 {
            return Self::constant(value);
        }
        let x = self.value();
        let derivative = Self(std::array::from_fn(|k| match k {
            0 => polygamma(0, x),
            // Of the argument's own series: the derivative of order `k` over `k!`, composed for a variable alone.
            k => polygamma(k as i64, x) / (1..=k).product::<usize>() as f64,
        }));
        self.integral(value, derivative)
    }
}

impl<const N: usize> Add for Jet<N> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }
}
impl<const N: usize> Sub for Jet<N> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] - other.0[i]))
    }
}
impl<const N: usize> Neg for Jet<N> {
    type Output = Self;
    fn neg(self) -> Self {
        self.map(|v| -v)
    }
}
impl<const N: usize> Mul for Jet<N> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| (0..=k).map(|j| self.0[j] * other.0[k - j]).sum()))
    }
}
impl<const N: usize> Div for Jet<N> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let mut out = Self::constant(self.value() / other.value());
        for k in 1..N {
            let known: f64 = (0..k).map(|j| out.0[j] * other.0[k - j]).sum();
            out.0[k] = (self.0[k] - known) / other.value();
        }
        out
    }
}
