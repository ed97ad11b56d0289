"""Trees: tuples, named tuples, lists, dicts, deques and registered classes, nested to any depth; all else is a leaf.

None is a leaf too. The shape of a tree is a `TreeSpec`; specs compare with `==`: a tuple, a list and a named tuple are
of different shape, and so are dicts whose keys are in different order.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self, TypeAlias

from retrograd._core import Tensor

Context: TypeAlias = Any
IsLeaf: TypeAlias = Callable[[Any], bool] | None


class Node(NamedTuple):
    """How a class of nodes is taken apart: into its branches, and a context that makes one of others like them."""

    type: Any
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Context]]
    unflatten_fn: Callable[[Iterable[Any], Context], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Context]] | None = None


# All named tuples are under the function that makes their classes.
NODES: dict[Any, Node] = {
    tuple: Node(tuple, lambda t: (t, None), lambda branches, _: tuple(branches)),
    list: Node(list, lambda t: (t, None), lambda branches, _: list(branches)),
    dict: Node(dict, lambda t: ([*t.values()], [*t]), lambda branches, keys: dict(zip(keys, branches, strict=True))),
    namedtuple: Node(namedtuple, lambda t: ([*t], type(t)), lambda branches, kind: kind(*branches)),
    OrderedDict: Node(
        OrderedDict,
        lambda t: ([*t.values()], [*t]),
        lambda branches, keys: OrderedDict(zip(keys, branches, strict=True)),
    ),
    defaultdict: Node(
        defaultdict,
        lambda t: ([*t.values()], [t.default_factory, [*t]]),
        lambda branches, made: defaultdict(made[0], zip(made[1], branches, strict=True)),
    ),
    deque: Node(deque, lambda t: ([*t], t.maxlen), lambda branches, longest: deque(branches, maxlen=longest)),
}
BUILT_IN = frozenset(NODES)
DICTS = frozenset({dict, OrderedDict, defaultdict})


def is_namedtuple_class(cls: Any) -> bool:
    """Whether these are named tuples."""
    if not (isinstance(cls, type) and issubclass(cls, tuple)):
        return False
    fields = getattr(cls, "_fields", None)
    return isinstance(fields, tuple) and all(type(f) is str for f in fields) and hasattr(cls, "_make")


def kind_of(tree: Any) -> Any:
    """The key in `NODES` of a node; None for a leaf."""
    kind = type(tree)
    if kind in BUILT_IN:
        return kind
    if issubclass(kind, tuple) and is_namedtuple_class(kind):
        return namedtuple
    return kind if kind in NODES else None


class TreeSpec:
    """The shape of a tree: its kind of node, a context such as the keys of a dict, and the shapes of its branches.

    >>> from retrograd.utils import _pytree as pytree
    >>> spec = pytree.tree_structure({"a": 1, "b": (2, 3)})
    >>> spec
    TreeSpec(dict, ['a', 'b'], [*,
      TreeSpec(tuple, None, [*,
        *])])
    >>> spec.unflatten([4, 5, 6]), spec.is_leaf(), spec.child(0), len(spec.children())
    ({'a': 4, 'b': (5, 6)}, False, *, 2)
    >>> spec.flatten_up_to({"a": [7], "b": ([8], [9])})
    [[7], [8], [9]]
    """

    __slots__ = ("_children", "_context", "type")

    type: Any
    _context: Context
    _children: list[Self]

    def __init__(self, type: Any, context: Context, children_specs: list[Self]) -> None:
        self.type = type
        self._context = context
        self._children = children_specs

    @property
    def num_children(self) -> int:
        """How many branches there are."""
        return len(self._children)

    @property
    def num_leaves(self) -> int:
        """How many leaves there are, at all depths."""
        return 1 if self.type is None else sum([child.num_leaves for child in self._children])

    @property
    def num_nodes(self) -> int:
        """How many nodes and leaves there are, the tree itself included."""
        return 1 + sum([child.num_nodes for child in self._children])

    @property
    def context(self) -> Context:
        """What besides the branches makes the node: keys, or the class of a named tuple."""
        return self._context

    def is_leaf(self) -> bool:
        """Whether the tree is a leaf."""
        return self.type is None

    def children(self) -> list[Self]:
        """The shapes of the branches."""
        return self._children.copy()

    def child(self, index: int) -> Self:
        """The shape of a branch."""
        return self._children[index]

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree of this shape with these leaves. Raises: ValueError if their number is wrong."""
        given = leaves if isinstance(leaves, list | tuple) else list(leaves)
        if len(given) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(given)} but the spec refers to a pytree that "
                f"holds {self.num_leaves} items ({self})."
            )
        return _build(iter(given), self)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The parts of a tree that has this shape or goes on below its leaves. Raises: ValueError if it has another."""
        parts: list[Any] = []
        _flatten_up_to(self, tree, parts)
        return parts

    def __repr__(self, indent: int = 0) -> str:
        indent += 2
        parts = (",\n" + " " * indent).join([child.__repr__(indent) for child in self._children])
        return f"TreeSpec({self.type.__name__}, {self._context}, [{parts}])"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return self.type == other.type and bool(self._context == other._context) and self._children == other._children

    def __hash__(self) -> int:
        if self.type is defaultdict:
            context: Any = self._context[0], tuple(self._context[1])
        elif self.type in (dict, OrderedDict):
            context = tuple(self._context)
        else:
            context = self._context if self.type is None or self.type in BUILT_IN else None
        return hash((self.type, context, tuple(self._children)))

    def __reduce__(self) -> Any:
        return type(self), (self.type, self._context, self._children)


class LeafSpec(TreeSpec):
    """The shape of a leaf.

    >>> from retrograd.utils import _pytree as pytree
    >>> pytree.LeafSpec() == pytree.tree_structure(3)
    True
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])

    def __repr__(self, indent: int = 0) -> str:
        return "*"

    def __reduce__(self) -> Any:
        return LeafSpec, ()


LEAF = LeafSpec()


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree from left to right, and its shape. What `is_leaf` says yes to is a leaf too."""
    if isinstance(tree, Tensor) and is_leaf is None and type(tree) not in NODES:
        return [tree], LEAF
    leaves: list[Any] = []
    return leaves, _collect(tree, leaves, is_leaf)


def _collect(tree: Any, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    kind = kind_of(tree) if is_leaf is None or not is_leaf(tree) else None
    if kind is None:
        leaves.append(tree)
        return LEAF
    branches, context = NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_collect(branch, leaves, is_leaf) for branch in branches])


def unflatten(leaves: Sequence[Any], spec: TreeSpec) -> Any:
    """The tree of this shape with these leaves, of which there are as many as it has."""
    return leaves[0] if spec is LEAF else _build(iter(leaves), spec)


def _build(leaves: Iterator[Any], spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    return NODES[spec.type].unflatten_fn([_build(leaves, child) for child in spec._children], spec._context)


def _flatten_up_to(spec: TreeSpec, tree: Any, parts: list[Any]) -> None:
    if spec.type is None:
        parts.append(tree)
        return
    for branch, child in zip(_branches_as(spec, tree), spec._children, strict=True):
        _flatten_up_to(child, branch, parts)


def _branches_as(spec: TreeSpec, tree: Any) -> Iterable[Any]:
    """The branches of a node that must be as a spec says; a dict may be of another kind, and its keys in any order."""
    kind, found = spec.type, kind_of(tree)
    found = type(tree) if found is None else found
    both_dicts = kind in DICTS and found in DICTS
    if found != kind and not both_dicts:
        what = "Node type" if kind in BUILT_IN else "Type"
        raise ValueError(f"{what} mismatch; expected {kind!r}, but got {found!r}.")
    branches, context = NODES[found].flatten_fn(tree)
    branches = [*branches]
    if len(branches) != spec.num_children:
        raise ValueError(f"Node arity mismatch; expected {spec.num_children}, but got {len(branches)}.")
    if both_dicts:
        return _by_keys(spec._context[1] if kind is defaultdict else spec._context, tree)
    if kind is not deque and context != spec._context:
        if kind not in BUILT_IN:
            raise ValueError(f"Node context mismatch for custom node type {kind!r}.")
        raise ValueError(
            f"Node context mismatch for node type {kind!r}; expected {spec._context!r}, but got {context!r}."
        )
    return branches


def _by_keys(keys: list[Any], tree: Any) -> list[Any]:
    expected, got = set(keys), set(tree)
    if expected != got:
        missing, extra = expected - got, got - expected
        told = (f"; missing key(s): {missing}" if missing else "") + (f"; extra key(s): {extra}" if extra else "")
        raise ValueError(f"Node keys mismatch{told}.")
    return [tree[key] for key in keys]


def broadcast_prefix(prefix: Any, spec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    """A leaf of `prefix` for each leaf of a tree of this shape: one that ends early is used for all leaves below.

    None if the shapes do not agree. A dict may be of another kind and order than that of the tree.
    """
    found: list[Any] = []
    return found if _broadcast_prefix(prefix, spec, found, is_leaf) else None


def _broadcast_prefix(prefix: Any, spec: TreeSpec, found: list[Any], is_leaf: IsLeaf) -> bool:
    if kind_of(prefix) is None or (is_leaf is not None and is_leaf(prefix)):
        found.extend([prefix] * spec.num_leaves)
        return True
    if spec.type is None:
        return False
    try:
        branches = _branches_as(spec, prefix)
    except ValueError:
        return False
    return all(_broadcast_prefix(b, child, found, is_leaf) for b, child in zip(branches, spec._children, strict=True))


def describe(spec: TreeSpec) -> str:
    """The shape as it would be written, with a star for each leaf."""
    kind, context = spec.type, spec._context
    if kind is None:
        return "*"
    parts = [describe(child) for child in spec._children]
    if kind in DICTS:
        keys = context[1] if kind is defaultdict else context
        inside = ", ".join(f"{key!r}: {part}" for key, part in zip(keys, parts, strict=True))
        return f"{{{inside}}}" if kind is dict else f"{kind.__name__}({{{inside}}})"
    if kind is list:
        return f"[{', '.join(parts)}]"
    if kind is tuple:
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    name = context.__name__ if kind is namedtuple else kind.__name__
    return f"{name}({', '.join(parts)})"
