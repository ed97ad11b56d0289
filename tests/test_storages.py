"""Storages, devices by name, members of old, and memory that processes share."""

from __future__ import annotations

import copy
import os
import pickle
from typing import Any

import pytest


def test_tensors_over_the_same_memory_have_one_storage(rg: Any) -> None:
    x = rg.arange(6.0).reshape(2, 3)
    s = x.untyped_storage()
    assert s is x[1].untyped_storage() and s.data_ptr() == x.data_ptr() and len(s) == s.nbytes() == 24
    assert x.clone().untyped_storage() is not s and rg.empty(0).untyped_storage().data_ptr() == 0
    t = x._typed_storage()
    assert t.tolist() == list(t) == [0, 1, 2, 3, 4, 5] and t[-1] == 5 and t.size() == 6 and t.dtype is rg.float32
    assert isinstance(t, rg.FloatStorage) and not isinstance(t, rg.LongStorage) and x.storage_type() is rg.FloatStorage
    assert rg.is_storage(s) and rg.is_storage(t) and not rg.is_storage(x)


def test_writes_to_a_storage_are_seen_and_counted(rg: Any) -> None:
    x = rg.zeros(3)
    before = x._version
    x._typed_storage()[1] = 5
    assert x.tolist() == [0, 5, 0] and x._version > before
    x.untyped_storage().fill_(0)
    assert x.tolist() == [0, 0, 0]
    x._typed_storage().copy_(rg.tensor([1, 2, 3])._typed_storage())
    assert x.tolist() == [1, 2, 3]
    assert copy.deepcopy(x.untyped_storage()) is not x.untyped_storage()
    assert pickle.loads(pickle.dumps(x._typed_storage())).tolist() == [1, 2, 3]


def test_storages_check_their_bounds(rg: Any) -> None:
    x = rg.arange(3.0)
    for i in (3, -4):
        with pytest.raises(IndexError, match=f"index {i} out of range for storage of size 3"):
            x._typed_storage()[i]
    with pytest.raises(IndexError, match="index 12 out of range for storage of size 12"):
        x.untyped_storage()[12] = 1
    with pytest.raises(RuntimeError, match="size does not match, self was 12 bytes but src was 2 bytes"):
        x.untyped_storage().copy_(rg.UntypedStorage(2))
    with pytest.raises(RuntimeError, match="does not shrink"):
        x.untyped_storage().resize_(4)
    y = rg.empty(0)
    assert y.set_(x._typed_storage(), 1, (2,)).tolist() == [1, 2] and y.untyped_storage() is x.untyped_storage()
    assert rg.empty(0).set_(x.untyped_storage()).tolist() == [0, 1, 2] and rg.ones(2).set_().shape == (0,)
    for part in ((0, (4,)), (2, (2,), (1,)), (0, (2,), (3,))):
        with pytest.raises(RuntimeError, match="out of bounds for storage of size 12"):
            rg.empty(0).set_(x.untyped_storage(), *part)
    with pytest.raises(RuntimeError, match="invalid storage offset -1"):
        rg.empty(0).set_(x.untyped_storage(), -1, (1,))
    with pytest.raises(RuntimeError, match="Expected a Storage of type"):
        rg.empty(0).set_(rg.ones(1, dtype=rg.int64)._typed_storage())


def test_typed_storages_warn_once(rg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rg.storage, "_warned", False)
    with pytest.warns(UserWarning, match="TypedStorage is deprecated. It will be removed in the future") as caught:
        rg.ones(1).storage()
        rg.ones(1).storage()
        assert rg.FloatStorage([1, 2]).tolist() == [1, 2]
    assert len(caught) == 1 and caught[0].filename == __file__


def test_read_only_memory_stays_as_it_is(rg: Any) -> None:
    np = pytest.importorskip("numpy")
    a = np.ones(2, dtype=np.float32)
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        x = rg.from_numpy(a)
    with pytest.raises(RuntimeError, match="read-only"):
        x.untyped_storage()[0] = 1


def test_devices_have_names_and_are_refused_when_used(rg: Any) -> None:
    assert repr(rg.device("cuda", 1)) == "device(type='cuda', index=1)" and str(rg.device("mps:0")) == "mps:0"
    assert rg.device(1) == rg.device("cuda:1") != rg.device("cuda") and rg.device("meta").type == "meta"
    assert pickle.loads(pickle.dumps(rg.device("cuda:1"))) == rg.device("cuda:1")
    assert len({rg.device("cuda"), rg.device("cuda"), rg.device("cpu")}) == 2
    for bad in ("cuda:", "cuda:a", "cuda:-1", "cuda:01"):
        with pytest.raises(RuntimeError, match=f"Invalid device string: '{bad}'"):
            rg.device(bad)
    x = rg.ones(1)
    for use in (
        lambda: rg.ones(1, device="cuda"),
        lambda: rg.tensor([1], device=rg.device("cuda:0")),
        lambda: x.to("cuda"),
        lambda: x.to(0),
        lambda: x.cuda(),
        lambda: x.type("torch.cuda.FloatTensor"),
        lambda: rg.Generator("cuda"),
    ):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            use()
    with pytest.raises(RuntimeError, match="PyTorch is not linked with support for mps devices"):
        x.to("mps")
    with pytest.raises(NotImplementedError, match="meta"):
        rg.ones(1, device="meta")
    with rg.device("cpu") as device:
        assert device == rg.ones(1).device
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        x.pin_memory()
    assert not (x.is_pinned() or x.is_cuda or x.is_meta or x.is_quantized)


def test_types_and_constructors_of_old(rg: Any) -> None:
    x = rg.ones(2, dtype=rg.int64)
    assert x.type(rg.FloatTensor).dtype is rg.float32 and x.type(rg.LongTensor) is x
    assert x.type(rg.Tensor).dtype is rg.float32
    for bad in ("foo", int, float):
        with pytest.raises(ValueError, match="invalid type: '"):
            x.type(bad)
    assert x.new([1.5]).tolist() == [1] and x.new(2, 3).shape == (2, 3) and x.new(rg.Size([4])).dtype is rg.int64
    assert x.new().shape == (0,) and x.new(size=(2,)).shape == (2,) and x.new(x).data_ptr() == x.data_ptr()
    assert x.new(x.untyped_storage()).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu but device type: cuda"):
        x.new(1, device="cuda")


def test_a_generator_restores_and_returns_itself(rg: Any) -> None:
    g = rg.Generator(device=rg.device("cpu")).manual_seed(3)
    other = g.clone_state()
    assert rg.equal(rg.rand(2, generator=g), rg.rand(2, generator=other)) and g.device.type == "cpu"
    assert g.set_state(other.get_state()) is g and g.seed() == g.initial_seed()


@pytest.mark.filterwarnings("error")
def test_a_number_in_no_grad_is_taken_without_a_warning(rg: Any) -> None:
    x = rg.tensor(2.0, requires_grad=True)
    with rg.no_grad():
        assert float(x) == 2
    assert complex(x) == 2
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        float(x)


def test_shared_memory_is_that_of_all_tensors_over_it(rg: Any) -> None:
    x = rg.arange(100.0)
    view, version = x[10:], x._version
    assert x.share_memory_() is x and x.is_shared() and view.is_shared() and view.untyped_storage().is_shared()
    view[0] = -1
    assert x[10] == -1 and x._version == version + 1 and not x.clone().is_shared()
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        rg.ones(2).share_memory_().resize_(1000)
    module = rg.nn.Linear(2, 2).share_memory()
    assert all(p.is_shared() and p.requires_grad for p in module.parameters())


def test_a_file_that_is_no_shared_memory_is_refused(rg: Any, tmp_path: Any) -> None:
    (tmp_path / "file").write_bytes(bytes(8))
    with (tmp_path / "file").open("r+b") as file, pytest.raises(RuntimeError, match="no shared memory"):
        rg._core._over_shared_file(file.fileno(), 8)
    with pytest.raises(RuntimeError, match="no file"):
        rg._core._over_shared_file(-1, 8)
    x = rg.ones(2).share_memory_()
    with pytest.raises(RuntimeError, match="has 8 bytes, not 9"):
        rg._core._over_shared_file(rg._core._shared_file(x), 9)


def _answer(received: Any, sent: Any) -> None:
    x = received.get()
    x.add_(1)
    sent.put((x, x.is_shared()))
    received.get()  # the memory is in this process until then


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_tensors_cross_queues_without_a_copy(rg: Any, method: str) -> None:
    context = rg.multiprocessing.get_context(method)
    there, back = context.Queue(), context.Queue()
    process = context.Process(target=_answer, args=(there, back), daemon=True)
    process.start()
    x = rg.zeros(4)
    there.put(x[1:])
    y, shared = back.get(timeout=60)
    assert shared and x.tolist() == [0, 1, 1, 1] and y.data_ptr() == x[1:].data_ptr()
    there.put(None)
    process.join(60)
    assert process.exitcode == 0


def test_histories_do_not_cross(rg: Any) -> None:
    parameter = rg.nn.Parameter(rg.ones(2))
    rebuild, arguments = rg.multiprocessing.reductions.reduce_tensor(parameter)
    assert type(rebuild(*arguments)) is rg.nn.Parameter and rebuild(*arguments).requires_grad
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        rg.multiprocessing.reductions.reduce_tensor(parameter * 2)


def _fail(i: int, how: str) -> None:
    if how == "raise":
        raise ValueError("of process")
    os._exit(3) if how == "exit" else os.kill(os.getpid(), 9)


def test_failures_of_processes_are_raised(rg: Any) -> None:
    mp = rg.multiprocessing
    with pytest.raises(mp.ProcessRaisedException, match=r"Process 0 terminated with the following error:(.|\n)*of p"):
        mp.start_processes(_fail, ("raise",), start_method="fork")
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with exit code 3"):
        mp.start_processes(_fail, ("exit",), start_method="fork")
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with signal SIGKILL"):
        mp.start_processes(_fail, ("kill",), start_method="fork")
    with pytest.raises(AssertionError, match="invalid sharing strategy 'foo'"):
        mp.set_sharing_strategy("foo")
