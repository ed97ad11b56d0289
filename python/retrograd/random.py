"""The random numbers of the default generator: seeds and states."""

from __future__ import annotations

from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from typing import Any

from retrograd import _core
from retrograd._core import Generator, Tensor, default_generator, manual_seed
from retrograd._lazy import TYPE_CHECKING, submodules

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
    "thread_safe_generator",
]

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(__name__)


def seed() -> int:
    """Restart the default generator from a seed taken from the operating system.

    Returns: the seed, of 64 bits.

    >>> s = rg.seed()
    >>> s == rg.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator was last restarted from.

    >>> _ = rg.manual_seed(5)
    >>> rg.initial_seed()
    5
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator, as a tensor of bytes for `set_rng_state`.

    >>> state = rg.get_rng_state()
    >>> first = rg.rand(2).tolist()
    >>> rg.set_rng_state(state)
    >>> rg.rand(2).tolist() == first
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator back into a state that `get_rng_state` returned.

    Raises: TypeError if it is not a tensor of bytes, RuntimeError if the bytes are not such a state; the generator is
    then as it was.

    >>> rg.set_rng_state(rg.get_rng_state())
    """
    default_generator.set_state(new_state)


class _Fork(_core._RandomState, ContextDecorator):
    """A block after which the default generator is put back."""


class _NoFork(nullcontext[None], ContextDecorator):
    """A block that does nothing."""


def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> AbstractContextManager[None]:
    """Put the default generator back at the end of the block, so that random numbers drawn inside do not show outside.

    Args: `enabled` False does nothing. The others name devices, of which there are none but the CPU, and are ignored.

    >>> _ = rg.manual_seed(1)
    >>> expected = rg.rand(1).item()
    >>> _ = rg.manual_seed(1)
    >>> with rg.random.fork_rng():
    ...     _ = rg.rand(100)
    >>> rg.rand(1).item() == expected
    True
    """
    return _Fork() if enabled else _NoFork()


def thread_safe_generator() -> Generator | None:
    """The generator that transforms of data should draw from; None for the default one.

    Workers of loaders are processes, each with a default generator of its own, so it is None.

    >>> rg.rand(2, generator=rg.random.thread_safe_generator()).shape
    retrograd.Size([2])
    """
    return None
