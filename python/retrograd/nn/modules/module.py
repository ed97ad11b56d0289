"""`Module`: the base class of neural networks and their layers."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, overload

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.nn.modules._calls import (
    _global_backward_hooks as _global_backward_hooks,
)
from retrograd.nn.modules._calls import (
    _global_forward_hooks as _global_forward_hooks,
)
from retrograd.nn.modules._calls import (
    _global_forward_pre_hooks as _global_forward_pre_hooks,
)
from retrograd.nn.modules._calls import (
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from retrograd.nn.modules._members import (
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from retrograd.nn.modules._states import _EXTRA_STATE_KEY_SUFFIX as _EXTRA_STATE_KEY_SUFFIX
from retrograd.nn.modules._states import States
from retrograd.nn.modules._states import _IncompatibleKeys as _IncompatibleKeys

if TYPE_CHECKING:
    from retrograd._core import device as Device
    from retrograd._core import dtype as DType

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

# Dicts of hooks that a module may have been pickled without.
_HOOKS = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class Module(States):
    """Base class of neural networks: what computes something with parameters, and modules as its parts.

    A subclass calls `super().__init__()` first, and defines `forward`. A parameter or a module that is assigned to an
    attribute is registered: `parameters()`, `to()`, `state_dict()` and the like know of it. A `Buffer` too, which
    belongs to the state, but is not trained.

    >>> class Line(rg.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight = rg.nn.Parameter(rg.tensor([2.0]))
    ...         self.bias = rg.nn.Parameter(rg.tensor([1.0]))
    ...     def forward(self, x):
    ...         return self.weight * x + self.bias
    >>> line = Line()
    >>> line(3.0).sum().backward()
    >>> {name: p.grad.item() for name, p in line.named_parameters()}
    {'weight': 3.0, 'bias': 1.0}
    """

    dump_patches: bool = False
    # Whether `Module.__init__` passes its arguments on to the next class, where a module has other base classes too.
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_non_persistent_buffers_set"] = set()
        own["_is_full_backward_hook"] = None
        for name in _HOOKS:
            own[name] = OrderedDict()
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # Conversion

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the memory of each parameter and its gradient, and each buffer, by what `fn` makes of it."""
        if recurse:
            for child in self.children():
                child._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            grad = parameter.grad
            with no_grad():
                parameter.data = fn(parameter)
                if grad is not None:
                    grad.data = fn(grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` with each child, from the leaves up, and with the module itself.

        >>> _ = rg.nn.ModuleList([rg.nn.Module()]).apply(print)
        Module()
        ModuleList(
          (0): Module()
        )
        """
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def cuda(self, device: int | Device | None = None) -> Self:
        """Refused if there is anything to move: this build has one device, the CPU.

        >>> rg.nn.Module().cuda()
        Module()
        """
        return self._apply(lambda t: t.to(device="cuda"))

    def ipu(self, device: int | Device | None = None) -> Self:
        """Refused as `cuda` is, if there is anything to move.

        >>> rg.nn.Module().ipu()
        Module()
        """
        return self._apply(lambda t: t.to(device="ipu"))

    def mtia(self, device: int | Device | None = None) -> Self:
        """Refused as `cuda` is, if there is anything to move.

        >>> rg.nn.Module().mtia()
        Module()
        """
        return self._apply(lambda t: t.to(device="mtia"))

    def xpu(self, device: int | Device | None = None) -> Self:
        """Refused as `cuda` is, if there is anything to move.

        >>> rg.nn.Module().xpu()
        Module()
        """
        return self._apply(lambda t: t.to(device="xpu"))

    def cpu(self) -> Self:
        """The module itself, with all its tensors on the CPU, where they are.

        >>> rg.nn.Module().cpu()
        Module()
        """
        return self._apply(lambda t: t.cpu())

    def type(self, dst_type: DType | str) -> Self:
        """Convert all parameters and buffers, integers too, to a dtype.

        >>> rg.nn.ParameterList([rg.ones(1)]).type(rg.float64)[0].dtype
        retrograd.float64
        """
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Convert floating point parameters and buffers to float32.

        >>> rg.nn.ParameterList([rg.ones(1, dtype=rg.float64)]).float()[0].dtype
        retrograd.float32
        """
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Self:
        """Convert floating point parameters and buffers to float64.

        >>> rg.nn.ParameterList([rg.ones(1)]).double()[0].dtype
        retrograd.float64
        """
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Self:
        """Convert floating point parameters and buffers to float16.

        >>> rg.nn.ParameterList([rg.ones(1)]).half()[0].dtype
        retrograd.float16
        """
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Self:
        """Convert floating point parameters and buffers to bfloat16.

        >>> rg.nn.ParameterList([rg.ones(1)]).bfloat16()[0].dtype
        retrograd.bfloat16
        """
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def to_empty(self, *, device: str | Device | None, recurse: bool = True) -> Self:
        """Give all parameters and buffers new memory, with any values.

        >>> rg.nn.ParameterList([rg.ones(2)]).to_empty(device="cpu")[0].shape
        retrograd.Size([2])
        """
        return self._apply(lambda t: _core.empty_like(t, device=device), recurse=recurse)

    @overload
    def to(
        self, device: str | Device | int | None = ..., dtype: DType | None = ..., non_blocking: bool = ...
    ) -> Self: ...
    @overload
    def to(self, dtype: DType, non_blocking: bool = ...) -> Self: ...
    @overload
    def to(self, tensor: Tensor, non_blocking: bool = ...) -> Self: ...
    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert parameters and buffers in place: to a device, a floating point or complex dtype, or a memory format.

        Called as `to(device, dtype)`, `to(dtype)`, `to(tensor)` for that tensor's, or `to(memory_format=...)` for
        tensors of 4 or 5 dimensions. Integers and bools keep their dtype.
        Raises: TypeError for another dtype; RuntimeError for another device than the CPU.

        >>> rg.nn.ParameterList([rg.ones(1)]).to("cpu", rg.float64)[0].dtype
        retrograd.float64
        """
        device, dtype, non_blocking, memory_format = _parsed(args, kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
                )
            if dtype.is_complex:
                warnings.warn(
                    "Complex modules are a new feature under active development whose design may change, and some "
                    "modules might not work as expected when using complex tensors as parameters or buffers.",
                    stacklevel=2,
                )

        def convert(t: Tensor) -> Tensor:
            options: dict[str, Any] = {"non_blocking": non_blocking}
            if device is not None:
                options["device"] = device
            if dtype is not None and (t.is_floating_point() or t.is_complex()):
                options["dtype"] = dtype
            if memory_format is not None and t.dim() in (4, 5):
                options["memory_format"] = memory_format
            return t.to(**options)

        return self._apply(convert)

    def share_memory(self) -> Self:
        """Move all parameters and buffers into memory that other processes may share.

        >>> rg.nn.Module().share_memory()
        Module()
        """
        return self._apply(_share)

    # Modes

    def train(self, mode: bool = True) -> Self:
        """Set the module and all below to training, or with False to evaluation, which matters to layers as dropout.

        Raises: ValueError for a mode that is no bool.

        >>> rg.nn.Module().train(False).training
        False
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """`train(False)`.

        >>> rg.nn.Module().eval().training
        False
        """
        return self.train(False)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: modules run as they are, and there is nothing to compile.

        >>> rg.nn.Module().compile()
        """

    # Text

    def extra_repr(self) -> str:
        """What the module's repr says besides its children: one line or several; a subclass defines it.

        >>> class Scale(rg.nn.Module):
        ...     def extra_repr(self):
        ...         return "by=2"
        >>> Scale()
        Scale(by=2)
        """
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        if len(lines) == 1 and not self._modules:
            return f"{self._get_name()}({extra})"
        lines += [f"({name}): {_addindent(repr(child), 2)}" for name, child in self._modules.items()]
        inside = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({inside})"

    # Pickles

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        own = self.__dict__
        own.update(state)
        for name in _HOOKS:
            own.setdefault(name, OrderedDict())
        own.setdefault("_non_persistent_buffers_set", set())
        own.setdefault("_is_full_backward_hook", None)


def _addindent(s_: str, numSpaces: int) -> str:
    """The text with all lines but the first and empty ones moved to the right."""
    first, *others = s_.split("\n")
    return "\n".join([first, *(" " * numSpaces + line if line.strip() else "" for line in others)])


def _share(t: Tensor) -> Tensor:
    share = getattr(t, "share_memory_", None)
    if share is None:
        raise NotImplementedError(
            "share_memory_: tensors in memory that processes share are not supported yet; send a copy of the state dict"
        )
    shared: Tensor = share()
    return shared


def _parsed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool, Any]:
    """Device, dtype, non_blocking and memory format of a call of `to`."""
    given = dict(kwargs)
    memory_format = given.pop("memory_format", None)
    first = args[0] if args else None
    if isinstance(first, Tensor) or "tensor" in given:
        names = ["tensor", "non_blocking", "copy"]
    elif isinstance(first, _core.dtype):
        names = ["dtype", "non_blocking", "copy"]
    else:
        names = ["device", "dtype", "non_blocking", "copy"]
    for name, value in zip(names, args, strict=False):
        if name in given:
            raise TypeError(f"to() got multiple values for argument '{name}'")
        given[name] = value
    unknown = given.keys() - {*names, "device", "dtype"}
    if unknown or len(args) > len(names) or not (args or kwargs):
        raise TypeError(
            "to() received an invalid combination of arguments - expected (device, dtype, non_blocking), "
            "(dtype, non_blocking) or (tensor, non_blocking), and memory_format as a keyword"
        )
    if given.get("copy"):
        raise RuntimeError(".to() does not accept copy argument")
    tensor, device, dtype = given.get("tensor"), given.get("device"), given.get("dtype")
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if device is not None and not isinstance(device, _core.device):
        device = _core.device(device)
    return device, dtype, bool(given.get("non_blocking", False)), memory_format
