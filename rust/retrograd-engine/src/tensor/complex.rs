//! Complex numbers as pairs of real ones in the same memory: for kernels; autograd does not see these tensors.
//!
//! What is linear with real coefficients needs no kernel of its own for complex numbers: sums, products of matrices and
//! casts run on the parts.

use super::lazy::LazyBits;
use super::{Strides, Tensor, copy};
use crate::error::Result;

/// `x`, of a complex dtype and not to be conjugated, as real numbers with one more axis, of size 2.
pub fn pairs(x: &Tensor) -> Result<Tensor> {
    debug_assert!(!x.is_conj(), "pairs of numbers that are to be conjugated differ in their signs");
    let (mut sizes, mut strides) = (x.sizes().to_vec(), doubled(x));
    sizes.push(2);
    strides.push(1);
    x.memory_as(x.dtype().real(), x.lazy_bits(), &sizes, &strides, 2 * x.storage_offset())
}

/// The real parts of `x`, of a complex dtype, or its imaginary parts.
pub fn part(x: &Tensor, imaginary: bool) -> Result<Tensor> {
    let offset = 2 * x.storage_offset() + usize::from(imaginary);
    let LazyBits { conj, neg, sparse } = x.lazy_bits();
    let bits = LazyBits { conj: false, neg: neg ^ (imaginary && conj), sparse };
    x.memory_as(x.dtype().real(), bits, x.sizes(), &doubled(x), offset)
}

/// The complex numbers of these parts.
pub fn of_parts([re, im]: [&Tensor; 2]) -> Result<Tensor> {
    let z = Tensor::empty(re.sizes(), re.dtype().complex())?;
    copy::copy_into(re, &part(&z, false)?)?;
    copy::copy_into(im, &part(&z, true)?)?;
    Ok(z)
}

/// What a kernel that is linear with real coefficients makes of complex numbers.
pub fn by_parts(x: &Tensor, kernel: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    of_parts([&kernel(&part(x, false)?)?, &kernel(&part(x, true)?)?])
}

fn doubled(x: &Tensor) -> Strides {
    x.strides().iter().map(|s| 2 * s).collect()
}
