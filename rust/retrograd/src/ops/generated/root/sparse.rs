//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::Tensor;
use crate::engine::ops as engine;
use crate::ops::as_count;
use crate::ops::options::*;
use crate::shape::Shape;

op! {
    {
        /// The same sparse tensor with its entries in the order of their indices, those of one place as their sum.
        ///
        /// Args: `input` a sparse tensor in coordinates.
        ///
        /// Returns: a sparse tensor; `input` itself if it is coalesced already.
        ///
        /// Derivative: `g`.
        ///
        /// Errors: for a tensor of another layout.
    }
    method [coalesce try_coalesce] ([] &self) {let input = self;}
    -> Tensor = engine::sparse::coalesce, (input.engine())
    {}
}

op! {
    {
        /// The entries of a sparse tensor.
        ///
        /// Args: `input` a sparse tensor; one in coordinates must be coalesced.
        ///
        /// Returns: a tensor of shape (entries, \*sizes of dense axes) over the memory of the entries.
        ///
        /// Derivative: a sparse tensor of `g` with the indices of `input`.
        ///
        /// Errors: for a tensor that is not sparse, or not coalesced.
    }
    method [values try_values] ([] &self) {let input = self;}
    -> Tensor = engine::sparse::values, (input.engine())
    {}
}

op! {
    {
        /// All elements of a sparse tensor.
        ///
        /// Args: `input` any layout; `dtype` the dtype of the result; `masked_grad` `false` says that the elements that
        /// are not given count in the derivative.
        ///
        /// Returns: a dense tensor; `input` itself if it is one.
        ///
        /// Derivative: `g` at the entries of `input`, as a sparse tensor; of all elements with `masked_grad(false)`.
    }
    method [to_dense try_to_dense to_dense_with try_to_dense_with] ([] &self) {let input = self;}
    -> Tensor = engine::sparse::to_dense, (input.engine(), None, None)
    {[] o: ToDenseOptions => Tensor = (input.engine(), o.dtype, o.masked_grad)}
}

op! {
    {
        /// The elements of a tensor that are not zero, with their indices.
        ///
        /// Args: `input` any layout; `layout` of the result, `sparse_coo` by default; `blocksize`, `dense_dim` `None`:
        /// these layouts have none.
        ///
        /// Returns: a coalesced sparse tensor; `input` itself if it has that layout.
        ///
        /// Derivative: `g` in the layout of `input`.
    }
    method [to_sparse try_to_sparse to_sparse_with try_to_sparse_with] ([] &self) {let input = self;}
    -> Tensor = engine::sparse::to_sparse, (input.engine(), None, None, None)
    {[] o: ToSparseOptions => Tensor = (input.engine(), o.layout, o.blocksize.as_ref().map(Shape::as_slice),
        o.dense_dim)}
}

op! {
    {
        /// The slices of a tensor along its first axes that are not zero, with their indices.
        ///
        /// Args: `sparse_dim` how many axes get indices.
        ///
        /// Returns: a coalesced sparse tensor.
        ///
        /// Derivative: `g`, dense.
        ///
        /// Errors: for a number of axes that the tensor does not have.
        #[doc(alias = "to_sparse")]
    }
    method [to_sparse_dim try_to_sparse_dim] ([] &self, sparse_dim: usize) {let input = self;}
    -> Tensor = engine::sparse::to_sparse_dim, (input.engine(), as_count(sparse_dim))
    {}
}

op! {
    {
        /// The elements of a tensor that are not zero, in coordinates; `to_sparse()`.
        ///
        /// Args: `input` any layout.
        ///
        /// Returns: a coalesced sparse tensor; `input` itself if it has that layout.
        ///
        /// Derivative: `g` in the layout of `input`.
    }
    method [to_sparse_coo try_to_sparse_coo] ([] &self) {let input = self;}
    -> Tensor = engine::sparse::to_sparse_coo, (input.engine())
    {}
}

op! {
    {
        /// The elements of a matrix that are not zero, by rows.
        ///
        /// Args: `input` (n, m) any layout; `dense_dim` `None` or 0.
        ///
        /// Returns: a sparse matrix; `input` itself if it has that layout.
        ///
        /// Derivative: `g` in the layout of `input`.
        ///
        /// Errors: for a tensor that is no matrix.
    }
    method [to_sparse_csr try_to_sparse_csr to_sparse_csr_with try_to_sparse_csr_with] ([] &self) {let input = self;}
    -> Tensor = engine::sparse::to_sparse_csr, (input.engine(), None)
    {[] o: ToSparseCsrOptions => Tensor = (input.engine(), o.dense_dim)}
}

op! {
    {
        /// The elements of `input` where `mask` has entries.
        ///
        /// Args: `input` dense or sparse; `mask` a sparse tensor of the same shape.
        ///
        /// Returns: a sparse tensor with the indices of `mask`, in order.
        ///
        /// Derivative: `g` at these indices, dense if `input` is.
        ///
        /// Errors: if the shapes differ or `mask` is not sparse.
    }
    method [sparse_mask try_sparse_mask] ([] &self, mask: &Tensor) {let input = self;}
    -> Tensor = engine::sparse::mask::sparse_mask, (input.engine(), mask.engine())
    {}
}
