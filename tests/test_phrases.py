"""Where PyTorch raises or warns for the same reason, its phrase stands in our message unbroken, and its type holds."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from typing import Any

import phrases
from phrases import Said, differs, holds

STORED: dict[str, dict[str, Any]] = json.loads((phrases.HERE / "said.json").read_text())


def unpack(row: dict[str, Any]) -> Said:
    raised = ((row["raises"],), row["says"]) if "raises" in row else None
    return Said(raised, tuple(((name,), text) for name, text in row.get("warns", ())))


def rows(only: str = "") -> Iterator[tuple[str, Said, Said]]:
    """Each program and refusal, what PyTorch says, and what retrograd says."""
    rg = importlib.import_module("retrograd")
    for name in ("utils.checkpoint", "func", "autograd.forward_ad", "utils.dlpack"):
        importlib.import_module(f"retrograd.{name}")
    for program in phrases.programs():
        if only in program and "crash" not in STORED["programs"].get(program, {"crash": True}):
            yield program, unpack(STORED["programs"][program]), phrases.run(rg, program)
    for name, call in importlib.import_module("phrases.refusals").calls():
        if only in name and name in STORED["refusals"]:
            yield name, unpack(STORED["refusals"][name]), phrases.said(call)
