"""Attention with several heads, as a layer."""

from __future__ import annotations

from typing import Any

from retrograd._core import Tensor
from retrograd.nn._attention import attend
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.init import constant_, xavier_normal_, xavier_uniform_
from retrograd.nn.modules._parameters import new_parameter, parameter_of
from retrograd.nn.modules.linear import NonDynamicallyQuantizableLinear
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention with several heads: means of projected values, with weights from projected queries and keys.

    Args: `embed_dim` the size E of queries and outputs; `num_heads` into which it is split; `dropout` the probability
    that a weight is dropped while training; `bias` whether projections add something; `add_bias_kv` whether a key and a
    value are trained that all see; `add_zero_attn` whether all see a key and a value of zeros; `kdim` and `vdim` the
    sizes of keys and values, by default E; `batch_first` whether inputs are (N, L, E), not (L, N, E).
    A call has query, key, value and masks, true or minus infinity where a key is not seen: `key_padding_mask` (N, S)
    and `attn_mask` (L, S) or (N * num_heads, L, S); it returns the output, and with `need_weights` the weights.
    Parameters: `in_proj_weight` (3 E, E), or three if sizes differ, `in_proj_bias` (3 E,), `out_proj`, and `bias_k` and
    `bias_v` if asked for. Raises: ValueError or AssertionError if sizes do not fit.

    >>> attention = rg.nn.MultiheadAttention(4, 2, batch_first=True)
    >>> x = rg.ones(3, 5, 4)
    >>> out, weights = attention(x, x, x)
    >>> out.shape, weights.shape
    (retrograd.Size([3, 5, 4]), retrograd.Size([3, 5, 5]))
    """

    __constants__ = ["batch_first"]
    embed_dim: int
    kdim: int
    vdim: int
    num_heads: int
    head_dim: int
    dropout: float
    batch_first: bool
    add_zero_attn: bool
    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None
    out_proj: NonDynamicallyQuantizableLinear
    _qkv_same_embed_dim: bool

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        size = embed_dim
        weights: dict[str, tuple[int, int]] = {"in_proj_weight": (3 * size, size)}
        if not self._qkv_same_embed_dim:
            weights = {"q_proj_weight": (size, size), "k_proj_weight": (size, self.kdim)}
            weights["v_proj_weight"] = (size, self.vdim)
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            shape = weights.get(name)
            self.register_parameter(name, None if shape is None else new_parameter(shape, device, dtype))
        self.register_parameter("in_proj_bias", new_parameter(3 * size, device, dtype) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(size, size, bias=bias, device=device, dtype=dtype)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, new_parameter((1, 1, size), device, dtype) if add_bias_kv else None)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            constant_(self.in_proj_bias, 0.0)
            if self.out_proj.bias is not None:
                constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                xavier_normal_(bias)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        together = parameter_of(self, "in_proj_weight")
        weights: Any = together
        if together is None:
            weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        out_proj = self.out_proj
        return attend(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            weights,
            parameter_of(self, "in_proj_bias"),
            parameter_of(self, "bias_k"),
            parameter_of(self, "bias_v"),
            self.add_zero_attn,
            self.dropout if self.training else 0.0,
            parameter_of(out_proj, "weight"),
            parameter_of(out_proj, "bias"),
            key_padding_mask,
            need_weights,
            attn_mask,
            None,
            None,
            average_attn_weights,
            is_causal,
            self.batch_first,
        )
