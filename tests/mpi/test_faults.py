"""Ranks that raise, die, leave or never come end all ranks within a time limit, and somebody says why."""

import os
import subprocess
import sys
import textwrap

import pytest
from launch import launch, mpiexec

PROGRAM = """
import os, signal, sys, time
from datetime import timedelta
import retrograd as rg
from retrograd import distributed as dist

rg.set_num_threads(1)
dist.init_process_group("mpi", timeout=timedelta(seconds={timeout}))
rank, x = dist.get_rank(), rg.ones(4)
dist.all_reduce(x)
dist.barrier()
if rank == 1:
    {case}
dist.all_reduce(x)
print("rank", rank, "went on")
"""


def run(tmp_path, case, *, timeout=30, size=3, **options):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(case=case, timeout=timeout))
    return launch(size, program, **options)


def test_a_rank_that_raises_ends_all(tmp_path):
    result = run(tmp_path, "raise ValueError('no data')", limit=20)
    assert result.code != 0 and "went on" not in result.output
    assert "ValueError: no data" in result.output
    assert "rank 1 of 3 failed with ValueError after it began barrier #2, and ends all processes" in result.output


def test_a_rank_that_is_killed_ends_all(tmp_path):
    kill = "os.kill(os.getpid(), signal.SIGKILL)"
    result = run(tmp_path, kill, limit=20, RETROGRAD_DISTRIBUTED_DEBUG="INFO")
    assert result.code != 0 and "went on" not in result.output
    assert "BAD TERMINATION" in result.output or "is dead" in result.output, result.output
    assert "rank 0 begins barrier #2" in result.output  # its record, written before the launcher ended it


def test_survivors_of_a_killed_rank_name_it(tmp_path):
    """Through a process between the launcher and each rank, since it ends all when it sees one of its own die."""
    between = tmp_path / "between.py"
    between.write_text(
        textwrap.dedent("""
            import signal, subprocess, sys

            signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # with which the launcher tells of the death
            sys.exit(subprocess.call([sys.executable, *sys.argv[1:]], close_fds=False) and 1)
        """)
    )
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(case="os.kill(os.getpid(), signal.SIGKILL)", timeout=30))
    result = launch(3, between, program, options=["-disable-auto-cleanup"], limit=20)
    assert result.code != 0 and "went on" not in result.output
    for rank in (0, 2):
        assert f"rank {rank} in all_reduce #3: cannot be finished: rank 1 is dead" in result.output, result.output
    assert "and began barrier #2 last" in result.output


def test_a_rank_that_leaves_early_is_named(tmp_path):
    result = run(tmp_path, "sys.exit(0)", limit=20)
    assert result.code != 0 and "went on" not in result.output
    assert "in all_reduce #3: cannot be finished: rank 1 has left, and began barrier #2 last" in result.output


def test_a_rank_that_does_not_come_is_named_when_the_time_is_over(tmp_path):
    result = run(tmp_path, "time.sleep(60)", timeout=1, limit=20)
    assert result.code != 0 and "went on" not in result.output
    assert "in all_reduce #3: timed out after 1 s (rank 1 began barrier #2 last)" in result.output


def test_ranks_at_different_collectives_are_named(tmp_path):
    result = run(tmp_path, "dist.broadcast(x, 0)", timeout=1, limit=20)
    assert result.code != 0
    assert "all_reduce #3: timed out after 1 s (rank 1 began broadcast #3 last)" in result.output


@pytest.mark.parametrize(
    ("case", "signature"),
    [
        ("dist.broadcast(x, 0)", "broadcast #3((4,) retrograd.float32, rank 0)"),
        ("x = rg.ones(5)", "all_reduce #3((5,) retrograd.float32, ReduceOp.SUM)"),
        ("x = x.double()", "all_reduce #3((4,) retrograd.float64, ReduceOp.SUM)"),
        ("dist.all_reduce(x, dist.ReduceOp.MAX)", "all_reduce #3((4,) retrograd.float32, ReduceOp.MAX)"),
    ],
)
def test_the_debug_mode_says_which_ranks_disagree_on_what(tmp_path, case, signature):
    result = run(tmp_path, case, limit=20, RETROGRAD_DISTRIBUTED_DEBUG="DETAIL")
    assert result.code != 0 and "went on" not in result.output
    expected = (
        "Detected mismatch between collectives on ranks. Ranks 0, 2 are running collective: "
        f"all_reduce #3((4,) retrograd.float32, ReduceOp.SUM), but Rank 1 is running collective: {signature}"
    )
    assert expected in result.output, result.output


def test_an_interrupt_in_a_rank_ends_all(tmp_path):
    result = run(tmp_path, "os.kill(os.getpid(), signal.SIGINT); time.sleep(5)", limit=20)
    assert result.code != 0 and "went on" not in result.output
    assert "rank 1 of 3 failed with KeyboardInterrupt" in result.output


def test_an_interrupt_of_the_launcher_ends_all(tmp_path):
    result = run(tmp_path, "time.sleep(60)", limit=20, interrupt_after=3)
    assert result.code != 0 and "went on" not in result.output


def test_a_caught_fault_leaves_the_group_unusable_and_the_program_ends(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            import time
            from datetime import timedelta
            import retrograd as rg
            from retrograd import distributed as dist

            dist.init_process_group("mpi")
            group = dist.new_group(timeout=timedelta(seconds=1))
            if dist.get_rank() == 0:
                try:
                    dist.all_reduce(rg.ones(2), group=group)
                except dist.DistBackendError as error:
                    print("caught", error)
                try:
                    dist.barrier(group)
                except dist.DistBackendError as error:
                    print("again", error)
            else:
                time.sleep(2)
            x = rg.ones(1)
            dist.all_reduce(x)
            print(f"sum {x.item()}", flush=True)
        """)
    )
    result = launch(2, program, limit=20)
    assert "caught rank 0 in all_reduce #1: timed out after 1 s" in result.output, result.output
    assert "again barrier: the group cannot be used any more, since rank 0 in all_reduce #1" in result.output
    assert result.output.count("sum 2.0") == 2
    assert result.code != 0 and "ends all processes, since rank 0 in all_reduce #1: timed out" in result.output


def test_a_larger_world_than_mpi_has_is_refused(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import retrograd as rg\nrg.distributed.init_process_group('gloo', rank=0, world_size=4)\n")
    result = launch(2, program, limit=20)
    assert result.code != 0
    assert (
        "got a world of 4, and MPI has 2 process(es), which is what counts: start with `mpiexec -n 4" in result.output
    )


def test_a_launcher_without_mpi_is_told_of_mpiexec(tmp_path):
    mpiexec()  # skips without mpi4py
    program = "import retrograd as rg\nrg.distributed.init_process_group('mpi')"
    environment = {**os.environ, "RANK": "1", "WORLD_SIZE": "2"}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60)
    assert run.returncode != 0
    assert "got a world of 2, and MPI has 1 process(es)" in run.stderr
    assert "start with `mpiexec -n 2 python" in run.stderr


def test_without_mpi4py_the_extra_is_named(tmp_path):
    (tmp_path / "mpi4py.py").write_text("raise ImportError('it is not installed')")
    program = "import retrograd as rg\nrg.distributed.init_process_group('mpi')"
    environment = {**os.environ, "WORLD_SIZE": "2"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60)
    assert run.returncode != 0
    assert "pip install 'retrograd[mpi]', then start with `mpiexec -n 2 python" in run.stderr


def test_nothing_of_mpi_is_imported_by_one_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nimport retrograd as rg\nrg.distributed.init_process_group('mpi')\n"
        "rg.distributed.all_reduce(rg.ones(1))\nprint('mpi4py' in sys.modules)\n"
    )
    result = launch(1, program, limit=20)
    assert result == (0, "False\n")


@pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="needs pipes that keep writes apart")
def test_what_a_rank_says_goes_out_in_one_piece():
    """Without buffers too, where Python writes a traceback bit by bit, and those of several ranks would mix."""
    program = textwrap.dedent("""
        import sys
        from retrograd.distributed._mpi._saying import say, whole

        say("hello")
        try:
            [][1]
        except IndexError as error:
            with whole():
                sys.excepthook(type(error), error, error.__traceback__)
        print("bit", "by", "bit", file=sys.stderr)
    """)
    reader, writer = os.pipe2(os.O_DIRECT)
    try:
        subprocess.run([sys.executable, "-u", "-c", program], stderr=writer, check=True)
    finally:
        os.close(writer)
    pieces = []
    while piece := os.read(reader, 10_000).decode():
        pieces.append(piece)
    os.close(reader)
    assert pieces[0] == "retrograd.distributed: hello\n"
    assert pieces[1].startswith("Traceback") and pieces[1].endswith("IndexError: list index out of range\n")
    assert pieces[2] == "bit"


@pytest.mark.skipif(sys.platform != "linux", reason="needs pipes that say how much is unread")
def test_a_rank_waits_until_it_is_heard():
    program = "import sys; from retrograd.distributed._mpi._saying import until_heard; print('words'); until_heard()"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.2)
        assert process.stdout.read() == b"words\n"
        assert process.wait(10) == 0
