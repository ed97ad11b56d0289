"""Trees, and functions of them."""

# ruff: noqa: B023  what `say` is given is called at once

from __future__ import annotations

import dataclasses
import enum
import importlib
import time
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any


def run(torch: Any, say: Any) -> None:
    P = importlib.import_module(torch.__name__ + ".utils._pytree")
    NT = namedtuple("NT", "a b")
    trees = [
        1,
        None,
        (),
        [],
        {},
        (1, 2),
        [1, [2, (3,)]],
        {"b": 1, "a": [2]},
        OrderedDict(x=1, y=(2,)),
        defaultdict(int, {"q": 1}),
        deque([1, 2], maxlen=3),
        {"a": {"b": {"c": (1, 2)}}},
    ]
    for t in trees:
        say(lambda: P.tree_flatten(t))
        say(lambda: P.tree_unflatten(*P.tree_flatten(t)))
        say(lambda: P.treespec_pprint(P.tree_structure(t)))
        say(lambda: P.tree_flatten_with_path(t))
        say(lambda: P.treespec_dumps(P.tree_structure(t)))
        say(lambda: P.treespec_loads(P.treespec_dumps(P.tree_structure(t))) == P.tree_structure(t))
        say(lambda: [P.keystr(k) for k, _ in P.tree_leaves_with_path(t)])
        say(lambda: hash(P.tree_structure(t)) == hash(P.tree_structure(t)))
        s = P.tree_structure(t)
        say(lambda: (s.num_nodes, s.num_leaves, s.num_children, s.type, s.context, s.is_leaf(), s.children()))
        for u in trees:
            say(lambda: P.tree_structure(t) == P.tree_structure(u))
            say(lambda: P.tree_structure(t).flatten_up_to(u))
            say(lambda: P._broadcast_to_and_flatten(u, P.tree_structure(t)))
    say(lambda: P.tree_unflatten([1], P.tree_structure((1, 2))))
    say(lambda: P.tree_unflatten([1], 3))
    say(lambda: P.tree_map(lambda a, b: (a, b), {"a": 1, "b": [2]}, {"b": [3], "a": 4}))
    say(lambda: P.tree_map(lambda a, b: (a, b), [1, 2], [3]))
    say(lambda: P.tree_map_only(int, lambda x: -x, [1, "a", 2.0]))
    say(lambda: P.tree_map_only((int, float), lambda x: -x, [1, "a", 2.0]))
    say(lambda: P.tree_map_only(int | float, lambda x: -x, [1, "a", 2.0]))
    say(lambda: P.tree_map_only(lambda x: x == 1, lambda x: -x, [1, "a", 2.0]))
    say(lambda: P.tree_map_only(3, lambda x: -x, [1, "a", 2.0]))
    say(lambda: P.tree_leaves([1, (2, 3)], is_leaf=lambda x: isinstance(x, tuple)))
    say(lambda: P.tree_all(lambda x: x > 0, [1, 2]))
    say(lambda: P.tree_any(lambda x: x > 1, [1, 2]))
    say(lambda: P.tree_all_only(int, lambda x: x > 1, [1, "2"]))
    say(lambda: P.tree_any_only(int, lambda x: x > 1, [1, "2"]))
    say(lambda: P.arg_tree_leaves([1], b=(2,)))

    class C:
        def __init__(s, *a):
            s.a = a

        def __repr__(s):
            return f"C{s.a}"

    P.register_pytree_node(C, lambda c: (list(c.a), len(c.a)), lambda b, n: C(*b))
    say(lambda: P.tree_map(lambda x: x + 1, [C(1, 2), C()]))
    say(lambda: P.tree_structure(C(1)))
    say(lambda: P.tree_structure(C(1)).flatten_up_to(C(1, 2)))
    say(lambda: P.tree_structure(C(1)).flatten_up_to(3))
    say(lambda: P.tree_leaves_with_path(C(1)))
    say(lambda: P.treespec_dumps(P.tree_structure(C(1))))
    say(lambda: P.register_pytree_node(C, None, None))

    @dataclasses.dataclass
    class D:
        x: object
        y: object = None
        z: object = 3

    P.register_dataclass(D)
    say(lambda: P.tree_map(lambda x: [x], D(1)))
    say(lambda: P.tree_flatten(D(1, 2)))
    say(lambda: [P.keystr(k) for k, _ in P.tree_leaves_with_path(D(1, [2]))])

    @dataclasses.dataclass
    class E:
        x: int
        y: int

    say(lambda: P.register_dataclass(E, field_names=["x"]))
    say(lambda: P.register_dataclass(E, field_names=["x", "y", "q"]))
    say(lambda: P.register_dataclass(int))

    class K:
        def __init__(s, v):
            s.v = v

        def __eq__(s, o):
            return s.v == o.v

        def __hash__(s):
            return hash(s.v)

    P.register_constant(K)
    say(lambda: P.tree_leaves([K(1), 2]))
    say(lambda: P.tree_structure(K(1)) == P.tree_structure(K(2)))
    say(lambda: P.is_constant_class(K))
    say(lambda: P.register_constant(C))
    say(lambda: P.register_pytree_node(E, lambda e: ([], None), lambda b, c: None, to_dumpable_context=lambda c: c))
    say(
        lambda: (
            P.is_namedtuple(NT),
            P.is_namedtuple(NT(1, 2)),
            P.is_namedtuple((1,)),
            P.is_namedtuple_instance(NT),
            P.is_structseq(time.gmtime()),
            P.is_structseq_class(time.struct_time),
            P.is_structseq_class(NT),
        )
    )
    say(lambda: P.treespec_tuple([P.tree_structure(1)]))
    say(lambda: P.treespec_tuple([1]))
    say(lambda: P.treespec_dict({"a": P.tree_structure(1)}, b=P.tree_structure([1])))
    say(lambda: P.treespec_dict(a=1))
    say(lambda: P.treespec_dumps(3))
    say(lambda: P.treespec_dumps(P.tree_structure(1), protocol=7))
    say(lambda: P.tree_map_with_path(lambda k, x, y: (P.keystr(k), x, y), {"a": [1]}, {"a": [2]}))
    say(lambda: P.key_get({"a": [1, NT(3, 4)]}, (P.MappingKey("a"), P.SequenceKey(1), P.GetAttrKey("b"))))
    P._register_namedtuple(NT, serialized_type_name="NT")
    say(lambda: P.treespec_dumps(P.tree_structure(NT(1, 2))))
    say(lambda: P.treespec_loads(P.treespec_dumps(P.tree_structure(NT(1, 2)))))

    class Co(enum.Enum):
        A = 1

    say(lambda: P.treespec_dumps(P.tree_structure({Co.A: 1})))
    say(lambda: P.treespec_loads("[3, {}]"))
    say(lambda: P.treespec_loads('[1, {"type": "x", "context": null, "children_spec": []}]'))
    say(lambda: torch.func.vmap(lambda d: d["a"] * 2, in_dims=(0,))({"a": torch.ones(2)}))
    say(lambda: torch.func.grad(lambda c: c.a[0] * c.a[1])(C(torch.tensor(2.0), torch.tensor(3.0))))
