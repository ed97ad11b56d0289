//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{Reduce, as_dims};
use crate::shape::Dims;
use crate::{Scalar, Tensor};

op! {
    {
        /// The product of two matrices of which one is sparse, or both.
        ///
        /// Args: `mat1` (n, m), `mat2` (m, p), floating or complex, of one dtype.
        ///
        /// Returns: a dense tensor of shape (n, p), a sparse one if both are sparse.
        ///
        /// Derivative: as of `mm`, for a sparse matrix at its entries alone.
        ///
        /// Errors: if none is sparse, or sizes or dtypes do not fit.
    }
    fn [mm try_mm] ([] mat1: &Tensor, mat2: &Tensor)
    -> Tensor = engine::sparse::product::mm, (mat1.engine(), mat2.engine())
    {}
}

op! {
    {
        /// The product of a sparse matrix and a dense one, or what else is made of the products that it adds up.
        ///
        /// Args: `mat1` (n, m) sparse, by rows; `mat2` (m, p) dense, of the same dtype; `reduce` `Reduce::Sum`,
        /// `Reduce::Mean`, `Reduce::Amax` or `Reduce::Amin` of the products of the entries of a row, of which there
        /// must be one for other results than 0.
        ///
        /// Returns: a dense tensor of shape (n, p).
        ///
        /// Derivative: as of the product; for `Reduce::Amax` and `Reduce::Amin` of the first product that was chosen;
        /// of `mat1` at its entries.
        ///
        /// Errors: for another layout of `mat1`.
        #[doc(alias = "mm")]
    }
    fn [mm_reduce try_mm_reduce] ([] mat1: &Tensor, mat2: &Tensor, reduce: Reduce)
    -> Tensor = engine::sparse::csr::mm_reduce, (mat1.engine(), mat2.engine(), reduce.name())
    {}
}

op! {
    {
        /// `beta * input + alpha * (mat1 @ mat2)` where `input` has entries.
        ///
        /// Args: `input` (n, p) sparse, by rows; `mat1` (n, m), `mat2` (m, p) dense; all of one dtype, floating or
        /// complex; `beta`, `alpha` numbers.
        ///
        /// Returns: a sparse tensor with the indices of `input`.
        ///
        /// Derivative: `beta * g` for `input`, and products with `g` at the entries for the matrices.
        ///
        /// Errors: if sizes or dtypes do not fit, for another layout of `input`.
    }
    fn [sampled_addmm try_sampled_addmm sampled_addmm_with try_sampled_addmm_with] ([] input: &Tensor, mat1: &Tensor,
        mat2: &Tensor)
    -> Tensor = engine::sparse::csr::sampled_addmm, (input.engine(), mat1.engine(), mat2.engine(), Scalar::Int(1),
        Scalar::Int(1))
    {[] o: BetaAlphaOptions => Tensor = (input.engine(), mat1.engine(), mat2.engine(), o.beta, o.alpha)}
}

op! {
    {
        /// `beta * mat + alpha * (mat1 @ mat2)` for a sparse `mat1`.
        ///
        /// Args: `mat` dense, broadcastable to (n, p); `mat1` (n, m) sparse; `mat2` (m, p) dense; all of one dtype,
        /// floating or complex; `beta`, `alpha` numbers.
        ///
        /// Returns: a dense tensor of shape (n, p).
        ///
        /// Derivative: as of `addmm`, for `mat1` at its entries alone.
        ///
        /// Errors: if sizes or dtypes do not fit.
    }
    fn [addmm try_addmm addmm_with try_addmm_with] ([] mat: &Tensor, mat1: &Tensor, mat2: &Tensor)
    -> Tensor = engine::sparse::product::addmm, (mat.engine(), mat1.engine(), mat2.engine(), Scalar::Int(1),
        Scalar::Int(1))
    {[] o: BetaAlphaOptions => Tensor = (mat.engine(), mat1.engine(), mat2.engine(), o.beta, o.alpha)}
}

op! {
    {
        /// The sum of the elements of a sparse tensor, of all of them or along axes.
        ///
        /// Args: `input` a sparse tensor in coordinates; `dim` an axis, several, or `None` for all; `dtype` the dtype
        /// to convert to before summing.
        ///
        /// Returns: a dense tensor if all axes with indices are summed, else a coalesced sparse one.
        ///
        /// Derivative: `g` at the entries of `input`, as a sparse tensor.
        ///
        /// Errors: for a tensor that is not sparse.
    }
    fn [sum try_sum sum_with try_sum_with] ([] input: &Tensor)
    -> Tensor = engine::sparse::sum::sum, (input.engine(), None, None)
    {[] o: SparseSumOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.dtype)}
}

op! {
    {
        /// As `sum`, along `dim`.
    }
    fn [sum_dim try_sum_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> Tensor = engine::sparse::sum::sum, (input.engine(), Some(as_dims(dim).as_slice()), None)
    {}
}

op! {
    {
        /// The softmax of the entries of a sparse tensor along an axis. Elements that are not given have no part in it.
        ///
        /// Args: `input` a sparse tensor in coordinates, float32 or float64; `dim` an axis; `dtype` the dtype to
        /// convert to before.
        ///
        /// Returns: a coalesced sparse tensor.
        ///
        /// Derivative: `y * (g - sum(g * y))`.
        ///
        /// Errors: for a dense tensor.
    }
    fn [softmax try_softmax softmax_with try_softmax_with] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::sparse::softmax::softmax, (input.engine(), dim, None)
    {[] o: DtypeOptions => Tensor = (input.engine(), dim, o.dtype)}
}

op! {
    {
        /// The logarithm of the softmax of the entries of a sparse tensor along an axis.
        ///
        /// Args, errors: as `sparse.softmax`.
        ///
        /// Returns: a coalesced sparse tensor.
        ///
        /// Derivative: `g - exp(y) * sum(g)`.
    }
    fn [log_softmax try_log_softmax log_softmax_with try_log_softmax_with] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::sparse::softmax::log_softmax, (input.engine(), dim, None)
    {[] o: DtypeOptions => Tensor = (input.engine(), dim, o.dtype)}
}
