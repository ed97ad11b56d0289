"""Operators and subscripts that run without PyO3's function, and those that look alike and may not."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as rg

OPERATORS: list[Callable[[Any, Any], Any]] = [operator.add, operator.sub, operator.mul, operator.truediv]


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("other", [3, -7, 2.5, np.float32(1.5)])
def test_numbers_on_either_side(op: Callable[[Any, Any], Any], other: Any) -> None:
    values = np.array([0.5, -2.0, 4.0], dtype=np.float32)
    x = rg.tensor(values)
    assert op(x, other).numpy() == pytest.approx(op(values, float(other)), rel=1e-6)
    assert op(other, x).numpy() == pytest.approx(op(float(other), values), rel=1e-6)
    assert op(x, other).dtype == rg.float32


def test_truth_values_are_no_integers() -> None:
    x = rg.tensor([3, 4])
    assert (x + True).tolist() == [4, 5] and x[True].shape == (1, 2)
    with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
        x - True


def test_integers_that_do_not_fit() -> None:
    with pytest.raises(OverflowError):
        rg.tensor([1.0]) + 2**70
    assert (rg.tensor([0.0]) + (2**64 - 1)).item() == pytest.approx(2.0**64)
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        rg.tensor([1.0])[2**70]


def test_foreign_operands_get_their_turn() -> None:
    class Foreign:
        def __radd__(self, other: object) -> str:
            return "added"

        def __rmatmul__(self, other: object) -> str:
            return "multiplied"

    x: Any = rg.ones(2)
    assert (x + Foreign(), x @ Foreign()) == ("added", "multiplied")
    for op in (operator.add, operator.matmul):
        with pytest.raises(TypeError, match="unsupported operand"):
            op(x, object())
    with pytest.raises(TypeError, match="unsupported operand"):
        x @ 2


def test_subclasses_are_asked_on_either_side() -> None:
    seen: list[str] = []

    class Sub(rg.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    x, y = rg.ones(2, 2), rg.ones(2, 2).as_subclass(Sub)
    for op in (operator.add, operator.mul, operator.matmul):
        seen.clear()
        assert type(op(x, y)) is Sub and type(op(y, x)) is Sub and type(op(x, x)) is rg.Tensor
        assert len(seen) == 2
    assert type(y[0]) is Sub and type(x[0]) is rg.Tensor


def test_methods_of_the_operators() -> None:
    x: Any = rg.tensor([1.0, 2.0])
    assert rg.Tensor.__add__(x, x).tolist() == [2.0, 4.0]
    assert rg.Tensor.__rsub__(x, 3).tolist() == [2.0, 1.0]
    assert rg.Tensor.__getitem__(x, 1).item() == 2.0
    nothing: Any = object()
    assert rg.Tensor.__add__(x, nothing) is NotImplemented


@pytest.mark.parametrize("shape", [(5,), (5, 3), (5, 0), (0, 2), (1, 4)])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_slices_of_the_first_axis(shape: tuple[int, ...], requires_grad: bool) -> None:
    values = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    x = rg.tensor(values, requires_grad=requires_grad)
    for start in (None, -9, -2, 0, 1, 4, 5, 8):
        for stop in (None, -9, -1, 0, 2, 5, 9):
            for step in (None, 1, 2, 7):
                part, want = x[start:stop:step], values[start:stop:step]
                assert part.shape == want.shape and np.array_equal(part.detach().numpy(), want)
                first = slice(start, stop, step).indices(shape[0])[0]
                assert part.storage_offset() == first * x.stride(0)
                assert part.stride() == (x.stride(0) * (step or 1), *x.stride()[1:])
                assert part.requires_grad is requires_grad and part._base is x


def test_gradients_of_slices_and_views_of_row_major_tensors() -> None:
    rng = np.random.default_rng(3)
    x: Any = rg.tensor(rng.normal(size=(4, 3)), requires_grad=True)
    weights = rg.tensor(rng.normal(size=(2, 3)))
    (x[1:4:2] * weights).sum().backward()
    want = np.zeros((4, 3))
    want[1:4:2] = weights.numpy()
    assert np.array_equal(x.grad.numpy(), want)
    x.grad = None
    others = rg.tensor(rng.normal(size=(2, 6)))
    (x.view(2, 6) * others).sum().backward()
    assert np.array_equal(x.grad.numpy(), others.numpy().reshape(4, 3))


def test_slices_that_python_refuses() -> None:
    class Interrupts:
        def __index__(self) -> int:
            raise KeyboardInterrupt

    x: Any = rg.arange(5)
    assert x[rg.tensor(1) : rg.tensor(3)].tolist() == [1, 2]
    assert x[: 2**80].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(KeyboardInterrupt):
        x[: Interrupts()]
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        x[::0]
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1]
    with pytest.raises(TypeError, match="slice indices must be integers"):
        x["a":]
    with pytest.raises(IndexError, match="cannot be applied to a 0-dim tensor"):
        rg.tensor(1.0)[1:]


@pytest.mark.parametrize("other", ["itself", "a view of it", "another one", "another dtype", "a row"])
def test_in_place_beside_shared_memory(other: str) -> None:
    values = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
    x = rg.tensor(values)
    operand = {
        "itself": lambda: x,
        "a view of it": lambda: x.view(2, 2),
        "another one": lambda: rg.tensor(values[::-1].copy()),
        "another dtype": lambda: rg.tensor([[1, 2], [3, 4]]),
        "a row": lambda: rg.tensor([10.0, 20.0]),
    }[other]()
    want = values + operand.numpy().copy()
    before = x._version
    assert x.add_(operand) is x
    assert np.array_equal(x.numpy(), want) and x._version == before + 1
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x.view(4)[1:].add_(x.view(4)[:3])
