"""Modules as functions of their parameters. A module is anything that lists its tensors by dotted names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from retrograd import _core
from retrograd._core import Tensor

__all__ = ["functional_call", "functionalize", "replace_all_batch_norm_modules_", "stack_module_state"]

_MISSING: Any = object()


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in the place of its parameters and buffers.

    They are put into the module for the time of the call, also of one that raises, so one module must not be called in
    two threads at once. What the call itself puts in their place comes back in the dict.

    Args: `module` has `named_parameters()` and `named_buffers()`, and the attributes that these name, through modules
    inside of it after dots. `parameter_and_buffer_dicts` has the tensors by name: a dict, or several without common
    names. `args` is the tuple of arguments, or one that is no tuple. With `tie_weights` a tensor that the module has
    under several names is replaced under all of them; `strict` requires all names, and no others.
    Returns: what the module returns.
    Raises: ValueError for anything but dicts, for names that come twice, and for different tensors for one that the
    module has under several names; RuntimeError for what `strict` refuses; AttributeError for modules that are not
    there; TypeError for what is no tensor.

    >>> class Scale:
    ...     def __init__(self):
    ...         self.weight = rg.tensor(2.0)
    ...     def named_parameters(self):
    ...         yield "weight", self.weight
    ...     def named_buffers(self):
    ...         return []
    ...     def __call__(self, x):
    ...         return self.weight * x
    >>> module = Scale()
    >>> loss = lambda params, x: rg.func.functional_call(module, params, x)
    >>> rg.func.grad(loss)(dict(module.named_parameters()), rg.tensor(3.0))
    {'weight': tensor(3.)}
    """
    tensors = _merged(parameter_and_buffer_dicts)
    call_args = () if args is None else args if isinstance(args, tuple) else (args,)
    given = _untied(module, tensors) if tie_weights else tensors
    if strict:
        _demand_all(module, given)
    before: dict[str, Any] = {}
    try:
        _put(module, given, before)
        return module(*call_args, **(kwargs or {}))
    finally:
        after: dict[str, Any] = {}
        _put(module, before, after)
        tensors.update({name: after[name] for name in tensors if name in after})


def _merged(dicts: Any) -> dict[str, Tensor]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    merged: dict[str, Tensor] = {}
    for d in dicts:
        repeated = [name for name in d if name in merged]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries: which one is meant is not known")
        merged.update(d)
    return merged


def _named_tensors(module: Any) -> Iterator[tuple[str, Tensor]]:
    """All names, also where several are of the same tensor."""
    for named in (module.named_parameters, module.named_buffers):
        try:
            yield from named(remove_duplicate=False)
        except TypeError:  # a simple module that has no such option
            yield from named()


def _untied(module: Any, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors, also under the other names that the module has for what they replace."""
    names_of: dict[int, list[str]] = {}
    for name, tensor in _named_tensors(module):
        names_of.setdefault(id(tensor), []).append(name)
    untied = dict(tensors)
    for names in names_of.values():
        given = [name for name in names if name in tensors]
        if len(names) == 1 or not given:
            continue
        if any(tensors[name] is not tensors[given[0]] for name in given):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. "
                "Consider using tie_weights=False"
            )
        untied.update(dict.fromkeys(names, tensors[given[0]]))
    return untied


def _demand_all(module: Any, tensors: dict[str, Tensor]) -> None:
    known = {name for name, _ in _named_tensors(module)}
    wrong = []
    for what, names in (("Unexpected", tensors.keys() - known), ("Missing", known - tensors.keys())):
        if names:
            wrong.append(f"\n\t{what} key(s): {', '.join(map(repr, sorted(names)))}.")
    if wrong:
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:{''.join(wrong)}")


def _put(module: Any, tensors: dict[str, Any], before: dict[str, Any]) -> None:
    """Put tensors in their places; what was there is in `before`, as far as that came, whatever ends it."""
    for name, tensor in tensors.items():
        _replace(module, name, tensor, before)


def _replace(module: Any, name: str, new: Any, before: dict[str, Any]) -> None:
    """Put a tensor in the place of a name, and what was there into `before`."""
    *path, attribute = name.split(".")
    if not attribute:
        raise KeyError(f"functional_call: {name!r} is no name of a tensor")
    for part in path:
        if not hasattr(module, part):
            raise AttributeError(f"{type(module).__name__} has no attribute `{part}`")
        module = getattr(module, part)
    old = getattr(module, attribute, _MISSING)
    for t in (old, new):
        if t is not _MISSING and t is not None and not isinstance(t, Tensor):
            raise TypeError(f"functional_call: {name!r}: {t} is not an instance of torch.Tensor")
    before[name] = old
    for store in (getattr(module, "_parameters", None), getattr(module, "_buffers", None)):
        if isinstance(store, dict) and attribute in store:  # where a module has them, and checks what is assigned
            if new is _MISSING:
                del store[attribute]
            else:
                store[attribute] = new
            return
    if new is not _MISSING:
        setattr(module, attribute, new)
    elif hasattr(module, attribute):
        delattr(module, attribute)


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of modules of one class, stacked under their names: an ensemble for `vmap`.

    Args: `models` as `functional_call` takes them, all of one class and in one mode of training.
    Returns: two dicts. Parameters that require grad are stacked into new leaves that do.
    Raises: RuntimeError if there is no model, or if they differ in class, mode, or what requires grad.

    >>> class Scale:
    ...     def __init__(self, by):
    ...         self.weight = rg.tensor(by)
    ...     def named_parameters(self):
    ...         yield "weight", self.weight
    ...     def named_buffers(self):
    ...         return []
    ...     def __call__(self, x):
    ...         return self.weight * x
    >>> models = [Scale(2.0), Scale(3.0)]
    >>> params, buffers = rg.func.stack_module_state(models)
    >>> call = lambda params, x: rg.func.functional_call(models[0], params, x)
    >>> rg.vmap(call, in_dims=(0, None))(params, rg.tensor(10.0))
    tensor([20., 30.])
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({bool(getattr(m, "training", True)) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return _stacked([dict(m.named_parameters()) for m in models]), _stacked([dict(m.named_buffers()) for m in models])


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    stacked = {}
    for name, first in states[0].items():
        tensors = [state[name] for state in states]
        if any(t.requires_grad != first.requires_grad for t in tensors):
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        stacked[name] = _core.stack(tensors).detach().requires_grad_(first.requires_grad)
    return stacked


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself: in-place ops need no removal here, because every transform takes them as they are.

    Args: `remove` is "mutations" or "mutations_and_views".
    Raises: RuntimeError for another `remove`.

    >>> f = lambda x: x.clone().add_(1)
    >>> rg.func.functionalize(f) is f
    True
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are "
            "'mutations' and 'mutations_and_views'."
        )
    return func


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Take the running statistics from all layers of batch norm in a module, which writes in place, and return it.

    Such a layer then uses those of each batch, and can be called within `vmap`.

    >>> model = rg.nn.Sequential(rg.nn.BatchNorm1d(2))
    >>> rg.func.replace_all_batch_norm_modules_(model) is model
    True
    >>> list(model.state_dict())
    ['0.weight', '0.bias']
    """
    from retrograd.nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
