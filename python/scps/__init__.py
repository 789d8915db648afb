# SPDX-License-Identifier: MIT
"""TCP and SCPS-TP (CCSDS 714.0-B-2) over simulated space links, in virtual time.

    transfer()   one transfer over one link, with the figures of scps_ttcp --link
    sweep()      many of them, as a pandas DataFrame
    World        hosts, links and connections of your own, event by event
    Stack        one host without a clock: packets and the time go in, packets and the next deadline come out

Times are seconds, sizes bytes, rates bit/s. The same arguments give the same result, bit for bit.
"""
from ._errors import ClosedError, ScpsError
from ._names import controllers, presets, settings, version
from ._stack import Stack
from ._transfer import Result, sweep, transfer
from ._world import Connection, Event, Host, Link, Listener, World

__version__ = version()
__all__ = ["ClosedError", "Connection", "Event", "Host", "Link", "Listener", "Result", "ScpsError", "Stack", "World", "controllers",
           "presets", "settings", "sweep", "transfer", "version"]
