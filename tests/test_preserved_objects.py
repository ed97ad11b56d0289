"""Objects of tensors: those that only a graph refers to, where the way to preserve them is not known, and those made in
the memory of others.
"""

import gc
import subprocess
import sys
import sysconfig
import warnings

import pytest

DEGRADED = """
import gc, warnings, weakref
import retrograd as rg
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    rg._core._forget_dealloc_slot()
print([w.category.__name__ for w in said], "attributes" in str(said[0].message))
class Marked(rg.Tensor):
    __torch_function__ = rg._core._disabled_torch_function_impl
for make in (rg.Tensor, Marked):
    x = make([1.0, 2.0]).requires_grad_()
    x.note = "kept"
    y = x * 3
    assert y.grad_fn.next_functions[0][0].variable is x and x.note == "kept"
    watch, identity = weakref.ref(x), id(x)
    del x
    gc.collect()
    x = y.grad_fn.next_functions[0][0].variable
    print(make.__name__, type(x).__name__, getattr(x, "note", None), watch() is x)
    y.sum().backward()
    print(x.tolist(), x.grad.tolist(), x.requires_grad, x is y.grad_fn.next_functions[0][0].variable)
    watch = weakref.ref(x)
    del x, y
    gc.collect()
    print(watch())
"""


def test_without_the_slot_for_deallocation_only_plain_objects_lose_what_they_carry():
    done = subprocess.run([sys.executable, "-c", DEGRADED], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "['RuntimeWarning'] True",
        "Tensor Tensor None False",
        "[1.0, 2.0] [3.0, 3.0] True True",
        "None",
        "Marked Marked kept True",
        "[1.0, 2.0] [3.0, 3.0] True True",
        "None",
    ], done.stderr


def test_this_python_has_a_known_slot_for_deallocation():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        subprocess.run([sys.executable, "-W", "error", "-c", "import retrograd"], check=True)


# More than are kept for others.
MANY = 400
with_lock = pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="without the lock nothing is kept, and counts are estimates",
)


@with_lock
def test_objects_in_the_memory_of_others_are_as_new(rg):
    x = rg.ones(4, requires_grad=True)
    x * 2, x.detach()
    gc.collect()  # what other tests left behind would be counted, and then be collected meanwhile
    before = sys.getrefcount(rg.Tensor)
    for _ in range(3):
        recorded, plain = [x * 2 for _ in range(MANY)], [x.detach() for _ in range(MANY)]
        assert abs(sys.getrefcount(rg.Tensor) - before - 2 * MANY) < 5
        assert all(gc.is_tracked(t) for t in recorded)
        assert not any(gc.is_tracked(t) for t in plain)
        assert len({id(t) for t in recorded + plain}) == 2 * MANY
        assert all(t.tolist() == [2] * 4 for t in recorded) and all(t.tolist() == [1] * 4 for t in plain)
        del recorded, plain
        assert abs(sys.getrefcount(rg.Tensor) - before) < 5
    noted = [x.detach() for _ in range(MANY)]
    for i, t in enumerate(noted):
        t.note = i
    del noted, t
    assert not any(hasattr(t, "note") for t in [x.detach() for _ in range(2 * MANY)])


@with_lock
def test_memory_of_objects_that_the_collector_finalized_is_not_used_again(rg):
    def cycle():
        t = rg.ones(1, requires_grad=True)
        t.register_hook(lambda g: t)

    for _ in range(MANY):
        cycle()
    gc.collect()
    assert not any(gc.is_finalized(t) for t in [rg.ones(1) for _ in range(MANY)])
