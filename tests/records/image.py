"""Records of padding, exchanges between channels and positions, resampling, and sampling at points."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from records.record import ALL, NUMBERS, Array, OpRecord, Refusal, Sample, s, t

SUMS = 64.0  # sums in another order than NumPy's
NO_KERNEL = NotImplementedError


def functional(name: str, reference: Any, samples: tuple[Sample, ...], **facts: Any) -> OpRecord:
    return OpRecord(name=name, reference=reference, samples=samples, **{"method": False, "slack": SUMS} | facts)


def widths(x: Array, pad: Any) -> list[tuple[int, int]]:
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]


def pad(x: Array, pad: Any, mode: str = "constant", value: float | None = None) -> Array:
    around = widths(x, pad)
    if not around:
        return x
    if mode == "constant":
        kept = x[(..., *(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, around, strict=True)))]
        grown = [(max(a, 0), max(b, 0)) for a, b in around]
        return np.pad(kept, grown, constant_values=np.array(value or 0).astype(x.dtype))
    for axis, (a, b) in enumerate(around):
        n = x.shape[axis]
        if not n:
            continue
        places = range(-a, n + b)
        if mode == "circular":
            first, kept = max(-a, 0), n + min(a, 0) + min(b, 0)
            picked = [first + (i - first) % kept for i in places]
        elif mode == "replicate":
            picked = [min(max(i, 0), n - 1) for i in places]
        else:
            picked = [abs(i) if i < n else 2 * (n - 1) - i for i in places]
        x = x.take(picked, axis)
    return x


def pixel_shuffle(x: Array, r: int) -> Array:
    *lead, c, h, w = x.shape
    y = np.zeros((*lead, c // r**2, h * r, w * r), x.dtype)
    for k, i, j in itertools.product(range(c // r**2), range(r), range(r)):
        y[..., k, i::r, j::r] = x[..., k * r**2 + i * r + j, :, :]
    return y


def pixel_unshuffle(x: Array, r: int) -> Array:
    *lead, c, h, w = x.shape
    y = np.zeros((*lead, c * r**2, h // r, w // r), x.dtype)
    for k, i, j in itertools.product(range(c), range(r), range(r)):
        y[..., k * r**2 + i * r + j, :, :] = x[..., k, i::r, j::r]
    return y


def channel_shuffle(x: Array, groups: int) -> Array:
    size = x.shape[1] // groups
    return x[:, [g * size + k for k in range(size) for g in range(groups)]]


def borders(mode: str) -> tuple[Sample, ...]:
    own = (
        s(t(2, 3, 5), (1, 2), mode),
        s(t(3, 5), (2, 1), mode=mode),
        s(t(2, 3, 4, 5), (1, 2, 0, 3), mode),
        s(t(3, 4, 5), (3, 2, 1, 1), mode),
        s(t(1, 2, 3, 4, 5), (1, 2, 3, 1, 2, 1), mode),
        s(t(2, 3, 4, 5), (-1, 2, 1, -2), mode),
        s(t(0, 3, 5), (1, 1), mode),
        s(t(1, 2, 33), (16, 17), mode),
        s(t(1, 2, 4), (1, 2), mode).but(dtypes=NUMBERS if mode != "circular" else ALL),
    )
    return own if mode == "circular" else tuple(row.but(dtypes=row.dtypes or NUMBERS) for row in own)


PADS = (
    s(t(2, 3, 5), (1, 2)),
    s(t(5), (2, 0)),
    s(t(), ()),
    s(t(3, 4), ()),
    s(t(3, 4), (0, 0)),
    s(t(2, 3, 4, 5), (1, 2, 3, 0, 0, 1), value=2.5).but(dtypes=("float64", "float32")),
    s(t(2, 3, 4), (-1, 2, 1, -2), "constant", 3.0),
    s(t(2, 3), (-1, -2), value=1.0),
    s(t(0, 3), (1, 1, 2, 0), value=4.0),
    s(t(33), (1, 0)),
)
RECORDS: list[OpRecord] = [
    functional(
        "nn.functional.pad",
        pad,
        (*PADS, *borders("reflect"), *borders("replicate"), *borders("circular")),
        dtypes=("float64", "float32", "int64", "uint8", "bool"),
        refuses=(
            Refusal(s(t(2, 3), (1,)), RuntimeError, r"divisible by 2"),
            Refusal(s(t(2, 3), (1,) * 6), RuntimeError, r"less than or equal to two times"),
            Refusal(s(t(2, 3), (-2, -2)), RuntimeError, r"length must be non-negative"),
            Refusal(s(t(2, 3), (1, 1), "most"), NotImplementedError, r"Unrecognised padding mode most"),
            Refusal(s(t(2, 3), (1, 1), "reflect", 1.0), RuntimeError, r"doesn't take in value argument"),
            Refusal(s(t(1, 2, 3, 4), (1, 1), "reflect"), NotImplementedError, r"not supported for 4D"),
            Refusal(s(t(4), (1, 1), "replicate"), NotImplementedError, r"not supported for 1D"),
            Refusal(s(t(2, 3), (3, 1), "reflect"), RuntimeError, r"should be less than the corresponding"),
            Refusal(s(t(2, 3), (4, 1), "circular"), RuntimeError, r"wrapping around more than once"),
            Refusal(s(t(2, 3), (-2, -1), "replicate"), RuntimeError, r"too small"),
            Refusal(s(t(2, 3), (-2, -2), "circular"), RuntimeError, r"empty dimension"),
            Refusal(s(t(2, 0), (1, 1), "replicate"), RuntimeError, r"non-zero dimensions"),
            Refusal(s(t(2, 3), (1, 1), "reflect"), NO_KERNEL, r"not implemented for 'Bool'", dtype="bool"),
            Refusal(s(t(2, 3), (1, 1), value=-1), RuntimeError, r"without overflow", dtype="uint8"),
            Refusal(s(t(2, 3), 1.5), TypeError),
        ),
        complex=True,
        halves=0,
    ),
    functional(
        "constant_pad_nd",
        lambda x, p, value=0: pad(x, p, "constant", value),
        (s(t(2, 3, 5), (1, 2)), s(t(2, 3), (-1, 1), 3), s(t(2, 3), (1, 0, 0, 1), value=2.5)),
        refuses=(Refusal(s(t(2, 3), (1,)), RuntimeError, r"must be even"),),
        complex=True,
        halves=0,
    ),
]
SHUFFLES = (
    (
        "pixel_shuffle",
        pixel_shuffle,
        (
            s(t(2, 8, 3, 5), 2),
            s(t(9, 2, 1), 3),
            s(t(1, 2, 4, 2, 3), 2),
            s(t(2, 3, 2, 2), 1),
            s(t(0, 4, 2, 2), 2).but(smooth=False, layouts=()),
        ),
        (
            Refusal(s(t(1, 4, 2, 2), 0), RuntimeError, r"positive upscale_factor"),
            Refusal(s(t(1, 4, 2, 2), 3), RuntimeError, r"divisible by the square"),
            Refusal(s(t(4, 4), 2), RuntimeError, r"at least 3 dimensions"),
            Refusal(s(t(1, 4, 2, 2), 2.0), TypeError),
        ),
    ),
    (
        "pixel_unshuffle",
        pixel_unshuffle,
        (
            s(t(2, 2, 4, 6), 2),
            s(t(1, 6, 3), 3),
            s(t(1, 2, 1, 2, 4), 2),
            s(t(2, 3, 2, 2), 1),
        ),
        (
            Refusal(s(t(1, 4, 2, 2), -1), RuntimeError, r"positive downscale_factor"),
            Refusal(s(t(1, 4, 3, 2), 2), RuntimeError, r"expects height to be divisible"),
            Refusal(s(t(1, 4, 2, 3), 2), RuntimeError, r"expects width to be divisible"),
            Refusal(s(t(4, 4), 2), RuntimeError, r"at least 3 dimensions"),
        ),
    ),
    (
        "channel_shuffle",
        channel_shuffle,
        (s(t(2, 6, 3, 5), 2), s(t(2, 6, 3), 3), s(t(1, 4, 2, 1, 3), 4), s(t(2, 3, 2), 1), s(t(0, 4, 2, 2), 2)),
        (
            Refusal(s(t(1, 4, 2, 2), 0), RuntimeError, r"must be positive"),
            Refusal(s(t(1, 4, 2, 2), 3), RuntimeError, r"must be divisible by groups"),
            Refusal(s(t(4, 4), 2), RuntimeError, r"> 2 dims"),
        ),
    ),
)
for name, reference, samples, refuses in SHUFFLES:
    for path in (f"nn.functional.{name}", name):
        RECORDS.append(
            functional(
                path,
                reference,
                samples,
                dtypes=("float64", "float32", "int64", "bool"),
                refuses=refuses,
                complex=True,
                halves=0,
            )
        )
