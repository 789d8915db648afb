# SPDX-License-Identifier: MIT
"""What scps_trace, tcptrace and tshark say of a capture, in one shape: a list of connections, each a2b and b2a."""
import collections
import json
import shutil
import subprocess

SKIP = 77


def have(*programs):
    missing = [p for p in programs if not shutil.which(p)]
    if missing:
        print("skipped: not installed:", ", ".join(missing))
        raise SystemExit(SKIP)


def run(args, ok=(0,)):
    p = subprocess.run(args, capture_output=True, text=True, errors="replace", timeout=300)
    if p.returncode not in ok:
        raise SystemExit("%s: exit %d: %s" % (" ".join(args), p.returncode, p.stderr[-500:]))
    return p.stdout


def ours(program, path, *options, ok=(0,)):
    return json.loads(run([program, "--json", *options, path], ok=ok))


def _text_report(out):
    """The figures of a long report: [(label, value)] a direction."""
    conns, cur = [], None
    for line in out.split("\n"):
        if line.startswith("TCP connection ") and line.rstrip().endswith(":") and "info" not in line:
            cur = {"a2b": [], "b2a": []}
            conns.append(cur)
        elif cur is not None and line.startswith("     ") and ":" in line:
            for side, part in (("a2b", line[5:40]), ("b2a", line[44:])):
                if ":" in part:
                    cur[side].append((part[:18].strip().rstrip(":"), part[18:].strip()))
    return conns


def tcptrace_text(path):
    return _text_report(run(["tcptrace", "-nlrW", path]))


def ours_text(program, path):
    return _text_report(run([program, "-lrWt", "--idle-split", "240", path]))


def snake(label):
    s = "".join(c.lower() if c.isalnum() else " " for c in label)
    return "_".join(s.split())


ANALYSIS = ["retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order", "duplicate_ack",
            "zero_window", "window_full", "keep_alive", "window_update", "ack_lost_segment", "lost_segment"]


def tshark(path):
    """Per stream and direction (of the first packet: a2b): packets, octets and counts of tcp.analysis marks."""
    fields = ["tcp.stream", "ip.src", "ipv6.src", "tcp.srcport", "tcp.len"] + ["tcp.analysis." + a for a in ANALYSIS]
    out = run(["tshark", "-r", path, "-Y", "tcp", "-T", "fields", "-E", "separator=|", "-E", "occurrence=f"]
              + [x for f in fields for x in ("-e", f)])
    streams = collections.OrderedDict()
    for line in out.splitlines():
        v = line.split("|")
        if not v[0]:
            continue
        who = (v[1] or v[2], v[3])
        s = streams.setdefault(v[0], {"a": who, "a2b": collections.Counter(), "b2a": collections.Counter()})
        d = s["a2b" if who == s["a"] else "b2a"]
        d["packets"] += 1
        d["bytes"] += int(v[4] or 0)
        for name, mark in zip(ANALYSIS, v[5:]):
            d[name] += bool(mark)
    return list(streams.values())
