//! Questions about tensors whose answer is no tensor.

use retrograd_macros::op;

use super::Entry;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// Entries of this family.
pub static ROSTER: &[&Entry] = &[&GET_DEVICE, &IS_CONJ, &IS_NEG, &IS_NONZERO, &IS_SAME_SIZE, &IS_SET_TO, &IS_SIGNED];

/// The index of the tensor's device: -1, which means the CPU.
///
/// >>> rg.get_device(rg.ones(1))
/// -1
#[op(function, method, norust)]
pub fn get_device(input: &Tensor) -> Result<i64> {
    let _ = input;
    Ok(-1)
}

/// Whether the elements are the conjugates of what the memory holds, as those of `conj()` are.
///
/// >>> rg.is_conj(rg.tensor([1j]).conj())
/// True
#[op(function, method, norust)]
pub fn is_conj(input: &Tensor) -> Result<bool> {
    Ok(input.is_conj())
}

/// Whether the elements are the negatives of what the memory holds, as those of `conj().imag` are.
///
/// >>> rg.is_neg(rg.tensor([1j]).conj().imag)
/// True
#[op(function, method, norust)]
pub fn is_neg(input: &Tensor) -> Result<bool> {
    Ok(input.is_neg())
}

/// Whether the only element of the tensor is not zero.
///
/// Raises: RuntimeError if it has several elements or none.
///
/// >>> rg.is_nonzero(rg.tensor([0.5]))
/// True
#[op(function, method)]
pub fn is_nonzero(input: &Tensor) -> Result<bool> {
    match input.numel() {
        1 => input.item().map(|value| !value.is_zero()),
        0 => Err(Error::shape("is_nonzero", "Boolean value of Tensor with no values is ambiguous")),
        _ => Err(Error::shape("is_nonzero", "Boolean value of Tensor with more than one value is ambiguous")),
    }
}

/// Whether `other` has the sizes of `input`.
///
/// >>> rg.is_same_size(rg.ones(2, 3), rg.ones(3, 2))
/// False
#[op(function, method)]
pub fn is_same_size(input: &Tensor, other: &Tensor) -> Result<bool> {
    Ok(input.sizes() == other.sizes())
}

/// Whether `tensor` has the same elements of the same memory as this one, in the same order.
///
/// >>> x = rg.ones(2, 3)
/// >>> x.is_set_to(x.detach()), x.is_set_to(x.T)
/// (True, False)
#[op(method)]
pub fn is_set_to(input: &Tensor, tensor: &Tensor) -> Result<bool> {
    let place = |t: &Tensor| (t.storage_offset(), t.sizes().to_vec(), t.strides().to_vec());
    Ok(input.shares_storage(tensor) && place(input) == place(tensor))
}

/// Whether the tensor's dtype has negative numbers.
///
/// >>> rg.is_signed(rg.ones(1)), rg.is_signed(rg.tensor([True]))
/// (True, False)
#[op(function, method, norust)]
pub fn is_signed(input: &Tensor) -> Result<bool> {
    Ok(input.dtype().is_signed())
}
