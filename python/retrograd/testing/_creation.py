"""`make_tensor`: a tensor of random numbers for a test."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd._limits import finfo, iinfo

if TYPE_CHECKING:
    from retrograd._core import device as Device
    from retrograd._core import dtype as DType
    from retrograd._core import memory_format as MemoryFormat

__all__ = ["make_tensor"]


def make_tensor(
    *shape: Any,
    dtype: DType,
    device: str | Device | None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """A tensor of random numbers, evenly from `low` up to but not including `high`.

    Args: `shape` sizes, or one tuple of them. Without limits, numbers are from -9 to 9, for unsigned integers from 0,
    and bools are both. `noncontiguous` leaves gaps in memory; `exclude_zero` puts 1 or the least number in its place.
    Raises: ValueError for limits that are not in order, NaN, or outside of the dtype, and for options that exclude each
    other; TypeError for a dtype without random numbers.

    >>> x = rg.testing.make_tensor(2, 3, dtype=rg.float32, device="cpu", low=0, high=1)
    >>> x.shape, bool(((0 <= x) & (x < 1)).all())
    (retrograd.Size([2, 3]), True)
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    is_float = dtype.is_floating_point or dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous!r} and memory_format={memory_format!r}"
        )
    if requires_grad and not is_float:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype!r}"
        )
    gaps = noncontiguous and math.prod(sizes) > 1
    if gaps:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    least, most = _limits(low, high, dtype)
    if is_float:
        made = _core.empty(sizes, dtype=dtype, device=device)
        _fill(_core.view_as_real(made) if dtype.is_complex else made, least, most)
    else:
        made = _core.randint(math.ceil(least), math.ceil(most), sizes, dtype=dtype, device=device)
    if gaps:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = finfo(dtype).tiny if is_float else 1
    return made.requires_grad_(requires_grad) if is_float else made


def _limits(low: float | None, high: float | None, dtype: DType) -> tuple[float, float]:
    """Those that are given, or the usual ones, as far as the dtype has them."""
    least: float
    most: float
    if dtype == _core.bool:
        least, most, usual = 0, 2, (0, 2)
    elif dtype.is_floating_point or dtype.is_complex:
        least, most, usual = finfo(dtype).min, finfo(dtype).max, (-9, 9)
    else:
        least, most, usual = iinfo(dtype).min, iinfo(dtype).max + (dtype != _core.int64), (-9, 10)
    low = usual[0] if low is None else low
    high = usual[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low!r} and high={high!r}")
    if low == high and (dtype.is_floating_point or dtype.is_complex):
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 "
            "and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
            f"[{least}, {most})"
        )
    return min(max(low, least), most), min(max(high, least), most)


def _fill(numbers: Tensor, low: float, high: float) -> None:
    if high - low >= finfo(numbers.dtype).max:
        numbers.uniform_(low / 2, high / 2).mul_(2)  # the length of the interval itself is no number of the dtype
    else:
        numbers.uniform_(low, high)
