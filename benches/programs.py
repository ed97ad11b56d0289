"""Training programs of `nn` and `optim`, and what their steps are made of."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from types import ModuleType
from typing import Any

from cases import PARITY, TIGHT, Thunk, case

Make = Callable[[ModuleType, Any], Any]


def training(m: ModuleType, model: Any, optimizer: Any, loss: Callable[[], Any]) -> Thunk:
    """A step of a program that trains `model`."""

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


def mlp(m: ModuleType, batch: int, width: int, optimizer: Make) -> Thunk:
    nn = m.nn
    layers = [nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)]
    model, criterion = nn.Sequential(*layers), nn.CrossEntropyLoss()
    x, y = m.randn(batch, width), m.randint(0, 10, (batch,))
    return training(m, model, optimizer(m, model.parameters()), lambda: criterion(model(x), y))


def sgd(m: ModuleType, params: Any) -> Any:
    return m.optim.SGD(params, lr=0.01)


def momentum(m: ModuleType, params: Any) -> Any:
    return m.optim.SGD(params, lr=0.01, momentum=0.9)


def adam(m: ModuleType, params: Any) -> Any:
    return m.optim.Adam(params, lr=1e-3)


def adamw(m: ModuleType, params: Any) -> Any:
    return m.optim.AdamW(params, lr=1e-3)


@case("nn: MLP step, batch 32, width 64, SGD", 5.0)
def small_mlp(m: ModuleType) -> Thunk:
    return mlp(m, 32, 64, sgd)


@case("nn: MLP step, batch 128, width 256, Adam", 2.0)
def middle_mlp(m: ModuleType) -> Thunk:
    return mlp(m, 128, 256, adam)


@case("nn: MLP step, batch 128, width 1024, Adam", 1.05)
def large_mlp(m: ModuleType) -> Thunk:
    return mlp(m, 128, 1024, adam)


@case("nn: two convolutions, 64 images of 28x28, SGD", 1.1)
def convolutions(m: ModuleType) -> Thunk:
    nn = m.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(32 * 49, 10)),
    )
    criterion, x, y = nn.CrossEntropyLoss(), m.randn(64, 1, 28, 28), m.randint(0, 10, (64,))
    return training(m, model, sgd(m, model.parameters()), lambda: criterion(model(x), y))


def transformer(m: ModuleType, width: int, heads: int) -> Thunk:
    """Four blocks of a decoder on 8 sequences of 64 letters."""
    nn, attend = m.nn, m.nn.functional.scaled_dot_product_attention

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x: Any) -> Any:
            batch, time, _ = x.shape
            parts = self.qkv(self.first(x)).split(width, dim=2)
            q, k, v = (part.view(batch, time, heads, width // heads).transpose(1, 2) for part in parts)
            y = attend(q, k, v, is_causal=True).transpose(1, 2).contiguous().view(batch, time, width)
            x = x + self.out(y)
            return x + self.mlp(self.second(x))

    letters, places = nn.Embedding(65, width), nn.Embedding(64, width)
    blocks = nn.Sequential(*(Block() for _ in range(4)), nn.LayerNorm(width), nn.Linear(width, 65, bias=False))
    model = nn.ModuleList([letters, places, blocks])
    x, y = m.randint(0, 65, (8, 64)), m.randint(0, 65, (8 * 64,))
    time = m.arange(64)

    def loss() -> Any:
        return nn.functional.cross_entropy(blocks(letters(x) + places(time)).view(-1, 65), y)

    return training(m, model, adamw(m, model.parameters()), loss)


@case("nn: transformer of 4 blocks, width 64", 3.0)
def small_transformer(m: ModuleType) -> Thunk:
    return transformer(m, 64, 4)


@case("nn: transformer of 4 blocks, width 128", 1.7)
def middle_transformer(m: ModuleType) -> Thunk:
    return transformer(m, 128, 4)


@case("nn: transformer of 4 blocks, width 384", 1.15)
def large_transformer(m: ModuleType) -> Thunk:
    return transformer(m, 384, 6)


def recurrent(m: ModuleType, kind: str, batch: int) -> Thunk:
    model, x = getattr(m.nn, kind)(64, 64), m.randn(50, batch, 64)

    def run() -> None:
        model.zero_grad()
        model(x)[0].sum().backward()

    return run


@case("nn: LSTM, 50 steps of 1x64, fwd + bwd", 2.0)
def single_lstm(m: ModuleType) -> Thunk:
    return recurrent(m, "LSTM", 1)


@case("nn: LSTM, 50 steps of 16x64, fwd + bwd", 2.0)
def lstm(m: ModuleType) -> Thunk:
    return recurrent(m, "LSTM", 16)


@case("nn: GRU, 50 steps of 16x64, fwd + bwd", 2.0)
def gru(m: ModuleType) -> Thunk:
    return recurrent(m, "GRU", 16)


@case("nn: RNN, 50 steps of 16x64, fwd + bwd", 2.0)
def rnn(m: ModuleType) -> Thunk:
    return recurrent(m, "RNN", 16)


def step_of(m: ModuleType, optimizer: Make, count: int, size: int) -> Thunk:
    params = [m.nn.Parameter(m.randn(size)) for _ in range(count)]
    for p in params:
        p.grad = m.randn(size)
    step: Thunk = optimizer(m, params).step
    return step


@case("optim: step of SGD, 100 parameters of 10", 5.0)
def small_sgd(m: ModuleType) -> Thunk:
    return step_of(m, sgd, 100, 10)


@case("optim: step of SGD with momentum, 100 parameters of 10", 5.0)
def small_momentum(m: ModuleType) -> Thunk:
    return step_of(m, momentum, 100, 10)


@case("optim: step of Adam, 100 parameters of 10", 5.0)
def small_adam(m: ModuleType) -> Thunk:
    return step_of(m, adam, 100, 10)


@case("optim: step of Adam, a parameter of 1M", PARITY)
def large_adam(m: ModuleType) -> Thunk:
    return step_of(m, adam, 1, 1_000_000)


@case("nn: call of an empty module", 1.0, per=TIGHT)
def empty_call(m: ModuleType) -> Thunk:
    module, x = m.nn.Identity(), m.randn(4)

    def run() -> None:
        for _ in repeat(None, TIGHT):
            module(x)

    return run


@case("nn: access to a parameter", 1.0, per=TIGHT)
def parameter_access(m: ModuleType) -> Thunk:
    module = m.nn.Linear(4, 4)

    def run() -> None:
        for _ in repeat(None, TIGHT):
            module.weight  # noqa: B018

    return run
