"""Options of the cross entropy of a linear layer: loaded by programs that use them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from retrograd import _core

__all__ = ["LinearCrossEntropyOptions"]

_METHODS = "'auto', 'aspect_ratio', 'aspect_ratio:N' with N from 1 on, or None"


@dataclass(frozen=True, slots=True)
class LinearCrossEntropyOptions:
    """How `linear_cross_entropy` divides a batch, so that the scores of a part of it at a time are in memory.

    Args: `batch_chunk_size` rows of a part; `chunking_method` how to choose it: 'aspect_ratio' such that the scores of
    a part take as much memory as the input, 'aspect_ratio:N' the N-th part of that, 'auto' for one of them, None for
    `batch_chunk_size` alone. `allow_retain_graph`, `acc_policy` and `acc_dtype` are there for code that names them: the
    backward pass computes the scores again, so a graph may be kept.
    Raises: ValueError for other values.

    >>> rg.nn.LinearCrossEntropyOptions(batch_chunk_size=2, chunking_method=None).batch_chunk_size
    2
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: _core.dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto"):
            name, colon, factor = self.chunking_method.partition(":")
            if name != "aspect_ratio" or (colon and not (factor.isdigit() and int(factor) > 0)):
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}: it must be {_METHODS}")
        size = self.batch_chunk_size
        if size is not None and size <= 0:
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, _core.float16, _core.bfloat16, _core.float32, _core.float64):
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, got "
                f"{self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically."
            )

    def _rows(self, batch: int, width: int, classes: int) -> int:
        """How many rows of a batch a part has."""
        if self.chunking_method is None or (self.chunking_method == "auto" and self.batch_chunk_size is not None):
            return self.batch_chunk_size or max(batch, 1)
        factor = int(self.chunking_method.partition(":")[2] or (2 if self.chunking_method == "auto" else 1))
        fair = math.ceil(batch / math.ceil(max(classes, 1) / max(width, 1)))
        rows = max((1 << max(fair - 1, 0).bit_length()) // factor, 1)
        if self.batch_chunk_size not in (None, rows):
            raise ValueError(
                f"batch_chunk_size={self.batch_chunk_size} and chunking_method={self.chunking_method!r}, which gives "
                f"{rows}, disagree: leave one of them out"
            )
        return rows
