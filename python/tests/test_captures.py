#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures in Python are those of scps_trace: the same figures, the same judgement of each segment, the same refusals."""
import gzip
import json
import math
import os
import shutil
import tempfile
import unittest

import numpy as np
import pandas as pd

import scps
from programs import program, run


class Captures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()
        cls.path = os.path.join(cls.dir, "x.pcap")
        cls.result = scps.transfer("geo,ber=1e-6", "vj", 2_000_000, pcap=cls.path, recovery="rack")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def file(self, name, content):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as f:
            f.write(content)
        return path

    def content(self):
        with open(self.path, "rb") as f:
            return f.read()

    def test_against_the_transfer(self):
        c = scps.read_capture(self.path)
        f, sent = c.flows(), self.result.sender
        self.assertEqual(len(f), 2)
        a, b = f.iloc[0], f.iloc[1]
        self.assertEqual((a.direction, b.direction, a.end), ("a2b", "b2a", "complete"))
        self.assertEqual(a.actual_data_bytes, sent["bytes_sent"])
        self.assertEqual(a.rexmt_data_bytes, sent["bytes_resent"])
        self.assertEqual(a.unique_bytes_sent, 2_000_000)
        s = c.segments()
        data = s[(s.direction == "a2b") & (s.len > 0)]
        self.assertEqual(len(data), sent["data_segs_out"])
        self.assertEqual(int(data.resent.sum()), sent["resent_segs"])
        self.assertTrue((data[data.resent].cause != "none").all())
        causes = data[data.resent].cause.value_counts()
        self.assertEqual(int(causes["snack"]), a.resent_snack)
        self.assertEqual(int(causes["sack"]), a.resent_sack)
        self.assertTrue(s.time.is_monotonic_increasing and s.time.iloc[0] == 0)
        self.assertAlmostEqual(s[s.direction == "b2a"].rtt.min(), 0.56, 1)
        self.assertEqual(len(c.segments(1)), len(s))
        self.assertEqual(len(c.segments(2)), 0)
        self.assertEqual(c.totals["packets"], len(s))
        self.assertAlmostEqual(c.end, self.result.seconds, 1)
        self.assertIsNone(c.trouble)

    def same_as_program(self, path):
        done = run("scps_trace", "--json=-", path)
        doc = json.loads(done.stdout)
        f = scps.read_capture(path, segments=False).flows()
        self.assertEqual(len(f), 2 * len(doc["connections"]))
        for i, c in enumerate(doc["connections"]):
            for row, side in ((f.iloc[2 * i], "a2b"), (f.iloc[2 * i + 1], "b2a")):
                self.assertEqual((row.conn, row.end), (c["number"], c["end"]))
                for key, value in c[side].items():
                    if value is None:
                        self.assertTrue(math.isnan(row[key]), key)
                    elif isinstance(value, float):
                        self.assertAlmostEqual(row[key], value, 5, key)
                    else:
                        self.assertEqual(row[key], value, key)
        return doc

    def test_figures_are_those_of_scps_trace(self):
        doc = self.same_as_program(self.path)
        self.assertEqual(set(doc["connections"][0]["a2b"]), set(scps.figures()))
        other = os.path.join(self.dir, "scps.pcap")
        scps.transfer("leo,ber=1e-6,reorder=0.01", "cubic", 500_000, pcap=other, ipv6=True, compress=True)
        self.same_as_program(other)

    def test_generated_captures(self):
        """Twenty connections with losses, packets cut at 100 octets."""
        path = os.path.join(self.dir, "gen.pcap")
        self.assertEqual(run("trace_gen", path, "5000000", "20", "32", "5000", "100").returncode, 0)
        self.same_as_program(path)

    def test_judgement_is_that_of_scps_trace(self):
        lines = run("scps_trace", "-p", self.path).stdout.splitlines()
        s = scps.read_capture(self.path).segments()
        self.assertEqual(len(lines), len(s))
        for line, row in zip(lines, s.itertuples()):
            self.assertEqual("resent" in line, row.resent, line)
            if row.resent:
                self.assertIn("resent: %s" % row.cause, line)
            self.assertIn(" len %d" % row.len, line)
            self.assertEqual("out-of-order" in line, row.out_of_order, line)

    def test_truth(self):
        log, path = os.path.join(self.dir, "truth.csv"), os.path.join(self.dir, "t.pcap")
        done = run("scps_lab", "run", "geo", "--set", "link.ber=1e-6", "--set", "flow.size=2mb", "--run", "1", "--pcap", path, "--truth", log)
        self.assertEqual(done.returncode, 0, done.stderr)
        a = scps.read_capture(path, truth=log).flows().iloc[0]
        self.assertEqual(a.truth_needed + a.truth_needless, a.rexmt_data_pkts)
        self.assertGreater(a.truth_lost_corruption, 0)
        self.assertRaises(OSError, scps.read_capture, path, truth="/nonexistent")
        self.assertRaises(ValueError, scps.read_capture, path, truth=path)

    def test_packed(self):
        plain, packed = scps.read_capture(self.path), scps.read_capture(self.file("x.pcap.gz", gzip.compress(self.content())))
        pd.testing.assert_frame_equal(plain.segments(), packed.segments())
        pd.testing.assert_frame_equal(plain.flows(), packed.flows())
        cut = scps.read_capture(self.file("cut.gz", gzip.compress(self.content())[:-2000]))
        self.assertIn("gzip", cut.trouble)
        self.assertGreater(cut.totals["packets"], 100)
        self.assertRaises(ValueError, scps.read_capture, self.file("bad.gz", b"\x1f\x8b" + bytes(100)))

    def test_paths(self):
        for path in (self.path, os.fsencode(self.path), PathOf(self.path)):
            self.assertEqual(len(scps.read_capture(path, segments=False).packets), 0)
        here = os.getcwd()
        os.chdir(self.dir)
        try:
            shutil.copy(self.path, "-")
            self.assertGreater(scps.read_capture("-").totals["packets"], 1000)  # a file, not standard input
        finally:
            os.chdir(here)

    def test_cut_off(self):
        whole = self.content()
        for n in (24, 25, 40, 5000, len(whole) - 1):
            c = scps.read_capture(self.file("cut", whole[:n]))
            self.assertEqual(c.trouble is None, n == 24)
            self.assertTrue(n == 24 or self.dir in c.trouble)
        self.assertEqual(len(scps.read_capture(self.file("empty", whole[:24])).flows()), 0)
        self.assertEqual(len(scps.read_capture(self.file("empty", whole[:24])).segments()), 0)

    def test_what_is_refused(self):
        old = (0xa1b2cd34).to_bytes(4, "little") + bytes(40)
        for error, path, word in [(ValueError, self.file("text", b"no capture at all, no"), "pcap"), (ValueError, self.file("none", b""), "empty"),
                                  (OSError, "/nonexistent/x.pcap", "nonexistent"), (OSError, self.dir, "directory"), (TypeError, 7, "path"),
                                  (TypeError, None, "path"), (ValueError, "a\0b", "path"), (ValueError, "", "path"),
                                  (ValueError, self.file("old", old), "tcpdump"), (ValueError, self.file("short", b"\xd4\xc3"), "short")]:
            with self.subTest(path=path):
                with self.assertRaises(error) as said:
                    scps.read_capture(path)
                self.assertIn(word, str(said.exception))
        c = scps.read_capture(self.path)
        self.assertRaises(TypeError, c.segments, "1")
        self.assertRaises(ValueError, c.segments, 0)

    def test_damaged(self):
        """For any file the result is a capture or a ValueError."""
        rng, whole = np.random.default_rng(3), bytearray(self.content()[:60000])
        for _ in range(60):
            broken = bytearray(whole)
            for _ in range(rng.integers(1, 20)):
                broken[rng.integers(0, len(broken))] = rng.integers(0, 256)
            try:
                c = scps.read_capture(self.file("broken", bytes(broken)))
                c.flows(), c.segments()
            except ValueError:
                pass

    def test_many_connections(self):
        program("scps_lab")
        path = os.path.join(self.dir, "many.pcap")
        scps.Scenario.from_text("[flow]\ncopies = 40\nsize = 20kb\n[link]\npreset = leo\n").run(pcap=path)
        c = scps.read_capture(path)
        self.assertEqual(c.flows().conn.tolist(), [i // 2 + 1 for i in range(80)])
        self.assertEqual(c.segments().groupby("conn").len.sum().tolist(), c.flows().groupby("conn").actual_data_bytes.sum().tolist())


class PathOf:
    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return self.path


if __name__ == "__main__":
    unittest.main()
