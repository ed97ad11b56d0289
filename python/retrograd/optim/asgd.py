"""Stochastic gradient descent that also averages where it has been."""

from __future__ import annotations

from typing import Any, ClassVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim._groups import GroupOptimizer, check_lr, check_modes, check_number, direction
from retrograd.optim.optimizer import ParamsT, _get_scalar_dtype, _to_scalar

__all__ = ["ASGD", "asgd"]


class ASGD(GroupOptimizer):
    """Descend along the gradient with a rate that decays, and keep the average of the parameters as "ax" in the state.

    Step number t is `p = (1 - lambd * eta) * p - eta * g`, after which `eta = lr / (1 + lambd * lr * t) ** alpha`. From
    step `t0` on, "ax" is the mean; before, it is `p` itself.

    Raises: ValueError for options out of range.

    >>> x = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
    >>> optimizer = rg.optim.ASGD([x], lr=0.25)
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
        "capturable": False,
    }
    _counters = ("step", "eta", "mu")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_number("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        dtype = _get_scalar_dtype()
        return {
            "step": _core.zeros((), dtype=dtype),
            "eta": _core.as_tensor(_to_scalar(group["lr"]), dtype=dtype).clone().detach(),
            "mu": _core.ones((), dtype=dtype),
            "ax": _core.zeros_like(p, memory_format=_core.preserve_format),
        }

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        asgd(
            params,
            grads,
            [state["ax"] for state in states],
            [state["mu"] for state in states],
            [state["eta"] for state in states],
            [state["step"] for state in states],
            foreach=group["foreach"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
            capturable=group["capturable"],
            lambd=group["lambd"],
            lr=group["lr"],
            t0=group["t0"],
            alpha=group["alpha"],
            weight_decay=group["weight_decay"],
        )


def asgd(
    params: list[Tensor],
    grads: list[Tensor],
    axs: list[Tensor],
    mus: list[Tensor],
    etas: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: float | Tensor,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """A step of `ASGD` for lists of parameters, their gradients and their states.

    >>> x, ax, mu, eta, step = rg.ones(2), rg.zeros(2), rg.tensor(1.0), rg.tensor(0.5), rg.tensor(0.0)
    >>> rg.optim.asgd.asgd([x], [rg.ones(2)], [ax], [mu], [eta], [step], lambd=0, lr=0.5, t0=1e6, alpha=0.75,
    ...                    weight_decay=0)
    >>> x
    tensor([0.5000, 0.5000])
    """
    check_modes(params, foreach, differentiable, capturable, "params, mus, etas, and state_steps")
    rate: Any = _to_scalar(lr)
    for param, grad, ax, mu, eta, step_t in zip(params, grads, axs, mus, etas, state_steps, strict=True):
        if param.is_complex():
            param, grad, ax = map(_core.view_as_real, (param, grad, ax))
        step_t += 1
        grad = direction(param, grad, maximize, weight_decay)
        now = eta.item()
        param.mul_(1 - lambd * now)
        param.add_(grad, alpha=-now)
        if mu.item() != 1:
            ax.add_(param.sub(ax).mul_(mu))
        else:
            ax.copy_(param)
        step = step_t.item()
        eta.copy_(_core.as_tensor(rate / (1 + lambd * rate * step) ** alpha))
        mu.copy_(_core.as_tensor(1 / max(1, step - t0)))
