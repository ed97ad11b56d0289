"""What all optimizers have: groups, states, state dicts, hooks."""

import copy
import gc
import pickle
import weakref

import pytest


@pytest.fixture
def x(rg):
    return rg.nn.Parameter(rg.tensor([1.0, 2.0]))


@pytest.fixture
def y(rg):
    return rg.nn.Parameter(rg.tensor([3.0]))


def test_groups_take_what_they_lack_from_the_defaults(rg, x, y):
    optimizer = rg.optim.SGD([{"params": x, "lr": 0.1}, {"params": iter([y])}], lr=0.2, momentum=0.5)
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.2]
    assert [group["params"] for group in optimizer.param_groups] == [[x], [y]]
    assert [group["momentum"] for group in optimizer.param_groups] == [0.5, 0.5]


def test_names_go_with_parameters(rg, x, y):
    optimizer = rg.optim.SGD([("x", x), ("y", y)])
    assert optimizer.param_groups[0]["param_names"] == ["x", "y"]
    assert optimizer.param_groups[0]["params"] == [x, y]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["x", "y"]
    z = rg.nn.Parameter(rg.ones(1))
    with pytest.raises(ValueError, match="cannot add param group without names to the optimizer"):
        optimizer.add_param_group({"params": z})
    with pytest.raises(ValueError, match="Some param names are missing"):
        rg.optim.SGD([("x", x), y])
    plain = rg.optim.SGD([x, y])
    with pytest.raises(ValueError, match="cannot add param group with names to the optimizer"):
        plain.add_param_group({"params": [("z", z)]})
    plain.load_state_dict(optimizer.state_dict())
    assert plain.param_groups[0]["param_names"] == ["x", "y"]
    unnamed = rg.optim.SGD([x, y]).state_dict()
    optimizer.load_state_dict(unnamed)
    assert optimizer.param_groups[0]["param_names"] == ["x", "y"]


def test_what_cannot_be_trained_is_refused(rg, x):
    for params, kind, phrase in [
        (x, TypeError, "params argument given to the optimizer should be an iterable of Tensors or dicts, but got"),
        ([], ValueError, "optimizer got an empty parameter list"),
        ([1], TypeError, "optimizer can only optimize Tensors, but one of the params is int"),
        ([x * 2], ValueError, "can't optimize a non-leaf Tensor"),
        ([{"params": {x}}], TypeError, "need to be organized in ordered collections"),
        ([{"params": x}, {"params": [x]}], ValueError, "some parameters appear in more than one parameter group"),
        ([{"params": x}, 3], TypeError, "param_group must be a dict, but got <class 'int'>"),
    ]:
        with pytest.raises(kind, match=phrase):
            rg.optim.SGD(params)
    with pytest.warns(UserWarning, match="optimizer contains a parameter group with duplicate parameters"):
        rg.optim.SGD([x, x])
    kept = x * 2
    kept.retain_grad()
    rg.optim.SGD([kept])


def test_required_options_must_be_stated(rg, x):
    required = rg.optim.optimizer.required
    assert repr(required) == "<required parameter>"
    with pytest.raises(
        ValueError, match="parameter group didn't specify a value of required optimization parameter lr"
    ):
        rg.optim.Optimizer([x], {"lr": required})
    assert rg.optim.Optimizer([{"params": [x], "lr": 1}], {"lr": required}).param_groups[0]["lr"] == 1


def test_the_base_class_has_no_step(rg, x):
    with pytest.raises(NotImplementedError):
        rg.optim.Optimizer([x], {}).step()


def test_zero_grad_drops_gradients_or_fills_them(rg, x, y):
    optimizer = rg.optim.SGD([x, y])
    x.grad = rg.ones(2)
    optimizer.zero_grad()
    assert x.grad is None and y.grad is None
    grad = x.grad = rg.ones(2)
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is grad and grad.tolist() == [0.0, 0.0]
    (2 * x * x).sum().backward(create_graph=True)
    optimizer.zero_grad(set_to_none=False)
    assert x.grad.grad_fn is None and not x.grad.requires_grad


def test_states_are_numbered_by_parameters(rg, x, y):
    optimizer = rg.optim.SGD([{"params": [x]}, {"params": [y]}], momentum=0.5)
    y.grad = rg.ones(1)
    optimizer.step()
    optimizer.state["other"] = 3
    state_dict = optimizer.state_dict()
    assert list(state_dict) == ["state", "param_groups"]
    assert [group["params"] for group in state_dict["param_groups"]] == [[0], [1]]
    assert state_dict["state"][1]["momentum_buffer"] is optimizer.state[y]["momentum_buffer"]
    assert state_dict["state"]["other"] == 3
    assert list(optimizer.state) == [y, "other"]


def test_loading_converts_states_but_not_counts(rg, x):
    x.grad = rg.ones(2)
    source = rg.optim.Adam([x])
    source.step()
    saved = source.state_dict()
    saved["state"][0]["more"] = [rg.ones(1), {"step": rg.ones(1), "exp": (rg.ones(1),)}, "text"]
    target = rg.nn.Parameter(rg.zeros(2, dtype=rg.float64))
    optimizer = rg.optim.Adam([target])
    optimizer.load_state_dict(saved)
    state = optimizer.state[target]
    assert (state["step"].dtype, state["exp_avg"].dtype) == (rg.float32, rg.float64)
    more = state["more"]
    assert (more[0].dtype, more[1]["step"].dtype, more[1]["exp"][0].dtype) == (rg.float64, rg.float32, rg.float64)
    saved["state"][0]["step"] = saved["state"][0]["step"].double()
    saved["param_groups"][0]["fused"] = True
    optimizer.load_state_dict(saved)
    assert optimizer.state[target]["step"].dtype == rg.float32
    counts = rg.zeros(2, dtype=rg.int64)
    assert (
        rg.optim.Optimizer._process_value_according_to_param_policy(
            counts, rg.ones(1), 0, saved["param_groups"], "exp_avg"
        ).dtype
        == rg.float32
    )


def test_dicts_that_do_not_fit_are_refused(rg, x, y):
    one, two = rg.optim.SGD([x, y]), rg.optim.SGD([{"params": [x]}, {"params": [y]}])
    with pytest.raises(ValueError, match="loaded state dict has a different number of parameter groups"):
        one.load_state_dict(two.state_dict())
    with pytest.raises(ValueError, match="parameter group that doesn't match the size of optimizer's group"):
        one.load_state_dict(rg.optim.SGD([x]).state_dict())


def test_pickles_and_copies_keep_state_and_groups_and_lose_hooks(rg, x):
    optimizer = rg.optim.SGD([x], lr=0.5, momentum=0.5)
    optimizer.register_step_pre_hook(print)
    x.grad = rg.ones(2)
    optimizer.step()
    for other in (pickle.loads(pickle.dumps(optimizer)), copy.deepcopy(optimizer)):
        (p,) = other.param_groups[0]["params"]
        assert p is not x and p.tolist() == x.tolist()
        assert other.state[p]["momentum_buffer"].tolist() == [1.0, 1.0]
        assert other.defaults["lr"] == 0.5 and not other._optimizer_step_pre_hooks
        other.zero_grad()
        other.step()


def test_hooks_run_around_steps_in_the_order_of_torch(rg, x):
    seen = []
    optimizer = rg.optim.SGD([x])
    handles = [
        rg.optim.optimizer.register_optimizer_step_pre_hook(lambda *_: seen.append("all before")),
        rg.optim.optimizer.register_optimizer_step_post_hook(lambda *_: seen.append("all after")),
        optimizer.register_step_pre_hook(lambda *_: seen.append("before")),
        optimizer.register_step_post_hook(lambda *_: seen.append("after")),
    ]
    optimizer.step(lambda: seen.append("closure"))
    assert seen == ["all before", "before", "closure", "after", "all after"]
    for handle in handles:
        handle.remove()
    optimizer.step(lambda: seen.append("closure"))
    assert len(seen) == 6


def test_hooks_before_steps_may_change_the_arguments(rg, x):
    optimizer = rg.optim.SGD([x])
    with optimizer.register_step_pre_hook(lambda self, args, kwargs: ((self, lambda: "other"), kwargs)):
        assert optimizer.step(lambda: "own") == "other"
    with (
        optimizer.register_step_pre_hook(lambda *_: 3),
        pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3\."),
    ):
        optimizer.step()


def test_hooks_of_state_dicts_run_in_order(rg, x):
    seen = []
    optimizer = rg.optim.SGD([x])
    for name in ("state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post"):
        register = getattr(optimizer, f"register_{name}_hook")
        register(lambda *args, name=name: seen.append((name, 1)))
        register(lambda *args, name=name: seen.append((name, 0)), prepend=True)
    optimizer.load_state_dict(optimizer.state_dict())
    assert seen == [
        (name, i)
        for name in ("state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post")
        for i in (0, 1)
    ]


def test_hooks_of_state_dicts_may_replace_them(rg, x):
    optimizer = rg.optim.SGD([x], lr=0.5)
    optimizer.register_state_dict_post_hook(lambda self, state_dict: {**state_dict, "more": 1})
    assert optimizer.state_dict()["more"] == 1

    def rename(self, state_dict):
        assert state_dict is not saved
        return {"state": {}, "param_groups": [{**state_dict["param_groups"][0], "lr": 7}]}

    saved = optimizer.state_dict()
    optimizer.register_load_state_dict_pre_hook(rename)
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["lr"] == 7


def test_a_subclass_s_step_is_wrapped_once(rg, x):
    class Mine(rg.optim.Optimizer):
        def step(self):
            """Doc."""

    own = Mine.step
    first = Mine([x], {})
    wrapped = Mine.step
    Mine([x], {})
    assert Mine.step is wrapped and wrapped.__wrapped__ is own and wrapped.__doc__ == "Doc."
    seen = []
    first.register_step_post_hook(lambda *_: seen.append(1))
    first.step()
    assert seen == [1]


def test_steps_and_zero_grad_are_shown_in_profiles(rg, x):
    optimizer = rg.optim.SGD([x])
    with rg.autograd.profiler.profile() as prof:
        optimizer.step()
        optimizer.zero_grad()
    names = [event.name for event in prof.function_events]
    assert names == ["Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"]


def test_optimizers_with_schedules_are_freed_without_the_collector(rg, x):
    gc.disable()
    try:
        optimizer = rg.optim.SGD([x])
        scheduler = rg.optim.lr_scheduler.StepLR(optimizer, 1)
        seen = weakref.ref(optimizer)
        del optimizer, scheduler
        assert seen() is None
    finally:
        gc.enable()


def test_optimizers_outside_find_what_they_import(rg, x):
    from retrograd.optim.lbfgs import _strong_wolfe
    from retrograd.optim.optimizer import _default_to_fused_or_foreach, _get_value, _to_scalar, _view_as_real

    z = rg.ones(2, dtype=rg.complex64)
    params, states = [x, z], [rg.zeros(2), z]
    _view_as_real(params, states)
    assert params[0] is x and params[1].shape == states[1].shape == (2, 2)
    assert _default_to_fused_or_foreach([x], False, use_fused=True) == (True, False)
    assert _default_to_fused_or_foreach([x, z], False, use_fused=True) == (False, False)
    assert _get_value(rg.tensor(3)) == 3 and _to_scalar(rg.ones(1)).shape == ()
    start, direction = rg.tensor([3.0]), rg.tensor([-1.0])
    loss, grad, t, calls = _strong_wolfe(
        lambda x, t, d: (((x + t * d) ** 2).item(), 2 * (x + t * d)),
        start,
        1.0,
        direction,
        9.0,
        2 * start,
        -2 * start[0],
        c2=0.1,
    )
    assert loss < 1.0 and abs(float(t) - 3) < 1 and grad.shape == (1,) and calls >= 2


def test_gradients_are_taken_where_a_parameter_has_one(rg, x, y):
    optimizer = rg.optim.Adam([x, y])
    x.grad = rg.ones(2)
    optimizer.step()
    assert list(optimizer.state) == [x] and y.tolist() == [3.0]
