#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# iperf3, nc and ping through scps_link between two namespaces, with nothing of tc: nothing arrives before its time or
# faster than the line, the log has each packet's time and fate as the line and its queue ask for, whenever it was offered,
# the books balance, and what is wrong on the command line costs one line and status 2.
#
# How much later than the model says a packet arrives is the machine's doing: told as figures here, judged by
# tests/bench/link_accuracy.
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
    eventually "$L" ctl "$TMP/ctl" show || { cat "$TMP/link.err"; return 1; }
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
    timeout $PATIENCE "$@" >"$TMP/o" 2>"$TMP/e"
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
ok "one device for both ends" says 'give each end a device of its own' "$L" --a x --b x
ok "no such namespace" says 'ip netns add nowhere' "$L" --a x@nowhere --b y
ok "no namespace at all" says 'not a network namespace' "$L" --a x@/dev/null --b y
ok "a bad device name" says 'not a name for a device' "$L" --a 'x y' --b y
ok "a file that cannot be written" says 'can be written' "$L" "${ends[@]}" --truth "$TMP/none/t.csv"
ok "a capture that cannot be written" says 'can be written' "$L" "${ends[@]}" --pcap-a "$TMP/none/t.pcap"
ip -n linka addr add 10.79.5.1/24 dev lo
ok "an address in use" says 'is in use by device lo' "$L" "${ends[@]}" --addr-a 10.79.5.1/24
touch "$TMP/file-not-socket"
kernels_names() { # the kernel chooses the numbers in these names
    "$L" --a 'lnkp%d' --b 'lnkq%d@linkb' --time 0.1 --json >"$TMP/o" 2>"$TMP/e" && cat "$TMP/e" &&
        grep -q '^scps_link: lnkp0 - lnkq0@linkb, ' "$TMP/e" && grep -q '"device": "lnkp0"' "$TMP/o"
}
ok "the kernel's names of the devices" kernels_names
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
round_trip() { # MILLISECONDS ADDRESS: the shortest of ten is no shorter, and ten do come back
    "${a[@]}" ping -c 10 -i 0.02 -w $PATIENCE -q "$2" >"$TMP/ping" || { cat "$TMP/ping"; return 1; }
    figure "ping through $1 ms: $(sed -n 's/^rtt //p' "$TMP/ping")"
    awk -F'[=/]' -v least="$1" '/^rtt/ { exit !($5 > least - 0.1) }' "$TMP/ping" # clocks are slewed
}
ok "ping takes 40 ms" round_trip 40 10.79.0.2
ok "ping takes 40 ms, IPv6" round_trip 40 fd79::2

"${b[@]}" iperf3 -s -1 -D -I "$TMP/iperf.pid" --logfile "$TMP/iperf.log"
netns=linkb eventually listens -t 5201
iperf() {
    "${a[@]}" timeout $PATIENCE iperf3 -c 10.79.0.2 -n 6M --json >"$TMP/iperf.json" || { cat "$TMP/iperf.json"; return 1; }
    python3 -c 'import json, sys; v = json.load(open(sys.argv[1]))["end"]["sum_received"]
print("figure  iperf3: %.2f Mbit/s, of %.2f" % (v["bits_per_second"] / 1e6, 20 * 1448 / 1518)); sys.exit(v["bytes"] == 0)' "$TMP/iperf.json"
}
ok "iperf3 goes through it" iperf
some_file "$TMP/file" 4
through_nc() {
    "${b[@]}" timeout $PATIENCE nc -l 10.79.0.2 7000 >"$TMP/got" &
    local sink=$!
    netns=linkb eventually listens -t 7000
    "${a[@]}" timeout $PATIENCE nc -N 10.79.0.2 7000 <"$TMP/file"
    wait $sink
    same "$TMP/file" "$TMP/got"
}
ok "a file through nc" through_nc
ok "statistics" ctl stats
lost_two() {
    [ "$(ctl stats | sed -n 's/^b2a: lost.* \([0-9]*\) loss.*/\1/p')" -ge 2 ]
}
unanswered() { # until the link has lost two of the answers
    local ping
    "${a[@]}" ping -i 0.1 -q 10.79.0.2 >"$TMP/ping" &
    ping=$!
    eventually lost_two && stop $ping
    grep -q ' 0 received' "$TMP/ping"
}
changed() {
    ctl b2a loss=1 && unanswered && ctl b2a loss=0 delay=70ms queue=1bdp flip && round_trip 90 10.79.0.2 &&
        ctl show | grep -qx 'b2a rate=20000000 delay=70000us queue=225000 overhead=18 ber=0 loss=0 dup=0 reorder=0 flip' &&
        ctl b2a delay=20ms flip=off
}
ok "changes while it runs" changed
ok "a bad change" says 'loss=2: a probability' "$L" ctl "$TMP/ctl" both loss=2
ok "an unknown key" says 'allowed: rate' "$L" ctl "$TMP/ctl" a2b speed=3
ok "an unknown command" says 'there are: stats' "$L" ctl "$TMP/ctl" dance
ok "an unknown command with words" says 'there are: stats' "$L" ctl "$TMP/ctl" c2d rate=1mbit
ok "no link" says 'give a SPEC' "$L" ctl "$TMP/ctl" link
ok "words behind a command" says 'takes nothing' "$L" ctl "$TMP/ctl" stop now
ok "no change" says 'nothing to change' "$L" ctl "$TMP/ctl" a2b
finish_link
ok "it ends with status 0" test $? -eq 0
tidy() {
    ! ip -n linka link show lnka 2>/dev/null && [ ! -e "$TMP/ctl" ]
}
ok "and leaves nothing behind" tidy
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
print("figure  late, by the captures: p50 %d us, max %d us" % (late[len(late) // 2], late[-1]))
assert late[0] >= 0, late[0]
PY
}
ok "the log and the captures agree" books
obeys() { # LOG RATE DELAY_US QUEUE_BYTES QUEUE_PACKETS (0: any number): a2b, packet by packet, when and whether it arrives
    python3 - "$@" <<'PY'
import collections, csv, sys
path, rate, delay, room, places = sys.argv[1], *map(int, sys.argv[2:])
free, waiting = 0, collections.deque()  # when the line is: microseconds times the rate; (when its turn comes, bytes)
rows = sorted((r for r in csv.DictReader(open(path)) if r["direction"] == "a2b"), key=lambda r: int(r["packet_no"]))
full = 0
for n, row in enumerate(rows):
    now, frame = int(row["time_us"]), int(row["ip_len"]) + 18
    assert int(row["packet_no"]) == n + 1, row
    while waiting and -(-waiting[0][0] // rate) <= now:
        waiting.popleft()
    want = "", "lost", "queue"
    if free > now * rate and (room and sum(w[1] for w in waiting) + frame > room or places and len(waiting) >= places):
        full += 1
    else:
        begin = max(free, now * rate)
        free = begin + frame * 8000000
        waiting.append((begin, frame))
        want = str(-(-free // rate) + delay), "delivered", "none"
    assert (row["arrive_us"], row["fate"], row["cause"]) == want, (row, want)
print(len(rows), "packets, queue full for", full)
sys.exit(len(rows) < 2000)
PY
}
ok "each packet arrives when line and queue say" obeys "$TMP/truth.csv" 20000000 20000 100000 0
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

# ---- devices whose MTU changes ----
mtu_changes() { # up at both ends, then down at one
    start --link lan --pcap-a "$TMP/a.pcap" && ip -n linka link set lnka mtu 9000 && ip -n linkb link set lnkb mtu 9000 || return 1
    "${a[@]}" ping -c 3 -i 0.02 -w $PATIENCE -s 8900 -M "do" 10.79.0.2 || return 1
    ip -n linkb link set lnkb mtu 1400 && "${a[@]}" ping -c 3 -i 0.02 -w $PATIENCE -s 8900 10.79.0.2 || return 1
    finish_link && judge_report 'all(d["undelivered"] == 0 for d in (a, b)) and a["delivered"] >= 6 and r["start"]["mtu"] == 1500'
}
ok "the MTU of the devices may change" mtu_changes

# ---- an emulator that stands still ----
stands_still() { # no packet waits for its time meanwhile, so none is handed over late
    start --link lan && kill -STOP $link && sleep 0.5 && kill -CONT $link || return 1
    eventually read_late && finish_link && judge_report 'r["read_late_us"]["max"] >= 480000 and r["read_late_us"]["p999"] >= 1000' && schema
}
read_late() {
    [ "$(ctl stats | sed -n 's/^link: packets read late .* max \([0-9]*\) us/\1/p')" -ge 480000 ]
}
ok "a stop of the emulator is in its figures" stands_still

# ---- a line that a table of rates stops ----
stopped() { # until packets wait behind the one that was on the line
    local ping rc
    "${a[@]}" ping -i 0.1 -q 10.79.0.2 >"$TMP/ping" &
    ping=$!
    eventually waiting
    rc=$?
    stop $ping
    [ $rc -eq 0 ] && grep -q ' 0 received' "$TMP/ping"
}
waiting() {
    [ "$(ctl stats | sed -n 's/^a2b: queue [0-9]* bytes in \([0-9]*\) packets.*/\1/p')" -ge 2 ]
}
starts_again() {
    for change in "both rates=off rate=20mbit" "link rate=20mbit,rtt=40ms"; do
        start --link rates=0s:20mbit+10ms:0mbit+1h:20mbit,rtt=40ms && stopped && ctl $change && round_trip 40 10.79.0.2 || return 1
        finish_link || return 1
    done
}
ok "a line that rates has stopped starts again" starts_again

# ---- a scenario file, and the chances of virtual time ----
cat >"$TMP/two.ini" <<'INI'
[scenario]
name = two
runs = 3
[link]
rate = 20mbit
queue = 0
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
    round_trip 30 10.79.0.2 || return 1
    finish_link && judge_report 'r["start"]["scenario"] == {"name": "two", "cell": "", "link": "down", "run": 1} and r["start"]["mtu"] == 1400' && schema
}
ok "a link of a scenario file" through_scenario

# probe PPS COUNT BYTES DELAY_US RATE: packets from a to b, what link_probe says of them in $TMP/row; ends the link
probe() {
    local receiver
    "${b[@]}" "$BIN/link_probe" recv 5001 "$2" "$3" "$4" "$5" >"$TMP/row" &
    receiver=$!
    netns=linkb eventually listens -u 5001 && "${a[@]}" "$BIN/link_probe" send 10.79.0.2 5001 "$1" "$2" "$3" &&
        eventually settled "$L" "$TMP/ctl" || return 1
    kill -INT $receiver 2>/dev/null
    wait $receiver && finish_link
}
fates() { # FILE OPTIONS...: what becomes of 700 packets from a to b
    local file=$1
    shift
    start --truth "$file" "$@" && probe 2000 700 500 5000 0 && [ "$(grep -c a2b "$file")" -ge 700 ]
}
if [ -x "$BIN/scps_ttcp" ] && [ -x "$BIN/scps_lab" ]; then
    as_ttcp() { # one by one
        fates "$TMP/r.csv" --link rate=20mbit,rtt=10ms,queue=0,loss=0.05 &&
            "$BIN/scps_ttcp" -t -s -n 60 --link rate=20mbit,rtt=10ms,queue=0,loss=0.05 --seed 1 -R 10m --truth "$TMP/v.csv" 2>/dev/null || return 1
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

# ---- 12 000 packets a second, a saturated line, a loss ----
judge_probe() { # WHAT EXPRESSION of the row, r and a; where the machine stopped for long the device's queue was full: overruns
    python3 - "$TMP" "$@" <<'PY'
import json, sys
tmp, what, holds = sys.argv[1:]
n, lost, twice, p50, p99, p999, most, least, rate = map(float, open(tmp + "/row").read().split(","))
r = json.load(open(tmp + "/link.out"))
a, overruns = r["a2b"], r["start"]["a"]["overruns"]
print("figure  %s: late p50 %.0f us, p99 %.0f us, p99.9 %.0f us, max %.0f us, min %.0f us; %.0f bit/s; lost %d, in front of the link %d"
      % (what, p50, p99, p999, most, least, rate, lost, overruns))
print(json.dumps(r))
books = a["undelivered"] == 0 and lost == sum(a["lost"].values()) + overruns and twice == 0
sys.exit(not (books and least > -100 and eval(holds)))  # clocks are slewed
PY
}
many() {
    start --link rate=10gbit,delay=100ms,queue=0 && probe 12000 12000 1000 100000 10000000000 &&
        judge_probe "12 000 packets/s" 'sum(a["lost"].values()) == 0'
}
ok "12 000 packets/s: all arrive, none before 100 ms" many
saturated() {
    start --link rate=10mbit,delay=10ms,queue=200p --truth "$TMP/truth.csv" && probe 1100 2200 1500 10000 0 &&
        judge_probe "10 Mbit/s" 'a["lost"]["queue"] > 0 and rate < 1.0001e7' && obeys "$TMP/truth.csv" 10000000 10000 0 200
}
ok "10 Mbit/s: not more, and each packet when its turn comes" saturated
sparse() { # of 12000 at 0.01: 120 and 2.576 standard deviations
    start --link rate=200mbit,delay=10ms,queue=0,loss=0.01 && probe 12000 12000 1000 10000 0 &&
        judge_probe "1 % lost" 'abs(a["lost"]["loss"] - a["offered"] / 100) <= 2.576 * (a["offered"] * 0.0099) ** 0.5 + 0.5'
}
ok "1 % lost, within the 99 % interval" sparse

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
    start --link lan -q --truth /dev/full && "${a[@]}" ping -c 2 -i 0.1 -w $PATIENCE -q 10.79.0.2 >/dev/null || return 1
    finish_link
    [ $? -eq 1 ] && grep -q 'No space left' "$TMP/link.err"
}
ok "a full disk is told" full
verdict
