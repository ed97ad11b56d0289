"""The numbered semantics of the engine, one test (or a few) per item, a file per section.

A test is named after its item: `test_leaf_3_...` belongs to LEAF-3. `RETROGRAD_STANDIN=torch` runs the
whole suite on torch instead, which shows that the tests describe what they claim to describe.
"""

import gc
import importlib
import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

STANDIN = os.environ.get("RETROGRAD_STANDIN", "retrograd")
rg = importlib.import_module(STANDIN)


def beyond(reason):
    """The test asks for more than torch gives; there it must fail, so that the note stays true."""
    return pytest.mark.xfail(STANDIN == "torch", strict=True, reason=reason)


def leaf(values, dtype=None):
    """A tensor that requires grad, float32 unless told."""
    return rg.tensor(values, dtype=dtype or rg.float32, requires_grad=True)


def array(value):
    return value.detach().numpy() if isinstance(value, rg.Tensor) else np.asarray(value)


def same(got, want):
    """`got` is a tensor of exactly the shape and the values of `want`; NaN equals nothing."""
    assert isinstance(got, rg.Tensor), f"expected a tensor, got {got!r}"
    have, want = array(got), array(want)
    assert have.shape == want.shape, f"shape {have.shape}, expected {want.shape}"
    assert np.array_equal(have, want), f"{have} != {want}"


def close(got, want, rtol=1e-5):
    """Like `same`, within `rtol`. The arrays must be finite, so neither NaN nor infinity passes."""
    assert isinstance(got, rg.Tensor), f"expected a tensor, got {got!r}"
    have, want = array(got), array(want)
    assert have.shape == want.shape, f"shape {have.shape}, expected {want.shape}"
    assert np.isfinite(want).all() and np.isfinite(have).all(), f"{have} or {want} is not finite"
    np.testing.assert_allclose(have, want, rtol=rtol, atol=rtol * 1e-2)


def fails(*fragments, kind=RuntimeError):
    """The block raises `kind` with all `fragments` in its message, in this order."""
    return pytest.raises(kind, match="(?s)" + ".*".join(map(re.escape, fragments)))


def warns(*fragments, kind=UserWarning):
    return pytest.warns(kind, match="(?s)" + ".*".join(map(re.escape, fragments)))


def live(kind):
    """How many instances of exactly `kind` the collector still knows of, after a full collection."""
    gc.collect()
    return sum(type(o) is kind for o in gc.get_objects())


def script(code):
    """Run `code` in a fresh process (for what happens once per process) and return what it printed.

    The script finds `rg`, `np`, `warnings` and `caught()`, a context manager giving the list of warnings.
    """
    prelude = f"import warnings, numpy as np, {STANDIN} as rg\ncaught = lambda: warnings.catch_warnings(record=True)\n"
    code = prelude + "warnings.simplefilter('always')\n" + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()
