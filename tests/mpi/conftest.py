import pytest
from retrograd import distributed as dist
import retrograd as rg
@pytest.fixture(scope="module")
def world():
    rg.set_num_threads(1)
    dist.init_process_group("mpi")
    yield
    dist.destroy_process_group()
