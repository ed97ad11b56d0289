//! Elementary functions over vectors: one source for float32 and float64 and for every instruction set.
//!
//! Each function states its error bound in units in the last place of the result (ULP), float32 / float64, which hold
//! for every argument and instruction set; the tests measure them, and `docs/accuracy.md` lists them. Zeros,
//! infinities, NaN and subnormals give what the C library gives. A lane's result depends on that lane alone, so it is
//! the same at every position of a tensor.
//!
//! All have the same structure: reduce the argument exactly enough (W. J. Cody and W. Waite, "Software Manual for the
//! Elementary Functions", 1980), evaluate a polynomial, combine the result so that what is rounded is small. The
//! polynomials, most of them in `tables`, are minimax fits by Remez' exchange, made for these reductions.

mod erf;
mod exp;
mod hypot;
mod inverse;
mod log;
mod normal;
mod remainder;
mod tables;
#[cfg(test)]
mod tests;
mod trigonometry;

pub use erf::{erf, erf_below_1, erfc, erfinv};
pub use exp::{cosh, exp, exp2, expm1, sigmoid, sinh, tanh};
pub use hypot::hypot;
pub use inverse::{acos, asin, atan, atan2};
pub use log::{acosh, asinh, atanh, log, log_in_two, log1p, log2, log10, logit};
pub use normal::normal_cdf;
pub use remainder::{floor_quotient, fmod, remainder};
pub use tables::Tables;
pub use trigonometry::{cos, sin, tan};

use super::simd::Vector;

/// The polynomial with these coefficients, the constant one first, each term added to those of higher powers.
#[inline(always)]
fn polynomial<V: Vector>(x: V, coefficients: &[V::Elem]) -> V {
    every(1, x, coefficients, 0)
}

/// As [`polynomial`], of many coefficients by even and odd powers: a term waits for the one before it, and a core that
/// has no instructions left to choose from meanwhile takes longer. The last digits are others.
#[inline(always)]
fn polynomial_in_two<V: Vector>(x: V, coefficients: &[V::Elem]) -> V {
    if coefficients.len() < MANY {
        return polynomial(x, coefficients);
    }
    let square = x * x;
    every(2, square, coefficients, 1).fma(x, every(2, square, coefficients, 0))
}

/// So many coefficients are worth a square.
const MANY: usize = 8;

/// The polynomial with every `step`-th coefficient from `first` on.
#[inline(always)]
fn every<V: Vector>(step: usize, x: V, coefficients: &[V::Elem], first: usize) -> V {
    let mut i = coefficients.len() - 1;
    i -= (i - first) % step;
    let mut sum = x.splat(coefficients[i]);
    while i > first {
        i -= step;
        sum = sum.fma(x, x.splat(coefficients[i]));
    }
    sum
}
