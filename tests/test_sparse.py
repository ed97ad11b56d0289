"""Sparse tensors: what they are, which ops take them, and what happens to sparse gradients."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

from records import STANDIN, rg
from records.bound import Bound
from records.record import OpRecord, Sample
from records.test_records import RECORDS

NATIVE = STANDIN == "retrograd"
ours = pytest.mark.skipif(not NATIVE, reason="this is retrograd's own")
INDICES = [[0, 1, 1], [2, 0, 2]]
PREFIX = "retrograd" if NATIVE else "torch"


def coo(values: Any = (3.0, 4.0, 5.0), **kwargs: Any) -> Any:
    """[[0, 0, 3], [4, 0, 5]], coalesced."""
    values = rg.tensor(values, dtype=rg.float64)
    x = rg.sparse_coo_tensor(rg.tensor(INDICES), values, (2, 3), is_coalesced=True)
    return x.requires_grad_() if kwargs.get("grad") else x


def csr(grad: bool = False) -> Any:
    values = rg.tensor([3.0, 4.0, 5.0], dtype=rg.float64)
    x = rg.sparse_csr_tensor(rg.tensor([0, 1, 3]), rg.tensor([2, 0, 2]), values, (2, 3))
    return x.requires_grad_() if grad else x


def numbers(*shape: int) -> Any:
    return rg.arange(1.0, 1 + int(np.prod(shape)), dtype=rg.float64).reshape(shape)


def parts(x: Any) -> tuple[Any, Any]:
    return x._indices().tolist(), x._values().tolist()


DENSE = [[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]]


# ---- what a sparse tensor is


def test_parts_of_a_sparse_tensor() -> None:
    x = coo()
    assert x.is_sparse and x.layout == rg.sparse_coo and not rg.ones(2).is_sparse and rg.ones(2).layout == rg.strided
    assert x.shape == (2, 3) and x.dtype == rg.float64 and x.dim() == 2 and x.numel() == 6
    assert (x.sparse_dim(), x.dense_dim(), x._nnz(), x.is_coalesced()) == (2, 0, 3, True)
    assert x.indices().tolist() == INDICES and x.values().tolist() == [3.0, 4.0, 5.0]
    assert x.to_dense().tolist() == DENSE
    assert not x.is_contiguous() and x.is_leaf and not x.requires_grad


def test_entries_of_one_place_add_up() -> None:
    x = rg.sparse_coo_tensor([[2, 0, 2]], [1.0, 2.0, 3.0], (4,))
    assert not x.is_coalesced() and x.to_dense().tolist() == [2.0, 0.0, 4.0, 0.0]
    for part in (x.indices, x.values):
        with pytest.raises(RuntimeError, match=r"on an uncoalesced tensor, please call .coalesce\(\) first"):
            part()
    y = x.coalesce()
    assert y.is_coalesced() and parts(y) == ([[0, 2]], [2.0, 4.0]) and y.coalesce() is y
    truth = rg.sparse_coo_tensor([[1, 1]], [True, True], (3,)).coalesce()
    assert truth.to_dense().tolist() == [False, True, False]


def test_axes_of_the_values() -> None:
    x = rg.sparse_coo_tensor(INDICES, numbers(3, 2), (2, 3, 2))
    assert (x.sparse_dim(), x.dense_dim()) == (2, 1)
    assert x.to_dense().tolist() == [[[0, 0], [0, 0], [1, 2]], [[3, 4], [0, 0], [5, 6]]]


def test_sizes_are_inferred() -> None:
    assert rg.sparse_coo_tensor(INDICES, [1.0, 2.0, 3.0]).shape == (2, 3)
    assert rg.sparse_coo_tensor(rg.zeros(1, 0, dtype=rg.int64), rg.zeros(0)).shape == (0,)
    assert rg.sparse_coo_tensor((2, 3))._nnz() == 0 and rg.sparse_coo_tensor((2, 3)).dtype == rg.float32
    assert rg.sparse_coo_tensor([[0, 1]], [1, 2], dtype=rg.float64).dtype == rg.float64
    number = rg.sparse_coo_tensor(rg.zeros(0, 1, dtype=rg.int64), rg.ones(1))
    assert number.shape == () and number.to_dense().item() == 1.0


@pytest.mark.parametrize(
    "args, says",
    [
        (([[0, 1], [1, -1]], [1.0, 2.0]), "found negative index -1 for dim 1"),
        (([[0, 1], [1, 1]], [1.0, 2.0, 3.0], (2, 2)), "indices and values must have same nnz, but got nnz from"),
        (([[0, 1], [1, 1]], [1.0, 2.0], (2, 2, 2)), r"'len\(size\) == sparse_dim \+ dense_dim' is not satisfied"),
        (([[0, 1], [1, 1]], [[1.0], [2.0]], (2, 2, 2)), r"values has incorrect size, expected \[2, 2\], got \[2, 1\]"),
        (([[0, 1]], 3.0), "must have same nnz, but got nnz from indices: 2, nnz from values: 1"),
    ],
)
def test_parts_that_do_not_fit(args: Any, says: str) -> None:
    with pytest.raises(RuntimeError, match=says):
        rg.sparse_coo_tensor(*args)


def test_invariants() -> None:
    says = "size is inconsistent with indices: for dim 1, size is 2 but found index 5"
    with pytest.raises(RuntimeError, match=says):
        rg.sparse_coo_tensor([[0, 1], [1, 5]], [1.0, 2.0], (2, 2), check_invariants=True)
    with pytest.raises(RuntimeError, match="cannot set is_coalesced to true if indices correspond to uncoalesced"):
        rg.sparse_coo_tensor([[1, 0]], [1.0, 2.0], (2,), is_coalesced=True, check_invariants=True)


@ours
def test_indices_are_within_the_sizes_whatever_happens() -> None:
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        rg.sparse_coo_tensor([[0, 1], [1, 5]], [1.0, 2.0], (2, 2))
    x = coo()
    x._indices()[0, 0] = 1000
    for use in (lambda: x.to_dense(), lambda: x @ numbers(3, 2), lambda: x * numbers(2, 3), lambda: numbers(2, 3) + x):
        with pytest.raises(RuntimeError, match="found index 1000"):
            use()


def test_conversions() -> None:
    x = rg.tensor(DENSE)
    assert parts(x.to_sparse()) == (INDICES, [3.0, 4.0, 5.0]) and x.to_sparse().is_coalesced()
    assert parts(x.to_sparse(1)) == ([[0, 1]], DENSE)
    assert x.to_sparse(layout=rg.sparse_csr).layout == rg.sparse_csr
    assert x.to_dense() is x and coo().to_sparse()._nnz() == 3
    with pytest.raises(RuntimeError, match=r"sparse_dim argument must be in \[0,2\] range, but 3 is given"):
        x.to_sparse(3)
    with pytest.raises(RuntimeError, match=r"sparse_dim argument must be in >0 when self\.dim"):
        x.to_sparse(0)
    assert parts(rg.tensor(DENSE).sparse_mask(coo([1.0, 1.0, 1.0]))) == (INDICES, [3.0, 4.0, 5.0])
    assert coo().to(rg.float32).dtype == rg.float32 and coo().float()._values().dtype == rg.float32


@pytest.mark.parametrize("name", ["coalesce", "is_coalesced", "indices"])
def test_dense_tensors_have_no_entries(name: str) -> None:
    with pytest.raises(RuntimeError, match=f"{name} expected sparse coordinate tensor layout but got Strided"):
        getattr(rg.ones(2), name)()
    with pytest.raises(RuntimeError, match="values expected sparse tensor layout but got Strided"):
        rg.ones(2).values()
    with pytest.raises(NotImplementedError, match="Could not run 'aten::_nnz' with arguments from the 'CPU' backend"):
        rg.ones(2)._nnz()


def test_printing() -> None:
    assert repr(coo().detach()) == (
        "tensor(indices=tensor([[0, 1, 1],\n"
        "                       [2, 0, 2]]),\n"
        "       values=tensor([3., 4., 5.]),\n"
        f"       size=(2, 3), nnz=3, dtype={PREFIX}.float64, layout={PREFIX}.sparse_coo)"
    )
    x = rg.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,), requires_grad=True)
    assert repr(x).startswith(
        "tensor(indices=tensor([[0, 1]]),\n       values=tensor([1., 2.]),\n       size=(2,), nnz="
    )
    assert repr(x).endswith("requires_grad=True)") and repr(x * 2).endswith("grad_fn=<MulBackward0>)")
    assert repr(rg.sparse_coo_tensor((2, 3))) == (
        "tensor(indices=tensor([], size=(2, 0)),\n"
        "       values=tensor([], size=(0,)),\n"
        f"       size=(2, 3), nnz=0, layout={PREFIX}.sparse_coo)"
    )
    assert repr(csr()).startswith(
        "tensor(crow_indices=tensor([0, 1, 3]),\n"
        "       col_indices=tensor([2, 0, 2]),\n"
        "       values=tensor([3., 4., 5.]), size=(2, 3), nnz=3"
    )


@ours
def test_files_and_copies() -> None:
    for x in (coo(grad=True), csr(grad=True), rg.sparse_coo_tensor([[1, 1]], [1.0, 2.0], (3,))):
        file = io.BytesIO()
        rg.save({"x": x, "again": x}, file)
        file.seek(0)
        loaded = rg.load(file)
        assert loaded["x"] is loaded["again"]
        for y in (loaded["x"], pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
            assert y is not x and y.layout == x.layout and y.requires_grad == x.requires_grad
            assert repr(y) == repr(x) and y.to_dense().tolist() == x.to_dense().tolist()
            assert x.layout == rg.sparse_csr or y.is_coalesced() == x.is_coalesced()
    x = coo(grad=True)
    rg.sparse.sum(x).backward()
    assert copy.deepcopy(x).grad.to_dense().tolist() == x.grad.to_dense().tolist()


# ---- what takes them


def test_arithmetic() -> None:
    x, y = coo(), rg.sparse_coo_tensor([[0, 1], [1, 2]], rg.tensor([1.0, 10.0], dtype=rg.float64), (2, 3)).coalesce()
    dense = rg.tensor(DENSE, dtype=rg.float64)
    for got, want in (
        (x * 2, dense * 2),
        (2 * x, dense * 2),
        (x / 2, dense / 2),
        (-x, -dense),
        (x + x, dense * 2),
        (x + y, dense + y.to_dense()),
        (x - y, dense - y.to_dense()),
        (rg.add(x, y, alpha=3), dense + 3 * y.to_dense()),
        (x * y, dense * y.to_dense()),
        (x * numbers(2, 3), dense * numbers(2, 3)),
        (numbers(3) * x, dense * numbers(3)),
        (x.t(), dense.t()),
        (x.transpose(0, 1), dense.t()),
        (x.clone(), dense),
        (x.detach(), dense),
        (x.sin(), dense.sin()),
        (x.abs(), dense),
    ):
        assert got.is_sparse and got.to_dense().tolist() == want.tolist()
    assert (numbers(2, 3) + x).tolist() == (numbers(2, 3) + dense).tolist() and not (numbers(2, 3) + x).is_sparse
    assert x.sum().item() == 12.0
    z = x.clone()
    z += x
    z *= 2
    assert z.to_dense().tolist() == (dense * 4).tolist() and x.to_dense().tolist() == DENSE
    assert z.zero_() is z and z._nnz() == 0 and z.to_dense().tolist() == [[0.0] * 3] * 2
    dense += x
    assert dense.tolist() == [[0.0, 0.0, 6.0], [8.0, 0.0, 10.0]]
    with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported. Use add\(dense, sparse\) instead"):
        x + dense
    with pytest.raises(RuntimeError, match=r"Sparse division requires a scalar or zero-dim dense tensor divisor"):
        x / dense


def test_zeros_like() -> None:
    x = rg.zeros_like(coo())
    assert x.is_sparse and x._nnz() == 0 and x.shape == (2, 3) and x.dtype == rg.float64


def test_many_entries_of_many_places() -> None:
    generator = np.random.default_rng(0)
    indices, values = generator.integers(0, 20, (2, 500)), generator.standard_normal((500, 2))
    want = np.zeros((20, 20, 2))
    np.add.at(want, tuple(indices), values)
    x = rg.sparse_coo_tensor(rg.tensor(indices), rg.tensor(values), (20, 20, 2))
    np.testing.assert_allclose(x.to_dense().numpy(), want, rtol=1e-12)
    np.testing.assert_allclose(x.coalesce().to_dense().numpy(), want, rtol=1e-12)
    np.testing.assert_allclose((x + x.coalesce()).to_dense().numpy(), 2 * want, rtol=1e-12)
    assert x.coalesce()._nnz() == len({*zip(*indices.tolist(), strict=True)})


@pytest.mark.parametrize("make", [coo, csr])
def test_products(make: Any) -> None:
    dense, b, v = rg.tensor(DENSE, dtype=rg.float64), numbers(3, 2), numbers(3)
    for got in (make() @ b, make().mm(b), rg.mm(make(), b), rg.sparse.mm(make(), b)):
        assert got.tolist() == (dense @ b).tolist() and not got.is_sparse
    assert rg.addmm(numbers(2, 2), make(), b, beta=2, alpha=3).tolist() == [[47.0, 58.0], [93.0, 122.0]]
    assert rg.sparse.addmm(numbers(2, 2), make(), b, beta=2, alpha=3).tolist() == [[47.0, 58.0], [93.0, 122.0]]
    if make is coo:
        assert (make() @ v).tolist() == (dense @ v).tolist()
        assert (numbers(2, 2) @ make()).tolist() == (numbers(2, 2) @ dense).tolist()
        product = rg.sparse.mm(make(), numbers(3, 2).to_sparse())
        assert product.is_sparse and product.to_dense().tolist() == (dense @ b).tolist()
    with pytest.raises(RuntimeError):
        make() @ numbers(2, 2)


def leaf_grad(f: Any, x: Any) -> Any:
    y = f(x)
    y = y if not y.is_sparse and y.layout == rg.strided else y.to_dense()
    (g,) = rg.autograd.grad(y, x, numbers(*y.shape))
    return g


@pytest.mark.parametrize(
    "f, node, layout",
    [
        (lambda x: x.values(), "ValuesBackward0", "sparse_coo"),
        (lambda x: x.to_dense(), "ToDenseBackward0", "sparse_coo"),
        (lambda x: x.to_dense(masked_grad=False), "ToDenseBackward0", "sparse_coo"),
        (lambda x: -x, "NegBackward0", "sparse_coo"),
        (lambda x: x.clone(), "CloneBackward0", "sparse_coo"),
        (lambda x: x * 2, "MulBackward0", "sparse_coo"),
        (lambda x: x / 2, "DivBackward0", "sparse_coo"),
        (lambda x: x * x, "MulBackward0", "sparse_coo"),
        (lambda x: x * numbers(2, 3), "MulBackward0", "sparse_coo"),
        (lambda x: x + x.detach(), "AddBackward0", "sparse_coo"),
        (lambda x: x.detach() - x, "SubBackward0", "sparse_coo"),
        (lambda x: numbers(2, 3) + x, "AddBackward0", "strided"),
        (lambda x: x @ numbers(3, 2), "MmBackward0", "strided"),
        (lambda x: rg.mv(x, numbers(3)), "MvBackward0", "strided"),
        (lambda x: rg.addmm(numbers(2, 2), x, numbers(3, 2)), "AddmmBackward0", "strided"),
        (lambda x: rg.sparse.mm(x, numbers(3, 2)), "SparseAddmmBackward0", "sparse_coo"),
        (lambda x: rg.sparse.mm(x, numbers(3, 2).to_sparse()), "SparseSparseMatmulBackward0", "sparse_coo"),
        (lambda x: rg.sparse.addmm(numbers(2, 2), x, numbers(3, 2)), "SparseAddmmBackward0", "sparse_coo"),
        (lambda x: x.sum(), "SumBackward0", "strided"),
        (lambda x: rg.sparse.sum(x), "SumBackward0", "sparse_coo"),
        (lambda x: rg.sparse.sum(x, 0), "SparseSumBackward0", "sparse_coo"),
        (lambda x: rg.sparse.softmax(x, 1), "SparseSoftmaxBackward0", "sparse_coo"),
        (lambda x: rg.sparse.log_softmax(x, 1), "SparseLogSoftmaxBackward0", "sparse_coo"),
        (lambda x: x.t(), "TBackward0", "sparse_coo"),
        (lambda x: x.transpose(0, 1), "TransposeBackward0", "sparse_coo"),
        (lambda x: x.to(rg.float32), "ToCopyBackward0", "sparse_coo"),
    ],
)
def test_nodes_and_layouts_of_gradients(f: Any, node: str, layout: str) -> None:
    x = coo(grad=True)
    y = f(x)
    assert y.grad_fn.name() == node
    g = leaf_grad(f, x)
    assert g.layout == getattr(rg, layout) and g.shape == (2, 3) and g.dtype == rg.float64


def test_gradients_of_parts() -> None:
    v = rg.tensor([3.0, 4.0, 5.0], dtype=rg.float64, requires_grad=True)
    y = rg.sparse_coo_tensor(INDICES, v, (2, 3))
    assert y.grad_fn.name() == "SparseCooTensorWithDimsAndTensorsBackward0"
    assert rg.autograd.grad(y.to_dense(), v, numbers(2, 3))[0].tolist() == [3.0, 4.0, 6.0]
    y = rg.sparse_coo_tensor([[1, 1]], v[:2], (3,)).coalesce()
    assert y.grad_fn.name() == "CoalesceBackward0"
    assert rg.autograd.grad(y.to_dense(), v, numbers(3))[0].tolist() == [2.0, 2.0, 0.0]
    x = rg.tensor(DENSE, requires_grad=True)
    assert x.to_sparse().grad_fn.name() == "ToSparseBackward1" and x.to_sparse(1).grad_fn.name() == "ToSparseBackward0"
    (g,) = rg.autograd.grad(x.to_sparse().to_dense(), x, rg.ones(2, 3))
    assert g.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    (g,) = rg.autograd.grad(x.sparse_mask(coo()).to_dense(), x, rg.ones(2, 3))
    assert not g.is_sparse and g.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    x = coo(grad=True)
    assert parts(leaf_grad(lambda x: x.to_dense(), x)) == (INDICES, [3.0, 4.0, 6.0])
    assert leaf_grad(lambda x: x.to_dense(masked_grad=False), x)._nnz() == 6
    assert parts(leaf_grad(lambda x: rg.sparse.mm(x, numbers(3, 2)), x)) == (INDICES, [17.0, 11.0, 39.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.to_dense(),
        pytest.param(lambda x: rg.sparse.mm(x, numbers(3, 2)), marks=ours),
        lambda x: rg.sparse.sum(x, 0).to_dense(),
        lambda x: rg.sparse.sum(x, (0, 1)),
        pytest.param(lambda x: x @ numbers(3, 2), marks=ours),
        lambda x: (x * numbers(2, 3)).to_dense(),
    ],
)
def test_entries_of_one_place_get_the_gradient_of_their_sum(f: Any) -> None:
    v = rg.tensor([3.0, 4.0, 5.0], dtype=rg.float64, requires_grad=True)
    assert rg.autograd.gradcheck(lambda v: f(rg.sparse_coo_tensor([[0, 1, 0], [2, 0, 2]], v, (2, 3))), v)


# ---- gradients of embeddings


def embedded(w: Any, **kwargs: Any) -> Any:
    return rg.nn.functional.embedding(rg.tensor([[1, 0], [1, 2]]), w, sparse=True, **kwargs)


def test_embedding_gives_a_sparse_gradient() -> None:
    w = numbers(3, 2).requires_grad_()
    (g,) = rg.autograd.grad(embedded(w), w, numbers(2, 2, 2))
    assert g.is_sparse and not g.is_coalesced() and g.shape == (3, 2) and embedded(w).grad_fn._saved_sparse is True
    assert parts(g) == ([[1, 0, 1, 2]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    (g,) = rg.autograd.grad(embedded(w, padding_idx=0), w, numbers(2, 2, 2))
    assert parts(g) == ([[1, 1, 2]], [[1.0, 2.0], [5.0, 6.0], [7.0, 8.0]])
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse gradients"):
        embedded(w, scale_grad_by_freq=True).sum().backward()


@pytest.mark.parametrize("mode, factor", [("sum", 1.0), ("mean", 0.5)])
def test_embedding_bag_gives_a_sparse_gradient(mode: str, factor: float) -> None:
    w, i = numbers(3, 2).requires_grad_(), rg.tensor([[1, 0], [1, 2]])
    y = rg.nn.functional.embedding_bag(i, w, sparse=True, mode=mode)
    (g,) = rg.autograd.grad(y, w, numbers(2, 2))
    want = [[factor * v for v in row] for row in ([1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [3.0, 4.0])]
    assert g.is_sparse and parts(g) == ([[1, 0, 1, 2]], want)
    with pytest.raises(ValueError, match="max mode does not support sparse weights"):
        rg.nn.functional.embedding_bag(i, w, sparse=True, mode="max")
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse gradients"):
        rg.nn.functional.embedding_bag(i, w, sparse=True, mode=mode, scale_grad_by_freq=True).sum().backward()


def test_gradients_that_a_leaf_accumulates() -> None:
    w, i = numbers(3, 2).requires_grad_(), rg.tensor([1, 0, 1])
    sparse = lambda: rg.nn.functional.embedding(i, w, sparse=True).sum()  # noqa: E731
    dense = lambda: (w * 2).sum()  # noqa: E731
    once, twos = [[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]], [[2.0, 2.0]] * 3
    total = lambda *terms: np.sum(terms, 0).tolist()  # noqa: E731
    sparse().backward()
    first = w.grad
    assert first.is_sparse and parts(first) == ([[1, 0, 1]], [[1.0, 1.0]] * 3)
    # sparse and sparse: in place
    sparse().backward()
    assert w.grad is first and first.is_sparse and first._nnz() == 6 and first._version == 1
    assert first.to_dense().tolist() == total(once, once)
    # sparse and dense: another tensor, dense
    dense().backward()
    second = w.grad
    assert second is not first and not second.is_sparse and second.tolist() == total(once, once, twos)
    # dense and sparse: in place
    sparse().backward()
    assert w.grad is second and second.tolist() == total(once, once, once, twos)
    for roots, layout, want in (
        ([sparse(), dense()], rg.strided, total(once, twos)),
        ([dense(), sparse()], rg.strided, total(once, twos)),
        ([sparse(), sparse()], rg.sparse_coo, total(once, once)),
    ):
        w.grad = None
        (roots[0] + roots[1]).backward()
        assert w.grad.layout == layout and w.grad.to_dense().tolist() == want


@pytest.mark.filterwarnings("ignore:Using backward\\(\\) with create_graph")
def test_sparse_gradients_with_a_graph() -> None:
    w, i = numbers(3, 2).requires_grad_(), rg.tensor([1, 0, 1])
    squares = lambda: rg.nn.functional.embedding(i, w, sparse=True).square().sum()  # noqa: E731
    squares().backward(create_graph=True)
    assert w.grad.is_sparse and w.grad.requires_grad
    (g,) = rg.autograd.grad(w.grad.to_dense().sum(), w)
    assert g.to_dense().tolist() == [[2.0, 2.0], [4.0, 4.0], [0.0, 0.0]]
    old = w.grad
    squares().backward(create_graph=True)
    assert w.grad is not old and w.grad.is_sparse
    w.grad = None


def test_hooks_see_sparse_gradients() -> None:
    w, seen = numbers(3, 2).requires_grad_(), []
    w.register_hook(seen.append)
    w.register_hook(lambda g: g * 2)
    w.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad))
    rg.nn.functional.embedding(rg.tensor([1]), w, sparse=True).sum().backward()
    assert [g.is_sparse for g in seen] == [True, True] and w.grad.to_dense().tolist() == [[0, 0], [2, 2], [0, 0]]


def test_custom_functions_of_sparse_tensors() -> None:
    class Twice(rg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            assert g.is_sparse and ctx.saved_tensors[0].is_sparse
            return g * 2

    x = coo(grad=True)
    rg.sparse.sum(Twice.apply(x)).backward()
    assert parts(x.grad) == (INDICES, [2.0, 2.0, 2.0])


# ---- checks of gradients


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.to_dense(),
        lambda x: (x * x).to_dense(),
        lambda x: rg.sparse.mm(x, numbers(3, 2)),
        pytest.param(lambda x: x @ numbers(3, 2), marks=ours),
        lambda x: rg.sparse.sum(x * x),
        lambda x: rg.sparse.sum(x * x, 0).to_dense(),
        lambda x: rg.sparse.softmax(x, 1).to_dense(),
        lambda x: rg.sparse.log_softmax(x, 1).to_dense(),
        lambda x: rg.sparse.addmm(numbers(2, 2), x, numbers(3, 2), beta=2, alpha=3),
    ],
)
def test_gradcheck_of_the_entries(f: Any) -> None:
    x = coo([0.3, 0.4, -0.5], grad=True)
    assert rg.autograd.gradcheck(f, x, masked=True)
    if NATIVE:
        assert rg.autograd.gradgradcheck(f, x, masked=True)


def test_gradcheck_of_all_elements() -> None:
    x = coo(grad=True)
    assert rg.autograd.gradcheck(lambda x: x.to_dense(masked_grad=False), x)
    for f in (lambda x: x.to_dense(), lambda x: rg.sparse.mm(x, numbers(3, 2))):
        with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
            rg.autograd.gradcheck(f, x)
    with pytest.raises(ValueError, match="Sparse output is not supported at gradcheck yet"):
        rg.autograd.gradcheck(lambda x: x * 2, x, masked=True)
    with pytest.raises(TypeError, match="check_sparse_nnz"):
        rg.autograd.gradcheck(lambda x: x.to_dense(), x, check_sparse_nnz=True)


@pytest.mark.skipif(not NATIVE, reason="torch has no forward mode for these")
def test_forward_mode() -> None:
    with rg.autograd.forward_ad.dual_level():
        values = rg.autograd.forward_ad.make_dual(numbers(3), rg.ones(3, dtype=rg.float64))
        x = rg.sparse_coo_tensor(INDICES, values, (2, 3))
        y = rg.sparse.mm(x, numbers(3, 2))
        _, tangent = rg.autograd.forward_ad.unpack_dual(y)
        assert tangent.tolist() == [[5.0, 6.0], [6.0, 8.0]]


# ---- by rows


def test_csr_parts() -> None:
    x = csr()
    assert x.layout == rg.sparse_csr and not x.is_sparse and x.is_sparse_csr and x._nnz() == 3
    assert (x.crow_indices().tolist(), x.col_indices().tolist()) == ([0, 1, 3], [2, 0, 2])
    assert x.values().tolist() == [3.0, 4.0, 5.0] and x.to_dense().tolist() == DENSE
    assert parts(x.to_sparse()) == (INDICES, [3.0, 4.0, 5.0]) and (x.sparse_dim(), x.dense_dim()) == (2, 0)
    y = rg.tensor(DENSE).to_sparse_csr()
    assert y.crow_indices().tolist() == [0, 1, 3] and y.col_indices().tolist() == [2, 0, 2]
    assert coo().to_sparse_csr().values().tolist() == [3.0, 4.0, 5.0] and y.to_sparse_csr() is y
    assert rg.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3.0, 4.0, 5.0]).shape == (2, 3)
    assert (x + x).values().tolist() == [6.0, 8.0, 10.0] and (x + x).layout == rg.sparse_csr
    assert (x * 2).values().tolist() == [6.0, 8.0, 10.0] and (-x).layout == rg.sparse_csr
    with pytest.raises(RuntimeError, match="crow_indices expected sparse row compressed tensor layout but got Sparse"):
        coo().crow_indices()
    with pytest.raises(RuntimeError, match="expected sparse coordinate tensor layout but got SparseCsr"):
        x.is_coalesced()


@pytest.mark.parametrize(
    "crow, col, says",
    [
        ([0, 1, 2], [2, 0, 2], "`crow_indices[..., -1] == nnz` is not satisfied."),
        ([1, 1, 3], [2, 0, 2], "`crow_indices[..., 0] == 0` is not satisfied."),
        ([0, 1, 3], [2, 0, 7], "`0 <= col_indices < ncols` is not satisfied."),
        ([0, 1, 3], [2, 2, 2], "are sorted and distinct along the last dimension values` is not satisfied."),
        ([0, 1, 3], [2, 0], "col_indices.shape[-1] must be equal to nnz (=3) as defined by values.shape[0], but got 2"),
        ([0, 3], [2, 0, 2], "crow_indices.shape[-1] must be equal to the number of rows + 1 (=3), but got 2"),
    ],
)
def test_csr_invariants(crow: Any, col: Any, says: str) -> None:
    with pytest.raises(RuntimeError) as e:
        rg.sparse_csr_tensor(crow, col, [3.0, 4.0, 5.0], (2, 3), check_invariants=True)
    assert says in str(e.value)


def test_csr_gradients() -> None:
    values = rg.tensor([3.0, 4.0, 5.0], dtype=rg.float64, requires_grad=True)
    y = rg.sparse_csr_tensor(rg.tensor([0, 1, 3]), rg.tensor([2, 0, 2]), values, (2, 3))
    assert y.grad_fn.name() == "SparseCompressedTensorBackward0"
    assert rg.autograd.grad(y.to_dense(), values, numbers(2, 3))[0].tolist() == [3.0, 4.0, 6.0]
    for f, node in (
        (lambda x: x.values(), "ValuesBackward0"),
        (lambda x: x.to_dense(), "ToDenseBackward0"),
        (lambda x: rg.sparse.mm(x, numbers(3, 2)), "SparseAddmmBackward0"),
        (lambda x: rg.sparse.mm(x, numbers(3, 2), "sum"), "SparseMmReduceImplBackward0"),
    ):
        x = csr(grad=True)
        y = f(x)
        assert y.grad_fn.name() == node
        (g,) = rg.autograd.grad(y, x, rg.ones_like(y))
        assert g.layout == rg.sparse_csr
    x = numbers(2, 3).requires_grad_()
    assert x.to_sparse_csr().grad_fn.name() == "ToSparseCsrBackward0"


@pytest.mark.parametrize(
    "reduce, want, of_values, of_other",
    [
        ("sum", [[15, 18], [29, 38]], [11, 3, 11], [[4, 4], [0, 0], [8, 8]]),
        ("mean", [[15, 18], [14.5, 19]], [11, 1.5, 5.5], [[2, 2], [0, 0], [5.5, 5.5]]),
        ("amax", [[15, 18], [25, 30]], [11, 0, 11], [[0, 0], [0, 0], [8, 8]]),
        ("amin", [[15, 18], [4, 8]], [11, 3, 0], [[4, 4], [0, 0], [3, 3]]),
    ],
)
def test_mm_with_a_reduction(reduce: str, want: Any, of_values: Any, of_other: Any) -> None:
    x, other = csr(grad=True), numbers(3, 2).requires_grad_()
    y = rg.sparse.mm(x, other, reduce)
    assert y.tolist() == want
    gx, go = rg.autograd.grad(y.sum(), (x, other))
    assert gx.values().tolist() == of_values and go.tolist() == of_other
    with pytest.raises(RuntimeError, match="reduce argument must be either sum, prod, mean, amax or amin, got foo"):
        rg.sparse.mm(x, other, "foo")
    with pytest.raises(NotImplementedError, match="with arguments from the 'SparseCPU' backend"):
        rg.sparse.mm(coo(), other, reduce)


def test_sampled_addmm() -> None:
    x, a, b = csr(grad=True), numbers(2, 4).requires_grad_(), numbers(4, 3).requires_grad_()
    y = rg.sparse.sampled_addmm(x, a, b, beta=2, alpha=3)
    assert y.grad_fn.name() == "SparseSampledAddmmBackward0" and y.values().tolist() == [276.0, 482.0, 640.0]
    gx, ga, gb = rg.autograd.grad(y.to_dense().sum(), (x, a, b))
    assert gx.values().tolist() == [2.0, 2.0, 2.0]
    assert ga.tolist() == [[9.0, 18.0, 27.0, 36.0], [12.0, 30.0, 48.0, 66.0]]
    assert gb.tolist() == [[15.0, 0.0, 18.0], [18.0, 0.0, 24.0], [21.0, 0.0, 30.0], [24.0, 0.0, 36.0]]
    with pytest.raises(NotImplementedError, match="sampled_addmm' with arguments from the 'SparseCPU'"):
        rg.sparse.sampled_addmm(coo(), a, b)


# ---- everything else refuses

NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"


@ours
@pytest.mark.parametrize(
    "use, error, says",
    [
        (lambda x: x.exp(), NotImplementedError, "aten::exp' with arguments from the 'SparseCPU' backend"),
        (lambda x: x == x, NotImplementedError, "aten::eq' with arguments from the 'SparseCPU' backend"),
        (lambda x: x.max(), NotImplementedError, "from the 'SparseCPU' backend"),
        (lambda x: x.contiguous(), RuntimeError, "unsupported memory format option Contiguous"),
        (lambda x: x.view(6), NotImplementedError, "from the 'SparseCPU' backend"),
        (lambda x: x[0], NotImplementedError, "from the 'SparseCPU' backend"),
        (lambda x: x[0:1], NotImplementedError, "from the 'SparseCPU' backend"),
        (lambda x: x.fill_(1.0), NotImplementedError, "from the 'SparseCPU' backend"),
        (lambda x: x.resize_(2), NotImplementedError, "from the 'SparseCPU' backend"),
        (lambda x: x.numpy(), TypeError, "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense"),
        (lambda x: x.tolist(), NotImplementedError, NO_STORAGE),
        (lambda x: x.data_ptr(), NotImplementedError, NO_STORAGE),
        (lambda x: x.__dlpack__(), NotImplementedError, NO_STORAGE),
        (lambda x: memoryview(x), BufferError, NO_STORAGE),
        (lambda x: rg.func.vmap(lambda x: x * 2)(x), NotImplementedError, "from the 'SparseCPU' backend"),
        (lambda x: rg.add(x, x, out=rg.zeros(2, 3, dtype=rg.float64)), NotImplementedError, "SparseCPU"),
        (lambda x: rg.zeros(2, layout=rg.sparse_coo), NotImplementedError, "use sparse_coo_tensor"),
    ],
)
def test_refusals(use: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as e:
        use(coo())
    assert says in str(e.value)


def _sparse_twin(x: Any) -> Any:
    return x.detach().to_sparse() if x.ndim and x.numel() else x


@ours
@pytest.mark.parametrize("record", [pytest.param(r, id=r.name) for r in RECORDS if r.call is None])
def test_no_op_reads_a_sparse_tensor_as_memory(record: OpRecord) -> None:
    """Given a sparse tensor in place of a dense one, an op refuses, or gives what it gives for the dense one."""
    for sample in record.samples[:4]:
        _check_sparse_operand(record, sample)


def _check_sparse_operand(record: OpRecord, sample: Sample) -> None:
    bound = Bound(record, sample, (sample.dtypes or record.dtypes)[0])
    tensors = bound.tensors()
    for k, x in enumerate(tensors):
        if x.layout != rg.strided or not (x.ndim and x.numel()):
            continue
        given = [*tensors]
        given[k] = _sparse_twin(x)
        try:
            got = bound.run(given)
        except (RuntimeError, TypeError, ValueError, IndexError):
            continue
        outputs = [y for y in (got if isinstance(got, tuple | list) else [got]) if isinstance(y, rg.Tensor)]
        wanted = bound.run(tensors)
        wanted = [y for y in (wanted if isinstance(wanted, tuple | list) else [wanted]) if isinstance(y, rg.Tensor)]
        if record.seed is None and sample.values:
            for y, want in zip(outputs, wanted, strict=True):
                assert y.shape == want.shape
                np.testing.assert_allclose(
                    y.detach().to_dense().double().numpy(), want.detach().double().numpy(), rtol=1e-5, atol=1e-6
                )
