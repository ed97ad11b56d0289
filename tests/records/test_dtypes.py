"""Complex numbers and halves: what the records claim of them, and the derivatives of ops that take complex numbers.

And of every dtype that ops take what they declare, and no other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from checker.differences import check_adjoint, check_jvp, check_vjp, normal_like
from records import rg
from records.bound import Bound, array, dtype_of, lay_out, tensors_of
from records.derivatives import backward_of, jvp_of, leaves, on_arrays, pulled_back, second, vjp_of
from records.record import ALL, COMPLEX, HALVES, STORED, Dtype, OpRecord, Sample
from records.test_records import NATIVE, cases, noting, numbers, records


def general(sample: Sample) -> bool:
    """Whether the sample is one of any dtype."""
    values = (*sample.args, *sample.kwargs.values())
    return sample.dtypes is None and not any(isinstance(v, Dtype) for v in values)


@cases(lambda r: r.complex)
def test_complex_results_equal_the_reference(record: OpRecord, sample: Sample) -> None:
    if not general(sample):
        return
    for dtype in COMPLEX:
        with noting(dtype):
            bound = Bound(record, sample, dtype)
            for layout in ("contiguous", "stepped", "transposed", "conjugated"):
                tensors = bound.tensors(layout)
                try:
                    got = tensors_of(bound.run(tensors))
                except NotImplementedError:
                    assert sample is not record.samples[0], "the op takes complex numbers"
                    return  # these arguments are for real numbers
                for y, ref in zip(got, bound.expected(), strict=True):
                    same_precision = {"complex128": ("complex128", "float64"), "complex64": ("complex64", "float32")}
                    numeric = ref.dtype.kind in "fc"
                    assert dtype_of(y) == (same_precision[dtype][ref.dtype.kind != "c"] if numeric else ref.dtype.name)
                    assert tuple(y.shape) == ref.shape
                    bound_ = 2 * record.slack * float(np.finfo(dtype).eps)
                    np.testing.assert_allclose(array(y), ref, rtol=bound_, atol=bound_)


@cases(lambda r: r.differentiable)
def test_complex_derivatives_equal_differences(record: OpRecord, sample: Sample) -> None:
    """Of every op in the roster that takes complex numbers, marked or not: a rule that lacks its conjugates is red.

    Samples of real numbers, and ops that refuse complex ones, have nothing to compare.
    """
    if not (general(sample) and sample.smooth and sample.sound):
        return
    bound = Bound(record, sample, "complex128")
    inputs = bound.inputs
    try:
        ys = on_arrays(bound.call)(inputs)
    except (NotImplementedError, RuntimeError, TypeError, ValueError, IndexError):
        assert not (record.complex and sample is record.samples[0]), "the op takes complex numbers"
        return  # as good as right derivatives
    if not any(np.iscomplexobj(x) for x in inputs):
        return
    f, rng, count = on_arrays(bound.call), numbers(bound), len(inputs)
    try:
        check_vjp(f, vjp_of(bound.call), inputs, rng)
        check_jvp(f, jvp_of(bound.call), inputs, rng)
        check_adjoint(jvp_of(bound.call), vjp_of(bound.call), inputs, ys, rng)
        cotangents = [normal_like(y, rng) for y in ys]
        again = second(bound.call, count)
        check_vjp(on_arrays(again), vjp_of(again), [*inputs, *cotangents], rng)
        check_jvp(on_arrays(again), jvp_of(backward_of(bound.call, count)), [*inputs, *cotangents], rng)
    except NotImplementedError:
        assert not record.complex, "the op has derivatives by complex numbers"
        return


@cases(lambda r: r.complex and r.differentiable)
def test_conjugates_that_wait_have_the_derivatives_of_others(record: OpRecord, sample: Sample) -> None:
    """Rules may read memory: operands, saved tensors and cotangents with lazy bits are none of their business."""
    if not (general(sample) and sample.smooth and sample.sound):
        return
    bound = Bound(record, sample, "complex128")
    rng = numbers(bound)
    try:
        cotangents = [normal_like(y, rng) for y in on_arrays(bound.call)(bound.inputs)]
    except (NotImplementedError, RuntimeError, TypeError):
        return
    plain, lazy = (
        pulled_back(
            bound.call,
            [lay_out(x, how).requires_grad_() for x in bound.inputs],
            [lay_out(np.asarray(g), how) for g in cotangents],
        )
        for how in ("contiguous", "conjugated")
    )
    for a, b in zip(plain, lazy, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(array(b), array(a), rtol=1e-14, atol=1e-14)


@cases(lambda r: r.complex and r.differentiable)
def test_a_real_operand_beside_a_complex_one_gets_real_gradients(record: OpRecord, sample: Sample) -> None:
    if not (general(sample) and sample.smooth and sample.sound):
        return
    bound = Bound(record, sample, "complex128")
    if len(bound.inputs) < 2:
        return
    inputs = [np.array(bound.inputs[0].real), *bound.inputs[1:]]
    try:
        ys = on_arrays(bound.call)(inputs)
    except (NotImplementedError, RuntimeError):
        return  # the op takes operands of one dtype
    rng = numbers(bound)
    check_vjp(on_arrays(bound.call), vjp_of(bound.call), inputs, rng)
    check_jvp(on_arrays(bound.call), jvp_of(bound.call), inputs, rng)
    [gradient, *_] = pulled_back(bound.call, leaves(inputs), [lay_out(normal_like(y, rng)) for y in ys])
    assert gradient.dtype is rg.float64


def last_places(x: Any, dtype: str) -> Any:
    """The halves in order of size, as numbers: neighbours differ by 1."""
    bits = array(x.view(rg.int16)).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFF), bits)


@cases(lambda r: r.halves is not None)
def test_halves_are_computed_with_in_float32(record: OpRecord, sample: Sample) -> None:
    if not (general(sample) and NATIVE):
        pytest.skip("a sample of other numbers")
    for name in HALVES:
        with noting(name):
            dtype = getattr(rg, name)
            bound = Bound(record, sample, "float32")
            for layout in ("contiguous", "stepped", "transposed"):
                halves = [x.to(dtype) if x.is_floating_point() else x for x in bound.tensors(layout)]
                wide = [x.float() if x.is_floating_point() else x for x in halves]
                got, want = tensors_of(bound.run(halves)), tensors_of(bound.run(wide))
                for y, ref in zip(got, want, strict=True):
                    if ref.dtype is not rg.float32:
                        assert y.dtype is ref.dtype and np.array_equal(array(y), array(ref))
                        continue
                    assert y.dtype is dtype
                    places = last_places(y.contiguous(), name) - last_places(ref.to(dtype).contiguous(), name)
                    assert np.abs(places).max(initial=0) <= (record.halves or 0)
            if record.differentiable and bound.wrt:
                x = [h.detach() for h in halves]
                wrt = [x[k].requires_grad_() for k in bound.wrt]
                ys = tensors_of(bound.run(x))
                if not any(y.requires_grad for y in ys):
                    leaves_ = [w.detach().requires_grad_(h.requires_grad) for w, h in zip(wide, x, strict=True)]
                    assert not any(y.requires_grad for y in tensors_of(bound.run(leaves_))), "in float32 neither"
                    continue
                sum_of_all = sum(y.float().sum() for y in ys if y.is_floating_point())
                for grad in rg.autograd.grad(sum_of_all, wrt, allow_unused=True):
                    assert grad is None or grad.dtype is dtype


# Ops that refuse a dtype which they declare, in torch's words: argmax of bools, the difference of bools, and so on.
IN_OTHER_WORDS = {"argmax", "isin", "random_", "sub"}


def drawn(record: OpRecord, sample: Sample, dtype: str) -> Bound:
    """The sample with numbers that the dtype has, or that become numbers of it."""
    try:
        return Bound(record, sample, {"complex32": "complex64"}.get(dtype, "float32" if dtype in HALVES else dtype))
    except OverflowError:  # given numbers, of which some are negative
        return Bound(record, sample, "float32")


@pytest.mark.skipif(not NATIVE, reason="what ops declare is retrograd's own")
@records(lambda r: any(general(sample) for sample in r.samples))
def test_ops_take_the_dtypes_that_they_declare(record: OpRecord) -> None:
    """Each dtype is tried: what an op does not declare is refused before it runs, and what it declares is not."""
    sample = next(filter(general, record.samples))
    for name in (*ALL, *HALVES, *COMPLEX, *STORED):
        bound = drawn(record, sample, name)
        dtype = getattr(rg, name)
        tensors = [x if spec.dtype else x.to(dtype) for x, spec in zip(bound.tensors(), bound.specs, strict=True)]
        error, ran = rg._core._observed(lambda bound=bound, tensors=tensors: bound.run(tensors))
        undeclared = [(op, computed) for op, computed, declared in ran if computed not in declared]
        with noting(f"{name}: {ran} and then {error!r}"):
            assert "internal error" not in str(error)
            if error is None:
                assert not undeclared
            elif undeclared:
                assert undeclared == [ran[-1][:2]] and isinstance(error, NotImplementedError)
                assert "not implemented for" in str(error)
            elif error is not None and "Promotion for uint16, uint32, uint64 types is not supported" in str(error):
                assert name in STORED
            elif ran:
                # An op that ran takes the dtype. A composed op may have words of its own, and the record a copy.
                assert "\" not implemented for '" not in str(error)
                assert len(ran) > 1 or ran[0][0] in {*IN_OTHER_WORDS, "clone"}
