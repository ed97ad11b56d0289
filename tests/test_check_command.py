"""`python -m retrograd check`: which names of torch a program uses is read from its source, and looked up."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrograd import _check
from retrograd._check import Answer, ask, names_in


def names(source: str) -> list[str]:
    return [use.name for use in names_in(source, "program.py")]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import torch\ntorch.nn.Linear(1, 1)", ["torch.nn.Linear"]),
        ("import torch as t\nt.ones(1)", ["torch.ones"]),
        ("import torch.nn as nn\nnn.Linear", ["torch.nn", "torch.nn.Linear"]),
        ("import torch.nn.functional\ntorch.nn.functional.relu", ["torch.nn.functional", "torch.nn.functional.relu"]),
        ("from torch import nn\nnn.init.zeros_(x)", ["torch.nn", "torch.nn.init.zeros_"]),
        ("from torch.nn import Linear as L\nL(1, 1)", ["torch.nn.Linear", "torch.nn.Linear"]),
        ("from torch.nn import *\nLinear(1, 1)", ["torch.nn", "torch.nn.Linear"]),
        ("import torch\nF = torch.nn.functional\nF.relu(x)", ["torch.nn.functional", "torch.nn.functional.relu"]),
        ("import torch\ndef f(torch): return torch.ones(1)", []),
        ("import torch\nf = lambda torch: torch.ones(1)\ntorch.zeros(1)", ["torch.zeros"]),
        ("def f():\n    import torch\n    torch.ones(1)\ntorch.zeros(1)", ["torch.ones"]),
        ("def f(): return torch.ones(1)\nimport torch", ["torch.ones"]),
        ("try:\n    import torch\nexcept ImportError: pass\ntorch.ones(1)", ["torch.ones"]),
        ("import torch\ntorch = 1\ntorch.ones", []),
        ("import torch\nfor torch in []: torch.ones", []),
        ("import torch\ntorch.ones(1).abs().foo", ["torch.ones", "torch.Tensor.abs"]),
        ("import torch\ntorch.relu(x).foo", ["torch.relu"]),
        ("import torch\ntorch.backends.cudnn.benchmark = True", []),
        ("import torch\ndef f(x: torch.Tensor = torch.ones(1)) -> torch.dtype: ...",
         ["torch.ones", "torch.Tensor", "torch.dtype"]),
        ("import torch\n@torch.no_grad()\nclass A(torch.nn.Module, metaclass=torch.M): x = torch.pi",
         ["torch.no_grad", "torch.nn.Module", "torch.M", "torch.pi"]),
        ("import torch\nx: torch.Tensor = torch.ones(1)", ["torch.Tensor", "torch.ones"]),
        ("from . import torch\ntorch.ones", []),
        ("from .torch import nn\nnn.Linear", []),
        ("import torchvision, numpy as torch\ntorch.ones", []),
    ],
)  # fmt: skip
def test_names_in_a_program(source: str, expected: list[str]) -> None:
    assert sorted(names(source)) == sorted(expected)


def test_lines_are_those_of_the_use() -> None:
    source = "import torch\n\n\ntorch.ones(\n  torch.pi)\n"
    assert [(use.name, use.line) for use in names_in(source, "p.py")] == [("torch.ones", 4), ("torch.pi", 5)]


def test_what_retrograd_has() -> None:
    assert ask("torch.nn.Linear") == Answer("have", "torch.nn.Linear")
    assert ask("torch.nn.utils.prune.l1_unstructured").verdict == "have"
    assert ask("torch.float32.itemsize").verdict == ask("torch.relu.anything.at_all").verdict == "have"
    assert ask("torch.autograd.gradcheck").verdict == "have"
    typo = ask("torch.nn.Linaer.foo")
    assert typo[:2] == ("missing", "torch.nn.Linaer") and "did you mean" in typo.advice and "Linear" in typo.advice
    assert ask("torch.nothing_like_it.at_all") == Answer("missing", "torch.nothing_like_it")
    assert ask("torch.Tensor.nothing_like_it").verdict == "missing"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("torch.hub.load", "network"),
        ("torch.jit.save", "TorchScript"),
        ("torch.cuda.Stream", "CPU"),
        ("torch.cuda.get_device_properties", "CPU"),
    ],
)
def test_what_retrograd_refuses(name: str, reason: str) -> None:
    answer = ask(name + ".deeper")
    assert (answer.verdict, answer.name) == ("refused", name) and reason in answer.advice


def test_advice_is_what_the_error_says(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "module 'retrograd' has no attribute 'foo': torch has it; use 'retrograd.bar'"
    assert _check._advice(said, _check, "torch.foo") == "torch has it; use 'torch.bar'"
    assert _check._advice("module 'torch' has no attribute 'asks'", _check, "torch.asks") == "did you mean torch.ask?"


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text("import torch\ntorch.ones(1)\ntorch.Linaer\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "b.py").write_text("import torch.missing")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.py").write_text("from torch import hub\nhub.load('x')\nimport torch\ntorch.ones(2)\n")
    (tmp_path / "d.txt").write_text("not Python")
    assert _check.main([str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    shown = [(*line.split(maxsplit=2), "")[:3] for line in lines[:-1]]
    assert [row[:2] for row in shown] == [
        ("missing", "torch.Linaer"),
        ("refused", "torch.hub.load"),
        ("have", "torch.hub"),
        ("have", "torch.ones"),
    ]
    assert shown[0][2].startswith(f"{tmp_path}/a.py:3")
    assert shown[1][2].startswith(f"{tmp_path}/sub/c.py:2") and "network" in shown[1][2]
    assert shown[3][2] == f"{tmp_path}/a.py:2 and 1 more"
    assert lines[-1] == "4 names of torch in 2 files: 1 missing, 1 refused, 2 have"
    assert _check.main(["--brief", str(tmp_path / "sub")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[0].startswith("refused") and lines[1].endswith("1 refused, 2 have")


def test_files_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _check.main([str(tmp_path / "no.py")]) == 2 and "there is no" in capsys.readouterr().err
    assert _check.main([]) == 2
    file = tmp_path / "bad.py"
    for text in (b"import torch\ndef\n", b"\x00", b"\xff"):
        file.write_bytes(text)
        assert _check.main([str(file)]) == 1
        assert f"{file}:" in capsys.readouterr().err
    file.write_text("import torch\ntorch.ones(1)\n")
    assert _check.main([str(file)]) == 0
