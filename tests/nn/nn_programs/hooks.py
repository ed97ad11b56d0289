"""Hooks of modules: before and after the call, forwards and backwards, of one module and of all."""

from __future__ import annotations

import copy
from typing import Any


def run(torch: Any, say: Any) -> None:
    nn = torch.nn
    every = nn.modules.module
    seen: list[Any] = []

    class Scale(nn.Module):
        def __init__(self, by: float = 2.0, fail: bool = False) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.tensor(by))
            self.fail = fail

        def forward(self, x: Any, *more: Any, power: int = 1) -> Any:
            if self.fail:
                raise ValueError("forward fails")
            return self.weight * x**power

    def noting(name: str, result: Any = None) -> Any:
        def hook(module: Any, *args: Any) -> Any:
            seen.append((name, type(module).__name__, args))
            return result

        return hook

    def told(f: Any) -> None:
        seen.clear()
        say(f)
        say(lambda: seen)

    def x() -> Any:
        return torch.tensor([1.0, 3.0], requires_grad=True)

    # Before and after: order, replacement, keywords
    net = Scale()
    net.register_forward_pre_hook(noting("first"))
    net.register_forward_pre_hook(noting("before first"), prepend=True)
    net.register_forward_hook(noting("after"))
    net.register_forward_hook(noting("after with keywords"), with_kwargs=True, prepend=True)
    told(lambda: net(x(), power=2))
    net = Scale()
    handle = net.register_forward_pre_hook(lambda m, args: args[0] * 10)
    told(lambda: net(x()))
    handle.remove()
    handle.remove()
    told(lambda: net(x()))
    with net.register_forward_pre_hook(lambda m, args, kwargs: (args, {"power": 3}), with_kwargs=True):
        told(lambda: net(x()))
    with net.register_forward_pre_hook(lambda m, args, kwargs: (args,), with_kwargs=True):
        say(lambda: net(1))
    with net.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True):
        say(lambda: net(1))
    with net.register_forward_hook(noting("replaced", "another output")):
        told(lambda: net(x()))
    told(lambda: net(x()))

    # After an exception
    net = Scale(fail=True)
    net.register_forward_hook(noting("not called"))
    net.register_forward_hook(noting("called always"), always_call=True)
    net.register_forward_hook(noting("with keywords"), always_call=True, with_kwargs=True)
    told(lambda: net(1, power=2))
    net.register_forward_hook(lambda *_: 1 / 0, always_call=True)
    told(lambda: net(1))
    net = Scale()
    net.register_forward_hook(noting("called once"), always_call=True)
    net.register_forward_hook(lambda *_: 1 / 0)
    told(lambda: net(1))

    # Of all modules
    handles = [
        every.register_module_forward_pre_hook(noting("all before")),
        every.register_module_forward_hook(noting("all after")),
        every.register_module_forward_hook(noting("all always", 5), always_call=True),
    ]
    net = Scale()
    net.register_forward_pre_hook(noting("own before"))
    net.register_forward_hook(noting("own after"))
    told(lambda: net(x(), power=2))
    told(lambda: nn.Sequential(Scale(), Scale())(x()))
    told(lambda: Scale(fail=True)(1))
    for handle in handles:
        handle.remove()
    told(lambda: net(x()))
    for register, arguments in (
        (every.register_module_parameter_registration_hook, lambda: Scale()),
        (every.register_module_module_registration_hook, lambda: nn.Sequential(Scale())),
        (every.register_module_buffer_registration_hook, lambda: Scale().register_buffer("b", None)),
    ):
        handle = register(lambda module, name, value: seen.append((type(module).__name__, name, str(value))))
        told(arguments)
        handle.remove()
    with every.register_module_parameter_registration_hook(lambda m, name, p: nn.Parameter(p * 10)):
        say(lambda: Scale().weight)

    # Backwards
    def backward(module: Any, *args: Any, **kwargs: Any) -> Any:
        out = module(*args, **kwargs)
        (out[0] if isinstance(out, tuple) else out).sum().backward()
        return [a.grad for a in args if isinstance(a, torch.Tensor)]

    net = Scale()
    net.register_full_backward_hook(noting("gradients"))
    net.register_full_backward_hook(noting("gradients first"), prepend=True)
    net.register_full_backward_pre_hook(noting("before"))
    net.register_full_backward_pre_hook(noting("before first"), prepend=True)
    told(lambda: backward(net, x()))
    told(lambda: backward(net, x(), "no tensor", torch.ones(1)))
    told(lambda: backward(net, torch.ones(2)))
    told(lambda: backward(Scale(), x()))
    net = Scale()
    net.register_full_backward_hook(lambda m, inputs, outputs: (inputs[0] * 10,))
    net.register_full_backward_pre_hook(lambda m, outputs: (outputs[0] * 100,))
    told(lambda: backward(net, x()))
    net.register_full_backward_hook(lambda m, inputs, outputs: (None, None))
    say(lambda: backward(net, x()))
    net = Scale()
    net.register_full_backward_pre_hook(lambda m, outputs: (None, None))
    say(lambda: backward(net, x()))
    net = Scale()
    net.register_full_backward_hook(lambda m, inputs, outputs: (torch.ones(1),))
    say(lambda: backward(net, torch.ones(2)))
    net = Scale()
    net.register_full_backward_hook(noting("several"))

    def several(x: Any, *more: Any) -> Any:
        return x * 2, "no tensor", x * 3

    net.forward = several
    told(lambda: backward(net, x()))
    net.forward = lambda x: {"a": x}
    told(lambda: type(net(x())).__name__)
    net = nn.Sequential(Scale(), Scale())
    for part in net.modules():
        part.register_full_backward_hook(noting("nested"))
    told(lambda: backward(net, x()))
    with torch.no_grad():
        told(lambda: net(x()))
    net = Scale()
    net.register_full_backward_hook(noting("twice"))

    def second() -> Any:
        t = x()
        (g,) = torch.autograd.grad(net(t, power=3).sum(), t, create_graph=True)
        return torch.autograd.grad(g.sum(), t)

    told(second)
    handles = [
        every.register_module_full_backward_pre_hook(noting("all before")),
        every.register_module_full_backward_hook(noting("all")),
    ]
    told(lambda: backward(Scale(), x()))
    for handle in handles:
        handle.remove()
    say(lambda: every.register_module_backward_hook(print))

    # Of the old form
    net = Scale()
    net.register_backward_hook(noting("old"))
    say(lambda: net.register_full_backward_hook(print))
    told(lambda: backward(net, x()))
    net.forward = lambda x: [x * 2]
    told(lambda: net(x()))
    net.forward = lambda x: (x * 2, x * 3)
    told(lambda: backward(net, x()))
    net.forward = lambda x: {"n": 1, "t": x * 2}
    told(lambda: net(x()))
    net.forward = lambda x: x * 2
    told(lambda: net(x()))
    net = Scale()
    net.register_full_backward_hook(print)
    say(lambda: net.register_backward_hook(print))

    # Copies have their own
    net = Scale()
    net.handle = net.register_forward_hook(noting("copied"))
    other = copy.deepcopy(net)
    other.handle.remove()
    told(lambda: net(x()))
    told(lambda: other(x()))
    say(lambda: len(net._forward_hooks))
    say(lambda: len(other._forward_hooks))
