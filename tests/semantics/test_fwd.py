"""FWD: forward mode: levels, dual tensors, and tangents through views and in-place ops."""

import threading

import pytest

from . import array, beyond, close, fails, leaf, rg, same

fwd = rg.autograd.forward_ad
grad = rg.autograd.grad
dual, unpack, level = fwd.make_dual, fwd.unpack_dual, fwd.dual_level
Function = rg.autograd.Function


def tangent(t, **kwargs):
    return unpack(t, **kwargs).tangent


def push(f, x, t=None):
    """The derivative of f at x along t, along ones unless told."""
    with level():
        return tangent(f(dual(x, rg.ones_like(x) if t is None else t)))


def point(x):
    return rg.tensor(x, dtype=rg.float64)


# ---- FWD-1: levels


def test_fwd_1_outside_any_level():
    x, t = rg.ones(2), rg.ones(2)
    with fails("no level exists"):
        dual(x, t)
    unpacked = unpack(x)
    assert unpacked.primal is x and unpacked.tangent is None
    assert unpack(x, level=0).tangent is None
    with fails("forward AD level", "not the last one"):
        fwd.exit_dual_level(level=0)
    with pytest.raises(RuntimeError):
        fwd.exit_dual_level()
    with pytest.raises(RuntimeError):
        dual(x, t, level=0)


def test_fwd_1_only_the_last_level_can_be_left():
    assert fwd.enter_dual_level() == 0
    x = dual(rg.ones(2), rg.ones(2))
    for other in (1, 5, -1):
        with fails("forward AD level", "not the last one"):
            fwd.exit_dual_level(level=other)
    same(tangent(x), [1.0, 1.0])
    with pytest.raises(RuntimeError):
        dual(rg.ones(2), rg.ones(2), level=1)
    fwd.exit_dual_level(level=0)


NESTING = beyond("Nested forward mode AD is not supported")


@NESTING
def test_fwd_1_levels_nest():
    x = point(3.0)
    with level() as outer:
        a = dual(x, point(1.0))
        with level() as inner:
            assert (outer, inner, fwd._current_level) == (0, 1, 1)
            b = dual(a, point(10.0))
            y = b * b * b
            same(tangent(y), 270.0)  # the innermost level, along 10
            same(tangent(y, level=outer), 27.0)
            same(unpack(y).primal, 27.0)
            same(tangent(unpack(y).primal, level=outer), 27.0)
            same(tangent(tangent(y), level=outer), 180.0)
            same(tangent(tangent(y, level=outer), level=inner), 180.0)
            assert tangent(unpack(y, level=outer).primal, level=outer) is None
            with fails("forward AD level", "not the last one"):
                fwd.exit_dual_level(level=outer)
        assert fwd._current_level == outer
        assert tangent(y, level=inner) is None
        same(tangent(y), 27.0)
        same(tangent(a), 1.0)
    assert fwd._current_level == -1


@NESTING
def test_fwd_1_a_block_leaves_the_levels_that_were_left_open_inside():
    with pytest.raises(ZeroDivisionError), level():
        fwd.enter_dual_level()
        fwd.enter_dual_level()
        raise ZeroDivisionError
    assert fwd._current_level == -1
    with level() as number:
        assert number == 0


@NESTING
def test_fwd_1_one_manager_can_be_entered_twice():
    manager = level()
    with manager as outer, manager as inner:
        assert (outer, inner) == (0, 1)
    assert fwd._current_level == -1


@NESTING
def test_fwd_1_duals_of_an_outer_level_may_be_primal_or_tangent_of_an_inner_one():
    with level():
        a = dual(point(2.0), point(1.0))
        with level():
            assert tangent(a) is None  # of the inner level
            b = dual(point(5.0), a)  # moves along a, which moves itself
            t = tangent(b * b)
            same(t, 20.0)
            same(tangent(t, level=0), 10.0)
            with fails("same level"):
                dual(b, a)
            with fails("same level"):
                dual(point(5.0), b)


@NESTING
def test_fwd_1_levels_opened_inside_a_function():
    """A Function does not see the levels around it; those that it opens work, and stay apart from them."""

    class Slope(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return push(lambda y: y * y * y, x)

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return push(lambda y: 3 * y * y, x) * t

    with level():
        y = Slope.apply(dual(point(2.0), point(10.0)))
        same(y, 12.0)
        same(tangent(y), 120.0)
        with level():
            same(tangent(Slope.apply(dual(point(2.0), point(10.0)))), 120.0)
    same(Slope.apply(point(2.0)), 12.0)


# ---- FWD-2: leaving a level


def test_fwd_2_leaving_deletes_all_tangents():
    assert fwd._current_level == -1
    with level() as number:
        assert number == 0 and fwd._current_level == 0
        x = dual(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0]))
        y, part = x * x, x[1:]
        t = tangent(y)
    assert fwd._current_level == -1
    for left, values in ((x, [1.0, 2.0]), (y, [1.0, 4.0]), (part, [2.0])):
        same(left, values)
        assert unpack(left).tangent is None
    same(t, [6.0, 16.0])
    with level():  # has the same number, and is another level
        for left in (x, y, part):
            assert tangent(left) is None
        assert tangent(x * 2) is None
        same(tangent(dual(x, rg.ones(2)) * 2), [2.0, 2.0])


def test_fwd_2_an_exception_leaves_the_level():
    with pytest.raises(ZeroDivisionError), level():
        1 / 0  # noqa: B018
    assert fwd._current_level == -1


# ---- FWD-3: make_dual


def test_fwd_3_a_dual_is_a_new_view_of_the_primal():
    x, t = rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])
    with level():
        d = dual(x, t)
        assert d is not x and d._is_view() and d._base is x
        assert d.data_ptr() == x.data_ptr()
        assert tangent(x) is None and tangent(x * 2) is None
        assert tangent(d) is t
        before = x._version
        d.add_(1)
        assert d._version == x._version == before + 1
        same(x, [2.0, 3.0])


def test_fwd_3_the_tangent_takes_the_layout_of_the_primal():
    x = rg.zeros(2, 3)
    fits, turned = rg.ones(2, 3), rg.tensor([[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]).t()
    with level():
        assert tangent(dual(x, fits)) is fits
        assert tangent(dual(turned, turned)) is turned
        t = tangent(dual(x, turned))
        assert t is not turned and t.stride() == x.stride() == (3, 1)
        same(t, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
        t.zero_()
        same(turned, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
        expanded = rg.ones(1).expand(2)
        t = tangent(dual(rg.zeros(2), expanded))
        assert t is not expanded and t.stride() == (1,)


# ---- FWD-4: what can be a dual


def test_fwd_4_refusals():
    x, t, whole = rg.ones(2), rg.ones(2), rg.tensor([1, 2])
    with level():
        with fails("Expected primal to be floating point or complex", "int64", kind=ValueError):
            dual(whole, t)
        with fails("Expected tangent to be floating point or complex", "int64", kind=ValueError):
            dual(x, whole)
        with fails("Expected primal to be floating point or complex", "bool", kind=ValueError):
            dual(x > 0, t)
        for other in (rg.ones(3), rg.ones(1), rg.ones(()), rg.ones(1, 2)):
            with fails("different size than that of the original Tensor"):
                dual(x, other)
        d = dual(x, t)
        with fails("already has a forward gradient at the same level"):
            dual(d, t)
        with fails("itself has a forward gradient at the same level"):
            dual(x, d)


def test_fwd_4_dtypes_are_not_compared():
    with level():
        t = tangent(dual(rg.ones(2), rg.ones(2, dtype=rg.float64)))
        assert t.dtype == rg.float64


def test_fwd_4_complex_duals():
    with level():
        z = dual(rg.tensor([1 + 2j]), rg.tensor([3j]))
        same(tangent(z), [3j])
        assert tangent(dual(rg.ones(1), rg.tensor([1j]))).is_complex()


# ---- FWD-5: unpack_dual


def test_fwd_5_the_parts():
    x, t = rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])
    with level():
        d = dual(x, t)
        parts = unpack(d)
        assert type(parts) is fwd.UnpackedDualTensor and parts._fields == ("primal", "tangent")
        primal, stored = parts
        assert parts.primal is primal and parts.tangent is stored is t
        assert primal is not d and primal.data_ptr() == x.data_ptr() and primal._is_view() and primal._base is x
        assert tangent(primal) is None
        plain = unpack(x)
        same(plain.primal, [1.0, 2.0])
        assert plain.tangent is None
        dual(primal, rg.ones(2))  # no dual any more


def test_fwd_5_both_parts_are_differentiable_in_reverse_mode():
    x, t = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with level():
        primal, pushed = unpack(dual(x, t) * 5)
        same(grad(primal, x, rg.tensor([1.0, 10.0]))[0], [5.0, 50.0])
        same(grad(pushed, t, rg.tensor([1.0, 10.0]))[0], [5.0, 50.0])
        primal, stored = unpack(dual(x, t))
        assert primal.requires_grad and stored is t
        same(grad(primal, x, rg.ones(2))[0], [1.0, 1.0])


# ---- FWD-6: views

VIEWS = [
    ("select", lambda d: d[1]),
    ("slice", lambda d: d[:, 1:]),
    ("transpose", lambda d: d.t()),
    ("view", lambda d: d.view(-1)),
    ("reshape", lambda d: d.reshape(3, 2)),
    ("expand", lambda d: d.unsqueeze(0).expand(4, 2, 3)),
    ("diagonal", lambda d: d.diagonal()),
    ("unbind", lambda d: d.unbind(1)[2]),
    ("split", lambda d: d.split(2, dim=1)[0]),
    ("narrow of a view", lambda d: d.t().narrow(0, 1, 2)),
]


@pytest.mark.parametrize("view", [pytest.param(f, id=name) for name, f in VIEWS])
def test_fwd_6_the_tangent_of_a_view_is_a_view_of_the_tangent(view):
    x, t = rg.arange(6.0).reshape(2, 3).clone(), rg.arange(10.0, 16.0).reshape(2, 3).clone()
    with level():
        d = dual(x, t)
        v = view(d)
        same(tangent(v), array(view(t)))
        assert tangent(v)._is_view() and tangent(v)._base is t
        assert tangent(v).stride() == view(t).stride()
        d.mul_(2)
        same(v, array(view(x)))
        same(tangent(v), array(view(t)))
    same(x, array(rg.arange(6.0).reshape(2, 3) * 2))
    same(t, array(rg.arange(10.0, 16.0).reshape(2, 3) * 2))


def test_fwd_6_a_write_to_a_view_is_seen_by_the_dual():
    x, t = rg.tensor([1.0, 2.0, 3.0]), rg.tensor([10.0, 20.0, 30.0])
    with level():
        d = dual(x, t)
        v = d[1:]
        v.mul_(d[:2].clone())
        same(tangent(v), [20.0 * 1 + 2 * 10.0, 30.0 * 2 + 3 * 20.0])
        same(tangent(d), [10.0, 40.0, 120.0])
        assert tangent(d) is t
        d[0] = d[2] * 2
        same(tangent(d), [240.0, 40.0, 120.0])
    same(x, [12.0, 2.0, 6.0])
    same(t, [240.0, 40.0, 120.0])


# ---- FWD-7: in-place on tensors without tangent


def test_fwd_7_a_dual_operand_gives_the_target_a_tangent():
    with level():
        d = dual(rg.tensor([2.0, 3.0]), rg.tensor([1.0, 10.0]))
        y = rg.tensor([5.0, 7.0])
        assert y.mul_(d) is y
        same(y, [10.0, 21.0])
        same(tangent(y), [5.0, 70.0])
        z = rg.zeros(2)
        z.copy_(d)
        same(tangent(z), [1.0, 10.0])
        z.add_(1)
        same(tangent(d), [1.0, 10.0])
        whole = rg.zeros(2, dtype=rg.int64)
        whole.copy_(d)
        assert tangent(whole) is None


@pytest.mark.parametrize(
    "write", [lambda v, d: v.copy_(d), lambda v, d: v.add_(d), lambda v, d: v.__setitem__(slice(None), d)]
)
def test_fwd_7_the_base_of_a_target_gets_zeros_elsewhere(write):
    with level():
        d = dual(rg.tensor([2.0, 3.0]), rg.tensor([1.0, 10.0]))
        base = rg.ones(4)
        v, beside = base[1:3], base[3:]
        write(v, d)
        t = tangent(base)
        same(t, [0.0, 1.0, 10.0, 0.0])
        assert tangent(v)._is_view() and tangent(v)._base is t
        same(tangent(v), [1.0, 10.0])
        v.mul_(2)
        same(tangent(base), [0.0, 2.0, 20.0, 0.0])
        base.mul_(3)
        same(tangent(v), [6.0, 60.0])
        same(tangent(base[2:]), [60.0, 0.0])
        same(beside, [3.0])


# ---- FWD-8: in-place by values without tangent


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda d: d.mul_(3), [3.0, 30.0]),
        (lambda d: d.add_(1), [1.0, 10.0]),
        (lambda d: d.mul_(rg.tensor([2.0, 0.5])), [2.0, 5.0]),
        (lambda d: d.pow_(2), [4.0, 60.0]),
        (lambda d: d.zero_(), [0.0, 0.0]),
        (lambda d: d.fill_(5.0), [0.0, 0.0]),
        (lambda d: d.copy_(rg.ones(2)), [0.0, 0.0]),
        (lambda d: d.__setitem__(0, 9.0), [0.0, 10.0]),
        (lambda d: d[1:].zero_(), [1.0, 0.0]),
        (lambda d: d.clamp_(max=2.5), [1.0, 0.0]),
    ],
)
def test_fwd_8_the_tangent_follows(write, expected):
    t = rg.tensor([1.0, 10.0])
    with level():
        d = dual(rg.tensor([2.0, 3.0]), t)
        write(d)
        same(tangent(d), expected)
        assert tangent(d) is t


# ---- FWD-9: modes


def test_fwd_9_no_grad_keeps_tangents_and_inference_mode_stops_them():
    with level():
        d = dual(rg.tensor([2.0]), rg.tensor([3.0]))
        with rg.no_grad():
            same(tangent(d * d), [12.0])
            same(tangent(dual(rg.ones(1), rg.ones(1)) * 2), [2.0])
        with rg.inference_mode():
            y = d * d
            assert tangent(y) is None
        same(y, [4.0])
        assert tangent(y) is None
        same(tangent(d), [3.0])


def test_fwd_9_what_drops_or_ignores_tangents():
    with level():
        d = dual(rg.tensor([2.0]), rg.tensor([3.0]))
        for dropped in (d.detach(), d.data, d.detach() * 2, (d * 2).detach()):
            assert tangent(dropped) is None
        same(tangent(d * d.detach()), [6.0])
        same(tangent(d.clone()), [3.0])
        assert d.item() == 2.0 and d.tolist() == [2.0] and d.numpy().tolist() == [2.0]
        assert float(d) == 2.0 and bool(d > 1)


def test_fwd_9_the_switch():
    assert fwd._is_fwd_grad_enabled() is True
    with level():
        d = dual(rg.tensor([2.0]), rg.tensor([3.0]))
        with fwd._set_fwd_grad_enabled(False):
            assert fwd._is_fwd_grad_enabled() is False
            y = d * 2
            with fwd._set_fwd_grad_enabled(True):
                same(tangent(d * 2), [6.0])
            assert fwd._is_fwd_grad_enabled() is False
        assert fwd._is_fwd_grad_enabled() is True
        assert tangent(y) is None
        same(tangent(d * 2), [6.0])
        off = fwd._set_fwd_grad_enabled(False)
        assert fwd._is_fwd_grad_enabled() is False
        off.__exit__(None, None, None)
        assert fwd._is_fwd_grad_enabled() is True


# ---- FWD-10: undefined tangents


def test_fwd_10_no_tangent_in_none_out():
    x = rg.tensor([1.0, 2.0])
    with level():
        dual(x, rg.ones(2))
        assert tangent(x * x) is None and tangent(x[0]) is None and tangent(rg.ones(2)) is None


@pytest.mark.parametrize(
    "op",
    [
        lambda d: d > 1,
        lambda d: d == d,
        lambda d: d.argmax(),
        lambda d: d.max(0).indices,
        lambda d: d.to(rg.int64),
        lambda d: d.isnan(),
        lambda d: d.to(rg.bool),
    ],
)
def test_fwd_10_outputs_that_are_not_differentiable_have_none(op):
    with level():
        assert tangent(op(dual(rg.tensor([1.0, 2.0]), rg.ones(2)))) is None


@pytest.mark.parametrize("name", ["round", "sign", "floor", "ceil", "trunc"])
def test_fwd_10_piecewise_constant_ops_give_zeros(name):
    with level():
        same(tangent(getattr(dual(rg.tensor([1.2, -2.7]), rg.ones(2)), name)()), [0.0, 0.0])


def test_fwd_10_missing_tangents_count_as_zero():
    x, t, w = rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0]), rg.tensor([5.0, 6.0])
    with level():
        d = dual(x, t)
        same(tangent(d * w), [15.0, 24.0])
        same(tangent(w * d), [15.0, 24.0])
        same(tangent(w - d), [-3.0, -4.0])
        same(tangent(rg.cat([w, d])), [0.0, 0.0, 3.0, 4.0])
        same(tangent(rg.stack([d, w])), [[3.0, 4.0], [0.0, 0.0]])
        same(tangent(rg.where(rg.tensor([True, False]), d, w)), [3.0, 0.0])
        same(tangent(d @ w), 39.0)
        same(tangent(d + rg.ones(3, 1)), [[3.0, 4.0]] * 3)


# ---- FWD-11: no rule


@pytest.mark.parametrize(
    "op",
    [
        lambda d, out: rg.mul(d, d, out=out),
        lambda d, out: rg.exp(d, out=out),
        lambda d, out: rg.add(rg.ones(2), d, out=out),
    ],
)
def test_fwd_11_out_forms_refuse(op):
    out = rg.zeros(2)
    with level(), fails("Trying to use forward AD with", kind=NotImplementedError):
        op(dual(rg.ones(2), rg.ones(2)), out)
    op(rg.ones(2), out)
    with level():
        op(rg.ones(2), out)
        assert tangent(out) is None


def test_fwd_11_functions_without_a_rule_refuse():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return (g * 2).detach()  # not to be differentiated, so that no jvp can be made from it

    with level():
        with fails("You must implement the jvp function", kind=NotImplementedError):
            Double.apply(dual(rg.ones(2), rg.ones(2)))
        same(Double.apply(rg.ones(2)), [2.0, 2.0])


# ---- FWD-12: dtypes


def test_fwd_12_promotion():
    with level():
        d = dual(rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0]))
        for y, dtype, expected in (
            (d * rg.tensor([2.0, 2.0], dtype=rg.float64), rg.float64, [6.0, 8.0]),
            (d * rg.tensor([2, 3]), rg.float32, [6.0, 12.0]),
            (d * 2, rg.float32, [6.0, 8.0]),
            (d * rg.tensor(2.0, dtype=rg.float64), rg.float32, [6.0, 8.0]),
            (d.to(rg.float64), rg.float64, [3.0, 4.0]),
            (d.sum(dtype=rg.float64), rg.float64, 7.0),
            (rg.cat([d, rg.ones(1, dtype=rg.float64)]), rg.float64, [3.0, 4.0, 0.0]),
        ):
            assert y.dtype == dtype and tangent(y).dtype == dtype
            same(tangent(y), expected)


# ---- FWD-14: decorator and printing


def test_fwd_14_dual_level_decorates():
    levels = []

    @level()
    def derivative(x):
        """Doc."""
        levels.append(fwd._current_level)
        return tangent(dual(x, rg.ones_like(x)) * 3)

    assert derivative.__name__ == "derivative" and derivative.__doc__ == "Doc."
    for _ in range(2):
        same(derivative(rg.ones(2)), [3.0, 3.0])
    assert levels == [0, 0] and fwd._current_level == -1


def test_fwd_14_printing_shows_the_tangent():
    with level():
        d = dual(rg.tensor([1.0]), rg.tensor([2.0]))
        assert repr(d) == "tensor([1.], tangent=tensor([2.]))"
        assert "tangent" not in repr(unpack(d).primal)
    assert "tangent" not in repr(d)


@beyond("levels of torch belong to the process")
def test_fwd_14_levels_belong_to_the_thread():
    seen = []
    with level():
        x = dual(rg.ones(1), rg.ones(1))

        def other():
            seen.append(fwd._current_level)
            seen.append(tangent(x * 2))
            with level() as number:
                seen.append(number)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert seen == [-1, None, 0] and fwd._current_level == 0


# ---- FWD-15: complex


def test_fwd_15_complex_tangents_are_directional_derivatives():
    z, t = rg.tensor([1 + 2j]), rg.tensor([3 - 1j])
    with level():
        d = dual(z, t)
        same(tangent(d * d), [2 * (1 + 2j) * (3 - 1j)])
        same(tangent(d.conj()).resolve_conj(), [3 + 1j])
        same(tangent(d.real), [3.0])
        close(tangent(d.abs()), [(1 * 3 - 2 * 1) / 5**0.5])
        same(tangent(dual(rg.tensor([2.0]), rg.tensor([5.0])) * (1 + 1j)), [5 + 5j])


def test_fwd_6_as_strided_views_share_their_tangents():
    with level():
        d = dual(rg.tensor([1.0, 2.0, 3.0, 4.0]), rg.tensor([1.0, 10.0, 100.0, 1000.0]))
        v = d.as_strided((2,), (2,), 1)
        same(tangent(v), [10.0, 1000.0])
        v.mul_(2)
        same(tangent(d), [1.0, 20.0, 100.0, 2000.0])
        part = d[1:].as_strided((2,), (1,), 2)
        same(tangent(part), [100.0, 2000.0])


def test_fwd_9_a_dual_of_an_inference_tensor_is_no_view():
    x = rg.ones(2)
    with rg.inference_mode():
        inside = rg.ones(2)
        with level():
            dual = fwd.make_dual(inside, rg.ones(2))
            assert not dual._is_view() and dual.is_inference() and dual.data_ptr() == inside.data_ptr()
            assert not fwd.unpack_dual(dual).primal._is_view()
            assert fwd.make_dual(x, x)._base is x


def test_fwd_1_levels_that_are_not_open_are_refused_in_torch_s_words():
    x = rg.ones(2)
    with fails("Dual level must be a positive number."):
        fwd.exit_dual_level()
    with fails("Trying to exit a forward AD level that was not the last one that was created. This is not supported"):
        fwd.exit_dual_level(level=0)
    with fails("Invalid level given to _make_dual"):
        fwd.make_dual(x, x, level=3)
    with level():
        dual = fwd.make_dual(x, x)
        with fails("Setting a forward grad that itself has a forward gradient at the same level0 is not supported."):
            fwd.make_dual(x, dual)
