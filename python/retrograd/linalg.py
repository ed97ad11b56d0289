"""Linear algebra: norms, products and parts of matrices."""

from retrograd._core._linalg import *  # noqa: F403
