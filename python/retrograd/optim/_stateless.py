"""Stepping other parameters, with another state, than those of an optimizer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from retrograd._core import Tensor
from retrograd.optim.optimizer import Optimizer

__all__ = ["swap_in_optimizer_params_and_state"]

_NAME = "swap_in_optimizer_params_and_state"


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """In the block, the optimizer has these parameters, in the order of its own, and the state and options of the dict.

    Args: `swapin_optim_state` what `state_dict` of such an optimizer returned. Its tensors are those that steps change.
    Raises: RuntimeError if groups, options or numbers of parameters differ from those of the optimizer.

    >>> x, y = rg.nn.Parameter(rg.ones(1)), rg.nn.Parameter(rg.zeros(1))
    >>> optimizer = rg.optim.SGD([x], lr=0.5, momentum=0.9)
    >>> x.grad = y.grad = rg.ones(1)
    >>> optimizer.step()
    >>> with rg.optim.swap_in_optimizer_params_and_state(optimizer, {"y": y}, optimizer.state_dict()):
    ...     optimizer.step()
    >>> x.item(), round(y.item(), 2)
    (0.5, -0.95)
    """
    state, swaps = _matched(optimizer, swapin_parameters, swapin_optim_state)
    own_state = optimizer.state
    own_groups = [dict(group) for group in optimizer.param_groups]
    try:
        swapped: defaultdict[Any, Any] = defaultdict(dict)
        for group, (options, params) in zip(optimizer.param_groups, swaps, strict=True):
            group.update(options, params=params)
            for param, number in zip(params, options["params"], strict=True):
                swapped[param] = dict(state.get(number, {}))
        optimizer.state = swapped
        yield
    finally:
        for group, own in zip(optimizer.param_groups, own_groups, strict=True):
            group.clear()
            group.update(own)
        optimizer.state = own_state


def _matched(
    optimizer: Optimizer, parameters: dict[str, Tensor], state_dict: Any
) -> tuple[dict[Any, Any], list[tuple[dict[str, Any], list[Tensor]]]]:
    """The state of the dict, and its options and the parameters for each group."""
    if not optimizer.state:
        raise RuntimeError(f"{_NAME} requires initialized optimizer state.")
    if not isinstance(state_dict, dict):
        raise RuntimeError(f"{_NAME} requires a DCP-style optimizer state_dict.")
    state, groups = state_dict.get("state"), state_dict.get("param_groups")
    if not isinstance(state, dict):
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['state'] to be a dict mapping packed parameter ids to per-param "
            f"state dicts, got {type(state).__name__}."
        )
    if any(isinstance(k, Tensor) for k in state):
        raise RuntimeError(f"{_NAME} requires optimizer.state_dict()-style state keyed by packed parameter ids.")
    if any(isinstance(k, int) and not isinstance(v, dict) for k, v in state.items()):
        raise RuntimeError(f"{_NAME} requires per-parameter optimizer state entries to be dictionaries.")
    if not isinstance(groups, list):
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['param_groups'] to be a list of param-group dicts, "
            f"got {type(groups).__name__}."
        )
    if len(optimizer.param_groups) != len(groups):
        raise RuntimeError("swapin_optim_state has a different number of parameter groups than the live optimizer.")
    given = list(parameters.values())
    swaps: list[tuple[dict[str, Any], list[Tensor]]] = []
    numbers: set[int] = set()
    for i, (group, options) in enumerate(zip(optimizer.param_groups, groups, strict=True)):
        own = _checked_numbers(i, group, options)
        numbers.update(own)
        if len(own) > len(given):
            raise RuntimeError(
                f"{_NAME} requires the explicit parameter state to match optimizer.param_groups ordering."
            )
        swaps.append((options, given[: len(own)]))
        del given[: len(own)]
    extra = [k for k in state if k not in numbers]
    if extra:
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['state'] to be keyed only by packed parameter ids from "
            f"param_groups[*]['params']; got extra keys {extra!r}."
        )
    return state, swaps


def _checked_numbers(i: int, group: dict[str, Any], options: Any) -> list[int]:
    if not isinstance(options, dict):
        raise RuntimeError(f"{_NAME} requires each optimizer param group to be a dictionary.")
    numbers = options.get("params")
    if not isinstance(numbers, list) or not all(isinstance(number, int) for number in numbers):
        raise RuntimeError(
            f"{_NAME} requires optimizer.state_dict()-style param_groups[*]['params'] entries keyed by packed "
            "parameter ids."
        )
    if len(group["params"]) != len(numbers):
        raise RuntimeError(
            f"swapin_optim_state param group {i} has a different number of params than the live optimizer param group."
        )
    theirs, ours = [k for k in options if k not in group], [k for k in group if k not in options]
    if theirs or ours:
        raise RuntimeError(
            f"{_NAME} requires optimizer.state_dict()-style param group keys to exactly match the live optimizer group "
            f"keys for group {i}. Keys only in swap-in: {theirs}. Keys only in live: {ours}."
        )
    return numbers
