"""Writes `tests/loaders.json`: in which order PyTorch's samplers, splits and loaders give items, and what they refuse.

    python tools/loaders.py

needs torch. `tests/data/test_orders.py` runs the same cases with retrograd.
"""

import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[1] / "tests/loaders.json"

Case = Callable[[Any], Any]


def generator(lib: Any, seed: int = 3) -> Any:
    return lib.Generator().manual_seed(seed)


def batches(loader: Any) -> list[Any]:
    return [batch.tolist() for batch in loader]


class Numbers:
    """Items that tell the worker's generators: all loaders of the table that have workers read these."""

    def __init__(self, lib: Any) -> None:
        self.lib = lib

    def __len__(self) -> int:
        return 5

    def __getitem__(self, i: int) -> Any:
        info = self.lib.utils.data.get_worker_info()
        return [i, info.id, info.seed, random.random(), self.lib.rand(()).item()]


class Plain:
    def __len__(self) -> int:
        return 7

    def __getitem__(self, i: int) -> int:
        return i


def iterable(lib: Any, count: int = 5) -> Any:
    class Counting(lib.utils.data.IterableDataset):
        def __iter__(self) -> Any:
            return iter(range(count))

        def __len__(self) -> int:
            return 2

        def __repr__(self) -> str:
            return "Counting"

    return Counting()


def after(lib: Any, make: Callable[[], Any]) -> list[Any]:
    """What comes, twice, and what the default generator gives next."""
    lib.manual_seed(5)
    return [list(make()), list(make()), lib.rand(()).item()]


def loaded(lib: Any, **options: Any) -> list[Any]:
    """The batches of two iterations over a loader, and what the default generator gives next."""
    lib.manual_seed(5)
    loader = lib.utils.data.DataLoader(options.pop("dataset", None) or Plain(), **options)
    return [batches(loader), batches(loader), lib.rand(()).item()]


ORDERS: dict[str, Case] = {
    "sequential": lambda t: list(t.utils.data.SequentialSampler(range(4))),
    "random": lambda t: after(t, lambda: t.utils.data.RandomSampler(range(9))),
    "random, generator": lambda t: list(t.utils.data.RandomSampler(range(9), generator=generator(t))),
    "random, more": lambda t: after(t, lambda: t.utils.data.RandomSampler(range(4), num_samples=10)),
    "random, fewer": lambda t: after(t, lambda: t.utils.data.RandomSampler(range(9), num_samples=4)),
    "random, replaced": lambda t: after(t, lambda: t.utils.data.RandomSampler(range(9), True)),
    "random, many": lambda t: after(t, lambda: t.utils.data.RandomSampler(range(9), True, 70)),
    "random, lengths": lambda t: [len(t.utils.data.RandomSampler(range(9), True, k)) for k in (None, 3)],
    "subset": lambda t: after(t, lambda: t.utils.data.SubsetRandomSampler([5, 3, 8, 1])),
    "subset, generator": lambda t: list(t.utils.data.SubsetRandomSampler([5, 3, 8, 1], generator(t))),
    "weighted": lambda t: after(t, lambda: t.utils.data.WeightedRandomSampler([0.1, 0.5, 0, 2], 9)),
    "weighted, once": lambda t: after(t, lambda: t.utils.data.WeightedRandomSampler([0.1, 0.5, 1, 2], 3, False)),
    "weighted, generator": lambda t: list(
        t.utils.data.WeightedRandomSampler([0.1, 0.5, 0, 2], 9, generator=generator(t))
    ),
    "batches": lambda t: list(t.utils.data.BatchSampler(t.utils.data.SequentialSampler(range(7)), 3, False)),
    "full batches": lambda t: list(t.utils.data.BatchSampler(t.utils.data.SequentialSampler(range(7)), 3, True)),
    "lengths of batches": lambda t: [len(t.utils.data.BatchSampler(range(7), 3, drop)) for drop in (False, True)],
    "distributed": lambda t: [
        [list(t.utils.data.DistributedSampler(range(n), 4, rank, shuffle, 7, drop)) for rank in range(4)]
        for n in (1, 2, 8, 11)
        for shuffle in (False, True)
        for drop in (False, True)
        if n > 3 or not drop
    ],
    "split": lambda t: [part.indices for part in t.utils.data.random_split(range(9), [2, 3, 4], generator(t))],
    "split by fractions": lambda t: [
        part.indices for part in t.utils.data.random_split(range(11), [0.3, 0.3, 0.4], generator(t))
    ],
    "split by default": lambda t: after(
        t, lambda: [part.indices for part in t.utils.data.random_split(range(9), [0.5, 0.5])]
    ),
    "loader": lambda t: loaded(t, batch_size=3),
    "loader, shuffled": lambda t: loaded(t, batch_size=3, shuffle=True),
    "loader, full": lambda t: loaded(t, batch_size=3, shuffle=True, drop_last=True),
    "loader, generator": lambda t: loaded(t, batch_size=3, shuffle=True, generator=generator(t)),
    "loader, items": lambda t: loaded(t, batch_size=None, collate_fn=t.tensor, shuffle=True),
    "loader, sampler": lambda t: loaded(t, batch_size=2, sampler=t.utils.data.SubsetRandomSampler([4, 1, 3])),
    "loader, batch sampler": lambda t: loaded(t, batch_sampler=[[0, 3], [2]]),
    "loader, iterable": lambda t: loaded(t, dataset=iterable(t), batch_size=2),
    "loader, iterable, full": lambda t: loaded(t, dataset=iterable(t), batch_size=2, drop_last=True),
    "loader, iterable, items": lambda t: loaded(t, dataset=iterable(t), batch_size=None, collate_fn=t.tensor),
    "lengths of loaders": lambda t: [
        len(t.utils.data.DataLoader(data, batch_size=size, drop_last=drop))
        for data in (Plain(), iterable(t))
        for size, drop in ((3, False), (3, True), (1, False))
    ],
    "workers": lambda t: loaded(t, dataset=Numbers(t), batch_size=2, num_workers=2, collate_fn=t.tensor),
    "workers, shuffled": lambda t: loaded(
        t, dataset=Numbers(t), batch_size=2, shuffle=True, num_workers=2, collate_fn=t.tensor
    ),
    "workers, persistent": lambda t: loaded(
        t, dataset=Numbers(t), shuffle=True, num_workers=2, collate_fn=t.tensor, persistent_workers=True
    ),
    "workers, generator": lambda t: loaded(
        t, dataset=Numbers(t), num_workers=1, collate_fn=t.tensor, generator=generator(t), prefetch_factor=1
    ),
    "workers, iterable": lambda t: loaded(t, dataset=iterable(t, 3), batch_size=2, num_workers=2),
}

ERRORS: dict[str, Case] = {
    "sampler": lambda t: iter(t.utils.data.Sampler()),
    "dataset": lambda t: t.utils.data.Dataset()[0],
    "replacement": lambda t: t.utils.data.RandomSampler(range(3), replacement=1),
    "num_samples": lambda t: t.utils.data.RandomSampler(range(3), num_samples=0),
    "no samples": lambda t: t.utils.data.RandomSampler([]),
    "weights": lambda t: t.utils.data.WeightedRandomSampler([[1.0]], 2),
    "weighted number": lambda t: t.utils.data.WeightedRandomSampler([1.0], True),
    "weighted replacement": lambda t: t.utils.data.WeightedRandomSampler([1.0], 1, 1),
    "batch size": lambda t: t.utils.data.BatchSampler(range(3), 0, False),
    "batch rest": lambda t: t.utils.data.BatchSampler(range(3), 1, 0),
    "rank": lambda t: t.utils.data.DistributedSampler(range(3), 2, 2),
    "sizes": lambda t: t.utils.data.TensorDataset(t.ones(2), t.ones(3)),
    "stack": lambda t: t.utils.data.StackDataset("ab", "abc"),
    "stack by names": lambda t: t.utils.data.StackDataset(a="ab", b="abc"),
    "stack of both": lambda t: t.utils.data.StackDataset("ab", b="ab"),
    "stack of none": lambda t: t.utils.data.StackDataset(),
    "concat": lambda t: t.utils.data.ConcatDataset([]),
    "concat iterable": lambda t: t.utils.data.ConcatDataset([iterable(t)]),
    "concat index": lambda t: t.utils.data.ConcatDataset([range(2)])[-3],
    "old name": lambda t: t.utils.data.ConcatDataset([range(2)]).cummulative_sizes,
    "chain": lambda t: list(t.utils.data.ChainDataset([range(2)])),
    "split": lambda t: t.utils.data.random_split(range(3), [1, 1]),
    "split fraction": lambda t: t.utils.data.random_split(range(3), [1.5, -0.5]),
    "split empty": lambda t: len(t.utils.data.random_split(range(1), [0.5, 0.5])),
    "workers": lambda t: t.utils.data.DataLoader(Plain(), num_workers=-1),
    "timeout": lambda t: t.utils.data.DataLoader(Plain(), timeout=-1),
    "timeout alone": lambda t: iter(t.utils.data.DataLoader(Plain(), timeout=1)),
    "prefetch": lambda t: t.utils.data.DataLoader(Plain(), prefetch_factor=1),
    "negative prefetch": lambda t: t.utils.data.DataLoader(Plain(), prefetch_factor=-1, num_workers=1),
    "no prefetch": lambda t: iter(t.utils.data.DataLoader(Plain(), prefetch_factor=0, num_workers=1)),
    "persistent": lambda t: t.utils.data.DataLoader(Plain(), persistent_workers=True),
    "iterable shuffled": lambda t: t.utils.data.DataLoader(iterable(t), shuffle=True),
    "iterable sampled": lambda t: t.utils.data.DataLoader(iterable(t), sampler=[1]),
    "iterable batches": lambda t: t.utils.data.DataLoader(iterable(t), batch_sampler=[[1]]),
    "sampler shuffled": lambda t: t.utils.data.DataLoader(Plain(), sampler=[1], shuffle=True),
    "batch sampler": lambda t: t.utils.data.DataLoader(Plain(), batch_sampler=[[1]], drop_last=True),
    "items without a rest": lambda t: t.utils.data.DataLoader(Plain(), batch_size=None, drop_last=True),
    "context": lambda t: t.utils.data.DataLoader(Plain(), multiprocessing_context="spawn"),
    "kind of context": lambda t: t.utils.data.DataLoader(Plain(), num_workers=1, multiprocessing_context=3),
    "attribute": lambda t: setattr(t.utils.data.DataLoader(Plain()), "batch_size", 3),
    "pinned": lambda t: batches(t.utils.data.DataLoader(Plain(), batch_size=7, pin_memory=True)),
    "pinned there": lambda t: batches(
        t.utils.data.DataLoader(Plain(), batch_size=7, pin_memory=True, pin_memory_device="cuda")
    ),
    "too long": lambda t: [
        (len(loader), batches(loader)) for loader in [t.utils.data.DataLoader(iterable(t), batch_size=2)]
    ],
    "collate": lambda t: t.utils.data.default_collate([object]),
    "collate lists": lambda t: t.utils.data.default_collate([[1, 2], [3]]),
    "collate none": lambda t: t.utils.data.default_collate([None]),
}


def outcome(lib: Any, case: Case) -> list[Any]:
    """What a case returns or raises, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = case(lib)
            result = result if isinstance(result, int | list) else None
        except Exception as e:
            result = f"{type(e).__name__}: {e}"
    return [result, [f"{w.category.__name__}: {w.message}" for w in caught]]


def main() -> None:
    import torch

    rows = {
        "orders": {name: case(torch) for name, case in ORDERS.items()},
        "errors": {name: outcome(torch, case) for name, case in ERRORS.items()},
    }
    text = ",\n".join(
        f' "{key}": {{\n'
        + ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in table.items())
        + "\n }"
        for key, table in rows.items()
    )
    TABLE.write_text("{\n" + text + "\n}\n")


if __name__ == "__main__":
    main()
