"""Programs and weights from the network: refused."""

from __future__ import annotations

from retrograd._refused import everything

__getattr__ = everything(__name__, "retrograd loads nothing from the network; download the file for retrograd.load")
