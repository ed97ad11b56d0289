"""The digits demo trains, judges itself, and leaves its files."""

import subprocess
import sys
from pathlib import Path

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
