"""Small statements as programs write them: four floats, so that time is dispatch, recording and the engine.

`compare.py` races them and prints the geometric mean of their ratios; `instructions.py --check` counts the
instructions of some of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import repeat
from types import ModuleType

from cases import CASES, TIGHT, Case, Setup, Thunk

# A loop around the statement, since calling a function that holds it takes as long as some of them.
LOOP = """
def run():
    for _ in repeat(None, count):
        {statement}
"""
# What the statements name: plain operands `p`, `q`, `m`, recorded ones `a`, `b`, a function of one tensor.
NAMES = """
p, q, m = rg.randn(4), rg.randn(4), rg.randn(4, 4)
a, b = rg.randn(4).requires_grad_(), rg.randn(4).requires_grad_()
g, nothing = rg.ones(4), lambda grad: None

class Double(rg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0
    @staticmethod
    def backward(ctx, grad):
        return grad * 2.0

def chain(x, times):
    for _ in repeat(None, times):
        x = x * q
    return x

def both_ways():
    chain(a, 100).sum().backward()
    a.grad = None

def function():
    Double.apply(a).backward(g)
    a.grad = None

def hook():
    y = a * q
    y.register_hook(nothing)
    y.backward(g)
    a.grad = None

def grad():
    rg.autograd.grad(chain(a, 20), a, g)

def double_backward():
    (first,) = rg.autograd.grad((a * a).sum(), a, create_graph=True)
    rg.autograd.grad(first.sum(), a)
"""
# By name: the statement and how often it is run per call.
STATEMENTS = {
    "p + q": ("p + q", TIGHT),
    "a + b, recorded": ("a + b", TIGHT),
    "a * 2.0, recorded": ("a * 2.0", TIGHT),
    "a.exp(), recorded": ("a.exp()", TIGHT),
    "a.sum(), recorded": ("a.sum()", TIGHT),
    "a.view(2, 2), recorded": ("a.view(2, 2)", TIGHT),
    "a[0], recorded": ("a[0]", TIGHT),
    "a[1:3], recorded": ("a[1:3]", TIGHT),
    "p.add_(q)": ("p.add_(q)", TIGHT),
    "m @ m, 4 x 4": ("m @ m", TIGHT),
    "chain of 100, both ways": ("both_ways()", 1),
    "Function, both ways": ("function()", 10),
    "hook": ("hook()", 10),
    "grad of a chain of 20": ("grad()", 1),
    "double backward": ("double_backward()", 10),
}
PREFIX = "statement: "
# The least ratio of a statement, and of their geometric mean.
LEAST, MEAN = 5.0, 10.0


def statement(code: str, count: int) -> Setup:
    def setup(m: ModuleType) -> Thunk:
        names: dict[str, object] = {"rg": m, "repeat": repeat, "count": count}
        exec(NAMES + LOOP.format(statement=code), names)
        return names["run"]  # type: ignore[return-value]

    return setup


def geometric_mean(ratios: Iterable[float]) -> float:
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms))


CASES += [
    Case(f"{PREFIX}{name}", statement(code, count), at_least=LEAST, per=count)
    for name, (code, count) in STATEMENTS.items()
]
