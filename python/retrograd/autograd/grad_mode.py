"""Switches of the calling thread: whether ops record, inference mode, multithreading, gradient layouts."""

from __future__ import annotations

import functools
import warnings
from _thread import _local
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast, overload

from retrograd import _core
from retrograd._core import Tensor
from retrograd._local import carried

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

_F = TypeVar("_F", bound=Callable[..., Any])

_GENERATOR = 0x20  # the flag of a generator function in `co_flags`, inspect.CO_GENERATOR without importing inspect


def _is_generator_function(func: Callable[..., Any]) -> bool:
    while isinstance(func, functools.partial):
        func = func.func
    code = getattr(getattr(func, "__func__", func), "__code__", None)
    return isinstance(code, CodeType) and bool(code.co_flags & _GENERATOR)


class _Mode:
    """What scopes of the core get to decorate: every call, or every step of a generator, runs in a clone of the scope.

    Entering and leaving is theirs alone: an interrupt could come between two steps of it in Python.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __enter__(self) -> Any: ...
        def __exit__(self, kind: object, value: object, trace: object) -> None: ...

    def clone(self) -> Self:
        """Another manager of the same mode.

        Returns: a manager that has not been entered.

        >>> with rg.no_grad().clone():
        ...     rg.is_grad_enabled()
        False
        """
        return type(self)()

    def __call__(self, func: _F) -> _F:
        if isinstance(func, type):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                f"functions or methods. Of the class {func.__name__} this affects the construction alone: decorate its "
                "__init__ for that, or the methods that are meant.",
                FutureWarning,
                stacklevel=2,
            )
            func.__init__ = self(func.__init__)  # type: ignore[misc]
            return cast(_F, func)
        if _is_generator_function(func):
            return cast(_F, _in_steps(func, self.clone))

        @functools.wraps(func)
        def in_mode(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return func(*args, **kwargs)

        return cast(_F, in_mode)


def _in_steps(func: Callable[..., Any], mode: Callable[[], _Mode]) -> Callable[..., Any]:
    """A generator function whose body runs in the mode, and whose caller does not see it between the steps."""

    @functools.wraps(func)
    def stepwise(*args: Any, **kwargs: Any) -> Any:
        gen = func(*args, **kwargs)
        try:
            with mode():
                item = next(gen)
            while True:
                try:
                    sent = yield item
                except GeneratorExit:
                    with mode():
                        gen.close()
                    raise
                except BaseException as thrown:
                    with mode():
                        item = gen.throw(thrown)
                else:
                    with mode():
                        item = gen.send(sent)
        except StopIteration as stop:
            return stop.value

    return stepwise


class _Recording(_core._Recording, _Mode):
    """Recording on or off for a block. Given a function instead of parentheses, it decorates it."""

    __slots__ = ()
    _on: bool

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, orig_func: _F) -> _F: ...  # type: ignore[misc]
    def __new__(cls, orig_func: Any = None) -> Any:
        self = _core._Recording.__new__(cls, cls._on)
        return self if orig_func is None else self(orig_func)


class no_grad(_Recording):
    """Let the ops of a block, or of the decorated function, record nothing.

    Results computed inside do not require grad, even if their inputs do. The switch belongs to the calling thread.
    Leaves made inside with `requires_grad=True` keep the flag.

    Decorates with or without parentheses: functions, and generators, whose body alone runs in the mode.

    >>> x = rg.ones(2, requires_grad=True)
    >>> with rg.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    >>> @rg.no_grad()
    ... def double(x):
    ...     return x * 2
    >>> double(x).requires_grad
    False
    """

    __slots__ = ()
    _on = False


class enable_grad(_Recording):
    """Let the ops of a block, or of the decorated function, record again inside `no_grad`.

    Inside inference mode the switch is reported as on but nothing is recorded. Decorates like `no_grad`.

    >>> x = rg.ones(2, requires_grad=True)
    >>> with rg.no_grad(), rg.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    __slots__ = ()
    _on = True


class set_grad_enabled(_core._RecordingSwitch, _Mode):
    """Switch recording on or off at the call; as a context manager, put it back at the end of the block.

    Args: `mode` whether ops record. As a decorator it undoes its immediate effect, and acts in the function alone.

    >>> x = rg.ones(2, requires_grad=True)
    >>> with rg.set_grad_enabled(False):
    ...     (x * 2).requires_grad
    False
    >>> _ = rg.set_grad_enabled(False)
    >>> (x * 2).requires_grad
    False
    >>> _ = rg.set_grad_enabled(True)
    """

    __slots__ = ()

    def __call__(self, func: _F) -> _F:
        self._undo()
        return super().__call__(func)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mode={self.mode})"

    def clone(self) -> Self:
        """Another manager of the same mode; unlike this one it has no effect before it is entered.

        >>> _ = rg.set_grad_enabled(True).clone()
        """
        made = type(self)(self.mode)
        made._undo()
        return made


class inference_mode(_core._InferenceMode, _Mode):
    """Like `no_grad`, and new tensors carry no version counter: for code that will never be differentiated.

    Args: `mode` False returns to the normal mode, grad mode included, inside a block of inference mode.
    Tensors made inside cannot be saved for backward outside (RuntimeError); clone them first.

    >>> with rg.inference_mode():
    ...     y = rg.ones(2)
    >>> y.is_inference()
    True
    """

    __slots__ = ()

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: _F) -> _F: ...  # type: ignore[misc]
    def __new__(cls, mode: Any = True) -> Any:
        self = _core._InferenceMode.__new__(cls, mode if isinstance(mode, bool) else True)
        return self if isinstance(mode, bool) else self(mode)

    def clone(self) -> Self:
        """Another manager of the same mode.

        >>> rg.inference_mode(False).clone().mode
        False
        """
        return type(self)(self.mode)


class _Setting(_Mode):
    """A setting that acts when it is made, and is put back by a with statement."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def mode(self) -> bool: ...
        def _undo(self) -> None: ...

    def clone(self) -> Self:
        """Another manager of the same setting. Like every one, it acts when it is made.

        >>> with rg.autograd.set_multithreading_enabled(False) as _:
        ...     rg.autograd.is_multithreading_enabled()
        False
        """
        return type(self)(self.mode)  # type: ignore[call-arg]

    def __call__(self, func: _F) -> _F:
        self._undo()
        return super().__call__(func)


def is_multithreading_enabled() -> bool:
    """Whether backward may use several threads, as far as the calling thread is concerned.

    >>> rg.autograd.is_multithreading_enabled()
    True
    """
    return _core._is_multithreading_enabled()


class set_multithreading_enabled(_core._MultithreadingSwitch, _Setting):
    """Allow or forbid backward passes that the calling thread starts to use other threads.

    Acts when it is called; as a context manager it is put back at the end of the block. A backward pass runs on the
    thread that called it, so the setting is stored and nothing else.

    Args: `mode` whether other threads may be used.

    >>> with rg.autograd.set_multithreading_enabled(False):
    ...     rg.autograd.is_multithreading_enabled()
    False
    """

    __slots__ = ()


class enforce_grad_layout_policy(_core._GradLayoutSwitch, _Setting):
    """Whether a fresh `.grad` must have the strides of its leaf, in backward passes of the calling thread.

    Acts when it is called; as a context manager it is put back at the end of the block.

    Args: `enable` False lets the engine use a gradient's buffer as it is if nobody else holds it, and silences the
    warning about layouts that disagree.

    >>> x = rg.ones(2, 3, requires_grad=True)
    >>> with rg.autograd.enforce_grad_layout_policy(True):
    ...     (x.t() * rg.ones(3, 2)).sum().backward()
    >>> x.grad.stride() == x.stride()
    True
    """

    __slots__ = ()


class _Replay(_local):
    """Whether views are to be made again as they were made."""

    on = False


_replay = carried(_Replay())


def is_view_replay_enabled() -> bool:
    """Whether `_force_original_view_tracking` asked for views that are made again as they were made.

    >>> rg.autograd.is_view_replay_enabled()
    False
    """
    return _replay.on


class _force_original_view_tracking:
    """Ask that a view, whose base was written to since, is differentiated as the op that made it.

    Acts when it is called; as a context manager it is put back at the end of the block. The setting is stored and
    nothing else: such views are differentiated by their layout in memory, with the same gradients.

    >>> with rg.autograd._force_original_view_tracking(True):
    ...     rg.autograd.is_view_replay_enabled()
    True
    """

    def __init__(self, mode: bool) -> None:
        self.prev = _replay.on
        self.mode = mode
        _replay.on = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _replay.on = self.prev

    def clone(self) -> _force_original_view_tracking:
        """Another manager of the same setting."""
        return type(self)(self.mode)


class _unsafe_preserve_version_counter:
    """Let writes in the block go unnoticed: the tensors have the versions afterwards that they had before.

    What was saved for backward before the block counts as valid still, whatever was written to it: gradients are wrong
    unless the values are what they were.

    Args: `tensors` a tensor or a tuple of them.

    >>> x = rg.ones(2)
    >>> with rg.autograd._unsafe_preserve_version_counter(x):
    ...     _ = x.add_(1)
    >>> x._version
    0
    """

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple, or a tensor")
        self.prev_versions = tuple([t._version for t in self.tensors])

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _core._set_versions(self.tensors, self.prev_versions)
