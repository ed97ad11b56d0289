"""`Join`: processes that run out of inputs answer the collectives of those that have some left."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, NamedTuple, Self

from retrograd import _core
from retrograd.distributed._calls import all_reduce
from retrograd.distributed._groups import ProcessGroup
from retrograd.distributed._work import Work

__all__ = ["Join", "JoinHook", "Joinable"]

# After so many iterations without inputs a process warns.
_SKEW = 1000


class JoinHook:
    """What a process without inputs does in the place of one thing that it joined.

    >>> hook = rg.distributed.algorithms.JoinHook()
    >>> hook.main_hook()
    >>> hook.post_hook(is_last_joiner=True)
    """

    def main_hook(self) -> None:
        """Answer the collectives of one iteration of the others."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called when no process has inputs any more; `is_last_joiner` for those that had the most."""


class _Config(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool


_OFF = _Config(False, False, False)


class Joinable(ABC):
    """What can take part in `Join`, such as `DistributedDataParallel` and `ZeroRedundancyOptimizer`.

    Each iteration of it calls `Join.notify_join_context(self)` before its other collectives.

    >>> issubclass(rg.nn.parallel.DistributedDataParallel, rg.distributed.algorithms.Joinable)
    True
    """

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _OFF

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What stands in for it; `kwargs` are those of `Join`.

        >>> rg.distributed.init_process_group("gloo")
        >>> x = rg.nn.Parameter(rg.ones(2))
        >>> optimizer = rg.distributed.optim.ZeroRedundancyOptimizer([x], rg.optim.SGD, lr=0.5)
        >>> isinstance(optimizer.join_hook(), rg.distributed.algorithms.JoinHook)
        True
        >>> rg.distributed.destroy_process_group()
        """

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """Where the collectives of the join are run."""

    @property
    @abstractmethod
    def join_process_group(self) -> ProcessGroup:
        """The group that the collectives of the join are run in."""


class Join:
    """A block in which processes may have different numbers of inputs.

    A process that leaves it goes on to answer the collectives of the others with what changes nothing, until all have
    left. Those that it joins must be all that call collectives in each iteration.

    Args: `joinables` what takes part, in the order in which an iteration uses it; `enable` False if inputs are even,
    which saves a message per iteration; `throw_on_early_termination` lets all raise when the first one is out of
    inputs; `kwargs` go to each `join_hook`.
    Raises: ValueError without joinables or for those of several groups; RuntimeError for one that was not initialised.

    >>> rg.distributed.init_process_group("gloo")
    >>> model = rg.nn.parallel.DistributedDataParallel(rg.nn.Linear(1, 1))
    >>> with rg.distributed.algorithms.Join([model]):
    ...     for x in rg.ones(2, 1):
    ...         model(x).sum().backward()
    >>> rg.distributed.destroy_process_group()
    """

    def __init__(
        self,
        joinables: list[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        for joinable in joinables:
            _check_initialised(joinable)
        self._group = joinables[0].join_process_group
        if any(joinable.join_process_group is not self._group for joinable in joinables):
            raise ValueError("Using join context manager with multiple process groups")
        self._joinables, self._enable, self._throw = joinables, enable, throw_on_early_termination
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables]

    def __enter__(self) -> Self:
        for number, joinable in enumerate(self._joinables):
            joinable._join_config = _Config(self._enable, self._throw, number == 0) if self._enable else _OFF
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if self._enable and kind is None:
                self._stand_in()
        finally:
            for joinable in self._joinables:
                joinable._join_config = _OFF

    def _stand_in(self) -> None:
        """Answer the others until nobody has inputs."""
        last = True
        iterations = 0
        while self._count_active() > 0:
            if self._throw:
                all_reduce(_core.ones(1), group=self._group)
                raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")
            last = False
            iterations += 1
            if iterations == _SKEW:
                warnings.warn(
                    f"Detected uneven input skew of greater than {_SKEW}. This means that rank {self._group.rank()} "
                    f"has at least {_SKEW} fewer inputs than other currently-active ranks. This level of skew could "
                    "lead to performance degradation during training: divide inputs more evenly",
                    stacklevel=3,
                )
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(last)

    def _count_active(self) -> int:
        count = _core.zeros(1)
        all_reduce(count, group=self._group)
        return int(count.item())

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Work | None:
        """Tell processes without inputs that this one begins an iteration, once for all that takes part.

        Returns: the handle of the message, None outside of `Join` and for all but the first that takes part.
        Raises: RuntimeError if a process is out of inputs, with `throw_on_early_termination`.

        >>> rg.distributed.init_process_group("gloo")
        >>> model = rg.nn.parallel.DistributedDataParallel(rg.nn.Linear(1, 1))
        >>> rg.distributed.algorithms.Join.notify_join_context(model) is None
        True
        >>> rg.distributed.destroy_process_group()
        """
        counted = _notify(joinable)
        return None if counted is None else counted[0]


def _notify(joinable: Joinable) -> tuple[Work, Any] | None:
    """`notify_join_context`, with the tensor that holds the number of processes with inputs when the work is done."""
    _check_initialised(joinable)
    config = joinable._join_config
    if not config.enable or not config.is_first_joinable:
        return None
    group = joinable.join_process_group
    count = _core.ones(1)
    work = all_reduce(count, group=group, async_op=True)
    if config.throw_on_early_termination:
        over = _core.zeros(1)
        all_reduce(over, group=group)
        if over.item():
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
    assert work is not None
    return work, count


def _check_initialised(joinable: Any) -> None:
    if not hasattr(joinable, "_join_config"):
        raise RuntimeError(
            f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor: "
            "Joinable.__init__(self), before it is used"
        )
