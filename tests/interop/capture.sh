#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tshark reads what our stack says on a TUN device: no malformed packet and no wrong checksum, in data, in
# handshakes and closes, in resets, in answers to ping and to closed ports; both families.
. "$(dirname "$0")/lib.sh"
need tshark socat ping
built scps_echo

background echo "$BIN/scps_echo" -r --discard 9 --chargen 19 --tun scpsi0 --addr 10.77.0.2/24 --kernel-addr 10.77.0.1 \
    --addr fd77::2/64 --kernel-addr fd77::1
server=$!
eventually addressed scpsi0 || { cat "$TMP/echo.err"; exit 1; }
background capture tshark -q -i scpsi0 -w "$TMP/all.pcap"
capture=$!
started() {
    grep -q Capturing "$TMP/capture.err" && [ -s "$TMP/all.pcap" ]
}
eventually started || skip "tshark cannot capture here: $(tail -1 "$TMP/capture.err")"
some_file "$TMP/file" 2

for host in 10.77.0.2 '[fd77::2]'; do
    timeout $PATIENCE socat -t $PATIENCE - "TCP:$host:7" <"$TMP/file" >"$TMP/back"
    ok "2 MB there and back, $host" same "$TMP/file" "$TMP/back"
    timeout $PATIENCE socat -u "TCP:$host:19" - 2>/dev/null | head -c 100000 >/dev/null
    timeout $PATIENCE socat -u "$TMP/file" "TCP:$host:9"
    timeout $PATIENCE socat -u "TCP:$host:81" - 2>/dev/null
    echo hello | timeout $PATIENCE socat -t 0.2 - "UDP:$host:9" >/dev/null 2>&1
done
ping -c 2 -i 0.1 -s 1400 -w $PATIENCE 10.77.0.2 >/dev/null
ping -6 -c 2 -i 0.1 -s 1400 -w $PATIENCE fd77::2 >/dev/null
seen() { # FILTER: ours have been captured at all
    [ "$(tshark -r "$TMP/all.pcap" -Y "$1" 2>/dev/null | wc -l)" -gt 0 ]
}
ok "data of ours, IPv4" eventually seen 'ip.src == 10.77.0.2 && tcp.len > 0'
ok "data of ours, IPv6" eventually seen 'ipv6.src == fd77::2 && tcp.len > 0'
ok "resets of ours" eventually seen 'ip.src == 10.77.0.2 && tcp.flags.reset == 1'
ok "answers to ping" eventually seen 'ip.src == 10.77.0.2 && icmp.type == 0'
ok "answers to ping, IPv6" eventually seen 'ipv6.src == fd77::2 && icmpv6.type == 129'
# a client of ours that leaves while data is on its way: resets
background stuck socat -u TCP:10.77.0.2:19 PIPE:"$TMP/nobody-reads"
flows() {
    ss -Htn 'dport = :19' | awk '$2 > 0 { n++ } END { exit !n }'
}
ok "data that nobody reads" eventually flows
stop $server
stop $capture
ok "tshark finds nothing wrong" judge "$TMP/all.pcap"
if command -v editcap >/dev/null; then
    damaged() { # the judge must see it when there is something wrong
        editcap --seed 1 -E 0.0001 "$TMP/all.pcap" "$TMP/damaged.pcap" && ! judge "$TMP/damaged.pcap"
    }
    ok "and does find faults in a damaged copy" damaged
fi
verdict
