#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The end of a transfer to the kernel is lost once: nothing behind it tells of the loss, only the retransmission timer does.
#
# A filter of the test's own drops the last five segments and the FIN. RFC 5682 section 2.1 step 2b: "If the TCP sender does
# not have any new data to send, or the advertised window prohibits new transmissions", conventional recovery goes on. So one
# timeout repairs all five. With a timeout for each of them, each twice as long as the one before, it took half a minute.
# What is judged is counted: only a machine that stops for a second, the shortest timeout here, adds to it. The seconds are
# told as a figure.
. "$(dirname "$0")/lib.sh"
need nc python3 sha256sum ip
built scps_ttcp

LAST=5
seq -f 'line %.0f of a file' 1 10000 | head -c 100000 >"$TMP/file"
ip tuntap add dev tailk mode tun && ip addr add 10.77.0.1/24 dev tailk && ip link set tailk up || skip "no TUN device"

to_kernel() { # the file; the report in $TMP/report, what was dropped in $TMP/filter.out
    local receiver filter rc
    background nc nc -4 -l 5001
    receiver=$!
    eventually listens -t 5001 || return 1
    background filter python3 "$HERE/tail_filter.py" tailk 7101 "$(stat -c %s "$TMP/file")" $LAST
    filter=$!
    eventually grep -q ready "$TMP/filter.out" || { cat "$TMP/filter.err"; return 1; }
    "$BIN/scps_ttcp" -t --json --timeout $PATIENCE --udp 127.0.0.1:7102,127.0.0.1:7101 --addr 10.77.0.2/24 --rto-min 1 10.77.0.1 \
        <"$TMP/file" >"$TMP/report" 2>"$TMP/ttcp.err"
    rc=$?
    [ $rc -ne 0 ] || eventually gone $receiver
    kill $receiver $filter 2>/dev/null
    wait $receiver $filter 2>/dev/null
    cat "$TMP/ttcp.err" "$TMP/filter.err"
    [ $rc -eq 0 ] && same "$TMP/file" "$TMP/nc.out"
}
one_timeout() { # MOST_RESENDS
    to_kernel && python3 - "$TMP" $LAST "$1" <<'PY'
import json, sys
tmp, last, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
end = json.load(open(tmp + "/report"))["end"]
tcp = end["tcp"]
lost = [int(line.split()[2]) for line in open(tmp + "/filter.out") if line.startswith("dropped")]
print("figure  %d segments dropped: %d timeouts, %d resent, %.3f s"
      % (len(lost), tcp["timeouts"], tcp["retransmits"], end["scps"]["elapsed_us"] / 1e6))
assert len([n for n in lost if n]) == last, lost
assert 1 <= tcp["timeouts"] < last, tcp
assert last <= tcp["retransmits"] <= most, tcp
PY
}
for options in '1 0' '0 0' '1 1'; do
    kernel_options $options
    ok "the last $LAST segments lost once, SACK and timestamps $options" one_timeout 12
done
verdict
