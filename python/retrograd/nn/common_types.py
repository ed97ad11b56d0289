"""Types of arguments of layers: sizes and ratios, of which one number stands for all dimensions."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from retrograd import _core
from retrograd._core import Tensor

_T = TypeVar("_T")
_any_t: TypeAlias = _T | tuple[_T, ...]
_1_t: TypeAlias = _T | tuple[_T]
_2_t: TypeAlias = _T | tuple[_T, _T]
_3_t: TypeAlias = _T | tuple[_T, _T, _T]
_4_t: TypeAlias = _T | tuple[_T, _T, _T, _T]
_6_t: TypeAlias = _T | tuple[_T, _T, _T, _T, _T, _T]

_size_any_t: TypeAlias = _any_t[int]
_size_1_t: TypeAlias = _1_t[int]
_size_2_t: TypeAlias = _2_t[int]
_size_3_t: TypeAlias = _3_t[int]
_size_4_t: TypeAlias = _4_t[int]
_size_6_t: TypeAlias = _6_t[int]

_size_any_opt_t: TypeAlias = int | tuple[int | None, ...]
_size_2_opt_t: TypeAlias = int | tuple[int | None, int | None]
_size_3_opt_t: TypeAlias = int | tuple[int | None, int | None, int | None]

_ratio_2_t: TypeAlias = _2_t[float]
_ratio_3_t: TypeAlias = _3_t[float]
_ratio_any_t: TypeAlias = _any_t[float]

_tensor_list_t: TypeAlias = Tensor | list[Tensor]
_maybe_indices_t: TypeAlias = Tensor | tuple[Tensor, ...]

_device_t: TypeAlias = _core.device | str | None
_dtype_t: TypeAlias = _core.dtype | None
