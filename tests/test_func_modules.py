"""Modules as functions of their parameters, and ensembles of them."""

import pytest

import retrograd as rg
from retrograd.func import functional_call, functionalize, grad, stack_module_state, vmap


class Broken(Exception):
    pass


def tensor(values):
    return rg.tensor(values, dtype=rg.float64)


def close(got, want):
    want = want if isinstance(want, rg.Tensor) else tensor(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert bool((got - want).abs().max() <= 1e-9 * (1 + want.abs().max()))


def raises(kind, text):
    return pytest.raises(kind, match=text)


class Affine:
    """As little of a module as there can be."""

    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias

    def named_parameters(self):
        yield "weight", self.weight
        yield "bias", self.bias

    def named_buffers(self):
        return iter(())

    def __call__(self, x):
        return x @ self.weight + self.bias


class Net:
    """A module with modules and a buffer inside, which has one parameter twice."""

    training = True

    def __init__(self, scale=1.0):
        self.first = Affine(tensor([[1.0, 2.0], [0.0, 1.0]]) * scale, tensor([1.0, 1.0]))
        self.second = Affine(tensor([3.0, -1.0]) * scale, tensor(0.5))
        self.tied = self.first.bias
        self.steps = tensor(0.0)

    def named_parameters(self, remove_duplicate=True):
        for prefix in ("first", "second"):
            for name, t in getattr(self, prefix).named_parameters():
                yield f"{prefix}.{name}", t
        if not remove_duplicate:
            yield "tied", self.tied

    def named_buffers(self, remove_duplicate=True):
        yield "steps", self.steps

    def __call__(self, x, *, fail=False):
        if fail:
            raise Broken
        self.steps = self.steps + 1
        return self.second(self.first(x) + self.tied)


def state(net):
    return [t for _, t in (*net.named_parameters(remove_duplicate=False), *net.named_buffers())]


def test_functional_call():
    net, x = Net(), tensor([1.0, 2.0])
    close(functional_call(net, {}, x), 3 * (1 + 1 + 1) - (4 + 1 + 1) + 0.5)
    before = state(net)
    zero = {"second.weight": tensor([0.0, 0.0]), "second.bias": tensor(7.0)}
    close(functional_call(net, zero, x), 7.0)
    close(functional_call(net, zero, (x,), {"fail": False}), 7.0)
    assert all(a is b for a, b in zip(before[:-1], state(net)[:-1], strict=True))
    with pytest.raises(Broken):
        functional_call(net, zero, x, {"fail": True})
    assert all(a is b for a, b in zip(before[:-1], state(net)[:-1], strict=True))
    close(functional_call(net, ({"second.weight": zero["second.weight"]}, {"second.bias": tensor(1.0)}), x), 1.0)


def test_functional_call_gives_back_what_the_call_assigned():
    net = Net()
    buffers = {"steps": tensor(10.0)}
    functional_call(net, buffers, tensor([1.0, 2.0]))
    close(buffers["steps"], 11.0)
    close(net.steps, 0.0)


def test_functional_call_ties_weights():
    net, x, w = Net(), tensor([0.0, 0.0]), {"first.bias": tensor([10.0, 0.0])}
    close(functional_call(net, w, x), 3 * 20 + 0.5)
    close(functional_call(net, w, x, tie_weights=False), 3 * 11.0 - 1.0 + 0.5)
    close(functional_call(net, {"tied": w["first.bias"]}, x), 3 * 20 + 0.5)
    close(functional_call(net, {"tied": w["first.bias"], "first.bias": w["first.bias"]}, x), 60.5)
    with raises(ValueError, r"multiple values for keys \['first.bias', 'tied'\], which are tied"):
        functional_call(net, {"tied": tensor([1.0, 1.0]), **w}, x)
    assert list(w) == ["first.bias"]


def test_functional_call_errors():
    net, x = Net(), tensor([1.0, 2.0])
    before = state(net)
    with raises(ValueError, "to be a dict, or a list/tuple of dicts"):
        functional_call(net, 3, x)
    with raises(ValueError, "to be dictionaries"):
        functional_call(net, [3], x)
    with raises(ValueError, r"\['steps'\] appeared in multiple dictionaries"):
        functional_call(net, [{"steps": x}, {"steps": x}], x)
    with raises(RuntimeError, r"(?s)reparametrizing for Net:.*Unexpected key\(s\): 'nope'.*Missing key\(s\): "):
        functional_call(net, {"nope": x}, x, strict=True)
    with raises(AttributeError, "Net has no attribute `nope`"):
        functional_call(net, {"second.bias": tensor(0.0), "nope.weight": x}, x)
    with raises(TypeError, "is not an instance of torch.Tensor"):
        functional_call(net, {"second.bias": 3.0}, x)
    with raises(TypeError, "is not an instance of torch.Tensor"):
        functional_call(net, {"second": x}, x)
    with raises(KeyError, "no name"):
        functional_call(net, {"": x}, x)
    assert all(a is b for a, b in zip(before, state(net), strict=True))
    functional_call(net, {"extra": x}, x)
    assert not hasattr(net, "extra")
    every = dict(net.named_parameters()) | dict(net.named_buffers())
    functional_call(net, every, x, strict=True)


def test_per_sample_gradients_of_a_module():
    net, xs, targets = Net(), tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]]), tensor([1.0, 2.0, 3.0])
    params = dict(net.named_parameters())

    def loss(params, x, target):
        return (functional_call(net, params, x) - target) ** 2

    got = vmap(grad(loss), in_dims=(None, 0, 0))(params, xs, targets)
    for i in range(3):
        error = 2 * (net(xs[i]) - targets[i])
        close(got["second.bias"][i], error)
        close(got["second.weight"][i], error * (net.first(xs[i]) + net.tied))
        close(got["first.weight"][i], error * xs[i][:, None] * net.second.weight)


def test_ensembles():
    nets, x = [Net(1.0), Net(2.0), Net(-1.0)], tensor([1.0, 2.0])
    params, buffers = stack_module_state(nets)
    assert params["first.weight"].shape == (3, 2, 2) and buffers["steps"].shape == (3,)

    def call(params, buffers, x):
        return functional_call(nets[0], (params, buffers), x)

    got = vmap(call, in_dims=(0, 0, None))(params, buffers, x)
    close(got, rg.stack([net(x) for net in nets]))


def test_stack_module_state_errors_and_leaves():
    w = rg.ones(2, requires_grad=True)
    params, buffers = stack_module_state([Affine(w * 2, w), Affine(w, w)])
    assert params["weight"].is_leaf and params["weight"].requires_grad and buffers == {}
    with raises(RuntimeError, "Expected bias from each model to have the same .requires_grad"):
        stack_module_state([Affine(w, w), Affine(w, w.detach())])
    with raises(RuntimeError, "Expected at least one model, got 0"):
        stack_module_state([])
    with raises(RuntimeError, "to be of the same class"):
        stack_module_state([Affine(w, w), Net()])
    other = Net()
    other.training = False
    with raises(RuntimeError, "to have the same training/eval mode"):
        stack_module_state([Net(), other])


def test_functionalize_is_the_function():
    assert functionalize(raises) is raises and functionalize(raises, remove="mutations_and_views") is raises
    with raises(RuntimeError, "received invalid argument for remove=views"):
        functionalize(raises, remove="views")
