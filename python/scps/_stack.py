# SPDX-License-Identifier: MIT
"""One host without a clock or a device: packets and the time go in, packets and the next deadline come out."""
import secrets
from typing import Any, Iterator, Optional

from . import _names
from ._errors import Owner, ScpsError, Single, check_int, check_seconds, check_text
from ._ffi import ffi, lib
from ._world import Event, Net

NEVER = 2 ** 63 - 1


class Stack(Net, Single):
    """A stack with one address. Sequence numbers, ports and SYN cookies follow from `seed`; None: it is random."""

    def __init__(self, address: str, prefix: int = 24, mtu: int = 1500, seed: Optional[int] = None, now: float = 0.0):
        number = secrets.randbits(128) if seed is None else check_int("seed", seed, 0, 2 ** 128 - 1)
        text, bits = check_text("address", address), check_int("prefix", prefix, 0, 128)
        mtu = check_int("mtu", mtu, 128, 65535)
        start = check_seconds("now", now)
        if start > NEVER // 2:
            raise ValueError("now: %r is not from 0 to %r seconds" % (now, NEVER // 2 / 1e6))
        super().__init__(Owner("the stack"), lib.py_stack_new(number & (2 ** 64 - 1), number >> 64, start))
        self._nif = lib.py_netif_new(mtu)
        if self._stack == ffi.NULL or self._nif == ffi.NULL:
            raise MemoryError
        self._room = ffi.new("char[]", 65535 + 128)
        err = lib.py_stack_add_netif(self._stack, self._nif) or lib.py_stack_add_addr(self._stack, self._nif, text, bits)
        if err != 0:
            self.close()
            raise ValueError("%s/%d: no address that a host can have" % (address, prefix))

    def __enter__(self) -> "Stack":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_nif", None):
            self.close()

    def close(self) -> None:
        """Frees the stack with its connections; sends nothing. A second call has no effect."""
        if not self._owner.open:
            return
        with self._owner:
            self._owner.open = False
            lib.scps_stack_free(self._stack)
            lib.py_netif_free(self._nif)

    def input(self, packet: bytes, now: float) -> Optional[str]:
        """Hands in one IP packet that has arrived. Returns None if it was used, otherwise the reason why not."""
        view = memoryview(packet).cast("B")
        with self._owner:
            drop = lib.py_stack_input(self._stack, self._nif, ffi.from_buffer("char[]", view), len(view), check_seconds("now", now))
        return _names.DROPS[drop] if drop else None

    def output(self, now: float) -> Optional[bytes]:
        """Returns the next packet to send, or None if there is none before the deadline."""
        with self._owner:
            n = lib.py_stack_output(self._stack, self._nif, check_seconds("now", now), self._room)
            if n < 0:
                raise ScpsError(int(n))
            return bytes(ffi.buffer(self._room, int(n))) if n > 0 else None

    @property
    def deadline(self) -> float:
        """Returns the time at which output() has something to do next; infinity: not before a packet arrives or a
        call is made."""
        with self._owner:
            at = lib.scps_stack_deadline(self._stack)
        return float("inf") if at == NEVER else at / 1e6

    def events(self) -> Iterator[Event]:
        """Returns the events since the last call."""
        seen = ffi.new("struct py_seen *")
        while True:
            with self._owner:
                if lib.py_stack_event(self._stack, seen) != 1:
                    return
                event = self._event(seen)
            yield event
