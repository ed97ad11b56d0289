"""Objects that only a graph refers to, where the way to preserve them is not known."""

import subprocess
import sys
import warnings

DEGRADED = """
import gc, warnings, weakref
import retrograd as rg
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    rg._core._forget_dealloc_slot()
print([w.category.__name__ for w in said], "attributes" in str(said[0].message))
class Marked(rg.Tensor): pass
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
