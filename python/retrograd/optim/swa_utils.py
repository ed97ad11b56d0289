"""Averages of the weights of a model in the course of its training."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, Literal

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.nn import Module
from retrograd.optim.lr_scheduler._base import LRScheduler, Rates, _format_param, _warn_get_lr_called_within_step
from retrograd.optim.optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

AvgFn = Callable[[Tensor, Tensor, Tensor | int], Tensor]
MultiAvgFn = Callable[[Sequence[Tensor], Sequence[Tensor], Tensor | int], None]


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAvgFn:
    """A function that moves averages, in place, to `decay` times themselves plus `1 - decay` times the new values.

    Raises: ValueError for a decay outside of 0 to 1.

    >>> average = rg.ones(2)
    >>> rg.optim.swa_utils.get_ema_multi_avg_fn(0.5)([average], [rg.zeros(2)], 1)
    >>> average
    tensor([0.5000, 0.5000])
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Sequence[Tensor], current_param_list: Sequence[Tensor], _: Tensor | int) -> None:
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, 1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> MultiAvgFn:
    """A function that moves averages of `num_averaged` values, in place, to those with the new values.

    >>> average = rg.ones(2)
    >>> rg.optim.swa_utils.get_swa_multi_avg_fn()([average], [rg.zeros(2)], 1)
    >>> average
    tensor([0.5000, 0.5000])
    """

    @no_grad()
    def swa_update(
        averaged_param_list: Sequence[Tensor], current_param_list: Sequence[Tensor], num_averaged: Tensor | int
    ) -> None:
        for average, current in zip(averaged_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                weight: Any = 1 / (num_averaged + 1)
                average.lerp_(current, weight)
            elif isinstance(num_averaged, Tensor):
                average.addcdiv_(current - average, num_averaged + 1)
            else:
                average.add_(current - average, alpha=1.0 / (num_averaged + 1))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> AvgFn:
    """A function that returns `decay` times an average plus `1 - decay` times the new value.

    Raises: ValueError for a decay outside of 0 to 1.

    >>> rg.optim.swa_utils.get_ema_avg_fn(0.5)(rg.ones(2), rg.zeros(2), 1)
    tensor([0.5000, 0.5000])
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Tensor | int) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> AvgFn:
    """A function that returns the average of `num_averaged` values and a new one.

    >>> rg.optim.swa_utils.get_swa_avg_fn()(rg.ones(2), rg.zeros(2), 1)
    tensor([0.5000, 0.5000])
    """

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Tensor | int) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(Module):
    """A copy of a model, whose parameters become the average of those that `update_parameters` has seen.

    Args: `avg_fn` makes the new average of a tensor from the average, the new value and the number of values so far;
    `multi_avg_fn` changes lists of averages in place; without both, it is the mean. `use_buffers` averages buffers as
    well, which are copied else.
    Raises: AssertionError if both functions are given.

    >>> model = rg.nn.Linear(1, 1)
    >>> averaged = rg.optim.swa_utils.AveragedModel(model)
    >>> for weight in [1.0, 2.0]:
    ...     _ = rg.nn.init.constant_(model.weight, weight)
    ...     averaged.update_parameters(model)
    >>> averaged.module.weight.item()
    1.5
    >>> y = averaged.forward(rg.ones(2, 1))
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: AvgFn | None = None,
        multi_avg_fn: MultiAvgFn | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _core.tensor(0, dtype=_core.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model returns."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Add the parameters of the model to the average; the first ones are copied."""
        own: Iterable[Tensor] = self.parameters()
        new: Iterable[Tensor] = model.parameters()
        if self.use_buffers:
            own = itertools.chain(self.module.parameters(), self.module.buffers())
            new = itertools.chain(model.parameters(), model.buffers())
        averages, currents = [], []
        for average, current in zip(own, new, strict=False):
            averages.append(average.detach())
            currents.append(current.detach())
        if self.n_averaged == 0:
            for average, current in zip(averages, currents, strict=True):
                average.copy_(current)
        elif self.multi_avg_fn is not None:
            for some, their_currents in _by_dtype(averages, currents):
                self.multi_avg_fn(some, their_currents, self.n_averaged)
        else:
            avg_fn = self.avg_fn if self.avg_fn is not None else get_swa_avg_fn()
            for average, current in zip(averages, currents, strict=True):
                average.copy_(avg_fn(average, current, self.n_averaged))
        if not self.use_buffers:
            for own_buffer, buffer in zip(self.module.buffers(), model.buffers(), strict=True):
                own_buffer.detach().copy_(buffer.detach())
        self.n_averaged += 1


def _by_dtype(averages: list[Tensor], currents: list[Tensor]) -> Iterable[tuple[list[Tensor], list[Tensor]]]:
    """Lists of tensors of one dtype, as functions of lists expect them."""
    lists: dict[Any, tuple[list[Tensor], list[Tensor]]] = {}
    for average, current in zip(averages, currents, strict=True):
        some, their_currents = lists.setdefault(average.dtype, ([], []))
        some.append(average)
        their_currents.append(current)
    return lists.values()


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the statistics of a model's batch norm layers anew, as means over the batches of `loader`.

    Args: `loader` batches, or tuples and lists that begin with one.

    >>> model = rg.nn.Sequential(rg.nn.BatchNorm1d(1))
    >>> rg.optim.swa_utils.update_bn([rg.ones(2, 1), 3 * rg.ones(2, 1)], model)
    >>> model[0].running_mean
    tensor([2.])
    """
    from retrograd.nn.modules.batchnorm import _BatchNorm  # which programs that never call this need not load

    layers: dict[Any, Any] = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not layers:
        return
    was_training = model.training
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    for batch in loader:
        if isinstance(batch, list | tuple):
            batch = batch[0]
        if device is not None:
            batch = batch.to(device)
        model(batch)
    for layer, momentum in layers.items():
        layer.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the rates at its start to `swa_lr` in `anneal_epochs` epochs, along a cosine or a line; constant then.

    Raises: ValueError for another strategy than "cos" and "linear", or a negative number of epochs.

    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=1.0)
    >>> scheduler = rg.optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.75]
    >>> scheduler.load_state_dict(scheduler.state_dict())
    >>> scheduler.get_lr()  # doctest: +SKIP
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float,
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(_format_param("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ["cos", "linear"]:
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._set_anneal_func(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:  # type: ignore[redundant-expr]
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _linear_anneal(t: float) -> float:
        return t

    @staticmethod
    def _cosine_anneal(t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2

    @staticmethod
    def _get_initial_lr(lr: Any, swa_lr: Any, alpha: float) -> Any:
        return swa_lr if alpha == 1 else (lr - alpha * swa_lr) / (1 - alpha)

    def get_lr(self) -> Rates:
        """The rates of this epoch, computed from those that are set."""
        _warn_get_lr_called_within_step(self)
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (self.anneal_func(max(0, min(1, t / max(1, self.anneal_epochs)))) for t in (step - 1, step))
        rates = []
        for group in self.optimizer.param_groups:
            initial = self._get_initial_lr(group["lr"], group["swa_lr"], before)
            rates.append(group["swa_lr"] * now + initial * (1 - now))
        return rates

    def _set_anneal_func(self, anneal_strategy: str) -> None:
        self._anneal_strategy = anneal_strategy
        self.anneal_func = self._cosine_anneal if anneal_strategy == "cos" else self._linear_anneal

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer and the function that the strategy names."""
        return {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "anneal_func")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the attributes that `state_dict` returned."""
        super().load_state_dict(state_dict)
        self._set_anneal_func(self._anneal_strategy)
