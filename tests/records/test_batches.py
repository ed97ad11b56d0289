"""Every op on a batch, by its batching rule, against a loop over the entries; its derivatives as well."""

from __future__ import annotations

import contextlib
import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from checker.differences import normal_like
from records import rg
from records.batches import Batch, along, core, mapped, stacked
from records.bound import Bound, array, dtype_of, lay_out, tensors_of
from records.derivatives import Op, leaves, pulled_back
from records.record import FLOATS, Array, OpRecord, Sample
from records.test_records import NATIVE, cases, noting, numbers, operator_of_method, stays_itself, takes_tensors

pytestmark = pytest.mark.skipif(not NATIVE, reason="the stand-in has batches of its own")

# In units of the last place: sums over a batch may be in another order.
SLACK = 64.0


def slack(record: OpRecord) -> float:
    """Some matrices are decomposed together, in another way than one alone: as far off as the op's results may be."""
    return max(SLACK, record.slack) if record.name.startswith("linalg.") else SLACK


def equal(got: Sequence[Any], want: Sequence[Array], slack: float) -> None:
    assert len(got) == len(want)
    for y, ref in zip(got, want, strict=True):
        assert array(y).dtype == ref.dtype
        assert tuple(y.shape) == ref.shape
        if dtype_of(y) in FLOATS:
            bound = slack * float(np.finfo(ref.dtype).eps)
            np.testing.assert_allclose(array(y), ref, rtol=bound, atol=bound)
        else:
            np.testing.assert_array_equal(array(y), ref)


def expect_loops(record: OpRecord) -> None:
    """Lets the rest of a test pass where an op warns that it runs once for each entry."""
    if record.loops:
        warnings.filterwarnings("ignore", rf"There is a performance drop because {record.short} has no batching rule")


def batches(record: OpRecord) -> bool:
    return takes_tensors(record) and record.seed is None


@cases(batches)
def test_a_batch_equals_a_loop(record: OpRecord, sample: Sample) -> None:
    expect_loops(record)
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
                    equal(got, stacked(loop), slack(record))


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
    if record.sparse:
        return pytest.raises(NotImplementedError, match=r"no batches of sparse tensors"), False
    if not computes(record, bound):
        return pytest.raises(RuntimeError, match=r"data-dependent control flow|dynamic shape|num_classes"), False
    if isinstance(record.reads, tuple) and any(k in record.reads and of_integers(bound, k) for k in batched):
        return pytest.raises(RuntimeError, match=r"data-dependent control flow"), False
    choosing = record.short in ("__getitem__", "__setitem__", "masked_select")
    masks = choosing and any(bound.specs[k].dtype == "bool" for k in batched if k)
    writes = record.short == "__setitem__" or (record.short.endswith("_") and not record.short.endswith("__"))
    if masks or (writes and 0 not in batched):
        return pytest.raises(RuntimeError, match=r"mask|is not possible because|data-dependent"), False
    return contextlib.nullcontext(), True


def of_integers(bound: Bound, k: int) -> bool:
    """Whether an operand holds integers, or is a mask of those that the first one holds."""
    kinds = [leaf.dtype.kind for leaf in bound.leaves]
    return kinds[k] in "iu" or (kinds[k] == "b" and kinds[0] in "iu")


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
            want = stacked([[call(row)] for row in rows])
            equal(mapped(call, batch.tensors(batched, 0), batched), want, slack(record))


def cotangents(bound: Bound, count: int) -> list[list[Array]]:
    rng = numbers(bound)
    outputs = [array(y.detach()) for y in bound.call(leaves(bound.inputs))]
    return [[normal_like(y, rng) for y in outputs] for _ in range(count)]


def tensors(values: Sequence[Array]) -> list[Any]:
    return [lay_out(np.asarray(v)) for v in values]


@cases(lambda r: batches(r) and r.differentiable and not r.sparse)
def test_derivatives_of_a_batch_equal_a_loop(record: OpRecord, sample: Sample) -> None:
    expect_loops(record)
    batch = Batch(record, sample)
    bound, count = batch.first, len(batch.entries)
    if not sample.smooth or not bound.inputs:
        return
    with noting("a batch of cotangents"):
        gs = cotangents(bound, count)
        xs = leaves(bound.inputs)
        want = stacked([pulled_back(bound.call, xs, tensors(g)) for g in gs])
        stacks = tensors([np.stack(column) for column in zip(*gs, strict=True)])
        equal(along(lambda _, g: pulled_back(bound.call, xs, g), stacks), want, slack(record))
    with noting("a batch of tangents"):
        rng = numbers(bound)
        ts = [[normal_like(x, rng) for x in bound.inputs] for _ in range(count)]
        xs = tensors(bound.inputs)
        want = stacked([pushed(bound.call, xs, tensors(row)) for row in ts])
        stacks = tensors([np.stack(column) for column in zip(*ts, strict=True)])
        equal(along(lambda level, t: pushed(bound.call, xs, t, level), stacks), want, slack(record))
    entries_differentiate_alike(batch, bound.call, bound.call)


def entries_differentiate_alike(batch: Batch, call: Op, alone: Op) -> None:
    """The VJP and the JVP of `call`, a function of the differentiable inputs of an entry, for all entries at once,
    against those of `alone` one after the other."""
    size, inputs = len(batch.first.inputs), [[e.leaves[k] for k in e.wrt] for e in batch.entries]
    rng = numbers(batch.first)
    outputs = [array(y.detach()) for y in alone(leaves(batch.first.inputs))]
    with noting("the VJP of every entry"):
        gs = [[normal_like(y, rng) for y in outputs] for _ in inputs]
        want = stacked([pulled_back(alone, leaves(x), tensors(g)) for x, g in zip(inputs, gs, strict=True)])
        stacks = tensors([np.stack(column) for column in zip(*map(operator.add, inputs, gs), strict=True)])

        def pull(entries: list[Any]) -> list[Any]:
            return pulled_back(call, [core._variable(x) for x in entries[:size]], entries[size:])

        equal(mapped(pull, stacks, range(len(stacks))), want, slack(batch.first.record))
    with noting("the JVP of every entry"):
        ts = [[normal_like(x, rng) for x in row] for row in inputs]
        want = stacked([pushed(alone, tensors(x), tensors(t)) for x, t in zip(inputs, ts, strict=True)])
        stacks = tensors([np.stack(column) for column in zip(*map(operator.add, inputs, ts), strict=True)])
        equal(
            mapped(lambda e: pushed(call, e[:size], e[size:]), stacks, range(len(stacks))),
            want,
            slack(batch.first.record),
        )


def pushed(call: Op, inputs: Sequence[Any], tangents: Sequence[Any], along: int | None = None) -> list[Any]:
    """The tangents of the outputs; zeros for those that have none."""
    with core._private_dual_level() as level:
        pairs = zip(inputs, tangents, strict=True)
        make = core._make_dual if along is None else lambda x, t, at: core._make_dual_along(x, t, at, along)
        ys = [core._unpack_dual(y, level) for y in call([make(x, t, level) for x, t in pairs])]
        return [core.zeros_like(y) if t is None else t for y, t in ys]


def written(bound: Bound, write: Callable[..., Any] | None, target: Callable[[Any], tuple[Any, Any]]) -> Op:
    """The op in place: `target` makes of its first operand the tensor that is written, and the one to look at. Without
    `write` the same out of place."""

    def call(inputs: Sequence[Any]) -> list[Any]:
        filled = bound.tensors()
        for k, x in zip(bound.wrt, inputs, strict=True):
            filled[k] = x
        if write is None:
            return [bound.run(filled)]
        filled[0], seen = target(filled[0])
        bound.run(filled, call=write)
        return [seen]

    return call


def itself(x: Any) -> tuple[Any, Any]:
    y = x * 1
    return y, y


def its_base(x: Any) -> tuple[Any, Any]:
    y = rg.stack([x * 2, x * 1])
    return y[1], y


def a_view_of_it(x: Any) -> tuple[Any, Any]:
    y = x * 1
    return y, y[...]


@cases(lambda r: batches(r) and r.inplace and r.differentiable)
def test_derivatives_of_a_batch_written_in_place(record: OpRecord, sample: Sample) -> None:
    batch = Batch(record, sample)
    bound, method = batch.first, operator_of_method(record.inplace_method)
    if not sample.smooth or 0 not in bound.wrt or not all(map(stays_itself, batch.entries)):
        return
    alone = written(bound, None, itself)
    for target in (itself, a_view_of_it):
        with noting(f"{target.__name__} looked at"):
            entries_differentiate_alike(batch, written(bound, method, target), alone)
    with noting("its base looked at"):
        both = lambda xs: [rg.stack([xs[bound.wrt.index(0)] * 2, *alone(xs)])]  # noqa: E731
        entries_differentiate_alike(batch, written(bound, method, its_base), both)


@cases(lambda r: batches(r) and r.view and r.differentiable)
def test_derivatives_of_a_batch_with_a_view_and_a_write(record: OpRecord, sample: Sample) -> None:
    batch = Batch(record, sample)
    bound = batch.first
    if not sample.smooth or bound.wrt != [0]:
        return
    x = bound.leaves[0]
    numbered = np.arange(x.size).reshape(x.shape)
    places = bound.run([lay_out(numbered), *bound.tensors()[1:]])
    if not isinstance(places, rg.Tensor):
        return  # of an op with several results, no view may be written
    with noting("the base is written, the view read"):

        def read(xs: Sequence[Any]) -> list[Any]:
            y = xs[0] * 1
            view = bound.call([y])
            y.mul_(3.0)
            return view

        entries_differentiate_alike(batch, read, lambda xs: [bound.call([xs[0]])[0] * 3.0])
    if np.unique(array(places)).size < places.numel():
        return
    with noting("the view is written, the base read"):
        factors = tensors([np.where(np.isin(numbered, array(places)), 3.0, 1.0)])[0]

        def write(xs: Sequence[Any]) -> list[Any]:
            y = xs[0] * 1
            bound.call([y])[0].mul_(3.0)
            return [y]

        entries_differentiate_alike(batch, write, lambda xs: [xs[0] * factors])
