"""The digits demo trains, judges itself, and leaves its files."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import retrograd as rg

TRAIN = Path(__file__).parents[1] / "examples" / "digits" / "train.py"


def train(output, *arguments):
    command = [sys.executable, str(TRAIN), "--output", str(output), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_demo_reaches_its_target_and_leaves_its_files(tmp_path):
    run = train(tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "30/30" in run.stderr and "held out" in run.stderr
    assert {path.name for path in tmp_path.iterdir()} == {
        "learning_curve.png",
        "predictions.png",
        "graph.svg",
        "memory.svg",
        "parameters.safetensors",
    }
    assert (tmp_path / "predictions.png").read_bytes().startswith(b"\x89PNG")
    graph = (tmp_path / "graph.svg").read_text()
    assert all(name in graph for name in ("weight1", "bias1", "weight2", "bias2"))
    memory = (tmp_path / "memory.svg").read_text()
    assert "backward() frees" in memory and "train.py:" in memory


def test_demo_fails_when_the_network_learned_too_little(tmp_path):
    run = train(tmp_path, "--epochs", "1", "--rate", "0.0001")
    assert run.returncode == 1
    assert "FAILED: accuracy" in run.stderr


# ---- the twin for torch alone

TWIN = TRAIN.with_name("train_torch.py")


def trained(*command):
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=300, check=False)


def losses(output):
    return [float(loss) for loss in re.findall(r"^epoch \d+: loss ([\d.]+)$", output, re.MULTILINE)]


def test_the_twin_for_torch_trains_through_the_switch(tmp_path):
    assert "retrograd" not in TWIN.read_text().partition('"""\n\nfrom')[2]
    run = trained("-m", "retrograd", "run", str(TWIN), "--output", str(tmp_path / "digits.net"))
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(losses(run.stdout)) == 20 and losses(run.stdout)[-1] < 0.02 and "held-out" in run.stdout
    assert (tmp_path / "digits.net").read_bytes().startswith(b"PK")
    state = rg.load(tmp_path / "digits.net")
    assert {name: tuple(value.shape) for name, value in state.items()} == {
        "0.weight": (128, 64),
        "0.bias": (128,),
        "2.weight": (10, 128),
        "2.bias": (10,),
    }
    failed = trained("-m", "retrograd", "run", str(TWIN), "--epochs", "0")
    assert failed.returncode == 1 and "FAILED: accuracy" in failed.stderr


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_the_twin_learns_the_same_with_torch():
    ours = trained("-m", "retrograd", "run", str(TWIN), "--epochs", "3")
    theirs = trained(str(TWIN), "--epochs", "3")
    assert losses(ours.stdout) == pytest.approx(losses(theirs.stdout), abs=2e-4) and len(losses(ours.stdout)) == 3
