#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/EVALUATION.md: the controllers on published satellite tests, handovers, NASA's grid, and beside each other.

    lab/evaluate.py RESULTS [--doc FILE]

RESULTS has a folder for each campaign: for c in CAMPAIGNS; do scps_lab sweep $c --out RESULTS/$c; done, where CAMPAIGNS are
far-path second-connection satloss etosat leo-handovers nasa-told-nothing fairness latecomers coexistence bbr-share. Each figure is the mean of the
campaign's runs and its standard error; a campaign without results is left out, and its name is printed.
"""
import argparse
import collections
import csv
import math
import os
import sys

CC = ["vj", "highspeed", "scalable", "cubic", "hybla", "vegas", "vegas-corruption", "bbr", "bbr-long"]
FAIR = ["vj", "highspeed", "scalable", "cubic", "hybla", "vegas", "vegas-fair", "vegas-corruption", "bbr"]
QUEUES, RTTS = ["0.1bdp", "1bdp", "4bdp"], ["10ms", "100ms", "600ms"]
HEAD = """<!-- SPDX-License-Identifier: MIT -->
# The controllers evaluated

Written by `lab/evaluate.py`, see there; each heading names its campaign, `lab/campaigns/NAME.ini`, which says what the path is:

```
for c in far-path second-connection satloss etosat leo-handovers nasa-told-nothing fairness latecomers coexistence bbr-share; do scps_lab sweep $c --out R/$c; done
lab/evaluate.py R --doc docs/EVALUATION.md
```

Virtual time is exact: the same commit prints the same figures on each machine. Means and standard errors over the seeds. No controller is configured with
the rate or with the cause of losses, except `vegas-corruption`, which takes losses for corruption, and `rate` on the far path.
`bbr-long` is `bbr,long-rtt-start=1`, `bbr-rounds` and `bbr-long-rounds` are these with `probe-rtt-rounds=8`, which the draft does not have, `vegas-fair` is `vegas,alpha=4,beta=4`. What to choose: [howto/which-controller.md](howto/which-controller.md).
The last section is in real time, and has a command of its own. BBR on long links with losses, on outages and with option 23: [CONTROLLERS.md](CONTROLLERS.md).
"""


class Rows:
    """The runs of a campaign, whose figures are selected by the values of the swept keys."""

    def __init__(self, folder):
        with open(os.path.join(folder, "rows.csv"), encoding="utf-8", newline="") as f:
            self.stamp = f.readline().strip("# \n")
            self.rows = list(csv.DictReader(f))
        names = list(self.rows[0])
        self.axes = names[names.index("flow") + 1:names.index("status")]

    def each(self, **want):
        """Returns the rows of each run of the cells that match `want`, one list for each run."""
        want = {k.replace("__", "."): v for k, v in want.items()}
        runs = collections.defaultdict(list)
        for r in self.rows:
            if all(r[k] == v for k, v in want.items()):
                runs[r["cell"], r["run"]].append(r)
        return list(runs.values())

    def stat(self, what, **want):
        values = [v for v in (what(run) for run in self.each(**want)) if v is not None]
        if not values:
            return None
        mean = sum(values) / len(values)
        sd = math.sqrt(sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1))
        return mean, sd / math.sqrt(len(values))


def seconds(run):
    return float(run[0]["seconds"]) if run[0]["status"] == "ok" else None


def mbps(run):
    return float(run[0]["mbps"]) if run[0]["status"] == "ok" else None


def rates(run):
    return [float(r["mbps"]) for r in run]


def jain(run):
    x = rates(run)
    return sum(x) ** 2 / (len(x) * sum(v * v for v in x)) if sum(x) else None


def total(run):
    return sum(rates(run))


def second(run):
    """Returns the second flow's goodput as a percentage of half of the goodput of both flows."""
    return 200 * float(run[1]["mbps"]) / total(run)


def show(s, digits=2):
    return "-" if s is None else "%.*f ± %.*f" % (digits, s[0], digits, s[1])


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "| --- |" + " ---: |" * (len(head) - 1)
    for r in rows:
        yield "| " + " | ".join(r) + " |"
    yield ""


def etosat(d):
    paths = ["basic", "loss", "jitter", "medium", "small", "small-up"]
    yield "Seconds for 100 MB until the sender knows that all arrived, 600 ms, 10 seeds. Not measured here: the limits that picoquic's own tests"
    yield "give its BBR (CUBIC), and those of draft-jones-tsvwg-transport-for-satellite."
    yield ""
    yield from table(["controller", "250/3 Mbit/s", "the same, 1/64 lost", "3 ms jitter", "50/10 Mbit/s", "10/2 Mbit/s", "2/10 Mbit/s"],
                     [["*picoquic's limit*", "6.3 (11)", "8.0 (12.1)", "6.2", "18", "81", "400"], ["*the draft's*", "7", "10", "7", "20", "85", "420"]] +
                     [[c] + [show(d.stat(seconds, path=p, cc=c)) for p in paths] for c in CC])


def satloss(d):
    yield "Seconds for 10 MiB over 20 Mbit/s and 2 Mbit/s back, 600 ms, 20 seeds. The best of arXiv 2202.08228 with losses is picoquic to"
    yield "picoquic: slightly more than 7 s."
    yield ""
    yield from table(["controller", "no losses", "1 % lost"], [[c] + [show(d.stat(seconds, link__loss=p, cc=c)) for p in ("0", "0.01")] for c in CC])


def far_path(d):
    yield "Seconds for 100 MB over 10 Mbit/s and 120 s there and back, one run (nothing is by chance). picoquic gives NewReno 500 s, where the peer is"
    yield "known: the 81 s of the data, 120 s for the handshake and as much for each further flight."
    yield ""
    yield from table(["controller", "first connection, s"], [[c, "%.0f" % d.stat(seconds, cc=c)[0]] for c in CC + ["bbr-rounds", "bbr-long-rounds", "rate"] if d.stat(seconds, cc=c)])


def second_connection(d):
    yield "Seconds for 100 MB until the sender knows, of the first connection of a path and of a second one that begins with what the first found out"
    yield "(careful resume, RFC 9959); the receiver has the last byte half a round trip before, 0.3 and 60 s. picoquic gives its seeded BBR 4.8 s on the"
    yield "first path, its NewReno 500 s on the second."
    yield ""

    def of(flow):
        return lambda run: next((float(r["seconds"]) for r in run if r["flow"] == flow and r["status"] == "ok"), None)
    yield from table(["controller", "250/3 Mbit/s, 600 ms: first", "second", "10 Mbit/s, 120 s: first", "second"],
                     [[c] + [show(d.stat(of(f), path=p, cc=c)) for p in ("fast", "far") for f in ("first", "second")]
                      for c in ("vj", "cubic", "hybla", "vegas", "bbr-long-rounds")])


def handovers(d):
    yield "Mbit/s over two minutes; the satellite changes every 15 s, and the rate is 72.5 Mbit/s in the mean (69.1 of payload). 5 seeds."
    yield ""
    yield from table(["controller", "no gap", "gaps of 50 ms", "gaps of 200 ms"],
                     [[c] + [show(d.stat(mbps, gaps=g, cc=c)) for g in ("none", "quiet", "rough")] for c in CC])


def nasa(d):
    bers = ["0", "1e-8", "1e-7", "1e-6", "1e-5"]
    yield "Mbit/s of a transfer of 10 MB over 100 Mbit/s, its beginning and end in it. 10 seeds."
    yield ""
    for rtt in ("10ms", "250ms", "500ms"):
        yield from table([rtt] + ["BER " + b for b in bers], [[c] + [show(d.stat(mbps, link__rtt=rtt, link__ber=b, cc=c)) for b in bers] for c in CC])


def grid():
    return [(r, q) for r in RTTS for q in QUEUES]


def fairness(d):
    yield "Jain's index of 2, 4 and 8 flows of one controller over 10 Mbit/s that begin within two seconds, 200 s, mean of 3 seeds (standard errors are"
    yield "below 0.03 unless given), and below it the sum of the flows, Mbit/s (9.54 is all)."
    yield ""

    def cell(c, r, q, what):
        out = []
        for n in ("2", "4", "8"):
            s = d.stat(what, link__rtt=r, link__queue=q, cc=c, flow__copies=n)
            out.append("%.2f" % s[0] + (" ± %.2f" % s[1] if what is jain and s[1] >= 0.03 else ""))
        return " / ".join(out)
    for what in (jain, total):
        yield from table(["controller"] + ["%s, %s" % (r, q.upper()) for r, q in grid()], [[c] + [cell(c, r, q, what) for r, q in grid()] for c in FAIR])


def latecomers(d):
    yield "What a second flow of the same controller gets that comes 60 s late, until second 200; per cent of a fair share, where the first flow's share is"
    yield "over all its 200 s, so with perfect sharing the second has 86."
    yield ""

    def late(run):
        first, last = sorted(run, key=lambda r: r["flow"])
        return 200 * float(last["mbps"]) / (float(first["mbps"]) + float(last["mbps"]))
    yield from table(["controller"] + ["%s, %s" % (r, q.upper()) for r, q in grid()],
                     [[c] + [show(d.stat(late, link__rtt=r, link__queue=q, cc=c), 0) for r, q in grid()] for c in FAIR])


def coexistence(d):
    yield "What is left to a flow of `vj`, `cubic` and `bbr` beside one flow of each controller: per cent of half of what both had; 100 is fair,"
    yield "below 30 is starved. 10 Mbit/s, 200 s, 3 seeds."
    yield ""
    for other in ("vj", "cubic", "bbr"):
        yield from table(["left to %s beside" % other] + ["%s, %s" % (r, q.upper()) for r, q in grid()],
                         [[c] + [show(d.stat(second, link__rtt=r, link__queue=q, cc=c, flow__two__cc=other), 0) for r, q in grid()] for c in FAIR])


def bbr_share(d):
    yield "BBR beside CUBIC and beside itself, 20 Mbit/s, 120 s, both begin within two seconds, 20 seeds. What the second flow keeps is in per cent of"
    yield "half of what both had. `bbr-waits` is `bbr,probe-bw-rounds=20,probe-rtt-rounds=30`: what it does and why is in [CONTROLLERS.md](CONTROLLERS.md)."
    yield ""

    def of(i):
        return lambda run: rates(run)[i]
    names = {"bbr": "bbr", "cubic": "cubic", "rounds": "bbr-waits"}
    yield from table(["pair", "round trip, queue", "the first, Mbit/s", "the second, Mbit/s", "it keeps, %", "Jain's index"],
                     [[" beside ".join(names[x] for x in reversed(c.split("-"))), "%s, %s" % (r, q.upper())] +
                      [show(d.stat(f, link__rtt=r, link__queue=q, pair=c), n)
                       for f, n in ((of(0), 2), (of(1), 2), (second, 1), (jain, 3))]
                      for c in ("bbr-cubic", "bbr-bbr", "rounds-cubic", "rounds-rounds") for r in ("50ms", "500ms") for q in ("1bdp", "0.1bdp")])


SECTIONS = [("etosat", "etosat: the satellite tests of the IETF draft and of picoquic", etosat), ("satloss", "satloss: arXiv 2202.08228", satloss),
            ("far-path", "far-path: two minutes there and back", far_path),
            ("second-connection", "second-connection: careful resume", second_connection),
            ("leo-handovers", "leo-handovers: a low orbit", handovers),
            ("nasa-told-nothing", "nasa-told-nothing: NASA's grid", nasa), ("fairness", "fairness", fairness), ("latecomers", "latecomers", latecomers),
            ("coexistence", "coexistence", coexistence), ("bbr-share", "bbr-share: BBR beside CUBIC and beside itself", bbr_share)]
KEPT = "## In real time: "  # the document is written by hand from this heading on


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("results")
    p.add_argument("--doc")
    a = p.parse_args()
    lines, missing = [HEAD], []
    for name, title, section in SECTIONS:
        folder = os.path.join(a.results, name)
        if not os.path.exists(os.path.join(folder, "rows.csv")):
            missing.append(name)
            continue
        d = Rows(folder)
        lines += ["## " + title, ""] + list(section(d)) + ["`%s`" % d.stamp, ""]
    if missing:
        print("evaluate.py: no results of " + ", ".join(missing), file=sys.stderr)
    text = "\n".join(lines).rstrip("\n") + "\n"
    if a.doc:
        if os.path.exists(a.doc):
            with open(a.doc, encoding="utf-8") as f:
                head, kept, tail = f.read().partition(KEPT)
            text += kept and "\n" + kept + tail
        with open(a.doc, "w", encoding="utf-8") as f:
            f.write(text)
    else:
        sys.stdout.write(text)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
