"""Losses: functions of predictions and targets, as layers.

`reduction` is "mean", "sum" or "none". `size_average` and `reduce` are deprecated forms of it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn._reduction import legacy_get_string
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.modules._parameters import parameter_of
from retrograd.nn.modules.distance import PairwiseDistance
from retrograd.nn.modules.linear import Linear
from retrograd.nn.modules.module import Module

if TYPE_CHECKING:
    from retrograd.nn._options import LinearCrossEntropyOptions

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _Loss(Module):
    __constants__ = ["reduction"]
    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = legacy_get_string(size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    """`|input - target|`.

    >>> rg.nn.L1Loss()(rg.tensor([1.0, 5.0]), rg.zeros(2))
    tensor(3.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """Minus the log-probability in (N, C, ...) of the class that the target names.

    Args: `weight` of each class; `ignore_index` a target that does not count.

    >>> rg.nn.NLLLoss()(rg.tensor([[-1.0, -2.0]]), rg.tensor([1]))
    tensor(2.)
    """

    __constants__ = ["ignore_index", "reduction"]
    ignore_index: int

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """A deprecated name of `NLLLoss`, which takes inputs of any number of dimensions.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     rg.nn.NLLLoss2d()
    NLLLoss2d()
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> NLLLoss2d:
        if cls is NLLLoss2d:  # not one of a subclass
            warnings.warn(
                "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
                "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
                FutureWarning,
                stacklevel=2,
            )
        return super().__new__(cls)


class PoissonNLLLoss(_Loss):
    """`rate - target * log(rate)`: minus the log-probability of counts, up to a constant.

    Args: `log_input` whether inputs are logarithms of rates; `full` whether Stirling's approximation of the constant is
    added; `eps` is added to rates before the logarithm.

    >>> rg.nn.PoissonNLLLoss()(rg.zeros(1), rg.ones(1))
    tensor(1.)
    """

    __constants__ = ["log_input", "full", "eps", "reduction"]
    log_input: bool
    full: bool
    eps: float

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """`(log(var) + (input - target)^2 / var) / 2`: minus the log-density of a normal distribution, up to a constant.

    Args: `full` whether the constant is added; `eps` the least variance.

    >>> rg.nn.GaussianNLLLoss()(rg.ones(1), rg.zeros(1), rg.ones(1))
    tensor(0.5000)
    """

    __constants__ = ["full", "eps", "reduction"]
    full: bool
    eps: float

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class KLDivLoss(_Loss):
    """`target * (log(target) - input)`: the divergence of the distribution `target` from `exp(input)`.

    Args: `reduction` also "batchmean", the sum over the size of the batch; `log_target` whether targets are logarithms.

    >>> rg.nn.KLDivLoss(reduction="sum")(rg.zeros(2), rg.ones(2))
    tensor(0.)
    """

    log_target: bool

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class MSELoss(_Loss):
    """`(input - target)^2`.

    >>> rg.nn.MSELoss()(rg.tensor([1.0, 3.0]), rg.zeros(2))
    tensor(5.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class BCELoss(_WeightedLoss):
    """`-target * log(input) - (1 - target) * log(1 - input)` of probabilities.

    Args: `weight` of each element.

    >>> rg.nn.BCELoss()(rg.tensor([0.5]), rg.ones(1))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """`BCELoss` of the sigmoid of the input, without overflow.

    Args: `weight` of each element; `pos_weight` of the part with `target`.

    >>> rg.nn.BCEWithLogitsLoss()(rg.zeros(1), rg.ones(1))
    tensor(0.6931)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class HingeEmbeddingLoss(_Loss):
    """The distance `input` where the target is 1, `max(0, margin - input)` where it is -1.

    >>> rg.nn.HingeEmbeddingLoss()(rg.tensor([0.5, 0.25]), rg.tensor([1.0, -1.0]))
    tensor(0.6250)
    """

    __constants__ = ["margin", "reduction"]
    margin: float

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """The hinge loss of pairs of a class that the target names and one that it does not.

    The target has classes until the first -1: see `nn.functional.multilabel_margin_loss`.

    >>> rg.nn.MultiLabelMarginLoss()
    MultiLabelMarginLoss()
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """`|input - target| - beta / 2` where that is large, half of its square over `beta` below `beta`.

    >>> rg.nn.SmoothL1Loss()(rg.tensor([1.0]), rg.zeros(1))
    tensor(0.5000)
    """

    beta: float

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """`(input - target)^2 / 2` below `delta`, linear above. Raises: TypeError if `delta` is no number.

    >>> rg.nn.HuberLoss()(rg.tensor([1.0]), rg.zeros(1))
    tensor(0.5000)
    """

    __constants__ = ["reduction", "delta"]
    delta: float

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, float | int):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class SoftMarginLoss(_Loss):
    """`log(1 + exp(-target * input))` of targets 1 and -1.

    >>> rg.nn.SoftMarginLoss()(rg.zeros(1), rg.ones(1))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """Minus the log-probability of the target, where probabilities are the softmax of (N, C, ...) over classes.

    Args: `weight` of each class; `ignore_index` a target that does not count; `label_smoothing` the part of the
    probability that is spread over all classes. Targets are classes, or probabilities of the size of the input.

    >>> rg.nn.CrossEntropyLoss()(rg.zeros(1, 2), rg.tensor([1]))
    tensor(0.6931)
    """

    __constants__ = ["ignore_index", "reduction", "label_smoothing"]
    ignore_index: int
    label_smoothing: float

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of a linear layer's outputs: see `nn.functional.linear_cross_entropy`.

    Args: `in_features` of inputs, `num_classes` and further sizes `out_features` of outputs; `bias` whether the layer
    adds something; `weight` of each class; the others as of `CrossEntropyLoss`; `options` save memory.
    Parameters: those of `linear`. Raises: RuntimeError for other weights, or a smoothing that is not between 0 and 1.

    >>> rg.nn.LinearCrossEntropyLoss(3, 2)(rg.zeros(1, 3), rg.tensor([1])).detach()
    tensor(0.6931)
    """

    __constants__ = ["num_classes", "out_features", "reduction", "ignore_index", "label_smoothing"]
    num_classes: int
    out_features: tuple[int, ...]
    ignore_index: int | None
    label_smoothing: float
    options: LinearCrossEntropyOptions | None

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: _device_t = None,
        dtype: _dtype_t = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        outputs = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, outputs, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        linear, size = self.linear, (self.num_classes, *self.out_features)
        bias = parameter_of(linear, "bias")
        return F.linear_cross_entropy(
            input,
            parameter_of(linear, "weight").reshape((*size, linear.in_features)),
            target,
            linear_bias=None if bias is None else bias.reshape(size),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, reduction={self.reduction}, "
            f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}, options={self.options}"
        )


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of `BCEWithLogitsLoss`: each class has a target 0 or 1.

    Args: `weight` of each class.

    >>> rg.nn.MultiLabelSoftMarginLoss()(rg.zeros(1, 2), rg.ones(1, 2))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 less the cosine of two vectors where the target is 1, the cosine above `margin` where it is -1.

    >>> rg.nn.CosineEmbeddingLoss()(rg.ones(1, 2), rg.ones(1, 2), -rg.ones(1))
    tensor(1.)
    """

    __constants__ = ["margin", "reduction"]
    margin: float

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """`max(0, -target * (input1 - input2) + margin)`: the target is 1 where the first shall be larger, else -1.

    >>> rg.nn.MarginRankingLoss()(rg.zeros(1), rg.ones(1), rg.ones(1))
    tensor(1.)
    """

    __constants__ = ["margin", "reduction"]
    margin: float

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The hinge loss of each other class with that which the target names: see `nn.functional.multi_margin_loss`.

    Args: `p` 1 or 2, the power of the hinge; `margin` between classes; `weight` of each class.
    Raises: ValueError for another power, or weights of other than 1 dimension.

    >>> rg.nn.MultiMarginLoss(p=2).p
    2
    """

    __constants__ = ["p", "margin", "reduction"]
    margin: float
    p: int

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    """`max(0, distance to positive - distance to negative + margin)`, of anchors.

    Args: `p` the order of the norm of differences, to which `eps` is added; `swap` whether the distance of positive and
    negative counts for the negative, if it is shorter. Raises: ValueError if `margin` is not positive.

    >>> rg.nn.TripletMarginLoss(eps=0.0)(rg.zeros(1, 2), rg.ones(1, 2), rg.ones(1, 2))
    tensor(1.)
    """

    __constants__ = ["margin", "p", "eps", "swap", "reduction"]
    margin: float
    p: float
    eps: float
    swap: bool

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with a distance of one's own.

    Args: `distance_function` of two tensors, by default `PairwiseDistance`; `swap` as of `TripletMarginLoss`.
    Raises: ValueError if `margin` is not positive.

    >>> loss = rg.nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().sum(-1))
    >>> loss(rg.zeros(1, 2), rg.ones(1, 2), rg.zeros(1, 2))
    tensor(3.)
    """

    __constants__ = ["margin", "swap", "reduction"]
    margin: float
    swap: bool

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function = distance_function if distance_function is not None else PairwiseDistance()
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class CTCLoss(_Loss):
    """Minus the log-probability of a sequence of labels, summed over its alignments with the inputs.

    Args: `blank` the label between labels; `zero_infinity` whether infinite losses count zero. A call has `log_probs`
    (T, N, C), `targets`, and the lengths of both: see `nn.functional.ctc_loss`.

    >>> log_probs = rg.zeros(2, 1, 3).log_softmax(-1)
    >>> rg.nn.CTCLoss()(log_probs, rg.tensor([[1]]), rg.tensor([2]), rg.tensor([1]))
    tensor(1.0986)
    """

    __constants__ = ["blank", "reduction"]
    blank: int
    zero_infinity: bool

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
