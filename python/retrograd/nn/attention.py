"""Which kernels of attention a program allows: there is one for all, so a choice changes nothing.

>>> from retrograd.nn.attention import SDPBackend, sdpa_kernel
>>> with sdpa_kernel(SDPBackend.MATH):
...     rg.nn.functional.scaled_dot_product_attention(rg.ones(1, 1, 2), rg.ones(1, 1, 2), rg.ones(1, 1, 2))
tensor([[[1., 1.]]])
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

__all__ = ["WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(Enum):
    """Names of kernels of attention.

    >>> from retrograd.nn.attention import SDPBackend
    >>> SDPBackend(0).name
    'MATH'
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[None]:
    """A context, or a decorator, that would choose among kernels of attention.

    Raises: AssertionError if `backends` is neither a backend nor a list of them.

    >>> from retrograd.nn.attention import SDPBackend, sdpa_kernel
    >>> with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH], set_priority=True):
    ...     pass
    """
    if not isinstance(backends, list | SDPBackend):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    yield
