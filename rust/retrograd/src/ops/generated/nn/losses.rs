//! Written by the crate `retrograd-generator`, for `make face`: change the roster, or that crate.

use crate::engine::ops as engine;
use crate::operand::Operand;
use crate::ops::options::*;
use crate::ops::{as_operand, as_shape};
use crate::shape::Shape;
use crate::{Scalar, Tensor};

op! {
    {
        /// The cross entropy of logits and classes, or probabilities of classes: the negative log likelihood of
        /// `log_softmax`.
        ///
        /// Args: `input` logits (C,), (N, C) or (N, C, d1, ...), floating dtype; `target` class indices (), (N,) or (N,
        /// d1, ...), int64, or probabilities in the input's shape; `weight` (C,) or `None`; `ignore_index` a class
        /// whose samples are ignored; `reduction` `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`;
        /// `label_smoothing` from 0 to 1, the share of a uniform distribution mixed into the target.
        ///
        /// Returns: a 0-dim tensor, or one loss per sample for `Reduction::None`.
        ///
        /// Derivative: `g * (softmax(input) - target)`, weighted and divided like the loss; probabilities get `-g *
        /// log_softmax(input)`.
        ///
        /// Errors: for a class out of range; for sizes and dtypes that are incompatible.
        ///
        /// Needs the feature `nn`.
    }
    fn [cross_entropy try_cross_entropy cross_entropy_with try_cross_entropy_with] ([] input: &Tensor, target: &Tensor)
    -> Tensor = engine::nn::cross_entropy::cross_entropy, (input.engine(), target.engine(), None, None, -100, None,
        "mean", 0.0)
    {['o] o: CrossEntropyOptions<'o> => Tensor = (input.engine(), target.engine(), o.weight.map(Tensor::engine), None,
        o.ignore_index, None, o.reduction.name(), o.label_smoothing)}
}

op! {
    {
        /// The negative log likelihood of class indices: `-weight[t] * input[t]` for each sample, and its mean or sum.
        ///
        /// Args: `input` log probabilities (C,), (N, C) or (N, C, d1, ...), floating dtype; `target` class indices (),
        /// (N,) or (N, d1, ...), int64; `weight` (C,) or `None`; `ignore_index` a class whose samples are ignored;
        /// `reduction` `Reduction::Mean` (weighted), `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the target's shape for `Reduction::None`.
        ///
        /// Derivative: `-g * weight[t]` (over the sum of the weights for `Reduction::Mean`) at the target's class, zero
        /// elsewhere.
        ///
        /// Errors: for a class out of range; for sizes and dtypes that are incompatible.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::nll_loss(&tensor![[-1f32, -2.0]], &tensor![1i64]).item::<f64>()?, 2.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [nll_loss try_nll_loss nll_loss_with try_nll_loss_with] ([] input: &Tensor, target: &Tensor)
    -> Tensor = engine::nn::nll::nll_loss, (input.engine(), target.engine(), None, None, -100, None, "mean")
    {['o] o: NllLossOptions<'o> => Tensor = (input.engine(), target.engine(), o.weight.map(Tensor::engine), None,
        o.ignore_index, None, o.reduction.name())}
}

op! {
    {
        /// The squared error, `(input - target) ** 2`, and its mean or sum.
        ///
        /// Args: `input`, `target` floating dtype of one shape (others broadcast, with a warning); `reduction`
        /// `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`; `weight` of the input's shape, or `None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the elements for `Reduction::None`.
        ///
        /// Derivative: `2 * g * (input - target)` (divided by the count for `Reduction::Mean`), and its negative.
        ///
        /// Errors: if the shapes do not broadcast, for another reduction.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::mse_loss(&tensor![1f32, 2.0], &tensor![1f32, 4.0]).item::<f64>()?, 2.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [mse_loss try_mse_loss mse_loss_with try_mse_loss_with] ([] input: &Tensor, target: &Tensor)
    -> Tensor = engine::nn::loss::mse_loss, (input.engine(), target.engine(), None, None, "mean", None)
    {['o] o: ReductionWeightOptions<'o> => Tensor = (input.engine(), target.engine(), None, None, o.reduction.name(),
        o.weight.map(Tensor::engine))}
}

op! {
    {
        /// The absolute error, `|input - target|`, and its mean or sum.
        ///
        /// Args: as `mse_loss`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the elements for `Reduction::None`.
        ///
        /// Derivative: `g * sign(input - target)` (divided by the count for `Reduction::Mean`), and its negative.
        ///
        /// Errors: if the shapes do not broadcast, for another reduction.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::l1_loss(&tensor![1f32, 2.0], &tensor![1f32, 4.0]).item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [l1_loss try_l1_loss l1_loss_with try_l1_loss_with] ([] input: &Tensor, target: &Tensor)
    -> Tensor = engine::nn::loss::l1_loss, (input.engine(), target.engine(), None, None, "mean", None)
    {['o] o: ReductionWeightOptions<'o> => Tensor = (input.engine(), target.engine(), None, None, o.reduction.name(),
        o.weight.map(Tensor::engine))}
}

op! {
    {
        /// The squared error where it is small, the absolute one where it is large: `d**2 / (2 * beta)` for `d =
        /// abs(input - target) < beta`, else `d - beta / 2`; and its mean or sum.
        ///
        /// Args: `input`, `target` floating dtype of one shape (others broadcast, with a warning); `reduction`
        /// `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`; `beta` a number, 0 for `l1_loss`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the elements for `Reduction::None`.
        ///
        /// Derivative: `g * (input - target) / beta` between -1 and 1 (divided by the count for `Reduction::Mean`), and
        /// its negative.
        ///
        /// Errors: for a negative `beta` or shapes that do not broadcast, for another reduction.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::smooth_l1_loss(&tensor![1f32, 2.0], &tensor![2f32, 4.0]).item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [smooth_l1_loss try_smooth_l1_loss smooth_l1_loss_with try_smooth_l1_loss_with] ([] input: &Tensor,
        target: &Tensor)
    -> Tensor = engine::nn::huber::smooth_l1_loss, (input.engine(), target.engine(), None, None, "mean", 1.0)
    {[] o: SmoothL1LossOptions => Tensor = (input.engine(), target.engine(), None, None, o.reduction.name(), o.beta)}
}

op! {
    {
        /// The squared error where it is small, a line where it is large: `d**2 / 2` for `d = abs(input - target) <=
        /// delta`, else `delta * (d - delta / 2)`; and its mean or sum.
        ///
        /// Args: `input`, `target` floating dtype of one shape (others broadcast, with a warning); `reduction`
        /// `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`; `delta` a positive number; `weight` of the input's
        /// shape, or `None`.
        ///
        /// Returns: a 0-dim tensor of the input's dtype, or the losses of the elements for `Reduction::None`.
        ///
        /// Derivative: `g * (input - target)` between `-delta` and `delta` (divided by the count for
        /// `Reduction::Mean`), and its negative.
        ///
        /// Errors: for another `delta` or shapes that do not broadcast, for another reduction.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::huber_loss(&tensor![1f32, 2.0], &tensor![2f32, 4.0]).item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [huber_loss try_huber_loss huber_loss_with try_huber_loss_with] ([] input: &Tensor, target: &Tensor)
    -> Tensor = engine::nn::huber::huber_loss, (input.engine(), target.engine(), "mean", 1.0, None)
    {['o] o: HuberLossOptions<'o> => Tensor = (input.engine(), target.engine(), o.reduction.name(), o.delta,
        o.weight.map(Tensor::engine))}
}

op! {
    {
        /// The logistic loss of a margin, `log(1 + exp(-target * input))`, and its mean or sum.
        ///
        /// Args: `input` floating dtype; `target` of 1 and -1, whose shape broadcasts with it; `reduction`
        /// `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the elements for `Reduction::None`.
        ///
        /// Derivative: `-g * target * sigmoid(-target * input)` (divided by the count for `Reduction::Mean`); none for
        /// the target.
        ///
        /// Errors: if shapes do not broadcast or the target requires grad, for another reduction.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::soft_margin_loss(&tensor![-1000f32], &tensor![1i64]).item::<f64>()?, 1000.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [soft_margin_loss try_soft_margin_loss soft_margin_loss_with try_soft_margin_loss_with] ([] input: &Tensor,
        target: &Tensor)
    -> Tensor = engine::nn::huber::soft_margin_loss, (input.engine(), target.engine(), None, None, "mean")
    {[] o: ReductionOptions => Tensor = (input.engine(), target.engine(), None, None, o.reduction.name())}
}

op! {
    {
        /// The cross entropy of labels of which any number may hold, each with its own logit: the mean over the last
        /// axis of `-target * logsigmoid(input) - (1 - target) * logsigmoid(-input)`, and the mean or sum of these.
        ///
        /// Args: `input` floating dtype, of at least one axis; `target` of 0 and 1 and `weight` of any shapes that
        /// broadcast with it; `reduction` `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or a loss per row for `Reduction::None`.
        ///
        /// Derivative: `g * weight * (sigmoid(input) - target)`, divided by the size of the last axis and the count for
        /// `Reduction::Mean`.
        ///
        /// Errors: if shapes do not broadcast, for no axis, for another reduction.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::multilabel_soft_margin_loss(&tensor![1000f32, -1000.0], &tensor![1f32, 0.0]);
        /// assert_eq!(y.item::<f64>()?, 0.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [multilabel_soft_margin_loss try_multilabel_soft_margin_loss multilabel_soft_margin_loss_with
        try_multilabel_soft_margin_loss_with] ([] input: &Tensor,
        target: &Tensor)
    -> Tensor = engine::nn::huber::multilabel_soft_margin_loss, (input.engine(), target.engine(), None, None, None,
        "mean")
    {['o] o: WeightReductionOptions<'o> => Tensor = (input.engine(), target.engine(), o.weight.map(Tensor::engine),
        None, None, o.reduction.name())}
}

op! {
    {
        /// The cross entropy of probabilities and targets, `-(target * log(input) + (1 - target) * log(1 - input))`,
        /// and its mean or sum. Logarithms are not below -100.
        ///
        /// Args: `input` floating dtype, from 0 to 1; `target` of the same shape and dtype; `weight` a tensor whose
        /// shape broadcasts with it, or `None`; `reduction` `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the elements for `Reduction::None`.
        ///
        /// Derivative: `g * (input - target) / (input * (1 - input))` (divided by the count for `Reduction::Mean`); for
        /// the target `g * log((1 - input) / input)`; none for the weight.
        ///
        /// Errors: for other shapes or another reduction; for inputs that are no probabilities, dtypes that differ, or
        /// a weight that requires grad.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::binary_cross_entropy(&tensor![0f32], &tensor![1f32]).item::<f64>()?, 100.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [binary_cross_entropy try_binary_cross_entropy binary_cross_entropy_with try_binary_cross_entropy_with] ([]
        input: &Tensor,
        target: &Tensor)
    -> Tensor = engine::nn::bce::binary_cross_entropy, (input.engine(), target.engine(), None, None, None, "mean")
    {['o] o: WeightReductionOptions<'o> => Tensor = (input.engine(), target.engine(), o.weight.map(Tensor::engine),
        None, None, o.reduction.name())}
}

op! {
    {
        /// The cross entropy of logits and targets: `binary_cross_entropy` of `sigmoid(input)`, without its loss of
        /// precision.
        ///
        /// Args: `input` floating dtype, any number; `target` of the same shape; `weight` a tensor whose shape
        /// broadcasts to it, or `None`; `pos_weight` such a tensor for the positive part, or `None`; `reduction`
        /// `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the elements for `Reduction::None`.
        ///
        /// Derivative: `g * (sigmoid(input) - target)` (divided by the count for `Reduction::Mean`), `-g * input` for
        /// the target; none for the weights.
        ///
        /// Errors: for other shapes or another reduction; for weights that do not broadcast or require grad.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::binary_cross_entropy_with_logits(&tensor![-1000f32], &tensor![1f32]);
        /// assert_eq!(y.item::<f64>()?, 1000.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [binary_cross_entropy_with_logits try_binary_cross_entropy_with_logits binary_cross_entropy_with_logits_with
        try_binary_cross_entropy_with_logits_with] ([] input: &Tensor,
        target: &Tensor)
    -> Tensor = engine::nn::bce::binary_cross_entropy_with_logits, (input.engine(), target.engine(), None, None, None,
        "mean", None)
    {['o] o: BinaryCrossEntropyWithLogitsOptions<'o> => Tensor = (input.engine(), target.engine(),
        o.weight.map(Tensor::engine), None, None, o.reduction.name(), o.pos_weight.map(Tensor::engine))}
}

op! {
    {
        /// The Kullback-Leibler divergence of log probabilities `input` from probabilities `target`, `target *
        /// (log(target) - input)`, and its mean or sum.
        ///
        /// Args: `input` floating dtype, log probabilities; `target` of a shape that broadcasts with it, probabilities,
        /// or their logarithms if `log_target`; `reduction` `KlReduction::BatchMean` (the sum over dim 0's size),
        /// `KlReduction::Mean`, `KlReduction::Sum` or `KlReduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the elements for `KlReduction::None`.
        ///
        /// Derivative: `-g * target` (divided by the count for `KlReduction::Mean`); for the target `g * (log(target) +
        /// 1 - input)`.
        ///
        /// Errors: if shapes do not broadcast or for integers, for another reduction.
        ///
        /// Needs the feature `nn`.
    }
    fn [kl_div try_kl_div kl_div_with try_kl_div_with] ([] input: &Tensor, target: &Tensor)
    -> Tensor = engine::nn::margin::kl_div, (input.engine(), target.engine(), None, None, "mean", false)
    {[] o: KlDivOptions => Tensor = (input.engine(), target.engine(), None, None, o.reduction.name(), o.log_target)}
}

op! {
    {
        /// The loss of two inputs that are not ranked as the target says, `max(-target * (input1 - input2) + margin,
        /// 0)`, and its mean or sum.
        ///
        /// Args: `input1`, `input2` tensors, `target` of 1 and -1, all of as many dims, with broadcastable shapes;
        /// `margin` a number; `reduction` `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the elements for `Reduction::None`.
        ///
        /// Derivative: `-g * target` where the loss is not below 0, and its negative; `-g * (input1 - input2)` for the
        /// target.
        ///
        /// Errors: if dims differ or shapes do not broadcast, for another reduction.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// let y = ops::nn::margin_ranking_loss(&tensor![1f32], &tensor![3f32], &tensor![1f32]);
        /// assert_eq!(y.item::<f64>()?, 2.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [margin_ranking_loss try_margin_ranking_loss margin_ranking_loss_with try_margin_ranking_loss_with] ([] input1:
        &Tensor,
        input2: &Tensor, target: &Tensor)
    -> Tensor = engine::nn::margin::margin_ranking_loss, (input1.engine(), input2.engine(), target.engine(),
        Scalar::Int(0), None, None, "mean")
    {[] o: MarginReductionOptions => Tensor = (input1.engine(), input2.engine(), target.engine(), o.margin, None, None,
        o.reduction.name())}
}

op! {
    {
        /// The loss of distances: `input` where the target is 1, `max(margin - input, 0)` where it is -1; and its mean
        /// or sum.
        ///
        /// Args: `input` floating dtype; `target` of 1 and -1, whose shape broadcasts with it; `margin` a number;
        /// `reduction` `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the elements for `Reduction::None`.
        ///
        /// Derivative: `g` where the target is 1, `-g` where it is -1 and the input not above the margin.
        ///
        /// Errors: if shapes do not broadcast, for another reduction.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::hinge_embedding_loss(&tensor![3f32, 0.5], &tensor![1f32, -1.0]).item::<f64>()?, 1.75);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [hinge_embedding_loss try_hinge_embedding_loss hinge_embedding_loss_with try_hinge_embedding_loss_with] ([]
        input: &Tensor,
        target: &Tensor)
    -> Tensor = engine::nn::margin::hinge_embedding_loss, (input.engine(), target.engine(), 1.0, None, None, "mean")
    {[] o: HingeEmbeddingLossOptions => Tensor = (input.engine(), target.engine(), o.margin, None, None,
        o.reduction.name())}
}

op! {
    {
        /// The loss of the angles between vectors: `1 - cos` where the target is 1, `max(cos - margin, 0)` where it is
        /// -1; and its mean or sum.
        ///
        /// Args: `input1`, `input2` of shape (N, D) with `target` of shape (N,), or (D,) with a 0-dim one; `margin` a
        /// number; `reduction` `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the pairs for `Reduction::None`.
        ///
        /// Derivative: that of the cosine, `-g` where the target is 1, `g` where it is -1 and the cosine above the
        /// margin.
        ///
        /// Errors: for other shapes, for another reduction.
        ///
        /// Needs the feature `nn`.
    }
    fn [cosine_embedding_loss try_cosine_embedding_loss cosine_embedding_loss_with try_cosine_embedding_loss_with] ([]
        input1: &Tensor,
        input2: &Tensor, target: &Tensor)
    -> Tensor = engine::nn::margin::cosine_embedding_loss, (input1.engine(), input2.engine(), target.engine(),
        Scalar::Int(0), None, None, "mean")
    {[] o: MarginReductionOptions => Tensor = (input1.engine(), input2.engine(), target.engine(), o.margin, None, None,
        o.reduction.name())}
}

op! {
    {
        /// The loss of an anchor that is not nearer to the positive than to the negative by a margin: `max(d(anchor,
        /// positive) - d(anchor, negative) + margin, 0)`, with the distance `d` along the last dim; and its mean or
        /// sum.
        ///
        /// Args: `anchor`, `positive`, `negative` floating or complex dtype with broadcastable shapes and as many dims;
        /// `margin` a positive number; `p` the norm and `eps` what is added to differences, as for `pairwise_distance`;
        /// `swap` to take the distance of positive and negative where it is smaller; `reduction` `Reduction::Mean`,
        /// `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the triplets for `Reduction::None`.
        ///
        /// Derivative: that of the distances, where the loss is not below 0.
        ///
        /// Errors: if shapes are incompatible, for another reduction or margin.
        ///
        /// Needs the feature `nn`.
    }
    fn [triplet_margin_loss try_triplet_margin_loss triplet_margin_loss_with try_triplet_margin_loss_with] ([] anchor:
        &Tensor,
        positive: &Tensor, negative: &Tensor)
    -> Tensor = engine::nn::margin::triplet_margin_loss, (anchor.engine(), positive.engine(), negative.engine(), 1.0,
        Scalar::Int(2), 1e-6, false, None, None, "mean")
    {[] o: TripletMarginLossOptions => Tensor = (anchor.engine(), positive.engine(), negative.engine(), o.margin, o.p,
        o.eps, o.swap, None, None, o.reduction.name())}
}

op! {
    {
        /// The negative log likelihood of normal distributions, `(log(var) + (input - target)**2 / var) / 2`, and its
        /// mean or sum.
        ///
        /// Args: `input` the means, floating dtype; `target` of the same shape or one that broadcasts; `var` a number,
        /// or a tensor of the input's shape, or of it with the last size 1 or left out, not negative; `full` to add the
        /// constant `log(2 * pi) / 2`; `eps` the least variance, to which smaller ones are raised (which the derivative
        /// ignores); `reduction` `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the elements for `Reduction::None`.
        ///
        /// Derivative: `g * (input - target) / var` and its negative; `g * (1 - (input - target)**2 / var) / (2 *
        /// var)`.
        ///
        /// Errors: for a negative or misshapen variance or another reduction.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::gaussian_nll_loss(&tensor![1f32], &tensor![3f32], &tensor![1f32]).item::<f64>()?, 2.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [gaussian_nll_loss try_gaussian_nll_loss gaussian_nll_loss_with try_gaussian_nll_loss_with] (['a] input: &Tensor,
        target: &Tensor, var: impl Into<Operand<'a>>)
    -> Tensor = engine::nn::margin::gaussian_nll_loss, (input.engine(), target.engine(), &as_operand(var), false, 1e-6,
        "mean")
    {[] o: GaussianNllLossOptions => Tensor = (input.engine(), target.engine(), &as_operand(var), o.full, o.eps,
        o.reduction.name())}
}

op! {
    {
        /// The negative log likelihood of Poisson distributions, `exp(input) - target * input`, or `input - target *
        /// log(input + eps)`, and its mean or sum.
        ///
        /// Args: `input` the logarithms of the means if `log_input`, else the means; `target` the counts, of a shape
        /// that broadcasts; `full` to add Stirling's approximation of `log(target!)` for targets above 1; `eps` a
        /// number; `reduction` `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the elements for `Reduction::None`.
        ///
        /// Derivative: `g * (exp(input) - target)`, or `g * (1 - target / (input + eps))`; `-g * input`, or `-g *
        /// log(input + eps)`, for the target.
        ///
        /// Errors: if shapes do not broadcast, for another reduction.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::poisson_nll_loss(&tensor![0f32], &tensor![5f32]).item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [poisson_nll_loss try_poisson_nll_loss poisson_nll_loss_with try_poisson_nll_loss_with] ([] input: &Tensor,
        target: &Tensor)
    -> Tensor = engine::nn::margin::poisson_nll_loss, (input.engine(), target.engine(), true, false, None, 1e-8, None,
        "mean")
    {[] o: PoissonNllLossOptions => Tensor = (input.engine(), target.engine(), o.log_input, o.full, None, o.eps, None,
        o.reduction.name())}
}

op! {
    {
        /// The loss of connectionist temporal classification: minus the logarithm of the probability that the classes
        /// of the time steps, with repetitions and blanks removed, spell the target.
        ///
        /// Args: `log_probs` logarithms of probabilities from `log_softmax`, (T, N, C) or (T, C), float32 or float64;
        /// `targets` classes, integers, (N, S), or one after the other; `input_lengths`, `target_lengths` how many
        /// steps and labels each sequence has; `blank` the class of the blank; `reduction` `Reduction::Mean` (each loss
        /// divided by its target's length), `Reduction::Sum` or `Reduction::None`; `zero_infinity` makes losses of
        /// targets that are too long zero.
        ///
        /// Returns: a 0-dim tensor, or one loss for each sequence for `Reduction::None`.
        ///
        /// Derivative: `g * (exp(log_probs) - w)`, with `w` the probability of a class at a step given the target: the
        /// gradient for logarithms made by `log_softmax`.
        ///
        /// Errors: for sizes, lengths and dtypes that are incompatible; for a target out of range.
        ///
        /// Needs the feature `nn`.
    }
    fn [ctc_loss try_ctc_loss ctc_loss_with try_ctc_loss_with] ([] log_probs: &Tensor, targets: &Tensor,
        input_lengths: impl Into<Shape>, target_lengths: impl Into<Shape>)
    -> Tensor = engine::nn::ctc::ctc_loss, (log_probs.engine(), targets.engine(), as_shape(input_lengths).as_slice(),
        as_shape(target_lengths).as_slice(), 0, "mean", false)
    {[] o: BlankReductionZeroInfinityOptions => Tensor = (log_probs.engine(), targets.engine(),
        as_shape(input_lengths).as_slice(), as_shape(target_lengths).as_slice(), o.blank, o.reduction.name(),
        o.zero_infinity)}
}

op! {
    {
        /// As above, with lengths that are tensors of integers.
        ///
        /// Needs the feature `nn`.
        #[doc(alias = "ctc_loss")]
    }
    fn [ctc_loss_tensors try_ctc_loss_tensors ctc_loss_tensors_with try_ctc_loss_tensors_with] ([] log_probs: &Tensor,
        targets: &Tensor, input_lengths: &Tensor, target_lengths: &Tensor)
    -> Tensor = engine::nn::ctc::ctc_loss_of_tensors, (log_probs.engine(), targets.engine(), input_lengths.engine(),
        target_lengths.engine(), 0, "mean", false)
    {[] o: BlankReductionZeroInfinityOptions => Tensor = (log_probs.engine(), targets.engine(), input_lengths.engine(),
        target_lengths.engine(), o.blank, o.reduction.name(), o.zero_infinity)}
}

op! {
    {
        /// The loss of the class of each sample that does not score above the others by a margin: the sum over the
        /// other classes of `max(margin - x[target] + x, 0)**p`, over the number of classes; and its mean or sum over
        /// the samples.
        ///
        /// Args: `input` scores (N, C) or (C,), float32 or float64; `target` int64 classes (N,) or (); `p` 1 or 2;
        /// `margin` a number; `weight` (C,) of the dtype of `input` multiplies the losses of each class; `reduction`
        /// `Reduction::Mean`, `Reduction::Sum` or `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the samples for `Reduction::None`.
        ///
        /// Derivative: for the other classes `g * p * max(..)**(p - 1) / C` times the weight, where the maximum is not
        /// 0, and for the target minus their sum; to second order and in forward mode, which torch has not.
        ///
        /// Errors: for other shapes or classes that are out of range, for another `p` or reduction.
        ///
        /// ```
        /// use retrograd::{Tensor, ops, tensor};
        ///
        /// assert_eq!(ops::nn::multi_margin_loss(&tensor![0f32, 1.0], &Tensor::from(0i64)).item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [multi_margin_loss try_multi_margin_loss multi_margin_loss_with try_multi_margin_loss_with] ([] input: &Tensor,
        target: &Tensor)
    -> Tensor = engine::nn::class_margin::multi_margin_loss, (input.engine(), target.engine(), Scalar::Int(1),
        Scalar::Float(1.0), None, None, None, "mean")
    {['o] o: MultiMarginLossOptions<'o> => Tensor = (input.engine(), target.engine(), o.p, o.margin,
        o.weight.map(Tensor::engine), None, None, o.reduction.name())}
}

op! {
    {
        /// The loss of the classes of each sample, of which there may be several, that do not score above the other
        /// classes by 1: the sum over the pairs of them of `max(1 - x[target] + x[other], 0)`, over the number of
        /// classes; and its mean or sum over the samples.
        ///
        /// Args: `input` scores (N, C) or (C,), float32 or float64; `target` int64 of the same sizes: the classes of
        /// each sample, of which those before the first -1 count; `reduction` `Reduction::Mean`, `Reduction::Sum` or
        /// `Reduction::None`.
        ///
        /// Returns: a 0-dim tensor, or the losses of the samples for `Reduction::None`.
        ///
        /// Derivative: `g / C` for the other class and `-g / C` for the target of every pair whose maximum is not 0;
        /// its derivative is zero. Torch has no forward mode here, and no second derivative.
        ///
        /// Errors: for other shapes or classes that are out of range, for another reduction.
        ///
        /// ```
        /// use retrograd::{ops, tensor};
        ///
        /// assert_eq!(ops::nn::multilabel_margin_loss(&tensor![0f32, 1.0], &tensor![0i64, -1]).item::<f64>()?, 1.0);
        /// # Ok::<(), retrograd::Error>(())
        /// ```
        ///
        /// Needs the feature `nn`.
    }
    fn [multilabel_margin_loss try_multilabel_margin_loss multilabel_margin_loss_with try_multilabel_margin_loss_with]
        ([] input: &Tensor,
        target: &Tensor)
    -> Tensor = engine::nn::class_margin::multilabel_margin_loss, (input.engine(), target.engine(), None, None, "mean")
    {[] o: ReductionOptions => Tensor = (input.engine(), target.engine(), None, None, o.reduction.name())}
}
