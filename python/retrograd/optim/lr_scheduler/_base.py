"""`LRScheduler`: sets the learning rates of an optimizer, and notes where it is."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias
from weakref import ref

from retrograd._core import Tensor
from retrograd.optim.optimizer import Optimizer, _to_scalar

__all__ = ["LRScheduler"]

Rates: TypeAlias = list[Any]  # a number, or a tensor of one element, for each group

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
_SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


class LRScheduler:
    """What all schedules have: subclass it and write `get_lr`.

    The constructor sets the rates of epoch 0, and notes the rates that the groups had as "initial_lr". Each `step` adds
    1 to `last_epoch` and sets the rates to what `get_lr` returns. Call it after the optimizer's step.

    Args: `last_epoch` the number of the last epoch, to resume a training whose groups have their "initial_lr".
    Raises: TypeError if `optimizer` is none; KeyError for groups without "initial_lr" when resuming.

    >>> class Halves(rg.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [lr / 2**self.last_epoch for lr in self.base_lrs]
    >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
    >>> scheduler = Halves(optimizer)
    >>> for epoch in range(2):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.125]
    """

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training from a "
                    "checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a "
                    "fresh training run (not recommended)"
                )
        self.base_lrs: Rates = _param_groups_val_list(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer.

        >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
        >>> rg.optim.lr_scheduler.ExponentialLR(optimizer, 0.9).state_dict()["last_epoch"]
        0
        """
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the attributes that `state_dict` returned.

        >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
        >>> scheduler = rg.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        >>> scheduler.load_state_dict(scheduler.state_dict())
        """
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> Rates:
        """The learning rates that are set, one for each group."""
        return self._last_lr

    def get_lr(self) -> Rates:
        """Compute the learning rates of `last_epoch`, which `step` sets; `get_last_lr` says which are set.

        >>> optimizer = rg.optim.SGD([rg.nn.Parameter(rg.ones(2))], lr=0.5)
        >>> rg.optim.lr_scheduler.ExponentialLR(optimizer, 0.9).get_lr()  # doctest: +SKIP
        """
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, and set its learning rates.

        Args: `epoch` go there instead, which is deprecated.
        """
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(
                    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
                    f"Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. {_SEE}",
                    UserWarning,
                    stacklevel=2,
                )
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(
                    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
                    "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure "
                    f"to do this will result in PyTorch skipping the first value of the learning rate schedule. {_SEE}",
                    UserWarning,
                    stacklevel=2,
                )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        with _enable_get_lr_call(self):
            closed_form = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            rates = self.get_lr() if closed_form is None else closed_form()
        self._set(rates)

    def _set(self, rates: Rates) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            _update_param_group_val(group, "lr", lr)
        self._last_lr: Rates = self._unchanged()

    # ---- what `get_lr` of the schedules returns

    def _unchanged(self) -> Rates:
        return _param_groups_val_list(self.optimizer, "lr")

    def _times(self, factor: float) -> Rates:
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class _LRScheduler(LRScheduler):
    """The old name of `LRScheduler`."""


class Closed(LRScheduler):
    """A schedule whose `get_lr` warns when it is not a step that calls it: it may compute from the rates before."""

    def get_lr(self) -> Rates:
        """The learning rates of `last_epoch`."""
        _warn_get_lr_called_within_step(self)
        return self._rates()

    def _rates(self) -> Rates:
        raise NotImplementedError


def _warn_get_lr_called_within_step(scheduler: LRScheduler) -> None:
    if not scheduler._get_lr_called_within_step:
        warnings.warn(
            "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
            UserWarning,
            stacklevel=2,
        )


class _enable_get_lr_call:
    """While a step computes its rates, `get_lr` does not warn. A class, since generators take twice as long."""

    def __init__(self, scheduler: LRScheduler) -> None:
        self._scheduler = scheduler

    def __enter__(self) -> None:
        self._scheduler._get_lr_called_within_step = True

    def __exit__(self, *_: object) -> None:
        self._scheduler._get_lr_called_within_step = False


def check_optimizer(optimizer: object) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _note_steps(optimizer: Optimizer) -> None:
    """Let the optimizer's `step` note that it was called."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    func: Callable[..., Any] = optimizer.step.__func__  # type: ignore[attr-defined]
    # The optimizer holds the new function, which must not hold the optimizer.
    reference = ref(optimizer)

    @wraps(func)
    def step(*args: Any, **kwargs: Any) -> Any:
        optimizer: Any = reference()
        optimizer._opt_called = True
        return func(optimizer, *args, **kwargs)

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = step  # type: ignore[method-assign]


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def _format_param(name: str, optimizer: Optimizer, param: Any) -> list[Any]:
    """An option for each group: `param` if that is a list, else `param` as often."""
    count = len(optimizer.param_groups)
    if not isinstance(param, list | tuple):
        param = [param] * count
    elif len(param) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(param)} values, "
            f"param_groups has {count}."
        )
    return [_copied(value) for value in param]


def _param_groups_val_list(optimizer: Optimizer, key: str) -> list[Any]:
    """An option of all groups; tensors, which steps change in place, are copied."""
    return [_copied(group[key]) for group in optimizer.param_groups]


def _update_param_group_val(group: dict[str, Any], key: str, value: Any) -> None:
    """Set an option; one that is a tensor stays the same tensor."""
    if isinstance(group[key], Tensor):
        group[key].fill_(_to_scalar(value))
    else:
        group[key] = value


# ---- functions in state dicts: those that are objects with attributes save these, others are not saved


def saved_function(function: Any) -> dict[str, Any] | None:
    return None if isinstance(function, types.FunctionType) else function.__dict__.copy()


def load_function(function: Any, attributes: dict[str, Any] | None) -> None:
    if attributes is not None:
        function.__dict__.update(attributes)
