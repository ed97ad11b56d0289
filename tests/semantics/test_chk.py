"""CHK: gradcheck and gradgradcheck."""

import contextlib
import inspect

import pytest

from . import STANDIN, beyond, fails, leaf, rg, warns
from .rules import ROW, SQUARE, Function, GradcheckError, in_a_batch, point, refused, rule, square, twice

gradcheck, gradgradcheck = rg.autograd.gradcheck, rg.autograd.gradgradcheck
FAST = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


def counted(f):
    """The function, and a list that grows by one with each call."""
    calls = []

    def run(*args):
        calls.append(1)
        return f(*args)

    return run, calls


# ---- CHK-1: defaults, differences, tolerances, results


def test_chk_1_arguments_and_defaults():
    common = {"eps": 1e-6, "atol": 1e-5, "rtol": 1e-3}
    first = common | {
        "raise_exception": True, "nondet_tol": 0.0, "check_undefined_grad": True, "check_grad_dtypes": False,
        "check_batched_grad": False, "check_batched_forward_grad": False, "check_forward_ad": False,
        "check_backward_ad": True, "fast_mode": False, "masked": None,
    }  # fmt: skip
    second = common | {
        "gen_non_contig_grad_outputs": False, "raise_exception": True, "nondet_tol": 0.0, "check_undefined_grad": True,
        "check_grad_dtypes": False, "check_batched_grad": False, "check_fwd_over_rev": False,
        "check_rev_over_rev": True, "fast_mode": False, "masked": False,
    }  # fmt: skip
    for check, positional, named in ((gradcheck, [], first), (gradgradcheck, [("grad_outputs", None)], second)):
        parameters = inspect.signature(check).parameters.values()
        anywhere = [(p.name, p.default) for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert anywhere == [("func", inspect.Parameter.empty), ("inputs", inspect.Parameter.empty), *positional]
        assert [(p.name, p.default) for p in parameters if p.kind is p.KEYWORD_ONLY] == list(named.items())


def test_chk_1_other_precisions_warn():
    with warns("Input #1 requires gradient and is not a double precision floating point"):
        assert gradcheck(lambda x, y: x * y.to(rg.float64), (point(ROW), leaf([1.0, 2.0, 3.0])), eps=1e-2)


def test_chk_1_differences_are_central():
    # exact for a square, whatever eps is, where a difference to one side is off by eps
    assert gradcheck(square(), (point(ROW),), eps=0.25, rtol=0, atol=1e-12)


def test_chk_1_an_entry_passes_within_atol_plus_rtol_times_numerical():
    def scaled(factor):
        return square(lambda g, x: factor * x * g)

    x = point([1.0, -3.0])
    assert gradcheck(scaled(2 * 1.0009), (x,))
    with refused("Jacobian mismatch"):
        gradcheck(scaled(2 * 1.0011), (x,))
    assert gradcheck(scaled(2.2), (x,), rtol=0.11)
    assert gradcheck(scaled(2.2), (x,), rtol=0, atol=0.61)  # off by 0.2 and 0.6
    with refused("Jacobian mismatch"):
        gradcheck(scaled(2.2), (x,), rtol=0, atol=0.59)


def test_chk_1_the_bound_is_relative_to_the_numerical_value():
    assert gradcheck(square(lambda g, x: x * g), (point(ROW),), rtol=0.6, atol=0)  # half of it: 0.5 <= 0.6
    with refused("Jacobian mismatch"):
        gradcheck(square(lambda g, x: 4 * x * g), (point(ROW),), rtol=0.6, atol=0)  # twice: 1 > 0.6, though < 2 * 0.6


def test_chk_1_returns_true_raises_or_returns_false():
    wrong = square(lambda g, x: x * g)
    assert gradcheck(square(), point(ROW)) is True
    assert issubclass(GradcheckError, RuntimeError)
    with refused("Jacobian mismatch"):
        gradcheck(wrong, point(ROW))
    assert gradcheck(wrong, point(ROW), raise_exception=False) is False
    with pytest.raises(KeyError, match="mine"):  # an error of the user's own is no failed check
        gradcheck(lambda x: {}["mine"], (point(ROW),), raise_exception=False)
    with pytest.raises(ValueError, match="expects at least one input tensor"):
        gradcheck(lambda x: x, (rg.ones(2),), raise_exception=False)


# ---- CHK-2: inputs and outputs


def test_chk_2_inputs():
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        gradcheck(lambda x: x, (rg.ones(2, dtype=rg.float64),))
    with fails("0th input has a dimension with stride 0"):
        gradcheck(lambda x: x, (point([1.0]).expand(3),))
    assert gradcheck(lambda x: x * 2, (point([1.0]).expand(1),))
    assert gradcheck(lambda x, n, s: x * n, (point(ROW), 3, "text"))
    assert gradcheck(lambda x: [x * 2], [point(ROW)])
    assert gradcheck(lambda x: x * 2, (rg.zeros(0, 3, dtype=rg.float64, requires_grad=True),))
    assert gradcheck(lambda x: x * 2, (point(1.5),))


def test_chk_2_integer_outputs_are_skipped():
    options = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}
    assert gradcheck(lambda x: (x * 2, x.argmax()), (point(ROW),), **options)


@beyond("torch counts the integers in one place, and not in another")
def test_chk_2_integer_outputs_are_skipped_wherever_they_are():
    assert gradcheck(lambda x: (x.argmax(), x * 2), (point(ROW),), check_forward_ad=True)


def test_chk_2_outputs_keep_their_shape_and_dtype():
    for other in (lambda x: x[:2], lambda x: x.to(rg.float32)):
        with pytest.raises(AssertionError, match="Expected `func` to return outputs with the same"):
            gradcheck(lambda x, other=other: x if x[0] <= 0.5 else other(x), (point(ROW),))


# ---- CHK-3: what a mismatch says


def test_chk_3_mismatch_texts():
    parts = ("numerical:", "[ 0.0000, -2.5000,  0.0000]", "analytical:", " -1.2500, ")
    with refused("Jacobian mismatch for output 0 with respect to input 0,\nnumerical:", *parts[1:]):
        gradcheck(square(lambda g, x: x * g), (point(ROW),))
    with refused("Jacobian mismatch for output 1 with respect to input 1,\n"):
        gradcheck(lambda x, y: (x * y, x + square(lambda g, x: x * g)(y)), (point(ROW), point(ROW)))
    with refused("Jacobian computed with forward mode mismatch for output 0 with respect to input 0,\n", *parts):
        gradcheck(square(jvp=lambda x, t: x * t), (point(ROW),), check_forward_ad=True)


# ---- CHK-4: complex tensors. Kernels of complex numbers are not needed: these functions compute in Python.


def made_of(values, like):
    return rg.tensor(values, dtype=like)


def curve(part_of_gradient):
    """v + 1j v^2, of a real v."""

    def backward(g, x):
        pairs = zip(g.tolist(), x.tolist(), strict=True)
        return made_of([part_of_gradient(g, v) for g, v in pairs], rg.float64)

    return rule(lambda x: made_of([complex(v, v * v) for v in x.tolist()], rg.complex128), backward)


def energy(gradient, slope=lambda z, t: 2 * (z.real * t.real + z.imag * t.imag)):
    """The squared absolute value of a complex z."""

    def backward(g, z):
        return made_of([g * gradient(z) for g, z in zip(g.tolist(), z.tolist(), strict=True)], rg.complex128)

    def jvp(z, t):
        return made_of([slope(z, t) for z, t in zip(z.tolist(), t.tolist(), strict=True)], rg.float64)

    return rule(lambda z: made_of([abs(z) ** 2 for z in z.tolist()], rg.float64), backward, jvp)


COMPLEX = [1 + 2j, -0.5 + 1.5j]


@FAST
def test_chk_4_complex_outputs_are_two_real_functions(fast):
    assert gradcheck(curve(lambda g, v: g.real + 2 * v * g.imag), (point(ROW),), fast_mode=fast)
    for wrong, part in ((lambda g, v: g.real, "imaginary"), (lambda g, v: 2 * v * g.imag, "real")):
        with refused(f"While considering the {part} part of complex outputs only, Jacobian mismatch for output 0"):
            gradcheck(curve(wrong), (point(ROW),), fast_mode=fast)


@FAST
def test_chk_4_complex_inputs_are_moved_along_both_parts(fast):
    z = point(COMPLEX, rg.complex128)
    assert gradcheck(energy(lambda z: 2 * z), (z,), fast_mode=fast)
    for wrong in (lambda z: 2 * z.conjugate(), lambda z: 2 * z.real, lambda z: 2j * z.imag):
        with refused("Jacobian mismatch for output 0 with respect to input 0"):
            gradcheck(energy(wrong), (z,), fast_mode=fast)


@FAST
def test_chk_4_a_complex_input_without_gradient_has_zeros(fast):
    z, x = point(COMPLEX, rg.complex128), point(ROW)
    assert gradcheck(lambda z, x: x * 2, (z, x), fast_mode=fast)
    with refused("Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(lambda z, x: x * abs(z.tolist()[0]) + 0 * energy(lambda z: 2 * z)(z).sum(), (z, x), fast_mode=fast)


@FAST
def test_chk_4_complex_inputs_in_forward_mode(fast):
    z, options = point(COMPLEX, rg.complex128), {"fast_mode": fast, "check_forward_ad": True}
    assert gradcheck(energy(lambda z: 2 * z), (z,), **options)
    for slope, part in ((lambda z, t: 2 * z.real * t.real, "imaginary"), (lambda z, t: 2 * z.imag * t.imag, "real")):
        with refused(f"While considering the {part} part of complex inputs only, Jacobian computed with forward mode"):
            gradcheck(energy(lambda z: 2 * z, slope), (z,), **options)


# ---- CHK-5: the fast mode


@FAST
def test_chk_5_fast_mode_compares_one_projection(fast):
    f, calls = counted(lambda x: x.exp())
    assert gradcheck(f, (point(SQUARE),), fast_mode=fast)
    assert len(calls) < 9 if fast else len(calls) > 2 * 9


@FAST
def test_chk_5_fast_mode_measures_the_matrices_where_it_fails(fast):
    matrix = "[ 0.0000, -2.5000,  0.0000]"
    fast_texts = ("numerical:", "analytical:", "slow mode") if fast else ()
    with refused("Jacobian mismatch", *fast_texts, matrix) as caught:
        gradcheck(square(lambda g, x: x * g), (point(ROW),), fast_mode=fast)
    assert ("slow mode" in str(caught.value)) is fast


# ---- CHK-6: further checks, in their order


def drifting(amount=1e-9):
    """A backward whose result depends on how often it ran."""
    calls = []

    def backward(g, x):
        calls.append(1)
        return 2 * x * g * (1 + amount * len(calls))

    return backward


@FAST
def test_chk_6_backward_must_be_reentrant(fast):
    with refused("Backward is not reentrant", "tolerance for nondeterminism", "0.0"):
        gradcheck(square(drifting()), (point(ROW),), fast_mode=fast)
    with refused("Backward is not reentrant"):
        gradcheck(square(drifting()), (point(ROW),), fast_mode=fast, nondet_tol=1e-10)
    assert gradcheck(square(drifting()), (point(ROW),), fast_mode=fast, nondet_tol=1e-6)


def batchless(g, x):
    return 2 * x * g * (1.5 if in_a_batch(g) else 1)


@FAST
def test_chk_6_a_batch_of_gradients_is_what_they_are_one_by_one(fast):
    assert gradcheck(square(batchless), (point(ROW),), fast_mode=fast)
    with refused("For output 0 and input 0", "Got:", "Expected:"):
        gradcheck(square(batchless), (point(ROW),), fast_mode=fast, check_batched_grad=True)
    looking = square(lambda g, x: 2 * x * g if g.sum().item() < 1e9 else g)
    assert gradcheck(looking, (point(ROW),), fast_mode=fast)
    with refused("While computing batched gradients, got:", "item"):
        gradcheck(looking, (point(ROW),), fast_mode=fast, check_batched_grad=True)
    assert gradcheck(lambda x: rg.tanh(x @ x), (point(SQUARE),), fast_mode=fast, check_batched_grad=True)


@FAST
def test_chk_6_a_batch_of_tangents_is_what_they_are_one_by_one(fast):
    options = {"fast_mode": fast, "check_forward_ad": True}
    cases = (
        (lambda x, t: 2 * x * t * (1.5 if in_a_batch(t) else 1), ("For output 0 and input 0", "Got:", "Expected:")),
        (lambda x, t: 2 * x * t if t.sum().item() < 1e9 else t, ("While computing batched gradients, got:", "item")),
    )
    for jvp, said in cases:
        assert gradcheck(square(jvp=jvp), (point(ROW),), **options)
        with refused(*said):
            gradcheck(square(jvp=jvp), (point(ROW),), check_batched_forward_grad=True, **options)
    assert gradcheck(lambda x: rg.tanh(x @ x), (point(SQUARE),), check_batched_forward_grad=True, **options)


def restless(g, x):
    """Right for unit gradients, and not a multiple of the gradient."""
    return 2 * x * (g + (g == 0).all().to(g.dtype))


@FAST
def test_chk_6_backward_must_be_multiplied_by_the_gradient(fast):
    with refused("backward not multiplied by grad_output"):
        gradcheck(square(restless), (point([2.0]),), fast_mode=fast)


def test_chk_6_gradients_of_another_size_are_an_error_of_the_engine():
    with fails("returned an invalid gradient at index 0", "[2]", "[3]"):
        gradcheck(square(lambda g, x: (2 * x * g)[:2]), (point(ROW),), raise_exception=False)


def careful(g, h):
    return None if g is None and h is None else (0 if g is None else g) + (0 if h is None else 2 * h)


def raising(g, h):
    """Does not take None and zeros, or None twice, for two gradients."""
    if g is None and (h is None or not h.any()):
        raise RuntimeError("what is this?")
    return careful(g, h)


def inventive(g, h):
    return rg.ones(3, dtype=rg.float64) if g is None and (h is None or not h.any()) else careful(g, h)


UNDEFINED = pytest.mark.parametrize(
    ("backward", "said"),
    [
        (raising, "Expected backward function to handle undefined output grads"),
        (inventive, "Expected all input grads to be undefined or zero"),
    ],
)


@FAST
def test_chk_6_undefined_gradients_count_as_zeros(fast):
    assert gradcheck(twice(careful), (point(ROW),), fast_mode=fast)


def mind_the_warning():
    """Torch warns, besides raising, that this check is new."""
    return warns("feature is enabled by default") if STANDIN == "torch" else contextlib.nullcontext()


@FAST
@UNDEFINED
def test_chk_6_one_of_the_gradients_is_undefined(backward, said, fast):
    assert gradcheck(twice(backward), (point(ROW),), fast_mode=fast, check_undefined_grad=False)
    with mind_the_warning(), refused(said):
        gradcheck(twice(backward), (point(ROW),), fast_mode=fast)


@FAST
@UNDEFINED
def test_chk_6_all_gradients_are_undefined(backward, said, fast):
    def mixed(x):  # both outputs have a gradient, unless the only output of this has none
        return sum(twice(backward)(x))

    assert gradcheck(mixed, (point(ROW),), fast_mode=fast, check_undefined_grad=False)
    with mind_the_warning(), refused(said):
        gradcheck(mixed, (point(ROW),), fast_mode=fast)


def product(left):
    """x * y, with a jvp that gets None for a tangent that is not there: `left(tx, y)` is the part of x."""

    def forward(ctx, x, y):
        ctx.save_for_forward(x, y)
        ctx.set_materialize_grads(False)
        return x * y

    def jvp(ctx, tx, ty):
        x, y = ctx.saved_tensors
        return left(tx, y) + (0 if ty is None else x * ty)

    return type("Product", (Function,), {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}).apply


@FAST
def test_chk_6_undefined_tangents(fast):
    points, options = (point(ROW), point([1.0, 2.0, 3.0])), {"check_forward_ad": True, "check_backward_ad": False}
    right, wrong = (
        product(lambda tx, y: 0 if tx is None else tx * y),
        product(lambda tx, y: y if tx is None else tx * y),
    )
    assert gradcheck(right, points, fast_mode=fast, **options)
    assert gradcheck(wrong, points, fast_mode=fast, check_undefined_grad=False, **options)
    with refused("Mismatch in tangent values for output with index", "undefined tangent value"):
        gradcheck(wrong, points, fast_mode=fast, **options)


def test_chk_6_a_rule_may_write_to_the_gradient_that_it_gets():
    assert gradcheck(square(lambda g, x: g.mul_(2 * x)), (point(ROW),))


@FAST
def test_chk_6_runtime_errors_of_the_rule_are_failed_checks_and_others_come_through(fast):
    def failing(error):
        def backward(g, h):
            if g is None and (h is None or not h.any()):
                raise error("undefined")
            return careful(g, h)

        return twice(backward)

    with mind_the_warning(), refused("Expected backward function to handle undefined output grads"):
        gradcheck(failing(RuntimeError), (point(ROW),), fast_mode=fast)
    with mind_the_warning():
        assert gradcheck(failing(RuntimeError), (point(ROW),), fast_mode=fast, raise_exception=False) is False
    for raise_exception in (True, False):
        with fails("undefined", kind=LookupError):
            gradcheck(failing(LookupError), (point(ROW),), fast_mode=fast, raise_exception=raise_exception)


def test_chk_6_order():
    def chain(*faults):
        def backward(g, x):
            for fault in faults:
                g = fault(g, x)
            return g

        return square(backward)

    wrong, drift = (lambda g, x: x * g), drifting()
    one, options = (point([2.0]),), {"check_batched_grad": True}
    with refused("Backward is not reentrant"):  # before the values
        gradcheck(chain(wrong, drift), one, **options)
    with refused("Jacobian mismatch"):  # before the batch
        gradcheck(chain(wrong, batchless), one, **options)
    with refused("For output 0 and input 0"):  # before zeros
        gradcheck(square(lambda g, x: batchless(g, x) + 2 * x * (restless(g, x) / (2 * x) - g)), one, **options)


# ---- CHK-7: what does not require grad


@FAST
def test_chk_7_what_does_not_require_grad_must_be_constant(fast):
    assert gradcheck(lambda x: x.detach() * 0, (point(ROW),), fast_mode=fast)
    with refused("Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, (point(ROW),), fast_mode=fast)
    assert gradcheck(lambda x: x.detach() * 2, (point(ROW),), fast_mode=True, nondet_tol=10.0)


@beyond("torch subtracts the booleans, and fails")
@FAST
def test_chk_7_other_outputs_are_left_alone(fast):
    assert gradcheck(lambda x: (x > 0, x.argmax(), "text"), (point(ROW),), fast_mode=fast)


@beyond("torch takes the slopes of the first output for those of the second")
def test_chk_7_in_forward_mode_constant_outputs_are_left_alone():
    assert gradcheck(lambda x: (x.detach() * 0, x * 2), (point(ROW),), check_forward_ad=True)


# ---- CHK-8: options that need each other


def test_chk_8_options():
    x = point(ROW)
    with pytest.raises(AssertionError, match="at least one of check_forward_ad or check_backward_ad"):
        gradcheck(lambda x: x, (x,), check_backward_ad=False)
    with pytest.raises(AssertionError, match="check_batched_grad=True requires check_backward_ad"):
        gradcheck(lambda x: x, (x,), check_batched_grad=True, check_backward_ad=False, check_forward_ad=True)
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True requires check_forward_ad"):
        gradcheck(lambda x: x, (x,), check_batched_forward_grad=True, raise_exception=False)
    with pytest.raises(AssertionError, match="at least one of check_fwd_over_rev or check_rev_over_rev"):
        gradgradcheck(lambda x: x, (x,), check_rev_over_rev=False)
    forward = {"check_fwd_over_rev": True, "check_rev_over_rev": False}
    with pytest.raises(AssertionError, match="check_undefined_grad=True requires check_rev_over_rev"):
        gradgradcheck(lambda x: x, (x,), **forward)
    with pytest.raises(AssertionError, match="check_batched_grad=True requires check_rev_over_rev"):
        gradgradcheck(lambda x: x, (x,), check_undefined_grad=False, check_batched_grad=True, **forward)


@FAST
def test_chk_8_one_mode_alone(fast):
    no_jvp, no_vjp = square(jvp=None), square(backward=lambda g, x: {}["never"])
    assert gradcheck(no_jvp, (point(ROW),), fast_mode=fast)
    assert gradcheck(no_vjp, (point(ROW),), fast_mode=fast, check_forward_ad=True, check_backward_ad=False)


def test_chk_8_dtypes():
    complexly = square(jvp=lambda x, t: rg.tensor([complex(v) for v in (2 * x * t).tolist()], dtype=rg.complex128))
    with fails("dtype"):  # said by the check, if the engine lets it pass
        gradcheck(complexly, (point(ROW),), check_grad_dtypes=True, check_forward_ad=True)
    single = square(lambda g, x: (2 * x * g).to(rg.float32))
    assert gradcheck(single, (point(ROW),), check_grad_dtypes=True)  # the engine casts it back


# ---- CHK-9: masked


@FAST
def test_chk_9_masked_is_taken_and_means_nothing_for_dense_tensors(fast):
    for masked in (True, False, None):
        assert gradcheck(square(), (point(ROW),), fast_mode=fast, masked=masked)
        assert gradgradcheck(square(), (point(ROW),), fast_mode=fast, masked=masked)
        with refused("Jacobian mismatch"):
            gradcheck(square(lambda g, x: x * g), (point(ROW),), fast_mode=fast, masked=masked)


# ---- CHK-10: second derivatives


@FAST
def test_chk_10_the_map_to_gradients_is_checked(fast):
    assert gradgradcheck(lambda x, y: x**3 * y, (point(ROW), point(ROW)), fast_mode=fast)
    # right in first order: the wrong rule is that of the gradient
    tripled = rule(lambda x: 2 * x, lambda g, x: 3 * g, lambda x, t: 2 * t)
    second = square(lambda g, x: x * tripled(g))
    assert gradcheck(second, (point(ROW),), fast_mode=fast)
    with refused("Jacobian mismatch for output 0 with respect to input 1"):  # the gradient given
        gradgradcheck(second, (point(ROW),), fast_mode=fast)
    forward = {"check_fwd_over_rev": True, "check_rev_over_rev": False, "check_undefined_grad": False}
    assert gradgradcheck(second, (point(ROW),), fast_mode=fast, **forward)
    unruly = square(lambda g, x: x * rule(lambda x: 2 * x, lambda g, x: 2 * g, lambda x, t: 3 * t)(g))
    assert gradgradcheck(unruly, (point(ROW),), fast_mode=fast)
    with refused("Jacobian computed with forward mode mismatch for output 0 with respect to input 1"):
        gradgradcheck(unruly, (point(ROW),), fast_mode=fast, **forward)


def test_chk_10_gradients_of_the_outputs():
    seen = []

    def watched(g, x):
        seen.append((g.tolist(), g.is_contiguous()))
        return 2 * x * g

    assert gradgradcheck(square(watched), (point(ROW),))
    assert len(set(seen[0][0])) == 3 and seen[0][1]
    seen.clear()
    assert gradgradcheck(square(watched), (point(ROW),), gen_non_contig_grad_outputs=True)
    assert len(set(seen[0][0])) == 3 and not seen[0][1]
    seen.clear()
    assert gradgradcheck(square(watched), (point(ROW),), (point([1.0, -2.0, 0.5]),))
    assert seen[0] == ([1.0, -2.0, 0.5], True)
    assert gradgradcheck(square(), (point(ROW),), rg.ones(3, dtype=rg.float64))  # need not require grad


@FAST
def test_chk_10_a_backward_without_a_graph(fast):
    once = square(decorate=rg.autograd.function.once_differentiable)
    assert gradcheck(once, (point(ROW),), fast_mode=fast)
    with refused("Jacobian mismatch", "analytical:" + ("0.0" if fast else "tensor([[0., 0., 0.]")):
        gradgradcheck(once, (point(ROW),), fast_mode=fast)
    detached = square(lambda g, x: (2 * x * g).detach())
    assert gradcheck(detached, (point(ROW),), fast_mode=fast)
    with refused("Numerical gradient for function expected to be zero"):
        gradgradcheck(detached, (point(ROW),), fast_mode=fast)


def test_chk_10_options_are_those_of_gradcheck():
    assert gradgradcheck(square(), (point(ROW),), check_batched_grad=True, check_grad_dtypes=True)
    with refused("For output 0 and input 1"):
        in_second = rule(lambda g: 2 * g, lambda h, g: 2 * h * (1.5 if in_a_batch(h) else 1))
        gradgradcheck(square(lambda g, x: x * in_second(g)), (point(ROW),), check_batched_grad=True)
    assert gradgradcheck(
        square(lambda g, x: x * g), (point(ROW),)
    )  # whether the first derivative is right is not asked
    assert gradgradcheck(lambda x: x**3, (point(ROW),), rtol=0, atol=0, raise_exception=False) is False
