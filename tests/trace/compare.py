# SPDX-License-Identifier: MIT
"""What scps_trace, tcptrace and tshark say of a capture, in one shape: a list of connections, each a2b and b2a."""
import collections
import json
import re
import shutil
import subprocess

SKIP = 77


def have(*programs):
    missing = [p for p in programs if not shutil.which(p)]
    if missing:
        print("skipped: not installed:", ", ".join(missing))
        raise SystemExit(SKIP)


def run(args, ok=(0,)):
    p = subprocess.run(args, capture_output=True, text=True, errors="replace", timeout=600)
    if p.returncode not in ok:
        raise SystemExit("%s: exit %d: %s" % (" ".join(args), p.returncode, p.stderr[-500:]))
    return p.stdout


def ours(program, path, *options, ok=(0,)):
    return json.loads(run([program, "--json", *options, path], ok=ok))


def _text_report(out):
    """Returns, for each direction, the figures of a long report as [(label, value)]."""
    conns, cur = [], None
    for line in out.split("\n"):
        if line.startswith("TCP connection ") and line.rstrip().endswith(":") and "info" not in line:
            cur = {"a2b": [], "b2a": []}
            conns.append(cur)
        elif cur is not None and line.startswith("     ") and ":" in line:
            # an overlong number pushes the right column away
            left, right = (line[5:40], line[44:]) if ":" in line[44:] and line[40:44].isspace() else \
                re.match(r"     (.{18}\s*\S+ ?\S*)\s+(.*)", line).groups()
            for side, part in (("a2b", left), ("b2a", right)):
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
    """Returns, for each stream and direction (a2b is that of the first packet), the number of packets and of octets and
    how often each tcp.analysis flag was set."""
    fields = ["tcp.stream", "ip.src", "ipv6.src", "tcp.srcport", "tcp.len", "tcp.seq", "tcp.ack"] + ["tcp.analysis." + a for a in ANALYSIS]
    out = run(["tshark", "-r", path, "-Y", "tcp", "-T", "fields", "-E", "separator=|", "-E", "occurrence=f"]
              + [x for f in fields for x in ("-e", f)])
    streams = collections.OrderedDict()
    for line in out.splitlines():
        v = line.split("|")
        if not v[0]:
            continue
        who = (v[1] or v[2], v[3])
        s = streams.setdefault(v[0], {"a": who, "a2b": collections.Counter(), "b2a": collections.Counter()})
        d, other = (s["a2b"], s["b2a"]) if who == s["a"] else (s["b2a"], s["a2b"])
        length, seq, ack = (int(x or 0) for x in v[4:7])
        marks = {name for name, mark in zip(ANALYSIS, v[7:]) if mark}
        # an acknowledgement that the FIN overtook begins just below the next octet, too: tshark takes it for a keep-alive
        if not length and (ack < d["ack"] or other["ack"] <= seq):
            marks.discard("keep_alive")
        d["ack"] = max(d["ack"], ack)
        d["packets"] += 1
        d["bytes"] += length
        d["keep_alive_data"] += "keep_alive" in marks and length > 0
        for name in marks:
            d[name] += 1
    return list(streams.values())
