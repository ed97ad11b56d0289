//! Orthogonal polynomials. The degree is a float, cut to an integer; of a negative degree they are 0.

use std::mem::MaybeUninit;

use super::lanes::{Block, any, blocks, floor};
use crate::simd::Vector;

/// The Chebyshev polynomials: of the first to the fourth kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chebyshev {
    T,
    U,
    V,
    W,
}

/// Up to which degree a Chebyshev polynomial is computed by a recurrence, exactly for whole numbers; beyond, it is a
/// trigonometric or hyperbolic function.
const LONG: f64 = 128.0;

/// The Chebyshev polynomial of a degree `n`, an integer beyond [`LONG`], at `x` (DLMF 18.5.1 to 18.5.4).
fn long_chebyshev(kind: Chebyshev, x: f64, n: f64) -> f64 {
    if x < 0.0 {
        // At `-x`, where the third and the fourth kind change places.
        let mirrored = match kind {
            Chebyshev::V => Chebyshev::W,
            Chebyshev::W => Chebyshev::V,
            same => same,
        };
        let value = long_chebyshev(mirrored, -x, n);
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

/// `n` cut to an integer.
#[inline(always)]
fn whole<V: Vector<Elem = f64>>(n: V) -> V {
    let a = n.abs();
    floor(a).select(a.lt(n.of(1e15)), a).with_sign_of(n)
}

/// The polynomial of degree `$n` by a recurrence from 1 and `$first`: `$next` is `p[k + 1]` of `k`, `p[k]` and
/// `p[k - 1]`.
macro_rules! recurrence {
    ($n:expr, $first:expr, |$k:ident, $p:ident, $before:ident| $next:expr) => {{
        let (n, mut $p) = ($n, $first);
        let (zero, one) = (n.of(0.0), n.of(1.0));
        let mut $before = one;
        let mut $k = 1.0;
        loop {
            let going_on = n.of($k).lt(n);
            if !any::<V>(going_on) {
                break;
            }
            let next = $next;
            $before = $p;
            $p = next.select(going_on, $p);
            $k += 1.0;
        }
        of_degree(n, $p, zero, one)
    }};
}

/// `p` for degrees from 1 on; of degree 0 the polynomial is 1, of a negative one 0.
#[inline(always)]
fn of_degree<V: Vector<Elem = f64>>(n: V, p: V, zero: V, one: V) -> V {
    p.select(zero.lt(n), one.select(n.eq(zero), zero.select(n.lt(zero), n)))
}

/// The Chebyshev polynomial of degree `n`, an integer up to [`LONG`], at `x`.
#[inline(always)]
fn short_chebyshev<V: Vector<Elem = f64>>(kind: Chebyshev, x: V, n: V) -> V {
    let (zero, one) = (x.of(0.0), x.of(1.0));
    // At `|x|`: an even polynomial, or an odd one, of which the third and the fourth kind change places.
    let a = x.abs();
    let (twice, flipped) = (a + a, x.lt(zero));
    let first = match kind {
        Chebyshev::T => a,
        Chebyshev::U => twice,
        Chebyshev::V => twice + one.select(flipped, -one),
        Chebyshev::W => twice + (-one).select(flipped, one),
    };
    // Near 1 by the differences of successive polynomials, of which no digits cancel there (C. Reinsch's form of
    // Clenshaw's recurrence).
    let (near, slope) = (x.of(0.5).lt(a), twice - x.of(2.0));
    let mut difference = first - one;
    let value = recurrence!(n, first, |k, p, before| {
        difference = slope.fma(p, difference);
        (p + difference).select(near, twice.fma(p, -before))
    });
    let half = n * x.of(0.5);
    let odd = (-one).select(floor(half).lt(half), one);
    value * odd.select(flipped, one)
}

/// The Chebyshev polynomials of one kind, of degrees `n`, at `x`.
#[inline(always)]
fn chebyshev(kind: Chebyshev, short: Block<2>, [x, n]: [&[f64]; 2], shifted: bool, out: &mut [MaybeUninit<f64>]) {
    short([x, n], out);
    for ((&x, &n), out) in x.iter().zip(n).zip(out) {
        if n >= LONG + 1.0 {
            out.write(long_chebyshev(kind, if shifted { x + x - 1.0 } else { x }, n.trunc()));
        }
    }
}

/// Lists Chebyshev polynomials: name, kind, and whether from the interval from 0 to 1.
macro_rules! chebyshev {
    ($($name:ident $kind:ident $shifted:literal;)*) => { $(
        /// The Chebyshev polynomial of this kind, of degree `n`, at `x`.
        pub fn $name(inputs: [&[f64]; 2], out: &mut [MaybeUninit<f64>]) {
            blocks! {
                /// Of degrees up to [`LONG`].
                short[x, n] = {
                    let x = if $shifted { x + x - x.of(1.0) } else { x };
                    short_chebyshev(Chebyshev::$kind, x, whole(n).at_most(n.of(LONG)))
                };
            }
            chebyshev(Chebyshev::$kind, short, inputs, $shifted, out)
        }
    )* };
}
chebyshev! {
    chebyshev_t T false;
    chebyshev_u U false;
    chebyshev_v V false;
    chebyshev_w W false;
    shifted_chebyshev_t T true;
    shifted_chebyshev_u U true;
    shifted_chebyshev_v V true;
    shifted_chebyshev_w W true;
}

/// The greatest degree of Hermite polynomials, beyond which they are NaN, as torch's: they would be infinite.
const HERMITE: f64 = 512.0;

/// `value`, NaN for degrees beyond [`HERMITE`].
#[inline(always)]
fn hermite<V: Vector<Elem = f64>>(value: V, n: V) -> V {
    n.of(f64::NAN).select(n.of(HERMITE).lt(n), value)
}

/// Degrees up to 2^53, to which the recurrences below can count.
#[inline(always)]
fn countable<V: Vector<Elem = f64>>(n: V) -> V {
    n.of(f64::NAN).select(n.of(9e15).lt(n), n)
}

blocks! {
    /// The Hermite polynomial of degree `n` at `x`, the physicists'.
    hermite_h[x, n] = {
        let (n, twice) = (whole(n), x + x);
        hermite(recurrence!(n.at_most(n.of(HERMITE)), twice, |k, p, before| twice * p - x.of(k + k) * before), n)
    };
    /// The Hermite polynomial of degree `n` at `x`, the probabilists'.
    hermite_he[x, n] = {
        let n = whole(n);
        hermite(recurrence!(n.at_most(n.of(HERMITE)), x, |k, p, before| x * p - x.of(k) * before), n)
    };
    /// The Laguerre polynomial of degree `n` at `x`.
    laguerre_l[x, n] = {
        let (n, zero) = (countable(whole(n)), x.of(0.0));
        let value = recurrence!(zero.select(x.eq(zero), n), x.of(1.0) - x, |k, p, before| {
            ((x.of(k + k + 1.0) - x) * p - x.of(k) * before) * x.of(1.0 / (k + 1.0))
        });
        x.of(1.0).select(x.eq(zero), value).select(zero.lt(n), of_degree(n, value, zero, x.of(1.0)))
    };
    /// The Legendre polynomial of degree `n` at `x`.
    legendre_p[x, n] = {
        let (n, at_end) = (whole(n), x.abs().eq(x.of(1.0)));
        let value = recurrence!(x.of(0.0).select(at_end, countable(n)), x, |k, p, before| {
            (x.of(k + k + 1.0) * x * p - x.of(k) * before) * x.of(1.0 / (k + 1.0))
        });
        let half = n * x.of(0.5);
        let end = x.select(floor(half).lt(half), x.of(1.0)).select(at_end, value);
        of_degree(n, end, x.of(0.0), x.of(1.0))
    };
}

#[cfg(test)]
mod tests {
    use super::super::lanes::at;
    use super::*;

    /// The polynomial as functions of a degree and a number.
    fn chebyshev(kind: Chebyshev, x: f64, n: f64) -> f64 {
        let block: Block<2> = match kind {
            Chebyshev::T => chebyshev_t,
            Chebyshev::U => chebyshev_u,
            Chebyshev::V => chebyshev_v,
            Chebyshev::W => chebyshev_w,
        };
        at(block, [x, n])
    }

    #[test]
    fn recurrences_meet_the_trigonometric_forms() {
        for kind in [Chebyshev::T, Chebyshev::U, Chebyshev::V, Chebyshev::W] {
            for x in [-1.1, -1.0, -0.7, -0.1, 0.0, 0.3, 0.99, 1.0, 1.0 + 1e-12, 1.05] {
                // What the recurrence would give one degree on.
                let [before, p, next] = [127.0, 128.0, 129.0].map(|n| chebyshev(kind, x, n));
                let want = 2.0 * x * p - before;
                assert!((next - want).abs() <= 1e-10 * want.abs().max(1.0), "{kind:?} {x}: {next} for {want}");
            }
            assert_eq!([chebyshev(kind, 0.3, -1.0), chebyshev(kind, 0.3, 0.9)], [0.0, 1.0]);
            assert!(chebyshev(kind, f64::NAN, 140.0).is_nan() && chebyshev(kind, 0.3, f64::NAN).is_nan());
        }
        assert_eq!(chebyshev(Chebyshev::W, -1.0, 141.0), -1.0);
        assert_eq!(chebyshev(Chebyshev::V, -1.0, 141.0), -283.0);
    }

    #[test]
    fn low_degrees() {
        let x = 0.3;
        assert_eq!(at(hermite_h, [x, 2.0]), 4.0 * x * x - 2.0);
        assert_eq!(at(hermite_he, [x, 2.0]), x * x - 1.0);
        assert!((at(laguerre_l, [x, 2.0]) - (x * x - 4.0 * x + 2.0) / 2.0).abs() < 1e-15);
        assert!((at(legendre_p, [x, 2.0]) - (3.0 * x * x - 1.0) / 2.0).abs() < 1e-15);
        assert!(
            at(hermite_h, [x, 513.0]).is_nan()
                && at(legendre_p, [-1.0, 1e15]) == 1.0 - 2.0 * f64::from(1e15 % 2.0 == 1.0)
        );
    }
}
