"""Many short lines: kernels take them side by side, in numbers that are no multiple of anything, against NumPy."""

import numpy as np
import pytest

import retrograd as rg
from numbers_drawn import given, numbers, random
from numbers_drawn import seeded as seeded

F = rg.nn.functional

# Lines along the middle one of three axes: rows where the last has one element, tiles where it has few, and columns
# of one matrix where the first has one.
BLOCKS = [
    (1003, 3, 1),
    (530, 5, 4),
    (97, 16, 1),
    (70, 17, 1),
    (33, 8, 7),
    (15, 3, 2),
    (700, 2, 3),
    (1, 4099, 3),
    (1, 70, 5),
]
HALVES = ["bfloat16", "float16"]


def wide(x):
    """What a tensor holds, in the precision of the references."""
    return x.detach().to(rg.complex128 if x.is_complex() else rg.float64).numpy()


def rounded(values, dtype):
    """Numbers of a dtype, and the tensor that holds them."""
    t = given(values).to(getattr(rg, dtype))
    return wide(t), t


TOLERANCES = {"float64": 1e-12, "float32": 3e-6, "bfloat16": 1e-2, "float16": 2e-3}


def tolerance(dtype):
    return TOLERANCES[dtype]


@pytest.mark.parametrize("dtype", ["float32", "float64", *HALVES])
@pytest.mark.parametrize("sizes", BLOCKS)
def test_softmax(sizes, dtype):
    x, t = rounded(numbers(*sizes) * 3, dtype)
    g, cotangent = rounded(numbers(*sizes), dtype)
    exps = np.exp(x - x.max(1, keepdims=True))
    soft = exps / exps.sum(1, keepdims=True)
    leaf = t.requires_grad_()
    close = {"rtol": tolerance(dtype), "atol": tolerance(dtype)}
    out = leaf.softmax(1)
    np.testing.assert_allclose(wide(out), soft, **close)
    (grad,) = rg.autograd.grad(out, leaf, cotangent)
    np.testing.assert_allclose(wide(grad), soft * (g - (g * soft).sum(1, keepdims=True)), **close)
    out = leaf.log_softmax(1)
    np.testing.assert_allclose(wide(out), np.log(soft), rtol=4 * tolerance(dtype), atol=tolerance(dtype))
    (grad,) = rg.autograd.grad(out, leaf, cotangent)
    scale = 1 + np.abs(g).sum(1, keepdims=True)
    assert np.all(np.abs(wide(grad) - (g - soft * g.sum(1, keepdims=True))) <= 2 * tolerance(dtype) * scale)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", [*BLOCKS, (20, 300, 1), (3, 40, 64)])
def test_logarithms_of_running_sums(sizes, dtype):
    x, t = rounded(numbers(*sizes) * 3, dtype)
    x[sizes[0] // 2, 0] = t[sizes[0] // 2, 0] = -np.inf
    want = np.logaddexp.accumulate(x, 1)
    np.testing.assert_allclose(wide(t.logcumsumexp(1)), want, rtol=20 * tolerance(dtype), atol=20 * tolerance(dtype))
    g, cotangent = rounded(numbers(*sizes), dtype)
    leaf = t.requires_grad_()
    (grad,) = rg.autograd.grad(leaf.logcumsumexp(1), leaf, cotangent)
    shares = np.where(np.isinf(want), 0, g * np.exp(-np.where(np.isinf(want), 0, want)))
    pulled = np.exp(x) * shares[:, ::-1].cumsum(1)[:, ::-1]
    scale = 1 + np.exp(x) * np.abs(shares)[:, ::-1].cumsum(1)[:, ::-1]
    assert np.all(np.abs(wide(grad) - pulled) <= 300 * tolerance(dtype) * scale)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", BLOCKS[:-2])
def test_products_of_the_others(sizes, dtype):
    x, t = rounded(1 + 0.3 * numbers(*sizes), dtype)
    x[::7, 1] = t[::7, 1] = 0
    leaf = t.requires_grad_()
    g, cotangent = rounded(numbers(sizes[0], sizes[2]), dtype)
    out = leaf.prod(1)
    np.testing.assert_allclose(wide(out), x.prod(1), rtol=tolerance(dtype), atol=tolerance(dtype))
    (grad,) = rg.autograd.grad(out, leaf, cotangent)
    others = np.stack([np.delete(x, i, 1).prod(1) for i in range(sizes[1])], 1)
    np.testing.assert_allclose(wide(grad), g[:, None] * others, rtol=5 * tolerance(dtype), atol=5 * tolerance(dtype))


@pytest.mark.parametrize("dtype", [*HALVES, "float32", "float64", "int64", "int32", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("sizes", [*BLOCKS, (40, 1, 1), (2, 2048, 4)])
def test_reductions(sizes, dtype):
    values = np.round(np.abs(numbers(*sizes)) * (1.4 if dtype in HALVES else 3))  # sums are exact
    x, t = rounded(values, dtype)
    for keepdim in (False, True):
        total = t.sum(1, keepdim=keepdim)
        want = x.sum(1, keepdims=keepdim)
        # Of halves rounded once, from an exact sum.
        np.testing.assert_array_equal(wide(total), wide(given(want).to(total.dtype)))
    np.testing.assert_array_equal(t.any(1).numpy(), (x != 0).any(1))
    np.testing.assert_array_equal(t.all(1).numpy(), (x != 0).all(1))
    np.testing.assert_array_equal(t.count_nonzero(1).numpy(), np.count_nonzero(x, 1))
    if dtype.startswith("complex"):
        return
    np.testing.assert_array_equal(wide(t.amax(1)), x.max(1))
    np.testing.assert_array_equal(wide(t.amin(1)), x.min(1))
    for best, arg in ((t.max(1), np.argmax), (t.min(1), np.argmin)):
        np.testing.assert_array_equal(best.indices.numpy(), arg(x, 1))
        np.testing.assert_array_equal(wide(best.values), np.take_along_axis(x, arg(x, 1)[:, None], 1)[:, 0])
    # Results in another order than the lines.
    np.testing.assert_array_equal(t.permute(2, 1, 0).max(1).indices.numpy(), x.argmax(1).T)
    if dtype != "bool":
        np.testing.assert_array_equal(t.argmax(1).numpy(), x.argmax(1))
        # In the order of the axes, wherever the elements are; some are repeated.
        for view, want in ((t.permute(2, 0, 1), x.transpose(2, 0, 1)), (t[::2, 1:], x[::2, 1:]), (t[:1], x[:1])):
            of = view.expand(3, *view.shape[1:]) if view.shape[0] == 1 else view
            assert view.numel() == 0 or of.argmax().item() == want.argmax()
            assert view.numel() == 0 or of.argmin().item() == want.argmin()


@pytest.mark.parametrize("dtype", ["float32", "float64", *HALVES])
@pytest.mark.parametrize("sizes", BLOCKS[:6])
def test_norms_and_means_of_rows(sizes, dtype):
    x, t = rounded(numbers(*sizes), dtype)
    close = {"rtol": 2 * tolerance(dtype), "atol": 2 * tolerance(dtype)}
    np.testing.assert_allclose(wide(t.mean(1)), x.mean(1), **close)
    np.testing.assert_allclose(wide(rg.linalg.vector_norm(t, dim=1)), np.sqrt((x**2).sum(1)), **close)
    n = sizes[1] * sizes[2]
    rows, leaf = x.reshape(-1, n), t.reshape(-1, n).detach().requires_grad_()
    g, cotangent = rounded(numbers(*rows.shape), dtype)
    deviation = 1 / np.sqrt(rows.var(1, keepdims=True) + 1e-2)
    standard = (rows - rows.mean(1, keepdims=True)) * deviation
    out = F.layer_norm(leaf, (n,), eps=1e-2)
    assert out.dtype == leaf.dtype
    np.testing.assert_allclose(wide(out), standard, **close)
    (grad,) = rg.autograd.grad(out, leaf, cotangent)
    along = standard * (g * standard).mean(1, keepdims=True)
    pulled = deviation * (g - g.mean(1, keepdims=True) - along)
    assert grad.dtype == leaf.dtype
    assert np.all(np.abs(wide(grad) - pulled) <= 3 * tolerance(dtype) * (1 + np.abs(g).max()) * deviation)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64", "uint8"])
@pytest.mark.parametrize("sizes", [*BLOCKS[:7], (300, 24, 1), (40, 25, 1), (1, 3, 500)])
def test_order(sizes, dtype):
    x, t = rounded(np.abs(np.round(numbers(*sizes) * 2)), dtype)
    if rg.is_floating_point(t):
        x[::5, 0] = t[::5, 0] = np.nan
    n = sizes[1]
    order = x.argsort(1, kind="stable")
    for descending in (False, True):
        # Equal elements keep their order, and NaN is the greatest.
        places = np.nan_to_num(-x, nan=-np.inf).argsort(1, kind="stable") if descending else order
        values, indices = t.sort(1, descending=descending)
        np.testing.assert_array_equal(indices.numpy(), places)
        np.testing.assert_array_equal(wide(values), np.take_along_axis(x, places, 1))
        k = (n + 1) // 2
        values, indices = t.topk(k, 1, largest=descending)
        np.testing.assert_array_equal(indices.numpy(), places[:, :k])
        np.testing.assert_array_equal(wide(values), np.take_along_axis(x, places[:, :k], 1))
    values, indices = t.kthvalue(n, 1)
    np.testing.assert_array_equal(indices.numpy(), order[:, -1])
    numbers_of = (~np.isnan(x)).sum(1, keepdims=True)
    for of, place in (
        (t.median(1), np.where(numbers_of < n, numbers_of, (n - 1) // 2)),
        (t.nanmedian(1), np.maximum(numbers_of - 1, 0) // 2),
    ):
        want = np.take_along_axis(order, place, 1)
        np.testing.assert_array_equal(of.indices.numpy(), want[:, 0])
        np.testing.assert_array_equal(wide(of.values), np.take_along_axis(x, want, 1)[:, 0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
@pytest.mark.parametrize("sizes", [*BLOCKS, (1, 5000, 2), (1, 333, 4)])
def test_running_extremes_and_sums(sizes, dtype):
    x, t = rounded(np.abs(np.round(numbers(*sizes) * 3)), dtype)
    np.testing.assert_array_equal(wide(t.cumsum(1)), x.cumsum(1))
    if rg.is_floating_point(t):
        x[sizes[0] // 2, 1] = t[sizes[0] // 2, 1] = np.nan
    for got, best in ((t.cummax(1), np.maximum), (t.cummin(1), np.minimum)):
        want = best.accumulate(x, 1)
        np.testing.assert_array_equal(wide(got.values), want)
        # The last place where it was found.
        found = (x == want) | np.isnan(x)
        places = np.arange(sizes[1])[None, :, None]
        np.testing.assert_array_equal(got.indices.numpy(), np.maximum.accumulate(np.where(found, places, 0), 1))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("dim", [0, 1])
def test_indices_along_either_axis(width, dim):
    x = numbers(501, width)
    index = random.integers(0, x.shape[dim], x.shape)
    t, i = given(x), given(index)
    np.testing.assert_array_equal(t.gather(dim, i).numpy(), np.take_along_axis(x, index, dim))
    source = numbers(501, width)
    want, last = x.copy(), x.copy()
    for at in np.ndindex(*x.shape):
        to = (index[at], at[1]) if dim == 0 else (at[0], index[at])
        want[to] += source[at]
        last[to] = source[at]
    np.testing.assert_allclose(t.scatter_add(dim, i, given(source)).numpy(), want, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(t.scatter(dim, i, given(source)).numpy(), last)
    wrong = index.copy()
    wrong[-1, -1] = x.shape[dim]
    for call in (t.gather, lambda d, i: t.scatter(d, i, given(source))):
        with pytest.raises((IndexError, RuntimeError), match=f"index {x.shape[dim]} is out of bounds"):
            call(dim, given(wrong))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("terms", [1, 3, 8, 31, 32, 100])
def test_products_of_halves_and_a_vector(terms, dtype):
    (a, m), (b, v) = rounded(np.round(numbers(700, terms) * 2), dtype), rounded(np.round(numbers(terms)), dtype)
    for rows in (700, 20):
        got = m[:rows] @ v
        np.testing.assert_array_equal(wide(got), wide(given(a[:rows] @ b).to(got.dtype)))
    got = v @ m.t()
    np.testing.assert_array_equal(wide(got), wide(given(a @ b).to(got.dtype)))


@pytest.mark.parametrize("dtype", ["float32", "uint8", "bool", "complex128", "bfloat16"])
@pytest.mark.parametrize("sizes", [(1000, 3), (3, 1000), (5, 40, 41), (2, 1, 7)])
def test_triangles(sizes, dtype):
    x, t = rounded(np.abs(np.round(numbers(*sizes) * 3)), dtype)
    for diagonal in (-1001, -2, -1, 0, 1, 2, 39, 1001):
        np.testing.assert_array_equal(wide(t.tril(diagonal)), np.tril(x, diagonal))
        np.testing.assert_array_equal(wide(t.triu(diagonal)), np.triu(x, diagonal))


# Rows that end inside of a chunk, at its end and behind it; the last ones are longer than a piece.
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64", *HALVES])
@pytest.mark.parametrize("n", [1, 3, 4, 5, 8, 11, 16, 19, 31, 32, 33, 65, 130, 257, 1030])
def test_slices_of_an_inner_axis(n, dtype):
    sizes = (7, n + 3)
    if dtype == "int64":
        x, y, z = (given(random.integers(-50, 50, sizes)) for _ in range(3))
    elif dtype == "complex64":
        x, y, z = (given(numbers(*sizes) + 1j * numbers(*sizes)).to(rg.complex64) for _ in range(3))
    else:
        x, y, z = (rounded(numbers(*sizes), dtype)[1] for _ in range(3))
    host = (lambda t: t.numpy()) if dtype == "int64" else wide
    near = TOLERANCES.get(dtype, 2e-6)
    close = {"rtol": near, "atol": 4 * near}
    a, b, c = host(x), host(y), host(z)
    check = np.testing.assert_allclose
    column = y[:, :1]
    check(host(x[:, :n] - y[:, 2 : n + 2]), a[:, :n] - b[:, 2 : n + 2], **close)
    check(host(x[:, 1 : n + 1] * column), a[:, 1 : n + 1] * b[:, :1], **close)
    check(host(column - x[:, :n]), b[:, :1] - a[:, :n], **close)
    check(host(x[:, 3:].square()), a[:, 3:] ** 2, **close)
    check(host(rg.addcmul(x[:, :n], y[:, 1 : n + 1], z[:, 3:])), a[:, :n] + b[:, 1 : n + 1] * c[:, 3:], **close)
    # Beside an input that is not contiguous along rows, a piece of a row may end with few elements.
    across = given(host(z).T.copy()).to(z.dtype).t()
    check(host(across[:, :n] * column), c[:, :n] * b[:, :1], **close)
    # In place, the columns beside the slice stay.
    kept = x.clone()
    kept[:, 1 : n + 1].sub_(y[:, :n])
    want = a.copy()
    want[:, 1 : n + 1] -= b[:, :n]
    check(host(kept), want, **close)
    kept = x.clone()
    kept[:, :n].mul_(3)
    want = a.copy()
    want[:, :n] *= 3
    check(host(kept), want, **close)


@pytest.mark.parametrize("n", [1, 3, 4, 5, 8, 11, 17, 31, 33, 65, 130, 1030])
def test_conversions_of_slices(n):
    dtypes = ("uint8", "int16", "int32", "int64", "float32", "float64", "bool")
    x = random.integers(0, 3, (7, n + 3)) * 41
    for dtype in dtypes:
        # Signs, where there are any, and what conversions to integers leave out.
        a = (x * (1 if dtype in ("uint8", "bool") else -1.25)).astype(dtype)
        for to in dtypes:
            got = given(a)[:, 2 : n + 2].to(getattr(rg, to))
            # Numbers below 0 become bytes by way of wider integers.
            want = a[:, 2 : n + 2].astype("int64" if to == "uint8" else to).astype(to)
            np.testing.assert_array_equal(got.numpy(), want)
    angles = given(-x.astype("float32"))[:, :n].angle()
    np.testing.assert_array_equal(angles.numpy(), np.angle(-x[:, :n]).astype("float32"))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 15, 16, 17, 33, 100])
def test_reversed_rows(n, dtype):
    x = random.integers(0, 100, (5, n + 2)).astype(dtype)
    t = given(x)
    np.testing.assert_array_equal(t[:, 1 : n + 1].flip(1).numpy(), x[:, n:0:-1])
    np.testing.assert_array_equal(t.flatten().flip(0).numpy(), x.ravel()[::-1])


# Results whose order in memory is not that of the input: they are computed in that of the input.
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "int64", "bool", *HALVES])
@pytest.mark.parametrize("sizes", [(40, 5, 4), (16, 3, 2), (15, 4, 6), (1000, 2, 7), (300, 40, 3), (17, 2, 3, 2)])
def test_reductions_along_the_outer_axis_of_a_reversed_tensor(sizes, dtype):
    if dtype in TOLERANCES:
        x, t = rounded(numbers(*sizes), dtype)
    else:
        x = random.integers(0, 2 if dtype == "bool" else 50, sizes).astype(dtype)
        t = given(x)
    axes = tuple(reversed(range(len(sizes))))
    x, t = x.transpose(axes), t.permute(*axes)
    near = TOLERANCES.get(dtype, 1e-6)
    close = {"rtol": near, "atol": near * sizes[0]}
    check = np.testing.assert_allclose
    check(wide(t.sum(-1)), x.astype(np.float64).sum(-1), **close)
    np.testing.assert_array_equal(t.any(-1).numpy(), x.any(-1))
    np.testing.assert_array_equal(wide(t.amax(-1)), x.max(-1).astype(np.float64))
    if dtype != "bool":
        top = t.min(-1)
        np.testing.assert_array_equal(wide(top.values), x.min(-1).astype(np.float64))
        np.testing.assert_array_equal(top.indices.numpy(), x.argmin(-1))
        np.testing.assert_array_equal(t.argmax(-1, keepdim=True).numpy(), x.argmax(-1)[..., None])
    if dtype in ("float32", "float64"):
        check(t.var(-1).numpy(), x.var(-1, ddof=1), rtol=1e3 * near)
        check(t.var().numpy(), x.var(ddof=1), rtol=1e2 * near)
        check(t.std((0, -1)).numpy(), x.std((0, -1), ddof=1), rtol=1e3 * near)
