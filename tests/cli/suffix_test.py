#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wherever a program takes a size, a rate or a time, it takes the usual suffixes.

    suffix_test.py BINDIR SETTINGS.DEF [--few]

--few is for programs with the sanitizers: of each option the first value, one with a suffix and one that is wrong. All forms of
a number go through the same functions, which cli.test_ttcp_units tests with the sanitizers, too.

The options and keys are in a table below, and those of the settings of connections come from settings.def. What takes no
suffix, or takes nonsense, is a failure; so is an option of scps_ttcp whose help speaks of bytes, bit/s or seconds and which
is in no row.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

bindir, settings, few = sys.argv[1], sys.argv[2], sys.argv[3:] == ["--few"]

SIZE = ["1500", "4k", "4K", "4kb", "4KB", "4kib", "4KiB"]
KILO = ["1500", "4k", "4K"]  # of a datagram or a packet
RATE = ["80000", "80k", "8m", "8M", "1g", "80kbit", "8mbit", "8Mbit", "1gbit", "80kbit/s", "8mbit/s"]
TIME = ["2s", "200ms", "50000us", "1min", "1h"]
SECONDS = ["2"] + TIME  # a number without a unit is seconds, or what the option says
WRONG = ["", "k", "4q", "4kk", "-4k", "4 k k", "ms", "0x4k"]

# scps_ttcp: options, what they take
TTCP = {
    "-l": SIZE, "-n": SIZE, "-b": SIZE, "-A": SIZE, "-O": SIZE, "-m": SIZE, "--mtu": SIZE, "-R": RATE, "--rate": RATE, "-a": SECONDS,
    "--memory-limit": SIZE, "--record-size": SIZE, "--route-rate": RATE, "--min-rate": RATE, "--ack-budget": RATE[4:],
    "--time": SECONDS, "--timeout": SECONDS, "--interval": SECONDS, "-i": SECONDS, "--line-rate": RATE, "--mss": SIZE,
}
# Help that speaks of bytes, rates or times beside something else: a unit to print, counts of reports.
NOT_MEANT = {"-f", "-q", "-v", "--overhead", "--outage", "--first-window", "--hollow", "--server", "--tell", "--binding", "--link", "-T", "-B", "-u",
             "-c", "-e", "--truth", "--ppp", "--ccsds", "--no-timestamps", "-M", "--bidir", "--offload", "--output", "-g", "-G", "-F", "--reverse",
             "--snack-raw-unit", "--df-off", "--ack", "--initial-window", "--syn-retries", "--data-retries", "--outage-after"}
ECHO = {"-n": KILO, "-b": KILO, "--bytes": KILO, "--buffer": KILO, "--time": SECONDS, "--mtu": KILO, "--line-rate": RATE}
HTTPD = {"--time": SECONDS, "--mtu": KILO, "--line-rate": RATE}
LINK = {"--mtu": SIZE, "--time": SECONDS, "-i": SECONDS, "--interval": SECONDS}
TRACE = {"--time": ["2", "2s", "1min", "1h"], "--idle-split": ["2", "2s", "1min", "1h", "1d"], "--max-memory": ["4000000", "4m", "4M", "1g"]}
# keys of --link and of a [link]
SPEC = {"rate": RATE, "rate-back": RATE, "rtt": TIME, "delay": TIME, "delay-back": TIME, "jitter": TIME[:4], "reorder-delay": TIME,
        "queue": SIZE, "queue-back": SIZE, "overhead": KILO, "exempt": KILO}
# keys of a [flow], and of a [link] beside those
FLOW = {"start": TIME, "stagger": TIME, "size": SIZE, "time": TIME, "rate": RATE, "host-rate": RATE, "app-rate": RATE,
        "app-from": TIME, "app-until": TIME, "buffer": SIZE, "payload": ["1400", "1k", "1K", "1kb", "1kib"], "record": SIZE, "expected-rtt": TIME,
        "headers": KILO, "receiver-rate": RATE, "receiver-buffer": SIZE, "nack-wait": TIME, "done-wait": TIME}

with open(settings, encoding="utf-8") as f:
    text = f.read()
for name, kind, rest in re.findall(r"^SCPS_SETTING\((\w+), \w+, (BYTES|RATE|TIME),(.*?)\)\n(?=SCPS|\n|#|/)", text, re.M | re.S):
    only = re.search(r"\.only = '(\w)'", rest)
    only = only.group(1) if only else ""
    key = name.replace("_", "-")
    if only not in ("N", "S"):
        TTCP.setdefault("--" + key, {"BYTES": SIZE, "RATE": RATE, "TIME": SECONDS}[kind])
    if only not in ("N", "T"):
        FLOW.setdefault(key, {"BYTES": SIZE, "RATE": RATE, "TIME": TIME}[kind])
# What a key needs beside it to have an effect: scps_lab refuses keys without.
NACK = ["model=nack", "rate=1mbit"]
NEEDS = {"stagger": ["copies=2"], "app-from": ["app-rate=1mbit"], "app-until": ["app-rate=1mbit"], "headers": NACK, "receiver-rate": NACK,
         "receiver-buffer": [*NACK, "receiver-rate=1mbit"], "nack-wait": NACK, "done-wait": NACK, "snack-delay": ["snack=yes"],
         "bets-timeout": ["bets=yes"], "bets-lifetime": ["bets=yes"], "keep-idle": ["keepalive=yes"], "keep-interval": ["keepalive=yes"]}


def run(program, *args):
    p = subprocess.run([os.path.join(bindir, program), *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, check=False)
    return p.returncode, p.stderr


class Suffixes(unittest.TestCase):
    def sweep(self, table, command, wrong=WRONG):
        """Checks the suffixes of a table. command(name, value) returns a program with arguments that reads the value
        and does little else."""
        self.assertGreater(len(table), 1)
        for n, (name, values) in enumerate(table.items()):
            if few:  # another suffix and another mistake for each option
                values, wrong_ones = [values[0], values[1 + n % (len(values) - 1)]], [wrong[n % len(wrong)]]
            else:
                wrong_ones = wrong
            for value in values:
                status, err = run(*command(name, value))
                self.assertEqual(0, status, "%s %s: %s" % (name, value, err))
            for value in wrong_ones:
                status, err = run(*command(name, value))
                self.assertEqual(2, status, "taken: %s '%s'" % (name, value))
                self.assertEqual(1, len(err.splitlines()), err)

    def need(self, program):
        if not os.path.exists(os.path.join(bindir, program)):
            self.skipTest("%s is not built" % program)

    def test_ttcp(self):
        self.need("scps_ttcp")
        self.sweep(TTCP, lambda n, v: ("scps_ttcp", "-t", "-s", n, v, "-V"))

    def test_ttcp_options_are_in_the_table(self):
        self.need("scps_ttcp")
        out = subprocess.run([os.path.join(bindir, "scps_ttcp"), "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        rows = re.split(r"\n(?=  -)", out)
        missing = []
        for row in rows[1:]:
            words = row.split()
            name = words[0].rstrip(",")
            takes = re.match(r"  \S+(, \S+)? (N|SEC|MS|RATE|R)\b", row)
            means = re.search(r"\bbytes\b|bit/s|\bseconds?\b", row) or re.match(r"  \S+ (SEC|MS|RATE)\b", row)
            if takes and means and name not in TTCP and name not in NOT_MEANT:
                missing.append(row)
        self.assertEqual([], missing)
        self.assertGreater(len(rows), 60)

    def test_echo(self):
        self.need("scps_echo")
        self.sweep(ECHO, lambda n, v: ("scps_echo", n, v, "-V"))

    def test_httpd(self):
        self.need("scps_httpd")
        self.sweep(HTTPD, lambda n, v: ("scps_httpd", n, v, "-V"))

    def test_link(self):
        self.need("scps_link")
        self.sweep(LINK, lambda n, v: ("scps_link", "--a", "x", "--b", "y", n, v, "-V"))

    def test_trace(self):
        self.need("scps_trace")
        self.sweep(TRACE, lambda n, v: ("scps_trace", n, v, "-V"))

    def test_link_spec(self):
        self.need("scps_ttcp")
        self.sweep(SPEC, lambda n, v: ("scps_ttcp", "-t", "-s", "-n", "1", "-l", "1", "--link", "rate=1mbit,%s=%s" % (n, v)) if n != "rate"
                   else ("scps_ttcp", "-t", "-s", "-n", "1", "-l", "1", "--link", "rate=%s" % v))

    def test_lab(self):
        self.need("scps_lab")
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "one.ini")
            with open(path, "w", encoding="utf-8") as f:
                f.write("[link]\nrate = 1mbit\nmtu = 9k\n[flow]\nsize = 1kb\n")

            def command(name, value):
                more = [w for need in NEEDS.get(name.split(".")[1], []) for w in ("--set", "flow." + need)]
                return ("scps_lab", "sweep", path, "--out", os.path.join(d, "out"), "--check", *more, "--set", "%s=%s" % (name, value))
            self.sweep({"flow." + k: v for k, v in FLOW.items()}, command, WRONG[1:])
            self.sweep({"link." + k: v for k, v in SPEC.items()}, command, WRONG[1:])
            self.sweep({"link.mtu": SIZE[:1] + ["9k", "9K", "9kb"], "flow.size": SIZE}, command, WRONG[1:])


unittest.main(argv=sys.argv[:1])
