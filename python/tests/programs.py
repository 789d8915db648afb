# SPDX-License-Identifier: MIT
"""The programs of the tree beside the module: the folder of scps_ttcp, scps_lab and scps_trace is in SCPS_BIN."""
import os
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def program(name):
    """The path of a program. Without SCPS_BIN the test is skipped; with it the program has to be there."""
    if "SCPS_BIN" not in os.environ:
        raise unittest.SkipTest("no programs: set SCPS_BIN to build/bin")
    path = os.path.join(os.path.abspath(os.environ["SCPS_BIN"]), name)
    if not os.access(path, os.X_OK):
        raise AssertionError("%s is not built" % path)
    return path


def run(name, *words, **kw):
    """What a program did: its status, stdout and stderr as text."""
    return subprocess.run([program(name), *words], capture_output=True, encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL, **kw)
