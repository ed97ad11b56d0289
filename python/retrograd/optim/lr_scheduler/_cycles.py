"""Schedules that are functions of the epoch with ups and downs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

from retrograd.optim.lr_scheduler._base import (
    Closed,
    Rates,
    _enable_get_lr_call,
    _format_param,
    _update_param_group_val,
    check_optimizer,
    load_function,
    saved_function,
)
from retrograd.optim.optimizer import Optimizer

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


class _WithMomentum(Closed):
    """A schedule that also sets momenta: "momentum" of a group, or the first of its "betas"."""

    use_beta1: bool

    def _check_momentum(self, optimizer: Optimizer) -> None:
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum

    def _begin_with(self, optimizer: Optimizer, momenta: list[float], bases: list[float]) -> None:
        for momentum, base, group in zip(momenta, bases, optimizer.param_groups, strict=True):
            self._set_momentum(group, momentum)
            group["max_momentum"] = momentum
            group["base_momentum"] = base


class CyclicLR(_WithMomentum):
    """Up from `base_lr` to `max_lr` in `step_size_up` steps, down in `step_size_down`, and so on; for every batch.

    Args: `mode` how the height of the cycles changes: "triangular" not at all, "triangular2" by half in each,
    "exp_range" by `gamma` in each step; `scale_fn` the height instead, as a function of the number of the cycle or, for
    `scale_mode` "iterations", of the step; `cycle_momentum` the momentum goes from `max_momentum` to `base_momentum`
    while the rate goes up, and back.
    Raises: ValueError for an optimizer without momentum, unless `cycle_momentum` is False.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5, momentum=0.9)
    >>> scheduler = rg.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.5, max_lr=1.0, step_size_up=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr(), scheduler.scale_fn(2)
    ([0.75], 1.0)
    >>> scheduler.load_state_dict(scheduler.state_dict())
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = _format_param("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                _update_param_group_val(group, "lr", lr)
        self.max_lrs = _format_param("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (float(step_size_down) if step_size_down is not None else up)
        self.step_ratio = up / self.total_size
        if mode not in ["triangular", "triangular2", "exp_range"] and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_ref: Callable[[float], float]
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._check_momentum(optimizer)
            self.base_momentums = _format_param("base_momentum", optimizer, base_momentum)
            self.max_momentums = _format_param("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                self._begin_with(optimizer, self.max_momentums, self.base_momentums)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        if self.mode == "triangular":
            self._scale_fn_ref = _constant
        elif self.mode == "triangular2":
            self._scale_fn_ref = _halved
        elif self.mode == "exp_range":
            self._scale_fn_ref = partial(pow, self.gamma)
        self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"

    def scale_fn(self, x: float) -> float:
        """The height of a cycle, or of a step."""
        return self._scale_fn_ref(x) if self._scale_fn_custom is None else self._scale_fn_custom(x)

    def _rates(self) -> Rates:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)

        def scale() -> float:
            return self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)

        rates = [base + (top - base) * height * scale() for base, top in zip(self.base_lrs, self.max_lrs, strict=True)]
        if self.cycle_momentum:
            momenta = zip(self.base_momentums, self.max_momentums, strict=True)
            for (base, top), group in zip(momenta, self.optimizer.param_groups, strict=True):
                self._set_momentum(group, top - (top - base) * height * scale())
        return rates

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer; of a `scale_fn` that is an object its attributes, and of others None."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        function = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = None if function is None else saved_function(function)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the attributes that `state_dict` returned; a `scale_fn` stays, but for its attributes."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        load_function(self._scale_fn_custom, state_dict["_scale_fn_custom"])
        self._init_scale_fn()


def _constant(x: float) -> float:
    return 1.0


def _halved(x: float) -> float:
    height: float = 1 / (2.0 ** (x - 1))
    return height


class CosineAnnealingWarmRestarts(Closed):
    """From the initial rate to `eta_min` along a cosine in `T_0` epochs; then again, `T_mult` times as long, and so on.

    `step` takes fractions of epochs too, for steps within an epoch.
    Raises: ValueError for a `T_0` or `T_mult` that is no positive int.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
    >>> scheduler = rg.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> for epoch in [0.5, 1, 2]:
    ...     scheduler.step(epoch)
    ...     print(f"{scheduler.get_last_lr()[0]:.4f}")
    0.4268
    0.2500
    0.5000
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Rates:
        return [
            self.eta_min + (lr - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
            for lr in self.base_lrs
        ]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to `epoch`, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            if epoch < self.T_0:
                self.T_i = self.T_0
                self.T_cur = epoch
            elif self.T_mult == 1:
                self.T_cur = epoch % self.T_0
            else:
                n = int(math.log((epoch / self.T_0 * (self.T_mult - 1) + 1), self.T_mult))
                self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
                self.T_i = self.T_0 * self.T_mult**n
        self.last_epoch = math.floor(epoch)
        with _enable_get_lr_call(self):
            rates = self.get_lr()
        self._set(rates)


class _Phase(NamedTuple):
    """A part of a cycle: its last step, and the options of a group between which rate and momentum go."""

    end_step: float
    start_lr: str
    end_lr: str
    start_momentum: str
    end_momentum: str


class OneCycleLR(_WithMomentum):
    """Up from `max_lr / div_factor` to `max_lr`, then down far below where it began; for every batch, and one training.

    Args: `total_steps`, or `epochs` times `steps_per_epoch`, the number of steps; `pct_start` the part of them that
    goes up; `anneal_strategy` "cos" or "linear"; `final_div_factor` the first rate over the last one; `three_phase`
    goes down in two phases, as far as it went up and then further; `cycle_momentum` the momentum goes from
    `max_momentum` to `base_momentum` while the rate goes up, and back.
    Raises: ValueError for an optimizer without momentum, unless `cycle_momentum` is False, and for steps too many.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5, momentum=0.9)
    >>> scheduler = rg.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> for batch in range(2):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _number_of_steps(total_steps, epochs, steps_per_epoch)
        top = float(pct_start * self.total_steps) - 1
        last = self.total_steps - 1
        up = _Phase(top, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        if three_phase:
            back = float(2 * pct_start * self.total_steps) - 2
            phases = [
                up,
                _Phase(back, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                _Phase(last, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
            ]
        else:
            phases = [up, _Phase(last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        self._schedule_phases: list[dict[str, Any]] = [phase._asdict() for phase in phases]
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ["cos", "linear"]:
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        max_lrs = _format_param("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, highest in zip(optimizer.param_groups, max_lrs, strict=True):
                group["initial_lr"] = highest / div_factor
                group["max_lr"] = highest
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._check_momentum(optimizer)
            max_momentums = _format_param("max_momentum", optimizer, max_momentum)
            base_momentums = _format_param("base_momentum", optimizer, base_momentum)
            if last_epoch == -1:
                self._begin_with(optimizer, max_momentums, base_momentums)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: Any, end: Any, part: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start

    def _rates(self) -> Rates:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        start = 0.0
        for phase in self._schedule_phases[:-1]:
            if step <= phase["end_step"]:
                break
            start = phase["end_step"]
        else:
            phase = self._schedule_phases[-1]
        part = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                momentum = self._between(group[phase["start_momentum"]], group[phase["end_momentum"]], part)
                self._set_momentum(group, momentum)
        return rates


def _number_of_steps(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    if total_steps is not None:
        return _positive(total_steps, "total_steps")
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return _positive(epochs, "epochs") * _positive(steps_per_epoch, "steps_per_epoch")


def _positive(number: Any, name: str) -> int:
    if not isinstance(number, int) or number <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {number}")
    return number
