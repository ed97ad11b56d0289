"""Functions of trees, such as `tree_map`: what `utils._pytree` has, under a public name."""

from retrograd.utils._pytree import *  # noqa: F403
from retrograd.utils._pytree import __all__ as __all__
