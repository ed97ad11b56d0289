"""Switches of CUDA's libraries, which are not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from retrograd._accelerators import answers, idle

matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
    fp32_precision="none",
)
cufft_plan_cache = SimpleNamespace(size=0, max_size=0, clear=lambda: None)

globals().update(
    answers(
        __name__,
        {
            "can_use_efficient_attention": lambda: False,
            "can_use_flash_attention": lambda: False,
            "cudnn_sdp_enabled": lambda: False,
            "flash_sdp_enabled": lambda: False,
            "is_built": lambda: False,
            "is_flash_attention_available": lambda: False,
            "math_sdp_enabled": lambda: True,
            "mem_efficient_sdp_enabled": lambda: False,
            "preferred_blas_library": lambda: "default",
            "preferred_linalg_library": lambda: "default",
        },
    )
    | idle(__name__, ("enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp", "enable_mem_efficient_sdp"))
)


@contextmanager
def sdp_kernel(*args: Any, **kwargs: Any) -> Iterator[None]:
    """A context that would choose among kernels of attention: there is one."""
    yield
