"""`functional_call` where it was before `retrograd.func` had it."""

from __future__ import annotations

import warnings
from typing import Any

from retrograd._core import Tensor
from retrograd.func._modules import functional_call as _functional_call

__all__ = ["functional_call"]


def functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`retrograd.func.functional_call` under an old name; it warns.

    >>> call = rg.nn.utils.stateless.functional_call  # prefer rg.func.functional_call
    """
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
