"""How tensors and storages are pickled for another process: by the file that has their memory."""

from __future__ import annotations

import os
import sys
from multiprocessing import reduction
from typing import Any

from retrograd import _core
from retrograd.nn.parameter import Parameter
from retrograd.storage import TypedStorage, UntypedStorage, _wrapped
from retrograd.utils.hooks import warn_if_has_hooks

__all__ = ["init_reductions", "rebuild_storage", "rebuild_tensor", "reduce_storage", "reduce_tensor"]


def rebuild_tensor(
    cls: type[_core.Tensor],
    storage: UntypedStorage,
    dtype: _core.dtype,
    layout: tuple[tuple[int, ...], tuple[int, ...], int],
    requires_grad: bool,
) -> _core.Tensor:
    """A tensor over memory that was received; `layout` has sizes, strides and offset, which are checked.

    >>> from retrograd.multiprocessing.reductions import rebuild_tensor
    >>> rebuild_tensor(rg.Tensor, rg.arange(3).untyped_storage(), rg.int64, ((2,), (1,), 1), False)
    tensor([1, 2])
    """
    tensor = _core._over_storage(storage._memory, dtype, *layout)
    return Parameter(tensor, requires_grad) if cls is Parameter else tensor.requires_grad_(requires_grad)


def reduce_tensor(tensor: _core.Tensor) -> tuple[Any, ...]:
    """For pickles of processes: the memory of the tensor, which is shared from now on, and its layout.

    Raises: RuntimeError for the result of a recorded op, whose history stays in this process.

    >>> from retrograd.multiprocessing.reductions import reduce_tensor
    >>> rebuild, arguments = reduce_tensor(rg.arange(3)[1:])
    >>> rebuild(*arguments)
    tensor([1, 2])
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    warn_if_has_hooks(tensor)
    if tensor.layout != _core.strided:
        reduced: tuple[Any, ...] = tensor.__reduce_ex__(4)  # whose parts are tensors
        return reduced
    plain = tensor.detach().resolve_conj().resolve_neg()
    layout = (tuple(plain.shape), plain.stride(), plain.storage_offset())
    return rebuild_tensor, (type(tensor), plain.untyped_storage(), plain.dtype, layout, tensor.requires_grad)


def rebuild_storage(file: Any, nbytes: int) -> UntypedStorage:
    """The memory in a file that was received. A file that is too short, or could become so, is refused."""
    number = file.detach()
    try:
        return _core._over_shared_file(number, nbytes).untyped_storage()
    finally:
        os.close(number)


def reduce_storage(storage: UntypedStorage) -> tuple[Any, ...]:
    """For pickles of processes: the file with the memory, which is shared from now on."""
    storage.share_memory_()
    return rebuild_storage, (reduction.DupFd(_core._shared_file(storage._memory)), storage.nbytes())


def _reduce_typed(storage: TypedStorage) -> tuple[Any, ...]:
    return _wrapped, (storage.untyped(), storage.dtype)


def init_reductions() -> None:
    """Have processes pickle tensors and storages like this; an import of `retrograd.multiprocessing` does so.

    >>> from retrograd.multiprocessing.reductions import init_reductions
    >>> init_reductions()
    """
    if sys.platform != "linux":
        return  # memory is not shared, and tensors cross as copies
    register = reduction.ForkingPickler.register
    register(_core.Tensor, reduce_tensor)
    register(Parameter, reduce_tensor)
    register(UntypedStorage, reduce_storage)
    register(TypedStorage, _reduce_typed)
