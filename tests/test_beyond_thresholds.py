"""Sizes beyond those at which kernels begin to work in blocks, in parts or in another way, against NumPy.

The records stop at some tens of elements. What begins at a size (blocks of a product's depth, parts of a long sum, rows
whose share of a weight's gradient is added up together, digits instead of comparisons) is reached here.
"""

import numpy as np
import pytest

import retrograd as rg
from numbers_drawn import given, numbers, random
from numbers_drawn import seeded as seeded

F = rg.nn.functional


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-12), ("float32", 1e-5)])
@pytest.mark.parametrize("sizes", [(5, 700, 7), (61, 1301, 67), (130, 641, 3), (1, 2000, 1), (300, 3, 257)])
def test_products_deeper_and_wider_than_a_block(sizes, dtype, rtol):
    n, k, m = sizes
    a, b, g = numbers(n, k, dtype=dtype), numbers(k, m, dtype=dtype), numbers(n, m, dtype=dtype)
    x, y = given(a).requires_grad_(), given(b).requires_grad_()
    out = x @ y
    scale = np.sqrt(k)
    np.testing.assert_allclose(out.detach().numpy(), a.astype("float64") @ b, rtol=rtol, atol=rtol * scale)
    ga, gb = rg.autograd.grad(out, (x, y), given(g))
    np.testing.assert_allclose(ga.numpy(), g.astype("float64") @ b.T, rtol=rtol, atol=rtol * scale)
    np.testing.assert_allclose(gb.numpy(), a.T.astype("float64") @ g, rtol=rtol, atol=rtol * scale)


@pytest.mark.parametrize("n", [65_536, 65_537, 70_001, 131_073, 300_007])
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "var", "prod", "logsumexp"])
def test_reductions_of_long_rows(name, n):
    """Every element counts, the last ones too: each of the results changes where one does."""
    values = 1.0 + 0.5 * np.arange(n) / n
    if name == "prod":
        values = np.exp(numbers(n) / np.sqrt(n))
    reference = {
        "sum": np.sum,
        "mean": np.mean,
        "amax": np.max,
        "amin": np.min,
        "var": lambda v: np.var(v, ddof=1),
        "prod": np.prod,
        "logsumexp": lambda v: np.log(np.sum(np.exp(v))),
    }[name]
    args = (0,) if name == "logsumexp" else ()
    for at in (0, n // 2, n - 2, n - 1):
        changed = values.copy()
        changed[at] += {"amax": 9.0, "amin": -9.0}.get(name, 3.0)
        got = getattr(given(changed), name)(*args).item()
        np.testing.assert_allclose(got, reference(changed), rtol=1e-11)
    assert rg.ones(n, dtype=rg.int64).sum().item() == n
    assert rg.ones(n).sum().item() == n


@pytest.mark.parametrize("rows", [64, 65, 129, 300])
@pytest.mark.parametrize("width", [5, 1200])
def test_norms_of_many_rows(rows, width):
    """The gradients of weight and bias sum over rows, in parts; short rows and long ones go different ways."""
    x, w, b, g = (numbers(*shape) for shape in ((rows, width), (width,), (width,), (rows, width)))
    tensors = [given(v).requires_grad_() for v in (x, w, b)]
    grads = rg.autograd.grad(F.layer_norm(tensors[0], (width,), *tensors[1:]), tensors, given(g))
    centred = x - x.mean(1, keepdims=True)
    normal = centred / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(grads[1].numpy(), (g * normal).sum(0), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(grads[2].numpy(), g.sum(0), rtol=1e-11, atol=1e-12)
    direction, step = numbers(rows, width), 1e-6

    def value(x):
        return float((F.layer_norm(given(x), (width,), given(w), given(b)).numpy() * g).sum())

    numeric = (value(x + step * direction) - value(x - step * direction)) / (2 * step)
    np.testing.assert_allclose((grads[0].numpy() * direction).sum(), numeric, rtol=1e-6)


@pytest.mark.parametrize("count", [31, 32, 33, 70])
@pytest.mark.parametrize("join", ["cat", "stack"])
def test_every_one_of_many_operands_gets_its_gradient(join, count):
    xs = [given(numbers(2)).requires_grad_() for _ in range(count)]
    out = getattr(rg, join)(xs)
    g = numbers(*out.shape)
    grads = rg.autograd.grad(out, xs, given(g))
    np.testing.assert_array_equal(np.concatenate([t.numpy() for t in grads]), g.reshape(-1))
    wanted = rg.autograd.grad(getattr(rg, join)(xs), [xs[-1]], given(g))[0]
    np.testing.assert_array_equal(wanted.numpy(), g.reshape(-1, 2)[-1])


@pytest.mark.parametrize("n", [9_000, 20_000, 100_000])
def test_equal_elements_keep_their_order_in_long_sorts(n):
    values = random.integers(0, 50, n)
    for dtype in ("int64", "float64", "float32"):
        x = given(values.astype(dtype))
        found = rg.sort(x, stable=True)
        np.testing.assert_array_equal(found.indices.numpy(), np.argsort(values, kind="stable"))
        for k in (10, n // 3, n):
            top = rg.topk(x, k)
            order = np.lexsort((np.arange(n), -values))[:k]
            np.testing.assert_array_equal(top.values.numpy(), values[order].astype(dtype))
            np.testing.assert_array_equal(top.indices.numpy(), order)


@pytest.mark.parametrize("batch", [16, 17, 40])
def test_weight_gradients_of_convolutions_over_many_images(batch):
    """Images are added up in parts."""
    x, w, g = numbers(batch, 2, 6, 5), numbers(3, 2, 3, 2), numbers(batch, 3, 4, 4)
    weight = given(w).requires_grad_()
    (grad,) = rg.autograd.grad(F.conv2d(given(x), weight), weight, given(g))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 2), axis=(2, 3))
    np.testing.assert_allclose(grad.numpy(), np.einsum("nihwab,nohw->oiab", windows, g), rtol=1e-11, atol=1e-11)


def test_numbers_of_a_batch_rank_below_tensors_in_promotion():
    """Under vmap an entry without dims counts as a number, whatever axis its values have."""
    rows, factors = rg.ones(3, 2), rg.tensor([1.0, 2.0, 3.0], dtype=rg.float64)
    out = rg.vmap(lambda x, y: x * y)(rows, factors)
    assert out.dtype is rg.float32
    assert out.tolist() == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    assert rg.vmap(lambda x, y: x + y)(rg.ones(3, 2, dtype=rg.int32), rg.ones(3, dtype=rg.int64)).dtype is rg.int32
    assert rg.vmap(lambda x, y: x + y)(rg.ones(3, dtype=rg.int32), rg.ones(3, dtype=rg.int64)).dtype is rg.int64


@pytest.mark.parametrize("columns", [1, 3, 33, 65, 255, 257, 600])
@pytest.mark.parametrize("rows", [1, 63, 129, 1030])
def test_many_columns_side_by_side(rows, columns):
    """Down the columns of a matrix: strips of columns, groups of rows, and narrow rows read together."""
    values = np.round(numbers(rows, columns), 3)
    x = given(values)
    np.testing.assert_allclose(x.sum(0).numpy(), values.sum(0), rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(x.cumsum(0).numpy(), values.cumsum(0), rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(x.logcumsumexp(0).numpy(), np.logaddexp.accumulate(values), rtol=1e-12, atol=1e-11)
    for found, want in ((x.max(0), values.argmax(0)), (x.min(0), values.argmin(0))):
        np.testing.assert_array_equal(found.indices.numpy(), want)
        np.testing.assert_array_equal(found.values.numpy(), values[want, np.arange(columns)])
    np.testing.assert_array_equal(x.cummax(0).values.numpy(), np.maximum.accumulate(values))
    whole = given((100 * values).astype("int64"))
    np.testing.assert_array_equal(whole.sum(0).numpy(), (100 * values).astype("int64").sum(0))


@pytest.mark.parametrize(("rows", "columns"), [(63, 200), (65, 200), (129, 130), (300, 130), (3000, 3), (9000, 3)])
def test_batch_norm_of_many_rows(rows, columns):
    """Moments of columns are those of parts of the rows, joined."""
    x, w, b, g = (numbers(*shape) for shape in ((rows, columns), (columns,), (columns,), (rows, columns)))
    tensors = [given(v).requires_grad_() for v in (x, w, b)]
    mean, variance = rg.zeros(columns, dtype=rg.float64), rg.zeros(columns, dtype=rg.float64)
    out = F.batch_norm(tensors[0], mean, variance, *tensors[1:], training=True, momentum=1.0)
    rstd = 1 / np.sqrt(x.var(0) + 1e-5)
    normal = (x - x.mean(0)) * rstd
    np.testing.assert_allclose(out.detach().numpy(), normal * w + b, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(mean.numpy(), x.mean(0), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(variance.numpy(), x.var(0, ddof=1), rtol=1e-11)
    gx, gw, gb = rg.autograd.grad(out, tensors, given(g))
    np.testing.assert_allclose(gw.numpy(), (g * normal).sum(0), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(gb.numpy(), g.sum(0), rtol=1e-10, atol=1e-11)
    along = g - g.mean(0) - normal * (g * normal).mean(0)
    np.testing.assert_allclose(gx.numpy(), w * rstd * along, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(3, 300), (70, 257), (130, 520), (300, 300)])
def test_attention_over_several_tiles(queries, keys, causal):
    q, k, v, g = (numbers(*shape) for shape in ((queries, 5), (keys, 5), (keys, 3), (queries, 3)))
    tensors = [given(x[None, None]).requires_grad_() for x in (q, k, v)]
    out = F.scaled_dot_product_attention(*tensors, is_causal=causal)
    grads = [t.numpy()[0, 0] for t in rg.autograd.grad(out, tensors, given(g[None, None]))]
    scores = q @ k.T / np.sqrt(5)
    if causal:
        scores[~np.tri(queries, keys, dtype=bool)] = -np.inf
    p = np.exp(scores - scores.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    np.testing.assert_allclose(out.detach().numpy()[0, 0], p @ v, rtol=1e-10, atol=1e-12)
    dp = g @ v.T
    ds = p * (dp - (dp * p).sum(1, keepdims=True)) / np.sqrt(5)
    for got, want in zip(grads, (ds @ k, ds.T @ q, p.T @ g), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("dtype", [rg.float32, rg.float64])
@pytest.mark.parametrize("n", [17, 31, 2047, 2049, 5001])
def test_the_last_numbers_of_a_normal_sample_are_normal(n, dtype):
    """They are drawn and shaped in parts, by sixteen; what is left unshaped would be uniform from 0 to 1."""
    last = []
    for seed in range(60):
        rg.manual_seed(seed)
        last.append(rg.randn(n, dtype=dtype)[-15:].numpy())
    assert abs(np.mean(last)) < 0.15 and 0.85 < np.std(last) < 1.15


@pytest.mark.parametrize("shape", [(181, 182), (40, 33, 70), (3, 50_000)])
def test_elementwise_walks_over_many_elements(shape):
    """Beyond some tens of thousands of elements threads take pieces: each operand must move with its own strides."""
    a, b, c = (numbers(*shape) for _ in range(3))
    turned = [given(x.T).T for x in (a, b, c)]
    plain = [given(x) for x in (a, b, c)]
    for layout in ((0, 1, 0), (1, 0, 1), (0, 1, 1)):
        x, y, z = (turned[i] if turn else plain[i] for i, turn in enumerate(layout))
        np.testing.assert_array_equal((x + y).numpy(), a + b)
        np.testing.assert_allclose(rg.addcmul(x, y, z).numpy(), a + b * c, rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(rg.where(x > 0, y, z).numpy(), np.where(a > 0, b, c))
        np.testing.assert_array_equal(x.clone().mul_(y).numpy(), a * b)
        np.testing.assert_array_equal((x * y[:1]).numpy(), a * b[:1])


ROWS = [(3, 5), (40_001, 4), (9_000, 7), (3_000, 65), (300, 1301), (5, 30_000), (1_200_003, 5)]


@pytest.mark.parametrize("shape", ROWS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_number_for_each_row(shape, dtype):
    """It stays in a register along a row: of results past the caches and in place, beside operands in any layout."""
    a, column, row = (numbers(*sizes, dtype=dtype) for sizes in (shape, (shape[0], 1), (shape[1],)))
    y = given(column)
    wide = np.zeros((shape[0], 2 * shape[1]), dtype)
    wide[:, ::2] = a
    for x in (given(a.copy()), given(a.T).T, given(wide)[:, ::2]):
        np.testing.assert_array_equal((x * y).numpy(), a * column)
        np.testing.assert_array_equal((y - x).numpy(), column - a)
        np.testing.assert_array_equal((y / x).numpy(), column / a)
        np.testing.assert_array_equal((x + y).numpy(), a + column)
        np.testing.assert_array_equal(x.clone().sub_(y).numpy(), a - column)
        np.testing.assert_array_equal(x.mul_(y).numpy(), a * column)
    np.testing.assert_array_equal((given(row) - y).numpy(), row - column)


@pytest.mark.parametrize("channels", [9, 80])
def test_convolutions_of_many_channels(channels):
    """Products of windows and weights that are deeper than a block, with a bias to start from."""
    x, w, b = numbers(2, channels, 6, 5), numbers(4, channels, 3, 3), numbers(4)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    want = np.einsum("nihwab,oiab->nohw", windows, w) + b[:, None, None]
    np.testing.assert_allclose(F.conv2d(given(x), given(w), given(b)).numpy(), want, rtol=1e-11, atol=1e-10)


EDGES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33)


@pytest.mark.parametrize(("dtype", "eps"), [("float64", 2.0**-52), ("float32", 2.0**-23)])
@pytest.mark.parametrize("form", ["NN", "NT", "TN", "TT"])
def test_small_products_of_every_form(form, dtype, eps):
    """Around the lengths of vectors and the heights of tiles, and where products become dot products."""
    for k in (1, 2, 7, 8, 9, 16, 17, 33):
        left, right = numbers(max(EDGES), k, dtype=dtype), numbers(k, max(EDGES), dtype=dtype)
        bias = numbers(max(EDGES), dtype=dtype)
        for n in EDGES:
            for m in EDGES:
                a, b = left[:n], right[:, :m]
                x = given(a) if form[0] == "N" else given(a.T).t()
                y = given(b) if form[1] == "N" else given(b.T).t()
                want, size = a.astype("float64") @ b, np.abs(a).astype("float64") @ np.abs(b)
                bound = 2 * (k + 1) * eps * (size + np.abs(bias[:m]))
                assert (np.abs((x @ y).numpy() - want) <= bound).all(), (n, k, m)
                sum_ = rg.addmm(given(bias[:m]), x, y).numpy()
                assert (np.abs(sum_ - (want + bias[:m])) <= bound).all(), (n, k, m)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("n", [65_536, 131_071, 131_072, 200_001])
def test_dots_in_parts(n, dtype):
    """Small integers, so that any order gives one sum; the last terms are large."""
    a, b = random.integers(-3, 4, (2, n))
    a[-1] = b[-1] = 1000
    assert given(a.astype(dtype)).dot(given(b.astype(dtype))).item() == a @ b


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("sizes", [(40, 3, 33), (150, 2, 8), (7, 5, 127), (70, 2, 3, 19)])
def test_reductions_of_many_short_rows(sizes, dtype):
    """Rows are added up as strips, whose columns are then joined: small integers, so that any order gives one sum."""
    values = random.integers(-50, 50, sizes)
    x, kept = given(values.astype(dtype)), len(sizes) - 2
    axes = tuple(i for i in range(len(sizes)) if i != kept)
    for layout in (x, x.to(x.dtype)[..., ::2], x.transpose(0, -1)):
        plain = layout.numpy().astype("int64")
        assert layout.sum(axes).tolist() == plain.sum(axes).tolist()
        assert layout.amax(axes).tolist() == plain.max(axes).tolist()
        assert layout.sum().item() == plain.sum()


def windows(x, kernel, stride, dilation, positions):
    """What each tap of a kernel meets: (batch, channels, rows of taps, columns of taps, rows, columns)."""
    parts = [
        x[..., i * dilation :, j * dilation :][..., ::stride, ::stride][..., : positions[0], : positions[1]]
        for i in range(kernel)
        for j in range(kernel)
    ]
    return np.stack(parts, 2)


# Batch, channels of the input, its sides, channels of the result, kernel, stride, padding, dilation.
CONVOLUTIONS = [
    # Few channels, in tiles: rows that fill vectors or nearly, pieces of one row and of two, every height of a tile.
    *((2, 3, (5, 32), channels, 3, 1, 1, 1) for channels in (2, 3, 4, 6, 7, 9, 13, 16, 17)),
    (2, 5, (7, 31), 8, 3, 2, 1, 1),
    (2, 5, (9, 64), 8, 3, 1, 2, 2),
    (1, 2, (3, 45), 5, 1, 1, 0, 1),
    # Several images that are one product: groups of them, and what is left of a batch.
    (13, 20, (8, 8), 24, 3, 1, 1, 1),
    (5, 40, (7, 7), 30, 3, 1, 1, 1),
    (7, 17, (9, 9), 19, 2, 2, 0, 1),
    # Stride by stride: parts of a gradient beside one another.
    (2, 4, (17, 33), 5, 3, 3, 0, 1),
    (2, 4, (16, 40), 6, 4, 2, 1, 1),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolutions_of_every_kind(case, dtype):
    """Small integers, so that sums in any order are the same."""
    batch, channels, sides, out, kernel, stride, padding, dilation = case
    x = random.integers(-4, 5, (batch, channels, *sides))
    w = random.integers(-4, 5, (out, channels, kernel, kernel))
    bias = random.integers(-4, 5, out)
    positions = [(side + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1 for side in sides]
    g = random.integers(-4, 5, (batch, out, *positions))
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    met = windows(padded, kernel, stride, dilation, positions)
    flat = w.reshape(out, channels, -1)
    want = np.einsum("ock,nckhw->nohw", flat, met)
    to_x = np.zeros_like(padded)
    for tap, (i, j) in enumerate((i, j) for i in range(kernel) for j in range(kernel)):
        rows = slice(i * dilation, i * dilation + stride * (positions[0] - 1) + 1, stride)
        columns = slice(j * dilation, j * dilation + stride * (positions[1] - 1) + 1, stride)
        to_x[..., rows, columns] += np.einsum("oc,nohw->nchw", flat[..., tap], g)
    to_x = to_x[..., padding : padding + sides[0], padding : padding + sides[1]]
    to_w = np.einsum("nckhw,nohw->ock", met, g).reshape(w.shape)

    operands = [given(values.astype(dtype)).requires_grad_() for values in (x, w, bias)]
    result = F.conv2d(*operands, stride=stride, padding=padding, dilation=dilation)
    assert np.array_equal(result.detach().numpy(), want + bias[:, None, None])
    grads = rg.autograd.grad(result, operands, given(g.astype(dtype)))
    for grad, values in zip(grads, (to_x, to_w, g.sum((0, 2, 3))), strict=True):
        assert np.array_equal(grad.numpy(), values)


WINDOWS = [(2, 2, 0), (3, 2, 1), (3, 1, 1), (2, 1, 0), (5, 3, 2), (1, 2, 0)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64"])
@pytest.mark.parametrize("sizes", [(2, 3, 80), (2, 3, 9, 41), (1, 2, 5, 6, 37)])
def test_maxima_are_the_same_with_and_without_indices(sizes, dtype):
    rank = len(sizes) - 2
    values = given(np.round(numbers(*sizes) * 4))
    if dtype != "int64":
        flat = values.view(-1)
        flat[::17], flat[::29], flat[3:7] = float("-inf"), float("nan"), 0.0
    x = values.to(getattr(rg, dtype))
    pool, adaptive = getattr(F, f"max_pool{rank}d"), getattr(F, f"adaptive_max_pool{rank}d")
    calls = [lambda x, k=k, s=s, p=p, **kw: pool(x, k, s, p, **kw) for k, s, p in WINDOWS]
    if dtype != "int64":
        calls += [lambda x, n=n, **kw: adaptive(x, n, **kw) for n in (1, 2, 4)]
    elif rank == 1:
        calls = []
    for call in calls:
        both, places = call(x, return_indices=True)
        alone = call(x)
        assert alone.dtype == both.dtype
        assert alone.shape == both.shape == places.shape
        assert rg.equal(alone.nan_to_num(5.5), both.nan_to_num(5.5))
        assert rg.equal(alone.isnan(), both.isnan())
        if dtype == "int64":
            continue
        y = x.clone().requires_grad_()
        recorded = call(y)
        assert rg.equal(recorded.detach().nan_to_num(5.5), both.nan_to_num(5.5))
        g = given(numbers(*both.shape)).to(x.dtype)
        (grad,) = rg.autograd.grad(recorded, y, g)
        wanted = rg.zeros(sizes, dtype=rg.float64).flatten(2)
        wanted.scatter_add_(2, places.flatten(2), g.double().flatten(2))
        np.testing.assert_allclose(grad.double().numpy(), wanted.view(sizes).numpy(), rtol=0.02, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32"])
@pytest.mark.parametrize("sizes", [(256, 512), (512, 256), (1024, 1024), (70, 1000), (37, 41), (5000, 8), (8, 5000)])
def test_transposed_copies(sizes, dtype):
    x = given(np.round(numbers(*sizes) * 100)).to(getattr(rg, dtype))
    np.testing.assert_array_equal(x.t().contiguous().double().numpy(), x.double().numpy().T)
    # Of a part, which begins and ends between the lines of the caches.
    part = x[1:-1, 1:-2]
    np.testing.assert_array_equal(part.t().contiguous().double().numpy(), x.double().numpy()[1:-1, 1:-2].T)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("lines", [1, 2, 3, 4, 5, 7, 8, 9, 101])
def test_running_results_of_short_lines(lines, dtype):
    for n in (*range(1, 10), 12, 15, 16, 17, 33):
        values = np.round(numbers(lines, n + 1) * 2).astype(dtype)  # sums are exact
        for x, t in ((values, given(values)), (values[:, :n], given(values)[:, :n])):
            np.testing.assert_array_equal(t.cumsum(1).numpy(), x.cumsum(1))
            np.testing.assert_array_equal(t.cummax(1).values.numpy(), np.maximum.accumulate(x, 1))
            np.testing.assert_array_equal(t.clone().cumsum_(1).numpy(), x.cumsum(1))
            if dtype != "int64":
                # The gradient runs backwards.
                leaf = t.detach().requires_grad_()
                (grad,) = rg.autograd.grad(leaf.cumsum(1), leaf, t)
                np.testing.assert_array_equal(grad.numpy(), x[:, ::-1].cumsum(1)[:, ::-1])


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64", "complex64"])
@pytest.mark.parametrize("sizes", [(301, 5, 4), (1003, 3, 3), (70, 16, 16), (70, 17, 5), (5, 2, 9, 7), (400, 2, 2)])
def test_short_rows_along_a_middle_axis(sizes, dtype):
    """Both inner axes are short: elements beside each other, sums and running sums along the middle one."""
    x, y = (given(np.round(numbers(*sizes) * 3)).to(getattr(rg, dtype)) for _ in range(2))  # sums are exact
    wide = "complex128" if dtype == "complex64" else "float64"
    a, b = (t.to(getattr(rg, wide)).numpy() for t in (x, y))

    def same(got, want):
        np.testing.assert_array_equal(got.to(getattr(rg, wide)).numpy(), want)

    for other in (y, y[..., :1, :], y[..., :1], y[:1], y[:1, ..., :1]):
        row = other.to(getattr(rg, wide)).numpy()
        same(x - other, a - row)
        same(other - x, row - a)
        same(x.clone().sub_(other), a - row)
        same(rg.sub(other.expand_as(x), x, out=rg.empty_like(x.mT).mT), row - a)
    # The operand behind the first is the result.
    same(rg.sub(y, z := x.clone(), out=z), b - a)
    same(rg.sub(y[..., :1, :], z := x.clone(), out=z), b[..., :1, :] - a)
    same(x.sum(-2), a.sum(-2))
    same(x.mT.sum(-1), a.sum(-2))
    same(x.cumsum(-2), a.cumsum(-2))
    same(x.clone().cumsum_(-2), a.cumsum(-2))
    if dtype != "complex64":
        same(x.amax(-2), a.max(-2))
        same(x.cummin(-2).values, np.minimum.accumulate(a, -2))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("width", [*range(1, 10), 12, 16, 31, 32, 64, 100])
def test_copies_of_short_rows(width, dtype):
    x = np.round(numbers(7, 61, 2 * width) * 50).astype(dtype)
    t = given(x)
    for part in (np.s_[:, ::2, :width], np.s_[:, 1:40, width:], np.s_[1:, :, ::2], np.s_[::3, 5:, 1::2]):
        for axes in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            copied = t[part].permute(axes).contiguous()
            np.testing.assert_array_equal(copied.numpy(), x[part].transpose(axes))


@pytest.mark.parametrize("times", [2, 3, 4, 5, 7, 9])
def test_pixels_of_many_channels(times):
    x = numbers(3, 2 * times * times, 19, 11, dtype="float32")
    whole = x.reshape(3, 2, times, times, 19, 11).transpose(0, 1, 4, 2, 5, 3).reshape(3, 2, 19 * times, 11 * times)
    np.testing.assert_array_equal(F.pixel_shuffle(given(x), times).numpy(), whole)
    np.testing.assert_array_equal(F.pixel_unshuffle(given(whole), times).numpy(), x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16"])
@pytest.mark.parametrize("sizes", [(5000, 4), (4099, 8), (700, 1), (513, 100), (40, 3)])
def test_extremes_down_narrow_columns(sizes, dtype):
    """Many rows are looked at side by side: the first of equal numbers is named, and the first NaN before all."""
    x = np.round(numbers(*sizes) * 2).astype(dtype)
    for poisoned in (False, True) if dtype.startswith("float") else (False,):
        if poisoned:
            x[[sizes[0] // 2, sizes[0] // 2 + 1, -1]] = np.nan
        for name in ("max", "min"):
            values, places = getattr(given(x), name)(0)
            np.testing.assert_array_equal(places.numpy(), getattr(np, f"arg{name}")(x, 0))
            np.testing.assert_array_equal(values.numpy(), getattr(np, name)(x, 0))


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("sizes", [(3, 2, 40, 56), (1, 1, 5, 70), (2, 3, 9, 9)])
def test_borders_of_wide_images(sizes, mode):
    x = numbers(*sizes)
    numpy_mode = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    for left, right, top, bottom in [(2, 2, 2, 2), (0, 3, 1, 0), (4, 0, 0, 4)]:
        wanted = np.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)], mode=numpy_mode)
        np.testing.assert_array_equal(F.pad(given(x), (left, right, top, bottom), mode=mode).numpy(), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool", "complex64", "bfloat16"])
def test_sums_of_what_is_repeated(dtype):
    base = given(np.round(numbers(1, 7, 1, 5) * 3)).to(getattr(rg, dtype))
    x = base.expand(40, 7, 6, 5)
    dense = x.contiguous()
    for dims in [(0,), (1,), (2,), (3,), (0, 1), (1, 3), (0, 2), (1, 2, 3), (0, 1, 2, 3)]:
        for keepdim in (False, True):
            got, wanted = x.sum(dims, keepdim), dense.sum(dims, keepdim)
            assert got.shape == wanted.shape
            assert got.dtype == wanted.dtype
            assert got.is_contiguous()
            assert rg.equal(got, wanted), dims
    number = rg.ones((), dtype=base.dtype).expand(300, 4)
    assert rg.equal(number.sum(0), number.contiguous().sum(0))
    number.sum(0)[0] = 0
    assert bool((number == 1).all())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("width", [1, 4, 8, 16, 33, 64, 200, 1024])
def test_normalized_rows_and_groups(width, dtype):
    rtol = 2e-4 if dtype == "float32" else 1e-10
    x, g = numbers(70, width, dtype=dtype), numbers(70, width, dtype=dtype)
    w, b = numbers(width, dtype=dtype), numbers(width, dtype=dtype)
    for groups in (0, 1, 2, 4):
        if groups and width % groups:
            continue
        parts = x.astype("float64").reshape(70, max(groups, 1), -1)
        mean = parts.mean(2, keepdims=True)
        rstd = 1 / np.sqrt(parts.var(2, keepdims=True) + 1e-3)
        h = (parts - mean) * rstd
        q = (g * w).astype("float64").reshape(parts.shape)
        gx = rstd * (q - q.mean(2, keepdims=True) - h * (q * h).mean(2, keepdims=True))
        flat = h.reshape(70, width)
        xs = [given(t).requires_grad_() for t in (x, w, b)]
        if groups:
            y = F.group_norm(xs[0], groups, xs[1], xs[2], eps=1e-3)
        else:
            y = F.layer_norm(xs[0], (width,), xs[1], xs[2], eps=1e-3)
        near = {"rtol": rtol, "atol": rtol * 30}
        np.testing.assert_allclose(y.detach().numpy(), flat * w + b, **near)
        grads = rg.autograd.grad(y, xs, given(g))
        wanted = (gx.reshape(70, width), (g * flat).sum(0), g.astype("float64").sum(0))
        for got, want in zip(grads, wanted, strict=True):
            np.testing.assert_allclose(got.numpy(), want, **near)


def bilinear(x, at):
    """Samples of an image (C, H, W) at points (n, 2) from -1 to 1, its corners; zeros outside."""
    c, h, w = x.shape
    px, py = (at[:, 0] + 1) / 2 * (w - 1), (at[:, 1] + 1) / 2 * (h - 1)
    found = np.zeros((c, len(at)))
    for dy in (0, 1):
        for dx in (0, 1):
            ix, iy = np.floor(px).astype(int) + dx, np.floor(py).astype(int) + dy
            weight = (1 - abs(px - ix)) * (1 - abs(py - iy))
            inside = (ix >= 0) & (ix < w) & (iy >= 0) & (iy < h)
            found[:, inside] += weight[inside] * x[:, iy[inside], ix[inside]]
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("channels", [1, 3, 4, 6, 9])
@pytest.mark.parametrize("points", [(1, 15), (7, 19), (40, 33)])
def test_samples_of_images_at_many_points(points, channels, dtype):
    x, grid = numbers(2, channels, 13, 17, dtype=dtype), numbers(2, *points, 2, dtype=dtype) * 0.8
    grid = grid.astype(dtype)
    got = F.grid_sample(given(x), given(grid), align_corners=True).numpy()
    atol = 1e-4 if dtype == "float32" else 1e-11
    for image, at, samples in zip(x, grid, got, strict=True):
        wanted = bilinear(image.astype("float64"), at.reshape(-1, 2).astype("float64"))
        np.testing.assert_allclose(samples.reshape(channels, -1), wanted, atol=atol)
    # Each channel as if there were no others, whatever a sample is made of.
    for mode in ("bilinear", "nearest", "bicubic"):
        together = F.grid_sample(given(x), given(grid), mode=mode, align_corners=False)
        alone = [F.grid_sample(t, given(grid), mode=mode, align_corners=False) for t in given(x).split(1, 1)]
        assert rg.equal(together, rg.cat(alone, 1))


@pytest.mark.parametrize("dtype", [rg.float32, rg.float64, rg.float16, rg.bfloat16])
@pytest.mark.parametrize("width", [1, 31, 64, 65, 300])
def test_operands_that_stay_along_rows(width, dtype):
    """An element beside rows, in vectors and in what is left of them: exact, whatever the dtype."""
    x, y = (given(numbers(5, 7, width)).to(dtype) for _ in range(2))
    wide = x.double().numpy()
    column, row = y[:, :, :1], y[0, 0]
    for other in (column, row, y):
        b = other.double().numpy()
        for first, second, one, two in ((x, other, wide, b), (other, x, b, wide)):
            np.testing.assert_array_equal(rg.copysign(first, second).double().numpy(), np.copysign(one, two))
            np.testing.assert_array_equal(rg.fmax(first, second).double().numpy(), np.fmax(one, two))
            np.testing.assert_array_equal(rg.fmin(first, second).double().numpy(), np.fmin(one, two))
    weights = y[0, :, 0]
    got = F.prelu(x, weights)
    want = np.where(wide > 0, wide, wide * weights.double().numpy()[:, None])
    np.testing.assert_allclose(got.double().numpy(), want, rtol=rg.finfo(dtype).eps)
    assert got.dtype == dtype
    in_place = x.clone().copysign_(column)
    np.testing.assert_array_equal(in_place.double().numpy(), np.copysign(wide, column.double().numpy()))


@pytest.mark.parametrize("width", [3, 64, 300])
def test_integers_that_stay_along_rows(width):
    x = given(random.integers(-(2**62), 2**62, (9, width)))
    column = given(random.integers(-9, 9, (9, 1)))
    a, b = x.numpy(), column.numpy()
    with np.errstate(over="ignore"):
        for got, want in ((x * column, a * b), (x + column, a + b), (column - x, b - a), (column * x, b * a)):
            np.testing.assert_array_equal(got.numpy(), want)
    np.testing.assert_array_equal(rg.sign(x - x[0]).numpy(), np.sign(a - a[0]))
    x *= column
    np.testing.assert_array_equal(x.numpy(), a)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 7, 8, 9, 13])
def test_indices_along_short_rows(length):
    """Rows are read and written in whole groups, with some left over, in place and with gaps."""
    rows, size = 1203, 6
    table, source = numbers(rows, size), numbers(rows, length)
    index = random.integers(0, size, (rows, length))
    for x in (given(table), given(np.repeat(table, 2, axis=1))[:, ::2], given(table.T).mT):
        at = given(index)
        np.testing.assert_array_equal(x.gather(1, at).numpy(), np.take_along_axis(table, index, 1))
        want = table.copy()
        for k in range(length):
            want[np.arange(rows), index[:, k]] = source[:, k]
        np.testing.assert_array_equal(x.scatter(1, at, given(source)).numpy(), want)
        want = table.copy()
        np.add.at(want, (np.arange(rows)[:, None], index), source)
        np.testing.assert_allclose(x.scatter_add(1, at, given(source)).numpy(), want, rtol=1e-14, atol=1e-14)
        wrong = at.clone()
        wrong[rows - 1, length - 1] = size
        for call, args in ((x.gather, (1, wrong)), (x.scatter, (1, wrong, given(source)))):
            with pytest.raises(RuntimeError, match=f"index {size} is out of bounds for dimension 1 with size {size}"):
                call(*args)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("width", [1, 7, 64, 70])
def test_bags_of_all_lengths(width, dtype):
    """Rows are added up four at a time, in their order, so that sums have the bits of sums one after the other."""
    table = numbers(30, width, dtype=dtype)
    for padding in (None, 3):
        lengths = [*range(12), 33]
        indices = random.integers(0, 30, sum(lengths))
        offsets = np.cumsum([0, *lengths[:-1]])
        sums, counts, largest = [], [], []
        for start, length in zip(offsets, lengths, strict=True):
            rows = [table[i] for i in indices[start : start + length] if i != padding]
            total = np.zeros(width, dtype)
            for row in rows:
                total = total + row
            sums.append(total)
            counts.append(max(1, len(rows)))
            largest.append(np.max(rows, axis=0) if rows else np.zeros(width, dtype))
        args = (given(indices), given(table), given(offsets))
        bags = {m: F.embedding_bag(*args, mode=m, padding_idx=padding).numpy() for m in ("sum", "mean", "max")}
        np.testing.assert_array_equal(bags["sum"], np.array(sums))
        np.testing.assert_allclose(bags["mean"], np.array(sums) / np.array(counts)[:, None], rtol=1e-6)
        np.testing.assert_array_equal(bags["max"], np.array(largest))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_a_batch_with_indices_in_none(mode):
    """The bags of a batch are those of one list, in which indices lie between them that are in none."""
    table, indices, offsets = given(numbers(9, 5)), given(random.integers(0, 9, (3, 7))), given(np.array([0, 2, 2, 5]))

    def bags(i):
        return F.embedding_bag(i, table, offsets, mode=mode, include_last_offset=True)

    assert rg.equal(rg.vmap(bags)(indices), rg.stack([bags(i) for i in indices]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_directions_of_complex_numbers_of_all_sizes(dtype):
    n = 300
    real = np.finfo(dtype).dtype
    size = 10.0 ** random.uniform(np.log10(np.finfo(real).tiny) - 3, np.log10(np.finfo(real).max) - 1, n)
    z = (size * np.exp(1j * random.uniform(-np.pi, np.pi, n))).astype(dtype)
    z[:4] = [0.0, 1j, -2.0, 3 - 4j]
    z[100:200] = np.exp(1j * random.uniform(-np.pi, np.pi, 100)) * random.uniform(0.5, 2, 100)
    # Each part of a direction is known to rounding of the larger one; of subnormal numbers, to what is left of them.
    least = np.finfo(real).smallest_subnormal
    digits = np.maximum(np.finfo(real).eps, least / np.maximum(np.abs(z), least))
    wide = z.astype("clongdouble")
    want = np.where(z == 0, 0, wide / np.where(z == 0, 1, np.abs(wide))).astype("complex128")
    got = rg.sgn(given(z)).numpy()
    assert (np.abs(got - want) <= 4 * digits).all()
    x = given(z[100:200]).requires_grad_()
    g = numbers(100).astype(real)
    np.testing.assert_allclose(rg.autograd.grad(x.abs(), x, given(g))[0].numpy(), g * want[100:200], rtol=1e-6)


def test_bounds_and_numbers_that_are_not():
    """NaN goes through a clamp, and a bound that is NaN makes all of it NaN."""
    x = numbers(1001, dtype="float32")
    x[[0, 500, 1000]] = np.nan
    nan = float("nan")
    for dtype in (rg.float32, rg.float64, rg.bfloat16):
        y = given(x).to(dtype)
        wide = y.double().numpy()
        np.testing.assert_array_equal(y.clamp(-0.5, 0.75).double().numpy(), np.clip(wide, -0.5, 0.75))
        np.testing.assert_array_equal(y.clamp(min=0.25).double().numpy(), np.maximum(wide, 0.25))
        np.testing.assert_array_equal(y.clamp(max=0.25).double().numpy(), np.minimum(wide, 0.25))
        np.testing.assert_array_equal(y.clamp(1.0, -1.0).double().numpy(), np.where(np.isnan(wide), nan, -1.0))
        np.testing.assert_array_equal(y.relu().double().numpy(), np.maximum(wide, 0.0))
        for bounds in ({"min": nan}, {"max": nan}, {"min": nan, "max": 1.0}, {"min": 0.0, "max": nan}):
            assert y.clamp(**bounds).isnan().all()
            assert y.clone().clamp_(**bounds).isnan().all()
    assert rg.arange(5).clamp(min=nan).isnan().all()
    assert rg.signbit(rg.tensor([-0.0]).relu()).item()


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64", "float16"])
@pytest.mark.parametrize("count", [0, 1, 2, 23, 24, 25, 100, 3000])
def test_membership(count, dtype):
    tests = random.integers(0, 250, count).astype(dtype)
    for length in [1, 1023, 1024, 1025, 40_000]:
        elements = random.integers(0, 250, length).astype(dtype)
        if elements.dtype.kind == "f":
            elements[::7] += 0.5
            elements[3::11] = np.nan
            elements[5::13] *= -1
            if count > 1:
                tests[0] = np.nan
        for invert in (False, True):
            want = np.isin(elements, tests, invert=invert)
            got = rg.isin(given(elements), given(tests), invert=invert)
            np.testing.assert_array_equal(got.numpy(), want)


def on_threads(work):
    """The results of `work` on one thread, which are the same on two and three."""
    before, first = rg.get_num_threads(), None
    try:
        for threads in (1, 2, 3):
            rg.set_num_threads(threads)
            results = work()
            first = first or results
            for got, want in zip(results, first, strict=True):
                np.testing.assert_array_equal(got.detach().numpy(), want.detach().numpy())
    finally:
        rg.set_num_threads(before)
    return [t.detach().numpy() for t in first]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pools_of_many_planes_on_threads(dtype):
    a, c = numbers(6, 16, 55, 57, dtype=dtype), numbers(6, 16, 5, 4, dtype=dtype)
    x, g, weights = given(a).requires_grad_(), given(c).requires_grad_(), given(a[::-1])

    def pooled():
        mean = F.adaptive_avg_pool2d(x, (5, 4))
        most, at = F.adaptive_max_pool2d(x, (5, 4), return_indices=True)
        (back,) = rg.autograd.grad(mean, x, g)
        (back_of_most,) = rg.autograd.grad(most, x, g, create_graph=True)
        (picked,) = rg.autograd.grad(back_of_most, g, weights)
        return [mean, most, at, back, back_of_most, picked]

    mean, most, at, back, back_of_most, picked = on_threads(pooled)
    want_back, want_of_most = np.zeros_like(a), np.zeros_like(a)
    for i in range(5):
        for j in range(4):
            rows, columns = slice(i * 55 // 5, -(-(i + 1) * 55 // 5)), slice(j * 57 // 4, -(-(j + 1) * 57 // 4))
            part = a[:, :, rows, columns]
            np.testing.assert_allclose(mean[:, :, i, j], part.mean((2, 3)), rtol=1e-5, atol=1e-6)
            np.testing.assert_array_equal(most[:, :, i, j], part.max((2, 3)))
            want_back[:, :, rows, columns] += c[:, :, i, j, None, None] / part[0, 0].size
    np.testing.assert_allclose(back, want_back, rtol=1e-5, atol=1e-7)
    flat, at = a.reshape(96, -1), at.reshape(96, -1)
    np.testing.assert_array_equal(np.take_along_axis(flat, at, 1), most.reshape(96, -1))
    np.add.at(want_of_most.reshape(96, -1), (np.arange(96)[:, None], at), c.reshape(96, -1))
    np.testing.assert_allclose(back_of_most, want_of_most, rtol=1e-5)
    np.testing.assert_array_equal(picked.reshape(96, -1), np.take_along_axis(a[::-1].reshape(96, -1), at, 1))


@pytest.mark.parametrize("p", [0.0, 1.0, 1.5, 2.0, np.inf])
@pytest.mark.parametrize(("rows", "others", "size"), [(1, 1, 3), (2, 5, 1), (60, 41, 9), (301, 80, 33)])
def test_distances_on_threads(rows, others, size, p):
    a, b = numbers(2, rows, size), numbers(2, others, size)
    x, y = given(a).requires_grad_(), given(b).requires_grad_()
    g, h = numbers(2, rows, others), numbers(rows * (rows - 1) // 2)

    def found():
        every = rg.cdist(x, y, p=p, compute_mode="donot_use_mm_for_euclid_dist")
        pairs = F.pdist(x[0], p=p)
        return [every, pairs, *rg.autograd.grad(every, (x, y), given(g)), *rg.autograd.grad(pairs, x, given(h))]

    every, pairs, by_x, by_y, by_pairs = on_threads(found)
    upper = np.triu_indices(rows, 1)
    for got, difference in [(every, a[:, :, None] - b[:, None]), (pairs, a[0][upper[0]] - a[0][upper[1]])]:
        np.testing.assert_allclose(got, np.linalg.norm(difference, ord=p, axis=-1) if size else got, rtol=1e-12)

    def slopes(difference, distance):
        if p == 0:
            return np.zeros_like(difference)
        if p == np.inf:
            return np.where(abs(difference) == distance, np.sign(difference), 0)
        return np.sign(difference) * (abs(difference) / distance) ** (p - 1)

    along = g[..., None] * slopes(a[:, :, None] - b[:, None], every[..., None])
    np.testing.assert_allclose(by_x, along.sum(2), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(by_y, -along.sum(1), rtol=1e-10, atol=1e-11)
    want, along = np.zeros_like(a), h[:, None] * slopes(a[0][upper[0]] - a[0][upper[1]], pairs[:, None])
    np.add.at(want[0], upper[0], along)
    np.add.at(want[0], upper[1], -along)
    np.testing.assert_allclose(by_pairs, want, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_ctc_of_many_sequences_on_threads(zero_infinity):
    steps, count, classes = 60, 21, 13
    x = given(numbers(steps, count, classes)).log_softmax(2).requires_grad_()
    labels = given(random.integers(1, classes, (count, 20)))
    # One of them is longer than its steps.
    given_steps, lengths = [20 + 2 * i for i in range(count - 1)] + [5], [1 + i % 19 for i in range(count - 1)] + [20]
    g = given(numbers(count))

    def spelt(of):
        options = {"zero_infinity": zero_infinity, "reduction": "none"}
        y = F.ctc_loss(x[:, of], labels[of], given_steps[of], lengths[of], **options)
        return [y, *rg.autograd.grad(y, x, g[of])]

    losses, by_x = on_threads(lambda: spelt(slice(None)))
    assert np.isinf(losses[-1]) != zero_infinity and np.isfinite(losses[:-1]).all()
    for i in range(count):
        loss, gradient = (t.detach().numpy() for t in spelt(slice(i, i + 1)))
        np.testing.assert_array_equal(loss[0], losses[i])
        np.testing.assert_array_equal(gradient[:, i], by_x[:, i])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("times", [2, 3, 4, 5])
@pytest.mark.parametrize("sizes", [(7,), (40,), (5, 8), (23, 19), (3, 9, 17)])
def test_gradients_of_enlarged_images(sizes, times, dtype):
    x = given(numbers(2, 3, *sizes, dtype=dtype)).requires_grad_()
    y = F.interpolate(x, scale_factor=times)
    want = x.detach().numpy()
    g = numbers(*y.shape, dtype=dtype)
    sums = g.astype("float64").reshape(2, 3, *(n for size in sizes for n in (size, times)))
    for axis in range(len(sizes)):
        want = want.repeat(times, axis=2 + axis)
        sums = sums.sum(axis=3 + axis)
    np.testing.assert_array_equal(y.detach().numpy(), want)
    near = 1e-5 if dtype == "float32" else 1e-13
    (back,) = rg.autograd.grad(y, x, given(g))
    np.testing.assert_allclose(back.numpy(), sums, atol=near * times ** len(sizes))
    # Means of as many, and their gradient.
    mean = F.interpolate(given(g), scale_factor=1 / times, mode="area", recompute_scale_factor=False)
    np.testing.assert_allclose(mean.numpy(), sums / times ** len(sizes), atol=near)
