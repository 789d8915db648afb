#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The kernel's TCP over our emulated link, with bit errors, a full queue and reordering: its captures from both ends compared
# with tcptrace and tshark, and the join with the emulator's ground truth compared with what the log alone says.
# $1: scps_trace, with scps_link beside it.  Needs root and /dev/net/tun; else skipped (77).
set -u
PATH=$PATH:/usr/sbin:/sbin
TRACE=$(realpath -s "${1:?scps_trace}")
LINK=$(dirname "$TRACE")/scps_link
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
. "$ROOT/tests/support/wait.sh"
for tool in ip socat tcptrace tshark python3; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
[ -x "$LINK" ] || { echo "skipped: scps_link is not built"; exit 77; }
[ -c /dev/net/tun ] || { echo "skipped: there is no /dev/net/tun"; exit 77; }
if [ -z "${TRACE_LINK_INSIDE-}" ]; then
    TRACE_LINK_INSIDE=1 exec "$ROOT/tools/netns" run "$0" "$TRACE"
fi
TMP=$(mktemp -d)
export TMPDIR=$TMP # of the programs it runs
pids=()
finish() {
    trap '' INT TERM HUP # tools/with-cleanup asks whatever runs to end, and rm is not meant
    for p in "${pids[@]-}"; do [ -n "$p" ] && kill "$p" 2>/dev/null; done
    for n in near far; do ip netns del $n 2>/dev/null; done
    rm -rf "$TMP"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP
ip netns add near && ip netns add far || exit 77
ip -n near link set lo up
ip -n far link set lo up

transfer() { # NAME BYTES LINK
    "$LINK" -q --a "sctn0@near" --b "sctf0@far" --addr-a 10.77.0.1/24 --addr-b 10.77.0.2/24 --link "$3" --seed 7 --ctl "$TMP/ctl" \
        --pcap-a "$TMP/$1-a.pcap" --pcap-b "$TMP/$1-b.pcap" --truth "$TMP/$1.csv" &
    local link=$!
    pids+=($link)
    eventually "$LINK" ctl "$TMP/ctl" show || exit 1
    ip netns exec far socat -u TCP4-LISTEN:5001,reuseaddr OPEN:/dev/null &
    local sink=$!
    pids+=($sink)
    netns=far eventually listens -t 5001
    head -c "$2" /dev/zero | timeout $PATIENCE ip netns exec near socat -u - TCP4:10.77.0.2:5001
    wait $sink
    netns=near eventually idle_tcp 5001
    eventually settled "$LINK" "$TMP/ctl"
    stop $link
}
transfer noisy 1500000 rate=20mbit,rtt=40ms,loss=0.01,queue=200000
transfer shuffled 1500000 rate=20mbit,rtt=40ms,reorder=0.02,queue=200000
transfer narrow 1500000 rate=10mbit,rtt=40ms,ber=1e-7,queue=15000

status=0
python3 "$HERE/test_tcptrace.py" "$TRACE" "$TMP"/*.pcap || status=1
python3 "$HERE/test_tshark.py" "$TRACE" "$TMP"/*.pcap || status=1
for name in noisy shuffled narrow; do
    python3 - "$HERE" "$TRACE" "$TMP/$name-a.pcap" "$TMP/$name.csv" <<'PY' || status=1
import csv, sys
sys.path.insert(0, sys.argv[1])
from compare import ours

# what the log alone says: octets sent before, and whether any earlier copy of them arrived
rows = [r for r in csv.DictReader(open(sys.argv[4])) if int(r["payload"] or 0) and r["dport"] == "5001"]
base = int(rows[0]["seq"])
arrived, sent, want = bytearray(4 << 20), bytearray(4 << 20), dict(needed=0, needless=0)
for r in rows:
    a = (int(r["seq"]) - base) % 2**32
    b = a + int(r["payload"])
    if any(sent[a:b]):
        want["needless" if all(arrived[a:b]) else "needed"] += 1
    sent[a:b] = b"\1" * (b - a)
    if r["fate"] in ("delivered", "duplicated", "reordered"):
        arrived[a:b] = b"\1" * (b - a)
j = ours(sys.argv[2], sys.argv[3], "--truth", sys.argv[4])["connections"][0]["a2b"]
got = dict(needed=j["truth_needed"], needless=j["truth_needless"])
lost = {k: j["truth_lost_" + k] for k in ("corruption", "queue", "other")}
print("resends", j["rexmt_data_pkts"], "by the log", want, "by scps_trace", got, lost, "unmatched", j["truth_unmatched"],
      "causes", {k[7:]: v for k, v in j.items() if k.startswith("resent_") and v})
sys.exit(got != want or j["truth_unmatched"] != 0 or sum(lost.values()) != got["needed"])
PY
done
[ -n "${TRACE_KEEP-}" ] && cp "$TMP"/* "$TRACE_KEEP"
exit $status
