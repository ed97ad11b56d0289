"""Replays that are taken block by block, and functions that transform others."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as rg


def leaves(*shape: int) -> rg.Tensor:
    return rg.rand(*shape, dtype=rg.float64, generator=rg.Generator().manual_seed(0)) + 0.5


def assert_replayed(function: Callable[..., Any], *args: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = rg.compile(function)
        for _ in range(4):
            results, expected = compiled(*args), function(*args)
            for result, value in zip(results, expected, strict=True):
                assert rg.equal(result, value)
    assert len(compiled._all()) == 1


# Three values of n elements fit into the place of one with three rows, if n is not a multiple of eight.
@pytest.mark.parametrize("n", [16384, 16385, 16388, 16390])
def test_what_a_run_uses_keeps_its_memory_until_the_end_of_the_run(n: int) -> None:
    def projected(camera: rg.Tensor, point: rg.Tensor, weight: rg.Tensor) -> rg.Tensor:
        x, y, z = point - camera[3:6]
        a, b, c = camera[:3]
        angle = (a * a + b * b + c * c).sqrt()
        sin, cos = angle.sin(), angle.cos()
        a, b, c = a / angle, b / angle, c / angle
        along = (a * x + b * y + c * z) * (1 - cos)
        p = x * cos + (b * z - c * y) * sin + a * along
        q = y * cos + (c * x - a * z) * sin + b * along
        square = p * p + q * q
        return rg.stack([p * square * weight, q * square * weight])

    def jacobian(data: rg.Tensor) -> list[rg.Tensor]:
        xs = [part.detach().requires_grad_() for part in (data[:6], data[11:14], data[14])]
        error = projected(*xs)
        rows = [rg.autograd.grad(error[i].sum(), xs, retain_graph=i == 0) for i in range(2)]
        return [rg.stack(parts) for parts in zip(*rows, strict=True)]

    assert_replayed(jacobian, leaves(15, n))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: [rg.vmap(rg.sin)(x)],
        lambda x: [rg.vmap(rg.sin)(x), -2 * x],
        lambda x: [rg.vmap(rg.func.grad(lambda row: row.sin().sum()))(x), -2 * x],
        lambda x: [rg.vmap(rg.sin, out_dims=-1)(x), -2 * x],
        lambda x: [rg.func.jacrev(rg.vmap(rg.sin))(x), -2 * x],
    ],
)
def test_functions_that_map_others_are_replayed(function: Callable[[rg.Tensor], list[rg.Tensor]]) -> None:
    assert_replayed(function, leaves(5, 3))


def test_what_is_left_of_a_closed_level_keeps_no_function_from_being_replayed() -> None:
    kept = []

    def keep(x: rg.Tensor) -> rg.Tensor:
        kept.append(x)
        return x.sin()

    rg.vmap(keep)(leaves(5, 3))
    assert_replayed(lambda x: [x.sin()], leaves(5, 3))
    with pytest.raises(RuntimeError, match="escaped"):
        rg.compile(lambda x: x.sin())(kept[0])


def test_what_is_made_twice_is_made_once() -> None:
    def f(x: rg.Tensor, y: rg.Tensor) -> list[rg.Tensor]:
        p, q = x * y, x * y  # of which one is written to
        q.add_(1.0)
        a = (x * y).sin() + (x * y).cos()  # inside of a run
        b = (x * y).view(-1)[::2] + 1.0  # in another layout
        return [a, b, x * y, x * y, p, q]

    for n in (8, 1 << 14):
        assert_replayed(f, leaves(n), leaves(n) + 1)
    compiled = rg.compile(f)
    for _ in range(3):
        results = compiled(leaves(8), leaves(8))
    first, second = results[2:4]
    first.zero_()
    assert second.abs().sum() > 0


def test_strides_along_axes_of_one_element_make_no_other_operand() -> None:
    def f(x: rg.Tensor, w: rg.Tensor) -> list[rg.Tensor]:
        return [(x.t() @ w).sin() + x.view(5, 1) @ w]

    x, w = leaves(1, 5), leaves(1, 7)
    assert x.t().stride() != x.view(5, 1).stride()
    assert_replayed(f, x, w)
    compiled = rg.compile(f)
    for _ in range(3):
        compiled(x, w)
    assert str(compiled.explain()).count(" mm ") == 1


def taken_in_blocks(compiled: Any) -> int:
    return str(compiled.explain()).count("(a block)")


@pytest.mark.parametrize("n", [16384, 50_001])
@pytest.mark.parametrize(
    "of_first",
    [
        lambda y: y[-1],
        lambda y: y[5],
        lambda y: y[:1],
        lambda y: y[-1:].expand(y.shape[0]),
        lambda y: y[0] + y[-1],
    ],
)
def test_an_element_of_what_a_run_makes_is_there_before_it_is_read(
    n: int, of_first: Callable[[rg.Tensor], rg.Tensor]
) -> None:
    def function(x: rg.Tensor) -> list[rg.Tensor]:
        y = x * 2.0 + 1.0
        z = x * of_first(y) - y
        return [z.exp() * x]

    assert_replayed(function, leaves(n))


# Cycles that fit into blocks, in whole vectors and not, and ones that do not.
@pytest.mark.parametrize("shape", [(256, 64), (301, 77), (129, 7, 33), (5, 16, 1024), (3, 20_011), (40_000, 1)])
@pytest.mark.parametrize("dtype", [rg.float32, rg.float64, rg.int64])
def test_operands_that_repeat_in_a_run(shape: tuple[int, ...], dtype: rg.dtype) -> None:
    def whole(*sizes: int) -> rg.Tensor:
        return (leaves(*sizes) * 100).to(dtype)

    last = whole(shape[-1])
    first = whole(shape[0], *[1] * (len(shape) - 1))
    second = whole(shape[1], *[1] * (len(shape) - 2))
    spread = whole(*shape, 3)[..., 1]
    alone = whole(1)

    def function(x: rg.Tensor) -> list[rg.Tensor]:
        y = x * last + first
        z = (y - second) * spread
        w = (second.expand(shape) - z) * alone
        return [w * x + y, z]

    before = rg.get_num_threads()
    try:
        for threads in (1, 2):
            rg.set_num_threads(threads)
            assert_replayed(function, whole(*shape))
    finally:
        rg.set_num_threads(before)


@pytest.mark.parametrize("rows", [256, 2000])
@pytest.mark.parametrize("columns", [64, 97])
@pytest.mark.parametrize("dtype", [rg.float32, rg.float64])
def test_products_of_one_term_beside_runs(rows: int, columns: int, dtype: rg.dtype) -> None:
    a, b = leaves(rows, 1).to(dtype) - 0.9, leaves(columns, 2).to(dtype)[:, :1] - 0.9
    # A sum that begins with zero is not -0.0, and no number times infinity is one.
    a[3], b[5], a[7], b[9] = -0.0, 0.0, float("inf"), float("nan")

    def function(x: rg.Tensor) -> list[rg.Tensor]:
        y = x @ b.t()
        z = a @ b.t()
        return [1.0 / y, (y + z) * x, rg.sin(y * 3.0) - z]

    compiled = rg.compile(function)
    for _ in range(4):
        for result, value in zip(compiled(a), function(a), strict=True):
            numbers = ~value.isnan()
            assert rg.equal(result.isnan(), ~numbers)
            assert rg.equal(result[numbers], value[numbers])
            assert rg.equal(result[numbers].signbit(), value[numbers].signbit())
    assert len(compiled._all()) == 1
    assert taken_in_blocks(compiled) > 0


def test_steps_that_wait_for_nothing_else_are_taken_together() -> None:
    w = leaves(64, 64) - 1.0

    # Between the loops are products, of which only the last waits for any of them.
    def function(x: rg.Tensor) -> list[rg.Tensor]:
        y = x.sin()
        p = x @ w
        y = y * x
        q = p @ w
        y = y + x
        return [y @ q.t(), y]

    assert_replayed(function, leaves(256, 64))
    compiled = rg.compile(function)
    for _ in range(3):
        compiled(leaves(256, 64))
    assert taken_in_blocks(compiled) > 0


def test_what_writes_stays_in_its_place_among_others() -> None:
    kept = leaves(128, 128)

    def function(x: rg.Tensor) -> list[rg.Tensor]:
        a = kept.sin()
        p = x @ x
        b = a * x
        kept.add_(1.0)
        c = kept.sin()
        q = p @ x
        d = c * x
        r = rg.rand(128, 128, dtype=x.dtype)
        e = d + b
        s = rg.rand(128, 128, dtype=x.dtype)
        return [e * r, q, s * kept]

    compiled = rg.compile(function)
    results = []
    for run in (function, compiled):
        kept.copy_(leaves(128, 128))
        rg.manual_seed(3)
        results.append([run(leaves(128, 128)) for _ in range(5)])
    for value, result in zip(*results, strict=True):
        assert all(rg.equal(a, b) for a, b in zip(value, result, strict=True))
    assert len(compiled._all()) == 1
