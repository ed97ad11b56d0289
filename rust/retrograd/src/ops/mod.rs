//! Every op by its name in torch.
//!
//! An op with options has a second form whose name ends in `_with`: its last argument is a closure that is given the
//! options, and returns them set. Where the first option is `dim`, a third form whose name ends in `_dim` takes that
//! alone. Each of these has a twin `try_..`, which returns an error where the other panics. Ops that torch has as
//! methods are methods of [`Tensor`](crate::Tensor) too, and those that write to their tensor have a name that ends in `_`.
//!
//! The files in `generated` are written from the roster of the engine, by the crate `retrograd-generator`.

#[macro_use]
mod macros;

mod choices;
mod generated;
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
use crate::shape::{Dims, Shape};
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
