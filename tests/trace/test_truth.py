# SPDX-License-Identifier: MIT
"""--truth: a sender, a channel that loses for known reasons, and the log of it; what scps_trace makes of the pair must
be what the simulation here knows, exactly. Usage: test_truth.py SCPS_TRACE"""
import random
import subprocess
import sys
import tempfile

import checks
from capgen import *
from checks import equal
from compare import ours


class Channel:
    """Data segments through a lossy channel; keeps the log and the expected verdicts."""

    def __init__(self, cap, seed, isn):
        self.c, self.r = cap, random.Random(seed)
        self.rows, self.no = [], 0
        self.copies = {}  # first octet -> causes of the copies, None: delivered
        self.want = dict(needed=0, needless=0, corruption=0, queue=0, outage=0, other=0)
        self.t = Talk(cap, isn_a=isn, opt_a=mss(1012) + sack_ok(), opt_b=mss(1012) + sack_ok(), ts_on=True, t0=1.7e9,
                      rtt=0.2).open()

    def send(self, off, loss):
        t = self.t
        seq = self.base + off
        before = self.copies.setdefault(off, [])
        if before:
            if None in before:
                self.want["needless"] += 1
            else:
                self.want["needed"] += 1
                self.want[before[-1]] += 1
        before.append(loss)
        self.no += 1
        cause = {None: "none", "corruption": self.r.choice(["ber", "burst", "flip"]), "queue": "queue",
                 "outage": "outage", "other": "loss"}[loss]
        self.rows.append("%d,a2b,%d,%s,%s,%d,%s,%s,%d,%d,%d,%d" % (
            round(t.t * 1e6) + 40, self.no, "delivered" if loss is None else "lost", cause, 1052, t.a.ip, t.b.ip, t.a.port,
            t.b.port, seq & 0xFFFFFFFF, 1000))
        t.send(t.a, 1000, seq=seq)

    def run(self, n):
        t, r = self.t, self.r
        self.base = t.s[t.a]
        kinds = ["corruption", "queue", "outage", "other"]
        pending = []
        for i in range(n):
            loss = r.choice(kinds) if r.random() < 0.08 else None
            self.send(1000 * i, loss)
            if loss or r.random() < 0.03:  # some are sent again for nothing
                pending.append(1000 * i)
            if pending and r.random() < 0.3:
                off = pending.pop(0)
                again = r.choice(kinds) if r.random() < 0.2 else None
                self.send(off, again)
                if again:
                    pending.append(off)
        while pending:
            t.t += 0.3
            off = pending.pop(0)
            self.send(off, None)
        t.s[t.a] = self.base + 1000 * n
        t.acked(t.b)
        t.close()


def network_copies(program, d):
    """A capture behind a channel that delivers a segment twice, which the log has in one row: nothing was resent."""
    c = Capture()
    t = Talk(c, rtt=0.1).open()
    log = "time_us,fate,cause,seq,payload\n"
    for i in range(6):
        x = t.send(t.a, 1000, ident=500 + i)
        if i == 3:
            c.add(t.t + 0.0001, c.packets[-1][1][14:])
        log += "%d,%s,none,%d,1000\n" % (t.t * 1e6, "duplicated" if i == 3 else "delivered", x)
        t.t += 0.1
        t.acked(t.b)
    t.close()
    with open(d + "/copies.csv", "w") as f:
        f.write(log)
    a = ours(program, c.write(d + "/copies.pcap"), "--truth", d + "/copies.csv")["connections"][0]["a2b"]
    got = {k: a["truth_" + k] for k in ("needed", "needless", "lost_other", "unmatched")}
    equal("copies by the network", got, {"needed": 0, "needless": 0, "lost_other": 0, "unmatched": 0})


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as d:
        for seed, isn in ((1, 1000), (2, 2**31), (3, 2**32 - 150000), (4, 2**30 - 100000)):
            c = Capture()
            ch = Channel(c, seed, isn)
            ch.run(400)
            path = c.write(d + "/x.pcap")
            head = "time_us,direction,packet_no,fate,cause,ip_len,src,dst,sport,dport,seq,payload"
            for version in ("full", "shuffled", "without addresses"):
                rows = list(ch.rows)
                if version == "full":
                    h = head
                elif version == "shuffled":  # other columns, another order
                    h = "seq,extra,payload,cause,fate,time_us,dport,sport,dst,src"
                    rows = [",".join((f[10], "x", f[11], f[4], f[3], f[0], f[9], f[8], f[7], f[6]))
                            for f in (x.split(",") for x in rows)]
                else:
                    h = "time_us,fate,cause,seq,payload"
                    rows = [",".join((f[0], f[3], f[4], f[10], f[11])) for f in (x.split(",") for x in rows)]
                with open(d + "/t.csv", "w") as f:
                    f.write(h + "\n" + "\n".join(rows) + "\n")
                a = ours(program, path, "--truth", d + "/t.csv")["connections"][0]["a2b"]
                got = dict(needed=a["truth_needed"], needless=a["truth_needless"], corruption=a["truth_lost_corruption"],
                           queue=a["truth_lost_queue"], outage=a["truth_lost_outage"], other=a["truth_lost_other"])
                equal("seed %d, %s" % (seed, version), got, ch.want)
                equal("all matched", a["truth_unmatched"], 0)
                equal("as many as were resent", a["truth_needed"] + a["truth_needless"], a["rexmt_data_pkts"])
            a = ours(program, path)["connections"][0]["a2b"]
            equal("null without --truth", (a["truth_needed"], a["truth_unmatched"]), (None, None))
        for text in ("", "a,b\n1,2\n", "time_us,fate,cause,seq,payload\n1,delivered\n", "time_us,fate,cause,seq,payload\nx,lost,ber,1,2\n"):
            with open(d + "/bad.csv", "w") as f:
                f.write(text)
            p = subprocess.run([program, "--truth", d + "/bad.csv", path], capture_output=True)
            equal("bad log: exit 2, one line", (p.returncode, p.stderr.count(b"\n")), (2, 1))
        network_copies(program, d)
    print("%d failures" % checks.failures)
    return checks.failures > 0


sys.exit(main())
