"""The state that transforms leave: modes, levels, threads, memory, after exceptions too."""

import gc
import threading
import weakref

import pytest

import retrograd as rg
from retrograd import _core
from retrograd.func import grad, hessian, jacfwd, jacrev, jvp, laplacian, linearize, vjp, vmap


@pytest.fixture(autouse=True)
def state_is_as_before():
    yield
    assert _core._transforms_active() == 0 and rg.autograd.forward_ad._current_level == -1
    assert _core._enter_dual_level() == 0  # no level of tangents is open
    _core._exit_dual_level(0)
    assert rg.is_grad_enabled() and not rg.is_inference_mode_enabled() and _core._is_fwd_grad_enabled()


def tensor(values):
    return rg.tensor(values, dtype=rg.float64)


def close(got, want):
    """Equal up to rounding, in shape and structure."""
    assert isinstance(got, rg.Tensor)
    want = want if isinstance(want, rg.Tensor) else tensor(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert bool((got - want).abs().max() <= 1e-9 * (1 + want.abs().max())) if want.numel() else True


X = tensor([0.5, -1.0, 2.0])
W = tensor([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])


def cubes(x):
    return W @ x**3


def test_transforms_work_in_inference_mode():
    with rg.inference_mode():
        inside = rg.ones(3, dtype=rg.float64)
        for x in (X, inside):
            got = [
                (grad(lambda x: (x**3).sum())(x), 3 * x**2),
                (vjp(cubes, x)[1](tensor([1.0, 0.0]))[0], 3 * W[0] * x**2),
                (jvp(cubes, (x,), (x,))[1], 3 * cubes(x)),
                (jacrev(cubes)(x), 3 * W * x**2),
                (jacfwd(cubes)(x), 3 * W * x**2),
                (vmap(lambda x: x * 2)(x), 2 * x),
                (laplacian(lambda x: (x**3).sum())(x), 6 * x.sum()),
            ]
            for found, want in got:
                close(found, want)
        assert rg.is_inference_mode_enabled() and not rg.is_grad_enabled()


class Broken(Exception):
    pass


def broken(x):
    raise Broken


@pytest.mark.parametrize(
    "run",
    [
        lambda: grad(broken)(X),
        lambda: vjp(broken, X),
        lambda: jvp(broken, (X,), (X,)),
        lambda: linearize(broken, X),
        lambda: jacrev(broken)(X),
        lambda: jacfwd(broken)(X),
        lambda: hessian(broken)(X),
        lambda: laplacian(broken)(X),
        lambda: vmap(broken)(X),
        lambda: vmap(vmap(broken))(W),
        lambda: vmap(grad(broken))(W),
        lambda: grad(lambda x: vmap(broken)(x).sum())(X),
        lambda: jvp(grad(broken), (X,), (X,)),
        lambda: jacfwd(lambda x: jvp(vmap(broken), (x,), (x,)))(X),
        lambda: vmap(lambda x: jacrev(lambda y: (rg.autograd.forward_ad.enter_dual_level(), broken(y)))(x))(W),
        lambda: jvp(lambda x: (rg.autograd.forward_ad.enter_dual_level(), broken(x)), (X,), (X,)),
    ],
)
def test_exceptions_leave_nothing_open(run):
    for mode in (rg.enable_grad, rg.no_grad, rg.inference_mode):
        with mode(), pytest.raises(Broken):
            run()
        while rg.autograd.forward_ad._current_level >= 0:
            rg.autograd.forward_ad.exit_dual_level()
    close(grad(lambda x: (x * x).sum())(X), 2 * X)


def test_threads_have_transforms_of_their_own():
    found = {}

    def work(name):
        for _ in range(20):
            found[name] = vmap(grad(lambda x: (x**3).sum()))(W)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]

    def f(x):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return x.sum()

    close(vmap(grad(f))(X.reshape(1, 3)), rg.ones(1, 3, dtype=rg.float64))
    assert len(found) == 4
    for got in found.values():
        close(got, 3 * W**2)


def test_memory_is_freed():
    class Tagged(rg.Tensor):
        pass

    def gone(run):
        watched = []

        def f(x):
            y = (x * 2).as_subclass(Tagged) if hasattr(x, "as_subclass") else x * 2
            watched.append(weakref.ref(y))
            return (y**2).sum()

        run(f)
        gc.collect()
        return all(ref() is None for ref in watched)

    assert gone(lambda f: grad(f)(X))
    assert gone(lambda f: hessian(f)(X))
    assert gone(lambda f: vmap(f)(W))
    assert gone(lambda f: jvp(f, (X,), (X,)))
