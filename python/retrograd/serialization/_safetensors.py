"""The safetensors format: eight bytes with the length of a header, the header as JSON, the bytes of the arrays.

A header is believed only if it adds up: every array has exactly the bytes that its dtype and shape need, and together
they fill the rest of the file without gaps and overlaps.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from retrograd import _core
from retrograd._core import dtype as DType

LENGTH = 8
# What the format's other readers accept.
HEADER_LIMIT = 100_000_000
MAX_NDIM = 64

_NAMES = {
    "BOOL": _core.bool,
    "U8": _core.uint8,
    "U16": _core.uint16,
    "U32": _core.uint32,
    "U64": _core.uint64,
    "I8": _core.int8,
    "I16": _core.int16,
    "I32": _core.int32,
    "I64": _core.int64,
    "F16": _core.float16,
    "BF16": _core.bfloat16,
    "F32": _core.float32,
    "F64": _core.float64,
    "C64": _core.complex64,
}
_DTYPES = {dtype: name for name, dtype in _NAMES.items()}


class Span(NamedTuple):
    """An array in a file: its bytes from `begin` to `end`, counted from the end of the header."""

    dtype: DType
    shape: tuple[int, ...]
    begin: int
    end: int


def parse(header: bytes) -> tuple[dict[str, str], dict[str, Span], int]:
    """Metadata, arrays by name, and the number of bytes after the header.

    Raises: ValueError for what the format does not allow, or has no dtype for.
    """
    described = parse_json(header.decode("utf-8"))
    if not isinstance(described, dict):
        raise ValueError("the header is not an object")
    metadata = described.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError("the metadata is not an object of strings")
    spans = {name: _span(name, about) for name, about in described.items()}
    end = 0
    for name, span in sorted(spans.items(), key=lambda item: item[1][2:]):
        if span.begin != end:
            raise ValueError(f"array {name!r} begins at byte {span.begin}, and those before it end at {end}")
        end = span.end
    return metadata, spans, end


def _span(name: str, about: Any) -> Span:
    if not isinstance(about, dict) or about.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"array {name!r} is described by other things than dtype, shape and data_offsets")
    dtype = _NAMES.get(about["dtype"]) if isinstance(about["dtype"], str) else None
    if dtype is None:
        raise ValueError(f"array {name!r} is of type {about['dtype']!r}, which is no dtype of retrograd")
    shape, offsets = (_integers(name, about[key]) for key in ("shape", "data_offsets"))
    if len(offsets) != 2 or len(shape) > MAX_NDIM:
        raise ValueError(f"array {name!r} has {len(offsets)} offsets and {len(shape)} axes")
    begin, end = offsets
    if math.prod(shape) * dtype.itemsize != end - begin:
        raise ValueError(f"array {name!r} of shape {list(shape)} does not have {end - begin} bytes")
    return Span(dtype, shape, begin, end)


def _integers(name: str, items: Any) -> tuple[int, ...]:
    if not isinstance(items, list) or any(type(n) is not int or not 0 <= n < 2**63 for n in items):
        raise ValueError(f"array {name!r} has a shape or offsets that are no lists of sizes")
    return tuple(items)


def write_json(data: Any) -> str:
    """Data as JSON in ASCII, which also has a form for strings that Unicode does not."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def parse_json(text: str) -> Any:
    """JSON without what it is silent about: keys that occur twice, and numbers that are not numbers.

    Raises: ValueError.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def write_header(metadata: dict[str, str], arrays: list[tuple[str, DType, tuple[int, ...]]]) -> tuple[bytes, list[str]]:
    """The header with the length before it, and the order in which the bytes of the arrays follow.

    Raises: ValueError if the header is longer than readers accept.
    """
    # Larger items first: then all are at multiples of their size, since the header ends at a multiple of 8.
    order = sorted(arrays, key=lambda array: -array[1].itemsize)
    offsets: dict[str, list[int]] = {}
    end = 0
    for name, dtype, shape in order:
        offsets[name] = [end, end + math.prod(shape) * dtype.itemsize]
        end = offsets[name][1]
    described: dict[str, Any] = {"__metadata__": metadata}
    for name, dtype, shape in arrays:
        described[name] = {"dtype": _DTYPES[dtype], "shape": list(shape), "data_offsets": offsets[name]}
    header = write_json(described).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > HEADER_LIMIT:
        raise ValueError(
            f"save: what the file says besides the elements of tensors takes {len(header)} bytes, more than the "
            f"{HEADER_LIMIT} that a safetensors header may have: put large data into tensors"
        )
    return len(header).to_bytes(LENGTH, "little") + header, [name for name, *_ in order]
