#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two processes pass a file over IP in UDP and over TUN, through the kernel's forwarding, in every combination of -G 0 1 2,
# -F 0 1 2, SNACK or -S, and nothing, -C, -E or -c besides; equal SHA-256 each time, and the rate of each.
#
#   tests/interop/modes.sh BIN [MEGABYTES [REGEX]]    2 by default, and of the combinations with -C, -E and -c those with -F 2
#                                                     and SNACK; from 100 on, all 144 (some ten minutes). REGEX chooses
#                                                     among them: 'tun -G 2'
#
# MODES_JOBS (1) of them run at a time.
. "$(dirname "$0")/lib.sh"
need sha256sum ip python3
built scps_ttcp
MEGABYTES=${2:-2}
WHICH=${3:-.}
JOBS=${MODES_JOBS:-1}
TIMEOUT=$((PATIENCE + 4 * MEGABYTES))
buffer=2m
[ "$MEGABYTES" -lt 100 ] || buffer=8m
some_file "$TMP/file" "$MEGABYTES"
SUM=$(sum "$TMP/file")
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward 2>/dev/null

# Each lane has devices and ports of its own.
ends() { # LANE udp|tun: sets here, there, host, ready
    local a=$((7001 + 2 * $1)) b=$((7002 + 2 * $1)) t=$((20 + 2 * $1)) r=$((21 + 2 * $1))
    if [ "$2" = udp ]; then
        here=(--udp 127.0.0.1:$a,127.0.0.1:$b --addr 10.9.0.1/24)
        there=(--udp 127.0.0.1:$b,127.0.0.1:$a --addr 10.9.0.2/24)
        host=10.9.0.2
        ready=(listens -u $b)
    else
        here=(--tun scpsm$t --addr 10.$t.0.2/24 --kernel-addr 10.$t.0.1 --gateway 10.$t.0.1)
        there=(--tun scpsm$r --addr 10.$r.0.2/24 --kernel-addr 10.$r.0.1 --gateway 10.$r.0.1)
        host=10.$r.0.2
        ready=(addressed scpsm$r)
    fi
}

pass() { # LANE udp|tun OPTIONS...
    local lane=$1 how=$2 receiver rc got here there host ready
    shift 2
    set -- "$@" -R 400m -b $buffer --rtt 10ms --timeout $TIMEOUT
    ends "$lane" "$how"
    "$BIN/scps_ttcp" -r "$@" "${there[@]}" 2>"$TMP/receive$lane.err" | sha256sum >"$TMP/sum$lane" &
    receiver=$!
    eventually "${ready[@]}" || { cat "$TMP/receive$lane.err"; return 1; }
    "$BIN/scps_ttcp" -t "$@" "${here[@]}" "$host" <"$TMP/file" 2>"$TMP/send$lane.err"
    rc=$?
    wait $receiver
    cat "$TMP/send$lane.err" "$TMP/receive$lane.err"
    got=$(cut -d' ' -f1 "$TMP/sum$lane")
    [ $rc -eq 0 ] && [ "$got" = "$SUM" ] || { echo "status $rc, received $got, wanted $SUM"; return 1; }
}

cases() {
    local how g f snack extra
    for how in udp tun; do
        for g in 0 1 2; do
            for f in 0 1 2; do
                for snack in "" -S; do
                    for extra in "" -C -E -c; do
                        [ "$MEGABYTES" -ge 100 ] || [ -z "$extra" ] || [ "$f$snack" = 2 ] || continue
                        echo $how -G $g -F $f $snack $extra | grep -E -- "$WHICH"
                    done
                done
            done
        done
    done
}

work() { # LANE
    local words i=0 failed=0 begin rate
    while read -r -a words; do
        [ $((i++ % JOBS)) -eq "$1" ] || continue
        begin=${EPOCHREALTIME/./}
        if pass "$1" "${words[@]}" >"$TMP/last$1" 2>&1; then
            rate=$(sed -n 's/^ttcp-t: .* = \([0-9.]*\) Mbit.*+++/\1/p' "$TMP/send$1.err")
            echo "${words[0]},${words[*]:1},$rate" >>"$TMP/rates"
            printf 'ok      %s: %s Mbit/s (%d ms)\n' "${words[*]}" "$rate" $(((${EPOCHREALTIME/./} - begin) / 1000))
        else
            printf 'FAILED  %s\n' "${words[*]}"
            tail -20 "$TMP/last$1" | sed 's/^/        /'
            failed=1
        fi
    done < <(cases)
    return $failed
}

: >"$TMP/rates"
lanes=()
for ((lane = 0; lane < JOBS; lane++)); do
    work $lane &
    lanes+=($!)
    pids+=($!)
done
for lane in "${lanes[@]}"; do
    wait "$lane" || failures=$((failures + 1))
done
pids=()
# Mbit/s: a line for each medium, -G and -F, a column for the rest
awk -F, '{ split($2, w, " "); row = sprintf("%s -G %s -F %s", $1, w[2], w[4]); rest = ""
           for (i = 5; i in w; i++) rest = rest (rest == "" ? "" : " ") w[i]
           if (!(row in rows)) { rows[row] = 1; order[++n] = row }
           rate[row, rest] = $3 }
    END { k = split(",-C,-E,-c,-S,-S -C,-S -E,-S -c", c, ","); printf "%-16s", "Mbit/s"
          for (i = 1; i <= k; i++) printf "%9s", c[i] == "" ? "SNACK" : c[i]; print ""
          for (j = 1; j <= n; j++) { printf "%-16s", order[j]
              for (i = 1; i <= k; i++) printf "%9s", rate[order[j], c[i]]; print "" } }' <(LC_ALL=C sort "$TMP/rates")

# Several flows at once: -P, --bidir and both, from one TUN device through the kernel to another; each octet of each flow arrives.
flows() { # STREAMS OPTIONS...
    local n=$1 receiver rc here there host ready
    shift
    ends 90 tun
    "$BIN/scps_ttcp" -r -s -n 300 --json --timeout $TIMEOUT "$@" "${there[@]}" >"$TMP/flows-r.json" 2>"$TMP/flows-r.err" &
    receiver=$!
    eventually "${ready[@]}" || { cat "$TMP/flows-r.err"; return 1; }
    "$BIN/scps_ttcp" -t -s -n 500 --json --timeout $TIMEOUT "$@" "${here[@]}" "$host" >"$TMP/flows-t.json" 2>"$TMP/flows-t.err"
    rc=$?
    wait $receiver || rc=1
    cat "$TMP/flows-t.err" "$TMP/flows-r.err"
    [ $rc -eq 0 ] && python3 - "$TMP/flows-t.json" "$TMP/flows-r.json" "$n" <<'EOF'
import json, sys
t, r, n = json.load(open(sys.argv[1]))["end"], json.load(open(sys.argv[2]))["end"], int(sys.argv[3])
assert len(t["streams"]) == len(r["streams"]) == n * (2 if "sum_sent_bidir_reverse" in t else 1)
assert t["sum_sent"]["bytes"] == r["sum_received"]["bytes"] == n * 500 * 8192, (t["sum_sent"], r["sum_received"])
if "sum_sent_bidir_reverse" in t:
    assert r["sum_sent_bidir_reverse"]["bytes"] == t["sum_received_bidir_reverse"]["bytes"] == n * 300 * 8192
EOF
}
ok "four connections at once over TUN" flows 4 -P 4
ok "both directions at once over TUN" flows 1 --bidir
ok "both directions of three connections over TUN" flows 3 -P 3 --bidir
verdict
