"""Scaling of losses, so that gradients in half precision do not become zero."""

from __future__ import annotations

import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, TypeAlias, cast

from retrograd import _core
from retrograd._core import Tensor
from retrograd.autograd.grad_mode import no_grad

__all__ = ["GradScaler", "OptState"]

# Has `param_groups`, a list of dicts whose "params" are tensors, and `step`.
_Optimizer: TypeAlias = Any


class OptState(Enum):
    """What a scaler has done for an optimizer since the last `update`.

    >>> from retrograd.amp.grad_scaler import OptState
    >>> OptState(0)
    <OptState.READY: 0>
    """

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _fresh_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Multiplies losses by a scale that adapts itself, and divides gradients by it before a step of an optimizer.

    Small gradients, which float16 has no room for, become larger on their way through backward. Gradients that are
    infinite or NaN make `step` skip the optimizer's step, and `update` take a smaller scale. After `growth_interval`
    steps without such the scale grows.

    An optimizer is any object with `param_groups`, dicts whose "params" are tensors, and `step`.

    Args: `device` "cpu"; for "cuda" the scaler is not enabled, and warns. `init_scale` the first scale;
    `growth_factor`, more than 1, and `backoff_factor`, less than 1, what it is multiplied by; `enabled` False makes
    all methods do nothing, but for `step`, which does that of the optimizer.
    Raises: AssertionError for factors on the wrong side of 1.

    >>> class SGD:
    ...     def __init__(self, params):
    ...         self.param_groups = [{"params": params}]
    ...     def step(self):
    ...         with rg.no_grad():
    ...             for p in self.param_groups[0]["params"]:
    ...                 p -= 0.5 * p.grad
    >>> weight = rg.ones(2, requires_grad=True)
    >>> optimizer, scaler = SGD([weight]), rg.amp.GradScaler("cpu", init_scale=1024.0)
    >>> scaler.scale(weight.sum()).backward()
    >>> weight.grad
    tensor([1024., 1024.])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> weight
    tensor([0.5000, 0.5000], requires_grad=True)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda":
            text = "retrograd.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
            warnings.warn(text, stacklevel=2)
            self._enabled = False
        if not self._enabled:
            return
        assert growth_factor > 1.0, "The growth factor must be > 1.0."
        assert backoff_factor < 1.0, "The backoff factor must be < 1.0."
        self._init_scale = init_scale
        self._scale: Tensor | None = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker: Tensor | None = None
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_fresh_state)

    def _begun(self, method: str) -> tuple[Tensor, Tensor]:
        assert self._scale is not None and self._growth_tracker is not None, (
            f"Attempted {method} but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
            "outputs) earlier in the iteration."
        )
        return self._scale, self._growth_tracker

    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or all in an iterable, by the scale.

        Returns: the products, in a list or tuple if they were given in one.
        Raises: ValueError for anything else.

        >>> scaler = rg.amp.GradScaler("cpu", init_scale=4.0)
        >>> scaler.scale([rg.ones(1), rg.ones(2)])
        [tensor([4.]), tensor([4., 4.])]
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = _core.tensor(self._init_scale, dtype=_core.float32)
                self._growth_tracker = _core.tensor(self._init_growth_tracker, dtype=_core.int32)
            return outputs * self._scale
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, list | tuple) else scaled

    def unscale_(self, optimizer: _Optimizer) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, in place: to clip them, for example.

        At most once for each step; `step` does it otherwise.

        Raises: RuntimeError if it was done since the last `update`, or after `step`; ValueError for gradients in
        float16, as parameters have to be in float32; AssertionError if nothing was scaled.

        >>> class Optimizer:
        ...     param_groups = [{"params": [rg.ones(1, requires_grad=True)]}]
        >>> weight = Optimizer.param_groups[0]["params"][0]
        >>> scaler = rg.amp.GradScaler("cpu")
        >>> scaler.scale(weight * 3).backward()
        >>> scaler.unscale_(Optimizer)
        >>> weight.grad
        tensor([3.])
        """
        if not self._enabled:
            return
        scale, _ = self._begun("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        # The reciprocal of a small number is exact to the last place this way.
        inverse = scale.double().reciprocal().float()
        state["found_inf_per_device"] = _unscale_gradients(optimizer, inverse, halves=False)
        state["stage"] = OptState.UNSCALED

    def step(self, optimizer: _Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Divide the gradients by the scale, if `unscale_` did not, and do the optimizer's step if they are finite.

        An optimizer with a true attribute `_step_supports_amp_scaling` gets its gradients as they are. It finds the
        scale, or None, as its attribute `grad_scale` during the step, and as `found_inf` whether it has to skip it.

        Args: `args` and `kwargs` are those of `optimizer.step`; a closure is refused.
        Returns: what the optimizer's step returns; None if it was skipped.
        Raises: RuntimeError if it was done since the last `update`; AssertionError if nothing was scaled, or no
        parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        scale, _ = self._begun("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_of_its_own(optimizer, scale, state, args, kwargs)
        else:
            if state["stage"] is OptState.READY:
                self.unscale_(optimizer)
            found = state["found_inf_per_device"]
            assert len(found) > 0, "No inf checks were recorded for this optimizer."
            result = None if any(f.item() for f in found.values()) else optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _step_of_its_own(
        self, optimizer: _Optimizer, scale: Tensor, state: dict[str, Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(
                "GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. In the near "
                "future GradScaler registers `grad_scale: Tensor` and `found_inf: Tensor` to the passed optimizer and "
                "let the optimizer use them directly.",
                FutureWarning,
                stacklevel=3,
            )
            return optimizer.step(*args, **kwargs, grad_scaler=self)
        is_ready = state["stage"] is OptState.READY
        if is_ready:
            self._check_inf_per_device(optimizer)
        optimizer.grad_scale = scale if is_ready else None
        optimizer.found_inf = sum(state["found_inf_per_device"].values(), _core.zeros(()))
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale, optimizer.found_inf

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Make the scale smaller if an infinite gradient was found since the last call, or larger if none was for long.

        To be called once at the end of each iteration, after the `step` of every optimizer.

        Args: `new_scale` the scale to take instead, a number or a tensor with one element.
        Raises: AssertionError if no gradients were looked at, or for another tensor.

        >>> scaler = rg.amp.GradScaler("cpu")
        >>> _ = scaler.scale(rg.ones(1))
        >>> scaler.update(8.0)
        >>> scaler.get_scale()
        8.0
        """
        if not self._enabled:
            return
        scale, tracker = self._begun("update")
        if new_scale is None:
            found = [f for state in self._per_optimizer_states.values() for f in state["found_inf_per_device"].values()]
            assert len(found) > 0, "No inf checks were recorded prior to update."
            _amp_update_scale_(
                scale, tracker, sum(found), self._growth_factor, self._backoff_factor, self._growth_interval
            )
        elif isinstance(new_scale, Tensor):
            wrong = (
                "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
                "requires_grad=False."
            )
            assert new_scale.numel() == 1 and not new_scale.requires_grad, wrong
            scale.copy_(new_scale.reshape(()))
        else:
            scale.fill_(new_scale)
        self._per_optimizer_states = defaultdict(_fresh_state)

    def get_scale(self) -> float:
        """The scale; 1.0 if the scaler is not enabled.

        >>> rg.amp.GradScaler("cpu").get_scale()
        65536.0
        """
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else cast(float, self._scale.item())

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by to grow.

        >>> rg.amp.GradScaler("cpu").get_growth_factor()
        2.0
        """
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by to grow.

        >>> rg.amp.GradScaler("cpu").set_growth_factor(1.5)
        """
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after an infinite gradient.

        >>> rg.amp.GradScaler("cpu").get_backoff_factor()
        0.5
        """
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by after an infinite gradient.

        >>> rg.amp.GradScaler("cpu").set_backoff_factor(0.25)
        """
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps without infinite gradients the scale grows.

        >>> rg.amp.GradScaler("cpu").get_growth_interval()
        2000
        """
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many steps without infinite gradients the scale grows.

        >>> rg.amp.GradScaler("cpu").set_growth_interval(100)
        """
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether the scaler does anything.

        >>> rg.amp.GradScaler("cpu", enabled=False).is_enabled()
        False
        """
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """What a scaler needs to go on where this one is; empty if it is not enabled.

        Call it after `update`.

        >>> rg.amp.GradScaler("cpu").state_dict()["scale"]
        65536.0
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the scaler was whose `state_dict` is given.

        Raises: RuntimeError if that was not enabled, and this one is.

        >>> scaler = rg.amp.GradScaler("cpu")
        >>> scaler.load_state_dict(rg.amp.GradScaler("cpu", init_scale=2.0).state_dict())
        >>> scaler.get_scale()
        2.0
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = cast(float, state_dict["scale"])
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = cast(float, state_dict["growth_factor"])
        self._backoff_factor = cast(float, state_dict["backoff_factor"])
        self._growth_interval = cast(int, state_dict["growth_interval"])
        self._init_growth_tracker = cast(int, state_dict["_growth_tracker"])
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else cast(int, self._growth_tracker.item())

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def _check_inf_per_device(self, optimizer: _Optimizer) -> dict[str, Any]:
        found = _unscale_gradients(optimizer, _core.ones(()), halves=True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer: _Optimizer) -> dict[str, Any]:
        return cast(dict[str, Any], self._per_optimizer_states[id(optimizer)]["found_inf_per_device"])

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            assert len(self._per_optimizer_states) == 0, (
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
                "scaler.update()."
            )
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _unscale_gradients(optimizer: _Optimizer, inverse: Tensor, *, halves: bool) -> dict[Any, Tensor]:
    """Multiply the gradients in place. Returns whether one was not finite, if there is any."""
    grads = []
    for group in optimizer.param_groups:
        for param in group["params"]:
            assert isinstance(param, Tensor)
            if param.grad is None:
                continue
            if not halves and param.grad.dtype == _core.float16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            grads.append(param.grad)
    if not grads:
        return {}
    found = _core.zeros(())
    _amp_foreach_non_finite_check_and_unscale_(grads, found, inverse)
    return {found.device: found}


def _amp_foreach_non_finite_check_and_unscale_(self: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor) -> None:
    """Multiply tensors by `inv_scale` in place, and set `found_inf` to 1 if one of them has an element that is infinite
    or NaN.

    Raises: RuntimeError unless `found_inf` and `inv_scale` have one element, in float32; NotImplementedError for
    tensors of integers or complex numbers.

    >>> grads, found = [rg.tensor([2.0]), rg.tensor([rg.inf])], rg.zeros(1)
    >>> rg._amp_foreach_non_finite_check_and_unscale_(grads, found, rg.tensor([0.5]))
    >>> grads, found
    ([tensor([1.]), tensor([inf])], tensor([1.]))
    """
    for name, t in (("inv_scale", inv_scale), ("found_inf", found_inf)):
        if t.numel() != 1:
            raise RuntimeError(f"{name} must be a 1-element tensor.")
        if t.dtype != _core.float32:
            raise RuntimeError(f"{name} must be a float tensor.")
    factor = inv_scale.item()
    with no_grad():
        for t in self:
            if not t.is_floating_point():
                name = "_amp_foreach_non_finite_check_and_unscale_cpu"
                raise NotImplementedError(f"\"{name}\" not implemented for '{t.dtype}'")
            # Zero times anything that is not finite is NaN, and makes the sum one.
            if (t * 0.0).sum().item() != 0.0:
                found_inf.fill_(1.0)
            if factor != 1.0:
                t.mul_(factor)


def _amp_update_scale_(
    self: Tensor,
    growth_tracker: Tensor,
    found_inf: Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> Tensor:
    """Let a scale grow or shrink in place, and count in `growth_tracker` the steps since it did.

    Returns: the scale. Raises: RuntimeError unless all tensors have one element, the scale and `found_inf` in float32
    and `growth_tracker` in int32.

    >>> rg._amp_update_scale_(rg.tensor([4.0]), rg.zeros(1, dtype=rg.int32), rg.ones(1), 2.0, 0.5, 2000)
    tensor([2.])
    """
    for name, t in (("growth_tracker", growth_tracker), ("current_scale", self), ("found_inf", found_inf)):
        if t.numel() != 1:
            raise RuntimeError(f"{name} must be a 1-element tensor.")
        if name == "growth_tracker" and t.dtype != _core.int32:
            raise RuntimeError("growth_tracker must be an int tensor.")
        if name != "growth_tracker" and t.dtype != _core.float32:
            raise RuntimeError(f"{name} must be a float tensor.")
    with no_grad():
        if found_inf.item():
            self.mul_(scale_backoff_factor)
            growth_tracker.fill_(0)
            return self
        successes = int(growth_tracker.item()) + 1
        if successes == growth_interval:
            grown = self * scale_growth_factor
            if _core.isfinite(grown).all():
                self.copy_(grown)
            successes = 0
        growth_tracker.fill_(successes)
    return self
