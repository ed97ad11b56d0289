//! What torch checks of operands of linear algebra, in its words.

use crate::error::{Error, Result};
use crate::tensor::{DType, Tensor};

/// Refuses what has fewer than two dims. `name` is what torch's message calls the function, `arg` the operand.
pub fn matrices(op: &'static str, name: &str, x: &Tensor, arg: &str) -> Result<()> {
    if x.ndim() < 2 {
        return Err(Error::shape(
            op,
            format!("{name}: The input tensor {arg} must have at least 2 dimensions, got shape {:?}.", x.sizes()),
        ));
    }
    Ok(())
}

/// Refuses what is not square matrices.
pub fn square(op: &'static str, name: &str, x: &Tensor, arg: &str) -> Result<()> {
    matrices(op, name, x, arg)?;
    square_or(op, x, &format!("{name}: {arg} must be batches of square matrices"))
}

/// Refuses integers.
pub fn float_or_complex_or_half(op: &'static str, name: &str, x: &Tensor) -> Result<()> {
    if x.dtype().is_differentiable() {
        return Ok(());
    }
    let found = x.dtype().scalar_type_name();
    Err(Error::dtype(
        op,
        format!("{name}: Expected a floating point or complex tensor as input. Got {found}: convert with .to(dtype)"),
    ))
}

/// Refuses halves and integers.
pub fn float_or_complex(op: &'static str, name: &str, x: &Tensor) -> Result<()> {
    float_or_complex_or_half(op, name, x)?;
    let (dtype, found) = (x.dtype(), x.dtype().scalar_type_name());
    if !matches!(dtype, DType::Float32 | DType::Float64 | DType::Complex64 | DType::Complex128) {
        return Err(Error::dtype(
            op,
            format!("{name}: Low precision dtypes not supported. Got {found}: convert with .to(float32)"),
        ));
    }
    Ok(())
}

/// Refuses two operands of different dtypes.
pub fn same_dtype(op: &'static str, name: &str, a: (&Tensor, &str), b: (&Tensor, &str)) -> Result<()> {
    let ((a, a_arg), (b, b_arg)) = (a, b);
    if a.dtype() == b.dtype() {
        return Ok(());
    }
    Err(Error::dtype(
        op,
        format!(
            "{name}: Expected {a_arg} and {b_arg} to have the same dtype, but found {a_arg} of type {} and {b_arg} of type {} \
             instead",
            a.dtype().scalar_type_name(),
            b.dtype().scalar_type_name()
        ),
    ))
}

/// As [`square`], with this beginning of a refusal.
pub fn square_or(op: &'static str, x: &Tensor, refusal: &str) -> Result<()> {
    let (rows, columns) = super::batch::sizes_of(x);
    if rows != columns {
        return Err(Error::shape(op, format!("{refusal}, but they are {rows} by {columns} matrices")));
    }
    Ok(())
}

/// Refuses a right side of another dtype or of other rows than square matrices `a`.
pub fn right_side(op: &'static str, name: &str, a: &Tensor, b: &Tensor) -> Result<()> {
    if a.dtype() != b.dtype() {
        return Err(Error::dtype(
            op,
            format!(
                "Expected b and A to have the same dtype, but found b of type {} and A of type {} instead.",
                b.dtype().scalar_type_name(),
                a.dtype().scalar_type_name()
            ),
        ));
    }
    let ((n, _), (rows, columns)) = (super::batch::sizes_of(a), super::batch::sizes_of(b));
    if n != rows {
        return Err(Error::shape(
            op,
            format!(
                "Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b matrix is {rows} by {columns}"
            ),
        ));
    }
    Ok(())
}
