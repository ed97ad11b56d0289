//! Overloads of the engine that are one function here.

use crate::Result;
use crate::engine::{Tensor, ops::nn::conv::entries};
use crate::ops::Padding;

macro_rules! convolutions {
    ($($name:ident $named:ident)*) => {$(
        #[allow(clippy::too_many_arguments)]
        pub(super) fn $name(
            input: &Tensor,
            weight: &Tensor,
            bias: Option<&Tensor>,
            stride: &[i64],
            padding: &Padding,
            dilation: &[i64],
            groups: i64,
        ) -> Result<Tensor> {
            match padding {
                Padding::Sizes(sizes) => {
                    entries::$name(input, weight, bias, stride, sizes.as_slice(), dilation, groups)
                }
                Padding::Valid => entries::$named(input, weight, bias, stride, "valid", dilation, groups),
                Padding::Same => entries::$named(input, weight, bias, stride, "same", dilation, groups),
            }
        }
    )*};
}

convolutions!(conv1d conv1d_named conv2d conv2d_named conv3d conv3d_named);
