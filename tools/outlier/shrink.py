# SPDX-License-Identifier: MIT
"""Makes a finding small: the fewest options and keys, the least data and the roundest numbers that still show it."""
import math

from outlier import judge, relations

KEEP = {"rate", "rtt"}
PATIENCE = 400  # attempts


def rounded(x, digits=1):
    return type(x)(float("%.*g" % (digits, x)))


def smaller(case):
    """Yields cases that are simpler than this one by one step, the largest steps first."""
    for key in list(case.opts):
        d = case.copy()
        del d.opts[key]
        yield d
    for key in list(case.link):
        if key not in KEEP:
            d = case.copy()
            del d.link[key]
            yield d
    for k in (16, 4, 2):
        if case.blocks >= k:
            d = case.copy()
            d.blocks //= k
            yield d
    spans = case.link.get("outage", [])
    for i in range(len(spans) if len(spans) > 1 else 0):
        d = case.copy()
        d.link["outage"] = spans[:i] + spans[i + 1:]
        yield d
    if case.size != 8192:
        d = case.copy()
        d.size, d.blocks = 8192, max(1, case.bytes // 8192)
        yield d
    for digits in (1, 2):
        for key, value in list(case.link.items()):
            d = case.copy()
            if isinstance(value, (int, float)) and value != rounded(value, digits):
                d.link[key] = rounded(value, digits)
            elif key == "burst" and value != tuple(rounded(v, digits) for v in value):
                d.link[key] = tuple(rounded(v, digits) for v in value)
            elif key == "outage":
                d.link[key] = [(rounded(a, digits + 1), rounded(b, digits + 1)) for a, b in value]
                if d.link[key] == value or any(a >= b for a, b in d.link[key]):
                    continue
            else:
                continue
            yield d
        for key in ("-R", "-b", "--route-rate", "--first-window"):
            if key in case.opts and int(case.opts[key]) != rounded(int(case.opts[key]), digits):
                d = case.copy()
                d.opts[key] = rounded(int(case.opts[key]), digits)
                yield d
        if case.blocks != rounded(case.blocks, digits):
            d = case.copy()
            d.blocks = rounded(case.blocks, digits)
            yield d
    if case.rtt > 1000000:
        d = case.copy()
        d.link["rtt"] = 600000
        yield d


def shrink(runner, case, finding):
    """Returns the smallest finding that is about as bad as this one. case: the case from which the finding was
    drawn."""
    def again(c):
        try:
            if finding.other is None:
                return judge.confirm_single(runner, c, finding.kind)
            made = relations.RELATIONS[finding.relation][1](c)
            return made and judge.confirm_pair(runner, judge.Pair(finding.relation, *made), 1.0, seeds=12)
        except ValueError:  # scps_ttcp refuses the reduced command line
            return None

    least = finding.factor if finding.factor < 2 else max(2, finding.factor / 3)
    if math.isinf(finding.factor):
        least = 0
    least = min(least, 50)
    left, changed = PATIENCE, True
    while changed and left > 0:
        changed = False
        for d in smaller(case):
            left -= 1
            if left <= 0:
                break
            f = again(d)
            if f and f.kind == finding.kind and f.factor >= 0.9 * least:
                case, finding, changed = d, f, True
                break
    return finding
