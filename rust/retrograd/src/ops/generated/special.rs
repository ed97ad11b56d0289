//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

#![cfg_attr(not(feature = "special"), allow(unused_imports))]

use crate::Tensor;
use crate::engine::ops as engine;
use crate::operand::Operand;
use crate::ops::as_operand;

pub use crate::ops::digamma;
pub use crate::ops::digamma as psi;
pub use crate::ops::erf;
pub use crate::ops::erfc;
pub use crate::ops::erfinv;
pub use crate::ops::exp2;
pub use crate::ops::expm1;
pub use crate::ops::lgamma as gammaln;
pub use crate::ops::log_softmax;
pub use crate::ops::log_softmax_with;
pub use crate::ops::log1p;
pub use crate::ops::logit;
pub use crate::ops::logit_with;
pub use crate::ops::logsumexp;
pub use crate::ops::logsumexp_with;
pub use crate::ops::mvlgamma as multigammaln;
pub use crate::ops::polygamma;
pub use crate::ops::round;
pub use crate::ops::round_decimals;
pub use crate::ops::sigmoid as expit;
pub use crate::ops::sinc;
pub use crate::ops::softmax;
pub use crate::ops::softmax_with;
pub use crate::ops::try_digamma;
pub use crate::ops::try_digamma as try_psi;
pub use crate::ops::try_erf;
pub use crate::ops::try_erfc;
pub use crate::ops::try_erfinv;
pub use crate::ops::try_exp2;
pub use crate::ops::try_expm1;
pub use crate::ops::try_lgamma as try_gammaln;
pub use crate::ops::try_log_softmax;
pub use crate::ops::try_log_softmax_with;
pub use crate::ops::try_log1p;
pub use crate::ops::try_logit;
pub use crate::ops::try_logit_with;
pub use crate::ops::try_logsumexp;
pub use crate::ops::try_logsumexp_with;
pub use crate::ops::try_mvlgamma as try_multigammaln;
pub use crate::ops::try_polygamma;
pub use crate::ops::try_round;
pub use crate::ops::try_round_decimals;
pub use crate::ops::try_sigmoid as try_expit;
pub use crate::ops::try_sinc;
pub use crate::ops::try_softmax;
pub use crate::ops::try_softmax_with;

op! {
    {
        /// `exp(input**2) * erfc(input)` of each element, accurate where one factor is huge and the other nearly 0.
        ///
        /// Args: `input` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (2 * input * result - 2 / sqrt(pi))`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::erfcx(&tensor![0f32]).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [erfcx try_erfcx] ([] input: &Tensor)
    -> Tensor = engine::pointwise::special::erfcx, (input.engine())
    {}
}

op! {
    {
        /// The entropy `-input * log(input)` of each element; 0 at 0 and minus infinity below.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `-g * (1 + log(input))`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::entr(&tensor![1f32]).to_vec::<f64>()?, [-0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [entr try_entr] ([] input: &Tensor)
    -> Tensor = engine::pointwise::special::entr, (input.engine())
    {}
}

op! {
    {
        /// The normal distribution function of each element, `(1 + erf(input / sqrt(2))) / 2`.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * exp(-input**2 / 2) / sqrt(2 * pi)`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::ndtr(&tensor![0f32]).to_vec::<f64>()?, [0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [ndtr try_ndtr] ([] input: &Tensor)
    -> Tensor = engine::pointwise::special::ndtr, (input.engine())
    {}
}

op! {
    {
        /// The number below which a standard normal variable is with the probability that each element is: the inverse
        /// of `ndtr`. Infinite at 0 and 1, NaN outside.
        ///
        /// Args: `input` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * sqrt(2 * pi) * exp(result**2 / 2)`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::ndtri(&tensor![0.5f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [ndtri try_ndtri] ([] input: &Tensor)
    -> Tensor = engine::pointwise::special::ndtri, (input.engine())
    {}
}

op! {
    {
        /// The logarithm of the normal distribution function of each element, accurate where that is nearly 0.
        ///
        /// Args: `input` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * sqrt(2 / pi) / erfcx(-input / sqrt(2))`.
    }
    fn [log_ndtr try_log_ndtr] ([] input: &Tensor)
    -> Tensor = engine::pointwise::special::log_ndtr, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The modified Bessel function of the first kind of order 0, of each element.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * special.i1(input)`.
        ///
        /// Needs the feature `special`.
    }
    fn [i0 try_i0] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::i0, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The lower incomplete gamma function, regularised: the integral of `t**(input - 1) * exp(-t)` from 0 to
        /// `other`, over `gamma(input)`.
        ///
        /// Args: `input`, `other` tensors of which one at least has a floating dtype, not negative, with broadcastable
        /// shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; NaN for negative arguments.
        ///
        /// Derivative: by `other` `g * other**(input - 1) * exp(-other) / gamma(input)` (DLMF 8.8.13); by `input` that
        /// of the series, the continued fraction or the uniform expansion (DLMF 8.11.4, 8.9.2, 8.12.3) that computes
        /// the value, term by term, up to second order. torch has none by `input`.
        ///
        /// Errors: if the shapes do not broadcast; for integers, and for third derivatives by `input`.
        ///
        /// Needs the feature `special`.
    }
    fn [gammainc try_gammainc] ([] input: &Tensor, other: &Tensor)
    -> Tensor = engine::pointwise::incomplete_gamma::igamma, (input.engine(), other.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The upper incomplete gamma function, regularised: `1 - igamma(input, other)`, accurate where that is nearly
        /// 0.
        ///
        /// Args: `input`, `other` tensors of which one at least has a floating dtype, not negative, with broadcastable
        /// shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; NaN for negative arguments.
        ///
        /// Derivative: minus that of `igamma`.
        ///
        /// Errors: if the shapes do not broadcast; for integers, and for third derivatives by `input`.
        ///
        /// Needs the feature `special`.
    }
    fn [gammaincc try_gammaincc] ([] input: &Tensor, other: &Tensor)
    -> Tensor = engine::pointwise::incomplete_gamma::igammac, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// `input * log(other)`, elementwise; 0 where `input` is 0, unless `other` is NaN.
        ///
        /// Args: `input`, `other` tensors of any real dtype with broadcastable shapes, one may be a number; integers
        /// are converted to the default float dtype.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g * log(other)`, 0 where `input` is 0 and `other` not positive, and `g * input / other`.
        ///
        /// Errors: if the shapes do not broadcast.
    }
    fn [xlogy try_xlogy] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::binary::xlogy, (&as_operand(input), &as_operand(other))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The modified Bessel function of the first kind of order 1, of each element.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (i0(input) - i1(input) / input)`, `g / 2` at 0.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::i1(&tensor![0f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [i1 try_i1] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::i1, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The modified Bessel function of the first kind of order 0 times `exp(-abs(input))`, of each element.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (i1e(input) - sgn(input) * i0e(input))`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::i0e(&tensor![0f32]).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [i0e try_i0e] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::i0e, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The modified Bessel function of the first kind of order 1 times `exp(-abs(input))`, of each element.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (i0e(input) - i1e(input) * (sgn(input) + 1 / input))`, `g / 2` at 0.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::i1e(&tensor![0f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [i1e try_i1e] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::i1e, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Bessel function of the first kind of order 0, of each element.
        ///
        /// Args: `input` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `-g * bessel_j1(input)`, which torch has not.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::bessel_j0(&tensor![0f32]).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [bessel_j0 try_bessel_j0] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::bessel_j0, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Bessel function of the first kind of order 1, of each element.
        ///
        /// Args: `input` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (bessel_j0(input) - bessel_j1(input) / input)`, `g / 2` at 0, which torch has not.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::bessel_j1(&tensor![0f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [bessel_j1 try_bessel_j1] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::bessel_j1, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Bessel function of the second kind of order 0, of each element; minus infinity at 0, NaN below.
        ///
        /// Args: `input` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `-g * bessel_y1(input)`, which torch has not.
        ///
        /// Needs the feature `special`.
    }
    fn [bessel_y0 try_bessel_y0] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::bessel_y0, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Bessel function of the second kind of order 1, of each element; minus infinity at 0, NaN below.
        ///
        /// Args: `input` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (bessel_y0(input) - bessel_y1(input) / input)`, which torch has not.
        ///
        /// Needs the feature `special`.
    }
    fn [bessel_y1 try_bessel_y1] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::bessel_y1, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The modified Bessel function of the first kind of order 0, of each element; `i0` for float32 and float64
        /// alone.
        ///
        /// Args: `input` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * modified_bessel_i1(input)`, which torch has not.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::modified_bessel_i0(&tensor![0f32]).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [modified_bessel_i0 try_modified_bessel_i0] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::modified_bessel_i0, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The modified Bessel function of the first kind of order 1, of each element; `i1` for float32 and float64
        /// alone.
        ///
        /// Args: `input` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (modified_bessel_i0(input) - modified_bessel_i1(input) / input)`, `g / 2` at 0, which torch
        /// has not.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::modified_bessel_i1(&tensor![0f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [modified_bessel_i1 try_modified_bessel_i1] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::modified_bessel_i1, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The modified Bessel function of the second kind of order 0, of each element; infinity at 0, NaN below.
        ///
        /// Args: `input` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `-g * modified_bessel_k1(input)`, which torch has not.
        ///
        /// Needs the feature `special`.
    }
    fn [modified_bessel_k0 try_modified_bessel_k0] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::modified_bessel_k0, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The modified Bessel function of the second kind of order 1, of each element; infinity at 0, NaN below.
        ///
        /// Args: `input` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `-g * (modified_bessel_k0(input) + modified_bessel_k1(input) / input)`, which torch has not.
        ///
        /// Needs the feature `special`.
    }
    fn [modified_bessel_k1 try_modified_bessel_k1] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::modified_bessel_k1, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// `exp(x)` times the modified Bessel function of the second kind of order 0, of each element; infinity at 0,
        /// NaN below.
        ///
        /// Args: `x` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g` times the result less `scaled_modified_bessel_k1(x)`, which torch has not.
        ///
        /// Needs the feature `special`.
    }
    fn [scaled_modified_bessel_k0 try_scaled_modified_bessel_k0] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::scaled_modified_bessel_k0, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// `exp(x)` times the modified Bessel function of the second kind of order 1, of each element; infinity at 0,
        /// NaN below.
        ///
        /// Args: `x` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g` times `result * (1 - 1 / x)` less `scaled_modified_bessel_k0(x)`, which torch has not.
        ///
        /// Needs the feature `special`.
    }
    fn [scaled_modified_bessel_k1 try_scaled_modified_bessel_k1] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::scaled_modified_bessel_k1, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The spherical Bessel function of the first kind of order 0, `sin(x) / x`, of each element; 1 at 0.
        ///
        /// Args: `x` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (cos(x) - result) / x`, 0 at 0, which torch has not.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::spherical_bessel_j0(&tensor![0f32]).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [spherical_bessel_j0 try_spherical_bessel_j0] ([] input: &Tensor)
    -> Tensor = engine::pointwise::bessel::spherical_bessel_j0, (input.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Airy function of the first kind, of each element.
        ///
        /// Args: `x` any real dtype but halves; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Needs the feature `special`.
    }
    fn [airy_ai try_airy_ai] ([] x: &Tensor)
    -> Tensor = engine::pointwise::bessel::airy_ai, (x.engine())
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Hurwitz zeta function: the sum of `(k + other)**-input` over all `k` from 0 on.
        ///
        /// Args: `input` from 1 on and `other`, tensors of any real dtype but halves with broadcastable shapes, one may
        /// be a number; integers are converted to the default float dtype.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; NaN below 1, infinite at 1 and at the poles
        /// `other = 0, -1, ..`, and for other negative numbers NaN unless `input` is whole.
        ///
        /// Derivative: by `other` `-g * input * zeta(input + 1, other)`; by `input` not implemented, as in torch.
        ///
        /// Errors: if the shapes do not broadcast; for the derivative by `input`.
        ///
        /// Needs the feature `special`.
    }
    fn [zeta try_zeta] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::incomplete_gamma::zeta, (&as_operand(input), &as_operand(other))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Chebyshev polynomial of the first kind of degree `n`, at each element of `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::chebyshev_polynomial_t(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [chebyshev_polynomial_t try_chebyshev_polynomial_t] (['a] x: impl Into<Operand<'a>>, n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::chebyshev_polynomial_t, (&as_operand(x), &as_operand(n))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Chebyshev polynomial of the second kind of degree `n`, at each element of `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::chebyshev_polynomial_u(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [chebyshev_polynomial_u try_chebyshev_polynomial_u] (['a] x: impl Into<Operand<'a>>, n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::chebyshev_polynomial_u, (&as_operand(x), &as_operand(n))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Chebyshev polynomial of the third kind of degree `n`, at each element of `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::chebyshev_polynomial_v(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [chebyshev_polynomial_v try_chebyshev_polynomial_v] (['a] x: impl Into<Operand<'a>>, n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::chebyshev_polynomial_v, (&as_operand(x), &as_operand(n))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Chebyshev polynomial of the fourth kind of degree `n`, at each element of `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::chebyshev_polynomial_w(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [chebyshev_polynomial_w try_chebyshev_polynomial_w] (['a] x: impl Into<Operand<'a>>, n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::chebyshev_polynomial_w, (&as_operand(x), &as_operand(n))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Chebyshev polynomial of the first kind, from the interval from 0 to 1, of degree `n`, at each element of
        /// `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::shifted_chebyshev_polynomial_t(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [shifted_chebyshev_polynomial_t try_shifted_chebyshev_polynomial_t] (['a] x: impl Into<Operand<'a>>,
        n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::shifted_chebyshev_polynomial_t, (&as_operand(x), &as_operand(n))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Chebyshev polynomial of the second kind, from the interval from 0 to 1, of degree `n`, at each element
        /// of `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::shifted_chebyshev_polynomial_u(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [shifted_chebyshev_polynomial_u try_shifted_chebyshev_polynomial_u] (['a] x: impl Into<Operand<'a>>,
        n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::shifted_chebyshev_polynomial_u, (&as_operand(x), &as_operand(n))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Chebyshev polynomial of the third kind, from the interval from 0 to 1, of degree `n`, at each element of
        /// `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::shifted_chebyshev_polynomial_v(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [shifted_chebyshev_polynomial_v try_shifted_chebyshev_polynomial_v] (['a] x: impl Into<Operand<'a>>,
        n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::shifted_chebyshev_polynomial_v, (&as_operand(x), &as_operand(n))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Chebyshev polynomial of the fourth kind, from the interval from 0 to 1, of degree `n`, at each element
        /// of `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::shifted_chebyshev_polynomial_w(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [shifted_chebyshev_polynomial_w try_shifted_chebyshev_polynomial_w] (['a] x: impl Into<Operand<'a>>,
        n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::shifted_chebyshev_polynomial_w, (&as_operand(x), &as_operand(n))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Hermite polynomial of physics of degree `n`, at each element of `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::hermite_polynomial_h(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [hermite_polynomial_h try_hermite_polynomial_h] (['a] x: impl Into<Operand<'a>>, n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::hermite_polynomial_h, (&as_operand(x), &as_operand(n))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Hermite polynomial of probability of degree `n`, at each element of `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::hermite_polynomial_he(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [hermite_polynomial_he try_hermite_polynomial_he] (['a] x: impl Into<Operand<'a>>, n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::hermite_polynomial_he, (&as_operand(x), &as_operand(n))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Laguerre polynomial of degree `n`, at each element of `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::laguerre_polynomial_l(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [laguerre_polynomial_l try_laguerre_polynomial_l] (['a] x: impl Into<Operand<'a>>, n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::laguerre_polynomial_l, (&as_operand(x), &as_operand(n))
    {}
}

#[cfg(feature = "special")]
op! {
    {
        /// The Legendre polynomial of degree `n`, at each element of `x`.
        ///
        /// Args: `x` and `n` tensors of any real dtype but halves with broadcastable shapes, one may be a number;
        /// integers are converted to the default float dtype, and degrees cut to integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; 0 for negative degrees.
        ///
        /// Derivative: none, as in torch.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::legendre_polynomial_p(&tensor![0.25f32], 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [legendre_polynomial_p try_legendre_polynomial_p] (['a] x: impl Into<Operand<'a>>, n: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::polynomials::legendre_polynomial_p, (&as_operand(x), &as_operand(n))
    {}
}

op! {
    {
        /// `input * log1p(other)`, elementwise; 0 where `input` is 0, unless `other` is NaN.
        ///
        /// Args: `input`, `other` tensors of any real dtype with broadcastable shapes, one may be a number; integers
        /// are converted to the default float dtype.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g * log1p(other)`, 0 where `input` is 0 and `other` not above -1, and `g * input / (other +
        /// 1)`.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::special::xlog1py(&tensor![0f32, 2.0], &tensor![-1f32, 0.0]).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [xlog1py try_xlog1py] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::binary::xlog1py, (&as_operand(input), &as_operand(other))
    {}
}
