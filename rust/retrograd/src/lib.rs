#![doc = include_str!("../README.md")]

extern crate self as retrograd;

mod checkpoint;
mod convert;
mod custom_op;
mod display;
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

pub use retrograd_engine::{DType, Error, ErrorKind, Generator, Result, Scalar};

pub use tensor::Tensor;
