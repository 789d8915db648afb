# SPDX-License-Identifier: MIT
"""What scps_trace says of resends, at both ends of a link, against the link's own log of what became of every packet.

At the receiver's end the capture sees a repair without its original: it is told from a segment that was merely overtaken by
the log, which knows the first copy of every octet. At the sender's end each resend has a cause, and those shown to be
needless were: an earlier copy of all their octets had been delivered. The kind of congestion controller is estimated at the
sender, where it is known here, and not at the receiver.
Usage: test_verdicts.py SCPS_TRACE (scps_ttcp beside it; skipped if it was not built)"""
import csv
import os
import struct
import subprocess
import sys
import tempfile

import checks
from checks import check, equal
from compare import SKIP, ours

#: link, options
RUNS = [
    # repairs on long and short paths
    ["geo,ber=1e-6", "-n", "1000", "--cc", "rate", "-R", "9m"],
    ["geo,loss=0.01", "-n", "300", "-G", "1", "-S"],
    ["leo,loss=0.02", "-n", "300", "-S", "--no-sack", "--cc", "vj"],
    ["moon,loss=0.01", "-n", "300", "--cc", "rate", "-R", "8m", "-M"],
    # segments that are overtaken, and segments that are lost
    ["leo,reorder=0.02,loss=0.005", "-n", "500", "--cc", "vj", "-b", "400000"],
    # With seed 1 the receiver discards two of the overtaken segments, because their TSval is below TS.Recent (RFC 7323 section
    # 5.3, R1). The link's log calls these delivered and their resends needless, but the receiver needed the resends and sends
    # no DSACK for them. With seed 3 it takes in every segment that was resent although an earlier copy had been delivered.
    ["geo,reorder=0.01,ber=1e-6", "-n", "600", "--cc", "rate", "-R", "8m", "--seed", "3"],
    # outages
    ["geo,outage=3s-6s", "-n", "1000", "--cc", "rate", "-R", "8m"],
    ["leo,ber=1e-6,outage=1s-2s", "-n", "500", "--cc", "rate", "-R", "18m"],
    ["leo,outage=1s-3s", "-n", "500", "--cc", "vj"],
    # acknowledgements that are lost, or delayed; compressed headers
    ["leo,loss-back=0.3,loss=0.05", "-n", "50", "--cc", "vj"],
    ["geo,ber=1e-6", "-n", "500", "--cc", "rate", "-R", "5m", "-F", "0"],
    ["geo,ber=1e-6", "-n", "500", "--cc", "rate", "-R", "8m", "-C"],
    # best effort: holes are given up, and acknowledged
    ["nasa250,ber=1e-4", "-n", "100", "-G", "0", "-R", "5m", "-E", "-c"],
    ["geo,loss=0.1", "-n", "200", "--cc", "rate", "-R", "5m", "-E"],
]


#: link, options: gaps only
GAPS = [
    # Without time stamps the receiver's end can tell by the time alone. The receiver answers most segments at once, so that the
    # round trip between it and the capture is 0.
    ["geo,ber=3e-6", "-n", "400", "--cc", "vj", "-M"],
    ["geo,ber=1e-6", "-n", "300", "--cc", "vegas", "-M"],
    ["geo,ber=3e-6", "-n", "300", "--cc", "cubic", "-M", "-S"],
    ["geo,loss=0.02", "-n", "300", "--cc", "vj", "-C", "-M"],
    ["leo,loss=0.05", "-n", "300", "--cc", "vj", "-M"],
    ["moon,loss=0.02", "-n", "300", "--cc", "cubic", "-M"],
    ["geo,reorder=0.02,loss=0.01", "-n", "300", "--cc", "vegas", "-M"],
    ["geo,reorder=0.02,loss=0.01", "-n", "300", "--cc", "vegas"],
    ["leo,reorder=0.02,loss=0.01", "-n", "300", "--cc", "cubic", "-M"],
    # Round trips below 3 ms; most time stamps are equal there, because they count milliseconds.
    ["lan,loss=0.02", "-n", "300", "--cc", "vj"],
    ["lan,loss=0.02", "-n", "300", "--cc", "vj", "-M", "-S"],
    ["lan,dup=0.05,loss=0.02", "-n", "300", "--cc", "cubic", "-M"],
    ["rate=100mbit,rtt=1ms,reorder=0.02", "-n", "400", "--cc", "vj", "-M"],
    # Segments are overtaken by five round trips, which shows when some arrive after their retransmission.
    ["lan,reorder=0.02", "-n", "300", "--cc", "vj", "-M"],
    ["lan,reorder=0.02,loss=0.01", "-n", "300", "--cc", "cubic"],
]


PATH = "rate=20mbit,rtt=60ms,queue=150000"
LOSS = PATH + ",loss=0.0005"
#: link, options, the hint at the sender, the decrease as the controller is defined to do it
CONTROLLERS = [
    (LOSS, ["--cc", "vj"], "slow start, halving, linear", 0.5),       # RFC 5681 equation 4
    ("geo,ber=1e-7", ["--cc", "vj"], "slow start, halving, linear", 0.5),
    (LOSS, ["--cc", "cubic"], "slow start, cubic-like", 0.7),         # RFC 9438 section 4.6
    ("geo,ber=1e-7", ["--cc", "cubic"], "slow start, cubic-like", 0.7),
    (LOSS, ["--cc", "scalable"], "slow start, scalable-like", 0.875),
    # one recovery, and recoveries that differ, do not show which controller it is
    ("rate=50mbit,rtt=200ms,queue=0.2bdp", ["--cc", "vj"], "slow start, one recovery", 0.5),
    ("rate=100mbit,rtt=40ms,queue=200p,loss=0.0001", ["--cc", "bbr"], "slow start, decrease varies", 0.74),
    (LOSS, ["--cc", "bbr"], "window falls without loss", 1),
    ("geo,ber=1e-7", ["--cc", "rate", "-R", "8m"], "flat rate, losses ignored", 1),
    ("geo", ["--cc", "rate", "-R", "8m"], "flat rate", None),
    # the queue of the bottleneck is never empty, so that the acknowledged rate is constant
    ("rate=10mbit,rtt=20ms,queue=1000000", ["--cc", "vegas"], "slow start, no loss", None),
    (PATH, ["--cc", "cubic", "--rcvbuf", "40000"], "limited by the peer's window", None),
]


def controllers(program, ttcp, near, far):
    for link, options, hint, factor in CONTROLLERS:
        what = " ".join([link] + options) + ": "
        p = subprocess.run([ttcp, "-t", "-s", "-n", "2000", "-b", "4m", "--link", link, "--pcap", near, "--pcap-peer", far, *options],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        equal(what + "exit status", p.returncode, 0)
        a = ours(program, near)["connections"][0]["a2b"]
        b = ours(program, far)["connections"][0]["a2b"]
        equal(what + "hint", a["controller_hint"], hint)
        if factor is None:
            equal(what + "decrease", a["controller_decrease"], None)
        else:
            check(what + "decrease", abs(a["controller_decrease"] - factor) < 0.05, (a["controller_decrease"], factor))
        equal(what + "hint at the receiver", (b["controller_hint"], b["controller_decrease"]), ("captured far from the sender", None))


def on_a_local_network(program, ttcp, near):
    """A path whose shortest round trip is as short as the time in which the sender's host answers, and whose usual one is the
    queue of the bottleneck: here the host is made to take 60 us for each packet that it sends."""
    p = subprocess.run([ttcp, "-t", "-s", "-n", "1000", "--link", "rate=30mbit,rtt=100us,queue=150000,loss=0.002", "--cc", "vj",
                        "--pcap", near], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    equal("local network: exit status", p.returncode, 0)
    with open(near, "rb") as f:
        data = f.read()
    equal("local network: pcap with microseconds", data[:4], b"\xd4\xc3\xb2\xa1")
    packets, at, sender = [], 24, None
    while at < len(data):
        s, us, length, _ = struct.unpack_from("<4I", data, at)
        source = data[at + 16 + 12:at + 16 + 16]  # of IPv4, without a link header
        sender = sender or source
        packets.append((s * 1000000 + us + 60 * (source == sender), data[at + 8:at + 16 + length]))
        at += 16 + length
    with open(near, "wb") as f:
        f.write(data[:24])
        for us, rest in sorted(packets, key=lambda p: p[0]):
            f.write(struct.pack("<2I", us // 1000000, us % 1000000) + rest)
    c = ours(program, near)["connections"][0]
    check("local network: both parts of the round trip are short", c["a2b"]["rtt_min"] < 3 * c["b2a"]["rtt_min"], c["a2b"]["rtt_min"])
    equal("local network: hint", c["a2b"]["controller_hint"], "slow start, halving, linear")


def without_the_syn(program, ttcp, near):
    """Windows look smaller than they are where the capture began behind the SYNs, which have their scale: what is outstanding
    then exceeds them, and they are no limit. Windows without a scale are limits as usual. The hint
    says neither, as it cannot know which it is, nor whether there was slow start."""
    for skip, link, cc, options, hint in (
            (3, LOSS, "vj", ["--rcvbuf", "4m"], "start not seen, halving, linear"),
            (3, LOSS, "vj", ["--rcvbuf", "4m", "--first-window", "0"], "start not seen, halving, linear"),
            (8000, LOSS, "vj", ["--rcvbuf", "4m"], "start not seen, halving, linear"),
            (5000, "rate=10mbit,rtt=20ms,queue=1000000", "vegas", ["--rcvbuf", "4m"], "start not seen, no loss"),
            (3, PATH, "vj", ["--rcvbuf", "20000", "--no-wscale"], "start not seen, no loss")):
        what = "without %d packets, %s %s: " % (skip, cc, " ".join(options))
        p = subprocess.run([ttcp, "-t", "-s", "-n", "2000", "-b", "4m", "--link", link, "--cc", cc, *options,
                            "--pcap", near], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        equal(what + "exit status", (p.returncode, p.stderr), (0, p.stderr))
        with open(near, "rb") as f:
            data = f.read()
        at = 24
        for _ in range(skip):  # 3: the handshake
            at += 16 + struct.unpack_from("<I", data, at + 8)[0]
        with open(near, "wb") as f:
            f.write(data[:24] + data[at:])
        a = ours(program, near)["connections"][0]["a2b"]
        equal(what + "hint", a["controller_hint"], hint)
        if link == LOSS or "--no-wscale" in options:
            check(what + "limited by the window", (a["window_limited"] > 0.5) == ("--no-wscale" in options), a["window_limited"])


def gap_fills(path):
    """Returns, from the link's log, how many gaps at the receiver were filled by a first transmission (it had been
    overtaken) and how many by a retransmission."""
    sent, arrivals, base = set(), [], None
    for r in csv.DictReader(open(path)):
        if r["direction"] != "a2b" or not int(r["payload"] or 0):
            continue
        base = int(r["seq"]) if base is None else base
        at = int(r["seq"]) - base & 0xFFFFFFFF
        if r["fate"] != "lost":
            arrivals.append((int(r["arrive_us"]), int(r["packet_no"]), at, at + int(r["payload"]), at in sent))
        sent.add(at)
    seen, top, overtaken, repairs = set(), 0, 0, 0
    for _, _, first, end, again in sorted(arrivals):
        if first < top and first not in seen:
            overtaken += not again
            repairs += again
        seen.add(first)
        top = max(top, end)
    return overtaken, repairs


def gaps(program, ttcp, near, far, truth):
    """At the sender nothing is overtaken, and nothing is missing; at the receiver's end it is as the link's log says."""
    for link, *options in GAPS:
        what = " ".join([link] + options) + ": "
        p = subprocess.run([ttcp, "-t", "-s", "--seed", "3", "--link", link, "--pcap", near, "--pcap-peer", far, "--truth", truth, *options],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        equal(what + "exit status", p.returncode, 0)
        a, b = (ours(program, x)["connections"][0]["a2b"] for x in (near, far))
        equal(what + "gaps at the sender", (a["reordered_pkts"], a["repaired_unseen_pkts"]), (0, 0))
        if "-C" in options:  # the log cannot read compressed headers
            equal(what + "overtaken", b["reordered_pkts"], 0)
        else:
            equal(what + "overtaken, repairs", (b["reordered_pkts"], b["repaired_unseen_pkts"]), gap_fills(truth))


def main():
    program = sys.argv[1]
    ttcp = os.path.join(os.path.dirname(program), "scps_ttcp")
    if not os.path.exists(ttcp):
        print("skipped: scps_ttcp is not built")
        return SKIP
    with tempfile.TemporaryDirectory() as d:
        near, far, truth = d + "/near.pcap", d + "/far.pcap", d + "/truth.csv"
        for link, *options in RUNS:
            what = " ".join([link] + options) + ": "
            p = subprocess.run([ttcp, "-t", "-s", "--link", link, "--pcap", near, "--pcap-peer", far, "--truth", truth, *options],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
            equal(what + "exit status", p.returncode, 0)
            squeezed, best_effort = "-C" in options, "-E" in options  # the log cannot read compressed headers
            a = ours(program, near, "--truth", truth)["connections"][0]["a2b"]
            b = ours(program, far, "--truth", truth)["connections"][0]["a2b"]
            # the receiver's end
            if squeezed:
                equal(what + "overtaken", b["reordered_pkts"], 0)
            else:
                equal(what + "overtaken, repairs", (b["reordered_pkts"], b["repaired_unseen_pkts"]), gap_fills(truth))
            # causes
            for end, x in (("sender", a), ("receiver", b)):
                most = (x["rexmt_data_pkts"] + x["repaired_unseen_pkts"]) // 30
                check(what + "no reason seen at the " + end, x["resent_unexplained"] <= most, (x["resent_unexplained"], most))
            # needless ones
            if not squeezed:
                shown, needless = a["spurious_ts"] + (0 if best_effort else a["spurious_dsack"]), a["truth_needless"]
                check(what + "shown to be needless", shown <= needless, (shown, needless))
                if needless and a["rexmt_data_pkts"] <= 150 and not best_effort:  # of many the last 64 are remembered
                    check(what + "found to be needless", shown >= 0.8 * needless, (shown, needless))
        gaps(program, ttcp, near, far, truth)
        controllers(program, ttcp, near, far)
        on_a_local_network(program, ttcp, near)
        without_the_syn(program, ttcp, near)
    print("%d failures" % checks.failures)
    return checks.failures > 0


sys.exit(main())
