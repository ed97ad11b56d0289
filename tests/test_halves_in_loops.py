"""Loops over halves: results are those of float32, rounded once, in every layout and on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

HALVES = ["float16", "bfloat16"]
# Past the vectors of every instruction set, the pieces of the walk, and what one thread takes.
SIZES = [(1,), (7,), (16,), (33,), (31, 67), (5, 1030), (300, 520)]
LAYOUTS = {
    "rows": lambda x: x,
    "columns": lambda x: x.T,
    "spaced": lambda x: x[..., ::2],
    "reversed": lambda x: x.flip(-1),
    "part": lambda x: x[..., 1:-2],
}
UNARY = ["neg", "abs", "sign", "floor", "ceil", "trunc", "round", "frac", "relu", "square", "sqrt", "rsqrt", "deg2rad"]
UNARY += ["reciprocal", "angle", "tanh", "exp", "erfc", "isnan", "isfinite", "logical_not", "signbit"]
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "copysign", "hypot", "fmax", "fmin", "atan2", "heaviside"]
BINARY += ["eq", "lt", "ge", "logical_and"]
TERNARY = ["addcmul", "addcdiv", "lerp"]
LAYERS = ["leaky_relu", "hardtanh", "elu", "softplus", "hardswish"]


def operands(rg: Any, size: tuple[int, ...], dtype: str, count: int) -> list[Any]:
    draw = np.random.default_rng(3)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0, -1.0, 6e-8, 65504.0]
    values = [draw.normal(size=size) * draw.choice([0.01, 1.0, 30.0], size) for _ in range(count)]
    for shift, x in enumerate(values):
        x.flat[shift::11] = draw.choice(special, len(x.flat[shift::11]))
    return [rg.tensor(x).to(getattr(rg, dtype)) for x in values]


def check(rg: Any, call: Any, xs: list[Any], name: str = "") -> None:
    """The call gives what it gives of float32, rounded to the dtype of its operands."""
    wide = call(*(x.to(rg.float32) for x in xs))
    want = wide if wide.dtype == rg.bool else wide.to(xs[0].dtype)
    before = rg.get_num_threads()
    try:
        for threads in (1, 3):
            rg.set_num_threads(threads)
            got = call(*xs)
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_array_equal(got.to(rg.float32).numpy(), want.to(rg.float32).numpy(), name)
    finally:
        rg.set_num_threads(before)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_results_are_rounded_once(rg: Any, size: tuple[int, ...], layout: str, dtype: str) -> None:
    x, y, z = (LAYOUTS[layout](x) for x in operands(rg, size, dtype, 3))
    functional = rg.nn.functional
    for name in UNARY:
        check(rg, getattr(rg, name), [x], name)
    for name in LAYERS:
        check(rg, getattr(functional, name), [x], name)
    check(rg, lambda x: x.clamp(-0.5, 2.0), [x])
    check(rg, lambda x: x.nan_to_num(0.3, 70.0, -70.0), [x])
    for name in BINARY:
        check(rg, getattr(rg, name), [x, y], name)
        check(rg, getattr(rg, name), [x, x], name)
        # Broadcast along rows, along columns, and everywhere.
        if len(size) > 1 and y.numel():
            check(rg, getattr(rg, name), [x, y[:1]], name)
            check(rg, getattr(rg, name), [y[:, :1], x], name)
            check(rg, getattr(rg, name), [x, y[0, 0]], name)
    for name in TERNARY:
        check(rg, getattr(rg, name), [x, y, z], name)
        if len(size) > 1 and y.numel():
            check(rg, getattr(rg, name), [x, y[:1], z[:, :1]], name)


@pytest.mark.parametrize("dtype", HALVES)
def test_numbers_stay_float32(rg: Any, dtype: str) -> None:
    (x,) = operands(rg, (40, 70), dtype, 1)
    third = 1 / 3  # which no half is
    for call in (
        lambda x: x + third,
        lambda x: third - x,
        lambda x: x * third,
        lambda x: rg.add(x, x, alpha=third),
        lambda x: rg.lerp(x, -x, third),
        lambda x: x.maximum(rg.tensor(0.25, dtype=x.dtype)),
    ):
        check(rg, call, [x])


@pytest.mark.parametrize("dtype", HALVES)
def test_in_place_and_into_what_is_there(rg: Any, dtype: str) -> None:
    x, y, z = operands(rg, (60, 90), dtype, 3)
    for change in (
        lambda x, y, z: x.add_(y, alpha=0.3),
        lambda x, y, z: y.mul_(x),
        lambda x, y, z: x.mul_(x),
        lambda x, y, z: x.sub_(x.T[:60, :60].sum()),
        lambda x, y, z: x.neg_().abs_().clamp_(0.25, 3),
        lambda x, y, z: x.addcmul_(y, z, value=0.3),
        lambda x, y, z: x.addcmul_(x, x),
        lambda x, y, z: rg.nn.functional.leaky_relu_(x),
        lambda x, y, z: rg.add(x, y, out=x),
        lambda x, y, z: rg.mul(y, x, out=x),
        lambda x, y, z: x.copy_(y.T.reshape(60, 90)),
    ):
        # One step of float32, so that each is rounded once.
        got = [v.clone() for v in (x, y, z)]
        change(*got)
        if change(*(v.clone() for v in (x, y, z))) is not None:
            again = [v.clone() for v in (x, y, z)]
            change(*again)
            for a, b in zip(got, again, strict=True):
                np.testing.assert_array_equal(a.to(rg.float32).numpy(), b.to(rg.float32).numpy())
    for change, value in (
        (lambda x: x.add_(y, alpha=0.3), lambda x: x + 0.3 * y.to(rg.float32)),
        (lambda x: x.mul_(x), lambda x: x * x),
        (lambda x: x.addcmul_(x, x), lambda x: x + x * x),
        (lambda x: rg.sub(y, x, out=x), lambda x: y.to(rg.float32) - x),
        (lambda x: x.abs_(), lambda x: x.abs()),
        (lambda x: rg.nn.functional.leaky_relu_(x), lambda x: rg.nn.functional.leaky_relu(x)),
    ):
        want = value(x.to(rg.float32)).to(x.dtype)
        got = change(x.clone())
        np.testing.assert_array_equal(got.to(rg.float32).numpy(), want.to(rg.float32).numpy())


def rounded(x: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    """The nearest halves, ties to even, as float32."""
    with np.errstate(over="ignore"):
        x = x.astype("float32")
        if dtype == "float16":
            return x.astype("float16").astype("float32")
    bits = x.view("uint32").astype("uint64")
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    return np.where(np.isnan(x), x, bits.astype("uint32").view("float32"))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", [(9,), (31, 67), (300, 520)], ids=str)
def test_conversions(rg: Any, size: tuple[int, ...], layout: str) -> None:
    draw = np.random.default_rng(5)
    bits = draw.integers(0, 2**32, size, "uint32").view("float32")
    bits = np.where(np.isnan(bits), np.float32(1.5), bits)
    near = (draw.normal(size=size) * 30).astype("float32")
    cut = LAYOUTS[layout]
    for values in (bits, near):
        x = cut(rg.tensor(values))
        for dtype in HALVES:
            half = x.to(getattr(rg, dtype))
            want = rounded(x.numpy(), dtype)
            np.testing.assert_array_equal(half.to(rg.float32).numpy(), want)
            np.testing.assert_array_equal(half.to(rg.float64).numpy(), want.astype("float64"))
            np.testing.assert_array_equal((half != 0).numpy(), half.to(rg.bool).numpy())
            np.testing.assert_array_equal(half.to(rg.bool).numpy(), want != 0)
            other = "bfloat16" if dtype == "float16" else "float16"
            np.testing.assert_array_equal(half.to(getattr(rg, other)).to(rg.float32).numpy(), rounded(want, other))
    for dtype in HALVES:
        for to in ("uint8", "int8", "int16", "int32", "int64"):
            whole = rounded(np.abs(near), dtype)
            half = cut(rg.tensor(np.abs(near))).to(getattr(rg, dtype))
            want = cut(rg.tensor(whole)).numpy().astype("int64")
            np.testing.assert_array_equal(half.to(getattr(rg, to)).numpy(), want.astype(to))
            ints = cut(rg.tensor(draw.integers(-3000, 3000, size))).to(getattr(rg, to))
            got = ints.to(getattr(rg, dtype)).to(rg.float32).numpy()
            np.testing.assert_array_equal(got, rounded(ints.numpy().astype("float32"), dtype))
        flags = cut(rg.tensor(near > 0))
        got = flags.to(getattr(rg, dtype)).to(rg.float32).numpy()
        np.testing.assert_array_equal(got, flags.numpy().astype("float32"))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(
    "size", [(3, 70, 5), (1, 130, 480), (2, 5, 1100), (1, 1, 9), (4, 1, 1), (200, 300, 1)], ids=str
)
def test_reductions(rg: Any, size: tuple[int, ...], dtype: str) -> None:
    (x,) = operands(rg, size, dtype, 1)
    finite = x.nan_to_num(0.0, 5.0, -5.0).clamp(-0.3, 0.3)
    for dims in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)):
        for name in ("amax", "amin"):
            check(rg, lambda x, name=name, dims=dims: getattr(x, name)(dims), [x])
        for name in ("sum", "mean", "nansum"):
            for threads in (1, 3):
                rg.set_num_threads(threads)
                got = getattr(finite, name)(dims).to(rg.float64).numpy()
                want = getattr(finite.to(rg.float64), name)(dims).numpy()
                size_of = finite.to(rg.float64).abs().sum(dims).numpy()
                np.testing.assert_array_less(np.abs(got - want), 2.0**-8 * np.abs(want) + 1e-6 * size_of + 1e-6)
        got = rg.linalg.vector_norm(finite, dim=dims).to(rg.float64).numpy()
        want = rg.linalg.vector_norm(finite.to(rg.float64), dim=dims).numpy()
        np.testing.assert_allclose(got, want, rtol=2**-8, atol=1e-7)
        for order in (0, 1, 3, float("inf")):
            got = rg.linalg.vector_norm(finite, order, dim=dims).to(rg.float64).numpy()
            want = rg.linalg.vector_norm(finite.to(rg.float64), order, dim=dims).numpy()
            np.testing.assert_allclose(got, want, rtol=2**-7, atol=1e-7)


def test_a_norm_of_float16_does_not_overflow_on_the_way(rg: Any) -> None:
    x = rg.full((4, 4), 300.0, dtype=rg.float16)
    assert rg.linalg.vector_norm(x).item() == 1200.0
    assert x.norm(dim=0).tolist() == [600.0] * 4


@pytest.mark.parametrize("dtype", HALVES)
def test_rules_run_in_float32(rg: Any, dtype: str) -> None:
    """Of rules of several ops, only the results are rounded."""
    x, y, z = (v.nan_to_num(0.5, 2.0, -2.0).clamp(-3, 3) for v in operands(rg, (20, 30), dtype, 3))
    g = operands(rg, (20, 30), dtype, 1)[0].nan_to_num(0.5, 2.0, -2.0).clamp(-3, 3)
    for call, operands_of in (
        (rg.hypot, [x, y]),
        (rg.copysign, [x, y]),
        (rg.addcmul, [x, y, z]),
        (lambda *xs: rg.addcdiv(*xs, value=0.3), [x, y, z.abs() + 0.5]),
        (rg.lerp, [x, y, z]),
        (rg.nn.functional.elu, [x]),
    ):
        grads = []
        for to in (getattr(rg, dtype), rg.float32):
            given = [v.to(to).detach().requires_grad_() for v in operands_of]
            grads.append(rg.autograd.grad(call(*given), given, g.to(to)))
        for got, want in zip(*grads, strict=True):
            assert got.dtype == getattr(rg, dtype)
            got, want = got.to(rg.float64).numpy(), want.to(rg.float64).numpy()
            np.testing.assert_allclose(got, want, rtol=2.0**-7 if dtype == "bfloat16" else 2.0**-10, atol=1e-2)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("k", [1, 7, 32, 33, 300, 4096, 4099, 20_000])
def test_products_with_a_vector(rg: Any, k: int, dtype: str) -> None:
    draw = np.random.default_rng(7)
    to = getattr(rg, dtype)
    a, b, g = (rg.tensor(draw.normal(size=size)).to(to) for size in ((5, k), (k,), (5,)))
    a64, b64, g64 = (x.to(rg.float64).numpy() for x in (a, b, g))
    rtol = 2.0**-8 if dtype == "bfloat16" else 2.0**-11
    for got, want, size in (
        (rg.dot(a[1], b), a64[1] @ b64, np.abs(a64[1]) @ np.abs(b64)),
        (rg.mv(a, b), a64 @ b64, np.abs(a64) @ np.abs(b64)),
        (rg.mv(a.t(), g), a64.T @ g64, np.abs(a64).T @ np.abs(g64)),
        (a[::2] @ b, a64[::2] @ b64, np.abs(a64[::2]) @ np.abs(b64)),
        (b @ a.t(), b64 @ a64.T, np.abs(b64) @ np.abs(a64).T),
        (b.view(1, k) @ a.t().contiguous(), (b64 @ a64.T)[None], (np.abs(b64) @ np.abs(a64).T)[None]),
        (a[:, :0] @ b[:0], np.zeros(5), np.zeros(5)),
    ):
        assert got.dtype == to and got.shape == np.shape(want)
        assert (np.abs(got.to(rg.float64).numpy() - want) <= rtol * np.abs(want) + 1e-6 * size + 1e-7).all()


@pytest.mark.parametrize("dtype", HALVES)
def test_large_products(rg: Any, dtype: str) -> None:
    """Operands of which a part at a time becomes float32."""
    draw = np.random.default_rng(4)
    for m, k, n in [(4, 1030, 1031), (1031, 1030, 4), (3, 1031, 1030)]:
        # Small integers, whose sums are exact in float32.
        a, b = (rg.tensor(draw.integers(-3, 4, size).astype("f4")) for size in ((m, k), (k, n)))
        want = (a @ b).to(getattr(rg, dtype))
        x, y = (x.to(getattr(rg, dtype)) for x in (a, b))
        assert rg.equal(x @ y, want) and rg.equal((y.T.contiguous() @ x.T).T, want)
        assert rg.equal(rg.bmm(x[None].expand(2, m, k), y[None].expand(2, k, n))[1], want)
