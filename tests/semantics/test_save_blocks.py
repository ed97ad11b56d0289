"""SAVE-7 to SAVE-10: hooks on what is saved already, and blocks that forbid hooks or are made with them."""

import threading

import numpy as np
import pytest

from . import array, beyond, close, fails, leaf, rg, same
from .test_save import Keep, Pair, as_it_is, detached, hooks

grad = rg.autograd.grad
graph = rg.autograd.graph
disabled = graph.disable_saved_tensors_hooks
allow_mutation = graph.allow_mutation_on_saved_tensors


# SAVE-7 ---------------------------------------------------------------------------------------------------------


def test_save_7_register_hooks_packs_at_once():
    x, calls = leaf([1.0, 2.0]), []
    y = x.sin()
    handle = y.grad_fn._raw_saved_self
    assert isinstance(handle, rg.autograd.SavedTensor)

    def pack(t):
        calls.append("pack")
        same(t, [1.0, 2.0])
        return t.tolist()

    def unpack(values):
        calls.append("unpack")
        return rg.tensor(values) * 2

    handle.register_hooks(pack, unpack)
    assert calls == ["pack"]
    saved = y.grad_fn._saved_self
    same(saved, [2.0, 4.0])
    assert saved.requires_grad and calls == ["pack", "unpack"]
    y.sum().backward()
    assert calls == ["pack", "unpack", "unpack"]
    close(x.grad, np.cos([2.0, 4.0]))


def test_save_7_register_hooks_on_a_custom_function():
    x, w = leaf([2.0]), leaf([3.0])
    y = Keep.apply(x, w)
    raw = y.grad_fn._raw_saved_tensors
    assert len(raw) == 4 and all(isinstance(r, rg.autograd.SavedTensor) for r in raw)
    raw[1].register_hooks(lambda t: t.tolist(), lambda v: rg.tensor(v))
    y.backward()
    same(x.grad, [3.0])


def test_save_7_one_pair_only():
    x = leaf([1.0])
    y = x.sin()
    y.grad_fn._raw_saved_self.register_hooks(detached, as_it_is)
    with hooks(detached, as_it_is):
        z = x.sin()
    for node in (y.grad_fn, z.grad_fn):
        with fails("whose hooks have already been set"):
            node._raw_saved_self.register_hooks(detached, as_it_is)
    (y + z).backward()
    close(x.grad, [2 * np.cos(1.0)])


def test_save_7_not_after_it_was_freed():
    x = leaf([1.0])
    y = x.sin()
    handle = y.grad_fn._raw_saved_self
    y.backward()
    with fails("after it has been freed"):
        handle.register_hooks(detached, as_it_is)


def test_save_7_not_on_what_is_none():
    a, b = leaf([1.0]), rg.tensor([2.0])
    node = (a * b).grad_fn
    assert node._saved_self is None
    with fails("value None is forbidden"):
        node._raw_saved_self.register_hooks(detached, as_it_is)


@pytest.mark.parametrize("args", [(), (detached,), (detached, 3), (1, 2), (detached, as_it_is, as_it_is)])
def test_save_7_needs_two_callables(args):
    y = leaf([1.0]).sin()
    with pytest.raises(TypeError):
        y.grad_fn._raw_saved_self.register_hooks(*args)
    y.backward()  # nothing has changed


def test_save_7_pack_may_not_write_and_its_exceptions_propagate():
    y = (leaf([1.0]) * 1).sin()
    with fails("pack hook is modifying its input in place"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t.add_(1), as_it_is)

    def broken(_):
        raise KeyError("no such thing")

    y = leaf([1.0]).sin()
    with pytest.raises(KeyError, match="no such thing"):
        y.grad_fn._raw_saved_self.register_hooks(broken, as_it_is)


def test_save_7_handles_are_not_made_by_hand():
    made = type(leaf([1.0]).sin().grad_fn._raw_saved_self)
    with fails("Trying to create a SavedTensor object from Python is forbidden"):
        made()
    with pytest.raises(TypeError):
        made(rg.ones(1))


def test_save_7_handles_outlive_what_was_saved():
    x, w = leaf([1.0, 2.0]), rg.tensor([3.0, 4.0])
    y = x * w
    before, empty = y.grad_fn._raw_saved_other, y.grad_fn._raw_saved_self
    assert before.data is w
    with fails("Calling register_hooks on a saved tensor with value None is forbidden"):
        empty.register_hooks(detached, as_it_is)
    y.sum().backward()
    for handle in (before, y.grad_fn._raw_saved_other):  # made before, and made after
        assert handle.data is None
        with fails("Calling register_hooks on a saved tensor after it has been freed"):
            handle.register_hooks(detached, as_it_is)
        with fails("backward through the graph a second time"):
            handle.unpack()


def test_save_7_handles_are_listed_for_tensors_alone():
    y = leaf([[1.0, 2.0], [3.0, 4.0]]).max(0).values
    listed = {name for name in dir(y.grad_fn) if name.startswith("_raw_saved")}
    assert listed == {"_raw_saved_indices"}
    with pytest.raises(AttributeError):
        _ = y.grad_fn._raw_saved_dim


# SAVE-8 ---------------------------------------------------------------------------------------------------------


def exactly(message):
    return pytest.raises(RuntimeError, match=f"^{message}$")


def test_save_8_hooks_cannot_be_entered_where_they_are_disabled():
    x = leaf([1.0])
    with disabled("not in here"):
        for block in (hooks(detached, as_it_is), graph.save_on_cpu()):
            with exactly("not in here"), block:
                pass
        assert x.sin().grad_fn._saved_self is x
    with hooks(detached, as_it_is):
        assert x.sin().grad_fn._saved_self is not x


def test_save_8_nor_can_they_be_disabled_while_they_act():
    x, pair = leaf([1.0]), Pair()
    with pair:
        with exactly("not now"), disabled("not now"):
            pass
        x.sin()
    assert pair.calls == ["pack"]
    with pair:
        x.sin()
    assert pair.calls == ["pack"] * 2


def test_save_8_messages_nest():
    with disabled("outer"):
        with disabled("inner"), exactly("inner"), hooks(detached, as_it_is):
            pass
        with exactly("outer"), hooks(detached, as_it_is):
            pass
        with pytest.raises(KeyError), disabled("inner"):
            raise KeyError
        with exactly("outer"), hooks(detached, as_it_is):
            pass
    with hooks(detached, as_it_is):
        pass


def test_save_8_it_belongs_to_a_thread_and_decorates():
    x, seen = leaf([1.0]), []

    def run():
        with hooks(detached, as_it_is):
            seen.append(x.sin().grad_fn._saved_self is x)

    with disabled("not in this thread"):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert seen == [False]
    with exactly("not in the function"):
        disabled("not in the function")(run)()
    run()


def test_save_8_what_was_packed_can_be_unpacked_and_handles_take_hooks():
    x, pair = leaf([1.0]), Pair()
    with pair:
        y = x.sin()
    z = x.sin()
    with disabled("no blocks"):
        z.grad_fn._raw_saved_self.register_hooks(detached, as_it_is)
        (y + z).backward()
    assert pair.calls == ["pack", "unpack"]
    close(x.grad, [2 * np.cos(1.0)])


# SAVE-9 ---------------------------------------------------------------------------------------------------------


def test_save_9_save_on_cpu_is_a_pair_of_hooks():
    assert issubclass(graph.save_on_cpu, hooks)
    block = graph.save_on_cpu()
    t = rg.ones(2)
    same(block.unpack_hook(block.pack_hook(t)), [1.0, 1.0])


@pytest.mark.parametrize("pin_memory", [False, True])
def test_save_9_the_same_storage_unless_pinned(pin_memory):
    x = leaf([1.0, 2.0])
    b = x * 1
    with graph.save_on_cpu(pin_memory=pin_memory):
        y = b.sin()
        z = b.exp()
    saved = y.grad_fn._saved_self
    assert (saved.data_ptr() == b.data_ptr()) == (not pin_memory)
    assert (z.grad_fn._saved_result.data_ptr() == z.data_ptr()) == (not pin_memory)
    assert saved is not b and saved.grad_fn is b.grad_fn
    same(saved, [1.0, 2.0])
    (g,) = grad((y + z).sum(), x, create_graph=True)
    close(g, np.cos([1.0, 2.0]) + np.exp([1.0, 2.0]))
    (gg,) = grad(g.sum(), x)
    close(gg, np.exp([1.0, 2.0]) - np.sin([1.0, 2.0]))


def test_save_9_copies_do_not_see_later_writes():
    for pin_memory, expected in ((False, 20.0), (True, 4.0)):
        x = leaf([2.0])
        b = x * 1
        with graph.save_on_cpu(pin_memory=pin_memory):
            y = b.square()
        with rg.no_grad():
            b.mul_(5)
        same(grad(y, x)[0], [expected])


def test_save_9_strides_and_dtypes():
    x = rg.arange(6, dtype=rg.float64).reshape(2, 3).requires_grad_()
    for pin_memory in (False, True):
        with graph.save_on_cpu(pin_memory):
            y = x.t() * rg.arange(6, dtype=rg.float64).reshape(3, 2)
            picked = x[rg.tensor([1, 1])]
        (g,) = grad(y.sum() + picked.sum(), x)
        same(g, np.arange(6.0).reshape(3, 2).T + np.array([[0.0] * 3, [2.0] * 3]))


# SAVE-10 --------------------------------------------------------------------------------------------------------


def test_save_10_what_is_written_to_is_cloned_first():
    x = leaf([1.0, 2.0])
    with allow_mutation() as context:
        b = x.clone()
        out = b.square().sum()
        assert (len(context.original), len(context.cloned)) == (1, 0)
        b.zero_()
        assert (len(context.original), len(context.cloned)) == (0, 1)
        (clone,) = context.cloned.values()
        same(clone, [1.0, 2.0])
        same(b, [0.0, 0.0])
        out.backward()
        assert (len(context.original), len(context.cloned)) == (0, 0)  # freed with the graph
    same(x.grad, [2.0, 4.0])


def test_save_10_without_a_write_nothing_is_cloned():
    x = leaf([1.0, 2.0])
    with allow_mutation() as context:
        b = x.clone()
        out = b.square().sum()
        (original,) = context.original.values()
        assert original.data_ptr() == b.data_ptr()
        del original
        b.sin()
        assert len(context.cloned) == 0
        out.backward()
    same(x.grad, [2.0, 4.0])


def test_save_10_every_version_that_was_saved_is_cloned_once():
    x = leaf([1.0, 2.0])
    with allow_mutation() as context:
        b = x.clone()
        first = (b.square() + b.square()).sum()
        b.mul_(10)
        b.mul_(10)
        assert len(context.cloned) == 1
        second = b.square().sum()
        assert (len(context.original), len(context.cloned)) == (1, 1)
        b.zero_()
        assert (len(context.original), len(context.cloned)) == (0, 2)
        (first + second).backward()
    same(x.grad, [4.0 + 20000.0, 8.0 + 40000.0])


@pytest.mark.parametrize(
    "write",
    [
        lambda b: b.__setitem__(0, 5.0),
        lambda b: b[:2].zero_(),
        lambda b: b.view(3, 1).mul_(7),
        lambda b: b.detach().mul_(7),
        lambda b: b[0].fill_(9.0),
    ],
)
def test_save_10_writes_through_views_count(write):
    x = leaf([1.0, 2.0, 3.0])
    with allow_mutation() as context:
        b = x.clone()
        out = b.square().sum()
        write(b)
        assert len(context.cloned) == 1
        out.backward()
    same(x.grad, [2.0, 4.0, 6.0])


@pytest.mark.parametrize("write", [lambda b: b.zero_(), lambda b: b[:1].zero_(), lambda b: b[:2].view(2, 1).mul_(7)])
def test_save_10_views_that_were_saved(write):
    x = leaf([1.0, 2.0, 3.0])
    with allow_mutation() as context:
        b = x.clone()
        out = b[:2].square().sum()
        write(b)
        assert len(context.cloned) == 1
        out.backward()
    same(x.grad, [2.0, 4.0, 0.0])


@pytest.mark.parametrize("write", [lambda b: b.zero_(), lambda b: b[2:].zero_(), lambda b: b[:2].zero_()])
@beyond("torch looks for tensors that begin where the written one does, and computes wrong gradients for others")
def test_save_10_views_that_begin_elsewhere(write):
    x = leaf([1.0, 2.0, 3.0])
    with allow_mutation():
        b = x.clone()
        out = b[1:].square().sum()
        write(b)
        out.backward()
    same(x.grad, [0.0, 4.0, 6.0])


def test_save_10_outputs_leaves_and_out():
    x = leaf([1.0, 2.0])
    with allow_mutation():
        y = x.exp()
        out = y.sum()
        y.zero_()
        close(grad(out, x)[0], np.exp([1.0, 2.0]))
        out = x.square().sum()
        with rg.no_grad():
            x.mul_(10)
        same(grad(out, x)[0], [2.0, 4.0])
        constant = rg.tensor([3.0, 4.0])
        out = (x * constant).sum()
        rg.add(rg.ones(2), 1, out=constant)
        same(constant, [2.0, 2.0])
        same(grad(out, x)[0], [3.0, 4.0])


def test_save_10_in_place_ops_that_save_themselves():
    x = leaf([1.0, 2.0])
    with allow_mutation():
        b = x.clone()
        out = b.square().sum()
        b.mul_(b.exp())
        total = out + b.square().sum()
        total.backward()
    reference = x.detach().clone().requires_grad_()
    (reference.square() + (reference * reference.exp()).square()).sum().backward()
    close(x.grad, array(reference.grad))


def test_save_10_double_backward_and_custom_functions():
    x = leaf([1.0, 2.0])
    with allow_mutation():
        b = x.clone()
        out = (b**3).sum() + Keep.apply(b, rg.ones(2)).sum()
        b.zero_()
        (g,) = grad(out, x, create_graph=True)
        same(g, [4.0, 13.0])
        same(grad(g.sum(), x)[0], [6.0, 12.0])


def test_save_10_backward_outside_of_the_block():
    x = leaf([1.0, 2.0])
    with allow_mutation():
        out = x.square().sum()
    outside = fails("outside of the 'allow_mutation_on_saved_tensors' context", kind=AssertionError)
    with outside:
        out.backward()
    with outside, allow_mutation():
        out.backward()  # another one
    with outside:
        _ = out.grad_fn.next_functions[0][0]._saved_self


def test_save_10_blocks_do_not_nest():
    with allow_mutation(), fails("allow_mutation_on_saved_tensors contexts cannot be nested"), allow_mutation():
        pass
    with pytest.raises(KeyError), allow_mutation():
        raise KeyError
    with allow_mutation():
        pass


@beyond("torch takes the outer block for ended too")
def test_save_10_a_nested_block_leaves_the_outer_one_alone():
    x = leaf([1.0])
    with allow_mutation():
        with fails("cannot be nested"), allow_mutation():
            pass
        b = x.clone()
        out = b.square()
        b.zero_()
        out.backward()
    same(x.grad, [2.0])


def test_save_10_the_maps_are_cleared_on_exit():
    x = leaf([1.0])
    for error in (None, KeyError):
        try:
            with allow_mutation() as context:
                b = x.clone()
                kept = b.square(), x.square()
                b.zero_()
                assert (len(context.original), len(context.cloned)) == (1, 1)
                if error:
                    raise error
        except KeyError:
            pass
        assert (len(context.original), len(context.cloned)) == (0, 0)
        del kept


def test_save_10_writes_after_the_graph_was_freed_clone_nothing():
    with allow_mutation() as context:
        b = leaf([1.0]).clone()
        b.square().backward()
        b.zero_()
        assert (len(context.original), len(context.cloned)) == (0, 0)


def test_save_10_the_context_names_what_it_knows_as_torch_does():
    x = leaf([1.0, 2.0]) * 1
    with allow_mutation() as context:
        y = x.square()
        z = x.square()
        assert (len(context.tid_to_weakhandle), len(context.sid_to_tid)) == (1, 1)
        assert list(context.tid_to_weakhandle.values()) == list(context.original)
        x.mul_(2)
        assert len(context.cloned) == 1
        del y
        assert len(context.cloned) == 1
        del z
        assert (len(context.cloned), len(context.tid_to_weakhandle)) == (0, 0)
        y = x.square()
        assert len(context.tid_to_weakhandle) == 1 and y.requires_grad
    assert (len(context.original), len(context.tid_to_weakhandle), len(context.sid_to_tid)) == (0, 0, 0)
