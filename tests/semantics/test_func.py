"""FUNC: custom Functions."""

import gc
import traceback
import weakref

import pytest

from . import close, fails, leaf, rg, same, warns

Function = rg.autograd.Function
BackwardCFunction = rg.autograd.function.BackwardCFunction
once_differentiable = rg.autograd.function.once_differentiable
grad = rg.autograd.grad
F64 = rg.float64


def function(forward, backward=None, name="Made", **members):
    """A Function subclass from plain functions, for what fits in a line or two."""
    if backward is not None:
        members["backward"] = backward
    members["forward"] = forward
    return type(name, (Function,), {k: staticmethod(v) if callable(v) else v for k, v in members.items()})


class Scale(Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.by = by
        return x * by

    @staticmethod
    def backward(ctx, g):
        return g * ctx.by, None


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


def test_func_1_forward_with_ctx():
    """Keyword arguments are bound to the positions of forward's signature, and then like any other argument."""
    seen = {}

    def forward(ctx, x, by, extra=None):
        seen.update(x=x, extra=extra, needs=ctx.needs_input_grad)
        ctx.by = by
        return x * by

    made, x, extra = function(forward, lambda ctx, *g: (g[0] * ctx.by, None, g[0] * 100)), leaf([2.0]), leaf([7.0])
    y = made.apply(x, 3, extra=extra)
    assert seen["x"] is x and seen["extra"] is extra and seen["needs"] == (True, False, True)
    y.backward()
    same(x.grad, [3.0])
    same(extra.grad, [100.0])
    made = function(forward, lambda ctx, g: (g * ctx.by, None))
    made.apply(by=5, x=x).backward()  # a default left alone counts for nothing here
    assert seen["needs"] == (True, False)
    same(x.grad, [8.0])
    with fails("missing required argument: 'by'", kind=TypeError):
        made.apply(x, extra=extra)
    with fails("got an unexpected keyword argument 'other'", kind=TypeError):
        made.apply(x, 3, other=1)


def test_func_1_forward_with_setup_context():
    seen = []

    def setup_context(ctx, inputs, output):
        seen.append((inputs, output))
        _, ctx.by, ctx.plus = inputs

    made = function(
        lambda x, by=3, plus=0: x * by + plus,
        lambda ctx, g: (g * ctx.by, None, None),
        setup_context=setup_context,
    )
    x = leaf([2.0])
    for args, keywords, want, slope in (
        ((x,), {}, [6.0], [3.0]),
        ((x, 5), {"plus": 1}, [11.0], [5.0]),
        ((x,), {"plus": 1, "by": 4}, [9.0], [4.0]),
    ):
        y = made.apply(*args, **keywords)
        same(y, want)
        inputs, output = seen.pop()
        assert inputs[0] is x and len(inputs) == 3
        same(output, want)
        same(grad(y, x)[0], slope)


def test_func_2_only_direct_positional_tensors_are_tracked():
    x, w = leaf([2.0]), leaf([3.0])
    made = function(lambda ctx, a, box, named: a * box[0] * named["w"], lambda ctx, g: (g, None, None))
    y = made.apply(rg.ones(1), [x], {"w": w})
    assert y.requires_grad is False and y.grad_fn is None
    y = made.apply(x, [w], {"w": w})
    y.backward()
    same(x.grad, [1.0])
    assert w.grad is None
    assert Scale.apply.__self__ is Scale


def test_func_3_forward_runs_without_grad_mode_on_the_original_objects():
    seen = {}

    def forward(ctx, x, c):
        inner = x * c
        seen.update(x=x, c=c, mode=rg.is_grad_enabled(), flags=(x.requires_grad, c.requires_grad, inner.requires_grad))
        return inner

    def raising(ctx, x):
        raise KeyError("inside")

    x, c = leaf([2.0]), rg.ones(1)
    function(forward).apply(x, c)
    assert seen["x"] is x and seen["c"] is c and seen["mode"] is False and seen["flags"] == (True, False, False)
    assert rg.is_grad_enabled() is True
    with pytest.raises(KeyError, match="inside"):
        function(raising).apply(x)
    assert rg.is_grad_enabled() is True
    setup = function(lambda x: x * 1, setup_context=lambda ctx, i, o: seen.update(mode=rg.is_grad_enabled(), out=o))
    y = setup.apply(x)
    assert seen["mode"] is False and y.requires_grad is True
    with rg.no_grad():
        assert setup.apply(x).requires_grad is False
        assert rg.is_grad_enabled() is False


def test_func_4_outputs_and_their_node():
    def forward(ctx, x):
        ctx.note = "set in forward"
        return x * 1, x.argmax(), x > 0, 2 * x

    made, x = function(forward, name="Several"), leaf([2.0])
    a, index, positive, b = made.apply(x)
    assert (a.requires_grad, b.requires_grad) == (True, True)
    assert (index.requires_grad, positive.requires_grad) == (False, False) and index.grad_fn is None
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 3)
    node = a.grad_fn
    assert type(node).__name__ == "SeveralBackward" and isinstance(node, BackwardCFunction)
    assert node.note == "set in forward"
    assert made.apply(rg.ones(1))[0].grad_fn is None
    with rg.no_grad():
        assert made.apply(x)[0].requires_grad is False


def test_func_5_return_values():
    x = leaf([2.0])
    assert isinstance(Scale.apply(x, 2), rg.Tensor)
    one = function(lambda ctx, x: (x * 3,), lambda ctx, g: g).apply(x)
    assert type(one) is tuple and len(one) == 1
    got, thing = [], object()
    y, same_thing, text = function(
        lambda ctx, x: (x * 3, thing, "text"), lambda ctx, *g: (got.append(g), g[0])[1]
    ).apply(x)
    assert same_thing is thing and text == "text"
    y.backward()
    assert len(got[0]) == 3 and got[0][1:] == (None, None)
    same(got[0][0], [1.0])
    inner = []
    listed = function(lambda ctx, x: inner.append(x * 3) or inner).apply(x)
    assert listed is inner and listed[0].requires_grad is False


def test_func_6_save_for_backward():
    x, seen = leaf([2.0]), []

    def saving(*values):
        def forward(ctx, x):
            ctx.save_for_backward(*values)
            seen.append(ctx.saved_tensors)
            return x * 1

        return function(forward)

    node = saving(x, None).apply(x).grad_fn
    assert seen == [()]
    assert node.saved_tensors[0] is x and node.saved_tensors[1] is None
    for bad in (3, [x], "text"):
        with fails("save_for_backward can only save variables", kind=TypeError):
            saving(bad).apply(x)

    def twice(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x, x)
        return x * 1

    assert len(function(twice).apply(x).grad_fn.saved_tensors) == 2


def test_func_7_saved_tensors():
    def forward(ctx, x, c):
        y = x * c
        ctx.save_for_backward(x, c, y)
        ctx.plain = c
        return y

    made, x, c = function(forward, lambda ctx, g: (g * ctx.saved_tensors[1], None)), leaf([2.0]), rg.full((1,), 5.0)
    y = made.apply(x, c)
    sx, sc, sy = y.grad_fn.saved_tensors
    assert sx is x and sc is c and sy.grad_fn is y.grad_fn and sy.requires_grad
    same(sy, [10.0])
    y.backward()
    with fails("backward through the graph a second time"):
        _ = y.grad_fn.saved_tensors
    assert y.grad_fn.plain is c
    z = made.apply(x, c)
    c.add_(1)
    for read in (lambda: z.grad_fn.saved_tensors, z.backward):
        with fails("modified by an inplace operation", "is at version 1; expected version 0 instead"):
            read()
    same(z.grad_fn.plain, [6.0])


def test_func_7_saved_tensor_hooks_act():
    x, log = leaf([3.0]), []
    pack, unpack = lambda t: (log.append("pack"), t.detach())[1], lambda t: (log.append("unpack"), t)[1]
    with rg.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = Square.apply(x)
    y.backward()
    assert log == ["pack", "unpack"]
    same(x.grad, [6.0])


def test_func_8_save_for_forward_takes_tensors():
    def forward(ctx, x):
        ctx.save_for_forward(3)
        return x * 1

    with fails("save_for_forward expects all arguments to be tensors", kind=AssertionError):
        function(forward).apply(leaf([1.0]))


def test_func_8_save_for_forward_feeds_jvp():
    def forward(ctx, x):
        ctx.save_for_forward(x, None)
        return x * x

    def jvp(ctx, t):
        x, none = ctx.saved_tensors
        assert none is None
        return 2 * x * t

    fwd = rg.autograd.forward_ad
    with fwd.dual_level():
        out = function(forward, jvp=jvp).apply(fwd.make_dual(rg.tensor([3.0]), rg.tensor([10.0])))
        same(fwd.unpack_dual(out).tangent, [60.0])


def parts(materialize):
    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        index, still = x.argmax(), x * 3
        ctx.mark_non_differentiable(still)
        return x * 1, x * 2, index, still

    got = []
    return function(forward, lambda ctx, *gs: (got.append(gs), gs[0])[1]), got


def test_func_9_missing_gradients_are_zeros():
    made, got = parts(True)
    x = leaf([1.0, 2.0])
    made.apply(x)[0].sum().backward()
    (used, unused, index, still) = got[0]
    same(used, [1.0, 1.0])
    same(unused, [0.0, 0.0])
    same(still, [0.0, 0.0])
    same(index, 0)
    assert (unused.dtype, index.dtype) == (rg.float32, rg.int64)


def test_func_9_or_none_when_not_materialized():
    made, got = parts(False)
    made.apply(leaf([1.0, 2.0]))[0].sum().backward()
    same(got[0][0], [1.0, 1.0])
    assert got[0][1:] == (None, None, None)


def test_func_9_a_backward_may_make_gradients_of_none():
    made, got = parts(False)
    nothing = function(lambda ctx, x: x * 1, lambda ctx, g: None)
    x = leaf([1.0, 2.0])
    assert grad(nothing.apply(made.apply(x)[0]).sum(), x, allow_unused=True) == (None,)
    assert got == [(None, None, None, None)]

    def backward(ctx, g):
        assert g is None
        return rg.ones(2) * 3

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1

    maker = function(forward, backward)
    same(grad(nothing.apply(maker.apply(x)).sum(), x)[0], [3.0, 3.0])


def test_func_10_number_of_gradients():
    x, w = leaf([2.0]), leaf([3.0])

    def with_result(result, *args):
        return function(lambda ctx, *a: a[0] * 1, lambda ctx, g: result).apply(*args)

    with_result(rg.ones(1), x).backward()
    with_result((rg.ones(1), None, None), x).backward()
    same(x.grad, [2.0])
    with fails("returned an incorrect number of gradients (expected 2, got 1)"):
        with_result(rg.ones(1), x, w).backward()
    with fails("returned an incorrect number of gradients (expected 1, got 2)"):
        with_result((rg.ones(1), rg.ones(1)), x).backward()
    same(x.grad, [2.0])


def test_func_11_none_and_wrong_gradients():
    x, c = leaf([2.0]), rg.ones(1)

    def with_result(*result):
        return function(lambda ctx, *a: a[0] * 1, lambda ctx, g: result)

    with_result(None).apply(x * 1).backward()
    assert x.grad is None
    with fails("the corresponding forward input was not a Variable"):
        with_result(rg.ones(1), rg.ones(1)).apply(x, 3).backward()
    with fails("expected Variable or None"):
        with_result(3).apply(x).backward()
    with_result(rg.ones(1), rg.ones(1) * 5).apply(x, c).backward()
    same(x.grad, [1.0])
    assert c.grad is None


def test_func_12_shapes_and_dtypes_are_reduced():
    x = leaf([[1.0], [2.0]])
    made = function(lambda ctx, x: x * 1, lambda ctx, g: rg.ones(3, 2, 4, dtype=F64))
    (g,) = grad(made.apply(x).sum(), x)
    assert g.dtype == rg.float32
    same(g, [[12.0], [12.0]])
    made = function(lambda ctx, x: x * 1, lambda ctx, g: rg.ones(1, 1))
    with fails("returned an invalid gradient at index 0", "expected shape compatible with"):
        made.apply(x).sum().backward()


def test_func_12_complex_gradient_of_a_real_input():
    x = leaf([1.0])
    made = function(lambda ctx, x: x * 1, lambda ctx, g: rg.ones(1, dtype=rg.complex64))
    with pytest.raises(RuntimeError, match=r"(?i)complex"):
        made.apply(x).backward()


def test_func_13_needs_input_grad():
    seen = []

    def forward(ctx, *args):
        seen.append(ctx.needs_input_grad)
        return args[0] * args[2]

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return g, None, g, None

    x, w, c = leaf([1.0]), leaf([1.0]), rg.ones(1)
    y = function(forward, backward).apply(x, 3, w, c)
    grad(y, w)
    assert seen == [(True, False, True, False)] * 2
    assert type(seen[0]) is tuple and all(type(v) is bool for v in seen[0])


def dirty_function(extra_output=False, returned=True):
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        if not returned:
            return x * 1
        return (x, x * 1) if extra_output else x

    return function(forward, lambda ctx, g, *_: g * 3, name="Triple")


def test_func_14_dirty_inputs():
    x = leaf([2.0])
    y = x * 1
    z = dirty_function().apply(y)
    assert z is y and y.grad_fn.name() == "TripleBackward" and y._version == 2  # the write, and the mark
    same(y, [6.0])
    (y * 5).backward()
    same(x.grad, [15.0])


def test_func_14_dirty_refusals():
    with fails("Some elements marked as dirty"):
        dirty_function(returned=False).apply(leaf([2.0]) * 1)
    with fails("a leaf Variable that requires grad has been used in an in-place operation"):
        dirty_function().apply(leaf([2.0]))

    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    with warns("mark_dirty"):
        function(forward, lambda ctx, g: g * 2).apply(leaf([2.0]))


def test_func_14_a_dirty_view_rebases_its_base():
    x = leaf([1.0, 2.0])
    base = x * 1
    view = base[:1]
    assert dirty_function().apply(view) is view
    assert type(base.grad_fn).__name__ == "CopySlices"
    same(grad(base.sum(), x)[0], [3.0, 1.0])
    with fails("modifies inplace an input that is a view"):
        dirty_function(extra_output=True).apply((x * 1)[:1])


def test_func_15_an_input_returned_as_is():
    made = function(lambda ctx, x: x, lambda ctx, g: g * 7, name="AsIs")
    x = leaf([2.0])
    y = made.apply(x)
    assert y is not x and y.grad_fn.name() == "AsIsBackward" and y.data_ptr() == x.data_ptr()
    assert y._is_view() and y._base is x
    y.backward()
    same(x.grad, [7.0])
    assert x.is_leaf
    c = rg.ones(1)
    fresh = made.apply(c)
    assert fresh is not c and fresh.requires_grad is False and fresh.data_ptr() == c.data_ptr()


def test_func_16_non_differentiable_outputs():
    def forward(ctx, x):
        still = x * 2
        ctx.mark_non_differentiable(still)
        return x * 3, still

    got, x = [], leaf([1.0])
    y, still = function(forward, lambda ctx, *gs: (got.append(gs), gs[0] * 3)[1]).apply(x)
    assert still.requires_grad is False and still.grad_fn is None and y.requires_grad
    (y * still).backward()
    assert len(got[0]) == 2
    same(got[0][1], [0.0])
    same(x.grad, [6.0])


def test_func_17_the_same_tensor_twice():
    def forward(ctx, x):
        y = x * 2
        return y, y

    a, b = function(forward, lambda ctx, g, h: (g + h) * 2).apply(leaf([1.0]))
    assert a is b


def test_func_18_grad_mode_in_backward():
    modes, x = [], leaf([3.0])

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        modes.append(rg.is_grad_enabled())
        return 2 * ctx.saved_tensors[0] * g

    made = function(forward, backward)
    assert grad(made.apply(x), x)[0].requires_grad is False
    (g,) = grad(made.apply(x), x, create_graph=True)
    same(grad(g, x)[0], [2.0])
    assert modes == [False, True]


def test_func_18_once_differentiable():
    modes, x = [], leaf([3.0])

    @once_differentiable
    def backward(ctx, g):
        modes.append(rg.is_grad_enabled())
        return g * 2

    made = function(lambda ctx, x: x * 2, backward)
    (g,) = grad(made.apply(x) ** 2, x, create_graph=True)
    same(g, [24.0])
    assert g.requires_grad is True
    with fails("trying to differentiate twice a function that was marked with @once_differentiable"):
        g.backward()
    (g,) = grad(made.apply(x), x, create_graph=True)
    assert g.requires_grad is False
    assert modes == [False, False]


def test_func_19_vjp_is_backward():
    x = leaf([2.0])
    made = function(lambda ctx, x: x * 5, vjp=lambda ctx, g: g * 5)
    same(grad(made.apply(x), x)[0], [5.0])
    both = function(lambda ctx, x: x * 5, lambda ctx, g: g, vjp=lambda ctx, g: g).apply(x)
    with fails("Implementing both 'backward' and 'vjp'"):
        both.backward()
    neither = function(lambda ctx, x: x * 5).apply(x)
    with fails("You must implement either the backward or vjp method", kind=NotImplementedError):
        neither.backward()
    with fails("You must implement the forward function", kind=NotImplementedError):
        type("Empty", (Function,), {}).apply(x)
    assert x.grad is None


def dual(made, *extra, x=(2.0, 3.0)):
    """The tangent of the function's output at x with tangent 10, computed in forward mode."""
    fwd = rg.autograd.forward_ad
    with fwd.dual_level():
        point = rg.tensor(list(x))
        out = made.apply(fwd.make_dual(point * 1, rg.full_like(point, 10.0)), *extra)
        return fwd.unpack_dual(out).tangent


def test_func_20_jvp():
    seen = []

    def jvp(ctx, *tangents):
        seen.append(tangents)
        return tangents[0] * ctx.by

    def forward(ctx, x, by, w):
        ctx.by = by
        return x * by

    same(dual(function(forward, jvp=jvp), 3, rg.ones(2)), [30.0, 30.0])
    assert seen[0][1] is None
    same(seen[0][2], [0.0, 0.0])

    def bare(ctx, x, by, w):
        ctx.set_materialize_grads(False)
        return forward(ctx, x, by, w)

    dual(function(bare, jvp=jvp), 3, rg.ones(2))
    assert seen[1][1:] == (None, None)


def test_func_20_jvp_made_from_the_backward():
    class Cube(Function):
        @staticmethod
        def forward(x, w, power):
            return (x * w) ** power, w * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, w, ctx.power = inputs
            ctx.save_for_backward(x, w)

        @staticmethod
        def backward(ctx, g, h):
            x, w = ctx.saved_tensors
            slope = ctx.power * (x * w) ** (ctx.power - 1)
            return g * slope * w, (g * slope * x).sum() + h * 2, None

    x, w, t = (rg.tensor(v, dtype=rg.float64) for v in ([2.0, 3.0], 5.0, [1.0, 10.0]))
    (y, _), (dy, dz) = rg.func.jvp(lambda x, w: Cube.apply(x, w, 3), (x, w), (t, rg.ones_like(w)))
    same(y, [1000.0, 3375.0])
    same(dy, [3 * 100.0 * (5.0 + 2.0), 3 * 225.0 * (50.0 + 3.0)])
    same(dz, 2.0)
    # Both orders, and both mixes, of two derivatives; the function is cubic in x.
    f = lambda x: Cube.apply(x, w, 3)[0].sum()  # noqa: E731
    second = 6 * 125.0 * rg.tensor([2.0, 3.0], dtype=rg.float64)
    for outer in (rg.func.jacfwd, rg.func.jacrev):
        for inner in (rg.func.jacfwd, rg.func.jacrev):
            close(outer(inner(f))(x), second * rg.eye(2, dtype=rg.float64), rtol=1e-12)


def test_func_20_no_jvp_to_be_made():
    noisy = function(lambda ctx, x: x * rg.rand(2), lambda ctx, g: g * 2)
    state = rg.get_rng_state()
    with fails("draws random numbers", kind=NotImplementedError):
        dual(noisy)
    rg.set_rng_state(state)

    def write(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    with fails("You must implement the jvp function", kind=NotImplementedError):
        dual(function(write, lambda ctx, g: g * 3))


def test_func_20_jvp_errors():
    with pytest.raises(NotImplementedError):
        dual(function(lambda ctx, x: x * 3))
    with fails("invalid number of forward gradients"):
        dual(function(lambda ctx, x: x * 3, jvp=lambda ctx, t: (t, t)))
    with fails("the jvp is not returning a view"):
        dual(function(lambda ctx, x: x.view(2), jvp=lambda ctx, t: t * 1))
    with pytest.raises(RuntimeError, match="size"):
        dual(function(lambda ctx, x: x * 3, jvp=lambda ctx, t: rg.ones(3)))

    def dirty(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    with fails("must modify the corresponding gradient inplace"):
        dual(function(dirty, jvp=lambda ctx, t: t * 3))
    same(dual(function(dirty, jvp=lambda ctx, t: t.mul_(3))), [30.0, 30.0])


def test_func_21_under_transforms():
    vmap, x = rg.func.vmap, rg.ones(3, 2)
    with fails("it must override the setup_context staticmethod"):
        vmap(Square.apply)(x)
    setup = {"setup_context": lambda ctx, inputs, output: None}
    with fails("does not have vmap support"):
        vmap(function(lambda x: x * 2, **setup).apply)(x)
    with fails("has both generate_vmap_rule=True and an overridden vmap"):
        both = function(lambda x: x * 2, vmap=lambda *a: a, generate_vmap_rule=True, **setup)
        vmap(both.apply)(x)
    same(vmap(function(lambda x: x * 2, generate_vmap_rule=True, **setup).apply)(x), rg.full((3, 2), 2.0))


def test_func_22_the_vmap_method():
    seen = []

    def rule(info, in_dims, x, by):
        seen.append((info.batch_size, info.randomness, in_dims))
        return x * by, in_dims[0]

    made = function(lambda x, by: x * by, setup_context=lambda ctx, i, o: None, vmap=rule)
    same(rg.func.vmap(made.apply, in_dims=(1, None))(rg.ones(2, 3), 5), rg.full((3, 2), 5.0))
    assert seen == [(3, "error", (1, None))]


def test_func_23_instances_are_legacy():
    with warns("should not be instantiated", kind=DeprecationWarning):
        instance = Square()
    with fails("Legacy autograd function with non-static forward method is deprecated"):
        instance(leaf([1.0]))
    inplace = rg.autograd.function.InplaceFunction
    for flag in (True, False):
        with warns("should not be instantiated", kind=DeprecationWarning):
            assert inplace(flag).inplace is flag
    assert {"forward", "backward", "save_for_backward", "mark_dirty", "mark_non_differentiable"} <= set(
        dir(rg.autograd.function.NestedIOFunction)
    )


def test_func_24_exceptions_keep_their_traceback():
    def culprit(*_):
        raise KeyError("why")

    x = leaf([1.0])
    attempts = [
        lambda: function(culprit).apply(x),
        lambda: function(lambda x: x * 1, setup_context=culprit).apply(x),
        lambda: function(lambda ctx, x: x * 1, culprit).apply(x).backward(),
    ]
    for attempt in attempts:
        with pytest.raises(KeyError, match="why") as caught:
            attempt()
        assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "culprit"
    assert rg.is_grad_enabled()


def test_func_24_exceptions_in_jvp():
    def culprit(*_):
        raise KeyError("why")

    with pytest.raises(KeyError, match="why"):
        dual(function(lambda ctx, x: x * 1, jvp=culprit))


def test_func_25_one_node_class_per_function():
    x = leaf([1.0])
    assert Square._backward_cls is Square._backward_cls
    assert type(Square.apply(x).grad_fn) is type(Square.apply(x).grad_fn) is Square._backward_cls
    assert Square._backward_cls is not Scale._backward_cls and Square._backward_cls.__name__ == "SquareBackward"
    derived = type("Derived", (Square,), {})
    assert type(derived.apply(x).grad_fn) is derived._backward_cls is not Square._backward_cls


def test_func_25_saved_tensors_make_no_cycle():
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    gc.collect()
    gc.disable()
    try:
        y = function(forward).apply(leaf([1.0]))
        watch = weakref.ref(y.grad_fn)
        del y
        assert watch() is None
    finally:
        gc.enable()
