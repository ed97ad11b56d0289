"""Batches of products of small matrices: those of NumPy, in every layout, alone, added and differentiated."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

DTYPES = ["float32", "float64", "complex64", "int32", "bfloat16"]
COUNT = 6


def operand(rg: Any, draw: np.random.Generator, rows: int, columns: int, dtype: str) -> Any:
    # Small integers: sums are exact in every dtype.
    values = draw.integers(-4, 5, (COUNT, rows, columns)).astype("f8")
    if dtype == "complex64":
        values = values + 1j * draw.integers(-4, 5, values.shape)
    return rg.tensor(values).to(getattr(rg, dtype))


def wide(x: Any) -> np.ndarray:
    return (x if x.is_complex() else x.double()).numpy()


LAYOUTS = {
    "rows": lambda x: x,
    "columns": lambda x: x.mT.contiguous().mT,
    "reversed": lambda x: x.flip(0).contiguous().flip(0),
    "last first": lambda x: x.permute(1, 2, 0).contiguous().permute(2, 0, 1),
    "one for all": lambda x: x[:1].expand(x.shape),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(rg: Any, dtype: str) -> None:
    draw = np.random.default_rng(5)
    for m, n, k in product((1, 2, 3, 4, 5), repeat=3):
        x, y = operand(rg, draw, m, k, dtype), operand(rg, draw, k, n, dtype)
        start = operand(rg, draw, m, n, dtype)
        for first, second in product(LAYOUTS.values(), repeat=2):
            a, b = first(x), second(y)
            want = wide(a) @ wide(b)
            np.testing.assert_array_equal(wide(a @ b), want)
            np.testing.assert_array_equal(wide(rg.bmm(a, b)), want)
            np.testing.assert_array_equal(wide(rg.baddbmm(start, a, b)), wide(start) + want)


def test_threads_share_a_batch(rg: Any) -> None:
    a, b = rg.randn(30_001, 3, 3), rg.randn(30_001, 3, 1)
    before = rg.get_num_threads()
    try:
        rg.set_num_threads(1)
        want = a @ b
        rg.set_num_threads(3)
        assert rg.equal(a @ b, want)
    finally:
        rg.set_num_threads(before)
    np.testing.assert_allclose(want.numpy(), a.numpy() @ b.numpy(), rtol=1e-5, atol=1e-5)


def test_gradients(rg: Any) -> None:
    a = rg.randn(5, 3, 4, dtype=rg.float64, requires_grad=True)
    b = rg.randn(5, 4, 2, dtype=rg.float64, requires_grad=True)
    assert rg.autograd.gradcheck(rg.bmm, (a, b)) and rg.autograd.gradgradcheck(rg.bmm, (a, b))
