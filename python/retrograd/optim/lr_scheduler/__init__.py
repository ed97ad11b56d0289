"""Learning rates that change with the steps."""

from typing import TYPE_CHECKING

from retrograd._lazy import submodules
from retrograd.optim.lr_scheduler._base import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from retrograd.optim.lr_scheduler._base import LRScheduler
from retrograd.optim.lr_scheduler._base import _enable_get_lr_call as _enable_get_lr_call
from retrograd.optim.lr_scheduler._base import _format_param as _format_param
from retrograd.optim.lr_scheduler._base import _LRScheduler as _LRScheduler
from retrograd.optim.lr_scheduler._base import _param_groups_val_list as _param_groups_val_list
from retrograd.optim.lr_scheduler._base import _update_param_group_val as _update_param_group_val
from retrograd.optim.lr_scheduler._base import _warn_get_lr_called_within_step as _warn_get_lr_called_within_step
from retrograd.optim.lr_scheduler._combined import ChainedScheduler, SequentialLR
from retrograd.optim.lr_scheduler._cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from retrograd.optim.lr_scheduler._decays import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from retrograd.optim.lr_scheduler._plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(__name__)
