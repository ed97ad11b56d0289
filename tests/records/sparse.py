"""Records of ops on sparse tensors, as functions of dense ones: made sparse before, and dense after where need be.

What sparse gradients are is tested in `tests/test_sparse.py`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from records.record import OFF_ZERO, Array, OpRecord, Sample, s, t

# Where the sparse operand of two axes has entries, and of three.
PLACES = {2: [[0, 1, 1], [2, 0, 2]], 3: [[0, 1, 1], [2, 0, 2]]}


def masked(x: Array) -> Array:
    """The elements that are given, and zeros."""
    keep = np.zeros(x.shape, bool)
    keep[tuple(np.array(PLACES[x.ndim]))] = True
    return np.where(keep, x, 0)


def at_places(rg: Any, x: Any, layout: str = "coo") -> Any:
    """A sparse tensor of the elements at some places, which is differentiable."""
    sparse = x.sparse_mask(ones(rg, tuple(x.shape)))
    return sparse.to_sparse_csr() if layout == "csr" else sparse


def ones(rg: Any, shape: tuple[int, ...]) -> Any:
    indices = rg.tensor(PLACES[len(shape)])
    values = rg.ones((indices.shape[1], *shape[2:]), dtype=rg.float64)
    return rg.sparse_coo_tensor(indices, values, shape, is_coalesced=True)


def softmax(x: Array, axis: int, log: bool) -> Array:
    given = np.zeros(x.shape, bool)
    given[tuple(np.array(PLACES[x.ndim]))] = True
    if axis < 2:
        with np.errstate(divide="ignore", invalid="ignore"):
            powers = np.where(given, np.exp(x), 0)
            y = powers / powers.sum(axis, keepdims=True)
            y = np.log(y) if log else y
        return np.where(given, y, 0)
    powers = np.exp(x)
    y = powers / powers.sum(axis, keepdims=True)
    return np.where(given, np.log(y) if log else y, 0)


def record(
    name: str,
    reference: Callable[..., Any],
    call: Callable[..., Any],
    *samples: Sample,
    complex: bool = True,
    **kwargs: Any,
) -> OpRecord:
    facts: dict[str, Any] = {"method": False, "sparse": True, "reads": True, "complex": complex, "domain": OFF_ZERO}
    facts |= kwargs
    return OpRecord(name=name, reference=reference, call=call, samples=samples, **facts)


RECORDS = [
    record(
        "Tensor.to_sparse",
        lambda x: x,
        lambda rg, x: x.to_sparse().to_dense(masked_grad=False),
        s(t(2, 3)),
        s(t(4)),
        s(t(0, 2)),
    ),
    record(
        "Tensor.sparse_mask",
        masked,
        lambda rg, x: at_places(rg, x).to_dense(),
        s(t(2, 3)),
        s(t(2, 3, 2)),
        covers=("Tensor.coalesce",),
    ),
    record(
        "Tensor.values",
        lambda x: x[tuple(np.array(PLACES[x.ndim]))],
        lambda rg, x: at_places(rg, x).coalesce().values(),
        s(t(2, 3)),
        s(t(2, 3, 2)),
    ),
    record(
        "Tensor.to_sparse_csr",
        masked,
        lambda rg, x: at_places(rg, x, "csr").to_sparse_coo().to_dense(),
        s(t(2, 3)),
        covers=("Tensor.to_sparse_coo",),
    ),
    record(
        "sparse.mm",
        lambda x, y: masked(x) @ y,
        lambda rg, x, y, layout="coo": rg.sparse.mm(at_places(rg, x, layout), y),
        s(t(2, 3), t(3, 4)),
        s(t(2, 3), t(3, 0)),
    ),
    record(
        "sparse.addmm",
        lambda c, x, y, beta=1, alpha=1: beta * c + alpha * (masked(x) @ y),
        lambda rg, c, x, y, **kwargs: rg.sparse.addmm(c, at_places(rg, x), y, **kwargs),
        s(t(2, 4), t(2, 3), t(3, 4)),
        s(t(2, 4), t(2, 3), t(3, 4), beta=2, alpha=3),
    ),
    record(
        "sparse.sampled_addmm",
        lambda c, x, y, beta=1, alpha=1: masked(beta * c + alpha * (x @ y)),
        lambda rg, c, x, y, **kwargs: rg.sparse.sampled_addmm(at_places(rg, c, "csr"), x, y, **kwargs).to_dense(),
        s(t(2, 3), t(2, 4), t(4, 3)),
        s(t(2, 3), t(2, 4), t(4, 3), beta=2, alpha=3),
    ),
    record(
        "sparse.sum",
        lambda x, dim=None: masked(x).sum(dim),
        lambda rg, x, dim=None: rg.sparse.sum(at_places(rg, x), dim).to_dense(),
        s(t(2, 3)),
        s(t(2, 3), dim=0),
        s(t(2, 3), dim=(0, 1)),
        s(t(2, 3, 2), dim=1),
        s(t(2, 3, 2), dim=(0, 1)),
        s(t(2, 3, 2), dim=2),
        s(t(2, 3, 2), dim=(1, 2)),
    ),
    record(
        "sparse.softmax",
        lambda x, dim: softmax(x, dim, False),
        lambda rg, x, dim: rg.sparse.softmax(at_places(rg, x), dim).to_dense(),
        s(t(2, 3), 1),
        s(t(2, 3), 0),
        s(t(2, 3, 2), 1),
        s(t(2, 3, 2), 2),
        complex=False,
    ),
    record(
        "sparse.log_softmax",
        lambda x, dim: softmax(x, dim, True),
        lambda rg, x, dim: rg.sparse.log_softmax(at_places(rg, x), dim).to_dense(),
        s(t(2, 3), 1),
        s(t(2, 3, 2), 2),
        complex=False,
    ),
]
