"""What the lines of a program can be, each with NumPy's version of it. The simplest come first, as programs shrink."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from .program import Op, Suffix


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def smooth(f: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """`f`, with infinity where all operands are 0, where it has no derivative: such a step is left out."""
    return lambda *xs: np.where(sum(np.abs(x) for x in xs) == 0, np.inf, f(*xs))


# Name, NumPy's function, and what reverse mode keeps.
UNARY: list[tuple[str, Callable[..., np.ndarray], str]] = [
    ("neg", np.negative, ""),
    ("sin", np.sin, "in"),
    ("exp", np.exp, "out"),
    ("square", np.square, "in"),
    ("tanh", np.tanh, "out"),
    ("sigmoid", sigmoid, "out"),
    ("cos", np.cos, "in"),
    ("atan", np.arctan, "in"),
    ("expm1", np.expm1, "out"),
    ("exp2", np.exp2, "out"),
    ("tan", np.tan, "out"),
    ("sqrt", smooth(np.sqrt), "out"),
    ("reciprocal", np.reciprocal, "out"),
    ("rsqrt", lambda x: 1 / np.sqrt(x), "out"),
    ("log1p", np.log1p, "in"),
    ("asinh", np.arcsinh, "in"),
    ("abs", np.abs, "in"),
    ("relu", lambda x: np.maximum(x, 0), "out"),
]
BINARY: list[tuple[str, Callable[..., np.ndarray], str]] = [
    ("add", np.add, ""),
    ("mul", np.multiply, "in"),
    ("sub", np.subtract, ""),
    ("div", np.divide, "in"),
    ("atan2", smooth(np.arctan2), "in"),
    ("hypot", smooth(np.hypot), "in out"),
    ("copysign", lambda a, b: np.where(a == 0, np.inf, np.copysign(a, b)), "in out"),
]

FRESH = [
    Op("{a}.clone()", np.copy),
    Op("rg.zeros_like({a})", np.zeros_like),
    Op("{a} * 1.0", np.copy),
    Op("rg.empty_like({a}).copy_({a})", np.copy),
    Op("{a}.new_ones({a}.shape)", np.ones_like),
]

ONE = [
    *(Op(f"{{a}}.{name}()", f, keeps) for name, f, keeps in UNARY),
    Op("{a} + 1.0", lambda a: a + 1),
    Op("1.5 - {a}", lambda a: 1.5 - a),
    Op("{a} * 2.0", lambda a: a * 2),
    Op("{a} / 4.0", lambda a: a / 4),
    Op("{a} ** 3", lambda a: a**3, "in"),
    Op("{a}.clamp(-0.5, 0.5)", lambda a: np.clip(a, -0.5, 0.5), "in"),
    Op("{a}.masked_fill({a} > 0.1, 0.5)", lambda a: np.where(a > 0.1, 0.5, a)),
    Op("rg.nn.functional.silu({a})", lambda a: a * sigmoid(a), "in"),
]

TWO = [
    *(Op(f"{{a}}.{name}({{b}})", f, keeps) for name, f, keeps in BINARY),
    Op("rg.maximum({a}, {b})", np.maximum, "in"),
    Op("rg.minimum({a}, {b})", np.minimum, "in"),
    Op("rg.lerp({a}, {b}, 0.25)", lambda a, b: a + 0.25 * (b - a)),
    Op("rg.where({a} > 0.1, {a}, {b})", lambda a, b: np.where(a > 0.1, a, b)),
    Op("rg.addcmul({a}, {b}, {b}, value=0.5)", lambda a, b: a + 0.5 * b * b, "in"),
]


def logsumexp(a: np.ndarray, axis: int) -> np.ndarray:
    return np.log(np.exp(a).sum(axis))


def softmax(a: np.ndarray, axis: int) -> np.ndarray:
    return np.exp(a) / np.exp(a).sum(axis, keepdims=True)


SUM = Op("{a}.sum()", np.sum)


def along(shape: tuple[int, ...]) -> Iterator[Op]:
    """Sums of all kinds, and what goes along an axis."""
    yield SUM
    yield Op("{a}.mean()", np.mean)
    yield Op("{a}.prod()", np.prod, "in out")
    for d, n in enumerate(shape):
        yield Op(f"{{a}}.sum({d})", partial(np.sum, axis=d))
        yield Op(f"{{a}}.cumsum({d})", partial(np.cumsum, axis=d))
        yield Op(f"{{a}}.softmax({d})", partial(softmax, axis=d), "out")
        yield Op(f"{{a}}.mean({d}, keepdim=True)", partial(np.mean, axis=d, keepdims=True))
        yield Op(f"{{a}}.prod({d})", partial(np.prod, axis=d), "in out")
        yield Op(f"{{a}}.cumprod({d})", partial(np.cumprod, axis=d), "in out")
        yield Op(f"{{a}}.logsumexp({d})", partial(logsumexp, axis=d), "in out")
        yield Op(f"{{a}}.amax({d})", partial(np.max, axis=d), "in out")
        yield Op(f"{{a}}.flip({d})", partial(np.flip, axis=d))
        yield Op(f"{{a}}.roll(1, {d})", partial(np.roll, shift=1, axis=d))
        yield Op(
            f"{{a}}.index_select({d}, rg.tensor([{n - 1}, 0, 0]))", partial(np.take, indices=[n - 1, 0, 0], axis=d)
        )
        if n > 1:
            yield Op(f"{{a}}.var({d})", partial(np.var, axis=d, ddof=1), "in")
            yield Op(f"{{a}}.diff(dim={d})", partial(np.diff, axis=d))


def joined(a: tuple[int, ...], b: tuple[int, ...]) -> Iterator[Op]:
    """What takes two tensors of these shapes, besides elementwise ops."""
    if a == b:
        yield Op("rg.stack([{a}, {b}])", lambda x, y: np.stack([x, y]))
        if a:
            yield Op("rg.cat([{a}, {b}], -1)", lambda x, y: np.concatenate([x, y], -1))
    if a and b and a[-1] == b[-2:][0] and (len(a) <= 2 or len(b) <= 2):
        yield Op("{a} @ {b}", np.matmul, "in")
    if len(a) == len(b) == 1:
        yield Op("rg.outer({a}, {b})", np.outer, "in")


def views(shape: tuple[int, ...], row_major: bool) -> Iterator[Suffix]:
    """The views of a tensor; `row_major` says that its elements surely follow each other in memory."""
    dims = len(shape)
    yield Suffix("[...]", lambda p: p)
    for d, n in enumerate(shape):
        if n:
            yield Suffix("[0]" if d == 0 else f".select({d}, 0)", partial(np.take, indices=0, axis=d))
            yield Suffix(f".select({d}, -1)", partial(np.take, indices=-1, axis=d))
        if n > 1:
            yield Suffix(f".narrow({d}, 1, {n - 1})", partial(cut, axis=d, piece=slice(1, None)))
            yield Suffix(f"[{':, ' * d}::2]", partial(cut, axis=d, piece=slice(None, None, 2)))
            yield Suffix(f".split(1, {d})[-1]", partial(cut, axis=d, piece=slice(-1, None)), True)
            yield Suffix(f".unfold({d}, 2, 1)", partial(windows, axis=d))
            yield Suffix(f".unbind({d})[0]", partial(np.take, indices=0, axis=d), True)
        if n == 1:
            yield Suffix(f".squeeze({d})", partial(np.squeeze, axis=d))
            yield Suffix(
                f".expand({', '.join(map(str, (*shape[:d], 2, *shape[d + 1 :])))})",
                partial(np.repeat, repeats=2, axis=d),
            )
        if n == 4:
            yield Suffix(f".unflatten({d}, (2, 2))", partial(folded, axis=d))
    yield Suffix(f".view({shape})", lambda p: p)
    yield Suffix("[None]", lambda p: p[None])
    yield Suffix(f".unsqueeze({dims})", lambda p: p[..., None])
    yield Suffix(f".expand(2, {', '.join(['-1'] * dims)})" if dims else ".expand(2)", lambda p: np.stack([p, p]))
    if dims == 2:
        yield Suffix(".t()", np.transpose)
    if dims > 1:
        yield Suffix(".transpose(0, -1)", lambda p: np.swapaxes(p, 0, -1))
        yield Suffix(f".permute({(*range(1, dims), 0)})", lambda p: np.moveaxis(p, 0, -1))
        yield Suffix(".diagonal()", np.diagonal)
    if row_major:
        yield Suffix(".view(-1)", np.ravel)
        yield Suffix(".flatten()", np.ravel)


def cut(places: np.ndarray, axis: int, piece: slice) -> np.ndarray:
    return places[(slice(None),) * axis + (piece,)]


def windows(places: np.ndarray, axis: int) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(places, 2, axis)


def folded(places: np.ndarray, axis: int) -> np.ndarray:
    return places.reshape(*places.shape[:axis], 2, 2, *places.shape[axis + 1 :])


def parts(shape: tuple[int, ...]) -> Iterator[Suffix]:
    """What stands on the left of `=` besides views: rows picked by a tensor or a list."""
    if shape and shape[0] > 1:
        yield Suffix("[rg.tensor([1, 0])]", lambda p: p[[1, 0]])
        yield Suffix("[[0]]", lambda p: p[[0]])
    if len(shape) > 1:
        yield Suffix("[..., rg.tensor([0])]", lambda p: p[..., [0]])


def shapings(shape: tuple[int, ...]) -> Iterator[tuple[str, Callable[[np.ndarray], np.ndarray]]]:
    """Ops that give a tensor another shape in place."""
    if len(shape) <= 2:
        yield ".t_()", np.transpose
    yield ".unsqueeze_(0)", lambda p: p[None]
    yield ".squeeze_()", np.squeeze
    if shape:
        yield ".transpose_(0, -1)", lambda p: np.swapaxes(p, 0, -1)
        yield ".swapaxes_(0, -1)", lambda p: np.swapaxes(p, 0, -1)


def writes_alone(shape: tuple[int, ...]) -> Iterator[tuple[str, Op]]:
    """Writes without other tensors: the statement, and the op that gives the new values."""
    yield "{t}.mul_(2.0)", Op("{t} * 2.0", lambda t: t * 2)
    yield "{t}.add_(1.0)", Op("{t} + 1.0", lambda t: t + 1)
    yield "{t}.zero_()", Op("rg.zeros_like({t})", np.zeros_like)
    yield "{t}.fill_(1.5)", Op("rg.full_like({t}, 1.5)", lambda t: np.full_like(t, 1.5))
    yield "{t}.pow_(2)", Op("{t} ** 2", np.square)
    yield "{t}.clamp_(-0.5, 0.5)", Op("{t}.clamp(-0.5, 0.5)", lambda t: np.clip(t, -0.5, 0.5))
    yield "{t}.masked_fill_({t} > 0.1, 0.5)", Op("{t}.masked_fill({t} > 0.1, 0.5)", lambda t: np.where(t > 0.1, 0.5, t))
    for name, f, keeps in UNARY:
        yield f"{{t}}.{name}_()", Op(f"{{t}}.{name}()", f, keeps if keeps == "out" else "")
    yield "{t}.mul_({t})", Op("{t} * {t}", np.square)
    if shape:
        yield "{t}.cumsum_(0)", Op("{t}.cumsum(0)", partial(np.cumsum, axis=0))
        yield "{t}.cumprod_(-1)", Op("{t}.cumprod(-1)", partial(np.cumprod, axis=-1), "out")
        yield "{t}.index_fill_(0, rg.tensor([0]), 2.0)", Op("{t}.index_fill(0, rg.tensor([0]), 2.0)", first_is_two)
    if len(shape) > 1:
        yield "{t}.tril_()", Op("{t}.tril()", np.tril)


def writes_of(shape: tuple[int, ...], operand: tuple[int, ...]) -> Iterator[tuple[str, Op]]:
    """Writes of a tensor that broadcasts to the shape of what is written."""
    yield "{t}.copy_({a})", Op("{a}.broadcast_to({t}.shape)", lambda t, a: np.broadcast_to(a, t.shape))
    for name, f, keeps in BINARY:
        yield f"{{t}}.{name}_({{a}})", Op(f"{{t}}.{name}({{a}})", f, keeps)
    yield "{t}.lerp_({a}, 0.25)", Op("rg.lerp({t}, {a}, 0.25)", lambda t, a: t + 0.25 * (a - t))
    yield "{t}.addcmul_({a}, {a})", Op("rg.addcmul({t}, {a}, {a})", lambda t, a: t + a * a, "in")
    yield (
        "{t}.masked_fill_({a} > 0.1, 2.0)",
        Op("{t}.masked_fill({a} > 0.1, 2.0)", lambda t, a: np.where(a > 0.1, 2.0, t)),
    )
    if operand == ():
        yield "{t}.fill_({a})", Op("{a}.broadcast_to({t}.shape)", lambda t, a: np.broadcast_to(a, t.shape))
    if shape and shape == operand:
        n = shape[0]
        zeros, back = [0] * n, list(range(n))[::-1]
        yield (
            f"{{t}}.index_add_(0, rg.tensor({zeros}), {{a}})",
            Op(f"{{t}}.index_add(0, rg.tensor({zeros}), {{a}})", all_to_the_first),
        )
        yield (
            f"{{t}}.index_copy_(0, rg.tensor({back}), {{a}})",
            Op(f"{{t}}.index_copy(0, rg.tensor({back}), {{a}})", lambda t, a: a[::-1]),
        )
        yield (
            f"{{t}}.index_put_((rg.tensor({zeros}),), {{a}}, accumulate=True)",
            Op(f"{{t}}.index_put((rg.tensor({zeros}),), {{a}}, accumulate=True)", all_to_the_first),
        )


def all_to_the_first(t: np.ndarray, a: np.ndarray) -> np.ndarray:
    t = t.copy()
    t[0] += a.sum(0)
    return t


def first_is_two(t: np.ndarray) -> np.ndarray:
    t = t.copy()
    t[:1] = 2.0
    return t


# Writes to what is in brackets: `v[0] = a`, `v[0] += a`.
ASSIGNED = ("{t} = {a}", Op("{a}.broadcast_to({t}.shape)", lambda t, a: np.broadcast_to(a, t.shape)))
AUGMENTED = [
    ("{t} += {a}", Op("{t} + {a}", np.add)),
    ("{t} *= {a}", Op("{t} * {a}", np.multiply, "in")),
    ("{t} -= {a}", Op("{t} - {a}", np.subtract)),
]
