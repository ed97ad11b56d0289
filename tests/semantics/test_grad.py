"""GRAD: autograd.grad."""

import pytest

from . import close, fails, leaf, rg, same, warns

grad = rg.autograd.grad
edge = rg.autograd.graph.get_gradient_edge


def test_grad_1_one_entry_per_input():
    x, z = leaf([2.0]), leaf([3.0])
    y = x * z * z
    got = grad(y, [z, x, z], retain_graph=True)
    assert type(got) is tuple and len(got) == 3
    for g, want in zip(got, ([12.0], [9.0], [12.0]), strict=True):
        same(g, want)
    assert type(grad(y, x, retain_graph=True)) is tuple
    named = grad(y, {"z": z, "x": x})
    assert type(named) is dict and list(named) == ["z", "x"]
    same(named["z"], [12.0])
    same(named["x"], [9.0])
    assert x.grad is None and z.grad is None


def test_grad_1_several_outputs_add_up():
    x = leaf([2.0, 3.0])
    (g,) = grad([(x * x).sum(), x * 5], x, [None, rg.tensor([1.0, 10.0])])
    same(g, [9.0, 56.0])


def test_grad_2_unreachable_inputs():
    x, far = leaf([2.0]), leaf([3.0])
    y = x * x
    with fails("appears to not have been used in the graph"):
        grad(y, [x, far], retain_graph=True)
    g, none = grad(y, [x, far], allow_unused=True)
    assert none is None
    same(g, [4.0])


def test_grad_3_materialized_zeros():
    x, far = leaf([2.0]), rg.ones(2, 3, dtype=rg.float64, requires_grad=True)
    y = x * x
    g, zeros = grad(y, [x, far], materialize_grads=True, retain_graph=True)
    assert zeros.dtype == rg.float64 and zeros.requires_grad is False
    same(g, [4.0])
    same(zeros, rg.zeros(2, 3))
    _, zeros = grad(y, [x, far], materialize_grads=True, create_graph=True)
    assert zeros.requires_grad is True
    with pytest.raises(ValueError, match="allow_unused"):
        grad(y, [x, far], materialize_grads=True, allow_unused=False)
    with fails("materialize_grads cannot be used when the given input is a GradientEdge"):
        grad(y, [edge(far)], materialize_grads=True)


def test_grad_4_inputs_must_require_grad():
    x = leaf([2.0])
    for options in ({}, {"allow_unused": True}):
        with fails("One of the differentiated Tensors does not require grad"):
            grad(x * x, [x, rg.ones(1)], **options)


def test_grad_5_empty_inputs_and_only_inputs():
    x = leaf([2.0])
    y = x * x
    with fails("cannot be empty"):
        grad(y, [])
    with warns("only_inputs", kind=FutureWarning):
        (g,) = grad(y, x, only_inputs=False)
    same(g, [4.0])


def test_grad_6_gradient_of_a_tensor_with_respect_to_itself():
    x = leaf([2.0, 3.0])
    y = x * x
    g = rg.tensor([5.0, 6.0])
    same(grad(y, y, g)[0], g)
    same(grad(x, x, g)[0], g)
    same(grad(y.sum(), y)[0], [1.0, 1.0])


def test_grad_7_value_is_captured_between_tensor_hooks_and_prehooks():
    x = leaf([2.0])
    y = x * x
    z = y * 3
    y.grad_fn.register_prehook(lambda g: (g[0] * 1000,))
    gy, gx = grad(z, [y, x], retain_graph=True)
    same(gy, [3.0])
    same(gx, [12000.0])
    y.register_hook(lambda g: g + 100)
    same(grad(z, y, retain_graph=True)[0], [103.0])
    # Asked for both, torch runs y's node, and then misses the tensor hook in y's own entry (3, not 103).
    # That entry is left open here; the way onward sees the hook in any case.
    same(grad(z, [y, x])[1], [412000.0])


def test_grad_8_batched_gradients_equal_a_loop():
    x = leaf([1.0, 2.0, 3.0], dtype=rg.float64)
    y = x.exp() * x.sum()
    batch = rg.arange(12.0, dtype=rg.float64).view(4, 3)
    (got,) = grad(y, x, batch, is_grads_batched=True, create_graph=True)
    close(got, rg.stack([grad(y, x, row, retain_graph=True)[0] for row in batch]), rtol=1e-12)
    (second,) = grad(got.sum(), x, retain_graph=True)
    (want,) = grad(grad(y, x, batch.sum(0), create_graph=True)[0].sum(), x)
    close(second, want, rtol=1e-12)


def test_grad_8_batched_gradients_check_shapes_and_take_edges():
    x = leaf([1.0, 2.0])
    y = x * x
    with fails("we interpret the first dimension of each grad_output as the batch dimension"):
        grad(y, x, rg.ones(2), is_grads_batched=True)
    (got,) = grad([edge(y)], x, [rg.eye(2)], is_grads_batched=True)
    same(got, [[2.0, 0.0], [0.0, 4.0]])


def test_grad_9_edges_stay_bound():
    x = leaf([2.0])
    y = x * 3
    z = y * 5
    old = edge(y)
    same(grad(z, old, retain_graph=True)[0], grad(z, y, retain_graph=True)[0])
    y.mul_(7)
    w = y * 11
    same(grad(w, y, retain_graph=True)[0], [11.0])
    same(grad(w, old, retain_graph=True)[0], [77.0])
    same(grad(z, old)[0], [5.0])
    same(grad(w, edge(x))[0], [231.0])


def test_grad_10_leaves_do_not_accumulate():
    x, called = leaf([2.0]), []
    y = x * x
    y.retain_grad()
    x.register_post_accumulate_grad_hook(called.append)
    same(grad(y * 3, x)[0], [12.0])
    assert called == [] and x.grad is None


def test_grad_9_edges_that_do_not_belong_to_the_graph():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y, z = x * 2, w * 3
    elsewhere, beyond_the_end = edge(z), rg.autograd.graph.GradientEdge(z.grad_fn, 5)
    for foreign in (elsewhere, beyond_the_end):
        with fails("The differentiated Tensor at index 1 appears to not have been used in the graph"):
            grad(y.sum(), [x, foreign], retain_graph=True)
        assert grad(y.sum(), foreign, allow_unused=True, retain_graph=True) == (None,)
        g, none, again = grad(y.sum(), [x, foreign, edge(y)], allow_unused=True, retain_graph=True)
        same(g, [2.0, 2.0])
        assert none is None
        same(again, [1.0, 1.0])
        y.sum().backward(inputs=[foreign])
        assert x.grad is None and w.grad is None
    with pytest.raises(IndexError):
        grad(beyond_the_end, w, rg.ones(2))
    for wrong in (None, 3):
        with fails("GradientEdge's first object must be an autograd.graph.Node but got"):
            grad(y.sum(), rg.autograd.graph.GradientEdge(wrong, 0))
    with fails("all inputs have to be Tensors or GradientEdges, but got MulBackward0"):
        grad(y.sum(), (y.grad_fn, 0))


@pytest.mark.parametrize("count", [33, 70])
@pytest.mark.parametrize("name", ["cat", "stack"])
def test_grad_1_ops_with_more_operands_than_a_word_has_bits(name, count):
    xs = [rg.full((2,), float(i), requires_grad=True) for i in range(count)]
    weights = rg.arange(2.0 * count)

    def total(xs):
        return (getattr(rg, name)(xs).reshape(-1) * weights).sum()

    total(xs).backward()
    for i, x in enumerate(xs):
        same(x.grad, [2.0 * i, 2.0 * i + 1])
    for i in (0, 30, 31, 32, count - 1):
        same(grad(total(xs), xs[i])[0], [2.0 * i, 2.0 * i + 1])
        alone = [x if j == i else x.detach() for j, x in enumerate(xs)]
        same(grad(total(alone), xs[i])[0], [2.0 * i, 2.0 * i + 1])
