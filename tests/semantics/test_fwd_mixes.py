"""FWD: mixes of forward and reverse mode, of several levels, and perturbations that must not be confused."""

import math

import pytest

from . import array, close, leaf, rg, same
from .test_fwd import NESTING, Function, dual, level, point, push, tangent, unpack

grad = rg.autograd.grad


def pull(f, x):
    """The derivative of f at x by reverse mode, itself differentiable."""
    with rg.enable_grad():
        inside = x.view_as(x)  # keeps tangents, unlike detach
        y = f(inside if inside.requires_grad else inside.requires_grad_())
        if not y.requires_grad:
            return rg.zeros_like(x)
        (g,) = grad(y, inside, rg.ones_like(y), create_graph=True, allow_unused=True)
    return rg.zeros_like(x) if g is None else g


# ---- FWD-13: with reverse mode


def test_fwd_13_forward_over_reverse():
    x, v = leaf([1.0, 2.0]), rg.tensor([3.0, 4.0])
    with level():
        d = dual(x, v)
        primal, t = unpack((d * d * d).sum())
        assert primal.requires_grad and t.requires_grad
        (g,) = grad(t, x, retain_graph=True)
        same(g, [6.0 * 1 * 3, 6.0 * 2 * 4])
        same(grad(primal, x)[0], [3.0, 12.0])


def test_fwd_13_the_tangent_alone_may_require_grad():
    x, v = rg.tensor([1.0, 2.0]), leaf([3.0, 4.0])
    with level():
        primal, t = unpack(dual(x, v).exp())
        assert t.requires_grad
        close(grad(t, v, rg.ones(2))[0], [math.e, math.e**2])
        same(primal, array(x.exp()))


def test_fwd_13_reverse_over_forward():
    v = rg.tensor([3.0, 4.0])
    with level():
        d = dual(rg.tensor([1.0, 2.0]), v).requires_grad_()
        assert d.is_leaf
        (g,) = grad((d * d * d).sum(), d)
        same(unpack(g).primal, [3.0, 12.0])
        same(tangent(g), [18.0, 48.0])


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("pack", [lambda t: t, lambda t: t.detach(), lambda t: t.clone()])
def test_fwd_13_what_hooks_unpack_has_the_tangent_that_was_saved(pack, requires_grad):
    x = leaf([2.0])
    with level():
        c = dual(rg.tensor([3.0], requires_grad=requires_grad), rg.tensor([5.0]))
        with rg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            product, power = x * c, c.exp()
        (g,) = grad(product, x)
        same(unpack(g).primal, [3.0])
        same(tangent(g), [5.0])
        if requires_grad:
            (g,) = grad(power, c)
            close(tangent(g), [5 * math.exp(3)])


def test_fwd_13_a_tensor_that_a_hook_unpacks_may_have_a_tangent_of_its_own():
    x = leaf([2.0])
    with level():
        with rg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: dual(t.detach(), rg.tensor([7.0]))):
            y = x * rg.tensor([3.0])
        (g,) = grad(y, x)
        same(tangent(g), [7.0])


@pytest.mark.parametrize("first", [False, True])
def test_fwd_13_a_sum_of_gradients_has_the_tangents_of_both(first):
    """The one that arrives first is a fresh tensor that nobody else has, and is added to in place."""
    x, c = leaf([2.0]), rg.tensor([3.0])
    with level():
        d = dual(rg.tensor([5.0]), rg.tensor([7.0]))
        a, b = (x * d, x * c) if first else (x * c, x * d)
        (g,) = grad(a + b, x)
        same(unpack(g).primal, [8.0])
        same(tangent(g), [7.0])


def test_fwd_13_a_dual_seed():
    x = leaf([1.0, 2.0])
    with level():
        (g,) = grad(x * x, x, dual(rg.ones(2), rg.tensor([1.0, 10.0])))
        same(g, [2.0, 4.0])
        same(tangent(g), [2.0, 40.0])


def test_fwd_13_backward_stores_no_tangent():
    x = leaf([1.0, 2.0])
    with level():
        d = dual(x, rg.tensor([3.0, 4.0]))
        (d * d * d).sum().backward()
        same(x.grad, [3.0, 12.0])
        assert tangent(x.grad) is None
        own = dual(rg.tensor([1.0]), rg.tensor([1.0])).requires_grad_()
        (own * own).backward()
        same(own.grad, [2.0])
        assert tangent(own.grad) is None


# Perturbation confusion: the derivative of an inner function must not be taken for that of the outer one. Each case has
# its own answer; `D` is forward or reverse mode, in all mixes. The first is that of Siskind and Pearlmutter.
CONFUSING = [
    ("x d(x + y)/dy", lambda outer, inner: outer(lambda x: x * inner(lambda y: x + y, point(1.0)), point(1.0)), 1.0),
    ("x d(x y)/dy", lambda outer, inner: outer(lambda x: x * inner(lambda y: x * y, point(2.0)), point(3.0)), 6.0),
    ("d(x y)/dy at x", lambda outer, inner: outer(lambda x: inner(lambda y: x * y, x), point(3.0)), 1.0),
    ("d(x y y)/dy at x", lambda outer, inner: outer(lambda x: inner(lambda y: x * y * y, x), point(3.0)), 12.0),
    ("inner ignores y", lambda outer, inner: outer(lambda x: x * inner(lambda y: x * x + 0 * y, x), point(3.0)), 0.0),
    ("second derivative", lambda outer, inner: outer(lambda x: inner(lambda y: y * y * y, x), point(2.0)), 12.0),
    (
        "product of two inner ones",
        lambda outer, inner: outer(lambda x: inner(lambda y: x * y, x) * inner(lambda z: x * z * z, x), point(2.0)),
        24.0,
    ),
    (
        "the inner result outlives its level",
        lambda outer, inner: outer(lambda x: (lambda t: t * x)(inner(lambda y: (x * y).sin(), point(0.0))), point(3.0)),
        6.0,
    ),
]
MODES = [
    pytest.param(push, push, id="forward in forward", marks=NESTING),
    pytest.param(push, pull, id="reverse in forward"),
    pytest.param(pull, push, id="forward in reverse"),
    pytest.param(pull, pull, id="reverse in reverse"),
]


@pytest.mark.parametrize(("case", "expected"), [pytest.param(f, want, id=name) for name, f, want in CONFUSING])
@pytest.mark.parametrize(("outer", "inner"), MODES)
def test_fwd_13_perturbations_are_kept_apart(outer, inner, case, expected):
    close(case(outer, inner), expected)


def three_deep(a, b, c):
    """d/dx x d/dy (y d/dz (x y z z) at y) at x, at 2: x * 6 x y^2 at y = x, so 6 x^4 and its derivative."""
    return a(lambda x: x * b(lambda y: y * c(lambda z: x * y * z * z, y), x), point(2.0))


TRIPLES = [
    pytest.param(*(modes), id=" in ".join("forward" if m is push else "reverse" for m in reversed(modes)), marks=marks)
    for modes in [(a, b, c) for a in (push, pull) for b in (push, pull) for c in (push, pull)]
    for marks in [[NESTING] if modes.count(push) > 1 else []]
]


@pytest.mark.parametrize(("a", "b", "c"), TRIPLES)
def test_fwd_13_perturbations_are_kept_apart_three_deep(a, b, c):
    close(three_deep(a, b, c), 8 * 3 * 2.0**3)


def shifted(derivative, f):
    """The derivative of f as a function, by shifting its argument: d f(x + u)/du at 0."""
    return lambda x: derivative(lambda u: f(x + u), point(0.0))


@pytest.mark.parametrize(("outer", "inner"), MODES)
def test_fwd_13_derivatives_of_functions_that_return_functions(outer, inner):
    close(shifted(outer, shifted(inner, lambda x: (x * 2).exp()))(point(0.5)), 4 * math.e)
    close(shifted(outer, shifted(inner, lambda x: x * x * x))(point(2.0)), 12.0)


@NESTING
def test_fwd_13_deep_nests():
    def derivative(f, k):
        return f if k == 0 else (lambda x: push(derivative(f, k - 1), x))

    for k in range(6):
        close(derivative(lambda x: (x * 2).exp(), k)(point(0.5)), 2**k * math.e)
    same(derivative(lambda x: x**3, 4)(point(2.0)), 0.0)


@NESTING
def test_fwd_13_views_and_in_place_writes_of_two_levels():
    def f(x):
        y = rg.zeros(3, dtype=rg.float64)
        y[1:] = x * x
        y[1:].mul_(x)
        return y

    with level():
        a = dual(point([1.0, 2.0]), point([1.0, 1.0]))
        with level():
            y = f(dual(a, point([1.0, 10.0])))
            same(tangent(y), [0.0, 3.0, 120.0])
            same(tangent(y, level=0), [0.0, 3.0, 12.0])
            same(tangent(tangent(y), level=0), [0.0, 6.0, 120.0])


@NESTING
def test_fwd_13_functions_of_two_levels():
    class Cube(Function):
        @staticmethod
        def forward(x):
            return x * x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return 3 * x * x * t

    same(push(lambda x: push(Cube.apply, x), point(2.0)), 12.0)


def test_fwd_13_what_a_rule_saved_of_a_borrowed_tangent_stays():
    """The tangent of x + 2 is that of x, and an op on it keeps it: a write to x then leaves that memory alone."""

    def f(x):
        x = x * 1.0
        y = (x + 2.0).t()
        x.mul_(y)
        return x

    x, v = rg.tensor(3.0, dtype=rg.float64), rg.tensor(1.0, dtype=rg.float64)
    value = rg.func.grad(lambda x: rg.func.jvp(f, (x,), (v,))[1])(x)
    same(value, 2.0)


def test_fwd_6_a_transform_may_write_to_the_tangent_of_an_argument():
    def f(x, y):
        y[...] = y * y
        return (x * y).sum()

    escaped = []  # a tensor that left its level has ops look for levels, for as long as it lives
    rg.vmap(lambda x: escaped.append(x) or x)(rg.ones(2))
    for _ in range(2):
        xs, vs = (rg.tensor([2.0]), rg.tensor([3.0])), (rg.tensor([1.0]), rg.tensor([10.0]))
        _, t = rg.func.jvp(rg.func.grad(f), xs, vs)
        same(t, [60.0])
        escaped.clear()


def test_fwd_13_what_a_function_saves_of_its_results_has_their_tangents():
    """Forward over reverse through a Function: its backward reads the result, which depends on the argument."""

    class Exp(Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

        @staticmethod
        def jvp(ctx, t):
            (y,) = ctx.saved_tensors
            return t * y

    x = rg.tensor([0.5, -1.0], dtype=rg.float64)
    hessian = rg.func.hessian(lambda x: (Exp.apply(x) * rg.tensor([2.0, 3.0], dtype=rg.float64)).sum())(x)
    close(hessian, rg.diag(x.exp() * rg.tensor([2.0, 3.0], dtype=rg.float64)))
    third = rg.func.jacfwd(rg.func.hessian(lambda x: Exp.apply(x)))(rg.tensor(0.5, dtype=rg.float64))
    close(third, math.exp(0.5))
    point = rg.tensor([0.5, -1.0], dtype=rg.float64, requires_grad=True)
    assert rg.autograd.gradgradcheck(Exp.apply, point, check_fwd_over_rev=True)
