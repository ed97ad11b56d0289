"""Averages, tables, trees and files of lists of events are to the character those of PyTorch 2.13."""

from __future__ import annotations

import json

import pytest

import profiler
from retrograd.autograd import profiler_util

STORED = json.loads(profiler.STORED.read_text())


@pytest.mark.parametrize("seed", profiler.SEEDS)
def test_the_answers_are_those_of_pytorch(seed):
    ours, theirs = profiler.answers(profiler_util, seed), STORED[seed]
    assert ours.keys() == theirs.keys()
    for what, answer in theirs.items():
        assert ours[what] == answer, what


def test_enough_is_compared():
    """Every kind of column, and every way to ask for a table."""
    assert len(STORED) == len(profiler.SEEDS)
    asked, texts = [], []
    for row in STORED:
        for what, answer in row.items():
            if what.startswith("tables"):
                asked += [options for options, _ in answer]
                texts += [text for _, text in answer]
    assert all(options in asked for options in profiler.TABLES)
    titles = "Overload Name,CPU Mem,Node ID,Input Shapes,Source Location,Total KFLOPs,Total FLOPs,Total TFLOPs,NaN"
    assert [title for title in titles.split(",") if not any(title in text for text in texts)] == []
    assert sum(len(children) > 1 for row in STORED for _, children, _ in row["tree"]) > 20
