"""A sampler for one of several processes that train together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from typing import Any, TypeVar

from retrograd import _core
from retrograd.distributed._groups import get_rank, get_world_size
from retrograd.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]

_T_co = TypeVar("_T_co", covariant=True)


class DistributedSampler(Sampler[_T_co]):
    """Every `num_replicas`-th item from number `rank` on, of all items in an order that all processes agree on.

    Args: `num_replicas` and `rank` the number of processes and of this one, None to ask `distributed`; `shuffle` a
    random order, from `seed` plus the epoch, which is to be set by `set_epoch`; `drop_last` leaves out what does not go
    into equal parts, else items are repeated.
    Raises: ValueError for a rank out of range.

    >>> sampler = rg.utils.data.DistributedSampler("abcde", num_replicas=2, rank=1, shuffle=False)
    >>> list(sampler)
    [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None:
            num_replicas = get_world_size()
        if rank is None:
            rank = get_rank()
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        count = len(dataset)
        if drop_last and count % num_replicas != 0:
            count -= num_replicas
        self.num_samples = math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[_T_co]:
        indices: Any = list(range(len(self.dataset)))
        if self.shuffle:
            generator = _core.Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = _core.randperm(len(self.dataset), generator=generator).tolist()
        if indices and not self.drop_last:
            indices *= math.ceil(self.total_size / len(indices))  # once more, if the last ones are to be repeated
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration have another random order.

        >>> rg.utils.data.DistributedSampler("abc", num_replicas=1, rank=0).set_epoch(1)
        """
        self.epoch = epoch
