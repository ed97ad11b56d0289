//! Elements of tensors as plain numbers: the checker computes with these, and not with ops that it may be checking.

use std::fmt;
use std::ops::{Add, Mul, Sub};

use crate::Result;
use crate::engine::autograd::GradGuard;
use crate::engine::ops::casts::{resolve_conj, resolve_neg};
use crate::engine::ops::view::{view_as_complex, view_as_real};
use crate::engine::tensor::copy::cast;
use crate::engine::{self, DType};

type Raw = engine::Tensor;

/// A number, real or complex.
#[derive(Clone, Copy, PartialEq, Default)]
pub struct Number {
    /// The real part.
    pub re: f64,
    /// The imaginary part; 0 for a real number.
    pub im: f64,
}

impl Number {
    pub(super) const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }
    pub(super) const fn real(re: f64) -> Self {
        Self { re, im: 0.0 }
    }
    /// The unit of a real part: 1, or i.
    pub(super) const fn unit(imaginary: bool) -> Self {
        if imaginary { Self::new(0.0, 1.0) } else { Self::real(1.0) }
    }
    pub(super) fn abs(self) -> f64 {
        if self.im == 0.0 { self.re.abs() } else { self.re.hypot(self.im) }
    }
    pub(super) fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
    pub(super) fn conj(self) -> Self {
        Self::new(self.re, -self.im)
    }
    pub(super) fn scaled(self, by: f64) -> Self {
        Self::new(self.re * by, self.im * by)
    }
    /// One of the real parts.
    pub(super) fn part(self, imaginary: bool) -> f64 {
        if imaginary { self.im } else { self.re }
    }
    pub(super) fn over(self, divisor: Self) -> Self {
        let norm = divisor.re * divisor.re + divisor.im * divisor.im;
        (self * divisor.conj()).scaled(1.0 / norm)
    }
    /// With so many significant digits.
    pub(super) fn general(self, digits: usize) -> String {
        if self.im == 0.0 {
            return general(self.re, digits);
        }
        let sign = if self.im < 0.0 { "" } else { "+" };
        format!("({}{sign}{}j)", general(self.re, digits), general(self.im, digits))
    }
}

impl Add for Number {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Number {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Number {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.general(10))
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A number with so many significant digits and no zeros at the end, as `%g` prints it.
pub(super) fn general(x: f64, digits: usize) -> String {
    if !x.is_finite() {
        return format!("{x}").to_lowercase();
    }
    let scientific = format!("{:.*e}", digits - 1, x);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |s: &str| match s.contains('.') {
        true => s.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => s.to_owned(),
    };
    if (-4..digits as i32).contains(&exponent) {
        let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
        return trimmed(&format!("{x:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}

/// The elements of a tensor, row-major.
pub(super) fn read(t: &Raw) -> Result<Vec<Number>> {
    let _off = GradGuard::new(false);
    let t = t.detach();
    if !t.dtype().is_complex() {
        return Ok(cast(&t, DType::Float64)?.to_vec::<f64>()?.into_iter().map(Number::real).collect());
    }
    let whole = resolve_neg(&resolve_conj(&cast(&t, DType::Complex128)?)?)?;
    let parts = view_as_real(&whole)?.to_vec::<f64>()?;
    Ok(parts.chunks_exact(2).map(|z| Number::new(z[0], z[1])).collect())
}

/// A contiguous tensor of this dtype with these elements.
pub(super) fn write(values: &[Number], sizes: &[usize], dtype: DType) -> Result<Raw> {
    let _off = GradGuard::new(false);
    if !dtype.is_complex() {
        let reals: Vec<f64> = values.iter().map(|v| v.re).collect();
        return cast(&Raw::from_slice(&reals, sizes)?, dtype);
    }
    let parts: Vec<f64> = values.iter().flat_map(|v| [v.re, v.im]).collect();
    let pairs: Vec<usize> = sizes.iter().copied().chain([2]).collect();
    Ok(cast(&view_as_complex(&Raw::from_slice(&parts, &pairs)?)?, dtype)?.detach())
}

/// As [`write`], of the sizes and dtype of a tensor.
pub(super) fn write_like(values: &[Number], like: &Raw) -> Result<Raw> {
    write(values, like.sizes(), like.dtype())
}

/// Which parts the elements have: real ones alone, or imaginary ones too.
pub(super) fn parts(t: &Raw) -> &'static [bool] {
    if t.dtype().is_complex() { &[false, true] } else { &[false] }
}

/// Random numbers in (-1, 1), the same for the same seed (SplitMix64, by G. Steele, D. Lea and C. Flood).
pub(super) struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        // 53 bits, and half of the last one, so that no number is 0.
        ((z >> 11) as f64 + 0.5) / (1u64 << 52) as f64 - 1.0
    }
    /// A number for each element, complex for a complex tensor.
    pub fn values(&mut self, like: &Raw) -> Vec<Number> {
        let complex = like.dtype().is_complex();
        (0..like.numel()).map(|_| Number::new(self.next(), if complex { self.next() } else { 0.0 })).collect()
    }
    /// A vector of length 1, with a weight for each element.
    pub fn direction(&mut self, like: &Raw) -> Vec<f64> {
        let draws: Vec<f64> = (0..like.numel()).map(|_| self.next()).collect();
        let length = draws.iter().map(|w| w * w).sum::<f64>().sqrt();
        draws.iter().map(|w| w / length).collect()
    }
}

/// The index of an element, given its position in row-major order.
pub(super) fn place(mut position: usize, sizes: &[usize]) -> Vec<usize> {
    let mut index = vec![0; sizes.len()];
    for (i, &n) in index.iter_mut().zip(sizes).rev() {
        (*i, position) = (position % n, position / n);
    }
    index
}

/// An index in parentheses.
pub(super) fn shown(index: &[usize]) -> String {
    let numbers: Vec<String> = index.iter().map(usize::to_string).collect();
    format!("({})", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_in_c() {
        for (x, text) in [
            (4.0, "4"),
            (0.1, "0.1"),
            (1e-5, "1e-05"),
            (123456.0, "123456"),
            (1234567.0, "1.23457e+06"),
            (0.0, "0"),
            (-2.5e-10, "-2.5e-10"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(general(x, 6), text);
        }
        assert_eq!(Number::new(1.0, -2.0).to_string(), "(1-2j)");
    }

    #[cfg(feature = "complex")]
    #[test]
    fn elements_are_written_and_read_again() -> Result<()> {
        use crate::engine::ops::view::conj;

        let values: Vec<Number> = (0..6).map(|i| Number::new(f64::from(i), -f64::from(i))).collect();
        let complex = write(&values, &[2, 3], DType::Complex128)?;
        assert_eq!(read(&complex)?, values);
        let conjugates: Vec<Number> = values.iter().map(|v| v.conj()).collect();
        assert_eq!(read(&conj(&complex)?)?, conjugates);
        let real = write(&values, &[3, 2], DType::Float32)?;
        assert_eq!(read(&real.t()?)?.iter().map(|v| v.re).collect::<Vec<_>>(), [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
        Ok(())
    }

    #[test]
    fn draws_depend_on_the_seed_alone() {
        let like = Raw::from_slice(&[0.0; 5], &[5]).unwrap();
        assert_eq!(Draws::new(3).values(&like), Draws::new(3).values(&like));
        assert_ne!(Draws::new(3).values(&like), Draws::new(4).values(&like));
        assert!(Draws::new(3).values(&like).iter().all(|v| v.re.abs() < 1.0 && v.re != 0.0));
        let length: f64 = Draws::new(3).direction(&like).iter().map(|w| w * w).sum();
        assert!((length - 1.0).abs() < 1e-12);
    }
}
