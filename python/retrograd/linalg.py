"""Linear algebra: norms, products and parts of matrices."""

from retrograd._core.linalg_ops import *  # noqa: F403
