#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line of scps_link, as far as no privileges are needed: what is refused, and how it is said.

    scps_link_test.py PROGRAM [unittest options]

A line that is right but for the devices is told to give --a, which comes last of all that is judged before the system is
touched. tests/interop/link.sh has the rest.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOUND = "give --a NAME"

TWO = """[scenario]
name = two
[link]
rate = 2mbit
[link up]
rtt = 50ms
a = x
b = y
[link down]
rtt = 70ms
a = y
b = z
[flow]
link = up
[sweep]
link.ber = 0, 1e-6
"""


def run(*args):
    p = subprocess.run([PROGRAM] + list(args), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=600, universal_newlines=True)
    return p.returncode, p.stdout, p.stderr


class Usage(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="scps_link.")
        self.addCleanup(shutil.rmtree, self.dir)

    def file(self, text, name="s.ini"):
        path = os.path.join(self.dir, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def says(self, words, *args):
        status, out, err = run(*args)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1), (args, err))
        self.assertIn(words, err)

    def test_help_has_every_option(self):
        status, out, err = run("--help")
        self.assertEqual((status, err), (0, ""))
        with open(os.path.join(TREE, "docs", "man", "scps_link.1")) as f:
            man = f.read().replace("\\-", "-")
        with open(os.path.join(TREE, "apps", "scps_link", "options.c")) as f:
            names = re.findall(r'^    \{"([a-z-]+)", [01], NULL,', f.read(), re.M)
        self.assertGreater(len(names), 15)
        for name in names:
            self.assertIn("--" + name, out)
            self.assertIn("--" + name, man)

    def test_spec(self):
        self.says(SOUND, "--link", "geo,ber=1e-6")
        self.says("allowed: rtt pass", "--link", "rat=1mbit")
        self.says("belongs to no option", "geo")
        self.says("--help", "--speed", "3")
        self.says("needs a value", "--link")
        self.says("a whole number", "--seed", "x")

    def test_shipped_scenarios(self):
        files = glob.glob(os.path.join(TREE, "lab", "scenarios", "*.ini"))
        self.assertGreater(len(files), 10)
        for path in files:
            with open(path) as f:
                text = f.read()
            choice = []
            for key, first in re.findall(r"^(\S+) = ([^,\n]+)", text.partition("[sweep]")[2], re.M):
                choice += ["--set", "%s=%s" % (key, first)]
                self.says("sweeps over " + key, "--scenario", path)
            self.says(SOUND, "--scenario", os.path.basename(path)[:-4], *choice)

    def test_scenario_errors_name_file_and_line(self):
        self.says("nowhere: No such file", "--scenario", "nowhere")
        self.says("s.ini:2: unknown key 'sise'", "--scenario", self.file("[flow]\nsise = 1\n"))
        self.says("s.ini:3: link: ber=0.7", "--scenario", self.file("[link]\nrtt = 5ms\nber = 0.7\n"))
        self.says("s.ini:2:", "--scenario", self.file("[link]\nrtd = 5ms\n"))
        self.says("vj-compression", "--scenario", self.file("[link]\nvj-compression = yes\n"))

    def test_which_link_of_which_cell(self):
        path = self.file(TWO)
        self.says("sweeps over link.ber", "--scenario", path)
        self.says("there are: up down", "--scenario", path, "--set", "link.ber=0")
        self.says("no link 'left'; there are: up down", "--scenario", path + ":left", "--set", "link.ber=0")
        self.says(SOUND, "--scenario", path + ":down", "--set", "link.ber=0", "--run", "3", "--seed", "4")
        self.says("no [link left]", "--scenario", path + ":up", "--set", "link.ber=0", "--set", "link.left.rtt=1ms")
        self.says(SOUND, "--scenario", self.file("[link]\nrtt = 5ms\n", "a.ini"))

    def test_tables_lie_beside_the_scenario(self):
        self.file("0s,10mbit\n30s,2mbit\n", "pass.csv")
        self.says(SOUND, "--scenario", self.file("[link]\nrates = @pass.csv\n"))
        self.says("s.ini:2:", "--scenario", self.file("[link]\nrates = @none.csv\n"))

    def test_what_does_not_go_together(self):
        self.says("leave out one of them", "--scenario", "geo", "--link", "moon")
        self.says("--set is for scenarios", "--set", "link.ber=0")
        self.says("--run is for scenarios", "--run", "2")
        self.says("--run 0: give a number from 1", "--scenario", "geo", "--run", "0")

    def test_addresses_that_no_host_has(self):
        for option in ("--addr-a", "--addr-b"):
            for address in ("224.0.0.1/24", "224.0.0.1", "240.0.0.1/8", "255.255.255.255/24", "0.0.0.0/24", "0.1.2.3/8", "ff02::1/64", "::/64"):
                self.says("%s %s: no host has this address" % (option, address), option, address)
            for address in ("10.0.0.255/24", "10.0.3.255/22", "10.0.0.3/30", "10.127.255.255/9", "127.255.255.255/1"):
                self.says("%s %s: this is the broadcast address of its prefix" % (option, address), option, address)
            for address in ("10.0.0.255/22", "10.0.0.3/31", "10.0.0.255/32", "10.0.0.0/24", "fd00::/64", "fe80::1/64"):
                self.says(SOUND, option, address)
            self.says("given twice", option, "10.0.0.1/24", option, "10.0.0.1/16")

    def test_files_are_kept_apart(self):
        with tempfile.TemporaryDirectory() as d:
            name = os.path.join(d, "x")
            self.says("--truth is the same file", "--a", "x0", "--b", "x1", "--truth", name, "--pcap-b", name)
            self.says("--pcap-a is the same file", "--a", "x0", "--b", "x1", "--pcap-a", name, "--pcap-b", d + "/./x")
            self.says("standard output is the same file", "--a", "x0", "--b", "x1", "--json", "--truth", "/dev/stdout")
            self.assertFalse(os.path.exists(name))
            with open(name, "w", encoding="ascii") as f:
                f.write("[link]\npreset = geo\na = x\nb = y\n[flow]\nlink = link\n")
            self.says("--scenario is the same file", "--a", "x0", "--b", "x1", "--scenario", name, "--pcap-a", name)
            self.assertGreater(os.path.getsize(name), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
