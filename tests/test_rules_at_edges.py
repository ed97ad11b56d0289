"""Derivatives where formulas end: kinks, poles, infinities and NaN; and leaves that changed after their use."""

import math
from collections.abc import Callable
from typing import Any

import pytest

INF, NAN = math.inf, math.nan
Numbers = list[Any]


def leaf(rg: Any, *values: float) -> Any:
    return rg.tensor(values, dtype=rg.float64, requires_grad=True)


def same(got: Any, want: Numbers) -> None:
    got = got.tolist()
    assert got == pytest.approx(want, rel=1e-12, abs=0, nan_ok=True), f"{got} instead of {want}"


def pull(rg: Any, y: Any, x: Any, *cotangent: float) -> Any:
    return rg.autograd.grad(y, x, rg.tensor(cotangent, dtype=y.dtype).reshape(y.shape))[0]


def test_an_infinite_cotangent_goes_to_the_chosen_element_alone(rg: Any) -> None:
    for reduce in (rg.max, rg.median, rg.nanmedian):
        x = leaf(rg, 3.0, 3.0, 3.0)
        same(pull(rg, reduce(x), x, 6.0), [2.0, 2.0, 2.0])
    for reduce, want in ((rg.max, [0, 0, INF]), (rg.min, [INF, 0, 0]), (rg.median, [0, INF, 0])):
        x = leaf(rg, 1.0, 2.0, 3.0)
        same(pull(rg, reduce(x), x, INF), want)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_what_scatter_reduce_replaces_gets_no_gradient(rg: Any, reduce: str) -> None:
    x, source = leaf(rg, 1.0, 2.0), leaf(rg, 4.0)
    y = x.scatter_reduce(0, rg.tensor([0]), source, reduce, include_self=False)
    gx, gs = rg.autograd.grad(y, [x, source], rg.tensor([NAN, 3.0], dtype=rg.float64))
    same(gx, [0.0, 3.0])
    assert math.isnan(gs.item())


@pytest.mark.parametrize("order", [1.5, 2.5, 3, 4])
def test_the_gradient_of_a_norm_is_0_at_0(rg: Any, order: float) -> None:
    x = leaf(rg, 0.0, 0.0)
    same(pull(rg, rg.linalg.vector_norm(x, order), x, INF), [0.0, 0.0])
    if order >= 3:
        (g,) = rg.autograd.grad(rg.linalg.vector_norm(x, order), x, create_graph=True)
        same(rg.autograd.grad(g.sum(), x)[0], [0.0, 0.0])


def test_the_number_of_elements_that_are_not_0_is_flat(rg: Any) -> None:
    """It gives no gradient, not one of zeros: an optimizer leaves alone what got none."""
    x, other = leaf(rg, 1.0, 0.0), leaf(rg, 2.0, 0.0)
    for y in (rg.linalg.vector_norm(x, 0), x.norm(0), rg.norm(x, 0, 0), rg.dist(x, other, 0)):
        assert y.item() == 1.0
        y.backward()
        assert x.grad is None
        assert other.grad is None
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        rg.autograd.grad(rg.linalg.vector_norm(x, 0), x)
    same(rg.autograd.grad(rg.linalg.vector_norm(x * 2, 0) * INF + x.sum(), x)[0], [1.0, 1.0])
    same(rg.func.grad(lambda x: rg.linalg.vector_norm(x, 0))(x.detach()), [0.0, 0.0])
    same(rg.func.jvp(lambda x: rg.linalg.vector_norm(x, 0), (x.detach(),), (other.detach(),))[1], 0.0)


def test_gradients_that_do_not_depend_on_the_operand_have_none_by_it(rg: Any) -> None:
    """The product of one element that is 0 or has no dims, the logarithm of the sum of one exponential: `g` itself."""
    number, zero = rg.tensor(2.0, dtype=rg.float64, requires_grad=True), leaf(rg, 0.0)
    for x, y in (
        (number, number.prod()),
        (number, number.prod(0)),
        (number, rg.logcumsumexp(number, 0)),
        (zero, zero.prod()),
        (zero, zero.prod(0, keepdim=True)),
    ):
        w = rg.ones_like(y).detach().requires_grad_()
        (g,) = rg.autograd.grad(y, x, w, create_graph=True)
        again = rg.autograd.grad(g.sum(), (x, w), allow_unused=True)
        assert again[0] is None
        assert again[1].item() == 1.0


def test_the_gradient_of_the_mean_of_nothing_can_be_differentiated(rg: Any) -> None:
    x = leaf(rg)
    y = x.mean()
    w = rg.ones_like(y).detach().requires_grad_()
    (g,) = rg.autograd.grad(y, x, w, create_graph=True)
    assert rg.autograd.grad(g.sum(), w)[0].item() == 0.0


@pytest.mark.parametrize("f", [lambda rg, x, e: rg.pow(x, e), lambda rg, x, e: rg.float_power(x, e)])
def test_the_gradient_of_a_power_of_0_is_linear_in_the_cotangent(rg: Any, f: Callable[..., Any]) -> None:
    # d/dg of g * f'(x) is f'(x): 1 for 0 ** 1 by its base, 0 for 0 ** e by the exponent.
    x, e, g = leaf(rg, 0.0, 0.0, 2.0), leaf(rg, 1.0, 0.0, 3.0), leaf(rg, 5.0, 5.0, 5.0)
    by_base, by_exponent = rg.autograd.grad(f(rg, x, e), [x, e], g, create_graph=True)
    same(by_base, [5.0, 0.0, 60.0])
    same(by_exponent, [0.0, 0.0, 40 * math.log(2)])
    same(rg.autograd.grad((by_base + by_exponent).sum(), g)[0], [1.0, 0.0, 12.0 + 8 * math.log(2)])


def test_zero_to_a_power_has_a_second_derivative(rg: Any) -> None:
    e, g = leaf(rg, 0.0, 2.0), leaf(rg, 1.0, 1.0)
    (once,) = rg.autograd.grad(0.0**e, e, g, create_graph=True)
    for twice in rg.autograd.grad(once.sum(), [e, g]):
        same(twice, [0.0, 0.0])


@pytest.mark.parametrize(("name", "pole"), [("xlogy", 0.0), ("special.xlog1py", -1.0)])
def test_nothing_times_an_infinite_logarithm_is_nothing(rg: Any, name: str, pole: float) -> None:
    f = rg.special.xlog1py if "." in name else rg.xlogy
    x = leaf(rg, 1.0)
    same(pull(rg, f(x, pole), x, 0.0), [0.0])
    x, g = leaf(rg, 0.0), leaf(rg, 7.0)
    (once,) = rg.autograd.grad(f(x, pole), x, g, create_graph=True)
    same(once, [0.0])
    same(rg.autograd.grad(once, g)[0], [0.0])
    same(pull(rg, f(x, pole), x, INF), [0.0])
    x = leaf(rg, 0.0)
    same(pull(rg, f(x, 1.0), x, 3.0), [3 * math.log(1.0 - pole)])


def test_nan_is_not_hidden(rg: Any) -> None:
    functional = rg.nn.functional
    for f in (functional.elu, functional.celu, functional.selu, functional.hardswish):
        x = leaf(rg, NAN)
        same(pull(rg, f(x), x, 1.0), [NAN])
    x = leaf(rg, NAN)
    (g,) = rg.autograd.grad(functional.softplus(x), x, rg.ones(1, dtype=rg.float64), create_graph=True)
    same(rg.autograd.grad(g, x)[0], [NAN])
    # Every sum from the second on has the NaN in it, and so has every element before.
    x = leaf(rg, 0.0, NAN)
    same(pull(rg, rg.logcumsumexp(x, 0), x, 1.0, 1.0), [NAN, NAN])
    x = leaf(rg, 0.0, 0.0)
    same(pull(rg, rg.logcumsumexp(x, 0), x, 1.0, NAN), [NAN, NAN])
    x = leaf(rg, 0.0, -INF)
    same(pull(rg, rg.logcumsumexp(x, 0), x, 1.0, 1.0), [2.0, 0.0])


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("point", [NAN, INF, -INF])
def test_a_point_that_is_nowhere_has_no_sample(rg: Any, align: bool, point: float) -> None:
    functional = rg.nn.functional
    plane = rg.arange(9.0, dtype=rg.float64).reshape(1, 1, 3, 3).requires_grad_()
    for mode in ("bilinear", "bicubic"):
        grid = rg.tensor([[[[point, 0.0], [0.0, 0.0]]]], dtype=rg.float64, requires_grad=True)
        y = functional.grid_sample(plane, grid, mode, "zeros", align)
        same(y.flatten(), [NAN, 4.0])
        for create_graph in (False, True):
            gx, gg = rg.autograd.grad(y.sum(), [plane, grid], retain_graph=True, create_graph=create_graph)
            assert gx.isfinite().all(), "the point draws on no element"
            assert gg[0, 0, 0].isnan().any() and gg[0, 0, 1].isfinite().all()
    # A nearest element there is none, and a border is always somewhere.
    grid = rg.tensor([[[[point, 0.0]]]], dtype=rg.float64)
    same(functional.grid_sample(plane, grid, "nearest", "zeros", align).flatten(), [0.0])
    at = 5.0 if point == INF else 3.0
    same(functional.grid_sample(plane, grid, "bilinear", "border", align).flatten(), [at])


def test_outside_is_0_with_any_derivative(rg: Any) -> None:
    plane = rg.ones(1, 1, 2, 2, dtype=rg.float64, requires_grad=True)
    grid = rg.tensor([[[[5.0, 0.0], [0.25, -0.5]]]], dtype=rg.float64, requires_grad=True)
    f = lambda p, g: rg.nn.functional.grid_sample(p, g, align_corners=True)  # noqa: E731
    assert rg.autograd.gradcheck(f, (plane, grid))
    assert rg.autograd.gradgradcheck(f, (plane, grid))


def test_a_function_that_grows_beyond_all_numbers_is_infinite(rg: Any) -> None:
    same(rg.i0(rg.tensor([1e308, -1e308], dtype=rg.float64)), [INF, INF])
    same(rg.special.i1(rg.tensor([1e308, -1e308], dtype=rg.float64)), [INF, -INF])


@pytest.mark.parametrize("end", [lambda x: x.detach_(), lambda x: x.requires_grad_(False)])
def test_a_leaf_cut_off_after_its_use_keeps_no_gradient(rg: Any, end: Callable[[Any], Any]) -> None:
    x, other = leaf(rg, 1.0, 2.0), leaf(rg, 3.0, 4.0)
    y, seen = (x * other).sum(), []
    x.register_hook(seen.append)
    end(x)
    y.backward()
    assert x.grad is None
    assert [g.tolist() for g in seen] == [[3.0, 4.0]]
    assert other.grad.tolist() == [1.0, 2.0]


def test_a_leaf_cut_off_keeps_the_gradient_that_it_had(rg: Any) -> None:
    x = leaf(rg, 1.0)
    (x * 3).backward()
    y = x * 5
    x.detach_()
    y.backward()
    assert x.grad.tolist() == [3.0]


def test_masked_fill_with_a_value_for_each_entry_of_a_batch(rg: Any) -> None:
    def f(x: Any) -> Any:
        return x.masked_fill(x > 0, x.sum() * 3)

    x = rg.tensor([[1.0, -2.0], [-5.0, 2.0]], dtype=rg.float64)
    tangents = rg.func.vmap(lambda x: rg.func.jvp(f, (x,), (x,))[1])(x)
    assert tangents.tolist() == [[-3.0, -2.0], [-5.0, -9.0]]


def test_a_leaf_that_got_another_shape_after_its_use(rg: Any) -> None:
    """The first gradient takes its new sizes; `grad`, and what is added to an older gradient, have those of the use."""
    for earlier in (False, True):
        x = rg.ones(2, 3, requires_grad=True)
        y = (x * rg.arange(6.0).reshape(2, 3)).sum()
        if earlier:
            x.sum().backward()
        with rg.no_grad():
            x.unsqueeze_(0)
        assert rg.autograd.grad(y, x, retain_graph=True)[0].shape == (2, 3)
        (y + (x * 2).sum()).backward()
        want = [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]
        if not earlier:
            assert x.grad.tolist() == [want]
        else:
            assert x.grad.flatten().tolist() == [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    x = rg.ones(2, 3, requires_grad=True)
    y = (x * 2).sum()
    with rg.no_grad():
        x.t_()
    assert rg.autograd.grad(y, x, retain_graph=True)[0].shape == (2, 3)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(\d\) must match the size of tensor b \(\d\)"):
        y.backward()
    assert x.grad is None


def test_a_gradient_of_a_shape_that_a_leaf_never_had_is_refused(rg: Any) -> None:
    class Turned(rg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.sum()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.expand(3, 2)

    with pytest.raises(RuntimeError, match=r"an invalid gradient at index 0 - got \[3, 2\] but expected shape"):
        Turned.apply(rg.ones(2, 3, requires_grad=True)).backward()


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_a_leaf_that_got_another_number_of_axes_after_its_use(rg: Any) -> None:
    """Rules work with the sizes that the leaf had when it was used; a gradient that does not fit is an error."""
    for create_graph in (False, True):
        x = rg.tensor([1.9, -1.4], dtype=rg.float64, requires_grad=True)
        y = rg.select_scatter(x, x.select(-1, 0).mul(2), -1, 0)
        with rg.no_grad():
            rg.sum(y, -1, out=x)
        g = rg.tensor([0.5, 1.5], dtype=rg.float64)
        (grad,) = rg.autograd.grad(y.abs(), x, g, retain_graph=True, create_graph=create_graph)
        assert grad.tolist() == [1.0, -1.5]
        with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
            y.abs().backward(g, create_graph=create_graph)
        assert x.grad is None
