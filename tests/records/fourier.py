"""Records of Fourier transforms, those of windows of a signal, and the windows of `signal.windows`."""

from dataclasses import replace
from typing import Any

import numpy as np

from records.create import F64, I64, made, once
from records.made import cosines, kaiser
from records.record import ALL, COMPLEX, FLOATS, Array, OpRecord, Refusal, Sample, given, s, t

BAD_NORM = Refusal(s(t(3), norm="q"), RuntimeError, r'Invalid normalization mode: "q"')
ONE_AXIS = (
    s(t(8)),
    s(t(7)),
    s(t(2)),
    s(t(3, 5)),
    s(t(3, 5), dim=0),
    s(t(2, 3, 4), dim=-2, norm="ortho"),
    s(t(6), norm="forward"),
    s(t(6), norm="backward"),
    s(t(5), 3),
    s(t(5), 8),
    s(t(4, 3), n=6, dim=0, norm="ortho"),
    s(t(5, 4), n=2, dim=0),
    s(t(2, 17, 18), dim=1),
    s(t(3, 6, 2, 2), dim=-3),
    s(t(16)),
    s(t(33, 31)),
    s(t(1009)).but(smooth=False),
    s(t(40, 1000), dim=0).but(smooth=False),
    s(t(3, 2048)).but(smooth=False),
)
EMPTY = (s(t(0, 4)).but(sound=False),)
LENGTH_ONE = (s(t(1)), s(t(3, 1)), s(t(1, 3), dim=0), s(t(4, 3), 1))
SEVERAL = (
    s(t(3, 4)),
    s(t(2, 3, 4)),
    s(t(5, 4), norm="ortho"),
    s(t(5, 4), norm="forward"),
    s(t(2, 3, 5), dim=(0, 1)),
    s(t(2, 3, 5), dim=(2, 0)),
    s(t(3, 4), s=(2, 6)),
    s(t(4, 2, 3), s=(-1, 3), dim=(0, -1)),
    s(t(3, 17, 18), dim=(-1, -2)),
    s(t(3, 4), dim=(0,)),
    s(t(4, 33, 20)).but(smooth=False),
)


def prepared(x: Array) -> Array:
    """As a transform takes it: integers become float32."""
    return x if x.dtype.kind in "fc" else x.astype(np.float32)


def one(name: str) -> Any:
    def reference(x: Array, n: Any = None, dim: int = -1, norm: Any = None) -> Array:
        return np.asarray(getattr(np.fft, name)(prepared(x), n, dim, norm))

    return reference


def several(name: str, by_default: Any) -> Any:
    """One axis after the other."""

    def reference(x: Array, s: Any = None, dim: Any = by_default, norm: Any = None) -> Array:
        x = prepared(x)
        count = len(s) if s is not None else x.ndim
        dims = [d % x.ndim for d in (dim if dim is not None else range(x.ndim - count, x.ndim))]
        half = name in ("irfft", "hfft")
        sizes = [None if n == -1 else n for n in s] if s is not None else [None] * len(dims)
        if name in ("fft", "ifft"):
            order = [(name, d, n) for d, n in zip(dims, sizes, strict=True)]
        else:
            rest = "ifft" if name in ("irfft", "ihfft") else "fft"
            order = [(rest, d, n) for d, n in zip(dims[:-1], sizes[:-1], strict=True)]
            order.insert(len(order) if half else 0, (name, dims[-1], sizes[-1]))
        for step, d, n in order:
            x = np.asarray(getattr(np.fft, step)(x, n, d, norm))
        return x

    return reference


def transform(name: str, samples: tuple[Sample, ...], refuses: tuple[Refusal, ...], **facts: Any) -> OpRecord:
    """Of numbers of any kind, or of real ones alone."""
    real = name.removesuffix("2").removesuffix("n") in ("rfft", "ihfft")
    wrong = Refusal(s(t(4, 4, dtype="float16")), RuntimeError, r"Unsupported dtype Half")
    merged: dict[str, Any] = {
        "reference": several(name[:-1], (-2, -1) if name[-1] == "2" else None) if name[-1] in "2n" else one(name),
        "result": "reference",
        "dtypes": ALL,
        "method": False,
        "out": True,
        "complex": not real,
        # Half spectra stand for twice their length: sums of up to 4,094 numbers, which may be as large.
        # An error is one of the norm of all numbers: some 560 where 1009 of them are the same.
        "slack": 4096.0 if name.startswith("hfft") else 1024.0,
    }
    return OpRecord(
        name=f"fft.{name}",
        samples=samples,
        refuses=(*refuses, wrong, BAD_NORM if name[-1] != "2" else BAD_NORM_OF_TWO),
        **merged | facts,
    )


BAD_NORM_OF_TWO = Refusal(s(t(3, 3), norm="q"), RuntimeError, r'Invalid normalization mode: "q"')


def of_one(name: str) -> OpRecord:
    half = name in ("irfft", "hfft")
    real = name in ("rfft", "ihfft")
    refuses = [
        Refusal(s(t(3), 0), RuntimeError, r"Invalid number of data points \(0\) specified"),
        Refusal(s(t(3), -1), RuntimeError, r"Invalid number of data points \(-1\) specified"),
        Refusal(s(t(2, 0)), RuntimeError, r"Invalid number of data points \((0|-2)\) specified"),
        Refusal(s(t(3), dim=1), IndexError, r"Dimension out of range .*\[-1, 0\], but got 1"),
        Refusal(s(t()), IndexError, r"Dimension specified as -1 but tensor has no dimensions"),
    ]
    if half:
        refuses.append(Refusal(s(t(1)), RuntimeError, r"Invalid number of data points \(0\) specified"))
    if real:
        refuses.append(Refusal(s(t(3)), RuntimeError, f"{name} expects a real input tensor", dtype="complex64"))
    return transform(name, (*ONE_AXIS, *EMPTY, *(() if half else LENGTH_ONE)), tuple(refuses))


def of_several(name: str) -> OpRecord:
    both = name[-1] == "2"
    real = name[:-1] in ("rfft", "ihfft")
    shape = r"When given, dim and shape arguments must have the same length"
    refuses = [
        Refusal(s(t(3, 4), (0, 2)), RuntimeError, r"Invalid number of data points \(0\) specified"),
        Refusal(s(t(3, 4), (2, -2)), RuntimeError, r"Invalid number of data points \(-2\) specified"),
        Refusal(s(t(3, 0)), RuntimeError, r"Invalid number of data points \(0\) specified"),
        Refusal(s(t(3, 4), dim=(0, 2)), IndexError, r"Dimension out of range .*\[-2, 1\], but got 2"),
        Refusal(s(t(3, 4), dim=(0, -2)), RuntimeError, r"FFT dims must be unique"),
        Refusal(s(t(3, 4), (2, 2), (0,)), RuntimeError, shape),
    ]
    if both:
        refuses.append(Refusal(s(t(3, 4), (2, 2, 2)), RuntimeError, shape))
        refuses.append(Refusal(s(t()), IndexError, r"Dimension specified as -2 but tensor has no dimensions"))
    else:
        says = r"Got shape with 3 values but input tensor only has 2 dimensions"
        refuses.append(Refusal(s(t(3, 4), (2, 2, 2)), RuntimeError, says))
    if name[:-1] not in ("fft", "ifft"):
        says = rf"{name[:-1]}n must transform at least one axis"
        refuses.append(Refusal(s(t(3, 4), dim=()), RuntimeError, says))
    if real:
        says = r"rfftn expects a real-valued input" if name[0] == "r" else r"Only supports floating-point dtypes"
        refuses.append(Refusal(s(t(3, 3)), RuntimeError, says, dtype="complex64"))
    return transform(name, SEVERAL, tuple(refuses))


def shifts(inverse: bool) -> Any:
    def reference(x: Array, dim: Any = None) -> Array:
        return np.asarray((np.fft.ifftshift if inverse else np.fft.fftshift)(x, dim))

    return reference


def shift(name: str) -> OpRecord:
    return OpRecord(
        name=f"fft.{name}",
        reference=shifts(name[0] == "i"),
        dtypes=ALL,
        complex=True,
        halves=0,
        method=False,
        samples=(s(t(4)), s(t(5)), s(t(3, 4)), s(t(3, 4), 0), s(t(2, 3, 5), dim=(0, -1)), s(t(0, 3)), s(t(1))),
        refuses=(
            Refusal(s(t(2, 3), 2), IndexError, r"Dimension out of range .*\[-2, 1\], but got 2"),
            Refusal(s(t()), RuntimeError, r"`shifts` required"),
            Refusal(s(t(), 0), IndexError, r"Dimension specified as 0 but tensor has no dimensions"),
        ),
    )


def framed(x: Array, n: int, hop: int, width: int, window: Any, aligned: bool) -> Array:
    """Windows of a signal, (.., windows, n)."""
    before = (n - width) // 2
    around = np.zeros(n, window.dtype if window is not None else x.dtype)
    around[before : before + width] = 1 if window is None else window
    if aligned:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(before, n - width - before)])
    starts = range(0, x.shape[-1] - n + 1, hop)
    return np.stack([x[..., i : i + n] for i in starts], -2) * around


def stft(
    x: Array,
    n: int,
    hop: Any = None,
    width: Any = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: Any = None,
    return_complex: Any = None,
    align_to_window: Any = None,
) -> Array:
    if center:
        mode: Any = {"replicate": "edge"}.get(pad_mode, pad_mode)
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n // 2, n // 2)], mode=mode)
    frames = framed(x, n, hop or n // 4, width or n, window, bool(align_to_window))
    if onesided is None:
        onesided = frames.dtype.kind != "c"
    y = (np.fft.rfft if onesided else np.fft.fft)(frames, norm="ortho" if normalized else None)
    y = np.swapaxes(y, -1, -2)
    return np.stack([y.real, y.imag], -1) if return_complex is False else np.asarray(y)


def istft(
    z: Array,
    n: int,
    hop: Any = None,
    width: Any = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: Any = None,
    length: Any = None,
    return_complex: bool = False,
) -> Array:
    hop, width = hop or n // 4, width or n
    z = np.swapaxes(z, -1, -2)
    norm = "ortho" if normalized else None
    frames = np.fft.ifft(z, norm=norm) if return_complex else np.fft.irfft(z[..., : n // 2 + 1], n, norm=norm)
    before = (n - width) // 2
    around = np.zeros(n, frames.dtype if window is None else window.dtype)
    around[before : before + width] = 1 if window is None else window
    frames = frames * around
    count = frames.shape[-2]
    whole = n + hop * (count - 1)
    y = np.zeros((*frames.shape[:-2], whole), frames.dtype)
    weights = np.zeros(whole, around.dtype)
    for i in range(count):
        y[..., i * hop : i * hop + n] += frames[..., i, :]
        weights[i * hop : i * hop + n] += around**2
    start = n // 2 if center else 0
    end = start + length if length is not None else whole - (n // 2 if center else 0)
    y = y[..., start:end] / weights[start:end]
    return np.pad(y, [(0, 0)] * (y.ndim - 1) + [(0, max(end - whole, 0))])


WINDOW = given(np.linspace(0.4, 1.3, 8), "float64")
NARROW = given(np.linspace(0.4, 1.3, 5), "float64")
WIDE = ("complex128",)
SPECTRUM = t(5, 4, dtype="complex128")

STFT = OpRecord(
    name="stft",
    reference=stft,
    result="reference",
    dtypes=FLOATS,
    slack=256.0,
    samples=(
        s(t(20), 8, window=WINDOW, return_complex=True),
        s(t(2, 20), 8, 3, 8, WINDOW, return_complex=True),
        s(t(20), 8, 2, 5, NARROW, True, "constant", return_complex=True),
        s(t(20), 8, 2, 5, NARROW, False, return_complex=True, align_to_window=True),
        s(t(20), 8, 2, 5, NARROW, False, return_complex=True, align_to_window=False),
        s(t(20), 8, 4, 6, pad_mode="replicate", normalized=True, return_complex=True),
        s(t(17), 7, window=None, onesided=False, return_complex=True),
        s(t(20), 8, window=WINDOW, center=False, return_complex=False),
        s(t(2, 9), 4, return_complex=False),
        s(t(20), 8, window=WINDOW).but(dtypes=COMPLEX),
        s(t(2, 20), 8, normalized=True).but(dtypes=COMPLEX),
    ),
    refuses=(
        Refusal(s(t(20), 8), RuntimeError, r"requires the return_complex parameter be given for real inputs"),
        Refusal(s(t(20), 0, return_complex=True), RuntimeError, r"expected 0 < n_fft < 20, but got n_fft=0"),
        Refusal(
            s(t(20), 50, center=False, return_complex=True),
            RuntimeError,
            r"stft\(torch.DoubleTensor\[20\], n_fft=50, hop_length=12, win_length=50, window=None, normalized=0, "
            r"onesided=None, return_complex=1, align_to_window=None\) : expected 0 < n_fft < 20, but got n_fft=50",
        ),
        Refusal(s(t(20), 8, 0, return_complex=True), RuntimeError, r"expected hop_length > 0, but got hop_length=0"),
        Refusal(
            s(t(20), 8, 2, 9, return_complex=True),
            RuntimeError,
            r"expected 0 < win_length <= n_fft, but got win_length=9",
        ),
        Refusal(
            s(t(20), 8, 2, 4, WINDOW, return_complex=True),
            RuntimeError,
            r"window tensor of size equal to win_length=4, but got window with size \[8\]",
        ),
        Refusal(s(t(1, 1, 20), 8, return_complex=True), RuntimeError, r"expected a 1D or 2D tensor"),
        Refusal(s(t(20), 8, onesided=True), RuntimeError, r"Cannot have onesided output", dtype="complex128"),
        Refusal(
            s(t(20), 8, return_complex=True, align_to_window=True),
            RuntimeError,
            r"align_to_window should only be set when center = false",
        ),
        Refusal(
            s(t(20), 8, center=False, return_complex=True),
            RuntimeError,
            r"expected a tensor of floating point or complex values",
            dtype="int64",
        ),
    ),
)

ISTFT = OpRecord(
    name="istft",
    reference=istft,
    result="reference",
    dtypes=COMPLEX,
    slack=256.0,
    samples=(
        s(t(5, 4), 8, window=WINDOW).but(dtypes=WIDE),
        s(t(2, 5, 4), 8, 3, 8, WINDOW, center=False).but(dtypes=WIDE),
        s(t(5, 4), 8, 2, 5, NARROW).but(dtypes=WIDE),
        s(t(5, 4), 8, length=10, normalized=True),
        s(t(5, 4), 8, window=WINDOW, length=20).but(dtypes=WIDE),
        s(t(8, 3), 8, window=WINDOW, onesided=False).but(dtypes=WIDE),
        s(t(8, 3), 8, window=WINDOW, return_complex=True).but(dtypes=WIDE),
        s(t(8, 3), 8, return_complex=True),
        s(t(2, 4, 5), 7, 2),
    ),
    refuses=(
        Refusal(s(t(5, 4), 8), RuntimeError, r"requires a complex-valued input tensor matching the output from stft"),
        Refusal(
            s(SPECTRUM, 10),
            RuntimeError,
            r"frequency dimension \(3rd to the last\) of the input tensor to match n_fft / 2 \+ 1 when onesided=True, "
            r"but got 5",
        ),
        Refusal(s(SPECTRUM, 8, onesided=False), RuntimeError, r"to match n_fft when onesided=False, but got 5"),
        Refusal(s(SPECTRUM, 8, 0), RuntimeError, r"expected 0 < hop_length <= win_length"),
        Refusal(s(SPECTRUM, 8, 2, 9), RuntimeError, r"expected 0 < win_length <= n_fft"),
        Refusal(s(SPECTRUM, 8, 2, 4, WINDOW), RuntimeError, r"Invalid window shape. window has to be 1D and length of"),
        Refusal(s(SPECTRUM, 8, window=given(np.zeros(8), "float64")), RuntimeError, r"window overlap add min: 1"),
        Refusal(s(SPECTRUM, 8, return_complex=True), RuntimeError, r"Cannot have onesided output"),
        Refusal(s(t(5, 0, dtype="complex128"), 8), RuntimeError, r"input tensor cannot be empty"),
        Refusal(s(t(1, 1, 5, 4, dtype="complex128"), 8), RuntimeError, r"expected a tensor with 3 or 4 dimensions"),
    ),
)


def window(name: str, shape: Any, *more: Sample, needs: dict[str, Any] | None = None) -> OpRecord:
    """`shape(i, steps)` at the places of a window: `M - 1` steps, or `M` of one that continues itself."""
    needs = needs or {}

    def reference(M: int, *, sym: bool = True, dtype: Any = np.float32, **how: Any) -> Array:
        if M == 1 and how.get("center") is None:
            return np.ones(1, dtype)
        return np.asarray(shape(np.arange(M), max(M - 1 + (not sym), 1), **how), dtype)

    return made(
        f"signal.windows.{name}",
        reference,
        *once(
            s(8, **needs),
            s(5, sym=False, **needs),
            s(5, sym=False, dtype=F64, **needs),
            s(1, **needs),
            s(0, **needs),
            s(2, **needs),
            s(33, dtype=F64, **needs),
            *more,
        ),
        slack=64.0,
        refuses=(
            Refusal(s(-1, **needs), ValueError, r"requires non-negative window length, got M=-1"),
            Refusal(s(3, dtype=I64, **needs), ValueError, r"expects float32 or float64 dtypes, got: torch.int64"),
            Refusal(s(3.0, **needs), TypeError),
        ),
    )


def of_cosines(*factors: float) -> Any:
    return lambda i, n: sum((-1) ** k * a * np.cos(2 * np.pi * k * i / n) for k, a in enumerate(factors))


def refused(record: OpRecord, *more: Refusal) -> OpRecord:
    return replace(record, refuses=(*record.refuses, *more))


RECORDS = [
    *(of_one(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")),
    *(of_several(name) for name in ("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2")),
    *(of_several(name) for name in ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn")),
    shift("fftshift"),
    shift("ifftshift"),
    STFT,
    ISTFT,
    window("bartlett", lambda i, n: 1 - np.abs(2 * i / n - 1)),
    window("blackman", of_cosines(0.42, 0.5, 0.08)),
    window("cosine", lambda i, n: np.sin(np.pi * (i + 0.5) / (n + 1))),
    refused(
        window(
            "exponential",
            lambda i, n, center=None, tau=1.0: np.exp(-np.abs(i - (n / 2 if center is None else center)) / tau),
            s(5, tau=2.5),
            s(5, sym=False, center=1.5, dtype=F64),
            s(1, sym=False, center=1.5),
        ),
        Refusal(s(3, tau=0.0), ValueError, r"Tau must be positive, got: 0"),
        Refusal(s(3, center=1.0), ValueError, r"Center must be None for symmetric windows"),
    ),
    refused(
        window("gaussian", lambda i, n, std=1.0: np.exp(-(((i - n / 2) / std) ** 2) / 2), s(5, std=2.5)),
        Refusal(s(3, std=0.0), ValueError, r"Standard deviation must be positive, got: 0"),
    ),
    refused(
        window("kaiser", lambda i, n, beta=12.0: kaiser(i / n, beta), s(5, beta=8.0), s(9, beta=0.0, dtype=F64)),
        Refusal(s(3, beta=-1.0), ValueError, r"beta must be non-negative, got: -1"),
    ),
    refused(
        window(
            "general_cosine",
            lambda i, n, a: of_cosines(*a)(i, n),
            s(5, a=(0.4, 0.3, 0.2, 0.1), dtype=F64),
            needs={"a": (0.75, 0.25)},
        ),
        Refusal(s(3, a=()), ValueError, r"Coefficients cannot be empty"),
        Refusal(s(3), TypeError),
    ),
    window(
        "general_hamming",
        lambda i, n, alpha=0.54: of_cosines(alpha, 1 - alpha)(i, n),
        s(5, alpha=0.75),
    ),
    window("hamming", of_cosines(0.54, 0.46)),
    window("hann", lambda i, n: cosines(i / n, 0.5, 0.5)),
    window("nuttall", of_cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411)),
]
