#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Strangers: nmap scans our stack, scapy throws packets at it that no honest peer would send. It answers what deserves
# an answer, keeps serving, and is there at the end.
. "$(dirname "$0")/lib.sh"
need socat
built scps_echo

background echo "$BIN/scps_echo" -r --discard 9 --chargen 19 --tun scpsi0 --addr 10.77.0.2/24 --kernel-addr 10.77.0.1 \
    --addr fd77::2/64 --kernel-addr fd77::1
server=$!
eventually addressed scpsi0 || { cat "$TMP/echo.err"; exit 1; }
some_file "$TMP/file" 1

serves() {
    local host
    for host in 10.77.0.2 '[fd77::2]'; do
        timeout $PATIENCE socat -t $PATIENCE - "TCP:$host:7" <"$TMP/file" >"$TMP/back" && same "$TMP/file" "$TMP/back" || return 1
    done
}
ok "serves before" serves
if command -v nmap >/dev/null; then
    scan() { # WANTED-LINES NMAP-ARGUMENTS...
        local want=$1
        shift
        timeout $PATIENCE nmap -n -Pn --disable-arp-ping --host-timeout ${PATIENCE}s --max-retries 1 -T4 "$@" >"$TMP/scan"
        cat "$TMP/scan"
        [ "$(grep -cE "$want" "$TMP/scan")" -ge 1 ]
    }
    found='^19/tcp +open'
    patient=(--min-rtt-timeout 1s --max-retries 5) # every port answers: nobody waits for that
    ok "nmap -sT" scan "$found" "${patient[@]}" -sT -p 1-1024 10.77.0.2
    ok "nmap -sS" scan "$found" "${patient[@]}" -sS -p 1-1024 10.77.0.2
    ok "nmap -sS, IPv6" scan "$found" "${patient[@]}" -6 -sS -p 1-200 fd77::2
    ok "nmap -sU" scan 'closed udp ports|udp +closed' -sU -p 1-50 --max-rate 500 10.77.0.2
    ok "nmap -sN, -sF, -sX, -sA, -sW, -sM" eval 'for s in N F X A W M; do scan "scanned in" -s$s -p 1-100 10.77.0.2 || exit 1; done'
    ok "nmap -O" scan "scanned in" -O --max-os-tries 1 -p 7,81 10.77.0.2
    ok "nmap, fragments" scan 'scanned in' -sS -f -p 7,9 10.77.0.2
    ok "serves after the scans" serves
else
    echo "skipped: nmap is not installed"
fi
for python in python3 /usr/bin/python3; do
    $python -c 'import scapy.all' 2>/dev/null && break
    python=
done
if [ -n "$python" ]; then
    hostile() {
        timeout $PATIENCE $python "$HERE/hostile.py" scpsi0 10.77.0.1 10.77.0.2 fd77::1 fd77::2
    }
    ok "hostile packets" hostile
    ok "serves after them" serves
else
    echo "skipped: python3-scapy is not installed"
fi
flood() { # half-open connections from addresses that never answer: more than a listener keeps
    timeout $PATIENCE $python "$HERE/hostile.py" flood scpsi0 10.77.0.1 10.77.0.2 fd77::1 fd77::2 && serves
}
[ -n "$python" ] && ok "serves in a flood of SYNs" flood
hold() { # 1 MB waits for each of those who never read: it is for as many as are served at once, and others are served
    timeout $PATIENCE $python "$HERE/hostile.py" hold scpsi0 10.77.0.1 10.77.0.2 fd77::1 fd77::2 && serves || return 1
    local peak
    peak=$(awk '/^VmHWM:/ { print $2 }' /proc/$server/status)
    figure "at most $((peak / 1024)) MB resident"
    [ "$peak" -lt 1000000 ]
}
[ -n "$python" ] && ok "2000 clients that never read" hold
alive() {
    kill -0 $server && stop $server
    local rc=$?
    cat "$TMP/echo.err"
    [ $rc -eq 0 ]
}
ok "alive, ends with status 0" alive
verdict
