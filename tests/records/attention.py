"""Records of attention."""

import math
from typing import Any

import numpy as np

from records import STANDIN
from records.record import Array, Edge, OpRecord, Refusal, given, index, mask, s, t

LONG = 128.0  # sums of products in another order than NumPy's


def attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Array:
    if enable_gqa:
        key, value = (np.repeat(x, query.shape[-3] // key.shape[-3], axis=-3) for x in (key, value))
    factor = scale if scale is not None else 1 / math.sqrt(query.shape[-1])
    scores = factor * (query @ np.swapaxes(key, -1, -2))
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    sums = weights.sum(axis=-1, keepdims=True)
    return np.asarray((weights / np.where(sums == 0, 1, sums)) @ value)


def called(rg: Any, *args: Any, **kwargs: Any) -> Any:
    function = rg.nn.functional.scaled_dot_product_attention
    if STANDIN == "retrograd":
        return function(*args, **kwargs)
    # PyTorch's fused path has neither forward mode nor second derivatives; its other one has both.
    from torch.nn.attention import SDPBackend, sdpa_kernel  # type: ignore[import-not-found, unused-ignore]

    with sdpa_kernel(SDPBackend.MATH):
        return function(*args, **kwargs)


SEEN = mask([[True, False, True, True], [False, True, True, False], [False, False, False, False]])
LOWER = mask([[True, False, False, False], [True, True, False, True], [True, False, True, True]])

RECORDS = [
    OpRecord(
        name="nn.functional.scaled_dot_product_attention",
        reference=attention,
        call=called,
        method=False,
        slack=LONG,
        samples=(
            s(t(2, 2, 3, 4), t(2, 2, 5, 4), t(2, 2, 5, 4)),
            s(t(2, 2, 3, 4), t(2, 2, 5, 4), t(2, 2, 5, 4), is_causal=True),
            s(t(1, 2, 6, 3), t(1, 2, 4, 3), t(1, 2, 4, 3), scale=0.7, is_causal=True),
            s(t(2, 2, 3, 2), t(2, 2, 4, 2), t(2, 2, 4, 2), SEEN),
            s(t(2, 2, 3, 2), t(2, 2, 4, 2), t(2, 2, 4, 2), t(3, 4, grad=False)),
            s(t(2, 2, 3, 2), t(2, 2, 4, 2), t(2, 2, 4, 2), t(2, 1, 3, 4)),
            s(t(2, 4, 3, 2), t(2, 2, 5, 2), t(2, 2, 5, 2), enable_gqa=True),
            s(t(4, 3, 2), t(2, 5, 2), t(2, 5, 3), enable_gqa=True, is_causal=True),
            s(t(2, 4, 3, 2), t(2, 2, 4, 2), t(2, 2, 4, 2), LOWER, enable_gqa=True),
            s(t(2, 2, 3, 4), t(2, 2, 5, 4), t(2, 2, 5, 3)),
            s(t(3, 4), t(5, 4), t(5, 2)),
            s(t(3, 2), t(4, 2), t(4, 2), SEEN),
            s(t(2, 3, 4), t(2, 5, 4), t(2, 5, 4), is_causal=True),
            s(t(2, 1, 2, 3, 2), t(2, 1, 2, 4, 2), t(2, 1, 2, 4, 2)),
            s(t(2, 3, 4), t(5, 4), t(2, 5, 4)),
            s(t(1, 1, 17, 8), t(1, 1, 33, 8), t(1, 1, 33, 8)),
            s(t(1, 1, 70, 2), t(1, 1, 300, 2), t(1, 1, 300, 2)).but(layouts=()),
            s(t(1, 1, 70, 2), t(1, 1, 70, 2), t(1, 1, 70, 2), is_causal=True).but(layouts=()),
            s(t(2, 1, 4), t(2, 9, 4), t(2, 9, 4)),
            s(t(2, 0, 4), t(2, 5, 4), t(2, 5, 4)),
            s(t(0, 3, 4), t(0, 5, 4), t(0, 5, 4)),
            s(t(2, 3, 4), t(2, 5, 4), t(2, 5, 4), None, 1.0).but(values=False),
        ),
        edges=(
            Edge(
                s(given([[1.0]]), given([[2.0], [3.0]]), given([[4.0], [5.0]]), mask([[False, False]])),
                [[2.0]],
                ([[0.0]], [[0.0], [0.0]], [[0.0], [0.0]]),
            ),
        ),
        refuses=(
            Refusal(s(t(3), t(4, 3), t(4, 3)), RuntimeError, r"at least 2 dimensional.*query.dim: 1"),
            Refusal(s(t(2, 3), t(4, 3, dtype="float32"), t(4, 3)), RuntimeError, r"same dtype.*float"),
            Refusal(s(t(2, 3), t(4, 2), t(4, 2)), RuntimeError, r"(?s)3.*2"),
            Refusal(s(t(2, 3), t(4, 3), t(4, 3), index([[0, 0, 0, 0]])), RuntimeError, r"attn_mask dtype"),
            Refusal(s(t(2, 3), t(4, 3), t(4, 3), t(3, 4)), RuntimeError, r"(?s)2.*3|3.*2"),
            Refusal(s(t(2, 3), t(4, 3), t(4, 3), dropout_p=1.5), RuntimeError, r"between 0 and 1, but got 1.5"),
            Refusal(
                s(t(4, 2, 3), t(3, 4, 3), t(3, 4, 3), enable_gqa=True), RuntimeError, r"must divide the number of heads"
            ),
            Refusal(s(t(2, 3), t(4, 3), t(4, 3), enable_gqa=True), IndexError, r"-3"),
        ),
        halves=0,
    ),
]
