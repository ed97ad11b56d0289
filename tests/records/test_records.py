"""Every claim of every record, checked. One test per claim and sample; the tables are the modules beside this one."""

from __future__ import annotations

import contextlib
import operator
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from checker.differences import check_adjoint, check_jvp, check_vjp, normal_like
from records import (
    STANDIN,
    activations,
    arrange,
    attention,
    contract,
    conv,
    copies,
    create,
    factor,
    fourier,
    functions,
    image,
    index,
    layers,
    losses,
    made,
    masked,
    matmul,
    memory,
    native,
    nn,
    order,
    place,
    pointwise,
    pool,
    reduce,
    rg,
    running,
    sampling,
    segments,
    sets,
    sparse,
    spectra,
    statistics,
    view,
)
from records.bound import Bound, array, dtype_of, lay_out, tensors_of
from records.derivatives import Op, backward_of, forward_mode, jvp_of, leaves, on_arrays, pulled_back, second, vjp_of
from records.record import COMPLEX, FLOATS, Array, Edge, OpRecord, Refusal, Sample, s, t

FAMILIES = (
    create,
    memory,
    pointwise,
    reduce,
    order,
    view,
    index,
    matmul,
    nn,
    functions,
    activations,
    losses,
    arrange,
    place,
    running,
    contract,
    copies,
    sets,
    statistics,
    made,
    conv,
    attention,
    layers,
    pool,
    image,
    sampling,
    factor,
    spectra,
    fourier,
    sparse,
    native,
    masked,
    segments,
)
NATIVE = STANDIN == "retrograd"
RECORDS: list[OpRecord] = [record for family in FAMILIES for record in family.RECORDS]

Where = Callable[[OpRecord], bool]


def cases(where: Where = lambda _: True) -> pytest.MarkDecorator:
    """Parametrise by record and sample."""
    rows = [pytest.param(r, sample, id=f"{r.name}{sample}") for r in RECORDS if where(r) for sample in r.samples]
    return pytest.mark.parametrize(("record", "sample"), rows)


def takes_tensors(record: OpRecord) -> bool:
    return any(Bound(record, sample).leaves for sample in record.samples)


def derivatives(record: OpRecord) -> bool:
    return record.differentiable


@contextlib.contextmanager
def noting(what: object) -> Iterator[None]:
    """Say in the failure which turn of a loop it was."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"with {what}")
        raise


def records(where: Where) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("record", [pytest.param(r, id=r.name) for r in RECORDS if where(r)])


def attached(kind: str) -> pytest.MarkDecorator:
    """Parametrise by the record's refusals or edges."""
    rows = [
        pytest.param(record, row, id=f"{record.name}{row.sample}" + "_" * getattr(row, "inplace", False))
        for record in RECORDS
        for row in getattr(record, kind)
    ]
    return pytest.mark.parametrize(("record", kind.rstrip("s") if kind == "edges" else "refusal"), rows)


def agree(got: Sequence[Any], want: Sequence[Array], dtypes: Sequence[str], slack: float, values: bool = True) -> None:
    """Outputs equal the reference in number, dtype, shape and, within `slack` last places, values."""
    assert len(got) == len(want), f"{len(got)} outputs, expected {len(want)}"
    for y, ref, dtype in zip(got, want, dtypes, strict=True):
        assert dtype_of(y) == dtype
        assert tuple(y.shape) == ref.shape
        if values and dtype in (*FLOATS, *COMPLEX):
            bound = slack * float(
                np.finfo(dtype).eps
            )  # inputs and outputs are of order one: absolute and relative alike
            wide = np.float64 if dtype in FLOATS else np.complex128
            np.testing.assert_allclose(array(y).astype(wide), ref, rtol=bound, atol=bound)
        elif values:
            np.testing.assert_array_equal(array(y), ref.astype(dtype))


class Untouched:
    """These tensors keep their numbers and their versions."""

    def __init__(self, tensors: Iterable[Any]) -> None:
        self.before = [(x, array(x), x._version) for x in tensors]

    def check(self) -> None:
        for x, values, version in self.before:
            np.testing.assert_array_equal(array(x), values)
            assert x._version == version


def numbers(bound: Bound) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(f"{bound.sample}{bound.record.name}".encode()))


def test_every_op_has_a_record() -> None:
    names = [name for record in RECORDS for name in record.names]
    assert len(names) == len(set(names)), "two records of one name"
    if not NATIVE:
        pytest.skip("only retrograd has a roster")
    assert sorted(names) == sorted(rg._core._op_names())


@cases()
def test_forward_equals_the_reference(record: OpRecord, sample: Sample) -> None:
    for dtype in sample.dtypes or record.dtypes:
        with noting(dtype):
            bound = Bound(record, sample, dtype)
            tensors = bound.tensors()
            untouched = Untouched(tensors)
            want = bound.expected()
            agree(tensors_of(bound.run(tensors)), want, bound.result_dtypes(want), record.slack, sample.values)
            untouched.check()


@cases(lambda r: r.layouts and takes_tensors(r))
def test_memory_layout_changes_nothing(record: OpRecord, sample: Sample) -> None:
    for layout in sample.layouts:
        with noting(layout):
            bound = Bound(record, sample, expanded=layout == "expanded")
            plain, laid = bound.tensors(grad=record.differentiable), bound.tensors(layout, grad=record.differentiable)
            want = bound.expected()
            got = bound.run(laid)
            agree(tensors_of(got), want, bound.result_dtypes(want), record.slack, sample.values)
            if record.differentiable:
                ys = _floats(got)
                gs = [lay_out(numbers(bound).standard_normal(y.shape), layout).to(y.dtype) for y in ys]
                ours = pulled_back(lambda _, ys=ys: ys, [laid[k] for k in bound.wrt], gs)  # type: ignore[misc]
                ys = _floats(bound.run(plain))
                theirs = pulled_back(lambda _, ys=ys: ys, [plain[k] for k in bound.wrt], gs)  # type: ignore[misc]
                for a, b in zip(ours, theirs, strict=True):
                    np.testing.assert_allclose(array(a), array(b), rtol=1e-12, atol=1e-12)


def _floats(outputs: Any) -> list[Any]:
    return [y for y in tensors_of(outputs) if dtype_of(y) in FLOATS]


@cases(derivatives)
def test_vjp_equals_differences(record: OpRecord, sample: Sample) -> None:
    bound = Bound(record, sample)
    if sample.smooth:
        check_vjp(on_arrays(bound.call), vjp_of(bound.call), bound.inputs, numbers(bound))


@pytest.mark.skipif(forward_mode() is None, reason="the package has no forward mode yet")
@cases(derivatives)
def test_jvp_equals_differences_and_vjp(record: OpRecord, sample: Sample) -> None:
    bound = Bound(record, sample)
    jvp, f = jvp_of(bound.call), on_arrays(bound.call)
    if sample.smooth and (sample.sound or NATIVE):
        check_jvp(f, jvp, bound.inputs, numbers(bound))
        check_adjoint(jvp, vjp_of(bound.call), bound.inputs, f(bound.inputs), numbers(bound))


@cases(derivatives)
def test_vjp_of_the_vjp_equals_differences(record: OpRecord, sample: Sample) -> None:
    bound = Bound(record, sample)
    rng = numbers(bound)
    cotangents = [normal_like(y, rng) for y in on_arrays(bound.call)(bound.inputs)]
    op = second(bound.call, len(bound.inputs))
    if sample.smooth and (sample.sound or NATIVE):
        check_vjp(on_arrays(op), vjp_of(op), [*bound.inputs, *cotangents], rng)


@cases(derivatives)
def test_jvp_of_the_vjp_equals_differences(record: OpRecord, sample: Sample) -> None:
    bound = Bound(record, sample)
    rng, count = numbers(bound), len(bound.inputs)
    cotangents = [normal_like(y, rng) for y in on_arrays(bound.call)(bound.inputs)]
    if sample.smooth and (sample.sound or NATIVE):
        gradients = on_arrays(second(bound.call, count))
        check_jvp(gradients, jvp_of(backward_of(bound.call, count)), [*bound.inputs, *cotangents], rng)


@attached("edges")
def test_gradient_at_edges(record: OpRecord, edge: Edge) -> None:
    bound = Bound(record, edge.sample)
    inputs = leaves(bound.inputs)
    [y] = bound.call(inputs)
    cotangent = lay_out(np.asarray(edge.cotangent)).to(y.dtype)
    grads = rg.autograd.grad(y, inputs, cotangent, create_graph=edge.again is not None)
    for x, grad, want in zip(inputs, grads, edge.grads, strict=True):
        assert dtype_of(grad) == dtype_of(x)
        np.testing.assert_allclose(array(grad), want, rtol=1e-12)
    if edge.again is not None:
        seconds = rg.autograd.grad(sum(g.sum() for g in grads), inputs)
        for grad, want in zip(seconds, edge.again, strict=True):
            np.testing.assert_allclose(array(grad), want, rtol=1e-12)


@records(lambda r: r.method)
def test_method_equals_function(record: OpRecord) -> None:
    for sample in record.samples:
        with noting(sample):
            bound = Bound(record, sample)
            if sample.values:
                same(bound.run(bound.tensors()), bound.run(bound.tensors(), call=operator_of_method(record.short)))


@records(lambda r: r.operator is not None)
def test_operator_equals_function(record: OpRecord) -> None:
    for sample in record.samples:
        with noting(sample):
            if sample.kwargs:
                continue
            assert record.operator is not None
            bound = Bound(record, sample)
            same(bound.run(bound.tensors()), bound.run(bound.tensors(), call=record.operator))
            augmented = getattr(operator, "i" + record.operator.__name__.rstrip("_"), None)
            if augmented and record.inplace and stays_itself(bound):
                x, *rest = bound.tensors()
                before = x._version
                result = bound.run([x, *rest], call=augmented)
                assert result is x and x._version == before + 1
                same(x, bound.run(bound.tensors()))


@records(lambda r: r.operator is not None and len(r.samples[0].args) == 2 and r.inplace | (r.result == "bool"))
def test_operator_with_a_number_on_either_side(record: OpRecord) -> None:
    assert record.operator is not None
    bound = Bound(record, s(t(3, 4)))
    [x], dtypes = bound.leaves, ["bool" if record.result == "bool" else bound.dtype]
    for number in (2, 0.75) if bound.dtype in FLOATS else (2,):
        agree([record.operator(lay_out(x), number)], [record.reference(x, number)], dtypes, record.slack)
        agree([record.operator(number, lay_out(x))], [record.reference(number, x)], dtypes, record.slack)
    with pytest.raises(TypeError):
        result_of_foreign = record.operator(lay_out(x), object())
        if isinstance(result_of_foreign, bool):  # == and != fall back to identity
            raise TypeError


def same(got: Any, want: Any) -> None:
    """Equal to the last bit."""
    for a, b in zip(tensors_of(got), tensors_of(want), strict=True):
        assert dtype_of(a) == dtype_of(b)
        np.testing.assert_array_equal(array(a), array(b), strict=True)


def operator_of_method(name: str) -> Callable[..., Any]:
    return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)


def stays_itself(bound: Bound) -> bool:
    """Whether the result fits into the first argument."""
    return bool(bound.leaves) and bound.sample.values and bound.expected()[0].shape == bound.leaves[0].shape


@records(lambda r: r.inplace and (NATIVE or "inplace" not in r.lacks))
def test_inplace_equals_out_of_place(record: OpRecord) -> None:
    for sample in record.samples:
        with noting(sample):
            bound = Bound(record, sample)
            if not stays_itself(bound):
                continue
            inplace_method = operator_of_method(record.inplace_method)
            results = []
            for call in (None, inplace_method):
                tensors = bound.tensors(grad=record.differentiable)
                inputs = [tensors[k] for k in bound.wrt]
                x = tensors[0].clone()
                before = x._version
                y = bound.run([x, *tensors[1:]], call=call)
                if call:
                    assert y is x and x._version > before
                results.append([y.to(rg.float64)])
                if record.differentiable:
                    random = numbers(bound).standard_normal
                    grads = pulled_back(lambda _, y=y: [y], inputs, [lay_out(random(y.shape))], graph=True)  # type: ignore[misc]
                    again = [lay_out(random(g.shape)) for g in grads]
                    seconds = pulled_back(lambda _, grads=grads: grads, inputs, again)  # type: ignore[misc]
                    results[-1] += [*grads, *seconds]
            for ours, theirs in zip(*results, strict=True):
                np.testing.assert_allclose(array(ours), array(theirs), rtol=1e-14, atol=1e-14)


def gradients_of(bound: Bound, call: Callable[..., Any] | None, cotangents: list[Any]) -> Op:
    """The VJP of the op, or of `call` on a copy of the first argument, as an op of its own."""

    def gradients(values: Sequence[Any]) -> list[Any]:
        tensors = bound.tensors()
        for k, x in zip(bound.wrt, values, strict=True):
            tensors[k] = x.requires_grad_()
        run = lambda _: [bound.run([tensors[0].clone(), *tensors[1:]], call=call)]  # noqa: E731
        return pulled_back(run, [tensors[k] for k in bound.wrt], cotangents)

    return gradients


@records(lambda r: r.inplace and r.differentiable and (NATIVE or "inplace" not in r.lacks))
def test_forward_over_reverse_through_an_inplace_op(record: OpRecord) -> None:
    push = forward_mode()
    assert push is not None
    for sample in record.samples:
        with noting(sample):
            bound = Bound(record, sample)
            if not stays_itself(bound) or not sample.smooth or not (sample.sound or NATIVE):
                continue
            cotangents = [lay_out(numbers(bound).standard_normal(y.shape)) for y in bound.call(leaves(bound.inputs))]
            tangents = [lay_out(numbers(bound).standard_normal(x.shape)) for x in bound.inputs]
            found = []
            for call in (None, operator_of_method(record.inplace_method)):
                pushed = push(gradients_of(bound, call, cotangents), [lay_out(x) for x in bound.inputs], tangents)
                pairs = zip(pushed, bound.inputs, strict=True)
                found.append([np.zeros(x.shape) if t is None else array(t) for t, x in pairs])
            for ours, theirs in zip(*found, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13)


@records(lambda r: r.inplace and r.differentiable)
def test_inplace_refuses_a_leaf_that_requires_grad(record: OpRecord) -> None:
    fitting = (x for x in record.samples if stays_itself(Bound(record, x)))
    bound = Bound(record, next(fitting, record.samples[0]))
    tensors = bound.tensors(grad=True)
    untouched = Untouched(tensors)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        bound.run(tensors, call=operator_of_method(record.inplace_method))
    untouched.check()


@records(lambda r: r.out)
def test_out_equals_the_result(record: OpRecord) -> None:
    for sample in (x for x in record.samples if x.sound or NATIVE):
        with noting(sample):
            bound = Bound(record, sample)
            want = bound.run(bound.tensors())
            outs = [rg.empty_like(y) for y in tensors_of(want)]
            versions = [y._version for y in outs]
            got = bound.run(bound.tensors(), out=outs[0] if isinstance(want, rg.Tensor) else tuple(outs))
            assert all(a is b for a, b in zip(tensors_of(got), outs, strict=True))
            assert all(y._version > before for y, before in zip(outs, versions, strict=True))
            same(outs, want)


@records(lambda r: r.out and r.differentiable and (NATIVE or "out" not in r.lacks))
def test_out_refuses_to_be_recorded(record: OpRecord) -> None:
    bound = Bound(record, record.samples[0])
    want = bound.run(bound.tensors())
    outs = [rg.zeros_like(y) for y in tensors_of(want)]
    tensors = bound.tensors(grad=True)
    untouched = Untouched([*tensors, *outs])
    with pytest.raises(RuntimeError, match=r"out=.* don't support automatic differentiation"):
        bound.run(tensors, out=outs[0] if isinstance(want, rg.Tensor) else tuple(outs))
    untouched.check()


@records(lambda r: r.view)
def test_views_share_memory_and_version(record: OpRecord) -> None:
    for sample in record.samples:
        with noting(sample):
            bound = Bound(record, sample)
            tensors = bound.tensors()
            base = tensors[0]
            for y in tensors_of(bound.run(tensors)):
                before = y._version
                base.fill_(7.0)
                assert y._version == base._version > before
                assert (array(y) == 7.0).all()
                if not covers_itself(y):
                    y.fill_(5.0)
                    assert y.numel() == 0 or 5.0 in array(base)
                assert y._version == base._version


def covers_itself(y: Any) -> bool:
    """Whether several entries lie in one place, so that writing to them is refused."""
    return len(np.unique(places(y))) < int(y.numel())


def places(y: Any) -> Array:
    """Where in memory the entries lie."""
    steps = [np.arange(n) * step for n, step in zip(y.shape, y.stride(), strict=True)]
    return np.asarray(sum(np.ix_(*steps)) if steps else np.zeros(1))


@attached("refuses")
def test_refusals_change_nothing(record: OpRecord, refusal: Refusal) -> None:
    if not (refusal.sound or NATIVE):
        pytest.skip("the stand-in changes its inputs")
    bound = Bound(record, refusal.sample, refusal.dtype)
    tensors = bound.tensors()
    untouched = Untouched(tensors)
    call = operator_of_method(record.inplace_method) if refusal.inplace else None
    with pytest.raises(refusal.error, match=refusal.says) as raised:
        bound.run(tensors, call=call)
    if NATIVE:
        assert re.search(refusal.ours, str(raised.value))
        named = record.called or record.short.strip("_")
        assert re.search(re.escape(named), str(raised.value)), f"{raised.value} does not name {named}"
    untouched.check()


@records(takes_tensors)
def test_a_foreign_object_is_a_type_error(record: OpRecord) -> None:
    bound = Bound(record, next(x for x in record.samples if Bound(record, x).leaves))
    with pytest.raises((TypeError, AttributeError)):  # AttributeError where the function is written in Python
        bound.run([object()] * len(bound.leaves))


def test_a_result_that_differs_is_seen() -> None:
    """The comparison that all forward tests rest on."""
    want = [np.linspace(1.0, 2.0, 5)]
    agree([lay_out(want[0])], want, ["float64"], 8.0)
    wrong: list[Array] = [want[0] * 1.001, want[0][:4], want[0][None], want[0].astype(np.float32)]
    for values in [*wrong, want[0][::-1].copy(), np.where(want[0] > 1.9, np.nan, want[0])]:
        with pytest.raises(AssertionError):
            agree([lay_out(values)], want, ["float64"], 8.0)
    with pytest.raises(AssertionError):
        agree([], want, [], 8.0)


@pytest.mark.parametrize("golden", [pytest.param(g, id=g.name) for g in create.STREAMS])
def test_random_streams_equal_the_recorded_ones(golden: create.Stream) -> None:
    rg.manual_seed(golden.seed)
    by_default = array(golden.draw(rg))
    golden.check(by_default)
    generator = rg.Generator()
    generator.manual_seed(golden.seed)
    np.testing.assert_array_equal(array(golden.draw(rg, generator=generator)), by_default)
    state = rg.get_rng_state()
    again = array(golden.draw(rg))
    rg.set_rng_state(state)
    np.testing.assert_array_equal(array(golden.draw(rg)), again)


def test_dropout_zeroes_its_share_and_scales_the_rest() -> None:
    rg.manual_seed(1)
    y = array(rg.nn.functional.dropout(rg.ones(20_000, dtype=rg.float64), 0.25))
    np.testing.assert_allclose(np.unique(y), [0.0, 1 / 0.75], rtol=1e-15)
    assert abs((y == 0).mean() - 0.25) < 0.0125  # four standard deviations
