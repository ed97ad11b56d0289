"""ANOM: anomaly mode, which tells where in the forward pass a failing node was made."""

import threading
import warnings

import numpy as np
import pytest

from . import close, fails, leaf, rg, same, warns

grad = rg.autograd.grad
anomaly = rg.autograd.set_detect_anomaly
NAN = float("nan")


def state():
    return rg.is_anomaly_enabled(), rg.is_anomaly_check_nan_enabled()


@pytest.fixture(autouse=True)
def the_mode_is_off():
    assert state() == (False, True)
    yield
    left = state()
    rg.set_anomaly_enabled(False)
    assert left == (False, True)


class Broken(rg.autograd.Function):
    """A copy whose backward fails."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        raise ValueError("no such thing")


class Spoilt(rg.autograd.Function):
    """A sum whose second gradient is not a number."""

    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, g):
        return g, g * NAN


def failing(run, kind=ValueError, *fragments):
    """The texts of the warnings that `run` emits before it raises."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with fails(*fragments, kind=kind):
            run()
    assert all(w.category is UserWarning for w in caught)
    return [str(w.message) for w in caught]


# ANOM-1 ---------------------------------------------------------------------------------------------------------


def test_anom_1_detect_anomaly_warns_when_made_and_acts_in_the_block():
    with warns("Anomaly Detection has been enabled", "increase the runtime"):
        block = rg.autograd.detect_anomaly()
    assert state() == (False, True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with block:
            assert state() == (True, True)
    assert state() == (False, True)
    with warns("Anomaly Detection has been enabled"), rg.autograd.detect_anomaly(check_nan=False):
        assert state() == (True, False)
    with pytest.raises(KeyError), warns("Anomaly"), rg.autograd.detect_anomaly(False):
        raise KeyError
    assert state() == (False, True)


def test_anom_1_set_detect_anomaly_acts_at_the_call_and_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        anomaly(True)
        assert state() == (True, True)
        anomaly(True, check_nan=False)
        assert state() == (True, False)
        anomaly(False)
        assert state() == (False, True)
        with anomaly(True):
            assert state() == (True, True)
            with anomaly(False):
                assert state() == (False, True)
            assert state() == (True, True)
            with anomaly(True, False):
                assert state() == (True, False)
            assert state() == (True, True)
        assert state() == (False, True)
        with pytest.raises(KeyError), anomaly(True):
            raise KeyError


def test_anom_1_the_plain_switch():
    rg.set_anomaly_enabled(True, False)
    assert state() == (True, False)
    rg.set_anomaly_enabled(True)
    assert state() == (True, True)
    rg.set_anomaly_enabled(False)
    assert state() == (False, True)


def test_anom_1_the_module():
    module = rg.autograd.anomaly_mode
    assert module.detect_anomaly is rg.autograd.detect_anomaly
    assert module.set_detect_anomaly is rg.autograd.set_detect_anomaly


def test_anom_1_it_is_on_in_all_threads():
    seen = []
    with anomaly(True, check_nan=False):
        thread = threading.Thread(target=lambda: seen.append(state()))
        thread.start()
        thread.join()
    assert seen == [(True, False)]


# ANOM-2 ---------------------------------------------------------------------------------------------------------


def make(x):
    return x * 2


def test_anom_2_nodes_keep_the_stack_of_their_creation():
    x = leaf([1.0])
    with anomaly(True):
        nodes = [make(x).grad_fn, Broken.apply(x).grad_fn, (x + 1).grad_fn]
    for node in nodes:
        assert set(node.metadata) == {"traceback_"}
        stack = node.metadata["traceback_"]
        assert isinstance(stack, list) and all(isinstance(line, str) for line in stack)
        text = "".join(stack)
        assert f'File "{__file__}", line ' in text
        assert "test_anom_2_nodes_keep_the_stack_of_their_creation" in text
    text = "".join(nodes[0].metadata["traceback_"])
    line = make.__code__.co_firstlineno + 1
    assert text.rstrip().endswith(f'File "{__file__}", line {line}, in make\n    return x * 2')


def test_anom_2_nodes_made_outside_have_none():
    x = leaf([1.0])
    y = x * 2
    with anomaly(True):
        pass
    z = x * 2
    assert y.grad_fn.metadata == {} and z.grad_fn.metadata == {}


def test_anom_2_nodes_made_in_a_pass_know_the_node_that_was_running():
    x = leaf([1.0, 2.0])
    with anomaly(True):
        y = (x**3).sum()
        power = y.grad_fn.next_functions[0][0]
        (g,) = grad(y, x, create_graph=True)
        assert set(g.grad_fn.metadata) == {"traceback_", "parent_"}
        assert g.grad_fn.metadata["parent_"] is power
        (gg,) = grad(g.sum(), x, create_graph=True)
        assert "parent_" in gg.grad_fn.metadata
    assert "grad" in "".join(g.grad_fn.metadata["traceback_"])
    same(gg, [6.0, 12.0])


def test_anom_2_the_dict_is_the_users_too():
    with anomaly(True):
        node = make(leaf([1.0])).grad_fn
    node.metadata["mine"] = 3
    assert set(node.metadata) == {"traceback_", "mine"}


def accumulator(y):
    return y.grad_fn.next_functions[0][0]


def test_anom_2_nodes_of_leaves_keep_the_stack_of_the_first_use():
    x = leaf([1.0])
    with anomaly(True):
        y = make(x)
        z = x * 3
    node = accumulator(y)
    assert accumulator(z) is node and set(node.metadata) == {"traceback_"}
    line = make.__code__.co_firstlineno + 1
    assert "".join(node.metadata["traceback_"]).rstrip().endswith(f"line {line}, in make\n    return x * 2")


def test_anom_2_the_node_of_a_leaf_is_as_old_as_the_graph():
    x = leaf([1.0])
    y = x * 2
    with anomaly(True):
        z = x * 3
        assert accumulator(z) is accumulator(y) and accumulator(z).metadata == {}
        del y, z
        square = x * x
        assert set(accumulator(square).metadata) == {"traceback_"}
        assert "square = x * x" in accumulator(square).metadata["traceback_"][-1]
    del square
    assert accumulator(x * 2).metadata == {}


def test_anom_2_custom_functions_and_edges_use_leaves_too():
    x, y = leaf([1.0]), leaf([1.0])
    with anomaly(True):
        z = Broken.apply(x)
        edge = rg.autograd.graph.get_gradient_edge(y)
    assert "z = Broken.apply(x)" in "".join(accumulator(z).metadata["traceback_"])
    assert "edge = rg" in "".join(edge.node.metadata["traceback_"])


def test_anom_2_nodes_made_in_hooks_know_the_node_that_was_running():
    x, seen = leaf([1.0]), []

    def hook(*_):
        with rg.enable_grad():
            seen.append((x * 4).grad_fn)

    with anomaly(True):
        y = x * 2
        y.register_hook(hook)
        y.grad_fn.register_prehook(hook)
        y.grad_fn.register_hook(hook)
        x.register_hook(hook)
        x.register_post_accumulate_grad_hook(hook)
        node, leaf_node = y.grad_fn, accumulator(y)
        y.backward()
        outside = x * 2
    assert [n.metadata["parent_"] for n in seen] == [node, node, node, leaf_node, leaf_node]
    assert set(outside.grad_fn.metadata) == {"traceback_"}


# ANOM-3 ---------------------------------------------------------------------------------------------------------


def broken_here(x):
    return Broken.apply(x)


def test_anom_3_the_stack_is_shown_before_the_error():
    x = leaf([1.0])
    with anomaly(True):
        y = broken_here(x) * 2
        (text,) = failing(y.backward, ValueError, "no such thing")
    assert text.startswith("Error detected in BrokenBackward. Traceback of forward call that caused the error:\n")
    line = broken_here.__code__.co_firstlineno + 1
    assert f'File "{__file__}", line {line}, in broken_here\n    return Broken.apply(x)' in text
    assert x.grad is None


def test_anom_3_built_in_nodes():
    b = leaf([1.0]).exp()
    with anomaly(True):
        y = b.exp()
        with rg.no_grad():
            y.add_(1)
        (text,) = failing(y.backward, RuntimeError, "modified by an inplace operation")
    assert text.startswith("Error detected in ExpBackward0. Traceback of forward call that caused the error:\n")
    assert "y = b.exp()" in text


def test_anom_3_a_hook_that_fails():
    x = leaf([1.0])
    with anomaly(True):
        y = x.exp()
        y.grad_fn.register_hook(lambda *_: 1 / 0)
        (text,) = failing(y.backward, ZeroDivisionError, "division by zero")
    assert text.startswith("Error detected in ExpBackward0.")
    assert "y = x.exp()" in text


def test_anom_3_without_the_mode_in_forward_there_is_no_stack():
    y = broken_here(leaf([1.0]))
    with anomaly(True):
        (text,) = failing(y.backward, ValueError, "no such thing")
    assert text.startswith("Error detected in BrokenBackward. No forward pass information available.")
    assert "Enable detect anomaly during forward pass for more information" in text
    assert "Traceback" not in text


def test_anom_3_without_the_mode_in_backward_there_is_no_warning():
    with anomaly(True):
        y = broken_here(leaf([1.0]))
    assert failing(y.backward, ValueError, "no such thing") == []


def test_anom_3_each_ancestor_is_shown():
    class Outer(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            return broken_here(g) * 2

    x = leaf([1.0])
    with anomaly(True):
        y = Outer.apply(x)
        (g,) = grad(y, x, leaf([1.0]), create_graph=True)
        first, second = failing(g.backward, ValueError, "no such thing")
    assert first.startswith("Error detected in BrokenBackward. Traceback of forward call that caused the error:\n")
    assert "broken_here" in first
    assert "Previous calculation was induced by OuterBackward." in second
    assert "Traceback of forward call that induced the previous calculation:\n" in second
    assert "y = Outer.apply(x)" in second


def test_anom_3_an_ancestor_without_stack_is_named():
    x = leaf([1.0, 2.0])
    y = x.log()
    with anomaly(True):
        (g,) = grad(y, x, leaf([0.0, 1.0]), create_graph=True)
    with rg.no_grad():
        x.zero_()
    with anomaly(True):
        first, second = failing(lambda: g.sum().backward(), RuntimeError, "modified by an inplace operation")
    assert first.startswith("Error detected in DivBackward0. Traceback of forward call that caused the error:\n")
    assert "LogBackward0. No forward pass information available." in second


def boom(*_):
    raise KeyError("a hook")


def on_tensor(x):
    y = x * 2
    y.register_hook(boom)
    return y.exp()


def on_node(x):
    y = x * 2
    y.grad_fn.register_hook(boom)
    return y.exp()


def before_node(x):
    y = x * 2
    y.grad_fn.register_prehook(boom)
    return y.exp()


def on_leaf(x):
    y = x * 2
    x.register_hook(boom)
    return y


def after_leaf(x):
    y = x * 2
    x.register_post_accumulate_grad_hook(boom)
    return y


def on_accumulator(x):
    y = x * 2
    y.grad_fn.next_functions[0][0].register_hook(boom)
    return y


def before_accumulator(x):
    y = x * 2
    y.grad_fn.next_functions[0][0].register_prehook(boom)
    return y


def on_several(x):
    y, z = x * 2, x * 3
    rg.autograd.graph.register_multi_grad_hook([y, z], boom)
    return y + z


def on_any(x):
    y, z = x * 2, x * 3
    rg.autograd.graph.register_multi_grad_hook([y, z], boom, mode="any")
    return y + z


def on_retained(x):
    y = x * 2
    y.retain_grad()
    y.register_hook(boom)
    return y.exp()


HOOKS = {
    "MulBackward0": [on_tensor, on_node, before_node, on_several, on_any, on_retained],
    "torch::autograd::AccumulateGrad": [on_leaf, after_leaf, on_accumulator, before_accumulator],
}
HOOKS = [(node, hooked) for node, kinds in HOOKS.items() for hooked in kinds]


@pytest.mark.parametrize(("node", "hooked"), HOOKS, ids=[hooked.__name__ for _, hooked in HOOKS])
def test_anom_3_hooks_of_every_kind_that_fail(node, hooked):
    with anomaly(True):
        y = hooked(leaf([1.0, 2.0]))
        (text,) = failing(y.sum().backward, KeyError, "a hook")
    assert text.startswith(f"Error detected in {node}. Traceback of forward call that caused the error:\n")
    first = hooked.__code__.co_firstlineno + 1
    assert f'File "{__file__}", line {first}, in {hooked.__name__}\n' in text
    # The engine goes on.
    x = leaf([1.0])
    (x * 2).backward()
    same(x.grad, [2.0])


@pytest.mark.parametrize(("node", "hooked"), HOOKS, ids=[hooked.__name__ for _, hooked in HOOKS])
def test_anom_3_a_hook_in_a_graph_from_before_the_mode_has_no_stack(node, hooked):
    x = leaf([1.0, 2.0])
    y = hooked(x)
    with anomaly(True):
        (text,) = failing(y.sum().backward, KeyError, "a hook")
    assert text.startswith(f"Error detected in {node}. No forward pass information available.")
    assert failing(hooked(leaf([1.0])).sum().backward, KeyError) == []


def test_anom_3_a_hook_of_what_is_captured():
    x = leaf([1.0])
    with anomaly(True):
        y = on_leaf(x)
        (text,) = failing(lambda: grad(y, x), KeyError)
        assert text.startswith("Error detected in torch::autograd::AccumulateGrad. Traceback")
        y = x.detach().requires_grad_() * 2
        y.register_hook(boom)
        (text,) = failing(lambda: grad(y * 3, y), KeyError)
    assert text.startswith("Error detected in MulBackward0. Traceback")


def test_anom_3_a_leaf_that_is_the_root():
    x = leaf([1.0])
    x.register_hook(boom)
    with anomaly(True):
        (text,) = failing(lambda: x.backward(), KeyError)
    assert text.startswith("Error detected in torch::autograd::AccumulateGrad. Traceback")
    assert "x.backward()" in text


def test_anom_3_a_hook_of_a_second_derivative_has_ancestors():
    x = leaf([1.0])
    for function, node, parent in [
        (lambda x: x**3, "MulBackward0", "PowBackward0"),
        # The sum of two gradients of x.
        (lambda x: x * x * x, "AddBackward0", "MulBackward0"),
    ]:
        with anomaly(True):
            (g,) = grad(function(x), x, create_graph=True)
            g.register_hook(boom)
            first, second = failing(g.backward, KeyError)
        assert first.startswith(f"Error detected in {node}. Traceback")
        assert f"Previous calculation was induced by {parent}." in second


def test_anom_3_a_hook_that_makes_nan_is_one_of_its_node():
    x = leaf([1.0])
    with anomaly(True):
        y = x * 2
        y.register_hook(lambda g: g * NAN)
        failing(y.backward, RuntimeError, "Function 'MulBackward0' returned nan values in its 0th output.")
        x.register_hook(lambda g: g * NAN)
        (x * 2).backward()
    assert np.isnan(x.grad.numpy()).all()


# ANOM-4 ---------------------------------------------------------------------------------------------------------


def test_anom_4_nan_is_an_error_that_names_node_and_gradient():
    a, b = leaf([0.0, 1.0]), leaf([0.0, 1.0])
    with anomaly(True):
        y = (a / b).sum()
        (text,) = failing(y.backward, RuntimeError, "Function 'DivBackward0' returned nan values in its 1th output.")
    assert text.startswith("Error detected in DivBackward0.") and "y = (a / b).sum()" in text
    assert a.grad is None and b.grad is None


def test_anom_4_custom_functions_and_the_first_output():
    x, y = leaf([1.0]), leaf([1.0])
    with anomaly(True):
        z = Spoilt.apply(x, y)
        texts = failing(z.backward, RuntimeError, "Function 'SpoiltBackward' returned nan values in its 1th output.")
        assert len(texts) == 1
        z = x * NAN
        texts = failing(z.backward, RuntimeError, "Function 'MulBackward0' returned nan values in its 0th output.")
        assert len(texts) == 1


def test_anom_4_one_nan_among_many():
    x = rg.ones(1000).requires_grad_()
    weights = rg.ones(1000)
    weights[777] = NAN
    with anomaly(True):
        y = (x * weights).sum()
        failing(y.backward, RuntimeError, "Function 'MulBackward0' returned nan values in its 0th output.")


@pytest.mark.parametrize(
    "dtype", [rg.float16, rg.bfloat16, rg.float32, rg.float64, rg.complex64, rg.complex128], ids=str
)
def test_anom_4_every_dtype(dtype):
    x = rg.ones(3, dtype=dtype).requires_grad_()
    with anomaly(True):
        (x * 2).backward(rg.ones(3, dtype=dtype))
        y = x * NAN
        failing(
            lambda: y.backward(rg.ones(3, dtype=dtype)), RuntimeError, "MulBackward0' returned nan values in its 0th"
        )
    assert x.grad.tolist() == [2] * 3


def test_anom_4_nan_in_the_forward_pass_alone_is_none():
    x = leaf([NAN])
    with anomaly(True):
        (x * 2).backward()
    same(x.grad, [2.0])


def test_anom_4_without_the_check_or_the_mode():
    for mode, check in ((True, False), (False, True)):
        with anomaly(mode, check_nan=check):
            x, y = leaf([1.0]), leaf([1.0])
            Spoilt.apply(x, y).backward()
        same(x.grad, [1.0])
        assert np.isnan(y.grad.numpy()).all()


def test_anom_4_infinities_pass():
    x = leaf([0.0, 1.0])
    with anomaly(True):
        x.log().sum().backward()
    assert x.grad.tolist() == [float("inf"), 1.0]


# ANOM-5 ---------------------------------------------------------------------------------------------------------


def test_anom_5_the_exception_is_the_original():
    error = ValueError("the very one")

    class Raises(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise error

    with anomaly(True):
        y = Raises.apply(leaf([1.0]))
        with pytest.raises(ValueError) as caught, warns("Error detected in RaisesBackward"):
            y.backward()
    assert caught.value is error and error.args == ("the very one",)
    names, trace = [], error.__traceback__
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert names[-1] == "backward"


def test_anom_5_the_hint_of_the_in_place_error_changes():
    def spoil(y):
        with rg.no_grad():
            y.add_(1)
        return y

    y = spoil(leaf([1.0]).exp())
    start = "modified by an inplace operation: [torch.FloatTensor [1]], which is output 0 of Exp"
    with fails(
        start, "is at version 1; expected version 0 instead", "Hint: enable anomaly detection", "set_detect_anomaly"
    ):
        y.backward()
    with anomaly(True):
        y = spoil(leaf([1.0]).exp())
        with warns("Error detected in ExpBackward0"), pytest.raises(RuntimeError) as caught:
            y.backward()
    text = str(caught.value)
    assert start in text and "is at version 1; expected version 0 instead" in text
    assert "Hint: the backtrace further above shows the operation" in text
    assert "set_detect_anomaly" not in text


def test_anom_5_the_engine_goes_on():
    x = leaf([1.0])
    with anomaly(True):
        failing(broken_here(x).backward, ValueError)
        x.exp().backward()
    close(x.grad, [np.e])
