//! Products with logarithms.

use super::lanes::blocks;
use crate::math;
use crate::simd::Vector;

/// `x` times `log`, the logarithm of a function of `y`; 0 where `x` is 0 unless `y` is NaN.
#[inline(always)]
fn times_log<V: Vector<Elem = f64>>(x: V, log: V, y: V) -> V {
    let zero = x.of(0.0);
    zero.select(x.eq(zero), x * log).select(y.eq(y), y)
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
}
