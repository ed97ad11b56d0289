"""Categorical: one of `k` classes."""

from __future__ import annotations

import retrograd as rg
from retrograd import Size, Tensor, nan
from retrograd.distributions import constraints
from retrograd.distributions._probabilities import chosen
from retrograd.distributions.distribution import Distribution
from retrograd.distributions.utils import lazy_property, logits_to_probs, probs_to_logits
from retrograd.types import _size

__all__ = ["Categorical"]


class Categorical(Distribution):
    """The number of a class, from 0; `probs` are weights of the classes, along the last dim, or `logits` their
    logarithms, and both are normalised.

    >>> rg.distributions.Categorical(rg.tensor([1.0, 3.0])).probs
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _expanded = ("probs", "logits")
    _shared = ("_given", "_num_events")

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._given = chosen(probs, logits)
        given = logits if probs is None else probs
        assert given is not None
        if given.dim() < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        if self._given == "probs":
            param = given / given.sum(-1, keepdim=True)
        else:
            param = given - given.logsumexp(dim=-1, keepdim=True)
        setattr(self, self._given, param)
        self._num_events = param.shape[-1]
        super().__init__(param.shape[:-1], validate_args=validate_args)

    @property
    def _param(self) -> Tensor:
        param: Tensor = getattr(self, self._given)
        return param

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._param.shape

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def mean(self) -> Tensor:
        return rg.full(self._extended_shape(), nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        return rg.full(self._extended_shape(), nan, dtype=self.probs.dtype, device=self.probs.device)

    def sample(self, sample_shape: _size = Size()) -> Tensor:
        sample_shape = Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        return rg.multinomial(rows, sample_shape.numel(), True).T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        classes, log_pmf = rg.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return log_pmf.gather(-1, classes[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = rg.clamp(self.logits, min=rg.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(rg.arange(self._num_events, device=self._param.device), expand)
