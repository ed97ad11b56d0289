//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

#![cfg_attr(not(feature = "special"), allow(unused_imports))]

use crate::engine::ops as engine;
use crate::operand::Operand;
use crate::ops::options::*;
use crate::ops::{MantissaExponent, RoundingMode, as_count, as_operand, as_scalar};
use crate::{Scalar, Tensor};

pub use crate::ops::abs as absolute;
pub use crate::ops::acos as arccos;
pub use crate::ops::acosh as arccosh;
pub use crate::ops::asin as arcsin;
pub use crate::ops::asinh as arcsinh;
pub use crate::ops::atan as arctan;
pub use crate::ops::atan2 as arctan2;
pub use crate::ops::atanh as arctanh;
pub use crate::ops::clamp as clip;
pub use crate::ops::clamp_ as clip_;
pub use crate::ops::clamp_with as clip_with;
pub use crate::ops::clamp_with_ as clip_with_;
pub use crate::ops::div as divide;
pub use crate::ops::div as true_divide;
pub use crate::ops::div_rounded as divide_rounded;
pub use crate::ops::ge as greater_equal;
pub use crate::ops::gt as greater;
pub use crate::ops::le as less_equal;
pub use crate::ops::lt as less;
pub use crate::ops::mul as multiply;
pub use crate::ops::ne as not_equal;
pub use crate::ops::neg as negative;
pub use crate::ops::sub as subtract;
pub use crate::ops::sub_with as subtract_with;
pub use crate::ops::trunc as fix;
pub use crate::ops::try_abs as try_absolute;
pub use crate::ops::try_acos as try_arccos;
pub use crate::ops::try_acosh as try_arccosh;
pub use crate::ops::try_asin as try_arcsin;
pub use crate::ops::try_asinh as try_arcsinh;
pub use crate::ops::try_atan as try_arctan;
pub use crate::ops::try_atan2 as try_arctan2;
pub use crate::ops::try_atanh as try_arctanh;
pub use crate::ops::try_clamp as try_clip;
pub use crate::ops::try_clamp_ as try_clip_;
pub use crate::ops::try_clamp_with as try_clip_with;
pub use crate::ops::try_clamp_with_ as try_clip_with_;
pub use crate::ops::try_div as try_divide;
pub use crate::ops::try_div as try_true_divide;
pub use crate::ops::try_div_rounded as try_divide_rounded;
pub use crate::ops::try_ge as try_greater_equal;
pub use crate::ops::try_gt as try_greater;
pub use crate::ops::try_le as try_less_equal;
pub use crate::ops::try_lt as try_less;
pub use crate::ops::try_mul as try_multiply;
pub use crate::ops::try_ne as try_not_equal;
pub use crate::ops::try_neg as try_negative;
pub use crate::ops::try_sub as try_subtract;
pub use crate::ops::try_sub_with as try_subtract_with;
pub use crate::ops::try_trunc as try_fix;

op! {
    {
        /// Adds `alpha * other` to `input`, elementwise with broadcasting and promotion.
        ///
        /// Args: `input`, `other` tensors of any dtype with broadcastable shapes, either may be a number; `alpha` a
        /// number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g` and `alpha * g`.
        ///
        /// Errors: if the shapes do not broadcast, or `alpha` is a float and the result an integer.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![1f32, 2.0].add_with(&tensor![3f32, 4.0], |o| o.alpha(10));
        /// assert_eq!(y.to_vec::<f64>()?, [31.0, 42.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [add try_add add_with try_add_with] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [add try_add add_with try_add_with] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `add`: writes to the tensor, and returns it.
    } [add_ try_add_ add_with_ try_add_with_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::arith::add_as}
    -> Tensor = engine::pointwise::arith::add, (&as_operand(input), &as_operand(other), Scalar::Int(1))
    {[] o: AlphaOptions => Tensor = (&as_operand(input), &as_operand(other), o.alpha)}
}

op! {
    {
        /// Subtracts `alpha * other` from `input`, elementwise with broadcasting and promotion.
        ///
        /// Args: `input`, `other` tensors of any dtype but bool with broadcastable shapes, either may be a number;
        /// `alpha` a number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g` and `-alpha * g`.
        ///
        /// Errors: if the shapes do not broadcast or an operand is bool.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![1f32, 2.0].sub_with(&tensor![3f32, 4.0], |o| o.alpha(10));
        /// assert_eq!(y.to_vec::<f64>()?, [-29.0, -38.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "subtract")]
    }
    fn [sub try_sub sub_with try_sub_with] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [sub try_sub sub_with try_sub_with] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `sub`: writes to the tensor, and returns it.
    } [sub_ try_sub_ sub_with_ try_sub_with_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::arith::sub_as}
    -> Tensor = engine::pointwise::arith::sub, (&as_operand(input), &as_operand(other), Scalar::Int(1))
    {[] o: AlphaOptions => Tensor = (&as_operand(input), &as_operand(other), o.alpha)}
}

op! {
    {
        /// Subtracts `alpha * input` from `other`: `sub` with the operands in the opposite order.
        ///
        /// Args: `input` a tensor of any dtype but bool; `other` a tensor or a number; `alpha` a number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `-alpha * g` and `g`.
        ///
        /// Errors: if the shapes do not broadcast or an operand is bool.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::rsub(&tensor![1f32, 2.0], 10).to_vec::<f64>()?, [9.0, 8.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [rsub try_rsub rsub_with try_rsub_with] (['a] input: &Tensor, other: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::arith::rsub, (input.engine(), &as_operand(other), Scalar::Int(1))
    {[] o: AlphaOptions => Tensor = (input.engine(), &as_operand(other), o.alpha)}
}

op! {
    {
        /// Multiplies elementwise with broadcasting and promotion.
        ///
        /// Args: `input`, `other` tensors of any dtype with broadcastable shapes; either may be a number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g * other` and `g * input`.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].mul(&tensor![3f32, 4.0]).to_vec::<f64>()?, [3.0, 8.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "multiply")]
    }
    fn [mul try_mul] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [mul try_mul] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `mul`: writes to the tensor, and returns it.
    } [mul_ try_mul_] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::arith::mul_as}
    -> Tensor = engine::pointwise::arith::mul, (&as_operand(input), &as_operand(other))
    {}
}

op! {
    {
        /// Negates each element; unsigned integers wrap.
        ///
        /// Args: `input` any dtype but bool.
        ///
        /// Returns: same shape and dtype.
        ///
        /// Derivative: `-g`.
        ///
        /// Errors: for bool.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, -2.0].neg().to_vec::<f64>()?, [-1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "negative")]
    }
    fn [neg try_neg] ([] input: &Tensor)
    method [neg try_neg] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `neg`: writes to the tensor, and returns it.
    } [neg_ try_neg_] ([] &self) {let input = self;} {engine::pointwise::arith::neg_as}
    -> Tensor = engine::pointwise::arith::neg, (input.engine())
    {}
}

op! {
    {
        /// `input` itself, as the unary operator `+` gives it.
        ///
        /// Args: `input` any dtype but bool.
        ///
        /// Returns: the same tensor.
        ///
        /// Derivative: `g`.
        ///
        /// Errors: for bool.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1f32].positive().to_vec::<f64>()?, [-1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [positive try_positive] ([] input: &Tensor)
    method [positive try_positive] ([] &self) {let input = self;}
    -> Tensor = engine::pointwise::arith::positive, (input.engine())
    {}
}

op! {
    {
        /// Divides `input` by `other`, elementwise with broadcasting and promotion.
        ///
        /// Args: `input`, `other` tensors of any dtype with broadcastable shapes, either may be a number; integers are
        /// converted to the default float dtype.
        ///
        /// Returns: a tensor of the broadcast shape.
        ///
        /// Derivative: `g / other` and `-g * (input / other) / other`.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1i64, 3].div(&tensor![2i64, 2]).to_vec::<f64>()?, [0.5, 1.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "divide")]
        #[doc(alias = "true_divide")]
    }
    fn [div try_div] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [div try_div] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `div`: writes to the tensor, and returns it.
    } [div_ try_div_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::division::div_as}
    -> Tensor = engine::pointwise::division::div, (&as_operand(input), &as_operand(other))
    {}
}

op! {
    {
        /// Divides `input` by `other` and rounds the quotient as `rounding_mode` says.
        ///
        /// Args: `input`, `other` as above; `rounding_mode` `None`, `RoundingMode::Trunc` (towards zero) or
        /// `RoundingMode::Floor` (down).
        ///
        /// Returns: a tensor of the broadcast shape; integers stay integers if rounded.
        ///
        /// Derivative: zero if rounded, else as above.
        ///
        /// Errors: for another mode, for shapes that do not broadcast and for integers divided by zero.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(tensor![7i64, -7].div_rounded(2, ops::RoundingMode::Floor).to_vec::<i64>()?, [3, -4]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "div")]
        #[doc(alias = "divide")]
    }
    fn [div_rounded try_div_rounded] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>,
        rounding_mode: RoundingMode)
    method [div_rounded try_div_rounded] (['a] &self, other: impl Into<Operand<'a>>,
        rounding_mode: RoundingMode) {let input = self;}
    in_place {
        /// The in-place form of `div_rounded`: writes to the tensor, and returns it.
    } [div_rounded_ try_div_rounded_] (['a] &self, other: impl Into<Operand<'a>>,
        rounding_mode: RoundingMode) {let input = self;} {engine::pointwise::division::div_rounded_as}
    -> Tensor = engine::pointwise::division::div_rounded, (&as_operand(input), &as_operand(other),
        Some(rounding_mode.name()))
    {}
}

op! {
    {
        /// The quotient rounded down, as the operator `//` gives it.
        ///
        /// Args: `input`, `other` tensors of any real dtype but bool with broadcastable shapes, either may be a number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: not implemented, as in torch; use `div(..., rounding_mode='floor')`.
        ///
        /// Errors: if the shapes do not broadcast, or integers are divided by zero.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![7i64, -7].floor_divide(2).to_vec::<i64>()?, [3, -4]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [floor_divide try_floor_divide] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [floor_divide try_floor_divide] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `floor_divide`: writes to the tensor, and returns it.
    } [floor_divide_ try_floor_divide_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::division::floor_divide_as}
    -> Tensor = engine::pointwise::division::floor_divide, (&as_operand(input), &as_operand(other))
    {}
}

op! {
    {
        /// One over each element.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `-g / input**2`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![2f32, -4.0].reciprocal().to_vec::<f64>()?, [0.5, -0.25]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [reciprocal try_reciprocal] ([] input: &Tensor)
    method [reciprocal try_reciprocal] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `reciprocal`: writes to the tensor, and returns it.
    } [reciprocal_ try_reciprocal_] ([] &self) {let input = self;} {engine::pointwise::division::reciprocal_as}
    -> Tensor = engine::pointwise::division::reciprocal, (input.engine())
    {}
}

op! {
    {
        /// What is left of `input` when multiples of `other` are taken away, with the sign of `other`. The operator
        /// `%`.
        ///
        /// Args: `input`, `other` tensors of any real dtype but bool with broadcastable shapes; one of them may be a
        /// number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; NaN for floats divided by zero.
        ///
        /// Derivative: `g` and `-g * floor(input / other)`; none if `input` is a number, as in torch.
        ///
        /// Errors: if the shapes do not broadcast, or integers are divided by zero.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![7i64, -7].remainder(3).to_vec::<i64>()?, [1, 2]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [remainder try_remainder] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [remainder try_remainder] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `remainder`: writes to the tensor, and returns it.
    } [remainder_ try_remainder_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::remainder::remainder_as}
    -> Tensor = engine::pointwise::remainder::remainder, (&as_operand(input), &as_operand(other))
    {}
}

op! {
    {
        /// What is left of `input` when multiples of `other` are taken away, with the sign of `input`.
        ///
        /// Args: `input` a tensor of any real dtype but bool; `other` one with a broadcastable shape, or a number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; NaN for floats divided by zero.
        ///
        /// Derivative: `g` and `-g * trunc(input / other)`.
        ///
        /// Errors: if the shapes do not broadcast, or integers are divided by zero.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![7i64, -7].fmod(3).to_vec::<i64>()?, [1, -1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [fmod try_fmod] (['a] input: &Tensor, other: impl Into<Operand<'a>>)
    method [fmod try_fmod] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `fmod`: writes to the tensor, and returns it.
    } [fmod_ try_fmod_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::remainder::fmod_as}
    -> Tensor = engine::pointwise::remainder::fmod, (input.engine(), &as_operand(other))
    {}
}

op! {
    {
        /// `input` to the power `exponent`, elementwise with broadcasting and promotion.
        ///
        /// Args: `input`, `exponent` tensors of any dtype but bool with broadcastable shapes; one of them may be a
        /// number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g * exponent * input**(exponent - 1)`, zero where the exponent is 0, and `g * result *
        /// log(input)`, zero where the base is 0 and the exponent not negative.
        ///
        /// Errors: if the shapes do not broadcast, or for integers to a negative integer number.
    }
    fn [pow try_pow] (['a] input: impl Into<Operand<'a>>, exponent: impl Into<Operand<'a>>)
    method [pow try_pow] (['a] &self, exponent: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `pow`: writes to the tensor, and returns it.
    } [pow_ try_pow_] (['a] &self,
        exponent: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::power::pow_as}
    -> Tensor = engine::pointwise::power::pow, (&as_operand(input), &as_operand(exponent))
    {}
}

op! {
    {
        /// The square of each element: `pow(input, 2)`.
        ///
        /// Args: `input` any dtype; bool becomes int64.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `2 * g * input`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, -3.0].square().to_vec::<f64>()?, [1.0, 9.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [square try_square] ([] input: &Tensor)
    method [square try_square] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `square`: writes to the tensor, and returns it.
    } [square_ try_square_] ([] &self) {let input = self;} {engine::pointwise::power::square_as}
    -> Tensor = engine::pointwise::power::square, (input.engine())
    {}
}

op! {
    {
        /// The square root of each element; NaN for negative ones.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g / (2 * sqrt(input))`, infinite at 0.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![4f32].sqrt().to_vec::<f64>()?, [2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [sqrt try_sqrt] ([] input: &Tensor)
    method [sqrt try_sqrt] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `sqrt`: writes to the tensor, and returns it.
    } [sqrt_ try_sqrt_] ([] &self) {let input = self;} {engine::pointwise::roots::sqrt_as}
    -> Tensor = engine::pointwise::roots::sqrt, (input.engine())
    {}
}

op! {
    {
        /// One over the square root of each element.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `-g / (2 * input**1.5)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![4f32].rsqrt().to_vec::<f64>()?, [0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [rsqrt try_rsqrt] ([] input: &Tensor)
    method [rsqrt try_rsqrt] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `rsqrt`: writes to the tensor, and returns it.
    } [rsqrt_ try_rsqrt_] ([] &self) {let input = self;} {engine::pointwise::roots::rsqrt_as}
    -> Tensor = engine::pointwise::roots::rsqrt, (input.engine())
    {}
}

op! {
    {
        /// The hyperbolic tangent of each element.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (1 - tanh(input)**2)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].tanh().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [tanh try_tanh] ([] input: &Tensor)
    method [tanh try_tanh] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `tanh`: writes to the tensor, and returns it.
    } [tanh_ try_tanh_] ([] &self) {let input = self;} {engine::pointwise::activation::tanh_as}
    -> Tensor = engine::pointwise::activation::tanh, (input.engine())
    {}
}

op! {
    {
        /// The logistic function of each element, `1 / (1 + exp(-input))`.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (1 - result) * result`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].sigmoid().to_vec::<f64>()?, [0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [sigmoid try_sigmoid] ([] input: &Tensor)
    method [sigmoid try_sigmoid] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `sigmoid`: writes to the tensor, and returns it.
    } [sigmoid_ try_sigmoid_] ([] &self) {let input = self;} {engine::pointwise::activation::sigmoid_as}
    -> Tensor = engine::pointwise::activation::sigmoid, (input.engine())
    {}
}

op! {
    {
        /// The positive part of each element: 0 for negative ones; NaN stays.
        ///
        /// Args: `input` any real dtype but bool.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g` where `input > 0`, else 0.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1f32, 2.0].relu().to_vec::<f64>()?, [0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [relu try_relu] ([] input: &Tensor)
    method [relu try_relu] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `relu`: writes to the tensor, and returns it.
    } [relu_ try_relu_] ([] &self) {let input = self;} {engine::pointwise::activation::relu_as}
    -> Tensor = engine::pointwise::activation::relu, (input.engine())
    {}
}

op! {
    {
        /// The absolute value of each element; the least integer wraps to itself.
        ///
        /// Args: `input` any dtype but bool.
        ///
        /// Returns: same shape; of complex numbers their real magnitudes.
        ///
        /// Derivative: `g * sign(input)` (`g * input / abs(input)`), 0 at 0.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1.5f32, 2.0].abs().to_vec::<f64>()?, [1.5, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "absolute")]
    }
    fn [abs try_abs] ([] input: &Tensor)
    method [abs try_abs] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `abs`: writes to the tensor, and returns it.
    } [abs_ try_abs_] ([] &self) {let input = self;} {engine::pointwise::rounding::abs_as}
    -> Tensor = engine::pointwise::rounding::abs, (input.engine())
    {}
}

op! {
    {
        /// The sign of each element: -1, 0 or 1; 0 for NaN.
        ///
        /// Args: `input` any real dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: 0.
        ///
        /// Errors: for complex numbers, which `sgn` takes.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1.5f32, 0.0, 2.0].sign().to_vec::<f64>()?, [-1.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [sign try_sign] ([] input: &Tensor)
    method [sign try_sign] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `sign`: writes to the tensor, and returns it.
    } [sign_ try_sign_] ([] &self) {let input = self;} {engine::pointwise::rounding::sign_as}
    -> Tensor = engine::pointwise::rounding::sign, (input.engine())
    {}
}

op! {
    {
        /// Each element rounded down.
        ///
        /// Args: `input` any real dtype but bool; integers stay as they are.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: 0.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1.5f32, 2.5].floor().to_vec::<f64>()?, [-2.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [floor try_floor] ([] input: &Tensor)
    method [floor try_floor] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `floor`: writes to the tensor, and returns it.
    } [floor_ try_floor_] ([] &self) {let input = self;} {engine::pointwise::rounding::floor_as}
    -> Tensor = engine::pointwise::rounding::floor, (input.engine())
    {}
}

op! {
    {
        /// Each element rounded up.
        ///
        /// Args: `input` any real dtype but bool; integers stay as they are.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: 0.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1.5f32, 2.5].ceil().to_vec::<f64>()?, [-1.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [ceil try_ceil] ([] input: &Tensor)
    method [ceil try_ceil] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `ceil`: writes to the tensor, and returns it.
    } [ceil_ try_ceil_] ([] &self) {let input = self;} {engine::pointwise::rounding::ceil_as}
    -> Tensor = engine::pointwise::rounding::ceil, (input.engine())
    {}
}

op! {
    {
        /// Each element rounded towards zero.
        ///
        /// Args: `input` any real dtype but bool; integers stay as they are.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: 0.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1.5f32, 2.5].trunc().to_vec::<f64>()?, [-1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "fix")]
    }
    fn [trunc try_trunc] ([] input: &Tensor)
    method [trunc try_trunc] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `trunc`: writes to the tensor, and returns it.
    } [trunc_ try_trunc_] ([] &self) {let input = self;} {engine::pointwise::rounding::trunc_as}
    -> Tensor = engine::pointwise::rounding::trunc, (input.engine())
    {}
}

op! {
    {
        /// Each element rounded to the nearest integer, halves to the even one.
        ///
        /// Args: `input` any real dtype but bool; integers stay as they are.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: 0.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1.5f32, 2.5].round().to_vec::<f64>()?, [-2.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [round try_round] ([] input: &Tensor)
    method [round try_round] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `round`: writes to the tensor, and returns it.
    } [round_ try_round_] ([] &self) {let input = self;} {engine::pointwise::rounding::round_as}
    -> Tensor = engine::pointwise::rounding::round, (input.engine())
    {}
}

op! {
    {
        /// Each element rounded to `decimals` places, halves to the even last digit.
        ///
        /// Args: `input` a floating dtype; `decimals` an integer, negative for places left of the point.
        ///
        /// Returns: same shape; NaN where ten to the power of `decimals` leaves the dtype.
        ///
        /// Derivative: 0.
        ///
        /// Errors: for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1234.5f32].round_decimals(-2).to_vec::<f64>()?, [1200.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "round")]
    }
    fn [round_decimals try_round_decimals] ([] input: &Tensor, decimals: i64)
    method [round_decimals try_round_decimals] ([] &self, decimals: i64) {let input = self;}
    in_place {
        /// The in-place form of `round_decimals`: writes to the tensor, and returns it.
    } [round_decimals_ try_round_decimals_] ([] &self,
        decimals: i64) {let input = self;} {engine::pointwise::rounding::round_decimals_as}
    -> Tensor = engine::pointwise::rounding::round_decimals, (input.engine(), decimals)
    {}
}

op! {
    {
        /// Whether each element of `input` equals that of `other`, after promotion; never for NaN.
        ///
        /// Args: `input`, `other` tensors of any dtype with broadcastable shapes; `other` may be a number.
        ///
        /// Returns: a bool tensor of the broadcast shape.
        ///
        /// Derivative: none.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].eq(2).to_vec::<bool>()?, [false, true, false]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [eq try_eq] (['a] input: &Tensor, other: impl Into<Operand<'a>>)
    method [eq try_eq] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `eq`: writes to the tensor, and returns it.
    } [eq_ try_eq_] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::compare::eq_as}
    -> Tensor = engine::pointwise::compare::eq, (input.engine(), &as_operand(other))
    {}
}

op! {
    {
        /// Whether each element of `input` differs from that of `other`, after promotion; always for NaN.
        ///
        /// Args: `input`, `other` tensors of any dtype with broadcastable shapes; `other` may be a number.
        ///
        /// Returns: a bool tensor of the broadcast shape.
        ///
        /// Derivative: none.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].ne(2).to_vec::<bool>()?, [true, false, true]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "not_equal")]
    }
    fn [ne try_ne] (['a] input: &Tensor, other: impl Into<Operand<'a>>)
    method [ne try_ne] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `ne`: writes to the tensor, and returns it.
    } [ne_ try_ne_] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::compare::ne_as}
    -> Tensor = engine::pointwise::compare::ne, (input.engine(), &as_operand(other))
    {}
}

op! {
    {
        /// Whether each element of `input` is less than that of `other`, after promotion; never for NaN.
        ///
        /// Args: `input`, `other` tensors of any real dtype with broadcastable shapes; `other` may be a number.
        ///
        /// Returns: a bool tensor of the broadcast shape.
        ///
        /// Derivative: none.
        ///
        /// Errors: if the shapes do not broadcast; for complex numbers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].lt(2).to_vec::<bool>()?, [true, false, false]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "less")]
    }
    fn [lt try_lt] (['a] input: &Tensor, other: impl Into<Operand<'a>>)
    method [lt try_lt] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `lt`: writes to the tensor, and returns it.
    } [lt_ try_lt_] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::compare::lt_as}
    -> Tensor = engine::pointwise::compare::lt, (input.engine(), &as_operand(other))
    {}
}

op! {
    {
        /// Whether each element of `input` is at most that of `other`, after promotion; never for NaN.
        ///
        /// Args: `input`, `other` tensors of any real dtype with broadcastable shapes; `other` may be a number.
        ///
        /// Returns: a bool tensor of the broadcast shape.
        ///
        /// Derivative: none.
        ///
        /// Errors: if the shapes do not broadcast; for complex numbers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].le(2).to_vec::<bool>()?, [true, true, false]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "less_equal")]
    }
    fn [le try_le] (['a] input: &Tensor, other: impl Into<Operand<'a>>)
    method [le try_le] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `le`: writes to the tensor, and returns it.
    } [le_ try_le_] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::compare::le_as}
    -> Tensor = engine::pointwise::compare::le, (input.engine(), &as_operand(other))
    {}
}

op! {
    {
        /// Whether each element of `input` is greater than that of `other`, after promotion; never for NaN.
        ///
        /// Args: `input`, `other` tensors of any real dtype with broadcastable shapes; `other` may be a number.
        ///
        /// Returns: a bool tensor of the broadcast shape.
        ///
        /// Derivative: none.
        ///
        /// Errors: if the shapes do not broadcast; for complex numbers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].gt(2).to_vec::<bool>()?, [false, false, true]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "greater")]
    }
    fn [gt try_gt] (['a] input: &Tensor, other: impl Into<Operand<'a>>)
    method [gt try_gt] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `gt`: writes to the tensor, and returns it.
    } [gt_ try_gt_] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::compare::gt_as}
    -> Tensor = engine::pointwise::compare::gt, (input.engine(), &as_operand(other))
    {}
}

op! {
    {
        /// Whether each element of `input` is at least that of `other`, after promotion; never for NaN.
        ///
        /// Args: `input`, `other` tensors of any real dtype with broadcastable shapes; `other` may be a number.
        ///
        /// Returns: a bool tensor of the broadcast shape.
        ///
        /// Derivative: none.
        ///
        /// Errors: if the shapes do not broadcast; for complex numbers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].ge(2).to_vec::<bool>()?, [false, true, true]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "greater_equal")]
    }
    fn [ge try_ge] (['a] input: &Tensor, other: impl Into<Operand<'a>>)
    method [ge try_ge] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `ge`: writes to the tensor, and returns it.
    } [ge_ try_ge_] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::compare::ge_as}
    -> Tensor = engine::pointwise::compare::ge, (input.engine(), &as_operand(other))
    {}
}

op! {
    {
        /// Whether two tensors have the same shape and equal elements; NaN equals nothing.
        ///
        /// Args: `input`, `other` tensors.
        ///
        /// Returns: a bool.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert!(tensor![1f32, 2.0].equal(&tensor![1f32, 2.0]));
        /// ```
    }
    fn [equal try_equal] ([] input: &Tensor, other: &Tensor)
    method [equal try_equal] ([] &self, other: &Tensor) {let input = self;}
    -> bool = engine::pointwise::compare::equal, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// Whether each element of `input` is close to that of `other`: `|input - other| <= atol + rtol * |other|`.
        ///
        /// Args: `input`, `other` tensors of one dtype with broadcastable shapes; `rtol`, `atol` not negative;
        /// `equal_nan` lets NaN equal NaN.
        ///
        /// Returns: a bool tensor.
        ///
        /// Derivative: none.
        ///
        /// Errors: if the dtypes differ or a tolerance is negative.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].isclose(&tensor![1f32, 2.1]).to_vec::<bool>()?, [true, false]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [isclose try_isclose isclose_with try_isclose_with] ([] input: &Tensor, other: &Tensor)
    method [isclose try_isclose isclose_with try_isclose_with] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::pointwise::compare::isclose, (input.engine(), other.engine(), 1e-05, 1e-08, false)
    {[] o: RtolAtolEqualNanOptions => Tensor = (input.engine(), other.engine(), o.rtol, o.atol, o.equal_nan)}
}

op! {
    {
        /// Whether all elements of `input` and `other` are close; see `isclose`.
        ///
        /// Args: as `isclose`.
        ///
        /// Returns: a bool.
        ///
        /// Errors: as `isclose`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert!(!tensor![1f32, 2.0].allclose(&tensor![1f32, 2.1]));
        /// ```
    }
    fn [allclose try_allclose allclose_with try_allclose_with] ([] input: &Tensor, other: &Tensor)
    method [allclose try_allclose allclose_with try_allclose_with] ([] &self, other: &Tensor) {let input = self;}
    -> bool = engine::pointwise::compare::allclose, (input.engine(), other.engine(), 1e-05, 1e-08, false)
    {[] o: RtolAtolEqualNanOptions => bool = (input.engine(), other.engine(), o.rtol, o.atol, o.equal_nan)}
}

op! {
    {
        /// Whether both elements are true; numbers are true unless 0.
        ///
        /// Args: `input`, `other` tensors of any dtype with broadcastable shapes.
        ///
        /// Returns: a bool tensor of the broadcast shape.
        ///
        /// Derivative: none.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![true, true, false].logical_and(&tensor![1i64, 0, 0]);
        /// assert_eq!(y.to_vec::<bool>()?, [true, false, false]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [logical_and try_logical_and] ([] input: &Tensor, other: &Tensor)
    method [logical_and try_logical_and] ([] &self, other: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `logical_and`: writes to the tensor, and returns it.
    } [logical_and_ try_logical_and_] ([] &self,
        other: &Tensor) {let input = self;} {engine::pointwise::logic::logical_and_as}
    -> Tensor = engine::pointwise::logic::logical_and, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// Whether one of the elements is true; numbers are true unless 0.
        ///
        /// Args: `input`, `other` tensors of any dtype with broadcastable shapes.
        ///
        /// Returns: a bool tensor of the broadcast shape.
        ///
        /// Derivative: none.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![true, true, false].logical_or(&tensor![1i64, 0, 0]);
        /// assert_eq!(y.to_vec::<bool>()?, [true, true, false]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [logical_or try_logical_or] ([] input: &Tensor, other: &Tensor)
    method [logical_or try_logical_or] ([] &self, other: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `logical_or`: writes to the tensor, and returns it.
    } [logical_or_ try_logical_or_] ([] &self,
        other: &Tensor) {let input = self;} {engine::pointwise::logic::logical_or_as}
    -> Tensor = engine::pointwise::logic::logical_or, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// Whether exactly one of the elements is true; numbers are true unless 0.
        ///
        /// Args: `input`, `other` tensors of any dtype with broadcastable shapes.
        ///
        /// Returns: a bool tensor of the broadcast shape.
        ///
        /// Derivative: none.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![true, true, false].logical_xor(&tensor![1i64, 0, 0]);
        /// assert_eq!(y.to_vec::<bool>()?, [false, true, false]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [logical_xor try_logical_xor] ([] input: &Tensor, other: &Tensor)
    method [logical_xor try_logical_xor] ([] &self, other: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `logical_xor`: writes to the tensor, and returns it.
    } [logical_xor_ try_logical_xor_] ([] &self,
        other: &Tensor) {let input = self;} {engine::pointwise::logic::logical_xor_as}
    -> Tensor = engine::pointwise::logic::logical_xor, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// Whether each element is 0 or false.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: a bool tensor of the same shape.
        ///
        /// Derivative: none.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32, 2.0].logical_not().to_vec::<bool>()?, [true, false]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [logical_not try_logical_not] ([] input: &Tensor)
    method [logical_not try_logical_not] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `logical_not`: writes to the tensor, and returns it.
    } [logical_not_ try_logical_not_] ([] &self) {let input = self;} {engine::pointwise::logic::logical_not_as}
    -> Tensor = engine::pointwise::logic::logical_not, (input.engine())
    {}
}

op! {
    {
        /// The bits set in both elements; of bools, the logical function.
        ///
        /// Args: `input`, `other` integer or bool tensors with broadcastable shapes; one may be a number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: none.
        ///
        /// Errors: for floats, if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![3i64, 4].bitwise_and(2).to_vec::<i64>()?, [2, 0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bitwise_and try_bitwise_and] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [bitwise_and try_bitwise_and] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `bitwise_and`: writes to the tensor, and returns it.
    } [bitwise_and_ try_bitwise_and_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::logic::bitwise_and_as}
    -> Tensor = engine::pointwise::logic::bitwise_and, (&as_operand(input), &as_operand(other))
    {}
}

op! {
    {
        /// The bits set in one of the elements; of bools, the logical function.
        ///
        /// Args: `input`, `other` integer or bool tensors with broadcastable shapes; one may be a number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: none.
        ///
        /// Errors: for floats, if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![3i64, 4].bitwise_or(2).to_vec::<i64>()?, [3, 6]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bitwise_or try_bitwise_or] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [bitwise_or try_bitwise_or] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `bitwise_or`: writes to the tensor, and returns it.
    } [bitwise_or_ try_bitwise_or_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::logic::bitwise_or_as}
    -> Tensor = engine::pointwise::logic::bitwise_or, (&as_operand(input), &as_operand(other))
    {}
}

op! {
    {
        /// The bits set in exactly one of the elements; of bools, the logical function.
        ///
        /// Args: `input`, `other` integer or bool tensors with broadcastable shapes; one may be a number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: none.
        ///
        /// Errors: for floats, if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![3i64, 4].bitwise_xor(2).to_vec::<i64>()?, [1, 6]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bitwise_xor try_bitwise_xor] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [bitwise_xor try_bitwise_xor] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `bitwise_xor`: writes to the tensor, and returns it.
    } [bitwise_xor_ try_bitwise_xor_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::logic::bitwise_xor_as}
    -> Tensor = engine::pointwise::logic::bitwise_xor, (&as_operand(input), &as_operand(other))
    {}
}

op! {
    {
        /// Each element with its bits flipped; of bools, the logical not. The operator `~`.
        ///
        /// Args: `input` an integer or bool tensor.
        ///
        /// Returns: same shape and dtype.
        ///
        /// Derivative: none.
        ///
        /// Errors: for floats.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![true, false].bitwise_not().to_vec::<bool>()?, [false, true]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bitwise_not try_bitwise_not] ([] input: &Tensor)
    method [bitwise_not try_bitwise_not] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `bitwise_not`: writes to the tensor, and returns it.
    } [bitwise_not_ try_bitwise_not_] ([] &self) {let input = self;} {engine::pointwise::logic::bitwise_not_as}
    -> Tensor = engine::pointwise::logic::bitwise_not, (input.engine())
    {}
}

op! {
    {
        /// The bits of each element moved to the left, towards larger numbers: `input * 2^other`. The operator `<<`.
        ///
        /// Args: `input`, `other` integer tensors with broadcastable shapes; one may be a number. Bits that are pushed
        /// out are lost.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: none.
        ///
        /// Errors: for floats and bool, if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1i64, 3].bitwise_left_shift(2).to_vec::<i64>()?, [4, 12]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bitwise_left_shift try_bitwise_left_shift] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [bitwise_left_shift try_bitwise_left_shift] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `bitwise_left_shift`: writes to the tensor, and returns it.
    } [bitwise_left_shift_ try_bitwise_left_shift_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::shift::bitwise_left_shift_as}
    -> Tensor = engine::pointwise::shift::bitwise_left_shift, (&as_operand(input), &as_operand(other))
    {}
}

op! {
    {
        /// The bits of each element moved to the right, towards smaller numbers, the sign kept: `input / 2^other`,
        /// rounded down. The operator `>>`.
        ///
        /// Args, Returns, Errors: as `bitwise_left_shift`.
        ///
        /// Derivative: none.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![7i64, -7].bitwise_right_shift(1).to_vec::<i64>()?, [3, -4]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bitwise_right_shift try_bitwise_right_shift] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [bitwise_right_shift try_bitwise_right_shift] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `bitwise_right_shift`: writes to the tensor, and returns it.
    } [bitwise_right_shift_ try_bitwise_right_shift_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::shift::bitwise_right_shift_as}
    -> Tensor = engine::pointwise::shift::bitwise_right_shift, (&as_operand(input), &as_operand(other))
    {}
}

op! {
    {
        /// Whether each element is NaN.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: a bool tensor of the same shape.
        ///
        /// Derivative: none.
    }
    fn [isnan try_isnan] ([] input: &Tensor)
    method [isnan try_isnan] ([] &self) {let input = self;}
    -> Tensor = engine::pointwise::logic::isnan, (input.engine())
    {}
}

op! {
    {
        /// Whether each element is infinite.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: a bool tensor of the same shape.
        ///
        /// Derivative: none.
    }
    fn [isinf try_isinf] ([] input: &Tensor)
    method [isinf try_isinf] ([] &self) {let input = self;}
    -> Tensor = engine::pointwise::logic::isinf, (input.engine())
    {}
}

op! {
    {
        /// Whether each element is neither infinite nor NaN.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: a bool tensor of the same shape.
        ///
        /// Derivative: none.
    }
    fn [isfinite try_isfinite] ([] input: &Tensor)
    method [isfinite try_isfinite] ([] &self) {let input = self;}
    -> Tensor = engine::pointwise::logic::isfinite, (input.engine())
    {}
}

op! {
    {
        /// The complex conjugate of each element, in memory of its own: of real numbers `input` itself.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: same shape and dtype.
        ///
        /// Derivative: `conj(g)`.
    }
    fn [conj_physical try_conj_physical] ([] input: &Tensor)
    method [conj_physical try_conj_physical] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `conj_physical`: writes to the tensor, and returns it.
    } [conj_physical_ try_conj_physical_] ([] &self) {let input = self;} {engine::pointwise::complex::conj_physical_as}
    -> Tensor = engine::pointwise::complex::conj_physical, (input.engine())
    {}
}

op! {
    {
        /// The complex numbers with the parts `real` and `imag`.
        ///
        /// Args: `real`, `imag` tensors of one floating dtype, float32 or float64, with broadcastable shapes.
        ///
        /// Returns: a complex tensor of the broadcast shape.
        ///
        /// Derivative: the parts of `g`.
        ///
        /// Errors: if the shapes do not broadcast or the dtypes differ.
    }
    fn [complex try_complex] ([] real: &Tensor, imag: &Tensor)
    -> Tensor = engine::pointwise::polar::complex, (real.engine(), imag.engine())
    {}
}

op! {
    {
        /// The complex numbers of magnitude `abs` at the angle `angle`, in radians.
        ///
        /// Args: `abs`, `angle` tensors of one floating dtype, float32 or float64, with broadcastable shapes; a
        /// negative `abs` points the other way.
        ///
        /// Returns: a complex tensor of the broadcast shape.
        ///
        /// Derivative: what of `g` points along the result, 0 at 0, and what of it points across, times `abs`.
        ///
        /// Errors: if the shapes do not broadcast or the dtypes differ.
    }
    fn [polar try_polar] ([] abs: &Tensor, angle: &Tensor)
    -> Tensor = engine::pointwise::polar::polar, (abs.engine(), angle.engine())
    {}
}

op! {
    {
        /// The larger of two elements; NaN if one of them is.
        ///
        /// Args: `input`, `other` tensors of any real dtype with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g` for the operand that was chosen, `g / 2` for both where they are equal.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 5.0].maximum(&tensor![3f32, 4.0]).to_vec::<f64>()?, [3.0, 5.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [maximum try_maximum] ([] input: &Tensor, other: &Tensor)
    method [maximum try_maximum] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::pointwise::select::maximum, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The smaller of two elements; NaN if one of them is.
        ///
        /// Args: `input`, `other` tensors of any real dtype with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g` for the operand that was chosen, `g / 2` for both where they are equal.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 5.0].minimum(&tensor![3f32, 4.0]).to_vec::<f64>()?, [1.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [minimum try_minimum] ([] input: &Tensor, other: &Tensor)
    method [minimum try_minimum] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::pointwise::select::minimum, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// Each element, but not less than `min` and not more than `max`; `max` wins if they cross. NaN stays, a NaN
        /// bound spreads.
        ///
        /// Args: `input` any real dtype; `min`, `max` numbers or tensors whose shapes broadcast with it, one of them
        /// may be `None`.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g` where `min <= input <= max`; a tensor bound gets `g` where it cut.
        ///
        /// Errors: if both bounds are `None`, shapes do not broadcast, or a number does not fit the dtype.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1f32, 0.5, 2.0].clamp_with(|o| o.min(0).max(1)).to_vec::<f64>()?, [0.0, 0.5, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "clip")]
    }
    fn [clamp try_clamp clamp_with try_clamp_with] ([] input: &Tensor)
    method [clamp try_clamp clamp_with try_clamp_with] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `clamp`: writes to the tensor, and returns it.
    } [clamp_ try_clamp_ clamp_with_ try_clamp_with_] ([] &self) {let input = self;}
        {engine::pointwise::clamp::clamp_as}
    -> Tensor = engine::pointwise::clamp::clamp, (input.engine(), None, None)
    {['o] o: MinMaxOptions<'o> => Tensor = (input.engine(), o.min.as_deref(), o.max.as_deref())}
}

op! {
    {
        /// Each element, but not less than `min`.
        ///
        /// Args: `input` any real dtype; `min` a number or a tensor whose shape broadcasts with it.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g` where `input >= min`; a tensor bound gets `g` where it cut.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1f32, 0.5].clamp_min(0).to_vec::<f64>()?, [0.0, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [clamp_min try_clamp_min] (['a] input: &Tensor, min: impl Into<Operand<'a>>)
    method [clamp_min try_clamp_min] (['a] &self, min: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `clamp_min`: writes to the tensor, and returns it.
    } [clamp_min_ try_clamp_min_] (['a] &self,
        min: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::clamp::clamp_min_as}
    -> Tensor = engine::pointwise::clamp::clamp_min, (input.engine(), &as_operand(min))
    {}
}

op! {
    {
        /// Each element, but not more than `max`.
        ///
        /// Args: `input` any real dtype; `max` a number or a tensor whose shape broadcasts with it.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g` where `input <= max`; a tensor bound gets `g` where it cut.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0.5f32, 2.0].clamp_max(1).to_vec::<f64>()?, [0.5, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [clamp_max try_clamp_max] (['a] input: &Tensor, max: impl Into<Operand<'a>>)
    method [clamp_max try_clamp_max] (['a] &self, max: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `clamp_max`: writes to the tensor, and returns it.
    } [clamp_max_ try_clamp_max_] (['a] &self,
        max: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::clamp::clamp_max_as}
    -> Tensor = engine::pointwise::clamp::clamp_max, (input.engine(), &as_operand(max))
    {}
}

op! {
    {
        /// `Tensor.clamp_` as a function: writes to `input` and returns it.
        ///
        /// Args: `input`, `min`, `max` as for `clamp`.
        ///
        /// Derivative: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::clamp_with_(&tensor![0.5f32, 2.0], |o| o.min(1).max(1.5)).to_vec::<f64>()?, [1.0, 1.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "clip_")]
    }
    fn [clamp_ try_clamp_ clamp_with_ try_clamp_with_] ([] input: &Tensor)
    -> Tensor = engine::pointwise::clamp::clamp_function, (input.engine(), None, None)
    {['o] o: MinMaxOptions<'o> => Tensor = (input.engine(), o.min.as_deref(), o.max.as_deref())}
}

op! {
    {
        /// `Tensor.clamp_min_` as a function: writes to `input` and returns it.
        ///
        /// Args: `input`, `min` as for `clamp_min`.
        ///
        /// Derivative: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::clamp_min_(&tensor![0.5f32, 2.0], 1).to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [clamp_min_ try_clamp_min_] (['a] input: &Tensor, min: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::clamp::clamp_min_function, (input.engine(), &as_operand(min))
    {}
}

op! {
    {
        /// `Tensor.clamp_max_` as a function: writes to `input` and returns it.
        ///
        /// Args: `input`, `max` as for `clamp_max`.
        ///
        /// Derivative: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::clamp_max_(&tensor![0.5f32, 2.0], 1).to_vec::<f64>()?, [0.5, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [clamp_max_ try_clamp_max_] (['a] input: &Tensor, max: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::clamp::clamp_max_function, (input.engine(), &as_operand(max))
    {}
}

op! {
    {
        /// `input` where `condition` holds, else `other`; all three broadcast.
        ///
        /// Args: `condition` a bool tensor; `input`, `other` tensors or numbers.
        ///
        /// Returns: a tensor of the broadcast shape and the promoted dtype of the branches.
        ///
        /// Derivative: `g` for the branch that was taken, 0 for the other.
        ///
        /// Errors: if the shapes do not broadcast or the condition is not bool.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::where_self(&tensor![true, false], &tensor![1f32, 2.0], 0).to_vec::<f64>()?, [1.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "where")]
    }
    fn [where_self try_where_self] (['a] condition: &Tensor, input: impl Into<Operand<'a>>,
        other: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::select::where_, (condition.engine(), &as_operand(input), &as_operand(other))
    {}
}

op! {
    {
        /// The tensor where `condition` holds, else `other`: `where(condition, input, other)`.
        ///
        /// Args, Returns, Derivative, Errors: as `where`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].where_self(&tensor![true, false], 0).to_vec::<f64>()?, [1.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "where")]
    }
    method [where_self try_where_self] (['a] &self, condition: &Tensor,
        other: impl Into<Operand<'a>>) {let input = self;}
    -> Tensor = engine::pointwise::select::where_method, (input.engine(), condition.engine(), &as_operand(other))
    {}
}

op! {
    {
        /// `input` with `value` where `mask` holds; the two broadcast.
        ///
        /// Args: `mask` a bool tensor; `value` a number or a 0-dim tensor, converted to the dtype of `input`.
        ///
        /// Returns: a tensor of the broadcast shape and the dtype of `input`.
        ///
        /// Derivative: `g` outside the mask; for a tensor `value`, the sum of `g` inside.
        ///
        /// Errors: if the shapes do not broadcast, the mask is not bool, `value` has dims or does not fit the dtype.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].masked_fill(&tensor![true, false], -1).to_vec::<f64>()?, [-1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [masked_fill try_masked_fill] (['a] input: &Tensor, mask: &Tensor, value: impl Into<Operand<'a>>)
    method [masked_fill try_masked_fill] (['a] &self, mask: &Tensor, value: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `masked_fill`: writes to the tensor, and returns it.
    } [masked_fill_ try_masked_fill_] (['a] &self, mask: &Tensor,
        value: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::select::masked_fill_as}
    -> Tensor = engine::pointwise::select::masked_fill, (input.engine(), mask.engine(), &as_operand(value))
    {}
}

op! {
    {
        /// The exponential of each element.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * exp(input)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].exp().to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [exp try_exp] ([] input: &Tensor)
    method [exp try_exp] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `exp`: writes to the tensor, and returns it.
    } [exp_ try_exp_] ([] &self) {let input = self;} {engine::pointwise::exponential::exp_as}
    -> Tensor = engine::pointwise::exponential::exp, (input.engine())
    {}
}

op! {
    {
        /// Two to the power of each element.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * result * log(2)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![3f32].exp2().to_vec::<f64>()?, [8.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [exp2 try_exp2] ([] input: &Tensor)
    method [exp2 try_exp2] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `exp2`: writes to the tensor, and returns it.
    } [exp2_ try_exp2_] ([] &self) {let input = self;} {engine::pointwise::exponential::exp2_as}
    -> Tensor = engine::pointwise::exponential::exp2, (input.engine())
    {}
}

op! {
    {
        /// The exponential of each element less one, accurate near 0.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (result + 1)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].expm1().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [expm1 try_expm1] ([] input: &Tensor)
    method [expm1 try_expm1] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `expm1`: writes to the tensor, and returns it.
    } [expm1_ try_expm1_] ([] &self) {let input = self;} {engine::pointwise::exponential::expm1_as}
    -> Tensor = engine::pointwise::exponential::expm1, (input.engine())
    {}
}

op! {
    {
        /// The natural logarithm of each element; NaN for negative ones.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g / input`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32].log().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [log try_log] ([] input: &Tensor)
    method [log try_log] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `log`: writes to the tensor, and returns it.
    } [log_ try_log_] ([] &self) {let input = self;} {engine::pointwise::exponential::log_as}
    -> Tensor = engine::pointwise::exponential::log, (input.engine())
    {}
}

op! {
    {
        /// The natural logarithm of one plus each element, accurate near 0.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g / (input + 1)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].log1p().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [log1p try_log1p] ([] input: &Tensor)
    method [log1p try_log1p] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `log1p`: writes to the tensor, and returns it.
    } [log1p_ try_log1p_] ([] &self) {let input = self;} {engine::pointwise::exponential::log1p_as}
    -> Tensor = engine::pointwise::exponential::log1p, (input.engine())
    {}
}

op! {
    {
        /// The logarithm to base 2 of each element; NaN for negative ones.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g / (input * log(2))`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![8f32].log2().to_vec::<f64>()?, [3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [log2 try_log2] ([] input: &Tensor)
    method [log2 try_log2] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `log2`: writes to the tensor, and returns it.
    } [log2_ try_log2_] ([] &self) {let input = self;} {engine::pointwise::exponential::log2_as}
    -> Tensor = engine::pointwise::exponential::log2, (input.engine())
    {}
}

op! {
    {
        /// The logarithm to base 10 of each element; NaN for negative ones.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g / (input * log(10))`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![100f32].log10().to_vec::<f64>()?, [2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [log10 try_log10] ([] input: &Tensor)
    method [log10 try_log10] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `log10`: writes to the tensor, and returns it.
    } [log10_ try_log10_] ([] &self) {let input = self;} {engine::pointwise::exponential::log10_as}
    -> Tensor = engine::pointwise::exponential::log10, (input.engine())
    {}
}

op! {
    {
        /// The sine of each element, in radians.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * cos(input)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].sin().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [sin try_sin] ([] input: &Tensor)
    method [sin try_sin] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `sin`: writes to the tensor, and returns it.
    } [sin_ try_sin_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::sin_as}
    -> Tensor = engine::pointwise::trigonometry::sin, (input.engine())
    {}
}

op! {
    {
        /// The cosine of each element, in radians.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `-g * sin(input)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].cos().to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cos try_cos] ([] input: &Tensor)
    method [cos try_cos] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `cos`: writes to the tensor, and returns it.
    } [cos_ try_cos_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::cos_as}
    -> Tensor = engine::pointwise::trigonometry::cos, (input.engine())
    {}
}

op! {
    {
        /// The tangent of each element, in radians.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (1 + result**2)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].tan().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [tan try_tan] ([] input: &Tensor)
    method [tan try_tan] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `tan`: writes to the tensor, and returns it.
    } [tan_ try_tan_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::tan_as}
    -> Tensor = engine::pointwise::trigonometry::tan, (input.engine())
    {}
}

op! {
    {
        /// The angle in radians whose sine each element is; NaN outside \[-1, 1\].
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g / sqrt(1 - input**2)`, infinite at -1 and 1.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].asin().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "arcsin")]
    }
    fn [asin try_asin] ([] input: &Tensor)
    method [asin try_asin] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `asin`: writes to the tensor, and returns it.
    } [asin_ try_asin_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::asin_as}
    -> Tensor = engine::pointwise::trigonometry::asin, (input.engine())
    {}
}

op! {
    {
        /// The angle in radians whose cosine each element is; NaN outside \[-1, 1\].
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `-g / sqrt(1 - input**2)`, infinite at -1 and 1.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32].acos().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "arccos")]
    }
    fn [acos try_acos] ([] input: &Tensor)
    method [acos try_acos] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `acos`: writes to the tensor, and returns it.
    } [acos_ try_acos_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::acos_as}
    -> Tensor = engine::pointwise::trigonometry::acos, (input.engine())
    {}
}

op! {
    {
        /// The angle in radians, between -pi/2 and pi/2, whose tangent each element is.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g / (1 + input**2)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].atan().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "arctan")]
    }
    fn [atan try_atan] ([] input: &Tensor)
    method [atan try_atan] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `atan`: writes to the tensor, and returns it.
    } [atan_ try_atan_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::atan_as}
    -> Tensor = engine::pointwise::trigonometry::atan, (input.engine())
    {}
}

op! {
    {
        /// The hyperbolic sine of each element.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * cosh(input)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].sinh().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [sinh try_sinh] ([] input: &Tensor)
    method [sinh try_sinh] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `sinh`: writes to the tensor, and returns it.
    } [sinh_ try_sinh_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::sinh_as}
    -> Tensor = engine::pointwise::trigonometry::sinh, (input.engine())
    {}
}

op! {
    {
        /// The hyperbolic cosine of each element.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * sinh(input)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].cosh().to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cosh try_cosh] ([] input: &Tensor)
    method [cosh try_cosh] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `cosh`: writes to the tensor, and returns it.
    } [cosh_ try_cosh_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::cosh_as}
    -> Tensor = engine::pointwise::trigonometry::cosh, (input.engine())
    {}
}

op! {
    {
        /// The number whose hyperbolic sine each element is.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g / sqrt(input**2 + 1)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].asinh().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "arcsinh")]
    }
    fn [asinh try_asinh] ([] input: &Tensor)
    method [asinh try_asinh] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `asinh`: writes to the tensor, and returns it.
    } [asinh_ try_asinh_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::asinh_as}
    -> Tensor = engine::pointwise::trigonometry::asinh, (input.engine())
    {}
}

op! {
    {
        /// The number from 0 on whose hyperbolic cosine each element is; NaN below 1.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g / sqrt(input**2 - 1)`, infinite at 1.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32].acosh().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "arccosh")]
    }
    fn [acosh try_acosh] ([] input: &Tensor)
    method [acosh try_acosh] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `acosh`: writes to the tensor, and returns it.
    } [acosh_ try_acosh_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::acosh_as}
    -> Tensor = engine::pointwise::trigonometry::acosh, (input.engine())
    {}
}

op! {
    {
        /// The number whose hyperbolic tangent each element is; infinite at -1 and 1, NaN outside.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g / (1 - input**2)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].atanh().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "arctanh")]
    }
    fn [atanh try_atanh] ([] input: &Tensor)
    method [atanh try_atanh] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `atanh`: writes to the tensor, and returns it.
    } [atanh_ try_atanh_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::atanh_as}
    -> Tensor = engine::pointwise::trigonometry::atanh, (input.engine())
    {}
}

op! {
    {
        /// Each element, an angle in degrees, in radians.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * pi / 180`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].deg2rad().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [deg2rad try_deg2rad] ([] input: &Tensor)
    method [deg2rad try_deg2rad] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `deg2rad`: writes to the tensor, and returns it.
    } [deg2rad_ try_deg2rad_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::deg2rad_as}
    -> Tensor = engine::pointwise::trigonometry::deg2rad, (input.engine())
    {}
}

op! {
    {
        /// Each element, an angle in radians, in degrees.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * 180 / pi`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].rad2deg().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [rad2deg try_rad2deg] ([] input: &Tensor)
    method [rad2deg try_rad2deg] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `rad2deg`: writes to the tensor, and returns it.
    } [rad2deg_ try_rad2deg_] ([] &self) {let input = self;} {engine::pointwise::trigonometry::rad2deg_as}
    -> Tensor = engine::pointwise::trigonometry::rad2deg, (input.engine())
    {}
}

op! {
    {
        /// Each element less its whole part, with the sign of the element.
        ///
        /// Args: `input` a floating dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g`.
        ///
        /// Errors: for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1.5f32, -2.25].frac().to_vec::<f64>()?, [0.5, -0.25]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [frac try_frac] ([] input: &Tensor)
    method [frac try_frac] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `frac`: writes to the tensor, and returns it.
    } [frac_ try_frac_] ([] &self) {let input = self;} {engine::pointwise::sign_and_fraction::frac_as}
    -> Tensor = engine::pointwise::sign_and_fraction::frac, (input.engine())
    {}
}

op! {
    {
        /// The sign of each element: `sign` of real numbers, `input / abs(input)` of complex ones, 0 at 0.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: 0; of complex numbers what of `g` points across `input`, divided by `abs(input)`, 0 at 0.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1.5f32, 0.0, 2.0].sgn().to_vec::<f64>()?, [-1.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [sgn try_sgn] ([] input: &Tensor)
    method [sgn try_sgn] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `sgn`: writes to the tensor, and returns it.
    } [sgn_ try_sgn_] ([] &self) {let input = self;} {engine::pointwise::sign_and_fraction::sgn_as}
    -> Tensor = engine::pointwise::sign_and_fraction::sgn, (input.engine())
    {}
}

op! {
    {
        /// Each element, with numbers for NaN and the infinities; of complex numbers, in both parts.
        ///
        /// Args: `input` any dtype; `nan` a number, 0 by default; `posinf` and `neginf` numbers, the greatest and the
        /// least one of the dtype by default.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g` where `input` is finite, 0 elsewhere.
    }
    fn [nan_to_num try_nan_to_num nan_to_num_with try_nan_to_num_with] ([] input: &Tensor)
    method [nan_to_num try_nan_to_num nan_to_num_with try_nan_to_num_with] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `nan_to_num`: writes to the tensor, and returns it.
    } [nan_to_num_ try_nan_to_num_ nan_to_num_with_ try_nan_to_num_with_] ([] &self) {let input = self;}
        {engine::pointwise::sign_and_fraction::nan_to_num_as}
    -> Tensor = engine::pointwise::sign_and_fraction::nan_to_num, (input.engine(), None, None, None)
    {[] o: NanToNumOptions => Tensor = (input.engine(), o.nan, o.posinf, o.neginf)}
}

op! {
    {
        /// The angle of each element with the positive axis, from -pi to pi: pi for negative real numbers, 0 for
        /// others, NaN for NaN.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape, in the dtype of the parts.
        ///
        /// Derivative: 0; of complex numbers `g * 1j * input / abs(input)**2`, 0 at 0.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![2f32, 0.0].angle().to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [angle try_angle] ([] input: &Tensor)
    method [angle try_angle] ([] &self) {let input = self;}
    -> Tensor = engine::pointwise::sign_and_fraction::angle, (input.engine())
    {}
}

op! {
    {
        /// The error function of each element.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * 2 / sqrt(pi) * exp(-input**2)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].erf().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [erf try_erf] ([] input: &Tensor)
    method [erf try_erf] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `erf`: writes to the tensor, and returns it.
    } [erf_ try_erf_] ([] &self) {let input = self;} {engine::pointwise::special::erf_as}
    -> Tensor = engine::pointwise::special::erf, (input.engine())
    {}
}

op! {
    {
        /// One less the error function of each element, accurate where that is near 0.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `-g * 2 / sqrt(pi) * exp(-input**2)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].erfc().to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [erfc try_erfc] ([] input: &Tensor)
    method [erfc try_erfc] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `erfc`: writes to the tensor, and returns it.
    } [erfc_ try_erfc_] ([] &self) {let input = self;} {engine::pointwise::special::erfc_as}
    -> Tensor = engine::pointwise::special::erfc, (input.engine())
    {}
}

op! {
    {
        /// The number whose error function each element is; infinite at -1 and 1, NaN outside.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * sqrt(pi) / 2 * exp(result**2)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].erfinv().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [erfinv try_erfinv] ([] input: &Tensor)
    method [erfinv try_erfinv] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `erfinv`: writes to the tensor, and returns it.
    } [erfinv_ try_erfinv_] ([] &self) {let input = self;} {engine::pointwise::special::erfinv_as}
    -> Tensor = engine::pointwise::special::erfinv, (input.engine())
    {}
}

op! {
    {
        /// The normalised sine cardinal of each element, `sin(pi * input) / (pi * input)`, 1 at 0.
        ///
        /// Args: `input` any dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * (cos(pi * input) - sinc(input)) / input`, 0 at 0.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].sinc().to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [sinc try_sinc] ([] input: &Tensor)
    method [sinc try_sinc] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `sinc`: writes to the tensor, and returns it.
    } [sinc_ try_sinc_] ([] &self) {let input = self;} {engine::pointwise::special::sinc_as}
    -> Tensor = engine::pointwise::special::sinc, (input.engine())
    {}
}

op! {
    {
        /// The logarithm of the magnitude of the gamma function of each element.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * digamma(input)`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32].lgamma().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [lgamma try_lgamma] ([] input: &Tensor)
    method [lgamma try_lgamma] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `lgamma`: writes to the tensor, and returns it.
    } [lgamma_ try_lgamma_] ([] &self) {let input = self;} {engine::pointwise::special::lgamma_as}
    -> Tensor = engine::pointwise::special::lgamma, (input.engine())
    {}
}

op! {
    {
        /// The logarithmic derivative of the gamma function of each element; NaN at negative integers.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * polygamma(1, input)`.
    }
    fn [digamma try_digamma] ([] input: &Tensor)
    method [digamma try_digamma] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `digamma`: writes to the tensor, and returns it.
    } [digamma_ try_digamma_] ([] &self) {let input = self;} {engine::pointwise::special::digamma_as}
    -> Tensor = engine::pointwise::special::digamma, (input.engine())
    {}
}

op! {
    {
        /// The derivative of order `n` of `digamma`, of each element.
        ///
        /// Args: `n` an integer from 0 on; `input` any real dtype; integers are converted to the default float dtype.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g * polygamma(n + 1, input)`.
        ///
        /// Errors: if `n` is negative.
    }
    fn [polygamma try_polygamma] ([] n: usize, input: &Tensor)
    -> Tensor = engine::pointwise::special::polygamma, (as_count(n), input.engine())
    {}
}

op! {
    {
        /// The derivative of order `n` of `digamma`, of each element; see `polygamma` at the top level.
    }
    method [polygamma try_polygamma] ([] &self, n: usize) {let input = self;}
    in_place {
        /// The in-place form of `polygamma`: writes to the tensor, and returns it.
    } [polygamma_ try_polygamma_] ([] &self,
        n: usize) {let input = self;} {engine::pointwise::special::polygamma_method_as}
    -> Tensor = engine::pointwise::special::polygamma_method, (input.engine(), as_count(n))
    {}
}

op! {
    {
        /// The logarithm of the multivariate gamma function of dimension `p`, of each element.
        ///
        /// Args: `input` any real dtype but bool, above `(p - 1) / 2`; integers are converted to the default float
        /// dtype; `p` a positive integer.
        ///
        /// Returns: same shape.
        ///
        /// Derivative: `g` times the sum of `digamma(input - i / 2)` for `i` below `p`.
        ///
        /// Errors: for bool, or if `p` is not positive.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32].mvlgamma(1).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [mvlgamma try_mvlgamma] ([] input: &Tensor, p: usize)
    method [mvlgamma try_mvlgamma] ([] &self, p: usize) {let input = self;}
    in_place {
        /// The in-place form of `mvlgamma`: writes to the tensor, and returns it.
    } [mvlgamma_ try_mvlgamma_] ([] &self, p: usize) {let input = self;} {engine::pointwise::special::mvlgamma_as}
    -> Tensor = engine::pointwise::special::mvlgamma, (input.engine(), as_count(p))
    {}
}

op! {
    {
        /// The log-odds `log(input / (1 - input))` of each element, clamped to `[eps, 1 - eps]` first.
        ///
        /// Args: `input` any real dtype; integers are converted to the default float dtype; `eps` a number, or `None`
        /// for no clamping.
        ///
        /// Returns: same shape; without `eps`, NaN outside \[0, 1\].
        ///
        /// Derivative: `g / (input * (1 - input))`; outside the bounds 0, without `eps` NaN.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0.5f32].logit().to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [logit try_logit logit_with try_logit_with] ([] input: &Tensor)
    method [logit try_logit logit_with try_logit_with] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `logit`: writes to the tensor, and returns it.
    } [logit_ try_logit_ logit_with_ try_logit_with_] ([] &self) {let input = self;}
        {engine::pointwise::special::logit_as}
    -> Tensor = engine::pointwise::special::logit, (input.engine(), None)
    {[] o: LogitOptions => Tensor = (input.engine(), o.eps)}
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
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].i0().to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [i0 try_i0] ([] input: &Tensor)
    method [i0 try_i0] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `i0`: writes to the tensor, and returns it.
    } [i0_ try_i0_] ([] &self) {let input = self;} {engine::pointwise::bessel::i0_as}
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
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32].igamma(&tensor![0f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [igamma try_igamma] ([] input: &Tensor, other: &Tensor)
    method [igamma try_igamma] ([] &self, other: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `igamma`: writes to the tensor, and returns it.
    } [igamma_ try_igamma_] ([] &self,
        other: &Tensor) {let input = self;} {engine::pointwise::incomplete_gamma::igamma_as}
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
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32].igammac(&tensor![0f32]).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `special`.
    }
    fn [igammac try_igammac] ([] input: &Tensor, other: &Tensor)
    method [igammac try_igammac] ([] &self, other: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `igammac`: writes to the tensor, and returns it.
    } [igammac_ try_igammac_] ([] &self,
        other: &Tensor) {let input = self;} {engine::pointwise::incomplete_gamma::igammac_as}
    -> Tensor = engine::pointwise::incomplete_gamma::igammac, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The angle in radians, between -pi and pi, of the point whose second coordinate is `input` and whose first is
        /// `other`.
        ///
        /// Args: `input`, `other` tensors of any real dtype with broadcastable shapes; integers are converted to the
        /// default float dtype.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g * other / (input**2 + other**2)` and `-g * input / (input**2 + other**2)`, 0 at the origin.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].atan2(&tensor![1f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "arctan2")]
    }
    fn [atan2 try_atan2] ([] input: &Tensor, other: &Tensor)
    method [atan2 try_atan2] ([] &self, other: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `atan2`: writes to the tensor, and returns it.
    } [atan2_ try_atan2_] ([] &self, other: &Tensor) {let input = self;} {engine::pointwise::binary::atan2_as}
    -> Tensor = engine::pointwise::binary::atan2, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The length of the hypotenuse, `sqrt(input**2 + other**2)`, without overflow.
        ///
        /// Args: `input`, `other` real tensors of which one at least has a floating dtype, with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g * input / result` and `g * other / result`, NaN at the origin.
        ///
        /// Errors: if the shapes do not broadcast; for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![3f32].hypot(&tensor![4f32]).to_vec::<f64>()?, [5.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [hypot try_hypot] ([] input: &Tensor, other: &Tensor)
    method [hypot try_hypot] ([] &self, other: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `hypot`: writes to the tensor, and returns it.
    } [hypot_ try_hypot_] ([] &self, other: &Tensor) {let input = self;} {engine::pointwise::binary::hypot_as}
    -> Tensor = engine::pointwise::binary::hypot, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The magnitude of `input` with the sign of `other`, elementwise; zeros and NaN have signs too.
        ///
        /// Args: `input` a tensor of any real dtype, `other` a tensor or a number, with broadcastable shapes; integers
        /// are converted to the default float dtype.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g` where the sign stayed, `-g` where it changed, 0 where `input` is 0; 0 for `other`.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, -2.0].copysign(-0.0).to_vec::<f64>()?, [-1.0, -2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [copysign try_copysign] (['a] input: &Tensor, other: impl Into<Operand<'a>>)
    method [copysign try_copysign] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `copysign`: writes to the tensor, and returns it.
    } [copysign_ try_copysign_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::binary::copysign_as}
    -> Tensor = engine::pointwise::binary::copysign, (input.engine(), &as_operand(other))
    {}
}

op! {
    {
        /// `input` times two to the power of `other`, elementwise.
        ///
        /// Args: `input`, `other` tensors of any dtype with broadcastable shapes; integers are converted to the default
        /// float dtype.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g * 2**other` and `g * result * log(2)`.
        ///
        /// Errors: if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1.5f32].ldexp(&tensor![3i64]).to_vec::<f64>()?, [12.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [ldexp try_ldexp] ([] input: &Tensor, other: &Tensor)
    method [ldexp try_ldexp] ([] &self, other: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `ldexp`: writes to the tensor, and returns it.
    } [ldexp_ try_ldexp_] ([] &self, other: &Tensor) {let input = self;} {engine::pointwise::binary::ldexp_as}
    -> Tensor = engine::pointwise::binary::ldexp, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// `log(exp(input) + exp(other))`, elementwise and without overflow.
        ///
        /// Args: `input`, `other` tensors of which one at least has a floating or complex dtype, with broadcastable
        /// shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g / (1 + exp(other - input))` and `g / (1 + exp(input - other))`.
        ///
        /// Errors: if the shapes do not broadcast; for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1000f32].logaddexp(&tensor![-1000f32]).to_vec::<f64>()?, [1000.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [logaddexp try_logaddexp] ([] input: &Tensor, other: &Tensor)
    method [logaddexp try_logaddexp] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::pointwise::binary::logaddexp, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// `log2(2**input + 2**other)`, elementwise and without overflow.
        ///
        /// Args: `input`, `other` real tensors of which one at least has a floating dtype, with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g / (1 + 2**(other - input))` and `g / (1 + 2**(input - other))`.
        ///
        /// Errors: if the shapes do not broadcast; for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![2f32].logaddexp2(&tensor![2f32]).to_vec::<f64>()?, [3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [logaddexp2 try_logaddexp2] ([] input: &Tensor, other: &Tensor)
    method [logaddexp2 try_logaddexp2] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::pointwise::binary::logaddexp2, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The larger of two elements; the other one where one is NaN.
        ///
        /// Args: `input`, `other` tensors of any real dtype with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g` for the operand that was chosen, `input` where they are equal.
        ///
        /// Errors: if the shapes do not broadcast.
    }
    fn [fmax try_fmax] ([] input: &Tensor, other: &Tensor)
    method [fmax try_fmax] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::pointwise::binary::fmax, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The smaller of two elements; the other one where one is NaN.
        ///
        /// Args: `input`, `other` tensors of any real dtype with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g` for the operand that was chosen, `input` where they are equal.
        ///
        /// Errors: if the shapes do not broadcast.
    }
    fn [fmin try_fmin] ([] input: &Tensor, other: &Tensor)
    method [fmin try_fmin] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::pointwise::binary::fmin, (input.engine(), other.engine())
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
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32, 2.0].xlogy(&tensor![0f32, 1.0]).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [xlogy try_xlogy] (['a] input: impl Into<Operand<'a>>, other: impl Into<Operand<'a>>)
    method [xlogy try_xlogy] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `xlogy`: writes to the tensor, and returns it.
    } [xlogy_ try_xlogy_] (['a] &self,
        other: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::binary::xlogy_as}
    -> Tensor = engine::pointwise::binary::xlogy, (&as_operand(input), &as_operand(other))
    {}
}

op! {
    {
        /// `input` to the power `exponent` in double precision, whatever the dtypes.
        ///
        /// Args: `input`, `exponent` tensors of any dtype with broadcastable shapes, one may be a number.
        ///
        /// Returns: a float64 tensor of the broadcast shape, a complex128 one if an operand is complex.
        ///
        /// Derivative: that of `pow`.
        ///
        /// Errors: if the shapes do not broadcast, or for the in-place form of a tensor of another dtype than the
        /// result's.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![2i64].float_power(-1).to_vec::<f64>()?, [0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [float_power try_float_power] (['a] input: impl Into<Operand<'a>>, exponent: impl Into<Operand<'a>>)
    method [float_power try_float_power] (['a] &self, exponent: impl Into<Operand<'a>>) {let input = self;}
    in_place {
        /// The in-place form of `float_power`: writes to the tensor, and returns it.
    } [float_power_ try_float_power_] (['a] &self,
        exponent: impl Into<Operand<'a>>) {let input = self;} {engine::pointwise::binary::float_power_as}
    -> Tensor = engine::pointwise::binary::float_power, (&as_operand(input), &as_operand(exponent))
    {}
}

op! {
    {
        /// `input + value * tensor1 * tensor2`, elementwise with broadcasting and promotion.
        ///
        /// Args: `input`, `tensor1`, `tensor2` tensors of any dtype but bool with broadcastable shapes; `value` a
        /// number, cut to an integer for integers.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g`, `g * value * tensor2` and `g * value * tensor1`.
        ///
        /// Errors: if the shapes do not broadcast; for bool.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![1f32].addcmul_with(&tensor![2f32], &tensor![3f32], |o| o.value(10));
        /// assert_eq!(y.to_vec::<f64>()?, [61.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [addcmul try_addcmul addcmul_with try_addcmul_with] ([] input: &Tensor, tensor1: &Tensor, tensor2: &Tensor)
    method [addcmul try_addcmul addcmul_with try_addcmul_with] ([] &self, tensor1: &Tensor,
        tensor2: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `addcmul`: writes to the tensor, and returns it.
    } [addcmul_ try_addcmul_ addcmul_with_ try_addcmul_with_] ([] &self, tensor1: &Tensor,
        tensor2: &Tensor) {let input = self;} {engine::pointwise::ternary::addcmul_as}
    -> Tensor = engine::pointwise::ternary::addcmul, (input.engine(), tensor1.engine(), tensor2.engine(),
        Scalar::Int(1))
    {[] o: ValueOptions => Tensor = (input.engine(), tensor1.engine(), tensor2.engine(), o.value)}
}

op! {
    {
        /// `input + value * tensor1 / tensor2`, elementwise with broadcasting and promotion.
        ///
        /// Args: `input`, `tensor1`, `tensor2` tensors with broadcastable shapes, of which one of the last two is of a
        /// floating or complex dtype; `value` a number.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: `g`, `g * value / tensor2` and `-g * value * tensor1 / tensor2**2`.
        ///
        /// Errors: if the shapes do not broadcast, or for a quotient of integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![1f32].addcdiv_with(&tensor![2f32], &tensor![4f32], |o| o.value(10));
        /// assert_eq!(y.to_vec::<f64>()?, [6.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [addcdiv try_addcdiv addcdiv_with try_addcdiv_with] ([] input: &Tensor, tensor1: &Tensor, tensor2: &Tensor)
    method [addcdiv try_addcdiv addcdiv_with try_addcdiv_with] ([] &self, tensor1: &Tensor,
        tensor2: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `addcdiv`: writes to the tensor, and returns it.
    } [addcdiv_ try_addcdiv_ addcdiv_with_ try_addcdiv_with_] ([] &self, tensor1: &Tensor,
        tensor2: &Tensor) {let input = self;} {engine::pointwise::ternary::addcdiv_as}
    -> Tensor = engine::pointwise::ternary::addcdiv, (input.engine(), tensor1.engine(), tensor2.engine(),
        Scalar::Int(1))
    {[] o: ValueOptions => Tensor = (input.engine(), tensor1.engine(), tensor2.engine(), o.value)}
}

op! {
    {
        /// The point between `input` and `end` that `weight` says, `input + weight * (end - input)`, elementwise.
        ///
        /// Args: `input`, `end` tensors of one floating or complex dtype, `weight` a tensor of that dtype or with a
        /// single dimensionless element, with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape.
        ///
        /// Derivative: `g * (1 - weight)`, `g * weight` and `g * (end - input)`.
        ///
        /// Errors: if the shapes do not broadcast or the dtypes differ; for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![0f32, 1.0].lerp_tensor(&tensor![4f32, 5.0], &tensor![0.5f32, 0.25]);
        /// assert_eq!(y.to_vec::<f64>()?, [2.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "lerp")]
    }
    fn [lerp_tensor try_lerp_tensor] ([] input: &Tensor, end: &Tensor, weight: &Tensor)
    method [lerp_tensor try_lerp_tensor] ([] &self, end: &Tensor, weight: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `lerp_tensor`: writes to the tensor, and returns it.
    } [lerp_tensor_ try_lerp_tensor_] ([] &self, end: &Tensor,
        weight: &Tensor) {let input = self;} {engine::pointwise::ternary::lerp_as}
    -> Tensor = engine::pointwise::ternary::lerp, (input.engine(), end.engine(), weight.engine())
    {}
}

op! {
    {
        /// The point between `input` and `end` that `weight` says, `input + weight * (end - input)`, elementwise.
        ///
        /// Args: `input`, `end` tensors of one floating or complex dtype with broadcastable shapes, `weight` a number.
        ///
        /// Returns: a tensor of the broadcast shape.
        ///
        /// Derivative: `g * (1 - weight)` and `g * weight`.
        ///
        /// Errors: if the shapes do not broadcast or the dtypes differ; for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32, 1.0].lerp(&tensor![4f32, 5.0], 0.5).to_vec::<f64>()?, [2.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [lerp try_lerp] ([] input: &Tensor, end: &Tensor, weight: impl Into<Scalar>)
    method [lerp try_lerp] ([] &self, end: &Tensor, weight: impl Into<Scalar>) {let input = self;}
    in_place {
        /// The in-place form of `lerp`: writes to the tensor, and returns it.
    } [lerp_ try_lerp_] ([] &self, end: &Tensor,
        weight: impl Into<Scalar>) {let input = self;} {engine::pointwise::ternary::lerp_number_as}
    -> Tensor = engine::pointwise::ternary::lerp_number, (input.engine(), end.engine(), as_scalar(weight))
    {}
}

op! {
    {
        /// The greatest common divisor of two integers, not negative; 0 for two zeros.
        ///
        /// Args: `input`, `other` integer tensors with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: none.
        ///
        /// Errors: for floats and bool, if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![12i64, -4].gcd(&tensor![18i64, 6]).to_vec::<i64>()?, [6, 2]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [gcd try_gcd] ([] input: &Tensor, other: &Tensor)
    method [gcd try_gcd] ([] &self, other: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `gcd`: writes to the tensor, and returns it.
    } [gcd_ try_gcd_] ([] &self, other: &Tensor) {let input = self;} {engine::pointwise::discrete::gcd_as}
    -> Tensor = engine::pointwise::discrete::gcd, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The least common multiple of two integers, not negative; 0 if one of them is.
        ///
        /// Args: `input`, `other` integer tensors with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype.
        ///
        /// Derivative: none.
        ///
        /// Errors: for floats and bool, if the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![12i64, -4].lcm(&tensor![18i64, 6]).to_vec::<i64>()?, [36, 12]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [lcm try_lcm] ([] input: &Tensor, other: &Tensor)
    method [lcm try_lcm] ([] &self, other: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `lcm`: writes to the tensor, and returns it.
    } [lcm_ try_lcm_] ([] &self, other: &Tensor) {let input = self;} {engine::pointwise::discrete::lcm_as}
    -> Tensor = engine::pointwise::discrete::lcm, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The step function: 0 for negative elements and NaN, 1 for positive ones, `values` at 0.
        ///
        /// Args: `input`, `values` tensors of one real dtype with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape.
        ///
        /// Derivative: not implemented, as in torch.
        ///
        /// Errors: if the shapes do not broadcast or the dtypes differ.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![-1.5f32, 0.0, 2.0].heaviside(&tensor![0.5f32]).to_vec::<f64>()?, [0.0, 0.5, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [heaviside try_heaviside] ([] input: &Tensor, values: &Tensor)
    method [heaviside try_heaviside] ([] &self, values: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `heaviside`: writes to the tensor, and returns it.
    } [heaviside_ try_heaviside_] ([] &self,
        values: &Tensor) {let input = self;} {engine::pointwise::discrete::heaviside_as}
    -> Tensor = engine::pointwise::discrete::heaviside, (input.engine(), values.engine())
    {}
}

op! {
    {
        /// Whether each element is positive infinity.
        ///
        /// Args: `input` any real dtype.
        ///
        /// Returns: a bool tensor of the same shape.
        ///
        /// Derivative: none.
    }
    fn [isposinf try_isposinf] ([] input: &Tensor)
    method [isposinf try_isposinf] ([] &self) {let input = self;}
    -> Tensor = engine::pointwise::discrete::isposinf, (input.engine())
    {}
}

op! {
    {
        /// Whether each element is negative infinity.
        ///
        /// Args: `input` any real dtype.
        ///
        /// Returns: a bool tensor of the same shape.
        ///
        /// Derivative: none.
    }
    fn [isneginf try_isneginf] ([] input: &Tensor)
    method [isneginf try_isneginf] ([] &self) {let input = self;}
    -> Tensor = engine::pointwise::discrete::isneginf, (input.engine())
    {}
}

op! {
    {
        /// Whether each element is a real number: one whose imaginary part is 0.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: a bool tensor of the same shape.
        ///
        /// Derivative: none.
    }
    fn [isreal try_isreal] ([] input: &Tensor)
    method [isreal try_isreal] ([] &self) {let input = self;}
    -> Tensor = engine::pointwise::discrete::isreal, (input.engine())
    {}
}

op! {
    {
        /// Whether the sign of each element is negative, that of zeros and NaN included.
        ///
        /// Args: `input` any real dtype.
        ///
        /// Returns: a bool tensor of the same shape.
        ///
        /// Derivative: none.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, -0.0, -2.0].signbit().to_vec::<bool>()?, [false, true, true]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [signbit try_signbit] ([] input: &Tensor)
    method [signbit try_signbit] ([] &self) {let input = self;}
    -> Tensor = engine::pointwise::discrete::signbit, (input.engine())
    {}
}

op! {
    {
        /// Whether each of the `elements` is one of the `test_elements`.
        ///
        /// Args: `elements`, `test_elements` tensors of any real dtype but bool and any shapes, one may be a number;
        /// `assume_unique` is accepted for a promise that makes nothing faster here; `invert` answers the opposite.
        ///
        /// Returns: a bool tensor of the shape of `elements`; NaN is in nothing.
        ///
        /// Derivative: none.
        ///
        /// Errors: for bool.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::isin(&tensor![1i64, 2, 3], &tensor![3i64, 1]).to_vec::<bool>()?, [true, false, true]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [isin try_isin isin_with try_isin_with] (['a] elements: impl Into<Operand<'a>>,
        test_elements: impl Into<Operand<'a>>)
    -> Tensor = engine::pointwise::discrete::isin, (&as_operand(elements), &as_operand(test_elements), false, false)
    {[] o: IsinOptions => Tensor = (&as_operand(elements), &as_operand(test_elements), o.assume_unique, o.invert)}
}

op! {
    {
        /// The next number that the dtype has, from each element of `input` towards that of `other`.
        ///
        /// Args: `input`, `other` tensors of which one at least has a floating dtype, with broadcastable shapes.
        ///
        /// Returns: a tensor of the broadcast shape and promoted dtype; NaN where an element is NaN, `other` where both
        /// are equal.
        ///
        /// Derivative: `g` by `input` where the elements differ and 0 elsewhere, 0 by `other`.
        ///
        /// Errors: if the shapes do not broadcast; for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32].nextafter(&tensor![0f32]).to_vec::<f64>()?, [0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [nextafter try_nextafter] ([] input: &Tensor, other: &Tensor)
    method [nextafter try_nextafter] ([] &self, other: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `nextafter`: writes to the tensor, and returns it.
    } [nextafter_ try_nextafter_] ([] &self,
        other: &Tensor) {let input = self;} {engine::pointwise::neighbours::nextafter_as}
    -> Tensor = engine::pointwise::neighbours::nextafter, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// Each element as a fraction, from 1/2 to 1 in magnitude, times a power of two.
        ///
        /// Args: `input` floating dtype.
        ///
        /// Returns: `(mantissa, exponent)`: the fractions, and the exponents in int32, with `input == mantissa *
        /// 2**exponent`; zeros, infinities and NaN are their own fractions, with exponent 0.
        ///
        /// Derivative: `g / 2**exponent`.
        ///
        /// Errors: for other dtypes.
    }
    fn [frexp try_frexp] ([] input: &Tensor)
    method [frexp try_frexp] ([] &self) {let input = self;}
    -> MantissaExponent = engine::pointwise::neighbours::frexp, (input.engine())
    {}
}
