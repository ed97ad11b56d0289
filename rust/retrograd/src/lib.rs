#![doc = include_str!("../README.md")]

extern crate self as retrograd;

mod attributes;
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
mod random_state;
mod remedies;
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
pub use retrograd_engine::{DType, Error, ErrorKind, Generator, Result, Scalar, TensorView};

pub use backward::{BackwardOptions, GradOptions, backward, backward_with, grad, grad_if_used, grad_with};
pub use checkpoint::{CheckpointOptions, checkpoint, checkpoint_with};
pub use convert::Element;
pub use custom_op::{CustomOp, IntoTensors, custom_op};
pub use function::{Arguments, Context, Function, IntoArguments, Plain, VmapInfo};
pub use gradcheck::{gradcheck, gradgradcheck};
pub use index::{Ellipsis, Index, IndexItem, NewAxis};
pub use operand::{Operand, Tensors};
pub use retrograd_derive::Tree;
pub use scope::{
    AutocastOptions, autocast, autocast_with, detect_anomaly, detect_nan, detect_nan_or_inf, enable_grad,
    get_default_dtype, get_num_threads, inference_mode, is_grad_enabled, is_inference_mode_enabled, manual_seed,
    no_grad, set_default_dtype, set_grad_enabled, set_num_threads,
};
pub use shape::{Dims, Shape, Size};
pub use tensor::{Rows, Tensor};
pub use tree::{Structure, Tree};
