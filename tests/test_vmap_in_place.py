"""In-place ops on batched tensors: other layouts, writes through views, and views read after a write. Against the same
function on each entry, and against its out-of-place form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as rg
from retrograd.func import grad, jacfwd, jacrev, jvp, vjp, vmap

F64 = rg.float64


def numbers(*shape: int, turn: float = 0.0) -> Any:
    """Different in all places, without symmetry, away from 0."""
    count = 1
    for n in shape:
        count *= n
    return (rg.arange(1.0, count + 1.0, dtype=F64) * 0.37 + turn).sin().reshape(shape) + 1.5


def close(got: Any, want: Any) -> None:
    assert got.shape == want.shape and got.dtype == want.dtype
    assert rg.allclose(got, want, rtol=1e-10, atol=1e-12)


def flat(results: Any) -> list[Any]:
    return [x for r in results for x in flat(r)] if isinstance(results, tuple) else [results]


def each(f: Callable[..., Any], *columns: Any) -> list[Any]:
    """The results of `f` on the entries, one after the other, stacked."""
    rows = [flat(f(*[x.clone() for x in entry])) for entry in zip(*columns, strict=True)]
    return [rg.stack(column) for column in zip(*rows, strict=True)]


def same_as_each(f: Callable[..., Any], *columns: Any) -> list[Any]:
    results = flat(vmap(f)(*columns))
    for got, want in zip(results, each(f, *columns), strict=True):
        close(got, want)
    return results


def weighted(y: Any) -> Any:
    """A number that tells all elements of `y` apart, and is not linear in them."""
    return (y * y * numbers(*y.shape, turn=2.0)).sum()


# ---- other layouts in place

RESHAPES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "t_": (lambda y: y.select(0, 0).t_(), lambda y: y.select(0, 0).t()),
    "transpose_": (lambda y: y.transpose_(0, -1), lambda y: y.transpose(0, -1)),
    "swapaxes_": (lambda y: y.swapaxes_(-2, 0), lambda y: y.swapaxes(-2, 0)),
    "swapdims_": (lambda y: y.swapdims_(1, 2), lambda y: y.swapdims(1, 2)),
    "squeeze_": (lambda y: y.squeeze_(), lambda y: y.squeeze()),
    "squeeze_(0)": (lambda y: y.squeeze_(0), lambda y: y.squeeze(0)),
    "squeeze_((0, 1))": (lambda y: y.squeeze_((0, 1)), lambda y: y.squeeze((0, 1))),
    "unsqueeze_": (lambda y: y.unsqueeze_(-2), lambda y: y.unsqueeze(-2)),
    "as_strided_": (lambda y: y.as_strided_((3, 2), (1, 3)), lambda y: y.as_strided((3, 2), (1, 3))),
    "several": (lambda y: y.squeeze_(0).t_().unsqueeze_(1), lambda y: y.squeeze(0).t().unsqueeze(1)),
}


@pytest.mark.parametrize("name", RESHAPES)
def test_a_layout_changed_in_place_keeps_graph_and_tangents(name: str) -> None:
    inplace, plain = RESHAPES[name]

    def f(x: Any) -> Any:
        y = x * 2
        assert inplace(y) is y or name == "t_"
        return y if name != "t_" else inplace(y)

    def reference(x: Any) -> Any:
        return plain(x * 2)

    x, t = numbers(4, 1, 2, 3), numbers(4, 1, 2, 3, turn=1.0)
    forms: list[Callable[..., Any]] = [
        lambda f: lambda x, t: f(x),
        lambda f: lambda x, t: grad(lambda x: weighted(f(x)))(x),
        lambda f: lambda x, t: jvp(f, (x,), (t,)),
        lambda f: lambda x, t: jacrev(f)(x),
        lambda f: lambda x, t: jacfwd(f)(x),
        lambda f: lambda x, t: jvp(grad(lambda x: weighted(f(x))), (x,), (t,)),
    ]
    for form in forms:
        got = same_as_each(form(f), x, t)
        for a, b in zip(got, each(form(reference), x, t), strict=True):
            close(a, b)


@pytest.mark.parametrize("name", RESHAPES)
def test_gradients_of_all_entries_through_a_layout_changed_in_place(name: str) -> None:
    inplace, plain = RESHAPES[name]
    x = numbers(4, 1, 2, 3).requires_grad_()
    mapped = vmap(lambda x: (lambda y: inplace(y))(x * 2))(x)
    assert mapped.requires_grad
    (got,) = rg.autograd.grad(weighted(mapped), x)
    (want,) = rg.autograd.grad(weighted(rg.stack([plain(e * 2) for e in x])), x)
    close(got, want)


def test_two_levels_and_the_batch_in_the_middle() -> None:
    def f(x: Any) -> Any:
        y = x.sin()
        y.t_()
        y.unsqueeze_(0)
        return y

    x = numbers(2, 5, 3, 4)
    got = vmap(vmap(grad(lambda x: weighted(f(x))), in_dims=1), in_dims=1)(x)
    want = rg.stack([rg.stack([grad(lambda x: weighted(f(x)))(x[:, i, j]) for j in range(3)]) for i in range(5)])
    close(got, want)


def test_the_argument_itself_keeps_its_layout_outside() -> None:
    x = numbers(4, 2, 3)
    close(vmap(lambda x: x.t_() * 1, in_dims=1)(x), x.movedim(1, 0).transpose(1, 2))
    assert x.shape == (4, 2, 3)


def test_a_view_made_before_the_layout_changed_is_still_one() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        row = y[0]
        y.t_()
        row.mul_(x[1])
        return y

    x, t = numbers(4, 2, 3), numbers(4, 2, 3, turn=1.0)
    close(vmap(f)(x), rg.stack([x[:, 0] * x[:, 1], x[:, 1]], 1).transpose(1, 2))
    same_as_each(grad(lambda x: weighted(f(x))), x)
    same_as_each(lambda x, t: jvp(f, (x,), (t,)), x, t)


def test_an_empty_batch_shows_the_new_layout() -> None:
    shapes = []

    def f(x: Any) -> Any:
        y = x * 1
        y.t_()
        shapes.append(y.shape)
        return y

    assert vmap(f)(rg.zeros(0, 2, 3)).shape == (0, 3, 2)
    assert shapes == [(3, 2)]


# ---- writes through views


def fills(x: Any) -> Any:
    y = rg.zeros_like(x) * x
    y[0] = x[1] * x[1]
    y[1, 1:] += x[0, 1:].sin()
    return y


def scales(x: Any) -> Any:
    y = x.clone()
    y[:, ::2].mul_(x[:, :1])
    y.t()[0].exp_()
    return y


def squares(x: Any) -> Any:
    y = x * 1
    v = y.view(-1)
    v.square_()
    return v


def clears(x: Any) -> Any:
    y = x * x
    y.diagonal().zero_()
    y.unsqueeze(0)[0, 0].add_(x.sum(0))
    return y


def copies(x: Any) -> Any:
    y = x.cos()
    y.select(1, 0).copy_(x.select(1, 1))
    y.narrow(1, 1, 2).masked_fill_(x.narrow(1, 1, 2) > 1.5, 0.5)
    return y


def chains(x: Any) -> Any:
    y = x * 3
    v = y[...]
    w = v[1]
    w[1:].sin_()
    y[0].mul_(w.clone())
    return y + v


def reads(x: Any) -> Any:
    y = x * 1
    v = y[...]
    y.mul_(10.0)
    return v * x


WRITES = [fills, scales, squares, clears, copies, chains, reads]


@pytest.mark.parametrize("f", WRITES)
def test_writes_through_views(f: Callable[[Any], Any]) -> None:
    x, t = numbers(4, 2, 3), numbers(4, 2, 3, turn=1.0)
    same_as_each(f, x)
    same_as_each(grad(lambda x: weighted(f(x))), x)
    same_as_each(jacrev(f), x)
    same_as_each(lambda x, t: vjp(f, x)[1](f(t))[0], x, t)
    same_as_each(jacrev(grad(lambda x: weighted(f(x)))), x)


@pytest.mark.parametrize("f", WRITES)
def test_tangents_of_writes_through_views(f: Callable[[Any], Any]) -> None:
    x, t = numbers(4, 2, 3), numbers(4, 2, 3, turn=1.0)
    same_as_each(lambda x, t: jvp(f, (x,), (t,)), x, t)
    same_as_each(jacfwd(f), x)
    same_as_each(lambda x, t: jvp(grad(lambda x: weighted(f(x))), (x,), (t,)), x, t)


@pytest.mark.parametrize("f", WRITES)
def test_gradients_per_sample_of_a_weight(f: Callable[[Any], Any]) -> None:
    w, x = numbers(2, 3), numbers(4, 2, 3, turn=0.5)

    def loss(w: Any, x: Any) -> Any:
        return weighted(f(w * x))

    got = vmap(grad(loss), in_dims=(None, 0))(w, x)
    close(got, rg.stack([grad(loss)(w, e) for e in x]))
    leaf = w.clone().requires_grad_()
    (total,) = rg.autograd.grad(vmap(loss, in_dims=(None, 0))(leaf, x).sum(), leaf)
    close(total, got.sum(0))


@pytest.mark.parametrize("whole", [True, False])
def test_a_write_that_reads_what_it_writes(whole: bool) -> None:
    def f(x: Any) -> Any:
        y = x * 1
        y.masked_scatter_(y > 2, y if whole else y[...])
        return y

    x = numbers(4, 2, 3)
    same_as_each(f, x)
    want = each(grad(lambda x: weighted(x.masked_scatter(x > 2, x))), x)
    close(vmap(grad(lambda x: weighted(f(x))))(x), want[0])


# ---- views read after their base was written


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
def test_a_tensor_made_after_another_has_memory_for_each_of_its_entries(name: str) -> None:
    def filled(x: Any) -> Any:
        return getattr(rg, name)(x).copy_(x)

    for x in (numbers(2, 3, 4), numbers(4, 3, 2).permute(2, 1, 0)):
        close(vmap(filled)(x), x)
        close(vmap(vmap(filled))(x), x)
        close(vmap(vmap(vmap(filled)))(x), x)


def test_a_view_has_the_history_of_after_the_write() -> None:
    def f(x: Any) -> Any:
        y = x.clone()
        v = y[...]
        y.mul_(10.0)
        return v

    x = rg.tensor([[3.0, 2.0], [1.0, 5.0]], dtype=F64)
    tens = rg.eye(2, dtype=F64).mul(10).expand(2, 2, 2)
    close(vmap(jacrev(f))(x), tens)
    close(vmap(lambda x: vjp(f, x)[1](x)[0])(x), x * 10)
    close(vmap(jacfwd(f))(x), tens)
    close(vmap(grad(lambda x: f(x).pow(2).sum()))(x), x * 200)


def test_a_written_view_returned_from_vjp() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        v = y.view(2)
        v.square_()
        return v

    x = rg.tensor([[3.0, 2.0], [1.0, 5.0]], dtype=F64)
    close(vmap(lambda x: vjp(f, x)[1](rg.ones(2, dtype=F64))[0])(x), x * 2)


def test_the_node_of_a_view_is_brought_up_to_date() -> None:
    x = numbers(4, 3).requires_grad_()
    names = []

    def f(x: Any) -> Any:
        y = x * 1.0
        v = y[1:]
        names.append(v.grad_fn.name())
        y.mul_(2.0)
        names.append(v.grad_fn.name())
        return v

    vmap(f)(x)
    assert names == ["SliceBackward0", "AsStridedBackward0"]


# ---- levels


def nodes_of(root: Any) -> int:
    seen, todo = set(), [root.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo.extend(after for after, _ in node.next_functions)
    return len(seen)


DEEP: dict[str, Callable[[Any], Any]] = {
    "a pointwise op": lambda x: x * 2,
    "operands of different rank": lambda x: x * x.sum(),
    "a view": lambda x: x.t(),
    "a reduction": lambda x: x.sum(0),
    "a product": lambda x: x @ x,
    "a join": lambda x: rg.cat([x, x]),
    "an index": lambda x: x[0],
    "a write": lambda x: (x * 1).mul_(3.0),
    "a write to a view": lambda x: (lambda y: (y[0].mul_(3.0), y)[1])(x * 1),
    "a layout in place": lambda x: (x * 1).t_(),
    "a softmax": lambda x: x.softmax(0),
}


@pytest.mark.parametrize("name", DEEP)
def test_work_grows_with_the_number_of_levels_and_no_faster(name: str) -> None:
    def count(depth: int) -> int:
        f = DEEP[name]
        for _ in range(depth):
            f = vmap(f)
        return nodes_of(f(numbers(*[1] * depth, 2, 2).requires_grad_()))

    one, two, three = count(5), count(6), count(7)
    assert three - two == two - one
    assert count(24) == one + 19 * (two - one)
