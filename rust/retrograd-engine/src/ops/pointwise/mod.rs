//! Elementwise ops: what all of them share, and their definitions.
//!
//! A unary op implements [`Unary`] and is run as [`Map`]; a binary op implements [`Binary`] and is run as [`Zip`].

pub mod activation;
pub mod arith;
#[cfg(feature = "special")]
pub mod bessel;
pub mod binary;
pub mod clamp;
pub mod compare;
pub mod complex;
pub mod discrete;
pub mod division;
pub mod exponential;
#[cfg(feature = "special")]
pub mod incomplete_gamma;
pub mod logic;
pub mod neighbours;
pub mod polar;
#[cfg(feature = "special")]
pub mod polynomials;
pub mod power;
pub mod promote;
pub mod remainder;
pub mod roots;
pub mod rounding;
pub mod scalar_loop;
pub mod select;
pub mod shift;
pub mod sign_and_fraction;
pub mod special;
pub mod ternary;
pub mod trigonometry;
pub mod unary;
pub mod zip;

pub(crate) use arith::{add_assign, refuse_bools};
pub(crate) use division::floor_divide;
pub use promote::{
    Bools, Fields, Floats, Integral, Ints, Reals, Rings, Same, binary_shape, check_number, dtype_with_number, out_like,
    result_type,
};
pub(crate) use scalar_loop::{run_lanes, run_scalar_loop};
pub(crate) use unary::elementary;
pub use unary::{Map, Pass, Unary};
pub use zip::{Binary, Zip};

use crate::error::{Error, Result};
use crate::tensor::{Scalar, Tensor};

/// Refuses two numbers as operands of an op that needs a tensor.
pub(crate) fn refuse_numbers(op: &'static str, a: &Tensor, b: &Tensor) -> Result<()> {
    if a.is_number() && b.is_number() {
        return Err(Error::type_error(op, "expected a tensor as one of the operands, got two numbers"));
    }
    Ok(())
}

/// Refuses complex operands with an error of the op's own.
pub(super) fn refuse_complex(xs: &[&Tensor], error: impl FnOnce() -> Error) -> Result<()> {
    if xs.iter().any(|x| x.dtype().is_complex()) { Err(error()) } else { Ok(()) }
}

/// Zeros of the sizes and dtype of `x`: the derivative of what is constant in pieces.
pub(crate) fn zeros_of(x: &Tensor) -> Result<Tensor> {
    Tensor::full(x.sizes(), Scalar::Int(0), x.dtype())
}
