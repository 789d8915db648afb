#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/REPRODUCTION.md: what the published evaluations claim, tried on our results of the same campaigns.

    reproduce.py RESULTS --doc FILE --figures DIR

RESULTS holds a folder for each campaign, as tools/reproduce makes them. lab/claims.ini has the claims, lab/claims.py judges them, the
same inequalities over the published tables and over ours."""
import argparse
import os
import re
import sys

import lablib

try:
    import claims
except ImportError as e:
    sys.exit("lab/reproduce.py: %s: install python3-pandas" % e)

K100, M1, M10, M100 = "100kb", "1mb", "10mb", "100mb"
BERS = ["0", "1e-8", "1e-7", "1e-6", "1e-5"]
CONG = ["tcp-sack", "scps-vj", "scps-vegas-congestion"]
VC, VX, F2, F0 = "scps-vegas-congestion", "scps-vegas-corruption", "scps-rate-f2", "scps-rate-f0"


def text_of(parts):
    """Returns the verdict on a claim as text, and how many of its parts hold."""
    if parts is None:
        return "not applicable"
    near = sum(ok is claims.NEAR for ok, _ in parts)
    return "%s (%d of %d%s)" % (claims.word(parts), sum(ok is True for ok, _ in parts), len(parts),
                                ", %d more within the spread" % near if near else "")


def shorten(items, n=6):
    return "; ".join(items[:n]) + (" and %d more" % (len(items) - n) if len(items) > n else "")


def figures_of(parts):
    """Returns the figures of the parts that do not hold, or else of some that do."""
    if parts is None:
        return ""
    true, near, false = ([t for ok, t in parts if ok is kind] for kind in (True, claims.NEAR, False))
    out = "not: " + shorten(false) if false else shorten(true, 3)
    if near:
        out += ("; " if out else "") + "within the spread: " + shorten(near, 3)
    return out


def write_claims(f, book, pub, did, best):
    table = claims.published_claims(os.path.join(lablib.HERE, "published"))
    rows, count = [], {"holds": 0, "within the spread": 0, "does not hold": 0, "not applicable": 0}
    for c in table:
        if c["id"] not in book.parts:
            raise claims.Mistake("lab/claims.ini has no [%s]" % c["id"])
        ours, wish, theirs = (book.judge(c["id"], side) for side in (did, best, pub))
        count[claims.word(ours)] += 1
        why = book.reason(c["id"], did, pub, claims.word(ours) != "holds") if ours else "no results of this campaign"
        rows.append("| %s | %s | %s | %s | %s | %s | %s | %s |" % tuple(x.replace("|", "/") for x in (
            c["id"], c["claim"], c["expect"], text_of(theirs) if theirs else "not in the tables", text_of(ours), figures_of(ours),
            text_of(wish) if wish else "", why)))
    f.write("Of %d claims %d hold in all their parts, %d are within the spread of the runs, %d do not hold, %d are not applicable.\n\n" %
            (len(table), count["holds"], count["within the spread"], count["does not hold"], count["not applicable"]))
    f.write("The claims are inequalities in `lab/claims.ini`; `lab/claims.py` judges them over the published tables and over ours "
            "alike.\n\n"
            "expect: R a sound implementation shows it; B the order holds and the number should be better; A an artefact of their "
            "test bed; T arithmetic. *As they did*: their windows, rates and timers. *As we would*: the same grid with this "
            "library's best settings; limits of their hosts and windows (B, A) are not expected to hold there. *Within the spread*: "
            "the means say otherwise, but would not if one side were off by twice its standard error, so that these runs neither show "
            "the claim nor contradict it. Parts of a claim are counted one by one; it holds when all do.\n\n")
    f.write("| id | claim | expect | their tables | ours, as they did | figures behind it | as we would | where we differ |\n"
            "|---|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n\n")
    return count


# ---- the figures ---------------------------------------------------------------------------------------------

def look(v, table, **axes):
    """Returns (mean, its standard error) of a cell; None if the table or the cell does not exist."""
    t = v.tables.get(table)
    row = t and t.rows.get(tuple(axes.get(a, next(iter(t.known[a]))) for a in t.axes))
    return (row["mbps"], row.get("mbps_error", 0)) if row else None


def curve(v, table, bers=tuple(BERS + ["1e-4"]), **axes):
    found = [(e, look(v, table, ber=e, **axes)) for e in bers]  # each curve has error rates of its own
    return [(lablib.plot_xs("ber", e), got[0], 1.96 * got[1]) for e, got in found if got and got[0] > 0]


def nasa_figure(path, title, pub, did, curves):
    """Draws one figure of the NASA report. curves: a list of (name, protocol, round trip, size of the transfer)."""
    series = []
    for i, (name, p, r, z) in enumerate(curves):
        which = {"table": p, "rtt": r, "size": z} if p == "mftp" else {"table": p, "rate": "40mbit", "rtt": r, "size": z} \
            if p == "mdp" else {"table": "nasa", "protocol": p, "rtt": r, "size": z}
        series += [(name, curve(did, **which), i, "ours"), (name + ", TM", curve(pub, **which), i, "theirs")]
    return lablib.draw(path, title, "bit error rate", "throughput, Mbit/s", series, ber=True)


def theory(v, table, **axes):
    rows = v.tables[table].rows
    keys = [(e, tuple({**axes, "ber": e}[a] for a in v.tables[table].axes)) for e in BERS + ["1e-4"]]
    return [(lablib.plot_xs("ber", e), rows[k]["mbps"], None) for e, k in keys if k in rows]


def figures(folder, pub, did, best):
    made = []

    def add(name, title, ok):
        if ok:
            made.append((name, title))
    short = [("SACK", "tcp-sack"), ("VJ", "scps-vj"), ("Vegas congestion", VC), ("Vegas corruption", VX)]
    path = lambda n: os.path.join(folder, n)
    series = []
    for i, r in enumerate(("10ms", "250ms", "500ms")):
        series += [("TM: rate, " + r, theory(pub, "rate", rtt=r, size=M100), i, "theirs"),
                   ("TM: TCP, " + r, theory(pub, "steady", rtt=r), i, "line"),
                   ("ours: rate, " + r, curve(best, "nasa", protocol=F2, rtt=r, size=M100), i, "ours"),
                   ("ours: VJ, " + r, curve(best, "nasa", protocol="scps-vj", rtt=r, size=M100), i + 3, "ours")]
    t = "Figure 2: theory of the TM, and this library as we would, 100 MB"
    add("figure02", t, lablib.draw(path("figure02"), t, "bit error rate", "throughput, Mbit/s", series, ber=True))
    for z in (M10, M100):
        t = "Figure 6: congestion-friendly protocols, %s, 500 ms" % z
        add("figure06-" + z, t, nasa_figure(path("figure06-" + z), t, pub, did, [(n, p, "500ms", z) for n, p in short]))
    for r in ("10ms", "250ms", "500ms"):
        t = "Figure 7: congestion-friendly protocols, 10 MB, %s" % r
        add("figure07-" + r, t, nasa_figure(path("figure07-" + r), t, pub, did, [(n, p, r, M10) for n, p in short]))
    rates = [("rate F2", F2), ("rate F0", F0), ("MDP 40 Mbit/s", "mdp"), ("MFTP", "mftp")]
    for n, r in (("08", "500ms"), ("09", "10ms")):
        t = "Figure %d: rate-based protocols, 10 MB, %s%s" % (int(n), r, " (MDP, MFTP: models)" if "mftp" in did.tables else "")
        add("figure" + n, t, nasa_figure(path("figure" + n), t, pub, did, [(a, p, r, M10) for a, p in rates]))
    if "flow-rows" in did.tables:
        rows = did.tables["flow-rows"].frame
        rows = rows[rows["copies"] == "3"]
        series = [(p, [(lablib.plot_xs("ber", e), 3 * x["mbps"].mean(), None) for e, x in of.groupby("ber", sort=False)], i, "ours")
                  for i, (p, of) in enumerate(rows.groupby("protocol", sort=False))]
        t = "Figure 10: three flows, sum of their means, 15 Mbit/s, 500 ms (the TM's curves are lost)"
        add("figure10", t, lablib.draw(path("figure10"), t, "bit error rate", "throughput, Mbit/s", series, ber=True))
    if "queue-rows" in did.tables:
        rows = did.tables["queue-rows"].frame
        rows = rows[(rows["queue"] == "200p") & (rows["protocol"] == "tcp-sack")]
        series = [(n, [(int(r), x, None) for r, x in zip(of["run"], of["mbps"])], i, "dots")
                  for i, (n, of) in enumerate(rows.groupby("flow"))]
        runs = rows["run"].astype(int).max()
        series += [("TM: least, most", [(1, 2.3, None), (runs, 2.3, None)], 6, "line"), ("", [(1, 7.9, None), (runs, 7.9, None)], 6, "line")]
        t = "Figure 11: TCP-SACK, each flow of each run, no errors, a queue of 200 packets"
        add("figure11", t, lablib.draw(path("figure11"), t, "run", "throughput, Mbit/s", series, ylog=False))
    return made


def nasa_table(f, pub, did, best):
    f.write("| protocol | RTT | file | " + " | ".join("BER " + e for e in BERS) + " |\n|---|---|---|" + "---|" * len(BERS) + "\n")
    for p in CONG + [VX, F2, F0]:
        for r in ("10ms", "250ms", "500ms"):
            for z in (K100, M1, M10, M100):
                cells = [[look(v, "nasa", protocol=p, rtt=r, size=z, ber=e) for v in (pub, did, best)] for e in BERS]
                cols = [" / ".join("%.3g" % x[0] if x else "-" for x in cell) for cell in cells]
                f.write("| %s | %s | %s | %s |\n" % (p, r, z, " | ".join(cols)))
    f.write("\n")


def campaigns(f, v, results):
    """Writes which campaigns were run, and how to run them again."""
    f.write("| campaign | result | transfers that failed or ran out of time |\n|---|---|---|\n")
    for name, meta in v:
        cells = claims.read_csv(os.path.join(results, name, "cells.csv"))
        failed = cells[cells["flow"] != "all"]["failed"].astype(int).sum()
        f.write("| %s | `%s` | %d |\n" % (name, re.sub(r" scenario=\S+| shard=\S+", "", meta), failed))


def write(results, doc, folder):
    published = os.path.join(lablib.HERE, "published")
    book = claims.Claims(os.path.join(lablib.HERE, "claims.ini"))
    pub = claims.Tables(book.config, results, published, "theirs")
    did = claims.Tables(book.config, results, published, "ours")
    best = claims.Tables(book.config, results, published, "ours", ("nasa-single-flow", "nasa-single-flow-best"))
    os.makedirs(folder, exist_ok=True)
    made = figures(folder, pub, did, best)
    rel = os.path.relpath(folder, os.path.dirname(os.path.abspath(doc)))
    with open(doc, "w", encoding="utf-8") as f:
        f.write("# The published evaluations, repeated\n\nMade by `tools/reproduce`; do not edit. Every campaign is a file in "
                "`lab/campaigns`; theirs are the values in `lab/published`.\n\n")
        campaigns(f, sorted(did.meta.items()) + sorted(best.meta.items()), results)
        f.write("\n## The claims\n\n")
        count = write_claims(f, book, pub, did, best)
        f.write("## The figures\n\nSolid: ours, bars 95 %. Dashed: the report's means. The points are beside each picture as CSV.\n\n")
        for name, title in made:
            f.write("### %s\n\n![%s](%s/%s.svg)\n\n" % (title, title, rel, name))
        f.write("## The single-flow tables\n\nMbit/s: theirs / ours as they did / ours as we would.\n\n")
        nasa_table(f, pub, did, best)
    print("%s: %s" % (doc, ", ".join("%d %s" % (n, w) for w, n in count.items())))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("results")
    a.add_argument("--doc", required=True)
    a.add_argument("--figures", required=True)
    o = a.parse_args()
    try:
        write(o.results, o.doc, o.figures)
    except (claims.Mistake, OSError) as e:
        sys.exit("lab/reproduce.py: %s" % e)


if __name__ == "__main__":
    main()
