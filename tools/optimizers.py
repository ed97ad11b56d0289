"""Writes `tests/optimizers.json`: what PyTorch's optimizers make of parameters, and what their states hold.

    python tools/optimizers.py

needs torch. `tests/optim/test_optimizers.py` runs the same cases with retrograd.
"""

import contextlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[1] / "tests/optimizers.json"

# Options of each optimizer; the first of a list of dtypes is float32.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {},
        {"momentum": 0.9},
        {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01},
        {"momentum": 0.9, "nesterov": True, "maximize": True},
        {"weight_decay": 0.1, "maximize": True},
        {"lr": "tensor", "momentum": 0.5},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1, "differentiable": True},
    ],
    "Adam": [
        {},
        {"amsgrad": True, "weight_decay": 0.1},
        {"betas": [0.5, 0.7], "eps": 0.001, "maximize": True},
        {"lr": "tensor", "amsgrad": True},
        {"lr": "tensor", "betas": "tensors"},
        {"decoupled_weight_decay": True, "weight_decay": 0.1},
        {"weight_decay": 0.1, "differentiable": True},
        {"amsgrad": True, "differentiable": True},
    ],
    "AdamW": [{}, {"amsgrad": True, "maximize": True}, {"lr": "tensor"}],
    "Adamax": [{}, {"weight_decay": 0.1, "maximize": True}, {"lr": "tensor"}, {"differentiable": True}],
    "Adagrad": [
        {},
        {"lr_decay": 0.1, "weight_decay": 0.1},
        {"initial_accumulator_value": 0.3, "eps": 0.01, "maximize": True},
        {"lr": "tensor"},
        {"differentiable": True},
    ],
    "Adadelta": [{}, {"rho": 0.5, "weight_decay": 0.1, "maximize": True}, {"lr": "tensor"}, {"differentiable": True}],
    "NAdam": [
        {},
        {"weight_decay": 0.1, "momentum_decay": 0.1},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
        {"lr": "tensor"},
        {"differentiable": True},
    ],
    "RAdam": [
        {},
        {"weight_decay": 0.1, "betas": [0.9, 0.7]},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
        {"lr": "tensor"},
        {"differentiable": True},
    ],
    "RMSprop": [
        {},
        {"momentum": 0.9, "centered": True, "weight_decay": 0.1},
        {"centered": True, "maximize": True},
        {"lr": "tensor", "momentum": 0.5},
        {"centered": True, "differentiable": True},
    ],
    "Rprop": [{}, {"etas": [0.3, 1.7], "step_sizes": [0.001, 0.2]}, {"maximize": True}, {"lr": "tensor"}],
    "ASGD": [{}, {"lambd": 0.1, "t0": 1, "weight_decay": 0.1}, {"t0": 0, "alpha": 0.5, "maximize": True}],
    "Adafactor": [{}, {"weight_decay": 0.1, "d": 1.5, "eps": [0.01, 0.1]}, {"maximize": True, "beta2_decay": -0.5}],
    "Muon": [{}, {"nesterov": False, "weight_decay": 0}, {"adjust_lr_fn": "match_rms_adamw", "momentum": 0.5}],
}
WITHOUT_COMPLEX = ("Adafactor", "Muon")
STEPS = 6


def cases() -> Iterator[tuple[str, dict[str, Any], str]]:
    for name, lists in OPTIONS.items():
        for i, options in enumerate(lists):
            yield name, options, "float32"
            if i < 2:
                yield name, options, "float64"
            if i in (0, 1) and name not in WITHOUT_COMPLEX:
                yield name, options, "complex64"
        yield name, lists[0], "bfloat16"


def numbers(seed: int, shape: tuple[int, ...], dtype: str) -> list[Any]:
    """Nested lists of numbers, of which some are 0."""
    draw = random.Random(seed)

    def one() -> Any:
        x = 0.0 if draw.random() < 0.1 else draw.uniform(-2, 2)
        return complex(x, draw.uniform(-2, 2)) if dtype.startswith("complex") else x

    def nest(sizes: tuple[int, ...]) -> Any:
        return [nest(sizes[1:]) for _ in range(sizes[0])] if sizes else one()

    return nest(shape)


def made(lib: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Options with the tensors that their words stand for."""
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    if options.get("lr") == "tensor":
        options["lr"] = lib.tensor(0.03)
    if options.get("betas") == "tensors":
        options["betas"] = (lib.tensor(0.8), lib.tensor([0.95]))
    return options


def plain(value: Any) -> Any:
    """A state as JSON holds it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, complex):
        return [value.real, value.imag]
    if hasattr(value, "tolist"):
        return {"dtype": str(value.dtype).rpartition(".")[2], "values": plain(value.tolist())}
    return value


def run(lib: Any, name: str, options: dict[str, Any], dtype: str, **more: Any) -> dict[str, Any]:
    """Parameters after some steps, and the state dict."""
    kind = getattr(lib, dtype)
    shapes = [(3, 2), (2, 3)] if name == "Muon" else [(3, 2), (5,)]
    leaves = [lib.tensor(numbers(i, shape, dtype), dtype=kind, requires_grad=True) for i, shape in enumerate(shapes)]
    # A differentiable step changes its parameters by ops that are recorded, so they are no leaves.
    params = [leaf.clone() for leaf in leaves] if options.get("differentiable") else leaves
    for p in params:
        if not p.is_leaf:
            p.retain_grad()
    optimizer = getattr(lib.optim, name)(
        [{"params": params[:1]}, {"params": params[1:], "lr": 0.05}], **made(lib, options), **more
    )
    for step in range(STEPS):
        for i, p in enumerate(params):
            p.grad = lib.tensor(numbers(100 * step + i, shapes[i], dtype), dtype=kind)
        if step == 2:
            params[1].grad = None
        optimizer.step()
    return {"params": plain([p.detach() for p in params]), "state": plain(optimizer.state_dict())}


def lbfgs(lib: Any, options: dict[str, Any], dtype: str) -> dict[str, Any]:
    """Rosenbrock's function, in two parameters."""
    kind = getattr(lib, dtype)
    x = lib.tensor(-1.5, dtype=kind, requires_grad=True)
    y = lib.tensor([2.0, 0.5], dtype=kind, requires_grad=True)
    optimizer = lib.optim.LBFGS([x, y], **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (1 - x) ** 2 + 10 * (y - x**2).square().sum()
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(4)]
    state = optimizer.state_dict()["state"][0]
    return {
        "losses": losses,
        "params": plain([x.detach(), y.detach()]),
        "state": {key: plain(state[key]) for key in ("func_evals", "n_iter")},
        "keys": list(state),
    }


LBFGS_OPTIONS: list[dict[str, Any]] = [
    {"lr": 0.05},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "history_size": 2, "max_iter": 5},
    {"line_search_fn": "strong_wolfe", "max_eval": 3, "lr": 0.5},
    {"lr": 0.1, "max_iter": 3, "history_size": 1},
]

ERRORS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": -1.0}),
    ("SGD", {"momentum": -1.0}),
    ("SGD", {"weight_decay": -1.0}),
    ("SGD", {"nesterov": True}),
    ("SGD", {"fused": True, "differentiable": True}),
    ("SGD", {"fused": True, "foreach": True}),
    ("Adam", {"lr": -1.0}),
    ("Adam", {"eps": -1.0}),
    ("Adam", {"betas": [1.0, 0.5]}),
    ("Adam", {"betas": [0.5, -1.0]}),
    ("Adam", {"betas": [0, 0.5]}),
    ("Adam", {"weight_decay": -1}),
    ("Adam", {"lr": "tensor", "foreach": True}),
    ("Adam", {"betas": "tensors", "foreach": True}),
    ("Adam", {"fused": True, "differentiable": True}),
    ("Adam", {"fused": True, "foreach": True}),
    ("Adam", {"foreach": True, "differentiable": True}),
    ("Adam", {"capturable": True}),
    ("Adam", {"unknown": True}),
    ("Adamax", {"lr": -1.0}),
    ("Adamax", {"eps": -1.0}),
    ("Adamax", {"betas": [1.0, 0.5]}),
    ("Adamax", {"weight_decay": -1.0}),
    ("Adamax", {"capturable": True}),
    ("Adagrad", {"lr": -1.0}),
    ("Adagrad", {"lr_decay": -1.0}),
    ("Adagrad", {"weight_decay": -1.0}),
    ("Adagrad", {"initial_accumulator_value": -1.0}),
    ("Adagrad", {"eps": -1.0}),
    ("Adagrad", {"fused": True, "differentiable": True}),
    ("Adadelta", {"lr": -1.0}),
    ("Adadelta", {"rho": 2.0}),
    ("Adadelta", {"eps": -1.0}),
    ("Adadelta", {"weight_decay": -1.0}),
    ("NAdam", {"lr": -1.0}),
    ("NAdam", {"momentum_decay": -1.0}),
    ("NAdam", {"capturable": True}),
    ("RAdam", {"betas": [0.5, 2.0]}),
    ("RMSprop", {"alpha": -1.0}),
    ("RMSprop", {"momentum": -1.0}),
    ("RMSprop", {"eps": -1.0}),
    ("Rprop", {"etas": [2.0, 3.0]}),
    ("Rprop", {"lr": -1.0}),
    ("ASGD", {"lr": -1.0}),
    ("ASGD", {"weight_decay": -1.0}),
    ("ASGD", {"capturable": True}),
    ("SparseAdam", {"lr": 0.0}),
    ("SparseAdam", {"eps": 0.0}),
    ("SparseAdam", {}),
    ("Adafactor", {"lr": -1.0}),
    ("Adafactor", {"beta2_decay": 1.0}),
    ("Adafactor", {"eps": [-1.0, 0.1]}),
    ("Adafactor", {"eps": [None, -0.1]}),
    ("Adafactor", {"d": 0.5}),
    ("Adafactor", {"weight_decay": -1.0}),
    ("Muon", {"lr": -1.0}),
    ("Muon", {"momentum": -1.0}),
    ("Muon", {"weight_decay": -1.0}),
    ("Muon", {"adjust_lr_fn": "x"}),
    ("Muon", {"ns_steps": 100}),
    ("Muon", {"ns_coefficients": [1.0, 2.0]}),
    ("LBFGS", {"lr": -1.0}),
]


def error(lib: Any, name: str, options: dict[str, Any]) -> str | None:
    """What a step with these options raises, in the words that both packages share."""
    p = lib.tensor([[1.0, 2.0]], requires_grad=True)
    p.grad = lib.ones(1, 2)
    with contextlib.suppress(Warning):
        try:
            getattr(lib.optim, name)([p], **made(lib, options)).step()
        except Exception as e:
            return f"{type(e).__name__}: {e}"
    return None


TRAININGS: list[tuple[str, dict[str, Any]]] = [
    ("AdamW", {"lr": 0.05}),
    ("SGD", {"lr": 0.01, "momentum": 0.9, "nesterov": True}),
    ("RMSprop", {"lr": 0.01, "centered": True}),
]


def training(lib: Any, name: str, options: dict[str, Any]) -> list[float]:
    """The last loss of each epoch: everything together, from one seed."""
    lib.manual_seed(0)
    x = lib.randn(64, 5)
    y = (x @ lib.arange(5.0)).unsqueeze(1)
    weights = [(lib.randn(*shape) * 0.3).requires_grad_() for shape in ((5, 8), (8, 1))]
    optimizer = getattr(lib.optim, name)([{"params": weights[:1]}, {"params": weights[1:], "lr": 0.02}], **options)
    schedule = lib.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
    data = lib.utils.data
    part, _ = data.random_split(data.TensorDataset(x, y), [0.75, 0.25])
    losses = []
    for _ in range(5):
        for batch, target in data.DataLoader(part, 7, shuffle=True):
            optimizer.zero_grad()
            loss = ((batch @ weights[0]).tanh() @ weights[1] - target).square().mean()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
        schedule.step()
    return losses


def texts(lib: Any) -> list[str]:
    """The reprs of all optimizers."""
    p = lib.ones(1, 2, requires_grad=True)
    return [repr(getattr(lib.optim, name)([p])) for name in [*OPTIONS, "SparseAdam", "LBFGS"]]


def main() -> None:
    import torch

    torch.set_num_threads(1)
    table = {
        "steps": [[*case, run(torch, *case)] for case in cases()],
        "lbfgs": [
            [options, dtype, lbfgs(torch, options, dtype)]
            for options in LBFGS_OPTIONS
            for dtype in ("float32", "float64")
        ],
        "errors": [[name, options, error(torch, name, options)] for name, options in ERRORS],
        "trainings": [[name, options, training(torch, name, options)] for name, options in TRAININGS],
        "texts": texts(torch),
    }
    lines = [
        f" {json.dumps(key)}: [\n" + ",\n".join(f"  {json.dumps(row)}" for row in rows) + "\n ]"
        for key, rows in table.items()
    ]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
