"""Transforms that map all real numbers into a region, found by its constraint.

>>> rg.distributions.biject_to(rg.distributions.constraints.unit_interval)
SigmoidTransform()
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from retrograd.distributions import constraints, transforms
from retrograd.distributions.constraints import Constraint
from retrograd.distributions.transforms import Transform
from retrograd.types import Number

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """What makes the transform for each kind of constraint.

    >>> registry = rg.distributions.constraint_registry.ConstraintRegistry()
    >>> positive = rg.distributions.constraints.positive
    >>> _ = registry.register(positive, lambda constraint: rg.distributions.SoftplusTransform())
    >>> registry(positive)
    SoftplusTransform()
    """

    def __init__(self) -> None:
        self._registry: dict[type[Constraint], Factory] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Makes `factory` that of a kind of constraint, given as the class or an instance; also as a decorator."""
        if factory is None:
            return partial(self.register, constraint)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """The transform for a constraint."""
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints") from None
        return factory(constraint)


biject_to = ConstraintRegistry()  # bijections, which change densities
transform_to = ConstraintRegistry()  # those that suit optimisation best


def _to_greater_than(constraint: Any) -> Transform:
    shift = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


def _to_less_than(constraint: Any) -> Transform:
    shift = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


def _to_interval(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, Number) and low == 0 and isinstance(high, Number) and high == 1:
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


def _register(registry: ConstraintRegistry) -> None:
    """What both registries have."""
    registry.register(constraints.real, lambda c: transforms.identity_transform)
    for kind in (constraints.greater_than, constraints.greater_than_eq):  # positive and nonnegative too
        registry.register(kind, _to_greater_than)
    registry.register(constraints.less_than, _to_less_than)
    registry.register(constraints.interval, _to_interval)
    registry.register(constraints.half_open_interval, _to_interval)
    registry.register(constraints.corr_cholesky, lambda c: transforms.CorrCholeskyTransform())
    registry.register(
        constraints.independent,
        lambda c: transforms.IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims),
    )
    registry.register(
        constraints.cat, lambda c: transforms.CatTransform([registry(p) for p in c.cseq], c.dim, c.lengths)
    )
    registry.register(constraints.stack, lambda c: transforms.StackTransform([registry(p) for p in c.cseq], c.dim))


_register(biject_to)
_register(transform_to)
biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform())
for _kind in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_kind, lambda c: transforms.PositiveDefiniteTransform())
