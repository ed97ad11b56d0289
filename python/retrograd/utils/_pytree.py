"""Functions of trees: tuples, lists, dicts and registered classes, nested to any depth. All else is a leaf.

>>> from retrograd.utils import _pytree as pytree
>>> pytree.tree_map(lambda x: x * 10, {"a": 1, "b": (2, [3])})
{'a': 10, 'b': (20, [30])}
"""

from __future__ import annotations

import functools
import json
import types
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from retrograd import _tree
from retrograd._tree import BUILT_IN as BUILTIN_TYPES
from retrograd._tree import DICTS as STANDARD_DICT_TYPES
from retrograd._tree import LEAF as _LEAF_SPEC
from retrograd._tree import NODES as SUPPORTED_NODES
from retrograd._tree import Context, IsLeaf, LeafSpec, TreeSpec, is_namedtuple_class
from retrograd._tree import Node as NodeDef

__all__ = [
    "BUILTIN_TYPES",
    "STANDARD_DICT_TYPES",
    "SUPPORTED_NODES",
    "Context",
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "NodeDef",
    "PyTree",
    "PyTreeSpec",
    "SequenceKey",
    "TreeSpec",
    "arg_tree_leaves",
    "is_constant_class",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keystr",
    "map_only",
    "register_constant",
    "register_dataclass",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dict",
    "treespec_dumps",
    "treespec_leaf",
    "treespec_loads",
    "treespec_pprint",
    "treespec_tuple",
]

PyTree: TypeAlias = Any
PyTreeSpec: TypeAlias = TreeSpec
FlattenFunc: TypeAlias = Callable[[Any], tuple[Iterable[Any], Context]]
UnflattenFunc: TypeAlias = Callable[[Iterable[Any], Context], Any]
Func: TypeAlias = Callable[..., Any]


class _Serialized(NamedTuple):
    name: str
    to_dumpable: Callable[[Context], Any] | None
    from_dumpable: Callable[[Any], Context] | None


# How a class is written, where it has a name for that.
_SERIALIZED: dict[Any, _Serialized] = {}


# Registration


def register_pytree_node(
    cls: type,
    flatten_fn: FlattenFunc,
    unflatten_fn: UnflattenFunc,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Context], Any] | None = None,
    from_dumpable_context: Callable[[Any], Context] | None = None,
    flatten_with_keys_fn: FlattenFunc | None = None,
) -> None:
    """Let instances of a class be nodes, for the transforms of `retrograd.func` too.

    Args: `flatten_fn` returns the branches and a context, from which `unflatten_fn` makes an instance again;
    `flatten_with_keys_fn` returns pairs of a key and a branch in their place. `serialized_type_name` and the functions
    for contexts are for `treespec_dumps`.
    Raises: ValueError for a class that is registered, and for one function for contexts without the other.

    >>> from retrograd.utils import _pytree as pytree
    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda branches, _: Pair(*branches))
    >>> pytree.tree_leaves([Pair(1, (2, 3))])
    [1, 2, 3]
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _register(
        NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn),
        serialized_type_name,
        to_dumpable_context,
        from_dumpable_context,
    )


def _register(
    node: NodeDef,
    name: str | None,
    to_dumpable: Callable[[Context], Any] | None = None,
    from_dumpable: Callable[[Any], Context] | None = None,
) -> None:
    if (to_dumpable is None) != (from_dumpable is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {node.type} must be None or registered."
        )
    SUPPORTED_NODES[node.type] = node
    if name is not None:
        _SERIALIZED[node.type] = _Serialized(name, to_dumpable, from_dumpable)


def _private_register_pytree_node(
    cls: type, flatten_fn: FlattenFunc, unflatten_fn: UnflattenFunc, **options: Any
) -> None:
    """`register_pytree_node`, which warns of a class that is registered, and replaces it."""
    if cls in SUPPORTED_NODES:
        warnings.warn(
            f"{cls} is already registered as pytree node. Overwriting the previous registration.", stacklevel=2
        )
        _deregister_pytree_node(cls)
    register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


def _register_pytree_node(cls: type, flatten_fn: FlattenFunc, unflatten_fn: UnflattenFunc, **options: Any) -> None:
    """An old name of `register_pytree_node`; it warns."""
    warnings.warn(
        "`torch.utils._pytree._register_pytree_node` is deprecated. Please use "
        "`torch.utils._pytree.register_pytree_node` instead.",
        FutureWarning,
        stacklevel=2,
    )
    _private_register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


def _deregister_pytree_node(cls: type) -> None:
    """Let instances of a class be leaves again."""
    del SUPPORTED_NODES[cls]
    _SERIALIZED.pop(cls, None)
    _CONSTANTS.discard(cls)


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Give a class of named tuples a name for `treespec_dumps`; they are nodes anyway."""
    _SERIALIZED[cls] = _Serialized(serialized_type_name, None, None)


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Let instances of a dataclass be nodes, whose branches are the fields that are not None.

    Args: `field_names` are the fields that the class is made with, for one that is no dataclass;
    `drop_field_names` are left out, and must have defaults.
    Raises: ValueError if names are missing or not known.

    >>> from dataclasses import dataclass
    >>> from retrograd.utils import _pytree as pytree
    >>> @dataclass
    ... class Point:
    ...     x: int
    ...     y: int
    >>> pytree.register_dataclass(Point)
    >>> pytree.tree_map(lambda x: -x, Point(1, 2)) == Point(-1, -2)
    True
    """
    names = _field_names(cls, field_names, drop_field_names or [])

    def taken_apart(obj: Any) -> tuple[list[Any], Context]:
        values = {name: getattr(obj, name) for name in names}
        there = [name for name in names if values[name] is not None]
        return [values[name] for name in there], [there, [name for name in names if values[name] is None]]

    def with_keys(obj: Any) -> tuple[list[Any], Context]:
        branches, context = taken_apart(obj)
        return [(GetAttrKey(name), branch) for name, branch in zip(context[0], branches, strict=True)], context

    def made(branches: Iterable[Any], context: Context) -> Any:
        there, none = context
        return cls(**dict(zip(there, branches, strict=True)), **dict.fromkeys(none))

    _register(NodeDef(cls, taken_apart, made, with_keys), serialized_type_name)


def _field_names(cls: type, given: list[str] | None, dropped: list[str]) -> list[str]:
    if not is_dataclass(cls):
        if given is None:
            raise ValueError(
                f"field_names must be specified with a list of all fields used to initialize {cls}, as it is not a "
                "dataclass."
            )
        return given
    names = [field.name for field in fields(cls) if field.init]
    if given is None:
        return names
    needed = set(names).difference(dropped)
    missing, unexpected = needed - set(given), set(given) - needed
    if missing or unexpected:
        told = "field_names does not include all dataclass fields.\n"
        if missing:
            told += (
                f"Missing fields in `field_names`: {missing}. If you want to include these fields in the pytree, "
                "please add them to `field_names`, otherwise please add them to `drop_field_names`.\n"
            )
        if unexpected:
            told += (
                f"Unexpected fields in `field_names`: {unexpected}. Please remove these fields, or add them to "
                "`drop_field_names`.\n"
            )
        raise ValueError(told)
    return given


_CONSTANTS: set[type] = set()


@dataclass(frozen=True, slots=True)
class ConstantNode:
    """The context of a node without branches."""

    value: Any


def register_constant(cls: type) -> None:
    """Let instances of a class be nodes without branches: part of the shape of a tree.

    Raises: TypeError for a class whose instances compare by identity, or have no hash.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.register_constant(type("Mode", (str,), {"__eq__": str.__eq__, "__hash__": str.__hash__}))
    """
    for member, default in (("__eq__", object.__eq__), ("__hash__", None)):
        if getattr(cls, member) is default:
            raise TypeError(f"register_constant(cls) expects `cls` to have a non-default `{member}` implementation.")
    _register(
        NodeDef(
            cls, lambda x: ([], ConstantNode(x)), lambda _, context: context.value, lambda x: ([], ConstantNode(x))
        ),
        None,
    )
    _CONSTANTS.add(cls)


def is_constant_class(cls: Any) -> bool:
    """Whether `register_constant` registered a class.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.is_constant_class(int)
    False
    """
    return isinstance(cls, type) and cls in _CONSTANTS


# Questions


def is_namedtuple(obj: object) -> bool:
    """Whether an object, or a class, is a named tuple.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.is_namedtuple(rg.max(rg.eye(2), 0)), pytree.is_namedtuple((1, 2))
    (True, False)
    """
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_instance(obj: object) -> bool:
    """Whether an object is a named tuple.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.is_namedtuple_instance((1, 2))
    False
    """
    return is_namedtuple_class(type(obj))


def is_structseq_class(cls: Any) -> bool:
    """Whether these are structures of the interpreter that look like tuples, as `time.struct_time`.

    >>> import time
    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.is_structseq_class(time.struct_time)
    True
    """
    counts = ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, count, None), int) for count in counts)
        and not cls.__flags__ & 1 << 10  # no class may be derived from it
    )


def is_structseq(obj: object) -> bool:
    """Whether an object, or a class, is such a structure.

    >>> import time
    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.is_structseq(time.gmtime())
    True
    """
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj: object) -> bool:
    """Whether an object is such a structure.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.is_structseq_instance((1, 2))
    False
    """
    return is_structseq_class(type(obj))


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a tree is a leaf: nothing registered, or what `is_leaf` says yes to.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_is_leaf(None), pytree.tree_is_leaf([])
    (True, False)
    """
    return (is_leaf is not None and is_leaf(tree)) or _tree.kind_of(tree) is None


# Apart, and together again


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree from left to right, and its shape. What `is_leaf` says yes to is a leaf too.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_flatten([1, {"a": 2}])
    ([1, 2], TreeSpec(list, None, [*,
      TreeSpec(dict, ['a'], [*])]))
    """
    return _tree.flatten(tree, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of a shape with these leaves.

    Raises: TypeError for what is no shape; ValueError if the number of leaves is wrong.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_unflatten([3, 4], pytree.tree_structure((1, 2)))
    (3, 4)
    """
    spec: Any = treespec
    if not isinstance(spec, TreeSpec):
        leaves, spec = spec, leaves  # the order that some programs use
        if not isinstance(spec, TreeSpec):
            raise TypeError(
                f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}."
            )
    return spec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves of a tree, one by one.

    >>> from retrograd.utils import _pytree as pytree
    >>> list(pytree.tree_iter([1, (2, 3)]))
    [1, 2, 3]
    """
    kind = None if is_leaf is not None and is_leaf(tree) else _tree.kind_of(tree)
    if kind is None:
        yield tree
    else:
        for branch in SUPPORTED_NODES[kind].flatten_fn(tree)[0]:
            yield from tree_iter(branch, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_leaves([1, (2, 3)])
    [1, 2, 3]
    """
    return _tree.flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The shape of a tree.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_structure((1, 2)) == pytree.tree_structure((3, 4))
    True
    """
    return _tree.flatten(tree, is_leaf)[1]


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of all arguments.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.arg_tree_leaves([1], a=(2, 3))
    [1, 2, 3]
    """
    return tree_leaves([*args, *kwargs.values()])


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    """A leaf of a tree for each leaf of a shape that goes on below its leaves; None if it does not."""
    return _tree.broadcast_prefix(tree, treespec, is_leaf)


# Functions of leaves


def tree_map(func: Func, tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """The tree of what a function makes of the leaves.

    Args: trees in `rests` have the same shape, or go on below; the function gets their parts as further arguments.
    Raises: ValueError if one has another shape.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_map(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    leaves, spec = _tree.flatten(tree, is_leaf)
    return spec.unflatten(list(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests])))


def tree_map_(func: Func, tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Call a function with the leaves, as `tree_map`, but return the tree itself.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_map_(print, [1, (2,)])
    1
    2
    [1, (2,)]
    """
    leaves, spec = _tree.flatten(tree, is_leaf)
    for _ in map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]):
        pass
    return tree


def _test(wanted: Any) -> Callable[[Any], bool]:
    if isinstance(wanted, type | tuple | types.UnionType):
        return lambda x: isinstance(x, wanted)
    if callable(wanted):
        test: Callable[[Any], bool] = wanted
        return test
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Func], Func]:
    """A decorator: the function is called for some classes, or what a predicate says yes to; other values stay.

    >>> from retrograd.utils import _pytree as pytree
    >>> double = pytree.map_only(int)(lambda x: 2 * x)
    >>> double(2), double("a")
    (4, 'a')
    """
    wanted = _test(type_or_types_or_pred)

    def decorated(func: Func) -> Func:
        @functools.wraps(func)
        def only(x: Any) -> Any:
            return func(x) if wanted(x) else x

        return only

    return decorated


def tree_map_only(type_or_types_or_pred: Any, /, func: Func, tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """`tree_map` for leaves of some classes, or those that a predicate says yes to; other leaves stay.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_map_only(int, lambda x: x + 1, [1, "a"])
    [2, 'a']
    """
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred: Any, /, func: Func, tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """`tree_map_` for leaves of some classes, or those that a predicate says yes to.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_map_only_(int, print, [1, "a"])
    1
    [1, 'a']
    """
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a predicate says yes to all leaves.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_all(lambda x: x > 0, [1, (2,)])
    True
    """
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a predicate says yes to a leaf.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_any(lambda x: x > 1, [1, (2,)])
    True
    """
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a predicate says yes to all leaves of some classes.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_all_only(int, lambda x: x > 0, [1, "a"])
    True
    """
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a predicate says yes to a leaf of some classes.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_any_only(int, lambda x: x > 1, [1, "a"])
    False
    """
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


# Paths


@dataclass(frozen=True, slots=True)
class SequenceKey:
    """The place of a branch in a sequence.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.SequenceKey(1).get("ab")
    'b'
    """

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """The branch."""
        return sequence[self.idx]


@dataclass(frozen=True, slots=True)
class MappingKey:
    """The key of a branch in a mapping.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.MappingKey("a").get({"a": 1})
    1
    """

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """The branch."""
        return mapping[self.key]


@dataclass(frozen=True, slots=True)
class GetAttrKey:
    """The name of a branch that is an attribute.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.GetAttrKey("real").get(1)
    1
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The branch."""
        return getattr(obj, self.name)


KeyPath: TypeAlias = tuple[Any, ...]


def _keyed(kind: Any, tree: Any) -> Iterable[tuple[Any, Any]]:
    """The branches of a node with their keys."""
    node = SUPPORTED_NODES[kind]
    if node.flatten_with_keys_fn is not None:
        return node.flatten_with_keys_fn(tree)[0]
    if kind in STANDARD_DICT_TYPES:
        return [(MappingKey(key), branch) for key, branch in tree.items()]
    if kind is namedtuple:
        return [(GetAttrKey(name), branch) for name, branch in zip(tree._fields, tree, strict=True)]
    if kind in BUILTIN_TYPES:
        return [(SequenceKey(i), branch) for i, branch in enumerate(tree)]
    raise ValueError(
        f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn argument to "
        "register_pytree_node."
    )


def _paths(path: KeyPath, tree: PyTree, is_leaf: IsLeaf) -> Iterator[tuple[KeyPath, Any]]:
    kind = None if is_leaf is not None and is_leaf(tree) else _tree.kind_of(tree)
    if kind is None:
        yield path, tree
    else:
        for key, branch in _keyed(kind, tree):
            yield from _paths((*path, key), branch, is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each with the keys that lead to it.

    Raises: ValueError for a node of a class that was registered without keys.

    >>> from retrograd.utils import _pytree as pytree
    >>> [(pytree.keystr(path), leaf) for path, leaf in pytree.tree_leaves_with_path({"a": [1, 2]})]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    return list(_paths((), tree, is_leaf))


def tree_flatten_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """What `tree_leaves_with_path` returns, and the shape of the tree.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_flatten_with_path([1])
    ([((SequenceKey(idx=0),), 1)], TreeSpec(list, None, [*]))
    """
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Func, tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """`tree_map` with a function that is given the path to each leaf first.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.tree_map_with_path(lambda path, x: pytree.keystr(path), {"a": [1]})
    {'a': ["['a'][0]"]}
    """
    found, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten([func(path, leaf, *more) for (path, leaf), *more in zip(found, *others, strict=True)])


def keystr(kp: KeyPath) -> str:
    """A path as one would write it.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.keystr((pytree.GetAttrKey("layers"), pytree.SequenceKey(0)))
    '.layers[0]'
    """
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What is at the end of a path.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.key_get({"a": [1, 2]}, (pytree.MappingKey("a"), pytree.SequenceKey(1)))
    2
    """
    for key in kp:
        obj = key.get(obj)
    return obj


# Shapes, made and written


def treespec_leaf() -> LeafSpec:
    """The shape of a leaf.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.treespec_leaf()
    *
    """
    return _LEAF_SPEC


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The shape of a tuple of trees. Raises: ValueError for what are no shapes.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.treespec_tuple([pytree.treespec_leaf()])
    TreeSpec(tuple, None, [*])
    """
    children = list(iterable)
    if not all(isinstance(child, TreeSpec) for child in children):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {children!r}.")
    return TreeSpec(tuple, None, children)


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The shape of a dict of trees. Raises: ValueError for what are no shapes.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.treespec_dict(a=pytree.treespec_leaf())
    TreeSpec(dict, ['a'], [*])
    """
    children: dict[Any, TreeSpec] = dict(mapping, **kwargs)
    if not all(isinstance(child, TreeSpec) for child in children.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {children!r}.")
    return TreeSpec(dict, list(children), list(children.values()))


class _Star:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """A shape as the tree would be written, with a star for each leaf.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.treespec_pprint(pytree.tree_structure({"a": (1, 2)}))
    "{'a': (*, *)}"
    """
    return repr(treespec.unflatten([_Star()] * treespec.num_leaves))


_PROTOCOL = 1
_SERIALIZED.update(
    {
        tuple: _Serialized("builtins.tuple", None, None),
        list: _Serialized("builtins.list", None, None),
        dict: _Serialized("builtins.dict", None, None),
        OrderedDict: _Serialized("collections.OrderedDict", None, None),
        deque: _Serialized("collections.deque", None, None),
        namedtuple: _Serialized("collections.namedtuple", lambda kind: _name_of(kind), lambda name: _class_named(name)),
        defaultdict: _Serialized(
            "collections.defaultdict",
            lambda made: {
                "default_factory_module": made[0].__module__,
                "default_factory_name": made[0].__qualname__,
                "dict_context": made[1],
            },
            lambda told: [
                _imported(told["default_factory_module"], told["default_factory_name"]),
                told["dict_context"],
            ],
        ),
    }
)


def _name_of(kind: Any) -> str:
    if kind not in _SERIALIZED:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {kind} because we didn't register a serializated_type_name. "
            "Please register using `_register_namedtuple`."
        )
    return _SERIALIZED[kind].name


def _class_named(name: str) -> Any:
    for kind, serialized in _SERIALIZED.items():
        if serialized.name == name:
            return kind
    raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")


def _imported(module: str, name: str) -> Any:
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


class _Encoder(json.JSONEncoder):
    """Writes members of enums too."""

    def default(self, o: Any) -> Any:
        if isinstance(o, Enum):
            return {"__enum__": True, "fqn": f"{type(o).__module__}:{type(o).__qualname__}", "name": o.name}
        return super().default(o)


def _enum_member(told: dict[str, Any]) -> Any:
    return _imported(*told["fqn"].split(":"))[told["name"]] if "__enum__" in told else told


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A shape as JSON.

    Raises: TypeError for what is no shape; ValueError for another protocol than 1; NotImplementedError for a class that
    was registered without a name.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.treespec_dumps(pytree.treespec_leaf())
    '[1, {"type": null, "context": null, "children_spec": []}]'
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    _check_protocol(_PROTOCOL if protocol is None else protocol)
    return json.dumps((_PROTOCOL, _told(treespec)), cls=_Encoder)


def _check_protocol(protocol: Any) -> None:
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")


def _told(spec: TreeSpec) -> dict[str, Any]:
    if spec.type is None:
        return {"type": None, "context": None, "children_spec": []}
    if spec.type not in _SERIALIZED:
        if spec.type not in SUPPORTED_NODES:
            raise NotImplementedError(f"Serializing {spec.type} in pytree is not registered.")
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your _register_pytree_node call "
            "with a `serialized_type_name` kwarg."
        )
    serialized = _SERIALIZED[spec.type]
    if serialized.to_dumpable is not None:
        context = serialized.to_dumpable(spec.context)
    else:
        try:
            context = json.dumps(spec.context, cls=_Encoder)
        except TypeError as error:
            raise TypeError(
                "Unable to serialize context. Please make the context json dump-able, or register a custom serializer "
                "using _register_pytree_node."
            ) from error
    return {"type": serialized.name, "context": context, "children_spec": [_told(c) for c in spec.children()]}


def treespec_loads(serialized: str) -> TreeSpec:
    """The shape that `treespec_dumps` wrote.

    Raises: ValueError for another protocol than 1; NotImplementedError for a class that is not registered.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.treespec_loads(pytree.treespec_dumps(pytree.tree_structure([1, 2])))
    TreeSpec(list, None, [*,
      *])
    """
    protocol, told = json.loads(serialized)
    _check_protocol(protocol)
    return _untold(told)


def _untold(told: Mapping[str, Any]) -> TreeSpec:
    if told["type"] is None:
        return _LEAF_SPEC
    kind = _class_named(told["type"])
    from_dumpable = _SERIALIZED[kind].from_dumpable
    if from_dumpable is not None:
        context = from_dumpable(told["context"])
    else:
        context = json.loads(told["context"], object_hook=_enum_member)
    return TreeSpec(kind, context, [_untold(child) for child in told["children_spec"]])
