#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scps_ttcp, scps_lab and scps_trace --qlog: every record is as docs/schema/qlog.schema.json says, and they tell what happened.

    qlog_test.py SCPS_TTCP [unittest options]
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TTCP = os.path.abspath(sys.argv[1])
TRACE = os.path.join(os.path.dirname(TTCP), "scps_trace")
LAB = os.path.join(os.path.dirname(TTCP), "scps_lab")
TREE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LOSSY = ("--link", "rate=10mbit,rtt=100ms,loss=0.01,queue=40p", "-n", "300")


def run(*words):
    return subprocess.run([TTCP, "-t", "-s", *words], capture_output=True, text=True, timeout=300, check=False)


def records(path, cut=False):
    """Returns the records of a file; cut: the last one may be incomplete."""
    with open(path, encoding="utf-8") as f:
        parts = f.read().split("\x1e")
    assert parts[0] == "", "something stands before the first record"
    out = []
    for i, text in enumerate(parts[1:]):
        try:
            out.append(json.loads(text))
        except ValueError:
            assert cut and i == len(parts) - 2, text
    return out


def of(events, name):
    return [e["data"] for e in events if e["name"] == name]


class Qlog(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.dir.name, "x.qlog")
        self.addCleanup(self.dir.cleanup)

    def log(self, *words):
        said = run(*words, "--qlog", self.path)
        self.assertEqual(0, said.returncode, said.stderr)
        return said, records(self.path)

    def test_it_changes_nothing(self):
        said, _ = self.log(*LOSSY)
        self.assertEqual(run(*LOSSY).stdout, said.stdout)

    def test_every_packet_is_accounted_for(self):
        for more in ((), ("--cc", "bbr"), ("--cc", "vegas", "--no-snack"), ("--no-sack", "--no-snack")):
            said, log = self.log(*LOSSY, *more, "--json")
            events = log[1:]
            info = json.loads(said.stdout)
            sent = of(events, "transport:packet_sent")
            numbers = [s["header"]["packet_number"] for s in sent]
            self.assertEqual(list(range(len(sent))), numbers)
            data = {s["header"]["packet_number"] for s in sent if s["raw"]["length"]}
            acked = [k for r in of(events, "transport:packet_received") for f in r["frames"] if f["frame_type"] == "ack"
                     for a, b in f["acked_ranges"] for k in range(a, b + 1)]
            self.assertEqual(len(acked), len(set(acked)), more)
            self.assertLessEqual(set(acked), set(numbers))
            lost = {e["header"]["packet_number"] for e in of(events, "recovery:packet_lost")}
            self.assertGreater(len(lost), 5)
            # Segments that were neither acknowledged nor declared lost were sent again for another reason (a timeout).
            self.assertLessEqual(len(data - set(acked) - lost), sum(s["resent"] for s in sent), more)
            resent = sum(s["raw"]["length"] for s in sent if s["resent"])
            self.assertIn('"bytes_resent": %d,' % resent, json.dumps(info))
            times = [e["time"] for e in events]
            self.assertEqual(sorted(times), times)

    def test_metrics_and_phases(self):
        _, log = self.log(*LOSSY, "--cc", "vj")
        events = log[1:]
        metrics = of(events, "recovery:metrics_updated")
        windows = [m["congestion_window"] for m in metrics if "congestion_window" in m]
        self.assertGreater(len(set(windows)), 10)
        self.assertTrue(all(99 < m["latest_rtt"] < 1000 for m in metrics if "latest_rtt" in m))
        phases = of(events, "recovery:congestion_state_updated")
        self.assertEqual({"new": "slow_start"}, phases[0])
        for a, b in zip(phases, phases[1:]):
            self.assertEqual(a["new"], b["old"])
        self.assertIn("recovery", {p["new"] for p in phases})
        self.assertIn("cwnd", {h["why"] for h in of(events, "scps:hold")})
        states = [s["new"] for s in of(events, "connectivity:connection_state_updated")]
        self.assertEqual(["SYN-SENT", "ESTABLISHED"], states[:2])

    def test_phases_of_bbr(self):
        _, log = self.log("--link", "rate=10mbit,rtt=100ms,queue=1bdp", "--hollow", "--time", "15", "--cc", "bbr")
        phases = of(log[1:], "recovery:congestion_state_updated")
        self.assertEqual({"new": "startup"}, phases[0])
        for a, b in zip(phases, phases[1:]):
            self.assertEqual(a["new"], b["old"])
        self.assertEqual({"startup", "drain", "probe_bw_down", "probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_rtt"},
                         {p["new"] for p in phases})
        self.assertEqual("drain", phases[1]["new"])

    def test_causes(self):
        _, log = self.log(*LOSSY, "--cc", "vegas-corruption")
        self.assertEqual({"corruption"}, {e["cause"] for e in of(log[1:], "recovery:packet_lost")})
        _, log = self.log("--link", "geo", "-n", "2000", "--outage", "3s-60s,signal")
        self.assertEqual([True, False], [o["out"] for o in of(log[1:], "scps:outage")][:2])

    def test_what_the_receiver_says_was_damaged(self):
        """Option 23 (corruption experienced) works end to end: 8 % of the segments are damaged, the receiver reports
        it, and BBR's model of the path keeps its estimates."""
        words = [TTCP, "-t", "-b", "1M", "-l", "1024", "--time", "16", "--seed", "1", "--link", "nasa500,rate=5mbit,ber=1e-5,flip",
                 "--output", os.devnull, "--qlog", self.path]
        acked, causes = {}, {}
        for cc, more in (("bbr", ["--checksum-hints"]), ("bbr,corruption=0", ["--checksum-hints"]), ("bbr", [])):
            with open("/dev/zero", "rb") as zeros:
                said = subprocess.run([*words, "--cc", cc, *more], stdin=zeros, capture_output=True, text=True, timeout=300, check=False)
            self.assertIn("real seconds", said.stderr + said.stdout)
            log = records(self.path)[1:]
            causes[cc, len(more)] = [e["cause"] for e in of(log, "recovery:packet_lost")]
            late = [e for e in log if 8000 < e["time"] < 16000]
            acked[cc, len(more)] = sum(b - a + 1 for r in of(late, "transport:packet_received") for f in r["frames"] for a, b in f["acked_ranges"])
        self.assertEqual({"congestion"}, set(causes["bbr", 0]))
        told = causes["bbr", 1]
        self.assertGreater(told.count("corruption"), 0.9 * len(told))
        self.assertGreater(acked["bbr", 1], 3 * acked["bbr,corruption=0", 1])
        self.assertGreater(acked["bbr", 1], 3 * acked["bbr", 0])

    def test_each_record_against_the_schema(self):
        try:
            import jsonschema
            with open(os.path.join(TREE, "docs/schema/qlog.schema.json"), encoding="utf-8") as f:
                schema = json.load(f)
            jsonschema.Draft202012Validator.check_schema(schema)
            validator = jsonschema.Draft202012Validator(schema)
        except (ImportError, AttributeError):
            self.skipTest("python3-jsonschema with draft 2020-12 is not installed")
        seen = set()
        for words in ((*LOSSY[:2], "-n", "60", "--cc", "bbr"), ("--link", "geo", "-n", "100", "--outage", "1s-60s,signal"),
                      ("--link", "geo,loss=0.3", "-n", "10")):
            for r in self.log(*words)[1]:
                validator.validate(r)
                seen.add(r.get("name"))
        self.assertGreaterEqual(len(seen), 9, seen)
        if os.access(TRACE, os.X_OK):
            for r in self.captured(*LOSSY[:2], "-n", "60")[1]:
                validator.validate(r)
        self.assertFalse(validator.is_valid({"time": 1, "name": "scps:hold", "data": {}}))

    def captured(self, *words):
        """Returns the qlog that the sender wrote, and the one made from the capture of the sender's packets."""
        pcap, name = os.path.join(self.dir.name, "x.pcap"), os.path.join(self.dir.name, "c")
        _, own = self.log(*words, "--pcap", pcap)
        said = subprocess.run([TRACE, "-q", "--qlog", name, pcap], capture_output=True, text=True, check=False)
        self.assertEqual((0, "", ""), (said.returncode, said.stdout, said.stderr))
        self.assertEqual(["c-1-a2b.qlog"], [f for f in os.listdir(self.dir.name) if f.startswith("c-")])
        return own, records(name + "-1-a2b.qlog")

    @unittest.skipUnless(os.access(TRACE, os.X_OK), "scps_trace is not built")
    def test_from_a_capture(self):
        for more in ((), ("--no-snack",), ("--no-sack", "--no-snack"), ("--cc", "bbr")):
            own, seen = self.captured(*LOSSY, *more)
            self.assertEqual({"type": "network", "flow": "client"}, seen[0]["trace"]["vantage_point"])

            def sent(log):
                return [(s["frames"][0]["offset"], s["raw"]["length"], s["resent"]) for s in of(log[1:], "transport:packet_sent") if s["frames"]]

            def acked(log):
                n = of(log[1:], "transport:packet_sent")
                off = {s["header"]["packet_number"]: s["frames"][0]["offset"] for s in n if s["frames"]}
                return {off[k] for r in of(log[1:], "transport:packet_received") for f in r["frames"] for a, b in f["acked_ranges"]
                        for k in range(a, b + 1) if k in off}
            self.assertEqual(sent(own), sent(seen), more)
            self.assertEqual(acked(own), acked(seen), more)
            lost = of(seen[1:], "recovery:packet_lost")
            self.assertGreater(len(lost), 5)
            self.assertTrue(all(e["inferred"] and e["cause"] == "unknown" for e in lost))
            self.assertTrue(all(m["inferred"] for m in of(seen[1:], "recovery:metrics_updated")))
            self.assertEqual([s["resent"] for s in of(seen[1:], "transport:packet_sent")],
                             ["inferred" in s for s in of(seen[1:], "transport:packet_sent")])
            flights = [m["bytes_in_flight"] for m in of(seen[1:], "recovery:metrics_updated") if "bytes_in_flight" in m]
            self.assertLess(max(flights), 2400000)
            self.assertEqual(sorted(e["time"] for e in seen[1:]), [e["time"] for e in seen[1:]])

    @unittest.skipUnless(os.access(TRACE, os.X_OK), "scps_trace is not built")
    def test_the_receivers_capture(self):
        """A capture at the receiver does not contain packets that were lost before it. A retransmission of such a
        packet appears as a packet of its own."""
        pcap = os.path.join(self.dir.name, "r.pcap")
        said = run(*LOSSY, "--pcap-peer", pcap)
        self.assertEqual(0, said.returncode, said.stderr)
        subprocess.run([TRACE, "-q", "--qlog", os.path.join(self.dir.name, "r"), pcap], check=True)
        log = records(os.path.join(self.dir.name, "r-1-a2b.qlog"))[1:]
        data = of(log, "transport:packet_sent")
        acked = [k for r in of(log, "transport:packet_received") for f in r["frames"] for a, b in f["acked_ranges"] for k in range(a, b + 1)]
        self.assertEqual(len(acked), len(set(acked)))
        self.assertEqual({s["frames"][0]["offset"] for s in data}, {data[k]["frames"][0]["offset"] for k in acked})

    def test_killed(self):
        with subprocess.Popen([TTCP, "-t", "-s", "--hollow", "--link", "rate=1gbit,rtt=10ms", "--time", "100000", "--qlog", self.path],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
            for _ in range(200):
                time.sleep(0.05)
                if os.path.exists(self.path) and os.path.getsize(self.path) > 1000000:
                    break
            p.send_signal(signal.SIGKILL)
            p.wait()
        log = records(self.path, cut=True)
        self.assertEqual("0.3", log[0]["qlog_version"])
        self.assertGreater(len(log), 1000)

    @unittest.skipUnless(os.access(LAB, os.X_OK), "scps_lab is not built")
    def test_each_flow_of_a_scenario(self):
        ini = os.path.join(self.dir.name, "s.ini")
        with open(ini, "w", encoding="utf-8") as f:
            f.write("[scenario]\nname = s\nabout = flows\n[link]\nrate = 10mbit\nrtt = 50ms\n[flow]\nsize = 1mb\n"
                    "[flow one]\ncc = cubic\n[flow two]\ncc = bbr\ncopies = 2\n")
        plain = subprocess.run([LAB, "run", ini], capture_output=True, text=True, check=True)
        said = subprocess.run([LAB, "run", ini, "--qlog", os.path.join(self.dir.name, "x")], capture_output=True, text=True, check=True)
        self.assertEqual(plain.stdout, said.stdout)
        for flow in ("one", "two.1", "two.2"):
            log = records(os.path.join(self.dir.name, "x-%s.qlog" % flow))
            self.assertEqual(flow, log[0]["title"])
            row = [r.split() for r in plain.stdout.splitlines() if r.split()[1:2] == [flow]][0]
            sent = [s for s in of(log[1:], "transport:packet_sent") if s["raw"]["length"]]
            self.assertEqual((int(row[6]), int(row[7])), (len(sent), sum(s["resent"] for s in sent)), flow)
        said = subprocess.run([LAB, "run", ini, "--qlog", "/nowhere/x"], capture_output=True, text=True, check=False)
        self.assertEqual(1, said.returncode)
        self.assertIn("--qlog /nowhere/x", said.stderr)

    def test_refusals(self):
        said = run("--link", "geo", "-n", "1", "--qlog", "/nowhere/x")
        self.assertEqual(1, said.returncode)
        self.assertIn("--qlog /nowhere/x", said.stderr + said.stdout)
        said = run("--link", "geo", "-u", "-R", "1m", "-n", "1", "--qlog", self.path)
        self.assertEqual(2, said.returncode)
        self.assertIn("--qlog", said.stderr)
        for name, why in (("", "empty"), ("-", "standard output"), (".", "folder"), ("..", "folder"), ("x/", "folder"), ("a/..", "folder")):
            for program in ([TTCP, "-t", "-s", "--link", "geo", "-n", "1"], [LAB, "run", "geo"], [TRACE, "nothing.pcap"]):
                if os.access(program[0], os.X_OK):
                    said = subprocess.run([*program, "--qlog", name], capture_output=True, text=True, check=False, cwd=self.dir.name)
                    self.assertEqual(2, said.returncode, program)
                    self.assertIn("--qlog '%s': " % name, said.stderr)
                    self.assertIn(why, said.stderr)
        self.assertEqual([], os.listdir(self.dir.name))
        if os.path.exists("/dev/full"):
            said = run("--link", "geo", "-n", "100", "--qlog", "/dev/full")
            self.assertEqual(1, said.returncode)
            self.assertIn("could not be written whole", said.stderr + said.stdout)


sys.argv = sys.argv[:1] + sys.argv[2:]
unittest.main()
