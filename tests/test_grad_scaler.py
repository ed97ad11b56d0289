"""Scaling of losses and gradients. With RETROGRAD_STANDIN=torch the tests run on torch."""

import copy
import math
import pickle

import pytest


class SGD:
    """As little of an optimizer as a scaler needs."""

    def __init__(self, *groups, lr=0.5):
        self.param_groups = [{"params": group} for group in groups]
        self.lr = lr

    def step(self, *args, **kwargs):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.data.sub_(p.grad * self.lr)
        return args, kwargs


class Own(SGD):
    _step_supports_amp_scaling = True

    def step(self):
        self.seen = self.grad_scale, self.found_inf
        return "done"


@pytest.fixture
def weight(rg):
    return rg.ones(2, requires_grad=True)


def scaler_of(rg, **options):
    return rg.amp.GradScaler("cpu", **{"init_scale": 4.0, **options})


def test_gradients_are_scaled_and_unscaled(rg, weight):
    scaler, optimizer = scaler_of(rg), SGD([weight])
    scaler.scale((weight * 3.0).sum()).backward()
    assert weight.grad.tolist() == [12.0, 12.0]
    assert scaler.step(optimizer, 1, two=2) == ((1,), {"two": 2})
    assert weight.grad.tolist() == [3.0, 3.0] and weight.tolist() == [-0.5, -0.5]
    scaler.update()
    assert scaler.get_scale() == 4.0 and scaler._get_growth_tracker() == 1


def test_gradients_can_be_clipped_in_between(rg, weight):
    scaler, optimizer = scaler_of(rg), SGD([weight])
    scaler.scale((weight * 3.0).sum()).backward()
    scaler.unscale_(optimizer)
    assert weight.grad.tolist() == [3.0, 3.0]
    weight.grad.clamp_(max=1.0)
    scaler.step(optimizer)
    assert weight.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_a_step_with_gradients_that_are_not_finite_is_skipped(rg, weight, bad):
    scaler, other = scaler_of(rg), rg.ones(1, requires_grad=True)
    optimizer = SGD([weight], [other])
    scaler.scale((weight * rg.tensor([1.0, bad])).sum() + other.sum()).backward()
    assert scaler.step(optimizer) is None
    assert weight.tolist() == [1.0, 1.0] and other.tolist() == [1.0]
    scaler.update()
    assert scaler.get_scale() == 2.0 and scaler._get_growth_tracker() == 0


def test_the_scale_grows_after_steps_without_infinities(rg, weight):
    scaler, optimizer = scaler_of(rg, growth_interval=2, growth_factor=3.0), SGD([weight])
    scales = []
    for factor in (1.0, 1.0, 1.0, math.inf, 1.0, 1.0):
        weight.grad = None
        scaler.scale((weight * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    assert scales == [4.0, 12.0, 12.0, 6.0, 6.0, 18.0]


def test_the_scale_never_becomes_infinite(rg):
    scale = rg._amp_update_scale_(rg.tensor(3e38), rg.tensor(1, dtype=rg.int32), rg.zeros(1), 2.0, 0.5, 2)
    assert scale.item() == rg.tensor(3e38).item()


def test_what_is_scaled(rg):
    scaler = scaler_of(rg)
    assert scaler.scale(rg.ones(2)).tolist() == [4.0, 4.0]
    first, (second,) = scaler.scale([rg.ones(1), (rg.ones(1, dtype=rg.float64),)])
    assert (first.item(), second.item(), second.dtype) == (4.0, 4.0, rg.float64)
    assert scaler.scale(rg.ones((1,), dtype=rg.bfloat16)).dtype == rg.bfloat16
    assert [t.item() for t in scaler.scale(rg.ones(1) for _ in range(2))] == [4.0, 4.0]
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale(1)


def test_calls_in_the_wrong_order(rg, weight):
    begun = (
        r"Attempted {} but _scale is None\.  This may indicate your script did not use scaler.scale\(loss or outputs"
    )
    for name, arguments in (("step", (SGD([weight]),)), ("unscale_", (SGD([weight]),)), ("update", ())):
        with pytest.raises(AssertionError, match=begun.format(name)):
            getattr(scaler_of(rg), name)(*arguments)

    scaler, optimizer = scaler_of(rg), SGD([weight])
    scaler.scale(weight.sum())
    with pytest.raises(AssertionError, match=r"No inf checks were recorded for this optimizer\."):
        scaler.step(optimizer)
    with pytest.raises(AssertionError, match=r"No inf checks were recorded prior to update\."):
        scaler.update()

    scaler = scaler_of(rg)
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called on this optimizer since the last up"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"Closure use is not currently supported if GradScaler is enabled\."):
        scaler.step(optimizer, closure=lambda: None)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step\(\)."):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called since the last update\(\)."):
        scaler.step(optimizer)
    with pytest.raises(AssertionError, match="may only be pickled at the beginning of an iteration, or at the end"):
        pickle.dumps(scaler)
    scaler.update()
    scaler.unscale_(optimizer)


def test_parameters_in_float16_are_refused_and_in_bfloat16_taken(rg):
    for dtype, refused in ((rg.float16, True), (rg.bfloat16, False)):
        weight, scaler = rg.ones((2,), dtype=dtype, requires_grad=True), scaler_of(rg)
        scaler.scale(weight.sum()).backward()
        if refused:
            with pytest.raises(ValueError, match=r"Attempting to unscale FP16 gradients\."):
                scaler.step(SGD([weight]))
        else:
            scaler.step(SGD([weight]))
            assert weight.tolist() == [0.5, 0.5]


def test_several_optimizers_each_have_their_state(rg):
    first, second = rg.ones(1, requires_grad=True), rg.ones(1, requires_grad=True)
    scaler, one, two = scaler_of(rg), SGD([first]), SGD([second])
    scaler.scale(first * math.inf + second).sum().backward()
    scaler.step(one)
    scaler.step(two)
    assert (first.item(), second.item()) == (1.0, 0.5)
    scaler.update()
    assert scaler.get_scale() == 2.0


def test_an_optimizer_that_does_it_itself(rg, weight):
    scaler, optimizer = scaler_of(rg), Own([weight])
    scaler.scale((weight * 3.0).sum()).backward()
    assert scaler.step(optimizer) == "done"
    scale, found = optimizer.seen
    assert (scale.item(), found.item()) == (4.0, 0.0) and weight.grad.tolist() == [12.0, 12.0]
    assert not hasattr(optimizer, "grad_scale") and not hasattr(optimizer, "found_inf")
    scaler.update()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    assert optimizer.seen[0] is None

    class WithKeyword(Own):
        def step(self, grad_scaler=None):
            return grad_scaler

    scaler = scaler_of(rg)
    scaler.scale(weight.sum())
    with pytest.warns(FutureWarning, match="GradScaler is going to stop passing itself as a keyword argument"):
        assert scaler.step(WithKeyword([weight])) is scaler


def test_a_scale_can_be_given(rg, weight):
    for given, refused in (
        (3.0, False),
        (rg.tensor(3.0), False),
        (rg.ones(2), True),
        (rg.tensor(3.0, requires_grad=True), True),
    ):
        scaler = scaler_of(rg)
        scaler.scale(weight.sum())
        if refused:
            with pytest.raises(AssertionError, match="new_scale should be a float or a 1-element"):
                scaler.update(given)
        else:
            scaler.update(new_scale=given)
            assert scaler.get_scale() == 3.0


def test_state_goes_from_one_to_another(rg, weight):
    scaler = scaler_of(rg, growth_factor=3.0, backoff_factor=0.25, growth_interval=7)
    state = {"scale": 4.0, "growth_factor": 3.0, "backoff_factor": 0.25, "growth_interval": 7, "_growth_tracker": 0}
    assert scaler.state_dict() == state
    scaler.scale(weight.sum()).backward()
    scaler.step(SGD([weight]))
    scaler.update()
    state["_growth_tracker"] = 1
    assert scaler.state_dict() == state
    begun = scaler_of(rg)
    begun.scale(weight.sum())
    for other in (scaler_of(rg), begun):
        other.load_state_dict(state)
        assert other.state_dict() == state
    for copied in (pickle.loads(pickle.dumps(scaler)), copy.deepcopy(scaler)):
        assert copied.state_dict() == state
        assert copied.scale(rg.ones(1)).item() == 4.0
    with pytest.raises(RuntimeError, match="The source state dict is empty, possibly because it was saved from a dis"):
        scaler.load_state_dict({})
    scaler.set_growth_factor(5.0)
    scaler.set_backoff_factor(0.5)
    scaler.set_growth_interval(3)
    assert scaler.get_growth_factor() == 5.0 and scaler.get_backoff_factor() == 0.5
    assert scaler.get_growth_interval() == 3 and scaler.is_enabled()


def test_a_scaler_that_is_not_enabled_does_nothing(rg, weight):
    scaler = scaler_of(rg, enabled=False, growth_factor=0.5)
    loss = weight.sum()
    assert scaler.scale(loss) is loss and not scaler.is_enabled()
    loss.backward()
    scaler.unscale_(SGD([weight]))
    scaler.step(SGD([weight]))
    scaler.update()
    assert weight.tolist() == [0.5, 0.5]
    assert (scaler.get_scale(), scaler.state_dict(), scaler._get_growth_tracker()) == (1.0, {}, 0)
    scaler.load_state_dict({})
    assert not pickle.loads(pickle.dumps(scaler)).is_enabled()


def test_factors_and_devices(rg):
    with pytest.raises(AssertionError, match=r"The growth factor must be > 1\.0\."):
        scaler_of(rg, growth_factor=1.0)
    with pytest.raises(AssertionError, match=r"The backoff factor must be < 1\.0\."):
        scaler_of(rg, backoff_factor=1.0)
    with pytest.warns(UserWarning, match=r"GradScaler is enabled, but CUDA is not available\.  Disabling\."):
        assert not rg.amp.GradScaler().is_enabled()
    with pytest.warns(FutureWarning, match=r"cpu.amp.GradScaler\(args...\)` is deprecated"):
        assert isinstance(rg.cpu.amp.GradScaler(2.0), rg.amp.GradScaler)


def test_the_functions_below(rg):
    grads, found = [rg.full((2,), 2.0), rg.tensor([math.inf]), rg.ones((1,), dtype=rg.bfloat16)], rg.zeros(1)
    assert rg._amp_foreach_non_finite_check_and_unscale_(grads, found, rg.tensor([0.5])) is None
    assert [g.tolist() for g in grads] == [[1.0, 1.0], [math.inf], [0.5]] and found.item() == 1.0
    one, two, double = rg.ones(1), rg.ones(2), rg.ones((1,), dtype=rg.float64)
    count = rg.zeros((1,), dtype=rg.int32)
    unscale = rg._amp_foreach_non_finite_check_and_unscale_
    for call, text in (
        (lambda: unscale([one], two, one), "found_inf must be a 1-element tensor"),
        (lambda: unscale([one], one, two), "inv_scale must be a 1-element tensor"),
        (lambda: unscale([one], double, one), "found_inf must be a float tensor"),
        (lambda: unscale([one], one, double), "inv_scale must be a float tensor"),
        (lambda: rg._amp_update_scale_(two, count, one, 2.0, 0.5, 1), "current_scale must be a 1-element tensor"),
        (lambda: rg._amp_update_scale_(double, count, one, 2.0, 0.5, 1), "current_scale must be a float tensor"),
        (lambda: rg._amp_update_scale_(one, one, one, 2.0, 0.5, 1), "growth_tracker must be an int tensor"),
        (lambda: rg._amp_update_scale_(one, count, double, 2.0, 0.5, 1), "found_inf must be a float tensor"),
    ):
        with pytest.raises(RuntimeError, match=text):
            call()
    with pytest.raises(NotImplementedError, match="not implemented for"):
        unscale([count], rg.zeros(1), one)
