#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What can be wrong with a device or an address: one line that names the remedy and the right exit status; and a device
# that vanishes in the middle of a transfer.
. "$(dirname "$0")/lib.sh"
need socat
built scps_echo
echo_r=("$BIN/scps_echo" -r --time 0.3)
net=(--addr 10.77.0.2/24 --kernel-addr 10.77.0.1)

says() { # STATUS WORDS COMMAND...
    local want=$1 words=$2 rc
    shift 2
    timeout $PATIENCE "$@" >"$TMP/o" 2>"$TMP/e"
    rc=$?
    cat "$TMP/e"
    [ $rc -eq "$want" ] || { echo "status $rc, wanted $want"; return 1; }
    [ "$(wc -l <"$TMP/e")" -eq 1 ] || { echo "not one line"; return 1; }
    grep -qF -- "$words" "$TMP/e" || { echo "'$words' is not said"; return 1; }
}
ok "nothing wrong" says 0 connections "${echo_r[@]}" --tun scpsi0 "${net[@]}"
ok "no interface" says 2 'no interface: give --tun NAME, --tap NAME, --ppp DEVICE' "${echo_r[@]}" --addr 10.77.0.2/24
ok "no address" says 2 'give --addr' "${echo_r[@]}" --tun scpsi0
ok "neither -r nor -t" says 2 'say -r' "$BIN/scps_echo" --tun scpsi0 "${net[@]}"
ok "bad port" says 2 '1 to 65535' "${echo_r[@]}" -p 0 --tun scpsi0 "${net[@]}"
ok "same address twice" says 2 'cannot be both' "${echo_r[@]}" --tun scpsi0 --addr 10.77.0.1/24 --kernel-addr 10.77.0.1
ok "bad device name" says 2 'give a name for a device alone' "${echo_r[@]}" --tun 'a name' "${net[@]}"
ip tuntap add dev scpstap mode tap
ok "a tap" says 1 'Ethernet frames' "${echo_r[@]}" --tun scpstap "${net[@]}"
ok "not a TUN device" says 1 'another name' "${echo_r[@]}" --tun lo "${net[@]}"
ip addr add 10.77.9.1/24 dev lo
ok "an address of the kernel's" says 1 'in use by this host' "${echo_r[@]}" --tun scpsi0 --addr 10.77.9.1/24

background other "$BIN/scps_echo" -r --tun scpsi0 "${net[@]}"
other=$!
eventually addressed scpsi0
ok "a device in use" says 1 'in use by another program' "${echo_r[@]}" --tun scpsi0 "${net[@]}"
stop $other

background other "$BIN/scps_echo" -r --udp 127.0.0.1:7001 --addr 10.77.1.1
other=$!
eventually listens -u 7001
ok "a UDP port in use" says 1 'take another port' "${echo_r[@]}" --udp 127.0.0.1:7001 --addr 10.77.1.2
ok "not our UDP address" says 1 'not an address of this host' "${echo_r[@]}" --udp 192.0.2.1:7001 --addr 10.77.1.2
ok "a port that refuses" says 1 'refused' "$BIN/scps_echo" -t -p 8 --udp 127.0.0.1:7002,127.0.0.1:7001 --addr 10.77.1.2 10.77.1.1
ok "an echo over UDP" says 0 'equal' "$BIN/scps_echo" -t --udp 127.0.0.1:7002,127.0.0.1:7001 --addr 10.77.1.2 10.77.1.1
stop $other
ok "nobody there: timeout" says 124 'no end within' "$BIN/scps_echo" -t --time 0.5 --udp 127.0.0.1:7002,127.0.0.1:7001 \
    --addr 10.77.1.2 10.77.1.1
ok "no route" says 1 'no route' "$BIN/scps_echo" -t --tun scpsi0 "${net[@]}" 192.0.2.1

as_nobody() {
    cp "$BIN/scps_echo" "$TMP/scps_echo" && chmod 755 "$TMP" "$TMP/scps_echo"
    says 1 'no permission' setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/scps_echo" -r --time 0.3 --tun scpsi0 "${net[@]}"
}
[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null &&
    ok "no permission" as_nobody
no_node() {
    unshare -m sh -c 'mount -t tmpfs none /dev/net && exec "$@"' sh "$@"
}
ok "no /dev/net/tun" says 1 'modprobe tun' unshare -m --propagation private \
    sh -c 'mount -t tmpfs none /dev/net && exec "$@"' sh "${echo_r[@]}" --tun scpsi0 "${net[@]}"

flows() { # megabytes, both ways
    awk '$1 == "scpsi0:" { n = $2 > 1e6 && $10 > 1e6 } END { exit !n }' /proc/net/dev
}
vanishes() { # the kernel deletes the device while data flows both ways
    local server rc
    background gone "$BIN/scps_echo" -r --tun scpsi0 "${net[@]}"
    server=$!
    eventually addressed scpsi0 || return 1
    socat -t 1 /dev/zero,readbytes=100000000000 TCP:10.77.0.2:7 >/dev/null 2>&1 &
    local client=$!
    eventually flows
    ip link delete scpsi0
    eventually gone $server
    wait $server
    rc=$?
    kill $client 2>/dev/null
    wait $client 2>/dev/null
    cat "$TMP/gone.err"
    [ $rc -eq 1 ] && grep -q 'the device has vanished' "$TMP/gone.err" && [ "$(wc -l <"$TMP/gone.err")" -eq 1 ] &&
        ! grep -q ' 0 bytes in' "$TMP/gone.err"
}
ok "the device vanishes in mid-transfer" vanishes

existing() { # a device that was there before is used as it is, and stays
    ip tuntap add dev scpsold mode tun && ip addr add 10.78.0.1/24 dev scpsold && ip link set scpsold up || return 1
    background old "$BIN/scps_echo" -r --tun scpsold --addr 10.78.0.2/24
    local server=$!
    echo hello >"$TMP/hello"
    eventually socat -u OPEN:/dev/null TCP:10.78.0.2:7,connect-timeout=1 || return 1
    socat -t $PATIENCE - TCP:10.78.0.2:7 <"$TMP/hello" >"$TMP/back" && same "$TMP/hello" "$TMP/back" || return 1
    stop $server && addressed scpsold
}
ok "an existing, addressed device" existing

runs() { # PID: how often it was given a processor; more often, or longer, if it does not sleep
    awk '{ print $3 + int($1 / 1e6) }' "/proc/$1/schedstat"
}
idle() {
    background idle "$BIN/scps_echo" -r --tun scpsi0 "${net[@]}" --addr fd77::2/64 --kernel-addr fd77::1
    local server=$! before n
    eventually addressed scpsi0 || return 1
    exec 3<>/dev/tcp/10.77.0.2/7 # one connection, open and silent
    sleep 1
    before=$(runs $server)
    sleep 3
    n=$(($(runs $server) - before))
    exec 3>&-
    stop $server
    figure "$n times in 3 s"
    [ "$n" -le 30 ]
}
ok "idle: wakes up ten times a second at most" idle
verdict
