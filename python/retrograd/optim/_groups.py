"""Optimizers whose step is one call of a function for each group, and what these functions share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim.optimizer import Optimizer, _get_scalar_dtype

_CAPTURABLE = ["cuda", "xpu", "hpu", "privateuseone", "xla"]
_FUSED = ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


class GroupOptimizer(Optimizer):
    """An optimizer that says how the state of a parameter begins, and how parameters with gradients are updated.

    Subclasses write `_fresh_state` and `_update`.
    """

    # Options that groups of old checkpoints lack, with what they are then.
    _added_options: ClassVar[dict[str, Any]] = {}
    # The numbers in a state that are tensors, and were none in old checkpoints.
    _counters: ClassVar[tuple[str, ...]] = ("step",)
    # What is said of sparse gradients, or None if they are taken.
    _sparse_refusal: ClassVar[str | None] = "{} does not support sparse gradients"
    _complex_refusal: ClassVar[str | None] = None
    # Whether gradients that are not sparse are taken.
    _takes_dense: ClassVar[bool] = True
    # The step of the core that compiled functions replay with the numbers that a group has then: "sgd" or "adam".
    _recorded_as: ClassVar[str | None] = None

    def _fresh_state(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """The state of a parameter before its first step."""
        raise NotImplementedError

    def _update(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]]
    ) -> None:
        """Update the parameters of a group that have gradients."""
        raise NotImplementedError

    def _state_of(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = self.state[p]
        if not state:
            state.update(self._fresh_state(p, group))
        return state

    def _has_state(self, group: dict[str, Any]) -> bool:
        """Whether parameters of the group have a state."""
        return True

    def _gather(self, group: dict[str, Any]) -> tuple[list[Tensor], list[Tensor], list[dict[str, Any]]]:
        """The parameters that have gradients, with these and their states, which begin here; or what is wrong."""
        fused = group.get("fused")
        params, grads, states = [], [], []
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if self._complex_refusal is not None and p.is_complex():
                raise RuntimeError(self._complex_refusal)
            if self._sparse_refusal is not None and grad.is_sparse:
                raise RuntimeError(self._sparse_refusal.format(type(self).__name__))
            if fused and not p.is_floating_point():
                _refuse_fused(p)
            params.append(p)
            grads.append(grad)
            if self._has_state(group):
                states.append(self._state_of(p, group))
        return params, grads, states

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters that have gradients.

        Args: `closure` computes the loss and the gradients anew.
        Returns: what `closure` returned.
        """
        with _core._Recording(self.defaults.get("differentiable", False)):
            loss = None
            if closure is not None:
                with _core._Recording(True):
                    loss = closure()
            for group in self.param_groups:
                gathered = None
                if self._takes_dense:
                    gathered = _core._gather(group["params"], self.state if self._has_state(group) else None)
                if _core._is_recording() and self._recorded_as is not None:
                    _core._record_group(group, self._recorded_as == "adam", group.get("decoupled_weight_decay", False))
                self._update(group, *(gathered or self._gather(group)))
            if _core._is_recording():
                _core._record_group(None)
        return loss

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self._added_options.items():
                group.setdefault(name, value)
            dtype = _get_scalar_dtype(group.get("fused"))
            for p in group["params"]:
                known = self.state.get(p, {})
                for name in self._counters if known else ():
                    if not isinstance(known[name], Tensor):
                        known[name] = _core.tensor(float(known[name]), dtype=dtype)


def _refuse_fused(p: Tensor) -> NoReturn:
    raise RuntimeError(
        "`fused=True` requires all the params to be floating point Tensors of "
        f"supported devices: {_FUSED} but {p.dtype} and {p.device.type}"
    )


# ---- checks of options


def check_number(name: str, value: Any) -> None:
    """Refuse a negative option."""
    if not value >= 0.0:
        raise ValueError(f"Invalid {name}: {value}")


def check_lr(lr: Any) -> None:
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_number("learning rate", lr)


def check_betas(betas: Any) -> None:
    for i in range(2):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


# ---- what the functions of lists share


def check_counts(counts: list[Any], name: str = "state_steps") -> None:
    if not all(isinstance(t, Tensor) for t in counts):
        raise RuntimeError(f"API has changed, `{name}` argument must contain a list of singleton tensors")


def check_modes(
    params: list[Tensor],
    foreach: bool | None,
    differentiable: bool,
    capturable: bool = False,
    on_device: str = "params and state_steps",
) -> None:
    """Refuse what torch refuses on the CPU; `foreach` means no other results here, and is allowed where it is there."""
    if params and foreach and differentiable:
        raise AssertionError("_foreach ops don't support autograd")
    if params and capturable:
        raise AssertionError(f"If capturable=True, {on_device} must be on supported devices: {_CAPTURABLE}.")


def unscaled(grads: list[Tensor], fused: bool | None, grad_scale: Tensor | None, found_inf: Tensor | None) -> bool:
    """Divide the gradients by the scale of a `GradScaler`; False if they are infinite, and the step must not be."""
    if grad_scale is None and found_inf is None:
        return True
    if not fused:
        raise AssertionError("Expected grad_scale and found_inf to be None")
    if found_inf is not None and found_inf.item():
        return False
    if grad_scale is not None:
        for grad in grads:
            grad.div_(grad_scale)
    return True


def direction(param: Tensor, grad: Tensor, maximize: bool, weight_decay: Any) -> Tensor:
    """The gradient to descend along, with that of the weight decay."""
    if maximize:
        grad = -grad
    return grad.add(param, alpha=weight_decay) if weight_decay != 0 else grad


def kept(state: Tensor, differentiable: bool) -> Tensor:
    """A state as an op may save it: later steps write to the state itself."""
    return state.clone() if differentiable else state


def plus(x: Tensor, eps: float, differentiable: bool) -> Tensor:
    """`x + eps`, in the memory of `x` unless autograd may need that."""
    return x.add(eps) if differentiable else x.add_(eps)
