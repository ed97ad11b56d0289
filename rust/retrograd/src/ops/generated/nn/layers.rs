//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

#![cfg_attr(not(feature = "nn"), allow(unused_imports))]

use crate::Tensor;
use crate::engine::ops as engine;
use crate::ops::options::*;
use crate::ops::{as_count, as_shape};
use crate::shape::Shape;

op! {
    {
        /// Exponentials along a dimension, scaled to sum to one; see `softmax`.
        ///
        /// Args: `dim` the dimension; without one 0 for 0, 1 and 3 dims and else 1, with a warning.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::softmax_dim(&tensor![1f32, 1.0], 0).to_vec::<f64>()?, [0.5, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [softmax try_softmax softmax_with try_softmax_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::softmax::functional_softmax, (input.engine(), None, 3, None)
    {[] o: DimDtypeOptions => Tensor = (input.engine(), o.dim, 3, o.dtype)}
}

op! {
    {
        /// As `softmax`, along `dim`.
    }
    fn [softmax_dim try_softmax_dim] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::reduce::softmax::functional_softmax, (input.engine(), Some(dim), 3, None)
    {}
}

op! {
    {
        /// The logarithm of `softmax`; see `log_softmax`.
        ///
        /// Args: `dim` the dimension; without one 0 for 0, 1 and 3 dims and else 1, with a warning.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::log_softmax_dim(&tensor![0f32, 0.0], 0).exp().to_vec::<f64>()?, [0.5, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [log_softmax try_log_softmax log_softmax_with try_log_softmax_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::softmax::functional_log_softmax, (input.engine(), None, 3, None)
    {[] o: DimDtypeOptions => Tensor = (input.engine(), o.dim, 3, o.dtype)}
}

op! {
    {
        /// As `log_softmax`, along `dim`.
    }
    fn [log_softmax_dim try_log_softmax_dim] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::reduce::softmax::functional_log_softmax, (input.engine(), Some(dim), 3, None)
    {}
}

op! {
    {
        /// The softmax of the negated input.
        ///
        /// Args: as `softmax`.
        ///
        /// Derivative: that of `softmax`, negated.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::softmin_dim(&tensor![1f32, 1.0], 0).to_vec::<f64>()?, [0.5, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [softmin try_softmin softmin_with try_softmin_with] ([] input: &Tensor)
    -> Tensor = engine::reduce::softmax::softmin, (input.engine(), None, 3, None)
    {[] o: DimDtypeOptions => Tensor = (input.engine(), o.dim, 3, o.dtype)}
}

op! {
    {
        /// As `softmin`, along `dim`.
    }
    fn [softmin_dim try_softmin_dim] ([] input: &Tensor, dim: i64)
    -> Tensor = engine::reduce::softmax::softmin, (input.engine(), Some(dim), 3, None)
    {}
}

op! {
    {
        /// `input @ weight.t() + bias`, the affine map of a layer.
        ///
        /// Args: `input` (\*, m), `weight` (n, m) or (m,), `bias` (n,) or `None`, all of one dtype.
        ///
        /// Returns: a tensor of shape (\*, n), or (\*) if the weight is a vector.
        ///
        /// Derivative: `g @ weight`, `g.t() @ input` and `g` summed to the bias.
        ///
        /// Errors: if sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let bias = Tensor::ones([4]);
        /// let y = ops::nn::linear_with(&Tensor::ones([2, 3]), &Tensor::ones([4, 3]), |o| o.bias(&bias));
        /// assert_eq!(y.to_vec::<f64>()?, [4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [linear try_linear linear_with try_linear_with] ([] input: &Tensor, weight: &Tensor)
    -> Tensor = engine::matmul::compose::linear, (input.engine(), weight.engine(), None)
    {['o] o: BiasOptions<'o> => Tensor = (input.engine(), weight.engine(), o.bias.map(Tensor::engine))}
}

op! {
    {
        /// The distances between the rows of a matrix, of every row from those behind it: the upper triangle of `cdist`
        /// of the matrix and itself, row by row.
        ///
        /// Args: `input` (n, m), float32 or float64; `p` the norm of the differences, 0 or more.
        ///
        /// Returns: a tensor of `n * (n - 1) / 2` distances.
        ///
        /// Derivative: that of the norm, zero where the distance is; to second order and in forward mode, which torch
        /// has not.
        ///
        /// Errors: for other shapes or dtypes or a negative `p`.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::pdist(&tensor![[0f32, 0.0], [3.0, 4.0], [0.0, 1.0]]);
        /// assert_eq!(y.to_vec::<f64>()?, [5.0, 1.0, 4.242640495300293]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
    }
    fn [pdist try_pdist pdist_with try_pdist_with] ([] input: &Tensor)
    -> Tensor = engine::matmul::pdist::pdist, (input.engine(), 2.0)
    {[] o: PdistOptions => Tensor = (input.engine(), o.p)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Normalizes over the last dims: `(x - mean) / sqrt(var + eps)`, times `weight`, plus `bias`.
        ///
        /// Args: `input` floating dtype; `normalized_shape` the sizes of the dims to normalize over, the last ones of
        /// the input; `weight`, `bias` tensors of those sizes, or `None`, of the input's dtype or, for halves, float32;
        /// `eps` a number added to the (biased) variance.
        ///
        /// Returns: a tensor of the input's shape. Derivative, with `h` the normalized input and `q = g * weight`: `(q
        /// - mean(q) - h * mean(q * h)) / sqrt(var + eps)`; `g * h` for the weight and `g` for the bias, summed over
        /// the other dims.
        ///
        /// Errors: if sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::layer_norm_with(&tensor![[1f32, 3.0]], [2], |o| o.eps(0.0));
        /// assert_eq!(y.to_vec::<f64>()?, [-1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [layer_norm try_layer_norm layer_norm_with try_layer_norm_with] ([] input: &Tensor,
        normalized_shape: impl Into<Shape>)
    -> Tensor = engine::nn::layer_norm::layer_norm, (input.engine(), as_shape(normalized_shape).as_slice(), None, None,
        1e-5)
    {['o] o: WeightBiasEpsOptions<'o> => Tensor = (input.engine(), as_shape(normalized_shape).as_slice(),
        o.weight.map(Tensor::engine), o.bias.map(Tensor::engine), o.eps)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Rows of `weight` by their indices.
        ///
        /// Args: `input` indices, int64 or int32, any shape; `weight` (rows, width), any dtype; `padding_idx` a row
        /// (negative ones counted from the end) that gets no gradient, or `None`; `scale_grad_by_freq` divides a row's
        /// gradient by how often it was looked up; `max_norm` scales down, in place, the looked-up rows whose norm of
        /// `norm_type` exceeds it. `sparse` makes the gradient of the weight a sparse tensor of the rows that were
        /// looked up.
        ///
        /// Returns: a tensor of shape (\*input, width).
        ///
        /// Derivative: the rows of `g` added up by index.
        ///
        /// Errors: for an index out of range; for other dtypes or a weight without two dims; for a `padding_idx` out of
        /// range.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::embedding(&tensor![1i64, 0, 1], &tensor![[1f32, 2.0], [3.0, 4.0]]);
        /// assert_eq!(y.to_vec::<f64>()?, [3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [embedding try_embedding embedding_with try_embedding_with] ([] input: &Tensor, weight: &Tensor)
    -> Tensor = engine::nn::embedding::embedding, (input.engine(), weight.engine(), None, None, 2.0, false, false)
    {[] o: EmbeddingOptions => Tensor = (input.engine(), weight.engine(), o.padding_idx, o.max_norm, o.norm_type,
        o.scale_grad_by_freq, o.sparse)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Ones at the given classes, zeros elsewhere.
        ///
        /// Args: `tensor` classes, int64, any shape; `num_classes` how many there are, by default the largest one plus
        /// one.
        ///
        /// Returns: an int64 tensor of shape (\*tensor, num_classes). No derivative.
        ///
        /// Errors: for a class that is negative or too large, for another dtype, and where the number of classes cannot
        /// be determined.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::one_hot(&tensor![0i64, 2]).to_vec::<i64>()?, [1, 0, 0, 0, 0, 1]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [one_hot try_one_hot one_hot_with try_one_hot_with] ([] tensor: &Tensor)
    -> Tensor = engine::nn::embedding::one_hot, (tensor.engine(), -1)
    {[] o: OneHotOptions => Tensor = (tensor.engine(), o.num_classes)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Zeroes elements at random, each with probability `p`, and scales the others by `1 / (1 - p)`; outside
        /// training, nothing.
        ///
        /// Args: `input` floating dtype, any shape; `p` from 0 to 1; `training` whether to do anything; `inplace` to
        /// write to `input`. Draws from the default generator.
        ///
        /// Returns: a tensor of the same shape; `input` itself if nothing is dropped.
        ///
        /// Derivative: `g` times the same factors.
        ///
        /// Errors: if `p` is out of range.
        ///
        /// Needs the feature `nn`.
    }
    fn [dropout try_dropout dropout_with try_dropout_with] ([] input: &Tensor)
    -> Tensor = engine::nn::dropout::dropout, (input.engine(), 0.5, true, false)
    {[] o: PTrainingOptions => Tensor = (input.engine(), o.p, o.training, false)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// The cosine of the angles between vectors along `dim`.
        ///
        /// Args: `x1`, `x2` floating dtype with broadcastable shapes; `dim` of the broadcast shape; `eps` the least
        /// norm that is divided by.
        ///
        /// Returns: a tensor of the broadcast shape without `dim`. Derivative, with unit vectors `u` and `v`: `g * (v -
        /// cos * u) / norm(x1)`, and likewise for `x2`.
        ///
        /// Errors: if shapes do not broadcast or for integers, if there is no such dim.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::cosine_similarity(&tensor![[3f32, 4.0]], &tensor![[2f32, 0.0]]);
        /// assert_eq!(y.to_vec::<f64>()?, [0.6000000238418579]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [cosine_similarity try_cosine_similarity cosine_similarity_with try_cosine_similarity_with] ([] x1: &Tensor,
        x2: &Tensor)
    -> Tensor = engine::nn::distance::cosine_similarity, (x1.engine(), x2.engine(), 1, 1e-8)
    {[] o: CosineSimilarityOptions => Tensor = (x1.engine(), x2.engine(), o.dim, o.eps)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `cosine_similarity`, along `dim`.
    }
    fn [cosine_similarity_dim try_cosine_similarity_dim] ([] x1: &Tensor, x2: &Tensor, dim: i64)
    -> Tensor = engine::nn::distance::cosine_similarity, (x1.engine(), x2.engine(), dim, 1e-8)
    {}
}

#[cfg(feature = "nn")]
op! {
    {
        /// The distances of vectors along the last dim, `norm(x1 - x2 + eps)`.
        ///
        /// Args: `x1`, `x2` floating or complex dtype with broadcastable shapes; `p` the norm; `eps` a number added to
        /// the differences, so that there is a derivative for equal vectors; `keepdim` to keep the dim with size 1.
        ///
        /// Returns: a tensor without the last dim.
        ///
        /// Derivative: that of the norm, and its negative.
        ///
        /// Errors: if shapes do not broadcast.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::pairwise_distance_with(&tensor![3f32, 4.0], &tensor![0f32, 0.0], |o| o.eps(0.0));
        /// assert_eq!(y.item::<f64>()?, 5.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [pairwise_distance try_pairwise_distance pairwise_distance_with try_pairwise_distance_with] ([] x1: &Tensor,
        x2: &Tensor)
    -> Tensor = engine::nn::distance::pairwise_distance, (x1.engine(), x2.engine(), 2.0, 1e-6, false)
    {[] o: PairwiseDistanceOptions => Tensor = (x1.engine(), x2.engine(), o.p, o.eps, o.keepdim)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// The vectors along `dim` divided by their norms.
        ///
        /// Args: `input` floating or complex dtype; `p` the norm; `dim` an int; `eps` the least norm that is divided
        /// by.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: for `p = 2` and unit vectors `u`, `(g - u * sum(g * u)) / norm`.
        ///
        /// Errors: if there is no such dim, for integers.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::normalize(&tensor![[0f32, 4.0]]).to_vec::<f64>()?, [0.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [normalize try_normalize normalize_with try_normalize_with] ([] input: &Tensor)
    -> Tensor = engine::nn::distance::normalize, (input.engine(), 2.0, 1, 1e-12)
    {[] o: NnNormalizeOptions => Tensor = (input.engine(), o.p, o.dim, o.eps)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Normalizes each channel over the entries of a batch: `(x - mean) / sqrt(var + eps)`, times `weight`, plus
        /// `bias`.
        ///
        /// Args: `input` floating dtype of shape (N, C, ...); `running_mean`, `running_var` of shape (C,), or `None` in
        /// training; `weight`, `bias` of shape (C,), or `None`; `training` to take mean and (biased) variance from the
        /// input, and to move the running ones by `momentum` towards them, in place, with the unbiased variance; else
        /// the running ones are taken; `eps` a number added to the variance.
        ///
        /// Returns: a tensor of the input's shape. Derivative, with `h` the normalized input and `q = g * weight`: `(q
        /// - mean(q) - h * mean(q * h)) / sqrt(var + eps)` in training, else `q / sqrt(var + eps)`; the sum of `g * h`
        /// for the weight and of `g` for the bias.
        ///
        /// Errors: for one value per channel in training or a bad `eps`; if sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::batch_norm_with(&tensor![[1f32], [3.0]], None, None, |o| o.training(true).eps(1e-12));
        /// assert_eq!(y.to_vec::<f64>()?, [-1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [batch_norm try_batch_norm batch_norm_with try_batch_norm_with] ([] input: &Tensor,
        running_mean: Option<&Tensor>, running_var: Option<&Tensor>)
    -> Tensor = engine::nn::batch_norm::batch_norm, (input.engine(), running_mean.map(Tensor::engine),
        running_var.map(Tensor::engine), None, None, false, 0.1, 1e-5)
    {['o] o: BatchNormOptions<'o> => Tensor = (input.engine(), running_mean.map(Tensor::engine),
        running_var.map(Tensor::engine), o.weight.map(Tensor::engine), o.bias.map(Tensor::engine), o.training,
        o.momentum, o.eps)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Normalizes each channel of each entry: `(x - mean) / sqrt(var + eps)`, times `weight`, plus `bias`.
        ///
        /// Args: `input` floating dtype of shape (N, C, ...); `running_mean`, `running_var` of shape (C,), or `None`;
        /// `weight`, `bias` of shape (C,), or `None`; `use_input_stats` to take mean and (biased) variance from the
        /// input, and to move the running ones, if given, by `momentum` towards their means over the entries; else the
        /// running ones are taken; `eps` a number added to the variance.
        ///
        /// Returns: a tensor of the input's shape.
        ///
        /// Derivative: as `batch_norm`.
        ///
        /// Errors: for one value per channel; if sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::instance_norm_with(&tensor![[[1f32, 3.0]]], |o| o.eps(1e-12));
        /// assert_eq!(y.to_vec::<f64>()?, [-1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [instance_norm try_instance_norm instance_norm_with try_instance_norm_with] ([] input: &Tensor)
    -> Tensor = engine::nn::batch_norm::instance_norm, (input.engine(), None, None, None, None, true, 0.1, 1e-5)
    {['o] o: InstanceNormOptions<'o> => Tensor = (input.engine(), o.running_mean.map(Tensor::engine),
        o.running_var.map(Tensor::engine), o.weight.map(Tensor::engine), o.bias.map(Tensor::engine), o.use_input_stats,
        o.momentum, o.eps)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Normalizes groups of neighbouring channels of each entry: `(x - mean) / sqrt(var + eps)`, times `weight`,
        /// plus `bias`.
        ///
        /// Args: `input` floating dtype of shape (N, C, ...); `num_groups` a divisor of C; `weight`, `bias` of shape
        /// (C,), or `None`; `eps` a number added to the (biased) variance.
        ///
        /// Returns: a tensor of the input's shape. Derivative, with `h` the normalized input and `q = g * weight`: `(q
        /// - mean(q) - h * mean(q * h)) / sqrt(var + eps)`; the sum of `g * h` for the weight and of `g` for the bias.
        ///
        /// Errors: for one value per group; if sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::group_norm_with(&tensor![[1f32, 3.0]], 1, |o| o.eps(0.0));
        /// assert_eq!(y.to_vec::<f64>()?, [-1.0, 1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [group_norm try_group_norm group_norm_with try_group_norm_with] ([] input: &Tensor, num_groups: usize)
    -> Tensor = engine::nn::batch_norm::group_norm, (input.engine(), as_count(num_groups), None, None, 1e-5)
    {['o] o: WeightBiasEpsOptions<'o> => Tensor = (input.engine(), as_count(num_groups), o.weight.map(Tensor::engine),
        o.bias.map(Tensor::engine), o.eps)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Divides by the root mean square over the last dims: `x / sqrt(mean(x**2) + eps)`, times `weight`.
        ///
        /// Args: `input` floating or complex dtype; `normalized_shape` the sizes of the dims to normalize over, the
        /// last ones of the input; `weight` a tensor of those sizes, or `None`; `eps` a number, `None` for the dtype's
        /// smallest step from 1.
        ///
        /// Returns: a tensor of the input's shape. Derivative, with `h` the normalized input and `q = g * weight`: `(q
        /// - h * mean(q * h)) / sqrt(mean(x**2) + eps)`; `g * h` for the weight, summed over the other dims.
        ///
        /// Errors: if sizes or dtypes are incompatible.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::rms_norm_with(&tensor![1f32, -1.0], [2], |o| o.eps(0.0)).to_vec::<f64>()?, [1.0, -1.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [rms_norm try_rms_norm rms_norm_with try_rms_norm_with] ([] input: &Tensor, normalized_shape: impl Into<Shape>)
    -> Tensor = engine::nn::scale_norm::rms_norm, (input.engine(), as_shape(normalized_shape).as_slice(), None, None)
    {['o] o: RmsNormOptions<'o> => Tensor = (input.engine(), as_shape(normalized_shape).as_slice(),
        o.weight.map(Tensor::engine), o.eps)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Divides by the response of neighbouring channels: `x / (k + alpha * mean(x**2))**beta`, the mean over `size`
        /// channels around each, with zeros beyond the first and the last.
        ///
        /// Args: `input` of shape (N, C, ...), with three or more dims, floating or complex dtype or int64; `size` a
        /// positive number of channels; `alpha`, `beta`, `k` numbers.
        ///
        /// Returns: a tensor of the input's shape, for integers of the default float dtype (their mean is rounded down,
        /// as torch rounds it).
        ///
        /// Derivative: that of the quotient.
        ///
        /// Errors: for fewer dims, for a `size` that is not positive.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::local_response_norm_with(&tensor![[[1f32], [2.0]]], 1, |o| o.alpha(1.0).beta(1.0).k(0.0));
        /// assert_eq!(y.to_vec::<f64>()?, [1.0, 0.5]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [local_response_norm try_local_response_norm local_response_norm_with try_local_response_norm_with] ([] input:
        &Tensor,
        size: usize)
    -> Tensor = engine::nn::scale_norm::local_response_norm, (input.engine(), as_count(size), 1e-4, 0.75, 1.0)
    {[] o: LocalResponseNormOptions => Tensor = (input.engine(), as_count(size), o.alpha, o.beta, o.k)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Values weighted by how well their keys match the queries: `softmax(scale * query @ key.mT + mask) @ value`.
        ///
        /// Args: `query` (\*, heads, queries, width), `key` (\*, heads, keys, width) and `value` (\*, heads, keys,
        /// value width), of one floating dtype with any axes in front (none, too) that broadcast; `attn_mask`
        /// broadcastable to (\*, heads, queries, keys): bool, `true` for what is seen, or numbers added to the scores;
        /// `dropout_p` the share of weights dropped at random, by the default generator; `is_causal` lets row `i` see
        /// the columns up to `i`; `scale` is `1 / sqrt(width)` by default; `enable_gqa` lets several heads of the query
        /// share one of key and value.
        ///
        /// Returns: (\*, heads, queries, value width); zeros for a row that sees nothing. Derivative, with weights `w`
        /// and `ds = w * (g @ value.mT - sum(w * g @ value.mT))`: `scale * ds @ key`, `scale * ds.mT @ query`, `w.mT @
        /// g`, and `ds` for the mask. Scores are computed by tiles and never kept.
        ///
        /// Errors: if sizes or dtypes are incompatible, or `dropout_p` is out of range.
        ///
        /// Needs the feature `nn`.
    }
    fn [scaled_dot_product_attention try_scaled_dot_product_attention scaled_dot_product_attention_with
        try_scaled_dot_product_attention_with] ([] query: &Tensor,
        key: &Tensor, value: &Tensor)
    -> Tensor = engine::nn::attention::scaled_dot_product_attention, (query.engine(), key.engine(), value.engine(),
        None, 0.0, false, None, false)
    {['o] o: ScaledDotProductAttentionOptions<'o> => Tensor = (query.engine(), key.engine(), value.engine(),
        o.attn_mask.map(Tensor::engine), o.dropout_p, o.is_causal, o.scale, o.enable_gqa)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Zeroes whole channels at random, each with probability `p`, and scales the others by `1 / (1 - p)`.
        ///
        /// Args: `input` (N, C) or (N, C, L): with two dims (C, L), floating dtype; `p` from 0 to 1; `training` whether
        /// to do anything; `inplace` to write to `input`. Draws from the default generator.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` times the same factors.
        ///
        /// Errors: for other numbers of dims; if `p` is out of range.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// assert_eq!(ops::nn::dropout1d_with(&Tensor::ones([1, 2]), |o| o.p(1.0)).to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [dropout1d try_dropout1d dropout1d_with try_dropout1d_with] ([] input: &Tensor)
    -> Tensor = engine::nn::dropout_variants::dropout1d, (input.engine(), 0.5, true, false)
    {[] o: PTrainingOptions => Tensor = (input.engine(), o.p, o.training, false)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Zeroes whole channels at random, each with probability `p`, and scales the others by `1 / (1 - p)`.
        ///
        /// Args: `input` (N, C, H, W), floating dtype; three dims are taken for (N, C, L), with a warning, as other
        /// numbers are; `p` from 0 to 1; `training` whether to do anything; `inplace` to write to `input`. Draws from
        /// the default generator.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` times the same factors.
        ///
        /// Errors: for less than two dims; if `p` is out of range.
        ///
        /// Needs the feature `nn`.
    }
    fn [dropout2d try_dropout2d dropout2d_with try_dropout2d_with] ([] input: &Tensor)
    -> Tensor = engine::nn::dropout_variants::dropout2d, (input.engine(), 0.5, true, false)
    {[] o: PTrainingOptions => Tensor = (input.engine(), o.p, o.training, false)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Zeroes whole channels at random, each with probability `p`, and scales the others by `1 / (1 - p)`.
        ///
        /// Args: `input` (N, C, D, H, W) or (C, D, H, W), floating dtype; other numbers of dims are taken for the
        /// second, with a warning; `p` from 0 to 1; `training` whether to do anything; `inplace` to write to `input`.
        /// Draws from the default generator.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` times the same factors.
        ///
        /// Errors: for an input without dims; if `p` is out of range.
        ///
        /// Needs the feature `nn`.
    }
    fn [dropout3d try_dropout3d dropout3d_with try_dropout3d_with] ([] input: &Tensor)
    -> Tensor = engine::nn::dropout_variants::dropout3d, (input.engine(), 0.5, true, false)
    {[] o: PTrainingOptions => Tensor = (input.engine(), o.p, o.training, false)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Dropout that keeps mean 0 and variance 1, for networks of SELU: what is dropped takes the value SELU
        /// saturates at, and all is scaled and shifted.
        ///
        /// Args: `input` floating dtype, any shape; `p` from 0 to 1; `training` whether to do anything; `inplace` to
        /// write to `input`. Draws from the default generator.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` times the factors, 0 where dropped.
        ///
        /// Errors: if `p` is out of range.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::nn::alpha_dropout_with(&Tensor::ones([2]), |o| o.p(1.0).training(true));
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [alpha_dropout try_alpha_dropout alpha_dropout_with try_alpha_dropout_with] ([] input: &Tensor)
    -> Tensor = engine::nn::dropout_variants::alpha_dropout, (input.engine(), 0.5, false, false)
    {[] o: AlphaDropoutOptions => Tensor = (input.engine(), o.p, o.training, false)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// As `alpha_dropout`, for whole channels.
        ///
        /// Args: `input` (N, C, ...), floating dtype; `p`, `training`, `inplace` as there.
        ///
        /// Returns: a tensor of the same shape.
        ///
        /// Derivative: `g` times the factors, 0 where dropped.
        ///
        /// Errors: for less than two dims; if `p` is out of range.
        ///
        /// ```
        /// use retrograd::{Tensor, ops};
        ///
        /// let y = ops::nn::feature_alpha_dropout_with(&Tensor::ones([1, 2]), |o| o.p(1.0).training(true));
        /// assert_eq!(y.to_vec::<f64>()?, [0.0, 0.0]);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [feature_alpha_dropout try_feature_alpha_dropout feature_alpha_dropout_with try_feature_alpha_dropout_with] ([]
        input: &Tensor)
    -> Tensor = engine::nn::dropout_variants::feature_alpha_dropout, (input.engine(), 0.5, false, false)
    {[] o: AlphaDropoutOptions => Tensor = (input.engine(), o.p, o.training, false)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// Rows of `weight` by their indices, summed, averaged or their largest elements, bag by bag, without the rows
        /// themselves.
        ///
        /// Args: `input` indices, int64 or int32: (bags, n), or (n,) with `offsets` (bags,), where each bag begins;
        /// `weight` (rows, width), floating dtype; `max_norm` scales down, in place, rows whose norm of `norm_type`
        /// exceeds it; `scale_grad_by_freq` divides a row's gradient by how often it was looked up; `mode`
        /// `BagMode::Mean`, `BagMode::Sum` or `BagMode::Max`; `per_sample_weights` a factor for each index, for
        /// `BagMode::Sum`; `include_last_offset` says that the last offset is where the last bag ends; `padding_idx` a
        /// row that is ignored; `sparse` makes the gradient of `weight` a sparse tensor of the rows that were looked
        /// up, not with `BagMode::Max`.
        ///
        /// Returns: (bags, width); zeros for an empty bag.
        ///
        /// Derivative: the gradients of its bags for each row, times its factors or divided by the number of rows; for
        /// `BagMode::Max` where the row was the largest; for the factors, the inner products of rows and gradients.
        ///
        /// Errors: for indices, offsets or a `padding_idx` out of range and for other dtypes; for arguments that are
        /// incompatible.
        ///
        /// Needs the feature `nn`.
    }
    fn [embedding_bag try_embedding_bag embedding_bag_with try_embedding_bag_with] ([] input: &Tensor, weight: &Tensor)
    -> Tensor = engine::nn::embedding_bag::embedding_bag, (input.engine(), weight.engine(), None, None, 2.0, false,
        "mean", false, None, false, None)
    {['o] o: EmbeddingBagOptions<'o> => Tensor = (input.engine(), weight.engine(), o.offsets.map(Tensor::engine),
        o.max_norm, o.norm_type, o.scale_grad_by_freq, o.mode.name(), o.sparse,
        o.per_sample_weights.map(Tensor::engine), o.include_last_offset, o.padding_idx)}
}

#[cfg(feature = "nn")]
op! {
    {
        /// `y[o] = sum over i, j of input1[i] weight[o, i, j] input2[j] + bias[o]`, along the last axes.
        ///
        /// Args: `input1` (..., n), `input2` (..., m) with the same leading sizes, `weight` (out, n, m), `bias` (out,).
        ///
        /// Returns: a tensor of sizes (..., out).
        ///
        /// Derivative: that of the products.
        ///
        /// Errors: if sizes are incompatible.
        ///
        /// Needs the feature `nn`.
    }
    fn [bilinear try_bilinear bilinear_with try_bilinear_with] ([] input1: &Tensor, input2: &Tensor, weight: &Tensor)
    -> Tensor = engine::nn::bilinear::bilinear, (input1.engine(), input2.engine(), weight.engine(), None)
    {['o] o: BiasOptions<'o> => Tensor = (input1.engine(), input2.engine(), weight.engine(),
        o.bias.map(Tensor::engine))}
}
