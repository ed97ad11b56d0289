//! Orthogonal polynomials. The degree is a float, cut to an integer; of a negative degree they are 0.

/// The Chebyshev polynomials: of the first to the fourth kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chebyshev {
    T,
    U,
    V,
    W,
}

/// From which degree on a Chebyshev polynomial is a trigonometric or hyperbolic function: before, a recurrence is
/// faster, and exact for whole numbers.
const LONG: f64 = 32.0;

/// `n` cut to an integer; `f64::trunc` would be a call.
fn whole(n: f64) -> f64 {
    if n.abs() < 9e15 { n as i64 as f64 } else { n }
}

/// The Chebyshev polynomial of degree `n` at `x` (DLMF 18.5.1 to 18.5.4).
pub fn chebyshev(kind: Chebyshev, x: f64, n: f64) -> f64 {
    let n = whole(n);
    if n <= LONG {
        let first = match kind {
            Chebyshev::T => x,
            Chebyshev::U => x + x,
            Chebyshev::V => x + x - 1.0,
            Chebyshev::W => x + x + 1.0,
        };
        return recurrence(n, first, |_, p, before| 2.0 * x * p - before);
    }
    if x < 0.0 {
        // At `-x`, where the third and the fourth kind change places.
        let mirrored = match kind {
            Chebyshev::V => Chebyshev::W,
            Chebyshev::W => Chebyshev::V,
            same => same,
        };
        let value = chebyshev(mirrored, -x, n);
        return if n % 2.0 == 0.0 { value } else { -value };
    }
    let at_one = match kind {
        Chebyshev::T | Chebyshev::V => 1.0,
        Chebyshev::U => n + 1.0,
        Chebyshev::W => 2.0 * n + 1.0,
    };
    if x == 1.0 {
        return at_one;
    }
    if x < 1.0 {
        let angle = x.acos();
        return match kind {
            Chebyshev::T => (n * angle).cos(),
            Chebyshev::U => ((n + 1.0) * angle).sin() / angle.sin(),
            Chebyshev::V => ((n + 0.5) * angle).cos() / (0.5 * angle).cos(),
            Chebyshev::W => ((n + 0.5) * angle).sin() / (0.5 * angle).sin(),
        };
    }
    // The inverse hyperbolic cosine, without the logarithm of a number near 1.
    let above = x - 1.0;
    let angle = (above + (above * (x + 1.0)).sqrt()).ln_1p();
    match kind {
        Chebyshev::T => (n * angle).cosh(),
        Chebyshev::U => ((n + 1.0) * angle).sinh() / angle.sinh(),
        Chebyshev::V => ((n + 0.5) * angle).cosh() / (0.5 * angle).cosh(),
        Chebyshev::W => ((n + 0.5) * angle).sinh() / (0.5 * angle).sinh(),
    }
}

/// The polynomial of degree `n` by a recurrence from 1 and `first`: `next(k, p[k], p[k - 1])` is `p[k + 1]`.
#[inline(always)]
fn recurrence(n: f64, first: f64, next: impl Fn(f64, f64, f64) -> f64) -> f64 {
    if n.is_nan() {
        return f64::NAN;
    }
    if n < 0.0 {
        return 0.0;
    }
    if n == 0.0 {
        return 1.0;
    }
    let (mut p, mut before, mut k) = (first, 1.0, 1.0);
    while k < n {
        (p, before) = (next(k, p, before), p);
        k += 1.0;
    }
    p
}

/// The greatest degree of Hermite polynomials, beyond which they are NaN, as torch's: they would be infinite.
const HERMITE: f64 = 512.0;

/// The Hermite polynomial of degree `n` at `x`, the physicists'.
pub fn hermite_h(x: f64, n: f64) -> f64 {
    let n = whole(n);
    if n > HERMITE { f64::NAN } else { recurrence(n, x + x, |k, p, before| (x + x) * p - (k + k) * before) }
}

/// The Hermite polynomial of degree `n` at `x`, the probabilists'.
pub fn hermite_he(x: f64, n: f64) -> f64 {
    let n = whole(n);
    if n > HERMITE { f64::NAN } else { recurrence(n, x, |k, p, before| x * p - k * before) }
}

/// The Laguerre polynomial of degree `n` at `x`.
pub fn laguerre_l(x: f64, n: f64) -> f64 {
    if x == 0.0 && n > -1.0 {
        return 1.0;
    }
    recurrence(whole(n), 1.0 - x, |k, p, before| ((k + k + 1.0 - x) * p - k * before) * (1.0 / (k + 1.0)))
}

/// The Legendre polynomial of degree `n` at `x`.
pub fn legendre_p(x: f64, n: f64) -> f64 {
    let n = whole(n);
    if x.abs() == 1.0 && n >= 0.0 {
        return if x > 0.0 || n % 2.0 == 0.0 { 1.0 } else { -1.0 };
    }
    recurrence(n, x, |k, p, before| ((k + k + 1.0) * x * p - k * before) * (1.0 / (k + 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recurrences_meet_the_trigonometric_forms() {
        for kind in [Chebyshev::T, Chebyshev::U, Chebyshev::V, Chebyshev::W] {
            for x in [-1.1, -1.0, -0.7, -0.1, 0.0, 0.3, 0.99, 1.0, 1.0 + 1e-12, 1.05] {
                // What the recurrence would give one degree on.
                let [before, p, next] = [31.0, 32.0, 33.0].map(|n| chebyshev(kind, x, n));
                let want = 2.0 * x * p - before;
                assert!((next - want).abs() <= 1e-11 * want.abs().max(1.0), "{kind:?} {x}: {next} for {want}");
            }
            assert_eq!([chebyshev(kind, 0.3, -1.0), chebyshev(kind, 0.3, 0.9)], [0.0, 1.0]);
            assert!(chebyshev(kind, f64::NAN, 40.0).is_nan() && chebyshev(kind, 0.3, f64::NAN).is_nan());
        }
        assert_eq!(chebyshev(Chebyshev::W, -1.0, 41.0), -1.0);
        assert_eq!(chebyshev(Chebyshev::V, -1.0, 41.0), -83.0);
    }

    #[test]
    fn low_degrees() {
        let x = 0.3;
        assert_eq!(hermite_h(x, 2.0), 4.0 * x * x - 2.0);
        assert_eq!(hermite_he(x, 2.0), x * x - 1.0);
        assert!((laguerre_l(x, 2.0) - (x * x - 4.0 * x + 2.0) / 2.0).abs() < 1e-15);
        assert!((legendre_p(x, 2.0) - (3.0 * x * x - 1.0) / 2.0).abs() < 1e-15);
        assert!(hermite_h(x, 513.0).is_nan() && legendre_p(-1.0, 1e15) == 1.0 - 2.0 * f64::from(1e15 % 2.0 == 1.0));
    }
}
