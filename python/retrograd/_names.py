"""What the error of a name that a module does not have adds: whether torch has it, and what to use instead."""

from __future__ import annotations

import re
import sys
from functools import cache

from retrograd._torch_names import ABSENT

# Where to look for a name that another module has.
_ELSEWHERE = ("nn.functional", "linalg", "nn", "special", "fft", "func", "autograd", "optim", "utils", "Tensor")

# Of names that torch has: what to use instead, by the first pattern that the name matches.
_INSTEAD = {
    r"(torch_)?(quant|fake_quant|choose_qparams|fused_moving_avg|dequantize|int_repr|per_(channel|tensor)|empty_quant)"
    r"|q_(per|scale|zero)|qu?int\d|Q(U?)Int|(q?scheme|qat|intrinsic)$": "nothing is quantised; keep floating point",
    r"(cudnn|miopen|mkldnn|fbgemm|cuda|gds|nccl|hip)": "it serves a device; use the name without the prefix",
    r"(float|bits|u?int)\d": "there is no such dtype; the smallest are bfloat16, float16, int8 and uint8",
    r"[Ss]ym([A-Z_]|$)|guard|.*_guards?_": "sizes are plain int, and nothing is compiled",
    r"(to_)?sparse_(bs|csc|compressed|semi)|(c?col|row)_indices|SparseSemi|semi_": "sparse tensors are COO or CSR",
    r"[Mm]asked_?[Tt]ensor$|(as|is)_masked": "write where(mask, x, 0), or call the functions of `masked`",
    r".*Script|CompilationUnit|import_ir|parse_(ir|schema|type)|.*Type$|frontend$|mobile": "programs run as Python; "
    "jit.script returns what it is given",
    r".*(DataPipe|datapipes?)": "write an IterableDataset",
    r".*Storage": "tensors share memory by views; look at `untyped_storage()`",
    r"symeig$": "use linalg.eigh",
    r"matrix_rank$": "use linalg.matrix_rank",
    r"(fuse_|fusion$)": "evaluation runs the layers as they are",
    r"multiprocessing$": "use Python's multiprocessing: tensors are pickled",
    r"(cpp_extension|hipify|cpp)$": "write a Function in Python, or an op in Rust",
}


def absent(module: str, name: str) -> AttributeError:
    """The error of a public name that a module lacks, which begins as Python's own does."""
    # Python would add another guess if it knew the object as well.
    return AttributeError(f"module {module!r} has no attribute {name!r}{_advice(module, name)}", name=name)


@cache
def _advice(module: str, name: str) -> str:
    elsewhere = _elsewhere(module, name)
    if name in ABSENT.get(module.partition(".")[2], "").split():
        remedy = next((text for pattern, text in _INSTEAD.items() if re.match(pattern, name)), "")
        remedy = f"use {elsewhere!r}" if elsewhere else remedy
        return f": torch has it, retrograd does not{remedy and '; '}{remedy}"
    guess = elsewhere or _similar(module, name)
    return f": did you mean {guess!r}?" if guess else ""


def _elsewhere(module: str, name: str) -> str:
    """The name with its module, if another one has it."""
    import retrograd

    if module != "retrograd" and name in retrograd.__all__:
        return f"retrograd.{name}"
    for place in _ELSEWHERE:
        owner: object = retrograd
        for part in place.split("."):
            owner = getattr(owner, part)
        if f"retrograd.{place}" != module and name in dir(owner):
            return f"retrograd.{place}.{name}"
    return ""


def _similar(module: str, name: str) -> str:
    from difflib import get_close_matches

    public = [other for other in dir(sys.modules[module]) if not other.startswith("_")]
    lowered = {other.lower(): other for other in public}
    found = get_close_matches(name, public, n=1, cutoff=0.75)
    found = found or [lowered[match] for match in get_close_matches(name.lower(), lowered, n=1, cutoff=0.75)]
    return found[0] if found else ""
