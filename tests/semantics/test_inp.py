"""INP: in-place operations and version counters."""

import numpy as np
import pytest

from . import close, fails, leaf, rg, same, warns

STALE = "modified by an inplace operation"


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.mul_(x),
        lambda x: x.zero_(),
        lambda x: x.copy_(rg.ones(2, 2)),
        lambda x: x.fill_(3),
        lambda x: x.__setitem__(0, 5.0),
        lambda x: x.__iadd__(1),
        lambda x: rg.add(rg.ones(2, 2), 1, out=x),
        lambda x: x.set_(rg.ones(3)),
        lambda x: x.t_(),
        lambda x: x.transpose_(0, 1),
        lambda x: x.squeeze_(),
        lambda x: x.unsqueeze_(0),
        lambda x: x.resize_(3, 3),
        lambda x: x.resize_as_(rg.ones(3, 3)),
        lambda x: x[0].add_(1),
    ],
)
def test_inp_1_every_write_counts(write):
    for mode in (rg.enable_grad, rg.no_grad, rg.inference_mode):
        x = rg.ones(2, 2)
        assert x._version == 0
        with mode():
            write(x)
        first = x._version
        assert first >= 1
    write(y := rg.ones(2, 2))
    assert y._version == first


def test_inp_1_what_does_not_count():
    x = rg.ones(2, 2)
    x.requires_grad_()
    x.requires_grad_(False)
    x.detach_()
    _ = x + 1, x[0], x.numpy(), x.tolist(), x.clone(), x.view(4)
    x.resize_(2, 2)
    assert x._version == 0


def test_inp_2_views_base_and_detached_share_one_counter():
    base = rg.ones(4)
    left, right, detached = base[:2], base[2:], base.detach()
    everyone = (base, left, right, detached, left.view(2, 1), detached[1:])
    for count, target in enumerate((left, right, base, detached), start=1):
        target.add_(1)
        assert [t._version for t in everyone] == [count] * len(everyone)
    assert base.clone()._version == 0 and base.data._version == 0
    base.data.add_(1)
    base.clone().add_(1)
    assert base._version == 4


def test_inp_2_a_write_to_one_half_invalidates_the_other():
    x, base = leaf([1.0, 2.0]), rg.ones(4)
    left, right = base[:2], base[2:]
    y = x * left
    right.add_(1)
    with fails(STALE):
        y.sum().backward()


def test_inp_3_writes_through_numpy_are_not_counted():
    x = rg.ones(2)
    x.numpy()[0] = 7
    assert x._version == 0 and x[0].item() == 7
    source = np.ones(2)
    y = rg.from_numpy(source)
    source[0] = 7
    assert y._version == 0 and y[0].item() == 7


def test_inp_3_increment_version():
    increment = rg.autograd.graph.increment_version
    x, y = rg.ones(2), rg.ones(2)
    increment(x)
    increment([x, y])
    assert (x._version, y._version) == (2, 1)
    w = leaf([1.0, 2.0])
    z = w * w
    increment(w)
    with fails(STALE):
        z.sum().backward()
    with rg.inference_mode():
        frozen = rg.ones(2)
    increment(frozen)
    same(frozen, [1.0, 1.0])


def test_inp_4_message_of_a_stale_save():
    x = leaf([1.0, 2.0])
    y = x.exp()
    z = (y * y).sum()
    y.add_(1)
    reads = (z.backward, lambda: z.grad_fn.next_functions[0][0]._saved_self)
    for read in reads:
        with fails(
            STALE,
            "[torch.FloatTensor [2]]",
            "which is output 0 of",
            "is at version 1; expected version 0 instead",
            "set_detect_anomaly",
        ):
            read()
    assert x.grad is None


def test_inp_4_message_without_a_producer():
    x, c = leaf([[1.0], [2.0]]), rg.ones(2, 3, dtype=rg.float64)
    y = x * c
    c.zero_()
    c.zero_()
    with fails(STALE, "[torch.DoubleTensor [2, 3]] is at version 2; expected version 0 instead"):
        y.sum().backward()


def test_inp_5_producer_named_in_the_message():
    x = leaf([1.0, 2.0])
    y = x.exp()
    z = y.sin()
    w = y.clone()
    y.add_(1)
    with fails(STALE, "which is output 0 of Add"):
        z.sum().backward(retain_graph=True)
    with fails(STALE, "which is output 0 of Exp"):
        w.sum().backward()


@pytest.mark.parametrize(
    ("write", "slope"),
    [
        (lambda y: y.pow_(3), lambda v: 3 * v**2),
        (lambda y: y.sin_(), np.cos),
        (lambda y: y.cos_(), lambda v: -np.sin(v)),
        (lambda y: y.log_(), lambda v: 1 / v),
        (lambda y: y.square_(), lambda v: 2 * v),
        (lambda y: y.exp_(), np.exp),
        (lambda y: y.sqrt_(), lambda v: 0.5 / np.sqrt(v)),
        (lambda y: y.tanh_(), lambda v: 1 - np.tanh(v) ** 2),
        (lambda y: y.sigmoid_(), lambda v: np.exp(-v) / (1 + np.exp(-v)) ** 2),
        (lambda y: y.relu_(), lambda v: 1 + 0 * v),
        (lambda y: y.abs_(), lambda v: 1 + 0 * v),
        (lambda y: y.div_(4), lambda v: 0.25 + 0 * v),
        (lambda y: y.clamp_(0.5, 1.5), lambda v: (v <= 1.5) * 1.0),
    ],
)
def test_inp_6_in_place_ops_save_what_they_need(write, slope):
    values = np.array([0.5, 1.25, 2.0])
    x = leaf(values, dtype=rg.float64)
    y = x + 0
    write(y)
    y.sum().backward()
    close(x.grad, slope(values), rtol=1e-12)


def test_inp_6_a_later_write_invalidates_a_saved_result():
    for write in (rg.Tensor.exp_, rg.Tensor.sigmoid_):
        y = write(leaf([1.0]) + 0)
        y.add_(1)
        with fails(STALE):
            y.backward()
    x = leaf([1.0])
    y = (x + 0).sin_()
    y.add_(1)  # the saved old self is a copy
    y.backward()
    close(x.grad, [np.cos(1.0)])


def test_inp_6_a_tensor_times_itself_in_place():
    y = leaf([3.0]) + 0
    y.mul_(y)
    with fails(STALE):
        y.backward()


def test_inp_7_unneeded_values_may_change():
    x = leaf([1.0, 2.0])
    y = x + 1
    y.add_(1)
    z = y * 3
    y.mul_(2)
    z.sum().backward()
    same(x.grad, [3.0, 3.0])


def test_inp_8_leaves_that_require_grad():
    x = leaf([1.0, 2.0])
    for write in (lambda: x.add_(1), lambda: x.zero_(), lambda: x.__setitem__(slice(None), 0.0)):
        with fails("leaf Variable that requires grad is being used in an in-place operation"):
            write()
    with fails("a leaf Variable that requires grad is being used in an in-place operation"):
        x.mul_(2)
    for view in (x[:1], x.view(2, 1), x.detach().requires_grad_()[:1]):
        with fails("a view of a leaf Variable that requires grad is being used in an in-place operation"):
            view.mul_(2)
    same(x, [1.0, 2.0])
    assert x._version == 0
    with rg.no_grad():
        x.mul_(2)
        x[:1].add_(1)
    same(x, [3.0, 4.0])
    assert x.is_leaf and x.requires_grad and x._version == 2


def test_inp_9_shape_and_dtype_of_the_result():
    x = rg.ones(2)
    with fails("doesn't match the broadcast shape"):
        x.add_(rg.ones(3, 2))
    with fails("doesn't match the broadcast shape"):
        rg.ones(1).mul_(x)
    with fails("can't be cast to the desired output type"):
        rg.ones(2, dtype=rg.int64).add_(x)
    with fails("can't be cast to the desired output type"):
        rg.ones(2, dtype=rg.int64).div_(2)
    with fails("can't be cast to the desired output type"):
        rg.ones(2, dtype=rg.bool).add_(rg.ones(2, dtype=rg.int64))
    same(x, [1.0, 1.0])
    assert x._version == 0
    same(x.add_(rg.tensor([1, 2])), [2.0, 3.0])
    same(x.add_(rg.ones(2, dtype=rg.float64)), [3.0, 4.0])
    assert x.dtype == rg.float32


def test_inp_10_overlapping_memory():
    wide = rg.ones(1).expand(3)
    for write in (lambda: wide.add_(1), lambda: wide.copy_(rg.ones(3)), lambda: rg.add(rg.ones(3), 1, out=wide)):
        with fails("more than one element of the written-to tensor refers to a single memory location"):
            write()
    line = rg.arange(4.0)
    for write in (lambda: line[1:].add_(line[:-1]), lambda: rg.add(line[:-1], 1, out=line[1:])):
        with fails("some elements of the input tensor and the written-to tensor"):
            write()
    same(line, [0.0, 1.0, 2.0, 3.0])
    line[:2].add_(line[2:])
    line.add_(line)
    same(line, [4.0, 8.0, 4.0, 6.0])


EVERY = {
    "add_": lambda x: x.add_(1),
    "copy_": lambda x: x.copy_(rg.ones(x.shape)),
    "fill_ with a tensor": lambda x: x.fill_(rg.tensor(1.0)),
    "x[:] = 1": lambda x: x.__setitem__(slice(None), 1),
    "uniform_": lambda x: x.uniform_(),
    "cumsum_": lambda x: x.cumsum_(0),
    "scatter_": lambda x: x.scatter_(0, rg.zeros(x.shape, dtype=rg.int64), 1.0),
    "scatter_add_": lambda x: x.scatter_add_(0, rg.zeros(x.shape, dtype=rg.int64), rg.ones(x.shape)),
    "index_add_": lambda x: x.index_add_(0, rg.tensor([0]), rg.ones(1, *x.shape[1:])),
    "index_copy_": lambda x: x.index_copy_(0, rg.tensor([0]), rg.ones(1, *x.shape[1:])),
    "out=": lambda x: rg.exp(rg.ones(x.shape), out=x),
}


@pytest.mark.parametrize("write", EVERY.values(), ids=EVERY)
def test_inp_10_most_ops_refuse_an_expanded_target(write):
    base = rg.zeros(2, 1)
    for x in (rg.zeros(1).expand(3), base.expand(2, 3)):
        with fails("more than one element of the written-to tensor refers to a single memory location"):
            write(x)
        assert x._version == 0
    same(base, [[0.0], [0.0]])
    # Overlaps without a stride of 0 are not looked for.
    write(rg.zeros(4).as_strided((2, 3), (1, 1)))


def test_inp_10_fills_take_an_expanded_target():
    def after(write):
        base = rg.ones(2, 1)
        write(base.expand(2, 3))
        assert base._version == 1
        return base

    same(after(lambda x: x.fill_(3)), [[3.0], [3.0]])
    same(after(lambda x: x.zero_()), [[0.0], [0.0]])
    same(after(lambda x: x.tril_()), [[0.0], [0.0]])
    with warns("Use of masked_fill_ on expanded tensors is deprecated"):
        mask = rg.tensor([[True, False, False], [False, False, False]])
        same(after(lambda x: x.masked_fill_(mask, 5)), [[5.0], [1.0]])
    with warns("Use of index_put_ on expanded tensors is deprecated"):
        same(after(lambda x: x.__setitem__(rg.tensor([1]), 5)), [[1.0], [5.0]])
    with warns("Use of index_fill_ on expanded tensors is deprecated"):
        same(after(lambda x: x.index_fill_(1, rg.tensor([0]), 5)), [[5.0], [5.0]])


def test_inp_10_sources_that_overlap_the_target():
    square = rg.arange(9.0).reshape(3, 3)
    strip = rg.arange(12.0)
    shifted = (strip[:9].view(3, 3), strip[3:].view(3, 3))
    every = rg.tensor([0, 1, 2])
    for target, source in ((square, square.T), shifted):
        for write in (
            lambda x, y: x.add_(y),
            lambda x, y: x.copy_(y),
            lambda x, y: x.index_copy_(0, every, y),
            lambda x, y: x.__setitem__(every, y),
        ):
            with fails("some elements of the input tensor and the written-to tensor refer to a single memory location"):
                write(target, source)
    for write in (lambda x: x.index_add_(0, every, x), lambda x: x.scatter_(0, every.expand(3, 3), x)):
        with fails("some elements of the input tensor and the written-to tensor"):
            write(square)
    same(square, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]])
    wide = rg.arange(16.0).reshape(4, 4)
    wide[:2, :2].copy_(wide[1:3, 1:3])
    same(wide[:2, :2], [[5.0, 6.0], [9.0, 10.0]])


def test_inp_11_the_same_object_comes_back():
    x = leaf([1.0, 2.0])
    y = x * 2
    old = y.grad_fn
    assert y.add_(x) is y
    assert y.grad_fn is not old and y.grad_fn.name() == "AddBackward0"
    assert y.grad_fn.next_functions[0][0] is old
    z = y
    z *= 3
    assert z is y and y.grad_fn.name() == "MulBackward0"
    y.sum().backward()
    same(x.grad, [9.0, 9.0])


def test_inp_12_overwritten_values_get_zero_gradient():
    source = leaf([5.0, 6.0], dtype=rg.float64)
    for write, to_source in (
        (lambda y: y.copy_(source), [3.0, 3.0]),
        (lambda y: y.zero_(), None),
        (lambda y: y.fill_(4), None),
    ):
        x = leaf([1.0, 2.0])
        y = x * 2
        write(y)
        (y * 3).sum().backward()
        same(x.grad, [0.0, 0.0])
        if to_source:
            same(source.grad, to_source)


def test_inp_12_copy_records_and_converts():
    source = leaf([1.5, 2.5], dtype=rg.float64)
    target = rg.zeros(2)
    target.copy_(source)
    assert target.dtype == rg.float32 and type(target.grad_fn).__name__ == "CopyBackwards"
    (target * rg.tensor([1.0, 10.0])).sum().backward()
    assert source.grad.dtype == rg.float64
    same(source.grad, [1.0, 10.0])
    wide = rg.zeros(3, 2)
    wide.copy_(source)
    (grad,) = rg.autograd.grad(wide.sum(), source)
    same(grad, [3.0, 3.0])
    whole = rg.zeros(2, dtype=rg.int64)
    whole.copy_(source)
    assert whole.requires_grad is False and whole.grad_fn is None
    same(whole, [1, 2])


def test_inp_13_resize_refuses_what_requires_grad():
    for x in (leaf([1.0, 2.0]), leaf([1.0, 2.0]) * 1):
        for resize in (lambda x: x.resize_(3), lambda x: x.resize_as_(rg.ones(3))):
            with fails("cannot resize variables that require grad"):
                resize(x)
        assert tuple(x.shape) == (2,)


def test_inp_14_plain_saved_tensors_are_checked_too():
    x, c = leaf([1.0, 2.0]), rg.ones(2)
    y = (x * c).sum()
    c.add_(1)
    with fails(STALE):
        y.backward()
    index = rg.tensor([1, 0])
    z = x.index_select(0, index).sum()
    index.zero_()
    with fails(STALE, "LongTensor"):
        z.backward()


def test_inp_9_complex_into_real():
    with fails("can't be cast to the desired output type"):
        rg.ones(2).add_(rg.ones(2, dtype=rg.complex64))


def test_inp_8_set_of_a_leaf():
    x = leaf([1.0, 2.0])
    with fails("a leaf Variable that requires grad is being used in an in-place operation"):
        x.set_(rg.zeros(2))
    same(x, [1.0, 2.0])
    with rg.no_grad():
        x.set_(rg.zeros(2))
    same(x, [0.0, 0.0])


OVERLAP = "some elements of the input tensor and the written-to tensor"


def square():
    return rg.arange(9.0).reshape(3, 3)


FIRST_ROW = rg.zeros(3, 3, dtype=rg.int64)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.t().sub_(x),
        lambda x: x.copy_(x.t()),
        lambda x: x.t().mul_(x),
        lambda x: x.add_(x[0]),
        lambda x: x.add_(x[0, 0]),
        lambda x: x[0:1].add_(x[0]),
        lambda x: x[0].copy_(x[0, 1]),
        lambda x: rg.mul(x, x.t(), out=x),
        lambda x: rg.exp(x.t(), out=x),
        lambda x: x.__setitem__(slice(None), x.t()),
        lambda x: x.__setitem__(slice(1, None), x[:2]),
        lambda x: x.add_(x[:1]),
        lambda x: x.scatter_(0, FIRST_ROW, x),
        lambda x: x.scatter_(0, FIRST_ROW, x.t()),
        lambda x: x.scatter_add_(0, FIRST_ROW, x),
        lambda x: x.__setitem__(rg.tensor([0, 1, 2]), x),
        lambda x: x.__setitem__(rg.tensor([0, 1]), x[1:]),
        lambda x: x.__setitem__(rg.tensor([0, 1]), x[1, 0]),
        lambda x: x.__setitem__(rg.tensor([True, True, False]), x[1]),
        lambda x: (y := x[:, 0]).__setitem__(rg.tensor([1, 1, 1]), y),
        lambda x: (y := rg.zeros(0)).__setitem__(rg.tensor([], dtype=rg.int64), y),
        lambda x: (i := FIRST_ROW.clone()).scatter_(0, i, 1),
        lambda x: (i := rg.arange(3)).__setitem__(i, 5),
    ],
)
def test_inp_10_dense_operands_that_overlap_otherwise_than_in_full_are_refused(write):
    x = square()
    with fails(OVERLAP):
        write(x)
    same(x, square())


@pytest.mark.parametrize(
    ("write", "row"),
    [
        (lambda x: x.__setitem__(None, x), [3.0, 4.0, 5.0]),
        (lambda x: x.__setitem__(..., x[None]), [3.0, 4.0, 5.0]),
        (lambda x: x.__setitem__(slice(1, 2), x[1]), [3.0, 4.0, 5.0]),
        (lambda x: x.__setitem__(slice(0, 2), x[0]), [0.0, 1.0, 2.0]),
        (lambda x: x.__setitem__(1, x[0, 1]), [1.0, 1.0, 1.0]),
        (lambda x: x.__setitem__(1, x[0, 1:2]), [1.0, 1.0, 1.0]),
        (lambda x: x.fill_(x[1, 1]), [4.0, 4.0, 4.0]),
        (lambda x: x.masked_fill_(x > 3, x[1, 2]), [3.0, 5.0, 5.0]),
        (lambda x: x.__setitem__(rg.tensor([False, True, False]), x[0, 2]), [2.0, 2.0, 2.0]),
        (lambda x: x.mul_(x), [9.0, 16.0, 25.0]),
    ],
)
def test_inp_10_harmless_overlaps_are_allowed(write, row):
    x = square()
    write(x)
    same(x[1], row)
    truth = rg.tensor([True, False])
    truth[truth] = False
    assert truth.tolist() == [False, False]


def test_inp_12_nodes_of_overwritten_values():
    for write, name, edges in (
        (lambda x: x.zero_(), "ZeroBackward0", 1),
        (lambda x: x.fill_(2), "FillBackward2", 1),
        (lambda x: x.fill_(rg.tensor(2.0)), "FillBackward3", 2),
        (lambda x: x.__setitem__(slice(None), 2), "FillBackward3", 2),
    ):
        x = leaf([1.0, 2.0])
        y = x * 1
        write(y)
        assert y.grad_fn.name() == name and len(y.grad_fn.next_functions) == edges
        y.sum().backward()
        same(x.grad, [0.0, 0.0])


def test_inp_9_an_operand_is_not_resized_as_out():
    for a, b, op in (
        (rg.ones(2, 3), rg.ones(3), rg.add),
        (rg.ones(2, 3), rg.ones(1), rg.maximum),
        (rg.ones(2, 3), rg.ones(3), rg.pow),
    ):
        with fails("doesn't match the broadcast shape"):
            op(a, b, out=b)
        assert b.numel() < 6 and b._version == 0


def test_inp_1_out_that_is_resized_keeps_its_memory():
    with pytest.warns(UserWarning, match="resized"):
        o = rg.zeros(2, 3)
        rg.exp(rg.zeros(1, 1), out=o.t())
        same(o, [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        o = rg.zeros(2, 3)
        row = o[1]
        rg.exp(rg.zeros(2), out=row)
        same(o, [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
        assert row.shape == (2,) and row._is_view() and row._version == o._version == 1
        rg.exp(rg.zeros(3, 1).t(), out=row)
        same(o[1], [1.0, 1.0, 1.0])
    empty = rg.zeros(0)
    rg.exp(rg.zeros(3, 2).t(), out=empty)
    assert empty.shape == (2, 3) and empty.stride() == (1, 2)


def test_inp_2_aliases_of_aliases_share_the_counter():
    x = leaf([1.0, 2.0, 3.0, 4.0]) * 1
    y, own = x.detach(), x.data
    shared, apart = [x, y, y.view_as(y), x.view_as(x), y.detach()[1:]], [own, own.view(2, 2), own.detach()]

    def versions(ts):
        return {t._version for t in ts}

    for n, writer in enumerate(shared, 1):
        with rg.no_grad():
            writer.add_(1)
        assert versions(shared) == {n} and versions(apart) == {0}
    for n, writer in enumerate(apart, 1):
        writer.add_(1)
        assert versions(shared) == {len(shared)} and versions(apart) == {n}


def test_inp_2_resize_in_place_keeps_the_counter_of_the_memory():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    square, alias = y * y, y.detach()
    alias.resize_(2)
    assert y._version == alias._version == 1
    alias.zero_()
    assert y._version == alias._version == 2
    with fails(STALE, "is at version 2; expected version 0"):
        square.sum().backward()
