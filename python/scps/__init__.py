# SPDX-License-Identifier: MIT
"""TCP and SCPS-TP (CCSDS 714.0-B-2) over simulated space links, in virtual time.

    transfer()   one transfer over one link, with the figures of scps_ttcp --link
    sweep()      many of them, as a pandas DataFrame
    Scenario     a scenario file of scps_lab: one run of it, or its whole sweep as a DataFrame
    read_capture a pcap as scps_trace reads it: connections and segments, and why each was sent again
    World        hosts, links and connections of your own, event by event
    Stack        one host without a clock: packets and the time go in, packets and the next deadline come out

Times are seconds, sizes bytes, rates bit/s. The same arguments give the same result, bit for bit.
"""
from ._capture import Capture, figures, read_capture
from ._errors import ClosedError, ScpsError
from ._names import controllers, presets, settings, version
from ._scenario import Flow, Run, Scenario, published, scenarios
from ._stack import Stack
from ._transfer import Result, sweep, transfer
from ._world import Connection, Event, Hole, Host, Link, Listener, World

__version__ = version()
__all__ = ["Capture", "ClosedError", "Connection", "Event", "Flow", "Hole", "Host", "Link", "Listener", "Result", "Run", "Scenario",
           "ScpsError", "Stack", "World", "controllers", "figures", "presets", "published", "read_capture", "scenarios", "settings", "sweep",
           "transfer", "version"]
