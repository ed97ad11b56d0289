"""Fixtures for pytest that check derivatives: `gradcheck` and `gradgradcheck`.

Pytest finds them where retrograd is installed; elsewhere `-p retrograd.testing.plugin` names them. They take what the
functions of `retrograd.autograd` take, and fail the test with the diagnosis: which input and which entry, both values,
the bound, and a likely cause.

A test that uses one of them draws the same random numbers each time it runs: retrograd's generator starts from a
seed made of the name of the test, and is afterwards as it was before.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator
from functools import wraps
from typing import Any

import pytest  # here and nowhere else in the package, which does not need it

from retrograd import autograd
from retrograd.autograd.gradcheck import GradcheckError
from retrograd.random import fork_rng, initial_seed, manual_seed

__all__ = ["gradcheck", "gradgradcheck"]

_FIXTURES = {"gradcheck", "gradgradcheck"}
_Check = Callable[..., bool]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if _FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
        return (yield)
    with fork_rng():
        manual_seed(zlib.crc32(item.nodeid.encode()))
        return (yield)


def _failing(check: _Check) -> _Check:
    """The check, with failures that fail the test instead of raising from its insides."""

    @wraps(check)
    def run(*args: Any, **options: Any) -> bool:
        __tracebackhide__ = True
        try:
            return check(*args, **options)
        except GradcheckError as error:
            diagnosis = str(error)
        pytest.fail(f"{diagnosis.rstrip()}\n(The random numbers of this test start from seed {initial_seed()}.)")

    return run


@pytest.fixture
def gradcheck() -> _Check:
    """`retrograd.autograd.gradcheck`, which fails the test with a diagnosis if a derivative is wrong."""
    return _failing(autograd.gradcheck)


@pytest.fixture
def gradgradcheck() -> _Check:
    """`retrograd.autograd.gradgradcheck`, which fails the test with a diagnosis if a second derivative is wrong."""
    return _failing(autograd.gradgradcheck)
