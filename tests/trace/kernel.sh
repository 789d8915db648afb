#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Captures of the kernel's own TCP (CUBIC, Reno and BBR), made in network namespaces: a bottleneck by tc tbf, drops by nft, IPv4 and
# IPv6, with and without SACK and timestamps, at the sender and at the receiver; each compared with tcptrace and tshark field
# by field.  $1: scps_trace.  Needs root and the tools; else skipped (77).
set -u
PATH=$PATH:/usr/sbin:/sbin
TRACE=$(realpath "${1:?scps_trace}")
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
. "$ROOT/tests/support/wait.sh"

for tool in ip tc nft socat dumpcap editcap awk tcptrace tshark python3; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
if [ -z "${TRACE_KERNEL_INSIDE-}" ]; then
    TRACE_KERNEL_INSIDE=1 exec "$ROOT/tools/netns" run "$0" "$TRACE"
fi

TMP=$(mktemp -d)
export TMPDIR=$TMP # of the programs it runs
pids=()
finish() {
    trap '' INT TERM HUP # tools/with-cleanup asks whatever runs to end, and rm is not meant
    for p in "${pids[@]-}"; do [ -n "$p" ] && kill "$p" 2>/dev/null; done
    for n in left middle right; do ip netns del $n 2>/dev/null; done
    rm -rf "$TMP"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP
"$ROOT/tools/netns" path 0 || exit 77
ip netns exec middle tc qdisc add dev right root tbf rate 30mbit burst 6000 limit 60000 ||
    { echo "skipped: tc has no tbf here"; exit 77; }
ip netns exec middle nft 'add table inet t; add chain inet t c { type filter hook forward priority 0; }' || exit 77

for n in left right; do ip netns exec $n bash -c 'echo 0 >/proc/sys/net/ipv4/tcp_no_metrics_save' 2>/dev/null; done

capturing() { # NAME
    [ -s "$TMP/$1-receiver.pcap" ] && [ -s "$TMP/$1-sender.pcap" ]
}

# A namespace has the controller that the host's configuration sets, and only those of tcp_allowed_congestion_control may be set
# in its place by sysctl. A privileged socket may have any that the kernel has.
controller() { # NAME: the option of socat that sets it; empty if this kernel lacks it
    grep -qw "$1" /proc/sys/net/ipv4/tcp_available_congestion_control && echo ",setsockopt-string=6:13:$1" # TCP_CONGESTION
}

# NAME CONTROLLER BYTES DROP_PER_MILLE_FORWARD BACK VERSION CONNECTIONS [sysctl=value...]
transfer() {
    local name=$1 cc bytes=$3 fwd=$4 back=$5 v=$6 conns=$7 host old=() s
    cc=$(controller "$2")
    shift 7
    host=10.9.2.2
    [ "$v" = 6 ] && host='[fd09:2::2]'
    for s; do
        old+=("${s%=*}=$(ip netns exec left cat "/proc/sys/net/ipv4/${s%=*}")")
        ip netns exec left bash -c "echo ${s#*=} >/proc/sys/net/ipv4/${s%=*}"
    done
    ip netns exec middle nft flush chain inet t c
    [ "$fwd" = 0 ] || ip netns exec middle nft "add rule inet t c tcp dport 5001 numgen random mod 1000 < $fwd drop"
    [ "$back" = 0 ] || ip netns exec middle nft "add rule inet t c tcp sport 5001 numgen random mod 1000 < $back drop"
    ip netns exec left dumpcap -q -P -i eth0 -s 128 -w "$TMP/$name-sender.pcap" -f tcp 2>/dev/null &
    local d1=$!
    ip netns exec right dumpcap -q -P -i eth0 -s 128 -w "$TMP/$name-receiver.pcap" -f tcp 2>/dev/null &
    local d2=$!
    ip netns exec right socat -u TCP$v-LISTEN:5001,reuseaddr,fork OPEN:/dev/null &
    local sink=$!
    pids+=($d1 $d2 $sink)
    eventually capturing "$name"
    netns=right eventually listens -t 5001
    local jobs=()
    for s in $(seq "$conns"); do
        head -c "$bytes" /dev/zero | timeout $PATIENCE ip netns exec left socat -u - TCP$v:"$host":5001"$cc" &
        jobs+=($!)
    done
    wait "${jobs[@]}"
    # the application is done long before the send buffer is: a capture is to hold the whole of it, and nothing of the next
    netns=left eventually idle_tcp 5001
    sleep 0.5 # until dumpcap has written it; what it has not is missing for everybody
    kill $d1 $d2 $sink 2>/dev/null
    wait $d1 $d2 2>/dev/null
    for s in "${old[@]-}"; do
        [ -n "$s" ] && ip netns exec left bash -c "echo '${s#*=}' >/proc/sys/net/ipv4/${s%=*}"
    done
}

transfer clean cubic 2000000 0 0 4 1
transfer lossy cubic 2000000 10 0 4 1
transfer both-ways reno 1000000 20 100 4 1
transfer six bbr 1000000 10 0 6 1
transfer no-sack reno 1000000 10 0 4 1 tcp_sack=0
transfer no-stamps cubic 1000000 10 0 4 1 tcp_timestamps=0
transfer bare reno 1000000 20 0 4 1 tcp_sack=0 tcp_timestamps=0 tcp_window_scaling=0
transfer six-at-once bbr 500000 5 0 4 6

# as if the capture had begun in the middle of the transfer
for name in no-sack-receiver lossy-sender bare-receiver; do
    editcap -r "$TMP/$name.pcap" "$TMP/half-of-$name.pcap" 200-100000 || exit 1
done

status=0
python3 "$HERE/test_tcptrace.py" "$TRACE" "$TMP"/*.pcap || status=1
python3 "$HERE/test_tshark.py" "$TRACE" "$TMP"/*.pcap || status=1
if [ $status != 0 ] && [ -n "${TRACE_KEEP-}" ]; then
    cp "$TMP"/*.pcap "$TRACE_KEEP"
fi
exit $status
