"""Functions of neural networks: activations, losses, normalisation, and layers as functions of their weights."""

from retrograd._core._nn_functional import *  # noqa: F403
