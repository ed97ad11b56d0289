"""Writes `tests/distributions/torch.json`: what PyTorch's distributions are and compute.

python tools/distributions.py           with PyTorch installed
"""

import json
import runpy
import warnings
from pathlib import Path

import torch

TESTS = Path(__file__).parents[1] / "tests" / "distributions"

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    answers = runpy.run_path(str(TESTS / "cases.py"))["Calls"](torch).all()
    lines = ",\n".join(
        f'"{part}": {{\n' + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in asked.items()) + "\n}"
        for part, asked in answers.items()
    )
    (TESTS / "torch.json").write_text("{\n" + lines + "\n}\n")
