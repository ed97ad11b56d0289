"""Writes the parameter names of torch's ops, which events of a profile list their arguments by.

    PYTHONPATH= TORCH_PYTHON tools/op_parameters.py

Run with a Python that has torch. The names are those of torch's public schemas, of the ops that retrograd has.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "python/retrograd/autograd/_profiler/op_parameters.py"
HEAD = '''"""The parameters of ops as torch's public schemas list them, by which the arguments of an event are listed.

Written by `tools/op_parameters.py`. An op has a line per overload: names in order.
"""

OVERLOADS: dict[str, tuple[str, ...]] = {
'''


def main() -> None:
    import torch

    stubs = "".join(path.read_text() for path in sorted((ROOT / "python/retrograd/_core").glob("*.pyi")))
    names = {*re.findall(r"def (\w+)\(", stubs), "index", "index_put", "ones_like"}
    real = set(torch._C._dispatch_get_all_op_names())  # the others serve TorchScript alone
    overloads: dict[str, list[str]] = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if f"{schema.name}.{schema.overload_name}".rstrip(".") not in real:
            continue
        if namespace != "aten" or "out" in schema.overload_name.split("_") or schema.overload_name.endswith("out"):
            continue
        if name.rstrip("_") not in names and name not in names:
            continue
        line = " ".join(argument.name for argument in schema.arguments)
        if line not in overloads.setdefault(name, []):
            overloads[name].append(line)
    with TARGET.open("w") as file:
        file.write(HEAD)
        for name in sorted(overloads):
            lines = [json.dumps(line) for line in sorted(overloads[name], key=lambda s: (len(s.split()), s))]
            if len(lines) == 1:
                file.write(f"    {json.dumps(name)}: ({lines[0]},),\n")
            else:
                file.write(
                    "".join([f"    {json.dumps(name)}: (\n", *(f"        {line},\n" for line in lines), "    ),\n"])
                )
        file.write("}\n")


if __name__ == "__main__":
    main()
