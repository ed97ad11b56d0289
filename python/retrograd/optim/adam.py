"""Adam: steps scaled by running means of gradients and of their squares."""

from __future__ import annotations

from typing import Any, ClassVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim._groups import (
    GroupOptimizer,
    check_betas,
    check_counts,
    check_fused,
    check_modes,
    check_number,
    unscaled,
)
from retrograd.optim.optimizer import ParamsT, _get_scalar_dtype, _to_scalar

__all__ = ["Adam", "adam"]


class Adam(GroupOptimizer):
    """Descend along the running mean of the gradients, divided by the root of the running mean of their squares.

    With `m = beta1 * m + (1 - beta1) * g` and `v = beta2 * v + (1 - beta2) * g**2`, step number t is
    `p -= lr * m / (1 - beta1**t) / (sqrt(v / (1 - beta2**t)) + eps)`, where `g` is the gradient plus
    `weight_decay * p`. Complex parameters are pairs of real ones.

    Args: `amsgrad` divides by the largest `v` so far; `decoupled_weight_decay` shrinks the parameters instead of adding
    to `g`, as `AdamW` does; `maximize` ascends instead; `differentiable` records the step, so that gradients pass
    through it; `foreach` and `fused` are taken, and mean the same results; `capturable` is for other devices.
    Raises: ValueError for options out of range.

    >>> x = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
    >>> optimizer = rg.optim.Adam([x], lr=0.5)
    >>> x.square().sum().backward()
    >>> optimizer.step()
    >>> x
    Parameter containing:
    tensor([0.5000, 1.5000], requires_grad=True)
    """

    _added_options: ClassVar[dict[str, Any]] = {
        "amsgrad": False,
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
        "fused": None,
    }
    _recorded_as = "adam"
    _sparse_refusal = "Adam does not support sparse gradients, please consider SparseAdam instead"

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, Tensor):
            _check_tensor_option("lr", lr, foreach, capturable)
        check_number("learning rate", lr)
        check_number("epsilon value", eps)
        check_betas(betas)
        check_number("weight_decay value", weight_decay)
        kinds = [isinstance(beta, Tensor) for beta in betas]
        if kinds != [True, True] and not (isinstance(betas[0], float) and isinstance(betas[1], float)):
            raise ValueError("betas must be either both floats or both Tensors")
        for i, beta in enumerate(betas):
            if isinstance(beta, Tensor):
                _check_tensor_option(f"betas[{i}]", beta, foreach, capturable)
        defaults = {
            "lr": lr,
            "betas": tuple(_to_scalar(beta) for beta in betas),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        if fused:
            self._step_supports_amp_scaling = True

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {
            "step": _core.tensor(0.0, dtype=_get_scalar_dtype(group["fused"])),
            "exp_avg": _core.zeros_like(p, memory_format=_core.preserve_format),
            "exp_avg_sq": _core.zeros_like(p, memory_format=_core.preserve_format),
        }
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = _core.zeros_like(p, memory_format=_core.preserve_format)
        return state

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        steps = [state["step"] for state in states]
        if group["differentiable"] and any(step.requires_grad for step in steps):
            raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
        if states and group["foreach"] and isinstance(group["lr"], Tensor) and not group["capturable"]:
            raise RuntimeError("lr as a Tensor is not supported for capturable=False and foreach=True")
        amsgrad = group["amsgrad"]
        beta1, beta2 = group["betas"]
        adam(
            params,
            grads,
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [state["max_exp_avg_sq"] for state in states] if amsgrad else [],
            steps,
            foreach=group["foreach"],
            capturable=group["capturable"],
            differentiable=group["differentiable"],
            fused=group["fused"],
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=getattr(self, "found_inf", None),
            decoupled_weight_decay=group["decoupled_weight_decay"],
            amsgrad=amsgrad,
            beta1=beta1,
            beta2=beta2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
        )


def _check_tensor_option(name: str, value: Tensor, foreach: bool | None, capturable: bool) -> None:
    if foreach and not capturable:
        raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")
    if value.numel() != 1:
        raise ValueError(f"Tensor {name} must be 1-element")


def adam(
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
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """A step of `Adam` for lists of parameters, their gradients and their states.

    >>> x, m, v, step = rg.ones(2), rg.zeros(2), rg.zeros(2), rg.tensor(0.0)
    >>> rg.optim.adam.adam([x], [rg.ones(2)], [m], [v], [], [step], amsgrad=False, beta1=0.9, beta2=0.999, lr=0.5,
    ...                    weight_decay=0, eps=1e-8, maximize=False)
    >>> x, step
    (tensor([0.5000, 0.5000]), tensor(1.))
    """
    check_counts(state_steps)
    if fused and differentiable and params:
        raise RuntimeError("Adam with fused=True does not support differentiable=True")
    if not fused:
        check_modes(params, foreach, differentiable, capturable)
    if not unscaled(grads, fused, grad_scale, found_inf):
        return
    if not differentiable and _core._adam_step(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        max_exp_avg_sqs,
        state_steps,
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        weight_decay=weight_decay,
        decoupled_weight_decay=decoupled_weight_decay,
        amsgrad=amsgrad,
        maximize=maximize,
    ):
        return
    rate, b1, b2 = _to_scalar(lr), _to_scalar(beta1), _to_scalar(beta2)
    decay: Any = weight_decay
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        exp_avg, exp_avg_sq, step_t = exp_avgs[i], exp_avg_sqs[i], state_steps[i]
        step_t += 1
        if decay != 0:
            if decoupled_weight_decay:
                param.mul_(1 - rate * decay)
            elif isinstance(decay, Tensor) and decay.requires_grad and differentiable:
                grad = grad.addcmul_(param.clone(), decay)
            else:
                grad = grad.add(param, alpha=decay)
        largest = max_exp_avg_sqs[i] if amsgrad else exp_avg_sq
        if param.is_complex():
            param, grad, exp_avg, exp_avg_sq, largest = map(
                _core.view_as_real, (param, grad, exp_avg, exp_avg_sq, largest)
            )

        own_beta1 = b1.to(dtype=param.dtype) if isinstance(b1, Tensor) else b1
        exp_avg.lerp_(grad, 1 - own_beta1)
        if differentiable and isinstance(b2, Tensor) and b2.requires_grad:
            exp_avg_sq.lerp_(grad.square(), 1 - b2)
        else:
            exp_avg_sq.mul_(b2).addcmul_(grad, grad, value=1 - b2)

        if differentiable:
            # Counts and rates are tensors here, as they may have gradients. The sign and the size of the step go into
            # the denominator, since `value` is a number.
            step = step_t.clone()
            step_size_neg = (rate / (1 - b1**step)).neg()
            correction2_sqrt = (1 - b2**step).sqrt()
            if amsgrad:
                largest.copy_(_core.maximum(largest.clone(), exp_avg_sq.clone()))
            else:
                largest = exp_avg_sq
            denom = (largest.sqrt() / (correction2_sqrt * step_size_neg)).add_(eps / step_size_neg)
            param.addcdiv_(exp_avg.clone(), denom)
        else:
            count = step_t.item()
            step_size = rate / (1 - b1**count)
            correction2_sqrt = (1 - b2**count) ** 0.5
            if amsgrad:
                _core.maximum(largest, exp_avg_sq, out=largest)
            denom = (largest.sqrt() / correction2_sqrt).add_(eps)
            param.addcdiv_(exp_avg, denom, value=-step_size)
