//! What most programs name: `use retrograd::prelude::*`.

pub use crate::nn::{Forward, Module};
pub use crate::optim::Optimizer;
pub use crate::{
    Context, DType, Element, Ellipsis, Error, Function, Generator, NewAxis, Operand, Result, Scalar, Shape, Tensor,
    Tree, backward, custom_op, enable_grad, func, grad, grad_with, gradcheck, gradgradcheck, i, inference_mode,
    manual_seed, no_grad, ops, tensor,
};
