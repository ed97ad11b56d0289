"""What this build is.

>>> rg.version.__version__ == rg.__version__, rg.version.cuda
(True, None)
"""

from __future__ import annotations

from retrograd._core import __version__

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]

debug = False
git_version = "Unknown"
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
