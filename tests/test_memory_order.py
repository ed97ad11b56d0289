"""Ops that read operands of one dense layout in the order of memory, once, whatever that order is."""

import numpy as np
import pytest

LAYOUTS = {
    "rows": lambda x: x,
    "columns": lambda x: x.T,
    "spaced": lambda x: x[:, ::2],
    "part": lambda x: x[3:, 5:-1],
    "row": lambda x: x[2],
    "element": lambda x: x[2, 1],
    "none": lambda x: x[:0],
}


def same_on_all_threads(rg, compute):
    """What `compute` gives, which has the same bits on any number of threads."""
    before = rg.get_num_threads()
    try:
        results = []
        for number in (1, 2, 3):
            rg.set_num_threads(number)
            results.append(compute())
    finally:
        rg.set_num_threads(before)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].to(rg.float64).numpy(), other.to(rg.float64).numpy())
    return results[0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", [(7, 9), (300, 520)])
def test_sums_of_numbers(rg, size, layout, dtype):
    values = np.random.default_rng(1).integers(-3, 4, size).astype("float64")
    values.flat[::5] = np.nan
    x = LAYOUTS[layout](rg.tensor(values).to(getattr(rg, dtype)))
    values = LAYOUTS[layout](values)
    for dim in (None, *range(values.ndim)):
        got = same_on_all_threads(rg, lambda dim=dim: x.nansum(dim))
        assert got.dtype == x.dtype
        want = np.nansum(values, axis=dim)
        np.testing.assert_allclose(got.to(rg.float64).numpy(), want, rtol=2**-8 if "16" in dtype else 0)
        counts = same_on_all_threads(rg, lambda dim=dim: x.count_nonzero(dim))
        np.testing.assert_array_equal(counts.numpy(), np.count_nonzero(values, axis=dim))
        if values.size and dtype != "float16":  # which does not have so large counts
            got = same_on_all_threads(rg, lambda dim=dim: x.nanmean(dim))
            with np.errstate(invalid="ignore", divide="ignore"):
                want = np.nansum(values, axis=dim) / (~np.isnan(values)).sum(axis=dim)
            np.testing.assert_allclose(got.to(rg.float64).numpy(), want, rtol=2**-7 if "16" in dtype else 1e-6)


def test_infinities_and_nothing_but_nan(rg):
    inf, nan = float("inf"), float("nan")
    assert rg.tensor([inf, nan, 1.0]).nansum().item() == inf
    assert np.isnan(rg.tensor([inf, nan, -inf]).nansum().item())
    assert rg.full((70, 70), nan).T.nansum(0).tolist() == [0.0] * 70
    assert rg.full((70, 70), nan).count_nonzero().item() == 4900


@pytest.mark.parametrize("loss", ["mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits"])
@pytest.mark.parametrize("size", [(3, 5), (300, 520)])
def test_losses_of_columns_are_those_of_rows(rg, size, loss):
    random = np.random.default_rng(2)
    x, y = rg.tensor(random.normal(size=size)), rg.tensor(random.uniform(size=size))
    loss = getattr(rg.nn.functional, loss)
    for reduction in ("sum", "mean"):
        rows = same_on_all_threads(rg, lambda reduction=reduction: loss(x, y, reduction=reduction))
        columns = same_on_all_threads(rg, lambda reduction=reduction: loss(x.T, y.T, reduction=reduction))
        mixed = same_on_all_threads(rg, lambda reduction=reduction: loss(x.T, y.T.contiguous(), reduction=reduction))
        assert rows.item() == columns.item()
        assert mixed.item() == pytest.approx(rows.item(), rel=1e-12)
    each = loss(x.T, y.T, reduction="none")
    assert each.stride() == x.T.stride()
    np.testing.assert_array_equal(each.T.numpy(), loss(x, y, reduction="none").numpy())


@pytest.mark.parametrize("size", [(4, 6), (300, 520)])
def test_glu_and_logsumexp_of_columns(rg, size):
    x = rg.tensor(np.random.default_rng(3).normal(size=size))
    values = x.numpy()
    for dim in (0, 1):
        a, b = np.split(values, 2, axis=dim)
        got = same_on_all_threads(rg, lambda dim=dim: rg.nn.functional.glu(x.T, 1 - dim))
        np.testing.assert_allclose(got.numpy().T, a / (1 + np.exp(-b)), rtol=1e-14)
        got = same_on_all_threads(rg, lambda dim=dim: x.T.logsumexp(1 - dim))
        np.testing.assert_allclose(got.numpy(), np.log(np.exp(values).sum(axis=dim)), rtol=1e-13)
    whole = rg.full((40, 50), -float("inf")).T
    assert whole.logsumexp(0).tolist() == [-float("inf")] * 40


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex128", "float16"])
@pytest.mark.parametrize("size", [(17, 64), (300, 520), (16, 1025), (3, 40)])
def test_rows_beside_columns(rg, size, dtype):
    """An operand in columns, and others in rows or broadcast, give a result in rows."""
    values = np.random.default_rng(4).integers(0, 2, size)
    x = rg.tensor(values.T.copy()).to(getattr(rg, dtype)).T
    y = rg.tensor(1 - values).to(getattr(rg, dtype))
    assert not x.is_contiguous()
    assert y.is_contiguous()
    for other, plain in ((y, 1 - values), (y[:1], 1 - values[:1]), (y[:, :1], 1 - values[:, :1])):
        got = same_on_all_threads(rg, lambda other=other: rg.where(other == 1, other, x).to(rg.int64))
        np.testing.assert_array_equal(got.numpy(), np.where(plain == 1, plain, values))
    got = same_on_all_threads(rg, lambda: y.clone().copy_(x).mul_(x).to(rg.int64))
    np.testing.assert_array_equal(got.numpy(), values)
    got = same_on_all_threads(rg, lambda: x.masked_fill(x == 1, 0).to(rg.int64))
    np.testing.assert_array_equal(got.numpy(), 0 * values)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "float16", "int32"])
@pytest.mark.parametrize("terms", [0, 1, 8, 63, 64, 200])
def test_products_of_rows(rg, terms, dtype):
    """Batches of products of vectors, of few terms and of many, have the dtype of the operands."""
    random = np.random.default_rng(5)
    x, y = (random.integers(-2, 3, (30, terms)) for _ in range(2))
    a, b = (rg.tensor(v).to(getattr(rg, dtype)) for v in (x, y))
    for equation in ("ij,ij->i", "ij,ij->j", "ij,ij"):
        got = rg.einsum(equation, a, b)
        assert got.dtype == a.dtype
        np.testing.assert_array_equal(got.to(rg.complex128).numpy(), np.einsum(equation, x, y))
