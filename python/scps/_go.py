# SPDX-License-Identifier: MIT
"""Long calls into the library: a callback can end them early, and several of them run at once as threads."""
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterable, List, Optional, TypeVar

from ._ffi import ffi

T = TypeVar("T")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


class Going:
    """The callback whose result ends a long call of the library early. Python processes a Ctrl-C in it."""

    def __init__(self, stop: Optional[threading.Event] = None):
        self.stop = stop
        self.error: Optional[BaseException] = None
        self.handle = ffi.new_handle(self)

    def on(self) -> bool:
        return self.error is None and not (self.stop is not None and self.stop.is_set())

    def check(self) -> None:
        """Raises the exception that stopped the call, if one did."""
        if self.error is not None:
            raise self.error
        if self.stop is not None and self.stop.is_set():
            raise Stopped("another run failed")


class Stopped(Exception):
    """Raised in a run that ends because another one has failed."""


def _noticed(kind: Any, error: BaseException, traceback: Any) -> None:
    ffi.from_handle(traceback.tb_frame.f_locals["ctx"]).error = error


def callback(f: F, **how: Any) -> F:
    """Registers f as the function that the C function of the same name calls."""
    ffi.def_extern(**how)(f)
    return f


def py_go_on(ctx: Any) -> int:
    return int(ffi.from_handle(ctx).on())


callback(py_go_on, error=0, onerror=_noticed)


def spread(work: Callable[[T, Optional[threading.Event]], R], items: Iterable[T], jobs: int) -> List[R]:
    """Calls work(item, stop) for each item, in `jobs` threads; the library runs without Python's lock. Returns the results in
    the order of the items. The first error ends the other runs and is raised."""
    todo = list(items)
    if jobs == 1 or len(todo) < 2:
        return [work(item, None) for item in todo]
    stop = threading.Event()

    def one(item: T) -> R:
        try:
            if stop.is_set():
                raise Stopped("another run failed")
            return work(item, stop)
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(one, item) for item in todo]
        try:
            results = []
            for f in futures:
                error = f.exception()
                if error is None:
                    results.append(f.result())
                elif not isinstance(error, Stopped):
                    raise error
            return results if len(results) == len(todo) else _first_error(futures)
        except BaseException:
            stop.set()
            raise


def _first_error(futures: List[Any]) -> Any:
    """Raises the error that stopped the other runs; it need not be the first in the list."""
    raise next(f.exception() for f in futures if f.exception() is not None and not isinstance(f.exception(), Stopped))
