//! Questions about dtypes: what two of them promote to, and what may be converted to what.

use retrograd_macros::op;

use super::{Entry, pointwise};
use crate::error::Result;
use crate::tensor::{DType, Tensor};

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&RESULT_TYPE, &PROMOTE_TYPES, &CAN_CAST];

/// The dtype that an op of both operands computes in.
///
/// Args: `tensor`, `other` tensors or numbers. Tensors with dims outrank those without, which outrank numbers, within a
/// category (bool, integers, floats, complex).
///
/// >>> import retrograd as rg
/// >>> rg.result_type(rg.tensor([1, 2]), 1.0)
/// retrograd.float32
#[op(function, norust)]
pub fn result_type(#[operand] tensor: &Tensor, #[operand] other: &Tensor) -> Result<DType> {
    Ok(pointwise::result_type(&[tensor, other]))
}

/// The smallest dtype that both can be converted to without changing category.
///
/// Args: `type1`, `type2` dtypes.
///
/// >>> import retrograd as rg
/// >>> rg.promote_types(rg.int32, rg.float16)
/// retrograd.float16
#[op(function, norust)]
pub fn promote_types(type1: DType, type2: DType) -> Result<DType> {
    Ok(type1.promote(type2))
}

/// Whether results of one dtype may be written to a tensor of another: never from floats to integers, to bool from bool
/// alone.
///
/// Args: `from_`, `to` dtypes.
///
/// >>> import retrograd as rg
/// >>> rg.can_cast(rg.float64, rg.float32), rg.can_cast(rg.float32, rg.int64)
/// (True, False)
#[op(function, norust)]
pub fn can_cast(from_: DType, to: DType) -> Result<bool> {
    Ok(from_.can_cast(to))
}
