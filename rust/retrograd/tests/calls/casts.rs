//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use super::*;

pub fn calls() {
    any::<&Tensor>().bool();
    any::<&Tensor>().bool_with(|o| o);
    any::<&Tensor>().byte();
    any::<&Tensor>().byte_with(|o| o);
    any::<&Tensor>().char();
    any::<&Tensor>().char_with(|o| o);
    any::<&Tensor>().short();
    any::<&Tensor>().short_with(|o| o);
    any::<&Tensor>().int();
    any::<&Tensor>().int_with(|o| o);
    any::<&Tensor>().long();
    any::<&Tensor>().long_with(|o| o);
    any::<&Tensor>().half();
    any::<&Tensor>().half_with(|o| o);
    any::<&Tensor>().bfloat16();
    any::<&Tensor>().bfloat16_with(|o| o);
    any::<&Tensor>().float();
    any::<&Tensor>().float_with(|o| o);
    any::<&Tensor>().double();
    any::<&Tensor>().double_with(|o| o);
    any::<&Tensor>().chalf();
    any::<&Tensor>().chalf_with(|o| o);
    any::<&Tensor>().cfloat();
    any::<&Tensor>().cfloat_with(|o| o);
    any::<&Tensor>().cdouble();
    any::<&Tensor>().cdouble_with(|o| o);
    any::<&Tensor>().cpu();
    any::<&Tensor>().cpu_with(|o| o);
    any::<&Tensor>().type_as(any());
    ops::resolve_conj(any());
    any::<&Tensor>().resolve_conj();
    ops::resolve_neg(any());
    any::<&Tensor>().resolve_neg();
    ops::adjoint(any());
    any::<&Tensor>().adjoint();
}
