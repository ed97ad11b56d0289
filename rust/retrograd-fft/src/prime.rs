//! Transforms of prime length by that of one number less (C. M. Rader, "Discrete Fourier transforms when the number of
//! data samples is prime", Proc. IEEE 56 (1968)).
//!
//! rustfft has this transform, too; here permutations are tables, and both inner transforms are out of place, and in
//! vectors where there is a plan for them.

use num_complex::Complex;
use rustfft::{Direction, Fft, FftDirection, Length};

use crate::{ComplexLines, HalfLines, Lines, Number, RealLines, parts};

/// Shorter ones have code of their own in rustfft.
const SHORTEST: usize = 101;
/// Whose products the lengths of inner transforms are: those that rustfft has fast code for.
const FACTORS: [usize; 5] = [2, 3, 5, 7, 11];

/// With `g` a generator of the numbers below `n` under multiplication, `X[g^-p] = x[0] + sum of x[g^q] w^(g^(q - p))`
/// is a cyclic convolution. Its last step is a forward transform as well: that has the results backwards, so that
/// `X[g^p]` is at `p`.
pub struct PrimeLength<T: Number> {
    inner: ComplexLines<T>,
    direction: FftDirection,
    /// The `q` of each `g^q`, those of 1, 2 and so on.
    places: Vec<u32>,
    /// The transform of `w^(g^-q)` over the length.
    factors: Vec<Complex<T>>,
}

/// `a^k` modulo `n`.
fn power(a: usize, mut k: usize, n: usize) -> usize {
    let (mut result, mut square) = (1, a % n);
    while k > 0 {
        if k % 2 == 1 {
            result = result * square % n;
        }
        (square, k) = (square * square % n, k / 2);
    }
    result
}

/// Powers of a generator of the numbers below a prime.
struct Powers {
    /// The `q` of each `g^q`, those of 1, 2 and so on.
    places: Vec<u32>,
    /// `g^-q` for each `q`.
    inverses: Vec<usize>,
}

impl Powers {
    /// Those below `n`, if it is a prime that these transforms are good for.
    fn new(n: usize) -> Option<Self> {
        if n < SHORTEST || n > u32::MAX as usize || (2..).take_while(|d| d * d <= n).any(|d| n.is_multiple_of(d)) {
            return None;
        }
        let mut rest = n - 1;
        for factor in FACTORS {
            while rest.is_multiple_of(factor) {
                rest /= factor;
            }
        }
        if rest > 1 {
            return None;
        }
        let divisors = FACTORS.into_iter().filter(|f| (n - 1).is_multiple_of(*f));
        let generates = |g: &usize| divisors.clone().all(|f| power(*g, (n - 1) / f, n) != 1);
        let generator = (2..n).find(generates)?;
        let (mut places, mut inverses) = (vec![0; n - 1], vec![0; n - 1]);
        let mut last = 1;
        for q in 0..n - 1 {
            places[last - 1] = q as u32;
            inverses[(n - 1 - q) % (n - 1)] = last;
            last = last * generator % n;
        }
        Some(Self { places, inverses })
    }

    /// The transform of `w^(g^-q)` over the length.
    fn factors<T: Number>(&self, direction: FftDirection, inner: &ComplexLines<T>) -> Vec<Complex<T>> {
        let n = self.places.len() + 1;
        let turn = if direction == FftDirection::Forward { -std::f64::consts::TAU } else { std::f64::consts::TAU };
        let root = |k: &usize| {
            let w = Complex::from_polar(1.0 / (n - 1) as f64, turn * *k as f64 / n as f64);
            Complex::new(T::from_f64(w.re).expect("a float"), T::from_f64(w.im).expect("a float"))
        };
        let roots: Vec<_> = self.inverses.iter().map(root).collect();
        let zero = Complex::new(T::zero(), T::zero());
        let (mut factors, mut scratch) = (vec![zero; n - 1], vec![zero; inner.scratch()]);
        inner.run_from(&roots, &mut factors, &mut scratch, T::one());
        factors
    }
}

impl<T: Number> PrimeLength<T> {
    /// The transform of `n` numbers, if `n` is a prime that this is good for.
    pub fn new(n: usize, direction: FftDirection) -> Option<Self> {
        let powers = Powers::new(n)?;
        let inner = ComplexLines::new(n - 1, false);
        let factors = powers.factors(direction, &inner);
        Some(Self { inner, direction, places: powers.places, factors })
    }

    /// Transforms the line `from` to `to`, given two lines of scratch memory and that of the inner transform.
    fn line(&self, from: &[Complex<T>], to: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        let (one, rest) = scratch.split_at_mut(self.places.len());
        let (two, inner) = rest.split_at_mut(self.places.len());
        let first = from[0];
        // What may be far away is read and written in order.
        for (&z, &at) in from[1..].iter().zip(&self.places) {
            one[at as usize] = z;
        }
        self.inner.run_from(one, two, inner, T::one());
        to[0] = first + two[0];
        for (a, factor) in two.iter_mut().zip(&self.factors) {
            *a = *a * factor;
        }
        two[0] = two[0] + first;
        self.inner.run_from(two, one, inner, T::one());
        for (z, &at) in to[1..].iter_mut().zip(&self.places) {
            *z = one[at as usize];
        }
    }
}

impl<T: Number> Length for PrimeLength<T> {
    fn len(&self) -> usize {
        self.places.len() + 1
    }
}

impl<T: Number> Direction for PrimeLength<T> {
    fn fft_direction(&self) -> FftDirection {
        self.direction
    }
}

impl<T: Number> Fft<T> for PrimeLength<T> {
    fn process_with_scratch(&self, buffer: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        let (from, scratch) = scratch.split_at_mut(self.len());
        for line in buffer.chunks_exact_mut(from.len()) {
            from.copy_from_slice(line);
            self.line(from, line, scratch);
        }
    }
    fn process_outofplace_with_scratch(
        &self,
        from: &mut [Complex<T>],
        to: &mut [Complex<T>],
        scratch: &mut [Complex<T>],
    ) {
        self.process_immutable_with_scratch(from, to, scratch);
    }
    fn process_immutable_with_scratch(&self, from: &[Complex<T>], to: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        for (from, to) in from.chunks_exact(self.len()).zip(to.chunks_exact_mut(self.len())) {
            self.line(from, to, scratch);
        }
    }
    fn get_inplace_scratch_len(&self) -> usize {
        self.len() + self.get_immutable_scratch_len()
    }
    fn get_outofplace_scratch_len(&self) -> usize {
        self.get_immutable_scratch_len()
    }
    fn get_immutable_scratch_len(&self) -> usize {
        2 * self.places.len() + self.inner.scratch()
    }
}

/// The transform of a prime number of real numbers to half of its results, and its inverse, by transforms of real
/// numbers.
///
/// Opposite numbers have opposite powers: `g^(q + h) = -g^q` for `h = (n - 1) / 2`. The real part of `w^(g^-q)`
/// therefore has the period `h`, and its transform numbers at even places alone; the imaginary part changes its sign
/// from one `h` to the next, and has those at odd places. So one transform of real numbers convolves with both, and of
/// its product one inverse makes the difference of both parts of the result: turned by `i` at odd places it is that of
/// real numbers. The parts are told from one another by their values `h` further on.
pub struct RealPrime<T: Number> {
    forward: RealLines<T>,
    inverse: HalfLines<T>,
    powers: Powers,
    /// Of `w^(g^-q)`, and at odd places of `i` times that.
    factors: Vec<Complex<T>>,
}

impl<T: Number> RealPrime<T> {
    /// The transform of `n` real numbers, or to them if it is the inverse, if `n` is a prime that this is good for.
    pub fn new(n: usize, direction: FftDirection) -> Option<Self> {
        let powers = Powers::new(n)?;
        let mut factors = powers.factors(direction, &ComplexLines::new(n - 1, false));
        factors.truncate(n.div_ceil(2));
        let half = T::from_f64(0.5).expect("a float");
        for (k, factor) in factors.iter_mut().enumerate() {
            *factor = match (direction, k % 2) {
                // Both parts of a result are half of a sum.
                (FftDirection::Forward, 0) => *factor * half,
                (FftDirection::Forward, _) => Complex::new(-factor.im, factor.re) * half,
                (FftDirection::Inverse, 0) => *factor,
                (FftDirection::Inverse, _) => Complex::new(factor.im, -factor.re),
            };
        }
        let (forward, inverse) = (RealLines::new(n - 1, false, T::one()), HalfLines::new(n - 1, T::one()));
        Some(Self { forward, inverse, powers, factors })
    }

    /// Complex numbers of scratch memory.
    pub fn scratch(&self) -> usize {
        2 * self.factors.len() + self.forward.scratch().max(self.inverse.scratch())
    }

    /// Convolves the real numbers that `fill` writes, in the order of powers, with the factors, adding `first` to all
    /// sums; returns them times `scale`, and what the numbers add up to.
    fn convolve<'s>(
        &self,
        scratch: &'s mut [Complex<T>],
        scale: T,
        first: T,
        fill: impl FnOnce(&mut [T]),
    ) -> (&'s mut [T], T) {
        let m = self.powers.places.len();
        let (line, rest) = scratch.split_at_mut(self.factors.len());
        let (spectrum, rest) = rest.split_at_mut(self.factors.len());
        let line = parts(line, m);
        // SAFETY: `parts` asserts that there are as many numbers; nobody else has them while the scratch is borrowed.
        let line = unsafe { std::slice::from_raw_parts_mut(line, m) };
        fill(line);
        self.forward.run(line, spectrum, rest, T::one());
        let sum = spectrum[0].re;
        for (z, factor) in spectrum.iter_mut().zip(&self.factors) {
            *z = *z * factor;
        }
        spectrum[0].re = spectrum[0].re + first;
        self.inverse.run(spectrum, line, rest, scale);
        (line, sum)
    }

    /// Writes the first `n / 2 + 1` results of `from`, times `scale`.
    pub fn forward(&self, from: &[T], to: &mut [Complex<T>], scratch: &mut [Complex<T>], scale: T) {
        let (m, half) = (self.powers.places.len(), T::from_f64(0.5).expect("a float"));
        let (sums, sum) = self.convolve(scratch, scale, from[0] * half, |line| {
            for (&x, &at) in from[1..].iter().zip(&self.powers.places) {
                line[at as usize] = x;
            }
        });
        to[0] = Complex::new((from[0] + sum) * scale, T::zero());
        for (z, &at) in to[1..=m / 2].iter_mut().zip(&self.powers.places) {
            // The result `g^-p` is at `p`.
            let p = (m - at as usize) % m;
            let (a, b) = (sums[p], sums[if p < m / 2 { p + m / 2 } else { p - m / 2 }]);
            *z = Complex::new(a + b, b - a);
        }
    }

    /// Writes the `n` real numbers of which `from` is the first half of the transform, times `scale`; `first` is in
    /// place of its first number.
    pub fn inverse(&self, first: T, from: &[Complex<T>], to: &mut [T], scratch: &mut [Complex<T>], scale: T) {
        let m = self.powers.places.len();
        let (sums, sum) = self.convolve(scratch, scale, first, |line| {
            for (z, &at) in from[1..].iter().zip(&self.powers.places) {
                let q = at as usize;
                line[q] = z.re - z.im;
                line[if q < m / 2 { q + m / 2 } else { q - m / 2 }] = z.re + z.im;
            }
        });
        to[0] = (first + sum) * scale;
        for (x, &at) in to[1..].iter_mut().zip(&self.powers.places) {
            *x = sums[(m - at as usize) % m];
        }
    }
}

#[cfg(test)]
mod tests {
    use rustfft::FftPlanner;

    use super::*;

    /// In place, and out of place, as rustfft's own.
    #[test]
    fn they_agree_with_the_plans_of_rustfft() {
        assert!(
            [97, 103, 107, 1001, 1024].iter().all(|&n| PrimeLength::<f64>::new(n, FftDirection::Forward).is_none())
        );
        for n in [101, 1009] {
            for direction in [FftDirection::Forward, FftDirection::Inverse] {
                let plan = PrimeLength::<f64>::new(n, direction).expect("a prime");
                let x: Vec<_> = (0..2 * n).map(|i| Complex::new((i as f64).sin(), (3.0 * i as f64).cos())).collect();
                let mut want = x.clone();
                FftPlanner::new().plan_fft(n, direction).process(&mut want);
                let mut got = [x.clone(), x.clone()];
                plan.process(&mut got[0]);
                plan.process_outofplace_with_scratch(
                    &mut x.clone(),
                    &mut got[1],
                    &mut vec![Complex::default(); plan.get_outofplace_scratch_len()],
                );
                for got in got {
                    assert!(got.iter().zip(&want).all(|(a, b)| (a - b).norm() < 1e-11), "{n} {direction:?}");
                }
            }
        }
    }
}
