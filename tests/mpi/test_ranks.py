"""The tests in `spmd`, in 1, 2 and 4 ranks, oversubscribed where cores lack."""

import pytest
from launch import HERE, launch


@pytest.mark.parametrize("size", [1, 2, 4])
def test_in_ranks(size):
    arguments = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", HERE / "spmd")
    result = launch(size, *arguments, limit=240)
    assert result.code == 0, result.output
    assert result.output.count(" passed") == size, result.output


def test_in_ranks_without_a_thread():
    """Work goes on when the package is called."""
    chosen = "any_order or goes_on_while or lets_other_work or random_programs or same_bits or future"
    arguments = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", HERE / "spmd", "-k", chosen)
    result = launch(2, *arguments, limit=120, RETROGRAD_DISTRIBUTED_PROGRESS="calls")
    assert result.code == 0, result.output
