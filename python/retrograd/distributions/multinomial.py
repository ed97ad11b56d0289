"""Multinomial: how often each class comes in `n` draws."""

from __future__ import annotations

import retrograd as rg
from retrograd import Size, Tensor, inf
from retrograd.distributions import constraints
from retrograd.distributions._categories import OverCategories
from retrograd.distributions.binomial import Binomial
from retrograd.distributions.categorical import Categorical
from retrograd.distributions.utils import broadcast_all
from retrograd.types import _size

__all__ = ["Multinomial"]


class Multinomial(OverCategories):
    """The counts of each class in `total_count` draws; `probs` are weights of the classes, or `logits` their
    logarithms. `log_prob` takes the total from its argument.

    >>> rg.distributions.Multinomial(8, rg.tensor([1.0, 3.0])).mean
    tensor([2., 6.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int
    _expanded = OverCategories._expanded
    _shared = ("total_count",)

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> constraints.Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: _size = Size()) -> Tensor:
        classes = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = classes.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add_(-1, classes, rg.ones_like(classes)).type_as(self.probs)

    def entropy(self) -> Tensor:
        n = rg.tensor(self.total_count)
        each = Binomial(total_count=self.total_count, probs=self.probs)
        counts = each.enumerate_support(expand=False)[1:]
        repeated = (rg.exp(each.log_prob(counts)) * rg.lgamma(counts + 1)).sum([0, -1])
        return n * self._categorical.entropy() - rg.lgamma(n + 1) + repeated

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -inf), 0)
        log_orders = rg.lgamma(value.sum(-1) + 1) - rg.lgamma(value + 1).sum(-1)
        return log_orders + (logits * value).sum(-1)
