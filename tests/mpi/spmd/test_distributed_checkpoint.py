"""Checkpoints of several ranks: what is saved comes back, whatever the number of ranks, and damage is an error."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest

import retrograd as rg
from retrograd import distributed as dist
from retrograd import nn
from retrograd.distributed import checkpoint
from retrograd.distributed.checkpoint import Shard
from retrograd.distributed.checkpoint import _parts as parts_module
from retrograd.distributed.checkpoint._paths import flatten, nest
from retrograd.distributed.optim import ZeroRedundancyOptimizer


@pytest.fixture
def folder():
    """A folder that all ranks see."""
    box = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(box)
    yield Path(box[0])
    dist.barrier()
    if dist.get_rank() == 0:
        shutil.rmtree(box[0])


def whole() -> rg.Tensor:
    return rg.arange(7 * 5 * 2, dtype=rg.float32).view(7, 5, 2)


def rows(tensor: rg.Tensor, axis: int = 0) -> Shard:
    """The part of this rank, of a tensor that is divided along an axis."""
    pieces = tensor.tensor_split(dist.get_world_size(), axis)
    offset = [0] * tensor.ndim
    offset[axis] = sum(piece.shape[axis] for piece in pieces[: dist.get_rank()])
    return Shard(pieces[dist.get_rank()].clone(), tuple(offset), tuple(tensor.shape))


def state() -> dict:
    rg.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 30), nn.BatchNorm1d(30))
    return {
        "model": model.state_dict(),
        "rows": rows(whole()),
        "columns": rows(whole().double(), 1),
        "plain": {"epoch": 3, "name": "x", "none": None, "pair": (1, 2.5), "empty": {}, "list": [1, [rg.ones(())]]},
        7: {"a/b": True, "": 1.5, "#1": 2, "[0]": 3, "~": 4},
        "half": rg.arange(5).bfloat16(),
    }


def expected() -> dict:
    return {**state(), "rows": whole(), "columns": whole().double()}


def assert_same(got, wanted) -> None:
    assert type(got) is type(wanted) or isinstance(wanted, rg.Tensor | dict)
    if isinstance(wanted, dict):
        assert got.keys() == wanted.keys()
        for key, value in wanted.items():
            assert_same(got[key], value)
    elif isinstance(wanted, list):
        assert len(got) == len(wanted)
        for a, b in zip(got, wanted, strict=True):
            assert_same(a, b)
    elif isinstance(wanted, rg.Tensor):
        assert got.dtype == wanted.dtype and rg.equal(got, wanted)
    else:
        assert got == wanted


def test_all_of_it_comes_back(folder):
    checkpoint.save(state(), checkpoint_id=folder)
    assert_same(checkpoint.load_all(folder), expected())


def test_any_part_of_it_can_be_read_into_tensors(folder):
    checkpoint.save(state(), checkpoint_id=folder)
    # Other shards than those that were saved, which overlap, and a model with other values.
    model = nn.Sequential(nn.Linear(4, 30), nn.BatchNorm1d(30))
    block = rg.zeros(3, 2, 2)
    at = (dist.get_rank() % 5, 1 + dist.get_rank() % 3, 0)
    target = {
        "model": model.state_dict(),
        "rows": Shard(block, at, (7, 5, 2)),
        "columns": rg.zeros(7, 5, 2),  # converted to its dtype
        "plain": {"epoch": 0, "list": [0, [rg.zeros(())]]},
    }
    checkpoint.load(target, checkpoint_id=folder)
    assert rg.equal(block, whole()[at[0] : at[0] + 3, at[1] : at[1] + 2])
    assert rg.equal(target["columns"], whole())
    assert target["plain"] == {"epoch": 3, "list": [1, [rg.ones(())]]}
    assert_same(dict(model.state_dict()), dict(expected()["model"]))


def test_tensors_that_all_have_are_written_once_and_evenly(folder):
    checkpoint.save({str(i): rg.ones(1000 + i) for i in range(16)}, checkpoint_id=folder)
    sizes = sorted(path.stat().st_size for path in folder.glob("*-of-*.safetensors"))
    assert len(sizes) == dist.get_world_size()
    assert sum(sizes) < 16 * 1016 * 4 * 1.1 + 4000 * len(sizes)
    assert sizes[0] > 0.8 * sizes[-1]


def test_other_programs_read_the_files(folder):
    checkpoint.save({"rows": rows(whole())}, checkpoint_id=folder)
    names = json.loads((folder / "manifest.json").read_text())["tensors"]["rows"]["chunks"]
    pieces = [rg.load(folder / chunk["file"])[chunk["name"]] for chunk in names]
    assert sum(piece.numel() for piece in pieces) == whole().numel()


@pytest.mark.parametrize("world", [1, 2, 3, 5])
def test_a_checkpoint_of_any_number_of_ranks_is_read(folder, world, monkeypatch):
    """Each rank writes what `world` ranks would have, one after the other, into the same folder."""
    if dist.get_rank() == 0:
        pieces = [p for p in whole().tensor_split(world) if len(p)]
        begins = [sum(len(p) for p in pieces[:i]) for i in range(len(pieces))]
        every = [parts_module._part("x", Shard(p, (b, 0, 0), (7, 5, 2))) for p, b in zip(pieces, begins, strict=True)]
        writers, entries = parts_module._plan([[part] for part in every])
        manifest = parts_module.Manifest(values="0" * 16 + "-values.safetensors")
        rg.save({"epoch": 1}, folder / manifest.values)
        chunks = []
        for number, (part, piece) in enumerate(zip(every, pieces, strict=True)):
            name = f"{'0' * 16}-{number:05}-of-{world:05}.safetensors"
            rg.save({part.name: piece.clone()}, folder / name)
            assert writers[part] == number
            chunks.append(parts_module.Chunk(name, part.name, part.offset, part.shape))
        manifest.files = {path.name: path.stat().st_size for path in folder.iterdir()}
        dtype, shape, _ = entries["x"]
        manifest.tensors["x"] = parts_module.Entry(dtype, shape, chunks)
        parts_module._manifest.write(manifest, str(folder))
    dist.barrier()
    assert_same(checkpoint.load_all(folder), {"epoch": 1, "x": whole()})
    mine = rows(rg.zeros(7, 5, 2))
    checkpoint.load({"x": mine}, checkpoint_id=folder)
    assert rg.equal(mine.tensor, rows(whole()).tensor)


def test_a_divided_optimizer_goes_on_from_it(folder):
    def make():
        rg.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 2))
        return model, ZeroRedundancyOptimizer(model.parameters(), rg.optim.Adam, lr=0.01)

    def step(model, optimizer):
        optimizer.zero_grad()
        model(rg.ones(2, 4)).square().sum().backward()
        optimizer.step()

    one, other = make(), make()
    step(*one)
    checkpoint.save({"model": one[0].state_dict(), "optimizer": one[1].local_state_dict()}, checkpoint_id=folder)
    found = checkpoint.load_all(folder)
    other[0].load_state_dict(found["model"])
    other[1].load_state_dict(found["optimizer"])
    step(*one)
    step(*other)
    for a, b in zip(one[0].parameters(), other[0].parameters(), strict=True):
        assert rg.equal(a, b)


def test_a_new_checkpoint_replaces_the_old_one_and_a_failed_one_does_not(folder, monkeypatch):
    checkpoint.save({"x": rg.ones(2)}, checkpoint_id=folder)
    before = sorted(os.listdir(folder))
    failing = dist.get_world_size() - 1

    def fail(obj, path):
        if dist.get_rank() == failing:
            raise OSError("no space left")
        rg.save(obj, path)

    with monkeypatch.context() as patch:
        patch.setattr(parts_module, "save_file", fail)
        with pytest.raises((OSError, RuntimeError), match="no space left") as info:
            checkpoint.save({"x": rg.zeros(2)}, checkpoint_id=folder)
    if dist.get_rank() != failing:
        assert f"save failed on rank {failing}" in str(info.value)
    assert checkpoint.load_all(folder)["x"].tolist() == [1.0, 1.0]
    checkpoint.save({"x": rg.zeros(2)}, checkpoint_id=folder)
    assert checkpoint.load_all(folder)["x"].tolist() == [0.0, 0.0]
    after = sorted(os.listdir(folder))
    assert len(after) == len(before) and after != before


def test_what_is_missing_is_an_error_on_every_rank(folder):
    with pytest.raises(
        (FileNotFoundError, RuntimeError), match=r"there is no checkpoint in .*: it has no manifest.json"
    ):
        checkpoint.load_all(folder)
    checkpoint.save({"x": rg.ones(2, 3), "n": 1}, checkpoint_id=folder)
    last = dist.get_rank() == dist.get_world_size() - 1
    for target, error, phrase in (
        ({"y": rg.ones(2)}, RuntimeError, r"Missing key in checkpoint state_dict: y\."),
        ({"m": {"n": 1}}, RuntimeError, r"Missing key in checkpoint state_dict: m/n\."),
        ({"x": rg.ones(3, 2)}, ValueError, r"Size mismatch between saved \(2, 3\) and current: \(3, 2\) for x"),
    ):
        with pytest.raises((error, RuntimeError), match=phrase):
            checkpoint.load(target if last else {}, checkpoint_id=folder)


def test_shards_that_make_up_no_tensor_are_refused(folder):
    gap = Shard(rg.ones(1, 2), (0, 0), (3, 2))
    with pytest.raises((ValueError, RuntimeError), match=r"the parts of 'x' have 2 elements, and its shape"):
        checkpoint.save({"x": gap}, checkpoint_id=folder)
    with pytest.raises(ValueError, match="is not inside of"):
        Shard(rg.ones(2, 2), (2, 0), (3, 2))
    with pytest.raises(TypeError, match=r"keys are strings or integers, got the key \(1,\)"):
        checkpoint.save({(1,): rg.ones(2)}, checkpoint_id=folder)
    assert not list(folder.iterdir())


def edit(folder: Path, change) -> None:
    """Change the manifest on rank 0."""
    if dist.get_rank() == 0:
        path = folder / "manifest.json"
        data = json.loads(path.read_text())
        data = change(data) or data
        path.write_text(data if isinstance(data, str) else json.dumps(data))
    dist.barrier()


def tensor_of(data: dict) -> dict:
    return data["tensors"]["x"]


HOSTILE = [
    (lambda d: "{", "Expecting"),
    (lambda d: "[" * 100_000, "nested too deeply|recursion"),
    (lambda d: json.dumps([d]), "its format is not"),
    (lambda d: d.update(version=2), "its version is 2"),
    (lambda d: d["files"].update({"../../etc/passwd": 1}), "a file is named '../../etc/passwd'"),
    (lambda d: d["files"].update({"/etc/passwd": 1}), "a file is named '/etc/passwd'"),
    (lambda d: d.update(values="../x"), "is not listed"),
    (lambda d: tensor_of(d)["chunks"][0].update(file="/etc/passwd"), "which is not listed"),
    (lambda d: tensor_of(d).update(shape=[10**15, 10**15]), "elements, and its shape"),
    (lambda d: tensor_of(d).update(shape=[-1, 3]), "no list of sizes"),
    (lambda d: tensor_of(d).update(shape=[True, 3]), "no list of sizes"),
    (lambda d: tensor_of(d).update(shape="23"), "no list of sizes"),
    (lambda d: tensor_of(d).update(dtype="F99"), "no dtype of retrograd"),
    (lambda d: tensor_of(d).update(dtype="F64"), "does not hold what manifest.json says"),
    (lambda d: tensor_of(d).update(extra=1), "other things than dtype"),
    (lambda d: tensor_of(d)["chunks"][0].update(offset=[5, 0]), "is not inside of its shape"),
    (lambda d: tensor_of(d)["chunks"][0].update(name="y"), "does not hold what manifest.json says"),
    (lambda d: tensor_of(d)["chunks"].clear(), "the parts of 'x' have 0 elements"),
    (lambda d: tensor_of(d)["chunks"].append(tensor_of(d)["chunks"][0]), "have 12 elements"),
    (lambda d: tensor_of(d).update(shape=[4, 3], chunks=tensor_of(d)["chunks"] * 2), "parts of 'x' overlap"),
    (lambda d: d["tensors"].update({"n/deep": tensor_of(d)}), "is both a value and a container"),
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_manifest_that_does_not_add_up_is_an_error(folder, number):
    change, phrase = HOSTILE[number]
    checkpoint.save({"x": rg.ones(2, 3), "n": 1}, checkpoint_id=folder)
    edit(folder, change)
    with pytest.raises(RuntimeError, match=phrase):
        checkpoint.load_all(folder)


@pytest.mark.parametrize("damage", ["cut", "gone", "other"])
def test_files_that_are_damaged_are_an_error(folder, damage):
    checkpoint.save({"x": rg.ones(2, 3)}, checkpoint_id=folder)
    if dist.get_rank() == 0:
        chunk = json.loads((folder / "manifest.json").read_text())["tensors"]["x"]["chunks"][0]
        path = folder / chunk["file"]
        data = path.read_bytes()
        if damage == "gone":
            path.unlink()
        else:
            path.write_bytes(data[:-4] if damage == "cut" else b"\x00" * len(data))
    dist.barrier()
    phrase = {"cut": "is damaged: it has", "gone": "which its manifest.json lists", "other": "Weights only load failed"}
    with pytest.raises(Exception, match=phrase[damage]):
        checkpoint.load_all(folder)


def test_paths_come_apart_and_together():
    tree = {"a/b": 1, "~": {"#3": 2, 3: 3, "[0]": 4, "": 5}, "l": [{"x": 6}, [7, []], {}], "~0/~4": 8, "~4": 9}
    flat = dict(flatten(tree))
    assert sorted(map(str, flat.values())) == sorted(map(str, [1, 2, 3, 4, 5, 6, 7, [], {}, 8, 9]))
    assert nest(flat) == tree
    assert nest({}) == {}


# ---- one file


def test_one_rank_writes_a_file_and_all_read_it(folder):
    path = folder / "model.safetensors"
    value = {"weight": rg.arange(3.0), "rank": dist.get_rank()}
    writer = dist.get_world_size() - 1
    checkpoint.save_on_one(value, path, rank=writer)
    assert path.exists()
    found = checkpoint.load_everywhere(path, rank=writer)
    assert found["rank"] == writer and rg.equal(found["weight"], value["weight"])
    found["weight"].add_(1)  # it is memory of its own


def test_a_file_that_cannot_be_written_or_read_is_an_error_everywhere(folder):
    with pytest.raises((FileNotFoundError, RuntimeError), match="No such file"):
        checkpoint.save_on_one({}, folder / "nowhere" / "x.safetensors")
    with pytest.raises((FileNotFoundError, RuntimeError), match="No such file"):
        checkpoint.load_everywhere(folder / "nothing.safetensors")
    if dist.get_rank() == 0:
        (folder / "empty.safetensors").write_bytes(b"")
    dist.barrier()
    with pytest.raises(EOFError, match="the file is empty"):
        checkpoint.load_everywhere(folder / "empty.safetensors")
