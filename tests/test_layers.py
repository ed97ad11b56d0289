"""What lies below does not know what lies above: docs/architecture.md draws the layers."""

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "rust/retrograd-engine/src"
BELOW_TENSORS = [
    "error.rs",
    "error/non_finite.rs",
    "generator.rs",
    "counted.rs",
    "interrupt.rs",
    "call_site.rs",
    "storage/mod.rs",
    "storage/reclaim.rs",
    "tensor/dtype.rs",
    "tensor/format.rs",
    "tensor/layout.rs",
    "tensor/scalar.rs",
    "thread.rs",
    "warn.rs",
]
ENGINE = [
    str(path.relative_to(SOURCES))
    for folder in ("autograd", "tensor", "transforms")
    for path in sorted((SOURCES / folder).rglob("*.rs"))
    if path.name != "tests.rs"
]


def code(path: str) -> str:
    """A file without its comments and its tests."""
    text = re.sub(r"//.*", "", (SOURCES / path).read_text())
    return text.split("#[cfg(test)]\nmod tests")[0]


@pytest.mark.parametrize("path", BELOW_TENSORS)
def test_what_tensors_are_made_of_knows_no_tensor(path):
    # Macros name types by their path in the crate: those are the caller's imports.
    imports = re.findall(r"(?<!\$)\bcrate::[\w:]+", code(path))
    below = r"crate::(tensor::(dtype|layout|scalar)|storage|error|call_site|generator|counted|kernels|thread|warn)\b"
    assert [name for name in imports if not re.match(below, name)] == []
    assert not re.search(r"\bsuper::[^;]*\bTensor\b", code(path))


@pytest.mark.parametrize("path", ENGINE)
def test_the_engine_has_one_door_to_ops(path):
    named = re.findall(r"\bcrate::ops\b|\buse crate::\{[^;]*\bops\b", code(path))
    assert bool(named) == (path == "autograd/arith.rs")
