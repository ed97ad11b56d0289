//! Special functions: the gamma family, error functions, the normal distribution, log-odds. The module `special`, most
//! of whose names refer to ops at the top level.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI};
use std::mem::MaybeUninit;
use std::ops::Range;

use retrograd_macros::op;

use super::binary::XLOGY;
use super::scalar_loop::{UnaryFunction, of_result, of_self, run_blocks};
use super::select::number;
use super::unary::{Map, Pass, Unary, elementary, fuse_lanes};
use super::{activation, exponential, rounding};
#[cfg(feature = "special")]
use super::{bessel, incomplete_gamma};
use crate::autograd::apply::{apply_as, apply1};
use crate::autograd::primitive::{Halves, Params, Save, params};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::kernels::complex;
use crate::kernels::math;
use crate::kernels::pointwise::Body;
use crate::kernels::real::Real;
use crate::kernels::simd::Vector;
use crate::kernels::special as scalar;
use crate::ops::reduce::softmax;
use crate::ops::{Entry, forms};
use crate::tensor::copy;
use crate::tensor::{DType, Scalar, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[
    &ERF,
    &ERFC,
    &ERFINV,
    &SINC,
    &ERFCX,
    &LGAMMA,
    &DIGAMMA,
    &POLYGAMMA,
    &POLYGAMMA_METHOD,
    &MVLGAMMA,
    &LOGIT,
    &ENTR,
    &NDTR,
    &NDTRI,
    &LOG_NDTR,
    &SPECIAL_EXPIT,
    &SPECIAL_PSI,
    &SPECIAL_DIGAMMA,
    &SPECIAL_POLYGAMMA,
    &SPECIAL_GAMMALN,
    &SPECIAL_MULTIGAMMALN,
    &SPECIAL_EXPM1,
    &SPECIAL_LOG1P,
    &SPECIAL_ERF,
    &SPECIAL_ERFC,
    &SPECIAL_ERFINV,
    &SPECIAL_EXP2,
    #[cfg(feature = "special")]
    &SPECIAL_I0,
    #[cfg(feature = "special")]
    &SPECIAL_GAMMAINC,
    #[cfg(feature = "special")]
    &SPECIAL_GAMMAINCC,
    &SPECIAL_LOGIT,
    &SPECIAL_ROUND,
    &SPECIAL_ROUND_DECIMALS,
    &SPECIAL_SINC,
    &SPECIAL_XLOGY,
    &SPECIAL_LOGSUMEXP,
    &SPECIAL_SOFTMAX,
    &SPECIAL_LOG_SOFTMAX,
];

/// Names in the module `special` of ops that have another one at the top level.
macro_rules! also_in_special {
    ($($(#[$cfg:meta])? $entry:ident = $name:literal, $op:path;)*) => { $(
        $(#[$cfg])?
        static $entry: Entry = Entry {
            name: $name,
            module: "special",
            aliases: &[],
            forms: $op.forms & (forms::FUNCTION | forms::OUT),
            ..$op
        };
    )* };
}
also_in_special! {
    SPECIAL_EXPIT = "expit", activation::SIGMOID;
    SPECIAL_PSI = "psi", DIGAMMA;
    SPECIAL_DIGAMMA = "digamma", DIGAMMA;
    SPECIAL_POLYGAMMA = "polygamma", POLYGAMMA;
    SPECIAL_GAMMALN = "gammaln", LGAMMA;
    SPECIAL_MULTIGAMMALN = "multigammaln", MVLGAMMA;
    SPECIAL_EXPM1 = "expm1", exponential::EXPM1;
    SPECIAL_LOG1P = "log1p", exponential::LOG1P;
    SPECIAL_ERF = "erf", ERF;
    SPECIAL_ERFC = "erfc", ERFC;
    SPECIAL_ERFINV = "erfinv", ERFINV;
    SPECIAL_EXP2 = "exp2", exponential::EXP2;
    #[cfg(feature = "special")]
    SPECIAL_I0 = "i0", bessel::I0;
    #[cfg(feature = "special")]
    SPECIAL_GAMMAINC = "gammainc", incomplete_gamma::IGAMMA;
    #[cfg(feature = "special")]
    SPECIAL_GAMMAINCC = "gammaincc", incomplete_gamma::IGAMMAC;
    SPECIAL_LOGIT = "logit", LOGIT;
    SPECIAL_ROUND = "round", rounding::ROUND;
    SPECIAL_ROUND_DECIMALS = "round", rounding::ROUND_DECIMALS;
    SPECIAL_SINC = "sinc", SINC;
    SPECIAL_XLOGY = "xlogy", XLOGY;
    SPECIAL_LOGSUMEXP = "logsumexp", softmax::LOGSUMEXP;
    SPECIAL_SOFTMAX = "softmax", softmax::SOFTMAX;
    SPECIAL_LOG_SOFTMAX = "log_softmax", softmax::LOG_SOFTMAX;
}

/// `erf`: reverse `2 g exp(-x^2) / sqrt(pi)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Erf;
elementary!(Erf, |x| math::erf(x));
impl Unary for Erf {
    const NAME: &'static str = "erf";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        x.square()?.neg()?.exp()?.times(FRAC_2_SQRT_PI)?.mul(g)
    }
}

/// The error function of each element.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * 2 / sqrt(pi) * exp(-input**2)`.
///
/// >>> rg.erf(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn erf(input: &Tensor) -> Result<Tensor> {
    apply_as(form, Map(Erf), &[input])
}

struct Erfc;
impl Body<f32, 1> for Erfc {
    #[inline(always)]
    fn f<V: Vector<Elem = f32>>(&self, [x]: [V; 1]) -> V {
        math::erfc(x)
    }
}

/// One less the error function of each element, accurate where that is near 0.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `-g * 2 / sqrt(pi) * exp(-input**2)`.
///
/// >>> rg.erfc(rg.tensor([0.0])).tolist()
/// [1.0]
#[op(function, method, inplace, out)]
pub fn erfc(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "erfc",
        node: "ErfcBackward0",
        kernel: |pass| pass.single_or_blocks(&Erfc, &scalar::erfc),
        halves: true,
        of_complex: None,
        vjp: |g, x| x.square()?.neg()?.exp()?.times(-FRAC_2_SQRT_PI)?.mul(g),
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

struct Erfinv;
impl Body<f32, 1> for Erfinv {
    #[inline(always)]
    fn f<V: Vector<Elem = f32>>(&self, [x]: [V; 1]) -> V {
        math::erfinv(x)
    }
}

/// The number whose error function each element is; infinite at -1 and 1, NaN outside.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * sqrt(pi) / 2 * exp(result**2)`.
///
/// >>> rg.erfinv(rg.tensor([0.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn erfinv(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "erfinv",
        node: "ErfinvBackward0",
        kernel: |pass| pass.single_or_blocks(&Erfinv, &scalar::erfinv),
        halves: true,
        of_complex: None,
        vjp: |g, x| x.erfinv()?.square()?.exp()?.times(1.0 / FRAC_2_SQRT_PI)?.mul(g),
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

/// `g (pi x cos(pi x) - sin(pi x)) / (pi x^2)`, 0 at 0.
fn sinc_vjp(g: &Tensor, x: &Tensor) -> Result<Tensor> {
    let (angle, below) = (x.times(PI)?, x.square()?.times(PI)?);
    let derivative = angle.mul(&angle.cos()?)?.sub(&angle.sin()?)?.div(&below)?;
    let zero = number(0.0)?;
    g.mul(&derivative)?.masked_fill(&below.eq(&zero)?, &zero)
}

/// The normalised sine cardinal of each element, `sin(pi * input) / (pi * input)`, 1 at 0.
///
/// Args: `input` any dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * (cos(pi * input) - sinc(input)) / input`, 0 at 0.
///
/// >>> rg.sinc(rg.tensor([0.0])).tolist()
/// [1.0]
#[op(function, method, inplace, out)]
pub fn sinc(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "sinc",
        node: "SincBackward0",
        kernel: |pass| pass.blocks(&scalar::sinc),
        halves: true,
        of_complex: Some(complex::sinc),
        vjp: sinc_vjp,
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

/// `exp(input**2) * erfc(input)` of each element, accurate where one factor is huge and the other nearly 0.
///
/// Args: `input` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * (2 * input * result - 2 / sqrt(pi))`.
///
/// >>> rg.special.erfcx(rg.tensor([0.0])).tolist()
/// [1.0]
#[op(function, out, norust, module = "special")]
pub fn erfcx(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "erfcx",
        node: "SpecialErfcxBackward0",
        kernel: |pass| pass.blocks(&scalar::erfcx),
        halves: false,
        of_complex: None,
        vjp: |g, x| g.mul(&x.mul(&erfcx(x)?)?.times(2.0)?.plus(-FRAC_2_SQRT_PI)?),
    };
    apply1(of_self(FUNCTION), &[input])
}

/// The logarithm of the magnitude of the gamma function of each element.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * digamma(input)`.
///
/// >>> rg.lgamma(rg.tensor([1.0])).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn lgamma(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "lgamma",
        node: "LgammaBackward0",
        kernel: |pass| pass.blocks(&scalar::lgamma),
        halves: true,
        of_complex: None,
        vjp: |g, x| g.mul(&x.digamma()?),
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

/// The logarithmic derivative of the gamma function of each element; NaN at negative integers.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * polygamma(1, input)`.
///
/// >>> rg.digamma(rg.tensor([float('inf')])).tolist()
/// [inf]
#[op(function, method, inplace, out)]
pub fn digamma(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "digamma",
        node: "DigammaBackward0",
        kernel: |pass| pass.blocks(&scalar::digamma),
        halves: true,
        of_complex: None,
        vjp: |g, x| g.mul(&polygamma(1, x)?),
    };
    apply_as(form, of_self(FUNCTION), &[input])
}

/// The entropy `-input * log(input)` of each element; 0 at 0 and minus infinity below.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `-g * (1 + log(input))`.
///
/// >>> rg.special.entr(rg.tensor([1.0])).tolist()
/// [-0.0]
#[op(function, out, norust, module = "special", name = "entr")]
pub fn entr(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "entr",
        node: "SpecialEntrBackward0",
        kernel: |pass| pass.blocks(&scalar::entropy),
        halves: true,
        of_complex: None,
        vjp: |g, x| g.mul(&x.log()?.plus(1i64)?.neg()?),
    };
    apply1(of_self(FUNCTION), &[input])
}

/// The normal distribution function of each element, `(1 + erf(input / sqrt(2))) / 2`.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * exp(-input**2 / 2) / sqrt(2 * pi)`.
///
/// >>> rg.special.ndtr(rg.tensor([0.0])).tolist()
/// [0.5]
#[op(function, out, norust, module = "special", name = "ndtr")]
pub fn ndtr(input: &Tensor) -> Result<Tensor> {
    input.times(FRAC_1_SQRT_2)?.erf()?.plus(1i64)?.times(0.5)
}

/// The number below which a standard normal variable is with the probability that each element is: the inverse of
/// `ndtr`. Infinite at 0 and 1, NaN outside.
///
/// Args: `input` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * sqrt(2 * pi) * exp(result**2 / 2)`.
///
/// >>> rg.special.ndtri(rg.tensor([0.5])).tolist()
/// [0.0]
#[op(function, out, norust, module = "special")]
pub fn ndtri(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "ndtri",
        node: "SpecialNdtriBackward0",
        kernel: |pass| pass.blocks(&scalar::ndtri),
        halves: false,
        of_complex: None,
        vjp: |g, result| g.mul(&result.square()?.times(0.5)?.exp()?.times((2.0 * PI).sqrt())?),
    };
    apply1(of_result(FUNCTION), &[input])
}

/// The logarithm of the normal distribution function of each element, accurate where that is nearly 0.
///
/// Args: `input` any real dtype but halves; integers are converted to the default float dtype. Returns: same shape.
/// Derivative: `g * sqrt(2 / pi) / erfcx(-input / sqrt(2))`.
///
/// >>> rg.special.log_ndtr(rg.tensor([float('inf')])).tolist()
/// [-0.0]
#[op(function, out, norust, module = "special")]
pub fn log_ndtr(input: &Tensor) -> Result<Tensor> {
    const FUNCTION: &UnaryFunction = &UnaryFunction {
        name: "log_ndtr",
        node: "SpecialLogNdtrBackward0",
        kernel: |pass| pass.blocks(&scalar::log_ndtr),
        halves: false,
        of_complex: None,
        vjp: |g, x| g.div(&erfcx(&x.times(-FRAC_1_SQRT_2)?)?)?.times((2.0 / PI).sqrt()),
    };
    apply1(of_self(FUNCTION), &[input])
}

/// `polygamma`: reverse `g polygamma(n + 1, x)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polygamma {
    n: i64,
}
impl Unary for Polygamma {
    const NAME: &'static str = "polygamma";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const HALVES: Halves = Halves::LoopsAlone;
    fn kernel(&self, pass: Pass) -> Result<()> {
        match self.n {
            0 => pass.blocks(&scalar::digamma),
            1 => pass.blocks(&scalar::trigamma),
            n => pass.in_double(&|x| scalar::polygamma(n, x)),
        }
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        g.mul(&polygamma(self.n.saturating_add(1), x)?)
    }
    const PARAMS: Params<Map<Self>> = params!(op; n: op.0.n);
}

/// The derivative of order `n` of `digamma`, of each element.
///
/// Args: `n` an integer from 0 on; `input` any real dtype; integers are converted to the default float dtype.
/// Returns: same shape. Derivative: `g * polygamma(n + 1, input)`. Raises: RuntimeError if `n` is negative.
///
/// >>> rg.polygamma(1, rg.tensor([float('inf')])).tolist()
/// [0.0]
#[op(function, out)]
pub fn polygamma(n: i64, input: &Tensor) -> Result<Tensor> {
    if n < 0 {
        return Err(Error::shape("polygamma", format!("polygamma(n, x) does not support negative n. (n is {n})")));
    }
    apply1(Map(Polygamma { n }), &[input])
}

/// The derivative of order `n` of `digamma`, of each element; see `polygamma` at the top level.
///
/// >>> rg.tensor([float('inf')]).polygamma(1).tolist()
/// [0.0]
#[op(method, inplace, norust, name = "polygamma")]
pub fn polygamma_method(input: &Tensor, n: i64) -> Result<Tensor> {
    if n < 0 {
        return polygamma(n, input);
    }
    apply_as(form, Map(Polygamma { n }), &[input])
}

/// Adds `lgamma(x - i / 2)` for all `i` of the range to the sums, which are initialised.
fn add_lgammas(x: &[f64], of: Range<i64>, sums: &mut [MaybeUninit<f64>]) {
    const PIECE: usize = 256;
    for (x, sums) in x.chunks(PIECE).zip(sums.chunks_mut(PIECE)) {
        let (mut shifted, mut terms) = ([0.0; PIECE], [MaybeUninit::uninit(); PIECE]);
        for i in of.clone() {
            shifted.iter_mut().zip(x).for_each(|(to, x)| *to = x - 0.5 * i as f64);
            scalar::lgamma([&shifted[..x.len()]], &mut terms[..x.len()]);
            for (sum, term) in sums.iter_mut().zip(terms) {
                // SAFETY: the sum by our duty, the term by the block, which writes all of its results.
                unsafe { sum.write(sum.assume_init() + term.assume_init()) };
            }
        }
    }
}

/// `mvlgamma`: reverse `g` times the sum of `digamma(x - i / 2)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mvlgamma {
    p: i64,
}
impl Unary for Mvlgamma {
    const NAME: &'static str = "mvlgamma";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    const HALVES: Halves = Halves::InFloat32;
    fn kernel(&self, pass: Pass) -> Result<()> {
        let (p, x) = (self.p as f64, pass.operand());
        let constant = 0.25 * p * (p - 1.0) * PI.ln();
        // As many terms of all elements as are a matter of milliseconds.
        let block = (1 << 18) / x.numel().max(1) as i64 + 4;
        if self.p <= block {
            return pass.blocks(&|[x], out| {
                out.iter_mut().for_each(|out| _ = out.write(constant));
                add_lgammas(x, 0..self.p, out);
            });
        }
        // As torch, which holds all terms of all elements: more than there is memory for are refused, not summed for
        // days.
        Tensor::empty(&[x.numel(), self.p as usize], DType::Float64).map_err(|e| e.named("mvlgamma"))?;
        let x = copy::cast(x, DType::Float64)?;
        let mut sum = Tensor::full(x.sizes(), constant.into(), DType::Float64)?;
        for i in (0..self.p).step_by(block as usize) {
            interrupt::check()?;
            let more = Tensor::empty(x.sizes(), DType::Float64)?;
            let of = i..self.p.min(i.saturating_add(block));
            run_blocks([&x, &sum], &more, &|[x, sum], out| {
                out.iter_mut().zip(sum).for_each(|(out, sum)| _ = out.write(*sum));
                add_lgammas(x, of.clone(), out);
            });
            sum = more;
        }
        pass.write(&sum)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        let mut sum = x.digamma()?;
        for i in 1..self.p {
            interrupt::check()?;
            sum = sum.add(&x.plus(-0.5 * i as f64)?.digamma()?)?;
        }
        g.mul(&sum)
    }
    const PARAMS: Params<Map<Self>> = params!(op; p: op.0.p);
}

/// The logarithm of the multivariate gamma function of dimension `p`, of each element.
///
/// Args: `input` any real dtype but bool, above `(p - 1) / 2`; integers are converted to the default float dtype; `p` a
/// positive integer. Returns: same shape. Derivative: `g` times the sum of `digamma(input - i / 2)` for `i` below `p`.
/// Raises: RuntimeError for bool, or if `p` is not positive.
///
/// >>> rg.mvlgamma(rg.tensor([1.0]), 1).tolist()
/// [0.0]
#[op(function, method, inplace, out)]
pub fn mvlgamma(input: &Tensor, p: i64) -> Result<Tensor> {
    if input.dtype() == DType::Bool {
        return Err(Error::dtype("mvlgamma", "The input tensor may not be a boolean tensor."));
    }
    if p < 1 {
        return Err(Error::shape("mvlgamma", format!("p has to be greater than or equal to 1 (p is {p})")));
    }
    apply_as(form, Map(Mvlgamma { p }), &[input])
}

/// `logit`: reverse `g / (x (1 - x))`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logit {
    eps: Option<f64>,
}
impl Logit {
    /// The bounds that elements are clamped to.
    fn bounds(&self) -> Option<(f64, f64)> {
        self.eps.filter(|e| *e >= 0.0).map(|e| (e, 1.0 - e))
    }
}
impl<T: Real> Body<T, 1> for Logit {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [x]: [V; 1]) -> V {
        let Some((low, high)) = self.bounds() else { return math::logit(x) };
        // The bounds may be reversed: the lower one wins.
        let (low, high) = (x.of(low), x.of(high));
        math::logit(low.select(x.lt(low), high.select(high.lt(x), x)))
    }
}
/// The derivative of [`Logit`]: the bounds, and what it is beyond them.
#[derive(Clone, Copy, Debug)]
struct LogitSlope {
    low: f64,
    high: f64,
    beyond: f64,
}
impl Logit {
    fn slope(&self) -> LogitSlope {
        match self.bounds() {
            Some((low, high)) => LogitSlope { low, high, beyond: 0.0 },
            None => LogitSlope { low: 0.0, high: 1.0, beyond: f64::NAN },
        }
    }
}
impl<T: Real> Body<T, 2> for LogitSlope {
    #[inline(always)]
    fn f<V: Vector<Elem = T>>(&self, [g, x]: [V; 2]) -> V {
        let beyond = x.of(self.beyond);
        let y = beyond.select(x.of(self.high).lt(x), g / (x * (x.of(1.0) - x)));
        beyond.select(x.lt(x.of(self.low)), y)
    }
}
impl Unary for Logit {
    const NAME: &'static str = "logit";
    const SAVE: &'static [Save] = &[Save::input(0, "self")];
    fn kernel(&self, pass: Pass) -> Result<()> {
        pass.lanes(self)
    }
    fn fused(&self, g: &Tensor, x: &Tensor) -> Option<Result<Tensor>> {
        fuse_lanes(Self::NAME, self.slope(), g, x)
    }
    fn vjp(&self, g: &Tensor, x: &Tensor) -> Result<Tensor> {
        let bound = |v: f64| Tensor::number(Scalar::Float(v));
        let LogitSlope { low, high, beyond } = self.slope();
        let outside = x.lt(&bound(low)?)?.logical_or(&x.gt(&bound(high)?)?)?;
        g.div(&x.mul(&x.neg()?.plus(1i64)?)?)?.masked_fill(&outside, &bound(beyond)?)
    }
    const PARAMS: Params<Map<Self>> = params!(op; eps: op.0.eps);
}

/// The log-odds `log(input / (1 - input))` of each element, clamped to `[eps, 1 - eps]` first.
///
/// Args: `input` any real dtype; integers are converted to the default float dtype; `eps` a number, or None for no
/// clamping.
/// Returns: same shape; without `eps`, NaN outside [0, 1]. Derivative: `g / (input * (1 - input))`; outside the bounds
/// 0, without `eps` NaN.
///
/// >>> rg.logit(rg.tensor([0.5])).tolist()
/// [0.0]
#[op(function, method, inplace, out, "(eps=None)")]
pub fn logit(input: &Tensor, eps: Option<f64>) -> Result<Tensor> {
    apply_as(form, Map(Logit { eps }), &[input])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::pointwise::unary::check_fused;
    use crate::testing::{gradcheck, noise};

    #[test]
    fn derivatives() {
        for sizes in [&[3, 4][..], &[], &[0, 2], &[17]] {
            let x = [noise(1, sizes).times(0.9).unwrap()];
            for f in [erf, erfc, erfinv, erfcx, sinc, ndtr, log_ndtr] {
                gradcheck(&|x| f(&x[0]), &x);
            }
            let half = [x[0].times(0.45).unwrap().plus(0.5).unwrap()];
            for f in [lgamma, digamma, entr, ndtri] {
                gradcheck(&|x| f(&x[0]), &half);
            }
            gradcheck(&|x| polygamma(2, &x[0]), &half);
            gradcheck(&|x| mvlgamma(&x[0], 2), &[half[0].plus(1i64).unwrap()]);
            gradcheck(&|x| logit(&x[0], None), &half);
            gradcheck(&|x| logit(&x[0], Some(0.01)), &half);
        }
    }

    #[test]
    fn fused_rules_agree() {
        let _reading = crate::storage::reclaim::reading();
        let x: Vec<f64> = (0..17).map(|i| f64::from(i) * 0.09 - 0.2).collect();
        let x = Tensor::from_slice(&x, &[17]).unwrap();
        for eps in [None, Some(0.05), Some(-1.0)] {
            let inside = if eps == Some(0.05) { x.clone() } else { x.times(0.5).unwrap().plus(0.2).unwrap() };
            check_fused(Logit { eps }, &inside);
        }
        let slopes = (Logit { eps: None }).fused(&x, &x).unwrap().unwrap().to_vec::<f64>().unwrap();
        assert!(slopes.iter().map(|y| y.is_nan()).eq((0..17).map(|i| !(3..14).contains(&i))));
    }

    #[test]
    fn values() {
        let x = Tensor::from_slice(&[-0.1, 0.0, 0.5, 1.0], &[4]).unwrap();
        let values = |t: Tensor| t.to_vec::<f64>().unwrap();
        assert_eq!(values(logit(&x, Some(0.5)).unwrap()), [0.0; 4]);
        assert!(values(logit(&x, None).unwrap())[0].is_nan());
        assert!(polygamma(-1, &x).is_err() && mvlgamma(&x, 0).is_err());
    }
}
