"""The arguments of losses that `reduction` has replaced."""

from __future__ import annotations

import warnings


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The `reduction` that two deprecated arguments of losses, both true by default, stand for."""
    averages, reduces = (given is None or bool(given) for given in (size_average, reduce))
    reduction = "none" if not reduces else "mean" if averages else "sum"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=2,
        )
    return reduction
