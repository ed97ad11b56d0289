//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::operand::Operand;
use crate::ops::as_operand;
use crate::ops::options::*;
use crate::{DType, Tensor};

op! {
    {
        /// A copy of `input` with memory of its own. The copy is recorded: its gradient goes to the source.
        ///
        /// Args: `input` any dtype and shape; `memory_format` the order of the axes of the copy, that of `input` by
        /// default.
        ///
        /// Returns: the same values.
        ///
        /// Derivative: `g`.
        ///
        /// Errors: if the format is for tensors of other dims.
    }
    fn [clone try_clone clone_with try_clone_with] ([] input: &Tensor)
    -> Tensor = engine::memory::clone_of, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {}
    in_place {
        /// Copies the elements of `other`, broadcast and converted, into the tensor, and returns it.
        ///
        /// Derivative: zero for the overwritten value, `g` for `other`.
        ///
        /// Errors: if `other` does not broadcast to the tensor's shape.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// assert_eq!(Tensor::zeros([2]).copy_(&tensor![1f32, 2.0]).to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    } [copy_ try_copy_] (['a] &self, other: impl Into<Operand<'a>>) {let input = self;} {engine::memory::copy_as}
    -> Tensor = engine::memory::copy, (input.engine(), &as_operand(other), false)
    {}
}

op! {
    {
        /// `value` in place of every element.
        ///
        /// Args: `value` a number or 0-dim tensor.
        ///
        /// Returns: a tensor like `input`; the in-place form writes to it.
        ///
        /// Derivative: zero for the old value, the sum of `g` for `value`.
        ///
        /// Errors: for a `value` with dims.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::fill(&Tensor::zeros([2]), 3.0).to_vec::<f64>()?, [3.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [fill try_fill] (['a] input: &Tensor, value: impl Into<Operand<'a>>)
    in_place {
        /// The in-place form of `fill`: writes to the tensor, and returns it.
    } [fill_ try_fill_] (['a] &self, value: impl Into<Operand<'a>>) {let input = self;} {engine::memory::fill_as}
    -> Tensor = engine::memory::fill, (input.engine(), &as_operand(value))
    {}
}

op! {
    {}
    in_place {
        /// Writes zero to every element.
        ///
        /// Derivative: zero.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([2]).zero_().to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    } [zero_ try_zero_] ([] &self) {let input = self;} {engine::memory::zero_as}
    -> Tensor = engine::memory::zero, (input.engine())
    {}
}

op! {
    {
        /// The same memory and version counter, cut off from the graph.
    }
    fn [detach try_detach] ([] input: &Tensor)
    -> Tensor = engine::memory::detach_of, (input.engine())
    {}
}

op! {
    {
        /// `input` converted to `dtype`; `input` itself if nothing changes and no copy is asked for.
        ///
        /// Args: `dtype` any dtype; `copy` forces a copy; `memory_format` the order of the axes.
        ///
        /// Derivative: `g` cast back. Casts to integers cut the graph.
        ///
        /// ```
        /// use retrograd::{DType, tensor};
        ///
        /// assert_eq!(tensor![1.5f32].to(DType::Int64).to_vec::<i64>()?, [1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [to try_to to_with try_to_with] ([] &self, dtype: DType) {let input = self;}
    -> Tensor = engine::memory::to_dtype, (input.engine(), Some(dtype), false, false, None, None)
    {[] o: CopyMemoryFormatOptions => Tensor = (input.engine(), Some(dtype), false, o.copy, o.memory_format, None)}
}

op! {
    {
        /// `input` converted to the dtype of another tensor.
        ///
        /// Args: `other` the tensor that has the dtype; the rest as above.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// assert_eq!(tensor![1.5f32].to_like(&Tensor::from(2i64)).to_vec::<i64>()?, [1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "to")]
    }
    method [to_like try_to_like to_like_with try_to_like_with] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::memory::to_other, (input.engine(), other.engine(), false, false, None)
    {[] o: CopyMemoryFormatOptions => Tensor = (input.engine(), other.engine(), false, o.copy, o.memory_format)}
}

op! {
    {
        /// Writes zero to every element of `input`, and returns it.
        ///
        /// Derivative: zero.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::zero_(&Tensor::ones([2])).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [zero_ try_zero_] ([] input: &Tensor)
    -> Tensor = engine::memory::zero_function, (input.engine())
    {}
}
