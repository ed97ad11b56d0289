"""Transforms inside transforms, to any depth and in every mix, against polynomials.

Everything here is an operator on functions of one number. What it does to the coefficients of a polynomial is known, so
the value of any chain of them is known exactly, and no transform is checked by another one.
"""

import itertools

import pytest

import retrograd as rg
from retrograd.func import grad, grad_and_value, hvp, jacfwd, jacrev, jvp, laplacian, linearize, vjp, vmap

fwd = rg.autograd.forward_ad
COEFFICIENTS = [0.7, -1.3, 0.45, 0.8, -0.35, 0.11, 0.07]
AT = 0.8


def tensor(value):
    return rg.tensor(value, dtype=rg.float64)


def polynomial(coefficients):
    """As a function of tensors, by Horner's rule."""

    def f(x):
        y = x * 0 + coefficients[-1]
        for c in reversed(coefficients[:-1]):
            y = y * x + c
        return y

    return f


def value(coefficients, x):
    return sum(c * x**i for i, c in enumerate(coefficients))


def derivative(coefficients):
    return [i * c for i, c in enumerate(coefficients)][1:] or [0.0]


def times_x(coefficients):
    return [0.0, *coefficients]


# ---- derivatives: each of these takes f to f'


def by_jvp(f):
    return lambda x: jvp(f, (x,), (rg.ones_like(x),))[1]


def by_vjp(f):
    return lambda x: vjp(f, x)[1](rg.ones_like(x))[0]


def by_linearize(f):
    return lambda x: linearize(f, x)[1](rg.ones_like(x))


def by_levels(f):
    """Ordinary forward mode."""

    def of(x):
        with fwd.dual_level():
            return fwd.unpack_dual(f(fwd.make_dual(x, rg.ones_like(x)))).tangent

    return of


def by_autograd(f):
    """Ordinary reverse mode; what is differentiated for is a view, so that x may be anything."""

    def of(x):
        with rg.enable_grad():
            x = x.view_as(x) if x.requires_grad else x.view_as(x).requires_grad_()
            return rg.autograd.grad(f(x), x, create_graph=True)[0]

    return of


DERIVATIVES = {
    "grad": grad,
    "jvp": by_jvp,
    "vjp": by_vjp,
    "jacrev": jacrev,
    "jacfwd": jacfwd,
    "linearize": by_linearize,
    "value_and": lambda f: lambda x: grad_and_value(f)(x)[0],
}
ORDINARY = {"levels": by_levels, "autograd": by_autograd}


def capturing(d):
    """f to x * f', computed as the derivative of x * f(y) by y where y = x: confusion of the two would add f."""
    return lambda f: lambda x: d(lambda y: x * f(y))(x)


# ---- maps: f(x) + f(2 x) over a batch of two


def mapped_arguments(f):
    return lambda x: vmap(f)(rg.stack([x, 2 * x])).sum()


def mapped_scale(f):
    """The number itself is captured, and the same for all entries."""
    return lambda x: vmap(lambda scale: f(scale * x))(tensor([1.0, 2.0])).sum()


def mapped_last(f):
    return lambda x: vmap(lambda pair: rg.stack([f(pair[0]), f(2 * pair[1])]), in_dims=1, out_dims=1)(
        rg.stack([x, x]).unsqueeze(1)
    ).sum()


MAPS = {"vmap": mapped_arguments, "captured": mapped_scale, "pairs": mapped_last}


def both(coefficients):
    return [c * (1 + 2**i) for i, c in enumerate(coefficients)]


OPERATORS = {name: (d, derivative) for name, d in DERIVATIVES.items()}
OPERATORS |= {name: (m, both) for name, m in MAPS.items()}
CAPTURING = {f"x*{name}": (capturing(d), lambda c: times_x(derivative(c))) for name, d in DERIVATIVES.items()}


def chain(names, table):
    """The operators applied to the polynomial, the last name first, and the polynomial of the result."""
    f, coefficients = polynomial(COEFFICIENTS), COEFFICIENTS
    for name in reversed(names):
        operator, rule = table[name]
        f, coefficients = operator(f), rule(coefficients)
    return f, coefficients


def agree(got, coefficients, at=AT):
    assert got.shape == () and not got.requires_grad
    assert got.item() == pytest.approx(value(coefficients, at), rel=1e-9, abs=1e-9)


def ids(names):
    return "-".join(names)


CORE = ["grad", "jvp", "vjp", "vmap", "jacfwd", "jacrev"]
PAIRS = list(itertools.product(CORE, repeat=2))


@pytest.mark.parametrize("outer", OPERATORS)
@pytest.mark.parametrize("inner", OPERATORS)
def test_pairs(outer, inner):
    f, coefficients = chain((outer, inner), OPERATORS)
    agree(f(tensor(AT)), coefficients)


@pytest.mark.parametrize("outer", CORE)
def test_triples(outer):
    for inner in itertools.product(CORE, repeat=2):
        f, coefficients = chain((outer, *inner), OPERATORS)
        agree(f(tensor(AT)), coefficients)


@pytest.mark.parametrize("names", list(itertools.product(CORE, repeat=4))[::41], ids=ids)
def test_a_sample_of_chains_of_four(names):
    f, coefficients = chain(names, OPERATORS)
    agree(f(tensor(AT)), coefficients)


@pytest.mark.parametrize("one", CAPTURING)
@pytest.mark.parametrize("other", [*CAPTURING, *MAPS])
def test_no_confusion_in_pairs(one, other):
    table = OPERATORS | CAPTURING
    for order in ((one, other), (other, one)):
        f, coefficients = chain(order, table)
        agree(f(tensor(AT)), coefficients)


@pytest.mark.parametrize("outer", CAPTURING)
def test_no_confusion_in_triples(outer):
    core = ["x*grad", "x*jvp", "x*vjp", "x*jacfwd", "x*jacrev", "vmap", "captured"]
    for inner in itertools.product(core, repeat=2):
        f, coefficients = chain((outer, *inner), OPERATORS | CAPTURING)
        agree(f(tensor(AT)), coefficients)


@pytest.mark.parametrize("ordinary", ORDINARY)
@pytest.mark.parametrize("outer", [*OPERATORS, *CAPTURING])
def test_ordinary_autograd_around_two_transforms(ordinary, outer):
    for inner in (*OPERATORS, *CAPTURING):
        f, coefficients = chain((outer, inner), OPERATORS | CAPTURING)
        agree(ORDINARY[ordinary](f)(tensor(AT)).detach(), derivative(coefficients))


@pytest.mark.parametrize("ordinary", ORDINARY)
@pytest.mark.parametrize("outer", [*OPERATORS, *CAPTURING])
@pytest.mark.parametrize("inner", ["grad", "jvp", "vmap", "x*jacrev", "x*jacfwd"])
def test_ordinary_autograd_between_two_transforms(ordinary, outer, inner):
    table = OPERATORS | CAPTURING | {name: (d, derivative) for name, d in ORDINARY.items()}
    f, coefficients = chain((outer, ordinary, inner), table)
    agree(f(tensor(AT)).detach(), coefficients)


@pytest.mark.parametrize("names", PAIRS, ids=ids)
def test_all_over_a_batch(names):
    f, coefficients = chain(names, OPERATORS)
    points = [0.3, -0.5, 1.1]
    got = vmap(f)(tensor(points))
    assert got.tolist() == pytest.approx([value(coefficients, x) for x in points], rel=1e-9)


@pytest.mark.parametrize("names", PAIRS, ids=ids)
def test_all_over_a_grid(names):
    f, coefficients = chain(names, OPERATORS)
    grid = [[0.3, -0.5, 1.1], [0.2, 0.4, -0.9]]
    for got in (vmap(vmap(f))(tensor(grid)), vmap(vmap(f, 0, 0), 1, 1)(tensor(grid))):
        for row, points in zip(got.tolist(), grid, strict=True):
            assert row == pytest.approx([value(coefficients, x) for x in points], rel=1e-9)


@pytest.mark.parametrize("name", [*DERIVATIVES, *ORDINARY])
def test_sixth_derivatives(name):
    d = (DERIVATIVES | ORDINARY)[name]
    f, coefficients = polynomial(COEFFICIENTS), COEFFICIENTS
    for _ in range(6):
        f, coefficients = d(f), derivative(coefficients)
    agree(f(tensor(AT)).detach(), coefficients)


@pytest.mark.parametrize(
    "names", list(itertools.permutations(["grad", "jvp", "vjp", "jacfwd", "jacrev"]))[::7], ids=ids
)
def test_fifth_derivatives_by_all_modes_in_turn(names):
    f, coefficients = chain(names, OPERATORS)
    agree(f(tensor(AT)), coefficients)


# ---- links to what is outside


@pytest.mark.parametrize("names", PAIRS, ids=ids)
def test_captured_tensors_get_ordinary_gradients(names):
    """Scaling the polynomial by w scales the result, so its derivative by w is the result for w = 1."""
    w = tensor(1.0).requires_grad_()
    f, coefficients = polynomial(COEFFICIENTS), COEFFICIENTS
    g = f
    f = lambda x: w * g(x)  # noqa: E731
    for name in reversed(names):
        operator, rule = OPERATORS[name]
        f, coefficients = operator(f), rule(coefficients)
    result = f(tensor(AT))
    assert result.requires_grad
    (gw,) = rg.autograd.grad(result, w)
    agree(gw, coefficients)


@pytest.mark.parametrize("names", PAIRS, ids=ids)
def test_results_of_plain_inputs_do_not_require_grad(names):
    """Nor of inputs that require grad, under no_grad; else these are linked."""
    f, coefficients = chain(names, OPERATORS)
    assert not f(tensor(AT)).requires_grad
    x = tensor(AT).requires_grad_()
    with rg.no_grad():
        agree(f(x), coefficients)
    result = f(x)
    assert result.requires_grad
    result.backward()
    agree(x.grad, derivative(coefficients))


# ---- products of second order, in the same terms


def test_products_of_second_order_nest_too():
    f, second = polynomial(COEFFICIENTS), derivative(derivative(COEFFICIENTS))
    x, one = tensor(AT), tensor(1.0)
    for name, d in DERIVATIVES.items():
        agree(d(lambda x: hvp(f, x, one))(x), derivative(second)), name
        agree(d(laplacian(f))(x), derivative(second))
        agree(hvp(d(f), x, one), derivative(second))
        agree(laplacian(d(f))(x), derivative(second))
    agree(mapped_scale(laplacian(f))(x), both(second))
    agree(laplacian(mapped_scale(f))(x), derivative(derivative(both(COEFFICIENTS))))
    agree(mapped_arguments(lambda x: hvp(f, x, one))(x), both(second))
