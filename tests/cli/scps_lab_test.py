#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scps_lab as its users meet it.

    scps_lab_test.py PROGRAM scenario|run|sweep|report [unittest options]

scenario what is refused, and how it is said; that every shipped file is sound and every key has its line in the manual
run      figures a closed form knows, the same seed the same bytes, captures and event lists
sweep    the same result for any number of workers, shards, stops, kills and full disks
report   means and intervals recomputed, what compare calls a change, pages and figures
"""
import csv
import glob
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
GROUP = sys.argv[2]
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAN = os.path.join(TREE, "docs", "man")

GRID = """
[scenario]
name = grid
runs = 5
seed = 7
[link]
rate = 10mbit
rtt = 40ms
[flow]
size = 200kb
payload = 1000
[sweep]
protocol = vj, vegas
link.ber = 0, 1e-6,
    1e-5
[case]
when = protocol=vj
flow.cc = vj
[case]
when = protocol=vegas
flow.cc = vegas
[case]
when = protocol=vegas link.ber=1e-5
skip = yes
"""


def run(*args, **kw):
    p = subprocess.run([PROGRAM] + list(args), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=kw.pop("timeout", 600), universal_newlines=True, **kw)
    return p.returncode, p.stdout, p.stderr


class Base(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="scps_lab.")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def file(self, text, name="s.ini"):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def read(self, *name):
        with open(os.path.join(self.dir, *name)) as f:
            return f.read()

    def table(self, *name):
        lines = self.read(*name).splitlines()
        self.assertTrue(lines[0].startswith("# scps_lab "))
        return list(csv.DictReader(lines[1:]))

    def good(self, *args, **kw):
        status, out, err = run(*args, **kw)
        self.assertEqual(status, 0, err)
        return out

    def sweep(self, scenario, out, *args):
        self.good("sweep", scenario, "--out", self.path(out), "--quiet", *args)
        return self.read(out, "rows.csv"), self.read(out, "cells.csv")


class Scenario(Base):
    def refused(self, text, *words, args=()):
        status, out, err = run("run", self.file(text), *args)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
        for w in words:
            self.assertIn(w, err)

    def test_unknown_key(self):
        self.refused("[flow]\nsize = 1kb\nsise = 5\n", "s.ini:3:", "'sise'", "size", "buffer")
        self.refused("[link]\nrtd = 5ms\n", "s.ini:2:", "rtd", "rtt")
        self.refused("[scenario]\nrun = 5\n", "s.ini:2:", "'run'", "runs")
        self.refused("[flows]\nsize = 1\n", "s.ini:1:", "[flows]", "[flow]")
        self.refused("[flow]\nsize = 1kb\n[flows]\n", "s.ini:3:", "[flows]", "[flow]")  # one without keys
        self.refused("size = 1\n", "s.ini:1:", "before the first section")

    def test_bad_value(self):
        for key, value, want in [("flow.size", "many", "gib"), ("flow.sack", "true", "yes or no"),
                                 ("flow.ack", "often", "delayed, every or other"), ("flow.cc", "renoo", "renoo"),
                                 ("flow.start", "5s..1s", "TIME"), ("flow.ack-delay", "5", "TIME"),
                                 ("flow.dupthresh", "300", "255"), ("flow.dupthresh", "0", "1 to 255"),
                                 ("flow.syn-retries", "65536", "0 to 65535"), ("flow.initial-window", "65536", "0 to 65535"),
                                 ("flow.sndbuf", "255", "256"), ("flow.ack-budget", "7", "BIT/S"), ("flow.comp-proto", "17", "105"),
                                 ("flow.loss-cause", "outage", "congestion or corruption"), ("link.mtu", "-5", "65535")]:
            kind, name = key.split(".")
            self.refused("[%s]\n%s = %s\n" % (kind, name, value), "s.ini:2:", name, want)

    def test_settings_at_their_bounds(self):
        for key, value in [("syn-retries", "65535"), ("data-retries", "65535"), ("keep-count", "65535"), ("dupthresh", "255"),
                           ("initial-window", "65535"), ("sndbuf", "256"), ("rcvbuf", "1gib"), ("mss", "0"), ("mss", "48"),
                           ("compress", "yes"), ("comp-proto", "106"), ("time-wait", "0"), ("fin-wait2", "1h"), ("ack-budget", "8"),
                           ("keep-idle", "1us"), ("rto-max", "36500d")]:
            on = {"keep-count": "keepalive = yes\n", "keep-idle": "keepalive = yes\n", "comp-proto": "compress = yes\n"}.get(key, "")
            self.good("run", self.file("[link]\npreset = lan\n[flow]\nsize = 1kb\n%s%s = %s\n" % (on, key, value)), "--json")

    def test_impossible_link(self):
        self.refused("[link]\nrate = -5mbit\n", "s.ini:2:", "rate")
        self.refused("[link]\nipv6 = yes\nmtu = 1279\n[flow]\nsize = 1kb\n", "s.ini:3:", "mtu", "1280", "RFC 8200")
        self.good("run", self.file("[link]\npreset = lan\nipv6 = yes\nmtu = 1280\n[flow]\nsize = 1kb\n"), "--json")
        self.refused("[link]\n\n# worse than chance\nber = 0.7\n", "s.ini:4:", "ber=0.7", "0.5")
        self.refused("[link]\nrtt = 5ms\ndelay = 5ms\n", "s.ini", "rtt")
        self.refused("[link]\npass = 500km\noutage = 1s-2s\n", "s.ini", "pass", "outage")
        self.refused("[link]\npass = 500km\nrtt = 5ms\n", "s.ini", "pass", "rtt")
        self.refused("[link]\npreset = venus\n", "s.ini", "venus", "geo")
        self.refused("[link]\na = x\nb = x\n", "two hosts are one")

    def test_sweeps(self):
        self.refused("[sweep]\nlink.ber = 0, 0.9\n", "s.ini:2:", "0.9", args=("--set", "link.ber=0.9"))
        self.refused("[sweep]\nprotocol = a, b\n", "s.ini:2:", "'protocol'", "[case]")
        self.refused("[sweep]\nlink.rtt = 1ms, 1ms\n", "s.ini:2:", "twice")
        self.refused("[sweep]\nlink.rtt = 1ms, 2ms\n", "sweeps over link.rtt", "--set link.rtt=1ms")
        self.refused("[sweep]\nlink.rtt = 1ms\n[case]\nwhen = link.rtt=3ms\n", "s.ini:4:", "3ms")
        self.refused("[sweep]\nlink.rtt = 1ms\n[case]\nflow.size = 1\n", "s.ini:4:", "when")
        self.refused("[flow a]\nsize = 1\n[sweep]\nflow.b.size = 1\n", "flow.b.size", "[flow b]")

    def test_command_line(self):
        self.refused("[flow]\n", "--set", "KEY=VALUE", args=("--set", "rtt"))
        self.refused("[flow]\n", "--set", "sise", args=("--set", "flow.sise=5"))
        self.refused("[sweep]\np = a\n[case]\nwhen = p=a\n", "no value 'b'", args=("--set", "p=b"))
        for args in [[], ["fly"], ["run"], ["run", "nowhere"], ["sweep", "geo"], ["run", "geo", "--set"], ["run", "geo", "-x"],
                     ["sweep", "geo", "--out", self.path("o"), "--shard", "3/2"], ["merge", "x"], ["compare", "x"],
                     ["compare", "x", "y"], ["run", "geo", "--run", "0"]]:
            status, out, err = run(*args)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), (args, err))

    def test_line_of_a_value_that_only_the_whole_refuses(self):
        """The message has the line although the value is refused only when links and flows are made of all keys."""
        self.refused("[link]\npreset = x\n", "s.ini:2:", "no preset 'x'")
        self.refused("[link]\nb = x\na = x\n", "s.ini:2:", "two hosts are one")
        self.refused("[link]\na = receiver\n", "s.ini:2:", "two hosts are one")
        self.refused("[link one]\n[flow]\nlink = two\n", "s.ini:3:", "no [link two]")
        self.refused("[flow]\ncc = rate\n", "s.ini:2:", "give flow.rate")
        self.refused("[flow]\nsize = 0\n", "s.ini:2:", "at least one byte")
        self.refused("[flow]\npayload = 100000\n", "s.ini:2:", "mtu 1500")
        self.refused("[scenario]\nseed = 99999999999999999999\n", "s.ini:2:", "9223372036854775807")

    def test_what_inih_lets_pass(self):
        self.refused("[flow]\nsize = 1kb\nsize = 2kb\n", "s.ini:3:", "twice", "line 2")
        for key, value in (("name", "x"), ("about", "x"), ("runs", "2"), ("seed", "2"), ("timeout", "2s"), ("published", "nasa-mdp.csv")):
            self.refused("[scenario]\n%s = %s\n[scenario]\n%s = %s\n" % (2 * (key, value)), "s.ini:4:", key, "twice", "line 2")
        case = "[sweep]\nlink.ber = 0\n[case]\nwhen = link.ber=0\n"
        self.refused(case + "flow.cc = vj\nflow.cc = bbr\n", "s.ini:6:", "twice", "line 5")
        self.refused(case + "skip = no\nskip = yes\n", "s.ini:6:", "twice", "line 5")
        self.good("run", self.file(case + "skip = no\nflow.size = 1kb\n[case]\nwhen = link.ber=0\nskip = no\nflow.size = 2kb\n"))
        self.refused("[flow]\nsize\n", "s.ini:2:", "KEY = VALUE")
        self.refused("[flow\nsize = 1kb\n", "s.ini:1:", "without ']'")
        self.refused("\ufeff[flows]\n", "s.ini:1:", "[flows]")  # behind a byte order mark
        self.good("run", self.file("\ufeff[link one]\n[flow]\nsize = 1kb\nlink = one\n"))
        self.refused("[scenario]\nabout = %s\n" % ("x" * 300), "s.ini:2:", "longer")
        self.refused("[flow %s]\nsize = 1\n" % ("x" * 60), "s.ini:1:", "longer")
        self.refused("[flow]\nsize = 1kb\n  rate = 5\n", "s.ini:3:", "indented")
        self.refused("[scenario]\nname = x\n  runs = 3\n", "s.ini:3:", "name", "indented")
        self.refused("[scenario]\nabout = x\n  runs = 3\n", "s.ini:3:", "about", "indented")
        self.refused("[scenario]\nruns = 3\n  4\n", "s.ini:3:", "runs", "indented")
        self.refused("  [scenario]\n  name = x\n", "s.ini:1:", "indented section")
        self.refused("[scenario]\nabout = x\n  [flow]\n  size = 1kb\n", "s.ini:3:", "indented section")
        self.refused("[sweep]\np = a, b\n  link.ber = 0\n[case]\nwhen = p=a\nflow.size = 1kb\n", "s.ini:3:", "p:", "indented")
        self.assertIn("runs of ber = 0", self.good("run", self.file(
            "[scenario]\nabout = two\n  runs of ber = 0\n[flow]\nsize = 1kb\n")))
        self.refused("[flow a.b]\nsize = 1kb\n", "s.ini:1:", "letters")
        self.refused("[flow]\nbuffer = 1\n", "s.ini:2:", "256 to 1gib")
        self.refused("[flow]\nstart = 5s..1s\n", "s.ini:2:", "SHORTER..LONGER")

    def test_contradictions(self):
        """Keys that contradict each other, or that another key makes useless, are refused: a result would not be what the
        file says."""
        for keys, line, words in [
                ("nack-wait = 1s", 2, "flow.nack-wait has no effect on a TCP connection: give flow.model = nack"),
                ("receiver-buffer = 9000\nmodel = nack\nrate = 1mbit", 2, "without flow.receiver-rate"),
                ("model = nack\nrate = 1mbit\ncc = vegas", 4, "flow.cc has no effect with flow.model = nack"),
                ("model = nack\nrate = 1mbit\nstart = 5s", 4, "flow.start has no effect"),
                ("model = nack\nrate = 1mbit\nsack = no\ndsack = yes", 4, "flow.sack has no effect"),
                ("recovery = rack\nsack = no", 3, "flow.recovery = rack needs SACK (RFC 8985 section 4)"),
                ("rto-max = 1s\nrto-min = 5s", 3, "flow.rto-min is above flow.rto-max"),
                ("time = 5s\nsize = 1mb", 3, "flow.size has no effect with flow.time"),
                ("snack-delay = 5ms", 2, "flow.snack-delay has no effect with flow.snack = no"),
                ("snack-long = yes", 2, "flow.snack-long has no effect with flow.snack = no"),
                ("sack = no\ndsack = yes", 3, "flow.dsack has no effect with flow.sack = no"),
                ("bets-retries = 5", 2, "flow.bets-retries has no effect with flow.bets = no"),
                ("keep-idle = 5s", 2, "flow.keep-idle has no effect with flow.keepalive = no"),
                ("ack = every\nquick-acks = 5", 3, "flow.ack = other only"),
                ("holes-at-once = yes", 2, "flow.ack = delayed only"),
                ("stagger = 5s", 2, "flow.copies"), ("app-from = 5s", 2, "flow.app-rate"),
                ("app-rate = 1m\napp-from = 5s\napp-until = 5s", 4, "flow.app-until is not after flow.app-from"),
                ("cc = rate\nrate = 1m\npath-state = x", 4, "flow.path-state has no effect with pure rate control"),
                ("mss = 500\npayload = 600", 2, "flow.mss has no effect with flow.payload"),
                ("rcvbuf = 1mb\nbuffer = 2mb", 2, "give it behind")]:
            self.refused("[flow]\n" + keys + "\n", "s.ini:%d:" % line, words)
        for more, words in (("", "no room for payload"), ("0", "no room"), ("\npayload = 1400", "flow.payload")):
            self.refused("[flow]\nmodel = nack\nrate = 1m\nheaders = 1500%s\n" % more, "s.ini:4:", "flow.headers", words)
        self.refused("[link]\nvj-compression = yes\nipv6 = yes\n", "s.ini:2:", "IPv4 only (RFC 1144)")
        for key in ("dup", "reorder", "dup-back", "reorder-back"):
            self.refused("[link]\nvj-compression = yes\n%s = 0.01\n" % key, "s.ini:2:", "keep the order", "dup and reorder")
        self.good("run", self.file("[link]\nvj-compression = yes\ndup = 0\nloss = 0.01\n[flow]\nsize = 10kb\n"))
        self.refused("[link]\nipv6 = yes\n[flow]\nmodel = nack\nrate = 1m\n", "s.ini:2:", "link.ipv6 has no effect")
        self.refused("[flow]\ntime = 5s\n", "flow.size has no effect", args=("--set", "flow.size=1mb"))
        for option in ("--pcap", "--truth", "--events", "--series", "--plot", "--qlog"):
            self.refused("[flow]\nmodel = nack\nrate = 1m\n", option, "flow.model = nack", args=(option, self.path("x")))
            self.assertEqual(["s.ini"], os.listdir(self.dir))

    def test_keys_that_are_for_other_cells(self):
        """A key may be without effect in the cells or flows for which another place of the file switches it off."""
        for text, args in [
                ("[flow]\nsnack-delay = 5ms\n[sweep]\nflow.snack = yes, no\n", ()),
                ("[flow]\nsnack-delay = 5ms\n[sweep]\nflow.snack = yes, no\n", ("--set", "flow.snack=no")),
                ("[flow]\nsnack-delay = 5ms\nsnack = yes\n", ("--set", "flow.snack=no")),
                ("[flow]\nsnack-delay = 5ms\n[flow a]\nsnack = yes\n[flow b]\n", ()),
                ("[flow]\nsnack-delay = 0\nquick-acks = 0\ndsack = no\nsack = no\n", ()),  # nothing is asked for
                ("[flow]\nsize = 1mb\n[flow a]\ntime = 5s\n", ()), ("[flow]\nsize = 1mb\n", ("--set", "flow.time=5s")),
                ("[flow]\nbuffer = 2mb\nrcvbuf = 1mb\n", ()),
                ("[flow]\nnack-wait = 1s\ncc = vegas\nrate = 1m\n[sweep]\np = tcp, mdp\n[case]\nwhen = p=mdp\nflow.model = nack\n", ()),
                ("[sweep]\np = a\n[case]\nwhen = p=a\nflow.snack = yes\nflow.snack-delay = 5ms\n[case]\nwhen = p=a\nflow.snack = no\n", ())]:
            self.good("sweep", self.file(text), "--out", self.path("o"), "--check", *args)
        # but not what is swept without effect, or given in one place with what switches it off
        self.refused("[sweep]\nflow.snack = no\nflow.snack-delay = 5ms\n", "s.ini:3:", "flow.snack = no", "in the cell")
        self.good("run", self.file("[flow]\nsize = 1kb\n"), "--set", "flow.snack-delay=5ms", "--set", "flow.snack=no")
        self.refused("[flow]\nsnack = yes\n", "flow.snack = no", args=("--set", "flow.snack=no", "--set", "flow.snack-delay=5ms"))

    def test_names(self):
        """Names of hosts and of swept values are columns of the results, so they have letters, digits, - and _."""
        for key in ("link.a", "link.b", "flow.path-state", "flow.link"):
            kind, name = key.split(".")
            for value in ("", "x y", "x,y", 'x"y', "\u00e9", "x.y", 32 * "x"):
                self.refused("[%s]\n%s = %s\n" % (kind, name, value), "s.ini:2:", key + " = ", "letters")
        for axis in ("a b", 'a"b', "\u00e9", 32 * "x"):
            self.refused("[sweep]\n%s = 1\n[case]\nwhen = x=1\n" % axis, "s.ini:2:", axis, "letters")
        self.good("sweep", self.file("[flow]\nsize = 1kb\n[sweep]\np = a\n[case]\nwhen = p=a\nflow.cc = vj\n"), "--out", self.path("o"))
        for column in set(self.read("o", "rows.csv").splitlines()[1].split(",") + self.read("o", "cells.csv").splitlines()[1].split(",")) - {"p"}:
            self.refused("[sweep]\n%s = 1\n[case]\nwhen = %s=1\n" % (column, column), "s.ini:2:", column, "column")
        self.refused('[sweep]\nflow.path-state = "a"\n', "s.ini:2:", "column")
        self.refused("[scenario]\nname =\n", "s.ini:2:", "name")

    def test_empty_items(self):
        """A comma too many in a list of swept values may be a value that was forgotten."""
        for values, line in [("1ms,,2ms", 2), (",1ms", 2), ("1ms,", 2), ("1ms,\nlink.ber = 0", 2), ("1ms,\n  2ms,", 3), ("1ms,\n  , 2ms", 3), ("1ms, ,2ms", 2)]:
            self.refused("[sweep]\nlink.rtt = %s\n" % values, "s.ini:%d:" % line, "link.rtt", "comma")
        for values in ("1ms, 2ms", "1ms,\n  2ms", "1ms\n  2ms", "1ms\n  , 2ms"):
            self.assertIn("2 cells", self.good("sweep", self.file("[sweep]\nlink.rtt = %s\n" % values), "--out", self.path("o"), "--check"))
        for values in ("1ms,", "1ms,,2ms", ",1ms"):
            self.refused("[sweep]\nlink.rtt = 1ms, 2ms\n", "link.rtt=" + values, "comma", args=("--set", "link.rtt=" + values))
        for when in ("", "link.rtt=", "link.rtt=1ms||2ms", "link.rtt=1ms|", "link.rtt=1ms link.rtt=2ms"):
            self.refused("[sweep]\nlink.rtt = 1ms, 2ms\n[case]\nwhen = %s\nskip = yes\n" % when, "s.ini:4:", "when:", "AXIS=VALUE")

    def test_published_values_that_are_not_there(self):
        for name in ("nowhere.csv", "../published/nasa-mdp.csv", "/etc/passwd", ".."):
            self.refused("[scenario]\npublished = %s\n" % name, "s.ini:2:", name, "nasa-mdp.csv")
            self.refused("[flow]\n", name, "nasa-mdp.csv", args=("--set", "scenario.published=" + name))
        self.good("run", self.file("[scenario]\npublished = nasa-mdp.csv\n[flow]\nsize = 1kb\n"))

    def test_sections_without_keys(self):
        """A link or flow that only the keys of [link] or [flow] describe exists, too, in the order of the file."""
        text = "[link]\nrtt = 10ms\n[link one]\n[link two]\nrtt = 20ms\n[flow]\nsize = 1kb\n[flow up]\n[flow down]\nlink = two\n"
        out = self.good("run", self.file(text)).splitlines()
        self.assertEqual([line.split()[1] for line in out[-2:]], ["up", "down"], out)
        up, down = (float(line.split()[3]) for line in out[-2:])
        self.assertTrue(0.02 < up < 0.03 and 0.04 < down < 0.06, out)
        self.sweep(self.path("s.ini"), "o")
        self.file(text.replace("[flow up]\n", ""))  # another scenario, whose results are not to be mixed with those
        self.assertEqual(run("sweep", self.path("s.ini"), "--out", self.path("o"))[0], 2)

    def test_what_is_no_scenario(self):
        """A folder, a name that is allowed for files only, a binary file, an endless file and one without a section are
        refused; none of them runs the default scenario."""
        with open(self.path("nul.ini"), "wb") as f:
            f.write(b"[flow]\nsize = 1kb\n\0\ncc = vegas\n")
        for name, word in ((self.dir, "directory"), ("geo.ini", "No such file"), ("./geo", "No such file"),
                           (self.path("nul.ini"), "NUL"), ("/dev/zero", "NUL"), ("/dev/null", "no [section]"),
                           (self.file("; [link]\n\n# nothing\n", "comments.ini"), "no [section]"),
                           (self.file("# %s\n" % ("x" * 90) * 20000, "long.ini"), "1 MiB")):
            for command in ["run"], ["sweep", "--out", self.path("o")]:
                status, out, err = run(*command, name, timeout=60, cwd=self.dir)
                self.assertEqual((status, out, err.count("\n")), (2, "", 1), (name, err))
                self.assertIn(word, err)
                self.assertIn("give a scenario file", err)

    def test_a_full_disk_under_the_result(self):
        for args in (["run", "geo"], ["list"], ["keys"]):
            with open("/dev/full", "w") as full:
                p = subprocess.run([PROGRAM] + args, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                                   universal_newlines=True)
            self.assertEqual((p.returncode, p.stderr.count("\n")), (1, 1), p.stderr)
            self.assertIn("standard output", p.stderr)

    def test_shipped(self):
        names = [l.split()[0] for l in self.good("list").splitlines()]
        files = glob.glob(os.path.join(TREE, "lab", "*", "*.ini"))
        self.assertEqual(sorted(names), sorted(os.path.basename(f)[:-4] for f in files))
        for n in names:  # every cell of every file can be set up; nothing runs
            status, out, err = run("sweep", n, "--out", self.path(n), "--check")
            self.assertEqual(status, 0, err)

    def test_the_applications_rate(self):
        """The application writes 10 Mbit/s for 5 s, 2 Mbit/s for 10 s (behind the contents of the send buffer), then 10
        Mbit/s again."""
        ini = self.file("[scenario]\nname = a\nabout = app\n[link]\nrate = 10mbit\nrtt = 40ms\n[flow]\ntime = 20s\n"
                        "buffer = 300kb\napp-rate = 2mbit\n", "app.ini")
        for more, least, most in (((), 1.95, 2.01), (("flow.app-from=5s", "flow.app-until=15s"), 5.4, 6.0), (("flow.app-rate=0",), 8.5, 9.6)):
            words = [w for m in more for w in ("--set", m)]
            row = self.good("run", ini, *words).splitlines()[-1].split()
            self.assertTrue(least <= float(row[4]) <= most, (more, row))

    def test_manual(self):
        with open(os.path.join(MAN, "scps_scenario.5")) as f:
            page = f.read().replace("\\-", "-")
        keys = re.findall(r"^  ([a-z0-9-]+) ", self.good("keys"), re.M)
        self.assertGreater(len(keys), 35)
        for k in keys + ["name", "about", "runs", "seed", "timeout", "published", "when", "skip"]:
            self.assertRegex(page, r"(?m)^\.BR? ?%s\b" % re.escape(k), k)
        with open(os.path.join(MAN, "scps_lab.1")) as f:
            page = f.read().replace("\\-", "-")
        for word in set(re.findall(r"--[a-z]+", self.good("--help"))):
            self.assertIn(word, page)

    def test_help_behind_a_command(self):
        usage = self.good("--help")
        for words in (["run", "--help"], ["run", "geo", "-h"], ["sweep", "--out", "x", "--help"], ["keys", "-h"]):
            self.assertEqual(self.good(*words), usage, words)


class Run(Base):
    def document(self, *args):
        return json.loads(self.good("run", *args, "--json"))

    def test_closed_form(self):
        # handshake, 2+4+8+16+32+36 packets, last ACK: seven round trips and the line's time for the last of them
        d = self.document("nasa-single-flow", "--set", "protocol=scps-vj", "--set", "link.rtt=500ms", "--set", "link.ber=0",
                          "--set", "flow.size=100kb", "--run", "1")
        self.assertTrue(3.5 < d["flows"][0]["seconds"] < 3.52, d)
        # pure rate: two round trips and size / (46.2 Mbit/s * 1024/1082)
        d = self.document("nasa-single-flow", "--set", "protocol=scps-rate-f0", "--set", "link.rtt=500ms", "--set",
                          "link.ber=0", "--set", "flow.size=10mb", "--run", "1")
        self.assertAlmostEqual(d["flows"][0]["seconds"], 1 + 80 / (46.2 * 1024 / 1082), delta=0.05)

    def test_repeats(self):
        s = self.file(GRID)
        args = [s, "--set", "protocol=vj", "--set", "link.ber=1e-5"]
        one = self.good("run", *args, "--json")
        self.assertEqual(one, self.good("run", *args, "--json"))
        self.assertNotEqual(one, self.good("run", *args, "--set", "scenario.seed=8", "--json"))
        d = json.loads(one)
        self.assertEqual(len({f["seconds"] for f in d["flows"]}), 5)  # each run has a seed of its own
        # and it is the run that the sweep has
        self.sweep(s, "o")
        rows = [r for r in self.table("o", "rows.csv") if r["protocol"] == "vj" and r["link.ber"] == "1e-5"]
        self.assertEqual([float(r["mbps"]) for r in rows], [f["mbps"] for f in d["flows"]])

    def test_flows(self):
        s = self.file("[scenario]\nname=three\n[link]\nrate=10mbit\nrtt=20ms\n[flow]\nsize=500kb\n[flow down]\ncopies=2\n"
                      "stagger=1s..2s\nstart=1s\n[flow up]\nreverse=yes\ntime=3s\n")
        d = self.document(s)
        f = {x["flow"]: x for x in d["flows"]}
        self.assertEqual(sorted(f), ["down.1", "down.2", "up"])
        self.assertEqual({x["status"] for x in d["flows"]}, {"ok"})
        self.assertEqual(f["down.1"]["start"], 1)
        self.assertTrue(2 <= f["down.2"]["start"] <= 3)
        self.assertEqual((f["up"]["start"], f["up"]["seconds"]), (0, 3))
        self.assertTrue(8 < f["up"]["mbps"] < 10)  # both directions have a line of their own
        last = {x["direction"]: x for x in d["last_run"]}
        for x in last.values():
            self.assertEqual(x["offered"] + x["duplicated"], x["delivered"] + x["dropped"] + x["in_flight"])

    def test_how_long_a_flow_holds_on(self):
        """During an outage of five minutes a connection ends by retries, after 100 s at least (RFC 9293 section 3.8.3),
        or by the user timeout, or not at all if timeouts are taken for an outage."""
        s = self.file("[scenario]\nname=out\n[link]\nrate=10mbit\nrtt=100ms\noutage=1s-301s\n[flow]\nsize=5mb\ndata-retries=4\n")
        for key, status, timeouts in [("data-retries=3", "timedout", 9), ("user-timeout=3s", "timedout", 4),
                                      ("outage-after=2", "ok", 3), ("caps-tries=1", "timedout", 9)]:
            out = run("run", s, "--set", "flow." + key, "--json")[1]
            flow = json.loads(out)["flows"][0]
            self.assertEqual((flow["status"], flow["timeouts"]), (status, timeouts), key)

    def test_two_links(self):
        s = self.file("[scenario]\nname=two\n[link fast]\nrate=10mbit\nrtt=2ms\n[link slow]\nrate=1mbit\nrtt=2ms\n"
                      "[flow]\nsize=1mb\n[flow x]\nlink=fast\n[flow y]\nlink=slow\n")
        f = {x["flow"]: x["mbps"] for x in self.document(s)["flows"]}
        self.assertTrue(8 < f["x"] < 10 and 0.8 < f["y"] < 1, f)

    def test_model(self):
        """Without losses the model's duration follows from rate and delay; with losses it takes passes; a receiving
        host that is too slow loses more than the excess."""
        s = "[scenario]\nname=m\n[link]\npreset=nasa500\nrtt=200ms\n%s\n[flow]\nmodel=nack\nsize=10mb\npayload=1000\n" \
            "headers=68\nrate=40mbit\n%s\n"
        packet = 1068 * 8 / 40e6
        clean = self.document(self.file(s % ("", "")))["flows"][0]
        self.assertAlmostEqual(clean["seconds"], 10000 * packet, delta=0.002)
        self.assertEqual((clean["segments"], clean["resent"]), (10000, 0))
        waits = self.document(self.file(s % ("", "done-wait=2s")))["flows"][0]
        self.assertAlmostEqual(waits["seconds"], clean["seconds"] + 2, delta=0.002)
        lossy = self.document(self.file(s % ("loss=0.1\nloss-back=0", "nack-wait=300ms")))["flows"][0]
        passes = lossy["episodes"]
        self.assertTrue(4 <= passes <= 7 and abs(lossy["segments"] / 11111 - 1) < 0.02, lossy)
        self.assertGreater(lossy["seconds"], lossy["segments"] * packet + (passes - 1) * (0.2 + 0.3) - 0.01)
        host = "receiver-rate=30mbit\nreceiver-interrupts=0.2"
        over = self.document(self.file(s % ("", host)))["flows"][0]
        fits = self.document(self.file(s % ("", host.replace("30", "41"))))["flows"][0]
        self.assertEqual((over["status"], fits["resent"]), ("ok", 0))
        self.assertGreater(over["resent"], 2000)
        status, out, err = run("run", self.file(s % ("", "copies=2")))
        self.assertEqual(status, 2)
        self.assertIn("one flow alone", err)

    def test_records(self):
        f = self.document("leo", "--set", "flow.size=105kb", "--set", "flow.record=10kb")["flows"][0]
        self.assertEqual((f["bytes"], f["records"], f["torn"], f["missing"]), (105000, 11, 0, 0))

    def test_best_effort(self):
        args = ["leo", "--set", "flow.size=1mb", "--set", "link.loss=0.05", "--set", "link.loss-back=0", "--set", "flow.snack=yes",
                "--set", "flow.bets=yes", "--set", "flow.bets-timeout=1ms", "--set", "flow.bets-retries=1"]
        f = self.document(*args)["flows"][0]
        self.assertEqual(f["bytes"] + f["missing"], 1000000)
        self.assertGreater(f["missing"], 5000)
        whole = self.document(*args, "--set", "flow.bets=no")["flows"][0]
        self.assertEqual((whole["bytes"], whole["missing"]), (1000000, 0))

    def test_ack_budget(self):
        """An acknowledgement counts as 52 bytes and the link's framing; bursts of two are allowed."""
        for key, most in (("ack-budget=8320", 20), ("ack-budget-packets=20", 20)):
            d = self.document("leo", "--set", "link.overhead=0", "--set", "flow.size=1mb", "--set", "flow." + key)
            acks = [x for x in d["last_run"] if x["direction"] == "back"][0]["offered"]
            self.assertTrue(0.5 * most < acks / d["flows"][0]["seconds"] < most + 10, (key, acks, d["flows"]))

    def test_recovery(self):
        """Reordering is taken for a loss if duplicate ACKs are counted (RFC 6675), and not if times are compared: once
        reordering has been seen, RACK waits a quarter of the round trip, here 50 ms (RFC 8985 section 6.2 step 4). Where
        duplicate ACKs are counted, the sender waits only as long as segments were late before. The delay falls to 100 ms
        within 1 ms, four times and by twice as much each time, up to 24 ms; so segments are late by more each time."""
        args = ["leo", "--set", "flow.size=10mb", "--set", "link.ber=0", "--set", "link.queue=2000p", "--set",
                "link.delays=0s:100ms+1s:103ms+1.001s:100ms+1.4s:106ms+1.401s:100ms+1.8s:112ms+1.801s:100ms"
                "+2.2s:124ms+2.201s:100ms", "--set", "flow.buffer=1mb", "--set", "flow.snack=no"]
        resent = {r: self.document(*args, "--set", "flow.undo=no", "--set", "flow.recovery=" + r)["flows"][0]["resent"]
                  for r in ("classic", "rack")}
        self.assertGreater(resent["classic"], 10 + 2 * resent["rack"], resent)

    def test_truth(self):
        d = self.document("leo", "--set", "flow.size=200kb", "--set", "link.ber=1e-6", "--truth", self.path("t.csv"))
        rows = list(csv.DictReader(self.read("t.csv").splitlines()))
        for direction, short in (("forward", "a2b"), ("back", "b2a")):
            mine = [r for r in rows if r["direction"] == short]
            last = [x for x in d["last_run"] if x["direction"] == direction][0]
            self.assertEqual(sum(r["fate"] == "delivered" for r in mine), last["delivered"] + last["in_flight"])
            self.assertEqual(sum(r["fate"] != "delivered" for r in mine), last["dropped"])
        for more in ([], ["--json"]):
            status, out, err = run("run", "leo", "--truth", self.path("no/t.csv"), *more)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
            self.assertIn("no/t.csv", err)
        status, out, err = run("run", "leo", "--truth", "/dev/full")
        self.assertEqual((status, err.count("\n")), (1, 1), err)

    def test_origin(self):
        """Every result contains the program's version and commit."""
        version, commit = self.good("--version").split()[1:]
        d = self.document("leo", "--set", "flow.size=10kb")
        self.assertEqual((d["version"], d["git"]), ("scps_lab " + version, commit))
        self.assertRegex(commit, r"^([0-9a-f]{7,40}\+?|unknown)$")
        rows, _ = self.sweep(self.file(GRID), "o", "--set", "link.ber=0")
        self.assertTrue(rows.startswith("# scps_lab %s git=%s scenario=" % (version, commit)), rows[:100])

    def test_timeout(self):
        s = self.file("[scenario]\nname=late\ntimeout=1s\n[link]\nrate=1mbit\n[flow]\nsize=10mb\n")
        status, out, err = run("run", s, "--json")
        self.assertEqual(status, 1)
        self.assertEqual((json.loads(out)["flows"][0]["status"], json.loads(out)["flows"][0]["mbps"]), ("timeout", None))
        self.sweep(s, "o")
        row = self.table("o", "cells.csv")[0]
        self.assertEqual((row["n"], row["failed"], row["mbps"], row["mbps_sd"]), ("0", "1", "", ""))

    def test_files(self):
        self.good("run", "leo", "--set", "flow.size=100kb", "--pcap", self.path("x.pcap"), "--events", self.path("e.csv"),
                  "--series", self.path("s.csv"))
        with open(self.path("x.pcap"), "rb") as f:
            self.assertEqual(f.read(4), b"\xd4\xc3\xb2\xa1")
        self.assertGreater(os.path.getsize(self.path("x.pcap")), 100000)
        events = list(csv.DictReader(open(self.path("e.csv"))))
        self.assertTrue({"sent", "acked"} <= {e["note"] for e in events})
        series = list(csv.DictReader(open(self.path("s.csv"))))
        acked = [int(x["acked"]) for x in series]
        self.assertEqual(acked, sorted(acked))
        self.assertGreater(len(series), 100)
        status, out, err = run("run", "leo", "--events", self.path("no/where"))
        self.assertEqual((status, err.count("\n")), (2, 1), err)

    def test_files_are_kept_apart(self):
        scenario = self.file("[flow]\nsize = 1kb\n")
        with open(scenario, encoding="ascii") as f:
            text = f.read()
        os.link(scenario, self.path("hard"))
        for option in ["--pcap", "--truth", "--events", "--series"]:
            status, out, err = run("run", scenario, option, self.path("hard"))
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
            status, out, err = run("run", scenario, option, "/dev/stdout")
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
            self.assertIn("standard output", err)
        for args in [["--pcap", "x", "--truth", "x"], ["--events", "x", "--series", "./x"],
                     ["--plot", "x", "--events", "x.csv"], ["--plot", "x", "--pcap", "x.svg"]]:
            status, out, err = run("run", scenario, *[a if a[0] == "-" or i % 2 == 0 else self.path(a) for i, a in enumerate(args)])
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), (args, err))
            self.assertIn("same file", err)
        with open(scenario, encoding="ascii") as f:
            self.assertEqual(f.read(), text)

    def test_files_of_qlog_are_kept_apart(self):
        # "run --qlog NAME" writes NAME-FLOW.qlog for each flow.
        scenario = self.file("[flow]\nsize = 1kb\n")
        status, out, err = run("run", scenario, "--qlog", self.path("log"), "--events", self.path("log-1.qlog"))
        self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
        self.assertIn("--qlog", err)
        self.assertIn("--events", err)
        self.assertFalse(os.path.exists(self.path("log-1.qlog")))

    def test_files_of_sweep_are_kept_apart(self):
        # A sweep writes rows.csv, cells.csv and scenario.ini in the folder of --out.
        text = "[flow]\nsize = 1kb\n"
        os.mkdir(self.path("d"))
        for name in ("rows.csv", "cells.csv"):
            scenario = self.path("d/" + name)
            with open(scenario, "w", encoding="ascii") as f:
                f.write(text)
            status, out, err = run("sweep", scenario, "--out", self.path("d"))
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
            self.assertIn("--out", err)
            self.assertIn("same file", err)
            with open(scenario, encoding="ascii") as f:
                self.assertEqual(f.read(), text)
            os.remove(scenario)
        # A sweep can be repeated with the scenario that it has written itself.
        with open(self.path("d/scenario.ini"), "w", encoding="ascii") as f:
            f.write(text)
        self.assertEqual(run("sweep", self.path("d/scenario.ini"), "--out", self.path("d"), "--quiet")[0], 0)


class Sweep(Base):
    def setUp(self):
        super().setUp()
        self.grid = self.file(GRID)
        self.whole = self.sweep(self.grid, "whole", "--jobs", "1")

    def test_table(self):
        rows = self.table("whole", "rows.csv")
        self.assertEqual(len(rows), 5 * 5)  # 2 x 3 cells, one skipped
        self.assertEqual({(r["protocol"], r["link.ber"]) for r in rows},
                         {(p, b) for p in ("vj", "vegas") for b in ("0", "1e-6", "1e-5")} - {("vegas", "1e-5")})
        for text in self.whole:
            self.assertNotIn("nan", text.lower())
            self.assertNotIn("inf", text.lower())

    def test_workers(self):
        self.assertEqual(self.sweep(self.grid, "four", "--jobs", "4"), self.whole)

    def test_again(self):
        self.assertEqual(self.sweep(self.grid, "whole"), self.whole)

    def test_part_of_the_grid(self):
        """The runs of a cell are the same whichever other cells are run."""
        self.sweep(self.grid, "part", "--set", "link.ber=1e-6")
        part = {(r["protocol"], r["run"]): r["mbps"] for r in self.table("part", "rows.csv")}
        whole = {(r["protocol"], r["run"]): r["mbps"] for r in self.table("whole", "rows.csv") if r["link.ber"] == "1e-6"}
        self.assertEqual(part, whole)

    def test_shards(self):
        for k in (1, 2, 3):
            self.sweep(self.grid, "s%d" % k, "--shard", "%d/3" % k)
        self.good("merge", self.path("s3"), self.path("s1"), self.path("s2"), "--out", self.path("m"))
        self.assertEqual((self.read("m", "rows.csv"), self.read("m", "cells.csv")), self.whole)
        self.assertEqual(self.read("m", "scenario.ini"), GRID)
        status, out, err = run("merge", self.path("s3"), self.path("s1"), "--out", self.path("n"))
        self.assertEqual((status, err.count("\n")), (2, 1))
        self.assertIn("of 25 runs", err)
        before = self.read("s1", "rows.csv")
        status, out, err = run("merge", self.path("s3"), self.path("s1"), self.path("s2"), "--out", self.path("./s1"))
        self.assertEqual((status, out, err), (2, "", "scps_lab: %s is a shard to be merged: give another --out\n" % self.path("s1")))
        self.assertEqual(self.read("s1", "rows.csv"), before)
        status, out, err = run("merge", self.path("s3"), self.path("s3"), self.path("s1"), "--out", self.path("n"))
        self.assertEqual(status, 2)
        self.assertIn("same shard", err)

    def test_torn_line(self):
        text = self.whole[0]
        for cut in (10, len(text) // 2, len(text) - 1, text.index("\n") + 5):
            shutil.rmtree(self.path("t"), ignore_errors=True)
            os.mkdir(self.path("t"))
            self.file(text[:cut], "t/rows.csv")
            self.assertEqual(self.sweep(self.grid, "t"), self.whole)

    def test_others_results(self):
        for args in (["--set", "scenario.seed=8"], ["--set", "flow.size=1kb"], ["--shard", "1/2"]):
            status, out, err = run("sweep", self.grid, "--out", self.path("whole"), *args)
            self.assertEqual((status, err.count("\n")), (2, 1), err)
            self.assertIn("another scenario, seed, version or shard", err)
        self.assertEqual(self.read("whole", "rows.csv"), self.whole[0])
        # comments are not part of what is run
        self.assertEqual(self.sweep(self.file("# more words\n" + GRID, "t.ini"), "whole"), self.whole)

    def test_kill(self):
        big = self.file(GRID.replace("200kb", "4mb").replace("runs = 5", "runs = 20"), "big.ini")
        want = self.sweep(big, "big")
        rng = random.Random(1)
        kills = 0
        for attempt in range(60):
            p = subprocess.Popen([PROGRAM, "sweep", big, "--out", self.path("k"), "--quiet", "--jobs", "2"],
                                 stderr=subprocess.PIPE)
            try:
                p.wait(0.02 + rng.random() * 0.15)
            except subprocess.TimeoutExpired:
                p.send_signal(signal.SIGKILL if attempt % 3 else signal.SIGTERM)
                kills += 1
            err = p.communicate(timeout=600)[1].decode()
            if attempt % 3 == 0 and p.returncode == 1:
                self.assertIn("the same command goes on", err)
            if p.returncode == 0:
                break
        self.assertGreater(kills, 0)
        self.assertEqual(self.sweep(big, "k"), want)

    def test_full_disk(self):
        limit = len(self.whole[0]) // 2
        status, out, err = run("sweep", self.grid, "--out", self.path("f"), "--quiet",
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual((status, err.count("\n")), (1, 1), err)
        self.assertIn("f/rows.csv", err)
        self.assertIn("kept", err)
        kept = self.read("f", "rows.csv")
        self.assertTrue(kept.endswith("\n") and 200 < len(kept) <= limit)
        self.assertEqual(self.sweep(self.grid, "f"), self.whole)

    def test_slurm_script(self):
        """The tasks of lab/slurm's job array are run one after the other here, and their results are merged."""
        script = os.path.join(TREE, "lab", "slurm", "sweep.sbatch")
        env = dict(os.environ, SCPS_LAB=PROGRAM, SLURM_ARRAY_TASK_COUNT="3", SLURM_ARRAY_TASK_MIN="1",
                   SLURM_CPUS_PER_TASK="1")
        for k in ("1", "2", "3"):
            subprocess.run(["bash", script, self.grid, self.path("slurm")], check=True, env=dict(env, SLURM_ARRAY_TASK_ID=k),
                           stderr=subprocess.DEVNULL)
        subprocess.run(["bash", os.path.join(TREE, "lab", "slurm", "merge.sbatch"), self.path("slurm")], check=True, env=env)
        self.assertEqual(self.read("slurm", "rows.csv"), self.whole[0])

    def test_progress(self):
        status, out, err = run("sweep", self.grid, "--out", self.path("p"))
        self.assertNotIn("\r", err)  # not a terminal: lines
        self.assertIn("25 of 25 runs", err)


class Report(Base):
    def test_evaluation(self):
        """lab/evaluate.py reads the results that the campaigns write, and names the campaigns without results."""
        for name in ("satloss", "far-path"):
            self.good("sweep", name, "--set", "scenario.runs=1", "--out", self.path(name))
        said = subprocess.run([sys.executable, "-B", os.path.join(TREE, "lab", "evaluate.py"), self.dir], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True)
        self.assertEqual(1, said.returncode, said.stderr)
        self.assertEqual(["satloss" in said.stderr, "etosat" in said.stderr, "coexistence" in said.stderr], [False, True, True])
        rows = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in said.stdout.splitlines() if line.startswith("| bbr-")}
        self.assertEqual(1, len(rows["bbr-long-rounds"]))  # in the later of the two tables only
        took = float(rows["bbr-long-rounds"][0])
        row = [r for r in self.table("far-path", "rows.csv") if r["cc"] == "bbr-long-rounds"][0]
        self.assertAlmostEqual(float(row["seconds"]), took, delta=0.5)

    def test_cells(self):
        self.sweep(self.file(GRID), "o")
        t95 = 2.776445  # Student, 4 degrees of freedom
        rows = self.table("o", "rows.csv")
        for c in self.table("o", "cells.csv"):
            v = [float(r["mbps"]) for r in rows if r["cell"] == c["cell"]]
            self.assertEqual((int(c["n"]), c["failed"]), (5, "0"))
            self.assertAlmostEqual(float(c["mbps"]), statistics.mean(v), delta=1e-5 * statistics.mean(v))
            self.assertAlmostEqual(float(c["mbps_sd"]), statistics.stdev(v), delta=1e-4 * statistics.mean(v))
            self.assertAlmostEqual(float(c["mbps_ci95"]), t95 * statistics.stdev(v) / math.sqrt(5),
                                   delta=1e-4 * statistics.mean(v))

    def test_names_that_are_not_utf8(self):
        """The names of the scenario and of the folder are in Latin-1: the page is made, and has a replacement character
        for each octet that is not valid UTF-8."""
        ini = os.path.join(os.fsencode(self.dir), b"s.ini")
        out = os.path.join(os.fsencode(self.dir), b"gr\xf6\xdfe")
        for name in (b"name = gr\xf6\xdfe\n", b""):
            with open(ini, "wb") as f:
                f.write(b"[scenario]\n" + name + b"[link]\nrate = 1mbit\n[flow]\nsize = 1kb\n")
            shutil.rmtree(out, ignore_errors=True)
            for words in (("sweep", ini, "--out", out), ("report", out)):
                p = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=600, check=False)
                self.assertEqual(0, p.returncode, p.stderr)
            self.assertEqual(os.path.join(out, b"report", b"index.html\n"), p.stdout)
            with open(os.path.join(out, b"report", b"index.html"), encoding="utf-8") as f:
                self.assertRegex(f.read(), "<title>(gr\ufffd\ufffde|[^<]*gr[?][?]e)</title>")

    def test_confidence(self):
        """Half the width of the interval is t(0.975, n - 1) * s / sqrt(n), with t from published tables."""
        one = "[scenario]\nname=x\nruns=%d\n[link]\nber=1e-6\n[flow]\nsize=200kb\n"
        for n, t95 in ((2, 12.706205), (3, 4.302653), (5, 2.776445), (30, 2.045230)):
            self.sweep(self.file(one % n), "t%d" % n)
            c = self.table("t%d" % n, "cells.csv")[0]
            v = [float(r["mbps"]) for r in self.table("t%d" % n, "rows.csv")]
            self.assertGreater(statistics.stdev(v), 0)
            self.assertAlmostEqual(float(c["mbps_ci95"]) / (t95 * statistics.stdev(v) / math.sqrt(n)), 1, delta=2e-5)

    def test_all_flows(self):
        self.sweep(self.file("[scenario]\nname=x\nruns=3\n[flow]\nsize=100kb\ncopies=3\n"), "o")
        rows, cells = self.table("o", "rows.csv"), self.table("o", "cells.csv")
        self.assertEqual([c["flow"] for c in cells], ["flow.1", "flow.2", "flow.3", "all"])
        rates, spans = [], []
        for k in "123":
            flows = [r for r in rows if r["run"] == k]
            first = min(float(r["start"]) for r in flows)
            spans.append(max(float(r["start"]) + float(r["seconds"]) for r in flows) - first)
            rates.append(sum(int(r["bytes"]) for r in flows) * 8e-6 / spans[-1])
        self.assertAlmostEqual(float(cells[3]["mbps"]), statistics.mean(rates), delta=1e-4 * statistics.mean(rates))
        self.assertAlmostEqual(float(cells[3]["seconds"]), statistics.mean(spans), delta=1e-4 * statistics.mean(spans))

    def test_all_is_within_the_line(self):
        """The use of the line by two flows that run one after the other is not counted twice."""
        self.sweep(self.file("[link]\nrate=1mbit\nrtt=10ms\n[flow]\nsize=1mb\ncopies=2\nstagger=20s\n"), "o")
        self.assertLess(float(self.table("o", "cells.csv")[-1]["mbps"]), 1.0)

    def test_copies_start_apart(self):
        """Senders that start in the same microsecond would be synchronised, which real ones are not, so their starts
        differ; 'stagger = 0' makes them equal."""
        for text, starts in ("", 10), ("stagger=0\n", 1):
            self.sweep(self.file("[flow]\nsize=10kb\ncopies=10\n" + text), "o%d" % starts)
            self.assertEqual(len({r["start"] for r in self.table("o%d" % starts, "rows.csv")}), starts)

    def test_a_figure_of_names(self):
        """A sweep over controllers only gets a figure with one point for each controller, under its name."""
        if not shutil.which("gnuplot"):
            self.skipTest("no gnuplot")
        self.sweep(self.file("[flow]\nsize=100kb\n[sweep]\nflow.cc = vj, vegas, cubic\n"), "o")
        self.good("report", self.path("o"))
        page = self.read("o", "report", "index.html")
        self.assertEqual(page.count("<svg"), 1)
        for name in "vj", "vegas", "cubic":
            self.assertIn(">%s<" % name, page)

    def test_a_plot_of_flows_side_by_side(self):
        """The samples of flows that run at the same time alternate in the file; each flow is drawn as one line."""
        if not shutil.which("gnuplot"):
            self.skipTest("no gnuplot")
        self.good("run", self.file("[flow]\nsize=1mb\ncopies=2\n"), "--plot", self.path("p"))
        longest = max(len(d.split("L")) + d.count("l") for d in re.findall(r"<path[^>]* d='([^']*)'", self.read("p.svg").replace("\n", " ")))
        self.assertGreater(longest, 100)

    def test_a_plot_of_odd_names(self):
        """No name that gnuplot or a shell would take for a command is one: not that of a scenario, and not that of a file."""
        if not shutil.which("gnuplot"):
            self.skipTest("no gnuplot")
        for name in ("`touch told`", 'x"; system("touch told"); print "', "x'; system('touch told'); print '", "$(touch told)", "\\\\"):
            self.file("[scenario]\nname = %s\n[flow]\nsize = 10kb\ncopies = 2\n" % name)
            self.good("run", "./s.ini", "--plot", "p", cwd=self.dir)
            self.assertEqual(["p.csv", "p.png", "p.svg", "s.ini"], sorted(os.listdir(self.dir)), name)
            self.assertIn("flow.2 in flight", self.read("p.svg"))
        for name in ("a'b", 'a"b', "`touch told`", "|touch told", "<touch told", "a b", "-x"):
            self.good("run", "./s.ini", "--plot", name, "--set", "scenario.name=x", cwd=self.dir)
            self.assertIn("flow.2 in flight", self.read(name + ".svg"))
            self.assertFalse(os.path.exists(self.path("told")), name)
        for name in ("", "-", self.dir, "."):
            status, out, err = run("run", "geo", "--plot", name)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
            self.assertIn("--plot '%s'" % name, err)
        os.mkdir(self.path("d.svg"))
        env = dict(os.environ, PATH=self.dir)  # where there is no gnuplot
        for status, out, err in (run("run", "geo", "--plot", self.path("d")), run("run", "geo", "--plot", self.path("x"), env=env)):
            self.assertEqual((status, err.count("\n")), (1, 1), err)
            self.assertIn("is gnuplot installed", err)
        out = os.path.join(self.dir, "|touch told;")
        self.sweep(self.file("[flow]\nsize=100kb\n[sweep]\nflow.cc = vj, vegas\n"), out)
        self.good("report", os.path.basename(out), cwd=self.dir)
        self.assertFalse(os.path.exists(self.path("told")))

    def test_a_capture_that_cannot_be_written(self):
        status, out, err = run("run", "geo", "--pcap", self.path("no/x"))
        self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
        self.assertIn("write elsewhere", err)

    def test_page(self):
        """The page has every cell and all figures with the published values in it, and loads nothing from elsewhere."""
        if not shutil.which("gnuplot"):
            self.skipTest("no gnuplot")
        self.sweep("nasa-single-flow", "o", "--set", "scenario.runs=2", "--set", "link.rtt=500ms", "--set", "flow.size=100kb",
                   "--set", "link.ber=0,1e-6")
        self.good("report", self.path("o"))
        page = self.read("o", "report", "index.html")
        self.assertEqual(page.count("<tr>"), 1 + 12)
        self.assertEqual(page.count("<svg"), 1)
        self.assertRegex(page, r"\.f svg\{width:\d+px")  # gnuplot's have no size of their own: without one they are not seen
        self.assertNotRegex(page, r"(?i)\b(nan|inf)\b|<script|<link|src=")
        points = self.read("o", "report", "figure01.csv")
        self.assertIn("scps-vj; published,1e-09,0.2265", points)
        with open(self.path("o/report/figure01.png"), "rb") as f:
            self.assertEqual(f.read(4), b"\x89PNG")
        for cells in None, "", "garbage\n", "\0\xff", "# x\ncell,flow,n,mbps\n0,flow,1,x\n":  # none, or not what a sweep writes
            if cells is not None:
                os.makedirs(self.path("nowhere"), exist_ok=True)
                with open(self.path("nowhere/cells.csv"), "w", encoding="latin-1") as f:
                    f.write(cells)
            status, out, err = run("report", self.path("nowhere"))
            self.assertEqual((status, err.count("\n")), (2, 1), err)
            self.assertIn("cells.csv", err)
        status, out, err = run("report", self.path("o"), "--out", "/dev/full")
        self.assertEqual((status, err.count("\n")), (2, 1), err)

    def test_options_of_other_commands(self):
        for words in (["run", "geo", "--alpha", "0.1"], ["run", "geo", "--out", "x"], ["sweep", "geo", "--json"], ["list", "x"],
                      ["list", "--quiet"], ["keys", "x"], ["merge", "a", "--check"], ["compare", "a", "b", "--jobs", "2"],
                      ["sweep", "geo", "--out", "x", "--shard", "1/2x"], ["sweep", "geo", "--out", "x", "--shard", "-1/2"]):
            status, out, err = run(*words)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), (words, err))

    def test_compare(self):
        grid = self.file(GRID)
        self.sweep(grid, "a")
        self.sweep(grid, "b", "--set", "scenario.seed=8")
        status, out, err = run("compare", self.path("a"), self.path("a"))
        self.assertEqual((status, out.splitlines()[-1].split(" cells")[0]), (0, "0 of 5"))
        status, out, err = run("compare", self.path("a"), self.path("b"))  # other chances, the same means
        self.assertEqual(status, 0, out)
        self.sweep(grid, "c", "--set", "flow.initial-window=1")
        status, out, err = run("compare", self.path("a"), self.path("c"))
        self.assertEqual(status, 1)
        self.assertRegex(out, r"link.ber=0 flow: .*-> .* -\d")
        self.assertRegex(out.splitlines()[-1], r"^[1-5] of 5 cells differ beyond noise \(0 faster")

    def test_compare_single_runs(self):
        """One run says nothing about chance, so a difference between two single runs has no probability."""
        for name, more in (("a", ()), ("b", ("--set", "scenario.seed=8")), ("c", ())):
            self.sweep(self.file("[link]\nber = 1e-5\n[flow]\nsize = 200kb\n"), name, *more)
        status, out, err = run("compare", self.path("a"), self.path("b"))
        self.assertEqual(1, status, out)
        self.assertRegex(out.splitlines()[0], r"^flow: [0-9.]+ \(n 1\) -> [0-9.]+ \(n 1\) Mbit/s, .*one run: no test$")
        row = self.table("a", "cells.csv")[0]
        self.assertEqual(["", "", "", row["mbps"]], [row["mbps_sd"], row["mbps_ci95"], row["seconds_sd"], row["mbps_min"]])
        self.assertRegex(out.splitlines()[-1], "^0 of 1 cells differ beyond noise .*; 1 more differ, of one run")
        status, out, err = run("compare", self.path("a"), self.path("c"))
        self.assertEqual((0, 1), (status, out.count("\n")), out)
        if shutil.which("gnuplot"):
            self.sweep(self.file("[flow]\nsize = 20kb\n[sweep]\nflow.cc = vj, bbr\nlink.ber = 0, 1e-6\n"), "d")
            self.good("report", self.path("d"))


if __name__ == "__main__":
    names = {"scenario": Scenario, "run": Run, "sweep": Sweep, "report": Report}
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(names[GROUP])
    result = unittest.TextTestRunner(verbosity=2 if "-v" in sys.argv else 1).run(suite)
    sys.exit(not result.wasSuccessful())
