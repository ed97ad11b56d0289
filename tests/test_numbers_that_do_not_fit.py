"""Numbers that a dtype does not hold, and weights of a wrong shape, are refused before anything is written."""

import math
from collections.abc import Callable
from typing import Any

import pytest

NAN, INF = math.nan, math.inf
# What a tensor of the dtype takes, and what it does not. A negative integer wraps once into uint8, a float never does.
FITS: dict[str, list[Any]] = {
    "uint8": [0, 255, -1, -255, 254.5, True],
    "int8": [-128, 127, 1.5],
    "int16": [-32768, 32767],
    "int32": [-(2**31), 2**31 - 1],
    "int64": [-(2**63), 2**63 - 1],
    "float32": [INF, -INF, NAN, 3e38],
    "float64": [INF, NAN, 1e308],
    "bool": [256, -0.5, INF],
}
TOO_MUCH: dict[str, list[Any]] = {
    "uint8": [256, -256, 255.5, -0.5, NAN, INF, 1j],
    "int8": [128, -129, NAN],
    "int16": [32768, -INF],
    "int32": [2**31, 1e10],
    "int64": [1e19, NAN, INF],
    "float32": [1e39, -1e300, 1j],
    "float64": [1j],
    "bool": [],
}
NAMES = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t"}
NAMES |= {"float32": "float", "float64": "double"}

Write = Callable[[Any, Any, Any], Any]
WRITES: dict[str, Write] = {
    "fill_": lambda rg, x, v: x.fill_(v),
    "full": lambda rg, x, v: rg.full((2,), v, dtype=x.dtype),
    "full_like": lambda rg, x, v: rg.full_like(x, v),
    "new_full": lambda rg, x, v: x.new_full((2,), v),
    "masked_fill_": lambda rg, x, v: x.masked_fill_(rg.tensor([True, True]), v),
    "index_fill_": lambda rg, x, v: x.index_fill_(0, rg.tensor([0, 1]), v),
    "scatter_": lambda rg, x, v: x.scatter_(0, rg.tensor([0, 1]), v),
    "x[0]": lambda rg, x, v: [x.__setitem__(slice(1, 2), v), x.__setitem__(0, v)] and x,
    "x[mask]": lambda rg, x, v: x.__setitem__(rg.tensor([True, True]), v) or x,
    "x[index]": lambda rg, x, v: x.__setitem__(rg.tensor([0, 1]), v) or x,
    "fill_diagonal_": lambda rg, x, v: x.diag().fill_diagonal_(v).diag(),
}


@pytest.mark.parametrize("name", WRITES)
def test_numbers_that_fit_are_written(rg: Any, name: str) -> None:
    for dtype, values in FITS.items():
        for v in values:
            x = WRITES[name](rg, rg.zeros(2, dtype=getattr(rg, dtype)), v)
            want = rg.tensor([v], dtype=rg.float64).to(getattr(rg, dtype)) if isinstance(v, float) else rg.tensor([v])
            want = want.to(getattr(rg, dtype)).tolist() * 2
            assert x.tolist() == pytest.approx(want, nan_ok=True), (dtype, v)


@pytest.mark.parametrize("name", WRITES)
def test_numbers_that_do_not_fit_are_refused_and_nothing_is_written(rg: Any, name: str) -> None:
    for dtype, values in TOO_MUCH.items():
        for v in values:
            x = rg.ones(2, dtype=getattr(rg, dtype))
            if name == "index_fill_" and isinstance(v, complex):
                continue  # in words of its own
            with pytest.raises(
                RuntimeError, match=f"value cannot be converted to type {NAMES[dtype]} without overflow"
            ):
                WRITES[name](rg, x, v)
            assert x.tolist() == [1, 1], (dtype, v)


def test_other_numbers_of_ops_are_checked_too(rg: Any) -> None:
    u, f = rg.ones(2, dtype=rg.uint8), rg.ones(2)
    functional = rg.nn.functional
    for call in (
        lambda: u.add(u, alpha=256),
        lambda: u.sub_(u, alpha=300),
        lambda: u.addcmul(u, u, value=256),
        lambda: f.addcdiv(f, f, value=1e39),
        lambda: f.lerp(f, 1e39),
        lambda: rg.linspace(0, 256, 2, dtype=rg.uint8),
        lambda: rg.logspace(0, 256, 2, dtype=rg.uint8),
        lambda: functional.pad(u, (1, 1), value=NAN),
        lambda: functional.threshold(u, 0, NAN),
        lambda: functional.hardtanh(f, -1e39, 1e39),
        lambda: functional.hardtanh(u, 0, INF),
    ):
        with pytest.raises(RuntimeError, match=r"value cannot be converted to type .* without overflow"):
            call()
    assert u.tolist() == [1, 1]


def test_a_tensor_that_fills_is_converted(rg: Any) -> None:
    """Only a number is checked: an element of a tensor wraps as in every other conversion, unless a mask chooses."""
    assert rg.zeros(1, dtype=rg.uint8).fill_(rg.tensor(300)).tolist() == [44]
    x = rg.zeros(1, dtype=rg.uint8)
    x[0] = rg.tensor(300)
    assert x.tolist() == [44]
    for call in (
        lambda: x.masked_fill_(rg.tensor([True]), rg.tensor(300)),
        lambda: x.index_fill_(0, rg.tensor([0]), rg.tensor(300)),
    ):
        with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
            call()


def test_bounds_of_slices_beyond_int64_are_those_of_lists(rg: Any) -> None:
    x, huge = rg.arange(4), 2**70
    plain = list(range(4))
    for s in (slice(huge), slice(-huge, huge), slice(huge, None), slice(-huge, 2, huge), slice(1, huge, 2)):
        assert x[s].tolist() == plain[s]
    x[:huge] = 7
    assert x.tolist() == [7] * 4
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-huge]
    with pytest.raises(TypeError, match="slice indices must be integers or None or have an __index__ method"):
        x[1.5:]


def test_dtypes_that_reductions_do_not_take(rg: Any) -> None:
    whole, truth = rg.ones(2, dtype=rg.int64), rg.ones(2, dtype=rg.bool)
    with pytest.raises(RuntimeError, match=r"Expected a floating point or complex tensor as input. Got Long"):
        rg.linalg.vecdot(whole, whole)
    with pytest.raises(RuntimeError, match="to have the same dtype, but found x of type Float and y of type Double"):
        rg.linalg.vecdot(rg.ones(2), rg.ones(2, dtype=rg.float64))
    with pytest.raises(NotImplementedError, match="\"trace\" not implemented for 'Bool'"):
        rg.trace(rg.ones(2, 2, dtype=rg.bool))
    with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with two bool tensors is not supported"):
        rg.dist(truth, truth)
    with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
        rg.dist(truth, rg.ones(2))
    with pytest.raises(RuntimeError, match=r"dtype should be either floating point or complex. Got Long instead"):
        rg.dist(whole, whole)


@pytest.mark.parametrize("dim", [0, -1, 1])
def test_a_number_has_no_dimension_to_repeat_along(rg: Any, dim: int) -> None:
    for repeats in (2, rg.tensor([2])):
        with pytest.raises(IndexError, match=f"Dimension specified as {dim} but tensor has no dimensions"):
            rg.tensor(3.0).repeat_interleave(repeats, dim)
    assert rg.tensor(3.0).repeat_interleave(2).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("sizes", [(2, 0), (0, 2), (0, 0)])
def test_the_largest_sum_of_an_empty_matrix_is_0(rg: Any, sizes: tuple[int, int]) -> None:
    x = rg.ones(*sizes, dtype=rg.float64, requires_grad=True)
    for order in (1, INF):
        y = rg.linalg.matrix_norm(x, order)
        assert y.item() == 0 and rg.linalg.matrix_norm(x, order, keepdim=True).shape == (1, 1)
        assert rg.autograd.grad(y, x)[0].shape == sizes
    assert rg.linalg.matrix_norm(rg.ones(3, *sizes), 1).tolist() == [0, 0, 0]


LAYERS = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("biases", [True, False])
def test_shapes_of_recurrent_weights(rg: Any, name: str, biases: bool) -> None:
    rows, hidden, batch = LAYERS[name] * 4, 4, 2
    good = [(rows, 3), (rows, hidden)] + ([(rows,), (rows,)] if biases else [])

    def run(shapes: list[tuple[int, ...]], state: tuple[int, ...] = (1, batch, hidden), x: Any = (5, batch, 3)) -> Any:
        h = rg.ones(*state)
        params = [rg.ones(*s) for s in shapes]
        hx = (h, h) if name == "lstm" else h
        return getattr(rg, name)(rg.ones(*x), hx, params, biases, 1, 0.0, False, False, False)

    assert run(good)[0].shape == (5, batch, hidden)
    for at, what in ((0, "weight_ih"), (1, "weight_hh")):
        for wrong in (1, rows - 1, rows + 1, 2 * rows, 0):
            shapes = list(good)
            shapes[at] = (wrong, good[at][1])
            said = rf"{what} first dim must be {LAYERS[name]} \* hidden_size = {rows}, but got {wrong}\b"
            with pytest.raises(RuntimeError, match=said):
                run(shapes)
    for state in ((1, 1, hidden), (1, batch + 1, hidden), (1, 0, hidden)):
        with pytest.raises(RuntimeError, match="Expected hidden size"):
            run(good, state)
    for x in ((5, 3), (1, 5, batch, 3)):
        with pytest.raises(RuntimeError, match="input must have 3 dimensions, got"):
            run(good, x=x)


@pytest.mark.parametrize("name", LAYERS)
def test_shapes_of_the_weights_of_a_cell(rg: Any, name: str) -> None:
    rows = LAYERS[name] * 4
    h = rg.ones(2, 4)
    for shapes, what in (([(1, 3), (rows, 4)], "weight_ih"), ([(rows, 3), (1, 4)], "weight_hh")):
        with pytest.raises(RuntimeError, match=rf"{what} first dim must be .* = {rows}, but got 1"):
            getattr(rg, f"{name}_cell")(rg.ones(2, 3), (h, h) if name == "lstm" else h, *(rg.ones(*s) for s in shapes))
