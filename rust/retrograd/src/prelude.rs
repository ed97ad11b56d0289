//! What most programs name: `use retrograd::prelude::*`.

pub use crate::{DType, Error, Generator, Result, Scalar, Tensor, Tree};
