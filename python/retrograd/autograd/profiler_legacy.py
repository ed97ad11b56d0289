"""`profile` with the name and parameters that it had before `autograd.profiler` got its own."""

from __future__ import annotations

import warnings

from retrograd.autograd._profiler.config import ProfilerState
from retrograd.autograd._profiler.lists import EventList
from retrograd.autograd._profiler.profile import profile as _profile

__all__ = ["profile"]


class profile(_profile):
    """Inside the block, note what runs; see `autograd.profiler.profile`, which is meant.

    Raises: RuntimeError for what is asked of the events before the block has ended.

    >>> from retrograd.autograd.profiler_legacy import profile
    >>> with profile() as prof:
    ...     y = rg.ones(2).exp()
    >>> [event.name for event in prof.function_events]
    ['aten::ones', 'aten::exp']
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
    ) -> None:
        if enabled and use_cuda:
            warnings.warn("CUDA is not available, disabling CUDA profiling", stacklevel=2)
        super().__init__(
            enabled,
            record_shapes=record_shapes,
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
        )
        self.profiler_kind = ProfilerState.CPU

    @property
    def function_events(self) -> EventList:
        """The events, in order of start."""
        if self._ended is None:
            raise RuntimeError("Profiler didn't finish running: its block has not ended, or it is not enabled")
        return super().function_events

    def __repr__(self) -> str:
        return "<unfinished profiler_legacy.profile>" if self._ended is None else super().__repr__()

    def __str__(self) -> str:
        return "<unfinished profile.profiler_legacy.profile>" if self._ended is None else super().__str__()
