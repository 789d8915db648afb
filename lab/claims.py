# SPDX-License-Identifier: MIT
"""Judges the claims of lab/claims.ini over tables of results (pandas). The head of lab/claims.ini describes its form.

A claim has parts, one for each combination of the values under `each`. A part holds when its inequality holds for the means.
It is within the spread when it does not hold for the means but would if one side were off by twice its standard error, which is
propagated from the standard errors of the means through the formula. Otherwise it does not hold. A claim about a table
without results is not applicable. Anything else that is missing or mistyped raises Mistake, which names the section."""
import ast
import configparser
import csv
import os
import re

import pandas

import lablib

RESERVED = {"each", "holds", "show", "optional", "errors", "choose", "only", "because"}
AGGREGATES = {"max", "min", "mean", "count"}
ENOUGH = 5  # a standard error of fewer runs is not used
NEAR = "near"


class Missing(Exception):
    """Raised for a table without results: its campaign was not run, or was not part of the publication."""


class Mistake(Exception):
    """Raised for a fault in the file of claims or in a table of results."""


def short(column):
    """Returns the name that the axis of a column of a sweep's table has here: rate_back for link.rate-back."""
    return re.sub(r"^(link|flow)\.", "", column).replace("-", "_")


class Table:
    """The cells of one sweep, found by the values of their axes. A column NAME_error is the standard error of the
    column NAME."""

    def __init__(self, name, frame, axes):
        twice = frame[frame.duplicated(axes)] if axes else frame[1:]
        if len(twice):
            raise Mistake("table %s: two rows for %s" % (name, " ".join(map(str, twice.iloc[0][axes]))))
        self.name, self.axes, self.frame = name, axes, frame
        self.known = {a: set(frame[a]) for a in axes}
        self.rows = {key: row for key, row in zip(map(tuple, frame[axes].values.tolist()), frame.to_dict("records"))}

    def check(self, wanted):
        for axis, values in wanted.items():
            for v in values:
                if v not in self.known[axis]:
                    raise Mistake("table %s has no %s '%s'; it has %s" % (self.name, axis, v, " ".join(sorted(self.known[axis]))))


def read_csv(path, where=None):
    with open(path, encoding="utf-8") as f:
        frame = pandas.read_csv(f, comment="#", dtype=str, keep_default_na=False)
    frame.columns = [short(c) for c in frame.columns]
    for word in (where or "").split():
        column, value = word.split("=")
        frame = frame[frame[column] == value]
    return frame


def numeric(frame, columns):
    for c in columns:
        frame[c] = pandas.to_numeric(frame[c])
    return frame


def axes_of_sweep(frame):
    """Returns the columns of cells.csv or rows.csv between the number and the results: the swept keys, and the flow."""
    names = list(frame.columns)
    return names[names.index("flow"):names.index("n" if "n" in names else "status")]


class Tables:
    """The tables of our results, or those of the publication, against which claims are judged."""

    def __init__(self, config, folder, published, side, replace=None):
        """side: ours or theirs. folder: results of campaigns. replace: (campaign, other): only this campaign's results,
        taken from another one's folder."""
        self.tables, self.side, self.meta = {}, side, {}
        for section in config.sections():
            kind, _, name = section.partition(" ")
            if kind not in ("table", "theory"):
                continue
            s = config[section]
            try:
                if kind == "theory":
                    self.theory(name, s, published)
                elif "of" in s:
                    if s["of"] in self.tables:
                        self.derived(name, s, self.tables[s["of"]].frame.copy())
                elif side == "theirs":
                    if "published" in s:
                        self.published(name, s, published)
                else:
                    self.campaign(name, s, folder, replace)
            except (KeyError, ValueError) as e:
                raise Mistake("[%s]: %s" % (section, e)) from e

    def theory(self, name, s, published):
        frame = read_csv(os.path.join(published, s["file"]))
        axes = s["axes"].split()
        frame = numeric(frame, [c for c in frame.columns if c not in axes and c != "note"])
        if "deviation" in s:
            column, deviation = s["deviation"].split()
            frame[column + "_error"] = frame[deviation] / float(s["runs"]) ** .5
        self.tables[name] = Table(name, frame, axes)

    def published(self, name, s, published):
        frame = read_csv(os.path.join(published, s["published"]))
        frame = numeric(frame[frame["mbps"] != ""].copy(), ["mbps"])
        runs = float(s.get("published-runs", "0"))
        if "mbps_sd" in frame and runs:
            frame["mbps_error"] = pandas.to_numeric(frame["mbps_sd"]).fillna(0) / runs ** .5
        self.tables[name] = Table(name, frame, s["axes"].split())

    def campaign(self, name, s, folder, replace):
        campaign = s["campaign"]
        if replace:
            if campaign != replace[0]:
                return
            campaign = replace[1]
        path = os.path.join(folder, campaign, s.get("file", "cells.csv"))
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as f:
            self.meta[campaign] = f.readline().lstrip("# ").strip()
        frame = read_csv(path, s.get("where"))
        axes = axes_of_sweep(frame)
        if "file" in s:
            axes += ["run"]
        frame = numeric(frame[frame["mbps"] != ""].copy(), [c for c in frame.columns if c not in axes and c != "status"])
        if "n" in frame:
            frame["mbps_error"] = (frame["mbps_sd"] / frame["n"] ** .5).where(frame["n"] >= ENOUGH, 0)
        self.tables[name] = Table(name, frame, axes)

    def derived(self, name, s, frame):
        for word in s.get("where", "").split():
            column, value = word.split("=")
            if value not in set(frame[column]):
                raise Mistake("[table %s]: no %s is '%s'" % (name, column, value))
            frame = frame[frame[column] == value]
        if "pivot" in s:  # the table gets a column for each value of this axis
            axis, _, column = s["pivot"].partition(" of ")
            rest = [a for a in self.tables[s["of"]].axes if a != axis]
            frame = frame.pivot(index=rest, columns=axis, values=column).add_prefix(column + "_").reset_index()
        for line in s.get("let", "").strip().splitlines():
            new, formula = line.split("=", 1)
            frame[new.strip()] = frame.eval(formula)
        by = s["by"].split()
        wanted = dict(c.split(":") for c in s["columns"].split(","))
        out = frame.groupby(by, as_index=False).agg(**{k.strip(): tuple(reversed(v.split())) for k, v in wanted.items()})
        self.tables[name] = Table(name, out, by)


class Cell:
    """`[AGGREGATE] TABLE[.COLUMN] axis=value ...`: the cell of a table whose value a name in a formula has."""

    def __init__(self, text):
        words = text.split()
        self.aggregate = words.pop(0) if words[0] in AGGREGATES else None
        self.table, _, column = words.pop(0).partition(".")
        self.column = column or "mbps"
        self.fixed = dict(w.split("=", 1) for w in words)

    def key(self, table, axes):
        """Returns, for each axis of the table, the list of values that the cell must have one of."""
        for axis in self.fixed:
            if axis not in table.axes:
                raise Mistake("table %s has no axis %s; it has %s" % (self.table, axis, " ".join(table.axes)))
        asked = {}
        for axis in table.axes:
            if axis in self.fixed:
                asked[axis] = [v.format(**axes) for v in self.fixed[axis].split(",")]
            elif axis in axes:
                asked[axis] = [axes[axis]]
            elif len(table.known[axis]) == 1 or self.aggregate:
                asked[axis] = sorted(table.known[axis])
            else:
                raise Mistake("table %s needs a value for its axis %s" % (self.table, axis))
        table.check(asked)
        return asked

    def look(self, tables, axes):
        """Returns (value, its standard error) of the cell; None if the table has no such cell."""
        if self.table not in tables.tables:
            raise Missing(self.table)
        table = tables.tables[self.table]
        asked = self.key(table, axes)
        if not self.aggregate:
            many = [a for a, v in asked.items() if len(v) > 1]
            if many:
                raise Mistake("table %s: several values of %s, and no aggregate" % (self.table, " ".join(many)))
            row = table.rows.get(tuple(asked[a][0] for a in table.axes))
            if row is None:
                return None
            if self.column not in row:
                raise Mistake("table %s has no column %s" % (self.table, self.column))
            return float(row[self.column]), float(row.get(self.column + "_error", 0))
        frame = table.frame
        for axis, values in asked.items():
            frame = frame[frame[axis].isin(values)]
        if not len(frame):
            return None
        if self.aggregate == "count":
            return float(len(frame)), 0.0
        if self.column not in frame:
            raise Mistake("table %s has no column %s" % (self.table, self.column))
        values, errors = frame[self.column], frame.get(self.column + "_error")
        if self.aggregate == "mean":
            if errors is None:  # the table has the rows of single runs, not their means
                return float(values.mean()), float(values.std() / len(values) ** .5) if len(values) >= ENOUGH else 0.0
            return float(values.mean()), float((errors ** 2).sum() ** .5 / len(values))
        at = values.idxmax() if self.aggregate == "max" else values.idxmin()
        return float(values[at]), 0.0 if errors is None else float(errors[at])


class Formula:
    """An arithmetic expression over names."""

    FUNCTIONS = {"max": max, "min": min, "abs": abs}

    def __init__(self, text):
        tree = ast.parse(text.strip(), mode="eval")
        for node in ast.walk(tree):
            if not isinstance(node, (ast.Expression, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Name, ast.Load, ast.Constant,
                                     ast.Call)):
                raise Mistake("'%s' is no arithmetic" % text.strip())
        self.code = compile(tree, text, "eval")

    def value(self, names):
        try:
            # __init__ has checked that the expression has arithmetic only
            return eval(self.code, {"__builtins__": {}}, {**self.FUNCTIONS, **names})
        except NameError as e:
            raise Mistake(str(e)) from e


def inequalities(text):
    """Splits `a < b <= c` into [(a, b), (b, c)]. An inequality holds if the difference of its pair is not negative."""
    out = []
    for line in text.strip().splitlines():
        tree = ast.parse(line.strip(), mode="eval").body
        if not isinstance(tree, ast.Compare):
            raise Mistake("'%s' is no inequality" % line.strip())
        sides = [tree.left] + tree.comparators
        for a, op, b in zip(sides, tree.ops, sides[1:]):
            if isinstance(op, (ast.Gt, ast.GtE)):
                a, b = b, a
            elif not isinstance(op, (ast.Lt, ast.LtE)):
                raise Mistake("'%s': only <, <=, > and >= are judged" % line.strip())
            out.append((Formula(ast.unparse(a)), Formula(ast.unparse(b)), isinstance(op, (ast.Lt, ast.Gt))))
    return out


class Part:
    """A section of lab/claims.ini. It holds the parts of a claim that have the same formula for different values."""

    def __init__(self, section, s):
        self.section, self.id = section, section.split()[0]
        self.cells, self.lets = {}, {}
        for key, text in s.items():
            kind, _, name = key.partition(" ")
            if kind == "cell":
                self.cells[name] = Cell(text)
            elif kind == "let":
                self.lets[name] = Formula(text)
            elif key not in RESERVED:
                raise Mistake("unknown key '%s'" % key)
        self.each = [self.axis(line) for line in s.get("each", "").strip().splitlines()]
        self.holds = inequalities(s["holds"])
        self.show = s["show"]
        self.optional = s.getboolean("optional", False)
        self.errors = float(s.get("errors", 0))
        self.choose = s.get("choose")
        self.only = s.get("only")

    @staticmethod
    def axis(line):
        names, _, values = line.partition(":")
        names = names.split()
        out = [dict(zip(names, v.split())) for v in values.split(",")]
        if any(len(o) != len(names) for o in out):
            raise Mistake("each '%s': every alternative has %d words" % (line.strip(), len(names)))
        return out

    def combinations(self, tables):
        if self.only:  # the part is about every cell of a table
            if self.only not in tables.tables:
                raise Missing(self.only)
            t = tables.tables[self.only]
            return [dict(zip(t.axes, key)) for key in t.rows]
        out = [{}]
        for alternatives in self.each:
            out = [{**o, **a} for o in out for a in alternatives]
        return out

    def names(self, tables, axes):
        """Returns the values of all names for one combination of axes, and the standard errors of those that are
        means."""
        values, errors = {"ours": float(tables.side == "ours")}, {}
        for axis, text in axes.items():
            n = lablib.number(text)
            if n is not None:
                values[axis + "_n"] = n
        for name, cell in self.cells.items():
            found = cell.look(tables, axes)
            if found is None:
                return None
            values[name], errors[name] = found
        return values, errors

    def complete(self, values):
        values = dict(values)
        for name, formula in self.lets.items():
            values[name] = formula.value(values)
        return values

    def judge(self, tables, fixed):
        """Returns [(verdict, text)] for all combinations of axes; a verdict is True, False or NEAR."""
        out = []
        for axes in self.combinations(tables):
            axes = {**axes, **fixed}
            got = self.names(tables, axes)
            if got is None:
                if self.optional:
                    continue
                raise Mistake("there is no such cell: %s" % " ".join(axes.values()))
            base, errors = got
            full = self.complete(base)
            verdict = True
            for low, high, strict in self.holds:
                margin = high.value(full) - low.value(full)
                if margin > 0 or (margin == 0 and not strict):
                    continue
                off = 0.0
                for name, error in errors.items():
                    if error:
                        moved = self.complete({**base, name: base[name] + error})
                        off += (high.value(moved) - low.value(moved) - margin) ** 2
                if margin + self.errors * off ** .5 >= 0 and self.errors:
                    continue
                verdict = NEAR if verdict and margin + 2 * off ** .5 > 0 else False
            try:
                out.append((verdict, self.show.format(**axes, **full)))
            except (KeyError, ValueError) as e:
                raise Mistake("show: %s" % e) from e
        return out


class Claims:
    """The contents of lab/claims.ini, checked when the file is read."""

    def __init__(self, path):
        self.config = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",), strict=True)
        self.config.optionxform = str
        try:
            with open(path, encoding="utf-8") as f:
                self.config.read_file(f)
        except configparser.Error as e:
            raise Mistake(str(e).replace("\n", " ")) from e
        self.parts, self.reasons = {}, {}
        for section in self.config.sections():
            try:
                self.take(section, self.config[section])
            except (KeyError, ValueError, SyntaxError, Mistake) as e:
                raise Mistake("%s: [%s]: %s" % (path, section, e)) from e

    def take(self, section, s):
        kind = section.split()[0]
        if kind in ("table", "theory"):
            return
        if kind == "because":
            cells = {k.split()[1]: Cell(t) for k, t in s.items() if k.startswith("cell ")}
            lets = {k.split()[1]: Formula(t) for k, t in s.items() if k.startswith("let ")}
            unknown = [k for k in s if k.split()[0] not in ("cell", "let", "text", "always")]
            if unknown:
                raise Mistake("unknown key '%s'" % unknown[0])
            self.reasons[section.split()[1]] = (cells, lets, " ".join(s["text"].split()), s.getboolean("always", False))
        else:
            part = Part(section, s)
            self.parts.setdefault(part.id, []).append(part)

    def choice(self, part, tables):
        """Evaluates `choose = AXIS of ID ...`. Returns {AXIS: value} with the value at which most parts of these claims
        hold."""
        axis, _, ids = part.choose.partition(" of ")
        table = next(iter(part.cells.values())).table
        if table not in tables.tables:
            raise Missing(table)
        values = sorted(tables.tables[table].known[axis], key=lambda t: float(re.match(r"[0-9.]*", t)[0] or 0))
        return max(({axis: v} for v in values), key=lambda fixed: sum(
            ok is True for i in ids.split() for p in self.parts[i] for ok, _ in p.judge(tables, fixed)))

    def judge(self, claim, tables):
        """Returns [(verdict, text)] of all parts of a claim; None if none of its tables has results."""
        out = []
        for part in self.parts[claim]:
            try:
                out += part.judge(tables, self.choice(part, tables) if part.choose else {})
            except Missing:
                continue
            except (Mistake, ZeroDivisionError, TypeError) as e:
                raise Mistake("claim [%s]: %s" % (part.section, e)) from e
        return out or None

    def reason(self, claim, tables, theirs, differs):
        """Returns the text that says why this library's results differ from the published ones, with its figures computed. A cell
        of a table `theirs:NAME` is taken from the publication."""
        if claim not in self.reasons:
            return ""
        cells, lets, text, always = self.reasons[claim]
        if not always and not differs:
            return ""
        values = {}
        try:
            for name, cell in cells.items():
                side = tables
                if cell.table.startswith("theirs:"):
                    side, cell = theirs, Cell("%s %s.%s %s" % (cell.aggregate or "", cell.table[7:], cell.column,
                                                             " ".join("%s=%s" % i for i in cell.fixed.items())))
                found = cell.look(side, {})
                if found is None:
                    raise Mistake("cell %s: there is no such cell" % name)
                values[name] = found[0]
                values[name + "_error"] = found[1]
            for name, formula in lets.items():
                values[name] = formula.value(values)
            return text.format(**values)
        except Missing as e:
            raise Mistake("reason [because %s]: table %s has no results" % (claim, e)) from e
        except (Mistake, KeyError, ValueError, ZeroDivisionError) as e:
            raise Mistake("reason [because %s]: %s" % (claim, e)) from e


def word(parts):
    """Returns the verdict on a claim: `holds`, `within the spread`, `does not hold` or `not applicable`."""
    if parts is None:
        return "not applicable"
    if all(ok is True for ok, _ in parts):
        return "holds"
    return "does not hold" if any(ok is False for ok, _ in parts) else "within the spread"


def published_claims(published):
    with open(os.path.join(published, "claims.csv"), encoding="utf-8") as f:
        return list(csv.DictReader(f))
