"""Every test must leave the thread-local modes as it found them."""

import importlib
import logging
import warnings

import pytest

from . import STANDIN, rg

if STANDIN == "torch":
    with warnings.catch_warnings():  # torch's forward mode loads this at first use, with its own deprecation warnings
        warnings.simplefilter("ignore")
        importlib.import_module("torch._decomp.decompositions_for_jvp")


@pytest.fixture(autouse=True)
def modes_are_restored():
    assert rg.is_grad_enabled() and not rg.is_inference_mode_enabled()
    yield
    assert rg.is_grad_enabled() and not rg.is_inference_mode_enabled()


@pytest.fixture(autouse=True)
def levels_of_forward_mode_are_left():
    yield
    open_levels = 0
    while rg.autograd.forward_ad._current_level >= 0:  # or the tests after this one would fail too
        rg.autograd.forward_ad.exit_dual_level()
        open_levels += 1
    assert open_levels == 0


@pytest.fixture(autouse=True)
def records_reach_no_handler_of_pytest():
    """Torch debugs checkpoints with a logger that it cuts off for good, and pytest attaches itself to such loggers."""
    yield
    logging.getLogger("LoggingTensor").propagate = True
