"""Distributions that are given by probabilities or by their logits, of which the other is computed when needed."""

from __future__ import annotations

from typing import ClassVar

from retrograd import Size, Tensor
from retrograd.distributions.distribution import Distribution
from retrograd.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits
from retrograd.types import Number


def chosen(probs: Tensor | Number | None, logits: Tensor | Number | None) -> str:
    """Which of the two is given: 'probs' or 'logits'."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return "probs" if logits is None else "logits"


class BinaryProbabilities(Distribution):
    """A distribution of the probability `probs` of success, or of its log-odds `logits`."""

    _expanded: ClassVar[tuple[str, ...]] = ("probs", "logits")
    _shared: ClassVar[tuple[str, ...]] = ("_given",)

    def _broadcast(
        self, probs: Tensor | Number | None, logits: Tensor | Number | None, *others: Tensor | Number
    ) -> list[Tensor]:
        """Keeps the probabilities or logits, and returns the others in their shape."""
        self._given = chosen(probs, logits)
        given = logits if probs is None else probs
        assert given is not None
        *rest, param = broadcast_all(*others, given)
        setattr(self, self._given, param)
        return rest

    @property
    def _param(self) -> Tensor:
        param: Tensor = getattr(self, self._given)
        return param

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._param.shape

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds of success."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of success."""
        return logits_to_probs(self.logits, is_binary=True)
