"""`assert_close` and `make_tensor`."""

# ruff: noqa: B023  what `say` is given is called at once

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np


def run(torch: Any, say: Any) -> None:
    T = torch.testing
    A = T.assert_close
    M = T.make_tensor
    t = torch.tensor
    nan = float("nan")
    inf = float("inf")
    say(lambda: A(t([1.0, 2]), t([1.0, 2])))
    say(lambda: A(t([1.0, 2, 3]), t([1.0, 2.5, 4])))
    say(lambda: A(t([[1.0, 2], [3, 4]]), t([[1.0, 2.5], [4, 4]])))
    say(lambda: A(t([1, 2, 3]), t([1, 5, 3])))
    say(lambda: A(t([1, 2, 3]), t([0, 5, 0])))
    say(lambda: A(t([True, False]), t([True, True])))
    say(lambda: A(t(1.0), t(2.0)))
    say(lambda: A(t(1), t(2)))
    say(lambda: A(t(1), t(0)))
    say(lambda: A(t([1.0]), t([1])))
    say(lambda: A(t([1.0]), t([1]), check_dtype=False))
    say(lambda: A(t([1.5]), t([1]), check_dtype=False))
    say(lambda: A(t([1.0]), t(1.0)))
    say(lambda: A(t([nan, 1.0]), t([nan, 2.0])))
    say(lambda: A(t([nan, 1.0]), t([nan, 2.0]), equal_nan=True))
    say(lambda: A(t([nan]), t([nan]), equal_nan=True))
    say(lambda: A(t([inf, 1]), t([inf, 2])))
    say(lambda: A(t([inf, 1]), t([-inf, 2])))
    say(lambda: A(t([1 + 1j, 2]), t([1 + 2j, 2])))
    say(lambda: A(t([1.0, 2], dtype=torch.float16), t([1.0, 2.5], dtype=torch.float16)))
    say(lambda: A(t([1.0, 2], dtype=torch.bfloat16), t([1.0, 2.5], dtype=torch.bfloat16)))
    say(lambda: A(t([1.0, 2], dtype=torch.float64), t([1.0, 2.5], dtype=torch.float64)))
    say(lambda: A(t([1.0, 2.0]), t([1.0, 2.1]), rtol=0, atol=0))
    say(lambda: A(t([1.0, 2.0]), t([1.0, 2.1]), rtol=0, atol=0.05))
    say(lambda: A(t([1.0, 2.0]), t([1.0, 2.1]), rtol=0.1))
    say(lambda: A(t([1.0, 2.0]), t([1.0, 2.1]), atol=0.1))
    say(lambda: A([t(1.0)], [t(1.0), t(2.0)]))
    say(lambda: A({"a": [t(1.0), t(2.0)]}, {"a": [t(1.0), t(3.0)]}))
    say(lambda: A({"a": 1, "b": 2}, {"a": 1, "c": 2}))
    say(lambda: A({"a": 1}, [1]))
    say(lambda: A(1, 1.0))
    say(lambda: A(1, 2))
    say(lambda: A(1.0, 1.1))
    say(lambda: A(1.0, 0.0))
    say(lambda: A(nan, nan))
    say(lambda: A(nan, nan, equal_nan=True))
    say(lambda: A(1j, 1j + 0.1))
    say(lambda: A(True, False))
    say(lambda: A(None, 1))
    say(lambda: A(None, None))
    say(lambda: A("a", "a"))
    say(lambda: A(t([1.0]), [1.0]))
    say(lambda: A(np.array([1.0, 2]), np.array([1.0, 3])))
    say(lambda: A(np.float64(1), np.float64(2)))
    say(lambda: A(np.float64(1), 1.0))
    say(lambda: A(np.bool_(True), False))
    say(lambda: A(np.array([1.0]), t([1.0])))
    say(lambda: A(t([1.0]), t([2.0]), msg="mine"))
    say(lambda: A([t([1.0])], [t([2.0])], msg=lambda m: "X " + m))
    say(lambda: A(torch.ones(2, 3).t(), torch.ones(3, 2), check_stride=True))
    say(lambda: A(torch.nn.Parameter(torch.ones(1)), torch.ones(1)))
    say(lambda: A(torch.nn.Parameter(torch.ones(1)), torch.ones(1), allow_subclasses=False))
    say(lambda: A(torch.ones(0), torch.ones(0)))
    say(lambda: A([1, [2, (3,)]], [1, [2, (4,)]]))
    say(lambda: A(OrderedDict(b=1, a=2), {"a": 3, "b": 4}))
    say(lambda: A(t([1, 2], dtype=torch.uint8), t([2, 1], dtype=torch.uint8)))
    say(lambda: A(t([1, 2], dtype=torch.uint64), t([2, 2], dtype=torch.uint64)))
    say(lambda: A(t([1, 2], dtype=torch.uint64), t([2, 2], dtype=torch.int32), check_dtype=False))
    say(lambda: A([1, "a"], [2, "a"]))
    say(lambda: A([1, None], [1, 3]))
    say(lambda: A(t([1.0], requires_grad=True), t([2.0])))
    say(lambda: A(t(3.0), 3.0))
    say(lambda: A({1: t(1.0)}, {1: t(2.0)}))
    say(lambda: A((1, 2), [1, 3]))
    say(lambda: A(object(), 3))
    say(lambda: A(t([1.0, 2.0]), t([1.0, 2.0]).reshape(2, 1)))
    say(lambda: T.assert_allclose([1.0, 2], [1.0, 2.00001]))
    say(lambda: T.assert_allclose([1.0, 2], [1.0, 2.1]))
    say(lambda: T.assert_allclose(1, 1.0))

    def mk(*a, **k):
        torch.manual_seed(0)
        r = M(*a, **k)
        return (r, r.stride(), r.requires_grad, r.is_contiguous())

    for dt in (
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "int64",
        "int32",
        "uint8",
        "int8",
        "bool",
        "complex64",
        "complex128",
        "int16",
    ):
        say(lambda: mk(2, 3, dtype=getattr(torch, dt), device="cpu"))
        say(lambda: mk((2, 3), dtype=getattr(torch, dt), device="cpu", noncontiguous=True))
        say(lambda: mk((2,), dtype=getattr(torch, dt), device="cpu", low=0, high=1, exclude_zero=True))
    say(lambda: mk(dtype=torch.float32, device="cpu"))
    say(lambda: mk([3], dtype=torch.float32, device="cpu", requires_grad=True))
    say(lambda: mk(3, dtype=torch.int64, device="cpu", requires_grad=True))
    say(lambda: mk(3, dtype=torch.float32, device="cpu", low=3, high=1))
    say(lambda: mk(3, dtype=torch.float32, device="cpu", low=nan, high=1.0))
    say(lambda: mk(3, dtype=torch.uint8, device="cpu", low=300, high=400))
    say(lambda: mk(3, dtype=torch.uint8, device="cpu", low=-3, high=400))
    say(lambda: mk(3, dtype=torch.float32, device="cpu", noncontiguous=True, memory_format=torch.contiguous_format))
    say(lambda: mk(1, 2, 2, 2, dtype=torch.float32, device="cpu", memory_format=torch.channels_last)[1])
    say(lambda: mk(2, dtype=torch.float16, device="cpu", low=-inf, high=inf))
    say(lambda: mk(2, dtype=torch.float32, device="cpu", low=-inf, high=inf))
    say(lambda: mk(2, dtype=torch.int64, device="cpu", low=0.5, high=2.5))
    say(lambda: mk(2, dtype=torch.int64, device="cpu", low=1, high=1))
