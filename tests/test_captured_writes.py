"""A function under a transform may write in place to what it makes and to its arguments, not to what it captured."""

import pytest

import retrograd as rg
from retrograd.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

PHRASE = (
    r"During a grad \(vjp, jvp, grad, etc\) transform, the function provided attempted to call in-place operation "
    r"\(aten::{}\) that would mutate a captured Tensor. This is not supported; please rewrite the function being "
    r"transformed to explicitly accept the mutated Tensor\(s\) as inputs."
)
X = rg.tensor([1.0, 2.0])

TRANSFORMS = {
    "grad": lambda f: grad(f)(X),
    "grad_and_value": lambda f: grad_and_value(f)(X),
    "vjp": lambda f: vjp(f, X),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "jacrev": lambda f: jacrev(f)(X),
    "jacfwd": lambda f: jacfwd(f)(X),
    "hessian": lambda f: hessian(f)(X),
    "vmap of grad": lambda f: vmap(grad(f))(rg.ones(3, 2)),
    "grad of vmap": lambda f: grad(lambda y: vmap(f)(y).sum())(rg.ones(3, 2)),
    "grad in grad": lambda f: grad(lambda y: grad(f)(y).sum())(X),
}


def refused(call, op, captured):
    values, version = captured.tolist(), captured._version
    layout = captured.shape, captured.stride()
    with pytest.raises(RuntimeError, match=PHRASE.format(op)):
        call()
    assert captured.tolist() == values and captured._version == version
    assert (captured.shape, captured.stride()) == layout
    captured.add_(0)  # the transform is over


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("by_argument", [False, True])
def test_every_transform_refuses(name, by_argument):
    captured = rg.zeros(2)

    def f(x):
        captured.add_(x if by_argument else 1)
        return (x * captured).sum()

    refused(lambda: TRANSFORMS[name](f), "add_", captured)


@pytest.mark.parametrize(
    ("op", "write"),
    [
        ("mul_", lambda c: c.view(-1).mul_(2)),
        ("mul_", lambda c: c.detach().mul_(2)),
        ("mul_", lambda c: c.data.mul_(2)),
        ("copy_", lambda c: c.__setitem__(0, rg.zeros(3))),
        ("fill_", lambda c: c.__setitem__(0, 5.0)),
        ("add_", lambda c: c.t().add_(1)),
        ("transpose_", lambda c: c.t_()),
        ("resize_", lambda c: c.resize_(1)),
        ("detach_", lambda c: c.detach_()),
        ("random_", lambda c: c.uniform_()),
        ("fill_", lambda c: c[0].zero_()),
    ],
)
def test_every_kind_of_write_is_refused(op, write):
    captured = rg.ones(2, 3)

    def f(x):
        write(captured)
        return (x * captured.sum()).sum()

    refused(lambda: grad(f)(X), op, captured)
    with rg.no_grad():
        refused(lambda: grad(f)(X), op, captured)


def test_writes_under_no_grad_inside_are_refused():
    captured = rg.ones(2)

    def f(x):
        with rg.no_grad():
            captured.add_(1)
        return (x * captured).sum()

    refused(lambda: grad(f)(X), "add_", captured)


def test_what_an_outer_transform_made_is_captured_by_an_inner_one():
    def outer(x):
        made = x * 1

        def inner(y):
            made.add_(1)
            return (made * y).sum()

        return grad(inner)(x).sum()

    with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
        grad(outer)(X)


def test_an_argument_of_the_inner_transform_may_be_captured_by_the_outer_one():
    captured = rg.ones(2)
    refused(lambda: grad(lambda x: grad(lambda y, c: (c.add_(1) * y).sum())(x, captured).sum())(X), "add_", captured)


def test_what_was_made_in_the_function_may_be_written():
    def f(x):
        made = rg.zeros(2)
        made.add_(1)
        made[0] = x[0]
        other = x.clone()
        other.mul_(made)
        rg.from_numpy(rg.ones(2).numpy()).add_(1)
        return other.sum()

    assert grad(f)(X).tolist() == [2.0, 1.0]
    assert jvp(f, (X,), (rg.ones(2),))[1].item() == 3.0


def test_arguments_may_be_written():
    for call in (
        lambda c: grad(lambda x, y: (y.add_(1) * x).sum())(X, c),
        lambda c: grad(lambda x, y: (y.add_(1) * x).sum())(X, y=c),
        lambda c: grad(lambda x, tree: (tree["c"][0].view(-1).add_(1) * x).sum())(X, {"c": [c]}),
        lambda c: jacrev(lambda x, y: (y.add_(1) * x).sum())(X, c),
        lambda c: jacfwd(lambda x, y: (y.add_(1) * x).sum())(X, c),
    ):
        given = rg.ones(2)
        assert call(given).tolist() == [2.0, 2.0]
        assert given.tolist() == [2.0, 2.0]
    value, _ = jvp(lambda x, y: (y.add_(1) * x).sum(), (X, given), (X, X))
    assert value.item() == 9.0 and given.tolist() == [3.0, 3.0]


def test_an_argument_that_is_differentiated_for_is_refused_as_a_leaf():
    for call in (lambda: grad(lambda x: x.mul_(2).sum())(X), lambda: vjp(lambda x: x.mul_(2).sum(), X)):
        with pytest.raises(
            RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"
        ):
            call()
    assert X.tolist() == [1.0, 2.0]


def test_where_no_transform_runs_everything_is_as_ever():
    captured = rg.zeros(2)

    def f(x):
        captured.add_(1)
        return (x * captured).sum()

    assert vmap(f)(rg.ones(3, 2)).tolist() == [2.0, 2.0, 2.0]  # vmap alone calls it once
    linearize(f, X)
    rg.autograd.functional.jacobian(f, X)
    with rg.autograd.forward_ad.dual_level():
        f(rg.autograd.forward_ad.make_dual(X, X))
    assert captured.tolist() == [4.0, 4.0]
    _, pullback = vjp(lambda x: x.sum(), X)
    captured.add_(pullback(rg.tensor(1.0))[0])
    assert captured.tolist() == [5.0, 5.0]


def test_reading_is_fine_and_so_is_out():
    captured = rg.ones(2)
    assert grad(lambda x: (x * captured).sum())(X).tolist() == [1.0, 1.0]
    assert grad(lambda x: (x * rg.add(captured, 1, out=captured)).sum())(X).tolist() == [2.0, 2.0]


def test_running_statistics_are_updated():
    mean, var = rg.zeros(2), rg.ones(2)
    grad(lambda x: rg.nn.functional.batch_norm(x, mean, var, training=True).pow(3).sum())(
        rg.tensor([[1.0, 2.0], [3.0, 6.0]])
    )
    assert mean.tolist() == pytest.approx([0.2, 0.4])
