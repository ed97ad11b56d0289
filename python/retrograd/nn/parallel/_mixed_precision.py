"""Forward and backward passes in a smaller dtype, of parameters that stay in their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrograd._core import Tensor
from retrograd.utils._pytree import tree_map

if TYPE_CHECKING:
    from retrograd._core import dtype as DType
    from retrograd.distributed._grad_buckets import GradBucket
    from retrograd.nn.modules.module import Module


@dataclass(frozen=True)
class _MixedPrecision:
    """Dtypes for `DistributedDataParallel(mixed_precision=...)`; None leaves things as they are.

    Args: `param_dtype` that of parameters and inputs in the passes. The parameters themselves, their gradients and the
    optimizer keep theirs. `reduce_dtype` that in which gradients are sent and added up. `buffer_dtype` that of
    buffers, from the start on.
    """

    param_dtype: DType | None = None
    reduce_dtype: DType | None = None
    buffer_dtype: DType | None = None


def cast_buffers(module: Module, dtype: DType | None) -> None:
    """Give floating point buffers a dtype."""
    if dtype is not None:
        for child in module.modules():
            for name, buffer in child._buffers.items():
                if buffer is not None and buffer.is_floating_point():
                    child._buffers[name] = buffer.to(dtype)


def call_in(dtype: DType, module: Module, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a module with parameters and inputs of a dtype. Gradients go through the casts, to the parameters."""

    from retrograd.func import functional_call

    def cast(value: Any) -> Any:
        return value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value

    parameters = {name: cast(parameter) for name, parameter in module.named_parameters()}
    return functional_call(module, parameters, tree_map(cast, inputs), tree_map(cast, kwargs))


def reduce_in(dtype: DType) -> Any:
    """A communication hook that sends gradients in a dtype."""
    from retrograd.distributed.algorithms.ddp_comm_hooks.default_hooks import compressed

    def hook(group: Any, bucket: GradBucket) -> Any:
        return compressed(group, bucket, dtype)

    return hook
