# SPDX-License-Identifier: MIT
"""The list of explained findings, docs/outliers.list.

A line is an entry: a name, a colon, conditions that all hold, '#', the reason. A condition is

    relation=undo,rack        one of these, or single
    kind=slow                 one of these
    factor<3                  NUMBER<VALUE or NUMBER>VALUE, numbers as in facts() below
    with:--pacing with:burst  an option or a key of the link is given, at the better of the two or at the single run
    less:-S                   it is not
    cc=vj,cubic               the controller is one of these"""
import re


def facts(finding):
    c = finding.other or finding.better
    flight = max(1, len(c.link.get("outage", []))) * min(c.bytes, c.window, c.bdp + c.rate / 8)
    return {
        "return_load": finding.better.return_load, "room": c.window / (c.bdp + c.queue),
        "flights": finding.factor * c.bytes / flight,
        "factor": finding.factor, "more": finding.more, "loss": c.loss(c.full), "loss_back": c.loss(80, back=True), "segments": c.segments,
        "window": c.window / c.payload, "queue": c.queue / c.full, "bdp": c.bdp / c.full, "asymmetry": c.rate / c.rate_back,
        "rtt": c.round_trip / 1e6, "rate": c.rate, "outages": len(c.link.get("outage", [])),
        "ack_delay_rtts": finding.better.ack_delay / c.rtt,
    }


class Entry:
    def __init__(self, name, conditions, reason):
        self.name, self.conditions, self.reason = name, conditions, reason

    def explains(self, finding):
        numbers = facts(finding)
        case = finding.better
        given = set(case.opts) | set(case.link)
        for word in self.conditions:
            m = re.fullmatch(r"(\w+)([<>])([\d.e+-]+)", word)
            if m:
                value, limit = numbers[m[1]], float(m[3])
                good = value < limit if m[2] == "<" else value > limit
            elif word.startswith(("with:", "less:")):
                good = (word[5:] in given) == word.startswith("with:")
            else:
                key, values = word.split("=", 1)
                mine = {"relation": finding.relation, "kind": finding.kind, "cc": case.controller}[key]
                good = mine in values.split(",")
            if not good:
                return False
        return True


def check(entry):
    """Returns an error message for a faulty entry, or None."""
    names = {"factor", "more", "loss", "loss_back", "segments", "window", "queue", "bdp", "asymmetry", "rtt", "rate", "outages",
             "ack_delay_rtts", "return_load", "room", "flights"}
    for word in entry.conditions:
        m = re.fullmatch(r"(\w+)[<>][\d.e+-]+", word)
        if m and m[1] in names or re.fullmatch(r"(relation|kind|cc)=\S+|(with|less):\S+", word):
            continue
        return "%s: not a condition" % word
    return None


def read(path):
    """Returns the entries of the list. Raises ValueError with the number of a faulty line."""
    entries = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if not line.strip() or line.startswith("#"):
                continue
            head, mark, reason = line.partition("#")
            name, colon, conditions = head.partition(":")
            entry = Entry(name.strip(), conditions.split(), reason.strip())
            wrong = check(entry)
            if not mark or not colon or not entry.reason or wrong:
                raise ValueError("%s:%d: %s: give NAME: CONDITION... # REASON" % (path, number, wrong or "incomplete"))
            entries.append(entry)
    return entries
