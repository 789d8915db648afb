#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernel's bbr and cubic over scps_link, and scps_ttcp over the same link in the same run.

    lab/kernel.py FOLDER_OF_PROGRAMS [--seeds N] [--rows ROW,...] [--senders "SENDER;..."]

Two network namespaces are joined by scps_link, which carries packets in real time.  The receiver is the kernel's TCP in each
row but those of `both ends scps_ttcp`.  Each transfer has a new link with the row's seed, so a seed's packets meet the same
chances of loss in the order in which they are sent.  Rows of bit errors are Mbit/s of what the receiving program got from
second 20 to 60 after its accept(); the others are seconds for 100 MB, from the sender's connect(), or the start of scps_ttcp,
until the receiver has the last byte.

Prints a row a sender: the mean over the seeds and its standard error; each transfer goes to standard error as it ends, with
what the machine did to it: `overruns` are packets that the kernel dropped in front of scps_link because nobody read them in
time, `late` is the 99th percentile of how much later than the model says a packet was delivered, `waited` the seconds that
the programs of both ends and scps_link could have run and did not, `stolen` those of a virtual machine's host.  A transfer with
overruns, or with a packet in a hundred later than 20 ms, tells of the machine, not of the controllers: it is measured
again, at most three times, and then counts as missing.

It runs in a network of its own (tools/netns) and ends by itself: a transfer takes 70 s (rates), or 90 s at most (100 MB), all
of them 55 minutes with three seeds.  Exit status 77 and a reason: it cannot run here.
"""
import argparse
import json
import math
import os
import socket
import subprocess
import sys
import tempfile
import time

RATE, BULK = "Mbit/s", "s"
ROWS = {  # name of a row: link, MTU, unit of its figure
    "1e-6": ("nasa500,ber=1e-6", 1076, RATE),
    "1e-5": ("nasa500,ber=1e-5", 1076, RATE),
    "250/3": ("rate=250mbit,rate-back=3mbit,rtt=600ms", 1500, BULK),
    "50/10": ("rate=50mbit,rate-back=10mbit,rtt=600ms", 1500, BULK),
}
LONG = "bbr,long-rtt-start=1"
WAITS = LONG + ",probe-bw-rounds=20,probe-rtt-rounds=30"
SENDERS = {  # name of a sender: sending program, controller, receiving program, rows
    "kernel bbr": ("kernel", "bbr", "kernel", ROWS),
    "kernel cubic": ("kernel", "cubic", "kernel", ROWS),
    "bbr": ("ours", "bbr", "kernel", ROWS),
    LONG: ("ours", LONG, "kernel", ROWS),
    "cubic": ("ours", "cubic", "kernel", ROWS),
    LONG + ",rtt-refresh=1": ("ours", LONG + ",rtt-refresh=1", "kernel", ("1e-6", "50/10")),
    LONG + ",rtt-refresh=1,base-loss=1": ("ours", LONG + ",rtt-refresh=1,base-loss=1", "kernel", ("1e-5",)),
    WAITS: ("ours", WAITS, "kernel", ("50/10",)),
    "both ends scps_ttcp: bbr": ("ours", "bbr", "ours", ("250/3", "50/10")),
    "both ends scps_ttcp: " + LONG: ("ours", LONG, "ours", ("250/3", "50/10")),
    "both ends scps_ttcp: " + WAITS: ("ours", WAITS, "ours", ("50/10",)),
}
BYTES = 100 * 1000 * 1000
PORT = 5001
FROM, TO = 20, 60  # seconds
PATIENCE = 90  # seconds after which a transfer of 100 MB is given up
LATE = 20000  # microseconds
INSIDE = "SCPS_KERNEL_INSIDE"  # this environment variable is set inside the network that tools/netns made
MEMORY = "4096 33554432 134217728"  # tcp_rmem and tcp_wmem: minimum, initial size (32 MiB), maximum (128 MiB)


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


# ---- the two ends, each a process of its own in its namespace ----

def send(host, cc, unit):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    block = bytes(65536)
    print(time.monotonic(), flush=True)
    s.connect((host, PORT))
    left = BYTES if unit == BULK else 1 << 62
    until = time.monotonic() + TO + 5
    try:
        while left > 0 and (unit == BULK or time.monotonic() < until):
            left -= s.send(block[:min(left, len(block))])
    except (BrokenPipeError, ConnectionResetError):
        pass  # the receiver has closed the connection, because it has measured enough
    s.close()


def count(read, unit):
    """Reads until the end of the stream, or until second 60. Prints Mbit/s from second 20 to 60, or the time of the
    last byte, as `unit` says."""
    began, total, at_from, now = time.monotonic(), 0, None, 0
    while True:
        data = read(1 << 20)
        now = time.monotonic()
        total += len(data)
        if unit == RATE:
            if at_from is None and now >= began + FROM:
                at_from = total, now
            if now >= began + TO or not data:
                print((total - at_from[0]) * 8e-6 / (now - at_from[1]) if data else "nan", flush=True)
                return
        elif total >= BYTES or not data:
            print(now if total >= BYTES else "nan", flush=True)
            return


def receive(unit):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("", PORT))
    s.listen()
    print("ready", flush=True)
    c = s.accept()[0]
    count(c.recv, unit)


# ---- a transfer ----

def ip(*words):
    subprocess.run(["ip"] + list(words), check=True)


def write(netns, path, text):
    subprocess.run(["ip", "netns", "exec", netns, "sh", "-c", 'echo "$1" >"$2"', "sh", text, path], check=True)


def namespaces():
    for n in ("send", "recv"):
        ip("netns", "add", n)
        ip("-n", n, "link", "set", "lo", "up")
        for name in ("tcp_rmem", "tcp_wmem"):
            write(n, "/proc/sys/net/ipv4/" + name, MEMORY)
        write(n, "/proc/sys/net/ipv4/ip_forward", "1")
        write(n, "/proc/sys/net/ipv4/tcp_no_metrics_save", "1")


def wait_for(command, seconds=10):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            return
        time.sleep(0.02)
    raise RuntimeError("not in time: " + " ".join(command))


def stolen():
    """Returns the seconds, summed over all processors, in which the hypervisor ran other machines (steal in
    /proc/stat)."""
    with open("/proc/stat", encoding="ascii") as f:
        return int(f.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


class Ends:
    """The programs of one transfer. They are ended by their process ids."""

    def __init__(self):
        self.running = []

    def start(self, netns, command, **how):
        p = subprocess.Popen((["ip", "netns", "exec", netns] if netns else []) + command, stdout=subprocess.PIPE, text=True, **how)
        self.running.append(p)
        return p

    def waited(self):
        """Returns the seconds for which the programs were ready to run and waited for a processor."""
        told = 0
        for p in self.running:
            try:
                with open("/proc/%d/schedstat" % p.pid, encoding="ascii") as f:
                    told += int(f.read().split()[1]) * 1e-9
            except OSError:
                pass
        return told

    def end(self):
        for p in reversed(self.running):
            if p.poll() is None:
                p.terminate()
            p.wait()


def transfer(programs, row, sender, seed, tmp):
    """Returns the figure of a transfer and the report of scps_link."""
    link, mtu, unit = ROWS[row]
    who, cc, far, _ = SENDERS[sender]
    me, ends, ctl, steal = os.path.abspath(__file__), Ends(), os.path.join(tmp, "ctl"), stolen()
    try:
        scps_link = ends.start(None, [os.path.join(programs, "scps_link"), "--a", "lka@send", "--b", "lkb@recv", "--addr-a", "10.79.0.1/24",
                                      "--addr-b", "10.79.0.2/24", "--link", link, "--mtu", str(mtu), "--seed", str(seed), "--json", "-q", "--ctl", ctl])
        wait_for([os.path.join(programs, "scps_link"), "ctl", ctl, "show"])
        ip("-n", "recv", "route", "replace", "10.79.1.0/24", "via", "10.79.0.1")
        ip("-n", "send", "route", "replace", "10.79.2.0/24", "via", "10.79.0.2")
        ttcp = [os.path.join(programs, "scps_ttcp"), "-m", str(mtu), "-b", "64M"]
        if far == "kernel":
            host, rx = "10.79.0.2", ends.start("recv", [sys.executable, me, "--receive", unit])
            rx.stdout.readline()
        else:
            host = "10.79.2.2"
            rx = ends.start("recv", [sys.executable, me, "--pipe", unit] + ttcp +
                            ["-r", "--tun", "tr0", "--addr", "10.79.2.2/24", "--kernel-addr", "10.79.2.1", "--gateway", "10.79.2.1"], stderr=subprocess.DEVNULL)
            wait_for(["sh", "-c", "ip -n recv -o addr show dev tr0 scope global | grep -q inet"])
            time.sleep(0.2)
        if who == "kernel":
            tx = ends.start("send", [sys.executable, me, "--send", host, cc, unit])
            began = float(tx.stdout.readline())
        else:
            blocks = ["-l", "8192", "-n", str(-(-BYTES // 8192))] if unit == BULK else ["-l", "1024", "-n", "99999999", "--time", str(TO + 5)]
            began = time.monotonic()
            ends.start("send", ttcp + ["-t", "-s", "--cc", cc] + blocks +
                       ["--tun", "tt0", "--addr", "10.79.1.2/24", "--kernel-addr", "10.79.1.1", "--gateway", "10.79.1.1", host], stderr=subprocess.DEVNULL)
        wait = time.monotonic() + (TO + 10 if unit == RATE else PATIENCE)
        while rx.poll() is None and time.monotonic() < wait:
            waited = ends.waited()
            time.sleep(0.05)
        said = rx.stdout.readline() if rx.poll() is not None else ""
        figure = float(said) if said else math.nan
        scps_link.terminate()
        told = json.loads(scps_link.stdout.read())
        told["waited"], told["stolen"] = waited, stolen() - steal
        return figure - (began if unit == BULK else 0), told
    finally:
        ends.end()


def judged(programs, row, sender, seed, tries):
    """Returns the figure of a transfer that the machine did not disturb; None if each try was disturbed."""
    for attempt in range(tries):
        with tempfile.TemporaryDirectory() as tmp:
            figure, told = transfer(programs, row, sender, seed, tmp)
        overruns = told["start"]["a"]["overruns"] + told["start"]["b"]["overruns"]
        late = max(told[d]["late_us"]["p99"] for d in ("a2b", "b2a"))
        fine = not overruns and late <= LATE and not math.isnan(figure)
        print("%-6s %-42s seed %d: %8.3f %s; overruns %d, late %d us, waited %.2f s, stolen %.2f s, lost by errors %d, by the queue %d%s"
              % (row, sender, seed, figure, ROWS[row][2], overruns, late, told["waited"], told["stolen"], told["a2b"]["lost"]["ber"], told["a2b"]["lost"]["queue"],
                 "" if fine else "; does not count"), file=sys.stderr, flush=True)
        if fine:
            return figure
        time.sleep(1)
    return None


def able(programs):
    if os.geteuid() or not os.path.exists("/dev/net/tun"):
        skip("no root, or no /dev/net/tun")
    for name in ("scps_link", "scps_ttcp"):
        if not os.access(os.path.join(programs, name), os.X_OK):
            skip(name + " is not built")
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control", encoding="ascii") as f:
        have = f.read().split()
    for cc in ("bbr", "cubic"):
        if cc not in have:
            skip("the kernel has no %s: modprobe tcp_%s" % (cc, cc))


def statistics(v):
    mean = sum(v) / len(v)
    return mean, math.sqrt(sum((x - mean) ** 2 for x in v) / max(len(v) - 1, 1) / len(v))


def main():
    if sys.argv[1:2] == ["--send"]:
        return send(*sys.argv[2:5])
    if sys.argv[1:2] == ["--receive"]:
        return receive(sys.argv[2])
    if sys.argv[1:2] == ["--pipe"]:
        with subprocess.Popen(sys.argv[3:], stdout=subprocess.PIPE) as p:
            count(p.stdout.read1, sys.argv[2])
            p.terminate()
        return 0
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("programs")
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--first-seed", type=int, default=1)
    p.add_argument("--tries", type=int, default=3)
    p.add_argument("--rows", default=",".join(ROWS))
    p.add_argument("--senders", default=";".join(SENDERS), help="separated by semicolons")
    a = p.parse_args()
    rows, senders = a.rows.split(","), a.senders.split(";")
    for name in [r for r in rows if r not in ROWS] + [s for s in senders if s not in SENDERS]:
        p.error("%s: there are %s, and %s" % (name, ", ".join(ROWS), "; ".join(SENDERS)))
    able(a.programs)
    if not os.environ.get(INSIDE):
        netns = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "netns")
        os.environ[INSIDE] = "1"
        os.execv(netns, [netns, "run", os.path.abspath(__file__)] + sys.argv[1:])
    try:  # both ends, as scps_link does for itself: what else the machine does is not measured
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        print("no real-time scheduling: other work on the machine disturbs the ends", file=sys.stderr)
    namespaces()
    print("kernel %s, seeds %d to %d" % (os.uname().release, a.first_seed, a.first_seed + a.seeds - 1), flush=True)
    for row in rows:
        for sender in senders:
            if row not in SENDERS[sender][3]:
                continue
            v = [judged(a.programs, row, sender, seed, a.tries) for seed in range(a.first_seed, a.first_seed + a.seeds)]
            v = [x for x in v if x is not None]
            told = "%9.3f +- %.3f" % statistics(v) if v else "        -"
            print("%-6s %-42s %s %s (%d of %d)" % (row, sender, told, ROWS[row][2], len(v), a.seeds), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
