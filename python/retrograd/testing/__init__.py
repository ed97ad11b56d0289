"""Help for tests of programs that use retrograd: fixtures for pytest in `retrograd.testing.plugin`.

Importing this package does not import pytest.
"""

from __future__ import annotations

__all__: list[str] = []
