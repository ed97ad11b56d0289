"""The call of a module: `forward`, and the hooks around it."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from retrograd._core import Tensor
from retrograd.nn.modules._members import Members
from retrograd.utils.hooks import BackwardHook, RemovableHandle

if TYPE_CHECKING:
    from retrograd.nn.modules.module import Module

Hook = Callable[..., Any]

# Hooks of all modules.
_global_backward_pre_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_is_full_backward_hook: bool | None = None
_global_forward_pre_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_forward_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_hooks: OrderedDict[int, bool] = OrderedDict()  # all of them, so that a call asks once whether there are any


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, args)` before the `forward` of every module, and before the module's own hooks.

    Args: what the hook returns takes the place of the positional arguments; what is no tuple is put into one.

    >>> show = lambda module, args: print("in", *args)
    >>> with rg.nn.modules.module.register_module_forward_pre_hook(show):
    ...     rg.nn.Sequential()(1)
    in 1
    1
    """
    return _added_globally(_global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after the `forward` of every module, and before the module's own hooks.

    Args: what the hook returns, unless None, is the output from there on. `with_kwargs` calls
    `hook(module, args, kwargs, output)`; `always_call` calls the hook also after an exception, with None or the output
    so far.

    >>> show = lambda module, args, output: print("out", output)
    >>> with rg.nn.modules.module.register_module_forward_hook(show):
    ...     rg.nn.Sequential()(1)
    out 1
    1
    """
    marks = _global_forward_hooks_with_kwargs, _global_forward_hooks_always_called
    handle = _added_globally(_global_forward_hooks, hook, *marks)
    if with_kwargs:
        _global_forward_hooks_with_kwargs[handle.id] = True
    if always_call:
        _global_forward_hooks_always_called[handle.id] = True
    return handle


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_output)` before the backward of every module, as `register_full_backward_pre_hook` does.

    >>> rg.nn.modules.module.register_module_full_backward_pre_hook(print).remove()
    """
    return _added_globally(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` after the backward of every module.

    Raises: RuntimeError after `register_module_backward_hook`: there are hooks of one kind only.

    >>> rg.nn.modules.module.register_module_full_backward_hook(print).remove()
    """
    return _added_backward(hook, full=True)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """An old form of `register_module_full_backward_hook`, which sees the last node of a module only.

    Raises: RuntimeError after `register_module_full_backward_hook`: there are hooks of one kind only.

    >>> hook = rg.nn.modules.module.register_module_backward_hook  # prefer register_module_full_backward_hook
    """
    return _added_backward(hook, full=False)


def _added_backward(hook: Hook, full: bool) -> RemovableHandle:
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only "
            "one of them."
        )
    _global_is_full_backward_hook = full
    return _added_globally(_global_backward_hooks, hook)


def _added_globally(hooks: OrderedDict[int, Hook], hook: Hook, *marks: OrderedDict[int, bool]) -> RemovableHandle:
    handle = _added(hooks, hook, *marks, _global_hooks)
    _global_hooks[handle.id] = True
    return handle


def _added(
    hooks: OrderedDict[int, Hook], hook: Hook, *marks: OrderedDict[int, bool], prepend: bool = False
) -> RemovableHandle:
    handle = RemovableHandle(hooks, extra_dict=[*marks])
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class _WrappedHook:
    """A hook, or one that gets its module as first argument; the module is held weakly, and pickled with it."""

    def __init__(self, hook: Hook, module: Members | None = None) -> None:
        self.hook = hook
        functools.update_wrapper(self, hook)
        self.with_module = module is not None
        if module is not None:
            self.module = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = {"hook": self.hook, "with_module": self.with_module}
        return {**state, "module": self.module()} if self.with_module else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


class Calls(Members):
    """`module(...)`, and hooks before and after it, forwards and backwards."""

    _backward_pre_hooks: OrderedDict[int, Hook]
    _backward_hooks: OrderedDict[int, Hook]
    _is_full_backward_hook: bool | None
    _forward_hooks: OrderedDict[int, Hook]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Hook]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]

    # A value and not a method, so that a subclass may define `forward` with the parameters that it likes.
    forward: Callable[..., Any]

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`.

        Args: what the hook returns, unless None, takes the place of the positional arguments; what is no tuple is put
        into one. `with_kwargs` calls `hook(module, args, kwargs)`, which may return both in a tuple; `prepend` puts
        the hook before those that are there.
        Returns: a handle whose `remove()` removes the hook.

        >>> module = rg.nn.Sequential()
        >>> with module.register_forward_pre_hook(lambda module, args: args[0] * 10):
        ...     module(2)
        20
        """
        handle = _added(self._forward_pre_hooks, hook, self._forward_pre_hooks_with_kwargs, prepend=prepend)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after `forward`.

        Args: what the hook returns, unless None, is the output from there on. `with_kwargs` calls
        `hook(module, args, kwargs, output)`; `prepend` puts the hook before those that are there; `always_call` calls
        it also after an exception, with None or the output so far.
        Returns: a handle whose `remove()` removes the hook.

        >>> module = rg.nn.Sequential()
        >>> with module.register_forward_hook(lambda module, args, output: output + 1):
        ...     module(2)
        3
        """
        marks = self._forward_hooks_with_kwargs, self._forward_hooks_always_called
        handle = _added(self._forward_hooks, hook, *marks, prepend=prepend)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the gradients go back through the module.

        Args: `grad_output` is a tuple with the gradient of each output, None for what is no tensor; the hook may return
        a tuple in its place. `prepend` puts the hook before those that are there.
        Returns: a handle whose `remove()` removes the hook.

        >>> module, x = rg.nn.Flatten(0), rg.ones(2, requires_grad=True)
        >>> handle = module.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 10,))
        >>> module(x).sum().backward()
        >>> x.grad
        tensor([10., 10.])
        """
        return _added(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the module's inputs are known.

        Args: both are tuples with a gradient for each positional argument or output, None for what is no tensor; the
        hook may return a tuple in the place of `grad_input`. `prepend` puts the hook before those that are there.
        Returns: a handle whose `remove()` removes the hook.
        Raises: RuntimeError after `register_backward_hook`: a module has hooks of one kind only. Inputs and outputs
        must not be changed in place while it is there. Under `vmap` it is called once, with the gradients of all.

        >>> module, x = rg.nn.Flatten(0), rg.ones(2, requires_grad=True)
        >>> handle = module.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 10,))
        >>> module(x).sum().backward()
        >>> x.grad
        tensor([10., 10.])
        """
        return self._added_backward_hook(hook, full=True, prepend=prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """An old form of `register_full_backward_hook`, which sees the last node of the module only.

        >>> rg.nn.Module().register_backward_hook(print).remove()  # prefer register_full_backward_hook
        """
        return self._added_backward_hook(hook, full=False)

    def _added_backward_hook(self, hook: Hook, full: bool, prepend: bool = False) -> RemovableHandle:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                "one of them."
            )
        self._is_full_backward_hook = full
        return _added(self._backward_hooks, hook, prepend=prepend)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or _global_hooks
        ):
            return _HookedCall(self, args, kwargs).run()
        return self.forward(*args, **kwargs)

    _call_impl = __call__


class _HookedCall:
    """One call of a module that has hooks, or where all modules have."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.result: Any = None
        self.always_called: set[int] = set()  # hooks that need not be called again if something raises

    def run(self) -> Any:
        try:
            return self._run()
        except Exception:
            self._call_those_always_called()
            raise

    def _run(self) -> Any:
        module = self.module
        full, last_node = self._backward_hooks()
        before = [*_global_backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
        for key, hook in (*_global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
            self._call_pre_hook(hook, key in module._forward_pre_hooks_with_kwargs)
        backward = BackwardHook(module, full, before) if full or before else None
        if backward is not None:
            self.args = backward.setup_input_hook(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        self._call_hooks(_global_forward_hooks, _global_forward_hooks_with_kwargs, _global_forward_hooks_always_called)
        self._call_hooks(module._forward_hooks, module._forward_hooks_with_kwargs, module._forward_hooks_always_called)
        if backward is not None:
            if not isinstance(self.result, Tensor | tuple):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                    f"received {type(self.result)}",
                    stacklevel=5,
                )
            self.result = backward.setup_output_hook(self.result)
        if last_node:
            self._hook_last_node(last_node)
        return self.result

    def _backward_hooks(self) -> tuple[list[Hook], list[Hook]]:
        """The full ones, and those of the old form."""
        kinds: dict[bool, list[Hook]] = {True: [], False: []}
        for hooks, full in (
            (_global_backward_hooks, _global_is_full_backward_hook),
            (self.module._backward_hooks, self.module._is_full_backward_hook),
        ):
            if full is not None:
                kinds[full] += hooks.values()
        return kinds[True], kinds[False]

    def _call_pre_hook(self, hook: Hook, with_kwargs: bool) -> None:
        if not with_kwargs:
            args = hook(self.module, self.args)
            if args is not None:
                self.args = args if isinstance(args, tuple) else (args,)
            return
        both = hook(self.module, self.args, self.kwargs)
        if both is None:
            return
        if not (isinstance(both, tuple) and len(both) == 2):
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {both}."
            )
        self.args, self.kwargs = both

    def _call_hooks(
        self, hooks: OrderedDict[int, Hook], with_kwargs: OrderedDict[int, bool], always: OrderedDict[int, bool]
    ) -> None:
        for key, hook in (*hooks.items(),):
            if key in always:
                self.always_called.add(key)
            self._call_hook(hook, key in with_kwargs)

    def _call_hook(self, hook: Hook, with_kwargs: bool) -> None:
        if with_kwargs:
            result = hook(self.module, self.args, self.kwargs, self.result)
        else:
            result = hook(self.module, self.args, self.result)
        if result is not None:
            self.result = result

    def _call_those_always_called(self) -> None:
        module = self.module
        for whose, hooks, with_kwargs, always in (
            (
                "global module",
                _global_forward_hooks,
                _global_forward_hooks_with_kwargs,
                _global_forward_hooks_always_called,
            ),
            (
                "module",
                module._forward_hooks,
                module._forward_hooks_with_kwargs,
                module._forward_hooks_always_called,
            ),
        ):
            for key, hook in (*hooks.items(),):
                if key not in always or key in self.always_called:
                    continue
                try:
                    self._call_hook(hook, key in with_kwargs)
                except Exception as error:
                    warnings.warn(
                        f"{whose} forward hook with ``always_call=True`` raised an exception that was silenced as "
                        f"another error was raised in forward: {error}",
                        stacklevel=5,
                    )

    def _hook_last_node(self, hooks: list[Hook]) -> None:
        """Hooks of the old form go on the node that made the first tensor of the output."""
        first = self.result
        while not isinstance(first, Tensor):
            first = next(v for v in first.values() if isinstance(v, Tensor)) if isinstance(first, dict) else first[0]
        node = first.grad_fn
        if node is not None:
            for hook in hooks:
                node.register_hook(_WrappedHook(hook, self.module))
            _warn_of_what_old_hooks_miss(self.args, self.result, node)


def _warn_of_what_old_hooks_miss(inputs: Any, result: Any, node: Any) -> None:
    def warn(when: str, what: str, use_the_other: bool = True) -> None:
        advice = " Please use register_full_backward_hook to get the documented behavior." if use_the_other else ""
        warnings.warn(
            f"Using {when} is deprecated and will be removed in future versions. This hook will be missing some "
            f"{what}.{advice}",
            FutureWarning,
            stacklevel=7,
        )

    outputs = _tensors(result)
    if outputs is None:
        return warn(
            "non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors",
            "of the grad_output",
        )
    arguments = _tensors(inputs)
    if arguments is None:
        return warn(
            "non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors",
            "of the grad_input",
        )
    nodes = {t.grad_fn for t in outputs if t.grad_fn is not None}
    if not nodes or (len(nodes) == 1 and node not in nodes):
        warn("a non-full backward hook when outputs are nested in python data structure", "grad_output", False)
    elif len(nodes) > 1:
        warn("a non-full backward hook when outputs are generated by different autograd Nodes", "grad_output")
    elif {t.grad_fn for t in arguments if t.grad_fn is not None} != {at for at, _ in node.next_functions}:
        warn("a non-full backward hook when the forward contains multiple autograd Nodes", "grad_input")


def _tensors(values: Any) -> tuple[Tensor, ...] | None:
    """A tensor, or a tuple of nothing but tensors, as a tuple."""
    values = (values,) if isinstance(values, Tensor) else values
    return values if isinstance(values, tuple) and all(isinstance(v, Tensor) for v in values) else None


def _forward_unimplemented(self: Module, *input: Any) -> None:
    """What a module computes: to be defined by each subclass. Call the module itself, which runs the hooks."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


Calls.forward = _forward_unimplemented
