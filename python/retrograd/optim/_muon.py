"""Muon: steps along the nearest semi-orthogonal matrix to the momentum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim._groups import GroupOptimizer
from retrograd.optim.optimizer import ParamsT, _to_scalar

__all__ = ["Muon"]

EPS = 1e-7
DEFAULT_A = 3.4445
DEFAULT_B = -4.7750
DEFAULT_C = 2.0315
DEFAULT_NS_STEPS = 5


class Muon(GroupOptimizer):
    """Descend along the momentum with its singular values set to about 1; for matrices.

    The singular values come from `ns_steps` steps of a Newton-Schulz iteration in bfloat16, whose polynomial has the
    coefficients `ns_coefficients`.

    Args: `adjust_lr_fn` what the rate of a matrix of m by n is multiplied by: "original", or None, for
    `sqrt(max(1, m / n))`, and "match_rms_adamw" for `0.2 * sqrt(max(m, n))`.
    Raises: ValueError for options out of range, and for parameters that are no matrices.

    >>> x = rg.nn.Parameter(rg.eye(2))
    >>> optimizer = rg.optim.Muon([x], lr=0.5, weight_decay=0)
    >>> (x * rg.tensor([[3.0, 0.0], [0.0, 1.0]])).sum().backward()
    >>> optimizer.step()
    >>> x.diagonal()
    tensor([0.6250, 0.4336], grad_fn=<DiagonalBackward0>)
    """

    _counters = ()
    _complex_refusal = "Muon does not support complex parameters"

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (DEFAULT_A, DEFAULT_B, DEFAULT_C),
        eps: float = EPS,
        ns_steps: int = DEFAULT_NS_STEPS,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not momentum >= 0.0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn is not None and adjust_lr_fn not in ["original", "match_rms_adamw"]:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        grad: Any = p.grad
        return {"momentum_buffer": _core.zeros_like(grad, memory_format=_core.preserve_format)}

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        muon(
            params,
            grads,
            [state["momentum_buffer"] for state in states],
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            nesterov=group["nesterov"],
            ns_coefficients=group["ns_coefficients"],
            ns_steps=group["ns_steps"],
            eps=group["eps"],
            adjust_lr_fn=group["adjust_lr_fn"],
            has_complex=False,
        )


def muon(
    params: list[Tensor],
    grads: list[Tensor],
    muon_momentum_bufs: list[Tensor],
    *,
    foreach: bool | None = None,
    lr: float | Tensor,
    weight_decay: float,
    momentum: float,
    nesterov: bool,
    ns_coefficients: tuple[float, float, float],
    ns_steps: int,
    eps: float,
    adjust_lr_fn: str | None,
    has_complex: bool,
) -> None:
    """A step of `Muon` for lists of parameters, their gradients and their momentum buffers."""
    if foreach:
        raise RuntimeError("Foreach is not supported for Muon yet")
    if has_complex:
        raise ValueError("Complex parameters are not supported")
    rate: Any = _to_scalar(lr)
    for param, grad, buffer in zip(params, grads, muon_momentum_bufs, strict=True):
        if grad.ndim != 2:
            raise ValueError("Param gradient must be a 2D matrix")
        buffer.lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if nesterov else buffer
        update = _zeropower_via_newtonschulz(update, ns_coefficients, ns_steps, eps)
        param.mul_(1 - rate * weight_decay)
        param.add_(update, alpha=-_adjust_lr(rate, adjust_lr_fn, param.shape))


def _zeropower_via_newtonschulz(
    grad: Tensor, ns_coefficients: tuple[float, float, float], ns_steps: int, eps: float
) -> Tensor:
    """The matrix in bfloat16, with all its singular values near 1."""
    if ns_steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if grad.ndim != 2:
        raise ValueError("Input tensor gradient must be a 2D matrix")
    if len(ns_coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = ns_coefficients
    is_tall = grad.size(0) > grad.size(1)
    x = grad.bfloat16()
    if is_tall:
        x = x.T
    x.div_(x.norm().clamp(min=eps))  # so that no singular value is above 1
    for _ in range(ns_steps):
        gram = x @ x.T
        x = _core.addmm(x, _core.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if is_tall else x


def _adjust_lr(rate: Any, adjust_lr_fn: str | None, param_shape: Sequence[int]) -> Any:
    rows, columns = param_shape[:2]
    if adjust_lr_fn is None or adjust_lr_fn == "original":
        return rate * math.sqrt(max(1, rows / columns))
    if adjust_lr_fn == "match_rms_adamw":
        return rate * (0.2 * math.sqrt(max(rows, columns)))
    return rate
