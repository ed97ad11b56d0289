"""Tensors of a module that are computed from others, by modules: constraints on weights."""

from __future__ import annotations

import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any, TypeVar

from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.nn.modules.container import ModuleDict, ModuleList
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_M = TypeVar("_M", bound=Module)

# Tensors computed so far, by the id of their module and their name, while `cached` blocks are open.
_cache_enabled = 0
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """A block in which each parametrized tensor is computed once, when it is first asked for.

    >>> with rg.nn.utils.parametrize.cached():
    ...     pass
    """
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The modules that compute one tensor, one after the other, and the tensors that the first is given.

    These are the parameter or buffer `original`, or `original0`, `original1` and so on where `right_inverse` of the
    first module returns several. `register_parametrization` makes the list.

    >>> class Double(rg.nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    ...     def right_inverse(self, y):
    ...         return y / 2
    >>> steps = rg.nn.utils.parametrize.ParametrizationList([Double()], rg.nn.Parameter(rg.ones(1)))
    >>> steps.right_inverse(rg.tensor([6.0]))
    >>> steps.original.item(), steps.forward().item()
    (3.0, 6.0)
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = self._inverse_as_far_as_known(original)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._keep(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            self._check(self(), shape, dtype)

    def _inverse_as_far_as_known(self, original: Tensor) -> Any:
        new: Any = original
        with no_grad():
            for module in reversed([*self]):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):  # then the values are taken as they are
                        new = module.right_inverse(new)
        if not isinstance(new, Tensor | Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(new).__name__}"
            )
        return new

    def _keep(self, original: Tensor, new: Tensor) -> None:
        for what in ("dtype", "device"):
            before, after = getattr(original, what), getattr(new, what)
            if before != after:
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the {what}.\noriginal.{what}: "
                    f"{before}\nright_inverse(original).{what}: {after}"
                )
        with no_grad():
            original.set_(new)
        _register(self, "original", original)

    def _keep_several(self, original: Tensor, new: Sequence[Any]) -> None:
        for i, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                    f"{i} of the sequence with type {type(tensor).__name__}."
                )
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            tensor.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", tensor)

    @staticmethod
    def _check(made: Any, shape: Any, dtype: Any) -> None:
        if not isinstance(made, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
        for what, before, after in (("dtype", dtype, made.dtype), ("shape", shape, made.shape)):
            if before != after:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {before}\nparametrized {what}: {after}"
                )

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the tensor computed from them is `value`, by `right_inverse` of the modules.

        Raises: RuntimeError if a module has none; ValueError if one returns what does not fit the originals.
        """
        new: Any = value
        with no_grad():
            for module in reversed([*self]):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                new = module.right_inverse(new)
            if self.is_tensor:
                self._set(new)
            else:
                self._set_several(new)

    def _set(self, new: Any) -> None:
        if not isinstance(new, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(new).__name__}")
        if new.dtype != self.original.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype {new.dtype} while `original` has dtype "
                f"{self.original.dtype}"
            )
        self.original.set_(new)

    def _set_several(self, new: Any) -> None:
        if not isinstance(new, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(new).__name__}.")
        if len(new) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                f"length {len(new)}."
            )
        for i, tensor in enumerate(new):
            original = getattr(self, f"original{i}")
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. Got element "
                    f"{i} of type {type(tensor).__name__}."
                )
            if original.dtype != tensor.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {tensor.dtype} while `original{i}` has dtype "
                    f"{original.dtype}"
                )
            original.set_(tensor)

    def forward(self) -> Tensor:
        """The tensor, computed from the originals."""
        first, *others = self
        if self.is_tensor:
            made = first(self.original)
        else:
            made = first(*[getattr(self, f"original{i}") for i in range(self.ntensors)])
        for module in others:
            made = module(made)
        tensor: Tensor = made
        return tensor


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _inject_new_class(module: Module) -> None:
    """Give a module a class of its own, on which its parametrized tensors are properties."""
    kind = type(module)

    def copied(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        replica = self.__new__(type(self))
        memo[id(self)] = replica
        replica.__dict__ = deepcopy(self.__dict__, memo)
        for slot in copyreg._slotnames(type(self)):  # type: ignore[attr-defined]
            if hasattr(self, slot):
                setattr(replica, slot, deepcopy(getattr(self, slot), memo))
        return replica

    def refused(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    members: dict[str, Any] = {"__getstate__": refused}
    if not hasattr(kind, "__deepcopy__"):
        members["__deepcopy__"] = copied
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), members)


def _inject_property(module: Module, name: str) -> None:
    def get(self: Module) -> Tensor:
        steps = _steps(self, name)
        if not _cache_enabled:
            return steps()  # type: ignore[no-any-return]
        key = id(self), name
        if key not in _cache:
            _cache[key] = steps()
        return _cache[key]  # type: ignore[no-any-return]

    def set(self: Module, value: Tensor) -> None:
        _steps(self, name).right_inverse(value)

    setattr(type(module), name, property(get, set))


def _all_steps(module: Any) -> ModuleDict:
    every: ModuleDict = module.parametrizations
    return every


def _steps(module: Module, name: str) -> ParametrizationList:
    steps = _all_steps(module)[name]
    assert isinstance(steps, ParametrizationList)
    return steps


def register_parametrization(module: _M, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> _M:
    """Let a parameter or a buffer of a module be what `parametrization` computes from it, from now on.

    The tensor is a property then, and what it is computed from in `module.parametrizations.<name>.original`. Several
    parametrizations are applied one after the other. If one has a method `right_inverse`, then values may be assigned
    to the property, and the present one is kept if the method is a right inverse of `forward`; if it returns several
    tensors, these are the originals.

    Args: `unsafe` leaves out the check that dtype and shape do not change.
    Raises: ValueError for a name that the module does not have, and for what the check finds.

    >>> class Positive(rg.nn.Module):
    ...     def forward(self, x):
    ...         return x.exp()
    ...     def right_inverse(self, y):
    ...         return y.log()
    >>> module = rg.nn.ParameterDict({"scale": rg.ones(1)})
    >>> _ = rg.nn.utils.parametrize.register_parametrization(module, "scale", Positive())
    >>> module.parametrizations.scale.original.item(), module.scale.item()
    (0.0, 1.0)
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        steps = _steps(module, tensor_name)
        steps.append(parametrization)
        steps.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        steps = ParametrizationList([parametrization], original, unsafe=unsafe)  # before anything changes: it may raise
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.add_module("parametrizations", ModuleDict())
        _inject_property(module, tensor_name)
        _all_steps(module)[tensor_name] = steps
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_next(module: Module, name: str, parametrization: Any) -> None:
    """Check a parametrization that is to come behind others: what it makes of the tensor, and back."""
    before = getattr(module, name)
    made = parametrization(before)
    if not isinstance(made, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
    for what in ("dtype", "shape"):
        was, now = getattr(before, what), getattr(made, what)
        if was != now:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
                f"enabled.\nmodule.{name}.{what}: {was}\nparametrization(module.{name}).{what}: {now}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(made)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what in ("dtype", "shape"):
        was, now = getattr(before, what), getattr(back, what)
        if was != now:
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{name}, "
                f"unless the `unsafe` flag is enabled.\nmodule.{name}.{what}: {was}\nreturned {what}: {now}"
            )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has a parametrized tensor, or one of this name.

    >>> rg.nn.utils.parametrize.is_parametrized(rg.nn.Module())
    False
    """
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: _M, tensor_name: str, leave_parametrized: bool = True) -> _M:
    """Make a parametrized tensor an ordinary parameter or buffer again.

    Args: it keeps the value that is computed now if `leave_parametrized`, or else has that of the original.
    Raises: ValueError for a tensor that is not parametrized, and for one of several originals whose computed value
    shall not stay.

    >>> remove = rg.nn.utils.parametrize.remove_parametrizations
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    steps = _steps(module, tensor_name)
    if steps.is_tensor:
        original = steps.original
        if leave_parametrized:
            with no_grad():
                original.set_(getattr(module, tensor_name))
    elif leave_parametrized:
        made = getattr(module, tensor_name)
        original = Parameter(made) if made.requires_grad else made
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del _all_steps(module)[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before it was parametrized.

    >>> rg.nn.utils.parametrize.type_before_parametrizations(rg.nn.Module()) is rg.nn.Module
    True
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Module, to_module: _M, tensor_name: str | None = None) -> _M:
    """Give another module the parametrizations of one and their originals, all or those of one tensor.

    >>> rg.nn.utils.parametrize.transfer_parametrizations_and_params(rg.nn.Module(), rg.nn.Module())
    Module()
    """
    if not is_parametrized(from_module):
        return to_module
    for name in [*_all_steps(from_module)] if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = _steps(from_module, name)
        for step in source:
            register_parametrization(to_module, name, step)
        target = _steps(to_module, name)
        for original in [n for n in (*source._parameters, *source._buffers) if n.startswith("original")]:
            setattr(target, original, getattr(source, original))
    return to_module
