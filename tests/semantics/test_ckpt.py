"""CKPT: calls that keep their arguments alone, and are repeated in the backward pass."""

import contextlib
import importlib
import warnings

import numpy as np
import pytest

from . import STANDIN, array, beyond, close, fails, leaf, rg, same, warns

ckpt = importlib.import_module(f"{STANDIN}.utils.checkpoint")
checkpoint, CheckpointError = ckpt.checkpoint, ckpt.CheckpointError
grad = rg.autograd.grad
saved_tensors_hooks = rg.autograd.graph.saved_tensors_hooks

FORMS = pytest.mark.parametrize("reentrant", [False, True])


class Calls(list):
    """What happened, in order; as a decorator it makes a function note that it is called."""

    def __call__(self, name):
        def decorate(function):
            def noted(*args, **kwargs):
                self.append(name)
                return function(*args, **kwargs)

            return noted

        return decorate


def wave(x):
    return x.sin().exp()


def wave_slope(x):
    """The derivative of `wave` at the values of a tensor."""
    return np.cos(array(x)) * np.exp(np.sin(array(x)))


# CKPT-1 ---------------------------------------------------------------------------------------------------------


def test_ckpt_1_the_form_should_be_named_and_is_reentrant_unless_told():
    x = leaf([1.0, 2.0])
    with warns("the use_reentrant parameter should be passed explicitly"):
        y = checkpoint(wave, x)
    assert y.grad_fn.name() == "CheckpointFunctionBackward"
    y.sum().backward()
    close(x.grad, wave_slope(x))
    with warns("the use_reentrant parameter should be passed explicitly"):
        y = ckpt.checkpoint_sequential([rg.sin, rg.exp], 2, x)
    assert y.grad_fn.next_functions[0][0].name() == "CheckpointFunctionBackward"


@FORMS
def test_ckpt_1_no_warning_when_it_is_named(reentrant):
    x = leaf([1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checkpoint(wave, x, use_reentrant=reentrant)
        ckpt.checkpoint_sequential([rg.sin, rg.exp], 2, x, use_reentrant=reentrant)


@beyond("the warning of torch points into torch")
def test_ckpt_1_the_warning_points_at_the_caller():
    with warns("use_reentrant") as caught:
        checkpoint(wave, leaf([1.0]))
    assert caught[0].filename == __file__


@FORMS
def test_ckpt_1_the_function_runs_again_in_each_backward_pass(reentrant):
    calls, x, w = Calls(), leaf([1.0, 2.0]), leaf([3.0, 4.0])

    @calls("f")
    def f(x):
        calls.append(rg.is_grad_enabled())
        return (x * w).sin().exp()

    y = checkpoint(f, x, use_reentrant=reentrant)
    assert calls == ["f", not reentrant] and y.requires_grad
    y.sum().backward(retain_graph=True)
    assert calls == ["f", not reentrant, "f", True]
    close(x.grad, wave_slope(x * w) * array(w))
    close(w.grad, wave_slope(x * w) * array(x))
    y.sum().backward()
    assert calls == ["f", not reentrant] + ["f", True] * 2
    close(x.grad, 2 * wave_slope(x * w) * array(w))
    with fails("backward through the graph a second time"):
        y.sum().backward()


@FORMS
def test_ckpt_1_rng_state_is_preserved_unless_told(reentrant):
    for preserve in ({}, {"preserve_rng_state": True}, {"preserve_rng_state": False}):
        rg.manual_seed(1)
        x, masks = leaf([1.0] * 40), []

        def drop(x, masks=masks):
            masks.append(rg.rand_like(x.detach()) < 0.5)
            return (x.sin() * masks[-1]).exp()

        y = checkpoint(drop, x, use_reentrant=reentrant, **preserve)
        rg.rand(3)
        before = rg.get_rng_state()
        y.sum().backward()
        forward, again = map(array, masks)
        assert np.array_equal(forward, again) == preserve.get("preserve_rng_state", True)
        # Random numbers outside go on as if there had been no recomputation; unless it may draw from them.
        untouched = np.array_equal(array(before), array(rg.get_rng_state()))
        assert untouched == preserve.get("preserve_rng_state", True)


def test_ckpt_1_options_of_the_reentrant_form():
    x = leaf([1.0])
    for options in ({"context_fn": lambda: ckpt.noop_context_fn()}, {"debug": True}):
        with fails("Passing `context_fn` or `debug` is only supported when", "use_reentrant=False", kind=ValueError):
            checkpoint(wave, x, use_reentrant=True, **options)
    with fails("Unexpected keyword arguments: scale,shift", kind=ValueError):
        checkpoint(wave, x, use_reentrant=True, scale=1, shift=2)
    # These are ignored.
    checkpoint(wave, x, use_reentrant=True, determinism_check="none", early_stop=False)


def test_ckpt_1_determinism_check_has_two_values():
    x = leaf([1.0])
    for check in ("default", "none"):
        checkpoint(wave, x, use_reentrant=False, determinism_check=check).backward()
    with fails("determinism_check should be one of ['default', 'none'], but got strict", kind=ValueError):
        checkpoint(wave, x, use_reentrant=False, determinism_check="strict")


def test_ckpt_1_debug_and_a_context_fn_do_not_go_together():
    x, contexts = leaf([1.0]), lambda: (contextlib.nullcontext(), contextlib.nullcontext())
    refused = fails("debug=True is incompatible with non-default context_fn", kind=ValueError)
    with refused:
        checkpoint(wave, x, use_reentrant=False, debug=True, context_fn=contexts)
    with refused, ckpt.set_checkpoint_debug_enabled(True):
        checkpoint(wave, x, use_reentrant=False, context_fn=contexts)
    with ckpt.set_checkpoint_debug_enabled(False):
        checkpoint(wave, x, use_reentrant=False, debug=True, context_fn=contexts)
    with refused, ckpt.set_checkpoint_debug_enabled(None):
        checkpoint(wave, x, use_reentrant=False, debug=True, context_fn=contexts)
    checkpoint(wave, x, use_reentrant=False, debug=True, context_fn=ckpt.noop_context_fn)


def test_ckpt_1_context_fn_surrounds_the_call_and_each_recomputation():
    calls, x = Calls(), leaf([1.0, 2.0])

    @contextlib.contextmanager
    def context(name):
        calls.append(f"enter {name}")
        try:
            yield
        finally:
            calls.append(f"leave {name}")

    class Again:
        def __enter__(self):
            calls.append("enter again")

        def __exit__(self, kind, value, trace):
            calls.append("leave again")

    def contexts():
        calls.append("context_fn")
        return context("forward"), Again()

    f = calls("f")(wave)
    y = checkpoint(f, x, use_reentrant=False, context_fn=contexts).sum()
    assert calls == ["context_fn", "enter forward", "f", "leave forward"]
    del calls[:]
    y.backward(retain_graph=True)
    y.backward()
    assert calls == ["enter again", "f", "leave again"] * 2
    del calls[:]
    with rg.no_grad():
        checkpoint(f, x, use_reentrant=False, context_fn=contexts)
    assert calls == ["context_fn", "f"]


def test_ckpt_1_a_context_may_not_swallow_the_exception_of_the_function():
    def broken(x):
        raise KeyError("no such thing")

    def contexts(swallowed):
        return lambda: (contextlib.suppress(swallowed), contextlib.nullcontext())

    with fails("the forward context provided by context_fn suppressed an exception raised during the"):
        checkpoint(broken, leaf([1.0]), use_reentrant=False, context_fn=contexts(KeyError))
    with pytest.raises(KeyError, match="no such thing"):
        checkpoint(broken, leaf([1.0]), use_reentrant=False, context_fn=contexts(ValueError))


def test_ckpt_1_noop_contexts():
    forward, again = ckpt.noop_context_fn()
    with forward, again:
        assert rg.is_grad_enabled()


def test_ckpt_1_without_grad_mode_it_is_a_plain_call():
    calls, x = Calls(), leaf([1.0])
    with rg.no_grad():
        y = checkpoint(calls("f")(wave), x, use_reentrant=False)
    assert calls == ["f"] and not y.requires_grad


# CKPT-2: reentrant ----------------------------------------------------------------------------------------------


def test_ckpt_2_forward_does_not_record_and_backward_runs_a_pass_of_its_own():
    x, order = leaf([1.0, 2.0]), []

    def f(x):
        y = x.sin()
        assert y.requires_grad == rg.is_grad_enabled()
        if y.requires_grad:
            y.register_hook(lambda g: order.append("within"))
        return y.exp()

    x.register_hook(lambda g: order.append("input"))
    y = checkpoint(f, x, use_reentrant=True)
    node = y.grad_fn
    assert node.name() == "CheckpointFunctionBackward"
    assert [n.name() for n, _ in node.next_functions if n is not None] == ["torch::autograd::AccumulateGrad"]
    y.register_hook(lambda g: order.append("output"))
    y.sum().backward()
    assert order == ["output", "within", "input"]
    close(x.grad, wave_slope(x))


def test_ckpt_2_needs_a_tensor_argument_that_requires_grad():
    w = leaf([3.0])
    for args in ((rg.ones(1),), (2.0,), ([leaf([1.0])][0].detach(), "text")):
        with warns("None of the inputs have requires_grad=True. Gradients will be None"):
            y = checkpoint(lambda x, *_: w * x, *args, use_reentrant=True)
        assert not y.requires_grad
    nested = leaf([1.0])
    with warns("None of the inputs have requires_grad=True"):
        assert not checkpoint(lambda xs: xs[0] * w, [nested], use_reentrant=True).requires_grad


def test_ckpt_2_closures_have_gradients_but_nested_structures_have_none():
    x, w = leaf([2.0]), leaf([3.0])
    inside = w * 1  # not a leaf: the graph behind it is run by the inner pass
    checkpoint(lambda x, kept: x * inside * kept["k"], x, {"k": rg.tensor([5.0])}, use_reentrant=True).backward()
    same(x.grad, [15.0])
    same(w.grad, [10.0])


def test_ckpt_2_refuses_passes_with_chosen_inputs():
    x, w = leaf([1.0]), leaf([2.0])
    y = checkpoint(wave, x, use_reentrant=True) * w
    with fails("incompatible with .grad()", "`inputs`"):
        grad(y, x, retain_graph=True)
    with fails("incompatible with .grad()", "`inputs`"):
        y.backward(inputs=[x], retain_graph=True)
    assert x.grad is None and w.grad is None
    # A pass that does not come by is fine, and so is one for all leaves.
    same(grad(y, w, retain_graph=True)[0], array(wave(x)))
    y.backward()
    close(x.grad, 2 * wave_slope(x))


def test_ckpt_2_refuses_passes_inside_of_those_with_chosen_inputs():
    x, z = leaf([1.0]), leaf([2.0])
    y = checkpoint(wave, x, use_reentrant=True)
    outer = z * 2
    outer.register_hook(lambda g: y.backward())
    with fails("incompatible with .grad()"):
        grad(outer, z)
    assert x.grad is None


def test_ckpt_2_is_checkpoint_valid():
    x, seen = leaf([1.0]), []
    valid = rg.autograd._is_checkpoint_valid
    assert valid() and rg.autograd.Variable._execution_engine.is_checkpoint_valid()
    y = x * 2
    y.register_hook(lambda g: seen.append(valid()))
    y.backward(retain_graph=True)
    grad(y, x, retain_graph=True)
    y.backward(inputs=[x])
    assert seen == [True, False, False] and valid()


def test_ckpt_2_gradients_carry_no_graph():
    x, w = leaf([1.0]), leaf([2.0])
    y = checkpoint(wave, x, use_reentrant=True) * w
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y.backward(create_graph=True)
    assert not x.grad.requires_grad
    assert w.grad.requires_grad
    close(x.grad, 2 * wave_slope(x))


def test_ckpt_2_arguments_and_results_that_are_no_tensors():
    x, z = leaf([1.0, 2.0]), leaf([3.0, 4.0])

    def f(x, n, z, text):
        assert text == "text" and n == 3
        return x.sin() * n, 7, z.exp(), None, rg.arange(2)

    a, seven, b, none, integers = checkpoint(f, x, 3, z, "text", use_reentrant=True)
    assert seven == 7 and none is None and not integers.requires_grad
    a.sum().backward(retain_graph=True)
    close(x.grad, 3 * np.cos(array(x)))
    same(z.grad, [0.0, 0.0])  # the inner pass runs for all results
    b.sum().backward()
    close(z.grad, np.exp(array(z)))


def test_ckpt_2_a_function_without_differentiable_result():
    x = leaf([1.0])
    y = checkpoint(lambda x: x.detach() * 2, x, use_reentrant=True)
    assert y.requires_grad  # though it leads nowhere, which only the recomputation shows
    with fails("none of output has requires_grad=True"):
        y.backward()


def test_ckpt_2_detach_variable():
    x = leaf([1.0])
    y, n, constant = ckpt.detach_variable((x * 2, 5, rg.ones(1)))
    assert y.is_leaf and y.requires_grad and n == 5 and not constant.requires_grad
    assert ckpt.detach_variable(()) == ()
    with fails("Only tuple of tensors is supported. Got Unsupported input type: list"):
        ckpt.detach_variable([x])


def test_ckpt_2_check_backward_validity():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ckpt.check_backward_validity([leaf([1.0]), rg.ones(1), "text"])
    for inputs in ([rg.ones(1)], [1, "text"], []):
        with warns("None of the inputs have requires_grad=True. Gradients will be None"):
            ckpt.check_backward_validity(inputs)


def test_ckpt_2_the_function_of_the_reentrant_form():
    assert issubclass(ckpt.CheckpointFunction, rg.autograd.Function)
    calls, x = Calls(), leaf([1.0])
    y = ckpt.CheckpointFunction.apply(calls("f")(wave), True, x)
    y.backward()
    assert calls == ["f", "f"]
    close(x.grad, wave_slope(x))


def test_ckpt_2_states_of_devices():
    assert ckpt.get_device_states(rg.ones(1), [rg.ones(1)], 3) == ([], [])
    assert ckpt.set_device_states([], []) is None
    assert ckpt.DefaultDeviceType.get_device_type() == "cpu"
    ckpt.DefaultDeviceType.set_device_type("meta")
    assert ckpt.DefaultDeviceType.get_device_type() == "meta"
    ckpt.DefaultDeviceType.set_device_type("cpu")


# CKPT-5: sequences ----------------------------------------------------------------------------------------------


@FORMS
@pytest.mark.parametrize(
    ("segments", "again"),
    [(1, []), (2, ["a", "b"]), (3, ["b", "a"]), (4, ["c", "b", "a"]), (5, ["d", "c", "b", "a"])],
)
def test_ckpt_5_all_segments_but_the_last_are_checkpointed(segments, again, reentrant):
    calls, x = Calls(), leaf([0.5, 1.0])
    ops = {"a": rg.sin, "b": rg.exp, "c": rg.cos, "d": rg.tanh, "e": rg.sigmoid}
    functions = [calls(name)(op) for name, op in ops.items()]
    y = ckpt.checkpoint_sequential(functions, segments, x, use_reentrant=reentrant)
    assert calls == list("abcde")
    y.sum().backward()
    assert calls == list("abcde") + again
    same(x.grad, array(grad(x.sin().exp().cos().tanh().sigmoid().sum(), x)[0]))


def test_ckpt_5_arguments():
    x = leaf([1.0])
    with fails("Unexpected keyword arguments: debug", kind=ValueError):
        ckpt.checkpoint_sequential([rg.sin], 1, x, use_reentrant=False, debug=True)
    for segments in (3, 4):
        with pytest.raises(ValueError):
            ckpt.checkpoint_sequential([rg.sin, rg.exp], segments, x, use_reentrant=False)
    rg.manual_seed(1)
    masks = []

    def drop(x):
        masks.append(array(rg.rand(20)))
        return x.expand(20).sin()

    for preserve, equal in ((True, True), (False, False)):
        del masks[:]
        ckpt.checkpoint_sequential([drop, rg.sum], 2, x, use_reentrant=False, preserve_rng_state=preserve).backward()
        assert np.array_equal(*masks) == equal


@beyond("torch divides by zero, or leaves it to range()")
def test_ckpt_5_a_number_of_segments_that_cannot_be():
    for functions, segments in (([rg.sin], 0), ([rg.sin], 2), ([], 1), ([rg.sin], -1)):
        with fails(f"{len(functions)} functions cannot be divided into {segments} segments", kind=ValueError):
            ckpt.checkpoint_sequential(functions, segments, leaf([1.0]), use_reentrant=False)


def test_ckpt_3_constants_come_back_as_the_objects_they_are():
    x, k, seen = leaf([1.0, 2.0]), rg.tensor([3.0, 4.0]), []
    y = checkpoint(lambda x: (x * k).exp() * k, x, use_reentrant=False)
    assert y.grad_fn._saved_other is k

    class Scale(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x, k)
            return x * k

        @staticmethod
        def backward(ctx, g):
            seen.extend(ctx.saved_tensors)
            return g * seen[1], None

    y = checkpoint(lambda x: Scale.apply(x, k), x, use_reentrant=False)
    y.sum().backward()
    assert seen[1] is k and seen[0] is not x and seen[0].requires_grad
    same(x.grad, [3.0, 4.0])


def test_ckpt_4_sizes_dtypes_and_values_that_change_in_between():
    x, w = leaf([1.0, 2.0]), leaf([1.0, 1.0])

    def f(x):
        return (x * w).exp()

    y = checkpoint(f, x, use_reentrant=False)
    with rg.no_grad():
        w.mul_(2)
    y.sum().backward()  # with the values of now: nobody keeps those of then
    close(x.grad, 2 * np.exp([2.0, 4.0]))
    y = checkpoint(f, x, use_reentrant=False)
    w.data = rg.ones(2, dtype=rg.float64)
    with fails("Recomputed values for the following tensors have different metadata", kind=CheckpointError):
        y.sum().backward()
    w = leaf([1.0, 1.0])
    y = checkpoint(f, x, use_reentrant=False)
    w.data = rg.ones(3)
    with fails("The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"):
        y.sum().backward()
    base = x * 1
    y = checkpoint(lambda t: t.exp(), base, use_reentrant=False)
    base.add_(1)
    with fails("modified by an inplace operation"):
        y.sum().backward()
