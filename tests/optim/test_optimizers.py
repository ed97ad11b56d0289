"""Optimizers against PyTorch's numbers, states and errors, which `tools/optimizers.py` has stored."""

import copy
import json
import pickle
import runpy
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__)
MAKER = runpy.run_path(str(HERE.parents[2] / "tools/optimizers.py"))
TABLE: dict[str, Any] = json.loads((HERE.parents[1] / "optimizers.json").read_text())
NAMES = [*MAKER["OPTIONS"], "SparseAdam", "LBFGS"]

# PyTorch multiplies and adds in one rounding where its CPU code is vectorized; six steps amplify that, most where the
# mean of squares less the square of the mean is small.
TOLERANCE = {"float32": 5e-6, "float64": 1e-14, "complex64": 5e-6, "bfloat16": 2e-2}


def leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, f"{path}/{key}")]
    if isinstance(value, list):
        return [leaf for i, item in enumerate(value) for leaf in leaves(item, f"{path}/{i}")]
    return [(path, value)]


def assert_same(got: Any, want: Any, rel: float) -> None:
    """Equal keys in equal order, equal words, and numbers that are close."""
    ours, theirs = leaves(json.loads(json.dumps(got))), leaves(want)
    assert [path for path, _ in ours] == [path for path, _ in theirs]
    for (path, a), (_, b) in zip(ours, theirs, strict=True):
        assert a == (pytest.approx(b, rel=rel, abs=rel) if isinstance(b, float) else b), path


def ids(row: list[Any]) -> str:
    return "-".join(str(part) for part in row[:-1])


@pytest.mark.parametrize("row", TABLE["steps"], ids=ids)
def test_steps_and_states_are_those_of_torch(rg, row):
    name, options, dtype, want = row
    assert_same(MAKER["run"](rg, name, options, dtype), want, TOLERANCE[dtype])


@pytest.mark.parametrize("row", [row for row in TABLE["steps"] if row[2] == "float32"], ids=ids)
def test_states_of_torch_can_be_loaded(rg, row):
    name, options, _, want = row

    def tensors(value: Any) -> Any:
        if isinstance(value, list):
            return [tensors(item) for item in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {"dtype", "values"}:
            return rg.tensor(value["values"], dtype=getattr(rg, value["dtype"]))
        return {int(key) if key.isdigit() else key: tensors(item) for key, item in value.items()}

    stored = tensors(want["state"])
    params = [tensors(p).requires_grad_() for p in want["params"]]
    optimizer = getattr(rg.optim, name)([{"params": [p]} for p in params])
    optimizer.load_state_dict(stored)
    assert MAKER["plain"](optimizer.state_dict()) == want["state"]
    for p in params:
        p.grad = rg.ones_like(p)
    if not options.get("differentiable"):
        optimizer.step()


@pytest.mark.parametrize("row", TABLE["lbfgs"], ids=ids)
def test_lbfgs_takes_the_steps_of_torch(rg, row):
    options, dtype, want = row
    # Rosenbrock's function amplifies roundings.
    assert_same(MAKER["lbfgs"](rg, options, dtype), want, {"float32": 5e-3, "float64": 1e-8}[dtype])


@pytest.mark.parametrize("row", TABLE["errors"], ids=ids)
def test_options_are_refused_in_the_words_of_torch(rg, row):
    name, options, want = row
    assert MAKER["error"](rg, name, options) == want


@pytest.mark.parametrize("row", TABLE["trainings"], ids=ids)
def test_trainings_from_a_seed_have_the_losses_of_torch(rg, row):
    name, options, want = row
    assert MAKER["training"](rg, name, options) == pytest.approx(want, rel=1e-4)


def test_reprs_are_those_of_torch(rg):
    assert MAKER["texts"](rg) == TABLE["texts"]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_foreach_and_fused_mean_the_same_results(rg, name):
    plain, foreach, fused = (
        MAKER["run"](rg, name, {}, "float32", **more) for more in ({}, {"foreach": True}, {"fused": True})
    )
    assert foreach["params"] == plain["params"] == fused["params"]


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adagrad"])
def test_fused_steps_unscale_or_skip(rg, name):
    def stepped(scale: float | None, inf: float) -> tuple[list[float], list[float]]:
        p = rg.ones(2, requires_grad=True)
        p.grad = rg.tensor([1.0, 2.0]) * (scale or 1)
        optimizer = getattr(rg.optim, name)([p], lr=0.1, fused=True)
        assert optimizer._step_supports_amp_scaling
        if scale is not None:
            optimizer.grad_scale, optimizer.found_inf = rg.tensor(scale), rg.tensor(inf)
        optimizer.step()
        return p.tolist(), p.grad.tolist()

    assert stepped(8.0, 0.0) == stepped(None, 0.0)
    assert stepped(8.0, 1.0) == ([1.0, 1.0], [8.0, 16.0])


def test_grad_scaler_steps_a_fused_optimizer(rg):
    p = rg.ones(2, requires_grad=True)
    optimizer, scaler = rg.optim.SGD([p], lr=0.5, fused=True), rg.amp.GradScaler("cpu")
    scaler.scale(p.sum()).backward()
    scaler.step(optimizer)
    assert p.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("SparseAdam", "Muon")])
def test_state_dicts_continue_a_training(rg, name):
    def steps(optimizer: Any, p: Any, first: int, last: int) -> None:
        for i in range(first, last):

            def closure(i: int = i) -> Any:
                optimizer.zero_grad()
                loss = ((p - 0.3 * i) ** 2).sum()
                loss.backward()
                return loss

            optimizer.step(closure)

    p = rg.tensor([[1.0, -2.0]], requires_grad=True)
    optimizer = getattr(rg.optim, name)([p])
    steps(optimizer, p, 0, 3)
    q = p.detach().clone().requires_grad_()
    other = getattr(rg.optim, name)([q])
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    copied_p, pickled = pickle.loads(pickle.dumps((p, optimizer)))
    steps(optimizer, p, 3, 6)
    steps(other, q, 3, 6)
    steps(pickled, copied_p, 3, 6)
    assert p.tolist() == q.tolist() == copied_p.tolist()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"weight_decay": 0.1}),
        ("SGD", {"momentum": 0.9, "nesterov": True, "dampening": 0}),
        ("Adam", {"weight_decay": 0.1}),
        ("Adam", {"amsgrad": True}),
        ("AdamW", {"weight_decay": 0.1}),
        ("Adamax", {}),
        ("Adagrad", {"weight_decay": 0.1}),
        ("Adadelta", {"weight_decay": 0.1}),
        ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
        ("RAdam", {"weight_decay": 0.1}),
        ("RMSprop", {"momentum": 0.5, "centered": True}),
        ("ASGD", {"weight_decay": 0.1}),
    ],
    ids=str,
)
def test_gradients_pass_through_differentiable_steps(rg, name, options):
    def after_steps(p: Any, *grads: Any) -> Any:
        p = p.clone()
        optimizer = getattr(rg.optim, name)([p], lr=0.1, differentiable=True, **options)
        if options.get("nesterov"):
            optimizer.state[p]["momentum_buffer"] = rg.zeros_like(p)  # one that begins as the gradient is detached
        for grad in grads:
            p.grad = grad
            optimizer.step()
        return p

    numbers = MAKER["numbers"]
    inputs = [(rg.tensor(numbers(i, (3,), "float64"), dtype=rg.float64) + 0.01).requires_grad_() for i in range(1, 5)]
    assert rg.autograd.gradcheck(after_steps, inputs)


def test_gradients_reach_the_options_of_differentiable_steps(rg):
    def adam(lr: Any, decay: Any, beta1: Any, beta2: Any) -> Any:
        p = rg.tensor([1.0, -2.0], dtype=rg.float64, requires_grad=True).clone()
        optimizer = rg.optim.Adam(
            [p], lr=lr, weight_decay=decay, betas=(beta1, beta2), differentiable=True, amsgrad=True
        )
        for grad in ([0.5, -0.7], [0.2, 0.3]):
            p.grad = rg.tensor(grad, dtype=rg.float64)
            optimizer.step()
        return p

    def sgd(lr: Any, decay: Any) -> Any:
        p = rg.tensor([1.0, -2.0], dtype=rg.float64, requires_grad=True).clone()
        optimizer = rg.optim.SGD([p], lr=lr, weight_decay=decay, differentiable=True)
        p.grad = rg.tensor([0.5, -0.7], dtype=rg.float64)
        optimizer.step()
        return p

    options = [rg.tensor(x, dtype=rg.float64, requires_grad=True) for x in (0.1, 0.2, 0.8, 0.9)]
    assert rg.autograd.gradcheck(adam, options)
    assert rg.autograd.gradcheck(sgd, options[:2])


def test_steps_leave_gradients_and_record_nothing(rg):
    for name in MAKER["OPTIONS"]:
        p = rg.ones(2, 2, requires_grad=True)
        p.grad = rg.tensor([[1.0, 2.0], [3.0, 4.0]])
        optimizer = getattr(rg.optim, name)([p])
        optimizer.step()
        assert p.grad.tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert p.is_leaf and p.requires_grad
        assert not any(t.requires_grad for t in optimizer.state[p].values() if rg.is_tensor(t))


def test_closures_record_and_their_loss_is_returned(rg):
    for name in NAMES:
        p = rg.ones(2, 2, requires_grad=True)
        optimizer = getattr(rg.optim, name)([p])

        def closure(p: Any = p) -> Any:
            assert rg.is_grad_enabled()
            p.grad = rg.zeros(2, 2)
            return 3.0

        if name == "SparseAdam":
            with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients, please consider Adam"):
                optimizer.step(closure)
        else:
            assert optimizer.step(closure) == 3.0


def test_functional_forms_are_under_one_roof(rg):
    functional = pytest.importorskip("retrograd.optim._functional")
    x, buffer = rg.ones(2), [None]
    for _ in range(2):
        functional.sgd(
            [x], [rg.ones(2)], buffer, weight_decay=0, momentum=0.5, lr=0.5, dampening=0, nesterov=False, maximize=False
        )
    assert x.tolist() == [-0.25, -0.25]
    with pytest.raises(RuntimeError, match="`state_steps` argument must contain a list of singleton tensors"):
        functional.adam(
            [x],
            [x],
            [x],
            [x],
            [],
            [1],
            amsgrad=False,
            beta1=0.9,
            beta2=0.99,
            lr=1,
            weight_decay=0,
            eps=0,
            maximize=False,
        )


def test_only_parameters_of_one_group_with_lbfgs(rg):
    x, y = rg.ones(1, requires_grad=True), rg.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match=r"LBFGS doesn't support per-parameter options \(parameter groups\)"):
        rg.optim.LBFGS([{"params": [x]}, {"params": [y]}])
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        rg.optim.LBFGS([x], line_search_fn="x").step(lambda: x.sum().backward() or 1.0)


def test_sparse_adam_refuses_complex_parameters(rg):
    z = rg.ones(1, dtype=rg.complex64, requires_grad=True)
    with pytest.raises(
        ValueError, match=r"Complex params at indices \[\[0, 1\]\]: SparseAdam does not support complex"
    ):
        rg.optim.SparseAdam([rg.ones(1, requires_grad=True), z])


def test_old_states_get_what_they_lack(rg):
    """Step counts were numbers, and groups had fewer options."""
    p = rg.ones(2, requires_grad=True)
    p.grad = rg.ones(2)
    optimizer = rg.optim.Adam([p])
    optimizer.step()
    state_dict = optimizer.state_dict()
    state_dict["state"][0]["step"] = 7
    for name in ("maximize", "foreach", "capturable", "differentiable", "fused", "decoupled_weight_decay"):
        del state_dict["param_groups"][0][name]
    other = rg.optim.Adam([p])
    other.load_state_dict(state_dict)
    other.step()
    assert other.state[p]["step"].item() == 8
    assert other.param_groups[0]["decoupled_weight_decay"] is False


def test_swapped_in_parameters_are_stepped_with_their_state(rg):
    x, y = rg.ones(1, requires_grad=True), rg.zeros(1, requires_grad=True)
    x.grad = y.grad = rg.ones(1)
    optimizer = rg.optim.SGD([x], lr=0.5, momentum=0.5)
    swap_in = rg.optim.swap_in_optimizer_params_and_state
    with pytest.raises(RuntimeError, match="requires initialized optimizer state"), swap_in(optimizer, {}, {}):
        pass
    optimizer.step()
    saved = optimizer.state_dict()
    with swap_in(optimizer, {"y": y}, saved):
        assert optimizer.param_groups[0]["params"] == [y]
        optimizer.step()
    assert (x.item(), y.item()) == (0.5, -0.75)
    assert optimizer.param_groups[0]["params"] == [x]
    for broken, phrase in [
        ([], "requires a DCP-style optimizer state_dict"),
        ({"state": 1}, "to be a dict mapping packed parameter ids to per-param state dicts, got int"),
        ({"state": {x: {}}}, "state keyed by packed parameter ids"),
        ({"state": {0: 1}}, "per-parameter optimizer state entries to be dictionaries"),
        ({"state": {}, "param_groups": 1}, "to be a list of param-group dicts, got int"),
        ({"state": {}, "param_groups": []}, "has a different number of parameter groups"),
        ({"state": {}, "param_groups": [1]}, "each optimizer param group to be a dictionary"),
        ({"state": {}, "param_groups": [{"params": [x]}]}, "entries keyed by packed parameter ids"),
        ({"state": {}, "param_groups": [{"params": []}]}, "has a different number of params"),
        ({"state": {}, "param_groups": [{"params": [0]}]}, "Keys only in swap-in: \\[\\]"),
        ({"state": {3: {}}, "param_groups": saved["param_groups"]}, "got extra keys \\[3\\]"),
    ]:
        with pytest.raises(RuntimeError, match=phrase), swap_in(optimizer, {"y": y}, broken):
            pass
    with pytest.raises(RuntimeError, match=r"match optimizer\.param_groups ordering"), swap_in(optimizer, {}, saved):
        pass
