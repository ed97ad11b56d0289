//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{as_dims, as_scalar};
use crate::shape::Dims;
use crate::{Scalar, Tensor};

op! {
    {
        /// The sum of the elements in the mask, over dimensions.
        ///
        /// Args: `input` any dtype; `dim` an integer or a list, `None` for all; `keepdim` keeps them with size 1;
        /// `dtype` converts first (int64 for integers and bool); `mask` says which elements count, `None` for all: a
        /// bool tensor that broadcasts to `input` and has no more dims.
        ///
        /// Returns: a tensor without (or with size 1 in) the dimensions; 0 where nothing counts.
        ///
        /// Derivative: `g` inside the mask, 0 outside.
        ///
        /// Errors: for a dimension out of range or a mask with more dims; for a mask that does not broadcast, or a
        /// dimension named twice.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// assert_eq!(ops::masked::sum_with(&tensor![1f32, 2.0, 4.0], |o| o.mask(&mask)).item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [sum try_sum sum_with try_sum_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_sum, (input.engine(), None, Some(false), None, None)
    {['o] o: SumOptions<'o> => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype,
        o.mask.map(Tensor::engine))}
}

op! {
    {
        /// As `sum`, along `dim`.
    }
    fn [sum_dim try_sum_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> Tensor = engine::reduce::masked::masked_sum, (input.engine(), Some(as_dims(dim).as_slice()), Some(false), None,
        None)
    {}
}

op! {
    {
        /// The product of the elements in the mask, over dimensions.
        ///
        /// Args, Errors: as `masked.sum`.
        ///
        /// Returns: 1 where nothing counts.
        ///
        /// Derivative: inside the mask `g` times the product of the others, 0 outside.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// assert_eq!(ops::masked::prod_with(&tensor![1f32, 2.0, 4.0], |o| o.mask(&mask)).item::<f64>()?, 4.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [prod try_prod prod_with try_prod_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_prod, (input.engine(), None, Some(false), None, None)
    {['o] o: SumOptions<'o> => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype,
        o.mask.map(Tensor::engine))}
}

op! {
    {
        /// The sums up to each element of those in the mask, along a dimension.
        ///
        /// Args: `input`, `mask` as `masked.sum`; `dim` the dimension; `dtype` converts first.
        ///
        /// Returns: the same shape and, unless `dtype` is given, the same dtype; outside the mask the sum so far.
        ///
        /// Derivative: the sum of `g` from each element on, inside the mask.
        ///
        /// Errors: as `masked.sum`; for bool.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// let y = ops::masked::cumsum_with(&tensor![1f32, 2.0, 4.0], 0, |o| o.mask(&mask));
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 1.0, 5.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cumsum try_cumsum cumsum_with try_cumsum_with] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::reduce::masked::masked_cumsum, (input.engine(), dim, None, None)
    {['o] o: DtypeMaskOptions<'o> => Tensor = (input.engine(), dim, o.dtype, o.mask.map(Tensor::engine))}
}

op! {
    {
        /// The products up to each element of those in the mask, along a dimension.
        ///
        /// Args, Errors: as `masked.cumsum`.
        ///
        /// Returns: the same shape; outside the mask the product so far.
        ///
        /// Derivative: that of `cumprod`, inside the mask.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// let y = ops::masked::cumprod_with(&tensor![3f32, 2.0, 4.0], 0, |o| o.mask(&mask));
        /// assert_eq!(y.to_vec::<f64>()?, [3.0, 3.0, 12.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [cumprod try_cumprod cumprod_with try_cumprod_with] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::reduce::masked::masked_cumprod, (input.engine(), dim, None, None)
    {['o] o: DtypeMaskOptions<'o> => Tensor = (input.engine(), dim, o.dtype, o.mask.map(Tensor::engine))}
}

op! {
    {
        /// The largest of the elements in the mask, over dimensions.
        ///
        /// Args: as `masked.sum`; `dtype` converts the result.
        ///
        /// Returns: minus infinity, of integers the smallest, where nothing counts.
        ///
        /// Derivative: `g`, split evenly among equal elements.
        ///
        /// Errors: as `masked.sum`; for a mask on bool or complex numbers.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// assert_eq!(ops::masked::amax_with(&tensor![1f32, 9.0, 4.0], |o| o.mask(&mask)).item::<f64>()?, 4.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [amax try_amax amax_with try_amax_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_amax, (input.engine(), None, Some(false), None, None)
    {['o] o: SumOptions<'o> => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype,
        o.mask.map(Tensor::engine))}
}

op! {
    {
        /// As `amax`, along `dim`.
    }
    fn [amax_dim try_amax_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> Tensor = engine::reduce::masked::masked_amax, (input.engine(), Some(as_dims(dim).as_slice()), Some(false), None,
        None)
    {}
}

op! {
    {
        /// The smallest of the elements in the mask, over dimensions.
        ///
        /// Args, Derivative, Errors: as `masked.amax`.
        ///
        /// Returns: infinity, of integers the largest, where nothing counts.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// assert_eq!(ops::masked::amin_with(&tensor![2f32, 0.0, 4.0], |o| o.mask(&mask)).item::<f64>()?, 2.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [amin try_amin amin_with try_amin_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_amin, (input.engine(), None, Some(false), None, None)
    {['o] o: SumOptions<'o> => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype,
        o.mask.map(Tensor::engine))}
}

op! {
    {
        /// As `amin`, along `dim`.
    }
    fn [amin_dim try_amin_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> Tensor = engine::reduce::masked::masked_amin, (input.engine(), Some(as_dims(dim).as_slice()), Some(false), None,
        None)
    {}
}

op! {
    {
        /// The first index of the largest element in the mask: of all (as if flattened) or along a dimension.
        ///
        /// Args: `input` any real dtype but bool; `dim` the dimension, `None` for all; `keepdim` keeps reduced
        /// dimensions with size 1; `dtype` of the result, by default that of `input`, as in torch; `mask` as
        /// `masked.sum`. No derivative.
        ///
        /// Errors: as `argmax` and `masked.sum`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// assert_eq!(ops::masked::argmax_with(&tensor![1i64, 9, 4], |o| o.mask(&mask)).item::<i64>()?, 2);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [argmax try_argmax argmax_with try_argmax_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_argmax, (input.engine(), None, Some(false), None, None)
    {['o] o: MaskedArgmaxOptions<'o> => Tensor = (input.engine(), o.dim, o.keepdim, o.dtype,
        o.mask.map(Tensor::engine))}
}

op! {
    {
        /// As `argmax`, along `dim`.
    }
    fn [argmax_dim try_argmax_dim] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::reduce::masked::masked_argmax, (input.engine(), Some(dim), Some(false), None, None)
    {}
}

op! {
    {
        /// The first index of the smallest element in the mask: of all (as if flattened) or along a dimension.
        ///
        /// Args, Errors: as `masked.argmax`. No derivative.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// assert_eq!(ops::masked::argmin_with(&tensor![5i64, 0, 4], |o| o.mask(&mask)).item::<i64>()?, 2);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [argmin try_argmin argmin_with try_argmin_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_argmin, (input.engine(), None, Some(false), None, None)
    {['o] o: MaskedArgmaxOptions<'o> => Tensor = (input.engine(), o.dim, o.keepdim, o.dtype,
        o.mask.map(Tensor::engine))}
}

op! {
    {
        /// As `argmin`, along `dim`.
    }
    fn [argmin_dim try_argmin_dim] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::reduce::masked::masked_argmin, (input.engine(), Some(dim), Some(false), None, None)
    {}
}

op! {
    {
        /// The mean of the elements in the mask, over dimensions.
        ///
        /// Args: as `masked.sum`, of a floating or complex dtype.
        ///
        /// Returns: NaN where nothing counts.
        ///
        /// Derivative: inside the mask `g` over the number of elements that count.
        ///
        /// Errors: as `masked.sum`; for integers.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// assert_eq!(ops::masked::mean_with(&tensor![1f32, 9.0, 4.0], |o| o.mask(&mask)).item::<f64>()?, 2.5);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [mean try_mean mean_with try_mean_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_mean, (input.engine(), None, Some(false), None, None)
    {['o] o: SumOptions<'o> => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype,
        o.mask.map(Tensor::engine))}
}

op! {
    {
        /// As `mean`, along `dim`.
    }
    fn [mean_dim try_mean_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> Tensor = engine::reduce::masked::masked_mean, (input.engine(), Some(as_dims(dim).as_slice()), Some(false), None,
        None)
    {}
}

op! {
    {
        /// The median of the elements in the mask, along a dimension: the one in the middle of their order, the lower
        /// of two.
        ///
        /// Args: `input` any real dtype; `dim` the dimension; `keepdim`, `mask` as `masked.sum`; `dtype` of the result
        /// of integers. NaN counts no more than what is outside the mask.
        ///
        /// Returns: NaN where nothing counts.
        ///
        /// Derivative: `g` for the element that was chosen.
        ///
        /// Errors: as `masked.sum`; for integers where nothing counts.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// assert_eq!(ops::masked::median_with(&tensor![1f32, 9.0, 4.0], |o| o.mask(&mask)).item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [median try_median median_with try_median_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_median, (input.engine(), -1, false, None, None)
    {['o] o: MedianOptions<'o> => Tensor = (input.engine(), o.dim, o.keepdim, o.dtype, o.mask.map(Tensor::engine))}
}

op! {
    {
        /// The norm of the elements in the mask, over dimensions.
        ///
        /// Args: `input` a floating or complex dtype; `ord` the order of `linalg.vector_norm`; the rest as
        /// `masked.sum`.
        ///
        /// Returns: 0, for the order minus infinity infinity, where nothing counts.
        ///
        /// Derivative: that of the norm, inside the mask.
        ///
        /// Errors: as `masked.sum`; for integers.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// assert_eq!(ops::masked::norm_with(&tensor![3f32, 9.0, 4.0], |o| o.mask(&mask)).item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [norm try_norm norm_with try_norm_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_norm, (input.engine(), Scalar::Float(2.0), None, Some(false), None, None)
    {['o] o: MaskedNormOptions<'o> => Tensor = (input.engine(), o.ord, o.dim.as_ref().map(Dims::as_slice), o.keepdim,
        o.dtype, o.mask.map(Tensor::engine))}
}

op! {
    {
        /// The variance of the elements in the mask, over dimensions.
        ///
        /// Args: `input` any dtype but bool; `unbiased` false divides by the number of elements that count, else by one
        /// less; `correction` instead of it what is taken off that number; the rest as `masked.sum`.
        ///
        /// Returns: NaN where nothing counts; of complex numbers the mean of `abs(input - mean) ** 2`, as a complex
        /// number.
        ///
        /// Derivative: that of the sums that it is composed of.
        ///
        /// Errors: as `masked.sum`; for bool; for both of `unbiased` and `correction`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// let y = ops::masked::var_with(&tensor![1f32, 9.0, 4.0], |o| o.unbiased(false).mask(&mask));
        /// assert_eq!(y.item::<f64>()?, 2.25);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [var try_var var_with try_var_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_var, (input.engine(), None, None, None, Some(false), None, None)
    {['o] o: VarOptions<'o> => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.unbiased, o.correction,
        o.keepdim, o.dtype, o.mask.map(Tensor::engine))}
}

op! {
    {
        /// As `var`, along `dim`.
    }
    fn [var_dim try_var_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> Tensor = engine::reduce::masked::masked_var, (input.engine(), Some(as_dims(dim).as_slice()), None, None,
        Some(false), None, None)
    {}
}

op! {
    {
        /// The standard deviation of the elements in the mask, over dimensions: the root of `masked.var`.
        ///
        /// Args, Errors: as `masked.var`.
        ///
        /// Returns: NaN where nothing counts.
        ///
        /// Derivative: `g / (2 * result)` through the variance.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// let y = ops::masked::std_with(&tensor![1f32, 9.0, 4.0], |o| o.unbiased(false).mask(&mask));
        /// assert_eq!(y.item::<f64>()?, 1.5);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [std try_std std_with try_std_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_std, (input.engine(), None, None, None, Some(false), None, None)
    {['o] o: VarOptions<'o> => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.unbiased, o.correction,
        o.keepdim, o.dtype, o.mask.map(Tensor::engine))}
}

op! {
    {
        /// As `std`, along `dim`.
    }
    fn [std_dim try_std_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> Tensor = engine::reduce::masked::masked_std, (input.engine(), Some(as_dims(dim).as_slice()), None, None,
        Some(false), None, None)
    {}
}

op! {
    {
        /// Exponentials of the elements in the mask along a dimension, scaled to sum to one.
        ///
        /// Args: `input` a floating dtype; `dim` the dimension; `dtype` converts first; `mask` as `masked.sum`.
        ///
        /// Returns: the same shape; 0 outside the mask, NaN where nothing counts.
        ///
        /// Derivative: `result * (g - sum(g * result))`.
        ///
        /// Errors: as `softmax` and `masked.sum`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// let y = ops::masked::softmax_with(&tensor![1f32, 9.0, 1.0], 0, |o| o.mask(&mask));
        /// assert_eq!(y.to_vec::<f64>()?, [0.5, 0.0, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [softmax try_softmax softmax_with try_softmax_with] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::reduce::masked::masked_softmax, (input.engine(), dim, None, None)
    {['o] o: DtypeMaskOptions<'o> => Tensor = (input.engine(), dim, o.dtype, o.mask.map(Tensor::engine))}
}

op! {
    {
        /// The logarithm of `masked.softmax`, computed without it.
        ///
        /// Args, Errors: as `masked.softmax`.
        ///
        /// Returns: minus infinity outside the mask, NaN where nothing counts.
        ///
        /// Derivative: `g - exp(result) * sum(g)`.
    }
    fn [log_softmax try_log_softmax log_softmax_with try_log_softmax_with] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::reduce::masked::masked_log_softmax, (input.engine(), dim, None, None)
    {['o] o: DtypeMaskOptions<'o> => Tensor = (input.engine(), dim, o.dtype, o.mask.map(Tensor::engine))}
}

op! {
    {
        /// The softmax of the negated elements in the mask.
        ///
        /// Args, Returns, Errors: as `masked.softmax`.
        ///
        /// Derivative: that of `softmax`, negated.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// let y = ops::masked::softmin_with(&tensor![1f32, -9.0, 1.0], 0, |o| o.mask(&mask));
        /// assert_eq!(y.to_vec::<f64>()?, [0.5, 0.0, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [softmin try_softmin softmin_with try_softmin_with] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::reduce::masked::masked_softmin, (input.engine(), dim, None, None)
    {['o] o: DtypeMaskOptions<'o> => Tensor = (input.engine(), dim, o.dtype, o.mask.map(Tensor::engine))}
}

op! {
    {
        /// The elements in the mask over their norm, along a dimension.
        ///
        /// Args: `input` a floating or complex dtype; `ord` the order of `linalg.vector_norm`; `dim` the dimension;
        /// `eps` the least that is divided by; `dtype` the norm is computed in; `mask` as `masked.sum`.
        ///
        /// Returns: the same shape; 0 outside the mask.
        ///
        /// Derivative: that of the quotient.
        ///
        /// Errors: as `masked.norm`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false, true];
        /// let y = ops::masked::normalize_with(&tensor![4f32, 9.0, -4.0], 1, 0, |o| o.mask(&mask));
        /// assert_eq!(y.to_vec::<f64>()?, [0.5, 0.0, -0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [normalize try_normalize normalize_with try_normalize_with] ([] input: &Tensor, ord: impl Into<Scalar>, dim: i64)
    -> Tensor = engine::reduce::masked::masked_normalize, (input.engine(), as_scalar(ord), dim, 1e-12, None, None)
    {['o] o: NormalizeOptions<'o> => Tensor = (input.engine(), as_scalar(ord), dim, o.eps, o.dtype,
        o.mask.map(Tensor::engine))}
}

op! {
    {
        /// The logarithm of the sum of exponentials of two tensors, of the elements in their masks.
        ///
        /// Args: `input`, `other` floating dtypes whose shapes broadcast; `dtype` of the result, by default that of
        /// `input`; `input_mask`, `other_mask` say which elements count, `None` for all.
        ///
        /// Returns: the broadcast shape; the other element where one is outside its mask, minus infinity where both
        /// are.
        ///
        /// Derivative: `g * exp(input - result)`, and likewise for `other`.
        ///
        /// Errors: as `logaddexp` and `masked.sum`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let input_mask = tensor![false];
        /// let y = ops::masked::logaddexp_with(&tensor![0f32], &tensor![3f32], |o| o.input_mask(&input_mask));
        /// assert_eq!(y.to_vec::<f64>()?, [3.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [logaddexp try_logaddexp logaddexp_with try_logaddexp_with] ([] input: &Tensor, other: &Tensor)
    -> Tensor = engine::reduce::masked::masked_logaddexp, (input.engine(), other.engine(), None, None, None)
    {['o] o: LogaddexpOptions<'o> => Tensor = (input.engine(), other.engine(), o.dtype,
        o.input_mask.map(Tensor::engine), o.other_mask.map(Tensor::engine))}
}

op! {
    {
        /// The logarithm of the sum of exponentials of the elements in the mask, over dimensions.
        ///
        /// Args: `input` any dtype but bool; `dtype` of the result, by default that of `input`; the rest as
        /// `masked.sum`.
        ///
        /// Returns: minus infinity where nothing counts.
        ///
        /// Derivative: `g * exp(input - result)`, 0 outside the mask.
        ///
        /// Errors: as `masked.sum`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let mask = tensor![true, false];
        /// assert_eq!(ops::masked::logsumexp_with(&tensor![2f32, 9.0], |o| o.mask(&mask)).item::<f64>()?, 2.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [logsumexp try_logsumexp logsumexp_with try_logsumexp_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::masked::masked_logsumexp, (input.engine(), None, false, None, None)
    {['o] o: LogsumexpOptions<'o> => Tensor = (input.engine(), o.dim.as_ref().map(Dims::as_slice), o.keepdim, o.dtype,
        o.mask.map(Tensor::engine))}
}

op! {
    {
        /// As `logsumexp`, along `dim`.
    }
    fn [logsumexp_dim try_logsumexp_dim] ([] input: &Tensor, dim: impl Into<Dims>)
    -> Tensor = engine::reduce::masked::masked_logsumexp, (input.engine(), Some(as_dims(dim).as_slice()), false, None,
        None)
    {}
}
