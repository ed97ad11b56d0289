"""Writes `tests/profiler/torch.json`: what PyTorch's profiler makes of the lists of events of that folder.

python tools/profiles.py            writes the file; needs a Python with PyTorch 2.13
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"


def main() -> None:
    sys.path.insert(0, str(TESTS))
    lists = importlib.import_module("profiler")
    util = importlib.import_module("torch.autograd.profiler_util")
    rows = [json.dumps(lists.answers(util, seed)) for seed in lists.SEEDS]
    lists.STORED.write_text("[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    main()
