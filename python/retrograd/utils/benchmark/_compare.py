"""Tables of measurements: a table per label, rows by sublabel, columns by description."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence

from retrograd.utils.benchmark._measurement import (
    Measurement,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)

__all__ = ["Colorize", "Compare"]


_BEST, _GOOD, _BAD, _VERY_BAD = "\033[92m\033[1m", "\033[34m\033[1m", "\033[2m\033[91m", "\033[31m\033[1m"
_END = "\033[0m" * 2


class Colorize(enum.Enum):
    """Which times of a table are compared by colours.

    >>> rg.utils.benchmark.Colorize.ROWWISE.value
    'rowwise'
    """

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """Measurements as tables, one for each label.

    >>> bench = rg.utils.benchmark
    >>> task = bench.TaskSpec("x + x", "pass", label="add", sub_label="4", description="float")
    >>> compare = bench.Compare([])
    >>> compare.extend_results([bench.Measurement(1, [2e-6], task)])
    >>> for line in str(compare).splitlines():
    ...     print(line.rstrip())
    [----- add -----]
             |  float
    1 threads: ------
          4  |   2.0
    <BLANKLINE>
    Times are in microseconds (us).

    What the text shows besides is to be asked for, and `print` prints it.

    >>> compare.trim_significant_figures()
    >>> compare.highlight_warnings()
    >>> compare.colorize(rowwise=True)
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = False
        self._colorize = Colorize.NONE
        self._highlight = False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements.

        Raises: ValueError for anything else.
        """
        for result in (added := list(results)):
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
        self._results += added

    def trim_significant_figures(self) -> None:
        """Write those digits that are known."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Compare the times of a column, or of a row, by colours."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark times that vary much."""
        self._highlight = True

    def print(self) -> None:
        """Print the tables."""
        print(self)

    def __str__(self) -> str:
        labels: dict[str | None, list[Measurement]] = {}
        for result in Measurement.merge(self._results):
            labels.setdefault(result.label, []).append(result)
        return "\n".join(self._table(results) for results in labels.values())

    def _table(self, results: list[Measurement]) -> str:
        unit, scale = select_unit(min(result.median for result in results))
        keys = ordered_unique((result.num_threads, result.env, result.as_row_name) for result in results)
        keys.sort(key=lambda key: (key[0], key[1] or ""))
        columns = ordered_unique(result.description for result in results)
        found = {(r.num_threads, r.env, r.as_row_name, r.description): r for r in results}
        rows = [[found.get((*key, column)) for column in columns] for key in keys]

        texts = [[column or "" for column in columns]] + [[] for _ in keys]
        for index in range(len(columns)):
            cells = _Cells([row[index] for row in rows], scale, self._trim, self._highlight)
            for text, row in zip(texts[1:], rows, strict=True):
                text.append(cells.text(row[index]))
        names = ["", *_row_names(keys)]
        widths = [max(map(len, names))]
        widths += [max(map(len, column)) for column in zip(*texts, strict=True)]

        head = "  |  ".join(text.center(width) for text, width in zip(["", *texts[0]], widths, strict=True))
        label = f" {results[0].label or ''} "
        lines = [f"[{label.center(len(head) - 2, '-')}]", head]
        threads = None
        for key, name, text, row in zip(keys, names[1:], texts[1:], rows, strict=True):
            if key[0] != threads:
                threads = key[0]
                lines.append(f"{threads} threads: ".ljust(len(head), "-"))
                group = [other for other_key, other in zip(keys, rows, strict=True) if other_key[0] == threads]
            parts = [name.ljust(widths[0])]
            for index, (cell, width) in enumerate(zip(text, widths[1:], strict=True)):
                rivals = row if self._colorize is Colorize.ROWWISE else [other[index] for other in group]
                parts.append(self._coloured(cell.center(width), row[index], rivals))
            lines.append("  |  ".join(parts))
        lines += ["", f"Times are in {unit_to_english(unit)}s ({unit}).", ""]
        if self._highlight and any(result.has_warnings for result in results):
            lines[-1:] = ["(! XX%) Measurement has high variance, where XX is the IQR / median * 100.", ""]
        return "\n".join(lines)

    def _coloured(self, text: str, result: Measurement | None, rivals: Sequence[Measurement | None]) -> str:
        if self._colorize is Colorize.NONE or result is None:
            return text
        best, value = min(rival.median for rival in rivals if rival), result.median
        if value <= best * 1.01 or value <= best + 100e-9:
            return _BEST + text + _END
        if value <= best * 1.1:
            return _GOOD + text + _END
        if value >= best * 5:
            return _VERY_BAD + text + _END
        return _BAD + text + _END if value >= best * 2 else text


def _row_names(keys: list[tuple[int, str | None, str]]) -> list[str]:
    """Names of rows, after their environment where it is another one than above."""
    environments = {env for _, env, _ in keys}
    width = max(len(env or "None") for env in environments) + 4
    names, before = [], None
    for threads, env, name in keys:
        written = f"({env})" if len(environments) > 1 and (threads, env) != before else ""
        names.append("  " + (written.ljust(width) if len(environments) > 1 else "    ") + name)
        before = (threads, env)
    return names


class _Cells:
    """Texts of the times of one column, with as many digits."""

    def __init__(self, results: Sequence[Measurement | None], scale: float, trim: bool, highlight: bool) -> None:
        there = [result for result in results if result]
        self.scale, self.trim = scale, trim
        self.highlight = highlight and any(result.has_warnings for result in there)
        digits = [math.ceil(math.log10(result.median / scale)) for result in there]
        self.decimals = 1
        if trim:
            self.decimals = min(max(r.significant_figures - d, 0) for r, d in zip(there, digits, strict=True))
        self.width = max(digits) + self.decimals + (1 if self.decimals else 0)

    def text(self, result: Measurement | None) -> str:
        if result is None:
            return " " * len(self._written(1.0, ""))
        value = result.median / self.scale
        if self.trim:
            value = trim_sigfig(value, result.significant_figures)
        return self._written(value, f" (! {result.iqr / result.median * 100:.0f}%)" if result.has_warnings else "")

    def _written(self, value: float, mark: str) -> str:
        width = max(self.width, 0)
        return f"{value:>{width}.{self.decimals}f}" + (f"{mark:>7}" if self.highlight else "")
