# SPDX-License-Identifier: MIT
"""What scps_trace, tcptrace and tshark say of a capture, in one shape: a list of connections, each a2b and b2a."""
import atexit
import collections
import json
import os
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


FIELDS = ["tcp.stream", "ip.src", "ipv6.src", "tcp.srcport", "tcp.len", "tcp.seq", "tcp.ack"] + ["tcp.analysis." + a for a in ANALYSIS]


class Sharkd:
    """The dissectors of tshark in one process for many captures; most of the time of a tshark goes into its start."""

    def __init__(self):
        self.process, self.id = None, 0

    def ask(self, method, **params):
        if not self.process:
            self.process = subprocess.Popen(["sharkd", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            atexit.register(self.process.communicate)  # it ends with its input
        self.id += 1
        print(json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        if "result" not in answer:
            raise SystemExit("sharkd: %s %s: %s" % (method, params, answer))
        return answer["result"]

    def rows(self, path):
        self.ask("load", file=os.path.abspath(path))
        columns = {"column%d" % i: f + ":1" for i, f in enumerate(FIELDS)}  # :1 is the first field of a packet
        # no filter: sharkd would apply what it found for the same filter in the capture before
        return [frame["c"] for frame in self.ask("frames", **columns)]


SHARKD = Sharkd()


def tshark(path):
    """Returns, for each stream and direction (a2b is that of the first packet), the number of packets and of octets and
    how often each tcp.analysis flag was set."""
    if shutil.which("sharkd"):
        rows = SHARKD.rows(path)
    else:
        out = run(["tshark", "-r", path, "-Y", "tcp", "-T", "fields", "-E", "separator=|", "-E", "occurrence=f"]
                  + [x for f in FIELDS for x in ("-e", f)])
        rows = [line.split("|") for line in out.splitlines()]
    streams = collections.OrderedDict()
    for v in rows:
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
