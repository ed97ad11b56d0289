"""The identity whose node sees the gradients that go into a module or come out of it."""

from __future__ import annotations

from typing import Any

from retrograd._core import Tensor
from retrograd.autograd.function import Function


class BackwardHookFunction(Function):
    """Returns its tensors as they are, behind a node; under transforms too."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*args: Tensor) -> tuple[Tensor, ...]:
        """The same tensors."""
        return args

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        """Those that require no grad do not require it behind the node either."""
        ctx.mark_non_differentiable(*[out for t, out in zip(inputs, output, strict=True) if not t.requires_grad])

    @staticmethod
    def backward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        """The same gradients."""
        return args

    @staticmethod
    def jvp(ctx: Any, *args: Tensor | None) -> tuple[Tensor | None, ...]:
        """The same tangents, as views where the results are."""
        return tuple(t if t is None else t.view_as(t) for t in args)
