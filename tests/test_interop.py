"""Between tensors and the rest of Python: construction, NumPy, the buffer protocol, numbers, lists, printing.

Every expected text of a `repr` was printed by torch 2.13; only the module's name differs.
"""

import array
import copy
import gc
import operator
import pickle
import warnings
import weakref
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

INTEGRAL = ["bool", "uint8", "int8", "int16", "int32", "int64"]
SHARED = [*INTEGRAL, "float16", "float32", "float64", "complex64", "complex128"]

# ---- tensor(): inference


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (True, "bool"),
        (3, "int64"),
        (1.5, "float32"),
        (1j, "complex64"),
        ([True, 2], "int64"),
        ([True, 2.5], "float32"),
        ([1.5, 1j], "complex64"),
        ([[1, 2.5], [3, True]], "float32"),
        ([2**70, 1.0], "float32"),
        ([], "float32"),
        ([[], []], "float32"),
        (range(3), "int64"),
        ([(1, 2), [3, 4]], "int64"),
        (bytearray(b"ab"), "int64"),
        (array.array("d", [1.0, 2.0]), "float32"),
        (np.float32(1.5), "float32"),
        (np.float64(1.5), "float64"),
        (np.int32(1), "int32"),
        (np.bool_(True), "bool"),
        ([np.float64(1), 2.5], "float64"),
        ([np.float32(1), 2], "float32"),
        ([np.float16(1), 2.5], "float32"),
        ([np.int8(1), 2], "int64"),
        ([np.uint8(1), np.int8(2)], "int16"),
        ([np.complex64(1j)], "complex64"),
        ([np.array([1, 2], "i4"), np.array([3, 4], "i4")], "int32"),
        (np.arange(6.0).reshape(2, 3), "float64"),
        (np.array(5, "i2"), "int16"),
    ],
    ids=repr,
)
def test_dtype_and_values_are_those_of_the_data(rg: Any, data: Any, dtype: str) -> None:
    t = rg.tensor(data)
    assert t.dtype is getattr(rg, dtype)
    expected = np.array(data, dtype)
    assert tuple(t.shape) == expected.shape
    np.testing.assert_array_equal(t.numpy(), expected)


def test_floats_take_the_default_dtype(rg: Any) -> None:
    rg.set_default_dtype(rg.float64)
    try:
        assert rg.tensor([1.5]).dtype is rg.float64
        assert rg.tensor([1j]).dtype is rg.complex128
    finally:
        rg.set_default_dtype(rg.float32)


def test_tensors_inside_lists_are_numbers(rg: Any) -> None:
    assert rg.tensor([rg.tensor(1), 2.5]).tolist() == [1.0, 2.5]
    assert rg.tensor([rg.tensor(1.0, dtype=rg.float64), 2]).dtype is rg.float64
    assert rg.tensor([[rg.tensor([[1.0]]), 2.0]]).tolist() == [[1.0, 2.0]]
    with pytest.raises(ValueError, match="only one element tensors can be converted"):
        rg.tensor([rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])])
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True"):
        assert rg.tensor([rg.tensor(1.0, requires_grad=True)]).requires_grad is False


def test_a_tensor_is_copied_with_a_warning(rg: Any) -> None:
    x = rg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        y = rg.tensor(x)
    assert y.requires_grad is False
    assert y.data_ptr() != x.data_ptr()


@pytest.mark.parametrize(
    ("data", "error", "says"),
    [
        ([[1, 2], [1, 2, 3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 3\)"),
        ([[1, 2], [1]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
        ([[1], []], ValueError, r"expected sequence of length 1 at dim 1 \(got 0\)"),
        ([[1, 2], 3], TypeError, "not a sequence"),
        ([3, [1, 2]], TypeError, "'list' object cannot be interpreted as an integer"),
        ("abc", TypeError, "invalid data type 'str'"),
        (["a"], ValueError, "too many dimensions 'str'"),
        ([1, "a"], TypeError, "invalid data type 'str'"),
        (b"ab", TypeError, "invalid data type 'bytes'"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ([1.5, None], RuntimeError, "Could not infer dtype of NoneType"),
        ({0: 1}, RuntimeError, "Could not infer dtype of dict"),
        ({1, 2}, RuntimeError, "Could not infer dtype of set"),
        pytest.param([object()], RuntimeError, "Could not infer dtype of object", id="object"),
        ([2**63], ValueError, "Overflow when unpacking long long"),
        (-(2**63) - 1, ValueError, "Overflow when unpacking long long"),
        ([2**2000, 1.0], OverflowError, "int too large"),
        (np.array(["a"]), TypeError, r"can't convert np.ndarray of type numpy.str_"),
        (np.array([None]), TypeError, r"can't convert np.ndarray of type numpy.object_"),
        (np.array([1, 2], ">i4"), ValueError, "byte order"),
        (np.arange(3.0)[::-1], ValueError, "At least one stride in the given numpy array is negative"),
    ],
    ids=lambda v: repr(v)[:40],
)
def test_what_is_no_tensor_is_refused(rg: Any, data: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        rg.tensor(data)


def test_a_list_inside_itself_is_refused(rg: Any) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        rg.tensor(endless)


@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [
        ([1.9, -1.9], "int64", [1, -1]),
        ([-1, -255], "uint8", [255, 1]),
        ([2, 0, 0.5], "bool", [True, False, True]),
        ([1e40, -1e40], "float32", [float("inf"), float("-inf")]),
        ([70000], "float16", [float("inf")]),
        ([2**53 + 1], "float64", [9007199254740992.0]),
        ([Fraction(1, 2)], "float32", [0.5]),
        ([True], "float32", [1.0]),
        ([1, 2.5, 3j], "complex128", [1, 2.5, 3j]),
    ],
    ids=repr,
)
def test_numbers_are_converted_to_the_dtype_asked_for(rg: Any, data: Any, dtype: str, expected: list[Any]) -> None:
    assert rg.tensor(data, dtype=getattr(rg, dtype)).tolist() == expected


@pytest.mark.parametrize(
    ("data", "dtype", "error", "says"),
    [
        ([300], "uint8", RuntimeError, "cannot be converted to type uint8 without overflow"),
        ([-256], "uint8", RuntimeError, "without overflow"),
        ([-0.5], "uint8", RuntimeError, "without overflow"),
        ([-129], "int8", RuntimeError, "without overflow"),
        ([1e10], "int32", RuntimeError, "without overflow"),
        ([2.0**63], "int64", RuntimeError, "without overflow"),
        ([float("nan")], "int64", RuntimeError, "without overflow"),
        ([1j], "float32", TypeError, "must be real number, not complex"),
        ([1j], "int64", TypeError, "'complex' object cannot be interpreted as an integer"),
        ([None], "float32", TypeError, "must be real number, not NoneType"),
        ([np.float32(2.5)], "int64", TypeError, "cannot be interpreted as an integer"),
    ],
    ids=repr,
)
def test_numbers_that_do_not_fit_are_refused(rg: Any, data: Any, dtype: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        rg.tensor(data, dtype=getattr(rg, dtype))


def test_requires_grad_and_other_options(rg: Any) -> None:
    x = rg.tensor([1.5], requires_grad=True)
    assert x.requires_grad
    assert x.is_leaf
    with pytest.raises(RuntimeError, match="floating point and complex dtype can require gradients"):
        rg.tensor([1], requires_grad=True)
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        rg.tensor([1.0], device="cuda")
    with pytest.raises(TypeError, match=r"'dtype' must be retrograd\.dtype, not int"):
        rg.tensor([1], dtype=3)
    assert rg.tensor([1], dtype=float, device="cpu").dtype is rg.float64


MAKERS: list[Any] = [
    lambda rg, device: rg.zeros(2, device=device),
    lambda rg, device: rg.zeros_like(rg.ones(2), device=device),
    lambda rg, device: rg.tensor([0.0, 0.0], device=device),
    lambda rg, device: rg.zeros(2).to(device),
    lambda rg, device: rg.zeros(2).to(device=device),
    lambda rg, device: rg.ones(2).new_zeros(2, device=device),
]


@pytest.mark.parametrize("made", MAKERS)
def test_devices_are_names_of_the_cpu(rg: Any, made: Any) -> None:
    for device in ("cpu", "cpu:0", rg.device("cpu"), rg.device("cpu", 0)):
        assert made(rg, device).tolist() == [0.0, 0.0]
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled: 'cpu' is the only device"):
        made(rg, "cuda")
    for device in ("meta", "cpu:", "cpu:x", "CPU", ""):
        with pytest.raises(RuntimeError, match=r"only device|Invalid device string|must not be empty"):
            made(rg, device)


def test_data_that_changes_while_it_is_read(rg: Any) -> None:
    class Sly:
        def __init__(self, victim: list[Any]) -> None:
            self.victim = victim

        def __float__(self) -> float:
            self.victim.clear()
            return 1.0

    rows: list[Any] = [[1.0, 2.0], [3.0, 4.0]]
    rows[0][0] = Sly(rows)
    with pytest.raises(ValueError, match=r"expected sequence of length 2 at dim 0 \(got 1\)"):
        rg.tensor(rows, dtype=rg.float64)


# ---- NumPy


@pytest.mark.parametrize("dtype", SHARED)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (0, 3), (33, 5)], ids=str)
def test_there_and_back(rg: Any, dtype: str, shape: tuple[int, ...]) -> None:
    values = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    t = rg.from_numpy(values)
    assert t.dtype is getattr(rg, dtype)
    assert tuple(t.shape) == shape
    back = t.numpy()
    assert back.dtype == values.dtype
    np.testing.assert_array_equal(back, values)
    assert t.tolist() == values.tolist()
    np.testing.assert_array_equal(np.asarray(t), values)


def test_from_numpy_shares_memory_both_ways(rg: Any) -> None:
    values = np.zeros((2, 3))
    t = rg.from_numpy(values)
    values[1, 2] = 7.0
    assert t.tolist()[1][2] == 7.0
    t.numpy()[0, 0] = 5.0
    assert values[0, 0] == 5.0


def test_layouts_arrive_as_they_are(rg: Any) -> None:
    base = np.arange(24.0).reshape(4, 6)
    for values in (base.T, base[::2, 1::3], np.asfortranarray(base), base[1:, 2], base[:, :0]):
        t = rg.from_numpy(values)
        np.testing.assert_array_equal(t.numpy(), values)
        if values.size:
            assert t.stride() == tuple(s // 8 for s in values.strides)
            assert t.numpy().strides == values.strides
    assert rg.tensor(np.asfortranarray(base)).stride() == (1, 4)
    assert rg.tensor(base[::2, ::3]).stride() == (2, 1)


def test_memory_lives_as_long_as_somebody_uses_it(rg: Any) -> None:
    class Owner(np.ndarray[Any, Any]):
        pass

    values = np.arange(1000.0).view(Owner)
    gone = weakref.ref(values)
    t = rg.from_numpy(values)
    del values
    gc.collect()
    assert gone() is not None
    assert t.tolist()[999] == 999.0
    view = t.numpy()
    del t
    gc.collect()
    assert view[999] == 999.0
    assert gone() is not None
    del view
    gc.collect()
    assert gone() is None

    lent = np.asarray(rg.tensor([[1.0, 2.0], [3.0, 4.0]]))
    gc.collect()
    assert lent.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_arrays_that_cannot_be_shared(rg: Any) -> None:
    with pytest.raises(ValueError, match="At least one stride in the given numpy array is negative"):
        rg.from_numpy(np.arange(3.0)[::-1])
    with pytest.raises(ValueError, match="byte order"):
        rg.from_numpy(np.arange(3, dtype=">f4"))
    with pytest.raises(ValueError, match="not a multiple of the element byte size"):
        rg.from_numpy(np.zeros(3, [("a", "i4"), ("b", "i1")])["a"])
    with pytest.raises(ValueError, match="not aligned"):
        rg.from_numpy(np.zeros(9, "u1")[1:].view("f4"))
    for dtype in ("U1", "S1", "O", "M8[s]", "longdouble", "i4,i4"):
        if np.dtype(dtype).char != "d":  # where a long double is a double, it still has its own code
            with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type numpy"):
                rg.from_numpy(np.zeros(2, dtype))
    for other in ([1], np.float32(1), 3, None):
        with pytest.raises(TypeError, match=r"expected np\.ndarray \(got"):
            rg.from_numpy(other)


def test_copies_take_what_sharing_cannot(rg: Any) -> None:
    assert rg.tensor(np.array([0, 2], "u1").view("?")).tolist() == [False, True]
    odd = np.zeros(9, "u1")[1:].view("f4")
    assert rg.tensor(odd).tolist() == [0.0, 0.0]
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    assert rg.tensor(frozen).tolist() == [0.0, 1.0, 2.0]  # no warning
    assert rg.tensor(np.broadcast_to(1.0, (3,))).stride() == (1,)


def test_a_read_only_array_warns(rg: Any) -> None:
    values = np.arange(3.0)
    values.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        t = rg.from_numpy(values)
    assert t.tolist() == [0.0, 1.0, 2.0]


def test_as_tensor_and_asarray_share_where_they_can(rg: Any) -> None:
    values = np.zeros(3)
    for f in (rg.as_tensor, rg.asarray):
        t = f(values)
        values[0] += 1
        assert t.tolist()[0] == values[0]
        x = rg.tensor([1.0])
        assert f(x) is x
        assert f(values, dtype=rg.float32).dtype is rg.float32
        assert f([1, 2]).tolist() == [1, 2]
        assert f(np.float32(3)).dtype is rg.float32
    t = rg.asarray(values, copy=True)
    values[1] = 9.0
    assert t.tolist()[1] == 0.0
    with pytest.raises(ValueError, match="can't alias arbitrary sequence"):
        rg.asarray([1.0], copy=False)
    with pytest.raises(ValueError, match="can't alias tensor with dtype 'Double' into dtype 'Float'"):
        rg.asarray(values, dtype=rg.float32, copy=False)
    x = rg.tensor([1.0], requires_grad=True)
    assert rg.asarray(x) is x
    assert rg.asarray(x, requires_grad=False).requires_grad is False


def test_grads_do_not_leave_through_numpy(rg: Any) -> None:
    x = rg.tensor([1.0, 2.0], requires_grad=True)
    for leak in (x.numpy, lambda: np.asarray(x), lambda: np.array(x), x.__array__, (x * 2).numpy):
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad\. Use"):
            leak()
    assert x.numpy(force=True).tolist() == [1.0, 2.0]
    with pytest.raises(BufferError, match="requires grad"):
        memoryview(x)


def test_dtypes_numpy_does_not_have(rg: Any) -> None:
    t = rg.tensor([1.0], dtype=rg.bfloat16)
    for f in (t.numpy, t.__array__, lambda: np.asarray(t)):
        with pytest.raises(TypeError, match="unsupported ScalarType BFloat16"):
            f()


def test_array_protocol(rg: Any) -> None:
    t = rg.tensor([1.0, 2.0])
    assert t.__array__(np.float64).dtype == np.float64
    assert t.__array__().dtype == np.float32
    assert np.shares_memory(t.__array__(), t.numpy())
    assert np.shares_memory(t.__array__(copy=False), t.numpy())
    assert not np.shares_memory(t.__array__(copy=True), t.numpy())
    with pytest.raises(ValueError, match="avoid copy"):
        t.__array__("f8", copy=False)
    assert np.shares_memory(np.asarray(t), t.numpy())
    assert not np.shares_memory(np.array(t), t.numpy())
    assert np.asarray(t, dtype="f8").dtype == np.float64


# ---- the buffer protocol


def test_memoryview(rg: Any) -> None:
    t = rg.tensor([[1, 2, 3], [4, 5, 6]], dtype=rg.int32)
    view = memoryview(t)
    assert (view.format, view.itemsize, view.shape, view.strides, view.readonly) == ("i", 4, (2, 3), (12, 4), False)
    assert view.tolist() == t.tolist()
    view[1, 2] = 60
    assert t.tolist()[1][2] == 60
    del t
    gc.collect()
    assert view.tolist() == [[1, 2, 3], [4, 5, 60]]
    assert bytes(rg.tensor([1, 2], dtype=rg.uint8)) == b"\x01\x02"


def test_a_buffer_says_how_it_lies(rg: Any) -> None:
    t = rg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).t()
    view = memoryview(t)
    assert (view.shape, view.strides) == ((3, 2), (4, 12))
    assert view.f_contiguous
    assert not view.c_contiguous
    with pytest.raises(BufferError, match="not contiguous"):
        rg.frombuffer(t, dtype=rg.float32)
    with pytest.raises(BufferError, match="no format for bfloat16"):
        memoryview(rg.tensor([1.0], dtype=rg.bfloat16))


def test_infinity_and_nan_as_bfloat16(rg: Any) -> None:
    x = rg.tensor([np.inf, -np.inf, np.nan, 1.5]).to(rg.bfloat16).to(rg.float32)
    np.testing.assert_array_equal(x.numpy(), np.array([np.inf, -np.inf, np.nan, 1.5], "f4"))


def test_frombuffer(rg: Any) -> None:
    data = bytearray(np.arange(4, dtype="i4").tobytes())
    t = rg.frombuffer(data, dtype=rg.int32)
    assert t.tolist() == [0, 1, 2, 3]
    data[0] = 9
    assert t.tolist()[0] == 9
    assert rg.frombuffer(data, dtype=rg.int32, count=2, offset=4).tolist() == [1, 2]
    with pytest.raises(BufferError):
        data.append(0)  # the tensor holds it
    del t
    gc.collect()
    data.append(0)
    with pytest.warns(UserWarning, match="not writable"):
        assert rg.frombuffer(b"ab", dtype=rg.uint8).tolist() == [97, 98]
    assert rg.frombuffer(bytearray(4), dtype=rg.float32, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    ("data", "options", "says"),
    [
        (bytearray(8), {"count": 3}, r"requested buffer length \(3 \* 4 bytes\) after offset \(0 bytes\)"),
        (bytearray(8), {"count": 2, "offset": 4}, r"requested buffer length \(2 \* 4 bytes\) after offset \(4 bytes\)"),
        (bytearray(7), {}, r"buffer length \(7 bytes\) after offset \(0 bytes\) must be a multiple"),
        (bytearray(7), {"offset": 9}, r"offset \(9 bytes\) must be non-negative and no greater than"),
        (bytearray(8), {"offset": -1}, r"offset \(-1 bytes\) must be non-negative"),
        (bytearray(0), {}, "must not be 0"),
        (bytearray(8), {"count": 0}, "must not be 0"),
        (bytearray(8), {"count": 2**62}, "requested buffer length"),
        (bytearray(9), {"offset": 1}, "not aligned"),
        (3, {}, "does not implement Python buffer protocol"),
    ],
    ids=repr,
)
def test_frombuffer_refuses(rg: Any, data: Any, options: dict[str, int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        rg.frombuffer(data, dtype=rg.int32, **options)


# ---- numbers and lists


def test_item_and_tolist(rg: Any) -> None:
    assert rg.tensor([[2.5]]).item() == 2.5
    assert rg.tensor(True).item() is True
    assert rg.tensor([0.1]).item() == 0.10000000149011612
    assert rg.tensor([0.1], dtype=rg.float16).tolist() == [0.0999755859375]
    assert rg.tensor(3).tolist() == 3
    assert rg.tensor([[1, 2], [3, 4]]).t().tolist() == [[1, 3], [2, 4]]
    assert rg.tensor([[], []]).tolist() == [[], []]
    for n in (0, 3):
        with pytest.raises(RuntimeError, match=f"a Tensor with {n} elements cannot be converted to Scalar"):
            rg.tensor([1.0] * n).item()
    assert rg.tensor([1.5], requires_grad=True).item() == 1.5


def test_python_numbers(rg: Any) -> None:
    assert int(rg.tensor(2.7)) == 2
    assert int(rg.tensor(1e30)) == 1000000015047466219876688855040
    assert float(rg.tensor([[3]])) == 3.0
    assert float(rg.tensor(1 + 0j)) == 1.0
    assert complex(rg.tensor(1 + 2j)) == 1 + 2j
    assert complex(rg.tensor(2)) == 2 + 0j
    assert operator.index(rg.tensor([[3]])) == 3
    assert "abcd"[rg.tensor(True)] == "b"
    assert bool(rg.tensor([[1.0]]))
    assert bool(rg.tensor(float("nan")))
    assert not bool(rg.tensor(0j))
    for f in (int, float, complex):
        with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
            f(rg.tensor([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="without overflow"):
        float(rg.tensor(1j))
    with pytest.raises(ValueError, match="NaN"):
        int(rg.tensor(float("nan")))
    for data in (3.0, [1, 2]):
        with pytest.raises(TypeError, match="only integer tensors of a single element"):
            operator.index(rg.tensor(data))
    with pytest.raises(RuntimeError, match="Tensor with more than one value is ambiguous"):
        bool(rg.tensor([1, 2]))
    with pytest.raises(RuntimeError, match="Tensor with no values is ambiguous"):
        bool(rg.tensor([]))


def test_a_float_of_a_tensor_that_requires_grad_warns(rg: Any) -> None:
    x = rg.tensor(1.5, requires_grad=True)
    says = r"Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior\.\nConsider using"
    with pytest.warns(UserWarning, match=says):
        assert float(x) == 1.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (int(x), bool(x), x.item(), x.tolist()) == (1, True, 1.5, 1.5)


# ---- printing


@pytest.fixture
def plain_options(rg: Any) -> Iterator[None]:
    rg.set_printoptions(profile="default")
    yield
    rg.set_printoptions(profile="default")


@pytest.mark.usefixtures("plain_options")
@pytest.mark.parametrize(
    ("data", "options", "expected"),
    [
        ([1.0, 2.0], {}, "tensor([1., 2.])"),
        (1.23456, {}, "tensor(1.2346)"),
        ([[1.5, -2.0], [0.25, 1e3]], {}, "tensor([[ 1.5000e+00, -2.0000e+00],\n        [ 2.5000e-01,  1.0000e+03]])"),
        ([1, -20, 300], {}, "tensor([  1, -20, 300])"),
        ([True, False], {}, "tensor([ True, False])"),
        ([1.5, float("nan"), float("-inf")], {}, "tensor([1.5000,    nan,   -inf])"),
        ([1j, 1.5], {}, "tensor([0.0000+1.j, 1.5000+0.j])"),
        ([1.0], {"dtype": "float64"}, "tensor([1.], dtype=retrograd.float64)"),
        ([1.5], {"dtype": "float16"}, "tensor([1.5000], dtype=retrograd.float16)"),
        ([1, 2], {"dtype": "int32"}, "tensor([1, 2], dtype=retrograd.int32)"),
        ([1j], {"dtype": "complex128"}, "tensor([0.+1.j], dtype=retrograd.complex128)"),
        ([1.0], {"requires_grad": True}, "tensor([1.], requires_grad=True)"),
        (
            [1.0],
            {"dtype": "float64", "requires_grad": True},
            "tensor([1.], dtype=retrograd.float64, requires_grad=True)",
        ),
        ([], {}, "tensor([])"),
        ([], {"dtype": "int64"}, "tensor([], dtype=retrograd.int64)"),
        ([[], []], {}, "tensor([], size=(2, 0))"),
        ([[], []], {"dtype": "bool"}, "tensor([], size=(2, 0), dtype=retrograd.bool)"),
        ([[]], {"requires_grad": True}, "tensor([], size=(1, 0), requires_grad=True)"),
        (range(1001), {}, "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    ],
    ids=repr,
)
def test_repr(rg: Any, data: Any, options: dict[str, Any], expected: str) -> None:
    if "dtype" in options:
        options = {**options, "dtype": getattr(rg, options["dtype"])}
    t = rg.tensor(data, **options)
    assert repr(t) == expected
    assert str(t) == expected


@pytest.mark.usefixtures("plain_options")
def test_repr_of_results_and_views(rg: Any) -> None:
    x = rg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    assert repr(x * 2) == "tensor([2., 4., 6.], grad_fn=<MulBackward0>)"
    t = rg.tensor([[1, 2, 3], [4, 5, 6]]).t()
    assert repr(t) == "tensor([[1, 4],\n        [2, 5],\n        [3, 6]])"


@pytest.mark.usefixtures("plain_options")
def test_set_printoptions(rg: Any) -> None:
    t = rg.tensor([1.234])
    rg.set_printoptions(precision=2)
    assert repr(t) == "tensor([1.23])"
    rg.set_printoptions(sci_mode=True)
    assert repr(t) == "tensor([1.23e+00])"
    rg.set_printoptions(profile="full")
    assert repr(t) == "tensor([1.2340])"
    assert repr(rg.tensor(range(1001))).count(",") == 1000
    rg.set_printoptions(profile="default", threshold=3)
    assert repr(rg.tensor(range(10))) == "tensor([0, 1, 2,  ..., 7, 8, 9])"
    rg.set_printoptions(edgeitems=1)
    assert repr(rg.tensor(range(10))) == "tensor([0,  ..., 9])"
    rg.set_printoptions(threshold=float("inf"), linewidth=20)
    assert repr(rg.tensor(range(6))) == "tensor([0, 1, 2, 3,\n        4, 5])"
    for wrong in ({"profile": "bogus"}, {"threshold": -1}, {"threshold": float("nan")}):
        with pytest.raises(ValueError, match="set_printoptions"):
            rg.set_printoptions(**wrong)


def test_format(rg: Any) -> None:
    assert f"{rg.tensor(1.23456):.3f}" == "1.235"
    assert f"{rg.tensor(1.23456, requires_grad=True):.3f}" == "1.235"
    assert f"{rg.tensor(5):5d}" == "    5"
    assert f"{rg.tensor(5)}" == "5"
    assert f"{rg.tensor([1.5])}" == "tensor([1.5000])"
    with pytest.raises(TypeError, match=r"unsupported format string passed to Tensor\.__format__"):
        f"{rg.tensor([1.5]):.2f}"


# ---- device and Size


def test_device(rg: Any) -> None:
    cpu = rg.device("cpu")
    assert repr(cpu) == "device(type='cpu')"
    assert str(cpu) == "cpu"
    assert (cpu.type, cpu.index) == ("cpu", None)
    assert cpu == rg.device(cpu) == rg.tensor(1).device
    assert cpu != "cpu"
    assert hash(cpu) == hash(rg.device(type="cpu"))
    assert repr(rg.device("cpu", 0)) == repr(rg.device("cpu:0")) == "device(type='cpu', index=0)"
    assert pickle.loads(pickle.dumps(cpu)) == cpu
    for name in ("cpu:", "cpu:x", "cpux", ""):
        with pytest.raises(RuntimeError, match=r"Invalid device string|Expected one of cpu|Device string"):
            rg.device(name)
    with pytest.raises(TypeError, match="'device' must be str or device, not float"):
        rg.device(0.5)


def test_size(rg: Any) -> None:
    size = rg.tensor([[1, 2, 3], [4, 5, 6]]).shape
    assert type(size) is rg.Size
    assert repr(size) == "retrograd.Size([2, 3])"
    assert size == (2, 3)
    assert size.numel() == 6
    assert rg.Size().numel() == 1
    kept = [size[1:], size[::-1], operator.add(size, (4,)), operator.add((4,), size), size + size, size * 2, 2 * size]
    assert [type(s) for s in kept] == [rg.Size] * len(kept)
    assert kept == [(3,), (3, 2), (2, 3, 4), (4, 2, 3), (2, 3, 2, 3), (2, 3, 2, 3), (2, 3, 2, 3)]
    assert type(size[0]) is int
    assert rg.Size([rg.tensor(2), np.int32(3), True]) == (2, 3, 1)
    for other in (copy.deepcopy(size), pickle.loads(pickle.dumps(size))):
        assert type(other) is rg.Size
        assert other == size
    with pytest.raises(TypeError, match=r"takes an iterable of 'int' \(item 0 is 'float'\)"):
        rg.Size([2.5])
    with pytest.raises(TypeError):
        operator.add(size, [3])
