# SPDX-License-Identifier: MIT
"""Observer events (notes) and packets as NumPy arrays and pandas frames."""
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._ffi import ffi, lib
from ._names import FATES, NOTES, text

if TYPE_CHECKING:
    import pandas

NOTE = np.dtype([("at", "i8"), ("host", "u4"), ("conn", "u4"), ("kind", "u4"), ("zero", "u4"), ("arg", "u8", 4)])
PACKET = np.dtype([("offered", "i8"), ("left", "i8"), ("arrival", "i8"), ("number", "u8"), ("direction", "u4"), ("fate", "u4"),
                   ("ip_len", "u4"), ("payload", "u4"), ("seq", "u4"), ("ack", "u4"), ("flags", "u4"), ("zero", "u4")])
SAMPLE = np.dtype([("at", "i8"), ("srtt", "i8"), ("acked", "u8"), ("received", "u8"), ("cwnd", "u8"), ("inflight", "u8"),
                   ("rate_bps", "u8"), ("resent", "u8"), ("flow", "u4"), ("zero", "u4")])
SEGMENT = np.dtype([("at", "i8"), ("rtt", "i8"), ("packet", "u8"), ("off", "u8"), ("ack_off", "u8"), ("win", "u8"), ("owin", "u8"),
                    ("snack_from", "u8"), ("snack_to", "u8"), ("conn", "u4"), ("seq", "u4"), ("ack", "u4"), ("len", "u4"), ("flags", "u2"),
                    ("proto", "u1"), ("direction", "u1"), ("cause", "u1"), ("resent", "u1"), ("out_of_order", "u1"), ("probe", "u1"),
                    ("hardware_dup", "u1"), ("keepalive", "u1"), ("spurious", "u1"), ("zero", "u1", 5)])
assert SAMPLE.itemsize == ffi.sizeof("struct py_sample") and SEGMENT.itemsize == ffi.sizeof("struct py_segment")
assert NOTE.itemsize == ffi.sizeof("struct py_note") and PACKET.itemsize == ffi.sizeof("struct py_packet")
NEVER = 2 ** 63 - 1


def copied(pointer: Any, n: int, kind: "np.dtype[np.void]") -> npt.NDArray[np.void]:
    """Returns a copy of the n items at pointer as an array."""
    if n == 0:
        return np.empty(0, kind)
    return np.frombuffer(ffi.buffer(pointer, n * kind.itemsize), kind).copy()


def notes_frame(notes: npt.NDArray[np.void], kind: str) -> "pandas.DataFrame":
    """Returns the observer events of one kind as a frame with a column for each of their arguments; times are in seconds."""
    import pandas as pd

    if not isinstance(kind, str) or kind not in NOTES:
        raise ValueError("kind: %r is no kind of note: %s" % (kind, ", ".join(NOTES)))
    k = NOTES.index(kind)
    rows = notes[notes["kind"] == k]
    columns = {"time": rows["at"] / 1e6, "host": rows["host"], "conn": rows["conn"]}
    for i in range(4):
        name = lib.py_note_arg(k, i)
        if name != ffi.NULL:
            columns[text(name)] = rows["arg"][:, i]
    return pd.DataFrame(columns)


def packets_frame(packets: npt.NDArray[np.void]) -> "pandas.DataFrame":
    """Returns the fate of each packet: the times at which it passed each place, s; NaN for a place that it did not reach."""
    import pandas as pd

    frame = pd.DataFrame({name: packets[name] for name in PACKET.names or () if name not in ("zero", "fate")})
    for name in ("offered", "left", "arrival"):
        frame[name] = np.where(packets[name] == NEVER, np.nan, packets[name] / 1e6)
    frame["fate"] = pd.Categorical.from_codes(packets["fate"].astype(np.int64), pd.Index(FATES))
    return frame
