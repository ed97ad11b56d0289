"""Help for tests: `assert_close`, `make_tensor`, and fixtures for pytest in `retrograd.testing.plugin`.

Importing this package does not import pytest; asking it for `plugin` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrograd._lazy import submodules
from retrograd.testing._comparison import assert_allclose, assert_close
from retrograd.testing._creation import make_tensor

if TYPE_CHECKING:
    from retrograd.testing import plugin

__all__ = ["assert_allclose", "assert_close", "make_tensor", "plugin"]

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(__name__, "plugin")
