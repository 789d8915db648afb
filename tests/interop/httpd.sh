#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# curl fetches files from scps_httpd: whole, over both families, in parallel; and gets the right answer to what is wrong.
. "$(dirname "$0")/lib.sh"
need curl socat sha256sum
built scps_httpd

mkdir -p "$TMP/root/sub"
some_file "$TMP/root/big" 100
some_file "$TMP/root/sub/one file" 1
: >"$TMP/root/empty"
echo secret >"$TMP/secret"
ln -s ../secret "$TMP/root/link"
background httpd "$BIN/scps_httpd" --root "$TMP/root" --tun scpsi0 --addr 10.77.0.2/24 --kernel-addr 10.77.0.1 \
    --addr fd77::2/64 --kernel-addr fd77::1
server=$!
eventually addressed scpsi0 || { cat "$TMP/httpd.err"; exit 1; }

# Clients that never send a whole request: these end by themselves when the server resets them, which is judged below.
# Each prints for how many seconds it was connected.
idle() ( # REQUEST INTERVAL: sends REQUEST, then a byte each INTERVAL seconds
    exec {fd}<>/dev/tcp/10.77.0.2/80 || exit 1
    start=$(date +%s%N)
    printf "%s" "$1" >&$fd
    while
        timeout "$2" cat <&$fd >/dev/null 2>&1
        [ $? -eq 124 ]
    do
        printf a >&$fd || break
    done 2>/dev/null
    echo $((($(date +%s%N) - start) / 1000000))
)
background silent idle "" $PATIENCE
silent=$!
background part idle "GET /a" $PATIENCE
part=$!
background slow idle "GET /" 1
slow=$!

fetch() { # URL FILE
    curl -sS -m $PATIENCE -f -o "$TMP/got" "$1" && same "$2" "$TMP/got"
}
ok "100 MB, IPv4" fetch http://10.77.0.2/big "$TMP/root/big"
ok "100 MB, IPv6" fetch 'http://[fd77::2]/big' "$TMP/root/big"
ok "a name with a space, in a folder" fetch http://10.77.0.2/sub/one%20file?x=y "$TMP/root/sub/one file"
ok "an empty file" fetch http://10.77.0.2/empty "$TMP/root/empty"
parallel() {
    local i
    curl -sS -m $PATIENCE -f --parallel --parallel-max 20 $(for i in {1..20}; do echo "-o $TMP/p.$i http://10.77.0.2/sub/one%20file"; done) &&
        for i in {1..20}; do same "$TMP/p.$i" "$TMP/root/sub/one file" || return 1; done
}
ok "20 at once" parallel
status() { # WANTED CURL-ARGUMENTS...
    local want=$1 got
    shift
    got=$(curl -sS -m $PATIENCE -o /dev/null -w '%{http_code}' "$@")
    [ "$got" = "$want" ] || { echo "got $got, wanted $want"; return 1; }
}
ok "HEAD" status 200 -I http://10.77.0.2/big
ok "missing" status 404 http://10.77.0.2/nothing
ok "a folder without an index" status 404 http://10.77.0.2/sub/
echo top >"$TMP/root/index.html"
echo below >"$TMP/root/sub/index.html"
ok "the index of the root" fetch http://10.77.0.2/ "$TMP/root/index.html"
ok "the index of a folder" fetch http://10.77.0.2/sub/?x=y "$TMP/root/sub/index.html"
ok "a folder without a slash" status 404 http://10.77.0.2/sub
type() { # PATH TYPE
    curl -sS -m $PATIENCE -o /dev/null -w '%{content_type}' "http://10.77.0.2$1" | grep -qx "$2"
}
ok "the type of a page" type / text/html
ok "the type of another file" type /empty application/octet-stream
ok "Range: the whole file" status 200 -r 10-20 "http://10.77.0.2/sub/one%20file"
ok "out of the root" status 404 --path-as-is http://10.77.0.2/../secret
ok "out of the root, disguised" status 404 --path-as-is http://10.77.0.2/sub/%2e%2e/%2e%2e/secret
ok "a link out of the root" status 404 http://10.77.0.2/link
ok "POST" status 501 -d hello http://10.77.0.2/big
raw() { # REQUEST WANTED
    local got
    got=$(printf "$1" | timeout $PATIENCE socat -t $PATIENCE - TCP:10.77.0.2:80 | head -1)
    [[ $got == *"$2"* ]] || { echo "got '$got', wanted '$2'"; return 1; }
}
ok "nonsense" raw 'nonsense\r\n\r\n' 400
ok "a NUL" raw 'GET /\0 HTTP/1.0\r\n\r\n' 400
ok "a request without end" raw "GET /$(head -c 5000 /dev/zero | tr '\0' a)" 400
half() { # the client goes away in the middle of an answer
    timeout 0.5 socat -u TCP:10.77.0.2:80,linger=0 - </dev/null >/dev/null 2>&1
    printf 'GET /big HTTP/1.0\r\n\r\n' | timeout 2 socat -t 0.2 - TCP:10.77.0.2:80,linger=0 | head -c 1000 >/dev/null
    fetch http://10.77.0.2/empty "$TMP/root/empty"
}
ok "clients that go away" half
without_request() { # NAME PID: the connection was reset, and not before 30 s
    eventually gone "$2" || { echo "still connected"; return 1; }
    local ms
    read -r ms <"$TMP/$1.out" && [ "$ms" -ge 29000 ] || { echo "after '$ms' ms"; return 1; }
}
ok "a client without a word is reset after 30 s" without_request silent $silent
ok "a client with half a request is reset after 30 s" without_request part $part
ok "a client that sends its request byte by byte is reset after 30 s" without_request slow $slow
crowd() ( # more clients than there are places, none of which ever asks
    for i in {1..300}; do
        exec {fd}<>/dev/tcp/10.77.0.2/80 || exit 1
    done
    fetch http://10.77.0.2/empty "$TMP/root/empty"
)
ok "300 clients without a word, and one more" crowd
# Python that asks for a file on a connection of its own, whose receive buffer is small
ASK='import select, socket, time
def ask(what):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    s.connect(("10.77.0.2", 80))
    s.sendall(b"GET /%s HTTP/1.0\r\n\r\n" % what)
    return s'
clients() { python3 -c "$ASK"$'\n'"$(cat)"; }
full() ( # 256 downloads that do not read yet, and 20 more clients: all get their files, none is reset
    clients <<'END'
def body(s):
    n = b""
    while got := s.recv(65536):
        n += got
    return n.split(b"\r\n\r\n", 1)[1]
first = [ask(b"sub/one%20file") for _ in range(256)]
for s in first:
    assert s.recv(1), "no response"
further = [ask(b"empty") for _ in range(20)]
whole = [len(body(s)) for s in first]
assert set(whole) == {1 << 20}, whole
assert [body(s) for s in further] == [b""] * 20
END
)
crowded() ( # 256 slow downloads and 80 more clients, which learn within a bounded time that there is no place for them
    clients <<'END'
slow = [ask(b"big") for _ in range(256)]
for s in slow:
    assert s.recv(1), "no response"
began = time.monotonic()
waits = [ask(b"empty") for _ in range(80)]
left, said = set(waits), []
while left and time.monotonic() - began < 120:
    for s in select.select(list(left), [], [], 1)[0]:
        left.remove(s)
        said.append((s.recv(1000), time.monotonic() - began))
    for s in slow:
        s.recv(16384)
assert not left, "%d clients wait after 120 s" % len(left)
assert all(b" 503 Service Unavailable: " in r for r, _ in said), said
# 64 wait, and those behind them are refused at once
assert sum(b"no place was free for 30 s" in r and t > 25 for r, t in said) == 64, said
assert sum(b"too many clients wait already" in r and t < 25 for r, t in said) == 16, said
for s in slow: # they go on
    assert s.recv(16384)
END
)
if command -v python3 >/dev/null; then
    ok "256 downloads go on while 20 clients wait" full
    ok "no client waits for longer than 30 s" crowded
fi
log() { # what a client that reset its connection has acknowledged, and not the size of the file
    local n
    eventually grep -q '"GET /big HTTP/1.0" incomplete: of 104857600 bytes$' "$TMP/httpd.err" || return 1
    n=$(sed -n 's/^[0-9.]* 200 \([0-9]*\) "GET .big HTTP.1.0" incomplete.*/\1/p' "$TMP/httpd.err" | head -1)
    [ "$n" -gt 0 ] && [ "$n" -lt 104857600 ] || { echo "'$n' bytes"; return 1; }
    grep -q ' 200 104857600 "GET /big HTTP/1.1"$' "$TMP/httpd.err"
}
ok "the log says what was delivered" log
ends() {
    stop $server || return 1
    command -v python3 >/dev/null || return 0
    grep -q ' 503 [0-9]* "GET /empty HTTP/1.0"$' "$TMP/httpd.err" &&
        tail -1 "$TMP/httpd.err" | grep -q ', 80 refused for want of a place (503)$'
}
ok "SIGINT: status 0" ends
verdict
