"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import Any, ClassVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim._groups import GroupOptimizer, check_fused, unscaled
from retrograd.optim.optimizer import ParamsT, _to_scalar

__all__ = ["SGD", "sgd"]


class SGD(GroupOptimizer):
    """Descend along the gradient, or along a decaying sum of the gradients so far.

    Each step is `p -= lr * b` with `b = momentum * b + (1 - dampening) * g`, where `g` is the gradient plus
    `weight_decay * p`, and `b` begins as `g`. With `nesterov`, it is `p -= lr * (g + momentum * b)`.

    Args: `maximize` ascends instead; `differentiable` records the step, so that gradients pass through it; `foreach`
    and `fused` are taken, and mean the same results.
    Raises: ValueError for options out of range.

    >>> x = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
    >>> optimizer = rg.optim.SGD([x], lr=0.5)
    >>> x.sum().backward()
    >>> optimizer.step()
    >>> x.tolist()
    [0.5, 1.5]
    """

    _added_options: ClassVar[dict[str, Any]] = {
        "nesterov": False,
        "maximize": False,
        "foreach": None,
        "differentiable": False,
        "fused": False,
    }
    _counters = ()
    _recorded_as = "sgd"
    _sparse_refusal = None

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        if fused:
            self._step_supports_amp_scaling = True

    def _has_state(self, group: dict[str, Any]) -> bool:
        return bool(group["momentum"] != 0)

    def _state_of(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = self.state[p]
        return state

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        buffers = [state.get("momentum_buffer") for state in states] or [None] * len(params)
        sgd(
            params,
            grads,
            buffers,
            has_sparse_grad=bool(group["fused"]) and _core._any_sparse(grads),
            foreach=group["foreach"],
            fused=group["fused"],
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=getattr(self, "found_inf", None),
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            lr=group["lr"],
            dampening=group["dampening"],
            nesterov=group["nesterov"],
            maximize=group["maximize"],
        )
        for state, buffer in zip(states, buffers, strict=False):
            state["momentum_buffer"] = buffer


def sgd(
    params: list[Tensor],
    d_p_list: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float | Tensor,
    momentum: float,
    lr: float | Tensor,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """A step of `SGD` for lists of parameters, their gradients and their momentum buffers; None begins a buffer.

    >>> x = rg.ones(2)
    >>> rg.optim.sgd.sgd([x], [rg.ones(2)], [None], weight_decay=0, momentum=0, lr=0.5, dampening=0, nesterov=False,
    ...                  maximize=False)
    >>> x
    tensor([0.5000, 0.5000])
    """
    if fused and has_sparse_grad:
        raise RuntimeError("`_fused_sgd` does not support sparse gradients")
    if not unscaled(d_p_list, fused, grad_scale, found_inf):
        return
    if _core._sgd_step(
        params,
        d_p_list,
        momentum_buffer_list,
        lr=lr,
        momentum=momentum,
        dampening=dampening,
        weight_decay=weight_decay,
        nesterov=nesterov,
        maximize=maximize,
    ):
        return
    rate: Any = _to_scalar(lr)
    lr_is_trained = isinstance(rate, Tensor) and rate.requires_grad
    decay: Any = weight_decay
    decay_is_trained = isinstance(decay, Tensor) and decay.requires_grad
    for i, (param, grad) in enumerate(zip(params, d_p_list, strict=True)):
        if maximize:
            grad = -grad
        if decay_is_trained:
            grad = grad.addcmul_(param.clone(), decay)
        elif decay != 0:
            grad = grad.add(param, alpha=decay)
        if momentum != 0:
            buffer = momentum_buffer_list[i]
            if buffer is None:
                buffer = momentum_buffer_list[i] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
            grad = grad.add(buffer, alpha=momentum) if nesterov else buffer
        if lr_is_trained:
            param.addcmul_(grad, rate, value=-1)
        else:
            param.add_(grad, alpha=-rate)
