"""Tests of several processes. Those in `spmd` run in all ranks at once; `test_ranks.py` starts them."""

import os

if "RETROGRAD_TEST_RANKS" not in os.environ:
    collect_ignore = ["spmd"]
