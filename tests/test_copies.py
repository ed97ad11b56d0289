"""Copies and pickles in detail: shared memory, classes with attributes, cycles, protocols, threads."""

import copy
import gc
import io
import pickle
import threading
import weakref

import numpy as np
import pytest

import retrograd as rg

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
WAYS = [copy.deepcopy, *(lambda obj, p=p: pickle.loads(pickle.dumps(obj, p)) for p in PROTOCOLS)]
ALL = pytest.mark.parametrize("again", WAYS, ids=["deepcopy", *(f"pickle{p}" for p in PROTOCOLS)])


class Plain(rg.Tensor):
    pass


class Slotted(rg.Tensor):
    __slots__ = ("mark",)


class Stateful(rg.Tensor):
    def __getstate__(self):
        return {"secret": 42}

    def __setstate__(self, state):
        self.restored = state["secret"]


class Trained(rg.nn.Parameter):
    pass


@ALL
def test_memory_that_is_shared_stays_shared(again):
    x = rg.arange(6.0).reshape(2, 3)
    other = rg.ones(2)
    y, nested, apart = again([x, {"t": (x.T, x[:, 1])}, other])
    t, column = nested["t"]
    assert (y.stride(), t.stride(), column.stride(), column.storage_offset()) == ((3, 1), (1, 3), (3,), 1)
    y[0, 1] = 10.0
    assert (t[1, 0].item(), column.tolist()) == (10.0, [10.0, 4.0])
    assert (x[0, 1].item(), apart.tolist()) == (1.0, [1.0, 1.0])
    # The rest of the storage comes along.
    alone = again(x[1])
    assert (alone.storage_offset(), alone.as_strided((6,), (1,), 0).tolist()) == (3, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])


@ALL
def test_one_tensor_stays_one(again):
    x = rg.ones(1, requires_grad=True)
    a, b = again([x, x])
    assert a is b
    assert a is not x


@ALL
@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 0, 3)])
def test_every_dtype_and_shape(again, dtype, shape):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    np.testing.assert_array_equal(again(rg.from_numpy(values)).numpy(), values, strict=True)


@ALL
def test_bfloat16_nan_and_infinity(again):
    x = rg.tensor([1.5, float("nan"), float("-inf")], dtype=rg.bfloat16)
    y = again(x)
    assert y.dtype is rg.bfloat16
    assert repr(y) == repr(x)


@ALL
def test_memory_of_others_is_copied(again):
    array = np.arange(10.0)
    y = again(rg.from_numpy(array[2:8:2]))
    array[:] = 0.0
    assert (y.tolist(), y.stride()) == ([2.0, 4.0, 6.0], (2,))


@ALL
def test_classes_with_attributes(again):
    x, s, p = Plain(rg.ones(2)), Slotted(rg.ones(2)), Trained(rg.ones(2), requires_grad=False)
    x.note, x.shared = ["a"], p
    s.mark, s.note = "slot", "dict"
    y, t, q = again([x, s, p])
    assert (type(y), type(t), type(q)) == (Plain, Slotted, Trained)
    assert y.note == ["a"]
    assert y.note is not x.note
    assert y.shared is q
    assert (t.mark, t.note) == ("slot", "dict")
    assert q.requires_grad is False


@ALL
def test_a_class_that_says_what_it_keeps(again):
    x = Stateful(rg.ones(1))
    x.other = 1
    y = again(x)
    assert y.restored == 42
    assert not hasattr(y, "other")


@ALL
def test_cycles_through_attributes(again):
    x = rg.ones(1)
    x.me, x.box = x, [x]
    y = again(x)
    assert y is not x
    assert y.me is y
    assert y.box[0] is y
    gone = [weakref.ref(x), weakref.ref(y)]
    del x, y
    gc.collect()
    assert [w() for w in gone] == [None, None]


@ALL
def test_other_objects(again):
    for dtype in (rg.float32, rg.bool, rg.half):
        assert again(dtype) is dtype
    for obj in (rg.Size([2, 3]), rg.Size(), rg.device("cpu"), rg.device("cpu", 1)):
        assert again(obj) == obj
        assert type(again(obj)) is type(obj)
    g = rg.Generator().manual_seed(3)
    rg.randn(5, generator=g)
    h = again(g)
    assert h is not g
    assert rg.equal(h.get_state(), g.get_state())
    assert rg.randn(5, generator=h).tolist() == rg.randn(5, generator=g).tolist()
    assert h.initial_seed() == 3
    assert again(rg.default_generator) is not rg.default_generator


@ALL
def test_modes_do_not_matter(again):
    x = rg.ones(2, requires_grad=True)
    for mode in (rg.no_grad, rg.inference_mode):
        with mode():
            assert again(x).requires_grad
    with rg.inference_mode():
        inferred = rg.ones(2)
    assert again(inferred).tolist() == [1.0, 1.0]


def test_gradients():
    x = rg.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    y = copy.deepcopy(x)
    assert y.grad.tolist() == [3.0, 3.0]
    assert y.grad is not x.grad
    assert pickle.loads(pickle.dumps(x)).grad is None
    assert copy.copy(x).grad is None
    pair, gradient = copy.deepcopy([x, x.grad])
    assert pair.grad.data_ptr() == gradient.data_ptr()


def test_deepcopy_of_results():
    x = rg.ones(2, requires_grad=True)
    for y in (x * 2, Plain(rg.ones(1)).requires_grad_() * 2):
        with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
            copy.deepcopy(y)


def test_copy_is_another_tensor_over_the_memory():
    x = rg.arange(6.0).reshape(2, 3).T
    x.note = ["a"]
    y = copy.copy(x)
    assert y is not x
    assert (y.data_ptr(), y.stride()) == (x.data_ptr(), x.stride())
    assert y.note is x.note
    p = Trained(rg.ones(1))
    assert type(copy.copy(p)) is Trained


def test_hooks_stay_behind():
    x = rg.ones(1, requires_grad=True)
    x.register_hook(lambda g: g * 10)
    for again in (pickle.dumps, copy.copy):
        with pytest.warns(UserWarning, match="backward hook <function .* will not be serialized") as log:
            again(x)
        assert [w.filename for w in log] == [__file__ if again is pickle.dumps else copy.__file__]
    y = copy.deepcopy(x)  # silent, as in torch
    y.sum().backward()
    assert y.grad.tolist() == [1.0]


def test_buffers_beside_the_pickle():
    x = rg.arange(1000.0)
    buffers = []
    data = pickle.dumps([x, x[1:]], 5, buffer_callback=buffers.append)
    assert len(buffers) == 1
    assert len(data) < 1000
    assert buffers[0].raw().nbytes == 4000
    y, rest = pickle.loads(data, buffers=buffers)
    x[1] = 5.0
    y[2] = 6.0
    assert y[:3].tolist() == [0.0, 1.0, 6.0]
    assert rest[1].item() == 6.0


def test_pickles_of_several_dumps_share_nothing():
    x = rg.ones(2)
    file = io.BytesIO()
    for t in (x, x):
        pickle.dump(t, file)
    file.seek(0)
    a, b = pickle.load(file), pickle.load(file)
    a[0] = 5.0
    assert b.tolist() == [1.0, 1.0]


def test_a_pickle_that_lies_is_refused():
    rebuild, (kind, storage, dtype, *_, requires_grad) = rg.ones(2).__reduce_ex__(2)
    bad = [((3,), (1,), 0), ((2,), (2,), 0), ((2,), (1,), 1), ((2,), (-1,), 1), ((2, 1), (1,), 0), ((-2,), (1,), 0)]
    for wrong in bad:
        with pytest.raises((RuntimeError, ValueError, OverflowError)):
            rebuild(kind, storage, dtype, *wrong, requires_grad)
    odd = pickle.loads(pickle.dumps(rg.tensor([2], dtype=rg.uint8))).__reduce_ex__(2)[1][1]
    assert rebuild(kind, odd, rg.bool, (1,), (1,), 0, False).tolist() == [True]  # a bool is any byte


def test_threads():
    x = rg.arange(100.0)
    wrong = []

    def work():
        for _ in range(100):
            a, b = pickle.loads(pickle.dumps([x, x[1:]]))
            c, d = copy.deepcopy([x, x[1:]])
            a[1] = c[1] = 7.0
            if not b[0].item() == d[0].item() == 7.0:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert x[1].item() == 1.0
