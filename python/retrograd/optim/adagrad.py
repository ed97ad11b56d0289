"""Adagrad: steps scaled by the sum of the squares of all gradients."""

from __future__ import annotations

from typing import Any, ClassVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim._groups import (
    GroupOptimizer,
    check_counts,
    check_fused,
    check_lr,
    check_modes,
    check_number,
    direction,
    plus,
    unscaled,
)
from retrograd.optim.optimizer import ParamsT, _get_scalar_dtype, _to_scalar

__all__ = ["Adagrad", "adagrad"]


class Adagrad(GroupOptimizer):
    """Descend along the gradient, divided by the root of the sum of the squares of the gradients so far.

    With `s = s + g**2`, which begins as `initial_accumulator_value`, step number t is
    `p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)`, where `g` is the gradient plus `weight_decay * p`.

    Raises: ValueError for options out of range.

    >>> x = rg.nn.Parameter(rg.tensor([1.0, 2.0]))
    >>> optimizer = rg.optim.Adagrad([x], lr=0.5)
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
        "fused": None,
    }
    _sparse_refusal = None

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_number("lr_decay value", lr_decay)
        check_number("weight_decay value", weight_decay)
        check_number("initial_accumulator_value value", initial_accumulator_value)
        check_number("epsilon value", eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        if fused:
            self._step_supports_amp_scaling = True
        for group in self.param_groups:
            for p in group["params"]:
                self._state_of(p, group)

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        start = self.defaults["initial_accumulator_value"]
        return {
            "step": _core.tensor(0.0, dtype=_get_scalar_dtype(group["fused"])),
            "sum": _core.full_like(
                p, complex(start, start) if p.is_complex() else start, memory_format=_core.preserve_format
            ),
        }

    def share_memory(self) -> None:
        """Move the sums of squares to memory that other processes can share.

        >>> rg.optim.Adagrad([rg.nn.Parameter(rg.ones(2))]).share_memory()  # doctest: +SKIP
        """
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        adagrad(
            params,
            grads,
            [state["sum"] for state in states],
            [state["step"] for state in states],
            fused=group["fused"],
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=getattr(self, "found_inf", None),
            has_sparse_grad=_core._any_sparse(grads),
            foreach=group["foreach"],
            differentiable=group["differentiable"],
            has_complex=any(p.is_complex() for p in params),
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            lr_decay=group["lr_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
        )


def adagrad(
    params: list[Tensor],
    grads: list[Tensor],
    state_sums: list[Tensor],
    state_steps: list[Tensor],
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """A step of `Adagrad` for lists of parameters, their gradients and their states.

    >>> x, s, step = rg.ones(2), rg.zeros(2), rg.tensor(0.0)
    >>> rg.optim.adagrad.adagrad([x], [rg.ones(2)], [s], [step], lr=0.5, weight_decay=0, lr_decay=0, eps=1e-10,
    ...                          maximize=False)
    >>> x
    tensor([0.5000, 0.5000])
    """
    check_counts(state_steps)
    if fused and params:
        if has_sparse_grad or has_complex:
            raise RuntimeError("`fused` does not support sparse grad or complex param")
        if differentiable:
            raise RuntimeError("adagrad with fused=True does not support differentiable=True")
    elif not fused:
        check_modes(params, foreach, differentiable)
    if not unscaled(grads, fused, grad_scale, found_inf):
        return
    rate: Any = _to_scalar(lr)
    for param, grad, state_sum, step_t in zip(params, grads, state_sums, state_steps, strict=True):
        step_t += 1
        if weight_decay != 0 and grad.is_sparse:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        grad = direction(param, grad, maximize, weight_decay)
        clr = rate / (1 + (step_t.item() - 1) * lr_decay)
        if grad.is_sparse:
            _sparse_step(param, grad, state_sum, clr, eps)
            continue
        if param.is_complex():
            param, grad, state_sum = map(_core.view_as_real, (param, grad, state_sum))
        state_sum.addcmul_(grad, grad, value=1)
        param.addcdiv_(grad, plus(state_sum.sqrt(), eps, differentiable), value=-clr)


def _sparse_step(param: Tensor, grad: Any, state_sum: Any, clr: Any, eps: float) -> None:
    """Changes the entries alone that the gradient has."""
    grad = grad.coalesce()  # each entry once, as squares do not add up
    indices, values, size = grad._indices(), grad._values(), grad.size()
    sparse: Any = _core
    state_sum.add_(sparse.sparse_coo_tensor(indices, values.pow(2), size))
    std = state_sum.sparse_mask(grad)._values().sqrt_().add_(eps)
    param.add_(sparse.sparse_coo_tensor(indices, values / std, size), alpha=-clr)
