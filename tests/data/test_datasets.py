"""Datasets made of others."""

from typing import Any

import pytest


class Many:
    """Items that are asked for at once."""

    def __init__(self, count: int, given: int | None = None) -> None:
        self.count, self.given = count, given

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> Any:
        raise AssertionError("asked for one item")

    def __getitems__(self, indices: list[int]) -> list[Any]:
        return [10 * i for i in indices][: self.given]


def test_tensors_give_rows(rg):
    data = rg.utils.data.TensorDataset(rg.arange(3), rg.eye(3))
    assert len(data) == 3
    index, row = data[2]
    assert index.item() == 2 and row.tolist() == [0.0, 0.0, 1.0]


def test_stacks_give_tuples_or_dicts_and_ask_for_many_items_at_once(rg):
    stack = rg.utils.data.StackDataset
    assert stack("abc", range(3))[1] == ("b", 1) and len(stack("abc")) == 3
    assert stack("abc", Many(3)).__getitems__([2, 0]) == [("c", 20), ("a", 0)]
    assert stack(x="abc", y=Many(3)).__getitems__([2, 0]) == [{"x": "c", "y": 20}, {"x": "a", "y": 0}]
    for broken in (stack(Many(3, 1)), stack(a=Many(3, 1))):
        with pytest.raises(ValueError, match=r"Nested dataset's output size mismatch\. Expected 2, got 1"):
            broken.__getitems__([0, 1])


def test_sums_of_datasets_give_one_after_the_other(rg):
    class Letters(rg.utils.data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return "ab"[i]

    both = Letters() + range(3)
    assert isinstance(both, rg.utils.data.ConcatDataset)
    assert [both[i] for i in (0, 1, 2, 4, -1, -5)] == ["a", "b", 0, 2, 2, "a"]
    with pytest.warns(FutureWarning, match="attribute is renamed to `cumulative_sizes`"):
        assert both.cummulative_sizes == [2, 5]


def test_sums_of_iterable_datasets_iterate_over_one_after_the_other(rg):
    class Counting(rg.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(2))

        def __len__(self):
            return 2

    both = Counting() + Counting()
    assert isinstance(both, rg.utils.data.ChainDataset)
    assert list(both) == [0, 1, 0, 1] and len(both) == 4


def test_subsets_ask_for_many_items_at_once(rg):
    subset = rg.utils.data.Subset(Many(9), [3, 5, 7])
    assert len(subset) == 3 and subset.__getitems__([0, 2]) == [30, 70]
    assert rg.utils.data.Subset("abcd", [3, 1]).__getitems__([1]) == ["b"]
    assert rg.utils.data.Subset(rg.arange(9), [3, 5, 7])[[0, 2]].tolist() == [3, 7]

    class Half(rg.utils.data.Subset):
        def __getitem__(self, i):
            return 1

    with pytest.raises(NotImplementedError, match="Half overrides __getitem__ but not __getitems__"):
        Half("ab", [0])


def test_datasets_and_loaders_are_generic(rg):
    of = rg.utils.data
    for kind in (of.Dataset, of.IterableDataset, of.Subset, of.Sampler, of.DataLoader, of.ConcatDataset):
        assert kind[int].__origin__ is kind


def test_the_epoch_changes_the_order_of_a_distributed_sampler(rg):
    sampler = rg.utils.data.DistributedSampler(range(9), 1, 0)
    first = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != first and sorted(sampler) == sorted(first) and len(sampler) == 9
    assert list(rg.utils.data.DistributedSampler([], 2, 0)) == []
