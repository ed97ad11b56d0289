"""Sparse tensors: products, sums and softmaxes whose zeros are not stored.

`retrograd.sparse_coo_tensor` and `Tensor.to_sparse` make them; docs/ops.md lists what else takes them.
"""

from retrograd._core._sparse import *  # noqa: F403
from retrograd._lazy import TYPE_CHECKING
from retrograd._lazy import submodules as _submodules

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    del TYPE_CHECKING
    __getattr__, __dir__ = _submodules(__name__)
