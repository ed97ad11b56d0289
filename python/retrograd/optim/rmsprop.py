"""RMSprop: steps scaled by the running mean of the squares of the gradients."""

from __future__ import annotations

from typing import Any, ClassVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim._groups import (
    GroupOptimizer,
    check_counts,
    check_lr,
    check_modes,
    check_number,
    direction,
    kept,
    plus,
)
from retrograd.optim.optimizer import ParamsT, _get_scalar_dtype, _to_scalar

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(GroupOptimizer):
    """Descend along the gradient, divided by the root of the running mean of its squares.

    With `v = alpha * v + (1 - alpha) * g**2`, the step is `p -= lr * g / (sqrt(v) + eps)`, where `g` is the gradient
    plus `weight_decay * p`. With `momentum`, it is `b = momentum * b + g / (sqrt(v) + eps)`, and `p -= lr * b`.

    Args: `centered` takes the square of the running mean of the gradients from `v`.
    Raises: ValueError for options out of range.

    >>> x = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
    >>> optimizer = rg.optim.RMSprop([x], lr=0.05)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x
    Parameter containing:
    tensor([0.5000, 1.5000], requires_grad=True)
    """

    _added_options: ClassVar[dict[str, Any]] = {
        "momentum": 0,
        "centered": False,
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_number("epsilon value", eps)
        check_number("momentum value", momentum)
        check_number("weight_decay value", weight_decay)
        check_number("alpha value", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {
            "step": _core.zeros((), dtype=_get_scalar_dtype()),
            "square_avg": _core.zeros_like(p, memory_format=_core.preserve_format),
        }
        if group["momentum"] > 0:
            state["momentum_buffer"] = _core.zeros_like(p, memory_format=_core.preserve_format)
        if group["centered"]:
            state["grad_avg"] = _core.zeros_like(p, memory_format=_core.preserve_format)
        return state

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        rmsprop(
            params,
            grads,
            [state["square_avg"] for state in states],
            [state["grad_avg"] for state in states] if group["centered"] else [],
            [state["momentum_buffer"] for state in states] if group["momentum"] > 0 else [],
            [state["step"] for state in states],
            foreach=group["foreach"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
            capturable=group["capturable"],
            lr=group["lr"],
            alpha=group["alpha"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            centered=group["centered"],
        )


def rmsprop(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    grad_avgs: list[Tensor],
    momentum_buffer_list: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """A step of `RMSprop` for lists of parameters, their gradients and their states.

    >>> x, v, step = rg.ones(2), rg.zeros(2), rg.tensor(0.0)
    >>> rg.optim.rmsprop.rmsprop([x], [rg.ones(2)], [v], [], [], [step], lr=0.05, alpha=0.99, eps=1e-8,
    ...                          weight_decay=0, momentum=0, centered=False)
    >>> x
    tensor([0.5000, 0.5000])
    """
    check_counts(state_steps)
    check_modes(params, foreach, differentiable, capturable)
    rate: Any = _to_scalar(lr)
    for i, param in enumerate(params):
        step = state_steps[i]
        step += 1
        grad = direction(param, grads[i], maximize, weight_decay)
        square_avg = square_avgs[i]
        is_complex = param.is_complex()
        if is_complex:
            param, grad, square_avg = map(_core.view_as_real, (param, grad, square_avg))
        square_avg.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if centered:
            grad_avg = _core.view_as_real(grad_avgs[i]) if is_complex else grad_avgs[i]
            grad_avg.lerp_(grad, 1 - alpha)
            mean = kept(grad_avg, differentiable)
            average = square_avg.addcmul(mean, mean, value=-1).sqrt_()
        else:
            average = square_avg.sqrt()
        average = plus(average, eps, differentiable)
        if momentum > 0:
            buffer = _core.view_as_real(momentum_buffer_list[i]) if is_complex else momentum_buffer_list[i]
            buffer.mul_(momentum).addcdiv_(grad, average)
            param.add_(buffer, alpha=-rate)
        else:
            param.addcdiv_(grad, average, value=-rate)
