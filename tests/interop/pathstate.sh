#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scps_ttcp --path-state over real interfaces: two processes in two namespaces, joined by scps_link with 200 ms, over IP in
# UDP and over TUN through the kernels' forwarding. The first connection saves what it found out, the second begins with it; a
# state of another destination, a corrupt one, one of another version, from the future and all ones are each refused by
# name in one line, and the transfer goes on without.
. "$(dirname "$0")/lib.sh"
need python3 sha256sum ip
built scps_link scps_ttcp

for n in here there; do
    ip netns add $n || skip "no namespaces"
    ip -n $n link set lo up
    ip netns exec $n bash -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
done
background link "$BIN/scps_link" --a lnka@here --b lnkb@there --addr-a 10.79.0.1/24 --addr-b 10.79.0.2/24 \
    --link rate=20mbit,rtt=200ms --seed 1 --ctl "$TMP/ctl" -q
eventually "$BIN/scps_link" ctl "$TMP/ctl" show || skip "scps_link did not begin"
ip -n here route add 10.82.0.0/16 via 10.79.0.2
ip -n there route add 10.81.0.0/16 via 10.79.0.1
some_file "$TMP/file" 6

pass() { # udp|tun HOST [OPTIONS...]: the file arrives; the sender's words in $TMP/send.err
    local how=$1 host=$2 receiver rc a b ready
    shift 2
    if [ "$how" = udp ]; then
        a=(--udp 10.79.0.1:7001,10.79.0.2:7002 --addr 10.9.0.1/24)
        b=(--udp 10.79.0.2:7002,10.79.0.1:7001 --addr "$host/24")
        ready=(listens -u 7002)
    else
        a=(--tun scpsh --addr 10.81.0.2/24 --kernel-addr 10.81.0.1 --gateway 10.81.0.1)
        b=(--tun scpst --addr "$host/24" --kernel-addr 10.82.0.1 --gateway 10.82.0.1)
        ready=(addressed_there scpst)
    fi
    ip netns exec there "$BIN/scps_ttcp" -r -b 4M --timeout $PATIENCE "${b[@]}" >"$TMP/got" 2>"$TMP/receive.err" &
    receiver=$!
    pids+=($receiver)
    netns=there eventually "${ready[@]}" || { cat "$TMP/receive.err"; return 1; }
    ip netns exec here "$BIN/scps_ttcp" -t -v -b 4M --cc cubic --timeout $PATIENCE "${a[@]}" "$@" "$host" <"$TMP/file" 2>"$TMP/send.err"
    rc=$?
    wait $receiver && [ $rc -eq 0 ] && same "$TMP/file" "$TMP/got" && return 0
    cat "$TMP/send.err" "$TMP/receive.err"
    return 1
}
addressed_there() {
    ip -n there -o addr show dev "$1" scope global 2>/dev/null | grep -q inet
}
saves() { # udp|tun HOST
    rm -f "$TMP/$1.path"
    pass "$1" "$2" --path-state "$TMP/$1.path" && grep -q 'careful resume: normal; saved' "$TMP/send.err" &&
        [ "$(stat -c %s "$TMP/$1.path")" -eq 88 ] && cp "$TMP/$1.path" "$TMP/$1.good"
}
uses() { # a machine that stops for a while can end the jump early, so the whole of it is to be seen in one of three
    local n
    for n in 1 2 3; do
        cp "$TMP/$1.good" "$TMP/$1.path"
        pass "$1" "$2" --path-state "$TMP/$1.path" || return 1
        if grep -q 'not used' "$TMP/send.err"; then break; fi
        grep -q 'careful resume: reconnaissance unvalidated validating normal; saved' "$TMP/send.err" && return 0
    done
    cat "$TMP/send.err"
    return 1
}
wrong() { # KIND: the good state of udp, made wrong, to $TMP/wrong.path
    python3 - "$1" "$TMP/udp.good" "$TMP/wrong.path" <<'PY'
import struct, sys, zlib
kind, good = sys.argv[1], open(sys.argv[2], "rb").read()


def signed(o):
    return o[:84] + struct.pack(">I", zlib.crc32(o[:84]))


open(sys.argv[3], "wb").write({"corrupt": good[:30] + bytes([good[30] ^ 1]) + good[31:],
                               "version": signed(good[:8] + b"\0\2" + good[10:]),
                               "future": signed(good[:16] + b"\x7f" * 8 + good[24:]),
                               "foreign": b"\xff" * 88, "destination": good}[kind])
PY
}
refused() { # KIND WORDS [HOST]
    wrong "$1" && pass udp "${3:-10.9.0.2}" --path-state "$TMP/wrong.path" || return 1
    cat "$TMP/send.err"
    [ "$(grep -c 'not used' "$TMP/send.err")" -eq 1 ] && grep -qx "scps_ttcp: --path-state $TMP/wrong.path: not used: $1: $2" "$TMP/send.err"
}
ok "udp: the first connection saves" saves udp 10.9.0.2
ok "udp: the second begins with what it saved" uses udp 10.9.0.2
ok "tun: the first connection saves" saves tun 10.82.0.2
ok "tun: the second begins with what it saved" uses tun 10.82.0.2
ok "a state of another destination" refused destination "it is of other addresses" 10.9.0.3
ok "a corrupt state" refused corrupt "its checksum is wrong"
ok "a state of another version" refused version "it is of another version of the format"
ok "a state from the future" refused future "it was saved later than now"
ok "all ones" refused foreign "it is no path state; it is left as it is"
verdict
