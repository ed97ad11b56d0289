"""Rprop: steps whose size follows the signs of the gradients."""

from __future__ import annotations

from typing import Any, ClassVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim._groups import GroupOptimizer, check_counts, check_lr, check_modes
from retrograd.optim.optimizer import ParamsT, _get_scalar_dtype, _to_scalar

__all__ = ["Rprop", "rprop"]


class Rprop(GroupOptimizer):
    """Move each entry by a size of its own, against the sign of its gradient.

    The size begins as `lr`. It is multiplied by `etas[1]` while the sign stays, and by `etas[0]` when it changes; then
    the entry stays where it is for this step. `step_sizes` are the smallest and the largest size. The size of gradients
    does not matter, so batches must not differ.

    Raises: ValueError for options out of range.

    >>> x = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
    >>> optimizer = rg.optim.Rprop([x], lr=0.5)
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
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        lr = _to_scalar(group["lr"])
        grad: Any = p.grad
        return {
            "step": _core.zeros((), dtype=_get_scalar_dtype()),
            "prev": _core.zeros_like(p, memory_format=_core.preserve_format),
            "step_size": _core.full_like(grad, complex(lr, lr) if p.is_complex() else lr),
        }

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        etaminus, etaplus = group["etas"]
        step_size_min, step_size_max = group["step_sizes"]
        rprop(
            params,
            grads,
            [state["prev"] for state in states],
            [state["step_size"] for state in states],
            [state["step"] for state in states],
            foreach=group["foreach"],
            capturable=group["capturable"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
            step_size_min=step_size_min,
            step_size_max=step_size_max,
            etaminus=etaminus,
            etaplus=etaplus,
        )


def rprop(
    params: list[Tensor],
    grads: list[Tensor],
    prevs: list[Tensor],
    step_sizes: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """A step of `Rprop` for lists of parameters, their gradients and their states.

    >>> x, before, size, step = rg.ones(2), rg.zeros(2), rg.full((2,), 0.5), rg.tensor(0.0)
    >>> rg.optim.rprop.rprop([x], [rg.ones(2)], [before], [size], [step], step_size_min=1e-6, step_size_max=50,
    ...                      etaminus=0.5, etaplus=1.2)
    >>> x
    tensor([0.5000, 0.5000])
    """
    check_counts(state_steps)
    check_modes(params, foreach, differentiable, capturable)
    for param, grad, prev, step_size, step in zip(params, grads, prevs, step_sizes, state_steps, strict=True):
        step += 1
        if maximize:
            grad = -grad
        if param.is_complex():
            param, grad, prev, step_size = map(_core.view_as_real, (param, grad, prev, step_size))
        factor = grad.mul(prev.clone() if differentiable else prev).sign()
        factor[factor.gt(0)] = etaplus
        factor[factor.lt(0)] = etaminus
        factor[factor.eq(0)] = 1
        step_size.mul_(factor).clamp_(step_size_min, step_size_max)
        grad = grad.clone(memory_format=_core.preserve_format)
        grad[factor.eq(etaminus)] = 0
        param.addcmul_(grad.sign(), step_size, value=-1)
        prev.copy_(grad)
