"""The state of a module as a dict: `state_dict` and `load_state_dict`, and hooks around them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.nn.modules._calls import Calls, _WrappedHook
from retrograd.nn.modules._members import _is_tensor_like
from retrograd.nn.parameter import Parameter, is_lazy
from retrograd.utils.hooks import RemovableHandle

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class _IncompatibleKeys(_Keys):
    __slots__ = ()

    def __repr__(self) -> str:
        if self.missing_keys or self.unexpected_keys:
            return f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, unexpected_keys={self.unexpected_keys!r})"
        return "<All keys matched successfully>"

    __str__ = __repr__


class States(Calls):
    """The state of a module in a dict, with a version for each class."""

    # What `state_dict` notes in `_metadata` for modules of the class, and `_load_from_state_dict` can look at.
    _version: int = 1

    _state_dict_hooks: OrderedDict[int, Callable[..., Any]]
    _state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]

    # Out

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """The parameters and persistent buffers, of children too, under their dotted names.

        Args: they are put into `destination`, or a new `OrderedDict`; `prefix` comes before each name. The tensors
        share memory with those of the module; they are detached unless `keep_vars`.

        >>> rg.nn.ModuleList([rg.nn.ParameterList([rg.ones(2)])]).state_dict(prefix="net.")
        OrderedDict({'net.0.0': tensor([1., 1.])})
        """
        if args:
            destination, prefix, keep_vars = _positional(args, destination, prefix, keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, metadata)
            if replaced is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = replaced
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put what the module itself has into `destination`; subclasses may put more."""
        for name, tensor in self._state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if _overrides(self, "get_extra_state"):
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def _state(self) -> dict[str, Any]:
        """The parameters and persistent buffers of the module itself."""
        transient = self._non_persistent_buffers_set
        state: dict[str, Any] = {name: p for name, p in self._parameters.items() if p is not None}
        state.update({name: b for name, b in self._buffers.items() if b is not None and name not in transient})
        return state

    def get_extra_state(self) -> Any:
        """More state for `state_dict`, of any kind; a subclass that has some defines this and `set_extra_state`.

        >>> class Counter(rg.nn.Module):
        ...     count = 3
        ...     def get_extra_state(self):
        ...         return self.count
        ...     def set_extra_state(self, state):
        ...         self.count = state
        >>> Counter().state_dict()
        OrderedDict({'_extra_state': 3})
        """
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called: a class that has extra state "
            "defines it, and no other class is asked"
        )

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` returned; `load_state_dict` calls it.

        >>> hasattr(rg.nn.Module, "set_extra_state")  # a subclass defines set_extra_state(state)
        True
        """
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called: a class that has extra state "
            "defines it, and no other class is asked"
        )

    # In

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy tensors of a state dict into the parameters and buffers of their names.

        Args: `strict` demands that the names are the same. With `assign` the tensors themselves become the parameters
        and buffers, with their dtype, and parameters keep whether they require grad.
        Returns: a named tuple with the lists `missing_keys` and `unexpected_keys`.
        Raises: TypeError for what is no dict; RuntimeError with all names that are missing, unexpected (if `strict`) or
        whose sizes differ.

        >>> module = rg.nn.ParameterList([rg.zeros(2)])
        >>> module.load_state_dict({"0": rg.ones(2)})
        <All keys matched successfully>
        >>> module[0]
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        loading = _Loading(getattr(state_dict, "_metadata", None), assign)
        own: Any = OrderedDict(state_dict)
        if loading.metadata is not None:
            own._metadata = loading.metadata
        loading.load(self, own, "")
        keys, errors = loading.keys, loading.errors
        if strict:
            for found, what in ((keys.unexpected_keys, "Unexpected"), (keys.missing_keys, "Missing")):
                if found:
                    names = ", ".join(f'"{key}"' for key in found)
                    errors.insert(0, f"{what} key(s) in state_dict: {names}. ")
        if errors:
            lines = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}")
        return keys

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load what the module itself has; a subclass may first change the entries of an older version.

        Lists of names and messages are appended to. `local_metadata` has what was noted for this module, as "version".
        """
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        state = self._state()
        for name, tensor in state.items():
            key = prefix + name
            if key in state_dict:
                self._load_tensor(name, tensor, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE_KEY_SUFFIX
        if _overrides(self, "set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    name, dot, _ = key[len(prefix) :].partition(".")
                    if name not in (self._modules if dot else state):
                        unexpected_keys.append(key)

    def _load_tensor(
        self, name: str, tensor: Tensor, key: str, given: Any, assign: bool, error_msgs: list[str]
    ) -> None:
        if not _is_tensor_like(given):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(given)}"
            )
            return
        if not is_lazy(tensor):
            if tensor.dim() == 0 and tuple(given.shape) == (1,):  # as some numbers were stored long ago
                given = given[0]
            if given.shape != tensor.shape:
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in "
                    f"current model is {tensor.shape}."
                )
                return
        try:
            with no_grad():
                if assign:
                    self._assign(name, tensor, given)
                else:
                    tensor.copy_(given)
        except Exception as error:
            error_msgs.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.size()} and '
                f"whose dimensions in the checkpoint are {given.size()}, an exception occurred : {error.args}."
            )

    def _assign(self, name: str, tensor: Tensor, given: Any) -> None:
        if isinstance(tensor, Parameter):
            if isinstance(given, Parameter):
                given.requires_grad_(tensor.requires_grad)
            else:
                given = Parameter(given, requires_grad=tensor.requires_grad)
        setattr(self, name, given)

    # Hooks

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict`; it may return another dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return _added(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict`; it may change the dict in place.

        >>> module = rg.nn.Module()
        >>> handle = module.register_state_dict_post_hook(lambda m, state, prefix, metadata: state.update(count=3))
        >>> module.state_dict()
        OrderedDict({'count': 3})
        """
        hook._from_public_api = True  # type: ignore[attr-defined]
        return _added(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` collects anything.

        >>> module = rg.nn.Module()
        >>> handle = module.register_state_dict_pre_hook(lambda m, prefix, keep_vars: print("collecting"))
        >>> _ = module.state_dict()
        collecting
        """
        return _added(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """`register_load_state_dict_pre_hook`, for a hook that is not given the module unless `with_module`."""
        return _added(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook before a state dict is loaded, which may change the dict.

        It is called as `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)`, once for the module itself.

        >>> module = rg.nn.ParameterList([rg.zeros(1)])
        >>> rename = lambda module, state, prefix, *rest: state.update({prefix + "0": state.pop(prefix + "old")})
        >>> handle = module.register_load_state_dict_pre_hook(rename)
        >>> module.load_state_dict({"old": rg.ones(1)})
        <All keys matched successfully>
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after a state dict is loaded, which may change the lists in place.

        >>> module = rg.nn.Module()
        >>> handle = module.register_load_state_dict_post_hook(lambda m, keys: keys.unexpected_keys.clear())
        >>> module.load_state_dict({"count": 3})
        <All keys matched successfully>
        """
        return _added(self._load_state_dict_post_hooks, hook)


class _Loading:
    """One `load_state_dict`: what it found so far."""

    def __init__(self, metadata: Any, assign: bool) -> None:
        self.metadata = metadata
        self.assign = assign
        self.keys = _IncompatibleKeys([], [])
        self.errors: list[str] = []

    def load(self, module: Any, state: Any, prefix: str) -> None:
        local = {} if self.metadata is None else self.metadata.get(prefix[:-1], {})
        if self.assign:
            local["assign_to_params_buffers"] = True
        module._load_from_state_dict(
            state, prefix, local, True, self.keys.missing_keys, self.keys.unexpected_keys, self.errors
        )
        below = _by_child(state, prefix) if module._modules else {}
        for name, child in module._modules.items():
            if child is not None:
                self.load(child, below.get(name, {}), f"{prefix}{name}.")
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, self.keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                    "values, if incompatible_keys need to be modified, it should be done inplace."
                )


def _by_child(state: Mapping[str, Any], prefix: str) -> dict[str, dict[str, Any]]:
    """The entries of each child, in one pass over all."""
    below: dict[str, dict[str, Any]] = {}
    for key, value in state.items():
        if key.startswith(prefix):
            name, dot, _ = key[len(prefix) :].partition(".")
            if dot:
                below.setdefault(name, {})[key] = value
    return below


def _added(hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any]) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _overrides(module: States, method: str) -> bool:
    return getattr(type(module), method) is not getattr(States, method)


def _positional(args: tuple[Any, ...], destination: Any, prefix: str, keep_vars: bool) -> tuple[Any, str, bool]:
    """The arguments of `state_dict` as old programs gave them, without keywords."""
    import warnings

    warnings.warn(
        "Positional args are being deprecated, use kwargs instead. Refer to "
        "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
        FutureWarning,
        stacklevel=3,
    )
    if destination is None:
        destination = args[0]
    if len(args) > 1 and prefix == "":
        prefix = args[1]
    if len(args) > 2 and keep_vars is False:
        keep_vars = args[2]
    return destination, prefix, keep_vars
