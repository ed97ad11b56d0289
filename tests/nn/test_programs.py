"""Programs around modules say what they say with PyTorch: results, reprs, errors and warnings."""

from __future__ import annotations

import nn_programs
import pytest

import retrograd

STORED = nn_programs.stored()


@pytest.mark.parametrize("name", nn_programs.NAMES)
def test_a_program_says_what_it_says_with_torch(name: str) -> None:
    ours, theirs = nn_programs.lines(retrograd, name), STORED[name]
    different = [(a, b) for a, b in zip(ours, theirs, strict=True) if not nn_programs.agree(a, b)]
    assert different == []
