"""Samplers: in which order a loader takes the items of a dataset."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar, cast

from retrograd import _core
from retrograd._core import Generator, Tensor

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

_T_co = TypeVar("_T_co", covariant=True)


class Sampler(Generic[_T_co]):
    """Numbers of items, or lists of them: subclass it, and write `__iter__`, and `__len__` if that is known.

    >>> class Backwards(rg.utils.data.Sampler):
    ...     def __iter__(self):
    ...         return iter([2, 1, 0])
    >>> list(rg.utils.data.DataLoader("abc", sampler=Backwards()))
    [['c'], ['b'], ['a']]
    """

    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """All items, in their order.

    >>> list(rg.utils.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """All items in random order, or with `replacement` random items, each time anew.

    Args: `num_samples` how many, None for as many as there are; more than there are begin again; `generator` draws
    them, None for one with a seed from the default generator.
    Raises: TypeError or ValueError for options of other kinds.

    >>> sorted(rg.utils.data.RandomSampler("abc"))
    [0, 1, 2]
    """

    data_source: Sized
    replacement: bool

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        count: Any = self.num_samples
        if not isinstance(count, int) or count <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={count}")

    @property
    def num_samples(self) -> int:
        """How many numbers an iteration gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = _core.Generator()
            generator.manual_seed(_seed(None))
        if self.replacement:
            for _ in range(self.num_samples // 32):
                yield from _integers(n, 32, generator)
            yield from _integers(n, self.num_samples % 32, generator)
        else:
            for _ in range(self.num_samples // n):
                yield from _permutation(n, generator)
            yield from _permutation(n, generator)[: self.num_samples % n]

    def __len__(self) -> int:
        return self.num_samples


def _seed(generator: Generator | None) -> int:
    return cast(int, _core.empty((), dtype=_core.int64).random_(generator=generator).item())


def _integers(n: int, count: int, generator: Generator) -> list[int]:
    return cast(list[int], _core.randint(n, (count,), dtype=_core.int64, generator=generator).tolist())


def _permutation(n: int, generator: Generator | None) -> list[int]:
    return cast(list[int], _core.randperm(n, generator=generator).tolist())


class SubsetRandomSampler(Sampler[int]):
    """The numbers `indices` in random order.

    >>> sorted(rg.utils.data.SubsetRandomSampler([4, 7]))
    [4, 7]
    """

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in _permutation(len(self.indices), self.generator):
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Random numbers, as likely as their weights say, which need not sum to 1.

    Raises: ValueError for options of other kinds.

    >>> list(rg.utils.data.WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    weights: Tensor
    num_samples: int
    replacement: bool

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_positive("num_samples", num_samples)
        _check_flag("replacement", replacement)
        self.weights = _core.as_tensor(weights, dtype=_core.float64)
        if self.weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = _core.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from cast(list[int], drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` numbers of another sampler; the last one is shorter, or absent for `drop_last`.

    Raises: ValueError for options of other kinds.

    >>> list(rg.utils.data.BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool) -> None:
        _check_positive("batch_size", batch_size)
        _check_flag("drop_last", drop_last)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        count = len(cast(Sized, self.sampler))
        return count // self.batch_size if self.drop_last else (count + self.batch_size - 1) // self.batch_size


def _check_positive(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} should be a boolean value, but got {name}={value}")
