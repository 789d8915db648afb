# SPDX-License-Identifier: MIT
# Functions that the tests against the kernel share.  A test sources this file with its own arguments:
#
#   . "$(dirname "$0")/lib.sh"          $1: the folder of the programs; continues inside tools/netns run
#
# and is then in a network of its own, which is gone when it ends, however it ends.  Background programs are ended by
# their process ids.  Exit status 77: skipped, with the reason printed.
#
# No test fails because the machine is slow, or stops for a while: what is waited for is a condition, and what the clock says
# is told as a figure.  A time is asserted on the side that no machine can change: nothing arrives before its delay is over.
set -u
BIN=$(cd "${1:?folder of the programs}" && pwd) || exit 1
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
PATH=$PATH:/usr/sbin:/sbin
. "$ROOT/tests/support/wait.sh"

skip() {
    echo "skipped: $*"
    exit 77
}

need() { # skips the test unless these programs of the system are installed
    local tool
    for tool; do
        command -v "$tool" >/dev/null || skip "$tool is not installed"
    done
}

built() { # skips the test unless these programs of the project are built
    local program
    for program; do
        [ -x "$BIN/$program" ] || skip "$program is not built"
    done
}

if [ -z "${SCPS_INTEROP_INSIDE-}" ]; then
    SCPS_INTEROP_INSIDE=1 exec "$ROOT/tools/netns" run "$0" "$@"
fi
# A TUN device can be made only if /dev/net/tun exists and the namespace belongs to this test.
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
ip tuntap add dev scpsprobe mode tun 2>/dev/null || skip "no permission to make a TUN device"
ip link delete scpsprobe

TMP=$(mktemp -d)
export TMPDIR=$TMP # of the programs a test runs
pids=()
failures=0

finish() {
    local pid
    [ $BASHPID = $$ ] || return 0 # a background job that was ended before it became its program
    trap '' INT TERM HUP          # rm ignores the signals with which tools/with-cleanup ends programs
    for pid in "${pids[@]-}"; do
        [ -n "$pid" ] && kill "$pid" 2>/dev/null
    done
    rm -rf "$TMP"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

background() { # NAME COMMAND...: in the background, output in $TMP/NAME.out and .err, its pid in $!
    local name=$1
    shift
    "$@" >"$TMP/$name.out" 2>"$TMP/$name.err" &
    pids+=($!)
}

# Background children of a script ignore SIGINT unless it has job control.
set -m

# The programs address a device last of all before they listen.  Addresses of a wider scope than the link are theirs; a
# link-local one the kernel adds by itself as soon as the device is up, and nobody can be reached through that alone.
addressed() { # DEVICE
    ip -o addr show dev "$1" scope global 2>/dev/null | grep -q inet
}

figure() { # WORDS: a measurement, printed when the command of ok that made it has succeeded
    echo "figure  $*"
}

ok() { # WHAT COMMAND...: one line, counts failures
    local what=$1 t=${EPOCHREALTIME/./}
    shift
    if "$@" >"$TMP/last" 2>&1; then
        printf 'ok      %s (%d ms)\n' "$what" $(((${EPOCHREALTIME/./} - t) / 1000))
        sed -n '/^figure /p' "$TMP/last"
    else
        printf 'FAILED  %s\n' "$what"
        sed 's/^/        /' "$TMP/last" | tail -20
        failures=$((failures + 1))
    fi
}

kernel_options() { # SACK TIMESTAMPS: of the namespace the command runs in; $netns names another
    ${netns:+ip netns exec $netns} bash -c "echo $1 >/proc/sys/net/ipv4/tcp_sack; echo $2 >/proc/sys/net/ipv4/tcp_timestamps"
}

some_file() { # FILE MEGABYTES: neither random nor all alike, nor repeating
    seq -f 'line %.0f of a file that is neither random nor empty' 1 $(($2 * 22000)) | head -c $(($2 << 20)) >"$1"
}

sum() {
    sha256sum "$@" | cut -d' ' -f1
}

same() { # FILE FILE
    [ "$(sum "$1")" = "$(sum "$2")" ] || {
        echo "$1 ($(stat -c %s "$1") bytes) and $2 ($(stat -c %s "$2") bytes) differ"
        return 1
    }
}

# A capture must have not one malformed packet or wrong checksum in it, and none larger than the MTU. A TCP checksum that
# comes out as 0 the Linux kernel may send as 0xffff (skb_checksum_help), which is as good and which tshark calls bad.
judge() { # PCAP [MTU]
    local checks=(-o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE)
    local n bad mtu=${2:-1500}
    n=$(tshark -r "$1" 2>/dev/null | wc -l)
    [ "$n" -gt 0 ] || { echo "no packets in $1"; return 1; }
    bad=$(tshark -r "$1" "${checks[@]}" -Y "_ws.malformed || (tcp.checksum.status == \"Bad\" && tcp.checksum != 0xffff) || ip.checksum.status == \"Bad\" ||
        udp.checksum.status == \"Bad\" || icmp.checksum.status == \"Bad\" || icmpv6.checksum.status == \"Bad\" ||
        ip.len > $mtu || ipv6.plen > $((mtu - 40))" 2>/dev/null)
    [ -z "$bad" ] || { echo "of $n packets in $1:"; echo "$bad" | head; return 1; }
}

verdict() {
    [ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
    exit 0
}
