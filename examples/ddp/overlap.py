"""What happens when in a backward pass: nodes, from the profiler, and collectives, from a communication hook."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import retrograd.nn.functional as F
from retrograd import Tensor, nn
from retrograd import distributed as dist
from retrograd.autograd.profiler import profile, record_function
from retrograd.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from retrograd.nn.parallel import DistributedDataParallel

NODE = "autograd::engine::evaluate_function: "


@dataclass
class Observed:
    """Begin and end of things, in milliseconds from the start of the backward pass."""

    nodes: list[tuple[str, float, float]] = field(default_factory=list)
    collectives: list[tuple[int, float, float]] = field(default_factory=list)  # with their bytes
    end: float = 0.0  # of the pass, which waits for the last collective


def observe(plain: nn.Module, text: Tensor) -> Observed:
    """One step of a model that predicts the next byte. All processes call this."""
    spans: list[list[Any]] = []

    def hook(state: Any, bucket: dist.GradBucket) -> Any:
        span = [bucket.buffer().numel() * bucket.buffer().element_size(), time.perf_counter(), 0.0]
        spans.append(span)
        future = allreduce_hook(state, bucket)

        def ended(_: Any) -> None:
            span[2] = time.perf_counter()

        future.add_done_callback(ended)
        return future

    model = DistributedDataParallel(plain)
    model.register_comm_hook(None, hook)
    for _ in range(3):  # the order of buckets settles, memory is warm
        spans.clear()
        model.zero_grad()
        loss = F.cross_entropy(model(text).flatten(0, 1), text.flatten())
        dist.barrier()
        with profile() as profiled:
            with record_function("zero"):
                zero = time.perf_counter()
            loss.backward()
            end = time.perf_counter()
    events = profiled.function_events
    mark = next(event.time_range.start for event in events if event.name == "zero")
    observed = Observed(end=(end - zero) * 1e3)
    for event in events:
        if event.name.startswith(NODE):
            begin, stop = ((t - mark) / 1e3 for t in (event.time_range.start, event.time_range.end))
            observed.nodes.append((event.name.removeprefix(NODE).rpartition("::")[2], begin, stop))
    for size, begin, stop in spans:
        observed.collectives.append((size, (begin - zero) * 1e3, (stop - zero) * 1e3))
    return observed
