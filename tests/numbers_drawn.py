"""Numbers for tests that compare with NumPy, the same ones in each test that uses `seeded`."""

from typing import Any

import numpy as np
import pytest

import retrograd as rg

random = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Each test draws the same numbers, whichever ran before."""
    random.bit_generator.state = np.random.default_rng(5).bit_generator.state


def given(values: Any) -> rg.Tensor:
    return rg.from_numpy(np.ascontiguousarray(values))


def numbers(*shape: int, dtype: str = "float64") -> Any:
    return random.standard_normal(shape).astype(dtype)
