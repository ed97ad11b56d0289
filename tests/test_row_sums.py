"""Rows that are added to a number: gradients of choices of rows, those of embeddings among them, written once."""

import numpy as np
import pytest


def chosen(rg, shape, dim, index, g, how):
    """The gradient of a choice of slices along `dim`, for the cotangent `g`."""
    x = rg.zeros(*shape, dtype=g.dtype, requires_grad=g.dtype.is_floating_point or g.dtype.is_complex)
    if how == "gather":
        sizes = [1] * len(shape)
        sizes[dim] = index.numel()
        y = x.gather(dim, index.reshape(sizes).expand(g.shape))
    elif how == "index_select":
        y = x.index_select(dim, index)
    else:
        y = x[(slice(None),) * dim + (index,)]
    (grad,) = rg.autograd.grad(y, [x], g)
    return grad


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16"])
@pytest.mark.parametrize("how", ["gather", "index_select", "subscript"])
@pytest.mark.parametrize(
    ("shape", "dim", "count"),
    [((600, 9), 0, 700), ((3, 70, 40), 1, 33), ((2, 5, 7, 64), 2, 20), ((41, 101), 0, 1), ((1000, 8), 0, 0)],
)
def test_gradients_of_chosen_rows(rg, shape, dim, count, how, dtype):
    random = np.random.default_rng(1)
    index = random.integers(0, shape[dim] // 2, count)
    sizes = (*shape[:dim], count, *shape[dim + 1 :])
    g = random.integers(-8, 8, sizes).astype("float64")  # sums are exact
    want = np.zeros(shape)
    np.add.at(want, (slice(None),) * dim + (index,), g)
    g = rg.tensor(g).to(getattr(rg, dtype))
    before = rg.get_num_threads()
    try:
        for number in (1, 2, 3):
            rg.set_num_threads(number)
            got = chosen(rg, shape, dim, rg.tensor(index), g, how)
            assert got.dtype == g.dtype and got.is_contiguous()
            np.testing.assert_array_equal(got.to(rg.complex128).numpy(), want)
    finally:
        rg.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    ("rows", "width", "count"), [(700, 40, 900), (5000, 16, 90), (3, 1, 50), (300, 33, 0), (2, 0, 4)]
)
@pytest.mark.parametrize("padding", [None, 1])
@pytest.mark.parametrize("by_freq", [False, True])
def test_gradients_of_embeddings(rg, rows, width, count, padding, by_freq, dtype):
    random = np.random.default_rng(2)
    index = random.integers(0, rows, (count // 2, 2))
    g = random.integers(-8, 8, (*index.shape, width)).astype("float64")
    want = np.zeros((rows, width))
    np.add.at(want, index, g)
    if by_freq:
        want /= np.maximum(np.bincount(index.reshape(-1), minlength=rows), 1)[:, None]
    if padding is not None:
        want[padding] = 0
        g[index == padding] = np.nan  # of which nothing comes into the gradient
    weight = rg.zeros(rows, width, dtype=getattr(rg, dtype), requires_grad=True)
    before = rg.get_num_threads()
    try:
        for number in (1, 2, 3):
            rg.set_num_threads(number)
            y = rg.nn.functional.embedding(rg.tensor(index), weight, padding, scale_grad_by_freq=by_freq)
            (got,) = rg.autograd.grad(y, weight, rg.tensor(g).to(y.dtype))
            rounding = 2**-8 if dtype == "bfloat16" else 1e-6
            np.testing.assert_allclose(
                got.to(rg.float64).numpy(), want, rtol=rounding if by_freq else 0, equal_nan=False
            )
    finally:
        rg.set_num_threads(before)


def test_numbers_to_add_to(rg):
    """Any number, of any dtype, and zeros with their signs; a tensor of several numbers is added to as ever."""
    index = rg.tensor([[3], [3], [0]]).expand(3, 1024)
    for base in (rg.tensor(2.5), rg.tensor(-0.0), rg.tensor(7), rg.tensor(float("inf"), dtype=rg.float64)):
        source = -rg.zeros(3, 1024).to(base.dtype)
        got = base.expand(4, 1024).scatter_add(0, index, source)
        whole = base.expand(4, 1024).clone().scatter_add(0, index, source)
        np.testing.assert_array_equal(got.numpy(), whole.numpy())
        np.testing.assert_array_equal(np.signbit(got.numpy()), np.signbit(whole.numpy()))
    row = rg.arange(1024.0).expand(4, 1024)
    np.testing.assert_array_equal(row.scatter_add(0, index, rg.ones(3, 1024))[3].numpy(), np.arange(1024.0) + 2)


def test_positions_that_there_are_not(rg):
    zeros, source = rg.zeros(()).expand(4, 1024), rg.ones(2, 1024)
    for wrong in (4, -1):
        with pytest.raises(RuntimeError, match="out of bounds for dimension 0 with size 4"):
            zeros.scatter_add(0, rg.tensor([[0], [wrong]]).expand(2, 1024), source)
    for wrong in (4, -5):
        with pytest.raises(IndexError, match="out of bounds for dimension 0 with size 4"):
            zeros.index_put((rg.tensor([0, wrong]),), source, accumulate=True)
    got = zeros.index_put((rg.tensor([-1, 3], dtype=rg.int32),), source, accumulate=True)
    assert got[3].eq(2).all() and got[:3].eq(0).all()
    with pytest.raises(IndexError, match="must be long, int, byte or bool"):
        zeros.index_put((rg.tensor([0.0, 1.0]),), source, accumulate=True)
    with pytest.raises(RuntimeError, match="source and destination dtypes match"):
        zeros.index_put((rg.tensor([0, 1]),), source.double(), accumulate=True)
    broadcast = zeros.index_put((rg.tensor([[0, 1], [1, 1]]),), rg.ones(1024), accumulate=True)
    assert broadcast[:, 5].tolist() == [1.0, 3.0, 0.0, 0.0]


def test_the_part_that_an_index_covers(rg):
    """Of an index with fewer columns than the tensor, the others stay."""
    got = rg.ones(()).expand(8, 1000).scatter_add(0, rg.tensor([[2], [2]]).expand(2, 600), rg.ones(2, 800))
    want = np.ones((8, 1000))
    want[2, :600] = 3
    np.testing.assert_array_equal(got.numpy(), want)
