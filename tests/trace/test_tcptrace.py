# SPDX-License-Identifier: MIT
"""Every figure of tcptrace's long report equals ours, field by field, on a capture of each situation.

Counts are to be equal exactly. tcptrace divides by n + 0.0001 for averages, so those may differ by one in 10 000, and
by the last printed digit. The differences that remain are listed here with their reasons; docs/TRACE.md explains
them. Usage: test_tcptrace.py SCPS_TRACE [CAPTURE...]
"""
import os
import sys
import tempfile

import cases
from compare import have, ours, ours_text, snake, tcptrace_text

#: (case, label): why tcptrace is not to be believed there
KNOWN = {
    ("wrap", "max owin"): "not reduced modulo 2^32",
    ("wrap", "avg owin"): "not reduced modulo 2^32",
    ("wrap", "wavg owin"): "not reduced modulo 2^32",
    ("ipv6_extensions", None): "counts extension headers as payload",
}


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
            if len(x[side]) != len(y[side]) and not known(name, x[side]):
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
                if (name, k) in KNOWN or (name, None) in KNOWN or known(name, [(k, v)]):
                    continue
                print("%s: connection %d %s: %s: tcptrace %r, we %r" % (name, n, side, k, v, w[i:i + 1]))
                bad += 1
    return bad, fields


def known(name, fields):
    """tcptrace's overlong numbers shift the columns of its own report."""
    return name == "wrap" and any("owi" in k or "owi" in v for k, v in fields)


def json_agrees(program, path):
    """The JSON says what the text says, under the label in snake case."""
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
