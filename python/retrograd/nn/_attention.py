"""Attention with several heads and projections, as a function of its weights."""

from __future__ import annotations

import math
import warnings

from retrograd import _core
from retrograd._asking import asking
from retrograd._core import Tensor
from retrograd._core import _nn_functional as F
from retrograd._core import dtype as DType


def canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: DType | None,
    other_name: str,
    target_type: DType,
    check_other: bool = True,
) -> Tensor | None:
    """A mask as numbers that are added to scores: a bool mask has minus infinity where it is true.

    Raises: AssertionError for a mask of integers. Warns if another mask has another dtype.
    """
    if mask is None:
        return None
    is_float = mask.is_floating_point()
    if not is_float and mask.dtype != _core.bool:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=3,
        )
    if is_float:
        return mask
    return _core.zeros_like(mask, dtype=target_type).masked_fill_(mask, -math.inf)


def _check_dims(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Whether there is a batch. Raises: AssertionError if the numbers of dimensions do not fit."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    batched = dims == 3
    expected = f"For {'batched' if batched else 'unbatched'} ({dims}-D) `query`, expected"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"{expected} `key` and `value` to be {dims}-D but found {key.dim()}-D and {value.dim()}-D tensors "
            "respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"{expected} `key_padding_mask` to be `None` or {dims - 1}-D but found {key_padding_mask.dim()}-D tensor "
            "instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"{expected} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
            )
        if not batched and attn_mask.dim() == 3:
            size = (num_heads, query.shape[0], key.shape[0])
            if attn_mask.shape != size:
                raise AssertionError(f"Expected `attn_mask` shape to be {size} but got {attn_mask.shape}")
    return batched


def _check_mask(attn_mask: Tensor, queries: int, keys: int, batch: int, heads: int) -> Tensor:
    """The mask with three dimensions."""
    size = (queries, keys) if attn_mask.dim() == 2 else (batch * heads, queries, keys)
    if attn_mask.shape != size:
        raise RuntimeError(f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {size}.")
    return attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask


# The orders of dimensions that make (N, H, L, D) of a projection (N, L, H, D) or (L, N, H, D), and tuples of these of
# several projections together, whose dimension comes before H.
_BATCH_FIRST = (0, 2, 1, 3), (2, 0, 3, 1, 4)
_SEQUENCE_FIRST = (1, 2, 0, 3), (2, 1, 3, 0, 4)


def _projections(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    num_heads: int,
    weights: tuple[Tensor, Tensor, Tensor] | Tensor,
    bias: Tensor | None,
    batch_first: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of all heads, (N, H, L, D) each.

    What is the same tensor with weights that lie together is projected by one product.
    """
    embed_dim = query.size(-1)
    split = (num_heads, embed_dim // num_heads)
    order, order_of_several = _BATCH_FIRST if batch_first else _SEQUENCE_FIRST

    def heads(projected: Tensor) -> Tensor:
        return projected.unflatten(-1, split).permute(order)

    if isinstance(weights, Tensor):
        if query is key and key is value:
            three = F.linear(query, weights, bias).unflatten(-1, (3, *split))
            q, k, v = three.permute(order_of_several).unbind()
            return q, k, v
        if key is value:
            w_q, w_kv = weights.split([embed_dim, 2 * embed_dim])
            b_q, b_kv = (None, None) if bias is None else bias.split([embed_dim, 2 * embed_dim])
            two = F.linear(key, w_kv, b_kv).unflatten(-1, (2, *split))
            k, v = two.permute(order_of_several).unbind()
            return heads(F.linear(query, w_q, b_q)), k, v
        w_q, w_k, w_v = weights.chunk(3)
    else:
        w_q, w_k, w_v = weights
        for name, weight, size in (
            ("query", w_q, embed_dim),
            ("key", w_k, key.size(-1)),
            ("value", w_v, value.size(-1)),
        ):
            if weight.shape != (embed_dim, size):
                raise AssertionError(f"expecting {name} weights shape of {(embed_dim, size)}, but got {weight.shape}")
    b_q, b_k, b_v = (None, None, None) if bias is None else bias.chunk(3)
    return heads(F.linear(query, w_q, b_q)), heads(F.linear(key, w_k, b_k)), heads(F.linear(value, w_v, b_v))


def _check_static(name: str, given: Tensor, batch: int, heads: int, head_dim: int) -> Tensor:
    for dim, size in ((0, batch * heads), (2, head_dim)):
        if given.size(dim) != size:
            raise AssertionError(f"expecting {name}.size({dim}) of {size}, but got {given.size(dim)}")
    return given.unflatten(0, (batch, heads))


@asking
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """The attention of `nn.MultiheadAttention`, with these weights.

    Args: `query` (L, N, E), `key` (S, N, K) and `value` (S, N, V), or all without the batch N; `embed_dim_to_check` is
    E; `in_proj_weight` (3 E, E), or with `use_separate_proj_weight` the three of query, key and value; `in_proj_bias`
    (3 E,); `bias_k` and `bias_v` (1, 1, E) a key and a value more; `add_zero_attn` one more of zeros; `dropout_p` the
    probability that an attention weight is dropped while `training`; `key_padding_mask` (N, S) and `attn_mask` (L, S)
    or (N * num_heads, L, S), true or minus infinity where a key is not seen; `is_causal` a hint that `attn_mask` is
    causal; `static_k` and `static_v` (N * num_heads, S, E / num_heads) in the place of projected keys and values.
    Returns: the output, like `query`, and with `need_weights` the weights (N, L, S), or (N, num_heads, L, S) unless
    `average_attn_weights`. Raises: AssertionError or RuntimeError if shapes do not fit.

    >>> x, w = rg.ones(5, 2, 4), rg.nn.init.eye_(rg.empty(12, 4))
    >>> out, weights = rg.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 4, 2, w, None, None, None, False, 0.0, rg.eye(4), None
    ... )
    >>> out.shape, weights.shape
    (retrograd.Size([5, 2, 4]), retrograd.Size([2, 5, 5]))
    """
    return attend(
        query,
        key,
        value,
        embed_dim_to_check,
        num_heads,
        _weights(in_proj_weight, use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight),
        in_proj_bias,
        bias_k,
        bias_v,
        add_zero_attn,
        dropout_p if training else 0.0,
        out_proj_weight,
        out_proj_bias,
        key_padding_mask,
        need_weights,
        attn_mask,
        static_k,
        static_v,
        average_attn_weights,
        is_causal,
        batch_first=False,
    )


def _weights(
    together: Tensor | None, separate: bool, q: Tensor | None, k: Tensor | None, v: Tensor | None
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    if not separate:
        if together is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        return together
    for name, weight in (("q", q), ("k", k), ("v", v)):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    return q, k, v  # type: ignore[return-value]  # checked above


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_heads: int,
    weights: Tensor | tuple[Tensor, Tensor, Tensor],
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    key_padding_mask: Tensor | None,
    need_weights: bool,
    attn_mask: Tensor | None,
    static_k: Tensor | None,
    static_v: Tensor | None,
    average_attn_weights: bool,
    is_causal: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor | None]:
    """`multi_head_attention_forward` of either order of batch and sequence."""
    batched = _check_dims(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        # The same tensor stays the same, so that it is projected once.
        alone = {id(t): t.unsqueeze(0 if batch_first else 1) for t in (query, key, value)}
        query, key, value = (alone[id(t)] for t in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    n, length = (0, 1) if batch_first else (1, 0)
    batch, queries, keys = query.size(n), query.size(length), key.size(length)
    if key_padding_mask is not None:
        other = None if attn_mask is None else attn_mask.dtype
        key_padding_mask = canonical_mask(key_padding_mask, "key_padding_mask", other, "attn_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # the hint says it all
    else:
        is_causal = False
        if attn_mask is not None:
            attn_mask = canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
    if query.size(-1) != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {query.size(-1)}")
    head_dim = embed_dim // num_heads
    if head_dim * num_heads != embed_dim:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if isinstance(weights, Tensor):
        if key is not value and key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    elif key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    q, k, v = _projections(query, key, value, num_heads, weights, in_proj_bias, batch_first)
    if attn_mask is not None:
        attn_mask = _check_mask(attn_mask, queries, keys, batch, num_heads)
    if (bias_k is None) != (bias_v is None):
        has, lacks = ("bias_k", "bias_v") if bias_v is None else ("bias_v", "bias_k")
        raise AssertionError(f"{has} is set but {lacks} is None")
    more = 0
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError(f"bias cannot be added to static {'key' if static_k is not None else 'value'}.")
        size = (1, num_heads, 1, head_dim)
        k = _core.cat([k, bias_k.view(size).expand(batch, -1, -1, -1)], 2)
        v = _core.cat([v, bias_v.view(size).expand(batch, -1, -1, -1)], 2)
        more += 1
    if static_k is not None:
        k = _check_static("static_k", static_k, batch, num_heads, head_dim)
    if static_v is not None:
        v = _check_static("static_v", static_v, batch, num_heads, head_dim)
    if add_zero_attn:
        zeros = _core.zeros((batch, num_heads, 1, head_dim), dtype=k.dtype, device=k.device)
        k, v = _core.cat([k, zeros], 2), _core.cat([v, zeros], 2)
        more += 1
    mask = _merged(attn_mask, key_padding_mask, batch, num_heads, k.size(2), more)
    attention: Tensor | None = None
    if need_weights:
        scores = q * math.sqrt(1.0 / head_dim) @ k.transpose(-2, -1)
        attention = F.softmax(scores if mask is None else scores + mask, -1)
        if dropout_p > 0.0:
            attention = F.dropout(attention, dropout_p)
        out = attention @ v
        attention = attention.mean(1) if average_attn_weights else attention
    else:
        out = F.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
    # In memory, the sequence comes first in either case: a dropout that follows draws in this order, as in PyTorch.
    out = F.linear(out.permute(2, 0, 1, 3).flatten(2), out_proj_weight, out_proj_bias)
    if not batched:
        return out.squeeze(1), None if attention is None else attention.squeeze(0)
    return out.transpose(0, 1) if batch_first else out, attention


def _merged(
    attn_mask: Tensor | None, key_padding_mask: Tensor | None, batch: int, heads: int, keys: int, more: int
) -> Tensor | None:
    """One mask of four dimensions. The `more` keys at the end are always seen."""
    if attn_mask is not None:
        attn_mask = F.pad(attn_mask, (0, more)) if more else attn_mask
        attn_mask = attn_mask.unflatten(0, (-1, heads)) if attn_mask.size(0) > 1 else attn_mask.unsqueeze(0)
    if key_padding_mask is None:
        return attn_mask
    key_padding_mask = F.pad(key_padding_mask, (0, more)) if more else key_padding_mask
    for dim, size in enumerate((batch, keys)):
        if key_padding_mask.size(dim) != size:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{dim}] to be {size}, but got {key_padding_mask.size(dim)}"
            )
    key_padding_mask = key_padding_mask.view(batch, 1, 1, keys)
    return key_padding_mask if attn_mask is None else attn_mask + key_padding_mask
