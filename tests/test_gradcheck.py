"""The gradient checker passes right rules and refuses wrong ones: one that accepts everything is worse than none."""

import importlib
import warnings

import pytest

from semantics import STANDIN, beyond, fails, rg, warns

if STANDIN == "torch":
    with warnings.catch_warnings():  # torch's forward mode loads this at first use, with its own deprecation warnings
        warnings.simplefilter("ignore")
        importlib.import_module("torch._decomp.decompositions_for_jvp")

gradcheck, gradgradcheck = rg.autograd.gradcheck, rg.autograd.gradgradcheck
Function = rg.autograd.Function
GradcheckError = rg.autograd.gradcheck.__globals__["GradcheckError"]
ROW, SQUARE = [0.5, -1.25, 2.0], [[0.5, -1.5, 2.0], [1.25, 0.75, -0.5], [-2.0, 1.0, 1.5]]
SYMMETRIC = [[0.5, -1.5, 2.0], [-1.5, 0.75, -0.5], [2.0, -0.5, 1.5]]
MODES = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


def point(values, dtype=None):
    return rg.tensor(values, dtype=dtype or rg.float64, requires_grad=True)


def rule(forward, backward, decorate=lambda f: f):
    """A function of tensors with this formula for its gradients: `backward(g, *inputs)`."""

    def save(ctx, *xs):
        ctx.save_for_backward(*xs)
        return forward(*xs)

    def run(ctx, *gs):
        return backward(*gs, *ctx.saved_tensors)

    body = {"forward": staticmethod(save), "backward": staticmethod(decorate(run))}
    return type("Made", (Function,), body).apply


def refused(*fragments):
    return fails(*fragments, kind=GradcheckError)


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
            "zero": (lambda g, x: 0 * g, "no gradient arrives"),
            "nothing": (lambda g, x: None, "no gradient arrives"),
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
            "second forgotten": (lambda g, h, x: g * x.cos(), "mismatch for output 1", "no gradient arrives"),
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


def test_chk_1_defaults_and_precision():
    x = point([1.0, 2.0], dtype=rg.float32)
    with warns("Input #0 requires gradient and is not a double precision floating point"):
        assert gradcheck(lambda x: x * 2, (x,), eps=1e-2)
    with pytest.raises(KeyError, match="mine"):  # the user's own exceptions are no failed checks
        gradcheck(lambda x: {}["mine"], (point(ROW),), raise_exception=False)


def test_chk_2_inputs_and_outputs():
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        gradcheck(lambda x: x, (rg.ones(2, dtype=rg.float64),))
    with fails("dimension with stride 0"):
        gradcheck(lambda x: x, (point([1.0]).expand(3),))
    assert gradcheck(lambda x, n, s: (x * n, x.argmax()), (point(ROW), 3, "text"))
    assert gradcheck(lambda x: [x * 2], point(ROW))
    assert gradcheck(lambda x: x * 2, (rg.zeros(0, 3, dtype=rg.float64, requires_grad=True),))
    assert gradcheck(lambda x: x * 2, (point(1.5),))


@MODES
def test_chk_5_fast_mode_falls_back_for_the_message(fast):
    with refused("numerical:", "analytical:") as caught:
        gradcheck(rule(lambda x: x * x, lambda g, x: x * g), (point(ROW),), fast_mode=fast)
    assert ("slow mode" in str(caught.value)) is fast


def test_chk_6_backward_must_be_reproducible():
    calls = []

    def drifting(g, x):
        calls.append(1)
        return 2 * x * g * (1 + 1e-9 * len(calls))

    made = rule(lambda x: x * x, drifting)
    with refused("Backward is not reentrant"):
        gradcheck(made, (point(ROW),))
    assert gradcheck(made, (point(ROW),), nondet_tol=1e-6)


def test_chk_6_backward_must_be_multiplied_by_the_gradient():
    with refused("backward not multiplied by grad_output"):
        gradcheck(rule(lambda x: x * 1, lambda g, x: g + (g == 0).all().to(g.dtype)), (point([2.0]),))


def test_chk_6_undefined_gradients():
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2

    def careless(ctx, g, h):
        return g + 2 * h

    def careful(ctx, g, h):
        return (0 if g is None else g) + (0 if h is None else 2 * h) if g is not None or h is not None else None

    for backward, right in ((careless, False), (careful, True)):
        body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        apply = type("Made", (Function,), body).apply

        def mixed(x, apply=apply):  # slow mode gives both outputs a gradient at a time, so that only the check differs
            a, b = apply(x)
            return a + b

        assert gradcheck(mixed, (point(ROW),), check_undefined_grad=False)
        if right:
            assert gradcheck(apply, (point(ROW),))
        else:
            with pytest.raises((GradcheckError, TypeError)):
                gradcheck(apply, (point(ROW),))


@MODES
def test_chk_7_what_does_not_require_grad_must_be_constant(fast):
    assert gradcheck(lambda x: x.detach() * 0, (point(ROW),), fast_mode=fast)
    with refused("Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, (point(ROW),), fast_mode=fast)


@beyond("torch subtracts the booleans, and fails")
@MODES
def test_chk_7_other_outputs_are_left_alone(fast):
    assert gradcheck(lambda x: (x > 0, x.argmax(), "text"), (point(ROW),), fast_mode=fast)


def test_chk_8_options():
    x = point(ROW)
    with pytest.raises(AssertionError, match="at least one of check_forward_ad or check_backward_ad"):
        gradcheck(lambda x: x, (x,), check_backward_ad=False)
    with pytest.raises(AssertionError, match="check_batched_forward_grad"):
        gradcheck(lambda x: x, (x,), check_batched_forward_grad=True)
    with pytest.raises(AssertionError, match="at least one of check_fwd_over_rev or check_rev_over_rev"):
        gradgradcheck(lambda x: x, (x,), check_rev_over_rev=False)


@pytest.mark.skipif(STANDIN != "retrograd", reason="torch has vmap")
def test_chk_8_batched_checks_say_what_they_wait_for():
    for option in ({"check_batched_grad": True}, {"check_batched_forward_grad": True, "check_forward_ad": True}):
        with fails("vmap", kind=NotImplementedError):
            gradcheck(lambda x: x * 2, (point(ROW),), **option)


@MODES
def test_forward_mode(fast):
    x, y = point(ROW), point([1.0, 2.0, 3.0])
    options = {"check_forward_ad": True, "fast_mode": fast}
    assert gradcheck(lambda x, y: (x * y.exp(), x.sum()), (x, y), **options)
    assert gradcheck(lambda x: x * x, (x,), check_backward_ad=False, **options)
    assert gradgradcheck(lambda x, y: x * y.sin(), (x, y), check_fwd_over_rev=True, fast_mode=fast)
    if STANDIN == "retrograd":
        with refused("Jacobian computed with forward mode mismatch for output 0 with respect to input 0"):
            gradcheck(lambda x: x * x.detach(), (x,), check_backward_ad=False, **options)


@MODES
def test_chk_10_second_derivatives(fast):
    x = point(ROW)
    assert gradgradcheck(lambda x: x**3, (x,), fast_mode=fast, gen_non_contig_grad_outputs=True)
    assert gradgradcheck(lambda x: x**3, (x,), (point([1.0, -2.0, 0.5]),), fast_mode=fast)

    apply = rule(lambda x: x * x, lambda g, x: 2 * x * g, rg.autograd.function.once_differentiable)
    assert gradcheck(apply, (x,), fast_mode=fast)
    with refused("Jacobian mismatch", "analytical:tensor([[0., 0., 0.]" if not fast else "analytical:0.0"):
        gradgradcheck(apply, (x,), fast_mode=fast)
    detached = rule(lambda x: x * x, lambda g, x: (2 * x * g).detach())
    with refused("Numerical gradient for function expected to be zero"):
        gradgradcheck(detached, (x,), fast_mode=fast)


def test_a_check_gives_the_same_answer_each_time_and_draws_no_random_numbers():
    rg.manual_seed(3)
    expected = rg.rand(2).tolist()
    rg.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gradgradcheck(lambda x: x.exp(), (point(ROW),), fast_mode=True)
    if STANDIN == "retrograd":
        assert rg.rand(2).tolist() == expected
