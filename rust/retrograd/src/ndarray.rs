//! Exchange with the crate `ndarray`.
//!
//! ```
//! use ndarray::{Array2, array};
//! use retrograd::Tensor;
//!
//! let x = Tensor::from(array![[1.0, 2.0], [3.0, 4.0]]);
//! let y = &x * &x;
//! assert_eq!(y.elements::<f64>()?.array().sum(), 30.0);
//! assert_eq!(Array2::<f64>::try_from(&y)?, array![[1.0, 4.0], [9.0, 16.0]]);
//! # Ok::<(), retrograd::Error>(())
//! ```

use ndarray::{Array, ArrayBase, ArrayView, Data, Dimension};

use crate::{Element, Error, Result, Shape, Tensor, engine, site};

/// A contiguous tensor with copies of the array's elements, in row-major order, and of their dtype.
impl<S: Data<Elem: Element>, D: Dimension> From<&ArrayBase<S, D>> for Tensor {
    #[track_caller]
    fn from(array: &ArrayBase<S, D>) -> Self {
        site::here();
        Self(engine::Tensor::from(array))
    }
}

/// A contiguous tensor with the array's elements, in row-major order, and of their dtype. An array in standard layout
/// that is not small is not copied: its memory becomes the tensor's.
impl<T: Element, D: Dimension> From<Array<T, D>> for Tensor {
    #[track_caller]
    fn from(array: Array<T, D>) -> Self {
        if !array.is_standard_layout() {
            return Self::from(&array);
        }
        let shape = Shape::from(array.shape());
        let (mut elements, first) = array.into_raw_vec_and_offset();
        // A slice of an array that was given away has the memory of all of it.
        let n = shape.iter().product::<i64>() as usize;
        let first = first.unwrap_or(0);
        if first > 0 {
            elements.drain(..first);
        }
        elements.truncate(n);
        Self::from_vec(elements, shape)
    }
}

/// As for a reference to the array.
impl<T: Element, D: Dimension> From<ArrayView<'_, T, D>> for Tensor {
    #[track_caller]
    fn from(array: ArrayView<'_, T, D>) -> Self {
        Self::from(&array)
    }
}

/// An array with copies of the elements, in row-major order. An error if the type of the elements has not every value
/// of the tensor's dtype (see [`Tensor::to_vec`]), or the array another number of axes. What autograd knows of the
/// tensor does not go along.
impl<T: Element, D: Dimension> TryFrom<&Tensor> for Array<T, D> {
    type Error = Error;

    #[track_caller]
    fn try_from(tensor: &Tensor) -> Result<Self> {
        let refused = |error: ndarray::ShapeError| {
            let (shape, axes) = (tensor.shape(), D::NDIM.map_or_else(|| "any".to_owned(), |n| n.to_string()));
            let detail = format!("a tensor of shape {shape:?} is no array of {axes} axes: {error}; reshape it first");
            Error::shape("Array::try_from", detail)
        };
        let elements = tensor.to_vec::<T>()?;
        let array = Array::from_shape_vec(tensor.shape(), elements).map_err(refused)?;
        array.into_dimensionality().map_err(refused)
    }
}
