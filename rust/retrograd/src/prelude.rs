//! What most programs name: `use retrograd::prelude::*`.

pub use crate::{
    DType, Element, Ellipsis, Error, Generator, NewAxis, Operand, Result, Scalar, Shape, Tensor, backward, enable_grad,
    grad, grad_with, i, inference_mode, manual_seed, no_grad, ops, tensor,
};
