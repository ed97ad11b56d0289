"""Objects of subclasses of Tensor: what ops, copies and gradients make of them."""

import copy
import io
import pickle
from collections import namedtuple

import pytest


class Kinds:
    """Subclasses, made once."""

    def __init__(self, rg):
        class Plain(rg.Tensor):
            pass

        class Child(Plain):
            pass

        class Other(rg.Tensor):
            pass

        class Silent(rg.Tensor):
            __torch_function__ = rg._C._disabled_torch_function_impl

        self.Plain, self.Child, self.Other, self.Silent = Plain, Child, Other, Silent


@pytest.fixture(scope="module")
def kinds(rg):
    return Kinds(rg)


@pytest.fixture
def x(rg, kinds):
    return rg.tensor([[1.0, 2.0], [3.0, 4.0]]).as_subclass(kinds.Plain)


def test_results_are_of_the_subclass(rg, kinds, x):
    t = rg.ones(2, 2)
    results = [x + 1, 1 + x, t + x, x @ t, -x, x.sum(), x[0], x.T, x == t, rg.cat([t, x]), rg.linalg.inv(x)]
    results += [*x.max(0), *x.split(1), *x, rg.nn.functional.relu(x), x.clone(), x.detach(), x.data, x.to(rg.float64)]
    results += [x.new_zeros(2), rg.ones_like(x), rg.einsum("ij->i", x), rg.where(x > 1, x, t), x.float()]
    assert {type(result) for result in results} == {kinds.Plain}


def test_values_are_those_of_plain_tensors(rg, x):
    plain = x.as_subclass(rg.Tensor)
    assert (x @ x + 2).tolist() == (plain @ plain + 2).tolist()
    assert rg.stack([x, plain]).tolist() == rg.stack([plain, plain]).tolist()


def test_named_tuples_stay_named_and_are_searched(rg, kinds, x):
    largest = x.max(0)
    assert type(largest).__name__ == "max" and type(largest.indices) is kinds.Plain
    assert largest.values.tolist() == [3.0, 4.0]
    pair = namedtuple("Pair", "a b")(x.as_subclass(rg.Tensor), x)
    assert type(rg.cat(pair)) is kinds.Plain


def test_factories_and_what_is_no_tensor_are_left_alone(rg, x):
    assert type(rg.tensor(x.tolist())) is rg.Tensor and type(rg.zeros(2)) is rg.Tensor
    assert type(x.shape) is rg.Size and x.tolist() == [[1.0, 2.0], [3.0, 4.0]] and type(x.dtype) is rg.dtype
    assert type(rg.Tensor(x)) is rg.Tensor


def test_in_place_ops_return_the_object(rg, x):
    before = x
    x += 1
    x.mul_(2)
    assert x is before and x.tolist() == [[4.0, 6.0], [8.0, 10.0]]
    assert rg.add(x, 1, out=x) is x


def test_the_lower_of_two_related_classes_wins(kinds, rg, x):
    child = rg.ones(2, 2).as_subclass(kinds.Child)
    assert type(x + child) is kinds.Child and type(child + x) is kinds.Child


def test_unrelated_classes_refuse_each_other(rg, kinds, x):
    other = rg.ones(2, 2).as_subclass(kinds.Other)
    with pytest.raises(TypeError, match="unsupported operand"):
        x + other
    with pytest.raises(
        TypeError,
        match=r"Multiple dispatch failed for 'retrograd.add'; all __torch_function__ handlers returned NotImplemented: "
        r"no implementation found for 'retrograd.add' on types that implement __torch_function__: "
        r"\[<class '.*Plain'>, <class '.*Other'>\]",
    ):
        rg.add(x, other)


def test_parameters_and_silent_classes_give_plain_tensors(rg, kinds, x):
    silent = x.as_subclass(kinds.Silent)
    assert type(silent + 1) is rg.Tensor and type(silent.T) is rg.Tensor
    assert type(rg.nn.Parameter(rg.ones(2)) * 2) is rg.Tensor
    assert type(silent + x) is kinds.Plain


def test_as_subclass_is_a_view_in_the_same_graph(rg, kinds):
    t = rg.ones(2, requires_grad=True)
    x = (t * 2).as_subclass(kinds.Plain)
    assert type(x.grad_fn).__name__ == "AliasBackward0"
    x.sum().backward()
    assert t.grad.tolist() == [2.0, 2.0]
    memory = rg.zeros(2)
    memory.as_subclass(kinds.Plain).fill_(3)
    assert memory.tolist() == [3.0, 3.0]


def test_as_subclass_refuses_what_is_no_subclass(rg):
    with pytest.raises(RuntimeError, match="Creating a Tensor subclass from a class that does not inherit from Tensor"):
        rg.ones(1).as_subclass(int)
    with pytest.raises(TypeError, match=r"cls must be a type \(got str\)"):
        rg.ones(1).as_subclass("Plain")


def test_make_subclass_refuses_what_is_no_subclass(rg):
    with pytest.raises(TypeError, match="Creating a Tensor subclass from a class that does not inherit from Tensor"):
        rg.Tensor._make_subclass(int, rg.ones(1))
    with pytest.raises(TypeError, match=r"cls must be a type \(got int\)"):
        rg.Tensor._make_subclass(1, rg.ones(1))


def test_a_subclass_made_a_parameter_says_so(rg, kinds, x):
    assert repr(rg.nn.Parameter(rg.ones(1).as_subclass(kinds.Plain))) == "Parameter(Plain([1.], requires_grad=True))"
    assert repr(x[0]) == "Plain([1., 2.])"


def test_make_subclass_makes_a_leaf_over_the_same_memory(rg, kinds):
    t = rg.ones(2, requires_grad=True) * 2
    x = rg.Tensor._make_subclass(kinds.Plain, t, True)
    assert type(x) is kinds.Plain and x.is_leaf and x.requires_grad and x.data_ptr() == t.data_ptr()
    assert not rg.Tensor._make_subclass(kinds.Plain, t).requires_grad


def test_a_leaf_gets_a_plain_gradient_that_stays_the_same_object(rg, kinds):
    x = rg.ones(2).as_subclass(kinds.Plain).requires_grad_()
    (x * 3).sum().backward()
    assert type(x.grad) is rg.Tensor and x.grad is x.grad and x.grad.tolist() == [3.0, 3.0]
    (g,) = rg.autograd.grad((x * x).sum(), x)
    assert type(g) is kinds.Plain and g.tolist() == [2.0, 2.0]
    assert type(rg.autograd.grad((x * x).sum(), {"x": x})["x"]) is kinds.Plain


def test_gradcheck_takes_subclasses(rg, kinds):
    x = rg.tensor([0.3, 0.7], dtype=rg.float64).as_subclass(kinds.Plain).requires_grad_()
    assert rg.autograd.gradcheck(lambda v: v.sin() * v, (x,))
    assert rg.autograd.gradgradcheck(lambda v: v.sin() * v, (x,))


class Labelled:
    """Made a subclass below, where pickle finds it."""


@pytest.fixture
def labelled(rg):
    kind = globals()["Labelled"]
    if not issubclass(kind, rg.Tensor):
        kind = type("Labelled", (rg.Tensor,), {"__module__": __name__})
        globals()["Labelled"] = kind
    x = rg.ones(2).as_subclass(kind)
    x.label = ["kept"]
    return x


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_of_the_subclass_and_keep_attributes(labelled, copied):
    made = copied(labelled)
    assert type(made) is type(labelled) and made.label == ["kept"] and made.tolist() == [1.0, 1.0]


def test_results_have_no_attributes_of_their_operands(labelled):
    assert not hasattr(labelled + 1, "label") and not hasattr(labelled.clone(), "label")


def test_a_subclass_may_have_its_own_constructor_and_init_subclass(rg):
    made = []

    class Base(rg.Tensor):
        def __init_subclass__(cls, tag=None, **kwargs):
            super().__init_subclass__(**kwargs)
            made.append(tag)

    class Named(Base, tag="x"):
        @staticmethod
        def __new__(cls, data, name):
            return super().__new__(cls, data)

        def __init__(self, data, name):
            self.name = name

    x = Named([1.0, 2.0], "weight")
    assert made == ["x"] and x.name == "weight" and type(x * 2) is Named and (x * 2).tolist() == [2.0, 4.0]


def test_modules_take_subclasses_as_parameters(rg, kinds):
    linear = rg.nn.Linear(2, 2)
    weight = rg.nn.Parameter(rg.eye(2).as_subclass(kinds.Plain))
    assert isinstance(weight, rg.nn.Parameter) and type(weight) is kinds.Plain and weight.requires_grad
    linear.weight = weight
    assert dict(linear.named_parameters())["weight"] is weight
    out = linear(rg.ones(2))
    assert type(out) is kinds.Plain
    out.sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    rg.optim.SGD(linear.parameters(), lr=1.0).step()
    assert weight.tolist() == [[0.0, -1.0], [-1.0, 0.0]]


def test_a_class_becomes_one_that_is_asked_by_assignment(rg, kinds):
    x = rg.ones(2)
    x.__class__ = kinds.Plain
    assert type(x + 1) is kinds.Plain


def test_what_would_need_dispatch_is_refused_at_the_first_object(rg):
    class Dispatching(rg.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args)

    with pytest.raises(NotImplementedError, match="Dispatching: retrograd does not call __torch_dispatch__"):
        rg.ones(1).as_subclass(Dispatching)
    with pytest.raises(NotImplementedError, match="does not call __torch_dispatch__"):
        Dispatching([1.0])
    with pytest.raises(NotImplementedError, match="for __torch_dispatch__, which retrograd does not call"):
        rg.Tensor._make_wrapper_subclass(Dispatching, (2,))

    class Disabled(rg.Tensor):
        __torch_dispatch__ = rg._C._disabled_torch_dispatch_impl

    assert type(rg.ones(1).as_subclass(Disabled)) is Disabled


def test_switched_off_subclasses_are_plain_operands(rg, kinds, x):
    for switch in (rg.DisableTorchFunctionSubclass, rg.DisableTorchFunction):
        with switch():
            assert type(x + 1) is rg.Tensor and type(x.T) is rg.Tensor and type(x[0]) is rg.Tensor
            assert not rg.overrides.has_torch_function((x,)) and not rg._C._is_torch_function_enabled()
        assert type(x + 1) is kinds.Plain


def test_the_graph_keeps_the_object_of_a_leaf(rg, kinds):
    x = rg.ones(2).as_subclass(kinds.Plain).requires_grad_()
    y = rg.DisableTorchFunction() and (x * 2)
    found = y.grad_fn.next_functions[0][0].next_functions[0][0].variable
    assert found is x


def test_uninitialised_parameters_refuse_functions(rg):
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in <method"):
        rg.nn.UninitializedParameter() + 1
    assert rg.nn.UninitializedParameter().to(rg.float64).dtype == rg.float64
    lazy = rg.nn.LazyBatchNorm1d()
    assert isinstance(copy.deepcopy(lazy).running_mean, rg.nn.UninitializedBuffer)
    rg.save(lazy.state_dict(), io.BytesIO())
