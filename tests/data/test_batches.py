"""What items become in a batch."""

from collections import ChainMap, OrderedDict, defaultdict, namedtuple
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

Pair = namedtuple("Pair", "x y")


def test_numbers_strings_and_tensors_become_tensors_and_tuples(rg):
    collate = rg.utils.data.default_collate
    assert collate([1, 2]).tolist() == [1, 2] and collate([1, 2]).dtype == rg.int64
    assert collate([True, False]).dtype == rg.bool
    assert collate([1.5, 2.5]).dtype == rg.float64
    assert collate(["a", "b"]) == ["a", "b"] and collate([b"a"]) == [b"a"]
    assert collate([rg.ones(2), rg.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        collate([rg.ones(2), rg.zeros(3)])


def test_containers_stay_what_they_are(rg):
    collate = rg.utils.data.default_collate

    def lists(batch: Any) -> Any:
        return batch.tolist() if rg.is_tensor(batch) else batch

    pair = collate([Pair(1, "a"), Pair(2, "b")])
    assert type(pair) is Pair and lists(pair.x) == [1, 2] and pair.y == ("a", "b")
    columns = collate([(1, "a"), (2, "b")])
    assert type(columns) is list and lists(columns[0]) == [1, 2] and columns[1] == ("a", "b")
    assert [lists(c) for c in collate([[1, 2], [3, 4]])] == [[1, 3], [2, 4]]
    for kind in (dict, OrderedDict, ChainMap, MappingProxyType):
        batch = collate([kind({"a": 1}), kind({"a": 2})])
        assert type(batch) is kind and lists(batch["a"]) == [1, 2]
    items = [defaultdict(list, a=1), defaultdict(list, a=2)]
    batch = collate(items)
    assert type(batch) is defaultdict and batch.default_factory is list and items[0]["a"] == 1
    assert [lists(c) for c in collate([range(2), range(2)])] == [[0, 0], [1, 1]]


def test_arrays_and_numbers_of_numpy_become_tensors(rg):
    collate, convert = rg.utils.data.default_collate, rg.utils.data.default_convert
    assert collate([np.ones(2, "float32"), np.zeros(2, "float32")]).dtype == rg.float32
    assert collate([np.float32(1), np.float32(2)]).tolist() == [1.0, 2.0]
    assert collate([np.int16(1), np.int16(2)]).tolist() == [1, 2]
    assert collate([np.bool_(True), np.bool_(False)]).tolist() == [True, False]
    assert collate([np.float64(1)]).dtype == rg.float64
    with pytest.raises(TypeError, match=r"numpy arrays, numbers, dicts or lists; found <U1"):
        collate([np.array(["a"])])
    words = np.array(["a"])
    got = convert({"a": np.ones(2), "b": (np.int8(3), "c"), "d": Pair(np.zeros(1), 2), "e": [np.ones(1)], "f": words})
    assert rg.is_tensor(got["a"]) and rg.is_tensor(got["b"][0]) and got["b"][1] == "c"
    assert type(got["b"]) is list and type(got["d"]) is Pair and rg.is_tensor(got["d"].x)
    assert rg.is_tensor(got["e"][0]) and got["f"] is words
    x = rg.ones(1)
    assert convert(x) is x and convert("abc") == "abc" and convert(3) == 3


def test_own_functions_go_by_types_and_their_bases(rg):
    from retrograd.utils.data._utils.collate import collate, default_collate_fn_map

    class Word(str):
        pass

    table = {**default_collate_fn_map, int: lambda batch, *, collate_fn_map: sum(batch)}
    assert collate([{"a": 1, "b": Word("x")}, {"a": 2, "b": Word("y")}], collate_fn_map=table) == {
        "a": 3,
        "b": ["x", "y"],
    }
    with pytest.raises(TypeError, match="default_collate: batch must contain tensors"):
        collate([1])
