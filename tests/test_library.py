"""Custom ops: schemas, calls, derivatives and batching rules that are registered apart, and the namespace `ops`."""

import itertools
from collections.abc import Sequence
from typing import List, Optional  # noqa: UP035  annotations of programs

import numpy as np
import pytest

import retrograd as rg
from retrograd import library

Tensor = rg.Tensor
numbers = itertools.count()


@pytest.fixture
def name():
    """A name that no other op has."""
    return f"tests::op{next(numbers)}"


def power(name):
    @library.custom_op(name, mutates_args=())
    def power(x: Tensor, n: int = 2, *, scale: float = 1.0) -> Tensor:
        return rg.from_numpy(x.numpy() ** n) * scale

    return power


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (Tensor, "Tensor"),
        ("Tensor", "Tensor"),
        (int, "SymInt"),
        (float, "float"),
        (bool, "bool"),
        (str, "str"),
        (rg.types.Number, "Scalar"),
        (rg.dtype, "ScalarType"),
        (rg.device, "Device"),
        (list[Tensor], "Tensor[]"),
        (List[int], "SymInt[]"),  # noqa: UP006
        (Sequence[float], "float[]"),
        (Tensor | None, "Tensor?"),
        (Optional[Tensor], "Tensor?"),  # noqa: UP045
        (list[Tensor | None], "Tensor?[]"),
        (list[int] | None, "SymInt[]?"),
        (rg.types.Number | None, "Scalar?"),
    ],
)
def test_annotations_have_types_of_schemas(annotation, kind):
    def f(x): ...

    f.__annotations__ = {"x": annotation, "return": Tensor}
    f.__globals__["Tensor"] = Tensor
    assert library.infer_schema(f, mutates_args=()) == f"({kind} x) -> Tensor"


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (None, "()"),
        (int, "SymInt"),
        (list[Tensor], "Tensor[]"),
        (tuple[Tensor, Tensor], "(Tensor, Tensor)"),
        (tuple[Tensor, int], "(Tensor, SymInt)"),
    ],
)
def test_results_have_types_of_schemas(annotation, kind):
    def f(x): ...

    f.__annotations__ = {"x": Tensor, "return": annotation}
    assert library.infer_schema(f, mutates_args=(), op_name="f") == f"f(Tensor x) -> {kind}"


def test_schemas_have_defaults_and_marks():
    def f(
        x: Tensor, y: list[Tensor], n: int = 3, *, s: str = "a", d: rg.dtype = rg.float64, z: float | None = None
    ) -> None: ...

    expected = '(Tensor x, Tensor[] y, SymInt n=3, *, str s="a", ScalarType d=float64, float? z=None) -> ()'
    assert library.infer_schema(f, mutates_args=()) == expected
    assert library.infer_schema(f, mutates_args={"y"}).startswith("(Tensor x, Tensor(a1!)[] y, ")
    assert library.infer_schema(f, mutates_args="unknown").startswith("(Tensor(a0!) x, Tensor(a1!)[] y, SymInt n=3")


def unannotated(x) -> Tensor: ...
def no_result(x: Tensor): ...
def many(*x: Tensor) -> Tensor: ...
def mapping(x: dict) -> Tensor: ...
def pair(x: tuple[int, int]) -> Tensor: ...
def text(x: Tensor) -> str: ...
def number(x: int) -> Tensor: ...
def strange(x: "Nothing") -> Tensor: ...  # noqa: F821
def default(x: list[int] = ()) -> Tensor: ...


@pytest.mark.parametrize(
    ("function", "mutates", "message"),
    [
        (unannotated, (), "Parameter x must have a type annotation. Got func with signature"),
        (no_result, (), "No return type annotation was provided. Please add one."),
        (many, (), "We do not support positional-only args, varargs, or varkwargs."),
        (mapping, (), "Parameter x has unsupported type <class 'dict'>. The valid types are: Tensor, int, "),
        (pair, (), r"We do not support Tuple inputs in schema. As a workaround, please try to use List instead."),
        (text, (), "Return has unsupported type <class 'str'>. The valid types are: "),
        (strange, (), "Unsupported type annotation Nothing. It is not a type."),
        (default, (), "Parameter x has an unsupported default value type <class 'tuple'>"),
        (number, {"x"}, "Parameter x is in mutable_args but only Tensors or collections of Tensors can be mutated"),
        (number, {"y"}, r"\{'y'\} in mutates_args were not found in the custom op's signature."),
        (number, "x", "mutates_args must either be a sequence of the names of the arguments that are mutated"),
    ],
)
def test_functions_without_a_schema_are_refused(function, mutates, message):
    with pytest.raises(ValueError, match=message):
        library.infer_schema(function, mutates_args=mutates)


def test_an_op_is_called_as_its_function_is(name):
    op = power(name)
    x = rg.tensor([1.0, 3.0])
    assert repr(op) == f"<CustomOpDef({name})>"
    assert op(x).tolist() == op(x=x, n=2).tolist() == [1.0, 9.0]
    assert op(x, 3, scale=0.5).tolist() == [0.5, 13.5]
    short = name.removeprefix("tests::")
    assert getattr(rg.ops.tests, short) is getattr(rg.ops.tests, short).default is op
    assert short in dir(rg.ops.tests)
    for call, message in (
        (lambda: op(), "is missing value for argument 'x'. Declaration: tests::op"),
        (lambda: op(x, 1, 2), r"takes 2 positional argument\(s\) but 3 was/were given."),
        (lambda: op(x, z=1), "Unknown keyword argument 'z' for operator 'tests::op"),
        (lambda: op(x, x=x), "Unknown keyword argument 'x' for operator 'tests::op"),
        (lambda: op([1.0]), "Expected a value of type 'Tensor' for argument 'x' but instead found type 'list'"),
        (lambda: op(x, 1.5), "Expected a value of type 'int' for argument 'n' but instead found type 'float'"),
        (lambda: op(x, scale="a"), "Expected a value of type 'float' for argument 'scale' but instead found"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()


def test_names_that_are_not_there():
    with pytest.raises(AttributeError, match="'_OpNamespace' 'tests' object has no attribute 'nothing'"):
        rg.ops.tests.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="'_OpNamespace' 'aten' object has no attribute 'nothing'"):
        rg.ops.aten.nothing  # noqa: B018
    with pytest.raises(NotImplementedError, match="load_library"):
        rg.ops.load_library("lib.so")
    with pytest.raises(RuntimeError, match="operator tests::nothing does not exist"):
        library.register_fake("tests::nothing", lambda x: x)
    with pytest.raises(ValueError, match="Expected a name like namespace::name, got 'nothing'"):
        library.custom_op("nothing", number, mutates_args=())


def test_without_a_derivative_backward_says_what_to_register(name):
    y = power(name)(rg.ones(2, requires_grad=True))
    assert "GeneratedBackwardFor_tests_op" in repr(y.grad_fn)
    with pytest.raises(RuntimeError, match=r"Trying to backward through tests\.op\d+\.default but no autograd formula"):
        y.sum().backward()


def test_a_derivative_has_the_arguments_and_keywords(name):
    op = power(name)
    seen = []

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        seen.append((inputs[1], keyword_only_inputs, output.requires_grad))
        ctx.save_for_backward(inputs[0])
        ctx.n, ctx.scale = inputs[1], keyword_only_inputs["scale"]

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        seen.append(ctx.needs_input_grad)
        return g * ctx.n * x ** (ctx.n - 1) * ctx.scale, None

    op.register_autograd(backward, setup_context=setup_context)
    x = rg.tensor([1.0, 3.0], dtype=rg.float64, requires_grad=True)
    op(x, 3, scale=2.0).sum().backward()
    assert x.grad.tolist() == [6.0, 54.0]
    assert seen == [(3, {"scale": 2.0}, False), (True, False)]
    assert rg.autograd.gradcheck(lambda x: op(x, 4), x)
    assert rg.func.grad(lambda x: op(x).sum())(x).tolist() == [2.0, 6.0]
    assert library.opcheck(op, (x, 3)) == {"test_schema": "SUCCESS", "test_autograd_registration": "SUCCESS"}


def test_lists_of_tensors_keep_their_structure(name):
    @library.custom_op(name, mutates_args=())
    def scaled(xs: list[Tensor], y: Tensor) -> list[Tensor]:
        return [x * y for x in xs]

    def setup_context(ctx, inputs, output):
        assert isinstance(inputs[0], list) and isinstance(output, list)
        ctx.save_for_backward(inputs[1])

    def backward(ctx, grads):
        assert ctx.needs_input_grad == ([True, False], False)
        assert isinstance(grads, list)
        (y,) = ctx.saved_tensors
        return [g * y for g in grads], None

    scaled.register_autograd(backward, setup_context=setup_context)
    x, y = rg.ones(2, requires_grad=True), rg.tensor([2.0, 5.0])
    out = scaled([x, rg.ones(2)], y)
    assert isinstance(out, list)
    (out[0].sum() + out[1].sum()).backward()
    assert x.grad.tolist() == [2.0, 5.0]
    scaled.register_autograd(lambda ctx, grads: (grads[:1], None))
    with pytest.raises(
        RuntimeError, match="Expected the return from backward to be of the same structure as the inputs"
    ):
        scaled([x, rg.ones(2)], y)[0].sum().backward()


def test_a_result_may_not_share_memory_with_an_argument(name):
    @library.custom_op(name, mutates_args=())
    def view(x: Tensor, way: int) -> Tensor:
        return [x, x[1:], x.view(2, 1), x.detach(), x.clone()][way]

    for way in range(4):
        with pytest.raises(
            RuntimeError, match=r"\(2\) may not alias any inputs to this custom operator or other returns"
        ):
            view(rg.ones(2), way)
    assert view(rg.ones(2), 4).tolist() == [1.0, 1.0]


def test_results_may_not_share_memory(name):
    @library.custom_op(name, mutates_args=())
    def twice(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x.clone()
        return y, y

    with pytest.raises(RuntimeError, match="may not alias"):
        twice(rg.ones(2))


def test_arguments_that_are_written_to_have_a_new_version(name):
    @library.custom_op(name, mutates_args={"x"})
    def fill(x: Tensor) -> None:
        x.numpy()[:] = 3

    x = rg.ones(2)
    before = x._version
    assert fill(x) is None
    assert x.tolist() == [3.0, 3.0] and x._version == before + 1
    with pytest.raises(RuntimeError, match="Cannot register autograd formula for non-functional operator <CustomOpDef"):
        fill.register_autograd(lambda ctx, g: g)
    y = rg.ones(2, requires_grad=True)
    z = (y * 1).exp()
    fill(z.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_vmap_calls_the_op_for_each_element_or_its_rule(name):
    op = power(name)
    x = rg.arange(6.0).view(2, 3)
    assert rg.vmap(lambda x: op(x, 2, scale=2.0))(x).tolist() == (2 * x * x).tolist()
    assert rg.vmap(op, in_dims=1, out_dims=1)(x).tolist() == (x * x).tolist()
    op.register_autograd(
        lambda ctx, g: (2 * ctx.saved_tensors[0] * g, None),
        setup_context=lambda ctx, inputs, output, keyword_only_inputs: ctx.save_for_backward(inputs[0]),
    )
    assert rg.vmap(rg.func.grad(lambda x: op(x).sum()))(x).tolist() == (2 * x).tolist()
    seen = []

    @op.register_vmap
    def rule(info, in_dims, x, n, *, scale):
        seen.append((info.batch_size, in_dims, n, scale))
        return x + 100, in_dims[0]

    assert rg.vmap(op)(x).tolist() == (x + 100).tolist()
    assert seen == [(2, (0, None), 2, 1.0)]


def test_kernels_are_chosen_by_device(name):
    op = power(name)
    x = rg.ones(1)
    op.register_kernel("cpu")(lambda x, n, scale: x + 10)
    op.register_kernel(["cuda", "xpu"], lambda x, n, scale: x + 20)
    assert op(x).tolist() == [11.0]
    with op.set_kernel_enabled("cpu", False):
        assert op(x).tolist() == [1.0]
    assert op(x).tolist() == [11.0]
    fake = op.register_fake(rg.empty_like)
    assert fake is rg.empty_like

    @library.custom_op(f"{name}_cuda", mutates_args=(), device_types="cuda")
    def far(x: Tensor) -> Tensor:
        return x.clone()

    with pytest.raises(
        NotImplementedError, match=r"Could not run 'tests::op.*_cuda' with arguments from the 'CPU' backend"
    ):
        far(x)


def test_ops_are_defined_by_schemas(name):
    library.define(name, "(Tensor x, int y=3, *, float[] w=[1.0, 2.0], ScalarType dtype=float64) -> Tensor")
    op = getattr(rg.ops.tests, name.removeprefix("tests::"))
    with pytest.raises(NotImplementedError, match="Could not run"):
        op(rg.ones(1))

    @library.impl(name, ["cpu", "cuda"])
    def kernel(x, y, w, dtype):
        return (x * y * sum(w)).to(dtype)

    out = op(rg.ones(1, requires_grad=True))
    assert (out.tolist(), out.dtype) == ([9.0], rg.float64)
    assert out.grad_fn.name() == "ToCopyBackward0"  # what the kernel does is recorded
    library.register_autograd(name, lambda ctx, g: (g * 7, None))
    x = rg.ones(1, requires_grad=True)
    op(x).backward()
    assert x.grad.tolist() == [7.0]
    with pytest.raises(RuntimeError, match="with the same name and overload name multiple times"):
        library.define(name, "(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="expected a schema like"):
        library.define(f"{name}_bad", "Tensor x")
    with pytest.raises(RuntimeError, match="expected a type and a name, got 'x'"):
        library.define(f"{name}_bad", "(x) -> Tensor")


def test_a_library_is_a_namespace(name):
    lib = library.Library(name.replace("::", "_"), "FRAGMENT")
    assert repr(lib) == f"Library(kind=FRAGMENT, ns={lib.ns}, dispatch_key=)>"
    assert lib.define("sine(Tensor x) -> Tensor") == "sine"
    op = getattr(rg.ops, lib.ns).sine
    lib.impl("sine", rg.sin)  # made of other ops
    x = rg.zeros(1, requires_grad=True)
    op(x).backward()
    assert x.grad.tolist() == [1.0]
    lib.impl("sine", lambda x: x.clone(), "Meta")
    with pytest.raises(NotImplementedError, match="a kernel for the dispatch key 'AutogradCPU'"):
        lib.impl("sine", rg.sin, "AutogradCPU")
    with pytest.raises(ValueError, match="Unsupported kind: XX"):
        library.Library("a", "XX")
    with pytest.raises(RuntimeError, match=r"get_ctx\(\) can only be called inside a fake impl"):
        library.get_ctx()


def test_a_stated_schema_must_agree_with_what_is_written_to(name):
    op = library.custom_op(name, lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor")
    assert op(rg.zeros(1)).tolist() == [1.0]
    with pytest.raises(ValueError, match="Please make these consistent"):
        library.custom_op(name, lambda x: None, mutates_args=(), schema="(Tensor(a!) x) -> ()")


def test_opcheck_finds_what_is_wrong(name):
    @library.custom_op(name, mutates_args=())
    def wrong(x: Tensor) -> Tensor:
        x.numpy()[:] += 1
        return x * 2

    with pytest.raises(Exception, match="test_schema failed with Argument x is not defined as mutable but was mutated"):
        library.opcheck(wrong, (rg.ones(1),))

    @library.custom_op(f"{name}_grad", mutates_args=())
    def double(x: Tensor) -> Tensor:
        return x * 2

    x = rg.ones(1, dtype=rg.float64, requires_grad=True)
    found = library.opcheck(double, (x,), raise_exception=False)
    assert found["test_schema"] == "SUCCESS" and "no derivative" in str(found["test_autograd_registration"])
    double.register_autograd(lambda ctx, g: g * 3)
    with pytest.raises(Exception, match="test_autograd_registration failed with Jacobian mismatch"):
        library.opcheck(double, (x,), test_utils="test_autograd_registration")


def test_numpy_numbers_are_not_tensors(name):
    with pytest.raises(RuntimeError, match="found type 'ndarray'"):
        power(name)(np.ones(2))
