"""What every distribution has: shapes, checks of parameters and values, and copies with more batch dims."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import retrograd as rg
from retrograd import Size, Tensor
from retrograd.distributions.constraints import Constraint, is_dependent
from retrograd.distributions.utils import lazy_property
from retrograd.types import _size

__all__ = ["Distribution"]


class Distribution:
    """The base class of distributions: `batch_shape` counts independent ones, `event_shape` is that of one draw.

    A subclass names in `_expanded` the attributes whose first dims are the batch shape (tensors and distributions),
    and in `_shared` what a copy by `expand` takes as it is. A subclass with an `__init__` of its own declares them
    anew; one that declares nothing writes `expand` itself.

    >>> class Triangular(rg.distributions.Distribution):
    ...     arg_constraints = {"width": rg.distributions.constraints.positive}
    ...     support = rg.distributions.constraints.real
    ...     _expanded = ("width",)
    ...     def __init__(self, width):
    ...         self.width = width
    ...         super().__init__(width.shape)
    ...     def rsample(self, sample_shape=()):
    ...         shape = self._extended_shape(sample_shape)
    ...         return self.width * (rg.rand(shape) + rg.rand(shape) - 1)
    >>> t = Triangular(rg.ones(3))
    >>> t, t.sample((2,)).shape
    (Triangular(width: retrograd.Size([3])), retrograd.Size([2, 3]))
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    _expanded: ClassVar[tuple[str, ...] | None] = None
    _shared: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether parameters and values are checked where `validate_args` does not say: yes, but for `python -O`.

        >>> rg.distributions.Distribution.set_default_validate_args(True)
        """
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Size = Size(), event_shape: Size = Size(), validate_args: bool | None = None
    ) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    def _validate_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. "
                "Please set `arg_constraints = {}` or initialize the distribution "
                "with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        for name, constraint in arg_constraints.items():
            if is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) "
                    f"of distribution {self!r} to satisfy the constraint {constraint!r}, "
                    f"but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: _size, _instance: Any = None) -> Self:
        """The distribution with its batch dims expanded to `batch_shape`: views of the same parameters, not checked
        again.

        >>> rg.distributions.Normal(rg.zeros(3), 1.0).expand((2, 3)).batch_shape
        retrograd.Size([2, 3])
        """
        if self._expanded is None:
            raise NotImplementedError
        owner = next(c for c in type(self).__mro__ if "_expanded" in vars(c))
        new = self._get_checked_instance(owner, _instance)
        batch_shape = Size(batch_shape)
        batch_ndim = len(self._batch_shape)
        for name in self._expanded:
            if name in self.__dict__ or not isinstance(getattr(type(self), name, None), lazy_property):
                value = getattr(self, name)
                shape = value.batch_shape if isinstance(value, Distribution) else value.shape
                setattr(new, name, value.expand(batch_shape + shape[batch_ndim:]))
        for name in self._shared:
            setattr(new, name, getattr(self, name))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _get_checked_instance(self, cls: type[Distribution], _instance: Any = None) -> Self:
        """What `expand` fills: `_instance`, or a new one if the class has the `__init__` of `cls`."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        new: Self = self.__new__(type(self)) if _instance is None else _instance
        return new

    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw, without batch dims."""
        return self._event_shape

    @property
    def arg_constraints(self) -> Mapping[str, Constraint]:
        """What each parameter must satisfy."""
        raise NotImplementedError

    @property
    def support(self) -> Constraint | None:
        """What draws satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The value of the highest density."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: _size = Size()) -> Tensor:
        """Draws of shape `sample_shape + batch_shape + event_shape`, without gradients.

        >>> rg.distributions.Normal(rg.zeros(3), 1.0).sample((2,)).shape
        retrograd.Size([2, 3])
        """
        with rg.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: _size = Size()) -> Tensor:
        """Draws through which the parameters get gradients, where `has_rsample` says so.

        >>> scale = rg.ones(2, requires_grad=True)
        >>> rg.distributions.Normal(0.0, scale).rsample((5,)).requires_grad
        True
        """
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """`sample((n,))`, by its old name, with a warning. Write `d.sample((n,))` instead of `d.sample_n(n)`.

        >>> d = rg.distributions.Normal(rg.zeros(3), 1.0)
        >>> d.sample((2,)).shape  # d.sample_n(2)
        retrograd.Size([2, 3])
        """
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", category=FutureWarning, stacklevel=2
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, of `value`.

        >>> rg.distributions.Uniform(0.0, rg.tensor(2.0)).log_prob(rg.tensor([0.5, 1.0]))
        tensor([-0.6931, -0.6931])
        """
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a draw not above `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The point whose `cdf` is `value`.

        >>> rg.distributions.Uniform(0.0, rg.tensor(2.0)).icdf(rg.tensor(0.25))
        tensor(0.5000)
        """
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Every value that a draw can have, along the first dim; with `expand` for each of the batch.

        >>> rg.distributions.Bernoulli(rg.tensor([0.2, 0.7])).enumerate_support()
        tensor([[0., 0.],
                [1., 1.]])
        """
        raise NotImplementedError

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """Values along the first dim, with a dim of size 1 for every batch dim, or expanded to these."""
        values = values.view((-1, *(1 for _ in self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def entropy(self) -> Tensor:
        """The entropy, of shape `batch_shape`.

        >>> rg.distributions.Uniform(0.0, rg.tensor(1.0)).entropy()
        tensor(0.)
        """
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """The exponential of the entropy.

        >>> rg.distributions.Categorical(rg.ones(4)).perplexity()
        tensor(4.)
        """
        return rg.exp(self.entropy())

    def _extended_shape(self, sample_shape: _size = Size()) -> Size:
        return Size((*tuple(sample_shape), *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Tensor) -> None:
        """Refuses a value whose shape does not fit or that is outside the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape = value.shape
        if shape[len(shape) - len(self._event_shape) :] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}.")
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(shape), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable "
                "sample validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=2,
            )
            return
        if support is None:
            raise AssertionError("support is unexpectedly None")
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, "
                f"but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        parameters = ((name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__)
        text = ", ".join(f"{name}: {p if p.numel() == 1 else p.size()}" for name, p in parameters)
        return f"{self.__class__.__name__}({text})"
