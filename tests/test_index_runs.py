"""Indices along every axis, with runs of all lengths behind them, against NumPy: what is read, written and added."""

import numpy as np
import pytest

DTYPES = ["uint8", "int16", "float32", "float64", "complex64", "complex128"]
# Sizes, and the axis that is indexed. The last axes of some are runs of one element and of a few; some are large enough
# to be divided among threads, by the axes before the index or by those after it.
SHAPES = [
    ((7,), 0),
    ((3000,), 0),
    ((50, 50), 1),
    ((700, 8), 1),
    ((2, 9, 33), 2),
    ((30, 5, 1), 1),
    ((40, 11, 2), 1),
    ((40, 11, 3), 1),
    ((40, 11, 7), 1),
    ((40, 11, 8), 1),
    ((6, 20, 40), 1),
    ((2, 9, 600), 1),
    ((30, 5000), 0),
    ((6, 5, 4, 3), 2),
    ((300, 300), 1),
    ((90, 3001), 1),
]
LAYOUTS = ["contiguous", "reversed axes", "last two swapped", "every second", "gaps before"]
CASES = [(dtype, LAYOUTS[0]) for dtype in DTYPES] + [("float32", layout) for layout in LAYOUTS[1:]]


@pytest.fixture(params=[1, 3])
def threads(rg, request):
    before = rg.get_num_threads()
    rg.set_num_threads(request.param)
    yield request.param
    rg.set_num_threads(before)


def array(shape, dtype, seed):
    x = np.random.default_rng(seed).integers(0, 50, shape)
    return (x * (1 + 1j) if dtype.startswith("complex") else x).astype(dtype)


def laid_out(rg, x, layout):
    """A tensor of the values `x` in such a layout."""
    if layout == "reversed axes":
        return rg.tensor(np.ascontiguousarray(x.T)).permute(*range(x.ndim)[::-1])
    if layout == "last two swapped":
        return rg.tensor(np.ascontiguousarray(np.swapaxes(x, -1, -2))).transpose(-1, -2) if x.ndim > 1 else rg.tensor(x)
    if layout == "every second":
        return rg.tensor(np.repeat(x, 2, axis=-1))[..., ::2]
    if layout == "gaps before":
        return rg.tensor(np.repeat(x, 2, axis=0))[::2]
    return rg.tensor(x)


def test_layouts_are_what_they_say(rg):
    x = array((4, 5, 6), "float32", 1)
    strides = {name: laid_out(rg, x, name).stride() for name in LAYOUTS}
    assert strides == {
        "contiguous": (30, 6, 1),
        "reversed axes": (1, 4, 20),
        "last two swapped": (30, 1, 5),
        "every second": (60, 12, 2),
        "gaps before": (60, 6, 1),
    }
    for name in LAYOUTS:
        np.testing.assert_array_equal(laid_out(rg, x, name).numpy(), x)


def positions(n, count, seed, *, negative):
    """Places in an axis, many of them more than once."""
    index = np.random.default_rng(seed).integers(0, n, count)
    return np.where(index % 3 == 0, index - n, index) if negative else index


def along(dim, index):
    return (slice(None),) * dim + (index,)


@pytest.mark.parametrize(("dtype", "layout"), CASES)
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_reads(rg, threads, shape, dim, dtype, layout):
    x = array(shape, dtype, 1)
    t = laid_out(rg, x, layout)
    for count in (1, shape[dim] + 3):
        plain, signed = (positions(shape[dim], count, 2, negative=negative) for negative in (False, True))
        np.testing.assert_array_equal(t.index_select(dim, rg.tensor(plain)).numpy(), np.take(x, plain, dim))
        got = t[along(dim, rg.tensor(signed))]
        assert got.is_contiguous()
        np.testing.assert_array_equal(got.numpy(), np.take(x, signed, dim))
        pair = np.stack([signed, plain])
        np.testing.assert_array_equal(t[along(dim, rg.tensor(pair))].numpy(), np.take(x, pair, dim))
    full = positions(x.size, shape, 3, negative=True)
    np.testing.assert_array_equal(t.take(rg.tensor(full)).numpy(), np.take(x, full))
    full = positions(shape[dim], shape, 4, negative=False)
    np.testing.assert_array_equal(t.gather(dim, rg.tensor(full)).numpy(), np.take_along_axis(x, full, dim))


@pytest.mark.parametrize(("dtype", "layout"), CASES)
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_writes(rg, threads, shape, dim, dtype, layout):
    """Where an index comes twice, what is last in row-major order stays, and sums have it all."""
    count = shape[dim] + 3
    sizes = (*shape[:dim], count, *shape[dim + 1 :])
    x, source = array(shape, dtype, 1), array(sizes, dtype, 2)
    plain, signed = (positions(shape[dim], count, 3, negative=negative) for negative in (False, True))
    last = np.moveaxis(x.copy(), dim, 0)
    for i, part in zip(plain, np.moveaxis(source, dim, 0), strict=True):
        last[i] = part
    last = np.moveaxis(last, 0, dim)
    total = x.copy()
    np.add.at(total, along(dim, plain), source)
    filled = x.copy()
    filled[along(dim, plain)] = 5

    def same(got, want):
        np.testing.assert_array_equal(got.numpy(), want)

    # In place, so that the layout is that of the target too.
    target, s = (lambda: laid_out(rg, x, layout)), laid_out(rg, source, layout)
    i, j = rg.tensor(plain), rg.tensor(signed)
    same(target().index_copy_(dim, i, s), last)
    same(target().index_copy(dim, i, s), last)
    same(target().index_add_(dim, i, s), total)
    same(target().index_add(dim, i, s, alpha=2), total + (total - x))
    same(target().index_fill_(dim, i, 5), filled)
    t = target()
    t[along(dim, j)] = s
    same(t, last)
    # The axes before are indexed too, by tensors that are broadcast.
    axes = tuple(rg.tensor(k) for k in np.ix_(*(np.arange(n) for n in shape[:dim]), signed))
    same(target().index_put_(axes, s, accumulate=True), total)
    same(target().index_put_(axes, s), last)

    full, flat = positions(x.size, shape, 4, negative=True), array(shape, dtype, 5)
    want = x.copy().reshape(-1)
    want[full.reshape(-1)] = flat.reshape(-1)
    same(target().put(rg.tensor(full), rg.tensor(flat)).reshape(-1), want)
    want = x.copy().reshape(-1)
    np.add.at(want, full, flat)
    same(target().put(rg.tensor(full), rg.tensor(flat), accumulate=True).reshape(-1), want)

    full = positions(shape[dim], shape, 6, negative=False)
    places = list(np.indices(shape))
    places[dim] = full
    want = x.copy()
    np.add.at(want, tuple(places), flat)
    same(target().scatter_add_(dim, rg.tensor(full), rg.tensor(flat)), want)
    want = x.copy()
    want[tuple(places)] = flat
    same(target().scatter_(dim, rg.tensor(full), laid_out(rg, flat, layout)), want)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_runs_of_axes_that_are_no_one(rg, threads, dtype):
    """Axes after the index that cannot be walked as one, and an expanded operand."""
    x = array((9, 6, 5, 4), "float32", 1)
    index = positions(9, 70, 2, negative=True)
    i = rg.tensor(index).to(getattr(rg, dtype))
    for axes in [(0, 1, 3, 2), (0, 2, 1, 3), (0, 3, 2, 1), (0, 2, 3, 1)]:
        view = x.transpose(axes)
        t = rg.tensor(x).permute(*axes)
        np.testing.assert_array_equal(t[i].numpy(), view[index])
        target, source = rg.tensor(x), array((70, *view.shape[1:]), "float32", 3)
        target.permute(*axes)[i] = rg.tensor(source)
        want = x.copy()
        for k, part in zip(index, source, strict=True):
            want.transpose(axes)[k] = part
        np.testing.assert_array_equal(target.numpy(), want)
    t = rg.tensor(x[:, :1]).expand(9, 50, 5, 4)
    np.testing.assert_array_equal(t[:, i].numpy(), np.repeat(x[:, :1], 70, axis=1))


@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_what_does_not_exist_is_refused_and_nothing_written(rg, threads, shape, dim):
    x = array(shape, "float32", 1)
    count, n = shape[dim] + 3, shape[dim]
    sizes = (*shape[:dim], count, *shape[dim + 1 :])
    s = rg.ones(*sizes)
    for value in (n, -n - 1, -1, 2**63 - 1, -(2**63)):
        for at in (0, count // 2, count - 1):
            t = rg.tensor(x)
            index = positions(n, count, 3, negative=False)
            index[at] = value
            i = rg.tensor(index)
            spread = i.reshape([-1 if d == dim else 1 for d in range(len(shape))]).expand(*sizes)
            with pytest.raises(IndexError, match="out of range"):
                t.index_select(dim, i)
            with pytest.raises(RuntimeError, match=f"index {value} is out of bounds for dimension {dim} with size {n}"):
                t.index_add_(dim, i, s)
            with pytest.raises(IndexError, match=f"index {value} is out of bounds"):
                t.index_copy_(dim, i, s)
            for name in (t.scatter_, t.scatter_add_):
                with pytest.raises(RuntimeError, match=f"index {value} is out of bounds"):
                    name(dim, spread, s)
            if value == -1:
                continue  # counts from the end
            with pytest.raises(IndexError, match=f"index {value} is out of bounds for dimension {dim} with size {n}"):
                t[along(dim, i)]
            with pytest.raises(IndexError, match=f"index {value} is out of bounds"):
                t[along(dim, i)] = s
            with pytest.raises(IndexError, match=f"index {value} is out of bounds"):
                t.index_fill_(dim, i, 2.0)
            np.testing.assert_array_equal(t.numpy(), x)
            assert t._version == 0
    full = positions(x.size, shape, 4, negative=True)
    for value in (x.size, -x.size - 1):
        full.reshape(-1)[-1] = value
        t = rg.tensor(x)
        message = f"out of range: tried to access index {value} on a tensor of {x.size} elements"
        with pytest.raises(IndexError, match=message):
            t.take(rg.tensor(full))
        with pytest.raises(IndexError, match=message):
            t.put_(rg.tensor(full), rg.tensor(x))
        np.testing.assert_array_equal(t.numpy(), x)
