"""Errors about the graph name the lines of the user's program that have to do with them, without any debug mode."""

import mmap
import re
import runpy
import textwrap
import threading
from pathlib import Path

import pytest

import retrograd as rg


def failure(tmp_path, program, error=RuntimeError):
    """Runs a program that fails; returns the message, and a function that gives the number of a marked line."""
    path = tmp_path / "program.py"
    source = "import retrograd as rg\n" + textwrap.dedent(program)
    path.write_text(source, encoding="utf-8")

    def number(mark):
        (line,) = [i for i, text in enumerate(source.splitlines(), 1) if text.endswith(f"# {mark}")]
        return line

    with pytest.raises(error) as caught:
        runpy.run_path(str(path), run_name="__main__")
    return str(caught.value), number


def names(message, what, number, function, text):
    """The message has a row for `what` with file, line, function and the text of the line."""
    pattern = rf"^  {what} +\S*program\.py:{number}, in {re.escape(function)}: {re.escape(text)}"
    return re.search(pattern, message, re.MULTILINE)


def test_a_tensor_written_after_it_was_saved(tmp_path):
    message, line = failure(
        tmp_path,
        """
        def forward(x):
            y = x * 2
            z = y.exp()  # saved

            z.add_(1)  # written
            return z

        class Trainer:
            def step(self, loss):
                loss.backward()  # needed

        x = rg.ones(2, requires_grad=True)
        Trainer().step(forward(x).sum())
        """,
    )
    assert "modified by an inplace operation: [torch.FloatTensor [2]], which is output 0 of Exp" in message
    assert names(message, "saved by the op at", line("saved"), "forward", "z = y.exp()")
    assert names(message, "last written at", line("written"), "forward", "z.add_(1)")
    assert names(message, "needed at", line("needed"), "Trainer.step", "loss.backward()")
    assert f"let line {line('written')} write to a copy" in message
    assert message.index("is at version 1; expected version 0 instead") < message.index("saved by the op at")


def test_each_of_several_statements_is_found(tmp_path):
    # One function, many lines: the instruction decides, not the line at which the function stands later.
    message, line = failure(
        tmp_path,
        """
        def run():
            w = rg.ones(2, requires_grad=True)
            a = w * 1
            b = (
                a
                * a  # saved
            )
            for _ in range(3):
                a[0] = 2.0  # written
            c = b + 1
            c.sum().backward()  # needed

        run()
        """,
    )
    assert re.search(rf"saved by the op at +\S*program\.py:({line('saved')}|{line('saved') - 1}), in run", message)
    assert names(message, "last written at", line("written"), "run", "a[0] = 2.0")
    assert names(message, "needed at", line("needed"), "run", "c.sum().backward()")


@pytest.mark.parametrize(
    "write",
    [
        "y.copy_(y * 2)",
        "y += 1",
        "rg.exp(x.detach(), out=y)",
        "y.detach().zero_()",
        "y[1:] = 0",
        "rg.autograd.graph.increment_version(y)",
    ],
)
def test_every_way_to_write_is_named(tmp_path, write):
    no_grad = "with rg.no_grad():" if "out=" in write else "if True:"
    message, line = failure(
        tmp_path,
        f"""
        x = rg.ones(3, requires_grad=True)
        y = (x * 1)
        z = y * y  # saved
        {no_grad}
            {write}  # written
        z.sum().backward()  # needed
        """,
    )
    assert names(message, "saved by the op at", line("saved"), "<module>", "z = y * y")
    assert names(message, "last written at", line("written"), "<module>", write)
    assert names(message, "needed at", line("needed"), "<module>", "z.sum().backward()")


def test_a_graph_run_twice(tmp_path):
    message, line = failure(
        tmp_path,
        """
        x = rg.ones(2, requires_grad=True)
        y = x.exp()  # recorded
        y.sum().backward()  # freed
        z = (y * 2).sum()
        z.backward()  # again
        """,
    )
    assert "backward through the graph a second time" in message
    assert names(message, "recorded by the op at", line("recorded"), "<module>", "y = x.exp()")
    assert names(message, "freed by the run at", line("freed"), "<module>", "y.sum().backward()")
    assert names(message, "needed again at", line("again"), "<module>", "z.backward()")
    assert f"retain_graph=True in the call in line {line('freed')}" in message


def test_calls_through_this_package_are_the_callers(tmp_path):
    message, line = failure(
        tmp_path,
        """
        from retrograd.autograd import backward, grad
        x = rg.ones(2, requires_grad=True)
        y = x.exp().sum()
        grad(y, x)  # freed
        backward(y)  # again
        """,
    )
    assert names(message, "freed by the run at", line("freed"), "<module>", "grad(y, x)")
    assert names(message, "needed again at", line("again"), "<module>", "backward(y)")


def test_nodes_made_in_backward_have_the_lines_of_the_backward(tmp_path):
    message, line = failure(
        tmp_path,
        """
        class Cube(rg.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x**3

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return 3 * x.square() * g  # saved

        x = rg.ones(2, requires_grad=True)
        y = Cube.apply(x)
        (first,) = rg.autograd.grad(y.sum(), x, create_graph=True)
        rg.autograd.grad(first.sum(), x)  # freed
        first.sum().backward()  # again
        """,
    )
    assert names(message, "freed by the run at", line("freed"), "<module>", "rg.autograd.grad(first.sum(), x)")
    assert names(message, "needed again at", line("again"), "<module>", "first.sum().backward()")
    assert re.search(rf"recorded by the op at +\S*program\.py:{line('saved')}, in Cube.backward", message)


def test_large_ops_and_other_threads(tmp_path):
    # Large ops run without the interpreter; a thread has frames of its own.
    message, line = failure(
        tmp_path,
        """
        import threading

        x = rg.ones(1 << 18, requires_grad=True)
        made = []

        def work():
            y = x * 1
            made.append(y.exp())  # saved
            made[0].mul_(2)  # written

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        made[0].sum().backward()  # needed
        """,
    )
    assert names(message, "saved by the op at", line("saved"), "work", "made.append(y.exp())")
    assert names(message, "last written at", line("written"), "work", "made[0].mul_(2)")
    assert names(message, "needed at", line("needed"), "<module>", "made[0].sum().backward()")


def test_reading_what_was_saved_names_the_reader(tmp_path):
    message, line = failure(
        tmp_path,
        """
        x = rg.ones(2, requires_grad=True)
        y = x.exp()  # saved
        y.add_(1)  # written
        y.grad_fn.next_functions[0][0]._saved_result  # needed
        """,
    )
    assert names(message, "saved by the op at", line("saved"), "<module>", "y = x.exp()")
    assert names(message, "needed at", line("needed"), "<module>", "y.grad_fn.next_functions")


def test_programs_without_source_still_have_line_numbers():
    code = "x = rg.ones(2, requires_grad=True)\ny = x.exp()\ny.add_(1)\n\ny.sum().backward()"
    with pytest.raises(RuntimeError) as caught:
        exec(compile(code, "<made>", "exec"), {"rg": rg})
    for what, number in [("saved by the op at", 2), ("last written at", 3), ("needed at", 5)]:
        assert re.search(rf"^  {what} +<made>:{number}, in <module>$", str(caught.value), re.MULTILINE)


def test_many_generated_functions_are_told_apart():
    for i in range(50):
        scope = {"rg": rg}
        source = "\n" * i + "def f(x):\n y = x.exp()\n y.add_(1)\n y.sum().backward()"
        exec(compile(source, f"<made {i}>", "exec"), scope)
        with pytest.raises(RuntimeError, match=f"<made {i}>:{i + 2}, in f"):
            scope["f"](rg.ones(1, requires_grad=True))


def test_threads_that_never_ran_python_before_are_fine():
    # The first thing this thread does is to run a graph that another thread made.
    y = rg.ones(2, requires_grad=True).exp()
    thread = threading.Thread(target=y.sum().backward)
    thread.start()
    thread.join()
    with pytest.raises(RuntimeError, match="a second time"):
        y.sum().backward()


def test_the_readme_shows_what_is_said(tmp_path):
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    program = "# train.py\n" + readme.partition("# train.py\n")[2].partition("```")[0]
    shown = readme.partition("```text\n")[2].partition(" [...]\n```")[0]
    path = tmp_path / "train.py"
    path.write_text(program, encoding="utf-8")
    with pytest.raises(RuntimeError) as caught:
        runpy.run_path(str(path), run_name="__main__")
    said = str(caught.value).replace(str(path), "train.py")
    assert said.startswith(shown.replace("]],\nwhich", "]], which"))


# ---- programs that are made while they run


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory in use is not told")
def test_code_that_nobody_can_run_again_is_not_kept():
    def in_use():
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE

    x = rg.ones(1, requires_grad=True)
    for i in range(100_000):
        exec(compile(f"x * {i}", "<snippet>", "exec"), {"x": x})
        if i == 20_000:
            before = in_use()
    assert in_use() - before < 8 << 20  # as it was, 36 MiB


def test_lines_are_right_or_unknown_where_code_was_let_go(tmp_path):
    def kept(name):
        """A graph that cannot run, recorded by a function of a file of its own, which is then gone."""
        path = tmp_path / f"{name}.py"
        path.write_text("def record(x):\n    y = x.exp()\n    y.add_(1)\n    return y\n", encoding="utf-8")
        scope = runpy.run_path(str(path))
        return scope["record"](rg.ones(1, requires_grad=True))

    def message(y):
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
            y.backward()
        return str(caught.value)

    early = kept("early")
    x = rg.ones(1, requires_grad=True)
    held = {}
    exec(compile("def record(x):\n    y = x.exp()\n    y.add_(1)\n    return y\n", "held.py", "exec"), held)
    of_held = held["record"](x)
    for i in range(20_000):
        exec(compile(f"\n\n\n\n\nx * {i}", f"<snippet {i}>", "exec"), {"x": x})
    late = kept("late")
    text = message(early)  # whether its code is still kept depends on how much other code there is
    right = "early.py:2, in record" in text and "early.py:3, in record" in text
    assert "snippet" not in text and (right or "early.py:" not in text)
    assert "late.py:2, in record" in message(late) and "late.py:3, in record" in message(late)
    # What can still be run has its lines, before and after.
    assert "held.py:2, in record" in message(of_held)
    assert "held.py:2, in record" in message(held["record"](x))
