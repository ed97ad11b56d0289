"""Lists of events made at random, and what is asked of them.

`tools/profiles.py` asks PyTorch and writes `torch.json`; `test_answers.py` asks here and compares to the character.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

STORED = Path(__file__).parent / "torch.json"
SEEDS = range(60)

_T = TypeVar("_T")

TABLES: list[dict[str, Any]] = [
    {},
    {"row_limit": 3},
    {"row_limit": -1},
    {"row_limit": 0},
    {"max_name_column_width": 20, "max_src_column_width": 20, "max_shapes_column_width": 15},
    {"max_name_column_width": None, "max_src_column_width": None, "max_shapes_column_width": None},
    {"max_name_column_width": 2},
    {"header": "What took long", "top_level_events_only": True, "row_limit": 4},
    {"header": ""},
    {"sort_by": "self_cpu_time_total"},
    {"sort_by": "cpu_time"},
    {"sort_by": "cuda_time_total"},
    {"sort_by": "count"},
    {"sort_by": "key"},
    {"sort_by": "cpu_memory_usage", "row_limit": 5},
    {"time_unit": "s"},
    {"time_unit": "ms"},
    {"time_unit": "us"},
    {"time_unit": "minutes"},
]


class Random:
    """Choices that are the same in every version of Python: of a seed, only `random()` is promised to be."""

    def __init__(self, seed: int) -> None:
        self.source = random.Random(seed)

    def chance(self, probability: float) -> bool:
        return self.source.random() < probability

    def below(self, limit: int) -> int:
        return int(self.source.random() * limit)

    def choice(self, items: Sequence[_T]) -> _T:
        return items[self.below(len(items))]


def events(util: Any, r: Random) -> Any:
    """An `EventList` of events, which nest, overlap and touch, with what some sessions record and others do not."""
    # Sums of such times are exact: from Python 3.12 on, `sum` rounds others in another way.
    count, grid, scale = r.choice([0, 1, 3, 8, 20]), r.choice([8, 30, 1000]), r.choice([1, 1.375, 1370.5, 1.37e6])
    flops, shapes, overloads, odd = (r.chance(0.4) for _ in range(4))
    stacks = not flops and r.chance(0.5)  # where both are shown, PyTorch takes one column for the other
    node_id = r.choice([-1, -1, 3])
    names = ["a", "mm", "matmul", "x" * r.choice([5, 51, 52, 53, 60])]
    made = []
    for i in range(count):
        start = r.below(grid)
        end = start + r.below(grid // 2)
        given: dict[str, Any] = {"stack": [], "flops": 0, "node_id": node_id}
        given["cpu_memory_usage"] = r.choice([0, 0, 100, -3000, 5 << 20, 3 << 31])
        given["trace_name"] = r.choice([None, "step", "op"])
        if stacks:
            lines = (f"f{r.below(3)}.py({r.below(9)}): {'g' * r.choice([1, 1, 70])}" for _ in range(r.below(4)))
            given["stack"] = list(lines)
        if shapes:
            given["input_shapes"] = r.choice([[], [[3, 4], []], [[1000] * 15]])
        if overloads:
            given["overload_name"] = r.choice(["", "Tensor", "out"])
        if flops:
            given["flops"] = r.choice([0, 12345, int(7 * scale**2)])
        if odd:
            given["is_async"], given["is_user_annotation"] = r.chance(0.2), r.chance(0.2)
            given["is_remote"] = r.chance(0.1)
            given["device_type"] = util.DeviceType.CUDA if r.chance(0.1) else util.DeviceType.CPU
        made.append(
            util.FunctionEvent(i + 1, r.choice(names), r.choice([1, 1, 2]), start * scale, end * scale, **given)
        )
    return util.EventList(made, profile_memory=r.chance(0.3), with_flops=flops)


AVERAGES = (
    "key count node_id is_async is_remote use_device cpu_time_total self_cpu_time_total cpu_time device_time_total "
    "input_shapes overload_name stack scope cpu_memory_usage self_cpu_memory_usage is_legacy flops"
)


def average(of: Any) -> list[Any]:
    return [*(getattr(of, name) for name in AVERAGES.split()), str(of.device_type)]


def written(write: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        write(str(path))
        return path.read_text()


def squeezed(text: str) -> str:
    """A text with "{12*-}" for twelve dashes, and so for blanks: tables have many. It loses nothing."""
    return re.sub(r"([-= ])\1{5,}", lambda run: f"{{{len(run[0])}*{run[1]}}}", text)


def answers(util: Any, seed: int) -> dict[str, Any]:
    """What the package says to the list of this seed."""
    r = Random(seed)
    listed = events(util, r)
    found = {"events": [repr(event) for event in listed[:2]], "before": squeezed(listed.table(row_limit=2))}
    listed._build_tree()
    found["tree"] = [
        [event.id, [child.id for child in event.cpu_children], getattr(event.cpu_parent, "id", None)]
        for event in listed
    ]
    found["self"] = [[event.self_cpu_time_total, event.self_cpu_memory_usage] for event in listed]
    found["sum"] = listed.self_cpu_time_total
    if listed:
        found["total"] = [*average(listed.total_average()), repr(listed.total_average())]
    groups = [(), (True,), (False, 1), (True, 2, True), (False, 0, True)]
    for by, one in [(None, listed), *((g, listed.key_averages(*g)) for g in (groups[0], r.choice(groups[1:])))]:
        options = r.choice(TABLES), r.choice(TABLES)
        found[f"tables of {by}"] = [[chosen, squeezed(one.table(**chosen))] for chosen in options]
        if by is not None:
            found[f"averages of {by}"] = [average(of) for of in one]
    if any(event.trace_name for event in listed):
        found["trace"] = written(listed.export_chrome_trace)
    found["stacks"] = written(lambda path: listed.export_stacks(path, "self_cpu_time_total"))
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain
