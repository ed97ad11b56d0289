"""Fourier transforms, and the frequencies that their results belong to."""

from retrograd._core._fft import *  # noqa: F403
