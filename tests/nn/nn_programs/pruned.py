"""Pruned parameters."""

# ruff: noqa: B023  what `say` is given is called at once

from __future__ import annotations

from typing import Any


def run(torch: Any, say: Any) -> None:
    nn = torch.nn
    U = nn.utils
    P = U.prune

    def show(t):
        return [round(v, 4) for v in t.detach().double().reshape(-1).tolist()]

    class Lin(nn.Module):
        def __init__(s, i=3, o=2, seed=0):
            super().__init__()
            torch.manual_seed(seed)
            s.weight = nn.Parameter(torch.randn(o, i))
            s.bias = nn.Parameter(torch.randn(o))

        def forward(s, x):
            return x @ s.weight.t() + s.bias

    for f in (
        lambda m: P.identity(m, "weight"),
        lambda m: P.l1_unstructured(m, "weight", 2),
        lambda m: P.l1_unstructured(m, "weight", 0.5),
        lambda m: P.random_unstructured(m, "weight", 2),
        lambda m: P.random_structured(m, "weight", 1, 0),
        lambda m: P.random_structured(m, "weight", 0.4, -1),
        lambda m: P.ln_structured(m, "weight", 1, 2, 0),
        lambda m: P.ln_structured(m, "weight", 1, float("inf"), 1),
        lambda m: P.custom_from_mask(m, "weight", torch.tensor([[1, 0, 1], [0, 1, 1]])),
        lambda m: P.l1_unstructured(m, "weight", 2, importance_scores=torch.arange(6.0).reshape(2, 3)),
        lambda m: P.ln_structured(m, "weight", 1, 2, 0, importance_scores=-torch.arange(6.0).reshape(2, 3)),
        lambda m: P.random_structured(m, "weight", 0, 0),
    ):

        def g():
            m = Lin()
            torch.manual_seed(3)
            f(m)
            a = (show(m.weight_mask), show(m.weight), list(m.state_dict()), P.is_pruned(m))
            m(torch.ones(3)).sum().backward()
            b = show(m.weight_orig.grad)
            P.l1_unstructured(m, "weight", 1)
            c = (show(m.weight_mask), type(next(iter(m._forward_pre_hooks.values()))).__name__)
            try:
                P.random_structured(m, "weight", 1, 1)
                c += (show(m.weight_mask),)
            except Exception as e:
                c += (str(e),)
            P.ln_structured(m, "weight", 1, 1, 0)
            c += (show(m.weight_mask),)
            P.remove(m, "weight")
            return (a, b, c, show(m.weight), list(m.state_dict()), P.is_pruned(m))

        say(g)
    for a in (-1, 1.5, "x", 7):
        say(lambda: P.l1_unstructured(Lin(), "weight", a))
    say(lambda: P.ln_structured(Lin(), "bias", 1, 2, 0))
    say(lambda: P.ln_structured(Lin(), "weight", 1, 2, 3))
    say(lambda: P.random_structured(Lin(), "weight", 5, 1))
    say(lambda: P.remove(Lin(), "weight"))
    say(lambda: P.custom_from_mask(Lin(), "weight", torch.ones(1)))
    say(lambda: P.l1_unstructured(Lin(), "weight", 1, importance_scores=torch.ones(1)))
    a, b = (Lin(), Lin(seed=2))
    P.global_unstructured([(a, "weight"), (b, "bias")], P.L1Unstructured, amount=4)
    say(lambda: (show(a.weight_mask), show(b.bias_mask)))
    P.global_unstructured([(a, "weight"), (b, "bias")], P.L1Unstructured, amount=2)
    say(lambda: (show(a.weight_mask), show(b.bias_mask)))
    say(lambda: P.global_unstructured(3, P.L1Unstructured, amount=2))
    say(lambda: P.global_unstructured([(a, "weight")], P.LnStructured, amount=2, n=2))
    say(lambda: P.global_unstructured([(a, "weight")], P.L1Unstructured, [], amount=2))
    m = Lin()
    say(lambda: (P.l1_unstructured(m, "weight", 100),))
    say(lambda: list(m.state_dict()))
