"""Memory that may only be read refuses writes, and memory that others hold does not move."""

import numpy as np
import pytest

import retrograd as rg

pytestmark = pytest.mark.filterwarnings("ignore:.*not writable:UserWarning")


def frozen(values=(1.0, 2.0, 3.0)):
    array = np.array(values)
    array.flags.writeable = False
    return array


IMPORTS = {
    "from_numpy": lambda: rg.from_numpy(frozen()),
    "as_tensor": lambda: rg.as_tensor(frozen()),
    "asarray": lambda: rg.asarray(frozen()),
    "from_dlpack": lambda: rg.from_dlpack(frozen()),
    "frombuffer": lambda: rg.frombuffer(frozen().tobytes(), dtype=rg.float64),
}

WRITES = {
    "add_": lambda t: t.add_(1),
    "+=": lambda t: t.__iadd__(1),
    "copy_": lambda t: t.copy_(rg.zeros(3)),
    "fill_": lambda t: t.fill_(5),
    "zero_": lambda t: t.zero_(),
    "normal_": lambda t: t.normal_(),
    "setitem": lambda t: t.__setitem__(0, 7.0),
    "setitem slice": lambda t: t.__setitem__(slice(1, None), 7.0),
    "setitem mask": lambda t: t.__setitem__(t > 1, 7.0),
    "index_add_": lambda t: t.index_add_(0, rg.tensor([0]), rg.ones(1, dtype=rg.float64)),
    "scatter_": lambda t: t.scatter_(0, rg.tensor([0]), rg.ones(1, dtype=rg.float64)),
    "masked_fill_": lambda t: t.masked_fill_(t > 1, 7.0),
    "put_": lambda t: t.put_(rg.tensor([0]), rg.ones(1, dtype=rg.float64)),
    "view": lambda t: t[1:].mul_(2),
    "view of a view": lambda t: t.view(3, 1)[:2].t().mul_(2),
    "detach": lambda t: t.detach().mul_(2),
    "data": lambda t: t.data.mul_(2),
    "view dtype": lambda t: t.view(rg.int64).zero_(),
    "set_": lambda t: rg.zeros(3, dtype=rg.float64).set_(t).zero_(),
    "set data": lambda t: assigned(t).zero_(),
    "out=": lambda t: rg.add(rg.ones(3, dtype=rg.float64), 1, out=t),
    "out= of a view": lambda t: rg.add(rg.ones(2, dtype=rg.float64), 1, out=t[:2]),
    "out= resized": lambda t: rg.add(rg.ones(9, dtype=rg.float64), 1, out=t),
    "no_grad": lambda t: in_no_grad(t),
    "optimiser": lambda t: step(t),
    "grad": lambda t: accumulate(t),
}


def assigned(t):
    p = rg.zeros(3, dtype=rg.float64)
    p.data = t
    return p


def in_no_grad(t):
    t.requires_grad_()
    with rg.no_grad():
        t.sub_(0.1)


def step(t):
    t.requires_grad_()
    (t * t).sum().backward()
    with rg.no_grad():
        t.add_(t.grad, alpha=-0.1)


def accumulate(t):
    x = rg.ones(3, dtype=rg.float64, requires_grad=True)
    x.grad = t
    (x * x).sum().backward()


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("import_", IMPORTS)
def test_writes_are_refused_and_change_nothing(import_, write):
    t = IMPORTS[import_]()
    with pytest.raises(RuntimeError, match="read-only") as told:
        WRITES[write](t)
    assert "clone()" in str(told.value)
    assert t.tolist() == [1.0, 2.0, 3.0]
    assert t._version == 0
    assert t.shape == (3,)


def test_errors_name_the_import():
    for name, make in {"from_numpy": IMPORTS["from_numpy"], "frombuffer": IMPORTS["frombuffer"]}.items():
        with pytest.raises(RuntimeError, match=rf"^add_?: .*{name}"):
            make().add_(1)
    with pytest.raises(RuntimeError, match="from_dlpack"):
        IMPORTS["from_dlpack"]().zero_()


def test_reading_and_derivatives_go_on():
    t = rg.from_numpy(frozen()).requires_grad_()
    (t * t).sum().backward()
    assert t.grad.tolist() == [2.0, 4.0, 6.0]
    c = t.detach().clone()
    c += 1
    assert c.tolist() == [2.0, 3.0, 4.0]
    assert t.detach().t_().tolist() == [1.0, 2.0, 3.0]  # changes the handle alone


def test_bytes_stay_what_they_were():
    literal = b"retrograd"
    t = rg.frombuffer(literal, dtype=rg.uint8)
    with pytest.raises(RuntimeError, match="read-only"):
        t.fill_(0)
    assert literal == b"retrograd"


def test_a_mapped_file_is_not_written(tmp_path):
    path = tmp_path / "numbers"
    np.arange(4.0).tofile(path)
    t = rg.from_numpy(np.memmap(path, dtype=np.float64, mode="r"))
    with pytest.raises(RuntimeError, match="read-only"):
        t.add_(1)  # killed the process
    assert t.sum().item() == 6.0


def test_writable_imports_are_written():
    array = np.zeros(3)
    for t in (rg.from_numpy(array), rg.from_dlpack(array), rg.frombuffer(array, dtype=rg.float64)):
        t.add_(1)
    assert array.tolist() == [3.0, 3.0, 3.0]


def test_exports_of_read_only_memory_are_read_only():
    t = rg.from_numpy(frozen())
    assert not t.numpy().flags.writeable
    assert memoryview(t).readonly
    assert not np.from_dlpack(t).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        t.__dlpack__()
    assert rg.ones(3).numpy().flags.writeable


# ---- memory that others hold does not move

LENT = {
    "numpy": lambda t: t.numpy(),
    "asarray": lambda t: np.asarray(t),
    "memoryview": lambda t: memoryview(t),
    "dlpack": lambda t: np.from_dlpack(t),
    "view": lambda t: t[:1].numpy(),
    "detach": lambda t: t.detach().numpy(),
}


@pytest.mark.parametrize("lend", LENT)
def test_lent_memory_is_not_resized(lend):
    t = rg.ones(3)
    lent = LENT[lend](t)
    for grow in (lambda: t.resize_(10), lambda: rg.add(rg.ones(20), 1, out=t)):
        with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
            grow()
        assert t.shape == (3,) and t._version == 0 and t.tolist() == [1.0, 1.0, 1.0]
    t.resize_(2)
    t.fill_(4)
    assert np.asarray(lent).flat[0] == 4.0


@pytest.mark.parametrize("make", [
    lambda: rg.from_numpy(np.ones(3)),
    lambda: rg.frombuffer(bytearray(24), dtype=rg.float64),
    lambda: rg.from_dlpack(np.ones(3)),
])  # fmt: skip
def test_foreign_memory_is_not_resized(make):
    t = make()
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        t.resize_(10)
    assert t.resize_(2).shape == (2,)


def test_views_stay_on_the_memory_that_grows():
    t = rg.zeros(3)
    view, alias = t[:2], t.detach()
    t.resize_(1000)
    t.fill_(5)
    assert view.tolist() == [5.0, 5.0] and alias.tolist() == [5.0] * 3
    assert view.data_ptr() == t.data_ptr() == alias.data_ptr()
    view.fill_(6)
    assert t[:3].tolist() == [6.0, 6.0, 5.0]


def test_views_stay_on_the_memory_of_a_growing_out():
    t = rg.zeros(3)
    view = t[1:]
    with pytest.warns(UserWarning, match="resized"):
        rg.add(rg.ones(500), 1, out=t)
    assert view.tolist() == [2.0, 2.0]
    assert view.data_ptr() == t.data_ptr() + 4
    base = rg.zeros(3)
    view = base[1:]
    with pytest.warns(UserWarning, match="resized"):
        rg.add(rg.ones(50), 1, out=view)
    assert base.tolist() == [0.0, 2.0, 2.0] and view.shape == (50,)


def test_growth_keeps_what_was_there():
    t = rg.arange(5)
    seen = [t[i:] for i in range(5)]
    for n in (10, 100, 1000, 50, 20_000):
        t.resize_(n)
        assert t[:5].tolist() == [0, 1, 2, 3, 4]
    for i, view in enumerate(seen):
        assert view.tolist() == [0, 1, 2, 3, 4][i:]
