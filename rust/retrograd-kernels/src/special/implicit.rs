//! How random numbers of the gamma, beta and Dirichlet distributions change with the parameters: implicit derivatives
//! of quantiles, `-(dF/da) / F'` of a distribution function `F` (M. Figurnov, S. Mohamed, A. Mnih, "Implicit
//! reparameterization gradients", NeurIPS 2018). The quotients of `F` and its density are series and continued
//! fractions without the factors that underflow; these are differentiated term by term.

use super::jet::Jet;
use super::polygamma;

/// A value with its derivative by a parameter.
type Dual = Jet<2>;

/// As many terms are always enough for the parameters that get here.
const MOST: usize = 100_000;

/// Whether a term changes neither value nor derivative of a sum.
fn vanishes(term: Dual, sum: Dual) -> bool {
    (0..2).all(|i| term.0[i].abs() <= f64::EPSILON * 0.25 * sum.0[i].abs()) || !term.value().is_finite()
}

/// Whether a factor is 1.
fn settles(factor: Dual) -> bool {
    let ([value, slope], tiny) = (factor.0, 4.0 * f64::EPSILON);
    ((value - 1.0).abs() <= tiny && slope.abs() <= tiny) || !value.is_finite()
}

/// The derivative of a number `x` of the gamma distribution of shape `a` (scale 1) by the shape.
///
/// With `P = x^a e^-x S / Gamma(a)` (DLMF 8.11.4) it is `-x (S (ln x - psi(a)) + S')`; from `x = a + 1` on the same of
/// the complement with its continued fraction (8.9.2). For shapes from 1e7 on the quantile is that of E. B. Wilson and
/// M. M. Hilferty, "The distribution of chi-square" (1931), a cube of a normal number.
pub fn gamma_sample_slope(a: f64, x: f64) -> f64 {
    if x == 0.0 && a > 0.0 {
        return 0.0;
    }
    if !(a > 0.0 && x > 0.0 && a.is_finite() && x.is_finite()) {
        return f64::NAN;
    }
    if a >= 1e7 {
        let y = (x / a).cbrt();
        let z = 3.0 * (y - 1.0 + 1.0 / (9.0 * a)); // over the root of `a`
        return y * y * (y + 3.0 * (1.0 / (9.0 * a) - z / 6.0));
    }
    let shape = Dual::variable(a);
    let rate = x.ln() - polygamma(0, a);
    if x <= a + 1.0 {
        let mut term = Dual::constant(1.0) / shape;
        let mut sum = term;
        for n in 1..MOST {
            term = term.times(x) / shape.plus(n as f64);
            sum = sum + term;
            if vanishes(term, sum) {
                break;
            }
        }
        let [value, slope] = sum.0;
        return -x * (value * rate + slope);
    }
    // Lentz's evaluation: the fraction is 1 / (b_0 + a_1 / (b_1 + ...)).
    let mut b = (-shape).plus(x + 1.0);
    let mut d = Dual::constant(1.0) / b;
    let mut h = d;
    // The first numerator over it is nothing.
    let mut c = Dual::constant(1e300);
    for n in 1..MOST {
        let n = n as f64;
        let numerator = shape.plus(-n).times(n);
        b = b.plus(2.0);
        d = Dual::constant(1.0) / (numerator * d + b);
        c = b + numerator / c;
        let factor = c * d;
        h = h * factor;
        if settles(factor) {
            break;
        }
    }
    let [value, slope] = h.0;
    x * (value * rate + slope)
}

/// The continued fraction of the incomplete beta function, DLMF 8.17.22, for `x < (a + 1) / (a + b + 2)`.
fn beta_fraction(a: Dual, b: Dual, x: f64) -> Dual {
    let one = Dual::constant(1.0);
    let sum = a + b;
    let mut c = one;
    let mut d = one / (one - (sum / a.plus(1.0)).times(x));
    let mut h = d;
    for m in 1..MOST {
        let m = m as f64;
        let (even, after) = (a.plus(2.0 * m), a.plus(2.0 * m + 1.0));
        let numerator = b.plus(-m).times(m * x) / (a.plus(2.0 * m - 1.0) * even);
        d = one / (one + numerator * d);
        c = one + numerator / c;
        h = h * (c * d);
        let numerator = (a.plus(m) * sum.plus(m)).times(-x) / (even * after);
        d = one / (one + numerator * d);
        c = one + numerator / c;
        let factor = c * d;
        h = h * factor;
        if settles(factor) {
            break;
        }
    }
    h
}

/// The derivative of a number `x` of the beta distribution of `alpha` and `total - alpha` by `alpha`, over `1 - x`.
///
/// With `I_x(a, b) = x^a (1 - x)^b F / (a B(a, b))` (DLMF 8.17.22) it is `-x / a (F (ln x - psi(a) + psi(a + b) - 1 /
/// a) + F')`; of the upper tail by `I_x(a, b) = 1 - I_(1-x)(b, a)`.
pub fn dirichlet_sample_slope(x: f64, alpha: f64, total: f64) -> f64 {
    let beta = total - alpha;
    if !(alpha > 0.0 && beta > 0.0 && (0.0..=1.0).contains(&x)) {
        return f64::NAN;
    }
    if x == 0.0 {
        return 0.0;
    }
    let (a, b) = (Dual::variable(alpha), Dual::constant(beta));
    let rate = x.ln() - polygamma(0, alpha) + polygamma(0, total);
    if x < (alpha + 1.0) / (total + 2.0) {
        let [value, slope] = beta_fraction(a, b, x).0;
        -x / alpha * (value * (rate - 1.0 / alpha) + slope)
    } else {
        let [value, slope] = beta_fraction(b, a, 1.0 - x).0;
        x / beta * (value * rate + slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64, of: f64) {
        assert!((got - want).abs() <= 1e-12 * want.abs().max(of), "{got} is not {want}");
    }

    #[test]
    fn shapes_with_formulas() {
        for x in [1e-12f64, 0.01, 0.3, 0.9, 1.0 - 1e-9] {
            // I_x(a, 1) = x^a, and I_x(1, b) = 1 - (1 - x)^b at its upper end.
            for alpha in [0.2, 1.0, 3.0, 40.0] {
                near(dirichlet_sample_slope(x, alpha, alpha + 1.0), -x * x.ln() / alpha / (1.0 - x), 1e-3);
            }
        }
        assert_eq!(dirichlet_sample_slope(0.0, 1.0, 2.0), 0.0);
        assert!(dirichlet_sample_slope(0.5, 2.0, 1.0).is_nan() && gamma_sample_slope(-1.0, 1.0).is_nan());
    }

    // From mpmath, 30 digits: -diff(a -> gammainc(a, 0, x, regularized)) / (x^(a - 1) e^-x / gamma(a)).
    #[test]
    fn gamma_numbers_of_mpmath() {
        for (a, x, want) in GAMMA {
            near(gamma_sample_slope(a, x), want, 0.0);
        }
    }

    #[test]
    fn large_shapes_continue_smaller_ones() {
        for z in [-5.0, -0.3, 0.0, 2.0] {
            let at = |a: f64| gamma_sample_slope(a, a + z * a.sqrt());
            assert!((at(9.9e6) - at(1.01e7)).abs() < 2e-5, "{z}: {} {}", at(9.9e6), at(1.01e7));
        }
    }

    // As above, of betainc, over the density and 1 - x.
    #[test]
    fn beta_numbers_of_mpmath() {
        for (x, alpha, total, want) in BETA {
            near(dirichlet_sample_slope(x, alpha, total), want, 0.0);
        }
    }

    const GAMMA: [(f64, f64, f64); 12] = [
        (0.01, 1e-60, 1.3759422012177406e-56),
        (0.3, 0.2, 1.2120372612897223),
        (0.5, 1e-09, 4.151951165041854e-08),
        (0.9, 3.0, 2.0568583147815342),
        (1.0, 0.7, 0.9732187409923876),
        (2.5, 1.0, 0.6507938596862822),
        (2.5, 12.0, 2.110481520182),
        (7.0, 7.9, 1.0873140368006429),
        (30.0, 22.0, 0.8576622327358906),
        (500.0, 480.0, 0.9800544901961619),
        (500.0, 600.0, 1.0942936595161825),
        (10000.0, 10100.0, 1.0050001660066192),
    ];
    const BETA: [(f64, f64, f64, f64); 10] = [
        (0.001, 0.3, 1.3, 0.02304889982977023),
        (0.4, 0.3, 0.9, 2.630145264040951),
        (0.9, 0.3, 0.7, 5.340799787653166),
        (0.2, 2.0, 7.0, 0.1346839135782649),
        (0.6, 2.0, 7.0, 0.23288957365742027),
        (0.5, 30.0, 60.0, 0.01685308034798428),
        (0.3, 80.0, 300.0, 0.0035449133185131796),
        (1e-06, 1.5, 3.0, 9.063932839059515e-06),
        (0.999, 4.0, 9.0, 0.17682651847080227),
        (0.1, 100.0, 1000.0, 0.001002002256681858),
    ];
}
