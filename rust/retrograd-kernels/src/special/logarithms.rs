//! Products with logarithms, and sums in logarithms.

use std::f64::consts::LOG2_E;

use super::lanes::blocks;
use crate::math;
use crate::simd::Vector;

/// `x` times `log`, the logarithm of a function of `y`; 0 where `x` is 0 unless `y` is NaN.
#[inline(always)]
fn times_log<V: Vector<Elem = f64>>(x: V, log: V, y: V) -> V {
    let zero = x.of(0.0);
    zero.select(x.eq(zero), x * log).select(y.eq(y), y)
}

/// The larger number, and the distance to the other one; 0 of equal numbers, infinite ones too.
#[inline(always)]
fn larger<V: Vector<Elem = f64>>(a: V, b: V) -> (V, V) {
    (a.at_least(b), a.of(0.0).select(a.eq(b), (a - b).abs()))
}

blocks! {
    /// `-x log x`, continued by 0 at 0 and by minus infinity below.
    entropy[x] = {
        let zero = x.of(0.0);
        let ends = zero.select(x.eq(zero), x.of(f64::NEG_INFINITY).select(x.lt(zero), x));
        (-x * math::log(x)).select(zero.lt(x), ends)
    };
    /// `x log(y)`, 0 where `x` is 0 unless `y` is NaN.
    x_log_y[x, y] = times_log(x, math::log(y), y);
    /// `x log(1 + y)`, 0 where `x` is 0 unless `y` is NaN.
    x_log1p_y[x, y] = times_log(x, math::log1p(y), y);
    /// `log(exp(a) + exp(b))` without overflow.
    log_add_exp[a, b] = {
        let (most, distance) = larger(a, b);
        most + math::log1p(math::exp(-distance))
    };
    /// `log2(2^a + 2^b)` without overflow.
    log_add_exp2[a, b] = {
        let (most, distance) = larger(a, b);
        math::log1p(math::exp2(-distance)).fma(a.of(LOG2_E), most)
    };
}
