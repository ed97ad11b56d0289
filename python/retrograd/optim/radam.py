"""Adam that begins carefully, until the mean square of the gradients is known well enough."""

from __future__ import annotations

from typing import Any, ClassVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim._groups import (
    GroupOptimizer,
    check_betas,
    check_counts,
    check_lr,
    check_modes,
    check_number,
    direction,
    plus,
)
from retrograd.optim.optimizer import ParamsT, _get_scalar_dtype, _to_scalar

__all__ = ["RAdam", "radam"]


class RAdam(GroupOptimizer):
    """`Adam` that descends along the running mean alone in its first steps, and scales later ones by their certainty.

    Raises: ValueError for options out of range.

    >>> x = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
    >>> optimizer = rg.optim.RAdam([x], lr=0.25)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x
    Parameter containing:
    tensor([0.5000, 1.0000], requires_grad=True)
    """

    _added_options: ClassVar[dict[str, Any]] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
        "capturable": False,
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_number("epsilon value", eps)
        check_betas(betas)
        check_number("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": _core.tensor(0.0, dtype=_get_scalar_dtype()),
            "exp_avg": _core.zeros_like(p, memory_format=_core.preserve_format),
            "exp_avg_sq": _core.zeros_like(p, memory_format=_core.preserve_format),
        }

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        beta1, beta2 = group["betas"]
        radam(
            params,
            grads,
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [state["step"] for state in states],
            decoupled_weight_decay=group["decoupled_weight_decay"],
            foreach=group["foreach"],
            differentiable=group["differentiable"],
            capturable=group["capturable"],
            maximize=group["maximize"],
            beta1=beta1,
            beta2=beta2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
        )


def radam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
) -> None:
    """A step of `RAdam` for lists of parameters, their gradients and their states.

    >>> x, m, v, step = rg.ones(2), rg.zeros(2), rg.zeros(2), rg.tensor(0.0)
    >>> rg.optim.radam.radam([x], [rg.ones(2)], [m], [v], [step], beta1=0.9, beta2=0.999, lr=0.5, weight_decay=0,
    ...                      eps=1e-8)
    >>> x
    tensor([0.5000, 0.5000])
    """
    check_counts(state_steps)
    check_modes(params, foreach, differentiable, capturable)
    rate: Any = _to_scalar(lr)
    certainty_in_the_end = 2 / (1 - beta2) - 1
    for i, param in enumerate(params):
        grad, exp_avg, exp_avg_sq, step_t = grads[i], exp_avgs[i], exp_avg_sqs[i], state_steps[i]
        if param.is_complex():
            param, grad, exp_avg, exp_avg_sq = map(_core.view_as_real, (param, grad, exp_avg, exp_avg_sq))
        step_t += 1
        step = step_t.item()
        grad = direction(param, grad, maximize, 0 if decoupled_weight_decay else weight_decay)
        if decoupled_weight_decay and weight_decay != 0:
            param.mul_(1 - rate * weight_decay)
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        correction2 = 1 - beta2**step
        update = exp_avg / (1 - beta1**step) * rate
        certainty = certainty_in_the_end - 2 * step * beta2**step / correction2
        if certainty > 5.0:
            update = update * (correction2**0.5 / plus(exp_avg_sq.sqrt(), eps, differentiable))
            update = update * _rectification(certainty, certainty_in_the_end)
        param.add_(update, alpha=-1.0)


def _rectification(rho: Any, rho_inf: float) -> Any:
    ratio = (rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho)
    return ratio**0.5
