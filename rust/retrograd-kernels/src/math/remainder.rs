//! What divisions leave, and their quotients rounded down.
//!
//! The nearest multiple of the divisor leaves an exact number of either sign, since it is at most the divisor and a
//! multiple of the last place of both operands; where it is negative, the divisor less that is exact too.

use super::super::real::Real;
use super::super::simd::{Format, Vector};

/// Between these divisors a product with a quotient below 2^51 is exact as a sum of two, where that is how it is made.
const DIVISORS: [f64; 2] = [1e-270, 1e280];

/// What is left of `a` when `b` is taken away as often as it fits in, with the sign of `a`; exact.
#[inline(always)]
pub fn fmod<V: Vector>(a: V, b: V) -> V {
    let (x, y, zero) = (a.abs(), b.abs(), a.of(0.0));
    let quotient = x / y;
    let near = (-quotient.nearest(a.of(1.0))).fused(y, x);
    let rest = (near + y).select(near.lt(zero), near);
    // Also of an infinite divisor.
    let rest = x.select(x.lt(y), rest).with_sign_of(a);
    // `nearest` is good up to here, and then off by one at most, as the quotient was rounded.
    let is_small = quotient.lt(a.splat(V::Elem::INTEGER) * a.of(0.5));
    let in_range = V::both(a.of(DIVISORS[0]).lt(y), y.lt(a.of(DIVISORS[1])));
    rest.patched(V::both(is_small, in_range), [a, b], |[a, b]| a.rem(b))
}

/// Whether something is left, and its sign is not the divisor's.
#[inline(always)]
fn is_apart<V: Vector>(rest: V, b: V) -> V::Mask {
    let zero = b.of(0.0);
    V::both(zero.lt(rest.abs()), b.of(1.0).with_sign_of(rest.xor(b)).lt(zero))
}

/// What is left of `a` when multiples of `b` are taken away, with the sign of `b`.
#[inline(always)]
pub fn remainder<V: Vector>(a: V, b: V) -> V {
    let rest = fmod(a, b);
    (rest + b).select(is_apart(rest, b), rest)
}

/// `a / b` rounded down, by way of what is left: a quotient that is rounded first may be the next integer.
#[inline(always)]
pub fn floor_quotient<V: Vector>(a: V, b: V) -> V {
    let (zero, half, one) = (a.of(0.0), a.of(0.5), a.of(1.0));
    let rest = fmod(a, b);
    let q = (a - rest) / b;
    let q = (q - one).select(is_apart(rest, b), q);
    // An integer up to rounding.
    let (size, integer) = (q.abs(), q.splat(V::Elem::INTEGER));
    let near = ((size + integer) - integer).with_sign_of(q);
    let down = (near - one).select(q.lt(near), near).select(size.lt(integer), q);
    let whole = (down + one).select(half.lt(q - down), down);
    let quotient = a / b;
    let whole = quotient.and(a.of(-0.0)).select(q.eq(zero), whole);
    quotient.select(b.eq(zero), whole)
}

#[cfg(test)]
mod tests {
    use super::super::super::pointwise::{Body, lanes1_at};
    use super::super::super::real::Arithmetic;
    use super::super::super::simd::InstructionSet;
    use super::*;

    /// One of the functions by one divisor.
    struct By<T, const FUNCTION: u8>(T);
    impl<T: Real, const FUNCTION: u8> Body<T, 1> for By<T, FUNCTION> {
        #[inline(always)]
        fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
            let b = x.splat(self.0);
            match FUNCTION {
                0 => fmod(x, b),
                1 => remainder(x, b),
                _ => floor_quotient(x, b),
            }
        }
    }

    fn check<T: Real + Arithmetic + std::fmt::Debug, const FUNCTION: u8>(xs: &[T], want: fn(T, T) -> T) {
        let is_negative = |x: T| format!("{x:?}").starts_with('-');
        for level in InstructionSet::available() {
            for &b in xs {
                let mut ys = vec![T::ZERO; xs.len()];
                // SAFETY: (1) both have the elements; (2, 3) the output is fresh and contiguous.
                unsafe {
                    lanes1_at(level, &By::<T, FUNCTION>(b), &[xs.len()], xs.as_ptr(), &[1], ys.as_mut_ptr(), &[1]);
                }
                for (&a, &y) in xs.iter().zip(&ys) {
                    let want = want(a, b);
                    let alike = y == want && is_negative(y) == is_negative(want) || y.is_nan() && want.is_nan();
                    assert!(alike, "{} {FUNCTION}: {a:?} by {b:?} is {y:?}, not {want:?}", level.name());
                }
            }
        }
    }

    /// Numbers of all sizes, their neighbours and multiples; an odd number of them.
    fn numbers(ends: &[f64]) -> Vec<f64> {
        let mut xs = vec![0.0, 1.0, 0.3, 0.5, 3.0, 7.0, 4194303.5, 8388607.0, 16777216.0, 4503599627370497.0];
        xs.extend_from_slice(ends);
        xs.extend((1..60).map(|i| f64::from(i) * 0.1));
        xs.extend((1..60).map(|i| (f64::from(i) * 1.7).sin() * 10f64.powi(i % 13 - 6)));
        xs.extend([f64::INFINITY, f64::NAN]);
        xs.iter().flat_map(|&x| [x, -x]).chain([2.5]).collect()
    }

    #[test]
    fn exact_at_every_level() {
        let single = [1e-45, 1.2e-38, 3e-41, 3.4e38, 2.9e38, 1e20];
        let single: Vec<f32> = numbers(&single).into_iter().map(|x| x as f32).collect();
        check::<f32, 0>(&single, f32::trunc_rem);
        check::<f32, 1>(&single, f32::floor_rem);
        check::<f32, 2>(&single, f32::floor_div);
        let double = [5e-324, 1e-310, 2.3e-308, 1e-271, 1e-269, 9e279, 1.1e280, 1e300, 1.79e308, 1e20];
        let double = numbers(&double);
        check::<f64, 0>(&double, f64::trunc_rem);
        check::<f64, 1>(&double, f64::floor_rem);
        check::<f64, 2>(&double, f64::floor_div);
    }
}
