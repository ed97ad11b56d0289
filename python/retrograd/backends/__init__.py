"""Switches of torch's libraries, for programs that set them: they keep what is written to them, and change nothing.

>>> with rg.backends.cudnn.flags(benchmark=True):
...     print(rg.backends.cudnn.benchmark)
True
>>> rg.backends.cudnn.is_available(), rg.backends.mps.is_available()
(False, False)
"""

from __future__ import annotations

from retrograd.backends import cuda, cudnn, mkl, mkldnn, mps, nnpack, openmp, opt_einsum, quantized

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum", "quantized"]

fp32_precision = "none"
