"""What arrives at a tensor to which the graph leads: the rules on the way are run, and their results looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import retrograd as rg
from retrograd import Tensor, _core
from retrograd.autograd.graph import Node
from retrograd.utils.graph._facts import Facts
from retrograd.utils.graph._question import Explanation, Question, described, recorded
from retrograd.utils.graph._zeros import REMEDIES, kind_of_zero


class Values:
    """The gradients on the way from the loss to `target`, which is a leaf or an output of a node, by id."""

    def __init__(self, question: Question, target: tuple[int, int]) -> None:
        self.q, self.target = question, target
        self.first_zeros: Facts | None = None  # the node after which a gradient has zeros among its elements

    def explained(self) -> Explanation:
        """Run the rules on the way, and look at what comes out of them."""
        q, target = self.q, self.target
        way = [node for node in q.on_the_way(target[0]) if node.id != target[0]]
        if (gone := next((node for node in way if node.freed), None)) is not None:
            return Explanation(
                "freed",
                False,
                q.path_to(target[0]),
                f"The graph leads from the loss to {q.what}, so a gradient arrives or has arrived; but the saved "
                f"tensors of {described(gone)}, were freed by a backward, so whether it is zero cannot be found out "
                f"any more.{recorded(gone)}\nAsk before backward(), or call it with retain_graph=True.",
            )
        python, live = q.python_nodes(), {target[0], *(node.id for node in way)}
        received: dict[tuple[int, int], list[Tensor]] = {q.root: [self.first()]}
        lost: Explanation | None = None
        for node in way:
            sums = [_sum(received.pop((node.id, nr), [])) for nr in range(len(node.outputs))]
            given = [each.total for each in sums]
            if all(g is None for g in given):
                continue
            lost = lost or self.cancelled(node, sums)
            try:
                results = _core._run_rule(python[node.id], tuple(given))
            except Exception as error:  # whatever a custom function raises
                return Explanation(
                    "rule_raised",
                    False,
                    q.path_to(node.id),
                    f"The gradient does not arrive at {q.what}: the rule of {described(node)}, raised "
                    f"{type(error).__name__}: {error}{recorded(node)}",
                )
            results = results if isinstance(results, tuple) else (results,)
            made: list[Tensor | None] = []
            for edge, g in zip(node.edges, results, strict=False):
                if edge is None or edge[0] not in live or (edge[0] == target[0] and edge != target):
                    continue
                made.append(g)
                if g is not None:
                    received.setdefault(edge, []).append(g)
            if self.first_zeros is None and any(g is not None and _has_zeros(g) for g in made):
                self.first_zeros = node
            if lost is None or lost.reason not in ("nan", "inf"):
                lost = self.spoiled(node, given, made) or lost or self.vanished(node, given, made)
        return self.result(_sum(received.pop(target, [])), lost)

    def first(self) -> Tensor:
        """The cotangent of the loss."""
        loss = self.q.loss
        if loss.numel() == 1:
            return rg.ones_like(loss.detach())
        return rg.randn(loss.shape, generator=rg.Generator().manual_seed(0), dtype=loss.dtype)

    def cancelled(self, node: Facts, sums: list[_Sum]) -> Explanation | None:
        """Whether gradients that are not zero add up to zero at the outputs of a node."""
        if not any(each.cancelled for each in sums):
            return None
        why = self.cancels(f"at {described(node)}", max(each.count for each in sums), self.q.path_to(node.id))
        return replace(why, text=why.text + recorded(node))

    def cancels(self, where: str, count: int, path: tuple[Node, ...]) -> Explanation:
        text = (
            f"The gradient of {self.q.what}, is zero: {count} gradients that are not zero meet {where}, and their sum "
            "is zero. The loss does not change with x in first order here."
        )
        return Explanation("cancels", False, path, text)

    def spoiled(self, node: Facts, given: list[Tensor | None], made: list[Tensor | None]) -> Explanation | None:
        """Whether a rule made NaN or infinity of finite gradients."""
        if not all(g is None or _is_finite(g) for g in given):
            return None
        bad = next((g for g in made if g is not None and not _is_finite(g)), None)
        if bad is None:
            return None
        reason, count = _kind(bad), int((~rg.isfinite(_sizes_of(bad))).sum())
        what = "NaN" if reason == "nan" else "infinities"
        forward = "" if _is_finite(self.q.loss) else " The loss itself is not finite: look at its forward ops first."
        text = (
            f"The gradient of {self.q.what}, is not finite: {described(node)}, makes {what} of a finite gradient, in "
            f"{count} of {bad.numel()} elements.{recorded(node)}\n{REMEDIES[reason]}{forward}"
        )
        return Explanation(reason, False, self.q.path_to(node.id), text)

    def vanished(self, node: Facts, given: list[Tensor | None], made: list[Tensor | None]) -> Explanation | None:
        """Whether a rule made zeros, or nothing, of a gradient that is not zero."""
        if not any(g is not None and _is_nonzero(g) for g in given):
            return None
        dead = [g for g in made if g is None or not _is_nonzero(g)]
        if not dead:
            return None
        path = self.q.path_to(node.id)
        if all(g is None for g in dead):
            text = (
                f"The gradient of {self.q.what}, is None: {described(node)}, returns None for the input that comes "
                f"from x.{recorded(node)}\nReturn a gradient for it in its backward."
            )
            return Explanation("none", False, path, text)
        idle = [str(nr) for nr, g in enumerate(given) if g is None]
        reason = "materialized_zeros" if idle else kind_of_zero(node.name)
        unused = (
            f"The loss does not use output {' and '.join(idle)}, so zeros stand for that gradient. " if idle else ""
        )
        text = (
            f"The gradient of {self.q.what}, is zero: {described(node)}, makes zeros of a gradient that is not zero."
            f"{recorded(node)}\n{unused}{REMEDIES[reason]}"
        )
        earlier = self.first_zeros
        if earlier is not None and earlier is not node:
            text += f"\nSome elements are zero since {described(earlier)}.{recorded(earlier)}"
        return Explanation(reason, False, path, text)

    def result(self, final: _Sum, lost: Explanation | None) -> Explanation:
        q, g = self.q, final.total
        path = q.path_to(self.target[0])
        if final.cancelled:
            return self.cancels("at x", final.count, path)
        spoiled = lost is not None and lost.reason in ("nan", "inf")
        if g is not None and not _is_finite(g):
            if lost is not None and spoiled:
                return lost
            text = f"The gradient of {q.what}, is not finite: the sum of finite gradients is too large for the dtype."
            return Explanation(_kind(g), False, path, text)
        if g is None or not _is_nonzero(g):
            if lost is not None and not spoiled:
                return lost
            return Explanation("zero", False, path, f"The gradient of {q.what}, is zero.")
        zeros, nodes = g.numel() - int((_sizes_of(g) != 0).sum()), "node" if len(path) == 1 else "nodes"
        part = f", {zeros} of its {g.numel()} elements as zero" if zeros else ""
        no_leaf = "" if q.x.is_leaf else " x is no leaf: .grad of it is filled if x.retain_grad() was called before."
        text = f"The gradient arrives at {q.what}, along {len(path)} {nodes}{part}.{no_leaf}"
        return Explanation("arrives", True, path, text)


@dataclass(frozen=True)
class _Sum:
    """The gradients that one place received."""

    total: Tensor | None
    count: int
    cancelled: bool


def _sum(parts: list[Tensor]) -> _Sum:
    total = None
    for part in parts:
        total = part if total is None else total + part
    cancelled = total is not None and not _is_nonzero(total) and any(_is_nonzero(part) for part in parts)
    return _Sum(total, len(parts), cancelled)


def _sizes_of(t: Tensor) -> Tensor:
    """How large the elements are; of floats, the elements themselves."""
    return t.detach().abs() if t.is_complex() else t.detach()


def _has_zeros(t: Tensor) -> bool:
    return bool((_sizes_of(t) == 0).any())


def _is_nonzero(t: Tensor) -> bool:
    return bool((_sizes_of(t) != 0).any())


def _is_finite(t: Tensor) -> bool:
    return bool(rg.isfinite(_sizes_of(t)).all())


def _kind(bad: Tensor) -> str:
    return "nan" if bool(rg.isnan(_sizes_of(bad)).any()) else "inf"
