"""Regions in which ops convert their operands, and what custom functions need to know of them."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from retrograd import _core
from retrograd._core import Tensor, dtype
from retrograd.amp._devices import asked, has_regions, kind, other_dtype
from retrograd.amp._state import get_autocast_dtype, is_autocast_cache_enabled, is_autocast_enabled
from retrograd.autograd.grad_mode import _Mode

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]

_LOWER = (_core.bfloat16, _core.float16)


def is_autocast_available(device_type: str) -> bool:
    """Whether there is autocast for devices of a type; that such a device is there it does not say.

    Raises: RuntimeError if it is no type of device; TypeError if it is no string.

    >>> rg.amp.is_autocast_available("cpu"), rg.amp.is_autocast_available("meta")
    (True, False)
    """
    return has_regions(asked("_is_autocast_available", device_type))


class autocast(_core._Autocast, _Mode):
    """A region in which ops choose the precision that they run in.

    Matrix products and convolutions convert their operands to `dtype`; losses, `prod` and other ops that need the
    precision convert them to float32; `cat`, `stack` and `index_copy` to float32 if one of them has it. All other ops
    run in what they are given, and none touches float64, complex numbers and integers. In-place and `out=` forms
    convert nothing. Gradients have the dtype of what they are the gradient of. Rules of derivatives run in the dtypes
    that forward chose, wherever `backward` is called: call it outside.

    A leaf that requires grad, such as a weight, is converted once in the outermost region, unless it is written to.
    Regions nest, and belong to the thread. Given a function, it decorates it: every call is a region.

    Args: `device_type` "cpu"; with another one the region changes nothing, and warns. `dtype` bfloat16 or float16, by
    default what `get_autocast_dtype` says; with any other one the region is not enabled, and warns. `enabled` False is
    for a region within another one in which ops convert nothing. `cache_enabled` whether converted leaves are kept,
    by default as outside.
    Raises: ValueError if `device_type` is no string; RuntimeError if there is no autocast for it; TypeError, on
    entering, if another argument has a wrong type.

    >>> x, weight = rg.ones(2, 2), rg.ones(2, 2, requires_grad=True)
    >>> with rg.autocast("cpu", dtype=rg.bfloat16):
    ...     y = x @ weight
    ...     loss = rg.nn.functional.mse_loss(y, x)
    >>> y.dtype, loss.dtype
    (retrograd.bfloat16, retrograd.float32)
    >>> loss.backward()
    >>> weight.grad.dtype
    retrograd.float32
    """

    __slots__ = ("_cache_enabled", "_enabled", "device", "fast_dtype")

    def __init__(
        self, device_type: str, dtype: dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        device = kind(device_type)
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._enabled = enabled
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if device != "cpu":
            other_dtype(device)  # there is autocast for it at all
        if not enabled:
            return
        name = device_type.upper()
        why = None
        if device != "cpu":
            why = f"{name} is not available or torch_xla is imported. Disabling autocast."
        elif self.fast_dtype not in _LOWER:
            why = (
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of retrograd.bfloat16, retrograd.float16 currently."
            )
        if why is not None:
            warnings.warn(why, stacklevel=2)
            self._enabled = False

    def clone(self) -> Self:
        """Another manager of the same region.

        >>> with rg.autocast("cpu").clone():
        ...     rg.is_autocast_enabled("cpu")
        True
        """
        made = type(self).__new__(type(self))
        made.device, made.fast_dtype = self.device, self.fast_dtype
        made._enabled, made._cache_enabled = self._enabled, self._cache_enabled
        return made


def autocast_decorator(autocast_instance: autocast, func: Callable[..., Any]) -> Callable[..., Any]:
    """As `autocast_instance(func)`: the function, every call of which is a region.

    >>> from retrograd.amp.autocast_mode import autocast_decorator
    >>> product = autocast_decorator(rg.autocast("cpu"), rg.mm)
    >>> product(rg.ones(2, 2), rg.ones(2, 2)).dtype
    retrograd.bfloat16
    """
    return autocast_instance(func)


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: dtype | None = None
) -> Callable[..., Any]:
    """Decorate the `forward` of a custom function, with its context as the first argument, for use under autocast.

    The context remembers whether ops converted their operands, for a `backward` with `custom_bwd`.

    Args: `fwd` the method; without it a decorator is returned. `device_type` "cpu". `cast_inputs` a dtype to which,
    in a region, tensors of floating point numbers among the arguments are converted, but not those of float64; the
    function itself then runs without autocast. Arguments in lists, tuples and dicts are converted too.
    Raises: ValueError if `device_type` is no string.

    >>> class Scale(rg.autograd.Function):
    ...     @staticmethod
    ...     @rg.amp.custom_fwd(device_type="cpu", cast_inputs=rg.float32)
    ...     def forward(ctx, x):
    ...         print(x.dtype, rg.is_autocast_enabled("cpu"))
    ...         return x * 2
    ...     @staticmethod
    ...     @rg.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, g):
    ...         return g * 2
    >>> with rg.autocast("cpu"):
    ...     y = Scale.apply(rg.ones(1, dtype=rg.bfloat16, requires_grad=True))
    retrograd.float32 False
    """
    _demand_str(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    forward = fwd

    @functools.wraps(forward)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        enabled = is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = enabled and cast_inputs is None
        if cast_inputs is None or not enabled:
            return forward(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return forward(ctx, *_converted(args, cast_inputs), **_converted(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorate the `backward` of a custom function: it runs with or without autocast, as its `forward` did.

    The `forward` has to be decorated with `custom_fwd`.

    Args: `bwd` the method; without it a decorator is returned. `device_type` "cpu".
    Raises: ValueError if `device_type` is no string.

    >>> class Product(rg.autograd.Function):
    ...     @staticmethod
    ...     @rg.amp.custom_fwd(device_type="cpu")
    ...     def forward(ctx, x):
    ...         return x @ x
    ...     @staticmethod
    ...     @rg.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, g):
    ...         print(rg.is_autocast_enabled("cpu"))
    ...         return g
    >>> with rg.autocast("cpu"):
    ...     y = Product.apply(rg.ones(2, 2, requires_grad=True))
    >>> y.sum().backward()
    True
    """
    _demand_str(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    backward = bwd

    @functools.wraps(backward)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return backward(ctx, *args, **kwargs)

    return decorated


def _demand_str(device_type: str) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _converted(value: Any, to: dtype) -> Any:
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.dtype != _core.float64
        return value.to(to) if eligible else value
    if isinstance(value, Mapping):
        return {_converted(k, to): _converted(v, to) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(_converted(v, to) for v in value)
    if isinstance(value, list | tuple):
        return type(value)(_converted(v, to) for v in value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes) and not hasattr(value, "__array__"):
        return (_converted(v, to) for v in value)
    return value
