"""Adam for sparse gradients."""

from __future__ import annotations

from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim._functional import sparse_adam
from retrograd.optim._groups import GroupOptimizer, check_betas
from retrograd.optim.optimizer import ParamsT, _to_scalar

__all__ = ["SparseAdam"]


class SparseAdam(GroupOptimizer):
    """`Adam` that updates the entries alone that a sparse gradient has, and their running means.

    Raises: ValueError for options out of range, and for parameters that are sparse or complex.

    >>> rg.optim.SparseAdam([rg.nn.Parameter(rg.ones(2))])
    SparseAdam (
    Parameter Group 0
        betas: (0.9, 0.999)
        eps: 1e-08
        lr: 0.001
        maximize: False
    )
    """

    _counters = ()
    _sparse_refusal = None
    _takes_dense = False

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [(p, [i, j]) for i, group in enumerate(self.param_groups) for j, p in enumerate(group["params"])]
        sparse = [place for p, place in places if p.is_sparse]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        complex_ = [place for p, place in places if p.is_complex()]
        if complex_:
            raise ValueError(f"Complex params at indices {complex_}: SparseAdam does not support complex parameters")

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": 0,
            "exp_avg": _core.zeros_like(p, memory_format=_core.preserve_format),
            "exp_avg_sq": _core.zeros_like(p, memory_format=_core.preserve_format),
        }

    def _state_of(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        if not (p.grad is not None and p.grad.is_sparse):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        return super()._state_of(p, group)

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        for state in states:
            state["step"] += 1
        beta1, beta2 = group["betas"]
        sparse_adam(
            params,
            grads,
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [state["step"] for state in states],
            eps=group["eps"],
            beta1=beta1,
            beta2=beta2,
            lr=_to_scalar(group["lr"]),
            maximize=group.get("maximize", False),
        )
