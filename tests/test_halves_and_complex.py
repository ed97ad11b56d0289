"""Halves and complex numbers in what makes, draws, normalizes and adds up numbers, beside those of PyTorch 2.13."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd.nn import functional as F

Made = Callable[[], rg.Tensor]

# After `manual_seed(0)`. Halves are equal bit by bit.
HALVES: list[tuple[Made, list[Any]]] = [
    (lambda: rg.randn(5, dtype=rg.bfloat16), [1.5390625, -0.29296875, -2.171875, 0.5703125, -1.0859375]),
    (lambda: rg.randn(5, dtype=rg.float16), [1.541015625, -0.29345703125, -2.1796875, 0.568359375, -1.0849609375]),
    (
        lambda: rg.randn(18, dtype=rg.bfloat16),
        [
            -1.125,
            -1.15625,
            -1.3515625,
            -1.6953125,
            0.56640625,
            0.79296875,
            0.59765625,
            -1.5546875,
            -0.341796875,
            1.8515625,
            0.75,
            -0.5859375,
            -0.173828125,
            0.18359375,
            1.390625,
            1.5859375,
            0.9453125,
            -0.84375,
        ],
    ),
    (
        lambda: rg.randn(18, dtype=rg.float16),
        [
            -1.1259765625,
            -1.15234375,
            -1.3525390625,
            -1.6962890625,
            0.56689453125,
            0.79345703125,
            0.5986328125,
            -1.5546875,
            -0.34130859375,
            1.8525390625,
            0.75,
            -0.58544921875,
            -0.17333984375,
            0.1834716796875,
            1.3896484375,
            1.5859375,
            0.9462890625,
            -0.84375,
        ],
    ),
    (lambda: rg.rand(5, dtype=rg.bfloat16), [0.49609375, 0.76953125, 0.08837890625, 0.1318359375, 0.306640625]),
    (
        lambda: rg.rand(5, dtype=rg.float16),
        [0.496337890625, 0.76806640625, 0.0885009765625, 0.132080078125, 0.307373046875],
    ),
    (
        lambda: rg.empty(6, dtype=rg.bfloat16).uniform_(-1.3, 2.7),
        [0.68359375, 1.7734375, -0.9453125, -0.7734375, -0.0703125, 1.234375],
    ),
    (
        lambda: rg.empty(6, dtype=rg.float16).uniform_(0.1, 0.3),
        [0.19921875, 0.253662109375, 0.11767578125, 0.12646484375, 0.1614990234375, 0.226806640625],
    ),
    (lambda: rg.empty(5, dtype=rg.bfloat16).normal_(0.3, 1.7), [2.921875, -0.19921875, -3.40625, 1.265625, -1.546875]),
    (
        lambda: rg.empty(17, dtype=rg.float16).normal_(0.3, 1.7),
        [
            -1.6142578125,
            -1.9990234375,
            -2.583984375,
            1.263671875,
            1.6494140625,
            1.318359375,
            -2.34375,
            -0.2802734375,
            3.44921875,
            1.5751953125,
            -0.6953125,
            0.00522613525390625,
            0.61181640625,
            2.662109375,
            2.99609375,
            1.9091796875,
            -1.1337890625,
        ],
    ),
    (lambda: rg.empty(5, dtype=rg.bfloat16).exponential_(1.5), [2.34375, 0.8203125, 0.41015625, 1.6875, 0.69140625]),
    (lambda: rg.empty(5, dtype=rg.float16).random_(), [1277.0, 1017.0, 1661.0, 999.0, 982.0]),
    (lambda: rg.empty(5, dtype=rg.bfloat16).random_(-200, 200), [-156.0, 39.0, -67.0, -40.0, -37.0]),
    (lambda: rg.randint(0, 10, (5,), dtype=rg.float16), [4.0, 9.0, 3.0, 0.0, 3.0]),
    (lambda: rg.bernoulli(rg.full((8,), 0.3, dtype=rg.bfloat16)), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
    (
        lambda: rg.normal(0.3, rg.arange(1, 9, dtype=rg.bfloat16)),
        [1.84375, -0.28515625, -6.1875, 2.578125, -5.125, -8.0625, 3.125, 7.03125],
    ),
    (
        lambda: rg.normal(rg.arange(1, 9, dtype=rg.float16), 0.7),
        [2.078125, 1.794921875, 1.474609375, 4.3984375, 4.2421875, 5.01953125, 7.28125, 8.5859375],
    ),
    (
        lambda: rg.arange(0.1, 1.3, 0.2, dtype=rg.bfloat16),
        [0.10009765625, 0.30078125, 0.5, 0.69921875, 0.8984375, 1.1015625],
    ),
    (lambda: rg.arange(0, 3000, 500.5, dtype=rg.float16), [0.0, 500.5, 1001.0, 1502.0, 2002.0, 2502.0]),
    (
        lambda: rg.linspace(0.3, 9.9, 7, dtype=rg.bfloat16),
        [0.30078125, 1.890625, 3.484375, 5.09375, 6.6875, 8.25, 9.875],
    ),
    (lambda: rg.linspace(-3, 10, 6, dtype=rg.float16), [-3.0, -0.400390625, 2.19921875, 4.80078125, 7.3984375, 10.0]),
    (lambda: rg.linspace(rg.tensor(0.3), rg.tensor(9.9), 7, dtype=rg.int64), [0, 1, 3, 4, 6, 7, 9]),
    (lambda: rg.logspace(0, 1, 4, dtype=rg.float16), [1.0, 2.154296875, 4.640625, 10.0]),
    (
        lambda: rg.zeros(2, dtype=rg.bfloat16).scatter_add(
            0, rg.zeros(300, dtype=rg.int64), rg.ones(300, dtype=rg.bfloat16)
        ),
        [300.0, 0.0],
    ),
    (lambda: rg.nn.functional.batch_norm(rg.empty(0), None, None, training=True), []),
    (lambda: rg.nn.functional.batch_norm(rg.empty(0), rg.zeros(1), rg.ones(1), rg.ones(1), rg.ones(1)), []),
]
# As near as the elementary functions of two libraries are.
COMPLEX: list[tuple[Made, list[complex]]] = [
    (
        lambda: rg.randn(3, dtype=rg.complex64),
        [
            (1.0896488428115845 - 0.20748557150363922j),
            (-1.5406367778778076 + 0.40194159746170044j),
            (-0.7668731212615967 - 0.9889562726020813j),
        ],
    ),
    (
        lambda: rg.randn(9, dtype=rg.complex64),
        [
            (-0.7960889935493469 - 0.8148416876792908j),
            (0.4006825089454651 + 0.561095118522644j),
            (0.42344343662261963 - 1.0996181964874268j),
            (-0.24137824773788452 + 1.3102731704711914j),
            (0.3309941291809082 - 0.11151953786611557j),
            (-0.12261001765727997 + 0.12973849475383759j),
            (0.9824302196502686 + 1.1217076778411865j),
            (0.6691339612007141 - 0.5965695381164551j),
            (0.6589009165763855 + 0.8902539610862732j),
        ],
    ),
    (
        lambda: rg.randn(3, dtype=rg.complex128),
        [
            (1.089648797921442 - 0.20748556905971358j),
            (-1.5406367468421671 + 0.40194161080369084j),
            (-0.766873102676344 - 0.9889562882030274j),
        ],
    ),
    (
        lambda: rg.rand(3, dtype=rg.complex128),
        [
            (0.9700530018065531 + 0.707819864399788j),
            (0.45938294312745087 + 0.9207476841219603j),
            (0.6450241201227648 + 0.7911478921803037j),
        ],
    ),
    (
        lambda: rg.empty(3, dtype=rg.complex64).normal_(0.3, 1.7),
        [
            (2.152402877807617 - 0.05272546783089638j),
            (-2.319082498550415 + 0.9833007454872131j),
            (-1.0036842823028564 - 1.3812257051467896j),
        ],
    ),
    (
        lambda: rg.linspace(0, 1 + 2j, 4, dtype=rg.complex128),
        [0j, (0.3333333333333333 + 0.6666666666666666j), (0.6666666666666667 + 1.3333333333333335j), (1 + 2j)],
    ),
    (
        lambda: rg.ones(3, dtype=rg.complex64).scatter(0, rg.tensor([0, 0, 2]), rg.full((3,), 2j), reduce="multiply"),
        [(-4 + 0j), (1 + 0j), 2j],
    ),
]


@pytest.mark.parametrize(("made", "numbers"), HALVES)
def test_halves_are_those_of_torch(made: Made, numbers: list[Any]) -> None:
    rg.manual_seed(0)
    assert made().tolist() == numbers


@pytest.mark.parametrize(("made", "numbers"), COMPLEX)
def test_complex_numbers_are_those_of_torch(made: Made, numbers: list[complex]) -> None:
    rg.manual_seed(0)
    y = made()
    bound = 4 * float(np.finfo(y.numpy().dtype).eps)
    np.testing.assert_allclose(y.numpy(), numbers, rtol=bound, atol=bound)


def test_sums_into_halves_are_rounded_once() -> None:
    at, ones = rg.zeros(300, dtype=rg.int64), rg.ones(300, dtype=rg.bfloat16)
    x = rg.zeros(2, dtype=rg.bfloat16)
    sums = [
        x.index_add(0, at, ones),
        x.scatter_add(0, at, ones),
        x.put(at, ones, accumulate=True),
        x.index_put((at,), ones, accumulate=True),
        x.clone().index_add_(0, at, ones),
    ]
    assert [y.tolist() for y in sums] == [[300.0, 0.0]] * 5  # one by one it would stay at 256


HALF = pytest.mark.parametrize("half", [rg.bfloat16, rg.float16])


@HALF
@pytest.mark.parametrize("scales", [rg.float32, None])
@pytest.mark.parametrize("name", ["layer_norm", "batch_norm", "group_norm"])
def test_norms_of_halves_take_scales_in_float32(name: str, scales: Any, half: Any) -> None:
    rg.manual_seed(1)
    dtype = scales or half
    x = rg.randn(6, 4).to(half).requires_grad_()
    weight, bias = (rg.randn(4).to(dtype).requires_grad_() for _ in range(2))
    running = rg.zeros(4, dtype=dtype), rg.ones(4, dtype=dtype)

    def norm(x: rg.Tensor, weight: rg.Tensor, bias: rg.Tensor, moments: Any) -> rg.Tensor:
        if name == "layer_norm":
            return F.layer_norm(x, (4,), weight, bias)
        if name == "group_norm":
            return F.group_norm(x, 2, weight, bias)
        return F.batch_norm(x, *moments, weight, bias, training=True)

    wide = [z.detach().float().requires_grad_() for z in (x, weight, bias)]
    moments = [m.float() for m in running]
    y, want = norm(x, weight, bias, running), norm(*wide, moments)
    assert y.dtype is half
    eps = rg.finfo(half).eps
    np.testing.assert_allclose(y.detach().float().numpy(), want.detach().numpy(), rtol=eps, atol=eps)
    g = rg.randn(6, 4).to(half)
    got = rg.autograd.grad(y, (x, weight, bias), g)
    exact = rg.autograd.grad(want, wide, g.float())
    assert [z.dtype for z in got] == [half, dtype, dtype]
    for a, b in zip(got, exact, strict=True):
        np.testing.assert_allclose(a.float().numpy(), b.numpy(), rtol=2 * eps, atol=2 * eps)
    for a, b in zip(running, moments, strict=True):
        np.testing.assert_allclose(a.float().numpy(), b.numpy(), rtol=eps, atol=eps)


@HALF
def test_scales_of_another_dtype_are_refused(half: Any) -> None:
    x = rg.zeros(3, 4, dtype=half)
    for call in (F.layer_norm, lambda x, _, w: F.batch_norm(x, None, None, w, training=True)):
        with pytest.raises(RuntimeError, match=r"mixed dtype .*expect parameter to have scalar type of Float"):
            call(x, (4,), rg.ones(4, dtype=rg.float64))


@HALF
def test_statistics_of_halves_stay_in_float32(half: Any) -> None:
    x = rg.randn(4, 6).to(half).requires_grad_()
    node = F.layer_norm(x, (6,)).grad_fn
    assert node._saved_result1.dtype is node._saved_result2.dtype is rg.float32
    node = F.group_norm(x, 2).grad_fn
    assert node._saved_result1.dtype is rg.float32
    q = rg.randn(1, 3, 4).to(half).requires_grad_()
    assert F.scaled_dot_product_attention(q, q, q).grad_fn._saved_logsumexp.dtype is rg.float32


@HALF
@pytest.mark.parametrize("rows", [1, 7, 300])
def test_layer_norm_of_long_rows(rows: int, half: Any) -> None:
    x = (rg.arange(rows * 1000).reshape(rows, 1000) % 97).to(half)
    y = F.layer_norm(x, (1000,))
    np.testing.assert_array_equal(y.float().numpy(), F.layer_norm(x.float(), (1000,)).to(half).float().numpy())
    assert F.layer_norm(x.t().contiguous().t(), (1000,)).tolist() == y.tolist()


def test_complex_convolution_is_that_of_real_parts() -> None:
    rg.manual_seed(2)
    x, w, b = (
        rg.randn(2, 4, 9, dtype=rg.complex128),
        rg.randn(6, 2, 3, dtype=rg.complex128),
        rg.randn(6).to(rg.complex128),
    )
    y = F.conv1d(x, w, b, padding=1, groups=2)
    xr, xi, wr, wi = x.real, x.imag, w.real, w.imag

    def conv(x: rg.Tensor, w: rg.Tensor) -> Any:
        return F.conv1d(x, w, padding=1, groups=2).numpy()

    real = conv(xr, wr) - conv(xi, wi) + b.real.numpy()[:, None]
    np.testing.assert_allclose(y.numpy(), real + 1j * (conv(xr, wi) + conv(xi, wr)), atol=1e-13)


def test_random_numbers_that_no_complex_tensor_holds() -> None:
    z = rg.zeros(3, dtype=rg.complex64)
    for call in (z.random_, z.bernoulli_, lambda: F.dropout(z), lambda: z.bernoulli_(rg.full((3,), 0.5))):
        with pytest.raises(NotImplementedError, match="not implemented for 'ComplexFloat'"):
            call()
    with pytest.raises(RuntimeError, match="dtype must be a floating point but you specified ComplexFloat"):
        z.exponential_()
    with pytest.raises(RuntimeError, match="standard deviation to be non-complex"):
        rg.normal(0.5, z)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_products_with_one_row_or_column(rg: Any, dtype: str) -> None:
    """Sums that halves hold: exact in whatever order they are added up."""
    random = np.random.default_rng(3)
    m, v, batch = (random.integers(-1, 2, s).astype("float64") for s in ((70, 100), (100,), (9, 100, 1)))
    half = getattr(rg, dtype)
    ours, row, many = (rg.tensor(x, dtype=half) for x in (m, v, batch))
    start = rg.arange(70, dtype=half)
    for got, want in (
        (rg.dot(row, row), v @ v),
        (ours @ row, m @ v),
        (ours.t().contiguous().t() @ row, m @ v),
        (row[:70] @ ours, v[:70] @ m),
        (ours[:1] @ ours.t(), m[:1] @ m.T),
        (rg.bmm(many.transpose(1, 2), many), batch.transpose(0, 2, 1) @ batch),
        (rg.addmv(start, ours, row), np.arange(70) + m @ v),
        (start.clone().addmv_(ours, row), np.arange(70) + m @ v),
    ):
        assert got.dtype == half
        np.testing.assert_array_equal(got.to(rg.float64).numpy(), want)
