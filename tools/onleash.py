# SPDX-License-Identifier: MIT
"""Ends the programs that a Python script has started together with it: see tools/leash."""
import os
import signal
import sys


def lead():
    """Runs this script again on a leash unless it is on one. From then on TERM, INT and HUP unwind it: 'finally' and 'with'
    clean up, and no second signal disturbs them."""
    if os.environ.get("SCPS_LEASH") != str(os.getppid()):
        leash = os.path.join(os.path.dirname(os.path.abspath(__file__)), "leash")
        os.execv(leash, [leash, sys.executable, *sys.argv])
    heard = [s for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if signal.getsignal(s) != signal.SIG_IGN]

    def unwind(number, frame):
        for s in heard:
            signal.signal(s, signal.SIG_IGN)
        sys.exit(128 + number)

    for s in heard:
        signal.signal(s, unwind)
