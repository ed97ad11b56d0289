"""SAVE: hooks on tensors that are saved for backward, and what is made with them."""

import gc
import threading
import weakref

import numpy as np
import pytest

from . import array, beyond, close, fails, leaf, rg, same

grad = rg.autograd.grad
hooks = rg.autograd.graph.saved_tensors_hooks


def detached(t):
    return t.detach()


def as_it_is(t):
    return t


class Pair(hooks):
    """Hooks that keep a detached tensor, and note their calls."""

    def __init__(self, name="", calls=None):
        self.calls = [] if calls is None else calls
        self.packed = []

        def pack(t):
            self.calls.append(name + "pack")
            self.packed.append(array(t).copy())
            return t.detach()

        def unpack(t):
            self.calls.append(name + "unpack")
            return t

        super().__init__(pack, unpack)


class Mark:
    """Something whose lifetime shows that of what holds it."""


class Keep(rg.autograd.Function):
    """A product that saves both inputs, its output and None."""

    @staticmethod
    def forward(ctx, a, b):
        out = a * b
        ctx.save_for_backward(a, b, out, None)
        return out

    @staticmethod
    def backward(ctx, g):
        a, b, out, none = ctx.saved_tensors
        assert none is None
        same(out, array(a) * array(b))
        return g * b, g * a


# SAVE-1 ---------------------------------------------------------------------------------------------------------


def test_save_1_pack_runs_once_as_it_is_saved_and_unpack_at_each_access():
    x, pair = leaf([1.0, 2.0]), Pair()
    with pair:
        y = x.sin()
        assert pair.calls == ["pack"]
    y.sum().backward(retain_graph=True)
    assert pair.calls == ["pack", "unpack"]
    same(y.grad_fn._saved_self, [1.0, 2.0])
    assert y.grad_fn._saved_self.requires_grad
    assert pair.calls == ["pack"] + ["unpack"] * 3
    y.sum().backward()
    assert pair.calls == ["pack"] + ["unpack"] * 4
    close(x.grad, 2 * np.cos([1.0, 2.0]))
    with fails("backward through the graph a second time"):
        y.sum().backward()
    assert pair.calls == ["pack"] + ["unpack"] * 4


def test_save_1_each_saved_tensor_is_packed_and_unpacked_once_per_pass():
    x, w, pair = leaf([2.0]), leaf([3.0]), Pair()
    with pair:
        y = x * w  # both are needed
        z = rg.where(x > 0, x, w)
    assert pair.calls == ["pack"] * 3
    (y + z).backward()
    assert pair.calls == ["pack"] * 3 + ["unpack"] * 3
    same(x.grad, [4.0])
    same(w.grad, [2.0])


def test_save_1_the_same_tensor_saved_twice_is_packed_twice():
    x, pair = leaf([3.0]), Pair()
    with pair:
        y = x * x
        z = x.sin()
    assert pair.calls == ["pack"] * 3
    (y + z).backward()
    close(x.grad, [6.0 + np.cos(3.0)])


def test_save_1_tensor_lists_are_packed_one_by_one():
    a, b, pair = leaf([1.0]), leaf([2.0]), Pair()
    with pair:
        y = rg.stack([a, b]).prod()
        kept = a[rg.tensor([0])]
    assert 1 <= len(pair.packed) <= 3 and any(p.tolist() == [0] for p in pair.packed)
    (y + kept).backward()
    same(a.grad, [3.0])
    same(b.grad, [1.0])


def test_save_1_what_is_not_saved_is_not_packed():
    x, pair = leaf([1.0]), Pair()
    with pair:
        x + 1
        rg.ones(2).sin()
        with rg.no_grad():
            x.sin()
        x * rg.ones(1)  # needs one operand alone
    assert pair.calls == ["pack"]
    same(rg.tensor(pair.packed[0]), [1.0])


def test_save_1_custom_functions_are_hooked():
    x, w, seen = leaf([2.0]), leaf([3.0]), []
    with hooks(lambda t: (seen.append((t, t.grad_fn)), t.detach())[1], as_it_is):
        y = Keep.apply(x, w)
    assert [t is k for (t, _), k in zip(seen, (x, w, y), strict=True)][:2] == [True, True]
    assert seen[2][1] is y.grad_fn
    del seen[:]
    assert [t is None for t in y.grad_fn.saved_tensors] == [False, False, False, True]
    y.backward()
    same(x.grad, [3.0])
    same(w.grad, [2.0])


def test_save_1_they_belong_to_a_thread():
    x, pair, other = leaf([1.0]), Pair(), []
    with pair:
        thread = threading.Thread(target=lambda: other.append(x.sin().grad_fn._saved_self is x))
        thread.start()
        thread.join()
    assert other == [True] and pair.calls == []


def test_save_1_the_innermost_pair_alone_acts():
    x, calls = leaf([1.0]), []
    with Pair("outer ", calls):
        with Pair("inner ", calls):
            a = x.sin()
        b = x.sin()
    c = x.sin()
    assert calls == ["inner pack", "outer pack"]
    (a + b + c).backward()
    assert sorted(calls[2:]) == ["inner unpack", "outer unpack"]
    close(x.grad, [3 * np.cos(1.0)])


def test_save_1_the_pair_travels_with_the_node():
    x, inner, outer, other = leaf([1.0]), Pair(), Pair(), Pair()
    with inner:
        y = x.sin()
    with other:
        y.backward(retain_graph=True)
    assert inner.calls == ["pack", "unpack"] and other.calls == []
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    assert inner.calls == ["pack", "unpack", "unpack"] and outer.calls == []


def test_save_1_a_block_ends_with_an_exception_and_pairs_can_be_used_again():
    x, pair = leaf([1.0]), Pair()
    with pytest.raises(KeyError), pair:
        raise KeyError
    assert x.sin().grad_fn._saved_self is x
    for count in (1, 2):
        with pair:
            x.sin()
        assert len(pair.calls) == count
    with pair, pair:
        x.sin()
    assert len(pair.calls) == 3


def test_save_1_hooks_must_be_callable():
    x = leaf([1.0])
    with pytest.raises(TypeError), hooks(1, 2):
        x.sin()
    assert x.sin().grad_fn._saved_self is x


# SAVE-2 ---------------------------------------------------------------------------------------------------------


def test_save_2_pack_sees_the_very_tensor():
    x, seen = leaf([1.0]), []
    b = x * 1
    with hooks(lambda t: (seen.append(t), t.detach())[1], as_it_is):
        x.sin()
        b.sin()
        b * rg.ones(1)
    assert seen[0] is x and seen[1] is b and not seen[2].requires_grad


def test_save_2_an_own_output_comes_with_its_node():
    x, seen = leaf([1.0]), []
    with hooks(lambda t: (seen.append((t.grad_fn, t.requires_grad, t.is_leaf)), t.detach())[1], as_it_is):
        y = x.exp()
    assert seen == [(y.grad_fn, True, False)]
    y.backward()
    close(x.grad, [np.e])


def test_save_2_the_packed_object_may_be_anything():
    x = leaf([1.0, 2.0])
    for pack, unpack in (
        (lambda t: t.tolist(), rg.tensor),
        (lambda t: None, lambda nothing: rg.tensor([1.0, 2.0])),
        (lambda t: (t.detach(), "text"), lambda pair: pair[0]),
        (lambda t: array(t).copy(), lambda a: rg.tensor(a.tolist())),
    ):
        with hooks(pack, unpack):
            y = x.square().sum()
        same(grad(y, x)[0], [2.0, 4.0])


def test_save_2_the_packed_object_lives_as_long_as_the_node_needs_it():
    x, marks = leaf([1.0]), []

    def pack(t):
        mark = Mark()
        marks.append(weakref.ref(mark))
        return mark

    with hooks(pack, lambda mark: rg.ones(1)):
        y, z = x.sin(), x.sin()
    assert [m() is not None for m in marks] == [True, True]
    y.backward(retain_graph=True)
    assert marks[0]() is not None
    y.backward()
    del z
    assert [m() for m in marks] == [None, None]


def test_save_2_python_scalars_are_not_packed():
    x, pair = leaf([1.0, 2.0]), Pair()
    with pair:
        ys = [x * 2.0, 3 * x, x / 4, x + 1, 5 - x]
    assert pair.calls == []
    sum(y.sum() for y in ys).backward()
    same(x.grad, [5.25, 5.25])
    with pair:
        x**3, x.clamp(min=0.5)
    assert [p.tolist() for p in pair.packed] == [[1.0, 2.0]] * 2


def test_save_2_order_within_an_op_is_not_specified_but_all_are_there():
    x, w, pair = leaf([1.0]), leaf([2.0]), Pair()
    with pair:
        x * w
    assert sorted(p.item() for p in pair.packed) == [1.0, 2.0]


def result_is_freed(pack, *, collect):
    x, mark = leaf([1.0]), Mark()
    watch = weakref.ref(mark)
    with hooks(pack, as_it_is):
        y = (x * 1).exp()
    y.mark = mark
    del mark, y
    if collect:
        gc.collect()
    return watch() is None


def test_save_2_holding_an_own_output_makes_a_cycle():
    gc.collect()
    gc.disable()
    try:
        assert result_is_freed(detached, collect=False)
        assert not result_is_freed(as_it_is, collect=False)
    finally:
        gc.enable()
        gc.collect()


@beyond("torch never frees it")
def test_save_2_the_garbage_collector_finds_the_cycle():
    assert result_is_freed(as_it_is, collect=True)


# SAVE-3 ---------------------------------------------------------------------------------------------------------


def test_save_3_the_unpacked_tensor_gets_the_recorded_history():
    x = leaf([2.0])
    b = x * 1
    for unpack in (as_it_is, lambda t: t.clone(), lambda t: t.detach().requires_grad_(), lambda t: leaf([2.0]) * 1):
        with hooks(detached, unpack):
            y = b.square()
        saved = y.grad_fn._saved_self
        assert saved.requires_grad and saved.grad_fn is b.grad_fn
        same(saved, [2.0])
        with hooks(detached, unpack):
            constant = (x * rg.tensor([5.0])).grad_fn._saved_other
        assert not constant.requires_grad and constant.grad_fn is None


def test_save_3_a_leaf_comes_back_as_a_leaf():
    x = leaf([2.0])
    with hooks(detached, as_it_is):
        y = x.sin()
    saved = y.grad_fn._saved_self
    assert saved.is_leaf and saved.requires_grad
    (saved * 3).backward()
    same(x.grad, [3.0])  # accumulation goes to the leaf itself
    assert saved.grad is None


def test_save_3_an_own_output_comes_back_with_this_node():
    x = leaf([2.0])
    with hooks(detached, as_it_is):
        y = x.exp()
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn
    assert y.grad_fn._saved_result.requires_grad


def test_save_3_double_backward():
    x = leaf([1.0, 2.0])
    for f in (lambda x: x.exp(), lambda x: x**3, lambda x: x.sin() * x, lambda x: Keep.apply(x, x.cos())):
        with hooks(lambda t: t.tolist(), lambda v: rg.tensor(v)):
            y = f(x).sum()
        (g,) = grad(y, x, create_graph=True)
        (gg,) = grad(g.sum(), x)
        (plain,) = grad(f(x).sum(), x, create_graph=True)
        same(g, array(plain))
        same(gg, array(grad(plain.sum(), x)[0]))


def test_save_3_history_made_by_unpack_is_ignored():
    x, w = leaf([1.0]), leaf([1.0])
    with hooks(detached, lambda t: t * w):
        y = x.sin()
    (g,) = grad(y, x, create_graph=True)
    gx, gw = grad(g, [x, w], allow_unused=True)
    close(gx, [-np.sin(1.0)])
    assert gw is None


def test_save_3_results_are_new_objects():
    x = leaf([1.0])
    with hooks(as_it_is, as_it_is):
        y = x.sin()
    saved = y.grad_fn._saved_self
    assert saved is not x and y.grad_fn._saved_self is not saved
    assert saved.data_ptr() == x.data_ptr()
    kept = rg.tensor([1.0])
    with hooks(detached, lambda _: kept):
        y = x.sin()
    assert y.grad_fn._saved_self is not kept and not kept.requires_grad


def test_save_3_constants_come_back_as_they_are():
    x, k = leaf([1.0]), rg.tensor([3.0])
    with hooks(as_it_is, as_it_is):
        y = x * k
    assert y.grad_fn._saved_other is k
    with hooks(as_it_is, lambda t: leaf([3.0])):
        y = x * k
    assert not y.grad_fn._saved_other.requires_grad


def test_save_3_passes_within_the_block_hook_what_create_graph_saves():
    x, pair = leaf([1.0]), Pair()
    with pair:
        y = x.exp()
        (g,) = grad(y, x, create_graph=True)
        assert pair.calls == ["pack", "unpack", "pack"]  # the result that the product with the gradient needs
    g.backward()
    close(x.grad, [np.e])
    assert pair.calls.count("pack") == 2


# SAVE-4 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", [3, None, "text", [1.0]])
def test_save_4_unpack_must_return_a_tensor(result):
    x = leaf([1.0])
    with hooks(detached, lambda t: result):
        y = x.sin()
    with fails("unpack_hook expected to be a Tensor", kind=TypeError):
        y.backward()
    with fails("unpack_hook expected to be a Tensor", kind=TypeError):
        _ = y.grad_fn._saved_self
    with hooks(detached, lambda t: result):
        y = Keep.apply(x, x)
    with fails("unpack_hook expected to be a Tensor", kind=TypeError):
        y.backward()
    assert x.grad is None


def test_save_4_other_contents_and_shapes_are_used_as_they_are():
    x = leaf([1.0, 2.0])
    with hooks(detached, lambda t: rg.full((2,), 7.0)):
        y = x.square().sum()
    same(grad(y, x)[0], [14.0, 14.0])
    with hooks(detached, lambda t: rg.full((), 7.0)):
        y = x.square().sum()
    same(grad(y, x)[0], [14.0, 14.0])
    with hooks(detached, lambda t: rg.ones(3)):
        y = x.square().sum()
    with fails("size"):
        y.backward()


def write(t):
    with rg.no_grad():
        t.detach().add_(1)
    return t.detach()


@pytest.mark.parametrize("op", [lambda b: b.sin(), lambda b: b.exp(), lambda b: b * b, lambda b: Keep.apply(b, b)])
def test_save_4_pack_may_not_write(op):
    b = leaf([1.0]) * 1
    with fails("pack hook is modifying its input in place"), hooks(write, as_it_is):
        op(b)


@pytest.mark.parametrize("error", [KeyError, ValueError, KeyboardInterrupt])
def test_save_4_exceptions_propagate(error):
    def broken(_):
        raise error("no such thing")

    x = leaf([1.0])
    for op in (lambda: x.sin(), lambda: x.exp(), lambda: Keep.apply(x, x)):
        with pytest.raises(error, match="no such thing"), hooks(broken, as_it_is):
            op()
        with hooks(detached, broken):
            y = op()
        with pytest.raises(error, match="no such thing"):
            y.backward()
    assert x.grad is None
    y = x.sin()
    y.backward()
    close(x.grad, [np.cos(1.0)])


def test_save_4_a_pass_that_failed_in_unpack_can_be_run_again():
    x, broken = leaf([1.0]), [True]

    def unpack(t):
        if broken.pop():
            broken.append(False)
            raise KeyError("not yet")
        return t

    with hooks(detached, unpack):
        y = x.sin()
    with pytest.raises(KeyError):
        y.backward()
    y.backward()
    close(x.grad, [np.cos(1.0)])


# SAVE-5 ---------------------------------------------------------------------------------------------------------


def test_save_5_ops_in_the_hooks_are_not_hooked():
    x, calls = leaf([1.0, 2.0]), []

    def pack(t):
        calls.append("pack")
        return (t * t).exp().sin()

    def unpack(t):
        calls.append("unpack")
        return (t * t).exp() * 0 + 3.0

    with hooks(pack, unpack):
        y = x.square().sum()
        assert calls == ["pack"]
        (g,) = grad(y, x)
        assert calls == ["pack", "unpack"]
    same(g, [6.0, 6.0])


def test_save_5_nothing_is_recorded_in_pack():
    x, seen = leaf([1.0]), []
    with hooks(lambda t: (seen.append((rg.is_grad_enabled(), (t * 2).requires_grad)), t.detach())[1], as_it_is):
        x.sin()
    assert seen == [(False, False)] and rg.is_grad_enabled()


@beyond("torch calls the hook for the ops in it without end")
def test_save_5_recording_in_pack_is_not_hooked_either():
    x, calls = leaf([1.0]), []

    def pack(t):
        calls.append("pack")
        with rg.enable_grad():
            return (t * t).detach()

    with hooks(pack, as_it_is):
        x.sin()
    assert calls == ["pack"]


def test_save_5_unpack_runs_in_the_grad_mode_of_the_pass_and_may_use_hooks_of_its_own():
    x, seen = leaf([1.0]), []

    def unpack(t):
        inner = Pair()
        with inner, rg.enable_grad():
            leaf([1.0]).sin()
        seen.append((rg.is_grad_enabled(), inner.calls))
        return t

    with hooks(detached, unpack):
        y = x.sin()
        grad(y, x, create_graph=True)
        grad(y, x)
    assert seen == [(True, ["pack"]), (False, ["pack"])]


# SAVE-6 ---------------------------------------------------------------------------------------------------------


def test_save_6_there_is_no_version_check():
    x = leaf([1.0])
    for pack, factor in ((detached, 5.0), (lambda t: t.detach().clone(), 1.0)):
        b = x * 1
        with hooks(pack, as_it_is):
            y = b.square()
        with rg.no_grad():
            b.mul_(5)
        same(grad(y, x)[0], [2 * factor])  # whatever is there by now
    b = x * 1
    y = b.square()
    with rg.no_grad():
        b.mul_(5)
    with fails("modified by an inplace operation"):
        y.backward()


def test_save_6_what_was_saved_before_is_still_checked():
    x, pair = leaf([1.0]), Pair()
    b = x * 1
    y = b.square()
    with pair, rg.no_grad():
        b.mul_(5)
    with fails("modified by an inplace operation"):
        y.backward()
    assert pair.calls == []


def test_save_1_blocks_that_a_hook_of_backward_ends_or_begins_are_those_of_its_node():
    x, pair, other = leaf([1.0]), Pair(), Pair()
    y = x * 2
    z = y.exp()
    popped = []

    def leave(g):
        pair.__exit__(None, None, None)
        with fails(""):  # torch fails an internal check here
            pair.__exit__(None, None, None)
        popped.append(True)

    z.register_hook(leave)
    y.register_hook(lambda g: other.__enter__())
    with pair:
        z.backward(retain_graph=True)
        assert popped == [True]
        x.sin()
        assert pair.calls == ["pack"] and other.calls == []
    x.sin()
    assert pair.calls == ["pack"] and other.calls == []


def test_save_1_operands_of_a_write_are_packed_before_it():
    x, w, seen = leaf([1.0, 2.0]), leaf([3.0, 4.0]), []
    with rg.autograd.graph.saved_tensors_hooks(lambda t: (seen.append(t.tolist()), t.clone())[1], lambda t: t):
        y = x.clone()
        y.mul_(w)
    assert sorted(seen) == [[1.0, 2.0], [3.0, 4.0]]
    y.sum().backward()
    same(x.grad, [3.0, 4.0])
    same(w.grad, [1.0, 2.0])
