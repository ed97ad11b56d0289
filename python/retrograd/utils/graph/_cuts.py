"""Where the way to a tensor ends if the graph does not lead to it: what the graph tells of the cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import retrograd as rg
from retrograd import Tensor
from retrograd.autograd.graph import Node
from retrograd.utils.graph._facts import Facts, Held, facts_of, held, place
from retrograd.utils.graph._question import Explanation, Question, described, line, of_sizes, recorded


class Cuts:
    """What may have cut a tensor off: only what the graph shows is known, since forward records nothing else."""

    def __init__(self, question: Question) -> None:
        self.q = question

    def explained(self, mine: list[Facts]) -> Explanation:
        """The graph does not lead to x: what is known of it that may be the cause, the surest first."""
        x, me = self.q.x, held(self.q.x)
        ways: list[Callable[[], Explanation | None]] = [
            lambda: self.other_view(mine),
            lambda: self.written_since(me, mine),
            lambda: self.as_constant(me),
            lambda: self.another_leaf(me),
            lambda: self.detached(me),
            self.leaf_of_its_values,
            lambda: self.copied(me),
            lambda: self.integers(me),
            self.written,
        ]
        for way in ways:
            if (found := way()) is not None:
                return found
        made = f" x is the result of {described(mine[0])}.{recorded(mine[0])}\n" if mine else " "
        return self.q.none(
            "unused",
            f"the graph of the loss does not lead to it.{made}The loss was computed without x, or the way from x goes "
            "through something that is not recorded: no_grad, detach(), a new tensor with its values, an op on "
            f"integers. {self.leads_to(x)}{self.without_history()}",
        )

    def other_view(self, mine: list[Facts]) -> Explanation | None:
        base = self.q.x._base
        if base is None or not mine:
            return None
        of_base = held(base).id if base.grad_fn is None else facts_of([base])[0][0].id
        if of_base not in self.q.fact_of and all(of_base != leaf.id for leaf in self.q.leaves):
            return None
        return self.q.none(
            "other_view",
            f"x is a view, made by {described(mine[0])}, and the loss uses its base, or another view of that, but not "
            f"this view.{recorded(mine[0])}\nAsk for the gradient of the base and take the part of it: base.grad[...]; "
            "or compute the loss from x.",
        )

    def written_since(self, me: Held, mine: list[Facts]) -> Explanation | None:
        # Operand 0 of an op that writes in place is the value before.
        fact_of = {node.id: node for node in mine}
        used = self.q.reached()
        before = (mine[0].id, self.q.x.output_nr) if mine else None
        for _ in range(me.version):
            if before is None or before[0] not in fact_of:
                return None
            before = next(iter(fact_of[before[0]].edges), None)
            if before in used:
                break
        else:
            return None
        return self.q.none(
            "written_since",
            f"x was written in place after the loss had used it: its history is now that of {described(mine[0])}, and "
            f"the loss uses the value before.{line('last written', me.written)}\nAsk about the value that the loss "
            "used: write to a copy, x.clone().",
        )

    def as_constant(self, me: Held) -> Explanation | None:
        for node, name, tensor in self.constants():
            if tensor.id == me.id:
                return self.q.none(
                    "used_as_constant",
                    f"it is '{name}' of {described(node)}, but it did not require grad when that was "
                    f"recorded.{recorded(node)}"
                    "\nCall x.requires_grad_() before its first use.",
                )
        return None

    def another_leaf(self, me: Held) -> Explanation | None:
        same = self.q.sharing(me, [leaf for leaf in self.q.leaves if leaf.id != me.id])
        if same is not None:
            return self.q.none(
                "new_leaf",
                f"the loss uses another leaf over the memory of x, {of_sizes(same)}{self.q.used_at(same.id)}: one made "
                "of x.detach() or x.data. The gradient goes to that leaf. Use x itself, or ask about the other leaf.",
            )
        return None

    def leaf_of_its_values(self) -> Explanation | None:
        for leaf, tensor in self.leaf_tensors():
            if _equal(tensor, self.q.x):
                return self.q.none(
                    "new_leaf",
                    f"the graph does not lead to x, but to a leaf with the same values, {of_sizes(leaf)}"
                    f"{self.q.used_at(leaf.id)}. It may be a copy of x, as of rg.tensor(x) or from NumPy, which takes "
                    "values and no history; how its values came about is not recorded. Use x itself.",
                )
        return None

    def detached(self, me: Held) -> Explanation | None:
        for node, name, tensor in self.constants():
            if tensor.memory == me.memory:
                return self.q.none(
                    "detached",
                    f"'{name}' of {described(node)}, is a tensor over the memory of x that has no history: x.detach(), "
                    f"x.data, or an array of x.detach().numpy().{recorded(node)}\nUse x itself there.",
                )
        return None

    def copied(self, me: Held) -> Explanation | None:
        for node, name, tensor in self.values(lambda tensor: tensor.sizes == me.sizes and tensor.dtype == me.dtype):
            if _equal(tensor, self.q.x):
                return self.q.none(
                    "copied",
                    f"the graph does not lead to x, but '{name}' of {described(node)}, is a constant with its values."
                    f"{recorded(node)}\nIt may be a copy of x, as of rg.tensor(x), from NumPy, computed under no_grad, "
                    "or written through .data; how its values came about is not recorded. Use x itself there.",
                )
        return None

    def integers(self, me: Held) -> Explanation | None:
        for node, name, tensor in self.constants():
            if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex) and tensor.sizes == me.sizes:
                return self.q.none(
                    "integer_operand",
                    f"the graph does not lead to x, but '{name}' of {described(node)}, has its sizes and is "
                    f"{of_sizes(tensor)}.{recorded(node)}\nIf it was made of x, by a cast, a comparison, argmax or "
                    "sort, the way ends there: integers and bools have no derivative.",
                )
        return None

    def written(self) -> Explanation | None:
        for node, name, tensor in self.constants():
            if tensor.version and not tensor.requires_grad:
                return self.q.none(
                    "written_without_grad",
                    f"the graph does not lead to x, but '{name}' of {described(node)}, is a constant, "
                    f"{of_sizes(tensor)}, that was written in "
                    f"place.{recorded(node)}{line('last written', tensor.written)}\nIf that write took values from x, "
                    "it was made under no_grad, or through a detached tensor, and recorded nothing. Write with grad "
                    "mode on, or use the out-of-place form.",
                )
        return None

    def constants(self) -> Iterable[tuple[Facts, str, Held]]:
        """Operands that nodes saved and that have no edge: in the order in which they were recorded."""
        me, reached = held(self.q.x).id, {leaf.id for leaf in self.q.leaves}
        for node in reversed(self.q.nodes):
            for slot in node.saved:
                tensor = slot.tensor
                if tensor is None or tensor.is_number or slot.output is not None or tensor.id in reached:
                    continue
                if not tensor.requires_grad or tensor.id == me:
                    yield node, slot.name, tensor

    def values(self, wanted: Callable[[Held], bool]) -> Iterable[tuple[Facts, str, Tensor]]:
        """As `constants`, those that are wanted, with their elements if they may be looked at."""
        python: dict[int, Node] | None = None
        for node, name, tensor in self.constants():
            if not wanted(tensor):
                continue
            if python is None:
                python = self.q.python_nodes()
            try:
                value = getattr(python[node.id], f"_saved_{name}")
            except (AttributeError, RuntimeError, KeyError):
                continue  # written to since, or of a custom function
            if isinstance(value, Tensor):
                yield node, name, value

    def leaf_tensors(self) -> Iterable[tuple[Held, Tensor]]:
        near = {
            leaf.id: leaf for leaf in self.q.leaves if leaf.sizes == self.q.x.shape and leaf.dtype == self.q.x.dtype
        }
        if near:
            for node in self.q.python_nodes().values():
                for target, _ in node.next_functions:
                    leaf = getattr(target, "variable", None)
                    if isinstance(leaf, Tensor) and held(leaf).id in near:
                        yield near.pop(held(leaf).id), leaf

    def leads_to(self, x: Tensor) -> str:
        """The leaves that the graph does lead to."""
        if not self.q.leaves:
            return "It leads to no leaf at all."
        near = sorted(self.q.leaves, key=lambda leaf: (leaf.sizes != x.shape, abs(leaf.sizes.numel() - x.numel())))
        lines = "".join(f"\n  {of_sizes(leaf)}{self.q.used_at(leaf.id)}" for leaf in near[:5])
        more = f"\n  and {len(near) - 5} more" if len(near) > 5 else ""
        return f"It leads to these leaves, those nearest to x in their sizes first:{lines}{more}"

    def without_history(self) -> str:
        """The operands at which the way from x may end."""
        ends = list(self.constants())
        lines = "".join(f"\n  '{name}' of {described(node)}{self.at(node)}" for node, name, _ in ends[:5])
        more = f"\n  and {len(ends) - 5} more" if len(ends) > 5 else ""
        return f"\nThe operands that came without history are:{lines}{more}" if ends else ""

    def at(self, node: Facts) -> str:
        found = place(node.place)
        return f", at {found}" if found else ""


def _equal(a: Tensor, b: Tensor) -> bool:
    return a.numel() > 0 and rg.equal(a.detach(), b.detach())
