"""Faults in the middle of training: every rank ends, and somebody says which rank and why."""

import pytest
from launch import launch

PROGRAM = """
import os, signal, sys, time
from datetime import timedelta
import retrograd as rg
from retrograd import distributed as dist
from retrograd import nn

rg.set_num_threads(1)
dist.init_process_group("mpi", timeout=timedelta(seconds={timeout}))
rank = dist.get_rank()
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 600), nn.Tanh(), nn.Linear(600, 600)))
for step in range(3):
    def hook(grad):
        if step == 1 and rank == 1:
            {case}
    model.module[0].weight.register_hook(hook)  # after the gradients of the last layer were sent
    model(rg.ones(2, 4)).sum().backward()
print("rank", rank, "went on")
"""


@pytest.mark.parametrize(
    ("case", "phrases"),
    [
        ("raise ValueError('no data')", ["ValueError: no data", "rank 1 of 2 failed with ValueError"]),
        ("sys.exit(0)", ["rank 0 in all_reduce", "has left"]),
        ("time.sleep(60)", ["rank 0 in all_reduce", "timed out after 2 s (rank 1 began all_reduce"]),
    ],
)
def test_a_rank_that_fails_within_a_backward_pass_ends_all(tmp_path, case, phrases):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(case=case, timeout=2))
    result = launch(2, program, limit=40)
    assert result.code != 0 and "went on" not in result.output
    for phrase in phrases:
        assert phrase in result.output, result.output


def test_a_rank_without_gradients_makes_the_others_fail_and_not_hang(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        PROGRAM.format(case="pass", timeout=2)
        .replace("model(rg.ones(2, 4)).sum()", "(model(rg.ones(2, 4)) if rank == 0 or step == 0 else unused()).sum()")
        .replace("for step", "unused = lambda: model(rg.ones(2, 4)).detach().requires_grad_()\nfor step")
    )
    result = launch(2, program, limit=40)
    assert result.code != 0 and "rank 0 went on" not in result.output
    assert "timed out after 2 s" in result.output or "has left" in result.output, result.output
