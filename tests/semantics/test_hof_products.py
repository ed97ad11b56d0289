"""HOF: products of Jacobians and Hessians with vectors, and complex outputs."""

import pytest

from . import array, close, fails, leaf, rg, same
from .test_hof import (
    GRAPHS,
    PRODUCTS,
    VECTORIZED,
    Function,
    Straight,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    suited,
    tensor,
    vhp,
    vjp,
)

# ---- HOF-6: products with vectors


def test_hof_6_values():
    x, y = tensor([1.0, 2.0]), tensor([[2.0, 0.0], [1.0, 1.0], [3.0, 5.0]])
    v, u = tensor([1.0, 10.0]), tensor([1.0, 10.0, 100.0])

    def f(x):
        return (y @ x) ** 2

    j = array(jacobian(f, x))
    for (value, product), expected in ((vjp(f, x, u), array(u) @ j), (jvp(f, x, v), j @ array(v))):
        same(value, array(f(x)))
        close(product, expected)
    h = array(hessian(lambda x: f(x).sum(), x))
    for product in (vhp, hvp):
        value, found = product(lambda x: f(x).sum(), x, v)
        same(value, array(f(x).sum()))
        close(found, h @ array(v))


def test_hof_6_several_inputs_and_outputs():
    x, y, v = tensor([1.0, 2.0]), tensor(3.0), (tensor([1.0, 10.0]), tensor(100.0))

    def f(x, y):
        return x * y, x.sum() + y * y

    (a, b), (gx, gy) = vjp(f, (x, y), v)
    same(a, [3.0, 6.0])
    same(b, 12.0)
    same(gx, [103.0, 130.0])
    same(gy, 1 + 20 + 600.0)
    _, (da, db) = jvp(f, (x, y), v)
    same(da, [103.0, 230.0])
    same(db, 611.0)
    for product in (vhp, hvp):
        _, (hx, hy) = product(lambda x, y: (x * x * y).sum(), (x, y), v)
        same(hx, [206.0, 460.0])
        same(hy, 42.0)


def test_hof_6_v_may_be_left_out_for_a_single_element():
    one, two = tensor([2.0]), tensor([1.0, 2.0])
    same(vjp(lambda x: (x * x).sum(), two)[1], [2.0, 4.0])
    same(jvp(lambda x: x * tensor([1.0, 3.0]), one)[1], [1.0, 3.0])
    for product in (vhp, hvp):
        same(product(lambda x: (x**3).sum(), one)[1], [12.0])
        with fails("The vector v can only be None if the input to the user-provided function is a single Tensor"):
            product(lambda x: (x**3).sum(), two)
        with fails("The vector v can only be None"):
            product(lambda x, y: (x * y).sum(), (one, one))
    with fails("The vector v can only be None if the user-provided function returns a single Tensor"):
        vjp(lambda x: x, two)
    with fails("The vector v can only be None"):
        vjp(lambda x: (x.sum(), x.sum()), two)
    with fails("The vector v can only be None if the input to the user-provided function is a single Tensor"):
        jvp(lambda x: x, two)


@pytest.mark.parametrize("name", PRODUCTS)
def test_hof_6_the_vector_must_fit(name):
    product, x = PRODUCTS[name], tensor([1.0, 2.0])
    f = suited(name, lambda x: x * x, lambda x: (x * x).sum())
    for wrong in (rg.ones(3), rg.ones(1), rg.ones(1, 2), rg.ones(())):
        with fails("v has invalid size"):
            product(f, x, wrong)
    with fails("The given v should contain a single Tensor"):
        product(f, x, (x, x))
    pair = suited(name, lambda x, y: (x * y, y), lambda x, y: (x * y).sum())
    with fails("v is a tuple of invalid length: should be 2 but got 1"):
        product(pair, (x, x), x)
    with fails("Entry 1 in v has invalid size"):
        product(pair, (x, x), (x, rg.ones(3)))
    product(f, x, (x,))  # a tuple of one is no matter


@pytest.mark.parametrize("name", PRODUCTS)
def test_hof_6_the_vector_is_cast(name):
    x = rg.tensor([1.0, 2.0])
    f = suited(name, lambda x: x * x, lambda x: (x**3).sum())
    expected = suited(name, [2.0, 8.0], [6.0, 24.0])
    for v in (rg.tensor([1.0, 2.0], dtype=rg.float64), rg.tensor([1, 2])):
        product = PRODUCTS[name](f, x, v)[1]
        assert product.dtype == rg.float32
        same(product, expected)


@pytest.mark.parametrize("name", PRODUCTS)
def test_hof_6_the_vector_is_left_alone(name):
    x, v = tensor([1.0, 2.0]), tensor([3.0, 4.0])

    def f(x):
        y = x * 1
        y.mul_(x)
        return suited(name, y, (y * x).sum())

    before = v._version
    PRODUCTS[name](f, x, v)
    assert v._version == before
    same(v, [3.0, 4.0])
    same(x, [1.0, 2.0])


# ---- HOF-7: by which derivatives


@pytest.mark.parametrize(("f", "slope"), GRAPHS)
def test_hof_7_jvp_is_that_of_the_recorded_graph(f, slope):
    value, product = jvp(f, tensor([2.0]), tensor([10.0]))
    same(value, array(f(leaf([2.0], dtype=rg.float64))))
    same(product, [slope * 10])
    linked = jvp(f, leaf([2.0], dtype=rg.float64), tensor([10.0]), create_graph=True)[1]
    same(linked, [slope * 10])


@pytest.mark.parametrize(("f", "slope"), GRAPHS)
def test_hof_7_hvp_is_that_of_the_recorded_graph(f, slope):
    """The gradient of f(x) x at 2 is f(2) + x f'(2), where f' counts what the graph knows."""
    x = leaf([2.0], dtype=rg.float64)
    (g,) = grad(f(x) * x, x, rg.ones(1, dtype=rg.float64), create_graph=True)
    (h,) = grad(g, x, rg.ones(1, dtype=rg.float64))
    _, product = hvp(lambda x: (f(x) * x).sum(), tensor([2.0]), tensor([10.0]))
    same(product, array(h * 10))
    same(vhp(lambda x: (f(x) * x).sum(), tensor([2.0]), tensor([10.0]))[1], array(h * 10))


@pytest.mark.parametrize("mode", ["no_grad", "forward mode off", "inside a level"])
def test_hof_7_modes_of_the_caller(mode):
    """None of them changes a derivative."""
    fwd, x, v = rg.autograd.forward_ad, tensor([1.0, 2.0]), tensor([1.0, 10.0])
    managers = {
        "no_grad": rg.no_grad,
        "forward mode off": lambda: fwd._set_fwd_grad_enabled(False),
        "inside a level": fwd.dual_level,
    }
    with managers[mode]():
        if mode == "inside a level":
            x = fwd.make_dual(x, tensor([7.0, 7.0]))
        _, of_vector = jvp(lambda x: x**3, x, v)
        _, of_scalar = hvp(lambda x: (x**3).sum(), x, v)
        wide = jacobian(lambda x: x * rg.ones(20, dtype=rg.float64), x[:1])
        for result in (of_vector, of_scalar, wide):
            assert not result.requires_grad and fwd.unpack_dual(result).tangent is None
    same(of_vector, [3.0, 120.0])
    same(of_scalar, [6.0, 120.0])
    same(wide, [[1.0]] * 20)


def test_hof_7_in_inference_mode_nothing_is_recorded():
    x = tensor([1.0, 2.0])
    with rg.inference_mode():
        value, product = jvp(lambda x: x**3, x, x)
        zeros = jacobian(lambda x: x**3, x)
    same(value, [1.0, 8.0])
    same(product, [0.0, 0.0])
    same(zeros, [[0.0, 0.0], [0.0, 0.0]])


def test_hof_7_a_function_without_a_forward_rule_draws_the_same_random_numbers():
    x = tensor([1.0, 2.0, 3.0, 4.0])
    for product, f in ((jvp, lambda a: a), (hvp, lambda a: (a * a).sum())):
        rg.manual_seed(7)
        value, _ = product(lambda x, f=f: f(Straight.apply(x * rg.rand(4, dtype=rg.float64) * 9)), x, x)
        after = rg.rand(2)
        rg.manual_seed(7)
        same(value, array(f((x * rg.rand(4, dtype=rg.float64) * 9).round())))
        same(after, array(rg.rand(2)))


class Crooked(Function):
    """The gradient of a scalar of two, whose own Jacobian [[1, 2], [3, 4]] is not symmetric."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sum() * 0

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (tensor([[1.0, 2.0], [3.0, 4.0]]) @ x)


def test_hof_7_hvp_and_vhp_are_on_their_sides_of_the_matrix():
    x, v = tensor([5.0, 6.0]), tensor([1.0, 10.0])
    same(hessian(Crooked.apply, x), [[1.0, 2.0], [3.0, 4.0]])
    same(hvp(Crooked.apply, x, v)[1], [21.0, 43.0])
    same(vhp(Crooked.apply, x, v)[1], [31.0, 42.0])


def test_hof_7_both_agree_for_symmetric_hessians():
    x, v = tensor([0.3, -1.2, 2.0]), tensor([1.0, 10.0, -3.0])

    def f(x):
        return (x.outer(x).sin() @ x).sum() + x.prod()

    h = hessian(f, x)
    close(h, array(h.t()))
    for product in (vhp, hvp):
        close(product(f, x, v)[1], array(h) @ array(v))


def test_hof_7_unused_inputs_and_constant_results():
    x, y = tensor([1.0, 2.0]), tensor([3.0])
    _, product = jvp(lambda x, y: (y * 2, tensor(1.0)), (x, y), (x, y))
    same(product[0], [6.0])
    same(product[1], 0.0)
    for f in (vhp, hvp):
        _, (hx, hy) = f(lambda x, y: (x * x).sum(), (x, y), (x, y))
        same(hx, [2.0, 4.0])
        same(hy, [0.0])
        same(f(lambda x: tensor(1.0), x, x)[1], [0.0, 0.0])
    same(vjp(lambda x, y: x * 1, (x, y), x)[1][1], [0.0])


@pytest.mark.parametrize("name", PRODUCTS)
def test_hof_7_strict_finds_what_does_not_depend(name):
    product, x, y, w = PRODUCTS[name], tensor([1.0, 2.0]), tensor([3.0, 4.0]), leaf([5.0, 6.0], dtype=rg.float64)
    with fails("Output 0 of the user-provided function does not require gradients"):
        product(suited(name, lambda x: rg.ones(2), lambda x: rg.ones(())), x, x, strict=True)
    one_of_two = suited(name, lambda x, y: x * x, lambda x, y: (x * x).sum())
    v = x if name == "vjp" else (x, y)
    with fails("The output of the user-provided function is independent of input 1"):
        product(one_of_two, (x, y), v, strict=True)
    with fails("The output of the user-provided function is independent of input 0"):
        product(suited(name, lambda x: w * 2, lambda x: w.sum()), x, x, strict=True)


def test_hof_7_strict_finds_linear_functions():
    x, w = tensor([1.0, 2.0]), leaf([5.0, 6.0], dtype=rg.float64)
    for product in (vhp, hvp):
        with fails("jacobian of the user-provided function with respect to input 0 is independent of the input"):
            product(lambda x: x.sum(), x, x, strict=True)
        assert product(lambda x: (x**3).sum(), x, x, strict=True)[1].shape == (2,)
    with fails("The jacobian of the user-provided function is independent of input 0"):
        vhp(lambda x: (x * w).sum(), x, x, strict=True)
    with fails("The hessian of the user-provided function is independent of entry 0"):
        hvp(lambda x: (x * w).sum(), x, x, strict=True)
    same(jvp(lambda x: x * 2, x, x, strict=True)[1], [2.0, 4.0])
    with fails("The jacobian of the user-provided function is independent of input 0"):
        jvp(lambda x: x * 2, x, x, strict=True, create_graph=True)
    with fails("The jacobian of the user-provided function is independent of input 0"):
        vjp(lambda x: x * 2, x, x, strict=True, create_graph=True)
    for product in (vhp, hvp):
        with fails("The hessian of the user-provided function is independent of input 0"):
            product(lambda x: (x * x).sum(), x, x, strict=True, create_graph=True)


def test_hof_7_jvp_of_outputs_that_cannot_have_a_gradient():
    with fails("floating point", "require grad"):
        jvp(lambda x: (x, x.argmax()), tensor([1.0, 2.0]), tensor([1.0, 2.0]))


# ---- HOF-8: complex outputs


def test_hof_8_complex_outputs():
    x = tensor([1.0, 2.0])

    def f(x):
        return x * (1 + 2j)

    with fails("grad can be implicitly created only for real scalar outputs"):
        jacobian(f, x)
    j = jacobian(lambda z: z * (1 + 2j), x.to(rg.complex128), **VECTORIZED)
    same(j, [[1 - 2j, 0], [0, 1 - 2j]])
    same(jacobian(f, x, **VECTORIZED), [[1.0, 0.0], [0.0, 1.0]])
    same(jvp(f, x, tensor([1.0, 10.0]))[1], [1 + 2j, 10 + 20j])
