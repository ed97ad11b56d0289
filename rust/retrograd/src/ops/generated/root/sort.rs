//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::Tensor;
use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{ValuesIndices, as_count};

op! {
    {
        /// The elements in order along a dimension, and the indices where they were.
        ///
        /// Equal elements keep their order. NaN counts as greater than every number.
        ///
        /// Args: `input` any real dtype; `dim` the dimension, the last by default; `descending` puts the greatest
        /// first; `stable` changes nothing.
        ///
        /// Returns: `(values, indices)`, both of the shape of `input`, indices in int64.
        ///
        /// Derivative: `g` to the indices.
        ///
        /// Errors: for a dimension out of range; for complex dtypes.
    }
    fn [sort try_sort sort_with try_sort_with] ([] input: &Tensor)
    method [sort try_sort sort_with try_sort_with] ([] &self) {let input = self;}
    -> ValuesIndices = engine::sort::order::sort, (input.engine(), -1, false)
    {[] o: DimDescendingOptions => ValuesIndices = (input.engine(), o.dim, o.descending)}
}

op! {
    {
        /// As `sort`, along `dim`.
    }
    fn [sort_dim try_sort_dim] ([] input: &Tensor, dim: i64)
    method [sort_dim try_sort_dim] ([] &self, dim: i64) {let input = self;}
    -> ValuesIndices = engine::sort::order::sort, (input.engine(), dim, false)
    {}
}

op! {
    {
        /// `sort` with a word on whether it is to be `stable`, which it is either way.
        #[doc(alias = "sort")]
    }
    fn [sort_stable try_sort_stable sort_stable_with try_sort_stable_with] ([] input: &Tensor)
    method [sort_stable try_sort_stable sort_stable_with try_sort_stable_with] ([] &self) {let input = self;}
    -> ValuesIndices = engine::sort::order::sort_stable, (input.engine(), Some(true), -1, false)
    {[] o: DimDescendingOptions => ValuesIndices = (input.engine(), Some(true), o.dim, o.descending)}
}

op! {
    {
        /// As `sort_stable`, along `dim`.
    }
    fn [sort_stable_dim try_sort_stable_dim] ([] input: &Tensor, dim: i64)
    method [sort_stable_dim try_sort_stable_dim] ([] &self, dim: i64) {let input = self;}
    -> ValuesIndices = engine::sort::order::sort_stable, (input.engine(), Some(true), dim, false)
    {}
}

op! {
    {
        /// The indices that put `input` in order along a dimension; see `sort`.
        ///
        /// Args: as `sort`.
        ///
        /// Returns: indices in int64, of the shape of `input`; they carry no gradient.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![3f32, 1.0, 2.0].argsort().to_vec::<i64>()?, [1, 2, 0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [argsort try_argsort argsort_with try_argsort_with] ([] input: &Tensor)
    method [argsort try_argsort argsort_with try_argsort_with] ([] &self) {let input = self;}
    -> Tensor = engine::sort::order::argsort, (input.engine(), -1, false)
    {[] o: DimDescendingOptions => Tensor = (input.engine(), o.dim, o.descending)}
}

op! {
    {
        /// As `argsort`, along `dim`.
    }
    fn [argsort_dim try_argsort_dim] ([] input: &Tensor, dim: i64)
    method [argsort_dim try_argsort_dim] ([] &self, dim: i64) {let input = self;}
    -> Tensor = engine::sort::order::argsort, (input.engine(), dim, false)
    {}
}

op! {
    {
        /// `argsort` with a word on whether it is to be `stable`, which it is either way.
        #[doc(alias = "argsort")]
    }
    fn [argsort_stable try_argsort_stable argsort_stable_with try_argsort_stable_with] ([] input: &Tensor)
    method [argsort_stable try_argsort_stable argsort_stable_with try_argsort_stable_with] ([] &self) {let input =
        self;}
    -> Tensor = engine::sort::order::argsort_stable, (input.engine(), true, -1, false)
    {[] o: DimDescendingOptions => Tensor = (input.engine(), true, o.dim, o.descending)}
}

op! {
    {
        /// As `argsort_stable`, along `dim`.
    }
    fn [argsort_stable_dim try_argsort_stable_dim] ([] input: &Tensor, dim: i64)
    method [argsort_stable_dim try_argsort_stable_dim] ([] &self, dim: i64) {let input = self;}
    -> Tensor = engine::sort::order::argsort_stable, (input.engine(), true, dim, false)
    {}
}

op! {
    {
        /// The elements in rising order along the first dimension.
        ///
        /// Args: `input` any real dtype.
        ///
        /// Returns: a tensor of the shape of `input`.
        ///
        /// Derivative: `g` to the indices.
        ///
        /// Errors: for complex dtypes.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[3f32, 1.0], [2.0, 4.0]].msort().to_vec::<f64>()?, [2.0, 1.0, 3.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [msort try_msort] ([] input: &Tensor)
    method [msort try_msort] ([] &self) {let input = self;}
    -> Tensor = engine::sort::order::msort, (input.engine())
    {}
}

op! {
    {
        /// The `k` greatest (or smallest) elements along a dimension, and their indices.
        ///
        /// Of equal elements the first ones are taken. NaN counts as greater than every number.
        ///
        /// Args: `input` any real dtype but bool; `k` how many; `dim` the dimension; `largest` `false` for the
        /// smallest; `sorted` is accepted for compatibility with torch, the elements come in order either way.
        ///
        /// Returns: `(values, indices)` with size `k` along the dimension, indices in int64.
        ///
        /// Derivative: `g` to the indices.
        ///
        /// Errors: if there are fewer than `k`, and for bool; for a dimension out of range.
    }
    fn [topk try_topk topk_with try_topk_with] ([] input: &Tensor, k: usize)
    method [topk try_topk topk_with try_topk_with] ([] &self, k: usize) {let input = self;}
    -> ValuesIndices = engine::sort::select::topk, (input.engine(), as_count(k), -1, true, true)
    {[] o: TopkOptions => ValuesIndices = (input.engine(), as_count(k), o.dim, o.largest, o.sorted)}
}

op! {
    {
        /// As `topk`, along `dim`.
    }
    fn [topk_dim try_topk_dim] ([] input: &Tensor, k: usize, dim: i64)
    method [topk_dim try_topk_dim] ([] &self, k: usize, dim: i64) {let input = self;}
    -> ValuesIndices = engine::sort::select::topk, (input.engine(), as_count(k), dim, true, true)
    {}
}

op! {
    {
        /// The `k`-th smallest element along a dimension, and its index.
        ///
        /// Args: `input` any real dtype but bool; `k` from 1; `dim` the dimension, the last by default; `keepdim` keeps
        /// it with size 1.
        ///
        /// Returns: `(values, indices)`, indices in int64.
        ///
        /// Derivative: `g` to the index.
        ///
        /// Errors: if `k` is out of range; for a dimension out of range or of size 0; for bool.
    }
    fn [kthvalue try_kthvalue kthvalue_with try_kthvalue_with] ([] input: &Tensor, k: usize)
    method [kthvalue try_kthvalue kthvalue_with try_kthvalue_with] ([] &self, k: usize) {let input = self;}
    -> ValuesIndices = engine::sort::select::kthvalue, (input.engine(), as_count(k), -1, false)
    {[] o: KthvalueOptions => ValuesIndices = (input.engine(), as_count(k), o.dim, o.keepdim)}
}

op! {
    {
        /// As `kthvalue`, along `dim`.
    }
    fn [kthvalue_dim try_kthvalue_dim] ([] input: &Tensor, k: usize, dim: i64)
    method [kthvalue_dim try_kthvalue_dim] ([] &self, k: usize, dim: i64) {let input = self;}
    -> ValuesIndices = engine::sort::select::kthvalue, (input.engine(), as_count(k), dim, false)
    {}
}

op! {
    {
        /// The median of all elements: the one in the middle of their order, the lower one of two. NaN if there is one.
        ///
        /// Args: `input` any real dtype but bool.
        ///
        /// Returns: a 0-dim tensor; NaN for no elements.
        ///
        /// Derivative: `g`, split evenly among the elements equal to the median.
        ///
        /// Errors: for bool.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![3f32, 1.0, 2.0, 4.0].median().item::<f64>()?, 2.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [median try_median] ([] input: &Tensor)
    method [median try_median] ([] &self) {let input = self;}
    -> Tensor = engine::sort::median::median, (input.engine())
    {}
}

op! {
    {
        /// The median along a dimension and its index: the element in the middle of the order, the lower one of two.
        ///
        /// Args: `input` any real dtype but bool; `dim` the dimension; `keepdim` keeps it with size 1.
        ///
        /// Returns: `(values, indices)`, indices in int64.
        ///
        /// Derivative: `g` to the index.
        ///
        /// Errors: for a dimension out of range or of size 0; for bool.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[3f32, 1.0, 2.0], [4.0, 6.0, 5.0]].median_dim(1).values.to_vec::<f64>()?, [2.0, 5.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "median")]
    }
    fn [median_dim try_median_dim median_dim_with try_median_dim_with] ([] input: &Tensor, dim: i64)
    method [median_dim try_median_dim median_dim_with try_median_dim_with] ([] &self, dim: i64) {let input = self;}
    -> ValuesIndices = engine::sort::median::median_dim, (input.engine(), dim, false)
    {[] o: KeepdimOptions => ValuesIndices = (input.engine(), dim, o.keepdim)}
}

op! {
    {
        /// The median of all elements that are numbers; see `median`.
        ///
        /// Returns: a 0-dim tensor; NaN if there is no number.
    }
    fn [nanmedian try_nanmedian] ([] input: &Tensor)
    method [nanmedian try_nanmedian] ([] &self) {let input = self;}
    -> Tensor = engine::sort::median::nanmedian, (input.engine())
    {}
}

op! {
    {
        /// The median of the numbers along a dimension and its index; see `median`.
        #[doc(alias = "nanmedian")]
    }
    fn [nanmedian_dim try_nanmedian_dim nanmedian_dim_with try_nanmedian_dim_with] ([] input: &Tensor, dim: i64)
    method [nanmedian_dim try_nanmedian_dim nanmedian_dim_with try_nanmedian_dim_with] ([] &self,
        dim: i64) {let input = self;}
    -> ValuesIndices = engine::sort::median::nanmedian_dim, (input.engine(), dim, false)
    {[] o: KeepdimOptions => ValuesIndices = (input.engine(), dim, o.keepdim)}
}

op! {
    {
        /// The element that occurs most often along a dimension, and its last index there.
        ///
        /// Of several such elements the smallest is taken. NaN equals nothing, itself included.
        ///
        /// Args: `input` any real dtype; `dim` the dimension, the last by default; `keepdim` keeps it with size 1.
        ///
        /// Returns: `(values, indices)`, indices in int64.
        ///
        /// Derivative: `g` to the index.
        ///
        /// Errors: for a dimension out of range or of size 0; for complex dtypes.
    }
    fn [mode try_mode mode_with try_mode_with] ([] input: &Tensor)
    method [mode try_mode mode_with try_mode_with] ([] &self) {let input = self;}
    -> ValuesIndices = engine::sort::mode::mode, (input.engine(), -1, false)
    {[] o: KthvalueOptions => ValuesIndices = (input.engine(), o.dim, o.keepdim)}
}

op! {
    {
        /// As `mode`, along `dim`.
    }
    fn [mode_dim try_mode_dim] ([] input: &Tensor, dim: i64)
    method [mode_dim try_mode_dim] ([] &self, dim: i64) {let input = self;}
    -> ValuesIndices = engine::sort::mode::mode, (input.engine(), dim, false)
    {}
}

op! {
    {
        /// The elements at the fractions `q` of the sorted order of all elements.
        ///
        /// Between two elements, `interpolation` decides. NaN, if there is one, is the result.
        ///
        /// Args: `input` float32 or float64, with elements; `q` numbers from 0 to 1, a 0-dim tensor or a vector of the
        /// same dtype; `dim` the dimension, `None` for all elements; `keepdim` keeps it with size 1; `interpolation`
        /// `QuantileInterpolation::Linear`, `QuantileInterpolation::Lower`, `QuantileInterpolation::Higher`,
        /// `QuantileInterpolation::Midpoint` or `QuantileInterpolation::Nearest`.
        ///
        /// Returns: a tensor without the dimension, with one in front for a vector `q`.
        ///
        /// Derivative: `g` to the elements on both sides of the result, by their weights; for `q` their distance.
        ///
        /// Errors: for other dtypes, no elements, or `q` outside 0 to 1; for a dimension out of range.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![3f32, 1.0, 2.0].quantiles(&tensor![0.5f32, 0.75]).to_vec::<f64>()?, [2.0, 2.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "quantile")]
    }
    fn [quantiles try_quantiles quantiles_with try_quantiles_with] ([] input: &Tensor, q: &Tensor)
    method [quantiles try_quantiles quantiles_with try_quantiles_with] ([] &self, q: &Tensor) {let input = self;}
    -> Tensor = engine::sort::quantile::quantile, (input.engine(), q.engine(), None, false, "linear")
    {[] o: DimKeepdimInterpolationOptions => Tensor = (input.engine(), q.engine(), o.dim, o.keepdim,
        o.interpolation.name())}
}

op! {
    {
        /// As `quantiles`, along `dim`.
    }
    fn [quantiles_dim try_quantiles_dim] ([] input: &Tensor, q: &Tensor, dim: i64)
    method [quantiles_dim try_quantiles_dim] ([] &self, q: &Tensor, dim: i64) {let input = self;}
    -> Tensor = engine::sort::quantile::quantile, (input.engine(), q.engine(), Some(dim), false, "linear")
    {}
}

op! {
    {
        /// The element at the fraction `q` of the sorted order of all elements; see `quantile`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![3f32, 1.0, 2.0].quantile(0.25).item::<f64>()?, 1.5);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [quantile try_quantile quantile_with try_quantile_with] ([] input: &Tensor, q: f64)
    method [quantile try_quantile quantile_with try_quantile_with] ([] &self, q: f64) {let input = self;}
    -> Tensor = engine::sort::quantile::quantile_number, (input.engine(), q, None, false, "linear")
    {[] o: DimKeepdimInterpolationOptions => Tensor = (input.engine(), q, o.dim, o.keepdim, o.interpolation.name())}
}

op! {
    {
        /// As `quantile`, along `dim`.
    }
    fn [quantile_dim try_quantile_dim] ([] input: &Tensor, q: f64, dim: i64)
    method [quantile_dim try_quantile_dim] ([] &self, q: f64, dim: i64) {let input = self;}
    -> Tensor = engine::sort::quantile::quantile_number, (input.engine(), q, Some(dim), false, "linear")
    {}
}

op! {
    {
        /// The quantiles of the elements that are numbers; see `quantile`. NaN only where there is no number.
        #[doc(alias = "nanquantile")]
    }
    fn [nanquantiles try_nanquantiles nanquantiles_with try_nanquantiles_with] ([] input: &Tensor, q: &Tensor)
    method [nanquantiles try_nanquantiles nanquantiles_with try_nanquantiles_with] ([] &self,
        q: &Tensor) {let input = self;}
    -> Tensor = engine::sort::quantile::nanquantile, (input.engine(), q.engine(), None, false, "linear")
    {[] o: DimKeepdimInterpolationOptions => Tensor = (input.engine(), q.engine(), o.dim, o.keepdim,
        o.interpolation.name())}
}

op! {
    {
        /// As `nanquantiles`, along `dim`.
    }
    fn [nanquantiles_dim try_nanquantiles_dim] ([] input: &Tensor, q: &Tensor, dim: i64)
    method [nanquantiles_dim try_nanquantiles_dim] ([] &self, q: &Tensor, dim: i64) {let input = self;}
    -> Tensor = engine::sort::quantile::nanquantile, (input.engine(), q.engine(), Some(dim), false, "linear")
    {}
}

op! {
    {
        /// The quantile of the elements that are numbers; see `quantile`. NaN only where there is no number.
    }
    fn [nanquantile try_nanquantile nanquantile_with try_nanquantile_with] ([] input: &Tensor, q: f64)
    method [nanquantile try_nanquantile nanquantile_with try_nanquantile_with] ([] &self, q: f64) {let input = self;}
    -> Tensor = engine::sort::quantile::nanquantile_number, (input.engine(), q, None, false, "linear")
    {[] o: DimKeepdimInterpolationOptions => Tensor = (input.engine(), q, o.dim, o.keepdim, o.interpolation.name())}
}

op! {
    {
        /// As `nanquantile`, along `dim`.
    }
    fn [nanquantile_dim try_nanquantile_dim] ([] input: &Tensor, q: f64, dim: i64)
    method [nanquantile_dim try_nanquantile_dim] ([] &self, q: f64, dim: i64) {let input = self;}
    -> Tensor = engine::sort::quantile::nanquantile_number, (input.engine(), q, Some(dim), false, "linear")
    {}
}
