"""What is asked of `explain`, its answer, and what both sides of it look up in the graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from retrograd import Tensor
from retrograd.autograd.graph import Node
from retrograd.utils.graph._facts import Facts, Held, facts_of, place, sizes_and_dtype

__all__ = ["REASONS", "Explanation"]

REASONS = {
    "arrives": "the gradient arrives, finite and with elements that are not zero",
    # `x` or the loss take no part in a graph
    "not_requires_grad": "x does not require grad",
    "not_differentiable_dtype": "x or the loss is of integers or bools",
    "inference": "x or the loss was made in inference mode",
    "no_graph": "the loss has no graph: it was made under no_grad, detached, or of nothing that requires grad",
    "loss_is_leaf": "the loss is a leaf: a new tensor, which no op computed",
    "view_without_grad": "x is a view that was made under no_grad",
    # the graph does not lead to `x`
    "unused_output": "the op that made x is in the graph, but the loss uses other outputs of it",
    "other_view": "x is a view of a tensor that the loss uses by itself, or by another view",
    "written_since": "x was written in place after the loss had used it",
    "used_as_constant": "x did not require grad when the loss used it",
    "detached": "the graph has a tensor over the memory of x that is cut off from it: x.detach(), x.data, x.numpy()",
    "new_leaf": "the graph leads to another leaf, over the memory of x or with its values",
    "copied": "the graph has a constant with the values of x: a copy that no op made",
    "integer_operand": "what the graph uses of x may be integers or bools made of it",
    "written_without_grad": "a constant of the graph was written in place without a record",
    "unused": "nothing that the graph tells of leads to x",
    # the graph leads to `x`, but the gradient does not arrive as numbers other than zero
    "freed": "the graph was freed by a backward, so its rules cannot be run any more",
    "rule_raised": "the rule of a node raised an exception",
    "none": "a custom function returned None for its gradient",
    "nan": "a rule made NaN of a gradient without",
    "inf": "a rule made an infinity of a finite gradient",
    "masked": "a mask, or a function that is constant where its operands are, let nothing through",
    "saturated": "a function is so flat where its operands are that its derivative rounds to zero",
    "other_element": "an op chose other elements than those that come from x",
    "zero_derivative": "an op whose derivative is zero everywhere",
    "zero_factor": "x is multiplied by zeros",
    "overwritten": "a write in place replaced what came from x",
    "materialized_zeros": "a function of several outputs got zeros for those that the loss does not use",
    "cancels": "gradients along several ways add up to zero",
    "zero": "a rule returned zeros for a gradient that is not zero",
}


@dataclass(frozen=True)
class Explanation:
    """Why a gradient arrives or does not: what `explain` found.

    `reason` is a key of `REASONS`; `arrives` says whether the gradient does; `path` has the nodes from that of the
    loss to the one at which the way ends, which for a gradient that arrives at a leaf is that of the leaf. `str()` is
    the explanation in English, with lines and with what to do.

    >>> x = rg.ones(3, requires_grad=True)
    >>> why = rg.utils.graph.explain(x.detach().sum(), x)
    >>> why.reason, why.arrives, why.path
    ('no_graph', False, ())
    """

    reason: str
    arrives: bool
    path: tuple[Node, ...] = field(repr=False)
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


class Question:
    """A loss, a tensor, and the graph behind the loss."""

    def __init__(self, loss: Tensor, x: Tensor) -> None:
        self.loss, self.x = loss, x
        self.what = f"x, {sizes_and_dtype(x.shape, x.dtype)}"
        self.nodes: list[Facts] = []  # each before those that it leads to
        self.leaves: list[Held] = []
        if loss.grad_fn is not None:
            self.nodes, self.leaves = facts_of([loss])
        self.fact_of = {node.id: node for node in self.nodes}

    @property
    def root(self) -> tuple[int, int]:
        """The node and output of the loss."""
        return self.nodes[0].id, self.loss.output_nr

    def reached(self) -> set[tuple[int, int]]:
        """The outputs of nodes, and the leaves, that the loss was computed from."""
        return {self.root} | {edge for node in self.nodes for edge in node.edges if edge is not None}

    def none(self, reason: str, why: str, *, path: Iterable[Node] = ()) -> Explanation:
        return Explanation(reason, False, tuple(path), f"The gradient of {self.what}, is None: {why}")

    def sharing(self, me: Held, others: Iterable[Held]) -> Held | None:
        return next((other for other in others if other.memory == me.memory), None)

    def used_at(self, leaf: int) -> str:
        for node in reversed(self.nodes):
            if any(edge is not None and edge[0] == leaf for edge in node.edges) and (at := place(node.place)):
                return f", used at {at}"
        return ""

    def path_to(self, goal: int, start: int | None = None) -> tuple[Node, ...]:
        """The shortest way from the node of the loss, as objects."""
        start = self.nodes[0].id if start is None else start
        before: dict[int, int] = {start: start}
        queue = [start]
        for id in queue:
            if id == goal:
                break
            for edge in self.fact_of[id].edges if id in self.fact_of else ():
                if edge is not None and edge[0] not in before:
                    before[edge[0]] = id
                    queue.append(edge[0])
        ids = [goal]
        while ids[-1] != start:
            ids.append(before[ids[-1]])
        ids.reverse()
        node = self.loss.grad_fn
        path: list[Node] = [node] if node is not None else []
        for id, following in pairwise(ids):
            at = next(i for i, edge in enumerate(self.fact_of[id].edges) if edge is not None and edge[0] == following)
            target = path[-1].next_functions[at][0]
            if target is not None:
                path.append(target)
        return tuple(path)

    def on_the_way(self, goal: int) -> list[Facts]:
        """The nodes that lead to `goal`, with it, each before those that it leads to."""
        leads = {goal}
        for node in reversed(self.nodes):
            if any(edge is not None and edge[0] in leads for edge in node.edges):
                leads.add(node.id)
        return [node for node in self.nodes if node.id in leads]

    def python_nodes(self) -> dict[int, Node]:
        """The nodes as objects, by the ids of their facts."""
        root = self.loss.grad_fn
        if root is None:
            return {}
        found: dict[int, Node] = {self.nodes[0].id: root}
        for node in self.nodes:
            for edge, (target, _) in zip(node.edges, found[node.id].next_functions, strict=True):
                if edge is not None and target is not None and edge[0] in self.fact_of:
                    found.setdefault(edge[0], target)
        return found


def described(node: Facts) -> str:
    return f"{node.name}, {' and '.join(sizes_and_dtype(*output) for output in node.outputs)}"


def of_sizes(tensor: Held) -> str:
    return sizes_and_dtype(tensor.sizes, tensor.dtype)


def line(what: str, number: int) -> str:
    found = place(number)
    return f"\n  {what} at {found}" if found else ""


def recorded(node: Facts) -> str:
    return line("recorded", node.place)
