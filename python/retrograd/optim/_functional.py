"""The optimizers as functions of lists, by one name each."""

from __future__ import annotations

import math
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim.adadelta import adadelta as adadelta
from retrograd.optim.adagrad import adagrad as adagrad
from retrograd.optim.adam import adam as adam
from retrograd.optim.adamax import adamax as adamax
from retrograd.optim.adamw import adamw as adamw
from retrograd.optim.asgd import asgd as asgd
from retrograd.optim.nadam import nadam as nadam
from retrograd.optim.radam import radam as radam
from retrograd.optim.rmsprop import rmsprop as rmsprop
from retrograd.optim.rprop import rprop as rprop
from retrograd.optim.sgd import sgd as sgd


def sparse_adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[int],
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float,
    maximize: bool,
) -> None:
    """A step of `SparseAdam` for lists of parameters, their gradients and their states, with steps counted already."""
    sparse: Any = _core
    grad: Any
    exp_avg: Any
    exp_avg_sq: Any
    for param, grad, exp_avg, exp_avg_sq, step in zip(params, grads, exp_avgs, exp_avg_sqs, state_steps, strict=True):
        grad = (-grad if maximize else grad).coalesce()  # each entry once, as squares do not add up
        indices, values, size = grad._indices(), grad._values(), grad.size()
        if values.numel() == 0:
            continue
        # Means change by `(1 - beta) * (new - old)` where the gradient has entries.
        old_avg = exp_avg.sparse_mask(grad)._values()
        avg_change = values.sub(old_avg).mul_(1 - beta1)
        exp_avg.add_(sparse.sparse_coo_tensor(indices, avg_change, size))
        old_avg_sq = exp_avg_sq.sparse_mask(grad)._values()
        avg_sq_change = values.pow(2).sub_(old_avg_sq).mul_(1 - beta2)
        exp_avg_sq.add_(sparse.sparse_coo_tensor(indices, avg_sq_change, size))
        numer = avg_change.add_(old_avg)
        denom = avg_sq_change.add_(old_avg_sq).sqrt_().add_(eps)
        step_size = lr * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        param.add_(sparse.sparse_coo_tensor(indices, -step_size * numer.div_(denom), size))
