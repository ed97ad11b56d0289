"""`Variable`: the old name of a tensor that may require grad. Every tensor is one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from retrograd import _core
from retrograd._core import Tensor

__all__ = ["Variable", "VariableMeta"]


class VariableMeta(type):
    """Makes every tensor an instance of `Variable`.

    >>> isinstance(rg.ones(1), rg.autograd.Variable)
    True
    """

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class _Engine:
    """What `Variable._execution_engine` offers."""

    @staticmethod
    def queue_callback(callback: Callable[[], object]) -> None:
        """Run `callback()` when the backward pass under way on this thread ends.

        Raises: RuntimeError outside a backward pass.

        >>> x = rg.ones(1, requires_grad=True)
        >>> at_end = lambda: print("done", x.grad.item())
        >>> y = x * 2
        >>> handle = y.register_hook(lambda g: rg.autograd.Variable._execution_engine.queue_callback(at_end))
        >>> y.backward()
        done 2.0
        """
        _core._queue_callback(callback)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """Whether reentrant checkpointing may be used here: not in a pass with chosen inputs, or inside one.

        >>> rg.autograd.Variable._execution_engine.is_checkpoint_valid()
        True
        """
        return _core._is_checkpoint_valid()

    @staticmethod
    def run_backward(
        tensors: Sequence[Any],
        grad_tensors: Sequence[Tensor | None],
        keep_graph: bool,
        create_graph: bool,
        inputs: Sequence[Any] | None = None,
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> tuple[Tensor | None, ...]:
        """Run a pass from `tensors` with their gradients: what `backward` and `grad` do once they have read their
        arguments. Without `inputs`, or with `accumulate_grad`, gradients go into `.grad`, and the result is empty.

        >>> x = rg.ones(2, requires_grad=True)
        >>> engine = rg.autograd.Variable._execution_engine
        >>> engine.run_backward((x.exp().sum(),), (rg.tensor(1.0),), False, False, (x,))
        (tensor([2.7183, 2.7183]),)
        """
        roots, grads = tuple(tensors), tuple(grad_tensors)
        targets = tuple(inputs or ())
        if accumulate_grad or not targets:
            _core._backward(roots, grads, keep_graph, create_graph, targets or None)
            return ()
        return _core._grad(roots, grads, keep_graph, create_graph, targets, allow_unreachable)


class Variable(metaclass=VariableMeta):
    """A plain tensor over the memory of another, without its history. Kept for old programs; use the tensor itself.

    Args: `data` a tensor; none for an empty one. `requires_grad` whether the new tensor does. `volatile` did what
    `no_grad` does, and warns.
    Raises: TypeError for what is no tensor; ValueError for both flags; RuntimeError if `requires_grad` is
    requested of a dtype that is neither floating point nor complex.

    >>> v = rg.autograd.Variable(rg.ones(2), requires_grad=True)
    >>> type(v) is rg.Tensor and v.requires_grad and isinstance(rg.ones(1), rg.autograd.Variable)
    True
    """

    _execution_engine = _Engine()

    def __new__(  # type: ignore[misc]
        cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool = False
    ) -> Tensor:
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with retrograd.no_grad():` instead.", stacklevel=2
            )
            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if data is not None and not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        plain = Tensor() if data is None else data.detach()
        return plain.requires_grad_(requires_grad) if requires_grad else plain
