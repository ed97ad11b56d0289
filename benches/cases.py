"""What is timed. A case takes a torch-shaped module `m`, sets up, and returns the callable to time.

The budget of a case is the least ratio torch time / our time. Where the design states two times (torch's and ours), the
ratio of the two is the budget, because times change from machine to machine and ratios hardly do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from types import ModuleType
from typing import Any

Thunk = Callable[[], object]
Setup = Callable[[ModuleType], Thunk]

# Noise: torch raced against itself on a busy two-core machine, eight races a row, gave 0.96 to 1.03 (add_), 0.95 to
# 1.06 (sum), 0.94 to 1.02 (mm 64x576x3136), 0.89 to 1.01 (mm f64 1024), and 0.92 for add_ in another run; twice the
# heats did not narrow it. So parity is 0.95, and a ratio within some 5 % of its budget wants a second run.
PARITY = 0.95
GEMM = 0.95
CHAINED = 3.0
# Small ops repeat inside the callable: a Python call costs some 20 ns, a fifth of a 100 ns op; a turn of a loop 5 ns.
TIGHT = 100
CHAIN = 100
M10 = 10_000_000
M4 = 4_000_000


@dataclass(frozen=True)
class Case:
    """One row: `per` ops per call, and `work` (in `unit` times 1e9) per op for the rate column."""

    name: str
    setup: Setup
    at_least: float | None = None
    per: int = 1
    work: float = 0.0
    unit: str = ""


CASES: list[Case] = []


def case(
    name: str, at_least: float | None = None, *, per: int = 1, work: float = 0.0, unit: str = ""
) -> Callable[[Setup], Setup]:
    """Add the decorated set-up to `CASES`."""

    def add(setup: Setup) -> Setup:
        CASES.append(Case(name, setup, at_least, per, work, unit))
        return setup

    return add


def leaf(m: ModuleType, *shape: int) -> Any:
    """Small random values that require a gradient."""
    return m.randn(*shape).mul_(0.1).requires_grad_()


def classes(m: ModuleType, n: int, count: int) -> Any:
    return m.tensor([i % count for i in range(n)])


# Overhead: four floats, so that time is dispatch, recording and the engine.


@case("add, 4 floats, plain", 0.87 / 0.12, per=TIGHT)
def add_plain(m: ModuleType) -> Thunk:
    a, b = m.randn(4), m.randn(4)

    def run() -> None:
        for _ in repeat(None, TIGHT):
            a + b

    return run


@case("add, 4 floats, recorded", 1.48 / 0.18, per=TIGHT)
def add_recorded(m: ModuleType) -> Thunk:
    a, b = leaf(m, 4), m.randn(4)

    def run() -> None:
        for _ in repeat(None, TIGHT):
            a + b

    return run


@case("x[0]", 0.97 / 0.15, per=TIGHT)
def select_first(m: ModuleType) -> Thunk:
    x = m.randn(4)

    def run() -> None:
        for _ in repeat(None, TIGHT):
            x[0]

    return run


def chain(x: Any, w: Any) -> Any:
    for _ in repeat(None, CHAIN):
        x = x * w
    return x


@case("backward, per node of a chain", 3.7 / 0.25, per=CHAIN)
def backward_node(m: ModuleType) -> Thunk:
    x, w, g = leaf(m, 4), m.ones(4), m.ones(4)
    y = chain(x, w)
    return lambda: y.backward(g, retain_graph=True)


@case("backward, call with one node")
def backward_call(m: ModuleType) -> Thunk:
    x, w, g = leaf(m, 4), m.ones(4), m.ones(4)
    y = x * w
    return lambda: y.backward(g, retain_graph=True)


@case("chain of 100 mul, fwd + bwd", 8.0)
def mul_chain(m: ModuleType) -> Thunk:
    x, w, g = leaf(m, 4), m.ones(4), m.ones(4)

    def run() -> None:
        x.grad = None
        chain(x, w).backward(g)

    return run


@case("custom Function, fwd + bwd", 27 / 4)
def custom_function(m: ModuleType) -> Thunk:
    class Scale(m.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.save_for_backward(w)
            return x * w

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (w,) = ctx.saved_tensors
            return g * w, None

    x, w, g = leaf(m, 4), m.ones(4), m.ones(4)

    def run() -> None:
        x.grad = None
        Scale.apply(x, w).backward(g)

    return run


@case("MLP step, batch 32, hidden 64", 184 / 40)
def mlp_step(m: ModuleType) -> Thunk:
    return mlp(m, 32, 64)


def mlp(m: ModuleType, batch: int, width: int) -> Thunk:
    """A training step: forward, backward and the update of the parameters."""
    f = m.nn.functional
    x, target = m.randn(batch, width), classes(m, batch, 10)
    w1, b1, w2, b2 = params = leaf(m, width, width), leaf(m, width), leaf(m, 10, width), leaf(m, 10)

    def run() -> None:
        hidden = f.linear(x, w1, b1).relu()
        f.cross_entropy(f.linear(hidden, w2, b2), target).backward()
        with m.no_grad():
            for p in params:
                p.add_(p.grad, alpha=-1e-3)
                p.grad = None

    return run


# Derivatives of small functions.


@case("jacobian of tanh(W @ x), 16 inputs", 8.0)
def jacobian(m: ModuleType) -> Thunk:
    w, x, f = m.randn(16, 16), m.randn(16), m.autograd.functional
    return lambda: f.jacobian(lambda v: m.tanh(w @ v), x)


@case("hessian of sum tanh(W @ x), 16 inputs", 8.0)
def hessian(m: ModuleType) -> Thunk:
    w, x, f = m.randn(16, 16), m.randn(16), m.autograd.functional
    return lambda: f.hessian(lambda v: m.tanh(w @ v).sum(), x)


@case("hvp of sum tanh(W @ x), 16 inputs", 4.0)
def hvp(m: ModuleType) -> Thunk:
    w, x, v, f = m.randn(16, 16), m.randn(16), m.randn(16), m.autograd.functional
    return lambda: f.hvp(lambda u: m.tanh(w @ u).sum(), x, v)


def small_net(m: ModuleType, p: Any, x: Any) -> Any:
    return ((m.tanh(x @ p["w1"] + p["b1"]) @ p["w2"]) ** 2).sum()


def rosenbrock(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@case("func.grad of sum tanh(W @ x), 16 inputs", 3.0)
def func_grad(m: ModuleType) -> Thunk:
    w, x, f = m.randn(16, 16), m.randn(16), m.func
    return lambda: f.grad(lambda v: m.tanh(w @ v).sum())(x)


@case("func.hessian of sum tanh(W @ x), 16 inputs", 3.0)
def func_hessian(m: ModuleType) -> Thunk:
    w, x, f = m.randn(16, 16), m.randn(16), m.func
    return lambda: f.hessian(lambda v: m.tanh(w @ v).sum())(x)


@case("func.hessian of Rosenbrock, 100 inputs", 1 / 0.2)
def func_hessian_rosenbrock(m: ModuleType) -> Thunk:
    x, f = m.randn(100, dtype=m.float64), m.func
    return lambda: f.hessian(rosenbrock)(x)


@case("vmap(grad) of a small net, 64 samples", 3.0)
def vmap_grad(m: ModuleType) -> Thunk:
    p, x, f = {"w1": m.randn(16, 16), "b1": m.randn(16), "w2": m.randn(16, 1)}, m.randn(64, 16), m.func
    return lambda: m.vmap(f.grad(lambda p, x: small_net(m, p, x)), in_dims=(None, 0))(p, x)


@case("jvp of grad (hvp), 16 inputs", 3.0)
def func_hvp(m: ModuleType) -> Thunk:
    w, x, v, f = m.randn(16, 16), m.randn(16), m.randn(16), m.func
    return lambda: f.jvp(f.grad(lambda u: m.tanh(w @ u).sum()), (x,), (v,))


@case("Laplacian of Rosenbrock, 100 inputs", 3.0)
def laplacian(m: ModuleType) -> Thunk:
    """Torch has no function for it: the trace of its Hessian."""
    x, f = m.randn(100, dtype=m.float64), m.func
    if hasattr(f, "laplacian"):
        return lambda: f.laplacian(rosenbrock)(x)
    return lambda: f.hessian(rosenbrock)(x).diagonal().sum()


@case("forward mode, dual through 5 ops", 6.0)
def dual(m: ModuleType) -> Thunk:
    x, t, f = m.randn(4), m.ones(4), m.autograd.forward_ad

    def run() -> None:
        with f.dual_level():
            d = f.make_dual(x, t)
            f.unpack_dual((d * d + d).tanh().exp() * d)

    return run


@case("gradcheck of tanh(x @ x), 5x5", 8.0)
def check_gradients(m: ModuleType) -> Thunk:
    x = m.randn(5, 5, dtype=m.float64, requires_grad=True)
    return lambda: m.autograd.gradcheck(lambda x: m.tanh(x @ x), (x,))


@case("6th derivative by repeated grad", 5.0)
def sixth_derivative(m: ModuleType) -> Thunk:
    x, grad = m.full((1,), 0.3, requires_grad=True), m.autograd.grad

    def run() -> None:
        y = x.sin().exp()
        for _ in range(6):
            (y,) = grad(y, x, create_graph=True)

    return run


# Bandwidth: bytes read and written by the op itself.


@case("add, 10M f32, fresh output", 2.0, work=12 * M10, unit="GB/s")
def add_fresh(m: ModuleType) -> Thunk:
    a, b = m.ones(M10), m.ones(M10)
    return lambda: a + b


@case("add_, 10M f32, in place", PARITY, work=12 * M10, unit="GB/s")
def add_in_place(m: ModuleType) -> Thunk:
    a, b = m.ones(M10), m.zeros(M10)
    return lambda: a.add_(b)


@case("sum, 4M f32", PARITY, work=4 * M4, unit="GB/s")
def sum_all(m: ModuleType) -> Thunk:
    x = m.ones(M4)
    return lambda: x.sum()


# Pointwise ops of many elements: time is traffic with memory, forward and backward.


def six_ops(m: ModuleType, x: Any) -> Any:
    return ((x * 2.0 + 1.0).tanh() * x - 0.5).exp()


def silu_by_hand(m: ModuleType, x: Any) -> Any:
    return x * x.sigmoid()


def gelu_by_hand(m: ModuleType, x: Any) -> Any:
    return 0.5 * x * (1.0 + (0.7978845608 * (x + 0.044715 * x**3)).tanh())


def there_and_back(f: Callable[[ModuleType, Any], Any]) -> Setup:
    def setup(m: ModuleType) -> Thunk:
        x, g = leaf(m, M4), m.ones(M4)

        def run() -> None:
            x.grad = None
            f(m, x).backward(g)

        return run

    return setup


def back_alone(f: Callable[[ModuleType, Any], Any]) -> Setup:
    def setup(m: ModuleType) -> Thunk:
        x, g = leaf(m, M4), m.ones(M4)
        y = f(m, x)

        def run() -> None:
            x.grad = None
            y.backward(g, retain_graph=True)

        return run

    return setup


for f, what in (
    (six_ops, "chain of 6 pointwise ops"),
    (silu_by_hand, "x * sigmoid(x)"),
    (gelu_by_hand, "gelu by hand"),
):
    case(f"{what}, 4M, fwd + bwd", CHAINED if f is six_ops else None)(there_and_back(f))
    case(f"{what}, 4M, bwd")(back_alone(f))


# Matrix products, m x k x n. "T" marks an operand that is the transposed view of a contiguous one.


def gemm(dtype: str, rows: int, inner: int, cols: int, form: str) -> Setup:
    def setup(m: ModuleType) -> Thunk:
        def operand(r: int, c: int, layout: str) -> Any:
            of = getattr(m, dtype)
            return m.randn(r, c, dtype=of) if layout == "N" else m.randn(c, r, dtype=of).t()

        a, b, mm = operand(rows, inner, form[0]), operand(inner, cols, form[1]), m.mm
        return lambda: mm(a, b)

    return setup


GEMM_SHAPES = [(n, n, n, "NN") for n in (16, 64, 256, 512, 1024)]
GEMM_SHAPES += [(32, 64, 64, form) for form in ("NN", "NT", "TN")]
GEMM_SHAPES += [(64, 576, 3136, "NN")]
for dtype, short in (("float32", "f32"), ("float64", "f64")):
    for r, k, c, form in GEMM_SHAPES:
        add_case = case(f"mm {short} {r}x{k}x{c} {form}", GEMM, work=2 * r * k * c, unit="GFLOP/s")
        add_case(gemm(dtype, r, k, c, form))


def factored(op: str, batch: int, n: int, dtype: str) -> Setup:
    """Forward and backward of an op on a batch of positive-definite matrices."""

    def setup(m: ModuleType) -> Thunk:
        of = getattr(m, dtype)
        x = m.randn(batch, n, n, dtype=of)
        a = (x @ x.mT / n + m.eye(n, dtype=of)).requires_grad_()
        b, linalg = m.randn(batch, n, n, dtype=of), m.linalg
        if op == "solve":
            return lambda: linalg.solve(a, b).backward(b)
        if op == "det":
            g = m.ones(batch, dtype=of)
            return lambda: linalg.det(a).backward(g)
        run = getattr(linalg, op)
        return lambda: run(a).backward(b)

    return setup


# Batches of small matrices, and large ones.
for op in ("cholesky", "solve", "inv", "det"):
    for batch, n, budget in ((64, 8, 3.0), (64, 32, 2.0), (1, 256, 1.0), (1, 1024, 0.7)):
        for dtype, short in (("float32", "f32"), ("float64", "f64")):
            case(f"linalg.{op} {short} {batch}x{n}x{n}, fwd + bwd", budget)(factored(op, batch, n, dtype))


# For information: rows without a budget.


@case("softmax, 256x1024", work=256 * 1024, unit="Gelem/s")
def softmax(m: ModuleType) -> Thunk:
    x = m.randn(256, 1024)
    return lambda: m.softmax(x, -1)


@case("layer_norm, 256x1024", work=256 * 1024, unit="Gelem/s")
def layer_norm(m: ModuleType) -> Thunk:
    x, w, b, f = m.randn(256, 1024), m.ones(1024), m.zeros(1024), m.nn.functional
    return lambda: f.layer_norm(x, (1024,), w, b)


@case("layer_norm, 256x1024, fwd + bwd", work=256 * 1024, unit="Gelem/s")
def layer_norm_backward(m: ModuleType) -> Thunk:
    x, w, b, g, f = leaf(m, 256, 1024), leaf(m, 1024), leaf(m, 1024), m.ones(256, 1024), m.nn.functional
    return lambda: f.layer_norm(x, (1024,), w, b).backward(g)


@case("gelu, 64K", work=65536, unit="Gelem/s")
def gelu(m: ModuleType) -> Thunk:
    x, f = m.randn(65536), m.nn.functional
    return lambda: f.gelu(x)


@case("gelu tanh, 64K", work=65536, unit="Gelem/s")
def gelu_tanh(m: ModuleType) -> Thunk:
    x, f = m.randn(65536), m.nn.functional
    return lambda: f.gelu(x, approximate="tanh")


@case("cross_entropy, 256x1000", work=256 * 1000, unit="Gelem/s")
def cross_entropy(m: ModuleType) -> Thunk:
    x, target, f = m.randn(256, 1000), classes(m, 256, 1000), m.nn.functional
    return lambda: f.cross_entropy(x, target)


@case("cross_entropy, 256x1000, fwd + bwd", work=256 * 1000, unit="Gelem/s")
def cross_entropy_backward(m: ModuleType) -> Thunk:
    x, target, f = leaf(m, 256, 1000), classes(m, 256, 1000), m.nn.functional
    return lambda: f.cross_entropy(x, target).backward()
