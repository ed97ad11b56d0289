"""Schedules that multiply the learning rates, step by step."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from retrograd.optim.lr_scheduler._base import Closed, Rates, load_function, saved_function
from retrograd.optim.optimizer import Optimizer

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "StepLR",
]

_Factor = Callable[[int], float]


class _ByFunctions(Closed):
    """A schedule with a function of the epoch for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: _Factor | list[_Factor], last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if not isinstance(lr_lambda, list | tuple):
            lr_lambda = [lr_lambda] * count
        elif len(lr_lambda) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas: list[_Factor] = list(lr_lambda)
        self._check_functions()
        super().__init__(optimizer, last_epoch)

    def _check_functions(self) -> None:
        pass

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer; of functions that are objects their attributes, and of others None."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [saved_function(function) for function in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the attributes that `state_dict` returned; functions stay, but for their attributes."""
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=False):
            load_function(function, attributes)


class LambdaLR(_ByFunctions):
    """The initial rate times a function of the epoch; a list has one for each group.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
    >>> scheduler = rg.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def _rates(self) -> Rates:
        return [lr * factor(self.last_epoch) for factor, lr in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_ByFunctions):
    """The rate before, times a function of the epoch; a list has one for each group.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
    >>> scheduler = rg.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def _check_functions(self) -> None:
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")

    def _rates(self) -> Rates:
        if self._is_initial:
            return self._unchanged()
        groups = self.optimizer.param_groups
        return [group["lr"] * factor(self.last_epoch) for factor, group in zip(self.lr_lambdas, groups, strict=True)]


class StepLR(Closed):
    """The rate is multiplied by `gamma` every `step_size` epochs.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
    >>> scheduler = rg.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for epoch in range(4):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.125]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Rates:
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._unchanged()
        return self._times(self.gamma)

    def _get_closed_form_lr(self) -> Rates:
        return [lr * self.gamma ** (self.last_epoch // self.step_size) for lr in self.base_lrs]


class MultiStepLR(Closed):
    """The rate is multiplied by `gamma` at each of the epochs `milestones`.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
    >>> scheduler = rg.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
    >>> for epoch in range(4):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.125]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Rates:
        if self.last_epoch not in self.milestones:
            return self._unchanged()
        return self._times(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> Rates:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [lr * self.gamma**passed for lr in self.base_lrs]


class ConstantLR(Closed):
    """The initial rate times `factor` for `total_iters` epochs, and the initial rate from then on.

    Raises: ValueError for a factor outside of 0 to 1.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
    >>> scheduler = rg.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=4)
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Rates:
        if self.last_epoch == 0:
            return self._times(self.factor)
        if self.last_epoch != self.total_iters:
            return self._unchanged()
        return self._times(1.0 / self.factor)

    def _get_closed_form_lr(self) -> Rates:
        is_over = self.last_epoch >= self.total_iters
        return [lr * (self.factor + is_over * (1 - self.factor)) for lr in self.base_lrs]


class LinearLR(Closed):
    """The initial rate times a factor that goes from `start_factor` to `end_factor` in `total_iters` epochs.

    Raises: ValueError for factors outside of 0 to 1.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
    >>> scheduler = rg.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.375]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Rates:
        if self.last_epoch == 0:
            return self._times(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        way = self.end_factor - self.start_factor
        return self._times(1.0 + way / (self.total_iters * self.start_factor + (self.last_epoch - 1) * way))

    def _get_closed_form_lr(self) -> Rates:
        way = self.end_factor - self.start_factor
        return [
            lr * (self.start_factor + way * min(self.total_iters, self.last_epoch) / self.total_iters)
            for lr in self.base_lrs
        ]


class ExponentialLR(Closed):
    """The rate is multiplied by `gamma` every epoch.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
    >>> scheduler = rg.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Rates:
        return self._unchanged() if self._is_initial else self._times(self.gamma)

    def _get_closed_form_lr(self) -> Rates:
        return [lr * self.gamma**self.last_epoch for lr in self.base_lrs]


class PolynomialLR(Closed):
    """The initial rate times `(1 - epoch / total_iters) ** power`, until that is 0.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
    >>> scheduler = rg.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Rates:
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        now, before = (1.0 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1))
        return self._times((now / before) ** self.power)

    def _get_closed_form_lr(self) -> Rates:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [lr * left**self.power for lr in self.base_lrs]


class CosineAnnealingLR(Closed):
    """From the initial rate to `eta_min` along a cosine, in `T_max` epochs; then back, and so on.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
    >>> scheduler = rg.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Rates:
        if self._is_initial:
            return self._unchanged()
        epoch, groups = self.last_epoch, self.optimizer.param_groups
        if self._step_count == 1 and epoch > 0:
            return [
                self.eta_min + (lr - self.eta_min) * (1 + math.cos(epoch * math.pi / self.T_max)) / 2
                for lr, _ in zip(self.base_lrs, groups, strict=True)
            ]
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # from the bottom, where the ratio below is 0 / 0
            return [
                group["lr"] + (lr - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
                for lr, group in zip(self.base_lrs, groups, strict=True)
            ]
        now, before = (1 + math.cos(math.pi * t / self.T_max) for t in (epoch, epoch - 1))
        return [now / before * (group["lr"] - self.eta_min) + self.eta_min for group in groups]

    def _get_closed_form_lr(self) -> Rates:
        return [
            self.eta_min + (lr - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
            for lr in self.base_lrs
        ]
