//! What most programs name: `use retrograd::prelude::*`.

pub use crate::{Complex, DType, Element, Error, Generator, Operand, Result, Scalar, Tensor, Tree, tensor};
pub use crate::{backward, grad, grad_with};
