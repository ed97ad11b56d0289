"""Hooks on what ops save for backward, and what is made with them."""

from __future__ import annotations

import contextlib
import weakref
from _thread import _local
from collections.abc import Callable, MutableMapping
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd._local import carried


class saved_tensors_hooks(_core._SavedTensorsHooks):
    """Inside the block, let every tensor that is saved for backward pass through a pair of hooks.

    Args: `pack_hook` is called once with each tensor as it is saved, by ops and by custom Functions, and may return
    anything; that is saved instead. `unpack_hook` is called with it each time the tensor is needed and must return a
    tensor of the same values. Only the innermost pair acts, on the calling thread; what it packed is unpacked by it
    after the block as well. Ops in the hooks are not hooked.
    Neither hook may change its argument. A pack hook that returns the tensor itself, where that is the op's own result,
    makes a reference cycle, which the garbage collector must find; return `tensor.detach()`.
    Raises: TypeError from the op's backward if `unpack_hook` does not return a tensor; RuntimeError if `pack_hook`
    writes to its argument.

    >>> def pack(t):
    ...     print("saved", t.tolist())
    ...     return t.tolist()
    >>> x = rg.tensor([1.0, 2.0], requires_grad=True)
    >>> with rg.autograd.graph.saved_tensors_hooks(pack, rg.tensor):
    ...     y = x.square().sum()
    saved [1.0, 2.0]
    >>> y.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook


class save_on_cpu(saved_tensors_hooks):
    """Inside the block, save tensors for backward in main memory.

    Tensors are there already: with `pin_memory` they are copied, without it they are not. Args: `device_type`
    the kind of device that the tensors are expected to come from; stored, and of no effect.

    >>> x = rg.tensor([1.0, 2.0], requires_grad=True)
    >>> with rg.autograd.graph.save_on_cpu(pin_memory=True):
    ...     y = x.exp().sum()
    >>> y.backward()
    >>> x.grad
    tensor([2.7183, 7.3891])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        self.pin_memory = pin_memory
        self.device_type = device_type
        super().__init__(_copy if pin_memory else Tensor.detach, _same)


class _Pushed(_local):
    """The hooks that `_push_saved_tensors_default_hooks` put in force."""

    def __init__(self) -> None:
        self.hooks: list[saved_tensors_hooks] = []


_pushed = carried(_Pushed())


def _push_saved_tensors_default_hooks(pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
    """Enter `saved_tensors_hooks` on the calling thread, until `_pop_saved_tensors_default_hooks`.

    >>> rg.autograd._push_saved_tensors_default_hooks(lambda t: print("saved", t) or t, lambda t: t)
    >>> y = rg.ones(1, requires_grad=True).exp()
    saved tensor([2.7183], grad_fn=<ExpBackward0>)
    >>> rg.autograd._pop_saved_tensors_default_hooks()
    """
    hooks = saved_tensors_hooks(pack_hook, unpack_hook)
    _pushed.hooks.append(hooks)
    hooks.__enter__()


def _pop_saved_tensors_default_hooks() -> None:
    """Leave the hooks that `_push_saved_tensors_default_hooks` entered last.

    Raises: RuntimeError if there are none.
    """
    if not _pushed.hooks:
        raise RuntimeError("_pop_saved_tensors_default_hooks: no hooks were pushed on this thread")
    _pushed.hooks.pop().__exit__(None, None, None)


def _copy(t: Tensor) -> Tensor:
    return t.detach().clone()


def _same(t: Tensor) -> Tensor:
    return t


class _NoHooks(_core._NoSavedTensorsHooks, contextlib.ContextDecorator):
    """A block that refuses hooks."""


def disable_saved_tensors_hooks(error_message: str) -> contextlib.AbstractContextManager[None]:
    """Inside the block, on the calling thread, refuse saved-tensor hooks.

    Args: `error_message` the text of the RuntimeError that entering `saved_tensors_hooks` raises; this block raises it
    as well if it is entered while hooks are in force. Blocks nest.

    >>> graph = rg.autograd.graph
    >>> with graph.disable_saved_tensors_hooks("no hooks here"), graph.save_on_cpu():
    ...     pass
    Traceback (most recent call last):
    RuntimeError: no hooks here
    """
    return _NoHooks(error_message)


class _Handle:
    """The handle of a saved tensor while a graph holds it."""

    __slots__ = ("__weakref__",)


_Tid = tuple[Any, ...]
"""The key of a saved tensor: the memory, the position and layout of the tensor in it, and the version."""


class _AllowMutationOnSavedContext:
    """What `allow_mutation_on_saved_tensors` knows, by handle: saved tensors in `original`; in `cloned`, copies of
    those that were about to be changed. `tid_to_weakhandle` has the handles of the former, and `sid_to_tid` their keys
    by the memory that they are in.

    >>> x = rg.ones(2, requires_grad=True) * 1
    >>> with rg.autograd.graph.allow_mutation_on_saved_tensors() as saved:
    ...     y = x.square()
    ...     x.mul_(2).shape
    ...     len(saved.original), len(saved.cloned)
    retrograd.Size([2])
    (0, 1)
    """

    def __init__(self) -> None:
        self.cloned: MutableMapping[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self.original: MutableMapping[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self.tid_to_weakhandle: MutableMapping[_Tid, _Handle] = weakref.WeakValueDictionary()
        self.sid_to_tid: dict[int, set[_Tid]] = {}

    def clear(self) -> None:
        """Forget everything; graphs that still need it can no longer run."""
        self.cloned.clear()
        self.original.clear()
        self.tid_to_weakhandle.clear()
        self.sid_to_tid.clear()

    def _pack(self, tensor: Tensor) -> _Handle:
        storage = _core._storage_key(tensor)
        tid = (storage, tensor.data_ptr(), tensor._version, tensor.dtype, tensor.shape, tensor.stride())
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None:
            handle = self.tid_to_weakhandle[tid] = _Handle()
            self.original[handle] = tensor.detach()
            self.sid_to_tid.setdefault(storage, set()).add(tid)
        return handle

    def _unpack(self, handle: _Handle) -> Tensor:
        tensor = self.cloned.get(handle)
        if tensor is None:
            tensor = self.original.get(handle)
        if tensor is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                "originally recorded."
            )
        return tensor

    def _about_to_write(self, tensor: Tensor) -> None:
        for tid in self.sid_to_tid.pop(_core._storage_key(tensor), ()):
            # Once it is copied nothing holds the memory any more: a later tensor may be there.
            handle = self.tid_to_weakhandle.pop(tid, None)
            if handle is not None and handle in self.original:
                self.cloned[handle] = self.original.pop(handle).clone()


class _Watching(_local):
    on: bool = False


_watching = carried(_Watching())


class _AllowingMutation(_core._All, contextlib.ContextDecorator):
    """A block that copies saved tensors before they are written to."""


def allow_mutation_on_saved_tensors() -> contextlib.AbstractContextManager[_AllowMutationOnSavedContext]:
    """Inside the block, allow writes in place to tensors that were saved for backward.

    A saved tensor that is about to be changed, through whichever view, is copied first, and backward uses the copy. It
    must run inside the block.
    Gives: the maps of saved tensors and of copies, by handle; they are emptied at the end.
    Raises: RuntimeError if blocks are nested; AssertionError from a backward outside the block.

    >>> x = rg.tensor([1.0, 2.0], requires_grad=True)
    >>> with rg.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x * 1
    ...     z = y.square()
    ...     y.zero_().shape
    ...     z.sum().backward()
    retrograd.Size([2])
    >>> x.grad
    tensor([2., 4.])
    """
    context = _AllowMutationOnSavedContext()
    nested = "allow_mutation_on_saved_tensors contexts cannot be nested"
    blocks = [
        _core._Value(_watching, "on", True, nested),
        _core._cleared(context),
        saved_tensors_hooks(context._pack, context._unpack),
        _core._write_watch(context._about_to_write),
    ]
    return _AllowingMutation(context, blocks)
