"""No transform leaks a graph into its result, and none loses one that leads outside.

Every chain of operators is applied to `p * x**5`, whose derivatives for x and p are known. If neither p nor x requires
grad outside, the result must not either; if one does, or belongs to a transform around the chain, the derivative of the
result for it must be right.
"""

import ctypes
import gc
import itertools
import math
from functools import partial

import pytest

import retrograd as rg
from retrograd import _core
from retrograd.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    laplacian,
    linearize,
    vjp,
    vmap,
)

fwd = rg.autograd.forward_ad
POWER = 7


def tensor(value, **options):
    return rg.tensor(value, dtype=rg.float64, **options)


X, P = 0.9, 1.7


def later(f, x):
    """The pullback is called when the function's own transform is over, inside of others or not."""
    return vjp(f, x)[1](tensor(1.0))[0]


def through_levels(f, x):
    with fwd.dual_level():
        return fwd.unpack_dual(f(fwd.make_dual(x, tensor(1.0)))).tangent


# What an operator makes of f, and how many derivatives it takes.
OPERATORS = {
    "grad": (lambda f, x: grad(f)(x), 1),
    "grad argnums=1": (lambda f, x: grad(lambda _, x: f(x), argnums=1)(tensor(0.0), x), 1),
    "gradient of grad_and_value": (lambda f, x: grad_and_value(f)(x)[0], 1),
    "value of grad_and_value": (lambda f, x: grad_and_value(f)(x)[1], 0),
    "aux of grad": (lambda f, x: grad(lambda x: (x**2, f(x)), has_aux=True)(x)[1], 0),
    "vjp": (later, 1),
    "value of vjp": (lambda f, x: vjp(f, x)[0], 0),
    "linearize": (lambda f, x: linearize(f, x)[1](tensor(1.0)), 1),
    "value of linearize": (lambda f, x: linearize(f, x)[0], 0),
    "jvp": (lambda f, x: jvp(f, (x,), (tensor(1.0),))[1], 1),
    "value of jvp": (lambda f, x: jvp(f, (x,), (tensor(1.0),))[0], 0),
    "dual level": (through_levels, 1),
    "jacrev": (lambda f, x: jacrev(f)(x), 1),
    "jacfwd": (lambda f, x: jacfwd(f)(x), 1),
    "vmap": (lambda f, x: vmap(f)(x.expand(3)).mean(), 0),
    "vmap of grad": (lambda f, x: vmap(grad(f))(x.expand(2)).mean(), 1),
    "hessian": (lambda f, x: hessian(f)(x), 2),
    "laplacian": (lambda f, x: laplacian(f)(x), 2),
    "hvp": (lambda f, x: hvp(f, x, tensor(1.0)), 2),
}
FEW = ["grad", "value of grad_and_value", "vjp", "linearize", "jvp", "jacrev", "jacfwd", "vmap"]


def applied(chain, p, x):
    def f(x):
        return p * x**POWER

    for name in reversed(chain):
        f = partial(OPERATORS[name][0], f)
    return f(x)


def order(chain):
    return sum(OPERATORS[name][1] for name in chain)


def close(got, want):
    assert abs(got.item() - want) <= 1e-9 * (1 + abs(want)), f"{got.item()} is not {want}"


def check(chain):
    n = order(chain)
    factor = math.perm(POWER, n)
    value, for_p = P * factor * X ** (POWER - n), factor * X ** (POWER - n)
    for_x = P * math.perm(POWER, n + 1) * X ** (POWER - n - 1)

    alone = applied(chain, tensor(P), tensor(X))
    close(alone, value)
    assert not alone.requires_grad and alone.grad_fn is None

    p = tensor(P, requires_grad=True)
    captured = applied(chain, p, tensor(X))
    close(captured, value)
    close(rg.autograd.grad(captured, p)[0], for_p)

    x = tensor(X, requires_grad=True)
    argument = applied(chain, tensor(P), x)
    close(argument, value)
    close(rg.autograd.grad(argument, x)[0], for_x)

    with rg.no_grad():
        assert not applied(chain, p, x).requires_grad

    for outer in (
        grad(lambda p: applied(chain, p, tensor(X)))(tensor(P)),
        jvp(lambda p: applied(chain, p, tensor(X)), (tensor(P),), (tensor(1.0),))[1],
        vmap(grad(lambda p: applied(chain, p, tensor(X))))(tensor([P, P])).mean(),
    ):
        close(outer, for_p)
        assert not outer.requires_grad


@pytest.mark.parametrize("name", OPERATORS)
def test_one(name):
    check([name])


@pytest.mark.parametrize("outer", OPERATORS)
def test_pairs(outer):
    for inner in OPERATORS:
        check([outer, inner])


@pytest.mark.parametrize("outer", FEW)
def test_triples(outer):
    for inner in itertools.product(FEW, FEW):
        check([outer, *inner])


def test_a_tangent_reaches_its_graph_through_reverse_mode():
    """The product of a Hessian with a vector, differentiated for the vector."""
    x, v = tensor(2.0), tensor(1.0)
    for inner in (grad(lambda x: x**3), jacrev(lambda x: x**3), lambda x: vjp(lambda x: x**3, x)[1](tensor(1.0))[0]):
        got = grad(lambda v, inner=inner: jvp(inner, (x,), (v,))[1])(v)
        close(got, 12.0)
        assert not got.requires_grad
        v = tensor(1.0, requires_grad=True)
        moved = jvp(inner, (x,), (v,))[1]
        close(rg.autograd.grad(moved, v)[0], 12.0)
        v = tensor(1.0)


def test_a_custom_function_without_jvp_leaks_nothing():
    class Cube(rg.autograd.Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    moved = jvp(Cube.apply, (tensor(2.0),), (tensor(1.0),))[1]
    close(moved, 12.0)
    assert not moved.requires_grad
    close(grad(lambda x: jvp(Cube.apply, (x,), (tensor(1.0),))[1])(tensor(2.0)), 12.0)
    close(grad(lambda v: jvp(Cube.apply, (tensor(2.0),), (v,))[1])(tensor(1.0)), 12.0)


# ---- loops


def allocated():
    gc.collect()
    bytes_of_c = 0
    try:
        info = ctypes.CDLL(None).mallinfo2

        class Mallinfo2(ctypes.Structure):
            _fields_ = [(str(i), ctypes.c_size_t) for i in range(10)]

        info.restype = Mallinfo2
        told = info()
        bytes_of_c = getattr(told, "7") + getattr(told, "4")
    except (AttributeError, OSError, TypeError):
        pass
    return _core._memory_stats()[0], bytes_of_c


def u(params, t):
    return (params["w2"] * rg.tanh(params["w1"] * t + params["b"])).sum()


def residual(params, ts):
    """Of u' = -u with u(0) = 1."""
    slopes = vmap(grad(u, argnums=1), in_dims=(None, 0))(params, ts)
    values = vmap(u, in_dims=(None, 0))(params, ts)
    return ((slopes + values) ** 2).mean() + (u(params, tensor(0.0)) - 1) ** 2


def start():
    generator = rg.Generator().manual_seed(3)
    return {name: rg.randn(8, dtype=rg.float64, generator=generator) for name in ("w1", "w2", "b")}


def test_a_loop_of_physics_informed_steps_neither_slows_nor_grows():
    params, ts = start(), rg.linspace(0, 1, 16, dtype=rg.float64)
    first = None
    for step in range(200):
        gradients, loss = grad_and_value(residual)(params, ts)
        assert not loss.requires_grad
        assert not any(g.requires_grad for g in gradients.values())
        params = {name: p - 0.05 * gradients[name] for name, p in params.items()}
        if step == 20:
            before, first = allocated(), loss.item()
    after = allocated()
    assert loss.item() < first
    assert all(now - then < 4096 for then, now in zip(before, after, strict=True)), (before, after)


def test_a_loop_with_leaves_that_require_grad_does_not_grow_either():
    params = {name: p.requires_grad_() for name, p in start().items()}
    ts = rg.linspace(0, 1, 16, dtype=rg.float64)
    for step in range(60):
        loss = residual(params, ts)
        gradients = rg.autograd.grad(loss, list(params.values()))
        with rg.no_grad():
            for p, g in zip(params.values(), gradients, strict=True):
                p -= 0.05 * g
        del loss, gradients, p, g
        if step == 20:
            before = allocated()
    assert all(now - then < 4096 for then, now in zip(before, allocated(), strict=True))


def test_functional_call_in_a_nested_gradient():
    class Scale:
        def __init__(self):
            self.weight = tensor(3.0)

        def named_parameters(self):
            yield "weight", self.weight

        def named_buffers(self):
            return []

        def __call__(self, x):
            return self.weight * x**3

    module = Scale()

    def slope(params, x):
        return grad(lambda x: functional_call(module, params, x))(x)

    got = grad(slope)(dict(module.named_parameters()), tensor(2.0))["weight"]
    close(got, 12.0)
    assert not got.requires_grad and module.weight.item() == 3.0
