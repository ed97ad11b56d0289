"""Race many ops beside torch on whole tensors, and list those that are slower: rows that nobody chose.

    python benches/sweep.py --torch-site DIR [--threads N] [--dtype NAME] [--backward] [--below RATIO] [--only REGEX]
        [SHAPE ...]

A shape is `1024x1024` or `20000x5x4`, with a `T` behind it for a contiguous tensor with its axes in reverse or an `S`
for a slice of one that leaves out two of the last axis, or `own` for the calls of `calls.py`, whose operands have
shapes of their own. A row whose ratio, torch's time over ours, is below RATIO is timed again, longer, before it is
printed. What a dtype or a shape does not allow is left out.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

import calls
from compare import REST, load
from timing import QUICK, Thunk, race

OWN = "own"


def words(text: str) -> list[str]:
    return text.split()


SHAPES = words("1024x1024 2048x512 64x4096 100000x8 8x100000 1024x1024T 300x300 50x50 20000x5x4 20000x20S own")
UNARY = words("""abs neg exp exp2 expm1 log log1p log2 log10 sqrt rsqrt reciprocal square sin cos tan asin acos atan
sinh cosh tanh asinh acosh atanh sigmoid erf erfc erfinv lgamma digamma floor ceil round trunc frac sign sgn relu isnan
isfinite logical_not logit i0 sinc nan_to_num deg2rad angle signbit""")
BINARY = words("""add sub mul div pow atan2 maximum minimum fmax fmin remainder fmod eq lt ge logical_and hypot copysign
logaddexp floor_divide nextafter heaviside xlogy""")
LAYERS = words("""gelu silu elu softplus leaky_relu hardswish mish logsigmoid hardtanh selu softsign glu normalize""")
LOSSES = words("""mse_loss l1_loss smooth_l1_loss binary_cross_entropy_with_logits kl_div cosine_similarity
pairwise_distance""")
ALONG = words("""sum mean prod amax amin max min argmax argmin var std norm logsumexp median cumsum cumprod softmax
log_softmax sort argsort any count_nonzero nansum nanmean cummax cummin logcumsumexp""")
WHOLE = words("""sum mean prod amax amin max min argmax argmin var std norm median count_nonzero nansum""")

# Of a module, two tensors, a vector of positions along each axis, and a tensor of positions along each axis.
Call = Callable[[ModuleType, Any, Any, Any, Any], object]

CALLS: dict[str, Call] = {
    "x + 1.5": lambda m, x, y, i, g: x + 1.5,
    "x**2": lambda m, x, y, i, g: x**2,
    "2**x": lambda m, x, y, i, g: 2.0**x,
    "x > 0": lambda m, x, y, i, g: x > 0,
    "x + row": lambda m, x, y, i, g: x + x[0],
    "x * column": lambda m, x, y, i, g: x * x[:, :1],
    "x - mean": lambda m, x, y, i, g: x - x.mean(1, keepdim=True),
    "clamp": lambda m, x, y, i, g: x.clamp(-1, 1),
    "addcmul": lambda m, x, y, i, g: m.addcmul(x, x, y),
    "lerp": lambda m, x, y, i, g: m.lerp(x, y, 0.3),
    "clone": lambda m, x, y, i, g: x.clone(),
    "fill_": lambda m, x, y, i, g: x.clone().fill_(1.0),
    "transposed copy": lambda m, x, y, i, g: x.t().contiguous(),
    "tril": lambda m, x, y, i, g: x.tril(),
    "repeat": lambda m, x, y, i, g: x.repeat(2, 1),
    "pad": lambda m, x, y, i, g: m.nn.functional.pad(x, (1, 1, 1, 1)),
    "every second column": lambda m, x, y, i, g: x[:, ::2].contiguous(),
    "nonzero": lambda m, x, y, i, g: (x > 1).nonzero(),
    "x[x > 0]": lambda m, x, y, i, g: x[x > 0],
    "masked_fill": lambda m, x, y, i, g: x.masked_fill(x > 0, 0.0),
    "where": lambda m, x, y, i, g: m.where(x > 0, x, y),
    "(x > 0).sum": lambda m, x, y, i, g: (x > 0).sum(),
    "randn": lambda m, x, y, i, g: m.randn(x.shape),
    "dropout": lambda m, x, y, i, g: m.nn.functional.dropout(x, 0.5),
    "x[i]": lambda m, x, y, i, g: x[i[0]],
    "x[:, i]": lambda m, x, y, i, g: x[:, i[1]],
    "take": lambda m, x, y, i, g: x.take(g[0]),
    "layer_norm": lambda m, x, y, i, g: m.nn.functional.layer_norm(x, x.shape[1:]),
    "batch_norm": lambda m, x, y, i, g: m.nn.functional.batch_norm(x, None, None, training=True),
    "dot": lambda m, x, y, i, g: m.dot(x.reshape(-1), y.reshape(-1)),
    "mv": lambda m, x, y, i, g: m.mv(x, y[0]),
    "mv, transposed": lambda m, x, y, i, g: m.mv(x.t(), y[:, 0]),
    "outer": lambda m, x, y, i, g: m.outer(x[:, 0], y[0]),
    "einsum ij,ij->i": lambda m, x, y, i, g: m.einsum("ij,ij->i", x, y),
    "equal": lambda m, x, y, i, g: m.equal(x, x.clone()),
    "bucketize": lambda m, x, y, i, g: m.bucketize(x, m.arange(-3.0, 3.0, 0.1)),
    "bincount": lambda m, x, y, i, g: m.bincount(g[1].reshape(-1)),
}


def named(calls: dict[str, Call], axes: int) -> Iterator[tuple[str, Call]]:
    """All calls on tensors of so many axes: those of the lists by their names, the others as they stand."""
    for op in UNARY:
        yield op, lambda m, x, y, i, g, op=op: getattr(m, op)(x)
    for op in BINARY:
        yield op, lambda m, x, y, i, g, op=op: getattr(m, op)(x, y)
    for op in LAYERS:
        yield op, lambda m, x, y, i, g, op=op: getattr(m.nn.functional, op)(x)
    for op in LOSSES:
        yield op, lambda m, x, y, i, g, op=op: getattr(m.nn.functional, op)(x, y)
    for dtype in ("float64", "float16", "bfloat16", "int32", "int64", "bool"):
        yield f"to {dtype}", lambda m, x, y, i, g, dtype=dtype: x.to(getattr(m, dtype))
    for op in WHOLE:
        yield f"{op}()", lambda m, x, y, i, g, op=op: getattr(x, op)()
    for d in range(axes):
        for op in ALONG:
            yield f"{op}({d})", lambda m, x, y, i, g, op=op, d=d: getattr(x, op)(dim=d)
        for op in ("flip", "roll", "diff", "repeat_interleave", "topk", "kthvalue"):
            more = {"flip": (d,), "roll": (3, d), "diff": (1, d)}.get(op, (2, d))
            yield f"{op}({d})", lambda m, x, y, i, g, op=op, more=more: getattr(x, op)(*more)
        for op in ("cat", "stack"):
            yield f"{op}({d})", lambda m, x, y, i, g, op=op, d=d: getattr(m, op)([x, y], d)
        for op in ("index_select", "gather"):
            yield f"{op}({d})", lambda m, x, y, i, g, op=op, d=d: getattr(x, op)(d, i[d] if op != "gather" else g[d])
        for op in ("index_add", "index_copy"):
            yield f"{op}({d})", lambda m, x, y, i, g, op=op, d=d: getattr(x, op)(d, i[d], y)
        for op in ("scatter", "scatter_add"):
            yield f"{op}({d})", lambda m, x, y, i, g, op=op, d=d: getattr(x, op)(d, g[d], y)
    yield from calls.items()


def sizes_of(shape: str) -> list[int]:
    """The sizes that a shape names, in memory order."""
    return [int(size) for size in shape.rstrip("TS").split("x")]


def operands(m: ModuleType, shape: str, dtype: str) -> tuple[Any, ...]:
    """What a call of `CALLS` is given besides the module."""
    both = [m.randn(*sizes_of(shape)) * 0.9 for _ in range(2)]
    if "int" in dtype:
        both = [(x * 20).round() for x in both]
        both[1] = m.where(both[1] == 0, m.ones(()), both[1])  # a divisor
    x, y = (x.to(getattr(m, dtype)) for x in both)
    if shape.endswith("T"):
        x, y = (t.permute(*reversed(range(t.ndim))) for t in (x, y))
    if shape.endswith("S"):
        x, y = x[..., 1:-1], y[..., :-2]
    sizes = tuple(x.shape)
    return x, y, [m.randint(0, n, (n,)) for n in sizes], [m.randint(0, n, sizes) for n in sizes]


def own_operands(m: ModuleType, of: tuple[calls.Operand, ...], dtype: str) -> tuple[Any, ...]:
    """What a call of `calls.py` is given besides the module."""

    def make(operand: calls.Operand) -> Any:
        if callable(operand):
            made = operand(m)
            return made.to(getattr(m, dtype)) if isinstance(made, m.nn.Module) else made
        return (m.randn(*operand) * 0.9).to(getattr(m, dtype))

    return tuple(make(operand) for operand in of)


@dataclass(frozen=True)
class Row:
    """A call, and what makes its operands for a module."""

    name: str
    call: calls.Call
    make: Callable[[ModuleType], tuple[Any, ...]]

    def thunk(self, m: ModuleType, backward: bool) -> Thunk:
        """The call on fresh operands, or the call and its gradients."""
        m.manual_seed(0)
        call, given = self.call, self.make(m)
        if not backward:
            return lambda: call(m, *given)
        inputs = [x.requires_grad_() for x in given if isinstance(x, m.Tensor) and x.is_floating_point()]
        cotangent = m.randn_like(calls.first(call(m, *given)))

        def run() -> None:
            m.autograd.grad(calls.first(call(m, *given)), inputs, cotangent, allow_unused=True)

        return run

    def works(self, m: ModuleType, backward: bool) -> bool:
        try:
            self.thunk(m, backward)()
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError, NotImplementedError):
            return False
        return True


def rows(shape: str, dtype: str) -> Iterator[Row]:
    if shape == OWN:
        for name, (call, of) in calls.CALLS.items():
            yield Row(name, call, lambda m, of=of: own_operands(m, of, dtype))
    else:
        for name, call in named(CALLS, len(sizes_of(shape))):
            yield Row(name, call, lambda m: operands(m, shape, dtype))


def main() -> int:
    parser = argparse.ArgumentParser(description="List the ops that are slower than torch's.")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", default=SHAPES)
    parser.add_argument("--torch-site", metavar="DIR", help="a site-packages folder that holds torch")
    parser.add_argument("--threads", type=int, default=1, help="threads that an op may use (default: 1)")
    parser.add_argument("--dtype", default="float32", help="of both tensors (default: float32)")
    parser.add_argument("--backward", action="store_true", help="gradients too")
    parser.add_argument("--below", type=float, default=0.97, help="the least ratio that is not listed (default: 0.97)")
    parser.add_argument("--only", metavar="REGEX", type=re.compile, default=re.compile(""), help="ops that match")
    args = parser.parse_args()
    sys.path += [args.torch_site] if args.torch_site else []
    ours, torch = load("retrograd", args.threads), load("torch", args.threads)
    if ours is None or torch is None:
        print("both retrograd and torch are needed: --torch-site names a folder that holds torch", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")
    quick = replace(QUICK, heats=1, seconds=0.002, rest=0.0 if args.threads == 1 else REST)
    sides = {"retrograd": ours, "torch": torch}
    timed = slower = 0
    for shape in args.shapes:
        for row in rows(shape, args.dtype):
            if not args.only.search(row.name) or not all(row.works(m, args.backward) for m in sides.values()):
                continue
            print(f"\r\x1b[K{shape} {row.name}", end="", file=sys.stderr, flush=True)
            setups = {side: partial(row.thunk, m, args.backward) for side, m in sides.items()}
            for plan in (quick, replace(quick, heats=3, rounds=10)):
                best = race(setups, plan)
                ratio = best["torch"].seconds / best["retrograd"].seconds
                if ratio >= args.below:
                    break
            else:
                slower += 1
                own, theirs = (best[side].seconds * 1e6 for side in sides)
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
                print(f"{shape:12} {row.name:34} {own:10.2f} us, torch {theirs:10.2f} us: {ratio:.2f}x", flush=True)
            timed += 1
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print(f"{slower} of {timed} rows are below {args.below}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
