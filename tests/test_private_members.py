"""Members of tensors and of the engine that torch counts as private, and that programs use all the same."""

import gc
import importlib
import math
import os
import weakref
from collections import OrderedDict

import pytest

rg = importlib.import_module(os.environ.get("RETROGRAD_STANDIN", "retrograd"))
autograd = rg.autograd


def leaf(*values, dtype=None):
    return rg.tensor(values, dtype=dtype or rg.float64, requires_grad=True)


def test_grad_and_its_node_have_private_names():
    x = leaf(1.0, 2.0)
    y = x * 2
    assert y._grad_fn is y.grad_fn
    y.sum().backward()
    assert x._grad is x.grad
    x._grad = rg.ones(2, dtype=rg.float64)
    assert x.grad.tolist() == [1.0, 1.0]
    del x._grad
    assert x.grad is None
    with pytest.raises(RuntimeError, match="_grad_fn can be only set to None"):
        y._grad_fn = x.exp().grad_fn
    with pytest.raises(RuntimeError, match=r"Deletion of _grad_fn not allowed\. Detach tensor instead!"):
        del y._grad_fn
    y._grad_fn = None
    assert y.grad_fn is None and not y.requires_grad


def test_hooks_on_gradients_are_in_a_dict():
    x = leaf(1.0)
    assert x._backward_hooks is None
    first, second = (lambda g: g * 10), (lambda g: g + 1)
    a, b = x.register_hook(first), x.register_hook(second)
    assert x._backward_hooks == OrderedDict([(a.id, first), (b.id, second)])
    a.remove()
    assert list(x._backward_hooks.values()) == [second]
    x._backward_hooks = None
    assert x._backward_hooks is None
    x.sum().backward()
    assert x.grad.item() == 1.0


@pytest.mark.parametrize("nonleaf", [False, True])
def test_a_dict_of_hooks_replaces_the_others_and_is_called_as_it_is(nonleaf):
    x = leaf(1.0)
    y = x * 3 if nonleaf else x
    y.register_hook(lambda g: g * 1000)
    hooks = {0: lambda g: g * 10}
    y._backward_hooks = hooks
    assert y._backward_hooks is hooks
    hooks[1] = lambda g: g + 1
    y.sum().backward()
    assert x.grad.item() == (33.0 if nonleaf else 11.0)


def test_a_dict_of_hooks_is_called_once_if_the_node_is_told_of_it_too():
    x = leaf(1.0)
    y = x * 3
    y._backward_hooks = {0: lambda g: g * 10}
    y.grad_fn._register_hook_dict(y)
    y.sum().backward()
    assert x.grad.item() == 30.0


def test_a_dict_of_hooks_of_one_output_leaves_the_hooks_of_another_alone():
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    handle = b.register_hook(lambda g: g * 100)
    a._backward_hooks = {0: lambda g: g * 10}
    assert list(b._backward_hooks) == [handle.id]
    (a + b).backward()
    assert x.grad.tolist() == [10.0, 100.0]


def test_a_dict_of_hooks_is_found_by_the_collector():
    class Mark:
        pass

    x = leaf(1.0)
    mark = Mark()
    gone = weakref.ref(mark)
    x._backward_hooks = {0: lambda g, x=x, mark=mark: None}
    x._post_accumulate_grad_hooks = {0: lambda p, x=x, mark=mark: None}
    del x, mark
    gc.collect()
    assert gone() is None


def test_attributes_of_hooks_take_dicts_and_are_not_deleted():
    x = leaf(1.0)
    for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        with pytest.raises(TypeError, match=f"{name} must be a dict of hooks or None, not int"):
            setattr(x, name, 3)
    with pytest.raises(RuntimeError, match="Deletion of _backwards_hooks not allowed!"):
        del x._backward_hooks


def test_hooks_of_a_leaf_that_accumulated_are_in_a_dict():
    x = leaf(1.0)
    assert x._post_accumulate_grad_hooks is None
    seen = []
    handle = x.register_post_accumulate_grad_hook(lambda p: seen.append("handle"))
    assert list(x._post_accumulate_grad_hooks) == [handle.id]
    hooks = {0: lambda p: seen.append(p.grad.item())}
    x._post_accumulate_grad_hooks = hooks
    assert x._post_accumulate_grad_hooks is hooks
    x.sum().backward()
    hooks[1] = lambda p: p
    hooks[2] = lambda p: 3
    with pytest.raises(TypeError, match="hook returned 'int'"):
        x.sum().backward()
    assert seen == [1.0, 2.0]
    x._post_accumulate_grad_hooks = None
    assert x._post_accumulate_grad_hooks is None


def test_tensors_know_how_many_hold_them():
    x = rg.ones(2)
    assert x._use_count() == 1
    y = x.view(2)
    assert (x._use_count(), y._use_count()) == (2, 1)
    del y
    assert x._use_count() == 1


def test_a_view_is_made_of_another_base():
    base = rg.arange(6.0).reshape(2, 3).clone()
    view = base[:, 1:].t()
    other = base.mul(10).requires_grad_()
    made = view._view_func(other)
    assert made.tolist() == [[10.0, 40.0], [20.0, 50.0]] and made._base is other
    made.sum().backward()
    assert other.grad.tolist() == [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    for unlike in (rg.zeros(3, 2).t(), rg.zeros(2, 3, dtype=rg.float64), rg.zeros(6), rg.zeros(3, 3)):
        assert view._view_func(unlike) is None
    assert view._view_func_unsafe(rg.arange(6.0).reshape(2, 3), None, None).tolist() == [[1.0, 4.0], [2.0, 5.0]]
    assert view._view_func_unsafe(rg.arange(6.0).reshape(3, 2).t()).tolist() == [[2.0, 3.0], [4.0, 5.0]]
    for plain in (base.clone(), base.detach()):
        assert plain._view_func(other) is plain._view_func_unsafe(other) is plain._rev_view_func_unsafe(other) is None
    with pytest.raises(RuntimeError, match=r"No _rev_view_func\(\) found"):
        view._rev_view_func_unsafe(view)
    with pytest.raises(TypeError, match=r"_view_func\(\): argument 'new_base' \(position 1\) must be Tensor, not int"):
        view._view_func(3)


def test_elements_are_rewritten_by_a_function_of_python():
    x = rg.tensor([[1, 2], [3, 4]])
    assert x.apply_(lambda v: v * 2) is x
    assert x.tolist() == [[2, 4], [6, 8]]
    assert x.t().apply_(lambda v: v + 1).tolist() == [[3, 7], [5, 9]]
    assert x.map_(rg.tensor([10, 20]), lambda a, b: a + b).tolist() == [[13, 25], [17, 29]]
    assert x.map2_(x, rg.tensor(1), lambda a, b, c: a + b + c).tolist() == [[27, 51], [35, 59]]
    assert rg.tensor([True, False]).apply_(lambda v: not v).tolist() == [False, True]
    assert rg.tensor([1 + 2j]).apply_(lambda v: v * 2).tolist() == [2 + 4j]
    assert rg.zeros(0).apply_(lambda v: 1 / 0).tolist() == []
    assert math.isclose(rg.ones(1, dtype=rg.float16).apply_(lambda v: v + 0.5).item(), 1.5)


def test_elements_are_not_rewritten_where_that_makes_no_sense():
    x = rg.ones(2)
    with pytest.raises(
        RuntimeError, match=r"Can't call apply_\(\) on Variable that requires grad\. Use var\.detach\(\)"
    ):
        leaf(1.0).apply_(abs)
    with pytest.raises(RuntimeError, match=r"Can't call map_\(\) on Variable that requires grad"):
        x.map_(leaf(1.0, 2.0, dtype=rg.float32), max)
    with pytest.raises(TypeError, match=r"map_: expected \S+\.FloatTensor for 'other' \(got \S+\.LongTensor\)"):
        x.map_(rg.ones(2, dtype=rg.int64), max)
    with pytest.raises(TypeError, match=r"map_\(\): argument 'other' \(position 1\) must be Tensor, not int"):
        x.map_(3, max)
    with pytest.raises(TypeError, match="'int' object is not callable"):
        x.apply_(3)
    with pytest.raises(RuntimeError, match="expand"):
        x.map_(rg.ones(2, 2), max)
    with pytest.raises(TypeError, match="keyword"):
        x.apply_(callable=abs)
    saved = leaf(1.0).exp()
    saved.detach().apply_(lambda v: v + 1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.backward()


@pytest.mark.parametrize(
    ("shape", "change", "order"),
    [
        ((2, 3, 5, 7), lambda x: x, (0, 1, 2, 3)),
        ((2, 3, 5, 7), lambda x: x.transpose(1, 2), (0, 2, 1, 3)),
        ((2, 3, 5, 7), lambda x: x.contiguous(memory_format=rg.channels_last), (0, 2, 3, 1)),
        ((1, 2, 3, 4), lambda x: x, (0, 1, 2, 3)),
        ((3, 4), lambda x: x.t(), (1, 0)),
        ((), lambda x: x, ()),
    ],
)
def test_axes_have_an_order_in_memory(shape, change, order):
    assert change(rg.empty(shape)).dim_order() == order


def test_an_order_of_axes_may_have_to_be_the_only_one():
    x = rg.empty(1, 2, 3, 4)
    refusal = pytest.raises(
        RuntimeError, match=r"does not have unique dim order, or cannot map to exact one of the given"
    )
    with refusal:
        x.dim_order(ambiguity_check=True)
    assert rg.empty(2, 3).dim_order(ambiguity_check=True) == (0, 1)
    assert x.dim_order(ambiguity_check=[rg.contiguous_format, rg.channels_last]) == (0, 1, 2, 3)
    with pytest.raises(RuntimeError, match="unique"):
        rg.empty(2, 1, 3, 4).dim_order(ambiguity_check=[rg.contiguous_format, rg.channels_last])
    for wrong in ("no", [3]):
        with pytest.raises(
            TypeError, match=r"The ambiguity_check argument must be a bool or a list of memory formats\."
        ):
            x.dim_order(ambiguity_check=wrong)


def test_a_parameter_decides_what_is_loaded_into_it():
    x, other = rg.zeros(2, requires_grad=True), rg.ones(2, requires_grad=True)
    with rg.no_grad():
        loaded = x.module_load(other)
    assert loaded.tolist() == [1.0, 1.0] and loaded.data_ptr() == x.data_ptr() and not loaded.requires_grad
    assert x.module_load(other, assign=True).data_ptr() == other.data_ptr()
    with pytest.raises(RuntimeError, match=r"reinforce\(\) was removed\.\nUse "):
        x.reinforce(1.0)


def test_versions_are_kept_over_writes():
    x, y = rg.ones(2), rg.ones(2)
    x.add_(1)
    with autograd._unsafe_preserve_version_counter((x, y)) as nothing:
        x.add_(1)
        y.add_(1)
    assert (x._version, y._version, nothing) == (1, 0, None)
    z = leaf(1.0).exp()
    with autograd._unsafe_preserve_version_counter(z):
        z.detach().mul_(2).mul_(0.5)
    z.backward()
    with pytest.raises(AssertionError, match="Expected tensors to be a tuple"):
        autograd._unsafe_preserve_version_counter([x])


def test_the_next_node_has_a_known_number():
    number = autograd._get_sequence_nr()
    assert autograd._get_sequence_nr() == number
    assert leaf(1.0).exp().grad_fn._sequence_nr() == number
    assert autograd._get_sequence_nr() == number + 1


def test_a_state_is_given_by_its_position():
    generator = rg.Generator()
    assert generator.set_state(generator.get_state()) is generator
    with pytest.raises(TypeError):
        generator.set_state(new_state=generator.get_state())
