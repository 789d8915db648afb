#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scps_ttcp -u beside the kernel's UDP over TUN: nc and socat at either end, both families, a closed port told both ways,
# fragments, and a capture that tshark finds nothing wrong with.
. "$(dirname "$0")/lib.sh"
need nc socat
built scps_ttcp
v4=(--tun scpsi0 --addr 10.77.0.2/24 --kernel-addr 10.77.0.1)
v6=(--tun scpsi0 --addr fd77::2/64 --kernel-addr fd77::1)

# all of it fits the kernel's receive buffer, however late its reader is
seq -f '%.0f of a file' 1 3500 >"$TMP/file"

bound() { # a UDP port of the kernel
    ss -Huln 'sport = :5001' | grep -q 5001
}
holds() { # FILE BYTES: so much has come
    [ "$(stat -c %s "$1")" -ge "$2" ]
}

# Each way our guards are octets of the stream: "scps" in front, the count behind, four times.
to_kernel() { # HOST LISTENER OPTIONS...
    local host=$1 listener=$2 size receiver rc n
    shift 2
    size=$(stat -c %s "$TMP/file")
    # shellcheck disable=SC2086 # the listener is words
    background sink $listener
    receiver=$!
    eventually bound || return 1
    timeout 60 "$BIN/scps_ttcp" -t -u -l 1000 -R 20m --timeout 50 --pcap "$TMP/tx.pcap" "$@" "$host" <"$TMP/file" 2>"$TMP/ttcp.err"
    rc=$?
    cat "$TMP/ttcp.err"
    eventually holds "$TMP/sink.out" $((size + 20))
    kill $receiver 2>/dev/null
    wait $receiver 2>/dev/null
    n=$(sed -n 's/^ttcp-t: \([0-9]*\) datagrams.*/\1/p' "$TMP/ttcp.err")
    {
        printf scps
        cat "$TMP/file"
        for _ in 1 2 3 4; do printf '\0\0%b%b' "\\x$(printf %x $((n / 256)))" "\\x$(printf %x $((n % 256)))"; done
    } >"$TMP/want"
    [ $rc -eq 0 ] && same "$TMP/want" "$TMP/sink.out"
}
ok "to nc -u, IPv4" to_kernel 10.77.0.1 "nc -u -4 -l 5001" "${v4[@]}"
ok "to nc -u, IPv6" to_kernel fd77::1 "nc -u -6 -l 5001" "${v6[@]}"
ok "to socat, IPv4" to_kernel 10.77.0.1 "socat -u UDP4-RECV:5001 -" "${v4[@]}"
ok "to socat, IPv6" to_kernel fd77::1 "socat -u UDP6-RECV:5001 -" "${v6[@]}"

# socat sends a datagram a read; a short one ends the run, as it would end ttcp's
from_kernel() { # socat's HOST OPTIONS...
    local host=$1 receiver
    shift
    background ttcp "$BIN/scps_ttcp" -r -u --timeout 50 "$@"
    receiver=$!
    eventually addressed scpsi0 || { cat "$TMP/ttcp.err"; return 1; }
    eventually sends "" "$host" # nobody hears it before the device is up: an empty one, which is a guard
    socat -u -b 1000 "OPEN:$TMP/file" "UDP:$host:5001" || return 1
    sends end. "$host"
    wait $receiver
    local rc=$?
    cat "$TMP/ttcp.err"
    [ $rc -eq 0 ] && same "$TMP/file" "$TMP/ttcp.out" && grep -q "^ttcp-r: $(stat -c %s "$TMP/file") bytes" "$TMP/ttcp.err"
}
sends() { # TEXT HOST: one datagram
    if [ -n "$1" ]; then
        printf %s "$1" | socat -u - "UDP:$2:5001"
    else
        printf x | socat -u - "UDP:$2:5001"
    fi
}
ok "from socat, IPv4" from_kernel 10.77.0.2 "${v4[@]}"
ok "from socat, IPv6" from_kernel '[fd77::2]' "${v6[@]}"

from_nc() {
    local receiver
    background ttcp "$BIN/scps_ttcp" -r -u --timeout 50 "${v4[@]}"
    receiver=$!
    eventually addressed scpsi0 || { cat "$TMP/ttcp.err"; return 1; }
    echo 'a line from nc' | timeout 5 nc -u -q 0 10.77.0.2 5001
    eventually sends end. 10.77.0.2
    wait $receiver
    local rc=$?
    cat "$TMP/ttcp.err"
    [ $rc -eq 0 ] && [ "$(cat "$TMP/ttcp.out")" = 'a line from nc' ]
}
ok "from nc -u, which sends no guard in front" from_nc

refused_here() { # the kernel has no such port: its ICMP ends our sender
    timeout 20 "$BIN/scps_ttcp" -t -u -s -n 100000 -R 20m --timeout 15 "$@" 2>"$TMP/ttcp.err"
    local rc=$?
    cat "$TMP/ttcp.err"
    [ $rc -eq 1 ] || [ $rc -eq 3 ] && grep -q refused "$TMP/ttcp.err"
}
ok "the kernel refuses, IPv4" refused_here "${v4[@]}" 10.77.0.1
ok "the kernel refuses, IPv6" refused_here "${v6[@]}" fd77::1

cat >"$TMP/refused.py" <<'PY'
import socket, sys, time
host, port = sys.argv[1], int(sys.argv[2])
s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
s.connect((host, port))
s.settimeout(0.2)
for _ in range(100):
    try:
        s.send(b"anybody?")
        s.recv(10)
    except ConnectionRefusedError:
        sys.exit(0)
    except OSError:
        pass
sys.exit(1)
PY
refused_there() { # we have no such port: the kernel's connected socket hears so
    local receiver rc
    background ttcp "$BIN/scps_ttcp" -r -u -p 6000 --timeout 50 "${v4[@]}" --addr fd77::2/64 --kernel-addr fd77::1
    receiver=$!
    eventually addressed scpsi0 || return 1
    timeout 30 python3 "$TMP/refused.py" 10.77.0.2 5001 && timeout 30 python3 "$TMP/refused.py" fd77::2 5001
    rc=$?
    stop $receiver
    return $rc
}
command -v python3 >/dev/null && ok "we refuse: ECONNREFUSED there, both families" refused_there

fragments() { # the kernel cuts what is longer than the MTU: dropped by name, and what fits comes
    local receiver
    background ttcp "$BIN/scps_ttcp" -r -u -v --timeout 50 "${v4[@]}"
    receiver=$!
    eventually addressed scpsi0 || return 1
    eventually sends x 10.77.0.2
    head -c 4000 "$TMP/file" | socat -u -b 4000 - UDP:10.77.0.2:5001
    head -c 1000 "$TMP/file" | socat -u -b 1000 - UDP:10.77.0.2:5001
    sends end. 10.77.0.2
    wait $receiver
    cat "$TMP/ttcp.err"
    grep -q '^ttcp-r: 1000 bytes' "$TMP/ttcp.err" && grep -q 'fragment 3' "$TMP/ttcp.err"
}
ok "fragments" fragments

if command -v tshark >/dev/null; then
    ok "tshark finds nothing wrong in what was sent" judge "$TMP/tx.pcap"
fi
verdict
