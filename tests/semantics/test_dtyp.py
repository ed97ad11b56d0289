"""DTYP: dtypes, broadcasting and the points where a derivative is a convention."""

import numpy as np
import pytest

from . import close, fails, leaf, rg, same

grad = rg.autograd.grad
F = rg.nn.functional
inf, nan = float("inf"), float("nan")


def slope(f, values, dtype=None):
    """The gradient of `f(x).sum()` as a tensor."""
    x = leaf(values, dtype=dtype)
    (g,) = grad(f(x).sum(), x)
    return g


def test_dtyp_1_each_operand_gets_its_own_dtype():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0], dtype=rg.float64)
    z = x * y
    assert z.dtype == rg.float64
    gx, gy = grad(z.sum(), [x, y])
    assert gx.dtype == rg.float32 and gy.dtype == rg.float64
    same(gx, [3.0, 4.0])
    same(gy, [1.0, 2.0])


def test_dtyp_1_zero_dim_double_times_float():
    x, s = leaf([1.0, 2.0]), leaf(3.0, dtype=rg.float64)
    z = x * s
    assert z.dtype == rg.float32
    gx, gs = grad(z.sum(), [x, s])
    assert gx.dtype == rg.float32 and gs.dtype == rg.float64
    same(gx, [3.0, 3.0])
    same(gs, 3.0)


def test_dtyp_1_half_and_double():
    x, y = leaf([1.0, 2.0], dtype=rg.float16), leaf([3.0, 4.0], dtype=rg.float64)
    gx, gy = grad((x * y).sum(), [x, y])
    assert gx.dtype == rg.float16 and gy.dtype == rg.float64
    same(gx, [3.0, 4.0])


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((4, 1, 3), (2, 1)), ((1, 1), (5,)), ((0, 3), (3,))],
)
def test_dtyp_2_broadcast_dims_are_summed_out(left, right):
    x, y = rg.rand(left, requires_grad=True), rg.rand(right, requires_grad=True)
    gx, gy = grad((x + y * 2).sum(), [x, y])
    shape = np.broadcast_shapes(left, right)
    same(gx, np.full(left, np.prod(shape) / max(1, np.prod(left)) if np.prod(left) else 0.0))
    same(gy, np.full(right, 2.0 * np.prod(shape) / max(1, np.prod(right))))


def test_dtyp_3_casts_differentiate_back():
    x = leaf([1.5, 2.5])
    y = x.to(rg.float64)
    assert y.dtype == rg.float64 and y.grad_fn.name() == "ToCopyBackward0"
    (g,) = grad((y * 3).sum(), x)
    assert g.dtype == rg.float32
    same(g, [3.0, 3.0])
    whole = x.to(rg.int64)
    assert whole.requires_grad is False and whole.grad_fn is None
    assert whole.to(rg.float32).requires_grad is False


def test_dtyp_4_promotion():
    single, double = rg.ones(2), rg.ones(2, dtype=rg.float64)
    u8, i8, i64, flag = (rg.ones(2, dtype=d) for d in (rg.uint8, rg.int8, rg.int64, rg.bool))
    double_scalar = rg.tensor(1.0, dtype=rg.float64)
    cases = [
        (single + double, rg.float64),
        (single * double_scalar, rg.float32),
        (i8 + rg.tensor(1), rg.int8),
        (i8 + double_scalar, rg.float64),
        (i8 + 3, rg.int8),
        (i8 + 3.0, rg.float32),
        (i64 * 3.0, rg.float32),
        (flag + 3, rg.int64),
        (flag + flag, rg.bool),
        (double + 3.0, rg.float64),
        (i64 + single, rg.float32),
        (i8 + u8, rg.int16),
        (i8 + i64, rg.int64),
        (flag + u8, rg.uint8),
    ]
    for number, (got, want) in enumerate(cases):
        assert got.dtype == want, f"case {number}: {got.dtype}"
    for whole in (u8, i8, i64, flag):
        assert whole.sum().dtype == whole.prod().dtype == whole.cumsum(0).dtype == rg.int64
        assert (whole / whole).dtype == (whole / 2).dtype == rg.float32


def test_dtyp_4_promotion_of_halves():
    half, other = rg.ones(2, dtype=rg.float16), rg.ones(2, dtype=rg.bfloat16)
    assert (half + other).dtype == rg.float32
    assert (
        (half + rg.ones(2, dtype=rg.int64)).dtype == (half + 3.0).dtype == (half + rg.tensor(1.0)).dtype == rg.float16
    )


def test_dtyp_4_default_dtype():
    before = rg.get_default_dtype()
    rg.set_default_dtype(rg.float64)
    try:
        one = rg.ones(2, dtype=rg.int64)
        assert (one / 2).dtype == rg.float64 and (one * 2.0).dtype == rg.float64
        assert rg.tensor(1.0).dtype == rg.float64 and rg.tensor(1).dtype == rg.int64
    finally:
        rg.set_default_dtype(before)


def test_dtyp_5_kinks():
    same(slope(rg.relu, [-1.0, 0.0, 1.0]), [0.0, 0.0, 1.0])
    same(slope(rg.abs, [-1.0, 0.0, -0.0, 1.0]), [-1.0, 0.0, 0.0, 1.0])
    same(slope(rg.sign, [-1.0, 0.0, 1.0]), [0.0, 0.0, 0.0])
    same(slope(lambda x: x.clamp(0.0, 1.0), [-0.5, 0.0, 0.5, 1.0, 1.5]), [0.0, 1.0, 1.0, 1.0, 0.0])
    same(slope(lambda x: x.clamp(min=0.0), [-0.5, 0.0]), [0.0, 1.0])
    same(slope(lambda x: x.clamp(max=0.0), [0.0, 0.5]), [1.0, 0.0])


def test_dtyp_5_kinks_of_more_ops():
    same(slope(F.relu6, [-1.0, 0.0, 1.0, 6.0, 7.0]), [0.0, 0.0, 1.0, 0.0, 0.0])
    same(slope(F.hardtanh, [-2.0, -1.0, 0.0, 1.0, 2.0]), [0.0, 0.0, 1.0, 0.0, 0.0])
    same(slope(lambda x: F.threshold(x, 1.0, 5.0), [0.0, 1.0, 2.0]), [0.0, 0.0, 1.0])
    same(slope(F.hardshrink, [-0.5, 0.0, 0.5, 1.0]), [0.0, 0.0, 0.0, 1.0])
    same(slope(F.softshrink, [-0.5, 0.0, 0.5, 1.0]), [0.0, 0.0, 0.0, 1.0])
    same(slope(lambda x: F.leaky_relu(x, 0.25), [-1.0, 0.0, 1.0]), [0.25, 0.25, 1.0])
    same(slope(F.elu, [0.0, 1.0]), [1.0, 1.0])
    same(slope(lambda x: x.norm(), [0.0, 0.0]), [0.0, 0.0])
    same(slope(lambda x: x.norm(p=1), [0.0, 2.0]), [0.0, 1.0])


def test_dtyp_6_ties_split_evenly():
    tied = [1.0, 3.0, 3.0, 0.0]
    for f in (lambda x: x.max(), lambda x: x.amax(), lambda x: x.amax(dim=0)):
        same(slope(f, tied), [0.0, 0.5, 0.5, 0.0])
    low = [2.0, 0.0, 0.0, 0.0, 0.0]
    for f in (lambda x: x.min(), lambda x: x.amin(), lambda x: x.amin(dim=0)):
        same(slope(f, low), [0.0, 0.25, 0.25, 0.25, 0.25])
    x, y = leaf([1.0, 2.0, 3.0]), leaf([2.0, 2.0, 2.0])
    gx, gy = grad(rg.maximum(x, y).sum(), [x, y])
    same(gx, [0.0, 0.5, 1.0])
    same(gy, [1.0, 0.5, 0.0])
    gx, gy = grad(rg.minimum(x, y).sum(), [x, y])
    same(gx, [1.0, 0.5, 0.0])
    same(gy, [0.0, 0.5, 1.0])


def test_dtyp_6_along_a_dim_the_returned_index_takes_all():
    for f in (lambda x: x.max(dim=0), lambda x: x.min(dim=0)):
        x = leaf([2.0, 2.0, 2.0])
        value, index = f(x)
        (g,) = grad(value, x)
        want = np.zeros(3)
        want[index.item()] = 1
        same(g, want)


def test_dtyp_6_sorting():
    same(slope(lambda x: x.median(), [1.0, 1.0, 5.0]), [0.5, 0.5, 0.0])
    for f in (lambda x: x.topk(1), lambda x: x.sort(), lambda x: x.kthvalue(2)):
        x = leaf([2.0, 2.0, 1.0])
        values, indices = f(x)
        (g,) = grad(values.sum(), x)
        want = np.zeros(3)
        want[indices.reshape(-1).tolist()] = 1
        same(g, want)


def test_dtyp_7_boundaries_are_not_guarded():
    assert slope(rg.sqrt, [0.0]).tolist() == [inf]
    assert slope(lambda x: x.pow(0.5), [0.0]).tolist() == [inf]
    assert slope(rg.log, [0.0]).tolist() == [inf]
    same(slope(lambda x: x.pow(0), [0.0, 2.0]), [0.0, 0.0])
    same(slope(lambda x: x.pow(rg.zeros(1)), [0.0]), [0.0])
    with pytest.warns(UserWarning, match="degrees of freedom"):
        (g,) = slope(lambda x: x.std(), [1.0]).tolist()
    assert np.isnan(g)
    unused, used = slope(lambda x: rg.where(x > 0, x.sqrt(), rg.zeros(2)), [0.0, 4.0]).tolist()
    assert np.isnan(unused) and used == 0.25


def test_dtyp_7_prod_handles_zeros():
    same(slope(lambda x: x.prod(), [2.0, 3.0, 4.0]), [12.0, 8.0, 6.0])
    same(slope(lambda x: x.prod(), [2.0, 0.0, 4.0]), [0.0, 8.0, 0.0])
    same(slope(lambda x: x.prod(), [0.0, 0.0, 4.0]), [0.0, 0.0, 0.0])
    same(slope(lambda x: x.prod(dim=1), [[2.0, 0.0], [3.0, 5.0]]), [[0.0, 2.0], [5.0, 3.0]])


def test_dtyp_7_cumprod_handles_zeros():
    same(slope(lambda x: x.cumprod(0), [2.0, 0.0, 4.0]), [1.0, 10.0, 0.0])


def test_dtyp_8_ops_without_derivative():
    x = leaf([1.0, 2.0])
    y = rg.special.zeta(x + 1, rg.ones(2))
    assert y.requires_grad is True
    with fails("the derivative for", "is not implemented", kind=NotImplementedError):
        y.sum().backward()
    p = leaf([0.25, 0.75])
    same(grad(rg.bernoulli(p).sum(), p)[0], [0.0, 0.0])
    assert rg.multinomial(p, 1).requires_grad is False


def test_dtyp_9_all_minus_infinity():
    for f in (lambda x: x.logsumexp(0), lambda x: x.softmax(0)):
        assert np.isnan(slope(f, [-inf, -inf]).numpy()).all()
    close(slope(lambda x: x.logsumexp(0), [-inf, 1.0]), [0.0, 1.0])
