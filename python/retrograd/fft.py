"""Fourier transforms, and the frequencies that their results belong to."""

from retrograd._core._fft import *  # noqa: F403
from retrograd._lazy import TYPE_CHECKING
from retrograd._lazy import submodules as _submodules

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    del TYPE_CHECKING
    __getattr__, __dir__ = _submodules(__name__)
