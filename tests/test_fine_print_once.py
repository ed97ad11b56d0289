"""Warnings that are given once per process, each in a process of its own."""

import subprocess
import sys

import pytest

CASES = {
    "rg.add(x, 2, x)": "This overload of add is deprecated",
    "x.sub_(2, x)": "This overload of sub_ is deprecated",
    "rg.chain_matmul(m, m)": "chain_matmul is deprecated and will be removed",
    "rg.scatter(x, 0, at, x, reduce='add')": "The reduce argument of retrograd.scatter with Tensor src is deprecated",
    "rg.bucketize(m.t(), x)": "input value tensor is non-contiguous",
    "rg.bucketize(x, rg.arange(6.0)[::2])": "boundary tensor is non-contiguous",
    "x.T": "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated",
    "x[0].T": "Tensor.T is deprecated on 0-D tensors",
    "rg.tensor([np.arange(2), np.arange(2)])": "Creating a tensor from a list of numpy.ndarrays is extremely slow",
}


@pytest.mark.parametrize("call", CASES)
def test_warned_of_once(call):
    program = f"""
import warnings
import numpy as np
import retrograd as rg
x, m, at = rg.arange(2.0), rg.ones(2, 3)[:, :2].contiguous(), rg.tensor([0, 1])
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for _ in range(2):
        {call}
assert [w.category for w in said] == [UserWarning], said
assert {CASES[call]!r} in str(said[0].message), said[0].message
"""
    subprocess.run([sys.executable, "-c", program], check=True)
