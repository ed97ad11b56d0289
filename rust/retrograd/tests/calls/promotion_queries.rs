//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use super::*;

pub fn calls() {
    ops::result_type(any(), any::<&Tensor>());
    ops::result_type_of_number(any::<f64>(), any());
    ops::result_type_of_numbers(any::<f64>(), any::<f64>());
    ops::promote_types(any(), any());
    ops::can_cast(any(), any());
}
