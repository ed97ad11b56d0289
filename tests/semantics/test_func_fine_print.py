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
