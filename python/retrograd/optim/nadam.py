"""Adam with Nesterov momentum."""

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
)
from retrograd.optim.optimizer import ParamsT, _get_scalar_dtype, _to_scalar

__all__ = ["NAdam", "nadam"]


class NAdam(GroupOptimizer):
    """`Adam` that looks ahead: of the gradient itself and of its running mean, both with rates that change.

    With `mu(t) = beta1 * (1 - 0.96**(t * momentum_decay) / 2)`, the gradient counts with
    `(1 - mu(t)) / (1 - mu(1) * ... * mu(t))`, and the mean with `mu(t + 1) / (1 - mu(1) * ... * mu(t + 1))`.

    Raises: ValueError for options out of range.

    >>> x = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
    >>> optimizer = rg.optim.NAdam([x], lr=0.5)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x
    Parameter containing:
    tensor([0.4718, 1.4718], requires_grad=True)
    """

    _added_options: ClassVar[dict[str, Any]] = {
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
    }
    _counters = ("step", "mu_product")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check_number("momentum_decay value", momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": _core.tensor(0.0, dtype=_get_scalar_dtype()),
            "mu_product": _core.tensor(1.0, dtype=_get_scalar_dtype()),
            "exp_avg": _core.zeros_like(p, memory_format=_core.preserve_format),
            "exp_avg_sq": _core.zeros_like(p, memory_format=_core.preserve_format),
        }

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        beta1, beta2 = group["betas"]
        nadam(
            params,
            grads,
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [state["mu_product"] for state in states],
            [state["step"] for state in states],
            decoupled_weight_decay=group["decoupled_weight_decay"],
            foreach=group["foreach"],
            capturable=group["capturable"],
            differentiable=group["differentiable"],
            maximize=group["maximize"],
            beta1=beta1,
            beta2=beta2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            momentum_decay=group["momentum_decay"],
            eps=group["eps"],
        )


def nadam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    mu_products: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """A step of `NAdam` for lists of parameters, their gradients and their states.

    >>> x, m, v, mu, step = rg.ones(2), rg.zeros(2), rg.zeros(2), rg.tensor(1.0), rg.tensor(0.0)
    >>> rg.optim.nadam.nadam([x], [rg.ones(2)], [m], [v], [mu], [step], beta1=0.9, beta2=0.999, lr=0.5,
    ...                      weight_decay=0, momentum_decay=0.004, eps=1e-8)
    >>> x
    tensor([0.4718, 0.4718])
    """
    check_counts(state_steps)
    check_counts(mu_products, "mu_products")
    check_modes(params, foreach, differentiable, capturable, "params, mu_products and state_steps")
    rate: Any = _to_scalar(lr)
    for i, param in enumerate(params):
        grad, exp_avg, exp_avg_sq, mu_product, step_t = (
            grads[i],
            exp_avgs[i],
            exp_avg_sqs[i],
            mu_products[i],
            state_steps[i],
        )
        if param.is_complex():
            param, grad, exp_avg, exp_avg_sq = map(_core.view_as_real, (param, grad, exp_avg, exp_avg_sq))
        step_t += 1
        step = step_t.item()
        grad = direction(param, grad, maximize, 0 if decoupled_weight_decay else weight_decay)
        if decoupled_weight_decay and weight_decay != 0:
            param.mul_(1 - rate * weight_decay)
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * momentum_decay))
        mu_next = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * momentum_decay))
        mu_product *= mu
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denom = exp_avg_sq.div(1 - beta2**step).sqrt()
        if differentiable:
            denom = denom.add(eps)
            param.addcdiv_(grad * (-rate * (1.0 - mu) / (1.0 - mu_product)), denom)
            param.addcdiv_(exp_avg * (-rate * mu_next / (1.0 - mu_product * mu_next)), denom)
        else:
            product = mu_product.item()
            denom.add_(eps)
            param.addcdiv_(grad, denom, value=-rate * (1.0 - mu) / (1.0 - product))
            param.addcdiv_(exp_avg, denom, value=-rate * mu_next / (1.0 - product * mu_next))
