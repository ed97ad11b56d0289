"""Reductions go on while a rank computes, over a link that is slow: each rank is a machine of its own to MPI."""

import json

import pytest
from launch import launch

# A network of its own, whose only link has a limit. With 77 it says that this machine does not permit it.
LINK = """
ip link set lo mtu 9000 up || exit 77
tc qdisc add dev lo root netem delay 200us rate 2gbit limit 100000 2>/dev/null ||
    tc qdisc add dev lo root tbf rate 2gbit burst 512kb latency 100ms || exit 77
exec "$@"
"""

PROGRAM = """
import json, time
import retrograd as rg
from retrograd import distributed as dist

rg.set_num_threads(1)
dist.init_process_group("mpi")
gradients = [rg.ones(1 << 20) for _ in range(6)]


def step(compute, reduce):
    dist.barrier()
    begin = time.perf_counter()
    works = []
    for gradient in gradients:
        if compute:
            time.sleep(0.04)  # needs no core, so that a busy machine does not matter; and calls nothing
        if reduce:
            works.append(dist.all_reduce(gradient, dist.ReduceOp.AVG, async_op=True))
    for work in works:
        work.wait()
    return time.perf_counter() - begin


step(True, True)
times = [min(step(*which) for _ in range(5)) for which in ((True, False), (False, True), (True, True))]
if dist.get_rank() == 0:
    print(json.dumps(times))
"""


def test_reductions_overlap_with_what_a_rank_computes(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    result = launch(
        2,
        program,
        before=("unshare", "--map-root-user", "--net", "sh", "-c", LINK, "sh"),
        limit=60,
        MPIR_CVAR_NOLOCAL="1",
        MPIR_CVAR_ODD_EVEN_CLIQUES="1",
        MPIR_CVAR_CH4_NETMOD="ofi",
        FI_PROVIDER="tcp",
        FI_TCP_IFACE="lo",
    )
    if result.code in (77, 127) or "unshare failed" in result.output:
        pytest.skip(f"a network namespace with a slow link is not permitted: {result.output.strip()}")
    assert result.code == 0, result.output
    compute, reduce, both = json.loads(result.output.splitlines()[-1])
    assert reduce > 0.1, "the link is not slow"
    hidden = (compute + reduce - both) / min(compute, reduce)
    assert hidden > 0.5, f"computing {compute:.3f} s, reducing {reduce:.3f} s, both {both:.3f} s"
