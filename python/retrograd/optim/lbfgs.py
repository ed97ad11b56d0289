"""L-BFGS: steps along the gradient times an inverse Hessian that is estimated from the last steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd import _core
from retrograd._core import Tensor
from retrograd.optim._line_search import _cubic_interpolate, _strong_wolfe  # noqa: F401  programs import both
from retrograd.optim.optimizer import Optimizer, ParamsT, _get_value, _to_scalar

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Minimise a function that is the same in all iterations; `step` needs a closure, and calls it several times.

    Args: `max_iter` and `max_eval` the most iterations of a step and calls of the closure in it; a step ends also when
    no entry of the gradient is above `tolerance_grad`, or the parameters or the loss change by less than
    `tolerance_change`; `history_size` how many past steps are kept, each of which takes twice the memory of the
    parameters; `line_search_fn` "strong_wolfe", or None for steps of `lr`.
    Raises: ValueError for several groups of parameters.

    >>> x = rg.nn.Parameter(rg.tensor([-1.0, 2.0]))
    >>> optimizer = rg.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)
    ...     loss.backward()
    ...     return loss
    >>> losses = [optimizer.step(closure).item() for _ in range(3)]
    >>> losses[0], losses[2] < 1e-5
    (104.0, True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        params: list[Tensor] = self.param_groups[0]["params"]
        return params

    def _gather_flat_grad(self) -> Tensor:
        """The gradients of all parameters in one line; complex numbers are two real ones."""
        lines: list[Tensor] = []
        for p in self._params:
            grad: Any = p.grad
            if grad is None:
                grad = _core.zeros_like(p)
            elif grad.is_sparse:
                grad = grad.to_dense()
            line = grad.reshape(-1)
            lines.append(_core.view_as_real(line).reshape(-1) if line.is_complex() else line)
        return _core.cat(lines, 0)

    def _add_grad(self, step_size: Any, update: Tensor) -> None:
        """Move all parameters along `update`."""
        offset = 0
        for p in self._params:
            if p.is_complex():
                p = _core.view_as_real(p)
            p.add_(update[offset : offset + p.numel()].view_as(p), alpha=step_size)
            offset += p.numel()

    def _set_param(self, params_data: list[Tensor]) -> None:
        for p, value in zip(self._params, params_data, strict=True):
            p.copy_(value)

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # it must be given
        """Iterate; each iteration needs the loss and the gradients, often several times.

        Returns: the first loss.
        """
        with _core._Recording(False):
            return self._iterate(closure)

    def _iterate(self, closure: Callable[[], Any]) -> Any:
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")

        def recorded() -> Any:
            with _core._Recording(True):
                return closure()

        group = self.param_groups[0]
        lr = _to_scalar(group["lr"])
        max_iter, max_eval = group["max_iter"], group["max_eval"]
        tolerance_grad, tolerance_change = group["tolerance_grad"], group["tolerance_change"]
        line_search_fn, history_size = group["line_search_fn"], group["history_size"]

        # The state of the whole is under the first parameter.
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        first_loss = recorded()
        loss = float(_get_value(first_loss))
        evaluations = 1
        state["func_evals"] += 1
        flat_grad = self._gather_flat_grad()
        if flat_grad.abs().max() <= tolerance_grad:
            return first_loss

        d, t = state.get("d"), state.get("t")
        old_dirs, old_stps, ro = state.get("old_dirs"), state.get("old_stps"), state.get("ro")
        H_diag, prev_flat_grad, prev_loss = state.get("H_diag"), state.get("prev_flat_grad"), state.get("prev_loss")

        for n_iter in range(1, max_iter + 1):
            state["n_iter"] += 1
            is_first = state["n_iter"] == 1

            # The direction: minus the gradient, times the estimate of the inverse Hessian.
            if is_first:
                d = flat_grad.neg()
                old_dirs, old_stps, ro, H_diag = [], [], [], 1
            else:
                y = flat_grad.sub(prev_flat_grad)
                s = d.mul(t)
                ys = y.dot(s)
                if ys > 1e-10:
                    if len(old_dirs) == history_size:
                        for history in (old_dirs, old_stps, ro):
                            history.pop(0)
                    old_dirs.append(y)
                    old_stps.append(s)
                    ro.append(1.0 / ys)
                    H_diag = ys / y.dot(y)
                al = state.setdefault("al", [None] * history_size)
                q = flat_grad.neg()
                for i in range(len(old_dirs) - 1, -1, -1):
                    al[i] = old_stps[i].dot(q) * ro[i]
                    q.add_(old_dirs[i], alpha=-al[i])
                d = q.mul(H_diag)
                for i in range(len(old_dirs)):
                    be = old_dirs[i].dot(d) * ro[i]
                    d.add_(old_stps[i], alpha=al[i] - be)
            if prev_flat_grad is None:
                prev_flat_grad = flat_grad.clone(memory_format=_core.contiguous_format)
            else:
                prev_flat_grad.copy_(flat_grad)
            prev_loss = loss

            # How far to go.
            t = min(1.0, 1.0 / flat_grad.abs().sum()) * lr if is_first else lr
            slope = flat_grad.dot(d)
            if slope > -tolerance_change:
                break
            calls = 0
            is_flat: Any = False
            if line_search_fn is not None:
                if line_search_fn != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                before = [p.clone(memory_format=_core.contiguous_format) for p in self._params]

                def evaluate(x: list[Tensor], t: Any, d: Tensor) -> tuple[float, Tensor]:
                    self._add_grad(t, d)
                    loss = float(_get_value(recorded()))
                    grad = self._gather_flat_grad()
                    self._set_param(x)
                    return loss, grad

                loss, flat_grad, t, calls = _strong_wolfe(
                    evaluate, before, t, d, loss, flat_grad, slope, max_ls=max_eval - evaluations
                )
                self._add_grad(t, d)
                is_flat = flat_grad.abs().max() <= tolerance_grad
            else:
                self._add_grad(t, d)
                if n_iter != max_iter:  # what the last iteration would compute, the next step computes anew
                    loss = float(_get_value(recorded()))
                    flat_grad = self._gather_flat_grad()
                    is_flat = flat_grad.abs().max() <= tolerance_grad
                    calls = 1
            evaluations += calls
            state["func_evals"] += calls
            if (
                n_iter == max_iter
                or evaluations >= max_eval
                or is_flat
                or d.mul(t).abs().max() <= tolerance_change
                or abs(loss - prev_loss) < tolerance_change
            ):
                break

        state["d"] = d
        state["t"] = t
        state["old_dirs"] = old_dirs
        state["old_stps"] = old_stps
        state["ro"] = ro
        state["H_diag"] = H_diag
        state["prev_flat_grad"] = prev_flat_grad
        state["prev_loss"] = prev_loss
        return first_loss
