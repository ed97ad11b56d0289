"""Reductions and normalizations of the elements that a mask names."""

from retrograd._core._masked import *  # noqa: F403
from retrograd._lazy import TYPE_CHECKING
from retrograd._lazy import submodules as _submodules

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    del TYPE_CHECKING
    __getattr__, __dir__ = _submodules(__name__)
