//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use super::*;

pub fn calls() {
    ops::get_device(any());
    any::<&Tensor>().get_device();
    ops::is_conj(any());
    any::<&Tensor>().is_conj();
    ops::is_neg(any());
    any::<&Tensor>().is_neg();
    ops::is_nonzero(any());
    any::<&Tensor>().is_nonzero();
    ops::is_same_size(any(), any());
    any::<&Tensor>().is_same_size(any());
    any::<&Tensor>().is_set_to(any());
    ops::is_signed(any());
    any::<&Tensor>().is_signed();
}
