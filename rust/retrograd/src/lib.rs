#![doc = include_str!("../README.md")]

mod backward;
mod checkpoint;
mod convert;
mod custom_op;
mod display;
pub mod forward_ad;
pub mod func;
mod function;
pub mod gradcheck;
pub mod hooks;
mod index;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod nn;
mod operand;
mod operators;
pub mod ops;
pub mod optim;
pub mod prelude;
pub mod safetensors;
mod scope;
mod shape;
mod site;
mod tensor;
mod tree;

/// The crate below: what rules and primitives are written in, and all that has no form of its own here.
pub use retrograd_engine as engine;

pub use half::{bf16, f16};
pub use num_complex::Complex;
pub use retrograd_engine::{DType, Error, ErrorKind, Generator, Result, Scalar};

pub use backward::{BackwardOptions, GradOptions, backward, backward_with, grad, grad_if_used, grad_with};
pub use checkpoint::checkpoint;
pub use convert::Element;
pub use custom_op::{CustomOp, IntoTensors, custom_op};
pub use function::{Arguments, Context, Function, IntoArguments, Plain, VmapInfo};
pub use gradcheck::{gradcheck, gradgradcheck};
pub use operand::{Operand, Tensors};
pub use retrograd_derive::Tree;
pub use shape::{Dims, Shape, Size};
pub use tensor::{Rows, Tensor};
pub use tree::{Structure, Tree};
