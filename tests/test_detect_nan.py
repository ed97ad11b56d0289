"""`autograd.detect_nan`: the first op that makes a NaN or an infinity is named, and nothing else is."""

import threading
import warnings

import numpy as np
import pytest

import retrograd as rg
from records.bound import Bound, array, dtype_of, tensors_of
from records.test_records import cases

F = rg.nn.functional
NAN, INF = float("nan"), float("inf")
FLOATS = [rg.float16, rg.bfloat16, rg.float32, rg.float64]
COMPLEX = [rg.complex64, rg.complex128]
detect_nan = rg.autograd.detect_nan
NonFiniteError = rg.autograd.anomaly_mode.NonFiniteError


def leaf(*values, dtype=rg.float32):
    return rg.tensor(list(values), dtype=dtype, requires_grad=True)


def found(run, **options):
    """The error that `run` ends with."""
    with detect_nan(**options), pytest.raises(NonFiniteError) as caught:
        run()
    assert isinstance(caught.value, RuntimeError)
    return caught.value


def same(a, b):
    return a == b or (a != a and b != b)


def is_on():
    try:
        with_zero = rg.zeros(1).log()
    except NonFiniteError:
        return True
    assert with_zero.item() == -INF
    return False


# Ops ------------------------------------------------------------------------------------------------------------

FORWARD = {
    "log": (lambda: rg.tensor([1.0, 0.0]).log(), (1,), -INF, "logarithm of 0"),
    "log of -1": (lambda: rg.tensor([[1.0], [-1.0]]).log(), (1, 0), NAN, "logarithm of a negative"),
    "sqrt": (lambda: rg.tensor([4.0, 1.0, -1.0]).sqrt(), (2,), NAN, "square root of a negative"),
    "div": (lambda: rg.ones(2, 2) / rg.tensor([1.0, 0.0]), (0, 1), INF, "division by 0"),
    "rsqrt": (lambda: rg.zeros(()).rsqrt(), (), INF, "division by 0"),
    "reciprocal": (lambda: rg.zeros(1).reciprocal(), (0,), INF, "division by 0"),
    "exp": (lambda: rg.tensor([1.0, 100.0]).exp(), (1,), INF, "larger than the largest"),
    "pow": (lambda: rg.tensor([-2.0]).pow(0.5), (0,), NAN, ""),
    "sum": (lambda: rg.full((2, 3), 3e38).sum(1), (0,), INF, "largest float32"),
    "mm": (lambda: rg.full((3, 3), 1e30) @ rg.full((3, 3), 1e30), (0, 0), INF, "largest float32"),
    "softmax": (lambda: rg.full((2, 3), -INF).softmax(1), (0, 0), NAN, "every element is -inf"),
    "mean": (lambda: rg.zeros(0).mean(), (), NAN, "no elements"),
    "acos": (lambda: rg.tensor([2.0]).acos(), (0,), NAN, "from -1 to 1"),
    "to": (lambda: rg.tensor([1.0, 1e6]).half(), (1,), INF, "65504"),
    "mul": (lambda: rg.tensor([INF]) * rg.tensor([0.0]), (0,), NAN, "0 times an infinity"),
    "sub": (lambda: rg.tensor([INF]) - rg.tensor([INF]), (0,), NAN, "difference of two infinities"),
}


@pytest.mark.parametrize("name", FORWARD)
def test_ops(name):
    run, index, value, reason = FORWARD[name]
    error = found(run)
    assert error.op == name.split()[0] and error.index == index and same(error.value, value)
    assert error.gradient is None and reason in str(error)
    file, line, function, text = error.line
    assert (file, line, function) == (__file__, run.__code__.co_firstlineno, run.__code__.co_qualname)
    assert text in str(error) and f"{file}:{line}" in str(error)
    run()  # Without the mode nothing is raised.


def test_the_message():
    a, b = rg.tensor([[1.0, 2.0], [3.0, 4.0]]), rg.tensor([1, 0])
    error = found(lambda: a / b)
    lines = str(error).splitlines()
    assert lines[:3] == [
        "div made inf at index (0, 1) of its result (float32 of sizes (2, 2))",
        "  operand 0 (float32 of sizes (2, 2)) is 2.0 there",
        "  operand 1 (int64 of sizes (2,)) is 0 there",
    ]
    assert lines[3].startswith(f"  called at {__file__}:") and lines[3].endswith("found(lambda: a / b)")
    assert lines[4].startswith("This is a division by 0")
    assert len(lines) == 5


def test_operands_of_other_ops_are_summed_up():
    error = found(lambda: rg.tensor([[3e38, 3e38], [-1.0, 0.0]]).sum(1))
    assert "operand 0 (float32 of sizes (2, 2)) is from -1.0 to" in str(error)


def test_the_op_that_was_called_is_named_too():
    error = found(lambda: F.binary_cross_entropy_with_logits(rg.full((2,), 3e38), rg.full((2,), -3e38)))
    assert error.called == "binary_cross_entropy_with_logits"


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=str)
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 31, 33, 4095, 4096, 4097, 10000])
def test_every_dtype_and_size(dtype, n):
    for at in {0, n // 2, n - 1}:
        for bad in (NAN, INF, -INF):
            values = np.ones(n)
            values[at] = 0
            numerator = rg.full((n,), 0.0 if bad != bad else np.sign(bad), dtype=dtype)
            divisor = rg.tensor(values, dtype=dtype)
            error = found(lambda: numerator / divisor)  # noqa: B023
            assert error.op == "div" and error.index == (at,)
            if dtype in FLOATS:
                assert same(error.value, bad)
            if bad == bad and dtype in FLOATS:
                with detect_nan(check_inf=False):
                    numerator / divisor
    with detect_nan():
        rg.ones(n, dtype=dtype) / rg.ones(n, dtype=dtype)


def test_complex_parts():
    error = found(lambda: rg.tensor([1.0, 2 + 3e38j], dtype=rg.complex64) + 3e38j)
    assert error.index == (1,) and error.value == complex(2, INF) and "(2.0+infj)" in str(error)


def test_layouts():
    x = rg.zeros(6, 5)
    x[4, 3] = -1
    for view, index in [(x, (4, 3)), (x.t(), (3, 4)), (x[::2, 1::2], (2, 1)), (x[4].expand(3, 5), (0, 3))]:
        assert found(lambda: view.sqrt()).index == index  # noqa: B023


def test_several_results():
    with detect_nan():
        rg.tensor([1.0, 2.0]).sort()
    error = found(lambda: rg.tensor([3e38, 3e38]).view(1, 2).cumsum(1))
    assert error.index == (0, 1)


# What was given --------------------------------------------------------------------------------------------------


def test_what_was_given_is_not_reported():
    hidden = rg.tensor([True, False, False])
    with detect_nan():
        rg.full((3,), INF)
        rg.tensor([NAN]) * 2
        rg.tensor([INF, -1.0]) + 1
        rg.tensor([INF]).exp()
        x = rg.zeros(3).masked_fill(hidden, -INF)
        x.softmax(0)
        rg.where(hidden, -INF, rg.zeros(3)).exp()
        rg.zeros(3).fill_(NAN)
        rg.zeros(3).index_fill(0, rg.tensor([1]), INF)
        F.pad(rg.zeros(3), (1, 1), value=-INF)
        rg.zeros(3).clamp(min=-INF, max=INF)
        rg.cat([rg.zeros(1), rg.tensor([NAN])]).clone()
        rg.tensor([NAN, 1.0]).sum()
        rg.tensor([NAN, 1.0]).half()
        rg.zeros(3).masked_fill_(hidden, NAN)
        (leaf(1.0, 2.0) * NAN).sum().backward()


def test_masked_attention():
    q = rg.ones(1, 4, 2).requires_grad_()
    causal = rg.ones(4, 4).triu(1).bool()
    with detect_nan():
        scores = (q @ q.transpose(1, 2)).masked_fill(causal, -INF)
        (scores.softmax(2) @ q).sum().backward()
    assert np.isfinite(q.grad.numpy()).all()


def test_entries_are_asked_one_by_one():
    error = found(lambda: rg.tensor([NAN, 1.0, 0.0]).log())
    assert error.index == (2,)
    error = found(lambda: rg.tensor([-INF, 1.0]) / rg.tensor([2.0, 0.0]))
    assert error.index == (1,)


def test_a_nan_made_of_a_given_infinity_is_reported():
    masked = rg.zeros(2, 2).masked_fill(rg.tensor([[True, True], [False, False]]), -INF)
    error = found(lambda: masked.softmax(1))
    assert error.index == (0, 0) and error.op == "softmax"


def test_infinities_may_be_left_out():
    with detect_nan(check_inf=False):
        bias = rg.tensor([1.0, 0.0]).log()
        assert bias.tolist() == [0.0, -INF]
    assert found(lambda: rg.tensor([-1.0]).log(), check_inf=False).op == "log"
    assert found(lambda: bias - bias, check_inf=False).op == "sub"


def test_views_are_not_looked_through():
    x = rg.full((2, 2), NAN)
    with detect_nan():
        x.t()[0].reshape(2, 1).expand(2, 3)
        x.detach().view(4)


# In place --------------------------------------------------------------------------------------------------------


def test_in_place():
    x = rg.tensor([1.0, 0.0])
    error = found(x.log_)
    assert error.op == "log_" and error.index == (1,)
    x = rg.tensor([1.0, 0.0])
    error = found(lambda: x.div_(x))
    assert error.op == "div_" and error.index == (1,)
    x = rg.tensor([1.0, 2.0])
    error = found(lambda: x.div_(rg.tensor([1.0, 0.0])))
    assert error.op == "div_" and "operand 1 (float32 of sizes (2,)) is 0.0 there" in str(error)
    out = rg.empty(2)
    assert found(lambda: rg.log(rg.tensor([1.0, 0.0]), out=out)).index == (1,)


def test_in_place_on_what_was_not_finite():
    with detect_nan():
        rg.tensor([NAN, 1.0]).mul_(2)
        rg.tensor([INF, 1.0]).mul_(2)
        x = rg.tensor([NAN, 1.0])
        x.copy_(rg.tensor([INF, 2.0]))


def test_the_graph_is_whole_after_an_error_in_place():
    x = leaf(0.0, 2.0)
    y = x * 1
    version = y._version
    found(y.log_)
    assert y._version == version + 1 and y.grad_fn.name() == "LogBackward0"


# Backward --------------------------------------------------------------------------------------------------------

BACKWARD = {
    "SqrtBackward0": (lambda x: x.sqrt(), (0.0, 4.0), (0,), INF, "infinite derivative at 0"),
    "PowBackward0": (lambda x: x.pow(0.5), (4.0, 0.0), (1,), INF, "infinite derivative at 0"),
    "AcosBackward0": (lambda x: x.acos(), (1.0, 0.0), (0,), -INF, "ends of the domain"),
    "MulBackward0": (lambda x: x * 3e38 * 10, (0.0, 0.0), (0,), INF, ""),
}


@pytest.mark.parametrize("node", BACKWARD)
def test_rules(node):
    forward, values, index, value, reason = BACKWARD[node]

    def run():
        y = forward(x)
        y.sum().backward()

    x = leaf(*values)
    error = found(run)
    assert error.op == node and error.index == index and same(error.value, value) and error.gradient == 0
    assert error.line[:2] == (__file__, forward.__code__.co_firstlineno)
    assert reason in str(error) and x.grad is None
    run()
    assert not np.isfinite(x.grad.numpy()).all()


def test_the_message_of_a_rule():
    a, b = leaf(2.0), leaf(1e-30)
    with detect_nan():
        y = a / b
        with pytest.raises(NonFiniteError) as caught:
            y.backward()
    error = caught.value
    assert (error.op, error.gradient, error.index, error.value) == ("DivBackward0", 1, (0,), -INF)
    lines = str(error).splitlines()
    assert lines[0] == (
        "DivBackward0 made -inf at index (0,) of its gradient 1, that of operand 1 of div (float32 of sizes (1,))"
    )
    assert lines[1] == "  the gradient of the result (float32 of sizes (1,)) is 1.0 there"
    assert any(line.startswith(f"  the op was called at {__file__}:") and line.endswith("y = a / b") for line in lines)


def test_the_trap_of_where():
    x = leaf(0.0, 1.0)

    def run():
        rg.where(x > 0, x.log(), 0.0).sum().backward()

    error = found(run, check_inf=False)
    assert error.op == "LogBackward0" and same(error.value, NAN) and "where()" in str(error)
    assert found(run).op == "log"

    safe = leaf(0.0, 1.0)
    with detect_nan():
        rg.where(safe > 0, rg.where(safe > 0, safe, 1.0).log(), 0.0).sum().backward()
    assert safe.grad.tolist() == [0.0, 1.0]


def test_a_graph_from_before_the_mode():
    x = leaf(0.0)
    y = x.sqrt()
    assert found(y.backward).op == "SqrtBackward0"


def test_gradients_that_were_given_or_forward_passed_are_not_reported():
    x = leaf(NAN, 1.0)
    with detect_nan():
        (x * x).sum().backward()
        x.exp().backward(rg.tensor([1.0, INF]))


def test_sums_of_gradients():
    x = leaf(0.0)
    error = found(lambda: (x * 3e38 + x * 3e38).backward())
    assert error.op == "add"
    x.grad = rg.full((1,), 3e38)
    error = found(lambda: (x * 3e38).backward())
    assert ".grad" in error.op and "is 3e38 there" in str(error)
    x.grad = rg.full((1,), INF)
    with detect_nan():
        (x * 3e38).backward()


def test_second_derivatives():
    x = leaf(0.0, 1.0)
    with detect_nan():
        (g,) = rg.autograd.grad(x.pow(1.5).sum(), x, create_graph=True)
    assert found(lambda: g.sum().backward()).gradient == 0
    x = leaf(0.0, 1.0)
    error = found(lambda: rg.autograd.grad(x.sqrt().sum(), x, create_graph=True))
    assert error.op == "SqrtBackward0"


def test_hooks():
    def spoil(g):
        return rg.tensor([1.0, NAN])

    for register in [
        lambda x, y: y.register_hook(spoil),
        lambda x, y: x.register_hook(spoil),
        lambda x, y: y.grad_fn.register_prehook(lambda gs: (spoil(gs[0]),)),
        lambda x, y: y.grad_fn.register_hook(lambda results, gs: (spoil(gs[0]), None)[: len(results)]),
    ]:
        x = leaf(1.0, 2.0)
        y = x * 2
        register(x, y)
        error = found(y.sum().backward)
        assert error.op == "a hook" and error.index == (1,)
    # Ops in hooks are ops like any other.
    x = leaf(1.0, 2.0)
    x.register_hook(lambda g: (g - 1).log())
    assert found((x * 1).sum().backward).op == "log"


# Custom functions ------------------------------------------------------------------------------------------------


class Foreign(rg.autograd.Function):
    """A copy; what NumPy computes is only seen in the results."""

    @staticmethod
    def forward(ctx, x, fails):
        ctx.fails = fails
        if fails == "forward":
            return rg.from_numpy(np.array([1.0, NAN], np.float32))
        return (x - x).log() if fails == "op" else x.clone()

    @staticmethod
    def backward(ctx, g):
        if ctx.fails == "backward":
            return rg.from_numpy(np.array([NAN, 1.0], np.float32)), None
        return (g - g).log() if ctx.fails == "op in backward" else g, None


def test_custom_functions():
    x = leaf(1.0, 2.0)
    error = found(lambda: Foreign.apply(x, "forward"))
    assert (error.op, error.index) == ("Foreign", (1,))
    assert found(lambda: Foreign.apply(x, "op")).op == "log"
    with detect_nan():
        y = Foreign.apply(x, "backward").sum()
    error = found(y.backward)
    assert (error.op, error.index, error.gradient) == ("ForeignBackward", (0,), 0)
    error = found(Foreign.apply(x, "op in backward").sum().backward)
    assert error.op == "log" and "(g - g).log()" in error.line[3]
    with detect_nan():
        Foreign.apply(x, None).sum().backward()


def test_checkpoints():
    x = leaf(1.0, 0.0)
    error = found(lambda: rg.utils.checkpoint.checkpoint(lambda x: x.sqrt(), x, use_reentrant=False).sum().backward())
    assert error.op == "SqrtBackward0"


# Transforms and forward mode -------------------------------------------------------------------------------------


def test_batches():
    error = found(lambda: rg.func.vmap(lambda x: x.log())(rg.tensor([[1.0, 2.0], [3.0, 0.0]])))
    assert error.op == "log" and error.index == (1, 1)
    error = found(lambda: rg.func.vmap(rg.func.grad(lambda x: x.sqrt()))(rg.tensor([1.0, 0.0])))
    assert error.op == "SqrtBackward0"


def test_tangents():
    error = found(lambda: rg.func.jvp(lambda x: x.sqrt(), (rg.tensor([0.0, 1.0]),), (rg.tensor([1.0, 1.0]),)))
    assert error.op == "the JVP of sqrt" and error.index == (0,)
    assert "the tangent of operand 0 (float32 of sizes (2,)) is 1.0 there" in str(error)
    with detect_nan():
        _, t = rg.func.jvp(lambda x: x.sqrt(), (rg.tensor([4.0, 1.0]),), (rg.tensor([1.0, 1.0]),))
    assert t.tolist() == [0.25, 0.5]


# The mode --------------------------------------------------------------------------------------------------------


def test_blocks_nest_and_end():
    assert not is_on()
    with detect_nan():
        assert is_on()
        with detect_nan(False):
            assert not is_on()
            with detect_nan(enabled=True, check_inf=False):
                assert not is_on()  # for infinities
                assert found(lambda: rg.tensor([-1.0]).log(), check_inf=False).op == "log"
            assert not is_on()
        assert is_on()
        with pytest.raises(KeyError), detect_nan(False):
            raise KeyError
        assert is_on()
    assert not is_on()
    with pytest.raises(NonFiniteError), detect_nan():
        rg.zeros(1).log()
    assert not is_on()


def test_a_block_is_one_of_its_thread():
    seen = []
    with detect_nan():
        thread = threading.Thread(target=lambda: seen.append(is_on()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_deeply_nested_passes_keep_the_mode():
    """They go on in other threads."""

    def nested(depth):
        class Nest(rg.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                if depth == 0:
                    return (g - g).log()
                with rg.enable_grad():
                    nested(depth - 1).sum().backward()
                return g

        return Nest.apply(leaf(1.0))

    error = found(nested(70).sum().backward)
    assert error.op == "log"


def test_rules_take_the_same_path_as_without_the_mode():
    x = rg.linspace(-1, 1, 101, requires_grad=True)

    def gradient():
        w = rg.linspace(0, 1, 101 * 3).view(101, 3)
        loss = F.cross_entropy(F.gelu(F.layer_norm(x, (101,)) @ w).view(1, 3), rg.tensor([1]))
        return rg.autograd.grad(loss, x)[0]

    plain = gradient()
    with detect_nan():
        assert gradient().tolist() == plain.tolist()


# Every op --------------------------------------------------------------------------------------------------------


def finite(tensors):
    return all(np.isfinite(array(t)).all() for t in tensors if dtype_of(t) in ("float32", "float64"))


def total(y):
    """A real sum of all elements."""
    return (y.real + y.imag).sum() if y.is_complex() else y.sum()


@cases(lambda r: r.differentiable)
def test_no_op_is_blamed_for_what_is_finite(record, sample):
    """Not even for what it makes on the way."""
    bound = Bound(record, sample)
    inputs = bound.tensors(grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ys = tensors_of(bound.run(inputs))
        sums = [total(y) for y in ys if y.requires_grad]
        try:
            grads = rg.autograd.grad(sums, [x for x in inputs if x.requires_grad], allow_unused=True) if sums else []
        except RuntimeError:
            assert not sample.smooth
            return  # no derivative with these arguments
        if not finite([*inputs, *ys, *(g for g in grads if g is not None)]):
            return
        rg.manual_seed(0)
        with detect_nan():
            again = tensors_of(bound.run(bound.tensors(grad=True)))
            sums = [total(y) for y in again if y.requires_grad]
            if sums:
                rg.autograd.backward(sums)
