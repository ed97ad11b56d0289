"""LEAF: leaves, requires_grad and .grad."""

import copy
import gc

import numpy as np
import pytest

from . import array, fails, leaf, rg, same, script, warns


def set_flag(x, value):
    x.requires_grad = value


@pytest.mark.parametrize("name", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_leaf_1_integers_cannot_require_grad(name):
    dtype = getattr(rg, name)
    x = rg.zeros(2, dtype=dtype)
    for attempt in (
        lambda: rg.zeros(2, dtype=dtype, requires_grad=True),
        lambda: set_flag(x, True),
        lambda: x.requires_grad_(),
    ):
        with fails("floating point", "can require gradients"):
            attempt()
        assert x.requires_grad is False
    set_flag(x, False)
    assert x.requires_grad_(False) is x


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_leaf_1_floats_may_require_grad(name):
    dtype = getattr(rg, name)
    x = rg.zeros(2, dtype=dtype)
    assert x.requires_grad is False
    set_flag(x, True)
    assert x.requires_grad is True
    assert x.requires_grad_(False) is x and x.requires_grad is False
    assert rg.zeros(2, dtype=dtype, requires_grad=True).requires_grad is True


@pytest.mark.parametrize("name", ["float16", "bfloat16", "complex64", "complex128"])
def test_leaf_1_half_and_complex_may_require_grad(name):
    x = rg.zeros(2, dtype=getattr(rg, name))
    assert x.requires_grad_().requires_grad is True


def test_leaf_2_is_leaf_means_no_grad_fn():
    plain, param = rg.ones(2), leaf([1.0, 2.0])
    assert plain.is_leaf and param.is_leaf and param.grad_fn is None
    assert (plain * 2).is_leaf and (plain * 2).requires_grad is False
    y = param * 2
    assert y.grad_fn is not None and y.is_leaf is False and y.requires_grad is True
    assert y.detach().is_leaf and y.detach().grad_fn is None
    with rg.no_grad():
        assert (param * 2).is_leaf


def test_leaf_3_setting_the_flag_on_a_non_leaf():
    y = leaf([1.0]) * 2
    for attempt in (lambda: set_flag(y, False), lambda: y.requires_grad_(False)):
        with fails("you can only change requires_grad flags of leaf variables", "detach"):
            attempt()
    with fails("of leaf variables"):
        set_flag(y, True)
    node = y.grad_fn
    assert y.requires_grad_() is y and y.grad_fn is node and y.requires_grad is True


def test_leaf_4_when_an_op_records():
    x, c = leaf([1.0, 2.0]), rg.ones(2)
    assert (x + c).grad_fn is not None
    assert (c + c).grad_fn is None
    with rg.no_grad():
        assert (x + c).requires_grad is False
    # The index takes part in no derivative, and an integer output never requires grad.
    assert c.index_select(0, rg.tensor([0])).grad_fn is None
    assert (x > c).requires_grad is False and (x > c).grad_fn is None
    assert x.argmax().requires_grad is False
    values, indices = leaf([[1.0, 2.0]]).max(dim=1)
    assert values.requires_grad is True and values.grad_fn is not None
    assert indices.requires_grad is False and indices.grad_fn is None and indices.is_leaf


def test_leaf_5_factories_honour_the_flag_in_every_mode():
    for mode in (rg.no_grad, rg.inference_mode):
        with mode():
            assert rg.ones(2, requires_grad=True).requires_grad is True
            assert rg.tensor([1.0], requires_grad=True).requires_grad is True
            assert rg.nn.Parameter(rg.ones(2)).requires_grad is True
    x = leaf([1.0, 2.0])
    for fresh in (rg.zeros_like(x), rg.ones_like(x), x.new_zeros(2), x.new_ones(2), x.new_tensor([1.0])):
        assert fresh.requires_grad is False
    assert rg.zeros_like(x, requires_grad=True).requires_grad is True


def test_leaf_6_grad_is_none_until_something_accumulates():
    x = leaf([1.0, 2.0])
    assert x.grad is None
    y = x * 3
    assert x.grad is None
    y.sum().backward()
    same(x.grad, [3.0, 3.0])
    assert rg.ones(2).grad is None


def test_leaf_6_reading_grad_of_a_non_leaf_warns():
    y = leaf([1.0]) * 2
    with warns(".grad attribute of a Tensor that is not a leaf"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None  # without a warning, which would be an error here
    y.backward()
    same(y.grad, [1.0])


def test_leaf_7_checks_when_assigning_grad():
    x = leaf([1.0, 2.0, 3.0])
    refusals = [
        (3, TypeError, "assigned grad expected to be a Tensor or None"),
        ([0.0] * 3, TypeError, "assigned grad expected to be a Tensor or None"),
        (x, RuntimeError, "can't assign Variable as its own grad"),
        (rg.ones(2), RuntimeError, "attempting to assign a gradient of size"),
        (rg.ones(3, dtype=rg.float64), RuntimeError, "attempting to assign a gradient with dtype"),
    ]
    for value, kind, fragment in refusals:
        with fails(fragment, kind=kind):
            x.grad = value
        assert x.grad is None
    g = rg.ones(3)
    x.grad = g
    assert x.grad is g
    del x.grad
    assert x.grad is None
    x.grad = g
    x.grad = None
    assert x.grad is None
    y = x * 2
    y.grad = g
    assert y.grad is g  # LEAF-6 warns only while there is none


def test_leaf_8_grad_dtype():
    x = leaf([1.0, 2.0])
    assert x.grad_dtype == rg.float32
    x.grad_dtype = rg.float64
    assert x.grad_dtype == rg.float64
    (x * 3).sum().backward()
    assert x.grad.dtype == rg.float64
    same(x.grad, [3.0, 3.0])
    with fails("attempting to assign a gradient with dtype"):
        x.grad = rg.ones(2)
    x.grad_dtype = None
    x.grad = rg.ones(2, dtype=rg.float64)
    x.grad = rg.ones(2)
    assert x.grad.dtype == rg.float32
    y = x * 2
    with fails("can only be accessed on leaf tensors"):
        _ = y.grad_dtype
    with fails("can only be set on leaf tensors"):
        y.grad_dtype = rg.float32


def test_leaf_9_detach_shares_storage_and_version():
    x = leaf([1.0, 2.0])
    y = x * 2
    d = y.detach()
    assert d.is_leaf and d.requires_grad is False and d._base is None and d._is_view() is False
    assert d.data_ptr() == y.data_ptr()
    z = y * y
    d.add_(5)
    same(y, [7.0, 9.0])
    assert d._version == 1 and y._version == 1
    with fails("modified by an inplace operation"):
        z.sum().backward()
    y = x * 2
    y.detach().mul_(x.detach() * 100)
    y.sum().backward()
    same(x.grad, [2.0, 2.0])  # the write is no part of the graph


def test_leaf_10_data_has_its_own_version_counter():
    x = leaf([1.0, 2.0])
    y = x * x
    d = x.data
    assert d.data_ptr() == x.data_ptr() and d._version == 0 and d.requires_grad is False
    d.mul_(10)
    assert d._version == 1 and x._version == 0 and x.data._version == 0
    y.sum().backward()  # reads the edited values, unnoticed
    same(x.grad, [20.0, 40.0])


def test_leaf_10_setting_data_swaps_the_storage():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    new = rg.tensor([5.0, 6.0])
    x.data = new
    assert x.data_ptr() == new.data_ptr() and x._version == 0 and x.requires_grad and x.is_leaf
    y.backward()
    same(x.grad, [10.0, 12.0])
    x.data = rg.ones(3, 2, dtype=rg.float64)
    assert tuple(x.shape) == (3, 2) and x.dtype == rg.float64
    with fails("floating point"):
        x.data = rg.ones(2, dtype=rg.int64)
    plain = rg.ones(2)
    plain.data = rg.tensor([1, 2, 3])
    assert plain.dtype == rg.int64
    same(plain, [1, 2, 3])


def test_leaf_11_detach_in_place():
    x = leaf([1.0, 2.0])
    y = x * 2
    assert y.detach_() is y and y.is_leaf and y.grad_fn is None and y.requires_grad is False
    assert x.detach_() is x and x.requires_grad is False
    base = leaf([1.0, 2.0]) * 2
    for view in (base[:1], rg.ones(4).view(2, 2)):
        with fails("Can't detach views in-place"):
            view.detach_()


def test_leaf_11_a_leaf_that_requires_no_grad_any_more_takes_none():
    for change in (lambda x: x.detach_(), lambda x: x.requires_grad_(False)):
        x = leaf([1.0, 2.0])
        y = (x * 3).sum()
        change(x)
        y.backward()
        assert x.grad is None and x.requires_grad is False


def test_leaf_12_a_view_of_a_plain_leaf_may_require_grad():
    base = rg.ones(4)
    view = base[:2]
    assert view.requires_grad_() is view and view.is_leaf and view._base is base
    assert base.requires_grad is False
    (view * 3).sum().backward()
    same(view.grad, [3.0, 3.0])
    with fails("leaf Variable that requires grad is being used in an in-place operation"):
        view.add_(1)
    with rg.no_grad():
        view.add_(1)
    same(base, [2.0, 2.0, 1.0, 1.0])


def test_leaf_13_in_place_turns_a_plain_tensor_into_a_non_leaf():
    x, a = leaf([1.0, 2.0]), rg.ones(2)
    with rg.no_grad():
        a.mul_(x)
    assert a.is_leaf and a.requires_grad is False
    a.mul_(x)
    assert a.requires_grad is True and a.is_leaf is False and a.grad_fn.name() == "MulBackward0"
    a.sum().backward()
    same(x.grad, [1.0, 2.0])


def test_leaf_14_out_does_not_differentiate():
    x, c = leaf([1.0, 2.0]), rg.ones(2)
    for args, out in (((x, c), rg.zeros(2)), ((c, x), rg.zeros(2)), ((c, c), x)):
        with fails("functions with out=... arguments don't support automatic differentiation"):
            rg.add(*args, out=out)
    same(x, [1.0, 2.0])
    out = rg.zeros(2)
    with rg.no_grad():
        assert rg.add(x, c, out=out) is out
        same(out, [2.0, 3.0])
        rg.add(c, c, out=x)
        same(x, [2.0, 2.0])
        long = rg.zeros(5)
        with warns("was resized"):
            rg.add(x, c, out=long)
        same(long, [3.0, 3.0])
    assert out.requires_grad is False and x.is_leaf


def test_leaf_15_numpy_refuses_what_requires_grad():
    x = leaf([1.0, 2.0])
    for tensor in (x, x * 1):
        for attempt in (tensor.numpy, lambda tensor=tensor: np.asarray(tensor)):
            with fails("Can't call numpy() on Tensor that requires grad"):
                attempt()
        assert tensor.numpy(force=True).tolist() == [1.0, 2.0]
        assert tensor.tolist() == [1.0, 2.0]
        assert tensor[1].item() == 2.0


def test_leaf_15_float_warns():
    printed = script("""
        x = rg.tensor([1.5], requires_grad=True)
        with caught() as log:
            print(float(x))
        print(len(log), log[0].category.__name__)
    """)
    assert printed == ["1.5", "1", "UserWarning"]


def test_leaf_16_deepcopy():
    x = leaf([1.0, 2.0])
    (x * 3).sum().backward()
    x.note = "kept"
    y = copy.deepcopy(x)
    assert y is not x and y.requires_grad and y.is_leaf and y.note == "kept"
    assert y.data_ptr() != x.data_ptr() and y.grad is not x.grad and y.grad.data_ptr() != x.grad.data_ptr()
    same(y, [1.0, 2.0])
    same(y.grad, [3.0, 3.0])
    with fails("Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)
    pair = copy.deepcopy([x, x])
    assert pair[0] is pair[1]


def test_leaf_17_variable():
    x = leaf([1.0])
    y = x * 2
    v = rg.autograd.Variable(y)
    assert type(v) is rg.Tensor and v is not y and v.is_leaf and v.requires_grad is False
    assert v.data_ptr() == y.data_ptr()
    assert rg.autograd.Variable(y, requires_grad=True).requires_grad is True
    assert isinstance(y, rg.autograd.Variable) and isinstance(rg.ones(1), rg.autograd.Variable)
    assert not isinstance(3, rg.autograd.Variable)
    with fails("deprecated"):
        rg.autograd.variable(rg.ones(1))


@pytest.mark.parametrize("name", ["grad_fn", "is_leaf", "retains_grad", "_version", "output_nr"])
def test_leaf_18_read_only_attributes(name):
    x = leaf([1.0]) * 2
    before = getattr(x, name)
    with pytest.raises(AttributeError):
        setattr(x, name, before)
    assert getattr(x, name) == before


def test_leaf_19_the_graph_keeps_leaves_alive():
    x = leaf([1.0, 2.0])
    x.note = "kept"
    identity = id(x)
    loss = (x * 3).sum()
    del x
    gc.collect()
    accumulate = loss.grad_fn.next_functions[0][0].next_functions[0][0]
    loss.backward()
    found = accumulate.variable
    assert id(found) == identity and found.note == "kept"
    assert array(found.grad).tolist() == [3.0, 3.0]


def test_leaf_12_writing_to_part_of_such_a_view():
    for b in (rg.zeros(3), rg.zeros(3, 1).reshape(3)):
        v = b[:2].requires_grad_()
        with fails("a view of a leaf Variable that requires grad is being used in an in-place operation"):
            v[0] = 1.0
        with fails("a view of a leaf Variable that requires grad is being used in an in-place operation"):
            v.mul_(leaf([1.0, 2.0]))
        assert v.is_leaf and v._version == 0
        (v * 2).sum().backward()
        same(v.grad, [2.0, 2.0])


def test_leaf_3_the_flag_is_a_bool():
    x = rg.ones(2)
    for flag in (1, None, np.bool_(True)):
        with fails("requires_grad must be a bool"):
            x.requires_grad = flag
    assert not x.requires_grad


def test_leaf_5_copies_keep_strides_along_axes_of_size_1():
    x = rg.ones(4, 1).t()
    assert x.stride() == (1, 1) and x.is_contiguous()
    for y in (x.clone(), x.to(rg.float64), rg.zeros_like(x), rg.empty_like(x), x * 2, x + 1):
        assert y.stride() == (1, 1)
    for y in (x.exp(), -x, x + x, x.relu()):
        assert y.stride() == (4, 1)
    m = rg.ones(2, 3).t() > 0
    assert rg.ones(2, 3).t().masked_fill(m, 1).stride() == (2, 1)


def test_leaf_10_data_and_the_flag_cannot_be_deleted():
    x = leaf([1.0, 2.0])
    with fails("Deleting tensor data is not allowed. Delete tensor instead!"):
        del x.data
    with fails("requires_grad must be a bool"):
        del x.requires_grad
    same(x, [1.0, 2.0])
    assert x.requires_grad


def test_leaf_11_a_leaf_that_became_a_result_takes_no_gradient():
    x = rg.ones(2, requires_grad=True)
    y = x * 2.0
    x.detach_()
    x.copy_(y)
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        y.sum().backward()
