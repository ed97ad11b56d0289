"""Neural network building blocks: modules, parameters and functions."""

from typing import TYPE_CHECKING

from retrograd._lazy import submodules as _submodules
from retrograd.nn import functional, modules, parameter
from retrograd.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

if TYPE_CHECKING:
    from retrograd.nn import attention, common_types, init, parallel, utils
    from retrograd.nn._options import LinearCrossEntropyOptions
    from retrograd.nn.modules import *  # noqa: F403  the names that the list there has
    from retrograd.nn.parallel import DataParallel
else:  # what programs do not use is not loaded
    __getattr__, __dir__ = _submodules(
        __name__,
        "attention",
        "common_types",
        "init",
        "parallel",
        "utils",
        DataParallel="parallel",
        LinearCrossEntropyOptions="_options",
        **dict.fromkeys(modules._NAMES, "modules"),
    )

__all__ = [
    "Buffer",
    "DataParallel",
    "LinearCrossEntropyOptions",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "attention",
    "common_types",
    "functional",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
    *modules._NAMES,
]
