//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::operand::Operand;
use crate::ops::options::*;
use crate::ops::{Floats, Histogram, HistogramDd, Side, Tensors, as_count, as_operand, as_shape};
use crate::shape::Shape;
use crate::{Scalar, Tensor};

op! {
    {
        /// The distinct elements, in rising order; or the distinct slices along a dimension, in lexicographic order.
        ///
        /// NaN is equal to nothing, itself included, and comes last.
        ///
        /// Args: `input` any real dtype; `sorted` is accepted for compatibility with torch, the result comes in order
        /// either way; `return_inverse` adds where in the result each element stands; `return_counts` adds how often
        /// each occurs; `dim` compares the slices along a dimension.
        ///
        /// Returns: a tensor, or a list of it and what was asked for, in int64.
        ///
        /// Derivative: refused when it is asked for, as in torch.
        ///
        /// Errors: for a dimension out of range; for slices without elements; for complex dtypes.
    }
    fn [unique try_unique unique_with try_unique_with] ([] input: &Tensor)
    method [unique try_unique unique_with try_unique_with] ([] &self) {let input = self;}
    -> Tensor = engine::sets::unique::unique, (input.engine(), true, false, false, None)
    {[] o: UniqueOptions => Vec<Tensor> = (input.engine(), o.sorted, o.return_inverse, o.return_counts, o.dim)}
}

op! {
    {
        /// The elements without those that equal the one before them; or the slices along a dimension.
        ///
        /// Args: `return_inverse` adds where in the result each element stands; `return_counts` adds the lengths of the
        /// runs of equal elements; `dim` compares the slices along a dimension.
        ///
        /// Returns: a tensor, or a list of it and what was asked for, in int64.
        ///
        /// Derivative: refused when it is asked for, as in torch.
        ///
        /// Errors: as `unique`.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1i64, 1, 2, 2, 1].unique_consecutive().to_vec::<i64>()?, [1, 2, 1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [unique_consecutive try_unique_consecutive unique_consecutive_with try_unique_consecutive_with] ([] input:
        &Tensor)
    method [unique_consecutive try_unique_consecutive unique_consecutive_with try_unique_consecutive_with] ([] &self)
        {let input = self;}
    -> Tensor = engine::sets::unique::unique_consecutive, (input.engine(), false, false, None)
    {[] o: UniqueConsecutiveOptions => Vec<Tensor> = (input.engine(), o.return_inverse, o.return_counts, o.dim)}
}

op! {
    {
        /// How often each of the numbers 0, 1, 2, ... occurs; or the sum of the weights of its occurrences.
        ///
        /// Args: `input` a vector of integers, none negative; `weights` a vector of the same length; `minlength` the
        /// least length of the result.
        ///
        /// Returns: a vector as long as the largest number and one more: int64 without weights (or numbers), float32
        /// with weights of float32, else float64.
        ///
        /// Derivative: not implemented, as in torch.
        ///
        /// Errors: for negative numbers, other shapes, a negative `minlength`; for floats and bool.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// assert_eq!(tensor![1i64, 3, 1].bincount().to_vec::<i64>()?, [0, 2, 0, 1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bincount try_bincount bincount_with try_bincount_with] ([] input: &Tensor)
    method [bincount try_bincount bincount_with try_bincount_with] ([] &self) {let input = self;}
    -> Tensor = engine::sets::count::bincount, (input.engine(), None, 0)
    {['o] o: BincountOptions<'o> => Tensor = (input.engine(), o.weights.map(Tensor::engine), o.minlength)}
}

op! {
    {
        /// The indices along each axis of the places that numbers have in a tensor, counted row by row.
        ///
        /// Args: `indices` a tensor of integers; `shape` the sizes of the tensor.
        ///
        /// Returns: a list of tensors like `indices`, in int64, one per axis.
        ///
        /// Errors: if `indices` has no integers; for a negative size.
    }
    fn [unravel_index try_unravel_index] ([] indices: &Tensor, shape: impl Into<Shape>)
    -> Vec<Tensor> = engine::sets::count::unravel_index, (indices.engine(), as_shape(shape).as_slice())
    {}
}

op! {
    {
        /// Where in a sorted sequence each value would be put, so that the sequence stays sorted.
        ///
        /// Args: `sorted_sequence` a vector, or rows along the last axis that rise; `input` values, for rows with the
        /// same leading sizes, or a number for a vector; `out_int32` for int32 results; `right` puts a value behind
        /// those equal to it, as does `side(Side::Right)`; `sorter` the indices that sort the sequence, if it is not
        /// sorted. NaN comes last.
        ///
        /// Returns: int64, of the shape of `input`. No derivative.
        ///
        /// Errors: if shapes are incompatible, for another `side` or one that contradicts `right`, or indices out of
        /// range; for bool and complex dtypes.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::searchsorted(&tensor![1i64, 3, 5], &tensor![3i64, 6, 0]).to_vec::<i64>()?, [1, 3, 0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [searchsorted try_searchsorted searchsorted_with try_searchsorted_with] (['a] sorted_sequence: &Tensor,
        input: impl Into<Operand<'a>>)
    -> Tensor = engine::sets::search::searchsorted, (sorted_sequence.engine(), &as_operand(input), false, false, None,
        None)
    {['o] o: SearchsortedOptions<'o> => Tensor = (sorted_sequence.engine(), &as_operand(input), o.out_int32, o.right,
        o.side.map(Side::name), o.sorter.map(Tensor::engine))}
}

op! {
    {
        /// Which of the boundaries each value is between: the index of the boundary after it.
        ///
        /// Args: `input` values, or a number; `boundaries` a vector that rises; `out_int32` for int32 results; `right`
        /// puts a value equal to a boundary behind it. NaN comes last.
        ///
        /// Returns: int64, of the shape of `input`. No derivative.
        ///
        /// Errors: if `boundaries` is no vector; for bool and complex dtypes.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::bucketize(&tensor![3i64, 6, 0], &tensor![1i64, 3, 5]).to_vec::<i64>()?, [1, 3, 0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [bucketize try_bucketize bucketize_with try_bucketize_with] (['a] input: impl Into<Operand<'a>>,
        boundaries: &Tensor)
    -> Tensor = engine::sets::search::bucketize, (&as_operand(input), boundaries.engine(), false, false)
    {[] o: BucketizeOptions => Tensor = (&as_operand(input), boundaries.engine(), o.out_int32, o.right)}
}

op! {
    {
        /// How many elements are in each bin, of bins of equal width; those outside are not counted.
        ///
        /// Args: `input` a floating dtype; `bins` how many; `min`, `max` the outer edges, by default (and if equal) the
        /// smallest and largest element.
        ///
        /// Returns: a vector of `bins` counts in the dtype of `input`. No derivative.
        ///
        /// Errors: if `bins` is not positive, or the edges are not finite or reversed; for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![1f32, 2.0, 1.0].histc_with(|o| o.bins(4).min(0).max(3));
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 2.0, 1.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [histc try_histc histc_with try_histc_with] ([] input: &Tensor)
    method [histc try_histc histc_with try_histc_with] ([] &self) {let input = self;}
    -> Tensor = engine::sets::histogram::histc, (input.engine(), 100, Scalar::Int(0), Scalar::Int(0))
    {[] o: HistcOptions => Tensor = (input.engine(), o.bins, o.min, o.max)}
}

op! {
    {
        /// How many elements are in each bin, of bins with given edges; and these edges.
        ///
        /// A bin takes the elements from its lower edge to below its upper one; the last bin takes both.
        ///
        /// Args: `input` float32 or float64; `bins` the edges, a vector that rises, of the same dtype; `weight` what
        /// each element counts, of the shape of `input`; `density` divides the counts by their sum and by the widths of
        /// the bins.
        ///
        /// Returns: `(hist, bin_edges)`.
        ///
        /// Derivative: not implemented, as in torch.
        ///
        /// Errors: if shapes or dtypes are incompatible, or there is no bin; for integers.
        ///
        /// ```
        /// use retrograd::tensor;
        ///
        /// let y = tensor![1f32, 2.0, 4.0].histogram_edges(&tensor![0f32, 2.0, 4.0]).hist;
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        #[doc(alias = "histogram")]
    }
    fn [histogram_edges try_histogram_edges histogram_edges_with try_histogram_edges_with] ([] input: &Tensor,
        bins: &Tensor)
    method [histogram_edges try_histogram_edges histogram_edges_with try_histogram_edges_with] ([] &self,
        bins: &Tensor) {let input = self;}
    -> Histogram = engine::sets::histogram::histogram_edges, (input.engine(), bins.engine(), None, false)
    {['o] o: HistogramEdgesOptions<'o> => Histogram = (input.engine(), bins.engine(), o.weight.map(Tensor::engine),
        o.density)}
}

op! {
    {
        /// As above, for bins of equal width.
        ///
        /// Args: `bins` how many; `range` the outer edges `(low, high)`, by default the smallest and largest element;
        /// the rest as above.
        ///
        /// Errors: if `range` is not finite or falls.
    }
    fn [histogram try_histogram histogram_with try_histogram_with] ([] input: &Tensor)
    method [histogram try_histogram histogram_with try_histogram_with] ([] &self) {let input = self;}
    -> Histogram = engine::sets::histogram::histogram, (input.engine(), 100, None, None, false)
    {['o] o: HistogramOptions<'o> => Histogram = (input.engine(), o.bins, o.range.as_ref().map(Floats::as_slice),
        o.weight.map(Tensor::engine), o.density)}
}

op! {
    {
        /// How many points are in each cell of a grid, of cells of equal width; and the edges of the grid.
        ///
        /// A cell takes the points from its lower edges to below its upper ones; the last cells of an axis take both.
        ///
        /// Args: `input` points, float32 or float64 of shape (..., axes); `bins` how many along each axis, or one
        /// number for all; `range` the outer edges `(low, high, low, high, ...)`, by default the smallest and largest
        /// coordinates; `weight` what each point counts, of the shape of `input` without the last dim; `density`
        /// divides the counts by their sum and by the volumes of the cells.
        ///
        /// Returns: `(hist, bin_edges)`, the second a tuple with a vector for each axis.
        ///
        /// Derivative: not implemented, as in torch.
        ///
        /// Errors: if shapes or dtypes are incompatible, there is no bin, or `range` is not finite or falls; for
        /// integers.
    }
    fn [histogramdd try_histogramdd histogramdd_with try_histogramdd_with] ([] input: &Tensor, bins: usize)
    -> HistogramDd = engine::sets::histogram_nd::histogramdd, (input.engine(), as_count(bins), None, None, false)
    {['o] o: RangeWeightDensityOptions<'o> => HistogramDd = (input.engine(), as_count(bins),
        o.range.as_ref().map(Floats::as_slice), o.weight.map(Tensor::engine), o.density)}
}

op! {
    {
        /// As above, with a number of bins for each axis.
        #[doc(alias = "histogramdd")]
    }
    fn [histogramdd_bins try_histogramdd_bins histogramdd_bins_with try_histogramdd_bins_with] ([] input: &Tensor,
        bins: impl Into<Shape>)
    -> HistogramDd = engine::sets::histogram_nd::histogramdd_bins, (input.engine(), as_shape(bins).as_slice(), None,
        None, false)
    {['o] o: RangeWeightDensityOptions<'o> => HistogramDd = (input.engine(), as_shape(bins).as_slice(),
        o.range.as_ref().map(Floats::as_slice), o.weight.map(Tensor::engine), o.density)}
}

op! {
    {
        /// As above, of cells with given edges.
        ///
        /// Args: `bins` for each axis its edges, a vector that rises, of the dtype of `input`; `range` is not looked
        /// at.
        #[doc(alias = "histogramdd")]
    }
    fn [histogramdd_edges try_histogramdd_edges histogramdd_edges_with try_histogramdd_edges_with] (['a] input: &Tensor,
        bins: impl Into<Tensors<'a>>)
    -> HistogramDd = engine::sets::histogram_nd::histogramdd_edges, (input.engine(), bins.into().engine(), None, None,
        false)
    {['o] o: RangeWeightDensityOptions<'o> => HistogramDd = (input.engine(), bins.into().engine(),
        o.range.as_ref().map(Floats::as_slice), o.weight.map(Tensor::engine), o.density)}
}
