//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{Floats, OutputSize, Padding, as_count, as_scalar, as_shape};
use crate::shape::Shape;
use crate::{Scalar, Tensor};

op! {
    {
        /// The convolution over one axis: `out[n, o, t] = bias[o] + sum of weight[o, c, k] * input[n, c, t * stride -
        /// padding + k * dilation]` over the channels `c` of the group of `o` and the taps `k`, zeros being around the
        /// input.
        ///
        /// Args: `input` (N, C, L) or (C, L), floating or complex dtype (integers, without gradients, too); `weight`
        /// (O, C / groups, k) and `bias` (O,) or `None`, of the same dtype; `stride`, `padding`, `dilation` one number
        /// or one per axis; `groups` parts into which the channels are cut, each seen by its part of the outputs.
        ///
        /// Returns: a tensor (N, O, ...), without N if the input has none; each size is `(size + 2 * padding - dilation
        /// * (k - 1) - 1) // stride + 1`.
        ///
        /// Derivative: for the input the transposed convolution of `g` with the weight; for the weight the sum over
        /// batch and positions of `g[n, o, t] * input[n, c, t * stride - padding + k * dilation]`; for the bias the sum
        /// of `g`.
        ///
        /// Errors: if sizes, dtypes or numbers are incompatible, or the kernel is larger than the padded input.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::nn::conv1d(&Tensor::ones([1, 1, 4]), &Tensor::ones([1, 1, 3]));
        /// assert_eq!(y.to_vec::<f64>()?, [3.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [conv1d try_conv1d conv1d_with try_conv1d_with] ([] input: &Tensor, weight: &Tensor)
    -> Tensor = crate::ops::merged::conv1d, (input.engine(), weight.engine(), None, &[1], &Padding::from(0), &[1], 1)
    {['o] o: Conv1dOptions<'o> => Tensor = (input.engine(), weight.engine(), o.bias.map(Tensor::engine),
        o.stride.as_slice(), &o.padding, o.dilation.as_slice(), o.groups)}
}

op! {
    {
        /// The convolution over two axes: `out[n, o, t] = bias[o] + sum of weight[o, c, k] * input[n, c, t * stride -
        /// padding + k * dilation]` over the channels `c` of the group of `o` and the taps `k`, zeros being around the
        /// input.
        ///
        /// Args: `input` (N, C, H, W) or (C, H, W), floating or complex dtype (integers, without gradients, too);
        /// `weight` (O, C / groups, kh, kw) and `bias` (O,) or `None`, of the same dtype; `stride`, `padding`,
        /// `dilation` one number or one per axis; `groups` parts into which the channels are cut, each seen by its part
        /// of the outputs.
        ///
        /// Returns: a tensor (N, O, ...), without N if the input has none; each size is `(size + 2 * padding - dilation
        /// * (k - 1) - 1) // stride + 1`.
        ///
        /// Derivative: for the input the transposed convolution of `g` with the weight; for the weight the sum over
        /// batch and positions of `g[n, o, t] * input[n, c, t * stride - padding + k * dilation]`; for the bias the sum
        /// of `g`.
        ///
        /// Errors: if sizes, dtypes or numbers are incompatible, or the kernel is larger than the padded input.
        ///
        /// Needs the feature `conv`.
    }
    fn [conv2d try_conv2d conv2d_with try_conv2d_with] ([] input: &Tensor, weight: &Tensor)
    -> Tensor = crate::ops::merged::conv2d, (input.engine(), weight.engine(), None, &[1], &Padding::from(0), &[1], 1)
    {['o] o: Conv1dOptions<'o> => Tensor = (input.engine(), weight.engine(), o.bias.map(Tensor::engine),
        o.stride.as_slice(), &o.padding, o.dilation.as_slice(), o.groups)}
}

op! {
    {
        /// The convolution over three axes: `out[n, o, t] = bias[o] + sum of weight[o, c, k] * input[n, c, t * stride -
        /// padding + k * dilation]` over the channels `c` of the group of `o` and the taps `k`, zeros being around the
        /// input.
        ///
        /// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating or complex dtype (integers, without gradients, too);
        /// `weight` (O, C / groups, kd, kh, kw) and `bias` (O,) or `None`, of the same dtype; `stride`, `padding`,
        /// `dilation` one number or one per axis; `groups` parts into which the channels are cut, each seen by its part
        /// of the outputs.
        ///
        /// Returns: a tensor (N, O, ...), without N if the input has none; each size is `(size + 2 * padding - dilation
        /// * (k - 1) - 1) // stride + 1`.
        ///
        /// Derivative: for the input the transposed convolution of `g` with the weight; for the weight the sum over
        /// batch and positions of `g[n, o, t] * input[n, c, t * stride - padding + k * dilation]`; for the bias the sum
        /// of `g`.
        ///
        /// Errors: if sizes, dtypes or numbers are incompatible, or the kernel is larger than the padded input.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::nn::conv3d(&Tensor::ones([1, 1, 2, 2, 2]), &Tensor::ones([1, 1, 2, 2, 2]));
        /// assert_eq!(y.to_vec::<f64>()?, [8.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [conv3d try_conv3d conv3d_with try_conv3d_with] ([] input: &Tensor, weight: &Tensor)
    -> Tensor = crate::ops::merged::conv3d, (input.engine(), weight.engine(), None, &[1], &Padding::from(0), &[1], 1)
    {['o] o: Conv1dOptions<'o> => Tensor = (input.engine(), weight.engine(), o.bias.map(Tensor::engine),
        o.stride.as_slice(), &o.padding, o.dilation.as_slice(), o.groups)}
}

op! {
    {
        /// The transposed convolution over one axis: `input[n, c, t] * weight[c, o, k]` is added to `out[n, o, t *
        /// stride - padding + k * dilation]`, and `bias[o]` to all. As a function of its input it is the adjoint of
        /// `conv1d`.
        ///
        /// Args: `input` (N, C, L) or (C, L), floating or complex dtype (int64, without gradients, too); `weight` (C, O
        /// / groups, k) and `bias` (O,) or `None`, of the same dtype; `stride`, `padding`, `output_padding`, `dilation`
        /// one number or one per axis, the padding taken away on both sides, the output padding added at the end;
        /// `groups` parts into which the channels are cut.
        ///
        /// Returns: a tensor (N, O, ...), without N if the input has none; each size is `(size - 1) * stride - 2 *
        /// padding + dilation * (k - 1) + output_padding + 1`.
        ///
        /// Derivative: for the input the convolution of `g` with the weight; for the weight the sum over batch and
        /// positions of `input[n, c, t] * g[n, o, t * stride - padding + k * dilation]`; for the bias the sum of `g`.
        ///
        /// Errors: if sizes, dtypes or numbers are incompatible, or the output padding is not less than stride or
        /// dilation.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::nn::conv_transpose1d_with(&Tensor::ones([1, 1, 2]), &Tensor::ones([1, 1, 2]), |o| o.stride(2));
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 1.0, 1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [conv_transpose1d try_conv_transpose1d conv_transpose1d_with try_conv_transpose1d_with] ([] input: &Tensor,
        weight: &Tensor)
    -> Tensor = engine::nn::conv::entries::conv_transpose1d, (input.engine(), weight.engine(), None, &[1], &[0], &[0],
        1, &[1])
    {['o] o: ConvTranspose1dOptions<'o> => Tensor = (input.engine(), weight.engine(), o.bias.map(Tensor::engine),
        o.stride.as_slice(), o.padding.as_slice(), o.output_padding.as_slice(), o.groups, o.dilation.as_slice())}
}

op! {
    {
        /// The transposed convolution over two axes: `input[n, c, t] * weight[c, o, k]` is added to `out[n, o, t *
        /// stride - padding + k * dilation]`, and `bias[o]` to all. As a function of its input it is the adjoint of
        /// `conv2d`.
        ///
        /// Args: `input` (N, C, H, W) or (C, H, W), floating or complex dtype (int64, without gradients, too); `weight`
        /// (C, O / groups, kh, kw) and `bias` (O,) or `None`, of the same dtype; `stride`, `padding`, `output_padding`,
        /// `dilation` one number or one per axis, the padding taken away on both sides, the output padding added at the
        /// end; `groups` parts into which the channels are cut.
        ///
        /// Returns: a tensor (N, O, ...), without N if the input has none; each size is `(size - 1) * stride - 2 *
        /// padding + dilation * (k - 1) + output_padding + 1`.
        ///
        /// Derivative: for the input the convolution of `g` with the weight; for the weight the sum over batch and
        /// positions of `input[n, c, t] * g[n, o, t * stride - padding + k * dilation]`; for the bias the sum of `g`.
        ///
        /// Errors: if sizes, dtypes or numbers are incompatible, or the output padding is not less than stride or
        /// dilation.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::nn::conv_transpose2d(&Tensor::ones([1, 1, 1, 2]), &Tensor::ones([1, 1, 1, 2]));
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [conv_transpose2d try_conv_transpose2d conv_transpose2d_with try_conv_transpose2d_with] ([] input: &Tensor,
        weight: &Tensor)
    -> Tensor = engine::nn::conv::entries::conv_transpose2d, (input.engine(), weight.engine(), None, &[1], &[0], &[0],
        1, &[1])
    {['o] o: ConvTranspose1dOptions<'o> => Tensor = (input.engine(), weight.engine(), o.bias.map(Tensor::engine),
        o.stride.as_slice(), o.padding.as_slice(), o.output_padding.as_slice(), o.groups, o.dilation.as_slice())}
}

op! {
    {
        /// The transposed convolution over three axes: `input[n, c, t] * weight[c, o, k]` is added to `out[n, o, t *
        /// stride - padding + k * dilation]`, and `bias[o]` to all. As a function of its input it is the adjoint of
        /// `conv3d`.
        ///
        /// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating or complex dtype (int64, without gradients, too);
        /// `weight` (C, O / groups, kd, kh, kw) and `bias` (O,) or `None`, of the same dtype; `stride`, `padding`,
        /// `output_padding`, `dilation` one number or one per axis, the padding taken away on both sides, the output
        /// padding added at the end; `groups` parts into which the channels are cut.
        ///
        /// Returns: a tensor (N, O, ...), without N if the input has none; each size is `(size - 1) * stride - 2 *
        /// padding + dilation * (k - 1) + output_padding + 1`.
        ///
        /// Derivative: for the input the convolution of `g` with the weight; for the weight the sum over batch and
        /// positions of `input[n, c, t] * g[n, o, t * stride - padding + k * dilation]`; for the bias the sum of `g`.
        ///
        /// Errors: if sizes, dtypes or numbers are incompatible, or the output padding is not less than stride or
        /// dilation.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::nn::conv_transpose3d(&Tensor::ones([1, 1, 1, 1, 2]), &Tensor::ones([1, 1, 1, 1, 2]));
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [conv_transpose3d try_conv_transpose3d conv_transpose3d_with try_conv_transpose3d_with] ([] input: &Tensor,
        weight: &Tensor)
    -> Tensor = engine::nn::conv::entries::conv_transpose3d, (input.engine(), weight.engine(), None, &[1], &[0], &[0],
        1, &[1])
    {['o] o: ConvTranspose1dOptions<'o> => Tensor = (input.engine(), weight.engine(), o.bias.map(Tensor::engine),
        o.stride.as_slice(), o.padding.as_slice(), o.output_padding.as_slice(), o.groups, o.dilation.as_slice())}
}

op! {
    {
        /// The windows that a kernel of some size sees of images, each as a column.
        ///
        /// Args: `input` (N, C, H, W) or (C, H, W), floating or complex dtype or bool; `kernel_size`, `dilation`,
        /// `padding`, `stride` one number or a pair, of rows and columns: the window's size, the distance of its
        /// elements, zeros around the image, and the distance of windows.
        ///
        /// Returns: a tensor (N, C \* kh \* kw, L), without N if the input has none, of `L` windows, row by row.
        ///
        /// Derivative: `fold` of `g`.
        ///
        /// Errors: if the input has not three or four dims or a size of 0, a number is too small, or no window fits.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::unfold(&tensor![[[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]]], [2, 2]);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 5.0, 6.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [unfold try_unfold unfold_with try_unfold_with] ([] input: &Tensor, kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::conv::windows::unfold, (input.engine(), as_shape(kernel_size).as_slice(), &[1], &[0], &[1])
    {[] o: DilationPaddingStrideOptions => Tensor = (input.engine(), as_shape(kernel_size).as_slice(),
        o.dilation.as_slice(), o.padding.as_slice(), o.stride.as_slice())}
}

op! {
    {
        /// The images that windows add up to: the adjoint of `unfold`.
        ///
        /// Args: `input` (N, C \* kh \* kw, L) or (C \* kh \* kw, L), floating or complex dtype or bool: `L` windows,
        /// as `unfold` makes them; `output_size` of the images, one number or a pair; `kernel_size`, `dilation`,
        /// `padding`, `stride` as in `unfold`.
        ///
        /// Returns: a tensor (N, C, H, W), without N if the input has none; each element is the sum of what the windows
        /// have there.
        ///
        /// Derivative: `unfold` of `g`.
        ///
        /// Errors: if the sizes are incompatible or a number is too small.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::nn::fold(&Tensor::ones([4, 2]), [2, 3], [2, 2]);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0, 1.0, 1.0, 2.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [fold try_fold fold_with try_fold_with] ([] input: &Tensor, output_size: impl Into<Shape>,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::conv::windows::fold, (input.engine(), as_shape(output_size).as_slice(),
        as_shape(kernel_size).as_slice(), &[1], &[0], &[1])
    {[] o: DilationPaddingStrideOptions => Tensor = (input.engine(), as_shape(output_size).as_slice(),
        as_shape(kernel_size).as_slice(), o.dilation.as_slice(), o.padding.as_slice(), o.stride.as_slice())}
}

op! {
    {
        /// The maximum of windows at random distances along the last two axes.
        ///
        /// Args: `input` (N, C, H, W) or (C, H, W), floating dtype; `kernel_size` the size of the windows;
        /// `output_size` how many there are along each axis, or `output_ratio` how many for each element;
        /// `return_indices` also returns where in its plane each maximum stands; `_random_samples` (N, C, 2) numbers
        /// from 0 to 1 for the distances (drawn from the default generator).
        ///
        /// Returns: a tensor, or a pair of it and int64 indices. NaN wins.
        ///
        /// Derivative: `g` at the places of the maxima.
        ///
        /// Errors: without a size, if sizes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [fractional_max_pool2d try_fractional_max_pool2d fractional_max_pool2d_with try_fractional_max_pool2d_with] ([]
        input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::fractional::fractional_max_pool2d, (input.engine(), as_shape(kernel_size).as_slice(),
        None, None, false, None)
    {['o] o: OutputSizeOutputRatioRandomSamplesOptions<'o> => Tensor = (input.engine(),
        as_shape(kernel_size).as_slice(), o.output_size.as_ref().map(Shape::as_slice),
        o.output_ratio.as_ref().map(Floats::as_slice), false, o.random_samples.map(Tensor::engine))}
}

op! {
    {
        /// The maximum of windows at random distances along the last three axes.
        ///
        /// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating dtype; `kernel_size` the size of the windows;
        /// `output_size` how many there are along each axis, or `output_ratio` how many for each element;
        /// `return_indices` also returns where in its plane each maximum stands; `_random_samples` (N, C, 3) numbers
        /// from 0 to 1 for the distances (drawn from the default generator).
        ///
        /// Returns: a tensor, or a pair of it and int64 indices. NaN wins.
        ///
        /// Derivative: `g` at the places of the maxima.
        ///
        /// Errors: without a size, if sizes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [fractional_max_pool3d try_fractional_max_pool3d fractional_max_pool3d_with try_fractional_max_pool3d_with] ([]
        input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::fractional::fractional_max_pool3d, (input.engine(), as_shape(kernel_size).as_slice(),
        None, None, false, None)
    {['o] o: OutputSizeOutputRatioRandomSamplesOptions<'o> => Tensor = (input.engine(),
        as_shape(kernel_size).as_slice(), o.output_size.as_ref().map(Shape::as_slice),
        o.output_ratio.as_ref().map(Floats::as_slice), false, o.random_samples.map(Tensor::engine))}
}

op! {
    {
        /// The maxima that `fractional_max_pool2d` returns, and their indices.
        ///
        /// Args, Returns, Derivative, Errors: as `fractional_max_pool2d`; indices are returned always.
        ///
        /// Needs the feature `conv`.
    }
    fn [fractional_max_pool2d_with_indices try_fractional_max_pool2d_with_indices
        fractional_max_pool2d_with_indices_with try_fractional_max_pool2d_with_indices_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> (Tensor, Tensor) = engine::nn::pool::fractional::fractional_max_pool2d_with_indices, (input.engine(),
        as_shape(kernel_size).as_slice(), None, None, false, None)
    {['o] o: OutputSizeOutputRatioRandomSamplesOptions<'o> => (Tensor, Tensor) = (input.engine(),
        as_shape(kernel_size).as_slice(), o.output_size.as_ref().map(Shape::as_slice),
        o.output_ratio.as_ref().map(Floats::as_slice), false, o.random_samples.map(Tensor::engine))}
}

op! {
    {
        /// The maxima that `fractional_max_pool3d` returns, and their indices.
        ///
        /// Args, Returns, Derivative, Errors: as `fractional_max_pool3d`; indices are returned always.
        ///
        /// Needs the feature `conv`.
    }
    fn [fractional_max_pool3d_with_indices try_fractional_max_pool3d_with_indices
        fractional_max_pool3d_with_indices_with try_fractional_max_pool3d_with_indices_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> (Tensor, Tensor) = engine::nn::pool::fractional::fractional_max_pool3d_with_indices, (input.engine(),
        as_shape(kernel_size).as_slice(), None, None, false, None)
    {['o] o: OutputSizeOutputRatioRandomSamplesOptions<'o> => (Tensor, Tensor) = (input.engine(),
        as_shape(kernel_size).as_slice(), o.output_size.as_ref().map(Shape::as_slice),
        o.output_ratio.as_ref().map(Floats::as_slice), false, o.random_samples.map(Tensor::engine))}
}

op! {
    {
        /// The maximum of every window along the last axis.
        ///
        /// Args: `input` (N, C, W) or (C, W), a float dtype (with indices also integers); `kernel_size` the size of the
        /// windows; `stride` from one window to the next, by default the kernel size; `padding` of lower than every
        /// number on both sides, at most half the kernel size; `dilation` from one position of a window to the next;
        /// `ceil_mode` also counts windows that begin inside but end outside; `return_indices` also returns where in
        /// its row each maximum stands.
        ///
        /// Returns: a tensor (N, C, W'), or a pair of it and int64 indices. Of equal numbers the first is the maximum;
        /// NaN wins.
        ///
        /// Derivative: `g` at the places of the maxima.
        ///
        /// Errors: if windows and sizes are incompatible.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::max_pool1d(&tensor![[1f32, 3.0, 2.0, 0.0]], 2).to_vec::<f64>()?, [3.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [max_pool1d try_max_pool1d max_pool1d_with try_max_pool1d_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::max::max_pool1d, (input.engine(), as_shape(kernel_size).as_slice(), None, &[0], &[1],
        false, false)
    {[] o: MaxPool1dOptions => Tensor = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.dilation.as_slice(), o.ceil_mode, false)}
}

op! {
    {
        /// The maximum of every window along the last two axes.
        ///
        /// Args: `input` (N, C, H, W) or (C, H, W), a float dtype or integers; `kernel_size` the size of the windows;
        /// `stride` from one window to the next, by default the kernel size; `padding` of lower than every number on
        /// both sides, at most half the kernel size; `dilation` from one position of a window to the next; `ceil_mode`
        /// also counts windows that begin inside but end outside; `return_indices` also returns where in its plane, row
        /// by row, each maximum stands.
        ///
        /// Returns: a tensor (N, C, H', W'), or a pair of it and int64 indices. Of equal numbers the first is the
        /// maximum; NaN wins.
        ///
        /// Derivative: `g` at the places of the maxima.
        ///
        /// Errors: if windows and sizes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [max_pool2d try_max_pool2d max_pool2d_with try_max_pool2d_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::max::max_pool2d, (input.engine(), as_shape(kernel_size).as_slice(), None, &[0], &[1],
        false, false)
    {[] o: MaxPool1dOptions => Tensor = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.dilation.as_slice(), o.ceil_mode, false)}
}

op! {
    {
        /// The maximum of every window along the last three axes.
        ///
        /// Args: `input` (N, C, D, H, W) or (C, D, H, W), a float dtype or integers; `kernel_size` the size of the
        /// windows; `stride` from one window to the next, by default the kernel size; `padding` of lower than every
        /// number on both sides, at most half the kernel size; `dilation` from one position of a window to the next;
        /// `ceil_mode` also counts windows that begin inside but end outside; `return_indices` also returns where in
        /// its block, row by row, each maximum stands.
        ///
        /// Returns: a tensor (N, C, D', H', W'), or a pair of it and int64 indices. Of equal numbers the first is the
        /// maximum; NaN wins.
        ///
        /// Derivative: `g` at the places of the maxima.
        ///
        /// Errors: if windows and sizes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [max_pool3d try_max_pool3d max_pool3d_with try_max_pool3d_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::max::max_pool3d, (input.engine(), as_shape(kernel_size).as_slice(), None, &[0], &[1],
        false, false)
    {[] o: MaxPool1dOptions => Tensor = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.dilation.as_slice(), o.ceil_mode, false)}
}

op! {
    {
        /// The maxima that `max_pool1d` returns, and their indices.
        ///
        /// Args, Returns, Derivative, Errors: as `max_pool1d`; indices are returned always.
        ///
        /// Needs the feature `conv`.
    }
    fn [max_pool1d_with_indices try_max_pool1d_with_indices max_pool1d_with_indices_with
        try_max_pool1d_with_indices_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> (Tensor, Tensor) = engine::nn::pool::max::max_pool1d_with_indices, (input.engine(),
        as_shape(kernel_size).as_slice(), None, &[0], &[1], false, false)
    {[] o: MaxPool1dOptions => (Tensor, Tensor) = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.dilation.as_slice(), o.ceil_mode, false)}
}

op! {
    {
        /// The maxima that `max_pool2d` returns, and their indices.
        ///
        /// Args, Returns, Derivative, Errors: as `max_pool2d`; indices are returned always.
        ///
        /// Needs the feature `conv`.
    }
    fn [max_pool2d_with_indices try_max_pool2d_with_indices max_pool2d_with_indices_with
        try_max_pool2d_with_indices_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> (Tensor, Tensor) = engine::nn::pool::max::max_pool2d_with_indices, (input.engine(),
        as_shape(kernel_size).as_slice(), None, &[0], &[1], false, false)
    {[] o: MaxPool1dOptions => (Tensor, Tensor) = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.dilation.as_slice(), o.ceil_mode, false)}
}

op! {
    {
        /// The maxima that `max_pool3d` returns, and their indices.
        ///
        /// Args, Returns, Derivative, Errors: as `max_pool3d`; indices are returned always.
        ///
        /// Needs the feature `conv`.
    }
    fn [max_pool3d_with_indices try_max_pool3d_with_indices max_pool3d_with_indices_with
        try_max_pool3d_with_indices_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> (Tensor, Tensor) = engine::nn::pool::max::max_pool3d_with_indices, (input.engine(),
        as_shape(kernel_size).as_slice(), None, &[0], &[1], false, false)
    {[] o: MaxPool1dOptions => (Tensor, Tensor) = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.dilation.as_slice(), o.ceil_mode, false)}
}

op! {
    {
        /// The mean of every window along the last axis.
        ///
        /// Args: `input` (N, C, W) or (C, W), floating dtype or int64; `kernel_size` the size of the windows; `stride`
        /// from one window to the next, by default the kernel size; `padding` of zeros on both sides, at most half the
        /// kernel size; `ceil_mode` also counts windows that begin inside but end outside; `count_include_pad` divides
        /// by the number of positions with those in the padding.
        ///
        /// Returns: a tensor (N, C, W').
        ///
        /// Derivative: `g`, divided alike, added to every position of its window.
        ///
        /// Errors: if windows and sizes are incompatible.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::avg_pool1d(&tensor![[1f32, 3.0, 2.0, 0.0]], 2).to_vec::<f64>()?, [2.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [avg_pool1d try_avg_pool1d avg_pool1d_with try_avg_pool1d_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::avg::avg_pool1d, (input.engine(), as_shape(kernel_size).as_slice(), None, &[0], false,
        true)
    {[] o: AvgPool1dOptions => Tensor = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.ceil_mode, o.count_include_pad)}
}

op! {
    {
        /// The mean of every window along the last two axes.
        ///
        /// Args: `input` (N, C, H, W) or (C, H, W), floating dtype or int64; `kernel_size` the size of the windows;
        /// `stride` from one window to the next, by default the kernel size; `padding` of zeros on both sides, at most
        /// half the kernel size; `ceil_mode` also counts windows that begin inside but end outside; `count_include_pad`
        /// divides by the number of positions with those in the padding; `divisor_override` divides by this number
        /// instead.
        ///
        /// Returns: a tensor (N, C, H', W').
        ///
        /// Derivative: `g`, divided alike, added to every position of its window.
        ///
        /// Errors: if windows and sizes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [avg_pool2d try_avg_pool2d avg_pool2d_with try_avg_pool2d_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::avg::avg_pool2d, (input.engine(), as_shape(kernel_size).as_slice(), None, &[0], false,
        true, None)
    {[] o: AvgPool2dOptions => Tensor = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.ceil_mode, o.count_include_pad,
        o.divisor_override)}
}

op! {
    {
        /// The mean of every window along the last three axes.
        ///
        /// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating dtype or int64; `kernel_size` the size of the
        /// windows; `stride` from one window to the next, by default the kernel size; `padding` of zeros on both sides,
        /// at most half the kernel size; `ceil_mode` also counts windows that begin inside but end outside;
        /// `count_include_pad` divides by the number of positions with those in the padding; `divisor_override` divides
        /// by this number instead.
        ///
        /// Returns: a tensor (N, C, D', H', W').
        ///
        /// Derivative: `g`, divided alike, added to every position of its window.
        ///
        /// Errors: if windows and sizes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [avg_pool3d try_avg_pool3d avg_pool3d_with try_avg_pool3d_with] ([] input: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::avg::avg_pool3d, (input.engine(), as_shape(kernel_size).as_slice(), None, &[0], false,
        true, None)
    {[] o: AvgPool2dOptions => Tensor = (input.engine(), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(), o.ceil_mode, o.count_include_pad,
        o.divisor_override)}
}

op! {
    {
        /// The means of windows that divide the last axis as evenly as may be.
        ///
        /// Args: `input` (N, C, W) or (C, W), floating dtype; `output_size` how many windows.
        ///
        /// Returns: a tensor (N, C, output_size).
        ///
        /// Derivative: `g`, over the size of its window, added to the window.
        ///
        /// Errors: if sizes are incompatible.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::adaptive_avg_pool1d(&tensor![[1f32, 3.0, 2.0, 0.0]], 2).to_vec::<f64>()?, [2.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [adaptive_avg_pool1d try_adaptive_avg_pool1d] ([] input: &Tensor, output_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::adaptive::adaptive_avg_pool1d, (input.engine(), as_shape(output_size).as_slice())
    {}
}

op! {
    {
        /// The means of windows that divide the last two axes as evenly as may be.
        ///
        /// Args: `input` (N, C, H, W) or (C, H, W), floating dtype; `output_size` how many windows, one number for all
        /// axes or one for each; `None` keeps the axis.
        ///
        /// Returns: a tensor (N, C, \*output_size).
        ///
        /// Derivative: `g`, over the size of its window, added to the window.
        ///
        /// Errors: if sizes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [adaptive_avg_pool2d try_adaptive_avg_pool2d] ([] input: &Tensor, output_size: impl Into<OutputSize>)
    -> Tensor = engine::nn::pool::adaptive::adaptive_avg_pool2d, (input.engine(), output_size.into().as_slice())
    {}
}

op! {
    {
        /// The means of windows that divide the last three axes as evenly as may be.
        ///
        /// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating dtype; `output_size` how many windows, one number
        /// for all axes or one for each; `None` keeps the axis.
        ///
        /// Returns: a tensor (N, C, \*output_size).
        ///
        /// Derivative: `g`, over the size of its window, added to the window.
        ///
        /// Errors: if sizes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [adaptive_avg_pool3d try_adaptive_avg_pool3d] ([] input: &Tensor, output_size: impl Into<OutputSize>)
    -> Tensor = engine::nn::pool::adaptive::adaptive_avg_pool3d, (input.engine(), output_size.into().as_slice())
    {}
}

op! {
    {
        /// The maxima of windows that divide the last axis as evenly as may be.
        ///
        /// Args: `input` (N, C, W) or (C, W), floating dtype; `output_size` how many windows; `return_indices` also
        /// returns where in its plane each maximum stands.
        ///
        /// Returns: a tensor (N, C, output_size), or a pair of it and int64 indices.
        ///
        /// Derivative: `g` at the places of the maxima.
        ///
        /// Errors: if sizes are incompatible.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::adaptive_max_pool1d(&tensor![[1f32, 3.0, 2.0, 0.0]], 2).to_vec::<f64>()?, [3.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [adaptive_max_pool1d try_adaptive_max_pool1d] ([] input: &Tensor, output_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::adaptive::adaptive_max_pool1d, (input.engine(), as_shape(output_size).as_slice(),
        false)
    {}
}

op! {
    {
        /// The maxima of windows that divide the last two axes as evenly as may be.
        ///
        /// Args: `input` (N, C, H, W) or (C, H, W), floating dtype; `output_size` how many windows, one number for all
        /// axes or one for each; `None` keeps the axis; `return_indices` also returns where in its plane each maximum
        /// stands.
        ///
        /// Returns: a tensor (N, C, \*output_size), or a pair of it and int64 indices.
        ///
        /// Derivative: `g` at the places of the maxima.
        ///
        /// Errors: if sizes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [adaptive_max_pool2d try_adaptive_max_pool2d] ([] input: &Tensor, output_size: impl Into<OutputSize>)
    -> Tensor = engine::nn::pool::adaptive::adaptive_max_pool2d, (input.engine(), output_size.into().as_slice(), false)
    {}
}

op! {
    {
        /// The maxima of windows that divide the last three axes as evenly as may be.
        ///
        /// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating dtype; `output_size` how many windows, one number
        /// for all axes or one for each; `None` keeps the axis; `return_indices` also returns where in its plane each
        /// maximum stands.
        ///
        /// Returns: a tensor (N, C, \*output_size), or a pair of it and int64 indices.
        ///
        /// Derivative: `g` at the places of the maxima.
        ///
        /// Errors: if sizes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [adaptive_max_pool3d try_adaptive_max_pool3d] ([] input: &Tensor, output_size: impl Into<OutputSize>)
    -> Tensor = engine::nn::pool::adaptive::adaptive_max_pool3d, (input.engine(), output_size.into().as_slice(), false)
    {}
}

op! {
    {
        /// The maxima that `adaptive_max_pool1d` returns, and their indices.
        ///
        /// Args, Returns, Derivative, Errors: as `adaptive_max_pool1d`; indices are returned always.
        ///
        /// Needs the feature `conv`.
    }
    fn [adaptive_max_pool1d_with_indices try_adaptive_max_pool1d_with_indices] ([] input: &Tensor,
        output_size: impl Into<Shape>)
    -> (Tensor, Tensor) = engine::nn::pool::adaptive::adaptive_max_pool1d_with_indices, (input.engine(),
        as_shape(output_size).as_slice(), false)
    {}
}

op! {
    {
        /// The maxima that `adaptive_max_pool2d` returns, and their indices.
        ///
        /// Args, Returns, Derivative, Errors: as `adaptive_max_pool2d`; indices are returned always.
        ///
        /// Needs the feature `conv`.
    }
    fn [adaptive_max_pool2d_with_indices try_adaptive_max_pool2d_with_indices] ([] input: &Tensor,
        output_size: impl Into<OutputSize>)
    -> (Tensor, Tensor) = engine::nn::pool::adaptive::adaptive_max_pool2d_with_indices, (input.engine(),
        output_size.into().as_slice(), false)
    {}
}

op! {
    {
        /// The maxima that `adaptive_max_pool3d` returns, and their indices.
        ///
        /// Args, Returns, Derivative, Errors: as `adaptive_max_pool3d`; indices are returned always.
        ///
        /// Needs the feature `conv`.
    }
    fn [adaptive_max_pool3d_with_indices try_adaptive_max_pool3d_with_indices] ([] input: &Tensor,
        output_size: impl Into<OutputSize>)
    -> (Tensor, Tensor) = engine::nn::pool::adaptive::adaptive_max_pool3d_with_indices, (input.engine(),
        output_size.into().as_slice(), false)
    {}
}

op! {
    {
        /// The p-norm of every window along the last axis: `(sum x^p)^(1/p)`.
        ///
        /// Args: `input` (N, C, W) or (C, W), floating dtype; `norm_type` the number p, also infinite for the maximum;
        /// `kernel_size`, `stride` and `ceil_mode` as for `avg_pool1d`.
        ///
        /// Returns: a tensor as `avg_pool1d` does.
        ///
        /// Derivative: that of the powers, the mean and the root it consists of.
        ///
        /// Errors: if windows and sizes are incompatible; for p = 0.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::lp_pool1d(&tensor![[3f32, 4.0, 0.0, 2.0]], 2.0, 2).to_vec::<f64>()?, [5.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [lp_pool1d try_lp_pool1d lp_pool1d_with try_lp_pool1d_with] ([] input: &Tensor, norm_type: impl Into<Scalar>,
        kernel_size: usize)
    -> Tensor = engine::nn::pool::norm::lp_pool1d, (input.engine(), as_scalar(norm_type), as_count(kernel_size), None,
        false)
    {[] o: StrideCeilModeOptions => Tensor = (input.engine(), as_scalar(norm_type), as_count(kernel_size),
        o.stride.as_ref().map(Shape::as_slice), o.ceil_mode)}
}

op! {
    {
        /// The p-norm of every window along the last two axes: `(sum x^p)^(1/p)`.
        ///
        /// Args: `input` (N, C, H, W) or (C, H, W), floating dtype; `norm_type` the number p, also infinite for the
        /// maximum; `kernel_size`, `stride` and `ceil_mode` as for `avg_pool2d`.
        ///
        /// Returns: a tensor as `avg_pool2d` does.
        ///
        /// Derivative: that of the powers, the mean and the root it consists of.
        ///
        /// Errors: if windows and sizes are incompatible; for p = 0.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::nn::lp_pool2d(&Tensor::ones([1, 2, 2]), 2.0, 2).to_vec::<f64>()?, [2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [lp_pool2d try_lp_pool2d lp_pool2d_with try_lp_pool2d_with] ([] input: &Tensor, norm_type: impl Into<Scalar>,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::norm::lp_pool2d, (input.engine(), as_scalar(norm_type),
        as_shape(kernel_size).as_slice(), None, false)
    {[] o: StrideCeilModeOptions => Tensor = (input.engine(), as_scalar(norm_type), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.ceil_mode)}
}

op! {
    {
        /// The p-norm of every window along the last three axes: `(sum x^p)^(1/p)`.
        ///
        /// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating dtype; `norm_type` the number p, also infinite for
        /// the maximum; `kernel_size`, `stride` and `ceil_mode` as for `avg_pool3d`.
        ///
        /// Returns: a tensor as `avg_pool3d` does.
        ///
        /// Derivative: that of the powers, the mean and the root it consists of.
        ///
        /// Errors: if windows and sizes are incompatible; for p = 0.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::nn::lp_pool3d(&Tensor::ones([1, 2, 2, 2]), 1.0, 2).to_vec::<f64>()?, [8.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [lp_pool3d try_lp_pool3d lp_pool3d_with try_lp_pool3d_with] ([] input: &Tensor, norm_type: impl Into<Scalar>,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::norm::lp_pool3d, (input.engine(), as_scalar(norm_type),
        as_shape(kernel_size).as_slice(), None, false)
    {[] o: StrideCeilModeOptions => Tensor = (input.engine(), as_scalar(norm_type), as_shape(kernel_size).as_slice(),
        o.stride.as_ref().map(Shape::as_slice), o.ceil_mode)}
}

op! {
    {
        /// Maxima at the places of a row that `max_pool1d` found them at, zeros elsewhere.
        ///
        /// Args: `input` (N, C, W) or (C, W), floating dtype; `indices` int64 of the same shape, as `max_pool1d`
        /// returns them; `kernel_size`, `stride` and `padding` as given there; `output_size` the sizes of what was
        /// pooled, where these do not follow from the other arguments.
        ///
        /// Returns: a tensor of the sizes before pooling.
        ///
        /// Derivative: `g` at the places.
        ///
        /// Errors: for an index that names no place; for an `output_size` that does not go with the others.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::max_unpool1d(&tensor![[3f32, 2.0]], &tensor![[1i64, 2]], 2);
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 3.0, 2.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [max_unpool1d try_max_unpool1d max_unpool1d_with try_max_unpool1d_with] ([] input: &Tensor, indices: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::unpool::max_unpool1d, (input.engine(), indices.engine(),
        as_shape(kernel_size).as_slice(), None, &[0], None)
    {[] o: StridePaddingOutputSizeOptions => Tensor = (input.engine(), indices.engine(),
        as_shape(kernel_size).as_slice(), o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(),
        o.output_size.as_ref().map(Shape::as_slice))}
}

op! {
    {
        /// Maxima at the places of a plane that `max_pool2d` found them at, zeros elsewhere.
        ///
        /// Args: `input` (N, C, H, W) or (C, H, W), floating dtype; `indices` int64 of the same shape, as `max_pool2d`
        /// returns them; `kernel_size`, `stride` and `padding` as given there; `output_size` the sizes of what was
        /// pooled, where these do not follow from the other arguments.
        ///
        /// Returns: a tensor of the sizes before pooling.
        ///
        /// Derivative: `g` at the places.
        ///
        /// Errors: for an index that names no place; for an `output_size` that does not go with the others.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::max_unpool2d(&tensor![[[9f32]]], &tensor![[[2i64]]], 2);
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 0.0, 9.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [max_unpool2d try_max_unpool2d max_unpool2d_with try_max_unpool2d_with] ([] input: &Tensor, indices: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::unpool::max_unpool2d, (input.engine(), indices.engine(),
        as_shape(kernel_size).as_slice(), None, &[0], None)
    {[] o: StridePaddingOutputSizeOptions => Tensor = (input.engine(), indices.engine(),
        as_shape(kernel_size).as_slice(), o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(),
        o.output_size.as_ref().map(Shape::as_slice))}
}

op! {
    {
        /// Maxima at the places of a block that `max_pool3d` found them at, zeros elsewhere.
        ///
        /// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating dtype; `indices` int64 of the same shape, as
        /// `max_pool3d` returns them; `kernel_size`, `stride` and `padding` as given there; `output_size` the sizes of
        /// what was pooled, where these do not follow from the other arguments.
        ///
        /// Returns: a tensor of the sizes before pooling.
        ///
        /// Derivative: `g` at the places.
        ///
        /// Errors: for an index that names no place; for an `output_size` that does not go with the others.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::max_unpool3d(&tensor![[[[9f32]]]], &tensor![[[[1i64]]]], [1, 1, 2]);
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 9.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [max_unpool3d try_max_unpool3d max_unpool3d_with try_max_unpool3d_with] ([] input: &Tensor, indices: &Tensor,
        kernel_size: impl Into<Shape>)
    -> Tensor = engine::nn::pool::unpool::max_unpool3d, (input.engine(), indices.engine(),
        as_shape(kernel_size).as_slice(), None, &[0], None)
    {[] o: StridePaddingOutputSizeOptions => Tensor = (input.engine(), indices.engine(),
        as_shape(kernel_size).as_slice(), o.stride.as_ref().map(Shape::as_slice), o.padding.as_slice(),
        o.output_size.as_ref().map(Shape::as_slice))}
}

op! {
    {
        /// Borders around the last axes.
        ///
        /// Args: `input` any dtype; `pad` the widths before and after the last axis, then those of the axis before it
        /// and so on: negative ones cut off; `mode` `PaddingMode::Constant` for `value` (by default 0), over any number
        /// of axes; `PaddingMode::Reflect`, `PaddingMode::Replicate` or `PaddingMode::Circular` for the input's own
        /// elements (no bool but in the last), over the last axis of two or three, the last two of three or four, or
        /// the last three of four or five.
        ///
        /// Returns: a new tensor.
        ///
        /// Derivative: the sum of `g` over the positions that each element was copied to.
        ///
        /// Errors: if widths do not fit the sizes; for other numbers of axes and other modes.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::pad_with(&tensor![[1f32, 2.0, 3.0]], [2, 1], |o| o.mode(ops::PaddingMode::Reflect));
        /// assert_eq!(y.to_vec::<f64>()?, [3.0, 2.0, 1.0, 2.0, 3.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `conv`.
    }
    fn [pad try_pad pad_with try_pad_with] ([] input: &Tensor, pad: impl Into<Shape>)
    -> Tensor = engine::nn::image::pad::pad, (input.engine(), as_shape(pad).as_slice(), "constant", None)
    {[] o: PadOptions => Tensor = (input.engine(), as_shape(pad).as_slice(), o.mode.name(), o.value)}
}

op! {
    {
        /// Moves channels into positions: every square of `upscale_factor` positions is filled from as many channels.
        ///
        /// Args: `input` a tensor (\*, C \* r^2, H, W), any dtype; `upscale_factor` the number r.
        ///
        /// Returns: a tensor (\*, C, H \* r, W \* r).
        ///
        /// Derivative: `g` moved back.
        ///
        /// Errors: if sizes and the number are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [pixel_shuffle try_pixel_shuffle] ([] input: &Tensor, upscale_factor: usize)
    -> Tensor = engine::nn::image::shuffle::pixel_shuffle, (input.engine(), as_count(upscale_factor))
    {}
}

op! {
    {
        /// Moves positions into channels: undoes `pixel_shuffle`.
        ///
        /// Args: `input` a tensor (\*, C, H \* r, W \* r), any dtype; `downscale_factor` the number r.
        ///
        /// Returns: a tensor (\*, C \* r^2, H, W).
        ///
        /// Derivative: `g` moved back.
        ///
        /// Errors: if sizes and the number are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [pixel_unshuffle try_pixel_unshuffle] ([] input: &Tensor, downscale_factor: usize)
    -> Tensor = engine::nn::image::shuffle::pixel_unshuffle, (input.engine(), as_count(downscale_factor))
    {}
}

op! {
    {
        /// Reorders the channels (axis 1): the first of every group, then the second of every group, and so on.
        ///
        /// Args: `input` a tensor (N, C, \*) with at least three axes, any dtype; `groups` how many groups the channels
        /// form.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` in the original order.
        ///
        /// Errors: if sizes and the number are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [channel_shuffle try_channel_shuffle] ([] input: &Tensor, groups: usize)
    -> Tensor = engine::nn::image::shuffle::channel_shuffle, (input.engine(), as_count(groups))
    {}
}

op! {
    {
        /// Resamples the axes behind the channels to other sizes.
        ///
        /// Args: `input` (N, C, W), (N, C, H, W) or (N, C, D, H, W), floating dtype (uint8 for some modes); `size` the
        /// new sizes, or `scale_factor` what to multiply the old ones by: one number for all or one for each; `mode`
        /// `Interpolation::Nearest`, `Interpolation::NearestExact`, `Interpolation::Area`, or by the number of axes
        /// `Interpolation::Linear`, `Interpolation::Bilinear`, `Interpolation::Bicubic`, `Interpolation::Trilinear`;
        /// `align_corners` lets the corners of both coincide (in the last four); `recompute_scale_factor` takes
        /// positions from the sizes instead of the factors; `antialias` makes positions of a smaller image means of all
        /// that they cover (`Interpolation::Bilinear`, `Interpolation::Bicubic` and `Interpolation::Lanczos`, which is
        /// smooth alone).
        ///
        /// Returns: a tensor of the new sizes.
        ///
        /// Derivative: `g`, distributed with the same weights over the elements that its positions came from.
        ///
        /// Errors: if arguments are incompatible; for other modes and numbers of axes; for empty sizes.
        ///
        /// Needs the feature `conv`.
    }
    fn [interpolate try_interpolate interpolate_with try_interpolate_with] ([] input: &Tensor)
    -> Tensor = engine::nn::image::interpolate::interpolate, (input.engine(), None, None, "nearest", None, None, false)
    {[] o: InterpolateOptions => Tensor = (input.engine(), o.size.as_ref().map(Shape::as_slice),
        o.scale_factor.as_ref().map(Floats::as_slice), o.mode.name(), o.align_corners, o.recompute_scale_factor,
        o.antialias)}
}

op! {
    {
        /// `interpolate` under its old name.
        ///
        /// Args: `input`, `size`, `scale_factor`, `mode`, `align_corners` as there. Returns, Derivative, Errors: as
        /// there.
        ///
        /// Needs the feature `conv`.
    }
    fn [upsample try_upsample upsample_with try_upsample_with] ([] input: &Tensor)
    -> Tensor = engine::nn::image::interpolate::upsample, (input.engine(), None, None, "nearest", None)
    {[] o: UpsampleOptions => Tensor = (input.engine(), o.size.as_ref().map(Shape::as_slice),
        o.scale_factor.as_ref().map(Floats::as_slice), o.mode.name(), o.align_corners)}
}

op! {
    {
        /// `interpolate` in mode 'nearest', under its old name.
        ///
        /// Args: `input`, `size`, `scale_factor` as there. Returns, Derivative, Errors: as there.
        ///
        /// Needs the feature `conv`.
    }
    fn [upsample_nearest try_upsample_nearest upsample_nearest_with try_upsample_nearest_with] ([] input: &Tensor)
    -> Tensor = engine::nn::image::interpolate::upsample_nearest, (input.engine(), None, None)
    {[] o: SizeScaleFactorOptions => Tensor = (input.engine(), o.size.as_ref().map(Shape::as_slice),
        o.scale_factor.as_ref().map(Floats::as_slice))}
}

op! {
    {
        /// `interpolate` in mode 'bilinear' with aligned corners, under its old name.
        ///
        /// Args: `input`, `size`, `scale_factor` as there. Returns, Derivative, Errors: as there.
        ///
        /// Needs the feature `conv`.
    }
    fn [upsample_bilinear try_upsample_bilinear upsample_bilinear_with try_upsample_bilinear_with] ([] input: &Tensor)
    -> Tensor = engine::nn::image::interpolate::upsample_bilinear, (input.engine(), None, None)
    {[] o: SizeScaleFactorOptions => Tensor = (input.engine(), o.size.as_ref().map(Shape::as_slice),
        o.scale_factor.as_ref().map(Floats::as_slice))}
}

op! {
    {
        /// Samples of `input` at the points of `grid`.
        ///
        /// Args: `input` (N, C, H, W) or (N, C, D, H, W), floating dtype; `grid` (N, H', W', 2) or (N, D', H', W', 3)
        /// of the same dtype: for each sample its x, y (and z), where -1 and 1 are the edges; `mode`
        /// `GridSampleMode::Bilinear` (also of three axes), `GridSampleMode::Nearest` or `GridSampleMode::Bicubic` (two
        /// axes); `padding_mode` what is outside: `GridPadding::Zeros`, `GridPadding::Border` for the nearest element,
        /// `GridPadding::Reflection`; `align_corners` lets -1 and 1 be the centres of the outermost elements instead.
        ///
        /// Returns: a tensor (N, C, H', W') or (N, C, D', H', W').
        ///
        /// Derivative: `g` times the weights to the elements, and times the weights' slopes to the points; of any
        /// order.
        ///
        /// Errors: for other modes; if sizes or dtypes are incompatible.
        ///
        /// Needs the feature `conv`.
    }
    fn [grid_sample try_grid_sample grid_sample_with try_grid_sample_with] ([] input: &Tensor, grid: &Tensor)
    -> Tensor = engine::nn::image::grid::grid_sample, (input.engine(), grid.engine(), "bilinear", "zeros", None)
    {[] o: GridSampleOptions => Tensor = (input.engine(), grid.engine(), o.mode.name(), o.padding_mode.name(),
        o.align_corners)}
}

op! {
    {
        /// Points for `grid_sample` that affine maps send every position of a result to.
        ///
        /// Args: `theta` matrices (N, 2, 3), or (N, 3, 4) for three axes, floating dtype; `size` the sizes (N, C, H, W)
        /// or (N, C, D, H, W) of the result; `align_corners` as for `grid_sample`.
        ///
        /// Returns: a grid (N, H, W, 2) or (N, D, H, W, 3).
        ///
        /// Derivative: the products of `g` with the coordinates, added up.
        ///
        /// Errors: for other shapes and dtypes; for other numbers of axes.
        ///
        /// Needs the feature `conv`.
    }
    fn [affine_grid try_affine_grid affine_grid_with try_affine_grid_with] ([] theta: &Tensor, size: impl Into<Shape>)
    -> Tensor = engine::nn::image::grid::affine_grid, (theta.engine(), as_shape(size).as_slice(), None)
    {[] o: AffineGridOptions => Tensor = (theta.engine(), as_shape(size).as_slice(), o.align_corners)}
}
