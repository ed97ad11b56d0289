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
