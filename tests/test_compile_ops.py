"""Every op in a compiled function: a replay with other numbers than those that were recorded does what the op does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from records import STANDIN, rg
from records.bound import Bound, array, function
from records.record import DIFFERENTIABLE, OpRecord, Sample
from records.test_records import records

pytestmark = pytest.mark.skipif(STANDIN != "retrograd", reason="the stand-in compiles in a way of its own")

# How many calls of a record are compared.
SAMPLES = 2

# Ops whose results have elements that nobody has written.
UNWRITTEN = ("empty_permuted",)


def call_of(bound: Bound) -> Callable[..., Any]:
    """The op as a function of its tensors. Numbers are drawn from a generator that is seeded outside of it."""
    call = function(bound.record)

    def forward(*tensors: Any) -> Any:
        args, kwargs = bound.filled(tensors, lambda name: getattr(rg, name))
        return call(*args, **kwargs)

    return forward


def results_of(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, tuple | list) else [outputs]


def weighted(outputs: Any) -> list[Any]:
    """A sum of each result that has a history, with weights that depend on its size alone."""
    sums = []
    for y in results_of(outputs):
        if isinstance(y, rg.Tensor) and y.requires_grad:
            weights = rg.linspace(0.5, 1.5, y.numel(), dtype=rg.float64).reshape(y.shape)
            total = (y * weights.to(y.dtype)).sum()
            sums.append(total.real if total.is_complex() else total)
    return sums


def gradients_of(bound: Bound) -> Callable[..., Any]:
    """The results of the op and their gradients, taken inside of the function."""
    forward = call_of(bound)

    def both(*tensors: Any) -> Any:
        outputs = forward(*tensors)
        sums = weighted(outputs)
        if not sums:
            return outputs
        grads = rg.autograd.grad(sums, [tensors[k] for k in bound.wrt], allow_unused=True)
        return [y.detach() if isinstance(y, rg.Tensor) else y for y in results_of(outputs)], grads

    return both


def outside(call: Callable[..., Any], bound: Bound, tensors: Sequence[Any]) -> Any:
    """The results of a function, and their gradients, taken by its caller."""
    outputs = call(*tensors)
    sums = weighted(outputs)
    if not sums:
        return outputs
    return outputs, rg.autograd.grad(sums, [tensors[k] for k in bound.wrt], allow_unused=True)


def flat(value: Any) -> list[Any]:
    return [x for part in value for x in flat(part)] if isinstance(value, tuple | list) else [value]


def agree(got: Any, want: Any) -> None:
    got, want = flat(got), flat(want)
    assert len(got) == len(want)
    for y, ref in zip(got, want, strict=True):
        assert type(y) is type(ref)
        if not isinstance(y, rg.Tensor):
            assert y == ref or (y != y and ref != ref)
            continue
        assert (y.dtype, y.shape, y.requires_grad, y.layout) == (ref.dtype, ref.shape, ref.requires_grad, ref.layout)
        if y.layout is not rg.strided:
            y, ref = y.to_dense(), ref.to_dense()
        if y.dtype == rg.bfloat16:
            y, ref = y.to(rg.float64), ref.to(rg.float64)
        a, b = array(y), array(ref)
        if a.dtype.kind in "fc":
            slack = 8 * float(np.finfo(a.dtype).eps)
            np.testing.assert_allclose(a, b, rtol=slack, atol=slack)
        else:
            np.testing.assert_array_equal(a, b)


def another(record: OpRecord, sample: Sample, dtype: str | None = None) -> Bound:
    """The same call with other numbers: indices and masks in another order, where the op takes them so."""
    bound, plain = (Bound(record, sample, dtype, turn=1) for _ in range(2))
    for k, spec in enumerate(bound.specs):
        if spec.fixed:
            leaf = bound.leaves[k]
            bound.leaves[k] = leaf.reshape(-1)[::-1].reshape(leaf.shape).copy()
    try:
        call_of(bound)(*bound.tensors())
    except Exception:  # whatever an op says of indices in an order that it does not take
        return plain
    return bound


def compared(bound: Bound, other: Bound, make: Callable[[Bound], Callable[..., Any]], caller: bool, grad: bool) -> str:
    """Compare four calls, the last two with other numbers, and return what the function says of itself."""
    plain = make(bound)
    compiled = rg.compile(make(bound))
    for turn, given in enumerate((bound, bound, other, other)):
        made = []
        for call in (plain, compiled):
            tensors = given.tensors(grad=grad)
            rg.manual_seed(7 + turn)
            result = outside(call, bound, tensors) if caller else call(*tensors)
            made.append((result, [x.detach() for x in tensors], rg.get_rng_state()))
        agree(made[1], made[0])
    return str(compiled.explain())


@records(lambda record: record.name not in UNWRITTEN)
def test_a_replay_does_what_the_op_does(record: OpRecord) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in record.samples[:SAMPLES]:
            bound, other = Bound(record, sample), another(record, sample)
            compared(bound, other, call_of, caller=False, grad=False)
            if record.differentiable and bound.wrt and bound.dtype in DIFFERENTIABLE:
                compared(bound, other, gradients_of, caller=False, grad=True)
                compared(bound, other, call_of, caller=True, grad=True)
