"""Functions that `nn.functional` has with other arguments: torch has both forms.

Here `reduction` is 0 for none, 1 for the mean and 2 for the sum. Derivatives, dtypes and errors are those of the
functions of the same name in `nn.functional`.

>>> rg.kl_div(rg.tensor([0.0]), rg.tensor([1.0]), 2, log_target=True)
tensor(2.7183)
"""

from __future__ import annotations

from collections.abc import Sequence

from retrograd._core import Generator, Tensor, mm
from retrograd._core import _nn_functional as F

spmm = mm
REDUCTIONS = ("none", "mean", "sum")


def _word(op: str, reduction: int) -> str:
    if not 0 <= reduction < len(REDUCTIONS):
        raise ValueError(
            f"{op}: {reduction} is not a valid value for reduction: pass 0 for none, 1 for mean, 2 for sum"
        )
    return REDUCTIONS[reduction]


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.batch_norm`, with its arguments in another order.

    >>> rg.batch_norm(rg.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 0.0, False).tolist()
    [[-1.0], [1.0]]
    """
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.instance_norm`, with its arguments in another order.

    >>> rg.instance_norm(rg.tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 0.0, False).tolist()
    [[[-1.0, 1.0]]]
    """
    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """`nn.functional.layer_norm`.

    >>> rg.layer_norm(rg.tensor([[1.0, 3.0]]), (2,), eps=0.0).tolist()
    [[-1.0, 1.0]]
    """
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """`nn.functional.group_norm`.

    >>> rg.group_norm(rg.tensor([[1.0, 3.0]]), 1, eps=0.0).tolist()
    [[-1.0, 1.0]]
    """
    return F.group_norm(input, num_groups, weight, bias, eps)


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """`nn.functional.embedding`, the table first. A negative `padding_idx` is none.

    >>> rg.embedding(rg.tensor([[1.0], [2.0]]), rg.tensor([1, 0])).tolist()
    [[2.0], [1.0]]
    """
    padding = padding_idx if padding_idx >= 0 else None
    return F.embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def rrelu(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """`nn.functional.rrelu`; other generators than the default one are refused.

    >>> rg.rrelu(rg.tensor([-1.0, 2.0]), 0.5, 0.5).tolist()
    [-0.5, 2.0]
    """
    if generator is not None:
        raise NotImplementedError("rrelu: only the default generator's numbers are used: leave generator out")
    return F.rrelu(input, lower, upper, training)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    """`nn.functional.binary_cross_entropy_with_logits`.

    >>> rg.binary_cross_entropy_with_logits(rg.zeros(2), rg.ones(2), reduction=0)
    tensor([0.6931, 0.6931])
    """
    how = _word("binary_cross_entropy_with_logits", reduction)
    return F.binary_cross_entropy_with_logits(input, target, weight, reduction=how, pos_weight=pos_weight)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """`nn.functional.cosine_embedding_loss`.

    >>> rg.cosine_embedding_loss(rg.ones(1, 2), rg.ones(1, 2), rg.tensor([-1]), 0.5).item()
    0.5
    """
    how = _word("cosine_embedding_loss", reduction)
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=how)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1) -> Tensor:
    """`nn.functional.hinge_embedding_loss`.

    >>> rg.hinge_embedding_loss(rg.tensor([0.5]), rg.tensor([-1.0])).item()
    0.5
    """
    how = _word("hinge_embedding_loss", reduction)
    return F.hinge_embedding_loss(input, target, margin, reduction=how)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """`nn.functional.margin_ranking_loss`.

    >>> rg.margin_ranking_loss(rg.tensor([1.0]), rg.tensor([3.0]), rg.tensor([1.0])).item()
    2.0
    """
    how = _word("margin_ranking_loss", reduction)
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=how)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 1,
) -> Tensor:
    """`nn.functional.triplet_margin_loss`.

    >>> rg.triplet_margin_loss(rg.zeros(1, 1), rg.zeros(1, 1), rg.zeros(1, 1)).item()
    1.0
    """
    how = _word("triplet_margin_loss", reduction)
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=how)


def kl_div(input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor:
    """`nn.functional.kl_div`.

    >>> rg.kl_div(rg.tensor([-1.0]), rg.tensor([1.0])).item()
    1.0
    """
    how = _word("kl_div", reduction)
    if how == "mean":  # nn.functional warns of it, where it is the word and the default
        return F.kl_div(input, target, reduction="none", log_target=log_target).mean()
    return F.kl_div(input, target, reduction=how, log_target=log_target)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """`nn.functional.poisson_nll_loss`.

    >>> rg.poisson_nll_loss(rg.zeros(1), rg.ones(1), True, False, 1e-8, 1).item()
    1.0
    """
    how = _word("poisson_nll_loss", reduction)
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=how)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """`nn.functional.ctc_loss`.

    >>> rg.ctc_loss(rg.zeros(1, 1, 2), rg.tensor([[1]]), (1,), (1,)).item()
    0.0
    """
    how = _word("ctc_loss", reduction)
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, how, zero_infinity)
