"""The checker must pass right rules and refuse wrong ones: a check that accepts everything is worse than none."""

from collections.abc import Callable

import numpy as np
import pytest

from checker.differences import Array, Function, Rule, WrongRule, check_adjoint, check_jvp, check_vjp

Rules = dict[str, Rule]


def rng() -> np.random.Generator:
    return np.random.default_rng(1234)


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


def softmax_vjp(x: Array, g: Array) -> Array:
    y = softmax(x)
    return np.asarray(y * (g - (g * y).sum(-1, keepdims=True)))


# function, inputs, the right rule, wrong rules by name
SQUARE, ROW, CUBE = (3, 3), (3,), (2, 3, 4)
VJPS: dict[str, tuple[Function, list[tuple[int, ...]], Rule, Rules]] = {
    "mul": (
        lambda xs: [xs[0] * xs[1]],
        [SQUARE, SQUARE],
        lambda xs, gs: [gs[0] * xs[1], gs[0] * xs[0]],
        {
            "0.1 % too large in one gradient": lambda xs, gs: [gs[0] * xs[1], 1.001 * gs[0] * xs[0]],
            "operands swapped": lambda xs, gs: [gs[0] * xs[0], gs[0] * xs[1]],
            "sign": lambda xs, gs: [gs[0] * xs[1], -gs[0] * xs[0]],
            "one entry NaN": lambda xs, gs: [gs[0] * xs[1], np.where(xs[0] == xs[0].max(), np.nan, gs[0] * xs[0])],
            "infinite": lambda xs, gs: [gs[0] * xs[1], gs[0] * np.inf],
            "cotangent ignored": lambda xs, gs: [xs[1], xs[0]],
        },
    ),
    "broadcast mul": (
        lambda xs: [xs[0] * xs[1]],
        [SQUARE, ROW],
        lambda xs, gs: [gs[0] * xs[1], (gs[0] * xs[0]).sum(0)],
        {
            "broadcast axis not summed": lambda xs, gs: [gs[0] * xs[1], gs[0] * xs[0]],
            "axis taken once instead of summed": lambda xs, gs: [gs[0] * xs[1], (gs[0] * xs[0])[0]],
            "wrong axis summed": lambda xs, gs: [gs[0] * xs[1], (gs[0] * xs[0]).sum(1)],
            "mean instead of sum": lambda xs, gs: [gs[0] * xs[1], (gs[0] * xs[0]).mean(0)],
        },
    ),
    "x * x": (
        lambda xs: [xs[0] * xs[0]],
        [SQUARE],
        lambda xs, gs: [2 * gs[0] * xs[0]],
        {"second use not accumulated": lambda xs, gs: [gs[0] * xs[0]]},
    ),
    "matmul": (
        lambda xs: [xs[0] @ xs[1]],
        [SQUARE, SQUARE],
        lambda xs, gs: [gs[0] @ xs[1].T, xs[0].T @ gs[0]],
        {
            "second operand not transposed": lambda xs, gs: [gs[0] @ xs[1], xs[0].T @ gs[0]],
            "gradient transposed": lambda xs, gs: [gs[0] @ xs[1].T, (xs[0].T @ gs[0]).T],
        },
    ),
    "sum over an axis": (
        lambda xs: [xs[0].sum(1)],
        [SQUARE],
        lambda xs, gs: [np.repeat(gs[0][:, None], 3, 1)],
        {
            "right only for cotangents of all ones": lambda xs, gs: [np.ones_like(xs[0])],
            "spread along the wrong axis": lambda xs, gs: [np.repeat(gs[0][None, :], 3, 0)],
        },
    ),
    "permute": (
        lambda xs: [xs[0].transpose(1, 2, 0)],
        [CUBE],
        lambda xs, gs: [gs[0].transpose(2, 0, 1)],
        {"reshaped instead of permuted back": lambda xs, gs: [gs[0].reshape(xs[0].shape)]},
    ),
    "softmax": (
        lambda xs: [softmax(xs[0])],
        [SQUARE],
        lambda xs, gs: [softmax_vjp(xs[0], gs[0])],
        {
            "diagonal alone": lambda xs, gs: [gs[0] * softmax(xs[0]) * (1 - softmax(xs[0]))],
            "zero, as for cotangents of all ones": lambda xs, gs: [0 * xs[0]],
        },
    ),
    "two outputs": (
        lambda xs: [np.sin(xs[0]), np.cos(xs[0])],
        [SQUARE],
        lambda xs, gs: [gs[0] * np.cos(xs[0]) - gs[1] * np.sin(xs[0])],
        {
            "second output forgotten": lambda xs, gs: [gs[0] * np.cos(xs[0])],
            "outputs swapped": lambda xs, gs: [gs[1] * np.cos(xs[0]) - gs[0] * np.sin(xs[0])],
        },
    ),
    "one tiny input beside a large one": (
        lambda xs: [1e3 * xs[0] + 1e-2 * xs[1]],
        [SQUARE, SQUARE],
        lambda xs, gs: [1e3 * gs[0], 1e-2 * gs[0]],
        {"tiny gradient 1 % wrong": lambda xs, gs: [1e3 * gs[0], 1.01e-2 * gs[0]]},
    ),
}
WRONG = [pytest.param(name, rule, id=f"{name}: {how}") for name, row in VJPS.items() for how, rule in row[3].items()]


def inputs(shapes: list[tuple[int, ...]]) -> list[Array]:
    values = rng()
    return [values.uniform(0.3, 1.7, shape) for shape in shapes]


@pytest.mark.parametrize("name", VJPS)
def test_a_right_vjp_passes(name: str) -> None:
    f, shapes, vjp, _ = VJPS[name]
    check_vjp(f, vjp, inputs(shapes), rng(), rounds=3)


@pytest.mark.parametrize(("name", "vjp"), WRONG)
def test_a_wrong_vjp_is_refused(name: str, vjp: Rule) -> None:
    f, shapes, _, _ = VJPS[name]
    with pytest.raises(WrongRule):
        check_vjp(f, vjp, inputs(shapes), rng())


@pytest.mark.parametrize(("name", "vjp"), WRONG)
def test_the_adjoint_check_refuses_it_too(name: str, vjp: Rule) -> None:
    f, shapes, right, _ = VJPS[name]
    xs = inputs(shapes)
    jvp = transposed(right, [np.shape(y) for y in f(xs)])
    check_adjoint(jvp, right, xs, f(xs), rng())
    with pytest.raises(WrongRule):
        check_adjoint(jvp, vjp, xs, f(xs), rng())


@pytest.mark.parametrize("name", VJPS)
def test_a_right_jvp_passes_and_a_wrong_one_is_refused(name: str) -> None:
    f, shapes, vjp, _ = VJPS[name]
    xs = inputs(shapes)
    jvp = transposed(vjp, [np.shape(y) for y in f(xs)])
    check_jvp(f, jvp, xs, rng())
    wrong: list[Callable[[Array], Array]] = [lambda t: 1.001 * t, lambda t: np.nan * t, lambda t: -t, lambda t: t[None]]
    for spoil in wrong:
        with pytest.raises(WrongRule):
            check_jvp(f, lambda xs, ds, spoil=spoil: [spoil(t) for t in jvp(xs, ds)], xs, rng())  # type: ignore[misc]


def test_a_jvp_that_forgets_an_input_is_refused() -> None:
    f, shapes, _, _ = VJPS["mul"]
    with pytest.raises(WrongRule):
        check_jvp(f, lambda xs, ds: [ds[0] * xs[1]], inputs(shapes), rng())


def transposed(vjp: Rule, outputs: list[tuple[int, ...]]) -> Rule:
    """The JVP that belongs to a linear VJP: its matrix, transposed. One call per output entry."""

    def jvp(xs: list[Array], ds: list[Array]) -> list[Array]:
        tangents = [np.zeros(shape) for shape in outputs]
        for k, shape in enumerate(outputs):
            for at in np.ndindex(shape):
                gs = [np.zeros(other) for other in outputs]
                gs[k][at] = 1.0
                tangents[k][at] = sum(np.vdot(grad, d) for grad, d in zip(vjp(xs, gs), ds, strict=True))
        return tangents

    return jvp
