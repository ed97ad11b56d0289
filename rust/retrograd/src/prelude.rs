//! What most programs name: `use retrograd::prelude::*`.

pub use crate::{Complex, Context, DType, Element, Error, Function, Generator, Operand, Result, Scalar, Tensor, Tree};
pub use crate::{backward, custom_op, grad, grad_with, gradcheck, gradgradcheck, tensor};
