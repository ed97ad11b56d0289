"""What holds for modules here besides what `test_programs` compares with torch."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import threading
import weakref

import pytest

import retrograd as rg
from retrograd import nn


class Line(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(rg.tensor([2.0]))
        self.register_buffer("seen", rg.tensor(0))

    def forward(self, x):
        return self.weight * x


def test_pickles_and_copies_are_modules_of_their_own():
    net = nn.Sequential(Line(), Line())
    net.note = "kept"
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert other.note == "kept" and other.training
        assert other[0].weight.requires_grad and type(other[0].weight) is nn.Parameter
        with rg.no_grad():
            other[0].weight.add_(1)
        assert net[0].weight.item() == 2.0
        assert other(rg.ones(1)).item() == 6.0


def test_modules_pickled_before_a_hook_existed_get_it():
    state = Line().__getstate__()
    for name in [name for name in state if name.endswith("hooks") or name.startswith("_non_persistent")]:
        del state[name]
    line = Line.__new__(Line)
    line.__setstate__(state)
    line.register_forward_hook(lambda module, args, output: output + 1)
    assert line(rg.ones(1)).item() == 3.0


def test_a_dropped_module_is_freed_at_once():
    gc.disable()
    try:
        net = nn.Sequential(Line(), Line())
        net.register_forward_hook(lambda *_: None)
        net(rg.ones(1)).sum().backward()
        reference = weakref.ref(net)
        del net
        assert reference() is None
    finally:
        gc.enable()


def test_unpickled_handles_remove_their_hook_and_no_other():
    line = Line()
    line.handle = line.register_forward_hook(print)
    other = pickle.loads(pickle.dumps(line))
    new = other.register_forward_hook(print)
    assert new.id != other.handle.id
    other.handle.remove()
    assert list(other._forward_hooks) == [new.id] and len(line._forward_hooks) == 1


def test_memory_of_parameters_is_shared():
    line = Line()
    assert line.share_memory() is line and all(p.is_shared() for p in line.parameters())


def test_another_device_is_refused():
    with pytest.raises(AssertionError, match="only device of this build"):
        Line().to("cuda")
    with pytest.raises(AssertionError, match="only device of this build"):
        Line().cuda()


def test_compile_changes_nothing():
    line = Line()
    line.compile(mode="max-autotune")
    assert line(rg.ones(1)).item() == 2.0


def test_data_parallel_calls_its_module():
    net = nn.DataParallel(Line(), device_ids=[0, 1])
    assert net(rg.ones(1)).item() == 2.0
    assert list(net.state_dict()) == ["module.weight", "module.seen"]
    assert net.device_ids == []


def test_hooks_put_into_the_dicts_by_hand_are_called():
    line, seen = Line(), []
    line._forward_hooks[-1] = lambda module, args, output: seen.append(output.item())
    line(rg.ones(1))
    assert seen == [2.0]


def test_a_global_hook_with_keywords_gets_them_after_an_exception_too():
    class Failing(nn.Module):
        def forward(self, x, y=0):
            raise ValueError("forward fails")

    seen = []
    hook = nn.modules.module.register_module_forward_hook
    with hook(lambda *args: seen.append(args[1:]), with_kwargs=True, always_call=True), pytest.raises(ValueError):
        Failing()(1, y=2)
    assert seen == [((1,), {"y": 2}, None)]


def test_a_tensor_behind_a_backward_hook_must_not_change_in_place():
    line = Line()
    line.register_full_backward_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        line(rg.ones(1, requires_grad=True)).add_(1)


def test_threads_call_one_module_at_a_time_or_together():
    line, results = Line(), []
    line.register_forward_hook(lambda module, args, output: output + args[0])

    def work(i):
        results.extend(line(rg.tensor([float(i)])).item() == 3.0 * i for _ in range(50))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 200


def test_modules_work_under_transforms():
    net = nn.Sequential(Line(), Line())
    params = dict(net.named_parameters())

    def loss(params, x):
        return rg.func.functional_call(net, params, x).sum()

    grads = rg.func.grad(loss)(params, rg.tensor([3.0]))
    assert {name: g.item() for name, g in grads.items()} == {"0.weight": 6.0, "1.weight": 6.0}
    per_sample = rg.vmap(rg.func.grad(loss), in_dims=(None, 0))(params, rg.tensor([[1.0], [2.0]]))
    assert per_sample["0.weight"].flatten().tolist() == [2.0, 4.0]
    assert net[0].weight is params["0.weight"]


def test_backward_hooks_work_under_transforms():
    line, seen = Line(), []
    line.register_full_backward_hook(lambda module, inputs, outputs: seen.append(outputs[0].shape))

    def loss(x):
        return (line(x) ** 2).sum()

    assert rg.func.grad(loss)(rg.tensor([3.0])).tolist() == [24.0]
    assert rg.vmap(rg.func.grad(loss))(rg.tensor([[1.0], [3.0]])).tolist() == [[8.0], [24.0]]
    assert seen == [(1,), (2, 1)]  # all entries at once
    value, moved = rg.func.jvp(loss, (rg.tensor([3.0]),), (rg.ones(1),))
    assert (value.item(), moved.item()) == (36.0, 24.0)
    assert rg.func.hessian(loss)(rg.tensor([3.0])).tolist() == [[8.0]]


def test_an_ensemble_is_stacked_and_mapped():
    models = [nn.Sequential(Line()), nn.Sequential(Line())]
    with rg.no_grad():
        models[1][0].weight.mul_(10)
    params, buffers = rg.func.stack_module_state(models)
    assert params["0.weight"].requires_grad and params["0.weight"].is_leaf
    assert buffers["0.seen"].tolist() == [0, 0]

    def call(params, buffers, x):
        return rg.func.functional_call(models[0], (params, buffers), x)

    assert rg.vmap(call, in_dims=(0, 0, None))(params, buffers, rg.ones(1)).flatten().tolist() == [2.0, 20.0]


def test_registered_classes_are_trees_for_transforms():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    pytree = rg.utils.pytree
    pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda branches, _: Pair(*branches))
    try:
        grads = rg.func.grad(lambda p: p.a * p.b)(Pair(rg.tensor(2.0), rg.tensor(3.0)))
        assert (grads.a.item(), grads.b.item()) == (3.0, 2.0)
        mapped = rg.vmap(lambda p: Pair(p.b, p.a))(Pair(rg.ones(2), rg.zeros(2)))
        assert mapped.a.tolist() == [0.0, 0.0]
    finally:
        rg.utils._pytree._deregister_pytree_node(Pair)


def test_unpad_sequence_leaves_its_argument_alone():
    padded = rg.arange(6.0).reshape(3, 2)
    first, second = nn.utils.rnn.unpad_sequence(padded, rg.tensor([3, 1]))
    assert padded.shape == (3, 2)
    assert (first.tolist(), second.tolist()) == ([0.0, 2.0, 4.0], [1.0])
    first.zero_()
    assert padded.sum().item() == 15.0


def test_lengths_beyond_the_input_are_refused():
    with pytest.raises(RuntimeError, match="a length is 5, but the input has 2 steps"):
        nn.utils.rnn.pack_padded_sequence(rg.ones(2, 1), [5])


def test_packing_and_padding_have_second_derivatives():
    x = rg.randn(4, 3, 2, dtype=rg.float64, requires_grad=True)

    def there_and_back(x):
        packed = nn.utils.rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(packed)[0] ** 2

    assert rg.autograd.gradcheck(there_and_back, x)
    assert rg.autograd.gradgradcheck(there_and_back, x)


@pytest.mark.parametrize("map", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 4, 3)])
def test_orthogonal_weights_stay_orthogonal_while_they_learn(map, shape):
    rg.manual_seed(0)
    module = nn.ParameterDict({"w": rg.randn(shape, dtype=rg.float64)})
    nn.utils.parametrizations.orthogonal(module, "w", map)
    goal = rg.randn(shape, dtype=rg.float64)
    for _ in range(3):
        module.zero_grad()
        (module.w * goal).sum().backward()
        with rg.no_grad():
            for p in module.parameters():
                p.sub_(p.grad, alpha=0.1)
    w = module.w
    product = w @ w.mT if shape[-2] < shape[-1] else w.mT @ w
    rg.testing.assert_close(product, rg.eye(min(shape[-2:]), dtype=rg.float64).expand(product.shape))


def test_an_old_state_of_spectral_norm_is_completed():
    line = nn.Module()
    rg.manual_seed(0)
    line.weight = nn.Parameter(rg.randn(2, 3, dtype=rg.float64))
    line.forward = lambda x: line.weight @ x
    nn.utils.spectral_norm(line, n_power_iterations=50)
    line(rg.ones(3, dtype=rg.float64))
    line.eval()
    expected = line(rg.ones(3, dtype=rg.float64))
    state = dict(line.state_dict())
    right = state.pop("weight_v")
    state["weight"] = line.weight.detach()
    line.weight_v.zero_()
    line.load_state_dict(state)
    rg.testing.assert_close(line.weight_v, right)
    rg.testing.assert_close(line(rg.ones(3, dtype=rg.float64)), expected)


def test_removing_spectral_norm_removes_all_of_its_hooks():
    module = nn.utils.spectral_norm(nn.ParameterDict({"weight": rg.randn(2, 2)}))
    nn.utils.remove_spectral_norm(module)
    assert not (module._forward_pre_hooks or module._state_dict_hooks or module._load_state_dict_pre_hooks)


def test_skip_init_leaves_the_generator_where_it_was():
    class Drawn(nn.Module):
        def __init__(self, device=None):
            super().__init__()
            self.weight = nn.Parameter(rg.randn(3, device=device))

    before = rg.get_rng_state()
    assert nn.utils.skip_init(Drawn).weight.shape == (3,)
    assert bool((rg.get_rng_state() == before).all())


def test_importing_modules_imports_nothing_large():
    code = "import sys, retrograd; print([m for m in ('numpy', 'json') if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
