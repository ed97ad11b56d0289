//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

#![cfg_attr(not(feature = "nn"), allow(unused_imports))]

use crate::engine::ops as engine;
use crate::ops::as_scalar;
use crate::ops::options::*;
use crate::{Scalar, Tensor};

op! {
    {
        /// The hyperbolic tangent of each element; see `tanh` at the top level.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::tanh(&tensor![0f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [tanh try_tanh] ([] input: &Tensor)
    -> Tensor = engine::pointwise::activation::nn_tanh, (input.engine())
    {}
}

op! {
    {
        /// The logistic function of each element; see `sigmoid` at the top level.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::sigmoid(&tensor![0f32]).to_vec::<f64>()?, [0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [sigmoid try_sigmoid] ([] input: &Tensor)
    -> Tensor = engine::pointwise::activation::nn_sigmoid, (input.engine())
    {}
}

op! {
    {
        /// The positive part of each element, in `input` itself if `inplace`.
        ///
        /// Args: `input` any real dtype but bool.
        ///
        /// Returns: same shape, or `input`.
        ///
        /// Derivative: `g` where `input > 0`, else 0.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::relu(&tensor![-1f32, 2.0]).to_vec::<f64>()?, [0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [relu try_relu] ([] input: &Tensor)
    -> Tensor = engine::pointwise::activation::nn_relu, (input.engine(), false)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// The Gaussian error linear unit, `x * Phi(x)` with `Phi` the normal distribution function.
        ///
        /// Args: `input` floating dtype, any shape; `approximate` `Approximate::None`, or `Approximate::Tanh` for `x *
        /// (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) / 2`.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g * (Phi(x) + x * phi(x))`, or that of the approximation.
        ///
        /// Errors: for another `approximate`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::gelu(&tensor![0f32, 100.0]).to_vec::<f64>()?, [0.0, 100.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [gelu try_gelu gelu_with try_gelu_with] ([] input: &Tensor)
    -> Tensor = engine::nn::gelu::gelu, (input.engine(), "none")
    {[] o: GeluOptions => Tensor = (input.engine(), o.approximate.name())}
}

#[cfg(feature = "nn")]
op! {
    {
        /// The exponential linear unit: `input` where positive, else `alpha * (exp(input) - 1)`, in `input` itself if
        /// `inplace`.
        ///
        /// Args: `input` floating dtype, any shape; `alpha` a number.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g` where `input > 0`, else `g * alpha * exp(input)`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::elu(&tensor![0f32, 2.0]).to_vec::<f64>()?, [0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [elu try_elu elu_with try_elu_with] ([] input: &Tensor)
    -> Tensor = engine::nn::smooth_activations::elu, (input.engine(), Scalar::Float(1.0), false)
    {[] o: EluOptions => Tensor = (input.engine(), o.alpha, false)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `elu`, in `input` itself.
        ///
        /// Args, Derivative: as `elu`.
        ///
        /// Returns: `input`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::elu_(&tensor![0f32, 2.0]).to_vec::<f64>()?, [0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [elu_ try_elu_ elu_with_ try_elu_with_] ([] input: &Tensor)
    -> Tensor = engine::nn::smooth_activations::elu_inplace, (input.engine(), Scalar::Float(1.0))
    {[] o: EluOptions => Tensor = (input.engine(), o.alpha)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// The scaled exponential linear unit: `elu` with an `alpha` and times a scale that keep mean 0 and variance 1,
        /// in `input` itself if `inplace`.
        ///
        /// Args: `input` floating dtype, any shape.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g * scale` where `input > 0`, else `g * scale * alpha * exp(input)`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::selu(&tensor![0f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [selu try_selu] ([] input: &Tensor)
    -> Tensor = engine::nn::smooth_activations::selu, (input.engine(), false)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `selu`, in `input` itself.
        ///
        /// Args, Derivative: as `selu`.
        ///
        /// Returns: `input`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::selu_(&tensor![0f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [selu_ try_selu_] ([] input: &Tensor)
    -> Tensor = engine::nn::smooth_activations::selu_inplace, (input.engine())
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// The continuous exponential linear unit: `input` where positive, else `alpha * (exp(input / alpha) - 1)`, in
        /// `input` itself if `inplace`.
        ///
        /// Args: `input` floating dtype, any shape; `alpha` a number other than 0.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g` where `input > 0`, else `g * exp(input / alpha)`.
        ///
        /// Errors: if `alpha` is 0.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::celu(&tensor![0f32, 2.0]).to_vec::<f64>()?, [0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [celu try_celu celu_with try_celu_with] ([] input: &Tensor)
    -> Tensor = engine::nn::smooth_activations::celu, (input.engine(), Scalar::Float(1.0), false)
    {[] o: EluOptions => Tensor = (input.engine(), o.alpha, false)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `celu`, in `input` itself.
        ///
        /// Args, Derivative: as `celu`.
        ///
        /// Returns: `input`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::celu_(&tensor![0f32, 2.0]).to_vec::<f64>()?, [0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [celu_ try_celu_ celu_with_ try_celu_with_] ([] input: &Tensor)
    -> Tensor = engine::nn::smooth_activations::celu_inplace, (input.engine(), Scalar::Float(1.0))
    {[] o: EluOptions => Tensor = (input.engine(), o.alpha)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// The sigmoid linear unit, `input * sigmoid(input)`, in `input` itself if `inplace`.
        ///
        /// Args: `input` floating or complex dtype, any shape.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g * s * (1 + input * (1 - s))` with `s = sigmoid(input)`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::silu(&tensor![0f32, 100.0]).to_vec::<f64>()?, [0.0, 100.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [silu try_silu] ([] input: &Tensor)
    -> Tensor = engine::nn::smooth_activations::silu, (input.engine(), false)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// A smooth `relu`: `log(1 + exp(beta * input)) / beta`, and `input` where `beta * input > threshold`.
        ///
        /// Args: `input` floating dtype, any shape; `beta`, `threshold` numbers.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g * sigmoid(beta * input)`, or `g` above the threshold.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::softplus(&tensor![100f32]).to_vec::<f64>()?, [100.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [softplus try_softplus softplus_with try_softplus_with] ([] input: &Tensor)
    -> Tensor = engine::nn::smooth_activations::softplus, (input.engine(), Scalar::Int(1), Scalar::Int(20))
    {[] o: SoftplusOptions => Tensor = (input.engine(), o.beta, o.threshold)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input * tanh(softplus(input))`, in `input` itself if `inplace`.
        ///
        /// Args: `input` floating dtype, any shape.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g * (t + input * sigmoid(input) * (1 - t**2))` with `t` the tanh.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::mish(&tensor![0f32, 100.0]).to_vec::<f64>()?, [0.0, 100.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [mish try_mish] ([] input: &Tensor)
    -> Tensor = engine::nn::smooth_activations::mish, (input.engine(), false)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// The logarithm of the logistic function, `-log(1 + exp(-input))`.
        ///
        /// Args: `input` floating dtype, any shape.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g * sigmoid(-input)`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::logsigmoid(&tensor![-1000f32]).to_vec::<f64>()?, [-1000.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [logsigmoid try_logsigmoid] ([] input: &Tensor)
    -> Tensor = engine::nn::smooth_activations::logsigmoid, (input.engine())
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input` where positive, else `negative_slope * input`, in `input` itself if `inplace`.
        ///
        /// Args: `input` floating dtype, any shape; `negative_slope` a number.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g` where `input > 0`, else `g * negative_slope`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::leaky_relu_with(&tensor![-4f32, 2.0], |o| o.negative_slope(0.25));
        /// assert_eq!(y.to_vec::<f64>()?, [-1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [leaky_relu try_leaky_relu leaky_relu_with try_leaky_relu_with] ([] input: &Tensor)
    -> Tensor = engine::nn::piecewise_activations::leaky_relu, (input.engine(), Scalar::Float(0.01), false)
    {[] o: NegativeSlopeOptions => Tensor = (input.engine(), o.negative_slope, false)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `leaky_relu`, in `input` itself.
        ///
        /// Args, Derivative: as `leaky_relu`.
        ///
        /// Returns: `input`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::leaky_relu_with_(&tensor![-4f32, 2.0], |o| o.negative_slope(0.25));
        /// assert_eq!(y.to_vec::<f64>()?, [-1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [leaky_relu_ try_leaky_relu_ leaky_relu_with_ try_leaky_relu_with_] ([] input: &Tensor)
    -> Tensor = engine::nn::piecewise_activations::leaky_relu_inplace, (input.engine(), Scalar::Float(0.01))
    {[] o: NegativeSlopeOptions => Tensor = (input.engine(), o.negative_slope)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input` above `threshold`, else `value`, in `input` itself if `inplace`.
        ///
        /// Args: `input` any real dtype but bool; `threshold`, `value` numbers.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g` where `input > threshold`, else 0.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::threshold(&tensor![0f32, 2.0], 1.0, 5.0).to_vec::<f64>()?, [5.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [threshold try_threshold] ([] input: &Tensor, threshold: impl Into<Scalar>, value: impl Into<Scalar>)
    -> Tensor = engine::nn::piecewise_activations::threshold, (input.engine(), as_scalar(threshold), as_scalar(value),
        false)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `threshold`, in `input` itself.
        ///
        /// Args, Derivative: as `threshold`.
        ///
        /// Returns: `input`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::threshold_(&tensor![0f32, 2.0], 1.0, 5.0).to_vec::<f64>()?, [5.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [threshold_ try_threshold_] ([] input: &Tensor, threshold: impl Into<Scalar>, value: impl Into<Scalar>)
    -> Tensor = engine::nn::piecewise_activations::threshold_inplace, (input.engine(), as_scalar(threshold),
        as_scalar(value))
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input`, but not less than `min_val` and not more than `max_val`, in `input` itself if `inplace`.
        ///
        /// Args: `input` any real dtype but bool; `min_val`, `max_val` numbers.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g` where `min_val < input < max_val`, else 0.
        ///
        /// Errors: if `min_val > max_val`, for bool.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::hardtanh(&tensor![-4f32, 0.5]).to_vec::<f64>()?, [-1.0, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [hardtanh try_hardtanh hardtanh_with try_hardtanh_with] ([] input: &Tensor)
    -> Tensor = engine::nn::piecewise_activations::hardtanh, (input.engine(), Scalar::Float(-1.0), Scalar::Float(1.0),
        false)
    {[] o: MinValMaxValOptions => Tensor = (input.engine(), o.min_val, o.max_val, false)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `hardtanh`, in `input` itself.
        ///
        /// Args, Derivative: as `hardtanh`.
        ///
        /// Returns: `input`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::hardtanh_(&tensor![-4f32, 0.5]).to_vec::<f64>()?, [-1.0, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [hardtanh_ try_hardtanh_ hardtanh_with_ try_hardtanh_with_] ([] input: &Tensor)
    -> Tensor = engine::nn::piecewise_activations::hardtanh_inplace, (input.engine(), Scalar::Float(-1.0),
        Scalar::Float(1.0))
    {[] o: MinValMaxValOptions => Tensor = (input.engine(), o.min_val, o.max_val)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input` between 0 and 6, in `input` itself if `inplace`.
        ///
        /// Args: `input` any real dtype but bool.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g` where `0 < input < 6`, else 0.
        ///
        /// Errors: for bool.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::relu6(&tensor![-4f32, 0.5, 7.0]).to_vec::<f64>()?, [0.0, 0.5, 6.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [relu6 try_relu6] ([] input: &Tensor)
    -> Tensor = engine::nn::piecewise_activations::relu6, (input.engine(), false)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `(input + 3) / 6` between 0 and 1, in `input` itself if `inplace`.
        ///
        /// Args: `input` floating dtype, any shape.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g / 6` where `-3 < input < 3`, else 0.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::hardsigmoid(&tensor![-4f32, 0.0]).to_vec::<f64>()?, [0.0, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [hardsigmoid try_hardsigmoid] ([] input: &Tensor)
    -> Tensor = engine::nn::piecewise_activations::hardsigmoid, (input.engine(), false)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input * hardsigmoid(input)`, in `input` itself if `inplace`.
        ///
        /// Args: `input` floating dtype, any shape.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g * (input / 3 + 1 / 2)` where `-3 < input < 3`, 0 below, `g` above.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::hardswish(&tensor![-4f32, 3.0]).to_vec::<f64>()?, [-0.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [hardswish try_hardswish] ([] input: &Tensor)
    -> Tensor = engine::nn::piecewise_activations::hardswish, (input.engine(), false)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input` drawn towards 0 by `lambd`, and 0 between `-lambd` and `lambd`.
        ///
        /// Args: `input` floating dtype, any shape; `lambd` a number, not negative.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` where `abs(input) > lambd`, else 0.
        ///
        /// Errors: if `lambd` is negative.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::softshrink(&tensor![-0.25f32, 2.0]).to_vec::<f64>()?, [0.0, 1.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [softshrink try_softshrink softshrink_with try_softshrink_with] ([] input: &Tensor)
    -> Tensor = engine::nn::piecewise_activations::softshrink, (input.engine(), Scalar::Float(0.5))
    {[] o: LambdOptions => Tensor = (input.engine(), o.lambd)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input`, but 0 between `-lambd` and `lambd`.
        ///
        /// Args: `input` floating dtype, any shape; `lambd` a number.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` where `abs(input) > lambd`, else 0.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-0.25f32, 2.0].hardshrink().to_vec::<f64>()?, [0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [hardshrink try_hardshrink hardshrink_with try_hardshrink_with] ([] input: &Tensor)
    method [hardshrink try_hardshrink hardshrink_with try_hardshrink_with] ([] &self) {let input = self;}
    -> Tensor = engine::nn::piecewise_activations::hardshrink, (input.engine(), Scalar::Float(0.5))
    {[] o: LambdOptions => Tensor = (input.engine(), o.lambd)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// The gated linear unit: the first half of `input` along `dim`, times the logistic function of the second.
        ///
        /// Args: `input` floating dtype with an even size along `dim`.
        ///
        /// Returns: a tensor of half that size. Derivative, of halves `a` and `b`: `g * s` and `g * a * s * (1 - s)`
        /// with `s = sigmoid(b)`.
        ///
        /// Errors: for 0 dims or an odd size, if there is no such dim.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::glu(&tensor![4f32, 0.0]).to_vec::<f64>()?, [2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [glu try_glu glu_with try_glu_with] ([] input: &Tensor)
    -> Tensor = engine::nn::gated::glu, (input.engine(), -1)
    {[] o: TrapezoidAtOptions => Tensor = (input.engine(), o.dim)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `glu`, along `dim`.
    }
    fn [glu_dim try_glu_dim] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::nn::gated::glu, (input.engine(), dim)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input` where positive, else `weight * input`, with one weight for all or one per channel.
        ///
        /// Args: `input` floating dtype; `weight` of the same dtype, with one element or as many as dim 1 of the input.
        ///
        /// Returns: a tensor of the input's shape.
        ///
        /// Derivative: `g` where `input > 0`, else `g * weight`; for the weight the sum of `g * input` over the
        /// elements that are not positive.
        ///
        /// Errors: if sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-4f32, 2.0].prelu(&tensor![0.25f32]).to_vec::<f64>()?, [-1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [prelu try_prelu] ([] input: &Tensor, weight: &Tensor)
    method [prelu try_prelu] ([] &self, weight: &Tensor) {let input = self;}
    -> Tensor = engine::nn::gated::prelu, (input.engine(), weight.engine())
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input / (1 + abs(input))`.
        ///
        /// Args: `input` any dtype but bool.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g / (1 + abs(input))**2`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::softsign(&tensor![1f32, -3.0]).to_vec::<f64>()?, [0.5, -0.75]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [softsign try_softsign] ([] input: &Tensor)
    -> Tensor = engine::nn::gated::softsign, (input.engine())
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input - tanh(input)`.
        ///
        /// Args: `input` any dtype but bool.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g * tanh(input)**2`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::tanhshrink(&tensor![0f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [tanhshrink try_tanhshrink] ([] input: &Tensor)
    -> Tensor = engine::nn::gated::tanhshrink, (input.engine())
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// A sample of the Gumbel-softmax distribution: `softmax((logits + noise) / tau)` along `dim`.
        ///
        /// Args: `logits` floating dtype, unnormalized log probabilities; `tau` a positive temperature; `hard` to round
        /// to a vector with a single 1, whose derivative is that of the soft sample; `eps` has no effect. Draws from
        /// the default generator.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: that of `softmax`.
        ///
        /// Errors: if there is no such dim.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::gumbel_softmax_with(&tensor![0f32, 1e4], |o| o.hard(true));
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [gumbel_softmax try_gumbel_softmax gumbel_softmax_with try_gumbel_softmax_with] ([] logits: &Tensor)
    -> Tensor = engine::nn::gated::gumbel_softmax, (logits.engine(), Scalar::Int(1), false, 1e-10, -1)
    {[] o: GumbelSoftmaxOptions => Tensor = (logits.engine(), o.tau, o.hard, o.eps, o.dim)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `input` where positive, else `input` times a random number between `lower` and `upper`, which in evaluation
        /// is their mean; in `input` itself if `inplace`.
        ///
        /// Args: `input` floating dtype, any shape (float16 in evaluation only); `lower`, `upper` numbers; `training`
        /// to draw, from the default generator.
        ///
        /// Returns: a tensor of the same shape, or `input`.
        ///
        /// Derivative: `g` where `input > 0`, else `g` times the same number.
        ///
        /// Errors: for `lower` above `upper` or bounds that are not finite.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::rrelu_with(&tensor![-4f32, 2.0], |o| o.lower(0.25).upper(0.75));
        /// assert_eq!(y.to_vec::<f64>()?, [-2.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [rrelu try_rrelu rrelu_with try_rrelu_with] ([] input: &Tensor)
    -> Tensor = engine::nn::rrelu::rrelu, (input.engine(), Scalar::Float(0.125), Scalar::Float(0.3333333333333333),
        false, false)
    {[] o: LowerUpperTrainingOptions => Tensor = (input.engine(), o.lower, o.upper, o.training, false)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `rrelu`, in `input` itself.
        ///
        /// Args, Derivative, Errors: as `rrelu`.
        ///
        /// Returns: `input`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::rrelu_with_(&tensor![-4f32, 2.0], |o| o.lower(0.25).upper(0.75));
        /// assert_eq!(y.to_vec::<f64>()?, [-2.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [rrelu_ try_rrelu_ rrelu_with_ try_rrelu_with_] ([] input: &Tensor)
    -> Tensor = engine::nn::rrelu::rrelu_inplace, (input.engine(), Scalar::Float(0.125),
        Scalar::Float(0.3333333333333333), false)
    {[] o: LowerUpperTrainingOptions => Tensor = (input.engine(), o.lower, o.upper, o.training)}
}
