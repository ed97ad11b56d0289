//! `conv1d` to `conv3d`, `conv_transpose1d` to `conv_transpose3d`, `convolution`: the arguments of one op.

use retrograd_macros::op;

use super::arguments::{Given, Padding};
use super::convolution::Convolution;
use crate::autograd::apply::apply1;
use crate::error::{Error, Result, Sizes};
use crate::ops::Entry;
use crate::ops::view::reshape_to;
use crate::tensor::{Dims, Tensor};

/// The convolution over as many axes as the weight has.
fn convolve(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>, given: Given) -> Result<Tensor> {
    let checked = given.check(input, weight, bias)?;
    let x = input.sizes();
    // Without channels torch makes an output without channels, whatever the weight says.
    if x[1] == 0 && !given.transposed {
        let mut sizes = Dims::from_slice(&x[..2]);
        sizes.extend_from_slice(&checked.out);
        return reshape_to(input, &sizes);
    }
    let op = Convolution {
        steps: checked.steps,
        transposed: given.transposed,
        output_padding: checked.output_padding,
        out: checked.out,
        bias: bias.map_or(0, Tensor::numel),
        derivative: false,
    };
    match bias {
        Some(bias) => apply1(op, &[input, weight, bias]),
        None => apply1(op, &[input, weight]),
    }
}

/// The convolution over `n` axes of a batch, or of one entry.
fn maybe_unbatched(
    name: &str,
    n: usize,
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    given: Given,
) -> Result<Tensor> {
    if input.ndim() == n + 2 {
        return convolve(input, weight, bias, given);
    }
    if input.ndim() != n + 1 {
        return Err(Error::shape(
            "convolution",
            format!(
                "Expected {}D (unbatched) or {}D (batched) input to {name}, but got input of size: {}",
                n + 1,
                n + 2,
                Sizes(input.sizes())
            ),
        ));
    }
    convolve(&input.unsqueeze(0)?, weight, bias, given)?.squeeze_dim(0)
}

/// What `nn.functional` has is there under the same name at the top.
macro_rules! at_the_top {
    ($($top:ident = $entry:ident;)*) => { $(
        #[doc = "The entry at the top level."]
        pub static $top: Entry = Entry { module: "", ..$entry };
    )* };
}

macro_rules! conv {
    ($n:literal, $name:tt, $ints:ident, $named:ident; $(#[doc = $doc:tt])*; $example:tt, $result:tt) => {
        $(#[doc = $doc])*
        #[op(
            function, module = "nn.functional", name = $name, "(bias=None, stride=1, padding=0, dilation=1, groups=1)"
        )]
        pub fn $ints(
            input: &Tensor,
            weight: &Tensor,
            bias: Option<&Tensor>,
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            groups: i64,
        ) -> Result<Tensor> {
            let padding = Padding::Ints(padding);
            let given = Given { stride, padding, dilation, transposed: false, output_padding: &[0], groups };
            maybe_unbatched($name, $n, input, weight, bias, given)
        }

        /// With the padding by name: 'valid' for none, 'same' for as much as keeps the size, which takes a stride of 1.
        /// If the number of zeros is odd, the end gets one more.
        ///
        #[doc = $example]
        #[doc = $result]
        #[op(
            function, module = "nn.functional", name = $name,
            "(bias=None, stride=1, padding='valid', dilation=1, groups=1)"
        )]
        pub fn $named(
            input: &Tensor,
            weight: &Tensor,
            bias: Option<&Tensor>,
            stride: &[i64],
            padding: &str,
            dilation: &[i64],
            groups: i64,
        ) -> Result<Tensor> {
            let padding = Padding::named(padding, stride)?;
            let given = Given { stride, padding, dilation, transposed: false, output_padding: &[0], groups };
            maybe_unbatched($name, $n, input, weight, bias, given)
        }
    };
}

conv! {
    1, "conv1d", conv1d, conv1d_named;
    /// The convolution over one axis: `out[n, o, t] = bias[o] + sum of weight[o, c, k] * input[n, c, t * stride -
    /// padding + k * dilation]` over the channels `c` of the group of `o` and the taps `k`, zeros being around the
    /// input.
    ///
    /// Args: `input` (N, C, L) or (C, L), floating or complex dtype (integers, without gradients, too); `weight` (O, C
    /// / groups, k) and `bias` (O,) or None, of the same dtype; `stride`, `padding`, `dilation` one number or one per
    /// axis; `groups` parts into which the channels are cut, each seen by its part of the outputs. Returns: a tensor
    /// (N, O, ...), without N if the input has none; each size is `(size + 2 * padding - dilation * (k - 1) - 1) //
    /// stride + 1`. Derivative: for the input the transposed convolution of `g` with the weight; for the weight the sum
    /// over batch and positions of `g[n, o, t] * input[n, c, t * stride - padding + k * dilation]`; for the bias the
    /// sum of `g`. Raises: RuntimeError if sizes, dtypes or numbers are incompatible, or the kernel is larger than the
    /// padded input.
    ///
    /// >>> rg.nn.functional.conv1d(rg.ones(1, 1, 4), rg.ones(1, 1, 3)).tolist()
    /// [[[3.0, 3.0]]]
    ;
    " >>> rg.nn.functional.conv1d(rg.ones(1, 1, 4), rg.ones(1, 1, 3), padding='same').tolist()", " [[[2.0, 3.0, 3.0, 2.0]]]"
}

conv! {
    2, "conv2d", conv2d, conv2d_named;
    /// The convolution over two axes: `out[n, o, t] = bias[o] + sum of weight[o, c, k] * input[n, c, t * stride -
    /// padding + k * dilation]` over the channels `c` of the group of `o` and the taps `k`, zeros being around the
    /// input.
    ///
    /// Args: `input` (N, C, H, W) or (C, H, W), floating or complex dtype (integers, without gradients, too); `weight`
    /// (O, C / groups, kh, kw) and `bias` (O,) or None, of the same dtype; `stride`, `padding`, `dilation` one number
    /// or one per axis; `groups` parts into which the channels are cut, each seen by its part of the outputs. Returns:
    /// a tensor (N, O, ...), without N if the input has none; each size is `(size + 2 * padding - dilation * (k - 1) -
    /// 1) // stride + 1`. Derivative: for the input the transposed convolution of `g` with the weight; for the weight
    /// the sum over batch and positions of `g[n, o, t] * input[n, c, t * stride - padding + k * dilation]`; for the
    /// bias the sum of `g`. Raises: RuntimeError if sizes, dtypes or numbers are incompatible, or the kernel is larger
    /// than the padded input.
    ///
    /// >>> rg.nn.functional.conv2d(rg.ones(1, 2, 3, 3), rg.ones(1, 2, 3, 3), padding=1, stride=2).tolist()
    /// [[[[8.0, 8.0], [8.0, 8.0]]]]
    ;
    " >>> rg.nn.functional.conv2d(rg.ones(1, 1, 2, 2), rg.ones(1, 1, 3, 3), padding='same').tolist()", " [[[[4.0, 4.0], [4.0, 4.0]]]]"
}

conv! {
    3, "conv3d", conv3d, conv3d_named;
    /// The convolution over three axes: `out[n, o, t] = bias[o] + sum of weight[o, c, k] * input[n, c, t * stride -
    /// padding + k * dilation]` over the channels `c` of the group of `o` and the taps `k`, zeros being around the
    /// input.
    ///
    /// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating or complex dtype (integers, without gradients, too);
    /// `weight` (O, C / groups, kd, kh, kw) and `bias` (O,) or None, of the same dtype; `stride`, `padding`, `dilation`
    /// one number or one per axis; `groups` parts into which the channels are cut, each seen by its part of the
    /// outputs. Returns: a tensor (N, O, ...), without N if the input has none; each size is `(size + 2 * padding -
    /// dilation * (k - 1) - 1) // stride + 1`. Derivative: for the input the transposed convolution of `g` with the
    /// weight; for the weight the sum over batch and positions of `g[n, o, t] * input[n, c, t * stride - padding + k *
    /// dilation]`; for the bias the sum of `g`. Raises: RuntimeError if sizes, dtypes or numbers are incompatible, or
    /// the kernel is larger than the padded input.
    ///
    /// >>> rg.nn.functional.conv3d(rg.ones(1, 1, 2, 2, 2), rg.ones(1, 1, 2, 2, 2)).tolist()
    /// [[[[[8.0]]]]]
    ;
    " >>> rg.nn.functional.conv3d(rg.ones(1, 1, 1, 1, 1), rg.ones(1, 1, 1, 1, 3), padding='same').tolist()", " [[[[[1.0]]]]]"
}

macro_rules! conv_transpose {
    ($n:literal, $name:tt, $function:ident; $(#[doc = $doc:tt])*) => {
        $(#[doc = $doc])*
        #[op(
            function, module = "nn.functional", name = $name,
            "(bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1)"
        )]
        pub fn $function(
            input: &Tensor,
            weight: &Tensor,
            bias: Option<&Tensor>,
            stride: &[i64],
            padding: &[i64],
            output_padding: &[i64],
            groups: i64,
            dilation: &[i64],
        ) -> Result<Tensor> {
            let padding = Padding::Ints(padding);
            let given = Given { stride, padding, dilation, transposed: true, output_padding, groups };
            maybe_unbatched($name, $n, input, weight, bias, given)
        }
    };
}

conv_transpose! {
    1, "conv_transpose1d", conv_transpose1d;
    /// The transposed convolution over one axis: `input[n, c, t] * weight[c, o, k]` is added to `out[n, o, t * stride -
    /// padding + k * dilation]`, and `bias[o]` to all. As a function of its input it is the adjoint of `conv1d`.
    ///
    /// Args: `input` (N, C, L) or (C, L), floating or complex dtype (int64, without gradients, too); `weight` (C, O /
    /// groups, k) and `bias` (O,) or None, of the same dtype; `stride`, `padding`, `output_padding`, `dilation` one
    /// number or one per axis, the padding taken away on both sides, the output padding added at the end; `groups`
    /// parts into which the channels are cut. Returns: a tensor (N, O, ...), without N if the input has none; each size
    /// is `(size - 1) * stride - 2 * padding + dilation * (k - 1) + output_padding + 1`. Derivative: for the input the
    /// convolution of `g` with the weight; for the weight the sum over batch and positions of `input[n, c, t] * g[n, o,
    /// t * stride - padding + k * dilation]`; for the bias the sum of `g`. Raises: RuntimeError if sizes, dtypes or
    /// numbers are incompatible, or the output padding is not less than stride or dilation.
    ///
    /// >>> rg.nn.functional.conv_transpose1d(rg.ones(1, 1, 2), rg.ones(1, 1, 2), stride=2).tolist()
    /// [[[1.0, 1.0, 1.0, 1.0]]]
}

conv_transpose! {
    2, "conv_transpose2d", conv_transpose2d;
    /// The transposed convolution over two axes: `input[n, c, t] * weight[c, o, k]` is added to `out[n, o, t * stride -
    /// padding + k * dilation]`, and `bias[o]` to all. As a function of its input it is the adjoint of `conv2d`.
    ///
    /// Args: `input` (N, C, H, W) or (C, H, W), floating or complex dtype (int64, without gradients, too); `weight` (C,
    /// O / groups, kh, kw) and `bias` (O,) or None, of the same dtype; `stride`, `padding`, `output_padding`,
    /// `dilation` one number or one per axis, the padding taken away on both sides, the output padding added at the
    /// end; `groups` parts into which the channels are cut. Returns: a tensor (N, O, ...), without N if the input has
    /// none; each size is `(size - 1) * stride - 2 * padding + dilation * (k - 1) + output_padding + 1`. Derivative:
    /// for the input the convolution of `g` with the weight; for the weight the sum over batch and positions of
    /// `input[n, c, t] * g[n, o, t * stride - padding + k * dilation]`; for the bias the sum of `g`. Raises:
    /// RuntimeError if sizes, dtypes or numbers are incompatible, or the output padding is not less than stride or
    /// dilation.
    ///
    /// >>> rg.nn.functional.conv_transpose2d(rg.ones(1, 1, 1, 2), rg.ones(1, 1, 1, 2)).tolist()
    /// [[[[1.0, 2.0, 1.0]]]]
}

conv_transpose! {
    3, "conv_transpose3d", conv_transpose3d;
    /// The transposed convolution over three axes: `input[n, c, t] * weight[c, o, k]` is added to `out[n, o, t *
    /// stride - padding + k * dilation]`, and `bias[o]` to all. As a function of its input it is the adjoint of
    /// `conv3d`.
    ///
    /// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating or complex dtype (int64, without gradients, too);
    /// `weight` (C, O / groups, kd, kh, kw) and `bias` (O,) or None, of the same dtype; `stride`, `padding`,
    /// `output_padding`, `dilation` one number or one per axis, the padding taken away on both sides, the output
    /// padding added at the end; `groups` parts into which the channels are cut. Returns: a tensor (N, O, ...), without
    /// N if the input has none; each size is `(size - 1) * stride - 2 * padding + dilation * (k - 1) + output_padding +
    /// 1`. Derivative: for the input the convolution of `g` with the weight; for the weight the sum over batch and
    /// positions of `input[n, c, t] * g[n, o, t * stride - padding + k * dilation]`; for the bias the sum of `g`.
    /// Raises: RuntimeError if sizes, dtypes or numbers are incompatible, or the output padding is not less than stride
    /// or dilation.
    ///
    /// >>> rg.nn.functional.conv_transpose3d(rg.ones(1, 1, 1, 1, 2), rg.ones(1, 1, 1, 1, 2)).tolist()
    /// [[[[[1.0, 2.0, 1.0]]]]]
}

/// The convolution over as many axes as the weight has, of a batch.
///
/// Args: `input` (N, C, ...) of three to five dims, `weight` and `bias` as in `conv2d`, or with `transposed` as in
/// `conv_transpose2d`; lists of one number or one per axis; all arguments are needed, `output_padding` counts with
/// `transposed` only. Returns: a tensor (N, O, ...). Derivative: as `conv2d` and `conv_transpose2d`. Raises:
/// RuntimeError if sizes, dtypes or numbers are incompatible.
///
/// >>> rg.convolution(rg.ones(1, 1, 4), rg.ones(1, 1, 3), None, [1], [0], [1], False, [0], 1).tolist()
/// [[[3.0, 3.0]]]
#[op(function)]
pub fn convolution(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
) -> Result<Tensor> {
    let padding = Padding::Ints(padding);
    convolve(input, weight, bias, Given { stride, padding, dilation, transposed, output_padding, groups })
}

at_the_top! {
    TOP_CONV1D = CONV1D;
    TOP_CONV1D_NAMED = CONV1D_NAMED;
    TOP_CONV2D = CONV2D;
    TOP_CONV2D_NAMED = CONV2D_NAMED;
    TOP_CONV3D = CONV3D;
    TOP_CONV3D_NAMED = CONV3D_NAMED;
    TOP_CONV_TRANSPOSE1D = CONV_TRANSPOSE1D;
    TOP_CONV_TRANSPOSE2D = CONV_TRANSPOSE2D;
    TOP_CONV_TRANSPOSE3D = CONV_TRANSPOSE3D;
}
