"""NODE: graph nodes as Python objects."""

import gc
import weakref

import pytest

from . import close, fails, leaf, rg, same

graph = rg.autograd.graph
edge = graph.get_gradient_edge


class Square(rg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


class Mark:
    pass


def test_node_1_a_node_is_one_object():
    x = leaf([1.0, 2.0])
    y = x * 2
    z = y + 1
    assert y.grad_fn is y.grad_fn and z.grad_fn.next_functions[0][0] is y.grad_fn
    y.grad_fn.metadata["key"] = "value"
    assert y.grad_fn.metadata == {"key": "value"} and y.grad_fn.metadata is y.grad_fn.metadata
    node = y.grad_fn
    assert z.grad_fn.next_functions[0][0].metadata is node.metadata
    first, second = y.unbind(0)
    assert first.grad_fn is second.grad_fn and (first.output_nr, second.output_nr) == (0, 1)
    assert y.output_nr == 0 and rg.ones(1).output_nr == 0
    square = Square.apply(x)
    assert square.grad_fn is square.grad_fn


def test_node_2_node_is_an_abstract_class():
    x = leaf([1.0])
    builtin, custom = (x * 2).grad_fn, Square.apply(x).grad_fn
    for node in (builtin, custom, edge(x).node):
        assert isinstance(node, graph.Node) and issubclass(type(node), graph.Node)
    assert not isinstance(x, graph.Node)
    with pytest.raises(TypeError, match="abstract"):
        graph.Node()
    with pytest.raises(AttributeError):
        builtin.novel = 1
    custom.novel = 1
    assert custom.novel == 1


def test_node_3_names():
    x, m = leaf([1.0, 2.0]), leaf([[1.0, 2.0], [3.0, 4.0]])
    pairs = [
        (x + x, "AddBackward0"),
        (x + 1, "AddBackward0"),
        (1 + x, "AddBackward0"),
        (x - 1, "SubBackward0"),
        (1 - x, "RsubBackward1"),
        (x * 2, "MulBackward0"),
        (x / x, "DivBackward0"),
        (-x, "NegBackward0"),
        (x**2, "PowBackward0"),
        (x**x, "PowBackward1"),
        (x.exp(), "ExpBackward0"),
        (x.sum(), "SumBackward0"),
        (m.sum(0), "SumBackward1"),
        (x.mean(), "MeanBackward0"),
        (m.mean(1), "MeanBackward1"),
        (m @ m, "MmBackward0"),
        (m @ x, "MvBackward0"),
        (x @ x, "DotBackward0"),
        (rg.addmm(x, m, m), "AddmmBackward0"),
        (m.t(), "TBackward0"),
        (m.transpose(0, 1), "TransposeBackward0"),
        (m.permute(1, 0), "PermuteBackward0"),
        (m.view(4), "ViewBackward0"),
        (x.expand(3, 2), "ExpandBackward0"),
        (x[0], "SelectBackward0"),
        (x[:1], "SliceBackward0"),
        (x[[0, 1]], "IndexBackward0"),
        (x.unsqueeze(0), "UnsqueezeBackward0"),
        (x.clone(), "CloneBackward0"),
        (x.to(rg.float64), "ToCopyBackward0"),
        (rg.cat([x, x]), "CatBackward0"),
        (rg.stack([x, x]), "StackBackward0"),
        (rg.where(x > 1, x, x), "WhereBackward0"),
        (rg.maximum(x, x), "MaximumBackward0"),
        (m.max(dim=0)[0], "MaxBackward0"),
        (m.max(), "MaxBackward1"),
    ]
    for y, name in pairs:
        assert y.grad_fn.name() == name
        assert type(y.grad_fn).__name__ == name


def test_node_3_products_with_a_batch():
    """Of which one operand is a matrix or a vector: its gradient is no sum over the batch, and no batch is copied."""

    def names(a, b):
        node = (a @ b).grad_fn
        return [node.name(), node.next_functions[0][0].name()]

    folded, batched = ["UnsafeViewBackward0", "MmBackward0"], ["UnsafeViewBackward0", "BmmBackward0"]
    batch, matrix = rg.ones(2, 3, 4), rg.ones(4, 5)
    gapped = rg.ones(3, 2, 4).transpose(0, 1)
    assert names(batch, matrix.clone().requires_grad_()) == folded
    assert names(gapped, matrix.clone().requires_grad_()) == folded
    assert names(batch.clone().requires_grad_(), matrix) == folded
    assert names(gapped.requires_grad_(), matrix) == batched
    left, right, vector = rg.ones(3, 4), leaf([[[1.0] * 5] * 4] * 2), rg.ones(4)
    assert names(left, right) == batched
    assert names(batch.requires_grad_(), vector) == ["UnsafeViewBackward0", "MvBackward0"]
    assert names(vector, right)[0] == "UnsafeViewBackward0"
    assert "BmmBackward0" in ancestors(vector @ right)
    assert "BmmBackward0" not in ancestors(vector @ leaf([[[1.0] * 4] * 5] * 2).mT)
    assert "BmmBackward0" not in ancestors(vector.requires_grad_() @ right)


def ancestors(y):
    """The names of all nodes that `y` came from, in some order."""
    found, seen = [y.grad_fn], set()
    while found:
        node = found.pop()
        seen.add(node.name())
        found += [n for n, _ in node.next_functions if n is not None]
    return seen


def test_node_4_other_names():
    x = leaf([1.0, 2.0])
    accumulate = edge(x).node
    assert accumulate.name() == "torch::autograd::AccumulateGrad"
    assert type(accumulate).__name__ == "AccumulateGrad" and "AccumulateGrad object" in repr(accumulate)
    base = x * 1
    view = base[:1]
    base[1:].mul_(2)
    assert base.grad_fn.name() == "torch::autograd::CopySlices" and type(base.grad_fn).__name__ == "CopySlices"
    assert view.grad_fn.name() == "AsStridedBackward0"
    copied = rg.zeros(2).copy_(x)
    assert copied.grad_fn.name() == "torch::autograd::CopyBackwards"
    assert type(copied.grad_fn).__name__ == "CopyBackwards"
    square = Square.apply(x)
    assert square.grad_fn.name() == "SquareBackward" and type(square.grad_fn).__name__ == "SquareBackward"
    for y, name in (
        (x * 1, "MulBackward0"),
        (base, "CopySlices"),
        (copied, "CopyBackwards"),
        (square, "SquareBackward"),
    ):
        assert repr(y).endswith(f"grad_fn=<{name}>)")


def test_node_5_next_functions():
    x, c = leaf([1.0]), rg.ones(1)
    assert (c * x).grad_fn.next_functions[0] == (None, 0)
    y = x * c
    (accumulate, index), constant = y.grad_fn.next_functions
    assert type(y.grad_fn.next_functions) is tuple
    assert index == 0 and constant == (None, 0)
    assert accumulate.variable is x and accumulate.next_functions == ()
    assert (x + 1).grad_fn.next_functions[0][0] is accumulate
    first, second = (x.expand(2, 1) * 1).unbind(0)
    assert second.exp().grad_fn.next_functions == ((first.grad_fn, 1),)
    assert rg.cat([x, c, x]).grad_fn.next_functions == ((accumulate, 0), (None, 0), (accumulate, 0))


def test_node_6_saved_values():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y = x * w
    node = y.grad_fn
    assert node._saved_self is x and node._saved_other is w
    assert type(node._raw_saved_self).__name__ == "SavedTensor"
    names = dir(node)
    assert {"_saved_self", "_raw_saved_self", "_saved_other", "_raw_saved_other"} <= set(names)
    with rg.no_grad():
        w.add_(1)
    with fails("modified by an inplace operation"):
        _ = node._saved_other
    assert node._saved_self is x
    assert (x**3).grad_fn._saved_exponent == 3
    m = leaf([[1.0, 2.0], [3.0, 4.0]])
    assert tuple(m.sum(1).grad_fn._saved_self_sym_sizes) == (2, 2)
    assert m.sum(1, keepdim=True).grad_fn._saved_keepdim is True
    (index,) = x[[1, 0]].grad_fn._saved_indices
    assert index.tolist() == [1, 0]


def test_node_7_saved_only_when_a_gradient_needs_it():
    x, c = leaf([1.0]), rg.full((1,), 3.0)
    node = (x * c).grad_fn
    assert node._saved_self is None and node._saved_other is c
    node = (c * x).grad_fn
    assert node._saved_self is c and node._saved_other is None
    node = (c / x).grad_fn
    assert node._saved_other is x


def test_node_8_inputs_come_back_as_themselves():
    x = leaf([1.0])
    y = x * 2
    assert y.sin().grad_fn._saved_self is y


def test_node_8_outputs_come_back_without_a_cycle():
    x = leaf([1.0, 2.0])
    y = x.exp()
    saved = y.grad_fn._saved_result
    assert saved is not y and y.grad_fn._saved_result is not saved
    assert saved.data_ptr() == y.data_ptr() and saved.grad_fn is y.grad_fn and saved.requires_grad is True
    same(saved, y)
    mark = Mark()
    y.mark, watch = mark, weakref.ref(mark)
    del mark, saved
    gc.disable()
    try:
        del y
        assert watch() is None
    finally:
        gc.enable()


def test_node_9_sequence_numbers():
    x = leaf([1.0])
    first = (x * 1).grad_fn._sequence_nr()
    nodes = [(x * 1).grad_fn for _ in range(3)]
    assert [n._sequence_nr() for n in nodes] == [first + 1, first + 2, first + 3]
    assert edge(x).node._sequence_nr() == 2**64 - 1
    nodes[0]._set_sequence_nr(7)
    assert nodes[0]._sequence_nr() == 7


def test_node_10_requires_grad_and_input_metadata():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    first, _ = x.unbind(1)
    node = first.grad_fn
    assert node.requires_grad is True and len(node._input_metadata) == 2
    (meta,) = x.sum(0).to(rg.float64).grad_fn._input_metadata
    assert tuple(meta.shape) == (2,) and meta.dtype == rg.float64 and str(meta.device) == "cpu"


def test_node_11_calling_a_node():
    x, c = leaf([2.0, 3.0]), rg.tensor([5.0, 7.0])
    y = x * c
    got = y.grad_fn(rg.tensor([1.0, 10.0]))
    assert type(got) is tuple and len(got) == 2 and got[1] is None
    same(got[0], [5.0, 70.0])
    assert x.grad is None
    y = x.exp()
    close(y.grad_fn(rg.ones(2)), y.detach())  # the only one comes without a tuple


def test_node_12_gradient_edges():
    x = leaf([[1.0], [2.0]])
    _, second = x.unbind(0)
    got = edge(second)
    assert isinstance(got, graph.GradientEdge)
    assert got.node is second.grad_fn and got.output_nr == 1
    assert edge(x).node.variable is x and edge(x).output_nr == 0
    with fails("It is not possible to get the gradient edge"):
        edge(rg.ones(1))


def test_node_12_an_edge_keeps_a_python_node_alive():
    x = leaf([3.0])
    kept = edge(Square.apply(x * 2))
    gc.collect()
    rg.autograd.backward(kept, rg.ones(1))
    same(x.grad, [24.0])


def test_node_13_nodes_outlive_their_tensors():
    x = leaf([1.0])
    watch = []

    def marked(t):
        mark = Mark()
        t.mark = mark
        watch.append(weakref.ref(mark))
        return t

    unsaved = marked(x + 1)
    saved = marked(unsaved + 1)
    z = saved.sin()
    del unsaved, saved
    gc.collect()
    assert [w() is not None for w in watch] == [False, True]
    node = z.grad_fn.next_functions[0][0].next_functions[0][0]
    assert node.name() == "AddBackward0" and node.next_functions[0][0].variable is x


def test_node_8_hooks_make_new_objects():
    x = leaf([1.0])
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.sin()
    assert y.grad_fn._saved_self is not x


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        (lambda x, i, m: x[i], 1),
        (lambda x, i, m: x.index_select(0, i), 1),
        (lambda x, i, m: x.gather(1, i.expand(2, 1)), 1),
        (lambda x, i, m: x.scatter_add(1, i.expand(2, 1), rg.ones(2, 1)), 2),
        (lambda x, i, m: rg.where(m, x, x), 2),
        (lambda x, i, m: x.masked_fill(m, 2.0), 1),
        (lambda x, i, m: x.masked_fill(m, rg.tensor(2.0)), 2),
        (lambda x, i, m: x.masked_select(m), 1),
        (lambda x, i, m: rg.nn.functional.embedding(i, x), 1),
        (lambda x, i, m: rg.nn.functional.nll_loss(x, i.expand(2)), 1),
        (lambda x, i, m: x.index_add(0, i, rg.ones(1, 3)), 2),
        (lambda x, i, m: x.index_fill(0, i, 2.0), 1),
        (lambda x, i, m: x.sort()[0], 1),
        (lambda x, i, m: (x * 1).fill_(2), 1),
        (lambda x, i, m: (x * 1).fill_(rg.tensor(2.0)), 2),
        (lambda x, i, m: (x * 1).zero_(), 1),
        (lambda x, i, m: 2 - x, 1),
        (lambda x, i, m: x % 2, 1),
        (lambda x, i, m: x + 2, 2),
        (lambda x, i, m: x * rg.tensor(2), 2),
    ],
)
def test_node_5_indices_and_masks_are_no_inputs(op, inputs):
    x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    node = op(x, rg.tensor([0]), x.detach() > 2).grad_fn
    assert len(node.next_functions) == inputs
    grads = [rg.ones(tuple(m.shape)) for m in node._input_metadata]
    given = node(*grads[:1], *(None for _ in grads[1:]))
    assert (len(given) if isinstance(given, tuple) else 1) == inputs
    seen = []
    y = op(x, rg.tensor([0]), x.detach() > 2)
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: seen.append(len(grad_inputs)))
    y.sum().backward()
    assert seen == [inputs] and x.grad is not None
