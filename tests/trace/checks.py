# SPDX-License-Identifier: MIT
"""Checks for tests that go on after one of them has failed. A test ends with: return checks.failures > 0"""
failures = 0


def check(what, ok, more=""):
    """Counts and prints a failure unless ok is true."""
    global failures
    if not ok:
        print("failed:", what, more)
        failures += 1


def equal(what, got, want):
    global failures
    if got != want:
        print("%s: %r, expected %r" % (what, got, want))
        failures += 1
