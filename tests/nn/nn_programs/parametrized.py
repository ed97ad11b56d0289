"""Parametrizations of tensors."""

from __future__ import annotations

import copy
import pickle
from typing import Any


def run(torch: Any, say: Any) -> None:
    nn = torch.nn
    U = nn.utils
    Z = U.parametrize

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

    class Sq(nn.Module):
        def forward(s, x):
            return x * x

        def right_inverse(s, y):
            return y.sqrt()

    class Add(nn.Module):
        def forward(s, x):
            return x + 1

    class Two(nn.Module):
        def forward(s, a, b):
            return a + b

        def right_inverse(s, y):
            return (y / 2, y / 2)

    class Bad(nn.Module):
        def forward(s, x):
            return x.sum()

    class BadT(nn.Module):
        def forward(s, x):
            return x.double()

    class Inv(nn.Module):
        def __init__(s, r):
            super().__init__()
            s.r = r

        def forward(s, x):
            return x

        def right_inverse(s, y):
            return s.r

    m = Lin()
    Z.register_parametrization(m, "bias", Add())
    say(lambda: m)
    Z.register_parametrization(m, "bias", Sq())
    say(
        lambda: (
            show(m.bias),
            Z.is_parametrized(m),
            Z.is_parametrized(m, "bias"),
            Z.is_parametrized(m, "weight"),
            type(m).__name__,
            Z.type_before_parametrizations(m).__name__,
            list(m.state_dict()),
        )
    )
    say(lambda: setattr(m, "bias", torch.ones(2)))
    say(lambda: pickle.dumps(m))
    c = copy.deepcopy(m)
    say(lambda: (c, show(c.bias)))
    with Z.cached():
        say(lambda: m.bias is m.bias)
    say(lambda: m.bias is m.bias)
    say(lambda: Z.register_parametrization(m, "q", Add()))
    say(lambda: Z.register_parametrization(Lin(), "bias", Bad()))
    say(lambda: Z.register_parametrization(Lin(), "bias", BadT()))
    say(lambda: Z.register_parametrization(m, "bias", Bad()))
    say(lambda: Z.register_parametrization(m, "bias", BadT()))
    say(lambda: Z.register_parametrization(m, "bias", Inv(3)))
    say(lambda: Z.register_parametrization(m, "bias", Inv(torch.ones(2).double())))
    say(lambda: Z.register_parametrization(m, "bias", Inv(torch.ones(3))))
    say(lambda: Z.register_parametrization(Lin(), "bias", Inv(3)))
    say(lambda: Z.register_parametrization(Lin(), "bias", Inv([3])))
    say(lambda: Z.register_parametrization(Lin(), "bias", Inv(torch.ones(2).double())))
    say(lambda: Z.remove_parametrizations(m, "bias"))
    say(lambda: (show(m.bias), type(m).__name__, list(m.state_dict())))
    say(lambda: Z.remove_parametrizations(m, "bias"))
    m = Lin()
    Z.register_parametrization(m, "bias", Two())
    say(lambda: (m, list(m.state_dict()), show(m.bias)))
    say(lambda: setattr(m, "bias", torch.ones(2)))
    say(lambda: show(m.bias))
    say(lambda: Z.remove_parametrizations(m, "bias", leave_parametrized=False))
    k = Lin(seed=9)
    Z.transfer_parametrizations_and_params(m, k)
    say(lambda: (k, show(k.bias)))
    say(lambda: Z.remove_parametrizations(m, "bias"))
    say(lambda: m.bias)
    say(lambda: Z.ParametrizationList([], torch.ones(1)))
    m = Lin()
    Z.register_parametrization(m, "bias", Add())
    say(lambda: Z.remove_parametrizations(m, "bias", leave_parametrized=False).bias)
