"""Writes `torch.json` and `init.json` of `tests/layers`: what PyTorch's layers are and compute, and its initial values.

    python tools/layers.py           with PyTorch installed

Each case is a call of a constructor and one of the layer, as data: arguments that are no JSON are dictionaries with one
key, which `build` in `tests/layers/cases.py` understands. Both packages draw the same numbers from the same seed.
"""

import json
import runpy
import warnings
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1] / "tests" / "layers"
measure, draw = map(runpy.run_path(str(TESTS / "cases.py")).get, ("measure", "draw"))

Case = dict[str, Any]
CASES: list[Case] = []


def case(layer: str, *args: Any, inputs: list[Any], call: dict[str, Any] | None = None, **kwargs: Any) -> None:
    """A layer made of `args` and `kwargs`, and called with `inputs` and the keywords `call`."""
    CASES.append({"layer": layer, "args": list(args), "kwargs": kwargs, "inputs": inputs, "call": call or {}})


def both_modes(layer: str, *args: Any, inputs: list[Any], **kwargs: Any) -> None:
    case(layer, *args, inputs=inputs, **kwargs)
    CASES.append({**CASES[-1], "eval": True})


def randn(*size: int) -> Any:
    return {"randn": list(size)}


def rand(*size: int) -> Any:
    return {"rand": list(size)}


def below(high: int, *size: int) -> Any:
    return {"randint": [high, list(size)]}


def tensor(values: Any) -> Any:
    return {"tensor": values}


def layer(name: str, *args: Any, **kwargs: Any) -> Any:
    return {"layer": [name, list(args), kwargs]}


# Linear layers
case("Identity", 1, unused=2, inputs=[randn(2, 3)])
case("Linear", 5, 3, inputs=[randn(2, 5)])
case("Linear", 5, 3, bias=False, inputs=[randn(4, 2, 5)])
case("Linear", 40, 30, inputs=[randn(40)])
case("Linear", 5, 3, dtype={"dtype": "float64"}, inputs=[{"double": randn(2, 5)}])
case("Bilinear", 4, 5, 3, inputs=[randn(2, 4), randn(2, 5)])
case("Bilinear", 4, 5, 3, False, inputs=[randn(2, 4), randn(2, 5)])
case("LazyLinear", 3, inputs=[randn(2, 5)])
case("LazyLinear", 3, bias=False, inputs=[randn(2, 5)])
case("modules.linear.NonDynamicallyQuantizableLinear", 5, 3, inputs=[randn(2, 5)])

# Convolutions
case("Conv1d", 4, 6, 3, inputs=[randn(2, 4, 9)])
case("Conv1d", 4, 6, 3, padding="same", dilation=2, inputs=[randn(4, 9)])
case("Conv1d", 4, 6, 4, padding="same", padding_mode="reflect", inputs=[randn(2, 4, 9)])
case("Conv1d", 4, 6, 3, padding="valid", bias=False, groups=2, inputs=[randn(2, 4, 9)])
case("Conv2d", 3, 4, 3, inputs=[randn(2, 3, 6, 7)])
case("Conv2d", 4, 4, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2, inputs=[randn(2, 4, 6, 7)])
for mode in ("reflect", "replicate", "circular"):
    case("Conv2d", 3, 4, 3, padding=(1, 2), padding_mode=mode, inputs=[randn(2, 3, 6, 7)])
case("Conv2d", 3, 4, (2, 3), padding="same", padding_mode="circular", inputs=[randn(3, 6, 7)])
case("Conv3d", 2, 4, (1, 2, 3), stride=2, padding=1, inputs=[randn(1, 2, 3, 4, 5)])
case("Conv3d", 2, 4, 2, padding=1, padding_mode="replicate", bias=False, inputs=[randn(2, 3, 4, 5)])
case("ConvTranspose1d", 4, 6, 3, stride=2, inputs=[randn(2, 4, 5)])
case("ConvTranspose1d", 4, 6, 3, stride=2, output_padding=1, groups=2, inputs=[randn(4, 5)])
case("ConvTranspose2d", 4, 3, 3, stride=2, padding=1, inputs=[randn(2, 4, 3, 4)])
case("ConvTranspose2d", 4, 3, 3, stride=2, padding=1, inputs=[randn(2, 4, 3, 4)], call={"output_size": [6, 8]})
case("ConvTranspose2d", 4, 3, (2, 3), dilation=2, bias=False, inputs=[randn(4, 3, 4)])
case("ConvTranspose3d", 4, 2, 2, stride=(1, 2, 1), output_padding=(0, 1, 0), inputs=[randn(1, 4, 2, 3, 2)])
case("LazyConv1d", 6, 3, inputs=[randn(2, 4, 9)])
case("LazyConv2d", 6, 3, padding=1, groups=2, inputs=[randn(2, 4, 5, 5)])
case("LazyConv3d", 6, 2, bias=False, inputs=[randn(4, 3, 3, 3)])
case("LazyConvTranspose1d", 6, 3, inputs=[randn(2, 4, 5)])
case("LazyConvTranspose2d", 6, 3, stride=2, inputs=[randn(2, 4, 3, 3)])
case("LazyConvTranspose3d", 6, 2, bias=False, inputs=[randn(4, 2, 2, 2)])

# Pooling
images = {1: (2, 3, 9), 2: (2, 3, 6, 7), 3: (1, 2, 4, 5, 4)}
for dims, size in images.items():
    case(f"MaxPool{dims}d", 2, inputs=[randn(*size)])
    case(f"MaxPool{dims}d", 3, stride=2, padding=1, ceil_mode=True, return_indices=True, inputs=[randn(*size)])
    case(f"MaxPool{dims}d", 2, dilation=2, inputs=[randn(*size[1:])])
    case(f"AvgPool{dims}d", 2, inputs=[randn(*size)])
    case(f"AvgPool{dims}d", 3, stride=2, padding=1, ceil_mode=True, count_include_pad=False, inputs=[randn(*size)])
    case(f"LPPool{dims}d", 2, 2, inputs=[rand(*size)])
    case(f"LPPool{dims}d", 1.5, 3, stride=2, ceil_mode=True, inputs=[rand(*size)])
    case(f"AdaptiveMaxPool{dims}d", 2, inputs=[randn(*size)])
    case(f"AdaptiveMaxPool{dims}d", 3, return_indices=True, inputs=[randn(*size)])
    case(f"AdaptiveAvgPool{dims}d", 2, inputs=[randn(*size[1:])])
    case(f"MaxUnpool{dims}d", 2, inputs=[{"pooled": [dims, randn(1, 2, *[4] * dims)]}])
case("AvgPool2d", (2, 3), divisor_override=5, inputs=[randn(2, 3, 6, 7)])
case("AvgPool3d", 2, divisor_override=5, inputs=[randn(1, 2, 4, 5, 4)])
case("AdaptiveMaxPool2d", [None, 2], inputs=[randn(2, 3, 6, 7)])
case("AdaptiveAvgPool2d", [3, None], inputs=[randn(2, 3, 6, 7)])
case("AdaptiveAvgPool3d", [None, 2, 1], inputs=[randn(1, 2, 4, 5, 4)])
case("MaxUnpool2d", 2, inputs=[{"pooled": [2, randn(1, 1, 5, 5)]}], call={"output_size": [5, 5]})
case("FractionalMaxPool2d", 2, output_ratio=0.5, inputs=[randn(2, 3, 6, 7)])
case("FractionalMaxPool2d", (2, 3), output_size=(3, 3), return_indices=True, inputs=[randn(3, 6, 7)])
case("FractionalMaxPool3d", 2, output_size=2, inputs=[randn(1, 2, 4, 5, 4)])

# Padding
for dims, size in images.items():
    sides = [1, 2, 0, 1, 1, 0][: 2 * dims]
    for kind in ("Circular", "Reflection", "Replication", "Zero"):
        case(f"{kind}Pad{dims}d", 1, inputs=[randn(*size)])
        case(f"{kind}Pad{dims}d", sides, inputs=[randn(*size[1:])])
    case(f"ConstantPad{dims}d", sides, 3.5, inputs=[randn(*size)])
case("ConstantPad2d", 1, -1, inputs=[randn(2, 3)])

# Normalization
channels = {1: (4, 3, 5), 2: (4, 3, 2, 3), 3: (2, 3, 2, 2, 3)}
for dims, size in channels.items():
    for name in (f"BatchNorm{dims}d", f"InstanceNorm{dims}d"):
        both_modes(name, 3, inputs=[randn(*size)])
        both_modes(name, 3, affine=True, track_running_stats=True, momentum=0.3, inputs=[randn(*size)])
        both_modes(name, 3, eps=1e-3, affine=True, track_running_stats=False, bias=False, inputs=[randn(*size)])
        both_modes(f"Lazy{name}", affine=True, track_running_stats=True, inputs=[randn(*size)])
        case(f"Lazy{name}", affine=False, inputs=[randn(*size)])
    case(f"InstanceNorm{dims}d", 3, inputs=[randn(*size[1:])])
    case(f"BatchNorm{dims}d", 3, momentum=None, inputs=[randn(*size)])
both_modes("BatchNorm1d", 3, inputs=[randn(4, 3)])
case("BatchNorm2d", 3, affine=False, inputs=[randn(*channels[2])])
both_modes("SyncBatchNorm", 3, inputs=[randn(4, 3, 2)])
case("LayerNorm", 5, inputs=[randn(2, 3, 5)])
case("LayerNorm", [3, 5], eps=1e-3, bias=False, inputs=[randn(2, 3, 5)])
case("LayerNorm", 5, elementwise_affine=False, inputs=[randn(2, 5)])
case("GroupNorm", 2, 4, inputs=[randn(2, 4, 3)])
case("GroupNorm", 4, 4, eps=1e-3, bias=False, inputs=[randn(2, 4, 3)])
case("GroupNorm", 1, 4, affine=False, inputs=[randn(2, 4, 3, 2)])
case("RMSNorm", 5, inputs=[randn(2, 5)])
case("RMSNorm", [3, 5], eps=1e-3, elementwise_affine=False, inputs=[randn(2, 3, 5)])
case("LocalResponseNorm", 2, inputs=[randn(2, 5, 3, 3)])
case("LocalResponseNorm", 3, alpha=0.5, beta=0.5, k=2.0, inputs=[randn(2, 5, 3)])
# PyTorch's derivative of this one is that of a window of other channels.
case("CrossMapLRN2d", 3, inputs=[{"detached": randn(2, 7, 3, 3)}])
case("CrossMapLRN2d", 4, alpha=0.5, beta=0.5, k=2, inputs=[{"detached": randn(2, 8, 3, 3)}])

# Nonlinearities
for name in ("ReLU", "ReLU6", "Hardsigmoid", "SiLU", "Mish", "Hardswish", "SELU"):
    case(name, inputs=[randn(3, 20)])
    case(name, inplace=True, inputs=[{"copy": randn(3, 20)}])
for name in ("Sigmoid", "Tanh", "LogSigmoid", "Softsign", "Tanhshrink", "ELU", "CELU", "GLU", "GELU", "Hardshrink"):
    case(name, inputs=[randn(3, 20)])
for name in ("LeakyReLU", "Softplus", "Softshrink", "PReLU", "Hardtanh"):
    case(name, inputs=[randn(3, 20)])
case("Threshold", 0.1, 20, inputs=[randn(3, 20)])
case("Threshold", 0.5, 0.0, inplace=True, inputs=[{"copy": randn(3, 20)}])
both_modes("RReLU", inputs=[randn(3, 20)])
both_modes("RReLU", 0.1, 0.3, inplace=True, inputs=[{"copy": randn(3, 20)}])
case("Hardtanh", -0.5, 0.25, inplace=True, inputs=[{"copy": randn(3, 20)}])
case("ELU", 0.5, True, inputs=[{"copy": randn(3, 20)}])
case("CELU", alpha=0.5, inplace=True, inputs=[{"copy": randn(3, 20)}])
case("GLU", 0, inputs=[randn(4, 5)])
case("GELU", "tanh", inputs=[randn(3, 20)])
case("Hardshrink", 0.25, inputs=[randn(3, 20)])
case("LeakyReLU", 0.2, True, inputs=[{"copy": randn(3, 20)}])
case("Softplus", 2, 1.5, inputs=[randn(3, 20)])
case("Softshrink", 0.25, inputs=[randn(3, 20)])
case("PReLU", 3, 0.1, inputs=[randn(2, 3, 4)])
for name in ("Softmin", "Softmax", "LogSoftmax"):
    case(name, 1, inputs=[randn(3, 5)])
    case(name, dim=-1, inputs=[randn(2, 3, 5)])
case("Softmax2d", inputs=[randn(2, 3, 2, 2)])
case("Softmax2d", inputs=[randn(3, 2, 2)])

# Dropout
for name, size in (
    ("Dropout", (3, 20)),
    ("Dropout1d", (3, 4, 5)),
    ("Dropout2d", (3, 4, 2, 2)),
    ("Dropout3d", (3, 4, 2, 2, 1)),
    ("AlphaDropout", (3, 20)),
    ("FeatureAlphaDropout", (3, 4, 5)),
):
    both_modes(name, inputs=[randn(*size)])
    case(name, p=0.2, inputs=[randn(*size)])
case("Dropout", 0.3, True, inputs=[{"copy": randn(3, 20)}])

# Tables
case("Embedding", 7, 4, inputs=[below(7, 3, 2)])
case("Embedding", 7, 4, padding_idx=-2, inputs=[tensor([5, 1, 5, 6])])
case("Embedding", 7, 4, padding_idx=0, max_norm=1.0, norm_type=1.5, inputs=[tensor([0, 1, 5, 1])])
case("Embedding", 7, 4, scale_grad_by_freq=True, inputs=[tensor([0, 1, 5, 1])])
for mode in ("sum", "mean", "max"):
    case("EmbeddingBag", 7, 4, mode=mode, inputs=[below(7, 3, 2)])
    case("EmbeddingBag", 7, 4, mode=mode, padding_idx=1, inputs=[tensor([0, 1, 5, 1, 2]), tensor([0, 2, 2])])
case("EmbeddingBag", 7, 4, max_norm=1.0, inputs=[below(7, 3, 2)])
case("EmbeddingBag", 7, 4, mode="sum", inputs=[below(7, 3, 2)], call={"per_sample_weights": randn(3, 2)})
case("EmbeddingBag", 7, 4, include_last_offset=True, inputs=[tensor([0, 1, 5, 1]), tensor([0, 1, 4])])
case("EmbeddingBag", 7, 4, scale_grad_by_freq=True, norm_type=1.0, mode="sum", inputs=[tensor([[0, 1, 1]])])

# Recurrent layers
for name in ("RNN", "LSTM", "GRU"):
    case(name, 3, 4, inputs=[randn(5, 2, 3)])
    case(name, 3, 4, num_layers=2, bidirectional=True, batch_first=True, inputs=[randn(2, 5, 3)])
    case(name, 3, 4, bias=False, inputs=[randn(5, 3)])
    case(name, 3, 4, 2, inputs=[{"packed": [randn(5, 3, 3), [2, 5, 3]]}])
    case(name, 3, 4, bidirectional=True, inputs=[{"packed": [randn(5, 3, 3), [5, 3, 3]]}])
    states = [randn(2, 2, 4), randn(2, 2, 4)]
    case(name, 3, 4, 2, inputs=[randn(5, 2, 3), states if name == "LSTM" else states[0]])
    case(name, 3, 4, 2, inputs=[{"packed": [randn(5, 2, 3), [3, 5]]}, states if name == "LSTM" else states[0]])
    both_modes(name, 3, 20, num_layers=2, dropout=0.5, inputs=[randn(5, 2, 3)])
    cell = f"{name}Cell"
    case(cell, 3, 4, inputs=[randn(2, 3)])
    case(cell, 3, 4, bias=False, inputs=[randn(3)])
    case(cell, 3, 4, inputs=[randn(2, 3), [randn(2, 4), randn(2, 4)] if name == "LSTM" else randn(2, 4)])
case("RNN", 3, 4, nonlinearity="relu", inputs=[randn(5, 2, 3)])
case("RNN", 3, 4, 1, "relu", False, inputs=[randn(5, 2, 3)])
case("RNNCell", 3, 4, nonlinearity="relu", inputs=[randn(2, 3)])
case("LSTM", 3, 4, proj_size=2, inputs=[randn(5, 2, 3)])
case("LSTM", 3, 4, 2, proj_size=2, bidirectional=True, bias=False, inputs=[randn(5, 2, 3)])
case("LSTM", 3, 4, proj_size=2, inputs=[randn(5, 3), [randn(1, 2), randn(1, 4)]])

# Attention and transformers
x, causal = randn(5, 2, 8), {"causal": 5}
shared = {"same": [x, 3]}
padding = tensor([[False, False, True, False, True], [False, False, False, True, True]])
case("MultiheadAttention", 8, 2, inputs=[shared])
case("MultiheadAttention", 8, 2, inputs=[shared], call={"need_weights": False})
case("MultiheadAttention", 8, 2, inputs=[shared], call={"average_attn_weights": False, "attn_mask": causal})
case("MultiheadAttention", 8, 2, inputs=[shared], call={"is_causal": True, "attn_mask": causal, "need_weights": False})
case("MultiheadAttention", 8, 2, inputs=[shared], call={"key_padding_mask": padding})
case("MultiheadAttention", 8, 2, inputs=[shared], call={"key_padding_mask": padding, "need_weights": False})
case("MultiheadAttention", 8, 2, inputs=[shared], call={"attn_mask": randn(4, 5, 5), "need_weights": False})
case("MultiheadAttention", 8, 2, bias=False, inputs=[{"same": [randn(5, 8), 3]}])
case("MultiheadAttention", 8, 2, batch_first=True, inputs=[randn(2, 3, 8), {"same": [randn(2, 5, 8), 2]}])
case("MultiheadAttention", 8, 2, batch_first=True, inputs=[randn(3, 8), randn(5, 8), randn(5, 8)])
case("MultiheadAttention", 8, 4, kdim=3, vdim=6, inputs=[randn(3, 2, 8), randn(5, 2, 3), randn(5, 2, 6)])
case("MultiheadAttention", 8, 4, vdim=6, bias=False, inputs=[randn(3, 2, 8), randn(5, 2, 8), randn(5, 2, 6)])
for options in ({"add_bias_kv": True}, {"add_zero_attn": True}, {"add_bias_kv": True, "add_zero_attn": True}):
    masks = {"key_padding_mask": padding, "attn_mask": causal}
    case("MultiheadAttention", 8, 2, inputs=[shared], **options)
    case("MultiheadAttention", 8, 2, inputs=[shared], call={**masks, "need_weights": False}, **options)
both_modes("MultiheadAttention", 8, 2, dropout=0.5, inputs=[shared])
case("MultiheadAttention", 8, 2, dropout=0.5, inputs=[shared], call={"need_weights": False})
for options in ({}, {"norm_first": True}, {"batch_first": True, "bias": False, "activation": "gelu"}):
    encoder = ("TransformerEncoderLayer", 8, 2, 16)
    both_modes(*encoder, inputs=[x], **options)
    case(*encoder, dropout=0.0, inputs=[x], **options)
    case("TransformerDecoderLayer", 8, 2, 16, dropout=0.0, inputs=[x, x], **options)
    case("TransformerDecoderLayer", 8, 2, 16, inputs=[x, x], **options)
case("TransformerEncoderLayer", 8, 2, 16, 0.0, inputs=[x], call={"src_mask": causal, "src_key_padding_mask": padding})
case("TransformerEncoderLayer", 8, 2, 16, 0.0, inputs=[x], call={"src_mask": causal, "is_causal": True})
case("TransformerEncoder", layer(*encoder, 0.0), 2, layer("LayerNorm", 8), inputs=[x], call={"mask": causal})
case("TransformerDecoder", layer("TransformerDecoderLayer", 8, 2, 16, 0.0), 2, inputs=[x, x], call={"tgt_mask": causal})
case("Transformer", 8, 2, 2, 1, 16, 0.0, inputs=[randn(4, 2, 8), x], call={"tgt_mask": causal})
case("Transformer", 8, 2, 1, 2, 16, inputs=[randn(2, 4, 8), randn(2, 3, 8)], batch_first=True, norm_first=True)

# Losses
points, targets = randn(4, 5), randn(4, 5)
for reduction in ("mean", "sum", "none"):
    for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss"):
        case(name, reduction=reduction, inputs=[points, targets])
    case("NLLLoss", reduction=reduction, inputs=[points, below(5, 4)])
    case("CrossEntropyLoss", reduction=reduction, inputs=[points, below(5, 4)])
    case("PoissonNLLLoss", reduction=reduction, inputs=[points, rand(4, 5)])
    case("GaussianNLLLoss", reduction=reduction, inputs=[points, targets, rand(4, 5)])
    case("KLDivLoss", reduction=reduction, inputs=[points, rand(4, 5)])
    case("BCELoss", reduction=reduction, inputs=[rand(4, 5), rand(4, 5)])
    case("BCEWithLogitsLoss", reduction=reduction, inputs=[points, rand(4, 5)])
    case("HingeEmbeddingLoss", reduction=reduction, inputs=[points, {"signs": [4, 5]}])
    case("MultiLabelMarginLoss", reduction=reduction, inputs=[points, tensor([[1, 2, -1, 0, 0]] * 4)])
    case("SoftMarginLoss", reduction=reduction, inputs=[points, {"signs": [4, 5]}])
    case("MultiLabelSoftMarginLoss", reduction=reduction, inputs=[points, below(2, 4, 5)])
    case("CosineEmbeddingLoss", reduction=reduction, inputs=[points, targets, {"signs": [4]}])
    case("MarginRankingLoss", reduction=reduction, inputs=[points, targets, {"signs": [4, 5]}])
    case("MultiMarginLoss", reduction=reduction, inputs=[points, below(5, 4)])
    case("TripletMarginLoss", reduction=reduction, inputs=[points, targets, randn(4, 5)])
    case("TripletMarginWithDistanceLoss", reduction=reduction, inputs=[points, targets, randn(4, 5)])
    log_probs = {"log_softmax": randn(6, 2, 4)}
    lengths = [tensor([6, 5]), tensor([3, 2])]
    case("CTCLoss", reduction=reduction, inputs=[log_probs, tensor([[1, 2, 3], [2, 2, 0]]), *lengths])
    case("LinearCrossEntropyLoss", 5, 3, reduction=reduction, inputs=[points, below(3, 4)])
case("LinearCrossEntropyLoss", 5, 3, bias=True, label_smoothing=0.1, inputs=[points, tensor([0, 2, 1, 1])])
case("LinearCrossEntropyLoss", 5, 3, out_features={"tuple": [2]}, inputs=[points, below(3, 4, 2)])
case("LinearCrossEntropyLoss", 5, 3, weight=tensor([0.5, 1.0, 2.0]), ignore_index=0, inputs=[points, below(3, 4)])
case("SmoothL1Loss", beta=0.5, inputs=[points, targets])
case("HuberLoss", delta=0.5, inputs=[points, targets])
weights = tensor([0.5, 1.0, 2.0, 1.5, 1.0])
case("NLLLoss", weight=weights, ignore_index=1, inputs=[points, tensor([0, 1, 4, 2])])
case("CrossEntropyLoss", weight=weights, ignore_index=1, label_smoothing=0.1, inputs=[points, tensor([0, 1, 4, 2])])
case("CrossEntropyLoss", label_smoothing=0.1, inputs=[points, {"softmax": randn(4, 5)}])
case("PoissonNLLLoss", log_input=False, full=True, inputs=[rand(4, 5), below(9, 4, 5)])
case("GaussianNLLLoss", full=True, eps=0.5, inputs=[points, targets, rand(4, 1)])
case("KLDivLoss", reduction="batchmean", log_target=True, inputs=[points, targets])
case("BCELoss", weight=weights, inputs=[rand(4, 5), rand(4, 5)])
case("BCEWithLogitsLoss", weight=weights, pos_weight=weights, inputs=[points, rand(4, 5)])
case("HingeEmbeddingLoss", margin=0.5, inputs=[points, {"signs": [4, 5]}])
case("MultiLabelSoftMarginLoss", weight=weights, inputs=[points, below(2, 4, 5)])
case("CosineEmbeddingLoss", margin=0.25, inputs=[points, targets, {"signs": [4]}])
case("MarginRankingLoss", margin=0.25, inputs=[points, targets, {"signs": [4, 5]}])
case("MultiMarginLoss", p=2, margin=0.5, weight=weights, inputs=[points, below(5, 4)])
case("TripletMarginLoss", margin=0.5, p=1.5, swap=True, inputs=[points, targets, randn(4, 5)])
case("TripletMarginWithDistanceLoss", margin=0.5, swap=True, inputs=[points, targets, randn(4, 5)])
case("CTCLoss", blank=3, zero_infinity=True, inputs=[log_probs, tensor([[0, 1, 2], [2, 2, 0]]), *lengths])

# Others
case("CosineSimilarity", inputs=[points, targets])
case("CosineSimilarity", dim=0, eps=0.5, inputs=[points, targets])
case("PairwiseDistance", inputs=[points, targets])
case("PairwiseDistance", p=1.5, keepdim=True, inputs=[points, targets])
case("Flatten", inputs=[randn(2, 3, 4)])
case("Flatten", 0, 1, inputs=[randn(2, 3, 4)])
case("Unflatten", 1, {"tuple": [2, 3]}, inputs=[randn(4, 6)])
case("Unflatten", -1, [3, -1], inputs=[randn(4, 6)])
case("Fold", (4, 5), 2, inputs=[randn(1, 8, 12)])
case("Fold", 4, 2, padding=1, stride=2, inputs=[randn(8, 9)])
case("Unfold", 2, inputs=[randn(1, 2, 4, 5)])
case("Unfold", (2, 3), dilation=2, padding=2, stride=(1, 2), inputs=[randn(1, 2, 4, 5)])
case("PixelShuffle", 2, inputs=[randn(1, 8, 2, 3)])
case("PixelUnshuffle", 2, inputs=[randn(1, 2, 4, 6)])
case("ChannelShuffle", 2, inputs=[randn(1, 6, 2, 2)])
case("Upsample", scale_factor=2, inputs=[randn(1, 2, 3)])
case("Upsample", size={"tuple": [5, 4]}, mode="bilinear", inputs=[randn(1, 2, 3, 3)])
case("Upsample", scale_factor={"tuple": [1.5, 2]}, mode="bicubic", align_corners=True, inputs=[randn(1, 2, 3, 3)])
case("UpsamplingNearest2d", scale_factor=2, inputs=[randn(1, 2, 3, 3)])
case("UpsamplingNearest2d", size=(4, 5), inputs=[randn(1, 2, 3, 3)])
case("UpsamplingBilinear2d", scale_factor=2, inputs=[randn(1, 2, 3, 3)])
case("AdaptiveLogSoftmaxWithLoss", 8, 20, [4, 10], inputs=[randn(5, 8), tensor([0, 3, 7, 12, 19])])
case("AdaptiveLogSoftmaxWithLoss", 8, 20, [4], 2.0, True, inputs=[randn(5, 8), tensor([0, 3, 1, 0, 2])])
case("AdaptiveLogSoftmaxWithLoss", 8, 20, [4, 10], inputs=[randn(8), tensor(11)])

# Initial values: of a small tensor, whose numbers are drawn one by one, and of one whose are drawn together.
INITIAL: list[Any] = []
for name, options in (
    ("uniform_", [{}, {"a": -2, "b": 3}]),
    ("normal_", [{}, {"mean": 1, "std": 2}]),
    ("trunc_normal_", [{}, {"std": 0.02}, {"mean": 0.5, "std": 3.0, "a": -1, "b": 1}, {"a": 1.5}]),
    ("constant_", [{"val": 0.3}]),
    ("ones_", [{}]),
    ("zeros_", [{}]),
    ("eye_", [{}]),
    ("dirac_", [{}, {"groups": 2}]),
    ("xavier_uniform_", [{}, {"gain": 2.0}]),
    ("xavier_normal_", [{}, {"gain": 2.0}]),
    ("kaiming_uniform_", [{}, {"a": 0.3, "mode": "fan_out"}, {"nonlinearity": "selu"}]),
    ("kaiming_normal_", [{}, {"nonlinearity": "relu"}, {"mode": "fan_out", "nonlinearity": "tanh"}]),
    ("orthogonal_", [{}, {"gain": 2}]),
    ("sparse_", [{"sparsity": 0.3}]),
):
    sizes = [[4, 3, 2], [8, 6, 3, 3]] if name == "dirac_" else [[3, 5], [18, 16]]
    sizes += [[2, 3, 2, 2]] if name.startswith(("xavier", "kaiming", "orthogonal")) else []
    INITIAL += [[name, size, kwargs, dtype] for size in sizes for kwargs in options for dtype in ("float32", "float64")]
INITIAL += [[name, [6, 4], {}, "bfloat16"] for name in ("uniform_", "normal_", "trunc_normal_", "kaiming_uniform_")]


def write(name: str, rows: list[Any]) -> None:
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    (TESTS / name).write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write("torch.json", [{**it, "is": measure(torch, it)} for it in CASES])
    write("init.json", [[*it, draw(torch, *it)] for it in INITIAL])
