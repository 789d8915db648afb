# SPDX-License-Identifier: MIT
"""Errors of the library, and the check that an object is still open and used by one thread."""
import threading
from numbers import Real
from typing import Any, Type, TypeVar

from ._ffi import ffi, lib


T = TypeVar("T")


class ScpsError(Exception):
    """The library has returned an error; `code` is its SCPS_ERR_*."""

    def __init__(self, code: int, message: str = ""):
        super().__init__(message or ffi.string(lib.py_error(code)).decode())
        self.code = code


class ClosedError(ScpsError, ValueError):
    """A method was called on an object that is closed."""

    def __init__(self, what: str):
        Exception.__init__(self, "%s is closed" % what)
        self.code = 0


class Single:
    """The base of objects that stand for one object of the library, so they can be neither copied nor pickled."""

    def __copy__(self) -> Any:
        raise TypeError("%s cannot be copied" % type(self).__name__)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise TypeError("%s cannot be pickled: it lives in this process" % type(self).__name__)


class Made(Single):
    """The base of objects that only a method of another object makes; `_by` names that method."""

    _by = ""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        raise TypeError("%s objects are made by %s" % (cls.__name__, cls._by))


def made(kind: Type[T], *arguments: Any) -> T:
    """Makes an object of a class that derives from Made."""
    self = object.__new__(kind)
    self.__init__(*arguments)  # type: ignore[misc]
    return self


class Owner:
    """The state that all objects of one world or stack share: whether it is open, and which thread is inside a call."""

    def __init__(self, what: str):
        self.what = what
        self.open = True
        self._inside = threading.RLock()

    def __enter__(self) -> "Owner":
        if not self._inside.acquire(blocking=False):
            raise RuntimeError("%s is in use by another thread" % self.what)
        if not self.open:
            self._inside.release()
            raise ClosedError(self.what)
        return self

    def __exit__(self, *_: Any) -> None:
        self._inside.release()


def message(buffer: Any) -> str:
    return str(ffi.string(buffer).decode(errors="replace"))


def check_int(name: str, value: Any, least: int, most: int) -> int:
    """Returns value if it is a whole number within the bounds; otherwise raises an exception that names the argument."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError("%s: a whole number is wanted, not %s" % (name, type(value).__name__))
    number = int(value.__index__())
    if not least <= number <= most:
        raise ValueError("%s: %d is not from %d to %d" % (name, number, least, most))
    return number


def check_text(name: str, value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError("%s: a string is wanted, not %s" % (name, type(value).__name__))
    if "\0" in value:
        raise ValueError("%s: a NUL is in %r" % (name, value))
    return value.encode()


def check_seconds(name: str, value: Any) -> int:
    """Returns seconds as microseconds; raises an exception if they are not a valid time."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError("%s: seconds are wanted as a number, not %s" % (name, type(value).__name__))
    seconds = float(value)
    if not 0 <= seconds <= 9e12:
        raise ValueError("%s: %r is not from 0 to 9e12 seconds" % (name, value))
    return round(seconds * 1e6)
