# SPDX-License-Identifier: MIT
"""Hosts, links and connections of a simulated world, event by event."""
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Type, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _arrays, _names
from ._errors import ClosedError, Made, Owner, ScpsError, Single, check_int, check_seconds, check_text, made, message
from ._ffi import ffi, lib
from ._go import callback

if TYPE_CHECKING:
    import pandas

AGAIN = lib.py_error_again()
HOLE = lib.py_error_hole()
RECORD_END, RECORD_TORN = 1, 2
END = 9 * 10 ** 18  # the latest time of the clock, µs
UNCLEARED = ffi.new_allocator(should_clear_after_alloc=False)
H = TypeVar("H", bound="_Handle")


class Event(NamedTuple):
    """An event of a stack: see SCPS_EV_* in <scps/stack.h>."""

    kind: str  #: "connected", "accept", "readable", "writable", "peer_closed", "drained", "closed", "error", ...
    conn: Optional["Connection"]
    listener: Optional["Listener"]
    error: Optional[str]


class Hole(NamedTuple):
    """A range of bytes of a stream that best effort gave up."""

    at: int      #: number of bytes of the stream before it, earlier missing bytes included
    length: int


def make_config(cc: str, settings: Dict[str, Any]) -> Any:
    buf = ffi.new("char[512]")
    c = ffi.gc(lib.py_config_new(), lib.py_config_free)
    if c == ffi.NULL:
        raise MemoryError
    _names.apply(settings, lambda *a: lib.py_config_set(c, *a))
    if lib.py_config_cc(c, check_text("cc", cc), buf, 512) != 0:
        raise ValueError(message(buf))
    return c


class Net:
    """The connections and listeners of one stack, the base class of Host and Stack."""

    def __init__(self, owner: Owner, stack: Any):
        self._owner, self._stack = owner, stack
        self._known: Dict[int, Any] = {}
        self._buffer: Any = None
        self._buffer_len = 0

    def _read_into(self, most: int) -> Any:
        """Returns the buffer for a read. It is kept, because clearing a new one takes longer than the read."""
        if most > 1 << 24:
            return UNCLEARED("char[]", most)
        if most > self._buffer_len:
            self._buffer, self._buffer_len = UNCLEARED("char[]", most), most
        return self._buffer

    def _of(self, pointer: Any, kind: Type[H]) -> H:
        """Returns the object of a handle, and makes it if there is none yet."""
        key = int(ffi.cast("uintptr_t", pointer))
        if key not in self._known:
            self._known[key] = made(kind, self, pointer)
        found: H = self._known[key]
        return found

    def _forget(self, pointer: Any) -> None:
        self._known.pop(int(ffi.cast("uintptr_t", pointer)), None)

    def _event(self, seen: Any) -> Event:
        kind = _names.EVENTS[seen.kind]
        return Event(kind, self._of(seen.conn, Connection) if seen.conn else None,
                     self._of(seen.listener, Listener) if seen.listener else None,
                     _names.text(lib.py_error(seen.err)) if kind == "error" else None)

    def _touched(self) -> None:
        """Called when a call from outside may have given the stack something to do."""

    def listen(self, port: int, cc: str = "vj", backlog: int = 16, **settings: Any) -> "Listener":
        """Waits for connections on every address."""
        err = ffi.new("int *")
        config = make_config(cc, settings)
        port, backlog = check_int("port", port, 1, 65535), check_int("backlog", backlog, 1, 65535)
        with self._owner:
            listener = lib.py_listen(self._stack, config, port, backlog, err)
            if listener == ffi.NULL:
                raise ScpsError(err[0])
            return self._of(listener, Listener)

    def connect(self, address: str, port: int, cc: str = "vj", **settings: Any) -> "Connection":
        """Opens a connection; "connected" or "error" tells how it went."""
        err = ffi.new("int *")
        config = make_config(cc, settings)
        port, to = check_int("port", port, 1, 65535), check_text("address", address)
        with self._owner:
            conn = lib.py_connect(self._stack, config, to, port, err)
            if conn == ffi.NULL:
                raise ScpsError(err[0])
            self._touched()
            return self._of(conn, Connection)


class _Handle(Made):
    _what = "handle"

    def __init__(self, net: Net, pointer: Any):
        self._net, self._pointer = net, pointer

    @property
    def closed(self) -> bool:
        return self._pointer is None or not self._net._owner.open

    def _get(self) -> Any:
        if self._pointer is None:
            raise ClosedError("the " + self._what)
        return self._pointer

    def _gone(self) -> None:
        self._net._forget(self._pointer)
        self._pointer = None


class Listener(_Handle):
    """Waits for connections; made by listen()."""

    _by = "listen()"
    _what = "listener"

    def accept(self) -> Optional["Connection"]:
        """Returns the oldest connection that was not accepted yet, or None."""
        with self._net._owner:
            conn = lib.scps_accept(self._get())
            return self._net._of(conn, Connection) if conn else None

    def close(self) -> None:
        """Stops listening and resets connections that were not accepted. Closing twice has no effect."""
        if not self.closed:
            with self._net._owner:
                lib.scps_listener_close(self._get())
                self._gone()
                self._net._touched()


class Connection(_Handle):
    """One end of a connection; made by connect() and accept()."""

    _by = "connect() and accept()"
    _what = "connection"

    def write(self, data: Union[bytes, bytearray, memoryview], record: bool = False) -> int:
        """Writes as many bytes as there is room for and returns their number; 0: there is no room now, and "writable"
        will come. record: the last byte ends a record."""
        view = memoryview(data).cast("B")
        with self._net._owner:
            if len(view) == 0:
                self._get()
                return 0
            n = lib.scps_conn_write(self._get(), ffi.from_buffer(view), len(view), 4 if record else 0)
            self._net._touched()
        if n == AGAIN:
            return 0
        if n < 0:
            raise ScpsError(int(n))
        return int(n)

    def read(self, most: int = 65536) -> Optional[bytes]:
        """Returns up to `most` bytes; b"" at the end of the stream; None if there is no data now. A read ends at the end
        of a record. Where best effort gave data up it raises ScpsError until hole() is called."""
        most = check_int("most", most, 1, 1 << 30)
        with self._net._owner:
            out = self._net._read_into(most)
            n = lib.scps_conn_read(self._get(), out, most, 0)
            self._net._touched()
            if n > 0:
                return bytes(ffi.buffer(out, n))
        if n == AGAIN:
            return None
        if n == HOLE:
            raise ScpsError(HOLE, "data is missing here (best effort gave it up): call hole() to read on")
        if n < 0:
            raise ScpsError(int(n))
        return b""

    def hole(self) -> Optional[Hole]:
        """Best effort: steps over missing data where reading has stopped, after the event "hole", and returns the
        range; None if no data is missing there."""
        out = ffi.new("uint64_t[2]")
        with self._net._owner:
            if not lib.py_conn_hole(self._get(), out):
                return None
            self._net._touched()
            return Hole(int(out[0]), int(out[1]))

    def given_up(self) -> List[Hole]:
        """Best effort: returns the ranges of the written data that were given up, at most 4096. Their data may have
        arrived nevertheless."""
        with self._net._owner:
            n = min(lib.py_conn_given_up(self._get(), ffi.NULL, 0), 4096)
            out = ffi.new("uint64_t[]", 2 * n)
            lib.py_conn_given_up(self._get(), out, n)
        return [Hole(int(out[2 * i]), int(out[2 * i + 1])) for i in range(n)]

    @property
    def record_end(self) -> bool:
        """Whether the byte that was read last ended a record."""
        with self._net._owner:
            return bool(lib.scps_conn_record(self._get()) & RECORD_END)

    @property
    def record_torn(self) -> bool:
        """Whether best effort gave up bytes of the record of the byte that was read last, or directly before it."""
        with self._net._owner:
            return bool(lib.scps_conn_record(self._get()) & RECORD_TORN)

    def shutdown(self) -> None:
        """Sends a FIN after the written data; data can still be read."""
        with self._net._owner:
            err = lib.scps_conn_shutdown(self._get())
            self._net._touched()
        if err != 0:
            raise ScpsError(err)

    def close(self) -> None:
        """Closes the connection in order, in the background. Closing twice has no effect."""
        self._end(lib.scps_conn_close)

    def abort(self) -> None:
        """Ends the connection with a reset."""
        self._end(lib.scps_conn_abort)

    def _end(self, how: Callable[[Any], None]) -> None:
        if not self.closed:
            with self._net._owner:
                how(self._get())
                self._gone()
                self._net._touched()

    @property
    def state(self) -> str:
        with self._net._owner:
            return _names.text(lib.py_conn_state(self._get()))

    @property
    def id(self) -> int:
        """Returns the number of the connection, which observer events contain."""
        with self._net._owner:
            return int(lib.scps_conn_id(self._get()))

    def info(self) -> Dict[str, Any]:
        """Returns the figures of struct scps_info; times are in seconds."""
        numbers = ffi.new("int64_t[]", len(_names.FIGURES))
        with self._net._owner:
            lib.py_conn_figures(self._get(), numbers)
        return _names.figures(numbers)


class Host(Net, Made):
    """A host of a world; made by World.host()."""

    _by = "World.host()"

    def __init__(self, world: "World", name: str, on_event: Optional[Callable[["Host", Event], None]]):
        super().__init__(world._owner, ffi.NULL)
        self.world, self.name, self.on_event = world, name, on_event
        self._self = ffi.new_handle(self)
        self._host: Any = None

    def _touched(self) -> None:
        lib.scps_host_kick(self._host)


class Link(Made):
    """A link of a world; made by World.link()."""

    _by = "World.link()"

    def __init__(self, world: "World", pointer: Any):
        self._world, self._pointer = world, pointer

    def stats(self, direction: int = 0) -> Dict[str, int]:
        """Returns what one direction of the link (0: from the first host) has carried and lost."""
        out = ffi.new("uint64_t[7]")
        with self._world._owner:
            lib.py_link_stats(self._pointer, check_int("direction", direction, 0, 1), out)
        return {_names.text(lib.py_link_stat_name(i)): int(out[i]) for i in range(7)}


def py_on_event(ctx: Any, seen: Any) -> None:
    host = ffi.from_handle(ctx)
    if host.world._error is not None:
        return
    event = host._event(seen)
    if host.on_event is not None:
        host.on_event(host, event)


def _raised(kind: Any, error: BaseException, traceback: Any) -> None:
    """Keeps what a handler raised, or an interrupt that came before the first line of py_on_event, until run() raises
    it again."""
    world = ffi.from_handle(traceback.tb_frame.f_locals["ctx"]).world
    world._error = error
    lib.py_world_stop(world._world)


callback(py_on_event, onerror=_raised)


class World(Single):
    """Hosts and links in virtual time. Use it with `with`, or close() it."""

    def __init__(self, seed: int = 1, notes: Any = None):
        self._seed = check_int("seed", seed, 0, 2 ** 64 - 1)
        self._mask = _names.note_mask(notes)
        self._owner = Owner("the world")
        self._running = False
        self._error: Optional[BaseException] = None
        self._hosts: List[Host] = []
        self._links = 0
        self._world = lib.py_world_new()
        if self._world == ffi.NULL:
            raise MemoryError

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_world", None) and self._owner.open:
            lib.py_world_free(self._world)

    def close(self) -> None:
        """Closes and frees the hosts, links and connections of the world. A second call has no effect."""
        if not self._owner.open:
            return
        with self._owner:
            if self._running:
                raise RuntimeError("the world is running: stop() it, and close it after run()")
            self._owner.open = False
            lib.py_world_free(self._world)
            self._world = None

    @property
    def now(self) -> float:
        with self._owner:
            return int(lib.py_world_now(self._world)) / 1e6

    def host(self, name: str, on_event: Optional[Callable[[Host, Event], None]] = None) -> Host:
        """Adds a host; on_event(host, event) is called for each event at its virtual time, and may call methods of
        the host."""
        h = made(Host, self, name, on_event)
        with self._owner:
            h._host = lib.py_world_host(self._world, check_text("name", name), self._seed, self._mask, lib.py_on_event, h._self)
            if h._host == ffi.NULL:
                raise MemoryError
            h._stack = lib.scps_host_stack(h._host)
            self._hosts.append(h)
        return h

    def link(self, a: Host, address_a: str, b: Host, address_b: str, spec: str = "geo", prefix: int = 24, mtu: int = 1500) -> Link:
        """Joins two hosts; spec has the words of scps_ttcp --link."""
        for h in (a, b):
            if not isinstance(h, Host):
                raise TypeError("a host is wanted, not %s" % type(h).__name__)
            if h.world is not self:
                raise ValueError("%s is a host of another world" % h.name)
        out, buf = ffi.new("struct scps_link **"), ffi.new("char[512]")
        with self._owner:
            err = lib.py_world_link(self._world, a._host, check_text("address_a", address_a), b._host,
                                    check_text("address_b", address_b), check_int("prefix", prefix, 0, 128),
                                    check_int("mtu", mtu, 128, 65535), check_text("spec", spec), self._seed + self._links, out, buf, 512)
            if err != 0:
                raise ValueError(message(buf))
            self._links += 1
        return made(Link, self, out[0])

    def run(self, seconds: float) -> int:
        """Lets `seconds` of virtual time pass, or runs until no event is left or stop() is called. Returns the number
        of events."""
        until, served = check_seconds("seconds", seconds), ffi.new("uint64_t *")
        with self._owner:
            if self._running:
                raise RuntimeError("the world is running already: run() is not for event handlers")
            self._running = True
            try:
                end = min(lib.py_world_now(self._world) + until, END)
                while lib.py_world_run(self._world, end, served) and self._error is None:
                    pass
            finally:
                self._running = False
            error, self._error = self._error, None
        if error is not None:
            raise error
        return int(served[0])

    def stop(self) -> None:
        """Ends run(); it is called from an event handler."""
        with self._owner:
            lib.py_world_stop(self._world)

    @property
    def notes(self) -> npt.NDArray[np.void]:
        """Returns the observer events of all hosts so far, of the kinds that World(notes=...) selected."""
        n = ffi.new("size_t *")
        with self._owner:
            return _arrays.copied(lib.py_world_notes(self._world, n), n[0], _arrays.NOTE)

    def notes_frame(self, kind: str) -> "pandas.DataFrame":
        return _arrays.notes_frame(self.notes, kind)
