//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::operand::Operand;
use crate::ops::{as_operand, as_scalar};
use crate::{DType, Scalar, Tensor};

op! {
    {
        /// The dtype that an op of both operands computes in.
        ///
        /// Args: `tensor`, `other` tensors or numbers. Tensors with dims outrank those without, which outrank numbers,
        /// within a category (bool, integers, floats, complex).
        ///
        /// ```
        /// use retrograd::{DType, ops, tensor};
        ///
        /// assert_eq!(ops::result_type(&tensor![1i64, 2], 1.0), DType::Float32);
        /// ```
    }
    fn [result_type try_result_type] (['a] tensor: &Tensor, other: impl Into<Operand<'a>>)
    -> DType = engine::promotion_queries::result_type, (tensor.engine(), &as_operand(other))
    {}
}

op! {
    {
        /// The dtype that an op of a number and a tensor computes in.
        ///
        /// Args: `scalar` a number; `tensor` a tensor: see `result_type` of two tensors.
        #[doc(alias = "result_type")]
    }
    fn [result_type_of_number try_result_type_of_number] ([] scalar: impl Into<Scalar>, tensor: &Tensor)
    -> DType = engine::promotion_queries::result_type_of_number, (as_scalar(scalar), tensor.engine())
    {}
}

op! {
    {
        /// The dtype that an op of two numbers computes in.
        ///
        /// Args: `scalar1`, `scalar2` numbers.
        ///
        /// ```
        /// use retrograd::{DType, ops};
        ///
        /// assert_eq!(ops::result_type_of_numbers(1, 2.0), DType::Float32);
        /// ```
        #[doc(alias = "result_type")]
    }
    fn [result_type_of_numbers try_result_type_of_numbers] ([] scalar1: impl Into<Scalar>, scalar2: impl Into<Scalar>)
    -> DType = engine::promotion_queries::result_type_of_numbers, (as_scalar(scalar1), as_scalar(scalar2))
    {}
}

op! {
    {
        /// The smallest dtype that both can be converted to without changing category.
        ///
        /// Args: `type1`, `type2` dtypes.
        ///
        /// Errors: for uint16, uint32 or uint64 beside another integer dtype.
        ///
        /// ```
        /// use retrograd::{DType, ops};
        ///
        /// assert_eq!(ops::promote_types(DType::Int32, DType::Float16), DType::Float16);
        /// ```
    }
    fn [promote_types try_promote_types] ([] type1: DType, type2: DType)
    -> DType = engine::promotion_queries::promote_types, (type1, type2)
    {}
}

op! {
    {
        /// Whether results of one dtype may be written to a tensor of another: never from floats to integers, to bool
        /// from bool alone.
        ///
        /// Args: `from_`, `to` dtypes.
    }
    fn [can_cast try_can_cast] ([] from: DType, to: DType)
    -> bool = engine::promotion_queries::can_cast, (from, to)
    {}
}
