"""Hooks that average gradients: as they are, or in half the bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.distributed._calls import all_reduce
from retrograd.distributed._groups import resolved

if TYPE_CHECKING:
    from retrograd._core import dtype as DType
    from retrograd.distributed._grad_buckets import GradBucket

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "compressed",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]

Hook = Callable[[Any, Any], Any]


def compressed(group: Any, bucket: GradBucket, dtype: DType) -> Any:
    """Average a bucket in a dtype: divided first, so that a sum in half precision does not overflow.

    Args: `group` None for the default one.
    Returns: a future of the buffer of the bucket, with the averages in the dtype that it had.

    >>> from retrograd.distributed.algorithms.ddp_comm_hooks.default_hooks import compressed
    >>> rg.distributed.init_process_group("gloo")
    >>> x = rg.ones(2)
    >>> compressed(None, rg.distributed.GradBucket(0, x, [x], [x], True), rg.float16).wait()
    tensor([1., 1.])
    >>> rg.distributed.destroy_process_group()
    """
    buffer = bucket.buffer()
    small = buffer.to(dtype)
    if small.data_ptr() == buffer.data_ptr():
        small = small.clone()
    small.div_(resolved(group).size())
    future = _sum(small, group)

    def back(_: Any) -> Tensor:
        return buffer.copy_(small)

    return future.then(back)


def _sum(tensor: Tensor, group: Any) -> Any:
    """A future of a list with the tensor, when it is the sum of those of all processes."""
    work = all_reduce(tensor, group=group, async_op=True)
    assert work is not None
    return work.get_future()


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Any:
    """What `DistributedDataParallel` does without a hook: divide by the number of processes, and add up.

    >>> rg.distributed.init_process_group("gloo")
    >>> model = rg.nn.parallel.DistributedDataParallel(rg.nn.Linear(1, 1))
    >>> hooks = rg.distributed.algorithms.ddp_comm_hooks.default_hooks
    >>> model.register_comm_hook(None, hooks.allreduce_hook)
    >>> model(rg.ones(1)).backward()
    >>> model.module.weight.grad
    tensor([[1.]])
    >>> rg.distributed.destroy_process_group()
    """
    buffer = bucket.buffer()
    buffer.div_(resolved(process_group).size())
    return _sum(buffer, process_group).then(lambda done: done.value()[0])


def fp16_compress_hook(state: Any, bucket: GradBucket) -> Any:
    """Send gradients in float16, half the bytes of float32: each is rounded, and those above 65504 become infinite.

    Args: `state` the group, None for the default one.

    >>> hook = rg.distributed.algorithms.ddp_comm_hooks.default_hooks.fp16_compress_hook
    """
    return compressed(_group(state), bucket, _core.float16)


def bf16_compress_hook(state: Any, bucket: GradBucket) -> Any:
    """Send gradients in bfloat16, half the bytes of float32, with its range and 8 of its 24 bits.

    Args: `state` the group, None for the default one.

    >>> hook = rg.distributed.algorithms.ddp_comm_hooks.default_hooks.bf16_compress_hook
    """
    return compressed(_group(state), bucket, _core.bfloat16)


def _group(state: Any) -> Any:
    return getattr(state, "process_group", state)


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that gets a bucket in float16, and whose result is converted back.

    >>> hooks = rg.distributed.algorithms.ddp_comm_hooks.default_hooks
    >>> hook = hooks.fp16_compress_wrapper(hooks.allreduce_hook)
    """
    return _wrapped(hook, _core.float16, "fp16_compress_wrapper_hook")


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that gets a bucket in bfloat16, and whose result is converted back.

    >>> hooks = rg.distributed.algorithms.ddp_comm_hooks.default_hooks
    >>> hook = hooks.bf16_compress_wrapper(hooks.allreduce_hook)
    """
    return _wrapped(hook, _core.bfloat16, "bf16_compress_wrapper_hook")


def _wrapped(hook: Hook, dtype: DType, name: str) -> Hook:
    def call(state: Any, bucket: GradBucket) -> Any:
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype))

        def back(done: Any) -> Tensor:
            value = done.value()
            return buffer.copy_(value[0] if isinstance(value, list | tuple) else value)

        return hook(state, bucket).then(back)

    call.__name__ = name
    return call
