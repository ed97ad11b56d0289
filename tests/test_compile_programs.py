"""Random programs, compiled: what their replays give is what they give, to the bit."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest

import retrograd as rg

UNARY = [rg.sin, rg.tanh, rg.exp, rg.neg, rg.sigmoid, rg.relu, rg.abs, lambda x: x * 0.5, lambda x: 2.0 - x, rg.square]
BINARY = [rg.add, rg.sub, rg.mul, rg.maximum, lambda x, y: x / (y * y + 1.0), lambda x, y: rg.where(x > y, x, -y)]
EPS = rg.finfo(rg.float64).eps
SIZES = [5, 64, 16384, 16385, 16388, 16390, 20000, 40001]


def program(seed: int, *, inside: bool) -> Any:
    """A function of two tensors with three rows, made of what the seed draws, which takes gradients or does not."""

    def function(x: rg.Tensor, y: rg.Tensor) -> list[rg.Tensor]:
        draw = random.Random(seed)
        rows, wholes = [x[0], x[1], x[2], y[0], y[1], y[2]], [x, y]
        for _ in range(draw.randint(6, 40)):
            some = draw.choice([rows, rows, rows, wholes])
            match draw.randint(0, 9):
                case 0 | 1 | 2:
                    some.append(draw.choice(UNARY)(draw.choice(some)).clamp(-3.0, 3.0))
                case 3 | 4 | 5 | 6:
                    some.append(draw.choice(BINARY)(draw.choice(some), draw.choice(some)))
                case 7:
                    wholes.append(rg.stack([draw.choice(rows) for _ in range(3)]))
                case 8:
                    rows.append(draw.choice(wholes)[draw.randint(0, 2)])
                case 9:
                    written = draw.choice(some) * 1.0
                    part = written[1:] if written.dim() == 2 else written[::2]
                    part.mul_(0.25)
                    some.append(written.add_(draw.choice(some)))
        results = [draw.choice(rows), draw.choice(wholes), rows[-1], wholes[-1]]
        if inside and draw.random() < 0.8:
            loss = sum((r * r).mean() for r in results)
            return [*results, *rg.autograd.grad(loss, [x, y], allow_unused=True)]
        return results

    return function


def tensors(n: int, seed: int) -> list[rg.Tensor]:
    generator = rg.Generator().manual_seed(seed)
    return [rg.randn(3, n, dtype=rg.float64, generator=generator).requires_grad_() for _ in range(2)]


def assert_same(results: Any, expected: Any) -> None:
    for result, value in zip(results, expected, strict=True):
        assert (result is None) == (value is None)
        assert result is None or rg.equal(result, value)


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("seed", range(48))
def test_replays_of_random_programs(seed: int, inside: bool) -> None:
    function, n = program(seed, inside=inside), SIZES[seed % len(SIZES)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = rg.compile(function)
        for call in range(4):
            args, same = tensors(n, call), tensors(n, call)
            results, expected = compiled(*args), function(*same)
            assert_same(results, expected)
            if not inside:
                drawn = [tensors(n, i)[0].detach() for i in range(len(results))]
                cotangents = [c if r.dim() == 2 else c[0] for c, r in zip(drawn, results, strict=True)]
                grads, wanted = (
                    rg.autograd.grad(rs, xs, cotangents, materialize_grads=True, allow_unused=True)
                    for rs, xs in ((results, args), (expected, same))
                )
                for grad, value in zip(grads, wanted, strict=True):
                    # Gradients that meet are added in another order.
                    assert (grad - value).abs().max() <= 8 * EPS * value.abs().max()
    assert len(compiled._all()) == 1
