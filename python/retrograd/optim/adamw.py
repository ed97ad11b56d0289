"""Adam whose weight decay is no part of the gradient."""

from __future__ import annotations

from typing import Any

from retrograd._core import Tensor
from retrograd.optim.adam import Adam, adam
from retrograd.optim.optimizer import ParamsT

__all__ = ["AdamW", "adamw"]


class AdamW(Adam):
    """`Adam` that shrinks the parameters by `lr * weight_decay` before each step.

    >>> x = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
    >>> optimizer = rg.optim.AdamW([x], lr=0.5, weight_decay=0.1)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x
    Parameter containing:
    tensor([0.4500, 1.4000], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def adamw(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """A step of `AdamW` for lists of parameters, their gradients and their states.

    >>> x, m, v, step = rg.ones(2), rg.zeros(2), rg.zeros(2), rg.tensor(0.0)
    >>> rg.optim.adamw.adamw([x], [rg.ones(2)], [m], [v], [], [step], amsgrad=False, beta1=0.9, beta2=0.999, lr=0.5,
    ...                      weight_decay=0.1, eps=1e-8, maximize=False)
    >>> x
    tensor([0.4500, 0.4500])
    """
    adam(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        max_exp_avg_sqs,
        state_steps,
        foreach=foreach,
        capturable=capturable,
        differentiable=differentiable,
        fused=fused,
        grad_scale=grad_scale,
        found_inf=found_inf,
        has_complex=has_complex,
        decoupled_weight_decay=True,
        amsgrad=amsgrad,
        beta1=beta1,
        beta2=beta2,
        lr=lr,
        weight_decay=weight_decay,
        eps=eps,
        maximize=maximize,
    )
