"""Faults in rules of one's own, each with the options of the checker that see it: those, and no others."""

import importlib
import warnings

import pytest

from semantics import STANDIN, rg
from semantics.rules import ROW, SQUARE, GradcheckError, in_a_batch, point, rule, square, twice

if STANDIN == "torch":
    with warnings.catch_warnings():  # torch's forward mode loads this at first use, with its own deprecation warnings
        warnings.simplefilter("ignore")
        importlib.import_module("torch._decomp.decompositions_for_jvp")

gradcheck, gradgradcheck = rg.autograd.gradcheck, rg.autograd.gradgradcheck

NOTHING_ELSE = {"check_undefined_grad": False}
FORWARD = {"check_backward_ad": False, "check_forward_ad": True, **NOTHING_ELSE}
CHECKS = {
    "backward": (gradcheck, NOTHING_ELSE),
    "fast": (gradcheck, {"fast_mode": True, **NOTHING_ELSE}),
    "dtypes": (gradcheck, {"check_grad_dtypes": True, **NOTHING_ELSE}),
    "undefined": (gradcheck, {}),
    "batched": (gradcheck, {"check_batched_grad": True, **NOTHING_ELSE}),
    "forward": (gradcheck, FORWARD),
    "fast forward": (gradcheck, {"fast_mode": True, **FORWARD}),
    "batched forward": (gradcheck, {"check_batched_forward_grad": True, **FORWARD}),
    "second": (gradgradcheck, NOTHING_ELSE),
    "fast second": (gradgradcheck, {"fast_mode": True, **NOTHING_ELSE}),
    "batched second": (gradgradcheck, {"check_batched_grad": True, **NOTHING_ELSE}),
    "forward second": (gradgradcheck, {"check_fwd_over_rev": True, "check_rev_over_rev": False, **NOTHING_ELSE}),
}
IN_REVERSE = ("backward", "fast", "dtypes", "undefined", "batched")
IN_FORWARD = ("forward", "fast forward", "batched forward")
IN_SECOND = ("second", "fast second", "batched second")
EVERY = pytest.mark.parametrize("name", CHECKS)


def drifting():
    runs = []

    def backward(g, x):
        runs.append(1)
        return 2 * x * g * (1 + 1e-13 * len(runs))

    return backward


def alternating():
    runs = []

    def backward(g, x):
        runs.append(1)
        return 2 * x * g * (1 + 1e-13 * (len(runs) % 2))

    return backward


def reused():
    """The same memory each time: what is not read at once is overwritten, which is no fault of the numbers."""
    memory = rg.zeros(3, dtype=rg.float64)

    def backward(g, x):
        return memory.copy_(2 * x * g)

    return backward


def doubled(backward=lambda g, x: 2 * g, jvp=lambda x, t: 2 * t):
    return rule(lambda x: 2 * x, backward, jvp)


def unlike_zeros(g, h):
    """Takes zeros for something else, if the other gradient is not there."""
    if g is None:
        return None if h is None else 2 * h + (h == 0).all().to(h.dtype)
    return g if h is None else g + 2 * h


def careful(g, h):
    return None if g is None and h is None else (0 if g is None else g) + (0 if h is None else 2 * h)


def outputs_of(apply):
    """Second derivatives of what is linear are not asked for: every function here has some."""
    return lambda x: tuple(t * x for t in apply(x))


# fault: (function, point, the checks that see it, what they say, what retrograd says of the cause)
FAULTS = {
    "missing factor": (square(lambda g, x: x * g), ROW, IN_REVERSE, "Jacobian mismatch", "0.5 times what it should be"),
    "transposed Jacobian": (
        rule(
            lambda x: rg.tensor(SQUARE, dtype=rg.float64) @ (x * x),
            lambda g, x: 2 * x * (rg.tensor(SQUARE, dtype=rg.float64) @ g),
            lambda x, t: rg.tensor(SQUARE, dtype=rg.float64) @ (2 * x * t),
        ),
        [1.0, 1.0, 1.0], IN_REVERSE, "Jacobian mismatch", "the Jacobian is transposed",
    ),
    "forgotten accumulation": (
        lambda x: square(lambda g, x: x * g)(x) + x, ROW, IN_REVERSE, "Jacobian mismatch", "Likely cause",
    ),
    "right for symmetric inputs alone": (
        rule(lambda x: x @ x, lambda g, x: g @ x + x @ g, lambda x, t: t @ x + x @ t),
        SQUARE, IN_REVERSE, "Jacobian mismatch", "Likely cause",
    ),
    "ignores the gradient's values": (
        square(lambda g, x: 2 * x + 0 * g), [2.0], IN_REVERSE,
        ("backward not multiplied by grad_output", "the backward is not linear in grad_output"), "Likely cause",
    ),
    "not deterministic": (square(drifting()), ROW, IN_REVERSE, "Backward is not reentrant", "input 0"),
    "alternating": (square(alternating()), ROW, IN_REVERSE, "Backward is not reentrant", "input 0"),
    "wrong jvp": (
        square(jvp=lambda x, t: x * t), ROW, IN_FORWARD,
        "Jacobian computed with forward mode mismatch", "0.5 times what it should be",
    ),
    "jvp of zeros": (
        square(jvp=lambda x, t: 0 * t), ROW, IN_FORWARD,
        "Jacobian computed with forward mode mismatch", "there is no tangent",
    ),
    "wrong in second order": (
        square(lambda g, x: x * doubled(lambda g, x: 3 * g)(g)), ROW, IN_SECOND,
        "Jacobian mismatch for output 0 with respect to input 1", "a factor is wrong: the gradient is 1.5 times",
    ),
    "wrong in second order, forward over reverse": (
        square(lambda g, x: x * doubled(jvp=lambda x, t: 3 * t)(g)), ROW, ("forward second",),
        "forward mode mismatch for output 0 with respect to input 1", "a factor is wrong: the gradient is 1.5 times",
    ),
    "detached backward": (
        square(lambda g, x: (2 * x * g).detach()), ROW, (*IN_SECOND, "forward second"),
        "Numerical gradient for function expected to be zero", "cuts the graph",
    ),
    "once differentiable": (
        square(decorate=rg.autograd.function.once_differentiable), ROW, (*IN_SECOND, "forward second"),
        "mismatch for output 0 with respect to input 0", "the backward is once_differentiable",
    ),
    "undefined is not zero": (
        outputs_of(twice(unlike_zeros)), ROW, ("undefined",), "Expected all input grads to be undefined or zero",
        "takes None for something else",
    ),
    "wrong batching rule": (
        square(lambda g, x: 2 * x * g * (1.5 if in_a_batch(g) else 1)), ROW, ("batched",),
        "For output 0 and input 0", "the batching rule of an op",
    ),
    "wrong batching rule in second order": (
        square(lambda g, x: x * doubled(lambda g, x: g * (3 if in_a_batch(g) else 2))(g)), ROW, ("batched second",),
        "For output 0 and input 1", "the batching rule of an op",
    ),
    "wrong batching rule of tangents": (
        square(jvp=lambda x, t: 2 * x * t * (1.5 if in_a_batch(t) else 1)), ROW, ("batched forward",),
        "For output 0 and input 0", "the batching rule of an op",
    ),
    "looks at values": (
        square(lambda g, x: 2 * x * g if g.sum() < 1e9 else g), ROW, ("batched",),
        "While computing batched gradients, got:", "a rule looks at values",
    ),
}  # fmt: skip


@EVERY
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen_by_the_options_that_ask_for_it(fault, name):
    func, at, seen_by, said, cause = FAULTS[fault]
    check, options = CHECKS[name]
    message = None
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Backwards compatibility")  # torch, of undefined gradients
            assert check(func, (point(at),), **options) is True
    except GradcheckError as error:
        message = str(error)
    if name in seen_by:
        assert message is not None
        assert any(text in message for text in ((said,) if isinstance(said, str) else said)), message
        if STANDIN == "retrograd":
            assert cause in message
    elif STANDIN == "retrograd" or (fault, name) != (
        "detached backward",
        "batched",
    ):  # torch has no batches of detach()
        assert message is None


@EVERY
def test_a_fault_is_no_exception_where_none_is_wanted(name):
    check, options = CHECKS[name]
    func = square(lambda g, x: x * (doubled(lambda g, x: 3 * g, lambda x, t: 3 * t)(g) + g), lambda x, t: x * t)
    assert check(func, (point(ROW),), raise_exception=False, **options) is False


RIGHT = {
    "a rule": (square(), ROW),
    "a rule of a rule": (lambda x: doubled()(square()(x)), ROW),
    "undefined gradients": (outputs_of(twice(careful)), ROW),
    "a matrix product": (lambda x: rg.tanh(x @ x), SQUARE),
    "two inputs and outputs": (lambda x, y: (x * y.exp(), (x * x).sum()), ROW, [1.0, 2.0, 3.0]),
    "views": (lambda x: x.t()[1:] * x[:2].reshape(2, 3), SQUARE),
    "an output that is not contiguous": (lambda x: (x * x).t(), SQUARE),
    "scans and products": (lambda x: x.softmax(1).prod(0).cumsum(0), SQUARE),
    "one number": (lambda x: x**2, 1.5),
    "in place": (lambda x: x.clone().mul_(x).sin_(), ROW),
}


def with_everything(check):
    """All options at once, of `gradcheck` or `gradgradcheck`."""
    more = {"check_batched_grad": True, "check_grad_dtypes": True, "check_undefined_grad": True}
    if check is gradcheck:
        return more | {"check_forward_ad": True, "check_batched_forward_grad": True}
    return more | {"check_fwd_over_rev": True, "gen_non_contig_grad_outputs": True}


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
@pytest.mark.parametrize("name", RIGHT)
def test_right_rules_pass_with_every_option(name, check, fast):
    func, *at = RIGHT[name]
    inputs = tuple(map(point, at))
    assert check(func, inputs, fast_mode=fast, **with_everything(check)) is True


def test_a_rule_may_give_the_same_memory_each_time():
    assert gradcheck(square(reused()), (point(ROW),), **NOTHING_ELSE)
