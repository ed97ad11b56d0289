"""Writes `tests/schedulers.json`: the learning rates and momenta that PyTorch's schedules set, and their state dicts.

    python tools/schedulers.py

needs torch. `tests/optim/test_schedulers.py` runs the same cases with retrograd.
"""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[1] / "tests/schedulers.json"


class Halving:
    """A function of the epoch that is an object, so its attributes are saved."""

    def __init__(self) -> None:
        self.base = 2.0

    def __call__(self, epoch: float) -> float:
        return self.base**-epoch


FUNCTIONS: dict[str, Callable[[], Any]] = {
    "linear": lambda: lambda epoch: 1 / (1 + epoch),
    "near 1": lambda: lambda epoch: 0.9 + 0.01 * epoch,
    "object": Halving,
    "both": lambda: [lambda epoch: 0.9**epoch, Halving()],
    "one": lambda: [lambda epoch: 0.9**epoch],
    "no function": lambda: "x",
}

# The optimizer, the schedule, its options, and for each step the arguments of `step`.
Case = tuple[str, str, dict[str, Any], list[list[Any]]]
PLAIN: list[list[Any]] = [[]] * 14
CASES: list[Case] = [
    ("SGD", "LambdaLR", {"lr_lambda": "linear"}, PLAIN),
    ("SGD", "LambdaLR", {"lr_lambda": "both"}, PLAIN),
    ("SGD", "LambdaLR", {"lr_lambda": "one"}, PLAIN),
    ("SGD", "LambdaLR", {"lr_lambda": "object"}, [[], [5], []]),
    ("SGD", "MultiplicativeLR", {"lr_lambda": "near 1"}, PLAIN),
    ("SGD", "MultiplicativeLR", {"lr_lambda": "no function"}, []),
    ("tensor", "MultiplicativeLR", {"lr_lambda": "near 1"}, PLAIN),
    ("SGD", "StepLR", {"step_size": 3}, PLAIN),
    ("tensor", "StepLR", {"step_size": 2, "gamma": 0.7}, PLAIN),
    ("SGD", "StepLR", {"step_size": 3}, [[], [7], []]),
    ("SGD", "MultiStepLR", {"milestones": [2, 5, 5, 9]}, PLAIN),
    ("SGD", "MultiStepLR", {"milestones": [2, 5]}, [[], [7], []]),
    ("SGD", "ConstantLR", {}, PLAIN),
    ("SGD", "ConstantLR", {"factor": 0.3, "total_iters": 2}, [[], [1], [8]]),
    ("SGD", "ConstantLR", {"factor": 1.5}, []),
    ("SGD", "LinearLR", {}, PLAIN),
    ("SGD", "LinearLR", {"start_factor": 0.7, "end_factor": 0.2, "total_iters": 6}, PLAIN),
    ("SGD", "LinearLR", {"total_iters": 6}, [[], [3], []]),
    ("SGD", "LinearLR", {"start_factor": 0.0}, []),
    ("SGD", "LinearLR", {"end_factor": 1.1}, []),
    ("SGD", "ExponentialLR", {"gamma": 0.8}, PLAIN),
    ("tensor", "ExponentialLR", {"gamma": 0.8}, [[], [4], []]),
    ("SGD", "PolynomialLR", {"total_iters": 8, "power": 1.7}, PLAIN),
    ("SGD", "PolynomialLR", {}, [[], [3], []]),
    ("SGD", "CosineAnnealingLR", {"T_max": 4}, PLAIN),
    ("tensor", "CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}, PLAIN),
    ("SGD", "CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}, [[], [7], []]),
    ("SGD", "CosineAnnealingWarmRestarts", {"T_0": 3}, PLAIN),
    ("SGD", "CosineAnnealingWarmRestarts", {"T_0": 2, "T_mult": 2, "eta_min": 0.01}, PLAIN),
    ("SGD", "CosineAnnealingWarmRestarts", {"T_0": 2, "T_mult": 2}, [[0.5], [1], [3.25], [8.5], []]),
    ("SGD", "CosineAnnealingWarmRestarts", {"T_0": 2}, [[0.5], [3.25], [-1]]),
    ("SGD", "CosineAnnealingWarmRestarts", {"T_0": 0}, []),
    ("SGD", "CosineAnnealingWarmRestarts", {"T_0": 2, "T_mult": 0}, []),
    ("SGD", "CosineAnnealingWarmRestarts", {"T_0": 2, "eta_min": "x"}, []),
    ("SGD", "CyclicLR", {"base_lr": 0.1, "max_lr": 0.7, "step_size_up": 3}, PLAIN),
    ("SGD", "CyclicLR", {"base_lr": [0.1, 0.2], "max_lr": 0.7, "step_size_up": 3, "step_size_down": 2}, PLAIN),
    ("Adam", "CyclicLR", {"base_lr": 0.1, "max_lr": 0.7, "step_size_up": 2, "mode": "triangular2"}, PLAIN),
    (
        "SGD",
        "CyclicLR",
        {"base_lr": 0.1, "max_lr": 0.7, "step_size_up": 2, "mode": "exp_range", "gamma": 0.9, "cycle_momentum": False},
        PLAIN,
    ),
    ("SGD", "CyclicLR", {"base_lr": 0.1, "max_lr": 0.7, "step_size_up": 2, "scale_fn": "object"}, PLAIN),
    ("SGD", "CyclicLR", {"base_lr": 0.1, "max_lr": 0.7, "step_size_up": 2, "mode": "x"}, []),
    ("SGD", "CyclicLR", {"base_lr": [0.1], "max_lr": 0.7}, []),
    ("Adagrad", "CyclicLR", {"base_lr": 0.1, "max_lr": 0.7}, []),
    ("SGD", "OneCycleLR", {"max_lr": 0.9, "total_steps": 12}, PLAIN),
    ("SGD", "OneCycleLR", {"max_lr": [0.9, 0.5], "epochs": 5, "steps_per_epoch": 3, "three_phase": True}, PLAIN),
    ("Adam", "OneCycleLR", {"max_lr": 0.9, "total_steps": 15, "anneal_strategy": "linear", "pct_start": 0.4}, PLAIN),
    ("Adagrad", "OneCycleLR", {"max_lr": 0.9, "total_steps": 15, "cycle_momentum": False}, PLAIN),
    ("Adagrad", "OneCycleLR", {"max_lr": 0.9, "total_steps": 15}, []),
    ("SGD", "OneCycleLR", {"max_lr": 0.9}, []),
    ("SGD", "OneCycleLR", {"max_lr": 0.9, "total_steps": -1}, []),
    ("SGD", "OneCycleLR", {"max_lr": 0.9, "epochs": 0, "steps_per_epoch": 1}, []),
    ("SGD", "OneCycleLR", {"max_lr": 0.9, "epochs": 1, "steps_per_epoch": 0}, []),
    ("SGD", "OneCycleLR", {"max_lr": 0.9, "total_steps": 5, "pct_start": 1}, []),
    ("SGD", "OneCycleLR", {"max_lr": 0.9, "total_steps": 5, "anneal_strategy": "x"}, []),
    ("SGD", "ReduceLROnPlateau", {"patience": 1}, [[x] for x in (1, 0.9, 0.9, 0.9, 0.9, 0.5, 0.6, 0.7, 0.8)]),
    (
        "tensor",
        "ReduceLROnPlateau",
        {"patience": 0, "mode": "max", "threshold_mode": "abs", "threshold": 0.1, "cooldown": 2, "min_lr": 0.02},
        [[x] for x in (1, 1.05, 1.2, 1.25, 1.2, 1, 1, 1, 1, 1, 1)],
    ),
    ("SGD", "ReduceLROnPlateau", {"patience": 0, "mode": "max", "min_lr": [0.02, 0.1]}, [[1], [0.5], [1.1], [1], [1]]),
    ("SGD", "ReduceLROnPlateau", {"threshold_mode": "abs"}, [[1], [0.5, 4]]),
    ("SGD", "ReduceLROnPlateau", {"factor": 1.0}, []),
    ("SGD", "ReduceLROnPlateau", {"mode": "x"}, []),
    ("SGD", "ReduceLROnPlateau", {"threshold_mode": "x"}, []),
    ("SGD", "ReduceLROnPlateau", {"min_lr": [0.1]}, []),
    ("SGD", "SequentialLR", {"parts": ["constant", "exponential"], "milestones": [4]}, PLAIN),
    ("SGD", "SequentialLR", {"parts": ["linear", "cosine", "exponential"], "milestones": [3, 7]}, PLAIN),
    ("SGD", "SequentialLR", {"parts": ["linear", "cosine"], "milestones": []}, []),
    ("SGD", "SequentialLR", {"parts": [], "milestones": []}, []),
    ("SGD", "SequentialLR", {"parts": ["linear", "plateau"], "milestones": [1]}, []),
    ("SGD", "SequentialLR", {"parts": ["linear", "other"], "milestones": [1]}, []),
    ("SGD", "SequentialLR", {"parts": ["linear", "none"], "milestones": [1]}, []),
    ("SGD", "ChainedScheduler", {"parts": ["constant", "exponential"]}, PLAIN),
    ("SGD", "ChainedScheduler", {"parts": ["linear", "cosine"]}, PLAIN),
    ("SGD", "ChainedScheduler", {"parts": []}, []),
    ("SGD", "ChainedScheduler", {"parts": ["linear", "plateau"]}, []),
    ("SGD", "SWALR", {"swa_lr": 0.05, "anneal_epochs": 4}, PLAIN),
    ("SGD", "SWALR", {"swa_lr": [0.05, 0.2], "anneal_epochs": 4, "anneal_strategy": "linear"}, PLAIN),
    ("SGD", "SWALR", {"swa_lr": 0.05, "anneal_epochs": 0}, PLAIN),
    ("SGD", "SWALR", {"swa_lr": 0.05, "anneal_epochs": -1}, []),
    ("SGD", "SWALR", {"swa_lr": 0.05, "anneal_strategy": "x"}, []),
    ("SGD", "SWALR", {"swa_lr": [0.05]}, []),
    ("none", "StepLR", {"step_size": 3}, []),
    ("none", "ReduceLROnPlateau", {}, []),
    ("none", "CyclicLR", {"base_lr": 0.1, "max_lr": 0.7}, []),
    ("none", "OneCycleLR", {"max_lr": 0.1}, []),
    ("SGD", "StepLR", {"step_size": 3, "last_epoch": 4}, []),
]


def optimizer_of(lib: Any, kind: str) -> Any:
    if kind == "none":
        return "x"
    groups = [{"params": [lib.ones(1, requires_grad=True)]} for _ in range(2)]
    groups[1]["lr"] = lib.tensor(0.25, dtype=lib.float64) if kind == "tensor" else 0.25
    if kind == "Adam":
        return lib.optim.Adam(groups, lr=0.5)
    if kind == "Adagrad":
        return lib.optim.Adagrad(groups, lr=0.5)
    lr = lib.tensor([0.5], dtype=lib.float64) if kind == "tensor" else 0.5
    return lib.optim.SGD(groups, lr=lr, momentum=0.9)


def scheduler_of(lib: Any, optimizer: Any, name: str, options: dict[str, Any]) -> Any:
    of = lib.optim.lr_scheduler
    options = dict(options)
    for key in ("lr_lambda", "scale_fn"):
        if key in options:
            options[key] = FUNCTIONS[options[key]]()
    if "parts" in options:
        makers: dict[str, Callable[[], Any]] = {
            "constant": lambda: of.ConstantLR(optimizer, 0.1, 3),
            "linear": lambda: of.LinearLR(optimizer, 0.2, total_iters=4),
            "cosine": lambda: of.CosineAnnealingLR(optimizer, 3, 0.01),
            "exponential": lambda: of.ExponentialLR(optimizer, 0.9),
            "plateau": lambda: of.ReduceLROnPlateau(optimizer),
            "other": lambda: of.ExponentialLR(optimizer_of(lib, "Adam"), 0.9),
            "none": lambda: "x",
        }
        parts = [makers[part]() for part in options.pop("parts")]
        if name == "SequentialLR":
            return of.SequentialLR(optimizer, parts, **options)
        return of.ChainedScheduler(parts, **options)
    return getattr(lib.optim.swa_utils if name == "SWALR" else of, name)(optimizer, **options)


def plain(value: Any) -> Any:
    """A state as JSON holds it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return {"tensor": value.tolist()}
    return value


def options_of(optimizer: Any) -> list[dict[str, Any]]:
    return [
        plain({k: v for k, v in group.items() if k in ("lr", "momentum", "betas")}) for group in optimizer.param_groups
    ]


def run(lib: Any, kind: str, name: str, options: dict[str, Any], steps: list[list[Any]]) -> dict[str, Any]:
    """Options of the groups after each step, warnings, and the error that ended it or the state dict."""
    seen: dict[str, Any] = {"groups": [], "warnings": []}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            optimizer = optimizer_of(lib, kind)
            scheduler = scheduler_of(lib, optimizer, name, options)
            seen["groups"].append(options_of(optimizer))
            for args in steps:
                optimizer.step()
                scheduler.step(*args)
                seen["groups"].append(options_of(optimizer))
            seen["state"] = plain(scheduler.state_dict())
            seen["keys"] = [sorted(map(str, group)) for group in optimizer.param_groups]
            again = scheduler_of(lib, optimizer_of(lib, kind), name, options)
            again.load_state_dict(scheduler.state_dict())
            seen["loaded"] = plain(again.state_dict()) == seen["state"]
        except Exception as e:
            seen["error"] = f"{type(e).__name__}: {e}"
    seen["warnings"] = [f"{w.category.__name__}: {w.message}" for w in caught]
    return seen


def misuse(lib: Any) -> list[str]:
    """Warnings for steps in the wrong order, and for `get_lr` outside of them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        optimizer = optimizer_of(lib, "SGD")
        scheduler = lib.optim.lr_scheduler.StepLR(optimizer, 3)
        scheduler.step()
        scheduler.get_lr()
        optimizer = optimizer_of(lib, "SGD")
        scheduler = lib.optim.lr_scheduler.StepLR(optimizer, 3)
        optimizer.step = lambda: None
        scheduler.step()
        lib.optim.swa_utils.SWALR(optimizer_of(lib, "SGD"), 0.1).get_lr()
    return [f"{w.category.__name__}: {w.message}" for w in caught]


def main() -> None:
    import torch

    rows = ",\n".join(f"  {json.dumps([*case, run(torch, *case)])}" for case in CASES)
    TABLE.write_text(f'{{\n "cases": [\n{rows}\n ],\n "misuse": {json.dumps(misuse(torch))}\n}}\n')


if __name__ == "__main__":
    main()
