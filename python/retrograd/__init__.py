"""Tensors with automatic differentiation.

>>> import retrograd as rg
>>> x = rg.tensor([1.0, 2.0, 3.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4., 6.])

The examples of all other docstrings begin after that import.
"""

from math import e, inf, nan, pi
from typing import TYPE_CHECKING

from retrograd import _core
from retrograd._core import *  # noqa: F403  ops, dtypes, Tensor and Generator
from retrograd._core import __version__
from retrograd._size import Size

# The core makes sizes from here on, so this comes before anything reads the shape of a tensor.
_core._register_classes(Size)

from retrograd import autograd, fft, func, linalg, nn, random, return_types, serialization, special, utils  # noqa: E402
from retrograd._contractions import einsum as einsum  # type: ignore[no-redef]  # noqa: E402  more forms than the core's
from retrograd._contractions import tensordot as tensordot  # type: ignore[no-redef]  # noqa: E402
from retrograd._lazy import submodules as _submodules  # noqa: E402
from retrograd._limits import finfo, iinfo  # noqa: E402
from retrograd._queries import (  # noqa: E402
    broadcast_shapes,
    is_complex,
    is_floating_point,
    is_inference,
    is_tensor,
    numel,
    typename,
)
from retrograd._settings import (  # noqa: E402
    are_deterministic_algorithms_enabled,
    get_num_threads,
    set_num_threads,
    use_deterministic_algorithms,
)
from retrograd.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: E402
from retrograd.func import vmap  # noqa: E402
from retrograd.random import get_rng_state, initial_seed, seed, set_rng_state  # noqa: E402
from retrograd.serialization import load, save  # noqa: E402
from retrograd.utils.dlpack import from_dlpack  # noqa: E402

if TYPE_CHECKING:
    from retrograd import amp, cpu, profiler, signal, testing
    from retrograd.amp._state import (
        autocast_decrement_nesting,
        autocast_increment_nesting,
        clear_autocast_cache,
        get_autocast_cpu_dtype,
        get_autocast_dtype,
        is_autocast_cache_enabled,
        is_autocast_cpu_enabled,
        is_autocast_enabled,
        set_autocast_cache_enabled,
        set_autocast_cpu_dtype,
        set_autocast_cpu_enabled,
        set_autocast_dtype,
        set_autocast_enabled,
    )
    from retrograd.amp.autocast_mode import autocast

newaxis = None

# Submodules that nothing above needs are loaded at first use.
if not TYPE_CHECKING:  # to a type checker, what is not there is an error
    __getattr__, __dir__ = _submodules(
        __name__,
        "amp",
        "cpu",
        "profiler",
        "signal",
        "testing",
        _amp_foreach_non_finite_check_and_unscale_="amp.grad_scaler",
        _amp_update_scale_="amp.grad_scaler",
        autocast="amp.autocast_mode",
        autocast_decrement_nesting="amp._state",
        autocast_increment_nesting="amp._state",
        clear_autocast_cache="amp._state",
        get_autocast_cpu_dtype="amp._state",
        get_autocast_dtype="amp._state",
        is_autocast_cache_enabled="amp._state",
        is_autocast_cpu_enabled="amp._state",
        is_autocast_enabled="amp._state",
        set_autocast_cache_enabled="amp._state",
        set_autocast_cpu_dtype="amp._state",
        set_autocast_cpu_enabled="amp._state",
        set_autocast_dtype="amp._state",
        set_autocast_enabled="amp._state",
    )

# Besides these, everything public of the core, such as the ops and dtypes.
__all__ = [name for name in dir(_core) if not name.startswith("_")]
__all__ += [
    "Size",
    "__version__",
    "amp",
    "are_deterministic_algorithms_enabled",
    "autocast",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "autograd",
    "broadcast_shapes",
    "clear_autocast_cache",
    "cpu",
    "e",
    "enable_grad",
    "fft",
    "finfo",
    "from_dlpack",
    "func",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_num_threads",
    "get_rng_state",
    "iinfo",
    "inf",
    "inference_mode",
    "initial_seed",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "is_complex",
    "is_floating_point",
    "is_inference",
    "is_tensor",
    "linalg",
    "load",
    "nan",
    "newaxis",
    "nn",
    "no_grad",
    "numel",
    "pi",
    "profiler",
    "random",
    "return_types",
    "save",
    "seed",
    "serialization",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_grad_enabled",
    "set_num_threads",
    "set_rng_state",
    "signal",
    "special",
    "testing",
    "typename",
    "use_deterministic_algorithms",
    "utils",
    "vmap",
]
