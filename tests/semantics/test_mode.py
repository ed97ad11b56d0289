"""MODE: the grad modes and inference mode."""

import asyncio
import threading

import pytest

from . import beyond, fails, leaf, rg, same, warns

enabled = rg.is_grad_enabled
MODES = {"no_grad": False, "enable_grad": True, "inference_mode": False}


@pytest.mark.parametrize(("name", "value"), MODES.items())
def test_mode_1_context_managers_restore(name, value):
    mode = getattr(rg, name)
    with rg.set_grad_enabled(not value):
        with mode():
            assert enabled() is value
            with rg.enable_grad():
                with rg.no_grad():
                    assert enabled() is False
                assert enabled() is True
            assert enabled() is value
        assert enabled() is not value
        with pytest.raises(KeyError), mode():
            raise KeyError
        assert enabled() is not value
    reused = mode()
    for _ in range(2):
        with reused:
            assert enabled() is value
        assert enabled() is True


def test_mode_1_decorators_recurse_and_restore():
    @rg.no_grad()
    def count(n):
        assert enabled() is False
        if n == 0:
            raise KeyError("bottom")
        return count(n - 1)

    for _ in range(2):
        with pytest.raises(KeyError, match="bottom"):
            count(5)
        assert enabled() is True


def test_mode_1_modes_are_thread_local():
    inside, leave, seen = threading.Event(), threading.Event(), []

    def body():
        with rg.no_grad():
            inside.set()
            leave.wait(10)
            seen.append(enabled())

    thread = threading.Thread(target=body)
    thread.start()
    assert inside.wait(10) and enabled() is True
    leave.set()
    thread.join()
    assert seen == [False]


@pytest.mark.parametrize(("name", "value"), MODES.items())
def test_mode_2_decorators_with_and_without_parentheses(name, value):
    mode = getattr(rg, name)

    @mode
    def bare(a, *, b):
        """Bare."""
        return enabled(), a, b

    @mode()
    def called(a, *, b):
        return enabled(), a, b

    assert bare.__name__ == "bare" and bare.__doc__ == "Bare."
    with rg.set_grad_enabled(not value):
        assert bare(1, b=2) == called(1, b=2) == (value, 1, 2)
        assert enabled() is not value


def test_mode_2_set_grad_enabled_acts_at_the_call():
    rg.set_grad_enabled(False)
    try:
        assert enabled() is False
    finally:
        rg.set_grad_enabled(True)
    with rg.set_grad_enabled(False):
        assert enabled() is False
    assert enabled() is True

    @rg.set_grad_enabled(False)
    def decorated():
        return enabled()

    assert enabled() is True and decorated() is False and enabled() is True


def test_mode_3_generators():
    @rg.no_grad()
    def steps():
        received = []
        try:
            received.append((yield enabled()))
            received.append((yield enabled()))
        except KeyError as error:
            received.append(error.args[0])
            yield enabled()
        return received

    gen = steps()
    assert enabled() is True
    assert next(gen) is False and enabled() is True
    assert gen.send("sent") is False and enabled() is True
    assert gen.throw(KeyError("thrown")) is False and enabled() is True
    with pytest.raises(StopIteration) as done:
        next(gen)
    assert done.value.value == ["sent", "thrown"] and enabled() is True

    @rg.no_grad()
    def failing():
        yield 1
        raise OSError("inside")

    gen = failing()
    next(gen)
    with pytest.raises(OSError, match="inside"):
        next(gen)
    gen = failing()
    next(gen)
    gen.close()
    with pytest.raises(StopIteration):
        next(gen)


def test_mode_4_coroutines_are_not_covered():
    @rg.no_grad()
    async def work():
        return enabled()

    assert asyncio.run(work()) is True


def test_mode_5_classes():
    with warns("class", kind=FutureWarning):

        @rg.no_grad()
        class Holder:
            def __init__(self):
                self.at_construction = enabled()

            def later(self):
                return enabled()

    holder = Holder()
    assert holder.at_construction is False and holder.later() is True


def test_mode_6_new_threads_start_enabled():
    seen = []
    for mode in (rg.no_grad, rg.inference_mode):
        with mode():
            thread = threading.Thread(target=lambda: seen.append((enabled(), rg.is_inference_mode_enabled())))
            thread.start()
            thread.join()
    assert seen == [(True, False)] * 2


def test_mode_7_inference_tensors():
    with rg.inference_mode():
        assert enabled() is False and rg.is_inference_mode_enabled() is True
        x = rg.ones(2)
        y = x * 2
        for t in (x, y, x[:1], x.view(2, 1), x.detach()):
            assert t.is_inference() is True and t.requires_grad is False
            with fails("Inference tensors do not track version counter"):
                _ = t._version
        x.add_(1)
    same(x, [2.0, 2.0])
    assert rg.ones(2).is_inference() is False
    for view in (x[:1], x.view(2, 1)):
        assert view.is_inference() is True
        with fails("Inference tensors do not track version counter"):
            _ = view._version


def test_mode_8_inference_tensors_outside():
    with rg.inference_mode():
        frozen = rg.tensor([3.0, 4.0])
    x = leaf([1.0, 2.0])
    with fails("Inference tensors cannot be saved for backward"):
        _ = x * frozen
    y = x + frozen
    assert y.requires_grad and y.is_inference() is False
    y.sum().backward()
    same(x.grad, [1.0, 1.0])
    with fails("Inplace update to inference tensor outside InferenceMode"):
        frozen.mul_(1)
    with pytest.raises(RuntimeError, match=r"(?i)inference"):
        frozen.requires_grad_()
    for fresh in (frozen.clone(), frozen + 1):
        assert fresh.is_inference() is False
        before = fresh._version
        assert fresh.add_(1)._version == before + 1
    same(x * frozen.clone(), [3.0, 8.0])
    for kept in (frozen[:1], frozen.view(2, 1), frozen.detach()):
        assert kept.is_inference() is True


@beyond("torch raises only after it has written")
def test_mode_8_a_refused_write_leaves_the_values():
    with rg.inference_mode():
        frozen = rg.tensor([3.0, 4.0])
    with fails("Inplace update to inference tensor outside InferenceMode"):
        frozen.add_(1)
    same(frozen, [3.0, 4.0])


def test_mode_9_normal_tensors_inside():
    x, plain = leaf([1.0, 2.0]), rg.ones(2)
    with rg.inference_mode():
        y = x * 2
        assert y.is_inference() and y.requires_grad is False and y.grad_fn is None
        view = plain[:1]
        assert view.is_inference() is False and view._is_view() and view._base is plain
        plain.add_(1)
        assert plain._version == view._version == 1
        x.mul_(10)
    assert x._version == 1 and x.is_leaf and x.requires_grad
    same(x, [10.0, 20.0])
    same(view, [2.0])
    view.add_(1)  # harmless: nothing here requires grad
    same(plain, [3.0, 2.0])


def test_mode_10_inference_mode_off_and_enable_grad_inside():
    x = leaf([1.0, 2.0])
    with rg.inference_mode():
        with rg.inference_mode(False):
            assert enabled() is True and rg.is_inference_mode_enabled() is False
            y = x * 2
            assert y.requires_grad and y.is_inference() is False
        with rg.enable_grad():
            assert enabled() is True
            z = x * 2
            assert z.requires_grad is False and z.grad_fn is None and z.is_inference()
    y.sum().backward()
    same(x.grad, [2.0, 2.0])


def test_mode_11_multithreading_switch():
    switch, is_on, seen = rg.autograd.set_multithreading_enabled, rg.autograd.is_multithreading_enabled, []
    assert is_on() is True
    with switch(False):
        assert is_on() is False
        with switch(True):
            assert is_on() is True
        assert is_on() is False
        thread = threading.Thread(target=lambda: seen.append(is_on()))
        thread.start()
        thread.join()
    assert seen == [True] and is_on() is True
    switch(False)
    assert is_on() is False
    switch(True)
    assert is_on() is True


def strides_of_a_stolen_grad():
    x = rg.ones(2, 3, requires_grad=True)
    (x.t() * rg.arange(6.0).view(3, 2)).sum().backward()
    return x.grad.stride()


def test_mode_11_grad_layout_policy_acts_at_the_call():
    policy, seen = rg.autograd.enforce_grad_layout_policy, []
    with policy(False):
        assert strides_of_a_stolen_grad() == (1, 2)
        thread = threading.Thread(target=lambda: seen.append(strides_of_a_stolen_grad()))
        thread.start()
        thread.join()
        with policy(True):
            assert strides_of_a_stolen_grad() == (3, 1)
        assert strides_of_a_stolen_grad() == (1, 2)
    assert seen == [(3, 1)] and strides_of_a_stolen_grad() == (3, 1)
    policy(False)
    assert strides_of_a_stolen_grad() == (1, 2)
    policy(True)
    assert strides_of_a_stolen_grad() == (3, 1)


def test_mode_7_views_of_inference_tensors_are_not_tracked():
    with rg.inference_mode():
        base = rg.ones(2, 2)
        inside = base[0]
    outside = base[0]
    for view in (inside, outside, base.view(4), base.t()):
        assert view.is_inference() and not view._is_view() and view._base is None
        with fails("Inference tensors do not track version counter"):
            _ = view._version
    with rg.inference_mode():
        inside.add_(1)
        outside.mul_(3)
    same(base, [[6.0, 6.0], [1.0, 1.0]])
    for view in (inside, outside):
        with fails("Inplace update to inference tensor outside InferenceMode is not allowed"):
            view.add_(1)


def test_mode_9_views_of_normal_tensors_made_inside():
    base, w = rg.ones(4), leaf([2.0, 2.0])
    with rg.inference_mode():
        view = base[:2]
        assert view._is_view() and view._base is base and not view.is_inference()
        view.add_(1)
    assert base._version == view._version == 1
    with fails("A view was created in inference mode and is being modified inplace in normal mode"):
        view.mul_(w)
    base[2:].mul_(w)
    with fails("A view was created in inference mode and its base or another view of its base has been modified"):
        _ = view.grad_fn


def test_mode_8_resize_of_inference_tensors():
    with rg.inference_mode():
        x = rg.ones(2)
    x.resize_(2)  # which changes nothing
    with fails("Inplace update to inference tensor outside InferenceMode is not allowed"):
        x.resize_(4)
    with rg.inference_mode():
        x.resize_(6)
    assert x.shape == (6,) and x.is_inference()


def test_mode_9_resize_of_normal_tensors_inside():
    x = rg.ones(4)
    with rg.inference_mode():
        x.resize_(2)
        assert x._version == 1 and not x.is_inference()
    x.resize_(2)
    assert x._version == 1


def test_mode_7_data_that_is_taken_over_brings_its_kind():
    with rg.inference_mode():
        inference = rg.ones(3)
    x = rg.zeros(2)
    x.data = inference
    assert x.is_inference() and x.shape == (3,)
    inference.data = rg.zeros(2)
    assert not inference.is_inference()
    same(inference, [0.0, 0.0])
