# SPDX-License-Identifier: MIT
"""The names that the library knows (settings, controllers, links, kinds of observer events), and the conversion of settings
into values of the library."""
import os
import re
from typing import Any, Callable, Dict, List

import numpy as np

from ._errors import ScpsError, check_int, check_seconds, message
from ._ffi import ffi, lib

FLAG, COUNT, BYTES, RATE, TIME, CHOICE = range(6)
INT64 = 2 ** 63 - 1


def text(pointer: Any) -> str:
    return str(ffi.string(pointer).decode("utf-8", "surrogateescape"))


def _listed(name: Callable[[int], Any]) -> List[str]:
    out: List[str] = []
    while True:
        pointer = name(len(out))
        if pointer == ffi.NULL:
            return out
        out.append(text(pointer))


def version() -> str:
    """Returns the version of libscps."""
    return text(lib.py_version())


def controllers() -> List[str]:
    """Returns the names of the congestion controllers, for the argument `cc`."""
    return _listed(lib.py_controller)


def presets() -> List[str]:
    """Returns the names of the links that the library describes (presets)."""
    return _listed(lib.py_preset)


def settings() -> Dict[str, str]:
    """Returns the settings of a connection and what each does."""
    # Other settings stand in braces in the text, because each program spells their names in its own way.
    return {name: re.sub(r"\{(\w+)\}", r"\1", text(lib.py_setting_help(i))) for name, i in SETTINGS.items()}


NOTES = _listed(lib.py_note_kind)
FATES = _listed(lib.py_fate)
CAUSES = _listed(lib.py_cause)
DROPS = _listed(lib.py_drop)
EVENTS = _listed(lib.py_event_kind)
SETTINGS = {text(lib.py_setting_name(i)): i for i in range(lib.py_settings())}
FIGURES = [(text(lib.py_figure_name(i)), lib.py_figure_unit(i)) for i in range(lib.py_figures())]


def setting_value(name: str, value: Any) -> int:
    """Returns a setting's value in the unit of its field in scps_conn_config."""
    i = SETTINGS[name]
    kind = lib.py_setting_kind(i)
    if kind == FLAG:
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError("%s: True or False is wanted, not %r" % (name, value))
        return int(value)
    if kind == TIME:
        return check_seconds(name, value)
    if kind == CHOICE:
        words = text(lib.py_setting_words(i)).split()
        if value not in words:
            raise ValueError("%s: %r is none of %s" % (name, value, ", ".join(words)))
        return int(words.index(value))
    number = check_int(name, value, 0, INT64)
    return number // 8 if kind == RATE else number


def apply(given: Dict[str, Any], put: Callable[..., int]) -> None:
    """Calls put(i, value, msg, msglen) for each setting that is given."""
    buffer = ffi.new("char[512]")
    for name, value in given.items():
        if name not in SETTINGS:
            raise TypeError("%r is no setting: see scps.settings()" % name)
        if put(SETTINGS[name], setting_value(name, value), buffer, 512) != 0:
            raise ValueError(message(buffer))


def figures(numbers: Any) -> Dict[str, Any]:
    """Returns the numbers of py_conn_figures() by name: times in seconds, flags as bool."""
    return {name: bool(numbers[i]) if unit == 2 else numbers[i] / 1e6 if unit == 1 else numbers[i]
            for i, (name, unit) in enumerate(FIGURES)}


def note_mask(kinds: Any) -> int:
    """Returns the bit mask of kinds of observer events. kinds: None for none, True for all, or names."""
    if kinds is None or kinds is False:
        return 0
    if kinds is True:
        return (1 << len(NOTES)) - 1
    mask = 0
    if not hasattr(kinds, "__iter__"):
        raise TypeError("notes: names of kinds are wanted, or True for all, not %s" % type(kinds).__name__)
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind not in NOTES:
            raise ValueError("notes: %r is no kind of note: %s" % (kind, ", ".join(NOTES)))
        mask |= 1 << NOTES.index(kind)
    return mask


def path(name: str, value: Any) -> Any:
    """Returns a path as a C string; NULL for None."""
    if value is None:
        return ffi.NULL
    try:
        octets = os.fsencode(value)
    except TypeError:
        raise TypeError("%s: a path is wanted, not %s" % (name, type(value).__name__)) from None
    if b"\0" in octets or not octets:
        raise ValueError("%s: %r is no path" % (name, value))
    return ffi.new("char[]", b"./-" if octets == b"-" else octets)


def refuse(code: int, buffer: Any) -> None:
    raise ScpsError(code, message(buffer))
