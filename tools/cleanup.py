# SPDX-License-Identifier: MIT
"""Ends the programs that a Python script has started when the script ends: see tools/with-cleanup."""
import os
import signal
import sys


def with_cleanup():
    """Runs this script again under tools/with-cleanup unless it already runs there. From then on SIGTERM, SIGINT and SIGHUP
    raise an exception, so that 'finally' and 'with' clean up; further signals are ignored."""
    if os.environ.get("SCPS_WITH_CLEANUP") != str(os.getppid()):
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "with-cleanup")
        os.execv(program, [program, sys.executable, *sys.argv])
    heard = [s for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if signal.getsignal(s) != signal.SIG_IGN]

    def unwind(number, frame):
        for s in heard:
            signal.signal(s, signal.SIG_IGN)
        sys.exit(128 + number)

    for s in heard:
        signal.signal(s, unwind)
