//! Writes through a view of a diagonal.

use retrograd_macros::op;

use crate::error::{Error, Result};
use crate::tensor::{Scalar, Tensor};

/// Writes a number to the elements whose indices are all equal.
///
/// Args: `fill_value` a number; `wrap` continues below the last row of a square in a matrix with more rows than
/// columns, after skipping one row. Derivative: that of the tensor, zero for what was overwritten. Raises: RuntimeError
/// for fewer than 2 dims, and for more than 2 if the sizes differ.
///
/// >>> rg.zeros(2, 3).fill_diagonal_(5.0).tolist()
/// [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]]
#[op(inplace, "(wrap=False)")]
pub fn fill_diagonal(input: &Tensor, fill_value: Scalar, wrap: bool) -> Result<Tensor> {
    const OP: &str = "fill_diagonal_";
    let _ = form;
    let sizes = input.sizes();
    if sizes.len() < 2 {
        return Err(Error::shape(OP, format!("dimensions must larger than 1, got shape {sizes:?}")));
    }
    if sizes.len() > 2 && sizes.iter().any(|n| n != &sizes[0]) {
        return Err(Error::shape(OP, format!("all dimensions of input must be of equal length, got shape {sizes:?}")));
    }
    let value = Tensor::number(fill_value)?;
    let step: isize = input.strides().iter().sum();
    let (height, width) = (sizes[0], sizes[1]);
    let size = height.min(width);
    let tail = wrap && sizes.len() == 2 && height > width + 1;
    let below = input.storage_offset() as i64 + input.strides()[0] as i64 * (width as i64 + 1);
    input.as_strided(&[size], &[step], None)?.fill_(&value)?;
    if tail {
        let more = input.numel().div_ceil(width + 1) - size;
        input.as_strided(&[more], &[step], Some(below))?.fill_(&value)?;
    }
    Ok(input.clone())
}
