"""Adam with the largest gradient in place of the root of the mean square."""

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
    kept,
)
from retrograd.optim.optimizer import ParamsT, _get_scalar_dtype, _to_scalar

__all__ = ["Adamax", "adamax"]


class Adamax(GroupOptimizer):
    """Descend along the running mean of the gradients, divided by a decaying maximum of their sizes.

    With `m = beta1 * m + (1 - beta1) * g` and `u = max(beta2 * u, abs(g) + eps)`, step number t is
    `p -= lr * m / (1 - beta1**t) / u`, where `g` is the gradient plus `weight_decay * p`.

    Raises: ValueError for options out of range.

    >>> x = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
    >>> optimizer = rg.optim.Adamax([x], lr=0.5)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x
    Parameter containing:
    tensor([0.5000, 1.5000], requires_grad=True)
    """

    _added_options: ClassVar[dict[str, Any]] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
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
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": _core.tensor(0.0, dtype=_get_scalar_dtype()),
            "exp_avg": _core.zeros_like(p, memory_format=_core.preserve_format),
            "exp_inf": _core.zeros_like(p, memory_format=_core.preserve_format),
        }

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        beta1, beta2 = group["betas"]
        adamax(
            params,
            grads,
            [state["exp_avg"] for state in states],
            [state["exp_inf"] for state in states],
            [state["step"] for state in states],
            foreach=group["foreach"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
            capturable=group["capturable"],
            eps=group["eps"],
            beta1=beta1,
            beta2=beta2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
        )


def adamax(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_infs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
) -> None:
    """A step of `Adamax` for lists of parameters, their gradients and their states.

    >>> x, m, u, step = rg.ones(2), rg.zeros(2), rg.zeros(2), rg.tensor(0.0)
    >>> rg.optim.adamax.adamax([x], [rg.ones(2)], [m], [u], [step], eps=1e-8, beta1=0.9, beta2=0.999, lr=0.5,
    ...                        weight_decay=0)
    >>> x
    tensor([0.5000, 0.5000])
    """
    check_counts(state_steps)
    check_modes(params, foreach, differentiable, capturable)
    rate: Any = _to_scalar(lr)
    for param, grad, exp_avg, exp_inf, step_t in zip(params, grads, exp_avgs, exp_infs, state_steps, strict=True):
        grad = direction(param, grad, maximize, weight_decay)
        step_t += 1
        if param.is_complex():
            param, grad, exp_avg, exp_inf = map(_core.view_as_real, (param, grad, exp_avg, exp_inf))
        exp_avg.lerp_(grad, 1 - beta1)
        size = grad.abs().add_(eps)
        if differentiable:
            exp_inf.copy_(_core.stack([exp_inf.mul_(beta2), size]).amax(0))
        else:
            _core.maximum(exp_inf.mul_(beta2), size, out=exp_inf)
        param.addcdiv_(
            kept(exp_avg, differentiable), kept(exp_inf, differentiable), value=-(rate / (1 - beta1 ** step_t.item()))
        )
