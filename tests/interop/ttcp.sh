#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scps_ttcp against the kernel's nc over TUN: 100 MB to the kernel and from it with equal SHA-256, both families;
# 10 MB with and without SACK and timestamps; its captures read by tshark.
. "$(dirname "$0")/lib.sh"
need nc sha256sum
built scps_ttcp

some_file "$TMP/big" 100
some_file "$TMP/small" 10
v4=(--tun scpsi0 --addr 10.77.0.2/24 --kernel-addr 10.77.0.1)
v6=(--tun scpsi0 --addr fd77::2/64 --kernel-addr fd77::1)

to_kernel() { # FILE HOST OPTIONS...
    local file=$1 host=$2 family=-4 receiver rc
    shift 2
    [[ $host == *:* ]] && family=-6
    background nc nc $family -l 5001
    receiver=$!
    eventually listens -t 5001 || return 1
    "$BIN/scps_ttcp" -t --timeout $PATIENCE "$@" "$host" <"$file" 2>"$TMP/ttcp.err"
    rc=$?
    [ $rc -ne 0 ] || eventually gone $receiver
    kill $receiver 2>/dev/null
    wait $receiver
    cat "$TMP/ttcp.err"
    [ $rc -eq 0 ] && same "$file" "$TMP/nc.out"
}
from_kernel() { # FILE HOST OPTIONS...
    local file=$1 host=$2 receiver rc
    shift 2
    background ttcp "$BIN/scps_ttcp" -r --timeout $PATIENCE "$@"
    receiver=$!
    eventually addressed scpsi0 || { cat "$TMP/ttcp.err"; return 1; }
    timeout $PATIENCE nc -N -v "$host" 5001 <"$file" || kill $receiver # which would wait for a connection
    wait $receiver
    rc=$?
    cat "$TMP/ttcp.err"
    [ $rc -eq 0 ] && same "$file" "$TMP/ttcp.out"
}
ok "100 MB to the kernel, IPv4" to_kernel "$TMP/big" 10.77.0.1 "${v4[@]}"
ok "100 MB to the kernel, IPv6" to_kernel "$TMP/big" fd77::1 "${v6[@]}"
ok "100 MB from the kernel, IPv4" from_kernel "$TMP/big" 10.77.0.2 "${v4[@]}"
ok "100 MB from the kernel, IPv6" from_kernel "$TMP/big" fd77::2 "${v6[@]}"
for sack in 0 1; do
    for stamps in 0 1; do
        kernel_options $sack $stamps
        ok "10 MB to the kernel, SACK $sack, timestamps $stamps" to_kernel "$TMP/small" 10.77.0.1 "${v4[@]}"
        ok "10 MB from the kernel, SACK $sack, timestamps $stamps" from_kernel "$TMP/small" fd77::2 "${v6[@]}"
    done
done
if command -v tshark >/dev/null; then
    some_file "$TMP/few" 2
    captures() {
        to_kernel "$TMP/few" 10.77.0.1 "${v4[@]}" --pcap "$TMP/out.pcap" &&
            from_kernel "$TMP/few" fd77::2 "${v6[@]}" --pcap "$TMP/in.pcap" &&
            judge "$TMP/out.pcap" && judge "$TMP/in.pcap"
    }
    ok "tshark finds nothing wrong in its captures" captures
fi
verdict
