"""Comparing nested results, and what properties share: directions, weights, and refusals that are no findings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from hypothesis import reject

import retrograd as rg

# Reverse mode needs a value that the program wrote over; and vmap writes no batch into what is no batch. A program that
# uses it is refused, which is right.
REFUSALS = ("modified by an inplace operation", "*extra_args) is not possible because there exists a Tensor")


@contextmanager
def refusals_are_no_findings() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        if any(phrase in str(error) for phrase in REFUSALS):
            reject()
        raise


def tensors(arrays: Any) -> tuple[Any, ...]:
    return tuple(rg.tensor(a.tolist(), dtype=rg.float64).reshape(a.shape) for a in arrays)


def like(x: Any, seed: float) -> Any:
    """A tensor without a pattern, of the shape of `x`; it does not depend on it."""
    values = np.round(np.cos(seed + 1.9 * np.arange(x.numel())), 3)
    return rg.tensor(values.tolist(), dtype=rg.float64).reshape(tuple(x.shape))


def directions(xs: Any, seed: float = 0.4) -> tuple[Any, ...]:
    return tuple(like(x, seed + i) for i, x in enumerate(xs))


def weighted(outputs: Any, seed: float = 2.6) -> Any:
    """One number made of all results."""
    total = rg.zeros((), dtype=rg.float64)
    for i, y in enumerate(outputs):
        total = total + (y * like(y, seed + i)).sum()
    return total


def flat(nest: Any) -> list[np.ndarray]:
    """The arrays in a nest of tuples, lists and dicts."""
    if isinstance(nest, dict):
        nest = list(nest.values())
    if isinstance(nest, tuple | list):
        return [array for part in nest for array in flat(part)]
    return [np.asarray(nest.detach().numpy() if isinstance(nest, rg.Tensor) else nest)]


def agree(got: Any, want: Any, what: str, tolerance: float = 1e-8) -> None:
    """Asserts that two nests hold the same numbers, relative to the largest of them."""
    got, want = flat(got), flat(want)
    assert len(got) == len(want), f"{what}: {len(got)} and {len(want)} arrays"
    scale = max((float(np.abs(a).max(initial=1.0)) for a in want if np.isfinite(a).all()), default=1.0)
    for i, (a, b) in enumerate(zip(got, want, strict=True)):
        assert a.shape == b.shape, f"{what}, array {i}: shapes {a.shape} and {b.shape}"
        near = np.isclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
        assert near.all(), f"{what}, array {i}: {a.tolist()} is not {b.tolist()}"
