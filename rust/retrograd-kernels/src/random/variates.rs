//! Single draws, in double precision, of what has more than a formula of one uniform number. Each consumes the uniform
//! and normal numbers that torch's CPU generator consumes, so the same seed gives the same numbers.

use std::f64::consts::PI;

use super::fill::{one_normal, unit_f64};
use super::mt19937::Mt19937;

/// A uniform number in [0, 1).
fn uniform(generator: &mut Mt19937) -> f64 {
    unit_f64(generator.random64())
}

/// Where the parameters of a distribution are float32: numbers rounded to it, as its arithmetic rounds them. (Sums,
/// products, quotients and roots of doubles that are rounded to float32 are those of float32 arithmetic.)
pub trait Precision: Copy {
    /// The number as the type has it.
    fn rounded(x: f64) -> f64;
    /// `ln(1 + x)` as the type has it.
    fn ln_1p(x: f64) -> f64;
}

impl Precision for f64 {
    fn rounded(x: f64) -> f64 {
        x
    }
    fn ln_1p(x: f64) -> f64 {
        x.ln_1p()
    }
}

impl Precision for f32 {
    fn rounded(x: f64) -> f64 {
        f64::from(x as f32)
    }
    fn ln_1p(x: f64) -> f64 {
        f64::from((x as f32).ln_1p())
    }
}

/// A number of Cauchy's distribution, by the inverse of its distribution function.
pub fn cauchy(generator: &mut Mt19937, median: f64, sigma: f64) -> f64 {
    median + sigma * (PI * (uniform(generator) - 0.5)).tan()
}

/// How many trials of chance `p` it takes to succeed, by the inverse of the distribution function.
pub fn geometric(generator: &mut Mt19937, p: f64) -> f64 {
    (uniform(generator).ln() / (-p).ln_1p()).ceil()
}

/// The exponential of a normal number.
pub fn log_normal(generator: &mut Mt19937, mean: f64, std: f64) -> f64 {
    one_normal(generator, mean, std).exp()
}

/// A count of Poisson's distribution, whose `rate` is not negative.
///
/// From a rate of 10 on by transformed rejection: W. Hoermann, "The transformed rejection method for generating Poisson
/// random variables", Insurance: Mathematics and Economics 12 (1993), algorithm PTRS. Below, the factors that keep a
/// product of uniform numbers above `exp(-rate)` are counted (Knuth).
pub fn poisson(generator: &mut Mt19937, rate: f64) -> f64 {
    if rate == 0.0 {
        return 0.0;
    }
    if rate < 10.0 {
        let least = (-rate).exp();
        let (mut count, mut product) = (0.0, uniform(generator));
        while product > least {
            count += 1.0;
            product *= uniform(generator);
        }
        return count;
    }
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let inside = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = uniform(generator) - 0.5;
        let v = uniform(generator);
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + rate + 0.43).floor();
        if us >= 0.07 && v <= inside {
            return k;
        }
        if k < 0.0 || (us < 0.013 && v > us) {
            continue;
        }
        let odds = v.ln() + inverse_alpha.ln() - (a / (us * us) + b).ln();
        if odds <= -rate + k * rate.ln() - libm::lgamma(k + 1.0) {
            return k;
        }
    }
}

/// How many of `count` trials of chance `p` succeed; NaN if either is.
///
/// By inversion where fewer than 10 successes are expected (sums of geometric numbers; L. Devroye, "Non-uniform random
/// variate generation" (1986), section X.4.3), else by transformed rejection: W. Hoermann, "The generation of binomial
/// random variates", Journal of Statistical Computation and Simulation 46 (1993), algorithm BTRS.
pub fn binomial<T: Precision>(generator: &mut Mt19937, count: f64, p: f64) -> f64 {
    if count.is_nan() || p.is_nan() {
        return f64::NAN;
    }
    if count <= 0.0 || p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return count;
    }
    let few = |generator: &mut Mt19937, p: f64| {
        if T::rounded(count * p) >= 10.0 {
            by_rejection::<T>(generator, count, p)
        } else {
            by_inversion::<T>(generator, count, p)
        }
    };
    if p <= 0.5 { few(generator, p) } else { count - few(generator, T::rounded(1.0 - p)) }
}

fn by_inversion<T: Precision>(generator: &mut Mt19937, count: f64, p: f64) -> f64 {
    let scale = T::ln_1p(-p);
    let (mut trials, mut successes) = (0.0, 0.0);
    loop {
        trials += (uniform(generator).ln() / scale).ceil();
        if trials > count {
            return successes;
        }
        successes = T::rounded(successes + 1.0);
    }
}

fn by_rejection<T: Precision>(generator: &mut Mt19937, count: f64, p: f64) -> f64 {
    let r = T::rounded;
    let mean = r(count * p);
    let deviation = r(r(mean * r(1.0 - p)).sqrt());
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let center = mean + 0.5;
    let inside = 0.92 - 4.2 / b;
    let odds = r(p / r(1.0 - p));
    let alpha = (2.83 + 5.1 / b) * deviation;
    let mode = r(r(count + 1.0) * p).floor();
    loop {
        let u = uniform(generator) - 0.5;
        let v = uniform(generator);
        let us = 0.5 - u.abs();
        let k = r(((2.0 * a / us + b) * u + center).floor());
        if k < 0.0 || k > count {
            continue;
        }
        if us >= 0.07 && v <= inside {
            return k;
        }
        let rest = count - mode;
        let others = r(r(count - k) + 1.0);
        let bound = (mode + 0.5) * ((mode + 1.0) / (odds * (rest + 1.0))).ln()
            + r(count + 1.0) * ((rest + 1.0) / others).ln()
            + (k + 0.5) * (odds * others / r(k + 1.0)).ln()
            + stirling_tail(mode)
            + stirling_tail(rest)
            - stirling_tail(k)
            - stirling_tail(r(count - k));
        if (v * alpha / (a / (us * us) + b)).ln() <= bound {
            return k;
        }
    }
}

/// `ln k! - (ln(2 pi) / 2 + (k + 1/2) ln(k + 1) - (k + 1))`: what Stirling's formula for `(k + 1)!` lacks.
fn stirling_tail(k: f64) -> f64 {
    const FIRST: [f64; 10] = [
        0.0810614667953272,
        0.0413406959554092,
        0.0276779256849983,
        0.02079067210376509,
        0.0166446911898211,
        0.0138761288230707,
        0.0118967099458917,
        0.0104112652619720,
        0.00925546218271273,
        0.00833056343336287,
    ];
    // Negative numbers do not arise; the conversion makes 0 of them.
    if let Some(&tail) = FIRST.get(k as usize) {
        return tail;
    }
    let square = (k + 1.0) * (k + 1.0);
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)
}

/// A number of the gamma distribution of shape `alpha` and scale 1: 0 for the shape 0, NaN for negative shapes.
///
/// G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000); a shape below 1
/// is raised by 1, as there in section 6.
pub fn gamma<T: Precision>(generator: &mut Mt19937, alpha: f64) -> f64 {
    // Constants of single precision, as torch has them.
    const THIRD: f64 = (1.0_f32 / 3.0) as f64;
    const SQUEEZE: f64 = 0.0331_f32 as f64;
    let (mut alpha, mut scale) = (alpha, 1.0);
    if alpha < 1.0 {
        if alpha == 0.0 {
            return 0.0;
        }
        scale = (1.0 - uniform(generator)).powf(T::rounded(1.0 / alpha));
        alpha = T::rounded(alpha + 1.0);
    }
    let d = T::rounded(alpha - THIRD);
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let (x, y) = loop {
            let x = one_normal(generator, 0.0, 1.0);
            let y = 1.0 + c * x;
            // Negative shapes give NaN, and nothing else.
            if y > 0.0 || y.is_nan() {
                break (x, y);
            }
        };
        let v = y * y * y;
        let u = 1.0 - uniform(generator);
        let square = x * x;
        if u < 1.0 - SQUEEZE * square * square || u.ln() < 0.5 * square + d * (1.0 - v + v.ln()) {
            return scale * d * v;
        }
    }
}
