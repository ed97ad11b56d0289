"""Functions of neural networks: activations, losses, normalisation, and layers as functions of their weights."""

from retrograd._core import Tensor as _Tensor
from retrograd._core import conv_tbc as conv_tbc
from retrograd._core._nn_functional import *  # noqa: F403
from retrograd._lazy import TYPE_CHECKING
from retrograd._lazy import submodules as _submodules
from retrograd.nn._attention import multi_head_attention_forward as multi_head_attention_forward
from retrograd.nn._losses import linear_cross_entropy as linear_cross_entropy
from retrograd.nn._losses import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss

relu_ = _Tensor.relu_

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    del TYPE_CHECKING
    __getattr__, __dir__ = _submodules(__name__)
