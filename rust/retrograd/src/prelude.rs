//! What most programs name: `use retrograd::prelude::*`.

pub use crate::nn::{Forward, Module};
pub use crate::optim::Optimizer;
pub use crate::{DType, Error, Generator, Result, Scalar, Tensor};
