"""Compiled functions beside eager ones, and beside `jax.jit` where JAX can be imported: one process, one thread.

    python benches/compiled.py [--only REGEX] [--seconds S] [--json FILE] [--jax-site DIR] [--torch-site DIR]

Every step is written once, over a small set of names that all libraries have. Rounds of the libraries alternate; the
figure of each is its least time. JAX runs a step as one `jit` of value, gradients and update, with loops given as
`lax.scan`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any

from cases import PARITY

Step = Callable[[], Any]
# A row: from a torch-like module and `compile`, the step; and the step in JAX.
ROWS: dict[str, tuple[Callable[[Any, Any], Step], Callable[[Any], Step]]] = {}


def row(name: str, in_jax: Callable[[Any], Step]) -> Callable[[Any], Any]:
    def add(make: Callable[[Any, Any], Step]) -> Any:
        ROWS[name] = (make, in_jax)
        return make

    return add


def blocked(jax: Any, f: Any, *args: Any) -> Step:
    return lambda: jax.block_until_ready(f(*args))


# ---- a chain of products of 4 elements


def jax_chain(jax: Any) -> Step:
    def loss(x: Any, b: Any) -> Any:
        for _ in range(100):
            x = x * b
        return x.sum()

    f = jax.jit(jax.grad(loss, argnums=(0, 1)))
    return blocked(jax, f, jax.numpy.ones(4), jax.numpy.full(4, 0.99))


@row("chain of 100 mul, 4 elements", jax_chain)
def chain(m: Any, compiled: Any) -> Step:
    x, b = m.ones(4, requires_grad=True), m.full((4,), 0.99, requires_grad=True)

    def step(x: Any, b: Any) -> Any:
        y = x
        for _ in range(100):
            y = y * b
        return m.autograd.grad(y.sum(), [x, b])

    f = compiled(step)
    return lambda: f(x, b)


# ---- MLP steps


def jax_mlp(batch: int, width: int) -> Callable[[Any], Step]:
    def make(jax: Any) -> Step:
        np = jax.numpy
        keys = jax.random.split(jax.random.key(0), 3)
        sizes = [(width, width), (width, width), (width, 10)]
        params = [(jax.random.normal(k, s) * 0.1, np.zeros(s[1])) for k, s in zip(keys, sizes, strict=True)]
        x, y = np.ones((batch, width)), np.zeros(batch, dtype=int)

        def loss(params: Any) -> Any:
            h = x
            for i, (w, b) in enumerate(params):
                h = h @ w + b
                h = jax.nn.relu(h) if i < 2 else h
            return -jax.nn.log_softmax(h)[np.arange(batch), y].mean()

        @jax.jit
        def step(params: Any) -> Any:
            value, grads = jax.value_and_grad(loss)(params)
            return value, jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)

        state = [params]

        def run() -> None:
            value, state[0] = step(state[0])
            value.block_until_ready()

        return run

    return make


def mlp(batch: int, width: int) -> Callable[[Any, Any], Step]:
    def make(m: Any, compiled: Any) -> Step:
        nn = m.nn
        layers = [nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)]
        model = nn.Sequential(*layers)
        optimizer = m.optim.SGD(model.parameters(), lr=0.01)
        x, y = m.randn(batch, width), m.randint(0, 10, (batch,))

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        f = compiled(step)
        return lambda: f(x, y)

    return make


row("MLP step, batch 32, hidden 64", jax_mlp(32, 64))(mlp(32, 64))
row("MLP step, batch 256, hidden 1024", jax_mlp(256, 1024))(mlp(256, 1024))


# ---- a neural ODE


def jax_ode(jax: Any) -> Step:
    np = jax.numpy
    w1, w2 = (jax.random.normal(jax.random.key(i), s) * 0.3 for i, s in enumerate([(2, 32), (32, 2)]))
    x = np.ones((64, 2))

    def loss(w1: Any, w2: Any) -> Any:
        def f(x: Any) -> Any:
            return np.tanh(x @ w1) @ w2

        def advance(x: Any, _: Any) -> Any:
            h = 0.05
            a = f(x)
            b = f(x + h / 2 * a)
            c = f(x + h / 2 * b)
            d = f(x + h * c)
            return x + h / 6 * (a + 2 * b + 2 * c + d), None

        return (jax.lax.scan(advance, x, None, length=40)[0] ** 2).mean()

    return blocked(jax, jax.jit(jax.grad(loss, argnums=(0, 1))), w1, w2)


@row("40 RK4 steps of a small network", jax_ode)
def ode(m: Any, compiled: Any) -> Step:
    w1, w2 = m.randn(2, 32).mul(0.3).requires_grad_(), m.randn(32, 2).mul(0.3).requires_grad_()
    x = m.ones(64, 2)

    def f(x: Any) -> Any:
        return m.tanh(x @ w1) @ w2

    def step(x: Any) -> Any:
        h = 0.05
        for _ in range(40):
            a = f(x)
            b = f(x + h / 2 * a)
            c = f(x + h / 2 * b)
            d = f(x + h * c)
            x = x + h / 6 * (a + 2 * b + 2 * c + d)
        return m.autograd.grad((x**2).mean(), [w1, w2])

    g = compiled(step)
    return lambda: g(x)


# ---- an LSTM by hand


def jax_lstm(jax: Any) -> Step:
    np = jax.numpy
    n, width = 32, 64
    w = jax.random.normal(jax.random.key(0), (2 * width, 4 * width)) * 0.1
    xs = np.ones((50, n, width))

    def loss(w: Any) -> Any:
        def cell(state: Any, x: Any) -> Any:
            h, c = state
            i, f, g, o = np.split(np.concatenate([x, h], 1) @ w, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * np.tanh(g)
            return (jax.nn.sigmoid(o) * np.tanh(c), c), None

        zero = np.zeros((n, width))
        return (jax.lax.scan(cell, (zero, zero), xs)[0][0] ** 2).mean()

    return blocked(jax, jax.jit(jax.grad(loss)), w)


@row("LSTM by hand, 50 steps", jax_lstm)
def lstm(m: Any, compiled: Any) -> Step:
    n, width = 32, 64
    w = m.randn(2 * width, 4 * width).mul(0.1).requires_grad_()
    xs = m.ones(50, n, width)

    def step(xs: Any) -> Any:
        h, c = m.zeros(n, width), m.zeros(n, width)
        for x in xs:
            i, f, g, o = (m.cat([x, h], 1) @ w).chunk(4, 1)
            c = m.sigmoid(f) * c + m.sigmoid(i) * m.tanh(g)
            h = m.sigmoid(o) * m.tanh(c)
        return m.autograd.grad((h**2).mean(), w)

    f = compiled(step)
    return lambda: f(xs)


# ---- higher derivatives


def function(m: Any) -> Any:
    return lambda x: (m.sin(x) * m.exp(-x * x)).sum() ** 2 + (x**3).sum()


def jax_hessian(jax: Any) -> Step:
    return blocked(jax, jax.jit(jax.hessian(function(jax.numpy))), jax.numpy.linspace(0.0, 1.0, 16))


@row("Hessian of 16", jax_hessian)
def hessian(m: Any, compiled: Any) -> Step:
    x, f = m.linspace(0.0, 1.0, 16), compiled(m.func.hessian(function(m)))
    return lambda: f(x)


def jax_hvp(jax: Any) -> Step:
    f, x = function(jax.numpy), jax.numpy.linspace(0.0, 1.0, 16)
    return blocked(jax, jax.jit(lambda x, v: jax.jvp(jax.grad(f), (x,), (v,))[1]), x, x)


@row("Hessian-vector product of 16", jax_hvp)
def hvp(m: Any, compiled: Any) -> Step:
    f, x = function(m), m.linspace(0.0, 1.0, 16)
    g = compiled(lambda x, v: m.func.jvp(m.func.grad(f), (x,), (v,))[1])
    return lambda: g(x, x)


def jax_second(jax: Any) -> Step:
    np = jax.numpy
    w1, w2 = (jax.random.normal(jax.random.key(i), s) for i, s in enumerate([(1, 64), (64, 1)]))
    x = np.linspace(0.0, 1.0, 256)[:, None]

    def u(w1: Any, w2: Any, x: Any) -> Any:
        return np.tanh(x @ w1) @ w2

    def loss(w1: Any, w2: Any) -> Any:
        def first(x: Any) -> Any:
            return jax.jvp(lambda x: u(w1, w2, x), (x,), (np.ones_like(x),))[1]

        second = jax.jvp(first, (x,), (np.ones_like(x),))[1]
        return ((second + u(w1, w2, x)) ** 2).mean()

    return blocked(jax, jax.jit(jax.value_and_grad(loss, argnums=(0, 1))), w1, w2)


@row("second derivative in the loss", jax_second)
def second(m: Any, compiled: Any) -> Step:
    w1, w2 = m.randn(1, 64).requires_grad_(), m.randn(64, 1).requires_grad_()
    x = m.linspace(0.0, 1.0, 256)[:, None].clone().requires_grad_()

    def step(x: Any) -> Any:
        u = m.tanh(x @ w1) @ w2
        (d,) = m.autograd.grad(u.sum(), x, create_graph=True)
        (dd,) = m.autograd.grad(d.sum(), x, create_graph=True)
        return m.autograd.grad(((dd + u) ** 2).mean(), [w1, w2])

    f = compiled(step)
    return lambda: f(x)


# ---- large steps


def jax_embedding(jax: Any) -> Step:
    np = jax.numpy
    table, index = np.ones((10_000, 64)), np.arange(512) * 7 % 10_000
    return blocked(jax, jax.jit(jax.grad(lambda t: (t[index] ** 2).mean())), table)


@row("embedding mean, 10k x 64", jax_embedding)
def embedding(m: Any, compiled: Any) -> Step:
    table, index = m.ones(10_000, 64, requires_grad=True), m.arange(512) * 7 % 10_000
    f = compiled(lambda i: m.autograd.grad((m.nn.functional.embedding(i, table) ** 2).mean(), table))
    return lambda: f(index)


def pointwise(m: Any, x: Any) -> Any:
    for _ in range(3):
        x = m.sin(x) * 0.5 + m.tanh(x) * x
    return x


def jax_pointwise(jax: Any) -> Step:
    f = jax.jit(jax.grad(lambda x: pointwise(jax.numpy, x).sum()))
    return blocked(jax, f, jax.numpy.linspace(0.0, 1.0, 1 << 22))


@row("chain of pointwise, 4M elements", jax_pointwise)
def large(m: Any, compiled: Any) -> Step:
    x = m.linspace(0.0, 1.0, 1 << 22, requires_grad=True)
    f = compiled(lambda x: m.autograd.grad(pointwise(m, x).sum(), x))
    return lambda: f(x)


def least(steps: dict[str, Step], seconds: float) -> dict[str, float]:
    """The least time of each, rounds alternating, in microseconds."""
    best = dict.fromkeys(steps, float("inf"))
    count = {}
    for name, step in steps.items():
        for _ in range(5):
            step()
        start = time.perf_counter()
        step()
        count[name] = max(1, int(1e-3 / (time.perf_counter() - start)))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, step in steps.items():
            start = time.perf_counter()
            for _ in range(count[name]):
                step()
            best[name] = min(best[name], (time.perf_counter() - start) / count[name] * 1e6)
    return best


def imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose names match")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--jax-site", help="a folder that holds JAX")
    parser.add_argument("--torch-site", help="a folder that holds torch")
    args = parser.parse_args()
    sys.path += [site for site in (args.jax_site, args.torch_site) if site]
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    if hasattr(os, "sched_setaffinity"):  # JAX has more threads than the flags allow, of late
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    import retrograd as rg

    rg.set_num_threads(1)
    jax, torch = imported("jax"), imported("torch") if args.torch_site else None
    if jax is None:
        print("JAX cannot be imported: its column is empty")
    if torch is not None:
        torch.set_num_threads(1)
    figures = {}
    print(f"{'us, one thread':36}{'torch':>10}{'jax.jit':>10}{'eager':>10}{'compiled':>10}   jit/compiled")
    for name, (make, in_jax) in ROWS.items():
        if not re.search(args.only, name):
            continue
        steps = {"eager": make(rg, lambda f: f), "compiled": make(rg, rg.compile)}
        if torch is not None:
            steps["torch"] = make(torch, lambda f: f)
        if jax is not None:
            steps["jax.jit"] = in_jax(jax)
        best = least(steps, args.seconds)
        figures[name] = best
        shown = [f"{best[c]:10.1f}" if c in best else f"{'':10}" for c in ("torch", "jax.jit", "eager", "compiled")]
        ratio = f"{best['jax.jit'] / best['compiled']:10.2f}" if "jax.jit" in best else ""
        print(f"{name:36}{''.join(shown)}   {ratio}", flush=True)
    if args.json:
        with open(args.json, "w") as file:
            facts = {"at_least": PARITY, "jax": getattr(jax, "__version__", None), "only": args.only}
            json.dump(facts | {"rows": figures}, file, indent=1)


if __name__ == "__main__":
    main()
