"""The group of all ranks. A rank whose test fails says so, and ends all: the others would wait for it."""

import datetime
import sys

import pytest

import retrograd as rg
from retrograd import distributed as dist

rg.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def world():
    dist.init_process_group("mpi", timeout=datetime.timedelta(seconds=30))
    yield
    dist.destroy_process_group()


@pytest.fixture
def rank():
    return dist.get_rank()


@pytest.fixture
def size():
    return dist.get_world_size()


def pytest_runtest_logreport(report):
    if report.failed and "mpi4py.MPI" in sys.modules:
        sys.stderr.write(f"{report.nodeid} failed in a rank\n{report.longreprtext}\n")
        sys.stderr.flush()
        sys.modules["mpi4py.MPI"].COMM_WORLD.Abort(1)
