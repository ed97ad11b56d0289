"""Convolutions of few images are divided among threads one by one: the sums are those of the definition, and no bit
depends on the number of threads."""

import pytest

import retrograd as rg

F = rg.nn.functional
# batch, groups, channels, filters, side, kernel, stride, padding
SHAPES = [
    (1, 1, 40, 24, 40, 3, 1, 1),
    (1, 1, 64, 300, 9, 3, 1, 1),
    (3, 1, 24, 50, 33, 3, 1, 0),
    (1, 2, 60, 40, 41, 3, 2, 1),
    (2, 40, 40, 40, 48, 5, 1, 2),
    (1, 1, 64, 48, 36, 1, 1, 0),
    (17, 1, 16, 20, 24, 3, 1, 1),
    (1, 1, 60, 1, 150, 3, 1, 1),
]


@pytest.fixture(autouse=True)
def threads_as_before():
    before = rg.get_num_threads()
    yield
    rg.set_num_threads(before)


def by_taps(x, w, b, groups, stride, padding):
    """One product for each tap."""
    x = F.pad(x, [padding] * 4)
    batch, channels, height, width = x.shape
    filters, per_group, kernel, _ = w.shape
    rows, columns = ((size - kernel) // stride + 1 for size in (height, width))
    x = x.reshape(batch, groups, channels // groups, height, width)
    w = w.reshape(groups, filters // groups, per_group, kernel, kernel)
    total = 0
    for i in range(kernel):
        for j in range(kernel):
            at = x[..., i : i + (rows - 1) * stride + 1 : stride, j : j + (columns - 1) * stride + 1 : stride]
            total = total + rg.einsum("ngchw,gfc->ngfhw", at, w[..., i, j])
    return total.reshape(batch, filters, rows, columns) + b.reshape(-1, 1, 1)


@pytest.mark.parametrize("dtype", [rg.float32, rg.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_they_are_sums_over_taps_on_any_number_of_threads(shape, dtype):
    batch, groups, channels, filters, side, kernel, stride, padding = shape
    draw = rg.Generator().manual_seed(3)
    x, w, b = (
        rg.randn(*sizes, generator=draw, dtype=dtype, requires_grad=True)
        for sizes in ((batch, channels, side, side), (filters, channels // groups, kernel, kernel), (filters,))
    )
    wide = [t.detach().double().requires_grad_() for t in (x, w, b)]
    expected = by_taps(*wide, groups, stride, padding)
    cotangent = rg.randn(*expected.shape, generator=draw, dtype=dtype)
    grads = rg.autograd.grad(expected, wide, cotangent.double())
    found = []
    for threads in (1, 2, 3):
        rg.set_num_threads(threads)
        y = F.conv2d(x, w, b, stride=stride, padding=padding, groups=groups)
        found.append([y.detach(), *rg.autograd.grad(y, [x, w, b], cotangent)])
        for got, first, want in zip(found[-1], found[0], [expected.detach(), *grads], strict=True):
            assert rg.equal(got, first)
            # Errors of sums grow with the root of their length; none here has more than 30,000 terms.
            scale = want.abs().max()
            assert (got.double() - want).abs().max() <= 200 * rg.finfo(dtype).eps * scale
