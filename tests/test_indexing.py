"""Subscripts in detail: what counts as a tuple, what is written where, and what is refused."""

import array
import collections
import contextlib
import warnings

import numpy as np
import pytest

DEPRECATED = "non-tuple sequence"


@contextlib.contextmanager
def silent():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def counted(rg):
    return rg.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("as_list", "as_tuple"),
    [
        (lambda t: [[0], [1]], lambda t: ([0], [1])),
        (lambda t: [[1], [0, 1]], lambda t: ([1], [0, 1])),
        (lambda t: [[[0, 1], [1, 0]]], lambda t: ([[0, 1], [1, 0]],)),
        (lambda t: [(0, 1), (1, 2)], lambda t: ((0, 1), (1, 2))),
        (lambda t: [t(1)], lambda t: (t(1),)),
        (lambda t: [t(1), t(0)], lambda t: (t(1), t(0))),
        (lambda t: [t([1, 0])], lambda t: (t([1, 0]),)),
        (lambda t: [slice(0, 1), 1], lambda t: (slice(0, 1), 1)),
        (lambda t: [0, None], lambda t: (0, None)),
        (lambda t: [..., 1], lambda t: (..., 1)),
        (lambda t: [np.array([0, 1])], lambda t: (np.array([0, 1]),)),
        (lambda t: [[]], lambda t: ([],)),
        (lambda t: collections.deque([[0], 1]), lambda t: ([0], 1)),
    ],
)
def test_a_sequence_with_more_than_numbers_is_a_tuple(rg, as_list, as_tuple):
    x = counted(rg)
    with pytest.warns(UserWarning, match=DEPRECATED):
        part = x[as_list(rg.tensor)]
    want = x[as_tuple(rg.tensor)]
    assert part.shape == want.shape and part.tolist() == want.tolist()
    y = counted(rg)
    with silent():
        y[as_list(rg.tensor)] = 9
    x[as_tuple(rg.tensor)] = 9
    assert x.tolist() == y.tolist()


@pytest.mark.parametrize(
    "key",
    [
        [1, 0], range(1, -1, -1), array.array("i", [1, 0]), collections.deque([1, 0]), bytearray([1, 0]),
        [1.9, 0.0], np.array([1.0, 0.0]), np.array([1, 0], dtype=np.int8), [np.int64(1), np.float64(0)], ([1, 0],),
    ],
)  # fmt: skip
def test_a_sequence_of_numbers_is_one_index(rg, key):
    x = counted(rg)
    assert x[key].tolist() == [[3, 4, 5], [0, 1, 2]]
    x[key] = rg.tensor([[1.0], [2.0]])
    assert x.tolist() == [[2, 2, 2], [1, 1, 1]]


def test_subclasses_of_tuple_are_tuples_and_long_lists_are_not(rg):
    pair = collections.namedtuple("pair", "row column")
    x = counted(rg)
    assert x[pair(1, 2)].item() == 5.0
    assert x[pair(0, 1),].tolist() == x.tolist()
    with silent(), pytest.raises(IndexError, match="too many indices"):
        x[[[0, 1]] * 31]
    assert x[[[0, 1]] * 32].shape == (32, 2, 3)


def test_several_ellipses(rg):
    x = counted(rg)
    assert x[..., ...].tolist() == x.tolist()
    assert x[..., 0, ...].tolist() == [0.0, 3.0]
    for key in [(..., ..., 0), (..., None, ..., 0)]:
        with pytest.raises(IndexError):
            x[key]


@pytest.mark.parametrize("key", [1.0, {0: 1}, {0}, iter([0]), object()])
def test_what_is_no_index(rg, key):
    x = counted(rg)
    with pytest.raises(IndexError, match="only integers, slices"):
        x[key]
    with pytest.raises(IndexError, match="only integers, slices"):
        x[key] = 1


@pytest.mark.parametrize("key", ["a", "0", b"\0", ["a"], (0, "0")])
def test_texts_are_no_index(rg, key):
    with silent(), pytest.raises(TypeError, match="invalid data type"):
        counted(rg)[key]


@pytest.mark.parametrize("value", [[1.0, 2.0, 3.0], (1, 2, 3), np.ones(3), np.array(1.0), range(3), None, "a"])
@pytest.mark.parametrize("key", [0, slice(None), [0], False, 7])
def test_only_numbers_and_tensors_can_be_assigned(rg, key, value):
    x = counted(rg)
    with pytest.raises(TypeError, match="can't assign a"):
        x[key] = value
    assert x.tolist() == counted(rg).tolist() and x._version == 0


def test_ints_that_do_not_fit(rg):
    x = counted(rg)
    for key in (2**70, (0, 2**70)):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            x[key]
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        x[0] = 2**70


def test_numpy_integers_and_floats_can_be_assigned(rg):
    x = counted(rg)
    x[0, 0], x[0, 1], x[0, 2] = np.int64(7), np.float64(0.5), True
    assert x[0].tolist() == [7.0, 0.5, 1.0]


def test_false_alone_writes_nothing(rg):
    leaf = rg.ones(2, requires_grad=True)
    leaf[False] = 3
    assert leaf.tolist() == [1.0, 1.0] and leaf._version == 0
    y = leaf * 1
    before = y.grad_fn
    y[False] = rg.ones(5, 7, requires_grad=True)
    assert y.grad_fn is before and y._version == 0
    plain = rg.ones(2)
    plain[False] = rg.ones(2, requires_grad=True)
    assert not plain.requires_grad and plain._version == 0


def test_one_value_at_a_mask_is_converted(rg):
    mask = rg.tensor([False, True])
    for value in (rg.tensor(2.0), rg.tensor([2.0]), rg.tensor([[2.0]])):
        for key in (mask, (mask, 0), (slice(None), rg.tensor([True, False, True]))):
            x, want = rg.zeros(2, 3, dtype=rg.float64), rg.zeros(2, 3, dtype=rg.float64)
            x[key] = value
            want[key] = 2.0
            assert x.tolist() == want.tolist()
    i = rg.zeros(2, 3, dtype=rg.int64)
    i[mask] = rg.tensor(2.5)
    assert i.tolist() == [[0, 0, 0], [2, 2, 2]]


@pytest.mark.parametrize("key", [[0], ([False, True], [0])])
def test_values_of_another_dtype_at_positions_are_refused(rg, key):
    x = rg.zeros(2, 3, dtype=rg.float64)
    with pytest.raises(RuntimeError, match="source and destination dtypes match"):
        x[key] = rg.tensor([2.0])
    with pytest.raises(RuntimeError, match="source and destination dtypes match"):
        x[rg.tensor([False, True])] = rg.tensor([1.0, 2.0, 3.0])


def test_the_gradient_of_a_value_that_was_converted(rg):
    value = rg.tensor([2.0], requires_grad=True)
    x = rg.zeros(2, 3, dtype=rg.float64)
    x[rg.tensor([False, True])] = value
    (2 * x).sum().backward()
    assert value.grad.dtype == rg.float32 and value.grad.tolist() == [6.0]


def test_empty_slices_begin_where_they_would(rg):
    x = rg.ones(3, 4)
    assert x[:, 4:].storage_offset() == 4
    assert x[2:1].storage_offset() == 8
    assert x[5:].storage_offset() == 12
    assert x[1:1][:, 2:].storage_offset() == 6
    assert x.narrow(0, 3, 0).storage_offset() == 12
    assert [t.storage_offset() for t in rg.ones(0, 3).unbind(1)] == [0, 1, 2]
    assert [t.storage_offset() for t in x.split([0, 3, 0])] == [0, 0, 12]
    assert x[5:].numel() == 0 and x[5:].sum().item() == 0.0


def test_true_alone_is_a_new_axis(rg):
    x = rg.ones(2, requires_grad=True) * 1
    x[True] = rg.tensor([2, 3])
    assert x.tolist() == [2.0, 3.0] and x.grad_fn.name() == "torch::autograd::CopySlices"
    b = rg.tensor([True, False])
    b[True] = rg.tensor([[0, 5]])
    assert b.tolist() == [False, True]


def test_complex_numbers_into_real_tensors(rg):
    x, b = counted(rg), rg.zeros(2, dtype=rg.bool)
    for key in (0, slice(0, 0), [0], 9):
        with pytest.raises(RuntimeError, match="without overflow"):
            x[key] = 1 + 2j
    x[0, 0] = 7 + 0j
    b[0] = 2j
    b[[1]] = 2j
    assert x[0].tolist() == [7.0, 1.0, 2.0] and b.tolist() == [True, True]


def test_a_scalar_has_no_slices(rg):
    with pytest.raises(IndexError, match="0-dim"):
        rg.tensor(1.0)[:]


def test_a_bad_index_is_told_before_a_bad_value(rg):
    x = counted(rg)
    with pytest.raises(IndexError, match="tensors used as indices"):
        x[rg.tensor([1.0])] = rg.tensor([1])
    with pytest.raises(IndexError, match="could not be broadcast together"):
        x[[0, 1], [0, 1, 2]] = rg.tensor([1])


@pytest.mark.parametrize("key", [(0, 0, "a"), (0, 0, [0.5], {}), ("a", None, 0, ..., 0)])
def test_too_many_items_are_told_before_bad_ones(rg, key):
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 2"):
        counted(rg)[key]
    with silent(), pytest.raises(IndexError, match="too many indices for tensor of dimension 0"):
        rg.tensor(1.0)["a"]
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 2"):
        counted(rg)[rg.ones(2, 3) > 0, "a"]


class Third:
    def __index__(self):
        return 2


class Nowhere:
    def __index__(self):
        raise KeyError("nowhere")


@pytest.mark.parametrize("step", [None, 1, 2, Third(), np.int64(3), True, 2**70])
@pytest.mark.parametrize("bound", [None, 0, 1, -2, Third(), np.int8(-1), True, 2**70, -(2**70), 99])
def test_bounds_of_slices_are_what_python_makes_of_them(rg, bound, step):
    x, values = rg.arange(5), np.arange(5)
    assert x[bound::step].tolist() == values[bound::step].tolist()
    assert x[:bound:step].tolist() == values[:bound:step].tolist()
    assert x[-4:bound:step, None].tolist() == values[-4:bound:step, None].tolist()


def test_tensors_are_bounds_of_slices(rg):
    x = rg.arange(5)
    assert x[rg.tensor(1) : rg.tensor([4]) : rg.tensor(2)].tolist() == [1, 3]
    for bad in (rg.tensor([1, 2]), rg.tensor(1.0), 1.0, "1", Nowhere()):
        with pytest.raises(TypeError, match=r"^index: slice indices must be integers or None or have an __index__"):
            x[bad:]
        with pytest.raises(TypeError, match=r"^index: slice indices must be integers or None or have an __index__"):
            x[::bad]
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        x[::0]
    with pytest.raises(ValueError, match="step must be greater than zero, got -1"):
        x[::-1]
    with pytest.raises(ValueError, match="step must be greater than zero, got -1"):
        x[..., ::-1]


@pytest.mark.parametrize("step", [None, 0])  # by Python in one go, and bound by bound
def test_an_interrupt_in_a_bound_ends_the_subscript(rg, step):
    class Interrupted:
        calls = 0

        def __index__(self):
            self.calls += 1
            if self.calls == 1:
                raise KeyboardInterrupt
            return 1

    with pytest.raises(KeyboardInterrupt):
        rg.arange(5)[Interrupted() :: step]


NUMBERS = (0, 1, -1, 2, -3)
SLICES = (slice(None), slice(1, None), slice(None, -1), slice(0, 9, 2), slice(2, 1), slice(-2, None), slice(9, None))


def test_many_items_in_one_step_make_the_view_that_one_by_one_they_make(rg):
    # What is recorded is made step by step.
    plain = rg.arange(60.0).reshape(3, 4, 5)[:, 1:, ::2]
    recorded = plain.detach().requires_grad_()
    generator = np.random.default_rng(1)
    kinds = [NUMBERS, SLICES, (None,), (...,)]
    for _ in range(600):
        choose = [kinds[k] for k in generator.choice(4, size=generator.integers(0, 5), p=[0.3, 0.4, 0.15, 0.15])]
        key = tuple(kind[generator.integers(len(kind))] for kind in choose)
        try:
            want = recorded[key]
        except IndexError as e:
            with pytest.raises(IndexError) as got:
                plain[key]
            assert str(got.value) == str(e), key
            continue
        got = plain[key]
        assert (got.shape, got.stride()) == (want.shape, want.stride()), key
        assert got.storage_offset() - plain.storage_offset() == want.storage_offset() - recorded.storage_offset(), key
        assert got.tolist() == want.tolist() and got._base is plain._base
        if key.count(...) < 2:
            assert got.tolist() == plain.numpy()[key].tolist()
