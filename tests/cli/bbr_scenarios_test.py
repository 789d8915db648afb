#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scenarios of draft-ietf-ccwg-bbr's test cases, lab/scenarios/bbr-draft/, each against the figures that it expects.

    bbr_scenarios_test.py SCPS_LAB [unittest options]
    bbr_scenarios_test.py SCPS_LAB --show FILE.ini [KEY=VALUE...]     what the sender did, a line a phase
    bbr_scenarios_test.py SCPS_LAB --keep                             writes the small logs beside the scenarios anew

Beside each scenario is NAME.qlog, what --keep leaves of its log: the states of the connection and of the controller, and the
metrics in force at each of these and every half second.  A test compares, so a change of bbr shows there phase by phase.

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
import gc
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
BEGINS = re.compile(r'\s*{"time":([0-9.]+),"name":"([^"]+)"').match
SHOWN = ("recovery:metrics_updated", "recovery:congestion_state_updated", "connectivity:connection_state_updated")
gc.disable()  # a log is some hundred thousand objects, none of them in a circle: looking for circles takes a third of the time


class Flow:
    """The qlog file of the only flow of a scenario."""

    def __init__(self, ini, settings=()):
        more = [w for s in settings for w in ("--set", s)]
        with tempfile.TemporaryDirectory() as d:
            said = subprocess.run([LAB, "run", ini, *more, "--qlog", os.path.join(d, "x")], capture_output=True, text=True, timeout=300, check=False)
            if said.returncode:
                raise RuntimeError(said.stderr)
            with open(os.path.join(d, "x-flow.qlog"), encoding="utf-8") as f:
                records = f.read().split("\x1e")
        self.head, self.texts, self.read = records[1].strip(), {}, {}
        for i, r in enumerate(records[2:]):  # a record begins with its time and its name: many need not be read any further
            m = BEGINS(r)
            at = float(m[1])
            self.texts.setdefault(m[2], []).append((i, at, r))
        self.last = at
        self.end = self.last / 1000
        new = [(e["time"] / 1000, e["data"]["new"]) for e in self.of("recovery:congestion_state_updated")]
        self.phases = [(p, a, b) for (a, p), (b, _) in zip(new, new[1:] + [(self.end, "")])]

    def of(self, name, a=0.0, b=1e9):
        """Returns the records of this name from second a to second b."""
        if name not in self.read:
            self.read[name] = json.loads("[%s]" % ",".join(r for _, _, r in self.texts.get(name, ())))
        return [e for e in self.read[name] if a * 1000 <= e["time"] < b * 1000]

    def count(self, name, a, b):
        return sum(a * 1000 <= at < b * 1000 for _, at, _ in self.texts.get(name, ()))

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
        """Returns what is measured: one value, or several values that all have to lie within the bounds."""
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
        lost = self.count("recovery:packet_lost", a, b)
        return [lost] if verb == "lost" else [100 * lost / self.count("transport:packet_sent", a, b)]

    def small(self):
        """Returns the log without packets, reasons for waiting and losses; the metrics in force are added at each
        change of state and every half second."""
        out, force, shown, due = [self.head], {}, {}, 0

        def metrics(at):
            new = {k: v for k, v in force.items() if shown.get(k) != v}
            shown.update(new)
            if new:
                out.append('{"time":%.3f,"name":"recovery:metrics_updated","data":{%s}}' % (
                    at, ",".join('"%s":%s' % (k, "%.3f" % v if isinstance(v, float) else v) for k, v in sorted(new.items()))))
        events = [(i, at, e) for name in SHOWN for (i, at, _), e in zip(self.texts.get(name, ()), self.of(name))]
        for _, at, e in sorted(events, key=lambda event: event[0]):
            while at >= due:
                metrics(due)
                due += 500
            if e["name"] == "recovery:metrics_updated":
                force.update(e["data"])
            else:
                metrics(at)
                out.append('{"time":%.3f,"name":"%s","data":%s}' % (at, e["name"], json.dumps(e["data"], separators=(",", ":"))))
        while self.last >= due:
            metrics(due)
            due += 500
        metrics(self.last)
        return "".join("\x1e%s\n" % r for r in out)

    def show(self):
        for p, a, b in self.phases:
            if b - a < 1e-9:
                continue
            w, r = self.metric("congestion_window", a, b), self.metric("pacing_rate", a, b)
            print("%8.3f %8.3f s  %-15s  acked %7.3f Mbit/s  pacing %s  window %s  flight at most %.0f  lost %d" % (
                a, b - a, p, self.acked(a, b) * 8e-6 / (b - a), "%.3f..%.3f" % (min(r) * 1e-6, max(r) * 1e-6) if r else "-",
                "%.0f..%.0f" % (min(w) / MSS, max(w) / MSS) if w else "-", max(self.metric("bytes_in_flight", a, b + 1e-3) or [0]) / MSS,
                self.count("recovery:packet_lost", a, b)))


def expectations(ini):
    with open(ini, encoding="utf-8") as f:
        for line in f:
            m = re.match(r"#= (.+?): ([-0-9.]+)\.\.([-0-9.]+)", line)
            if m:
                yield m.group(1), float(m.group(2)), float(m.group(3))
            elif line.startswith("#="):
                raise ValueError("%s: %s" % (ini, line))


def scenarios():
    return sorted(f for f in os.listdir(FOLDER) if f.endswith(".ini"))


def kept(name):
    return os.path.join(FOLDER, name[:-4] + ".qlog")


class Scenarios(unittest.TestCase):
    def test_all_cases_are_there(self):
        """There is one scenario for each test of tests/sim/test_bbr_draft.c, which has a test for each heading of the
        draft's appendix."""
        with open(os.path.join(TREE, "tests", "sim", "test_bbr_draft.c"), encoding="utf-8") as f:
            cases = re.findall(r"cmocka_unit_test\((\w+)\)", f.read())
        files = sorted(f[:-4] for f in os.listdir(FOLDER) if f.endswith(".ini"))
        self.assertEqual(["%02d-%s" % (i + 1, c.replace("_", "-")) for i, c in enumerate(cases)], files)
        self.assertEqual(22, len(files))

    def test_figures(self):
        for name in scenarios():
            ini = os.path.join(FOLDER, name)
            flow, wanted = Flow(ini), list(expectations(ini))
            self.assertGreaterEqual(len(wanted), 2, name)
            for what, least, most in wanted:
                with self.subTest(scenario=name, what=what):
                    v = flow.values(what) or [float("nan")]
                    self.assertTrue(least <= min(v) and max(v) <= most, "%.4f..%.4f, expected %g..%g" % (min(v), max(v), least, most))
            with self.subTest(scenario=name, what="the log that is kept"), open(kept(name), encoding="utf-8") as f:
                self.assertTrue(f.read() == flow.small(), "%s is out of date: run %s build/bin/scps_lab --keep" % (
                    os.path.relpath(kept(name), TREE), os.path.relpath(os.path.abspath(__file__), TREE)))

    def test_the_kept_logs_by_the_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        with open(os.path.join(TREE, "docs", "schema", "qlog.schema.json"), encoding="utf-8") as f:
            validator = jsonschema.Draft202012Validator(json.load(f))
        for name in scenarios():
            with open(kept(name), encoding="utf-8") as f:
                text = f.read()
            self.assertLess(len(text), 32768, name)
            records = text.split("\x1e")[1:]
            self.assertGreater(len(records), 10, name)
            for record in records:
                validator.validate(json.loads(record))

    def test_a_figure_that_is_missed_is_named(self):
        flow = Flow(os.path.join(FOLDER, sorted(os.listdir(FOLDER))[0]))
        self.assertEqual([float("inf")], flow.values("begins nothing"))
        self.assertEqual([0], flow.values("times nothing"))


if sys.argv[2:3] == ["--show"]:
    Flow(sys.argv[3], sys.argv[4:]).show()
    sys.exit(0)
if sys.argv[2:3] == ["--keep"]:
    for scenario in scenarios():
        with open(kept(scenario), "w", encoding="utf-8") as out:
            out.write(Flow(os.path.join(FOLDER, scenario)).small())
    sys.exit(0)
sys.argv = sys.argv[:1] + sys.argv[2:]
unittest.main()
