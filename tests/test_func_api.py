"""`retrograd.func` against formulas: structures, options, errors."""

import collections
import functools

import pytest

import retrograd as rg
from retrograd.func import (
    ggnvp,
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

Point = collections.namedtuple("Point", "x y")


def tensor(values):
    return rg.tensor(values, dtype=rg.float64)


def close(got, want):
    """Equal up to rounding, in shape and structure."""
    assert isinstance(got, rg.Tensor)
    want = want if isinstance(want, rg.Tensor) else tensor(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert bool((got - want).abs().max() <= 1e-9 * (1 + want.abs().max())) if want.numel() else True


def raises(kind, text):
    return pytest.raises(kind, match=text)


def diagonal(v):
    return rg.eye(len(v), dtype=rg.float64) * v


X = tensor([0.5, -1.0, 2.0])
W = tensor([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])

# A function of three numbers whose derivatives are known: sum of w_ij x_j^3 over j, and its Jacobian and Hessians.


def cubes(x):
    return W @ x**3


JACOBIAN = 3 * W * X**2
HESSIANS = rg.stack([diagonal(6 * w * X) for w in W])


# ---- grad


def test_grad_of_trees():
    def f(params, scale):
        return (params["w"] * params["b"][0] ** 2).sum() * scale + params["b"][1].y

    params = {"w": tensor([1.0, 2.0]), "b": [tensor(3.0), Point(tensor(0.0), tensor(5.0))]}
    got = grad(f)(params, 2.0)
    assert list(got) == ["w", "b"] and type(got["b"]) is list and type(got["b"][1]) is Point
    close(got["w"], [18.0, 18.0])
    close(got["b"][0], 36.0)
    close(got["b"][1].x, 0.0)
    close(got["b"][1].y, 1.0)
    ordered = grad(lambda d: d["a"] * d["b"])(collections.OrderedDict(b=tensor(2.0), a=tensor(3.0)))
    assert type(ordered) is collections.OrderedDict and list(ordered) == ["b", "a"]
    close(ordered["b"], 3.0)


def test_grad_of_chosen_arguments():
    def f(x, y, z=1.0, *, power=1):
        return (x * y**2 * z).sum() ** power

    x, y = tensor([1.0, 2.0]), tensor([3.0, -1.0])
    close(grad(f)(x, y), y**2)
    close(grad(f, argnums=1)(x, y), 2 * x * y)
    close(grad(f, argnums=-1)(x, y), 2 * x * y)
    gy, gx = grad(f, argnums=(1, 0))(x, y, 2.0)
    close(gy, 4 * x * y)
    close(gx, 2 * y**2)
    (gx,) = grad(f, (0,))(x, y)
    close(gx, y**2)
    close(grad(f)(x, y, power=2), 22 * y**2)


def test_grad_and_value_with_rest():
    def f(x):
        return (x**2).sum(), {"double": x * 2, "parts": (x.sum(), x)}

    gradient, (value, rest) = grad_and_value(f, has_aux=True)(X)
    close(gradient, 2 * X)
    close(value, 5.25)
    close(rest["double"], 2 * X)
    close(rest["parts"][1], X)
    gradient, rest = grad(f, has_aux=True)(X)
    close(gradient, 2 * X)
    assert not any(t.requires_grad for t in (gradient, rest["double"], *rest["parts"]))
    gradient, value = grad_and_value(lambda x: (x**2).sum())(X)
    close(value, 5.25)


def test_gradients_that_are_not_there_are_zeros():
    x = tensor([1.0, 2.0])
    close(grad(lambda x: tensor(3.0))(x), [0.0, 0.0])
    gx, gy = grad(lambda x, y: y.sum(), argnums=(0, 1))(x, x)
    close(gx, [0.0, 0.0])
    close(gy, [1.0, 1.0])
    single = grad(lambda x, y: y.sum(), argnums=0)(rg.ones(2), x)
    assert single.dtype == rg.float32 and single.tolist() == [0.0, 0.0]
    close(grad(lambda x: x.detach().sum())(x), [0.0, 0.0])


def test_grad_gets_fresh_views():
    seen = []

    def f(x):
        seen.append((x is X, x.data_ptr() == X.data_ptr(), x.requires_grad, rg.is_grad_enabled()))
        return x.sum()

    with rg.no_grad():
        grad(f)(X)
    assert seen == [(False, True, True, True)] and not X.requires_grad and X.grad is None


def test_wrappers_have_the_name_of_what_they_wrap():
    for transform in (grad, grad_and_value, vmap, jacrev, jacfwd, hessian, laplacian):
        assert transform(cubes).__name__ == "cubes"
    assert grad(functools.partial(lambda s, x: s * x.sum(), 3))(X).tolist() == [3.0] * 3


def test_grad_errors():
    x = rg.ones(2)
    for transform in (grad, grad_and_value):
        with raises(RuntimeError, r"Expected f\(\*args\) to return a scalar Tensor, got tensor with 1 dims"):
            transform(lambda x: x)(x)
        with raises(RuntimeError, r"Expected f\(\*args\) to return a Tensor, got <class 'float'>"):
            transform(lambda x: 3.0)(x)
        with raises(RuntimeError, r"should be a tuple: \(output, aux\) if has_aux is True"):
            transform(lambda x: x.sum(), has_aux=True)(x)
        with raises(RuntimeError, "Expected tensors, got unsupported type <class 'int'>"):
            transform(lambda x: (x.sum(), 3), has_aux=True)(x)
        with raises(ValueError, "must be Tensor, got <class 'float'>"):
            transform(lambda x: x)(3.0)
        with raises(RuntimeError, "Got argnum=1, but only 1 positional inputs"):
            transform(lambda x: x.sum(), argnums=1)(x)
        with raises(RuntimeError, "argnums elements must be unique"):
            transform(lambda x, y: x.sum(), argnums=(0, 0))(x, x)
        with raises(RuntimeError, "argnums elements must be unique"):
            transform(lambda x, y: x.sum(), argnums=(1, -1))(x, x)
        with raises(RuntimeError, "argnums must be non-empty"):
            transform(lambda x: x.sum(), argnums=())(x)
        with raises(RuntimeError, "argnums must be int or Tuple"):
            transform(lambda x: x.sum(), argnums=[0])(x)
        with raises(RuntimeError, "argnums must be int or Tuple"):
            transform(lambda x: x.sum(), argnums=None)(x)
        with raises(RuntimeError, "argnum must be int"):
            transform(lambda x: x.sum(), argnums=(0.0,))(x)
        with raises(RuntimeError, "floating point"):
            transform(lambda x: x.sum())(rg.arange(3))
        for inner in (x, rg.ones(2, requires_grad=True), rg.ones(2, requires_grad=True) * 1):
            with raises(RuntimeError, "leaf Variable that requires grad is being used in an in-place operation"):
                transform(lambda x: x.mul_(2).sum())(inner)
            with raises(RuntimeError, "leaf Variable that requires grad is being used in an in-place operation"):
                vmap(transform(lambda x: x.mul_(2)))(inner)
    assert x.tolist() == [1.0, 1.0]


# ---- vjp


def test_vjp_of_trees():
    def f(x, params):
        return {"sum": x.sum() * params[0], "both": (x * params[1], [x])}

    y, z = tensor(2.0), tensor([1.0, 2.0, 3.0])
    value, pullback = vjp(f, X, (y, z))
    close(value["sum"], 3.0)
    assert type(value["both"][1]) is list and not value["both"][0].requires_grad
    v = tensor([1.0, 10.0, 100.0])
    gx, (gy, gz) = pullback({"sum": tensor(2.0), "both": (v, [v])})
    close(gx, 4.0 + v * z + v)
    close(gy, 3.0)
    close(gz, v * X)


def test_the_pullback_can_be_called_again_and_mapped():
    value, pullback = vjp(cubes, X)
    close(value, W @ X**3)
    for row, unit in zip(JACOBIAN, rg.eye(2, dtype=rg.float64), strict=True):
        close(pullback(unit)[0], row)
    (rows,) = vmap(pullback)(rg.eye(2, dtype=rg.float64))
    close(rows, JACOBIAN)
    (columns,) = vmap(pullback, in_dims=1, out_dims=1)(rg.eye(2, dtype=rg.float64))
    close(columns, JACOBIAN.t())
    pullback(tensor([1.0, 0.0]), retain_graph=False)
    with raises(RuntimeError, "second time"):
        pullback(tensor([1.0, 0.0]))


def test_vjp_with_rest_and_without_dependence():
    value, pullback, rest = vjp(lambda x: (x * 2, [x]), X, has_aux=True)
    close(rest[0], X)
    close(value, 2 * X)
    value, pullback = vjp(lambda x: (tensor([1.0]), x * 3), X)
    close(pullback((tensor([1.0]), X))[0], 3 * X)
    value, pullback = vjp(lambda x: tensor([1.0]), X)
    close(pullback(tensor([1.0]))[0], [0.0] * 3)


def test_the_pullback_is_linked_to_what_requires_grad():
    x, v = X.clone().requires_grad_(), tensor([1.0, 2.0]).requires_grad_()
    value, pullback = vjp(cubes, X)
    (g,) = pullback(v)
    close(rg.autograd.grad(g.sum(), v)[0], JACOBIAN.sum(1))
    assert not value.requires_grad and not pullback(v.detach())[0].requires_grad
    with rg.no_grad():
        assert not pullback(v)[0].requires_grad
    assert not pullback(v, create_graph=False)[0].requires_grad
    value, pullback = vjp(cubes, x)
    close(rg.autograd.grad(value.sum(), x, retain_graph=True)[0], JACOBIAN.sum(0))
    (g,) = pullback(v.detach())
    close(rg.autograd.grad(g.sum(), x)[0], (HESSIANS * v[:, None, None]).sum((0, 1)))


def test_vjp_errors():
    for result, text in (
        (3.0, "to return only tensors, got unsupported type <class 'float'>"),
        (None, r"non-empty output \(got output = \[None\]\)"),
        ((), "non-empty output"),
        ((X, 3), "to return only tensors"),
        (rg.arange(3), "All outputs of f must be floating-point or complex Tensors, got Tensor with dtype"),
    ):
        with raises(RuntimeError, text):
            vjp(lambda x: result, X)  # noqa: B023
    _, pullback = vjp(lambda x: (x, {"y": x}), X)
    for cotangents in (X, (X, X), [X, {"y": X}], (X, {"z": X}), (X,)):
        with raises(RuntimeError, "Expected pytree structure of cotangents to be the same as pytree structure of out"):
            pullback(cotangents)
    with raises(RuntimeError, "shape of"):
        pullback((X, {"y": X[:2]}))
    with raises(TypeError, "gradients can be either Tensors or None"):
        pullback((X, {"y": 3.0}))
    with raises(ValueError, "must be Tensor"):
        vjp(lambda x: x, 3.0)
    with raises(RuntimeError, r"\(output, aux\) if has_aux"):
        vjp(lambda x: x, X, has_aux=True)


# ---- jvp and linearize


def test_jvp_of_trees():
    def f(x, p):
        return {"a": x * p["k"], "b": [p["k"] ** 2]}

    k = tensor(3.0)
    value, moved = jvp(f, (X, {"k": k}), (tensor([1.0, 0.0, 0.0]), {"k": tensor(10.0)}))
    close(value["a"], 3 * X)
    close(moved["a"], 10 * X + tensor([3.0, 0.0, 0.0]))
    close(moved["b"][0], 60.0)
    value, moved, rest = jvp(lambda x: (x * 2, {"x": x}), (X,), (X,), has_aux=True)
    close(moved, 2 * X)
    close(rest["x"], X)
    value, moved = jvp(lambda x: (tensor([1.0]), x.int()), (X,), (X,))
    close(moved[0], [0.0])
    assert moved[1].dtype == rg.int32 and moved[1].tolist() == [0, 0, 0]


def test_jvp_ignores_that_recording_or_tangents_are_off():
    with rg.no_grad():
        close(jvp(cubes, (X,), (X,))[1], JACOBIAN @ X)
    with rg.autograd.forward_ad._set_fwd_grad_enabled(False):
        close(jvp(cubes, (X,), (X,))[1], JACOBIAN @ X)
        assert not rg.autograd.forward_ad._is_fwd_grad_enabled()


def test_jvp_errors():
    for primals, tangents, text in (
        (X, X, "Expected primals to be a tuple"),
        ([X], [X], "Expected primals to be a tuple"),
        ((X,), X, "to have the same python structure"),
        ((X,), [X], "to have the same python structure"),
        ((X,), (X, X), "to have the same python structure"),
        ((3.0,), (X,), "Expected primals to only contain Tensors"),
        ((X,), (3.0,), "Expected tangents to only contain Tensors"),
        ((), (), "to contain at least one Tensor"),
        ((X,), (X[:2],), "different size than that of the original Tensor"),
    ):
        with raises(RuntimeError, text):
            jvp(lambda *xs: xs, primals, tangents)
    with raises(ValueError, "Expected primal to be floating point or complex"):
        jvp(lambda x: x, (rg.arange(3),), (X,))
    for result, text in (
        (3.0, "to return only tensors"),
        (None, "non-empty output"),
        ([], "non-empty output"),
    ):
        with raises(RuntimeError, text):
            jvp(lambda x: result, (X,), (X,))  # noqa: B023
    with raises(RuntimeError, "independent of the inputs.*strict=True"):
        jvp(lambda x: (x, X), (X,), (X,), strict=True)
    close(jvp(lambda x: x, (X,), (X,), strict=True)[1], X)
    with raises(RuntimeError, r"\(output, aux\) if has_aux"):
        jvp(lambda x: x, (X,), (X,), has_aux=True)
    with raises(RuntimeError, "Expected tensors, got unsupported type"):
        jvp(lambda x: (x, 3), (X,), (X,), has_aux=True)


def test_linearize_calls_once():
    calls = []

    def f(x, p):
        calls.append(1)
        return {"y": cubes(x) * p[0], "z": p[0] * 1.0, "constant": tensor(1.0)}

    k = tensor(2.0)
    value, push = linearize(f, X, [k])
    close(value["y"], 2 * cubes(X))
    for unit, column in zip(rg.eye(3, dtype=rg.float64), JACOBIAN.t(), strict=True):
        moved = push(unit, [tensor(10.0)])
        close(moved["y"], 2 * column + 10 * cubes(X))
        close(moved["z"], 10.0)
        close(moved["constant"], 0.0)
    rows = vmap(push, in_dims=(0, None))(rg.eye(3, dtype=rg.float64), [tensor(0.0)])
    close(rows["y"], 2 * JACOBIAN.t())
    assert calls == [1] and not value["y"].requires_grad and not moved["y"].requires_grad
    v = X.clone().requires_grad_()
    close(rg.autograd.grad(push(v, [k])["y"].sum(), v)[0], 2 * JACOBIAN.sum(0))


def test_linearize_errors():
    _, push = linearize(lambda x: x * 2, X)
    with raises(RuntimeError, "to have the same argspec as the primals"):
        push(X, X)
    with raises(RuntimeError, "tangent:0 with shape .* doesn't match the shape"):
        push(X[:2])
    with raises(RuntimeError, "tangent:0 with dtype .* doesn't match the dtype"):
        push(X.float())


# ---- Jacobians and Hessians


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_jacobians(transform):
    close(transform(cubes)(X), JACOBIAN)
    close(transform(lambda x: cubes(x).sum())(X), JACOBIAN.sum(0))
    close(transform(lambda x: x * 2)(tensor([[1.0, 2.0]])), 2 * rg.eye(2, dtype=rg.float64).reshape(1, 2, 1, 2))
    close(transform(lambda x: x * 3)(tensor(2.0)), 3.0)
    close(transform(lambda x: X)(X), rg.zeros(3, 3, dtype=rg.float64))
    assert transform(lambda x: x)(tensor([])).shape == (0, 0)
    assert transform(lambda x: x[:0])(X).shape == (0, 3)
    assert transform(lambda x: X + x.sum())(tensor([])).shape == (3, 0)


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_structures_of_jacobians(transform):
    y = tensor([[2.0], [3.0]])

    def f(x, p):
        return {"v": cubes(x) * p["y"][:, 0], "s": (x.sum(), p["y"].sum() * 2)}

    got = transform(f)(X, {"y": y})
    close(got["v"], JACOBIAN * y)
    close(got["s"][0], [1.0] * 3)
    close(got["s"][1], [0.0] * 3)
    got = transform(f, argnums=1)(X, {"y": y})
    close(got["v"]["y"], diagonal(cubes(X)).reshape(2, 2, 1))
    got = transform(f, argnums=(1, 0))(X, {"y": y})
    assert isinstance(got["v"], tuple) and isinstance(got["v"][0], dict)
    close(got["v"][1], JACOBIAN * y)
    close(got["s"][1][0]["y"], [[2.0], [2.0]])
    (only,) = transform(f, argnums=(0,))(X, {"y": y})["s"][0:1][0]
    close(only, [1.0] * 3)
    got, rest = transform(lambda x: (cubes(x), [x * 2, x.sum()]), has_aux=True)(X)
    close(got, JACOBIAN)
    close(rest[0], 2 * X)
    assert not rest[0].requires_grad


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 100, None])
def test_jacrev_in_chunks(chunk_size):
    outputs = rg.arange(10.0, dtype=rg.float64).reshape(5, 2)

    def f(x):
        return x.sum() ** 2 * outputs, x[0]

    whole, first = jacrev(f, chunk_size=chunk_size)(X)
    close(whole, (3.0 * outputs).unsqueeze(-1) * rg.ones(3, dtype=rg.float64))
    close(first, [1.0, 0.0, 0.0])
    close(jacrev(f, chunk_size=chunk_size, _preallocate_and_copy=True)(X)[1], first)


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_errors_of_jacobians(transform):
    with raises(RuntimeError, "to return only tensors, got unsupported type <class 'float'>"):
        transform(lambda x: 3.0)(X)
    with raises(RuntimeError, "non-empty output"):
        transform(lambda x: None)(X)
    with raises(ValueError, "must be Tensor, got <class 'float'>"):
        transform(lambda x: x)(3.0)
    with raises(RuntimeError, "Got argnum=2, but only 2 positional inputs"):
        transform(lambda x, y: x, argnums=2)(X, X)
    with raises(RuntimeError, r"\(output, aux\) if has_aux"):
        transform(lambda x: x, has_aux=True)(X)
    with raises(RuntimeError, "Expected tensors, got unsupported type"):
        transform(lambda x: (x, 3), has_aux=True)(X)
    for size in (0, -1):
        with raises(ValueError, "jacrev: `chunk_size` should be greater than 0."):
            jacrev(cubes, chunk_size=size)
    with raises(RuntimeError, "Only allowed values for randomness are"):
        jacfwd(cubes, randomness="some")(X)


@pytest.mark.parametrize("transform", [jacrev, jacfwd, hessian, laplacian])
def test_functions_are_called_once_and_unbatched(transform):
    seen = []

    def f(x):
        seen.append((x.shape, rg.func.debug_unwrap(x) is x, x[0].item()))
        return cubes(x) if x[0] > 0 else x  # values are there to look at, and to branch on

    transform(f)(X)
    assert seen == [((3,), True, 0.5)]


def test_hessians():
    close(hessian(cubes)(X), HESSIANS)
    close(hessian(lambda x: cubes(x).sum())(X), HESSIANS.sum(0))
    y = tensor([1.0, 2.0])
    f = lambda x, y: (cubes(x) * y**2).sum()  # noqa: E731
    (xx, xy), (yx, yy) = hessian(f, argnums=(0, 1))(X, y)
    close(xx, (HESSIANS * (y**2)[:, None, None]).sum(0))
    close(xy, (JACOBIAN * (2 * y)[:, None]).t())
    close(yx, JACOBIAN * (2 * y)[:, None])
    close(yy, diagonal(2 * cubes(X)))
    got = hessian(lambda p: (cubes(p["x"]) * p["y"] ** 2).sum())({"x": X, "y": y})
    close(got["y"]["x"], yx)
    close(
        vmap(hessian(lambda x: cubes(x).sum()))(rg.stack([X, 2 * X])), rg.stack([HESSIANS.sum(0), 2 * HESSIANS.sum(0)])
    )


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def test_the_hessian_of_rosenbrock():
    n = 7
    x = rg.linspace(-1.0, 1.5, n, dtype=rg.float64)
    want = rg.zeros(n, n, dtype=rg.float64)
    for i in range(n):
        if i < n - 1:
            want[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
            want[i, i + 1] = want[i + 1, i] = -400 * x[i]
        if i > 0:
            want[i, i] += 200
    close(hessian(rosenbrock)(x), want)
    close(jacrev(jacrev(rosenbrock))(x), want)
    close(jacrev(jacfwd(rosenbrock))(x), want)
    close(jacfwd(jacfwd(rosenbrock))(x), want)
    close(jacrev(grad(rosenbrock))(x), want)
    close(laplacian(rosenbrock)(x), want.diagonal().sum())
    v = rg.linspace(3.0, -1.0, n, dtype=rg.float64)
    close(hvp(rosenbrock, x, v), want @ v)


def test_laplacians():
    close(laplacian(cubes)(X), (6 * W * X).sum(1))
    p = {"x": X, "y": [tensor(2.0)]}
    close(laplacian(lambda p: cubes(p["x"]) * p["y"][0] ** 2)(p), 4 * (6 * W * X).sum(1) + 2 * cubes(X))
    close(laplacian(lambda x, y: (x**3).sum() * y**2, argnums=(0, 1))(X, tensor(2.0)), 24 * X.sum() + 2 * (X**3).sum())
    close(laplacian(lambda x: {"linear": x.sum()})(X)["linear"], 0.0)
    close(vmap(laplacian(lambda x: (x**3).sum()))(rg.stack([X, 2 * X])), rg.stack([6 * X.sum(), 12 * X.sum()]))


def test_hvp_mirrors_its_arguments():
    f = lambda x: (x**3).sum()  # noqa: E731
    close(hvp(f, X, X), 6 * X * X)
    (only,) = hvp(f, (X,), (X,))
    close(only, 6 * X * X)
    y = tensor(2.0)
    gx, gy = hvp(lambda x, y: f(x) * y**2, (X, y), (tensor([1.0, 0.0, 0.0]), tensor(10.0)))
    close(gx, tensor([24 * X[0].item(), 0.0, 0.0]) + 120 * X**2)
    close(gy, 12 * X[0] ** 2 + 20 * f(X))
    close(hvp(lambda p: f(p["x"]), {"x": X}, {"x": X})["x"], 6 * X * X)
    with raises(RuntimeError, "same python structure"):
        hvp(f, X, (X,))
    with raises(RuntimeError, "scalar Tensor"):
        hvp(cubes, X, X)


def test_ggnvp():
    calls = []

    def model(p):
        calls.append(1)
        return cubes(p["x"]) * p["k"], p["k"] ** 2

    def loss(outputs):
        return (outputs[0] ** 2).sum() * 3 + outputs[1] ** 3

    k, v = tensor(2.0), {"x": tensor([1.0, -2.0, 0.5]), "k": tensor(0.7)}
    got = ggnvp(model, loss, {"x": X, "k": k}, v)
    moved = k * (JACOBIAN @ v["x"]) + cubes(X) * v["k"]  # J v, the Hessian of the loss is diagonal
    other = 2 * k * v["k"]
    close(got["x"], k * (JACOBIAN.t() @ (6 * moved)))
    close(got["k"], cubes(X) @ (6 * moved) + 2 * k * (6 * k**2 * other))
    assert calls == [1] and not got["x"].requires_grad
    close(
        vmap(lambda v: ggnvp(cubes, lambda y: (y**2).sum(), X, v))(rg.eye(3, dtype=rg.float64)),
        2 * JACOBIAN.t() @ JACOBIAN,
    )


# ---- where a rule cannot work on batches


CALLS = []


class ByNumpy(rg.autograd.Function):
    """x^3, with derivatives that take values out of tensors."""

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def slope(ctx, direction):
        CALLS.append(direction.shape)
        return rg.from_numpy(3 * ctx.saved_tensors[0].detach().numpy() ** 2 * direction.detach().numpy())

    backward = jvp = slope


def test_jacobians_loop_where_a_rule_cannot_work_on_batches():
    want = diagonal(3 * X**2)
    for derivative in (
        jacrev(ByNumpy.apply),
        jacfwd(ByNumpy.apply),
        lambda x: rg.autograd.functional.jacobian(ByNumpy.apply, x),
        lambda x: rg.autograd.functional.jacobian(ByNumpy.apply, x, vectorize=True),
        lambda x: rg.autograd.functional.jacobian(ByNumpy.apply, x, vectorize=True, strategy="forward-mode"),
    ):
        CALLS.clear()
        close(derivative(X), want)
        assert len(CALLS) == 4  # once for all, in vain, and once for each


def test_loops_by_columns_draw_the_same_numbers():
    for randomness in ("same", "different"):
        rg.manual_seed(7)
        got = jacfwd(lambda x: ByNumpy.apply(x) * rg.rand(3, dtype=rg.float64), randomness=randomness)(X)
        rg.manual_seed(7)
        close(got, diagonal(3 * X**2 * rg.rand(3, dtype=rg.float64)))
    with raises(RuntimeError, "called random operation"):
        jacfwd(lambda x: ByNumpy.apply(x) * rg.rand(3, dtype=rg.float64))(X)
