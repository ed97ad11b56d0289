"""The switch for pytest: `pytest -p retrograd.as_torch` runs tests of a torch program on retrograd.

It is on from the moment when pytest takes the plugin, before any `conftest.py`, until pytest ends.
"""

from __future__ import annotations

from typing import Any

__all__: list[str] = []


def pytest_addoption(parser: Any) -> None:
    """Install the switch: of all hooks pytest calls this one first."""
    from retrograd import install_as_torch

    install_as_torch()


def pytest_unconfigure(config: Any) -> None:
    """Put back what the switch changed."""
    from retrograd import uninstall_as_torch

    uninstall_as_torch()
