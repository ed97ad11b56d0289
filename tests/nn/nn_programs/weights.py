"""Weights normalized, divided by their singular value, orthogonal."""

# ruff: noqa: B023  what `say` is given is called at once

from __future__ import annotations

from typing import Any


def run(torch: Any, say: Any) -> None:
    nn = torch.nn
    U = nn.utils
    PZ = U.parametrizations

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

    def said(f):
        made = []
        say(lambda: made.append(f()))
        return made[0]

    for dim in (0, 1, None, -1):
        m = said(lambda: U.weight_norm(Lin(), dim=dim))
        say(lambda: (show(m.weight_g), m.weight_g.shape, show(m.weight), list(m.state_dict())))
        m(torch.ones(3)).sum().backward()
        say(lambda: (show(m.weight_g.grad), show(m.weight_v.grad)))
        if dim == 0:
            say(lambda: U.weight_norm(m))
        U.remove_weight_norm(m)
        say(lambda: (show(m.weight), list(m.state_dict())))
        say(lambda: U.remove_weight_norm(m))
    for dim in (0, 1, None):
        m = PZ.weight_norm(Lin(), dim=dim)
        say(lambda: (m, show(m.weight), list(m.state_dict())))
        m(torch.ones(3)).sum().backward()
        say(lambda: [show(p.grad) for p in m.parameters()])
        m.weight = torch.arange(6.0).reshape(2, 3) + 1
        say(lambda: (show(m.weight), show(m.parametrizations.weight.original0)))
        n = PZ.weight_norm(Lin(seed=3), dim=dim)
        say(
            lambda: n.load_state_dict(
                {
                    "bias": torch.ones(2),
                    "weight_g": m.parametrizations.weight.original0,
                    "weight_v": m.parametrizations.weight.original1,
                }
            )
        )
        say(lambda: show(n.weight))
    m = U.spectral_norm(Lin())
    say(lambda: (list(m.state_dict()), m.state_dict()._metadata, show(m.weight_u), show(m.weight_v)))
    y = m(torch.ones(3))
    y = m(torch.ones(3))
    say(lambda: show(y))
    y.sum().backward()
    say(lambda: show(m.weight_orig.grad))
    m.eval()
    say(lambda: show(m(torch.ones(3))))
    say(lambda: U.spectral_norm(m))
    sd = m.state_dict()
    n = U.spectral_norm(Lin(seed=4))
    say(lambda: n.load_state_dict(sd))
    n.eval()
    say(lambda: show(n(torch.ones(3))))
    old = {k: v for k, v in sd.items() if not k.endswith("_v")}
    old["weight"] = m.weight.detach().clone()
    say(lambda: n.load_state_dict(old))
    say(lambda: n.load_state_dict({"bias": torch.ones(2)}))
    U.remove_spectral_norm(m)
    say(lambda: (list(m.state_dict()), show(m.weight)))
    say(lambda: U.remove_spectral_norm(m))
    say(lambda: U.spectral_norm(Lin(), n_power_iterations=0))
    say(lambda: U.spectral_norm(Lin(), "foo"))
    m = PZ.spectral_norm(Lin(), dim=1)
    say(lambda: m)
    say(lambda: (show(m.weight), list(m.state_dict())))
    m.train()
    y = m(torch.ones(3))
    y = m(torch.ones(3))
    y.sum().backward()
    say(lambda: (show(y), show(m.parametrizations.weight.original.grad)))
    say(lambda: PZ.spectral_norm(Lin(), dim=5))
    say(lambda: PZ.spectral_norm(Lin(), "q"))
    say(lambda: PZ.spectral_norm(Lin(), n_power_iterations=0))
    m = PZ.spectral_norm(Lin(), "bias")
    say(lambda: show(m.bias))
    for mp in ("matrix_exp", "cayley", "householder"):
        for triv in (True, False) if mp != "householder" else (True,):
            for sh in ((3, 3), (2, 3), (3, 2)):

                def f():
                    torch.manual_seed(5)
                    m = Lin(sh[1], sh[0])
                    PZ.orthogonal(m, orthogonal_map=mp, use_trivialization=triv)
                    a = show(m.weight)
                    (m.weight * torch.arange(float(sh[0] * sh[1])).reshape(sh)).sum().backward()
                    g = show(m.parametrizations.weight.original.grad)
                    try:
                        m.weight = torch.eye(*sh)
                        b = show(m.weight)
                    except Exception as e:
                        b = str(e)
                    return (mp, triv, sh, a, g, b, list(m.state_dict()))

                say(f)
    say(lambda: PZ.orthogonal(Lin(), "bias"))
    say(lambda: PZ.orthogonal(Lin(), "q"))
    say(lambda: PZ.orthogonal(Lin(), orthogonal_map="q"))
