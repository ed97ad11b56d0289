"""Writes tests/checkpoint.pt, a checkpoint with a bit of everything, with torch itself.

python tools/checkpoint.py
"""

import collections
from pathlib import Path

import torch

x = torch.arange(6.0).reshape(2, 3)
contents = {
    "x": x,
    "view": x.t()[1:],
    "parameter": torch.nn.Parameter(torch.ones(2)),
    "leaf": torch.ones(1, requires_grad=True),
    "state": collections.OrderedDict(weight=torch.ones(1, 2), bias=torch.zeros(1)),
    "plain": [1, 2.5, "s", None, True, (1, 2), {3}, b"xy", 2**70, 1j, bytearray(b"ab"), collections.Counter("aab")],
    "size": x.shape,
    "dtype": torch.float16,
    "device": torch.device("cpu"),
    "bfloat16": torch.ones(3, dtype=torch.bfloat16),
    "conj": torch.tensor([1 + 2j], dtype=torch.complex64).conj(),
    "negative": torch.tensor([1 + 2j], dtype=torch.complex64).conj().imag,
    "uint16": torch.tensor([1, 65535], dtype=torch.uint16),
    "bool": torch.tensor([True, False]),
    "empty": torch.empty(0, 3),
}
contents["same"] = contents["x"]
contents["attribute"] = torch.ones(1)
contents["attribute"].note = "kept"
torch.save(contents, Path(__file__).parents[1] / "tests" / "checkpoint.pt")
