#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scenarios of draft-ietf-ccwg-bbr's test cases, lab/scenarios/bbr-draft/, each against the figures that it expects.

    bbr_scenarios_test.py SCPS_LAB [unittest options]
    bbr_scenarios_test.py SCPS_LAB --show FILE.ini [KEY=VALUE...]     what the sender did, a line a phase

A scenario says what it expects in comments "#= WHAT: LEAST..MOST", judged by the qlog of its flow; A-B is a span of seconds:

    begins PHASE[#N]    seconds: when the phase begins for the first (the Nth) time
    lasts PHASE[#N]     seconds
    times PHASE         how often it begins
    rate A-B            Mbit/s of payload acknowledged
    pacing A-B          Mbit/s: every rate that was set lies there
    window A-B          segments of 1448 octets: every window lies there
    flight A-B          segments: the most in flight
    lost A-B            packets
    share-lost A-B      of what was sent, per cent
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

LAB = os.path.abspath(sys.argv[1])
TREE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FOLDER = os.path.join(TREE, "lab", "scenarios", "bbr-draft")
MSS = 1448


class Flow:
    """The qlog of the one flow of a scenario."""

    def __init__(self, ini, settings=()):
        more = [w for s in settings for w in ("--set", s)]
        with tempfile.TemporaryDirectory() as d:
            said = subprocess.run([LAB, "run", ini, *more, "--qlog", os.path.join(d, "x")], capture_output=True, text=True, timeout=300, check=False)
            if said.returncode:
                raise RuntimeError(said.stderr)
            with open(os.path.join(d, "x-flow.qlog"), encoding="utf-8") as f:
                self.events = [json.loads(r) for r in f.read().split("\x1e")[2:]]
        self.end = self.events[-1]["time"] / 1000
        new = [(e["time"] / 1000, e["data"]["new"]) for e in self.of("recovery:congestion_state_updated")]
        self.phases = [(p, a, b) for (a, p), (b, _) in zip(new, new[1:] + [(self.end, "")])]

    def of(self, name, a=0.0, b=1e9):
        return [e for e in self.events if e["name"] == name and a * 1000 <= e["time"] < b * 1000]

    def metric(self, name, a, b):
        return [e["data"][name] for e in self.of("recovery:metrics_updated", a, b) if name in e["data"]]

    def phase(self, what):
        name, _, n = what.partition("#")
        rows = [p for p in self.phases if p[0] == name]
        n = int(n or 1)
        return rows[n - 1] if len(rows) >= n else (name, float("inf"), float("inf"))

    def acked(self, a, b):
        size = {e["data"]["header"]["packet_number"]: e["data"]["raw"]["length"] for e in self.of("transport:packet_sent")}
        return sum(size[k] for e in self.of("transport:packet_received", a, b) for f in e["data"]["frames"]
                   for x, y in f.get("acked_ranges", []) for k in range(x, y + 1))

    def values(self, what):
        """What is measured: one value or several that must all lie within."""
        verb, arg = what.split()
        if verb == "times":
            return [sum(p[0] == arg for p in self.phases)]
        if verb == "begins":
            return [self.phase(arg)[1]]
        if verb == "lasts":
            return [self.phase(arg)[2] - self.phase(arg)[1]]
        a, b = map(float, arg.split("-"))
        if verb == "rate":
            return [self.acked(a, b) * 8e-6 / (b - a)]
        if verb == "pacing": # with that in force at A
            return [v * 1e-6 for v in self.metric("pacing_rate", 0, a)[-1:] + self.metric("pacing_rate", a, b)]
        if verb == "window":
            return [v / MSS for v in self.metric("congestion_window", 0, a)[-1:] + self.metric("congestion_window", a, b)]
        if verb == "flight":
            return [max(self.metric("bytes_in_flight", a, b)) / MSS]
        lost = len(self.of("recovery:packet_lost", a, b))
        return [lost] if verb == "lost" else [100 * lost / len(self.of("transport:packet_sent", a, b))]

    def show(self):
        for p, a, b in self.phases:
            if b - a < 1e-9:
                continue
            w, r = self.metric("congestion_window", a, b), self.metric("pacing_rate", a, b)
            print("%8.3f %8.3f s  %-15s  acked %7.3f Mbit/s  pacing %s  window %s  flight at most %.0f  lost %d" % (
                a, b - a, p, self.acked(a, b) * 8e-6 / (b - a), "%.3f..%.3f" % (min(r) * 1e-6, max(r) * 1e-6) if r else "-",
                "%.0f..%.0f" % (min(w) / MSS, max(w) / MSS) if w else "-", max(self.metric("bytes_in_flight", a, b + 1e-3) or [0]) / MSS,
                len(self.of("recovery:packet_lost", a, b))))


def expectations(ini):
    with open(ini, encoding="utf-8") as f:
        for line in f:
            m = re.match(r"#= (.+?): ([-0-9.]+)\.\.([-0-9.]+)", line)
            if m:
                yield m.group(1), float(m.group(2)), float(m.group(3))
            elif line.startswith("#="):
                raise ValueError("%s: %s" % (ini, line))


class Scenarios(unittest.TestCase):
    def test_all_cases_are_there(self):
        """One scenario for each test of tests/sim/test_bbr_draft.c, which has one for each heading of the draft's appendix."""
        with open(os.path.join(TREE, "tests", "sim", "test_bbr_draft.c"), encoding="utf-8") as f:
            cases = re.findall(r"cmocka_unit_test\((\w+)\)", f.read())
        files = sorted(f[:-4] for f in os.listdir(FOLDER) if f.endswith(".ini"))
        self.assertEqual(["%02d-%s" % (i + 1, c.replace("_", "-")) for i, c in enumerate(cases)], files)
        self.assertEqual(22, len(files))

    def test_figures(self):
        for name in sorted(os.listdir(FOLDER)):
            if not name.endswith(".ini"):
                continue
            ini = os.path.join(FOLDER, name)
            flow, wanted = Flow(ini), list(expectations(ini))
            self.assertGreaterEqual(len(wanted), 2, name)
            for what, least, most in wanted:
                with self.subTest(scenario=name, what=what):
                    v = flow.values(what) or [float("nan")]
                    self.assertTrue(least <= min(v) and max(v) <= most, "%.4f..%.4f, expected %g..%g" % (min(v), max(v), least, most))

    def test_a_figure_that_is_missed_is_named(self):
        flow = Flow(os.path.join(FOLDER, sorted(os.listdir(FOLDER))[0]))
        self.assertEqual([float("inf")], flow.values("begins nothing"))
        self.assertEqual([0], flow.values("times nothing"))


if sys.argv[2:3] == ["--show"]:
    Flow(sys.argv[3], sys.argv[4:]).show()
    sys.exit(0)
sys.argv = sys.argv[:1] + sys.argv[2:]
unittest.main()
