"""Why a gradient does or does not arrive: where the way from a loss to a tensor ends."""

from __future__ import annotations

import retrograd as rg
from retrograd import Tensor
from retrograd.utils.graph._cuts import Cuts
from retrograd.utils.graph._facts import Facts, facts_of, held, sizes_and_dtype
from retrograd.utils.graph._question import Explanation, Question, described, of_sizes, recorded
from retrograd.utils.graph._values import Values

__all__ = ["explain"]


def explain(loss: Tensor, x: Tensor) -> Explanation:
    """Say whether the gradient of `loss` arrives at `x`, and if it is None, zero or NaN, where and why.

    A gradient that is None is explained from the graph alone, and nothing is run. If the graph leads to `x`, the rules
    of the nodes on the way are run, with ones for a `loss` of one element and random numbers otherwise, to find where
    the gradient becomes zero, NaN or infinite. That leaves everything as it was: the graph is retained, no `.grad`
    changes, no random number is taken from the program, and no hook on a tensor or node is called. What is called is
    the backward of custom functions and the unpack hooks of saved tensors (so a checkpoint computes its part again).

    How values came into a new tensor is not recorded: `rg.tensor(x)`, `x.detach().numpy()`, writes to `.data`. There
    the explanation says what it found that hints at it, such as a leaf of the graph that has the values of `x`.

    Args: `loss` and `x` any tensors.
    Returns: an `Explanation`, with a `reason` of `REASONS`.
    Raises: TypeError if one of them is no tensor.

    >>> from retrograd.utils.graph import explain
    >>> x = rg.tensor([-1.0, -2.0], requires_grad=True)
    >>> loss = rg.relu(x).sum()
    >>> why = explain(loss, x)
    >>> why.reason, [node.name() for node in why.path]
    ('masked', ['SumBackward0', 'ReluBackward0'])
    >>> print(str(why).splitlines()[0])
    The gradient of x, float32 (2,), is zero: ReluBackward0, float32 (2,), makes zeros of a gradient that is not zero.
    """
    for name, tensor in (("loss", loss), ("x", x)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"explain: {name} must be a Tensor, not {type(tensor).__name__}")
    grad_mode = rg.is_grad_enabled()
    with rg.no_grad():
        question = Question(loss, x)
        return _of_x(question) or _of_loss(question, grad_mode=grad_mode) or _of_graph(question)


def _of_x(q: Question) -> Explanation | None:
    x = q.x
    if not (x.is_floating_point() or x.is_complex()):
        return q.none(
            "not_differentiable_dtype",
            f"only tensors of floats and complex numbers have gradients. Convert it before the ops that shall be "
            f"differentiated: x.to(rg.{str(rg.get_default_dtype()).rpartition('.')[2]}).requires_grad_().",
        )
    if x.requires_grad:
        if x.is_leaf and x._is_view() and x.grad_fn is None and x._base is not None and x._base.requires_grad:
            return q.none(
                "view_without_grad",
                "it is a view that was made under no_grad, so no gradient goes through it to its base. Take the view "
                "with grad mode on, or ask about the base.",
            )
        return None
    if x.is_inference():
        return q.none(
            "inference",
            "it was made in inference mode, and takes no part in any graph. Use x.clone() outside of it.",
        )
    hint = ""
    if q.nodes and (other := q.sharing(held(x), q.leaves)) is not None:
        hint = (
            f" The graph leads to a leaf over the same memory, {of_sizes(other)}{q.used_at(other.id)}, so x may be "
            "a detached part of that one: ask about the leaf."
        )
    return q.none(
        "not_requires_grad",
        f"it does not require grad. Call x.requires_grad_() before the ops that use it.{hint}",
    )


def _of_loss(q: Question, *, grad_mode: bool) -> Explanation | None:
    loss, x = q.loss, q.x
    if loss is x:
        path = (loss.grad_fn,) if loss.grad_fn is not None else ()
        return Explanation("arrives", True, path, "The loss is x itself: its gradient is what backward() is given.")
    if not (loss.is_floating_point() or loss.is_complex()):
        return q.none(
            "not_differentiable_dtype",
            f"the loss is {sizes_and_dtype(loss.shape, loss.dtype)}, and numbers of that kind have no derivative. An "
            "op such as argmax, a comparison, or a cast to integers ends the graph: compute the loss of floats.",
        )
    if loss.is_inference():
        return q.none(
            "inference", "the loss was made in inference mode, which records nothing. Compute it outside of it."
        )
    if loss.grad_fn is not None:
        return None
    if loss.requires_grad:
        return q.none(
            "loss_is_leaf",
            "the loss is a leaf: no op computed it, it is a new tensor that was told to require grad, such as "
            "rg.tensor(value, requires_grad=True). Call backward() on the result of the ops instead.",
        )
    if held(loss).memory == held(x).memory:
        return q.none(
            "no_graph",
            "the loss shares the memory of x and has no graph, so it is x.detach(), x.data, or a view made under "
            "no_grad. Use x itself, with grad mode on.",
        )
    off = "" if grad_mode else " Grad mode is off at this moment."
    return q.none(
        "no_graph",
        "the loss has no graph. It was computed under no_grad, is the result of detach() or a new tensor, as of "
        "rg.tensor(...) or from NumPy, or nothing that it was computed from required grad at that time. Which of them "
        f"is not recorded.{off} Compute it with grad mode on, from x itself.",
    )


def _of_graph(q: Question) -> Explanation:
    x = q.x
    if x.grad_fn is None:
        target, mine = (held(x).id, 0), list[Facts]()
    else:
        mine, _ = facts_of([x])
        target = (mine[0].id, x.output_nr)
    reached = q.reached()
    if target in reached:
        return Values(q, target).explained()
    if target[0] in q.fact_of:
        node = q.fact_of[target[0]]
        used = sorted({nr for id, nr in reached if id == node.id})
        return q.none(
            "unused_output",
            f"x is output {target[1]} of {described(node)}, of which the loss uses output "
            f"{' and '.join(map(str, used))} alone.{recorded(node)}\nUse x in the loss, or ask about the other output.",
            path=q.path_to(node.id),
        )
    return Cuts(q).explained(mine)
