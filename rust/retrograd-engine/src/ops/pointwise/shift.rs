//! Shifts of the bits of integers.

use retrograd_macros::op;

use super::promote::Ints;
use super::refuse_numbers;
use super::zip::{Binary, Zip};
use crate::autograd::Grads;
use crate::autograd::apply::apply_as;
use crate::autograd::primitive::{Tangents, Vjp};
use crate::error::Result;
use crate::kernels::pointwise::Map2;
use crate::ops::Form;
use crate::tensor::Tensor;

/// `bitwise_left_shift` and `bitwise_right_shift`. Shifts by more bits than there are, or by a negative number, push
/// all of them out: what remains is 0, or -1 of a negative number that was shifted to the right.
#[derive(Clone, Copy, Debug)]
struct Shift {
    left: bool,
}

macro_rules! shifts {
    ($($t:ty)*) => { $(impl Map2<$t, $t, $t> for Shift {
        #[inline(always)]
        fn f(&self, a: $t, b: $t) -> $t {
            let by = u32::try_from(b).unwrap_or(<$t>::BITS);
            if self.left {
                a.checked_shl(by).unwrap_or(0)
            } else {
                // In two steps, since a shift by all bits is none.
                a.checked_shr(by).unwrap_or((a >> (<$t>::BITS - 1)) >> 1)
            }
        }
    })* };
}
shifts!(u8 i8 i16 i32 i64);

impl Binary for Shift {
    const NAME: &'static str = "bitwise_shift";
    const NODE: &'static str = "BitwiseBackward0";
    const JVP: Tangents<Zip<Self>> = Tangents::Zero;
    type Class = Ints;
    type Kernel = Self;
    fn kernel(&self) -> Self {
        *self
    }
    fn name(&self) -> &'static str {
        if self.left { "bitwise_left_shift" } else { "bitwise_right_shift" }
    }
    fn kernel_name(&self) -> &'static str {
        if self.left { "lshift_cpu" } else { "rshift_cpu" }
    }
    // Operands with a derivative are floats, which are refused.
    fn vjp(&self, _: &Vjp) -> Result<Grads> {
        Ok(Grads::new())
    }
}

fn shifted(form: Form, shift: Shift, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    refuse_numbers(shift.name(), a, b)?;
    apply_as(form, Zip(shift), &[a, b])
}

/// The bits of each element moved to the left, towards larger numbers: `input * 2^other`. The operator `<<`.
///
/// Args: `input`, `other` integer tensors with broadcastable shapes; one may be a number. Bits that are pushed out are
/// lost.
/// Returns: a tensor of the broadcast shape and promoted dtype. Derivative: none. Raises: NotImplementedError for
/// floats and bool, RuntimeError if the shapes do not broadcast.
///
/// >>> rg.bitwise_left_shift(rg.tensor([1, 3]), 2).tolist()
/// [4, 12]
#[op(function, method, inplace, out)]
pub fn bitwise_left_shift(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    shifted(form, Shift { left: true }, input, other)
}

/// The bits of each element moved to the right, towards smaller numbers, the sign kept: `input / 2^other`, rounded
/// down. The operator `>>`.
///
/// Args, Returns, Raises: as `bitwise_left_shift`. Derivative: none.
///
/// >>> rg.bitwise_right_shift(rg.tensor([7, -7]), 1).tolist()
/// [3, -4]
#[op(function, method, inplace, out)]
pub fn bitwise_right_shift(#[operand] input: &Tensor, #[operand] other: &Tensor) -> Result<Tensor> {
    shifted(form, Shift { left: false }, input, other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    #[test]
    fn too_far_is_all_the_way() {
        let x = Tensor::from_slice(&[-8i32, 8, -8, 8, 1], &[5]).unwrap();
        let by = Tensor::from_slice(&[40i32, 40, -1, 32, 31], &[5]).unwrap();
        assert_eq!(x.bitwise_left_shift(&by).unwrap().to_vec::<i32>().unwrap(), [0, 0, 0, 0, i32::MIN]);
        assert_eq!(x.bitwise_right_shift(&by).unwrap().to_vec::<i32>().unwrap(), [-1, 0, -1, 0, 0]);
        let bytes = Tensor::from_slice(&[255u8, 255], &[2]).unwrap();
        let by = Tensor::from_slice(&[9u8, 3], &[2]).unwrap();
        assert_eq!(bytes.bitwise_right_shift(&by).unwrap().to_vec::<u8>().unwrap(), [0, 31]);
        let m = Tensor::from_slice(&[true], &[1]).unwrap();
        assert_eq!(m.bitwise_left_shift(&Tensor::number(1i64.into()).unwrap()).unwrap().dtype(), DType::Int64);
        assert!(
            m.bitwise_left_shift(&m).is_err()
                && Tensor::ones(&[1], DType::Float32).unwrap().bitwise_right_shift(&x).is_err()
        );
    }
}
