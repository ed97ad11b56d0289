"""Writes what torch tells subclasses, ducks and modes, for tests/overrides: run by a Python that has torch.

python tools/overrides.py
"""

import importlib.util
import json
import sys
from pathlib import Path

import torch

FOLDER = Path(__file__).parent.parent / "tests" / "overrides"

if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location("programs", FOLDER / "programs.py")
    assert spec is not None and spec.loader is not None
    programs = importlib.util.module_from_spec(spec)
    sys.modules["programs"] = programs
    spec.loader.exec_module(programs)
    lines = [f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in programs.told(torch).items()]
    (FOLDER / "calls.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
