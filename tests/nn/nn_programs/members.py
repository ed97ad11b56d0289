"""Parameters, buffers and children: what may be assigned when, and what is listed how often."""

# ruff: noqa: B023  what `say` is given is called at once

from __future__ import annotations

import copy
from typing import Any


def run(torch: Any, say: Any) -> None:
    nn = torch.nn

    def p(n: int = 1) -> Any:
        return nn.Parameter(torch.ones(n))

    def assign(target: Any, name: str, value: Any) -> Any:
        setattr(target, name, value)
        return sorted(target._parameters), sorted(target._buffers), sorted(target._modules), name in target.__dict__

    # Every kind in the place of every kind
    values = {
        "parameter": lambda: p(),
        "buffer": lambda: nn.Buffer(torch.zeros(1)),
        "transient buffer": lambda: nn.Buffer(torch.zeros(1), persistent=False),
        "tensor": lambda: torch.zeros(1),
        "module": lambda: nn.Module(),
        "number": lambda: 3,
        "none": lambda: None,
    }
    for first in values.values():
        for second in values.values():
            module = nn.Module()
            say(lambda: assign(module, "x", first()))
            say(lambda: assign(module, "x", second()))
            say(
                lambda: (sorted(module._non_persistent_buffers_set), type(module.x).__name__, list(module.state_dict()))
            )
            say(lambda: delattr(module, "x"))
            say(lambda: module.x)

    # Before __init__
    class Early(nn.Module):
        def __init__(self, value: Any) -> None:
            self.x = value
            super().__init__()

    for value in values.values():
        say(lambda: vars(Early(value())).get("x"))

    class Never(nn.Module):
        def __init__(self) -> None:
            pass

    say(lambda: Never().x)
    say(lambda: Never().register_buffer("x", None))
    say(lambda: Never().register_parameter("x", None))

    # Names
    module = nn.Module()
    module.taken = 1
    for name in ("", "a.b", 3, "taken", "forward", "fine"):
        say(lambda: module.register_parameter(name, p()))
        say(lambda: module.register_buffer(name, torch.ones(1)))
        say(lambda: module.add_module(name, nn.Module()))
    say(lambda: module.register_buffer("b", 3))
    say(lambda: module.register_parameter("q", torch.ones(1)))
    say(lambda: module.register_parameter("q", 3))
    say(lambda: module.add_module("m", 3))
    say(lambda: module.add_module("m", p()))

    # Shared members
    class Shared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Module(), nn.Module()
            self.a.w = self.b.w = p()
            self.c = self.a
            self.a.register_buffer("r", torch.ones(1))
            self.b.register_buffer("r", self.a.r)
            self.none = None
            self.register_parameter("nothing", None)

    shared = Shared()
    for once in (True, False):
        for prefix in ("", "net"):
            say(lambda: [n for n, _ in shared.named_parameters(prefix, remove_duplicate=once)])
            say(lambda: [n for n, _ in shared.named_buffers(prefix, remove_duplicate=once)])
            say(lambda: [n for n, _ in shared.named_modules(prefix=prefix, remove_duplicate=once)])
    say(lambda: [n for n, _ in shared.named_children()])
    say(lambda: len(list(shared.parameters(recurse=False))))
    say(lambda: len(list(shared.modules())))
    say(lambda: list(shared.state_dict()))
    other = copy.deepcopy(shared)
    say(lambda: (other.a.w is other.b.w, other.a is other.c, other.a.w is shared.a.w, other.a.r is other.b.r))

    # By path
    for path in ("", "a", "a.w", "a.r", "a.x", "x.w", "a.w.x", "nothing"):
        say(lambda: shared.get_submodule(path))
        say(lambda: shared.get_parameter(path))
        say(lambda: shared.get_buffer(path))
    say(lambda: shared.set_submodule("", nn.Module()))
    say(lambda: shared.set_submodule("a", 3))
    say(lambda: shared.set_submodule("a.w", nn.Module()))
    say(lambda: shared.set_submodule("a.new", nn.Module(), strict=True))
    say(lambda: shared.set_submodule("x.new", nn.Module()))
    say(lambda: (shared.set_submodule("a.new", nn.Sequential()), shared.a))

    # An own register_buffer
    class Own(nn.Module):
        def register_buffer(self, name: str, tensor: Any) -> None:
            super().register_buffer(name, tensor)

    own = Own()
    say(lambda: assign(own, "x", nn.Buffer(torch.ones(1))))
    say(lambda: assign(own, "y", nn.Buffer(torch.ones(1), persistent=False)))

    # Several base classes
    class Mixin:
        def __init__(self, value: int = 0) -> None:
            self.value = value

    class Both(nn.Module, Mixin):
        call_super_init = True

    class One(nn.Module, Mixin):
        pass

    say(lambda: Both(5).value)
    say(lambda: One().value)
    say(lambda: One(5))
    say(lambda: One(value=5))

    # Gradients and modes
    net = nn.Sequential(nn.Module(), nn.Module())
    net[0].w, net[1].w = p(), p()
    (net[0].w * 3).sum().backward()
    say(lambda: (net.zero_grad(set_to_none=False), net[0].w.grad, net[1].w.grad))
    say(lambda: (net.zero_grad(), net[0].w.grad))
    say(lambda: [q.requires_grad for q in net.requires_grad_(False).parameters()])
    say(lambda: [m.training for m in net.eval().modules()])
    say(lambda: [m.training for m in net.train().modules()])
    say(lambda: net.train("yes"))
    say(lambda: net.apply(lambda m: setattr(m, "seen", True)).seen)

    # Conversion: objects stay, gradients go along, integers stay
    net = nn.Module()
    net.w = p(2)
    net.register_buffer("n", torch.tensor(3))
    net.w.grad = torch.ones(2)
    w, g = net.w, net.w.grad
    for convert in ("double", "half", "bfloat16", "float", "cpu"):
        say(
            lambda: (
                getattr(net, convert)().w is w,
                net.w.grad is g,
                net.w.dtype,
                net.w.grad.dtype,
                net.n.dtype,
            )
        )
    say(lambda: (net.to(torch.float64).w.dtype, net.n.dtype))
    say(lambda: (net.to("cpu", torch.float32).w.dtype, net.to(device="cpu", dtype=torch.float64).w.dtype))
    say(
        lambda: (net.to(torch.ones(1)).w.dtype, net.to(torch.float64, True).w.dtype, net.to(torch.device("cpu")) is net)
    )
    say(lambda: net.to(torch.int64))
    say(lambda: net.to(torch.bool))
    say(lambda: net.type(torch.complex64).n.dtype)
    say(lambda: net.to_empty(device="cpu").w.shape)
    net = nn.Module()
    net.w = nn.Parameter(torch.ones(1, 2, 3, 4))
    say(lambda: net.to(memory_format=torch.channels_last).w.stride())

    # Buffers and parameters themselves
    say(lambda: isinstance(nn.Buffer(torch.ones(1)), nn.Buffer))
    say(lambda: type(nn.Buffer(torch.ones(1))) is torch.Tensor)
    say(lambda: (isinstance(torch.ones(1), nn.Buffer), isinstance(torch.ones(1), nn.Parameter)))
    say(lambda: nn.Buffer(torch.ones(1), persistent=False).persistent)
    say(lambda: nn.Parameter(torch.ones(1, dtype=torch.int64), requires_grad=False))
    say(lambda: nn.Parameter().shape)
    say(lambda: nn.UninitializedParameter(dtype=torch.float64).dtype)
    say(lambda: copy.deepcopy(nn.UninitializedParameter(requires_grad=False)).requires_grad)
    say(lambda: nn.UninitializedBuffer())
    say(lambda: nn.UninitializedBuffer().shape)
    say(lambda: nn.UninitializedParameter().share_memory_())
    say(lambda: [nn.parameter.is_lazy(t) for t in (nn.UninitializedBuffer(), nn.UninitializedParameter(), p())])
