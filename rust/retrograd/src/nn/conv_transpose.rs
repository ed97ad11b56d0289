//! Transposed convolutions.

use crate::engine::Tensor as Inner;
use crate::engine::ops::nn::conv;
use crate::nn::conv::divide;
use crate::nn::options::{PerAxis, constructors, forward, options, parameter};
use crate::nn::{Module, init};
use crate::{DType, Error, Result, Tensor, site};

macro_rules! transposed {
    ($($(#[doc = $doc:literal])* $name:ident, $options:ident, $n:literal: $op:ident;)*) => { $(
        options! {
            /// Options of the transposed convolution.
            $options {
                /// The step between the places of two elements of the input in the output: 1.
                stride: PerAxis<$n> = PerAxis([1; $n]), impl Into<PerAxis<$n>> => Into::into;
                /// How much is taken away on both sides of the output: nothing.
                padding: PerAxis<$n> = PerAxis([0; $n]), impl Into<PerAxis<$n>> => Into::into;
                /// How much longer the output is at its end: nothing. It has to be less than the stride or the
                /// dilation.
                output_padding: PerAxis<$n> = PerAxis([0; $n]), impl Into<PerAxis<$n>> => Into::into;
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
                divide(stringify!($name), o.groups, in_channels, out_channels)?;
                let mut sizes = vec![in_channels, out_channels / o.groups];
                sizes.extend(kernel_size.into().0);
                let weight = parameter(&sizes, o.dtype)?;
                let bias = o.bias.then(|| parameter(&[out_channels], o.dtype)).transpose()?;
                init::by_fan_in(&weight, bias.as_ref())?;
                Ok(Self { weight, bias, options: o })
            }

            /// The output of these sizes along the axes of the windows, in the place of that which `output_padding`
            /// gives: a stride of more than 1 has several.
            ///
            /// Panics where [`try_forward_to`](Self::try_forward_to) has an error.
            #[track_caller]
            pub fn forward_to(&self, x: &Tensor, output_size: impl Into<PerAxis<$n>>) -> Tensor {
                site::here();
                site::done(self.run_to(&x.0, output_size.into())).into()
            }

            /// As [`forward_to`](Self::forward_to), with an error in the place of a panic: a `ValueError` where no
            /// output has the size.
            #[track_caller]
            pub fn try_forward_to(&self, x: &Tensor, output_size: impl Into<PerAxis<$n>>) -> Result<Tensor> {
                site::here();
                self.run_to(&x.0, output_size.into()).map(Tensor)
            }

            fn run_to(&self, x: &Inner, output_size: PerAxis<$n>) -> Result<Inner> {
                let o = &self.options;
                let (padding, stride, dilation) = (o.padding, o.stride, o.dilation);
                let longer = output_padding(stringify!($name), x, &self.weight, output_size, stride, padding, dilation)?;
                self.padded(x, longer)
            }

            fn run(&self, x: &Inner) -> Result<Inner> {
                self.padded(x, self.options.output_padding)
            }

            fn padded(&self, x: &Inner, output_padding: PerAxis<$n>) -> Result<Inner> {
                let (o, weight, bias) = (&self.options, &self.weight.0, self.bias.as_ref().map(|b| &b.0));
                let (stride, padding, longer) = (o.stride.ints(), o.padding.ints(), output_padding.ints());
                conv::$op(x, weight, bias, &stride, &padding, &longer, o.groups as i64, &o.dilation.ints())
            }
        }

        forward!($name);
    )* };
}

/// How much longer than the shortest an output of these sizes is.
fn output_padding<const N: usize>(
    op: &'static str,
    x: &Inner,
    weight: &Tensor,
    PerAxis(output_size): PerAxis<N>,
    PerAxis(stride): PerAxis<N>,
    PerAxis(padding): PerAxis<N>,
    PerAxis(dilation): PerAxis<N>,
) -> Result<PerAxis<N>> {
    let Some(sizes) = x.sizes().len().checked_sub(N).map(|others| &x.sizes()[others..]) else {
        let detail = format!("expected an input with {N} axes behind its channels, got one of shape {:?}", x.sizes());
        return Err(Error::shape(op, detail));
    };
    let least: [i128; N] = std::array::from_fn(|axis| {
        let [size, stride, padding, dilation] =
            [sizes[axis], stride[axis], padding[axis], dilation[axis]].map(|n| n as i128);
        (size - 1) * stride - 2 * padding + dilation * (weight.0.sizes()[2 + axis] as i128 - 1) + 1
    });
    let most: [i128; N] = std::array::from_fn(|axis| least[axis] + stride[axis] as i128 - 1);
    let wanted = output_size.map(|n| n as i128);
    if (0..N).any(|axis| wanted[axis] < least[axis] || wanted[axis] > most[axis]) {
        let detail = format!(
            "requested an output size of {wanted:?}, but valid sizes range from {least:?} to {most:?} (for an input of \
             {sizes:?})",
        );
        return Err(Error::value(op, detail));
    }
    let longer = std::array::from_fn(|axis| (wanted[axis] - least[axis]) as usize);
    Ok(PerAxis(longer))
}

transposed! {
    /// A transposed convolution of (N, C, L) or (C, L): the adjoint of [`Conv1d`](super::Conv1d) in its input.
    ///
    /// Parameters: `weight` of shape (in_channels, out_channels / groups, kernel_size) and `bias` of shape
    /// (out_channels,), drawn uniformly up to 1 over the root of `out_channels / groups * kernel_size`, as torch does.
    /// An error if `groups` does not divide the channels.
    ///
    /// Needs the feature `conv`.
    ///
    /// ```
    /// use retrograd::{Tensor, nn::{ConvTranspose1d, Forward}};
    ///
    /// let layer = ConvTranspose1d::with(3, 8, 4, |o| o.stride(2).padding(1));
    /// assert_eq!(layer.forward(&Tensor::ones([2, 3, 10])).shape(), [2, 8, 20]);
    /// ```
    ConvTranspose1d, ConvTranspose1dOptions, 1: conv_transpose1d;
    /// A transposed convolution of (N, C, H, W) or (C, H, W): the adjoint of [`Conv2d`](super::Conv2d) in its input.
    ///
    /// Parameters: `weight` of shape (in_channels, out_channels / groups, *kernel_size) and `bias` of shape
    /// (out_channels,), drawn uniformly up to 1 over the root of `out_channels / groups` times the elements of a
    /// window, as torch does. An error if `groups` does not divide the channels.
    ///
    /// Needs the feature `conv`.
    ///
    /// ```
    /// use retrograd::{Tensor, nn::{ConvTranspose2d, Forward}};
    ///
    /// let layer = ConvTranspose2d::with(3, 8, 3, |o| o.stride(2).padding(1));
    /// let x = Tensor::ones([2, 3, 4, 4]);
    /// assert_eq!(layer.forward(&x).shape(), [2, 8, 7, 7]);
    /// assert_eq!(layer.forward_to(&x, [8, 7]).shape(), [2, 8, 8, 7]);
    /// ```
    ConvTranspose2d, ConvTranspose2dOptions, 2: conv_transpose2d;
    /// A transposed convolution of (N, C, D, H, W) or (C, D, H, W): the adjoint of [`Conv3d`](super::Conv3d) in its
    /// input.
    ///
    /// Parameters: `weight` of shape (in_channels, out_channels / groups, *kernel_size) and `bias` of shape
    /// (out_channels,), drawn uniformly up to 1 over the root of `out_channels / groups` times the elements of a
    /// window, as torch does. An error if `groups` does not divide the channels.
    ///
    /// Needs the feature `conv`.
    ///
    /// ```
    /// use retrograd::{Tensor, nn::{ConvTranspose3d, Forward}};
    ///
    /// let layer = ConvTranspose3d::with(2, 4, 2, |o| o.stride([1, 2, 1]).output_padding([0, 1, 0]));
    /// assert_eq!(layer.forward(&Tensor::ones([1, 2, 3, 3, 3])).shape(), [1, 4, 4, 7, 4]);
    /// ```
    ConvTranspose3d, ConvTranspose3dOptions, 3: conv_transpose3d;
}
