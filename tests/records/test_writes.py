"""Every op in place, on the tensor, on a view of it, and reading what it writes: as the op out of place, in every mode.

The functions compared differ in nothing but where the result is put, so their derivatives of both orders in both modes
are equal but for rounding.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from records import STANDIN, rg
from records.bound import Bound, array, lay_out, tensors_of
from records.record import OpRecord
from records.test_records import noting, operator_of_method, records, stays_itself

NATIVE = STANDIN == "retrograd"
pytestmark = pytest.mark.skipif(not NATIVE, reason="the stand-in's forward mode is wrong or missing in places")

Function = Callable[..., tuple[Any, ...]]


def jvp(f: Function, directions: Sequence[Any]) -> Function:
    return lambda *xs: rg.func.jvp(f, xs, tuple(directions))[1]


def vjp(f: Function, cotangents: Sequence[Any]) -> Function:
    return lambda *xs: rg.func.vjp(f, *xs)[1](tuple(cotangents))


def modes(f: Function, xs: Sequence[Any], ys: Sequence[Any], random: np.random.Generator) -> dict[str, Function]:
    """`f`, and its derivatives of first and second order in every mix of modes, in random directions."""

    def like(tensors: Sequence[Any]) -> list[Any]:
        return [lay_out(random.standard_normal(tuple(x.shape))) for x in tensors]

    ds, es, gs, hs = like(xs), like(xs), like(ys), like(ys)
    return {
        "values": f,
        "forward": jvp(f, ds),
        "reverse": vjp(f, gs),
        "forward over forward": jvp(jvp(f, ds), es),
        "forward over reverse": jvp(vjp(f, gs), ds),
        "reverse over forward": vjp(jvp(f, ds), hs),
        "reverse over reverse": vjp(vjp(f, gs), ds),
    }


def compare(written: Function, plain: Function, inputs: Sequence[Any], seed: str) -> None:
    xs = [lay_out(x) for x in inputs]
    ys = plain(*[x.clone() for x in xs])
    both = [modes(f, xs, ys, np.random.default_rng(zlib.crc32(seed.encode()))) for f in (written, plain)]
    for mode in both[0]:
        with noting(mode):
            got, want = (f[mode](*[x.clone() for x in xs]) for f in both)
            for a, b in zip(tensors_of(got), tensors_of(want), strict=True):
                np.testing.assert_allclose(array(a), array(b), rtol=1e-12, atol=1e-12)


def halves(bound: Bound, call: Callable[..., Any] | None) -> Function:
    """Of two copies of the first argument the op on the second: in place on a view with `call`, else put together.

    Returned are a view made before the write, the whole, and what was computed of the target before.
    """

    def f(*xs: Any) -> tuple[Any, ...]:
        tensors = bound.tensors()
        for k, x in zip(bound.wrt, xs, strict=True):
            tensors[k] = x
        first = tensors[0]
        before = first + 1.0
        if call is None:
            part = bound.run(tensors).to(rg.float64)
            whole = rg.stack([first * 2.0, part])
            return whole[1:], whole * whole, before
        whole = rg.stack([first * 2.0, first])
        view, early = whole[1], whole[1:]
        bound.run([view[...], *tensors[1:]], call=call)
        return early, whole * whole, before

    return f


@records(lambda r: r.inplace and r.differentiable and r.seed is None)
def test_a_write_to_a_view_in_every_mode(record: OpRecord) -> None:
    for sample in record.samples:
        bound = Bound(record, sample)
        if not stays_itself(bound) or not sample.smooth or 0 not in bound.wrt or bound.leaves[0].size > 200:
            continue
        with noting(sample):
            call = operator_of_method(record.inplace_method)
            compare(halves(bound, call), halves(bound, None), bound.inputs, f"{record.name}{sample}")


ALIASING = {
    "x + 1": lambda x: x + 1.0,
    "1 + x": lambda x: 1.0 + x,
    "x - 1": lambda x: x - 1.0,
    "x.sub(0)": lambda x: x.sub(0),
    "x + y": lambda x: x + rg.full_like(rg.ones(3, dtype=rg.float64), 2.0),
    "zeros + x": lambda x: rg.zeros(3, dtype=rg.float64) + x,
    "copy_": lambda x: rg.zeros(3, dtype=rg.float64).copy_(x),
    "add_": lambda x: rg.zeros(3, dtype=rg.float64).add_(x),
    "fill": lambda x: rg.zeros(3, dtype=rg.float64).fill_(x[0]),
    "expand": lambda x: rg.zeros(2, 3, dtype=rg.float64) + x,
    "a view of a sum": lambda x: (x + 1.0).view(3, 1)[..., 0],
    "reshape": lambda x: x.clone().reshape(3),
}
WRITES = {
    "mul_": lambda y: y.mul_(10.0),
    "zero_": lambda y: y.zero_(),
    "of a part": lambda y: y[..., 1:].mul_(10.0),
    "sin_ of a view of a view": lambda y: y[...][..., :2].sin_(),
}


@pytest.mark.parametrize("make", ALIASING)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("target", ["result", "operand"])
def test_a_write_to_one_does_not_reach_the_tangent_of_another(make: str, write: str, target: str) -> None:
    """The result's tangent is the operand's in numbers, never in memory that somebody sees."""

    def f(copies: bool) -> Function:
        def g(x: Any) -> tuple[Any, ...]:
            x = x * 1.0
            early = x[:2]
            y = ALIASING[make](x.clone() if copies else x)
            y = y.clone() if copies else y
            z = y + x
            WRITES[write](y if target == "result" else x)
            return x * 1.0, y * 1.0, z, early * 3.0

        return g

    compare(f(copies=False), f(copies=True), [np.array([0.4, -1.3, 2.1])], f"{make}{write}")


OVERLAPPING = {
    "itself": lambda y: y,
    "a view of all": lambda y: y[...],
    "a view of a view": lambda y: y.view(4)[:],
}


@pytest.mark.parametrize("name", ["add_", "sub_", "mul_", "div_", "atan2_", "copysign_", "hypot_", "pow_"])
@pytest.mark.parametrize("operand", OVERLAPPING)
def test_the_operand_is_a_view_of_the_target(name: str, operand: str) -> None:
    """d(y op y), which torch's forward mode gets wrong."""

    def written(x: Any) -> tuple[Any, ...]:
        y = x.clone()
        getattr(y, name)(OVERLAPPING[operand](y))
        return (y,)

    def plain(x: Any) -> tuple[Any, ...]:
        return (getattr(x, name[:-1])(x.clone()),)

    x = np.array([0.5, 1.2, 1.9, 0.7])
    for mode in ("forward over forward", "forward"):
        f = [modes(g, [lay_out(x)], [lay_out(x)], np.random.default_rng(3))[mode] for g in (written, plain)]
        np.testing.assert_allclose(array(f[0](lay_out(x))[0]), array(f[1](lay_out(x))[0]), rtol=1e-12)


def test_accumulators() -> None:
    """Sums that are built up in place, from zeros or inside a larger tensor."""

    def written(x: Any) -> tuple[Any, ...]:
        total, parts = rg.zeros(3, dtype=rg.float64), rg.zeros(2, 3, dtype=rg.float64)
        row = parts[0]
        for k in range(3):
            total += x
            row += x * x
            parts[1] += k * x
        return total, parts, row * total

    def plain(x: Any) -> tuple[Any, ...]:
        return 3 * x, rg.stack([3 * x * x, 3 * x]), 9 * x * x * x

    compare(written, plain, [np.array([0.4, -1.3, 2.1])], "accumulators")


def test_shapes_in_place() -> None:
    def written(x: Any) -> tuple[Any, ...]:
        y = x * 1.0
        early = y[0]
        y.t_()
        y.mul_(y.clone())
        y.unsqueeze_(0)
        y[:, 0].sin_()
        y.squeeze_()
        return y, early * 2.0

    def plain(x: Any) -> tuple[Any, ...]:
        y = (x * x).t()
        y = rg.stack([y[0].sin(), y[1], y[2]])
        return y, y.t()[0] * 2.0

    compare(written, plain, [np.array([[0.4, -1.3, 0.1], [0.9, 0.3, -0.2]])], "shapes")


@pytest.mark.parametrize("name", ["exp_", "sigmoid_", "tanh_", "sqrt_", "rsqrt_", "cumprod_", "copysign_"])
def test_a_result_that_hooks_keep_leads_to_the_base(name: str) -> None:
    """Second derivatives of a write to a view, where what the op keeps goes through saved-tensor hooks."""
    args = {"cumprod_": lambda v: (0,), "copysign_": lambda v: (v.clone(),)}.get(name, lambda v: ())

    def written(x: Any) -> tuple[Any, ...]:
        with rg.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
            y = x * 1.0
            getattr(y[1:], name)(*args(y[1:]))
        return (y * y,)

    def plain(x: Any) -> tuple[Any, ...]:
        y = rg.cat([x[:1], getattr(x[1:], name[:-1])(*args(x[1:]))])
        return (y * y,)

    xs = [lay_out(np.array([0.5, 1.2, 1.9, 0.7]))]
    both = [modes(f, xs, xs, np.random.default_rng(3)) for f in (written, plain)]
    for mode in ("reverse", "reverse over reverse"):
        np.testing.assert_allclose(*[array(f[mode](xs[0])[0]) for f in both], rtol=1e-12)
