#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The figures of docs/CONTROLLERS.md on bbr: long links with losses, without a setting about the link, over many seeds.

    lab/bbr.py SCPS_TTCP [--seeds N] [--jobs N] [ROW...]

Prints one line a row: the mean over the seeds, its standard error, and the command of the first seed.
Rows: the first letters of their names are enough.  Mbit/s are of what was acknowledged from second 20 to
60; seconds are from the SYN until the receiver has the last byte.  Rows of option 23 read /dev/zero; a run
in which damage passes a checksum ends early and does not count.  In parentheses: the seeds that count.
"""
import argparse
import concurrent.futures
import json
import math
import re
import subprocess
import sys

RATE = "-l 1024 -n 99999999 --time 60 --interval 20 --json"
BULK = "-l 8192 -n 12208"
# real octets, which errors can damage: the receiver sees wrong checksums and says so
DAMAGED = "-l 1024 --time 60 --interval 20 --json --checksum-hints --output /dev/null"
BER = "--link nasa500,ber=%s"
SAT = "--link rate=250mbit,rate-back=3mbit,rtt=600ms%s"
START, REFRESH, BASE = ",long-rtt-start=1", ",rtt-refresh=1", ",base-loss=1"
WAITS = ",probe-bw-rounds=20,probe-rtt-rounds=30"
ALONE = START + REFRESH + BASE + ",probe-bw-rounds=60"
ROWS = [  # name, kind, parameters of bbr, the rest
    ("1e-6 plain", RATE, "", BER % "1e-6"),
    ("1e-6 start", RATE, START, BER % "1e-6"),
    ("1e-6 start refresh", RATE, START + REFRESH, BER % "1e-6"),
    ("1e-6 start waits", RATE, START + WAITS, BER % "1e-6"),
    ("1e-6 alone", RATE, ALONE, BER % "1e-6"),
    ("1e-5 plain", RATE, "", BER % "1e-5"),
    ("1e-5 start refresh base", RATE, START + REFRESH + BASE, BER % "1e-5"),
    ("1e-5 base", RATE, BASE, BER % "1e-5"),
    ("1e-5 start waits base", RATE, START + WAITS + BASE, BER % "1e-5"),
    ("1e-5 alone", RATE, ALONE, BER % "1e-5"),
    ("1e-5 told corruption", RATE, START + REFRESH, BER % "1e-5" + " --loss-cause corruption"),
    ("250/3 plain", BULK, "", SAT % ""),
    ("250/3 start", BULK, START, SAT % ""),
    ("250/3 start waits", BULK, START + WAITS, SAT % ""),
    ("250/3 loss plain", BULK, "", SAT % ",loss=0.015625"),
    ("250/3 loss start", BULK, START, SAT % ",loss=0.015625"),
    ("250/3 loss start waits", BULK, START + WAITS, SAT % ",loss=0.015625"),
    ("250/3 jitter plain", BULK, "", SAT % ",jitter=3ms"),
    ("250/3 jitter start", BULK, START, SAT % ",jitter=3ms"),
    ("250/3 jitter start waits", BULK, START + WAITS, SAT % ",jitter=3ms"),
    ("50/10 plain", BULK, "", "--link rate=50mbit,rate-back=10mbit,rtt=600ms"),
    ("50/10 start", BULK, START, "--link rate=50mbit,rate-back=10mbit,rtt=600ms"),
    ("50/10 start refresh", BULK, START + REFRESH, "--link rate=50mbit,rate-back=10mbit,rtt=600ms"),
    ("50/10 start waits", BULK, START + WAITS, "--link rate=50mbit,rate-back=10mbit,rtt=600ms"),
    ("50/10 alone", BULK, ALONE, "--link rate=50mbit,rate-back=10mbit,rtt=600ms"),
    ("outage, plain kept", RATE, "", "--link nasa500 --outage 25s-35s,signal"),
    ("outage, plain", RATE, ",outage=0", "--link nasa500 --outage 25s-35s,signal"),
    ("outage kept", RATE, START, "--link nasa500 --outage 25s-35s,signal"),
    ("outage not kept", RATE, START + ",outage=0", "--link nasa500 --outage 25s-35s,signal"),
    ("option 23, 1e-6", DAMAGED, "", BER % "1e-6,flip"),
    ("option 23, 1e-5", DAMAGED, "", BER % "1e-5,flip"),
    ("option 23, 1e-5 not heeded", DAMAGED, ",corruption=0", BER % "1e-5,flip"),
    ("option 23, 1e-5 start refresh", DAMAGED, START + REFRESH, BER % "1e-5,flip"),
]


def command(program, row, seed):
    name, kind, param, rest = row
    source = "" if kind == DAMAGED else "-s --hollow "
    return [program] + ("-t %s-b 64M %s --cc bbr%s %s --seed %d" % (source, kind, param, rest, seed)).split()


def measure(program, row, seed):
    with open("/dev/zero", "rb") as zeros:
        done = subprocess.run(command(program, row, seed), stdin=zeros, capture_output=True, text=True, timeout=900)
    out = done.stdout
    if row[1] != BULK:
        spans = [i["scps"]["acked_bytes"] / i["sum"]["seconds"] for i in json.loads(out)["intervals"]
                 if i["sum"]["start"] >= 19.9 and i["sum"]["end"] <= 60.1]
        return sum(spans) / len(spans) * 8e-6 if len(spans) == 2 else None
    return float(re.search(r"ttcp-r: \d+ bytes in ([0-9.]+) real", done.stdout + done.stderr).group(1))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("rows", nargs="*")
    p.add_argument("--seeds", type=int, default=20)
    p.add_argument("--jobs", type=int, default=2)
    a = p.parse_intermixed_args()
    for row in ROWS:
        if a.rows and not any(row[0].startswith(r) for r in a.rows):
            continue
        with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
            v = [x for x in pool.map(lambda seed: measure(a.program, row, seed), range(1, a.seeds + 1)) if x is not None]
        if not v:
            print("%-26s no seed came to its end" % row[0], flush=True)
            continue
        mean = sum(v) / len(v)
        se = math.sqrt(sum((x - mean) ** 2 for x in v) / max(len(v) - 1, 1) / len(v))
        print("%-26s %8.3f +- %.3f (%d) %s  %s" % (row[0], mean, se, len(v), "Mbit/s" if row[1] != BULK else "s",
                                              " ".join(command("scps_ttcp", row, 1)[1:])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
