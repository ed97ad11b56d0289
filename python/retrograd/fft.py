"""Fourier transforms: so far the frequencies that their results belong to."""

from retrograd._core.fft_ops import *  # noqa: F403
