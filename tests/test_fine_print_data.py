"""Tensors of other objects' data, named results, truth values as subscripts, random numbers' bounds, filled memory."""

import copy
import pickle
import warnings

import numpy as np
import pytest


class Lends:
    """An object with `__dlpack__`, which looks like a sequence but is none that can be walked."""

    def __init__(self, held):
        self.held = held

    def __dlpack__(self, **options):
        return self.held.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.held.__dlpack_device__()

    def __len__(self):
        raise TypeError("len() of unsized object")

    def __getitem__(self, i):
        raise KeyError(i)


class Frame:
    """An object with `__array__`, such as a table, whose items are found by name."""

    def __init__(self, held):
        self.held = held

    def __array__(self, dtype=None, copy=None):
        return self.held

    def __len__(self):
        return len(self.held)

    def __getitem__(self, i):
        raise KeyError(i)


def test_dlpack_comes_before_sequences(rg):
    for f, shares in ((rg.tensor, False), (rg.as_tensor, True), (rg.asarray, True), (rg.ones(1).new_tensor, False)):
        held = rg.arange(3.0)
        x = f(Lends(held))
        assert x.tolist() == [0.0, 1.0, 2.0] and x.dtype == rg.float32
        x.fill_(9.0)
        assert held.tolist() == ([9.0] * 3 if shares else [0.0, 1.0, 2.0])
    assert rg.tensor(Lends(rg.arange(3)), dtype=rg.float64).dtype == rg.float64


def test_arrays_come_before_sequences():
    rg = __import__("retrograd")
    for f, shares in ((rg.tensor, False), (rg.as_tensor, True), (rg.asarray, True)):
        held = np.arange(3.0)
        x = f(Frame(held))
        assert x.tolist() == [0.0, 1.0, 2.0] and x.dtype == rg.float64
        x.fill_(9.0)
        assert held.tolist() == ([9.0] * 3 if shares else [0.0, 1.0, 2.0])
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type numpy\.object_"):
        rg.tensor(Frame(np.array([1, "a"], dtype=object)))


def test_asarray_of_buffers_and_capsules(rg):
    for kept in (None, False, True):
        data = bytearray(b"abcd")
        rg.asarray(data, dtype=rg.uint8, copy=kept).fill_(1)
        assert data == (b"abcd" if kept else b"\x01" * 4)
        x = rg.arange(3.0)
        rg.asarray(x.__dlpack__(), copy=kept).fill_(7.0)
        assert x.tolist() == ([0.0, 1.0, 2.0] if kept else [7.0] * 3)
    x = rg.asarray(rg.arange(3.0).__dlpack__(), dtype=rg.float64)
    assert x.dtype == rg.float64 and x.tolist() == [0.0, 1.0, 2.0]
    for run, says in (
        (
            lambda: rg.asarray(rg.arange(3.0).__dlpack__(), dtype=rg.float64, copy=False),
            "can't alias tensor with dtype",
        ),
        (lambda: rg.asarray([1, 2], copy=False), "can't alias arbitrary sequence into a tensor"),
        (lambda: rg.asarray(Lends(rg.arange(3)), copy=False), "can't alias arbitrary sequence into a tensor"),
    ):
        with pytest.raises(ValueError, match=says):
            run()


def test_named_results(rg):
    x = rg.tensor([[1.0, 3.0], [2.0, 0.0]])
    found = rg.max(x, 1)
    shown = f"{rg.__name__}.return_types.max(\nvalues=tensor([3., 2.]),\nindices=tensor([1, 0]))"
    assert repr(found) == str(found) == shown
    assert found.n_fields == 2 and found.values is found[0] and found.indices is found[1]
    assert type(found) is rg.return_types.max is type(x.max(0)) and type(found).__name__ == "max"
    assert repr(x.sort()).startswith(f"{rg.__name__}.return_types.sort(\nvalues=tensor([[1., 3.],\n")
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert type(again) is type(found) and again.values.tolist() == [3.0, 2.0] and again.indices.tolist() == [1, 0]
    with pytest.raises(AttributeError):
        _ = rg.return_types.add


def test_truth_values_as_subscripts(rg):
    x = rg.arange(4.0).reshape(2, 2)
    assert x[True].tolist() == [[[0.0, 1.0], [2.0, 3.0]]] and x[False].shape == (0, 2, 2)
    assert x[True, 0].tolist() == [[0.0, 1.0]] and x[True, False].shape == (0, 2, 2)
    assert x[True, [0, 1]].shape == (2, 2) and x[:, True].tolist() == [[[0.0, 1.0]], [[2.0, 3.0]]]
    assert rg.tensor(3.0)[True].tolist() == [3.0]
    x[False] = 5.0
    assert x.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    x[True, 1] = rg.tensor([7.0, 8.0])
    assert x.tolist() == [[0.0, 1.0], [7.0, 8.0]]
    x[True] = 5.0
    assert x.tolist() == [[5.0, 5.0], [5.0, 5.0]]


def test_reversed(rg):
    x = rg.arange(4.0).reshape(2, 2).requires_grad_()
    y = reversed(x)
    assert isinstance(y, rg.Tensor) and y.tolist() == [[2.0, 3.0], [0.0, 1.0]]
    y.backward(rg.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert x.grad.tolist() == [[3.0, 4.0], [1.0, 2.0]]
    scalar = rg.tensor(1.0)
    assert reversed(scalar) is scalar
    assert [n.item() for n in reversed(rg.arange(3))] == [2, 1, 0]


def test_what_comes_back_to_life_is_what_it_was(rg):
    leaf = rg.ones(2, requires_grad=True)
    x = leaf * 2
    x.mark = object()
    mark, y = x.mark, x * x
    assert y.grad_fn._saved_self is x
    del x
    assert y.grad_fn._saved_self.mark is mark and y.grad_fn._saved_self is y.grad_fn._saved_other
    z = y + 1
    y.grad_fn.metadata["mark"] = mark
    del y
    assert z.grad_fn.next_functions[0][0].metadata["mark"] is mark


def test_index_fill_does_not_write_to_its_index(rg):
    x = rg.zeros(3, dtype=rg.int64)
    for index in (x, x[:2]):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            x.index_fill_(0, index, 1)
    assert x.tolist() == [0, 0, 0] and x._version == 0
    x[0] = 5
    assert x.index_fill_(0, rg.tensor([2]), x[0]).tolist() == [5, 0, 5]


# ---- random numbers


def test_bounds_of_normal_and_random(rg):
    for run, says in (
        (lambda: rg.ones(2).normal_(0, -1), "normal expects std >= 0.0, but found std -1"),
        (lambda: rg.ones(2).normal_(0, float("nan")), "normal expects std >= 0.0, but found std nan"),
        (lambda: rg.normal(rg.ones(2), rg.tensor([1.0, -1.0])), "normal expects all elements of std >= 0.0"),
        (lambda: rg.ones(2).random_(5, 5), "random_ expects 'from' to be less than 'to', but got from=5 >= to=5"),
        (lambda: rg.ones(2).random_(-1), "random_ expects 'from' to be less than 'to', but got from=0 >= to=-1"),
        (lambda: rg.ones(2).byte().random_(0, 257), "to - 1 is out of bounds for"),
        (lambda: rg.ones(2).byte().random_(-1, 5), "from is out of bounds for"),
        (lambda: rg.ones(2).bool().random_(0, 3), "to - 1 is out of bounds for"),
        (lambda: rg.ones(2).int().random_(0, 2**31 + 1), "to - 1 is out of bounds for"),
    ):
        with pytest.raises(RuntimeError, match=says):
            run()


def test_integers_that_floats_do_not_hold(rg):
    # Of 2^25 integers below 2^25 the largest rounds up to it: the end moves in by 2, the distance of floats there.
    for dtype, end, inner in ((rg.float32, 2**25, 2**25 - 2), (rg.float64, 2**54, 2**54 - 2)):
        rg.manual_seed(3)
        with pytest.warns(UserWarning, match="to - 1 is out of bounds"):
            x = rg.empty(1000, dtype=dtype).random_(0, end)
        rg.manual_seed(3)
        whole = rg.empty(1000, dtype=rg.int64).random_(0, inner)
        assert x.max().item() < end and x.tolist() == whole.to(dtype).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rg.empty(2).random_(-(2**24), 2**24 + 1)
    with (
        pytest.warns(UserWarning, match="out of bounds"),
        pytest.raises(RuntimeError, match="'from' casted to dtype to be less than 'to' casted to dtype"),
    ):
        rg.empty(2).random_(2**25 + 1, 2**25 + 4)


# ---- memory that nobody initialised


@pytest.fixture
def filling(rg):
    rg.use_deterministic_algorithms(True)
    yield
    rg.use_deterministic_algorithms(False)
    rg.utils.deterministic.fill_uninitialized_memory = True


@pytest.mark.usefixtures("filling")
def test_memory_that_nobody_initialised_is_filled(rg):
    most = {"uint8": 255, "int8": 127, "int16": 2**15 - 1, "int32": 2**31 - 1, "int64": 2**63 - 1, "bool": True}
    for name, value in most.items():
        assert rg.empty(2, dtype=getattr(rg, name)).tolist() == [value] * 2
    for name in ("float16", "bfloat16", "float32", "float64", "complex64"):
        assert all(x != x for x in rg.empty(2, dtype=getattr(rg, name)).tolist())
    x = rg.ones(2)
    for made in (
        rg.empty_like(x),
        rg.empty_strided((2, 2), (3, 1)),
        x.new_empty(3),
        x.new_empty_strided((3,), (2,)),
        rg.Tensor(2),
        rg.empty(2, 1, 2, 2, memory_format=rg.channels_last),
        rg.empty(0).resize_(2, 2),
    ):
        assert made.isnan().all()
    assert rg.ones(2, dtype=rg.int64).resize_(4).tolist() == [1, 1, 2**63 - 1, 2**63 - 1]
    assert rg.ones(4).resize_(2).resize_(4).tolist() == [1.0] * 4
    assert rg.zeros(2).tolist() == [0.0, 0.0] and (x + 1).tolist() == [2.0, 2.0]


@pytest.mark.usefixtures("filling")
def test_filling_can_be_switched_off(rg):
    assert rg.utils.deterministic.fill_uninitialized_memory is True
    rg.utils.deterministic.fill_uninitialized_memory = False
    rg.ones(2)  # whose memory the next tensor may get
    assert not rg.empty(2).isnan().any()
    rg.utils.deterministic.fill_uninitialized_memory = True
    assert rg.empty(2).isnan().all()
    with pytest.raises(RuntimeError, match="expected a bool, but got int"):
        rg.utils.deterministic.fill_uninitialized_memory = 1
    rg.use_deterministic_algorithms(False)
    rg.ones(2)
    assert not rg.empty(2).isnan().any()


# ---- topk


@pytest.mark.parametrize("k", [0, 1])
def test_topk_of_a_tensor_without_dims_is_its_element(rg, k):
    values, indices = rg.topk(rg.tensor(1.5), k)
    assert (values.tolist(), indices.tolist()) == (1.5, 0)
    assert rg.topk(rg.tensor([1.5]), 0).values.tolist() == []


# ---- Variable


def test_variable_takes_tensors_only(rg):
    for wrong in (3, [1.0]):
        with pytest.raises(TypeError, match="Variable data has to be a tensor, but got"):
            rg.autograd.Variable(wrong)
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        assert not rg.autograd.Variable(rg.ones(2), volatile=True).requires_grad
    with (
        pytest.warns(UserWarning, match="volatile was removed"),
        pytest.raises(ValueError, match="Variable can't be volatile and require_grad at the same time!"),
    ):
        rg.autograd.Variable(rg.ones(2), True, True)
    with pytest.warns(UserWarning, match="always False"):
        assert rg.ones(2).volatile is False
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        rg.ones(2).volatile = True
