"""Sizes are checked before work starts: no op allocates or loops by a user's number before its result is known to fit.

The calls run in processes of their own, with little memory and little time.
"""

import importlib.util
import math
import signal
import subprocess
import sys
import time
import warnings

import pytest

import retrograd as rg

CALLS = {
    "rg.zeros(2**62, 4)": "RuntimeError",
    "rg.empty(2**33, 2**33)": "RuntimeError",
    "rg.empty(0, 2**62, 2**62)": "RuntimeError",
    "rg.empty(2**40)": "MemoryError",
    "rg.empty_strided((2, 2), (2**62, 1))": "RuntimeError",
    "rg.empty_strided((2, 2), (2**63 - 1, 1))": "RuntimeError",
    "rg.empty_strided((2**33, 2**33), (0, 0))": "RuntimeError",
    "rg.ones(3).resize_(2**62, 4)": "RuntimeError",
    "rg.ones(3).resize_(2**61)": "RuntimeError",
    "rg.ones(3).resize_(2**40)": "MemoryError",
    "rg.ones(3).as_strided((2**62, 4), (0, 0))": "RuntimeError",
    "rg.ones(3).as_strided((2,), (2**62,))": "RuntimeError",
    "rg.ones(3).as_strided((2,), (1,), 2**63 - 1)": "RuntimeError",
    "rg.ones(3).expand(2**62, 2**62, 3)": "RuntimeError",
    "rg.ones(1).expand(2**62, 4).sum()": "RuntimeError",
    "rg.ones(2, 1, 3).expand(2, 2**40, 3)[:, :, ::2][rg.tensor([0])]": "MemoryError",
    "rg.ones(2, 1, 3).expand(2, 2**40, 3)[:, :, ::2].index_select(0, rg.tensor([0]))": "MemoryError",
    "rg.ones(3).repeat(2**62, 2**62)": "RuntimeError",
    "rg.ones(3).repeat(2**40)": "MemoryError",
    "rg.ones(3).tile((2**62, 4))": "RuntimeError",
    "rg.ones(4).unflatten(0, (2**62, 4))": "RuntimeError",
    "rg.ones(4).split([2**63 - 1, 5])": "RuntimeError",
    "rg.tril_indices(2**31, 2**31)": "RuntimeError",
    "rg.triu_indices(2**31, 2**31)": "RuntimeError",
    "rg.tril_indices(2**20, 2**20)": "MemoryError",
    "rg.combinations(rg.ones(60), 30)": "RuntimeError",
    "rg.combinations(rg.ones(60), 8)": "MemoryError",
    "rg.mvlgamma(rg.ones(2), 2**40)": "MemoryError",
    "rg.mvlgamma(rg.ones(2), 2**62)": "RuntimeError",
    "rg.combinations(rg.ones(3), 2**62, with_replacement=True)": "RuntimeError",
    "rg.combinations(rg.ones(1), 2**40, with_replacement=True)": "MemoryError",
    "rg.nn.functional.interpolate(rg.ones(1, 1, 4), size=2**40)": "MemoryError",
    "rg.nn.functional.interpolate(rg.ones(1, 1, 4, 4), size=(2**31, 2**31), mode='bilinear')": "RuntimeError",
    "rg.nn.functional.pad(rg.ones(1, 1, 4), (2**40, 2**40), mode='replicate')": "MemoryError",
    "rg.nn.functional.pad(rg.ones(4), (2**62, 2**62))": "RuntimeError",
    "rg.nn.functional.one_hot(rg.tensor([1]), 2**40)": "MemoryError",
    "rg.nn.functional.fold(rg.ones(1, 4, 9), (2**40, 2**40), 2)": "RuntimeError",
    "rg.linspace(0, 1, 2**62)": "RuntimeError",
    "rg.arange(2**40)": "MemoryError",
    "rg.eye(2**32)": "RuntimeError",
    "rg.bincount(rg.tensor([2**40]))": "MemoryError",
    "rg.ones(3).repeat_interleave(2**40)": "MemoryError",
    "rg.vander(rg.ones(3), 2**40)": "MemoryError",
}

RUN = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
import retrograd as rg
for line in sys.stdin.read().splitlines():
    try:
        eval(line)
        print("no error", flush=True)
    except (MemoryError, RuntimeError) as e:
        print(type(e).__name__ if "internal error" not in str(e) else f"{e}", flush=True)
"""


@pytest.mark.skipif(importlib.util.find_spec("resource") is None, reason="no limit on memory can be set")
def test_impossible_sizes_are_errors_at_once():
    """What does not fit is a RuntimeError if it cannot be addressed, else a MemoryError; never a wait or an abort."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", RUN], input="\n".join(CALLS), capture_output=True, text=True, timeout=300, check=False
    )
    got = done.stdout.splitlines()
    wrong = {call: g for (call, want), g in zip(CALLS.items(), got, strict=False) if g not in (want, "MemoryError")}
    assert not wrong
    assert done.returncode == 0 and len(got) == len(CALLS), (list(CALLS)[len(got)], done.stderr[-1500:])
    assert time.monotonic() - start < 120


def test_views_of_overflowing_layouts_are_refused():
    for make in (
        lambda: rg.ones(3).set_(rg.ones(3).as_strided((2,), (2**62,))),
        lambda: rg.ones(4).as_strided((2, 2), (2**62, 2**62)),
        lambda: rg.empty_strided((2,), (-1,)),
    ):
        with pytest.raises((RuntimeError, ValueError)) as told:
            make()
        assert "internal error" not in str(told.value)
    assert rg.empty_strided((0, 5), (2**62, 2**62)).shape == (0, 5)
    assert rg.zeros(2**62, 0).shape == (2**62, 0)


@pytest.mark.parametrize("with_replacement", [False, True])
def test_combinations_by_count_and_order(with_replacement):
    import itertools

    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    for n in range(6):
        for r in range(1, 6):
            got = rg.combinations(rg.arange(n), r, with_replacement)
            want = [list(c) for c in pick(range(n), r)]
            assert got.tolist() == want and got.shape == (len(want), r), (n, r)
    # Few of many: the numbers of ways on the way there are out of this world.
    assert rg.combinations(rg.arange(60), 59).shape == (60, 59)
    assert rg.combinations(rg.arange(60), 59)[0].tolist() == list(range(59))
    assert rg.combinations(rg.ones(3), 2**40).shape == (0, 2**40)
    assert rg.combinations(rg.ones(0), 2**40, True).shape == (0, 2**40)
    x = rg.ones(3, requires_grad=True)
    rg.combinations(x, 4).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_triangles_of_every_offset():
    for rows in range(5):
        for columns in range(5):
            for offset in range(-6, 7):
                places = [(i, j) for i in range(rows) for j in range(columns)]
                lower = [p for p in places if p[1] - p[0] <= offset]
                upper = [p for p in places if p[1] - p[0] >= offset]
                case = (rows, columns, offset)
                assert rg.tril_indices(*case).t().tolist() == [list(p) for p in lower], case
                assert rg.triu_indices(*case).t().tolist() == [list(p) for p in upper], case
    assert rg.tril_indices(2**62, 3, -(2**62) + 1).tolist() == [[2**62 - 1], [0]]
    assert rg.tril_indices(2**62, 0).shape == (2, 0)
    assert rg.triu_indices(2**62, 2, 0).tolist() == [[0, 0, 1], [0, 1, 1]]
    assert rg.triu_indices(3, 3, -(2**63)).shape == (2, 9)
    assert rg.tril_indices(3, 3, 2**63 - 1).shape == (2, 9)


def test_tensordot_of_tensors_without_dims():
    for a, b in [((), ()), ((), (3,)), ((3,), ()), ((), (1,))]:
        with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
            rg.tensordot(rg.ones(a), rg.ones(b), ([0], [0]))
    assert rg.tensordot(rg.tensor(2.0), rg.tensor(3.0), 0).item() == 6.0


def test_lists_that_hold_themselves():
    z = [0]
    z += [z]
    with pytest.raises(TypeError, match=r"new\(\): self-referential lists are incompatible"):
        rg.tensor(z)
    only = []
    only.append(only)
    with pytest.raises((TypeError, ValueError)):
        rg.tensor(only)
    deep, two = [1], [1]
    for _ in range(100_000):
        deep = [deep]
        two = [0, two]
    for nested in (deep, two, (two,)):
        with pytest.raises(ValueError, match="too many dimensions"):
            rg.tensor(nested)
        with warnings.catch_warnings(), pytest.raises((ValueError, TypeError, IndexError)):
            warnings.simplefilter("ignore")
            rg.ones(3)[nested]
    while deep or two:  # not freed by recursion
        deep = deep[0] if isinstance(deep, list) and deep else None
        two = two[1] if isinstance(two, list) and len(two) > 1 else None


def test_mvlgamma_of_many_terms():
    x = rg.tensor([3.0e4, 5.5e4], dtype=rg.float64)
    p = 50_000
    got = rg.mvlgamma(x, p).tolist()
    for value, g in zip(x.tolist(), got, strict=True):
        want = 0.25 * p * (p - 1) * math.log(math.pi) + math.fsum(math.lgamma(value - 0.5 * i) for i in range(p))
        assert g == pytest.approx(want, rel=1e-12)
    assert rg.mvlgamma(rg.tensor([4.0]), 3).item() == pytest.approx(
        1.5 * math.log(math.pi) + sum(math.lgamma(4 - 0.5 * i) for i in range(3)), rel=1e-6
    )


@pytest.mark.parametrize("call", ["rg.mvlgamma(rg.ones(1), 4 * 10**8)", "rg.mvlgamma(rg.ones(400_000), 1000)"])
def test_long_loops_answer_ctrl_c(call):
    code = (
        # A program that a shell started in the background ignores the signal.
        "import retrograd as rg, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "print('ready', flush=True)\n"
        f"try:\n    {call}\nexcept KeyboardInterrupt:\n    print('ended')"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    try:
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out == "ended\n" and process.returncode == 0
