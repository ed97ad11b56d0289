"""Anomaly mode: find the op whose gradient failed, or became NaN."""

from __future__ import annotations

import warnings

from retrograd import _core

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class detect_anomaly(_core._Anomaly):
    """Inside the block, note where every op is called, and let a failing backward pass say so.

    When a node fails, a warning shows the stack of the call that recorded it before the error is raised, and, if that
    was a backward pass itself, the stack of the call whose gradient it computed. The mode is that of all threads,
    and slows everything down; errors name the lines involved without it.

    Args: `check_nan` whether a gradient with NaN in it is a RuntimeError that names the node.

    >>> import warnings
    >>> x = rg.zeros(1, requires_grad=True)
    >>> warnings.simplefilter("ignore")
    >>> with rg.autograd.detect_anomaly():
    ...     (x / x).sum().backward()
    Traceback (most recent call last):
    RuntimeError: Function 'DivBackward0' returned nan values in its 1th output.
    >>> warnings.resetwarnings()
    """

    __slots__ = ()

    def __init__(self, check_nan: bool = True) -> None:
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )


class set_detect_anomaly(_core._AnomalySwitch):
    """Switch anomaly mode at the call; as a context manager, put it back at the end of the block.

    Args: `mode` whether it is on; `check_nan` as in `detect_anomaly`.

    >>> with rg.autograd.set_detect_anomaly(True, check_nan=False):
    ...     rg.is_anomaly_enabled(), rg.is_anomaly_check_nan_enabled()
    (True, False)
    >>> rg.is_anomaly_enabled()
    False
    """

    __slots__ = ()
