"""Modules that hold others, or parameters: in a chain, a list or a dict."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain, count
from operator import index as as_index
from typing import Any, Self, SupportsIndex, overload

from retrograd._core import Tensor
from retrograd._queries import typename
from retrograd.nn.modules.module import Module, _addindent
from retrograd.nn.parameter import Parameter

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def _position(index: SupportsIndex, size: int) -> int:
    """The position from the front."""
    position = as_index(index)
    if not -size <= position < size:
        raise IndexError(f"index {position} is out of range")
    return position % size


class Container(Module):
    """An old name of `Module`, with children as keywords; it warns.

    >>> rg.nn.Module()  # instead of Container
    Module()
    """

    def __init__(self, **kwargs: Any) -> None:
        warnings.warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that "
            "instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Numbered(Module):
    """Children in an order, named by their position unless they got names."""

    _modules: dict[str, Module]  # type: ignore[assignment]  # there is no None among them

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def _name(self, index: SupportsIndex) -> str:
        return [*self._modules][_position(index, len(self))]

    def __setitem__(self, index: SupportsIndex, module: Module) -> None:
        setattr(self, self._name(index), module)

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        for name in [*self._modules][index] if isinstance(index, slice) else [self._name(index)]:
            delattr(self, name)
        self._modules = {str(i): module for i, module in enumerate(self._modules.values())}

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Module) -> Self:
        """Put a module at the end.

        >>> rg.nn.ModuleList().append(rg.nn.Module())
        ModuleList(
          (0): Module()
        )
        """
        self.add_module(str(len(self)), module)
        return self

    def _insert(self, position: int, module: Module) -> None:
        for i in range(len(self), position, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(position)] = module


class Sequential(_Numbered):
    """Modules that are called one after the other, each with the result of the one before.

    Args: the modules, or an `OrderedDict` of them by name.

    >>> net = rg.nn.Sequential(rg.nn.Module(), rg.nn.Module())
    >>> net.pop(1), len(net.append(rg.nn.Module()))
    (Module(), 2)
    >>> net
    Sequential(
      (0): Module()
      (1): Module()
    )
    """

    @overload
    def __init__(self, *args: Module) -> None: ...
    @overload
    def __init__(self, arg: OrderedDict[str, Module], /) -> None: ...
    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else zip(map(str, count()), args, strict=False):
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """What the last module makes of what those before made of the input.

        >>> rg.nn.Sequential()(3)  # Module.__call__ calls forward(3)
        3
        """
        for module in self._modules.values():
            input = module(input)
        return input

    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    @overload
    def __getitem__(self, idx: SupportsIndex) -> Module: ...
    def __getitem__(self, idx: SupportsIndex | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict([*self._modules.items()][idx]))
        return self._modules[self._name(idx)]

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*chain(self, _chain(other)))

    def __iadd__(self, other: Any) -> Self:
        return self.extend([*_chain(other)])

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*[*self] * self._times(other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        return self.extend([*self] * (self._times(other) - 1))

    def _times(self, count: Any) -> int:
        if not isinstance(count, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(count)}")
        if count <= 0:
            raise ValueError(f"Non-positive multiplication factor {count} for {type(self)}")
        return count

    @overload
    def pop(self, key: slice) -> Self: ...
    @overload
    def pop(self, key: SupportsIndex) -> Module: ...
    def pop(self, key: SupportsIndex | slice) -> Any:
        """Take a module out, or a part of the chain.

        >>> rg.nn.Sequential(rg.nn.Module()).pop(0)
        Module()
        """
        taken = self[key]
        del self[key]
        return taken

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before the one at an index.

        Raises: AssertionError for what is no module; IndexError for an index that is out of range.

        >>> rg.nn.Sequential(rg.nn.Module()).insert(0, rg.nn.ModuleList())
        Sequential(
          (0): ModuleList()
          (1): Module()
        )
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        self._insert(index + size if index < 0 else index, module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Put modules at the end.

        >>> len(rg.nn.Sequential().extend([rg.nn.Module()]))
        1
        """
        for module in sequential:
            self.append(module)
        return self


def _chain(other: Any) -> Sequential:
    if not isinstance(other, Sequential):
        raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
    return other


class ModuleList(_Numbered):
    """A list of modules, which all are children.

    Args: `modules` an iterable of them.

    >>> layers = rg.nn.ModuleList([rg.nn.Module() for _ in range(3)])
    >>> layers.append(rg.nn.ModuleList())
    ModuleList(
      (0-2): 3 x Module()
      (3): ModuleList()
    )
    >>> [type(layer).__name__ for layer in layers[2:]]
    ['Module', 'ModuleList']
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    @overload
    def __getitem__(self, idx: SupportsIndex) -> Module: ...
    def __getitem__(self, idx: SupportsIndex | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)([*self._modules.values()][idx])
        return self._modules[str(_position(idx, len(self._modules)))]

    def __add__(self, modules: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, modules))

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __repr__(self) -> str:
        runs: list[tuple[str, int, int]] = []  # equal neighbours are shown once, with their first and last position
        for i, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][0] == text:
                runs[-1] = text, runs[-1][1], i
            else:
                runs.append((text, i, i))
        if not runs:
            return f"{self._get_name()}()"
        lines = [
            f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
            for text, first, last in runs
        ]
        return f"{self._get_name()}(\n  " + "\n  ".join(_addindent(line, 2) for line in lines) + "\n)"

    @overload
    def pop(self, key: slice) -> Self: ...
    @overload
    def pop(self, key: SupportsIndex) -> Module: ...
    def pop(self, key: SupportsIndex | slice) -> Any:
        """Take a module out, or a part of the list.

        >>> rg.nn.ModuleList([rg.nn.Module()]).pop(0)
        Module()
        """
        taken = self[key]
        del self[key]
        return taken

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at an index.

        >>> layers = rg.nn.ModuleList([rg.nn.Module()])
        >>> layers.insert(0, rg.nn.ModuleList())
        >>> layers[0]
        ModuleList()
        """
        self._insert(range(len(self) + 1)[slice(index, None)].start, module)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Put modules at the end.

        Raises: TypeError for what is no iterable.

        >>> len(rg.nn.ModuleList().extend([rg.nn.Module()]))
        1
        """
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in modules:
            self.append(module)
        return self


class ModuleDict(Module):
    """A dict of modules by name, which all are children.

    Args: `modules` a mapping, or an iterable of pairs.

    >>> kinds = rg.nn.ModuleDict({"a": rg.nn.Module()})
    >>> kinds["b"] = rg.nn.ModuleList()
    >>> kinds
    ModuleDict(
      (a): Module()
      (b): ModuleList()
    )
    >>> kinds.pop("b"), kinds.keys(), [*kinds.items()], [*kinds.values()]
    (ModuleList(), dict_keys(['a']), [('a', Module())], [Module()])
    >>> kinds.clear()
    """

    _modules: dict[str, Module]  # type: ignore[assignment]  # there is no None among them

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take a module out. Raises: KeyError if there is none of that name."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """The names with their modules."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules of a mapping or of pairs; one takes the place of another of its name.

        Raises: TypeError and ValueError for what is no mapping and no pairs.

        >>> kinds = rg.nn.ModuleDict()
        >>> kinds.update([("a", rg.nn.Module())])
        >>> len(kinds)
        1
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(modules).__name__}"
            )
        pairs = modules.items() if isinstance(modules, ModuleDict | Mapping) else _pairs("ModuleDict", modules)
        for name, module in pairs:
            self[name] = module


def _pairs(owner: str, given: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{owner} update sequence element #{i} should be Iterable; is{type(pair).__name__}")
        name_and_value: Any = pair
        if len(name_and_value) != 2:
            raise ValueError(f"{owner} update sequence element #{i} has length {len(name_and_value)}; 2 is required")
        yield name_and_value[0], name_and_value[1]


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _lines(items: Iterable[tuple[Any, Any]], kind: Any) -> str:
    """A line for each of the items: of which kind a tensor is, and its sizes."""
    lines = []
    for key, value in items:
        if isinstance(value, Tensor):
            name = "Parameter" if isinstance(value, Parameter) else "Tensor"
            sizes = "x".join(map(str, value.size()))
            lines.append(f"  ({key}): {name} containing: [{kind(value)} of size {sizes}]")
        else:
            lines.append(f"  ({key}): Object of type: {type(value).__name__}")
    return "\n".join(lines)


class ParameterList(Module):
    """A list of parameters, which all belong to the module; tensors become parameters, other objects stay as they are.

    Args: `values` an iterable of them.

    >>> rg.nn.ParameterList([rg.ones(2), rg.zeros(1)])
    ParameterList(
        (0): Parameter containing: [retrograd.float32 of size 2]
        (1): Parameter containing: [retrograd.float32 of size 1]
    )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    @overload
    def __getitem__(self, idx: SupportsIndex) -> Any: ...
    def __getitem__(self, idx: SupportsIndex | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)([self[i] for i in range(*idx.indices(len(self)))])
        return getattr(self, str(_position(idx, len(self))))

    def __setitem__(self, idx: SupportsIndex, param: Any) -> None:
        setattr(self, str(_position(idx, len(self))), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Self:
        """Put a value at the end.

        >>> len(rg.nn.ParameterList().append(rg.ones(1)))
        1
        """
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Put values at the end.

        Raises: TypeError for what is no iterable, and for a tensor.

        >>> len(rg.nn.ParameterList().extend([rg.ones(1)]))
        1
        """
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """A line for each value.

        >>> rg.nn.ParameterList([1]).extra_repr()
        '  (0): Object of type: int'
        """
        return _lines(enumerate(self), lambda tensor: tensor.dtype)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict of parameters by name, which all belong to the module; tensors become parameters, other objects stay.

    Args: `parameters` a mapping, or an iterable of pairs.

    >>> params = rg.nn.ParameterDict({"a": rg.ones(2)})
    >>> params["b"] = rg.zeros(1)
    >>> params
    ParameterDict(
        (a): Parameter containing: [retrograd.FloatTensor of size 2]
        (b): Parameter containing: [retrograd.FloatTensor of size 1]
    )
    >>> [*params.keys()], [name for name, _ in params.items()], len([*params.values()]), params.get("c")
    (['a', 'b'], ['a', 'b'], 2, None)
    >>> params.popitem()[0], params.pop("a").shape, params.setdefault("c", 3), len(params.copy())
    ('b', retrograd.Size([2]), 3, 1)
    >>> params.clear()
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _string(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[_string(key)] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a name, which becomes `default` if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove everything."""
        for key in [*self._keys]:
            del self[key]

    def pop(self, key: str) -> Any:
        """Take a value out."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take the last value out, with its name. Raises: KeyError if there is none."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a name, or `default`."""
        return self[key] if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dict with one value for all names.

        >>> len(rg.nn.ParameterDict().fromkeys(["a", "b"]))
        2
        """
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names with their values."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add values of a mapping or of pairs; those of a plain dict are added in the order of their names.

        Raises: TypeError and ValueError for what is no mapping and no pairs.

        >>> params = rg.nn.ParameterDict()
        >>> params.update({"b": 1, "a": 2})
        >>> [*params]
        ['a', 'b']
        """
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(parameters).__name__}"
            )
        given: Any = parameters
        if isinstance(given, OrderedDict | ParameterDict):
            pairs = given.items()
        elif isinstance(given, Mapping):
            pairs = sorted(given.items())
        else:
            pairs = _pairs("ParameterDict", given)
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        """A line for each value.

        >>> rg.nn.ParameterDict({"a": 1}).extra_repr()
        '  (a): Object of type: int'
        """
        return _lines(self.items(), typename)

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        both = other.copy()
        both.update(self)
        return both

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self


def _string(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
            f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
        )
    return key
