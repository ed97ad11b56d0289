//! Convolutions.

use crate::engine::Tensor as Inner;
use crate::engine::ops::nn::{conv, image};
use crate::nn::options::{PerAxis, constructors, forward, options, parameter};
use crate::nn::{Module, init};
use crate::{DType, Error, Result, Tensor};

/// What a convolution puts around its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaddingMode {
    /// Zeros.
    Zeros,
    /// The elements, mirrored without the outermost.
    Reflect,
    /// The outermost element.
    Replicate,
    /// The elements from the other end.
    Circular,
}

impl PaddingMode {
    /// What the op that pads calls the mode; none for zeros, which the convolution itself pads with.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Zeros => None,
            Self::Reflect => Some("reflect"),
            Self::Replicate => Some("replicate"),
            Self::Circular => Some("circular"),
        }
    }
}

/// How much is put around the input of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding<const N: usize> {
    /// On both sides of each axis.
    Sizes(PerAxis<N>),
    /// As much as keeps the sizes; strides have to be 1.
    Same,
    /// Nothing.
    Valid,
}

impl<const N: usize> Padding<N> {
    /// How much goes before and behind each axis, as the op takes it that pads: from the last axis on.
    fn around(self, kernel: &[usize], dilation: [i64; N]) -> Vec<i64> {
        let of_axis = |axis: usize| match self {
            Self::Sizes(sizes) => [sizes.ints()[axis]; 2],
            Self::Valid => [0, 0],
            // One more behind than before, where it is an odd number.
            Self::Same => {
                let both = dilation[axis].saturating_mul(kernel[axis] as i64 - 1);
                [both / 2, both - both / 2]
            }
        };
        (0..N).rev().flat_map(of_axis).collect()
    }
}

impl<const N: usize> From<usize> for Padding<N> {
    fn from(n: usize) -> Self {
        Self::Sizes(n.into())
    }
}

impl<const N: usize> From<[usize; N]> for Padding<N> {
    fn from(sizes: [usize; N]) -> Self {
        Self::Sizes(sizes.into())
    }
}

/// Refuses channels that groups do not divide.
pub(super) fn divide(op: &'static str, groups: usize, in_channels: usize, out_channels: usize) -> Result<()> {
    if groups == 0 {
        return Err(Error::value(op, "groups must be a positive integer, got 0"));
    }
    for (what, channels) in [("in_channels", in_channels), ("out_channels", out_channels)] {
        if !channels.is_multiple_of(groups) {
            return Err(Error::value(op, format!("{what} must be divisible by groups, got {channels} and {groups}")));
        }
    }
    Ok(())
}

macro_rules! convolutions {
    ($($(#[doc = $doc:literal])* $name:ident, $options:ident, $n:literal: $op:ident, $named:ident;)*) => { $(
        options! {
            /// Options of the convolution.
            $options {
                /// The step between windows: 1.
                stride: PerAxis<$n> = PerAxis([1; $n]), impl Into<PerAxis<$n>> => Into::into;
                /// How much is put around the input: nothing.
                padding: Padding<$n> = Padding::Sizes(PerAxis([0; $n])), impl Into<Padding<$n>> => Into::into;
                /// What is put there: zeros.
                padding_mode: PaddingMode = PaddingMode::Zeros;
                /// The step between the elements of a window: 1.
                dilation: PerAxis<$n> = PerAxis([1; $n]), impl Into<PerAxis<$n>> => Into::into;
                /// The number of groups of channels that do not see each other: 1.
                groups: usize = 1;
                /// Whether something is added to each channel: true.
                bias: bool = true;
                /// The dtype of the parameters, by default the default dtype.
                dtype: Option<DType> = None, DType => Some;
            }
        }

        $(#[doc = $doc])*
        #[derive(Clone, Debug, Module)]
        pub struct $name {
            pub weight: Tensor,
            pub bias: Option<Tensor>,
            #[module(skip)]
            options: $options,
        }

        impl $name {
            constructors!(
                $name,
                $options,
                (in_channels: usize, out_channels: usize, kernel_size: impl Into<PerAxis<$n>>)
            );

            fn made(
                in_channels: usize,
                out_channels: usize,
                kernel_size: impl Into<PerAxis<$n>>,
                o: $options,
            ) -> Result<Self> {
                const OP: &str = stringify!($name);
                divide(OP, o.groups, in_channels, out_channels)?;
                if o.padding == Padding::Same && o.stride.0 != [1; $n] {
                    let detail = "padding='same' is not supported for strided convolutions";
                    return Err(Error::value(OP, detail));
                }
                let mut sizes = vec![out_channels, in_channels / o.groups];
                sizes.extend(kernel_size.into().0);
                let weight = parameter(&sizes, o.dtype)?;
                let bias = o.bias.then(|| parameter(&[out_channels], o.dtype)).transpose()?;
                init::by_fan_in(&weight, bias.as_ref())?;
                Ok(Self { weight, bias, options: o })
            }

            fn run(&self, x: &Inner) -> Result<Inner> {
                let (o, weight, bias) = (&self.options, &self.weight.0, self.bias.as_ref().map(|b| &b.0));
                let (stride, dilation, groups) = (o.stride.ints(), o.dilation.ints(), o.groups as i64);
                if let Some(mode) = o.padding_mode.name() {
                    let around = o.padding.around(&weight.sizes()[2..], dilation);
                    let x = image::pad::pad(x, &around, mode, None)?;
                    return conv::$op(&x, weight, bias, &stride, &[0; $n], &dilation, groups);
                }
                match o.padding {
                    Padding::Sizes(n) => conv::$op(x, weight, bias, &stride, &n.ints(), &dilation, groups),
                    Padding::Same => conv::$named(x, weight, bias, &stride, "same", &dilation, groups),
                    Padding::Valid => conv::$named(x, weight, bias, &stride, "valid", &dilation, groups),
                }
            }
        }

        forward!($name);
    )* };
}

convolutions! {
    /// A convolution of (N, C, L) or (C, L).
    ///
    /// Parameters: `weight` of shape (out_channels, in_channels / groups, kernel_size) and `bias` of shape
    /// (out_channels,), drawn uniformly up to 1 over the root of the number of inputs of an output. An error if
    /// `groups` does not divide the channels.
    ///
    /// Needs the feature `conv`.
    ///
    /// ```
    /// use retrograd::{Tensor, nn::{Conv1d, Forward, Padding}};
    ///
    /// let layer = Conv1d::with(3, 8, 5, |o| o.padding(Padding::Same));
    /// assert_eq!(layer.forward(&Tensor::ones([2, 3, 10])).shape(), [2, 8, 10]);
    /// ```
    Conv1d, Conv1dOptions, 1: conv1d, conv1d_named;
    /// A convolution of (N, C, H, W) or (C, H, W).
    ///
    /// Parameters: `weight` of shape (out_channels, in_channels / groups, *kernel_size) and `bias` of shape
    /// (out_channels,), drawn uniformly up to 1 over the root of the number of inputs of an output. An error if
    /// `groups` does not divide the channels.
    ///
    /// Needs the feature `conv`.
    ///
    /// ```
    /// use retrograd::{Tensor, nn::{Conv2d, Forward, PaddingMode}};
    ///
    /// let layer = Conv2d::with(3, 8, 3, |o| o.stride(2).padding(1).padding_mode(PaddingMode::Reflect));
    /// assert_eq!(layer.forward(&Tensor::ones([2, 3, 8, 8])).shape(), [2, 8, 4, 4]);
    /// ```
    Conv2d, Conv2dOptions, 2: conv2d, conv2d_named;
    /// A convolution of (N, C, D, H, W) or (C, D, H, W).
    ///
    /// Parameters: `weight` of shape (out_channels, in_channels / groups, *kernel_size) and `bias` of shape
    /// (out_channels,), drawn uniformly up to 1 over the root of the number of inputs of an output. An error if
    /// `groups` does not divide the channels.
    ///
    /// Needs the feature `conv`.
    ///
    /// ```
    /// use retrograd::{Tensor, nn::{Conv3d, Forward, PaddingMode}};
    ///
    /// let layer = Conv3d::with(2, 4, [1, 3, 3], |o| o.padding([0, 1, 1]).padding_mode(PaddingMode::Replicate));
    /// assert_eq!(layer.forward(&Tensor::ones([1, 2, 3, 5, 6])).shape(), [1, 4, 3, 5, 6]);
    /// ```
    Conv3d, Conv3dOptions, 3: conv3d, conv3d_named;
}
