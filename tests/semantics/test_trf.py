"""TRF: functional transforms. More of them is in tests/test_func_api.py and its neighbours."""

import pytest

from . import beyond, close, fails, leaf, rg, same

func, vmap = rg.func, rg.vmap
grad, vjp, jvp, jacrev, jacfwd, hessian = (
    getattr(func, n) for n in ("grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian")
)


def tensor(values):
    return rg.tensor(values, dtype=rg.float64)


X = tensor([1.0, 2.0, 3.0])


# ---- TRF-1: one transform


def test_trf_1_grad_needs_a_scalar():
    same(grad(lambda x: (x * x).sum())(X), [2.0, 4.0, 6.0])
    with fails("Expected f(*args) to return a scalar Tensor", "1 dims"):
        grad(lambda x: x)(X)
    with fails("Expected f(*args)", "to return a Tensor"):
        grad(lambda x: (x.sum(),))(X)


def test_trf_1_argnums_select_arguments():
    f = lambda x, y: (x * y * y).sum()  # noqa: E731
    y = tensor([1.0, 10.0, 100.0])
    same(grad(f, argnums=1)(X, y), [2.0, 40.0, 600.0])
    gy, gx = grad(f, argnums=(-1, 0))(X, y)
    same(gy, [2.0, 40.0, 600.0])
    same(gx, [1.0, 100.0, 10000.0])
    with fails("Got argnum=2, but only 2 positional inputs"):
        grad(f, argnums=2)(X, y)


def test_trf_1_results_with_a_rest():
    f = lambda x: ((x * x).sum(), {"twice": x * 2})  # noqa: E731
    gradient, rest = grad(f, has_aux=True)(X)
    same(gradient, [2.0, 4.0, 6.0])
    same(rest["twice"], [2.0, 4.0, 6.0])
    gradient, (value, rest) = func.grad_and_value(f, has_aux=True)(X)
    same(value, 14.0)
    gradient, value = func.grad_and_value(lambda x: (x * x).sum())(X)
    same(gradient, [2.0, 4.0, 6.0])
    same(value, 14.0)
    assert not value.requires_grad
    with fails("output of function f should be a tuple: (output, aux) if has_aux is True"):
        grad(lambda x: x.sum(), has_aux=True)(X)


def test_trf_1_vjp_jvp_and_linearize():
    f = lambda x: x * x.sum()  # noqa: E731
    v = tensor([1.0, 0.0, -1.0])
    value, pullback = vjp(f, X)
    same(value, [6.0, 12.0, 18.0])
    same(pullback(v)[0], [4.0, -2.0, -8.0])
    value, moved = jvp(f, (X,), (v,))
    same(moved, [6.0, 0.0, -6.0])
    value, pushforward = func.linearize(f, X)
    same(value, [6.0, 12.0, 18.0])
    same(pushforward(v), [6.0, 0.0, -6.0])


# ---- TRF-2: transforms of transforms


def test_trf_2_transforms_nest():
    cube = lambda x: x**3  # noqa: E731
    x = tensor(2.0)
    same(grad(grad(cube))(x), 12.0)
    same(grad(grad(grad(cube)))(x), 6.0)
    push = lambda f: lambda x: jvp(f, (x,), (tensor(1.0),))[1]  # noqa: E731
    same(push(push(cube))(x), 12.0)
    same(push(grad(cube))(x), 12.0)
    same(grad(push(cube))(x), 12.0)
    same(vmap(grad(cube))(X), [3.0, 12.0, 27.0])
    same(vmap(vmap(grad(grad(cube))))(rg.stack([X, X])), [[6.0, 12.0, 18.0]] * 2)
    same(grad(lambda x: vmap(grad(cube))(x * X).sum())(x), 2 * 3 * 2.0 * 14.0)


@pytest.mark.parametrize("outer", ["grad", "jvp", "vjp"])
@pytest.mark.parametrize("inner", ["grad", "jvp", "vjp"])
def test_trf_2_no_transform_takes_the_variable_of_another_for_its_own(outer, inner):
    by = {
        "grad": lambda f, x: grad(f)(x),
        "jvp": lambda f, x: jvp(f, (x,), (tensor(1.0),))[1],
        "vjp": lambda f, x: vjp(f, x)[1](tensor(1.0))[0],
    }
    # The derivative of x * (derivative of x + y by y) is 1; if the inner one saw x move as well it would be 2.
    same(by[outer](lambda x: x * by[inner](lambda y: x + y, tensor(1.0)), tensor(1.0)), 1.0)


def test_trf_2_jacobians_equal_those_of_functional():
    w = tensor([[1.0, -2.0, 0.5], [0.0, 1.0, 3.0]])
    f = lambda x: rg.tanh(w @ x)  # noqa: E731
    want = (1 - rg.tanh(w @ X) ** 2).unsqueeze(1) * w
    for got in (jacrev(f)(X), jacfwd(f)(X), rg.autograd.functional.jacobian(f, X)):
        close(got, want, rtol=1e-12)
    g = lambda x: f(x).sum()  # noqa: E731
    t = rg.tanh(w @ X)
    want = w.t() @ ((-2 * t * (1 - t * t)).unsqueeze(1) * w)
    for got in (hessian(g)(X), rg.autograd.functional.hessian(g, X), jacrev(jacrev(g))(X), jacrev(jacfwd(g))(X)):
        close(got, want, rtol=1e-12)


# ---- TRF-3: modes of recording, and what is captured


def test_trf_3_grad_works_inside_no_grad():
    with rg.no_grad():
        same(grad(lambda x: (x * x).sum())(X), [2.0, 4.0, 6.0])
        assert not rg.is_grad_enabled()


def test_trf_3_no_grad_inside_is_respected():
    def f(x):
        with rg.no_grad():
            c = x * x
        return (x * c).sum()

    same(grad(f)(X), [1.0, 4.0, 9.0])

    def g(x):
        with rg.no_grad():
            return grad(lambda y: (y**3).sum())(x).sum()

    same(grad(g)(X), [0.0, 0.0, 0.0])


def test_trf_3_captured_tensors_get_ordinary_gradients():
    w = leaf([1.0, 2.0, 3.0], dtype=rg.float64)
    gradient, value = func.grad_and_value(lambda x: (x * x * w).sum())(X)
    assert gradient.requires_grad and value.requires_grad
    gradient.sum().backward()
    same(w.grad, [2.0, 4.0, 6.0])
    assert not grad(lambda x: (x * x * w.detach()).sum())(X).requires_grad


def test_trf_3_inputs_that_require_grad_are_linked():
    x = leaf([1.0, 2.0, 3.0], dtype=rg.float64)
    grad(lambda x: (x**3).sum())(x).sum().backward()
    same(x.grad, [6.0, 12.0, 18.0])


# ---- TRF-4: backward


@pytest.mark.parametrize("backward", [lambda y: y.backward(), lambda y: rg.autograd.backward(y)])
def test_trf_4_backward_inside_raises(backward):
    def f(x):
        y = (x * x).sum()
        backward(y)
        return y

    x = leaf([1.0, 2.0, 3.0], dtype=rg.float64)
    for run in (grad(f), lambda x: vjp(f, x), lambda x: jvp(f, (x,), (x,)), jacrev(f), vmap(lambda x: f(x * 1))):
        with fails("backward() called inside a functorch transform"):
            run(x)
    assert x.grad is None
    (x * x).sum().backward()
    same(x.grad, [2.0, 4.0, 6.0])


def test_trf_4_autograd_grad_works_inside():
    f = lambda x: rg.autograd.grad((x**3).sum(), x, create_graph=True)[0].sum()  # noqa: E731
    same(grad(f)(X), [6.0, 12.0, 18.0])


# ---- TRF-5: vmap


def test_trf_5_trees_of_axes():
    x, y = tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tensor([10.0, 20.0])
    f = lambda p, k: {"sum": (p["x"] * p["y"][0]).sum(), "x": p["x"] * k}  # noqa: E731
    got = vmap(f, in_dims=({"x": 0, "y": None}, None), out_dims={"sum": 0, "x": 1})({"x": x, "y": [y]}, 2)
    same(got["sum"], [50.0, 110.0, 170.0])
    same(got["x"], [[2.0, 6.0, 10.0], [4.0, 8.0, 12.0]])
    same(vmap(rg.sum, in_dims=-1)(x), [9.0, 12.0])
    with fails("the same size in the mapped dimension", kind=ValueError):
        vmap(lambda x, y: x)(x, y)


def test_trf_5_randomness():
    x = rg.ones(5, 3)
    with fails("called random operation", "while in randomness error mode"):
        vmap(lambda x: x + rg.rand(3))(x)
    same_numbers = vmap(lambda x: x * rg.rand(3), randomness="same")(x)
    assert bool((same_numbers == same_numbers[0]).all())
    different = vmap(lambda x: x * rg.rand(3), randomness="different")(x)
    assert len(set(different.flatten().tolist())) == 15
    with fails("Only allowed values for randomness"):
        vmap(lambda x: x, randomness="other")(x)


def test_trf_5_values_are_not_known_inside():
    for look in (lambda x: x.sum().item(), lambda x: x if x.sum() > 0 else -x):
        with fails("vmap"):
            vmap(look)(rg.ones(2, 3))


def test_trf_5_chunks():
    x = tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    calls = []

    def f(x):
        calls.append(1)
        return x * 2, x.sum()

    got, sums = vmap(f, out_dims=(1, 0), chunk_size=2)(x)
    same(got, [[2.0, 6.0, 10.0], [4.0, 8.0, 12.0]])
    same(sums, [3.0, 7.0, 11.0])
    assert calls == [1, 1]
    with fails("chunk_size should be None or greater than 0", kind=ValueError):
        vmap(f, chunk_size=0)


@beyond("torch cannot concatenate what is no tensor")
def test_trf_5_chunks_with_results_that_are_not_mapped():
    got, three = vmap(lambda x: (x, 3), out_dims=(0, None), chunk_size=2)(X)
    same(got, [1.0, 2.0, 3.0])
    assert three == 3


# ---- TRF-6: modules


class Affine(getattr(rg.nn, "Module", object)):
    def __init__(self):
        super().__init__()
        parameter = rg.nn.Parameter
        self.weight, self.bias = parameter(tensor([1.0, 2.0, 3.0])), parameter(tensor(0.5))

    if rg.__name__ == "retrograd":

        def named_parameters(self, remove_duplicate=True):
            return [("weight", self.weight), ("bias", self.bias)]

        def named_buffers(self, remove_duplicate=True):
            return []

        def __call__(self, x):
            return self.forward(x)

    def forward(self, x):
        return (x * self.weight).sum() + self.bias


def test_trf_6_functional_call():
    module = Affine()
    weight = module.weight
    params = {"weight": tensor([1.0, 0.0, 0.0]), "bias": tensor(10.0)}
    same(func.functional_call(module, params, (X,)), 11.0)
    same(func.functional_call(module, {"bias": tensor(0.0)}, X).detach(), 14.0)
    assert module.weight is weight
    gradient = grad(lambda p: func.functional_call(module, p, X) ** 2)(params)
    same(gradient["weight"], [22.0, 44.0, 66.0])
    same(gradient["bias"], 22.0)
    with pytest.raises(TypeError):
        func.functional_call(module, params, ("no", "tensors"))
    assert module.weight is weight
    with fails("Unexpected key(s): 'other'", "Missing key(s): 'bias', 'weight'"):
        func.functional_call(module, {"other": X}, X, strict=True)
