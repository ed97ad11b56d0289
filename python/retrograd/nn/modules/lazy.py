"""Layers that learn sizes from their first input."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from retrograd.autograd.grad_mode import no_grad
from retrograd.nn.parameter import is_lazy

if TYPE_CHECKING:
    from retrograd.nn.modules.module import Module
else:
    Module = object

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin(Module):
    """Makes a module whose parameters and buffers get their sizes at the first call, or from a state dict.

    A class that inherits from it and from a module makes `UninitializedParameter`s and `UninitializedBuffer`s, and
    overrides `initialize_parameters`, which is called with the arguments of the first call and materializes them. The
    module then becomes one of `cls_to_become`, if that is set. Raises: RuntimeError at a first call that leaves some
    without sizes.

    >>> class Scale(rg.nn.modules.lazy.LazyModuleMixin, rg.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight = rg.nn.UninitializedParameter()
    ...     def initialize_parameters(self, input):
    ...         self.weight.materialize(input.shape[-1:])
    ...         rg.nn.init.ones_(self.weight)
    ...     def forward(self, input):
    ...         return input * self.weight
    >>> scale = Scale()
    >>> scale.has_uninitialized_params()
    True
    >>> scale(rg.ones(4, 2)).shape, scale.weight.shape
    (retrograd.Size([4, 2]), retrograd.Size([2]))
    """

    cls_to_become: type[Any] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Like that of modules, but what has no size yet cannot be detached."""
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        for name, value in chain(self._parameters.items(), persistent.items()):
            if value is not None:
                destination[prefix + name] = value if keep_vars or is_lazy(value) else value.detach()

    def _lazy_load_hook(self, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        """Give what has no size yet that of the tensor that will be loaded."""
        for name, value in chain(self._parameters.items(), self._buffers.items()):
            loaded = state_dict.get(prefix + name)
            if loaded is not None and is_lazy(value) and not is_lazy(loaded):
                with no_grad():
                    value.materialize(loaded.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give parameters and buffers their sizes and values, from the arguments of the first call.

        >>> layer = rg.nn.LazyLinear(2)
        >>> layer.initialize_parameters(rg.ones(5, 3))
        >>> layer.in_features
        3
        """
        raise NotImplementedError(f"initialize_parameters is not implemented for {self.__class__.__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or a buffer has no size yet."""
        return any(is_lazy(value) for value in chain(self._parameters.values(), self._buffers.values()))

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. "
            "Run a dummy forward pass to correctly initialize the modules"
        )
