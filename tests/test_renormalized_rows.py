"""Rows of a table that a lookup scales down to a largest norm, in place: `max_norm` of embedding and embedding_bag."""

import math

import numpy as np
import pytest

import retrograd as rg

F = rg.nn.functional
ROWS = [[3.0, 4.0], [0.3, 0.4], [6.0, -8.0], [0.0, 0.0], [1.0, -2.0]]


def table(dtype=rg.float64):
    return rg.tensor(ROWS, dtype=dtype)


def scaled(rows, max_norm, order):
    rows = np.array(ROWS)[rows]
    norms = np.linalg.norm(rows, order, axis=1, keepdims=True)
    return np.where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows)


@pytest.mark.parametrize("order", [2.0, 1.0, 3.0, math.inf, -math.inf, 0.0])
@pytest.mark.parametrize("max_norm", [1.0, 0.0, 4.5, math.inf])
def test_rows_that_are_looked_up(order, max_norm):
    w = table()
    y = F.embedding(rg.tensor([[2, 0], [0, 1]]), w, max_norm=max_norm, norm_type=order)
    want = np.array(ROWS)
    want[:3] = scaled([0, 1, 2], max_norm, order)
    np.testing.assert_allclose(w.numpy(), want, rtol=1e-12)
    np.testing.assert_array_equal(y.numpy(), w.numpy()[[[2, 0], [0, 1]]])


def test_float32_and_int32():
    w = table(rg.float32)
    y = F.embedding(rg.tensor([0], dtype=rg.int32), w, max_norm=1.0)
    assert y.dtype == rg.float32
    np.testing.assert_allclose(y.numpy(), [[0.6, 0.8]], rtol=1e-6)


def test_a_strided_table():
    w = table().t().contiguous().t()
    F.embedding(rg.tensor([2, 0]), w, max_norm=1.0)
    np.testing.assert_allclose(w.numpy()[[2, 0, 4]], [[0.6, -0.8], [0.6, 0.8], [1.0, -2.0]], rtol=1e-7)


@pytest.mark.parametrize("at", [[0, 2, 0], [3], []])
def test_it_is_a_write_whether_or_not_a_row_changes(at):
    w = table()
    F.embedding(rg.tensor(at, dtype=rg.int64), w, max_norm=1.0)
    assert w._version == 1


def test_gradients_are_those_of_the_rows_as_they_are_afterwards():
    w = table().requires_grad_()
    y = F.embedding(rg.tensor([0, 2, 0]), w, padding_idx=-3, max_norm=1.0, scale_grad_by_freq=True)
    assert y.grad_fn.name() == "EmbeddingBackward0"
    y.sum().backward()
    assert w.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    np.testing.assert_allclose(w.detach().numpy()[0], [0.6, 0.8], rtol=1e-7)


def test_what_kept_the_table_before_notices():
    w = table().requires_grad_() * 1.0
    y = w * w
    F.embedding(rg.tensor([0]), w, max_norm=1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_bags_do_the_same():
    w, v = table(), table().requires_grad_()
    want = F.embedding(rg.tensor([2, 0, 1]), w, max_norm=1.0, norm_type=1.0)
    got = F.embedding_bag(rg.tensor([[2, 0, 1]]), v, max_norm=1.0, norm_type=1.0, mode="max")
    assert got.tolist() == want.amax(0, keepdim=True).tolist() and v.tolist() == w.tolist()


def test_transforms():
    w = table()
    g = rg.func.grad(lambda w: F.embedding(rg.tensor([0, 1]), w, max_norm=1.0).sum())(w)
    assert g[:3].tolist() == [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    np.testing.assert_allclose(w.numpy()[0], [0.6, 0.8], rtol=1e-7)
    with rg.autograd.forward_ad.dual_level():
        dual = rg.autograd.forward_ad.make_dual(table(), rg.ones(5, 2, dtype=rg.float64))
        tangent = rg.autograd.forward_ad.unpack_dual(F.embedding(rg.tensor([0, 1]), dual, max_norm=1.0)).tangent
    assert tangent.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    several = rg.stack([table(), 2.0 * table()])
    y = rg.func.vmap(lambda w: F.embedding(rg.tensor([0, 1]), w, max_norm=1.0))(several)
    assert y.tolist() == several[:, :2].tolist()
    np.testing.assert_allclose(y.numpy()[:, 1], [[0.3, 0.4], [0.6, 0.8]], rtol=1e-6)
    with pytest.raises(RuntimeError, match="vmap"):
        rg.func.vmap(lambda i: F.embedding(i, w, max_norm=1.0))(rg.tensor([[0, 1], [2, 3]]))


def test_gradients_of_renormalized_rows_may_be_sparse():
    w = table().requires_grad_()
    F.embedding(rg.tensor([1, 1]), w, max_norm=1.0, sparse=True).sum().backward()
    assert w.grad.layout is rg.sparse_coo
    assert w.grad.to_dense()[1].tolist() == [2.0, 2.0]
    assert w.grad._nnz() == 2
