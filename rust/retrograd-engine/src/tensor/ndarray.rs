//! Exchange with the crate `ndarray`: arrays become tensors by a copy, tensors become arrays by a copy or a view.
//!
//! ```
//! use ndarray::{ArrayD, array};
//! use retrograd_engine::Tensor;
//!
//! let x = Tensor::from(array![[1.0f32, 2.0], [3.0, 4.0]]);
//! let y = x.mul(&x).unwrap();
//! assert_eq!(y.view::<f32>().unwrap().array().sum(), 30.0);
//! let y: ArrayD<f32> = (&y).try_into().unwrap();
//! assert_eq!(y, array![[1.0f32, 4.0], [9.0, 16.0]].into_dyn());
//! ```

use ndarray::{ArrayBase, ArrayD, ArrayViewD, Axis, Data, Dimension, IxDyn, ShapeBuilder};

use super::{Element, Host, Tensor, TensorView};
use crate::error::{Error, Result};

/// A contiguous tensor with the elements of the array, copied in row-major order. Its dtype is that of the elements.
///
/// # Panics
/// If there is not enough memory, as where a `Vec` is made.
impl<S, D> From<&ArrayBase<S, D>> for Tensor
where
    S: Data<Elem: Host>,
    D: Dimension,
{
    fn from(array: &ArrayBase<S, D>) -> Self {
        let filled = Tensor::build(array.shape(), |out| {
            out.iter_mut().zip(array).for_each(|(o, &v)| *o = v.into_element());
        });
        filled.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// As for a reference to the array.
impl<S, D> From<ArrayBase<S, D>> for Tensor
where
    S: Data<Elem: Host>,
    D: Dimension,
{
    fn from(array: ArrayBase<S, D>) -> Self {
        Self::from(&array)
    }
}

/// An array with copies of the tensor's elements, in row-major order; of bool from a bool tensor. An error for another
/// dtype: nothing is converted on the way. What autograd knows of the tensor does not go along.
impl<T: Host> TryFrom<&Tensor> for ArrayD<T> {
    type Error = Error;

    fn try_from(tensor: &Tensor) -> Result<Self> {
        let (has, wanted) = (tensor.dtype(), T::Element::DTYPE);
        if has != wanted {
            return Err(Error::dtype(
                "ArrayD::try_from",
                format!(
                    "a {} tensor is no array of {}: convert it first (`copy::cast(&tensor, DType::{wanted:?})`), or ask for an \
                     array of its own element type",
                    has.name(),
                    wanted.name()
                ),
            ));
        }
        let elements = tensor.to_vec::<T>()?;
        ArrayD::from_shape_vec(tensor.sizes(), elements)
            .map_err(|error| Error::shape("ArrayD::try_from", error.to_string()))
    }
}

impl<T: Element> TensorView<T> {
    /// The elements as an array, where they are: with the tensor's sizes and strides, expanded axes too.
    ///
    /// ```
    /// use ndarray::array;
    /// use retrograd_engine::Tensor;
    ///
    /// let t = Tensor::from(array![[1i64, 2, 3], [4, 5, 6]]).transpose(0, 1).unwrap();
    /// let view = t.view::<i64>().unwrap();
    /// assert_eq!(view.array(), array![[1, 4], [2, 5], [3, 6]].into_dyn());
    /// ```
    ///
    /// # Panics
    /// If the tensor is expanded, or empty, with sizes whose product `ndarray` cannot represent.
    pub fn array(&self) -> ArrayViewD<'_, T> {
        let elements = self.sizes().iter().filter(|&&n| n > 0).try_fold(1usize, |n, &size| n.checked_mul(size));
        let fits = elements.is_some_and(|n| n <= isize::MAX as usize);
        assert!(fits, "ndarray has no arrays of sizes {:?}", self.sizes());
        let mut first = self.first().as_ptr().cast_const();
        let mut strides = IxDyn(self.sizes());
        for (axis, (&n, &step)) in self.sizes().iter().zip(self.strides()).enumerate() {
            strides[axis] = step.unsigned_abs();
            if step < 0 && n > 1 && !self.sizes().contains(&0) {
                first = first.wrapping_offset(step * (n as isize - 1));
            }
        }
        // SAFETY: S1 to S3 and S5: the elements of an index within the sizes are aligned and lie in the storage, which
        // the view keeps, as `first` is now the one at the lowest address; S7: nobody writes to them. Nothing
        // overflows, as was asserted, and as the offsets in elements are of one storage.
        let mut array = unsafe { ArrayViewD::from_shape_ptr(IxDyn(self.sizes()).strides(strides), first) };
        for (axis, &step) in self.strides().iter().enumerate() {
            if step < 0 {
                array.invert_axis(Axis(axis));
            }
        }
        array
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array0, array};

    use super::*;
    use crate::DType;
    use crate::tensor::Truth;

    #[test]
    fn arrays_become_tensors() {
        let a = array![[1.5f64, 2.0, 3.0], [4.0, 5.0, 6.0]];
        for (a, want) in [
            (a.view(), vec![1.5, 2.0, 3.0, 4.0, 5.0, 6.0]),
            (a.t(), vec![1.5, 4.0, 2.0, 5.0, 3.0, 6.0]),
            (a.slice(ndarray::s![.., ..;-2]), vec![3.0, 1.5, 6.0, 4.0]),
            (a.slice(ndarray::s![1..1, ..]), vec![]),
        ] {
            let t = Tensor::from(&a);
            assert_eq!((t.sizes(), t.dtype(), t.is_contiguous()), (a.shape(), DType::Float64, true));
            assert_eq!(t.to_vec::<f64>().unwrap(), want);
        }
        let t = Tensor::from(array![true, false]);
        assert_eq!((t.dtype(), t.to_vec::<bool>().unwrap()), (DType::Bool, vec![true, false]));
        assert_eq!(Tensor::from(Array0::from_elem((), 3i16)).item().unwrap(), 3i64.into());
    }

    #[test]
    fn tensors_become_arrays() {
        let t = Tensor::from(array![[1u8, 2], [3, 4]]).transpose(0, 1).unwrap();
        assert_eq!(ArrayD::<u8>::try_from(&t).unwrap(), array![[1, 3], [2, 4]].into_dyn());
        let flags = Tensor::from(array![true, false]);
        assert_eq!(ArrayD::<bool>::try_from(&flags).unwrap(), array![true, false].into_dyn());
        let error = ArrayD::<f32>::try_from(&t).unwrap_err().to_string();
        assert!(error.contains("a uint8 tensor is no array of float32") && error.contains("DType::Float32"), "{error}");
        let cast = crate::tensor::copy::cast(&t, DType::Float32).unwrap();
        assert_eq!(ArrayD::<f32>::try_from(&cast).unwrap().sum(), 10.0);
    }

    #[test]
    fn views_have_the_strides_of_tensors() {
        let t = Tensor::from(array![[1i32, 2, 3], [4, 5, 6]]);
        let backwards = Tensor::from_parts(t.storage(), DType::Int32, &[2, 3], &[3, -1], 2).unwrap();
        assert_eq!(backwards.view::<i32>().unwrap().array(), array![[3, 2, 1], [6, 5, 4]].into_dyn());
        let column = t.select(1, 1).unwrap();
        assert_eq!(column.view::<i32>().unwrap().array(), array![2, 5].into_dyn());
        let expanded = Tensor::from_parts(t.storage(), DType::Int32, &[2, 2], &[0, 1], 1).unwrap();
        let view = expanded.view::<i32>().unwrap();
        assert_eq!(view.array(), array![[2, 3], [2, 3]].into_dyn());
        assert!(t.neg_().is_err());
        drop(view);
        assert_eq!(t.neg_().unwrap().view::<i32>().unwrap().array().sum(), -21);
        let none = Tensor::empty(&[0, 3], DType::Bool).unwrap();
        assert_eq!(none.view::<Truth>().unwrap().array().shape(), &[0, 3]);
        assert_eq!(Tensor::from(Array0::from_elem((), 7i64)).view::<i64>().unwrap().array().sum(), 7);
    }
}
