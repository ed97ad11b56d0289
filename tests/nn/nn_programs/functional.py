"""Modules as functions of their parameters."""

from __future__ import annotations

from typing import Any


def run(torch: Any, say: Any) -> None:
    nn = torch.nn
    U = nn.utils

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

    m = Lin()
    sd = {k: v * 2 for k, v in m.state_dict().items()}
    say(lambda: show(U.stateless.functional_call(m, sd, torch.ones(3))))
    say(lambda: show(torch.func.functional_call(m, sd, (torch.ones(3),))))
    say(lambda: torch.func.functional_call(m, {"q": torch.ones(1)}, torch.ones(3), strict=True))
    say(lambda: torch.func.functional_call(m, {"a.q": torch.ones(1)}, torch.ones(3)))
    say(lambda: show(torch.func.functional_call(m, {"q": torch.ones(1)}, torch.ones(3))))
    say(lambda: {k: v.shape for k, v in torch.func.stack_module_state([Lin(), Lin(seed=1)])[0].items()})
    say(lambda: torch.func.stack_module_state([]))
    say(lambda: torch.func.stack_module_state([Lin(), Lin().eval()]))
    say(lambda: torch.func.stack_module_state([Lin(), nn.Module()]))
    say(lambda: U.skip_init(Lin))
    say(lambda: U.skip_init(int))
