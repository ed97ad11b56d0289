"""Distributions of vectors over classes, which keep a categorical distribution of these classes."""

from __future__ import annotations

from typing import ClassVar

from retrograd import Size, Tensor
from retrograd.distributions.categorical import Categorical
from retrograd.distributions.distribution import Distribution


class OverCategories(Distribution):
    """A distribution whose `probs` and `logits` are those of a categorical one."""

    _categorical: Categorical
    _expanded: ClassVar[tuple[str, ...]] = ("_categorical",)

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._categorical.param_shape
