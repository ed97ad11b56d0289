"""Modules: the base class, containers and layers.

A file is loaded when one of its names is first used, so that a program pays for the layers that it has.
"""

# ruff: noqa: F403  the files list their names

from typing import TYPE_CHECKING

from retrograd._lazy import submodules as _submodules

if TYPE_CHECKING:
    from retrograd.nn.modules.activation import *
    from retrograd.nn.modules.adaptive import *
    from retrograd.nn.modules.batchnorm import *
    from retrograd.nn.modules.channelshuffle import *
    from retrograd.nn.modules.container import *
    from retrograd.nn.modules.conv import *
    from retrograd.nn.modules.distance import *
    from retrograd.nn.modules.dropout import *
    from retrograd.nn.modules.flatten import *
    from retrograd.nn.modules.fold import *
    from retrograd.nn.modules.instancenorm import *
    from retrograd.nn.modules.linear import *
    from retrograd.nn.modules.loss import *
    from retrograd.nn.modules.module import *
    from retrograd.nn.modules.normalization import *
    from retrograd.nn.modules.padding import *
    from retrograd.nn.modules.pixelshuffle import *
    from retrograd.nn.modules.pooling import *
    from retrograd.nn.modules.rnn import *
    from retrograd.nn.modules.sparse import *
    from retrograd.nn.modules.transformer import *
    from retrograd.nn.modules.upsampling import *

# The names of each file that are names of this package, and of `retrograd.nn`.
_FILES = {
    "activation": (
        "CELU",
        "ELU",
        "GELU",
        "GLU",
        "Hardshrink",
        "Hardsigmoid",
        "Hardswish",
        "Hardtanh",
        "LeakyReLU",
        "LogSigmoid",
        "LogSoftmax",
        "Mish",
        "MultiheadAttention",
        "PReLU",
        "RReLU",
        "ReLU",
        "ReLU6",
        "SELU",
        "SiLU",
        "Sigmoid",
        "Softmax",
        "Softmax2d",
        "Softmin",
        "Softplus",
        "Softshrink",
        "Softsign",
        "Tanh",
        "Tanhshrink",
        "Threshold",
    ),
    "adaptive": ("AdaptiveLogSoftmaxWithLoss",),
    "batchnorm": (
        "BatchNorm1d",
        "BatchNorm2d",
        "BatchNorm3d",
        "LazyBatchNorm1d",
        "LazyBatchNorm2d",
        "LazyBatchNorm3d",
        "SyncBatchNorm",
    ),
    "channelshuffle": ("ChannelShuffle",),
    "container": (
        "Container",
        "ModuleDict",
        "ModuleList",
        "ParameterDict",
        "ParameterList",
        "Sequential",
    ),
    "conv": (
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "ConvTranspose1d",
        "ConvTranspose2d",
        "ConvTranspose3d",
        "LazyConv1d",
        "LazyConv2d",
        "LazyConv3d",
        "LazyConvTranspose1d",
        "LazyConvTranspose2d",
        "LazyConvTranspose3d",
    ),
    "distance": (
        "CosineSimilarity",
        "PairwiseDistance",
    ),
    "dropout": (
        "AlphaDropout",
        "Dropout",
        "Dropout1d",
        "Dropout2d",
        "Dropout3d",
        "FeatureAlphaDropout",
    ),
    "flatten": (
        "Flatten",
        "Unflatten",
    ),
    "fold": (
        "Fold",
        "Unfold",
    ),
    "instancenorm": (
        "InstanceNorm1d",
        "InstanceNorm2d",
        "InstanceNorm3d",
        "LazyInstanceNorm1d",
        "LazyInstanceNorm2d",
        "LazyInstanceNorm3d",
    ),
    "linear": (
        "Bilinear",
        "Identity",
        "LazyLinear",
        "Linear",
    ),
    "loss": (
        "BCELoss",
        "BCEWithLogitsLoss",
        "CTCLoss",
        "CosineEmbeddingLoss",
        "CrossEntropyLoss",
        "GaussianNLLLoss",
        "HingeEmbeddingLoss",
        "HuberLoss",
        "KLDivLoss",
        "L1Loss",
        "LinearCrossEntropyLoss",
        "MSELoss",
        "MarginRankingLoss",
        "MultiLabelMarginLoss",
        "MultiLabelSoftMarginLoss",
        "MultiMarginLoss",
        "NLLLoss",
        "NLLLoss2d",
        "PoissonNLLLoss",
        "SmoothL1Loss",
        "SoftMarginLoss",
        "TripletMarginLoss",
        "TripletMarginWithDistanceLoss",
    ),
    "module": ("Module",),
    "normalization": (
        "CrossMapLRN2d",
        "GroupNorm",
        "LayerNorm",
        "LocalResponseNorm",
        "RMSNorm",
    ),
    "padding": (
        "CircularPad1d",
        "CircularPad2d",
        "CircularPad3d",
        "ConstantPad1d",
        "ConstantPad2d",
        "ConstantPad3d",
        "ReflectionPad1d",
        "ReflectionPad2d",
        "ReflectionPad3d",
        "ReplicationPad1d",
        "ReplicationPad2d",
        "ReplicationPad3d",
        "ZeroPad1d",
        "ZeroPad2d",
        "ZeroPad3d",
    ),
    "pixelshuffle": (
        "PixelShuffle",
        "PixelUnshuffle",
    ),
    "pooling": (
        "AdaptiveAvgPool1d",
        "AdaptiveAvgPool2d",
        "AdaptiveAvgPool3d",
        "AdaptiveMaxPool1d",
        "AdaptiveMaxPool2d",
        "AdaptiveMaxPool3d",
        "AvgPool1d",
        "AvgPool2d",
        "AvgPool3d",
        "FractionalMaxPool2d",
        "FractionalMaxPool3d",
        "LPPool1d",
        "LPPool2d",
        "LPPool3d",
        "MaxPool1d",
        "MaxPool2d",
        "MaxPool3d",
        "MaxUnpool1d",
        "MaxUnpool2d",
        "MaxUnpool3d",
    ),
    "rnn": (
        "GRU",
        "GRUCell",
        "LSTM",
        "LSTMCell",
        "RNN",
        "RNNBase",
        "RNNCell",
        "RNNCellBase",
    ),
    "sparse": (
        "Embedding",
        "EmbeddingBag",
    ),
    "transformer": (
        "Transformer",
        "TransformerDecoder",
        "TransformerDecoderLayer",
        "TransformerEncoder",
        "TransformerEncoderLayer",
    ),
    "upsampling": (
        "Upsample",
        "UpsamplingBilinear2d",
        "UpsamplingNearest2d",
    ),
}
_NAMES = {name: file for file, names in _FILES.items() for name in names}

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = _submodules(__name__, *_FILES, "attention", "lazy", "utils", **_NAMES)

    __all__ = sorted(_NAMES)
