"""Every numbered item of a section that has a file here has a test that bears its name."""

import re

import pytest

from . import close, rg, same
from .items import FIRST_COVERED, LAST, covered, numbers_in, text_of, without_a_test


def test_every_item_has_a_test():
    assert without_a_test() == []


@pytest.mark.parametrize("section", covered())
def test_every_test_has_an_item(section):
    assert numbers_in(section) <= set(range(1, LAST[section] + 1))


def test_no_section_lost_its_file():
    assert set(covered()) >= FIRST_COVERED


@pytest.mark.parametrize("section", covered())
def test_names_are_unique_and_belong_to_the_section(section):
    names = re.findall(r"^def (test_\w+)\(", text_of(section), re.MULTILINE)
    assert len(names) == len(set(names))
    assert [n for n in names if not re.match(rf"test_{section.lower()}_\d+_", n)] == []


@pytest.mark.parametrize("compare", [same, close])
def test_the_comparisons_of_these_tests_refuse(compare):
    compare(rg.tensor([1.0, 2.0]), [1.0, 2.0])
    nan, inf = float("nan"), float("inf")
    for got, want in (
        (rg.tensor([nan]), [nan]),
        (rg.tensor([nan]), [1.0]),
        (rg.tensor([1.0]), [nan]),
        (rg.tensor([inf]), [1.0]),
        (rg.tensor([1.0]), 1.0),
        (rg.tensor([1.0]), [1.0, 1.0]),
        (rg.tensor([1.0]), [1.001]),
        (None, [1.0]),
        ([1.0], [1.0]),
    ):
        with pytest.raises(AssertionError):
            compare(got, want)
