//! Questions about dtypes: what two of them promote to, and what may be converted to what.

use retrograd_macros::op;

use super::{Entry, pointwise};
use crate::error::{Error, Result};
use crate::tensor::{DType, Scalar, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] =
    &[&RESULT_TYPE, &RESULT_TYPE_OF_NUMBER, &RESULT_TYPE_OF_NUMBERS, &PROMOTE_TYPES, &CAN_CAST];

/// The dtype that an op of both operands computes in.
///
/// Args: `tensor`, `other` tensors or numbers. Tensors with dims outrank those without, which outrank numbers, within a
/// category (bool, integers, floats, complex).
///
/// >>> rg.result_type(rg.tensor([1, 2]), 1.0)
/// retrograd.float32
#[op(function, norust)]
pub fn result_type(tensor: &Tensor, #[operand] other: &Tensor) -> Result<DType> {
    Ok(pointwise::result_type(&[tensor, other]))
}

/// The dtype that an op of a number and a tensor computes in.
///
/// Args: `scalar` a number; `tensor` a tensor: see `result_type` of two tensors.
///
/// >>> rg.result_type(scalar=1.0, tensor=rg.tensor([1, 2]))
/// retrograd.float32
#[op(function, name = "result_type", norust)]
pub fn result_type_of_number(scalar: Scalar, tensor: &Tensor) -> Result<DType> {
    result_type(&Tensor::number(scalar)?, tensor)
}

/// The dtype that an op of two numbers computes in.
///
/// Args: `scalar1`, `scalar2` numbers.
///
/// >>> rg.result_type(1, 2.0)
/// retrograd.float32
#[op(function, name = "result_type", norust)]
pub fn result_type_of_numbers(scalar1: Scalar, scalar2: Scalar) -> Result<DType> {
    result_type(&Tensor::number(scalar1)?, &Tensor::number(scalar2)?)
}

/// The smallest dtype that both can be converted to without changing category.
///
/// Args: `type1`, `type2` dtypes. Raises: RuntimeError for uint16, uint32 or uint64 beside another integer dtype.
///
/// >>> rg.promote_types(rg.int32, rg.float16)
/// retrograd.float16
#[op(function, norust)]
pub fn promote_types(type1: DType, type2: DType) -> Result<DType> {
    if type1.unpromoted(type2) {
        return Err(Error::no_promotion("promote_types", type1, type2));
    }
    Ok(type1.promote(type2))
}

/// Whether results of one dtype may be written to a tensor of another: never from floats to integers, to bool from bool
/// alone.
///
/// Args: `from_`, `to` dtypes.
///
/// >>> rg.can_cast(rg.float64, rg.float32), rg.can_cast(rg.float32, rg.int64)
/// (True, False)
#[op(function, norust)]
pub fn can_cast(from_: DType, to: DType) -> Result<bool> {
    Ok(from_.can_cast(to))
}
