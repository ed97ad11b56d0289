"""Calls of ops whose operands are no matrices: images, volumes, sequences, batches. `sweep.py` races them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

# The sizes of a random tensor, or what makes the operand.
Operand = tuple[int, ...] | Callable[[ModuleType], Any]
Call = Callable[..., object]

CALLS: dict[str, tuple[Call, tuple[Operand, ...]]] = {}

IMAGES = (8, 16, 56, 56)
VOLUMES = (2, 8, 16, 32, 32)
SEQUENCES = (16, 32, 500)
MATRIX = (512, 512)
BATCH = (64, 32, 32)
HEADS = (8, 4, 128, 32)
CHANNELS = (16,)
LINE = (100_000,)


def call(name: str, run: Call, *operands: Operand) -> None:
    CALLS[name] = run, operands


def places(below: int, *sizes: int) -> Operand:
    """Integers from 0 to `below`, in no order."""

    def make(m: ModuleType) -> Any:
        count = 1
        for n in sizes:
            count *= n
        return (m.arange(count) * 7919 % below).reshape(sizes)

    return make


def layer(name: str, *args: Any, **kwargs: Any) -> Operand:
    """A module of `nn`."""
    return lambda m: getattr(m.nn, name)(*args, **kwargs)


def positive(m: ModuleType, x: Any) -> Any:
    """Of square matrices symmetric positive ones."""
    return x @ x.mT / x.shape[-1] + m.eye(x.shape[-1])


def first(result: Any) -> Any:
    return result[0] if isinstance(result, tuple) else result


def fn(m: ModuleType) -> Any:
    return m.nn.functional


def convolutions() -> None:
    kernel = (32, 16, 3, 3)
    call("conv1d", lambda m, x, w: fn(m).conv1d(x, w, padding=2), SEQUENCES, (64, 32, 5))
    call("conv2d", lambda m, x, w: fn(m).conv2d(x, w, padding=1), IMAGES, kernel)
    call("conv2d 1x1", lambda m, x, w: fn(m).conv2d(x, w), IMAGES, (32, 16, 1, 1))
    call("conv2d, every second", lambda m, x, w: fn(m).conv2d(x, w, stride=2, padding=1), IMAGES, kernel)
    call("conv2d 7x7", lambda m, x, w: fn(m).conv2d(x, w, stride=2, padding=3), (4, 3, 112, 112), (32, 3, 7, 7))
    call("conv2d, dilated", lambda m, x, w: fn(m).conv2d(x, w, dilation=2, padding=2), IMAGES, kernel)
    call("conv2d by channel", lambda m, x, w: fn(m).conv2d(x, w, padding=1, groups=16), IMAGES, (16, 1, 3, 3))
    call("conv2d in 4 groups", lambda m, x, w: fn(m).conv2d(x, w, padding=1, groups=4), IMAGES, (32, 4, 3, 3))
    call("conv3d", lambda m, x, w: fn(m).conv3d(x, w, padding=1), VOLUMES, (16, 8, 3, 3, 3))
    call("conv_transpose1d", lambda m, x, w: fn(m).conv_transpose1d(x, w, stride=2), SEQUENCES, (32, 16, 4))
    call("conv_transpose2d", lambda m, x, w: fn(m).conv_transpose2d(x, w, stride=2, padding=1), IMAGES, (16, 8, 4, 4))


def pools() -> None:
    for op in ("max_pool1d", "avg_pool1d"):
        call(op, lambda m, x, op=op: getattr(fn(m), op)(x, 2), SEQUENCES)
    for op in ("max_pool2d", "avg_pool2d"):
        for size in (2, 3):
            call(f"{op} {size}", lambda m, x, op=op, size=size: getattr(fn(m), op)(x, size, 2), IMAGES)
        call(f"{op} at each place", lambda m, x, op=op: getattr(fn(m), op)(x, 3, 1, 1), IMAGES)
    for op in ("max_pool3d", "avg_pool3d"):
        call(op, lambda m, x, op=op: getattr(fn(m), op)(x, 2), VOLUMES)
    for op in ("adaptive_avg_pool2d", "adaptive_max_pool2d"):
        for size in (1, 5, 7):
            call(f"{op} {size}", lambda m, x, op=op, size=size: getattr(fn(m), op)(x, size), IMAGES)
    call("lp_pool2d", lambda m, x: fn(m).lp_pool2d(x, 2, 2), IMAGES)
    call(
        "max_unpool2d",
        lambda m, x: fn(m).max_unpool2d(*fn(m).max_pool2d(x, 2, return_indices=True), kernel_size=2),
        IMAGES,
    )


def images() -> None:
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
        for size in (28, 75, 112):
            call(
                f"interpolate {mode} {size}",
                lambda m, x, mode=mode, size=size: fn(m).interpolate(x, size=(size, size), mode=mode),
                IMAGES,
            )
    call("interpolate linear", lambda m, x: fn(m).interpolate(x, scale_factor=2, mode="linear"), SEQUENCES)
    call("interpolate trilinear", lambda m, x: fn(m).interpolate(x, scale_factor=2, mode="trilinear"), VOLUMES)
    call("interpolate volumes", lambda m, x: fn(m).interpolate(x, scale_factor=2), VOLUMES)
    for mode in ("bilinear", "nearest", "bicubic"):
        for border in ("zeros", "border", "reflection"):
            options = {"mode": mode, "padding_mode": border, "align_corners": False}
            call(
                f"grid_sample {mode} {border}",
                lambda m, x, grid, options=options: fn(m).grid_sample(x, grid, **options),
                *(IMAGES, (8, 56, 56, 2)),
            )
    call(
        "grid_sample of volumes",
        lambda m, x, grid: fn(m).grid_sample(x, grid, align_corners=False),
        *(VOLUMES, (2, 16, 32, 32, 3)),
    )
    call("affine_grid", lambda m, t: fn(m).affine_grid(t, IMAGES, align_corners=False), (8, 2, 3))
    for op in ("pixel_shuffle", "pixel_unshuffle"):
        call(op, lambda m, x, op=op: getattr(fn(m), op)(x, 2).contiguous(), IMAGES)
    call("unfold", lambda m, x: fn(m).unfold(x, 3, padding=1), IMAGES)
    call("fold", lambda m, x: fn(m).fold(x, (56, 56), 3, padding=1), (8, 144, 3136))
    call("windows", lambda m, x: x.unfold(2, 16, 8).contiguous(), SEQUENCES)
    for mode in ("constant", "reflect", "replicate", "circular"):
        call(f"pad {mode}", lambda m, x, mode=mode: fn(m).pad(x, (2, 2, 2, 2), mode=mode), IMAGES)
    call("channels last", lambda m, x: x.permute(0, 2, 3, 1).contiguous(), IMAGES)
    call("channels first", lambda m, x: x.permute(0, 3, 1, 2).contiguous(), (8, 56, 56, 16))
    call("flip", lambda m, x: x.flip(2, 3), IMAGES)
    call("x + channel", lambda m, x, b: x + b[:, None, None], IMAGES, CHANNELS)
    call("sum of expanded", lambda m, x: x[:, None].expand(8, 3, 16, 56, 56).sum(1), IMAGES)
    for dims in ((0, 2), (1, 3), (2, 3), (0, 2, 3)):
        call(f"sum{dims}", lambda m, x, dims=dims: x.sum(dims), IMAGES)
        call(f"amax{dims}", lambda m, x, dims=dims: x.amax(dims), IMAGES)


def norms() -> None:
    call(
        "batch_norm",
        lambda m, x, w, b: fn(m).batch_norm(x, None, None, w, b, training=True),
        IMAGES,
        CHANNELS,
        CHANNELS,
    )
    call(
        "batch_norm, fixed",
        lambda m, x, w, b: fn(m).batch_norm(x, w * 0, b.exp(), w, b, False),
        IMAGES,
        CHANNELS,
        CHANNELS,
    )
    call("group_norm", lambda m, x, w, b: fn(m).group_norm(x, 4, w, b), IMAGES, CHANNELS, CHANNELS)
    call("instance_norm", lambda m, x: fn(m).instance_norm(x), IMAGES)
    call("local_response_norm", lambda m, x: fn(m).local_response_norm(x, 5), IMAGES)
    call("layer_norm", lambda m, x: fn(m).layer_norm(x, x.shape[1:]), IMAGES)
    call("rms_norm", lambda m, x, w: fn(m).rms_norm(x, w.shape, w), MATRIX, (512,))
    call("renorm", lambda m, x: x.renorm(2, 0, 1.0), MATRIX)
    for op in ("softmax", "log_softmax"):
        call(f"{op} over channels", lambda m, x, op=op: getattr(x, op)(1), IMAGES)
    for op in ("relu6", "hardsigmoid", "celu", "tanhshrink", "softshrink", "hardshrink", "alpha_dropout"):
        call(op, lambda m, x, op=op: getattr(fn(m), op)(x), IMAGES)
    call("prelu", lambda m, x, w: fn(m).prelu(x, w), IMAGES, CHANNELS)


def losses() -> None:
    classes = places(512, 512)
    call("cross_entropy", lambda m, x, y: fn(m).cross_entropy(x, y), MATRIX, classes)
    call("cross_entropy, smooth", lambda m, x, y: fn(m).cross_entropy(x, y, label_smoothing=0.1), MATRIX, classes)
    call("cross_entropy of shares", lambda m, x, y: fn(m).cross_entropy(x, y.softmax(1)), MATRIX, MATRIX)
    call("cross_entropy of images", lambda m, x, y: fn(m).cross_entropy(x, y), IMAGES, places(16, 8, 56, 56))
    call("multi_margin_loss", lambda m, x, y: fn(m).multi_margin_loss(x, y), MATRIX, classes)
    for op in ("huber_loss", "soft_margin_loss", "poisson_nll_loss", "multilabel_soft_margin_loss"):
        call(op, lambda m, x, y, op=op: getattr(fn(m), op)(x, y), MATRIX, MATRIX)
    call("gaussian_nll_loss", lambda m, x, y, v: fn(m).gaussian_nll_loss(x, y, v.exp()), MATRIX, MATRIX, MATRIX)
    call("triplet_margin_loss", lambda m, x, y, z: fn(m).triplet_margin_loss(x, y, z), MATRIX, MATRIX, MATRIX)
    lengths = (lambda m: m.full((16,), 100, dtype=m.int64), lambda m: m.full((16,), 20, dtype=m.int64))
    call(
        "ctc_loss",
        lambda m, x, y, n, k: fn(m).ctc_loss(x.log_softmax(2), y + 1, n, k),
        *((100, 16, 40), places(30, 16, 20), *lengths),
    )


def layers() -> None:
    words = places(1000, 64, 50)
    call("embedding", lambda m, w, i: fn(m).embedding(i, w), (1000, 64), words)
    for mode in ("sum", "mean", "max"):
        call(
            f"embedding_bag {mode}", lambda m, w, i, mode=mode: fn(m).embedding_bag(i, w, mode=mode), (1000, 64), words
        )
    for kind in ("RNN", "GRU", "LSTM"):
        call(f"{kind} of 2 layers", lambda m, x, net: net(x)[0], (20, 16, 64), layer(kind, 64, 64, 2))
        call(f"{kind} both ways", lambda m, x, net: net(x)[0], (20, 16, 64), layer(kind, 64, 64, bidirectional=True))
        call(f"{kind}Cell", lambda m, x, net: first(net(x)), (16, 64), layer(f"{kind}Cell", 64, 64))
    attention = layer("MultiheadAttention", 64, 4, batch_first=True)
    call("MultiheadAttention", lambda m, x, net: net(x, x, x)[0], (8, 64, 64), attention)
    encoder = layer("TransformerEncoderLayer", 64, 4, 128, batch_first=True, dropout=0.0)
    call("TransformerEncoderLayer", lambda m, x, net: net(x), (8, 64, 64), encoder)
    for causal in (False, True):
        call(
            f"attention{', causal' * causal}",
            lambda m, q, k, v, causal=causal: fn(m).scaled_dot_product_attention(q, k, v, is_causal=causal),
            *(HEADS, HEADS, HEADS),
        )
    call(
        "attention, masked",
        lambda m, q, k, v, mask: fn(m).scaled_dot_product_attention(q, k, v, mask),
        *(HEADS, HEADS, HEADS, (128, 128)),
    )
    call("bilinear", lambda m, x, y, w: fn(m).bilinear(x, y, w), (64, 32), (64, 32), (16, 32, 32))


def matrices() -> None:
    for name, shape in (("64 of 16", (64, 16, 16)), ("200", (200, 200))):
        for op in ("det", "inv", "eigvalsh", "svdvals", "matrix_exp", "cholesky"):
            call(f"{op}, {name}", lambda m, x, op=op: getattr(m.linalg, op)(positive(m, x)), shape)
        for op, result in (("slogdet", 1), ("eigh", 0), ("svd", 1), ("qr", 1), ("lu_factor", 0)):
            call(f"{op}, {name}", lambda m, x, op=op, k=result: getattr(m.linalg, op)(positive(m, x))[k], shape)
        call(f"solve, {name}", lambda m, x, y: m.linalg.solve(positive(m, x), y), shape, shape)
        call(f"lstsq, {name}", lambda m, x, y: m.linalg.lstsq(positive(m, x), y)[0], shape, shape)
        call(f"matrix_power, {name}", lambda m, x: m.linalg.matrix_power(x / 9, 5), shape)
    call("eigvals", lambda m, x: m.linalg.eigvals(x), (64, 64))
    call("kron", lambda m, x, y: m.kron(x, y), (32, 32), (32, 32))
    for p in (1.0, 2.0):
        call(f"cdist {p:.0f}", lambda m, x, y, p=p: m.cdist(x, y, p=p), (300, 64), (300, 64))
    call("pdist", lambda m, x: fn(m).pdist(x), (300, 64))
    call("cross", lambda m, x, y: m.linalg.cross(x, y), (100_000, 3), (100_000, 3))
    call("cov", lambda m, x: x.cov(), (64, 1000))
    for op in ("bmm", "matmul"):
        call(f"{op}, 64 of 32", lambda m, x, y, op=op: getattr(m, op)(x, y), BATCH, BATCH)
    call("bmm, 5000 of 4", lambda m, x, y: m.bmm(x, y), (5000, 4, 4), (5000, 4, 4))
    call("bmm, 5000 of 3 by a column", lambda m, x, y: m.bmm(x, y), (5000, 3, 3), (5000, 3, 1))
    call("baddbmm", lambda m, x, y, z: m.baddbmm(z, x, y), BATCH, BATCH, BATCH)
    call("addr", lambda m, x, y, z: m.addr(x, y, z), MATRIX, (512,), (512,))
    for n in (1, 8):
        call(f"mm, {n} columns", lambda m, x, y: m.mm(x, y), MATRIX, (512, n))
        call(f"mm, {n} rows", lambda m, x, y: m.mm(y, x), MATRIX, (n, 512))
    call("mm, 8 terms", lambda m, x, y: m.mm(x, y), (512, 8), (8, 512))
    call("einsum bij,bjk,bk->bi", lambda m, x, y, z: m.einsum("bij,bjk,bk->bi", x, y, z), BATCH, BATCH, (64, 32))
    call("einsum bqhd,bkhd->bhqk", lambda m, x, y: m.einsum("bqhd,bkhd->bhqk", x, y), (8, 64, 4, 32), (8, 64, 4, 32))


def places_and_sets() -> None:
    by_row, by_element = places(512, 512), places(512, 512, 512)
    call("index_put", lambda m, x, y, i: x.index_put((i,), y), MATRIX, MATRIX, by_row)
    call("index_put, added", lambda m, x, y, i: x.index_put((i,), y, accumulate=True), MATRIX, MATRIX, by_row)
    call("x[i, j]", lambda m, x, i, j: x[i, j], MATRIX, by_element, by_row)
    call("put", lambda m, x, y, i: x.put(i, y), MATRIX, MATRIX, by_element)
    for how in ("sum", "prod", "mean", "amax", "amin"):
        call(
            f"scatter_reduce {how}",
            lambda m, x, y, i, how=how: x.scatter_reduce(1, i, y, how),
            *(MATRIX, MATRIX, by_element),
        )
    for how in ("prod", "mean", "amax", "amin"):
        for dim in (0, 1):
            call(
                f"index_reduce({dim}) {how}",
                lambda m, x, y, i, how=how, dim=dim: x.index_reduce(dim, i, y, how),
                *(MATRIX, MATRIX, by_row),
            )
    call("take_along_dim", lambda m, x, i: m.take_along_dim(x, i, 1), MATRIX, by_element)
    call("masked_select", lambda m, x: x.masked_select(x > 0), MATRIX)
    call("masked_scatter", lambda m, x, y: x.masked_scatter(x > 0, y), MATRIX, MATRIX)
    call("unique", lambda m, x: (x * 100).round().unique(), LINE)
    call("unique_consecutive", lambda m, x: m.unique_consecutive(x.round()), LINE)
    call("histc", lambda m, x: m.histc(x, 100, -3, 3), LINE)
    call("isin", lambda m, x, y: m.isin(x.round(), y.round()), LINE, (20,))
    call("mode", lambda m, x: x.round().mode(1)[0], MATRIX)
    call("quantile", lambda m, x: m.quantile(x, 0.3, 1), MATRIX)
    call("sort of a line", lambda m, x: x.sort()[0], LINE)
    call("topk of a line", lambda m, x: x.topk(10)[0], LINE)


def functions() -> None:
    special = words_of("i0e i1 i1e ndtr log_ndtr entr erfcx bessel_j0 bessel_j1 modified_bessel_i0 psi gammaln")
    for op in special:
        call(f"special.{op}", lambda m, x, op=op: getattr(m.special, op)(x.abs() + 0.01), MATRIX)
    for op in ("igamma", "igammac"):
        call(op, lambda m, x, y, op=op: getattr(m, op)(x.abs() + 0.1, y.abs()), MATRIX, MATRIX)
    for power in (-1.0, 0.5, 1.7, 3.0):
        call(f"power {power}", lambda m, x, power=power: x.abs() ** power, MATRIX)
    call("polar", lambda m, x, y: m.polar(x.abs(), y), MATRIX, MATRIX)
    call("complex", lambda m, x, y: m.complex(x, y), MATRIX, MATRIX)
    call("ldexp", lambda m, x, y: m.ldexp(x, y.round()), MATRIX, MATRIX)
    call("frexp", lambda m, x: m.frexp(x)[0], MATRIX)
    call("dist", lambda m, x, y: m.dist(x, y), MATRIX, MATRIX)
    call("addcdiv", lambda m, x, y, z: m.addcdiv(x, y, z), MATRIX, MATRIX, MATRIX)
    call("stft", lambda m, x, w: m.stft(x, 256, return_complex=True, window=w).abs(), (4, 16_000), (256,))
    for op in ("bernoulli", "multinomial"):
        more = (5,) if op == "multinomial" else ()
        call(op, lambda m, x, op=op, more=more: getattr(m, op)(x.sigmoid(), *more), MATRIX)
    call("randint", lambda m: m.randint(0, 10, (512, 512)))
    call("randperm", lambda m: m.randperm(100_000))
    call("exponential_", lambda m: m.empty(512, 512).exponential_())
    call("hann_window", lambda m: m.hann_window(10_000))
    call("arange", lambda m: m.arange(100_000.0))
    call("linspace", lambda m: m.linspace(0, 1, 100_000))
    call("tril_indices", lambda m: m.tril_indices(300, 300))


def words_of(text: str) -> list[str]:
    return text.split()


for family in (convolutions, pools, images, norms, losses, layers, matrices, places_and_sets, functions):
    family()
