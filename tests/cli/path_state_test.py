#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scps_ttcp --path-state and the key path-state of scps_lab: careful resume (RFC 9959) from a file.

    path_state_test.py SCPS_TTCP [unittest options]
"""
import fcntl
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

TTCP = os.path.abspath(sys.argv[1])
LAB = os.path.join(os.path.dirname(TTCP), "scps_lab")
SATELLITE = "rate=250mbit,rate-back=3mbit,rtt=600ms"
SLOWER = "rate=25mbit,rate-back=3mbit,rtt=600ms"
FOREIGN = "foreign: it is no path state; it is left as it is"
PHASES = "careful resume: reconnaissance unvalidated validating normal; saved"


class PathState(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.path = os.path.join(self.dir.name, "sat.path")

    def run_once(self, *words, link=SATELLITE, size="12208"):
        return subprocess.run([TTCP, "-t", "-s", "--hollow", "-b", "64M", "-n", size, "--cc", "cubic", "--link", link, "-v",
                               "--path-state", self.path, *words], capture_output=True, text=True, timeout=300, check=False)

    def seconds(self, done):
        return float(re.search(r"ttcp-r: \d+ bytes in ([0-9.]+)", done.stdout + done.stderr).group(1))

    def octets(self):
        with open(self.path, "rb") as f:
            return f.read()

    def write(self, octets):
        with open(self.path, "wb") as f:
            f.write(octets)

    def test_the_second_connection_is_fast(self):
        first = self.run_once()
        self.assertIn("careful resume: normal; saved", first.stderr)
        self.assertEqual(88, len(self.octets()))
        self.assertFalse(os.path.exists(self.path + ".new"))
        second = self.run_once()
        self.assertIn(PHASES, second.stderr)
        self.assertNotIn("not used", first.stderr + second.stderr)
        self.assertGreater(self.seconds(first), 10)
        self.assertLess(self.seconds(second), 5.3)

    def test_a_retreat(self):
        self.run_once()
        done = self.run_once(link=SLOWER)
        self.assertIn("validating safe-retreat normal; saved", done.stderr)
        rate = struct.unpack(">Q", self.octets()[32:40])[0]
        self.assertLess(rate, 25e6 / 8)  # the state that the transfer saved has replaced the wrong one

    def test_refusals_have_names_and_change_nothing(self):
        self.run_once()
        good = self.octets()
        os.unlink(self.path)
        plain = self.seconds(self.run_once(size="100"))

        def signed(octets):
            return octets[:84] + struct.pack(">I", zlib.crc32(octets[:84]))
        for octets, name in ((good[:30] + b"\x55" + good[31:], "corrupt: its checksum is wrong"),
                             (good[:9] + b"\x02" + good[10:], "version: it is of another version of the format"),
                             (signed(good[:67] + b"\x09" + good[68:]), "destination: it is of other addresses"),
                             (signed(good[:16] + b"\x7f" * 8 + good[24:]), "future: it was saved later than now"),
                             (signed(good[:16] + bytes(8) + good[24:]), "expired: it is older than its lifetime"),
                             (signed(good[:24] + b"\xff" * 8 + good[32:]), "range: a value in it makes no sense"),
                             (b"\xff" * 88, FOREIGN), (b"", "foreign: it is no path state"), (good + b"x", FOREIGN),
                             (bytes(88), FOREIGN)):
            self.write(octets)
            done = self.run_once(size="100")
            self.assertEqual(0, done.returncode)
            self.assertEqual(["scps_ttcp: --path-state %s: not used: %s" % (self.path, name)],
                             [line for line in done.stderr.split("\n") if "not used" in line])
            self.assertEqual(plain, self.seconds(done))
            if name == FOREIGN:  # a file that is no path state must not be overwritten
                self.assertEqual(octets, self.octets())
                self.assertIn("the file is left as it was", done.stderr)

    def test_one_connection_at_a_time(self):
        self.run_once()
        with open(self.path, "rb") as f:
            good = self.octets()
            fcntl.flock(f, fcntl.LOCK_EX)
            self.assertIn("not used: in-use: another connection uses it; it is left as it is", self.run_once().stderr)
            self.assertEqual(good, self.octets())

    def test_too_little_leaves_the_file_alone(self):
        self.run_once()
        good = self.octets()
        self.assertIn("too little was carried to save", self.run_once(size="2").stderr)
        self.assertEqual(good, self.octets())

    def test_a_file_that_cannot_be_written(self):
        """The file is refused before any data is sent."""
        fifo = os.path.join(self.dir.name, "fifo")
        os.mkfifo(fifo)
        self.write(b"")
        for name, why in (("/nowhere/x", "its folder is not there or cannot be written: give another one"),
                          (self.path + "/x", "Not a directory: give another file"),
                          (self.dir.name, "it is no regular file: give the name of one, or of a new one"),
                          ("/dev/full", "it is no regular file: give the name of one, or of a new one"),
                          (fifo, "it is no regular file: give the name of one, or of a new one")):
            self.path = name
            done = self.run_once()
            self.assertEqual((2, "scps_ttcp: --path-state %s: %s\n" % (name, why)), (done.returncode, done.stderr))
        self.path = ""
        done = self.run_once()
        self.assertEqual((2, "scps_ttcp: --path-state: an empty name is none: give a file\n"), (done.returncode, done.stderr))
        self.assertTrue(os.path.exists("/dev/full"))

    def test_the_mode_and_the_link_stay(self):
        real = os.path.join(self.dir.name, "real")
        self.run_once()
        os.rename(self.path, real)
        os.symlink("real", self.path)
        os.chmod(real, 0o640)
        before = os.stat(real).st_ino
        self.assertIn("saved", self.run_once().stderr)
        self.assertTrue(os.path.islink(self.path))
        self.assertEqual(0o640, os.stat(real).st_mode & 0o777)
        self.assertNotEqual(before, os.stat(real).st_ino)

    def test_where_it_makes_no_sense(self):
        for words in (("-u", "-R", "1m"), ("-P", "2"), ("--compare", "vj,cubic")):
            done = self.run_once(*words)
            self.assertEqual(2, done.returncode, done.stderr)
            self.assertIn("--path-state", done.stderr)

    def test_scenario_key(self):
        ini = os.path.join(self.dir.name, "two.ini")
        with open(ini, "w", encoding="utf-8") as f:
            f.write("[scenario]\nname = two\nabout = two connections\nseed = 1\n[link]\nrate = 250mbit\nrtt = 600ms\n"
                    "[flow]\ncc = cubic\nsize = 100mb\nbuffer = 64mb\npath-state = sat\n[flow first]\nstart = 0s\n"
                    "[flow second]\nstart = 30s\n[flow third]\nstart = 30s\n")
        events = os.path.join(self.dir.name, "events.csv")
        subprocess.run([LAB, "run", ini, "--events", events], capture_output=True, text=True, check=True)
        with open(events, encoding="utf-8") as f:
            of = [line.split(",")[2:5] for line in f if ",resume," in line]
        for phase in "1234"[:3]:
            # A third connection finds no state that it could use
            self.assertEqual(1, sum(o[1:] == ["resume", "phase=" + phase] for o in of), of)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
