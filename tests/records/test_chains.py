"""Backward passes through pointwise ops, block by block: every op has the bits that it has node by node."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

from records import pointwise, rg
from records.bound import Bound, array, tensors_of
from records.record import HALVES, OpRecord, Sample
from records.test_records import NATIVE, RECORDS, noting

pytestmark = pytest.mark.skipif(not NATIVE, reason="of this package's engine")

BLOCK = 64  # a multiple of every vector's length, as the usual one is
LEAST = 3 * BLOCK
# One below, which is not run in blocks; whole blocks; an element in the last one, and one less than a whole; a tail.
SIZES = [LEAST - 1, LEAST, LEAST + 1, LEAST + BLOCK - 1, 2 * LEAST + 17]

# Pointwise ops that are not in chains, with the reason.
ALONE = {"positive": "it is the operand itself, and has no node"}


@pytest.fixture(autouse=True, scope="module")
def no_batches() -> None:
    """Tensors of a batch that other tests left in cycles let every op look for batches: no nodes run in chains."""
    gc.collect()


@pytest.fixture(autouse=True)
def usual_sizes() -> Iterator[None]:
    usual = rg._core._set_chain_sizes(LEAST, BLOCK)
    yield
    rg._core._set_chain_sizes(*usual)


def stretched(bound: Bound, n: int) -> bool:
    """Gives all tensors of the call `n` elements, if they have the same shape; numbers stay."""
    shapes = {x.shape for x in bound.leaves if x.ndim}
    if len(shapes) != 1 or 0 in next(iter(shapes)) or not bound.wrt:
        return False
    bound.leaves = [np.resize(x, n) if x.ndim else x for x in bound.leaves]
    return True


def gradients(bound: Bound, dtype: str, n: int, chains: bool) -> tuple[list[object], int] | None:
    """The gradients of the op between two others, as bytes with their layout, and how many nodes ran in chains."""
    tensors = [x.to(getattr(rg, dtype)) if dtype in HALVES and x.is_floating_point() else x for x in bound.tensors()]
    for k in bound.wrt:
        tensors[k].requires_grad_()
    try:
        outputs = [y for y in tensors_of(bound.run(tensors)) if y.requires_grad]
    except (NotImplementedError, RuntimeError, TypeError, ValueError, LookupError, Warning):
        return None  # this op takes other shapes
    if [tuple(y.shape) for y in outputs] != [(n,)]:
        return None
    (y,) = outputs
    z = (y * 1.5).sin() if y.is_floating_point() else y * 1.5
    cotangent = rg.from_numpy(np.random.default_rng(n).standard_normal(n)).to(z.dtype)
    rg._core._set_chain_sizes(LEAST if chains else 1 << 40, BLOCK)
    before = rg._core._nodes_in_chains()
    grads = rg.autograd.grad(z, [tensors[k] for k in bound.wrt], cotangent, allow_unused=True)
    seen = [
        None if g is None else (str(g.dtype), tuple(g.shape), g.stride(), g.is_conj(), g.is_neg(), bits(g))
        for g in grads
    ]
    return seen, rg._core._nodes_in_chains() - before


def bits(x: rg.Tensor) -> bytes:
    x = x.detach().resolve_conj().resolve_neg()
    return array(x.view(rg.int16) if x.dtype in (rg.float16, rg.bfloat16) else x).tobytes()


def samples(record: OpRecord) -> list[Sample]:
    """Calls that can be stretched."""
    return [sample for sample in record.samples if stretched(Bound(record, sample), 2)][:4]


def in_blocks(record: OpRecord, sample: Sample, sizes: list[int]) -> set[int]:
    """How many nodes run in chains, of each dtype, at the sizes where they may; the bits are compared at all."""
    counts = set()
    dtypes = list(sample.dtypes or record.dtypes) + [h for h in HALVES if record.halves is not None]
    for dtype in dtypes:
        for n in sizes:
            with noting((dtype, n)):
                bound = Bound(record, sample, "float32" if dtype in HALVES else dtype)
                if not stretched(bound, n) or (plain := gradients(bound, dtype, n, False)) is None:
                    continue
                got = gradients(bound, dtype, n, True)
                assert got is not None
                assert got[0] == plain[0]
                assert plain[1] == 0
                if n < LEAST:
                    assert got[1] == 0
                else:
                    counts.add(got[1])
    return counts


@pytest.mark.parametrize("record", [r for r in RECORDS if r.differentiable], ids=lambda r: r.name)
def test_blocks_have_the_bits_of_the_whole(record: OpRecord) -> None:
    for sample in samples(record):
        with noting(sample):
            in_blocks(record, sample, SIZES)


@pytest.mark.parametrize("record", [r for r in pointwise.RECORDS if r.differentiable], ids=lambda r: r.name)
def test_pointwise_ops_are_in_chains(record: OpRecord) -> None:
    counts = set().union(*(in_blocks(record, sample, [LEAST]) for sample in samples(record)))
    if counts:
        assert (max(counts) >= 3) == (record.name not in ALONE)
