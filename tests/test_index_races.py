"""What an index says is read once: who writes to the index while an op runs may spoil the result, not the process.

Each op runs again and again in a process of its own, beside a thread that flips the index between values that are in
range and values far out of it. Errors about indices are fine, and so is any result; a crash, a panic or a result of
impossible size is not.
"""

import subprocess
import sys
import textwrap

import pytest

SECONDS = 1.5

SETUP = """
    import sys, threading, time
    import retrograd as rg
    F = rg.nn.functional
    N, ROWS, WIDTH = 60_000, 50, 8
    index = rg.zeros(N, dtype=rg.int64)
    table = rg.ones(ROWS, WIDTH)
    vector = rg.ones(ROWS)
    long = rg.ones(N)
    rows = rg.ones(N, WIDTH)
    scores = rg.zeros(N, ROWS)
"""

OPS = {
    "embedding": "F.embedding(index, table)",
    "embedding backward": "grad(lambda w: F.embedding(index, w), table)",
    "embedding by frequency": "grad(lambda w: F.embedding(index, w, scale_grad_by_freq=True), table)",
    "embedding max_norm": "F.embedding(index, table, max_norm=1.0)",
    "embedding_bag": "F.embedding_bag(index.view(-1, 10), table)",
    "embedding_bag max": "F.embedding_bag(index.view(-1, 10), table, mode='max')",
    "embedding_bag offsets": "F.embedding_bag(rg.zeros(N, dtype=rg.int64), table, index)",
    "one_hot": "F.one_hot(index, 60)",
    "one_hot of the largest": "F.one_hot(index)",
    "nll_loss": "F.nll_loss(scores, index)",
    "nll_loss weight": "F.nll_loss(scores, index, weight=vector, reduction='none')",
    "nll_loss backward": "grad(lambda s: F.nll_loss(s, index), scores)",
    "cross_entropy": "F.cross_entropy(scores, index)",
    "gather": "vector.gather(0, index)",
    "gather of rows": "table.gather(0, index.view(-1, WIDTH)[:ROWS])",
    "gather backward": "grad(lambda v: v.gather(0, index), vector)",
    "scatter": "vector.scatter(0, index, long)",
    "scatter_add": "vector.scatter_add(0, index, long)",
    "scatter_reduce": "vector.scatter_reduce(0, index, long, 'amax')",
    "scatter value": "vector.scatter(0, index, 3.0)",
    "index_select": "table.index_select(0, index)",
    "index_add": "table.index_add(0, index, rows)",
    "index_copy": "table.index_copy(0, index, rows)",
    "index_fill": "table.index_fill(0, index, 2.0)",
    "index_put": "table.index_put((index,), rows, accumulate=True)",
    "index_put to a number": "rg.zeros(()).expand(1000, WIDTH).index_put((index,), rows, accumulate=True)",
    "index": "table[index]",
    "index backward": "grad(lambda t: t[index], table)",
    "setitem": "table.clone().__setitem__(index, 2.0)",
    "take": "vector.take(index)",
    "put": "vector.put(index, long)",
    "take_along_dim": "vector.take_along_dim(index)",
    "bincount": "rg.bincount(index)",
    "bincount weights": "rg.bincount(index, long, minlength=60)",
    "searchsorted": "rg.searchsorted(rg.arange(float(N)), long, sorter=index)",
    "repeat_interleave": "rg.ones(100).repeat_interleave(index[:100])",
    "tensor_split": "vector.tensor_split(index[:50].clone())",
    "max_unpool1d": "F.max_unpool1d(rg.ones(1, 1, N), index.view(1, 1, -1), 2)",
    "max_unpool backward": "grad(lambda x: F.max_unpool1d(x, index.view(1, 1, -1), 2), rg.ones(1, 1, N))",
    "ctc_loss": "F.ctc_loss(rg.zeros(20, 3000, 50), index.view(3000, 20)[:, :3], (20,) * 3000, (3,) * 3000)",
    "ctc_loss lengths": (
        "F.ctc_loss(rg.zeros(20, 3000, 50), rg.ones(3000, 3, dtype=rg.int64), index[:3000], index[:3000])"
    ),
    "mask": "long[mask]",
    "masked_select": "long.masked_select(mask)",
    "masked_scatter": "long.masked_scatter(mask, long)",
    "nonzero": "mask.nonzero()",
    "nonzero of ints": "index.nonzero()",
    "sort": "index.sort()",
    "topk": "index.topk(100)",
    "unique": "index.unique(return_inverse=True, return_counts=True)",
}

DRIVER = """
    mask = rg.zeros(N, dtype=rg.bool)
    def grad(f, x):
        x = x.clone().requires_grad_()
        y = f(x)
        y.backward(rg.ones_like(y))
        return x.grad
    stop = False
    def write():
        value = 0
        while not stop:
            value = (value + 1) % 3
            index.fill_((3, 1 << 40, -(1 << 40))[value])
            mask.fill_(value != 0)
            index.fill_(3)
            mask.fill_(value == 0)
    thread = threading.Thread(target=write)
    thread.start()
    end = time.monotonic() + SECONDS
    runs = errors = 0
    try:
        while time.monotonic() < end:
            runs += 1
            try:
                EXPR
            except (IndexError, RuntimeError, ValueError, MemoryError) as e:
                errors += 1
                assert "internal error" not in str(e), e
    finally:
        stop = True
        thread.join()
    print("runs", runs, "errors", errors)
"""


@pytest.mark.parametrize("name", OPS)
def test_index_is_read_once(name):
    code = textwrap.dedent(SETUP) + textwrap.dedent(DRIVER).replace("EXPR", OPS[name]).replace("SECONDS", str(SECONDS))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{name}: exit {done.returncode}: {done.stderr[-1500:]}"
    assert done.stdout.startswith("runs ")
