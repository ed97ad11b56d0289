"""The objectives of ADBench: Jacobians here beside Tapenade's, one process, one thread.

    python benches/adbench.py [--adbench DIR] [--only REGEX] [--quick] [--json FILE]

DIR is a checkout of github.com/microsoft/ADBench. Its data are read, the C that Tapenade generated there is compiled
with `gcc -O3` and timed in turns with ours, results are compared, and its PyTorch modules run as they are through the
torch switch, in processes of their own. Without DIR the data are random, of the same sizes, and own times are printed.

The objectives below are written from their definitions (Srajer, Kukelova and Fitzgibbon, "A benchmark of selected
algorithmic differentiation tools on some problems in computer vision and machine learning", 2018): a mixture of
Gaussians with a Wishart prior, bundle adjustment, a character LSTM with diagonal weights, tracking of a hand.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from timing import FULL, QUICK, Plan, race

Data = dict[str, Any]
Step = Callable[[], Any]


# ---- data, from files of ADBench or at random


def numbers(text: str) -> Iterator[float]:
    return map(float, text.split())


def take(source: Iterator[float], *sizes: int) -> np.ndarray:
    return np.fromiter(source, float, math.prod(sizes)).reshape(sizes)


def gmm_data(d: int, k: int, folder: Path | None) -> Data:
    packed = d * (d + 1) // 2
    if folder is None:
        draw, n = np.random.default_rng(0).standard_normal, 1000
        return {
            "alphas": draw(k),
            "means": draw((k, d)),
            "icf": draw((k, packed)),
            "x": draw((n, d)),
            "gamma": 1.0,
            "m": 0,
        }
    source = numbers((folder / f"gmm/1k/gmm_d{d}_K{k}.txt").read_text())
    *_, n = (int(next(source)) for _ in range(3))
    data = {
        "alphas": take(source, k),
        "means": take(source, k, d),
        "icf": take(source, k, packed),
        "x": take(source, n, d),
    }
    return data | {"gamma": next(source), "m": int(next(source))}


def ba_data(folder: Path | None) -> Data:
    if folder is None:
        n, m, p = 49, 7776, 31843
        camera = np.array([-0.8, -1.1, -0.8, 34.0, 40.0, 54.0, 420.0, 6.0, -8.0, 0.1, 0.003])
        point, weight, feature = np.array([7.0, 0.0, 3.0]), 0.4, np.array([270.0, 830.0])
    else:
        source = numbers((folder / "ba/ba1_n49_m7776_p31843.txt").read_text())
        n, m, p = (int(next(source)) for _ in range(3))
        camera, point, weight, feature = take(source, 11), take(source, 3), next(source), take(source, 2)
    each = np.arange(p)
    return {
        "cameras": np.tile(camera, (n, 1)),
        "points": np.tile(point, (m, 1)),
        "weights": np.full(p, weight),
        "features": np.tile(feature, (p, 1)),
        "observed": np.stack([each % n, each % m], 1),
    }


def lstm_data(folder: Path | None) -> Data:
    layers, length, bits = 2, 1024, 14
    if folder is None:
        draw = np.random.default_rng(0).random
        letters = (draw((length, bits)) < 0.5).astype(float)
        sizes = {"main": (2 * layers, 4 * bits), "extra": (3, bits), "state": (2 * layers, bits)}
        return {name: draw(size) for name, size in sizes.items()} | {"letters": letters}
    source = numbers((folder / "lstm/lstm_l2_c1024.txt").read_text())
    layers, length, bits = (int(next(source)) for _ in range(3))
    return {
        "main": take(source, 2 * layers, 4 * bits),
        "extra": take(source, 3, bits),
        "state": take(source, 2 * layers, bits),
        "letters": take(source, length, bits),
    }


def hand_data(folder: Path | None) -> Data:
    if folder is None:
        draw, bones, vertices, used = np.random.default_rng(0).standard_normal, 22, 544, 100
        finger = lambda first: [0, first, first + 1, first + 2]  # noqa: E731
        parents = [-1, *(parent for first in range(1, 21, 4) for parent in finger(first)), 0]
        rigid = np.tile(np.eye(4), (bones, 1, 1))
        rigid[:, :3, 3] = draw((bones, 3)) * 0.1
        weights = np.abs(draw((vertices, bones)))
        return {
            "parents": np.array(parents),
            "relative": rigid,
            "inverse": rigid,
            "weights": weights / weights.sum(1, keepdims=True),
            "base": np.concatenate([draw((vertices, 3)), np.ones((vertices, 1))], 1),
            "theta": draw(26) * 0.1,
            "places": np.arange(used) * 5,
            "measured": draw((used, 3)),
        }
    model = folder / "hand/simple_small/model"
    bones_of = [line.split(":") for line in (model / "bones.txt").read_text().split()]
    matrices = np.array([[float(x) for x in line[2:34]] for line in bones_of]).reshape(-1, 2, 4, 4)
    lines = [line.split(":") for line in (model / "vertices.txt").read_text().split()]
    weights = np.zeros((len(lines), len(bones_of)))
    for row, line in zip(weights, lines, strict=True):
        for bone, weight in zip(line[9::2], line[10::2], strict=True):
            row[int(bone)] = float(weight)
    source = numbers((folder / "hand/simple_small/hand1_t26_c100.txt").read_text())
    used, parameters = int(next(source)), int(next(source))
    pairs = take(source, used, 4)
    return {
        "parents": np.array([int(line[1]) for line in bones_of]),
        "relative": matrices[:, 0],
        "inverse": matrices[:, 1],
        "weights": weights,
        "base": np.array([[*map(float, line[:3]), 1.0] for line in lines]),
        "places": pairs[:, 0].astype(int),
        "measured": pairs[:, 1:],
        "theta": take(source, parameters),
    }


# ---- objectives


def gmm(rg: Any, alphas: Any, means: Any, icf: Any, x: Any, places: Any, gamma: float, m: int) -> Any:
    """Logarithm of the posterior of a mixture of Gaussians; `icf` has roots of inverse covariances, packed."""
    (n, d), k = x.shape, alphas.shape[0]
    logs, lower = icf[:, :d], icf[:, d:]
    diagonal = logs.exp()
    roots = rg.cat([diagonal, lower, icf.new_zeros(k, 1)], 1)[:, places]  # k lower triangular matrices
    centred = (x @ roots.view(k * d, d).mT).view(n, k, d) - (roots @ means.unsqueeze(2)).squeeze(2)
    inner = alphas + logs.sum(1) - 0.5 * centred.square().sum(2)
    likelihood = inner.logsumexp(1).sum() - n * alphas.logsumexp(0) - 0.5 * n * d * math.log(2 * math.pi)
    prior = 0.5 * gamma**2 * (diagonal.square().sum() + lower.square().sum()) - m * logs.sum()
    freedom = d + m + 1
    gammas = sum(math.lgamma(0.5 * (freedom - j)) for j in range(d)) + 0.25 * d * (d - 1) * math.log(math.pi)
    return likelihood + prior - k * (freedom * d * math.log(gamma / math.sqrt(2)) - gammas)


def reprojection(rg: Any, camera: Any, point: Any, weight: Any, feature: Any) -> Any:
    """The error of an observation; a camera has rotation, centre, focal length, principal point, distortion."""
    rx, ry, rz, cx, cy, cz, focal, u, v, k1, k2 = camera
    x, y, z = point[0] - cx, point[1] - cy, point[2] - cz
    angle = (rx * rx + ry * ry + rz * rz).sqrt()
    sin, cos = angle.sin(), angle.cos()
    a, b, c = rx / angle, ry / angle, rz / angle
    along = (a * x + b * y + c * z) * (1 - cos)
    depth = z * cos + (a * y - b * x) * sin + c * along
    p = (x * cos + (b * z - c * y) * sin + a * along) / depth
    q = (y * cos + (c * x - a * z) * sin + b * along) / depth
    square = p * p + q * q
    scale = (1 + (k1 + k2 * square) * square) * focal
    return rg.stack([weight * (p * scale + u - feature[0]), weight * (q * scale + v - feature[1])])


def lstm(rg: Any, main: Any, extra: Any, state: Any, letters: Any) -> Any:
    """The loss of predicting each next letter, layer by layer; gates of the input are taken for all letters at once."""
    x = letters[:-1] * extra[0]
    for w, b, h, c in zip(main[0::2], main[1::2], state[0::2], state[1::2], strict=True):
        w, b = w.view(4, -1), b.view(4, -1)
        forget, out = rg.sigmoid(x * w[0] + b[0]), rg.sigmoid(x * w[2] + b[2])
        steps = []
        for f, o in zip(forget, out, strict=True):
            c = c * f + rg.sigmoid(h * w[1] + b[1]) * rg.tanh(h * w[3] + b[3])
            h = o * rg.tanh(c)
            steps.append(h)
        x = rg.stack(steps)
    y = x * extra[1] + extra[2]
    y = y - (y.exp().sum(1, keepdim=True) + 2).log()
    return -(letters[1:] * y).mean()


def rotation(rg: Any, axis: Any) -> Any:
    """The matrix that turns about `axis`, by its length."""
    angle = (axis * axis).sum().sqrt()
    x, y, z = axis / angle
    zero = rg.zeros_like(x)
    cross = rg.stack([zero, -z, y, z, zero, -x, -y, x, zero]).view(3, 3)
    return rg.eye(3, dtype=axis.dtype) + cross * angle.sin() + cross @ cross * (1 - angle.cos())


def hand(rg: Any, theta: Any, d: Any) -> Any:
    """Measured points minus the vertices of a skinned hand; `d.levels` are bones by depth, with their parents."""
    bent, spread = rg.cat([theta, theta.new_zeros(1)])[d.joints]  # of each bone; most have none
    zero, one = rg.zeros_like(bent), rg.ones_like(bent)
    (sx, sz), (cx, cz) = (bent.sin(), spread.sin()), (bent.cos(), spread.cos())
    entries = [cz, -sz * cx, sz * sx, zero, sz, cz * cx, -cz * sx, zero, zero, sx, cx, zero, zero, zero, zero, one]
    relative = d.relative @ rg.stack(entries, 1).view(-1, 4, 4)
    level = relative[d.levels[0][0]]
    absolute = [level]
    for bones, parents in d.levels[1:]:
        level = level[parents] @ relative[bones]
        absolute.append(level)
    transforms = rg.cat(absolute)[d.order] @ d.inverse
    base, weights = d.base[d.places], d.weights[d.places]
    blended = (weights @ transforms.view(-1, 16)).view(-1, 4, 4)
    skinned = (blended @ base.unsqueeze(2)).squeeze(2)[:, :3]
    return d.measured - (skinned @ rotation(rg, theta[:3]).mT + theta[3:6])


# ---- Jacobians: as they are and compiled


def tensors(rg: Any, data: Data, *names: str) -> list[Any]:
    return [rg.tensor(data[name]) for name in names]


def gmm_steps(rg: Any, data: Data) -> dict[str, Step]:
    d = data["means"].shape[1]
    # Of an entry of a root, where it is packed: the diagonal, then the columns below it; above it, the zero at the end.
    places = rg.full((d, d), d * (d + 1) // 2)
    places[range(d), range(d)] = rg.arange(d)
    columns, rows = rg.triu_indices(d, d, 1)
    places[rows, columns] = rg.arange(d, d * (d + 1) // 2)
    *inputs, x = tensors(rg, data, "alphas", "means", "icf", "x")
    for t in inputs:
        t.requires_grad_()

    def jacobian(x: Any) -> Any:
        return rg.autograd.grad(gmm(rg, *inputs, x, places, data["gamma"], data["m"]), inputs)

    compiled = rg.compile(jacobian)
    return {"eager": lambda: jacobian(x), "compiled": lambda: compiled(x)}


def ba_steps(rg: Any, data: Data) -> dict[str, Step]:
    # Columns are contiguous: an op of the function runs over one number of each observation.
    cameras, points, features = (t.mT.contiguous() for t in tensors(rg, data, "cameras", "points", "features"))
    weights, observed = tensors(rg, data, "weights", "observed")
    of_camera, of_point = observed.mT.contiguous()

    def blocks(camera: Any, point: Any, weight: Any, feature: Any) -> Any:
        return rg.func.jacrev(lambda *x: reprojection(rg, *x, feature), (0, 1, 2))(camera, point, weight)

    def jacobian(cameras: Any, points: Any, weights: Any) -> Any:
        each = rg.vmap(blocks, in_dims=(1, 1, 0, 1), out_dims=-1)
        return *each(cameras[:, of_camera], points[:, of_point], weights, features), -2 * weights

    compiled = rg.compile(jacobian)
    given = cameras, points, weights
    return {"eager": lambda: jacobian(*given), "compiled": lambda: compiled(*given)}


def lstm_steps(rg: Any, data: Data) -> dict[str, Step]:
    main, extra, state, letters = tensors(rg, data, "main", "extra", "state", "letters")
    inputs = [main.requires_grad_(), extra.requires_grad_()]

    def jacobian(letters: Any) -> Any:
        return rg.autograd.grad(lstm(rg, *inputs, state, letters), inputs)

    compiled = rg.compile(jacobian)
    return {"eager": lambda: jacobian(letters), "compiled": lambda: compiled(letters)}


def hand_steps(rg: Any, data: Data) -> dict[str, Step]:
    parents = data["parents"].tolist()
    depths = [0] * len(parents)
    for bone, parent in enumerate(parents):
        depths[bone] = depths[parent] + 1 if parent >= 0 else 0
    levels, before = [], []
    for depth in range(max(depths) + 1):
        bones = [bone for bone in range(len(parents)) if depths[bone] == depth]
        above = [before.index(parents[bone]) for bone in bones] if depth else []
        levels.append((rg.tensor(bones), rg.tensor(above, dtype=rg.int64)))
        before = bones
    order = sorted(range(len(parents)), key=depths.__getitem__)
    # Five fingers of four bones: the second bends and spreads, the third and the fourth bend.
    none = len(data["theta"])
    bends, spreads = [none] * len(parents), [none] * len(parents)
    for finger in range(5):
        second, first = 2 + 4 * finger, 6 + 4 * finger
        bends[second : second + 3] = first, first + 2, first + 3
        spreads[second] = first + 1
    joints = rg.tensor([bends, spreads])
    names = ("relative", "inverse", "base", "weights", "places", "measured", "theta")
    held = dict(zip(names, tensors(rg, data, *names), strict=True))
    constants = SimpleNamespace(**held, levels=levels, order=rg.tensor(order).argsort(), joints=joints)
    jacobian = rg.func.jacfwd(lambda theta: hand(rg, theta, constants))
    compiled = rg.compile(jacobian)
    return {"eager": lambda: jacobian(held["theta"]), "compiled": lambda: compiled(held["theta"])}


def gradient(results: Any) -> np.ndarray:
    return np.concatenate([part.numpy().ravel() for part in results])


def ba_blocks(results: Any) -> np.ndarray:
    """For each observation two rows of 15, then the derivatives of the errors of the weights."""
    *blocks, weights = (part.numpy() for part in results)
    rows = np.concatenate([block.reshape(2, -1, block.shape[-1]) for block in blocks], 1)
    return np.concatenate([rows.transpose(2, 0, 1).ravel(), weights])


# ---- Tapenade's C

# What ADBench's own driver in C++ does, without its matrices: which derivatives are asked for, one after the other.
DRIVER = """
#include <string.h>
#include "gmm/gmm_b.h"
#include "ba/ba_b.h"
#include "lstm/lstm_b.h"
#include "hand/hand_d.h"

void run_gmm(int d, int k, int n, double *alphas, double *means, double *icf, double *x, double gamma, int m, double *J)
{
    Wishart wishart = {gamma, m};
    double value = 0.0, one = 1.0;
    gmm_objective_b(d, k, n, alphas, J, means, J + k, icf, J + k + k * d, x, wishart, &value, &one);
}

void run_ba(int p, double *cameras, double *points, double *weights, double *features, long *observed, double *J)
{
    double value[2], *w = J + 30 * (long)p;
    for (int i = 0; i < p; i++) {
        double *camera = cameras + 11 * observed[2 * i], *point = points + 3 * observed[2 * i + 1];
        for (int row = 0; row < 2; row++) {
            double *to = J + 30 * (long)i + 15 * row, seed[2] = {row == 0, row == 1};
            compute_reproj_error_b(camera, to, point, to + 11, weights + i, to + 14, features + 2 * i, value, seed);
        }
    }
    for (int i = 0; i < p; i++) {
        double one = 1.0;
        compute_zach_weight_error_b(weights + i, w + i, value, &one);
    }
}

void run_lstm(int l, int c, int b, double *main, double *extra, double *state, double *letters, double *J)
{
    double value = 0.0, one = 1.0, now[2 * l * b];
    memcpy(now, state, sizeof now);
    lstm_objective_b(l, c, b, main, J, extra, J + 8 * l * b, now, letters, &value, &one);
}

void run_hand(int parameters, int bones, int vertices, int used, double *theta, int *parents, double *relative,
              double *inverse, double *base, double *weights, int *places, double *measured, double *J)
{
    static double zeros[1 << 16];
    Matrix relatives[bones], inverses[bones], b = {4, vertices, base}, w = {bones, vertices, weights};
    Matrix points = {3, used, measured};
    Matrix_diff none[bones], b_none = {zeros};
    double seed[parameters], value[3 * used];
    const char *names[bones];
    memset(seed, 0, sizeof seed);
    for (int i = 0; i < bones; i++) {
        relatives[i] = (Matrix){4, 4, relative + 16 * i};
        inverses[i] = (Matrix){4, 4, inverse + 16 * i};
        none[i].data = zeros;
        names[i] = "";
    }
    for (int i = 0; i < parameters; i++) {
        seed[i] = 1.0;
        hand_objective_d(theta, seed, bones, names, parents, relatives, none, inverses, none, &b, &b_none, &w, 0, 0,
                         used, places, &points, value, J + 3 * used * i);
        seed[i] = 0.0;
    }
}
"""
SOURCES = ("gmm/gmm", "gmm/gmm_b", "ba/ba", "ba/ba_b", "lstm/lstm", "lstm/lstm_b", "hand/hand_d")
TOOLS = ("utils/adBuffer", "utils/adStack")


def tapenade(checkout: Path, folder: str) -> ctypes.CDLL:
    """Tapenade's derivatives, compiled with the driver above."""
    root = checkout / "src/cpp/modules/tapenade"
    driver, library = Path(folder) / "driver.c", Path(folder) / "tapenade.so"
    driver.write_text(DRIVER)
    files = [str(root / f"{name}.c") for name in SOURCES + TOOLS]
    options = ["-O3", "-w", "-fPIC", "-shared", f"-I{root}", "-o", str(library)]
    subprocess.run(["gcc", *options, str(driver), *files, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def passed(value: Any) -> Any:
    """As C takes it: a pointer to what an array holds, a double, an int."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else value


def caller(function: Any, size: int, *arguments: Any) -> tuple[Step, np.ndarray]:
    """A call of `function`, and where it writes; arrays are kept alive by the call."""
    kept = [np.ascontiguousarray(a) if isinstance(a, np.ndarray) else a for a in (*arguments, np.zeros(size))]
    given = [passed(a) for a in kept]

    def run(kept: Any = kept) -> None:
        function(*given)

    return run, kept[-1]


def gmm_in_c(c: Any, v: Data) -> tuple[Step, np.ndarray]:
    (n, d), k = v["x"].shape, len(v["alphas"])
    size = v["alphas"].size + v["means"].size + v["icf"].size
    arguments = v["alphas"], v["means"], v["icf"], v["x"], v["gamma"], v["m"]
    return caller(c.run_gmm, size, d, k, n, *arguments)


def ba_in_c(c: Any, v: Data) -> tuple[Step, np.ndarray]:
    p = len(v["weights"])
    return caller(c.run_ba, 31 * p, p, *(v[name] for name in ("cameras", "points", "weights", "features", "observed")))


def lstm_in_c(c: Any, v: Data) -> tuple[Step, np.ndarray]:
    length, bits = v["letters"].shape
    names = ("main", "extra", "state", "letters")
    return caller(
        c.run_lstm, v["main"].size + v["extra"].size, len(v["state"]) // 2, length, bits, *(v[n] for n in names)
    )


def hand_in_c(c: Any, v: Data) -> tuple[Step, np.ndarray]:
    used, parameters = len(v["places"]), len(v["theta"])
    matrices = (np.ascontiguousarray(v[name].transpose(0, 2, 1)) for name in ("relative", "inverse"))
    places, parents = (v[name].astype(np.int32) for name in ("places", "parents"))
    sizes = parameters, len(parents), len(v["base"]), used
    run, columns = caller(
        c.run_hand,
        3 * used * parameters,
        *sizes,
        v["theta"],
        parents,
        *matrices,
        v["base"],
        v["weights"],
        places,
        v["measured"],
    )
    return run, columns.reshape(parameters, 3 * used).T


# ---- ADBench's PyTorch modules, through the torch switch


def stand_ins(torch: Any) -> None:
    """What the modules import besides torch: dataclasses that Python refuses since 3.11, and a function of scipy."""
    for kind in ("GMM", "BA", "LSTM", "Hand"):
        module: Any = ModuleType(f"shared.{kind}Data")
        setattr(module, f"{kind}Input", SimpleNamespace)
        setattr(module, f"{kind}Output", lambda *results: results)
        sys.modules[module.__name__] = module
    scipy: Any = ModuleType("scipy")
    scipy.special = ModuleType("scipy.special")
    scipy.special.multigammaln = lambda a, p: torch.special.multigammaln(torch.tensor(a, dtype=torch.float64), p).item()
    sys.modules |= {"scipy": scipy, "scipy.special": scipy.special}


def module_input(kind: str, v: Data) -> SimpleNamespace:
    given = SimpleNamespace
    if kind == "GMM":
        return given(
            alphas=v["alphas"], means=v["means"], icf=v["icf"], x=v["x"], wishart=given(gamma=v["gamma"], m=v["m"])
        )
    if kind == "BA":
        return given(cams=v["cameras"], x=v["points"], w=v["weights"], obs=v["observed"], feats=v["features"])
    if kind == "LSTM":
        return given(main_params=v["main"], extra_params=v["extra"], state=v["state"], sequence=v["letters"])
    model = given(
        bone_count=len(v["parents"]),
        parents=v["parents"],
        base_relatives=v["relative"],
        base_positions=v["base"],
        inverse_base_absolutes=v["inverse"],
        weights=v["weights"],
        is_mirrored=False,
        triangles=[],
    )
    return given(theta=v["theta"], us=[], data=given(model=model, correspondences=v["places"], points=v["measured"]))


def run_module(case: Case, checkout: Path, seconds: float) -> None:
    """Prints the least time of the module's Jacobian, in a process where `import torch` answers with retrograd."""
    import torch

    torch.set_num_threads(1)
    sys.path.insert(0, str(checkout / "src/python"))
    stand_ins(torch)
    module = __import__(f"modules.PyTorch.PyTorch{case.kind}", fromlist=["x"])
    test = getattr(module, f"PyTorch{case.kind}")()
    best, end = math.inf, time.perf_counter() + seconds
    while True:
        test.prepare(module_input(case.kind, case.data(checkout / "data")))
        start = time.perf_counter()
        test.calculate_jacobian(1)
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() > end:
            break
    jacobian = test.output()[-1]
    if case.kind == "BA":
        jacobian = np.array([float(x) for x in jacobian.vals])
    print(json.dumps({"seconds": best, "norm": float(np.linalg.norm(jacobian)), "size": jacobian.size}))


def through_switch(case: Case, checkout: Path, seconds: float) -> dict[str, float]:
    program = [__file__, "--module", case.name, "--adbench", str(checkout), "--seconds", str(seconds)]
    command = [sys.executable, "-m", "retrograd", "run", *program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


# ---- the cases


@dataclass(frozen=True)
class Case:
    """`at_least` is the least ratio of Tapenade's time to ours; `flat` brings results into the order of Tapenade's."""

    name: str
    kind: str
    data: Callable[[Path | None], Data]
    steps: Callable[[Any, Data], dict[str, Step]]
    in_c: Callable[[Any, Data], tuple[Step, np.ndarray]]
    flat: Callable[[Any], np.ndarray]
    at_least: float


def gmm_case(d: int, k: int, at_least: float) -> Case:
    def data(folder: Path | None) -> Data:
        return gmm_data(d, k, folder)

    return Case(f"GMM, d = {d}, K = {k}", "GMM", data, gmm_steps, gmm_in_c, gradient, at_least)


CASES = [
    gmm_case(10, 25, 1.0),
    gmm_case(64, 5, 1.0),
    gmm_case(2, 5, 1 / 3),
    Case("BA 1", "BA", ba_data, ba_steps, ba_in_c, ba_blocks, 1 / 3),
    Case("LSTM, 2 layers, 1024 letters", "LSTM", lstm_data, lstm_steps, lstm_in_c, gradient, 1 / 4),
    Case(
        "Hand 1, simple", "Hand", hand_data, hand_steps, hand_in_c, lambda j: j.numpy().reshape(-1, j.shape[-1]), 1 / 10
    ),
]


def measure(rg: Any, case: Case, checkout: Path | None, library: Any, plan: Plan) -> dict[str, Any]:
    data = case.data(checkout / "data" if checkout else None)
    steps = case.steps(rg, data)
    row: dict[str, Any] = {"name": case.name, "at_least": case.at_least}
    with warnings.catch_warnings(record=True) as refusals:
        warnings.simplefilter("always")
        results = {name: case.flat(step()) for name, step in steps.items() for _ in range(4)}
    if refusals:  # what is not replayed is no compiled form
        row["refused"] = str(refusals[0].message)
        del steps["compiled"]
    expected = results["eager"]
    if library is not None:
        run, expected = case.in_c(library, data)
        for _ in range(2):
            run()
        steps["tapenade"] = run
    scale = np.abs(expected).max()
    row["difference"] = max(float(np.abs(found - expected).max() / scale) for found in results.values())
    if row["difference"] > 1e-8:
        raise SystemExit(f"{case.name}: results differ by {row['difference']:.1e} of the largest derivative")
    samples = race({name: lambda step=step: step for name, step in steps.items()}, plan)
    row |= {name: sample.seconds for name, sample in samples.items()}
    if checkout is not None:
        module = through_switch(case, checkout, 10 * plan.seconds * plan.rounds)
        norm = float(np.linalg.norm(expected))
        # ADBench's rotations of the hand's bones are in single precision.
        if abs(module["norm"] - norm) > 1e-6 * norm:
            raise SystemExit(f"{case.name}: the PyTorch module's derivatives are others")
        row["switch"] = module["seconds"]
    row["own"] = min(row["eager"], row.get("compiled", math.inf))
    if library is not None:
        row["ratio"] = row["tapenade"] / row["own"]
        row["verdict"] = "ok" if row["ratio"] >= case.at_least else "SHORT"
    return row


def milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.3g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adbench", type=Path, metavar="DIR", help="a checkout of ADBench")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows here too")
    parser.add_argument("--module", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=1.0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    os.environ["RETROGRAD_NUM_THREADS"] = "1"
    if args.module:
        (case,) = (case for case in CASES if case.name == args.module)
        run_module(case, args.adbench, args.seconds)
        return 0
    import retrograd as rg

    rg.set_num_threads(1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        library = tapenade(args.adbench.resolve(), folder) if args.adbench else None
        print(f"{'ms, one thread':32}{'Tapenade':>10}{'switch':>10}{'eager':>10}{'compiled':>10}{'ratio':>8}  budget")
        for case in CASES:
            if not re.search(args.only, case.name):
                continue
            row = measure(rg, case, args.adbench and args.adbench.resolve(), library, QUICK if args.quick else FULL)
            rows.append(row)
            shown = "".join(f"{milliseconds(row.get(c)):>10}" for c in ("tapenade", "switch", "eager", "compiled"))
            told = f"{row['ratio']:.2f}x" if "ratio" in row else "-"
            print(f"{case.name:32}{shown}{told:>8}  >= {case.at_least:.2f}x {row.get('verdict', '')}", flush=True)
            if "refused" in row:
                print(f"    {row['refused']}", flush=True)
    if args.json:
        gcc = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout if library else ""
        facts = {"retrograd": rg.__version__, "gcc": f"gcc {gcc.strip()}", "only": args.only}
        args.json.write_text(json.dumps(facts | {"rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
