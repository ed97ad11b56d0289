//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::operand::Operand;
use crate::ops::options::*;
use crate::ops::{as_count, as_operand, as_scalar, as_shape, factory};
use crate::shape::Shape;
use crate::{Scalar, Tensor};

op! {
    {
        /// A tensor whose elements are not initialised.
        ///
        /// Args: `size` integers or one sequence of them; `dtype` (the default float dtype); `requires_grad` makes it a
        /// leaf that collects a gradient.
        ///
        /// Returns: a contiguous tensor.
        ///
        /// Errors: for a negative size, more elements than memory can address, or a dtype without gradient if
        /// `requires_grad`; if there is not enough memory.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::empty([2, 3]).shape(), [2, 3]);
        /// ```
    }
    fn [empty try_empty empty_with try_empty_with] ([] size: impl Into<Shape>)
    made [empty try_empty empty_with try_empty_with] ([] size: impl Into<Shape>)
    -> Tensor = engine::create::empty, (as_shape(size).as_slice(), factory(None, false), None)
    {[] o: DtypeRequiresGradMemoryFormatOptions => Tensor = (as_shape(size).as_slice(), factory(o.dtype,
        o.requires_grad), o.memory_format)}
}

op! {
    {
        /// A tensor with the given strides, not initialised.
        ///
        /// Args: `size`, `stride` sequences of integers, none of them negative; `dtype` (float32 unless another is the
        /// default).
        ///
        /// Returns: a tensor over memory just large enough.
        ///
        /// Errors: for negative numbers, and for lengths that differ.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::empty_strided([2, 3], [1, 2]).strides(), [1, 2]);
        /// ```
    }
    fn [empty_strided try_empty_strided empty_strided_with try_empty_strided_with] ([] size: impl Into<Shape>,
        stride: impl Into<Shape>)
    made [empty_strided try_empty_strided empty_strided_with try_empty_strided_with] ([] size: impl Into<Shape>,
        stride: impl Into<Shape>)
    -> Tensor = engine::create::empty_strided, (as_shape(size).as_slice(), as_shape(stride).as_slice(), factory(None,
        false))
    {[] o: DtypeRequiresGradOptions => Tensor = (as_shape(size).as_slice(), as_shape(stride).as_slice(),
        factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// A tensor whose dimensions are in another order in memory, not initialised.
        ///
        /// Args: `size` a sequence of integers; `physical_layout` the dimensions from the outermost in memory to the
        /// innermost, each once; `dtype` (the default float dtype).
        ///
        /// Returns: a tensor without gaps.
        ///
        /// Errors: for negative sizes, and for dimensions that are missing, named twice or out of range.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::empty_permuted([2, 3, 4], [2, 0, 1]).strides(), [3, 1, 6]);
        /// ```
    }
    fn [empty_permuted try_empty_permuted empty_permuted_with try_empty_permuted_with] ([] size: impl Into<Shape>,
        physical_layout: impl Into<Shape>)
    made [empty_permuted try_empty_permuted empty_permuted_with try_empty_permuted_with] ([] size: impl Into<Shape>,
        physical_layout: impl Into<Shape>)
    -> Tensor = engine::create::empty_permuted, (as_shape(size).as_slice(), as_shape(physical_layout).as_slice(),
        factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (as_shape(size).as_slice(), as_shape(physical_layout).as_slice(),
        factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// A tensor of zeros.
        ///
        /// Args, Returns, Errors: as `empty`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros(2).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [zeros try_zeros zeros_with try_zeros_with] ([] size: impl Into<Shape>)
    made [zeros try_zeros zeros_with try_zeros_with] ([] size: impl Into<Shape>)
    -> Tensor = engine::create::zeros, (as_shape(size).as_slice(), factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (as_shape(size).as_slice(), factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// A tensor of ones.
        ///
        /// Args, Returns, Errors: as `empty`.
        ///
        /// ```
        /// use retrograd::{DType, Tensor};
        ///
        /// assert_eq!(Tensor::ones_with(2, |o| o.dtype(DType::Int64)).to_vec::<i64>()?, [1, 1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [ones try_ones ones_with try_ones_with] ([] size: impl Into<Shape>)
    made [ones try_ones ones_with try_ones_with] ([] size: impl Into<Shape>)
    -> Tensor = engine::create::ones, (as_shape(size).as_slice(), factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (as_shape(size).as_slice(), factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// A tensor with every element equal to one number.
        ///
        /// Args: `size` a sequence of integers; `fill_value` a number; `dtype` (that of the number: bool, int64, the
        /// default float or complex dtype); the rest as `empty`.
        ///
        /// Errors: as `empty`, and if the dtype cannot hold the number.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::full([2], 7).to_vec::<i64>()?, [7, 7]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [full try_full full_with try_full_with] ([] size: impl Into<Shape>, fill_value: impl Into<Scalar>)
    made [full try_full full_with try_full_with] ([] size: impl Into<Shape>, fill_value: impl Into<Scalar>)
    -> Tensor = engine::create::full, (as_shape(size).as_slice(), as_scalar(fill_value), factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (as_shape(size).as_slice(), as_scalar(fill_value), factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// A 0-dim tensor of a number.
        ///
        /// Args: `s` a number; `dtype` (the default float dtype, or its complex counterpart for a complex number); the
        /// rest as `empty`.
        ///
        /// Errors: as `full`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::scalar_tensor(3).item::<f64>()?, 3.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [scalar_tensor try_scalar_tensor scalar_tensor_with try_scalar_tensor_with] ([] s: impl Into<Scalar>)
    made [scalar_tensor try_scalar_tensor scalar_tensor_with try_scalar_tensor_with] ([] s: impl Into<Scalar>)
    -> Tensor = engine::create::scalar_tensor, (as_scalar(s), factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (as_scalar(s), factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The numbers from 0 to before `end`, in steps of 1.
        ///
        /// Args: `end` a number; `dtype` (int64 for an integer, else the default float dtype).
        ///
        /// Returns: a 1-dim tensor of `ceil(end)` elements.
        ///
        /// Errors: if `end` is negative or not finite.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::arange(3).to_vec::<i64>()?, [0, 1, 2]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [arange try_arange arange_with try_arange_with] ([] end: impl Into<Scalar>)
    made [arange try_arange arange_with try_arange_with] ([] end: impl Into<Scalar>)
    -> Tensor = engine::create::range::arange_to, (as_scalar(end), factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (as_scalar(end), factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The numbers from `start` to before `end`, in steps of `step`.
        ///
        /// Args: `start`, `end`, `step` numbers; `dtype` (int64 if all are integers, else the default float dtype).
        ///
        /// Returns: a 1-dim tensor of `ceil((end - start) / step)` elements.
        ///
        /// Errors: if `step` is zero or of the wrong sign, or a bound is not finite.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::arange_from_with(5, 0, |o| o.step(-2)).to_vec::<i64>()?, [5, 3, 1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "arange")]
    }
    fn [arange_from try_arange_from arange_from_with try_arange_from_with] ([] start: impl Into<Scalar>,
        end: impl Into<Scalar>)
    made [arange_from try_arange_from arange_from_with try_arange_from_with] ([] start: impl Into<Scalar>,
        end: impl Into<Scalar>)
    -> Tensor = engine::create::range::arange_from, (as_scalar(start), as_scalar(end), Scalar::Int(1), factory(None,
        false))
    {[] o: StepDtypeRequiresGradOptions => Tensor = (as_scalar(start), as_scalar(end), o.step, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// The numbers from `start` to `end`, both included, in steps of `step`.
        ///
        /// Deprecated in favour of `arange`, which leaves out the end, as Python's `range` does; a warning says so.
        ///
        /// Args: `start`, `end`, `step` numbers; `dtype` (the default float dtype).
        ///
        /// Returns: a 1-dim tensor of `floor((end - start) / step) + 1` elements.
        ///
        /// Errors: for a step of 0 or in the wrong direction, and ends that are not finite.
    }
    fn [range try_range range_with try_range_with] ([] start: impl Into<Scalar>, end: impl Into<Scalar>)
    made [range try_range range_with try_range_with] ([] start: impl Into<Scalar>, end: impl Into<Scalar>)
    -> Tensor = engine::create::range::range, (as_scalar(start), as_scalar(end), Scalar::Int(1), factory(None, false))
    {[] o: StepDtypeRequiresGradOptions => Tensor = (as_scalar(start), as_scalar(end), o.step, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// `steps` numbers from `start` to `end`, both included, evenly spaced.
        ///
        /// Args: `start`, `end` numbers; `steps` how many; `dtype` (the default float dtype).
        ///
        /// Returns: a 1-dim tensor of `steps` elements.
        ///
        /// Errors: if `steps` is negative.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::linspace(0, 1, 5).to_vec::<f64>()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [linspace try_linspace linspace_with try_linspace_with] ([] start: impl Into<Scalar>, end: impl Into<Scalar>,
        steps: usize)
    made [linspace try_linspace linspace_with try_linspace_with] ([] start: impl Into<Scalar>, end: impl Into<Scalar>,
        steps: usize)
    -> Tensor = engine::create::range::linspace, (as_scalar(start), as_scalar(end), as_count(steps), factory(None,
        false))
    {[] o: DtypeRequiresGradOptions => Tensor = (as_scalar(start), as_scalar(end), as_count(steps), factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// `steps` numbers between two that tensors hold.
        ///
        /// Args: `start`, `end` 0-dim tensors or numbers, whose values are read; the rest as above.
        ///
        /// Returns: as above, without a gradient for the ends.
        ///
        /// Errors: for ends with dims.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::linspace_tensors(&Tensor::from(0f32), 1, 3).to_vec::<f64>()?, [0.0, 0.5, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "linspace")]
    }
    fn [linspace_tensors try_linspace_tensors linspace_tensors_with try_linspace_tensors_with] (['a] start: impl
        Into<Operand<'a>>,
        end: impl Into<Operand<'a>>, steps: usize)
    -> Tensor = engine::create::range::linspace_tensors, (&as_operand(start), &as_operand(end), as_count(steps),
        factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (&as_operand(start), &as_operand(end), as_count(steps), factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// The identity matrix, or its first `m` columns.
        ///
        /// Args: `n` rows; `m` columns (`n`); `dtype` (the default float dtype).
        ///
        /// Returns: an `(n, m)` tensor.
        ///
        /// Errors: if a size is negative.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::eye(2).to_vec::<f64>()?, [1.0, 0.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [eye try_eye eye_with try_eye_with] ([] n: usize)
    made [eye try_eye eye_with try_eye_with] ([] n: usize)
    -> Tensor = engine::create::range::eye, (as_count(n), None, factory(None, false))
    {[] o: EyeOptions => Tensor = (as_count(n), o.m, factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// A tensor not initialised, of the size and dtype of `input`, in its memory order.
        ///
        /// Args: `input` any tensor; `dtype` another dtype; `memory_format` another order of the axes.
        ///
        /// Errors: if `requires_grad` and the dtype carries no gradient.
    }
    fn [empty_like try_empty_like empty_like_with try_empty_like_with] ([] input: &Tensor)
    -> Tensor = engine::create::like::empty_like, (input.engine(), factory(None, false), None)
    {[] o: DtypeRequiresGradMemoryFormatOptions => Tensor = (input.engine(), factory(o.dtype, o.requires_grad),
        o.memory_format)}
}

op! {
    {
        /// Zeros, of the size and dtype of `input`, in its memory order.
        ///
        /// Args: `input` any tensor; `dtype` another dtype; `memory_format` another order of the axes.
        ///
        /// Errors: if `requires_grad` and the dtype carries no gradient.
    }
    fn [zeros_like try_zeros_like zeros_like_with try_zeros_like_with] ([] input: &Tensor)
    -> Tensor = engine::create::like::zeros_like, (input.engine(), factory(None, false), None)
    {[] o: DtypeRequiresGradMemoryFormatOptions => Tensor = (input.engine(), factory(o.dtype, o.requires_grad),
        o.memory_format)}
}

op! {
    {
        /// Ones, of the size and dtype of `input`, in its memory order.
        ///
        /// Args: `input` any tensor; `dtype` another dtype; `memory_format` another order of the axes.
        ///
        /// Errors: if `requires_grad` and the dtype carries no gradient.
    }
    fn [ones_like try_ones_like ones_like_with try_ones_like_with] ([] input: &Tensor)
    -> Tensor = engine::create::like::ones_like, (input.engine(), factory(None, false), None)
    {[] o: DtypeRequiresGradMemoryFormatOptions => Tensor = (input.engine(), factory(o.dtype, o.requires_grad),
        o.memory_format)}
}

op! {
    {
        /// A tensor filled with one number, of the size and dtype of `input`, in its memory order.
        ///
        /// Args: `input` any tensor; `fill_value` a number; `dtype` another dtype; `memory_format` another order of the
        /// axes.
        ///
        /// Errors: if `requires_grad` and the dtype carries no gradient, or if the dtype cannot hold the number.
    }
    fn [full_like try_full_like full_like_with try_full_like_with] ([] input: &Tensor, fill_value: impl Into<Scalar>)
    -> Tensor = engine::create::like::full_like, (input.engine(), as_scalar(fill_value), factory(None, false), None)
    {[] o: DtypeRequiresGradMemoryFormatOptions => Tensor = (input.engine(), as_scalar(fill_value), factory(o.dtype,
        o.requires_grad), o.memory_format)}
}

op! {
    {
        /// A tensor not initialised, of the given size and the dtype of this tensor.
        ///
        /// Args: `size` integers or one sequence of them; `dtype` another dtype.
        ///
        /// Errors: as `empty`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32].new_empty(2).shape(), [2]);
        /// ```
    }
    method [new_empty try_new_empty new_empty_with try_new_empty_with] ([] &self,
        size: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::create::like::new_empty, (input.engine(), as_shape(size).as_slice(), factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (input.engine(), as_shape(size).as_slice(), factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// A tensor not initialised, of the given size and strides and the dtype of this tensor.
        ///
        /// Args: `size`, `stride` sequences of integers; `dtype` another dtype.
        ///
        /// Errors: as `empty_strided`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1i64].new_empty_strided([2, 3], [1, 2]).strides(), [1, 2]);
        /// ```
    }
    method [new_empty_strided try_new_empty_strided new_empty_strided_with try_new_empty_strided_with] ([] &self,
        size: impl Into<Shape>, stride: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::create::like::new_empty_strided, (input.engine(), as_shape(size).as_slice(),
        as_shape(stride).as_slice(), factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (input.engine(), as_shape(size).as_slice(), as_shape(stride).as_slice(),
        factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// Zeros, of the given size and the dtype of this tensor.
        ///
        /// Args: `size` integers or one sequence of them; `dtype` another dtype.
        ///
        /// Errors: as `zeros`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32].new_zeros(2).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [new_zeros try_new_zeros new_zeros_with try_new_zeros_with] ([] &self,
        size: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::create::like::new_zeros, (input.engine(), as_shape(size).as_slice(), factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (input.engine(), as_shape(size).as_slice(), factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// Ones, of the given size and the dtype of this tensor.
        ///
        /// Args: `size` integers or one sequence of them; `dtype` another dtype.
        ///
        /// Errors: as `ones`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32].new_ones(2).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [new_ones try_new_ones new_ones_with try_new_ones_with] ([] &self,
        size: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::create::like::new_ones, (input.engine(), as_shape(size).as_slice(), factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (input.engine(), as_shape(size).as_slice(), factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// A tensor filled with one number, of the given size and the dtype of this tensor.
        ///
        /// Args: `size` a sequence of integers; `fill_value` a number; `dtype` another dtype.
        ///
        /// Errors: as `full`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32].new_full([2], 7).to_vec::<f64>()?, [7.0, 7.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [new_full try_new_full new_full_with try_new_full_with] ([] &self, size: impl Into<Shape>,
        fill_value: impl Into<Scalar>) {let input = self;}
    -> Tensor = engine::create::like::new_full, (input.engine(), as_shape(size).as_slice(), as_scalar(fill_value),
        factory(None, false))
    {[] o: DtypeRequiresGradOptions => Tensor = (input.engine(), as_shape(size).as_slice(), as_scalar(fill_value),
        factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The lower triangle of each matrix, zeros elsewhere.
        ///
        /// Args: `input` of at least 2 dims; `diagonal` the last diagonal kept (0 the main one, above it positive).
        ///
        /// Returns: the same shape.
        ///
        /// Derivative: the same triangle of `g`.
        ///
        /// Errors: for fewer than 2 dims.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([2, 2]).tril().to_vec::<f64>()?, [1.0, 0.0, 1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [tril try_tril tril_with try_tril_with] ([] input: &Tensor)
    method [tril try_tril tril_with try_tril_with] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `tril`: writes to the tensor, and returns it.
    } [tril_ try_tril_ tril_with_ try_tril_with_] ([] &self) {let input = self;} {engine::create::triangle::tril_as}
    -> Tensor = engine::create::triangle::tril, (input.engine(), 0)
    {[] o: DiagonalOptions => Tensor = (input.engine(), o.diagonal)}
}

op! {
    {
        /// The upper triangle of each matrix, zeros elsewhere.
        ///
        /// Args: `input` of at least 2 dims; `diagonal` the first diagonal kept (0 the main one, above it positive).
        ///
        /// Returns: the same shape.
        ///
        /// Derivative: the same triangle of `g`.
        ///
        /// Errors: for fewer than 2 dims.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([2, 2]).triu().to_vec::<f64>()?, [1.0, 1.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [triu try_triu triu_with try_triu_with] ([] input: &Tensor)
    method [triu try_triu triu_with try_triu_with] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `triu`: writes to the tensor, and returns it.
    } [triu_ try_triu_ triu_with_ try_triu_with_] ([] &self) {let input = self;} {engine::create::triangle::triu_as}
    -> Tensor = engine::create::triangle::triu, (input.engine(), 0)
    {[] o: DiagonalOptions => Tensor = (input.engine(), o.diagonal)}
}

op! {
    {
        /// `steps` powers of `base`, whose exponents are evenly spaced from `start` to `end`, both included.
        ///
        /// Args: `start`, `end` numbers (whole ones for an integer dtype); `steps` how many; `base` a number; `dtype`
        /// (the default float dtype).
        ///
        /// Returns: a vector of `steps` elements.
        ///
        /// Errors: if `steps` is negative.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::logspace(0, 2, 3).to_vec::<f64>()?, [1.0, 10.0, 100.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [logspace try_logspace logspace_with try_logspace_with] ([] start: impl Into<Scalar>, end: impl Into<Scalar>,
        steps: usize)
    made [logspace try_logspace logspace_with try_logspace_with] ([] start: impl Into<Scalar>, end: impl Into<Scalar>,
        steps: usize)
    -> Tensor = engine::create::spaced::logspace, (as_scalar(start), as_scalar(end), as_count(steps), 10.0,
        factory(None, false))
    {[] o: BaseDtypeRequiresGradOptions => Tensor = (as_scalar(start), as_scalar(end), as_count(steps), o.base,
        factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// As above, between exponents that tensors hold.
        ///
        /// Args: `start`, `end` 0-dim tensors or numbers, whose values are read; the rest as above.
        ///
        /// Returns: as above, without a gradient for the ends.
        ///
        /// Errors: for ends with dims.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::logspace_tensors_with(&Tensor::from(0f32), 2, 3, |o| o.base(2.0));
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "logspace")]
    }
    fn [logspace_tensors try_logspace_tensors logspace_tensors_with try_logspace_tensors_with] (['a] start: impl
        Into<Operand<'a>>,
        end: impl Into<Operand<'a>>, steps: usize)
    -> Tensor = engine::create::spaced::logspace_tensors, (&as_operand(start), &as_operand(end), as_count(steps), 10.0,
        factory(None, false))
    {[] o: BaseDtypeRequiresGradOptions => Tensor = (&as_operand(start), &as_operand(end), as_count(steps), o.base,
        factory(o.dtype, o.requires_grad))}
}

op! {
    {
        /// The indices of the lower triangle of a matrix: a row of rows and a row of columns.
        ///
        /// Args: `row`, `col` the sizes of the matrix; `offset` the last diagonal of the triangle (0 the main one,
        /// above it positive); `dtype` an integer one (int64).
        ///
        /// Returns: a tensor of sizes (2, n).
        ///
        /// Errors: for a negative size; for another dtype.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::tril_indices(2, 2).to_vec::<i64>()?, [0, 1, 1, 0, 0, 1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [tril_indices try_tril_indices tril_indices_with try_tril_indices_with] ([] row: usize, col: usize)
    made [tril_indices try_tril_indices tril_indices_with try_tril_indices_with] ([] row: usize, col: usize)
    -> Tensor = engine::create::spaced::tril_indices, (as_count(row), as_count(col), 0, factory(None, false))
    {[] o: OffsetDtypeRequiresGradOptions => Tensor = (as_count(row), as_count(col), o.offset, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// The indices of the upper triangle of a matrix: a row of rows and a row of columns.
        ///
        /// Args: `row`, `col` the sizes of the matrix; `offset` the first diagonal of the triangle (0 the main one,
        /// above it positive); `dtype` an integer one (int64).
        ///
        /// Returns: a tensor of sizes (2, n).
        ///
        /// Errors: as `tril_indices`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::triu_indices(2, 2).to_vec::<i64>()?, [0, 0, 1, 0, 1, 1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [triu_indices try_triu_indices triu_indices_with try_triu_indices_with] ([] row: usize, col: usize)
    made [triu_indices try_triu_indices triu_indices_with try_triu_indices_with] ([] row: usize, col: usize)
    -> Tensor = engine::create::spaced::triu_indices, (as_count(row), as_count(col), 0, factory(None, false))
    {[] o: OffsetDtypeRequiresGradOptions => Tensor = (as_count(row), as_count(col), o.offset, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// The Hann window: `0.5 - 0.5 cos(2 pi i / (n - 1))`.
        ///
        /// Args: `window_length` how many numbers; `periodic` for a window that continues itself, which is one of a
        /// length more without its last number; `dtype` a floating one.
        ///
        /// Returns: a vector.
        ///
        /// Errors: for a negative length or another dtype.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::hann_window(2).to_vec::<f64>()?, [0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [hann_window try_hann_window hann_window_with try_hann_window_with] ([] window_length: usize)
    made [hann_window try_hann_window hann_window_with try_hann_window_with] ([] window_length: usize)
    -> Tensor = engine::create::window::hann_window, (as_count(window_length), true, factory(None, false))
    {[] o: PeriodicDtypeRequiresGradOptions => Tensor = (as_count(window_length), o.periodic, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// The Hamming window: `alpha - beta cos(2 pi i / (n - 1))`.
        ///
        /// Args: `window_length`, `periodic`, `dtype` as for `hann_window`; `alpha`, `beta` numbers.
        ///
        /// Returns: a vector.
        ///
        /// Errors: as `hann_window`.
        ///
        /// ```
        /// use retrograd::{DType, Tensor};
        ///
        /// let y = Tensor::hamming_window_with(4, |o| o.periodic(true).alpha(0.75).beta(0.25).dtype(DType::Float64));
        /// assert_eq!(y.to_vec::<f64>()?, [0.5, 0.75, 1.0, 0.75]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [hamming_window try_hamming_window hamming_window_with try_hamming_window_with] ([] window_length: usize)
    made [hamming_window try_hamming_window hamming_window_with try_hamming_window_with] ([] window_length: usize)
    -> Tensor = engine::create::window::hamming_window, (as_count(window_length), true, 0.54, 0.46, factory(None,
        false))
    {[] o: HammingWindowOptions => Tensor = (as_count(window_length), o.periodic, o.alpha, o.beta, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// The Blackman window: `0.42 - 0.5 cos(2 pi i / (n - 1)) + 0.08 cos(4 pi i / (n - 1))`.
        ///
        /// Args: `window_length`, `periodic`, `dtype` as for `hann_window`.
        ///
        /// Returns: a vector.
        ///
        /// Errors: as `hann_window`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::blackman_window_with(5, |o| o.periodic(false)).shape(), [5]);
        /// ```
    }
    fn [blackman_window try_blackman_window blackman_window_with try_blackman_window_with] ([] window_length: usize)
    made [blackman_window try_blackman_window blackman_window_with try_blackman_window_with] ([] window_length: usize)
    -> Tensor = engine::create::window::blackman_window, (as_count(window_length), true, factory(None, false))
    {[] o: PeriodicDtypeRequiresGradOptions => Tensor = (as_count(window_length), o.periodic, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// The Bartlett window, a triangle: `1 - |2 i / (n - 1) - 1|`.
        ///
        /// Args: `window_length`, `periodic`, `dtype` as for `hann_window`.
        ///
        /// Returns: a vector.
        ///
        /// Errors: as `hann_window`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// let y = Tensor::bartlett_window_with(5, |o| o.periodic(false));
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 0.5, 1.0, 0.5, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bartlett_window try_bartlett_window bartlett_window_with try_bartlett_window_with] ([] window_length: usize)
    made [bartlett_window try_bartlett_window bartlett_window_with try_bartlett_window_with] ([] window_length: usize)
    -> Tensor = engine::create::window::bartlett_window, (as_count(window_length), true, factory(None, false))
    {[] o: PeriodicDtypeRequiresGradOptions => Tensor = (as_count(window_length), o.periodic, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// The Kaiser window: `I0(beta sqrt(1 - (2 i / (n - 1) - 1)^2)) / I0(beta)`, with the modified Bessel function
        /// `I0`.
        ///
        /// Args: `window_length`, `periodic`, `dtype` as for `hann_window`; `beta` how narrow it is.
        ///
        /// Returns: a vector.
        ///
        /// Errors: as `hann_window`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// let y = Tensor::kaiser_window_with(3, |o| o.periodic(false).beta(0.0));
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [kaiser_window try_kaiser_window kaiser_window_with try_kaiser_window_with] ([] window_length: usize)
    made [kaiser_window try_kaiser_window kaiser_window_with try_kaiser_window_with] ([] window_length: usize)
    -> Tensor = engine::create::window::kaiser_window, (as_count(window_length), true, 12.0, factory(None, false))
    {[] o: KaiserWindowOptions => Tensor = (as_count(window_length), o.periodic, o.beta, factory(o.dtype,
        o.requires_grad))}
}

op! {
    {
        /// All ways to take `r` of the elements of a vector, in the order of their indices.
        ///
        /// Args: `input` a vector; `r` how many; `with_replacement` lets an element be taken again.
        ///
        /// Returns: a tensor of sizes (n, r).
        ///
        /// Derivative: `g` summed over the places where each element was taken.
        ///
        /// Errors: for another shape or a negative `r`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::combinations(&tensor![1i64, 2, 3]).to_vec::<i64>()?, [1, 2, 1, 3, 2, 3]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [combinations try_combinations combinations_with try_combinations_with] ([] input: &Tensor)
    -> Tensor = engine::create::products::combinations, (input.engine(), 2, false)
    {[] o: CombinationsOptions => Tensor = (input.engine(), o.r, o.with_replacement)}
}
