"""Nested Python objects as data: what a saved file says besides the elements of tensors.

The structure is a list of objects in which each comes after those that it contains, and refers to them by their place.
So loading is one loop, an object that occurs twice is one object again, and a cycle cannot be expressed.
docs/saving.md describes it.
"""

from __future__ import annotations

import base64
import math
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from retrograd import _core
from retrograd._core import Tensor
from retrograd._core import device as Device
from retrograd._core import dtype as DType
from retrograd._size import Size
from retrograd.nn.parameter import Parameter
from retrograd.serialization._copy import (
    SparseFacts,
    Storage,
    is_sparse,
    restore,
    sparse_of,
    sparse_parts,
    storage_of,
    warn_of_hooks,
)

VERSION = 1
NAME_LENGTH = 200
# Hashing a tuple takes C stack for each tuple in it.
KEY_DEPTH = 1000


class Entry(NamedTuple):
    """An array of a file: the bytes of a storage, with a dtype and a shape."""

    dtype: DType
    shape: tuple[int, ...]
    storage: Storage


# ---- saving


class _Place:
    """An object, and the step to it from the place that it is in."""

    __slots__ = ("obj", "parent", "step")

    def __init__(self, obj: Any, parent: _Place | None = None, step: Any = None) -> None:
        self.obj, self.parent, self.step = obj, parent, step

    def steps(self) -> Iterator[Any]:
        """From here to the root."""
        at = self
        while at.parent is not None:
            yield at.step
            at = at.parent

    def path(self) -> str:
        """As in `obj['a'][3]`."""
        return "obj" + "".join([s.shown() if isinstance(s, _Special) else f"[{s!r}]" for s in self.steps()][::-1])

    def name(self) -> str:
        """As in `a.3`, of limited length."""
        parts: list[str] = []
        for step, _ in zip(self.steps(), range(NAME_LENGTH), strict=False):
            parts.append(str(step) if type(step) in (str, int, _Special) else type(step).__name__)
        return ".".join(reversed(parts))[-NAME_LENGTH:]


class _Special(NamedTuple):
    """A step other than an index or a key: to an attribute, or to a key itself."""

    attribute: str

    def shown(self) -> str:
        return f".{self.attribute}"

    def __str__(self) -> str:
        return self.attribute


class _Open(NamedTuple):
    """An object whose node is being written."""

    obj: Any
    node: list[Any]
    children: Iterator[_Place]


def encode(obj: Any) -> tuple[dict[str, Any], dict[str, Entry]]:
    """The structure, as data for JSON, and the arrays it refers to, by name.

    Raises: TypeError for an object of a type that has no place in it; ValueError for one that contains itself.
    """
    objects: list[list[Any]] = []
    # Objects by id, with their place in the list, or None while open. The object is held so that no id is used twice.
    known: dict[int, tuple[int | None, Any]] = {}
    tensors: list[tuple[_Place, dict[str, Any]]] = []
    root: list[Any] = []
    stack = [_Open(None, root, iter([_Place(obj)]))]
    while stack:
        here = stack[-1]
        place = next(here.children, None)
        if place is None:
            stack.pop()
            if stack:
                known[id(here.obj)] = (len(objects), here.obj)
                stack[-1].node.append([len(objects)])
                objects.append(here.node)
        elif _is_scalar(place.obj):
            here.node.append(place.obj)
        elif id(place.obj) not in known:
            known[id(place.obj)] = (None, place.obj)
            stack.append(_open(place, tensors))
        else:
            index, _ = known[id(place.obj)]
            if index is None:
                raise ValueError(f"save: {place.path()} is an object that contains itself, which files cannot hold")
            here.node.append([index])
    return {"version": VERSION, "root": root[0], "objects": objects}, _entries(tensors)


def _is_scalar(x: Any) -> bool:
    """Whether JSON has it, and gives it back as it was."""
    kind = type(x)
    if x is None or kind is bool or kind is str:
        return True
    if kind is int:
        return bool(-(2**63) <= x < 2**63)
    return kind is float and math.isfinite(x)


def _open(place: _Place, tensors: list[tuple[_Place, dict[str, Any]]]) -> _Open:
    obj, kind = place.obj, type(place.obj)
    children: Iterator[_Place] = iter(())
    if kind is Tensor or kind is Parameter:
        warn_of_hooks(obj, stacklevel=5)  # where `save` was called
        facts: dict[str, Any] = {}
        if is_sparse(obj):
            return _open_sparse(place, facts)
        written = _Place(obj.detach().resolve_neg(), place.parent, place.step) if obj.is_neg() else place
        tensors.append((written, facts))
        node = ["tensor", facts]
        children = _pairs(place, ((_Special(name), name, v) for name, v in list(obj.__dict__.items())))
    elif kind in _SEQUENCES:
        node = [_SEQUENCES[kind]]
        children = iter([_Place(x, place, i) for i, x in enumerate(obj)])
    elif kind in _MAPPINGS:
        node = [_MAPPINGS[kind]]
        children = _pairs(place, ((k, k, v) for k, v in list(obj.items())))
    elif kind in _ATOMS:
        tag, write = _ATOMS[kind]
        node = [tag, write(obj)]
    else:
        raise TypeError(
            f"save: {place.path()} is of type '{kind.__module__}.{kind.__qualname__}', which files do not hold. They "
            "hold tensors, parameters, dicts, lists, tuples, numbers, strings, bytes, None, sizes, dtypes and devices; "
            "with pickle_module=pickle the file is a pickle, which is unsafe to load from sources you do not trust"
        )
    return _Open(obj, node, children)


def _open_sparse(place: _Place, facts: dict[str, Any]) -> _Open:
    """The parts of a sparse tensor come before its attributes, as tensors of their own."""
    sparse, parts = sparse_parts(place.obj)
    facts |= {"layout": sparse.layout, "size": list(sparse.size), "coalesced": sparse.coalesced, "parts": len(parts)}
    facts |= _flags(place.obj)
    names = ("crow_indices", "col_indices", "values") if len(parts) == 3 else ("indices", "values")
    members = (_Place(part, place, _Special(name)) for name, part in zip(names, parts, strict=True))
    attributes = _pairs(place, ((_Special(name), name, v) for name, v in list(place.obj.__dict__.items())))
    return _Open(place.obj, ["sparse", facts], chain(members, attributes))


def _pairs(place: _Place, items: Iterable[tuple[Any, Any, Any]]) -> Iterator[_Place]:
    for step, key, value in items:
        yield _Place(key, place, _Special("keys()"))
        yield _Place(value, place, step)


def _entries(tensors: list[tuple[_Place, dict[str, Any]]]) -> dict[str, Entry]:
    """Chooses what arrays the file has, one for each storage, and writes the layout of the tensors in them."""
    entries: dict[str, Entry] = {}
    names = _Names()
    over: dict[int, tuple[Storage, list[tuple[_Place, dict[str, Any]]]]] = {}
    for place, facts in tensors:
        storage = storage_of(place.obj)
        over.setdefault(id(storage), (storage, []))[1].append((place, facts))
    for storage, members in over.values():
        # The array is the first tensor that is all of the storage, in order; else the bare storage.
        whole = next((place for place, _ in members if _is_all_of(place.obj, storage)), None)
        first = members[0][0]
        if whole is not None:
            name, dtype, shape = names.like(whole.name()), whole.obj.dtype, tuple(whole.obj.shape)
        else:
            dtype = first.obj.dtype
            if dtype is _core.bool or storage.memory.nbytes % dtype.itemsize:
                dtype = _core.uint8
            name, shape = names.like(f"{first.name()} (storage)"), (storage.memory.nbytes // dtype.itemsize,)
        if parts := {_core.complex128: _core.float64, _core.complex32: _core.float16}.get(dtype):
            dtype, shape = parts, (*shape, 2)  # safetensors does not have them
        entries[name] = Entry(dtype, shape, storage)
        for place, facts in members:
            facts.update(_facts(name, entries[name], place.obj))
    return entries


def _is_all_of(tensor: Tensor, storage: Storage) -> bool:
    return (tensor.storage_offset(), tensor.nbytes) == (0, storage.memory.nbytes) and tensor.is_contiguous()


def _facts(name: str, entry: Entry, tensor: Tensor) -> dict[str, Any]:
    facts: dict[str, Any] = {"entry": name}
    if tensor.dtype is not entry.dtype:
        facts["dtype"] = _name_of(tensor.dtype)
    if tuple(tensor.shape) != entry.shape:
        facts["size"] = list(tensor.shape)
    if tensor.stride() != _row_major(tensor.shape):
        facts["stride"] = list(tensor.stride())
    if tensor.storage_offset():
        facts["offset"] = tensor.storage_offset()
    if tensor.is_conj():
        facts["conj"] = True
    return facts | _flags(tensor)


def _flags(tensor: Tensor) -> dict[str, Any]:
    flags = {"parameter": type(tensor) is Parameter, "requires_grad": tensor.requires_grad}
    return {name: True for name, on in flags.items() if on}


class _Names:
    """Gives out names for arrays, each once."""

    def __init__(self) -> None:
        self.used: dict[str, int] = {"__metadata__": 1}

    def like(self, name: str) -> str:
        """This name, or it with a number after it."""
        base = name.encode("utf-8", "replace").decode() or "tensor"
        name = base
        while name in self.used:
            self.used[base] += 1
            name = f"{base} ({self.used[base]})"
        self.used[name] = 1
        return name


def _row_major(sizes: Iterable[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for n in reversed(tuple(sizes)):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


# ---- loading

TensorMaker = Callable[[DType, tuple[int, ...], tuple[int, ...], int], Tensor]
"""Makes a tensor over an array, from dtype, sizes, strides and offset."""


def plain(names: Iterable[str]) -> dict[str, Any]:
    """The structure of a file that has none: a dict of its arrays."""
    names = list(names)
    tensors = [["tensor", {"entry": name}] for name in names]
    items = [part for i, name in enumerate(names) for part in (name, [i])]
    return {"version": VERSION, "root": [len(names)], "objects": [*tensors, ["dict", *items]]}


def decode(structure: Any, entries: Mapping[str, tuple[Entry, TensorMaker]]) -> Any:
    """The object that was encoded, or the dict of a plain file.

    Raises: ValueError if it is no such structure, or does not fit the arrays.
    """
    try:
        return _decoded(structure, entries)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, struct.error) as e:
        raise ValueError(f"{type(e).__name__}: {e}") from e


def _decoded(structure: Any, entries: Mapping[str, tuple[Entry, TensorMaker]]) -> Any:
    if structure["version"] != VERSION:
        raise ValueError(f"the structure is of version {structure['version']!r}, and {VERSION} is the one known")
    made: list[Any] = []
    depths: list[int] = []

    def value(v: Any) -> Any:
        if isinstance(v, list):
            (index,) = v
            if type(index) is not int or not 0 <= index < len(made):
                raise ValueError(f"no object {index!r} before object {len(made)}")
            return made[index]
        if isinstance(v, dict):
            raise ValueError("a value that is neither a scalar nor a reference")
        return v

    def key(v: Any) -> Any:
        if isinstance(v, list) and depths[v[0]] > KEY_DEPTH:
            raise ValueError("a key of tuples nested too deeply")
        return value(v)

    for tag, *rest in structure["objects"]:
        depth = 0
        if tag == "tensor":
            facts, *attributes = rest
            obj: Any = _tensor(facts, entries)
            restore(obj, {attribute(value(k)): value(v) for k, v in _two_by_two(attributes)})
        elif tag == "sparse":
            facts, *rest = rest
            count = _integers([facts["parts"]])[0]
            obj = _sparse(facts, tuple(map(value, rest[:count])))
            restore(obj, {attribute(value(k)): value(v) for k, v in _two_by_two(rest[count:])})
        elif tag in _SEQUENCE_KINDS:
            obj = _SEQUENCE_KINDS[tag](map(value, rest))
            depth = 1 + max((depths[v[0]] for v in rest if isinstance(v, list)), default=0) if tag == "tuple" else 0
        elif tag in _MAPPING_KINDS:
            obj = _MAPPING_KINDS[tag]((key(k), value(v)) for k, v in _two_by_two(rest))
        else:
            (data,) = rest
            obj = _ATOM_READERS[tag](data)
        made.append(obj)
        depths.append(depth)
    return value(structure["root"])


def attribute(name: Any) -> str:
    """Refuses names that do more than to find what was stored under them."""
    if type(name) is not str or name in ("__class__", "__dict__") or hasattr(getattr(Tensor, name, None), "__set__"):
        raise ValueError(f"a tensor with an attribute {name!r}")
    return name


def _two_by_two(items: list[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(items[::2], items[1::2], strict=True)


def _tensor(facts: dict[str, Any], entries: Mapping[str, tuple[Entry, TensorMaker]]) -> Tensor:
    entry, make = entries[facts["entry"]]
    dtype = _dtype_named(facts["dtype"]) if "dtype" in facts else entry.dtype
    sizes = _integers(facts.get("size", entry.shape))
    strides = _integers(facts["stride"]) if "stride" in facts else _row_major(sizes)
    (offset,) = _integers([facts.get("offset", 0)])
    tensor = make(dtype, sizes, strides, offset)
    if facts.get("conj", False) is True:
        tensor = tensor.conj().detach()
    return _flagged(tensor, facts)


def _sparse(facts: dict[str, Any], parts: tuple[Any, ...]) -> Tensor:
    if not all(isinstance(part, Tensor) for part in parts):
        raise TypeError("a sparse tensor with parts that are no tensors")
    sparse = SparseFacts(facts["layout"], tuple(_integers(facts["size"])), facts["coalesced"] is True)
    return _flagged(sparse_of(sparse, tuple(part.detach() for part in parts)), facts)


def _flagged(tensor: Tensor, facts: dict[str, Any]) -> Tensor:
    requires_grad = facts.get("requires_grad", False) is True
    if facts.get("parameter", False) is True:
        return Parameter(tensor, requires_grad)
    return tensor.requires_grad_() if requires_grad else tensor


def _integers(items: Iterable[Any]) -> tuple[int, ...]:
    found = tuple(items)
    if any(type(n) is not int or n < 0 for n in found):
        raise ValueError(f"{list(found)} instead of integers that are not negative")
    return found


# ---- atoms: objects that hold no others

_DTYPES = {str(d).rpartition(".")[2]: d for d in (getattr(_core, name) for name in dir(_core)) if isinstance(d, DType)}


def _name_of(dtype: DType) -> str:
    return str(dtype).rpartition(".")[2]


def _dtype_named(name: Any) -> DType:
    return _DTYPES[name]


def _bytes_of(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _float_of(text: str) -> float:
    (x,) = struct.unpack(">d", bytes.fromhex(text))
    return float(x)


def _complex_of(text: str) -> complex:
    return complex(*struct.unpack(">dd", bytes.fromhex(text)))


def _device_named(name: Any) -> Device:
    if not isinstance(name, str):  # a number would be one, too
        raise TypeError(name)
    return Device(name)


_SEQUENCES: dict[type, str] = {list: "list", tuple: "tuple", Size: "Size"}
_MAPPINGS: dict[type, str] = {dict: "dict", OrderedDict: "OrderedDict"}
_ATOMS: dict[type, tuple[str, Callable[[Any], str]]] = {
    int: ("int", hex),  # any size: decimal digits are limited
    float: ("float", lambda x: struct.pack(">d", x).hex()),
    complex: ("complex", lambda x: struct.pack(">dd", x.real, x.imag).hex()),
    bytes: ("bytes", lambda x: base64.b64encode(x).decode()),
    DType: ("dtype", _name_of),
    Device: ("device", str),
}
_SEQUENCE_KINDS: dict[str, Callable[[Iterable[Any]], Any]] = {tag: kind for kind, tag in _SEQUENCES.items()}
_MAPPING_KINDS: dict[str, Callable[[Iterable[Any]], Any]] = {tag: kind for kind, tag in _MAPPINGS.items()}
_ATOM_READERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda text: int(text, 16),
    "float": _float_of,
    "complex": _complex_of,
    "bytes": _bytes_of,
    "dtype": _dtype_named,
    "device": _device_named,
}
