"""Writes `tests/nn/nn_programs/said.json`: what PyTorch says to the programs of that folder.

python tools/nn_programs.py   needs a Python with PyTorch 2.13 and NumPy
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path


def main() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "nn"))
    programs = importlib.import_module("nn_programs")
    torch = importlib.import_module("torch")
    for name in ("torch.nn.utils.prune", "torch.utils._pytree"):
        importlib.import_module(name)
    torch.set_num_threads(1)
    rows = {name: programs.lines(torch, name) for name in programs.NAMES}
    parts = (
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(line) for line in said) + "\n]"
        for name, said in rows.items()
    )
    programs.SAID.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    for name, said in rows.items():
        print(name, len(said))


if __name__ == "__main__":
    main()
