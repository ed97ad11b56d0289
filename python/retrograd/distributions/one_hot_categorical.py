"""One of `k` classes, as a vector with a 1 in its place."""

from __future__ import annotations

import retrograd as rg
from retrograd import Size, Tensor
from retrograd.distributions import constraints
from retrograd.distributions._categories import OverCategories
from retrograd.distributions.categorical import Categorical
from retrograd.nn.functional import one_hot
from retrograd.types import _size

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OverCategories):
    """Vectors with a 1 in the place of a class and 0 elsewhere; `probs` are weights of the classes, along the last
    dim, or `logits` their logarithms, and both are normalised.

    >>> rg.distributions.OneHotCategorical(rg.tensor([1.0, 3.0])).mode
    tensor([0., 1.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True
    _expanded = OverCategories._expanded

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return one_hot(self.probs.argmax(dim=-1), num_classes=self.event_shape[0]).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: _size = Size()) -> Tensor:
        return one_hot(self._categorical.sample(sample_shape), self.event_shape[0]).to(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        values = rg.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n, *(1 for _ in self._batch_shape), n))
        return values.expand((n, *self._batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot vectors whose `rsample` passes its gradient on to the probabilities as if it were these (Bengio,
    Leonard and Courville 2013).

    >>> rg.distributions.OneHotCategoricalStraightThrough(rg.ones(2)).has_rsample
    True
    """

    has_rsample = True

    def rsample(self, sample_shape: _size = Size()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
