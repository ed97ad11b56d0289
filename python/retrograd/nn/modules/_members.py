"""What a module has: parameters, buffers and children, by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

from retrograd._core import Tensor
from retrograd._queries import typename
from retrograd.nn.parameter import Buffer, Parameter
from retrograd.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    from retrograd.nn.modules.module import Module

# Hooks that every registration calls, whatever the module; one that returns something replaces what is registered.
_RegistrationHooks = OrderedDict[int, Callable[..., Any]]
_global_buffer_registration_hooks: _RegistrationHooks = OrderedDict()
_global_module_registration_hooks: _RegistrationHooks = OrderedDict()
_global_parameter_registration_hooks: _RegistrationHooks = OrderedDict()


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` whenever any module gets a buffer; what it returns takes the buffer's place.

    >>> handle = rg.nn.modules.module.register_module_buffer_registration_hook(lambda m, name, b: print(name))
    >>> rg.nn.Module().register_buffer("mean", rg.zeros(1))
    mean
    >>> handle.remove()
    """
    return _registered(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, child)` whenever any module gets a child; what it returns takes the child's place.

    >>> handle = rg.nn.modules.module.register_module_module_registration_hook(lambda m, name, child: print(name))
    >>> rg.nn.Module().layer = rg.nn.Module()
    layer
    >>> handle.remove()
    """
    return _registered(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, parameter)` whenever any module gets one; what it returns takes the parameter's place.

    >>> handle = rg.nn.modules.module.register_module_parameter_registration_hook(lambda m, name, p: print(name))
    >>> rg.nn.Module().weight = rg.nn.Parameter(rg.ones(1))
    weight
    >>> handle.remove()
    """
    return _registered(_global_parameter_registration_hooks, hook)


def _registered(hooks: _RegistrationHooks, hook: Callable[..., Any]) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _passed(hooks: _RegistrationHooks, module: Members, name: str, value: Any) -> Any:
    """What is to be registered, once the hooks have seen it."""
    for hook in hooks.values():
        replaced = hook(module, name, value)
        if replaced is not None:
            value = replaced
    return value


def _is_tensor_like(value: object) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__torch_function__")


def _check_name(what: str, name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {typename(name)}")
    if "." in name:
        raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')


class Members:
    """Parameters, buffers and children of a module, and how attributes become them."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Module | None]

    # Attributes

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if "_parameters" in own:
            members = own["_parameters"]
            if name in members:
                return members[name]
        if "_modules" in own:
            members = own["_modules"]
            if name in members:
                return members[name]
        if "_buffers" in own:
            members = own["_buffers"]
            if name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Tensor):
            if isinstance(value, Parameter):
                _set_parameter(self, own, name, value)
                return
        elif isinstance(value, Members):
            _set_module(self, own, name, value)
            return
        if "_parameters" in own and name in own["_parameters"]:
            if value is not None:
                _refuse(value, "parameter", name, "torch.nn.Parameter")
            self.register_parameter(name, None)
        elif "_modules" in own and name in own["_modules"]:
            if value is not None:
                _refuse(value, "child module", name, "torch.nn.Module")
            own["_modules"][name] = _passed(_global_module_registration_hooks, self, name, None)
        elif ("_buffers" in own and name in own["_buffers"]) or (
            isinstance(value, Tensor) and isinstance(value, Buffer)
        ):
            _set_buffer(self, name, value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())  # such as "0": no attribute in Python's syntax

    # Registration

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a buffer: a tensor that belongs to the state of the module, but is not trained.

        Args: `tensor` may be None for a buffer that is not used, and that `state_dict` leaves out; one that is not
        `persistent` is left out too.
        Raises: AttributeError before `Module.__init__`; TypeError for what is no name or no tensor; KeyError for a name
        that is taken, is empty, or has a dot.

        >>> module = rg.nn.Module()
        >>> module.register_buffer("mean", rg.zeros(2))
        >>> module.state_dict()
        OrderedDict({'mean': tensor([0., 0.])})
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_name("buffer", name)
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"attribute '{name}' already exists")
        if tensor is not None and not _is_tensor_like(tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = _passed(_global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, which may be None for one that is not used.

        Raises: AttributeError before `Module.__init__`; TypeError for what is no name or no parameter; KeyError for a
        name that is taken, is empty, or has a dot; ValueError for a parameter that was computed.

        >>> module = rg.nn.Module()
        >>> module.register_parameter("weight", rg.nn.Parameter(rg.ones(2)))
        >>> module.weight
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        _check_name("parameter", name)
        if hasattr(self, name) and name not in self._parameters:
            raise KeyError(f"attribute '{name}' already exists")
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param.grad_fn:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = _passed(_global_parameter_registration_hooks, self, name, param)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child, which is an attribute of this name too.

        Raises: TypeError for what is no name or no module; KeyError for a name that is taken, is empty, or has a dot.

        >>> module = rg.nn.Module()
        >>> module.add_module("layer", rg.nn.Module())
        >>> module
        Module(
          (layer): Module()
        )
        """
        if module is not None and not isinstance(module, Members):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        _check_name("module", name)
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        self._modules[name] = _passed(_global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """`add_module` under another name.

        >>> rg.nn.Module().register_module("layer", rg.nn.Module())
        """
        self.add_module(name, module)

    # Members by dotted name

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted name; the module itself for "".

        Raises: AttributeError if there is none.

        >>> net = rg.nn.ModuleDict({"a": rg.nn.ModuleList([rg.nn.Module()])})
        >>> net.get_submodule("a.0")
        Module()
        """
        module: Any = self
        for name in target.split(".") if target else ():
            owner = module
            if not hasattr(owner, name):
                raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
            module = getattr(owner, name)
            if not isinstance(module, Members):
                raise AttributeError(f"`{name}` is not an nn.Module")
        found: Module = module
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a dotted name; `strict` demands that there is one already.

        Raises: ValueError for an empty name or what is no module; AttributeError if the way to it is missing, if what
        is there is no module, or if `strict` and nothing is there.

        >>> net = rg.nn.ModuleDict({"a": rg.nn.ModuleList([rg.nn.Module()])})
        >>> net.set_submodule("a.0", rg.nn.ModuleList())
        >>> net.get_submodule("a.0")
        ModuleList()
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Members):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if hasattr(parent, name):
            if not isinstance(getattr(parent, name), Members):
                raise AttributeError(f"`{name}` is not an nn.Module")
        elif strict:
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted name.

        Raises: AttributeError if there is none.

        >>> rg.nn.ParameterDict({"w": rg.ones(1)}).get_parameter("w")
        Parameter containing:
        tensor([1.], requires_grad=True)
        """
        _, name, found = self._at(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted name.

        Raises: AttributeError if there is none.

        >>> module = rg.nn.Module()
        >>> module.register_buffer("mean", rg.zeros(2))
        >>> module.get_buffer("mean")
        tensor([0., 0.])
        """
        module, name, found = self._at(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        buffer: Tensor = found
        return buffer

    def _at(self, target: str) -> tuple[Module, str, Any]:
        """The module that has what is at a dotted name, its name there, and itself."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return module, name, getattr(module, name)

    # Iteration

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """What a function lists of each module, with full names and without None."""
        seen = set()
        modules: Iterable[tuple[str, Any]] = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else ((prefix, self),)
        )
        for path, module in modules:
            before = f"{path}." if path else ""
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield before + name, member

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once; those of children too if `recurse`.

        >>> list(rg.nn.ParameterList([rg.ones(1)]).parameters())
        [Parameter containing:
        tensor([1.], requires_grad=True)]
        """
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their dotted names.

        Args: `prefix` comes before each name, with a dot; children are included if `recurse`; a parameter that is there
        several times is listed once if `remove_duplicate`, under its first name.

        >>> [name for name, _ in rg.nn.ParameterDict({"w": rg.ones(1)}).named_parameters(prefix="net")]
        ['net.w']
        """
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once; those of children too if `recurse`.

        >>> list(rg.nn.Module().buffers())
        []
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their dotted names; arguments as of `named_parameters`.

        >>> list(rg.nn.Module().named_buffers())
        []
        """
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def children(self) -> Iterator[Module]:
        """The modules directly below, each once.

        >>> list(rg.nn.ModuleList([rg.nn.Module()]).children())
        [Module()]
        """
        for _, child in self.named_children():
            yield child

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below with their names; one that is there several times comes once.

        >>> list(rg.nn.ModuleList([rg.nn.Module()]).named_children())
        [('0', Module())]
        """
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """The module itself and all below, each once unless `remove_duplicate` is False.

        >>> len(list(rg.nn.ModuleList([rg.nn.Module()]).modules()))
        2
        """
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """The module itself and all below, with their dotted names.

        Args: modules in `memo` are left out, and those that are listed put into it, so that each comes once, unless
        `remove_duplicate` is False; `prefix` is the name of the module itself.

        >>> [name for name, _ in rg.nn.ModuleDict({"a": rg.nn.ModuleList([rg.nn.Module()])}).named_modules()]
        ['', 'a', 'a.0']
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        module: Any = self
        yield prefix, module
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    # What is done to all of them

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Let all parameters require grad, or none; False freezes the module.

        >>> rg.nn.ParameterList([rg.ones(1)]).requires_grad_(False)[0].requires_grad
        False
        """
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all parameters, or fill them with zeros if `set_to_none` is False.

        >>> rg.nn.Module().zero_grad()
        """
        for parameter in self.parameters():
            grad = parameter.grad
            if grad is None:
                continue
            if set_to_none:
                parameter.grad = None
                continue
            if grad.grad_fn is not None:
                grad.detach_()
            else:
                grad.requires_grad_(False)
            grad.zero_()

    def _get_name(self) -> str:
        return type(self).__name__


def _forget(name: str, *stores: dict[str, Any] | set[str]) -> None:
    for store in stores:
        if isinstance(store, set):
            store.discard(name)
        else:
            store.pop(name, None)


def _set_parameter(module: Members, own: dict[str, Any], name: str, value: Parameter) -> None:
    if "_parameters" not in own:
        raise AttributeError("cannot assign parameters before Module.__init__() call")
    _forget(name, own, module._buffers, module._modules, module._non_persistent_buffers_set)
    module.register_parameter(name, value)


def _set_module(module: Members, own: dict[str, Any], name: str, value: Any) -> None:
    if "_modules" not in own:
        raise AttributeError("cannot assign module before Module.__init__() call")
    if name in own["_parameters"]:
        _refuse(value, "parameter", name, "torch.nn.Parameter")
    _forget(name, own, module._buffers, module._non_persistent_buffers_set)
    own["_modules"][name] = _passed(_global_module_registration_hooks, module, name, value)


def _refuse(value: Any, what: str, name: str, expected: str) -> None:
    raise TypeError(f"cannot assign '{typename(value)}' as {what} '{name}' ({expected} or None expected)")


def _set_buffer(module: Members, name: str, value: Any) -> None:
    if value is not None and not _is_tensor_like(value):
        _refuse(value, "buffer", name, "torch.nn.Buffer, torch.Tensor")
    is_new = isinstance(value, Buffer)
    persistent: bool = value.persistent if is_new else name not in module._non_persistent_buffers_set
    if type(module).register_buffer is Members.register_buffer:
        module.register_buffer(name, value, persistent)
        return
    import inspect  # only for the rare class with a register_buffer of its own

    if "persistent" in inspect.signature(module.register_buffer).parameters:
        module.register_buffer(name, value, persistent)
    elif persistent:
        module.register_buffer(name, value)
    else:
        raise RuntimeError(
            "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without the "
            "persistent argument is not allowed."
        )
