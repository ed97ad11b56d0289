//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{Reduce, ScatterReduction, Tensors, as_count, as_scalar};
use crate::{Scalar, Tensor};

op! {
    {
        /// The slices of `input` at the positions `index` along an axis, in their order.
        ///
        /// Args: `dim` an axis; `index` a vector (or 0-dim tensor) of int32 or int64, from 0 on.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g` added up at the indices.
        ///
        /// Errors: if an index is out of range or `index` has several axes; for another dtype.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].index_select(0, &tensor![2i64, 0]).to_vec::<f64>()?, [3.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [index_select try_index_select] ([] input: &Tensor, dim: i64, index: &Tensor)
    method [index_select try_index_select] ([] &self, dim: i64, index: &Tensor) {let input = self;}
    -> Tensor = engine::index::along::index_select, (input.engine(), dim, index.engine())
    {}
}

op! {
    {
        /// The elements of `input` that `index` names along an axis, each at its own place along the others.
        ///
        /// Args: `dim` an axis; `index` int32 or int64 with as many axes as `input`, no larger than it but along `dim`.
        ///
        /// Returns: a fresh tensor of the sizes of `index`.
        ///
        /// Derivative: `g` added up at the indices.
        ///
        /// Errors: if an index is out of range or sizes do not fit.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].gather(1, &tensor![[0i64], [1]]).to_vec::<f64>()?, [1.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [gather try_gather gather_with try_gather_with] ([] input: &Tensor, dim: i64, index: &Tensor)
    method [gather try_gather gather_with try_gather_with] ([] &self, dim: i64, index: &Tensor) {let input = self;}
    -> Tensor = engine::index::along::gather, (input.engine(), dim, index.engine(), false)
    {[] o: GatherOptions => Tensor = (input.engine(), dim, index.engine(), o.sparse_grad)}
}

op! {
    {
        /// `input` with the elements of `src` added where `index` names along an axis.
        ///
        /// Args: `dim` an axis; `index` int32 or int64, no larger than `src`, nor than `input` but along `dim`; `src`
        /// of the dtype of `input`.
        ///
        /// Returns: a tensor of the sizes of `input`.
        ///
        /// Derivative: `g` for `input`, `g` at the index for `src`.
        ///
        /// Errors: if an index is out of range, or sizes or dtypes do not fit.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = Tensor::zeros([3]).scatter_add(0, &tensor![0i64, 0], &tensor![1f32, 2.0]);
        /// assert_eq!(y.to_vec::<f64>()?, [3.0, 0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [scatter_add try_scatter_add] ([] input: &Tensor, dim: i64, index: &Tensor, src: &Tensor)
    method [scatter_add try_scatter_add] ([] &self, dim: i64, index: &Tensor, src: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `scatter_add`: writes to the tensor, and returns it.
    } [scatter_add_ try_scatter_add_] ([] &self, dim: i64, index: &Tensor,
        src: &Tensor) {let input = self;} {engine::index::scatter::scatter_add_as}
    -> Tensor = engine::index::scatter::scatter_add, (input.engine(), dim, index.engine(), src.engine())
    {}
}

op! {
    {
        /// `input` with the elements of `src` written where `index` names along an axis. Where an index comes twice,
        /// the last one in row-major order stays.
        ///
        /// Args: as for `scatter_add`.
        ///
        /// Derivative: `g` with zeros at the index for `input`, `g` at the index for `src` (as if no index came twice).
        ///
        /// Errors: if an index is out of range, or sizes or dtypes do not fit.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = Tensor::zeros([3]).scatter(0, &tensor![2i64, 0], &tensor![1f32, 2.0]);
        /// assert_eq!(y.to_vec::<f64>()?, [2.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [scatter try_scatter] ([] input: &Tensor, dim: i64, index: &Tensor, src: &Tensor)
    method [scatter try_scatter] ([] &self, dim: i64, index: &Tensor, src: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `scatter`: writes to the tensor, and returns it.
    } [scatter_ try_scatter_] ([] &self, dim: i64, index: &Tensor,
        src: &Tensor) {let input = self;} {engine::index::scatter::scatter_as}
    -> Tensor = engine::index::scatter::scatter, (input.engine(), dim, index.engine(), src.engine())
    {}
}

op! {
    {
        /// `input` with a number written where `index` names along an axis; see `scatter`.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// assert_eq!(Tensor::zeros([3]).scatter_value(0, &tensor![2i64], 1.0).to_vec::<f64>()?, [0.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "scatter")]
    }
    fn [scatter_value try_scatter_value] ([] input: &Tensor, dim: i64, index: &Tensor, value: impl Into<Scalar>)
    method [scatter_value try_scatter_value] ([] &self, dim: i64, index: &Tensor,
        value: impl Into<Scalar>) {let input = self;}
    in_place {
        /// The in-place form of `scatter_value`: writes to the tensor, and returns it.
    } [scatter_value_ try_scatter_value_] ([] &self, dim: i64, index: &Tensor,
        value: impl Into<Scalar>) {let input = self;} {engine::index::scatter::scatter_value_as}
    -> Tensor = engine::index::scatter::scatter_value, (input.engine(), dim, index.engine(), as_scalar(value))
    {}
}

op! {
    {
        /// `input` with the elements of `src` added or multiplied where `index` names along an axis: an old form of
        /// `scatter_add` and `scatter_reduce`.
        ///
        /// Args: `reduce` is `ScatterReduction::Add` or `ScatterReduction::Multiply`.
        ///
        /// Errors: for another one.
        #[doc(alias = "scatter")]
    }
    fn [scatter_reducing try_scatter_reducing] ([] input: &Tensor, dim: i64, index: &Tensor, src: &Tensor,
        reduce: ScatterReduction)
    method [scatter_reducing try_scatter_reducing] ([] &self, dim: i64, index: &Tensor, src: &Tensor,
        reduce: ScatterReduction) {let input = self;}
    in_place {
        /// The in-place form of `scatter_reducing`: writes to the tensor, and returns it.
    } [scatter_reducing_ try_scatter_reducing_] ([] &self, dim: i64, index: &Tensor, src: &Tensor,
        reduce: ScatterReduction) {let input = self;} {engine::index::scatter::scatter_reducing_as}
    -> Tensor = engine::index::scatter::scatter_reducing, (input.engine(), dim, index.engine(), src.engine(),
        reduce.name())
    {}
}

op! {
    {
        /// `input` with a number added or multiplied where `index` names along an axis; see `scatter_add`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops, tensor};
        ///
        /// let y = Tensor::ones([3]).scatter_value_reducing(0, &tensor![2i64], 3.0, ops::ScatterReduction::Multiply);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 1.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "scatter")]
    }
    fn [scatter_value_reducing try_scatter_value_reducing] ([] input: &Tensor, dim: i64, index: &Tensor,
        value: impl Into<Scalar>, reduce: ScatterReduction)
    method [scatter_value_reducing try_scatter_value_reducing] ([] &self, dim: i64, index: &Tensor,
        value: impl Into<Scalar>, reduce: ScatterReduction) {let input = self;}
    in_place {
        /// The in-place form of `scatter_value_reducing`: writes to the tensor, and returns it.
    } [scatter_value_reducing_ try_scatter_value_reducing_] ([] &self, dim: i64, index: &Tensor,
        value: impl Into<Scalar>,
        reduce: ScatterReduction) {let input = self;} {engine::index::scatter::scatter_value_reducing_as}
    -> Tensor = engine::index::scatter::scatter_value_reducing, (input.engine(), dim, index.engine(), as_scalar(value),
        reduce.name())
    {}
}

op! {
    {
        /// `input` with the slices of `source`, times `alpha`, added at the positions `index` along an axis.
        ///
        /// Args: `dim` an axis; `index` a vector of int32 or int64, from 0 on; `source` of the dtype of `input`, with
        /// as many slices as `index` has elements, and otherwise the sizes of `input`; `alpha` a number.
        ///
        /// Returns: a tensor of the sizes of `input`.
        ///
        /// Derivative: `g` for `input`, `alpha * g` at the index for `source`.
        ///
        /// Errors: if an index is out of range, or sizes or dtypes do not fit.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = Tensor::zeros([3]).index_add_with(0, &tensor![0i64, 2, 0], &Tensor::ones([3]), |o| o.alpha(2));
        /// assert_eq!(y.to_vec::<f64>()?, [4.0, 0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [index_add try_index_add index_add_with try_index_add_with] ([] input: &Tensor, dim: i64, index: &Tensor,
        source: &Tensor)
    method [index_add try_index_add index_add_with try_index_add_with] ([] &self, dim: i64, index: &Tensor,
        source: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `index_add`: writes to the tensor, and returns it.
    } [index_add_ try_index_add_ index_add_with_ try_index_add_with_] ([] &self, dim: i64, index: &Tensor,
        source: &Tensor) {let input = self;} {engine::index::slices::index_add_as}
    -> Tensor = engine::index::slices::index_add, (input.engine(), dim, index.engine(), source.engine(), Scalar::Int(1))
    {[] o: AlphaOptions => Tensor = (input.engine(), dim, index.engine(), source.engine(), o.alpha)}
}

op! {
    {
        /// `input` with the slices of `source` written at the positions `index` along an axis. Where an index comes
        /// twice, the last one stays.
        ///
        /// Args: `dim` an axis; `index` a vector of int64, from 0 on; `source` of the dtype of `input`, with as many
        /// slices as `index` has elements, and otherwise the sizes of `input`.
        ///
        /// Returns: a tensor of the sizes of `input`.
        ///
        /// Derivative: `g` with zeros at the index for `input`, `g` at the index for `source` (as if no index came
        /// twice).
        ///
        /// Errors: if an index is out of range or the number of slices does not fit; if other sizes or dtypes do not.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = Tensor::zeros([3]).index_copy(0, &tensor![2i64, 0], &tensor![1f32, 2.0]);
        /// assert_eq!(y.to_vec::<f64>()?, [2.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [index_copy try_index_copy] ([] input: &Tensor, dim: i64, index: &Tensor, source: &Tensor)
    method [index_copy try_index_copy] ([] &self, dim: i64, index: &Tensor, source: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `index_copy`: writes to the tensor, and returns it.
    } [index_copy_ try_index_copy_] ([] &self, dim: i64, index: &Tensor,
        source: &Tensor) {let input = self;} {engine::index::slices::index_copy_as}
    -> Tensor = engine::index::slices::index_copy, (input.engine(), dim, index.engine(), source.engine())
    {}
}

op! {
    {
        /// `input` with the element of a 0-dim tensor written to the slices at the positions `index` along an axis.
        ///
        /// Args: as above, `value` a 0-dim tensor.
        ///
        /// Derivative: `g` with zeros at the index for `input`, the sum of `g` there for `value` (as often as an index
        /// comes).
        ///
        /// Errors: for a value with dims.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = Tensor::zeros([3]).index_fill_tensor(0, &tensor![0i64], &Tensor::from(5f32));
        /// assert_eq!(y.to_vec::<f64>()?, [5.0, 0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "index_fill")]
    }
    fn [index_fill_tensor try_index_fill_tensor] ([] input: &Tensor, dim: i64, index: &Tensor, value: &Tensor)
    method [index_fill_tensor try_index_fill_tensor] ([] &self, dim: i64, index: &Tensor,
        value: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `index_fill_tensor`: writes to the tensor, and returns it.
    } [index_fill_tensor_ try_index_fill_tensor_] ([] &self, dim: i64, index: &Tensor,
        value: &Tensor) {let input = self;} {engine::index::slices::index_fill_tensor_as}
    -> Tensor = engine::index::slices::index_fill_tensor, (input.engine(), dim, index.engine(), value.engine())
    {}
}

op! {
    {
        /// `input` with a number written to the slices at the positions `index` along an axis.
        ///
        /// Args: `dim` an axis; `index` a vector of int64, which may count from the end; `value` a number.
        ///
        /// Returns: a tensor of the sizes of `input`.
        ///
        /// Derivative: `g` with zeros at the index.
        ///
        /// Errors: if an index is out of range, or of another dtype.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// assert_eq!(Tensor::zeros([3]).index_fill(0, &tensor![0i64, -1], 5.0).to_vec::<f64>()?, [5.0, 0.0, 5.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [index_fill try_index_fill] ([] input: &Tensor, dim: i64, index: &Tensor, value: impl Into<Scalar>)
    method [index_fill try_index_fill] ([] &self, dim: i64, index: &Tensor,
        value: impl Into<Scalar>) {let input = self;}
    in_place {
        /// The in-place form of `index_fill`: writes to the tensor, and returns it.
    } [index_fill_ try_index_fill_] ([] &self, dim: i64, index: &Tensor,
        value: impl Into<Scalar>) {let input = self;} {engine::index::slices::index_fill_as}
    -> Tensor = engine::index::slices::index_fill, (input.engine(), dim, index.engine(), as_scalar(value))
    {}
}

op! {
    {
        /// The elements of `input` where `mask` is true, in row-major order.
        ///
        /// Args: `mask` bool, broadcast against `input`.
        ///
        /// Returns: a fresh vector.
        ///
        /// Derivative: `g` at those elements, zeros elsewhere.
        ///
        /// Errors: if `mask` is not bool or the shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].masked_select(&tensor![true, false, true]).to_vec::<f64>()?, [1.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [masked_select try_masked_select] ([] input: &Tensor, mask: &Tensor)
    method [masked_select try_masked_select] ([] &self, mask: &Tensor) {let input = self;}
    -> Tensor = engine::index::mask::masked_select, (input.engine(), mask.engine())
    {}
}

op! {
    {
        /// The positions of the elements that are not zero, one row each.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: int64 of sizes `(n, ndim)`. Not differentiable.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[0f32, 1.0], [2.0, 0.0]].nonzero().to_vec::<i64>()?, [0, 1, 1, 0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [nonzero try_nonzero] ([] input: &Tensor)
    method [nonzero try_nonzero] ([] &self) {let input = self;}
    -> Tensor = engine::index::mask::nonzero, (input.engine())
    {}
}

op! {
    {
        /// The positions of the first `size` elements that are not zero, one row each, and `fill_value` in rows for
        /// which there is none.
        ///
        /// Args: `input` any dtype; `size` how many rows; `fill_value` an integer.
        ///
        /// Returns: int64 of sizes `(size, ndim)`. Not differentiable.
        ///
        /// Errors: for a negative `size`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32, 2.0].nonzero_static(2).to_vec::<i64>()?, [1, -1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [nonzero_static try_nonzero_static nonzero_static_with try_nonzero_static_with] ([] input: &Tensor, size: usize)
    method [nonzero_static try_nonzero_static nonzero_static_with try_nonzero_static_with] ([] &self,
        size: usize) {let input = self;}
    -> Tensor = engine::index::mask::nonzero_static, (input.engine(), as_count(size), -1)
    {[] o: NonzeroStaticOptions => Tensor = (input.engine(), as_count(size), o.fill_value)}
}

op! {
    {
        /// The positions of the elements that are not zero: one row each, or one vector per axis, which is what
        /// `x[...]` takes.
        ///
        /// Args: `input` any dtype, a 0-dim tensor counts as a vector; `as_tuple` whether to return a tuple.
        ///
        /// Returns: int64, a tensor of sizes `(n, ndim)` or `ndim` vectors of size `n`. Not differentiable.
        #[doc(alias = "nonzero")]
    }
    fn [nonzero_tuple try_nonzero_tuple] ([] input: &Tensor)
    method [nonzero_tuple try_nonzero_tuple] ([] &self) {let input = self;}
    -> Vec<Tensor> = engine::index::mask::nonzero_as, (input.engine(), true)
    {}
}

op! {
    {
        /// The positions of the elements that are not zero: `nonzero(condition, as_tuple=true)`.
        ///
        /// Args: `condition` any dtype, a 0-dim tensor counts as a vector.
        ///
        /// Returns: `ndim` int64 vectors. Not differentiable.
        #[doc(alias = "where")]
    }
    fn [where_nonzero try_where_nonzero] ([] condition: &Tensor)
    -> Vec<Tensor> = engine::index::mask::where_nonzero, (condition.engine())
    {}
}

op! {
    {
        /// The elements of `input` at positions in row-major order.
        ///
        /// Args: `index` int64 of any shape, negative counted from the end.
        ///
        /// Returns: a fresh tensor of the sizes of `index`.
        ///
        /// Derivative: `g` added up at the positions.
        ///
        /// Errors: if a position does not exist; for another dtype.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].take(&tensor![0i64, -1]).to_vec::<f64>()?, [1.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [take try_take] ([] input: &Tensor, index: &Tensor)
    method [take try_take] ([] &self, index: &Tensor) {let input = self;}
    -> Tensor = engine::index::flat::take, (input.engine(), index.engine())
    {}
}

op! {
    {
        /// `input` with the elements of `source` written at positions in row-major order, or added.
        ///
        /// Args: `index` int64, negative counted from the end; `source` of the dtype of `input`, as many elements as
        /// `index`; `accumulate` adds.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g`, with zeros where it was overwritten, and `g` at the positions.
        ///
        /// Errors: if a position does not exist or the numbers of elements differ; for another dtype.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = Tensor::zeros([2, 2]).put(&tensor![3i64], &tensor![1f32]);
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 0.0, 0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [put try_put put_with try_put_with] ([] input: &Tensor, index: &Tensor, source: &Tensor)
    method [put try_put put_with try_put_with] ([] &self, index: &Tensor, source: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `put`: writes to the tensor, and returns it.
    } [put_ try_put_ put_with_ try_put_with_] ([] &self, index: &Tensor,
        source: &Tensor) {let input = self;} {engine::index::flat::put_as}
    -> Tensor = engine::index::flat::put, (input.engine(), index.engine(), source.engine(), false)
    {[] o: AccumulateOptions => Tensor = (input.engine(), index.engine(), source.engine(), o.accumulate)}
}

op! {
    {
        /// The elements of `input` that `indices` names along an axis, both broadcast along the others; see `gather`.
        ///
        /// Args: `indices` int64, negative counted from the end; `dim` the axis, `None` for positions in row-major
        /// order, from 0 on.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g` added up at the indices.
        ///
        /// Errors: for another dtype, shapes that do not broadcast, or an index that does not exist.
    }
    fn [take_along_dim try_take_along_dim take_along_dim_with try_take_along_dim_with] ([] input: &Tensor,
        indices: &Tensor)
    method [take_along_dim try_take_along_dim take_along_dim_with try_take_along_dim_with] ([] &self,
        indices: &Tensor) {let input = self;}
    -> Tensor = engine::index::flat::take_along_dim, (input.engine(), indices.engine(), None)
    {[] o: TakeAlongDimOptions => Tensor = (input.engine(), indices.engine(), o.dim)}
}

op! {
    {
        /// As `take_along_dim`, along `dim`.
    }
    fn [take_along_dim_dim try_take_along_dim_dim] ([] input: &Tensor, indices: &Tensor, dim: i64)
    method [take_along_dim_dim try_take_along_dim_dim] ([] &self, indices: &Tensor, dim: i64) {let input = self;}
    -> Tensor = engine::index::flat::take_along_dim, (input.engine(), indices.engine(), Some(dim))
    {}
}

op! {
    {
        /// `input` with `values` written at index tensors, as `input[indices] = values` does, or added.
        ///
        /// Args: `indices` a list of index tensors, one per axis from the first on; a mask covers as many axes as it
        /// has; `values` broadcast to what they name; `accumulate` adds, each as often as it is named.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g`, with zeros where it was overwritten, and `g` at the indices.
        ///
        /// Errors: if an index does not exist; if shapes or dtypes do not fit.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = Tensor::zeros([3]).index_put([tensor![0i64, 2]], &tensor![1f32, 2.0]);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [index_put try_index_put index_put_with try_index_put_with] (['a] input: &Tensor,
        indices: impl Into<Tensors<'a>>, values: &Tensor)
    method [index_put try_index_put index_put_with try_index_put_with] (['a] &self, indices: impl Into<Tensors<'a>>,
        values: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `index_put`: writes to the tensor, and returns it.
    } [index_put_ try_index_put_ index_put_with_ try_index_put_with_] (['a] &self, indices: impl Into<Tensors<'a>>,
        values: &Tensor) {let input = self;} {engine::index::flat::put_indices_as}
    -> Tensor = engine::index::flat::put_indices, (input.engine(), indices.into().engine(), values.engine(), false)
    {[] o: AccumulateOptions => Tensor = (input.engine(), indices.into().engine(), values.engine(), o.accumulate)}
}

op! {
    {
        /// The positions of the elements that are not zero, one row each; see `nonzero`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32, 1.0, 2.0].argwhere().to_vec::<i64>()?, [1, 2]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [argwhere try_argwhere] ([] input: &Tensor)
    method [argwhere try_argwhere] ([] &self) {let input = self;}
    -> Tensor = engine::index::flat::argwhere, (input.engine())
    {}
}

op! {
    {
        /// `input` with the elements of `source`, one after the other, written where `mask` is true.
        ///
        /// Args: `mask` bool, broadcast against `input` (in place: to it); `source` of the dtype of `input`, with at
        /// least as many elements as the mask has true ones.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g` with zeros where the mask is true, and `g` there.
        ///
        /// Errors: if `source` has another dtype or too few elements, or `mask` is not bool.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = Tensor::zeros([3]).masked_scatter(&tensor![true, false, true], &tensor![1f32, 2.0]);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [masked_scatter try_masked_scatter] ([] input: &Tensor, mask: &Tensor, source: &Tensor)
    method [masked_scatter try_masked_scatter] ([] &self, mask: &Tensor, source: &Tensor) {let input = self;}
    in_place {
        /// The in-place form of `masked_scatter`: writes to the tensor, and returns it.
    } [masked_scatter_ try_masked_scatter_] ([] &self, mask: &Tensor,
        source: &Tensor) {let input = self;} {engine::index::scatter_mask::masked_scatter_as}
    -> Tensor = engine::index::scatter_mask::masked_scatter, (input.engine(), mask.engine(), source.engine())
    {}
}

op! {
    {
        /// `input` with the elements of `src` combined into the places that `index` names along an axis.
        ///
        /// Args: `dim` an axis; `index` int32 or int64, no larger than `src`, nor than `input` but along `dim`; `src`
        /// of the dtype of `input`; `reduce` is `Reduce::Sum`, `Reduce::Prod`, `Reduce::Mean`, `Reduce::Amax` or
        /// `Reduce::Amin`; without `include_self` the elements of `input` in the places named do not count.
        ///
        /// Returns: a tensor of the sizes of `input`.
        ///
        /// Derivative: that of the reduction; for `Reduce::Amax` and `Reduce::Amin` `g`, split evenly among equal
        /// elements.
        ///
        /// Errors: if an index is out of range, or sizes or dtypes do not fit.
        ///
        /// ```
        /// use retrograd::{Tensor, ops, tensor};
        ///
        /// let y = Tensor::ones([2]).scatter_reduce(0, &tensor![0i64, 0], &tensor![2f32, 3.0], ops::Reduce::Prod);
        /// assert_eq!(y.to_vec::<f64>()?, [6.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [scatter_reduce try_scatter_reduce scatter_reduce_with try_scatter_reduce_with] ([] input: &Tensor, dim: i64,
        index: &Tensor, src: &Tensor, reduce: Reduce)
    method [scatter_reduce try_scatter_reduce scatter_reduce_with try_scatter_reduce_with] ([] &self, dim: i64,
        index: &Tensor, src: &Tensor, reduce: Reduce) {let input = self;}
    in_place {
        /// The in-place form of `scatter_reduce`: writes to the tensor, and returns it.
    } [scatter_reduce_ try_scatter_reduce_ scatter_reduce_with_ try_scatter_reduce_with_] ([] &self, dim: i64,
        index: &Tensor, src: &Tensor,
        reduce: Reduce) {let input = self;} {engine::index::scatter_reduce::scatter_reduce_as}
    -> Tensor = engine::index::scatter_reduce::scatter_reduce, (input.engine(), dim, index.engine(), src.engine(),
        reduce.name(), true)
    {[] o: IncludeSelfOptions => Tensor = (input.engine(), dim, index.engine(), src.engine(), reduce.name(),
        o.include_self)}
}

op! {
    {
        /// `input` with the slices of `source` combined into those that `index` names along an axis.
        ///
        /// Args: `dim` an axis; `index` a vector of int32 or int64; `source` of the dtype of `input`, and of its sizes
        /// but along `dim`, where it has as many as the index; `reduce` is `Reduce::Prod`, `Reduce::Mean`,
        /// `Reduce::Amax` or `Reduce::Amin`; without `include_self` the elements of `input` in the places named do not
        /// count.
        ///
        /// Returns: a tensor of the sizes of `input`.
        ///
        /// Derivative: that of the reduction, as of `scatter_reduce`; for `Reduce::Amax` and `Reduce::Amin` `g`, split
        /// evenly among equal elements.
        ///
        /// Errors: if an index is out of range or no vector; if sizes or dtypes do not fit.
        ///
        /// ```
        /// use retrograd::{Tensor, ops, tensor};
        ///
        /// let y = Tensor::ones([2]).index_reduce(0, &tensor![0i64, 0], &tensor![2f32, 3.0], ops::Reduce::Prod);
        /// assert_eq!(y.to_vec::<f64>()?, [6.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [index_reduce try_index_reduce index_reduce_with try_index_reduce_with] ([] input: &Tensor, dim: i64,
        index: &Tensor, source: &Tensor, reduce: Reduce)
    method [index_reduce try_index_reduce index_reduce_with try_index_reduce_with] ([] &self, dim: i64, index: &Tensor,
        source: &Tensor, reduce: Reduce) {let input = self;}
    in_place {
        /// The in-place form of `index_reduce`: writes to the tensor, and returns it.
    } [index_reduce_ try_index_reduce_ index_reduce_with_ try_index_reduce_with_] ([] &self, dim: i64, index: &Tensor,
        source: &Tensor, reduce: Reduce) {let input = self;} {engine::index::index_reduce::index_reduce_as}
    -> Tensor = engine::index::index_reduce::index_reduce, (input.engine(), dim, index.engine(), source.engine(),
        reduce.name(), true)
    {[] o: IncludeSelfOptions => Tensor = (input.engine(), dim, index.engine(), source.engine(), reduce.name(),
        o.include_self)}
}

op! {
    {
        /// Each segment of a dimension reduced to one element: neighbouring slices, whose numbers or borders are given.
        ///
        /// Args: `data` a floating dtype; `reduce` is `Reduce::Sum`, `Reduce::Mean`, `Reduce::Amax`, `Reduce::Amin` or
        /// `Reduce::Prod`; `lengths` int32 or int64, how many indices of `axis` each segment has; or `offsets` where
        /// each begins, and behind them the end of the last; both with the sizes of `data` before `axis`, their last
        /// dimension; `unsafe` does not check that the lengths sum to the size of the dimension; `indices` `None`, as
        /// in torch; `initial` is what each reduction begins with: for a segment without indices it is the result,
        /// which is else 0 for a sum, 1 for a product, an infinity for extremes and NaN for a mean.
        ///
        /// Returns: `data` with one element per segment along `axis`.
        ///
        /// Derivative: that of the reduction, for extremes `g` split evenly among equal elements.
        ///
        /// Errors: if segments do not lie within `data`, or both `lengths` and `offsets` are missing; for integers.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let lengths = tensor![2i64, 1];
        /// let y = ops::segment_reduce_with(&tensor![1f32, 2.0, 4.0], ops::Reduce::Sum, |o| o.lengths(&lengths));
        /// assert_eq!(y.to_vec::<f64>()?, [3.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "_segment_reduce")]
    }
    fn [segment_reduce try_segment_reduce segment_reduce_with try_segment_reduce_with] ([] data: &Tensor,
        reduce: Reduce)
    -> Tensor = engine::index::segment::segment_reduce, (data.engine(), reduce.name(), None, None, None, 0, false, None)
    {['o] o: SegmentReduceOptions<'o> => Tensor = (data.engine(), reduce.name(), o.lengths.map(Tensor::engine),
        o.indices.map(Tensor::engine), o.offsets.map(Tensor::engine), o.axis, o.unchecked, o.initial)}
}
