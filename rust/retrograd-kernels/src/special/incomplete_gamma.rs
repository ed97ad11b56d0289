//! The regularised incomplete gamma functions `P(a, x)` and `Q(a, x) = 1 - P(a, x)`, and their derivatives by `a`.
//!
//! The functions are written once, over [`Jet`]: the derivatives are those of the series, the continued fraction and
//! the uniform expansion, term by term. Formulas are numbered as in DLMF, chapter 8.

use std::f64::consts::PI;
use std::mem::MaybeUninit;

use super::gamma::{STIRLING, log_gamma_above, polynomial};
use super::jet::Jet;
use super::lanes::{Block, any, blocks, either};
use super::normal::erfc_of;
use crate::math;
use crate::simd::Vector;

/// What ends sums.
const EPSILON: f64 = 5e-17;
/// As many terms are always enough.
const MOST: usize = 4000;

/// Which of the two functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// `P`, the integral from 0 to `x`.
    Lower,
    /// `Q`, the integral from `x` on.
    Upper,
}

/// The derivative by `a`, of order 1 or 2.
pub fn incomplete_gamma_by_a(which: Incomplete, order: u8, a: f64, x: f64) -> f64 {
    if order == 1 { of(which, Jet::<2>::variable(a), x).0[1] } else { 2.0 * of(which, Jet::<3>::variable(a), x).0[2] }
}

/// What computes the function, and which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// `P` by its power series.
    Series,
    /// `Q` by its continued fraction.
    Fraction,
    /// `Q` for small arguments.
    NearZero,
    /// Both by Temme's expansion.
    Uniform,
}

impl Method {
    /// The method for positive finite arguments: that of the smaller one of the functions.
    #[inline(always)]
    fn of(a: f64, x: f64) -> Self {
        if a >= LARGE && (x - a).abs() < 0.3 * a {
            return Self::Uniform;
        }
        let lower_is_small = if x > 1.1 {
            x < a
        } else if x > 0.5 {
            1.1 * x < a
        } else {
            -0.4 / x.ln() < a
        };
        if lower_is_small {
            Self::Series
        } else if x <= 1.1 {
            Self::NearZero
        } else {
            Self::Fraction
        }
    }
}

/// The function; NaN where an argument is negative, and where both are 0 or both infinite.
fn of<const N: usize>(which: Incomplete, variable: Jet<N>, x: f64) -> Jet<N> {
    let a = variable.value();
    let lower = which == Incomplete::Lower;
    let constant = |p: f64| Jet::constant(if lower { p } else { 1.0 - p });
    if !(a >= 0.0 && x >= 0.0) || (a == 0.0 && x == 0.0) || (a.is_infinite() && x.is_infinite()) {
        return Jet([f64::NAN; N]);
    }
    if x == 0.0 || a.is_infinite() {
        return constant(0.0);
    }
    if x.is_infinite() {
        return constant(1.0);
    }
    if a == 0.0 {
        // 1 for every `x`; the derivatives are those from above.
        let q = Jet(std::array::from_fn(|i| if i == 0 { 0.0 } else { upper_near_zero(variable, x).0[i] }));
        return if lower { complement(q) } else { q };
    }
    let (value, is_lower) = match Method::of(a, x) {
        Method::Uniform => (uniform(variable, x, lower), lower),
        Method::Series => (series(variable, x), true),
        Method::NearZero => (upper_near_zero(variable, x), false),
        Method::Fraction => (continued_fraction(variable, x), false),
    };
    if is_lower == lower { value } else { complement(value) }
}

fn complement<const N: usize>(p: Jet<N>) -> Jet<N> {
    (-p).plus(1.0)
}

/// Whether a term changes nothing in the sum.
fn negligible<const N: usize>(term: Jet<N>, sum: Jet<N>) -> bool {
    (0..N).all(|i| term.0[i].abs() <= EPSILON * (sum.0[0].abs() + sum.0[i].abs()))
}

/// `P` by its power series, 8.11.4.
fn series<const N: usize>(a: Jet<N>, x: f64) -> Jet<N> {
    let (mut term, mut sum, mut below) = (Jet::constant(1.0), Jet::constant(1.0), a);
    for _ in 0..MOST {
        below = below.plus(1.0);
        // The quotient does not wait for the term.
        term = term * (Jet::constant(x) / below);
        sum = sum + term;
        if negligible(term, sum) {
            break;
        }
    }
    density(a, x) * sum
}

/// `Q` by its continued fraction, 8.9.2, evaluated as Lentz does.
fn continued_fraction<const N: usize>(a: Jet<N>, x: f64) -> Jet<N> {
    let one = Jet::constant(1.0);
    let mut b = (-a).plus(x + 1.0);
    let (mut c, mut d) = (Jet::constant(1e300), one / b);
    let mut h = d;
    for i in 1..MOST {
        let k = i as f64;
        let an = a.plus(-k).times(k);
        b = b.plus(2.0);
        d = one / (an * d + b);
        c = if i == 1 { b } else { b + an / c };
        let factor = c * d;
        h = h * factor;
        if negligible(factor.plus(-1.0), one.times(8.0)) {
            break;
        }
    }
    density(a, x) * a * h
}

/// `Q` for small `x` and `a` by 8.7.1, whose first term is taken off the 1 without cancellation.
fn upper_near_zero<const N: usize>(a: Jet<N>, x: f64) -> Jet<N> {
    let (mut power, mut sum) = (1.0, Jet::constant(0.0));
    for k in 1..MOST {
        power *= -x / k as f64;
        let term = Jet::constant(power) / a.plus(k as f64);
        sum = sum + term;
        if negligible(term, sum) {
            break;
        }
    }
    let log = a.times(x.ln()) - ln_gamma_1p(a);
    // x^a / Gamma(a) = a x^a / Gamma(a + 1).
    -log.exp_m1() - log.exp() * a * sum
}

/// `x^a exp(-x) / Gamma(a + 1)`.
fn density<const N: usize>(a: Jet<N>, x: f64) -> Jet<N> {
    if a.value() < 10.0 {
        return (a.times(x.ln()) - ln_gamma_1p(a)).plus(-x).exp();
    }
    // By Stirling's formula with `a (mu - ln(1 + mu))`, where everything large has cancelled.
    let mu = (-a).plus(x) / a;
    let distance = if mu.value().abs() < 0.5 { mu * mu * excess(mu) } else { mu - (Jet::constant(x) / a).ln() };
    (-(a * distance) - stirling(a)).exp() / a.times(2.0 * PI).sqrt()
}

/// `(mu - ln(1 + mu)) / mu^2`, smooth at 0: by the series of `ln(1 + mu) = 2 artanh(mu / (2 + mu))`.
fn excess<const N: usize>(mu: Jet<N>) -> Jet<N> {
    let half = Jet::constant(1.0) / mu.plus(2.0);
    let s = mu * half;
    let square = s * s;
    let mut sum = Jet::constant(0.0);
    for k in (1..18).rev() {
        sum = (sum * square).plus(1.0 / (2.0 * k as f64 + 1.0));
    }
    half - (s * half * half * sum).times(2.0)
}

/// `ln Gamma(a + 1) - (a ln a - a + ln(2 pi a) / 2)`, for `a` from 10 on (5.11.1).
fn stirling<const N: usize>(a: Jet<N>) -> Jet<N> {
    let inverse = Jet::constant(1.0) / a;
    let square = inverse * inverse;
    STIRLING.iter().rev().fold(Jet::constant(0.0), |sum, c| (sum * square).plus(*c)) * inverse
}

/// `ln Gamma(a + 1)`, with all digits where `a` is small.
fn ln_gamma_1p<const N: usize>(a: Jet<N>) -> Jet<N> {
    if a.value().abs() > 0.5 {
        return a.plus(1.0).ln_gamma(libm::lgamma(a.value() + 1.0));
    }
    // 5.7.3.
    let sum = ZETA.iter().rev().fold(Jet::constant(0.0), |sum, c| (sum * a).plus(*c));
    sum * a * a + a.times(1.0 - 0.577_215_664_901_532_9) - a.ln_1p()
}

/// From which `a` on the uniform expansion is used near `x = a`: the first term left out is below 1e-17.
const LARGE: f64 = 100.0;

/// `Q` or `P` by Temme's expansion, 8.12.3 with 8.12.7.
fn uniform<const N: usize>(a: Jet<N>, x: f64, lower: bool) -> Jet<N> {
    let mu = (-a).plus(x) / a;
    let eta = mu * excess(mu).times(2.0).sqrt();
    let inverse = Jet::constant(1.0) / a;
    let sum = TEMME.iter().rev().fold(Jet::constant(0.0), |sum, row| {
        sum * inverse + row.iter().rev().fold(Jet::constant(0.0), |sum, c| (sum * eta).plus(*c))
    });
    let rest = (-(eta * eta * a.times(0.5))).exp() / a.times(2.0 * PI).sqrt() * sum;
    let argument = eta * a.times(0.5).sqrt();
    if lower { (-argument).erfc().times(0.5) - rest } else { argument.erfc().times(0.5) + rest }
}

/// `x^a exp(-x) / Gamma(a + 1)`, as [`density`].
#[inline(always)]
fn density_lanes<V: Vector<Elem = f64>>(a: V, x: V) -> V {
    let (one, ten) = (a.of(1.0), a.of(10.0));
    either!(a, a.lt(ten), math::exp(a.fma(math::log(x), -log_gamma_above(a + one)) - x), {
        let mu = (x - a) / a;
        let distance = either!(a, mu.abs().lt(a.of(0.5)), mu * mu * excess_lanes(mu), mu - math::log(x / a));
        let inverse = one / a;
        let exponent = a.fma(distance, inverse * polynomial(&STIRLING, inverse * inverse));
        math::exp(-exponent) / (a * a.of(2.0 * PI)).sqrt()
    })
}

/// As [`excess`].
#[inline(always)]
fn excess_lanes<V: Vector<Elem = f64>>(mu: V) -> V {
    let half = mu.of(1.0) / (mu + mu.of(2.0));
    let s = mu * half;
    let square = s * s;
    let mut sum = mu.of(0.0);
    for k in (1..18).rev() {
        sum = sum.fma(square, mu.of(1.0 / f64::from(2 * k + 1)));
    }
    half - s * half * half * (sum + sum)
}

/// `P` by its power series, as [`series`].
#[inline(always)]
fn series_lanes<V: Vector<Elem = f64>>(a: V, x: V) -> V {
    let one = a.of(1.0);
    let (mut term, mut sum, mut below) = (one, one, a);
    for _ in 0..MOST {
        below = below + one;
        term = term * (x / below);
        sum = sum + term;
        // A term below this adds nothing, so sums do not depend on their neighbours.
        if !any::<V>((sum * a.of(EPSILON)).lt(term)) {
            break;
        }
    }
    density_lanes(a, x) * sum
}

/// `Q` by its continued fraction 8.9.2, by the recurrence of its numerators and denominators.
#[inline(always)]
fn fraction_lanes<V: Vector<Elem = f64>>(a: V, x: V) -> V {
    let (one, most) = (a.of(1.0), a.of(2f64.powi(200)));
    let (mut b, mut k, mut minus_a) = (x - a + one, a.of(0.0), -a);
    // Numerators and denominators, the last and the one before.
    let (mut p, mut p_before) = (one, a.of(0.0));
    let (mut q, mut q_before) = (b, one);
    let mut value = p / q;
    // Not of a lane that pads the last vector.
    let mut going_on = a.of(0.0).lt(x);
    for _ in 0..MOST {
        for _ in 0..4 {
            (k, minus_a, b) = (k + one, minus_a + one, b + a.of(2.0));
            let factor = -(k * minus_a);
            let next = (b.fma(p, factor * p_before), b.fma(q, factor * q_before));
            (p_before, q_before, p, q) = (p, q, next.0, next.1);
            // A power of two, so nothing is rounded.
            let scale = a.of(2f64.powi(-200)).select(most.lt(q.abs()), one);
            (p, q, p_before, q_before) = (p * scale, q * scale, p_before * scale, q_before * scale);
        }
        // A lane stops when it has converged: it does not depend on its neighbours.
        let next = p / q;
        let change = (next - value).abs();
        let more = (next.abs() * a.of(2f64.powi(-52))).lt(change);
        value = next.select(going_on, value);
        going_on = V::both(going_on, more);
        if !any::<V>(going_on) {
            break;
        }
    }
    density_lanes(a, x) * a * value
}

/// `P` or `Q` by Temme's expansion, as [`uniform`].
#[inline(always)]
fn uniform_lanes<const LOWER: bool, V: Vector<Elem = f64>>(a: V, x: V) -> V {
    let mu = (x - a) / a;
    let eta = mu * (excess_lanes(mu) * a.of(2.0)).sqrt();
    let inverse = a.of(1.0) / a;
    let mut sum = a.of(0.0);
    for row in TEMME.iter().rev() {
        sum = sum.fma(inverse, polynomial(row, eta));
    }
    let half = a.of(0.5);
    let rest = math::exp(-(eta * eta * a * half)) / (a * a.of(2.0 * PI)).sqrt() * sum;
    let argument = eta * (a * half).sqrt();
    if LOWER { erfc_of(-argument) * half - rest } else { erfc_of(argument) * half + rest }
}

blocks! {
    /// `P` by its power series.
    by_series[a, x] = series_lanes(a, x);
    /// `Q` by its continued fraction.
    by_fraction[a, x] = fraction_lanes(a, x);
    /// `P` by the uniform expansion.
    lower_uniform[a, x] = uniform_lanes::<true, V>(a, x);
    /// `Q` by the uniform expansion.
    upper_uniform[a, x] = uniform_lanes::<false, V>(a, x);
}

/// From here on the recurrence of the continued fraction would overflow.
const HUGE: f64 = 1e60;
/// As many elements are sorted by their method at once.
const SORTED: usize = 256;

/// The elements of a block that one method computes.
struct Sorted {
    block: Block<2>,
    /// The result is one less what the block says.
    complement: bool,
    count: usize,
    at: [u16; SORTED],
    arguments: [[f64; SORTED]; 2],
}

impl Sorted {
    fn new(block: Block<2>, complement: bool) -> Self {
        Self { block, complement, count: 0, at: [0; SORTED], arguments: [[0.0; SORTED]; 2] }
    }
    fn push(&mut self, at: usize, a: f64, x: f64) {
        let n = self.count;
        (self.at[n], self.arguments[0][n], self.arguments[1][n], self.count) = (at as u16, a, x, n + 1);
    }
    fn finish(&mut self, out: &mut [MaybeUninit<f64>]) {
        let n = self.count;
        let mut values = [MaybeUninit::uninit(); SORTED];
        (self.block)([&self.arguments[0][..n], &self.arguments[1][..n]], &mut values[..n]);
        for (value, &at) in values.iter().zip(&self.at[..n]) {
            // SAFETY: the block has written these values.
            let value = unsafe { value.assume_init() };
            out[usize::from(at)].write(if self.complement { 1.0 - value } else { value });
        }
        self.count = 0;
    }
}

fn incomplete(which: Incomplete, [a, x]: [&[f64]; 2], out: &mut [MaybeUninit<f64>]) {
    let lower = which == Incomplete::Lower;
    let mut series = Sorted::new(by_series, !lower);
    let mut fraction = Sorted::new(by_fraction, lower);
    let mut uniform = Sorted::new(if lower { lower_uniform } else { upper_uniform }, false);
    for ((a, x), out) in a.chunks(SORTED).zip(x.chunks(SORTED)).zip(out.chunks_mut(SORTED)) {
        for (i, (&a, &x)) in a.iter().zip(x).enumerate() {
            let method = (a > 0.0 && x > 0.0 && a < HUGE && x < HUGE).then(|| Method::of(a, x));
            match method {
                Some(Method::Series) => series.push(i, a, x),
                Some(Method::Fraction) => fraction.push(i, a, x),
                Some(Method::Uniform) => uniform.push(i, a, x),
                Some(Method::NearZero) | None => {
                    out[i].write(of(which, Jet::<1>::variable(a), x).value());
                }
            }
        }
        for sorted in [&mut series, &mut fraction, &mut uniform] {
            sorted.finish(out);
        }
    }
}

/// The lower incomplete gamma function of `a` and `x`, regularised; NaN where an argument is negative, and where both
/// are 0 or both infinite.
pub fn gammainc(inputs: [&[f64]; 2], out: &mut [MaybeUninit<f64>]) {
    incomplete(Incomplete::Lower, inputs, out);
}

/// As [`gammainc`], the upper one.
pub fn gammaincc(inputs: [&[f64]; 2], out: &mut [MaybeUninit<f64>]) {
    incomplete(Incomplete::Upper, inputs, out);
}

/// `(-1)^k (zeta(k) - 1) / k` from `k = 2`.
#[rustfmt::skip]
const ZETA: [f64; 28] = [
    0.3224670334241132, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986,
    0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425, -0.00022315475845357939,
    9.945751278180853e-05, -4.492623673813314e-05, 2.050721277567069e-05, -9.439488275268397e-06,
    4.374866789907488e-06, -2.039215753801366e-06, 9.55141213040742e-07, -4.492469198764566e-07,
    2.1207184805554665e-07, -1.0043224823968099e-07, 4.7698101693639804e-08, -2.2711094608943164e-08,
    1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09, -1.1921401405860912e-09,
    5.731367241678862e-10, -2.7595228851242334e-10, 1.330476437424449e-10, -6.4229645638381e-11,
];

/// Coefficients of the powers of `eta` in those of `1 / a` (8.12.11 and 8.12.12), computed with fractions.
#[rustfmt::skip]
const TEMME: [[f64; 16]; 7] = [
    [
        -0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073,
        0.0003527336860670194, -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06,
        -1.85406221071516e-06, 8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09,
        1.0261809784240309e-08, -4.382036018453353e-09, 9.14769958223679e-10, -2.5514193994946248e-11,
    ],
    [
        -0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596,
        0.00020576131687242798, -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06,
        -1.6120900894563446e-06, 4.647127802807434e-09, 1.378633446915721e-07, -5.752545603517705e-08,
        1.1951628599778148e-08, -1.7543241719747647e-11, -1.0091543710600413e-09, 4.162792991842583e-10,
    ],
    [
        0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06,
        -0.0001073665322636516, 5.2923448829120125e-05, -1.2760635188618728e-05, 3.423578734096138e-08,
        1.3721957309062934e-06, -6.298992138380055e-07, 1.4280614206064242e-07, -2.0477098421990866e-10,
        -1.409252991086752e-08, 6.228974084922022e-09, -1.3670488396617114e-09, 9.428356159014678e-13,
    ],
    [
        0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557, 0.00026772063206283885,
        -7.561801671883977e-05, -2.396505113867297e-07, 1.1082654115347302e-05, -5.6749528269915965e-06,
        1.4230900732435883e-06, -2.7861080291528143e-11, -1.6958404091930278e-07, 8.099464905388083e-08,
        -1.9111168485973655e-08, 2.3928620439808118e-12, 2.0620131815488797e-09, -9.460496661855133e-10,
    ],
    [
        -0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902, -1.4638452578843418e-06,
        6.641498215465122e-05, -3.968365047179435e-05, 1.1375726970678419e-05, 2.507497226237533e-10,
        -1.6954149536558305e-06, 8.907507532205309e-07, -2.292934834000805e-07, 2.956794137544049e-11,
        2.8865829742708783e-08, -1.4189739437803219e-08, 3.4463580499464896e-09, -2.3024517174528067e-13,
    ],
    [
        -0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392, -0.00019932570516188847,
        6.797780477937208e-05, 1.419062920643967e-07, -1.3594048189768693e-05, 8.018470256334202e-06,
        -2.291481176508095e-06, -3.252473551298454e-10, 3.4652846491085265e-07, -1.8447187191171344e-07,
        4.8240967037894184e-08, -1.7989466721743514e-14, -6.306194500013523e-09, 3.162417628774568e-09,
    ],
    [
        0.0005313079364639922, -0.0005921664373536939, 0.0002708782096718045, 7.902353232660328e-07,
        -8.153969367561969e-05, 5.61168275310625e-05, -1.8329116582843375e-05, -3.0796134506033047e-09,
        3.465155368803609e-06, -2.0291327396058603e-06, 5.788792863149004e-07, 2.338630673826657e-13,
        -8.828600746330484e-08, 4.7435958880408125e-08, -1.2545415020710383e-08, 8.649648858010293e-14,
    ],
];

#[cfg(test)]
mod tests {
    use super::super::lanes::at;
    use super::*;

    fn incomplete_gamma(which: Incomplete, a: f64, x: f64) -> f64 {
        of(which, Jet::<1>::variable(a), x).value()
    }

    #[test]
    fn lanes_are_what_the_scalar_function_says() {
        for i in 0..2000 {
            let (a, x) = (1.02f64.powi(i % 400 - 120), 1.03f64.powi(i * 7 % 360 - 100));
            for (f, which) in [(gammainc as Block<2>, Incomplete::Lower), (gammaincc, Incomplete::Upper)] {
                let (got, want) = (at(f, [a, x]), incomplete_gamma(which, a, x));
                assert!((got - want).abs() <= 1e-12 * want + 1e-300, "{which:?} {a} {x}: {got} for {want}");
            }
        }
    }

    #[test]
    fn both_sides_of_every_border_agree() {
        let both = |a: f64, x: f64| {
            let [p, q] = [Incomplete::Lower, Incomplete::Upper].map(|which| incomplete_gamma(which, a, x));
            assert!((p + q - 1.0).abs() < 1e-14, "{a} {x}: {p} {q}");
            [p, q]
        };
        for (a, x) in [(5.0, 5.0), (10.0, 8.0), (100.0, 100.0), (100.0, 70.0), (100.0, 130.0), (0.3, 0.5), (0.3, 1.1)] {
            let near = both(a, x);
            for (b, y) in
                [(a * (1.0 + 1e-15), x), (a * (1.0 - 1e-15), x), (a, x * (1.0 + 1e-15)), (a, x * (1.0 - 1e-15))]
            {
                for (value, want) in both(b, y).into_iter().zip(near) {
                    assert!((value / want - 1.0).abs() < 2e-13, "{b} {y}: {value} for {want}");
                }
            }
        }
        // 8.4.8: an integer `a` has a finite sum.
        for x in [0.1, 1.0, 3.0, 20.0f64] {
            let want = (-x).exp() * (1.0 + x + 0.5 * x * x);
            assert!((incomplete_gamma(Incomplete::Upper, 3.0, x) / want - 1.0).abs() < 4e-15);
        }
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let f = |a: f64, x: f64| incomplete_gamma(Incomplete::Lower, a, x);
        for (a, x) in [(0.3, 0.2), (0.3, 0.9), (2.0, 1.0), (2.0, 9.0), (15.0, 11.0), (150.0, 140.0), (150.0, 300.0)] {
            let h = 1e-4 * a;
            let by_a = |a: f64| incomplete_gamma_by_a(Incomplete::Lower, 1, a, x);
            let differences = (f(a + h, x) - f(a - h, x)) / (2.0 * h);
            assert!((by_a(a) - differences).abs() < 1e-7, "{a} {x}: {} for {differences}", by_a(a));
            let twice = incomplete_gamma_by_a(Incomplete::Lower, 2, a, x);
            let differences = (by_a(a + h) - by_a(a - h)) / (2.0 * h);
            assert!((twice - differences).abs() < 1e-6 * differences.abs().max(1.0), "{a} {x}: {twice}");
            assert_eq!(by_a(a), -incomplete_gamma_by_a(Incomplete::Upper, 1, a, x));
        }
    }
}
