#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Through a namespace in between that drops 1 % of the packets, both ways:
#
#   left: our stack on TUN, routed -- middle: nft drops -- right: the kernel's socat
#
# 10 MB there and back at once, both families, with and without SACK and timestamps.
. "$(dirname "$0")/lib.sh"
need socat nft sha256sum awk
built scps_echo

"$ROOT/tools/netns" path 1 || skip "no path of namespaces: see above"
left=(ip netns exec left)
right=(ip netns exec right)
"${left[@]}" bash -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
ip -n middle route add 10.77.0.0/24 via 10.9.1.2
ip -n middle -6 route add fd77::/64 via fd09:1::2
background echo "${left[@]}" "$BIN/scps_echo" -r ${SCPS_ECHO_OPTIONS-} --tun scpsi0 --addr 10.77.0.2/24 --kernel-addr 10.77.0.1 --gateway 10.77.0.1 \
    --addr fd77::2/64 --kernel-addr fd77::1 --gateway fd77::1
up() {
    ip -n left -o addr show dev scpsi0 | grep -q fd77::1
}
eventually up || { cat "$TMP/echo.err"; exit 1; }
some_file "$TMP/file" 10
kinds=('1 1' '1 0' '0 1' '0 0')
[ -z "${SCPS_LOSSY_QUICK-}" ] || kinds=('1 1')

there_and_back() { # HOST
    "${right[@]}" timeout $PATIENCE socat -t $PATIENCE - "TCP:$1:7" <"$TMP/file" >"$TMP/back" && same "$TMP/file" "$TMP/back"
}
for options in "${kinds[@]}"; do
    netns=right kernel_options $options
    ok "10 MB, 1 % lost, IPv4, SACK and timestamps $options" there_and_back 10.77.0.2
    [ "$options" = '1 1' ] || [ "$options" = '0 0' ] || continue
    ok "10 MB, 1 % lost, IPv6, SACK and timestamps $options" there_and_back '[fd77::2]'
done
dropped() {
    "${right[@]}" true && ip netns exec middle nft list table inet lossy | grep -o 'packets [0-9]*' | tee /dev/stderr |
        awk '{ exit $2 < 100 }'
}
ok "the path did drop packets" dropped
verdict
