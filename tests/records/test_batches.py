"""Every op on a batch, by its batching rule, against a loop over the entries; its derivatives as well."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from records.batches import Batch, along, core, mapped, stacked
from records.bound import Bound, array, dtype_of, lay_out, tensors_of
from records.derivatives import leaves, pulled_back
from records.record import FLOATS, Array, OpRecord, Sample
from records.test_records import NATIVE, cases, noting, numbers, operator_of_method, stays_itself, takes_tensors

pytestmark = pytest.mark.skipif(not NATIVE, reason="the stand-in has batches of its own")

# In units of the last place: sums over a batch may be in another order.
SLACK = 64.0


def equal(got: Sequence[Any], want: Sequence[Array]) -> None:
    assert len(got) == len(want)
    for y, ref in zip(got, want, strict=True):
        assert array(y).dtype == ref.dtype
        assert tuple(y.shape) == ref.shape
        if dtype_of(y) in FLOATS:
            bound = SLACK * float(np.finfo(ref.dtype).eps)
            np.testing.assert_allclose(array(y), ref, rtol=bound, atol=bound)
        else:
            np.testing.assert_array_equal(array(y), ref)


def batches(record: OpRecord) -> bool:
    return takes_tensors(record) and record.seed is None


@cases(batches)
def test_a_batch_equals_a_loop(record: OpRecord, sample: Sample) -> None:
    for dtype in sample.dtypes or record.dtypes:
        batch = Batch(record, sample, dtype=dtype)
        if not batch.first.leaves or not sample.values:
            continue
        for axis, batched in enumerate(batch.choices()):
            with noting(f"{dtype}, batched {batched}"):
                turns = range(len(batch.entries))
                rows = [[lay_out(x) for x in batch.leaves(batched, turn)] for turn in turns]
                loop = [tensors_of(batch.first.run(row)) for row in rows] if computes(record, batch.first) else []
                axis = -(axis % 2)
                expected, results = refused(record, batch.first, batched)
                with expected:
                    got = mapped(batch.first.run, batch.tensors(batched, axis), batched, axis)
                if results:
                    equal(got, stacked(loop))


def computes(record: OpRecord, bound: Bound) -> bool:
    """Whether no number of a tensor decides in Python what is done."""
    if record.short == "equal":
        return len({x.shape for x in bound.leaves}) > 1
    if record.short == "one_hot":
        return len(bound.sample.args) + len(bound.sample.kwargs) > 1
    return record.reads is not True


def refused(record: OpRecord, bound: Bound, batched: Sequence[int]) -> tuple[Any, bool]:
    """What is expected, and whether there are results: none where numbers are read, where masks choose how many, and
    where one tensor would be written with many."""
    if not computes(record, bound):
        return pytest.raises(RuntimeError, match=r"data-dependent control flow|results of different sizes"), False
    if isinstance(record.reads, tuple) and any(
        k in record.reads and bound.leaves[k].dtype.kind in "iu" for k in batched
    ):
        return pytest.raises(RuntimeError, match=r"data-dependent control flow"), False
    choosing = record.short in ("__getitem__", "__setitem__", "masked_select")
    masks = choosing and any(bound.specs[k].dtype == "bool" for k in batched if k)
    writes = record.short == "__setitem__" or (record.short.endswith("_") and not record.short.endswith("__"))
    if masks or (writes and 0 not in batched):
        return pytest.raises(RuntimeError, match=r"mask|is not possible because|data-dependent"), False
    return contextlib.nullcontext(), True


@cases(lambda r: batches(r) and r.inplace)
def test_a_batch_written_in_place(record: OpRecord, sample: Sample) -> None:
    batch = Batch(record, sample)
    method = operator_of_method(record.inplace_method)
    if not sample.values or not all(map(stays_itself, batch.entries)):
        return
    for batched in batch.choices():
        if 0 not in batched:
            continue
        with noting(f"batched {batched}"):

            def call(entries: list[Any]) -> Any:
                x = entries[0].clone()
                y = batch.first.run([x, *entries[1:]], call=method)
                assert y is x
                return x

            rows = [[lay_out(x) for x in batch.leaves(batched, turn)] for turn in range(len(batch.entries))]
            equal(mapped(call, batch.tensors(batched, 0), batched), stacked([[call(row)] for row in rows]))


def cotangents(bound: Bound, count: int) -> list[list[Array]]:
    rng = numbers(bound)
    shapes = [tuple(y.shape) for y in bound.call(leaves(bound.inputs))]
    return [[rng.standard_normal(shape) for shape in shapes] for _ in range(count)]


def tensors(values: Sequence[Array]) -> list[Any]:
    return [lay_out(np.asarray(v)) for v in values]


@cases(lambda r: batches(r) and r.differentiable)
def test_derivatives_of_a_batch_equal_a_loop(record: OpRecord, sample: Sample) -> None:
    batch = Batch(record, sample)
    bound, count = batch.first, len(batch.entries)
    if not sample.smooth or not bound.inputs:
        return
    with noting("a batch of cotangents"):
        gs = cotangents(bound, count)
        xs = leaves(bound.inputs)
        want = stacked([pulled_back(bound.call, xs, tensors(g)) for g in gs])
        stacks = tensors([np.stack(column) for column in zip(*gs, strict=True)])
        equal(along(lambda _, g: pulled_back(bound.call, xs, g), stacks), want)
    with noting("a batch of tangents"):
        rng = numbers(bound)
        ts = [[rng.standard_normal(x.shape) for x in bound.inputs] for _ in range(count)]
        want = stacked([pushed(bound, tensors(row)) for row in ts])
        stacks = tensors([np.stack(column) for column in zip(*ts, strict=True)])
        equal(along(lambda level, t: pushed(bound, t, level), stacks), want)
    with noting("the VJP of every entry"):
        wrt = [[e.leaves[k] for k in e.wrt] for e in batch.entries]
        want = stacked([pulled_back(bound.call, leaves(x), tensors(g)) for x, g in zip(wrt, gs, strict=True)])
        rows = [x + g for x, g in zip(wrt, gs, strict=True)]
        stacks = tensors([np.stack(column) for column in zip(*rows, strict=True)])
        size = len(bound.inputs)

        def pull(entries: list[Any]) -> list[Any]:
            return pulled_back(bound.call, [core._unlink(x).requires_grad_() for x in entries[:size]], entries[size:])

        equal(mapped(pull, stacks, range(len(stacks))), want)


def pushed(bound: Bound, tangents: Sequence[Any], along: int | None = None) -> list[Any]:
    """The tangents of the outputs; zeros for those that have none."""
    level = core._enter_dual_level()
    try:
        pairs = zip(tensors(bound.inputs), tangents, strict=True)
        make = core._make_dual if along is None else lambda x, t, at: core._make_dual_along(x, t, at, along)
        ys = [core._unpack_dual(y, level) for y in bound.call([make(x, t, level) for x, t in pairs])]
        return [core.zeros_like(y) if t is None else t for y, t in ys]
    finally:
        core._exit_dual_level(level)
