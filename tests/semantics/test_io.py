"""IO: interop, copies, printing."""

import copy
import io
import pickle
import re
import warnings

import numpy as np
import pytest

from . import beyond, close, fails, leaf, rg, same, script, warns


def stored_and_loaded(obj, **options):
    file = io.BytesIO()
    rg.save(obj, file)
    file.seek(0)
    return rg.load(file, **options)


def text(x):
    """The repr, as retrograd prints it."""
    return re.sub(r"\btorch\.", "retrograd.", repr(x))


# ---- IO-1: NumPy


@pytest.mark.parametrize("share", [rg.from_numpy, rg.as_tensor])
def test_io_1_sharing_memory_with_an_array(share):
    array = np.array([1.0, 2.0, 3.0])
    x = share(array)
    assert x.dtype == rg.float64
    array[0] = 10.0
    x[1] = 20.0
    same(x, [10.0, 20.0, 3.0])
    assert array.tolist() == [10.0, 20.0, 3.0]
    assert x.numpy().ctypes.data == array.ctypes.data


def test_io_1_tensor_copies():
    array = np.array([1.0, 2.0])
    x = rg.tensor(array)
    array[0] = 10.0
    same(x, [1.0, 2.0])


def test_io_1_negative_strides():
    for f in (rg.from_numpy, rg.as_tensor, rg.tensor):
        with fails("At least one stride in the given numpy array is negative", kind=ValueError):
            f(np.arange(3.0)[::-1])


def test_io_1_read_only_arrays_warn():
    printed = script("""
        array = np.arange(3.0)
        array.flags.writeable = False
        with caught() as log:
            rg.from_numpy(array)
        print([w.category.__name__ for w in log], "not writable" in str(log[0].message))
    """)
    assert printed == ["['UserWarning']", "True"]


def test_io_1_bfloat16_has_no_array():
    with fails("Got unsupported ScalarType BFloat16", kind=TypeError):
        rg.tensor([1.0], dtype=rg.bfloat16).numpy()


def test_io_1_conjugated_tensors_have_no_array():
    with fails("Can't call numpy() on Tensor that has conjugate bit set"):
        rg.tensor([1j]).conj().numpy()


# ---- IO-2: DLPack


def test_io_2_arrays_and_tensors_share_memory_both_ways():
    x = rg.zeros(2, 3)
    array = np.from_dlpack(x.T)
    assert (array.shape, array.strides) == ((3, 2), (4, 12))
    array[2, 1] = 5.0
    same(x, [[0, 0, 0], [0, 0, 5.0]])

    array = np.zeros((2, 3), np.int16)
    x = rg.from_dlpack(array[:, 1:])
    assert x.dtype == rg.int16 and x.stride() == (3, 1)
    x[1, 0] = 7
    assert array.tolist() == [[0, 0, 0], [0, 7, 0]]


def test_io_2_the_device_is_the_cpu():
    assert tuple(map(int, rg.ones(1).__dlpack_device__())) == (1, 0)


def test_io_2_capsules_old_and_new_are_consumed_once():
    x = rg.tensor([1.0, 2.0])
    for options, name in (({}, '"dltensor"'), ({"max_version": (1, 0)}, '"dltensor_versioned"')):
        capsule = x.__dlpack__(**options)
        assert name in repr(capsule)
        y = rg.from_dlpack(capsule)
        assert y.data_ptr() == x.data_ptr()
        same(y, [1.0, 2.0])
        assert name.replace('"', '"used_', 1) in repr(capsule)
        with fails("from_dlpack received an invalid capsule", "can be consumed only once"):
            rg.from_dlpack(capsule)


def test_io_2_tensors_that_require_grad_are_not_exported():
    x = leaf([1.0])
    for t in (x, x * 2):
        with fails("Can't export tensors that require gradient, use tensor.detach()", kind=BufferError):
            t.__dlpack__()
        with fails("Can't export tensors that require gradient", kind=BufferError):
            np.from_dlpack(t)
        with rg.no_grad(), fails("Can't export tensors that require gradient", kind=BufferError):
            t.__dlpack__()
    assert np.from_dlpack(x.detach()).tolist() == [1.0]


def test_io_2_conjugated_tensors_are_not_exported():
    with fails("Can't export tensors with the conjugate bit set", kind=BufferError):
        rg.tensor([1j]).conj().__dlpack__()


def test_io_2_streams_are_for_other_devices():
    x = rg.ones(1)
    for stream in (None, -1):
        x.__dlpack__(stream=stream)
    with fails("stream must be ``int`` or ``none``", kind=TypeError):
        x.__dlpack__(stream=1.0)
    with fails("stream should be None on cpu.", kind=AssertionError):
        x.__dlpack__(stream=3)


def test_io_2_copies_on_request():
    x = rg.tensor([1.0, 2.0])
    array = np.from_dlpack(x, copy=True)
    array[0] = 5.0
    same(x, [1.0, 2.0])
    array = np.array([1.0, 2.0])
    rg.from_dlpack(array, copy=True).fill_(5.0)
    assert array.tolist() == [1.0, 2.0]
    rg.from_dlpack(array, device="cpu", copy=False).fill_(5.0)
    assert array.tolist() == [5.0, 5.0]
    with fails("device and copy kwargs not supported", kind=AssertionError):
        rg.from_dlpack(x.__dlpack__(), copy=True)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "bfloat16", "float64", "complex64"])
def test_io_2_dtypes(dtype):
    dtype = getattr(rg, dtype)
    x = rg.tensor([1, 0, 3], dtype=dtype)
    y = rg.from_dlpack(x)
    assert y.dtype == dtype and y.data_ptr() == x.data_ptr() and y.tolist() == x.tolist()


def test_io_2_bools_are_any_bytes():
    assert rg.from_dlpack(np.array([0, 2], "u1").view("?")).tolist() == [False, True]


# ---- IO-3: save and load


def test_io_3_values_dtypes_and_nesting():
    obj = {
        "weights": [rg.tensor([[1.0, 2.0], [3.0, 4.0]]), (rg.tensor([1, 2]), rg.tensor(True))],
        "step": 3,
        ("a", 1): [1.5, None, True, "text", b"bytes", 2j, 2**100],
        5: {"size": rg.Size([2, 3]), "dtype": rg.float64, "device": rg.device("cpu")},
    }
    back = stored_and_loaded(obj)
    assert list(back) == list(obj) and back["step"] == 3 and back[("a", 1)] == obj[("a", 1)] and back[5] == obj[5]
    assert type(back[5]["size"]) is rg.Size and type(back["weights"][1]) is tuple
    same(back["weights"][0], [[1.0, 2.0], [3.0, 4.0]])
    same(back["weights"][1][0], [1, 2])
    assert back["weights"][1][0].dtype == rg.int64 and back["weights"][1][1].dtype == rg.bool


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64", "complex128", "int8", "bool"])
def test_io_3_dtypes(dtype):
    x = rg.tensor([[1, 0], [3, 4]], dtype=getattr(rg, dtype))
    for t in (x, x.T, x[:, 1]):
        y = stored_and_loaded(t)
        assert y.dtype == t.dtype and y.stride() == t.stride() and y.tolist() == t.tolist()


def test_io_3_strides_and_shared_memory():
    x = rg.arange(6.0).reshape(2, 3)
    base, column, transposed, other = stored_and_loaded([x, x[:, 1], x.T, x.clone()])
    assert column.stride() == (3,) and column.storage_offset() == 1 and transposed.stride() == (1, 3)
    base[0, 1] = 10.0
    same(column, [10.0, 4.0])
    same(transposed, [[0, 3], [10, 4], [2, 5]])
    same(other, [[0, 1, 2], [3, 4, 5]])


def test_io_3_the_same_tensor_twice_is_one_tensor():
    x, inner = leaf([1.0]), [1, 2]
    back = stored_and_loaded({"a": x, "b": [x, inner], "c": inner})
    assert back["a"] is back["b"][0] and back["b"][1] is back["c"]


def test_io_3_requires_grad():
    x = leaf([1.0, 2.0])
    y = x * 2
    back = stored_and_loaded([x, y, y.detach()])
    assert [t.requires_grad for t in back] == [True, True, False]
    assert all(t.is_leaf for t in back)
    assert back[1].data_ptr() == back[2].data_ptr()
    (back[1] * 3).sum().backward()
    same(back[1].grad, [3.0, 3.0])
    assert x.grad is None and back[0].grad is None


def test_io_3_parameters_and_attributes():
    p = rg.nn.Parameter(rg.tensor([1.0]))
    frozen = rg.nn.Parameter(rg.tensor([1]), requires_grad=False)
    p.note, p.of = "kept", frozen
    q, of = stored_and_loaded([p, frozen])
    assert type(q) is rg.nn.Parameter and q.requires_grad and q.note == "kept" and q.of is of
    assert type(of) is rg.nn.Parameter and not of.requires_grad


def test_io_3_hooks_stay_behind():
    x = leaf([1.0])
    x.register_hook(lambda g: g * 10)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    for t in (x, y):
        with warns("backward hook <function", "will not be serialized"):
            back = stored_and_loaded(t)
        (back * 3).sum().backward()
        same(back.grad, [3.0])
    x = leaf([1.0])
    x.register_hook(rg.utils.hooks.unserializable_hook(lambda g: g * 10))
    p = rg.nn.Parameter(rg.tensor([1.0]))
    p.register_hook(lambda g: g)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stored_and_loaded([x, p])


def test_io_3_gradients_stay_behind():
    x = leaf([1.0])
    (x * 3).sum().backward()
    assert stored_and_loaded(x).grad is None


def test_io_3_paths_and_locations(tmp_path):
    path = tmp_path / "saved"
    rg.save({"x": rg.ones(2)}, path)
    for f in (path, str(path)):
        same(rg.load(f)["x"], [1.0, 1.0])
    with open(path, "rb") as file:
        same(rg.load(file)["x"], [1.0, 1.0])
    seen = []
    for where in ("cpu", rg.device("cpu"), {"cpu": "cpu"}, lambda storage, name: seen.append(name)):
        same(rg.load(path, map_location=where)["x"], [1.0, 1.0])
    assert seen == ["cpu"]
    same(rg.load(path, mmap=True)["x"], [1.0, 1.0])


def test_io_3_no_code_runs_unless_asked():
    class Payload:
        def __reduce__(self):
            return pytest.fail, ("code ran",)

    file = io.BytesIO(pickle.dumps({"x": Payload()}, protocol=2))
    with fails("Weights only load failed", kind=pickle.UnpicklingError):
        rg.load(file)
    with fails("Can not safely load weights when explicit pickle_module is specified"):
        rg.load(file, weights_only=True, pickle_module=pickle)


def test_io_3_a_pickle_on_request():
    file = io.BytesIO()
    rg.save({"x": rg.ones(2), "f": len}, file, pickle_module=pickle)
    file.seek(0)
    back = rg.load(file, weights_only=False)
    same(back["x"], [1.0, 1.0])
    assert back["f"] is len


@beyond("torch pickles what it is given, and refuses when it loads")
def test_io_3_what_has_no_form_is_refused_with_its_place():
    with fails("obj['a'][1][3]", "type", "function", kind=TypeError):
        rg.save({"a": [0, (0, 1, 2, lambda: 0)]}, io.BytesIO())


# ---- IO-3, LEAF-16: copies and pickles


def test_io_3_pickles():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    x.note = "kept"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        y, product, t = pickle.loads(pickle.dumps([x, x * 2, x.detach().T], protocol))
        assert y.requires_grad and y.is_leaf and y.note == "kept"
        assert product.requires_grad and product.is_leaf
        same(y, [[1.0, 2.0], [3.0, 4.0]])
        same(t, [[1.0, 3.0], [2.0, 4.0]])
        assert t.stride() == (1, 2)


def test_io_3_copy_shares_memory():
    x = leaf([1.0, 2.0])
    for t in (x, x * 2):
        y = copy.copy(t)
        assert y is not t and y.is_leaf and y.requires_grad and y.data_ptr() == t.data_ptr()


def test_io_3_deepcopy_keeps_strides_and_sharing():
    x = rg.arange(6.0).reshape(2, 3)
    y, transposed, column = copy.deepcopy([x, x.T, x[:, 1]])
    assert transposed.stride() == (1, 3) and column.stride() == (3,) and column.storage_offset() == 1
    y[0, 1] = 10.0
    same(transposed, [[0, 3], [10, 4], [2, 5]])
    same(column, [10.0, 4.0])
    same(x, [[0, 1, 2], [3, 4, 5]])


def test_io_3_generators_go_on_from_their_state():
    g = rg.Generator().manual_seed(7)
    rg.rand(3, generator=g)
    copies = [copy.deepcopy(g), pickle.loads(pickle.dumps(g))]
    wanted = rg.rand(3, generator=g)
    for other in copies:
        same(rg.rand(3, generator=other), wanted)


# ---- IO-4: repr


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: rg.tensor([1.0, 2.5]), "tensor([1.0000, 2.5000])"),
        (lambda: rg.tensor([1, 2]), "tensor([1, 2])"),
        (lambda: rg.tensor([1.0], dtype=rg.float64), "tensor([1.], dtype=retrograd.float64)"),
        (lambda: rg.tensor([1, 2], dtype=rg.int32), "tensor([1, 2], dtype=retrograd.int32)"),
        (lambda: leaf([1.0]), "tensor([1.], requires_grad=True)"),
        (
            lambda: leaf([1.0], dtype=rg.float64),
            "tensor([1.], dtype=retrograd.float64, requires_grad=True)",
        ),
        (lambda: leaf([1.0]) * 2, "tensor([2.], grad_fn=<MulBackward0>)"),
        (lambda: leaf([[1.0]])[0], "tensor([1.], grad_fn=<SelectBackward0>)"),
    ],
)
def test_io_4_repr(make, expected):
    assert text(make()) == expected


def test_io_4_repr_of_duals():
    fwd = rg.autograd.forward_ad
    with fwd.dual_level():
        assert "tangent=tensor([2.])" in repr(fwd.make_dual(rg.tensor([1.0]), rg.tensor([2.0])))


# ---- IO-5: comparison, hash, truth, iteration


def test_io_5_comparison_is_elementwise():
    x = rg.tensor([1.0, 2.0, float("nan")])
    same(x == x, [True, True, False])
    same(x == 2, [False, True, False])
    same(x != rg.tensor([1.0]), [False, True, True])
    assert (x == "text") is False and (x != None) is True  # noqa: E711


def test_io_5_hash_is_by_identity():
    x, y = rg.ones(2), rg.ones(2)
    assert hash(x) == hash(x) and len({x, y, x}) == 2 and {x: 1, y: 2}[y] == 2


def test_io_5_truth_of_several_elements_is_ambiguous():
    for x in (rg.ones(2), rg.ones(0)):
        with fails("is ambiguous"):
            bool(x)
    assert bool(rg.ones(1, 1)) is True and bool(rg.tensor(0.0)) is False


def test_io_5_iteration_is_over_the_first_axis():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    rows = list(x)
    assert len(rows) == len(x) == 2
    same(rows[1], [3.0, 4.0])
    rows[1].sum().backward()
    same(x.grad, [[0.0, 0.0], [1.0, 1.0]])
    with fails("iteration over a 0-d tensor", kind=TypeError):
        iter(rg.tensor(1.0))


# ---- IO-6: NumPy's scalars and arrays as operands


@pytest.mark.parametrize("scalar", [np.float32(2), np.float64(2), np.int64(2)], ids=repr)
def test_io_6_scalars_keep_the_graph_on_either_side(scalar):
    for f, value, slope in (
        (lambda x: scalar * x, 6.0, 2.0),
        (lambda x: x * scalar, 6.0, 2.0),
        (lambda x: scalar - x, -1.0, -1.0),
        (lambda x: scalar / x, 2 / 3, -2 / 9),
        (lambda x: scalar + x, 5.0, 1.0),
        (lambda x: scalar**x, 8.0, 8 * np.log(2)),
    ):
        x = leaf([3.0])
        y = f(x)
        assert y.grad_fn is not None and y.dtype == rg.float32
        close(y, [value])
        y.backward()
        close(x.grad, [slope])
    same(scalar < rg.tensor([1.0, 3.0]), [False, True])


def test_io_6_a_tensor_left_of_an_array_goes_through_numpy():
    with fails("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."):
        leaf([1.0]) * np.array([2.0], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy, on torch's behalf
        same(rg.tensor([3.0]) * np.array([2.0], np.float32), [6.0])


def test_io_6_an_array_left_of_a_tensor_is_refused():
    for x in (leaf([1.0]), rg.tensor([1.0])):
        with fails("unsupported operand type(s) for *", kind=TypeError):
            np.array([2.0], np.float32) * x
