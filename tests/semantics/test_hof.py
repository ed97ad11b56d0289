"""HOF: autograd.functional: structures, links of results, Jacobians and Hessians."""

import numpy as np
import pytest

from . import array, beyond, close, fails, leaf, rg, same

HOF = rg.autograd.functional
jacobian, hessian, vjp, jvp, vhp, hvp = (getattr(HOF, n) for n in ("jacobian", "hessian", "vjp", "jvp", "vhp", "hvp"))
Function = rg.autograd.Function
grad = rg.autograd.grad
PRODUCTS = {"vjp": vjp, "jvp": jvp, "vhp": vhp, "hvp": hvp}
OF_SCALARS = ("hessian", "vhp", "hvp")
VECTORIZED = {"vectorize": True}
FORWARD = {"vectorize": True, "strategy": "forward-mode"}


def tensor(values):
    return rg.tensor(values, dtype=rg.float64)


def structure(result):
    """Tuples as they are nested, with the shapes of the tensors."""
    return tuple(map(structure, result)) if isinstance(result, tuple) else list(result.shape)


def run(name, func, inputs, v=None, **options):
    """Call a function of the module; the vector is ones like the inputs unless given."""
    if name in ("jacobian", "hessian"):
        return getattr(HOF, name)(func, inputs, **options)
    if v is None:
        v = tuple(map(rg.ones_like, inputs)) if isinstance(inputs, tuple) else rg.ones_like(inputs)
    return getattr(HOF, name)(func, inputs, v, **options)


EACH = pytest.mark.parametrize("name", ["jacobian", "hessian", *PRODUCTS])


def suited(name, of_vectors, of_scalars):
    return of_scalars if name in OF_SCALARS else of_vectors


# ---- HOF-1: structures


@EACH
def test_hof_1_inputs_and_outputs_are_tensors_or_tuples(name):
    x = tensor([1.0, 2.0])
    with fails("inputs given to " + name, "list", kind=TypeError):
        run(name, lambda x: x, [x], x)
    with fails("inputs given to " + name, "index 1", "float", kind=TypeError):
        run(name, lambda x, y: x, (x, 3.0), x)
    with fails("outputs of the user-provided function given to " + name, "list", kind=TypeError):
        run(name, lambda x: [x.sum()], x)
    with fails("outputs of the user-provided function given to " + name, "index 0", "int", kind=TypeError):
        run(name, lambda x: (3,), x)
    if name in PRODUCTS:
        with fails("v given to " + name, "list", kind=TypeError):
            run(name, lambda x: x.sum(), x, [x])


def test_hof_1_structures_of_jacobian():
    x, y = tensor([1.0, 2.0]), tensor([[1.0, 2.0, 3.0]])

    def shapes(f, inputs):
        found = structure(jacobian(f, inputs))
        assert found == structure(jacobian(f, inputs, **VECTORIZED))
        return found

    assert shapes(lambda x: x.sum(), x) == [2]
    assert shapes(lambda x: (x.sum(),), x) == ([2],)
    assert shapes(lambda x: x.sum(), (x,)) == ([2],)
    assert shapes(lambda x: (x.sum(),), (x,)) == (([2],),)
    assert shapes(lambda x, y: x.sum() * y, (x, y)) == ([1, 3, 2], [1, 3, 1, 3])
    assert shapes(lambda x: (x, x.sum()), x) == ([2, 2], [2])
    assert shapes(lambda x, y: (x, y.sum()), (x, y)) == (([2, 2], [2, 1, 3]), ([2], [1, 3]))


def test_hof_1_structures_of_hessian():
    x, y = tensor([1.0, 2.0]), tensor([[1.0, 2.0, 3.0]])
    assert structure(hessian(lambda x: (x * x).sum(), x)) == [2, 2]
    assert structure(hessian(lambda x: (x * x).sum(), (x,))) == (([2, 2],),)
    assert structure(hessian(lambda x, y: x.sum() * y.sum(), (x, y))) == (
        ([2, 2], [2, 1, 3]),
        ([1, 3, 2], [1, 3, 1, 3]),
    )


@pytest.mark.parametrize("create_graph", [False, True])
def test_hof_1_structures_of_products(create_graph):
    x, y = tensor([1.0, 2.0]), tensor([[1.0, 2.0, 3.0]])

    def shapes(product, *args):
        return structure(product(*args, create_graph=create_graph))

    one = tensor(1.0)
    assert shapes(vjp, lambda x: x * 2, x, x) == ([2], [2])
    assert shapes(vjp, lambda x: (x * 2,), x, (x,)) == (([2],), [2])
    assert shapes(vjp, lambda x: x * 2, (x,), x) == ([2], ([2],))
    assert shapes(vjp, lambda x, y: (x, y.sum()), (x, y), (x, one)) == (([2], []), ([2], [1, 3]))
    assert shapes(jvp, lambda x: x * 2, x, x) == ([2], [2])
    assert shapes(jvp, lambda x: (x * 2,), x, (x,)) == (([2],), ([2],))
    assert shapes(jvp, lambda x: x * 2, (x,), (x,)) == ([2], [2])
    assert shapes(jvp, lambda x, y: (x, y.sum()), (x, y), (x, y)) == (([2], []), ([2], []))
    for product in (vhp, hvp):
        assert shapes(product, lambda x: x.sum(), x, x) == ([], [2])
        assert shapes(product, lambda x: x.sum(), (x,), (x,)) == ([], ([2],))
        assert shapes(product, lambda x, y: x.sum() * y.sum(), (x, y), (x, y)) == ([], ([2], [1, 3]))


# ---- HOF-2: copies of the inputs, and what results are linked to


@EACH
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_hof_2_func_gets_fresh_copies_that_require_grad(name, create_graph, requires_grad):
    x, seen = tensor([1.0, 2.0]).requires_grad_(requires_grad), []

    def f(a):
        seen.append((a is x, a.requires_grad, a.data_ptr() == x.data_ptr(), rg.is_grad_enabled()))
        return suited(name, a * x, (a * x).sum())

    with rg.no_grad():  # func records all the same
        run(name, f, x, create_graph=create_graph)
    assert seen == [(False, True, True, True)]
    assert x.requires_grad is requires_grad and x.grad is None


@EACH
def test_hof_2_the_objects_of_the_user_are_constants(name):
    """The same tensor through a closure is no input, so its part is no part of the derivative."""
    x = leaf([1.0, 2.0], dtype=rg.float64)
    result = run(name, suited(name, lambda a: a * x, lambda a: (a * a * x).sum()), x)
    diagonal = result[1] if name in PRODUCTS else result.diagonal()
    same(diagonal, suited(name, [1.0, 2.0], [2.0, 4.0]))


def flat(result):
    return [t for part in result for t in flat(part)] if isinstance(result, tuple) else [result]


@EACH
def test_hof_2_results_are_detached_or_linked(name):
    x, w = leaf([1.0, 2.0], dtype=rg.float64), leaf([3.0, 4.0], dtype=rg.float64)
    f = suited(name, lambda a: a * a * a * w, lambda a: (a * a * a * w).sum())
    for result in flat(run(name, f, x)):
        assert not result.requires_grad and result.grad_fn is None
    for result in flat(run(name, f, x, create_graph=True)):
        assert result.requires_grad
        gx, gw = grad(result.sum(), (x, w), retain_graph=True)
        assert (gx != 0).all() and (gw != 0).all()


def test_hof_2_values_of_linked_results():
    x, v = leaf([1.0, 2.0], dtype=rg.float64), leaf([3.0, 4.0], dtype=rg.float64)

    def of(result, *inputs):
        return [array(g).tolist() for g in grad(result.sum(), inputs)]

    def cubes(a):
        return a * a * a

    assert of(jacobian(cubes, x, create_graph=True), x) == [[6.0, 12.0]]
    assert of(hessian(lambda a: cubes(a).sum(), x, create_graph=True), x) == [[6.0, 6.0]]
    for product, f in ((vjp, cubes), (jvp, cubes)):
        assert of(product(f, x, v, create_graph=True)[1], x, v) == [[18.0, 48.0], [3.0, 12.0]]
        assert of(product(f, x, v, create_graph=True)[0], x) == [[3.0, 12.0]]
    for product in (vhp, hvp):
        assert of(product(lambda a: cubes(a).sum(), x, v, create_graph=True)[1], x, v) == [[18.0, 24.0], [6.0, 12.0]]


@EACH
def test_hof_2_func_is_called_once_and_random_numbers_go_on_as_after_one_call(name):
    x, calls = tensor([1.0, 2.0]), []

    def f(a):
        calls.append(1)
        noise = rg.rand(2, dtype=rg.float64)
        return suited(name, a * noise, (a * a * noise).sum())

    rg.manual_seed(5)
    run(name, f, x)
    after = rg.rand(3)
    rg.manual_seed(5)
    rg.rand(2, dtype=rg.float64)
    same(after, array(rg.rand(3)))
    assert calls == [1]


# ---- HOF-3: jacobian


def test_hof_3_values():
    x, y = tensor([1.0, 2.0, 3.0]), tensor([[2.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    same(jacobian(lambda x: x * x, x), [[2.0, 0, 0], [0, 4.0, 0], [0, 0, 6.0]])
    jx, jy = jacobian(lambda x, y: y @ x, (x, y))
    same(jx, array(y))
    assert jy.shape == (2, 2, 3)
    for i in range(2):
        for k in range(2):
            same(jy[i, k], array(x) if i == k else [0.0, 0.0, 0.0])
    same(jacobian(lambda x: x.t(), y).reshape(6, 6).sum(0), [1.0] * 6)
    same(jacobian(lambda x: x.sum(), x), [1.0, 1.0, 1.0])
    same(jacobian(lambda x: x.exp(), tensor(0.0)), 1.0)


@pytest.mark.parametrize("options", [{}, VECTORIZED, FORWARD], ids=["loop", "vectorized", "forward"])
def test_hof_3_many_outputs(options):
    """More rows than are worth holding at the same time."""
    x = rg.arange(1500.0)
    if options != FORWARD:
        same(jacobian(lambda x: x * x, x, **options).diagonal(), array(2 * x))
    j = jacobian(lambda x: (x[:2], x[1:]), x, **options)[1]
    same(j, np.eye(1500)[1:])


@pytest.mark.parametrize("options", [{}, VECTORIZED, FORWARD], ids=["loop", "vectorized", "forward"])
def test_hof_3_independent_outputs_give_zeros(options):
    x, y, w = tensor([1.0, 2.0]), tensor([3.0]), leaf([5.0], dtype=rg.float64)
    same(jacobian(lambda x: rg.ones(3, dtype=rg.float64), x, **options), [[0.0, 0.0]] * 3)
    same(jacobian(lambda x: w, x, **options), [[0.0, 0.0]])
    jx, jy = jacobian(lambda x, y: x * 2, (x, y), **options)
    same(jx, [[2.0, 0.0], [0.0, 2.0]])
    same(jy, [[0.0], [0.0]])
    first, second = jacobian(lambda x: (x, x.argmax()), x, **options)
    same(first, [[1.0, 0.0], [0.0, 1.0]])
    same(second, [0.0, 0.0])


def test_hof_3_strict():
    x, y = tensor([1.0, 2.0]), tensor([3.0])
    w = leaf([5.0], dtype=rg.float64)
    with fails("Output 0 of the user-provided function does not require gradients"):
        jacobian(lambda x: rg.ones(3), x, strict=True)
    with fails("Output 1 of the user-provided function does not require gradients"):
        jacobian(lambda x: (x, x.detach()), x, strict=True)
    with fails("Output 0 of the user-provided function is independent of input 1"):
        jacobian(lambda x, y: x * 2, (x, y), strict=True)
    with fails("Output 1 of the user-provided function is independent of input 0"):
        jacobian(lambda x: (x, w * 2), x, strict=True)
    same(jacobian(lambda x: x * 2, x, strict=True), [[2.0, 0.0], [0.0, 2.0]])
    with fails("The jacobian of the user-provided function is independent of input 0", "create_graph=True"):
        jacobian(lambda x: x * 2, x, strict=True, create_graph=True)
    assert jacobian(lambda x: x * x, x, strict=True, create_graph=True).requires_grad


def test_hof_3_keeps_dtypes():
    x = rg.tensor([1.0, 2.0])
    assert jacobian(lambda x: x * x, x).dtype == rg.float32
    assert jacobian(lambda x: x.to(rg.float64) ** 2, x).dtype == rg.float32  # of the input
    with fails("floating point"):
        jacobian(lambda x: x, rg.tensor([1, 2]))


@beyond("stack expects a non-empty TensorList")
def test_hof_3_outputs_without_elements():
    x = tensor([1.0, 2.0])
    for options in ({}, VECTORIZED, FORWARD):
        assert jacobian(lambda x: x[:0], x, **options).shape == (0, 2)
    assert jacobian(lambda x: x[:0].reshape(0, 3), x, create_graph=True).shape == (0, 3, 2)


def test_hof_3_inputs_without_elements():
    for options in ({}, VECTORIZED):
        assert jacobian(lambda x: x.sum() * rg.ones(2), rg.ones(0), **options).shape == (2, 0)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_hof_3_many_outputs_and_few_inputs(count):
    x = tensor([0.5, -1.0, 2.0][:count])
    k = rg.arange(1.0, 41.0, dtype=rg.float64)

    def f(x):
        return (x[:, None] * k).sin(), (x.sum() * k).reshape(4, 10)

    first, second = jacobian(f, x)
    angles = array(x[:, None] * k)
    for i in range(count):
        close(first[i, :, i], array((x[i] * k).cos() * k))
        for other in set(range(count)) - {i}:
            same(first[i, :, other], [0.0] * 40)
    assert angles.shape == (count, 40)
    same(second, array(k.reshape(4, 10, 1).expand(4, 10, count)))
    x.requires_grad_()
    assert not jacobian(f, x)[0].requires_grad and jacobian(f, x, create_graph=True)[0].requires_grad


class Straight(Function):
    """Rounds, and passes three times the gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g * 3


def unrecorded(x):
    with rg.no_grad():
        factor = x * x
    return x * factor


def hooked(x):
    y = x * 2
    y.register_hook(lambda g: g * 5)
    return y * 1


def through_grad(x):
    """The derivative of x**3, as a constant."""
    (g,) = grad((x**3).sum(), x)
    return x * g


# What the recorded graph says of these at 2: the rest of the factors counts as constant.
GRAPHS = [
    pytest.param(lambda x: Straight.apply(x) * x, 3 * 2 + 2.0, id="a Function without a forward rule"),
    pytest.param(unrecorded, 4.0, id="no_grad"),
    pytest.param(hooked, 10.0, id="a hook"),
    pytest.param(through_grad, 12.0, id="a derivative that is not recorded"),
    pytest.param(lambda x: x * x.detach(), 2.0, id="detach"),
    pytest.param(lambda x: x * x.item(), 2.0, id="item"),
]


@pytest.mark.parametrize(("f", "slope"), GRAPHS)
def test_hof_3_jacobian_is_that_of_the_recorded_graph(f, slope):
    x = tensor([2.0])
    same(jacobian(f, x), [[slope]])
    same(jacobian(lambda x: f(x).expand(20).clone(), x), [[slope]] * 20)


def test_hof_3_an_infinite_derivative_spoils_no_more_than_in_reverse_mode():
    ones = rg.ones(30, 1, dtype=rg.float64)
    j = jacobian(lambda x: ones @ x.sqrt().reshape(1, -1) @ tensor([1.0, 1.0]), tensor([0.0, 4.0]))
    assert j.shape == (30, 2) and array(j[:, 0] > 1e300).all()
    same(j[:, 1], [0.25] * 30)


# ---- HOF-4: vectorize and strategy


@pytest.mark.parametrize("options", [VECTORIZED, FORWARD], ids=["reverse", "forward"])
def test_hof_4_vectorized_equals_the_loop(options):
    x, y = tensor([1.0, 2.0, 3.0]), tensor([[2.0, 0.5, 1.0], [1.0, 1.0, 1.0]])

    def f(x, y):
        return y @ x.exp(), (x * y).sum().sin()

    for row, expected in zip(jacobian(f, (x, y), **options), jacobian(f, (x, y)), strict=True):
        for block, want in zip(row, expected, strict=True):
            close(block, array(want))
    w = y
    close(jacobian(lambda x: (w @ x).tanh(), x, **options), array(jacobian(lambda x: (w @ x).tanh(), x)))
    for f in (lambda x: x, lambda x: x[1:], lambda x: x.t() * 2):
        same(jacobian(f, y, **options), array(jacobian(f, y)))


def test_hof_4_vectorized_with_create_graph():
    x = leaf([1.0, 2.0], dtype=rg.float64)
    j = jacobian(lambda x: x**3, x, vectorize=True, create_graph=True)
    same(grad(j.sum(), x)[0], [6.0, 12.0])


def test_hof_4_combinations_that_are_refused():
    x = tensor([1.0])

    def f(x):
        return x * x

    with fails("`strict=True` and `vectorized=True` are not supported together"):
        jacobian(f, x, strict=True, vectorize=True)
    with fails("vectorize=True", kind=NotImplementedError):
        jacobian(f, x, strategy="forward-mode")
    with fails("create_graph=True", "forward-mode", "not supported together", kind=NotImplementedError):
        jacobian(f, x, create_graph=True, **FORWARD)
    with fails("strict=True", "forward-mode", "not supported together"):
        jacobian(f, x, strict=True, **FORWARD)
    for strategy in ("sideways", None):
        with fails('Expected strategy to be either "forward-mode" or "reverse-mode"', kind=AssertionError):
            jacobian(f, x, strategy=strategy)


@beyond("the members of the outer tuple are lists")
def test_hof_4_structures_of_forward_mode():
    x, y = tensor([1.0, 2.0]), tensor([3.0])
    assert structure(jacobian(lambda x, y: (x, y.sum()), (x, y), **FORWARD)) == (([2, 2], [2, 1]), ([2], [1]))
    assert structure(jacobian(lambda x: (x,), (x,), **FORWARD)) == (([2, 2],),)


def test_hof_4_forward_mode_takes_what_the_tangents_say():
    same(jacobian(unrecorded, tensor([2.0]), **FORWARD), [[12.0]])


@beyond("a custom function needs a jvp of its own")
def test_hof_4_forward_mode_through_a_backward():
    same(jacobian(Straight.apply, tensor([2.0]), **FORWARD), [[3.0]])


# ---- HOF-5: hessian


@pytest.mark.parametrize(
    "options",
    [{}, VECTORIZED, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}],
    ids=["loop", "vectorized", "forward"],
)
def test_hof_5_values(options):
    x, y = tensor([1.0, 2.0]), tensor([3.0])
    same(hessian(lambda x: (x**3).sum(), x, **options), [[6.0, 0.0], [0.0, 12.0]])
    same(hessian(lambda x: x.prod(), x, **options), [[0.0, 1.0], [1.0, 0.0]])
    same(hessian(lambda x: x.sum(), x, **options), [[0.0, 0.0], [0.0, 0.0]])
    for result in (lambda x: (x * x).sum().reshape(1), lambda x: (x * x).sum().reshape(1, 1)):
        same(hessian(result, x, **options), [[2.0, 0.0], [0.0, 2.0]])
    (xx, xy), (yx, yy) = hessian(lambda x, y: (x * x * y).sum(), (x, y), **options)
    same(xx, [[6.0, 0.0], [0.0, 6.0]])
    same(xy, [[2.0], [4.0]])
    same(yx, [[2.0, 4.0]])
    same(yy, [[0.0]])


def test_hof_5_one_result_with_one_element():
    x = tensor([1.0, 2.0])
    for product in (hessian, vhp, hvp):
        args = () if product is hessian else (x,)
        with fails("should contain a single element"):
            product(lambda x: x * x, x, *args)
        with fails("should return a single Tensor"):
            product(lambda x: (x.sum(),), x, *args)
        with fails("should return a single Tensor"):
            product(lambda x: (x.sum(), x.sum()), x, *args)


def test_hof_5_options():
    x = tensor([1.0, 2.0])

    def f(x):
        return (x**3).sum()

    forward = {"outer_jacobian_strategy": "forward-mode"}
    with fails('Expected strategy to be either "forward-mode" or "reverse-mode"', kind=AssertionError):
        hessian(f, x, outer_jacobian_strategy="sideways")
    with fails("vectorize=True", kind=NotImplementedError):
        hessian(f, x, **forward)
    with fails("create_graph=True", "not supported together", kind=NotImplementedError):
        hessian(f, x, create_graph=True, vectorize=True, **forward)
    with fails("strict=True", "not supported together"):
        hessian(f, x, strict=True, vectorize=True, **forward)
    with fails("`strict=True` and `vectorized=True` are not supported together"):
        hessian(f, x, strict=True, vectorize=True)
    same(hessian(f, x, strict=True), [[6.0, 0.0], [0.0, 12.0]])


def test_hof_5_strict():
    x, y = tensor([1.0, 2.0]), tensor([3.0])
    with fails("Output 0 of the user-provided function does not require gradients"):
        hessian(lambda x: rg.ones(()), x, strict=True)
    with fails("jacobian of the user-provided function with respect to input 0 is independent of the input"):
        hessian(lambda x: x.sum(), x, strict=True)
    with fails("jacobian of the user-provided function with respect to input 1 is independent of the input"):
        hessian(lambda x, y: (x * x).sum() + y.sum(), (x, y), strict=True)
    with fails("Output 0 of the user-provided function is independent of input 1"):
        hessian(lambda x, y: (x * x).sum() + (y * y).sum(), (x, y), strict=True)
    with fails("The jacobian of the user-provided function is independent of input 0", "create_graph=True"):
        hessian(lambda x: (x * x).sum(), x, strict=True, create_graph=True)
