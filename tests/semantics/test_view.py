"""VIEW: views, and in-place writes to them and to their bases."""

import pytest

from . import STANDIN, fails, leaf, rg, same

grad = rg.autograd.grad

VIEWS = {
    "view": lambda x: x.view(3, 2),
    "transpose": lambda x: x.transpose(0, 1),
    "t": lambda x: x.t(),
    "permute": lambda x: x.permute(1, 0),
    "expand": lambda x: x.expand(4, 2, 3),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "squeeze": lambda x: x.squeeze(),
    "select": lambda x: x.select(0, 1),
    "narrow": lambda x: x.narrow(1, 0, 2),
    "index": lambda x: x[0],
    "slice": lambda x: x[:, 1:],
    "detour": lambda x: x[None, ..., 0],
    "unbind": lambda x: x.unbind(0)[1],
    "split": lambda x: x.split(1, dim=1)[2],
    "chunk": lambda x: x.chunk(2)[0],
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("tracked", [True, False])
def test_view_1_base_is_the_root(name, tracked):
    root = rg.rand(2, 3)
    if tracked:
        root = root.requires_grad_() * 1
    assert root._is_view() is False and root._base is None
    first = VIEWS[name](root)
    second = first[:1]
    for view in (first, second):
        assert view._is_view() is True and view._base is root
        assert view.requires_grad is tracked


def test_view_1_what_is_no_view():
    x = rg.rand(2, 3)
    assert x.contiguous() is x and x.to(rg.float32) is x and x.expand(2, 3)._base is x
    assert x.reshape(3, 2)._base is x and x.flatten()._base is x
    assert x.reshape(2, 3)._base is x
    fresh = (x.clone(), x + 0, x[[0, 1]], x[x > 2], x.t().contiguous(), x.t().reshape(6), x.t().flatten())
    for y in (*fresh, x.index_select(0, rg.tensor([0])), rg.cat([x]), x.detach(), x.data):
        assert y._is_view() is False and y._base is None


def test_view_2_views_made_under_no_grad():
    x = leaf([1.0, 2.0])
    base = x * 1
    with rg.no_grad():
        view = base[:1]
    assert view._is_view() and view._base is base
    assert view.requires_grad is True and view.grad_fn is None and view.is_leaf is True
    loss = (view * 5).sum()
    assert loss.grad_fn.next_functions[0][0].next_functions == ((None, 0), (None, 0))
    loss.backward()
    assert view.grad is None and x.grad is None
    with fails("appears to not have been used in the graph"):
        grad((view * 5).sum(), view)
    with rg.no_grad():
        view.zero_()
    assert base._version == view._version == 1
    same(base, [0.0, 2.0])
    plain = rg.ones(2)
    with rg.no_grad():
        assert plain[:1].requires_grad is False


def test_view_3_in_place_on_a_view_rebases_the_base():
    x, w = leaf([1.0, 2.0, 3.0]), leaf([10.0, 20.0])
    base = x * 2
    old = base.grad_fn
    view = base[:2]
    view.mul_(w)
    node = base.grad_fn
    assert type(node).__name__ == "CopySlices"
    assert node.next_functions[0][0] is old
    assert node.next_functions[1][0].variable is w and len(node.next_functions) == 2
    assert view.grad_fn is not None and view.grad_fn.next_functions[0][0] is node
    same(base, [20.0, 80.0, 6.0])
    (base * rg.tensor([1.0, 2.0, 3.0])).sum().backward()
    same(x.grad, [20.0, 80.0, 6.0])
    same(w.grad, [2.0, 8.0])


def test_view_3_gradient_through_the_view_itself():
    x, w = leaf([1.0, 2.0, 3.0]), leaf([10.0, 20.0])
    base = x * 2
    view = base[1:]
    view.mul_(w)
    gx, gw = grad((view * rg.tensor([1.0, 3.0])).sum(), [x, w])
    same(gx, [0.0, 20.0, 120.0])
    same(gw, [4.0, 18.0])


def test_view_3_a_plain_base_becomes_tracked():
    w, base = leaf([5.0]), rg.ones(3)
    view = base[1:2]
    view.mul_(w)
    assert base.requires_grad and base.is_leaf is False and type(base.grad_fn).__name__ == "CopySlices"
    assert base.grad_fn.next_functions[0] == (None, 0)
    base.sum().backward()
    same(w.grad, [1.0])
    same(base, [1.0, 5.0, 1.0])


def test_view_3_views_of_views_and_strides():
    x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    base = x * 1
    base.t()[1:].select(1, 0).mul_(rg.tensor([10.0, 100.0]))
    base.t().permute(0, 1)[0].zero_()
    same(base, [[0.0, 20.0, 300.0], [0.0, 5.0, 6.0]])
    base.sum().backward()
    same(x.grad, [[0.0, 10.0, 100.0], [0.0, 1.0, 1.0]])


def test_view_3_a_write_to_a_view_is_run_through_once_whatever_was_saved():
    x = leaf([1.0, 2.0])
    y = x.clone()
    y[:1].add_(1)
    loss = y.sum()
    loss.backward(retain_graph=True)
    loss.backward()
    with fails("backward through the graph a second time"):
        loss.backward()
    same(x.grad, [2.0, 2.0])


@pytest.mark.skipif(STANDIN == "torch", reason="torch then has no gradient for the rest of the base either")
def test_view_3_a_write_without_a_gradient_for_the_old_value():
    class Two(rg.autograd.Function):
        @staticmethod
        def forward(ctx, v):
            ctx.mark_dirty(v)
            return v.fill_(2)

        @staticmethod
        def backward(ctx, g):
            return None

    x = leaf([1.0, 5.0, 7.0])
    base = x * 3
    Two.apply(base[:2])
    (base * base).sum().backward()
    same(base, [2.0, 2.0, 21.0])
    same(x.grad, [0.0, 0.0, 126.0])


def test_view_4_other_views_are_derived_anew():
    x = leaf([1.0, 2.0, 3.0])
    base = x * 1
    one, other = base[:2], base[1:]
    old = other.grad_fn
    one.mul_(10)
    assert other.grad_fn is not old
    assert other.grad_fn.next_functions[0][0] is base.grad_fn
    same(other, [20.0, 3.0])
    same(grad(other.sum(), x)[0], [0.0, 10.0, 1.0])


def test_view_4_older_views_of_a_plain_base_come_to_require_grad():
    w, base = leaf([2.0, 3.0]), rg.ones(4)
    early, deep = base.view(2, 2), base[1:].narrow(0, 0, 2)
    assert early.requires_grad is False
    base[:2].mul_(w)
    assert early.requires_grad and deep.requires_grad and deep.is_leaf is False
    same(grad(early.sum(), w, retain_graph=True)[0], [1.0, 1.0])
    same(grad((deep * 7).sum(), w)[0], [0.0, 7.0])


def test_view_5_in_place_on_the_base():
    x = leaf([1.0, 2.0])
    base = x * 1
    view = base.view(2, 1)
    old = view.grad_fn
    base.mul_(10)
    assert view.grad_fn is not old and view.grad_fn.next_functions[0][0] is base.grad_fn
    assert base.grad_fn.name() == "MulBackward0"
    same(view, [[10.0], [20.0]])
    same(grad(view.sum(), x)[0], [10.0, 10.0])
    plain, w = rg.ones(2), leaf([3.0, 4.0])
    tail = plain[1:]
    plain.mul_(w)
    assert tail.requires_grad is True
    same(grad(tail.sum(), w)[0], [0.0, 1.0])


def test_view_6_setitem_is_a_view_and_a_copy():
    w, a = leaf([5.0, 6.0]), rg.zeros(3, 2)
    a[1] = w
    assert a.requires_grad and a.is_leaf is False and type(a.grad_fn).__name__ == "CopySlices"
    same(a, [[0.0, 0.0], [5.0, 6.0], [0.0, 0.0]])
    a[:, 0] = w[1] * 2
    same(a, [[12.0, 0.0], [12.0, 6.0], [12.0, 0.0]])
    same(grad(a.sum(), w)[0], [0.0, 7.0])


def test_view_6_index_lists_record_index_put():
    w, a = leaf([5.0, 6.0]), rg.zeros(3)
    a[[0, 2]] = w
    assert a.grad_fn.name() == "IndexPutBackward0"
    same(a, [5.0, 0.0, 6.0])
    same(grad((a * rg.tensor([1.0, 2.0, 3.0])).sum(), w)[0], [1.0, 3.0])


MULTIPLE = "is the output of a function that returns multiple views"
MULTI = {
    "unbind": lambda x: x.unbind(0),
    "split": lambda x: x.split(1),
    "chunk": lambda x: x.chunk(2),
    "iteration": tuple,
}


@pytest.mark.parametrize("name", MULTI)
def test_view_7_outputs_of_multi_view_ops(name):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    base = x * 1
    first, second = MULTI[name](base)
    with fails(MULTIPLE):
        first.mul_(2)
    same(base, x)
    base.mul_(2)  # the base itself may change, the views are stale then
    for view in (first, second):
        with fails(MULTIPLE):
            _ = view.grad_fn
    same(grad(base.sum(), x)[0], [[2.0, 2.0], [2.0, 2.0]])


@pytest.mark.parametrize("name", MULTI)
def test_view_7_without_grad_they_may_be_modified(name):
    base, w = rg.ones(2, 2), leaf([3.0, 3.0])
    first, second = MULTI[name](base)
    first.mul_(5)
    same(base, [[5.0, 5.0], [1.0, 1.0]])
    with fails(MULTIPLE):
        second.mul_(w)
    same(base, [[5.0, 5.0], [1.0, 1.0]])
    assert base.requires_grad is False


NO_GRAD = "A view was created in no_grad mode and is being modified inplace with grad mode enabled"


def test_view_8_no_grad_views_modified_in_grad_mode():
    base, plain, w = leaf([1.0, 2.0]) * 1, rg.ones(2), leaf([3.0])
    with rg.no_grad():
        view, other = base[:1], plain[:1]
    with fails(NO_GRAD):
        view.mul_(2)
    with fails(NO_GRAD):
        other.mul_(w)
    other.mul_(2)
    same(base, [1.0, 2.0])
    same(plain, [2.0, 1.0])


def test_view_8_both_steps_in_no_grad_and_writes_to_the_base():
    x = leaf([1.0, 2.0])
    base = x * 1
    node = base.grad_fn
    with rg.no_grad():
        view = base[:1]
        view.mul_(5)
    assert base.grad_fn is node
    same(base, [5.0, 2.0])
    base.mul_(2)
    with fails("A view was created in no_grad mode and its base or another view of its base has been modified inplace"):
        _ = view.grad_fn
    same(grad(base.sum(), x)[0], [2.0, 2.0])


def test_view_9_views_made_in_inference_mode():
    y = leaf([1.0, 2.0]) * 1
    with rg.inference_mode():
        view = y[:1]
    assert view._base is y and view.is_inference() is False
    with fails("A view was created in inference mode"):
        view.mul_(2)
    same(y, [1.0, 2.0])


class Head(rg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.size = x.shape
        return x[:1]

    @staticmethod
    def backward(ctx, g):
        return rg.cat([g, rg.zeros(ctx.size[0] - 1)])


class AsIs(rg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class Halves(rg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[:1], x[1:]

    @staticmethod
    def backward(ctx, first, second):
        return rg.cat([first, second])


@pytest.mark.parametrize("function", [Head, AsIs])
def test_view_10_views_made_by_a_custom_function(function):
    base = leaf([1.0, 2.0]) * 1
    view = function.apply(base)
    assert view._is_view() and view._base is base
    with fails("This view was created inside a custom Function"):
        view.mul_(2)
    same(base, [1.0, 2.0])
    base.mul_(2)
    with fails("This view was created inside a custom Function"):
        _ = view.grad_fn


def test_view_10_several_views_made_by_a_custom_function():
    base = leaf([1.0, 2.0]) * 1
    first, second = Halves.apply(base)
    with fails(MULTIPLE):
        first.mul_(2)
    base.mul_(2)
    with fails(MULTIPLE):
        _ = second.grad_fn


def test_view_11_leaf_bases_come_first():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    for view in (x[0], x.t(), x[0][:1], x.view(4)):
        with fails("a view of a leaf Variable that requires grad is being used in an in-place operation"):
            view.mul_(2)
    same(x, [[1.0, 2.0], [3.0, 4.0]])
    with rg.no_grad():
        for view in (x[0], x.unbind(0)[0], AsIs.apply(x)[0]):
            view.mul_(2)
    same(x, [[8.0, 16.0], [3.0, 4.0]])
    assert x.is_leaf and x.requires_grad


def test_view_11_the_errors_of_special_views_come_before():
    x = leaf([1.0, 2.0])
    with rg.no_grad():
        silent = x[:1]
    for view, error in (
        (silent, NO_GRAD),
        (x.unbind(0)[0], MULTIPLE),
        (Halves.apply(x)[0], MULTIPLE),
        (Head.apply(x), "This view was created inside a custom Function"),
    ):
        with fails(error):
            view.mul_(2)
    same(x, [1.0, 2.0])


def test_view_12_unsafe_split_is_not_tracked():
    base = leaf([1.0, 2.0]) * 1
    for parts in (base.unsafe_split(1), base.unsafe_chunk(2)):
        assert parts[0]._is_view() is False and parts[0].data_ptr() == base.data_ptr()
        parts[0].mul_(2)
        assert type(base.grad_fn).__name__ == "MulBackward0"
    same(base, [4.0, 2.0])


def test_view_13_iteration_yields_unbind_outputs():
    x = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows = list(x)
    first, second, third = x
    for triple in (rows, (first, second, third), x.unbind(0)):
        assert [r.output_nr for r in triple] == [0, 1, 2]
        assert triple[0].grad_fn is triple[1].grad_fn is triple[2].grad_fn
        assert triple[0].grad_fn.name() == "UnbindBackward0"
    same(grad((rows[0] * rows[2]).sum(), x)[0], [[5.0, 6.0], [0.0, 0.0], [1.0, 2.0]])


@pytest.mark.parametrize(
    "use",
    [
        lambda v: v[1:],
        lambda v: v[0],
        lambda v: v.split(2)[0],
        lambda v: v.unbind()[0],
        lambda v: v.view(2, 2),
        lambda v: v.exp(),
        lambda v: v.max(),
        lambda v: v.prod(),
        lambda v: v.softmax(0),
        lambda v: v.clamp(0.5),
        lambda v: v**2,
        lambda v: v[rg.tensor([0, 1])],
        lambda v: v.masked_fill(v > 0, 2.0),
    ],
)
def test_view_2_backward_through_a_view_made_without_grad_ends_there(use):
    x = leaf([1.0, 2.0, 3.0, 4.0])
    with rg.no_grad():
        v = x.view(4)
    y = use(v)
    assert y.requires_grad
    seen = []
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: seen.append(grad_inputs))
    y.sum().backward()
    assert x.grad is None and all(g is None for g in seen[0])


def test_view_4_a_view_that_overlaps_itself_after_a_write_to_its_base():
    x = leaf([1.0, 1.0, 1.0, 1.0])
    e = x.expand(2, 4)
    with rg.no_grad():
        x.add_(1)
    e.sum().backward()
    same(x.grad, [2.0, 2.0, 2.0, 2.0])
    y = x * 1
    windows = y.as_strided((3, 2), (1, 1))
    y.mul_(2)
    (g,) = rg.autograd.grad(windows.square().sum(), x, create_graph=True)
    same(g, [16.0, 32.0, 32.0, 16.0])
    same(rg.autograd.grad(g.sum(), x)[0], [8.0, 16.0, 16.0, 8.0])


def test_view_3_operands_that_are_views_of_the_same_base_keep_their_history():
    seen = []
    b = leaf([[1.0, 2.0], [3.0, 4.0]]) * 1
    other = b[1]
    other.register_hook(seen.append)
    b[0].add_(other)
    b.sum().backward()
    same(seen[0], [1.0, 1.0])
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    b = x * 1
    _, last = b.unbind()
    b[0].add_(last)  # an output of several views may be read, as it was before the write
    b.sum().backward()
    same(x.grad, [[1.0, 1.0], [2.0, 2.0]])
    y = x * 1
    v = y.view(4)
    v.register_hook(seen.append)
    v.add_(v)
    y.sum().backward()
    same(seen[1], [1.0, 1.0, 1.0, 1.0])


def test_view_7_is_leaf_of_a_stale_view_raises():
    a, b = (leaf([1.0, 2.0]) * 1).split(1)
    base = a._base
    base.mul_(2)
    for stale in (a, b):
        with fails("is the output of a function that returns multiple views"):
            _ = stale.is_leaf


def test_view_1_nodes_of_subscripts_and_reshapes():
    def names(*ts):
        return [t.grad_fn.name() for t in ts]

    x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) * 1
    assert names(x[0:3], x[:], x[0:], x[1:]) == ["SliceBackward0"] * 4
    assert names(x[:, :], x[...], x[()], x[..., :]) == ["AliasBackward0"] * 4
    assert x[:]._base is x and x[:] is not x
    assert names(x.reshape(-1), x[0].reshape(1, 3), x[:, 0].view(2, 1)) == ["ViewBackward0"] * 3
    assert names(x[:, 0].reshape(-1), x[:, :2].reshape(2, 1, 2)) == ["ReshapeAliasBackward0"] * 2
    assert x[:, 0].reshape(2, 1)._base is x
    assert names(x.t().reshape(-1)) == ["UnsafeViewBackward0"]


def test_view_3_a_value_that_is_broadcast_is_viewed_and_expanded_first():
    for value, start in ((leaf([1.0]), 0), (leaf([[[1.0]]]), 0), (leaf([1.0, 2.0, 3.0]), 1)):
        x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) * 1
        key = slice(start, start + 1) if value.ndim == 1 and value.numel() > 1 else 0
        x[key] = value
        assert x.grad_fn.name() == "torch::autograd::CopySlices"
        expand = x.grad_fn.next_functions[1][0]
        view = expand.next_functions[0][0]
        assert [expand.name(), view.name()] == ["ExpandBackward0", "ViewBackward0"]
        x.sum().backward()
        assert value.grad.sum().item() == 3.0


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.split(2)[0][:1],
        lambda x: x.unbind()[0].view(1),
        lambda x: x.view(2, 2).unbind()[0][:1],
        lambda x: x.view(2, 2)[0].split(1)[0],
        lambda x: x.chunk(2)[1].view_as(x[:2])[1:],
        lambda x: next(iter(x.view(2, 2)))[None],
    ],
)
def test_view_7_views_of_outputs_of_multi_view_ops(view):
    x = leaf([1.0, 2.0, 3.0, 4.0])
    base = x * 1
    with fails("is the output of a function that returns multiple views"):
        view(base).mul_(2)
    same(base, [1.0, 2.0, 3.0, 4.0])
    with rg.no_grad():
        view(base).mul_(2)
    view(base.detach()).mul_(2)  # nothing is recorded


def test_view_8_views_of_views_made_under_no_grad():
    base = leaf([1.0, 2.0]) * 1
    with rg.no_grad():
        outer = base[:]
        of_several = base.split(1)[0]
    for view in (outer[:1], outer[:1].view(1, 1), of_several[:]):
        with fails("is being modified inplace with grad mode enabled"):
            view.mul_(2)
    several = base.split(1)[0]
    with rg.no_grad():
        inner = several[:]
    with fails("A view was created in no_grad mode"):
        inner.mul_(2)
