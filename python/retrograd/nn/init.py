"""Fills tensors with initial values. Each function writes in place, without a record for autograd.

From the same seed, the values are those that PyTorch draws.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from retrograd import _core
from retrograd._asking import asking
from retrograd._core import Generator, Tensor
from retrograd._lazy import submodules
from retrograd.autograd.grad_mode import no_grad

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Mode = Literal["fan_in", "fan_out"]
_Nonlinearity = Literal[
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
    "tanh",
    "relu",
    "leaky_relu",
    "selu",
]

# Gains that need no parameter. That of SELU was found by experiment.
_GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0,
    "conv_transpose3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


def calculate_gain(nonlinearity: _Nonlinearity, param: float | None = None) -> float:
    """The factor by which weights before a nonlinearity are scaled, so that activations keep their variance.

    Args: `nonlinearity` its name in `nn.functional`; `param` the negative slope of `leaky_relu`, 0.01 by default.
    Raises: ValueError for another nonlinearity, or a slope that is no number.

    >>> rg.nn.init.calculate_gain("leaky_relu", 1.0)
    1.0
    """
    if nonlinearity == "leaky_relu":
        slope: Any = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def _no_grad_uniform_(tensor: Tensor, a: float, b: float, generator: Generator | None = None) -> Tensor:
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(tensor: Tensor, mean: float, std: float, generator: Generator | None = None) -> Tensor:
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


@asking
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw each element uniformly from `a` to `b`.

    Returns: `tensor`.

    >>> w = rg.nn.init.uniform_(rg.empty(3, 5), -1.0, 1.0)
    >>> bool((w.abs() <= 1).all())
    True
    """
    return _no_grad_uniform_(tensor, a, b, generator)


@asking
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw each element from the normal distribution of `mean` and standard deviation `std`.

    Returns: `tensor`.

    >>> rg.nn.init.normal_(rg.empty(2), mean=3.0, std=0.0)
    tensor([3., 3.])
    """
    return _no_grad_normal_(tensor, mean, std, generator)


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Draw each element from the normal distribution of `mean` and `std`, again until it lies between `a` and `b`.

    Returns: `tensor`. Warns if `mean` is more than two `std` outside of `a` to `b`, where the values follow another
    distribution.

    >>> w = rg.nn.init.trunc_normal_(rg.empty(100), a=-1.0, b=1.0)
    >>> bool((w.abs() <= 1).all())
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    with no_grad():
        if inside > 0.3:
            return _draw_normals_until_inside(tensor, mean, std, a, b, generator)
        return _draw_uniforms_until_accepted(tensor, mean, std, a, b, generator)


def _draw_normals_until_inside(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    # The bounds as the dtype of the tensor has them, so that what is inside stays inside.
    low, high = (tensor.new_tensor(bound).item() for bound in (a, b))
    values = tensor.normal_(mean, std, generator=generator)
    outside = (values < low) | (values > high)
    while outside.any():
        values = _core.where(outside, _core.empty_like(values).normal_(mean, std, generator=generator), values)
        outside = (values < low) | (values > high)
    return tensor if values is tensor else tensor.copy_(values)


def _draw_uniforms_until_accepted(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    """Where few normals would be inside: uniform candidates, accepted with the density relative to its peak."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    chance = _core.empty_like(tensor)

    def refused(candidates: Tensor) -> Tensor:
        log_density = candidates.clone().sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return chance.uniform_(generator=generator).log_().gt(log_density)

    values = tensor.uniform_(a, b, generator=generator)
    pending = refused(values)
    while pending.any():
        candidates = _core.empty_like(tensor).uniform_(a, b, generator=generator)
        values = _core.where(pending, candidates, values)
        pending = pending & refused(candidates)
    return tensor if values is tensor else tensor.copy_(values)


@asking
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Set each element to `val`.

    Returns: `tensor`.

    >>> rg.nn.init.constant_(rg.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Set each element to one.

    Returns: `tensor`.

    >>> rg.nn.init.ones_(rg.empty(2))
    tensor([1., 1.])
    """
    with no_grad():
        return tensor.fill_(1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Set each element to zero.

    Returns: `tensor`.

    >>> rg.nn.init.zeros_(rg.empty(2))
    tensor([0., 0.])
    """
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """Make a matrix the identity: ones on its diagonal, zeros elsewhere.

    Returns: `tensor`. Raises: ValueError if it is no matrix.

    >>> rg.nn.init.eye_(rg.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.zero_().diagonal().fill_(1)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Make the weight of a convolution keep its input: channel i of each group passes to channel i of the output.

    Args: `tensor` a weight of 3, 4 or 5 dimensions; `groups` that of the convolution.
    Returns: `tensor`. Raises: ValueError for other numbers of dimensions, or if `groups` does not divide the first.

    >>> rg.nn.init.dirac_(rg.empty(2, 1, 3))
    tensor([[[0., 1., 0.]],
    <BLANKLINE>
            [[0., 0., 0.]]])
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    rows, columns, *window = tensor.size()
    if rows % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    rows_of_group = rows // groups
    center = tuple(size // 2 for size in window)
    with no_grad():
        tensor.zero_()
        for first in range(0, rows, rows_of_group):
            for channel in range(min(rows_of_group, columns)):
                tensor[(first + channel, channel, *center)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output of a weight has, and how many outputs each input."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    outputs, inputs, *window = tensor.shape
    elements = math.prod(window)
    return inputs * elements, outputs * elements


def _calculate_correct_fan(tensor: Tensor, mode: _Mode) -> int:
    lowered = mode.lower()
    if lowered not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {lowered} not supported, please use one of {['fan_in', 'fan_out']}")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if lowered == "fan_in" else fan_out


def _xavier_std(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw uniformly from -a to a with `a = gain * sqrt(6 / (fan_in + fan_out))`: the rule of Glorot and Bengio.

    Returns: `tensor`. Raises: ValueError if it has fewer than 2 dimensions.

    >>> w = rg.nn.init.xavier_uniform_(rg.empty(3, 3))
    >>> bool((w.abs() <= 1).all())
    True
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw normals of standard deviation `gain * sqrt(2 / (fan_in + fan_out))`: the rule of Glorot and Bengio.

    Returns: `tensor`. Raises: ValueError if it has fewer than 2 dimensions.

    >>> rg.nn.init.xavier_normal_(rg.empty(3, 5), gain=0.0).abs().sum()
    tensor(0.)
    """
    return _no_grad_normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


@asking
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: _Mode = "fan_in",
    nonlinearity: _Nonlinearity = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Draw uniformly from -b to b with `b = gain * sqrt(3 / fan)`: the rule of He and others.

    Args: `a` the negative slope of the nonlinearity that follows; `mode` keeps the variance of activations ("fan_in")
    or of gradients ("fan_out"); `nonlinearity` gives the gain, with `calculate_gain`.
    Returns: `tensor`. Warns if it has no elements. Raises: ValueError if it has fewer than 2 dimensions.

    >>> w = rg.nn.init.kaiming_uniform_(rg.empty(2, 6), nonlinearity="relu")
    >>> bool((w.abs() <= 1).all())
    True
    """
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(fan))
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: _Mode = "fan_in",
    nonlinearity: _Nonlinearity = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Draw normals of standard deviation `gain / sqrt(fan)`: the rule of He and others.

    Args: as of `kaiming_uniform_`. Returns: `tensor`. Warns if it has no elements.
    Raises: ValueError if it has fewer than 2 dimensions.

    >>> rg.nn.init.kaiming_normal_(rg.empty(3, 5), mode="fan_out").shape
    retrograd.Size([3, 5])
    """
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    return _no_grad_normal_(tensor, 0, calculate_gain(nonlinearity, a) / math.sqrt(fan), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Make the rows orthonormal, or the columns where they are fewer, and scale by `gain`.

    The matrix is drawn uniformly from all such matrices. Dimensions after the first count as one.
    Returns: `tensor`. Raises: ValueError if it has fewer than 2 dimensions.

    >>> w = rg.nn.init.orthogonal_(rg.empty(2, 3))
    >>> bool((w @ w.T - rg.eye(2)).abs().max() < 1e-5)
    True
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    with no_grad():
        matrix = tensor.new_empty((rows, tensor.numel() // rows)).normal_(0, 1, generator=generator)
        wide = rows < matrix.size(1)
        q, r = _core._linalg.qr(matrix.t() if wide else matrix)
        q = q * r.diagonal().sign()  # which makes it uniform, as R is unique up to these signs
        return tensor.copy_((q.t() if wide else q).reshape(tensor.shape)).mul_(gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Draw normals of standard deviation `std`, and set the part `sparsity` of each column to zero.

    Returns: `tensor`. Raises: ValueError if it is no matrix.

    >>> int((rg.nn.init.sparse_(rg.empty(4, 5), sparsity=0.5) == 0).sum())
    10
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[_core.randperm(rows)[:zeros], column] = 0
    return tensor


def _deprecated(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The name that a function had before names of functions that write in place ended in an underscore."""
    name = function.__name__[:-1]

    def renamed(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        warnings.warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = name
    renamed.__doc__ = f"""The old name of `{name}_`, which is deprecated.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     w = rg.nn.init.{name}(rg.ones(3, 3, 3){_MORE.get(name, "")})
    """
    if name in ("eye", "sparse"):
        renamed.__doc__ = renamed.__doc__.replace("rg.ones(3, 3, 3)", "rg.ones(3, 3)")
    return renamed


_MORE = {"constant": ", 0.5", "sparse": ", 0.5"}  # arguments in their examples

uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(__name__)
