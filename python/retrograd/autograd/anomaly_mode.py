"""Anomaly mode and `detect_nan`: find the op whose gradient failed, and the op that made the first NaN."""

from __future__ import annotations

import warnings

from retrograd import _core

__all__ = ["NonFiniteError", "detect_anomaly", "detect_nan", "set_detect_anomaly"]


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


class NonFiniteError(RuntimeError):
    """An op made a NaN or an infinity inside of `detect_nan`. The message has all that is known; so do the attributes.

    `op` is the name of the op, or of the node whose rule made it; `called` that of the op that the user called, which
    may consist of others; `gradient` the number of the gradient among those that a node returned, None for an op;
    `index` that of the first such element; `value` the element; `line` the file, the line, the function and the text of
    the line, of the op's call, or for a gradient of the call that recorded it.

    >>> with rg.autograd.detect_nan():
    ...     try:
    ...         rg.tensor([1.0, -1.0]).sqrt()
    ...     except rg.autograd.anomaly_mode.NonFiniteError as error:
    ...         error.op, error.index, error.value
    ('sqrt', (1,), nan)
    """

    op: str
    called: str | None = None
    gradient: int | None = None
    index: tuple[int, ...]
    value: float | complex
    line: tuple[str, int, str, str | None] | None = None


class detect_nan(_core._DetectNan):
    """Inside the block, stop at the first op, forward or backward, that makes a NaN or an infinity out of numbers.

    Results of ops, gradients that nodes return, and what custom functions and hooks make are looked through as they are
    made, in one pass each; no stacks are stored, so a training step takes little longer. The error, a RuntimeError,
    names the op, the line that called it, the first such element and what it was made of, and the remedy where that is
    plain.

    What an op was given is not its fault. A NaN counts if no operand has one, an infinity if all operands and
    parameters are finite; ops that compute entry by entry are asked this of each entry. So `masked_fill` with -inf,
    `full` with inf and data with NaN pass, but not a NaN that is made of such an infinity, such as the softmax of a row
    that is masked as a whole. Views are not looked through, tangents are.

    The mode is that of the thread, as grad mode is; backward has that of its call. Blocks nest, and an inner
    `detect_nan(False)` leaves out ops that are known and harmless.

    Args: `enabled` whether results are searched; `check_inf` whether infinities count: False for a program that makes
    them on purpose, as by `mask.log()`.

    >>> x = rg.tensor([0.0, 4.0], requires_grad=True)
    >>> with rg.autograd.detect_nan():
    ...     x.sqrt().sum().backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    retrograd.autograd.anomaly_mode.NonFiniteError: SqrtBackward0 made inf at index (0,) of its gradient 0, ...
    >>> with rg.autograd.detect_nan(check_inf=False):
    ...     rg.tensor([1.0, 0.0]).log()
    tensor([0., -inf])
    """

    __slots__ = ()
