"""uint16, uint32, uint64 and complex32: stored, converted, and computed with where torch has a kernel."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

from records import STANDIN, rg

UNSIGNED = ("uint16", "uint32", "uint64")
OURS = pytest.mark.skipif(STANDIN == "torch", reason="retrograd's own words")


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_integers_are_made_and_read(name: str) -> None:
    dtype = getattr(rg, name)
    x = rg.tensor([1, 2, 300], dtype=dtype)
    assert x.dtype is dtype and x.tolist() == [1, 2, 300] and x[2].item() == 300
    assert str(x) == f"tensor([  1,   2, 300], dtype={rg.__name__}.{name})"
    assert (dtype.itemsize, dtype.is_signed, dtype.is_floating_point, dtype.is_complex) == (
        int(name[4:]) // 8,
        False,
        False,
        False,
    )
    assert (rg.iinfo(dtype).min, rg.iinfo(dtype).max) == (0, 2 ** int(name[4:]) - 1)
    assert rg.zeros(2, dtype=dtype).tolist() == [0, 0] and rg.full((2,), 7, dtype=dtype).tolist() == [7, 7]
    assert rg.ones_like(x).dtype is dtype and rg.empty_like(x).dtype is dtype
    array = np.array([1, 5], dtype=name)
    shared = rg.from_numpy(array)
    shared[0] = 9
    assert array[0] == 9 and shared.numpy().dtype == array.dtype
    assert rg.from_dlpack(x).dtype is dtype
    if STANDIN != "torch":  # which has no storages of these dtypes
        assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist()
    for back in (copy.deepcopy(x), x.clone()):
        assert back.dtype is dtype and back.tolist() == x.tolist()
    file = io.BytesIO()
    rg.save(x, file)
    file.seek(0)
    assert rg.load(file).tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="only Tensors of floating point"):
        x.requires_grad_()


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_integers_are_converted(name: str) -> None:
    dtype = getattr(rg, name)
    top = 2 ** int(name[4:])
    for other in ("int8", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "bool", *UNSIGNED):
        there = rg.tensor([0, 1, 100], dtype=dtype).to(getattr(rg, other))
        back = there.to(rg.float64 if there.is_complex() else there.dtype).to(dtype)
        assert back.tolist() == ([0, 1, 1] if other == "bool" else [0, 1, 100])
    assert rg.tensor([-1, -2]).to(dtype).tolist() == [top - 1, top - 2]
    assert rg.tensor([1.7, -2.0]).to(dtype).tolist() == [1, top - 2]
    assert rg.zeros(3).copy_(rg.tensor([1, 2, 3], dtype=dtype)).tolist() == [1.0, 2.0, 3.0]
    assert rg.tensor([[1, 2], [3, 4]], dtype=dtype).t().to(rg.float32).tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_uint64_holds_what_int64_does_not() -> None:
    x = rg.tensor([2**64 - 1, 2**63 + 5], dtype=rg.uint64)
    assert x.tolist() == [2**64 - 1, 2**63 + 5] and x[1].item() == 2**63 + 5
    assert "18446744073709551615" in str(x)
    assert x.to(rg.float64).tolist() == [float(2**64 - 1), float(2**63 + 5)]
    assert rg.tensor([1e19], dtype=rg.float64).to(rg.uint64).tolist() == [10**19]


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_integers_are_moved_and_computed_with_as_in_torch(name: str) -> None:
    dtype = getattr(rg, name)
    x, y = rg.tensor([1, 2, 3], dtype=dtype), rg.tensor([3, 2, 1], dtype=dtype)
    assert rg.cat([x, y]).tolist() == [1, 2, 3, 3, 2, 1] and x[rg.tensor([0, 2])].tolist() == [1, 3]
    assert x[x.to(rg.int64) > 1].tolist() == [2, 3] and x.roll(1).dtype is dtype
    assert (x * y).tolist() == [3, 4, 3] and (x * y).dtype is dtype
    assert (x + 1.5).tolist() == [2.5, 3.5, 4.5] and (x / y).tolist()[1] == 1.0
    assert x.sum().item() == 6 and x.sum().dtype is rg.int64 and x.cumsum(0).tolist() == [1, 3, 6]
    assert (x == y).tolist() == [False, True, False] and (x != 2).tolist() == [True, False, True]
    assert x.any().item() and rg.where(x == y, x, y).tolist() == [3, 2, 1]
    for refused in (lambda: x + y, lambda: -x, lambda: x < y, lambda: x.max(), lambda: x // y, lambda: x.arange(3)):
        with pytest.raises((NotImplementedError, AttributeError)):
            refused()
    shown = name.replace("ui", "UI")
    message = f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {shown} and"
    with pytest.raises(RuntimeError, match=message):
        x + rg.tensor([1, 2, 3])
    with pytest.raises(RuntimeError, match=message):
        rg.promote_types(dtype, rg.int32)
    assert rg.promote_types(dtype, rg.float32) is rg.float32 and rg.result_type(x, 1) is dtype


def test_float16_and_a_complex_number_make_complex32() -> None:
    x = rg.tensor([1.0, 2.0], dtype=rg.float16)
    for y, value in ((x + 1j, [1 + 1j, 2 + 1j]), (x * 1j, [1j, 2j]), (1j - x, [1j - 1, 1j - 2])):
        assert y.dtype is rg.complex32 and y.tolist() == value
    assert (x == 1j).tolist() == [False, False] and (x == 2 + 0j).tolist() == [False, True]
    with pytest.raises(NotImplementedError, match="\"div_cpu\" not implemented for 'ComplexHalf'"):
        x / 1j
    with pytest.raises(RuntimeError, match="result type ComplexHalf can't be cast to the desired output type Half"):
        x.add_(1j)
    assert x.tolist() == [1.0, 2.0]


def test_complex32_is_stored_and_computed_with_in_complex64() -> None:
    x = rg.tensor([1 + 2j, 3 - 1j], dtype=rg.complex32)
    assert x.dtype is rg.complex32 is rg.chalf and x.tolist() == [1 + 2j, 3 - 1j]
    assert (x.dtype.itemsize, x.dtype.is_complex) == (4, True)
    assert (x + x).dtype is rg.complex32 and (x * x).tolist() == [(1 + 2j) ** 2, (3 - 1j) ** 2]
    assert (x - 1).tolist() == [2j, 2 - 1j] and (-x).tolist() == [-1 - 2j, -3 + 1j]
    assert (x == x).tolist() == [True, True]
    assert x.real.dtype is rg.float16 and x.real.tolist() == [1.0, 3.0] and x.conj().imag.tolist() == [-2.0, 1.0]
    assert rg.view_as_real(x).dtype is rg.float16
    assert rg.view_as_complex(rg.ones(3, 2, dtype=rg.float16)).dtype is rg.complex32
    assert x.to(rg.complex128).tolist() == x.tolist() and rg.cat([x, x]).dtype is rg.complex32
    assert rg.promote_types(rg.complex32, rg.float32) is rg.complex64
    assert rg.promote_types(rg.complex32, rg.float64) is rg.complex128
    assert rg.finfo(rg.complex32).eps == rg.finfo(rg.float16).eps
    assert abs(x).dtype is rg.float16
    for refused in (lambda: x.exp(), lambda: x.sum(), lambda: x < x, lambda: x @ x):
        with pytest.raises((NotImplementedError, RuntimeError)):
            refused()
    with pytest.raises(TypeError, match="Got unsupported ScalarType ComplexHalf"):
        x.numpy()


@OURS
def test_complex32_goes_through_files() -> None:
    x = rg.tensor([1 + 2j, 3 - 1j], dtype=rg.complex32)
    file = io.BytesIO()
    rg.save({"x": x}, file)
    file.seek(0)
    back: Any = rg.load(file)["x"]
    assert back.dtype is rg.complex32 and back.tolist() == x.tolist()
