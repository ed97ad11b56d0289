"""Exceptions that cross from one process to another."""

from __future__ import annotations

from typing import Any, NoReturn


class KeyErrorMessage(str):
    """A text whose repr is itself: `KeyError` shows the repr of what it is given."""

    __slots__ = ()

    def __repr__(self) -> str:
        return self


class ExceptionWrapper:
    """The type, the text and the traceback of an exception, as text: the exception itself may not be picklable."""

    def __init__(self, error: BaseException, where: str) -> None:
        import traceback

        self.exc_type: Any = type(error)
        self.exc_msg = "".join(traceback.format_exception(error))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an exception of the same type, whose message has the traceback."""
        msg = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            msg = KeyErrorMessage(msg)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=msg)
        try:
            exception = self.exc_type(msg)
        except Exception:  # a type with other arguments
            raise RuntimeError(msg) from None
        raise exception
