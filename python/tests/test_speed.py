#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Transfers from Python make at least 80 % of the packets a second that the C programs make.

Measured alternately in one run, so that a busy machine slows down both; what counts is processor time. Where valgrind is there,
instructions are counted, too: those do not depend on the machine's load. Start-up is not counted: what two transfers of different
length differ by is the transfer.
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

import scps
from programs import program

LINK = "rate=1gbit,rtt=20ms"
SHARE = 0.8


def spent(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def c_words(size, hollow):
    return [program("scps_ttcp"), "-t", "-s", *(["--hollow"] if hollow else []), "-n", str(size // 8192), "--link", LINK, "--json"]


def c_packets(size, hollow):
    """Packets and processor time of scps_ttcp."""
    before = spent(resource.RUSAGE_CHILDREN)
    done = subprocess.run(c_words(size, hollow), capture_output=True, check=True, stdin=subprocess.DEVNULL)
    took = spent(resource.RUSAGE_CHILDREN) - before
    json.loads(done.stdout)
    return took


def python_packets(size, hollow):
    before = spent(resource.RUSAGE_SELF)
    r = scps.transfer(LINK, "vj", size, hollow=hollow)
    assert r.done and r.intact
    return spent(resource.RUSAGE_SELF) - before, r.packets


class Speed(unittest.TestCase):
    def measure(self, what, size, hollow):
        ours, its, packets = [], [], 0
        for _ in range(5):
            its.append(c_packets(size, hollow))
            took, packets = python_packets(size, hollow)
            ours.append(took)
        share = min(its) / min(ours)
        print("figure python: %s: %.0f packets a second of processor time, %.0f %% of scps_ttcp's" % (what, packets / min(ours), 100 * share))
        self.assertGreaterEqual(share, SHARE, (its, ours))

    def test_hollow(self):
        self.measure("hollow bytes", 819_200_000, True)

    def test_checked_bytes(self):
        self.measure("checked bytes", 409_600_000, False)

    def test_scenario(self):
        """A scenario beside scps_lab."""
        over = {"flow.size": "1gb", "link.ber": "0", "scenario.runs": 1}
        words = [program("scps_lab"), "run", "nasa500"] + [w for k, v in over.items() for w in ("--set", "%s=%s" % (k, v))]
        s, ours, its = scps.Scenario("nasa500", over), [], []
        for _ in range(5):
            before = spent(resource.RUSAGE_CHILDREN)
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            its.append(spent(resource.RUSAGE_CHILDREN) - before)
            before = spent(resource.RUSAGE_SELF)
            self.assertEqual(s.run().flows[0].status, "ok")
            ours.append(spent(resource.RUSAGE_SELF) - before)
        print("figure python: a scenario: %.0f %% of scps_lab's packets a second" % (100 * min(its) / min(ours)))
        self.assertGreaterEqual(min(its) / min(ours), SHARE, (its, ours))

    def test_capture(self):
        """A capture beside scps_trace, the segments not kept."""
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.pcap")
            scps.transfer(LINK, size=100_000_000, hollow=True, pcap=path)
            ours, its = [], []
            for _ in range(4):
                before = spent(resource.RUSAGE_CHILDREN)
                subprocess.run([program("scps_trace"), path], check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
                its.append(spent(resource.RUSAGE_CHILDREN) - before)
                before = spent(resource.RUSAGE_SELF)
                scps.read_capture(path, segments=False)
                ours.append(spent(resource.RUSAGE_SELF) - before)
        print("figure python: a capture: %.0f %% of scps_trace's packets a second" % (100 * min(its) / min(ours)))
        self.assertGreaterEqual(min(its) / min(ours), SHARE, (its, ours))

    def instructions(self, words):
        with tempfile.TemporaryDirectory() as d:
            out = os.path.join(d, "out")
            subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, *words], check=True, capture_output=True, stdin=subprocess.DEVNULL,
                           env=dict(os.environ, PYTHONHASHSEED="0"))
            with open(out, encoding="utf-8") as f:
                return int(next(line for line in f if line.startswith(("summary:", "totals:"))).split()[1])

    def test_instructions(self):
        if shutil.which("valgrind") is None:
            self.skipTest("valgrind is not installed")
        program("scps_ttcp")
        sizes = 81_920_000, 163_840_000  # beyond the losses at the end of slow start
        code = "import scps; print(scps.transfer(%r, 'vj', %d, hollow=True).packets)"
        packets = [int(subprocess.run([sys.executable, "-c", code % (LINK, n)], capture_output=True, check=True).stdout) for n in sizes]
        each = []
        for words in ([[sys.executable, "-c", code % (LINK, n)] for n in sizes], [c_words(n, True) for n in sizes]):
            few, many = (self.instructions(w) for w in words)
            each.append((many - few) / (packets[1] - packets[0]))
        print("figure python: %.1f instructions a packet, %.1f of scps_ttcp" % tuple(each))
        self.assertLessEqual(each[0], each[1] / SHARE)


if __name__ == "__main__":
    unittest.main()
