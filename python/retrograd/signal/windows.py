"""Windows: numbers that fade a signal in and out."""

from retrograd._core._signal_windows import *  # noqa: F403
