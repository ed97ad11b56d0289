"""Adafactor: of the squares of gradients of a matrix, only the means of rows and columns are kept."""

from __future__ import annotations

from typing import Any, ClassVar

from retrograd import _core
from retrograd._core import Tensor
from retrograd._limits import finfo
from retrograd.optim._groups import GroupOptimizer
from retrograd.optim.optimizer import ParamsT, _get_scalar_dtype, _to_scalar

__all__ = ["Adafactor", "adafactor"]


class Adafactor(GroupOptimizer):
    """Descend along the gradient over the root of its running mean square, by steps relative to the parameter's size.

    For a matrix of m by n the state has m + n numbers. Step number t has the rate `min(lr, 1 / sqrt(t))`, times the
    root mean square of the parameter, which counts as at least `eps[1]`; updates with a root mean square above `d` are
    scaled down to it. Means change by `t**beta2_decay`.

    Args: `eps[0]`, squared, is the smallest mean square; None for that of the dtype.
    Raises: ValueError for options out of range.

    >>> x = rg.nn.Parameter(rg.ones(2, 3))
    >>> optimizer = rg.optim.Adafactor([x], lr=0.5)
    >>> x.sum().backward()
    >>> optimizer.step()
    >>> x
    Parameter containing:
    tensor([[0.5000, 0.5000, 0.5000],
            [0.5000, 0.5000, 0.5000]], requires_grad=True)
    """

    _added_options: ClassVar[dict[str, Any]] = {"foreach": None}
    _complex_refusal = "Adafactor does not support complex parameters"

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        grad: Any = p.grad
        state = {"step": _core.tensor(0.0, dtype=_get_scalar_dtype())}
        if grad.dim() > 1:
            *batch, rows, columns = grad.shape
            state["row_var"] = grad.new_zeros([*batch, rows, 1])
            state["col_var"] = grad.new_zeros([*batch, 1, columns])
        else:
            state["variance"] = _core.zeros_like(grad, memory_format=_core.preserve_format)
        return state

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        eps1, eps2 = group["eps"]
        adafactor(
            params,
            grads,
            [state.get("row_var") for state in states],
            [state.get("col_var") for state in states],
            [state.get("variance") for state in states],
            [state["step"] for state in states],
            foreach=group["foreach"],
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=getattr(self, "found_inf", None),
            d=group["d"],
            lr=group["lr"],
            beta2_decay=group["beta2_decay"],
            weight_decay=group["weight_decay"],
            eps1=eps1,
            eps2=eps2,
            maximize=group["maximize"],
        )


def adafactor(
    params: list[Tensor],
    grads: list[Tensor],
    row_vars: list[Tensor | None],
    col_vars: list[Tensor | None],
    variances: list[Tensor | None],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    d: float,
    lr: float | Tensor,
    beta2_decay: float,
    weight_decay: float,
    eps1: float | None,
    eps2: float,
    maximize: bool,
) -> None:
    """A step of `Adafactor` for lists of parameters, their gradients and their states, of which some are None.

    >>> x, v, step = rg.ones(2), rg.zeros(2), rg.tensor(0.0)
    >>> rg.optim._adafactor.adafactor([x], [rg.ones(2)], [None], [None], [v], [step], d=1.0, lr=0.5, beta2_decay=-0.8,
    ...                               weight_decay=0, eps1=None, eps2=1e-3, maximize=False)
    >>> x
    tensor([0.5000, 0.5000])
    """
    if not all(isinstance(t, Tensor) for t in state_steps):
        raise RuntimeError("`state_steps` argument must contain a list of singleton tensors")
    if grad_scale is not None or found_inf is not None:
        raise AssertionError("Grad scaling should occur outside of optimizer.step()")
    rate: Any = _to_scalar(lr)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        row_var, col_var, variance, step_t = row_vars[i], col_vars[i], variances[i], state_steps[i]
        if eps1 is None:
            eps1 = finfo(param.dtype).eps
        step_t += 1
        step = step_t.item()
        change = step**beta2_decay
        size = max(eps2, param.norm(2).item() / (param.numel() ** 0.5)) * min(rate, 1 / (step**0.5))
        if weight_decay != 0:
            param.mul_(1 - rate * weight_decay)
        if grad.dim() > 1:
            if row_var is None or col_var is None:
                raise AssertionError("row_var and col_var should be defined when grad is multidimensional")
            row_mean = grad.norm(dim=-1, keepdim=True).square_().div_(grad.size(-1))
            row_var.lerp_(row_mean, change)
            col_mean = grad.norm(dim=-2, keepdim=True).square_().div_(grad.size(-2))
            col_var.lerp_(col_mean, change)
            estimate = row_var @ col_var
            estimate.div_(row_var.mean(dim=-2, keepdim=True).clamp_(min=eps1))
        else:
            if variance is None:
                raise AssertionError("variance should be defined when grad is a vector")
            variance.lerp_(grad * grad, change)
            estimate = variance.clone()
        update = estimate.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        excess = max(1.0, update.norm(2).item() / ((update.numel() ** 0.5) * d))
        param.add_(update, alpha=-size / excess)
