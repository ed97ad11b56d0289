"""ENG: the engine under reentrance, threads, depth, exceptions; what it frees and when."""

import gc
import threading
import traceback
import weakref

import pytest

from . import STANDIN, beyond, close, leaf, live, rg, same

DEPTH = 1_000_000


class Call(rg.autograd.Function):
    """The identity; its backward calls `before` first."""

    @staticmethod
    def forward(ctx, x, before):
        ctx.before = before
        return x * 1

    @staticmethod
    def backward(ctx, g):
        ctx.before()
        return g, None


class Double(rg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Mark:
    """Something to take a weak reference of."""


def collected(make):
    """Whether what `make(mark)` leaves behind lets go of the mark."""
    mark = Mark()
    watch = weakref.ref(mark)
    make(mark)
    del mark
    gc.collect()
    return watch() is None


@pytest.mark.parametrize("depth", [3, 600])
def test_eng_1_reentrant_backward(depth):
    reached = []

    class Nested(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x, level):
            ctx.level = level
            return x * 1

        @staticmethod
        def backward(ctx, g):
            reached.append(ctx.level)
            if ctx.level:
                with rg.enable_grad():
                    inner = rg.ones(1, requires_grad=True)
                    Nested.apply(inner, ctx.level - 1).backward()
                return inner.grad * g, None
            return g, None

    x = leaf([1.0])
    (Nested.apply(x, depth) * 3).backward()
    assert reached == list(range(depth, -1, -1))
    same(x.grad, [3.0])


def test_eng_1_reentrant_backward_in_a_hook():
    x, inner = leaf([1.0]), leaf([2.0])
    y = x * 3

    def hook(g):
        with rg.enable_grad():
            (inner * inner).backward()
        return g * 10

    y.register_hook(hook)
    y.backward()
    same(inner.grad, [4.0])
    same(x.grad, [30.0])


def run_threads(count, work):
    errors, start = [], threading.Barrier(count)

    def body(index):
        start.wait()
        try:
            work(index)
        except RuntimeError as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not any(t.is_alive() for t in threads)
    return errors


def test_eng_2_threads_sharing_leaves_lose_nothing():
    x = leaf([1.0, 2.0])
    x.grad = rg.zeros(2)

    def work(_):
        for _ in range(50):
            ((x * 1).sin() * 0 + x).sum().backward()

    assert run_threads(4, work) == []
    same(x.grad, [200.0, 200.0])


def test_eng_2_one_graph_is_run_by_one_thread():
    for _ in range(10):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        errors = run_threads(4, lambda _, y=y: y.backward())
        assert len(errors) == 3
        assert all("backward through the graph a second time" in str(e) for e in errors)
        same(x.grad, [2.0, 4.0])


def test_eng_3_python_parts_run_with_the_callers_state():
    seen = []

    def look(*_):
        seen.append((threading.get_ident(), rg.is_grad_enabled()))

    def work(_):
        x = leaf([1.0])
        y = Call.apply(x * 1, look)
        y.register_hook(look)
        with rg.no_grad():
            y.backward()
        y = Call.apply(x * 1, look)
        rg.autograd.grad(y, x, create_graph=True)
        seen.append(threading.get_ident())

    run_threads(1, work)
    me = seen.pop()
    assert me != threading.get_ident() and seen == [(me, False), (me, False), (me, True)]


def test_eng_3_other_threads_run_python_during_backward():
    x, ticks = leaf([[0.5] * 256] * 256), []
    y = x
    for _ in range(20):
        y = (y @ x) * 0.01
    stop = threading.Event()

    def tick():
        while not stop.wait(0.0001):
            ticks.append(1)

    ticker = threading.Thread(target=tick)
    ticker.start()
    # One tick may come between the call and what counts them; and the machine may have other work.
    most = 0
    for _ in range(100):
        before = len(ticks)
        y.sum().backward(retain_graph=True)
        most = max(most, len(ticks) - before)
        if most > 2:
            break
    stop.set()
    ticker.join()
    assert most > 2


@pytest.mark.parametrize(("depth", "run"), [(DEPTH, True), (DEPTH // 4, False)])
def test_eng_4_a_million_nodes(depth, run):
    x = leaf([1.0])
    y = x
    for _ in range(depth):
        y = y + 1
    if run:
        y.backward()
        same(x.grad, [1.0])
    del y
    same(rg.autograd.grad(x * 2, x)[0], [2.0])


class Same(rg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g


@pytest.mark.parametrize(("depth", "run"), [(DEPTH, True), (DEPTH // 4, False)])
def test_eng_4_a_million_python_nodes(depth, run):
    x = leaf([1.0])
    y = x
    for _ in range(depth):
        y = Same.apply(y)
    if run:
        y.backward()
        same(x.grad, [1.0])
    before = live(Same._backward_cls)
    del y
    assert before >= depth and live(Same._backward_cls) == 0


def test_eng_4_many_views_and_in_place_ops():
    x = leaf([1.0, 2.0])
    y = x * 1
    for _ in range(100_000):
        y = y.view(2)
    y.sum().backward()
    same(x.grad, [1.0, 1.0])
    z = x * 1
    for _ in range(100_000):
        z.add_(1)
    z.sum().backward()
    same(x.grad, [2.0, 2.0])
    base = x * 1
    half = base[:1]
    for _ in range(100_000):
        half.mul_(1)
    base.sum().backward()
    same(x.grad, [3.0, 3.0])


class Oops(Exception):
    pass


@pytest.mark.parametrize("kind", [Oops, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("place", ["function", "hook", "prehook", "posthook", "post_accumulate"])
def test_eng_5_exceptions_reach_the_caller(kind, place):
    error = kind("text", 3)

    def culprit(*_):
        raise error

    x, z = leaf([2.0]), leaf([3.0])
    first = z.exp()
    middle = Call.apply(x, culprit if place == "function" else lambda: None)
    last = middle * 5
    if place == "hook":
        middle.register_hook(culprit)
    elif place == "prehook":
        last.grad_fn.register_prehook(culprit)
    elif place == "posthook":
        last.grad_fn.register_hook(culprit)
    elif place == "post_accumulate":
        x.register_post_accumulate_grad_hook(culprit)
    with pytest.raises(kind) as caught:
        (first + last).backward()
    assert caught.value is error and caught.value.args == ("text", 3)
    assert "culprit" in [f.name for f in traceback.extract_tb(caught.value.__traceback__)]
    close(first.grad_fn._saved_result, [20.085537])  # had not run yet
    assert z.grad is None
    y = x.detach().requires_grad_()
    (y * 4).backward()
    same(y.grad, [4.0])


def test_eng_5_what_a_failed_run_used_can_be_used_again():
    x = leaf([1.0, 2.0])
    y = x * x

    def fail(results, grads):
        raise LookupError

    handle = y.grad_fn.register_hook(fail)
    with pytest.raises(LookupError):
        y.sum().backward()
    handle.remove()
    y.sum().backward()
    same(x.grad, [2.0, 4.0])


def test_eng_6_no_cycle_between_a_tensor_and_its_node():
    gc.collect()
    gc.disable()
    try:
        x = leaf([1.0])
        for make in (lambda: x.exp(), lambda: x.tanh(), lambda: x * x, lambda: Double.apply(x)):
            y = make()
            mark = Mark()
            y.mark, watch = mark, weakref.ref(mark)
            del y, mark
            assert watch() is None
    finally:
        gc.enable()


def test_eng_6_cycles_through_hooks_and_ctx_are_collected():
    def through_node(mark):
        node = (leaf([1.0]) * 2).grad_fn
        node.register_prehook(lambda g: (node, mark))
        node.register_hook(lambda *g: (node, mark))

    def through_ctx(mark):
        y = Double.apply(leaf([1.0]))
        y.grad_fn.result, y.grad_fn.mark = y, mark

    def through_leaf(mark):
        x = leaf([1.0])
        x.register_hook(lambda g: (x, mark))

    for make in (through_node, through_ctx, through_leaf):
        assert collected(make), make.__name__


@beyond("torch does not look for cycles behind a node nobody holds in Python")
@pytest.mark.parametrize(
    "register",
    [
        lambda x, y, hook: y.register_hook(hook),
        lambda x, y, hook: y.grad_fn.register_prehook(hook),
        lambda x, y, hook: y.grad_fn.register_hook(hook),
    ],
)
def test_eng_6_cycles_through_hooks_of_any_kind_are_collected(register):
    def make(mark):
        x = leaf([1.0])
        y = x * 2
        register(x, y, lambda *g: (x, y, mark))

    assert collected(make)


def test_eng_7_attributes_survive_in_the_graph():
    x, c = leaf([1.0]), rg.ones(1)
    x.note, c.note = "leaf", "constant"
    identities = id(x), id(c)
    y = x * c
    y.note = "inner"
    z = y.sin()
    identities += (id(y),)
    del x, c, y
    gc.collect()
    y = z.grad_fn._saved_self
    c = y.grad_fn._saved_other
    x = y.grad_fn.next_functions[0][0].variable
    assert (id(x), id(c), id(y)) == identities
    assert (x.note, c.note, y.note) == ("leaf", "constant", "inner")


def test_eng_8_dropping_the_root_frees_the_graph():
    mark = Mark()
    x, watch = leaf([1.0]), weakref.ref(mark)
    inner = x * 2
    inner.mark = mark
    z = inner.sin() + 1
    del mark, inner
    assert watch() is not None
    gc.disable()
    try:
        del z
        assert watch() is None
    finally:
        gc.enable()


def test_eng_8_saved_tensors_are_freed_during_the_pass():
    x, log, watch = leaf([1.0]), [], []
    y = x * 1
    for level in range(3):
        mark = Mark()
        y.mark = mark
        watch.append(weakref.ref(mark))
        y = Call.apply(y.sin(), lambda level=level: log.append((level, [w() is not None for w in watch])))
        del mark
    y.backward()
    assert log == [(2, [True, True, True]), (1, [True, True, False]), (0, [True, False, False])]
    assert [w() for w in watch] == [None, None, None]


@pytest.mark.filterwarnings("ignore:Using backward\\(\\) with create_graph")
def test_eng_9_setting_grad_to_none_breaks_the_cycle():
    mark = Mark()
    x, watch = leaf([1.0]), weakref.ref(mark)
    x.mark = mark
    (x * x).backward(create_graph=True)
    assert x.grad.requires_grad
    del mark
    gc.disable()
    try:
        x.grad = None
        del x
        assert watch() is None
    finally:
        gc.enable()


def test_eng_2_threads_accumulate_into_one_leaf():
    for _ in range(100):
        x = rg.zeros(1000, requires_grad=True)
        go = threading.Barrier(4)

        def work(x=x, go=go):
            loss = (x * 1).sum()
            go.wait()
            loss.backward()

        workers = [threading.Thread(target=work) for _ in range(4)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        assert (x.grad == 4).all()


@beyond("the operand that is the target keeps its own node alive")
def test_eng_6_a_target_that_is_an_operand_too():
    watch = []
    for write in (lambda y: y.mul_(y), lambda y: y.div_(y), lambda y: y.view(2).mul_(y)):
        y = leaf([1.0, 2.0]) * 1
        write(y)
        watch.append(weakref.ref(y))
        del y
    gc.collect()
    assert [w() for w in watch] == [None] * 3


def test_eng_3_errors_of_the_graph_wait_for_nobody():
    y = leaf([1.0, 2.0]).exp()
    loss = y.sum()
    node = y.grad_fn
    y.add_(1)
    done = []

    def run(act):
        for _ in range(300):
            try:
                act()
            except RuntimeError as e:
                assert "modified by an inplace operation" in str(e)
        done.append(act)

    acts = [lambda: loss.backward(retain_graph=True), lambda: node._saved_result]
    workers = [threading.Thread(target=run, args=(act,), daemon=True) for act in acts * 2]
    for w in workers:
        w.start()
    for w in workers:
        w.join(60)
    assert len(done) == 4


class Descent(rg.autograd.Function):
    """The identity of a number; its backward runs as many graphs, one inside the other, and notes what it finds."""

    @staticmethod
    def forward(ctx, x, note):
        ctx.note = note
        with rg.enable_grad():
            ctx.next = x.detach().requires_grad_() - 1
        return x * 1

    @staticmethod
    def backward(ctx, g):
        ctx.note(ctx.next)
        if ctx.next >= 0:
            with rg.enable_grad():
                Descent.apply(ctx.next, ctx.note).backward()
        return g, None


def test_eng_1_ten_thousand_graphs_one_inside_the_other():
    x, count = leaf(10_000.0), []
    for _ in range(2):
        (Descent.apply(x, lambda t: count.append(1)) * 3).backward()
    assert len(count) == 2 * 10_001
    same(x.grad, 6.0)


def test_eng_1_deep_down_everything_is_as_it_is_above():
    graph, found, saved = rg.autograd.graph, set(), []

    def note(t):
        with rg.enable_grad():
            y = t.detach().requires_grad_().exp()
        found.add((rg.is_grad_enabled(), rg.is_inference_mode_enabled(), y.requires_grad))
        saved.append(1)

    def pack(t):
        packed.append(1)
        return t.detach()

    packed = []
    with graph.saved_tensors_hooks(pack, lambda t: t):
        Descent.apply(leaf(300.0), note).backward()
    assert found == {(False, False, True)}
    assert len(packed) == len(saved) == 301  # the result of each exp
    before = rg.is_grad_enabled()
    with graph.disable_saved_tensors_hooks("not here either"):
        errors = []

        def refused(t):
            try:
                graph.save_on_cpu().__enter__()
            except RuntimeError as e:
                errors.append(str(e))

        Descent.apply(leaf(150.0), refused).backward()
    assert errors == ["not here either"] * 151
    assert rg.is_grad_enabled() is before


@beyond("in torch another thread begins to count anew")
def test_eng_1_deep_down_nodes_are_counted_on():
    numbers = []

    def note(t):
        with rg.enable_grad():
            numbers.append((t.detach().requires_grad_() * 1).grad_fn._sequence_nr())

    Descent.apply(leaf(200.0), note).backward()
    assert numbers == sorted(set(numbers)) and len(numbers) == 201
    assert (leaf(1.0) * 1).grad_fn._sequence_nr() > numbers[-1]


def test_eng_1_errors_come_up_from_deep_down():
    x = leaf(500.0)

    def note(t):
        if t == 3.0:
            raise LookupError("at the bottom")

    with pytest.raises(LookupError, match="at the bottom") as caught:
        Descent.apply(x, note).backward()
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names.count("backward") >= 497 and names[-1] == "note"
    assert x.grad is None and rg.is_grad_enabled()
    (x * 2).backward()
    same(x.grad, 2.0)


def test_eng_1_deep_down_a_graph_is_run_for_chosen_inputs_too():
    deep = []

    def note(t):
        if t == 0.0:
            a = leaf([2.0])
            with rg.enable_grad():
                deep.append(rg.autograd.grad((a * a).exp().sum(), a, create_graph=True)[0])

    Descent.apply(leaf(200.0), note).backward()
    close(deep[0], [4 * 2.718281828**4], rtol=1e-5)
    assert deep[0].requires_grad


@pytest.mark.skipif(STANDIN == "torch", reason="torch lets two runs that free a graph begin")
def test_eng_2_a_failed_run_gives_up_no_values_that_another_run_has():
    # One run retains the graph and fails; meanwhile another one, which frees it, has begun to use what was saved.
    role, in_first, in_second, end = threading.local(), threading.Event(), threading.Event(), threading.Event()

    def unpack(t):
        if role.name == "first":
            in_first.set()
            assert in_second.wait(10)
            raise LookupError
        if role.name == "second":
            in_second.set()
            assert end.wait(10)
        return t

    x = leaf([1.0])
    with rg.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), unpack):
        y = x.sin()
    failed = []

    def run(name, retain):
        role.name = name
        try:
            y.backward(retain_graph=retain)
        except (LookupError, RuntimeError) as e:
            failed.append((name, type(e)))

    first = threading.Thread(target=run, args=("first", True))
    second = threading.Thread(target=run, args=("second", False))
    first.start()
    assert in_first.wait(10)
    second.start()
    first.join()
    run("third", True)
    end.set()
    second.join()
    assert failed == [("first", LookupError), ("third", RuntimeError)]
    close(x.grad, [0.5403023])
