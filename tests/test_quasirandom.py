"""Points of Sobol are those of torch, whose numbers `tools/quasirandom.py` stored."""

import copy
import hashlib
import json
from pathlib import Path

import pytest

import retrograd as rg
from retrograd.quasirandom import SobolEngine

STORED = json.loads((Path(__file__).parent / "quasirandom.json").read_text())


def digest(tensor):
    return hashlib.md5(tensor.contiguous().numpy().tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("dimension", [int(d) for d in STORED["plain"]])
def test_points_are_those_of_torch(dimension):
    e = SobolEngine(dimension)
    found = [digest(e.sobolstate), digest(e.draw(1)), digest(e.draw(9)), digest(e.quasi)]
    assert found == STORED["plain"][str(dimension)]


@pytest.mark.parametrize("dimension", [int(d) for d in STORED["scrambled"]])
def test_scrambled_points_are_those_of_torch(dimension):
    e = SobolEngine(dimension, scramble=True, seed=dimension + 7)
    points = [digest(e.draw(17)), digest(e.draw(3, dtype=rg.float64)), digest(e.reset().draw(1, dtype=rg.float64))]
    assert [digest(e.shift), digest(e.sobolstate), *points] == STORED["scrambled"][str(dimension)]


def test_the_default_generator_scrambles_without_a_seed():
    assert SobolEngine(4).draw(6).tolist() == STORED["points"]
    with rg.random.fork_rng():
        rg.manual_seed(5)
        assert SobolEngine(2, scramble=True).draw(4).tolist() == STORED["default generator"]


def test_points_go_on_where_they_stopped():
    whole = SobolEngine(5).draw(40)
    e = SobolEngine(5)
    parts = [e.draw(n) for n in (1, 2, 0, 5, 8)]
    assert rg.equal(rg.cat(parts), whole[:16])
    assert e.num_generated == 16
    assert e.fast_forward(4) is e
    assert rg.equal(e.draw(20), whole[20:])
    assert rg.equal(SobolEngine(5).fast_forward(0).draw(2), whole[:2])
    assert e.reset() is e and rg.equal(e.draw(3), whole[:3])
    other = copy.deepcopy(e)
    assert rg.equal(other.draw(2), e.draw(2))


def test_powers_of_two_are_kept():
    e = SobolEngine(2)
    assert rg.equal(e.draw_base2(3), SobolEngine(2).draw(8))
    assert e.draw_base2(3).shape == (8, 2)
    with pytest.raises(
        ValueError, match=r"n=16\+2\*\*2=20. If you still want to do this, please use 'SobolEngine.draw"
    ):
        e.draw_base2(2)


def test_results_are_written_where_they_are_asked_for():
    out = rg.empty(1)
    assert SobolEngine(3).draw(2, out=out) is out
    assert out.tolist() == [[0.0] * 3, [0.5] * 3]
    assert SobolEngine(3).draw(2, dtype=rg.float64).dtype == rg.float64


def test_dimensions_have_a_range():
    for dimension in (0, 21202):
        with pytest.raises(ValueError, match=r"Supported range of dimensionality for SobolEngine is \[1, 21201\]"):
            SobolEngine(dimension)
    assert repr(SobolEngine(2, True, 3)) == "SobolEngine(dimension=2, scramble=True, seed=3)"


def test_points_fill_each_part_of_the_square_once():
    cells = (SobolEngine(2, scramble=True, seed=1).draw(64) * 8).long()
    assert len({tuple(cell) for cell in cells.tolist()}) == 64
