"""`finfo` and `iinfo`: what the dtypes can hold."""

from __future__ import annotations

import math
from typing import TypeAlias

from retrograd import _core
from retrograd._core import dtype as DType

__all__ = ["finfo", "iinfo"]

# bits of the exponent and of the fraction
_FLOATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}
_REAL = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_INTS = {"uint8": (8, False), "int8": (8, True), "int16": (16, True), "int32": (32, True), "int64": (64, True)}
_INTS |= {"uint16": (16, False), "uint32": (32, False), "uint64": (64, False)}


_Kind: TypeAlias = DType | type[complex]  # and what Python counts as one: float, int and bool
_OF_NUMBERS = {float: _core.float64, complex: _core.complex128, int: _core.int64, bool: _core.bool}


def _name(dtype: _Kind, caller: str) -> str:
    if isinstance(dtype, type):
        dtype = _OF_NUMBERS.get(dtype, dtype)
    if not isinstance(dtype, DType):
        raise TypeError(f"{caller}(): argument 'type' must be retrograd.dtype, not {type(dtype).__name__}")
    return repr(dtype).rpartition(".")[2]


class finfo:
    """The limits of a floating point dtype, or of the parts of a complex one.

    Args: `dtype` the dtype, or Python's float or complex; by default the default one.
    Attributes: `bits`; `eps` the step from 1 to the next number; `max` and `min` the largest and the lowest finite
    number; `tiny` and `smallest_normal` the smallest positive one of full precision; `resolution` the decimal one;
    `dtype` the name.
    Raises: TypeError for other dtypes.

    >>> rg.finfo(rg.float32).eps
    1.1920928955078125e-07
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, dtype: _Kind | None = None) -> None:
        given = _name(_core.get_default_dtype() if dtype is None else dtype, "finfo")
        name = _REAL.get(given, given)
        if name not in _FLOATS:
            raise TypeError(
                "retrograd.finfo() requires a floating point input type. Use retrograd.iinfo to handle "
                f"'retrograd.finfo' of {given}"
            )
        exponent, fraction = _FLOATS[name]
        top = 2 ** (exponent - 1)
        self.dtype = name
        self.bits = 1 + exponent + fraction
        self.eps = 2.0**-fraction
        self.max = math.ldexp(2.0 - self.eps, top - 1)
        self.min = -self.max
        self.tiny = self.smallest_normal = math.ldexp(1.0, 2 - top)
        self.resolution = 10.0 ** -math.floor(fraction * math.log10(2.0))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype.

    Args: `type` the dtype, or Python's int.
    Attributes: `bits`, `max`, `min`, and `dtype`, the name.
    Raises: TypeError for other dtypes.

    >>> rg.iinfo(rg.uint8).max
    255
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: _Kind) -> None:
        name = _name(type, "iinfo")
        if name not in _INTS:
            raise TypeError(
                "retrograd.iinfo() requires an integer input type. Use retrograd.finfo to handle 'retrograd.iinfo' of "
                f"{name}"
            )
        self.bits, signed = _INTS[name]
        self.dtype = name
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -self.max - 1 if signed else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
