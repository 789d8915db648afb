# SPDX-License-Identifier: MIT
"""Captures, read by the analyser of scps_trace: connections and segments with why each was sent again."""
import gzip
import os
import threading
import zlib
from typing import TYPE_CHECKING, Any, Dict, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _arrays, _names
from ._errors import Made, check_int, made, message
from ._ffi import ffi, lib
from ._go import Going

if TYPE_CHECKING:
    import pandas

    Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

ENDS = ("open", "complete", "reset")
SYSTEM = lib.py_error_system()
COUNTS = _names._listed(lib.py_capture_count_name)


def _figures() -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    kind, words, unit = ffi.new("int *"), ffi.new("const char **"), ffi.new("const char **")
    while True:
        name = lib.py_traced_name(len(found), kind, words, unit)
        if name == ffi.NULL:
            return found
        found[_names.text(name)] = (chr(kind[0]), _names.text(words[0]), _names.text(unit[0]))


FIGURES = _figures()


class _Unpacked:
    """Opens a capture: one packed with gzip as a pipe that a thread fills, any other file directly."""

    def __init__(self, path: bytes):
        self.path, self.trouble, self._thread, self._end = path, "", None, -1
        with open(path, "rb") as f:
            packed = f.read(2) == b"\x1f\x8b"
        if packed:
            self._end, to = os.pipe()
            self.path = b"/dev/fd/%d" % self._end
            self._thread = threading.Thread(target=self._fill, args=(path, to), daemon=True)

    def __enter__(self) -> "_Unpacked":
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._thread is not None:
            os.close(self._end)  # if not all was read, the thread's next write fails, which ends the thread
            self._thread.join()

    _thread: Optional[threading.Thread]

    def _fill(self, path: bytes, to: int) -> None:
        try:
            with open(to, "wb") as out, gzip.open(path) as f:
                while True:
                    piece = f.read(1 << 17)
                    if not piece:
                        break
                    out.write(piece)
        except BrokenPipeError:
            pass
        except (OSError, EOFError, zlib.error) as e:
            self.trouble = "damaged gzip data: %s" % e


class Capture(Made):
    """The connections and segments of a capture. Made by read_capture()."""

    _by = "scps.read_capture()"
    totals: Dict[str, int]          #: packets read, TCP packets, what was not understood
    start: float                    #: of the first packet, seconds since 1970
    end: float
    trouble: Optional[str]          #: why reading ended before the end of the file; None: it did not
    packets: npt.NDArray[np.void]   #: every TCP packet: segments() names its figures

    def __init__(self, pointer: Any, trouble: Optional[str]):
        n, counts = ffi.new("size_t *"), ffi.new("uint64_t[]", len(COUNTS))
        first, last = ffi.new("int64_t *"), ffi.new("int64_t *")
        lib.py_capture_totals(pointer, first, last, counts)
        self.trouble, self._first = trouble, int(first[0])
        self.start, self.end = first[0] / 1e6, last[0] / 1e6
        self.totals = {name: int(counts[i]) for i, name in enumerate(COUNTS)}
        self.packets = _arrays.copied(lib.py_capture_segments(pointer, n), n[0], _arrays.SEGMENT)
        self._columns = self._flows(pointer)

    def __repr__(self) -> str:
        return "<Capture: %d packets, %d TCP, %d connections, %.6g s>" % (
            self.totals["packets"], self.totals["tcp_packets"], len(self._columns["conn"]) // 2, self.end - self.start)

    def _flows(self, pointer: Any) -> Dict[str, Any]:
        n = lib.py_capture_conns(pointer)
        c = ffi.new("struct py_traced *")
        columns: Dict[str, Any] = {k: [] for k in ("conn", "direction", "src", "sport", "dst", "dport", "end", "first", "last",
                                                   "began_before", "evicted", "scps_agreed")}
        for i in range(n):
            lib.py_capture_conn(pointer, i, c)
            a, b = (_names.text(c.host_a), c.port_a), (_names.text(c.host_b), c.port_b)
            for direction, (src, sport), (dst, dport) in (("a2b", a, b), ("b2a", b, a)):
                row = (c.number, direction, src, sport, dst, dport, ENDS[c.end], (c.first - self._first) / 1e6,
                       (c.last - self._first) / 1e6, bool(c.began_before), bool(c.evicted), _names.text(c.scps_agreed))
                for column, value in zip(columns.values(), row):
                    column.append(value)
        for k, (name, (kind, _, _)) in enumerate(FIGURES.items()):
            if kind == "S":
                columns[name] = [_names.text(lib.py_traced_words(pointer, k, i)) for i in range(2 * n)]
            elif kind == "U":
                columns[name] = np.empty(2 * n, "u8")
                lib.py_traced_counts(pointer, k, ffi.from_buffer("uint64_t[]", columns[name], require_writable=True))
                columns[name] = columns[name].astype("i8")
            else:
                columns[name] = np.empty(2 * n, "f8")
                lib.py_traced_numbers(pointer, k, ffi.from_buffer("double[]", columns[name], require_writable=True))
        return columns

    def flows(self) -> "pandas.DataFrame":
        """A row for each direction of each connection, with the figures of scps_trace --json (docs/SCPS_TRACE.md) under their names.
        first and last are seconds from the beginning of the capture. What does not apply is NaN."""
        import pandas as pd

        return pd.DataFrame(self._columns)

    def segments(self, conn: Optional[int] = None) -> "pandas.DataFrame":
        """A row for each TCP packet (conn: of one connection): times in seconds from the beginning of the capture, offsets in their
        stream, the scaled window, whether the segment was a retransmission and why, or out of order, and the RTT sample it gave."""
        import pandas as pd

        p = self.packets
        if conn is not None:
            p = p[p["conn"] == check_int("conn", conn, 1, 2 ** 32 - 1)]
        columns: Dict[str, Any] = {"time": (p["at"] - self._first) / 1e6, "packet": p["packet"].astype("i8"), "conn": p["conn"].astype("i8"),
                                   "direction": np.where(p["direction"] == 0, "a2b", "b2a").astype(object)}
        for name in ("off", "len", "ack_off", "win", "owin", "flags", "seq", "ack", "proto"):
            columns[name] = p[name].astype("i8")
        for name in ("resent", "out_of_order", "probe", "hardware_dup", "keepalive", "spurious"):
            columns[name] = p[name] != 0
        columns["cause"] = pd.Categorical.from_codes(p["cause"].astype(np.int64), pd.Index(_names.CAUSES))
        columns["rtt"] = np.where(p["rtt"] < 0, np.nan, p["rtt"] / 1e6)
        for name in ("snack_from", "snack_to"):
            columns[name] = p[name].astype("i8")
        return pd.DataFrame(columns)


def figures() -> Dict[str, str]:
    """The figures of Capture.flows() and their units, where they have one."""
    return {name: words + (", %s" % unit if unit else "") for name, (_, words, unit) in FIGURES.items()}


def read_capture(path: "Path", *, segments: bool = True, truth: "Optional[Path]" = None) -> Capture:
    """Reads a capture (pcap or pcapng, packed with gzip or not) as scps_trace does.

    segments  keep every TCP packet, 120 octets each
    truth     the log of the fate of each packet (scps_ttcp --truth); it shows which retransmissions were needed
    """
    going, msg = Going(), ffi.new("char[256]")
    name = _names.path("path", path)
    log = _names.path("truth", truth) if truth is not None else ffi.NULL
    if name == ffi.NULL:
        raise TypeError("path: the path of a capture is wanted, not None")
    c = ffi.gc(lib.py_capture_new(bool(segments), lib.py_go_on, going.handle), lib.py_capture_free)
    if c == ffi.NULL:
        raise MemoryError
    if log != ffi.NULL:
        _check(lib.py_capture_truth(c, log, msg), msg)
    with _Unpacked(ffi.string(name)) as file:
        err = lib.py_capture_read(c, file.path, msg)
    if going.error is not None:
        raise going.error
    shown = message(msg).replace(file.path.decode("utf-8", "replace"), os.fsdecode(ffi.string(name)))
    trouble = file.trouble or (shown if err == 1 else "")
    if err < 0:
        if file.trouble:
            raise ValueError("%s: %s" % (os.fsdecode(ffi.string(name)), file.trouble))
        _check(err, msg, shown)
    if lib.py_capture_end(c) != 0:
        raise MemoryError
    return made(Capture, c, trouble or None)


def _check(err: int, msg: Any, shown: str = "") -> None:
    text = shown or message(msg)
    if err == lib.py_error_nomem():
        raise MemoryError
    if err == SYSTEM:
        raise OSError(text)
    if err < 0:
        raise ValueError(text)
