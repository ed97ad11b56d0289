"""Neural network building blocks: parameters and functions."""

from retrograd.nn import functional
from retrograd.nn.parameter import Parameter

__all__ = ["Parameter", "functional"]
