"""HOOK: hooks on tensors, leaves, nodes and groups of tensors; their order and their lifetime."""

import gc
import threading

import pytest

from . import beyond, fails, leaf, rg, same

grad = rg.autograd.grad
edge = rg.autograd.graph.get_gradient_edge
multi = rg.autograd.graph.register_multi_grad_hook


def test_hook_1_kinds_and_their_arguments():
    x, seen = leaf([2.0]), {}
    y = x * 3
    y.register_hook(lambda *a: seen.update(tensor=a))
    x.register_post_accumulate_grad_hook(lambda *a: seen.update(post_accumulate=a))
    y.grad_fn.register_prehook(lambda *a: seen.update(pre=a))
    y.grad_fn.register_hook(lambda *a: seen.update(post=a))
    multi([x, y], lambda *a: seen.update(multi=a))
    (y * 5).backward()
    (g,) = seen["tensor"]
    same(g, [5.0])
    assert seen["post_accumulate"][0] is x
    ((g,),) = seen["pre"]
    same(g, [5.0])
    (first, constant), (g,) = seen["post"]
    assert constant is None
    same(first, [15.0])
    same(g, [5.0])
    ((gx, gy),) = seen["multi"]
    same(gx, [15.0])
    same(gy, [5.0])


def test_hook_2_order_for_a_non_leaf():
    x, order = leaf([1.0]), []
    y = x * 2
    z = y * 3
    y.grad_fn.register_hook(lambda *_: order.append("post"))
    y.grad_fn.register_prehook(lambda g: (order.append(("pre", g[0].item())), (g[0] * 10,))[1])
    y.retain_grad()
    y.register_hook(lambda g: (order.append(("tensor", g.item())), g + 1)[1])
    z.backward()
    assert order == [("tensor", 3.0), ("pre", 4.0), "post"]
    same(y.grad, [4.0])  # sees the tensor hook, not the pre-hook
    same(x.grad, [80.0])


def test_hook_2_order_for_a_leaf():
    x, order = leaf([1.0]), []
    node = edge(x).node
    node.register_hook(lambda *_: order.append(("post", x.grad.item())))
    x.register_post_accumulate_grad_hook(lambda p: order.append(("post accumulate", p.grad.item())))
    node.register_prehook(lambda g: (order.append(("pre", x.grad)), (g[0] * 10,))[1])
    x.register_hook(lambda g: (order.append(("tensor", x.grad)), g + 1)[1])
    (x * 3).backward()
    assert order == [("tensor", None), ("pre", None), ("post accumulate", 40.0), ("post", 40.0)]


def test_hook_3_registration_order_and_chaining():
    x = leaf([1.0])
    y = x * 1
    y.retain_grad()
    y.register_hook(lambda g: g + 1)
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: None)
    y.grad_fn.register_prehook(lambda g: (g[0] - 5,))
    y.grad_fn.register_prehook(lambda g: (g[0] * 100,))
    y.grad_fn.register_hook(lambda i, o: (i[0] + 7, None))
    y.grad_fn.register_hook(lambda i, o: (i[0] * 2, None))
    y.backward()
    same(y.grad, [20.0])
    same(x.grad, [3014.0])


@pytest.mark.parametrize(
    ("result", "kind", "fragment"),
    [
        (3, TypeError, "expected Variable, but hook returned"),
        ("text", TypeError, "expected Variable, but hook returned"),
        (rg.ones(3), RuntimeError, "has changed the size of value"),
        (rg.tensor(1.0), RuntimeError, "has changed the size of value"),
        (rg.ones(2, dtype=rg.float64), RuntimeError, "has changed the type of value"),
    ],
)
def test_hook_4_what_a_tensor_hook_may_return(result, kind, fragment):
    x = leaf([1.0, 2.0])
    for target in (x, x * 1):
        handle = target.register_hook(lambda g: result)
        with fails(fragment, kind=kind):
            (target * 2).sum().backward()
        handle.remove()
    assert x.grad is None


def test_hook_5_what_a_node_hook_may_return():
    x, w = leaf([2.0]), leaf([3.0])
    for register in ("register_hook", "register_prehook"):
        for result, kind, fragment in (
            (rg.ones(1), TypeError, "expected tuple, but hook returned"),
            ([rg.ones(1)], TypeError, "expected tuple, but hook returned"),
            ((rg.ones(1),) * 3, RuntimeError, "has returned an incorrect number of values"),
        ):
            y = x * w
            getattr(y.grad_fn, register)(lambda *_, result=result: result)
            with fails(fragment, kind=kind):
                y.backward()
    assert x.grad is None and w.grad is None
    y = x * w
    y.grad_fn.register_hook(lambda i, o: (None, i[1] * 10))
    y.backward()
    same(w.grad, [20.0])
    assert x.grad is None
    x.register_post_accumulate_grad_hook(lambda p: p.grad)
    with fails("hooks should return None"):
        (x * 1).backward()


def test_hook_6_a_leaf_hook_sees_the_total_once():
    x, seen = leaf([1.0]), []
    x.grad = rg.full((1,), 100.0)
    x.register_hook(lambda g: (seen.append((g.item(), x.grad.item())), g * 10)[1])
    (x * 2 + x * 3).backward()
    assert seen == [(5.0, 100.0)]
    same(x.grad, [150.0])


def test_hook_7_which_hooks_run():
    x, ran = leaf([1.0]), []
    a = x * 1
    b = a * 1
    for name, t in (("x", x), ("a", a), ("b", b)):
        t.register_hook(lambda g, name=name: ran.append(name))
        edge(t).node.register_prehook(lambda g, name=name: ran.append(name + " pre"))
        edge(t).node.register_hook(lambda *_, name=name: ran.append(name + " post"))
    keep = edge(x).node
    grad(b, a, retain_graph=True)
    assert ran == ["b", "b pre", "b post", "a"]
    ran.clear()
    grad(b, x, retain_graph=True)
    assert ran == ["b", "b pre", "b post", "a", "a pre", "a post", "x"]
    ran.clear()
    b.backward()
    assert ran == [f"{t}{h}" for t in "bax" for h in ("", " pre", " post")]
    assert keep.variable is x


def test_hook_8_hooks_may_be_called_with_none():
    x, seen = leaf([1.0, 2.0, 3.0]), []
    first, second, _ = (x * 1).unbind(0)
    first.register_hook(lambda g: seen.append(("first", g)))
    second.register_hook(lambda g: seen.append(("second", g)))
    first.grad_fn.register_prehook(lambda g: seen.append([t is None for t in g]))
    (first * 5).backward()
    assert seen[-1] == [False, True, True]
    tensors = dict(seen[:-1])
    assert len(seen) == 3 and tensors["second"] is None
    same(tensors["first"], 5.0)
    same(x.grad, [5.0, 0.0, 0.0])


def test_hook_9_hooks_stay_with_the_old_node():
    x, seen = leaf([1.0]), {}
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: seen.update(before=g.item()))
    y.mul_(3)
    y.register_hook(lambda g: seen.update(after=g.item()))
    (y * 5).backward()
    assert seen == {"before": 15.0, "after": 5.0}
    same(y.grad, [5.0])
    same(x.grad, [30.0])


def test_hook_10_a_rebased_view_loses_its_hooks():
    x, seen = leaf([1.0, 2.0]), []
    base = x * 1
    view = base[:1]
    view.register_hook(lambda g: seen.append("before"))
    view.mul_(3)
    view.register_hook(lambda g: seen.append("after"))
    view.sum().backward()
    assert seen == ["after"]
    same(x.grad, [3.0, 0.0])


def test_hook_11_where_hooks_may_be_registered():
    plain, y = rg.ones(1), leaf([1.0]) * 2
    with fails("cannot register a hook on a tensor that doesn't require gradient"):
        plain.register_hook(lambda g: g)
    with fails("cannot register a hook on a tensor that doesn't require gradient"):
        plain.register_post_accumulate_grad_hook(lambda p: None)
    with fails("cannot be registered on non-leaf tensors"):
        y.register_post_accumulate_grad_hook(lambda p: None)


def registrations(x, y, hook):
    return [
        y.register_hook(hook),
        x.register_post_accumulate_grad_hook(hook),
        y.grad_fn.register_prehook(hook),
        y.grad_fn.register_hook(hook),
        multi([x, y], hook),
    ]


def test_hook_12_handles():
    x, ran = leaf([1.0]), []
    y = x * 2
    handles = registrations(x, y, lambda *_: ran.append(1))
    (y * 1).backward(retain_graph=True)
    assert len(ran) == 5
    for handle in handles:
        handle.remove()
        handle.remove()
    y.backward(retain_graph=True)
    assert len(ran) == 5
    assert all(isinstance(h.id, int) for h in handles[:4]) and len({h.id for h in handles[:4]}) == 4
    with y.register_hook(lambda g: ran.append(1)) as handle:
        y.backward(retain_graph=True)
        assert handle.id is not None
    y.backward()
    assert len(ran) == 6


def test_hook_12_removal_while_running():
    x, ran, handles = leaf([1.0]), [], {}
    y = x * 2

    def first(g):
        ran.append("first")
        handles["first"].remove()

    handles["first"] = y.register_hook(first)
    y.register_hook(lambda g: ran.append("second"))
    y.backward(retain_graph=True)
    y.backward()
    assert ran == ["first", "second", "second"]


def test_hook_13_post_accumulate_hooks_may_take_the_grad():
    x, seen = leaf([1.0]), []

    def take(p):
        assert p is x
        seen.append(p.grad.item())
        p.grad = None

    x.register_post_accumulate_grad_hook(take)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad))
    (x * 3).backward()
    assert seen == [3.0, None] and x.grad is None


def test_hook_14_accumulate_nodes_are_held_weakly():
    x, seen = leaf([1.0]), []
    edge(x).node.register_hook(lambda *_: seen.append("lost"))
    gc.collect()
    (x * 2).backward()
    assert seen == []
    node = edge(x).node
    node.register_hook(lambda *_: seen.append("held"))
    (x * 2).backward()
    y = x * 2
    del node
    gc.collect()
    y.backward()
    assert seen == ["held", "held"]
    del y
    gc.collect()
    (x * 2).backward()
    assert seen == ["held", "held"]


def test_hook_15_thread_and_grad_mode():
    x, seen = leaf([3.0]), []

    def hook(g):
        with rg.enable_grad():
            built = (x * 2).requires_grad
        seen.append((threading.get_ident(), rg.is_grad_enabled(), (x * 2).requires_grad, built))

    x.register_hook(hook)
    y = x * x
    y.backward(retain_graph=True)
    grad(y, x, create_graph=True)
    me = threading.get_ident()
    assert seen == [(me, False, False, True), (me, True, True, True)]


def test_hook_16_a_hook_may_get_the_callers_gradient():
    x, seen = leaf([1.0, 2.0]), []
    y, g = x * 2, rg.tensor([3.0, 4.0])
    y.register_hook(lambda got: seen.append(got))
    y.backward(g)
    assert seen[0] is g
    same(g, [3.0, 4.0])


def test_hook_16_a_retained_gradient_stays_as_it_was():
    x, kept = leaf([1.0, 2.0]), []
    x.register_hook(kept.append)
    for by in (2, 3):
        (x * by).sum().backward()
    same(x.grad, [5.0, 5.0])
    same(kept[0], [2.0, 2.0])
    same(kept[1], [3.0, 3.0])


def test_hook_17_mode_all():
    a, b, far, seen = leaf([1.0]), leaf([2.0]), leaf([3.0]), []
    c = a * b
    handle = multi([a, far, b, c], lambda gs: seen.append([None if g is None else g.item() for g in gs]))
    (c * 10).backward()
    (a * 5).backward()
    assert seen == [[20.0, None, 10.0, 10.0], [5.0, None, None, None]]
    handle.remove()
    (a * b).backward()
    assert len(seen) == 2
    with pytest.raises((RuntimeError, AssertionError), match="gradient"):
        multi([a, rg.ones(1)], seen.append)


@beyond("torch does not count a listed tensor that is the only root, and fires twice")
def test_hook_17_mode_all_with_the_root_listed():
    x, seen = leaf([1.0]), []
    y = x * 2
    multi([x, y], lambda gs: seen.append([g.item() for g in gs]))
    y.backward()
    assert seen == [[2.0, 1.0]]


def test_hook_17_mode_any():
    a, b, seen = leaf([1.0]), leaf([2.0]), []
    c = a * b
    handle = multi([rg.ones(1), a, c, b], lambda g: seen.append(g.item()), mode="any")
    (c * 10).backward(retain_graph=True)
    assert seen == [10.0]
    (c * 20).backward(retain_graph=True)
    assert seen == [10.0, 20.0]
    handle.remove()
    c.backward()
    assert len(seen) == 2
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        multi([a], seen.append, mode="some")


def test_hook_18_callbacks_at_the_end_of_backward():
    engine, x, seen = rg.autograd.Variable._execution_engine, leaf([1.0]), []
    y = x * 2
    y.register_hook(lambda g: engine.queue_callback(lambda: seen.append(x.grad.item())))
    y.backward()
    assert seen == [2.0]
    with fails("can only be installed during backward pass"):
        engine.queue_callback(lambda: None)


def test_hook_7_hooks_of_a_root_run_whatever_the_pass_is_for():
    a, c, seen = leaf([1.0, 2.0]), leaf([1.0, 2.0]), []
    a.register_hook(seen.append)
    rg.autograd.grad(a, c, rg.ones(2), allow_unused=True)
    rg.autograd.backward(a, rg.ones(2), inputs=[c])
    assert len(seen) == 2 and a.grad is None
    b = a * 2
    b.retain_grad()
    rg.autograd.grad(b, c, rg.ones(2), allow_unused=True)
    same(b.grad, [1.0, 1.0])


def test_hook_4_a_missing_gradient_cannot_be_replaced():
    x = leaf([1.0, 2.0, 3.0, 4.0])

    def ones(*grads):
        return rg.ones(2)

    p, q = (x * 1).split(2)
    q.register_hook(ones)
    with fails("can't replace a None gradient with a non-None value"):
        p.sum().backward()
    p, q = (x * 1).split(2)
    p.grad_fn.register_prehook(lambda grads: tuple(map(ones, grads)))
    with fails("can't replace a None gradient with a non-None value"):
        p.sum().backward()
    z = x * rg.ones(4)
    z.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (rg.ones(4), rg.ones(4)))
    with fails("can't replace a None gradient with a non-None value"):
        z.sum().backward()
    assert x.grad is None


def test_hook_13_post_accumulate_hooks_see_what_those_before_them_wrote():
    x, log = leaf([1.0]), []

    def tenfold(t):
        log.append(t.grad.item())
        t.grad = t.grad * 10

    def forget(t):
        log.append(t.grad.item())
        t.grad = None

    for hook in (tenfold, forget, lambda t: log.append(t.grad)):
        x.register_post_accumulate_grad_hook(hook)
    y = x * 3
    node = edge(x).node
    node.register_prehook(lambda outputs: log.append("before"))
    node.register_hook(lambda inputs, outputs: log.append("after"))
    y.backward()
    assert log == ["before", 3.0, 30.0, None, "after"] and x.grad is None


def test_hook_13_a_gradient_written_by_a_tensor_hook_is_accumulated_into():
    x, log = leaf([1.0]), []

    def write(g):
        x.grad = rg.tensor([100.0])

    x.register_hook(write)
    x.register_post_accumulate_grad_hook(lambda t: log.append(t.grad.item()))
    (x * 3).backward()
    assert log == [103.0]
    same(x.grad, [103.0])


def test_hook_13_leaves_are_dealt_with_one_by_one():
    a, b, log = leaf([2.0]), leaf([5.0]), []
    for name, t in (("a", a), ("b", b)):
        t.register_hook(lambda g, name=name: log.append(name))
        t.register_post_accumulate_grad_hook(lambda t, name=name: log.append(name + " has " + str(t.grad.item())))
    (a * b).backward()
    assert log == ["a", "a has 5.0", "b", "b has 2.0"]


def test_hook_5_a_post_accumulate_hook_may_return_the_leaf():
    x = leaf([1.0])
    x.register_post_accumulate_grad_hook(lambda t: t)
    (x * 3).backward()
    same(x.grad, [3.0])
    x.register_post_accumulate_grad_hook(lambda t: t * 1)
    with fails("post accumulate grad hooks should return None"):
        (x * 3).backward()


def test_hook_15_modes_that_a_hook_leaves_changed_end_with_its_node():
    x, seen = leaf([1.0, 2.0]), []

    def change(g):
        rg.set_grad_enabled(True)
        rg.inference_mode().__enter__()

    y = x * 2
    z = y * 3
    z.register_hook(change)
    y.register_hook(lambda g: seen.append((rg.is_grad_enabled(), rg.is_inference_mode_enabled())))
    x.register_hook(change)
    total = z.sum()
    with rg.no_grad():
        total.backward(retain_graph=True)
        seen.append((rg.is_grad_enabled(), rg.is_inference_mode_enabled()))
    assert seen == [(False, False)] * 2
    assert rg.is_grad_enabled() and not rg.is_inference_mode_enabled()
    z.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        total.backward()
    assert rg.is_grad_enabled() and not rg.is_inference_mode_enabled()
