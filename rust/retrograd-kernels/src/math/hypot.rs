//! Lengths.

use super::super::simd::Vector;
use super::Tables;

/// `sqrt(a^2 + b^2)`, without overflow or underflow on the way; infinite if either is, also beside NaN. ULP: 1 / 1.5.
#[inline(always)]
pub fn hypot<V: Vector>(a: V, b: V) -> V {
    let (a, b) = (a.abs(), b.abs());
    let (one, infinity) = (a.of(1.0), a.of(f64::INFINITY));
    let (most, least) = (a.at_least(b), a.at_most(b));
    // By powers of two, which lose nothing: the squares of all that is scaled are normal numbers.
    let [small, large, up, down] = V::Elem::SQUARED.map(|x| a.splat(x));
    let (is_small, is_large) = (most.lt(small), large.lt(most));
    let scale = up.select(is_small, down.select(is_large, one));
    let (x, y) = (most * scale, least * scale);
    let length = x.fused(x, y * y).sqrt() * down.select(is_small, up.select(is_large, one));
    let length = length.select(b.eq(b), b);
    infinity.select(a.eq(infinity), infinity.select(b.eq(infinity), length))
}

#[cfg(test)]
mod tests {
    use super::super::super::pointwise::{Body, lanes1_at};
    use super::super::super::real::Real;
    use super::super::super::simd::InstructionSet;
    use super::*;

    /// Beside one number.
    struct Beside<T>(T);
    impl<T: Real> Body<T, 1> for Beside<T> {
        #[inline(always)]
        fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
            hypot(x, x.splat(self.0))
        }
    }

    fn beside<T: Real>(level: InstructionSet, xs: &[T], b: T) -> Vec<T> {
        let mut ys = vec![T::ZERO; xs.len()];
        // SAFETY: (1) both have the elements; (2, 3) the output is fresh and contiguous.
        unsafe { lanes1_at(level, &Beside(b), &[xs.len()], xs.as_ptr(), &[1], ys.as_mut_ptr(), &[1]) };
        ys
    }

    #[test]
    fn lengths() {
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        let sizes = [0.0, 5e-324, 1e-310, 1e-200, 0.3, 1.0, 4.0, 1e200, 1.7e308, infinity];
        let double: Vec<f64> = sizes.into_iter().flat_map(|a| [a, -a, 3.0 * a]).collect();
        let sizes = [0.0, 1e-45, 3e-39, 1e-30, 1e-15, 1e-8, 0.3, 1.0, 7.7, 1e8, 1e15, 1.2e19, 3e38, f32::INFINITY];
        let mut single: Vec<f32> = sizes.into_iter().flat_map(|a| [a, -a, 3.0 * a]).collect();
        single.extend((0..300).map(|i| (i as f32 * 0.731).sin() * 10f32.powi(i % 15 - 7)));
        for level in InstructionSet::available() {
            for &b in &double {
                for (&a, got) in double.iter().zip(beside(level, &double, b)) {
                    let want = libm::hypot(a, b);
                    let near = got == want || (got - want).abs() <= 2.0 * f64::EPSILON * want;
                    assert!(near, "{a} {b}: {got}, not {want}");
                }
            }
            for &b in &single {
                for (&a, got) in single.iter().zip(beside(level, &single, b)) {
                    let want = libm::hypot(a.into(), b.into());
                    let place = f64::from(f32::from_bits(((want as f32).to_bits() & 0x7f80_0000).max(1)))
                        * if want as f32 >= f32::MIN_POSITIVE { 2f64.powi(-23) } else { 1.0 };
                    let place = place.max(2f64.powi(-149));
                    let near = f64::from(got) == want || (f64::from(got) - want).abs() <= place || got == want as f32;
                    assert!(near, "{a} {b}: {got}, not {want}");
                }
            }
            assert!(beside(level, &[nan, -nan], f64::NEG_INFINITY).iter().all(|&y| y == infinity));
            assert!(beside(level, &[infinity, -infinity], nan).iter().all(|&y| y == infinity));
            assert!(
                beside(level, &[1.0, nan], nan).iter().all(|y| y.is_nan()) && beside(level, &[nan], 1.0)[0].is_nan()
            );
        }
    }
}
