//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{Indexing, Tensors, as_count, as_dims, as_scalar, as_shape};
use crate::shape::{Dims, Shape};
use crate::{DType, Scalar, Tensor};

pub use crate::ops::cat as concat;
pub use crate::ops::cat as concatenate;
pub use crate::ops::cat_dim as concat_dim;
pub use crate::ops::cat_dim as concatenate_dim;
pub use crate::ops::cat_with as concat_with;
pub use crate::ops::cat_with as concatenate_with;
pub use crate::ops::movedim as moveaxis;
pub use crate::ops::transpose as swapdims;
pub use crate::ops::try_cat as try_concat;
pub use crate::ops::try_cat as try_concatenate;
pub use crate::ops::try_cat_dim as try_concat_dim;
pub use crate::ops::try_cat_dim as try_concatenate_dim;
pub use crate::ops::try_cat_with as try_concat_with;
pub use crate::ops::try_cat_with as try_concatenate_with;
pub use crate::ops::try_movedim as try_moveaxis;
pub use crate::ops::try_transpose as try_swapdims;
pub use crate::ops::try_vstack as try_row_stack;
pub use crate::ops::vstack as row_stack;

op! {
    {
        /// A view of the storage of `input` with the given sizes, strides and offset, all in elements.
        ///
        /// Args: `size`, `stride` of one length, not negative; `storage_offset` by default that of `input`.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` summed over the elements of the view that share a place.
        ///
        /// Errors: if the layout leaves the storage.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].as_strided([2, 2], [1, 1]).to_vec::<f64>()?, [1.0, 2.0, 2.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [as_strided try_as_strided as_strided_with try_as_strided_with] ([] input: &Tensor, size: impl Into<Shape>,
        stride: impl Into<Shape>)
    method [as_strided try_as_strided as_strided_with try_as_strided_with] ([] &self, size: impl Into<Shape>,
        stride: impl Into<Shape>) {let input = self;}
    in_place {
        /// The in-place form of `as_strided`: writes to the tensor, and returns it.
    } [as_strided_ try_as_strided_ as_strided_with_ try_as_strided_with_] ([] &self, size: impl Into<Shape>,
        stride: impl Into<Shape>) {let input = self;} {engine::view::strided::as_strided_as}
    -> Tensor = engine::view::strided::as_strided, (input.engine(), as_shape(size).as_slice(),
        as_shape(stride).as_slice(), None)
    {[] o: StorageOffsetOptions => Tensor = (input.engine(), as_shape(size).as_slice(), as_shape(stride).as_slice(),
        o.storage_offset)}
}

op! {
    {
        /// A view of `input` with axes of size 1 repeated to `size`.
        ///
        /// Args: `size` one entry per axis, further axes in front; -1 keeps a size.
        ///
        /// Returns: a view in which repeated elements share memory.
        ///
        /// Derivative: `g` summed to the sizes of `input`.
        ///
        /// Errors: if an axis that is not 1 would change.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32], [2.0]].expand([2, 3]).to_vec::<f64>()?, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [expand try_expand] ([] &self, size: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::view::expand::expand, (input.engine(), as_shape(size).as_slice())
    {}
}

op! {
    {
        /// `input` expanded to the sizes of `other`; see `expand`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([1]).expand_as(&Tensor::zeros([2])).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [expand_as try_expand_as] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::view::expand::expand_as, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// A view of `input` broadcast to `size`; see `expand`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].broadcast_to([2, 2]).to_vec::<f64>()?, [1.0, 2.0, 1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [broadcast_to try_broadcast_to] ([] input: &Tensor, size: impl Into<Shape>)
    method [broadcast_to try_broadcast_to] ([] &self, size: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::view::expand::broadcast_to, (input.engine(), as_shape(size).as_slice())
    {}
}

op! {
    {
        /// A view of `input` in other sizes, elements in the same row-major order.
        ///
        /// Args: `size` with the same product as the sizes of `input`; one entry may be -1 for what is left.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` in the sizes of `input`.
        ///
        /// Errors: if the product differs, or the memory layout allows no view (use `reshape`).
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0, 4.0].view([2, -1]).to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [view try_view] ([] &self, size: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::view::shape::view_sizes, (input.engine(), as_shape(size).as_slice())
    {}
}

op! {
    {
        /// A view of the bytes of `input` as another dtype of the same size. Not differentiable.
        ///
        /// ```
        /// use retrograd::{DType, tensor};
        ///
        /// assert_eq!(tensor![1f32].view_dtype(DType::Int32).to_vec::<i64>()?, [1065353216]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "view")]
    }
    method [view_dtype try_view_dtype] ([] &self, dtype: DType) {let input = self;}
    -> Tensor = engine::view::shape::view_dtype, (input.engine(), dtype)
    {}
}

op! {
    {
        /// A view of `input` in the sizes of `other`; see `view`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([4]).view_as(&Tensor::zeros([2, 2])).shape(), [2, 2]);
        /// ```
    }
    method [view_as try_view_as] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::view::shape::view_like, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// `input` in other sizes, elements in the same row-major order: a view if the memory layout allows, else a
        /// copy.
        ///
        /// Args: `shape` with the same product as the sizes of `input`; one entry may be -1.
        ///
        /// Derivative: `g` in the sizes of `input`.
        ///
        /// Errors: if the product differs.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].reshape([-1]).to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [reshape try_reshape] ([] input: &Tensor, shape: impl Into<Shape>)
    method [reshape try_reshape] ([] &self, shape: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::view::shape::reshape, (input.engine(), as_shape(shape).as_slice())
    {}
}

op! {
    {
        /// `input` in the sizes of `other`; see `reshape`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([4]).reshape_as(&Tensor::zeros([2, 2])).shape(), [2, 2]);
        /// ```
    }
    method [reshape_as try_reshape_as] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::view::shape::reshape_as, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The axes from `start_dim` to `end_dim` merged into one: `input` itself if there is nothing to merge, a view
        /// if the memory layout allows, else a copy.
        ///
        /// Derivative: `g` in the sizes of `input`.
        ///
        /// Errors: if an axis does not exist; if `start_dim` comes after `end_dim`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2, 3, 4]).flatten_with(|o| o.start_dim(1)).shape(), [2, 12]);
        /// ```
    }
    fn [flatten try_flatten flatten_with try_flatten_with] ([] input: &Tensor)
    method [flatten try_flatten flatten_with try_flatten_with] ([] &self) {let input = self;}
    -> Tensor = engine::view::shape::flatten, (input.engine(), 0, -1)
    {[] o: FlattenOptions => Tensor = (input.engine(), o.start_dim, o.end_dim)}
}

op! {
    {
        /// The axis `dim` split into several.
        ///
        /// Args: `sizes` with a product equal to the size of the axis; one entry may be -1.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` in the sizes of `input`.
        ///
        /// Errors: if the product differs.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([6, 2]).unflatten(0, [2, -1]).shape(), [2, 3, 2]);
        /// ```
    }
    fn [unflatten try_unflatten] ([] input: &Tensor, dim: i64, sizes: impl Into<Shape>)
    method [unflatten try_unflatten] ([] &self, dim: i64, sizes: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::view::shape::unflatten, (input.engine(), dim, as_shape(sizes).as_slice())
    {}
}

op! {
    {
        /// All elements along one axis: a view if the memory layout allows, else a copy.
        ///
        /// Derivative: `g` in the sizes of `input`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2, 3]).ravel().shape(), [6]);
        /// ```
    }
    fn [ravel try_ravel] ([] input: &Tensor)
    method [ravel try_ravel] ([] &self) {let input = self;}
    -> Tensor = engine::view::shape::ravel, (input.engine())
    {}
}

op! {
    {
        /// `input` itself if its elements are in row-major order without gaps, else a copy that does.
        ///
        /// Derivative: `g`.
        ///
        /// Args: `memory_format` another order of the axes.
        ///
        /// Errors: if the format is for tensors of other dims.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2, 3]).t().contiguous().strides(), [2, 1]);
        /// ```
    }
    method [contiguous try_contiguous contiguous_with try_contiguous_with] ([] &self) {let input = self;}
    -> Tensor = engine::view::shape::contiguous, (input.engine(), None)
    {[] o: MemoryFormatOptions => Tensor = (input.engine(), o.memory_format)}
}

op! {
    {
        /// A view of `input` with two axes swapped.
        ///
        /// Args: `dim0`, `dim1` axes, negative ones counted from the end.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` with the axes swapped back.
        ///
        /// Errors: if an axis does not exist.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2, 3, 4]).transpose(0, -1).shape(), [4, 3, 2]);
        /// ```
        #[doc(alias = "swapdims")]
    }
    fn [transpose try_transpose] ([] input: &Tensor, dim0: i64, dim1: i64)
    method [transpose try_transpose] ([] &self, dim0: i64, dim1: i64) {let input = self;}
    in_place {
        /// The in-place form of `transpose`: writes to the tensor, and returns it.
    } [transpose_ try_transpose_] ([] &self, dim0: i64,
        dim1: i64) {let input = self;} {engine::view::axes::transpose_as}
    -> Tensor = engine::view::axes::transpose, (input.engine(), dim0, dim1)
    {}
}

op! {
    {
        /// A view of `input` with two axes swapped; see `transpose`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2, 3]).swapaxes(0, 1).shape(), [3, 2]);
        /// ```
    }
    fn [swapaxes try_swapaxes] ([] input: &Tensor, axis0: i64, axis1: i64)
    method [swapaxes try_swapaxes] ([] &self, axis0: i64, axis1: i64) {let input = self;}
    in_place {
        /// The in-place form of `swapaxes`: writes to the tensor, and returns it.
    } [swapaxes_ try_swapaxes_] ([] &self, axis0: i64, axis1: i64) {let input = self;} {engine::view::axes::swapaxes_as}
    -> Tensor = engine::view::axes::swapaxes, (input.engine(), axis0, axis1)
    {}
}

op! {
    {
        /// The transpose of a matrix; tensors of fewer axes as they are.
        ///
        /// Args: `input` with at most 2 axes.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` transposed.
        ///
        /// Errors: for more axes.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0]].t().to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [t try_t] ([] input: &Tensor)
    method [t try_t] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `t`: writes to the tensor, and returns it.
    } [t_ try_t_] ([] &self) {let input = self;} {engine::view::axes::t_as}
    -> Tensor = engine::view::axes::t, (input.engine())
    {}
}

op! {
    {
        /// A view of `input` with its axes in another order.
        ///
        /// Args: `dims` every axis once, in the order of the result.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` in the inverse order.
        ///
        /// Errors: if an axis is missing or named twice; if one does not exist.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2, 3, 4]).permute([2, 0, 1]).shape(), [4, 2, 3]);
        /// ```
    }
    fn [permute try_permute] ([] input: &Tensor, dims: impl Into<Dims>)
    method [permute try_permute] ([] &self, dims: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::view::axes::permute, (input.engine(), as_dims(dims).as_slice())
    {}
}

op! {
    {
        /// A view of `input` with the axes `source` moved to the places `destination`; the others keep their order.
        ///
        /// Args: `source`, `destination` axes, as many of each.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` moved back.
        ///
        /// Errors: if the lists differ in length or name an axis twice; if an axis does not exist.
        #[doc(alias = "moveaxis")]
    }
    fn [movedim try_movedim] ([] input: &Tensor, source: impl Into<Dims>, destination: impl Into<Dims>)
    method [movedim try_movedim] ([] &self, source: impl Into<Dims>, destination: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::view::axes::movedim, (input.engine(), as_dims(source).as_slice(),
        as_dims(destination).as_slice())
    {}
}

op! {
    {
        /// A view of `input` without its axes of size 1.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` in the sizes of `input`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([1, 3, 1]).squeeze().shape(), [3]);
        /// ```
    }
    fn [squeeze try_squeeze] ([] input: &Tensor)
    method [squeeze try_squeeze] ([] &self) {let input = self;}
    in_place {
        /// The in-place form of `squeeze`: writes to the tensor, and returns it.
    } [squeeze_ try_squeeze_] ([] &self) {let input = self;} {engine::view::axes::squeeze_all_as}
    -> Tensor = engine::view::axes::squeeze_all, (input.engine())
    {}
}

op! {
    {
        /// A view of `input` without the axis `dim`, if its size is 1.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` in the sizes of `input`.
        ///
        /// Errors: if the axis does not exist.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([1, 3, 1]).squeeze_dim(0).shape(), [3, 1]);
        /// ```
        #[doc(alias = "squeeze")]
    }
    fn [squeeze_dim try_squeeze_dim] ([] input: &Tensor, dim: i64)
    method [squeeze_dim try_squeeze_dim] ([] &self, dim: i64) {let input = self;}
    in_place {
        /// The in-place form of `squeeze_dim`: writes to the tensor, and returns it.
    } [squeeze_dim_ try_squeeze_dim_] ([] &self, dim: i64) {let input = self;} {engine::view::axes::squeeze_dim_as}
    -> Tensor = engine::view::axes::squeeze_dim, (input.engine(), dim)
    {}
}

op! {
    {
        /// A view of `input` without those of the axes `dim` whose size is 1.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` in the sizes of `input`.
        ///
        /// Errors: if an axis does not exist; if one is named twice.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([1, 3, 1]).squeeze_dims([0, 1]).shape(), [3, 1]);
        /// ```
        #[doc(alias = "squeeze")]
    }
    fn [squeeze_dims try_squeeze_dims] ([] input: &Tensor, dim: impl Into<Dims>)
    method [squeeze_dims try_squeeze_dims] ([] &self, dim: impl Into<Dims>) {let input = self;}
    in_place {
        /// The in-place form of `squeeze_dims`: writes to the tensor, and returns it.
    } [squeeze_dims_ try_squeeze_dims_] ([] &self,
        dim: impl Into<Dims>) {let input = self;} {engine::view::axes::squeeze_dims_as}
    -> Tensor = engine::view::axes::squeeze_dims, (input.engine(), as_dims(dim).as_slice())
    {}
}

op! {
    {
        /// A view of `input` with an axis of size 1 at `dim`.
        ///
        /// Args: `dim` from `-ndim - 1` to `ndim`.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` without the axis.
        ///
        /// Errors: if `dim` is out of range.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([3]).unsqueeze(1).shape(), [3, 1]);
        /// ```
    }
    fn [unsqueeze try_unsqueeze] ([] input: &Tensor, dim: i64)
    method [unsqueeze try_unsqueeze] ([] &self, dim: i64) {let input = self;}
    in_place {
        /// The in-place form of `unsqueeze`: writes to the tensor, and returns it.
    } [unsqueeze_ try_unsqueeze_] ([] &self, dim: i64) {let input = self;} {engine::view::axes::unsqueeze_as}
    -> Tensor = engine::view::axes::unsqueeze, (input.engine(), dim)
    {}
}

op! {
    {
        /// A view of `input` at one index of an axis, without the axis.
        ///
        /// Args: `dim` an axis; `index` along it, negative counted from the end.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` at that index, zeros elsewhere.
        ///
        /// Errors: if the axis or the index does not exist.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].select(1, -1).to_vec::<f64>()?, [2.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [select try_select] ([] input: &Tensor, dim: i64, index: i64)
    method [select try_select] ([] &self, dim: i64, index: i64) {let input = self;}
    -> Tensor = engine::view::slice::select, (input.engine(), dim, index)
    {}
}

op! {
    {
        /// A view of `length` indices of an axis from `start` on.
        ///
        /// Args: `dim` an axis; `start` from `-n` to `n` for an axis of size `n`; `length` not negative.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` there, zeros elsewhere.
        ///
        /// Errors: if `dim` or `start` is out of range; if the range leaves the axis.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].narrow(0, 1, 2).to_vec::<f64>()?, [2.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [narrow try_narrow] ([] input: &Tensor, dim: i64, start: i64, length: usize)
    method [narrow try_narrow] ([] &self, dim: i64, start: i64, length: usize) {let input = self;}
    -> Tensor = engine::view::slice::narrow, (input.engine(), dim, start, as_count(length))
    {}
}

op! {
    {
        /// As `narrow`, with `start` a 0-dim integer tensor.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].narrow_tensor(0, &Tensor::from(1i64), 2).to_vec::<f64>()?, [2.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "narrow")]
    }
    fn [narrow_tensor try_narrow_tensor] ([] input: &Tensor, dim: i64, start: &Tensor, length: usize)
    method [narrow_tensor try_narrow_tensor] ([] &self, dim: i64, start: &Tensor, length: usize) {let input = self;}
    -> Tensor = engine::view::slice::narrow_tensor, (input.engine(), dim, start.engine(), as_count(length))
    {}
}

op! {
    {
        /// A view of the elements where two axes agree up to `offset`, along a new last axis.
        ///
        /// Args: `offset` above 0 for the diagonals right of the main one, below for those left of it; `dim1`, `dim2`
        /// two axes.
        ///
        /// Returns: a view.
        ///
        /// Derivative: `g` there, zeros elsewhere.
        ///
        /// Errors: if an axis does not exist; if they are the same.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].diagonal().to_vec::<f64>()?, [1.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [diagonal try_diagonal diagonal_with try_diagonal_with] ([] input: &Tensor)
    method [diagonal try_diagonal diagonal_with try_diagonal_with] ([] &self) {let input = self;}
    -> Tensor = engine::view::slice::diagonal, (input.engine(), 0, 0, 1)
    {[] o: OffsetDim1Dim2Options => Tensor = (input.engine(), o.offset, o.dim1, o.dim2)}
}

op! {
    {
        /// Views of `input` at every index of an axis, without the axis.
        ///
        /// Args: `dim` an axis.
        ///
        /// Returns: a list of views.
        ///
        /// Derivative: the gradients stacked.
        ///
        /// Errors: if the axis does not exist.
    }
    fn [unbind try_unbind unbind_with try_unbind_with] ([] input: &Tensor)
    method [unbind try_unbind unbind_with try_unbind_with] ([] &self) {let input = self;}
    -> Vec<Tensor> = engine::view::split::unbind, (input.engine(), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), o.dim)}
}

op! {
    {
        /// As `unbind`, along `dim`.
    }
    fn [unbind_dim try_unbind_dim] ([] input: &Tensor, dim: i64)
    method [unbind_dim try_unbind_dim] ([] &self, dim: i64) {let input = self;}
    -> Vec<Tensor> = engine::view::split::unbind, (input.engine(), dim)
    {}
}

op! {
    {
        /// Views of consecutive parts of an axis.
        ///
        /// Args: `split_size_or_sections` the size of each part, the last one being what is left; or a list of sizes.
        ///
        /// Returns: a list of views.
        ///
        /// Derivative: the gradients joined.
        ///
        /// Errors: for a negative size, or sizes that do not sum to that of the axis.
    }
    fn [split try_split split_with try_split_with] ([] tensor: &Tensor, split_size_or_sections: usize)
    -> Vec<Tensor> = engine::view::split::split, (tensor.engine(), as_count(split_size_or_sections), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (tensor.engine(), as_count(split_size_or_sections), o.dim)}
}

op! {
    {
        /// As `split`, along `dim`.
    }
    fn [split_dim try_split_dim] ([] tensor: &Tensor, split_size_or_sections: usize, dim: i64)
    -> Vec<Tensor> = engine::view::split::split, (tensor.engine(), as_count(split_size_or_sections), dim)
    {}
}

op! {
    {
        /// Views of parts of the listed sizes; see `split`.
        #[doc(alias = "split")]
    }
    fn [split_sections try_split_sections split_sections_with try_split_sections_with] ([] tensor: &Tensor,
        split_size_or_sections: impl Into<Shape>)
    -> Vec<Tensor> = engine::view::split::split_sections, (tensor.engine(), as_shape(split_size_or_sections).as_slice(),
        0)
    {[] o: UnbindOptions => Vec<Tensor> = (tensor.engine(), as_shape(split_size_or_sections).as_slice(), o.dim)}
}

op! {
    {
        /// As `split_sections`, along `dim`.
    }
    fn [split_sections_dim try_split_sections_dim] ([] tensor: &Tensor, split_size_or_sections: impl Into<Shape>,
        dim: i64)
    -> Vec<Tensor> = engine::view::split::split_sections, (tensor.engine(), as_shape(split_size_or_sections).as_slice(),
        dim)
    {}
}

op! {
    {
        /// Views of consecutive parts of an axis; see `split`.
    }
    method [split try_split split_with try_split_with] ([] &self, split_size: usize) {let input = self;}
    -> Vec<Tensor> = engine::view::split::split_method, (input.engine(), as_count(split_size), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), as_count(split_size), o.dim)}
}

op! {
    {
        /// As `split`, along `dim`.
    }
    method [split_dim try_split_dim] ([] &self, split_size: usize, dim: i64) {let input = self;}
    -> Vec<Tensor> = engine::view::split::split_method, (input.engine(), as_count(split_size), dim)
    {}
}

op! {
    {
        /// Views of parts of the listed sizes; see `split`.
        #[doc(alias = "split")]
    }
    method [split_sections try_split_sections split_sections_with try_split_sections_with] ([] &self,
        split_size: impl Into<Shape>) {let input = self;}
    -> Vec<Tensor> = engine::view::split::split_sections_method, (input.engine(), as_shape(split_size).as_slice(), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), as_shape(split_size).as_slice(), o.dim)}
}

op! {
    {
        /// As `split_sections`, along `dim`.
    }
    method [split_sections_dim try_split_sections_dim] ([] &self, split_size: impl Into<Shape>,
        dim: i64) {let input = self;}
    -> Vec<Tensor> = engine::view::split::split_sections_method, (input.engine(), as_shape(split_size).as_slice(), dim)
    {}
}

op! {
    {
        /// Views of consecutive parts of an axis, of the listed sizes.
        ///
        /// Args: `split_sizes` that sum to the size of the axis `dim`.
        ///
        /// Returns: a list of views.
        ///
        /// Derivative: the gradients joined.
        ///
        /// Errors: if the sizes do not sum to that of the axis.
    }
    fn [split_with_sizes try_split_with_sizes split_with_sizes_with try_split_with_sizes_with] ([] input: &Tensor,
        split_sizes: impl Into<Shape>)
    method [split_with_sizes try_split_with_sizes split_with_sizes_with try_split_with_sizes_with] ([] &self,
        split_sizes: impl Into<Shape>) {let input = self;}
    -> Vec<Tensor> = engine::view::split::split_with_sizes, (input.engine(), as_shape(split_sizes).as_slice(), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), as_shape(split_sizes).as_slice(), o.dim)}
}

op! {
    {
        /// As `split_with_sizes`, along `dim`.
    }
    fn [split_with_sizes_dim try_split_with_sizes_dim] ([] input: &Tensor, split_sizes: impl Into<Shape>, dim: i64)
    method [split_with_sizes_dim try_split_with_sizes_dim] ([] &self, split_sizes: impl Into<Shape>,
        dim: i64) {let input = self;}
    -> Vec<Tensor> = engine::view::split::split_with_sizes, (input.engine(), as_shape(split_sizes).as_slice(), dim)
    {}
}

op! {
    {
        /// Views of at most `chunks` consecutive parts of an axis, all of one size but perhaps the last.
        ///
        /// Args: `chunks` at least 1; `dim` the axis.
        ///
        /// Returns: a list of views.
        ///
        /// Derivative: the gradients joined.
        ///
        /// Errors: if `chunks` is not positive.
    }
    fn [chunk try_chunk chunk_with try_chunk_with] ([] input: &Tensor, chunks: usize)
    method [chunk try_chunk chunk_with try_chunk_with] ([] &self, chunks: usize) {let input = self;}
    -> Vec<Tensor> = engine::view::split::chunk, (input.engine(), as_count(chunks), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), as_count(chunks), o.dim)}
}

op! {
    {
        /// As `chunk`, along `dim`.
    }
    fn [chunk_dim try_chunk_dim] ([] input: &Tensor, chunks: usize, dim: i64)
    method [chunk_dim try_chunk_dim] ([] &self, chunks: usize, dim: i64) {let input = self;}
    -> Vec<Tensor> = engine::view::split::chunk, (input.engine(), as_count(chunks), dim)
    {}
}

op! {
    {
        /// Consecutive parts of an axis over the same memory, as tensors of their own: autograd is not notified of
        /// writes to them.
        ///
        /// Args: as `split`.
        ///
        /// Returns: a list of tensors.
        ///
        /// Derivative: the gradients joined.
        ///
        /// Errors: as `split`.
    }
    fn [unsafe_split try_unsafe_split unsafe_split_with try_unsafe_split_with] ([] input: &Tensor, split_size: usize)
    method [unsafe_split try_unsafe_split unsafe_split_with try_unsafe_split_with] ([] &self,
        split_size: usize) {let input = self;}
    -> Vec<Tensor> = engine::view::split::unsafe_split, (input.engine(), as_count(split_size), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), as_count(split_size), o.dim)}
}

op! {
    {
        /// As `unsafe_split`, along `dim`.
    }
    fn [unsafe_split_dim try_unsafe_split_dim] ([] input: &Tensor, split_size: usize, dim: i64)
    method [unsafe_split_dim try_unsafe_split_dim] ([] &self, split_size: usize, dim: i64) {let input = self;}
    -> Vec<Tensor> = engine::view::split::unsafe_split, (input.engine(), as_count(split_size), dim)
    {}
}

op! {
    {
        /// As `unsafe_split`, for parts of the listed sizes.
        ///
        /// Args: as `split_with_sizes`.
        ///
        /// Returns: a list of tensors.
        ///
        /// Derivative: the gradients joined.
        ///
        /// Errors: as `split_with_sizes`.
    }
    fn [unsafe_split_with_sizes try_unsafe_split_with_sizes unsafe_split_with_sizes_with
        try_unsafe_split_with_sizes_with] ([] input: &Tensor,
        split_sizes: impl Into<Shape>)
    method [unsafe_split_with_sizes try_unsafe_split_with_sizes unsafe_split_with_sizes_with
        try_unsafe_split_with_sizes_with] ([] &self,
        split_sizes: impl Into<Shape>) {let input = self;}
    -> Vec<Tensor> = engine::view::split::unsafe_split_with_sizes, (input.engine(), as_shape(split_sizes).as_slice(), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), as_shape(split_sizes).as_slice(), o.dim)}
}

op! {
    {
        /// As `unsafe_split_with_sizes`, along `dim`.
    }
    fn [unsafe_split_with_sizes_dim try_unsafe_split_with_sizes_dim] ([] input: &Tensor, split_sizes: impl Into<Shape>,
        dim: i64)
    method [unsafe_split_with_sizes_dim try_unsafe_split_with_sizes_dim] ([] &self, split_sizes: impl Into<Shape>,
        dim: i64) {let input = self;}
    -> Vec<Tensor> = engine::view::split::unsafe_split_with_sizes, (input.engine(), as_shape(split_sizes).as_slice(),
        dim)
    {}
}

op! {
    {
        /// As `unsafe_split`, for at most `chunks` parts.
        ///
        /// Args: as `chunk`.
        ///
        /// Returns: a list of tensors.
        ///
        /// Derivative: the gradients joined.
        ///
        /// Errors: as `chunk`.
    }
    fn [unsafe_chunk try_unsafe_chunk unsafe_chunk_with try_unsafe_chunk_with] ([] input: &Tensor, chunks: usize)
    method [unsafe_chunk try_unsafe_chunk unsafe_chunk_with try_unsafe_chunk_with] ([] &self,
        chunks: usize) {let input = self;}
    -> Vec<Tensor> = engine::view::split::unsafe_chunk, (input.engine(), as_count(chunks), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), as_count(chunks), o.dim)}
}

op! {
    {
        /// As `unsafe_chunk`, along `dim`.
    }
    fn [unsafe_chunk_dim try_unsafe_chunk_dim] ([] input: &Tensor, chunks: usize, dim: i64)
    method [unsafe_chunk_dim try_unsafe_chunk_dim] ([] &self, chunks: usize, dim: i64) {let input = self;}
    -> Vec<Tensor> = engine::view::split::unsafe_chunk, (input.engine(), as_count(chunks), dim)
    {}
}

op! {
    {
        /// Tensors joined along an existing axis.
        ///
        /// Args: `tensors` of equal sizes but along `dim`, dtypes promoted; empty vectors are skipped.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: each tensor's range of `g`.
        ///
        /// Errors: for an empty list; if sizes do not fit.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::cat([tensor![1f32], tensor![2f32, 3.0]]).to_vec::<f64>()?, [1.0, 2.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "concat")]
        #[doc(alias = "concatenate")]
    }
    fn [cat try_cat cat_with try_cat_with] (['a] tensors: impl Into<Tensors<'a>>)
    -> Tensor = engine::view::join::cat, (tensors.into().engine(), 0)
    {[] o: UnbindOptions => Tensor = (tensors.into().engine(), o.dim)}
}

op! {
    {
        /// As `cat`, along `dim`.
    }
    fn [cat_dim try_cat_dim] (['a] tensors: impl Into<Tensors<'a>>, dim: i64)
    -> Tensor = engine::view::join::cat, (tensors.into().engine(), dim)
    {}
}

op! {
    {
        /// Tensors of equal sizes joined along a new axis.
        ///
        /// Args: `tensors` of equal sizes, dtypes promoted; `dim` the place of the new axis.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: each tensor's index of `g`.
        ///
        /// Errors: for an empty list or unequal sizes.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::stack_dim([tensor![1f32, 2.0], tensor![3f32, 4.0]], 1);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 3.0, 2.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [stack try_stack stack_with try_stack_with] (['a] tensors: impl Into<Tensors<'a>>)
    -> Tensor = engine::view::join::stack, (tensors.into().engine(), 0)
    {[] o: UnbindOptions => Tensor = (tensors.into().engine(), o.dim)}
}

op! {
    {
        /// As `stack`, along `dim`.
    }
    fn [stack_dim try_stack_dim] (['a] tensors: impl Into<Tensors<'a>>, dim: i64)
    -> Tensor = engine::view::join::stack, (tensors.into().engine(), dim)
    {}
}

op! {
    {
        /// A copy of `input` with the order of elements reversed along the axes `dims`.
        ///
        /// Args: `dims` axes, each once.
        ///
        /// Returns: a fresh tensor of the same sizes.
        ///
        /// Derivative: `g` reversed alike.
        ///
        /// Errors: if an axis does not exist; if one is named twice.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].flip([0]).to_vec::<f64>()?, [3.0, 2.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [flip try_flip] ([] input: &Tensor, dims: impl Into<Dims>)
    method [flip try_flip] ([] &self, dims: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::view::flip::flip, (input.engine(), as_dims(dims).as_slice())
    {}
}

op! {
    {
        /// The diagonal of a matrix, or the matrix of a diagonal.
        ///
        /// Args: `input` a vector or a matrix; `diagonal` which one, 0 for the main one.
        ///
        /// Returns: a fresh vector for a matrix, a matrix for a vector.
        ///
        /// Derivative: `g` in the same places, zeros elsewhere.
        ///
        /// Errors: for other shapes.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].diag().to_vec::<f64>()?, [1.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [diag try_diag diag_with try_diag_with] ([] input: &Tensor)
    method [diag try_diag diag_with try_diag_with] ([] &self) {let input = self;}
    -> Tensor = engine::view::diag::diag, (input.engine(), 0)
    {[] o: DiagonalOptions => Tensor = (input.engine(), o.diagonal)}
}

op! {
    {
        /// The matrix with the elements of `input`, row by row, on a diagonal.
        ///
        /// Args: `offset` which diagonal, 0 for the main one.
        ///
        /// Returns: a fresh matrix.
        ///
        /// Derivative: the diagonal of `g`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32], [2.0]].diagflat().to_vec::<f64>()?, [1.0, 0.0, 0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [diagflat try_diagflat diagflat_with try_diagflat_with] ([] input: &Tensor)
    method [diagflat try_diagflat diagflat_with try_diagflat_with] ([] &self) {let input = self;}
    -> Tensor = engine::view::diag::diagflat, (input.engine(), 0)
    {[] o: DiagflatOptions => Tensor = (input.engine(), o.offset)}
}

op! {
    {
        /// Zeros with the last axis of `input` on the diagonals of two new axes.
        ///
        /// Args: `offset` above 0 for a diagonal right of the main one, below for one left of it; `dim1`, `dim2` the
        /// places of the new axes.
        ///
        /// Returns: a fresh tensor, its new axes of size `n + abs(offset)`.
        ///
        /// Derivative: the diagonals of `g`.
        ///
        /// Errors: if there is no place for an axis; if both are the same.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].diag_embed().to_vec::<f64>()?, [1.0, 0.0, 0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [diag_embed try_diag_embed diag_embed_with try_diag_embed_with] ([] input: &Tensor)
    method [diag_embed try_diag_embed diag_embed_with try_diag_embed_with] ([] &self) {let input = self;}
    -> Tensor = engine::view::diag::diag_embed, (input.engine(), 0, -2, -1)
    {[] o: DiagEmbedOptions => Tensor = (input.engine(), o.offset, o.dim1, o.dim2)}
}

op! {
    {
        /// The sum of the main diagonal of a matrix.
        ///
        /// Returns: a 0-dim tensor; int64 for integers.
        ///
        /// Derivative: `g` on the diagonal.
        ///
        /// Errors: unless `input` is a matrix, for bool.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].trace().item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [trace try_trace] ([] input: &Tensor)
    method [trace try_trace] ([] &self) {let input = self;}
    -> Tensor = engine::view::diag::trace, (input.engine())
    {}
}

op! {
    {
        /// A copy of `input` with `src` at one index of an axis.
        ///
        /// Args: `src` of the sizes of `input` without the axis; `dim` the axis; `index` along it, negative counted
        /// from the end.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g` with zeros at the index, and `g` there.
        ///
        /// Errors: if the axis or index does not exist; if `src` has other sizes.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = Tensor::zeros([2, 2]).select_scatter(&tensor![1f32, 2.0], 0, 1);
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 0.0, 1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [select_scatter try_select_scatter] ([] input: &Tensor, src: &Tensor, dim: i64, index: i64)
    method [select_scatter try_select_scatter] ([] &self, src: &Tensor, dim: i64, index: i64) {let input = self;}
    -> Tensor = engine::view::scatter_views::select_scatter, (input.engine(), src.engine(), dim, index)
    {}
}

op! {
    {
        /// A copy of `input` with `src` in every `step`-th index of an axis from `start` up to `end`.
        ///
        /// Args: `src` of the sizes of that part; `dim` the axis; `start`, `end` may be negative and are clamped,
        /// `None` for the ends of the axis.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g` with zeros in that part, and `g` there.
        ///
        /// Errors: if the axis does not exist; if `src` has other sizes or `step` is not positive.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// let y = Tensor::zeros([4]).slice_scatter_with(&Tensor::ones([2]), |o| o.dim(0).start(0).end(4).step(2));
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 0.0, 1.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [slice_scatter try_slice_scatter slice_scatter_with try_slice_scatter_with] ([] input: &Tensor, src: &Tensor)
    method [slice_scatter try_slice_scatter slice_scatter_with try_slice_scatter_with] ([] &self,
        src: &Tensor) {let input = self;}
    -> Tensor = engine::view::scatter_views::slice_scatter, (input.engine(), src.engine(), 0, None, None, 1)
    {[] o: SliceScatterOptions => Tensor = (input.engine(), src.engine(), o.dim, o.start, o.end, o.step)}
}

op! {
    {
        /// As `slice_scatter`, along `dim`.
    }
    fn [slice_scatter_dim try_slice_scatter_dim] ([] input: &Tensor, src: &Tensor, dim: i64)
    method [slice_scatter_dim try_slice_scatter_dim] ([] &self, src: &Tensor, dim: i64) {let input = self;}
    -> Tensor = engine::view::scatter_views::slice_scatter, (input.engine(), src.engine(), dim, None, None, 1)
    {}
}

op! {
    {
        /// A copy of `input` with `src` on the diagonals of two axes.
        ///
        /// Args: `src` of the sizes of the diagonals; `offset`, `dim1`, `dim2` as for `diagonal`.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g` with zeros on the diagonals, and `g` there.
        ///
        /// Errors: if an axis does not exist; if `src` has other sizes.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = Tensor::zeros([2, 2]).diagonal_scatter(&tensor![1f32, 2.0]);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 0.0, 0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [diagonal_scatter try_diagonal_scatter diagonal_scatter_with try_diagonal_scatter_with] ([] input: &Tensor,
        src: &Tensor)
    method [diagonal_scatter try_diagonal_scatter diagonal_scatter_with try_diagonal_scatter_with] ([] &self,
        src: &Tensor) {let input = self;}
    -> Tensor = engine::view::scatter_views::diagonal_scatter, (input.engine(), src.engine(), 0, 0, 1)
    {[] o: OffsetDim1Dim2Options => Tensor = (input.engine(), src.engine(), o.offset, o.dim1, o.dim2)}
}

op! {
    {
        /// A copy of `input` with `src` in the places of its storage that `as_strided` would show.
        ///
        /// Args: `src` of the sizes `size`; `size`, `stride`, `storage_offset` as for `as_strided`. Places outside of
        /// `input` are left out; where elements of `src` share a place, the last one stays.
        ///
        /// Returns: a fresh tensor, laid out as `input`.
        ///
        /// Derivative: `g` with zeros in these places, and what `g` has there.
        ///
        /// Errors: if `src` has other sizes, or the layout leaves the storage.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// let y = Tensor::zeros([2, 2]).as_strided_scatter(&tensor![1f32, 2.0], [2], [3]);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 0.0, 0.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [as_strided_scatter try_as_strided_scatter as_strided_scatter_with try_as_strided_scatter_with] ([] input:
        &Tensor,
        src: &Tensor, size: impl Into<Shape>, stride: impl Into<Shape>)
    method [as_strided_scatter try_as_strided_scatter as_strided_scatter_with try_as_strided_scatter_with] ([] &self,
        src: &Tensor, size: impl Into<Shape>, stride: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::view::strided_scatter::as_strided_scatter, (input.engine(), src.engine(),
        as_shape(size).as_slice(), as_shape(stride).as_slice(), None)
    {[] o: StorageOffsetOptions => Tensor = (input.engine(), src.engine(), as_shape(size).as_slice(),
        as_shape(stride).as_slice(), o.storage_offset)}
}

op! {
    {
        /// `input` repeated along each axis.
        ///
        /// Args: `repeats` how often, one number per axis, further axes in front.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g` summed over the repetitions.
        ///
        /// Errors: for fewer numbers than axes, or a negative one.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].repeat([2, 2]).to_vec::<f64>()?, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [repeat try_repeat] ([] &self, repeats: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::view::repeat::repeat, (input.engine(), as_shape(repeats).as_slice())
    {}
}

op! {
    {
        /// `input` repeated along each axis; see `repeat`. Axes in front that have no number are repeated once.
        ///
        /// Args: `dims` how often.
        ///
        /// Errors: for a negative number.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].tile([2]).to_vec::<f64>()?, [1.0, 2.0, 1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [tile try_tile] ([] input: &Tensor, dims: impl Into<Dims>)
    method [tile try_tile] ([] &self, dims: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::view::repeat::tile, (input.engine(), as_dims(dims).as_slice())
    {}
}

op! {
    {
        /// Each element of `input`, or each index of an axis, repeated as often as `repeats` says.
        ///
        /// Args: `repeats` an int32 or int64 vector with a number for each index, or a tensor of one number; `dim` an
        /// axis, `None` for the elements in row-major order; `output_size` the size that results, if it is known.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g` summed over the repetitions.
        ///
        /// Errors: if `repeats` has another length or a negative number; if it has another dtype.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![1f32, 2.0].repeat_interleave_tensor(&tensor![1i64, 2]);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "repeat_interleave")]
    }
    fn [repeat_interleave_tensor try_repeat_interleave_tensor repeat_interleave_tensor_with
        try_repeat_interleave_tensor_with] ([] input: &Tensor,
        repeats: &Tensor)
    method [repeat_interleave_tensor try_repeat_interleave_tensor repeat_interleave_tensor_with
        try_repeat_interleave_tensor_with] ([] &self,
        repeats: &Tensor) {let input = self;}
    -> Tensor = engine::view::repeat::repeat_interleave, (input.engine(), repeats.engine(), None, None)
    {[] o: DimOutputSizeOptions => Tensor = (input.engine(), repeats.engine(), o.dim, o.output_size)}
}

op! {
    {
        /// As `repeat_interleave_tensor`, along `dim`.
    }
    fn [repeat_interleave_tensor_dim try_repeat_interleave_tensor_dim] ([] input: &Tensor, repeats: &Tensor, dim: i64)
    method [repeat_interleave_tensor_dim try_repeat_interleave_tensor_dim] ([] &self, repeats: &Tensor,
        dim: i64) {let input = self;}
    -> Tensor = engine::view::repeat::repeat_interleave, (input.engine(), repeats.engine(), Some(dim), None)
    {}
}

op! {
    {
        /// Each element of `input`, or each index of an axis, `repeats` times.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].repeat_interleave(2).to_vec::<f64>()?, [1.0, 1.0, 2.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [repeat_interleave try_repeat_interleave repeat_interleave_with try_repeat_interleave_with] ([] input: &Tensor,
        repeats: usize)
    method [repeat_interleave try_repeat_interleave repeat_interleave_with try_repeat_interleave_with] ([] &self,
        repeats: usize) {let input = self;}
    -> Tensor = engine::view::repeat::repeat_each, (input.engine(), as_count(repeats), None, None)
    {[] o: DimOutputSizeOptions => Tensor = (input.engine(), as_count(repeats), o.dim, o.output_size)}
}

op! {
    {
        /// As `repeat_interleave`, along `dim`.
    }
    fn [repeat_interleave_dim try_repeat_interleave_dim] ([] input: &Tensor, repeats: usize, dim: i64)
    method [repeat_interleave_dim try_repeat_interleave_dim] ([] &self, repeats: usize, dim: i64) {let input = self;}
    -> Tensor = engine::view::repeat::repeat_each, (input.engine(), as_count(repeats), Some(dim), None)
    {}
}

op! {
    {
        /// The index `i` as often as `repeats` says, for each `i`.
        ///
        /// Args: `repeats` an int32 or int64 vector; `output_size` the sum, if it is known.
        ///
        /// Returns: a vector of that dtype; it has no derivative.
        ///
        /// Errors: for another dtype; for a negative number, or a sum that is not `output_size`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::repeated_indices(&tensor![1i64, 0, 2]).to_vec::<i64>()?, [0, 2, 2]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "repeat_interleave")]
    }
    fn [repeated_indices try_repeated_indices repeated_indices_with try_repeated_indices_with] ([] repeats: &Tensor)
    -> Tensor = engine::view::repeat::repeated_indices, (repeats.engine(), None)
    {[] o: RepeatedIndicesOptions => Tensor = (repeats.engine(), o.output_size)}
}

op! {
    {
        /// A copy of `input` with the indices of axes moved on; those that leave an axis wrap around to its start.
        ///
        /// Args: `shifts` a number, or one for each of `dims`; `dims` the axes, none or `None` for the elements in
        /// row-major order.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g` rolled back.
        ///
        /// Errors: if an axis does not exist; if there are not as many shifts as axes.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].roll(1).to_vec::<f64>()?, [3.0, 1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [roll try_roll roll_with try_roll_with] ([] input: &Tensor, shifts: impl Into<Shape>)
    method [roll try_roll roll_with try_roll_with] ([] &self, shifts: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::view::roll::roll, (input.engine(), as_shape(shifts).as_slice(), None)
    {[] o: DimsOptions => Tensor = (input.engine(), as_shape(shifts).as_slice(), o.dims.as_ref().map(Dims::as_slice))}
}

op! {
    {
        /// A copy of `input` turned by 90 degrees, `k` times, in the plane of two axes.
        ///
        /// Args: `k` how often, negative in the opposite direction; `dims` the two axes, turned from the first towards
        /// the second.
        ///
        /// Returns: a fresh tensor.
        ///
        /// Derivative: `g` turned back.
        ///
        /// Errors: unless `dims` are two different axes, if one does not exist.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].rot90().to_vec::<f64>()?, [2.0, 4.0, 1.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [rot90 try_rot90 rot90_with try_rot90_with] ([] input: &Tensor)
    method [rot90 try_rot90 rot90_with try_rot90_with] ([] &self) {let input = self;}
    -> Tensor = engine::view::roll::rot90, (input.engine(), 1, &[0, 1])
    {[] o: Rot90Options => Tensor = (input.engine(), o.k, o.dims.as_slice())}
}

op! {
    {
        /// A copy of `input` with the order of columns, its second axis, reversed; see `flip`.
        ///
        /// Errors: for fewer than 2 dims.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].fliplr().to_vec::<f64>()?, [2.0, 1.0, 4.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [fliplr try_fliplr] ([] input: &Tensor)
    method [fliplr try_fliplr] ([] &self) {let input = self;}
    -> Tensor = engine::view::roll::fliplr, (input.engine())
    {}
}

op! {
    {
        /// A copy of `input` with the order of rows, its first axis, reversed; see `flip`.
        ///
        /// Errors: for a 0-dim tensor.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0].flipud().to_vec::<f64>()?, [2.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [flipud try_flipud] ([] input: &Tensor)
    method [flipud try_flipud] ([] &self) {let input = self;}
    -> Tensor = engine::view::roll::flipud, (input.engine())
    {}
}

op! {
    {
        /// `input` with at least 1 axis.
        ///
        /// Returns: a view of a 0-dim tensor, others as they are. Several `tensors`, or a list of them, give a tuple.
        ///
        /// Derivative: `g` in the sizes of `input`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::atleast_1d(&Tensor::from(1f32)).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [atleast_1d try_atleast_1d] ([] input: &Tensor)
    -> Tensor = engine::view::stack::atleast_1d, (input.engine())
    {}
}

op! {
    {
        /// Several tensors, each with at least 1 axis.
        #[doc(alias = "atleast_1d")]
    }
    fn [all_atleast_1d try_all_atleast_1d] (['a] tensors: impl Into<Tensors<'a>>)
    -> Vec<Tensor> = engine::view::stack::all_atleast_1d, (tensors.into().engine())
    {}
}

op! {
    {
        /// `input` with at least 2 axes, a vector being a row.
        ///
        /// Returns: a view of a tensor with fewer axes, others as they are. Several `tensors`, or a list of them, give
        /// a tuple.
        ///
        /// Derivative: `g` in the sizes of `input`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::atleast_2d(&tensor![1f32, 2.0]).to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [atleast_2d try_atleast_2d] ([] input: &Tensor)
    -> Tensor = engine::view::stack::atleast_2d, (input.engine())
    {}
}

op! {
    {
        /// Several tensors, each with at least 2 axes.
        #[doc(alias = "atleast_2d")]
    }
    fn [all_atleast_2d try_all_atleast_2d] (['a] tensors: impl Into<Tensors<'a>>)
    -> Vec<Tensor> = engine::view::stack::all_atleast_2d, (tensors.into().engine())
    {}
}

op! {
    {
        /// `input` with at least 3 axes, a vector being the middle one, a matrix the first two.
        ///
        /// Returns: a view of a tensor with fewer axes, others as they are. Several `tensors`, or a list of them, give
        /// a tuple.
        ///
        /// Derivative: `g` in the sizes of `input`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::atleast_3d(&tensor![1f32, 2.0]).to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [atleast_3d try_atleast_3d] ([] input: &Tensor)
    -> Tensor = engine::view::stack::atleast_3d, (input.engine())
    {}
}

op! {
    {
        /// Several tensors, each with at least 3 axes.
        #[doc(alias = "atleast_3d")]
    }
    fn [all_atleast_3d try_all_atleast_3d] (['a] tensors: impl Into<Tensors<'a>>)
    -> Vec<Tensor> = engine::view::stack::all_atleast_3d, (tensors.into().engine())
    {}
}

op! {
    {
        /// Tensors joined side by side: along the first axis for vectors, else along the second; see `cat`.
        ///
        /// Errors: for an empty list or sizes that do not fit.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::hstack([tensor![1f32], tensor![2f32, 3.0]]).to_vec::<f64>()?, [1.0, 2.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [hstack try_hstack] (['a] tensors: impl Into<Tensors<'a>>)
    -> Tensor = engine::view::stack::hstack, (tensors.into().engine())
    {}
}

op! {
    {
        /// Tensors joined one below the other, vectors being rows; see `cat`.
        ///
        /// Errors: for an empty list or sizes that do not fit.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::vstack([tensor![1f32, 2.0], tensor![3f32, 4.0]]).to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "row_stack")]
    }
    fn [vstack try_vstack] (['a] tensors: impl Into<Tensors<'a>>)
    -> Tensor = engine::view::stack::vstack, (tensors.into().engine())
    {}
}

op! {
    {
        /// Tensors joined along the third axis; see `atleast_3d` and `cat`.
        ///
        /// Errors: for an empty list or sizes that do not fit.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::dstack([tensor![1f32, 2.0], tensor![3f32, 4.0]]).to_vec::<f64>()?, [1.0, 3.0, 2.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [dstack try_dstack] (['a] tensors: impl Into<Tensors<'a>>)
    -> Tensor = engine::view::stack::dstack, (tensors.into().engine())
    {}
}

op! {
    {
        /// Tensors joined along the second axis, vectors being columns; see `cat`.
        ///
        /// Errors: for an empty list or sizes that do not fit.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::column_stack([tensor![1f32, 2.0], tensor![3f32, 4.0]]);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 3.0, 2.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [column_stack try_column_stack] (['a] tensors: impl Into<Tensors<'a>>)
    -> Tensor = engine::view::stack::column_stack, (tensors.into().engine())
    {}
}

op! {
    {
        /// The matrix with the tensors as blocks on its diagonal, zeros elsewhere.
        ///
        /// Args: `tensors` one after the other, or in a list; of at most 2 dims, vectors being rows.
        ///
        /// Returns: a fresh matrix of the promoted dtype.
        ///
        /// Derivative: each tensor's block of `g`.
        ///
        /// Errors: for more dims.
    }
    fn [block_diag try_block_diag] (['a] tensors: impl Into<Tensors<'a>>)
    -> Tensor = engine::view::stack::block_diag, (tensors.into().engine())
    {}
}

op! {
    {
        /// The grid that vectors span: for each of them a tensor with as many axes as there are vectors, that varies
        /// along one.
        ///
        /// Args: `tensors` one after the other, or in a list: vectors or 0-dim tensors of one dtype; `indexing` is
        /// `Indexing::Ij` if the first varies along the first axis (what `None` means, with a warning), `Indexing::Xy`
        /// if the first two change places.
        ///
        /// Returns: a list of views.
        ///
        /// Derivative: `g` summed over the other axes.
        ///
        /// Errors: for other shapes, several dtypes or no tensor.
    }
    fn [meshgrid try_meshgrid meshgrid_with try_meshgrid_with] (['a] tensors: impl Into<Tensors<'a>>)
    -> Vec<Tensor> = engine::view::stack::meshgrid, (tensors.into().engine(), None)
    {[] o: MeshgridOptions => Vec<Tensor> = (tensors.into().engine(), o.indexing.map(Indexing::name))}
}

op! {
    {
        /// All combinations of an element of each vector, as rows in order; one vector is returned as it is.
        ///
        /// Args: `tensors` one after the other: vectors of one dtype.
        ///
        /// Returns: a matrix with a column per vector.
        ///
        /// Derivative: `g` summed over the rows that an element is in.
        ///
        /// Errors: for other shapes, several dtypes or no tensor.
    }
    fn [cartesian_prod try_cartesian_prod] (['a] tensors: impl Into<Tensors<'a>>)
    -> Tensor = engine::view::stack::cartesian_prod, (tensors.into().engine())
    {}
}

op! {
    {
        /// The tensors broadcast against one another, as views.
        ///
        /// Args: `tensors` one after the other, or in a list.
        ///
        /// Returns: a list of views.
        ///
        /// Derivative: `g` summed to each tensor's sizes.
        ///
        /// Errors: if the shapes do not broadcast.
    }
    fn [broadcast_tensors try_broadcast_tensors] (['a] tensors: impl Into<Tensors<'a>>)
    -> Vec<Tensor> = engine::view::stack::broadcast_all, (tensors.into().engine())
    {}
}

op! {
    {
        /// Views of parts of an axis, whose number or ends a tensor gives.
        #[doc(alias = "tensor_split")]
    }
    fn [tensor_split_by try_tensor_split_by tensor_split_by_with try_tensor_split_by_with] ([] input: &Tensor,
        tensor_indices_or_sections: &Tensor)
    method [tensor_split_by try_tensor_split_by tensor_split_by_with try_tensor_split_by_with] ([] &self,
        tensor_indices_or_sections: &Tensor) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::tensor_split_as, (input.engine(),
        tensor_indices_or_sections.engine(), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), tensor_indices_or_sections.engine(), o.dim)}
}

op! {
    {
        /// As `tensor_split_by`, along `dim`.
    }
    fn [tensor_split_by_dim try_tensor_split_by_dim] ([] input: &Tensor, tensor_indices_or_sections: &Tensor, dim: i64)
    method [tensor_split_by_dim try_tensor_split_by_dim] ([] &self, tensor_indices_or_sections: &Tensor,
        dim: i64) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::tensor_split_as, (input.engine(),
        tensor_indices_or_sections.engine(), dim)
    {}
}

op! {
    {
        /// Views of equal parts of an axis.
    }
    fn [tensor_split try_tensor_split tensor_split_with try_tensor_split_with] ([] input: &Tensor, sections: usize)
    method [tensor_split try_tensor_split tensor_split_with try_tensor_split_with] ([] &self,
        sections: usize) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::tensor_split_even, (input.engine(), as_count(sections), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), as_count(sections), o.dim)}
}

op! {
    {
        /// As `tensor_split`, along `dim`.
    }
    fn [tensor_split_dim try_tensor_split_dim] ([] input: &Tensor, sections: usize, dim: i64)
    method [tensor_split_dim try_tensor_split_dim] ([] &self, sections: usize, dim: i64) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::tensor_split_even, (input.engine(), as_count(sections), dim)
    {}
}

op! {
    {
        /// Views of parts of an axis that end at indices.
        ///
        /// Args: `indices` where parts end, as in slices; or `sections`, a number of parts, equal but for the first
        /// ones that may be longer by one; or `tensor_indices_or_sections`, an int64 tensor of either; `dim` the axis.
        ///
        /// Returns: a list of views.
        ///
        /// Derivative: `g` there, zeros elsewhere.
        ///
        /// Errors: for a 0-dim tensor or no parts; if the axis does not exist.
        #[doc(alias = "tensor_split")]
    }
    fn [tensor_split_at try_tensor_split_at tensor_split_at_with try_tensor_split_at_with] ([] input: &Tensor,
        indices: impl Into<Shape>)
    method [tensor_split_at try_tensor_split_at tensor_split_at_with try_tensor_split_at_with] ([] &self,
        indices: impl Into<Shape>) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::tensor_split, (input.engine(), as_shape(indices).as_slice(), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), as_shape(indices).as_slice(), o.dim)}
}

op! {
    {
        /// As `tensor_split_at`, along `dim`.
    }
    fn [tensor_split_at_dim try_tensor_split_at_dim] ([] input: &Tensor, indices: impl Into<Shape>, dim: i64)
    method [tensor_split_at_dim try_tensor_split_at_dim] ([] &self, indices: impl Into<Shape>,
        dim: i64) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::tensor_split, (input.engine(), as_shape(indices).as_slice(), dim)
    {}
}

op! {
    {
        /// Views of equal parts of columns.
    }
    fn [hsplit try_hsplit] ([] input: &Tensor, sections: usize)
    method [hsplit try_hsplit] ([] &self, sections: usize) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::hsplit_even, (input.engine(), as_count(sections))
    {}
}

op! {
    {
        /// Views of parts of columns (the second axis, or the only one) that end at indices; see `tensor_split`.
        ///
        /// Errors: for a 0-dim tensor, or if a number of parts does not divide the axis.
        #[doc(alias = "hsplit")]
    }
    fn [hsplit_at try_hsplit_at] ([] input: &Tensor, indices: impl Into<Shape>)
    method [hsplit_at try_hsplit_at] ([] &self, indices: impl Into<Shape>) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::hsplit, (input.engine(), as_shape(indices).as_slice())
    {}
}

op! {
    {
        /// Views of equal parts of rows.
    }
    fn [vsplit try_vsplit] ([] input: &Tensor, sections: usize)
    method [vsplit try_vsplit] ([] &self, sections: usize) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::vsplit_even, (input.engine(), as_count(sections))
    {}
}

op! {
    {
        /// Views of parts of rows, the first axis, that end at indices; see `tensor_split`.
        ///
        /// Errors: for fewer than 2 dims, or if a number of parts does not divide the axis.
        #[doc(alias = "vsplit")]
    }
    fn [vsplit_at try_vsplit_at] ([] input: &Tensor, indices: impl Into<Shape>)
    method [vsplit_at try_vsplit_at] ([] &self, indices: impl Into<Shape>) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::vsplit, (input.engine(), as_shape(indices).as_slice())
    {}
}

op! {
    {
        /// Views of equal parts of the third axis.
    }
    fn [dsplit try_dsplit] ([] input: &Tensor, sections: usize)
    method [dsplit try_dsplit] ([] &self, sections: usize) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::dsplit_even, (input.engine(), as_count(sections))
    {}
}

op! {
    {
        /// Views of parts of the third axis that end at indices; see `tensor_split`.
        ///
        /// Errors: for fewer than 3 dims, or if a number of parts does not divide the axis.
        #[doc(alias = "dsplit")]
    }
    fn [dsplit_at try_dsplit_at] ([] input: &Tensor, indices: impl Into<Shape>)
    method [dsplit_at try_dsplit_at] ([] &self, indices: impl Into<Shape>) {let input = self;}
    -> Vec<Tensor> = engine::view::split_variants::dsplit, (input.engine(), as_shape(indices).as_slice())
    {}
}

op! {
    {
        /// Windows of an axis, as a view: the axis counts them, and their elements are along a new last axis.
        ///
        /// Args: `dimension` the axis; `size` of a window; `step` from one to the next.
        ///
        /// Returns: a view in which windows that overlap share memory.
        ///
        /// Derivative: `g` summed over the windows.
        ///
        /// Errors: if the axis does not exist; if a window is larger than the axis, or `size` or `step` is negative or
        /// `step` zero.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].unfold(0, 2, 1).to_vec::<f64>()?, [1.0, 2.0, 2.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [unfold try_unfold] ([] &self, dimension: i64, size: usize, step: usize) {let input = self;}
    -> Tensor = engine::view::unfold::unfold, (input.engine(), dimension, as_count(size), as_count(step))
    {}
}

op! {
    {}
    in_place {
        /// Writes a number to the elements whose indices are all equal.
        ///
        /// Args: `fill_value` a number; `wrap` continues below the last row of a square in a matrix with more rows than
        /// columns, after skipping one row.
        ///
        /// Derivative: that of the tensor, zero for what was overwritten.
        ///
        /// Errors: for fewer than 2 dims, and for more than 2 if the sizes differ.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::zeros([2, 3]).fill_diagonal_(5.0).to_vec::<f64>()?, [5.0, 0.0, 0.0, 0.0, 5.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    } [fill_diagonal_ try_fill_diagonal_ fill_diagonal_with_ try_fill_diagonal_with_] ([] &self,
        fill_value: impl Into<Scalar>) {let input = self;} {engine::view::fill_diagonal::fill_diagonal_as}
    -> Tensor = engine::view::fill_diagonal::fill_diagonal, (input.engine(), as_scalar(fill_value), false)
    {[] o: FillDiagonalOptions => Tensor = (input.engine(), as_scalar(fill_value), o.wrap)}
}

op! {
    {
        /// The complex conjugate of each element: of real numbers `input` itself.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: same shape and dtype; of complex numbers a view, which is conjugated when it is read (`is_conj()`);
        /// `resolve_conj` makes a copy of it.
        ///
        /// Derivative: `conj(g)`.
    }
    fn [conj try_conj] ([] input: &Tensor)
    method [conj try_conj] ([] &self) {let input = self;}
    -> Tensor = engine::view::complex::conj, (input.engine())
    {}
}

op! {
    {
        /// The real parts of the elements: of a real tensor, the tensor itself.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: same shape, in the dtype of the parts; a view.
        ///
        /// Derivative: `g`.
    }
    fn [real try_real] ([] input: &Tensor)
    -> Tensor = engine::view::complex::real, (input.engine())
    {}
}

op! {
    {
        /// The imaginary parts of the elements.
        ///
        /// Args: `input` a complex dtype.
        ///
        /// Returns: same shape, in the dtype of the parts; a view.
        ///
        /// Derivative: `i g`.
        ///
        /// Errors: for real dtypes.
    }
    fn [imag try_imag] ([] input: &Tensor)
    -> Tensor = engine::view::complex::imag, (input.engine())
    {}
}

op! {
    {
        /// `input` as real numbers with one more axis, of size 2: real parts and imaginary parts.
        ///
        /// Args: `input` a complex dtype.
        ///
        /// Returns: a view of shape `(*input.shape, 2)` in the dtype of the parts.
        ///
        /// Derivative: `view_as_complex(g)`.
        ///
        /// Errors: for real dtypes, and for tensors that are to be conjugated.
    }
    fn [view_as_real try_view_as_real] ([] input: &Tensor)
    -> Tensor = engine::view::complex::view_as_real, (input.engine())
    {}
}

op! {
    {
        /// `input`, whose last axis has size 2, as complex numbers.
        ///
        /// Args: `input` of float16, float32 or float64, its last axis with stride 1, the other strides and the offset
        /// even.
        ///
        /// Returns: a complex view without the last axis.
        ///
        /// Derivative: `view_as_real(g)`.
        ///
        /// Errors: for other dtypes and layouts.
    }
    fn [view_as_complex try_view_as_complex] ([] input: &Tensor)
    -> Tensor = engine::view::complex::view_as_complex, (input.engine())
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `Tensor.view`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::alias_copy(&Tensor::ones([2])).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [alias_copy try_alias_copy] ([] input: &Tensor)
    -> Tensor = engine::view::copies::alias_copy, (input.engine())
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `as_strided`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::as_strided_copy(&tensor![1f32, 2.0], [2, 2], [0, 1]);
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0, 1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [as_strided_copy try_as_strided_copy as_strided_copy_with try_as_strided_copy_with] ([] input: &Tensor,
        size: impl Into<Shape>, stride: impl Into<Shape>)
    -> Tensor = engine::view::copies::as_strided_copy, (input.engine(), as_shape(size).as_slice(),
        as_shape(stride).as_slice(), None)
    {[] o: StorageOffsetOptions => Tensor = (input.engine(), as_shape(size).as_slice(), as_shape(stride).as_slice(),
        o.storage_offset)}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `diagonal`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::diagonal_copy(&Tensor::ones([2, 2])).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [diagonal_copy try_diagonal_copy diagonal_copy_with try_diagonal_copy_with] ([] input: &Tensor)
    -> Tensor = engine::view::copies::diagonal_copy, (input.engine(), 0, 0, 1)
    {[] o: OffsetDim1Dim2Options => Tensor = (input.engine(), o.offset, o.dim1, o.dim2)}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `Tensor.expand`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::expand_copy(&Tensor::ones([1]), [2]).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [expand_copy try_expand_copy expand_copy_with try_expand_copy_with] ([] input: &Tensor, size: impl Into<Shape>)
    -> Tensor = engine::view::copies::expand_copy, (input.engine(), as_shape(size).as_slice(), false)
    {[] o: ExpandCopyOptions => Tensor = (input.engine(), as_shape(size).as_slice(), o.implicit)}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `narrow`.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([3]).narrow_copy(0, 1, 2).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [narrow_copy try_narrow_copy] ([] input: &Tensor, dim: i64, start: i64, length: usize)
    method [narrow_copy try_narrow_copy] ([] &self, dim: i64, start: i64, length: usize) {let input = self;}
    -> Tensor = engine::view::copies::narrow_copy, (input.engine(), dim, start, as_count(length))
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `permute`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::permute_copy(&Tensor::ones([1, 2]), [1, 0]).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [permute_copy try_permute_copy] ([] input: &Tensor, dims: impl Into<Dims>)
    -> Tensor = engine::view::copies::permute_copy, (input.engine(), as_dims(dims).as_slice())
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `select`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::select_copy(&Tensor::ones([2, 1]), 0, 1).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [select_copy try_select_copy] ([] input: &Tensor, dim: i64, index: i64)
    -> Tensor = engine::view::copies::select_copy, (input.engine(), dim, index)
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `slice_scatter`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::slice_copy_with(&Tensor::ones([3]), |o| o.dim(0).start(1)).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [slice_copy try_slice_copy slice_copy_with try_slice_copy_with] ([] input: &Tensor)
    -> Tensor = engine::view::copies::slice_copy, (input.engine(), 0, None, None, 1)
    {[] o: SliceScatterOptions => Tensor = (input.engine(), o.dim, o.start, o.end, o.step)}
}

op! {
    {
        /// As `slice_copy`, along `dim`.
    }
    fn [slice_copy_dim try_slice_copy_dim] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::view::copies::slice_copy, (input.engine(), dim, None, None, 1)
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `split`.
    }
    fn [split_copy try_split_copy split_copy_with try_split_copy_with] ([] input: &Tensor, split_size: usize)
    -> Vec<Tensor> = engine::view::copies::split_copy, (input.engine(), as_count(split_size), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), as_count(split_size), o.dim)}
}

op! {
    {
        /// As `split_copy`, along `dim`.
    }
    fn [split_copy_dim try_split_copy_dim] ([] input: &Tensor, split_size: usize, dim: i64)
    -> Vec<Tensor> = engine::view::copies::split_copy, (input.engine(), as_count(split_size), dim)
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `split_with_sizes`.
    }
    fn [split_with_sizes_copy try_split_with_sizes_copy split_with_sizes_copy_with try_split_with_sizes_copy_with] ([]
        input: &Tensor,
        split_sizes: impl Into<Shape>)
    -> Vec<Tensor> = engine::view::copies::split_with_sizes_copy, (input.engine(), as_shape(split_sizes).as_slice(), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), as_shape(split_sizes).as_slice(), o.dim)}
}

op! {
    {
        /// As `split_with_sizes_copy`, along `dim`.
    }
    fn [split_with_sizes_copy_dim try_split_with_sizes_copy_dim] ([] input: &Tensor, split_sizes: impl Into<Shape>,
        dim: i64)
    -> Vec<Tensor> = engine::view::copies::split_with_sizes_copy, (input.engine(), as_shape(split_sizes).as_slice(),
        dim)
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `squeeze`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::squeeze_copy(&Tensor::ones([1, 1])).item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [squeeze_copy try_squeeze_copy] ([] input: &Tensor)
    -> Tensor = engine::view::copies::squeeze_copy, (input.engine())
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `squeeze`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::squeeze_dim_copy(&Tensor::ones([1, 1]), 0).to_vec::<f64>()?, [1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "squeeze_copy")]
    }
    fn [squeeze_dim_copy try_squeeze_dim_copy] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::view::copies::squeeze_dim_copy, (input.engine(), dim)
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `squeeze`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::squeeze_dims_copy(&Tensor::ones([1, 1]), [0, 1]).item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "squeeze_copy")]
    }
    fn [squeeze_dims_copy try_squeeze_dims_copy] ([] input: &Tensor, dim: impl Into<Dims>)
    -> Tensor = engine::view::copies::squeeze_dims_copy, (input.engine(), as_dims(dim).as_slice())
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `t`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::t_copy(&Tensor::ones([1, 2])).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [t_copy try_t_copy] ([] input: &Tensor)
    -> Tensor = engine::view::copies::t_copy, (input.engine())
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `transpose`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::transpose_copy(&Tensor::ones([1, 2]), 0, 1).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [transpose_copy try_transpose_copy] ([] input: &Tensor, dim0: i64, dim1: i64)
    -> Tensor = engine::view::copies::transpose_copy, (input.engine(), dim0, dim1)
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `unbind`.
    }
    fn [unbind_copy try_unbind_copy unbind_copy_with try_unbind_copy_with] ([] input: &Tensor)
    -> Vec<Tensor> = engine::view::copies::unbind_copy, (input.engine(), 0)
    {[] o: UnbindOptions => Vec<Tensor> = (input.engine(), o.dim)}
}

op! {
    {
        /// As `unbind_copy`, along `dim`.
    }
    fn [unbind_copy_dim try_unbind_copy_dim] ([] input: &Tensor, dim: i64)
    -> Vec<Tensor> = engine::view::copies::unbind_copy, (input.engine(), dim)
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `Tensor.unfold`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::unfold_copy(&Tensor::ones([3]), 0, 2, 1).to_vec::<f64>()?, [1.0, 1.0, 1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [unfold_copy try_unfold_copy] ([] input: &Tensor, dimension: i64, size: usize, step: usize)
    -> Tensor = engine::view::copies::unfold_copy, (input.engine(), dimension, as_count(size), as_count(step))
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `unsqueeze`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::unsqueeze_copy(&Tensor::ones([2]), 0).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [unsqueeze_copy try_unsqueeze_copy] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::view::copies::unsqueeze_copy, (input.engine(), dim)
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `Tensor.view`.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::view_copy(&Tensor::ones([2]), [2, 1]).to_vec::<f64>()?, [1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [view_copy try_view_copy] ([] input: &Tensor, size: impl Into<Shape>)
    -> Tensor = engine::view::copies::view_copy, (input.engine(), as_shape(size).as_slice())
    {}
}

op! {
    {
        /// What the view of the same arguments looks at, in fresh memory; see `Tensor.view`.
        ///
        /// ```
        /// use retrograd::{DType, Tensor, ops};
        ///
        /// assert_eq!(ops::view_dtype_copy(&Tensor::ones([1]), DType::Int32).to_vec::<i64>()?, [1065353216]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "view_copy")]
    }
    fn [view_dtype_copy try_view_dtype_copy] ([] input: &Tensor, dtype: DType)
    -> Tensor = engine::view::copies::view_dtype_copy, (input.engine(), dtype)
    {}
}
