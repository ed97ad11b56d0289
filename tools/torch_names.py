"""Writes `python/retrograd/_torch_names.py`: the public names of torch that retrograd lacks, by module.

Run it with a Python that can import both: `PYTHONPATH=target/site python tools/torch_names.py`. A name that retrograd
gets later may stay in the list, as the list is read for absent names alone.
"""

import importlib.util
import pkgutil
import textwrap
import types
import warnings
from pathlib import Path
from typing import TypeVar

OUT = Path(__file__).parents[1] / "python" / "retrograd" / "_torch_names.py"
# Those whose names programs use, and that are there.
MODULES = """
    accelerator amp autograd backends backends.cuda backends.cudnn compiler cpu cuda distributed distributions fft func
    jit library linalg masked nn nn.functional nn.init nn.parallel nn.utils nn.utils.rnn optim optim.lr_scheduler
    profiler quasirandom random serialization signal.windows sparse special testing utils utils.benchmark
    utils.checkpoint utils.data
"""
HEAD = '''"""Public names of torch that are not in retrograd, by module; `tools/torch_names.py` writes this file."""

ABSENT = {
'''


def public(module: types.ModuleType) -> set[str]:
    """Its own names: no helpers that it imports."""
    stated = set(getattr(module, "__all__", ()))
    names = {n for n in stated if not n.startswith("_")}
    for name, value in vars(module).items():
        if name.startswith("_"):
            continue
        if isinstance(value, types.ModuleType):
            own = value.__name__ == f"{module.__name__}.{name}"
        else:
            home = getattr(value, "__module__", None) or "torch"
            own = (not stated or module.__name__ == "torch") and home.startswith("torch")
            own = own and not getattr(value, "__name__", "").startswith("_") and not isinstance(value, TypeVar)
        if own:
            names.add(name)
    if hasattr(module, "__path__"):
        names |= {info.name for info in pkgutil.iter_modules(module.__path__) if not info.name.startswith("_")}
    return names


def there(name: str) -> bool:
    return importlib.util.find_spec(f"retrograd.{name}") is not None


def absent(name: str) -> list[str]:
    dotted = f".{name}" if name else ""
    theirs = importlib.import_module(f"torch{dotted}")
    ours = importlib.import_module(f"retrograd{dotted}")
    return sorted(n for n in public(theirs) if not hasattr(ours, n))


def main() -> None:
    warnings.simplefilter("ignore")
    text = HEAD
    for name in ["", *filter(there, MODULES.split())]:
        if names := absent(name):
            text += f'    "{name}": """\n'
            text += textwrap.fill(" ".join(names), 120, initial_indent=" " * 8, subsequent_indent=" " * 8)
            text += '\n    """,\n'
    OUT.write_text(text + "}\n")


if __name__ == "__main__":
    main()
