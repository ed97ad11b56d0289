"""What `DistributedDataParallel` says when the gradients of an iteration are not those that it expects."""

from __future__ import annotations

from collections.abc import Sequence

_UNFINISHED = "Expected to have finished reduction in the prior iteration before starting a new one. "

TWICE = (
    "Expected to mark a variable ready only once. A parameter got a second gradient in one iteration. This happens "
    "where a parameter is used outside of `forward`, where several reentrant `checkpoint` regions share one, and where "
    "`find_unused_parameters=True` counted a parameter as unused that the loss uses: return from `forward` all that "
    "the loss is made of, use checkpoint(..., use_reentrant=False), or pass static_graph=True if the graph never "
    "changes. "
)


def unfinished(rank: int, missing: Sequence[tuple[int, str]], searched: bool) -> str:
    """Parameters, by index and name, got no gradient; `searched` if those that nothing leads to were left out."""
    text = _UNFINISHED + ("This error indicates that your module has parameters that were not used in producing loss. ")
    if searched:
        text += (
            "Since `find_unused_parameters=True` is enabled, this likely  means that not all `forward` outputs "
            "participate in computing loss. You can fix this by making sure all `forward` function outputs participate "
            "in calculating loss."
        )
    else:
        text += (
            "You can enable unused parameter detection by passing the keyword argument `find_unused_parameters=True` "
            "to `torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all `forward` function outputs "
            "participate in calculating loss."
        )
    indices = " ".join(str(index) for index, _ in missing)
    names = ", ".join(name for _, name in missing[:8]) + (", ..." if len(missing) > 8 else "")
    return f"{text}\nParameter indices which did not receive grad for rank {rank}: {indices}\nThey are: {names}"


def changed(rank: int, names: Sequence[str], what: str) -> str:
    """The graph of parameters is not that of the first iteration, though it was said to be static."""
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return (
        f"{_UNFINISHED}This error indicates that your training graph has changed in this iteration, e.g., one "
        "parameter is used in first iteration, but then got unused in the second iteration. this is not compatible "
        f"with static_graph set to True.\nOn rank {rank} {shown} {what}, unlike in the first iteration"
    )
