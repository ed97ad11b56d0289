//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

#![cfg_attr(not(all(feature = "conv", feature = "nn")), allow(unused_imports))]

use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{as_count, as_shape};
use crate::shape::Shape;
use crate::{Scalar, Tensor};

#[cfg(feature = "conv")]
pub use crate::ops::nn::conv_transpose1d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::conv_transpose1d_with;
#[cfg(feature = "conv")]
pub use crate::ops::nn::conv_transpose2d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::conv_transpose2d_with;
#[cfg(feature = "conv")]
pub use crate::ops::nn::conv_transpose3d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::conv_transpose3d_with;
#[cfg(feature = "conv")]
pub use crate::ops::nn::conv1d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::conv1d_with;
#[cfg(feature = "conv")]
pub use crate::ops::nn::conv2d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::conv2d_with;
#[cfg(feature = "conv")]
pub use crate::ops::nn::conv3d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::conv3d_with;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv_transpose1d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv_transpose1d_with;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv_transpose2d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv_transpose2d_with;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv_transpose3d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv_transpose3d_with;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv1d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv1d_with;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv2d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv2d_with;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv3d;
#[cfg(feature = "conv")]
pub use crate::ops::nn::try_conv3d_with;

#[cfg(feature = "nn")]
op! {
    {
        /// `nn.functional.layer_norm` with its means and reciprocal deviations.
        ///
        /// Args: as `nn.functional.layer_norm`.
        ///
        /// Returns: `(result, mean, rstd)`; the moments have size 1 in the dims normalized over, and get no gradient.
        /// Derivative, Errors: as there.
        ///
        /// Needs the feature `nn`.
    }
    fn [native_layer_norm try_native_layer_norm] ([] input: &Tensor, normalized_shape: impl Into<Shape>,
        weight: Option<&Tensor>, bias: Option<&Tensor>, eps: f64)
    -> Vec<Tensor> = engine::nn::native::native_layer_norm, (input.engine(), as_shape(normalized_shape).as_slice(),
        weight.map(Tensor::engine), bias.map(Tensor::engine), eps)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `nn.functional.group_norm` of an input seen as (N, C, HxW), with its means and reciprocal deviations.
        ///
        /// Args: `weight`, `bias` of shape (C,), or `None`; `N`, `C`, `HxW` sizes whose product is the number of
        /// elements; `group` how many groups, a divisor of C; `eps` a number added to the variance.
        ///
        /// Returns: `(result, mean, rstd)`, the moments of shape (N, group) and without a gradient.
        ///
        /// Derivative: as `nn.functional.group_norm`.
        ///
        /// Errors: if sizes or dtypes are incompatible.
        ///
        /// Needs the feature `nn`.
    }
    fn [native_group_norm try_native_group_norm] ([] input: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>,
        n: usize, c: usize, hxw: usize, group: usize, eps: f64)
    -> Vec<Tensor> = engine::nn::native::native_group_norm, (input.engine(), weight.map(Tensor::engine),
        bias.map(Tensor::engine), as_count(n), as_count(c), as_count(hxw), as_count(group), eps)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `nn.functional.batch_norm` with its means and reciprocal deviations.
        ///
        /// Args: as `nn.functional.batch_norm`, in another order.
        ///
        /// Returns: `(result, mean, rstd)`, the moments of shape (C,) and without a gradient; empty unless `training`.
        ///
        /// Derivative: as there.
        ///
        /// Errors: for no elements, or if sizes or dtypes are incompatible.
        ///
        /// Needs the feature `nn`.
    }
    fn [native_batch_norm try_native_batch_norm] ([] input: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>,
        running_mean: Option<&Tensor>, running_var: Option<&Tensor>, training: bool, momentum: f64, eps: f64)
    -> Vec<Tensor> = engine::nn::native::native_batch_norm, (input.engine(), weight.map(Tensor::engine),
        bias.map(Tensor::engine), running_mean.map(Tensor::engine), running_var.map(Tensor::engine), training, momentum,
        eps)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `native_batch_norm`, with running moments.
        ///
        /// Needs the feature `nn`.
        #[doc(alias = "_native_batch_norm_legit")]
    }
    fn [native_batch_norm_legit try_native_batch_norm_legit] ([] input: &Tensor, weight: Option<&Tensor>,
        bias: Option<&Tensor>, running_mean: &Tensor, running_var: &Tensor, training: bool, momentum: f64, eps: f64)
    -> Vec<Tensor> = engine::nn::native::_native_batch_norm_legit, (input.engine(), weight.map(Tensor::engine),
        bias.map(Tensor::engine), running_mean.engine(), running_var.engine(), training, momentum, eps)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `native_batch_norm`, without running moments.
        ///
        /// Needs the feature `nn`.
        #[doc(alias = "_native_batch_norm_legit")]
    }
    fn [native_batch_norm_legit_own try_native_batch_norm_legit_own] ([] input: &Tensor, weight: Option<&Tensor>,
        bias: Option<&Tensor>, training: bool, momentum: f64, eps: f64)
    -> Vec<Tensor> = engine::nn::native::_native_batch_norm_legit_own, (input.engine(), weight.map(Tensor::engine),
        bias.map(Tensor::engine), training, momentum, eps)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Zeroes elements at random, each with probability `p`, and scales the others by `1 / (1 - p)`; and says which
        /// stayed.
        ///
        /// Args: `input` floating dtype, any shape; `p` from 0 to 1; `train` `false` drops nothing, of any dtype;
        /// `None` is `true`. Draws from the default generator.
        ///
        /// Returns: `(result, mask)`, the mask in bool.
        ///
        /// Derivative: `g` times the same factors.
        ///
        /// Errors: if `p` is out of range, or for integers.
        ///
        /// Needs the feature `nn`.
    }
    fn [native_dropout try_native_dropout] ([] input: &Tensor, p: f64, train: Option<bool>)
    -> (Tensor, Tensor) = engine::nn::native::native_dropout, (input.engine(), p, train)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `nn.functional.dropout` with all arguments given.
        ///
        /// Args: `input` floating dtype; `p` from 0 to 1; `train` whether to do anything.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` times the same factors.
        ///
        /// Errors: if `p` is out of range.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::dropout(&Tensor::ones([2]), 1.0, true).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [dropout try_dropout] ([] input: &Tensor, p: f64, train: bool)
    -> Tensor = engine::nn::dropout_variants::plain_dropout, (input.engine(), p, train)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `dropout` of whole channels.
        ///
        /// Args: `input` (N, C, ...), floating dtype; `p` from 0 to 1; `train` whether to do anything.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` times the same factors.
        ///
        /// Errors: if `p` is out of range, or for less than two dims.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::feature_dropout(&Tensor::ones([1, 2]), 1.0, true).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [feature_dropout try_feature_dropout] ([] input: &Tensor, p: f64, train: bool)
    -> Tensor = engine::nn::dropout_variants::plain_feature_dropout, (input.engine(), p, train)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `nn.functional.alpha_dropout` with all arguments given.
        ///
        /// Args: `input` floating dtype; `p` from 0 to 1; `train` whether to do anything.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` times the factors, 0 where dropped.
        ///
        /// Errors: if `p` is out of range.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::alpha_dropout(&Tensor::ones([2]), 1.0, true).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [alpha_dropout try_alpha_dropout] ([] input: &Tensor, p: f64, train: bool)
    -> Tensor = engine::nn::dropout_variants::plain_alpha_dropout, (input.engine(), p, train)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `nn.functional.feature_alpha_dropout` with all arguments given.
        ///
        /// Args: `input` (N, C, ...), floating dtype; `p` from 0 to 1; `train` whether to do anything.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` times the factors, 0 where dropped.
        ///
        /// Errors: if `p` is out of range, or for less than two dims.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::feature_alpha_dropout(&Tensor::ones([1, 2]), 1.0, true).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [feature_alpha_dropout try_feature_alpha_dropout] ([] input: &Tensor, p: f64, train: bool)
    -> Tensor = engine::nn::dropout_variants::plain_feature_alpha_dropout, (input.engine(), p, train)
    {}
}

#[cfg(feature = "conv")]
op! {
    {
        /// The convolution over as many axes as the weight has, of a batch.
        ///
        /// Args: `input` (N, C, ...) of three to five dims, `weight` and `bias` as in `conv2d`, or with `transposed` as
        /// in `conv_transpose2d`; lists of one number or one per axis; all arguments are needed, `output_padding`
        /// counts with `transposed` only.
        ///
        /// Returns: a tensor (N, O, ...).
        ///
        /// Derivative: as `conv2d` and `conv_transpose2d`.
        ///
        /// Errors: if sizes, dtypes or numbers are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [convolution try_convolution] ([] input: &Tensor, weight: &Tensor, bias: Option<&Tensor>,
        stride: impl Into<Shape>, padding: impl Into<Shape>, dilation: impl Into<Shape>, transposed: bool,
        output_padding: impl Into<Shape>, groups: usize)
    -> Tensor = engine::nn::conv::entries::convolution, (input.engine(), weight.engine(), bias.map(Tensor::engine),
        as_shape(stride).as_slice(), as_shape(padding).as_slice(), as_shape(dilation).as_slice(), transposed,
        as_shape(output_padding).as_slice(), as_count(groups))
    {}
}

#[cfg(feature = "conv")]
op! {
    {
        /// A convolution along time: `result[t] = bias + sum of input[t + k - pad] @ weight[k]` over the taps `k`.
        ///
        /// Args: `input` (time, batch, in channels); `weight` (taps, in channels, out channels); `bias` (out channels);
        /// `pad` steps of zeros before and behind the input.
        ///
        /// Returns: (time + 2 pad - taps + 1, batch, out channels).
        ///
        /// Derivative: the convolution of `g` with the taps reversed and transposed; for the weight the products of the
        /// input and `g`; for the bias the sum of `g`.
        ///
        /// Errors: if sizes or dtypes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [conv_tbc try_conv_tbc conv_tbc_with try_conv_tbc_with] ([] input: &Tensor, weight: &Tensor, bias: &Tensor)
    -> Tensor = engine::nn::conv::tbc::conv_tbc, (input.engine(), weight.engine(), bias.engine(), 0)
    {[] o: ConvTbcOptions => Tensor = (input.engine(), weight.engine(), bias.engine(), o.pad)}
}

#[cfg(feature = "conv")]
op! {
    {
        /// The maximum of every window along the last axis: `nn.functional.max_pool1d` without indices.
        ///
        /// Args: `input`, `kernel_size`, `stride`, `padding`, `dilation`, `ceil_mode` as there. Returns, Derivative,
        /// Errors: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::max_pool1d(&tensor![[1f32, 3.0, 2.0, 0.0]], 2).to_vec::<f64>()?, [3.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [max_pool1d try_max_pool1d max_pool1d_with try_max_pool1d_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::max::top_max_pool1d, (input.engine(), as_shape(kernel_size).as_slice(), None, &[0],
        &[1], false)
    {[] o: MaxPool1dOptions => Tensor = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.dilation.as_slice(), o.ceil_mode)}
}

#[cfg(feature = "conv")]
op! {
    {
        /// The maximum of every window along the last two axes: `nn.functional.max_pool2d` without indices.
        ///
        /// Args: `input`, `kernel_size`, `stride`, `padding`, `dilation`, `ceil_mode` as there. Returns, Derivative,
        /// Errors: as there.
        ///
        /// Needs the feature `conv`.
    }
    fn [max_pool2d try_max_pool2d max_pool2d_with try_max_pool2d_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::max::top_max_pool2d, (input.engine(), as_shape(kernel_size).as_slice(), None, &[0],
        &[1], false)
    {[] o: MaxPool1dOptions => Tensor = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.dilation.as_slice(), o.ceil_mode)}
}

#[cfg(feature = "conv")]
op! {
    {
        /// The maximum of every window along the last three axes: `nn.functional.max_pool3d` without indices.
        ///
        /// Args: `input`, `kernel_size`, `stride`, `padding`, `dilation`, `ceil_mode` as there. Returns, Derivative,
        /// Errors: as there.
        ///
        /// Needs the feature `conv`.
    }
    fn [max_pool3d try_max_pool3d max_pool3d_with try_max_pool3d_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::max::top_max_pool3d, (input.engine(), as_shape(kernel_size).as_slice(), None, &[0],
        &[1], false)
    {[] o: MaxPool1dOptions => Tensor = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.dilation.as_slice(), o.ceil_mode)}
}

#[cfg(feature = "conv")]
op! {
    {
        /// The maximum of every window along the last axis and where it stands:
        /// `nn.functional.max_pool1d_with_indices`.
        ///
        /// Args: `input`, `kernel_size`, `stride`, `padding`, `dilation`, `ceil_mode` as there. Returns, Derivative,
        /// Errors: as there.
        ///
        /// Needs the feature `conv`.
    }
    fn [max_pool1d_with_indices try_max_pool1d_with_indices max_pool1d_with_indices_with
        try_max_pool1d_with_indices_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> (Tensor, Tensor) = engine::nn::pool::max::top_max_pool1d_with_indices, (input.engine(),
        as_shape(kernel_size).as_slice(), None, &[0], &[1], false)
    {[] o: MaxPool1dOptions => (Tensor, Tensor) = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.dilation.as_slice(), o.ceil_mode)}
}

#[cfg(feature = "conv")]
op! {
    {
        /// The mean of every window along the last axis: `nn.functional.avg_pool1d`.
        ///
        /// Args: `input`, `kernel_size`, `stride`, `padding`, `ceil_mode`, `count_include_pad` as there. Returns,
        /// Derivative, Errors: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::avg_pool1d(&tensor![[1f32, 3.0, 2.0, 0.0]], 2).to_vec::<f64>()?, [2.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [avg_pool1d try_avg_pool1d avg_pool1d_with try_avg_pool1d_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::avg::top_avg_pool1d, (input.engine(), as_shape(kernel_size).as_slice(), None, &[0],
        false, true)
    {[] o: AvgPool1dOptions => Tensor = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.ceil_mode, o.count_include_pad)}
}

#[cfg(feature = "conv")]
op! {
    {
        /// The means of windows that divide the last axis: `nn.functional.adaptive_avg_pool1d`.
        ///
        /// Args: `input`, `output_size` as there. Returns, Derivative, Errors: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::adaptive_avg_pool1d(&tensor![[1f32, 3.0, 2.0, 0.0]], 2).to_vec::<f64>()?, [2.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [adaptive_avg_pool1d try_adaptive_avg_pool1d] ([] input: &Tensor, output_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::adaptive::top_adaptive_avg_pool1d, (input.engine(), as_shape(output_size).as_slice())
    {}
}

#[cfg(feature = "conv")]
op! {
    {
        /// The maxima of windows that divide the last axis, and their indices: `nn.functional.adaptive_max_pool1d`.
        ///
        /// Args: `input`, `output_size` as there. Returns, Derivative, Errors: as there, always with indices.
        ///
        /// Needs the feature `conv`.
    }
    fn [adaptive_max_pool1d try_adaptive_max_pool1d] ([] input: &Tensor, output_size: impl Into<Shape>)
    -> (Tensor, Tensor) = engine::nn::pool::adaptive::top_adaptive_max_pool1d, (input.engine(),
        as_shape(output_size).as_slice())
    {}
}

#[cfg(feature = "conv")]
op! {
    {
        /// A constant around the last axes; see `nn.functional.pad`.
        ///
        /// Args: `pad` the widths before and after the last axis, then those of the axis before it and so on; `value` a
        /// number. Returns, Derivative, Errors: as there.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::constant_pad_nd_with(&tensor![1f32, 2.0], [1, -1], |o| o.value(7));
        /// assert_eq!(y.to_vec::<f64>()?, [7.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [constant_pad_nd try_constant_pad_nd constant_pad_nd_with try_constant_pad_nd_with] ([] input: &Tensor,
        pad: impl Into<Shape>)
    -> Tensor = engine::nn::image::pad::constant_pad_nd, (input.engine(), as_shape(pad).as_slice(), Scalar::Int(0))
    {[] o: ConstantPadNdOptions => Tensor = (input.engine(), as_shape(pad).as_slice(), o.value)}
}

#[cfg(feature = "conv")]
op! {
    {
        /// The same as `nn.functional.pixel_shuffle`.
        ///
        /// Args: `input`, `upscale_factor` as there. Returns, Derivative, Errors: as there.
        ///
        /// Needs the feature `conv`.
    }
    fn [pixel_shuffle try_pixel_shuffle] ([] input: &Tensor, upscale_factor: usize)
    -> Tensor = engine::nn::image::shuffle::top_pixel_shuffle, (input.engine(), as_count(upscale_factor))
    {}
}

#[cfg(feature = "conv")]
op! {
    {
        /// The same as `nn.functional.pixel_unshuffle`.
        ///
        /// Args: `input`, `downscale_factor` as there. Returns, Derivative, Errors: as there.
        ///
        /// Needs the feature `conv`.
    }
    fn [pixel_unshuffle try_pixel_unshuffle] ([] input: &Tensor, downscale_factor: usize)
    -> Tensor = engine::nn::image::shuffle::top_pixel_unshuffle, (input.engine(), as_count(downscale_factor))
    {}
}

#[cfg(feature = "conv")]
op! {
    {
        /// The same as `nn.functional.channel_shuffle`.
        ///
        /// Args: `input`, `groups` as there. Returns, Derivative, Errors: as there.
        ///
        /// Needs the feature `conv`.
    }
    fn [channel_shuffle try_channel_shuffle] ([] input: &Tensor, groups: usize)
    -> Tensor = engine::nn::image::shuffle::top_channel_shuffle, (input.engine(), as_count(groups))
    {}
}

#[cfg(feature = "conv")]
op! {
    {
        /// `nn.functional.grid_sample` with its modes as numbers, in the order in which they are listed there.
        ///
        /// Args: `input`, `grid`, `interpolation_mode`, `padding_mode`, `align_corners` as there. Returns, Derivative,
        /// Errors: as there.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::grid_sampler(&Tensor::ones([1, 1, 2, 2]), &Tensor::zeros([1, 1, 1, 2]), 0, 0, true);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [grid_sampler try_grid_sampler] ([] input: &Tensor, grid: &Tensor, interpolation_mode: i64, padding_mode: i64,
        align_corners: bool)
    -> Tensor = engine::nn::image::grid::grid_sampler, (input.engine(), grid.engine(), interpolation_mode, padding_mode,
        align_corners)
    {}
}

#[cfg(feature = "conv")]
op! {
    {
        /// `grid_sampler` of planes of two axes.
        ///
        /// Args: `input`, `grid`, `interpolation_mode`, `padding_mode`, `align_corners` as there. Returns, Derivative,
        /// Errors: as there.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::grid_sampler_2d(&Tensor::ones([1, 1, 2, 2]), &Tensor::zeros([1, 1, 1, 2]), 0, 0, true);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [grid_sampler_2d try_grid_sampler_2d] ([] input: &Tensor, grid: &Tensor, interpolation_mode: i64,
        padding_mode: i64, align_corners: bool)
    -> Tensor = engine::nn::image::grid::grid_sampler_2d, (input.engine(), grid.engine(), interpolation_mode,
        padding_mode, align_corners)
    {}
}

#[cfg(feature = "conv")]
op! {
    {
        /// `grid_sampler` of blocks of three axes.
        ///
        /// Args: `input`, `grid`, `interpolation_mode`, `padding_mode`, `align_corners` as there. Returns, Derivative,
        /// Errors: as there.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::grid_sampler_3d(&Tensor::ones([1, 1, 2, 2, 2]), &Tensor::zeros([1, 1, 1, 1, 3]), 0, 0, true);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [grid_sampler_3d try_grid_sampler_3d] ([] input: &Tensor, grid: &Tensor, interpolation_mode: i64,
        padding_mode: i64, align_corners: bool)
    -> Tensor = engine::nn::image::grid::grid_sampler_3d, (input.engine(), grid.engine(), interpolation_mode,
        padding_mode, align_corners)
    {}
}

#[cfg(feature = "conv")]
op! {
    {
        /// `nn.functional.affine_grid` under the name of its kernel.
        ///
        /// Args: `theta`, `size`, `align_corners` as there. Returns, Derivative, Errors: as there.
        ///
        /// Needs the feature `conv`.
    }
    fn [affine_grid_generator try_affine_grid_generator] ([] theta: &Tensor, size: impl Into<Shape>,
        align_corners: bool)
    -> Tensor = engine::nn::image::grid::affine_grid_generator, (theta.engine(), as_shape(size).as_slice(),
        align_corners)
    {}
}
