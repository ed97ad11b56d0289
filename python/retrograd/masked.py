"""Reductions and normalizations of the elements that a mask names."""

from retrograd._core._masked import *  # noqa: F403
