#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two processes pass a file over IP in UDP and over TUN, through the kernel's forwarding, in every combination of -G 0 1 2
# and -F 0 1 2 with and without SNACK, and with -E, -C and -c where this version has them; equal SHA-256 each time.
#
#   tests/interop/modes.sh BIN [MEGABYTES]      2 by default; 100 is what one does by hand (MODES_TIMEOUT=600)
. "$(dirname "$0")/lib.sh"
need sha256sum ip
built scps_ttcp
MEGABYTES=${2:-2}
TIMEOUT=${MODES_TIMEOUT:-50}
some_file "$TMP/file" "$MEGABYTES"

HELP=$("$BIN/scps_ttcp" -h)
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward 2>/dev/null
udp_t=(--udp 127.0.0.1:7001,127.0.0.1:7002 --addr 10.9.0.1/24)
udp_r=(--udp 127.0.0.1:7002,127.0.0.1:7001 --addr 10.9.0.2/24)
tun_t=(--tun scpsm0 --addr 10.78.0.2/24 --kernel-addr 10.78.0.1 --gateway 10.78.0.1)
tun_r=(--tun scpsm1 --addr 10.79.0.2/24 --kernel-addr 10.79.0.1 --gateway 10.79.0.1)

ready() { # the receiver has its socket, or its device an address
    if [ "$1" = udp ]; then
        ss -Hlun 'sport = :7002' | grep -q 7002 || ss -Hun 'sport = :7002' | grep -q 7002
    else
        addressed scpsm1
    fi
}

pass() { # udp|tun OPTIONS...
    local how=$1 receiver rc
    shift
    local -n there=${how}_r here=${how}_t
    local host=10.9.0.2
    [ "$how" = tun ] && host=10.79.0.2
    background receive "$BIN/scps_ttcp" -r --timeout "$TIMEOUT" --rtt 10ms "$@" "${there[@]}"
    receiver=$!
    eventually 20 ready "$how" || { cat "$TMP/receive.err"; return 1; }
    "$BIN/scps_ttcp" -t --timeout "$TIMEOUT" --rtt 10ms "$@" "${here[@]}" "$host" <"$TMP/file" 2>"$TMP/send.err"
    rc=$?
    [ $rc -eq 0 ] || kill -INT $receiver 2>/dev/null
    wait $receiver
    rc=$((rc | $?))
    cat "$TMP/send.err" "$TMP/receive.err"
    [ $rc -eq 0 ] && same "$TMP/file" "$TMP/receive.out"
}

for how in udp tun; do
    for g in 0 1 2; do
        for f in 0 1 2; do
            for snack in "" -S; do
                ok "$how: -G $g -F $f $snack" pass $how -G $g -F $f $snack -R 400m -b 2m
            done
        done
    done
    for extra in -E -C -c; do
        if grep -q -- "^  $extra " <<<"$HELP"; then
            for g in 0 1 2; do
                ok "$how: -G $g $extra" pass $how -G $g $extra -R 400m -b 2m
            done
        else
            echo "skipped: $extra: $("$BIN/scps_ttcp" -t $extra 2>&1 | head -1)"
        fi
    done
done
verdict
