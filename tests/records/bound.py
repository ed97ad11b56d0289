"""A record's sample with its numbers drawn: the arrays for the reference, the tensors for the op."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from records import STANDIN, rg
from records.record import DIFFERENTIABLE, Array, Dtype, OpRecord, Sample, T


def function(record: OpRecord) -> Callable[..., Any]:
    if record.call is not None:
        return partial(record.call, rg)
    found: Callable[..., Any] = reduce(getattr, record.name.split("."), rg)
    return found


def tensors_of(outputs: Any) -> list[Any]:
    """The outputs of an op as a flat list."""
    return [outputs] if isinstance(outputs, rg.Tensor) else list(outputs)


def dtype_of(tensor: Any) -> str:
    return str(tensor.dtype).rpartition(".")[2]


def array(tensor: Any) -> Array:
    if STANDIN != "retrograd":
        return np.array(tensor.numpy(force=True))  # a stand-in may hold zeros without memory
    return np.array(tensor.detach().resolve_conj().resolve_neg().numpy())


def lay_out(values: Array, layout: str = "contiguous") -> Any:
    """A tensor of these values whose memory is not in row-major order, where its shape allows."""
    if layout == "transposed" and values.ndim > 1:
        return rg.from_numpy(values.T.copy()).permute(*reversed(range(values.ndim)))
    if layout == "stepped" and values.ndim:
        wide = np.full((*values.shape[:-1], 2 * values.shape[-1] + 1), 99).astype(values.dtype)
        wide[..., 1::2] = values
        return rg.from_numpy(wide)[..., 1::2]
    if layout == "expanded" and values.ndim and values.shape[0] > 1:
        return rg.from_numpy(values[:1].copy()).expand(values.shape)
    if layout == "conjugated" and np.iscomplexobj(values):
        return rg.from_numpy(np.array(values.conj())).conj()
    return rg.from_numpy(values.copy())


class Bound:
    """One call, ready to be made any number of times with other numbers in the same places.

    Another `turn` draws other numbers for the same call.
    """

    def __init__(
        self, record: OpRecord, sample: Sample, dtype: str | None = None, expanded: bool = False, turn: int = 0
    ) -> None:
        self.record, self.sample = record, sample
        dtypes = sample.dtypes or record.dtypes
        self.dtype = dtype or ("float64" if "float64" in dtypes else dtypes[0])
        self.leaves: list[Array] = []
        self.specs: list[T] = []
        self._rng = np.random.default_rng(zlib.crc32(f"{record.name}{sample}{turn or ''}".encode()))
        self._args, self._kwargs = self._plant(sample.args), self._plant(sample.kwargs)
        if expanded:  # the numbers that an expanded tensor can hold: every row equals the first
            for k, (leaf, spec) in enumerate(zip(self.leaves, self.specs, strict=True)):
                if leaf.ndim and not spec.fixed:
                    self.leaves[k] = np.broadcast_to(leaf[:1], leaf.shape).copy() if len(leaf) else leaf
        self.wrt = [k for k, spec in enumerate(self.specs) if spec.grad and self.leaves[k].dtype.name in DIFFERENTIABLE]

    def _plant(self, value: Any) -> Any:
        """Replace each `T` by a function of the leaves that takes its place."""
        if isinstance(value, T):
            self.specs.append(value)
            self.leaves.append(value.draw(self._rng, self.dtype, self.record.domain, len(self.leaves)))
            return _At(len(self.leaves) - 1)
        if isinstance(value, tuple | list):
            return type(value)(map(self._plant, value))
        return {k: self._plant(v) for k, v in value.items()} if isinstance(value, dict) else value

    def filled(self, leaves: Sequence[Any], dtype: Callable[[str], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        def fill(value: Any) -> Any:
            if isinstance(value, _At):
                return leaves[value.position]
            if isinstance(value, tuple | list):
                return type(value)(map(fill, value))
            if isinstance(value, dict):
                return {k: fill(v) for k, v in value.items()}
            return dtype(value.name) if isinstance(value, Dtype) else value

        return fill(self._args), fill(self._kwargs)

    def expected(self) -> list[Array]:
        """The reference's outputs, computed in the widest dtype of the kind unless its dtype is what we ask for."""
        code = self.sample.result or self.record.result
        wide = self.leaves if code == "reference" else [_widened(x, code == "float") for x in self.leaves]
        args, kwargs = self.filled(wide, np.dtype)
        with np.errstate(all="ignore"):
            outputs = self.record.reference(*args, **kwargs)
        return list(map(np.asarray, outputs if isinstance(outputs, tuple | list) else [outputs]))

    def result_dtypes(self, expected: Sequence[Array]) -> list[str]:
        codes = self.sample.result or self.record.result
        codes = [codes] * len(expected) if isinstance(codes, str) else codes
        return [_result_dtype(code, self._input_dtype, y.dtype.name) for code, y in zip(codes, expected, strict=True)]

    @property
    def _input_dtype(self) -> str:
        kinds = [x.dtype.name for x, spec in zip(self.leaves, self.specs, strict=True) if not spec.fixed]
        return kinds[0] if kinds else self.dtype

    def tensors(self, layout: str = "contiguous", grad: bool = False) -> list[Any]:
        made = [
            lay_out(x, "contiguous" if spec.fixed else layout) for x, spec in zip(self.leaves, self.specs, strict=True)
        ]
        if grad:
            for k in self.wrt:
                made[k].requires_grad_(True)
        return made

    def run(self, tensors: Sequence[Any], call: Callable[..., Any] | None = None, **extra: Any) -> Any:
        """Call the op (or `call`) on these tensors."""
        args, kwargs = self.filled(tensors, lambda name: getattr(rg, name))
        if self.record.seed is not None:
            rg.manual_seed(self.record.seed)
        return (call or function(self.record))(*args, **kwargs, **extra)

    def call(self, inputs: Sequence[Any]) -> list[Any]:
        """The differentiable outputs as a function of the differentiable inputs, everything else fixed."""
        tensors = self.tensors()
        for k, x in zip(self.wrt, inputs, strict=True):
            tensors[k] = x
        return [y for y in tensors_of(self.run(tensors)) if dtype_of(y) in DIFFERENTIABLE]

    @property
    def inputs(self) -> list[Any]:
        return [self.leaves[k] for k in self.wrt]


def _widened(x: Array, to_float: bool) -> Array:
    if x.dtype.kind == "c":
        return x.astype(np.complex128)
    if x.dtype.kind == "f" or to_float:
        return x.astype(np.float64)
    return x.astype(np.int64) if x.dtype.kind in "iu" else x


class _At:
    """The place of a leaf among the arguments."""

    def __init__(self, position: int) -> None:
        self.position = position


def _result_dtype(code: str, given: str, reference: str) -> str:
    if code == "same":
        return given
    if code == "float":
        return given if given in DIFFERENTIABLE else "float32"
    if code == "truth":
        return "uint8" if given == "uint8" else "bool"
    if code == "sum":
        return given if given in DIFFERENTIABLE else "int64"
    return reference if code == "reference" else code
