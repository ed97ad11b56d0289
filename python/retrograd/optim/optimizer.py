"""`Optimizer`: groups of parameters with options, the state of each parameter, and hooks around the steps."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

from retrograd import _core
from retrograd._core import Tensor
from retrograd._queries import typename
from retrograd.utils.hooks import RemovableHandle

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
StateDict: TypeAlias = dict[str, Any]
_Hook: TypeAlias = Callable[..., Any]


class _RequiredParameter:
    """What `defaults` hold for an option that every group must state."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()

_global_optimizer_pre_hooks: OrderedDict[int, _Hook] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, _Hook] = OrderedDict()

# The attributes of an optimizer that hold hooks; pickles leave them out.
_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def register_optimizer_step_pre_hook(hook: _Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before every step of every optimizer; it may return other arguments.

    >>> handle = rg.optim.optimizer.register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: None)
    >>> handle.remove()
    """
    return _add(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: _Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after every step of every optimizer.

    >>> handle = rg.optim.optimizer.register_optimizer_step_post_hook(lambda optimizer, args, kwargs: None)
    >>> handle.remove()
    """
    return _add(_global_optimizer_post_hooks, hook)


class Optimizer:
    """What all optimizers have: subclass it and write `step`.

    `param_groups` is a list of dicts: "params" is a list of tensors, the other keys are options. `state` has a dict for
    each parameter, made at first use. `defaults` has the options of groups that do not state them.

    Args: `params` tensors, pairs of a name and a tensor, or dicts for `add_param_group`; `defaults` the options.
    Raises: TypeError if `params` is a tensor; ValueError if it is empty.

    >>> class Descent(rg.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...     @rg.no_grad()
    ...     def step(self):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p.add_(p.grad, alpha=-group["lr"])
    >>> x = rg.nn.Parameter(rg.tensor([3.0]))
    >>> optimizer = Descent([x], lr=0.25)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> optimizer.zero_grad()
    >>> x.tolist(), x.grad
    ([1.5], None)
    """

    _optimizer_step_pre_hooks: OrderedDict[int, _Hook]
    _optimizer_step_post_hooks: OrderedDict[int, _Hook]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, _Hook]
    _optimizer_state_dict_post_hooks: OrderedDict[int, _Hook]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, _Hook]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, _Hook]
    _zero_grad_profile_name: str

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._prepare()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params)
            )
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _prepare(self) -> None:
        """What constructors and unpickling share: dicts for hooks, and a step that calls them."""
        for name in _HOOKS:
            if name not in self.__dict__:
                setattr(self, name, OrderedDict())
        self._patch_step_function()

    def _patch_step_function(self) -> None:
        """Let the class's `step` call the hooks, once for each class that defines one."""
        kind = type(self)
        self._zero_grad_profile_name = f"Optimizer.zero_grad#{kind.__name__}.zero_grad"
        if not getattr(kind.step, "hooked", None):
            hooked: Any = self.profile_hook_step(kind.step)
            hooked.hooked = True
            kind.step = hooked  # type: ignore[method-assign]

    @staticmethod
    def profile_hook_step(func: Callable[_P, _R]) -> Callable[_P, _R]:
        """A function that calls the hooks around `func`, and shows it in profiles.

        >>> class Quiet(rg.optim.Optimizer):
        ...     @rg.optim.Optimizer.profile_hook_step
        ...     def step(self):
        ...         print("step")
        >>> Quiet.step.__name__
        'step'
        """

        @functools.wraps(func)
        def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            self = cast(Optimizer, args[0])
            with _core._RecordFunction(f"Optimizer.step#{type(self).__name__}.step"):
                hooks = self._optimizer_step_pre_hooks
                if _global_optimizer_pre_hooks or hooks:
                    for hook in chain(_global_optimizer_pre_hooks.values(), hooks.values()):
                        result = hook(self, args, kwargs)
                        if isinstance(result, tuple) and len(result) == 2:
                            args, kwargs = result
                        elif result is not None:
                            raise RuntimeError(
                                f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                            )
                out = func(*args, **kwargs)
                hooks = self._optimizer_step_post_hooks
                if _global_optimizer_post_hooks or hooks:
                    for hook in chain(hooks.values(), _global_optimizer_post_hooks.values()):
                        hook(self, args, kwargs)
                return out

        return wrapper

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    # ---- steps

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters from their gradients.

        Args: `closure` computes the loss and the gradients anew; most optimizers need none.
        Returns: what `closure` returned.
        """
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zeros with `set_to_none=False`."""
        if "_zero_grad_profile_name" not in self.__dict__:  # a subclass that never called our constructor
            self._patch_step_function()
        with _core._RecordFunction(self._zero_grad_profile_name):
            for group in self.param_groups:
                for p in group["params"]:
                    if set_to_none:
                        p.grad = None
                        continue
                    grad = p.grad
                    if grad is not None:
                        if grad.grad_fn is not None:
                            grad.detach_()
                        else:
                            grad.requires_grad_(False)
                        grad.zero_()

    # ---- groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a dict whose "params" is a tensor, or a list of tensors or of pairs of a name and a tensor.

        Options that it does not state are taken from `defaults`.
        Raises: TypeError or ValueError for what cannot be trained, or is in a group already.

        >>> x, y = rg.nn.Parameter(rg.ones(2)), rg.nn.Parameter(rg.ones(3))
        >>> optimizer = rg.optim.SGD([x], lr=0.1)
        >>> optimizer.add_param_group({"params": y, "lr": 0.01})
        >>> [group["lr"] for group in optimizer.param_groups]
        [0.1, 0.01]
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        entries = [given] if isinstance(given, Tensor) else list(given)
        names = [entry[0] for entry in entries if isinstance(entry, tuple)]
        if names and len(names) != len(entries):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        params = param_group["params"] = [entry[1] for entry in entries] if names else entries
        if names:
            param_group["param_names"] = names
        self._check_params(params)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        known = set(params)
        if len(params) != len(known):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                which = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {which} to the optimizer"
                )
        if not all(known.isdisjoint(group["params"]) for group in self.param_groups):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _check_params(self, params: list[Any]) -> None:
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(param)}")
            if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")

    # ---- state dicts

    def state_dict(self) -> StateDict:
        """The state and the groups, in which numbers stand for the parameters.

        Returns: a dict of "state", with the dict of each parameter under its number, and "param_groups". Tensors are
        not copied.

        >>> rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.1).state_dict()["param_groups"][0]["params"]
        [0]
        """
        for pre_hook in self._optimizer_state_dict_pre_hooks.values():
            pre_hook(self)
        numbers: dict[int, int] = {}
        groups, start = [], 0
        for group in self.param_groups:
            for i, p in enumerate(group["params"], start):
                numbers.setdefault(id(p), i)
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
            start += len(packed["params"])
        state = {numbers[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        state_dict: StateDict = {"state": state, "param_groups": groups}
        for post_hook in self._optimizer_state_dict_post_hooks.values():
            result = post_hook(self, state_dict)
            if result is not None:
                state_dict = result
        return state_dict

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take the state and the options from what `state_dict` returned.

        Parameters are matched by their order. State of floating point parameters is converted to their dtype, but for
        "step". Options, such as learning rates, become those of the dict: make schedulers before.
        Raises: ValueError if groups differ in number or in size.

        >>> old, new = (rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=lr) for lr in (0.1, 0.2))
        >>> new.load_state_dict(old.state_dict())
        >>> new.param_groups[0]["lr"]
        0.1
        """
        state_dict = state_dict.copy()
        for pre_hook in self._optimizer_load_state_dict_pre_hooks.values():
            result = pre_hook(self, state_dict)
            if result is not None:
                state_dict = result
        groups, saved_groups = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved_groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        params: dict[Any, Tensor] = {}
        for group, saved in zip(groups, saved_groups, strict=True):
            params.update(zip(saved["params"], group["params"], strict=True))
            saved["params"] = group["params"]
            if "param_names" in group:
                saved.setdefault("param_names", group["param_names"])
        state: defaultdict[Any, Any] = defaultdict(dict)
        for k, v in state_dict["state"].items():
            if k in params:
                state[params[k]] = _converted(params[k], v, k, state_dict["param_groups"])
            else:
                state[k] = v
        self.__setstate__({"state": state, "param_groups": saved_groups})
        for post_hook in self._optimizer_load_state_dict_post_hooks.values():
            post_hook(self)

    @staticmethod
    def _process_value_according_to_param_policy(
        param: Tensor, value: Tensor, param_id: int, param_groups: list[dict[Any, Any]], key: Hashable = None
    ) -> Tensor:
        """A tensor of a saved state as the parameter needs it."""
        if key == "step":
            group: dict[Any, Any] = next((g for g in param_groups if param_id in g["params"]), {})
            if group.get("capturable", False) or group.get("fused", False):
                return value.to(dtype=_core.float32, device=param.device)
            return value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)

    # ---- hooks

    def register_step_pre_hook(self, hook: _Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return another `args` and `kwargs`.

        >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))])
        >>> with optimizer.register_step_pre_hook(lambda optimizer, args, kwargs: print("before")):
        ...     optimizer.step()
        before
        """
        return _add(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: _Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step.

        >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))])
        >>> with optimizer.register_step_post_hook(lambda optimizer, args, kwargs: print("after")):
        ...     optimizer.step()
        after
        """
        return _add(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: _Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict`; with `prepend`, before the hooks that are there.

        >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))])
        >>> with optimizer.register_state_dict_pre_hook(lambda optimizer: print("before")):
        ...     state_dict = optimizer.state_dict()
        before
        """
        return _add(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: _Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` with what `state_dict` made; it may change it or return another.

        >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))])
        >>> with optimizer.register_state_dict_post_hook(lambda optimizer, state_dict: {**state_dict, "epoch": 3}):
        ...     optimizer.state_dict()["epoch"]
        3
        """
        return _add(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: _Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` with a shallow copy of what is loaded; it may change it or return another.

        >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))])
        >>> with optimizer.register_load_state_dict_pre_hook(lambda optimizer, state_dict: print(sorted(state_dict))):
        ...     optimizer.load_state_dict(optimizer.state_dict())
        ['param_groups', 'state']
        """
        return _add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: _Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after `load_state_dict`.

        >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))])
        >>> with optimizer.register_load_state_dict_post_hook(lambda optimizer: print("loaded")):
        ...     optimizer.load_state_dict(optimizer.state_dict())
        loaded
        """
        return _add(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _add(hooks: OrderedDict[int, _Hook], hook: _Hook, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _converted(param: Tensor, value: Any, number: Any, groups: list[dict[Any, Any]], key: Hashable = None) -> Any:
    """A copy of a saved state of `param`, in which containers are new and tensors have its dtype."""
    if isinstance(value, Tensor):
        return Optimizer._process_value_according_to_param_policy(param, value, number, groups, key)
    if isinstance(value, dict):
        return {k: _converted(param, v, number, groups, k) for k, v in value.items()}
    if isinstance(value, Iterable):
        kind: Any = type(value)
        return kind(_converted(param, v, number, groups) for v in value)
    return value


# ---- what optimizers share, under the names that optimizers outside of this package import


def _use_grad_for_differentiable(func: Callable[_P, _R]) -> Callable[_P, _R]:
    """A `step` that records ops if the optimizer is differentiable, and no others."""

    @functools.wraps(func)
    def step(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        self = cast(Optimizer, args[0])
        with _core._Recording(self.defaults["differentiable"]):
            return func(*args, **kwargs)

    return step


def _get_value(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


def _to_scalar(x: Any) -> Any:
    """An option that is a tensor of one element, without its dimensions."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() != 0 else x


def _get_scalar_dtype(is_fused: bool | None = None) -> _core.dtype:
    """The dtype of the step count in a state."""
    return _core.float64 if not is_fused and _core.get_default_dtype() is _core.float64 else _core.float32


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Replace complex parameters, and what belongs to them in the other lists, by views of pairs of real numbers."""
    for i, p in enumerate(params):
        if p.is_complex():
            for tensors in (params, *state_and_grads):
                tensors[i] = _core.view_as_real(tensors[i])


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether torch takes fused kernels, and those for lists, for parameters on the CPU."""
    return use_fused and not differentiable and all(p.is_floating_point() for p in params), False
