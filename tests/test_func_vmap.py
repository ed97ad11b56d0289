"""`vmap` against loops: axes, trees, levels, random numbers, chunks and errors."""

import collections
import itertools

import numpy as np
import pytest

import retrograd as rg
from retrograd import _core
from retrograd.func import debug_unwrap, grad, jacfwd, jvp, vjp, vmap

Point = collections.namedtuple("Point", "x y")


@pytest.fixture(autouse=True)
def nothing_stays_open():
    yield
    assert _core._transforms_active() == 0


def tensor(values):
    return rg.tensor(values, dtype=rg.float64)


def numbers(*shape):
    """Different in all places, without symmetry."""
    count = 1
    for n in shape:
        count *= n
    return (rg.arange(1.0, count + 1.0, dtype=rg.float64) * 0.37).sin().reshape(*shape)


def close(got, want):
    assert isinstance(got, rg.Tensor)
    want = want if isinstance(want, rg.Tensor) else tensor(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert bool((got - want).abs().max() <= 1e-9 * (1 + want.abs().max())) if want.numel() else True


def diagonal(v):
    return rg.eye(len(v), dtype=rg.float64) * v


def raises(kind, text):
    return pytest.raises(kind, match=text)


def f(x, y):
    return x.sum(0) * y + (x * 2).prod()


# ---- axes


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("out_dim", [0, 1, -1, -2])
def test_axes_of_arguments_and_results(dim, out_dim):
    x, y = numbers(2, 3, 4), numbers(5)
    got = vmap(lambda x: x.sum(1) * y[: x.shape[0]], in_dims=dim, out_dims=out_dim)(x)
    want = rg.stack([t.sum(1) * y[: t.shape[0]] for t in x.unbind(dim)], dim=out_dim)
    close(got, want)


def test_arguments_that_are_not_mapped():
    x, y = numbers(3, 2), numbers(2)
    want = rg.stack([f(t, y) for t in x])
    close(vmap(f, in_dims=(0, None))(x, y), want)
    close(vmap(lambda x, y, k: f(x, y) * k, in_dims=(0, None, None))(x, y, 3.0), 3 * want)
    close(vmap(f, in_dims=(None, 0))(y, x), rg.stack([f(y, t) for t in x]))
    close(vmap(lambda x, k=None: f(x, k))(x, k=y), want)
    shapes = []
    vmap(lambda x, k: shapes.append((x.shape, k.shape)) or x)(x, k=numbers(3, 7))
    assert shapes == [((2,), (3, 7))]


def test_trees():
    x, y = numbers(3, 2), numbers(2, 3)

    def g(p, q):
        a, (b, c) = p["a"], q
        return {"s": a + b, "l": [b.sum(), Point(a * c, a)]}

    got = vmap(g, in_dims=({"a": 0}, (1, None)))({"a": x}, (y, 2.0))
    close(got["s"], x + y.t())
    close(got["l"][0], y.sum(0))
    assert type(got["l"][1]) is Point
    close(got["l"][1].x, x * 2)
    got = vmap(lambda p: p["a"][0] * p["b"], in_dims=({"b": 1, "a": 0},))({"a": [x, x], "b": y})
    close(got, x * y.t())
    got = vmap(lambda p: p.x + p.y, in_dims=(Point(0, 1),))(Point(x, y))
    close(got, x + y.t())
    got = vmap(lambda p: (p[0] + 1, {"k": p[1]}), out_dims=(1, {"k": 0}))([x, x])
    close(got[0], x.t() + 1)
    close(got[1]["k"], x)
    got = vmap(lambda x: Point(x, x.sum()), out_dims=Point(-1, 0))(x)
    close(got.x, x.t())
    got = vmap(lambda x: collections.OrderedDict(b=x, a=3), out_dims={"a": None, "b": 1})(x)
    assert type(got) is collections.OrderedDict and got["a"] == 3
    close(got["b"], x.t())
    assert vmap(lambda x: ())(x) == ()
    values, indices = vmap(lambda x: x.max(0))(x)
    close(values, x.max(1).values)
    assert indices.tolist() == x.max(1).indices.tolist()


def test_results_that_are_not_batched():
    x = numbers(3, 2)
    close(vmap(lambda x: tensor([1.0, 2.0]))(x), [[1.0, 2.0]] * 3)
    close(vmap(lambda x: tensor([1.0, 2.0]), out_dims=1)(x), [[1.0] * 3, [2.0] * 3])
    got, three = vmap(lambda x: (tensor([1.0, 2.0]), 3), out_dims=None)(x)
    close(got, [1.0, 2.0])
    assert three == 3
    close(vmap(lambda x: x.new_zeros(2))(x), [[0.0] * 2] * 3)


def test_sizes_one_and_zero():
    close(vmap(lambda x: x * 2)(numbers(1, 3)), numbers(1, 3) * 2)
    assert vmap(lambda x: x.sum())(numbers(0, 3)).shape == (0,)
    assert vmap(lambda x: x.sum(), chunk_size=2)(numbers(0, 3)).shape == (0,)
    assert vmap(vmap(lambda x: x * 2))(numbers(0, 3)).shape == (0, 3)


def test_batched_tensors_show_one_entry():
    seen = []

    def g(x):
        seen.append((x.shape, x.ndim, x.numel(), x.size(-1), len(x), x.dtype, debug_unwrap(x).shape))
        return x

    vmap(g, in_dims=1)(numbers(2, 3, 4))
    assert seen == [((2, 4), 2, 8, 4, 2, rg.float64, (2, 3, 4))]


def test_debug_unwrap():
    shapes = []

    def g(x):
        shapes.append((debug_unwrap(x, recurse=False).shape, debug_unwrap(x).shape))
        return x

    vmap(vmap(g))(numbers(2, 3, 4))
    assert shapes == [((3, 4), (2, 3, 4))]
    x = numbers(2)
    assert debug_unwrap(x) is x


# ---- levels


@pytest.mark.parametrize("outer", [0, 1, 2, -1])
@pytest.mark.parametrize("inner", [0, 1, -1])
@pytest.mark.parametrize("outs", list(itertools.product([0, 1], repeat=2)))
def test_maps_in_maps(outer, inner, outs):
    x = numbers(2, 3, 4)
    weights = numbers(x.unbind(outer)[0].shape[inner])

    def g(x, weight):
        return x * weight, x.sum()

    mapped = vmap(vmap(g, in_dims=(inner, 0), out_dims=(outs[0], 0)), in_dims=(outer, None), out_dims=(outs[1], 0))
    got, sums = mapped(x, weights)
    loops = [[g(part, w) for part, w in zip(t.unbind(inner), weights, strict=True)] for t in x.unbind(outer)]
    close(got, rg.stack([rg.stack([y for y, _ in row], dim=outs[0]) for row in loops], dim=outs[1]))
    close(sums, rg.stack([rg.stack([s for _, s in row]) for row in loops]))


def test_products_of_all_pairs():
    x, y = numbers(3, 2), numbers(4, 2)
    close(vmap(lambda a: vmap(lambda b: rg.dot(a, b))(y))(x), x @ y.t())
    close(vmap(vmap(rg.dot, in_dims=(None, 0)), in_dims=(0, None))(x, y), x @ y.t())
    close(
        vmap(vmap(lambda a, b: a * b, (0, None)), (None, 0))(numbers(3), numbers(4)), numbers(4)[:, None] * numbers(3)
    )


def test_levels_of_inner_maps_do_not_leave():
    """An inner map that does not map over what the outer one does, and results of an outer one inside."""
    x, y = numbers(3), numbers(2)
    got = vmap(lambda a: vmap(lambda b: a)(y), out_dims=1)(x)
    close(got, x.expand(2, 3))
    got = vmap(lambda a: vmap(lambda b: b, out_dims=0)(y) * a)(x)
    close(got, x[:, None] * y)
    got = vmap(lambda a: vmap(lambda b: a * 2, out_dims=None)(y))(x)
    close(got, x * 2)


# ---- derivatives of maps, and maps of derivatives


def test_maps_are_recorded():
    x, w = numbers(3, 2).requires_grad_(), numbers(2).requires_grad_()
    y = vmap(lambda x: (x * w).sum() ** 2)(x)
    gx, gw = rg.autograd.grad(y.sum(), (x, w))
    s = 2 * (x @ w)[:, None]
    close(gx, (s * w).detach())
    close(gw, (s * x).sum(0).detach())
    with rg.no_grad():
        assert not vmap(lambda x: x * w)(x).requires_grad


def test_maps_of_gradients_with_captured_weights():
    xs, w = numbers(3, 2), numbers(2)
    loss = lambda w, x: (w * x).sum() ** 3  # noqa: E731
    got = vmap(grad(loss), in_dims=(None, 0))(w, xs)
    want = rg.stack([3 * (w * x).sum() ** 2 * x for x in xs])
    close(got, want)
    close(vmap(lambda x: grad(lambda w: loss(w, x))(w))(xs), want)
    close(vmap(lambda x: vjp(lambda w: loss(w, x), w)[1](tensor(1.0))[0])(xs), want)
    close(vmap(lambda x: jvp(lambda w: loss(w, x), (w,), (w,))[1])(xs), want @ w)
    close(vmap(lambda v: jvp(lambda w: loss(w, xs[0]), (w,), (v,))[1])(rg.eye(2, dtype=rg.float64)), want[0])
    close(vmap(lambda x: grad(lambda w: loss(w, tensor([1.0, 1.0])))(w))(xs), (3 * w.sum() ** 2).expand(3, 2).clone())


def test_autograd_inside_of_maps():
    xs = numbers(3, 2)

    def g(x):
        x = x.detach().requires_grad_()
        return rg.autograd.grad((x**3).sum(), x)[0]

    close(vmap(g)(xs), 3 * xs**2)


def test_batched_gradients_of_each_entry():
    """`is_grads_batched` inside of a map."""
    xs = numbers(3, 2).requires_grad_()

    def g(x):
        y = x**2 * x.sum()
        return rg.autograd.grad(y, x, rg.eye(2, dtype=rg.float64), is_grads_batched=True, create_graph=True)[0]

    got = vmap(g)(xs)
    want = [diagonal(2 * x * x.sum()) + (x**2)[:, None] for x in xs]
    close(got.detach(), rg.stack(want).detach())


# ---- in place


def test_in_place():
    x = numbers(3, 2)
    y = x.clone()
    got = vmap(lambda t: t.mul_(2).add_(t))(y)
    close(got, 4 * x)
    close(y, 4 * x)
    z = x.clone()
    vmap(lambda t: t[0].zero_())(z)
    close(z, x * tensor([0.0, 1.0]))
    with raises(RuntimeError, "vmap: .*in.?place|vmap: .*is not possible because there exists a Tensor"):
        vmap(lambda t: numbers(2).add_(t))(x)


# ---- random numbers


def test_random_numbers_are_refused_by_default():
    for draw in (lambda x: rg.rand(2), lambda x: x + rg.randn(2), lambda x: rg.nn.functional.dropout(x)):
        with raises(RuntimeError, "called random operation.*while in randomness error mode"):
            vmap(draw)(numbers(3, 2))
    with raises(RuntimeError, "Only allowed values for randomness are 'error', 'different', or 'same'. Got some"):
        vmap(lambda x: x, randomness="some")


def test_random_numbers_same_or_different():
    x = numbers(4, 3)
    same = vmap(lambda x: x * 0 + rg.rand(3, dtype=rg.float64), randomness="same")(x)
    assert all(bool((row == same[0]).all()) for row in same) and len(set(same[0].tolist())) == 3
    different = vmap(lambda x: x * 0 + rg.rand(3, dtype=rg.float64), randomness="different")(x)
    assert len(set(different.flatten().tolist())) == 12
    assert vmap(lambda x: rg.rand(3), randomness="different")(x).shape == (4, 3)
    nested = vmap(lambda r: vmap(lambda y: rg.rand(2), randomness="different")(r), randomness="different")(x)
    assert nested.shape == (4, 3, 2) and len(set(nested.flatten().tolist())) == 24
    outer = vmap(lambda x: vmap(lambda y: rg.rand(2), randomness="same")(x), randomness="different")(x)
    assert outer.shape == (4, 3, 2) and len(set(outer[:, 0].flatten().tolist())) == 8
    assert bool((outer == outer[:, :1]).all())


def test_random_numbers_of_jacfwd():
    def g(x):
        return x * rg.rand(3, dtype=rg.float64)

    with raises(RuntimeError, "called random operation.*while in randomness error mode"):
        jacfwd(g)(numbers(3))
    with raises(RuntimeError, "called random operation.*while in randomness error mode"):
        jacfwd(lambda x: x * rg.rand(1))(numbers(1))
    for randomness in ("same", "different"):
        rg.manual_seed(3)
        got = jacfwd(g, randomness=randomness)(numbers(3))
        rg.manual_seed(3)
        close(got, diagonal(rg.rand(3, dtype=rg.float64)))


# ---- chunks


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 4, 5, 100])
def test_chunks(chunk_size):
    x, sizes = numbers(2, 5, 3), []

    def g(x, k):
        sizes.append(debug_unwrap(x).numel() // x.numel())
        return {"sum": x.sum(1), "all": x * k}

    got = vmap(g, in_dims=(1, None), out_dims={"sum": -1, "all": 1}, chunk_size=chunk_size)(x, 2.0)
    close(got["sum"], x.sum(2))
    close(got["all"], 2 * x)
    assert sum(sizes) == 5 and max(sizes) == min(chunk_size, 5)


def test_chunks_draw_the_same_numbers():
    got = vmap(lambda x: x * 0 + rg.rand(2), randomness="same", chunk_size=2)(rg.ones(5, 2))
    assert bool((got == got[0]).all())
    got = vmap(lambda x: x * 0 + rg.rand(2), randomness="different", chunk_size=2)(rg.ones(5, 2))
    assert len(set(got.flatten().tolist())) == 10


def test_chunk_sizes_are_positive():
    for size in (0, -1):
        with raises(ValueError, rf"vmap: chunk_size should be None or greater than 0. \(got {size}\)"):
            vmap(lambda x: x, chunk_size=size)


# ---- errors

X = numbers(3, 2)


@pytest.mark.parametrize(
    ("in_dims", "args", "text"),
    [
        ("a", (X,), "expected `in_dims` to be int or a .* tuple .*got: <class 'str'>"),
        ([0], (X,), "expected `in_dims` to be int or a .* tuple .*got: <class 'list'>"),
        (None, (X,), "expected `in_dims` to be int or a .* tuple .*got: <class 'NoneType'>"),
        (0, (), "got no inputs"),
        ((0,), (X, X), "in_dims is not compatible with the structure of `inputs`"),
        (({"b": 0},), ({"a": X},), "in_dims is not compatible with the structure of `inputs`"),
        (((0, 0),), (Point(X, X),), "in_dims is not compatible with the structure of `inputs`"),
        (((0, 0),), (X,), "in_dims is not compatible with the structure of `inputs`"),
        ((0.5,), (X,), "Got in_dim=0.5 for an input but in_dim must be either an integer dimension or None"),
        (
            0,
            (3.0,),
            "the input is of type <class 'float'>. We cannot vmap over non-Tensor",
        ),
        (2, (X,), "Got in_dim=2 for some input, but that input is a Tensor of dimensionality 2 so expected"),
        (-3, (X,), "-2 <= in_dim < 2"),
        (0, (tensor(1.0),), "dimensionality 0"),
        ((None,), (X,), "Expected at least one Tensor to vmap over"),
        ((0, 1), (X, X), r"the same size in the mapped dimension, got sizes \[3, 2\]"),
    ],
)
def test_errors_of_arguments(in_dims, args, text):
    with raises(ValueError, text):
        vmap(lambda *args: args, in_dims=in_dims)(*args)


@pytest.mark.parametrize(
    ("out_dims", "result", "text"),
    [
        ("a", X, "`out_dims` must be an int, None or a python collection of ints"),
        ((0, 0), X, "out_dims is not compatible with the structure of `outputs`"),
        ([0], X, "out_dims is not compatible with the structure of `outputs`"),
        ((0,), (X, X), "out_dims is not compatible with the structure of `outputs`"),
        ((0, 0), Point(X, X), "out_dims is not compatible with the structure of `outputs`"),
        (0, 3, "must only return Tensors, got type <class 'int'>. Did you mean to set out_dims= to None for output?"),
        (0, None, "must only return Tensors, got type <class 'NoneType'>"),
        ((0, 0), (X, 3), "must only return Tensors, got type <class 'int'>"),
    ],
)
def test_errors_of_results(out_dims, result, text):
    with raises(ValueError, text):
        vmap(lambda x: result, out_dims=out_dims)(X)


def test_errors_of_batched_results():
    with raises(ValueError, "can not return a BatchedTensor when out_dim is None"):
        vmap(lambda x: x, out_dims=None)(X)
    with raises(ValueError, "can not return a BatchedTensor when out_dim is None"):
        vmap(lambda x: (x, x), out_dims=(0, None))(X)
    for dim in (2, -3):
        with raises(IndexError, "Dimension out of range"):
            vmap(lambda x: x, out_dims=dim)(X)
    close(vmap(lambda x: x, out_dims=(1,))(X), X.t())  # a result by itself counts as a tuple of one


@pytest.mark.parametrize(
    "look",
    [
        lambda x: x.sum().item(),
        lambda x: float(x.sum()),
        lambda x: x if x.sum() > 0 else -x,
        lambda x: x.tolist(),
        lambda x: x.numpy(),
        lambda x: int(x.sum()),
    ],
)
def test_values_cannot_be_taken_out(look):
    with raises(RuntimeError, "vmap: .*(data-dependent|Cannot access data pointer)"):
        vmap(look)(X)


def test_backward_is_refused():
    x = X.clone().requires_grad_()
    for call in (lambda t: t.backward(), rg.autograd.backward):
        with raises(RuntimeError, r"backward\(\) called inside a functorch transform"):
            vmap(lambda x: call((x * x).sum()))(x)  # noqa: B023
    assert x.grad is None


def test_operands_of_which_each_is_batched_at_other_levels():
    """What is made for all levels, of an operand that is batched at the inner one, meets another one of the inner."""
    outer, rows, factors = numbers(3), numbers(2, 4), numbers(2, 4)

    def derivative(a, x, c):
        return rg.func.grad(lambda x: (x * c * a * x).sum())(x)

    got = vmap(lambda a: vmap(lambda x, c: derivative(a, x, c))(rows, factors))(outer)
    want = [[derivative(a, x, c).tolist() for x, c in zip(rows, factors, strict=True)] for a in outer]
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-12)


def test_gradients_of_two_batches_go_through_a_write_to_a_view():
    x = rg.ones(3, dtype=rg.float64, requires_grad=True)
    y = x * 2
    y[:2].mul_(3.0)
    outer, inner = numbers(4, 3), numbers(2)

    def pulled(g):
        return rg.autograd.grad(y, x, g, retain_graph=True)[0]

    got = vmap(lambda g: vmap(lambda h: pulled(g * h))(inner))(outer)
    want = [[pulled(g * h).tolist() for h in inner] for g in outer]
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-12)
