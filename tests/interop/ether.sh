#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Ethernet over TAP against the kernel: ARP and Neighbour Discovery from both sides, 10 MB each way with equal SHA-256, both
# families, and what the kernel's neighbour table and tshark say of it.
. "$(dirname "$0")/lib.sh"
need nc sha256sum ping
built scps_ttcp scps_echo

some_file "$TMP/small" 10
v4=(--tap scpse0 --addr 10.78.0.2/24 --kernel-addr 10.78.0.1)
v6=(--tap scpse0 --addr fd78::2/64 --kernel-addr fd78::1)

to_kernel() { # HOST OPTIONS...
    local host=$1 family=-4 receiver rc
    shift
    [[ $host == *:* ]] && family=-6
    background nc nc $family -l 5001
    receiver=$!
    eventually listens -t 5001 || return 1
    "$BIN/scps_ttcp" -t --timeout $PATIENCE "$@" "$host" <"$TMP/small" 2>"$TMP/ttcp.err"
    rc=$?
    [ $rc -ne 0 ] || eventually gone $receiver
    kill $receiver 2>/dev/null
    wait $receiver
    cat "$TMP/ttcp.err"
    [ $rc -eq 0 ] && same "$TMP/small" "$TMP/nc.out"
}
send_small() {
    timeout $PATIENCE nc -N "$1" 5001 <"$TMP/small"
}
from_kernel() { # HOST OPTIONS...
    local host=$1 receiver rc
    shift
    background ttcp "$BIN/scps_ttcp" -r --timeout $PATIENCE "$@"
    receiver=$!
    eventually addressed scpse0 || { cat "$TMP/ttcp.err"; return 1; }
    eventually send_small "$host" # a device that stays may have its address before the receiver listens
    wait $receiver
    rc=$?
    cat "$TMP/ttcp.err"
    [ $rc -eq 0 ] && same "$TMP/small" "$TMP/ttcp.out"
}
echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad # an address of the kernel's can be used at once
ok "10 MB to the kernel, IPv4" to_kernel 10.78.0.1 "${v4[@]}"
ok "10 MB to the kernel, IPv6" to_kernel fd78::1 "${v6[@]}"
ok "10 MB from the kernel, IPv4" from_kernel 10.78.0.2 "${v4[@]}"
ok "10 MB from the kernel, IPv6" from_kernel fd78::2 "${v6[@]}"

neighbours() { # the kernel asks, hears, and asks again by unicast once it has forgotten
    local server i
    background echo "$BIN/scps_echo" -r "${v4[@]}" --addr fd78::2/64 --kernel-addr fd78::1
    server=$!
    eventually addressed scpse0 || return 1
    for i in 10.78.0.2 fd78::2; do
        ping -c 1 -w $PATIENCE "$i" || return 1
        ip neigh show dev scpse0 | grep "^$i lladdr .* REACHABLE" || return 1
        ip neigh change "$i" dev scpse0 nud probe || return 1
        eventually reachable "$i" || return 1
        ip neigh flush dev scpse0
        ping -c 1 -w $PATIENCE "$i" || return 1
    done
    ip neigh show dev scpse0
    kill $server
    wait $server
}
reachable() {
    ip neigh show dev scpse0 | grep -q "^$1 lladdr .* REACHABLE"
}
ok "the kernel finds it, and makes sure of it" neighbours

unanswered() { # nobody there: the line names the neighbour that nobody has, and there is no hang
    local rc
    "$BIN/scps_ttcp" -t --timeout 5 -v "${v4[@]}" 10.78.0.77 </dev/null 2>"$TMP/err"
    rc=$?
    cat "$TMP/err"
    [ $rc -eq 124 ] && grep -q "no station of this Ethernet says that it has 10.78.0.77: check HOST" "$TMP/err" &&
        grep -q "^ttcp-t: ether dropped:.* [1-9][0-9]* packets for neighbours that did not answer" "$TMP/err" || return 1
    "$BIN/scps_ttcp" -t --timeout 5 "${v6[@]}" --gateway fd78::77 2001:db8::1 </dev/null 2>"$TMP/err"
    [ $? -eq 124 ] && grep -q "says that it has fd78::77:" "$TMP/err" # the gateway is who is missing
}
names() { # what cannot be a device or a gateway is a usage error, and names the option
    local rc
    for bad in "--tap a/b" "--tap sixteen-letters-" "--tap t,novj" "--tap scpse0 --gateway 10.79.0.1"; do
        "$BIN/scps_ttcp" -t -s $bad --addr 10.78.0.2/24 10.78.0.1 2>"$TMP/err"
        rc=$?
        cat "$TMP/err"
        [ $rc -eq 2 ] && [ "$(wc -l <"$TMP/err")" -eq 1 ] || return 1
        grep -q -e "$(cut -d' ' -f1 <<<"${bad/--tap scpse0 }") " "$TMP/err" || return 1
    done
}
ok "names of devices and gateways" names
ok "a neighbour that does not answer" unanswered
if command -v tshark >/dev/null; then
    wire() {
        local shark
        ip tuntap add dev scpse0 mode tap
        ip link set scpse0 up
        background shark tshark -q -i scpse0 -w "$TMP/wire.pcap"
        shark=$!
        eventually test -s "$TMP/wire.pcap" || return 1
        from_kernel fd78::2 "${v6[@]}" && from_kernel 10.78.0.2 "${v4[@]}"
        kill $shark
        wait $shark
        ip link delete scpse0
        [ "$(tshark -r "$TMP/wire.pcap" -Y "arp || icmpv6.type == 135 || icmpv6.type == 136" 2>/dev/null | wc -l)" -gt 3 ] || return 1
        judge "$TMP/wire.pcap" 65535
    }
    ok "tshark finds nothing wrong on the wire" wire
fi
verdict
