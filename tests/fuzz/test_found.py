"""Programs that a property once failed for."""

import pytest

import retrograd as rg
from fuzz.properties import batches, derivatives, nested, passes


def t(*values):
    return rg.tensor(values, dtype=rg.float64)


def test_operand_of_a_write_is_a_view_of_what_is_written():
    def f(x):
        y = x.clone()
        y[...] *= y
        y.flatten()[None].addcmul_(y.flatten()[None], y.flatten()[None])
        return (y,)

    derivatives.jvp_is_what_differences_tell(f, (t(0.253, -1.402),))
    nested.forward_over_forward_agrees(f, (t(0.253, -1.402),))


def test_a_copy_has_a_tangent_of_its_own():
    def f(x, y):
        z = rg.empty_like(x).copy_(x)
        z.masked_fill_(z > 0.1, 0.5)
        w = y.unsqueeze(0) + 1.0
        w[None].view((1, 1)).reciprocal_()
        return x * 1.0, y * 1.0

    derivatives.jvp_is_what_differences_tell(f, (t(1.559, -1.544), t(-0.912).sum()))


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y[0].squeeze(0).tanh_(),
        lambda y: y.flatten().cumprod_(-1),
        lambda y: y.view((1, 2))[:, ::2].reciprocal_(),
        lambda y: y.narrow(1, 1, 1)[...].tan_(),
    ],
    ids=["tanh_", "cumprod_", "reciprocal_", "tan_"],
)
def test_second_derivatives_through_a_write_to_a_view(write):
    def f(x):
        y = x.clone()
        write(y)
        return (y,)

    x = t(1.559, -1.544).reshape(1, 2)
    nested.hessian_products_agree(f, (x,))
    nested.forward_over_forward_agrees(f, (x,))
    nested.tape_of_a_gradient_agrees(f, (x,))


@pytest.mark.parametrize("transform", ["grad", "vjp", "jvp", "jacrev", "jacfwd"])
@pytest.mark.parametrize("shape", ["t_", "squeeze_", "unsqueeze_", "transpose_"])
def test_shapes_changed_in_place_under_vmap(transform, shape):
    def f(x):
        y = x.clone()
        getattr(y, shape)(*{"unsqueeze_": (0,), "transpose_": (0, -1)}.get(shape, ()))
        return (y.sin(),)

    batches.vmap_is_a_loop(f, (t(1.695, -1.292).reshape(1, 2),), transform, (0,))


def test_a_write_whose_operand_is_a_view_of_its_target_is_freed():
    def f(x):
        y = x.clone()
        y.mul_(y[...])
        return (x.clone(),)

    passes.nothing_stays_alive(f, (t(1.559, -1.544),))
