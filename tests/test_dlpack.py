"""DLPack in detail: capsules of any content, who frees what when, and how exporters are asked.

Capsules are built and taken apart with ctypes, after the structs of DLPack 1.0.
"""

import ctypes
import gc
import threading
import weakref
from ctypes import pythonapi

import numpy as np
import pytest

import retrograd as rg
from retrograd.utils.dlpack import DLDeviceType, to_dlpack

CPU, CUDA = 1, 2
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6
READ_ONLY, IS_COPIED = 1, 2


class Lent(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Plain(ctypes.Structure):
    _fields_ = [("tensor", Lent), ("context", ctypes.c_void_p), ("deleter", DELETER)]
    name = b"dltensor"


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Lent),
    ]
    name = b"dltensor_versioned"


pythonapi.PyCapsule_New.restype = ctypes.py_object
pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
pythonapi.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

KINDS = pytest.mark.parametrize("kind", [Plain, Versioned])


class Lender:
    """Makes a capsule over the float32 numbers 0 to 11 in 3 rows, unless told otherwise, and counts its deletions."""

    def __init__(
        self, kind=Versioned, *, major=1, flags=0, shape=(3, 4), strides=(4, 1), deletes=True, shape_at=None, **fields
    ):
        self.memory = np.arange(12, dtype=np.float32)
        self.deleted = 0
        self.kept = [self.integers(shape), self.integers(strides), DELETER(self.count)]
        self.managed = kind()
        self.tensor = self.managed.tensor
        values = {
            "data": self.memory.ctypes.data,
            "device_type": CPU,
            "device_id": 0,
            "ndim": len(shape or ()),
            "code": FLOAT,
            "bits": 32,
            "lanes": 1,
            "shape": shape_at or self.kept[0],
            "strides": self.kept[1],
            "byte_offset": 0,
            **fields,
        }
        for name, value in values.items():
            setattr(self.tensor, name, ctypes.addressof(value) if isinstance(value, ctypes.Array) else value)
        if deletes:
            self.managed.deleter = self.kept[2]
        if kind is Versioned:
            self.managed.major, self.managed.flags = major, flags
        self.name = kind.name
        self.capsule = pythonapi.PyCapsule_New(ctypes.addressof(self.managed), self.name, None)

    @staticmethod
    def integers(values):
        return None if values is None else (ctypes.c_int64 * len(values))(*values)

    def count(self, managed):
        assert managed == ctypes.addressof(self.managed)
        self.deleted += 1

    def is_fresh(self):
        return pythonapi.PyCapsule_IsValid(ctypes.py_object(self.capsule), self.name) == 1


def contents(capsule, kind):
    """The struct in a capsule that was not consumed."""
    return kind.from_address(pythonapi.PyCapsule_GetPointer(capsule, kind.name))


# ---- capsules of others


@KINDS
def test_memory_is_shared_and_given_back_once(kind):
    lender = Lender(kind)
    x = rg.from_dlpack(lender.capsule)
    assert not lender.is_fresh()
    assert (tuple(x.shape), x.stride(), x.data_ptr()) == ((3, 4), (4, 1), lender.memory.ctypes.data)
    row = x[1]
    row[2] = 60.0
    assert lender.memory[6] == 60.0
    del x
    gc.collect()
    assert lender.deleted == 0
    del row
    gc.collect()
    assert lender.deleted == 1
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        rg.from_dlpack(lender.capsule)
    assert lender.deleted == 1


@KINDS
@pytest.mark.parametrize(
    ("fields", "sizes", "strides", "values"),
    [
        ({"strides": None}, (3, 4), (4, 1), None),
        ({"shape": (12,), "strides": None}, (12,), (1,), None),
        ({"shape": (4, 3), "strides": (1, 4)}, (4, 3), (1, 4), None),
        ({"shape": (2, 2), "strides": (0, 5)}, (2, 2), (0, 5), [[0, 5], [0, 5]]),
        ({"shape": (2,), "strides": (4,), "byte_offset": 8}, (2,), (4,), [2, 6]),
        ({"shape": (1, 2), "strides": (2**62, 1)}, (1, 2), (2**62, 1), [[0, 1]]),
        ({"shape": None, "strides": None, "ndim": 0}, (), (), 0),
        ({"shape": (), "strides": (), "byte_offset": 44}, (), (), 11),
        ({"shape": (3, 0), "data": None}, (3, 0), (1, 1), [[], [], []]),
        ({"shape": (0, 2**31, 2**31), "strides": None, "data": None}, (0, 2**31, 2**31), None, []),
        ({"device_id": 3}, (3, 4), (4, 1), None),
        ({"deletes": False}, (3, 4), (4, 1), None),
    ],
    ids=repr,
)
def test_layouts_that_tensors_have(kind, fields, sizes, strides, values):
    lender = Lender(kind, **fields)
    x = rg.from_dlpack(lender.capsule)
    assert tuple(x.shape) == sizes
    assert strides is None or x.stride() == strides
    if values is None:
        values = np.arange(12).reshape(sizes, order="F" if sizes == (4, 3) else "C").tolist()
    assert x.tolist() == values
    del x
    gc.collect()
    assert lender.deleted == fields.get("deletes", True)


LIES = [
    ({"ndim": -1}, "-1 axes"),
    ({"ndim": 65}, "65 axes"),
    ({"ndim": 2**31 - 1}, "axes, instead of 0 to 64"),
    ({"shape": None, "ndim": 2}, "has no shape"),
    ({"shape": (-1, 4)}, "axis of negative size -1"),
    ({"shape": (-(2**63),), "strides": None}, "negative size"),
    ({"shape": (2**40, 2**40)}, "more elements than memory can address"),
    ({"shape": (2**63 - 1,), "strides": None}, "more elements than memory can address"),
    ({"shape": (3, 4), "strides": (2**62, 1)}, "leave the address space"),
    ({"shape": (0, 2**62, 2**62), "strides": None, "data": None}, "Stride calculation overflowed"),
    ({"shape": (3, 4), "strides": (2**60, 2**60)}, "leave the address space"),
    ({"shape": (2, 2), "strides": (2**62, 2**62)}, "leave the address space"),
    ({"strides": (-4, 1)}, r"negative strides, and the memory has \[-4, 1\]"),
    ({"strides": (-(2**63), 1)}, "negative strides"),
    ({"byte_offset": 2**64 - 1}, "leave the address space"),
    ({"byte_offset": 2**63 - 16}, "leave the address space"),
    ({"byte_offset": 2**63}, "leave the address space"),
    ({"byte_offset": 2}, "not aligned to 4 bytes, as float32 needs"),
    ({"data": None}, "no memory for 12 elements"),
    ({"data": None, "byte_offset": 64}, "no memory for 12 elements"),
    ({"data": 2**64 - 8}, "leave the address space"),
    ({"code": 3}, "type code 3 with 32 bits and 1 lanes"),
    ({"code": 255}, "type code 255"),
    ({"bits": 0}, "with 0 bits"),
    ({"bits": 31}, "with 31 bits"),
    ({"bits": 128}, "with 128 bits"),
    ({"code": UINT, "bits": 4}, "type code 1 with 4 bits"),
    ({"code": BOOL, "bits": 32}, "type code 6 with 32 bits"),
    ({"code": BFLOAT, "bits": 32}, "type code 4 with 32 bits"),
    ({"code": COMPLEX, "bits": 16}, "type code 5 with 16 bits"),
    ({"lanes": 0}, "0 lanes"),
    ({"lanes": 4}, "4 lanes"),
    ({"device_type": CUDA, "device_id": 1}, r"device \(2, 1\)"),
    ({"device_type": 0}, r"device \(0, 0\)"),
    ({"device_type": -5}, r"device \(-5, 0\)"),
    ({"shape_at": 4097}, "no shape, or not at an address of integers"),
]


@KINDS
@pytest.mark.parametrize(("fields", "says"), LIES, ids=lambda v: repr(v)[:40])
def test_what_cannot_be_is_refused_and_stays_with_its_owner(kind, fields, says):
    lender = Lender(kind, **fields)
    with pytest.raises(BufferError, match=says):
        rg.from_dlpack(lender.capsule)
    assert lender.is_fresh()
    assert lender.deleted == 0


@pytest.mark.parametrize("major", [0, 2, 2**32 - 1])
def test_unknown_versions_are_refused(major):
    lender = Lender(major=major, ndim=-1)
    with pytest.raises(BufferError, match=f"version {major}.0, and only 1.x"):
        rg.from_dlpack(lender.capsule)
    assert lender.is_fresh()


def test_capsules_without_a_tensor():
    lender = Lender()
    for name, says in ((b"dltensor", BufferError), (b"dltensor_versioned", BufferError), (b"other", RuntimeError)):
        odd = pythonapi.PyCapsule_New(ctypes.addressof(lender.managed) + 1, name, None)
        with pytest.raises(says):
            rg.from_dlpack(odd)
    nameless = pythonapi.PyCapsule_New(ctypes.addressof(lender.managed), None, None)
    for other in (nameless, None, 3, "dltensor", [1.0]):
        with pytest.raises(RuntimeError, match="received an invalid capsule"):
            rg.from_dlpack(other)


@pytest.mark.parametrize(
    ("code", "bits", "dtype"),
    [
        (INT, 8, "int8"),
        (INT, 16, "int16"),
        (INT, 32, "int32"),
        (INT, 64, "int64"),
        (UINT, 8, "uint8"),
        (FLOAT, 16, "float16"),
        (FLOAT, 32, "float32"),
        (FLOAT, 64, "float64"),
        (BFLOAT, 16, "bfloat16"),
        (COMPLEX, 64, "complex64"),
        (COMPLEX, 128, "complex128"),
        (BOOL, 8, "bool"),
    ],
)
def test_type_codes_both_ways(code, bits, dtype):
    lender = Lender(code=code, bits=bits, shape=(2,), strides=(1,))
    lender.memory[:] = 0
    x = rg.from_dlpack(lender.capsule)
    assert x.dtype is getattr(rg, dtype)
    lent = contents(capsule := x.__dlpack__(), Plain).tensor
    assert (lent.code, lent.bits, lent.lanes) == (code, bits, 1)
    assert capsule is not None


@KINDS
def test_bools_of_any_byte(kind):
    lender = Lender(kind, code=BOOL, bits=8, shape=(4,), strides=(1,))
    lender.memory.view(np.uint8)[:4] = [0, 1, 2, 1]
    assert rg.from_dlpack(lender.capsule).tolist() == [False, True, True, True]
    gc.collect()
    assert lender.deleted == 1


def test_read_only_memory_warns():
    lender = Lender(flags=READ_ONLY)
    with pytest.warns(UserWarning, match="not writable"):
        x = rg.from_dlpack(lender.capsule)
    assert x.data_ptr() == lender.memory.ctypes.data
    del x
    lender = Lender(flags=READ_ONLY)
    with pytest.raises(UserWarning, match="not writable"):  # warnings are errors here
        rg.from_dlpack(lender.capsule)
    gc.collect()
    assert lender.deleted == 1
    values = np.arange(3.0)
    values.flags.writeable = False
    x = rg.from_dlpack(values, copy=True)  # no warning
    assert x.tolist() == [0.0, 1.0, 2.0]


def test_unknown_flags_are_ignored():
    x = rg.from_dlpack(Lender(flags=IS_COPIED | 1 << 40).capsule)
    assert x[2].tolist() == [8.0, 9.0, 10.0, 11.0]


def test_of_many_threads_one_gets_the_tensor():
    lender = Lender()
    start, got, refused = threading.Barrier(8), [], []

    def take():
        start.wait()
        try:
            got.append(rg.from_dlpack(lender.capsule))
        except RuntimeError as e:
            refused.append(e)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), len(refused)) == (1, 7)
    got.clear()
    refused.clear()
    gc.collect()
    assert lender.deleted == 1


def test_the_last_tensor_may_go_on_another_thread():
    lender = Lender()
    held = [rg.from_dlpack(lender.capsule)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert lender.deleted == 1


# ---- capsules of ours


@KINDS
def test_what_a_capsule_says(kind):
    x = rg.arange(12.0).reshape(3, 4)[1:, ::2]
    options = {} if kind is Plain else {"max_version": (1, 0)}
    capsule = x.__dlpack__(**options)
    managed = contents(capsule, kind)
    lent = managed.tensor
    axes = ctypes.c_int64 * 2
    assert (lent.data, lent.byte_offset, lent.device_type, lent.device_id) == (x.data_ptr(), 0, CPU, 0)
    assert (lent.ndim, list(axes.from_address(lent.shape)), list(axes.from_address(lent.strides))) == (
        2,
        [2, 2],
        [4, 2],
    )
    if kind is Versioned:
        assert (managed.major, managed.flags) == (1, 0)
        copied = contents(kept := x.__dlpack__(max_version=(1, 0), copy=True), Versioned)
        assert copied.flags == IS_COPIED
        assert copied.tensor.data != x.data_ptr()
        assert kept is not None


def test_versions_that_callers_know():
    x = rg.ones(1)
    for version, name in (((0, 8), "dltensor"), ((1, 7), "dltensor_versioned"), ((2, 0), "dltensor_versioned")):
        assert f'"{name}"' in repr(x.__dlpack__(max_version=version))
    for wrong in (1, "1.0", (1,), (1, "0")):
        with pytest.raises((TypeError, ValueError)):
            x.__dlpack__(max_version=wrong)


def test_devices_that_callers_want():
    x = rg.ones(1)
    x.__dlpack__(dl_device=(CPU, 0))
    x.__dlpack__(dl_device=x.__dlpack_device__())
    for copy in (None, False, True):
        with pytest.raises(BufferError, match=r"DLPack's device \(2, 0\)"):
            x.__dlpack__(dl_device=(DLDeviceType.kDLCUDA, 0), copy=copy)
    assert x.__dlpack_device__() == (DLDeviceType.kDLCPU, 0)


class Owner(np.ndarray):
    pass


def owned():
    """A tensor, and a reference that dies when its memory is free."""
    values = np.arange(1000.0).view(Owner)
    return rg.from_numpy(values), weakref.ref(values)


@pytest.mark.parametrize("options", [{}, {"max_version": (1, 0)}])
def test_a_capsule_that_nobody_takes_lets_go(options):
    x, alive = owned()
    capsule = x.__dlpack__(**options)
    del x
    gc.collect()
    assert alive() is not None
    del capsule
    gc.collect()
    assert alive() is None


def test_memory_lives_as_long_as_its_last_user():
    x, alive = owned()
    array = np.from_dlpack(x)
    y = rg.from_dlpack(array[10:])
    del x, array
    gc.collect()
    assert alive() is not None
    assert y[0].item() == 10.0
    del y
    gc.collect()
    assert alive() is None


@KINDS
def test_our_deleter_runs_on_any_thread_and_without_the_interpreter(kind):
    x, alive = owned()
    capsule = x.__dlpack__(**({} if kind is Plain else {"max_version": (1, 0)}))
    address = pythonapi.PyCapsule_GetPointer(capsule, kind.name)
    assert pythonapi.PyCapsule_SetName(capsule, b"used_" + kind.name) == 0
    del x, capsule
    gc.collect()
    assert alive() is not None
    # ctypes gives up the interpreter while it calls.
    thread = threading.Thread(target=kind.from_address(address).deleter, args=(address,))
    thread.start()
    thread.join()
    gc.collect()
    assert alive() is None


def test_lent_memory_does_not_move():
    x = rg.ones(2)
    array = np.from_dlpack(x)
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        x.resize_(10**6)
    x.fill_(5.0)
    assert array.tolist() == [5.0, 5.0]


def test_many_exports_in_threads():
    x, alive = owned()

    def work(x):
        for _ in range(300):
            assert rg.from_dlpack(x)[3].item() == 3.0
            assert np.from_dlpack(x)[4] == 4.0
            x.__dlpack__()

    threads = [threading.Thread(target=work, args=(x,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    del x, threads
    gc.collect()
    assert alive() is None


def test_to_dlpack_is_for_old_callers():
    x = rg.ones(2, requires_grad=True)
    y = rg.from_dlpack(to_dlpack(x))
    assert y.data_ptr() == x.data_ptr()
    assert y.requires_grad is False
    with pytest.raises(AttributeError):
        to_dlpack([1.0])


# ---- how exporters are asked


class Exporter:
    """Lends an array, records what it was asked, and takes only the options in `knows`."""

    def __init__(self, *knows, device=(CPU, 0)):
        self.array = np.arange(3.0)
        self.knows, self.device, self.asked = knows, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        self.asked.append(dict(options))
        for name in options:
            if name not in self.knows:
                raise TypeError(f"unexpected keyword argument '{name}'")
        options.pop("dl_device", None)
        return self.array.__dlpack__(**options)


def test_exporters_of_all_ages():
    for knows in ((), ("dl_device",), ("copy", "dl_device"), ("max_version", "copy", "dl_device")):
        for options in ({}, {"copy": False}, {"device": "cpu"}, {"copy": True}, {"copy": True, "device": "cpu"}):
            exporter = Exporter(*knows)
            x = rg.from_dlpack(exporter, **options)
            assert x.tolist() == [0.0, 1.0, 2.0]
            assert (x.data_ptr() == exporter.array.ctypes.data) is not options.get("copy", False)
    exporter = Exporter("max_version", "copy", "dl_device")
    rg.from_dlpack(exporter, device=rg.device("cpu"), copy=True)
    assert exporter.asked == [{"max_version": (1, 0), "copy": True, "dl_device": (CPU, 0)}]


def test_a_type_error_of_the_exporter_comes_through():
    class Broken(Exporter):
        def __dlpack__(self, **options):
            raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        rg.from_dlpack(Broken())


def test_memory_elsewhere():
    there = (DLDeviceType.kDLCUDA, 0)
    with pytest.raises(BufferError, match="pass device='cpu' to have it copied"):
        rg.from_dlpack(Exporter("max_version", device=there))
    exporter = Exporter("max_version", "dl_device", device=there)
    assert rg.from_dlpack(exporter, device="cpu").tolist() == [0.0, 1.0, 2.0]
    assert exporter.asked[-1]["dl_device"] == (CPU, 0)
    with pytest.raises(ValueError, match="without copying"):
        rg.from_dlpack(exporter, device="cpu", copy=False)
    with pytest.raises(AssertionError, match="'cpu' is the only device"):
        rg.from_dlpack(exporter, device="cuda")


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_there_and_back_through_numpy(dtype, shape):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    x = rg.from_dlpack(values)
    np.testing.assert_array_equal(np.from_dlpack(x), values, strict=True)
    for view in (values.T, values[..., ::2] if shape else values):
        np.testing.assert_array_equal(np.from_dlpack(rg.from_dlpack(view)), view, strict=True)
