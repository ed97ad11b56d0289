//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use super::*;

pub fn calls() {
    ops::clone(any());
    ops::clone_with(any(), |o| o);
    any::<&Tensor>().copy_(any::<&Tensor>());
    ops::fill(any(), any::<&Tensor>());
    any::<&Tensor>().fill_(any::<&Tensor>());
    any::<&Tensor>().zero_();
    ops::detach(any());
    any::<&Tensor>().to(any());
    any::<&Tensor>().to_with(any(), |o| o);
    any::<&Tensor>().to_like(any());
    any::<&Tensor>().to_like_with(any(), |o| o);
    ops::zero_(any());
}
