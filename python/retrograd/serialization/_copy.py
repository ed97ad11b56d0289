"""Copies of tensors for `copy` and pickle; `__deepcopy__`, `__reduce_ex__` and `__setstate__` of tensors end up here.

Tensors are copied together with their storage, so tensors that share memory still do in their copies, as long as these
are made in one go: by one call of `deepcopy`, or in one pickle.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from threading import RLock
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from retrograd import _core
from retrograd._core import Tensor
from retrograd._core import dtype as DType

__all__ = ["deepcopy", "reduce"]


class Storage:
    """The memory behind tensors. `copy` and pickle remember objects, so there is one for each storage at any time."""

    __slots__ = ("__weakref__", "memory")

    def __init__(self, memory: Tensor) -> None:
        self.memory = memory
        """All bytes, as a uint8 tensor."""

    def view(self) -> memoryview:
        """All bytes, to be read and written."""
        return memoryview(self.memory)  # type: ignore[arg-type]  # has __buffer__ from Python 3.12 on

    def __deepcopy__(self, memo: dict[int, Any]) -> Storage:
        return Storage(self.memory.clone())

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Storage], tuple[Any, ...]]:
        view = self.view()
        if protocol < 5:
            return _storage_from, (view.tobytes(),)
        from pickle import PickleBuffer

        return _storage_from, (PickleBuffer(view),)


# By a number that tells storages apart as long as they live, as each does with its object.
_known: WeakValueDictionary[int, Storage] = WeakValueDictionary()
_lock = RLock()  # reentrant: the collector may run anything in between


def storage_of(tensor: Tensor) -> Storage:
    """The storage object of a tensor."""
    key, memory = _core._storage(tensor)
    with _lock:
        return _known.setdefault(key, Storage(memory))


def _storage_from(data: Any) -> Storage:
    data = memoryview(data).cast("B")
    storage = Storage(_core.empty(data.nbytes, dtype=_core.uint8))
    storage.view()[:] = data
    return storage


def deepcopy(tensor: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf with its own memory, `.grad` and attributes. Tensors that share memory do so in their copies.

    Raises: RuntimeError if the tensor is not a leaf.

    >>> import copy
    >>> x = rg.ones(2, requires_grad=True)
    >>> y, row = copy.deepcopy([x, x.detach()[0]])
    >>> y.requires_grad, y.data_ptr() == x.data_ptr(), y.data_ptr() == row.data_ptr()
    (True, False, True)
    """
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment: "
            "detach() or clone().detach() the tensor first"
        )
    if id(tensor) in memo:
        known: Tensor = memo[id(tensor)]
        return known
    if is_sparse(tensor):
        kind, facts, parts, requires_grad = _sparse_parts(tensor)
        result = _rebuild_sparse(kind, facts, copy.deepcopy(parts, memo), requires_grad)
    else:
        kind, storage, *layout, is_conj = _parts(tensor)
        result = _rebuild(kind, copy.deepcopy(storage, memo), *layout)
        if is_conj:
            result.detach().conj_physical_()
    memo[id(tensor)] = result
    if tensor.grad is not None:
        result.grad = copy.deepcopy(tensor.grad.detach(), memo)
    if state := tensor.__getstate__():
        result.__setstate__(copy.deepcopy(state, memo))
    return result


def reduce(tensor: Tensor) -> tuple[Any, ...]:
    """What `copy.copy` and pickle need to make the tensor again: storage, layout, requires_grad and attributes.

    A non-leaf comes back as a leaf that requires grad; hooks (with a warning) and `.grad` are left behind.

    >>> import pickle
    >>> pickle.loads(pickle.dumps(rg.ones(2, requires_grad=True)))
    tensor([1., 1.], requires_grad=True)
    """
    warn_of_hooks(tensor, stacklevel=3)
    made: tuple[Any, ...]
    made = (_rebuild_sparse, _sparse_parts(tensor)) if is_sparse(tensor) else (_rebuild, _parts(tensor))
    state = tensor.__getstate__()
    return (*made, state) if state else made


def restore(tensor: Tensor, state: Any) -> None:
    """Gives a tensor the attributes that its `__getstate__` returned: a dict, or that and another one for slots."""
    for attributes in state if isinstance(state, tuple) else (state,):
        for name, value in (attributes or {}).items():
            setattr(tensor, name, value)


def warn_of_hooks(tensor: Tensor, stacklevel: int) -> None:
    """Warns of each hook that a copy will not have; not for parameters, about which torch is silent."""
    from retrograd.nn import Parameter

    if isinstance(tensor, Parameter):
        return
    for hook in _core._hooks(tensor):
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized. If this is expected, you can decorate the "
                "function with @retrograd.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=stacklevel,
            )


def _parts(tensor: Tensor) -> tuple[Any, ...]:
    plain = _core._make_subclass(Tensor, tensor, False).resolve_neg()  # whatever a subclass makes of functions
    layout = (plain.dtype, tuple(plain.shape), plain.stride(), plain.storage_offset())
    return type(tensor), storage_of(plain), *layout, tensor.requires_grad, plain.is_conj()


def _rebuild(
    kind: type[Tensor],
    storage: Storage,
    dtype: DType,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    requires_grad: bool,
    is_conj: bool = False,
) -> Tensor:
    result = _core._over_storage(storage.memory, dtype, sizes, strides, offset)
    if is_conj:
        result = result.conj().detach()
    if kind is not Tensor:
        return _core._make_subclass(kind, result, requires_grad)
    return result.requires_grad_() if requires_grad else result


# ---- sparse tensors: their parts are tensors with memory


class SparseFacts(NamedTuple):
    """What a sparse tensor is besides its parts."""

    layout: str
    size: tuple[int, ...]
    coalesced: bool


def is_sparse(tensor: Tensor) -> bool:
    """Whether a tensor has no memory of its own, but parts that have."""
    return tensor.layout != _core.strided


def sparse_parts(tensor: Tensor) -> tuple[SparseFacts, tuple[Tensor, ...]]:
    """What a sparse tensor is made of, without history."""
    if tensor.layout == _core.sparse_csr:
        parts = (tensor.crow_indices(), tensor.col_indices(), tensor.detach().values())
        return SparseFacts("sparse_csr", tuple(tensor.shape), True), parts
    facts = SparseFacts("sparse_coo", tuple(tensor.shape), tensor.is_coalesced())
    return facts, (tensor._indices(), tensor._values())


def sparse_of(facts: SparseFacts, parts: tuple[Tensor, ...]) -> Tensor:
    """The sparse tensor of these parts."""
    layout, size, coalesced = facts
    if layout == "sparse_csr":
        crow, col, values = parts
        return _core.sparse_csr_tensor(crow, col, values, size)
    if layout == "sparse_coo":
        indices, values = parts
        return _core.sparse_coo_tensor(indices, values, size, is_coalesced=coalesced, check_invariants=True)
    raise ValueError(f"no sparse layout {layout!r}")


def _sparse_parts(tensor: Tensor) -> tuple[type[Tensor], SparseFacts, tuple[Tensor, ...], bool]:
    return type(tensor), *sparse_parts(tensor), tensor.requires_grad


def _rebuild_sparse(kind: type[Tensor], facts: SparseFacts, parts: tuple[Tensor, ...], requires_grad: bool) -> Tensor:
    result = sparse_of(facts, parts)
    if kind is not Tensor:
        return _core._make_subclass(kind, result, requires_grad)
    return result.requires_grad_() if requires_grad else result
