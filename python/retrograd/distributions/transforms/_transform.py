"""What every transform has: an inverse, a cache of its last value, shapes."""

from __future__ import annotations

from typing import Any, ClassVar

from retrograd import Size, Tensor
from retrograd.distributions.constraints import Constraint, dependent_property


class Transform:
    """A function from `domain` to `codomain`. A subclass writes `_call`, `_inverse` and, if it is `bijective`,
    `log_abs_det_jacobian`; `sign` is 1 for a function that grows, -1 for one that falls.

    With `cache_size` 1, the last argument and value are kept, so that the inverse of a value gives the argument
    itself, exactly and at no cost, with its gradients.

    A subclass with an `__init__` of its own names in `_arguments` the attributes that its arguments are kept in.
    """

    bijective = False
    domain: Any
    codomain: Any
    _arguments: ClassVar[tuple[str, ...] | None] = ()

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Transform | None = None
        self._cached_x_y: tuple[Tensor | None, Tensor | None] = None, None
        super().__init__()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """How many dims at the end make one argument and one value, where these are as many."""
        if self.domain.event_dim == self.codomain.event_dim:
            return int(self.domain.event_dim)
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse, whose inverse is this transform itself."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """1 for a function that grows, -1 for one that falls."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with a cache of that size."""
        if self._cache_size == cache_size:
            return self
        kind: Any = type(self)
        owner: Any = next(c for c in kind.__mro__ if "_arguments" in vars(c))
        if self._arguments is None or kind.__init__ is not owner.__init__:
            raise NotImplementedError(f"{kind}.with_cache is not implemented")
        same: Transform = kind(*[getattr(self, name) for name in self._arguments], cache_size=cache_size)
        return same

    def __eq__(self, other: object) -> bool:
        return self is other

    def __call__(self, x: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._call(x)
        x_old, y_old = self._cached_x_y
        if y_old is not None and x is x_old:
            return y_old
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        x_old, y_old = self._cached_x_y
        if x_old is not None and y is y_old:
            return x_old
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """`log |dy/dx|`, of the argument and its value."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}()"

    def forward_shape(self, shape: Size) -> Size:
        """The shape of the value of an argument of that shape."""
        return shape

    def inverse_shape(self, shape: Size) -> Size:
        """The shape of the argument of a value of that shape."""
        return shape


class ParameterlessTransform(Transform):
    """A transform without parameters: all of one class are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)


class _InverseTransform(Transform):
    """The inverse of a transform, which keeps the values of both."""

    _arguments = None
    _inv: Transform

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    @dependent_property(is_discrete=False)
    def domain(self) -> Constraint:
        codomain: Constraint = self._inv.codomain
        return codomain

    @dependent_property(is_discrete=False)
    def codomain(self) -> Constraint:
        domain: Constraint = self._inv.domain
        return domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Size) -> Size:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Size) -> Size:
        return self._inv.forward_shape(shape)
