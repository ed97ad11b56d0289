//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{Floats, MinMax, Tensors, ValuesIndices, as_dims, as_scalar, as_shape};
use crate::shape::{Dims, Shape};
use crate::{Scalar, Tensor};

pub use crate::ops::trapezoid as trapz;
pub use crate::ops::trapezoid_at as trapz_at;
pub use crate::ops::trapezoid_at_dim as trapz_at_dim;
pub use crate::ops::trapezoid_at_with as trapz_at_with;
pub use crate::ops::trapezoid_with as trapz_with;
pub use crate::ops::try_trapezoid as try_trapz;
pub use crate::ops::try_trapezoid_at as try_trapz_at;
pub use crate::ops::try_trapezoid_at_dim as try_trapz_at_dim;
pub use crate::ops::try_trapezoid_at_with as try_trapz_at_with;
pub use crate::ops::try_trapezoid_with as try_trapz_with;

op! {
    {
        /// The covariances of variables, the rows of `input`, over observations, its columns.
        ///
        /// Args: `input` any dtype but bool, of at most 2 dims, a vector being one variable; `correction` what is taken
        /// off the number of observations; `fweights` how often each observation counts, integers; `aweights` its
        /// weight, floats.
        ///
        /// Returns: a matrix, 0-dim for one variable; integers are divided as floats.
        ///
        /// Derivative: that of the products that it is composed of.
        ///
        /// Errors: for more dims, bool, and for weights of another size or dtype, negative ones, or ones that sum to 0.
        /// Warns if `correction` leaves no degree of freedom.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 3.0], [2.0, 6.0]].cov().to_vec::<f64>()?, [2.0, 4.0, 4.0, 8.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cov try_cov cov_with try_cov_with] ([] input: &Tensor)
    method [cov try_cov cov_with try_cov_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::covariance::cov, (input.engine(), 1, None, None)
    {['o] o: CovOptions<'o> => Tensor = (input.engine(), o.correction, o.fweights.map(Tensor::engine),
        o.aweights.map(Tensor::engine))}
}

op! {
    {
        /// The correlations of variables, the rows of `input`, over observations, its columns.
        ///
        /// Args: `input` any dtype but bool, of at most 2 dims, a vector being one variable.
        ///
        /// Returns: a matrix, 0-dim for one variable, with parts from -1 to 1.
        ///
        /// Derivative: that of the covariances over the deviations.
        ///
        /// Errors: for more dims and for bool.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 3.0], [6.0, 2.0]].corrcoef().to_vec::<f64>()?, [1.0, -1.0, -1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [corrcoef try_corrcoef] ([] input: &Tensor)
    method [corrcoef try_corrcoef] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::covariance::corrcoef, (input.engine())
    {}
}

op! {
    {
        /// The sum of all elements.
        ///
        /// Args: `input` any dtype; `dtype` the dtype to convert to before summing (int64 for integers and bool).
        ///
        /// Returns: a 0-dim tensor; 0 for an empty one.
        ///
        /// Derivative: `g` for every element.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].sum().item::<f64>()?, 6.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [sum try_sum] ([] input: &Tensor)
    method [sum try_sum] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::sum::sum, (input.engine(), None)
    {}
}

op! {
    {
        /// The sum over dimensions.
        ///
        /// Args: `input` any dtype; `dim` an integer or a list, `None` or an empty list for all; `keepdim` keeps them
        /// with size 1; `dtype` as for the full sum.
        ///
        /// Returns: a tensor without (or with size 1 in) the summed dimensions.
        ///
        /// Derivative: `g`, expanded.
        ///
        /// Errors: for a dimension out of range; if one is named twice.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].sum_dim(1).to_vec::<f64>()?, [3.0, 7.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [@ sum_with try_sum_with] ([] input: &Tensor)
    method [@ sum_with try_sum_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::sum::sum_over, (input.engine(), None, false, None)
    {[] o: DimKeepdimDtypeOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype)}
}

op! {
    {
        /// As `sum`, along `dim`.
    }
    fn [sum_dim try_sum_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [sum_dim try_sum_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::sum::sum_over, (input.engine(), Some(as_dims(dim).as_slice()), false, None)
    {}
}

op! {
    {
        /// Sums the tensor down to a size that broadcasts to its own; the tensor itself if nothing is to be summed.
        ///
        /// Args: `size` a shape that expands to the tensor's.
        ///
        /// Derivative: `g`, expanded.
        ///
        /// Errors: if `size` does not expand to the tensor's shape.
        ///
        /// ```
        /// use retrograd::Tensor;
        ///
        /// assert_eq!(Tensor::ones([2, 3]).sum_to_size(3).to_vec::<f64>()?, [2.0, 2.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    method [sum_to_size try_sum_to_size] ([] &self, size: impl Into<Shape>) {let input = self;}
    -> Tensor = engine::reduce::sum::sum_to, (input.engine(), as_shape(size).as_slice())
    {}
}

op! {
    {
        /// The mean of all elements.
        ///
        /// Args: `input` a floating or complex dtype, or any with `dtype` given, to which it is converted first.
        ///
        /// Returns: a 0-dim tensor; NaN for an empty one.
        ///
        /// Derivative: `g / n` for every element.
        ///
        /// Errors: for integers without `dtype`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 6.0].mean().item::<f64>()?, 3.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [mean try_mean] ([] input: &Tensor)
    method [mean try_mean] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::sum::mean, (input.engine(), None)
    {}
}

op! {
    {
        /// The mean over dimensions.
        ///
        /// Args: `dim` an integer or a list, `None` or an empty list for all; `keepdim` keeps them with size 1; `dtype`
        /// as for the full mean.
        ///
        /// Returns: a tensor without (or with size 1 in) the dimensions.
        ///
        /// Derivative: `g / n`, expanded.
        ///
        /// Errors: for a dimension out of range; for integers without `dtype`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].mean_dim(0).to_vec::<f64>()?, [2.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [@ mean_with try_mean_with] ([] input: &Tensor)
    method [@ mean_with try_mean_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::sum::mean_over, (input.engine(), None, false, None)
    {[] o: DimKeepdimDtypeOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype)}
}

op! {
    {
        /// As `mean`, along `dim`.
    }
    fn [mean_dim try_mean_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [mean_dim try_mean_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::sum::mean_over, (input.engine(), Some(as_dims(dim).as_slice()), false, None)
    {}
}

op! {
    {
        /// The product of all elements.
        ///
        /// Args: `input` any dtype; `dtype` the dtype to convert to before (int64 for integers and bool).
        ///
        /// Returns: a 0-dim tensor; 1 for an empty one.
        ///
        /// Derivative: `g` times the product of the others, exact at zeros.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![2f32, 3.0].prod().item::<f64>()?, 6.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [prod try_prod prod_with try_prod_with] ([] input: &Tensor)
    method [prod try_prod prod_with try_prod_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::prod::prod, (input.engine(), None)
    {[] o: DtypeOptions => Tensor = (input.engine(), o.dtype)}
}

op! {
    {
        /// The product along a dimension.
        ///
        /// Args: `input` any dtype; `dim` the dimension; `keepdim` keeps it with size 1; `dtype` as for the full
        /// product.
        ///
        /// Returns: a tensor without (or with size 1 in) the dimension.
        ///
        /// Derivative: `g` times the product of the others.
        ///
        /// Errors: for a dimension out of range.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 2.0], [3.0, 4.0]].prod_dim(1).to_vec::<f64>()?, [2.0, 12.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "prod")]
    }
    fn [prod_dim try_prod_dim prod_dim_with try_prod_dim_with] ([] input: &Tensor, dim: i64)
    method [prod_dim try_prod_dim prod_dim_with try_prod_dim_with] ([] &self, dim: i64) {let input = self;}
    -> Tensor = engine::reduce::prod::prod_dim, (input.engine(), dim, false, None)
    {[] o: ProdDimOptions => Tensor = (input.engine(), dim, o.keepdim, o.dtype)}
}

op! {
    {
        /// The maximum over dimensions.
        ///
        /// Args: `input` any real dtype; `dim` an integer or a list, none for all; `keepdim` keeps them with size 1.
        /// NaN wins over every number.
        ///
        /// Returns: a tensor without (or with size 1 in) the dimensions.
        ///
        /// Derivative: `g`, split evenly among equal elements.
        ///
        /// Errors: for a dimension out of range or of size 0; for no dims of an empty tensor.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 5.0], [3.0, 4.0]].amax_dim(1).to_vec::<f64>()?, [5.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [amax try_amax amax_with try_amax_with] ([] input: &Tensor)
    method [amax try_amax amax_with try_amax_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::extreme::amax, (input.engine(), None, false)
    {[] o: DimKeepdimOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim)}
}

op! {
    {
        /// As `amax`, along `dim`.
    }
    fn [amax_dim try_amax_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [amax_dim try_amax_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::extreme::amax, (input.engine(), Some(as_dims(dim).as_slice()), false)
    {}
}

op! {
    {
        /// The minimum over dimensions.
        ///
        /// Args, Returns, Derivative, Errors: as `amax`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[1f32, 5.0], [3.0, 4.0]].amin_dim(1).to_vec::<f64>()?, [1.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [amin try_amin amin_with try_amin_with] ([] input: &Tensor)
    method [amin try_amin amin_with try_amin_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::extreme::amin, (input.engine(), None, false)
    {[] o: DimKeepdimOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim)}
}

op! {
    {
        /// As `amin`, along `dim`.
    }
    fn [amin_dim try_amin_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [amin_dim try_amin_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::extreme::amin, (input.engine(), Some(as_dims(dim).as_slice()), false)
    {}
}

op! {
    {
        /// The maximum of all elements.
        ///
        /// Args: `input` any real dtype.
        ///
        /// Returns: a 0-dim tensor; NaN if there is one.
        ///
        /// Derivative: `g`, split evenly among equal elements.
        ///
        /// Errors: for an empty tensor.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 3.0, 2.0].max().item::<f64>()?, 3.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [max try_max] ([] input: &Tensor)
    method [max try_max] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::extreme::max, (input.engine())
    {}
}

op! {
    {
        /// The maximum along a dimension and the first index where it stands.
        ///
        /// Args: `input` any real dtype; `dim` the dimension; `keepdim` keeps it with size 1.
        ///
        /// Returns: `(values, indices)`, indices in int64.
        ///
        /// Derivative: `g` to the index found.
        ///
        /// Errors: for a dimension out of range or of size 0.
        #[doc(alias = "max")]
    }
    fn [max_dim try_max_dim max_dim_with try_max_dim_with] ([] input: &Tensor, dim: i64)
    method [max_dim try_max_dim max_dim_with try_max_dim_with] ([] &self, dim: i64) {let input = self;}
    -> ValuesIndices = engine::reduce::extreme::max_dim, (input.engine(), dim, false)
    {[] o: KeepdimOptions => ValuesIndices = (input.engine(), dim, o.keepdim)}
}

op! {
    {
        /// The larger of two tensors, elementwise: `maximum(input, other)`.
        ///
        /// Args: `other` a tensor with a shape that broadcasts against that of `input`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 3.0].max_of(&tensor![2f32, 2.0]).to_vec::<f64>()?, [2.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "max")]
    }
    fn [max_of try_max_of] ([] input: &Tensor, other: &Tensor)
    method [max_of try_max_of] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::reduce::extreme::max_of, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The minimum of all elements.
        ///
        /// Args, Returns, Derivative, Errors: as the full `max`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 3.0, 2.0].min().item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [min try_min] ([] input: &Tensor)
    method [min try_min] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::extreme::min, (input.engine())
    {}
}

op! {
    {
        /// The minimum along a dimension and the first index where it stands.
        ///
        /// Args, Returns, Derivative, Errors: as `max` along a dimension.
        #[doc(alias = "min")]
    }
    fn [min_dim try_min_dim min_dim_with try_min_dim_with] ([] input: &Tensor, dim: i64)
    method [min_dim try_min_dim min_dim_with try_min_dim_with] ([] &self, dim: i64) {let input = self;}
    -> ValuesIndices = engine::reduce::extreme::min_dim, (input.engine(), dim, false)
    {[] o: KeepdimOptions => ValuesIndices = (input.engine(), dim, o.keepdim)}
}

op! {
    {
        /// The smaller of two tensors, elementwise: `minimum(input, other)`.
        ///
        /// Args: `other` a tensor with a shape that broadcasts against that of `input`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 3.0].min_of(&tensor![2f32, 2.0]).to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "min")]
    }
    fn [min_of try_min_of] ([] input: &Tensor, other: &Tensor)
    method [min_of try_min_of] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::reduce::extreme::min_of, (input.engine(), other.engine())
    {}
}

op! {
    {
        /// The first index of the maximum, of all elements (as if flattened) or along a dimension.
        ///
        /// Args: `input` any real dtype but bool; `dim` the dimension, `None` for all; `keepdim` keeps reduced
        /// dimensions with size 1.
        ///
        /// Returns: int64. No derivative.
        ///
        /// Errors: for a dimension out of range or no elements; for bool.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 3.0, 2.0].argmax().item::<i64>()?, 1);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [argmax try_argmax argmax_with try_argmax_with] ([] input: &Tensor)
    method [argmax try_argmax argmax_with try_argmax_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::extreme::argmax, (input.engine(), None, false)
    {[] o: ArgmaxOptions => Tensor = (input.engine(), o.dim, o.keepdim)}
}

op! {
    {
        /// As `argmax`, along `dim`.
    }
    fn [argmax_dim try_argmax_dim] ([] input: &Tensor, dim: i64)
    method [argmax_dim try_argmax_dim] ([] &self, dim: i64) {let input = self;}
    -> Tensor = engine::reduce::extreme::argmax, (input.engine(), Some(dim), false)
    {}
}

op! {
    {
        /// The first index of the minimum, of all elements (as if flattened) or along a dimension.
        ///
        /// Args, Returns, Errors: as `argmax`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 3.0, 2.0].argmin().item::<i64>()?, 0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [argmin try_argmin argmin_with try_argmin_with] ([] input: &Tensor)
    method [argmin try_argmin argmin_with try_argmin_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::extreme::argmin, (input.engine(), None, false)
    {[] o: ArgmaxOptions => Tensor = (input.engine(), o.dim, o.keepdim)}
}

op! {
    {
        /// As `argmin`, along `dim`.
    }
    fn [argmin_dim try_argmin_dim] ([] input: &Tensor, dim: i64)
    method [argmin_dim try_argmin_dim] ([] &self, dim: i64) {let input = self;}
    -> Tensor = engine::reduce::extreme::argmin, (input.engine(), Some(dim), false)
    {}
}

op! {
    {
        /// The variance over dimensions, squared deviations divided by `n - correction`.
        ///
        /// Args: `input` a floating or complex dtype; `dim` an integer or a list, `None` for all; `correction` a number
        /// (1); `keepdim` keeps the dimensions with size 1.
        ///
        /// Returns: NaN or infinity if `n` is not above `correction`.
        ///
        /// Derivative: `2 g (input - mean) / (n - correction)`.
        ///
        /// Errors: for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 3.0].var_with(|o| o.correction(0)).item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [var try_var var_with try_var_with] ([] input: &Tensor)
    method [var try_var var_with try_var_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::moments::var, (input.engine(), None, None, false)
    {[] o: DimCorrectionKeepdimOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.correction,
        o.keepdim)}
}

op! {
    {
        /// As `var`, along `dim`.
    }
    fn [var_dim try_var_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [var_dim try_var_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::moments::var, (input.engine(), Some(as_dims(dim).as_slice()), None, false)
    {}
}

op! {
    {
        /// The standard deviation over dimensions, squared deviations divided by `n - correction`.
        ///
        /// Args: `input` a floating or complex dtype; `dim` an integer or a list, `None` for all; `correction` a number
        /// (1); `keepdim` keeps the dimensions with size 1.
        ///
        /// Returns: NaN or infinity if `n` is not above `correction`.
        ///
        /// Derivative: `g (input - mean) / ((n - correction) std)`.
        ///
        /// Errors: for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 3.0].std_with(|o| o.correction(0)).item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [std try_std std_with try_std_with] ([] input: &Tensor)
    method [std try_std std_with try_std_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::moments::std, (input.engine(), None, None, false)
    {[] o: DimCorrectionKeepdimOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.correction,
        o.keepdim)}
}

op! {
    {
        /// As `std`, along `dim`.
    }
    fn [std_dim try_std_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [std_dim try_std_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::moments::std, (input.engine(), Some(as_dims(dim).as_slice()), None, false)
    {}
}

op! {
    {
        /// The variance and the mean over dimensions, squared deviations divided by `n - correction`.
        ///
        /// Args: as `var`.
        ///
        /// Returns: `(var, mean)`.
        ///
        /// Derivative: the sum of both.
    }
    fn [var_mean try_var_mean var_mean_with try_var_mean_with] ([] input: &Tensor)
    -> (Tensor, Tensor) = engine::reduce::moments::var_mean, (input.engine(), None, None, false)
    {[] o: DimCorrectionKeepdimOptions => (Tensor, Tensor) = (input.engine(), o.dim.as_ref().map(Dims::as_slice),
        o.correction, o.keepdim)}
}

op! {
    {
        /// As `var_mean`, along `dim`.
    }
    fn [var_mean_dim try_var_mean_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> (Tensor, Tensor) = engine::reduce::moments::var_mean, (input.engine(), Some(as_dims(dim).as_slice()), None,
        false)
    {}
}

op! {
    {
        /// The standard deviation and the mean over dimensions, squared deviations divided by `n - correction`.
        ///
        /// Args: as `std`.
        ///
        /// Returns: `(std, mean)`.
        ///
        /// Derivative: the sum of both.
    }
    fn [std_mean try_std_mean std_mean_with try_std_mean_with] ([] input: &Tensor)
    -> (Tensor, Tensor) = engine::reduce::moments::std_mean, (input.engine(), None, None, false)
    {[] o: DimCorrectionKeepdimOptions => (Tensor, Tensor) = (input.engine(), o.dim.as_ref().map(Dims::as_slice),
        o.correction, o.keepdim)}
}

op! {
    {
        /// As `std_mean`, along `dim`.
    }
    fn [std_mean_dim try_std_mean_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> (Tensor, Tensor) = engine::reduce::moments::std_mean, (input.engine(), Some(as_dims(dim).as_slice()), None,
        false)
    {}
}

op! {
    {
        /// Whether all elements are non-zero.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: a 0-dim bool (uint8 for uint8); `true` for an empty tensor. No derivative.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert!(!tensor![true, false].all().item::<bool>()?);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [all try_all] ([] input: &Tensor)
    method [all try_all] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::logic::all, (input.engine())
    {}
}

op! {
    {
        /// Whether all elements along dimensions are non-zero.
        ///
        /// Args: `input` any dtype; `dim` an integer or a list, `None` for all, an empty list for none; `keepdim` keeps
        /// them with size 1.
        ///
        /// Returns: bool (uint8 for uint8). No derivative.
        ///
        /// Errors: for a dimension out of range.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[true, false], [true, true]].all_dim(1).to_vec::<bool>()?, [false, true]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [@ all_with try_all_with] ([] input: &Tensor)
    method [@ all_with try_all_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::logic::all_dims, (input.engine(), None, false)
    {[] o: DimKeepdimOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim)}
}

op! {
    {
        /// As `all`, along `dim`.
    }
    fn [all_dim try_all_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [all_dim try_all_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::logic::all_dims, (input.engine(), Some(as_dims(dim).as_slice()), false)
    {}
}

op! {
    {
        /// Whether any element is non-zero.
        ///
        /// Args: `input` any dtype.
        ///
        /// Returns: a 0-dim bool (uint8 for uint8); `false` for an empty tensor. No derivative.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert!(tensor![true, false].any().item::<bool>()?);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [any try_any] ([] input: &Tensor)
    method [any try_any] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::logic::any, (input.engine())
    {}
}

op! {
    {
        /// Whether any element along dimensions is non-zero.
        ///
        /// Args: `input` any dtype; `dim` an integer or a list, `None` for all, an empty list for none; `keepdim` keeps
        /// them with size 1.
        ///
        /// Returns: bool (uint8 for uint8). No derivative.
        ///
        /// Errors: for a dimension out of range.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![[true, false], [false, false]].any_dim(1).to_vec::<bool>()?, [true, false]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [@ any_with try_any_with] ([] input: &Tensor)
    method [@ any_with try_any_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::logic::any_dims, (input.engine(), None, false)
    {[] o: DimKeepdimOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim)}
}

op! {
    {
        /// As `any`, along `dim`.
    }
    fn [any_dim try_any_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [any_dim try_any_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::logic::any_dims, (input.engine(), Some(as_dims(dim).as_slice()), false)
    {}
}

op! {
    {
        /// The number of elements that are not zero.
        ///
        /// Args: `input` any dtype; `dim` an integer or a list, `None` or an empty list for all.
        ///
        /// Returns: int64. No derivative.
        ///
        /// Errors: for a dimension out of range.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32, 2.0, 3.0].count_nonzero().item::<i64>()?, 2);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [count_nonzero try_count_nonzero count_nonzero_with try_count_nonzero_with] ([] input: &Tensor)
    method [count_nonzero try_count_nonzero count_nonzero_with try_count_nonzero_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::logic::count_nonzero, (input.engine(), None)
    {[] o: DimOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice))}
}

op! {
    {
        /// As `count_nonzero`, along `dim`.
    }
    fn [count_nonzero_dim try_count_nonzero_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [count_nonzero_dim try_count_nonzero_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::logic::count_nonzero, (input.engine(), Some(as_dims(dim).as_slice()))
    {}
}

op! {
    {
        /// The logarithm of the sum of exponentials over dimensions, without overflow.
        ///
        /// Args: `input` any dtype, integers are converted to the default float dtype; `dim` an integer or a list;
        /// `keepdim` keeps them with size 1.
        ///
        /// Returns: minus infinity where there are no elements.
        ///
        /// Derivative: `g * exp(input - result)`.
        ///
        /// Errors: for a dimension out of range.
    }
    fn [logsumexp try_logsumexp logsumexp_with try_logsumexp_with] ([] input: &Tensor, dim: impl Into<Dims>)
    method [logsumexp try_logsumexp logsumexp_with try_logsumexp_with] ([] &self,
        dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::softmax::logsumexp, (input.engine(), as_dims(dim).as_slice(), false)
    {[] o: KeepdimOptions => Tensor = (input.engine(), as_dims(dim).as_slice(), o.keepdim)}
}

op! {
    {
        /// Exponentials along a dimension, scaled to sum to one.
        ///
        /// Args: `input` a floating dtype; `dim` the dimension; `dtype` converts the input first.
        ///
        /// Returns: the same shape.
        ///
        /// Derivative: `result * (g - sum(g * result))`.
        ///
        /// Errors: for a dimension out of range; for integers without `dtype`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 1.0].softmax(0).to_vec::<f64>()?, [0.5, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [softmax try_softmax softmax_with try_softmax_with] ([] input: &Tensor, dim: i64)
    method [softmax try_softmax softmax_with try_softmax_with] ([] &self, dim: i64) {let input = self;}
    -> Tensor = engine::reduce::softmax::softmax, (input.engine(), dim, None)
    {[] o: DtypeOptions => Tensor = (input.engine(), dim, o.dtype)}
}

op! {
    {
        /// The logarithm of `softmax`, computed without it.
        ///
        /// Args: `input` a floating dtype; `dim` the dimension; `dtype` converts the input first.
        ///
        /// Returns: the same shape.
        ///
        /// Derivative: `g - exp(result) * sum(g)`.
        ///
        /// Errors: for a dimension out of range; for integers without `dtype`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32, 0.0].log_softmax(0).exp().to_vec::<f64>()?, [0.5, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [log_softmax try_log_softmax log_softmax_with try_log_softmax_with] ([] input: &Tensor, dim: i64)
    method [log_softmax try_log_softmax log_softmax_with try_log_softmax_with] ([] &self, dim: i64) {let input = self;}
    -> Tensor = engine::reduce::softmax::log_softmax, (input.engine(), dim, None)
    {[] o: DtypeOptions => Tensor = (input.engine(), dim, o.dtype)}
}

op! {
    {
        /// The sums of the elements up to each one, along a dimension.
        ///
        /// Args: `input` any dtype; `dim` the dimension; `dtype` the dtype to convert to before (int64 for integers and
        /// bool).
        ///
        /// Returns: the same shape.
        ///
        /// Derivative: the running sum of `g` from the other end.
        ///
        /// Errors: for a dimension out of range.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].cumsum(0).to_vec::<f64>()?, [1.0, 3.0, 6.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cumsum try_cumsum cumsum_with try_cumsum_with] ([] input: &Tensor, dim: i64)
    method [cumsum try_cumsum cumsum_with try_cumsum_with] ([] &self, dim: i64) {let input = self;}
    in_place {
        /// The in-place form of `cumsum`: writes to the tensor, and returns it.
    } [cumsum_ try_cumsum_ cumsum_with_ try_cumsum_with_] ([] &self,
        dim: i64) {let input = self;} {engine::reduce::scan::cumsum_as}
    -> Tensor = engine::reduce::scan::cumsum, (input.engine(), dim, None)
    {[] o: DtypeOptions => Tensor = (input.engine(), dim, o.dtype)}
}

op! {
    {
        /// The products of the elements up to each one, along a dimension.
        ///
        /// Args: `input` any dtype; `dim` the dimension; `dtype` the dtype to convert to before (int64 for integers and
        /// bool).
        ///
        /// Returns: the same shape.
        ///
        /// Derivative: the running sum of `g * result` from the other end, over `input`; exact at zeros.
        ///
        /// Errors: for a dimension out of range.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 2.0, 3.0].cumprod(0).to_vec::<f64>()?, [1.0, 2.0, 6.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cumprod try_cumprod cumprod_with try_cumprod_with] ([] input: &Tensor, dim: i64)
    method [cumprod try_cumprod cumprod_with try_cumprod_with] ([] &self, dim: i64) {let input = self;}
    in_place {
        /// The in-place form of `cumprod`: writes to the tensor, and returns it.
    } [cumprod_ try_cumprod_ cumprod_with_ try_cumprod_with_] ([] &self,
        dim: i64) {let input = self;} {engine::reduce::scan::cumprod_as}
    -> Tensor = engine::reduce::scan::cumprod, (input.engine(), dim, None)
    {[] o: DtypeOptions => Tensor = (input.engine(), dim, o.dtype)}
}

op! {
    {
        /// The norm of some order, of all elements or over dimensions: `sum(abs(input) ** p) ** (1 / p)`.
        ///
        /// Args: `input` a floating or complex dtype; `p` the order of `linalg.vector_norm` (0 counts the elements that
        /// are not 0, infinity takes the largest magnitude, minus infinity the smallest), `None` for 2; `dim` an int,
        /// several, or `None` for all; `keepdim` keeps them with size 1; `dtype` converts first.
        ///
        /// Returns: a tensor without those dims.
        ///
        /// Derivative: `g * sign(input) * (abs(input) / norm) ** (p - 1)`, and 0 where the norm is 0.
        ///
        /// Errors: if there is no such dim; for integers, and for an order without identity over no elements.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![3f32, -4.0].norm_p(1).item::<f64>()?, 7.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "norm")]
    }
    fn [norm_p try_norm_p norm_p_with try_norm_p_with] ([] input: &Tensor, p: impl Into<Scalar>)
    method [norm_p try_norm_p norm_p_with try_norm_p_with] ([] &self, p: impl Into<Scalar>) {let input = self;}
    -> Tensor = engine::reduce::norm::norm, (input.engine(), Some(as_scalar(p)), None, false, None)
    {[] o: DimKeepdimDtypeOptions => Tensor = (input.engine(), Some(as_scalar(p)), o.dim.as_ref().map(Dims::as_slice),
        o.keepdim, o.dtype)}
}

op! {
    {
        /// As `norm_p`, along `dim`.
    }
    fn [norm_p_dim try_norm_p_dim] ([] input: &Tensor, p: impl Into<Scalar>, dim: impl Into<Dims>)
    method [norm_p_dim try_norm_p_dim] ([] &self, p: impl Into<Scalar>, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::norm::norm, (input.engine(), Some(as_scalar(p)), Some(as_dims(dim).as_slice()), false,
        None)
    {}
}

op! {
    {
        /// The norm by name: `MatrixNorm::Fro`, the root of the sum of squares, or `MatrixNorm::Nuc`, the sum of the
        /// singular values of matrices.
        ///
        /// Args: `dim`, `keepdim`, `dtype` as above.
        ///
        /// Errors: for another name.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![3f32, -4.0].norm().item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [norm try_norm norm_with try_norm_with] ([] input: &Tensor)
    method [norm try_norm norm_with try_norm_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::norm::norm_named, (input.engine(), "fro", None, false, None)
    {[] o: NormOptions => Tensor = (input.engine(), o.p.name(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype)}
}

op! {
    {
        /// The norm of the difference of two tensors.
        ///
        /// Args: `other` with a shape that broadcasts against that of `input`; `p` the order of `linalg.vector_norm`.
        ///
        /// Returns: a 0-dim tensor.
        ///
        /// Derivative: as for `linalg.vector_norm`, for `other` its negative.
        ///
        /// Errors: for integers.
        ///
        /// ```
        /// use retrograd::{Tensor, tensor};
        ///
        /// assert_eq!(tensor![3f32, 4.0].dist(&Tensor::zeros([2])).item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [dist try_dist dist_with try_dist_with] ([] input: &Tensor, other: &Tensor)
    method [dist try_dist dist_with try_dist_with] ([] &self, other: &Tensor) {let input = self;}
    -> Tensor = engine::reduce::norm::dist, (input.engine(), other.engine(), Scalar::Int(2))
    {[] o: DistOptions => Tensor = (input.engine(), other.engine(), o.p)}
}

op! {
    {
        /// The sum of the elements that are not NaN.
        ///
        /// Args: `input` any real dtype; `dim` an integer or a list, `None` for all; `keepdim` keeps them with size 1;
        /// `dtype` to sum in (int64 for integers and bool).
        ///
        /// Returns: a tensor without (or with size 1 in) the summed dimensions.
        ///
        /// Derivative: `g`, expanded, and 0 for NaN.
        ///
        /// Errors: for a dimension out of range; if one is named twice.
    }
    fn [nansum try_nansum nansum_with try_nansum_with] ([] input: &Tensor)
    method [nansum try_nansum nansum_with try_nansum_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::nan::nansum, (input.engine(), None, false, None)
    {[] o: DimKeepdimDtypeOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype)}
}

op! {
    {
        /// As `nansum`, along `dim`.
    }
    fn [nansum_dim try_nansum_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [nansum_dim try_nansum_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::nan::nansum, (input.engine(), Some(as_dims(dim).as_slice()), false, None)
    {}
}

op! {
    {
        /// The mean of the elements that are not NaN.
        ///
        /// Args: `input` a floating dtype; `dim`, `keepdim`, `dtype` as for `nansum`.
        ///
        /// Returns: a tensor without (or with size 1 in) the dimensions; NaN where no element is a number.
        ///
        /// Derivative: `g / n` for every number.
        ///
        /// Errors: for integers.
    }
    fn [nanmean try_nanmean nanmean_with try_nanmean_with] ([] input: &Tensor)
    method [nanmean try_nanmean nanmean_with try_nanmean_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::nan::nanmean, (input.engine(), None, false, None)
    {[] o: DimKeepdimDtypeOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype)}
}

op! {
    {
        /// As `nanmean`, along `dim`.
    }
    fn [nanmean_dim try_nanmean_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [nanmean_dim try_nanmean_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::nan::nanmean, (input.engine(), Some(as_dims(dim).as_slice()), false, None)
    {}
}

op! {
    {
        /// The largest of the elements up to each one along a dimension, and its last index.
        ///
        /// Args: `input` any real dtype; `dim` the dimension. NaN wins over every number.
        ///
        /// Returns: `(values, indices)`, indices in int64.
        ///
        /// Derivative: `g` added up at the indices.
        ///
        /// Errors: for a dimension out of range.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1f32, 3.0, 2.0].cummax(0).values.to_vec::<f64>()?, [1.0, 3.0, 3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cummax try_cummax] ([] input: &Tensor, dim: i64)
    method [cummax try_cummax] ([] &self, dim: i64) {let input = self;}
    -> ValuesIndices = engine::reduce::cumulative::cummax, (input.engine(), dim)
    {}
}

op! {
    {
        /// The smallest of the elements up to each one along a dimension, and its last index; see `cummax`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![2f32, 1.0, 3.0].cummin(0).indices.to_vec::<i64>()?, [0, 1, 1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cummin try_cummin] ([] input: &Tensor, dim: i64)
    method [cummin try_cummin] ([] &self, dim: i64) {let input = self;}
    -> ValuesIndices = engine::reduce::cumulative::cummin, (input.engine(), dim)
    {}
}

op! {
    {
        /// The logarithm of the sums of exponentials of the elements up to each one, along a dimension.
        ///
        /// Args: `input` a floating or complex dtype; `dim` the dimension.
        ///
        /// Returns: the same shape.
        ///
        /// Derivative: `g * exp(input - result)`, summed from the other end.
        ///
        /// Errors: for a dimension out of range; for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![0f32, 0.0].logcumsumexp(0).exp().to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [logcumsumexp try_logcumsumexp] ([] input: &Tensor, dim: i64)
    method [logcumsumexp try_logcumsumexp] ([] &self, dim: i64) {let input = self;}
    -> Tensor = engine::reduce::cumulative::logcumsumexp, (input.engine(), dim)
    {}
}

op! {
    {
        /// The smallest and the largest element, of all or along a dimension.
        ///
        /// Args: `input` any real dtype; `dim` the dimension, `None` for all; `keepdim` keeps it with size 1. NaN wins
        /// over every number.
        ///
        /// Returns: `(min, max)`.
        ///
        /// Derivative: each `g`, split evenly among the elements equal to its result.
        ///
        /// Errors: for a dimension out of range or of size 0; for no elements; for complex dtypes.
    }
    fn [aminmax try_aminmax aminmax_with try_aminmax_with] ([] input: &Tensor)
    method [aminmax try_aminmax aminmax_with try_aminmax_with] ([] &self) {let input = self;}
    -> MinMax = engine::reduce::aminmax::aminmax, (input.engine(), None, false)
    {[] o: ArgmaxOptions => MinMax = (input.engine(), o.dim, o.keepdim)}
}

op! {
    {
        /// As `aminmax`, along `dim`.
    }
    fn [aminmax_dim try_aminmax_dim] ([] input: &Tensor, dim: i64)
    method [aminmax_dim try_aminmax_dim] ([] &self, dim: i64) {let input = self;}
    -> MinMax = engine::reduce::aminmax::aminmax, (input.engine(), Some(dim), false)
    {}
}

op! {
    {
        /// Each element less the one before it, along a dimension; `n` times over.
        ///
        /// Args: `input` any dtype; `n` how often; `dim` the dimension; `prepend`, `append` tensors put before and
        /// behind first, of the sizes of `input` but along `dim`.
        ///
        /// Returns: a tensor with `n` elements less along the dimension; for bool, whether neighbours differ.
        ///
        /// Derivative: the differences of `g` in turn.
        ///
        /// Errors: for a 0-dim tensor, a negative `n`, or sizes that are incompatible; for a dimension out of range.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1i64, 3, 2].diff().to_vec::<i64>()?, [2, -1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [diff try_diff diff_with try_diff_with] ([] input: &Tensor)
    method [diff try_diff diff_with try_diff_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::difference::diff, (input.engine(), 1, -1, None, None)
    {['o] o: DiffOptions<'o> => Tensor = (input.engine(), o.n, o.dim, o.prepend.map(Tensor::engine),
        o.append.map(Tensor::engine))}
}

op! {
    {
        /// The integral along a dimension of samples `y` taken at the places `x`, by the trapezoidal rule.
        ///
        /// Args: `y` samples, any dtype but bool; `x` the places of all, or a vector of the places along `dim`; `dim`
        /// the dimension.
        ///
        /// Returns: a tensor without the dimension.
        ///
        /// Derivative: that of the sum of `(x[i + 1] - x[i]) (y[i + 1] + y[i]) / 2`.
        ///
        /// Errors: for bool and where places and samples are incompatible; for a dimension out of range.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::trapezoid_at(&tensor![1f32, 5.0, 10.0], &tensor![0f32, 1.0, 3.0]).item::<f64>()?, 18.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "trapezoid")]
        #[doc(alias = "trapz")]
    }
    fn [trapezoid_at try_trapezoid_at trapezoid_at_with try_trapezoid_at_with] ([] y: &Tensor, x: &Tensor)
    -> Tensor = engine::reduce::difference::trapezoid, (y.engine(), x.engine(), -1)
    {[] o: TrapezoidAtOptions => Tensor = (y.engine(), x.engine(), o.dim)}
}

op! {
    {
        /// As `trapezoid_at`, along `dim`.
    }
    fn [trapezoid_at_dim try_trapezoid_at_dim] ([] y: &Tensor, x: &Tensor, dim: i64)
    -> Tensor = engine::reduce::difference::trapezoid, (y.engine(), x.engine(), dim)
    {}
}

op! {
    {
        /// As above, for samples at equal distances.
        ///
        /// Args: `dx` the distance, a number; the rest as above.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::trapezoid_with(&tensor![1f32, 5.0, 10.0], |o| o.dx(2)).item::<f64>()?, 21.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "trapz")]
    }
    fn [trapezoid try_trapezoid trapezoid_with try_trapezoid_with] ([] y: &Tensor)
    -> Tensor = engine::reduce::difference::trapezoid_even, (y.engine(), Scalar::Int(1), -1)
    {[] o: DxDimOptions => Tensor = (y.engine(), o.dx, o.dim)}
}

op! {
    {
        /// The integrals up to each sample but the first, along a dimension, by the trapezoidal rule.
        ///
        /// Args: `y` samples; `x` the places of all, or a vector of the places along `dim`; `dim` the dimension.
        ///
        /// Returns: a tensor with one element less along the dimension.
        ///
        /// Derivative: that of the running sum of `(x[i + 1] - x[i]) (y[i + 1] + y[i]) / 2`.
        ///
        /// Errors: for bool and where places and samples are incompatible; for a dimension out of range.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::cumulative_trapezoid_at(&tensor![1f32, 5.0, 10.0], &tensor![0f32, 1.0, 3.0]);
        /// assert_eq!(y.to_vec::<f64>()?, [3.0, 18.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "cumulative_trapezoid")]
    }
    fn [cumulative_trapezoid_at try_cumulative_trapezoid_at cumulative_trapezoid_at_with
        try_cumulative_trapezoid_at_with] ([] y: &Tensor,
        x: &Tensor)
    -> Tensor = engine::reduce::difference::cumulative_trapezoid, (y.engine(), x.engine(), -1)
    {[] o: TrapezoidAtOptions => Tensor = (y.engine(), x.engine(), o.dim)}
}

op! {
    {
        /// As `cumulative_trapezoid_at`, along `dim`.
    }
    fn [cumulative_trapezoid_at_dim try_cumulative_trapezoid_at_dim] ([] y: &Tensor, x: &Tensor, dim: i64)
    -> Tensor = engine::reduce::difference::cumulative_trapezoid, (y.engine(), x.engine(), dim)
    {}
}

op! {
    {
        /// As above, for samples at equal distances.
        ///
        /// Args: `dx` the distance, a number; the rest as above.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::cumulative_trapezoid_with(&tensor![1f32, 5.0, 10.0], |o| o.dx(2));
        /// assert_eq!(y.to_vec::<f64>()?, [6.0, 21.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cumulative_trapezoid try_cumulative_trapezoid cumulative_trapezoid_with try_cumulative_trapezoid_with] ([] y:
        &Tensor)
    -> Tensor = engine::reduce::difference::cumulative_trapezoid_even, (y.engine(), Scalar::Int(1), -1)
    {[] o: DxDimOptions => Tensor = (y.engine(), o.dx, o.dim)}
}

op! {
    {
        /// The derivatives of a function by the axes of a grid, from its samples there: differences of the neighbours
        /// on both sides, and at both ends of an axis one-sided ones.
        ///
        /// Args: `input` samples, any dtype but bool and uint8, with `edge_order + 1` or more along each axis;
        /// `spacing` the distance of neighbours, `None` for 1; `dim` an axis or several, `None` for all; `edge_order` 1
        /// takes the difference of two samples at the ends, 2 the slope of the parabola through three.
        ///
        /// Returns: a tuple with a tensor of the shape of `input` for each axis; integers are divided as floats.
        ///
        /// Derivative: that of the differences.
        ///
        /// Errors: for an axis out of range; for too few samples, an axis named twice, or another `edge_order`.
    }
    fn [gradient try_gradient gradient_with try_gradient_with] ([] input: &Tensor)
    -> Vec<Tensor> = engine::reduce::gradient::gradient, (input.engine(), None, None, 1)
    {[] o: GradientOptions => Vec<Tensor> = (input.engine(), o.spacing, o.dim.as_ref().map(Dims::as_slice),
        o.edge_order)}
}

op! {
    {
        /// As above, with a distance for each axis.
        ///
        /// Args: `spacing` a list of numbers, one for each axis of `dim`; the rest as above.
        ///
        /// Errors: for a list of another length.
        #[doc(alias = "gradient")]
    }
    fn [gradient_steps try_gradient_steps gradient_steps_with try_gradient_steps_with] ([] input: &Tensor,
        spacing: impl Into<Floats>)
    -> Vec<Tensor> = engine::reduce::gradient::gradient_steps, (input.engine(), spacing.into().as_slice(), None, 1)
    {[] o: DimEdgeOrderOptions => Vec<Tensor> = (input.engine(), spacing.into().as_slice(),
        o.dim.as_ref().map(Dims::as_slice), o.edge_order)}
}

op! {
    {
        /// As `gradient_steps`, along `dim`.
    }
    fn [gradient_steps_dim try_gradient_steps_dim] ([] input: &Tensor, spacing: impl Into<Floats>, dim: impl Into<Dims>)
    -> Vec<Tensor> = engine::reduce::gradient::gradient_steps, (input.engine(), spacing.into().as_slice(),
        Some(as_dims(dim).as_slice()), 1)
    {}
}

op! {
    {
        /// As above, for samples at any places.
        ///
        /// Args: `spacing` a vector of the places for each axis of `dim`; the rest as above.
        ///
        /// Derivative: for the places, too.
        ///
        /// Errors: for places that are no vectors, or of another number than the samples.
        #[doc(alias = "gradient")]
    }
    fn [gradient_at try_gradient_at gradient_at_with try_gradient_at_with] (['a] input: &Tensor,
        spacing: impl Into<Tensors<'a>>)
    -> Vec<Tensor> = engine::reduce::gradient::gradient_places, (input.engine(), spacing.into().engine(), None, 1)
    {[] o: DimEdgeOrderOptions => Vec<Tensor> = (input.engine(), spacing.into().engine(),
        o.dim.as_ref().map(Dims::as_slice), o.edge_order)}
}

op! {
    {
        /// As `gradient_at`, along `dim`.
    }
    fn [gradient_at_dim try_gradient_at_dim] (['a] input: &Tensor, spacing: impl Into<Tensors<'a>>,
        dim: impl Into<Dims>)
    -> Vec<Tensor> = engine::reduce::gradient::gradient_places, (input.engine(), spacing.into().engine(),
        Some(as_dims(dim).as_slice()), 1)
    {}
}

op! {
    {
        /// The root of the sum of squared magnitudes over one dimension or two.
        ///
        /// Args: `input` a floating or complex dtype; `dim` an integer or a list, an empty one for all; `keepdim` keeps
        /// them with size 1.
        ///
        /// Returns: a real tensor without (or with size 1 in) the dimensions.
        ///
        /// Derivative: `g * input / result`, and 0 where the norm is 0.
        ///
        /// Errors: for a dimension out of range; for integers or more dimensions.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::frobenius_norm(&tensor![[3f32, 4.0]], [0, 1]).item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [frobenius_norm try_frobenius_norm frobenius_norm_with try_frobenius_norm_with] ([] input: &Tensor,
        dim: impl Into<Dims>)
    -> Tensor = engine::reduce::norm::frobenius_norm, (input.engine(), as_dims(dim).as_slice(), false)
    {[] o: KeepdimOptions => Tensor = (input.engine(), as_dims(dim).as_slice(), o.keepdim)}
}

op! {
    {
        /// The norms of the slices along a dimension, over all the others: what weights are divided by in weight
        /// normalization.
        ///
        /// Args: `v` a floating or complex dtype; `pow` the order of the norm; `dim` the dimension whose indices name
        /// the slices, -1 for the norm of all elements.
        ///
        /// Returns: a tensor with size 1 in the other dimensions, 0-dim for -1.
        ///
        /// Derivative: as for `norm`.
        ///
        /// Errors: for a dimension out of range; for integers.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::norm_except_dim(&tensor![[3f32, 4.0], [0.0, 2.0]]).to_vec::<f64>()?, [5.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [norm_except_dim try_norm_except_dim norm_except_dim_with try_norm_except_dim_with] ([] v: &Tensor)
    -> Tensor = engine::reduce::norm::norm_except_dim, (v.engine(), 2, 0)
    {[] o: NormExceptDimOptions => Tensor = (v.engine(), o.pow, o.dim)}
}

op! {
    {
        /// `input` with the slices along a dimension whose norm is larger than `maxnorm` scaled down to that norm.
        ///
        /// Args: `input` a floating or complex dtype with 2 or more dims; `p` the order of the norm, positive; `dim`
        /// the dimension whose indices name the slices; `maxnorm` not negative.
        ///
        /// Returns: the same shape.
        ///
        /// Derivative: `g` for a slice that stays; else, with `s = maxnorm / norm`, `s * (g - n' * sum(g * input) /
        /// norm)` where `n'` is the derivative of the norm.
        ///
        /// Errors: for a dimension out of range; for fewer dims, integers, or numbers out of range.
    }
    fn [renorm try_renorm] ([] input: &Tensor, p: impl Into<Scalar>, dim: i64, maxnorm: impl Into<Scalar>)
    method [renorm try_renorm] ([] &self, p: impl Into<Scalar>, dim: i64,
        maxnorm: impl Into<Scalar>) {let input = self;}
    in_place {
        /// The in-place form of `renorm`: writes to the tensor, and returns it.
    } [renorm_ try_renorm_] ([] &self, p: impl Into<Scalar>, dim: i64,
        maxnorm: impl Into<Scalar>) {let input = self;} {engine::reduce::renorm::renorm_as}
    -> Tensor = engine::reduce::renorm::renorm, (input.engine(), as_scalar(p), dim, as_scalar(maxnorm))
    {}
}

op! {
    {
        /// A hash of elements, over dimensions: the exclusive or of the bits that they have as float64, integers as
        /// int64.
        ///
        /// Equal tensors have equal hashes, on any number of threads and in any order of the elements.
        ///
        /// Args: `input` any real dtype; `dim` an integer or a list, an empty one for all; `keepdim` keeps them with
        /// size 1; `mode` 0, the only one that there is.
        ///
        /// Returns: uint64, without (or with size 1 in) the dimensions. No derivative.
        ///
        /// Errors: for a dimension out of range or of size 0; for another `mode`, or no elements and no dimension.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1i64, 2, 4].hash_tensor().item::<i64>()?, 7);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [hash_tensor try_hash_tensor hash_tensor_with try_hash_tensor_with] ([] input: &Tensor)
    method [hash_tensor try_hash_tensor hash_tensor_with try_hash_tensor_with] ([] &self) {let input = self;}
    -> Tensor = engine::reduce::hash::hash_tensor, (input.engine(), Some(&[]), false, 0)
    {[] o: HashTensorOptions => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.mode)}
}

op! {
    {
        /// As `hash_tensor`, along `dim`.
    }
    fn [hash_tensor_dim try_hash_tensor_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    method [hash_tensor_dim try_hash_tensor_dim] ([] &self, dim: impl Into<Dims>) {let input = self;}
    -> Tensor = engine::reduce::hash::hash_tensor, (input.engine(), Some(as_dims(dim).as_slice()), false, 0)
    {}
}
