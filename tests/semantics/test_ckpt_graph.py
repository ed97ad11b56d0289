"""CKPT-3: the form that records the graph, and what can be done with it."""

import contextlib
import threading
import warnings
import weakref

import numpy as np
import pytest

from . import array, beyond, close, fails, leaf, rg, same
from .test_ckpt import FORMS, Calls, CheckpointError, checkpoint, ckpt, wave, wave_slope

grad = rg.autograd.grad
saved_tensors_hooks = rg.autograd.graph.saved_tensors_hooks


class Mark:
    """Something whose lifetime shows that of what holds it."""


def live_marks(marks):
    return sum(mark() is not None for mark in marks)


def test_ckpt_3_the_graph_is_recorded_and_recomputed_at_the_first_unpack():
    calls, x = Calls(), leaf([1.0, 2.0])
    y = checkpoint(calls("f")(wave), x, use_reentrant=False)
    node = y.grad_fn
    assert node.name() == "ExpBackward0" and node.next_functions[0][0].name() == "SinBackward0"
    y.register_hook(lambda g: calls.append("hook of the result"))
    node.next_functions[0][0].register_prehook(lambda g: calls.append("before sin"))
    y.sum().backward()
    assert calls == ["f", "hook of the result", "f", "before sin"]
    close(x.grad, wave_slope(x))


def test_ckpt_3_saved_attributes_recompute_as_well():
    calls, x = Calls(), leaf([1.0, 2.0])
    y = checkpoint(calls("f")(wave), x, use_reentrant=False)
    for count in (2, 3):
        result = y.grad_fn._saved_result
        assert result.requires_grad and result.grad_fn is y.grad_fn
        same(result, array(y))
        assert len(calls) == count
    y.sum().backward()
    assert len(calls) == 4
    close(x.grad, wave_slope(x))


def test_ckpt_3_a_function_that_saves_nothing_is_not_repeated():
    calls, x = Calls(), leaf([1.0])
    y = checkpoint(calls("f")(lambda x: x + 1), x, use_reentrant=False)
    y.backward()
    assert calls == ["f"]
    x = leaf([1.0])
    assert checkpoint(lambda x: x, x, use_reentrant=False) is x


@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("override", [None, True, False])
def test_ckpt_3_early_stop(early_stop, override):
    calls, x = Calls(), leaf([1.0, 2.0])

    def f(x):
        calls.append("begin")
        y = x.sin().exp()
        calls.append("end")
        return y

    chosen = contextlib.nullcontext() if override is None else ckpt.set_checkpoint_early_stop(override)
    with chosen:
        y = checkpoint(f, x, use_reentrant=False, early_stop=early_stop)
    y.sum().backward()  # where this runs does not matter
    stops = early_stop if override is None else override
    assert calls == ["begin", "end", "begin"] + ([] if stops else ["end"])
    close(x.grad, wave_slope(x))


def test_ckpt_3_early_stop_is_the_default_and_overrides_nest():
    def calls_of(*contexts):
        calls, x = Calls(), leaf([1.0])
        with contextlib.ExitStack() as stack:
            for context in contexts:
                stack.enter_context(context)
            y = checkpoint(lambda x: calls("end")(wave)(x) * rg.ones(1) + len(calls), x, use_reentrant=False)
            y = checkpoint(lambda y: (y.exp(), calls.append("after"))[0], y, use_reentrant=False)
        y.backward()
        return calls.count("after")

    set_early_stop = ckpt.set_checkpoint_early_stop
    assert calls_of() == 1
    assert calls_of(set_early_stop(False)) == 2
    assert calls_of(set_early_stop(False), set_early_stop(True)) == 1
    with pytest.raises(KeyError), set_early_stop(False):
        raise KeyError
    assert calls_of() == 1


def test_ckpt_3_stopping_runs_the_functions_cleanup():
    calls, x = Calls(), leaf([1.0])

    def f(x):
        try:
            return wave(x)
        finally:
            calls.append("finally")

    checkpoint(f, x, use_reentrant=False).backward()
    assert calls == ["finally", "finally"]
    close(x.grad, wave_slope(x))


@beyond("torch stops with an Exception")
def test_ckpt_3_handlers_in_the_function_do_not_see_the_stop():
    calls, x = Calls(), leaf([1.0])

    def f(x):
        try:
            return wave(x)
        except Exception:
            calls.append("handled")
            return x.cos()

    checkpoint(f, x, use_reentrant=False).backward()
    assert calls == []
    close(x.grad, wave_slope(x))


def test_ckpt_3_keyword_arguments_closures_and_nested_structures():
    x, y, z, w = leaf([1.0]), leaf([2.0]), leaf([3.0]), leaf([4.0])

    def f(x, nest, *, by_name, preserve=0):
        assert preserve == 3
        return {"r": [(x * nest["y"][0]).sin() * (by_name * w).exp()]}

    result = checkpoint(f, x, {"y": [y]}, by_name=z * 0.1, preserve=3, use_reentrant=False)
    (result["r"][0]).backward()
    expected = grad(f(x, {"y": [y]}, by_name=z * 0.1, preserve=3)["r"][0], [x, y, z, w])
    for got, want in zip((x, y, z, w), expected, strict=True):
        same(got.grad, array(want))


def test_ckpt_3_inputs_need_not_require_grad():
    w, calls = leaf([1.0, 2.0]), Calls()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = checkpoint(calls("f")(lambda n, t: (w * n * t).exp()), 2, rg.ones(2), use_reentrant=False)
    y.sum().backward()
    assert calls == ["f", "f"]
    close(w.grad, 2 * np.exp(2 * array(w)))
    y = checkpoint(calls("f")(lambda: w.exp()), use_reentrant=False)
    y.sum().backward()
    assert len(calls) == 4


def test_ckpt_3_grad_and_chosen_inputs():
    calls, x, z = Calls(), leaf([1.0, 2.0]), leaf([3.0, 4.0])
    f = calls("f")(lambda x, z: (wave(x), wave(z)))
    a, b = checkpoint(f, x, z, use_reentrant=False)
    total = (a + b).sum()
    close(grad(total, x, retain_graph=True)[0], wave_slope(x))
    close(grad(total, z, retain_graph=True)[0], wave_slope(z))
    assert x.grad is None and z.grad is None
    total.backward(inputs=[z], retain_graph=True)
    assert x.grad is None
    close(z.grad, wave_slope(z))
    gx, gz = grad(total, [x, z])
    close(gx, wave_slope(x))
    close(gz, wave_slope(z))
    assert calls == ["f"] * 5


def test_ckpt_3_parts_may_run_in_several_passes_without_retaining():
    calls, x, z = Calls(), leaf([1.0, 2.0]), leaf([3.0, 4.0])
    a, b = checkpoint(calls("f")(lambda x, z: (wave(x), wave(z))), x, z, use_reentrant=False)
    a.sum().backward()
    close(x.grad, wave_slope(x))
    assert z.grad is None
    b.sum().backward()
    close(z.grad, wave_slope(z))
    assert calls == ["f"] * 3
    with fails("backward through the graph a second time"):
        a.sum().backward()


def test_ckpt_3_double_backward():
    calls, x = Calls(), leaf([1.0, 2.0])
    y = checkpoint(calls("f")(wave), x, use_reentrant=False).sum()
    (g,) = grad(y, x, create_graph=True)
    assert g.requires_grad and calls == ["f", "f"]
    (gg,) = grad(g.sum(), x)
    (plain,) = grad(wave(x).sum(), x, create_graph=True)
    same(g, array(plain))
    same(gg, array(grad(plain.sum(), x)[0]))


@pytest.mark.parametrize("inner_form", [False, True])
@pytest.mark.parametrize("outer_form", [False, True])
def test_ckpt_3_nested_calls(outer_form, inner_form):
    calls, x = Calls(), leaf([0.5, 1.5])
    inner = calls("inner")(wave)

    @calls("outer")
    def outer(x):
        return checkpoint(inner, x.cos(), use_reentrant=inner_form).tanh().sin()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the inner reentrant call inside of forward without recording
        y = checkpoint(outer, x, use_reentrant=outer_form).sum()
    assert calls == ["outer", "inner"]
    y.backward(retain_graph=True)
    plain = (
        grad(outer(x).sum(), x)[0] if not (outer_form or inner_form) else grad(wave(x.cos()).tanh().sin().sum(), x)[0]
    )
    same(x.grad, array(plain))
    y.backward()
    same(x.grad, 2 * array(plain))


def test_ckpt_3_an_outer_call_keeps_the_inputs_of_the_inner_one():
    calls, x = Calls(), leaf([0.5, 1.5])

    def level(n):
        inner = wave if n == 0 else level(n - 1)

        @calls(n)
        def f(x):
            return checkpoint(inner, x.cos(), use_reentrant=False).tanh().sin()

        return f

    def plainly(n, x):
        return (wave if n == 0 else lambda x: plainly(n - 1, x))(x.cos()).tanh().sin()

    y = checkpoint(level(2), x, use_reentrant=False).sum()
    assert calls == [2, 1, 0]
    y.backward()
    same(x.grad, array(grad(plainly(2, x).sum(), x)[0]))
    # Each level is repeated for its own, and once more for every level inside of it.
    assert [calls.count(n) for n in (2, 1, 0)] == [2, 3, 4]


@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("retain", [True, False])
def test_ckpt_3_a_pass_within_the_function(early_stop, retain):
    def f(x):
        y = x.sin()
        z = y.cos()
        (g,) = grad(z.sum(), x, retain_graph=retain)
        return x.cos() * g, z

    x = leaf([1.0, 2.0])
    y, z = checkpoint(f, x, use_reentrant=False, early_stop=early_stop)
    y.sum().backward()
    expected = grad(f(x)[0].sum(), x)[0]
    same(x.grad, array(expected))
    if retain:
        x.grad = None
        z.sum().backward()
        same(x.grad, array(grad(x.sin().cos().sum(), x)[0]))
    else:
        with fails("backward through the graph a second time"):
            z.sum().backward()


@pytest.mark.parametrize("early_stop", [True, False])
def test_ckpt_3_a_differentiable_pass_within_the_function(early_stop):
    def f(x):
        (g,) = grad(wave(x).sum(), x, create_graph=True)
        return g * g

    x = leaf([1.0, 2.0])
    checkpoint(f, x, use_reentrant=False, early_stop=early_stop).sum().backward()
    same(x.grad, array(grad(f(x).sum(), x)[0]))


def test_ckpt_3_a_pass_in_a_hook_recomputes_for_itself():
    calls, x = Calls(), leaf([1.0, 2.0])
    y = checkpoint(calls("f")(wave), x, use_reentrant=False).sum()

    def once(g):
        if "hook" not in calls:
            calls.append("hook")
            y.backward(retain_graph=True)

    y.register_hook(once)
    y.backward(retain_graph=True)
    assert calls == ["f", "hook", "f", "f"]
    close(x.grad, 2 * wave_slope(x))


def test_ckpt_3_custom_functions_save_placeholders_too():
    class Square(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            assert x.requires_grad and y.grad_fn is ctx
            return 2 * x * g

    calls, x = Calls(), leaf([1.0, 2.0])
    y = checkpoint(calls("f")(lambda x: Square.apply(x.sin()) * 3), x, use_reentrant=False)
    y.sum().backward()
    assert calls == ["f", "f"]
    close(x.grad, 6 * np.sin(array(x)) * np.cos(array(x)))


def test_ckpt_3_a_tensor_can_be_unpacked_once_in_a_pass():
    class Greedy(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            same(ctx.saved_tensors[0], [np.float32(np.sin(1.0))])
            return 2 * g * ctx.saved_tensors[0]

    y = checkpoint(lambda x: Greedy.apply(x.sin()), leaf([1.0]), use_reentrant=False)
    with fails("already unpacked once", "ctx.saved_tensors", kind=CheckpointError):
        y.backward()


def test_ckpt_3_hooks_around_the_call_see_its_arguments_alone():
    calls, x = Calls(), leaf([1.0, 2.0])

    def pack(t):
        calls.append(("pack", tuple(t.shape), t.dtype))
        return t.detach()

    def unpack(t):
        calls.append("unpack")
        return t

    with saved_tensors_hooks(pack, unpack):
        y = checkpoint(calls("f")(lambda x, k: wave(x) * k), x * 2, rg.arange(2), use_reentrant=False).sum()
    packed = [c for c in calls if c != "f"]
    assert packed[-2:] == [("pack", (2,), rg.float32), ("pack", (2,), rg.int64)] and calls[-1] == "f"
    del calls[:]
    y.backward()
    assert calls == ["unpack", "unpack", "f"]
    close(x.grad, 2 * wave_slope(x * 2) * np.arange(2))


def test_ckpt_3_hooks_within_the_function_act_in_both_calls():
    calls, x = Calls(), leaf([1.0])
    pack, unpack = calls("pack")(lambda t: t.detach()), calls("unpack")(lambda t: t)

    def f(x):
        y = x.sin()
        with saved_tensors_hooks(pack, unpack):
            z = y.exp()
        return z.cos()

    y = checkpoint(f, x, use_reentrant=False)
    assert calls == ["pack"]
    y.backward()
    assert calls[0] == "pack" and calls.count("unpack") == 1
    close(x.grad, -np.sin(array(wave(x))) * wave_slope(x), rtol=1e-4)


def test_ckpt_3_where_hooks_are_disabled():
    x = leaf([1.0])
    disabled = rg.autograd.graph.disable_saved_tensors_hooks
    with disabled("not here"), fails("not here"):
        checkpoint(wave, x, use_reentrant=False)
    y = checkpoint(wave, x, use_reentrant=False)
    with disabled("not here either"), fails("not here either"):
        y.backward()
    with disabled("not here"):
        checkpoint(wave, x, use_reentrant=True)


def test_ckpt_3_views_and_in_place_ops_within_the_function():
    def f(x):
        a = x * 2
        a[:2] = a[:2].exp()
        b = a.view(2, 2).t().sin()
        b.mul_(3)
        return b.reshape(-1) * a

    x = leaf([0.1, 0.2, 0.3, 0.4])
    checkpoint(f, x, use_reentrant=False).sum().backward()
    same(x.grad, array(grad(f(x).sum(), x)[0]))


@FORMS
def test_ckpt_3_arguments_may_not_be_written_to_in_between(reentrant):
    x = leaf([1.0])
    b = x * 1
    y = checkpoint(wave, b, use_reentrant=reentrant)
    with rg.no_grad():
        b.add_(1)
    with fails("modified by an inplace operation", "is at version 1; expected version 0"):
        y.backward()


@FORMS
def test_ckpt_3_an_exception_in_forward(reentrant):
    x = leaf([1.0])

    def broken(x):
        wave(x)
        raise KeyError("no such thing")

    with pytest.raises(KeyError, match="no such thing"):
        checkpoint(broken, x, use_reentrant=reentrant)
    y = x.exp()  # saves as ever
    y.backward()
    close(x.grad, np.exp(array(x)))


@FORMS
def test_ckpt_3_an_exception_in_recomputation(reentrant):
    calls, x = Calls(), leaf([1.0])

    @calls("f")
    def fails_once(x):
        y = x.sin()
        rg.rand(1)
        if len(calls) == 2:
            raise KeyError("no such thing")
        return y.exp()

    y = checkpoint(fails_once, x, use_reentrant=reentrant)
    before = rg.get_rng_state()
    with pytest.raises(KeyError, match="no such thing"):
        y.backward(retain_graph=True)
    assert rg.is_grad_enabled() and x.grad is None
    same(rg.get_rng_state(), array(before))
    y.backward()
    assert len(calls) == 3
    close(x.grad, wave_slope(x))


def test_ckpt_3_a_pass_in_no_grad():
    x = leaf([1.0])
    y = checkpoint(wave, x, use_reentrant=False)
    with rg.no_grad():
        y.backward()
    close(x.grad, wave_slope(x))


@beyond("torch recomputes in inference mode too, where nothing is recorded, and finds too few tensors")
def test_ckpt_3_a_pass_in_inference_mode():
    x = leaf([1.0])
    y = checkpoint(wave, x, use_reentrant=False)
    with rg.inference_mode():
        y.backward()
    close(x.grad.clone(), wave_slope(x))


def test_ckpt_3_a_pass_in_another_thread():
    calls, x = Calls(), leaf([1.0, 2.0])
    y = checkpoint(calls("f")(wave), x, use_reentrant=False).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    assert calls == ["f", "f"]
    close(x.grad, wave_slope(x))


def test_ckpt_3_passes_in_two_threads_at_once():
    x, barrier = leaf([1.0, 2.0]), threading.Barrier(2)
    y = checkpoint(wave, x, use_reentrant=False, preserve_rng_state=False).sum()
    results = []

    def run():
        barrier.wait()
        for _ in range(20):
            results.append(grad(y, x, retain_graph=True)[0])

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 40
    for g in results:
        close(g, wave_slope(x))


def marked(marks, n):
    """A function that saves `n` constants, whose lives are noted in `marks`, and calls `seen` as the graph unwinds."""

    def f(x, seen=None):
        for _ in range(n):
            constant, mark = rg.full((2,), 2.0), Mark()
            constant.mark = mark
            marks.append(weakref.ref(mark))
            x = x * constant
            if seen is not None:
                x.register_hook(lambda g: seen.append(live_marks(marks)))
            del constant, mark
        return x

    return f


def test_ckpt_3_nothing_is_kept_and_what_is_recomputed_goes_as_it_is_used():
    marks, seen, x = [], [], leaf([1.0, 2.0])
    y = checkpoint(marked(marks, 4), x, seen, use_reentrant=False)
    assert len(marks) == 4 and live_marks(marks) == 0
    y.sum().backward(retain_graph=True)
    assert len(marks) == 8 and live_marks(marks) == 0
    assert seen == [0, 3, 2, 1]  # at the hook of a result, before the constant of its own product is unpacked
    same(x.grad, [16.0, 16.0])
    y.sum().backward()
    assert len(marks) == 12 and live_marks(marks) == 0


def test_ckpt_3_all_goes_with_the_graph():
    for drop in (True, False):
        argument, keyword, x = Mark(), Mark(), leaf([1.0])
        watch = [weakref.ref(argument), weakref.ref(keyword)]
        y = checkpoint(lambda x, a, k: wave(x), x * 1, argument, k=keyword, use_reentrant=False)
        del argument, keyword
        assert live_marks(watch) == 2
        if drop:
            del y
        else:
            y.backward()
        assert live_marks(watch) == 0  # without the garbage collector


@beyond("torch keeps what a pass recomputed and did not use until the graph goes")
def test_ckpt_3_what_a_pass_did_not_use_goes_with_the_pass():
    marks, x, z = [], leaf([1.0, 2.0]), leaf([3.0, 4.0])
    f = marked(marks, 2)
    a, b = checkpoint(lambda x, z: (f(x), f(z)), x, z, use_reentrant=False)
    grad((a + b).sum(), x, retain_graph=True)
    assert len(marks) == 8 and live_marks(marks) == 0

    def refuse(g):
        raise KeyError("no")

    handle = a.register_hook(refuse)
    with pytest.raises(KeyError):
        (a + b).sum().backward(retain_graph=True)
    handle.remove()
    assert live_marks(marks) == 0
    assert b.grad_fn._saved_other is not None
    assert live_marks(marks) == 0


def test_ckpt_3_a_long_chain_of_calls():
    x = leaf([1.0])
    for run in (True, False):
        y = x
        for _ in range(10_000):
            y = checkpoint(rg.sin, y, use_reentrant=False, preserve_rng_state=False)
        if run:
            y.backward()
        del y
    assert x.grad.isfinite().all()


def test_ckpt_3_groups_share_recomputations():
    calls, x, z = Calls(), leaf([1.0, 2.0]), leaf([3.0, 4.0])
    f = calls("f")(lambda x, z: (wave(x), wave(z)))
    a, b = checkpoint(f, x, z, use_reentrant=False)
    with ckpt.GraphExecGroup() as group:
        assert ckpt.GraphExecGroup._get_current_group() is group
        a.sum().backward()
        b.sum().backward()
    assert calls == ["f", "f"]
    assert ckpt.GraphExecGroup._get_current_group() is None
    close(x.grad, wave_slope(x))
    close(z.grad, wave_slope(z))


def test_ckpt_3_passes_of_a_group_may_not_overlap():
    x = leaf([1.0, 2.0])
    y = checkpoint(wave, x, use_reentrant=False).sum()
    overlap = fails("already unpacked once", "overlap", "GraphExecGroup", kind=CheckpointError)
    with ckpt.GraphExecGroup():
        y.backward(retain_graph=True)
        with overlap:
            y.backward(retain_graph=True)
    y.backward()
    close(x.grad, 2 * wave_slope(x))


def test_ckpt_3_groups_do_not_nest_and_belong_to_a_thread():
    seen = []
    with ckpt.GraphExecGroup() as group:
        with fails("GraphExecGroup contexts cannot be nested"), ckpt.GraphExecGroup():
            pass
        assert ckpt.GraphExecGroup._get_current_group() is group
        thread = threading.Thread(target=lambda: seen.append(ckpt.GraphExecGroup._get_current_group()))
        thread.start()
        thread.join()
    assert seen == [None]
    with pytest.raises(KeyError), ckpt.GraphExecGroup():
        raise KeyError
    assert ckpt.GraphExecGroup._get_current_group() is None
