#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scenarios in Python are those of scps_lab: the same files are read or refused, with the same words; the same runs give the same
rows."""
import io
import os
import random
import tempfile
import threading
import unittest

import numpy as np
import pandas as pd

import scps
from programs import ROOT, run

SMALL = """[scenario]
name = small
about = two flows, two links
runs = 2
[link up]
preset = leo
ber = 1e-6
[link down]
preset = geo
[flow a]
link = up
size = 300kb
[flow b]
link = down
size = 100kb
cc = vegas
start = 0..2s
[sweep]
flow.a.cc = vj, cubic
link.up.rtt = 20ms,
    60ms   ; in a line of its own
[case]
when = flow.a.cc=cubic link.up.rtt=60ms
flow.a.size = 400kb
"""


def lab(text, *words, check=True):
    """Status and last line of scps_lab sweep over a file with this text; rows as a DataFrame unless check."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "s.ini")
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        done = run("scps_lab", "sweep", path, "--out", os.path.join(d, "out"), "--check" if check else "--quiet", *words)
        said = (done.stderr or done.stdout).strip().replace("scps_lab: ", "").replace(path, "text")
        if check or done.returncode:
            return done.returncode, said
        with open(os.path.join(d, "out", "rows.csv"), encoding="utf-8") as f:
            return f.readline(), pd.read_csv(io.StringIO(f.read()), dtype=AXES_ARE_TEXT)


AXES_ARE_TEXT = {"flow.a.cc": str, "link.up.rtt": str, "link.ber": str, "flow.cc": str, "flow": str}


def module(text, **kw):
    """Returns what the module says about the same text, in the words of scps_lab --check."""
    raw = text if isinstance(text, bytes) else text.encode()
    if b"\0" in raw:
        return None
    try:
        s = scps.Scenario.from_text(raw.decode("utf-8", "surrogateescape"), **kw)
    except ValueError as e:
        return 2, str(e)
    return 0, "%d cells, %d runs" % (len(s), len(s) * s.runs)


class Files(unittest.TestCase):
    def both(self, text, *words, **kw):
        with self.subTest(text=text):
            theirs = lab(text, *words)
            ours = module(text, **kw)
            self.same(theirs, ours)

    def same(self, theirs, ours):
        """Asserts that status and words are equal, except the place in a message that was cut off."""
        self.assertEqual((theirs[0], theirs[1].replace("--set ", "overrides: ")[:300]), (ours[0], ours[1].strip()[:300]))

    def test_every_shipped_one(self):
        found = scps.scenarios()
        self.assertGreater(len(found), 40)
        for name in found:
            s = scps.Scenario(name)
            done = run("scps_lab", "sweep", name, "--out", "/nonexistent", "--check")
            self.assertEqual(done.stdout.strip(), "%d cells, %d runs" % (len(s), len(s) * s.runs), name)
        self.assertTrue({line.split()[0] for line in run("scps_lab", "list").stdout.splitlines()} == set(found))

    def test_the_hash_is_that_of_scps_lab(self):
        meta, _ = lab(SMALL, check=False)
        self.assertIn("hash=%s " % scps.Scenario.from_text(SMALL, name="s.ini").hash, meta)

    def test_what_is_refused(self):
        for text in ["", "[scenario]", "x = 1", "[scenario]\nname", "[nowhere]\nx = 1", "[link]\nbre = 1", "[link]\nrtt = fast", "[scenario]\nruns = 0",
                     "[scenario]\nruns = 2\nruns = 3", "[sweep]\nown = 1, 2", "[sweep]\nlink.rtt = 1s, 1s", "[case]\nskip = yes",
                     "[case]\nwhen = x=1", "[link]\nrtt = 1s\nrtt = 2s", "[flow]\nlink = x", "[" + 60 * "x" + "]\n", "[" + 47 * "x", "[" + 47 * "x" + "\n", "[link]\n#" + 197 * "x", "[link]\n#" + 198 * "x",
                     "[link]\n#" + 197 * "x" + "\n", "[link]\n#" + 198 * "x" + "\n", "[link]\nrtt = " + 300 * "1",
                     "[link]\n rtt = 1s", "[sweep]\nlink.rtt = 1s,\n 2s\n\n 3s", "[sweep]\nlink.rtt =\n", "[flow]\ncc = cubi", "[flow]\nsize = 1kb;x",
                     "[flow]\nsize = 1kb ;x", "[flow]\n# c\n; d\nsize : 1kb", "\ufeff[flow]\nsize = 1kb", "\ufeff[flow one]\nsize = 1kb",
                     "\ufeff\ufeff[flow]\nsize = 1kb", "\ufeff[link", "\ufeff", "# c\n; d\n", "[flow x]\nsize = 1kb", "[flow ]\nsize = 1kb",
                     "[flow\nsize = 1kb", "[flow;x]\nsize=1", "[flow ;x]\nsize=1", "[flow]\nsize = 1kb\n[case]\nwhen = \n", "=", ":", "[flow]\n=1", "[flow]\nsize",
                     "[scenario]\nabout = one\n two\n   three ; no\n", "[flow]\nnagle = perhaps", "[link]\nmtu = 12", "[flow]\nmodel = nack",
                     "[link]\r\nrtt = 1s\r\n[flow]\r\nsize = 1kb\r\n", "[scenario]\nseed = -1", "[scenario]\ntimeout = 5", "[sweep]\nscenario.runs = 1,2",
                     "[flow]\nflow.size = 1", "[link a]\nrtt=1s\n[link b]\nrtt=2s\n[flow]\nlink=c", "[flow]\ncc-plugin = /nonexistent.so", "[flow]\ncc = rate",
                     "[flow]\nnack-wait = 1s", "[flow]\nrecovery = rack\nsack = no", "[link]\nipv6 = yes\nvj-compression = yes", "[link]\na = x y", "[link]\na =",
                     "[sweep]\nlink.rtt = 1s,,2s", "[sweep]\nlink.rtt = 1s,", "[sweep]\nlink.rtt = 1s,\n 2s,", "[sweep]\nlink.rtt = 1s\n , 2s",
                     "[sweep]\nlink.rtt = 1s,\nlink.ber = 0", "[sweep]\nstatus = 1\n[case]\nwhen = status=1\n", "[sweep]\nx = 1\n[case]\nwhen = x=\n",
                     "[scenario]\npublished = nowhere.csv", "[scenario]\npublished = nasa-mdp.csv", "[scenario]\npublished = ../x", "[scenario]\nname ="]:
            self.both(text)

    def test_random_lines(self):
        """Files of random pieces are read, or refused, as inih and scps_lab do."""
        r = random.Random(14)
        pieces = ["[link]", "[flow]", "[sweep]", "[case]", "[scenario]", "[", "]", "\n", "\n", "\n", "\n ", "\n\t", ";", " ;", "#", "=", " = ", ":", "rtt", "size",
                  "link.rtt", "flow.cc", "when", "1s", "2s", "1kb", ",", ", ", "vj", "cubic", "runs", "3", " ", "\r\n", "é", "x", "a", "flow.cc=vj", "skip = yes", "\v"]
        for _ in range(150):
            self.both("".join(r.choice(pieces) for _ in range(r.randrange(1, 25))))

    def test_mutants_of_a_good_file(self):
        r = random.Random(7)
        for _ in range(150):
            text = bytearray(SMALL.encode())
            for _ in range(r.randrange(1, 4)):
                i = r.randrange(len(text))
                text[i:i + r.randrange(3)] = r.choice([b"", b"\n", b" ", b";", b"=", b"[", b"]", b",", b"\xff", b"x", b"9", b"|"])
            self.both(bytes(text))

    def test_overrides(self):
        for key, value in [("link.up.rtt", "20ms"), ("flow.a.size", "1kb"), ("scenario.runs", "7"), ("scenario.name", "x"), ("flow.a.cc", "vegas, vj"),
                           ("flow.c.size", "1kb"), ("rtt", "1s"), ("link.up.rtt", "x"), ("scenario.x", "1"), ("", ""), ("flow.a.cc", "")]:
            with self.subTest(key=key):
                theirs = lab(SMALL, "--set", "%s=%s" % (key, value))
                ours = module(SMALL, overrides={key: value})
                self.same(theirs, ours)

    def test_overrides_as_values(self):
        s = scps.Scenario.from_text(SMALL, {"flow.a.size": 1000, "flow.a.snack": False, "link.down.ber": [0, 1e-6], "flow.a.cc": ["vj"],
                                            "link.up.ber": np.float64(0.0), "scenario.runs": np.int64(1)})
        self.assertEqual(s.axes, {"flow.a.cc": ["vj"], "link.up.rtt": ["20ms", "60ms"], "link.down.ber": ["0", "1e-06"]})
        self.assertEqual((len(s), s.runs), (4, 1))
        for error, given in [(TypeError, {"flow.a.size": None}), (TypeError, {"flow.a.size": b"1"}), (TypeError, {7: "x"}), (TypeError, ["flow.a.size=1"]),
                             (ValueError, {"flow.a.size": []}), (ValueError, {"flow.a.size": "1\0"}), (ValueError, {"own": ["a", "b"]}),
                             (TypeError, {"flow.a.cc": [["vj"]]})]:
            self.assertRaises(error, scps.Scenario.from_text, SMALL, given)

    def test_where_files_are_found(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "mine")
            with open(path, "w", encoding="utf-8") as f:
                f.write(SMALL)
            self.assertEqual(scps.Scenario(path).name, "small")
            with open(os.path.join(d, "rows.ini"), "w", encoding="utf-8") as f:
                f.write("[link]\nloss-table = @t.csv\n")
            self.assertRaises((ValueError, scps.ScpsError), scps.Scenario, os.path.join(d, "rows.ini"))
        self.assertRaises(FileNotFoundError, scps.Scenario, "no-such-scenario")
        self.assertRaises(FileNotFoundError, scps.Scenario, "/nonexistent/x.ini")
        self.assertRaises(TypeError, scps.Scenario, 7)
        self.assertRaises(TypeError, scps.Scenario, b"geo")
        self.assertRaises(IsADirectoryError, scps.Scenario, "/")
        self.assertEqual(scps.Scenario("smallsat-vector").name, "smallsat-vector")  # with a file beside it

    def test_published(self):
        self.assertGreater(len(scps.published("nasa-single-flow")), 300)
        self.assertRaises(ValueError, scps.published, "no-such")
        self.assertRaises(TypeError, scps.published, None)


class Runs(unittest.TestCase):
    def test_rows_are_those_of_scps_lab(self):
        _, theirs = lab(SMALL, check=False)
        s = scps.Scenario.from_text(SMALL)
        ours = [s.sweep(), s.sweep(jobs=3)]
        pd.testing.assert_frame_equal(ours[0], ours[1])
        self.assertEqual(len(theirs), 4 * 2 * 2)
        ours[0] = ours[0].round({"seconds": 6, "mbps": 6, "start": 6})
        pd.testing.assert_frame_equal(theirs, ours[0], check_dtype=False)
        self.assertEqual(list(theirs.columns), list(ours[0].columns))

    def test_a_published_campaign(self):
        """Runs cells of a NASA campaign, each with the settings of its cases, and compares them with scps_lab."""
        over = {"protocol": ["scps-vj", "scps-rate-f0"], "link.rtt": ["250ms"], "link.ber": ["1e-6", "1e-5"], "flow.size": ["1mb"], "scenario.runs": 2}
        s = scps.Scenario("nasa-single-flow", over)
        with tempfile.TemporaryDirectory() as d:
            words = [w for k, v in over.items() for w in ("--set", "%s=%s" % (k, ", ".join(v) if isinstance(v, list) else v))]
            self.assertEqual(run("scps_lab", "sweep", "nasa-single-flow", "--out", d, "--quiet", *words).returncode, 0)
            theirs = pd.read_csv(os.path.join(d, "rows.csv"), comment="#", dtype={"link.ber": str})
        pd.testing.assert_frame_equal(theirs, s.sweep().round({"seconds": 6, "mbps": 6, "start": 6}), check_dtype=False)

    def test_the_model(self):
        r = scps.Scenario("nasa-mdp", {"flow.rate": ["20mbit"], "link.rtt": ["10ms"], "link.ber": ["1e-6"], "flow.size": ["1mb"]}).run()
        self.assertEqual(r.flows[0].status, "ok")
        self.assertGreater(r.flows[0].mbps, 1)

    def test_what_a_run_keeps(self):
        s = scps.Scenario.from_text(SMALL)
        with tempfile.TemporaryDirectory() as d:
            r = s.run(2, cell=3, notes=["cwnd", "state"], trace=True, every=0.5, pcap=os.path.join(d, "x.pcap"), qlog=os.path.join(d, "q"))
            c = scps.read_capture(os.path.join(d, "x.pcap"))
            self.assertEqual(sorted(os.listdir(d)), ["q-a.qlog", "q-b.qlog", "x.pcap"])
        plain = s.run(2, cell=3)
        self.assertEqual(plain.flows, r.flows)
        self.assertEqual(r.cell, {"flow.a.cc": "cubic", "link.up.rtt": "60ms"})
        self.assertEqual(r.flows[0].bytes, 400_000)
        self.assertEqual(len(plain.notes) + len(plain.trace) + len(plain.samples()), 0)
        self.assertEqual(set(r.notes_frame("state").host), {"sender", "receiver"})
        t = r.trace_frame()
        a = r.flows[0].info
        self.assertEqual(t[t.direction == 0].payload.sum(), a["bytes_sent"])
        f = c.flows()
        self.assertEqual(f[f.direction == "a2b"].actual_data_bytes.iloc[0], a["bytes_sent"])
        series = r.samples()
        self.assertTrue((series.groupby("flow").acked.diff().dropna() >= 0).all())
        self.assertEqual(set(series.flow), {"a", "b"})
        self.assertIn("cubic", repr(s.cells()[3]))
        self.assertEqual(list(s.links(3)), ["up", "down"])
        self.assertEqual(scps.transfer(s.links(0)["down"], size=10_000).done, True)

    def test_series_is_that_of_scps_lab(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x")
            self.assertEqual(run("scps_lab", "run", "leo", "--run", "1", "--series", path).returncode, 0)
            theirs = pd.read_csv(path)
        r = scps.Scenario("leo").run(every=theirs.time[1] - theirs.time[0])
        ours = r.samples()
        self.assertEqual(theirs.acked.tolist(), ours.acked.tolist())
        self.assertEqual(theirs.srtt_us.tolist(), (ours.srtt * 1e6).round().astype(int).tolist())

    def test_one_scenario_in_threads(self):
        s = scps.Scenario("geo", {"flow.size": "200kb", "scenario.runs": 3})
        got = []
        threads = [threading.Thread(target=lambda: got.append(s.sweep())) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for frame in got[1:]:
            pd.testing.assert_frame_equal(got[0], frame)
        self.assertEqual(len(got), 4)

    def test_what_is_refused(self):
        s = scps.Scenario("geo")
        for error, given in [(ValueError, {"run": 0}), (ValueError, {"cell": 1}), (ValueError, {"cell": -1}), (TypeError, {"run": "1"}),
                             (TypeError, {"every": "1s"}), (ValueError, {"every": -1}), (ValueError, {"notes": "nonsense"}), (TypeError, {"pcap": 7}),
                             (ValueError, {"pcap": "a\0b"}), (ValueError, {"qlog": ""}), (scps.ScpsError, {"pcap": "/nonexistent/x.pcap"}),
                             (scps.ScpsError, {"qlog": "/nonexistent/x"})]:
            with self.subTest(given=given):
                self.assertRaises(error, s.run, **given)
        self.assertRaises(ValueError, s.sweep, jobs=0)
        self.assertRaises(TypeError, s.sweep, jobs="2")
        self.assertRaises(ValueError, s.sweep, runs=0)
        self.assertRaises(ValueError, s.links, 7)

    def test_a_failed_run_ends_a_sweep(self):
        s = scps.Scenario.from_text("[flow]\nsize = 200kb\n[sweep]\nlink.rtt = 10ms, 20ms, 30ms")
        from scps import _go
        with self.assertRaises(ZeroDivisionError):
            _go.spread(lambda n, stop: 1 // n and s._run(0, 1, {}, stop), [1, 0, 1, 1], 2)


if __name__ == "__main__":
    unittest.main()
