"""Rows of the working set of ops: kernels in and out of cache, reductions, indexing, convolution.

Imported for the cases that it adds. A name ends in what is timed: `fwd`, or `fwd + bwd` with a random cotangent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from cases import M4, Setup, Thunk, case

ROWS, COLUMNS = 2048, 512
BIG = ROWS * COLUMNS


def forward(make: Callable[[ModuleType], tuple[Any, ...]], op: Callable[..., Any]) -> Setup:
    """Times `op(m, *make(m))`."""

    def setup(m: ModuleType) -> Thunk:
        xs = make(m)
        return lambda: op(m, *xs)

    return setup


def backward(make: Callable[[ModuleType], tuple[Any, ...]], op: Callable[..., Any]) -> Setup:
    """Times `op` and its gradients: what `make` returns in float32 requires one."""

    def setup(m: ModuleType) -> Thunk:
        xs = make(m)
        leaves = [x for x in xs if x.dtype == m.float32]
        for x in leaves:
            x.requires_grad_()
        y = op(m, *xs)
        g = m.randn(y.shape, dtype=y.dtype)
        return lambda: m.autograd.grad(op(m, *xs), leaves, g)

    return setup


# Elementary functions, in L1 and in L2.

FUNCTIONS = ("exp", "tanh", "sin", "sigmoid", "log")
for name in FUNCTIONS:
    for n in (1000, 100_000):

        def positive(m: ModuleType, n: int = n) -> tuple[Any, ...]:
            return (m.rand(n) + 0.1,)

        def of(m: ModuleType, x: Any, name: str = name) -> Any:
            return getattr(m, name)(x)

        case(f"{name}, {n}", 1.5, work=n, unit="Gelem/s")(forward(positive, of))


# Fresh large outputs.


def chain(m: ModuleType, x: Any) -> Any:
    return ((x * 2.0 + 1.0).tanh() * x - 0.5).exp()


case("exp, 4M, fresh output", 2.0, work=M4, unit="Gelem/s")(forward(lambda m: (m.randn(M4),), lambda m, x: x.exp()))
case("chain of 6 ops, 4M", 2.0, work=M4, unit="Gelem/s")(forward(lambda m: (m.randn(M4),), chain))


# Operands that repeat along rows or columns.


def planes(rows: int, columns: int) -> Callable[[ModuleType], tuple[Any, ...]]:
    return lambda m: (m.randn(rows, columns), m.randn(columns), m.randn(rows, 1))


BROADCAST: dict[str, Callable[..., Any]] = {
    "x * row": lambda m, x, row, column: x * row,
    "x * column": lambda m, x, row, column: x * column,
    "column * row": lambda m, x, row, column: column * row,
    "x - x.mean(1)": lambda m, x, row, column: x - x.mean(1, keepdim=True),
}
for name, repeating in BROADCAST.items():
    for rows, columns in ((1024, 64), (256, 1024)):
        case(f"{name}, {rows}x{columns}, fwd")(forward(planes(rows, columns), repeating))


# Reductions and normalisation over either axis of a matrix.


def matrix(m: ModuleType) -> tuple[Any, ...]:
    return (m.randn(ROWS, COLUMNS),)


def normalised(m: ModuleType, x: Any, w: Any, b: Any) -> Any:
    return m.nn.functional.layer_norm(x, (x.shape[-1],), w, b)


def by_channel(*sizes: int) -> Callable[[ModuleType], tuple[Any, ...]]:
    return lambda m: (m.randn(*sizes), m.ones(sizes[1]), m.zeros(sizes[1]))


def batch_normalised(m: ModuleType, x: Any, w: Any, b: Any) -> Any:
    return m.nn.functional.batch_norm(x, None, None, w, b, training=True)


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda m, x, dim: x.sum(dim),
    "softmax": lambda m, x, dim: x.softmax(dim),
    "var": lambda m, x, dim: x.var(dim),
    "max": lambda m, x, dim: x.max(dim)[0],
}
for name, op in REDUCTIONS.items():
    for dim in (0, 1):

        def along(m: ModuleType, x: Any, op: Callable[..., Any] = op, dim: int = dim) -> Any:
            return op(m, x, dim)

        case(f"{name} over dim {dim}, {ROWS}x{COLUMNS}, fwd", 1.3, work=BIG, unit="Gelem/s")(forward(matrix, along))
        case(f"{name} over dim {dim}, {ROWS}x{COLUMNS}, fwd + bwd", 1.3, work=BIG, unit="Gelem/s")(
            backward(matrix, along)
        )
for name, make, op in (
    ("layer_norm", lambda m: (m.randn(ROWS, COLUMNS), m.ones(COLUMNS), m.zeros(COLUMNS)), normalised),
    ("gelu", matrix, lambda m, x: m.nn.functional.gelu(x)),
):
    case(f"{name}, {ROWS}x{COLUMNS}, fwd", 1.3, work=BIG, unit="Gelem/s")(forward(make, op))
    case(f"{name}, {ROWS}x{COLUMNS}, fwd + bwd", 1.3, work=BIG, unit="Gelem/s")(backward(make, op))
for sizes in ((4096, 256), (64, 32, 28, 28)):
    name, count = "batch_norm, " + "x".join(map(str, sizes)), math.prod(sizes)
    make = by_channel(*sizes)
    case(f"{name}, fwd", 1.3, work=count, unit="Gelem/s")(forward(make, batch_normalised))
    case(f"{name}, fwd + bwd", 1.3, work=count, unit="Gelem/s")(backward(make, batch_normalised))


# Batches of products.

case("bmm, 64x 64x64x64", 1.0, work=2 * 64**4, unit="GFLOP/s")(
    forward(lambda m: (m.randn(64, 64, 64), m.randn(64, 64, 64)), lambda m, a, b: m.bmm(a, b))
)
case("bmm, 64x 64x64x64, fwd + bwd", 1.0, work=6 * 64**4, unit="GFLOP/s")(
    backward(lambda m: (m.randn(64, 64, 64), m.randn(64, 64, 64)), lambda m, a, b: m.bmm(a, b))
)
case("einsum bhqd,bhkd->bhqk, 8x8x128x64", 1.0, work=2 * 64 * 128 * 128 * 64, unit="GFLOP/s")(
    forward(
        lambda m: (m.randn(8, 8, 128, 64), m.randn(8, 8, 128, 64)), lambda m, a, b: m.einsum("bhqd,bhkd->bhqk", a, b)
    )
)


# Convolution, pooling, attention.


def digits(m: ModuleType) -> tuple[Any, ...]:
    return (m.randn(64, 1, 28, 28), m.randn(32, 1, 3, 3), m.randn(32), m.randn(64, 32, 3, 3), m.randn(64))


def two_convolutions(m: ModuleType, x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    f = m.nn.functional
    return f.conv2d(f.relu(f.conv2d(x, w1, b1, padding=1)), w2, b2, padding=1)


case("conv2d 1x28x28 -> 32 -> 64, batch 64, fwd", 1.2)(forward(digits, two_convolutions))
case("conv2d 1x28x28 -> 32 -> 64, batch 64, fwd + bwd", 1.2)(backward(digits, two_convolutions))


def layer(cin: int, cout: int, k: int, side: int, batch: int, **options: int) -> tuple[Any, Any]:
    def make(m: ModuleType) -> tuple[Any, ...]:
        return m.randn(batch, cin, side, side), m.randn(cout, cin // options.get("groups", 1), k, k)

    return make, lambda m, x, w: m.nn.functional.conv2d(x, w, **options)


case("conv2d 64 -> 64, k3, 8x56x56, fwd + bwd")(backward(*layer(64, 64, 3, 56, 8, padding=1)))
case("conv2d 256 -> 64, k1, 8x28x28, fwd + bwd")(backward(*layer(256, 64, 1, 28, 8)))
case("conv2d 64 depthwise, k3, 8x56x56, fwd + bwd")(backward(*layer(64, 64, 3, 56, 8, padding=1, groups=64)))
case("max_pool2d, 64x32x28x28, fwd + bwd")(
    backward(lambda m: (m.randn(64, 32, 28, 28),), lambda m, x: m.nn.functional.max_pool2d(x, 2))
)


def heads(m: ModuleType) -> tuple[Any, ...]:
    return tuple(m.randn(2, 8, 256, 64) for _ in range(3))


def attention(m: ModuleType, q: Any, k: Any, v: Any) -> Any:
    return m.nn.functional.scaled_dot_product_attention(q, k, v)


case("attention, 16 heads of 64, 256 long, fwd")(forward(heads, attention))
case("attention, 16 heads of 64, 256 long, fwd + bwd")(backward(heads, attention))


# Indexing.

N = 10_000


def rows_of(m: ModuleType) -> tuple[Any, ...]:
    return m.randn(N, 64), m.randint(0, N, (N,))


def elements_of(m: ModuleType) -> tuple[Any, ...]:
    return m.randn(1000, 512), m.randint(0, 512, (1000, 512))


INDEXING: dict[str, tuple[Callable[[ModuleType], tuple[Any, ...]], Callable[..., Any]]] = {
    "index_select": (rows_of, lambda m, x, i: x.index_select(0, i)),
    "x[i]": (rows_of, lambda m, x, i: x[i]),
    "gather": (elements_of, lambda m, x, i: x.gather(1, i)),
    "cat": (lambda m: (m.randn(N, 32), m.randn(N, 32)), lambda m, a, b: m.cat((a, b), 1)),
    "where": (
        lambda m: (m.randn(1000, 512) > 0, m.randn(1000, 512), m.randn(1000, 512)),
        lambda m, c, a, b: m.where(c, a, b),
    ),
    "sort": (lambda m: (m.randn(1000, 512),), lambda m, x: x.sort(1)[0]),
    "topk": (lambda m: (m.randn(1000, 512),), lambda m, x: x.topk(10, 1)[0]),
}
for name, (make, op) in INDEXING.items():
    case(f"{name}, fwd", 1.3)(forward(make, op))
    case(f"{name}, fwd + bwd", 1.3)(backward(make, op))
case("max along rows of 28, fwd")(forward(lambda m: (m.randn(50_000, 28),), lambda m, x: x.max(1)[0]))
case("nonzero of 1M, fwd", work=BIG, unit="Gelem/s")(forward(lambda m: (m.randn(BIG) > 0,), lambda m, x: x.nonzero()))


def pair(m: ModuleType) -> tuple[Any, ...]:
    return m.randn(ROWS, COLUMNS), m.randn(ROWS, COLUMNS)


for loss in ("mse_loss", "smooth_l1_loss"):

    def lost(m: ModuleType, x: Any, y: Any, loss: str = loss) -> Any:
        return getattr(m.nn.functional, loss)(x, y)

    case(f"{loss} of 1M, fwd + bwd")(backward(pair, lost))
case("sort, 1M, fwd", 1.3, work=BIG, unit="Gelem/s")(forward(lambda m: (m.randn(BIG),), lambda m, x: x.sort()[0]))
case("topk 10 of 1M, fwd", 1.3, work=BIG, unit="Gelem/s")(
    forward(lambda m: (m.randn(BIG),), lambda m, x: x.topk(10)[0])
)


def table(m: ModuleType) -> tuple[Any, ...]:
    return m.randint(0, N, (32, 128)), m.randn(N, 64)


case("embedding, 32x128 of 10k x 64, fwd", 1.5)(forward(table, lambda m, i, w: m.nn.functional.embedding(i, w)))
case("embedding, 32x128 of 10k x 64, fwd + bwd", 1.5)(backward(table, lambda m, i, w: m.nn.functional.embedding(i, w)))


# What else may be done with a matrix, or with one whose columns are contiguous.


def squares(m: ModuleType) -> tuple[Any, ...]:
    return m.randn(1024, 1024), m.randn(1024, 1024), m.randint(0, 1024, (1024,))


def turned(m: ModuleType) -> tuple[Any, ...]:
    x, y, i = squares(m)
    return x.t(), y.t(), i


MATRIX: dict[str, Callable[..., Any]] = {
    "clamp": lambda m, x, y, i: x.clamp(-1.0, 1.0),
    "nan_to_num": lambda m, x, y, i: x.nan_to_num(),
    "floor_divide": lambda m, x, y, i: x // y,
    "to int32": lambda m, x, y, i: x.int(),
    "to float16": lambda m, x, y, i: x.half(),
    "roll along rows": lambda m, x, y, i: x.roll(3, 1),
    "nansum over dim 1": lambda m, x, y, i: x.nansum(1),
    "cumsum over dim 1": lambda m, x, y, i: x.cumsum(1),
    "index_select of columns": lambda m, x, y, i: x.index_select(1, i),
    "index_add of columns": lambda m, x, y, i: x.index_add(1, i, y),
    "x[:, i]": lambda m, x, y, i: x[:, i],
}
TURNED: dict[str, Callable[..., Any]] = {
    "mse_loss": lambda m, x, y, i: m.nn.functional.mse_loss(x, y),
    "logsumexp over dim 1": lambda m, x, y, i: x.logsumexp(1),
    "glu": lambda m, x, y, i: m.nn.functional.glu(x),
    "nansum over dim 1": lambda m, x, y, i: x.nansum(1),
}
for name, op in MATRIX.items():
    case(f"{name}, 1024x1024, fwd", 0.95)(forward(squares, op))
for name, op in TURNED.items():
    case(f"{name}, 1024x1024 transposed, fwd", 0.95)(forward(turned, op))
case("dot of 1M bfloat16, fwd")(forward(lambda m: (m.randn(BIG).bfloat16(),), lambda m, x: m.dot(x, x)))


# Halves and integers.


def halves(m: ModuleType, dtype: str = "bfloat16") -> tuple[Any, ...]:
    return tuple(m.randn(1024, 1024).to(getattr(m, dtype)) for _ in range(2))


HALVES: dict[str, Callable[..., Any]] = {
    "x + y": lambda m, x, y: x + y,
    "abs": lambda m, x, y: x.abs(),
    "relu": lambda m, x, y: x.relu(),
    "addcmul": lambda m, x, y: m.addcmul(x, x, y),
    "amax": lambda m, x, y: x.amax(),
    "mv": lambda m, x, y: m.mv(x, y[0]),
}
for dtype in ("bfloat16", "float16"):
    for name, op in HALVES.items():
        case(f"{name}, 1024x1024 {dtype}, fwd", 0.95)(forward(partial(halves, dtype=dtype), op))


def integers(m: ModuleType) -> tuple[Any, ...]:
    return tuple(m.randint(1, 100, (BIG,)) for _ in range(2))


INTEGERS: dict[str, Callable[..., Any]] = {
    "x > y": lambda m, x, y: x > y,
    "x % y": lambda m, x, y: x % y,
    "dot": lambda m, x, y: m.dot(x, y),
    "argmax": lambda m, x, y: x.argmax(),
    "(x > 50).sum": lambda m, x, y: (x > 50).sum(),
}
for name, op in INTEGERS.items():
    case(f"{name}, 1M int64, fwd", 0.95)(forward(integers, op))
case("bucketize, 1M among 60, fwd", 0.95)(
    forward(lambda m: (m.randn(BIG), m.arange(-3.0, 3.0, 0.1)), lambda m, x, edges: m.bucketize(x, edges))
)
