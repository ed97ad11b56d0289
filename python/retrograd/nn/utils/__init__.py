"""Helpers for modules and their parameters: gradients clipped, sequences packed, weights computed or pruned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrograd._lazy import submodules
from retrograd.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from retrograd.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from retrograd.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from retrograd.nn.utils.weight_norm import remove_weight_norm, weight_norm

if TYPE_CHECKING:
    from retrograd.nn.utils import parametrizations, parametrize, prune, rnn, stateless
    from retrograd.nn.utils.init import skip_init
    from retrograd.nn.utils.memory_format import (
        convert_conv2d_weight_memory_format,
        convert_conv3d_weight_memory_format,
    )

# What most programs do not use is loaded at first use.
if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(
        __name__,
        "clip_grad",
        "convert_parameters",
        "init",
        "memory_format",
        "parametrizations",
        "parametrize",
        "prune",
        "rnn",
        "stateless",
        convert_conv2d_weight_memory_format="memory_format",
        convert_conv3d_weight_memory_format="memory_format",
        skip_init="init",
    )

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]
