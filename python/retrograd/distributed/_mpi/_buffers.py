"""Tensors as MPI takes them: an address, a count and a datatype; and the operations that combine their elements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import retrograd as rg
from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.distributed._collectives import ReduceOp

HALVES = (rg.float16, rg.bfloat16)

_NAMES = {
    rg.float32: "FLOAT",
    rg.float64: "DOUBLE",
    rg.int8: "INT8_T",
    rg.int16: "INT16_T",
    rg.int32: "INT32_T",
    rg.int64: "INT64_T",
    rg.uint8: "UINT8_T",
    rg.uint16: "UINT16_T",
    rg.uint32: "UINT32_T",
    rg.uint64: "UINT64_T",
    rg.bool: "C_BOOL",
    rg.complex64: "C_FLOAT_COMPLEX",
    rg.complex128: "C_DOUBLE_COMPLEX",
    rg.float16: "UINT16_T",  # their operations are made here, and read these two bytes as what they are
    rg.bfloat16: "UINT16_T",
}

_OPS = {
    ReduceOp.SUM: "SUM",
    ReduceOp.AVG: "SUM",
    ReduceOp.PRODUCT: "PROD",
    ReduceOp.MIN: "MIN",
    ReduceOp.MAX: "MAX",
    ReduceOp.BAND: "BAND",
    ReduceOp.BOR: "BOR",
    ReduceOp.BXOR: "BXOR",
}

# A bool is true or false: a sum is true if one of them is, where torch leaves a byte of 2.
_OPS_OF_BOOL = {
    ReduceOp.SUM: "LOR",
    ReduceOp.PRODUCT: "LAND",
    ReduceOp.MIN: "LAND",
    ReduceOp.MAX: "LOR",
    ReduceOp.BAND: "LAND",
    ReduceOp.BOR: "LOR",
    ReduceOp.BXOR: "LXOR",
}

_COMBINED = {
    ReduceOp.SUM: rg.add,
    ReduceOp.AVG: rg.add,
    ReduceOp.PRODUCT: rg.mul,
    ReduceOp.MIN: rg.minimum,
    ReduceOp.MAX: rg.maximum,
    ReduceOp.BAND: rg.bitwise_and,
    ReduceOp.BOR: rg.bitwise_or,
    ReduceOp.BXOR: rg.bitwise_xor,
}

_BITWISE = (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)


def check_op(tensor: Tensor, op: ReduceOp) -> None:
    """Whether the elements of a tensor can be combined by `op`.

    Raises: RuntimeError with torch's phrase, where it has one.
    """
    dtype = tensor.dtype
    if op in _BITWISE and (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype: {dtype}")
    if op is ReduceOp.AVG and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {dtype}: ReduceOp.AVG divides; reduce with "
            "ReduceOp.SUM, and divide with a rounding mode"
        )
    if op in (ReduceOp.MIN, ReduceOp.MAX) and dtype.is_complex:
        raise RuntimeError(f"ReduceOp.{op.name} does not support complex tensors, which have no order: {dtype}")
    if op not in _OPS:
        raise RuntimeError(f"ReduceOp.{op.name} is not supported; of ops there are {', '.join(o.name for o in _OPS)}")
    if dtype not in _NAMES:
        raise RuntimeError(f"Invalid scalar type: tensors of {dtype} cannot be reduced; convert them to float32 before")


def combined(op: ReduceOp, low: Tensor, high: Tensor) -> Tensor:
    """What `op` makes of two tensors, of which `low` belongs to the lower ranks. AVG is a sum up to here."""
    if low.dtype is rg.bool and op in (ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX):
        op = ReduceOp.BOR if op in (ReduceOp.SUM, ReduceOp.MAX) else ReduceOp.BAND
    return _COMBINED[op](low, high)


def exposed(tensor: Tensor) -> bool:
    """Whether MPI can read and write the tensor where it lies."""
    return tensor.layout is rg.strided and tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg()


def packed(tensor: Tensor) -> Tensor:
    """The tensor, where it can be handed out as it lies; else its elements, in order, in new memory."""
    if tensor.layout is not rg.strided:
        raise RuntimeError(
            f"Tensors must be dense: got one of layout {tensor.layout}; call to_dense() before a collective"
        )
    if exposed(tensor):
        return tensor
    with no_grad():
        return tensor.detach().resolve_conj().resolve_neg().clone(memory_format=rg.contiguous_format)


def adjacent(tensors: Sequence[Tensor]) -> bool:
    """Whether the tensors follow each other in memory, so that one buffer is all of them."""
    place = tensors[0].data_ptr()
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        if not exposed(tensor) or (size and tensor.data_ptr() != place):
            return False
        place += size
    return True


def written(tensors: Sequence[Tensor]) -> None:
    """Tell autograd that the values of the tensors change."""
    for tensor in tensors:
        _core._increment_version(tensor)


class Buffers:
    """Makes what MPI takes of tensors."""

    def __init__(self, MPI: Any) -> None:
        self._MPI = MPI
        self._datatypes = {dtype: getattr(MPI, name) for dtype, name in _NAMES.items()}
        self._ops = {op: getattr(MPI, name) for op, name in _OPS.items()}
        self._ops_of_bool = {op: getattr(MPI, name) for op, name in _OPS_OF_BOOL.items()}
        self._ops_of_halves: dict[tuple[Any, ReduceOp], Any] = {}

    def of(self, tensor: Tensor) -> list[Any]:
        """The memory of an exposed tensor itself, no copy of it."""
        return self.parts(tensor, tensor.numel())

    def parts(self, first: Tensor, count: int | list[int]) -> list[Any]:
        """The memory from the start of a tensor on, of `count` elements: one for each process, if it is a list."""
        size, places = first.element_size(), None
        datatype = self._datatypes.get(first.dtype)
        if datatype is None:  # it is moved as bytes
            datatype, unit = self._MPI.BYTE, size
        else:
            unit = 1
        if isinstance(count, int):
            return [self._memory(first, count * size), count * unit, datatype]
        counts = [n * unit for n in count]
        places = [0, *accumulate(counts)]
        return [self._memory(first, sum(count) * size), (counts, places[:-1]), datatype]

    def _memory(self, first: Tensor, size: int) -> Any:
        return self._MPI.buffer.fromaddress(first.data_ptr(), size)

    def op(self, tensor: Tensor, op: ReduceOp) -> Any:
        """The operation of MPI."""
        if tensor.dtype in HALVES:
            return self._of_halves(tensor.dtype, op)
        return (self._ops_of_bool if tensor.dtype is rg.bool else self._ops)[op]

    def _of_halves(self, dtype: Any, op: ReduceOp) -> Any:
        """MPI has no arithmetic for them: each combination is one in float32, rounded once."""
        kind = ReduceOp.SUM if op is ReduceOp.AVG else op
        if (dtype, kind) not in self._ops_of_halves:

            def combine(given: Any, result: Any, datatype: Any) -> None:
                with no_grad():
                    low = rg.frombuffer(given, dtype=dtype)
                    high = rg.frombuffer(result, dtype=dtype)
                    high.copy_(combined(kind, low.float(), high.float()))

            self._ops_of_halves[dtype, kind] = self._MPI.Op.Create(combine, commute=True)
        return self._ops_of_halves[dtype, kind]
