# SPDX-License-Identifier: MIT
"""scps_ttcp over a virtual link: what scps_trace reads from its captures is what the two ends counted, and what the link did.

Each run is a link (bit errors, an outage, a short queue) and options: SNACK (the default), -S without it, compression (-C), best effort
(-E), records (-c), no timestamps. Compared exactly: data, resends and their octets, SACKs and SNACKs at both ends, compressed packets,
record ends; the cause of each resend with the sender's own notes (-d); whether it was needed, and of what the copy before was lost, with the link's log.
Usage: test_ttcp.py SCPS_TRACE (scps_ttcp beside it; skipped if it was not built)"""
import collections
import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from compare import SKIP, ours, run

failures = 0
RUNS = [
    ["nasa500,ber=1e-6", "-G", "1"], ["nasa10,ber=1e-5", "-G", "1"], ["geo,loss=0.01", "-G", "1"],
    ["nasa500,ber=1e-5", "-G", "0", "-R", "20m"], ["nasa250,ber=1e-6", "-G", "0", "-R", "50m", "-F", "1"],
    ["nasa10", "-G", "1", "-M"],
    # without SNACK
    ["nasa500,ber=1e-6", "-G", "1", "-S"], ["geo,loss=0.01", "-G", "1", "-S"], ["nasa10,ber=1e-5", "-G", "1", "-S", "--no-sack"],
    # compressed headers, with and without timestamps
    ["nasa500,ber=1e-5", "-G", "0", "-R", "20m", "-C"], ["nasa10,ber=1e-5", "-G", "1", "-C", "-M"],
    # best effort and records, with holes left and without
    ["nasa250,ber=1e-5", "-G", "2", "-E", "-c"], ["nasa250,ber=1e-4", "-G", "0", "-R", "4m", "-E", "-c"], ["nasa250,ber=1e-5", "-G", "1", "-E", "-C", "-M"],
    # a link that goes away, a queue that is too short
    ["nasa500,ber=1e-6,outage=1.2s-1.6s", "-G", "0", "-R", "20m"], ["geo,queue=30000", "-G", "1"],
]
#: what the sender believed, and what we call it
CAUSE = {"0": "dupack", "1": "sack", "2": "snack", "3": "dupack", "4": "silence", "5": "sack", "6": "timeout",
         "8": "timeout"}  # 8: Vegas looked at the clock, where others wait for the timer
LOSS = {"ber": "corruption", "burst": "corruption", "vector": "corruption", "queue": "queue", "codel": "queue",
        "outage": "outage", "loss": "other"}
NOTE = re.compile(r"[\d.]+ t (sent|lost|rto|probe) (.*)")


def check(what, got, want, who="the sender"):
    global failures
    if got != want:
        print("%s: we %r, %s %r" % (what, got, who, want))
        failures += 1


def noted(path):
    """Returns {cause: number of retransmissions} from the sender's own notes: the evidence that it had last used when
    it retransmitted."""
    belief, count, told, alone, others = None, collections.Counter(), set(), True, 0
    for m in filter(None, map(NOTE.match, open(path, errors="replace"))):
        v = dict(f.split("=") for f in m[2].split())
        if m[1] == "sent":
            again = v["resent"] == "1" and v["len"] != "0"
            count[belief] += again
            if again and alone:  # what was lost alone was named
                others += v["off"] not in told
                told.discard(v["off"])
        elif m[1] == "probe":
            alone = False
        else:
            alone &= m[1] == "lost" and int(v["len"]) <= 1024
            told.add(v.get("off"))
            count["rto"] += m[1] == "rto"
            belief = "timeout" if m[1] == "rto" else CAUSE[v["evidence"]]
    return count, others


def told(causes):
    """Returns the causes with SNACK and SACK counted as one, because one acknowledgement may carry both and the sender
    notes the one that it processed first. Retransmissions at the end of the data, for which a report was due, are noted
    with SNACK, too."""
    c = collections.Counter(causes)
    if c["snack"]:
        c["snack"] += c.pop("sack", 0) + c.pop("tail_probe", 0)
    return {k: v for k, v in c.items() if v}


def logged(path):
    """Returns, from the link's log of data packets, the number of necessary and of needless retransmissions, and what
    caused the loss of the last lost copy."""
    arrived, sent, last, base = bytearray(4 << 20), bytearray(4 << 20), {}, None
    count = collections.Counter()
    for r in csv.DictReader(open(path)):
        n = int(r["payload"] or 0)
        if not n or r["direction"] != "a2b":
            continue
        a = int(r["seq"]) - (base := int(r["seq"]) if base is None else base) & 0xFFFFFFFF
        b = a + n
        if any(sent[a:b]):
            if all(arrived[a:b]):
                count["needless"] += 1
            else:
                count["needed"] += 1
                count["lost_" + LOSS[last[a]]] += 1
        sent[a:b] = b"\1" * n
        if r["fate"] in ("delivered", "duplicated", "reordered"):
            arrived[a:b] = b"\1" * n
        else:
            last[a] = r["cause"]
    return count


def main():
    program = sys.argv[1]
    ttcp = os.path.join(os.path.dirname(program), "scps_ttcp")
    if not os.path.exists(ttcp):
        print("skipped: scps_ttcp is not built")
        return SKIP
    totals = collections.Counter()
    with tempfile.TemporaryDirectory() as d:
        data = random.Random(1).randbytes(1000000)
        for i, (link, *options) in enumerate(RUNS):
            near, far, truth, notes = d + "/near.pcap", d + "/far.pcap", d + "/truth.csv", d + "/notes"
            what = " ".join([link] + options)
            with open(notes, "w") as f:
                p = subprocess.run([ttcp, "-t", "--link", link, "-l", "1024", "-b", "6000000", "--seed", str(i + 1), "-d",
                                    "--pcap", near, "--pcap-peer", far, "--truth", truth, "--json", *options],
                                   input=data, stdout=subprocess.PIPE, stderr=f, timeout=600)
            if p.returncode:
                check(what + ": exit status", p.returncode, 0, "")
                print(open(notes).read()[-200:])
                continue
            end = json.loads(p.stdout)["end"]
            sent, received = end["tcp"], end["tcp_peer"]
            j = ours(program, near, "--truth", truth)["connections"]
            check(what + ": connections", len(j), 1)
            a, b = j[0]["a2b"], j[0]["b2a"]
            fin = a["fin_pkts_sent"] - 1
            check(what + ": data", a["unique_bytes_sent"], len(data))
            check(what + ": resent", a["rexmt_data_pkts"], sent["retransmits"])
            check(what + ": octets resent", a["rexmt_data_bytes"] - fin, sent["bytes_resent"])
            check(what + ": data octets", a["actual_data_bytes"], sent["bytes_sent"])
            check(what + ": data segments", a["actual_data_pkts"], sent["data_segments_sent"])
            # An end's report is made when its part is done. Answers to copies of the FIN, and needless copies of data that
            # were still on their way (for compressed ones the log cannot tell), with their answers, come after it.
            squeezed = "-C" in options
            copies = a["truth_needless"] + (a["truth_unmatched"] if squeezed else 0)
            late = b["total_packets"] - sent["segments_received"]
            check(what + ": segments received", 0 <= late <= fin + copies, True)
            check(what + ": SACKs", b["sack_pkts_sent"], sent["sacks"])
            check(what + ": DSACKs", b["dsack_pkts_sent"], sent["dsacks"])
            check(what + ": SNACKs", b["snack_pkts_sent"], sent["snacks_in"])
            # the last acknowledgement, of the other FIN, leaves after the sender's report
            check(what + ": compressed", a["compressed_pkts"] - squeezed, sent["compressed"]["segments_out"])
            check(what + ": compressed, back", b["compressed_pkts"] - squeezed * late, sent["compressed"]["segments_in"])

            lines = run([program, "-p", near]).splitlines()
            if "-c" in options:
                ends = set(re.findall(r"a2b .* seq \d+:(\d+) .*record-end", "\n".join(lines)))
                check(what + ": record ends", len(ends), end["scps"]["records"]["written"])
            for x, name in ((a, "offered"), (b, "peer")):
                caps = json.loads(p.stdout)["start"]["scps"]["capabilities"][name]
                check(what + ": capabilities: " + name, x["scps_offered"].split(), caps)

            # why, and was it needed
            causes = {k[7:]: v for k, v in a.items() if k.startswith("resent_") and v and k != "resent_spurious"}
            want, others = noted(notes)
            if "-E" not in options:  # best effort gives up and cuts what it had called lost
                check(what + ": resends of what no note called lost", others, 0, "")
            alone = sum(" a2b " in x and ": [F" in x and " len 0 " in x and " resent" in x for x in lines)
            want["timeout"] += alone  # only a timer sends a FIN again
            # of copies that nothing was heard of for a round trip, it is the SNACK timer that sends again, or a report on others
            silence = want.pop("silence", 0)
            timers = min(silence, max(0, causes.get("timeout", 0) - want["timeout"]))
            want["timeout"] += timers
            want["sack"] += silence - timers
            causes, want = told(causes), told(want)
            # of what the timer marked, newer reports may have named some before it left: the timer's for the sender, theirs for us
            if causes.get("timeout") != want.get("timeout"):
                check(what + ": timeouts", want.get("rto", 0) <= causes.get("timeout", 0) <= want.get("timeout", 0), True)
                check(what + ": resends", sum(causes.values()), sum(want.values()) - want.get("rto", 0))
            else:
                want.pop("rto", 0)
                check(what + ": causes", causes, want)
            want = logged(truth)  # of compressed packets it knows neither number nor length
            for k in ("needed", "needless", "lost_corruption", "lost_queue", "lost_outage", "lost_other"):
                check(what + ": truth: " + k, a["truth_" + k], want[k], "the log")
            check(what + ": unmatched", a["truth_unmatched"], a["rexmt_data_pkts"] if squeezed else 0, "the log")

            # the other end of the link
            j = ours(program, far)["connections"]
            check(what + ": connections there", len(j), 1)
            a, b = j[0]["a2b"], j[0]["b2a"]
            late = a["unique_bytes_sent"] - received["bytes_received"]  # after the hole was given up
            check(what + ": data there", 0 <= late <= end["scps"].get("holes", {"bytes": 0})["bytes"], True, "the receiver")
            # its report is made when its FIN is sent: the acknowledgement of that comes after it
            check(what + ": segments there", a["total_packets"] - 1, received["segments_received"], "the receiver")
            late = a["actual_data_pkts"] - received["data_segments_received"]
            check(what + ": data there", 0 <= late <= copies, True, "the receiver")
            check(what + ": sent there", b["total_packets"], received["segments_sent"], "the receiver")
            check(what + ": SACKs out", b["sack_pkts_sent"], received["sacks_out"], "the receiver")
            check(what + ": SNACKs out", b["snack_pkts_sent"], received["snacks_out"], "the receiver")
            check(what + ": compressed there", a["compressed_pkts"] - squeezed, received["compressed"]["segments_in"], "the receiver")
            totals["transfers"] += 1
            totals["resends"] += sent["retransmits"]
            totals["snacks"] += sent["snacks_in"]
            totals["outage"] += want["lost_outage"]
            totals["compressed"] += sent["compressed"]["segments_out"]
    print("compared:", dict(totals), "failures:", failures)
    return failures > 0


sys.exit(main())
