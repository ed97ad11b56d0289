"""Ops of a tensor and a Python number: beside few elements, and beside many, which take other paths."""

import math

import numpy as np
import pytest

import retrograd as rg

SIZES = [(), (1,), (1, 1), (7,), (2, 1, 3), (255,), (256,), (257,), (16, 16), (0,), (3, 0)]
DTYPES = ["float32", "float64", "int64", "int32", "uint8", "bool", "complex64", "complex128", "float16", "bfloat16"]
OPS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floor_divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "atan2": rg.atan2,
    "hypot": rg.hypot,
    "logaddexp": rg.logaddexp,
}


def values(shape, dtype):
    n = math.prod(shape)
    plain = rg.tensor([(i * 7 % 11) - 3 if "int8" not in dtype else i * 7 % 11 + 1 for i in range(n)])
    return plain.reshape(shape).to(getattr(rg, dtype))


def outcome(run):
    try:
        result = run()
    except (RuntimeError, TypeError) as error:
        return type(error), str(error)
    return result.dtype, result.shape, result.stride(), repr(result.tolist())


def beside_many(op, x, number, first):
    """The result by a path that repeats the number with the elements of a tensor that has very many."""
    many = x.unsqueeze(0).expand(1000, *x.shape).contiguous()
    result = op(number, many) if first else op(many, number)
    return result[0].clone()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPS)
def test_few_elements_give_what_many_do(name, dtype):
    op = OPS[name]
    for shape in SIZES:
        x = values(shape, dtype)
        if name in ("atan2", "hypot", "logaddexp"):
            # These take tensors only: one element, of the dtype that numbers have.
            numbers = [rg.tensor(2.0, dtype=x.dtype), rg.tensor(3)]
        else:
            numbers = [2, 3, 2.5, -0.0, True, *([1.5 + 2j] if dtype != "float16" else [])]
        for number in numbers:
            for first in (False, True):
                few = outcome(lambda n=number, f=first, x=x: op(n, x) if f else op(x, n))
                many = outcome(lambda n=number, f=first, x=x: beside_many(op, x, n, f))
                if isinstance(few[0], type) and not hasattr(few[0], "itemsize"):
                    assert few[0] == many[0], (shape, number, first)
                elif x.ndim or not hasattr(number, "dtype"):
                    assert (few[0], few[3]) == (many[0], many[3]), (shape, number, first)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 5, 256, 257])
def test_writes_in_place_give_what_fresh_results_do(n, dtype):
    x, y = values((n,), dtype), values((n,), dtype) + 1
    for other in [2, 0.5, True, y.to(x.dtype), y[:1].clone(), rg.tensor(2), x]:
        for fresh, in_place in [
            (rg.Tensor.add, rg.Tensor.add_),
            (rg.Tensor.mul, rg.Tensor.mul_),
            (rg.Tensor.div, rg.Tensor.div_),
        ]:
            if getattr(other, "ndim", 0) and other.shape != x.shape and n == 0:
                continue
            target = x.clone()
            operand = target if other is x else other
            expected = fresh(x, other)
            if not rg.can_cast(expected.dtype, x.dtype):
                with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
                    in_place(target, operand)
                continue
            version = target._version
            assert in_place(target, operand) is target and target._version == version + 1
            assert repr(target.tolist()) == repr(expected.to(x.dtype).tolist())


def test_a_target_is_read_before_it_is_written():
    x = rg.arange(8.0)
    x += x
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]
    x *= x[3].clone()
    assert x.tolist() == [6.0 * v for v in (0, 2, 4, 6, 8, 10, 12, 14)]
    whole = rg.arange(9.0)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        whole[1:] += whole[:-1]
    halves = rg.arange(8.0)
    halves[4:] += halves[:4]
    assert halves.tolist() == [0, 1, 2, 3, 4, 6, 8, 10]
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x += rg.ones(1, 1)


def test_numbers_that_are_equal_may_differ():
    x = rg.ones(3)
    assert (1 / (x * 0.0)).tolist() == [math.inf] * 3
    assert (1 / (x * -0.0)).tolist() == [-math.inf] * 3
    assert [(x * n).dtype for n in (2, 2.0, True, 2j)] == [rg.float32] * 3 + [rg.complex64]
    i = rg.ones(3, dtype=rg.int64)
    assert [(i * n).dtype for n in (2, 2.0, True, 2j)] == [rg.int64, rg.float32, rg.int64, rg.complex64]
    assert (x * math.nan).isnan().all()


def test_many_numbers_in_turn():
    x = rg.ones(2, requires_grad=True)
    results = [x * (i / 7) + i for i in range(100)]
    for i, y in enumerate(results):
        assert y.tolist() == (np.float32(i / 7) + np.full(2, i, np.float32)).tolist()
        assert rg.autograd.grad(y.sum(), x)[0].tolist() == [np.float32(i / 7)] * 2


def test_what_a_node_saved_of_a_number_is_nobodys_elses():
    x = rg.ones(2, requires_grad=True)
    y, z = x * 2.625, x * 2.625
    y.grad_fn._saved_other.mul_(10)
    assert y.grad_fn._saved_other.item() == z.grad_fn._saved_other.item() == 2.625
    assert rg.autograd.grad((y + z).sum(), x)[0].tolist() == [5.25, 5.25]
    assert (x * 2.625).tolist() == [2.625, 2.625]


def test_numbers_met_in_inference_mode_and_under_transforms_serve_afterwards():
    x = rg.ones(2, requires_grad=True)
    with rg.inference_mode():
        x * 4.75
    assert rg.autograd.grad((x * 4.75).sum(), x)[0].tolist() == [4.75, 4.75]
    batched = rg.func.vmap(rg.func.grad(lambda row: (row * 3.25 - 1.5).square().sum()))
    assert batched(rg.ones(2, 2)).tolist() == [[2 * 1.75 * 3.25] * 2] * 2
    assert rg.func.jvp(lambda v: v * 3.25 + 1.5, (rg.ones(2),), (rg.ones(2),))[1].tolist() == [3.25, 3.25]
    assert (x * 3.25 - 1.5).tolist() == [1.75, 1.75]
