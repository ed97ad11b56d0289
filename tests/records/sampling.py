"""Records of resampling, and of sampling at points."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from records.image import NO_KERNEL, functional
from records.pool import adaptive_avg
from records.record import Array, Domain, OpRecord, Refusal, Sample, s, t


def source(o: int, n: int, m: int, factor: float | None, align: bool) -> float:
    if align:
        return o * (n - 1) / (m - 1) if m > 1 else 0.0
    return (o + 0.5) * (1 / factor if factor else n / m) - 0.5


def cubic_weights(u: float) -> list[float]:
    a = -0.75
    near = [1.0, 0.0, -(a + 3), a + 2]
    far = [-4 * a, 8 * a, -5 * a, a]
    poly = np.polynomial.polynomial.polyval
    return [float(poly(u + 1, far)), float(poly(u, near)), float(poly(1 - u, near)), float(poly(2 - u, far))]


def row(o: int, n: int, m: int, factor: float | None, mode: str, align: bool) -> Array:
    """The weights of the elements in element `o` of the result, along one axis."""
    weights = np.zeros(n)
    if mode.startswith("nearest"):
        at = (o + 0.5 * (mode != "nearest")) * (1 / factor if factor else n / m)
        weights[min(math.floor(at), n - 1)] = 1
        return weights
    at = source(o, n, m, factor, align)
    if mode == "bicubic":
        first = math.floor(at)
        for k, w in enumerate(cubic_weights(at - first)):
            weights[min(max(first - 1 + k, 0), n - 1)] += w
        return weights
    at = max(at, 0.0)
    first = min(math.floor(at), n - 1)
    weights[first] += 1 - (at - first)
    weights[min(first + 1, n - 1)] += at - first
    return weights


def interpolate(
    x: Array,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Array:
    rank = x.ndim - 2
    plane = x.shape[2:]
    factors = [None] * rank if scale_factor is None else np.broadcast_to(scale_factor, rank).tolist()
    sizes = (
        np.broadcast_to(size, rank)
        if scale_factor is None
        else [int(n * f) for n, f in zip(plane, factors, strict=True)]
    )
    if mode == "area":
        return np.asarray(adaptive_avg(rank)(x, tuple(map(int, sizes))))
    if recompute_scale_factor:
        factors = [None] * rank
    for axis, (m, factor) in enumerate(zip(sizes, factors, strict=True), 2):
        n = x.shape[axis]
        matrix = np.array([row(o, n, m, factor, mode, bool(align_corners)) for o in range(m)])
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


def nearest(*args: Any) -> tuple[Sample, ...]:
    line, plane, block = t(2, 3, 5), t(2, 1, 3, 4), t(1, 2, 2, 3, 2)
    rows = [
        s(line, 8, mode=args[0]),
        s(line, 10, mode=args[0]),
        s(plane, scale_factor=1.5, mode=args[0]),
        s(plane, (2, 7), mode=args[0]),
        s(block, (3, 2, 5), mode=args[0]),
        s(t(0, 3, 5), 4, mode=args[0]),
    ]
    return tuple(rows)


def smooth(shape: tuple[int, ...], mode: str, sizes: tuple[int, ...]) -> tuple[Sample, ...]:
    x = t(*shape)
    return (
        s(x, sizes, mode=mode),
        s(x, sizes, mode=mode, align_corners=True),
        s(x, 1, mode=mode, align_corners=True),
        s(x, shape[2:], mode=mode),
        s(x, scale_factor=1.6, mode=mode),
        s(x, scale_factor=0.7, mode=mode),
        s(x, None, 1.6, mode, False, True),
    )


INTERPOLATIONS = (
    *nearest("nearest"),
    *nearest("nearest-exact"),
    s(t(1, 2, 3, 4), 5).but(dtypes=("uint8",)),
    *smooth((2, 2, 5), "linear", (8,)),
    *smooth((1, 2, 3, 4), "bilinear", (5, 3)),
    s(t(1, 1, 2, 17), (4, 34), mode="bilinear"),
    *smooth((1, 2, 3, 4), "bicubic", (5, 3)),
    *smooth((1, 1, 2, 3, 2), "trilinear", (3, 2, 4)),
    s(t(2, 2, 5), 3, mode="area"),
    s(t(1, 2, 4, 5), 3, mode="area"),
    s(t(1, 2, 4, 5), scale_factor=0.5, mode="area"),
    s(t(1, 1, 2, 4, 5), 2, mode="area"),
)
ONE = t(1, 1, 3, 4)
RECORDS: list[OpRecord] = [
    functional(
        "nn.functional.interpolate",
        interpolate,
        INTERPOLATIONS,
        refuses=(
            Refusal(s(ONE), ValueError, r"either size or scale_factor should be defined"),
            Refusal(s(ONE, 3, 2.0), ValueError, r"only one of size or scale_factor"),
            Refusal(s(ONE, (3, 3, 3)), ValueError, r"same number of spatial dimensions"),
            Refusal(s(ONE, scale_factor=(3.0, 2.0, 1.0)), ValueError, r"same number of spatial dimensions"),
            Refusal(s(ONE, 3, align_corners=True), ValueError, r"align_corners option"),
            Refusal(s(ONE, 3, recompute_scale_factor=True), ValueError, r"recompute_scale_factor is not meaningful"),
            Refusal(s(ONE, 3, mode="most"), NotImplementedError, r"got most"),
            Refusal(s(ONE, 3, mode="linear"), NotImplementedError, r"linear mode needs 3D input"),
            Refusal(s(t(3, 4), 3), (NotImplementedError, ValueError)),
            Refusal(s(ONE, 0), RuntimeError, r"should be greater than 0"),
            Refusal(s(ONE, scale_factor=0.01), RuntimeError, r"should be greater than 0"),
            Refusal(s(t(1, 0, 3, 4), 3), RuntimeError, r"Non-empty 4D"),
            Refusal(s(ONE, 3, antialias=True), ValueError, r"restricted to bilinear"),
            Refusal(s(ONE, 3), NO_KERNEL, r"not implemented for 'Long'", dtype="int64"),
            Refusal(s(ONE, 3, mode="bicubic"), NO_KERNEL, r"not implemented for 'Long'", dtype="int64"),
        ),
        halves=0,
    ),
]


# ---- samples at points


def brought_inside(at: float, n: int, padding: str, align: bool) -> float:
    if padding == "zeros":
        return at
    if padding == "reflection":
        low, span = (0.0, n - 1.0) if align else (-0.5, float(n))
        if span == 0:
            return 0.0
        turn = abs(at - low) % (2 * span)
        at = low + min(turn, 2 * span - turn)
    return min(max(at, 0.0), n - 1.0)


def point_weights(x: float, n: int, mode: str, padding: str, align: bool) -> Array:
    at = (x + 1) / 2 * (n - 1) if align else ((x + 1) * n - 1) / 2
    weights = np.zeros(n)

    def add(place: float, weight: float) -> None:
        if 0 <= place <= n - 1:
            weights[round(place)] += weight

    if mode == "bicubic":
        first = math.floor(at)
        for k, w in enumerate(cubic_weights(at - first)):
            add(brought_inside(first - 1.0 + k, n, padding, align), w)
        return weights
    at = brought_inside(at, n, padding, align)
    if mode == "nearest":
        add(round(at), 1)
        return weights
    add(math.floor(at), 1 - (at - math.floor(at)))
    add(math.floor(at) + 1, at - math.floor(at))
    return weights


def grid_sample(
    x: Array, grid: Array, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> Array:
    plane = x.shape[2:]
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for n, *place in np.ndindex(*grid.shape[:-1]):
        v = x[n]
        for coordinate, size in zip(grid[(n, *place)], plane[::-1], strict=True):
            v = v @ point_weights(float(coordinate), size, mode, padding_mode, align_corners)
        y[(n, slice(None), *place)] = v
    return y


POINTS = Domain(-1.3, 1.3, distinct=True)
MODES = tuple(itertools.product(("bilinear", "bicubic", "nearest"), ("zeros", "border", "reflection"), (False, True)))
PLANE, BLOCK = t(2, 2, 3, 4), t(1, 2, 2, 3, 4)
GRIDS = (
    *(s(PLANE, t(2, 2, 3, 2, domain=POINTS), *modes).but(sound=False) for modes in MODES),
    *(s(BLOCK, t(1, 2, 1, 3, 3, domain=POINTS), *modes).but(sound=False) for modes in MODES if modes[0] != "bicubic"),
    s(t(1, 1, 1, 1), t(1, 1, 2, 2, domain=POINTS), "bilinear", "reflection", True).but(sound=False),
    s(t(0, 1, 2, 2), t(0, 1, 2, 2), align_corners=True).but(sound=False),
    s(t(1, 2, 2, 2), t(1, 0, 2, 2), align_corners=True).but(sound=False),
)
SAMPLES_OF = {"bilinear": 0, "nearest": 1, "bicubic": 2, "zeros": 0, "border": 1, "reflection": 2}


def numbered(rows: Iterable[Sample]) -> tuple[Sample, ...]:
    """With the modes as numbers."""
    return tuple(row.but(args=(*row.args[:2], *(SAMPLES_OF.get(a, a) for a in row.args[2:]))) for row in rows)


def by_number(x: Array, grid: Array, mode: int, padding: int, align: bool) -> Array:
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    return grid_sample(x, grid, modes[mode], paddings[padding], align)


def affine_grid(theta: Array, size: Any, align_corners: bool = False) -> Array:
    plane = size[2:]
    axes = [(np.arange(n) * 2 - (n - 1)) / (max(n - 1, 1) if align_corners else n) for n in plane]
    base = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(plane)], -1)
    return np.asarray(np.einsum("...k,ndk->n...d", base, theta))


BAD_POINTS = (
    Refusal(s(t(2, 1, 3, 3), t(1, 1, 1, 2), 0, 0, True), RuntimeError, r"same batch size"),
    Refusal(s(t(1, 1, 3, 3), t(1, 1, 1, 3), 0, 0, True), RuntimeError, r"in last dimension"),
    Refusal(s(t(1, 1, 3, 0), t(1, 1, 1, 2), 0, 0, True), RuntimeError, r"non-empty spatial"),
)
BLOCKS = tuple(row for row in GRIDS if len(row.args[0].shape) == 5)
RECORDS += [
    functional(
        "nn.functional.grid_sample",
        grid_sample,
        GRIDS,
        slack=1024.0,
        refuses=(
            Refusal(s(PLANE, t(2, 1, 1, 2), "most", "zeros", True), ValueError, r"'most'"),
            Refusal(s(PLANE, t(2, 1, 1, 2), "nearest", "most", True), ValueError, r"'most'"),
            Refusal(s(BLOCK, t(1, 1, 1, 1, 3), "bicubic", "zeros", True), RuntimeError, r"only supports 4D"),
            Refusal(
                s(PLANE, t(2, 1, 1, 2, dtype="float32"), "nearest", "zeros", True),
                RuntimeError,
                r"expected scalar type",
            ),
            Refusal(
                s(PLANE, t(2, 1, 1, 2), "nearest", "zeros", True),
                NO_KERNEL,
                r"not implemented for 'Long'",
                dtype="int64",
            ),
        ),
        halves=0,
    ),
    functional("grid_sampler", by_number, numbered(GRIDS[:2]), slack=1024.0, refuses=BAD_POINTS, halves=0),
    functional("grid_sampler_2d", by_number, numbered(GRIDS[:2]), slack=1024.0, halves=0),
    functional("grid_sampler_3d", by_number, numbered(BLOCKS[:2]), slack=1024.0, halves=0),
    functional(
        "nn.functional.affine_grid",
        affine_grid,
        (
            s(t(2, 2, 3), (2, 1, 3, 4), True),
            s(t(2, 2, 3), (2, 1, 3, 4), False),
            s(t(1, 3, 4), (1, 1, 2, 3, 2), True),
            s(t(1, 3, 4), (1, 1, 2, 3, 1), align_corners=False),
        ),
        refuses=(
            Refusal(s(t(2, 3, 4), (2, 1, 3, 4), True), ValueError, r"Nx2x3"),
            Refusal(s(t(2, 2, 3), (2, 1, 3), True), NotImplementedError, r"only supports 4D and 5D"),
            Refusal(s(t(2, 2, 3), (3, 1, 3, 4), True), RuntimeError, r"3.*2"),
            Refusal(s(t(2, 2, 3), (2, 1, 0, 4), False), ValueError, r"non-zero, positive"),
            Refusal(s(t(2, 2, 3), (2, 1, 3, 4), True), ValueError, r"floating point", dtype="int64"),
        ),
        halves=0,
    ),
    functional(
        "affine_grid_generator",
        affine_grid,
        (s(t(2, 2, 3), (2, 1, 3, 4), True), s(t(1, 3, 4), (1, 1, 2, 3, 1), False)),
        halves=0,
    ),
]


def quiet(name: str) -> Any:
    """A function that warns of being deprecated, without the warning."""

    def call(rg: Any, *args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(rg.nn.functional, name)(*args, **kwargs)

    return call


RECORDS += [
    functional(
        "nn.functional.upsample",
        interpolate,
        (s(t(1, 2, 3), 5), s(ONE, None, 2.0, "bilinear", True)),
        call=quiet("upsample"),
        halves=0,
    ),
    functional(
        "nn.functional.upsample_nearest",
        interpolate,
        (s(ONE, 5), s(ONE, scale_factor=2)),
        call=quiet("upsample_nearest"),
        halves=0,
    ),
    functional(
        "nn.functional.upsample_bilinear",
        lambda x, size=None, scale_factor=None: interpolate(x, size, scale_factor, "bilinear", True),
        (s(ONE, 5), s(ONE, scale_factor=2)),
        call=quiet("upsample_bilinear"),
        halves=0,
    ),
]
