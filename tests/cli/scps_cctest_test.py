#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scps_cctest, and controllers from shared objects in it, in scps_ttcp and in scps_lab.

    scps_cctest_test.py DIRECTORY_OF_PROGRAMS CC usage|results|plugin|cards|schema [unittest options]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HEAD = "scps_cctest recording 1"

BIN, CC, GROUP = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
TREE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CCTEST, TTCP, LAB = (os.path.join(BIN, p) for p in ("scps_cctest", "scps_ttcp", "scps_lab"))


def run(*words, **kw):
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL, **kw)


class Case(unittest.TestCase):
    def refused(self, said, *texts, status=2):
        self.assertEqual(status, said.returncode, said.stderr)
        self.assertEqual(1, len(said.stderr.strip().splitlines()), said.stderr)
        for t in texts:
            self.assertIn(t, said.stderr)
        self.assertEqual("", said.stdout)


class Usage(Case):
    def test_a_line_that_was_cut_off(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "rec.csv")
            head = run(CCTEST, "--cc", "vj", "--replay", "/dev/null")
            self.assertEqual(2, head.returncode, head.stderr)
            with open(path, "w", encoding="utf-8") as f:
                f.write("%s\ncontroller vj\ncall,connection,now,mss\nS,1,0,1000\nS,1,0\n" % HEAD)
            said = run(CCTEST, "--cc", "vj", "--replay", path)
            self.assertEqual(2, said.returncode, said.stdout)
            self.assertIn("line 5", said.stderr)

    def test_no_json(self):
        self.refused(run(CCTEST, "--cc", "vj", "--replay", "/dev/null", "--json"), "--json")

    def test_wrong_command_lines(self):
        for words, text in (((), "either --cc or --plugin"), (("--cc", "vj", "--plugin", "x.so"), "either"),
                            (("--cc", "reno"), "there is vj"), (("--cc", "vj,gain=1"), "no parameter"),
                            (("--cc", "vj", "--exempt", "flor"), "flor"), (("--cc", "vj", "--form", "x"), "no such form"),
                            (("--cc", "vj", "--seeds", "0"), "1 to 100000"), (("--cc", "vj", "--seeds", "-1"), "1 to 100000"),
                            (("--cc", "vj", "x"), "x is no option"), (("--cc", "vj", "--connection", "0"), "from 1 on"),
                            (("--cc", "vj", "--replay", "/nowhere"), "No such file")):
            self.refused(run(CCTEST, *words), text)
        self.assertEqual(2, run(CCTEST, "--nothing").returncode)

    def test_lists(self):
        self.assertIn("vegas-corruption", run(CCTEST, "--list").stdout)
        checks = run(CCTEST, "--list-checks").stdout
        for word in ("once", "RFC 6582", "highspeed", "RFC 3649"):
            self.assertIn(word, checks)
        self.assertIn("late-share", run(CCTEST, "--list-scores").stdout)
        self.assertIn("scps_cctest ", run(CCTEST, "--version").stdout)

    def test_a_check_that_is_not_met(self):
        bad = run(CCTEST, "--cc", "scalable", "--form", "reno", "--no-scores", "--seeds", "2")
        self.assertEqual(1, bad.returncode)
        self.assertRegex(bad.stdout, r"(?m)^  failed +growth +reno: ")
        good = run(CCTEST, "--cc", "scalable", "--form", "reno", "--no-scores", "--seeds", "2", "--exempt", "growth,response")
        self.assertEqual(0, good.returncode, good.stdout)
        self.assertRegex(good.stdout, r"(?m)^  exempt +growth +reno: ")

    def test_a_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            said = subprocess.run([CCTEST, "--list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(1, said.returncode)
        self.assertIn("standard output", said.stderr)

    def test_pictures(self):
        with tempfile.TemporaryDirectory() as d:
            for name in ("x.gif", "x.pdf", "it's.svg", "x"):  # before anything runs
                wrong = run(CCTEST, "--cc", "vj", "--no-checks", "--plot", os.path.join(d, name))
                self.assertEqual((2, ""), (wrong.returncode, wrong.stdout))
                self.assertIn(".svg or .png", wrong.stderr)
            if run("sh", "-c", "command -v gnuplot").returncode == 0:
                drawn = run(CCTEST, "--cc", "vj", "--no-checks", "--plot", os.path.join(d, "x.svg"))
                self.assertEqual(0, drawn.returncode, drawn.stderr)
                with open(os.path.join(d, "x.svg"), encoding="utf-8") as f:
                    self.assertIn("vj: two flows", f.read())


class Results(Case):
    """What follows from two runs that take some seconds: tools/check makes them with one compiler only, except in `all`."""

    def test_a_path_that_became_longer(self):
        """bbr with rtt-refresh measures the least round trip of the present path, not that of the path before, so the
        check `longer` passes."""
        said = run(CCTEST, "--cc", "bbr,rtt-refresh=1", "--no-scores", "--seeds", "5")
        self.assertEqual(0, said.returncode, said.stdout)
        self.assertRegex(said.stdout, r"(?m)^  ok +longer ")

    def test_no_gnuplot(self):
        with tempfile.TemporaryDirectory() as d:
            nowhere = run(CCTEST, "--cc", "vj", "--no-checks", "--plot", os.path.join(d, "x.svg"), env={**os.environ, "PATH": d})
            self.assertEqual(1, nowhere.returncode)
            self.assertIn("gnuplot", nowhere.stderr)


BASE = """
#include <scps/cc_plugin.h>
#include <stdlib.h>
static const struct scps_cc_param params[] = {{"gain", "x", 2, 1, 9}, {NULL, NULL, 0, 0, 0}};
static void start(void *s, const int64_t *p, const struct scps_cc_view *v, struct scps_cc_ctl *c)
{ (void)s; (void)p; c->cwnd = v->init_cwnd; }
static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a, struct scps_cc_ctl *c)
{ (void)s; (void)v; (void)a; (void)c; ACK }
static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l, struct scps_cc_ctl *c)
{ (void)s; (void)v; (void)l; (void)c; LOSS }
static const struct scps_cc_ops mine = {.name = NAME, .help = "a test", .state_size = SIZE, .params = params,
                                        .start = start, .ack = HOOK, .loss = loss};
#ifdef OTHER
OTHER
#else
SCPS_CC_PLUGIN(mine);
#endif
"""
FIELDS = "sizeof(struct scps_cc_plugin), sizeof(struct scps_cc_ops), sizeof(struct scps_cc_view), sizeof(struct scps_cc_ack), " \
         "sizeof(struct scps_cc_loss), sizeof(struct scps_cc_sent), sizeof(struct scps_cc_ctl)"


def other(abi="SCPS_CC_ABI", sizes=FIELDS, ops="&mine"):
    return "SCPS_API extern const struct scps_cc_plugin scps_cc_plugin; const struct scps_cc_plugin scps_cc_plugin = {%s, %s, %s};" % (
        abi, sizes, ops)


class Plugin(Case):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def build(self, source, name, **defines):
        macros = {"NAME": '"mine"', "SIZE": "8", "HOOK": "ack", "ACK": "", "LOSS": "", **defines}
        so = os.path.join(self.dir.name, name + ".so")
        made = subprocess.run([CC, "-shared", "-fPIC", "-w", "-x", "c", "-o", so, "-I", os.path.join(TREE, "include"), "-",
                               *("-D%s=%s" % m for m in macros.items())], input=source, text=True, capture_output=True, check=False)
        self.assertEqual(0, made.returncode, made.stderr)
        return so

    def both_refuse(self, so, *texts):
        self.refused(run(CCTEST, "--plugin", so), *texts)
        if os.access(TTCP, os.X_OK):
            self.refused(run(TTCP, "-t", "-s", "--link", "geo", "-n", "1", "--cc-plugin", so), "--cc-plugin", *texts)

    def test_westwood(self):
        with open(os.path.join(TREE, "docs/howto/examples/westwood.c"), encoding="utf-8") as f:
            so = self.build(f.read(), "westwood")
        good = run(CCTEST, "--plugin", so, "--exempt", "answer,ssthresh", "--json")
        self.assertEqual(0, good.returncode, good.stdout)
        card = {s["name"]: s["value"] for s in json.loads(good.stdout)["scores"]}
        vj = json.loads(run(CCTEST, "--cc", "vj", "--no-checks", "--json").stdout)
        reno = {s["name"]: s["value"] for s in vj["scores"]}
        self.assertGreater(card["lossy-use"], 2 * reno["lossy-use"])  # what it was invented for
        self.assertGreater(card["vj-keeps"], 80)
        bad = run(CCTEST, "--plugin", so, "--no-scores")
        self.assertEqual(1, bad.returncode)
        self.assertRegex(bad.stdout, r"(?m)^  failed +answer +seed \d+, \d actions")
        with open(so, "rb") as f:
            kept = f.read()
        self.refused(run(CCTEST, "--plugin", so + ",filter=16"), "filter=16 is out of range, allowed are 0 to 15")
        self.refused(run(CCTEST, "--plugin", so + ",filters=1"), 'no parameter "filters"; it has filter')
        if os.access(TTCP, os.X_OK):
            said = run(TTCP, "-t", "-s", "--link", "geo", "-n", "200", "--cc-plugin", so + ",filter=8", "--json")
            self.assertEqual(0, said.returncode, said.stderr)
            self.assertIn('"cc": "westwood"', said.stdout)
            self.refused(run(TTCP, "-t", "-s", "--link", "geo", "--cc-plugin", so, "--cc", "vj"), "one controller")
            for output in ("--pcap", "--qlog", "--truth", "--path-state"):
                self.refused(run(TTCP, "-t", "-s", "--link", "geo", "-n", "1", output, so, "--cc-plugin", so + ",filter=8"),
                             output, "--cc-plugin is the same file")
            with open(so, "rb") as f:
                self.assertEqual(f.read(), kept)
        if os.access(LAB, os.X_OK):
            path = os.path.join(self.dir.name, "s.ini")
            with open(path, "w", encoding="utf-8") as f:
                f.write("[scenario]\nname = s\nabout = a plug-in\n[link]\nrate = 10mbit\nrtt = 50ms\n[flow]\nsize = 2mb\n"
                        "cc-plugin = %s,filter=8\n" % so)
            said = run(LAB, "run", path)
            self.assertEqual(0, said.returncode, said.stderr)
            for output in ("--pcap", "--truth", "--events", "--series"):
                self.refused(run(LAB, "run", path, output, so), output, "cc-plugin is the same file")
            with open(path, encoding="utf-8") as f:
                plain = f.read().replace("cc-plugin", "# cc-plugin")
            with open(path + ".plain", "w", encoding="utf-8") as f:
                f.write(plain)
            self.refused(run(LAB, "run", path + ".plain", "--set", "flow.cc-plugin=" + so, "--pcap", so), "--pcap", "cc-plugin is the same file")
            with open(path + ".swept", "w", encoding="utf-8") as f:
                f.write(plain + "[sweep]\nflow.cc-plugin = %s, %s\n" % (shutil.copy(so, so + ".copy"), so))
            self.refused(run(LAB, "run", path + ".swept", "--pcap", so), "--pcap", "cc-plugin is the same file")
            # "run --qlog NAME" writes NAME-FLOW.qlog, and a sweep writes these files in the folder of --out.
            names = ["log-1.qlog", "rows.csv", "cells.csv", "scenario.ini"]
            for name in names:
                other = os.path.join(os.path.dirname(so), name)
                shutil.copy(so, other)
                options = ["sweep", path, "--out", os.path.dirname(so)] if name != names[0] else ["run", path, "--qlog", os.path.join(os.path.dirname(so), "log")]
                said = run(LAB, *options, "--set", "flow.cc-plugin=" + other)
                self.refused(said, options[2], "cc-plugin")
                with open(so, "rb") as f, open(other, "rb") as g:
                    self.assertEqual(f.read(), g.read())
                os.remove(other)
            with open(so, "rb") as f:
                self.assertEqual(f.read(), kept)
            said = run(LAB, "run", path, "--set", "flow.cc-plugin=" + so + ",filter=99")
            self.assertEqual(2, said.returncode)
            self.assertIn("filter=99 is out of range", said.stderr)

    def test_no_plugin_at_all(self):
        text = os.path.join(self.dir.name, "text.so")
        with open(text, "w", encoding="utf-8") as f:
            f.write("not an object\n")
        self.both_refuse(text, "text.so")
        self.both_refuse("nowhere.so", "nowhere.so")
        self.refused(run(CCTEST, "--plugin", ""), "FILE.so")
        self.refused(run(CCTEST, "--plugin", ",gain=2"), "FILE.so")
        self.both_refuse(self.build("int x;", "empty"), "no symbol scps_cc_plugin")

    def test_another_abi(self):
        self.both_refuse(self.build(BASE, "abi", OTHER=other(abi="SCPS_CC_ABI + 1")), "made for ABI 3", "this program has 2")
        self.both_refuse(self.build(BASE, "sizes", OTHER=other(sizes=FIELDS.replace("struct scps_cc_view)", "struct scps_cc_view) + 8"))),
                         "other sizes")
        self.both_refuse(self.build(BASE, "null", OTHER=other(ops="NULL")), "ops is NULL")

    def test_broken_structures(self):
        self.both_refuse(self.build(BASE, "noack", HOOK="NULL"), "no ack")
        self.both_refuse(self.build(BASE, "large", SIZE="100000"), "larger than SCPS_CC_STATE_MAX")
        self.both_refuse(self.build(BASE, "taken", NAME='"vj"'), "has the name vj")
        self.both_refuse(self.build(BASE, "odd", NAME='"a b"'), "no name")

    def test_hooks_that_misbehave(self):
        self.both_refuse(self.build(BASE, "crash", ACK="abort();"), "mine", "crashes")
        # Both programs give a hook five seconds (apps/common/plugin.c): one of them is waited for, with a hook that uses no processor.
        self.refused(run(CCTEST, "--plugin", self.build(BASE, "wait", LOSS="extern int pause(void); for (;;) pause();")), "mine", "does not return")
        self.both_refuse(self.build(BASE, "zero", LOSS="c->cwnd = 0;"), "mine", "nonsense", "below one segment")
        self.both_refuse(self.build(BASE, "huge", ACK="c->cwnd = UINT64_MAX - 1;"), "mine", "nonsense")
        self.both_refuse(self.build(BASE, "open", ACK="c->cwnd = SCPS_CWND_OPEN; c->rate = 0;"), "nonsense", "neither")
        self.both_refuse(self.build(BASE, "leave", ACK="extern void _exit(int); _exit(0);"), "mine", "ends the program")

    def test_objects_that_cannot_be_opened(self):
        """A shared object is opened in a child process first: what crashes there must not end the program without a word."""
        self.both_refuse(self.build(BASE + "__attribute__((constructor)) static void begin(void) { abort(); }", "begin"), "opening it crashes")
        self.both_refuse(self.build(BASE + "__attribute__((constructor)) static void begin(void) { exit(0); }", "end"), "opening it ends")
        so = self.build(BASE, "short")
        with open(so, "r+b") as f:
            f.truncate(3000)
        self.both_refuse(so, "short.so")

    def test_more_state_than_there_is_room_for(self):
        wide = "memset((char *)s + 8, 7, 8);"
        self.both_refuse(self.build("#include <string.h>\n" + BASE, "wide", ACK=wide), "mine", "writes behind its state of 8 octets")
        self.both_refuse(self.build("#include <string.h>\n" + BASE, "late", LOSS=wide), "mine", "writes behind its state of 8 octets")
        more = "#include <scps/cc.h>\nstatic size_t more(const int64_t *p) { return 505; }\n"
        self.both_refuse(self.build(more + BASE.replace(".start =", ".more_state = more, .start ="), "more"), "513 octets", "at most 512")

    def test_an_honest_bad_one_is_loaded(self):
        so = self.build(BASE, "lazy")
        said = run(CCTEST, "--plugin", so, "--no-scores", "--seeds", "5")
        self.assertEqual(1, said.returncode)
        self.assertRegex(said.stdout, r"(?m)^  failed +answer ")


class Cards(Case):
    def test_no_score_is_beyond_its_limit(self):
        """The use of the link was computed as more than 100 % when a retransmission filled a hole and released data
        that had arrived before."""
        card = json.loads(run(CCTEST, "--cc", "vj", "--no-checks", "--json").stdout)["scores"]
        limits = {(s["group"], s["name"]): s["limit"] for s in card if "limit" in s}
        self.assertGreater(len(limits), 15)
        self.assertEqual({"%"}, {s["unit"] for s in card if s.get("limit") == 100})
        self.assertEqual(len(card), sum(s["value"] is None or s["value"] <= s.get("limit", 1e9) for s in card))
        # the other controllers' are in the kept cards, which test_the_kept_ones compares with what the program prints
        names = run(CCTEST, "--list").stdout.split("\n")
        names = [n.split()[0] for n in names if n]
        self.assertGreater(len(names), 6)
        for name in names:
            with open(os.path.join(TREE, "docs", "scorecards", name + ".txt"), encoding="utf-8") as f:
                rows = re.findall(r"(?m)^  (\S+) +(\S+) +([0-9.]+|-) ", f.read().split("\nscores", 1)[1])
            self.assertEqual({(s["group"], s["name"]) for s in card}, {r[:2] for r in rows}, name)
            values = {r[:2]: float(r[2]) for r in rows if r[2] != "-"}
            self.assertEqual([], [(k, v) for k, v in values.items() if v > limits.get(k, 1e9)], name)
            self.assertGreater(values["change", "rate-down"], 90, name)

    def test_the_kept_ones(self):
        said = run(os.path.join(TREE, "tools", "scorecards"), "--check", CCTEST)
        self.assertEqual(0, said.returncode, said.stdout + said.stderr)

    def test_a_difference_is_told(self):
        """A program whose results differ from the stored ones in one figure of vj and, therefore, in the table of all
        controllers."""
        liar = os.path.join(tempfile.mkdtemp(), "scps_cctest")
        with open(liar, "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\n[ "$1" = --list ] && exec "%s" "$@"\nsed "s/ 99[.]86 / 99.87 /" "%s/docs/scorecards/$2.txt"\n' % (CCTEST, TREE))
        os.chmod(liar, 0o755)
        said = run(os.path.join(TREE, "tools", "scorecards"), "--check", liar)
        self.assertEqual(1, said.returncode)
        self.assertIn("docs/scorecards/vj.txt is out of date", said.stdout)
        self.assertIn("docs/scorecards/README.md is out of date", said.stdout)
        self.assertIn("+  alone   use                 99.87 %", said.stdout)


class Schema(Case):
    def test_documents(self):
        import jsonschema
        with open(os.path.join(TREE, "docs/schema/scps_cctest.schema.json"), encoding="utf-8") as f:
            schema = json.load(f)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for words in (("vj",), ("rate",), ("vegas-corruption", "--no-scores"), ("cubic,beta=600", "--no-checks"),
                      ("vj", "--no-scores", "--no-checks")):
            doc = json.loads(run(CCTEST, "--cc", *words, "--json", "--seeds", "3").stdout)
            validator.validate(doc)
            doc["parameters"] = []
            self.assertFalse(validator.is_valid(doc))


if GROUP == "schema":
    try:
        import jsonschema
        jsonschema.Draft202012Validator
    except (ImportError, AttributeError):
        print("skipped: python3-jsonschema with draft 2020-12 is not installed")
        sys.exit(77)
loader = unittest.TestLoader()
suite = loader.loadTestsFromTestCase({"usage": Usage, "results": Results, "plugin": Plugin, "cards": Cards, "schema": Schema}[GROUP])
sys.exit(not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful())
