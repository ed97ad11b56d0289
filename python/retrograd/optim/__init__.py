"""Optimizers, learning rate schedules, and averages of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrograd._lazy import submodules
from retrograd.optim.optimizer import Optimizer

if TYPE_CHECKING:
    from retrograd.optim import lr_scheduler, swa_utils
    from retrograd.optim._adafactor import Adafactor
    from retrograd.optim._muon import Muon
    from retrograd.optim._stateless import swap_in_optimizer_params_and_state
    from retrograd.optim.adadelta import Adadelta
    from retrograd.optim.adagrad import Adagrad
    from retrograd.optim.adam import Adam
    from retrograd.optim.adamax import Adamax
    from retrograd.optim.adamw import AdamW
    from retrograd.optim.asgd import ASGD
    from retrograd.optim.lbfgs import LBFGS
    from retrograd.optim.nadam import NAdam
    from retrograd.optim.radam import RAdam
    from retrograd.optim.rmsprop import RMSprop
    from retrograd.optim.rprop import Rprop
    from retrograd.optim.sgd import SGD
    from retrograd.optim.sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
]

# A program uses one or two optimizers.
if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = submodules(
        __name__,
        "adadelta",
        "adagrad",
        "adam",
        "adamax",
        "adamw",
        "asgd",
        "lbfgs",
        "lr_scheduler",
        "nadam",
        "radam",
        "rmsprop",
        "rprop",
        "sgd",
        "sparse_adam",
        "swa_utils",
        ASGD="asgd",
        LBFGS="lbfgs",
        SGD="sgd",
        Adadelta="adadelta",
        Adafactor="_adafactor",
        Adagrad="adagrad",
        Adam="adam",
        AdamW="adamw",
        Adamax="adamax",
        Muon="_muon",
        NAdam="nadam",
        RAdam="radam",
        RMSprop="rmsprop",
        Rprop="rprop",
        SparseAdam="sparse_adam",
        swap_in_optimizer_params_and_state="_stateless",
    )
