use super::*;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn near(a: C, b: C) -> bool {
    a.sub(b).abs() <= 4e-15 * b.abs().max(1e-300)
}

/// Points in all quadrants and of all sizes, near branch points and far from them.
fn points() -> Vec<C> {
    let sizes = [1e-12, 0.3, 0.999999, 1.0, 1.25, 3.0, 12.0];
    let parts = || sizes.iter().flat_map(|&x| [x, -x]);
    parts().flat_map(|x| parts().map(move |y| C::new(x, y))).collect()
}

#[test]
fn functions_and_their_inverses() {
    for z in points() {
        for (function, inverse) in
            [(sin as fn(C) -> C, asin as fn(C) -> C), (cos, acos), (sinh, asinh), (cosh, acosh), (exp, ln)]
        {
            // The function loses digits of what it is given where it is steep.
            let w = inverse(z);
            let steep = w.abs().max(1.0) * (1.0 + 1.0 / z.abs());
            assert!(function(w).sub(z).abs() <= 4e-15 * steep * z.abs().max(1.0), "{z}: {w}, {}", function(w));
        }
        for (function, inverse) in [(tan as fn(C) -> C, atan as fn(C) -> C), (tanh, atanh)] {
            if z.abs() < 2.0 && z.sub(C::ONE).abs().min(z.abs() - 1.0) > 1e-3 {
                assert!(near(function(inverse(z)), z), "{z}");
            }
        }
        assert!(near(sqrt(z).mul(sqrt(z)), z) && sqrt(z).re >= 0.0, "{z}");
        let digits = ln(z).abs() + 1.0;
        let decimal = exp(log10(z).mul(C::new(LN_10, 0.0)));
        for (w, z) in [(exp2(log2(z)), z), (decimal, z), (pow(z, C::new(3.0, 0.0)), z.mul(z).mul(z))] {
            assert!(w.sub(z).abs() <= 2e-15 * digits * z.abs(), "{z}: {w}");
        }
        assert!(near(expm1(ln_1p(z)), z), "{z}: {}", expm1(ln_1p(z)));
        assert!(near(sigmoid(z).add(sigmoid(z.neg())), C::ONE));
        assert!(near(sign(z).mul(C::new(z.abs(), 0.0)), z));
        assert!(near(log_add_exp(z, z), z.add(C::new(LN_2, 0.0))));
    }
}

#[test]
fn cuts_are_taken_from_the_side_of_the_zero() {
    for zero in [0.0, -0.0f64] {
        let side = 1f64.copysign(zero);
        assert_eq!(ln(C::new(-1.0, zero)), C::new(0.0, PI * side));
        assert_eq!(sqrt(C::new(-4.0, zero)), C::new(0.0, 2.0 * side));
        assert!(asin(C::new(2.0, zero)).im * side > 0.0 && acos(C::new(2.0, zero)).im * side < 0.0);
        assert!(acosh(C::new(-2.0, zero)).im * side > 0.0 && atanh(C::new(2.0, zero)).im * side > 0.0);
        assert!(asinh(C::new(zero, 2.0)).re * side > 0.0 && atan(C::new(zero, 2.0)).re * side > 0.0);
        assert_eq!(sqrt(C::new(0.0, zero)).im.is_sign_negative(), zero.is_sign_negative());
        // Where nothing is cut, the sign of a zero stays.
        for f in [sin, sinh, tan, tanh, asin, asinh, atan, atanh, ln_1p, expm1] {
            assert_eq!(f(C::new(0.25, zero)).im.is_sign_negative(), zero.is_sign_negative());
            assert!(f(C::new(0.0, zero)) == C::ZERO);
        }
    }
}

#[test]
fn infinities_and_nan() {
    assert_eq!(exp(C::new(INF, 0.0)), C::new(INF, 0.0));
    assert_eq!(exp(C::new(-INF, NAN)), C::ZERO);
    assert!(exp(C::new(INF, NAN)).re == INF && exp(C::new(INF, NAN)).im.is_nan());
    // A part is finite though the size is not.
    assert!(exp(C::new(710.0, 1.57)).re.is_finite());
    assert_eq!(tanh(C::new(INF, NAN)), C::ONE);
    assert_eq!(tanh(C::new(-400.0, 1.0)).re, -1.0);
    assert_eq!(sinh(C::new(INF, 0.0)), C::new(INF, 0.0));
    assert!(cosh(C::new(INF, NAN)).re == INF && sinh(C::new(NAN, 0.0)).im == 0.0 && exp2(C::new(INF, 2.0)).re == INF);
    assert!(sinh(C::new(710.0, 1.57)).re.is_finite() && cosh(C::new(-710.0, 1.57)).re.is_finite());
    assert_eq!(asinh(C::new(-INF, INF)), C::new(-INF, PI / 4.0));
    assert_eq!(acos(C::new(INF, 1.0)), C::new(0.0, -INF));
    assert_eq!(acosh(C::new(-INF, 1.0)), C::new(INF, PI));
    assert_eq!(atanh(C::new(1.0, 0.0)), C::new(INF, 0.0));
    assert_eq!(atanh(C::new(INF, -1.0)), C::new(0.0, -FRAC_PI_2));
    assert_eq!(ln(C::new(0.0, 0.0)).re, -INF);
    assert_eq!(ln(C::new(-0.0, 0.0)).im, PI);
    assert_eq!(ln(C::new(INF, NAN)).re, INF);
    assert_eq!(ln(C::new(1e308, 1e308)).re, 1e308f64.ln() + 0.5 * LN_2);
    assert_eq!(sqrt(C::new(1e308, 0.0)), C::new(1e154, 0.0));
    assert_eq!(sqrt(C::new(-1.0, INF)), C::new(INF, INF));
    assert!(sqrt(C::new(NAN, 0.0)).re.is_nan() && exp(C::new(1e300, INF)).re.is_nan());
    assert_eq!(acosh(C::new(0.0, NAN)).im, FRAC_PI_2);
    assert_eq!(pow(C::new(INF, NAN), C::new(1.0, 0.0)).re, INF);
    assert_eq!(pow(C::ZERO, C::new(1.0, 1.0)), C::ZERO);
    assert!(pow(C::ZERO, C::ZERO).re.is_nan() && pow(C::ZERO, C::new(-1.0, 0.0)).re == INF);
    assert_eq!(sigmoid(C::new(-INF, 1.0)), C::ZERO);
    assert_eq!(sigmoid(C::new(-800.0, 1.0)), C::ZERO);
    assert_eq!(sign(C::ZERO), C::ZERO);
    assert_eq!(sinc(C::ZERO), C::ONE);
    assert_eq!(log_add_exp(C::new(-INF, 0.0), C::new(-INF, 0.0)).re, -INF);
    assert_eq!(log_add_exp(C::new(1000.0, 0.0), C::new(-1000.0, 3.0)), C::new(1000.0, 0.0));
}
