"""Records of convolutions, and of the windows of images."""

import warnings
from itertools import product
from typing import Any

import numpy as np

from records.record import INTS, Array, OpRecord, Refusal, Sample, s, t

LONG = 256.0  # sums of products in another order than NumPy's
NUMBERS = ("float64", "float32", *INTS)


def per_axis(value: Any, n: int) -> tuple[int, ...]:
    values = tuple(value) if isinstance(value, tuple | list) else (value,)
    return values * n if len(values) == 1 else values


def conv(
    x: Array, w: Array, b: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Array:
    """Position by position, from the definition."""
    n = w.ndim - 2
    if x.ndim == n + 1:
        return conv(x[None], w, b, stride, padding, dilation, groups)[0]
    stride, dilation = per_axis(stride, n), per_axis(dilation, n)
    spans = [d * (k - 1) for d, k in zip(dilation, w.shape[2:], strict=True)]
    if padding == "same":
        around = [(span // 2, span - span // 2) for span in spans]
    else:
        around = [(p, p) for p in per_axis(0 if padding == "valid" else padding, n)]
    x = np.pad(x, [(0, 0), (0, 0), *around])
    sizes = [(size - span - 1) // s + 1 for size, span, s in zip(x.shape[2:], spans, stride, strict=True)]
    if x.shape[1] == 0:
        return np.zeros((x.shape[0], 0, *sizes), x.dtype)
    y = np.zeros((x.shape[0], w.shape[0], *sizes), x.dtype)
    rows, columns = w.shape[0] // groups, x.shape[1] // groups
    for at in product(*map(range, sizes)):
        window = tuple(
            slice(o * s, o * s + span + 1, d) for o, s, span, d in zip(at, stride, spans, dilation, strict=True)
        )
        for g in range(groups):
            seen = x[(slice(None), slice(g * columns, (g + 1) * columns), *window)]
            weight = w[g * rows : (g + 1) * rows]
            y[(slice(None), slice(g * rows, (g + 1) * rows), *at)] = np.tensordot(
                seen, weight, axes=(tuple(range(1, n + 2)), tuple(range(1, n + 2)))
            )
    return y if b is None else y + b.reshape(-1, *[1] * n)


def conv_transpose(
    x: Array,
    w: Array,
    b: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Array:
    """Each element adds its multiple of the kernel."""
    n = w.ndim - 2
    if x.ndim == n + 1:
        return conv_transpose(x[None], w, b, stride, padding, output_padding, groups, dilation)[0]
    stride, dilation = per_axis(stride, n), per_axis(dilation, n)
    padding, output_padding = per_axis(padding, n), per_axis(output_padding, n)
    spans = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True)]
    full = [
        (size - 1) * s + span + extra
        for size, s, span, extra in zip(x.shape[2:], stride, spans, output_padding, strict=True)
    ]
    y = np.zeros((x.shape[0], w.shape[1] * groups, *full), x.dtype)
    rows, columns = x.shape[1] // groups, w.shape[1]
    for at in product(*map(range, x.shape[2:])):
        window = tuple(slice(i * s, i * s + span, d) for i, s, span, d in zip(at, stride, spans, dilation, strict=True))
        for g in range(groups):
            part = (slice(None), slice(g * columns, (g + 1) * columns), *window)
            one = x[(slice(None), slice(g * rows, (g + 1) * rows), *at)]
            y[part] += np.tensordot(one, w[g * rows : (g + 1) * rows], axes=(1, 0))
    inner = tuple(slice(p, size - p) for p, size in zip(padding, full, strict=True))
    y = y[(slice(None), slice(None), *inner)]
    return y if b is None else y + b.reshape(-1, *[1] * n)


def convolution(
    x: Array,
    w: Array,
    b: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Array:
    if transposed:
        return conv_transpose(x, w, b, stride, padding, output_padding, groups, dilation)
    return conv(x, w, b, stride, padding, dilation, groups)


def pair(value: Any) -> tuple[int, ...]:
    return per_axis(value, 2)


def unfold(x: Array, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Array:
    if x.ndim == 3:
        return unfold(x[None], kernel_size, dilation, padding, stride)[0]
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = map(pair, (kernel_size, dilation, padding, stride))
    x = np.pad(x, [(0, 0), (0, 0), (ph, ph), (pw, pw)])
    tall, wide = x.shape[2] - dh * (kh - 1), x.shape[3] - dw * (kw - 1)
    taps = [x[:, :, i * dh : i * dh + tall : sh, j * dw : j * dw + wide : sw] for i in range(kh) for j in range(kw)]
    return np.stack(taps, 2).reshape(
        x.shape[0], x.shape[1] * kh * kw, taps[0][0, 0].size if len(x) else -(-tall // sh) * -(-wide // sw)
    )


def fold(y: Array, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Array:
    if y.ndim == 2:
        return fold(y[None], output_size, kernel_size, dilation, padding, stride)[0]
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = map(pair, (kernel_size, dilation, padding, stride))
    h, w = pair(output_size)
    channels = y.shape[1] // (kh * kw)
    x = np.zeros((y.shape[0], channels, h + 2 * ph, w + 2 * pw), y.dtype)
    tall, wide = x.shape[2] - dh * (kh - 1), x.shape[3] - dw * (kw - 1)
    rows, columns = (tall - 1) // sh + 1, (wide - 1) // sw + 1
    parts = y.reshape(y.shape[0], channels, kh, kw, rows, columns)
    for i, j in product(range(kh), range(kw)):
        x[:, :, i * dh : i * dh + tall : sh, j * dw : j * dw + wide : sw] += parts[:, :, i, j]
    return x[:, :, ph : ph + h, pw : pw + w]


def whole(sample: Sample) -> Sample:
    return sample.but(dtypes=NUMBERS)


def quietly(name: str) -> Any:
    """PyTorch warns that it copies the input where an odd number of zeros is asked for."""

    def call(package: Any, *args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Using padding='same'")
            return getattr(package.nn.functional, name)(*args, **kwargs)

    return call


SAME = Refusal(s(t(1, 2, 6), t(2, 2, 3), stride=2, padding="same"), RuntimeError, r"'same'.*strided")


def refusals(x: Any, w: Any, other: Any) -> tuple[Refusal, ...]:
    """What every convolution refuses; `other` is a weight for another number of channels."""
    return (
        Refusal(s(x, w, groups=0), RuntimeError, r"non-positive groups"),
        Refusal(s(x, w, stride=0), RuntimeError, r"non-positive stride"),
        Refusal(s(x, w, dilation=0), RuntimeError, r"non-positive dilation|dilation should be greater than"),
        Refusal(s(x, w, padding=-1), RuntimeError, r"negative padding"),
        Refusal(s(x, w, stride=(1, 1, 1, 1)), RuntimeError, r"expected stride to be a single integer value or a list"),
        Refusal(s(x, other), RuntimeError, r"expected input.* to have 3 channels, but got 2 channels instead"),
        Refusal(s(x, w, t(7)), RuntimeError, r"expected bias to be 1-dimensional with 4 elements"),
        Refusal(s(t(3), w), RuntimeError, r"Expected \d+D \(unbatched\) or \d+D \(batched\) input"),
        Refusal(s(x, w, "x"), TypeError),
    )


RECORDS = [
    OpRecord(
        name="nn.functional.conv1d",
        covers=("conv1d",),
        reference=conv,
        call=quietly("conv1d"),
        method=False,
        slack=LONG,
        samples=(
            whole(s(t(2, 3, 7), t(4, 3, 3))),
            whole(s(t(2, 3, 7), t(4, 3, 3), t(4), stride=2, padding=1)),
            s(t(3, 7), t(4, 3, 3), t(4), padding=(2,)),
            s(t(2, 4, 9), t(6, 2, 3), t(6), 2, 1, 2, 2),
            s(t(2, 4, 9), t(4, 1, 3), None, 1, 1, groups=4),
            s(t(2, 2, 20), t(3, 2, 1), stride=3),
            s(t(2, 2, 9), t(3, 2, 5), padding="same"),
            s(t(2, 2, 9), t(3, 2, 4), t(3), padding="same"),
            s(t(2, 2, 9), t(3, 2, 4), padding="same", dilation=3),
            s(t(2, 2, 9), t(3, 2, 4), padding="valid", stride=2),
            whole(s(t(0, 3, 7), t(4, 3, 3), t(4))),
            s(t(1, 1, 1), t(1, 1, 1)),
            s(t(1, 1, 70), t(1, 1, 5), padding=4),
        ),
        refuses=(
            *refusals(t(1, 2, 6), t(4, 2, 3), t(4, 3, 3)),
            SAME,
            Refusal(s(t(1, 2, 6), t(4, 2, 3), padding="some"), RuntimeError, r"Invalid padding string: 'some'"),
            Refusal(s(t(1, 2, 6), t(4, 2, 9), padding=1), RuntimeError, r"\(8\). Kernel size: \(9\)"),
            Refusal(
                s(t(1, 2, 6), t(4, 2, 3, dtype="float32")), RuntimeError, r"should be the same|expected scalar type"
            ),
            Refusal(s(t(1, 2, 6), t(4, 2, 3), t(4, dtype="float32")), RuntimeError, r"should be the same"),
            Refusal(s(t(1, 4, 6), t(3, 2, 3), groups=2), RuntimeError, r"divisible by 2 at dimension 0"),
            Refusal(s(t(1, 2, 0), t(4, 2, 3), padding=2), RuntimeError, r"zero batch or zero channel"),
            Refusal(s(t(1, 2, 6), t(4, 2, 3)), NotImplementedError, r"not implemented for 'Bool'", dtype="bool"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="nn.functional.conv2d",
        covers=("conv2d",),
        reference=conv,
        call=quietly("conv2d"),
        method=False,
        slack=LONG,
        samples=(
            whole(s(t(2, 3, 5, 6), t(4, 3, 3, 2))),
            s(t(2, 3, 5, 6), t(4, 3, 3, 3), t(4), padding=1),
            s(t(2, 2, 7, 5), t(3, 2, 3, 3), t(3), stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
            s(t(6, 6, 6), t(3, 2, 3, 3), t(3), 2, 1, 1, 3),
            s(t(1, 4, 6, 6), t(8, 1, 3, 3), t(8), padding="same", groups=4),
            s(t(1, 2, 5, 5), t(3, 2, 2, 4), padding="same"),
            s(t(2, 3, 4, 4), t(2, 3, 1, 1), t(2)),
            s(t(1, 2, 9, 9), t(2, 2, 2, 2), stride=4),
            s(t(1, 1, 12, 35), t(17, 1, 3, 3)),
            s(t(1, 9, 4, 4), t(1, 9, 3, 3)),
            s(t(2, 0, 6, 6), t(3, 0, 3, 3)).but(smooth=False),
            s(t(0, 2, 6, 6), t(3, 2, 3, 3)),
        ),
        refuses=(
            *refusals(t(1, 2, 6, 6), t(4, 2, 3, 3), t(4, 3, 3, 3)),
            Refusal(s(t(1, 2, 6, 6), t(4, 2, 7, 7)), RuntimeError, r"\(6 x 6\). Kernel size: \(7 x 7\)"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="nn.functional.conv3d",
        covers=("conv3d",),
        reference=conv,
        call=quietly("conv3d"),
        method=False,
        slack=LONG,
        samples=(
            whole(s(t(1, 2, 3, 4, 5), t(2, 2, 2, 3, 2))),
            s(t(1, 2, 3, 4, 5), t(2, 2, 3, 3, 3), t(2), padding=1, stride=2),
            s(t(2, 3, 4, 3), t(2, 1, 2, 2, 1), t(2), (1, 2, 1), (0, 1, 0), (1, 2, 1), 2),
            s(t(1, 1, 3, 3, 3), t(2, 1, 2, 3, 1), padding="same"),
        ),
        refuses=refusals(t(1, 2, 6, 6, 6), t(4, 2, 3, 3, 3), t(4, 3, 3, 3, 3)),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="nn.functional.conv_transpose1d",
        covers=("conv_transpose1d",),
        reference=conv_transpose,
        method=False,
        slack=LONG,
        samples=(
            s(t(2, 3, 5), t(3, 4, 3)).but(dtypes=("float64", "float32", "int64")),
            s(t(2, 3, 5), t(3, 4, 3), t(4), stride=2, padding=1, output_padding=1),
            s(t(4, 5), t(4, 3, 3), t(6), 3, 2, 1, 2, 2),
            s(t(1, 2, 4), t(2, 3, 3), dilation=3, stride=2, output_padding=2),
            s(t(1, 2, 4), t(2, 3, 2), stride=5, padding=1),
            s(t(1, 4, 6), t(4, 1, 3), t(4), groups=4, stride=2),
            s(t(0, 3, 5), t(3, 4, 3), t(4)),
            s(t(1, 2, 20), t(2, 2, 3), padding=2),
        ),
        refuses=(
            *refusals(t(1, 2, 6), t(2, 4, 3), t(3, 4, 3)),
            Refusal(s(t(1, 2, 6), t(2, 4, 3), output_padding=-1), RuntimeError, r"negative output_padding"),
            Refusal(
                s(t(1, 2, 6), t(2, 4, 3), stride=2, output_padding=2), RuntimeError, r"output padding must be smaller"
            ),
            Refusal(s(t(1, 2, 6), t(2, 4, 3), padding="same"), TypeError),
            Refusal(s(t(1, 2, 6), t(2, 4, 3)), NotImplementedError, r"not implemented for 'Int'", dtype="int32"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="nn.functional.conv_transpose2d",
        covers=("conv_transpose2d",),
        reference=conv_transpose,
        method=False,
        slack=LONG,
        samples=(
            s(t(2, 3, 4, 3), t(3, 2, 3, 2)).but(dtypes=("float64", "float32", "int64")),
            s(t(2, 2, 3, 4), t(2, 3, 3, 3), t(3), stride=(2, 3), padding=(1, 0), output_padding=(1, 2)),
            s(t(4, 3, 3), t(4, 2, 2, 3), t(4), 2, 1, 0, 2, 2),
            s(t(1, 4, 5, 5), t(4, 1, 3, 3), groups=4),
            s(t(2, 3, 4, 4), t(3, 2, 1, 1), t(2)),
        ),
        refuses=refusals(t(1, 2, 6, 6), t(2, 4, 3, 3), t(3, 4, 3, 3)),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="nn.functional.conv_transpose3d",
        covers=("conv_transpose3d",),
        reference=conv_transpose,
        method=False,
        slack=LONG,
        samples=(
            s(t(1, 2, 2, 3, 2), t(2, 2, 2, 3, 2)).but(dtypes=("float64", "float32", "int64")),
            s(t(1, 2, 2, 2, 3), t(2, 1, 3, 2, 2), t(1), stride=2, padding=1, output_padding=1),
            s(t(2, 2, 3, 2), t(2, 1, 2, 1, 3), t(2), (1, 2, 1), 0, 0, 2, (2, 1, 1)),
        ),
        refuses=refusals(t(1, 2, 6, 6, 6), t(2, 4, 3, 3, 3), t(3, 4, 3, 3, 3)),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="convolution",
        reference=convolution,
        method=False,
        slack=LONG,
        samples=(
            s(t(2, 3, 7), t(4, 3, 3), None, [1], [0], [1], False, [0], 1),
            s(t(2, 4, 5, 5), t(4, 2, 3, 3), t(4), [2], [1, 0], [1, 1], False, [0, 0], 2),
            s(t(2, 4, 5, 5), t(4, 2, 3, 3), t(4), [2], [1, 0], [1, 1], True, [1, 0], 2),
        ),
        refuses=(
            Refusal(s(t(2, 4), t(6, 4), None, [], [], [], False, [], 1), RuntimeError, r"at least three dimensions"),
            Refusal(
                s(t(3, 7), t(4, 3, 3), None, [1], [0], [1], False, [0], 1),
                RuntimeError,
                r"Expected 3-dimensional input for 3-dimensional weight \[4, 3, 3\], but got 2-dimensional input",
            ),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="nn.functional.unfold",
        reference=unfold,
        method=False,
        samples=(
            s(t(2, 3, 4, 5), 2).but(dtypes=("float64", "float32", "bool")),
            s(t(3, 4, 5), (2, 3), 1, 1, 2),
            s(t(1, 2, 7, 6), (2, 3), dilation=(3, 1), padding=(0, 2), stride=(1, 3)),
            s(t(0, 3, 4, 5), 2),
            s(t(1, 1, 1, 1), 1),
        ),
        refuses=(
            Refusal(s(t(1, 2, 4, 4), 5), RuntimeError, r"calculated shape of the array of sliding blocks as \(0, 0\)"),
            Refusal(s(t(1, 2, 4, 4), 0), RuntimeError, r"kernel size should be greater than zero"),
            Refusal(s(t(1, 2, 4, 4), 2, dilation=0), RuntimeError, r"dilation should be greater than zero"),
            Refusal(s(t(1, 2, 4, 4), 2, stride=0), RuntimeError, r"stride should be greater than zero"),
            Refusal(s(t(1, 2, 4, 4), 2, padding=-1), RuntimeError, r"padding should be non-negative"),
            Refusal(s(t(1, 0, 4, 4), 2), RuntimeError, r"Expected 3D or 4D .* \[1, 0, 4, 4\]"),
            Refusal(s(t(1, 2, 4, 4), (2, 2, 2)), RuntimeError, r"expected kernel_size equals to 2, but got size 3"),
            Refusal(s(t(1, 2, 4, 4), 2), NotImplementedError, r"not implemented for 'Long'", dtype="int64"),
        ),
        complex=True,
        halves=0,
    ),
    OpRecord(
        name="nn.functional.fold",
        reference=fold,
        method=False,
        samples=(
            s(t(2, 12, 12), (4, 5), 2).but(dtypes=("float64", "float32", "bool")),
            s(t(12, 9), (4, 5), (2, 3), 1, 1, 2),
            s(t(1, 12, 12), (7, 6), (2, 3), dilation=(3, 2), padding=(0, 2), stride=(2, 1)),
            s(t(0, 12, 12), (4, 5), 2),
            s(t(4, 9), 4, 2),
        ),
        refuses=(
            Refusal(s(t(1, 7, 9), 4, 2), RuntimeError, r"divisible by the product of kernel_size.*=7"),
            Refusal(s(t(1, 8, 8), 4, 2), RuntimeError, r"sliding blocks 3 \* 3 = 9, but got input.size\(2\)=8"),
            Refusal(s(t(1, 1, 8, 9), 4, 2), RuntimeError, r"Expected 2D or 3D .* \[1, 1, 8, 9\]"),
            Refusal(s(t(1, 8, 9), 4, 2, stride=0), RuntimeError, r"stride should be greater than zero"),
            Refusal(s(t(1, 8, 9), (4, 4, 4), 2), RuntimeError, r"expected output_size equals to 2, but got size 3"),
        ),
        complex=True,
        halves=0,
    ),
]
