"""The reentrant form: a custom function whose backward calls again, and runs a backward pass of its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd import Function, _is_checkpoint_valid, backward, enable_grad
from retrograd.random import fork_rng, get_rng_state, set_rng_state
from retrograd.utils.checkpoint._arguments import Arguments

__all__ = [
    "CheckpointFunction",
    "DefaultDeviceType",
    "check_backward_validity",
    "detach_variable",
    "get_device_states",
    "set_device_states",
]


class CheckpointFunction(Function):
    """The reentrant form of `checkpoint`: `apply(function, preserve_rng_state, *args)`.

    Forward calls the function without recording. Backward calls it again on detached arguments, recording, and runs a
    backward pass through that: in it the function's parameters get their gradients, and so do the arguments, which are
    then returned.

    >>> from retrograd.utils.checkpoint import CheckpointFunction
    >>> x = rg.zeros(2, requires_grad=True)
    >>> y = CheckpointFunction.apply(rg.exp, True, x)
    >>> y.sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Call `run_function(*args)`, and save what the backward needs to call it again.

        >>> from retrograd.utils.checkpoint import CheckpointFunction
        >>> CheckpointFunction.apply(lambda x, n: x * n, False, rg.ones(1, requires_grad=True), 3).item()
        3.0
        """
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.state = get_rng_state() if preserve_rng_state else None
        ctx.autocast = _core._present_autocast()
        ctx.args = Arguments(args)
        ctx.save_for_backward(*ctx.args.tensors(args))
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Call the function again, and run a backward pass from its results.

        Raises: RuntimeError in a pass with chosen inputs, and if no result requires grad.

        >>> from retrograd.utils.checkpoint import CheckpointFunction
        >>> x = rg.ones(1, requires_grad=True)
        >>> y = CheckpointFunction.apply(rg.exp, False, x)
        >>> try:
        ...     rg.autograd.grad(y, x)
        ... except RuntimeError as error:
        ...     print("incompatible with .grad()" in str(error))
        True
        """
        if not _is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, retrograd.utils.checkpoint is incompatible with .grad() or passing an "
                "`inputs` "
                "parameter to .backward(). Call .backward() without `inputs`, or pass use_reentrant=False to checkpoint"
            )
        detached = detach_variable(tuple(ctx.args.fill(ctx.saved_tensors)))
        with fork_rng(enabled=ctx.state is not None):
            if ctx.state is not None:
                set_rng_state(ctx.state)
            with enable_grad(), ctx.autocast:
                outputs = ctx.run_function(*detached)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        pairs = zip(outputs, grads, strict=True)
        roots = [(out, g) for out, g in pairs if isinstance(out, Tensor) and out.requires_grad]
        if not roots:
            raise RuntimeError(
                "checkpoint: none of output has requires_grad=True, this checkpoint() is not necessary; if the "
                "function detaches its results, call it plainly or pass use_reentrant=False"
            )
        backward([out for out, _ in roots], [g for _, g in roots])
        return (None, None, *(arg.grad if isinstance(arg, Tensor) else None for arg in detached))


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Detach the tensors of a tuple, and let them require grad if they did.

    Raises: RuntimeError for anything but a tuple.

    >>> from retrograd.utils.checkpoint import detach_variable
    >>> y = rg.ones(1, requires_grad=True) * 2
    >>> (z, text) = detach_variable((y, "text"))
    >>> z.is_leaf, z.requires_grad, text
    (True, True, 'text')
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among `inputs` requires grad.

    >>> from retrograd.utils.checkpoint import check_backward_validity
    >>> check_backward_validity([rg.ones(1, requires_grad=True), "text"])
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


class DefaultDeviceType:
    """The device type whose random numbers repeat when no argument has one. There is none but the CPU, whose always do.

    >>> from retrograd.utils.checkpoint import DefaultDeviceType
    >>> DefaultDeviceType.get_device_type()
    'cpu'
    """

    _device_type = "cpu"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Store the name of a device type, for `get_device_type` to return.

        >>> from retrograd.utils.checkpoint import DefaultDeviceType
        >>> DefaultDeviceType.set_device_type("cpu")
        """
        DefaultDeviceType._device_type = device

    @staticmethod
    def get_device_type() -> str:
        """The device type last set, at first "cpu"."""
        return DefaultDeviceType._device_type


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The numbers and the generator states of the devices, other than the CPU, that tensors among `args` are on.

    Returns: two empty lists, as there are none.

    >>> from retrograd.utils.checkpoint import get_device_states
    >>> get_device_states(rg.ones(1))
    ([], [])
    """
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Put back the generator states that `get_device_states` returned.

    Raises: RuntimeError if a device is named, as there are none but the CPU.

    >>> from retrograd.utils.checkpoint import get_device_states, set_device_states
    >>> set_device_states(*get_device_states())
    """
    if devices and states:
        kind = device_type or DefaultDeviceType.get_device_type()
        raise RuntimeError(f"set_device_states: there is no device {kind}:{devices[0]}, all tensors are on the CPU")
