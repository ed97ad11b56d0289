"""Gradients clipped, and parameters as one vector."""

# ruff: noqa: B023  what `say` is given is called at once

from __future__ import annotations

from typing import Any


def run(torch: Any, say: Any) -> None:
    nn = torch.nn
    U = nn.utils

    def show(t):
        return [round(v, 4) for v in t.detach().double().reshape(-1).tolist()]

    def params(dt=torch.float32):
        torch.manual_seed(1)
        ps = [
            nn.Parameter(torch.randn(3, 2, dtype=dt)),
            nn.Parameter(torch.randn(4, dtype=dt)),
            nn.Parameter(torch.randn(1)),
        ]
        for p in ps[:2]:
            p.grad = torch.randn(*p.shape, dtype=dt)
        return ps

    for nt in (2.0, 1, float("inf"), 0.5):
        ps = params()
        say(lambda: (U.clip_grad_norm_(ps, 0.7, nt), [show(p.grad) for p in ps[:2]]))
    ps = params()
    say(lambda: U.clip_grad_norm_(ps, 100.0))
    say(lambda: [show(p.grad) for p in ps[:2]])
    say(lambda: U.clip_grad_norm_([], 1))
    say(lambda: U.clip_grad_norm_(ps[2], 1))
    say(lambda: U.clip_grad_norm_((p for p in ps), 1, foreach=True))
    say(lambda: U.clip_grad_value_(ps, 0.3))
    say(lambda: [show(p.grad) for p in ps[:2]])
    ps[0].grad[0, 0] = float("nan")
    say(lambda: U.clip_grad_norm_(ps, 1, error_if_nonfinite=True))
    say(lambda: U.clip_grad_norm_(ps, 1))
    say(lambda: U.get_total_norm([torch.ones(3), torch.ones(2)]))
    say(lambda: U.get_total_norm([]))
    say(lambda: U.get_total_norm(torch.ones(3)))
    say(lambda: U.clip_grad_norm(ps, 1))
    say(lambda: U.clip_grad_norm_((i for i in ()), 1))
    v = U.parameters_to_vector(ps)
    say(lambda: v.shape)
    U.vector_to_parameters(torch.arange(11.0), ps)
    say(lambda: ps[1])
    say(lambda: U.vector_to_parameters([1], ps))
