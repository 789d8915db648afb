#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What bash offers behind the programs' names, and what each program says about options that it does not have.

    completion_test.py DIRECTORY_OF_PROGRAMS BASH [unittest options]
"""
import os
import re
import subprocess
import sys
import unittest

BIN, BASH = os.path.abspath(sys.argv[1]), sys.argv[2]
PROGRAMS = [p for p in ("scps_ttcp", "scps_trace", "scps_link", "scps_lab", "scps_cctest", "scps_echo", "scps_httpd")
            if os.access(os.path.join(BIN, p), os.X_OK)]


def run(*words, **kw):
    env = {**os.environ, "PATH": BIN + os.pathsep + os.environ["PATH"]}
    return subprocess.run(words, capture_output=True, text=True, env=env, timeout=600, check=False, **kw)


def offers(program, *words):
    """Returns the completions of the last of the words."""
    script = run(os.path.join(BIN, program), "--completion", "bash").stdout
    ask = ('%s\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _%s; printf "%%s\\n" "${COMPREPLY[@]}"\n' % (script, program))
    got = run(BASH, "-euc", ask, "-", program, *words, cwd=os.path.dirname(os.path.abspath(__file__)))
    assert got.returncode == 0 and not got.stderr, got.stderr
    return got.stdout.split()


def manual(program):
    """Returns the source of a manual page, without the backslashes of hyphens and without changes of font."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/man", program + ".1"), encoding="utf-8") as f:
        return re.sub(r"\\f[BIRP]", "", f.read().replace("\\-", "-"))


def options(text):
    return set(re.findall(r"(?<![\w-])(--[a-z][a-z0-9-]*|-[A-Za-z0-9])(?![\w-])", text))


class Completion(unittest.TestCase):
    def test_each_option_of_the_help(self):
        for p in PROGRAMS:
            said = run(os.path.join(BIN, p), "--help").stdout
            in_help = {o for o in options(said) if o.startswith("--")}
            offered = set(offers(p, "--"))
            self.assertGreater(len(in_help), 5, p)
            self.assertEqual(in_help, offered, p)

    def test_each_offer_is_an_option(self):
        first = ("-h", "--help", "-V", "--version", "--completion")  # scps_lab has these in place of a command
        for p in PROGRAMS:
            for option in offers(p, "-"):
                said = run(os.path.join(BIN, p), *(["run"] if p == "scps_lab" and option not in first else []), option,
                           stdin=subprocess.DEVNULL)
                self.assertNotRegex(said.stderr, "unknown option|no option|no such option|unrecognized|invalid option", p + " " + option)

    def test_manual_pages(self):
        for p in PROGRAMS:
            offered = set(offers(p, "-"))
            page = manual(p)
            # the page of scps_httpd refers to that of scps_echo for the interface
            text = page + (manual("scps_echo") if p == "scps_httpd" else "")
            self.assertEqual(set(), offered - options(text), "docs/man/%s.1 lacks" % p)
            tags = "\n".join(re.findall(r"^\.TP\n(.*)", page, re.M))
            self.assertEqual(set(), options(tags) - offered, "docs/man/%s.1 has, and the program has not" % p)

    def test_wrong_options_in_one_line(self):
        for p in PROGRAMS:
            first = ["run", "geo"] if p == "scps_lab" else []
            value = {"scps_lab": "--set", "scps_cctest": "--cc", "scps_link": "--link"}.get(p, "--time")
            for words, named in ((["--nonsense"], "--nonsense"), (["--nonsense=5"], "--nonsense"), (["-~"], "-~"), ([value], value)):
                said = run(os.path.join(BIN, p), *first, *words, stdin=subprocess.DEVNULL)
                self.assertEqual((2, "", 1), (said.returncode, said.stdout, said.stderr.count("\n")), (p, words, said.stderr))
                self.assertIn(named, said.stderr)
                self.assertRegex(said.stderr, "-h(elp)?\\b", p)
        for p in ("scps_echo", "scps_httpd"):
            if p in PROGRAMS:
                said = run(os.path.join(BIN, p), *(["-r"] if p == "scps_echo" else []), stdin=subprocess.DEVNULL)
                self.assertEqual((2, "", 1), (said.returncode, said.stdout, said.stderr.count("\n")), said.stderr)
                self.assertIn("no interface: give --tun", said.stderr)

    def test_no_option_twice(self):
        for p in PROGRAMS:
            offered = offers(p, "-")
            self.assertEqual(sorted(set(offered)), sorted(offered), p)

    def test_values(self):
        self.assertEqual(["vegas", "vegas-corruption"], sorted(offers("scps_ttcp", "--cc", "veg")))
        self.assertEqual(["geo"], offers("scps_ttcp", "-t", "--link", "ge"))
        self.assertIn("snack", offers("scps_ttcp", "--require", ""))
        self.assertEqual(["rack"], offers("scps_ttcp", "--recovery", "r"))
        self.assertEqual(["completion_test.py"], offers("scps_ttcp", "--output", "completion"))
        self.assertEqual([], offers("scps_ttcp", "--seed", ""))
        self.assertEqual(["bash"], offers("scps_ttcp", "--completion", ""))

    @unittest.skipUnless("scps_lab" in PROGRAMS, "scps_lab is not built")
    def test_commands_and_scenarios(self):
        self.assertEqual(["report"], offers("scps_lab", "rep"))
        self.assertEqual(["geo"], offers("scps_lab", "run", "ge"))
        self.assertEqual([], offers("scps_lab", "run", "geo", "--jobs", ""))

    def test_another_shell(self):
        for p in PROGRAMS:
            said = run(os.path.join(BIN, p), "--completion", "csh")
            self.assertEqual(2, said.returncode, p)
            self.assertIn("bash", said.stderr, p)


sys.argv = sys.argv[:1] + sys.argv[3:]
unittest.main()
