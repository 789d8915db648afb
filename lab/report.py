#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scps_lab report: the cells of a sweep as figures (SVG, PNG) and one page, beside the published values where there are any.

    report.py DIR [--out DIR]        default: DIR/report

The bit error rate, or else the swept key with the most numbers, is the abscissa; the first key whose values are names gives
the curves, and the other keys give the panels. A sweep over names alone, such as controllers, has a point for each. The page
contains its figures.
"""
import argparse
import html
import itertools
import os
import sys

import lablib

STYLE = """body{font:15px/1.5 sans-serif;max-width:1240px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0;font-size:13px}th,td{padding:2px 9px;border-bottom:1px solid #ddd;text-align:right}
th{background:#f4f4f4;position:sticky;top:0}td.t{text-align:left}.f{display:flex;flex-wrap:wrap;gap:1em}.f figure{margin:0}
.f svg{width:600px;max-width:100%;height:auto}th.t{text-align:left}td{white-space:nowrap}
.note{color:#666}"""


def order(table):
    """Returns the axes for x, for curves and for panels."""
    axes = list(table.axes)
    numeric = [a for a in axes if all(lablib.number(v) is not None for v in table.values(a)) and len(table.values(a)) > 1]
    x = next((a for a in axes if a.endswith("ber") and a in numeric), None)
    if x is None:
        x = max(numeric, key=lambda a: len(table.values(a))) if numeric else None
    rest = [a for a in axes if a != x]
    names = [a for a in rest if a not in numeric and len(table.values(a)) > 1]
    curves = names[0] if names else None
    return x, curves, [a for a in rest if a != curves]


def theirs_of(folder, table):
    name = lablib.scenario_key(folder, "published")
    if not name:
        return {}, None
    rows = [r for r in lablib.published(name) if r.get("mbps")]
    axes = [a for a in table.axes if rows and a in rows[0]]
    if not rows or set(axes) != set(table.axes) & set(rows[0]) or len(axes) < len(table.axes):
        return {}, name
    return {tuple(r[a] for a in table.axes): (float(r["mbps"]), r.get("mbps_sd") or "") for r in rows}, name


def refuse(why):
    print("scps_lab: %s" % why, file=sys.stderr)
    sys.exit(2)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("dir")
    p.add_argument("--out")
    o = p.parse_args()
    try:
        report(o)
    except OSError as e:  # a file could not be read or written, or gnuplot not started
        remedy = "install it for figures" if e.filename == "gnuplot" else "give a folder that can be written with --out"
        refuse("%s: %s: %s" % (e.filename, e.strerror, remedy))
    except (ValueError, KeyError) as e:  # a table was edited by hand and is no longer valid
        why = "no column %s" % e if isinstance(e, KeyError) else e
        refuse("%s: %s: run the sweep again" % (os.path.join(o.dir, "cells.csv"), why))


def report(o):
    out = o.out or os.path.join(o.dir, "report")
    try:
        table = lablib.Table(os.path.join(o.dir, "cells.csv"))
    except OSError as e:
        refuse("%s: %s: give the folder of a sweep that has ended" % (e.filename, e.strerror))
    os.makedirs(out, exist_ok=True)
    theirs, source = theirs_of(o.dir, table)
    # A cell with several flows is shown by the sum of its flows
    summed = {r["cell"] for r in table.rows if r["flow"] == "all"}
    cells = {tuple(r[a] for a in table.axes): r for r in table.rows if r["flow"] == "all" or r["cell"] not in summed}
    x, curves, panels = order(table)
    figures = []
    if not x and curves:  # without an axis of numbers each name gets a point, whatever panels there are
        for n, combo in enumerate(itertools.product(*[table.values(a) for a in panels])):
            fixed = dict(zip(panels, combo))
            ours, pub, tics = [], [], []
            for i, name in enumerate(table.values(curves)):
                key = tuple(fixed.get(a, name) for a in table.axes)
                r = cells.get(key)
                tics.append((name, i))
                if r and r["mbps"]:
                    ours.append((i, float(r["mbps"]), float(r["mbps_ci95"] or 0)))
                if key in theirs and theirs[key][0] > 0:
                    pub.append((i, theirs[key][0], None))
            title = ", ".join("%s %s" % (a, v) for a, v in fixed.items()) or lablib.scenario_key(o.dir, "name") or ""
            path = os.path.join(out, "figure%02d" % (n + 1))
            if lablib.draw(path, title, curves, "goodput, Mbit/s", [("ours", ours, 0, "bars"), ("published", pub, 1, "dots")],
                           ylog=False, xtics=tics, xrange=(-0.5, len(tics) - 0.5)):
                figures.append(path)
    elif x:
        for n, combo in enumerate(itertools.product(*[table.values(a) for a in panels])):
            fixed = dict(zip(panels, combo))
            series = []
            for i, curve in enumerate(table.values(curves) if curves else [None]):
                ours, pub = [], []
                for v in table.values(x):
                    key = tuple(fixed.get(a, curve if a == curves else v) for a in table.axes)
                    r = cells.get(key)
                    if r and r["mbps"]:
                        ours.append((lablib.plot_xs(x, v), float(r["mbps"]), float(r["mbps_ci95"] or 0)))
                    if key in theirs and theirs[key][0] > 0:
                        pub.append((lablib.plot_xs(x, v), theirs[key][0], None))
                name = curve or table.axes and x or "flow"
                series += [(name, ours, i, "ours"), (name + ", published", pub, i, "theirs")]
            title = ", ".join("%s %s" % (a, v) for a, v in fixed.items()) or lablib.scenario_key(o.dir, "name") or ""
            path = os.path.join(out, "figure%02d" % (n + 1))
            spread = [lablib.number(v) for v in table.values(x)]
            if lablib.draw(path, title, "bit error rate" if x.endswith("ber") else x, "goodput, Mbit/s", series,
                           ber=x.endswith("ber"), xlog=min(spread) > 0 and max(spread) > 20 * min(spread)):
                figures.append(path)
    with open(os.path.join(out, "index.html"), "w", encoding="utf-8", errors="replace") as f:
        name = html.escape(lablib.scenario_key(o.dir, "name") or o.dir)
        f.write("<!doctype html><meta charset=utf-8><title>%s</title><style>%s</style><h1>%s</h1><p>%s</p><p class=note>%s</p>" %
                (name, STYLE, name, html.escape(lablib.scenario_key(o.dir, "about") or ""), html.escape(table.meta)))
        f.write("<p>Solid: ours, with 95 %% intervals.%s</p><div class=f>" %
                (" Dashed: published (%s)." % html.escape(source) if theirs else ""))
        for path in figures:
            with open(path + ".svg", encoding="utf-8") as svg:
                text = svg.read()
                f.write("<figure>%s</figure>" % text[text.index("<svg"):])
        f.write("</div><h2>Cells</h2><table><tr>")
        for c in table.axes + ["flow", "n", "failed", "Mbit/s", "sd", "95 %", "least", "most", "seconds", "resent %", "timeouts"]:
            f.write("<th%s>%s" % (" class=t" if c in table.axes or c == "flow" else "", html.escape(c)))
        f.write("<th>published<th>ours / published" if theirs else "")
        for r in table.rows:
            f.write("<tr>" + "".join("<td class=t>%s" % html.escape(r[a]) for a in table.axes + ["flow"]))
            for c in ["n", "failed", "mbps", "mbps_sd", "mbps_ci95", "mbps_min", "mbps_max", "seconds", "resent_pct", "timeouts"]:
                f.write("<td>%s" % (r[c] and "%.5g" % float(r[c])))
            if theirs:
                t = theirs.get(tuple(r[a] for a in table.axes))
                f.write("<td>%s<td>%s" % ("%.5g &plusmn; %s" % t if t and t[1] else "%.5g" % t[0] if t else "",
                                          "%.2f" % (float(r["mbps"]) / t[0]) if t and t[0] > 0 and r["mbps"] else ""))
        f.write("</table>")
    sys.stdout.buffer.write(os.fsencode(os.path.join(out, "index.html")) + b"\n")


if __name__ == "__main__":
    main()
