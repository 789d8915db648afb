# SPDX-License-Identifier: MIT
"""scps_ttcp over a virtual lossy link: what scps_trace reads from the sender's capture is what the sender counted.
Usage: test_ttcp.py SCPS_TRACE (scps_ttcp beside it; skipped if it was not built)"""
import json
import os
import random
import subprocess
import sys
import tempfile

from compare import SKIP, ours

failures = 0
RUNS = [["nasa500,ber=1e-6", "-G", "1"], ["nasa10,ber=1e-5", "-G", "1"], ["geo,loss=0.01", "-G", "1"],
        ["nasa500,ber=1e-5", "-G", "0", "-R", "20m"], ["nasa250,ber=1e-6", "-G", "0", "-R", "50m", "-F", "1"],
        ["nasa10", "-G", "1", "-M"],
        # SCPS: left out while scps_ttcp refuses them
        ["nasa500,ber=1e-5", "-G", "0", "-R", "20m", "-C"], ["nasa250,ber=1e-5", "-G", "2", "-E", "-c"],
        ["geo,loss=0.01", "-G", "1", "-S"]]


def check(what, got, want):
    global failures
    if got != want:
        print("%s: we %r, the sender %r" % (what, got, want))
        failures += 1


def main():
    program = sys.argv[1]
    ttcp = os.path.join(os.path.dirname(program), "scps_ttcp")
    if not os.path.exists(ttcp):
        print("skipped: scps_ttcp is not built")
        return SKIP
    done = 0
    with tempfile.TemporaryDirectory() as d:
        data = random.Random(1).randbytes(2000000)
        for i, (link, *options) in enumerate(RUNS):
            pcap = "%s/%d.pcap" % (d, i)
            p = subprocess.run([ttcp, "-t", "--link", link, "-l", "1024", "-b", "6000000", "--seed", str(i + 1), "--pcap",
                                pcap, "--json", *options], input=data, capture_output=True, timeout=200)
            if p.returncode == 2:
                print("left out:", link, options, p.stderr.decode().strip())
                continue
            sent = json.loads(p.stdout)["end"]["tcp"]
            j = ours(program, pcap)["connections"]
            check("%s: connections" % link, len(j), 1)
            a, b = j[0]["a2b"], j[0]["b2a"]
            fin = a["fin_pkts_sent"] - 1
            check(link + ": data", a["unique_bytes_sent"], len(data))
            check(link + ": resent", a["rexmt_data_pkts"], sent["retransmits"])
            check(link + ": octets resent", a["rexmt_data_bytes"] - fin, sent["bytes_resent"])
            check(link + ": data octets", a["actual_data_bytes"], sent["bytes_sent"])
            # the sender's report is made when its FIN is acknowledged: answers to copies of the FIN come after it
            late = b["total_packets"] - sent["segments_received"]
            check(link + ": segments received", 0 <= late <= fin, True)
            check(link + ": SACKs", b["sack_pkts_sent"], sent["sacks"])
            check(link + ": SNACKs", b["snack_pkts_sent"], sent["snacks_in"])
            check(link + ": explained", a["resent_unexplained"], 0)
            done += 1
    print("%d transfers compared, %d failures" % (done, failures))
    return failures > 0


sys.exit(main())
