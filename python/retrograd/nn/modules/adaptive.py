"""A softmax over many classes, of which few are frequent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.modules.container import ModuleList, Sequential
from retrograd.nn.modules.linear import Linear
from retrograd.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of `n_classes`, where rare classes get fewer features.

    Classes, from frequent to rare, are split at `cutoffs`. The head decides between those before the first, and the
    clusters between cutoffs; within cluster i it is decided with `in_features / div_value**(i + 1)` features.
    Args: `head_bias` whether the head adds something. A call has inputs (N, in_features) and classes (N,), or one of
    each; it returns the log-probabilities of the classes as `output`, and minus their mean as `loss`.
    Raises: ValueError for cutoffs that are no increasing numbers from 1 to `n_classes - 1`.

    >>> layer = rg.nn.AdaptiveLogSoftmaxWithLoss(4, 10, cutoffs=[2, 5], div_value=2.0)
    >>> layer(rg.ones(3, 4), rg.tensor([0, 4, 9])).output.shape
    retrograd.Size([3])
    >>> layer.log_prob(rg.ones(3, 4)).shape, layer.predict(rg.ones(3, 4)).shape
    (retrograd.Size([3, 10]), retrograd.Size([3]))
    """

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool
    head: Linear
    tail: ModuleList

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        ends = [0, *cutoffs, n_classes]
        if any(low >= high for low, high in pairwise(ends)) or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            features = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, features, bias=False, device=device, dtype=dtype),
                    Linear(features, high - low, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw the parameters anew.

        >>> rg.nn.AdaptiveLogSoftmaxWithLoss(4, 10, cutoffs=[2]).reset_parameters()
        """
        self.head.reset_parameters()
        for layer in self.tail.modules():
            if isinstance(layer, Linear):
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        self._check(input_, target_)
        batched = target_.dim() > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        batch = target.size(0)
        within = input.new_zeros(batch)  # the log-probability of a class within its cluster
        in_head = target.new_empty(batch)  # which class or cluster the head has to find
        seen = 0
        for i, (low, high) in enumerate(pairwise([0, *self.cutoffs])):
            chosen = (target >= low) & (target < high)
            rows = chosen.nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            seen += rows.numel()
            if i == 0:
                in_head.index_copy_(0, rows, target[chosen])
                continue
            log_probs = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
            of_class = log_probs.gather(1, (target[chosen] - low).unsqueeze(1)).squeeze(1)
            within.index_copy_(0, rows, of_class)
            in_head.index_fill_(0, rows, self.shortlist_size + i - 1)
        if seen != batch:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        log_probs = F.log_softmax(self.head(input), dim=1)
        output = within + log_probs.gather(1, in_head.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    @staticmethod
    def _check(input: Tensor, target: Tensor) -> None:
        if target.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.dim() == 1 and input.size(0) != target.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.dim() != target.dim() + 1:
            raise RuntimeError(
                f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, "
                f"but found inputs with size {input.size()}"
            )

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        out = input.new_empty((head_output.size(0), self.n_classes))
        of_head = F.log_softmax(head_output, dim=1)
        out[:, : self.shortlist_size] = of_head[:, : self.shortlist_size]
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            of_cluster = of_head[:, self.shortlist_size + i].unsqueeze(1)
            out[:, low:high] = F.log_softmax(self.tail[i](input), dim=1) + of_cluster
        return out

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities (N, n_classes) of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable classes (N,). Clusters are asked only if the head prefers one of them."""
        head_output: Tensor = self.head(input)
        output = head_output.argmax(dim=1)
        rare = output >= self.shortlist_size
        if not rare.any():
            return output
        if rare.all():
            return self._get_full_log_prob(input, head_output).argmax(dim=1)
        output[rare] = self._get_full_log_prob(input[rare], head_output[rare]).argmax(dim=1)
        return output
