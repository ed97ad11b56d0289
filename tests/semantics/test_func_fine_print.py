"""FUNC: what custom Functions keep, and their tangents, in the fine print."""

from . import fails, leaf, rg, same, warns
from .test_func import function


def test_func_7_nothing_saved_is_freed_like_something():
    made = function(lambda ctx, x: x * 2, lambda ctx, g: (g * 2, ctx.saved_tensors)[0])
    y = made.apply(leaf([3.0]))
    assert y.grad_fn.saved_tensors == ()
    y.backward()
    with fails("already been freed"):
        _ = y.grad_fn.saved_tensors


def test_func_20_results_that_are_not_differentiable_have_no_tangents():
    forward_ad = rg.autograd.forward_ad

    def forward(ctx, x):
        y, z = x * 2, x + 1
        ctx.mark_non_differentiable(z)
        return y, z, x > 0, 3

    def made(*more):
        return function(forward, lambda ctx, *gs: gs[0] * 2, jvp=lambda ctx, t: (t * 2, *more))

    for x in (leaf([1.0, 2.0]), rg.tensor([1.0, 2.0])):
        with forward_ad.dual_level():
            d = forward_ad.make_dual(x, rg.tensor([5.0, 7.0]))
            y, z, mask, three = made(None, None, None).apply(d)
            same(forward_ad.unpack_dual(y).tangent, [10.0, 14.0])
            assert [forward_ad.unpack_dual(t).tangent for t in (z, mask)] == [None, None] and three == 3
            for wrong, at in (((d, None, None), 1), ((None, d, None), 2)):
                with fails(f"jvp returned a gradient at position {at}", "return None at that position"):
                    made(*wrong).apply(d)


def test_func_20_a_view_of_something_new_needs_no_tangent_that_is_a_view():
    forward_ad = rg.autograd.forward_ad

    def backward(ctx, g):
        return g.view(2)

    fresh = function(lambda ctx, x: x.clone().view(2, 1), backward, jvp=lambda ctx, t: t.clone().view(2, 1).clone())
    view = function(lambda ctx, x: x.view(2, 1), backward, jvp=lambda ctx, t: t.view(2, 1).clone())
    with forward_ad.dual_level():
        d = forward_ad.make_dual(rg.ones(2), rg.tensor([5.0, 7.0]))
        same(forward_ad.unpack_dual(fresh.apply(d)).tangent, [[5.0], [7.0]])
        with fails("is returning a view", "the jvp is not returning a view"):
            view.apply(d)
        with fails("the jvp is not returning a view"):
            view.apply(d[:])


def test_func_8_what_is_saved_for_forward_is_there_for_jvp_alone():
    forward_ad, seen = rg.autograd.forward_ad, {}

    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x * 10)
        seen["forward"] = [t.tolist() for t in ctx.saved_tensors]
        return x * 2

    def backward(ctx, g):
        seen["backward"] = [t.tolist() for t in ctx.saved_tensors]
        return g * 2

    def jvp(ctx, t):
        seen["jvp"] = [t.tolist() for t in ctx.saved_tensors]
        return t * 2

    with forward_ad.dual_level():
        y = function(forward, backward, jvp=jvp).apply(forward_ad.make_dual(leaf([1.0]), rg.ones(1)))
        same(y.grad_fn.saved_tensors[0], [1.0])
    y.backward()
    assert seen == {"forward": [[10.0]], "jvp": [[10.0]], "backward": [[1.0]]}

    def nothing_for_forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    with forward_ad.dual_level():
        function(nothing_for_forward, backward, jvp=jvp).apply(forward_ad.make_dual(leaf([1.0]), rg.ones(1)))
    assert seen["jvp"] == []


def test_func_14_a_dirty_tensor_that_is_no_input():
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    made = function(forward, lambda ctx, g: g * 2)
    x = leaf([1.0])
    with warns("received a tensor that was not an input", "should be passed to ctx.mark_dirty()"):
        y = made.apply(x)
    y.backward()
    same(x.grad, [2.0])

    def not_returned(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2).clone()

    for argument in (leaf([1.0]) * 1, rg.ones(1)):  # requires grad or not
        with fails("Some elements marked as dirty during the forward method were not returned as output"):
            function(not_returned, lambda ctx, g: g * 2).apply(argument)


def test_func_1_any_number_of_arguments_by_position_and_by_name():
    seen = []

    class Weighted(rg.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            seen.append(args)
            ctx.count = len(args)
            return args[0] * 2 if args else 7

        @staticmethod
        def backward(ctx, *grads):
            assert len(grads) == 1
            return (2 * grads[0],) + (None,) * (ctx.count - 1)

    assert Weighted.apply() == 7 and seen.pop() == ()
    for count in range(1, 8):
        x = leaf([1.0])
        args = (x, *range(1, count))
        Weighted.apply(*args).backward()
        assert seen.pop() == args
        same(x.grad, [2.0])

    class Outputs(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return tuple(x * n for n in range(5))

        @staticmethod
        def backward(ctx, *grads):
            seen.append(len(grads))
            return sum(n * g for n, g in enumerate(grads))

    x = leaf([1.0])
    rg.stack(Outputs.apply(x)).sum().backward()
    same(x.grad, [10.0])
    assert seen == [5]

    class Named(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, shift=0):
            return x * factor + shift

        @staticmethod
        def backward(ctx, g):
            return (g * 3,) + (None,) * (len(ctx.needs_input_grad) - 1)

    for args, named in (
        ((x, 3), {}),
        ((x,), {"factor": 3}),
        ((), {"factor": 3, "x": x}),
        ((x,), {"shift": 0, "factor": 3}),
    ):
        y = Named.apply(*args, **named)
        same(y, [3.0])
        same(rg.autograd.grad(y, x)[0], [3.0])
    named = {}
    same(Named.apply(x, 3, **named), [3.0])
    with fails("missing required argument: 'factor'", kind=TypeError):
        Named.apply(x, shift=1)


def test_func_1_methods_that_are_replaced_later_count():
    class Mixin:
        @staticmethod
        def forward(ctx, x):
            return x * 2

    class Base(rg.autograd.Function):
        @staticmethod
        def backward(ctx, g):
            return g * 2

    class Used(Mixin, Base):
        pass

    def run():
        x = leaf([1.0])
        y = Used.apply(x)
        y.backward()
        return y.item(), x.grad.item()

    assert run() == (2.0, 2.0)
    Mixin.forward = staticmethod(lambda ctx, x: x * 3)
    assert run() == (3.0, 2.0)
    Base.backward = staticmethod(lambda ctx, g: g * 3)
    assert run() == (3.0, 3.0)
    type.__setattr__(Used, "forward", staticmethod(lambda x: x * 4))
    Used.setup_context = staticmethod(lambda ctx, inputs, output: None)
    assert run() == (4.0, 3.0)
    del Used.setup_context, Used.forward
    assert run() == (3.0, 3.0)


def test_func_25_a_node_class_that_does_more_when_it_is_called():
    made = []
    square = function(lambda ctx, x, y: x * y, lambda ctx, g: (g * ctx.factor, None))
    plain = square._backward_cls

    class New(plain):
        def __new__(cls):
            made.append("new")
            self = super().__new__(cls)
            self.factor = 2
            return self

    class Init(plain):
        def __init__(self):
            made.append("init")
            self.factor = 3

    class Meta(type):
        def __call__(cls):
            made.append("call")
            self = super().__call__()
            self.factor = 4
            return self

    class Called(plain, metaclass=Meta):
        pass

    for cls, what, factor in (New, "new", 2), (Init, "init", 3), (Called, "call", 4):
        square._backward_cls = cls
        x = leaf([1.0])
        y = square.apply(x, rg.ones(1))
        assert type(y.grad_fn) is cls and made.pop() == what and not made
        assert y.grad_fn.needs_input_grad == (True, False)
        assert y.grad_fn.needs_input_grad is y.grad_fn.needs_input_grad
        y.backward()
        same(x.grad, [factor])
    assert plain().needs_input_grad is None
