#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# iperf3, nc and ping through scps_link between two namespaces, with nothing of tc: times, rates and losses are the ones
# asked for, the books balance, and what is wrong on the command line costs one line and status 2.
#
# The delay's limit here is the median's, since a test machine may be busy; tests/bench/link_accuracy has the percentiles.
. "$(dirname "$0")/lib.sh"
need iperf3 nc ping python3 sha256sum
built scps_link link_probe

ip netns add linka && ip netns add linkb || skip "no namespaces"
for n in linka linkb; do # nothing but the test's own packets
    ip -n $n link set lo up
    ip netns exec $n bash -c 'echo 1 >/proc/sys/net/ipv6/conf/default/accept_ra; echo 0 >/proc/sys/net/ipv6/conf/default/router_solicitations'
done
a=(ip netns exec linka)
b=(ip netns exec linkb)
L=$BIN/scps_link
ends=(--a lnka@linka --b lnkb@linkb)
addrs=(--addr-a 10.79.0.1/24 --addr-b 10.79.0.2/24 --addr-a fd79::1/64 --addr-b fd79::2/64)

start() { # OPTIONS...: the link, its pid in $link; returns once it runs
    background link "$L" "${ends[@]}" "${addrs[@]}" --ctl "$TMP/ctl" --seed 1 --json "$@"
    link=$!
    eventually 5 "$L" ctl "$TMP/ctl" show || { cat "$TMP/link.err"; return 1; }
}
finish_link() { # its report in $TMP/link.out
    stop $link
}
ctl() {
    "$L" ctl "$TMP/ctl" "$@"
}
judge_report() { # EXPRESSION of r, the report
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); a, b = r["a2b"], r["b2a"]
ok = eval(sys.argv[2])
print(json.dumps(r)); sys.exit(not ok)' "$TMP/link.out" "$1"
}

# ---- bad input ----
says() { # WORDS COMMAND...
    local words=$1 rc
    shift
    timeout 20 "$@" >"$TMP/o" 2>"$TMP/e"
    rc=$?
    cat "$TMP/e"
    [ $rc -eq 2 ] || { echo "status $rc, wanted 2"; return 1; }
    [ "$(wc -l <"$TMP/e")" -eq 1 ] || { echo "not one line"; return 1; }
    grep -qF -- "$words" "$TMP/e" || { echo "'$words' is not said"; return 1; }
}
ok "no ends" says '--a NAME' "$L"
ok "a bad SPEC" says 'allowed: rtt pass' "$L" "${ends[@]}" --link rat=1mbit
ok "no such option" says '--help' "$L" --speed 3
ok "an option without its value" says 'needs a value' "$L" "${ends[@]}" --link
ok "no address" says 'not an address' "$L" "${ends[@]}" --addr-a 10.79.0
ok "one address for both ends" says 'both ends' "$L" "${ends[@]}" --addr-a 10.79.0.1/24 --addr-b 10.79.0.1/24
ok "one device for both ends" says 'a device each' "$L" --a x --b x
ok "no such namespace" says 'ip netns add nowhere' "$L" --a x@nowhere --b y
ok "no namespace at all" says 'not a network namespace' "$L" --a x@/dev/null --b y
ok "a bad device name" says 'not a name for a device' "$L" --a 'x y' --b y
ok "a file that cannot be written" says 'can be written' "$L" "${ends[@]}" --truth "$TMP/none/t.csv"
ok "a capture that cannot be written" says 'can be written' "$L" "${ends[@]}" --pcap-a "$TMP/none/t.pcap"
ip -n linka addr add 10.79.5.1/24 dev lo
ok "an address in use" says 'is in use by device lo' "$L" "${ends[@]}" --addr-a 10.79.5.1/24
touch "$TMP/file-not-socket"
ok "a file in the socket's place" says 'no socket' "$L" "${ends[@]}" --ctl "$TMP/file-not-socket"
ok "nobody at the socket" says 'nobody listens' "$L" ctl "$TMP/none" stats
ok "no /dev/net/tun" says 'modprobe tun' unshare -m --propagation private \
    sh -c 'mount -t tmpfs none /dev/net && exec "$@"' sh "$L" "${ends[@]}"
as_nobody() {
    cp "$L" "$TMP/scps_link" && chmod 755 "$TMP" "$TMP/scps_link"
    says "$1" setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/scps_link" "${@:2}"
}
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
    ok "no permission" as_nobody 'no permission' --a lnkx --b lnky
    ok "no permission to enter a namespace" as_nobody 'no permission' "${ends[@]}"
fi

# ---- a link of 20 Mbit/s and 40 ms ----
start --link rate=20mbit,rtt=40ms,queue=1bdp --pcap-a "$TMP/a.pcap" --pcap-b "$TMP/b.pcap" --truth "$TMP/truth.csv" -i 0.5
ok "a second emulator at the socket" says 'in use by a running program' "$L" --a lnkx --b lnky --ctl "$TMP/ctl"
ok "a second emulator at the device" says 'in use by another program' "$L" "${ends[@]}"
round_trip() { # ADDRESS
    "${a[@]}" ping -c 10 -i 0.02 -W 2 -q "$1" | tee "$TMP/ping" | tail -1
    grep -q ' 0% packet loss' "$TMP/ping" || return 1
    awk -F/ '/^rtt/ { exit !($4 ~ /= 4[0-4]/) }' "$TMP/ping" # the smallest, 40 ms and what the kernel takes
}
ok "ping takes 40 ms" round_trip 10.79.0.2
ok "ping takes 40 ms, IPv6" round_trip fd79::2

"${b[@]}" iperf3 -s -1 -D -I "$TMP/iperf.pid" --logfile "$TMP/iperf.log"
eventually 5 test -s "$TMP/iperf.pid"
iperf() { # OPTIONS: between 85 and 101 % of 20 Mbit/s times 1448 of 1518
    "${a[@]}" iperf3 -c 10.79.0.2 -t 3 -O 1 --json "$@" >"$TMP/iperf.json" || { cat "$TMP/iperf.json"; return 1; }
    python3 -c 'import json, sys; v = json.load(open(sys.argv[1]))["end"]["sum_received"]["bits_per_second"]
print(v); sys.exit(not 0.85 < v / (20e6 * 1448 / 1518) < 1.01)' "$TMP/iperf.json"
}
ok "iperf3 fills it" iperf
some_file "$TMP/file" 4
through_nc() {
    "${b[@]}" timeout 15 nc -l 10.79.0.2 7000 >"$TMP/got" &
    local sink=$!
    eventually 5 bash -c '"$@" ss -ltn | grep -q :7000' - "${b[@]}"
    "${a[@]}" timeout 15 nc -N 10.79.0.2 7000 <"$TMP/file"
    wait $sink
    same "$TMP/file" "$TMP/got"
}
ok "a file through nc" through_nc
ok "statistics" ctl stats
changed() {
    ctl b2a loss=1 && ! "${a[@]}" ping -c 2 -i 0.1 -W 0.3 -q 10.79.0.2 && ctl b2a loss=0 delay=70ms queue=1bdp flip && round || return 1
    ctl b2a delay=20ms flip=off
}
round() {
    "${a[@]}" ping -c 2 -i 0.05 -q 10.79.0.2 | tee "$TMP/ping" | awk -F/ '/^rtt/ { exit !($4 ~ /= 9[0-4]/) }' || return 1
    ctl show | grep -qx 'b2a rate=20000000 delay=70000us queue=225000 overhead=18 ber=0 loss=0 dup=0 reorder=0 flip'
}
ok "changes while it runs" changed
ok "a bad change" says 'loss=2: a probability' "$L" ctl "$TMP/ctl" both loss=2
ok "an unknown key" says 'allowed: rate' "$L" ctl "$TMP/ctl" a2b speed=3
ok "an unknown command" says 'there are: stats' "$L" ctl "$TMP/ctl" dance
ok "no change" says 'nothing to change' "$L" ctl "$TMP/ctl" a2b
finish_link
ok "it ends with status 0" test $? -eq 0
gone() {
    ! ip -n linka link show lnka 2>/dev/null && [ ! -e "$TMP/ctl" ]
}
ok "and leaves nothing behind" gone
ok "interval lines" grep -q 'b2a: .* late p99' "$TMP/link.err"
ok "the books balance" judge_report 'all(d["offered"] + d["duplicated"] == d["delivered"] + sum(d["lost"].values()) + d["in_flight"]
    and d["undelivered"] == 0 for d in (a, b)) and b["lost"]["loss"] >= 2 and a["offered"] > 5000'
schema() {
    python3 - "$ROOT/docs/schema/scps_link.schema.json" "$TMP/link.out" <<'PY'
import json, sys
try:
    import jsonschema
except ImportError:
    sys.exit(0)
jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))
PY
}
ok "the report is as its schema says" schema
books() { # the log says what the captures saw
    python3 - "$TMP" <<'PY'
import collections, csv, json, struct, sys
tmp = sys.argv[1]
report = json.load(open(tmp + "/link.out"))
fates = {d: collections.Counter() for d in ("a2b", "b2a")}
arrivals = collections.defaultdict(list)
for row in csv.DictReader(open(tmp + "/truth.csv")):
    fates[row["direction"]][row["cause"] if row["fate"] == "lost" else row["fate"]] += 1
    if row["arrive_us"]:
        arrivals[row["direction"]].append(int(row["arrive_us"]))
for d in fates:
    r = report[d]
    print(d, dict(fates[d]))
    assert sum(fates[d].values()) == r["offered"]
    assert fates[d]["delivered"] == r["delivered"] + r["in_flight"]
    for cause, n in r["lost"].items():
        assert fates[d][cause] == n, cause


def packets(path):
    data, at = open(path, "rb").read(), 24
    assert struct.unpack_from("<I", data, 20)[0] == 101  # LINKTYPE_RAW
    while at < len(data):
        s, us, n, whole = struct.unpack_from("<IIII", data, at)
        assert n == whole
        yield s * 1000000 + us, data[at + 16:at + 16 + n]
        at += 16 + n
    assert at == len(data)


mine = bytes([10, 79, 0, 1]), bytes.fromhex("fd79000000000000000000000000" + "0001")
b = [(t, p) for t, p in packets(tmp + "/b.pcap")]
a = [(t, p) for t, p in packets(tmp + "/a.pcap")]
assert len(a) == report["a2b"]["offered"] + report["b2a"]["delivered"], len(a)
assert len(b) == report["b2a"]["offered"] + report["a2b"]["delivered"], len(b)
came = [t for t, p in b if p[12:16] == mine[0] or p[8:24] == mine[1]]
told = sorted(arrivals["a2b"])
late = sorted(x - y for x, y in zip(came, told[-len(came):]))
print("late", late[0], late[len(late) // 2], late[-1])
assert late[len(late) // 2] < 500
PY
}
ok "the log and the captures agree" books
if [ -x "$BIN/scps_trace" ]; then
    joined() { # every resend that was seen has its row in the log
        "$BIN/scps_trace" --json --truth "$TMP/truth.csv" "$TMP/a.pcap" >"$TMP/trace.json" || return 1
        python3 - "$TMP/trace.json" <<'PY'
import json, sys
found = []


def walk(x):
    if isinstance(x, dict):
        found.extend([x["truth_unmatched"]] if "truth_unmatched" in x else [])
        x = list(x.values())
    for y in x if isinstance(x, list) else []:
        walk(y)


walk(json.load(open(sys.argv[1])))
print(found)
assert found and set(found) == {0}
PY
    }
    ok "scps_trace reads the log" joined
fi

# ---- a scenario file, and the chances of virtual time ----
cat >"$TMP/two.ini" <<'INI'
[scenario]
name = two
runs = 3
[link]
rate = 20mbit
loss = 0.05
[link up]
rtt = 10ms
[link down]
rtt = 30ms
loss = 0
b = far
mtu = 1400
[flow]
link = up
size = 300kb
payload = 1000
cc = rate
rate = 10mbit
INI
through_scenario() {
    start --scenario "$TMP/two.ini:down" || return 1
    ip -n linka link show lnka | grep -q 'mtu 1400' || { ip -n linka link show lnka; return 1; }
    "${a[@]}" ping -c 5 -i 0.02 -q 10.79.0.2 | tee "$TMP/ping" | awk -F/ '/^rtt/ { exit !($4 ~ /= 3[0-4]/) }' || { cat "$TMP/ping"; return 1; }
    finish_link && judge_report 'r["start"]["scenario"] == {"name": "two", "cell": "", "link": "down", "run": 1} and r["start"]["mtu"] == 1400' && schema
}
ok "a link of a scenario file" through_scenario

fates() { # FILE OPTIONS...: what becomes of 700 packets from a to b
    local file=$1
    shift
    start --truth "$file" "$@" || return 1
    "${b[@]}" "$BIN/link_probe" recv 5001 700 500 5000 0 >/dev/null &
    local receiver=$!
    sleep 0.2
    "${a[@]}" "$BIN/link_probe" send 10.79.0.2 5001 2000 700 500
    wait $receiver
    finish_link
    [ "$(grep -c a2b "$file")" -ge 700 ]
}
if [ -x "$BIN/scps_ttcp" ] && [ -x "$BIN/scps_lab" ]; then
    as_ttcp() { # one by one
        fates "$TMP/r.csv" --link rate=20mbit,rtt=10ms,loss=0.05 &&
            "$BIN/scps_ttcp" -t -s -n 60 --link rate=20mbit,rtt=10ms,loss=0.05 --seed 1 -R 10m --truth "$TMP/v.csv" 2>/dev/null || return 1
        for f in r v; do awk -F, '$2 == "a2b" && n++ < 300 { print $3, $4 }' "$TMP/$f.csv" >"$TMP/$f.fates"; done
        [ "$(grep -c lost "$TMP/r.fates")" -gt 3 ] && [ "$(wc -l <"$TMP/v.fates")" -eq 300 ] && diff "$TMP/r.fates" "$TMP/v.fates"
    }
    ok "packets meet the fates of scps_ttcp --link" as_ttcp
    as_lab() { # RUN: as many lost among as many
        fates "$TMP/r.csv" --scenario "$TMP/two.ini:up" --run "$1" && "$BIN/scps_lab" run "$TMP/two.ini" --json --run "$1" >"$TMP/lab.json" || return 1
        python3 - "$TMP" <<'PY'
import csv, json, sys
tmp = sys.argv[1]
lab = json.load(open(tmp + "/lab.json"))["last_run"][0]
mine = [r["fate"] for r in csv.DictReader(open(tmp + "/r.csv")) if r["direction"] == "a2b"][:lab["offered"]]
print(lab, len(mine), mine.count("lost"))
assert 300 < lab["offered"] <= 700 and lab["dropped"] > 3
assert mine.count("lost") == lab["dropped"]
PY
    }
    for run in 1 2 3; do
        ok "and of scps_lab run --run $run" as_lab $run
    done
fi

# ---- figures: 12 000 packets a second, a saturated line, a loss ----
probe() { # SPEC PPS COUNT BYTES DELAY_US RATE FIELD LOW HIGH
    local v receiver
    start --link "$1" || return 1
    "${b[@]}" "$BIN/link_probe" recv 5001 "$3" "$4" "$5" "$6" >"$TMP/row" &
    receiver=$!
    sleep 0.2
    "${a[@]}" "$BIN/link_probe" send 10.79.0.2 5001 "$2" "$3" "$4"
    wait $receiver
    finish_link
    cat "$TMP/row"
    v=$(cut -d, -f"$7" "$TMP/row")
    awk -v v="$v" -v lo="$8" -v hi="$9" 'BEGIN { exit !(v >= lo && v <= hi) }'
}
ok "12 000 packets/s: half of them within 0.5 ms of 100 ms" probe rate=10gbit,delay=100ms,queue=0 12000 12000 1000 100000 10000000000 4 0 500
ok "10 Mbit/s within 0.5 %" probe rate=10mbit,delay=10ms,queue=200p 1100 2200 1500 10000 0 9 9950000 10050000
# 12000 at 0.01: 120 and 2.576 standard deviations
ok "1 % lost, within the 99 % interval" probe rate=200mbit,delay=10ms,queue=0,loss=0.01 12000 12000 1000 10000 0 2 91 149

# ---- a device that vanishes ----
vanishes() {
    local rc
    start --link lan || return 1
    ip -n linkb link delete lnkb
    wait $link
    rc=$?
    cat "$TMP/link.err"
    [ $rc -eq 1 ] && grep -q 'device lnkb has gone' "$TMP/link.err"
}
ok "a device that vanishes" vanishes
full() {
    "$L" "${ends[@]}" "${addrs[@]}" --link lan --time 1 -q --truth /dev/full &
    local pid=$!
    sleep 0.5
    "${a[@]}" ping -c 2 -i 0.1 -q 10.79.0.2 >/dev/null
    wait $pid
    [ $? -eq 1 ]
}
ok "a full disk is told" full
verdict
