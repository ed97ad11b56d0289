"""The gradient checker passes right rules and refuses wrong ones: one that accepts everything is worse than none."""

import importlib
import warnings

import pytest

from semantics import STANDIN, beyond, rg
from semantics.rules import ROW, SQUARE, GradcheckError, point, refused, rule

if STANDIN == "torch":
    with warnings.catch_warnings():  # torch's forward mode loads this at first use, with its own deprecation warnings
        warnings.simplefilter("ignore")
        importlib.import_module("torch._decomp.decompositions_for_jvp")

gradcheck, gradgradcheck = rg.autograd.gradcheck, rg.autograd.gradgradcheck
SYMMETRIC = [[0.5, -1.5, 2.0], [-1.5, 0.75, -0.5], [2.0, -0.5, 1.5]]
MODES = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


# name: (function, points, right rule, wrong rules with what the message says of them)
RULES = {
    "square": (
        lambda x: x * x,
        [ROW],
        lambda g, x: 2 * x * g,
        {
            "factor missing, or a use not accumulated": (lambda g, x: x * g, "0.5 times what it should be"),
            "0.2 % too large": (lambda g, x: 2.004 * x * g, "a factor is wrong"),
            "sign": (lambda g, x: -2 * x * g, "the sign is wrong"),
            "accumulated twice": (lambda g, x: 4 * x * g, "accumulated twice"),
            "NaN": (lambda g, x: 2 * x * g * float("nan"), "leaves its domain"),
            "infinite": (lambda g, x: 2 * x * g / 0.0, "leaves its domain"),
            "one entry NaN": (lambda g, x: 2 * x * g + (x - 2.0) * 0 / (x - 2.0), "leaves its domain"),
            "zero": (lambda g, x: 0 * g, "there is no gradient"),
            "nothing": (lambda g, x: None, "there is no gradient"),
            "gradient ignored": (lambda g, x: 2 * x, "Likely cause"),
        },
    ),
    "transpose times row": (
        lambda x: x @ rg.tensor(ROW, dtype=rg.float64),
        [SQUARE],
        lambda g, x: g.reshape(3, 1) * rg.tensor(ROW, dtype=rg.float64).reshape(1, 3),
        {"transposed": (lambda g, x: g.reshape(1, 3) * rg.tensor(ROW, dtype=rg.float64).reshape(3, 1), "wrong places")},
    ),
    "matrix times vector": (
        lambda x: rg.tensor(SQUARE, dtype=rg.float64) @ x,
        [ROW],
        lambda g, x: rg.tensor(SQUARE, dtype=rg.float64).t() @ g,
        {"transposed Jacobian": (lambda g, x: rg.tensor(SQUARE, dtype=rg.float64) @ g, "Jacobian is transposed")},
    ),
    "x @ x.T": (
        lambda x: x @ x.t(),
        [SQUARE],
        lambda g, x: (g + g.t()) @ x,
        {
            "second use forgotten": (lambda g, x: g @ x, "Likely cause"),
            "right for symmetric gradients alone": (lambda g, x: 2 * g @ x, "Likely cause"),
        },
    ),
    "x @ x": (
        lambda x: x @ x,
        [SQUARE],
        lambda g, x: g @ x.t() + x.t() @ g,
        {"right for symmetric inputs alone": (lambda g, x: g @ x + x @ g, "Likely cause")},
    ),
    "two inputs": (
        lambda x, y: x * y,
        [ROW, ROW],
        lambda g, x, y: (g * y, g * x),
        {"second too small": (lambda g, x, y: (g * y, 0.99 * g * x), "with respect to input 1")},
    ),
    "two outputs": (
        lambda x: (x.sin(), x.cos()),
        [ROW],
        lambda g, h, x: g * x.cos() - h * x.sin(),
        {
            "second forgotten": (lambda g, h, x: g * x.cos(), "mismatch for output 1", "there is no gradient"),
            "swapped": (lambda g, h, x: h * x.cos() - g * x.sin(), "mismatch for output 0"),
        },
    ),
}
WRONG = [
    pytest.param(name, wrong, said, id=f"{name}: {how}")
    for name, row in RULES.items()
    for how, (wrong, *said) in row[3].items()
]


@MODES
@pytest.mark.parametrize("name", RULES)
def test_right_rules_pass(name, fast):
    forward, points, right, _ = RULES[name]
    inputs = tuple(point(p) for p in points)
    assert gradcheck(rule(forward, right), inputs, fast_mode=fast) is True
    assert gradcheck(forward, inputs, fast_mode=fast) is True
    assert gradgradcheck(rule(forward, right), inputs, fast_mode=fast) is True
    assert all(x.grad is None and x._version == 0 for x in inputs)


@MODES
@pytest.mark.parametrize(("name", "wrong", "said"), WRONG)
def test_wrong_rules_are_refused(name, wrong, said, fast):
    forward, points, _, _ = RULES[name]
    inputs = tuple(point(p) for p in points)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output") as caught:
        gradcheck(rule(forward, wrong), inputs, fast_mode=fast)
    if STANDIN == "retrograd":
        assert [s for s in said if s not in str(caught.value)] == []
    assert gradcheck(rule(forward, wrong), inputs, fast_mode=fast, raise_exception=False) is False


def test_a_rule_that_is_right_for_symmetric_inputs_alone():
    forward, _, right, wrong = RULES["x @ x"]
    bad, _ = wrong["right for symmetric inputs alone"]
    for formula in (right, bad):
        assert gradcheck(rule(forward, formula), (point(SYMMETRIC),))  # hence points in tests must not be symmetric
    with refused("Jacobian mismatch"):
        gradcheck(rule(forward, bad), (point(SQUARE),))


@beyond("torch prints the matrices and no more")
def test_the_message_names_input_entry_values_bound_and_cause():
    def func(weight, bias):
        return rule(lambda x: x * x, lambda g, x: x * g)(weight) + bias

    with refused(
        "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor(",
        "analytical:tensor(",
        "Worst at input 0 (weight), entry (0, 1), output 0, entry (0, 1), made by AddBackward0",
        "numerical 4,",
        "analytical 2, difference 2,",
        "times the bound 0.00401 = atol 1e-05 + rtol 0.001 * |numerical|",
        "Likely cause: the gradient is 0.5 times what it should be",
    ):
        gradcheck(func, (point([[1.0, 2.0]]), point([[1.0, 1.0]])))


@beyond("torch names no causes")
@pytest.mark.parametrize(
    ("func", "at", "cause"),
    [
        (lambda x: rg.relu(x), [1.0, 0.0], "func has a kink"),
        (lambda x: x.sqrt(), [1.0, 0.0], "func is not finite within eps"),
        (lambda x: x * rg.rand(2, dtype=rg.float64), [1.0, 2.0], "func gives different results for the same"),
        (lambda x: (x * x).to(rg.float32), [1.3, 2.7], f"differences drown in the rounding of {rg.float32}"),
        (lambda x: x * x.detach(), [1.0, 2.0], "the gradient is 0.5 times what it should be"),
    ],
)
def test_causes_that_lie_in_the_function(func, at, cause):
    with refused("Jacobian mismatch", f"Likely cause: {cause}"):
        gradcheck(func, (point(at),))


def test_each_of_many_outputs_is_compared():
    weights = [0.5 + n % 7 for n in range(300)]

    def scale(weights):
        return rg.tensor(weights, dtype=rg.float64)

    assert gradcheck(lambda x: x * scale(weights), (point([2.0]),))
    wrong = [*weights[:-1], 9.0]
    with refused("Jacobian mismatch"):
        gradcheck(rule(lambda x: x * scale(weights), lambda g, x: (g * scale(wrong)).sum(0, True)), (point([2.0]),))


@MODES
def test_inputs_are_left_as_they_were(fast):
    x = point(SQUARE)
    strided = point([[1.0, 2.0], [3.0, 4.0]]).detach().t().requires_grad_()
    before = x.tolist(), strided.tolist()
    assert gradcheck(lambda a, b, by: a.sum() * b.exp() * by, (x, strided, 2.5), fast_mode=fast)
    assert (x.tolist(), strided.tolist()) == before and x._version == strided._version == 0


@beyond("torch leaves the element moved that it was at")
@MODES
def test_inputs_are_left_as_they_were_even_if_the_function_raises(fast):
    x = point(SQUARE)
    before = x.tolist()
    with pytest.raises(ZeroDivisionError):
        gradcheck(lambda a: a * a if a.tolist() == before else 1 / 0, (x,), fast_mode=fast)
    assert x.tolist() == before


def test_a_check_gives_the_same_answer_each_time_and_draws_no_random_numbers():
    rg.manual_seed(3)
    expected = rg.rand(2).tolist()
    rg.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gradgradcheck(lambda x: x.exp(), (point(ROW),), fast_mode=True)
    if STANDIN == "retrograd":
        assert rg.rand(2).tolist() == expected


@pytest.mark.skipif(STANDIN != "retrograd", reason="stands in for an engine that lets wrong gradients pass")
def test_gradients_of_another_dtype_or_size(monkeypatch):
    def unlike(change):
        return lambda *args: tuple(change(g) for g in engine(*args))

    engine, core = rg._core._grad, rg._core
    monkeypatch.setattr(core, "_grad", unlike(lambda g: g.reshape(1, 3)))
    with refused("Analytical gradient has incorrect size: (1, 3) for input 0 (x) of (3,)"):
        gradcheck(lambda x: x * x, (point(ROW),))
    monkeypatch.setattr(core, "_grad", unlike(lambda g: g.to(rg.float32)))
    with refused("Gradient has dtype mismatch: retrograd.float32 for input 0 (x), which is retrograd.float64"):
        gradcheck(lambda x: x * x, (point(ROW),), check_grad_dtypes=True)


@pytest.mark.skipif(STANDIN != "retrograd", reason="stands in for an engine that lets wrong tangents pass")
def test_tangents_of_another_dtype(monkeypatch):
    unpack = rg._core._unpack_dual

    def complexly(dual, level):
        primal, tangent = unpack(dual, level)
        return primal, rg.tensor([complex(v) for v in tangent.tolist()], dtype=rg.complex128)

    monkeypatch.setattr(rg._core, "_unpack_dual", complexly)
    options = {"check_forward_ad": True, "check_backward_ad": False, "check_undefined_grad": False}
    with refused("Forward AD gradient has dtype mismatch: retrograd.complex128 for output 0"):
        gradcheck(lambda x: x * x, (point(ROW),), check_grad_dtypes=True, **options)
    assert gradcheck(lambda x: x * x, (point(ROW),), **options)
