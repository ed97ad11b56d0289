"""Saved files in detail: what they hold, what is in them byte by byte, and what happens to damaged ones."""

import collections
import enum
import gzip
import io
import json
import math
import os
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

import retrograd as rg

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]


def written(obj):
    file = io.BytesIO()
    rg.save(obj, file)
    return file.getvalue()


def loaded(data, **options):
    return rg.load(io.BytesIO(data), **options)


def there_and_back(obj):
    return loaded(written(obj))


def parts(data):
    """Header and arrays' bytes of a safetensors file, read by hand."""
    (n,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + n]), data[8 + n :]


# ---- what files hold


class Fancy(enum.IntEnum):
    ONE = 1


class Subclass(rg.Tensor):
    pass


Point = collections.namedtuple("Point", "x y")

VALUES = [
    None,
    True,
    False,
    0,
    -1,
    2**63 - 1,
    -(2**63),
    2**63,
    -(2**200),
    10**6000,
    0.1,
    5e-324,
    1.7976931348623157e308,
    "",
    "text",
    '"\\\n\x00\U0001f600',
    "\ud800",
    b"",
    bytes(range(256)),
    1j,
    complex(-0.0, math.inf),
    (),
    [],
    {},
    (1, (2, [3, {"a": ()}])),
    {1: 2, "1": 3, (1, "a"): 4, None: 5, 2.5: 6, b"k": 7, rg.float32: 8, False: 9},
    collections.OrderedDict([("b", 1), ("a", 2)]),
    rg.Size([2, 3]),
    rg.Size([]),
    rg.float32,
    rg.device("cpu"),
    rg.device("cpu:1"),
    {"_extra_state": [1], "__metadata__": "x"},
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: ascii(v)[:30] if not isinstance(v, int) else f"{v:#x}"[:30])
def test_values_come_back_as_they_were(value):
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)
    nested = there_and_back({"a": [value, (value,)]})
    assert nested == {"a": [value, (value,)]}


def test_floats_come_back_to_the_bit():
    negative_nan = struct.unpack(">d", bytes.fromhex("fff8000000000123"))[0]
    for x in (0.0, -0.0, math.inf, -math.inf, math.nan, negative_nan):
        assert struct.pack(">d", there_and_back([x])[0]) == struct.pack(">d", x)
    back = there_and_back(complex(negative_nan, -0.0))
    assert struct.pack(">dd", back.real, back.imag) == struct.pack(">dd", negative_nan, -0.0)


def test_types_inside_containers():
    back = there_and_back({"d": {1: True, 2: 1, 3: 1.0}, "o": collections.OrderedDict(z=1, y=2)})
    assert [type(v) for v in back["d"].values()] == [bool, int, float]
    assert type(back["o"]) is collections.OrderedDict
    assert list(back["o"]) == ["z", "y"]


def test_objects_that_occur_twice_are_one():
    shared, t = [1], rg.ones(1)
    pair = (shared, t)
    back = there_and_back([shared, pair, {"p": pair, "s": shared, "t": t}])
    assert back[1][0] is back[0]
    assert back[2]["p"] is back[1]
    assert back[2]["t"] is back[1][1]
    equal = there_and_back([[1], [1]])
    assert equal[0] is not equal[1]


def test_depth_has_no_limit():
    deep = [rg.ones(1)]
    for _ in range(100_000):
        deep = [deep]
    back = there_and_back(deep)
    for _ in range(100_001):
        (back,) = back
    assert back.tolist() == [1.0]


@pytest.mark.parametrize(
    ("make", "path", "kind"),
    [
        (lambda: object(), "obj", "builtins.object"),
        (lambda: {"a": [0, 1, 2, object()]}, "obj['a'][3]", "builtins.object"),
        (lambda: {"a": ({(1, 2): {3}},)}, "obj['a'][0][(1, 2)]", "builtins.set"),
        (lambda: {"f": len}, "obj['f']", "builtins.builtin_function_or_method"),
        (lambda: [int], "obj[0]", "builtins.type"),
        (lambda: [Fancy.ONE], "obj[0]", "test_save_load.Fancy"),
        (lambda: [Point(1, 2)], "obj[0]", "test_save_load.Point"),
        (lambda: [collections.defaultdict(int)], "obj[0]", "collections.defaultdict"),
        (lambda: [bytearray(b"a")], "obj[0]", "builtins.bytearray"),
        (lambda: [np.float64(1.0)], "obj[0]", "numpy.float64"),
        (lambda: {"a": np.ones(1)}, "obj['a']", "numpy.ndarray"),
        (lambda: [Subclass(rg.ones(1))], "obj[0]", "test_save_load.Subclass"),
        (lambda: [rg.Generator()], "obj[0]", "retrograd.Generator"),
        (lambda: {Fancy.ONE: 1}, "obj.keys()", "test_save_load.Fancy"),
        (lambda: [with_attribute(rg.ones(1), [object()])], "obj[0].note[0]", "builtins.object"),
    ],
)
def test_what_files_do_not_hold_is_named(make, path, kind, tmp_path):
    target = tmp_path / "file.safetensors"
    with pytest.raises(TypeError) as caught:
        rg.save(make(), target)
    assert f"save: {path} is of type '{kind}', which files do not hold" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def with_attribute(tensor, value):
    tensor.note = value
    return tensor


def test_cycles_are_refused(tmp_path):
    path = tmp_path / "file.safetensors"
    a = [1]
    a.append({"again": a})
    with pytest.raises(ValueError, match=r"save: obj\[1\]\['again'\] is an object that contains itself"):
        rg.save(a, path)
    x = rg.ones(1)
    x.me = x
    with pytest.raises(ValueError, match=r"save: obj\.me is an object that contains itself"):
        rg.save(x, path)


# ---- tensors


@pytest.mark.parametrize("dtype", [*DTYPES, "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3), (1, 1)])
def test_tensors_of_every_dtype_and_shape(dtype, shape):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    if dtype.startswith("complex"):
        x = rg.from_numpy(np.asarray(1j * values, dtype))
    else:
        x = rg.tensor(values, dtype=getattr(rg, dtype))
    back = there_and_back(x)
    assert back.dtype is x.dtype
    assert back.shape == x.shape
    assert back.stride() == x.stride()
    assert back.tolist() == x.tolist()


def test_layouts():
    x = rg.arange(24.0).reshape(2, 3, 4)
    views = [x, x.T, x[1], x[:, 1:, ::2], x[0, 0, 0], x[:, :0], x.expand(2, 2, 3, 4), x.as_strided((2, 2), (1, 1), 5)]
    back = there_and_back(views)
    for new, old in zip(back, views, strict=True):
        assert (new.shape, new.stride(), new.storage_offset()) == (old.shape, old.stride(), old.storage_offset())
        assert new.tolist() == old.tolist()
    back[0].fill_(7.0)
    assert all(set(np.ravel(t.tolist())) <= {7.0} for t in back)
    # Alone, a view still has its place in the whole storage, as with torch.
    alone = there_and_back(x[1, 1])
    assert (alone.storage_offset(), alone.tolist()) == (16, [16.0, 17.0, 18.0, 19.0])


def test_strides_of_axes_without_extent():
    x = rg.arange(3.0).as_strided((1, 3), (77, 1))
    assert there_and_back(x).stride() == (77, 1)


def test_memory_of_others():
    array = np.arange(10.0)
    a, b = rg.from_numpy(array[2:6]), rg.from_dlpack(array[::3])
    a2, b2 = there_and_back([a, b])
    assert (a2.tolist(), b2.tolist()) == (a.tolist(), b.tolist())
    assert b2.stride() == (3,)


def test_the_warning_about_hooks_is_at_the_call():
    x = rg.ones(2, requires_grad=True)
    x.register_hook(lambda g: g)
    with pytest.warns(UserWarning, match="will not be serialized") as log:
        rg.save({"x": [x]}, io.BytesIO())
    assert [w.filename for w in log] == [__file__]


def test_modes_do_not_matter():
    x = rg.ones(2, requires_grad=True)
    data = written([x, x * 2, rg.nn.Parameter(rg.ones(1))])
    for mode in (rg.no_grad, rg.inference_mode):
        with mode():
            assert [t.requires_grad for t in loaded(data)] == [True, True, True]
            assert [t.requires_grad for t in loaded(written([x]))] == [True]


# ---- the file


def test_the_file_is_a_safetensors_file():
    x = rg.arange(6.0).reshape(2, 3)
    odd = rg.tensor([True, False, True])
    data = written({"w": x, "deep": [{"b": odd}], "t": rg.arange(4).reshape(2, 2).T, "n": 5})
    header, rest = parts(data)
    structure = json.loads(header.pop("__metadata__")["retrograd"])
    assert structure["version"] == 1
    assert {name: (a["dtype"], a["shape"]) for name, a in header.items()} == {
        "w": ("F32", [2, 3]),
        "deep.0.b": ("BOOL", [3]),
        "t (storage)": ("I64", [4]),
    }
    assert (len(data) - len(rest)) % 8 == 0
    spans = sorted(a["data_offsets"] for a in header.values())
    assert [a for a, _ in spans] == [0, *(b for _, b in spans[:-1])]
    assert spans[-1][1] == len(rest)
    for name, a in header.items():
        assert a["data_offsets"][0] % {"F32": 4, "I64": 8, "BOOL": 1}[a["dtype"]] == 0, name
    begin, end = header["w"]["data_offsets"]
    assert np.frombuffer(rest[begin:end], "<f4").tolist() == list(range(6))


def test_names_of_arrays():
    def names(obj):
        return [n for n in parts(written(obj))[0] if n != "__metadata__"]

    a, b, c = rg.ones(1), rg.ones(1), rg.ones(1)
    assert names(a) == ["tensor"]
    assert names({"x.y": a, "x": {"y": b}, "__metadata__": c}) == ["x.y", "x.y (2)", "__metadata__ (2)"]
    assert names([a, [b]]) == ["0", "1.0"]
    assert names({"": a, "\ud800": b, 3: c}) == ["tensor", "?", "3"]
    assert names({(1,): a, (2,): b, "tuple (2)": c}) == ["tuple", "tuple (2)", "tuple (2) (2)"]
    assert names({"p": with_attribute(a, b)}) == ["p", "p.note"]
    assert max(map(len, names({"k" * 1000: rg.ones(1)}))) == 200


def test_the_same_object_gives_the_same_bytes():
    def make():
        x = rg.arange(6.0).reshape(2, 3)
        return {"x": x, "t": x.T, "l": [1, 2.5, "s"]}

    assert written(make()) == written(make())


def test_other_programs_read_and_write_the_files(tmp_path):
    """With the format's own library."""
    library = pytest.importorskip("safetensors.numpy")
    arrays = {
        dtype: np.arange(6).reshape(2, 3).astype(dtype) for dtype in DTYPES if dtype not in ("bfloat16", "complex64")
    }
    rg.save({name: rg.from_numpy(a) for name, a in arrays.items()}, tmp_path / "ours")
    theirs = library.load_file(tmp_path / "ours")
    library.save_file(arrays, tmp_path / "theirs", metadata={"format": "np"})
    ours = rg.load(tmp_path / "theirs")
    assert sorted(theirs) == sorted(ours) == sorted(arrays)
    for name, a in arrays.items():
        np.testing.assert_array_equal(theirs[name], a, strict=True)
        np.testing.assert_array_equal(ours[name].numpy(), a, strict=True)


# ---- where files are


class Stream(io.RawIOBase):
    """Reads and writes a few bytes at a time, and cannot seek."""

    def __init__(self, data=b""):
        self.inner = io.BytesIO(data)

    def readable(self):
        return True

    def writable(self):
        return True

    def readinto(self, view):
        data = self.inner.read(min(7, len(view)))
        view[: len(data)] = data
        return len(data)

    def write(self, data):
        return self.inner.write(bytes(data[:7]))


class Minimal:
    """Has `read` and `write`, and nothing else."""

    def __init__(self, data=b""):
        self.inner = io.BytesIO(data)

    def read(self, n=-1):
        return self.inner.read(n)

    def write(self, data):
        self.inner.write(data)


def test_file_objects(tmp_path):
    obj = {"x": rg.arange(100.0), "y": [1, "a"], "empty": rg.empty(0)}
    data = written(obj)
    for kind in (Stream, Minimal):
        file = kind()
        rg.save(obj, file)
        assert file.inner.getvalue() == data
        assert rg.load(kind(data))["x"].tolist() == obj["x"].tolist()
    with gzip.open(tmp_path / "file.gz", "wb") as file:
        rg.save(obj, file)
    with gzip.open(tmp_path / "file.gz", "rb") as file:
        assert rg.load(file)["y"] == [1, "a"]
    with open(tmp_path / "raw", "wb", buffering=0) as file:
        rg.save(obj, file)
    with open(tmp_path / "raw", "rb", buffering=0) as file:
        assert rg.load(file)["x"].tolist() == obj["x"].tolist()


def test_several_in_one_file():
    file = io.BytesIO()
    file.write(b"before")
    for i in range(3):
        rg.save([i, rg.full((i + 1,), float(i))], file)
    file.write(b"after")
    file.seek(6)
    for i in range(3):
        n, x = rg.load(file)
        assert (n, x.tolist()) == (i, [float(i)] * (i + 1))
    assert file.read() == b"after"


@pytest.mark.parametrize("f", [3, None, object()], ids=lambda f: type(f).__name__)
def test_what_is_no_file(f):
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object with a 'write'"):
        rg.save(1, f)
    with pytest.raises(AttributeError, match="object has no attribute 'read': load expects a path or a file"):
        rg.load(f)


def test_a_file_of_text_is_refused():
    with pytest.raises(TypeError, match="expected a path or a file open for writing in binary mode"):
        rg.save(1, io.StringIO())
    with pytest.raises(TypeError, match="expected a path or a file open for reading in binary mode"):
        rg.load(io.StringIO())


class Failing:
    @staticmethod
    def dump(obj, file, protocol):
        file.write(b"half of it")
        raise OSError("disk full")


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    rg.save("old", path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        rg.save([lambda: 1], path)
    with pytest.raises(OSError, match="disk full"):
        rg.save("new", path, pickle_module=Failing)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    with pytest.raises(FileNotFoundError):
        rg.save("new", tmp_path / "no" / "folder")


@pytest.mark.skipif(os.name == "nt", reason="modes, links and pipes of POSIX")
def test_modes_links_and_pipes(tmp_path):
    path, link, pipe = tmp_path / "file", tmp_path / "link", tmp_path / "pipe"
    mask = os.umask(0o027)
    try:
        rg.save(1, path)
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o604)
    link.symlink_to(path)
    rg.save(2, link)
    assert link.is_symlink()
    assert rg.load(path) == 2
    assert path.stat().st_mode & 0o777 == 0o604
    os.mkfifo(pipe)
    got = []
    thread = threading.Thread(target=lambda: got.append(rg.load(Minimal(pipe.read_bytes()))))
    thread.start()
    rg.save(3, pipe)
    thread.join()
    assert got == [3]


def test_a_file_may_be_overwritten_while_it_is_mapped(tmp_path):
    path = tmp_path / "file"
    rg.save(rg.ones(10_000), path)
    x = rg.load(path, mmap=True)
    rg.save(rg.zeros(10_000), path)
    assert x.sum().item() == 10_000.0
    x.fill_(3.0)
    path.unlink()
    assert x[9999].item() == 3.0


def test_mapped_files(tmp_path):
    path = tmp_path / "file"
    base = rg.arange(6.0).reshape(2, 3)
    obj = {"a": base, "t": base.T, "e": rg.empty(0), "b": rg.tensor([True]), "h": rg.tensor(1j, dtype=rg.complex128)}
    rg.save(obj, path)
    before = path.read_bytes()
    back = rg.load(path, mmap=True)
    assert {k: v.tolist() for k, v in back.items()} == {k: v.tolist() for k, v in obj.items()}
    back["a"][0, 0] = 9.0
    assert back["t"][0, 0].item() == 9.0
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="must be a path for mmap=True"):
        loaded(LITTLE, mmap=True)


LITTLE = written({"a": rg.tensor([1.0, 2.0]), "b": rg.tensor([True]), "c": rg.tensor([5])})


def test_locations():
    with pytest.raises(RuntimeError, match="'cpu' is the only device"):
        loaded(LITTLE, map_location="cuda")
    with pytest.raises(RuntimeError, match="'cpu' is the only device"):
        loaded(LITTLE, map_location={"cpu": "cuda:1"})
    with pytest.raises(TypeError, match="map_location is a device"):
        loaded(LITTLE, map_location=3)
    seen = []
    loaded(LITTLE, map_location=lambda storage, place: seen.append((storage.nbytes, place)) or storage)
    assert sorted(seen) == [(1, "cpu"), (8, "cpu"), (8, "cpu")]
    with pytest.raises(TypeError, match="must return the storage it was given"):
        loaded(LITTLE, map_location=lambda storage, place: 3)


def test_saving_needs_no_numpy(tmp_path):
    code = (
        "import sys, retrograd as rg\n"
        "assert not {'json', 'numpy', 'pickle', 'mmap'} & sys.modules.keys()\n"
        f"rg.save([rg.ones(2), 1], {str(tmp_path / 'file')!r})\n"
        f"for mmap in (False, True): print(rg.load({str(tmp_path / 'file')!r}, mmap=mmap))\n"
        "assert not {'numpy', 'pickle'} & sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[tensor([1., 1.]), 1]\n" * 2), done.stderr


def test_threads():
    x = rg.arange(1000.0)
    obj = {"x": x, "views": [x[i:] for i in range(20)]}
    wanted, wrong = written(obj), []

    def work():
        for _ in range(10):
            if written(obj) != wanted or loaded(wanted)["views"][3][0].item() != 3.0:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
