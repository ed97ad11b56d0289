//! The engine: automatic differentiation with the semantics of torch.autograd.
//!
//! Tensors, a tape and an engine; first, second and forward derivatives for every op. It is the layer in which rules
//! and primitives are written, and its functions return a [`Result`]. Two crates stand in front of it: `retrograd` for
//! programs in Rust, and the extension `retrograd-python`, which puts it behind `import retrograd`. No Python in here.
//!
//! ```
//! use retrograd_engine::{Tensor, autograd};
//!
//! let x = Tensor::from_slice(&[1.0f64, 2.0], &[2]).unwrap();
//! x.set_requires_grad(true).unwrap();
//! let y = x.square().unwrap().sum(None).unwrap();
//! autograd::backward(&y).unwrap();
//! assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [2.0, 4.0]);
//! ```
//!
//! With the feature `ndarray`, on by default, arrays of that crate become tensors (`Tensor::from`), and tensors become
//! arrays (`ArrayD::try_from`) or, by [`Tensor::view`], views of arrays.

// What several families share is not used by each of them.
#![cfg_attr(not(feature = "full"), allow(dead_code, unused_imports))]

extern crate self as retrograd_engine;

pub mod autocast;
pub mod autograd;
pub mod call_site;
pub mod compile;
pub mod counted;
pub mod error;
pub mod generator;
pub mod interrupt;
pub mod ops;
pub mod optim;
pub mod profiler;
pub mod storage;
pub mod tensor;
pub mod testing;
mod thread;
pub mod transforms;
pub mod warn;

/// Loops over memory: the crate `retrograd-kernels`.
pub use retrograd_kernels as kernels;

pub use compile::compile;
pub use error::{Error, ErrorKind, Result};
pub use generator::Generator;
pub use tensor::{DType, Scalar, Tensor, TensorView};
