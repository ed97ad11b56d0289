"""A program as users write them, with what `mypy --strict` asks for. `test_stubs.py` checks it and runs it."""

from collections.abc import Iterator
from typing import Any

import retrograd as rg
from retrograd.autograd import Function
from retrograd.autograd.function import once_differentiable


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: rg.Tensor) -> rg.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: rg.Tensor) -> rg.Tensor:
        x: rg.Tensor = ctx.saved_tensors[0]
        return 3 * x**2 * g


class Line(rg.nn.Module):
    def __init__(self, slope: float) -> None:
        super().__init__()
        self.weight = rg.nn.Parameter(rg.tensor(slope))
        self.register_buffer("calls", rg.tensor(0))

    def forward(self, x: rg.Tensor) -> rg.Tensor:
        self.calls += 1
        return self.weight * x


def trained(net: rg.nn.Module) -> dict[str, rg.Tensor]:
    with net.register_forward_hook(lambda module, args, output: None):
        loss: rg.Tensor = net(rg.ones(2)).sum()
    loss.backward()
    rg.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    return {name: p.grad for name, p in net.named_parameters() if p.grad is not None}


assert sorted(trained(rg.nn.Sequential(Line(2.0), Line(3.0)).double().train())) == ["0.weight", "1.weight"]


class Twice(Function):
    @staticmethod
    def forward(ctx: Any, x: rg.Tensor) -> rg.Tensor:
        return x * 2

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: rg.Tensor) -> rg.Tensor:
        return g * 2


@rg.no_grad()
def with_parentheses(x: rg.Tensor) -> rg.Tensor:
    return x * 2


@rg.no_grad
def without(x: rg.Tensor) -> rg.Tensor:
    return x * 2


@rg.enable_grad()
def in_steps(x: rg.Tensor) -> Iterator[rg.Tensor]:
    yield from x


def gradients() -> rg.Tensor:
    x = rg.tensor([1.0, 2.0], dtype=rg.float32, requires_grad=True)
    x.sum().backward()
    assert x.grad is not None
    (g,) = rg.autograd.grad((Cube.apply(x) + Twice.apply(x)).sum(), x, create_graph=True)
    by_name = rg.autograd.grad(g.sum(), {"x": x})
    node = (x * 2).grad_fn
    assert node is not None and node.name() == "MulBackward0"
    with x.register_hook(lambda grad: grad * 2) as handle:
        handle.remove()
    assert rg.autograd.gradcheck(lambda t: t.exp(), (x.detach().to(rg.float64).requires_grad_(),))
    second: rg.Tensor = by_name["x"]
    return x.grad + second


def operators(x: rg.Tensor) -> rg.Tensor:
    y = 1.0 + x - 2 * x / 3.0 + (1 - x) ** 2 + 2.0**x + x @ x
    y += 1.0
    y *= x
    small = (y < 2.0) & ~(y >= 10) | (y == 3.0)
    return rg.where(small, -y, abs(y))


def indexing(x: rg.Tensor) -> rg.Tensor:
    x[0] = 1.0
    x[..., 1:] = x[:, None, 0]
    rows, columns = x.shape
    n: int = x.shape[0] + x.size(1) + len(x)
    values, positions = x.max(dim=1)
    largest: rg.Tensor = x.max()
    assert (rows, columns, n) == (2, 2, 6) and positions.dtype == rg.int64
    return x[x > 0].sum() + values.sum() + largest + x[[0, 1], rg.tensor([1, 0])].sum()


def layers(x: rg.Tensor) -> rg.Tensor:
    weight = rg.nn.Parameter(rg.randn(3, 2, generator=rg.Generator().manual_seed(0)))
    hidden = rg.nn.functional.relu(rg.nn.functional.linear(x, weight))
    with rg.inference_mode(), rg.autograd.set_multithreading_enabled(False):
        pass
    parameters: list[rg.nn.Parameter] = [weight]
    rg.cat(parameters, dim=0)
    return hidden.reshape(-1, 3).view((2, 3)).permute(1, 0).mean(0, keepdim=True)


def main() -> None:
    rg.manual_seed(0)
    gradients()
    operators(rg.ones(2))
    indexing(rg.zeros(2, 2))
    layers(rg.zeros((2, 2)))
    x = rg.ones(2, requires_grad=True)
    with rg.no_grad():
        y: rg.Tensor = x * 2
    assert not (y.requires_grad or with_parentheses(x).requires_grad or without(x).requires_grad)
    assert next(in_steps(x)).requires_grad
    assert x.to(rg.float64).tolist() == [1.0, 1.0] and float(y[0]) == 2.0


if __name__ == "__main__":
    main()
