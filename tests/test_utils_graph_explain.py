"""`retrograd.utils.graph.explain` says where the way from a loss to a tensor ends: a program for each reason."""

from pathlib import Path

import pytest

import retrograd as rg
from retrograd.autograd import Function
from retrograd.autograd.graph import saved_tensors_hooks
from retrograd.utils.checkpoint import checkpoint
from retrograd.utils.graph import REASONS, explain

HERE = Path(__file__).name


def leaf(*values):
    return rg.tensor([float(v) for v in values], requires_grad=True)


class TwoResults(Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * 2, b * 3

    @staticmethod
    def backward(ctx, ga, gb):
        return ga * 2, gb * 3


class Silent(Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return None


class Broken(Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        raise ArithmeticError("out of luck")


class Zeroing(Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g * 0


PROGRAMS = []


def program(reason, *words):
    """A program that returns a loss and a tensor; `words` must be in the explanation."""

    def mark(function):
        name = f"{reason}-{function.__name__}"
        PROGRAMS.append(pytest.param(function, reason, words, id=name))
        return function

    return mark


# ---- the gradient arrives


@program("arrives", "arrives at x, float32 (3,), along 4 nodes, 1 of its 3 elements as zero")
def partly():
    x = leaf(1, -2, 3)
    return (x * leaf(1, 2, 3)).relu().sum(), x


@program("arrives", "x is no leaf", "retain_grad")
def at_an_intermediate():
    h = leaf(1, 2) * 2
    return h.exp().sum(), h


@program("arrives", "The loss is x itself")
def at_itself():
    x = leaf(1)
    return x, x


@program("arrives")
def of_a_loss_of_several_elements():
    x = leaf(1, 2, 3)
    return x.exp() * 2, x


@program("arrives", "complex64 (1,)")
def of_complex_numbers():
    z = rg.tensor([1 + 2j], requires_grad=True)
    return z * z, z


@program("arrives")
def through_a_checkpoint():
    x = leaf(1, 2)
    return checkpoint(lambda a: (a * a).exp(), x, use_reentrant=False).sum(), x


@program("arrives")
def through_packed_tensors():
    x = leaf(1, 2)
    with saved_tensors_hooks(lambda t: t.tolist(), lambda values: rg.tensor(values)):
        return (x * x).sum(), x


@program("arrives")
def along_two_ways():
    x = leaf(1, 2)
    h = x * 2
    return (h.relu() + h.neg().relu()).sum(), x


# ---- x or the loss take no part in a graph


@program("not_requires_grad", "x.requires_grad_()")
def of_an_operand_without():
    x = rg.ones(2)
    return (leaf(1, 2) * x).sum(), x


@program("not_requires_grad", "leads to a leaf over the same memory", HERE)
def of_a_detached_leaf():
    w = leaf(1, 2)
    return w.exp().sum(), w.detach()


@program("not_differentiable_dtype", "int64 (3,)", "requires_grad_()")
def of_integers():
    x = rg.arange(3)
    return (leaf(1, 2, 3) * x).sum(), x


@program("not_differentiable_dtype", "the loss is int64 ()")
def of_a_loss_of_integers():
    x = leaf(1, 2)
    return x.argmax(), x


@program("inference", "made in inference mode")
def of_a_loss_made_in_inference_mode():
    x = leaf(1, 2)
    with rg.inference_mode():
        return x.exp().sum(), x


@program("inference", "x.clone()")
def of_a_tensor_made_in_inference_mode():
    w = leaf(1, 2)
    with rg.inference_mode():
        x = w * 2
    return w.sum(), x


@program("no_graph", "under no_grad", "detach()", "not recorded")
def of_a_loss_made_under_no_grad():
    x = leaf(1, 2)
    with rg.no_grad():
        return x.exp().sum(), x


@program("no_graph", "x.detach()")
def of_a_detached_x_as_the_loss():
    x = leaf(1)
    return x.detach(), x


@program("loss_is_leaf", "requires_grad=True")
def of_a_new_tensor_as_the_loss():
    x = leaf(1, 2)
    return rg.tensor(x.sum().item(), requires_grad=True), x


@program("view_without_grad", "view that was made under no_grad")
def of_a_view_made_under_no_grad():
    y = leaf(1, 2) * 1
    with rg.no_grad():
        x = y[:1]
    return y.sum(), x


# ---- the graph does not lead to x


@program("unused_output", "output 0 of SplitWithSizesBackward0", "uses output 1 alone", "a, b = ")
def of_the_other_half():
    a, b = (leaf(1, 2, 3) * 2).split([1, 2])
    return b.sum(), a


@program("other_view", "SelectBackward0", "x = w[0]")
def of_a_view_of_what_is_used():
    w = leaf(1, 2) * 2
    x = w[0]
    return w.exp().sum(), x


@program("other_view", "x is a view")
def of_a_view_of_a_leaf():
    w = leaf(1, 2)
    return w[1:].sum(), w[:1]


@program("written_since", "last written at", "x.mul_(3)")
def of_a_tensor_written_after_its_use():
    x = leaf(1, 2) * 2
    loss = x.sum()
    x.mul_(3)
    return loss, x


@program("written_since", "last written at", "x[0] = 7")
def of_a_tensor_written_in_part():
    x = leaf(1, 2) * 2
    loss = x.sum()
    x.mul_(3)
    x[0] = 7
    return loss, x


@program("used_as_constant", "'other' of MulBackward0", "loss = (leaf(1, 2) * x).sum()")
def of_what_required_grad_too_late():
    x = rg.ones(2)
    loss = (leaf(1, 2) * x).sum()
    return loss, x.requires_grad_()


@program("detached", "x.detach()", "return (leaf(1, 2) * x.detach()).sum(), x")
def of_a_detached_operand():
    x = leaf(1, 2)
    return (leaf(1, 2) * x.detach()).sum(), x


@program("detached", "x.data")
def of_data():
    x = leaf(1, 2) * 2
    return (leaf(1, 2) * x.data).sum(), x


@program("detached", "numpy()")
def of_an_array_of_the_same_memory():
    np = pytest.importorskip("numpy")
    x = leaf(1, 2)
    array = x.detach().numpy()
    assert isinstance(array, np.ndarray)
    return (leaf(3, 4) * rg.from_numpy(array)).sum(), x


@program("new_leaf", "another leaf over the memory of x")
def of_a_leaf_made_of_data():
    x = leaf(1, 2)
    other = x.data.requires_grad_()
    return other.exp().sum(), x


@program("new_leaf", "a leaf with the same values", "not recorded")
def of_a_leaf_made_of_values():
    x = leaf(1, 2)
    return rg.tensor(x.tolist(), requires_grad=True).exp().sum(), x


@program("copied", "constant with its values", "rg.tensor(x)")
def of_a_copy_of_values():
    x = leaf(1, 2)
    return (leaf(3, 4) * rg.tensor(x.tolist())).sum(), x


@program("copied", "written through .data")
def of_values_written_to_data():
    x, buffer = leaf(1, 2), rg.zeros(2)
    buffer.data.copy_(x)
    return (leaf(3, 4) * buffer).sum(), x


@program("integer_operand", "int64 (3,)", "a cast")
def of_a_cast_to_integers():
    x = leaf(1, 2, 3)
    return (leaf(1, 1, 1) * x.long()).sum(), x


@program("integer_operand", "sort")
def of_the_indices_alone():
    x = leaf(3, 1, 2)
    _, order = x.sort()
    return (leaf(1, 1, 1) * order).sum(), x


@program("written_without_grad", "written in place", "buffer.copy_(x * 2)")
def of_a_write_under_no_grad():
    x, buffer = leaf(1, 2), rg.zeros(2)
    with rg.no_grad():
        buffer.copy_(x * 2)
    return (leaf(3, 4) * buffer).sum(), x


@program("unused", "leads to these leaves", "float32 (2,), used at", HERE)
def of_a_tensor_that_is_not_used():
    x = leaf(1, 2)
    return leaf(3, 4).exp().sum() + leaf(1).sum(), x


@program("unused", "operands that came without history", "(w * (x * 2).detach()).sum()")
def of_something_detached_on_the_way():
    x, w = leaf(1, 2), leaf(3, 4)
    return (w * (x * 2).detach()).sum(), x


@program("unused", "x is the result of ExpBackward0", "x = w.exp()")
def of_a_result_that_is_not_used():
    w = leaf(3, 4)
    x = w.exp()
    x.mul_(2).mul_(3).exp_()
    x = w.exp()
    return w.exp().sum(), x


# ---- the graph leads to x


@program("freed", "freed by a backward", "retain_graph=True")
def after_backward():
    x = leaf(1, 2)
    loss = x.exp().sum()
    loss.backward()
    return loss, x


@program("rule_raised", "BrokenBackward", "ArithmeticError: out of luck", "Broken.apply(x)")
def through_a_broken_function():
    x = leaf(1, 2)
    return Broken.apply(x).sum(), x


@program("rule_raised", "modified by an inplace operation", "hidden.mul_(2)")
def through_a_saved_tensor_that_was_written():
    x = leaf(1, 2)
    hidden = x.exp()
    loss = hidden.sum()
    with rg.no_grad():
        hidden.mul_(2)
    return loss, x


@program("none", "SilentBackward", "returns None")
def through_a_function_that_returns_none():
    x = leaf(1, 2)
    return Silent.apply(x).sum(), x


@program("nan", "SqrtBackward0", "in 2 of 2 elements", "unsafe = (x * 0).sqrt()")
def through_a_root_that_where_hides():
    x = leaf(1, 2)
    unsafe = (x * 0).sqrt()
    return rg.where(x > 100, unsafe, x).sum(), x


@program("nan", "The loss itself is not finite")
def of_a_loss_that_is_nan():
    x = leaf(-1)
    return x.log().sqrt().sum() * x.sum(), x


@program("inf", "SqrtBackward0", "in 1 of 2 elements")
def through_a_root_at_zero():
    x = leaf(0, 4)
    return x.sqrt().sum(), x


@program("inf", "the sum of finite gradients is too large")
def of_a_sum_that_overflows():
    x = leaf(1)
    return (x * 2e38 + x * 2e38).sum(), x


@program("masked", "ReluBackward0", "leaky_relu", "hidden = (-x.abs() - 1).relu()")
def by_relu():
    x = leaf(1, -2)
    hidden = (-x.abs() - 1).relu()
    return hidden.sum(), x


@program("masked", "ClampBackward1")
def by_clamp():
    x = leaf(5, 6)
    return x.clamp(-1, 1).sum(), x


@program("masked", "WhereBackward0")
def by_where():
    x = leaf(5, 6)
    return rg.where(x < 0, x, leaf(1, 1)).sum(), x


@program("masked", "MaskedFillBackward0")
def by_masked_fill():
    x = leaf(5, 6)
    return x.masked_fill(x > 0, 0.0).sum(), x


@program("saturated", "SoftmaxBackward0", "log_softmax")
def by_softmax():
    x = leaf(1000, -1000)
    return x.softmax(0)[0], x


@program("saturated", "TanhBackward0")
def by_tanh():
    x = leaf(100, -100)
    return x.tanh().sum(), x


@program("saturated", "SigmoidBackward0")
def by_sigmoid():
    x = leaf(1000)
    return x.sigmoid().sum(), x


@program("other_element", "MaximumBackward0", "logsumexp")
def by_maximum():
    x = leaf(1, 2)
    return rg.maximum(x, leaf(10, 10)).sum(), x


@program("other_element", "MaxBackward1")
def by_max():
    x = leaf(1, 2)
    return rg.cat([x, leaf(10)]).max(), x


@program("other_element")
def by_a_slice():
    x = leaf(1, 2)
    return rg.cat([x, leaf(10)])[2:].sum(), x


@program("zero_derivative", "RoundBackward0", "(x.round() - x).detach()")
def by_round():
    x = leaf(1.2, 2.7)
    return x.round().sum(), x


@program("zero_factor", "MmBackward0")
def by_weights_of_zeros():
    x = rg.ones(2, 3, requires_grad=True)
    return (x @ rg.zeros(3, 2)).sum(), x


@program("overwritten", "ZeroBackward0", "y.zero_()")
def by_a_write_of_zeros():
    x = leaf(1, 2)
    y = x * 2
    y.zero_()
    return (y + leaf(1, 1)).sum(), x


@program("overwritten", "y[:] = leaf(3, 4)")
def by_a_write_of_another_tensor():
    x = leaf(1, 2)
    y = x * 2
    y[:] = leaf(3, 4)
    return y.sum(), x


@program("materialized_zeros", "TwoResultsBackward", "does not use output 1", "set_materialize_grads(False)")
def by_an_output_that_is_not_used():
    x = leaf(1, 2)
    first, _ = TwoResults.apply(leaf(3, 4), x)
    return first.sum(), x


@program("cancels", "2 gradients that are not zero meet at x")
def by_itself():
    x = leaf(1, 2)
    return (x - x).sum(), x


@program("cancels", "meet at MulBackward0", "y = x * 2")
def by_itself_on_the_way():
    x = leaf(1, 2)
    y = x * 2
    return (y.sum() - y.sum()) * 3, x


@program("zero", "ZeroingBackward")
def by_a_custom_function():
    x = leaf(1, 2)
    return Zeroing.apply(x).sum(), x


@pytest.mark.parametrize(("function", "reason", "words"), PROGRAMS)
def test_the_reason_is_found_and_told(function, reason, words):
    loss, x = function()
    why = explain(loss, x)
    assert why.reason == reason, str(why)
    assert why.arrives == (reason == "arrives")
    for word in words:
        assert word in str(why)
    for node, following in zip(why.path, why.path[1:], strict=False):
        assert following in [target for target, _ in node.next_functions]
    if why.path:
        assert why.path[0] is loss.grad_fn


def test_every_reason_has_a_program():
    assert {case.values[1] for case in PROGRAMS} == set(REASONS)


@pytest.mark.parametrize(("function", "reason", "words"), PROGRAMS)
def test_the_engine_agrees(function, reason, words):
    loss, x = function()
    if reason in ("freed", "rule_raised", "not_differentiable_dtype", "inference", "no_graph"):
        return  # backward refuses
    why = explain(loss, x)
    if x.requires_grad:
        (g,) = rg.autograd.grad(loss, x, rg.ones_like(loss.detach()), allow_unused=True)
    else:
        g = None
    if why.arrives:
        assert bool((g.abs() != 0).any()) and bool(rg.isfinite(g.abs()).all())
    elif reason in ("nan", "inf"):
        assert not bool(rg.isfinite(g).all())
    elif g is not None:
        assert reason in (*ZEROS, "view_without_grad") and not g.any()
    else:
        assert "is None" in str(why) or reason in ZEROS


ZEROS = [
    "masked", "saturated", "other_element", "zero_derivative", "zero_factor", "overwritten", "materialized_zeros",
    "cancels", "zero",
]  # fmt: skip


def test_the_path_ends_at_the_leaf_or_where_the_gradient_does():
    x = leaf(1, 2)
    why = explain(x.exp().sum(), x)
    assert [node.name().rpartition(":")[2] for node in why.path] == ["SumBackward0", "ExpBackward0", "AccumulateGrad"]
    assert why.path[-1].variable is x
    why = explain((-x).relu().exp().sum(), x)
    assert [node.name() for node in why.path] == ["SumBackward0", "ExpBackward0", "ReluBackward0"]


def test_looking_changes_nothing():
    calls = []
    x = leaf(1, 2)
    x.register_hook(calls.append)
    x.register_post_accumulate_grad_hook(calls.append)
    h = x * x
    h.retain_grad()
    h.register_hook(calls.append)
    loss = h.exp().sum()
    loss.grad_fn.register_hook(lambda *grads: calls.append(grads))
    loss.grad_fn.register_prehook(lambda *grads: calls.append(grads))
    rg.manual_seed(3)
    expected = rg.rand(1).item()
    rg.manual_seed(3)
    assert explain(loss, x).arrives and explain(loss, h).arrives and explain(h.exp(), x).arrives
    assert rg.rand(1).item() == expected
    assert not calls and x.grad is None and h.grad is None
    assert (x._version, h._version, loss._version) == (0, 0, 0)
    assert rg.is_grad_enabled()
    loss.backward()  # the graph is still there
    assert x.grad is not None and h.grad is not None and len(calls) == 5


def test_no_rule_runs_for_a_gradient_that_is_none():
    x = leaf(1, 2)
    assert explain(Broken.apply(leaf(3, 4)).sum(), x).reason == "unused"


def test_rules_off_the_way_do_not_run():
    x = leaf(1, 2)
    assert explain((x * 2).sum() + Broken.apply(leaf(1, 2)).sum(), x).arrives


def test_grad_mode_is_named_if_it_is_off():
    x = leaf(1, 2)
    with rg.no_grad():
        assert "Grad mode is off" in str(explain(x.sum(), x))


def test_a_deep_graph():
    x = leaf(1)
    y = x
    for _ in range(3_000):
        y = y + 1
    why = explain(y, x)
    assert why.arrives and len(why.path) == 3_001


@pytest.mark.parametrize("wrong", [(1.0, leaf(1)), (leaf(1), None)])
def test_refuses_what_is_no_tensor(wrong):
    with pytest.raises(TypeError, match="must be a Tensor"):
        explain(*wrong)


def test_the_documentation_lists_the_reasons():
    page = (Path(__file__).parents[1] / "docs" / "graphs.md").read_text(encoding="utf-8")
    listed = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    assert {reason.strip("`"): meaning for reason, meaning in listed} == REASONS
