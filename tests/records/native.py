"""Records of normalizations and dropout with all their results, and of a convolution along time."""

from typing import Any

import numpy as np

from records.record import Array, OpRecord, Refusal, given, index, s, t

W, B = t(4), t(4)


def standardized(x: Array, axes: tuple[int, ...], eps: float) -> tuple[Array, Array, Array]:
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    return (x - mean) * rstd, mean, rstd


def scaled(y: Array, w: Any, b: Any, shape: tuple[int, ...]) -> Array:
    y = y if w is None else y * w.reshape(shape)
    return y if b is None else y + b.reshape(shape)


def layer(x: Array, shape: tuple[int, ...], w: Any, b: Any, eps: float) -> Any:
    y, mean, rstd = standardized(x, tuple(range(x.ndim - len(shape), x.ndim)), eps)
    return scaled(y, w, b, shape), mean, rstd


def group(x: Array, w: Any, b: Any, N: int, C: int, HxW: int, groups: int, eps: float) -> Any:
    y, mean, rstd = standardized(x.reshape(N, groups, -1), (2,), eps)
    y = scaled(y.reshape(N, C, HxW), w, b, (1, -1, 1))
    return y.reshape(x.shape), mean[..., 0], rstd[..., 0]


def batch(x: Array, w: Any, b: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float) -> Any:
    along = (1, -1, *[1] * (x.ndim - 2))
    if training:
        y, found, rstd = standardized(x, (0, *range(2, x.ndim)), eps)
        return scaled(y, w, b, along), found.reshape(-1), rstd.reshape(-1)
    y = (x - mean.reshape(along)) / np.sqrt(var.reshape(along) + eps)
    return scaled(y, w, b, along), np.empty(0), np.empty(0)


def legit(x: Array, w: Any, b: Any, *rest: Any) -> Any:
    return batch(x, w, b, *((None, None, *rest) if len(rest) == 3 else rest))


def result_alone(name: str, **kept: Any) -> Any:
    """The moments get no gradient, so that differences do not find one."""

    def call(rg: Any, *args: Any) -> Any:
        y, mean, rstd = getattr(rg, name)(*args)
        assert not mean.requires_grad and not rstd.requires_grad
        return y

    return call


def first(reference: Any) -> Any:
    return lambda *args: reference(*args)[0]


def moments(name: str, reference: Any, *samples: Any, **facts: Any) -> OpRecord:
    return OpRecord(
        name=name,
        reference=first(reference),
        call=result_alone(name),
        method=False,
        halves=2,
        slack=256.0,
        samples=samples,
        **facts,
    )


def dropped(rg: Any, x: Any, p: float, train: Any) -> Any:
    y, mask = rg.native_dropout(x, p, train)
    assert mask.dtype is rg.bool and not mask.requires_grad
    return y


def along_time(x: Array, w: Array, b: Array, pad: int = 0) -> Array:
    x = np.pad(x, ((pad, pad), (0, 0), (0, 0))) if pad >= 0 else x[-pad:pad]
    length = len(x) + 1 - len(w)
    return np.asarray(
        sum((x[k : k + length] @ w[k] for k in range(len(w))), np.zeros((length, x.shape[1], len(b)))) + b
    )


MEAN, VAR = given([0.5, -0.25, 1.0, 0.0], grad=False), given([1.0, 0.5, 2.0, 0.25], grad=False)

RECORDS = [
    moments(
        "native_layer_norm",
        layer,
        s(t(3, 4), (4,), None, None, 0.1),
        s(t(2, 3, 4), (4,), W, B, 0.1),
        s(t(2, 3, 4), [3, 4], None, t(3, 4), 0.1),
        s(t(5, 33), (33,), t(33), None, 0.1),
        refuses=(
            Refusal(s(t(3, 4), (3,), None, None, 0.1), RuntimeError, r"Given normalized_shape=\[3\]"),
            Refusal(
                s(t(3, 4), (), None, None, 0.1), RuntimeError, r"Expected normalized_shape to be at least 1-dimensional"
            ),
            Refusal(
                s(t(3, 4), (4,), t(3), None, 0.1),
                RuntimeError,
                r"Expected weight to be of same shape as normalized_shape",
            ),
        ),
    ),
    moments(
        "native_group_norm",
        group,
        s(t(2, 4, 3), None, None, 2, 4, 3, 2, 0.1),
        s(t(2, 4, 3), W, B, 2, 4, 3, 2, 0.1),
        s(t(2, 4, 2, 2), W, None, 2, 4, 4, 4, 0.1),
        s(t(2, 4, 3), None, t(2), 4, 2, 3, 1, 0.1).but(sound=False),
        refuses=(
            Refusal(
                s(t(2, 4, 3), None, None, 2, 4, 3, 3, 0.1),
                RuntimeError,
                r"divisible by num_groups, but got input of shape",
            ),
            Refusal(
                s(t(2, 4, 3), None, None, 2, 4, 5, 2, 0.1),
                RuntimeError,
                r"Expected X.numel\(\) == N \* C \* HxW to be true",
            ),
            Refusal(
                s(t(2, 4, 3), None, None, 2, 4, 3, 0, 0.1),
                RuntimeError,
                r"Expected num groups to be greater than 0, got 0",
            ),
            Refusal(
                s(t(2, 4, 3), t(3), None, 2, 4, 3, 2, 0.1),
                RuntimeError,
                r"Expected weight to be a vector of size equal",
            ),
        ),
    ),
    moments(
        "native_batch_norm",
        batch,
        s(t(3, 4), None, None, None, None, True, 0.1, 0.1),
        s(t(3, 4, 2), W, B, None, None, True, 0.1, 0.1),
        s(t(3, 4, 2), W, None, MEAN, VAR, False, 0.1, 0.1),
        s(t(2, 4, 17), None, B, MEAN, VAR, False, 0.1, 0.1),
        refuses=(
            Refusal(
                s(t(3, 4, 0), None, None, None, None, True, 0.1, 0.1), RuntimeError, r"must have at least one element"
            ),
        ),
    ),
    moments(
        "_native_batch_norm_legit",
        legit,
        s(t(3, 4), None, None, True, 0.1, 0.1),
        s(t(3, 4, 2), W, B, True, 0.1, 0.1),
        s(t(3, 4, 2), W, B, MEAN, VAR, False, 0.1, 0.1),
        refuses=(Refusal(s(t(3, 4), None, None, None, None, True, 0.1, 0.1), TypeError, r"running_mean"),),
    ),
    OpRecord(
        name="native_dropout",
        reference=lambda x, p, train: x * (p < 1 or train is False),
        call=dropped,
        method=False,
        seed=5,
        halves=0,
        samples=(s(t(3, 4), 0.0, True), s(t(3, 4), 1.0, None), s(t(33), 0.5, False)),
        refuses=(
            Refusal(s(t(3), 1.5, True), RuntimeError, r"bernoulli_ expects p to be in \[0, 1\], but got p=-0.5"),
            Refusal(
                s(index([1]), 0.5, True),
                RuntimeError,
                r"result type Float can't be cast to the desired output type Long",
            ),
        ),
    ),
    OpRecord(
        name="conv_tbc",
        loops=True,
        reference=along_time,
        method=False,
        halves=2,
        slack=64.0,
        samples=tuple(
            x.but(sound=False)
            for x in (
                s(t(5, 2, 3), t(2, 3, 4), t(4)),
                s(t(5, 2, 3), t(3, 3, 2), t(2), 2),
                s(t(4, 1, 3), t(1, 3, 2), t(2), pad=1),
                s(t(5, 2, 3), t(2, 3, 4), t(4), -1),
                s(t(1, 2, 3), t(2, 3, 4), t(4)),
            )
        ),
        refuses=(
            Refusal(s(t(5, 3), t(2, 3, 4), t(4)), RuntimeError, r"Input must have 3 dims: time, batch, in_channel"),
            Refusal(
                s(t(5, 2, 3), t(3, 4), t(4)), RuntimeError, r"Weight tensor must have 3 dims: kernel_width, in_channels"
            ),
            Refusal(s(t(5, 2, 3), t(2, 3, 4), t(1, 4)), RuntimeError, r"Bias must be 1-D"),
            Refusal(
                s(t(5, 2, 3), t(2, 2, 4), t(4)), RuntimeError, r"Input dim 2 \(input channels\) is not == dim 1 in the"
            ),
            Refusal(s(t(5, 2, 3), t(2, 3, 4), t(3)), RuntimeError, r"Bias size must equal dim 2 in the weight tensor"),
            Refusal(
                s(t(1, 2, 3), t(3, 3, 4), t(4)), RuntimeError, r"Trying to create tensor with negative dimension -1"
            ),
        ),
    ),
]
