"""Records of layers: dropout of channels, bags of embeddings, alignments, recurrence."""

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from records.record import DISTINCT, Array, Domain, Edge, OpRecord, Refusal, Sample, given, index, s, t

LONG = 128.0  # sums of products in another order than NumPy's
FINE = Domain(0.2, 0.9)
# Complex numbers near the reals: off the poles of `tanh` and `sigmoid`.
OFF_POLES = Domain(-1.0, 1.0, imaginary=0.05)
PROBABILITIES = Domain(0.1, 0.9)


def layer(name: str, reference: Any, samples: tuple[Any, ...], **facts: Any) -> OpRecord:
    return OpRecord(name=name, reference=reference, samples=samples, **{"method": False, "slack": LONG} | facts)


def each(samples: Iterable[Sample], **changes: Any) -> tuple[Sample, ...]:
    return tuple(sample.but(**changes) for sample in samples)


# ---- dropout


def dropped(x: Array, p: float = 0.5, training: bool = True, inplace: bool = False) -> Array:
    return x if not training or p == 0 else np.zeros_like(x)


def dropped_late(x: Array, p: float = 0.5, training: bool = False, inplace: bool = False) -> Array:
    return dropped(x, p, training)


def fresh(name: str) -> Callable[..., Any]:
    """The function on a copy, which `inplace=True` may write to."""

    def call(rg: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(rg.nn.functional, name)(x.clone(), *args, **kwargs)

    return call


BAD_CHANCE = (
    Refusal(s(t(2, 3, 4, 5), 1.5), ValueError, r"between 0 and 1.*1\.5"),
    Refusal(s(t(2, 3, 4, 5), -0.1), ValueError, r"-0\.1"),
)


def channels(name: str, *sizes: tuple[int, ...], refuses: tuple[Refusal, ...] = BAD_CHANCE) -> OpRecord:
    rows = [
        (
            s(t(*n), training=False),
            s(t(*n), 0.0),
            s(t(*n), 1.0),
            s(t(*n), 0.4).but(values=False),
            s(t(*n), 0.4, inplace=True).but(values=False),
        )
        for n in sizes
    ]
    samples = tuple(itertools.chain.from_iterable(rows))
    return layer(f"nn.functional.{name}", dropped, samples, call=fresh(name), seed=5, layouts=False, refuses=refuses)


def alpha(name: str, *sizes: tuple[int, ...]) -> OpRecord:
    rows = [(s(t(*n)), s(t(*n), 0.0, True), s(t(*n), 1.0, True), s(t(*n), 0.4, True).but(values=False)) for n in sizes]
    samples = tuple(itertools.chain.from_iterable(rows))
    return layer(
        f"nn.functional.{name}",
        dropped_late,
        (*samples, s(t(*sizes[0]), 0.4, True, True).but(values=False)),
        call=fresh(name),
        seed=5,
        layouts=False,
        refuses=BAD_CHANCE,
    )


def plain(name: str) -> OpRecord:
    return layer(
        name,
        dropped,
        (s(t(3, 4), 0.0, True), s(t(3, 4), 1.0, True), s(t(3, 4), 0.3, False), s(t(3, 4), 0.3, True).but(values=False)),
        seed=5,
        layouts=False,
        refuses=(Refusal(s(t(3, 4), 1.5, True), RuntimeError, r"between 0 and 1.*1\.5"),),
    )


DROPOUTS = [
    channels(
        "dropout1d", (3, 4), (2, 3, 4), refuses=(*BAD_CHANCE, Refusal(s(t(3)), RuntimeError, r"(?i)expected 2d or 3d"))
    ),
    channels("dropout2d", (2, 3, 2, 2), (0, 3, 2, 2)),
    channels("dropout3d", (3, 2, 2, 1), (2, 3, 1, 2, 2)),
    alpha("alpha_dropout", (3, 4), (17,), (0,)),
    alpha("feature_alpha_dropout", (3, 4), (2, 3, 2)),
    plain("dropout"),
    plain("feature_dropout"),
    plain("alpha_dropout"),
    plain("feature_alpha_dropout"),
]


# ---- bags of embeddings


def embedding_bag(
    at: Array,
    weight: Array,
    offsets: Any = None,
    max_norm: Any = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: Any = None,
) -> Array:
    factors = np.ones(at.shape) if per_sample_weights is None else per_sample_weights
    if at.ndim == 2:
        bags = [(row, f) for row, f in zip(at, factors, strict=True)]
    else:
        ends = offsets if include_last_offset else [*offsets, len(at)]
        bags = [(at[a:b], factors[a:b]) for a, b in itertools.pairwise(ends)]
    out = np.zeros((len(bags), weight.shape[1]))
    for k, (rows, f) in enumerate(bags):
        kept = [i for i in range(len(rows)) if padding_idx is None or rows[i] != padding_idx % len(weight)]
        if not kept:
            continue
        picked = weight[rows[kept]] * f[kept][:, None]
        out[k] = {"sum": picked.sum(0), "mean": picked.mean(0), "max": picked.max(0)}[mode]
    return out


SIX = index([1, 0, 3, 3, 2, 1])
BAGS = layer(
    "nn.functional.embedding_bag",
    embedding_bag,
    each(
        (
            *(s(SIX, t(4, 3, domain=DISTINCT), index([0, 2, 5]), mode=m) for m in ("mean", "sum", "max")),
            *(s(SIX, t(4, 3, domain=DISTINCT), index([0, 2, 2]), mode=m) for m in ("mean", "sum", "max")),
            *(s(index([[1, 0], [3, 3]]), t(4, 3, domain=DISTINCT), mode=m) for m in ("mean", "sum", "max")),
            *(
                s(SIX, t(4, 3, domain=DISTINCT), index([0, 2, 4]), mode=m, padding_idx=p)
                for m in ("mean", "sum", "max")
                for p in (3, -1)
            ),
            s(SIX, t(4, 3), index([0, 2, 6]), mode="sum", include_last_offset=True),
            # The last index is in no bag.
            s(SIX, t(4, 3), index([0, 2, 5]), mode="sum", include_last_offset=True),
            s(SIX, t(4, 3), index([0, 4]), mode="sum", per_sample_weights=t(6)),
            s(SIX, t(4, 3), index([0, 4]), mode="sum", per_sample_weights=t(6), padding_idx=1),
            s(index([[1, 0], [3, 3]]), t(4, 3), mode="sum", per_sample_weights=t(2, 2)),
            s(given([3, 3], "int32"), t(4, 3), given([0, 1], "int32")),
            s(index([16, 0, 16, 5]), t(17, 9), index([0, 1])),
        ),
        sound=False,  # no forward mode, no second derivatives
    ),
    domain=DISTINCT,
    reads=(2,),
    edges=(
        Edge(
            s(index([0, 0]), given([[1.0], [2.0]]), index([0, 1]), mode="sum", scale_grad_by_freq=True),
            [[3.0], [5.0]],
            ([[4.0], [0.0]],),
        ),
    ),
    refuses=(
        Refusal(s(index([4]), t(4, 3), index([0])), RuntimeError, r"4"),
        Refusal(s(index([1]), t(4, 3), index([1])), RuntimeError, r"offsets\[0\] has to be 0.*got 1"),
        Refusal(s(index([1]), t(4, 3), index([0, 2])), RuntimeError, r"offsets\[-1\].*length 1.*of 2"),
        Refusal(s(index([1]), t(4, 3)), ValueError, r"offsets has to be a 1D Tensor"),
        Refusal(s(index([[1]]), t(4, 3), index([0])), ValueError, r"offsets has to be None"),
        Refusal(s(index([1]), t(4), index([0])), ValueError, r"weight has to be a 2D Tensor"),
        Refusal(s(index([1]), t(4, 3), index([0]), mode="most"), ValueError, r"sum, mean or max"),
        Refusal(s(t(1), t(4, 3), index([0])), RuntimeError, r"indices.*Long, Int"),
        Refusal(s(index([1]), t(4, 3), index([0]), padding_idx=5), RuntimeError, r"-4 through 3, but got 5"),
        Refusal(s(index([1]), t(4, 3), index([0]), per_sample_weights=t(2)), ValueError, r"same shape as the input"),
        Refusal(s(index([1]), t(4, 3), index([0]), per_sample_weights=t(1)), NotImplementedError, r"mode='sum'"),
    ),
    halves=0,
)


# ---- alignments


def ctc_loss(
    x: Array,
    targets: Array,
    steps: Any,
    lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """By the definition: the sum over all ways to label the steps."""
    x = x - np.log(np.exp(x).sum(-1, keepdims=True))
    single = x.ndim == 2
    if single:
        x, targets, steps, lengths = x[:, None], targets[None], np.atleast_1d(steps), np.atleast_1d(lengths)
    losses = []
    for n in range(x.shape[1]):
        want = list(targets[n, : lengths[n]]) if targets.ndim == 2 else list(targets[sum(lengths[:n]) :][: lengths[n]])
        total = 0.0
        for way in itertools.product(range(x.shape[2]), repeat=int(steps[n])):
            if [c for c, _ in itertools.groupby(way) if c != blank] == want:
                total += math.exp(sum(x[i, n, c] for i, c in enumerate(way)))
        loss = -math.log(total) if total else math.inf
        losses.append(0.0 if zero_infinity and total == 0 else loss)
    found = np.array(losses)
    if reduction == "mean":
        return (found / np.maximum(lengths, 1)).mean()
    return found.sum() if reduction == "sum" else found[0] if single else found


def aligned(rg: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    # The gradient is meant for logarithms that come from log_softmax.
    return rg.nn.functional.ctc_loss(x.log_softmax(-1), *args, **kwargs)


PAIRS = index([[1, 2], [2, 2]])
CTC = layer(
    "nn.functional.ctc_loss",
    ctc_loss,
    each(
        (
            *(s(t(4, 2, 3), PAIRS, (4, 4), (2, 2), reduction=how) for how in ("mean", "sum", "none")),
            s(t(4, 2, 3), PAIRS, (4, 3), (2, 1)),
            s(t(4, 2, 3), PAIRS, (3, 2), (0, 1), reduction="none"),
            s(t(4, 2, 3), index([1, 2, 2]), (4, 4), (1, 2)),
            s(t(4, 2, 3), index([[1, 0], [0, 1]]), (4, 4), (2, 2), blank=2),
            s(t(4, 2, 3), PAIRS, index([4, 4]), index([2, 2])),
            s(t(3, 3), index([1]), index(3), index(1), reduction="none"),
            s(t(2, 2, 3), PAIRS, (2, 2), (2, 2), zero_infinity=True, reduction="none"),
        ),
        sound=False,  # no forward mode, no second derivatives
    ),
    call=aligned,
    reads=(1, 2, 3),
    refuses=(
        Refusal(s(t(4, 2, 3), index([[1, 2]]), (4, 4), (2, 2)), RuntimeError, r"size 2 at dimension 0.*size 1"),
        Refusal(s(t(4, 2, 3), PAIRS, (4,), (2, 2)), RuntimeError, r"input_lengths must be of size batch_size"),
        Refusal(s(t(4, 2, 3), PAIRS, (5, 4), (2, 2)), RuntimeError, r"at most 4, but got value 5"),
        Refusal(s(t(4, 2, 3), PAIRS, (4, 4), (3, 2)), RuntimeError, r"at least 3 at dimension 1.*size 2"),
        Refusal(s(t(4, 2, 3), PAIRS, (4, 4), (2, 2), 3), RuntimeError, r"blank must be in label range"),
        Refusal(s(t(4, 2, 3), PAIRS, (4, 4), (2, 2), reduction="most"), ValueError, r"most"),
        Refusal(s(t(4, 2, 3), index([1, 2, 1]), (4, 4), (2, 2)), RuntimeError, r"size 4 at dimension 0.*size 3"),
    ),
)


# ---- recurrence


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def step(kind: str, x: Array, state: tuple[Array, ...], w: Any) -> tuple[Array, ...]:
    w_ih, w_hh, b_ih, b_hh = (*w[:2], 0.0, 0.0) if len(w) == 2 else w[:4]
    a, b = x @ w_ih.T + b_ih, state[0] @ w_hh.T + b_hh
    if kind == "lstm":
        i, f, g, o = np.split(a + b, 4, axis=-1)
        c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        return (h @ w[4].T if len(w) == 5 else h), c
    if kind == "gru":
        (ar, az, an), (br, bz, bn) = np.split(a, 3, axis=-1), np.split(b, 3, axis=-1)
        n = np.tanh(an + sigmoid(ar + br) * bn)
        return (n + sigmoid(az + bz) * (state[0] - n),)
    return (np.tanh(a + b) if kind == "tanh" else np.maximum(a + b, 0),)


def recurrent(kind: str) -> Callable[..., Any]:
    def layers(
        x: Array,
        hx: Any,
        params: Any,
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> list[Array]:
        states = list(zip(*hx, strict=True)) if kind == "lstm" else [(h,) for h in hx]
        width = len(params) // len(states)
        x = np.swapaxes(x, 0, 1) if batch_first else x
        ends = []
        for k in range(num_layers):
            outs = []
            for d in range(1 + bidirectional):
                at = k * (1 + bidirectional) + d
                state, hidden = states[at], []
                for v in x[::-1] if d else x:
                    state = step(kind, v, state, params[at * width : (at + 1) * width])
                    hidden.append(state[0])
                outs.append(np.stack(hidden[::-1] if d else hidden))
                ends.append(state)
            x = np.concatenate(outs, -1)
        x = np.swapaxes(x, 0, 1) if batch_first else x
        return [x, *(np.stack(parts) for parts in zip(*ends, strict=True))]

    def packed(x: Array, counts: Array, hx: Any, params: Any, *rest: Any) -> list[Array]:
        firsts = np.concatenate([[0], np.cumsum(counts)])
        out, ends = None, []
        for n in range(counts[0]):
            rows = [firsts[i] + n for i in range(len(counts)) if counts[i] > n]
            own = [h[:, n : n + 1] for h in hx] if kind == "lstm" else hx[:, n : n + 1]
            y, *last = layers(x[rows][:, None], own, params, *rest, False)
            out = np.zeros((len(x), y.shape[-1])) if out is None else out
            out[rows] = y[:, 0]
            ends.append(last)
        return [np.asarray(out), *(np.concatenate(parts, 1) for parts in zip(*ends, strict=True))]

    def either(x: Array, second: Any, *rest: Any) -> list[Array]:
        return packed(x, second, *rest) if getattr(second, "dtype", None) == np.int64 else layers(x, second, *rest)

    return either


def weights(gates: int, features: int, hidden: int, biases: bool = True) -> list[Any]:
    rows = gates * hidden
    return [t(rows, features), t(rows, hidden), *([t(rows), t(rows)] if biases else [])]


def recurrence(name: str, kind: str, gates: int) -> OpRecord:
    def state(*sizes: int) -> Any:
        return [t(*sizes), t(*sizes)] if kind == "lstm" else t(*sizes)

    off = (False, 1, 0.0, False, False, False)
    on = (True, 1, 0.0, False, False, False)
    two_way = [*weights(gates, 2, 3), *weights(gates, 2, 3)]
    deep = [*weights(gates, 2, 3), *weights(gates, 3, 3)]
    samples = [
        s(t(3, 2, 2), state(1, 2, 3), weights(gates, 2, 3), *on),
        s(t(3, 2, 2), state(1, 2, 3), weights(gates, 2, 3, False), *off),
        s(t(2, 3, 2), state(1, 2, 3), weights(gates, 2, 3), True, 1, 0.0, False, False, True),
        s(t(3, 2, 2), state(2, 2, 3), two_way, True, 1, 0.0, False, True, False),
        s(t(3, 2, 2), state(2, 2, 3), deep, True, 2, 0.0, True, False, False),
        s(t(3, 2, 2), state(2, 2, 3), deep, True, 2, 0.5, False, False, False),
        s(t(3, 2, 2), state(2, 2, 3), deep, True, 2, 1.0, True, False, False).but(values=False),
        s(t(6, 2), index([3, 2, 1]), state(1, 3, 3), weights(gates, 2, 3), True, 1, 0.0, False, False),
        s(t(5, 2), index([2, 2, 1]), state(2, 2, 3), two_way, True, 1, 0.0, False, True),
        s(t(1, 1, 1), state(1, 1, 1), weights(gates, 1, 1), *on),
    ]
    refuses = [
        Refusal(s(t(3, 2, 2), state(1, 2, 3), weights(gates, 2, 3)[:3], *on), RuntimeError, r"incorrect number of RNN"),
        Refusal(
            s(t(3, 2, 2), state(1, 2, 3), weights(gates, 2, 3), True, 2, 0.0, False, False, False),
            RuntimeError,
            r"more hidden states",
        ),
        Refusal(s(t(0, 2, 2), state(1, 2, 3), weights(gates, 2, 3), *on), RuntimeError, r"larger than 0"),
    ]
    if kind == "lstm":
        projected = [t(12, 2), t(12, 2), t(12), t(12), t(2, 3)]
        samples.append(s(t(3, 2, 2), [t(1, 2, 2), t(1, 2, 3)], projected, *on).but(dtypes=("float64",)))
        refuses.append(Refusal(s(t(3, 2, 2), [t(1, 2, 3)], weights(4, 2, 3), *on), RuntimeError, r"two hidden states"))
    return layer(name, recurrent(kind), tuple(samples), seed=5, refuses=tuple(refuses), domain=OFF_POLES)


def cell(name: str, kind: str, gates: int) -> OpRecord:
    def reference(x: Array, hx: Any, *w: Any) -> Any:
        found = step(kind, x, tuple(hx) if kind == "lstm" else (hx,), w)
        return list(found) if kind == "lstm" else found[0]

    def state(*sizes: int) -> Any:
        return [t(*sizes), t(*sizes)] if kind == "lstm" else t(*sizes)

    return layer(
        name,
        reference,
        (
            s(t(2, 4), state(2, 3), *weights(gates, 4, 3)),
            s(t(2, 4), state(2, 3), *weights(gates, 4, 3, False)),
            s(t(17, 1), state(17, 9), *weights(gates, 1, 9)),
        ),
        domain=OFF_POLES,
        refuses=(
            Refusal(
                s(t(2, 4), state(3, 3), *weights(gates, 4, 3)), RuntimeError, r"batch size 2 doesn't match hidden0"
            ),
            Refusal(s(t(2, 4), state(2, 2), *weights(gates, 4, 3)), RuntimeError, r"hidden_size: got 2, expected 3"),
            Refusal(s(t(2, 5), state(2, 3), *weights(gates, 4, 3)), RuntimeError, r"input_size: got 5 expected 4"),
        ),
    )


RECORDS = [
    *DROPOUTS,
    BAGS,
    CTC,
    recurrence("rnn_tanh", "tanh", 1),
    recurrence("rnn_relu", "relu", 1),
    recurrence("lstm", "lstm", 4),
    recurrence("gru", "gru", 3),
    cell("rnn_tanh_cell", "tanh", 1),
    cell("rnn_relu_cell", "relu", 1),
    cell("lstm_cell", "lstm", 4),
    cell("gru_cell", "gru", 3),
]
