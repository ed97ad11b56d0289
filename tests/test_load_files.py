"""Files that `save` did not write, or not like this: of other programs, of other kinds, damaged and hostile ones."""

import collections
import io
import json
import pickle
import random
import struct

import pytest

import retrograd as rg

Point = collections.namedtuple("Point", "x y")


def written(obj):
    file = io.BytesIO()
    rg.save(obj, file)
    return file.getvalue()


def loaded(data, **options):
    return rg.load(io.BytesIO(data), **options)


def joined(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def plain(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"x": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}}


def test_plain_files_are_dicts():
    data = struct.pack("<2f", 1.5, 2.5)
    for metadata in ({}, {"__metadata__": {}}, {"__metadata__": {"format": "pt"}}):
        x = loaded(joined({**metadata, **plain()}, data))["x"]
        assert (x.tolist(), x.requires_grad, x.dtype) == ([1.5, 2.5], False, rg.float32)
    assert loaded(joined({})) == {}
    assert loaded(joined(b"{}      ")) == {}
    two = {**plain(offsets=(8, 16)), "0": plain()["x"]}
    assert list(loaded(joined(two, data + data))) == ["x", "0"]


def test_a_header_of_odd_length(tmp_path):
    data = joined(json.dumps(plain()).encode() + b" ", struct.pack("<2f", 1.5, 2.5))
    assert len(data) % 4 != 0
    path = tmp_path / "file"
    path.write_bytes(data)
    for mmap in (False, True):
        assert rg.load(path, mmap=mmap)["x"].tolist() == [1.5, 2.5]


# ---- damaged files

SMALL = written({"a": rg.tensor([1.0, 2.0]), "b": [rg.tensor([True]), 3, 2**70], "c": rg.tensor([5]).expand(2)})
REFUSALS = (RuntimeError, pickle.UnpicklingError, EOFError)


def test_every_prefix_is_refused(tmp_path):
    path = tmp_path / "file"
    for n in range(len(SMALL)):
        with pytest.raises(REFUSALS, match=r"damaged|Weights only load failed|empty"):
            loaded(SMALL[:n])
        path.write_bytes(SMALL[:n])
        for mmap in (False, True):
            with pytest.raises(REFUSALS):
                rg.load(path, mmap=mmap)


def test_what_follows_the_arrays(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(SMALL + b"x")
    with pytest.raises(RuntimeError, match=r"its arrays have \d+ bytes, and \d+ are there"):
        rg.load(path)
    assert list(loaded(SMALL + b"x")) == ["a", "b", "c"]  # from an open file, the rest is another's


def test_flipped_bits_do_no_harm():
    """A changed file loads as something, or is refused; nothing else happens."""
    rng = random.Random(0)
    refused = 0
    for _ in range(3000):
        data = bytearray(SMALL)
        for _ in range(rng.choice([1, 1, 2, 8])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        try:
            loaded(bytes(data))
        except REFUSALS:
            refused += 1
    assert 1500 < refused < 3000


LIES = [
    (b"[]", "header|Weights"),
    (b"{", "damaged"),
    (b'{"x":1}', "described by other things"),
    (b'{"\xff":1}', "damaged"),
    (b'{"x":{},"x":{}}', "a key occurs twice"),
    (b'{"a":' * 100_000, "damaged"),
    (b'{"x":' + b"1" * 10_000 + b"}", "damaged"),
    (b'{"x":NaN}', "NaN is no number"),
    ({"__metadata__": 3}, "metadata"),
    ({"__metadata__": {"a": 1}}, "metadata"),
    ({"__metadata__": []}, "metadata"),
    (plain("F8_E4M3"), "array 'x' is of type 'F8_E4M3', which is no dtype of retrograd"),
    (plain("F4", (1,)), "'F4'"),
    (plain(7), "is of type 7"),
    (plain(["F32"]), "is of type"),
    (plain(more=1), "described by other things"),
    ({"x": {"dtype": "F32", "shape": [2]}}, "described by other things"),
    (plain(shape=(3,)), r"shape \[3\] does not have 8 bytes"),
    (plain(shape=(1,)), r"shape \[1\] does not have 8 bytes"),
    (plain(shape=(-2,)), "no lists of sizes"),
    (plain(shape=(2.0,)), "no lists of sizes"),
    (plain(shape=(True, 2)), "no lists of sizes"),
    (plain(shape=(2**62, 8), offsets=(0, 2**67)), "no lists of sizes"),
    (plain(shape=(2**32, 2**32)), "does not have 8 bytes"),
    (plain(shape=(1,) * 65), "65 axes"),
    (plain(offsets=(8, 16)), "begins at byte 8, and those before it end at 0"),
    (plain(offsets=(0, 8, 16)), "3 offsets"),
    (plain(offsets=(8, 0)), "does not have -8 bytes"),
    (plain(shape=(4,), offsets=(0, 16)), "its arrays have 16 bytes, and 8 are there"),
    (plain(shape=(1 << 40,), offsets=(0, 4 << 40)), "are there"),
    ({**plain(), "y": plain()["x"]}, "begins at byte 0, and those before it end at 8"),
    ({**plain(), "y": plain(shape=(1,), offsets=(4, 8))["x"]}, "begins at byte 4"),
]


@pytest.mark.parametrize(("header", "says"), LIES, ids=lambda v: repr(v)[:40])
def test_headers_that_lie(header, says):
    with pytest.raises(REFUSALS, match=says):
        loaded(joined(header, b"\x01\x02\x03\x04\x00\x00\x00\x00"))


def test_a_header_without_end():
    for n in (100_000_001, 2**63, 2**64 - 1):
        with pytest.raises(pickle.UnpicklingError, match="neither a safetensors file"):
            loaded(struct.pack("<Q", n) + b"{}")
    with pytest.raises(RuntimeError, match="its header has 100000000 bytes, and 2 are there"):
        loaded(struct.pack("<Q", 100_000_000) + b"{}")


def structured(root=0, objects=(), **changes):
    structure = {"version": 1, "root": root, "objects": objects, **changes}
    return joined({"__metadata__": {"retrograd": json.dumps(structure)}, **plain()}, struct.pack("<2f", 1.5, 2.5))


def deep_key():
    nested = [["tuple", 1], *(["tuple", [i]] for i in range(200_000))]
    return [*nested, ["dict", [len(nested) - 1], 1]]


def tensor(**facts):
    return ["tensor", {"entry": "x", **facts}]


def test_structures_written_by_hand():
    assert loaded(structured("a")) == "a"
    assert loaded(structured([1], [["list", 1, "b"], ["tuple", [0], [0]]])) == ([1, "b"], [1, "b"])
    assert loaded(structured([0], [tensor(size=[1], offset=1, requires_grad=True)])).tolist() == [2.5]
    assert loaded(structured([0], [[*tensor(), "note", 3]])).note == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"version": None},
        {"root": [0]},
        {"root": [-1]},
        {"root": []},
        {"root": [0, 0]},
        {"root": ["0"]},
        {"root": {}},
        {"root": {"a": 1}},
        {"root": [True], "objects": [["list"], ["list"]]},
        {"objects": 3},
        {"objects": {"a": 1}},
        {"objects": ["list"]},
        {"objects": [[]]},
        {"objects": [["set", 1]]},
        {"objects": [[["list"]]]},
        {"objects": [["list", [0]]]},
        {"objects": [["list", [1]], ["list"]]},
        {"objects": [["list", [0.0]]]},
        {"objects": [["dict", 1]]},
        {"objects": [["list"], ["dict", [0], 1]]},
        {"objects": [["Size", "a"]]},
        {"objects": [["int"]]},
        {"objects": [["int", 3]]},
        {"objects": [["int", "0xzz"]]},
        {"objects": [["float", "00"]]},
        {"objects": [["float", "zz"]]},
        {"objects": [["complex", "00" * 8]]},
        {"objects": [["bytes", "a"]]},
        {"objects": [["bytes", "Ä"]]},
        {"objects": [["dtype", "float8"]]},
        {"objects": [["dtype", "Tensor"]]},
        {"objects": [["dtype", ["list"]]]},
        {"objects": [["device", "nowhere"]]},
        {"objects": [["device", 3]]},
        {"objects": [["tensor"]]},
        {"objects": [["tensor", {}]]},
        {"objects": [["tensor", {"entry": "y"}]]},
        {"objects": [["tensor", {"entry": ["x"]}]]},
        {"objects": [tensor(dtype="float99")]},
        {"objects": [tensor(dtype="int64")]},
        {"objects": [tensor(size=[3])]},
        {"objects": [tensor(size=[-1])]},
        {"objects": [tensor(size=["a"])]},
        {"objects": [tensor(size=[2**62, 4])]},
        {"objects": [tensor(size=[2], stride=[2])]},
        {"objects": [tensor(size=[2], stride=[-1], offset=1)]},
        {"objects": [tensor(size=[2], stride=[2**70])]},
        {"objects": [tensor(size=[2], stride=[1, 1])]},
        {"objects": [tensor(offset=1)]},
        {"objects": [tensor(offset=-1)]},
        {"objects": [tensor(offset=2**63)]},
        {"objects": [tensor(offset=0.0)]},
        {"objects": [tensor(dtype="int32", requires_grad=True)]},
        {"objects": [tensor(dtype="int32", parameter=True, requires_grad=True)]},
        {"objects": [[*tensor(), "note"]]},
        {"objects": [[*tensor(), 3, 4]]},
        {"objects": [[*tensor(), "__class__", 4]]},
        {"objects": [["dict"], [*tensor(), "__dict__", [0]]]},
        {"objects": [[*tensor(), "data", 4]]},
        {"objects": [tensor(), [*tensor(), "grad", [0]]]},
        {"objects": [[*tensor(), "requires_grad", True]]},
    ],
    ids=repr,
)
def test_structures_that_make_no_sense(changes):
    with pytest.raises(RuntimeError, match="load: the file is damaged, or no safetensors file"):
        loaded(structured(**changes))


def test_a_key_that_takes_too_deep_a_hash():
    with pytest.raises(RuntimeError, match="nested too deeply"):
        loaded(structured(objects=deep_key()))


def test_the_structure_is_no_json():
    for text in ("", "{", "[]", "null", "[" * 100_000, '{"version":1,"root":1e999,"objects":[]}x'):
        header = {"__metadata__": {"retrograd": text}, **plain()}
        with pytest.raises(RuntimeError, match="damaged"):
            loaded(joined(header, bytes(8)))


# ---- other kinds of file


def test_files_of_other_kinds_are_refused():
    class Payload:
        def __reduce__(self):
            return pytest.fail, ("code ran",)

    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed: the file is a pickle"):
            loaded(pickle.dumps(Payload(), protocol))
    for data in (pickle.dumps(Payload(), 0), b"garbage", b"\x00" * 100):
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed: the file is neither a safetensors"):
            loaded(data)
    for trusted in (False, True):
        with pytest.raises(RuntimeError, match="load: the file is damaged, or no checkpoint of torch: no zip archive"):
            loaded(b"PK\x03\x04" + bytes(50), weights_only=not trusted)
    with pytest.raises(EOFError, match="empty"):
        loaded(b"")


def test_pickles_for_those_who_ask(tmp_path):
    x = rg.ones(2)
    obj = {"x": x, "row": x[1:], "point": Point(1, 2), "set": {1}}
    rg.save(obj, tmp_path / "file", pickle_module=pickle)
    assert (tmp_path / "file").read_bytes().startswith(b"\x80\x02")
    for options in ({"weights_only": False}, {"pickle_module": pickle}):
        back = rg.load(tmp_path / "file", **options)
        back["x"][1] = 5.0
        assert (back["row"].tolist(), back["point"], back["set"]) == ([5.0], Point(1, 2), {1})
    for options in ({}, {"weights_only": True}, {"weights_only": True, "mmap": True}):
        with pytest.raises(pickle.UnpicklingError, match="weights_only=False"):
            rg.load(tmp_path / "file", **options)
    with pytest.raises(ValueError, match="mmap=True is for safetensors files"):
        rg.load(tmp_path / "file", weights_only=False, mmap=True)
    file = io.BytesIO()
    rg.save(obj, file, pickle, 5)
    assert file.getvalue().startswith(b"\x80\x05")
    old = pickle.dumps("ä", 0).replace(b"\\xe4", b"\xe4")
    assert rg.load(io.BytesIO(old), weights_only=False, encoding="latin1") == "ä"
    assert loaded(SMALL, weights_only=False)["b"][1:] == [3, 2**70]
