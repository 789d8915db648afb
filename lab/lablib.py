# SPDX-License-Identifier: MIT
"""Results and published values as tables, and gnuplot: what report.py and reproduce.py share."""
import csv
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ZERO_BER = 1e-9  # a bit error rate of 0 is drawn here on a logarithmic axis
COLOURS = ["#1b6ca8", "#c0392b", "#1e8449", "#7d3c98", "#b9770e", "#16a085", "#5d6d7e", "#884ea0"]
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1024, "mib": 2**20,
         "kbit": 1e3, "mbit": 1e6, "gbit": 1e9, "": 1}


def number(text):
    """Returns the value of a number with a unit: 0.25 for "250ms", 1e7 for "10mb"; None if the text is not a number."""
    m = re.fullmatch(r"([0-9.]+(?:[eE][-+]?[0-9]+)?)([a-z]*)", text)
    return float(m[1]) * UNITS[m[2]] if m and m[2] in UNITS else None


class Table:
    """The contents of rows.csv or cells.csv of a sweep. Raises ValueError if the file is neither."""

    def __init__(self, path):
        # Octets of a name that are not UTF-8 are shown as U+FFFD, as scps_trace shows them: a scenario may have any name.
        with open(path, encoding="utf-8", errors="replace") as f:
            self.meta = f.readline().lstrip("# ").strip()
            self.rows = list(csv.DictReader(f))
        cols = list(self.rows[0]) if self.rows else []
        end = "status" if "status" in cols else "n"
        if "flow" not in cols or end not in cols or any(None in r.values() or None in r for r in self.rows):
            raise ValueError("not a result of scps_lab")
        self.axes = cols[cols.index("flow") + 1:cols.index(end)]

    def values(self, axis):
        seen = []
        for r in self.rows:
            if r[axis] not in seen:
                seen.append(r[axis])
        return seen


def published(name):
    with open(os.path.join(HERE, "published", name), encoding="utf-8") as f:
        return list(csv.DictReader(f))


def scenario_key(folder, key):
    """Returns the value of a key in the [scenario] section that is kept with the results; None if it is not there."""
    try:
        with open(os.path.join(folder, "scenario.ini"), encoding="utf-8", errors="replace") as f:
            m = re.search(r"^%s\s*=\s*(.*?)\s*$" % key, f.read(), re.M)
            return m[1] if m else None
    except OSError:
        return None


def quoted(text):
    """Returns the text as a quoted string of gnuplot."""
    return "'%s'" % text.replace("'", "''").replace("\n", " ")


def plot_xs(axis, text):
    v = number(text)
    return ZERO_BER if v == 0 and axis.endswith("ber") else v


def draw(path, title, xlabel, ylabel, series, xlog=False, ylog=True, ber=False, size=(860, 480), xtics=None,
         xrange=None):
    """Writes a graph as path.svg and path.png, and its figures as path.csv. series: a list of (title, [(x, y, standard
    error or None)], index of the colour, style). style: ours, theirs, line, dots or bars (dots with error bars)."""
    with open(path + ".csv", "w", encoding="utf-8") as f:
        f.write("series,x,y,error\n")
        for name, points, _, _ in series:
            for x, y, e in points:
                f.write("%s,%g,%g,%g\n" % (name.replace(",", ";"), x, y, e or 0))
    head = ["set grid lc rgb '#dddddd'", "set border lc rgb '#555555'", "set title %s noenhanced" % quoted(title),
            "set xlabel %s noenhanced" % quoted(xlabel), "set ylabel %s noenhanced" % quoted(ylabel),
            "set key outside right top noenhanced samplen 2 spacing 1.1"]
    ys = [y for _, pts, _, _ in series for _, y, _ in pts if y > 0]
    if ylog and ys and max(ys) > 5 * min(ys):
        head += ["set logscale y", "set format y '%g'"]
    else:
        head.append("set yrange [0:*]")
    if ber:
        head += ["set logscale x", "set xrange [5e-10:2e-4]",
                 "set xtics ('0' 1e-9, '1e-8' 1e-8, '1e-7' 1e-7, '1e-6' 1e-6, '1e-5' 1e-5, '1e-4' 1e-4)"]
    elif xlog:
        head.append("set logscale x")
    if xrange:
        head.append("set xrange [%g:%g]" % xrange)
    if xtics:
        head.append("set xtics (%s)" % ", ".join("%s %g" % (quoted(t), x) for t, x in xtics))
    plots, data = [], []
    for name, points, colour, style in series:
        c = COLOURS[colour % len(COLOURS)]
        if not points:
            continue
        if style == "ours":
            plots.append("'-' using 1:2:3 with yerrorlines lc rgb '%s' lw 2 pt 7 ps 0.6 title %s" % (c, quoted(name)))
        elif style == "bars":
            plots.append("'-' using 1:2:3 with yerrorbars lc rgb '%s' lw 2 pt 7 ps 0.8 title %s" % (c, quoted(name)))
        elif style == "theirs":
            plots.append("'-' using 1:2 with linespoints lc rgb '%s' dt 2 lw 1.5 pt 6 ps 0.8 title %s" % (c, quoted(name)))
        elif style == "dots":
            plots.append("'-' using 1:2 with points lc rgb '%s' pt 7 ps 0.6 title %s" % (c, quoted(name)))
        else:
            plots.append("'-' using 1:2 with lines lc rgb '%s' lw 1.2 dt 3 title %s" % (c, quoted(name)))
        # An error bar must not reach zero on a logarithmic axis.
        data.append("\n".join("%g %g %g" % (x, y, min(e or 0, 0.95 * y)) for x, y, e in sorted(points)) + "\ne")
    if not plots:
        return False
    script = []
    for term, ext in (("svg size %d,%d dynamic font 'sans,12' background 'white'" % size, "svg"),
                      ("pngcairo size %d,%d font 'sans,10' background 'white'" % size, "png")):
        script += ["set terminal " + term, "set output " + quoted(os.path.abspath("%s.%s" % (path, ext)))] + head + ["plot " + ", ".join(plots)] + data
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", universal_newlines=True, check=True)
    return True
