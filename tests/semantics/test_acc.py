"""ACC: accumulation into .grad and the layout of gradients."""

import math

import pytest

from . import beyond, fails, leaf, rg, same, script


def dense(shape, order):
    """A leaf holding 1, 2, 3, ...: contiguous memory of `shape`, its dims then permuted to `order`."""
    return rg.arange(1.0, math.prod(shape) + 1).view(shape).permute(order).requires_grad_()


@pytest.mark.parametrize(
    ("shape", "order"),
    [((2, 3), (0, 1)), ((2, 3), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((2, 3, 4), (1, 0, 2)), ((5,), (0,))],
)
def test_acc_1_dense_leaf_gives_grad_its_strides(shape, order):
    x = dense(shape, order)
    (x * x).sum().backward()
    assert x.grad.stride() == x.stride()
    same(x.grad, (x * 2).detach())
    y = dense(shape, order)
    g = rg.ones(y.shape)
    (y * 1).backward(g)
    assert y.grad.stride() == x.stride() and y.grad is not g
    same(y.grad, g)


def test_acc_2_gaps_and_overlap_give_a_contiguous_grad():
    expanded = rg.ones(3).expand(2, 3).requires_grad_()
    gaps = rg.arange(12.0).view(3, 4)[:, ::2].requires_grad_()
    gaps_transposed = rg.arange(12.0).view(3, 4)[:, ::2].t().requires_grad_()
    for x in (expanded, gaps, gaps_transposed):
        assert x.is_leaf
        (x * 3).sum().backward()
        assert x.grad.is_contiguous() and x.grad.shape == x.shape
        same(x.grad, rg.full(x.shape, 3.0))


def test_acc_3_later_accumulation_is_in_place():
    x = dense((3, 2), (1, 0))
    (x * 2).sum().backward()
    first, version, pointer = x.grad, x.grad._version, x.grad.data_ptr()
    (x * 3).sum().backward()
    assert x.grad is first and first.data_ptr() == pointer
    assert first.stride() == (1, 2) and first._version == version + 1
    same(first, rg.full((2, 3), 5.0))


def test_acc_3_in_place_also_when_the_old_grad_requires_grad():
    x = leaf([1.0, 2.0])
    x.grad = g = leaf([10.0, 20.0])
    (x * 3).sum().backward()
    assert x.grad is g and g.requires_grad and g.is_leaf and g._version == 1
    same(g, [13.0, 23.0])


@pytest.mark.filterwarnings("ignore:Using backward\\(\\) with create_graph")
def test_acc_4_with_create_graph_the_grad_is_replaced():
    x = dense((3, 2), (1, 0))
    (x * x).sum().backward()
    old, version = x.grad, x.grad._version
    before = old.clone()
    (x * x).sum().backward(create_graph=True)
    assert x.grad is not old and x.grad.requires_grad and x.grad.stride() == (1, 2)
    assert old._version == version
    same(old, before)
    same(x.grad, before * 2)
    (second,) = rg.autograd.grad(x.grad.sum(), x)
    same(second, rg.full((2, 3), 2.0))  # only the second pass is part of a graph


def test_acc_5_a_grad_of_other_strides_is_tolerated_with_one_warning():
    printed = script("""
        def run():
            x = rg.ones(2, 3, requires_grad=True)
            x.grad = rg.zeros(3, 2).t()
            with caught() as log:
                (x * 3).sum().backward()
            assert x.grad.stride() == (1, 2) and (x.grad == 3).all()
            return sum("do not obey the gradient layout contract" in str(w.message) for w in log)

        with rg.autograd.enforce_grad_layout_policy(False):
            print(run())
        print(run(), run())
    """)
    assert printed == ["0", "1", "0"]


def test_acc_5_without_the_policy_a_stolen_buffer_keeps_its_strides():
    def transposed_grad():
        x = rg.ones(2, 3, requires_grad=True)
        x.t().clone().sum().backward()
        (x.t() * rg.arange(6.0).view(3, 2)).sum().backward()
        return x.grad

    strict = transposed_grad()
    assert strict.stride() == (3, 1)
    x = rg.ones(2, 3, requires_grad=True)
    with rg.autograd.enforce_grad_layout_policy(False):
        (x.t() * rg.arange(6.0).view(3, 2)).sum().backward()
    assert x.grad.stride() == (1, 2)
    same(x.grad, rg.arange(6.0).view(3, 2).t())


def test_acc_6_grads_share_memory_with_nobody():
    x, y, g = leaf([1.0, 2.0]), leaf([3.0, 4.0]), rg.tensor([5.0, 6.0])
    (x + y).backward(g)
    assert len({x.grad.data_ptr(), y.grad.data_ptr(), g.data_ptr()}) == 3
    (x + y).backward(g)
    same(x.grad, [10.0, 12.0])
    same(y.grad, [10.0, 12.0])
    same(g, [5.0, 6.0])


@beyond("torch lets the grad be the caller's tensor and later writes into it")
def test_acc_6_a_gradient_through_a_view_is_copied():
    x, g = leaf([[1.0, 2.0]]), rg.ones(2)
    x.view(2).backward(g)
    assert x.grad.data_ptr() != g.data_ptr()
    x.view(2).backward(rg.ones(2))
    same(x.grad, [[2.0, 2.0]])
    same(g, [1.0, 1.0])


def test_acc_6_an_expanded_gradient_is_copied():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    x.sum().backward()
    assert x.grad.stride() == (2, 1)
    x.grad[0, 0] = 7
    same(x.grad, [[7.0, 1.0], [1.0, 1.0]])


def test_acc_6_a_gradient_somebody_holds_is_copied():
    x, held = leaf([1.0, 2.0]), []
    y = x * 2
    x.register_hook(held.append)
    y.sum().backward()
    assert held[0].data_ptr() != x.grad.data_ptr()
    x.grad.zero_()
    same(held[0], [2.0, 2.0])


def test_acc_7_grad_requires_grad_only_with_create_graph():
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    assert x.grad.requires_grad is False and x.grad.grad_fn is None


def test_acc_7_create_graph_warns_once_about_the_cycle():
    printed = script("""
        def run():
            x = rg.tensor([3.0], requires_grad=True)
            with caught() as log:
                (x * x * x).backward(create_graph=True)
            (second,) = rg.autograd.grad(x.grad, x)
            assert second.item() == 18 and x.grad.requires_grad
            x.grad = None
            return sum("will create a reference cycle" in str(w.message) for w in log)

        print(run(), run())
    """)
    assert printed == ["1", "0"]


def test_acc_8_all_paths_are_summed_before_one_accumulation():
    x = leaf([1.0, 2.0])
    x.grad = rg.zeros(2)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    (x * 2 + x * 3 + x.exp() * 0).sum().backward()
    assert seen == [[5.0, 5.0]] and x.grad._version == 1


def test_acc_9_gradients_are_reduced_and_cast_to_the_leaf():
    x, y = leaf([[1.0], [2.0]]), leaf([1.0, 2.0, 3.0], dtype=rg.float64)
    (x * y).sum().backward()
    assert x.grad.dtype == rg.float32 and y.grad.dtype == rg.float64
    same(x.grad, [[6.0], [6.0]])
    same(y.grad, [3.0, 3.0, 3.0])


def test_acc_1_a_gradient_with_a_history_is_accumulated_without_it():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])

    def scaled(g):
        with rg.enable_grad():
            return g * w

    x.register_hook(scaled)
    (x * 2).sum().backward()
    assert x.grad.grad_fn is None and x.grad.requires_grad is False
    same(x.grad, [6.0, 8.0])


def test_acc_10_retain_grad_accumulates_into_new_tensors():
    x = leaf([1.0, 2.0])
    y = x * 2
    assert y.retains_grad is False
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad is True
    z = (y * 3).sum()
    z.backward(retain_graph=True)
    first = y.grad
    same(first, [3.0, 3.0])
    z.backward()
    assert y.grad is not first
    same(first, [3.0, 3.0])
    same(y.grad, [6.0, 6.0])


def test_acc_10_retain_grad_on_leaves_and_plain_tensors():
    x = leaf([1.0])
    x.retain_grad()
    assert x.retains_grad is False
    with fails("can't retain_grad"):
        rg.ones(1).retain_grad()


def test_acc_10_a_retained_gradient_is_row_major():
    y = leaf([[1.0, 2.0], [3.0, 4.0]]) * 1
    y.retain_grad()
    y.backward(rg.tensor([[1.0, 2.0], [3.0, 4.0]]).t())
    assert y.grad.stride() == (2, 1)
    same(y.grad, [[1.0, 3.0], [2.0, 4.0]])


def test_acc_10_retained_gradients_follow_writes_to_views():
    x = leaf([1.0, 2.0, 3.0, 4.0])
    b = x * 1
    b.retain_grad()
    b[:2].mul_(3)
    (b * rg.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    same(b.grad, [1.0, 10.0, 100.0, 1000.0])  # of the value after the write
    same(x.grad, [3.0, 30.0, 100.0, 1000.0])
    b = x * 1
    b.retain_grad()
    b[0] = 5.0
    b[1:3] = x[:2]
    (b * b).sum().backward()
    same(b.grad, [10.0, 2.0, 4.0, 8.0])


def test_acc_10_retained_gradients_of_views_follow_writes_to_their_base_and_its_views():
    x = leaf([1.0, 2.0, 3.0, 4.0])
    for write in (lambda b, v: v.mul_(3), lambda b, v: b.mul_(3), lambda b, v: b[1:].mul_(3)):
        b = x * 1
        v = b[1:3]
        v.retain_grad()
        write(b, v)
        (v * rg.tensor([5.0, 7.0])).sum().backward()
        assert v.retains_grad
        same(v.grad, [5.0, 7.0])
    b = x * 1
    v = b[:2]
    v.retain_grad()
    v.mul_(3)
    b.sum().backward()  # not through the view
    assert v.grad is None


def test_acc_5_the_warning_comes_with_create_graph_too():
    printed = script(
        """
        x = rg.ones(3, 2).t().requires_grad_()
        x.grad = rg.zeros(2, 3)
        with caught() as seen:
            (x * 2).sum().backward(create_graph=True)
        print(sum("do not obey the gradient layout contract" in str(w.message) for w in seen), x.grad.stride())
        x.grad = None
        with caught() as seen:
            (x * 2).sum().backward(create_graph=True)
            (x * 2).sum().backward(create_graph=True)
        print(sum("layout contract" in str(w.message) for w in seen), *x.grad.stride())
        """
    )
    assert printed[0] == "1" and printed[-3:] == ["0", "1", "2"]
