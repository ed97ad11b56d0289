"""Transformers: stacks of attention and small networks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.nn import functional as F
from retrograd.nn._attention import canonical_mask
from retrograd.nn.common_types import _device_t, _dtype_t
from retrograd.nn.init import xavier_uniform_
from retrograd.nn.modules.activation import GELU, ReLU
from retrograd.nn.modules.attention import MultiheadAttention
from retrograd.nn.modules.container import ModuleList
from retrograd.nn.modules.dropout import Dropout
from retrograd.nn.modules.linear import Linear
from retrograd.nn.modules.module import Module
from retrograd.nn.modules.normalization import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Tensor], Tensor]


def _generate_square_subsequent_mask(sz: int, device: _device_t = None, dtype: _dtype_t = None) -> Tensor:
    return _core.full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)


def _is_causal(mask: Tensor | None, said: bool | None, size: int) -> bool:
    """Whether a mask is causal: what was said, else what it shows."""
    if said is not None or mask is None:
        return said is True
    causal = _generate_square_subsequent_mask(size, mask.device, mask.dtype)
    return mask.shape == causal.shape and bool((mask == causal).all())


def _sequence_length(x: Tensor, batch_first: bool) -> int:
    return x.size(1 if x.dim() > 2 and batch_first else 0)


def _activation(given: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return F.relu if given == "relu" else F.gelu


class _Layer(Module):
    """What layers of both stacks share: attention to itself, a network of two linear layers, their norms."""

    __constants__ = ["norm_first"]
    _attentions: tuple[str, ...]  # the names of the attentions, in the order of their norms
    self_attn: MultiheadAttention
    linear1: Linear
    linear2: Linear
    dropout: Dropout
    norm_first: bool
    activation: Callable[[Tensor], Tensor]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        made: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        for name in self._attentions:
            attention = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **made)
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        parts = range(1, len(self._attentions) + 2)
        for part in parts:
            self.add_module(f"norm{part}", LayerNorm(d_model, eps=layer_norm_eps, **made))
        for part in parts:
            self.add_module(f"dropout{part}", Dropout(dropout))
        self.activation = _activation(activation)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu

    def _network(self, x: Tensor) -> Tensor:
        out: Tensor = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return out


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then two linear layers, each added to its input and normalized.

    Args: `d_model` the size E of inputs (L, N, E), or (N, L, E) if `batch_first`; `nhead` the number of heads;
    `dim_feedforward` the size between the linear layers; `dropout` after each part; `activation` "relu", "gelu" or a
    function; `layer_norm_eps` of norms; `norm_first` whether parts are normalized before and not after; `bias` whether
    layers add something. A call has the sequence `src`, `src_mask` (L, L), `src_key_padding_mask` (N, L), and
    `is_causal`, a hint that the mask is causal.

    >>> layer = rg.nn.TransformerEncoderLayer(4, 2, dim_feedforward=8, batch_first=True)
    >>> layer(rg.ones(3, 5, 4)).shape
    retrograd.Size([3, 5, 4])
    """

    _attentions = ("self_attn",)
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    activation_relu_or_gelu: int

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__(
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            device,
            dtype,
        )
        is_relu = self.activation is F.relu or isinstance(self.activation, ReLU)
        is_gelu = self.activation is F.gelu or isinstance(self.activation, GELU)
        self.activation_relu_or_gelu = 1 if is_relu else 2 if is_gelu else 0

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        if src_key_padding_mask is not None:
            other = None if src_mask is None else src_mask.dtype
            src_key_padding_mask = canonical_mask(
                src_key_padding_mask, "src_key_padding_mask", other, "src_mask", src.dtype
            )
        if src_mask is not None:
            src_mask = canonical_mask(src_mask, "src_mask", None, "", src.dtype, check_other=False)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, src_mask, src_key_padding_mask, is_causal))
        out: Tensor = self.norm2(x + self._ff_block(x))
        return out

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        out: Tensor = self.dropout1(self.self_attn(x, x, x, key_padding_mask, False, attn_mask, True, is_causal)[0])
        return out

    def _ff_block(self, x: Tensor) -> Tensor:
        out: Tensor = self.dropout2(self._network(x))
        return out


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself and to the output of an encoder, then two linear layers.

    Args: as of `TransformerEncoderLayer`. A call has the sequence `tgt`, the output `memory`, and a mask, a padding
    mask and a hint for each of the attentions.

    >>> layer = rg.nn.TransformerDecoderLayer(4, 2, dim_feedforward=8, batch_first=True)
    >>> layer(rg.ones(3, 5, 4), rg.ones(3, 7, 4)).shape
    retrograd.Size([3, 5, 4])
    """

    _attentions = ("self_attn", "multihead_attn")
    multihead_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    norm3: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    dropout3: Dropout

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        to_itself = tgt_mask, tgt_key_padding_mask, tgt_is_causal
        to_memory = memory_mask, memory_key_padding_mask, memory_is_causal
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *to_itself)
            x = x + self._mha_block(self.norm2(x), memory, *to_memory)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *to_itself))
        x = self.norm2(x + self._mha_block(x, memory, *to_memory))
        out: Tensor = self.norm3(x + self._ff_block(x))
        return out

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        out: Tensor = self.dropout1(self.self_attn(x, x, x, key_padding_mask, False, attn_mask, True, is_causal)[0])
        return out

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        attended = self.multihead_attn(x, mem, mem, key_padding_mask, False, attn_mask, True, is_causal)[0]
        out: Tensor = self.dropout2(attended)
        return out

    def _ff_block(self, x: Tensor) -> Tensor:
        out: Tensor = self.dropout3(self._network(x))
        return out


def _clones(layer: Module, number: int) -> ModuleList:
    return ModuleList([deepcopy(layer) for _ in range(number)])


class TransformerEncoder(Module):
    """`num_layers` copies of a `TransformerEncoderLayer`, one after the other.

    Args: `norm` a layer after the last. `enable_nested_tensor` and `mask_check` are kept: there are no nested tensors.
    A call has the sequence `src`, `mask`, `src_key_padding_mask`, and `is_causal`, by default what the mask shows.
    Warns where PyTorch would use no nested tensors, and says why.

    >>> layer = rg.nn.TransformerEncoderLayer(4, 2, dim_feedforward=8, batch_first=True)
    >>> rg.nn.TransformerEncoder(layer, 2)(rg.ones(3, 5, 4)).shape
    retrograd.Size([3, 5, 4])
    """

    __constants__ = ["norm"]
    layers: ModuleList
    num_layers: int
    norm: Module | None

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        why_not = _why_not_nested(encoder_layer)
        if enable_nested_tensor and why_not:
            warnings.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because {why_not}", stacklevel=2
            )
            self.use_nested_tensor = False

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        if src_key_padding_mask is not None:
            other = None if mask is None else mask.dtype
            src_key_padding_mask = canonical_mask(
                src_key_padding_mask, "src_key_padding_mask", other, "mask", src.dtype
            )
        if mask is not None:
            mask = canonical_mask(mask, "mask", None, "", src.dtype, check_other=False)
        first: Any = self.layers[0]
        length = _sequence_length(src, first.self_attn.batch_first)
        is_causal = _is_causal(mask, is_causal, length)
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=src_key_padding_mask)
        return output if self.norm is None else self.norm(output)


def _why_not_nested(layer: Module) -> str:
    """Why PyTorch would not run this layer on nested tensors, or nothing."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    for holds, why in (
        (layer.norm_first, ".norm_first was True"),
        (
            not attention.batch_first,
            ".self_attn.batch_first was not True(use batch_first for better inference performance)",
        ),
        (not attention._qkv_same_embed_dim, ".self_attn._qkv_same_embed_dim was not True"),
        (attention.in_proj_bias is None, ".self_attn was passed bias=False"),
        (not layer.activation_relu_or_gelu, ".activation_relu_or_gelu was not True"),
        (layer.norm1.eps != layer.norm2.eps, ".norm1.eps was not equal to encoder_layer.norm2.eps"),
        (attention.num_heads % 2 == 1, ".self_attn.num_heads is odd"),
    ):
        if holds:
            return f"encoder_layer{why}"
    return ""


class TransformerDecoder(Module):
    """`num_layers` copies of a `TransformerDecoderLayer`, one after the other.

    Args: `norm` a layer after the last. A call is that of a layer; `tgt_is_causal` is by default what the mask shows.

    >>> layer = rg.nn.TransformerDecoderLayer(4, 2, dim_feedforward=8, batch_first=True)
    >>> rg.nn.TransformerDecoder(layer, 2)(rg.ones(3, 5, 4), rg.ones(3, 7, 4)).shape
    retrograd.Size([3, 5, 4])
    """

    __constants__ = ["norm"]
    layers: ModuleList
    num_layers: int
    norm: Module | None

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        first: Any = self.layers[0]
        length = _sequence_length(tgt, first.self_attn.batch_first)
        tgt_is_causal = _is_causal(tgt_mask, tgt_is_causal, length)
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder of sequences, and a decoder that sees what it makes of them.

    Args: `num_encoder_layers` and `num_decoder_layers` how many; `custom_encoder` and `custom_decoder` take their
    places; the others as of `TransformerEncoderLayer`. A call has the sequences `src` and `tgt`, and masks, padding
    masks and hints for each attention. Weights are drawn by the rule of Glorot and Bengio.
    Raises: RuntimeError if the sequences do not fit each other or `d_model`.

    >>> model = rg.nn.Transformer(4, 2, 1, 1, dim_feedforward=8, batch_first=True)
    >>> model(rg.ones(3, 7, 4), rg.ones(3, 5, 4)).shape
    retrograd.Size([3, 5, 4])
    >>> model.generate_square_subsequent_mask(2)
    tensor([[0., -inf],
            [0., 0.]])
    """

    encoder: Any
    decoder: Any

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: _device_t = None,
        dtype: _dtype_t = None,
    ) -> None:
        super().__init__()
        of_layer: tuple[Any, ...] = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            device,
            dtype,
        )
        made: dict[str, Any] = {"eps": layer_norm_eps, "bias": bias, "device": device, "dtype": dtype}
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            encoder_layer = TransformerEncoderLayer(*of_layer)
            self.encoder = TransformerEncoder(encoder_layer, num_encoder_layers, LayerNorm(d_model, **made))
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            decoder_layer = TransformerDecoderLayer(*of_layer)
            self.decoder = TransformerDecoder(decoder_layer, num_decoder_layers, LayerNorm(d_model, **made))
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        output: Tensor = self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
        return output

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: _device_t = None, dtype: _dtype_t = None) -> Tensor:
        """The causal mask (sz, sz): minus infinity where a key comes after the query, else 0."""
        return _generate_square_subsequent_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                xavier_uniform_(parameter)
