# SPDX-License-Identifier: MIT
"""Where tshark's tcp.analysis means the same as ours, it counts the same; and SCPS options decode alike.

Not compared, because they mean something else (docs/SCPS_TRACE.md): duplicate_ack (tshark wants no outstanding data and
lets the acknowledgement end anywhere), ack_lost_segment, fast and spurious retransmission (ours have causes).
Usage: test_tshark.py SCPS_TRACE [CAPTURE...]
"""
import os
import sys
import tempfile

import cases
from compare import have, ours, tshark

#: why a case is left out
SKIP_CASE = {"ipv6_null": "tshark does not know Linux's address family 10 there"}


def check(program, name, path):
    a, b, bad, fields = ours(program, path)["connections"], tshark(path), 0, 0
    if len(a) != len(b):
        print("%s: tshark has %d streams, we %d connections" % (name, len(b), len(a)))
        return 1, 0
    for x, y in zip(a, b):
        for side in ("a2b", "b2a"):
            o, t = x[side], y[side]
            rows = [("packets", o["total_packets"]), ("bytes", o["actual_data_bytes"]),
                    ("zero_window", o["zero_win_adv"]), ("window_full", o["window_full_pkts"]),
                    ("keep_alive", o["keepalive_pkts"]), ("window_update", o["window_updates"]),
                    ("resent or out of order", o["rexmt_data_pkts"] + o["gap_fills"])]
            t["resent or out of order"] = t["retransmission"] + t["out_of_order"] + t["keep_alive_data"]
            for k, v in rows:
                fields += 1
                if t[k] != v:
                    print("%s: connection %d %s: %s: tshark %d, we %d" % (name, x["number"], side, k, t[k], v))
                    bad += 1
    return bad, fields


def main():
    program = sys.argv[1]
    have("tshark")
    bad = fields = 0
    with tempfile.TemporaryDirectory() as d:
        if len(sys.argv) > 2:
            todo = [(os.path.basename(p), p) for p in sys.argv[2:]]
        else:
            todo = [(n, make().write(os.path.join(d, n + ".pcap")))
                    for n, make in {**cases.TCPTRACE, **cases.OURS_ONLY}.items() if n not in SKIP_CASE]
            c = cases.resends()
            todo += [("pcapng", c.write(d + "/x.pcapng", ng=True)),
                     ("pcapng_nano_swapped", c.write(d + "/y.pcapng", ng=True, nano=True, swap=True))]
        for name, path in todo:
            b, f = check(program, name, path)
            bad += b
            fields += f
    print("%d captures, %d counts compared, %d differences" % (len(todo), fields, bad))
    return bad > 0


sys.exit(main())
