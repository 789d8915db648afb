#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/outliers: its command line, that its result depends on the seed alone, and that it sees what it is made to see.

    outliers_test.py SOURCE SCPS_TTCP"""
import json
import os
import subprocess
import sys
import tempfile

SOURCE, TTCP = map(os.path.abspath, sys.argv[1:3])
TOOL = os.path.join(SOURCE, "tools", "outliers")
sys.path.insert(0, os.path.join(SOURCE, "tools"))
from outlier import judge, known, relations, shrink  # noqa: E402
from outlier.case import Case  # noqa: E402
from outlier.runner import Result, Runner  # noqa: E402


def tool(*words):
    p = subprocess.run([sys.executable, "-B", TOOL, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=300)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def build(folder):
    """Makes a build directory that contains the program under test."""
    os.makedirs(os.path.join(folder, "bin"))
    os.symlink(TTCP, os.path.join(folder, "bin", "scps_ttcp"))
    return folder


def wants(got, status, *texts):
    assert got[0] == status, got
    for text in texts:
        assert text in got[1] + got[2], (text, got)


class Slow(Runner):
    """A runner in which transfers with selective acknowledgements take ten times as long."""

    def run(self, case, seed, cap):
        x = super().run(case, seed, cap)
        if "--no-sack" not in case.opts:
            x.seconds *= 10
        return x


def main():
    with tempfile.TemporaryDirectory() as tmp:
        real = build(os.path.join(tmp, "real"))
        wants(tool("--build", os.path.join(tmp, "none")), 2, "none/bin/scps_ttcp is not there: build first")
        wants(tool("--build", real, "--only", "snak"), 2, "--only snak: no such relation; --list shows them")
        wants(tool("--build", real, "--pairs", "0"), 2, "--pairs and --jobs: give a number above 0")
        wants(tool("--list"), 0, "snack\n", "undo\n")
        listed = os.path.join(tmp, "list")
        for line, text in (("a: relation=snack", "incomplete: give NAME"), ("a: colour<3 # no", "colour<3: not a condition")):
            with open(listed, "w", encoding="utf-8") as f:
                f.write("# comment\n" + line + "\n")
            wants(tool("--build", real, "--known", listed), 2, "list:2: ", text)
        with open(listed, "w", encoding="utf-8") as f:
            f.write("sacks: relation=sack factor<50 less:--no-sack # slow by design\n")

        # The result does not depend on the number of processes.
        docs = []
        for jobs in ("1", "3"):
            out = os.path.join(tmp, "out" + jobs)
            got = tool("--build", real, "--pairs", "20", "--seed", "5", "--jobs", jobs, "--out", out, "--known", listed, "--quiet",
                       "--no-shrink")
            assert got[0] in (0, 1), got
            with open(out, encoding="utf-8") as f:
                docs.append([json.loads(line) for line in f])
        assert docs[0] == docs[1]
        assert sum(d["what"] == "pair" for d in docs[0]) == 20

        # A slow transfer is found, reduced to few options, and reported unless the list of known findings explains it.
        runner = Slow(TTCP)
        case = Case({"rate": 1234567, "rtt": 54321, "queue": "31p"}, {"-m": 1006, "--ecn": None}, 8192, 10)
        pair = judge.Pair("sack", *relations.RELATIONS["sack"][1](case))
        found = judge.confirm_pair(runner, pair, 10.0)
        assert found.kind == "slow" and 9 < found.factor < 10.1, found.factor
        small = shrink.shrink(runner, case, found)
        assert small.better.opts == {} and set(small.better.link) == {"rate", "rtt"}, small.better.text()
        assert small.other.opts == {"--no-sack": None}
        assert known.read(listed)[0].explains(small)
        assert not judge.confirm_pair(Runner(TTCP), pair, 10.0)

        # The bounds count packets of records, what an acknowledgement releases, timers, and late segments that count as lost.
        thin = {"rate": 174439, "rtt": 469, "rate-back": 970, "queue": "3p"}
        case = Case(thin, {"-m": 1280, "-c": None, "--record-size": 100}, 8192, 37)
        assert case.packets == 37 * 82
        assert Case(thin, {"-m": 128, "-c": None}, 88, 10).packets == 20
        pair = judge.Pair("records", *relations.RELATIONS["records"][1](case))
        assert 11 < pair.packets < 12 and 360 < case.released < 365 and case.released <= case.limit()
        assert Case(thin, {"--pacing": None}, 8192, 37).released == 0
        assert pair.factor(12.5 * 40, 40) < 1.1
        fast = Case({"rate": 10 ** 7, "rtt": 1000}, {}, 8192, 1)
        pair = judge.Pair("wscale", fast, fast, 0)
        assert not pair.worst(0.7, 0.01) and pair.worst(0.9, 0.01)
        late = Case({"rate": 10 ** 6, "rtt": 10 ** 6, "reorder": 0.01, "reorder-delay": 2 * 10 ** 6}, {}, 8192, 100)
        assert relations.RELATIONS["bets"][1](late)[2] == late.goal(0.01) > late.goal()
        late.link["reorder-delay"] = 10 ** 6
        assert relations.RELATIONS["bets"][1](late)[2] == relations.RELATIONS["snack"][1](late)[2] == 0
        late.opts["-M"] = None
        assert relations.RELATIONS["snack"][1](late)[2] > 0

        # Relations that change the line or the round trip keep the queue of each direction; a number of packets stays.
        case = Case({"rate": 8000000, "rtt": 1000000, "rate-back": 80000, "queue": "0.5bdp"}, {}, 8192, 100)
        better = relations.RELATIONS["shorter"][1](case)[0]
        assert (better.link["queue"], better.link["queue-back"]) == ("500000", "5000"), better.link
        assert relations.RELATIONS["queue"][1](case)[0].link["queue"] == "1bdp"
        case.link["queue"] = "3p"
        assert relations.RELATIONS["line"][1](case)[0].link["queue"] == "3p"
        assert relations.RELATIONS["queue"][1](case)[0].link["queue"] == "6p"

        # A path that changes once has the queue of the other in bytes, and its round trip before or after the change.
        case.opts["--cc"], case.link["queue"] = "vegas", "0.5bdp"
        first = relations.RELATIONS["shorter-first"][1](case)[0].link
        assert first["queue"] == "500000" and first["change"][1][0] <= 0.5 and first["change"][1][1] == 1, first
        assert ",delays=0s:" in relations.RELATIONS["shorter-later"][1](case)[0].spec()
        case.opts["--cc"] = "cubic"
        assert relations.RELATIONS["shorter-first"][1](case) is None
        del case.opts["--cc"]
        case.link["queue"] = "3p"

        # Data in both directions over a link that is the same in both; the reverse direction may take what its losses cost.
        both, plain, more = relations.RELATIONS["two-way"][1](Case({"rate": 8000000, "rtt": 1000000, "rate-back": 80000, "loss": 0.01}, {}, 8192, 100))
        assert "--bidir" in both.opts and "--bidir" not in plain.opts and "rate-back" not in both.link and more == plain.goal() > 0
        assert relations.RELATIONS["two-way"][1](Case({"rate": 8000000, "rtt": 1000000}, {"-e": None}, 8192, 100)) is None

        # A sender that does not know the round trip; within a second the first timeout is longer.
        blind, told, more = relations.RELATIONS["rtt-unknown"][1](Case({"rate": 8000000, "rtt": 6000000}, {"--rtt": 3}, 8192, 100))
        assert blind.opts["--rtt"] == 0 and "--rtt" not in told.opts and more == 4
        assert relations.RELATIONS["rtt-unknown"][1](Case({"rate": 8000000, "rtt": 600000}, {}, 8192, 100)) is None

        # The neighbourhood of a link without jitter has less than the smallest packet's time of it; a given jitter stays.
        near = case.near(1)
        assert (near.link["jitter"], near.link["jitter-back"]) == (46, 4600), near.link
        case.link["jitter"] = 5
        assert case.near(1).link["jitter"] == 5 and "jitter-back" not in case.near(1).link

        # A run in which best effort gives up data is not better for being shorter.
        half = Result("done", 10.0, share=0.5)
        pair = judge.Pair("rack", fast, fast, 0)
        assert half.whole == 20 and not pair.suspicious(Result("done", 20.0), half) and pair.suspicious(Result("done", 20.0), Result("done", 10.0))

        # A kept case passes within its time and fails beyond it.
        kept = os.path.join(tmp, "kept")
        with open(kept, "w", encoding="utf-8") as f:
            f.write("# comment\n2 0 scps_ttcp -t -s --hollow --link leo -n 100\n")
        wants(tool("--build", real, "--replay", kept), 0, "1 of 1 kept cases hold")
        with open(kept, "a", encoding="utf-8") as f:
            f.write("0.001 0 scps_ttcp -t -s --hollow --link leo -n 100\n")
        wants(tool("--build", real, "--replay", kept), 1, "FAILED: done", "1 of 2 kept cases hold")
    return 0


sys.exit(main())
