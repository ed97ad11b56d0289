"""Sparse tensors: products, sums and softmaxes whose zeros are not stored.

`retrograd.sparse_coo_tensor` and `Tensor.to_sparse` make them; docs/ops.md lists what else takes them.
"""

from retrograd._core._sparse import *  # noqa: F403
