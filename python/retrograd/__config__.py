"""What this build is made of, as text.

>>> print(rg.__config__.show().splitlines()[0])
retrograd built with:
"""

from __future__ import annotations

from retrograd import _core
from retrograd._settings import get_num_threads


def show() -> str:
    """The version, and the libraries inside."""
    return (
        f"retrograd built with:\n  - retrograd {_core.__version__}\n  - products and loops of its own\n"
        "  - faer for decompositions\n  - rustfft and realfft for Fourier transforms\n"
    )


def parallel_info() -> str:
    """How many threads an op may use."""
    return f"retrograd/Parallel:\n\tget_num_threads() : {get_num_threads()}\n\tthreads of its own\n"
