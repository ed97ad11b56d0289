"""Who is asked, in which order, with what, and what becomes of the answers."""

import inspect
import operator
import threading
import types

import pytest

from overrides.programs import BINARY


@pytest.fixture
def implemented():
    return {}


@pytest.fixture
def duck(rg, implemented):
    """A number times the identity, which knows the functions that `implemented` has: torch's example of a duck."""

    class Diagonal:
        def __init__(self, n, value):
            self.n, self.value = n, value

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func not in implemented or not all(issubclass(t, rg.Tensor | cls) for t in types):
                return NotImplemented
            return implemented[func](*args, **(kwargs or {}))

    return Diagonal(2, 3.0)


def test_a_duck_is_asked_by_the_public_function(rg, duck, implemented):
    implemented |= {rg.mean: lambda d: d.value / d.n, rg.Tensor.add: lambda t, d: ("add", d.value)}
    assert rg.mean(duck) == 1.5
    assert rg.ones(2) + duck == ("add", 3.0) and duck.__class__.__name__ == "Diagonal"
    assert duck + rg.ones(2) == ("add", 3.0)
    with pytest.raises(
        TypeError, match=r"no implementation found for 'retrograd.sum' on types that implement .*Diagonal"
    ):
        rg.sum(duck)
    with pytest.raises(TypeError, match="unsupported operand type"):
        rg.ones(2) * duck


def test_a_duck_is_found_in_lists_keywords_and_subscripts(rg, duck, implemented):
    implemented |= {
        rg.cat: lambda tensors: "cat",
        rg.stack: lambda tensors, dim: ("stack", dim),
        rg.add: lambda input, other, alpha: ("add", alpha),
        rg.Tensor.__getitem__: lambda t, d: "got",
        rg.Tensor.__setitem__: lambda *args: None,
        rg.Tensor.add_: lambda t, d: "another object",
        rg.nn.functional.linear: lambda x, w, b=None: "linear",
        rg.linalg.det: lambda d: "det",
        rg.tensordot: lambda a, b, dims, out: "tensordot",
        rg.einsum: lambda equation, *operands: equation,
    }
    t = rg.ones(2)
    assert rg.cat([t, duck]) == "cat" and rg.stack((t, duck), dim=1) == ("stack", 1)
    assert rg.add(t, other=duck, alpha=2) == ("add", 2)
    assert t[duck] == "got" and t[0, duck] == "got"
    t[0] = duck
    assert operator.iadd(t, duck) == "another object" and t.tolist() == [1.0, 1.0]
    assert rg.nn.functional.linear(t, duck) == "linear" and rg.linalg.det(duck) == "det"
    assert rg.tensordot(t, duck) == "tensordot" and rg.einsum("i,ij->j", t, duck) == "i,ij->j"


@pytest.mark.parametrize("op", [*BINARY])
def test_operators_ask_a_duck_on_either_side(rg, op):
    class Yes:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "yes"

    f = getattr(operator, op)
    assert f(rg.ones(2), Yes()) == "yes" and f(Yes(), rg.ones(2)) == "yes"


def test_the_classes_that_are_asked_are_told_to_each(rg):
    told = []

    class Base(rg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            told.append((cls, types))
            return NotImplemented

    class Lower(Base):
        pass

    class Right(rg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            told.append((cls, types))
            return "right"

    base, lower, right = (rg.ones(2).as_subclass(kind) for kind in (Base, Lower, Right))
    assert rg.cat([base, rg.ones(2), right, lower, base]) == "right"
    order = (Lower, Base, Right)
    assert told == [(Lower, order), (Base, order), (Right, order)]


def test_keywords_are_told_only_where_there_are_some(rg):
    told = []

    class Telling(rg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs="none"):
            told.append((args[1:], kwargs))

    x = rg.ones(2).as_subclass(Telling)
    rg.add(x, 1)
    rg.add(x, other=1)
    assert told == [((1,), "none"), ((), {"other": 1})]


def test_an_error_of_the_object_is_the_error(rg):
    class Failing(rg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise KeyError(func.__name__)

    x = rg.ones(2).as_subclass(Failing)
    for program in (lambda: x + 1, lambda: x.exp(), lambda: x.shape, lambda: x.dim(), lambda: x[0], lambda: len(x)):
        with pytest.raises(KeyError):
            program()
    with pytest.raises(KeyError):
        x.grad = None
    with pytest.raises(KeyError):
        x += 1


def test_properties_are_told_as_their_accessors(rg):
    told = []

    class Telling(rg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            told.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    x = rg.ones(2).as_subclass(Telling)
    assert x.shape == (2,) and x.ndim == 1
    x.requires_grad = True
    x.grad = rg.ones(2)
    del x.grad
    tensor = rg.Tensor
    accessors = [tensor.shape.__get__, tensor.ndim.__get__, tensor.requires_grad.__set__, tensor.grad.__set__]
    assert told == [*accessors, tensor.grad.__delete__]


def test_a_plain_method_is_asked_with_a_warning(rg):
    class Old:
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return "old"

    with pytest.warns(DeprecationWarning, match="Defining your `__torch_function__` as a plain method is deprecated"):
        assert rg.exp(Old()) == "old"


def test_a_subclass_can_count_what_runs(rg):
    names = []

    class Counting(rg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            names.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    x = rg.ones(2, 2).as_subclass(Counting)
    rg.nn.functional.softmax((x @ x).relu(), dim=0).sum().item()
    assert names == ["matmul", "relu", "softmax", "sum", "item"]


# ---- modes


@pytest.fixture
def log():
    return []


@pytest.fixture
def mode(rg, log):
    class Logging(rg.overrides.TorchFunctionMode):
        def __init__(self, name=""):
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(self.name + func.__name__)
            return func(*args, **(kwargs or {}))

    return Logging


def test_a_mode_is_told_of_factories_methods_and_properties(rg, mode, log):
    with mode() as inside:
        t = rg.ones(2)
        rg.tensor([1.0]) + t.exp()
        assert t.shape == (2,)
        assert rg.overrides._get_current_function_mode() is inside
    rg.ones(2)
    assert log == ["ones", "tensor", "exp", "add", "__get__"]
    assert rg.overrides._get_current_function_mode() is None


def test_the_inner_mode_is_told_first_and_calls_the_outer(rg, mode, log):
    with mode("outer "), mode("inner "):
        rg.ones(1)
    assert log == ["inner ones", "outer ones"]


def test_a_mode_is_told_before_arguments_and_may_leave_it_to_them(rg, mode, log):
    class Mine(rg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append("Mine")
            return super().__torch_function__(func, types, args, kwargs)

    x = rg.ones(2).as_subclass(Mine)
    with mode():
        assert type(x.exp()) is Mine
    assert log == ["exp", "Mine"]

    class Leaving(rg.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(types)
            return NotImplemented

    class Answering(rg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "answer"

    log.clear()
    with Leaving():
        assert rg.exp(x.as_subclass(Answering)) == "answer"
        with pytest.raises(TypeError, match=r"no implementation found for 'retrograd.ones' .*: \[\] nor in mode <"):
            rg.ones(1)
    assert log == [(Answering,), ()]


def test_modes_are_switched_off_with_everything_else(rg, mode, log):
    with mode():
        with rg.DisableTorchFunction():
            rg.ones(1)
        with rg.DisableTorchFunctionSubclass():
            rg.zeros(1)
        with rg.overrides._pop_mode_temporarily():
            rg.ones(1)
    assert log == ["zeros"]


def test_a_mode_ends_with_its_context_also_after_an_error(rg, mode, log):
    with pytest.raises(RuntimeError), mode():
        rg.ones(2) @ rg.ones(3)
    rg.ones(1)
    assert log == ["ones", "ones", "matmul"] and rg._C._len_torch_function_stack() == 0
    with pytest.raises(RuntimeError, match="no mode to pop"):
        rg.overrides._pop_mode()


def test_a_mode_is_of_its_thread(rg, mode, log):
    with mode():
        thread = threading.Thread(target=lambda: rg.ones(1))
        thread.start()
        thread.join()
    assert log == []


def test_a_mode_goes_along_where_a_deep_backward_continues_on_another_thread(rg, mode, log):
    depth = 70

    def nested(n):
        class Step(rg.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, g):
                if n == 0:
                    log.append("bottom")
                    return g.exp()
                y = nested(n - 1)
                rg.autograd.backward([y])  # which is no function that asks
                return g

        with rg.enable_grad():
            return Step.apply(rg.ones((), requires_grad=True))

    y = nested(depth)
    with mode():
        rg.autograd.backward([y])
    assert log[log.index("bottom") + 1] == "exp"


def test_a_mode_without_a_handler_is_refused(rg):
    with rg.overrides.TorchFunctionMode(), pytest.raises(NotImplementedError):
        rg.ones(1)


def test_base_mode_changes_nothing(rg):
    with rg.overrides.BaseTorchFunctionMode():
        assert rg.ones(2).tolist() == [1.0, 1.0]


# ---- functions of the module


def test_functions_of_programs_ask(rg):
    overrides = rg.overrides

    def double(x):
        if overrides.has_torch_function_unary(x):
            return overrides.handle_torch_function(double, (x,), x)
        return x * 2

    wrapped = overrides.wrap_torch_function(lambda x: (x,))(lambda x: x * 2)

    class Mine:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func, args, kwargs

    mine = Mine()
    assert double(mine) == (double, (mine,), {}) and double(1) == 2
    assert wrapped(mine) == (wrapped, (mine,), {}) and wrapped(1) == 2

    class No:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match=r"no implementation found for '.*double' on types that implement .*No"):
        double(No())


def test_has_torch_function_is_false_for_plain_tensors_and_parameters(rg):
    has = rg.overrides.has_torch_function

    class Mine(rg.Tensor):
        pass

    plain = (rg.ones(1), rg.nn.Parameter(rg.ones(1)), 1, None, [])
    assert not has(plain) and not has(list(plain)) and not rg.overrides.has_torch_function_variadic(*plain)
    x = rg.ones(1).as_subclass(Mine)
    assert has((1, x)) and has([x]) and rg.overrides.has_torch_function_unary(x)
    assert rg.overrides.has_torch_function_variadic(1, x)
    with rg.overrides.BaseTorchFunctionMode():
        assert has(()) and rg.overrides._is_torch_function_mode_enabled()
    assert rg.overrides.is_tensor_like(x) and not rg.overrides.is_tensor_like(1)
    assert rg.overrides._get_overloaded_args([1, x, x]) == [x]


def test_overridable_functions_are_listed_and_named(rg):
    overrides = rg.overrides
    functions = overrides.get_overridable_functions()
    assert {rg.add, rg.cat, rg.einsum, rg.is_floating_point} <= set(functions[rg])
    assert rg.nn.functional.linear in functions[rg.nn.functional]
    assert {rg.Tensor.add, rg.Tensor.item, rg.Tensor.__add__} <= set(functions[rg.Tensor])
    assert not {rg.tensor, rg.zeros, rg.save} & set(functions[rg]) and rg.tensor in overrides.get_ignored_functions()
    assert functions[rg.Tensor.shape] == [rg.Tensor.shape.__get__]
    assert overrides.resolve_name(rg.nn.functional.linear) == "retrograd.nn.functional.linear"
    assert overrides.resolve_name(rg.Tensor.grad.__set__) == "retrograd.Tensor.grad.__set__"
    assert overrides.resolve_name(rg.add) == "retrograd.add" and overrides.resolve_name(len) is None
    assert overrides.is_tensor_method_or_property(rg.Tensor.add)
    assert overrides.is_tensor_method_or_property(rg.Tensor.shape.__get__)
    assert not overrides.is_tensor_method_or_property(rg.add)


def test_each_overridable_function_asks_a_mode_or_its_arguments(rg):
    """Given a duck for each argument that it needs, every function asks."""

    class Told(Exception):
        pass

    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise Told

    overrides = rg.overrides
    silent = []
    for namespace, functions in overrides.get_overridable_functions().items():
        if not isinstance(namespace, types.ModuleType):
            continue
        for function in functions:
            dummy = overrides.get_testing_overrides()[function]
            parameters = inspect.signature(dummy).parameters.values()
            needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
            try:
                function(*(Duck() for _ in needed or [1]))
                silent.append(overrides.resolve_name(function))
            except Told:
                pass
    assert silent == []


def test_testing_overrides_take_what_the_functions_take(rg):
    dummies = rg.overrides.get_testing_overrides()
    assert dummies[rg.add](1, 2) == -1 and dummies[rg.Tensor.add](1) == -1
    assert rg.Tensor.grad.__get__ in rg.overrides.get_default_nowrap_functions()
