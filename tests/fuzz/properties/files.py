"""Copies, pickles and files keep values, strides, flags, and which tensors share memory."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import retrograd as rg


def saved(tensors: Any) -> Any:
    file = io.BytesIO()
    rg.save(tensors, file)
    file.seek(0)
    return rg.load(file)


WAYS = {
    "save and load": saved,
    "pickle": lambda tensors: pickle.loads(pickle.dumps(tensors)),
    "deepcopy": copy.deepcopy,
}


def sharing(tensors: dict[str, Any]) -> list[list[bool]]:
    """Whose elements a write to each tensor changes."""
    found = []
    for t in tensors.values():
        before = {n: o.clone() for n, o in tensors.items()}
        with rg.no_grad():
            kept = t.clone()
            t.copy_(t + 1.0)
            found.append([bool((o != before[n]).any()) for n, o in tensors.items()])
            t.copy_(kept)
    return found


def copies_are_as_the_originals(tensors: dict[str, Any], way: str, shared: bool) -> None:
    """`shared`: whether tensors that shared memory do so afterwards."""
    got = WAYS[way](tensors)
    assert list(got) == list(tensors)
    for name, t in tensors.items():
        u = got[name]
        assert u.tolist() == t.tolist(), f"{way} changed the values of {name}"
        assert (u.dtype, u.stride(), u.requires_grad) == (t.dtype, t.stride(), t.requires_grad), f"{way} of {name}"
    writable = {n: t for n, t in tensors.items() if 0 not in t.stride()}
    if shared:
        assert sharing({n: got[n] for n in writable}) == sharing(writable), f"{way} changed who shares memory"
