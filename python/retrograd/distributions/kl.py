"""Divergences `KL(p || q)`, found by the classes of both distributions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from retrograd import Tensor
from retrograd.distributions.distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

F = TypeVar("F", bound=Callable[..., Tensor])

_KL_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}
_KL_MEMOIZE: dict[tuple[type, type], Callable[[Any, Any], Tensor] | None] = {}  # of classes that were asked for


def register_kl(type_p: Any, type_q: Any) -> Callable[[F], F]:
    """A decorator that makes a function of `p` and `q` the divergence of these classes and of their subclasses.

    Of the functions for base classes, the most specific one counts; where none is so for both classes, a
    RuntimeWarning asks for a function of its own for the pair.

    >>> class Certain(rg.distributions.Uniform): ...
    >>> @rg.distributions.register_kl(Certain, Certain)
    ... def _(p, q):
    ...     return rg.zeros(p.batch_shape)
    >>> certain = Certain(0.0, 1.0)
    >>> rg.distributions.kl_divergence(certain, certain)
    tensor(0.)
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type) or not issubclass(kind, Distribution):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def register(function: F) -> F:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return register


def _dispatch_kl(type_p: type, type_q: type) -> Callable[[Any, Any], Tensor] | None:
    """The most specific function: nearest first in the bases of `type_p` and then of `type_q`, and the other way."""
    bases_p, bases_q = type_p.__mro__, type_q.__mro__
    matches = [(bases_p.index(p), bases_q.index(q), p, q) for p, q in _KL_REGISTRY if p in bases_p and q in bases_q]
    if not matches:
        return None
    _, _, left_p, left_q = min(matches, key=lambda m: (m[0], m[1]))
    _, _, right_p, right_q = min(matches, key=lambda m: (m[1], m[0]))
    function = _KL_REGISTRY[left_p, left_q]
    if function is not _KL_REGISTRY[right_p, right_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({left_p.__name__}, {right_q.__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return function


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean of `log p(x) - log q(x)` over draws of `p`, for each of the batch.

    Raises: NotImplementedError for classes that no function was registered for.

    >>> Normal = rg.distributions.Normal
    >>> rg.distributions.kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    pair = type(p), type(q)
    try:
        function = _KL_MEMOIZE[pair]
    except KeyError:
        function = _KL_MEMOIZE[pair] = _dispatch_kl(*pair)
    if function is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}"
        )
    return function(p, q)
