"""How ops may be called: foreign operands, no operands, old orders of arguments, NumPy's names, `out=`."""

import contextlib
import inspect
import operator
import warnings

import numpy as np
import pytest


class Foreign:
    """An object that no tensor knows."""


class Reflecting:
    """An object that knows what to do with a tensor on its left."""

    def __radd__(self, other):
        return "reflected"

    __rsub__ = __rmul__ = __rmatmul__ = __rpow__ = __rand__ = __rfloordiv__ = __rlshift__ = __radd__


BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift")
IN_PLACE = (
    "iadd",
    "isub",
    "imul",
    "itruediv",
    "ifloordiv",
    "imod",
    "ipow",
    "iand",
    "ior",
    "ixor",
    "ilshift",
    "irshift",
)


@contextlib.contextmanager
def silent():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", BINARY + IN_PLACE)
def test_foreign_operands_are_left_to_python(rg, name):
    x = rg.ones(2, dtype=rg.int64)
    with pytest.raises(TypeError, match="unsupported operand"):
        getattr(operator, name)(x, Foreign())
    assert x.tolist() == [1, 1] and x._version == 0


@pytest.mark.parametrize("name", ["add", "sub", "mul", "matmul", "pow", "and_", "floordiv", "lshift"])
def test_a_foreign_operand_gets_its_turn(rg, name):
    assert getattr(operator, name)(rg.ones(2, dtype=rg.int64), Reflecting()) == "reflected"


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "ipow", "iand", "ifloordiv", "ilshift"])
def test_a_foreign_operand_gets_its_turn_in_place(rg, name):
    x = rg.ones(2, dtype=rg.int64)
    assert getattr(operator, name)(x, Reflecting()) == "reflected"
    assert x.tolist() == [1, 1]


def test_comparisons_with_foreign_objects(rg):
    x = rg.ones(2)
    assert (x == Foreign()) is False and (x != Foreign()) is True and (x == None) is False  # noqa: E711
    with pytest.raises(TypeError, match="not supported between"):
        x < Foreign()  # noqa: B015
    assert x.__eq__(Foreign()) is NotImplemented and x.__add__(Foreign()) is NotImplemented


def test_arrays_are_compared_element_by_element(rg):
    x, array = rg.tensor([1.0, 2.0]), np.array([1.0, 5.0])
    for equal in (x == array, array == x):
        assert isinstance(equal, rg.Tensor) and equal.tolist() == [True, False]
    assert (x == np.array(["a"])) is False
    with pytest.raises(RuntimeError):
        x == np.zeros(3)  # noqa: B015


def test_an_array_is_added_in_place_out_of_place(rg):
    x = y = rg.tensor([1.0, 2.0])
    with silent():
        x += np.array([10.0, 20.0])
    assert x.tolist() == [11.0, 22.0] and y.tolist() == [1.0, 2.0]


def test_ints_too_large_are_no_foreign_objects(rg):
    for run in (lambda: rg.ones(2) + 2**70, lambda: rg.ones(2) == 2**64, lambda: 2**70 * rg.ones(2)):
        with pytest.raises(OverflowError, match="int too big to convert"):
            run()


def test_powers_take_no_modulus(rg):
    with pytest.raises(TypeError, match="unsupported operand"):
        pow(rg.ones(2), 2, 3)


def test_no_operands(rg):
    assert rg.block_diag().shape == (1, 0)
    assert rg.broadcast_tensors() == () and rg.atleast_1d() == ()
    with silent():
        for run, kind, says in (
            (rg.meshgrid, RuntimeError, "meshgrid expects a non-empty TensorList"),
            (rg.chain_matmul, RuntimeError, r"chain_matmul\(\): Expected one or more matrices"),
            (rg.einsum, ValueError, r"einsum\(\): must specify the equation string and at least one operand"),
            (lambda: rg.einsum("i", []), ValueError, "must specify the equation string and at least one operand"),
        ):
            with pytest.raises(kind, match=says):
                run()


@pytest.mark.parametrize(
    "name", ["view", "permute", "expand", "repeat", "reshape", "flip", "tile", "new_zeros", "new_empty", "sum_to_size"]
)
def test_sizes_may_be_empty_but_must_be_given(rg, name):
    with pytest.raises(TypeError, match=r"missing|invalid combination"):
        getattr(rg.tensor(1.0), name)()
    assert getattr(rg.tensor(1.0), name)(()).shape == ()


def test_roll_takes_none(rg):
    x = rg.arange(4.0).reshape(2, 2)
    for y in (rg.roll(x, 1, None), x.roll(1, dims=None), x.roll(1)):
        assert y.tolist() == [[3.0, 0.0], [1.0, 2.0]]


# ---- old orders of arguments

M = [[1.0, 2.0], [3.0, 4.0]]
V = [1.0, 10.0]
MM = [[7.0, 10.0], [15.0, 22.0]]  # M @ M
MV = [21.0, 43.0]  # M @ V


def table(rows, f):
    return [f(r) if isinstance(r, float) else table(r, f) for r in rows]


def both(a, b, f):
    return [f(x, y) if isinstance(x, float) else both(x, y, f) for x, y in zip(a, b, strict=True)]


def old_calls(rg):
    m, v = rg.tensor(M), rg.tensor(V)
    b = m.unsqueeze(0)
    blend = lambda beta, x, alpha, y: both(x, y, lambda p, q: beta * p + alpha * q)  # noqa: E731
    return [
        (lambda: rg.add(v, 3, v), [4.0, 40.0]),
        (lambda: rg.add(v, 3, other=v), [4.0, 40.0]),
        (lambda: v.add(3, v), [4.0, 40.0]),
        (lambda: v.clone().add_(3, v), [4.0, 40.0]),
        (lambda: rg.sub(v, 3, v), [-2.0, -20.0]),
        (lambda: v.sub(3, v), [-2.0, -20.0]),
        (lambda: v.clone().sub_(3, v), [-2.0, -20.0]),
        (lambda: rg.addcmul(v, 2, v, v), [3.0, 210.0]),
        (lambda: v.addcmul(2, v, v), [3.0, 210.0]),
        (lambda: v.clone().addcmul_(2, v, v), [3.0, 210.0]),
        (lambda: rg.addcdiv(v, 2, v, v), [3.0, 12.0]),
        (lambda: v.addcdiv(2, v, v), [3.0, 12.0]),
        (lambda: v.clone().addcdiv_(2, v, v), [3.0, 12.0]),
        (lambda: rg.addmm(2, m, 3, m, m), blend(2, M, 3, MM)),
        (lambda: rg.addmm(2, m, m, m), blend(2, M, 1, MM)),
        (lambda: m.addmm(2, 3, m, m), blend(2, M, 3, MM)),
        (lambda: m.clone().addmm_(2, 3, m, m), blend(2, M, 3, MM)),
        (lambda: m.clone().addmm_(2, m, m), blend(2, M, 1, MM)),
        (lambda: rg.addmv(2, v, 3, m, v), blend(2, V, 3, MV)),
        (lambda: v.addmv(2, m, v), blend(2, V, 1, MV)),
        (lambda: v.clone().addmv_(2, 3, m, v), blend(2, V, 3, MV)),
        (lambda: rg.baddbmm(2, b, 3, b, b), [blend(2, M, 3, MM)]),
        (lambda: b.baddbmm(2, 3, b, b), [blend(2, M, 3, MM)]),
        (lambda: b.clone().baddbmm_(2, b, b), [blend(2, M, 1, MM)]),
    ]


def test_old_orders_of_arguments(rg):
    with silent():
        for i, (call, expected) in enumerate(old_calls(rg)):
            assert call().tolist() == expected, i
        out = rg.empty(2)
        assert rg.add(rg.tensor(V), 3, rg.tensor(V), out=out) is out and out.tolist() == [4.0, 40.0]


def test_old_orders_have_derivatives_and_other_orders_are_refused(rg):
    x = rg.tensor(V, requires_grad=True)
    with silent():
        rg.add(x, 3, x).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]
    for call in (lambda: rg.add(2, x, x), lambda: rg.mul(x, 2, x), lambda: rg.addmm(x, 2, x, x)):
        with pytest.raises(TypeError):
            call()


def test_scatter_with_a_reduction(rg):
    at, two = rg.tensor([0, 0, 2]), rg.tensor([2.0, 3.0, 4.0])
    with silent():
        for x, args, how, expected in (
            (rg.ones(3), (at, two), "add", [6.0, 1.0, 5.0]),
            (rg.ones(3), (at, two), "multiply", [6.0, 1.0, 4.0]),
            (rg.ones(3), (at, 5.0), "add", [11.0, 1.0, 6.0]),
            (rg.ones(3), (at, 5.0), "multiply", [25.0, 1.0, 5.0]),
        ):
            assert rg.scatter(x, 0, *args, reduce=how).tolist() == expected
            assert x.scatter(0, *args, reduce=how).tolist() == expected
            assert x.scatter_(0, *args, reduce=how) is x and x.tolist() == expected
        for value in (two, 5.0):
            with pytest.raises(RuntimeError, match="reduce argument must be either add or multiply"):
                rg.ones(3).scatter_(0, at, value, reduce="mean")


# ---- NumPy's names


def test_names_of_numpy(rg):
    x, y = rg.tensor([1.0, 4.0]), rg.tensor([2.0, 3.0])
    assert rg.add(x1=x, x2=y).tolist() == rg.add(a=x, other=y).tolist() == rg.add(x, x2=y).tolist() == [3.0, 7.0]
    assert rg.sub(x1=x, x2=y, alpha=2).tolist() == [-3.0, -2.0]
    assert x.eq(x2=y).tolist() == [False, False] and rg.maximum(x1=x, x2=y).tolist() == [2.0, 4.0]
    for name in ("x", "a", "x1", "input"):
        assert rg.sqrt(**{name: x}).tolist() == [1.0, 2.0]
    assert rg.sum(a=x, axis=0, keepdims=True).tolist() == x.sum(axis=0, keepdims=True).tolist() == [5.0]
    assert rg.clip(a=x, min=2).tolist() == [2.0, 4.0] and rg.diff(a=x, axis=0).tolist() == [3.0]
    assert rg.linalg.norm(x=rg.tensor([3.0, 4.0]), axis=0, keepdims=True).tolist() == [5.0]
    for call in (lambda: rg.sqrt(input=x, x=x), lambda: x.sum(dim=0, axis=0), lambda: rg.add(x, y, x2=y)):
        with pytest.raises(TypeError):
            call()


# ---- out=


def test_factories_compute_in_the_dtype_of_out(rg):
    def made(f, *args, dtype, size, **kwargs):
        out = rg.empty(size, dtype=dtype)
        assert f(*args, out=out, **kwargs) is out and out.dtype == dtype
        return out.tolist()

    whole = {"dtype": rg.int64, "size": 3}
    assert made(rg.full, (3,), 3.5, **whole) == [3, 3, 3]
    assert made(rg.linspace, 0, 4, 3, **whole) == [0, 2, 4]
    assert made(rg.logspace, 0, 2, 3, **whole) == [1, 10, 100]
    assert made(rg.arange, 3.0, **whole) == [0, 1, 2]
    assert made(rg.zeros, 3, **whole) == [0, 0, 0]
    assert made(rg.eye, 2, dtype=rg.int64, size=(2, 2)) == [[1, 0], [0, 1]]
    # Not the float32 numbers, converted.
    assert made(rg.linspace, 0, 1, 11, dtype=rg.float64, size=11)[1] == 0.1
    for call in (
        lambda out: rg.full((2,), 3, dtype=rg.float32, out=out),
        lambda out: rg.eye(2, dtype=rg.float32, out=out),
        lambda out: rg.linspace(0, 1, 2, dtype=rg.float32, out=out),
    ):
        with pytest.raises(RuntimeError, match=r"dtype Float does not match dtype of out parameter \(Double\)"):
            call(rg.empty(2, dtype=rg.float64))


def test_running_products_compute_in_the_dtype_of_out(rg):
    x = rg.tensor([1.5, 2.0])
    out = rg.empty(2, dtype=rg.int64)
    assert rg.cumprod(x, 0, out=out) is out and out.tolist() == [1, 2]
    assert rg.sum(rg.tensor([1.5, 1.5]), 0, out=rg.empty((), dtype=rg.int64)).item() == 2
    for f in (rg.cumprod, rg.cumsum):
        with pytest.raises(RuntimeError, match="Expected out tensor to have dtype double, but got float instead"):
            f(x, 0, dtype=rg.float64, out=rg.empty(2))


@pytest.mark.parametrize("name", ["all", "any"])
def test_truth_is_written_to_bools_and_bytes(rg, name):
    f, x = getattr(rg, name), rg.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert f(x, 0, out=rg.empty(2, dtype=rg.bool)).tolist() == [True, True]
    assert f(x, 0, out=rg.empty(2, dtype=rg.uint8)).tolist() == [1, 1]
    assert f(x.to(rg.uint8), 0, out=rg.empty(2, dtype=rg.bool)).tolist() == [True, True]
    for dtype, called in ((rg.float32, "Float"), (rg.int64, "Long")):
        with pytest.raises(RuntimeError, match=f"{name} only supports bool tensor for result, got: {called}"):
            f(x, 0, out=rg.empty(2, dtype=dtype))


def test_elementwise_ops_write_to_out_at_once(rg):
    x, y, o = rg.randn(1000, 100), rg.randn(100), rg.zeros(1000, 100)
    for call, want in (
        (lambda: rg.add(x, y, alpha=2, out=o), x + 2 * y),
        (lambda: rg.mul(x, 3.0, out=o), x * 3.0),
        (lambda: rg.exp(x, out=o), x.exp()),
        (lambda: rg.clamp(x, -1.0, 1.0, out=o), x.clamp(-1.0, 1.0)),
        (lambda: rg.addcmul(x, x, y, out=o), x + x * y),
        (lambda: rg.pow(x, 2, out=o), x**2),
    ):
        o.zero_()
        version, address = o._version, o.data_ptr()
        rg.cpu.reset_peak_memory_stats()
        before = rg.cpu.memory_allocated()
        assert call() is o
        assert rg.cpu.max_memory_allocated() - before < 100_000, "a fresh result"
        assert o._version == version + 1 and o.data_ptr() == address
        np.testing.assert_array_equal(o.numpy(), want.numpy())


def test_what_cannot_be_written_to_out_at_once_is_copied(rg):
    values = rg.arange(12.0).view(3, 4)
    # The target is an operand, or another part of its memory.
    x = values.clone()
    assert rg.add(x, values.T.reshape(3, 4), out=x) is x and x._version == 1
    np.testing.assert_array_equal(x.numpy(), (values + values.T.reshape(3, 4)).numpy())
    x = values.clone().view(-1)
    rg.addcmul(values.view(-1)[:6], x[:6], x[:6], out=x[6:])
    np.testing.assert_array_equal(x[6:].numpy(), np.arange(6) + np.arange(6.0) ** 2)
    # Its elements lie apart, or it has another dtype, other sizes, or those of an operand that is repeated.
    for o in (rg.zeros(4, 3).T, rg.zeros(3, 8)[:, ::2], rg.zeros(3, 4, dtype=rg.float64), rg.empty(0)):
        rg.mul(values, values, out=o)
        np.testing.assert_array_equal(o.numpy(), (values * values).numpy())
    o = rg.zeros(4)
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        rg.add(rg.ones(4), values, out=o)
    np.testing.assert_array_equal(o.numpy(), (values + 1).numpy())


def test_a_call_that_fails_leaves_out_as_it_was(rg):
    o = rg.tensor([7, 8])
    for call, error in (
        (lambda: rg.floor_divide(rg.tensor([1, 2]), rg.tensor([1, 0]), out=o), RuntimeError),
        (lambda: rg.pow(rg.tensor([1, 2]), -1, out=o), RuntimeError),
        (lambda: rg.add(rg.tensor([1, 2]), rg.tensor([1, 2, 3]), out=o), RuntimeError),
    ):
        with pytest.raises(error):
            call()
        assert o.tolist() == [7, 8] and o._version == 0
    # Nor does what was to be written come with a later call.
    assert rg.neg(rg.tensor([1, 2])).tolist() == [-1, -2] and o.tolist() == [7, 8]


# ---- functions and signatures


def test_clamps_in_place_as_functions(rg):
    for f, args, expected in (
        (rg.clamp_min_, (1.0,), [1.0, 1.0, 2.0]),
        (rg.clamp_max_, (1.0,), [0.0, 1.0, 1.0]),
        (rg.clamp_, (0.5, 1.5), [0.5, 1.0, 1.5]),
        (rg.clip_, (0.5, 1.5), [0.5, 1.0, 1.5]),
    ):
        x = rg.arange(3.0)
        assert f(x, *args) is x and x.tolist() == expected and x._version == 1


def test_signatures_can_be_asked_for():
    rg = __import__("retrograd")
    shown = {
        rg.sum: "(input, dim=Ellipsis, keepdim=False, *, dtype=None, out=None)",
        rg.add: "(input, other, *, alpha=1, out=None)",
        rg.subtract: "(input, other, *, alpha=1, out=None)",
        rg.block_diag: "(*tensors)",
        rg.Tensor.sum: "(self, /, dim=Ellipsis, keepdim=False, *, dtype=None)",
        rg.Tensor.view: "(self, /, dtype=Ellipsis, *size)",
        rg.Tensor.add_: "(self, /, other, *, alpha=1)",
    }
    for f, text in shown.items():
        assert str(inspect.signature(f)) == text
    for op in rg._core._roster():
        owner = rg.Tensor if op["role"] != "Function" else {"": rg, "nn.functional": rg.nn.functional}.get(op["module"])
        if owner is not None:
            inspect.signature(getattr(owner, op["name"]))


def test_public_names_are_public():
    rg = __import__("retrograd")
    assert not {"fft_ops", "linalg_ops", "nn_functional", "special_functions", "op_names"} & set(dir(rg))
    assert not {"Node", "RemovableHandle", "SavedTensor"} & set(dir(rg))
    assert len(rg.__all__) == len(set(rg.__all__))
    assert not [name for name in rg._core.__all__ if name.startswith("_")]


def test_an_int_of_uint64_wraps_beside_integers_and_is_rounded_beside_floats(rg):
    assert (rg.tensor(2**63 - 1) + 2**63).item() == -1
    assert (2**63 - rg.tensor(1)).item() == 2**63 - 1
    assert (rg.tensor(1.0, dtype=rg.float64) * 2**63).item() == 2.0**63
    with pytest.raises(OverflowError):
        rg.tensor(1) + 2**64


def test_where_of_one_tensor_gives_positions(rg):
    x = rg.tensor([[0.0, 1.0, -2.0], [0.0, 0.0, 3.0]], requires_grad=True)
    found = rg.where(x)
    assert type(found) is tuple
    assert [i.tolist() for i in found] == [[0, 0, 1], [1, 2, 2]]
    assert x[found].tolist() == [1.0, -2.0, 3.0]
    assert [i.tolist() for i in rg.where(condition=rg.tensor(3))] == [[0]]
    assert rg.where(rg.tensor([True, False]), 1, 0).tolist() == [1, 0]


def test_tensor_takes_sizes_in_a_row_and_a_device(rg):
    assert rg.Tensor(2, 3, 0).shape == (2, 3, 0)
    assert rg.Tensor(2, 3, device="cpu").dtype == rg.get_default_dtype()
    assert rg.Tensor([1, 2], device=rg.device("cpu")).tolist() == [1.0, 2.0]
    assert rg.Tensor(device="cpu").shape == (0,)
    with pytest.raises(RuntimeError, match="negative dimension"):
        rg.Tensor(2, -3)
    with pytest.raises(AssertionError, match="CUDA"):
        rg.Tensor(2, device="cuda")


def test_resize_refuses_negative_sizes_and_what_is_no_size(rg):
    x = rg.ones(2)
    for sizes in ((-1,), ((-1, 2),), (2, -1)):
        with pytest.raises(RuntimeError, match="negative dimension"):
            x.resize_(*sizes)
    with pytest.raises(TypeError, match="argument 'size'"):
        x.resize_((2, "a"))
    assert x.tolist() == [1.0, 1.0]
    assert x._version == 0
    assert x.resize_((1, 2)).resize_([2]).resize_(rg.Size([2, 1])).shape == (2, 1)
    assert x.resize_(1).resize_().shape == ()


def test_masks_of_bytes_are_warned_of_each_time(rg):
    x, mask = rg.arange(3.0), rg.tensor([1, 0, 1], dtype=rg.uint8)
    for _ in range(2):
        with pytest.warns(UserWarning, match="indexing with dtype retrograd.uint8 is now deprecated"):
            assert x[mask].tolist() == [0.0, 2.0]
    with pytest.warns(UserWarning, match="indexing with dtype retrograd.uint8 is now deprecated"):
        x[mask] = 5.0
    assert x.tolist() == [5.0, 1.0, 5.0]
    assert x[mask[0]].shape == (1, 3)


def test_new_tensor_warns_of_a_tensor_alone(rg):
    x = rg.ones(2)
    with pytest.warns(UserWarning, match=r"rather than tensor\.new_tensor\(sourceTensor\)"):
        assert x.new_tensor(x).tolist() == [1.0, 1.0]
    assert x.new_tensor([x[0], 2]).tolist() == [1.0, 2.0]


def test_a_switch_takes_truth_values_alone_and_stays_as_it_is(rg):
    for switch, now in (
        (rg.set_grad_enabled, rg.is_grad_enabled),
        (rg.autograd.set_multithreading_enabled, rg.autograd.is_multithreading_enabled),
    ):
        for given in ("a", 0, None, rg.tensor(False)):
            with pytest.raises(TypeError, match=rf"{switch.__name__}\(\): argument 'enabled' .* must be bool"):
                switch(given)
            assert now() is True
