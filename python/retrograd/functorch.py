"""The functions of `func` under the name that they had as a package of their own: with the switch, `import functorch`.

`make_functional` and `combine_state_for_ensemble` are older forms of `func.functional_call` and
`func.stack_module_state`.
"""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from retrograd import _core, func
from retrograd._core import Tensor
from retrograd.nn import Module
from retrograd.version import __version__ as __version__

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "make_functional",
    "make_functional_with_buffers",
    "vjp",
    "vmap",
]

_F = TypeVar("_F", bound=Callable[..., Any])
_Tensors = tuple[Tensor, ...]


def _warn(name: str, instead: str) -> None:
    warnings.warn(
        "We've integrated functorch into PyTorch. As the final step of the integration, "
        f"`functorch.{name}` is deprecated as of PyTorch 2.0 and will be deleted in a future version of PyTorch >= "
        f"2.3. Please use `{instead}` instead",
        FutureWarning,
        stacklevel=3,
    )


def _old(function: _F) -> _F:
    """A function of `func`, with a warning that it is meant."""
    name = function.__name__
    instead = "retrograd.vmap" if name == "vmap" else f"retrograd.func.{name}"

    @functools.wraps(function)
    def warning(*args: Any, **kwargs: Any) -> Any:
        _warn(name, instead)
        return function(*args, **kwargs)

    warning.__module__ = __name__
    return warning  # type: ignore[return-value]


functionalize = _old(func.functionalize)
grad = _old(func.grad)
grad_and_value = _old(func.grad_and_value)
hessian = _old(func.hessian)
jacfwd = _old(func.jacfwd)
jacrev = _old(func.jacrev)
jvp = _old(func.jvp)
vjp = _old(func.vjp)
vmap = _old(func.vmap)


class FunctionalModuleWithBuffers(Module):
    """What `make_functional_with_buffers` makes of a module: called with parameters, buffers, and its arguments.

    >>> f = rg.functorch.FunctionalModuleWithBuffers(rg.nn.Linear(1, 1), ["weight", "bias"], [])
    >>> f([rg.ones(1, 1), rg.ones(1)], [], rg.ones(1)).item()
    2.0
    """

    def __init__(self, stateless_model: Module, param_names: Sequence[str], buffer_names: Sequence[str]) -> None:
        super().__init__()
        # In a tuple, so that its parameters are not those of this module.
        self._model = (stateless_model,)
        self.param_names = tuple(param_names)
        self.buffer_names = tuple(buffer_names)

    @property
    def stateless_model(self) -> Module:
        """The module, whose own parameters do not count."""
        return self._model[0]

    def forward(self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        given = dict(zip(self.param_names, params, strict=True))
        held = dict(zip(self.buffer_names, buffers, strict=True))
        return func.functional_call(self.stateless_model, (given, held), args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """What `make_functional` makes of a module: called with parameters, and its arguments.

    >>> f = rg.functorch.FunctionalModule(rg.nn.Linear(1, 1), ["weight", "bias"], [])
    >>> f([rg.ones(1, 1), rg.ones(1)], rg.ones(1)).item()
    2.0
    """

    def forward(self, params: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        return super().forward(params, (), *args, **kwargs)


def _taken(kind: type[Any], model: Module, constant: bool) -> tuple[Any, _Tensors, _Tensors]:
    """A copy of a module as a function of its state, and that state; `constant` parameters require no grad."""
    stateless = copy.deepcopy(model)
    params, buffers = dict(stateless.named_parameters()), dict(stateless.named_buffers())
    if len(params) != len(dict(stateless.named_parameters(remove_duplicate=False))):
        raise RuntimeError(
            "make_functional(module): we don't yet support models that do parameter tying (also sometimes known as "
            "weight sharing). Use func.functional_call, which does"
        )
    values = tuple([p.detach().clone().requires_grad_(p.requires_grad and not constant) for p in params.values()])
    return kind(stateless, list(params), list(buffers)), values, tuple(buffers.values())


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, _Tensors]:
    """A module as a function of its parameters, and these.

    Args: `model` a module without buffers; a copy is made. With `disable_autograd_tracking` parameters require no grad.
    Raises: RuntimeError if it has buffers, or one parameter under two names.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     f, params = rg.functorch.make_functional(rg.nn.Linear(2, 1))
    >>> f([rg.ones(1, 2), rg.zeros(1)], rg.tensor([1.0, 2.0]))
    tensor([3.])
    """
    _warn("make_functional", "retrograd.func.functional_call")
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    function, params, _ = _taken(FunctionalModule, model, disable_autograd_tracking)
    return function, params


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, _Tensors, _Tensors]:
    """A module as a function of its parameters and buffers, and these; see `make_functional`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     f, params, buffers = rg.functorch.make_functional_with_buffers(rg.nn.BatchNorm1d(2))
    >>> len(params), f.buffer_names
    (2, ('running_mean', 'running_var', 'num_batches_tracked'))
    """
    _warn("make_functional_with_buffers", "retrograd.func.functional_call")
    return _taken(FunctionalModuleWithBuffers, model, disable_autograd_tracking)


def combine_state_for_ensemble(models: Sequence[Module]) -> tuple[FunctionalModuleWithBuffers, _Tensors, _Tensors]:
    """The first of some modules as a function of parameters and buffers, and those of all modules, stacked for `vmap`.

    Raises: RuntimeError for no modules, for several classes, and if only some of them train.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     f, params, buffers = rg.functorch.combine_state_for_ensemble([rg.nn.Linear(2, 1) for _ in range(3)])
    >>> rg.vmap(f, in_dims=(0, 0, None))(params, buffers, rg.ones(2)).shape
    retrograd.Size([3, 1])
    """
    _warn("combine_state_for_ensemble", "retrograd.func.stack_module_state")
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    taken = [_taken(FunctionalModuleWithBuffers, model, False) for model in models]
    function = taken[0][0]
    params = tuple([_core.stack(same).detach() for same in zip(*[state[1] for state in taken], strict=True)])
    buffers = tuple([_core.stack(same).detach() for same in zip(*[state[2] for state in taken], strict=True)])
    return function, tuple([p.requires_grad_() for p in params]), buffers
