"""Programs that were written for torch: `python -m retrograd run` runs them, `python -m retrograd check` reads them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

USAGE = """\
usage: python -m retrograd run [-m MODULE | -c CODE | SCRIPT] [ARGUMENT ...]
       python -m retrograd check [--brief] PATH ...

run    run a program as Python does, with retrograd in the place of torch
check  list the names of torch that files and folders use, without running them, and whether retrograd has them;
       --brief leaves out those that it has; exits with 1 if one is missing
"""


def main(arguments: list[str]) -> int:
    """Do what the command line says."""
    match arguments:
        case ["run", _, *_]:
            return run(arguments[1:])
        case ["check", _, *_]:
            from retrograd import _check

            return _check.main(arguments[1:])
        case ["-h" | "--help" | "help", *_]:
            print(USAGE, end="")
            return 0
    print(USAGE, end="", file=sys.stderr)
    return 2


def run(arguments: list[str]) -> int:
    """Start Python on a program for which, and for whose processes, the folder with our `torch.py` comes first.

    A fresh interpreter runs it, so nothing about it differs but what `import torch` finds.
    """
    if sys.flags.ignore_environment:
        print("retrograd run: the program finds torch by PYTHONPATH: leave out -E and -I", file=sys.stderr)
        return 2
    options = sys.orig_argv[1 : sys.orig_argv.index("-m")] if "-m" in sys.orig_argv else []
    path = [str(Path(__file__).parent / "_as_torch"), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    command = [sys.executable, *options, *arguments]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # where exec returns to the shell before the program ends
        import subprocess

        return subprocess.call(command)
    os.execv(sys.executable, command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
