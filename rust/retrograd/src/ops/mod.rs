//! Every op by its name in torch.
//!
//! An op with options has a second form whose name ends in `_with`: its last argument is a closure that is given the
//! options, and returns them set. Where the first option is `dim`, a third form whose name ends in `_dim` takes that
//! alone. Each of these has a twin `try_..`, which returns an error where the other panics. Ops that torch has as
//! methods are methods of [`Tensor`](crate::Tensor) too, and those that write to their tensor have a name that ends in
//! `_`.
//!
//! ```
//! use retrograd::ops::{self, Reduction};
//! use retrograd::{DType, Tensor, tensor};
//!
//! let x = tensor![[1.0, 2.0], [3.0, 4.0]];
//! assert_eq!(x.sum_dim(1).to_vec::<f64>()?, [3.0, 7.0]);
//! assert_eq!(ops::sum_with(&x, |o| o.dim(0).keepdim(true)).shape(), [1, 2]);
//! let loss = ops::nn::mse_loss_with(&x, &x.mul(2), |o| o.reduction(Reduction::Sum));
//! assert_eq!(loss.item::<f64>()?, 30.0);
//! let weights = Tensor::zeros_with([2, 2], |o| o.dtype(DType::Float64).requires_grad(true));
//! assert_eq!(x.matmul(&weights).max_dim(0).values.to_vec::<f64>()?, [0.0, 0.0]);
//!
//! let error = x.try_add(Tensor::ones([3])).unwrap_err();
//! assert!(error.to_string().contains("do not broadcast"));
//! # Ok::<(), retrograd::Error>(())
//! ```
//!
//! What differs from torch: an overload may have a name of its own (`max_dim`, `split_sections`, `arange_from`), names
//! that are keywords or other types of Rust differ (`where_self`), a text that chooses is an enum of this module, named
//! results are structs, and what chooses nothing here (`layout`, `device`, `pin_memory`) or is deprecated has no
//! option.
//!
//! Ops of a family that is a feature of the crate say so in their documentation, and are there where it is switched on.
//!
//! The files in `generated` are written from the roster of the engine, by the crate `retrograd-generator`.

#[macro_use]
mod macros;

mod choices;
mod generated;
#[cfg(feature = "conv")]
mod merged;
pub(crate) mod results;
mod values;

pub use choices::*;
pub use generated::root::*;
pub use generated::{fft, linalg, masked, nn, options, signal, sparse, special};
pub use results::{
    CholeskyInfo, Eig, Geqrf, Histogram, HistogramDd, InverseInfo, Ldl, LdlInfo, Lstsq, Lu, LuInfo, MantissaExponent,
    MinMax, Plu, Qr, SignLogabsdet, SolutionInfo, Svd, TriangularSolution, Usv, ValuesIndices,
};
pub use values::{Floats, OutputSize, Padding};

pub use crate::engine::tensor::{Layout, MemoryFormat};
pub use crate::operand::Tensors;

use crate::engine::ops::TensorOptions;
use crate::operand::Operand;
use crate::shape::{Dims, Shape, Size};
use crate::{DType, Scalar};

#[inline]
fn as_operand<'a>(given: impl Into<Operand<'a>>) -> Operand<'a> {
    given.into()
}

#[inline]
fn as_shape(given: impl Into<Shape>) -> Shape {
    given.into()
}

#[inline]
fn as_dims(given: impl Into<Dims>) -> Dims {
    given.into()
}

#[inline]
fn as_count(given: usize) -> i64 {
    given.get()
}

#[inline]
fn as_scalar(given: impl Into<Scalar>) -> Scalar {
    given.into()
}

#[inline]
fn factory(dtype: Option<DType>, requires_grad: bool) -> TensorOptions {
    let options = TensorOptions::default().requires_grad(requires_grad);
    match dtype {
        Some(dtype) => options.dtype(dtype),
        None => options,
    }
}
