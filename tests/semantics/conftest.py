"""Every test must leave the thread-local modes as it found them."""

import importlib
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
