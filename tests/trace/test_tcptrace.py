# SPDX-License-Identifier: MIT
"""Every figure of tcptrace's long report equals ours, field by field, on a capture of each situation.

Counts are to be equal exactly. tcptrace divides by n + 0.0001 for averages, so those may differ by one in 10 000, and
by the last printed digit. The differences that remain are listed here with their reasons; docs/SCPS_TRACE.md explains
them. Usage: test_tcptrace.py SCPS_TRACE [CAPTURE...]
"""
import functools
import os
import re
import sys
import tempfile

import cases
from compare import have, ours, ours_text, run, snake, tcptrace_text

SIDES = ("a2b", "b2a")
#: a line of scps_trace -p: time, connection, side, flags, sequence number, end, acknowledgement
PACKET = re.compile(r"(-?[\d.]+) +(\d+) (a2b|b2a) .*: \[(.*)\] seq (-?\d+)(?::(-?\d+))?(?: ack (-?\d+))?")

#: (case, label): why tcptrace is not to be believed there
KNOWN = {
    ("wrap", "max owin"): "not reduced modulo 2^32",
    ("wrap", "avg owin"): "not reduced modulo 2^32",
    ("wrap", "wavg owin"): "not reduced modulo 2^32",
    ("ipv6_extensions", None): "counts extension headers as payload",
}
OWIN = {"max owin": 0, "avg owin": 1, "wavg owin": 2}


def number(s):
    try:
        return float(s.split()[0])
    except (ValueError, IndexError):
        return None


def same(label, theirs, our):
    if theirs.split() == our.split():
        return True
    x, y = number(theirs), number(our)
    if x is None or y is None:
        return False
    if label == "throughput":
        return abs(x - y) <= 1
    if "." in theirs.split()[0]:
        return abs(x - y) <= 0.1001 + 1.01e-4 * abs(x)
    return False


def compare(program, name, path):
    a, b, bad, fields = tcptrace_text(path), ours_text(program, path), 0, 0
    if len(a) != len(b):
        print("%s: tcptrace has %d connections, we %d" % (name, len(a), len(b)))
        return 1, 0
    for n, (x, y) in enumerate(zip(a, b), 1):
        for side in ("a2b", "b2a"):
            if len(x[side]) != len(y[side]):
                print("%s: connection %d %s: different fields" % (name, n, side))
                bad += 1
            seen = {}
            mine = {}
            for k, v in y[side]:
                mine.setdefault(k, []).append(v)
            for k, v in x[side]:
                i = seen[k] = seen.get(k, -1) + 1
                fields += 1
                w = mine.get(k, [])
                if i < len(w) and same(k, v, w[i]):
                    continue
                if (name, k) in KNOWN or (name, None) in KNOWN or (k in OWIN and unreduced(program, path, n, side, k, v)):
                    continue
                print("%s: connection %d %s: %s: tcptrace %r, we %r" % (name, n, side, k, v, w[i:i + 1]))
                bad += 1
    return bad, fields


def unreduced(program, path, number, side, label, theirs):
    """Returns true if this figure of outstanding data is the one that tcptrace's formula yields in 64 bits for a
    segment that ends below the acknowledgement number. That occurs when data is retransmitted after it was acknowledged
    and the capture has missed the first transmission."""
    want = owin_in_64_bits(program, path)[number][side]
    if want is None:
        return False
    got = float(theirs.split()[0])
    return abs(got - want[OWIN[label]]) <= 1 + 2e-4 * want[OWIN[label]]


@functools.lru_cache(maxsize=1)
def owin_in_64_bits(program, path):
    """Returns {connection: {side: (maximum, mean, mean over time) of outstanding data, computed as tcptrace does; None
    if no difference is negative}}."""
    conns = {}
    for line in run([program, "-p", "--idle-split", "240", path]).splitlines():
        m = PACKET.match(line)
        if not m:
            continue
        at, flags, seq, end, ack = float(m[1]), m[4], int(m[5]), int(m[6] or m[5]), m[7] and int(m[7])
        c = conns.setdefault(int(m[2]), {s: dict(ack=None, v=[], last=at, wsum=0) for s in SIDES})
        h, o = c[m[3]], c[SIDES[m[3] == "a2b"]]
        c.setdefault("first", at)
        c["last"] = at
        if "S" in flags:
            o["ack"] = seq
        if "R" in flags:
            continue
        if ack is not None:
            h["ack"] = ack
        if "S" in flags or " resent" in line or " out-of-order" in line:
            continue
        v = (end - seq if o["ack"] is None else end - o["ack"] + 1) % 2**64
        if h["v"]:
            h["wsum"] += int(h["v"][-1] * (at - h["last"]))
        h["v"].append(v)
        h["last"] = at
    result = {}
    for n, c in conns.items():
        r = result[n] = {}
        for s in SIDES:
            v, time = c[s]["v"], c["last"] - c["first"]
            r[s] = (max(v), sum(v) % 2**64 / len(v), c[s]["wsum"] % 2**64 / time) if v and max(v) >= 2**32 and time else None
    return result


def json_agrees(program, path):
    """Checks that the JSON report has each figure of the text report, under its label in snake case."""
    text, doc, bad = ours_text(program, path), ours(program, path, "--idle-split", "240"), 0
    for x, y in zip(text, doc["connections"]):
        for side in ("a2b", "b2a"):
            for label, value in x[side]:
                if "WARNING" in label:
                    continue
                key = snake(label)
                if key == "initial_window":
                    key += "_bytes" if "bytes" in value else "_pkts"
                key = {"max_retrans": "max_retrans"}.get(key, key)
                if key not in y[side]:
                    print("JSON lacks", key)
                    bad += 1
                    continue
                v, t = y[side][key], value.split()[0]
                if v is None:
                    ok = t == "NA"
                elif isinstance(v, str):
                    ok = v == t
                else:
                    ok = abs(float(v) - float(t)) <= (0.0501 if "." in t else 0.501 if isinstance(v, float) else 0)
                if not ok:
                    print("JSON %s: %r, text %r" % (key, v, value))
                    bad += 1
    return bad


def main():
    program = sys.argv[1]
    have("tcptrace")
    bad = fields = 0
    with tempfile.TemporaryDirectory() as d:
        if len(sys.argv) > 2:
            todo = [(os.path.basename(p), p) for p in sys.argv[2:]]
        else:
            todo = [(n, make().write(os.path.join(d, n + ".pcap"))) for n, make in cases.TCPTRACE.items()]
            # the same packets in every flavour of file
            c = cases.resends()
            todo += [("swapped", c.write(d + "/swapped.pcap", swap=True)),
                     ("nano", c.write(d + "/nano.pcap", nano=True)),
                     ("nano_swapped", c.write(d + "/nano_swapped.pcap", nano=True, swap=True))]
        for name, path in todo:
            b, f = compare(program, name, path)
            b += json_agrees(program, path)
            bad += b
            fields += f
    print("%d captures, %d fields compared, %d differences" % (len(todo), fields, bad))
    return bad > 0


sys.exit(main())
