"""Containers of modules and parameters."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any


def run(torch: Any, say: Any) -> None:
    nn = torch.nn

    class A(nn.Module):
        def __init__(s, n=1):
            super().__init__()
            s.n = n
            s.w = nn.Parameter(torch.ones(n))

        def forward(s, x):
            return x * s.n

        def extra_repr(s):
            return f"n={s.n}\nsecond" if s.n == 3 else f"{s.n}"

    s = nn.Sequential(A(1), A(2), A(3))
    say(lambda: s)
    say(lambda: s(5))
    say(lambda: s[0])
    say(lambda: s[-1])
    say(lambda: s[1:])
    say(lambda: s[1:]._modules.keys())
    say(lambda: s[5])
    say(lambda: s["a"])
    say(lambda: s + s)
    say(lambda: s * 2)
    say(lambda: 2 * s)
    say(lambda: s * 0)
    say(lambda: s * 1.5)
    say(lambda: s + 3)
    t = nn.Sequential(OrderedDict(a=A(1), b=A(2)))
    say(lambda: t)
    say(lambda: t.a)
    say(lambda: t[0:1])

    def dele(x, i):
        del x[i]
        return x

    say(lambda: dele(t, 0))
    say(lambda: dele(t, slice(0, 1)))
    say(lambda: s.insert(1, A(9)))
    say(lambda: s.insert(-1, A(8)))
    say(lambda: s.insert(99, A(8)))
    say(lambda: s.insert(0, 3))
    say(lambda: s.pop(0))
    say(lambda: s.pop(slice(0, 2)))
    say(lambda: s)
    s += nn.Sequential(A(4))
    say(lambda: s)
    s *= 2
    say(lambda: s)
    say(lambda: s.extend([A(7)]))
    say(lambda: s.append(3))
    say(lambda: len(s))

    def sset(x, i, v):
        x[i] = v
        return x

    say(lambda: sset(s, 0, A(5)))
    say(lambda: sset(s, 50, A(5)))
    say(lambda: sset(s, 0, 5))
    layers = nn.ModuleList([A(1), A(1), A(2), A(3), A(3)])
    say(lambda: layers)
    say(lambda: layers[1:3])
    say(lambda: layers[-1])
    say(lambda: layers + [A(4)])  # noqa: RUF005  this adds
    say(lambda: layers.insert(1, A(7)))
    say(lambda: layers)
    say(lambda: dele(layers, slice(1, 3)))
    say(lambda: dele(layers, -1))
    say(lambda: layers.extend(3))
    say(lambda: layers.extend([3]))
    say(lambda: layers(3))
    say(lambda: list(layers.state_dict()))
    say(lambda: layers.pop(0))
    say(lambda: layers[9])
    say(lambda: nn.ModuleList())
    d = nn.ModuleDict({"b": A(1), "a": A(2)})
    say(lambda: d)
    say(lambda: d["a"])
    say(lambda: list(d))
    say(lambda: "a" in d)
    say(lambda: d.update([["x", A(3)]]))
    say(lambda: d)
    say(lambda: d.update([3]))
    say(lambda: d.update([[1, 2, 3]]))
    say(lambda: d.update(3))
    say(lambda: d["q"])
    say(lambda: d.pop("b"))
    say(lambda: d.items())
    say(lambda: d.keys())
    say(lambda: sset(d, "keys", A(1)))
    say(lambda: sset(d, "z", None))
    say(lambda: list(d.children()))
    p = nn.ParameterList([torch.ones(2, 3), nn.Parameter(torch.ones(1)), 3])
    say(lambda: p)
    say(lambda: p[0])
    say(lambda: p[1:])
    say(lambda: p.extend(3))
    say(lambda: p.extend(torch.ones(1)))
    say(lambda: p.append(torch.ones(4)))
    say(lambda: p(3))
    say(lambda: sset(p, 0, torch.zeros(1)))
    say(lambda: p[7])
    say(lambda: list(p.state_dict()))
    say(lambda: nn.ParameterList([torch.ones(1)]))
    q = nn.ParameterDict({"b": torch.ones(2, 3), "a": 3})
    say(lambda: q)
    say(lambda: list(q))
    say(lambda: q | nn.ParameterDict({"c": torch.ones(1)}))
    say(lambda: q.popitem())
    say(lambda: q)
    say(lambda: q[3])
    say(lambda: q.fromkeys("xy", torch.ones(1)))
    say(lambda: q.get("n"))
    say(lambda: q.setdefault("m", torch.ones(1)))
    say(lambda: q(1))
    say(lambda: q.update([1]))
    say(lambda: q.update(1))
    say(lambda: list(reversed(q)))
    say(lambda: q["zz"])
    say(lambda: q.copy())
    q.clear()
    say(lambda: q)
    say(lambda: q.popitem())
    say(lambda: nn.Container(a=A(1)))
