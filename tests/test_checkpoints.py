"""Zip checkpoints: those of torch are read without running code, and those that `save` writes are the same."""

from __future__ import annotations

import collections
import io
import pickle
import struct
import zipfile
from fractions import Fraction
from pathlib import Path

import pytest

import retrograd as rg

# Written by tools/checkpoint.py, with torch.
OF_TORCH = Path(__file__).parent / "checkpoint.pt"


def records(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def archive(contents: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as written:
        for name, data in contents.items():
            written.writestr(f"archive/{name}", data)
    return file.getvalue()


def loaded(data: bytes, **options: object) -> object:
    return rg.load(io.BytesIO(data), **options)


def check(back: dict[str, object]) -> None:
    x, view, leaf = back["x"], back["view"], back["leaf"]
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and x.dtype is rg.float32 and not x.requires_grad
    assert back["same"] is x
    assert (view.tolist(), view.stride(), view.storage_offset()) == ([[1, 4], [2, 5]], (1, 3), 1)
    x[0, 1] = 10.0
    assert view[0, 0].item() == 10.0
    assert type(back["parameter"]) is rg.nn.Parameter and back["parameter"].requires_grad
    assert leaf.requires_grad and leaf.is_leaf and type(leaf) is rg.Tensor
    assert type(back["state"]) is collections.OrderedDict and list(back["state"]) == ["weight", "bias"]
    plain = [1, 2.5, "s", None, True, (1, 2), {3}, b"xy", 2**70, 1j, bytearray(b"ab"), collections.Counter("aab")]
    assert back["plain"] == plain and [type(a) for a in back["plain"]] == [type(a) for a in plain]
    assert back["size"] == (2, 3) and type(back["size"]) is rg.Size
    assert back["dtype"] is rg.float16 and back["device"] == rg.device("cpu")
    assert back["bfloat16"].dtype is rg.bfloat16 and back["bfloat16"].tolist() == [1, 1, 1]
    assert back["conj"].is_conj() and back["conj"].tolist() == [1 - 2j]
    assert back["negative"].tolist() == [-2.0]
    assert back["uint16"].dtype is rg.uint16 and back["uint16"].tolist() == [1, 65535]
    assert back["bool"].tolist() == [True, False]
    assert back["empty"].shape == (0, 3)
    assert back["attribute"].note == "kept"


@pytest.mark.parametrize("options", [{}, {"weights_only": True}, {"weights_only": False}, {"mmap": True}])
def test_a_checkpoint_of_torch(options: dict[str, bool]) -> None:
    before = OF_TORCH.read_bytes()
    check(rg.load(OF_TORCH, **options))
    assert OF_TORCH.read_bytes() == before


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".bin", ".ckpt"])
def test_what_was_loaded_is_saved_again(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"model{suffix}"
    rg.save(rg.load(OF_TORCH), path)
    for options in ({}, {"mmap": True}, {"weights_only": False}):
        check(rg.load(path, **options))
    ours, theirs = records(path.read_bytes()), records(OF_TORCH.read_bytes())
    assert {name for name in theirs if not name.startswith((".data", "data/"))} <= set(ours)
    assert all(ours[name] == theirs[name] for name in ("version", "byteorder", ".format_version", ".storage_alignment"))


def test_records_begin_where_mapped_memory_is_aligned(tmp_path: Path) -> None:
    path = tmp_path / "file.pt"
    rg.save([rg.ones(n) for n in (1, 2, 100)], path)
    data = path.read_bytes()
    with zipfile.ZipFile(path) as opened:
        for info in opened.infolist():
            name, extra = struct.unpack("<HH", data[info.header_offset + 26 : info.header_offset + 30])
            assert (info.header_offset + 30 + name + extra) % 64 == 0


def test_names_in_the_pickle_are_those_of_torch(tmp_path: Path) -> None:
    path = tmp_path / "file.pt"
    rg.save([rg.ones(1), rg.nn.Parameter(rg.ones(1)), rg.float16, rg.Size([1])], path)
    data = records(path.read_bytes())["data.pkl"]
    assert b"retrograd" not in data
    names = (b"ctorch._utils\n_rebuild_tensor_v2\n", b"ctorch\nFloatStorage\n", b"ctorch\nfloat16\n", b"ctorch\nSize\n")
    for name in names:
        assert data.count(name) == 1


def test_tensors_of_several_dtypes_share_memory(tmp_path: Path) -> None:
    x = rg.arange(4.0)
    rg.save([x, x.view(rg.int32), x[1:]], tmp_path / "file.pt")
    a, b, c = rg.load(tmp_path / "file.pt")
    assert a.data_ptr() == b.data_ptr() and c.data_ptr() == a.data_ptr() + 4
    assert b.dtype is rg.int32 and b.tolist() == x.view(rg.int32).tolist()


def test_objects_that_safetensors_files_do_not_hold_make_a_checkpoint() -> None:
    a: list[object] = [1, {2}]
    a.append({"again": a})
    file = io.BytesIO()
    rg.save(a, file)
    assert file.getvalue().startswith(b"PK")
    back = loaded(file.getvalue())
    assert back[:2] == [1, {2}] and back[2]["again"] is back


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.pt"
    rg.save("old", path)
    with pytest.raises(TypeError, match=r"save: the object cannot be pickled: .*lambda"):
        rg.save([lambda: 1], path)
    assert rg.load(path) == "old" and [p.name for p in tmp_path.iterdir()] == ["file.pt"]


class Point:
    def __init__(self) -> None:
        pytest.fail("code ran")


def test_other_classes_need_to_be_allowed() -> None:
    point = Point.__new__(Point)
    point.x = 3
    file = io.BytesIO()
    rg.save([point, Fraction(1, 3)], file)
    for allowed in ([], [Point], [Fraction]):
        with rg.serialization.safe_globals(allowed), pytest.raises(pickle.UnpicklingError) as caught:
            loaded(file.getvalue())
        assert "Weights only load failed: Unsupported global: GLOBAL " in str(caught.value)
        assert "was not an allowed global by default" in str(caught.value)
    with rg.serialization.safe_globals([Point, (Fraction, "fractions.Fraction")]):
        back = loaded(file.getvalue())
    assert back[0].x == 3 and back[1] == Fraction(1, 3)
    assert rg.serialization.get_safe_globals() == []
    back = loaded(file.getvalue(), weights_only=False)
    assert back[0].x == 3


class Payload:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return pytest.fail, ("code ran",)


def test_code_in_a_checkpoint_does_not_run() -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        data = archive({"data.pkl": pickle.dumps([Payload()], protocol)})
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed: Unsupported global"):
            loaded(data)


def p(*parts: bytes) -> bytes:
    return b"\x80\x02" + b"".join(parts) + b"."


def ref(kind: bytes = b"FloatStorage", key: bytes = b"0", numel: int = 2) -> bytes:
    text = lambda s: b"X" + struct.pack("<I", len(s)) + s  # noqa: E731
    number = b"J" + struct.pack("<i", numel)
    return b"(" + text(b"storage") + b"ctorch\n" + kind + b"\n" + text(key) + text(b"cpu") + number + b"tQ"


def tensor(storage: bytes, offset: int = 0, size: int = 2, stride: int = 1) -> bytes:
    number = lambda n: b"J" + struct.pack("<i", n)  # noqa: E731
    layout = number(offset) + number(size) + b"\x85" + number(stride) + b"\x85"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + layout + b"\x89}tR"


def test_a_pickle_written_by_hand() -> None:
    data = archive({"data.pkl": p(tensor(ref())), "data/0": struct.pack("<2f", 1.5, 2.5)})
    assert loaded(data).tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    "pickled",
    [
        p(tensor(ref(numel=3))),
        p(tensor(ref(numel=-2))),
        p(tensor(ref(key=b"1"))),
        p(tensor(ref(key=b"../0"))),
        p(tensor(ref(kind=b"DoubleStorage"))),
        p(tensor(ref(), size=3)),
        p(tensor(ref(), offset=1)),
        p(tensor(ref(), offset=-1)),
        p(tensor(ref(), stride=-1)),
        p(tensor(ref(), size=2**31 - 1)),
        p(tensor(b"K\x05")),
        p(ref() + b"K\x01\x86R"),
        p(b"cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R"),
        p(b"cbuiltins\nset\n]]a\x85R"),
        p(b"}((K\x01tK\x01u" + b"s"),
        p(b"}" + b")" * 1 + b"\x85" * 100_000 + b"K\x01s"),
        p(b"h\x05"),
        p(b"K\x01\x87"),
        p(b"t"),
        p(b"a"),
        p(b"K\x01K\x02a"),
        p(b"K\x01}b"),
        p(b"ccollections\nOrderedDict\n)R}X\x09\x00\x00\x00__class__K\x01sb"),
        b"\x80\x02K\x01",
        b"",
        b"\x80\x02X\xff\xff\xff\x7fabc.",
    ],
)
def test_pickles_that_make_no_sense(pickled: bytes) -> None:
    data = archive({"data.pkl": pickled, "data/0": bytes(8)})
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        loaded(data)


@pytest.mark.parametrize(
    ("contents", "says"),
    [
        ({}, "0 pickles named data.pkl"),
        ({"data.pkl": p(b"K\x01"), "a/data.pkl": p(b"K\x01")}, "2 pickles named data.pkl"),
        ({"data.pkl": p(b"K\x01"), "byteorder": b"big"}, "its bytes are big-endian"),
        ({"data.pkl": p(tensor(ref()))}, "no record 'data/0'"),
        ({"data.pkl": p(tensor(ref())), "data/0": bytes(9)}, "storage 0 has 9 bytes, not 8"),
    ],
)
def test_archives_that_lack_something(contents: dict[str, bytes], says: str) -> None:
    with pytest.raises(RuntimeError, match=f"load: the file is damaged, or no checkpoint of torch: {says}"):
        loaded(archive(contents))


def test_compressed_records_are_refused() -> None:
    data = archive({"data.pkl": p(tensor(ref(numel=250_000))), "data/0": bytes(1_000_000)}, zipfile.ZIP_DEFLATED)
    with pytest.raises(RuntimeError, match=r"is compressed, which torch\.save never does"):
        loaded(data)


def test_damaged_records_are_found(tmp_path: Path) -> None:
    path = tmp_path / "file.pt"
    rg.save(rg.ones(100), path)
    data = bytearray(path.read_bytes())
    at = data.find(struct.pack("<f", 1.0) * 100)
    data[at + 10] ^= 1
    with pytest.raises(RuntimeError, match="Bad CRC-32"):
        loaded(bytes(data))
    for cut in range(0, len(data), 7):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            loaded(bytes(data[:cut]))
