"""Special functions: the gamma family, error and Bessel functions, and what belongs to entropies and log-odds."""

from retrograd._core._special import *  # noqa: F403
