"""BWD: backward() and the order in which the engine works."""

import inspect
import types

import numpy as np
import pytest

from . import beyond, close, fails, leaf, rg, same, warns

backward = rg.autograd.backward
edge = rg.autograd.graph.get_gradient_edge


class Named(rg.autograd.Function):
    """The identity times `scale`; says when its backward runs."""

    @staticmethod
    def forward(ctx, x, log, scale=1.0):
        ctx.log, ctx.scale = log, scale
        return x * scale

    @staticmethod
    def backward(ctx, g):
        ctx.log()
        return g * ctx.scale, None, None


def test_bwd_1_signatures():
    assert list(inspect.signature(backward).parameters) == [
        "tensors",
        "grad_tensors",
        "retain_graph",
        "create_graph",
        "grad_variables",
        "inputs",
    ]
    method = list(inspect.signature(rg.Tensor.backward).parameters)
    assert method == ["self", "gradient", "retain_graph", "create_graph", "inputs"]
    x, z = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    y = x * z
    backward(y, rg.ones(2), True, False, None, [x])
    y.backward(rg.ones(2), False, False, [x])
    same(x.grad, [2.0, 4.0])
    assert z.grad is None


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_bwd_2_one_element_needs_no_gradient(shape):
    x = rg.full(shape, 3.0, requires_grad=True)
    (x * 2).backward()
    same(x.grad, np.full(shape, 2.0))


@pytest.mark.parametrize("shape", [(2,), (0,), (1, 2)])
def test_bwd_2_several_elements_need_a_gradient(shape):
    x = rg.ones(shape, requires_grad=True)
    for attempt in (lambda: (x * 2).backward(), lambda: rg.autograd.grad(x * 2, x)):
        with fails("grad can be implicitly created only for scalar outputs"):
            attempt()
    assert x.grad is None


def test_bwd_2_complex_roots_need_a_gradient():
    x = leaf([1 + 2j], dtype=rg.complex64)
    with fails("only for real scalar outputs but got"):
        (x * 2).backward()


def test_bwd_3_a_root_must_require_grad():
    x, c = leaf([1.0]), rg.ones(1)
    with fails("element 0 of tensors does not require grad and does not have a grad_fn"):
        c.backward()
    with fails("element 1 of tensors does not require grad and does not have a grad_fn"):
        backward([x * 2, c])
    with fails("element 0 of tensors does not require grad"):
        rg.tensor(3).backward()
    assert x.grad is None


def test_bwd_4_gradient_must_have_the_shape_of_the_root():
    x = leaf([1.0, 2.0])
    y = x * 3
    for g in (rg.ones(1), rg.tensor(1.0), rg.ones(1, 2), rg.ones(3)):
        with fails("Mismatch in shape: grad_output[0] has a shape of", "and output[0] has a shape of"):
            y.backward(g)
    assert x.grad is None


def test_bwd_4_gradient_type_and_dtype():
    x = leaf([1.0, 2.0])
    y = x * 3
    with fails("gradients can be either Tensors or None", kind=TypeError):
        backward([y], [[1.0, 1.0]])
    y.backward(rg.tensor([1.0, 2.0], dtype=rg.float64), retain_graph=True)
    y.backward(rg.tensor([1, 1]))
    assert x.grad.dtype == rg.float32
    same(x.grad, [6.0, 9.0])


def test_bwd_4_complex_gradient_of_a_real_root():
    x = leaf([1.0, 2.0])
    same = "For complex Tensors, both grad_output and output are required to have the same dtype. "
    with fails(same + "Mismatch in dtype: grad_output[0]"):
        (x * 3).backward(rg.ones(2, dtype=rg.complex64))


def test_bwd_5_as_many_gradients_as_roots():
    x = leaf([1.0])
    with fails("got 2 tensors and 1 gradients"):
        backward([x * 2, x * 3], [rg.ones(1)])
    backward([x * 2, x * 3], [None, rg.ones(1) * 10])
    same(x.grad, [32.0])


@beyond("torch drops a surplus gradient without a word")
def test_bwd_5_surplus_gradients():
    x = leaf([1.0])
    with fails("got 1 tensors and 2 gradients"):
        backward([x * 2], [rg.ones(1), rg.ones(1)])


@pytest.mark.filterwarnings("ignore:Using backward\\(\\) with create_graph")
def test_bwd_6_retain_graph_defaults_to_create_graph():
    x = leaf([3.0])
    y = x * x
    y.backward(create_graph=True)
    y.backward()
    with fails("backward through the graph a second time"):
        y.backward()
    x.grad = None
    z = x * x
    z.backward(create_graph=True, retain_graph=False)
    with fails("backward through the graph a second time"):
        z.backward()
    x.grad = None


def test_bwd_6_only_nodes_that_saved_something_are_used_up():
    x = leaf([[1.0, 2.0]])
    y = (x.view(2) + 1).sum()
    y.backward()
    y.backward()
    same(x.grad, [[2.0, 2.0]])
    a = x + 2
    b = a.exp()
    b.sum().backward()
    a.sum().backward()
    with fails("backward through the graph a second time"):
        b.sum().backward()


def test_bwd_6_saved_tensors_go_as_soon_as_their_node_has_run():
    x, freed = leaf([1.0]), []
    a = x.exp()
    b = a.sin()

    def look(_):
        with fails("after they have already been freed"):
            _ = b.grad_fn._saved_self
        freed.append(a.grad_fn._saved_result.item())

    a.grad_fn.register_prehook(look)
    b.backward()
    assert freed == [pytest.approx(np.exp(1.0))]


def test_bwd_7_freed_nodes_say_what_to_do():
    x = leaf([1.0, 2.0])
    for run in (lambda y: y.backward(), lambda y: rg.autograd.grad(y, x)):
        y = (x * x).sum()
        node = y.grad_fn.next_functions[0][0]
        run(y)
        for again in (lambda y=y: y.backward(), lambda n=node: n._saved_self, lambda y=y: rg.autograd.grad(y, x)):
            with fails("backward through the graph a second time", "retain_graph=True"):
                again()


def test_bwd_7_freed_custom_functions():
    class Square(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = leaf([3.0])
    y = Square.apply(x)
    y.backward()
    for again in (lambda: y.grad_fn.saved_tensors, y.backward):
        with fails("backward through the graph a second time", "retain_graph=True"):
            again()
    same(x.grad, [6.0])


def test_bwd_8_grad_mode_inside_formulas_equals_create_graph():
    modes = []
    x = leaf([3.0])

    def run(create_graph):
        y = Named.apply(x * x, lambda: modes.append(("function", rg.is_grad_enabled())))
        y.register_hook(lambda g: modes.append(("hook", rg.is_grad_enabled())))
        (g,) = rg.autograd.grad(y, x, create_graph=create_graph)
        return g

    assert run(False).requires_grad is False
    assert modes == [("hook", False), ("function", False)]
    modes.clear()
    g = run(True)
    assert modes == [("hook", True), ("function", True)]
    same(rg.autograd.grad(g, x)[0], [2.0])


def test_bwd_8_backward_runs_in_any_mode_of_the_caller():
    x = leaf([3.0])
    y = x * x
    with rg.no_grad():
        (g,) = rg.autograd.grad(y, x, create_graph=True)
        y.backward(retain_graph=True)
    assert g.requires_grad is True and x.grad.requires_grad is False
    same(rg.autograd.grad(g, x)[0], [2.0])
    same(x.grad, [6.0])
    x.grad = None
    with rg.inference_mode():
        y.backward()
    assert x.grad.is_inference()
    same(x.grad, [6.0])


def test_bwd_9_inputs_alone_accumulate():
    x, z = leaf([1.0]), leaf([2.0])
    y = x * z
    (y * 3).backward(inputs=[x])
    same(x.grad, [6.0])
    assert z.grad is None


def test_bwd_9_a_non_leaf_input_starts_to_retain():
    x = leaf([1.0])
    y = x * 2
    y.backward(inputs=[y], retain_graph=True)
    assert y.retains_grad is True and x.grad is None
    same(y.grad, [1.0])
    y.backward()
    same(y.grad, [2.0])
    same(x.grad, [2.0])


def test_bwd_9_odd_inputs():
    x, far = leaf([1.0]), leaf([1.0])
    y = x * x
    y.backward(inputs=[far, x], retain_graph=True)
    assert far.grad is None
    same(x.grad, [2.0])
    with fails("requires_grad=False"):
        y.backward(inputs=[rg.ones(1)])
    with fails("cannot be empty"):
        y.backward(inputs=[])
    same(x.grad, [2.0])


def test_bwd_10_forms_of_inputs():
    def run(make):
        x, z = leaf([2.0]), leaf([3.0])
        (x * z).backward(inputs=make(x))
        assert z.grad is None
        same(x.grad, [3.0])

    for make in (lambda x: x, lambda x: (x,), lambda x: [edge(x)], lambda x: edge(x), lambda x: {"any": x}):
        run(make)
    with pytest.raises(TypeError):
        run(lambda x: types.MappingProxyType({"any": x}))


def test_bwd_11_only_paths_to_the_inputs_run():
    ran = []
    x, z = leaf([1.0]), leaf([2.0])
    a = Named.apply(x, lambda: ran.append("a"))
    b = Named.apply(z, lambda: ran.append("b"))
    c = a * b
    c.backward(inputs=[x], retain_graph=True)
    assert ran == ["a"]
    ran.clear()
    c.backward(inputs=[b], retain_graph=True)
    assert ran == ["b"] and z.grad is None
    ran.clear()
    rg.autograd.grad(c, b, retain_graph=True)
    assert ran == []
    rg.autograd.grad(c, [b, z])
    assert ran == ["b"]


def test_bwd_12_edges_as_roots():
    x = leaf([2.0])
    y = x * x
    backward(edge(y))
    same(x.grad, [4.0])
    z = x * rg.ones(3)
    with fails("grad can be implicitly created only for scalar outputs"):
        backward(edge(z))
    backward([edge(z)], [rg.ones(3)])
    same(x.grad, [7.0])
    backward(edge(x))
    same(x.grad, [8.0])


def test_bwd_13_a_node_runs_once_with_the_sum():
    x, seen = leaf([[1.0, 2.0], [3.0, 4.0]]), []
    a = x * 1
    a.grad_fn.register_prehook(lambda g: seen.append(g[0].tolist()))
    (a.sum() + (a * 2).sum() + (a * 4).sum()).backward()
    assert seen == [[[7.0, 7.0], [7.0, 7.0]]]
    first, second = (x * 1).unbind(0)
    rows = []
    first.grad_fn.register_prehook(lambda g: rows.append([r.tolist() for r in g]))
    (first.sum() + second.sum() * 3 + first.sum()).backward()
    assert rows == [[[2.0, 2.0], [3.0, 3.0]]]


def test_bwd_14_latest_created_runs_first():
    ran, x = [], leaf([1.0])
    nodes = [Named.apply(x, lambda i=i: ran.append(i)) for i in range(5)]
    loss = nodes[3] + nodes[0] + nodes[4] + nodes[1] + nodes[2]
    loss.backward()
    assert ran == [4, 3, 2, 1, 0]


def test_bwd_14_a_leaf_accumulates_as_soon_as_it_is_ready():
    ran, x, z = [], leaf([1.0]), leaf([1.0])
    for name, p in (("x", x), ("z", z)):
        p.register_post_accumulate_grad_hook(lambda _, name=name: ran.append(name))
    early = Named.apply(x, lambda: ran.append("early"))
    late = Named.apply(z, lambda: ran.append("late"))
    (early + late).backward()
    assert ran == ["late", "z", "early", "x"]


def test_bwd_15_roots_may_depend_on_each_other_or_repeat():
    x = leaf([3.0])
    y = x * x
    z = y * 2
    backward([z, y])
    same(x.grad, [18.0])
    x.grad = None
    z = x * x
    backward([z, z], [None, rg.full((1,), 10.0)])
    same(x.grad, [66.0])
    x.grad = None
    backward([x, x * 2])
    same(x.grad, [3.0])


def test_bwd_16_grad_variables_is_an_old_name():
    x = leaf([1.0, 2.0])
    with warns("grad_variables", kind=FutureWarning):
        backward(x * 2, grad_variables=rg.ones(2))
    same(x.grad, [2.0, 2.0])
    with warns("grad_variables", kind=FutureWarning), fails("grad_tensors", "grad_variables"):
        backward(x * 2, rg.ones(2), grad_variables=rg.ones(2))


class Returns(rg.autograd.Function):
    """Its backward returns whatever `make` says."""

    @staticmethod
    def forward(ctx, x, make):
        ctx.make = make
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return ctx.make(g), None


def test_bwd_17_gradients_are_validated():
    x = leaf([1.0, 2.0])
    for shape in ((3,), (), (1,), (1, 1)):
        with fails("returned an invalid gradient at index 0", "expected shape compatible with [2]"):
            Returns.apply(x, lambda g, shape=shape: rg.ones(shape)).sum().backward()
    assert x.grad is None


def test_bwd_17_larger_gradients_are_summed_and_cast():
    x = leaf([1.0, 2.0])
    Returns.apply(x, lambda g: rg.full((3, 2), 2.0, dtype=rg.float64)).sum().backward()
    assert x.grad.dtype == rg.float32
    close(x.grad, [6.0, 6.0])
    y = leaf([[1.0], [2.0]])
    Returns.apply(y, lambda g: rg.ones(4, 2, 5)).sum().backward()
    same(y.grad, [[20.0], [20.0]])


def test_bwd_8_gradients_of_one_root_are_summed_in_the_mode_of_the_pass():
    x = leaf([1.0])
    y = x * 1
    assert not rg.autograd.grad([y, y], y, [x, x])[0].requires_grad
    y = x * 1
    with rg.no_grad():
        (g,) = rg.autograd.grad([y, y], x, [x.view(1).clone().requires_grad_(), x], create_graph=True)
    assert g.requires_grad


def test_bwd_7_a_base_written_through_a_view_runs_once():
    y = leaf([1.0, 2.0]) + 0
    y[0] = 2.0
    y.sum().backward()
    with fails("backward through the graph a second time"):
        y.sum().backward()


FLAT = {
    "relu": lambda x: x.relu(),
    "pow 1": lambda x: x.pow(1),
    "pow 1.0": lambda x: x.pow(1.0),
    "nll_loss": lambda x: rg.nn.functional.nll_loss(x, rg.tensor([0, 1])),
}


@pytest.mark.parametrize("name", FLAT)
def test_bwd_8_a_second_derivative_that_is_zero_exists(name):
    x = leaf([[1.0, -2.0], [3.0, 4.0]])
    (g,) = rg.autograd.grad(FLAT[name](x).sum(), x, create_graph=True)
    assert g.requires_grad
    (g * g).sum().backward()
    same(x.grad, [[0.0, 0.0], [0.0, 0.0]])


def test_bwd_8_the_third_derivative_of_a_square():
    for f in (lambda x: x**2, lambda x: x.square(), lambda x: x.pow(2.0)):
        x = leaf([1.0, -2.0])
        (g,) = rg.autograd.grad(f(x).sum(), x, create_graph=True)
        (h,) = rg.autograd.grad(g.sum(), x, create_graph=True)
        same(h, [2.0, 2.0])
        (third,) = rg.autograd.grad(h.sum(), x, create_graph=True)
        same(third, [0.0, 0.0])


def test_bwd_8_a_gradient_penalty_on_relu():
    w, x = leaf([[1.0, -1.0], [2.0, 3.0]]), leaf([[1.0, 0.5]])
    (g,) = rg.autograd.grad((x @ w).relu().sum(), x, create_graph=True)
    same(g, [[0.0, 5.0]])
    (g * g).sum().backward()
    same(w.grad, [[0.0, 0.0], [10.0, 10.0]])
    same(x.grad, [[0.0, 0.0]])


def test_bwd_8_gradients_that_do_not_depend_on_anything_carry_no_graph():
    for f in (lambda x: x.max(0)[0], lambda x: x.min(1)[0], lambda x: x[:1].cumprod(0)):
        x = leaf([[1.0, -2.0], [3.0, 4.0]])
        (g,) = rg.autograd.grad(f(x).sum(), x, create_graph=True)
        assert not g.requires_grad
