"""Writes `tests/benchmark_tables.json`: measurements, and torch's texts of them. Run it where torch is."""

import json
import random
from pathlib import Path

from torch.utils.benchmark import Compare, Measurement
from torch.utils.benchmark.utils.common import TaskSpec

OUT = Path(__file__).parents[1] / "tests" / "benchmark_tables.json"
ONE = [
    (
        100,
        [2.1e-4, 2.2e-4, 2.3e-4, 2.5e-4, 9e-4],
        {"stmt": "x + x", "setup": "x = 1\ny = 2", "label": "add", "sub_label": "4", "num_threads": 2},
    ),
    (1, [3.2], {"stmt": "f()\ng()", "setup": "pass", "sub_label": "s", "description": "d"}),
    (10, [1e-3, 1.1e-3], {"stmt": "f()", "setup": ""}),
    (10, [1e-3, 1.5e-3, 2.2e-3, 2.3e-3, 2.4e-3], {"stmt": "f()", "setup": "z = 1"}),
]
OPTIONS = [
    [],
    ["trim_significant_figures"],
    ["colorize"],
    ["rowwise"],
    ["highlight_warnings", "trim_significant_figures"],
]


def many():
    """Measurements of two thread counts, two rows and three columns, one of them absent; and of two environments."""
    random.seed(3)
    for threads in (1, 2):
        for row in ("a", "bbbb"):
            for column, time in (("one", 1e-6), ("other one", 3e-5), ("third", 2e-6)):
                if (row, column) != ("a", "third"):
                    task = {"stmt": "s", "setup": "pass", "label": "L", "sub_label": row, "description": column}
                    times = [time * 10 * threads * (1 + 0.3 * random.random() * (column != "one")) for _ in range(20)]
                    yield 10, times, {**task, "num_threads": threads}
    for env in ("e1", "env2"):
        task = {"stmt": "q", "setup": "pass", "label": "envs", "env": env}
        yield 1, [2e-3, 2.1e-3], {**task, "description": "x", "sub_label": "r"}
        yield 1, [5e-3, 2.1e-2], {**task, "description": "y", "sub_label": "t"}


def measurement(number, times, task):
    return Measurement(number, times, TaskSpec(**task))


def table(measurements, options):
    compare = Compare(measurements)
    for option in options:
        compare.colorize(True) if option == "rowwise" else getattr(compare, option)()
    return str(compare)


def main():
    together = list(many())
    measurements = [measurement(*m) for m in together]
    found = {
        "texts": [(m, repr(measurement(*m)).partition("\n")[2]) for m in ONE],
        "together": together,
        "figures": [m.significant_figures for m in measurements],
        "tables": [(options, table(measurements, options)) for options in OPTIONS],
    }
    OUT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
