#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The kernel's TCP against scps_echo over TUN: 100 MB there and back at once, both families, with and without SACK and
# timestamps; many clients; half-close; discard and chargen.
. "$(dirname "$0")/lib.sh"
need socat sha256sum
built scps_echo

background echo "$BIN/scps_echo" -r ${SCPS_ECHO_OPTIONS-} --discard 9 --chargen 19 --tun scpsi0 --addr 10.77.0.2/24 --kernel-addr 10.77.0.1 \
    --addr fd77::2/64 --kernel-addr fd77::1
server=$!
eventually addressed scpsi0 || { cat "$TMP/echo.err"; exit 1; }
some_file "$TMP/big" 100
some_file "$TMP/small" 10

there_and_back() { # FILE HOST
    timeout $PATIENCE socat -t $PATIENCE - "TCP:$2:7" <"$1" >"$TMP/back" && same "$1" "$TMP/back"
}
if command -v ping >/dev/null; then
    ok "ping IPv4" ping -c 3 -i 0.1 -w $PATIENCE 10.77.0.2
    ok "ping IPv6" ping -6 -c 3 -i 0.1 -w $PATIENCE fd77::2
else
    echo "skipped: ping is not installed"
fi
ok "100 MB there and back, IPv4" there_and_back "$TMP/big" 10.77.0.2
ok "100 MB there and back, IPv6" there_and_back "$TMP/big" '[fd77::2]'
for sack in 0 1; do
    for stamps in 0 1; do
        kernel_options $sack $stamps
        ok "10 MB, IPv4, SACK $sack, timestamps $stamps" there_and_back "$TMP/small" 10.77.0.2
        ok "10 MB, IPv6, SACK $sack, timestamps $stamps" there_and_back "$TMP/small" '[fd77::2]'
    done
done

many() {
    local i jobs=() rc=0
    for i in {1..30}; do
        head -c $((i * 7919)) "$TMP/big" >"$TMP/in.$i"
        timeout $PATIENCE socat -t $PATIENCE - TCP:10.77.0.2:7 <"$TMP/in.$i" >"$TMP/out.$i" &
        jobs+=($!)
    done
    for i in {1..30}; do
        wait "${jobs[i - 1]}" || rc=1
        same "$TMP/in.$i" "$TMP/out.$i" || rc=1
    done
    return $rc
}
ok "30 clients at once" many
discards() {
    timeout $PATIENCE socat -u "$TMP/big" TCP:10.77.0.2:9
}
ok "discard" discards
chargens() {
    timeout $PATIENCE socat -u TCP:10.77.0.2:19 - 2>/dev/null | head -c 1000000 >"$TMP/chars"
    [ "$(stat -c %s "$TMP/chars")" -eq 1000000 ] && [ "$(head -c 72 "$TMP/chars")" = "$(printf '%s' \
        ' !"#$%&'"'"'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefg')" ]
}
ok "chargen" chargens
refused() {
    ! timeout $PATIENCE socat - TCP:10.77.0.2:81 </dev/null 2>"$TMP/refused" && grep -q refused "$TMP/refused"
}
ok "a closed port refuses" refused

ends() {
    stop $server
    local rc=$?
    cat "$TMP/echo.err"
    [ $rc -eq 0 ] && grep -q 'connections' "$TMP/echo.err" && ! ip link show scpsi0 2>/dev/null
}
ok "SIGINT: a report, status 0, the device gone" ends
verdict
