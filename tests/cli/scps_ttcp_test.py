#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scps_ttcp as its users meet it: command lines in; bytes, reports and exit statuses out.

    scps_ttcp_test.py PROGRAM usage|virtual|wire|files|schema|udp|datagrams [unittest options]

usage    what is refused, help, and the man page
virtual  transfers over a link: what arrives, what is reported, same seed same document
wire     how tshark decodes the captures of scps_ttcp (needs tshark)
files    input and output that are missing, full, slow or no files
schema   every kind of run gives a document that docs/schema describes (needs python3-jsonschema)
udp      two processes over IP in UDP on loopback
datagrams  -u, over a link and between two processes, its documents against their schema where python3-jsonschema is there

Real time is only waited for, never measured against a limit: until a port is bound, a signal has its handler, data flows.
"""
import csv
import fcntl
import functools
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
GROUP = sys.argv[2]
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCHEMA = os.path.join(TREE, "docs", "schema", "scps_ttcp.schema.json")
MAN = os.path.join(TREE, "docs", "man", "scps_ttcp.1")
ENV = {k: v for k, v in os.environ.items() if k != "SCPS_TTCP_OPTIONS"}

# every letter of the reference implementation's program, without and with a value
LETTERS = "decrstuvBCDEQIMSTVZ"
LETTERS_WITH = "bfgLlnpqAFGHNOPRmaWXY"

PATIENCE = 600  # seconds after which a test may give up waiting


def run(args, data=None, stdin=None, env=None, stdout=subprocess.PIPE, timeout=PATIENCE):
    """Runs the program to its end. Returns (status, stdout, lines of stderr)."""
    if data is None and stdin is None:
        stdin = subprocess.DEVNULL
    p = subprocess.run([PROGRAM] + args, input=data, stdin=stdin, stdout=stdout,
                       stderr=subprocess.PIPE, env=env or ENV, timeout=timeout)
    return p.returncode, p.stdout, p.stderr.decode(errors="replace").splitlines()


def start(args, **kw):
    kw.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([PROGRAM] + args, stdout=kw.pop("stdout", subprocess.PIPE),
                            stderr=subprocess.PIPE, env=ENV, **kw)


def finish(p, timeout=PATIENCE):
    try:
        out, err = p.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        raise
    return p.returncode, out, err.decode().splitlines()


def finish_quiet(p):
    p.communicate(timeout=PATIENCE)
    return p.returncode


def until(what, *args):
    end = time.monotonic() + PATIENCE
    while not what(*args):
        if time.monotonic() > end:
            raise AssertionError("not in %d seconds: %s%r" % (PATIENCE, what.__name__, args))
        time.sleep(0.01)


def interrupt(p, sig=signal.SIGINT):
    """Sends a signal, as a terminal would, as soon as the program handles it."""
    def has_handler():
        with open("/proc/%d/status" % p.pid) as f:
            return int(re.search(r"SigCgt:\s*(\w+)", f.read()).group(1), 16) >> (sig - 1) & 1

    until(has_handler)
    p.send_signal(sig)


def bound(port):
    """Returns true if a program has bound this UDP port."""
    for table in ("udp", "udp6"):
        if os.path.exists("/proc/net/" + table):
            with open("/proc/net/" + table) as f:
                if any(line.split()[1].endswith(":%04X" % port) for line in f.readlines()[1:]):
                    return True
    return False


def drained(pipe):
    """Returns true if the other end has read everything that was written to the pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4)))[0] == 0


def holds(path, n):
    return os.path.exists(path) and os.path.getsize(path) >= n


@functools.lru_cache(maxsize=8)
def stuff(n, seed=1):
    """Returns n pseudo-random bytes, the same ones for the same seed."""
    out, x = bytearray(), seed
    while len(out) < n:
        x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
        out += struct.pack("<Q", x)
    return bytes(out[:n])


class Case(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.dir = tempfile.TemporaryDirectory(prefix="scps_ttcp_test.")
        self.addCleanup(self.dir.cleanup)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def complains(self, err, *names):
        """Checks that the error output ends with one line of the program itself, which contains these names."""
        own = [line for line in err if line.startswith("scps_ttcp: ")]
        self.assertEqual(len(own), 1, err)
        for name in names:
            self.assertIn(name, own[0])

    def document(self, args, status=0, **kw):
        got, out, err = run(args + ["--json"], **kw)
        self.assertEqual(got, status, err)
        return json.loads(out)


class Usage(Case):
    def refused(self, args, *names, env=None):
        status, out, err = run(args, env=env)
        self.assertEqual((status, out, len(err)), (2, b"", 1), (args, err))
        self.complains(err, *names)

    def test_one_line_that_names_the_input(self):
        for args, name in [
                (["-t", "-r"], "-r"), (["-s"], "-t"), ([], "-t"), (["-t", "-Ω"], "-h"), (["-t", "--rate=5"], "--rate"),
                (["-t", "-l"], "-l"), (["-t", "-b", "5q"], "5q"), (["-t", "--link", "venus"], "venus"),
                (["-t", "--link", "ber=2"], "ber"),
                (["-t", "-G", "0"], "-R"), (["-t", "-G", "9"], "9"), (["-t", "10.0.0.2"], "10.0.0.2"),
                (["-r"], "--tun"), (["-t", "--udp", "127.0.0.1:x", "--addr", "10.0.0.1", "10.0.0.2"], "127.0.0.1:x")]:
            with self.subTest(args=args):
                self.refused(args, name)

    def test_settings_that_contradict_each_other(self):
        self.refused(["-ts", "--rto-min", "70", "--rto-max", "1"], "--rto-min", "--rto-max")
        self.assertEqual(run(["-ts", "-n", "1", "--rto-min", "1", "--rto-max", "1"])[0], 0)
        self.refused(["-ts", "-G", "1", "--cc", "vegas"], "-G", "--cc")
        self.refused(["-ts", "--cc", "vegas", "-G", "1"], "-G", "--cc")
        self.refused(["-ts", "--link", ""], "--link", "preset", "key=value")

    def test_a_file_has_a_name(self):
        for option in ["--output", "--pcap", "--pcap-peer", "--path-state", "--truth", "--qlog"]:
            with self.subTest(option=option):
                self.refused(["-ts", "--link", "leo", option, ""], option, "empty name")

    def test_a_limit_that_no_connection_fits_in(self):
        status, out, err = run(["-ts", "--link", "leo", "--memory-limit", "1k"])
        self.assertEqual(status, 1)
        self.complains(err[-1:], "out of memory", "--memory-limit", "-b")

    def test_a_host_that_cannot_be_reached(self):
        device = ["-ts", "--udp", "127.0.0.1:0,127.0.0.1:9", "--addr", "10.0.0.1/24"]
        self.refused(device + ["224.0.0.1"], "224.0.0.1", "multicast", "host's own address")
        self.refused(device + ["ff02::1"], "ff02::1", "multicast")
        self.refused(device + ["fd00::2"], "fd00::2", "IPv6", "--addr")
        self.refused(device + ["10.0.0.1"], "10.0.0.1", "this end")
        self.refused(device + ["--addr", "fd00::1/64", "fd00:0::1"], "fd00:0::1", "this end")

    def test_a_host_that_no_peer_can_be(self):
        """An empty HOST, and an address that no peer can have, are wrong usage in each program that takes a HOST."""
        interface = ["--udp", "127.0.0.1:0,127.0.0.1:9", "--addr", "10.0.0.1/24", "--addr", "fd00::1/64"]
        echo = os.path.join(os.path.dirname(PROGRAM), "scps_echo")
        for host, why in [("", "empty"), ("0.0.0.0", "unspecified"), ("0.1.2.3", "unspecified"), ("::", "unspecified"),
                          ("224.0.0.1", "multicast"), ("ff02::1", "multicast"), ("255.255.255.255", "broadcast"),
                          ("10.0.0.255", "broadcast"), ("250.1.1.1", "reserved"), ("10.0.0.1", "this end"),
                          ("fd00::1", "this end")]:
            with self.subTest(host=host):
                self.refused(["-ts", "--timeout", "0.1"] + interface + [host], "HOST " + host, why, ": give ")
                self.refused(["-rs", "-Q", "--timeout", "0.1"] + interface + [host], "HOST " + host, why, ": give ")
                if host != "10.0.0.255":
                    self.refused(["-tsu", "--timeout", "0.1"] + interface + [host], "HOST " + host, why)
                if os.access(echo, os.X_OK):
                    p = subprocess.run([echo, "-t", "--time", "0.1"] + interface + [host], capture_output=True, text=True,
                                       stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
                    self.assertEqual(p.returncode, 2, p.stderr)
                    self.assertRegex(p.stderr, "^scps_echo: HOST %s.*%s.*: give .*\\n$" % (re.escape(host), why))

    def test_addresses_that_no_host_has(self):
        for option, more in (("--addr", []), ("--kernel-addr", ["--addr", "10.0.0.1/24"])):
            for address in ("224.0.0.1/24", "240.0.0.1/8", "255.255.255.255/24", "0.0.0.0/24", "ff02::1/64", "::/64"):
                self.refused(["-ts", "--tun", "x", *more, option, address, "10.0.0.9"], option, address, "multicast, reserved or 0")
            for address in ("10.0.0.255/24", "10.0.3.255/22", "10.0.0.3/30", "10.127.255.255/9", "127.255.255.255/1"):
                self.refused(["-ts", "--tun", "x", *more, option, address, "10.0.0.9"], option, address, "broadcast")
        self.refused(["-ts", "--tun", "x", "--addr", "10.0.0.1/24", "--gateway", "10.0.0.255", "10.9.0.9"], "--gateway 10.0.0.255", "broadcast")
        for address in ("10.0.0.255/22", "10.0.0.3/31", "10.0.0.255/32", "10.0.0.255", "10.0.0.0/24"):
            status, out, err = run(["-ts", "--addr", address, "10.0.0.9"])
            self.complains(err[-1:], "no interface")  # the address is accepted

    def test_a_comparison_is_of_runs_over_a_link(self):
        for args, name in [(["-u"], "-u"), (["--pcap", "x"], "--pcap"), (["--truth", "x"], "--truth"), (["--output", "x"], "--output"),
                           (["-i", "1"], "--interval"), (["--udp", "127.0.0.1:1,127.0.0.1:2", "--addr", "10.0.0.1", "10.0.0.2"], "--udp")]:
            with self.subTest(args=args):
                status, out, err = run(["-t", "-s", "--compare", "vj,cubic"] + args)
                self.assertEqual((status, out, len(err)), (2, b"", 1), (args, err))
                self.assertIn("--compare", err[0])
        self.refused(["-t", "-s", "--compare", "vj,cubi"], "cubi")  # before vj ran
        self.refused(["-t", "-s", "--compare", "vj,"], "compare")
        self.refused(["-t", "-s", "--compare", ""], "--compare")
        self.refused(["-t", "-s", "--compare", "vj,cubic,alpha=2"], "alpha")
        self.assertEqual(run(["-t", "--compare", "vj"], data=b"x")[0], 2)  # a pipe is read once only

    def test_json_is_for_runs_not_for_usage(self):
        self.refused(["-t", "--json", "-l", "x"], "-l x")

    def test_every_letter_of_the_reference_is_known(self):
        """Each letter of the reference implementation is accepted with the same meaning, or refused with a reason."""
        status, out, err = run(["-h"])
        self.assertEqual((status, err), (0, []))
        shown = set(re.findall(r"^  -(\w) ", out.decode(), re.M)) | set(re.findall(r", -(\w) ", out.decode()))
        for letter in LETTERS + LETTERS_WITH:
            if letter in shown:
                continue
            with self.subTest(letter=letter):
                args = ["-t", "-" + letter] + (["1"] if letter in LETTERS_WITH else [])
                status, out, err = run(args)
                self.assertEqual((status, len(err)), (2, 1))
                self.assertRegex(err[0], r"^scps_ttcp: -%s: .{20,}" % letter)
        for letter in "trslnpbfvDBTAOdmRGaFHSVhi46":
            self.assertIn(letter, shown)

    def test_the_man_page_has_what_the_help_has(self):
        with open(MAN, encoding="utf-8") as f:
            page = f.read().replace("\\-", "-").replace("\\(en", "-")
        out = run(["-h"])[1].decode()
        for option in re.findall(r"^  (-\w) ", out, re.M) + re.findall(r"^  (--[\w-]+)", out, re.M):
            self.assertIn(option, page)

    def test_the_man_page_says_of_settings_what_the_help_says(self):
        """Bounds, default, meaning of 0 and clause agree in the manual, which tools/settings writes, and in the
        program's help."""
        with open(MAN, encoding="utf-8") as f:
            page = " ".join(re.sub(r"\\f[BIR]", "", f.read()).replace("\\-", "-").split())
        help_ = run(["-h"])[1].decode()
        part = help_[help_.index("Settings of the connection"):help_.index("\nINTERFACE")]
        entries = [" ".join(e.split()) for e in re.split(r"\n  (?=--)", part)[1:]]
        self.assertGreater(len(entries), 50)
        for e in entries:
            name, what = re.fullmatch(r"(--[\w-]+(?:, --[\w-]+)?(?: (?:SEC|MS|HOW|N))?)(?:, -\w)? (.*)", e).groups()
            for words in re.fullmatch(r"(.*?)(?: \(([^()]*(?:\([^()]*\)[^()]*)*)\))?", what).groups():
                words = (words or "")[1:]  # the page begins sentences with a capital
                self.assertIn(words, page, e)

    def test_lists(self):
        status, out, err = run(["--list-cc"])
        self.assertEqual((status, err), (0, []))
        names = re.findall(r"^([a-z][\w-]*) ", out.decode(), re.M)
        self.assertTrue({"vj", "rate"} <= set(names), names)
        for name in names:
            self.assertEqual(run(["-t", "-s", "-n", "1", "--cc", name, "-R", "1m"])[0], 0, name)
        status, out, err = run(["--list-links"])
        self.assertEqual((status, err), (0, []))
        for name in "lan leo geo moon mars nasa500 nasa250 nasa10".split():
            self.assertRegex(out.decode(), r"(?m)^%s " % name)

    def test_version(self):
        status, out, err = run(["-V"])
        self.assertEqual((status, err), (0, []))
        self.assertRegex(out.decode(), r"^scps_ttcp \d+\.\d+\.\d+\n$")

    def test_options_from_the_environment(self):
        env = dict(ENV, SCPS_TTCP_OPTIONS="--link nasa10 -n 3")
        doc = json.loads(run(["-t", "-s", "--json"], env=env)[1])
        self.assertEqual(doc["start"]["scps"]["link"]["spec"], "nasa10")
        self.assertEqual(doc["end"]["sum_sent"]["bytes"], 3 * 8192)
        self.refused(["-t"], "venus", env=dict(ENV, SCPS_TTCP_OPTIONS="--link venus"))


class Virtual(Case):
    def sent(self, data, args, status=0):
        """Sends data over a link and checks that it arrives. Returns the JSON document."""
        doc = self.document(["-t", "--output", self.path("out")] + args, status, data=data)
        with open(self.path("out"), "rb") as f:
            self.assertEqual(f.read(), data)
        self.assertIs(doc["end"]["verified"], True)
        self.assertEqual(doc["end"]["sum_received"]["bytes"], len(data))
        self.assertEqual(doc["end"]["sum_sent"]["bytes"], len(data))
        self.assertNotIn("error", doc)
        return doc

    def test_sizes(self):
        for n in [0, 1, 1023, 1024, 1025, 8192, 100000]:
            with self.subTest(bytes=n):
                self.sent(stuff(n), ["--link", "nasa10", "-l", "1024"])

    def test_a_comparison_is_its_runs(self):
        """Each row and each document of a comparison equals that of a run with --cc alone; parameters apply to their
        own controller only; input files are read again for each run."""
        with open(self.path("in"), "wb") as f:
            f.write(stuff(200000))
        common = ["-t", "--link", "geo,ber=1e-6", "--seed", "7"]
        for source in [["-s", "-n", "40"], []]:
            def one(*args):
                with open(self.path("in"), "rb") as stdin:
                    status, out, err = run(common + source + list(args), stdin=stdin)
                return status, out.decode(), err
            alone = {"vj": ["--cc", "vj"], "vegas,alpha=2,beta=4": ["--cc", "vegas,alpha=2,beta=4"], "rate": ["--cc", "rate", "-R", "10m"]}
            status, table, err = one("--compare", ",".join(alone))
            self.assertEqual((status, err), (0, []))
            rows = [re.split(r"  +", line) for line in table.splitlines()]
            self.assertEqual(rows[0][0], "controller")
            self.assertEqual([r[0] for r in rows[1:]], list(alone))
            docs = json.loads(one("--json", "--compare", ",".join(alone))[1])["compare"]
            for row, doc, (cc, args) in zip(rows[1:], docs, alone.items()):
                want = json.loads(one("--json", *args)[1])
                self.assertEqual(doc, want, cc)
                end = want["end"]
                self.assertEqual(row[3], "%.3f" % (int(end["timing"]["close_us"] / 1000 + 0.5) / 1000), cc)
                self.assertEqual(int(row[4]), end["tcp"]["retransmits"], cc)
                self.assertEqual(row[-1], "yes")

    def test_a_comparison_in_which_nothing_arrives(self):
        status, out, err = run(["-t", "-s", "--time", "0.1", "--link", "geo", "--compare", "vj,cubic"])
        self.assertEqual((status, err), (0, []))
        self.assertEqual(["-", "-"], [re.split(r"  +", line)[-1] for line in out.decode().splitlines()[1:]])

    def test_a_comparison_goes_on_after_a_failure(self):
        status, out, err = run(["-t", "-s", "-n", "400", "--link", "geo", "--timeout", "4", "--compare", "vj,rate"])
        self.assertEqual(status, 124)
        self.assertRegex(out.decode(), r"(?m)^vj +timeout: ")
        self.assertRegex(out.decode(), r"(?m)^rate .* yes$")
        self.assertEqual(len(err), 1, err)

    def test_several_connections(self):
        """-P and --bidir: each connection's data is verified, and the sums are those of the lines."""
        for args, streams in [(["-P", "4"], 4), (["-P", "3", "-Q"], 3), (["--bidir"], 2), (["-P", "2", "--bidir", "-6"], 4),
                              (["-P", "3", "--link", "geo,loss=0.2", "--seed", "2", "-q", "700"], 3), (["-P", "128", "--hollow"], 128),
                              (["-P", "2", "-c", "-E", "--link", "geo,ber=1e-5"], 2), (["-P", "2", "-e"], 2)]:
            with self.subTest(args=args):
                status, out, err = run(["-t", "-s", "-n", "12", "--json", "-i", "1"] + args)
                self.assertEqual((status, err), (0, []))
                self.assertEqual(out, run(["-t", "-s", "-n", "12", "--json", "-i", "1"] + args)[1])
                doc = json.loads(out)
                ends = doc["end"]["streams"]
                self.assertEqual(len(ends), streams)
                self.assertEqual(len({(c["local_port"], c["remote_port"]) for c in doc["start"]["connected"]}), doc["start"]["test_start"]["num_streams"])
                for e in ends:
                    self.assertEqual(e["verified"], None if "--hollow" in args else True)
                    self.assertEqual(e["sender"]["bytes"] + e["scps"].get("given_up", {}).get("bytes", 0), 12 * 8192)
                for back, key in [(False, ""), (True, "_bidir_reverse")]:
                    own = [e for e in ends if e["scps"]["back"] == back]
                    if not own:
                        continue
                    sums = doc["end"]["sum_received" + key]
                    self.assertEqual(sums["bytes"], sum(e["receiver"]["bytes"] for e in own))
                    self.assertEqual(sums["seconds"], max(e["receiver"]["seconds"] for e in own))
                    total = "sum" + key
                    self.assertEqual(sum(i[total]["bytes"] for i in doc["intervals"]), sum(e["sender"]["bytes"] for e in own))
        status, out, err = run(["-t", "-s", "-P", "3", "--bidir", "--time", "1"])
        self.assertEqual(status, 0)
        for line in ["^ttcp-t: \\[1\\] ", "^ttcp-r: \\[3 back\\] ", "^ttcp-t: \\[sum\\] ", "^ttcp-r: \\[sum back\\] ", "verified"]:
            self.assertTrue([e for e in err if re.search(line, e)], (line, err))

    def test_one_of_several_fails(self):
        """The run ends when the first of several connections fails, and reports that."""
        status, out, err = run(["-t", "-s", "-P", "3", "--timeout", "2", "--json"])
        doc = json.loads(out)
        self.assertEqual((status, doc["end"]["scps"]["outcome"]), (124, "timeout"))
        status, out, err = run(["-t", "-s", "-P", "2", "--link", "geo,outage=2s-20000s", "--user-timeout", "5", "--json"])
        self.assertEqual((status, json.loads(out)["end"]["scps"]["outcome"]), (3, "partial"))

    def test_a_comparison_of_several(self):
        status, out, err = run(["-t", "-s", "-n", "50", "-P", "3", "--compare", "vj,cubic"])
        self.assertEqual(status, 0, err)
        self.assertEqual(len(re.findall(r"(?m)^(?:vj|cubic) .* yes$", out.decode())), 2)

    def test_ways(self):
        data = stuff(300000)
        for way in ["-4", "-6", "-M", "--no-sack", "-M --no-sack", "-D", "-B", "-T", "-A 4096 -O 3", "-m 576", "--mss 300",
                    "-F 0", "-F 1", "-F 2", "-a 50", "-b 30000", "-L 3", "-p 1", "-G 1", "-G 0 -R 5m", "-l 1", "-l 100000"]:
            with self.subTest(way=way):
                self.sent(data, ["--link", "rate=20mbit,rtt=20ms"] + way.split())

    def test_losses_of_every_kind_are_repaired(self):
        data = stuff(1000000)
        for link in ["ber=1e-6", "ber=1e-5", "loss=0.02", "loss-back=0.2", "dup=0.05", "reorder=0.05", "queue=20p",
                     "ber=1e-6,flip", "loss=0.01,dup=0.01,reorder=0.01"]:
            for way in ["", "-M --no-sack", "-G 0 -R 10m", "-6"]:
                with self.subTest(link=link, way=way):
                    doc = self.sent(data, ["--link", "rate=10mbit,rtt=40ms," + link] + way.split())
                    if link in ("ber=1e-5", "loss=0.02"):
                        self.assertGreater(doc["end"]["tcp"]["retransmits"], 0)
                    if "flip" in link and doc["end"]["link"]["forward"]["flipped"] > 0:
                        self.assertGreater(sum(doc["end"]["tcp_peer"]["drops"].values()), 0)

    def test_damage_that_a_checksum_misses(self):
        """The same bit is flipped in two octets, two apart, of a pattern that counts upwards, in opposite directions,
        so the checksum stays correct. The receiver detects the damage at once, long before the end of the stream, and
        the run fails."""
        with tempfile.NamedTemporaryFile() as f:
            f.write(bytes(20000) + b"\x02\x00\x02" + bytes(1000000))
            f.flush()
            for way in ["", "-n 500"]:
                args = ["-t", "-s", "-n", "20", "--json", "--link", "rate=1mbit,rtt=40ms,flip,vector-back=off,vector=@" + f.name]
                status, out, err = run(args + way.split())
                doc = json.loads(out)
                self.assertEqual((status, doc["end"]["verified"], doc["end"]["scps"]["outcome"]), (1, False, "failed"))
                self.assertIn("with flip", doc["error"])
                self.assertLess(doc["end"]["scps"]["delivered_bytes"], 163840)

    def test_snack_is_on_unless_switched_off(self):
        data = stuff(1000000)
        args = ["--link", "rate=10mbit,rtt=200ms,loss=0.02"]
        for way in ["", "-S", "--no-sack", "-S --no-sack", "-F 0", "-F 1", "-M", "-6"]:
            with self.subTest(way=way):
                doc = self.sent(data, args + way.split())
                scps, on = doc["start"]["scps"], "-S" not in way
                names = ["snack1", "snack2"] if on else []
                self.assertIs(scps["snack"], on)
                self.assertEqual(scps["capabilities"], {"offered": names, "peer": names, "in_force": names})
                for key, end in [("snacks_in", "tcp"), ("snacks_out", "tcp_peer")]:
                    if on:
                        self.assertGreater(doc["end"][end][key], 0)
                    else:
                        self.assertEqual(doc["end"][end][key], 0)
                self.assertLessEqual(doc["end"]["tcp"]["snacks_in"], doc["end"]["tcp_peer"]["snacks_out"])
        # what SNACK is for: without SACK it alone names the holes
        alone = args + ["--no-sack", "-G", "0", "-R", "8m", "-b", "2m"]
        slow = self.sent(data, alone + ["-S"])["end"]["sum_sent"]["seconds"]
        self.assertLess(self.sent(data, alone)["end"]["sum_sent"]["seconds"], 0.8 * slow)
        err = run(["-t", "-v"] + args, data=data)[2]
        self.assertRegex(err[1], r", \d+ snacks in")
        self.assertTrue(any(re.match(r"ttcp-r: .* \d+ snacks out", line) for line in err), err)
        self.assertTrue(any("sack on, snack on, " in line for line in err), err)
        self.assertNotIn("snacks", "\n".join(run(["-t", "-S"] + args, data=data)[2]))

    def test_features_and_why_not(self):
        doc = self.document(["-t", "-s", "-n", "10", "-C", "--require", "ecn"])
        features = doc["start"]["scps"]["features"]
        self.assertEqual(features["bets"], "not_configured")
        self.assertEqual({features[f] for f in ("compression", "ecn", "snack", "snack_long", "sack")}, {"in_force"})
        status, _, err = run(["-t", "-s", "-n", "10", "-v", "-M", "-q", "7777"])
        self.assertEqual(status, 0)
        self.assertTrue(any(re.match(r"ttcp-t: in force: wscale, sack, capabilities, snack, snack_long$", l) for l in err), err)

    def test_reversed_roles(self):
        doc = self.sent(stuff(300000), ["-Q", "--link", "rate=10mbit,rtt=100ms"])
        self.assertEqual(doc["start"]["test_start"]["reverse"], 1)
        self.assertEqual(doc["start"]["connected"][0]["local_port"], 5001)

    def test_outages(self):
        """An outage of ten seconds. If no end is told of it, the timeouts back off. If they are told, the sender
        continues with its former window when the link is back."""
        args = ["-t", "-s", "-n", "1000", "-l", "8192", "--link", "rate=10mbit,rtt=100ms"]
        clear = self.document(args)["end"]
        docs = {how: self.document(args + ["--outage", "3s-13s" + how])["end"] for how in ("", ",signal", ",plan")}
        least = clear["sum_sent"]["seconds"] + 10
        repair = 2  # the window of before goes again, and Reno grows anew
        self.assertGreater(docs[""]["tcp"]["timeouts"], 3)
        for how in (",signal", ",plan"):
            self.assertEqual(docs[how]["tcp"]["timeouts"], 0)
            self.assertLess(docs[how]["sum_sent"]["seconds"], least + repair)
            self.assertGreater(docs[how]["tcp"]["holds_us"]["link_down"], 9900000)
            self.assertTrue(docs[how]["verified"])
        self.assertGreater(docs[""]["sum_sent"]["seconds"], docs[",plan"]["sum_sent"]["seconds"])
        self.assertEqual(docs[",plan"]["tcp"]["probes_out"], 0)
        again = self.document(args[:-1] + ["rate=10mbit,rtt=100ms,contact=0s-2s+4s-6s/8s", "--outage", "plan"])["end"]
        self.assertEqual((again["tcp"]["timeouts"], again["tcp"]["probes_out"]), (0, 0))

    def test_an_outage_that_both_ends_infer(self):
        """Both ends have data outstanding and send nothing but probes. The first probe that arrives ends the outage for
        both."""
        doc = self.document("-t -s --hollow --link leo,outage=200ms-5s -n 300 -e --cc vj --outage-after 2 --timeout 100".split(), 0)
        self.assertLess(doc["end"]["sum_sent"]["seconds"], 10)

    def test_an_inferred_outage_costs_no_window(self):
        """With the window reduced by two timeouts the transfer took 35.5 s. The probe is sent late, but the window
        remains as before the outage."""
        end = self.document("-t -s --hollow -n 200 --link geo,outage=1.25s-4.25s --outage-after 2".split())["end"]
        self.assertLess(end["sum_sent"]["seconds"], 18)

    def test_duplicates_told_after_the_repair(self):
        """With -C the first segment of a retransmission is cut in two, and the second duplicate is reported when all
        data has been acknowledged. That transfer took 102.7 s."""
        end = self.document("-t -s --hollow -n 200 --link moon,outage=8s-12s -C".split())["end"]
        self.assertLess(end["sum_sent"]["seconds"], 36)

    def test_no_outage_is_shorter_than_r2(self):
        """A connection survives an outage of less than 100 s if data is outstanding, and of less than three minutes
        during its SYN, also if timeouts do not back off (RFC 9293 section 3.8.3)."""
        for link, args, most in [("leo,outage=1s-8s", "-n 2000 --cc rate -R 20m", 15),
                                 ("leo,outage=1s-98s", "-n 2000 --cc rate -R 20m", 105),
                                 ("leo,outage=1s-8s", "-n 2000 --cc vegas-corruption -R 20m", 15),
                                 ("leo,outage=1s-8s", "-n 2000 --cc vj --loss-cause corruption", 15),
                                 ("leo,outage=0s-150s", "-n 1", 215), ("lan,outage=0s-150s", "-n 1", 215)]:
            doc = self.document(["-t", "-s", "--link", link] + args.split())
            self.assertTrue(doc["end"]["verified"])
            self.assertLess(doc["end"]["sum_sent"]["seconds"], most)

    def test_a_dead_link_is_probed(self):
        """A controller with a fixed rate loses 780 segments or their acknowledgements in 3 s. Sending the whole window
        again would take 1386 segments."""
        end = self.document("-t -s --hollow --link geo,outage=3s-6s --cc rate -R 8m".split())["end"]
        self.assertLess(end["tcp"]["retransmits"], 850)
        self.assertLess(end["sum_sent"]["seconds"], 22.5)

    def test_time_stamps_are_no_least_round_trip(self):
        """The round trip of 202 us is shorter than the unit of the timestamps. When 1 us was taken for the least round
        trip, 148 segments were retransmitted for 70 losses."""
        end = self.document("-t -s --hollow --link lan,queue=20p -n 400 --cc cubic".split())["end"]
        self.assertEqual(end["tcp"]["retransmits"], 70)
        self.assertEqual(end["streams"][0]["sender"]["min_rtt"], 202)

    def test_the_letter_takes_what_the_option_takes(self):
        """-a 0 is accepted like --ack-delay 0. It was refused before."""
        docs = [self.document("-t -s --hollow -n 100 -F 0 --link leo".split() + more) for more in (["-a", "0"], ["--ack-delay", "0"])]
        self.assertEqual(len({d["end"]["sum_sent"]["seconds"] for d in docs}), 1)

    def test_the_user_timeout_is_named(self):
        status, _, err = run("-t -s --hollow -n 2000 --link leo,outage=1s-60s --user-timeout 5".split())
        self.assertEqual(status, 3)
        self.assertIn("user timeout", err[-1])

    def test_header_compression(self):
        """The link loses some packets, and all segments but the SYNs have compressed headers, so full segments carry 16
        octets more (12 without timestamps). Plain TCP headers are used for the first four segments only, until the peer
        has been heard, and for segments after two timeouts in a row."""
        data = stuff(1000000)
        args = ["--link", "rate=10mbit,rtt=100ms,loss=0.01,loss-back=0.01", "-C"]
        for more, mss in [([], 1464), (["-M"], 1472), (["-S"], 1464), (["-6"], 1444), (["-l", "1024"], 1024)]:
            doc = self.sent(data, args + more)
            self.assertIn("com", doc["start"]["scps"]["capabilities"]["in_force"])
            self.assertEqual(doc["start"]["tcp_mss_default"], mss)
            t, peer = doc["end"]["tcp"], doc["end"]["tcp_peer"]
            self.assertIn(t["segments_sent"] - 1 - t["compressed"]["segments_out"], range(5 + t["timeouts"]))
            self.assertEqual(t["compressed"]["segments_in"], t["segments_received"] - 1)
            self.assertGreater(peer["compressed"]["saved_in"], 10 * peer["compressed"]["segments_in"])

    def test_little_memory(self):
        """Writes and arriving data that are refused for lack of memory cost time, and nothing is lost."""
        args = ["-t", "-s", "-n", "100", "--link", "geo,loss=0.01", "--cc", "rate", "-R", "9m"]
        whole = self.document(args + ["--memory-limit", "0"], 0)
        for limit in ["60k", "200k", "1m"]:
            with self.subTest(limit=limit):
                doc = self.document(args + ["--memory-limit", limit], 0)
                self.assertIs(doc["end"]["verified"], True)
                self.assertEqual(doc["end"]["sum_received"]["bytes"], whole["end"]["sum_received"]["bytes"])
                self.assertGreater(doc["end"]["sum_received"]["seconds"], whole["end"]["sum_received"]["seconds"])

    def test_records(self):
        """The receiver reads as many records as were written, each with its length, over a link that loses and reorders
        packets."""
        link = ["--link", "rate=10mbit,rtt=50ms,loss=0.01,reorder=0.02,dup=0.01,queue=2000p"]
        for args, size in [(["-c"], 4000), (["--record-size", "1500"], 1500), (["--record-size", "1448"], 1448),
                           (["--record-size", "300000", "-b", "64K"], 300000), (["-c", "-C", "-M"], 4000)]:
            with self.subTest(args=args):
                doc = self.document(["-t", "-s", "-l", "4000", "-n", "250"] + link + args, 0)
                n, last = divmod(1000000, size)
                self.assertIs(doc["end"]["verified"], True)
                self.assertEqual(doc["end"]["scps"]["records"],
                                 {"written": n + (last > 0), "read": n + (last > 0), "torn": 0,
                                  "min_bytes": last or size, "max_bytes": size})
        # a pipe: whole blocks with -B; where they end is not known before, so the last one ends with the stream
        got = self.sent(stuff(10500), link + ["-c", "-B", "-l", "1000"])["end"]["scps"]["records"]
        self.assertEqual(got, {"written": 11, "read": 11, "torn": 0, "min_bytes": 500, "max_bytes": 1000})
        got = self.sent(stuff(10500), link + ["--record-size", "1000"])["end"]["scps"]["records"]
        self.assertEqual(got, {"written": 10, "read": 11, "torn": 0, "min_bytes": 500, "max_bytes": 1000})
        err = run(["-t", "-s", "-n", "50", "-c", "-l", "1000"] + link)[2]
        self.assertIn("ttcp-r: 50 records of 1000 to 1000 bytes", err)
        # a small window: a full and a short segment in it are acknowledged, and no record waits for the receiver's timer
        doc = self.document(["-t", "-s", "-l", "2400", "-n", "500", "-c", "-b", "4000", "--link", "rate=100mbit,rtt=2ms"])
        self.assertLess(doc["end"]["sum_sent"]["seconds"], 0.75)

    def test_vegas_under_delayed_acks(self):
        """The receiver reads half a receive buffer at once, so a window update acknowledges data long before the
        delayed ACK timer does. Vegas takes this for a shorter path, and later the timer's delay for a queue; it has to
        recover its window. The goodput was 15 to 18 Mbit/s when it did not."""
        for seed in "246":
            doc = self.document(["-t", "-s", "-n", "4000", "-G", "2", "-F", "0", "-R", "400m", "-b", "2m", "--rtt", "10ms", "--seed", seed,
                                 "--hollow", "--link", "rate=1gbit,rtt=100us,jitter=300us"])
            self.assertGreater(doc["end"]["sum_sent"]["bits_per_second"], 60e6, seed)

    def test_best_effort(self):
        """Every byte that is received is the one sent at that place, or lies in a hole that is reported; the output
        file has each byte at its place."""
        data = stuff(500000)
        link = ["--link", "rate=10mbit,rtt=100ms,ber=3e-5,queue=2000p", "-E", "--bets-timeout", "20", "--output", self.path("out")]
        for args in [[], ["-S"], ["-S", "--no-sack"], ["-G", "0", "-R", "8m"], ["-F", "0"], ["-C"], ["-Z"], ["-6"], ["-B"],
                     ["-c", "-l", "5000"]]:
            with self.subTest(args=args):
                doc = self.document(["-t"] + link + args, 0, data=data)
                holes = doc["end"]["scps"]["holes"]
                self.assertIn("bets", doc["start"]["scps"]["capabilities"]["in_force"])
                self.assertIs(doc["end"]["verified"], True)
                self.assertGreater(holes["count"], 0)
                self.assertEqual(holes["count"], len(holes["list"]))
                self.assertEqual(holes["bytes"], sum(h["length"] for h in holes["list"]))
                self.assertEqual(holes["bytes"] + doc["end"]["sum_received"]["bytes"], len(data))
                want = bytearray(data)
                for h in holes["list"]:
                    want[h["offset"]:h["offset"] + h["length"]] = bytes(h["length"])
                with open(self.path("out"), "rb") as f:
                    self.assertEqual(f.read(), bytes(want))
        err = run(["-t", "-v"] + link, data=data)[2]
        self.assertTrue(any(re.match(r"ttcp-r: \d+ bytes missing in \d+ holes$", line) for line in err), err)
        # the receiver has given them up, and the sender does not know what is missing
        self.assertIn("ttcp-t: 0 bytes given up by the sender in 0 ranges; what is missing at the receiver is in its report", err)
        self.assertTrue(any(re.match(r"ttcp-r: hole at byte \d+, \d+ bytes$", line) for line in err), err)
        self.assertTrue(any("or lies in a hole that was told" in line for line in err), err)
        # patience: nothing is missing, and nothing says so
        doc = self.sent(data, ["--link", "rate=10mbit,rtt=100ms,ber=1e-6", "-E"])
        self.assertEqual(doc["end"]["scps"]["holes"], {"bytes": 0, "count": 0, "list": []})
        self.assertEqual(doc["end"]["scps"]["given_up"], {"bytes": 0, "count": 0, "list": []})
        # the sender's side of it: a link on which nearly nothing gets through the first times
        doc = self.document(["-t", "-s", "-n", "20", "-l", "1000", "-E", "--bets-retries", "1", "--bets-timeout", "3000", "--link",
                             "rate=1mbit,rtt=50ms,loss=0.5", "--seed", "5"], 0)
        self.assertGreater(doc["end"]["scps"]["given_up"]["bytes"], 0)
        self.assertEqual(doc["end"]["scps"]["given_up"]["bytes"] + doc["end"]["sum_sent"]["bytes"], 20000)

    def test_what_a_loss_means(self):
        data = stuff(1000000)
        args = ["--link", "rate=10mbit,rtt=200ms,loss=0.01"]
        doubtful = self.sent(data, args)
        self.assertEqual(doubtful["start"]["scps"]["loss_cause"], "congestion")
        for way in ["--loss-cause corruption", "--cc vegas --loss-cause corruption", "--cc vegas-corruption"]:
            sure = self.sent(data, args + way.split())
            self.assertEqual(sure["start"]["scps"]["loss_cause"], "corruption")
            self.assertLess(sure["end"]["sum_sent"]["seconds"], 0.7 * doubtful["end"]["sum_sent"]["seconds"], way)

    def test_dupthresh(self):
        """The path reorders packets and loses none. A higher threshold of duplicate ACKs causes fewer needless
        retransmissions."""
        args = ["--link", "rate=10mbit,rtt=40ms,reorder=0.02,queue=2000p", "-S"]  # SNACK asks whatever the threshold
        few, many = [self.sent(stuff(1000000), args + ["--dupthresh", n]) for n in ("2", "60")]
        self.assertEqual((few["start"]["scps"]["dupthresh"], many["start"]["scps"]["dupthresh"]), (2, 60))
        self.assertGreater(few["end"]["tcp"]["retransmits"], many["end"]["tcp"]["retransmits"])

    def test_route_rate(self):
        """The route's rate includes the octets that an encryptor adds. The floor (--min-rate) lets a connection send
        although its congestion window does not permit it."""
        args = ["--link", "rate=100mbit,rtt=20ms,queue=2000p", "-l", "1000", "-b", "4m"]
        plain = self.sent(stuff(2000000), args + ["-G", "0", "--route-rate", "8m", "--overhead", "0"])
        self.assertEqual(plain["start"]["scps"]["route_rate_bps"], 8000000)
        self.assertAlmostEqual(plain["end"]["sum_sent"]["seconds"], 2000 * 1052 * 8 / 8e6, delta=0.1)
        coded = self.sent(stuff(2000000), args + ["-G", "0", "--route-rate", "8m", "--overhead",
                                                  "pre=8,block=64,post=44"])
        self.assertEqual(coded["start"]["scps"]["overhead"], {"packet": 0, "pre": 8, "block": 64, "post": 44})
        self.assertAlmostEqual(coded["end"]["sum_sent"]["seconds"], 2000 * (1088 + 44) * 8 / 8e6, delta=0.1)
        lossy = ["--link", "rate=100mbit,rtt=200ms,loss=0.02,queue=2000p", "-b", "4m", "-G", "1"]
        slow, lifted = [self.sent(stuff(2000000), lossy + more) for more in ([], ["--min-rate", "20m"])]
        self.assertLess(lifted["end"]["sum_sent"]["seconds"], 0.5 * slow["end"]["sum_sent"]["seconds"])

    def test_bindings_and_comp_proto(self):
        d = self.sent(stuff(100000), ["--link", "leo", "--binding", "1:f0c0", "--binding", "9:ff"])
        self.assertEqual(d["start"]["scps"]["bindings_offered"], ["1:f0c0", "9:ff"])
        self.assertEqual(d["start"]["scps"]["bindings"], ["1:f0c0", "9:ff"])
        for proto in (6, 105, 106):
            d = self.sent(stuff(100000), ["--link", "leo", "-C", "--comp-proto", str(proto)])
            self.assertEqual(d["start"]["scps"]["comp_proto"], proto)
            self.assertEqual(d["start"]["scps"]["features"]["compression"], "in_force")

    def test_echo(self):
        """A block and its echo take the time of two packets on the line and a round trip, the same each time."""
        args = ["-t", "-s", "-n", "20", "-l", "1000", "-e", "--link", "rate=10mbit,rtt=200ms"]
        packet = (1000 + 52 + 18) * 8 / 10  # us
        for more in ([], ["--hollow"], ["-Q"], ["-6"], ["-D"]):
            end = self.document(args + more)["end"]
            echo = end["scps"]["echo"]
            self.assertEqual((echo["count"], echo["bytes"], end["verified"]), (20, 20000, None if more == ["--hollow"] else True), more)
            extra = 2 * (20 if more == ["-6"] else 0) * 8 / 10
            for value in ("min_us", "mean_us"):
                self.assertAlmostEqual(echo[value], 200000 + 2 * packet + extra, delta=10, msg=(more, echo))
            self.assertGreater(end["sum_sent"]["seconds"], 20 * 0.2)
            self.assertNotIn("physical_limit_bps", end["scps"])
        # blocks larger than both buffers, losses, a file and its end; the report in words
        data = stuff(1000001)
        doc = self.sent(data, ["-e", "-B", "-l", "300000", "-b", "20000", "--link", "rate=10mbit,rtt=20ms,loss=0.01"])
        self.assertEqual((doc["end"]["scps"]["echo"]["count"], doc["end"]["scps"]["echo"]["bytes"]), (4, 1000001))
        err = run(args)[2]
        self.assertIn("ttcp-t: 20 echoes of 20000 bytes, there and back in 201.7 ms to 201.7 ms, mean 201.7 ms", err)

    def test_burst(self):
        """The token bucket is full at the beginning: as many octets as it holds are sent at the speed of the line, the
        others at the configured rate."""
        args = ["--link", "rate=100mbit,rtt=20ms", "--cc", "rate", "-R", "1m", "--first-window", "1M"]
        times = [self.sent(stuff(100000), args + ["--burst", n])["end"]["sum_sent"]["seconds"] for n in ("6000", "106000")]
        self.assertAlmostEqual(times[0] - times[1], 8 * 100000 / 1e6, delta=0.03)

    def test_a_braked_controller_is_told(self):
        """The report says that vegas-corruption has halved its window because of losses that it took for corruption;
        they come from a queue of two packets."""
        for queue, braked in (("2p", True), ("1bdp", False)):
            args = ["-t", "-s", "--hollow", "-n", "500", "--link", "rate=20m,rtt=40ms,queue=" + queue, "--cc", "vegas-corruption"]
            rc, _, err = run(args)
            self.assertEqual(rc, 0, err)
            self.assertEqual("warning: vegas-corruption lost a large share of its window" in "\n".join(err), braked, err)
            out = json.loads(run(args + ["--json"])[1])
            self.assertEqual(out["end"]["tcp"]["cc_phase"], "braked" if braked else "none")

    def test_same_seed_same_document(self):
        data = stuff(500000)
        args = ["-t", "--link", "nasa10,ber=1e-6", "-l", "1024", "-i", "0.05", "--json"]
        first = run(args, data=data)[1]
        self.assertEqual(run(args, data=data)[1], first)
        self.assertEqual(run(args + ["--seed", "1"], data=data)[1], first)
        other = run(args + ["--seed", "2"], data=data)[1]
        self.assertNotEqual(other, first)
        self.assertNotEqual(json.loads(other)["end"]["sum_sent"], json.loads(first)["end"]["sum_sent"])

    def test_segments_follow_the_write_length(self):
        for l, mss in [(1024, 1024), (536, 536), (8192, 1448)]:
            doc = self.document(["-t", "-s", "-n", "50", "-l", str(l)])
            self.assertEqual(doc["start"]["tcp_mss_default"], mss)
        doc = self.document(["-t", "-s", "-n", "50", "-l", "1024"])
        self.assertEqual(doc["end"]["tcp"]["data_segments_sent"], 50 + doc["end"]["tcp"]["retransmits"])
        self.assertEqual(doc["end"]["scps"]["write_calls"], 50)

    def test_the_clock_of_the_sender(self):
        """The sender's time runs from the SYN to the acknowledgement of the FIN, and all other times are in their
        order."""
        doc = self.document(["-t", "-s", "-n", "100", "-l", "1000", "--link", "rate=8mbit,rtt=100ms,overhead=0"])
        t, total = doc["end"]["timing"], doc["end"]["sum_sent"]["seconds"]
        self.assertAlmostEqual(t["connect_us"], 100000, delta=500)
        self.assertAlmostEqual(t["first_byte_us"], 151000, delta=1500)
        order = ["connect_us", "first_byte_us", "delivered_us", "acked_us", "close_us"]
        self.assertEqual([t[k] for k in order], sorted(t[k] for k in order))
        self.assertLessEqual(t["enqueued_us"], t["acked_us"])
        self.assertAlmostEqual(t["acked_us"] - t["delivered_us"], 50000, delta=1000)
        self.assertEqual(round(total * 1e6), t["close_us"])
        self.assertEqual(doc["end"]["sum_sent"]["bits_per_second"], 8 * 100000 * 1000000 // t["close_us"])
        self.assertEqual(round(doc["end"]["sum_received"]["seconds"] * 1e6), t["delivered_us"])

    def test_rate_is_what_the_wire_sees(self):
        """-R includes headers and framing: 1024 bytes of payload are 1024+52+18 bytes on this link."""
        doc = self.document(["-t", "-s", "-n", "5000", "-l", "1024", "--link", "rate=100mbit,rtt=1ms,overhead=18",
                             "-G", "0", "-R", "8m", "-b", "1m"])
        t = doc["end"]["timing"]
        span = (t["delivered_us"] - t["first_byte_us"]) / 1e6
        self.assertAlmostEqual(4999 * (1024 + 52 + 18) * 8 / span / 8e6, 1.0, delta=0.01)

    def test_physical_limit(self):
        doc = self.document(["-t", "-s", "-n", "2000", "-l", "1024", "--link", "nasa10", "-G", "0", "-R", "80m", "-b", "8m"])
        limit, got = doc["end"]["scps"]["physical_limit_bps"], doc["end"]["sum_sent"]["bits_per_second"]
        self.assertLessEqual(got, limit * 1.01)
        self.assertGreater(got, limit * 0.9)
        doc = self.document(["-t", "-s", "-n", "2", "--link", "rate=1200,delay=1s"])  # not rounded away
        limit, got = doc["end"]["scps"]["physical_limit_bps"], doc["end"]["sum_sent"]["bits_per_second"]
        self.assertTrue(0.98 * limit < got <= limit + 1, (got, limit))

    def test_pure_rate_over_the_published_channel(self):
        """Without errors the duration follows from the rate and the round trip; the first window takes one round
        trip."""
        args = ["-t", "-s", "-n", "9766", "-l", "1024", "--link", "nasa500", "-G", "0", "-R", "80m", "-b", "24m"]
        doc = self.document(args)
        limit, got = doc["end"]["scps"]["physical_limit_bps"], doc["end"]["sum_sent"]["bits_per_second"]
        # the token bucket is full at first: 6000 bytes leave at line rate, 0.03 % of this transfer
        self.assertTrue(0.97 * limit < got < 1.0005 * limit, (got, limit))
        self.assertEqual(doc["start"]["scps"]["first_window"], 24 << 20)
        for seed in "124":  # the last segments of 1 and 4 once waited for a timeout
            doc1 = self.document(args + ["--link", "nasa500,ber=1e-6", "--seed", seed])
            limit, got = doc1["end"]["scps"]["physical_limit_bps"], doc1["end"]["sum_sent"]["bits_per_second"]
            self.assertTrue(0.97 * limit < got < 1.06 * limit, (seed, got, limit))
            self.assertEqual(doc1["end"]["tcp"]["timeouts"], 0)
        slow = self.document(args + ["--first-window", "0"])
        self.assertEqual(slow["start"]["scps"]["first_window"], 0)
        self.assertAlmostEqual((slow["end"]["timing"]["close_us"] - doc["end"]["timing"]["close_us"]) / 5e5, 1, delta=0.05)

    def test_intervals_add_up(self):
        doc = self.sent(stuff(2000000), ["--link", "rate=10mbit,rtt=40ms,loss=0.001", "-i", "0.25"])
        parts = doc["intervals"]
        self.assertGreater(len(parts), 5)
        self.assertEqual(sum(i["sum"]["bytes"] for i in parts), 2000000)
        self.assertEqual(sum(i["scps"]["delivered_bytes"] for i in parts), 2000000)
        self.assertEqual(sum(i["sum"]["retransmits"] for i in parts), doc["end"]["tcp"]["retransmits"])
        for a, b in zip(parts, parts[1:]):
            self.assertEqual(a["sum"]["end"], b["sum"]["start"])
        for i in parts[:-1]:
            self.assertAlmostEqual(i["sum"]["seconds"], 0.25, places=6)
        self.assertEqual(parts[-1]["sum"]["end"], doc["end"]["scps"]["elapsed_us"] / 1e6)

    def test_time_stops_sending(self):
        for extra in [[], ["--hollow"]]:
            doc = self.document(["-t", "-s", "--time", "2", "--link", "rate=10mbit,rtt=40ms"] + extra)
            seconds = doc["end"]["sum_sent"]["seconds"]
            self.assertTrue(2 < seconds < 4, seconds)
            self.assertEqual(doc["end"]["sum_sent"]["bytes"], doc["end"]["scps"]["enqueued_bytes"])
            self.assertIs(doc["end"]["verified"], None if extra else True)

    def test_hollow_bytes_run_the_same_protocol(self):
        args = ["-t", "-s", "-n", "3000", "-l", "1024", "--link", "nasa10,ber=1e-6", "-b", "1m"]
        real, hollow = self.document(args), self.document(args + ["--hollow"])
        self.assertEqual(real["end"]["tcp"], hollow["end"]["tcp"])
        self.assertEqual(real["end"]["timing"], hollow["end"]["timing"])
        self.assertEqual((real["end"]["verified"], hollow["end"]["verified"]), (True, None))

    def test_timeout(self):
        status, out, err = run(["-t", "-s", "--link", "geo", "--timeout", "1"])
        self.assertEqual((status, out), (124, b""))
        self.complains(err, "--timeout")
        self.assertRegex(err[0], r"^ttcp-t: \d+ bytes in 1\.000 real seconds = .* \+\+\+$")

    def test_a_link_that_carries_nothing(self):
        status, out, err = run(["-t", "-s", "--link", "lan,loss=1"])
        self.assertEqual(status, 1)
        self.complains(err, "timed out")

    def test_a_link_that_dies_midway_is_partial(self):
        """The link loses nearly everything: some bytes arrive before the retries are used up, and the report says
        so."""
        partial = 0
        for seed in range(1, 9):
            doc = json.loads(run(["-t", "-s", "-n", "400", "--link", "rate=10mbit,rtt=10ms,loss=0.75", "--timeout", "20000",
                                  "--seed", str(seed), "--json"])[1])
            outcome, moved = doc["end"]["scps"]["outcome"], doc["end"]["scps"]["delivered_bytes"]
            if outcome != "done":
                self.assertEqual(outcome, "partial" if moved > 0 else "failed")
                partial += outcome == "partial"
        self.assertGreater(partial, 0)

    def test_text_report(self):
        status, out, err = run(["-t", "--link", "nasa10", "-l", "1024", "-f", "m"], data=stuff(1000000))
        self.assertEqual((status, out), (0, b""))
        self.assertRegex(err[0], r"^ttcp-t: 1000000 bytes in \d+\.\d+ real seconds = \d+\.\d\d Mbit/sec \+\+\+$")
        self.assertRegex(err[1], r"^ttcp-t: \d+ segments sent, \d+ received, \d+ resent, ")
        self.assertRegex(err[2], r"^ttcp-r: 1000000 bytes in \d+\.\d+ real seconds = \d+\.\d\d Mbit/sec \+\+\+$")
        self.assertIn("ttcp-r: verified: every byte arrived as it was sent", err)
        for unit, word in zip("kKmMgG", "kbit KB Mbit MB Gbit GB".split()):
            err = run(["-t", "-s", "-n", "3", "-f", unit])[2]
            self.assertRegex(err[0], r" %s/sec \+\+\+$" % word)

    def test_verbose_and_debug(self):
        err = run(["-t", "-s", "-n", "3", "-v", "-T"])[2]
        self.assertTrue(any("seconds since the SYN" in line for line in err))
        self.assertTrue(any("touched" in line for line in err))
        err = run(["-t", "-s", "-n", "3", "-d"])[2]
        self.assertTrue(any(re.match(r"0\.000000 t sent off=0 ", line) for line in err), err[:5])
        self.assertTrue(any(re.match(r"\d+\.\d{6} r received ", line) for line in err))

    def test_progress_is_for_terminals(self):
        # Progress is printed at intervals of real time: the transfer gets longer until it takes such an interval.
        for segments in ("40000", "200000", "1000000"):
            args = ["-t", "-s", "--hollow", "-n", segments, "--link", "nasa500", "-G", "0", "-R", "100m"]
            seen = self.on_a_terminal(args)
            if re.search(r"\r\d+[KM]? +[1-9]\d*% ", seen):
                break
        self.assertRegex(seen, r"\r\d+[KM]? +\d+% \d+\.\d\d Mbit/sec rtt \d+\.\d ms cwnd \d+[KM]? holes \d+")
        self.assertIn("\r\033[Kttcp-t: ", seen)  # wiped before the report
        self.assertNotIn("\r", "\n".join(run(args)[2]))

    def on_a_terminal(self, args):
        """Runs scps_ttcp with a terminal as standard error, and returns what it prints there."""
        master, slave = os.openpty()
        p = subprocess.Popen([PROGRAM] + args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave, env=ENV)
        os.close(slave)
        seen = b""
        try:
            while True:
                seen += os.read(master, 65536)
        except OSError:  # the other side is closed
            pass
        os.close(master)
        self.assertEqual(finish_quiet(p), 0)
        return seen.decode()

    def test_captures(self):
        """The captures of both ends contain every packet that the stacks counted, as raw IP."""
        doc = self.document(["-t", "-s", "-n", "50", "--link", "nasa10", "--pcap", self.path("t.pcap"), "--pcap-peer",
                             self.path("r.pcap")])
        for name in ["t.pcap", "r.pcap"]:
            with open(self.path(name), "rb") as f:
                raw = f.read()
            magic, network = struct.unpack("<I16xI", raw[:24])
            self.assertEqual((magic, network), (0xa1b2c3d4, 101))
            at, n, times = 24, 0, []
            while at < len(raw):
                sec, usec, cap, whole = struct.unpack("<4I", raw[at:at + 16])
                self.assertEqual(raw[at + 16] >> 4, 4)
                self.assertEqual(struct.unpack(">H", raw[at + 18:at + 20])[0], whole)
                self.assertEqual(cap, whole)
                times.append(sec * 1000000 + usec)
                at, n = at + 16 + cap, n + 1
            self.assertEqual(at, len(raw))
            self.assertEqual(times, sorted(times))
            counted = doc["end"]["tcp"]["segments_sent"] + doc["end"]["tcp"]["segments_received"]
            self.assertTrue(counted <= n <= counted + 4, (n, counted))  # the closing is captured, but no longer counted

    def test_truth(self):
        """--truth writes a row for every packet of the link, with the fates that the link counted and the fields that
        scps_trace needs."""
        doc = self.document(["-t", "-s", "-n", "1000", "--link", "geo,ber=3e-6,loss-back=0.01,dup=0.01,outage=2.8s-2.9s,queue=60p",
                             "--truth", self.path("truth.csv")])
        with open(self.path("truth.csv"), encoding="ascii") as f:
            rows = list(csv.DictReader(f))
        for way, key in [("a2b", "forward"), ("b2a", "back")]:
            mine, counted = [r for r in rows if r["direction"] == way], doc["end"]["link"][key]
            self.assertEqual(len({r["packet_no"] for r in mine}), len(mine))
            self.assertTrue(0 <= len(mine) - counted["offered"] <= 4, (len(mine), counted))  # closing is no longer counted
            for cause in ["queue", "ber", "loss", "codel", "outage", "burst", "vector"]:
                self.assertEqual(sum(r["cause"] == cause for r in mine), counted["dropped_" + cause], (way, cause))
            self.assertEqual(sum(r["copies"] == "2" for r in mine), counted["duplicated"])
        self.assertTrue(any(r["cause"] == "outage" for r in rows) and any(r["cause"] == "ber" for r in rows))

    def test_truth_cannot_be_written(self):
        status, _, err = run(["-t", "-s", "-n", "5", "--truth", "/nonexistent/x"])
        self.assertEqual(status, 1)
        self.assertIn("--truth /nonexistent/x", err[-1])


def tshark(path, what, *fields):
    """Returns the packets of a capture for which `what` holds, as dicts of lists of strings."""
    args = ["tshark", "-r", path, "-Y", what, "-T", "fields", "-E", "separator=/t"]
    for f in fields:
        args += ["-e", f]
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
    if p.returncode != 0:
        raise AssertionError(p.stderr.decode(errors="replace"))
    return [dict(zip(fields, [v.split(",") if v else [] for v in line.split("\t")]))
            for line in p.stdout.decode().splitlines()]


def options(packet):
    """Returns the TCP options of an IPv4 packet as (kind, value), and its acknowledgement number."""
    tcp = packet[4 * (packet[0] & 15):]
    at, end, got = 20, 4 * (tcp[12] >> 4), []
    while at < end and tcp[at] != 0:
        if tcp[at] == 1:
            at += 1
            continue
        got.append((tcp[at], tcp[at + 2:at + tcp[at + 1]]))
        at += tcp[at + 1]
    return got, struct.unpack(">I", tcp[8:12])[0]


def after(a, b):
    """Returns true if sequence number a equals b or follows it."""
    return (a - b) % 2**32 < 2**31


def packets(path):
    """Returns the packets of a capture of raw IP, in order."""
    with open(path, "rb") as f:
        raw = f.read()
    at, got = 24, []
    while at < len(raw):
        n = struct.unpack("<I", raw[at + 8:at + 12])[0]
        got.append(raw[at + 16:at + 16 + n])
        at += 16 + n
    return got


class Wire(Case):
    """How tshark decodes the packets of scps_ttcp. tshark 4.0 knows the capabilities and the short form of SNACK; of the
    long form it notes that 6 octets were expected. Behind the fields of the short form it reads the acknowledgement
    number from the option instead of the header, falls off its end and calls the packet malformed; any packet with
    that option is, so those are excepted, and only those."""

    def captured(self, *args):
        path = self.path("x.pcap")
        self.document(["-t", "-l", "1024", "--link", "rate=10mbit,rtt=200ms,loss=0.05", "-G", "0", "-R", "8m", "-b", "2m",
                       "--pcap", path] + list(args), data=stuff(1000000))
        return path

    def test_capabilities(self):
        flags = ["tcp.options.scpsflags." + f for f in "bets snack1 snack2 compress nlts".split()]
        for args, want in [([], ["0", "1", "1", "0", "0"]), (["-S"], None)]:
            path = self.captured(*args)
            syns = tshark(path, "tcp.flags.syn == 1", "ip.src", "tcp.options.scps.vector", *flags)
            self.assertEqual({s["ip.src"][0] for s in syns}, {"10.0.0.1", "10.0.0.2"})
            for s in syns:
                if want is None:
                    self.assertEqual(s["tcp.options.scps.vector"], [])
                else:
                    self.assertEqual(int(s["tcp.options.scps.vector"][0], 0), 0x60)
                    self.assertEqual([s[f][0] for f in flags], want)
        self.assertEqual(tshark(path, "_ws.malformed || tcp.options.snack || tcp.options.scps", "frame.number"), [])

    def test_records_and_best_effort(self):
        """Every record boundary is on the last octet of a record and nowhere else, in all transmissions of it. BETS is
        offered and accepted, and the older option for it, from before capabilities, is not sent."""
        path = self.captured("-S", "-E", "--record-size", "2500")
        marked = tshark(path, "tcp.options.scpsrec", "tcp.seq", "tcp.len", "tcp.flags.push")
        ends = [int(p["tcp.seq"][0]) - 1 + int(p["tcp.len"][0]) for p in marked]
        self.assertGreater(len(ends), 400)
        self.assertEqual(set(ends), set(range(2500, 1000001, 2500)))
        self.assertEqual({p["tcp.flags.push"][0] for p in marked}, {"1"})
        for p in tshark(path, "tcp.len > 0", "tcp.seq", "tcp.len"):
            at = int(p["tcp.seq"][0]) - 1
            self.assertLessEqual((at % 2500) + int(p["tcp.len"][0]), 2500) # no segment runs across one
        for s in tshark(path, "tcp.flags.syn == 1", "tcp.options.scpsflags.bets", "tcp.option_kind"):
            self.assertEqual(s["tcp.options.scpsflags.bets"], ["1"])
            self.assertNotIn("16", s["tcp.option_kind"])
        self.assertEqual(tshark(path, "_ws.malformed", "frame.number"), [])

    def test_connection_ids(self):
        """-C: both SYNs contain the connection id; later packets have protocol number 105 and begin with the id."""
        path = self.captured("-C")
        syns = tshark(path, "tcp.flags.syn == 1", "ip.src", "tcp.options.scps.vector", "tcp.options.scps.binding")
        ids = {s["ip.src"][0]: int(s["tcp.options.scps.binding"][0], 0) for s in syns}
        self.assertEqual({int(s["tcp.options.scps.vector"][0], 0) for s in syns}, {0x70})
        self.assertTrue(all(1 <= i <= 255 for i in ids.values()))
        compressed = tshark(path, "ip.proto == 105", "ip.src", "frame.number")
        self.assertGreater(len(compressed), 1000)
        ours = packets(path)
        for p in compressed:
            packet = ours[int(p["frame.number"][0]) - 1]
            self.assertEqual(packet[20], ids[p["ip.src"][0]])
        self.assertEqual(tshark(path, "ip.checksum.status == 0", "frame.number"), [])

    def test_corruption_experienced(self):
        """The line flips bits. The receiver's acknowledgements report this for some time, and no other segments do."""
        path = self.path("x.pcap")
        doc = self.document(["-t", "--link", "rate=10mbit,rtt=200ms,ber=3e-6,ber-back=0,flip", "--checksum-hints", "-G", "2",
                             "--pcap", path], data=stuff(1000000))
        self.assertGreater(doc["end"]["tcp_peer"]["drops"]["bad_checksum"], 3)
        told = tshark(path, "tcp.options.scpscor", "ip.src", "frame.number", "tcp.len")
        self.assertGreater(len(told), 10)
        self.assertEqual({p["ip.src"][0] for p in told}, {"10.0.0.2"})
        ours = packets(path)
        with_23 = {i + 1 for i, p in enumerate(ours) if any(k == 23 for k, _ in options(p)[0])}
        self.assertEqual({int(p["frame.number"][0]) for p in told}, with_23)
        plain = self.document(["-t", "--link", "rate=10mbit,rtt=200ms,ber=3e-6,ber-back=0,flip", "-G", "2"], data=stuff(1000000))
        self.assertLess(doc["end"]["sum_sent"]["seconds"], plain["end"]["sum_sent"]["seconds"])

    def test_snacks(self):
        path = self.captured()
        ours = packets(path)
        short, full = set(), 0
        for p in tshark(path, "tcp.options.snack", "frame.number", "ip.src", "tcp.ack_raw", "tcp.options.snack.offset",
                        "tcp.options.snack.size"):
            number = int(p["frame.number"][0])
            opts, ack = options(ours[number - 1])
            snacks = [v for k, v in opts if k == 21]
            self.assertEqual((p["ip.src"], int(p["tcp.ack_raw"][0]), len(snacks)), (["10.0.0.2"], ack, 1))
            offset, size = struct.unpack(">HH", snacks[0][:4])
            self.assertGreater(size, 0)
            if len(snacks[0]) == 4:
                self.assertEqual([p["tcp.options.snack.offset"], p["tcp.options.snack.size"]], [[str(offset)], [str(size)]])
                short.add(number)
            else:
                full += 1
            hole = ack + 1024 * offset, ack + 1024 * (offset + size)
            for value in [v for k, v in opts if k == 5]:
                for left, right in struct.iter_unpack(">II", value):
                    apart = after(hole[0], right) or after(left, hole[1])
                    self.assertTrue(apart or not after(left, ack), (hole, left, right))
        self.assertGreater(len(short), 3)
        self.assertGreater(full, 3)
        bad = {int(p["frame.number"][0]) for p in tshark(path, "_ws.malformed", "frame.number")}
        self.assertLessEqual(bad, short)
        wrong = tshark(path, "ip.checksum.status == 0 || tcp.checksum.status == 0", "frame.number")
        self.assertEqual(wrong, [])


class Files(Case):
    def test_unreadable_input(self):
        fd = os.open(self.dir.name, os.O_RDONLY)
        try:
            status, out, err = run(["-t"], stdin=fd)
        finally:
            os.close(fd)
        self.assertEqual((status, out), (1, b""))
        self.complains(err, "standard input", "directory")

    def test_closed_input(self):
        p = subprocess.run(["sh", "-c", 'exec "$0" -t <&-', PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env=ENV, timeout=PATIENCE)
        self.assertEqual(p.returncode, 1)
        self.complains(p.stderr.decode().splitlines(), "standard input")

    def test_no_output_is_the_input(self):
        """An output file that is the input file under another name is refused before it is truncated, because the
        inodes are equal."""
        data = stuff(3000)
        for option in ["--pcap", "--pcap-peer", "--truth", "--qlog", "--path-state", "--output"]:
            for name in ["in", "hard", "soft"]:
                with self.subTest(option=option, name=name):
                    for old in ["in", "hard", "soft"]:
                        if os.path.lexists(self.path(old)):
                            os.unlink(self.path(old))
                    with open(self.path("in"), "wb") as f:
                        f.write(data)
                    os.link(self.path("in"), self.path("hard"))
                    os.symlink("in", self.path("soft"))
                    with open(self.path("in"), "rb") as f:
                        status, out, err = run(["-t", option, self.path(name)], stdin=f)
                    self.assertEqual((status, out, len(err)), (2, b"", 1), err)
                    self.complains(err, option, self.path(name), "standard input")
                    with open(self.path("in"), "rb") as f:
                        self.assertEqual(f.read(), data)
        table = self.path("table")
        with open(table, "w", encoding="ascii") as f:
            f.write("0.1 0.2\n")
        status, out, err = run(["-ts", "--link", "geo,outage=@" + table, "--pcap", table])
        self.assertEqual((status, len(err)), (2, 1), err)
        self.complains(err, "table", "--pcap")
        with open(table, encoding="ascii") as f:
            self.assertEqual(f.read(), "0.1 0.2\n")
        with open(self.path("in"), "rb") as f, open(self.path("in"), "ab") as g:
            self.assertEqual(run(["-t", "--json"], stdin=f, stdout=g)[0], 2)

    def test_no_two_outputs_are_one_file(self):
        options = ["--pcap", "--pcap-peer", "--truth", "--qlog", "--path-state"]
        os.symlink("new", self.path("soft"))  # neither exists
        for i, a in enumerate(options):
            for b in options[i + 1:]:
                for other in ["new", "./new", "soft"]:
                    with self.subTest(a=a, b=b, other=other):
                        status, out, err = run(["-ts", "-n", "1", a, self.path("new"), b, self.path(other)])
                        self.assertEqual((status, out, len(err)), (2, b"", 1), err)
                        self.complains(err, a, b, self.path(other))
                        self.assertFalse(os.path.exists(self.path("new")))
        status, out, err = run(["-t", "--output", self.path("new"), "--pcap", self.path("new")], data=b"x")
        self.assertEqual((status, len(err)), (2, 1), err)
        for option in options:
            status, out, err = run(["-ts", "-n", "1", "--json", option, "/dev/stdout"])
            self.assertEqual((status, out, len(err)), (2, b"", 1), err)
            self.complains(err, option, "standard output")
        # devices that keep nothing, and files in two folders, are no clash
        os.mkdir(self.path("d"))
        for args in [["--pcap", "/dev/null", "--truth", "/dev/null"], ["--pcap", self.path("new"), "--truth", self.path("d/new")],
                     ["--pcap", "/dev/stdout"]]:
            status, out, err = run(["-ts", "-n", "1"] + args)
            self.assertEqual(status, 0, err)

    def test_output_that_cannot_be_opened(self):
        status, out, err = run(["-t", "--output", self.path("no/such/file")], data=b"x")
        self.assertEqual((status, out), (1, b""))
        self.complains(err, "no/such/file", "No such file")
        self.assertEqual(len(err), 1)  # no report where there was no connection

    def test_captures_that_cannot_be_written(self):
        for option in ["--pcap", "--pcap-peer"]:
            status, out, err = run(["-t", option, self.path("no/file")], data=b"x")
            self.assertEqual(status, 1)
            self.complains(err, "no/file")
            if os.path.exists("/dev/full"):
                status, out, err = run(["-t", option, "/dev/full"], data=stuff(1000000))
                self.assertEqual(status, 1)
                self.complains(err, "/dev/full", "No space")

    def test_every_incomplete_file_is_named(self):
        """If a disk is full, the message names each file that is incomplete, also after another failure."""
        names = {o: self.path("a-" + o) for o in ("pcap", "pcap-peer", "qlog", "truth")}

        def small_disk():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        for extra, first in [([], ""), (["--timeout", "4"], "not done within --timeout")]:
            args = ["-t", "-s", "-n", "5000", "--link", "geo"] + [w for o in names for w in ("--" + o, names[o])] + extra
            p = subprocess.run([PROGRAM] + args, stdin=subprocess.DEVNULL, capture_output=True, env=ENV, timeout=PATIENCE,
                               preexec_fn=small_disk, restore_signals=False)  # SIGXFSZ is ignored
            err = p.stderr.decode().splitlines()
            self.assertEqual(p.returncode, 124 if extra else 1, err)
            self.complains(err, first, *names.values())

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_disk(self):
        status, out, err = run(["-t", "--output", "/dev/full"], data=stuff(100000))
        self.assertEqual(status, 1)
        self.complains(err, "/dev/full", "No space")
        self.assertRegex(err[0], r"^ttcp-t: ")  # and the report of what was delivered all the same
        doc = json.loads(run(["-t", "--output", "/dev/full", "--json"], data=stuff(100000))[1])
        self.assertEqual(doc["end"]["scps"]["outcome"], "failed")
        self.assertIn("No space", doc["error"])

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_disk_under_the_document(self):
        with open("/dev/full", "wb") as full:
            status, out, err = run(["-t", "-s", "-n", "1", "--json"], stdout=full)
        self.assertEqual(status, 1)
        self.complains(err, "standard output", "No space")

    def test_input_from_a_pipe_in_pieces(self):
        data = stuff(200000)
        for extra in [[], ["-B"]]:
            p = subprocess.Popen([PROGRAM, "-t", "--link", "nasa10", "-l", "5000", "--output", self.path("out"), "--json"] +
                                 extra, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
            for i in range(0, len(data), 50001):
                p.stdin.write(data[i:i + 50001])
                p.stdin.flush()
                until(drained, p.stdin)
            status, out, err = finish(p)
            self.assertEqual(status, 0, err)
            with open(self.path("out"), "rb") as f:
                self.assertEqual(f.read(), data)
            calls = json.loads(out)["end"]["scps"]["write_calls"]
            if extra:
                self.assertEqual(calls, 40)
            else:
                self.assertGreater(calls, 40)

    def test_interrupted_while_waiting_for_input(self):
        p = subprocess.Popen([PROGRAM, "-t", "--link", "nasa10", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=ENV)
        p.stdin.write(stuff(30000))
        p.stdin.flush()
        interrupt(p)
        status, out, err = finish(p)
        self.assertEqual(status, 3, err)
        self.complains(err, "interrupted")
        self.assertEqual(json.loads(out)["end"]["scps"]["outcome"], "interrupted")

    def test_part_of_a_file(self):
        """If standard input is a file of which another program has read a part, the transfer begins behind that
        part."""
        with open(self.path("in"), "wb") as f:
            f.write(stuff(100000))
        with open(self.path("in"), "rb", buffering=0) as f:
            f.seek(40000)
            status, out, err = run(["-t", "--link", "nasa10", "--output", self.path("out")], stdin=f)
        self.assertEqual(status, 0, err)
        with open(self.path("out"), "rb") as f:
            self.assertEqual(f.read(), stuff(100000)[40000:])


def free_ports():
    """Returns two UDP ports that no program and no parallel test uses. They are outside the kernel's range of ephemeral
    ports."""
    for port in range(20000 + os.getpid() % 5000 * 2, 32000):
        if not bound(port) and not bound(port + 1):
            return port, port + 1
    raise AssertionError("no free ports")


class Pair:
    """Interface options of two processes that reach each other over UDP on the loopback interface."""

    def __init__(self):
        a, b = self.ports = free_ports()
        self.tx = ["--udp", "127.0.0.1:%d,127.0.0.1:%d" % (a, b), "--addr", "10.9.0.1/24", "--addr", "fd09::1/64"]
        self.rx = ["--udp", "127.0.0.1:%d,127.0.0.1:%d" % (b, a), "--addr", "10.9.0.2/24", "--addr", "fd09::2/64"]

    def receiver(self, *args, **kw):
        """Starts a receiver. Packets are queued for it as soon as its port is bound."""
        p = start(["-r", "--timeout", str(PATIENCE)] + self.rx + list(args), **kw)
        until(lambda: bound(self.ports[1]) or p.poll() is not None)
        return p

    def sender(self, *args, host="10.9.0.2"):
        return ["-t", "--timeout", str(PATIENCE)] + self.tx + list(args) + [host]


class Udp(Case):
    def test_a_file_each_way_of_addressing(self):
        data = stuff(3000000)
        for host, extra in [("10.9.0.2", []), ("fd09::2", ["-6"]), ("10.9.0.2", ["-M", "--no-sack"]),
                            ("10.9.0.2", ["-G", "0", "-R", "200m", "-b", "1m"]), ("10.9.0.2", ["-l", "1024"])]:
            with self.subTest(host=host, extra=extra):
                pair = Pair()
                with open(self.path("out"), "wb") as out:
                    r = pair.receiver(stdout=out)
                status, out, err = run(pair.sender(*extra, host=host), data=data)
                self.assertEqual((status, out), (0, b""), err)
                self.assertRegex(err[0], r"^ttcp-t: 3000000 bytes in .* \+\+\+$")
                status, out, err = finish(r)
                self.assertEqual(status, 0, err)
                with open(self.path("out"), "rb") as f:
                    self.assertTrue(f.read() == data)
                self.assertRegex(err[0], r"^ttcp-r: 3000000 bytes in .* \+\+\+$")

    def test_echo(self):
        pair, data = Pair(), stuff(200000)
        with open(self.path("out"), "wb") as out:
            r = pair.receiver("-e", "-D", stdout=out)
        status, out, err = run(pair.sender("-e", "-D", "-l", "1400", "-B"), data=data)
        self.assertEqual((status, out), (0, b""), err)
        self.assertRegex("\n".join(err), r"(?m)^ttcp-t: 143 echoes of 200000 bytes, there and back in ")
        self.assertEqual(finish(r)[0], 0)
        with open(self.path("out"), "rb") as f:
            self.assertTrue(f.read() == data)

    def test_a_peer_that_does_not_echo(self):
        pair = Pair()
        r = pair.receiver("-s")
        status, out, err = run(["-t", "-e", "-s", "--timeout", "5"] + pair.tx + ["10.9.0.2"])
        self.assertEqual(status, 124, err)
        self.complains(err, "no echo", "-e")
        finish(r)

    def test_long_spellings(self):
        """--interval, --ipv4, --ipv6 and --mtu mean the same as -i, -4, -6 and -m."""
        for family, host, width in (("--ipv4", "10.9.0.2", 20), ("--ipv6", "fd09::2", 40)):
            with self.subTest(family=family):
                pair = Pair()
                r = pair.receiver("-s", "--json", "--mtu", "1300", family)
                status, out, err = run(["-t", "-s", "-n", "400", "--timeout", str(PATIENCE), "-R", "20m", "--json", "--mtu", "1300", family,
                                        "--interval", "0.2"] + pair.tx + [host])
                self.assertEqual(status, 0, err)
                doc = json.loads(out)
                self.assertGreaterEqual(len(doc["intervals"]), 4)
                self.assertGreater(doc["intervals"][0]["sum"]["end"] - doc["intervals"][0]["sum"]["start"], 0.19)
                self.assertEqual(doc["start"]["tcp_mss_default"], 1300 - width - 20 - 12)
                self.assertEqual(doc["start"]["connected"][0]["remote_host"], host)
                self.assertEqual(finish(r)[0], 0)
                wrong = "10.9.0.2" if family == "--ipv6" else "fd09::2"
                status, out, err = run(["-t", "-s", "--timeout", str(PATIENCE), family] + pair.tx + [wrong])
                self.assertEqual(status, 2)
                self.complains(err, wrong, "drop -" + family[-1])

    def test_reversed_roles(self):
        """-Q at both ends: the transmitter waits and the receiver connects; -q is then the receiver's own port."""
        pair, data = Pair(), stuff(300000)
        with open(self.path("in"), "wb") as f:
            f.write(data)
        with open(self.path("in"), "rb") as f:
            t = start(["-t", "-Q", "--timeout", str(PATIENCE), "--json"] + pair.tx, stdin=f)
        until(bound, pair.ports[0])
        status, out, err = run(["-r", "-Q", "--timeout", str(PATIENCE), "-q", "7001"] + pair.rx + ["10.9.0.1"])
        self.assertEqual((status, out == data), (0, True), err)
        status, out, err = finish(t)
        self.assertEqual(status, 0, err)
        doc = json.loads(out)
        self.assertEqual(doc["start"]["connected"][0]["remote_port"], 7001)
        self.assertEqual(doc["end"]["sum_sent"]["bytes"], 300000)

    def test_what_the_peer_lacks(self):
        """--require gives status 4 and one line of error, at the end that has the option. If the peer has all features,
        the run is as without it."""
        for there, here, status in [("-S", "snack", 4), ("-M", "timestamps", 4), ("", "compression", 4), ("-C", "compression", 0)]:
            pair = Pair()
            r = pair.receiver("-s", *there.split())
            got, _, err = run(pair.sender("-s", "-n", "10", "--require", here))
            self.assertEqual(got, status, err)
            if status:
                self.complains(err, "--require " + here)
                interrupt(r)  # reset before it was accepted, the receiver waits for another
            self.assertEqual(finish_quiet(r) == 0, status == 0)
        pair = Pair()
        r = pair.receiver("-s", "--require", "snack", "--require", "sack")
        run(pair.sender("-s", "-n", "10", "-S"))
        status, _, err = finish(r)
        self.assertEqual(status, 4, err)

    def test_every_way_of_acknowledging_and_controlling(self):
        """Transfers with each acknowledgement mode and controller, with SNACK and without. Fewer segments are required
        where only the timer causes acknowledgements, because Vegas takes its delay for a queue."""
        want = {n: hashlib.sha256(stuff(n)).digest() for n in (300000, 3000000)}
        for snack in ["", "-S"]:
            for ack in "012":
                for cc in ["-G 0 -R 400m", "-G 1", "-G 2"]:
                    n = 300000 if ack == "0" else 3000000
                    args = (snack + " -F " + ack + " " + cc).split()
                    with self.subTest(args=args):
                        pair = Pair()
                        with open(self.path("out"), "wb") as out:
                            r = pair.receiver(*args, stdout=out)
                        t = json.loads(run(pair.sender("--json", *args), data=stuff(n))[1])
                        status, out, err = finish(r)
                        self.assertEqual((status, t["end"]["scps"]["outcome"]), (0, "done"), err)
                        self.assertIs(t["start"]["scps"]["snack"], not snack)
                        with open(self.path("out"), "rb") as f:
                            self.assertEqual(hashlib.sha256(f.read()).digest(), want[n])

    def test_records_and_best_effort(self):
        """Two processes in real time: no data is lost between them, and each record is read as it was written."""
        for extra in [["-c"], ["-E"], ["-C", "-E", "-c"], ["-Z", "-c"], ["-c", "-S", "--no-sack"]]:
            with self.subTest(extra=extra):
                pair = Pair()
                r = pair.receiver("-s", "--json", *extra)
                t = json.loads(run(pair.sender("-s", "-l", "5000", "-n", "300", "--json", *extra))[1])
                status, out, err = finish(r)
                self.assertEqual(status, 0, err)
                doc = json.loads(out)
                self.assertEqual(t["end"]["scps"]["acked_bytes"], 1500000)
                self.assertEqual(doc["end"]["sum_received"]["bytes"], 1500000)
                if "-c" in extra:
                    self.assertEqual(t["end"]["scps"]["records"], {"written": 300})
                    self.assertEqual(doc["end"]["scps"]["records"], {"read": 300, "torn": 0, "min_bytes": 5000, "max_bytes": 5000})
                if "-c" not in extra or "-E" in extra or "-Z" in extra:
                    self.assertIn("bets", doc["start"]["scps"]["capabilities"]["in_force"])
                    self.assertEqual(doc["end"]["scps"]["holes"], {"bytes": 0, "count": 0, "list": []})
        # a peer without records reads the bytes; one without best effort gets plain TCP, and the report says why
        pair = Pair()
        r = pair.receiver("-s")
        status, out, err = run(pair.sender("-s", "-n", "20", "-c", "-E"))
        self.assertEqual((status, finish(r)[0]), (0, 0), err)
        self.assertIn("ttcp-t: best effort is not in force: the peer does not offer it", err)

    def test_sink_and_documents(self):
        pair = Pair()
        r = pair.receiver("-s", "--json", "-i", "0.1")
        t = json.loads(run(pair.sender("-s", "-n", "300", "--json", "-i", "0.1"))[1])
        status, out, err = finish(r)
        self.assertEqual(status, 0, err)
        doc = json.loads(out)
        self.assertEqual(t["end"]["sum_sent"]["bytes"], 300 * 8192)
        self.assertEqual(doc["end"]["sum_received"]["bytes"], 300 * 8192)
        self.assertEqual(sum(i["sum"]["bytes"] for i in doc["intervals"]), 300 * 8192)
        self.assertEqual((t["end"]["verified"], doc["end"]["verified"]), (None, None))
        self.assertEqual(doc["start"]["accepted_connection"]["host"], "10.9.0.1")
        self.assertEqual(t["start"]["connected"][0]["remote_port"], 5001)

    def test_the_receiver_tells(self):
        """--tell: the sender gets the receiver's figures, and knows that they are about its own data."""
        for extra in [[], ["-E", "-c"], ["-e"], ["-C"]]:
            with self.subTest(extra=extra):
                pair = Pair()
                r = pair.receiver("-s", "--json", "--tell", *extra)
                t = json.loads(run(pair.sender("-s", "-n", "300", "--json", *extra))[1])
                status, out, err = finish(r)
                self.assertEqual(status, 0, err)
                got = json.loads(out)["end"]
                self.assertIs(t["end"]["verified"], True)
                self.assertEqual(t["end"]["sum_received"]["bytes"], 300 * 8192)
                self.assertEqual(t["end"]["sum_received"]["seconds"], got["sum_received"]["seconds"])
                self.assertEqual(t["end"]["scps"]["told"]["out_of_order"], got["tcp"]["out_of_order"])
        pair = Pair()
        r = pair.receiver("--tell", "--output", self.path("out"))
        status, out, err = run(pair.sender(), data=stuff(100000))
        self.assertEqual(status, 0, err)
        self.assertTrue([e for e in err if "the receiver says: 100000 bytes, verified, in " in e], err)
        self.assertEqual(finish(r)[0], 0)

    def test_several_connections(self):
        for extra in [["-P", "4"], ["--bidir"], ["-P", "3", "--bidir"]]:
            with self.subTest(extra=extra):
                pair = Pair()
                r = pair.receiver("-s", "-n", "100", "--json", "-i", "0.05", *extra)
                status, out, err = run(pair.sender("-s", "-n", "300", "--json", "-i", "0.05", *extra))
                self.assertEqual(status, 0, err)
                t = json.loads(out)["end"]
                status, out, err = finish(r)
                self.assertEqual(status, 0, err)
                got = json.loads(out)["end"]
                n = int(extra[1]) if "-P" in extra else 1
                self.assertEqual((t["sum_sent"]["bytes"], got["sum_received"]["bytes"]), (n * 300 * 8192,) * 2)
                if "--bidir" in extra:
                    self.assertEqual((got["sum_sent_bidir_reverse"]["bytes"], t["sum_received_bidir_reverse"]["bytes"]),
                                     (n * 100 * 8192,) * 2)

    def test_both_directions_at_one_end_only(self):
        """--bidir at the sender only: no data comes back, or only a result. At the receiver only: the sender reports
        the data that it received."""
        for here in [[], ["--tell"], ["--server"]]:
            with self.subTest(receiver=here):
                pair = Pair()
                r = pair.receiver("-s", *here)
                status, out, err = run(pair.sender("-s", "-n", "50", "--bidir"))
                self.assertEqual(status, 1, err)
                self.complains(err, "sends no data of its own: give --bidir there, too, or leave it out here")
                if "--server" in here:
                    interrupt(r)
                self.assertEqual(finish(r)[0], 0)
        pair = Pair()
        r = pair.receiver("-s", "--bidir", "-n", "50")
        status, out, err = run(pair.sender("-s", "-n", "50"))
        self.assertEqual((status, finish(r)[0]), (0, 0), err)
        self.assertIn("ttcp-t: warning: 409600 bytes came back and were skipped: if --bidir is given there, give it here, too; "
                      "if -e is, likewise", err)

    def test_more_connections_than_expected(self):
        """A receiver resets connections beyond its -P, when it has all that it expects at the latest. The other end
        reports the reset, and no process waits for ever."""
        for here, there in [([], ["-P", "3"]), (["-P", "2"], ["-P", "3"]), (["-p", "6001", "-Q"], ["-p", "6001", "-Q", "-P", "3"])]:
            with self.subTest(here=here, there=there):
                pair = Pair()
                if "-Q" in here:
                    r = start(["-t", "-s", "-n", "100000"] + pair.tx + here)
                    until(lambda: bound(pair.ports[0]) or r.poll() is not None)
                    status, out, err = run(["-r", "-s", "--timeout", "30"] + pair.rx + there + ["10.9.0.1"])
                else:
                    r = pair.receiver("-s", *here)
                    status, out, err = run(["-t", "-s", "-n", "100000", "--timeout", "30"] + pair.tx + there + ["10.9.0.2"])
                self.assertIn(status, (1, 3), err)
                self.complains(err, "-P")
                status, out, err = finish(r, timeout=30)
                self.assertIn(status, (1, 3), err)

    def test_packets_for_another_address(self):
        """A receiver to which nobody has connected says with -v which packets it has dropped, and why."""
        for more in [[], ["--json"], ["--server"]]:
            pair = Pair()
            r = pair.receiver("-s", "-v", *more)
            self.assertEqual(run(["-t", "-s", "--timeout", "0.5"] + pair.tx + ["10.9.0.9"])[0], 124)
            interrupt(r)
            status, out, err = finish(r)
            self.assertTrue(any(re.match(r"ttcp-r: dropped: not_ours \d+$", line) for line in err), err)
        pair = Pair()
        r = start(["-r", "-s", "--timeout", "3"] + pair.rx)
        t = start(["-t", "-s", "--timeout", "3"] + pair.tx + ["10.9.0.9"])
        status, out, err = finish(r)
        self.assertEqual(status, 124, err)
        self.complains(err, "nobody connected within --timeout")
        if "dropped" in err[-1]:  # the sender has started within 3 s
            self.assertRegex(err[-1], r", and \d+ packets? (was|were) dropped: -v says why$")
        finish(t)

    def test_more_connections_than_accepted(self):
        """A receiver without -P resets all connections but one. The status is 3 if data has been transferred, although
        the connection whose error is reported has moved none; and 1 when no connection has."""
        pair = Pair()
        r = pair.receiver("-s")
        status, out, err = run(pair.sender("-s", "-n", "1000", "-P", "4"))
        # the resets may overtake the first acknowledgement of data
        moved = int(re.search(r"(?m)^ttcp-t: \[sum\] (\d+) bytes", "\n".join(err)).group(1))
        self.assertEqual(status, 3 if moved > 0 else 1, err)
        self.complains(err, "reset", "another -P")
        finish(r)
        pair = Pair()
        r = pair.receiver("-s", "-p", "5002")
        status, out, err = run(pair.sender("-s", "-n", "1000", "-P", "4"))
        self.assertEqual(status, 1, err)
        self.complains(err, "refused", "same -P")
        interrupt(r)
        finish(r)

    def test_fewer_connections_than_expected(self):
        for how in ["timeout", "interrupt"]:
            with self.subTest(how=how):
                pair = Pair()
                r = start(["-r", "-s", "-P", "3", "--timeout", "2" if how == "timeout" else str(PATIENCE)] + pair.rx)
                until(lambda: bound(pair.ports[1]) or r.poll() is not None)
                self.assertEqual(run(pair.sender("-s", "-n", "10"))[0], 0)
                if how == "interrupt":
                    interrupt(r)
                status, out, err = finish(r)
                self.assertEqual(status, 124 if how == "timeout" else 3, err)
                self.complains(err, "1 of 3 connections came: give -P 1 here, or -P 3 there")

    def test_server(self):
        """The server serves clients one after another and several at once, sends each its result, and prints a line for
        each."""
        pair = Pair()
        r = pair.receiver("-s", "--server")
        for clients in [1, 4, 1]:
            status, out, err = run(pair.sender("-s", "-n", "100", "-P", str(clients)))
            self.assertEqual(status, 0, err)
            self.assertEqual(len([e for e in err if "819200 bytes, verified, in" in e]), clients, err)
        t = start(pair.sender("-s", "-n", "1000000000"))  # one that is cut short, by its own signal
        time.sleep(0.3)
        interrupt(t)
        finish(t)
        self.assertEqual(run(pair.sender("-s", "-n", "100"))[0], 0)  # and the server goes on
        interrupt(r, signal.SIGTERM)
        status, out, err = finish(r)
        self.assertEqual(status, 0, err)
        self.assertEqual(len([e for e in err if re.match(r"ttcp-r: 10\.9\.0\.1 port \d+: 819200 bytes in ", e)]), 7, err)
        cut = [e for e in err if ": partial: " in e]
        self.assertEqual(len(cut), 1, err)
        self.assertRegex(cut[0], r": partial: connection reset by the peer after \d+ bytes: see what the sender says")
        self.assertRegex(err[-1], r"^ttcp-r: 8 tests, \d+ bytes, 1 failed$")

    def test_terminal_closes(self):
        """SIGHUP ends a run as SIGTERM does: with a document, a whole capture and a reset to the peer. A program that
        nohup(1) started ignores it."""
        pair, capture = Pair(), self.path("pcap")
        r = pair.receiver("-s", "--json")
        t = start(pair.sender("-s", "-G", "0", "-R", "20m", "-n", "100000", "--json", "--pcap", capture))
        until(holds, capture, 100000)
        interrupt(t, signal.SIGHUP)
        status, out, err = finish(t)
        self.assertEqual((status, json.loads(out)["end"]["scps"]["outcome"]), (3, "interrupted"), err)
        status, out, err = finish(r)
        self.assertEqual((status, json.loads(out)["end"]["scps"]["outcome"]), (3, "partial"), err)
        with open(capture, "rb") as f:
            data, at = f.read(), 24
        while at < len(data):
            at += 16 + struct.unpack_from("<I", data, at + 8)[0]
        self.assertEqual(at, len(data))
        pair = Pair()
        r = pair.receiver("-s", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        r.send_signal(signal.SIGHUP)
        self.assertEqual(run(pair.sender("-s", "-n", "100"))[0], 0)
        self.assertEqual(finish(r)[0], 0)

    def full_pipe(self):
        """Returns both ends of a pipe that takes no more, and how many bytes are in it."""
        reading, writing = os.pipe()
        size = fcntl.fcntl(writing, getattr(fcntl, "F_GETPIPE_SZ", 1032))
        os.write(writing, bytes(size))
        return reading, writing, size

    def late(self, args, peer, sig, again=False):
        """Runs the program with a standard output that is full, so that it waits to write its document, and sends the
        signal when its transfer is over; with `again` until the program ends. Returns document and status."""
        reading, writing, size = self.full_pipe()
        p = start(args + ["-s", "-v", "--json"], stdout=writing)
        os.close(writing)
        if peer:
            self.assertEqual(run(peer)[0], 0)
        with p, open(reading, "rb") as f:
            # A receiver says first that it waits. The report that -v asks for comes when the transfer is over.
            for line in p.stderr:
                if b" real seconds" in line:
                    break
            p.send_signal(sig)
            for _ in range(10 * PATIENCE if again else 0):
                try:
                    p.wait(0.1)  # Two pending signals of one kind are one, so that more than two may be needed.
                    break
                except subprocess.TimeoutExpired:
                    p.send_signal(sig)
            return f.read()[size:], p.wait(PATIENCE)

    def test_signal_after_the_end(self):
        """A signal that comes when the transfer is over does not cost the report; a second one ends the program."""
        pair = Pair()
        for args, peer in ((["-t", "-n", "10", "--link", "lan"], None),
                           (["-r"] + pair.rx, pair.sender("-s", "-n", "10"))):
            for sig in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
                out, status = self.late(args, peer, sig)
                self.assertEqual(status, 0, (args, sig))
                self.assertEqual(json.loads(out)["end"]["scps"]["outcome"], "done")
            self.assertEqual(self.late(args, peer, signal.SIGINT, True)[1], -signal.SIGINT)

    def test_signal_ends_the_wait_for_the_output(self):
        pair = Pair()
        reading, writing, _ = self.full_pipe()
        r = pair.receiver("-v", stdout=writing)
        os.close(writing)
        self.assertEqual(run(pair.sender("-s", "-n", "1"))[0], 0)
        time.sleep(0.5)
        interrupt(r)
        status, _, err = finish(r)
        os.close(reading)
        self.assertEqual(status, 3, err)
        self.complains(err, "interrupted")

    def test_server_is_interrupted(self):
        pair = Pair()
        r = pair.receiver("-s", "--server")
        t = start(pair.sender("-s", "-n", "1000000000"))
        time.sleep(0.5)
        interrupt(r)
        status, out, err = finish(r)
        self.assertEqual(status, 3, err)
        self.assertRegex(err[0], r": interrupted$")
        self.complains(err, "interrupted with 1 test running")
        self.assertIn(finish(t)[0], (1, 3))

    def test_server_that_sends(self):
        pair = Pair()
        server = start(["-t", "-Q", "-s", "--server", "--bidir", "-n", "50", "--json"] + pair.tx)
        until(lambda: bound(pair.ports[0]) or server.poll() is not None)
        for _ in range(2):
            args = ["-r", "-Q", "-s", "--bidir", "-n", "70", "--json"] + pair.rx + ["10.9.0.1"]
            status, out, err = run(args)
            self.assertEqual(status, 0, err)
            end = json.loads(out)["end"]
            self.assertEqual((end["sum_received"]["bytes"], end["sum_sent_bidir_reverse"]["bytes"]), (50 * 8192, 70 * 8192))
        interrupt(server)
        status, out, err = finish(server)
        self.assertEqual(status, 0, err)
        docs = re.split(r"(?m)^(?=\{$)", out.decode())[1:]
        self.assertEqual([json.loads(d)["end"]["sum_sent"]["bytes"] for d in docs], [50 * 8192] * 2)

    def test_json_takes_standard_output_for_itself(self):
        pair = Pair()
        r = pair.receiver("--json", "--output", self.path("out"))
        self.assertEqual(run(pair.sender(), data=stuff(50000))[0], 0)
        status, out, err = finish(r)
        self.assertEqual(status, 0, err)
        json.loads(out)
        with open(self.path("out"), "rb") as f:
            self.assertTrue(f.read() == stuff(50000))

    def test_refused(self):
        pair = Pair()
        r = pair.receiver("-p", "5002")
        status, out, err = run(pair.sender("-s"))
        self.assertEqual((status, out), (1, b""))
        self.complains(err, "10.9.0.2 port 5001", "refused", "-p")
        doc = json.loads(run(pair.sender("-s", "--json"))[1])
        self.assertIn("refused", doc["error"])
        self.assertEqual(doc["start"]["connected"], [])
        interrupt(r)
        status, out, err = finish(r)
        self.assertEqual(status, 3, err)
        self.complains(err, "interrupted")

    def test_nobody_answers(self):
        pair = Pair()
        status, out, err = run(["-t", "-s", "--timeout", "1"] + pair.tx + ["10.9.0.2"])
        self.assertEqual(status, 124)
        self.complains(err, "--timeout", "-r")
        status, out, err = run(["-r", "-s", "--timeout", "1"] + pair.rx)
        self.assertEqual(status, 124)
        self.complains(err, "--timeout")

    def test_no_route_and_no_address(self):
        pair = Pair()
        status, out, err = run(["-t", "-s", "--timeout", str(PATIENCE), "--udp", pair.tx[1], "--addr", "10.9.0.1", "fd00::9"])
        self.assertEqual(status, 2)
        self.complains(err, "--addr")
        status, out, err = run(["-t", "-s", "-6", "--timeout", str(PATIENCE)] + pair.tx + ["10.9.0.2"])
        self.assertEqual(status, 2)
        self.complains(err, "10.9.0.2", "-6")

    def test_address_in_use(self):
        pair = Pair()
        r = pair.receiver()
        status, out, err = run(["-r"] + pair.rx)
        self.assertEqual((status, out), (1, b""))
        self.complains(err, "127.0.0.1", "in use")
        interrupt(r, signal.SIGTERM)
        self.assertEqual(finish(r)[0], 3)

    def test_receiver_goes_away(self):
        """A receiver that is interrupted resets the connection; the sender reports how much was acknowledged."""
        pair = Pair()
        r = pair.receiver("--output", self.path("out"))
        t = start(pair.sender("-s", "-G", "0", "-R", "20m", "-n", "100000"))
        until(holds, self.path("out"), 1000000)
        interrupt(r)
        status, out, err = finish(r)
        self.assertEqual(status, 3, err)
        self.complains(err, "interrupted")
        got = int(re.match(r"ttcp-r: (\d+) bytes", err[0]).group(1))
        self.assertGreater(got, 0)
        status, out, err = finish(t)
        self.assertEqual(status, 3, err)
        self.complains(err, "reset", "bytes")

    def test_sender_is_interrupted(self):
        pair = Pair()
        r = pair.receiver("--output", self.path("out"), "--json")
        t = start(pair.sender("-s", "-G", "0", "-R", "20m", "-n", "100000", "--json"))
        until(holds, self.path("out"), 1000000)
        interrupt(t)
        status, out, err = finish(t)
        self.assertEqual(status, 3, err)
        doc = json.loads(out)
        self.assertEqual(doc["end"]["scps"]["outcome"], "interrupted")
        self.assertGreater(doc["end"]["sum_sent"]["bytes"], 0)
        status, out, err = finish(r)
        self.assertEqual(status, 3, err)
        self.assertIn("reset", json.loads(out)["error"])

    def test_slow_input_and_slow_output(self):
        """A pipe that is not ready does not block the event loop of either end: the protocol continues, and all data
        arrives."""
        pair, data = Pair(), stuff(400000)
        r = pair.receiver("-b", "20000")
        t = start(pair.sender("-b", "20000"), stdin=subprocess.PIPE)

        def feed():
            for i in range(0, len(data), 25000):
                t.stdin.write(data[i:i + 25000])
                t.stdin.flush()
                time.sleep(0.02)
            t.stdin.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        got = b""
        for _ in range(10):
            got += os.read(r.stdout.fileno(), 20000)
            time.sleep(0.1)
        status, out, err = finish(r)
        feeder.join()
        self.assertEqual(status, 0, err)
        self.assertTrue(got + out == data)
        t.stdin = None
        status, out, err = finish(t)
        self.assertEqual(status, 0, err)

    def test_reader_of_the_output_goes_away(self):
        pair = Pair()
        r = pair.receiver()
        t = start(pair.sender("-s", "-n", "3000"))
        os.read(r.stdout.fileno(), 1000)
        r.stdout.close()
        r.stdout = None
        status, out, err = finish(r)
        self.assertEqual(status, 1, err)
        self.complains(err, "standard output", "pipe")
        status, out, err = finish(t)
        self.assertIn(status, (1, 3))  # it may have heard nothing before the reset
        self.complains(err, "reset")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_disk_at_the_receiver(self):
        pair = Pair()
        with open("/dev/full", "wb") as full:
            r = pair.receiver(stdout=full)
            status, out, err = run(pair.sender("-s", "-n", "3000"))
            self.assertIn(status, (1, 3), err)
            self.complains(err, "reset")
            status, out, err = finish(r)
        self.assertEqual(status, 1)
        self.complains(err, "standard output", "No space")

    def test_time_and_idle_cpu(self):
        """A transfer at a very low rate for two seconds uses little processor time at both ends."""
        pair = Pair()
        r = pair.receiver("-s", "--json")
        doc = json.loads(run(pair.sender("-s", "--time", "2", "-G", "0", "-R", "100k", "-b", "10000", "--json"))[1])
        self.assertGreater(doc["end"]["sum_sent"]["seconds"], 2)
        there = json.loads(finish(r)[1])
        for d in (doc, there):
            self.assertLess(d["end"]["cpu_utilization_percent"]["host_total"], 20)

    def test_capture(self):
        pair = Pair()
        r = pair.receiver("-s")
        before = time.time()
        self.assertEqual(run(pair.sender("-s", "-n", "10", "--pcap", self.path("x.pcap")))[0], 0)
        after = time.time()
        self.assertEqual(finish(r)[0], 0)
        with open(self.path("x.pcap"), "rb") as f:
            raw = f.read()
        self.assertTrue(int(before) <= struct.unpack("<I", raw[24:28])[0] <= after)  # wall-clock time


class Datagrams(Case):
    """-u: the datagrams that are missing are those that the link lost; the others arrive unchanged."""

    @classmethod
    def setUpClass(cls):
        cls.validator = None
        try:
            import jsonschema
            with open(SCHEMA.replace("scps_ttcp.", "scps_ttcp_udp."), encoding="utf-8") as f:
                cls.validator = jsonschema.Draft202012Validator(json.load(f))
        except (ImportError, AttributeError):
            pass

    def valid(self, doc, outcome="done"):
        if self.validator:
            errors = ["/".join(map(str, e.absolute_path)) + ": " + e.message for e in self.validator.iter_errors(doc)]
            self.assertEqual(errors, [])
        self.assertEqual(doc["end"]["scps"]["outcome"], outcome)
        return doc

    def sent(self, args, **kw):
        return self.valid(self.document(["-t", "-u"] + args, **kw))

    def test_losses_are_the_links(self):
        """The numbers of the lost datagrams agree with the link's log of every packet."""
        for i, link in enumerate(["geo", "geo,loss=0.02", "geo,ber=2e-6", "geo,loss=0.05,reorder=0.05,dup=0.05",
                                  "rate=2mbit,rtt=80ms,burst=100ms/20ms,jitter=30ms", "geo,outage=100ms-300ms"]):
            with self.subTest(link=link):
                truth = self.path("truth%d.csv" % i)
                doc = self.sent(["-s", "-n", "1500", "-l", "800", "--link", link, "--truth", truth])
                with open(truth, encoding="utf-8") as f:
                    rows = [r for r in csv.DictReader(f) if r["direction"] == "a2b" and r["ip_len"] == "828"]
                self.assertEqual(len(rows), 1500)
                lost = sum(r["fate"] == "lost" for r in rows)
                end = doc["end"]
                self.assertEqual(end["sum"]["packets"], 1500)
                self.assertEqual(end["sum"]["lost_packets"], lost)
                self.assertEqual(end["scps"]["received_packets"], 1500 - lost)
                self.assertEqual(end["scps"]["duplicates"], sum(r["copies"] == "2" for r in rows))
                self.assertEqual(end["sum_received"]["bytes"], 800 * (1500 - lost))
                self.assertEqual(end["sum_sent"]["bytes"], 800 * 1500)
                self.assertAlmostEqual(end["sum"]["lost_percent"], 100 * lost / 1500, delta=0.006)
                self.assertIs(end["verified"], True)
                late, highest = 0, 0  # by arrival; of two copies the first
                for at, number in sorted((int(r["arrive_us"]), int(r["packet_no"])) for r in rows if r["fate"] != "lost"):
                    late += number < highest
                    highest = max(number, highest)
                if "dup" not in link:
                    self.assertEqual(end["streams"][0]["udp"]["out_of_order"], late)
                if "reorder" in link:
                    self.assertGreater(end["streams"][0]["udp"]["out_of_order"], 0)
                if "jitter" in link:
                    self.assertGreater(end["sum"]["jitter_ms"], 1)
                elif link == "geo":
                    self.assertLess(end["sum"]["jitter_ms"], 0.01)

    def test_same_seed_same_document(self):
        args = ["-t", "-u", "-s", "-n", "500", "--link", "geo,loss=0.03,reorder=0.03", "--json", "-i", "0.1"]
        one, other, third = run(args)[1], run(args)[1], run(args + ["--seed", "2"])[1]
        self.assertEqual(one, other)
        self.assertNotEqual(one, third)

    def test_hollow_is_the_same_history(self):
        args = ["-s", "-n", "800", "--link", "geo,ber=1e-6,loss=0.01"]
        full, hollow = self.sent(args), self.sent(args + ["--hollow"])
        self.assertGreater(full["end"]["sum"]["lost_packets"], 0)
        self.assertEqual(full["end"]["sum"], hollow["end"]["sum"])
        self.assertEqual(full["end"]["link"], hollow["end"]["link"])
        self.assertEqual((full["end"]["verified"], hollow["end"]["verified"]), (True, None))

    def test_files_arrive_as_they_are(self):
        """Files of every length are sent; no datagram of a file is taken for a guard datagram. Without losses the
        output equals the file."""
        out = self.path("out")
        for length, size in [(1000, 10000 + k) for k in range(7)] + [(1000, k) for k in range(5, 11)] + \
                            [(5, k) for k in range(5, 16)] + [(9, 95), (10, 101), (12, 99)]:
            with self.subTest(length=length, size=size):
                data = stuff(size)
                doc = self.sent(["-l", str(length), "--link", "geo,queue=0", "--output", out], data=data)
                with open(out, "rb") as f:
                    self.assertTrue(f.read() == data)
                self.assertEqual(doc["end"]["sum_sent"]["bytes"], size)
                self.assertEqual((doc["end"]["sum"]["lost_packets"], doc["end"]["verified"]), (0, True))
                self.assertEqual(doc["end"]["sum"]["jitter_ms"], None)
        status, _, err = run(["-t", "-u", "--link", "geo"], data=b"four")
        self.assertEqual(status, 1)
        self.complains(err, "guard")
        self.assertEqual(self.sent(["--link", "geo"], data=b"")["end"]["sum"]["packets"], 0)
        # with losses, what came is looked up among what was sent
        doc = self.sent(["-l", "500", "--link", "geo,loss=0.1,reorder=0.05"], data=stuff(100000))
        self.assertEqual((doc["end"]["sum"]["packets"], doc["end"]["verified"]), (200, True))
        self.assertGreater(doc["end"]["sum"]["lost_packets"], 5)

    def test_nothing_arrives(self):
        doc = self.sent(["-s", "-n", "50", "--link", "geo,loss=1"])
        self.assertEqual((doc["end"]["sum"]["lost_packets"], doc["end"]["sum"]["lost_percent"]), (50, 100))
        self.assertEqual(doc["end"]["scps"]["guards"], 0)

    def test_rates(self):
        """-R includes headers and framing. Without it datagrams are sent as fast as the line takes them, and none is
        lost before it."""
        doc = self.sent(["-s", "-n", "4000", "-l", "1000", "--link", "geo", "-R", "4m"])
        packet = (1000 + 28 + 18) * 8
        self.assertAlmostEqual(doc["end"]["sum_sent"]["bits_per_second"] / 4e6, 8000 / packet, delta=0.002)
        doc = self.sent(["-s", "-n", "4000", "-l", "1000", "--link", "geo"])
        self.assertAlmostEqual(doc["end"]["sum_sent"]["bits_per_second"] / 10e6, 8000 / packet, delta=0.002)
        self.assertEqual(doc["end"]["sum"]["lost_packets"], 0)

    def test_intervals_add_up(self):
        doc = self.sent(["-s", "-n", "2000", "-l", "700", "--link", "geo,loss=0.03", "-i", "0.2"])
        parts = [i["sum"] for i in doc["intervals"]]
        self.assertGreater(len(parts), 4)
        self.assertEqual(sum(p["bytes"] for p in parts), 1400000)
        lost = sum(p["lost_packets"] for p in parts)
        self.assertTrue(doc["end"]["sum"]["lost_packets"] - 5 <= lost <= doc["end"]["sum"]["lost_packets"])  # the last ones have none behind
        self.assertEqual(sum(p["packets"] - p["lost_packets"] for p in parts), doc["end"]["scps"]["received_packets"])

    def test_time_stops_sending(self):
        doc = self.sent(["-s", "--time", "2", "--link", "geo", "-R", "1m"])
        self.assertAlmostEqual(doc["end"]["sum_sent"]["seconds"], 2, delta=0.05)

    def test_timeout(self):
        doc = self.document(["-t", "-u", "-s", "--time", "10", "--timeout", "2", "--link", "geo", "-R", "1m"], 124)
        self.valid(doc, "timeout")

    def test_text(self):
        status, out, err = run(["-t", "-u", "-s", "-n", "200", "-l", "1000", "--link", "geo,loss=0.1", "-v"])
        self.assertEqual((status, out), (0, b""))
        text = "\n".join(err)
        self.assertRegex(text, r"(?m)^ttcp-t: 200000 bytes in \d+\.\d+ real seconds = .* \+\+\+$")
        self.assertRegex(text, r"(?m)^ttcp-r: \d+ datagrams, \d+ lost of 200 \(\d+\.\d\d %\), 0 out of order, 0 duplicates, jitter ")
        self.assertIn("ttcp-r: verified: every datagram that arrived is as it was sent", text)

    def test_refused(self):
        for args, words in [(["-e"], ["-u with -e"]), (["-c"], ["-c"]), (["-E"], ["-E"]), (["-Z"], ["-E or -Z"]), (["-C"], ["-C"]),
                            (["-Q"], ["-Q"]), (["--require", "snack"], ["--require"]), (["-l", "4"], ["-l 4", "guard"]),
                            (["-l", "1473"], ["-l 1473", "1472"]), (["-6", "-l", "1453"], ["1452"]),
                            (["-l", "1000", "-m", "900"], ["872"]), (["--link", "rates=0s:1mbit+1s:2mbit,rtt=10ms"], ["-R"])]:
            with self.subTest(args=args):
                status, out, err = run(["-t", "-u", "-s"] + args)
                self.assertEqual((status, out, len(err)), (2, b"", 1), err)
                self.complains(err, *words)

    def test_two_processes(self):
        data = stuff(50000)  # what the socket between them holds, however late its reader is
        for host, extra in [("10.9.0.2", []), ("fd09::2", ["-6", "-l", "1000"])]:
            with self.subTest(host=host):
                pair = Pair()
                with open(self.path("out"), "wb") as out:
                    r = pair.receiver("-u", stdout=out)
                status, out, err = run(pair.sender("-u", "-R", "20m", *extra, host=host), data=data)
                self.assertEqual((status, out), (0, b""), err)
                status, out, err = finish(r)
                self.assertEqual(status, 0, err)
                self.assertRegex("\n".join(err), r"(?m)^ttcp-r: \d+ datagrams, 0 lost of \d+ \(0.00 %\)$")
                with open(self.path("out"), "rb") as f:
                    self.assertTrue(f.read() == data)

    def test_documents_of_two_processes(self):
        pair = Pair()
        r = pair.receiver("-u", "-s", "--json")
        t = self.valid(json.loads(run(pair.sender("-u", "-s", "-n", "50", "-l", "1000", "-R", "2m", "-i", "0.05", "--json"))[1]))
        there = self.valid(json.loads(finish(r)[1]))
        self.assertEqual(t["end"]["sum"]["packets"], 50)
        self.assertEqual(t["end"]["sum"]["lost_packets"], None)  # nobody tells it
        self.assertEqual((there["end"]["sum"]["packets"], there["end"]["sum"]["lost_packets"]), (50, 0))
        self.assertIsNotNone(there["end"]["sum"]["jitter_ms"])
        self.assertEqual(there["start"]["accepted_connection"]["host"], "10.9.0.1")

    def test_nobody_there(self):
        """No program has the port, so the peer's host answers with an ICMP error, which the sender reports."""
        pair = Pair()
        r = pair.receiver("-u", "-s", "-p", "6000", "--json")
        status, out, err = run(pair.sender("-u", "-s", "-n", "5000", "-R", "10m"))
        self.assertIn(status, (1, 3), err)
        self.complains(err, "refused", "-r")
        interrupt(r)
        status, out, err = finish(r)
        self.assertEqual(status, 3)
        self.assertGreater(self.valid(json.loads(out), "interrupted")["end"]["scps"]["drops_receiver"]["no_udp_port"], 0)

    def test_sender_is_interrupted(self):
        pair = Pair()
        r = pair.receiver("-u", "--output", self.path("out"), "--json")
        t = start(pair.sender("-u", "-s", "-n", "1000000", "-R", "10m", "--json"))
        until(holds, self.path("out"), 10000)
        interrupt(t)
        status, out, err = finish(t)
        self.assertEqual(status, 3)
        doc = self.valid(json.loads(out), "interrupted")
        self.assertGreater(doc["end"]["sum"]["packets"], 0)
        interrupt(r)
        status, out, err = finish(r)
        self.assertEqual(status, 3)
        self.assertGreater(self.valid(json.loads(out), "interrupted")["end"]["scps"]["received_packets"], 0)

    def test_too_long_for_the_device(self):
        pair = Pair()
        status, out, err = run(pair.sender("-u", "-s", "-l", "2000"))
        self.assertEqual(status, 1)
        self.complains(err, "-l 2000", "MTU of 1472")


def keys(value, path=""):
    """Returns the paths of all values in a document, such as "/end/sum_sent/bytes"."""
    if isinstance(value, dict):
        return {path + "/" + k for k in value} | set().union(*[keys(v, path + "/" + k) for k, v in value.items()])
    return set().union(*[keys(v, path + "[]") for v in value]) if isinstance(value, list) else set()


class Schema(Case):
    """The documents of every kind of run conform to docs/schema/scps_ttcp.schema.json."""

    @classmethod
    def setUpClass(cls):
        with open(SCHEMA, encoding="utf-8") as f:
            schema = json.load(f)
        jsonschema.Draft202012Validator.check_schema(schema)
        cls.validator = jsonschema.Draft202012Validator(schema)

    def valid(self, text, outcome):
        doc = json.loads(text)
        errors = ["/".join(map(str, e.absolute_path)) + ": " + e.message for e in self.validator.iter_errors(doc)]
        self.assertEqual(errors, [])
        self.assertEqual(doc["end"]["scps"]["outcome"], outcome)
        return doc

    def test_the_schema_is_not_for_everything(self):
        doc = json.loads(run(["-t", "-s", "-n", "3", "--json"])[1])
        self.assertEqual(list(self.validator.iter_errors(doc)), [])
        for spoil in [lambda d: d.pop("end"), lambda d: d["end"].update(verified="yes"), lambda d: d.update(error="x"),
                      lambda d: d["start"].update(timestamp={"time": "", "timesecs": 1}),
                      lambda d: d["end"]["tcp"]["drops"].update(unheard_of=1),
                      lambda d: d["end"]["timing"].pop("close_us"), lambda d: d["end"]["sum_sent"].update(seconds=-1)]:
            bad = json.loads(json.dumps(doc))
            spoil(bad)
            self.assertNotEqual(list(self.validator.iter_errors(bad)), [])

    def test_over_a_link(self):
        for args in ["", "-6", "-M --no-sack", "--hollow", "-i 0.1", "-G 0 -R 5m -i 0.2", "--link nasa10,ber=1e-5 -l 1024",
                     "--link lan,loss=0.05,dup=0.01 -i 1ms", "--time 1", "--link mars,queue=100p", "-F 0 -a 1", "-n 1 -l 1",
                     "--link rate=1mbit,rtt=5ms -b 4000"]:
            with self.subTest(args=args):
                doc = self.valid(run(["-t", "-s", "-n", "60", "--json"] + args.split())[1], "done")
                if "-i" in args:
                    self.assertGreater(len(doc["intervals"]), 1)

    def test_every_controller(self):
        names = re.findall(r"^([a-z][\w-]*) ", run(["--list-cc"])[1].decode(), re.M)
        for name in names:
            self.valid(run(["-t", "-s", "-n", "60", "-R", "5m", "--cc", name, "-i", "0.5", "--json"])[1], "done")

    def test_comparison(self):
        doc = json.loads(run(["-t", "-s", "-n", "20", "--json", "--compare", "vj,cubic,rate"])[1])
        self.assertEqual(["vj", "cubic", "rate"], [self.valid(json.dumps(d), "done")["start"]["scps"]["cc"] for d in doc["compare"]])
        self.assertEqual(["compare"], list(doc))

    @unittest.skipUnless(shutil.which("iperf3"), "iperf3 is not installed")
    def test_the_keys_of_iperf3(self):
        """Each value that iperf3 reports for a transfer is at the same place in the document of scps_ttcp,
        except those that only iperf3's control connection provides."""
        port = str(free_ports()[0])
        server = subprocess.Popen(["iperf3", "-s", "-1", "-p", port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        docs = []

        def connected():  # a document that says "connection refused" comes with status 0
            out = subprocess.run(["iperf3", "-c", "127.0.0.1", "-p", port, "-n", "1M", "-J"], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, check=False).stdout
            docs.append(json.loads(out))
            return "error" not in docs[-1]

        try:
            until(connected)
        finally:
            server.kill()
            server.wait()
        theirs = keys(docs[-1])
        pair = Pair()
        r = pair.receiver("-s", "--json")
        ours = keys(json.loads(run(pair.sender("-s", "-n", "500", "--json", "-i", "0.01"))[1]))
        finish(r)
        unknown = {"/start/cookie", "/end/receiver_tcp_congestion"} | {"/end/cpu_utilization_percent/remote_" + w
                                                                       for w in ("total", "user", "system")}
        self.assertGreater(len(theirs), 60)
        self.assertEqual(theirs - ours - unknown, set())

    def test_the_largest_of_the_intervals(self):
        doc = self.valid(run(["-t", "-s", "-n", "400", "--json", "-i", "0.1", "--link", "geo,queue=20p"])[1], "done")
        streams = [i["streams"][0] for i in doc["intervals"]]
        end = doc["end"]["streams"][0]["sender"]
        for key, of in [("max_snd_cwnd", "snd_cwnd"), ("max_snd_wnd", "snd_wnd"), ("max_rtt", "rtt")]:
            self.assertEqual(end[key], max(s[of] for s in streams), key)
        self.assertLessEqual(end["min_rtt"], end["max_rtt"])

    def test_nothing_to_send(self):
        self.valid(run(["-t", "--json"])[1], "done")

    def test_timeouts_and_failures(self):
        self.valid(run(["-t", "-s", "--timeout", "0.1", "--json"])[1], "timeout")
        self.valid(run(["-t", "-s", "--timeout", "1", "-i", "0.3", "--json"])[1], "timeout")
        self.valid(run(["-t", "-s", "--link", "lan,loss=1", "--json"])[1], "failed")
        self.valid(run(["-t", "--output", self.path("a/b"), "--json"], data=b"x")[1], "failed")
        self.valid(run(["-t", "--pcap", self.path("a/b"), "--json"], data=b"x")[1], "failed")
        # names that are no UTF-8 must not make the document unreadable
        self.valid(run([b"-t", b"--output", b"/no/\xff\"\\\n", b"--json"], data=b"x")[1], "failed")

    def test_interrupted(self):
        p = start(["-t", "--json", "-i", "0.1"], stdin=subprocess.PIPE)
        p.stdin.write(stuff(5000))
        p.stdin.flush()
        interrupt(p)
        status, out, err = finish(p)
        self.assertEqual(status, 3)
        self.valid(out, "interrupted")

    def test_two_processes(self):
        for extra in [[], ["-i", "0.05"], ["-6"], ["-M"]]:
            pair = Pair()
            r = pair.receiver("-s", "--json", *extra)
            host = "fd09::2" if "-6" in extra else "10.9.0.2"
            self.valid(run(pair.sender("-s", "-n", "500", "--json", *extra, host=host))[1], "done")
            self.valid(finish(r)[1], "done")

    def test_several_connections(self):
        for args in ["-P 3", "--bidir", "-P 2 --bidir -i 0.5", "-P 2 --timeout 1"]:
            with self.subTest(args=args):
                self.valid(run(["-t", "-s", "-n", "60", "--json"] + args.split())[1], "timeout" if "timeout" in args else "done")
        pair = Pair()
        r = pair.receiver("-s", "--json", "--tell", "-P", "2")
        self.valid(run(pair.sender("-s", "-n", "50", "--json", "-P", "2"))[1], "done")
        self.valid(finish(r)[1], "done")
        doc = json.loads(run(["-t", "-s", "-n", "3", "-P", "2", "--json"])[1])
        for spoil in [lambda d: d["end"]["streams"].pop(), lambda d: d["end"]["streams"][0].pop("tcp"),
                      lambda d: d["end"].update(sum_sent_bidir_reverse=d["end"]["sum_sent"])]:
            bad = json.loads(json.dumps(doc))
            spoil(bad)
            self.assertNotEqual(list(self.validator.iter_errors(bad)), [])

    def test_two_processes_that_fail(self):
        pair = Pair()
        r = pair.receiver("-s", "-p", "5002", "--json")
        self.valid(run(pair.sender("-s", "--json"))[1], "failed")
        self.valid(run(["-t", "-s", "--json", "--udp", pair.rx[1], "--addr", "10.9.0.1", "10.9.0.2"])[1], "failed")
        interrupt(r)
        self.valid(finish(r)[1], "interrupted")
        self.valid(run(["-t", "-s", "--json", "--timeout", "0.5"] + pair.tx + ["10.9.0.2"])[1], "timeout")
        self.valid(run(["-r", "-s", "--json", "--timeout", "0.5"] + pair.rx)[1], "timeout")

    def test_two_processes_cut_short(self):
        pair = Pair()
        r = pair.receiver("--output", self.path("out"), "--json")
        t = start(pair.sender("-s", "-G", "0", "-R", "20m", "-n", "100000", "--json"))
        until(holds, self.path("out"), 1000000)
        interrupt(t)
        self.valid(finish(t)[1], "interrupted")
        self.valid(finish(r)[1], "partial")


GROUPS = {"wire": Wire, "usage": Usage, "virtual": Virtual, "files": Files, "udp": Udp, "schema": Schema, "datagrams": Datagrams}

if __name__ == "__main__":
    if GROUP == "wire" and shutil.which("tshark") is None:
        print("skipped: tshark is not installed")
        sys.exit(77)
    if GROUP == "schema":
        try:
            import jsonschema
            jsonschema.Draft202012Validator
        except (ImportError, AttributeError):
            print("skipped: python3-jsonschema with draft 2020-12 is not installed")
            sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(GROUPS[GROUP])
    if len(sys.argv) > 3:
        suite = unittest.TestSuite(t for t in suite if any(word in t.id() for word in sys.argv[3:]))
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    sys.exit(0 if result.wasSuccessful() else 1)
