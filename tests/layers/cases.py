"""Cases of `torch.json` as values: layers and inputs of a package, and what these are and compute."""

import math
import operator
from typing import Any


def build(package: Any, it: Any) -> Any:
    """The value that JSON stands for. A dictionary with one key is a call; the order of draws is that of arguments."""
    if isinstance(it, list):
        return tuple(build(package, i) for i in it)
    if not isinstance(it, dict):
        return it
    ((kind, what),) = it.items()
    return BUILDERS[kind](package, what)


def keywords(package: Any, them: dict[str, Any]) -> dict[str, Any]:
    return {name: build(package, value) for name, value in them.items()}


def packed(package: Any, what: Any) -> Any:
    sequences, lengths = what
    pack = package.nn.utils.rnn.pack_padded_sequence
    return pack(build(package, sequences), package.tensor(lengths), enforce_sorted=False)


def pooled(package: Any, what: Any) -> Any:
    """What a pooling gives to its inverse: two arguments."""
    dims, image = what
    pool = getattr(package.nn, f"MaxPool{dims}d")(2, return_indices=True)
    return Several(pool(build(package, image)))


def made(package: Any, what: Any) -> Any:
    name, args, kwargs = what
    return getattr(package.nn, name)(*build(package, args), **keywords(package, kwargs))


class Several(tuple[Any, ...]):
    """Several arguments."""


BUILDERS: dict[str, Any] = {
    "randn": lambda package, size: package.randn(*size, requires_grad=True),
    "rand": lambda package, size: package.rand(*size, requires_grad=True),
    "randint": lambda package, what: package.randint(what[0], what[1]),
    "signs": lambda package, size: (package.randint(2, size) * 2 - 1).float(),
    "tensor": lambda package, values: package.tensor(values),
    "causal": lambda package, size: package.full((size, size), -math.inf).triu(1),
    "dtype": lambda package, name: getattr(package, name),
    "double": lambda package, it: build(package, it).detach().double().requires_grad_(),
    "detached": lambda package, it: build(package, it).detach(),
    "copy": lambda package, it: build(package, it) * 1,
    "softmax": lambda package, it: build(package, it).softmax(-1),
    "log_softmax": lambda package, it: build(package, it).log_softmax(-1),
    "same": lambda package, what: Several([build(package, what[0])] * what[1]),
    "tuple": lambda package, it: tuple(it),
    "packed": packed,
    "pooled": pooled,
    "layer": made,
}


def digest(tensor: Any) -> list[Any]:
    """Size, dtype, and numbers that tell one tensor from another: the sum of sizes, and two of products."""
    flat = tensor.detach().double().flatten()
    at = (flat * 0 + 1).cumsum(0) if tensor.numel() else flat
    kind = str(tensor.dtype).rpartition(".")[2]
    finite = flat.masked_fill(flat.isinf(), 1e3)
    return [
        list(tensor.shape),
        kind,
        round(finite.abs().sum().item(), 7),
        round((finite * (at * 0.7).cos()).sum().item(), 7),
        round((finite * (at * at * 0.3).sin()).sum().item(), 7),
    ]


def tensors(package: Any, value: Any) -> list[Any]:
    if isinstance(value, package.Tensor):
        return [value]
    return [t for v in value for t in tensors(package, v)] if isinstance(value, tuple) else []


def make(package: Any, it: dict[str, Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """A layer, and the arguments of its call."""
    package.manual_seed(1)
    kind = operator.attrgetter(it["layer"])(package.nn)
    layer = kind(*build(package, it["args"]), **keywords(package, it["kwargs"]))
    layer.train(not it.get("eval", False))
    package.manual_seed(2)
    inputs: list[Any] = []
    for value in it["inputs"]:
        built = build(package, value)
        inputs += built if isinstance(built, Several) else [built]
    return layer, tuple(inputs), keywords(package, it["call"])


def measure(package: Any, it: dict[str, Any]) -> dict[str, Any]:
    """What a case gives: a repr, the state and how it changes, outputs and gradients."""
    layer, inputs, call = make(package, it)
    found: dict[str, Any] = {"repr": repr(layer)}
    lazy = it["layer"].startswith("Lazy")
    state = {} if lazy else layer.state_dict()
    found["initial"] = {name: digest(value) for name, value in state.items()}
    package.manual_seed(3)
    outputs = tensors(package, layer(*inputs, **call))
    found["outputs"] = [digest(out) for out in outputs]
    after = layer.state_dict()
    changed = {name: digest(value) for name, value in after.items()}
    found["changed"] = {name: it for name, it in changed.items() if it != found["initial"].get(name)}
    found["versions"] = {name: it["version"] for name, it in after._metadata.items() if it["version"] != 1}
    if lazy:
        found["became"] = repr(layer)
    weighed = [out * (out.detach() * 0 + 1).flatten().cumsum(0).cos().view_as(out) for out in outputs if out.grad_fn]
    if weighed:
        sum(part.sum() for part in weighed).backward()
    leaves = {f"input {i}": t for i, t in enumerate(tensors(package, (*inputs, *call.values()))) if t.is_leaf}
    leaves |= dict(layer.named_parameters())
    found["gradients"] = {name: digest(t.grad) for name, t in leaves.items() if t.requires_grad and t.grad is not None}
    return found


def draw(package: Any, name: str, size: list[int], kwargs: dict[str, Any], dtype: str) -> list[float]:
    """The first initial values of a parameter, and numbers that all of them make."""
    package.manual_seed(1)
    parameter = package.nn.Parameter(package.empty(size, dtype=getattr(package, dtype)))
    filled = getattr(package.nn.init, name)(parameter, **kwargs)
    assert filled is parameter
    assert parameter.requires_grad
    assert parameter.grad_fn is None
    first = [round(value, 7) for value in parameter.detach().double().flatten()[:4].tolist()]
    # The next number shows how many were drawn.
    return [*first, *digest(parameter)[2:], round(package.rand(1).item(), 7)]
