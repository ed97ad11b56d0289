"""A bool element is any byte: true unless 0.

Memory of `empty`, views of uint8, and arrays that others write hold such bytes.
"""

import subprocess
import sys

import numpy as np
import pytest

import retrograd as rg

BYTES = [0, 1, 2, 254, 255, 0, 128, 3, 0, 16]
TRUTH = [b != 0 for b in BYTES]


def odd(values=BYTES):
    """A bool tensor over these bytes."""
    return rg.tensor(values, dtype=rg.uint8).view(rg.bool)


def long(repeats=700):
    """Enough elements for whole vectors and several threads, and their truth."""
    return odd(BYTES * repeats), np.array(TRUTH * repeats)


def test_what_a_byte_prints_and_lists_as():
    b = odd()
    assert b.tolist() == TRUTH
    assert [x.item() for x in b] == TRUTH
    assert [bool(x) for x in b] == TRUTH
    assert repr(odd([0, 2, 254])) == "tensor([False,  True,  True])"
    assert all(type(x) is bool for x in b.tolist())


def test_empty_of_any_memory_can_be_read():
    for n in (1, 7, 64, 65, 4000, 100_000):
        used = rg.full((n,), 0xC3, dtype=rg.uint8)
        del used
        e = rg.empty(n, dtype=rg.bool)
        repr(e)
        values = e.tolist()
        assert len(values) == n and set(values) <= {True, False}
        assert e.sum().item() == sum(values) <= n


@pytest.mark.parametrize("repeats", [1, 700])
def test_reductions(repeats):
    b, want = long(repeats)
    assert b.sum().item() == want.sum()
    assert b.count_nonzero().item() == want.sum()
    assert b.any().item() is True and b.all().item() is False
    assert odd([2, 254, 1]).all().item() is True
    assert odd([0, 0]).any().item() is False
    assert odd([3, 2]).prod().item() == 1
    assert b.cumsum(0).tolist() == np.cumsum(want).tolist()
    two = b.view(-1, 5)
    assert two.any(0).tolist() == want.reshape(-1, 5).any(0).tolist()
    assert two.all(1).tolist() == want.reshape(-1, 5).all(1).tolist()
    assert two.sum(0).tolist() == want.reshape(-1, 5).sum(0).tolist()
    assert b.max().item() is True and b.min().item() is False
    assert b.float().mean().item() == pytest.approx(want.mean())


def test_logic_gives_bytes_of_0_and_1():
    b, want = long()
    other = b.flip(0)
    results = {
        "~": (~b, ~want),
        "not": (b.logical_not(), ~want),
        "&": (b & other, want & want[::-1]),
        "|": (b | other, want | want[::-1]),
        "^": (b ^ other, want ^ want[::-1]),
        "and": (b.logical_and(other), want & want[::-1]),
        "xor": (b.logical_xor(other), want ^ want[::-1]),
        "eq": (b == other, want == want[::-1]),
        "ne": (b != other, want != want[::-1]),
        "lt": (b < other, want < want[::-1]),
        "ge": (b >= other, want >= want[::-1]),
        "add": (b + other, want | want[::-1]),
        "mul": (b * other, want & want[::-1]),
    }
    for name, (got, right) in results.items():
        assert got.dtype == rg.bool, name
        assert got.view(rg.uint8).tolist() == right.astype(np.uint8).tolist(), name
    assert rg.equal(odd([2, 0]), odd([254, 0])) and not rg.equal(odd([2, 0]), odd([2, 1]))


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
)
def test_casts_are_0_and_1(dtype):
    b, want = long()
    assert b.to(getattr(rg, dtype)).tolist() == want.astype(int).tolist()
    strided = b.view(-1, 2)[:, 1]
    assert strided.to(getattr(rg, dtype)).tolist() == want[1::2].astype(int).tolist()


def test_as_a_mask_and_condition():
    b, want = long()
    x = rg.arange(len(want), dtype=rg.float64)
    a = np.arange(len(want), dtype=float)
    assert x[b].tolist() == a[want].tolist()
    assert x.masked_select(b).tolist() == a[want].tolist()
    assert b.nonzero().flatten().tolist() == np.flatnonzero(want).tolist()
    assert rg.where(b, x, -x).tolist() == np.where(want, a, -a).tolist()
    assert x.masked_fill(b, -1.0).tolist() == np.where(want, -1.0, a).tolist()
    filled = x.clone()
    filled[b] = 7.0
    assert filled.tolist() == np.where(want, 7.0, a).tolist()
    right = a.copy()
    right[want] = np.arange(want.sum())
    assert x.masked_scatter(b, rg.arange(len(want), dtype=rg.float64)).tolist() == right.tolist()
    y = x.clone().requires_grad_()
    y.masked_select(b).sum().backward()
    assert y.grad.tolist() == want.astype(float).tolist()


def test_order_and_sets():
    b, want = long()
    values, index = b.sort(stable=True)
    assert values.tolist() == sorted(want.tolist())
    assert index.tolist() == np.argsort(want, kind="stable").tolist()
    assert b.argsort(descending=True, stable=True).tolist() == np.argsort(~want, kind="stable").tolist()
    assert rg.unique(b).tolist() == [False, True]
    values, counts = rg.unique(b, return_counts=True)
    assert counts.tolist() == [int((~want).sum()), int(want.sum())]
    assert rg.unique_consecutive(odd([2, 254, 0, 0, 1])).tolist() == [True, False, True]


def test_copies_keep_truth():
    b, want = long()
    for c in (b.clone(), b.contiguous(), b.view(-1, 5).t().clone().t().reshape(-1), rg.cat([b]), rg.stack([b])[0]):
        assert c.tolist() == want.tolist()
    assert rg.zeros(len(want), dtype=rg.bool).copy_(b).tolist() == want.tolist()
    assert rg.zeros(len(want)).copy_(b).tolist() == want.astype(float).tolist()
    assert b.numpy().astype(int).tolist() == want.astype(int).tolist()
    assert np.asarray(b).tolist() == b.tolist()


def test_arrays_that_others_write_after_they_were_shared():
    array = np.array([True, False, True])
    shared = [rg.from_numpy(array), rg.as_tensor(array), rg.from_dlpack(array), rg.frombuffer(array, dtype=rg.bool)]
    array.view(np.uint8)[:] = [254, 2, 0]
    for t in shared:
        assert t.tolist() == [True, True, False]
        assert t.sum().item() == 2 and (~t).tolist() == [False, False, True]


@pytest.mark.parametrize("import_", ["from_numpy", "as_tensor", "tensor", "from_dlpack", "frombuffer"])
def test_imports_take_any_byte(import_):
    array = np.array([2, 0, 254], dtype=np.uint8).view(bool)
    f = getattr(rg, import_)
    t = f(array, dtype=rg.bool) if import_ == "frombuffer" else f(array)
    assert t.dtype == rg.bool and t.tolist() == [True, False, True]


def test_truth_of_an_element_and_of_a_tensor():
    for byte in (1, 2, 254):
        b = odd([byte])[0]
        assert bool(b) and b.item() is True and int(b) == 1 and float(b) == 1.0
        assert rg.tensor([5.0, 6.0])[b.long()].item() == 6.0
        assert rg.tensor([5.0, 6.0])[b].tolist() == [[5.0, 6.0]]
        assert f"{b}" == "True"


def test_no_byte_kills_the_process():
    """`repr` once looked names up by the byte, and read beyond the table."""
    code = (
        "import retrograd as rg\n"
        "for n in (100, 4000):\n"
        "    rg.full((n,), 0xfe, dtype=rg.uint8)\n"
        "    e = rg.empty(n, dtype=rg.bool); repr(e); assert 0 <= e.sum().item() <= n\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
