"""Writes `tests/quasirandom.json`: points and digests of torch's Sobol engines. Run it with a Python that has torch."""

import hashlib
import json
from pathlib import Path

import torch

OUT = Path(__file__).parents[1] / "tests" / "quasirandom.json"


def digest(tensor):
    return hashlib.md5(tensor.contiguous().numpy().tobytes()).hexdigest()[:16]


def main():
    engine = torch.quasirandom.SobolEngine
    found = {"plain": {}, "scrambled": {}}
    for dimension in (1, 2, 3, 7, 40, 1111, 21201):
        e = engine(dimension)
        found["plain"][dimension] = [digest(e.sobolstate), digest(e.draw(1)), digest(e.draw(9)), digest(e.quasi)]
    for dimension in (1, 3, 50, 300):
        e = engine(dimension, scramble=True, seed=dimension + 7)
        points = [
            digest(e.draw(17)),
            digest(e.draw(3, dtype=torch.float64)),
            digest(e.reset().draw(1, dtype=torch.float64)),
        ]
        found["scrambled"][dimension] = [digest(e.shift), digest(e.sobolstate), *points]
    found["points"] = engine(4).draw(6).tolist()
    torch.manual_seed(5)
    found["default generator"] = engine(2, scramble=True).draw(4).tolist()
    OUT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
