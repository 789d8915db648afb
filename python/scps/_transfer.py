# SPDX-License-Identifier: MIT
"""One transfer over one link as scps_ttcp --link makes it, and sweeps over many."""
import inspect
import itertools
import threading
from typing import TYPE_CHECKING, Any, Dict, Iterable, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _arrays, _names
from ._errors import Made, check_int, check_seconds, check_text, made, message
from ._ffi import ffi, lib
from ._go import Stopped, spread

if TYPE_CHECKING:
    import os

    import pandas

    Path = Union[str, "os.PathLike[str]"]

Notes = Union[None, bool, str, Iterable[str]]


class Result(Made):
    """The results of a transfer: numbers, and arrays of observer events and packets if they were requested."""

    _by = "scps.transfer()"
    done: bool           #: both ends have closed, and every byte was acknowledged
    intact: bool         #: every byte arrived as it was sent (hollow ones are counted only)
    error: Optional[str]
    seconds: float       #: from the SYN to the acknowledgement of the FIN; NaN: never
    delivered: float     #: when the receiver read the last byte; NaN: never
    bytes: int           #: read by the receiver
    rate: float          #: bit/s, of `bytes` in `seconds`; 0 unless done
    limit: float         #: bit/s that no sender beats here (a mean where losses are by chance); 0: none
    packets: int         #: that both stacks sent
    sender: Dict[str, Any]    #: the figures of scps_info
    receiver: Dict[str, Any]
    notes: npt.NDArray[np.void]
    trace: npt.NDArray[np.void]

    def __init__(self, t: Any):
        raw = ffi.new("struct py_result *")
        numbers = ffi.new("int64_t[]", len(_names.FIGURES))
        n = ffi.new("size_t *")
        lib.py_transfer_result(t, raw)
        self.done, self.intact = bool(raw.done), bool(raw.intact)
        self.error = _names.text(lib.py_error(raw.err)) if raw.err else None if raw.done else "not done within timeout"
        self.seconds = raw.elapsed / 1e6 if raw.elapsed >= 0 else float("nan")
        self.delivered = raw.delivered / 1e6 if raw.delivered >= 0 else float("nan")
        self.bytes, self.packets, self.limit = raw.bytes, raw.packets, float(raw.limit_bps)
        self.rate = raw.bytes * 8 / self.seconds if raw.done and raw.elapsed > 0 else 0.0
        lib.py_transfer_figures(t, 0, numbers)
        self.sender = _names.figures(numbers)
        lib.py_transfer_figures(t, 1, numbers)
        self.receiver = _names.figures(numbers)
        self.notes = _arrays.copied(lib.py_transfer_notes(t, n), n[0], _arrays.NOTE)
        self.trace = _arrays.copied(lib.py_transfer_packets(t, n), n[0], _arrays.PACKET)

    def __repr__(self) -> str:
        return "<Result %s: %d bytes, %.3f s, %.6g bit/s>" % (
            "done" if self.done else self.error, self.bytes, self.seconds, self.rate)

    def notes_frame(self, kind: str) -> "pandas.DataFrame":
        """Returns the observer events of one kind (host 0: the sender, 1: the receiver) with their arguments by name."""
        return _arrays.notes_frame(self.notes, kind)

    def trace_frame(self) -> "pandas.DataFrame":
        """Returns every packet of the link (direction 0: from the sender) and its fate."""
        return _arrays.packets_frame(self.trace)


def transfer(link: str = "geo", cc: str = "vj", size: int = 1 << 24, *, seed: int = 1, rate: int = 0, mtu: int = 1500, buffer: int = 0,
             chunk: int = 8192, ipv6: bool = False, hollow: bool = False, timeout: float = 1e6, notes: Notes = None, trace: bool = False,
             pcap: "Optional[Path]" = None, **settings: Any) -> Result:
    """Sends `size` bytes over `link` ("geo,ber=1e-6", the words of scps_ttcp --link) and reports.

    cc       controller with its parameters: "vegas,alpha=2"; one that needs a rate gets the link's where `rate` is 0
    rate     limit at the sender, bit/s; 0: none
    buffer   send and receive buffer, bytes; 0: chosen from the link
    hollow   count bytes without storing them
    timeout  give up after so many virtual seconds
    notes    kinds of observer events to keep (docs/EVENTS.md), or True for all
    trace    keep the fate of each packet
    pcap     a capture at the sender to write
    settings each of scps.settings(): times in seconds, sizes in bytes, rates in bit/s, choices as words
    """
    return _transfer(None, link, cc, size, seed, rate, mtu, buffer, chunk, ipv6, hollow, timeout, notes, trace, pcap, settings)


def _transfer(stop: Optional[threading.Event], link: str, cc: str, size: int, seed: int, rate: int, mtu: int, buffer: int, chunk: int,
              ipv6: bool, hollow: bool, timeout: float, notes: Notes, trace: bool, pcap: "Optional[Path]",
              settings: Dict[str, Any]) -> Result:
    buf = ffi.new("char[512]")
    size = check_int("size", size, 0, 2 ** 62)
    seed = check_int("seed", seed, 0, 2 ** 64 - 1)
    rate = check_int("rate", rate, 0, 70_000_000_000_000)
    mtu = check_int("mtu", mtu, 1280 if ipv6 else 128, 65535)
    buffer = check_int("buffer", buffer, 0, 1 << 30)
    chunk = check_int("chunk", chunk, 1, 1 << 30)
    until = check_seconds("timeout", timeout)
    mask, capture = _names.note_mask(notes), _names.path("pcap", pcap)
    t = ffi.gc(lib.py_transfer_new(), lib.py_transfer_free)
    if t == ffi.NULL:
        raise MemoryError
    if lib.py_transfer_cc(t, check_text("cc", cc), buf, 512) != 0:
        raise ValueError(message(buf))
    if lib.py_transfer_link(t, check_text("link", link), buf, 512) != 0:
        raise ValueError(message(buf))
    _names.apply(settings, lambda *a: lib.py_transfer_set(t, *a))
    lib.py_transfer_shape(t, size, chunk, seed, mtu, rate, buffer, bool(ipv6), bool(hollow))
    err = lib.py_transfer_begin(t, mask, bool(trace), capture, buf, 512)
    if err == 0:
        while lib.py_transfer_run(t, until):
            if stop is not None and stop.is_set():
                raise Stopped("another run failed")
        err = lib.py_transfer_end(t, buf, 512)
    if err != 0:
        _names.refuse(err, buf)
    return made(Result, t)


_DEFAULTS = {name: p.default for name, p in inspect.signature(transfer).parameters.items() if name != "settings"}


def _row(arguments: Dict[str, Any], stop: Optional[threading.Event]) -> Dict[str, Any]:
    given = dict(_DEFAULTS, **{k: v for k, v in arguments.items() if k in _DEFAULTS})
    r = _transfer(stop, **given, settings={k: v for k, v in arguments.items() if k not in _DEFAULTS})
    row = dict(arguments, done=r.done, intact=r.intact, error=r.error, seconds=r.seconds, bytes=r.bytes, mbps=r.rate / 1e6,
               limit_mbps=r.limit / 1e6, packets=r.packets)
    for name in ("resent_segs", "timeouts", "recoveries", "spurious", "srtt", "min_rtt", "max_cwnd"):
        row[name] = r.sender[name]
    return row


def sweep(jobs: int = 1, **axes: Any) -> "pandas.DataFrame":
    """A transfer for every combination of the arguments that are lists; a row each, in that order.

    jobs: threads that share the work; the rows are the same for any number.
    """
    import pandas as pd

    jobs = check_int("jobs", jobs, 1, 1024)
    lists = {k: list(v) if isinstance(v, (list, tuple, range, np.ndarray)) else [v] for k, v in axes.items()}
    cells = [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
    for cell in cells:
        for k, v in cell.items():
            cell[k] = v.item() if isinstance(v, np.generic) else v
    return pd.DataFrame(spread(_row, cells, jobs))
