"""Rows of Fourier transforms: lines of convenient lengths and of others, one long line, planes.

Imported for the cases that it adds.
"""

from __future__ import annotations

from typing import Any

from cases import case
from ops import backward, forward


def real(*sizes: int) -> Any:
    return lambda m: (m.randn(*sizes),)


def complex_numbers(*sizes: int) -> Any:
    return lambda m: (m.view_as_complex(m.randn(*sizes, 2)),)


case("rfft, 64x1024, fwd + bwd", 1.5)(backward(real(64, 1024), lambda m, x: m.fft.rfft(x)))
for length in (501, 513):
    case(f"irfft, 64x{length}, fwd", 1.0)(forward(complex_numbers(64, length), lambda m, x: m.fft.irfft(x)))
case("fft, 2^20, fwd", 0.8)(forward(complex_numbers(1 << 20), lambda m, x: m.fft.fft(x)))
for length in (1000, 1009, 1024):
    case(f"fft, {length}, fwd", 1.0)(forward(complex_numbers(length), lambda m, x: m.fft.fft(x)))
    case(f"fft, 64x{length}, fwd", 1.0)(forward(complex_numbers(64, length), lambda m, x: m.fft.fft(x)))
    case(f"rfft, 64x{length}, fwd", 1.0)(forward(real(64, length), lambda m, x: m.fft.rfft(x)))
case("fft along the first axis, 1024x64, fwd", 1.0)(
    forward(complex_numbers(1024, 64), lambda m, x: m.fft.fft(x, dim=0))
)
case("fft2, 512x512, fwd", 1.0)(forward(complex_numbers(512, 512), lambda m, x: m.fft.fft2(x)))
case("irfft2, 8x256x129, fwd", 1.0)(forward(complex_numbers(8, 256, 129), lambda m, x: m.fft.irfft2(x)))
case("rfft2, 8x256x256, fwd + bwd", 1.0)(backward(real(8, 256, 256), lambda m, x: m.fft.rfft2(x)))
