"""`Module`: members, state dicts, hooks, conversion."""

from __future__ import annotations

import copy
import pickle
from typing import Any


def run(torch: Any, say: Any) -> None:
    nn = torch.nn

    class L(nn.Module):
        def __init__(s):
            super().__init__()
            s.weight = nn.Parameter(torch.ones(2))
            s.bias = None
            s.register_parameter("b", None)
            s.register_buffer("m", torch.zeros(1))
            s.q = nn.Buffer(torch.ones(1), persistent=False)

        def forward(s, x):
            return s.weight * x

        def extra_repr(s):
            return "l"

    class N(nn.Module):
        def __init__(s):
            super().__init__()
            s.a = L()
            s.b = L()
            s.c = s.a

        def forward(s, x):
            return s.b(s.a(x))

    n = N()
    say(lambda: n)
    say(lambda: [k for k, _ in n.named_parameters()])
    say(lambda: [k for k, _ in n.named_parameters(remove_duplicate=False)])
    say(lambda: [k for k, _ in n.named_modules()])
    say(lambda: [k for k, _ in n.named_buffers()])
    sd = n.state_dict()
    say(lambda: (sd, sd._metadata))
    say(lambda: n.load_state_dict({"x": 1, "a.weight": torch.ones(3), "b.weight": 4}))
    say(lambda: n.load_state_dict({"x": 1}, strict=False))
    say(lambda: n.load_state_dict(sd))
    say(lambda: n.load_state_dict(3))
    say(lambda: setattr(n, "a", 3))
    say(lambda: setattr(n.a, "weight", torch.ones(1)))
    say(lambda: setattr(n.a, "m", 3))
    say(lambda: setattr(n.a, "weight", n.b))
    say(lambda: n.foo)
    say(lambda: n.get_submodule("a.x"))
    say(lambda: n.get_parameter("a.m"))
    say(lambda: n.get_buffer("a.weight"))
    say(lambda: n.register_buffer("x.y", None))
    say(lambda: n.register_parameter("weight", torch.ones(1)))
    say(lambda: n.add_module("", n))
    say(lambda: n.add_module("a.b", n))
    say(lambda: n.add_module("training", n))
    say(lambda: nn.Module(3))
    say(lambda: nn.Module(a=3))
    say(lambda: nn.Module()(3))
    say(lambda: n.register_parameter("w", nn.Parameter(torch.ones(2)) * 1))
    seen = []

    def h(name):

        def f(*a, **k):
            seen.append((name, [type(x).__name__ for x in a], a[1:]))

        return f

    n.register_forward_pre_hook(h("pre"))
    n.register_forward_hook(h("fwd"))
    n.a.register_full_backward_hook(h("bw"))
    n.b.register_full_backward_pre_hook(h("bpre"))
    n.register_forward_hook(h("kw"), with_kwargs=True, prepend=True)
    x = torch.ones(2, requires_grad=True)
    n(x).sum().backward()
    say(lambda: x.grad)
    say(lambda: seen)
    m = copy.deepcopy(L())
    say(lambda: m.weight)
    m.foo = 3
    say(lambda: n.double().a.weight.dtype)
    say(lambda: n.a.weight.grad.dtype)

    def old_hook():
        layer = L()
        layer.register_backward_hook(h("old"))
        layer(x * 1).sum().backward()

    def full_hook():
        layer = L()
        layer.register_full_backward_hook(h("full"))
        layer(torch.ones(2)).sum().backward()

    say(old_hook)
    say(full_hook)
    layer = L()
    say(lambda: L().to(torch.int64))
    say(lambda: L().to("cpu", torch.float64, True).weight.dtype)
    say(lambda: L().to(torch.ones(1, dtype=torch.float64)).weight.dtype)
    say(lambda: L().to(dtype=torch.float16, device="cpu").weight.dtype)
    say(lambda: nn.UninitializedParameter().shape)
    say(lambda: nn.UninitializedBuffer())
    say(lambda: pickle.loads(pickle.dumps(nn.UninitializedParameter())))
    say(lambda: isinstance(nn.Buffer(torch.ones(1)), nn.Buffer))
    say(lambda: isinstance(torch.ones(1), nn.Parameter))
    say(lambda: layer.train(3))
    say(lambda: layer.eval().training)
