"""The tests in `spmd`, in 1, 2 and 4 ranks, oversubscribed where cores lack."""

import pytest
from launch import HERE, launch


@pytest.mark.parametrize("size", [1, 2, 4])
def test_in_ranks(size):
    arguments = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", HERE / "spmd")
    result = launch(size, *arguments, limit=240)
    assert result.code == 0, result.output
    assert result.output.count(" passed") == size, result.output
