"""An interrupt leaves nothing entered: neither level nor mode nor hooks, wherever in a `with` statement it comes.

Each storm runs a body over and over, and interrupts it by a signal at moments drawn from a seed.
"""

import contextlib
import random
import signal
import threading

import pytest

import retrograd as rg
from retrograd import _core
from retrograd.autograd import forward_ad, graph
from retrograd.func import grad, grad_and_value, jacfwd, jacrev, jvp, linearize, vjp, vmap
from retrograd.utils import checkpoint as checkpoints

STORMS = 150
X = rg.ones(2)


def state():
    """Everything that a scope may have left behind in this thread or in all."""
    x = rg.ones(1, requires_grad=True)
    level = forward_ad.enter_dual_level()
    forward_ad.exit_dual_level()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):  # they are not forbidden
        pass
    with _core._batch_level(1, "error") as batch, _core._private_dual_level() as private:
        pass
    return {
        "records": (x * 2).requires_grad,
        "inference": rg.is_inference_mode_enabled(),
        "transforms": _core._transforms_active(),
        "dual level": level,
        "private dual level": private,
        "batch level": batch,
        "tangents": _core._is_fwd_grad_enabled(),
        "anomaly": (rg.is_anomaly_enabled(), rg.is_anomaly_check_nan_enabled()),
        "nan": detects_nan(),
        "threads": rg.autograd.is_multithreading_enabled(),
        "hooks": saved_by(x),
        "group": checkpoints.GraphExecGroup._get_current_group(),
        "options": (checkpoints._overrides.early_stop, checkpoints._overrides.debug),
        "watching": graph_watches(x),
    }


def detects_nan():
    try:
        return rg.zeros(1).log().numel() == 0
    except RuntimeError:
        return True


def saved_by(x):
    """Whether hooks see what is saved."""
    node = (x * x).grad_fn
    return node and node._raw_saved_self.unpack_hook


def graph_watches(x):
    with rg.no_grad():
        x.add_(0)
    with graph.allow_mutation_on_saved_tensors():  # which cannot be nested
        return None


def recompute():
    checkpoints.checkpoint(
        lambda x: x.exp().sin(), rg.ones(2, requires_grad=True), use_reentrant=False
    ).sum().backward()


def in_two_steps():
    mode = rg.set_grad_enabled(False)
    with mode:
        X + 1


def within(make, act=lambda: X + 1):
    def body():
        with make():
            act()

    return body


@rg.no_grad()
def decorated():
    return X + 1


def read_by_steps():
    @rg.no_grad()
    def steps():
        yield X + 1
        yield X + 2

    list(steps())


BODIES = {
    "vmap": lambda: vmap(lambda x: x * 2)(rg.ones(2, 2)),
    "grad": lambda: grad(lambda x: (x * x).sum())(X),
    "grad_and_value": lambda: grad_and_value(lambda x: (x * x).sum())(X),
    "jvp": lambda: jvp(lambda x: x * x, (X,), (X,)),
    "vjp": lambda: vjp(lambda x: x * x, X)[1](X),
    "linearize": lambda: linearize(lambda x: x * x, X)[1](X),
    "jacrev": lambda: jacrev(lambda x: x * x)(X),
    "jacfwd": lambda: jacfwd(lambda x: x * x)(X),
    "vmap of grad": lambda: vmap(grad(lambda x: (x * x).sum()))(rg.ones(2, 2)),
    "batched gradients": lambda: rg.autograd.grad(
        [(x := rg.ones(2, requires_grad=True)) * x], [x], [rg.ones(3, 2)], is_grads_batched=True
    ),
    "functional.jacobian": lambda: rg.autograd.functional.jacobian(lambda x: x * x, X),
    "functional.jvp": lambda: rg.autograd.functional.jvp(lambda x: x * x, X, X),
    "dual_level": within(forward_ad.dual_level, lambda: forward_ad.make_dual(X, X).sin()),
    "_set_fwd_grad_enabled": within(lambda: forward_ad._set_fwd_grad_enabled(False)),
    "no_grad": within(rg.no_grad),
    "no_grad as decorator": decorated,
    "no_grad around a generator": read_by_steps,
    "enable_grad": within(rg.enable_grad),
    "set_grad_enabled": within(lambda: rg.set_grad_enabled(False)),
    "inference_mode": within(rg.inference_mode),
    "saved_tensors_hooks": within(lambda: graph.saved_tensors_hooks(lambda t: t, lambda t: t)),
    "disable_saved_tensors_hooks": within(lambda: graph.disable_saved_tensors_hooks("none here")),
    "allow_mutation_on_saved_tensors": within(graph.allow_mutation_on_saved_tensors),
    "set_detect_anomaly": within(lambda: rg.autograd.set_detect_anomaly(True)),
    "detect_nan": within(rg.autograd.detect_nan),
    "set_multithreading_enabled": within(lambda: rg.autograd.set_multithreading_enabled(False)),
    "checkpoint": recompute,
    "GraphExecGroup": within(checkpoints.GraphExecGroup),
    "set_checkpoint_early_stop": within(lambda: checkpoints.set_checkpoint_early_stop(False)),
    "fork_rng": within(rg.random.fork_rng, lambda: rg.rand(2)),
}


class Alarm:
    """Interrupts once, some seconds after it was set. Python loses an interrupt in a finalizer, or in a callback of the
    collector, which plugins install: so it comes again while nothing calls the alarm off."""

    AGAIN = 5.0

    def __init__(self):
        self.is_set = False
        self.rung = 0
        self.lost = 0

    def ring(self, *_):
        if self.is_set:
            self.rung += 1
            raise KeyboardInterrupt

    def soon(self, seconds):
        self.rung = 0
        self.is_set = True
        signal.setitimer(signal.ITIMER_REAL, seconds, self.AGAIN)

    def off(self):
        self.is_set = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.lost += max(0, self.rung - 1)
        self.rung = 0


@contextlib.contextmanager
def alarms():
    alarm = Alarm()
    before = signal.signal(signal.SIGALRM, alarm.ring)
    try:
        yield alarm
    finally:
        alarm.off()
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that interrupt")
@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals come to the main thread")
# What is lost in a callback of the collector, where it is an unraisable exception.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", BODIES)
def test_a_storm_leaves_nothing_entered(name):
    body, moments, calm = BODIES[name], random.Random(name), state()
    assert calm["records"] and calm["dual level"] == 0 and calm["batch level"] == 1 and calm["hooks"] is None
    if name == "fork_rng":
        rg.manual_seed(7)
        numbers = _core.default_generator.get_state().tolist()
    with alarms() as alarm:
        for storm in range(STORMS):
            try:
                alarm.soon(0.0001 + moments.random() * 0.002)
                while True:
                    body()
            except KeyboardInterrupt:
                pass
            finally:
                alarm.off()
            assert state() == calm, f"after {storm + 1} interrupts"
            if name == "fork_rng":
                assert _core.default_generator.get_state().tolist() == numbers
    assert alarm.lost <= 1


def test_a_switch_that_never_came_to_its_with_is_undone():
    """As if an interrupt came between the two: the switch is dropped while the exception is on its way."""

    for make, is_on in (
        (lambda: rg.set_grad_enabled(False), rg.is_grad_enabled),
        (lambda: forward_ad._set_fwd_grad_enabled(False), _core._is_fwd_grad_enabled),
        (lambda: rg.autograd.set_multithreading_enabled(False), rg.autograd.is_multithreading_enabled),
    ):
        assert is_on()
        with make():
            assert not is_on()
        assert is_on()
    switch = rg.set_grad_enabled(False)
    assert not rg.is_grad_enabled()
    del switch  # a statement that did finish
    assert not rg.is_grad_enabled()
    rg.set_grad_enabled(True)


def test_scopes_close_what_was_left_open_inside():
    with forward_ad.dual_level():
        forward_ad.enter_dual_level()
    assert forward_ad._current_level == -1
    outer, inner = _core._batch_level(2, "error"), _core._batch_level(2, "error")
    with outer:
        inner.__enter__()
    assert _core._transforms_active() == 0


def test_a_block_that_was_not_entered_cannot_be_left():
    for scope in (rg.no_grad(), forward_ad.dual_level(), graph.save_on_cpu()):
        with pytest.raises(RuntimeError, match=r"has not been entered|no saved-tensor hooks are in force"):
            scope.__exit__(None, None, None)


def test_one_block_can_be_entered_again_inside_itself():
    off = rg.no_grad()
    with off:
        with off:
            assert not rg.is_grad_enabled()
        assert not rg.is_grad_enabled()
    assert rg.is_grad_enabled()
