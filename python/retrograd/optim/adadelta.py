"""Adadelta: steps as large as the steps so far, relative to the gradients so far."""

from __future__ import annotations

from typing import Any, ClassVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim._groups import GroupOptimizer, check_counts, check_lr, check_modes, check_number, direction
from retrograd.optim.optimizer import ParamsT, _get_scalar_dtype, _to_scalar

__all__ = ["Adadelta", "adadelta"]


class Adadelta(GroupOptimizer):
    """Descend along the gradient, times the root mean square of past steps over that of past gradients.

    With `v = rho * v + (1 - rho) * g**2`, the step is `d = g * sqrt(u + eps) / sqrt(v + eps)`, and `p -= lr * d`; then
    `u = rho * u + (1 - rho) * d**2`. `g` is the gradient plus `weight_decay * p`.

    Raises: ValueError for options out of range.

    >>> x = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
    >>> optimizer = rg.optim.Adadelta([x], lr=100)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x
    Parameter containing:
    tensor([0.6838, 1.6838], requires_grad=True)
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
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_number("epsilon value", eps)
        check_number("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": _core.zeros((), dtype=_get_scalar_dtype()),
            "square_avg": _core.zeros_like(p, memory_format=_core.preserve_format),
            "acc_delta": _core.zeros_like(p, memory_format=_core.preserve_format),
        }

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        adadelta(
            params,
            grads,
            [state["square_avg"] for state in states],
            [state["acc_delta"] for state in states],
            [state["step"] for state in states],
            capturable=group["capturable"],
            foreach=group["foreach"],
            differentiable=group["differentiable"],
            lr=group["lr"],
            rho=group["rho"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )


def adadelta(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    acc_deltas: list[Tensor],
    state_steps: list[Tensor],
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """A step of `Adadelta` for lists of parameters, their gradients and their states.

    >>> x, v, u, step = rg.ones(2), rg.zeros(2), rg.zeros(2), rg.tensor(0.0)
    >>> rg.optim.adadelta.adadelta([x], [rg.ones(2)], [v], [u], [step], lr=100, rho=0.9, eps=1e-6, weight_decay=0,
    ...                            maximize=False)
    >>> x
    tensor([0.6838, 0.6838])
    """
    check_counts(state_steps)
    check_modes(params, foreach, differentiable, capturable)
    rate: Any = _to_scalar(lr)
    for param, grad, square_avg, acc_delta, step in zip(
        params, grads, square_avgs, acc_deltas, state_steps, strict=True
    ):
        step += 1
        grad = direction(param, grad, maximize, weight_decay)
        is_complex = param.is_complex()
        if is_complex:
            grad, square_avg, acc_delta = map(_core.view_as_real, (grad, square_avg, acc_delta))
        square_avg.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        std = square_avg.add(eps).sqrt_()
        delta = acc_delta.add(eps).sqrt_()
        if differentiable:
            delta = delta.clone()
        delta.div_(std).mul_(grad)
        acc_delta.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(_core.view_as_complex(delta) if is_complex else delta, alpha=-rate)
