"""`tools/width.py`, which `make lint` runs, sees comments and prose that run past the margin, and wraps them."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools/width.py"
WIDE = "words " * 25


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False)


def places(tmp_path: Path, name: str, text: str) -> list[str]:
    (tmp_path / name).write_text(text)
    done = run(tmp_path)
    assert done.returncode == (1 if done.stderr else 0)
    return [line.split(": ")[0].removeprefix(f"{tmp_path}/") for line in done.stderr.splitlines()]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.rs", f"// {WIDE}"),
        ("a.rs", f"    //! {WIDE}"),
        ("a.rs", f"    /// {WIDE}"),
        ("a.rs", f'let a = "//"; // {WIDE}'),
        ("a.md", WIDE),
        ("a.toml", f"# {WIDE}"),
        ("a.yml", f"# {WIDE}"),
        ("Makefile", f"# {WIDE}"),
    ],
)
def test_it_names_file_and_line(tmp_path, name, line):
    assert places(tmp_path, name, f"\n\n{line}\n") == [f"{name}:3"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.rs", "// " + "x" * 117),
        ("a.rs", f'let a = "// {WIDE}";'),
        ("a.rs", f'let a = "{WIDE}";'),
        ("a.rs", f"/// | {WIDE} |"),
        ("a.rs", "// https://" + "x" * 120),
        ("a.md", f"| {WIDE} |"),
        ("a.md", f"```text\n{WIDE}\n```"),
        ("a.py", f"# {WIDE}"),
    ],
)
def test_it_passes_what_fits_or_cannot_be_wrapped(tmp_path, name, line):
    assert places(tmp_path, name, f"{line}\n") == []


LONG = " ".join(["word"] * 24)  # 119 columns


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.md", f"{LONG} one two\nthree\n", f"{LONG}\none two three\n"),
        ("a.md", f"- {LONG}\n\nnext\n", f"- {LONG[:-5]}\n  word\n\nnext\n"),
        ("a.md", f"- {LONG}\n  end\n- next\n", f"- {LONG[:-5]}\n  word end\n- next\n"),
        ("a.md", f"{LONG} - one\n", f"{LONG[:-5]}\nword - one\n"),
        ("a.rs", f"    /// {LONG}\n    fn f() {{}}\n", f"    /// {LONG[:-10]}\n    /// word word\n    fn f() {{}}\n"),
        ("a.rs", f"/// {LONG}\n/// Returns: it.\n", f"/// {LONG[:-5]}\n/// word\n/// Returns: it.\n"),
        ("a.toml", f"# {LONG}\nkey = 1\n", f"# {LONG[:-5]}\n# word\nkey = 1\n"),
    ],
)
def test_it_moves_what_is_too_much_to_the_next_line_of_the_paragraph(tmp_path, name, before, after):
    (tmp_path / name).write_text(before)
    assert run("--fix", tmp_path).returncode == 0
    assert (tmp_path / name).read_text() == after


def test_a_path_that_does_not_exist_is_an_error(tmp_path):
    assert "no file or folder" in run(tmp_path / "absent").stderr
